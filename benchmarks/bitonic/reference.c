/* Blocks of eight keys sorted by Batcher's bitonic network, each comparator by hand.
 *
 * Interface: bitonic_new, bitonic_run (n keys, a multiple of 8, in and out; gives n), bitonic_free. */
#include <stddef.h>
#include <stdint.h>

static char nothing;

void *bitonic_new(void) { return &nothing; }
void bitonic_free(void *state) { (void)state; }

static inline void order(int32_t *low, int32_t *high) {
    int32_t a = *low, b = *high;
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

size_t bitonic_run(void *state, const int32_t *restrict in, size_t n, int32_t *restrict out) {
    (void)state;
    for (size_t block = 0; block + 8 <= n; block += 8) {
        int32_t k[8];
        for (int i = 0; i < 8; i++) k[i] = in[block + i];
        /* pairs, falling and rising in turn */
        order(k + 0, k + 1), order(k + 3, k + 2), order(k + 4, k + 5), order(k + 7, k + 6);
        /* fours */
        order(k + 0, k + 2), order(k + 1, k + 3), order(k + 6, k + 4), order(k + 7, k + 5);
        order(k + 0, k + 1), order(k + 2, k + 3), order(k + 5, k + 4), order(k + 7, k + 6);
        /* all eight */
        order(k + 0, k + 4), order(k + 1, k + 5), order(k + 2, k + 6), order(k + 3, k + 7);
        order(k + 0, k + 2), order(k + 1, k + 3), order(k + 4, k + 6), order(k + 5, k + 7);
        order(k + 0, k + 1), order(k + 2, k + 3), order(k + 4, k + 5), order(k + 6, k + 7);
        for (int i = 0; i < 8; i++) out[block + i] = k[i];
    }
    return n / 8 * 8;
}
