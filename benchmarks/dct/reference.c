/* The two-dimensional DCT of 8x8 blocks by the algorithm of Arai, Agui and Nakajima, rows first. The arithmetic is that of dct.str,
 * operation by operation.
 *
 * Interface: dct_new, dct_run (n samples, a multiple of 64; gives n), dct_free. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    float c4, c6, c2less6, c2plus6, factor[64];
} dct;

dct *dct_new(void) {
    dct *d = malloc(sizeof *d);
    if (!d) return NULL;
    double s[8];
    for (int k = 0; k < 8; k++) s[k] = k == 0 ? 1 : sqrt(2) * cos(k * M_PI / 16);
    for (int i = 0; i < 64; i++) d->factor[i] = (float)(1 / (8 * s[i / 8] * s[i % 8]));
    d->c4 = (float)cos(4 * M_PI / 16);
    d->c6 = (float)cos(6 * M_PI / 16);
    d->c2less6 = (float)(cos(2 * M_PI / 16) - cos(6 * M_PI / 16));
    d->c2plus6 = (float)(cos(2 * M_PI / 16) + cos(6 * M_PI / 16));
    return d;
}

void dct_free(dct *d) { free(d); }

/* Eight transforms side by side: the items of transform i are x[i], x[stride + i], ... The two strides say which way it goes. */
static inline __attribute__((always_inline)) void eight(const dct *d, float *x, int stride, int next) {
    for (int i = 0; i < 8; i++, x += next) {
        float s0 = x[0] + x[7 * stride], s1 = x[stride] + x[6 * stride], s2 = x[2 * stride] + x[5 * stride],
              s3 = x[3 * stride] + x[4 * stride];
        float d0 = x[0] - x[7 * stride], d1 = x[stride] - x[6 * stride], d2 = x[2 * stride] - x[5 * stride],
              d3 = x[3 * stride] - x[4 * stride];
        float s03 = s0 + s3, d03 = s0 - s3, s12 = s1 + s2, e = (s1 - s2 + d03) * d->c4;
        float a = d3 + d2, b = (d2 + d1) * d->c4, c = d1 + d0, r = (a - c) * d->c6;
        float u = d->c2less6 * a + r, v = d->c2plus6 * c + r;
        float sum = d0 + b, difference = d0 - b;
        x[0] = s03 + s12;
        x[stride] = sum + v;
        x[2 * stride] = d03 + e;
        x[3 * stride] = difference - u;
        x[4 * stride] = s03 - s12;
        x[5 * stride] = difference + u;
        x[6 * stride] = d03 - e;
        x[7 * stride] = sum - v;
    }
}

size_t dct_run(dct *d, const int32_t *restrict in, size_t n, float *restrict out) {
    for (size_t block = 0; block + 64 <= n; block += 64) {
        float x[64];
        for (int i = 0; i < 64; i++) x[i] = (float)(in[block + i] - 128);
        eight(d, x, 1, 8);
        eight(d, x, 8, 1);
        for (int i = 0; i < 64; i++) out[block + i] = d->factor[i] * x[i];
    }
    return n / 64 * 64;
}
