/* sl_atan2f and sl_atanf in lanes: the same bits. Only in programs that have such firings. */
#ifndef SL_ANGLES_H
#define SL_ANGLES_H

#include "sl_wide.h"

SL_FN __attribute__((always_inline)) sl_wide_floats sl_angle_of(sl_wide_floats yf, sl_wide_floats xf)
{
    const sl_wide_doubles y = sl_wide_of(yf), x = sl_wide_of(xf);
    const sl_wide_doubles none = {0}, most = none + 0x1p300;
    sl_wide_doubles ay = (sl_wide_doubles)((sl_wide_longs)y & INT64_MAX), ax = (sl_wide_doubles)((sl_wide_longs)x & INT64_MAX);
    ay = sl_wide_select(ay > most, most, ay);
    ax = sl_wide_select(ax > most, most, ax);
    const sl_wide_longs steep = ay > ax;
    const sl_wide_doubles a = sl_wide_select(steep, ax, ay), b = sl_wide_select(steep, ay, ax);
    const sl_wide_longs far = a > b * SL_ANGLE_FAR;
    const sl_wide_doubles up = sl_wide_select(far, a - b, a), down = sl_wide_select(far, a + b, b);
    const sl_wide_doubles u = up / sl_wide_select(down == none, none + 1.0, down), z = u * u, zz = z * z;
    const sl_wide_doubles low = SL_ANGLE_1 + z * SL_ANGLE_2, middle = SL_ANGLE_3 + z * SL_ANGLE_4;
    const sl_wide_doubles high = SL_ANGLE_5 + z * SL_ANGLE_6, top = high + zz * SL_ANGLE_7;
    const sl_wide_doubles p = (low + middle * zz) + top * (zz * zz);
    sl_wide_doubles r = u + u * z * p;
    r = sl_wide_select(far, SL_ANGLE_QUARTER + r, r);
    r = sl_wide_select(steep, SL_ANGLE_HALF - r, r);
    r = sl_wide_select((sl_wide_longs)x < 0, SL_ANGLE_WHOLE - r, r);
    return __builtin_convertvector(r, sl_wide_floats);
}
SL_FN __attribute__((always_inline)) sl_vf sl_vf_atan2(sl_vf y, sl_vf x)
{
    const sl_wide_floats low = sl_angle_of(sl_wide_low(y), sl_wide_low(x)), high = sl_angle_of(sl_wide_high(y), sl_wide_high(x));
    const sl_vi bits = (sl_vi)sl_wide_joined(low, high);
    return (sl_vf)((bits & INT32_MAX) | ((sl_vi)y & INT32_MIN));
}
SL_FN sl_vf sl_vf_atan(sl_vf x) { return sl_vf_atan2(x, sl_vf_splat(1.0f)); }

#endif
