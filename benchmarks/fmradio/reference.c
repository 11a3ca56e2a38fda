/* The receiver of fmradio.str, block by block. Neighbouring bands of the equaliser share a low-pass, so there are eleven, side by side in vector
 * registers.
 *
 * The channel filter keeps eight partial sums, so that the compiler can use vector registers without leave to re-associate: its
 * sums are rounded in another order than those of fmradio.str; the outputs agree to about 1e-6.
 *
 * Interface: fmradio_new, fmradio_run (n complex samples in; gives the number of sound samples), fmradio_free. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TAPS 64
#define DECIMATION 5
#define BANDS 10
#define EDGES (BANDS + 1)
#define LANES 16 /* EDGES, rounded up to what fits vector registers */
#define BLOCK 4096

typedef struct {
    float channel[TAPS], edges[TAPS][LANES], gains[BANDS], gain;
    float re[BLOCK + TAPS], im[BLOCK + TAPS], sound[BLOCK / DECIMATION + 2 * TAPS];
    size_t held, sounds;
    float last_re, last_im;
    int started;
} fmradio;

static void low_pass(double cutoff, float *h, int stride) {
    double ideal[TAPS], sum = 0;
    for (int i = 0; i < TAPS; i++) {
        double t = i - (TAPS - 1) / 2.0;
        double sinc = t == 0 ? 2 * cutoff : sin(2 * M_PI * cutoff * t) / (M_PI * t);
        ideal[i] = sinc * (0.54 - 0.46 * cos(2 * M_PI * i / (TAPS - 1)));
        sum += ideal[i];
    }
    for (int i = 0; i < TAPS; i++) h[i * stride] = (float)(ideal[i] / sum);
}

fmradio *fmradio_new(void) {
    fmradio *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    low_pass(10000.0 / 240000, f->channel, 1);
    for (int i = 0; i < EDGES; i++) low_pass(300 * pow(2, i / 2.0) / 48000, f->edges[0] + i, LANES);
    for (int i = 0; i < BANDS; i++) {
        double middle = (i - (BANDS - 1) / 2.0) / BANDS;
        f->gains[i] = (float)(2 - 4 * middle * middle);
    }
    f->gain = (float)(48000 / (2 * M_PI * 5000));
    return f;
}

void fmradio_free(fmradio *f) { free(f); }

static inline float dot(const float *restrict h, const float *restrict x) {
    float acc[8] = {0};
    for (int i = 0; i < TAPS; i += 8)
        for (int l = 0; l < 8; l++) acc[l] += h[i + l] * x[i + l];
    return ((acc[0] + acc[1]) + (acc[2] + acc[3])) + ((acc[4] + acc[5]) + (acc[6] + acc[7]));
}

static size_t equalise(fmradio *f, float *out) {
    size_t made = 0;
    for (; made + TAPS <= f->sounds; made++) {
        float acc[LANES] = {0}, sum = 0;
        for (int i = 0; i < TAPS; i++)
            for (int l = 0; l < LANES; l++) acc[l] += f->edges[i][l] * f->sound[made + i];
        for (int i = 0; i < BANDS; i++) sum += f->gains[i] * (acc[i + 1] - acc[i]);
        out[made] = sum;
    }
    f->sounds -= made;
    memmove(f->sound, f->sound + made, f->sounds * sizeof(float));
    return made;
}

size_t fmradio_run(fmradio *f, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    while (n) {
        size_t take = BLOCK + TAPS - f->held;
        if (take > n) take = n;
        for (size_t i = 0; i < take; i++) {
            f->re[f->held + i] = in[2 * i];
            f->im[f->held + i] = in[2 * i + 1];
        }
        f->held += take;
        in += 2 * take;
        n -= take;
        size_t at = 0;
        for (; at + TAPS <= f->held; at += DECIMATION) {
            float re = dot(f->channel, f->re + at), im = dot(f->channel, f->im + at);
            if (f->started)
                f->sound[f->sounds++] =
                    f->gain * atan2f(im * f->last_re - re * f->last_im, re * f->last_re + im * f->last_im);
            f->started = 1;
            f->last_re = re;
            f->last_im = im;
        }
        f->held -= at;
        memmove(f->re, f->re + at, f->held * sizeof(float));
        memmove(f->im, f->im + at, f->held * sizeof(float));
        made += equalise(f, out + made);
    }
    return made;
}
