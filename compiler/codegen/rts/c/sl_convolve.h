/* Many firings of a linear filter at once, in the frequency domain: overlap-save.
 *
 * Purpose: out[f·rows + r] = plus[r] + the sum over t of taps[r][t] · in[f·pop + start[r] + t], for a run of firings f. A block of N items of the input gives `hop`
 * firings; two blocks go through one complex transform, one as its real part, one as its imaginary part: the taps are real, so they stay apart. The transform
 * leaves its results in an order of its own, which the spectra of the taps have, too, and from which the way back begins: nothing is ever put in order.
 *
 * Error: of the order of 2^-24 · log2 N, relative to the root of the sum of the squares of the taps times that of the block's items. An infinity or NaN among a pair of blocks' items spoils
 * all results of the pair.
 *
 * Transforms are by radix 4, decimation in frequency forwards and in time backwards, with one step of radix 2 where log2 N is odd (W. M. Gentleman, G. Sande,
 * "Fast Fourier transforms: for fun and profit", AFIPS, 1966); overlap-save: T. G. Stockham, "High-speed convolution and correlation", AFIPS, 1966. */
#include <math.h>

/* Floats of a part, real or imaginary, of 2^log2 numbers: parts whose sizes are powers of two would start at the same lines of the cache. */
#define SL_PART(log2) (((int64_t)1 << (log2)) + 48)

/* Before a loop whose turns need nothing of each other, whatever its pointers look like. */
#if defined(__clang__)
#define SL_TURNS_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define SL_TURNS_APART _Pragma("GCC ivdep")
#endif

struct sl_convolution {
    int32_t log2;           /* of N */
    int32_t rows;           /* items that a firing gives */
    int64_t pop;            /* items that it takes */
    int64_t from, span;     /* items of its window that count */
    int64_t hop;            /* firings of a block */
    int64_t least;          /* fewer firings are not worth a pair of blocks */
    int32_t folds;          /* the spectrum is folded so many times, by four: only every 4^folds-th item is wanted */
    const int64_t (*row)[3]; /* by row: its first item that counts, where its taps begin, how many they are */
    const float *taps, *plus;
    float *twiddles;        /* those of N points: 2·N floats */
    float *back;            /* those of N / 4^folds points */
    float *spectra;         /* by row: two parts */
};

typedef float sl_v4 __attribute__((vector_size(16)));

#if defined(__clang__) || __GNUC__ >= 12
#define SL_V4_MIX(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef int32_t sl_v4_at __attribute__((vector_size(16)));
#define SL_V4_MIX(a, b, i, j, k, l) __builtin_shuffle(a, b, (sl_v4_at){i, j, k, l})
#endif

/* Rows to columns. */
#define SL_V4_TURN(a, b, c, d)                                                                                          \
    do {                                                                                                                \
        const sl_v4 ab = SL_V4_MIX(a, b, 0, 4, 1, 5), cd = SL_V4_MIX(c, d, 0, 4, 1, 5);                                 \
        const sl_v4 ba = SL_V4_MIX(a, b, 2, 6, 3, 7), dc = SL_V4_MIX(c, d, 2, 6, 3, 7);                                 \
        a = SL_V4_MIX(ab, cd, 0, 1, 4, 5), b = SL_V4_MIX(ab, cd, 2, 3, 6, 7);                                           \
        c = SL_V4_MIX(ba, dc, 0, 1, 4, 5), d = SL_V4_MIX(ba, dc, 2, 3, 6, 7);                                           \
    } while (0)

/* Four points to four frequencies, and back. */
#define SL_FOUR(T, r0, r1, r2, r3, i0, i1, i2, i3, sign)                                                                \
    do {                                                                                                                \
        const T sr = r0 + r2, si = i0 + i2, dr = r0 - r2, di = i0 - i2;                                                 \
        const T tr = r1 + r3, ti = i1 + i3, er = sign(i1 - i3), ei = sign(r3 - r1);                                     \
        r0 = sr + tr, i0 = si + ti, r2 = sr - tr, i2 = si - ti;                                                         \
        r1 = dr + er, i1 = di + ei, r3 = dr - er, i3 = di - ei;                                                         \
    } while (0)
#define SL_FORWARDS(x) (x)
#define SL_BACKWARDS(x) (-(x))

