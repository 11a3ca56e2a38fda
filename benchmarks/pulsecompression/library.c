/* The pulse compression of pulsecompression.str by FFTW.
 *
 * Interface: as reference.c. */
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 1024
#define PULSE 129
#define RANGES (N - PULSE + 1)

typedef struct {
    fftwf_plan forward, back;
    fftwf_complex *buffer, *match;
} pulsecompression;

pulsecompression *pulsecompression_new(void) {
    pulsecompression *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->buffer = fftwf_alloc_complex(N);
    r->match = fftwf_alloc_complex(N);
    r->forward = fftwf_plan_dft_1d(N, r->buffer, r->buffer, FFTW_FORWARD, FFTW_MEASURE);
    r->back = fftwf_plan_dft_1d(N, r->buffer, r->buffer, FFTW_BACKWARD, FFTW_MEASURE);
    memset(r->buffer, 0, N * sizeof *r->buffer);
    for (int i = 0; i < PULSE; i++) {
        double t = i - (PULSE - 1) / 2.0, window = 0.54 - 0.46 * cos(2 * M_PI * i / (PULSE - 1));
        r->buffer[i][0] = (float)(window * cos(M_PI * 0.8 * t * t / PULSE));
        r->buffer[i][1] = (float)(window * sin(M_PI * 0.8 * t * t / PULSE));
    }
    fftwf_execute(r->forward);
    for (int k = 0; k < N; k++) {
        r->match[k][0] = r->buffer[k][0] / N;
        r->match[k][1] = -r->buffer[k][1] / N;
    }
    return r;
}

void pulsecompression_free(pulsecompression *r) {
    fftwf_destroy_plan(r->forward);
    fftwf_destroy_plan(r->back);
    fftwf_free(r->buffer);
    fftwf_free(r->match);
    free(r);
}

size_t pulsecompression_run(pulsecompression *r, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    fftwf_complex *z = r->buffer;
    for (size_t at = 0; at + N <= n; at += N, made += RANGES) {
        memcpy(z, in + 2 * at, N * sizeof *z);
        fftwf_execute(r->forward);
        for (int k = 0; k < N; k++) {
            float t = r->match[k][0] * z[k][0] - r->match[k][1] * z[k][1];
            z[k][1] = r->match[k][0] * z[k][1] + r->match[k][1] * z[k][0];
            z[k][0] = t;
        }
        fftwf_execute(r->back);
        for (int i = 0; i < RANGES; i++) out[made + i] = z[i][0] * z[i][0] + z[i][1] * z[i][1];
    }
    return made;
}
