/* The items of a firing side by side in the machine's vectors: `w` neighbouring words, and where a vector has room for more, those of the firings that follow, whose items lie `far` apart.
 * Only in programs that have such firings; SL_WITHIN says that the compiler can. */
#ifndef SL_WITHIN_H
#define SL_WITHIN_H

#include "sl_math.h"

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define SL_WITHIN
#if SL_LANES == 16
#define SL_BY_LANE(f) {f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)}
#define SL_LOW 0, 1, 2, 3, 4, 5, 6, 7
#define SL_HIGH 8, 9, 10, 11, 12, 13, 14, 15
#elif SL_LANES == 8
#define SL_BY_LANE(f) {f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)}
#define SL_LOW 0, 1, 2, 3
#define SL_HIGH 4, 5, 6, 7
#else
#define SL_BY_LANE(f) {f(0), f(1), f(2), f(3)}
#define SL_LOW 0, 1
#define SL_HIGH 2, 3
#endif
typedef float sl_vf_half __attribute__((vector_size(2 * SL_LANES)));
#if defined(__AVX512F__) && !defined(__clang__)
/* of memory a single instruction each, which gcc does not find */
#define SL_MASKED
typedef double sl_vd __attribute__((vector_size(64)));
typedef double sl_vd_half __attribute__((vector_size(32)));
#endif

SL_FN __attribute__((always_inline)) sl_vf sl_vf_join(sl_vf_half a, sl_vf_half b)
{
#ifdef SL_MASKED
    const sl_vd low = __builtin_ia32_pd512_256pd((sl_vd_half)a);
    return (sl_vf)__builtin_ia32_insertf64x4_mask(low, (sl_vd_half)b, 1, low, -1);
#else
    return __builtin_shufflevector(a, b, SL_LOW, SL_HIGH);
#endif
}
SL_FN __attribute__((always_inline)) sl_vf_half sl_vf_low(sl_vf v) { return __builtin_shufflevector(v, v, SL_LOW); }
SL_FN __attribute__((always_inline)) sl_vf_half sl_vf_high(sl_vf v)
{
#ifdef SL_MASKED
    return (sl_vf_half)__builtin_ia32_extractf64x4_mask((sl_vd)v, 1, (sl_vd_half){0}, -1);
#else
    return __builtin_shufflevector(v, v, SL_HIGH);
#endif
}
#if SL_LANES == 16
typedef float sl_vf_quarter __attribute__((vector_size(16)));
SL_FN __attribute__((always_inline)) sl_vf_half sl_vf_quarters(const float *p, const long far)
{
    sl_vf_quarter a, b;
    memcpy(&a, p, sizeof a), memcpy(&b, p + far, sizeof b);
    return __builtin_shufflevector(a, b, SL_LOW);
}
SL_FN __attribute__((always_inline)) void sl_vf_put_quarters(float *p, const long far, sl_vf_half v)
{
    const sl_vf_quarter a = __builtin_shufflevector(v, v, 0, 1, 2, 3), b = __builtin_shufflevector(v, v, 4, 5, 6, 7);
    memcpy(p, &a, sizeof a), memcpy(p + far, &b, sizeof b);
}
#endif
/* There are `room` words at p, at least w. */
SL_FN __attribute__((always_inline)) sl_vf sl_vf_items(const float *p, const long far, const int w, const long room)
{
#if SL_LANES == 16
    if (w * 4 == SL_LANES) return sl_vf_join(sl_vf_quarters(p, far), sl_vf_quarters(p + 2 * far, far));
#endif
    if (w * 2 == SL_LANES) {
        sl_vf_half a, b;
        memcpy(&a, p, sizeof a), memcpy(&b, p + far, sizeof b);
        return sl_vf_join(a, b);
    }
    if (room >= SL_LANES) return sl_vf_load(p);
#ifdef SL_MASKED
    return __builtin_ia32_loadups512_mask(p, (sl_vf){0}, (short)((1u << w) - 1));
#else
    sl_vf v = {0};
    memcpy(&v, p, (size_t)w * sizeof *p);
    return v;
#endif
}
/* One word in all lanes of its firing. */
SL_FN __attribute__((always_inline)) sl_vf sl_vf_same(const float *p, const long far, const int w)
{
    if (w * 2 > SL_LANES) return sl_vf_splat(*p);
    sl_vf v;
    for (int l = 0; l < SL_LANES; l++) v[l] = p[l / w * far];
    return v;
}
SL_FN __attribute__((always_inline)) void sl_vf_put(float *p, const long far, const int w, sl_vf v)
{
#if SL_LANES == 16
    if (w * 4 == SL_LANES) {
        sl_vf_put_quarters(p, far, sl_vf_low(v));
        sl_vf_put_quarters(p + 2 * far, far, sl_vf_high(v));
        return;
    }
#endif
    if (w * 2 == SL_LANES) {
        const sl_vf_half a = sl_vf_low(v), b = sl_vf_high(v);
        memcpy(p, &a, sizeof a), memcpy(p + far, &b, sizeof b);
        return;
    }
#ifdef SL_MASKED
    if (w < SL_LANES) {
        __builtin_ia32_storeups512_mask(p, v, (short)((1u << w) - 1));
        return;
    }
#endif
    memcpy(p, &v, (size_t)w * sizeof *p);
}
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
            v[i] = sl_vi_shuffle(a, b, low);
            v[i | s] = sl_vi_shuffle(a, b, high);
        }
    }
}
/* Squares of w x w words of each firing, of 4, 8 or 16, turned round: numbers of neighbouring lanes change places, then pairs, and so on; these are instructions of most processors. */
SL_FN __attribute__((always_inline)) void sl_turn_squares(sl_vi *v, const int w)
{
    const sl_vi ones = SL_BY_LANE(SL_ONES), twos = SL_BY_LANE(SL_TWOS);
    sl_turn_by(v, w, 1, ones, ones + 2);
    sl_turn_by(v, w, 2, twos, twos + 2);
#pragma GCC unroll 4
    for (int i = 0; i < w; i += 4) {
        const sl_vi second = v[i + 1];
        v[i + 1] = v[i + 2];
        v[i + 2] = second;
    }
#if SL_LANES >= 8
    const sl_vi fours = SL_BY_LANE(SL_FOURS);
    if (w >= 8) sl_turn_by(v, w, 4, fours, fours + 4);
#endif
#if SL_LANES >= 16
    const sl_vi eights = SL_BY_LANE(SL_EIGHTS);
    if (w >= 16) sl_turn_by(v, w, 8, eights, eights + 8);
#endif
}
#endif
#endif

#endif
