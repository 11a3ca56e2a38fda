/* Blocks of eight keys sorted by the recursive bitonic sorter, in place.
 *
 * Interface: bitonicrec_new, bitonicrec_run (n keys, a multiple of 8, in and out; gives n), bitonicrec_free. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static char nothing;

void *bitonicrec_new(void) { return &nothing; }
void bitonicrec_free(void *state) { (void)state; }

/* Sorts n keys that first rise and then fall. */
static inline __attribute__((always_inline)) void clean(int32_t *k, int n) {
    for (int half = n / 2; half > 0; half /= 2)
        for (int block = 0; block < n; block += 2 * half)
            for (int i = block; i < block + half; i++) {
                int32_t a = k[i], b = k[i + half];
                k[i] = a < b ? a : b;
                k[i + half] = a < b ? b : a;
            }
}

static inline __attribute__((always_inline)) void merge(int32_t *k, int n) {
    for (int i = 0; i < n / 4; i++) {
        int32_t t = k[n / 2 + i];
        k[n / 2 + i] = k[n - 1 - i];
        k[n - 1 - i] = t;
    }
    clean(k, n);
}

size_t bitonicrec_run(void *state, const int32_t *restrict in, size_t n, int32_t *restrict out) {
    (void)state;
    for (size_t block = 0; block + 8 <= n; block += 8) {
        int32_t k[8];
        memcpy(k, in + block, sizeof k);
        for (int i = 0; i < 8; i += 2) merge(k + i, 2);
        merge(k, 4);
        merge(k + 4, 4);
        merge(k, 8);
        memcpy(out + block, k, sizeof k);
    }
    return n / 8 * 8;
}
