/* resample.str by hand: sums of real and imaginary parts in eight lanes each, added up at the end, and so in another order than in resample.str. */
#include "peers.h"

#define LANES 16

typedef struct {
    float h[2 * TAPS]; /* each twice: for the real and the imaginary part */
    history past;
} resample;

resample *resample_new(void) {
    resample *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    float h[TAPS];
    low_pass(h, 10);
    for (int i = 0; i < 2 * TAPS; i++) f->h[i] = h[i / 2];
    return f;
}

void resample_free(resample *f) { free(f); }

static inline void windows(const void *filter, const float *restrict x, size_t count, float *restrict out) {
    const float *restrict h = filter;
    for (size_t t = 0; t < count; t++, x += 2 * 5) {
        float sum[LANES] = {0};
        for (int i = 0; i < 2 * TAPS; i += LANES)
            for (int l = 0; l < LANES; l++) sum[l] += h[i + l] * x[i + l];
        for (int half = LANES / 2; half > 1; half /= 2)
            for (int l = 0; l < half; l++) sum[l] += sum[half + l];
        out[2 * t] = sum[0];
        out[2 * t + 1] = sum[1];
    }
}

size_t resample_run(resample *f, const float *in, size_t n, float *out) {
    return over(&f->past, in, n, out, 2, 2, 5, windows, f->h);
}
