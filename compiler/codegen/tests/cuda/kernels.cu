/* Kernels for the tests of the emulator, in the form of generated device texts: right ones, which `job.fault` makes wrong in one place. */

struct sl_job {
    char *arena;
    int32_t fault, step;
    uint32_t n;
    /* What each thread does: steps of two bytes, what and where. */
    const uint8_t *script;
};

enum { INPUT = 0, MIDDLE = 16384, OUTPUT = 49152, COUNTER = 65536, BYTES = 65792, SMALL = 69888 };

enum {
    RIGHT,
    NO_SYNC,        /* a barrier of the block is missing */
    NO_WARP_SYNC,   /* a barrier of the warp is missing */
    SAME_LAUNCH,    /* reads what another block writes in the same launch */
    OVERWRITES,     /* writes what another block reads in the same launch */
    WRITES_TWICE,   /* two blocks write the same */
    PAST_END,       /* an index one too large */
    UNWRITTEN,      /* reads what was not written */
    SOME_RETURN,    /* some threads never come to the barrier */
    NO_WAIT,        /* a wait for copies is missing */
    NO_GRID_SYNC,   /* a barrier of the grid is missing */
    GRID_SOME,      /* a block never comes to it */
    WRONG_HALF,     /* the consumer reads the half that is being filled */
    WRONG_COUNT,    /* a named barrier for more threads than come */
    EARLY_REUSE,    /* a copy goes where others still read */
    CHANGED_SOURCE, /* what is copied is changed before the wait */
    HALF_A_WARP,    /* a named barrier for part of a warp */
    UNALIGNED,      /* a copy that is not aligned */
    BETWEEN         /* reads what is between the parts of the arena */
};

