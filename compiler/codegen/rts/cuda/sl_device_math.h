/* Arithmetic of the language, for device code: types, conversions, int division, complex numbers, vectors, mathematical functions.
 * What sl_math.h is for C: the same names, the same formulas, operation by operation, and but for CUDA's transcendental functions the same
 * bits. For CUDA compile with --fmad=false; for emulation with -ffp-contract=off -fwrapv -fno-strict-aliasing. */
#ifndef SL_DEVICE_MATH_H
#define SL_DEVICE_MATH_H

#include "sl_env.h"

/* A product that is rounded before it is used: see sl_math.h. */
#if defined(SL_EMULATE) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && !defined(__FAST_MATH__)
#define SL_ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define SL_ROUNDED(x) (x)
#endif

/* Constants that have no literals; they may stand in tables. */
#ifdef SL_EMULATE
#define SL_NAN_F __builtin_nanf("")
#define SL_INF_F __builtin_inff()
#define SL_NAN __builtin_nan("")
#define SL_INF __builtin_inf()
#else
#define SL_NAN_F __builtin_bit_cast(float, 0x7fc00000u)
#define SL_INF_F __builtin_bit_cast(float, 0x7f800000u)
#define SL_NAN __builtin_bit_cast(double, 0x7ff8000000000000ull)
#define SL_INF __builtin_bit_cast(double, 0x7ff0000000000000ull)
#endif

struct sl_complex { float re, im; };
struct sl_float2 { float x, y; };
struct sl_float3 { float x, y, z; };
struct sl_float4 { float x, y, z, w; };

/* ---- int: wraps; division by zero is checked before ---- */

SL_DEVICE int32_t sl_div(int32_t a, int32_t b) { return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b; }
SL_DEVICE int32_t sl_rem(int32_t a, int32_t b) { return b == -1 ? 0 : a % b; }
SL_DEVICE int32_t sl_shl(int32_t a, int32_t n) { return (int32_t)((uint32_t)a << (n & 31)); }
SL_DEVICE int32_t sl_shr(int32_t a, int32_t n) { return a >> (n & 31); }
SL_DEVICE int32_t sl_absi(int32_t a) { return a < 0 ? (int32_t)(0u - (uint32_t)a) : a; }
SL_DEVICE int32_t sl_mini(int32_t a, int32_t b) { return b < a ? b : a; }
SL_DEVICE int32_t sl_maxi(int32_t a, int32_t b) { return b > a ? b : a; }

/* ---- exact functions: CUDA's are named without the prefix that compilers for CPUs fold and inline ---- */

#ifdef SL_EMULATE
#define SL_EXACT(name) __builtin_##name
#else
#define SL_EXACT(name) name
#endif
SL_DEVICE float sl_fabsf(float x) { return SL_EXACT(fabsf)(x); }
SL_DEVICE double sl_fabs(double x) { return SL_EXACT(fabs)(x); }
SL_DEVICE float sl_floorf(float x) { return SL_EXACT(floorf)(x); }
SL_DEVICE double sl_floor(double x) { return SL_EXACT(floor)(x); }
SL_DEVICE float sl_ceilf(float x) { return SL_EXACT(ceilf)(x); }
SL_DEVICE double sl_ceil(double x) { return SL_EXACT(ceil)(x); }
SL_DEVICE float sl_rintf(float x) { return SL_EXACT(rintf)(x); }
SL_DEVICE double sl_rint(double x) { return SL_EXACT(rint)(x); }
SL_DEVICE float sl_roundf(float x) { return SL_EXACT(roundf)(x); }
SL_DEVICE double sl_round(double x) { return SL_EXACT(round)(x); }
SL_DEVICE float sl_sqrtf(float x) { return SL_EXACT(sqrtf)(x); }
SL_DEVICE double sl_sqrt(double x) { return SL_EXACT(sqrt)(x); }
SL_DEVICE float sl_copysignf(float x, float sign) { return SL_EXACT(copysignf)(x, sign); }

/* ---- to int: truncates, saturates, NaN is 0. About the mask see sl_math.h ---- */

SL_DEVICE int32_t sl_float_to_int(float x)
{
    float size = sl_fabsf(x);
    if (size < 2147483648.0f) return (int32_t)x & -(int32_t)(size >= 1.0f);
    return x > 0 ? INT32_MAX : x != x ? 0 : INT32_MIN;
}
SL_DEVICE int32_t sl_double_to_int(double x)
{
    double size = sl_fabs(x);
    if (size < 2147483648.0) return (int32_t)x & -(int32_t)(size >= 1.0);
    return x > 0 ? INT32_MAX : x != x ? 0 : INT32_MIN;
}

