/* Words that change their places: vectors by columns and by rows, squares turned round, items of filters that take and give several. */
#ifndef SL_SQUARES_H
#define SL_SQUARES_H

#include "sl_lanes.h"

/* Lane m[l] of the lanes of a, and behind them those of b. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_shuffle(sl_vi a, sl_vi b, sl_vi m)
{
#if defined(__GNUC__) && !defined(__clang__)
    return __builtin_shuffle(a, b, m);
#else
    sl_vi r;
    for (int l = 0; l < SL_LANES; l++) r[l] = m[l] < SL_LANES ? a[m[l] & (SL_LANES - 1)] : b[m[l] & (SL_LANES - 1)];
    return r;
#endif
}

/* What each lane has is that of the n-th behind it, n less than there are lanes: the first ones' is what the last ones of a have. */
SL_FN __attribute__((always_inline)) SL_UNUSED sl_vi sl_vi_behind(sl_vi a, sl_vi b, const int n)
{
    if (n == 0) return b;
#if defined(__clang__) && SL_LANES == 16
    if (n == 1) return __builtin_shufflevector(a, b, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
    if (n == 8) return __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23);
#elif defined(__clang__) && SL_LANES == 8
    if (n == 1) return __builtin_shufflevector(a, b, 7, 8, 9, 10, 11, 12, 13, 14);
    if (n == 4) return __builtin_shufflevector(a, b, 4, 5, 6, 7, 8, 9, 10, 11);
#elif defined(__clang__)
    if (n == 1) return __builtin_shufflevector(a, b, 3, 4, 5, 6);
    if (n == 2) return __builtin_shufflevector(a, b, 2, 3, 4, 5);
#endif
    return sl_vi_shuffle(a, b, sl_vi_turns(SL_LANES - n));
}
SL_FN __attribute__((always_inline)) SL_UNUSED sl_vf sl_vf_behind(sl_vf a, sl_vf b, const int n) { return (sl_vf)sl_vi_behind((sl_vi)a, (sl_vi)b, n); }

