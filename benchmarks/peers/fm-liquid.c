/* fm.str by liquid-dsp: freqdem, a block at a time. */
#include "peers.h"
#include <complex.h>
#include <liquid/liquid.h>

typedef struct {
    freqdem demod;
    int started;
} fm;

fm *fm_new(void) {
    fm *f = calloc(1, sizeof *f);
    if (f) f->demod = freqdem_create((float)(1 / (4 * M_PI))); /* angles twice as large */
    return f;
}

void fm_free(fm *f) {
    freqdem_destroy(f->demod);
    free(f);
}

size_t fm_run(fm *f, const float *in, size_t n, float *out) {
    float complex *x = (float complex *)in;
    float first;
    if (!f->started && n) {
        freqdem_demodulate(f->demod, *x++, &first);
        f->started = 1;
        n--;
    }
    freqdem_demodulate_block(f->demod, x, n, out);
    return n;
}
