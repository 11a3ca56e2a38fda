/* The beamformer of beamformer.str, block by block: antennas, then beams, side by side in vector registers. The arithmetic is that of
 * beamformer.str, operation by operation.
 *
 * Interface: beamformer_new, beamformer_run (n complex samples, a multiple of 16, one of each antenna; gives the number of powers, one of
 * each beam), beamformer_free. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ANTENNAS 16
#define BEAMS 8
#define TAPS 32
#define DOWN 2
#define PULSE 32
#define BLOCK 256 /* samples of each antenna */

typedef struct {
    float h[TAPS], weight_re[ANTENNAS][BEAMS], weight_im[ANTENNAS][BEAMS], pulse_re[PULSE], pulse_im[PULSE];
    float in[BLOCK + TAPS][2 * ANTENNAS];
    float beam_re[BLOCK / DOWN + PULSE][BEAMS], beam_im[BLOCK / DOWN + PULSE][BEAMS];
    size_t held, beams;
} beamformer;

beamformer *beamformer_new(void) {
    beamformer *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    double ideal[TAPS], sum = 0;
    for (int i = 0; i < TAPS; i++) {
        double t = i - (TAPS - 1) / 2.0, window = 0.54 - 0.46 * cos(2 * M_PI * i / (TAPS - 1));
        ideal[i] = window * sin(2 * M_PI * 0.2 * t) / (M_PI * t);
        sum += ideal[i];
    }
    for (int i = 0; i < TAPS; i++) b->h[i] = (float)(ideal[i] / sum);
    for (int a = 0; a < ANTENNAS; a++)
        for (int i = 0; i < BEAMS; i++) {
            double window = 0.54 - 0.46 * cos(2 * M_PI * a / (ANTENNAS - 1));
            double phase = -M_PI * a * ((2 * i + 1 - BEAMS) / (double)BEAMS);
            b->weight_re[a][i] = (float)(window * cos(phase));
            b->weight_im[a][i] = (float)(window * sin(phase));
        }
    for (int i = 0; i < PULSE; i++) {
        double t = i - (PULSE - 1) / 2.0, phase = M_PI * 0.8 * t * t / PULSE;
        b->pulse_re[i] = (float)cos(phase);
        b->pulse_im[i] = (float)-sin(phase);
    }
    return b;
}

void beamformer_free(beamformer *b) { free(b); }

static void form(const beamformer *b, const float (*restrict in)[2 * ANTENNAS], float *restrict re, float *restrict im) {
    float x[2 * ANTENNAS] = {0};
    for (int i = 0; i < TAPS; i++)
        for (int l = 0; l < 2 * ANTENNAS; l++) x[l] += b->h[i] * in[i][l];
    float sum_re[BEAMS] = {0}, sum_im[BEAMS] = {0};
    for (int a = 0; a < ANTENNAS; a++)
        for (int l = 0; l < BEAMS; l++) {
            sum_re[l] += b->weight_re[a][l] * x[2 * a] - b->weight_im[a][l] * x[2 * a + 1];
            sum_im[l] += b->weight_re[a][l] * x[2 * a + 1] + b->weight_im[a][l] * x[2 * a];
        }
    memcpy(re, sum_re, sizeof sum_re);
    memcpy(im, sum_im, sizeof sum_im);
}

static void compress(const beamformer *b, size_t at, float *restrict out) {
    float re[BEAMS] = {0}, im[BEAMS] = {0};
    for (int i = 0; i < PULSE; i++)
        for (int l = 0; l < BEAMS; l++) {
            re[l] += b->pulse_re[i] * b->beam_re[at + i][l] - b->pulse_im[i] * b->beam_im[at + i][l];
            im[l] += b->pulse_re[i] * b->beam_im[at + i][l] + b->pulse_im[i] * b->beam_re[at + i][l];
        }
    for (int l = 0; l < BEAMS; l++) out[l] = re[l] * re[l] + im[l] * im[l];
}

size_t beamformer_run(beamformer *b, const float *restrict in, size_t n, float *restrict out) {
    size_t made = 0;
    n /= ANTENNAS;
    while (n) {
        size_t take = BLOCK + TAPS - b->held;
        if (take > n) take = n;
        memcpy(b->in[b->held], in, take * sizeof b->in[0]);
        b->held += take;
        in += take * 2 * ANTENNAS;
        n -= take;
        size_t at = 0;
        for (; at + TAPS <= b->held; at += DOWN, b->beams++) form(b, b->in + at, b->beam_re[b->beams], b->beam_im[b->beams]);
        b->held -= at;
        memmove(b->in, b->in + at, b->held * sizeof b->in[0]);
        for (at = 0; at + PULSE <= b->beams; at++, made += BEAMS) compress(b, at, out + made);
        b->beams -= at;
        memmove(b->beam_re, b->beam_re + at, b->beams * sizeof b->beam_re[0]);
        memmove(b->beam_im, b->beam_im + at, b->beams * sizeof b->beam_im[0]);
    }
    return made;
}
