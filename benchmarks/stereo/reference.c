/* The receiver of stereo.str, block by block. Sums of products keep eight partial sums, so that the compiler can use vector registers without
 * leave to re-associate: they are rounded in another order than those of stereo.str; the outputs agree to about 1e-6.
 *
 * Interface: stereo_new, stereo_run (n complex samples in; gives the number of items: 65 for each 192 samples), stereo_free. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RATE 228000.0
#define PILOT 129
#define PILOT_LANES 136 /* rounded up to what fits vector registers */
#define SOUND 192
#define SOUND_STEP 6
#define DATA 240
#define DATA_STEP 12
#define BIT 16
#define BLOCK 1536 /* samples */
#define WAITING 2048

typedef struct {
    float cosine[PILOT_LANES], sine[PILOT_LANES], sound[SOUND], data[DATA], wave[BIT], gain, b, a;
    float last_re, last_im, multiplex[BLOCK + PILOT_LANES], sum[BLOCK + SOUND], difference[BLOCK + SOUND], carried[BLOCK + DATA],
        matched[BLOCK / DATA_STEP + BIT], filtered[BLOCK / DATA_STEP + BIT], clear[BIT], x1[2], y1[2];
    float pairs[WAITING], items[WAITING]; /* that wait for each other */
    size_t held, carriers, carried_held, data_held, filtered_held, pairs_held, items_held;
    int started, at, last, place, age;
    uint32_t block;
} stereo;

static const uint32_t offset[5] = {0x0FC, 0x198, 0x168, 0x350, 0x1B4};
static const int places[5] = {1, 2, 3, 3, 4};

static void low_pass(double cutoff, int taps, double *h) {
    double sum = 0;
    for (int i = 0; i < taps; i++) {
        double t = i - (taps - 1) / 2.0, sinc = t == 0 ? 2 * cutoff : sin(2 * M_PI * cutoff * t) / (M_PI * t);
        h[i] = sinc * (0.54 - 0.46 * cos(2 * M_PI * i / (taps - 1)));
        sum += h[i];
    }
    for (int i = 0; i < taps; i++) h[i] /= sum;
}

stereo *stereo_new(void) {
    stereo *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    double h[DATA];
    low_pass(1000 / RATE, PILOT, h);
    for (int i = 0; i < PILOT; i++) {
        r->cosine[i] = (float)(h[i] * cos(2 * M_PI * (i - PILOT / 2) / 12));
        r->sine[i] = (float)(-h[i] * sin(2 * M_PI * (i - PILOT / 2) / 12));
    }
    low_pass(16000 / RATE, SOUND, h);
    for (int i = 0; i < SOUND; i++) r->sound[i] = (float)h[i];
    low_pass(2400 / RATE, DATA, h);
    for (int i = 0; i < DATA; i++) r->data[i] = (float)h[i];
    for (int i = 0; i < BIT; i++) r->wave[i] = (float)sin(2 * M_PI * (i + 0.5) / BIT);
    r->gain = (float)(RATE / (2 * M_PI * 75000));
    float k = 2 * (float)(RATE / SOUND_STEP) * 50e-6f;
    r->b = 1 / (1 + k);
    r->a = (1 - k) / (1 + k);
    return r;
}

void stereo_free(stereo *r) { free(r); }

static inline __attribute__((always_inline)) float dot(const float *restrict h, const float *restrict x, int taps) {
    float acc[8] = {0};
    for (int i = 0; i < taps; i += 8)
        for (int l = 0; l < 8; l++) acc[l] += h[i + l] * x[i + l];
    return ((acc[0] + acc[1]) + (acc[2] + acc[3])) + ((acc[4] + acc[5]) + (acc[6] + acc[7]));
}

static void carriers(stereo *r) {
    size_t at = 0;
    for (; at + PILOT <= r->held; at++) {
        float re = dot(r->cosine, r->multiplex + at, PILOT_LANES), im = dot(r->sine, r->multiplex + at, PILOT_LANES);
        float length = sqrtf(re * re + im * im) + 1e-9f;
        re /= length;
        im /= length;
        float re2 = re * re - im * im, im2 = 2 * re * im, m = r->multiplex[at + PILOT / 2];
        r->sum[r->carriers] = m;
        r->difference[r->carriers++] = -2 * m * im2;
        r->carried[r->carried_held++] = -2 * m * (re * re2 - im * im2);
    }
    r->held -= at;
    memmove(r->multiplex, r->multiplex + at, r->held * sizeof(float));
}