SL_DEVICE int32_t get(const int32_t *at)
{
    SL_READ(at, sizeof *at);
    return *at;
}
SL_DEVICE void put(int32_t *at, int32_t value)
{
    SL_WRITE(at, sizeof *at);
    *at = value;
}
SL_DEVICE int32_t sl_add_wrapped(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
SL_DEVICE int32_t *ints(const sl_job &job, uint32_t offset) { return (int32_t *)(job.arena + offset); }

/* Each block adds up as many items as it has threads, in shared memory. */
SL_KERNEL(256) void sl_reduce(const sl_job job)
{
    int32_t *s = (int32_t *)sl_shared();
    unsigned t = sl_thread(), n = sl_threads();
    if (!(job.fault == UNWRITTEN && t == 3)) put(s + t, get(ints(job, INPUT) + sl_block() * n + t));
    sl_sync();
    for (unsigned half = n / 2; half > 0; half /= 2) {
        if (t < half) put(s + t, sl_add_wrapped(get(s + t), get(s + t + half + (job.fault == PAST_END && half == n / 2))));
        if (job.fault == SOME_RETURN && half == 2 && t >= 64) return;
        if (!(job.fault == NO_SYNC && half == 64)) sl_sync();
    }
    /* all of the block know whether one of it says so, and only of this time */
    bool alike = true;
    for (unsigned k = 0; k < 7; k++) alike &= sl_any(k % 2 == 1 && t == k) == (k % 2 == 1);
    if (!alike) put(s, -1);
    if (t == 0) put(ints(job, OUTPUT) + sl_block(), get(s));
}

/* A pipeline over launches: even blocks fill one half of the middle while odd ones read the other, which the launch before has filled. */
SL_KERNEL(128) void sl_stage(const sl_job job)
{
    unsigned pair = sl_block() / 2, t = sl_thread(), n = sl_threads();
    unsigned filled = job.step & 1, other = filled ^ 1;
    int32_t *middle = ints(job, MIDDLE);
    if (sl_block() % 2 == 0) {
        unsigned half = job.fault == OVERWRITES ? other : filled;
        unsigned at = job.fault == WRITES_TWICE && pair == 1 ? 0 : pair;
        put(middle + half * 2048 + at * n + t, 3 * get(ints(job, INPUT) + (job.step * (sl_blocks() / 2) + pair) * n + t) + 1);
    } else if (job.step > 0) {
        unsigned half = job.fault == SAME_LAUNCH ? filled : other;
        put(ints(job, OUTPUT) + ((job.step - 1) * (sl_blocks() / 2) + pair) * n + t, get(middle + half * 2048 + pair * n + n - 1 - t));
    }
}

/* Threads of a block exchange items through global memory. */
SL_KERNEL(128) void sl_exchange(const sl_job job)
{
    unsigned t = sl_thread(), n = sl_threads(), base = sl_block() * n;
    put(ints(job, MIDDLE) + base + t, get(ints(job, INPUT) + base + t) + 5);
    if (job.fault != NO_SYNC) sl_sync();
    uint32_t from = job.fault == UNWRITTEN ? sl_blocks() * n + t : job.fault == PAST_END ? 16384 + t : job.fault == BETWEEN ? 12336 + t % 4 : base + (t + 1) % n;
    put(ints(job, OUTPUT) + base + t, get(ints(job, MIDDLE) + from));
}

/* All blocks in one launch: each step reads what all have written in the step before. */
SL_KERNEL(64) void sl_rotate(const sl_job job)
{
    unsigned *counter = (unsigned *)(job.arena + COUNTER);
    unsigned all = sl_blocks() * sl_threads(), me = sl_block() * sl_threads() + sl_thread();
    int32_t *a = ints(job, INPUT), *b = ints(job, MIDDLE);
    for (uint32_t step = 0; step < job.n; step++) {
        put(b + me, get(a + (me + 67) % all) + 1);
        if (job.fault == GRID_SOME && sl_block() == 2 && step == 1) return;
        if (!(job.fault == NO_GRID_SYNC && step == 2)) sl_grid_sync(counter);
        int32_t *c = a;
        a = b;
        b = c;
    }
    put(ints(job, OUTPUT) + me, get(a + me));
}

/* Warp 0 fills the halves of a buffer, the other warps add up what they find there. Barriers 1 and 2 say that a half is full, 3 and 4
 * that it is empty. */
SL_KERNEL(128) void sl_warps(const sl_job job)
{
    int32_t *s = (int32_t *)sl_shared();
    unsigned t = sl_thread(), n = sl_threads();
    int32_t sum = 0;
    for (uint32_t k = 0; k < job.n; k++) {
        unsigned half = k & 1;
        if (t < 32) {
            if (k >= 2 && job.fault != EARLY_REUSE) sl_sync_some(3 + half, n);
            for (unsigned i = t; i < 64; i += 32) put(s + half * 64 + i, get(ints(job, INPUT) + k * 64 + i));
            sl_arrive_some(1 + half, n);
        } else {
            if (job.fault == HALF_A_WARP && k == 1 && t >= 112) return;
            sl_sync_some(1 + half, job.fault == WRONG_COUNT && k == 1 ? 96 : n);
            unsigned read = job.fault == WRONG_HALF && k == 1 ? half ^ 1 : half;
            sum = sl_add_wrapped(sum, get(s + read * 64 + (t * 7 + k) % 64));
            if (k + 2 < job.n && job.fault != EARLY_REUSE) sl_arrive_some(3 + half, n);
        }
    }
    if (t >= 32) put(ints(job, OUTPUT) + sl_block() * n + t, sum);
}

/* Asynchronous copies, one group ahead. */
SL_KERNEL(64) void sl_ahead(const sl_job job)
{
    int32_t *s = (int32_t *)sl_shared();
    unsigned t = sl_thread(), n = sl_threads();
    const char *from = job.arena + INPUT;
    int32_t sum = 0;
    sl_copy_async(s + t * 4, from + t * 16 + (job.fault == UNALIGNED ? 4 : 0), 16);
    sl_copy_commit();
    for (uint32_t k = 0; k < job.n; k++) {
        unsigned half = k & 1;
        if (k + 1 < job.n) {
            sl_copy_async(s + (half ^ 1) * n * 4 + t * 4, from + ((k + 1) * n + t) * 16, 16);
            sl_copy_commit();
            if (job.fault != NO_WAIT) sl_copy_wait(1);
        } else if (job.fault != NO_WAIT) sl_copy_wait(0);
        if (job.fault == CHANGED_SOURCE && k == 0) put(ints(job, INPUT) + (n + t) * 4, 1);
        if (job.fault != NO_SYNC) sl_sync();
        for (unsigned i = 0; i < 4; i++) sum = sl_add_wrapped(sum, get(s + half * n * 4 + (n - 1 - t) * 4 + i));
        if (job.fault != EARLY_REUSE) sl_sync();
    }
    put(ints(job, OUTPUT) + t, sum);
}

/* Items of one byte: neighbours by different threads, through memory of the device and of the block. */
SL_KERNEL(96) void sl_bytes(const sl_job job)
{
    uint8_t *a = (uint8_t *)job.arena + BYTES, *s = (uint8_t *)sl_shared();
    unsigned t = sl_thread(), n = sl_threads();
    uint8_t *from = a + sl_block() * n + t;
    SL_READ(from, 1);
    unsigned at = job.fault == WRITES_TWICE && t == 5 ? 6 : t;
    SL_WRITE(s + at, 1);
    s[at] = *from;
    sl_sync();
    unsigned read = n - 1 - t;
    SL_READ(s + read, 1);
    SL_WRITE(from, 1);
    *from = s[read] ^ 1;
    /* words made of bytes that others have written */
    if (job.fault != NO_SYNC) sl_sync();
    if (t < n / 4) {
        const int32_t *words = (const int32_t *)(a + sl_block() * n);
        put(ints(job, OUTPUT) + sl_block() * (n / 4) + t, get(words + t));
    }
}

/* Threads of a warp exchange items. */
SL_KERNEL(128) void sl_shuffle(const sl_job job)
{
    int32_t *s = (int32_t *)sl_shared();
    unsigned t = sl_thread();
    put(s + t, (int32_t)t * 3);
    if (job.fault != NO_WARP_SYNC) sl_sync_warp();
    put(ints(job, OUTPUT) + t, get(s + (t ^ 9)));
}

/* Items one beside the other, and `n` apart. */
SL_KERNEL(128) void sl_apart(const sl_job job)
{
    unsigned t = sl_block() * sl_threads() + sl_thread();
    for (unsigned k = 0; k < 2; k++) put(ints(job, OUTPUT) + 256 * k + t, get(ints(job, INPUT) + t * job.n + k));
}

/* Work by numbers that are given out, and a flag. */
SL_KERNEL(64) void sl_numbers(const sl_job job)
{
    unsigned *number = (unsigned *)(job.arena + COUNTER + 64);
    unsigned k = sl_atomic_add(number, 1);
    put(ints(job, OUTPUT) + k, (int32_t)k);
    if (sl_first((int32_t *)(job.arena + COUNTER + 128), 1 + (int32_t)k)) put(ints(job, OUTPUT) + 1000, 77);
    sl_fence();
}

/* Many threads with barriers, each with a large array of its own. */
SL_KERNEL(1024) void sl_many(const sl_job job)
{
    int32_t *s = (int32_t *)sl_shared();
    unsigned t = sl_thread(), n = sl_threads();
    volatile int32_t own[32768];
    own[0] = own[32767] = (int32_t)t + 1;
    int32_t *mine = ints(job, MIDDLE) + sl_block() * n + t;
    put(s + t, get(mine));
    sl_sync();
    int32_t other = get(s + (t + 1) % n);
    sl_sync();
    put(mine, other + own[32767] - (int32_t)t);
}

/* Each thread follows its script (as host.c makes them). */
SL_KERNEL(64) void sl_script(const sl_job job)
{
    char *global = job.arena + MIDDLE, *shared = sl_shared();
    unsigned t = sl_thread(), n = sl_threads();
    if (t < 4) put((int32_t *)shared + t, 0);
    sl_sync();
    const uint8_t *step = job.script + (sl_block() * n + t) * job.n * 2;
    for (uint32_t k = 0; k < job.n; k++, step += 2) {
        char *place = (step[1] & 16 ? shared : global) + (step[1] & 15);
        unsigned bytes = step[0] == 2 || step[0] == 4 ? 4 : 1;
        switch (step[0]) {
        case 1:
        case 2: SL_READ(place, bytes); break;
        case 3:
        case 4: SL_WRITE(place, bytes); break;
        case 5: sl_sync(); break;
        case 6: sl_sync_warp(); break;
        case 7: sl_grid_sync((unsigned *)(job.arena + COUNTER)); break;
        case 8: sl_arrive_some(1 + step[1], n); break;
        case 9: sl_sync_some(1 + step[1], n); break;
        default: break;
        }
    }
}

#ifdef SL_EMULATE
static sl_kernel_fn *const sl_kernel_table[] = {sl_reduce, sl_stage, sl_exchange, sl_rotate, sl_warps, sl_ahead,
                                                sl_bytes, sl_shuffle, sl_apart, sl_numbers, sl_many, sl_script};
static const char *const sl_kernel_names[] = {"sl_reduce", "sl_stage", "sl_exchange", "sl_rotate", "sl_warps", "sl_ahead",
                                              "sl_bytes", "sl_shuffle", "sl_apart", "sl_numbers", "sl_many", "sl_script"};
static const sl_region sl_regions[] = {{OUTPUT, 0, "what c9 keeps"},
                                       {INPUT, 16384, "c1, from In to A"},
                                       {MIDDLE, 32768, "c2, from A to B"},
                                       {OUTPUT, 16384, "c3, from B to Out"},
                                       {COUNTER, 192, "counters"},
                                       {BYTES, 4096, "c4, from Bits to B"}};
#endif
