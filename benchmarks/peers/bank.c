/* bank.str by hand: the bands side by side in vector registers, section after section. */
#include "peers.h"

#define BANDS 8
#define SECTIONS 2

typedef struct {
    float c[5][BANDS], s1[SECTIONS][BANDS], s2[SECTIONS][BANDS];
} bank;

bank *bank_new(void) {
    bank *f = calloc(1, sizeof *f);
    for (int k = 0; f && k < BANDS; k++) {
        float c[5];
        resonance(c, k);
        for (int i = 0; i < 5; i++) f->c[i][k] = c[i];
    }
    return f;
}

void bank_free(bank *f) { free(f); }

size_t bank_run(bank *f, const float *restrict in, size_t n, float *restrict out) {
    for (size_t t = 0; t < n; t++) {
        float x[BANDS], all = 0;
        for (int k = 0; k < BANDS; k++) x[k] = in[t];
        for (int s = 0; s < SECTIONS; s++)
            for (int k = 0; k < BANDS; k++) {
                float y = f->c[0][k] * x[k] + f->s1[s][k];
                f->s1[s][k] = f->c[1][k] * x[k] - f->c[3][k] * y + f->s2[s][k];
                f->s2[s][k] = f->c[2][k] * x[k] - f->c[4][k] * y;
                x[k] = y;
            }
        for (int k = 0; k < BANDS; k++) all += x[k];
        out[t] = all;
    }
    return n;
}