#if SL_LANES == 8 && defined(__AVX__) && defined(__GNUC__) && !defined(__clang__)
/* One instruction changes places within the halves of two vectors. What must cross from half to half does so as it is loaded or stored, at no cost. clang finds all of this. */
#define SL_BY_FOURS
#ifdef __AVX2__
/* Words of arrays that are worth to be registers: all there are. Some are on the stack then, but nothing is copied (measured). */
#define SL_IN_REGISTERS 128
/* Which lanes of ints compare so, each a bit. */
#define SL_COMPARED(a, op, b, which) (uint32_t)__builtin_ia32_movmskps256((sl_vf)((a) op (b)))
/* Words of such bits. Two shorter ones would be a vector, whose lanes come from other registers one by one. */
#define SL_TRUTHS 64
typedef uint64_t sl_truths;
#endif
typedef float sl_vf_four __attribute__((vector_size(16)));
/* Squares of 4 x 4 words, one in the lower halves and one in the upper ones, turned round. */
SL_FN __attribute__((always_inline)) void sl_turn_fours(sl_vi v[4])
{
    const sl_vi ones = {0, 8, 1, 9, 4, 12, 5, 13}, twos = {0, 1, 8, 9, 4, 5, 12, 13};
    const sl_vi a = __builtin_shuffle(v[0], v[1], ones), b = __builtin_shuffle(v[0], v[1], ones + 2);
    const sl_vi c = __builtin_shuffle(v[2], v[3], ones), d = __builtin_shuffle(v[2], v[3], ones + 2);
    v[0] = __builtin_shuffle(a, c, twos);
    v[1] = __builtin_shuffle(a, c, twos + 2);
    v[2] = __builtin_shuffle(b, d, twos);
    v[3] = __builtin_shuffle(b, d, twos + 2);
}
/* Four words at p, and four at q. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_halves(const int32_t *p, const int32_t *q)
{
    sl_vf_four a, b;
    memcpy(&a, p, sizeof a);
    memcpy(&b, q, sizeof b);
    return (sl_vi)__builtin_ia32_vinsertf128_ps256(__builtin_ia32_ps256_ps(a), b, 1);
}
/* Pairs apart: first the first ones of 8, then the others. */
SL_FN __attribute__((always_inline)) void sl_pairs_apart(const int32_t *restrict from, int32_t *restrict first, int32_t *restrict second)
{
    /* every second word of two vectors is one instruction of floats, and three of ints */
    const sl_vf a = (sl_vf)sl_vi_halves(from, from + 8), b = (sl_vf)sl_vi_halves(from + 4, from + 12);
    const sl_vi ones = {0, 2, 8, 10, 4, 6, 12, 14};
    sl_vi_store(first, (sl_vi)__builtin_shuffle(a, b, ones));
    sl_vi_store(second, (sl_vi)__builtin_shuffle(a, b, ones + 1));
}
/* The reverse. */
SL_FN __attribute__((always_inline)) void sl_pairs(const int32_t *restrict first, const int32_t *restrict second, int32_t *restrict to)
{
    const sl_vi a = sl_vi_load(first), b = sl_vi_load(second);
    const sl_vi ones = {0, 8, 1, 9, 4, 12, 5, 13};
    const sl_vi low = __builtin_shuffle(a, b, ones), high = __builtin_shuffle(a, b, ones + 2);
    memcpy(to, &low, 16);
    memcpy(to + 4, &high, 16);
    memcpy(to + 8, (const char *)&low + 16, 16);
    memcpy(to + 12, (const char *)&high + 16, 16);
}
/* Four words of each of 8 rows that lie so far apart become 4 rows of 8. */
SL_FN __attribute__((always_inline)) void sl_four_columns(const int32_t *restrict from, long from_row, int32_t *restrict to, long to_row)
{
    sl_vi v[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) v[i] = sl_vi_halves(from + i * from_row, from + (4 + i) * from_row);
    sl_turn_fours(v);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) sl_vi_store(to + i * to_row, v[i]);
}
/* The reverse. */
SL_FN __attribute__((always_inline)) void sl_four_rows(const int32_t *restrict from, long from_row, int32_t *restrict to, long to_row)
{
    sl_vi v[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) v[i] = sl_vi_load(from + i * from_row);
    sl_turn_fours(v);
    if (to_row == 4) {
        /* the rows are neighbours: whole vectors of two */
        const sl_vi lower = {0, 1, 2, 3, 8, 9, 10, 11};
        sl_vi_store(to, __builtin_shuffle(v[0], v[1], lower));
        sl_vi_store(to + 8, __builtin_shuffle(v[2], v[3], lower));
        sl_vi_store(to + 16, __builtin_shuffle(v[0], v[1], lower + 4));
        sl_vi_store(to + 24, __builtin_shuffle(v[2], v[3], lower + 4));
        return;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        memcpy(to + i * to_row, &v[i], 16);
        memcpy(to + (4 + i) * to_row, (const char *)&v[i] + 16, 16);
    }
}
#endif

/* Every second lane of the lanes of a, and behind them of b: the first ones, or with `odd` the others. even[l] is 2 * l, of AVX-512 a place in a register. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_second(sl_vi a, sl_vi b, sl_vi even, const int odd)
{
#if defined(SL_BY_FOURS) && defined(__AVX2__)
    /* within halves, as floats, then their quarters into place: one that crosses them instead of two */
    typedef int64_t sl_vl __attribute__((vector_size(32)));
    const sl_vi within = {0, 2, 8, 10, 4, 6, 12, 14};
    const sl_vf v = odd ? __builtin_shuffle((sl_vf)a, (sl_vf)b, within + 1) : __builtin_shuffle((sl_vf)a, (sl_vf)b, within);
    return (void)even, (sl_vi)__builtin_shuffle((sl_vl)v, (sl_vl){0, 2, 1, 3});
