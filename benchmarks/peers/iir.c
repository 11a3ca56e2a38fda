/* iir.str by hand. */
#include "peers.h"

#define SECTIONS 4

typedef struct {
    float c[SECTIONS][5], s1[SECTIONS], s2[SECTIONS];
} iir;

iir *iir_new(void) {
    iir *f = calloc(1, sizeof *f);
    for (int k = 0; f && k < SECTIONS; k++) butterworth(f->c[k], k);
    return f;
}

void iir_free(iir *f) { free(f); }

size_t iir_run(iir *f, const float *restrict in, size_t n, float *restrict out) {
    iir s = *f; /* in registers */
    for (size_t t = 0; t < n; t++) {
        float x = in[t];
        for (int k = 0; k < SECTIONS; k++) {
            float y = s.c[k][0] * x + s.s1[k];
            s.s1[k] = s.c[k][1] * x - s.c[k][3] * y + s.s2[k];
            s.s2[k] = s.c[k][2] * x - s.c[k][4] * y;
            x = y;
        }
        out[t] = x;
    }
    *f = s;
    return n;
}
