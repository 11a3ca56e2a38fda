/* Buffers of a filter that looks ahead, four ways: what stays after a batch is moved to the front (shifted), or only when there is no room behind it any more, in a buffer of twice the window at
 * least (slid), a ring whose reader masks its positions (masked), and a ring that is mapped twice in a row, so that every window is straight (mapped).
 *
 *   peeks WINDOW BATCH TAPS ITEMS TURNS
 *
 * A firing takes one item, looks at TAPS items spread over a window of WINDOW, and gives their sum; batches of BATCH firings, as the engine runs them: the
 * producer writes BATCH items, the filter fires BATCH times. Prints the least nanoseconds per item of TURNS turns for each way, which take turns, and whether all gave
 * the same sum. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The items that come in: no constant, and nothing to compute. */
static inline void produce(float *restrict to, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] * 0.5f;
}

/* Firings of the filter on a straight window. */
static inline void fire(const float *restrict in, float *restrict out, size_t n, size_t step, size_t taps)
{
    if (taps == 2) {
        for (size_t f = 0; f < n; f++)
            out[f] = in[f] + in[f + step];
        return;
    }
    for (size_t f = 0; f < n; f++) {
        float sum = 0;
        for (size_t i = 0; i < taps; i++)
            sum += in[f + i * step];
        out[f] = sum;
    }
}

/* The same on a ring. */
static inline void fire_masked(const float *restrict ring, size_t mask, size_t head, float *restrict out, size_t n, size_t step, size_t taps)
{
    if (taps == 2) {
        for (size_t f = 0; f < n; f++)
            out[f] = ring[(head + f) & mask] + ring[(head + f + step) & mask];
        return;
    }
    for (size_t f = 0; f < n; f++) {
        float sum = 0;
        for (size_t i = 0; i < taps; i++)
            sum += ring[(head + f + i * step) & mask];
        out[f] = sum;
    }
}

static double consume(const float *out, size_t n)
{
    return (double)out[0] + (double)out[n - 1];
}

/* A block of memory twice in a row. */
static float *twice(size_t bytes)
{
    int file = memfd_create("ring", 0);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return NULL;
    char *at = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (mmap(at + (size_t)i * bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            return NULL;
    close(file);
    return (float *)(void *)at;
}

int main(int count, char **words)
{
    if (count != 6)
        return 2;
    const size_t window = strtoull(words[1], NULL, 10), batch = strtoull(words[2], NULL, 10), taps = strtoull(words[3], NULL, 10);
    const size_t items = strtoull(words[4], NULL, 10), turns = strtoull(words[5], NULL, 10);
    if (window < 2 || batch < 1 || taps < 2 || taps > window)
        return 2;
    const size_t stays = window - 1, step = (window - 1) / (taps - 1), batches = items / batch + 1;
    size_t ring = 1024; /* a page at least */
    while (ring < stays + batch)
        ring *= 2;
    float *in = malloc(batch * sizeof *in), *out = malloc(batch * sizeof *out);
    const size_t room = stays + batch > 2 * stays ? stays + batch : 2 * stays;
    float *slid = malloc(room * sizeof *slid), *shifted = malloc((stays + batch) * sizeof *shifted), *masked = malloc(ring * sizeof *masked), *mapped = twice(ring * sizeof *mapped);
    if (!in || !out || !slid || !shifted || !masked || !mapped)
        return 3;
    for (size_t i = 0; i < batch; i++)
        in[i] = (float)(i * 7919 % 1000) / 500 - 1;
    double best[4] = {1e300, 1e300, 1e300, 1e300}, sums[4] = {0, 0, 0, 0};
    for (size_t turn = 0; turn < turns; turn++) {
        for (int way = 0; way < 4; way++) {
            memset(shifted, 0, stays * sizeof *shifted);
            memset(slid, 0, room * sizeof *slid);
            memset(masked, 0, ring * sizeof *masked);
            memset(mapped, 0, ring * sizeof *mapped);
            size_t head = 0, tail = stays, from = 0;
            double sum = 0;
            const double begin = now();
            for (size_t b = 0; b < batches; b++) {
                switch (way) {
                case 0:
                    produce(shifted + stays, in, batch);
                    fire(shifted, out, batch, step, taps);
                    memmove(shifted, shifted + batch, stays * sizeof *shifted);
                    break;
                case 1:
                    if (from + stays + batch > room) {
                        memmove(slid, slid + from, stays * sizeof *slid);
                        from = 0;
                    }
                    produce(slid + from + stays, in, batch);
                    fire(slid + from, out, batch, step, taps);
                    from += batch;
                    break;
                case 2: {
                    const size_t first = ring - tail < batch ? ring - tail : batch;
                    produce(masked + tail, in, first);
                    produce(masked, in + first, batch - first);
                    fire_masked(masked, ring - 1, head, out, batch, step, taps);
                    break;
                }
                default:
                    produce(mapped + tail, in, batch);
                    fire(mapped + head, out, batch, step, taps);
                }
                head = (head + batch) & (ring - 1);
                tail = (tail + batch) & (ring - 1);
                sum += consume(out, batch);
            }
            const double took = (now() - begin) / (double)(batches * batch);
            if (took < best[way])
                best[way] = took;
            sums[way] = sum;
        }
    }
    const int same = sums[0] == sums[1] && sums[0] == sums[2] && sums[0] == sums[3];
    printf("%.4f %.4f %.4f %.4f %s\n", best[0], best[1], best[2], best[3], same ? "same" : "different");
    return 0;
}