#else
    return sl_vi_shuffle(a, b, even + odd);
#endif
}

/* Columns become rows: w[i][j] = v[j][i]. Half of the lanes change places with those of another vector, then a quarter, and so on. */
SL_FN __attribute__((always_inline)) void sl_transpose(sl_vi v[SL_LANES])
{
#ifdef SL_BY_FOURS
    const sl_vi lower = {0, 1, 2, 3, 8, 9, 10, 11};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const sl_vi a = v[i], b = v[i + 4];
        v[i] = __builtin_shuffle(a, b, lower);
        v[i + 4] = __builtin_shuffle(a, b, lower + 4);
    }
    sl_turn_fours(v);
    sl_turn_fours(v + 4);
#else
    sl_vi lane;
    for (int l = 0; l < SL_LANES; l++) lane[l] = l;
#pragma GCC unroll 8
    for (int s = 1; s < SL_LANES; s *= 2) {
        sl_vi upper = lane & s;
        sl_vi low = sl_vi_select(upper != 0, (lane ^ s) + SL_LANES, lane);
        sl_vi high = sl_vi_select(upper != 0, lane + SL_LANES, lane ^ s);
#pragma GCC unroll 16
        for (int i = 0; i < SL_LANES; i++) {
            if ((i & s) == 0) {
                sl_vi a = v[i], b = v[i | s];
                v[i] = sl_vi_shuffle(a, b, low);
                v[i | s] = sl_vi_shuffle(a, b, high);
            }
        }
    }
#endif
}

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
/* Words of arrays for which there are registers: half of all. */
#define SL_IN_REGISTERS 256
/* Which lanes of ints compare so, each a bit: a mask register at once, where gcc would make a vector of the comparison first. */
#define SL_COMPARED(a, op, b, which) (uint32_t)(uint16_t)__builtin_ia32_cmpd512_mask(a, b, which, (uint16_t)-1)
#define SL_TRUTHS 32
typedef uint32_t sl_truths;
/* Halves of a vector: to memory and from it they are a single instruction, which gcc does not find. clang finds all of this. */
#define SL_HALVES
typedef float sl_vf_half __attribute__((vector_size(2 * SL_LANES)));
typedef double sl_vd __attribute__((vector_size(4 * SL_LANES)));
typedef double sl_vd_half __attribute__((vector_size(2 * SL_LANES)));
SL_FN __attribute__((always_inline)) sl_vf sl_vf_halves(const float *p, const float *q)
{
    sl_vd_half a, b;
    memcpy(&a, p, sizeof a);
    memcpy(&b, q, sizeof b);
    const sl_vd low = __builtin_ia32_pd512_256pd(a);
    return (sl_vf)__builtin_ia32_insertf64x4_mask(low, b, 1, low, -1);
}
/* Of two vectors by turns one lane, two, or four, of the lower or, with so many added, the upper parts: instructions of the processor. */
#define SL_BY_LANE(f) {f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)}
#define SL_ONES(l) (((l) & ~3) + (((l) & 3) >> 1) + ((l) & 1) * SL_LANES)
#define SL_TWOS(l) (((l) & ~3) + ((l) & 1) + (((l) >> 1) & 1) * SL_LANES)
#define SL_FOURS(l) (((l) & ~7) + ((l) & 3) + (((l) >> 2) & 1) * SL_LANES)
#define SL_EIGHTS(l) (((l) & 7) + (((l) >> 3) & 1) * SL_LANES)
SL_FN __attribute__((always_inline)) void sl_turn_by(sl_vi *v, const int w, const int s, const sl_vi low, const sl_vi high)
{
#pragma GCC unroll 16
    for (int i = 0; i < w; i++) {
        if ((i & s) == 0) {
            const sl_vi a = v[i], b = v[i | s];
            v[i] = __builtin_shuffle(a, b, low);
            v[i | s] = __builtin_shuffle(a, b, high);
        }
    }
}
/* Squares of w x w words side by side, of 4, 8 or 16, turned round. */
SL_FN __attribute__((always_inline)) void sl_turn_squares(sl_vi *v, const int w)
{
    const sl_vi ones = SL_BY_LANE(SL_ONES), twos = SL_BY_LANE(SL_TWOS), fours = SL_BY_LANE(SL_FOURS), eights = SL_BY_LANE(SL_EIGHTS);
    sl_turn_by(v, w, 1, ones, ones + 2);
    sl_turn_by(v, w, 2, twos, twos + 2);
#pragma GCC unroll 4
    for (int i = 0; i < w; i += 4) {
        const sl_vi second = v[i + 1];
        v[i + 1] = v[i + 2];
        v[i + 2] = second;
    }
    if (w >= 8) sl_turn_by(v, w, 4, fours, fours + 4);
    if (w >= 16) sl_turn_by(v, w, 8, eights, eights + 8);
}
#endif

