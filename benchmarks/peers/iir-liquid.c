/* iir.str by liquid-dsp: iirfilt of sections of second order, a block at a time. */
#include "peers.h"
#include <complex.h>
#include <liquid/liquid.h>

#define SECTIONS 4

typedef struct {
    iirfilt_rrrf filter;
} iir;

iir *iir_new(void) {
    iir *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    float b[SECTIONS][3], a[SECTIONS][3], c[5];
    for (int k = 0; k < SECTIONS; k++) {
        butterworth(c, k);
        memcpy(b[k], c, sizeof b[k]);
        a[k][0] = 1;
        memcpy(a[k] + 1, c + 3, 2 * sizeof(float));
    }
    f->filter = iirfilt_rrrf_create_sos(&b[0][0], &a[0][0], SECTIONS);
    return f;
}

void iir_free(iir *f) {
    iirfilt_rrrf_destroy(f->filter);
    free(f);
}

size_t iir_run(iir *f, const float *in, size_t n, float *out) {
    iirfilt_rrrf_execute_block(f->filter, (float *)in, n, out);
    return n;
}