/* ---- 0 - x, which is 0 for 0; min, max: a NaN gives the other operand, of two zeros the first ---- */

SL_DEVICE float sl_zero_minusf(float x) { return 0.0f - x; }
SL_DEVICE double sl_zero_minus(double x) { return 0.0 - x; }
SL_DEVICE float sl_minf(float a, float b) { return (int)(b < a) | (int)(a != a) ? b : a; }
SL_DEVICE float sl_maxf(float a, float b) { return (int)(b > a) | (int)(a != a) ? b : a; }
SL_DEVICE double sl_min(double a, double b) { return (int)(b < a) | (int)(a != a) ? b : a; }
SL_DEVICE double sl_max(double a, double b) { return (int)(b > a) | (int)(a != a) ? b : a; }

/* ---- the library's functions: CUDA's; under emulation the C library's, by names that compilers do not know and so do not fold ---- */

#ifdef SL_EMULATE
#ifdef __APPLE__
#define SL_SYMBOL(name) __asm__("_" #name)
#else
#define SL_SYMBOL(name) __asm__(#name)
#endif
#define SL_LIBRARY1(name) \
    extern "C" float sl_##name##f(float) SL_SYMBOL(name##f) __attribute__((const, nothrow)); \
    extern "C" double sl_##name(double) SL_SYMBOL(name) __attribute__((const, nothrow));
#define SL_LIBRARY2(name) \
    extern "C" float sl_##name##f(float, float) SL_SYMBOL(name##f) __attribute__((const, nothrow)); \
    extern "C" double sl_##name(double, double) SL_SYMBOL(name) __attribute__((const, nothrow));
#else
#define SL_LIBRARY1(name) \
    SL_DEVICE float sl_##name##f(float x) { return name##f(x); } \
    SL_DEVICE double sl_##name(double x) { return name(x); }
#define SL_LIBRARY2(name) \
    SL_DEVICE float sl_##name##f(float x, float y) { return name##f(x, y); } \
    SL_DEVICE double sl_##name(double x, double y) { return name(x, y); }
#endif
SL_LIBRARY1(acos)
SL_LIBRARY1(acosh)
SL_LIBRARY1(asin)
SL_LIBRARY1(asinh)
SL_LIBRARY1(atanh)
SL_LIBRARY1(cosh)
SL_LIBRARY1(exp)
SL_LIBRARY1(expm1)
SL_LIBRARY1(log)
SL_LIBRARY1(log10)
SL_LIBRARY1(sinh)
SL_LIBRARY1(tanh)
SL_LIBRARY2(fmod)
SL_LIBRARY2(pow)
/* these are CUDA's, too; under emulation those of floats are Sluice's own, which stand behind this header (sl_angle.h, sl_sine.h) */
#ifdef SL_EMULATE
extern "C" double sl_atan(double) SL_SYMBOL(atan) __attribute__((const, nothrow));
extern "C" double sl_atan2(double, double) SL_SYMBOL(atan2) __attribute__((const, nothrow));
SL_DEVICE float sl_atan2f(float y, float x);
extern "C" double sl_cos(double) SL_SYMBOL(cos) __attribute__((const, nothrow));
extern "C" double sl_sin(double) SL_SYMBOL(sin) __attribute__((const, nothrow));
extern "C" double sl_tan(double) SL_SYMBOL(tan) __attribute__((const, nothrow));
SL_DEVICE float sl_atanf(float x);
SL_DEVICE float sl_cosf(float x);
SL_DEVICE float sl_sinf(float x);
SL_DEVICE float sl_tanf(float x);
#else
SL_LIBRARY1(atan)
SL_LIBRARY1(cos)
SL_LIBRARY1(sin)
SL_LIBRARY1(tan)
SL_LIBRARY2(atan2)
#endif

/* ---- complex ---- */

