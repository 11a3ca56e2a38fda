/* The transforms of fft64.str and fft1024.str by liquid-dsp. A plan belongs to two places in memory, to and from which samples are copied. N: points. */
#include <complex.h>
#include <liquid/liquid.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    fftplan plan;
    float complex from[N], to[N];
} transform;

transform *transform_new(void) {
    transform *f = malloc(sizeof *f);
    if (f) f->plan = fft_create_plan(N, f->from, f->to, LIQUID_FFT_FORWARD, 0);
    return f;
}

void transform_free(transform *f) {
    fft_destroy_plan(f->plan);
    free(f);
}

size_t transform_run(transform *f, const float *in, size_t n, float *out) {
    size_t at = 0;
    for (; at + N <= n; at += N) {
        memcpy(f->from, in + 2 * at, sizeof f->from);
        fft_execute(f->plan);
        memcpy(out + 2 * at, f->to, sizeof f->to);
    }
    return at;
}
