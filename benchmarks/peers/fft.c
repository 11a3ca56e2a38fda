/* The transforms of fft64.str and fft1024.str by hand, by Stockham's algorithm with radix 4 (../stockham.h), short ones side by side. N: points. */
#include "../stockham.h"
#include <stddef.h>

#define SIDE (N < 256 ? 8 : 1)

typedef struct {
    stockham plan;
    float re[2][N * SIDE], im[2][N * SIDE];
} transform;

transform *transform_new(void) {
    transform *f = calloc(1, sizeof *f);
    if (f && stockham_new(&f->plan, N)) return f;
    free(f);
    return NULL;
}

void transform_free(transform *f) {
    stockham_free(&f->plan);
    free(f);
}

static inline __attribute__((always_inline)) void blocks(transform *f, const float *restrict in, int many, float *restrict out) {
    for (int t = 0; t < N; t++)
        for (int l = 0; l < many; l++) {
            f->re[0][t * many + l] = in[2 * (l * N + t)];
            f->im[0][t * many + l] = in[2 * (l * N + t) + 1];
        }
    int second = stockham_run(&f->plan, many, f->re[0], f->im[0], f->re[1], f->im[1]);
    for (int l = 0; l < many; l++)
        for (int t = 0; t < N; t++) {
            out[2 * (l * N + t)] = f->re[second][t * many + l];
            out[2 * (l * N + t) + 1] = f->im[second][t * many + l];
        }
}

size_t transform_run(transform *f, const float *in, size_t n, float *out) {
    size_t at = 0;
    for (; at + SIDE * N <= n; at += SIDE * N) blocks(f, in + 2 * at, SIDE, out + 2 * at);
    for (; at + N <= n; at += N) blocks(f, in + 2 * at, 1, out + 2 * at);
    return at;
}
