/* Runs the kernels of kernels.cu in the emulator: host LIBRARY KERNEL FAULTS FIRST_SEED SEEDS. For each seed and each of the faults
 * (numbers with commas between, 0 is none) a line: `right`, `wrong: ...` or the report. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *arena;
    int32_t fault, step;
    uint32_t n;
    const unsigned char *script;
} job;

enum { INPUT = 0, MIDDLE = 16384, OUTPUT = 49152, COUNTER = 65536, BYTES = 65792, ARENA = 69888 /* bytes */ };
static const char *const NAMES[] = {"sl_reduce", "sl_stage", "sl_exchange", "sl_rotate", "sl_warps", "sl_ahead",
                                    "sl_bytes", "sl_shuffle", "sl_apart", "sl_numbers", "sl_many", "sl_script"};
enum { REDUCE, STAGE, EXCHANGE, ROTATE, WARPS, AHEAD, BYTE_ITEMS, SHUFFLE, APART, NUMBERS, MANY, SCRIPT };

/* The fault of kernels.cu. */
enum { UNWRITTEN = 7 };

static int32_t (*emulate)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, const void *, uint64_t, char *, uint64_t);
static void (*memory)(char *, uint64_t, int32_t);
static void (*count)(int32_t);
static uint32_t (*counts)(uint32_t, uint64_t *);
static const char *(*region)(uint32_t);

static char *arena;
static char text[400];
static job j;
static uint64_t seed;
static int32_t input[4096];

static int32_t *ints(int offset) { return (int32_t *)(arena + offset); }
static void put(int offset, const void *from, size_t bytes)
{
    memcpy(arena + offset, from, bytes);
    memory(arena + offset, bytes, 2);
}
static int launch(uint32_t kernel, uint32_t blocks, uint32_t threads, uint32_t shared, int together)
{
    if (emulate(kernel, blocks, threads, shared, together, &j, seed, text, sizeof text) == 0) return 1;
    puts(text);
    return 0;
}

static void check(const int32_t *want, int n)
{
    for (int i = 0; i < n; i++)
        if (ints(OUTPUT)[i] != want[i]) {
            printf("wrong: item %d is %d instead of %d\n", i, ints(OUTPUT)[i], want[i]);
            return;
        }
    puts("right");
}

static void show(uint32_t r)
{
    uint64_t c[8];
    counts(r, c);
    printf("%s:", region(r));
    for (int i = 0; i < 2; i++) {
        const uint64_t *of = c + 4 * i;
        printf("%s %llu accesses of warps %s %llu sectors, at most %llu, %llu bytes", i ? ";" : "", (unsigned long long)of[0], i ? "write" : "read",
               (unsigned long long)of[1], (unsigned long long)of[2], (unsigned long long)of[3]);
    }
    puts("");
}

/* ---- scripts: what threads do, at random; whether two of them race is found out by the definition ---- */

enum { BLOCKS = 2, THREADS = 64, ALL = BLOCKS * THREADS, STEPS = 24, PLACES = 32 };
enum { NOTHING, READ1, READ4, WRITE1, WRITE4, BLOCK_SYNC, WARP_SYNC, GRID_SYNC, ARRIVE, SYNC_SOME };

static unsigned char script[ALL][STEPS][2];
/* seen[t][u]: how many barriers of thread u thread t has seen the end of, what u did before included */
static int seen[ALL][ALL];
/* What was done to each byte, of global and of each block's shared memory: by whom, when, and was it a write? */
static struct { int thread, time, write; } done[PLACES + PLACES][ALL * STEPS * 4];
static int done_count[PLACES + PLACES];

static uint32_t roll(uint32_t sides)
{
    static uint64_t state;
    static uint64_t of = UINT64_MAX;
    if (of != seed) state = of = seed;
    state += 0x9e3779b97f4a7c15ull;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 33) % sides;
}

