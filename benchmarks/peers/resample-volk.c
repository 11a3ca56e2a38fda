/* resample.str by VOLK, as GNU Radio's decimating FIR filters use it: a dot product for each result. */
#include "peers.h"
#include <volk/volk.h>

typedef struct {
    float *h;
    history past;
} resample;

resample *resample_new(void) {
    resample *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->h = volk_malloc(TAPS * sizeof(float), volk_get_alignment());
    low_pass(f->h, 10);
    return f;
}

void resample_free(resample *f) {
    volk_free(f->h);
    free(f);
}

static inline void windows(const void *filter, const float *x, size_t count, float *out) {
    const resample *f = filter;
    for (size_t t = 0; t < count; t++)
        volk_32fc_32f_dot_prod_32fc((lv_32fc_t *)out + t, (const lv_32fc_t *)x + 5 * t, f->h, TAPS);
}

size_t resample_run(resample *f, const float *in, size_t n, float *out) {
    return over(&f->past, in, n, out, 2, 2, 5, windows, f);
}