#ifdef SL_HALVES
/* Eight words of each of 16 rows that lie so far apart become 8 rows of 16. Halves come to their places as they are loaded. */
SL_FN __attribute__((always_inline)) void sl_eight_columns(const int32_t *restrict from, long from_row, int32_t *restrict to, long to_row)
{
    sl_vi v[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const int32_t *row = from + i * from_row;
        v[i] = (sl_vi)sl_vf_halves((const float *)(const void *)row, (const float *)(const void *)(row + 8 * from_row));
    }
    sl_turn_squares(v, 8);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) sl_vi_store(to + i * to_row, v[i]);
}

/* The reverse. */
SL_FN __attribute__((always_inline)) void sl_eight_rows(const int32_t *restrict from, long from_row, int32_t *restrict to, long to_row)
{
    sl_vi v[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) v[i] = sl_vi_load(from + i * from_row);
    sl_turn_squares(v, 8);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        memcpy(to + i * to_row, &v[i], 32);
        memcpy(to + (8 + i) * to_row, (const char *)&v[i] + 32, 32);
    }
}
#endif

/* A square of items, of rows that lie so far apart, turned round. What has `just` been stored is loaded as it was stored: parts of it would have to wait. */
SL_FN __attribute__((always_inline)) void sl_square(const int32_t *restrict from, long from_row, int32_t *restrict to, long to_row, const int just)
{
#ifdef SL_HALVES
    (void)just;
    sl_eight_columns(from, from_row, to, to_row);
    sl_eight_columns(from + 8, from_row, to + 8 * to_row, to_row);
#else
#ifdef SL_BY_FOURS
    if (!just) {
        sl_four_columns(from, from_row, to, to_row);
        sl_four_columns(from + 4, from_row, to + 4 * to_row, to_row);
        return;
    }
#endif
    (void)just;
    sl_vi v[SL_LANES];
    for (int i = 0; i < SL_LANES; i++) v[i] = sl_vi_load(from + i * from_row);
    sl_transpose(v);
    for (int i = 0; i < SL_LANES; i++) sl_vi_store(to + i * to_row, v[i]);
#endif
}

/* As many rows as there are lanes are being taken, or `given`, side by side, a square at a time, and are at word q: asks for what comes next there. The processor sees that one row is followed,
 * and not that so many are at once. Only where items come from outside the program or go there: those that are in the second cache take up to a tenth more time so, others a fifth to a third less
 * (dct, fft, mpeg2, matrixmult; Cascade Lake). */
SL_FN __attribute__((always_inline)) void sl_soon(const int32_t *rows, long row, long q, const int given)
{
    /* the next rows, where these and they leave room in the first cache; otherwise some lines of the same ones */
    const long ahead = SL_LANES * row <= 4096 ? SL_LANES * row : 64;
    if (q % 16 != 0) return;
    for (long i = 0; i < SL_LANES; i++) {
        /* the last word of a line; there may be nothing there */
        const void *next = (const void *)((uintptr_t)(rows + i * row + q) + (uintptr_t)(ahead + 15) * sizeof *rows);
        if (given) __builtin_prefetch(next, 1);
        else __builtin_prefetch(next);
    }
}

