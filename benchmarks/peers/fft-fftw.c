/* The transforms of fft64.str and fft1024.str by FFTW, out of place; 32 short ones at a time. N: points; PLAN: how the plan is found, FFTW_ESTIMATE or
 * FFTW_MEASURE. */
#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

#define MANY (N < 256 ? 32 : 1)

typedef struct {
    fftwf_plan one, many;
    fftwf_complex *from, *to;
} transform;

transform *transform_new(void) {
    transform *f = malloc(sizeof *f);
    if (!f) return NULL;
    int size = N;
    f->from = fftwf_alloc_complex(N * MANY);
    f->to = fftwf_alloc_complex(N * MANY);
    unsigned how = PLAN | FFTW_PRESERVE_INPUT;
    f->one = fftwf_plan_dft_1d(N, f->from, f->to, FFTW_FORWARD, how);
    f->many = fftwf_plan_many_dft(1, &size, MANY, f->from, NULL, 1, N, f->to, NULL, 1, N, FFTW_FORWARD, how);
    return f;
}

void transform_free(transform *f) {
    fftwf_destroy_plan(f->one);
    fftwf_destroy_plan(f->many);
    fftwf_free(f->from);
    fftwf_free(f->to);
    free(f);
}

/* Where the memory is as plans want it, they are used there; elsewhere it is copied. */
static void some(transform *f, fftwf_plan plan, const float *in, size_t size, float *out) {
    if (!fftwf_alignment_of((float *)in) && !fftwf_alignment_of(out)) {
        fftwf_execute_dft(plan, (fftwf_complex *)in, (fftwf_complex *)out);
        return;
    }
    memcpy(f->from, in, size * sizeof *f->from);
    fftwf_execute_dft(plan, f->from, f->to);
    memcpy(out, f->to, size * sizeof *f->to);
}

size_t transform_run(transform *f, const float *in, size_t n, float *out) {
    size_t at = 0;
    for (; at + MANY * N <= n; at += MANY * N) some(f, f->many, in + 2 * at, MANY * N, out + 2 * at);
    for (; at + N <= n; at += N) some(f, f->one, in + 2 * at, N, out + 2 * at);
    return at;
}
