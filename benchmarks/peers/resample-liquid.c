/* resample.str by liquid-dsp: firdecim, a block at a time. Its results are of the windows that end with the first of five samples: two more samples come
 * before the first, and the first thirteen results, of windows that begin before the first sample, are dropped. */
#include "peers.h"
#include <complex.h>
#include <liquid/liquid.h>

#define STEP 5

typedef struct {
    firdecim_crcf filter;
    float complex held[STEP];
    size_t n_held, before;
} resample;

resample *resample_new(void) {
    resample *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    float h[TAPS];
    low_pass(h, 10);
    f->filter = firdecim_crcf_create(STEP, h, TAPS);
    f->n_held = 2;
    f->before = 13;
    return f;
}

void resample_free(resample *f) {
    firdecim_crcf_destroy(f->filter);
    free(f);
}

size_t resample_run(resample *f, const float *in, size_t n, float *out) {
    float complex *x = (float complex *)in, *y = (float complex *)out;
    size_t made = 0;
    while (n) {
        if (!f->n_held && !f->before && n >= STEP) {
            firdecim_crcf_execute_block(f->filter, x, n / STEP, y + made);
            made += n / STEP;
            x += n / STEP * STEP;
            n %= STEP;
            continue;
        }
        f->held[f->n_held++] = *x++;
        n--;
        if (f->n_held < STEP) continue;
        f->n_held = 0;
        firdecim_crcf_execute(f->filter, f->held, y + made);
        if (f->before) f->before--;
        else made++;
    }
    return made;
}
