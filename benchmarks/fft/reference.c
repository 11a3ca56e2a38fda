/* Transforms of 64 complex samples: bit reversal, then radix-2 butterflies in place. The arithmetic is that of fft.str, operation by
 * operation.
 *
 * Interface: fft_new, fft_run (n complex samples, a multiple of 64; gives n), fft_free. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define N 64

typedef struct {
    int reversed[N];
    float re[N], im[N]; /* the factors of all stages: those of n samples from n/2 on */
} fft;

fft *fft_new(void) {
    fft *f = malloc(sizeof *f);
    if (!f) return NULL;
    for (int i = 0; i < N; i++) {
        int r = 0;
        for (int bit = 1; bit < N; bit *= 2) r = 2 * r + (i & bit ? 1 : 0);
        f->reversed[i] = r;
    }
    for (int n = 2; n <= N; n *= 2)
        for (int k = 0; k < n / 2; k++) {
            f->re[n / 2 + k] = (float)cos(2 * M_PI * k / n);
            f->im[n / 2 + k] = (float)-sin(2 * M_PI * k / n);
        }
    return f;
}

void fft_free(fft *f) { free(f); }

size_t fft_run(fft *f, const float *restrict in, size_t n, float *restrict out) {
    for (size_t block = 0; block + N <= n; block += N) {
        float re[N], im[N];
        for (int i = 0; i < N; i++) {
            re[i] = in[2 * (block + f->reversed[i])];
            im[i] = in[2 * (block + f->reversed[i]) + 1];
        }
        for (int half = 1; half < N; half *= 2)
            for (int from = 0; from < N; from += 2 * half)
                for (int k = 0; k < half; k++) {
                    int a = from + k, b = a + half;
                    float wr = f->re[half + k], wi = f->im[half + k];
                    float tr = wr * re[b] - wi * im[b], ti = wr * im[b] + wi * re[b];
                    re[b] = re[a] - tr;
                    im[b] = im[a] - ti;
                    re[a] += tr;
                    im[a] += ti;
                }
        for (int i = 0; i < N; i++) {
            out[2 * (block + i)] = re[i];
            out[2 * (block + i) + 1] = im[i];
        }
    }
    return n / N * N;
}
