/* What a device can do at most, and the loop of C-slow. */
struct sl_job {
    char *arena;
    unsigned long long n, m;
};

struct alignas(16) probe_four {
    unsigned word[4];
};

/* n times 16 bytes. A thread has four loads under way: with one, what is on its way to memory would not fill it. */
SL_KERNEL(256) void probe_copy(const sl_job job)
{
    const probe_four *from = (const probe_four *)job.arena;
    probe_four *to = (probe_four *)job.arena + job.n;
    const unsigned long long step = (unsigned long long)sl_blocks() * sl_threads();
    unsigned long long i = (unsigned long long)sl_block() * sl_threads() + sl_thread();
    for (; i + 3 * step < job.n; i += 4 * step) {
        const probe_four a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        to[i] = a;
        to[i + step] = b;
        to[i + 2 * step] = c;
        to[i + 3 * step] = d;
    }
    for (; i < job.n; i += step) to[i] = from[i];
}

/* Eight chains of products and sums. */
SL_KERNEL(256) void probe_sums(const sl_job job)
{
    const unsigned me = sl_block() * sl_threads() + sl_thread();
    const float factor = 1.0f - 1e-7f * (float)(me & 7u);
    float a[8];
    for (int i = 0; i < 8; i++) a[i] = (float)(me + (unsigned)i);
    for (unsigned long long k = 0; k < job.m; k++) {
        for (int i = 0; i < 8; i++) a[i] = a[i] * factor + 0.5f;
    }
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += a[i];
    ((float *)job.arena)[me] = sum;
}

/* The same with ints. */
SL_KERNEL(256) void probe_ints(const sl_job job)
{
    const unsigned me = sl_block() * sl_threads() + sl_thread();
    unsigned a[8];
    for (int i = 0; i < 8; i++) a[i] = me + (unsigned)i;
    for (unsigned long long k = 0; k < job.m; k++) {
        for (int i = 0; i < 8; i++) a[i] = (a[i] ^ me) + 0x9e3779b9u;
    }
    unsigned sum = 0;
    for (int i = 0; i < 8; i++) sum += a[i];
    ((unsigned *)job.arena)[me] = sum;
}

/* Each place says where the next one is. What it comes to is kept: the steps cannot be left out, and the next launch goes on from there, where no launch has been before; one that
 * began where this one did would find its places in the L2. */
SL_KERNEL(1) void probe_chase(const sl_job job)
{
    volatile unsigned long long *at = (volatile unsigned long long *)(job.arena + ((volatile unsigned long long *)job.arena)[1]);
    for (unsigned long long k = 0; k < job.m; k++) at = (volatile unsigned long long *)(job.arena + *at);
    ((volatile unsigned long long *)job.arena)[1] = (unsigned long long)((const volatile char *)at - job.arena);
}

/* "Method for Software Pipelining on GPUs", figure 4: n filters of first order, m items of each; C of them take turns in a thread. */
template <int C> SL_DEVICE void probe_bank(const sl_job &job)
{
    const unsigned long long all = (unsigned long long)sl_blocks() * sl_threads();
    const float *a = (const float *)job.arena + ((unsigned long long)sl_block() * sl_threads() + sl_thread());
    float *b = (float *)job.arena + job.n * job.m + (a - (const float *)job.arena);
    float r[C];
    for (int c = 0; c < C; c++) r[c] = 0;
#pragma unroll 1
    for (unsigned long long j = 0; j < job.m; j++) {
        float x[C];
        for (int c = 0; c < C; c++) x[c] = a[c * all];
        for (int c = 0; c < C; c++) {
            r[c] = 0.5f * r[c] + x[c];
            b[c * all] = r[c];
        }
        a += job.n;
        b += job.n;
    }
}

SL_KERNEL(128) void bank_1(const sl_job job) { probe_bank<1>(job); }
SL_KERNEL(128) void bank_2(const sl_job job) { probe_bank<2>(job); }
SL_KERNEL(128) void bank_4(const sl_job job) { probe_bank<4>(job); }
SL_KERNEL(128) void bank_8(const sl_job job) { probe_bank<8>(job); }
