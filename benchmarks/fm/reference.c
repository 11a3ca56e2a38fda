/* The FM receiver of examples/fm.str as a careful C programmer writes it by hand: the same filters, block by block.
 *
 * The low-passes keep eight partial sums, so that the compiler can use vector registers without leave to re-associate; real and
 * imaginary parts are filtered apart for the same reason. The sums are therefore rounded in another order than in the
 * .str program; the outputs agree to about 1e-6.
 *
 * Interface: fm_new, fm_run (complex samples in, sound out; gives the number of sound samples), fm_free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANNEL_TAPS 64
#define CHANNEL_DECIMATION 4
#define AUDIO_TAPS 128
#define AUDIO_DECIMATION 5
#define BLOCK 8192

typedef struct {
    float re[BLOCK + CHANNEL_TAPS], im[BLOCK + CHANNEL_TAPS];
    size_t held;
    float channel[CHANNEL_TAPS], audio_taps[AUDIO_TAPS];
    float last_re, last_im;
    int started;
    float audio[BLOCK + AUDIO_TAPS];
    size_t audio_held;
    float gain, a, y;
} fm;

static void low_pass(float *h, int taps, float rate, float cutoff) {
    float m = taps - 1, w = 2 * (float)M_PI * cutoff / rate;
    for (int i = 0; i < taps; i++) {
        float t = i - m / 2;
        float sinc = t == 0 ? w / (float)M_PI : sinf(w * t) / ((float)M_PI * t);
        h[i] = sinc * (0.54f - 0.46f * cosf(2 * (float)M_PI * i / m));
    }
}

fm *fm_new(void) {
    fm *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    low_pass(f->channel, CHANNEL_TAPS, 960000, 100000);
    low_pass(f->audio_taps, AUDIO_TAPS, 240000, 15000);
    f->gain = 240000 / (2 * (float)M_PI * 75000);
    f->a = 1 - expf(-1 / (48000 * 0.00005f));
    return f;
}

void fm_free(fm *f) { free(f); }

static inline float dot(const float *restrict h, const float *restrict x, int n) {
    float acc[8] = {0};
    for (int i = 0; i < n; i += 8)
        for (int l = 0; l < 8; l++) acc[l] += h[i + l] * x[i + l];
    return ((acc[0] + acc[1]) + (acc[2] + acc[3])) + ((acc[4] + acc[5]) + (acc[6] + acc[7]));
}

static size_t audio(fm *f, float *out) {
    size_t at = 0, made = 0;
    while (at + AUDIO_TAPS <= f->audio_held) {
        f->y += f->a * (dot(f->audio_taps, f->audio + at, AUDIO_TAPS) - f->y);
        out[made++] = f->y;
        at += AUDIO_DECIMATION;
    }
    memmove(f->audio, f->audio + at, (f->audio_held - at) * sizeof(float));
    f->audio_held -= at;
    return made;
}

size_t fm_run(fm *f, const float *in, size_t n, float *out) {
    size_t made = 0;
    while (n) {
        size_t take = BLOCK + CHANNEL_TAPS - f->held;
        if (take > n) take = n;
        for (size_t i = 0; i < take; i++) {
            f->re[f->held + i] = in[2 * i];
            f->im[f->held + i] = in[2 * i + 1];
        }
        f->held += take;
        in += 2 * take;
        n -= take;
        size_t at = 0;
        while (at + CHANNEL_TAPS <= f->held) {
            float re = dot(f->channel, f->re + at, CHANNEL_TAPS), im = dot(f->channel, f->im + at, CHANNEL_TAPS);
            at += CHANNEL_DECIMATION;
            if (f->started)
                f->audio[f->audio_held++] =
                    f->gain * atan2f(im * f->last_re - re * f->last_im, re * f->last_re + im * f->last_im);
            f->started = 1;
            f->last_re = re;
            f->last_im = im;
            if (f->audio_held == BLOCK + AUDIO_TAPS) made += audio(f, out + made);
        }
        memmove(f->re, f->re + at, (f->held - at) * sizeof(float));
        memmove(f->im, f->im + at, (f->held - at) * sizeof(float));
        f->held -= at;
    }
    return made + audio(f, out + made);
}
