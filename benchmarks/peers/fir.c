/* fir.str by hand: the sums of neighbouring results side by side, each in the order of fir.str. */
#include "peers.h"

#define SIDE 64

typedef struct {
    float h[TAPS];
    history past;
} fir;

fir *fir_new(void) {
    fir *f = calloc(1, sizeof *f);
    if (f) low_pass(f->h, 8);
    return f;
}

void fir_free(fir *f) { free(f); }

static inline void windows(const void *filter, const float *restrict x, size_t count, float *restrict out) {
    const float *restrict h = filter;
    size_t t = 0;
    for (; t + SIDE <= count; t += SIDE) {
        float sum[SIDE] = {0};
        for (int i = 0; i < TAPS; i++)
            for (int l = 0; l < SIDE; l++) sum[l] += h[i] * x[t + i + l];
        memcpy(out + t, sum, sizeof sum);
    }
    for (; t < count; t++) {
        float sum = 0;
        for (int i = 0; i < TAPS; i++) sum += h[i] * x[t + i];
        out[t] = sum;
    }
}

size_t fir_run(fir *f, const float *in, size_t n, float *out) { return over(&f->past, in, n, out, 1, 1, 1, windows, f->h); }
