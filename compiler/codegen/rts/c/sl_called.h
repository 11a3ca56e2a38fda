/* Functions of floats in lanes: those of the C library, called for each lane, so that every byte is the same. Only in programs whose firings in lanes call some. */
#ifndef SL_CALLED_H
#define SL_CALLED_H

#include "sl_lanes.h"

/* not where they are called: there the calls would be as many as there are lanes */
#define SL_CALLED(name) \
    static __attribute__((noinline)) SL_UNUSED sl_vf sl_vf_##name(sl_vf a) \
    { \
        _Alignas(64) float each[SL_LANES]; \
        sl_vf_store(each, a); \
        for (int l = 0; l < SL_LANES; l++) each[l] = sl_##name##f(each[l]); \
        return sl_vf_load(each); \
    }
SL_CALLED(acos)
SL_CALLED(acosh)
SL_CALLED(asin)
SL_CALLED(asinh)
SL_CALLED(atanh)
SL_CALLED(cosh)
SL_CALLED(exp)
SL_CALLED(expm1)
SL_CALLED(log)
SL_CALLED(log10)
SL_CALLED(sinh)
SL_CALLED(tanh)
static __attribute__((noinline)) SL_UNUSED sl_vf sl_vf_pow(sl_vf a, sl_vf b)
{
    _Alignas(64) float each[SL_LANES], power[SL_LANES];
    sl_vf_store(each, a);
    sl_vf_store(power, b);
    for (int l = 0; l < SL_LANES; l++) each[l] = sl_powf(each[l], power[l]);
    return sl_vf_load(each);
}

#endif
