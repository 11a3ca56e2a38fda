/* The transforms of fft64.str and fft1024.str by KISS FFT. N: points. */
#include <kissfft/kiss_fft.h>
#include <stdlib.h>

typedef struct {
    kiss_fft_cfg plan;
} transform;

transform *transform_new(void) {
    transform *f = malloc(sizeof *f);
    if (f) f->plan = kiss_fft_alloc(N, 0, NULL, NULL);
    return f;
}

void transform_free(transform *f) {
    kiss_fft_free(f->plan);
    free(f);
}

size_t transform_run(transform *f, const float *in, size_t n, float *out) {
    size_t at = 0;
    for (; at + N <= n; at += N) kiss_fft(f->plan, (const kiss_fft_cpx *)in + at, (kiss_fft_cpx *)out + at);
    return at;
}