/* The twiddles of a step over blocks of L points begin at 2·(N - L) floats: for each power k = 1, 2, 3 real parts and imaginary parts, L/4 of each. Those of a first step of radix 2 take
 * N floats at the place of the step of N points. */
static void sl_twiddles(float *w, int32_t log2)
{
    const int64_t n = (int64_t)1 << log2;
    int64_t length = n;
    if (log2 % 2 != 0) {
        for (int64_t j = 0; j < n / 2; j++) {
            const double a = -2 * 3.14159265358979323846 * (double)j / (double)n;
            w[j] = (float)cos(a), w[n / 2 + j] = (float)sin(a);
        }
        length /= 2;
    }
    for (; length >= 16; length /= 4) {
        float *at = w + 2 * (n - length);
        const int64_t m = length / 4;
        for (int64_t k = 1; k <= 3; k++)
            for (int64_t j = 0; j < m; j++) {
                const double a = -2 * 3.14159265358979323846 * (double)(k * j) / (double)length;
                at[(2 * k - 2) * m + j] = (float)cos(a), at[(2 * k - 1) * m + j] = (float)sin(a);
            }
    }
}

static void sl_forwards(float *restrict re, float *restrict im, const float *restrict twiddles, int32_t log2)
{
    const int64_t n = (int64_t)1 << log2;
    int64_t length = n;
    if (log2 % 2 != 0) {
        const int64_t m = n / 2;
        const float *restrict wr = twiddles, *restrict wi = twiddles + m;
        float *restrict r1 = re + m, *restrict i1 = im + m;
        SL_TURNS_APART
        for (int64_t j = 0; j < m; j++) {
            const float dr = re[j] - r1[j], di = im[j] - i1[j];
            re[j] += r1[j], im[j] += i1[j];
            r1[j] = dr * wr[j] - di * wi[j], i1[j] = dr * wi[j] + di * wr[j];
        }
        length = m;
    }
    for (; length > 16; length /= 4) {
        const int64_t m = length / 4;
        const float *restrict w = twiddles + 2 * (n - length);
        for (int64_t b = 0; b < n; b += length) {
            float *restrict r0 = re + b, *restrict r1 = r0 + m, *restrict r2 = r1 + m, *restrict r3 = r2 + m;
            float *restrict i0 = im + b, *restrict i1 = i0 + m, *restrict i2 = i1 + m, *restrict i3 = i2 + m;
            SL_TURNS_APART
            for (int64_t j = 0; j < m; j++) {
                float a0 = r0[j], a1 = r1[j], a2 = r2[j], a3 = r3[j];
                float b0 = i0[j], b1 = i1[j], b2 = i2[j], b3 = i3[j];
                SL_FOUR(float, a0, a1, a2, a3, b0, b1, b2, b3, SL_FORWARDS);
                r0[j] = a0, i0[j] = b0;
                r1[j] = a1 * w[j] - b1 * w[m + j], i1[j] = a1 * w[m + j] + b1 * w[j];
                r2[j] = a2 * w[2 * m + j] - b2 * w[3 * m + j], i2[j] = a2 * w[3 * m + j] + b2 * w[2 * m + j];
                r3[j] = a3 * w[4 * m + j] - b3 * w[5 * m + j], i3[j] = a3 * w[5 * m + j] + b3 * w[4 * m + j];
            }
        }
    }
    const sl_v4 *w = (const sl_v4 *)(const void *)(twiddles + 2 * (n - 16));
    for (int64_t b = 0; b < n; b += 16) {
        sl_v4 *r = (sl_v4 *)(void *)(re + b), *i = (sl_v4 *)(void *)(im + b);
        sl_v4 a0 = r[0], a1 = r[1], a2 = r[2], a3 = r[3], b0 = i[0], b1 = i[1], b2 = i[2], b3 = i[3];
        SL_FOUR(sl_v4, a0, a1, a2, a3, b0, b1, b2, b3, SL_FORWARDS);
        sl_v4 c1 = a1 * w[0] - b1 * w[1], d1 = a1 * w[1] + b1 * w[0];
        sl_v4 c2 = a2 * w[2] - b2 * w[3], d2 = a2 * w[3] + b2 * w[2];
        sl_v4 c3 = a3 * w[4] - b3 * w[5], d3 = a3 * w[5] + b3 * w[4];
        SL_V4_TURN(a0, c1, c2, c3);
        SL_V4_TURN(b0, d1, d2, d3);
        SL_FOUR(sl_v4, a0, c1, c2, c3, b0, d1, d2, d3, SL_FORWARDS);
        r[0] = a0, r[1] = c1, r[2] = c2, r[3] = c3, i[0] = b0, i[1] = d1, i[2] = d2, i[3] = d3;
    }
}