static inline float de_emphasis(stereo *r, int side, float x) {
    float y = r->b * (x + r->x1[side]) - r->a * r->y1[side];
    r->x1[side] = x;
    return r->y1[side] = y;
}

static void sound(stereo *r) {
    size_t at = 0;
    for (; at + SOUND <= r->carriers; at += SOUND_STEP) {
        float s = dot(r->sound, r->sum + at, SOUND), d = dot(r->sound, r->difference + at, SOUND);
        r->pairs[r->pairs_held++] = de_emphasis(r, 0, s + d);
        r->pairs[r->pairs_held++] = de_emphasis(r, 1, s - d);
    }
    r->carriers -= at;
    memmove(r->sum, r->sum + at, r->carriers * sizeof(float));
    memmove(r->difference, r->difference + at, r->carriers * sizeof(float));
}

static float block(stereo *r, uint32_t bit) {
    r->block = (r->block << 1 | bit) & 0x3FFFFFF;
    r->age++;
    uint32_t rest = r->block;
    for (int i = 25; i >= 10; i--) rest ^= (rest >> i & 1) * (0x5B9u << (i - 10));
    for (int i = 0; i < 5; i++)
        if (rest == offset[i]) {
            int next = r->age == 26 && places[i] == r->place % 4 + 1;
            if (!next && r->age < 26) return 0;
            r->place = places[i];
            r->age = 0;
            return next ? r->place + (r->block >> 10) / 65536.0f : 0;
        }
    return 0;
}

static void slice(stereo *r, const float *x) {
    int best = 0;
    for (int i = 0; i < BIT; i++) {
        r->clear[i] = 0.98f * r->clear[i] + fabsf(x[i]);
        if (r->clear[i] > r->clear[best]) best = i;
    }
    if (r->clear[best] > 1.1f * r->clear[r->at]) r->at = best;
    int now = x[r->at] > 0;
    r->items[r->items_held++] = block(r, now ^ r->last);
    r->last = now;
}

static void data(stereo *r) {
    size_t at = 0;
    for (; at + DATA <= r->carried_held; at += DATA_STEP) r->filtered[r->filtered_held++] = dot(r->data, r->carried + at, DATA);
    r->carried_held -= at;
    memmove(r->carried, r->carried + at, r->carried_held * sizeof(float));
    for (at = 0; at + BIT <= r->filtered_held; at++) r->matched[r->data_held++] = dot(r->wave, r->filtered + at, BIT);
    r->filtered_held -= at;
    memmove(r->filtered, r->filtered + at, r->filtered_held * sizeof(float));
    for (at = 0; at + BIT <= r->data_held; at += BIT) slice(r, r->matched + at);
    r->data_held -= at;
    memmove(r->matched, r->matched + at, r->data_held * sizeof(float));
}

size_t stereo_run(stereo *r, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    for (size_t done = 0; done < n;) {
        size_t take = BLOCK + PILOT - 1 - r->held;
        if (take > n - done) take = n - done;
        for (size_t i = 0; i < take; i++) {
            float re = in[2 * (done + i)], im = in[2 * (done + i) + 1];
            if (r->started)
                r->multiplex[r->held++] = r->gain * atan2f(im * r->last_re - re * r->last_im, re * r->last_re + im * r->last_im);
            r->started = 1;
            r->last_re = re;
            r->last_im = im;
        }
        done += take;
        carriers(r);
        sound(r);
        data(r);
        size_t pair = 0, item = 0;
        for (; pair + 64 <= r->pairs_held && item < r->items_held; pair += 64, item++, made += 65) {
            memcpy(out + made, r->pairs + pair, 64 * sizeof(float));
            out[made + 64] = r->items[item];
        }
        r->pairs_held -= pair;
        memmove(r->pairs, r->pairs + pair, r->pairs_held * sizeof(float));
        r->items_held -= item;
        memmove(r->items, r->items + item, r->items_held * sizeof(float));
    }
    return made;
}