/* Threads of which all have come: `from` to `end` see what those of `other` to `other_end` have seen. */
static void meet(int from, int end, int other, int other_end)
{
    static int all[ALL];
    memset(all, 0, sizeof all);
    for (int t = other; t < other_end; t++)
        for (int u = 0; u < ALL; u++)
            if (seen[t][u] + (t == u) > all[u]) all[u] = seen[t][u] + (t == u);
    for (int t = from; t < end; t++)
        for (int u = 0; u < ALL; u++)
            if (all[u] > seen[t][u]) seen[t][u] = all[u];
}

/* A script in which barriers are reached by all who must, and accesses between them are at random. */
static void write_script(void)
{
    uint32_t rare = 2 + roll(200), places = 1 + roll(4), writes = 2 + roll(6);
    memset(script, 0, sizeof script);
    for (int step = 0; step < STEPS; step++) {
        uint32_t together = roll(12);
        for (int b = 0; b < BLOCKS; b++) {
            uint32_t what = step % 2 == 0 ? 99 : together == 0 ? 98 : roll(5), w = roll(2);
            for (int i = 0; i < THREADS; i++) {
                unsigned char *s = script[b * THREADS + i][step];
                uint32_t warp = (uint32_t)i / 32;
                s[0] = what == 98 ? GRID_SYNC : what == 0 ? BLOCK_SYNC : what == 1 && warp == w ? WARP_SYNC : NOTHING;
                if (what == 2) s[0] = warp == w ? ARRIVE : SYNC_SOME;
                /* each time another barrier: none is arrived at twice before others have waited there */
                if (what == 2) s[1] = (unsigned char)(step / 2);
                if (what != 99 || roll(rare)) continue;
                int whole = roll(3) != 0, writing = roll(writes) == 0;
                s[0] = (unsigned char)(writing ? whole ? WRITE4 : WRITE1 : whole ? READ4 : READ1);
                s[1] = (unsigned char)(roll(2) * 16 + roll(places) * 4 + (whole ? 0 : roll(4)));
            }
        }
    }
}

static int access_races(int t, const unsigned char *s)
{
    int races = 0, write = s[0] == WRITE1 || s[0] == WRITE4, bytes = s[0] == READ1 || s[0] == WRITE1 ? 1 : 4;
    for (int i = 0; i < bytes; i++) {
        int at = s[1] + i;
        /* shared memory of each block */
        if (at >= 16) at += t / THREADS * PLACES;
        for (int k = 0; k < done_count[at]; k++)
            if (done[at][k].thread != t && (write || done[at][k].write) && done[at][k].time >= seen[t][done[at][k].thread]) races = 1;
        done[at][done_count[at]].thread = t;
        done[at][done_count[at]].time = seen[t][t];
        done[at][done_count[at]++].write = write;
    }
    return races;
}

static int script_races(void)
{
    int races = 0;
    memset(seen, 0, sizeof seen);
    memset(done_count, 0, sizeof done_count);
    for (int step = 0; step < STEPS; step++) {
        for (int t = 0; t < ALL; t++)
            if (script[t][step][0] >= READ1 && script[t][step][0] <= WRITE4) races |= access_races(t, script[t][step]);
        if (script[0][step][0] == GRID_SYNC) meet(0, ALL, 0, ALL);
        for (int t = 0; t < ALL; t += 32) {
            int what = script[t][step][0], b = t / THREADS * THREADS;
            if (what == BLOCK_SYNC && t == b) meet(t, t + THREADS, t, t + THREADS);
            if (what == WARP_SYNC) meet(t, t + 32, t, t + 32);
            if (what == SYNC_SOME) meet(t, t + 32, b, b + THREADS);
        }
        /* what is done from now on is later */
        for (int t = 0; t < ALL; t++)
            if (script[t][step][0] == ARRIVE && seen[t][t] >= 0) seen[t][t]++;
    }
    return races;
}

