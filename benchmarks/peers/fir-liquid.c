/* fir.str by liquid-dsp: firfilt, a block at a time. */
#include "peers.h"
#include <complex.h>
#include <liquid/liquid.h>

typedef struct {
    firfilt_rrrf filter;
    size_t before; /* samples still to come before the first window is full */
} fir;

fir *fir_new(void) {
    fir *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    float h[TAPS];
    low_pass(h, 8);
    f->filter = firfilt_rrrf_create(h, TAPS);
    f->before = TAPS - 1;
    return f;
}

void fir_free(fir *f) {
    firfilt_rrrf_destroy(f->filter);
    free(f);
}

size_t fir_run(fir *f, const float *in, size_t n, float *out) {
    for (; f->before && n; f->before--, n--) firfilt_rrrf_push(f->filter, *in++);
    firfilt_rrrf_execute_block(f->filter, (float *)in, n, out);
    return n;
}
