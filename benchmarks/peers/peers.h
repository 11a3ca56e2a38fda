/* What the C files of this folder share: the numbers of the filters, and windows over a stream that comes in pieces.
 *
 * Each file has the interface of the references of the suite: NAME_new, NAME_run (so many items in; gives the number of items out) and NAME_free.
 * What it gives is what NAME.str gives: where a library begins with silence before the first sample, its first results are dropped. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TAPS 64

/* A windowed sinc, Hamming window; the cutoff is 1 / `part` of the sampling rate. */
static inline void low_pass(float *h, int part) {
    for (int i = 0; i < TAPS; i++) {
        double t = i - (TAPS - 1) / 2.0, window = 0.54 - 0.46 * cos(2 * M_PI * i / (TAPS - 1));
        h[i] = (float)(window * sin(2 * M_PI * t / part) / (M_PI * t));
    }
}

/* b0, b1, b2, a1, a2 of section k of iir.str. */
static inline void butterworth(float *c, int k) {
    double w = 2 * M_PI / 10, alpha = sin(w) * cos(M_PI * (2 * k + 1) / 16), a0 = 1 + alpha;
    c[0] = c[2] = (float)((1 - cos(w)) / 2 / a0);
    c[1] = (float)((1 - cos(w)) / a0);
    c[3] = (float)(-2 * cos(w) / a0);
    c[4] = (float)((1 - alpha) / a0);
}

/* The same of both sections of band k of bank.str. */
static inline void resonance(float *c, int k) {
    double w = 2 * M_PI * 120.0 * (1 << k) / 48000, alpha = sin(w) / 4, a0 = 1 + alpha;
    c[0] = (float)(alpha / a0);
    c[1] = 0;
    c[2] = (float)(-alpha / a0);
    c[3] = (float)(-2 * cos(w) / a0);
    c[4] = (float)((1 - alpha) / a0);
}

/* The items, of `width` floats each, that windows still to come need of pieces of the stream that are gone. */
typedef struct {
    float kept[2 * TAPS * 2];
    size_t n;
} history;

/* Results of `count` windows of TAPS items at x, one for each. */
typedef void windows_fn(const void *filter, const float *x, size_t count, float *out);

/* Windows of TAPS items, `step` apart, over another n items; nearly all of them where the items are. Gives the number of windows. `out_width`: floats
 * of a result. */
static inline __attribute__((always_inline)) size_t over(history *h, const float *in, size_t n, float *out, size_t width,
                                                         size_t out_width, size_t step, windows_fn *windows, const void *filter) {
    size_t take = n < TAPS - 1 ? n : TAPS - 1, total = h->n + take, at = 0, made = 0;
    memcpy(h->kept + width * h->n, in, width * take * sizeof(float));
    for (; at < h->n && at + TAPS <= total; at += step, made++) windows(filter, h->kept + width * at, 1, out + out_width * made);
    if (at < h->n) {
        memmove(h->kept, h->kept + width * at, width * (total - at) * sizeof(float));
        h->n = total - at;
        return made;
    }
    at -= h->n;
    size_t count = n >= at + TAPS ? (n - at - TAPS) / step + 1 : 0;
    windows(filter, in + width * at, count, out + out_width * made);
    at += count * step;
    h->n = n - at;
    memcpy(h->kept, in + width * at, width * h->n * sizeof(float));
    return made + count;
}
