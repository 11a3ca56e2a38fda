/* The transforms of fft.str by FFTW, many at a time.
 *
 * Interface: as reference.c. */
#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

#define N 64
#define MANY 64

typedef struct {
    fftwf_plan plan;
    fftwf_complex *buffer;
} fft;

fft *fft_new(void) {
    fft *f = malloc(sizeof *f);
    if (!f) return NULL;
    f->buffer = fftwf_alloc_complex(N * MANY);
    int size = N;
    f->plan = fftwf_plan_many_dft(1, &size, MANY, f->buffer, NULL, 1, N, f->buffer, NULL, 1, N, FFTW_FORWARD, FFTW_MEASURE);
    return f;
}

void fft_free(fft *f) {
    fftwf_destroy_plan(f->plan);
    fftwf_free(f->buffer);
    free(f);
}

size_t fft_run(fft *f, const float *in, size_t n, float *out) {
    n = n / N * N;
    for (size_t at = 0; at < n; at += N * MANY) {
        size_t count = n - at < N * MANY ? n - at : N * MANY;
        memcpy(f->buffer, in + 2 * at, count * sizeof *f->buffer);
        fftwf_execute(f->plan);
        memcpy(out + 2 * at, f->buffer, count * sizeof *f->buffer);
    }
    return n;
}
