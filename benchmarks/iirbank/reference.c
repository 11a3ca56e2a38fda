/* The bank of recursive filters of iirbank.str, the bands side by side in vector registers, section after section. The arithmetic is that
 * of iirbank.str, operation by operation.
 *
 * Interface: iirbank_new, iirbank_run (n samples in; gives n), iirbank_free. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define BANDS 8
#define SECTIONS 4
#define RATE 48000.0
#define LOWEST 70.0

typedef struct {
    float b0[SECTIONS][BANDS], b1[SECTIONS][BANDS], b2[SECTIONS][BANDS], a1[SECTIONS][BANDS], a2[SECTIONS][BANDS];
    float s1[SECTIONS][BANDS], s2[SECTIONS][BANDS], gain[BANDS];
} iirbank;

/* A Butterworth section: sign 1 for a low-pass, -1 for a high-pass. */
static void design(iirbank *f, int section, int band, double frequency, int sign) {
    double w = 2 * M_PI * frequency / RATE, c = cos(w), alpha = sin(w) * sqrt(0.5), a0 = 1 + alpha;
    f->b0[section][band] = f->b2[section][band] = (float)((1 - sign * c) / 2 / a0);
    f->b1[section][band] = (float)(sign * (1 - sign * c) / a0);
    f->a1[section][band] = (float)(-2 * c / a0);
    f->a2[section][band] = (float)((1 - alpha) / a0);
}

iirbank *iirbank_new(void) {
    iirbank *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    for (int band = 0; band < BANDS; band++) {
        for (int i = 0; i < 2; i++) {
            design(f, i, band, LOWEST * (1 << band), -1);
            design(f, 2 + i, band, LOWEST * (2 << band), 1);
        }
        f->gain[band] = 0.5f + 0.125f * band;
    }
    return f;
}

void iirbank_free(iirbank *f) { free(f); }

size_t iirbank_run(iirbank *f, const float *restrict in, size_t n, float *restrict out) {
    for (size_t t = 0; t < n; t++) {
        float x[BANDS], all = 0;
        for (int b = 0; b < BANDS; b++) x[b] = in[t];
        for (int s = 0; s < SECTIONS; s++)
            for (int b = 0; b < BANDS; b++) {
                float y = f->b0[s][b] * x[b] + f->s1[s][b];
                f->s1[s][b] = f->b1[s][b] * x[b] - f->a1[s][b] * y + f->s2[s][b];
                f->s2[s][b] = f->b2[s][b] * x[b] - f->a2[s][b] * y;
                x[b] = y;
            }
        for (int b = 0; b < BANDS; b++) all += f->gain[b] * x[b];
        out[t] = all;
    }
    return n;
}
