/* Products of 12 x 12 and 12 x 9 matrices, the columns side by side in vector registers.
 *
 * The sums are taken in order; matrixmult.str sums within blocks first. The results agree to rounding.
 *
 * Interface: matrixmult_new, matrixmult_run (n items, a multiple of 252; gives the number of items of the products), matrixmult_free. */
#include <stddef.h>

#define ROWS 12
#define INNER 12
#define COLUMNS 9

static char nothing;

void *matrixmult_new(void) { return &nothing; }
void matrixmult_free(void *state) { (void)state; }

size_t matrixmult_run(void *state, const float *restrict in, size_t n, float *restrict out) {
    (void)state;
    size_t rounds = n / (ROWS * INNER + INNER * COLUMNS);
    for (size_t round = 0; round < rounds; round++) {
        const float *a = in, *b = in + ROWS * INNER;
        for (int r = 0; r < ROWS; r++) {
            float sum[COLUMNS] = {0};
            for (int i = 0; i < INNER; i++)
                for (int c = 0; c < COLUMNS; c++) sum[c] += a[r * INNER + i] * b[i * COLUMNS + c];
            for (int c = 0; c < COLUMNS; c++) out[r * COLUMNS + c] = sum[c];
        }
        in += ROWS * INNER + INNER * COLUMNS;
        out += ROWS * COLUMNS;
    }
    return rounds * ROWS * COLUMNS;
}