#if defined(__GNUC__) && !defined(__clang__)
/* The number whose bits are those of p the other way round, below a power of two. */
SL_FN __attribute__((always_inline)) long sl_mirrored(const long p, const long n)
{
    long m = 0;
    for (long bit = 1; bit < n; bit *= 2) m = 2 * m + ((p & bit) != 0);
    return m;
}

/* Deals the items of n vectors, a power of two below SL_LANES, out to n: item k to vector k % n, which is that of number sl_mirrored(k % n, n). */
SL_FN __attribute__((always_inline)) void sl_lanes_apart(sl_vi *v, const long n)
{
    sl_vi lane;
    for (int l = 0; l < SL_LANES; l++) lane[l] = l;
#pragma GCC unroll 4
    for (long s = n; s > 1; s /= 2) {
        sl_vi w[SL_LANES];
#pragma GCC unroll 16
        for (long i = 0; i < n / 2; i++) {
            const long first = i / (s / 2) * s, k = i % (s / 2);
            w[first + k] = __builtin_shuffle(v[first + 2 * k], v[first + 2 * k + 1], 2 * lane);
            w[first + s / 2 + k] = __builtin_shuffle(v[first + 2 * k], v[first + 2 * k + 1], 2 * lane + 1);
        }
#pragma GCC unroll 16
        for (long i = 0; i < n; i++) v[i] = w[i];
    }
}

/* The reverse: one of each vector in turn. */
SL_FN __attribute__((always_inline)) void sl_lanes_in_turn(sl_vi *v, const long n)
{
    sl_vi lane;
    for (int l = 0; l < SL_LANES; l++) lane[l] = l;
    const sl_vi low = lane / 2 + (lane & 1) * SL_LANES;
#pragma GCC unroll 4
    for (long s = 2; s <= n; s *= 2) {
        sl_vi w[SL_LANES];
#pragma GCC unroll 16
        for (long i = 0; i < n / 2; i++) {
            const long first = i / (s / 2) * s, k = i % (s / 2);
            w[first + 2 * k] = __builtin_shuffle(v[first + k], v[first + s / 2 + k], low);
            w[first + 2 * k + 1] = __builtin_shuffle(v[first + k], v[first + s / 2 + k], low + SL_LANES / 2);
        }
#pragma GCC unroll 16
        for (long i = 0; i < n; i++) v[i] = w[i];
    }
}
#endif

