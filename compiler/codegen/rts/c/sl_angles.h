/* sl_atan2f and sl_atanf in lanes: the same bits. Doubles of half of the lanes each. Only in programs that have such firings. */
#ifndef SL_ANGLES_H
#define SL_ANGLES_H

#include "sl_math.h"

typedef float sl_angle_floats __attribute__((vector_size(2 * SL_LANES)));
typedef double sl_angle_doubles __attribute__((vector_size(4 * SL_LANES)));
typedef int64_t sl_angle_longs __attribute__((vector_size(4 * SL_LANES)));

SL_FN __attribute__((always_inline)) sl_angle_doubles sl_angle_select(sl_angle_longs c, sl_angle_doubles a, sl_angle_doubles b)
{
#if SL_LANES == 8 && defined(__GNUC__)
    return __builtin_ia32_blendvpd256(b, a, (sl_angle_doubles)c);
#elif SL_LANES == 4 && defined(__SSE4_1__) && defined(__GNUC__)
    return __builtin_ia32_blendvpd(b, a, (sl_angle_doubles)c);
#else
    return (sl_angle_doubles)((c & (sl_angle_longs)a) | (~c & (sl_angle_longs)b));
#endif
}
SL_FN __attribute__((always_inline)) sl_angle_doubles sl_angle_widened(sl_angle_floats x)
{
    /* which gcc takes apart */
#if SL_LANES == 8 && defined(__GNUC__) && !defined(__clang__)
    return __builtin_ia32_cvtps2pd256(x);
#elif SL_LANES == 16 && defined(__GNUC__) && !defined(__clang__)
    return __builtin_ia32_cvtps2pd512_mask(x, (sl_angle_doubles){0}, -1, 4);
#else
    return __builtin_convertvector(x, sl_angle_doubles);
#endif
}
SL_FN __attribute__((always_inline)) sl_angle_floats sl_angle_of(sl_angle_floats yf, sl_angle_floats xf)
{
    const sl_angle_doubles y = sl_angle_widened(yf), x = sl_angle_widened(xf);
    const sl_angle_doubles none = {0}, most = none + 0x1p300;
    sl_angle_doubles ay = (sl_angle_doubles)((sl_angle_longs)y & INT64_MAX), ax = (sl_angle_doubles)((sl_angle_longs)x & INT64_MAX);
    ay = sl_angle_select(ay > most, most, ay);
    ax = sl_angle_select(ax > most, most, ax);
    const sl_angle_longs steep = ay > ax;
    const sl_angle_doubles a = sl_angle_select(steep, ax, ay), b = sl_angle_select(steep, ay, ax);
    const sl_angle_longs far = a > b * SL_ANGLE_FAR;
    const sl_angle_doubles up = sl_angle_select(far, a - b, a), down = sl_angle_select(far, a + b, b);
    const sl_angle_doubles u = up / sl_angle_select(down == none, none + 1.0, down), z = u * u, zz = z * z;
    const sl_angle_doubles low = SL_ANGLE_1 + z * SL_ANGLE_2, middle = SL_ANGLE_3 + z * SL_ANGLE_4;
    const sl_angle_doubles high = SL_ANGLE_5 + z * SL_ANGLE_6, top = high + zz * SL_ANGLE_7;
    const sl_angle_doubles p = (low + middle * zz) + top * (zz * zz);
    sl_angle_doubles r = u + u * z * p;
    r = sl_angle_select(far, SL_ANGLE_QUARTER + r, r);
    r = sl_angle_select(steep, SL_ANGLE_HALF - r, r);
    r = sl_angle_select((sl_angle_longs)x < 0, SL_ANGLE_WHOLE - r, r);
    return __builtin_convertvector(r, sl_angle_floats);
}
/* Halves of a vector, and of two halves a vector: instructions of the processor, which gcc does not find in copies. */
#if SL_LANES == 16
#define SL_ANGLE_LOW 0, 1, 2, 3, 4, 5, 6, 7
#define SL_ANGLE_HIGH 8, 9, 10, 11, 12, 13, 14, 15
#elif SL_LANES == 8
#define SL_ANGLE_LOW 0, 1, 2, 3
#define SL_ANGLE_HIGH 4, 5, 6, 7
#else
#define SL_ANGLE_LOW 0, 1
#define SL_ANGLE_HIGH 2, 3
#endif
SL_FN __attribute__((always_inline)) sl_vf sl_vf_atan2(sl_vf y, sl_vf x)
{
#if defined(__clang__) || defined(__GNUC__) && __GNUC__ >= 12
    const sl_angle_floats low = sl_angle_of(__builtin_shufflevector(y, y, SL_ANGLE_LOW), __builtin_shufflevector(x, x, SL_ANGLE_LOW));
    const sl_angle_floats high = sl_angle_of(__builtin_shufflevector(y, y, SL_ANGLE_HIGH), __builtin_shufflevector(x, x, SL_ANGLE_HIGH));
    const sl_vi bits = (sl_vi)__builtin_shufflevector(low, high, SL_ANGLE_LOW, SL_ANGLE_HIGH);
#else
    sl_angle_floats ys[2], xs[2], r[2];
    memcpy(ys, &y, sizeof ys);
    memcpy(xs, &x, sizeof xs);
    for (int half = 0; half < 2; half++) r[half] = sl_angle_of(ys[half], xs[half]);
    sl_vi bits;
    memcpy(&bits, r, sizeof bits);
#endif
    return (sl_vf)((bits & INT32_MAX) | ((sl_vi)y & INT32_MIN));
}
SL_FN sl_vf sl_vf_atan(sl_vf x) { return sl_vf_atan2(x, sl_vf_splat(1.0f)); }

#endif
