/* Floats in lanes as doubles, of half of the lanes each; only in programs whose functions of floats in lanes need them. */
#ifndef SL_WIDE_H
#define SL_WIDE_H

#include "sl_lanes.h"

typedef float sl_wide_floats __attribute__((vector_size(2 * SL_LANES)));
typedef int32_t sl_wide_ints __attribute__((vector_size(2 * SL_LANES)));
typedef double sl_wide_doubles __attribute__((vector_size(4 * SL_LANES)));
typedef int64_t sl_wide_longs __attribute__((vector_size(4 * SL_LANES)));

SL_FN __attribute__((always_inline)) sl_wide_doubles sl_wide_select(sl_wide_longs c, sl_wide_doubles a, sl_wide_doubles b)
{
#if SL_LANES == 8 && defined(__GNUC__)
    return __builtin_ia32_blendvpd256(b, a, (sl_wide_doubles)c);
#elif SL_LANES == 4 && defined(__SSE4_1__) && defined(__GNUC__)
    return __builtin_ia32_blendvpd(b, a, (sl_wide_doubles)c);
#else
#if SL_LANES == 16
    c = c != 0; /* as in sl_vi_select */
#endif
    return (sl_wide_doubles)((c & (sl_wide_longs)a) | (~c & (sl_wide_longs)b));
#endif
}
SL_FN __attribute__((always_inline)) sl_wide_doubles sl_wide_of(sl_wide_floats x)
{
    /* which gcc takes apart */
#if SL_LANES == 8 && defined(__GNUC__) && !defined(__clang__)
    return __builtin_ia32_cvtps2pd256(x);
#elif SL_LANES == 16 && defined(__GNUC__) && !defined(__clang__)
    return __builtin_ia32_cvtps2pd512_mask(x, (sl_wide_doubles){0}, -1, 4);
#else
    return __builtin_convertvector(x, sl_wide_doubles);
#endif
}
/* Halves of a vector, and of two halves a vector: instructions of the processor, which gcc does not find in copies. */
#if SL_LANES == 16
#define SL_WIDE_LOW 0, 1, 2, 3, 4, 5, 6, 7
#define SL_WIDE_HIGH 8, 9, 10, 11, 12, 13, 14, 15
#elif SL_LANES == 8
#define SL_WIDE_LOW 0, 1, 2, 3
#define SL_WIDE_HIGH 4, 5, 6, 7
#else
#define SL_WIDE_LOW 0, 1
#define SL_WIDE_HIGH 2, 3
#endif
#if defined(__clang__) || defined(__GNUC__) && __GNUC__ >= 12
SL_FN __attribute__((always_inline)) sl_wide_floats sl_wide_low(sl_vf x) { return __builtin_shufflevector(x, x, SL_WIDE_LOW); }
SL_FN __attribute__((always_inline)) sl_wide_floats sl_wide_high(sl_vf x) { return __builtin_shufflevector(x, x, SL_WIDE_HIGH); }
SL_FN __attribute__((always_inline)) sl_vf sl_wide_joined(sl_wide_floats low, sl_wide_floats high)
{
    return __builtin_shufflevector(low, high, SL_WIDE_LOW, SL_WIDE_HIGH);
}
#else
SL_FN sl_wide_floats sl_wide_low(sl_vf x)
{
    sl_wide_floats r;
    memcpy(&r, &x, sizeof r);
    return r;
}
SL_FN sl_wide_floats sl_wide_high(sl_vf x)
{
    sl_wide_floats r;
    memcpy(&r, (const char *)&x + sizeof r, sizeof r);
    return r;
}
SL_FN sl_vf sl_wide_joined(sl_wide_floats low, sl_wide_floats high)
{
    sl_vf r;
    memcpy(&r, &low, sizeof low);
    memcpy((char *)&r + sizeof low, &high, sizeof high);
    return r;
}
#endif

#endif
