/* The filter bank of filterbank.str: each filter computes only what is kept, and multiplies only by what is not zero; the bands stand side
 * by side in vector registers. The sums are taken in the order of filterbank.str.
 *
 * Interface: filterbank_new, filterbank_run (n samples in; gives n), filterbank_free. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define M 8
#define TAPS 32
#define KEPT (TAPS / M)

typedef struct {
    float analysis[TAPS][M], synthesis[TAPS][M]; /* one row for each tap, the bands side by side */
    float past[2 * TAPS];                        /* the last TAPS samples, twice */
    float bands[KEPT][M];                        /* the last outputs of each band, the newest first */
    int place, phase;
} filterbank;

filterbank *filterbank_new(void) {
    filterbank *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    for (int band = 0; band < M; band++)
        for (int n = 0; n < TAPS; n++) {
            double prototype = (cos((n + 0.5) * M_PI / (2 * M)) - sqrt(0.5)) / (2 * sqrt(M));
            double tone = sqrt(2) * cos((n + (M + 1) / 2.0) * (band + 0.5) * M_PI / M);
            f->synthesis[n][band] = f->analysis[TAPS - 1 - n][band] = (float)(prototype * tone);
        }
    return f;
}

void filterbank_free(filterbank *f) { free(f); }

size_t filterbank_run(filterbank *f, const float *restrict in, size_t n, float *restrict out) {
    for (size_t t = 0; t < n; t++) {
        f->past[f->place] = f->past[f->place + TAPS] = in[t];
        const float *newest = f->past + f->place + TAPS;
        f->place = (f->place + 1) % TAPS;
        if (f->phase == 0) {
            float sum[M] = {0};
            for (int i = 0; i < TAPS; i++)
                for (int band = 0; band < M; band++) sum[band] += f->analysis[i][band] * newest[-i];
            memmove(f->bands[1], f->bands[0], sizeof f->bands - sizeof f->bands[0]);
            memcpy(f->bands[0], sum, sizeof sum);
        }
        float sum[M] = {0};
        for (int i = 0; i < KEPT; i++)
            for (int band = 0; band < M; band++) sum[band] += f->synthesis[i * M + f->phase][band] * f->bands[i][band];
        float all = 0;
        for (int band = 0; band < M; band++) all += sum[band];
        out[t] = all;
        f->phase = (f->phase + 1) % M;
    }
    return n;
}
