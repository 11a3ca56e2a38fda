/* The same receiver put together from liquid-dsp's own objects: decimating FIR, frequency demodulator, decimating FIR, and a
 * one-pole filter. Interface as in reference.c. */
#include <complex.h>
#include <liquid/liquid.h>
#include <math.h>
#include <stdlib.h>

typedef struct {
    firdecim_crcf channel;
    freqdem demod;
    firdecim_rrrf audio;
    iirfilt_rrrf emphasis;
    float complex held[4];
    unsigned n_held;
    float sound[5];
    unsigned n_sound;
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
    float h[128];
    low_pass(h, 64, 960000, 100000);
    f->channel = firdecim_crcf_create(4, h, 64);
    low_pass(h, 128, 240000, 15000);
    f->audio = firdecim_rrrf_create(5, h, 128);
    f->demod = freqdem_create(75000.0f / 240000.0f);
    float a = 1 - expf(-1 / (48000 * 0.00005f));
    float num[2] = {a, 0}, den[2] = {1, -(1 - a)};
    f->emphasis = iirfilt_rrrf_create(num, 2, den, 2);
    return f;
}

void fm_free(fm *f) {
    firdecim_crcf_destroy(f->channel);
    firdecim_rrrf_destroy(f->audio);
    freqdem_destroy(f->demod);
    iirfilt_rrrf_destroy(f->emphasis);
    free(f);
}

size_t fm_run(fm *f, const float *in, size_t n, float *out) {
    const float complex *x = (const float complex *)in;
    size_t made = 0, i = 0;
    // whole blocks where nothing is held back, the rest sample by sample
    enum { SOUNDS = 256 };
    float complex z[5 * SOUNDS];
    float demodulated[5 * SOUNDS], sound[SOUNDS];
    while (f->n_held == 0 && f->n_sound == 0 && n - i >= 20 * SOUNDS) {
        firdecim_crcf_execute_block(f->channel, (float complex *)x + i, 5 * SOUNDS, z);
        freqdem_demodulate_block(f->demod, z, 5 * SOUNDS, demodulated);
        firdecim_rrrf_execute_block(f->audio, demodulated, SOUNDS, sound);
        iirfilt_rrrf_execute_block(f->emphasis, sound, SOUNDS, out + made);
        made += SOUNDS;
        i += 20 * SOUNDS;
    }
    for (; i < n; i++) {
        f->held[f->n_held++] = x[i];
        if (f->n_held < 4) continue;
        f->n_held = 0;
        float complex z;
        firdecim_crcf_execute(f->channel, f->held, &z);
        freqdem_demodulate(f->demod, z, &f->sound[f->n_sound++]);
        if (f->n_sound < 5) continue;
        f->n_sound = 0;
        float s;
        firdecim_rrrf_execute(f->audio, f->sound, &s);
        iirfilt_rrrf_execute(f->emphasis, s, &out[made++]);
    }
    return made;
}