/* Items at equal position modulo `pop` become neighbours: to[p * row + k] = in[k * pop + p], for k * pop + p < items. */
SL_FN __attribute__((always_inline)) void sl_phases(const int32_t *restrict in, long pop, long items, long row, int32_t *restrict to, const int far)
{
    long rows = items / pop;
    long k = 0;
#if defined(__GNUC__) && !defined(__clang__)
    /* clang finds both by itself; gcc those of powers of two in long loops only */
#ifdef SL_HALVES
    for (; pop > SL_LANES / 2 && pop < SL_LANES && k + SL_LANES <= rows; k += SL_LANES) {
        /* the last columns overlap the first */
        sl_eight_columns(in + k * pop, pop, to + k, row);
        sl_eight_columns(in + k * pop + pop - 8, pop, to + (pop - 8) * row + k, row);
    }
#endif
#ifdef SL_BY_FOURS
    for (; pop >= 4 && pop < SL_LANES && k + SL_LANES <= rows; k += SL_LANES) {
        sl_four_columns(in + k * pop, pop, to + k, row);
        if (pop > 4) sl_four_columns(in + k * pop + pop - 4, pop, to + (pop - 4) * row + k, row);
    }
    for (; pop == 2 && k + SL_LANES <= rows; k += SL_LANES) sl_pairs_apart(in + k * 2, to + k, to + row + k);
#endif
    if (pop <= SL_LANES * 3 / 4 && (pop & (pop - 1)) != 0) {
        sl_vi lane;
        for (int l = 0; l < SL_LANES; l++) lane[l] = l;
        const long first = k;
        for (long p = 0; p < pop; p++) {
            sl_vi item = lane * (int32_t)pop + (int32_t)p;
            for (k = first; k + SL_LANES <= rows; k += SL_LANES) {
                const int32_t *from = in + k * pop;
                sl_vi v = __builtin_shuffle(sl_vi_load(from), item & (SL_LANES - 1));
                for (long i = 1; i < pop; i++) {
                    sl_vi next = __builtin_shuffle(sl_vi_load(from + i * SL_LANES), item & (SL_LANES - 1));
                    v = sl_vi_select(item >= (int32_t)(i * SL_LANES), next, v);
                }
                sl_vi_store(to + p * row + k, v);
            }
        }
    }
    if (pop > 1 && pop < SL_LANES && (pop & (pop - 1)) == 0) {
        for (; k + SL_LANES <= rows; k += SL_LANES) {
            sl_vi v[SL_LANES];
#pragma GCC unroll 16
            for (long p = 0; p < pop; p++) v[p] = sl_vi_load(in + k * pop + p * SL_LANES);
            sl_lanes_apart(v, pop);
#pragma GCC unroll 16
            for (long p = 0; p < pop; p++) sl_vi_store(to + sl_mirrored(p, pop) * row + k, v[p]);
        }
    }
#endif
    if (pop >= SL_LANES) {
        for (; k + SL_LANES <= rows; k += SL_LANES) {
            for (long p = 0; p < pop;) {
                /* the last square overlaps the one before */
                long q = p + SL_LANES <= pop ? p : pop - SL_LANES;
                if (far) sl_soon(in + k * pop, pop, q, 0);
                sl_square(in + k * pop + q, pop, to + q * row + k, row, 0);
                p = q + SL_LANES;
            }
        }
    }
    for (; k < rows; k++)
        for (long p = 0; p < pop; p++) to[p * row + k] = in[k * pop + p];
    for (long i = rows * pop; i < items; i++) to[i % pop * row + i / pop] = in[i];
}

/* The same of `n` streams whose items, of so many words, lie one by one, `pop` of each to a turn: those of one place in the turns, and one part, become neighbours.
 * to[(i % pop * words + w) * row + i / pop * n + s] = in[(i * n + s) * words + w], for i < items. */
SL_FN __attribute__((always_inline)) void sl_phases_of_strands(const int32_t *restrict in, long pop, long words, long n, long items, long row, int32_t *restrict to)
{
    for (long i = 0; i < items; i++) {
        int32_t *part = to + i % pop * words * row + i / pop * n;
        const int32_t *from = in + i * n * words;
        if (words == 1) memcpy(part, from, (size_t)n * sizeof *part);
        else sl_phases(from, words, n * words, row, part, 0);
    }
}

