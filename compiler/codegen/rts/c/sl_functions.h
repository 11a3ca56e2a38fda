/* Functions of floats in lanes: the vector mathematical library of glibc, whose results are within four units of the last place of the exact ones. Only in programs that may have other bytes
 * (--fast-math) and have such firings. Where there is no such library, lane by lane. */
#ifndef SL_FUNCTIONS_H
#define SL_FUNCTIONS_H

#include "sl_squares.h"

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#if SL_LANES == 16
#define SL_OF_VECTORS(arguments, name) _ZGVeN16##arguments##_##name
#elif SL_LANES == 8 && defined(__AVX2__)
#define SL_OF_VECTORS(arguments, name) _ZGVdN8##arguments##_##name
#elif SL_LANES == 8
#define SL_OF_VECTORS(arguments, name) _ZGVcN8##arguments##_##name
#else
#define SL_OF_VECTORS(arguments, name) _ZGVbN4##arguments##_##name
#endif
#endif
#endif

#ifdef SL_OF_VECTORS
#define SL_FUNCTION(name, of) \
    extern sl_vf SL_OF_VECTORS(v, of)(sl_vf); \
    SL_FN sl_vf name(sl_vf a) { return SL_OF_VECTORS(v, of)(a); }
#define SL_FUNCTION_OF_TWO(name, of) \
    extern sl_vf SL_OF_VECTORS(vv, of)(sl_vf, sl_vf); \
    SL_FN sl_vf name(sl_vf a, sl_vf b) { return SL_OF_VECTORS(vv, of)(a, b); }
#else
#define SL_FUNCTION(name, of) SL_EACH_LANE(sl_vf, name(sl_vf a), of(a[l]))
#define SL_FUNCTION_OF_TWO(name, of) SL_EACH_LANE(sl_vf, name(sl_vf a, sl_vf b), of(a[l], b[l]))
#endif

SL_FUNCTION(sl_vf_acos, acosf)
SL_FUNCTION(sl_vf_acosh, acoshf)
SL_FUNCTION(sl_vf_asin, asinf)
SL_FUNCTION(sl_vf_asinh, asinhf)
SL_FUNCTION(sl_vf_atan, atanf)
SL_FUNCTION(sl_vf_atanh, atanhf)
SL_FUNCTION(sl_vf_cos, cosf)
SL_FUNCTION(sl_vf_cosh, coshf)
SL_FUNCTION(sl_vf_exp, expf)
SL_FUNCTION(sl_vf_expm1, expm1f)
SL_FUNCTION(sl_vf_log, logf)
SL_FUNCTION(sl_vf_log10, log10f)
SL_FUNCTION(sl_vf_sin, sinf)
SL_FUNCTION(sl_vf_sinh, sinhf)
SL_FUNCTION(sl_vf_tan, tanf)
SL_FUNCTION(sl_vf_tanh, tanhf)
SL_FUNCTION_OF_TWO(sl_vf_atan2, atan2f)
SL_FUNCTION_OF_TWO(sl_vf_pow, powf)

#endif
