/* The pulse compression of pulsecompression.str, with a transform of radix 4.
 *
 * Interface: pulsecompression_new, pulsecompression_run (n complex samples, a multiple of 1024; gives the number of powers, 896 for each
 * 1024), pulsecompression_free. */
#include "../stockham.h"

#define N 1024
#define PULSE 129
#define RANGES (N - PULSE + 1)

typedef struct {
    stockham fft;
    float match_re[N], match_im[N];
} pulsecompression;

pulsecompression *pulsecompression_new(void) {
    pulsecompression *r = calloc(1, sizeof *r);
    if (!r || !stockham_new(&r->fft, N)) {
        free(r);
        return NULL;
    }
    for (int k = 0; k < N; k++) {
        double re = 0, im = 0;
        for (int i = 0; i < PULSE; i++) {
            double t = i - (PULSE - 1) / 2.0, window = 0.54 - 0.46 * cos(2 * M_PI * i / (PULSE - 1));
            double phase = M_PI * 0.8 * t * t / PULSE - 2 * M_PI * (i * k % N) / N;
            re += window * cos(phase);
            im += window * sin(phase);
        }
        r->match_re[k] = (float)(re / N); /* and the factor of the inverse */
        r->match_im[k] = (float)(-im / N);
    }
    return r;
}

void pulsecompression_free(pulsecompression *r) {
    stockham_free(&r->fft);
    free(r);
}

size_t pulsecompression_run(pulsecompression *r, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    for (size_t at = 0; at + N <= n; at += N, made += RANGES) {
        float re[N], im[N], re2[N], im2[N];
        for (int i = 0; i < N; i++) {
            re[i] = in[2 * (at + i)];
            im[i] = in[2 * (at + i) + 1];
        }
        int second = stockham_run(&r->fft, 1, re, im, re2, im2);
        float *x = second ? re2 : re, *y = second ? im2 : im, *x2 = second ? re : re2, *y2 = second ? im : im2;
        for (int k = 0; k < N; k++) {
            float t = r->match_re[k] * x[k] - r->match_im[k] * y[k];
            y[k] = r->match_re[k] * y[k] + r->match_im[k] * x[k];
            x[k] = t;
        }
        if (stockham_run(&r->fft, 1, y, x, y2, x2)) {
            x = x2;
            y = y2;
        }
        for (int i = 0; i < RANGES; i++) out[made + i] = x[i] * x[i] + y[i] * y[i];
    }
    return made;
}
