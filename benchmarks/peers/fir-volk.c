/* fir.str by VOLK, as GNU Radio's FIR filters use it: a dot product for each result. */
#include "peers.h"
#include <volk/volk.h>

typedef struct {
    float *h;
    history past;
} fir;

fir *fir_new(void) {
    fir *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->h = volk_malloc(TAPS * sizeof(float), volk_get_alignment());
    low_pass(f->h, 8);
    return f;
}

void fir_free(fir *f) {
    volk_free(f->h);
    free(f);
}

static inline void windows(const void *filter, const float *x, size_t count, float *out) {
    const fir *f = filter;
    for (size_t t = 0; t < count; t++) volk_32f_x2_dot_prod_32f(out + t, x + t, f->h, TAPS);
}

size_t fir_run(fir *f, const float *in, size_t n, float *out) { return over(&f->past, in, n, out, 1, 1, 1, windows, f); }
