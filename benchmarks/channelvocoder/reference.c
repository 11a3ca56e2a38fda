/* The channel vocoder of channelvocoder.str, frame by frame, the bands side by side in vector registers, and so the lags of the
 * autocorrelation. The arithmetic is that of channelvocoder.str, operation by operation.
 *
 * Interface: channelvocoder_new, channelvocoder_run (n samples; gives the number of samples made), channelvocoder_free. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RATE 8000.0
#define BANDS 16
#define LOWEST 200.0
#define WIDTH 225.0
#define TAPS 64
#define FRAME 80
#define SMOOTH 160
#define WINDOW 160
#define SHORTEST 20
#define LONGEST 147
#define LAGS (LONGEST - SHORTEST + 1)
#define NEEDED (WINDOW + LONGEST) /* samples for the pitch of a frame */

typedef struct {
    float h[TAPS][BANDS], weight[SMOOTH];
    float in[NEEDED + FRAME];
    float loud[SMOOTH][BANDS];           /* magnitudes */
    float old[BANDS], old_period;        /* of the frame before */
    float made[TAPS - 1 + FRAME][BANDS]; /* modulated excitation */
    size_t held, loud_held, made_held;
    int started, since;
    uint32_t random;
} channelvocoder;

channelvocoder *channelvocoder_new(void) {
    channelvocoder *v = calloc(1, sizeof *v);
    if (!v) return NULL;
    v->random = 1;
    for (int i = 0; i < TAPS; i++) {
        double t = i - (TAPS - 1) / 2.0, window = 0.54 - 0.46 * cos(2 * M_PI * i / (TAPS - 1));
        for (int b = 0; b < BANDS; b++) {
            double low = (LOWEST + b * WIDTH) / RATE, high = (LOWEST + (b + 1) * WIDTH) / RATE;
            v->h[i][b] = (float)(window * (sin(2 * M_PI * high * t) - sin(2 * M_PI * low * t)) / (M_PI * t));
        }
    }
    for (int i = 0; i < SMOOTH; i++) v->weight[i] = (float)((1 - cos(2 * M_PI * (i + 0.5) / SMOOTH)) / SMOOTH);
    return v;
}

void channelvocoder_free(channelvocoder *v) { free(v); }

static int pitch(const float *restrict in) {
    float x[NEEDED], sum[LAGS] = {0}, greatest = 0, energy = 0;
    for (int i = 0; i < NEEDED; i++) greatest = fabsf(in[i]) > greatest ? fabsf(in[i]) : greatest;
    float clip = 0.3f * greatest;
    for (int i = 0; i < NEEDED; i++) {
        float inner = in[i] < clip ? in[i] : clip;
        x[i] = in[i] - (inner > -clip ? inner : -clip);
    }
    for (int i = 0; i < WINDOW; i++) energy += x[i] * x[i];
    for (int i = 0; i < WINDOW; i++)
        for (int lag = 0; lag < LAGS; lag++) sum[lag] += x[i] * x[i + SHORTEST + lag];
    float best = 0.3f * energy;
    int period = 0;
    for (int lag = 0; lag < LAGS; lag++)
        if (sum[lag] > best) {
            best = sum[lag];
            period = SHORTEST + lag;
        }
    return period;
}

/* All bands of one sample. */
static inline void band_pass(const channelvocoder *v, const float *restrict x, float *restrict y) {
    float sum[BANDS] = {0};
    for (int i = 0; i < TAPS; i++)
        for (int b = 0; b < BANDS; b++) sum[b] += v->h[i][b] * x[i];
    for (int b = 0; b < BANDS; b++) y[b] = fabsf(sum[b]);
}

static size_t synthesise(channelvocoder *v, int period, const float *from, const float *to, float *restrict out) {
    float pulse = sqrtf((float)period), step[BANDS];
    for (int b = 0; b < BANDS; b++) step[b] = (to[b] - from[b]) / FRAME;
    for (int i = 0; i < FRAME; i++) {
        float x = 0;
        v->random = v->random * 1664525 + 1013904223;
        v->since++;
        if (!period) {
            x = (float)(int32_t)v->random * (1.7320508f / 2147483648.0f);
        } else if (v->since >= period) {
            v->since = 0;
            x = pulse;
        }
        for (int b = 0; b < BANDS; b++) v->made[v->made_held + i][b] = x * (from[b] + i * step[b]);
    }
    v->made_held += FRAME;
    size_t made = 0;
    for (; made + TAPS <= v->made_held; made++) {
        float sum[BANDS] = {0}, all = 0;
        for (int i = 0; i < TAPS; i++)
            for (int b = 0; b < BANDS; b++) sum[b] += v->h[i][b] * v->made[made + i][b];
        for (int b = 0; b < BANDS; b++) all += sum[b];
        out[made] = all;
    }
    v->made_held -= made;
    memmove(v->made, v->made + made, v->made_held * sizeof v->made[0]);
    return made;
}

size_t channelvocoder_run(channelvocoder *v, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    while (n) {
        size_t take = NEEDED - v->held;
        if (take > n) take = n;
        memcpy(v->in + v->held, in, take * sizeof *in);
        v->held += take;
        in += take;
        n -= take;
        if (v->held < NEEDED) break;
        for (; v->loud_held < SMOOTH; v->loud_held++) band_pass(v, v->in + v->loud_held, v->loud[v->loud_held]);
        float envelope[BANDS] = {0};
        for (int i = 0; i < SMOOTH; i++)
            for (int b = 0; b < BANDS; b++) envelope[b] += v->weight[i] * v->loud[i][b];
        int period = pitch(v->in);
        if (v->started) made += synthesise(v, (int)v->old_period, v->old, envelope, out + made);
        v->started = 1;
        v->old_period = period;
        memcpy(v->old, envelope, sizeof envelope);
        v->loud_held -= FRAME;
        memmove(v->loud, v->loud + FRAME, v->loud_held * sizeof v->loud[0]);
        v->held -= FRAME;
        memmove(v->in, v->in + FRAME, v->held * sizeof *v->in);
    }
    return made;
}
