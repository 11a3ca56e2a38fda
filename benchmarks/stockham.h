/* The fast Fourier transform that plain references use: Stockham's, in place of bit reversal two buffers in turns, radix 4 (a last stage of
 * radix 2 where the length asks for it). Real and imaginary parts apart, so that compilers use vector registers; many transforms side by
 * side. (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7.) */
#include <math.h>
#include <stdlib.h>

typedef struct {
    int n;        /* a power of two */
    float *twist; /* for each stage of length m: m / 4 factors of each of three outputs, real parts, then imaginary ones */
} stockham;

static inline int stockham_new(stockham *f, int n) {
    f->n = n;
    f->twist = malloc(2 * (size_t)(n > 4 ? n : 4) * sizeof(float));
    if (!f->twist) return 0;
    float *at = f->twist;
    for (int m = n; m >= 4; m /= 4)
        for (int k = 1; k < 4; k++, at += m / 2)
            for (int p = 0; p < m / 4; p++) {
                at[p] = (float)cos(2 * M_PI * k * p / m);
                at[m / 4 + p] = (float)-sin(2 * M_PI * k * p / m);
            }
    return 1;
}

static inline void stockham_free(stockham *f) { free(f->twist); }

static inline __attribute__((always_inline)) void stockham_four(
    float ar, float ai, float br, float bi, float cr, float ci, float dr, float di, float w1r, float w1i, float w2r, float w2i,
    float w3r, float w3i, float *restrict yr, float *restrict yi, int s) {
    float sr = ar + cr, si = ai + ci, tr = ar - cr, ti = ai - ci;
    float ur = br + dr, ui = bi + di, vr = bi - di, vi = dr - br; /* v: b - d, times -i */
    float pr = tr + vr, pi = ti + vi, qr = sr - ur, qi = si - ui, rr = tr - vr, ri = ti - vi;
    yr[0] = sr + ur;
    yi[0] = si + ui;
    yr[s] = w1r * pr - w1i * pi;
    yi[s] = w1r * pi + w1i * pr;
    yr[2 * s] = w2r * qr - w2i * qi;
    yi[2 * s] = w2r * qi + w2i * qr;
    yr[3 * s] = w3r * rr - w3i * ri;
    yi[3 * s] = w3r * ri + w3i * rr;
}

/* Transforms `many` signals side by side: sample t of signal l is at t * many + l. With real and imaginary parts changed round, the inverse,
 * but for the factor n. Gives 1 where the result is in the second pair of buffers. */
static inline int stockham_run(const stockham *f, int many, float *re, float *im, float *re2, float *im2) {
    const float *w = f->twist;
    int second = 0;
    for (int m = f->n, s = many; m > 1; m /= 4, s *= 4) {
        float *restrict yr = re2, *restrict yi = im2;
        const float *restrict xr = re, *restrict xi = im;
        int quarter = m / 4;
        const float *w1 = w, *w2 = w + 2 * quarter, *w3 = w + 4 * quarter;
        w += 6 * quarter;
        if (m == 2) {
            for (int q = 0; q < s; q++) {
                yr[q] = xr[q] + xr[q + s];
                yi[q] = xi[q] + xi[q + s];
                yr[q + s] = xr[q] - xr[q + s];
                yi[q + s] = xi[q] - xi[q + s];
            }
        } else if (s == 1) {
            for (int p = 0; p < quarter; p++)
                stockham_four(xr[p], xi[p], xr[p + quarter], xi[p + quarter], xr[p + 2 * quarter], xi[p + 2 * quarter],
                              xr[p + 3 * quarter], xi[p + 3 * quarter], w1[p], w1[quarter + p], w2[p], w2[quarter + p], w3[p],
                              w3[quarter + p], yr + 4 * p, yi + 4 * p, 1);
        } else {
            for (int p = 0; p < quarter; p++) {
                const float *br = xr + s * p, *bi = xi + s * p;
                float *restrict tr = yr + 4 * s * p, *restrict ti = yi + 4 * s * p;
                int step = s * quarter;
                for (int q = 0; q < s; q++)
                    stockham_four(br[q], bi[q], br[q + step], bi[q + step], br[q + 2 * step], bi[q + 2 * step], br[q + 3 * step],
                                  bi[q + 3 * step], w1[p], w1[quarter + p], w2[p], w2[quarter + p], w3[p], w3[quarter + p],
                                  tr + q, ti + q, s);
            }
        }
        float *t = re;
        re = re2;
        re2 = t;
        t = im;
        im = im2;
        im2 = t;
        second ^= 1;
    }
    return second;
}
