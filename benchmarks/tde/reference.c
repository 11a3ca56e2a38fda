/* The equaliser of tde.str: all channels side by side in vector registers, a transform of radix 4.
 *
 * Interface: tde_new, tde_run (n complex samples, a multiple of 8, one of each channel; gives the number of samples), tde_free. */
#include "../stockham.h"
#include <string.h>

#define CHANNELS 8
#define N 256
#define TAPS 129
#define HOP (N - TAPS + 1)
#define ALL (N * CHANNELS)

static const double delay[CHANNELS] = {0.0, 1.25, -0.6, 2.4, 3.15, -1.8, 0.45, -2.7};
static const double gain[CHANNELS] = {1.0, 0.93, 1.08, 1.02, 0.88, 1.15, 0.97, 1.05};

typedef struct {
    stockham fft;
    float spectrum_re[ALL], spectrum_im[ALL], in[2 * ALL];
    float re[ALL], im[ALL], re2[ALL], im2[ALL];
    size_t held; /* samples of each channel */
} tde;

tde *tde_new(void) {
    tde *e = calloc(1, sizeof *e);
    if (!e || !stockham_new(&e->fft, N)) {
        free(e);
        return NULL;
    }
    for (int c = 0; c < CHANNELS; c++) {
        double h[TAPS];
        for (int i = 0; i < TAPS; i++) {
            double t = i - (TAPS - 1) / 2.0 - delay[c], window = 0.54 + 0.46 * cos(2 * M_PI * t / (TAPS + 7));
            h[i] = gain[c] * window * (t == 0 ? 1 : sin(M_PI * t) / (M_PI * t));
        }
        for (int k = 0; k < N; k++) {
            double re = 0, im = 0;
            for (int i = 0; i < TAPS; i++) {
                re += h[i] * cos(2 * M_PI * (i * k % N) / N);
                im -= h[i] * sin(2 * M_PI * (i * k % N) / N);
            }
            e->spectrum_re[k * CHANNELS + c] = (float)(re / N); /* and the factor of the inverse */
            e->spectrum_im[k * CHANNELS + c] = (float)(im / N);
        }
    }
    return e;
}

void tde_free(tde *e) {
    stockham_free(&e->fft);
    free(e);
}

static void block(tde *e, float *restrict out) {
    for (int i = 0; i < ALL; i++) {
        e->re[i] = e->in[2 * i];
        e->im[i] = e->in[2 * i + 1];
    }
    int second = stockham_run(&e->fft, CHANNELS, e->re, e->im, e->re2, e->im2);
    float *x = second ? e->re2 : e->re, *y = second ? e->im2 : e->im, *x2 = second ? e->re : e->re2, *y2 = second ? e->im : e->im2;
    for (int i = 0; i < ALL; i++) {
        float re = e->spectrum_re[i] * x[i] - e->spectrum_im[i] * y[i];
        y[i] = e->spectrum_re[i] * y[i] + e->spectrum_im[i] * x[i];
        x[i] = re;
    }
    if (stockham_run(&e->fft, CHANNELS, y, x, y2, x2)) {
        x = x2;
        y = y2;
    }
    x += (N - HOP) * CHANNELS;
    y += (N - HOP) * CHANNELS;
    for (int i = 0; i < HOP * CHANNELS; i++) {
        out[2 * i] = x[i];
        out[2 * i + 1] = y[i];
    }
}

size_t tde_run(tde *e, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    n /= CHANNELS;
    while (n) {
        size_t take = N - e->held;
        if (take > n) take = n;
        memcpy(e->in + 2 * CHANNELS * e->held, in, take * 2 * CHANNELS * sizeof(float));
        e->held += take;
        in += take * 2 * CHANNELS;
        n -= take;
        if (e->held < N) break;
        block(e, out + 2 * CHANNELS * made);
        made += HOP;
        e->held -= HOP;
        memmove(e->in, e->in + 2 * CHANNELS * HOP, e->held * 2 * CHANNELS * sizeof(float));
    }
    return made * CHANNELS;
}