static void sl_backwards(float *restrict re, float *restrict im, const float *restrict twiddles, int32_t log2)
{
    const int64_t n = (int64_t)1 << log2;
    const sl_v4 *v = (const sl_v4 *)(const void *)(twiddles + 2 * (n - 16));
    for (int64_t b = 0; b < n; b += 16) {
        sl_v4 *r = (sl_v4 *)(void *)(re + b), *i = (sl_v4 *)(void *)(im + b);
        sl_v4 a0 = r[0], a1 = r[1], a2 = r[2], a3 = r[3], b0 = i[0], b1 = i[1], b2 = i[2], b3 = i[3];
        SL_FOUR(sl_v4, a0, a1, a2, a3, b0, b1, b2, b3, SL_BACKWARDS);
        SL_V4_TURN(a0, a1, a2, a3);
        SL_V4_TURN(b0, b1, b2, b3);
        sl_v4 c1 = a1 * v[0] + b1 * v[1], d1 = b1 * v[0] - a1 * v[1];
        sl_v4 c2 = a2 * v[2] + b2 * v[3], d2 = b2 * v[2] - a2 * v[3];
        sl_v4 c3 = a3 * v[4] + b3 * v[5], d3 = b3 * v[4] - a3 * v[5];
        SL_FOUR(sl_v4, a0, c1, c2, c3, b0, d1, d2, d3, SL_BACKWARDS);
        r[0] = a0, r[1] = c1, r[2] = c2, r[3] = c3, i[0] = b0, i[1] = d1, i[2] = d2, i[3] = d3;
    }
    const int64_t last = log2 % 2 != 0 ? n / 2 : n;
    for (int64_t length = 64; length <= last; length *= 4) {
        const int64_t m = length / 4;
        const float *restrict w = twiddles + 2 * (n - length);
        for (int64_t b = 0; b < n; b += length) {
            float *restrict r0 = re + b, *restrict r1 = r0 + m, *restrict r2 = r1 + m, *restrict r3 = r2 + m;
            float *restrict i0 = im + b, *restrict i1 = i0 + m, *restrict i2 = i1 + m, *restrict i3 = i2 + m;
            SL_TURNS_APART
            for (int64_t j = 0; j < m; j++) {
                float a0 = r0[j], b0 = i0[j];
                float a1 = r1[j] * w[j] + i1[j] * w[m + j], b1 = i1[j] * w[j] - r1[j] * w[m + j];
                float a2 = r2[j] * w[2 * m + j] + i2[j] * w[3 * m + j], b2 = i2[j] * w[2 * m + j] - r2[j] * w[3 * m + j];
                float a3 = r3[j] * w[4 * m + j] + i3[j] * w[5 * m + j], b3 = i3[j] * w[4 * m + j] - r3[j] * w[5 * m + j];
                SL_FOUR(float, a0, a1, a2, a3, b0, b1, b2, b3, SL_BACKWARDS);
                r0[j] = a0, r1[j] = a1, r2[j] = a2, r3[j] = a3, i0[j] = b0, i1[j] = b1, i2[j] = b2, i3[j] = b3;
            }
        }
    }
    if (log2 % 2 != 0) {
        const int64_t m = n / 2;
        const float *restrict wr = twiddles, *restrict wi = twiddles + m;
        float *restrict r1 = re + m, *restrict i1 = im + m;
        SL_TURNS_APART
        for (int64_t j = 0; j < m; j++) {
            const float br = r1[j] * wr[j] + i1[j] * wi[j], bi = i1[j] * wr[j] - r1[j] * wi[j];
            r1[j] = re[j] - br, i1[j] = im[j] - bi;
            re[j] += br, im[j] += bi;
        }
    }
}