static void run_script(void)
{
    uint32_t zero = 0;
    put(COUNTER, &zero, 4);
    write_script();
    int races = script_races();
    j.n = STEPS;
    j.script = &script[0][0][0];
    int clean = emulate(SCRIPT, BLOCKS, THREADS, 16, 1, &j, seed, text, sizeof text) == 0;
    if (clean == !races) puts(races ? "right: they race" : "right");
    else printf("wrong: seed %llu, races %d: %s\n", (unsigned long long)seed, races, text);
}

static void run(uint32_t kernel)
{
    static int32_t want[8192];
    memset(want, 0, sizeof want);
    for (int i = 0; i < 4096; i++) input[i] = (int32_t)((uint32_t)i * 2654435761u) >> 3;
    memory(arena, ARENA, 1);
    memset(arena, 0xee, ARENA);
    put(INPUT, input, sizeof input);
    /* so that what is read too early is not merely unwritten */
    if (j.fault != UNWRITTEN) put(MIDDLE, input, sizeof input);
    memset(text, 0, sizeof text);
    switch (kernel) {
    case REDUCE:
        for (int i = 0; i < 2048; i++) want[i / 256] = (int32_t)((uint32_t)want[i / 256] + (uint32_t)input[i]);
        if (launch(kernel, 8, 256, 1024, 0)) check(want, 8);
        break;
    case STAGE:
        for (int s = 0; s < 5; s++) {
            j.step = s;
            if (!launch(kernel, 6, 128, 0, 0)) return;
        }
        for (int i = 0; i < 4 * 384; i++) want[i] = 3 * input[i / 128 * 128 + 127 - i % 128] + 1;
        check(want, 4 * 384);
        break;
    case EXCHANGE:
        for (int i = 0; i < 512; i++) want[i] = input[i / 128 * 128 + (i + 1) % 128] + 5;
        if (launch(kernel, 4, 128, 0, 0)) check(want, 512);
        break;
    case ROTATE: {
        uint32_t zero = 0;
        put(COUNTER, &zero, 4);
        j.n = 5;
        for (int i = 0; i < 320; i++) want[i] = input[(i + 5 * 67) % 320] + 5;
        if (!launch(kernel, 5, 64, 0, 1)) return;
        if (*(uint32_t *)(arena + COUNTER) != 0x80000000u) puts("wrong: the counter");
        else check(want, 320);
        break;
    }
    case WARPS:
        j.n = 7;
        if (!launch(kernel, 2, 128, 512, 0)) return;
        for (int t = 0; t < 256; t++) {
            for (int k = 0; k < 7; k++) want[t] = (int32_t)((uint32_t)want[t] + (uint32_t)input[k * 64 + (t % 128 * 7 + k) % 64]);
            if (t % 128 < 32) want[t] = ints(OUTPUT)[t];
        }
        check(want, 256);
        break;
    case AHEAD:
        j.n = 6;
        for (int t = 0; t < 64; t++)
            for (int k = 0; k < 6; k++)
                for (int i = 0; i < 4; i++) want[t] = (int32_t)((uint32_t)want[t] + (uint32_t)input[(k * 64 + 63 - t) * 4 + i]);
        if (launch(kernel, 1, 64, 2048, 0)) check(want, 64);
        break;
    case BYTE_ITEMS: {
        unsigned char bits[960], out[960];
        for (int i = 0; i < 960; i++) bits[i] = (unsigned char)(i * 37 >> 3);
        for (int i = 0; i < 960; i++) out[i] = bits[i / 96 * 96 + 95 - i % 96] ^ 1;
        put(BYTES, bits, 960);
        memcpy(want, out, 960);
        if (launch(kernel, 10, 96, 100, 0)) check(want, 240);
        break;
    }
    case SHUFFLE:
        for (int t = 0; t < 128; t++) want[t] = (t ^ 9) * 3;
        if (launch(kernel, 1, 128, 512, 0)) check(want, 128);
        break;
    case APART:
        /* the fault is how far apart */
        j.n = (uint32_t)j.fault;
        for (int t = 0; t < 512; t++) want[t] = input[t % 256 * j.fault + t / 256];
        if (!launch(kernel, 2, 128, 0, 0)) return;
        check(want, 512);
        show(1);
        show(3);
        show(6);
        break;
    case NUMBERS: {
        uint32_t zeros[64] = {0};
        put(COUNTER, zeros, sizeof zeros);
        if (!launch(kernel, 3, 64, 0, 0)) return;
        for (int t = 0; t < 192; t++) want[t] = t;
        if (ints(OUTPUT)[1000] != 77 || *ints(COUNTER + 128) < 1) puts("wrong: the flag");
        else check(want, 192);
        break;
    }
    case SCRIPT: run_script(); break;
    case MANY: {
        int32_t zeros[8192] = {0};
        put(MIDDLE, zeros, sizeof zeros);
        for (int i = 0; i < 20; i++)
            if (!launch(kernel, 8, j.fault ? (uint32_t)j.fault : 128, 4096, i % 2)) return;
        memcpy(ints(OUTPUT), ints(MIDDLE), 4 * 1024);
        for (int t = 0; t < 1024; t++) want[t] = 20;
        check(want, 1024);
        break;
    }
    }
    memory(arena, ARENA, 0);
}

