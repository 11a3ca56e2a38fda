/* The radar of radar.str: ranges side by side in vector registers all the way, so that no corner is turned before the end. The transform is
 * of radix 4.
 *
 * Interface: radar_new, radar_run (n complex samples, a multiple of 288 * 32; gives the number of cells, 256 * 32 for each), radar_free. */
#include "../stockham.h"

#define PULSES 32
#define SAMPLES 288
#define RANGES 256
#define CHIP 2
#define TAPS (13 * CHIP)
#define GUARD 2
#define TRAIN 8
#define SIDE (GUARD + TRAIN)
#define THRESHOLD 12.0f

static const int barker[13] = {1, 1, 1, 1, 1, -1, -1, 1, 1, -1, 1, -1, 1};

typedef struct {
    stockham fft;
    float code[TAPS], weight[PULSES], part[RANGES];
    float re[PULSES * RANGES], im[PULSES * RANGES], re2[PULSES * RANGES], im2[PULSES * RANGES];
} radar;

radar *radar_new(void) {
    radar *r = calloc(1, sizeof *r);
    if (!r || !stockham_new(&r->fft, PULSES)) {
        free(r);
        return NULL;
    }
    for (int i = 0; i < TAPS; i++) r->code[i] = barker[i / CHIP];
    for (int i = 0; i < PULSES; i++) r->weight[i] = (float)(0.54 - 0.46 * cos(2 * M_PI * i / (PULSES - 1)));
    for (int range = 0; range < RANGES; range++) {
        int cells = 0;
        for (int i = GUARD + 1; i <= SIDE; i++) cells += (range - i >= 0) + (range + i < RANGES);
        r->part[range] = THRESHOLD / cells;
    }
    return r;
}

void radar_free(radar *r) {
    stockham_free(&r->fft);
    free(r);
}

static void match(const radar *r, float weight, const float *restrict in, float *restrict re, float *restrict im) {
    float x[SAMPLES], y[SAMPLES], sum_re[RANGES] = {0}, sum_im[RANGES] = {0};
    for (int i = 0; i < SAMPLES; i++) {
        x[i] = in[2 * i];
        y[i] = in[2 * i + 1];
    }
    for (int i = 0; i < TAPS; i++)
        for (int range = 0; range < RANGES; range++) {
            sum_re[range] += r->code[i] * x[range + i];
            sum_im[range] += r->code[i] * y[range + i];
        }
    for (int range = 0; range < RANGES; range++) {
        re[range] = weight * sum_re[range];
        im[range] = weight * sum_im[range];
    }
}

static void detect(const radar *r, const float *restrict re, const float *restrict im, float *restrict out) {
    float cell[RANGES + 2 * SIDE] = {0}, over[RANGES];
    for (int range = 0; range < RANGES; range++) cell[SIDE + range] = re[range] * re[range] + im[range] * im[range];
    for (int range = 0; range < RANGES; range++) {
        float sum = 0;
        for (int i = 0; i < TRAIN; i++) sum += cell[range + i] + cell[range + TRAIN + 2 * GUARD + 1 + i];
        float x = cell[SIDE + range] - r->part[range] * sum;
        over[range] = x > 0 ? x : 0;
    }
    for (int range = 0; range < RANGES; range++) out[range * PULSES] = over[range];
}

size_t radar_run(radar *r, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    for (size_t at = 0; at + SAMPLES * PULSES <= n; at += SAMPLES * PULSES, made += RANGES * PULSES) {
        for (int pulse = 0; pulse < PULSES; pulse++)
            match(r, r->weight[pulse], in + 2 * (at + pulse * SAMPLES), r->re + pulse * RANGES, r->im + pulse * RANGES);
        int second = stockham_run(&r->fft, RANGES, r->re, r->im, r->re2, r->im2);
        const float *re = second ? r->re2 : r->re, *im = second ? r->im2 : r->im;
        for (int shift = 0; shift < PULSES; shift++) detect(r, re + shift * RANGES, im + shift * RANGES, out + made + shift);
    }
    return made;
}