/* Makes the spectra of the taps: conjugate, for firings look forwards, and with the factor that the two transforms bring in taken out. */
static SL_UNUSED void sl_prepare(const struct sl_convolution *c)
{
    const int64_t n = (int64_t)1 << c->log2;
    const float scale = 1.0f / (float)n;
    for (int32_t row = 0; row < c->rows; row++) {
        float *re = c->spectra + 2 * SL_PART(c->log2) * row, *im = re + SL_PART(c->log2);
        memset(re, 0, 2 * (size_t)SL_PART(c->log2) * sizeof(float));
        memcpy(re + (c->row[row][0] - c->from), c->taps + c->row[row][1], (size_t)c->row[row][2] * sizeof(float));
        sl_forwards(re, im, c->twiddles, c->log2);
        for (int64_t i = 0; i < n; i++)
            re[i] *= scale, im[i] *= -scale;
    }
}

/* A spectrum of n points to that of every fourth item: frequencies n/4 apart, which are the rows of a block of sixteen, add up. In place: the new spectrum has the
 * order of one of n/4 points. */
static void sl_fold(float *part, int64_t n)
{
    for (int64_t b = 0; b < n; b += 64) {
        const sl_v4 *v = (const sl_v4 *)(const void *)(part + b);
        sl_v4 r0 = (v[0] + v[2]) + (v[1] + v[3]), r1 = (v[4] + v[6]) + (v[5] + v[7]);
        sl_v4 r2 = (v[8] + v[10]) + (v[9] + v[11]), r3 = (v[12] + v[14]) + (v[13] + v[15]);
        SL_V4_TURN(r0, r1, r2, r3);
        sl_v4 *to = (sl_v4 *)(void *)(part + b / 4);
        to[0] = r0, to[1] = r1, to[2] = r2, to[3] = r3;
    }
}

/* A block of `firings` from `in` on as one of the parts of the points. */
static void sl_block_in(const struct sl_convolution *c, float *part, const float *in, int64_t firings)
{
    const int64_t n = (int64_t)1 << c->log2, items = firings > 0 ? (firings - 1) * c->pop + c->span : 0;
    if (items > 0)
        memcpy(part, in + c->from, (size_t)items * sizeof(float));
    memset(part + items, 0, (size_t)(n - items) * sizeof(float));
}

static void sl_block_out(const struct sl_convolution *c, const float *part, int32_t row, float *restrict out, int64_t firings)
{
    const float plus = c->plus[row];
    const int64_t each = c->pop >> (2 * c->folds);
    out += row;
    if (c->rows == 1 && each == 1) {
        for (int64_t f = 0; f < firings; f++)
            out[f] = part[f] + plus;
    } else {
        for (int64_t f = 0; f < firings; f++)
            out[f * c->rows] = part[f * each] + plus;
    }
}

/* Does as many of n firings as are worth it, and says how many these are. `space`: four parts, aligned as
 * vectors are. */
static SL_UNUSED int64_t sl_convolve(const struct sl_convolution *c, float *space, const float *in, float *out, int64_t n)
{
    const int64_t points = (int64_t)1 << c->log2, part = SL_PART(c->log2);
    int64_t done = 0;
    while (n - done >= c->least) {
        const int64_t left = n - done, a = left < c->hop ? left : c->hop;
        const int64_t b = left - a < c->hop ? left - a : c->hop;
        float *re = space, *im = space + part;
        sl_block_in(c, re, in, a);
        sl_block_in(c, im, in + a * c->pop, b);
        sl_forwards(re, im, c->twiddles, c->log2);
        for (int32_t row = 0; row < c->rows; row++) {
            const float *restrict hr = c->spectra + 2 * part * row, *restrict hi = hr + part;
            /* the last row needs no copy of the spectrum */
            float *yr = row + 1 < c->rows ? space + 2 * part : re, *yi = yr + part;
            SL_TURNS_APART
            for (int64_t i = 0; i < points; i++) {
                const float r = re[i] * hr[i] - im[i] * hi[i], s = re[i] * hi[i] + im[i] * hr[i];
                yr[i] = r, yi[i] = s;
            }
            for (int32_t f = 0; f < c->folds; f++) {
                sl_fold(yr, points >> (2 * f));
                sl_fold(yi, points >> (2 * f));
            }
            sl_backwards(yr, yi, c->back, c->log2 - 2 * c->folds);
            sl_block_out(c, yr, row, out, a);
            sl_block_out(c, yi, row, out + a * c->rows, b);
        }
        in += (a + b) * c->pop, out += (a + b) * c->rows, done += a + b;
    }
    return done;
}
