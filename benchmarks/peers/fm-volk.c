/* fm.str by VOLK: products with the conjugate of the sample before, as GNU Radio's demodulator makes them, then their angles. A block that the first
 * cache holds at a time. */
#include "peers.h"
#include <volk/volk.h>

#define BLOCK 1024

typedef struct {
    lv_32fc_t last, *product;
    int started;
} fm;

fm *fm_new(void) {
    fm *f = calloc(1, sizeof *f);
    if (f) f->product = volk_malloc(BLOCK * sizeof(lv_32fc_t), volk_get_alignment());
    return f;
}

void fm_free(fm *f) {
    volk_free(f->product);
    free(f);
}

static void angles(fm *f, const lv_32fc_t *next, const lv_32fc_t *x, size_t n, float *out) {
    for (size_t at = 0; at < n; at += BLOCK) {
        unsigned count = n - at < BLOCK ? n - at : BLOCK;
        volk_32fc_x2_multiply_conjugate_32fc(f->product, next + at, x + at, count);
        volk_32fc_s32f_atan2_32f(out + at, f->product, 0.5f, count);
    }
}

size_t fm_run(fm *f, const float *in, size_t n, float *out) {
    const lv_32fc_t *x = (const lv_32fc_t *)in;
    if (!n) return 0;
    size_t made = f->started;
    if (f->started) angles(f, x, &f->last, 1, out);
    f->started = 1;
    angles(f, x + 1, x, n - 1, out + made);
    f->last = x[n - 1];
    return made + n - 1;
}