/* Launches that cannot be, and memory that is no longer there. */
static void run_refused(void)
{
    memory(arena, ARENA, 1);
    launch(99, 1, 32, 0, 0);
    launch(REDUCE, 0, 32, 0, 0);
    launch(REDUCE, 1, 1025, 0, 0);
    launch(REDUCE, 1, 32, 1000000, 0);
    launch(ROTATE, 2000000, 1024, 0, 0);
    launch(ROTATE, 3000000, 1024, 0, 0);
    launch(ROTATE, 4000, 1024, 0, 1);
    j.n = 1;
    put(INPUT, input, sizeof input);
    put(COUNTER, input, 256);
    launch(ROTATE, 2, 64, 0, 0);
    uint32_t three = 3;
    put(COUNTER, &three, 4);
    launch(ROTATE, 1, 64, 0, 0);
    memory(arena, ARENA, 0);
    launch(REDUCE, 1, 32, 128, 0);
    memory(arena, INPUT + 64, 1);
    launch(REDUCE, 1, 32, 128, 0);
    /* allocated anew, its contents are gone */
    put(INPUT, input, 64);
    memory(arena, ARENA, 1);
    launch(REDUCE, 1, 1, 128, 0);
    memory(arena, ARENA, 0);
}

static void *symbol(void *library, const char *name)
{
    void *s = dlsym(library, name);
    if (s) return s;
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
}

int main(int argc, char **argv)
{
    void *library = argc == 6 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "%s\n", argc == 6 ? dlerror() : "arguments");
        return 2;
    }
    *(void **)&emulate = symbol(library, "sl_emulate");
    *(void **)&memory = symbol(library, "sl_emulate_memory");
    *(void **)&count = symbol(library, "sl_emulate_count");
    *(void **)&counts = symbol(library, "sl_emulate_counts");
    *(void **)&region = symbol(library, "sl_emulate_region");
    if (strcmp(argv[2], "sl_apart") == 0) count(1);
    arena = aligned_alloc(256, ARENA);
    j.arena = arena;
    uint64_t first = strtoull(argv[4], NULL, 10), seeds = strtoull(argv[5], NULL, 10);
    uint32_t kernel = 0;
    if (strcmp(argv[2], "refused") == 0) {
        run_refused();
        return 0;
    }
    while (kernel <= SCRIPT && strcmp(NAMES[kernel], argv[2]) != 0) kernel++;
    if (kernel > SCRIPT) return 2;
    for (seed = first; seed < first + seeds; seed++) {
        for (const char *fault = argv[3]; *fault; fault += strspn(fault, ",")) {
            j.fault = (int32_t)strtol(fault, (char **)&fault, 10);
            j.step = 0;
            j.n = 0;
            run(kernel);
        }
    }
    free(arena);
    dlclose(library);
    return 0;
}