/* The reverse, for `rows` whole rows: out[k * push + p] = from[p * row + k]. */
SL_FN __attribute__((always_inline)) void sl_interleave(const int32_t *restrict from, long row, long push, long rows, int32_t *restrict out, const int far)
{
    long k = 0;
#if defined(__GNUC__) && !defined(__clang__)
#ifdef SL_BY_FOURS
    for (; push >= 4 && push < SL_LANES && k + SL_LANES <= rows; k += SL_LANES) {
        sl_four_rows(from + k, row, out + k * push, push);
        if (push > 4) sl_four_rows(from + (push - 4) * row + k, row, out + k * push + push - 4, push);
    }
    for (; push == 2 && k + SL_LANES <= rows; k += SL_LANES) sl_pairs(from + k, from + row + k, out + k * 2);
#endif
    if (push > 1 && push < SL_LANES && (push & (push - 1)) == 0) {
        for (; k + SL_LANES <= rows; k += SL_LANES) {
            sl_vi v[SL_LANES];
#pragma GCC unroll 16
            for (long p = 0; p < push; p++) v[p] = sl_vi_load(from + sl_mirrored(p, push) * row + k);
            sl_lanes_in_turn(v, push);
#pragma GCC unroll 16
            for (long p = 0; p < push; p++) sl_vi_store(out + k * push + p * SL_LANES, v[p]);
        }
    }
#ifdef SL_HALVES
    for (; push > SL_LANES / 2 && push < SL_LANES && k + SL_LANES <= rows; k += SL_LANES) {
        sl_eight_rows(from + k, row, out + k * push, push);
        sl_eight_rows(from + (push - 8) * row + k, row, out + k * push + push - 8, push);
    }
#endif
    if (push > 2 && push <= SL_LANES * 3 / 4 && (push & (push - 1)) != 0) {
        sl_vi lane;
        for (int l = 0; l < SL_LANES; l++) lane[l] = l;
        for (; k + SL_LANES <= rows; k += SL_LANES) {
#pragma GCC unroll 16
            for (long i = 0; i < push; i++) {
                /* which round a lane's item is of, and which of it */
                sl_vi at = lane + (int32_t)(i * SL_LANES);
                sl_vi round = at / (int32_t)push, which = at % (int32_t)push;
                sl_vi v = __builtin_shuffle(sl_vi_load(from + k), round);
                for (long p = 1; p < push; p++)
                    v = sl_vi_select(which == (int32_t)p, __builtin_shuffle(sl_vi_load(from + p * row + k), round), v);
                sl_vi_store(out + k * push + i * SL_LANES, v);
            }
        }
    }
#endif
    if (push >= SL_LANES) {
        for (; k + SL_LANES <= rows; k += SL_LANES) {
            for (long p = 0; p < push;) {
                long q = p + SL_LANES <= push ? p : push - SL_LANES;
                if (far) sl_soon(out + k * push, push, q, 1);
                sl_square(from + q * row + k, row, out + k * push + q, push, push <= 2 * SL_LANES);
                p = q + SL_LANES;
            }
        }
    }
    for (; k < rows; k++)
        for (long p = 0; p < push; p++) out[k * push + p] = from[p * row + k];
}

/* Round robin among many parts that take one item a round: out[p][k] = whole[k * parts + p]. Squares of rounds and parts are turned round. */
SL_FN void sl_split_ones(const int32_t *restrict whole, int32_t *const *restrict out, long parts, long n)
{
    long k = 0;
    for (; parts >= SL_LANES && k + SL_LANES <= n; k += SL_LANES) {
        for (long p = 0; p < parts; p += SL_LANES) {
            /* the last square overlaps the one before */
            const long q = p + SL_LANES <= parts ? p : parts - SL_LANES;
            sl_vi v[SL_LANES];
            for (int i = 0; i < SL_LANES; i++) v[i] = sl_vi_load(whole + (k + i) * parts + q);
            sl_transpose(v);
            for (int i = 0; i < SL_LANES; i++) sl_vi_store(out[q + i] + k, v[i]);
        }
    }
    for (; k < n; k++)
        for (long p = 0; p < parts; p++) out[p][k] = whole[k * parts + p];
}

/* The reverse: whole[k * parts + p] = in[p][k]. */
SL_FN void sl_join_ones(int32_t *restrict whole, const int32_t *const *restrict in, long parts, long n)
{
    long k = 0;
    for (; parts >= SL_LANES && k + SL_LANES <= n; k += SL_LANES) {
        for (long p = 0; p < parts; p += SL_LANES) {
            const long q = p + SL_LANES <= parts ? p : parts - SL_LANES;
            sl_vi v[SL_LANES];
            for (int i = 0; i < SL_LANES; i++) v[i] = sl_vi_load(in[q + i] + k);
            sl_transpose(v);
            for (int i = 0; i < SL_LANES; i++) sl_vi_store(whole + (k + i) * parts + q, v[i]);
        }
    }
    for (; k < n; k++)
        for (long p = 0; p < parts; p++) whole[k * parts + p] = in[p][k];
}

#endif
