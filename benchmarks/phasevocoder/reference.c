/* The phase vocoder of phasevocoder.str: transforms of real samples by complex ones of half the length, of radix 4.
 *
 * Interface: phasevocoder_new, phasevocoder_run (n samples; gives the number of samples made), phasevocoder_free. */
#include "../stockham.h"
#include <string.h>

#define N 1024
#define HALF (N / 2)
#define HOP 256
#define STRETCHED 320
#define BINS (HALF + 1)

typedef struct {
    stockham fft;
    float window[N], made_window[N], twist_re[HALF], twist_im[HALF], in[N], last[BINS], phase[BINS], sum[N];
    float re[BINS], im[BINS], re2[BINS], im2[BINS];
    size_t held;
    int started;
} phasevocoder;

phasevocoder *phasevocoder_new(void) {
    phasevocoder *v = calloc(1, sizeof *v);
    if (!v || !stockham_new(&v->fft, HALF)) {
        free(v);
        return NULL;
    }
    for (int i = 0; i < N; i++) {
        v->window[i] = (float)(0.5 - 0.5 * cos(2 * M_PI * i / N));
        v->made_window[i] = v->window[i] / (float)(0.375 * N / STRETCHED) / N; /* and the factor of the inverse */
    }
    for (int k = 0; k < HALF; k++) {
        v->twist_re[k] = (float)cos(2 * M_PI * k / N);
        v->twist_im[k] = (float)-sin(2 * M_PI * k / N);
    }
    return v;
}

void phasevocoder_free(phasevocoder *v) {
    stockham_free(&v->fft);
    free(v);
}

/* Even samples are real, odd ones imaginary; the spectrum of both comes apart by symmetry. */
static void forward(phasevocoder *v, float *restrict re, float *restrict im) {
    float x[HALF], y[HALF], x2[HALF], y2[HALF];
    for (int i = 0; i < HALF; i++) {
        x[i] = v->window[2 * i] * v->in[2 * i];
        y[i] = v->window[2 * i + 1] * v->in[2 * i + 1];
    }
    int second = stockham_run(&v->fft, 1, x, y, x2, y2);
    const float *a = second ? x2 : x, *b = second ? y2 : y;
    re[0] = a[0] + b[0];
    re[HALF] = a[0] - b[0];
    im[0] = im[HALF] = 0;
    for (int k = 1; k < HALF; k++) {
        float er = (a[k] + a[HALF - k]) / 2, ei = (b[k] - b[HALF - k]) / 2;
        float or = (b[k] + b[HALF - k]) / 2, oi = (a[HALF - k] - a[k]) / 2;
        re[k] = er + v->twist_re[k] * or - v->twist_im[k] * oi;
        im[k] = ei + v->twist_re[k] * oi + v->twist_im[k] * or;
    }
}

/* The inverse, N times too large. */
static void backward(phasevocoder *v, const float *restrict re, const float *restrict im, float *restrict out) {
    float x[HALF], y[HALF], x2[HALF], y2[HALF];
    for (int k = 0; k < HALF; k++) {
        int m = HALF - k;
        float er = re[k] + re[m], ei = im[k] - im[m], dr = re[k] - re[m], di = im[k] + im[m];
        float or = dr * v->twist_re[k] + di * v->twist_im[k], oi = di * v->twist_re[k] - dr * v->twist_im[k];
        x[k] = er - oi;
        y[k] = ei + or;
    }
    int second = stockham_run(&v->fft, 1, y, x, y2, x2);
    const float *a = second ? x2 : x, *b = second ? y2 : y;
    for (int i = 0; i < HALF; i++) {
        out[2 * i] = a[i];
        out[2 * i + 1] = b[i];
    }
}

static void frame(phasevocoder *v, float *restrict out) {
    float *re = v->re, *im = v->im, made[N];
    forward(v, re, im);
    for (int k = 0; k < BINS; k++) {
        float magnitude = sqrtf(re[k] * re[k] + im[k] * im[k]), now = atan2f(im[k], re[k]) * (float)(0.5 / M_PI);
        float more = now - v->last[k] - (float)(k * HOP % N) / N;
        more -= rintf(more);
        float next = v->phase[k] + ((float)(k * STRETCHED % N) / N + more * ((float)STRETCHED / HOP));
        v->phase[k] = v->started ? next - rintf(next) : now; /* the first phases are as they came */
        v->last[k] = now;
        re[k] = magnitude * cosf(2 * (float)M_PI * v->phase[k]);
        im[k] = magnitude * sinf(2 * (float)M_PI * v->phase[k]);
    }
    v->started = 1;
    /* only the real part of the first and the last bin has a mirror image */
    im[0] = im[HALF] = 0;
    backward(v, re, im, made);
    for (int i = 0; i < N; i++) v->sum[i] += v->made_window[i] * made[i];
    memcpy(out, v->sum, STRETCHED * sizeof(float));
    memmove(v->sum, v->sum + STRETCHED, (N - STRETCHED) * sizeof(float));
    memset(v->sum + N - STRETCHED, 0, STRETCHED * sizeof(float));
}

size_t phasevocoder_run(phasevocoder *v, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    while (n) {
        size_t take = N - v->held;
        if (take > n) take = n;
        memcpy(v->in + v->held, in, take * sizeof(float));
        v->held += take;
        in += take;
        n -= take;
        if (v->held < N) break;
        frame(v, out + made);
        made += STRETCHED;
        v->held -= HOP;
        memmove(v->in, v->in + HOP, v->held * sizeof(float));
    }
    return made;
}