SL_DEVICE sl_complex sl_complex_of(float re, float im)
{
    sl_complex c = {re, im};
    return c;
}
SL_DEVICE sl_complex sl_complex_neg(sl_complex a) { return sl_complex_of(-a.re, -a.im); }
SL_DEVICE sl_complex sl_complex_add(sl_complex a, sl_complex b) { return sl_complex_of(a.re + b.re, a.im + b.im); }
SL_DEVICE sl_complex sl_complex_sub(sl_complex a, sl_complex b) { return sl_complex_of(a.re - b.re, a.im - b.im); }
SL_DEVICE sl_complex sl_complex_mul(sl_complex a, sl_complex b)
{
    return sl_complex_of(SL_ROUNDED(a.re * b.re) - SL_ROUNDED(a.im * b.im), SL_ROUNDED(a.re * b.im) + SL_ROUNDED(a.im * b.re));
}
SL_DEVICE sl_complex sl_complex_div(sl_complex a, sl_complex b)
{
    float n = SL_ROUNDED(b.re * b.re) + SL_ROUNDED(b.im * b.im);
    float re = SL_ROUNDED(a.re * b.re) + SL_ROUNDED(a.im * b.im);
    float im = SL_ROUNDED(a.im * b.re) - SL_ROUNDED(a.re * b.im);
    return sl_complex_of(re / n, im / n);
}
SL_DEVICE uint8_t sl_complex_eq(sl_complex a, sl_complex b) { return a.re == b.re && a.im == b.im; }
SL_DEVICE float sl_complex_abs(sl_complex a) { return sl_sqrtf(SL_ROUNDED(a.re * a.re) + SL_ROUNDED(a.im * a.im)); }
SL_DEVICE float sl_complex_arg(sl_complex a) { return sl_atan2f(a.im, a.re); }
SL_DEVICE sl_complex sl_complex_exp(sl_complex a)
{
    float e = sl_expf(a.re);
    return sl_complex_of(SL_ROUNDED(e * sl_cosf(a.im)), SL_ROUNDED(e * sl_sinf(a.im)));
}
SL_DEVICE sl_complex sl_complex_log(sl_complex a) { return sl_complex_of(sl_logf(sl_complex_abs(a)), sl_atan2f(a.im, a.re)); }
SL_DEVICE sl_complex sl_complex_sin(sl_complex a)
{
    return sl_complex_of(SL_ROUNDED(sl_sinf(a.re) * sl_coshf(a.im)), SL_ROUNDED(sl_cosf(a.re) * sl_sinhf(a.im)));
}
SL_DEVICE sl_complex sl_complex_cos(sl_complex a)
{
    return sl_complex_of(SL_ROUNDED(sl_cosf(a.re) * sl_coshf(a.im)), -SL_ROUNDED(sl_sinf(a.re) * sl_sinhf(a.im)));
}
SL_DEVICE sl_complex sl_complex_sqrt(sl_complex a)
{
    float t = sl_sqrtf((sl_complex_abs(a) + sl_fabsf(a.re)) * 0.5f);
    if (t == 0.0f) return sl_complex_of(0.0f, a.im);
    if (a.re >= 0.0f) return sl_complex_of(t, a.im / (t + t));
    return sl_complex_of(sl_fabsf(a.im) / (t + t), sl_copysignf(t, a.im));
}

/* ---- vectors: component by component ---- */

SL_DEVICE sl_float2 sl_float2_of(float x, float y)
{
    sl_float2 v = {x, y};
    return v;
}
SL_DEVICE sl_float3 sl_float3_of(float x, float y, float z)
{
    sl_float3 v = {x, y, z};
    return v;
}
SL_DEVICE sl_float4 sl_float4_of(float x, float y, float z, float w)
{
    sl_float4 v = {x, y, z, w};
    return v;
}
SL_DEVICE sl_float2 sl_float2_all(float x) { return sl_float2_of(x, x); }
SL_DEVICE sl_float3 sl_float3_all(float x) { return sl_float3_of(x, x, x); }
SL_DEVICE sl_float4 sl_float4_all(float x) { return sl_float4_of(x, x, x, x); }
SL_DEVICE sl_float2 sl_float2_neg(sl_float2 a) { return sl_float2_of(-a.x, -a.y); }
SL_DEVICE sl_float3 sl_float3_neg(sl_float3 a) { return sl_float3_of(-a.x, -a.y, -a.z); }
SL_DEVICE sl_float4 sl_float4_neg(sl_float4 a) { return sl_float4_of(-a.x, -a.y, -a.z, -a.w); }
#define SL_VECTOR_OP(name, op) \
    SL_DEVICE sl_float2 sl_float2_##name(sl_float2 a, sl_float2 b) \
    { \
        return sl_float2_of(SL_ROUNDED(a.x op b.x), SL_ROUNDED(a.y op b.y)); \
    } \
    SL_DEVICE sl_float3 sl_float3_##name(sl_float3 a, sl_float3 b) \
    { \
        return sl_float3_of(SL_ROUNDED(a.x op b.x), SL_ROUNDED(a.y op b.y), SL_ROUNDED(a.z op b.z)); \
    } \
    SL_DEVICE sl_float4 sl_float4_##name(sl_float4 a, sl_float4 b) \
    { \
        return sl_float4_of(SL_ROUNDED(a.x op b.x), SL_ROUNDED(a.y op b.y), SL_ROUNDED(a.z op b.z), SL_ROUNDED(a.w op b.w)); \
    }
SL_VECTOR_OP(add, +)
SL_VECTOR_OP(sub, -)
SL_VECTOR_OP(mul, *)
SL_VECTOR_OP(div, /)

#endif
