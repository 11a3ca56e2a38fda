/* Arithmetic of the language, for filters' code: types, conversions, int division, complex numbers, vectors, mathematical functions.
 * Every formula is that of sluice_frontend::ops, operation by operation. Compile with -ffp-contract=off -fwrapv
 * -fno-strict-aliasing and without -ffast-math, by gcc or clang; gcc from 12 on for x86 also with
 * -mstore-max=128 and -fno-ipa-ra. */
#ifndef SL_MATH_H
#define SL_MATH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SL_UNUSED __attribute__((unused))
#define SL_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SL_FN static inline SL_UNUSED
/* constants of generated code */
#define SL_NAN_F __builtin_nanf("")
#define SL_INF_F __builtin_inff()
#define SL_NAN __builtin_nan("")
#define SL_INF __builtin_inf()

/* A product that is rounded before it is used. gcc from 12 on, until that was mended, fuses pairs like a * b - c and d * e + f where it
 * finds them side by side, although -ffp-contract=off forbids it. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && !defined(__FAST_MATH__)
#define SL_ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define SL_ROUNDED(x) (x)
#endif

/* Before a loop whose turns fit into a vector: gcc would write them out first, and find no vector in them afterwards. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define SL_ABREAST _Pragma("GCC unroll 1")
#else
#define SL_ABREAST
#endif

/* The same in a loop that goes through rows of an array: clang would write the turns out, too. (What it writes out of one row stays in registers.) */
#if defined(__clang__)
#define SL_ABREAST_ROW _Pragma("clang loop unroll(disable)")
#else
#define SL_ABREAST_ROW SL_ABREAST
#endif

/* At the beginning of a long firing: gcc 12 looks for vectors across firings whose items lie far apart, for
 * many minutes where there are dozens of them, and finds none. */
#if defined(__GNUC__) && !defined(__clang__)
#define SL_ALONE __asm__ volatile("")
#else
#define SL_ALONE
#endif

/* An array of a state that fills a line of the cache begins with one: what a firing stored, the next one loads while it is still on its way
 * to the cache, and that takes several times as long across two lines. A device has the states as C lays them out. */
#define SL_LINE _Alignas(64)
#ifdef SL_KERNELS
#undef SL_LINE
#define SL_LINE
#endif

typedef struct { float re, im; } sl_complex;
typedef struct { float x, y; } sl_float2;
typedef struct { float x, y, z; } sl_float3;
typedef struct { float x, y, z, w; } sl_float4;

/* ---- int: wraps; division by zero is checked before ---- */

SL_FN int32_t sl_div(int32_t a, int32_t b) { return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b; }
SL_FN int32_t sl_rem(int32_t a, int32_t b) { return b == -1 ? 0 : a % b; }
SL_FN int32_t sl_shl(int32_t a, int32_t n) { return (int32_t)((uint32_t)a << (n & 31)); }
SL_FN int32_t sl_shr(int32_t a, int32_t n) { return a >> (n & 31); }
/* The bits n places farther to the left, those that leave coming in at the right; n from 1 to 31 */
SL_FN int32_t sl_rotl(int32_t a, int32_t n) { return (int32_t)((uint32_t)a << n | (uint32_t)a >> (32 - n)); }
SL_FN int32_t sl_absi(int32_t a) { return a < 0 ? (int32_t)(0u - (uint32_t)a) : a; }
SL_FN int32_t sl_mini(int32_t a, int32_t b) { return b < a ? b : a; }
SL_FN int32_t sl_maxi(int32_t a, int32_t b) { return b > a ? b : a; }

/* ---- to int: truncates, saturates, NaN is 0. The mask takes nothing away: it keeps gcc, told that arithmetic does not trap, from
 * making truncf(x) of (float)(int)x, which is -0 for x from -1 to -0 ---- */

SL_FN int32_t sl_float_to_int(float x)
{
#if defined(__SSE2__) && defined(__GNUC__)
    /* the processor's own: INT32_MIN for all that is no int */
    typedef float sl_scalar __attribute__((vector_size(16)));
    const int32_t i = __builtin_ia32_cvttss2si((sl_scalar){x, 0.0f, 0.0f, 0.0f});
    if (!SL_UNLIKELY(i == INT32_MIN)) return i;
#endif
    float size = __builtin_fabsf(x);
    if (size < 2147483648.0f) return (int32_t)x & -(int32_t)(size >= 1.0f);
    return x > 0 ? INT32_MAX : x != x ? 0 : INT32_MIN;
}
SL_FN int32_t sl_double_to_int(double x)
{
    double size = __builtin_fabs(x);
    if (size < 2147483648.0) return (int32_t)x & -(int32_t)(size >= 1.0);
    return x > 0 ? INT32_MAX : x != x ? 0 : INT32_MIN;
}

/* ---- 0 - x: functions, for gcc makes -x of it where it sees that x is never -0, as in 0.0f - (float)i, and so -0 of 0 - 0 ---- */

SL_FN float sl_zero_minusf(float x) { return 0.0f - x; }
SL_FN double sl_zero_minus(double x) { return 0.0 - x; }

/* ---- min, max: a NaN gives the other operand, of two zeros the first. The comparison alone is an instruction, and what compilers make vectors of; a NaN of the second is right with it. ---- */

#define SL_NAN_GIVES(a, b, m) (SL_UNLIKELY((a) != (a)) ? (b) : (m))
SL_FN float sl_minf(float a, float b) { const float m = b < a ? b : a; return SL_NAN_GIVES(a, b, m); }
SL_FN float sl_maxf(float a, float b) { const float m = b > a ? b : a; return SL_NAN_GIVES(a, b, m); }
SL_FN double sl_min(double a, double b) { const double m = b < a ? b : a; return SL_NAN_GIVES(a, b, m); }
SL_FN double sl_max(double a, double b) { const double m = b > a ? b : a; return SL_NAN_GIVES(a, b, m); }

/* ---- the C library's functions, by other names: compilers know sinf and fold sinf(0.5f) to a value that may differ from the
 * library's in the last bit; a function they do not know they call ---- */

#ifdef __APPLE__
#define SL_SYMBOL(name) __asm__("_" #name)
#else
#define SL_SYMBOL(name) __asm__(#name)
#endif
#define SL_LIBM1(name) \
    extern float sl_##name##f(float) SL_SYMBOL(name##f) __attribute__((const, nothrow)); \
    extern double sl_##name(double) SL_SYMBOL(name) __attribute__((const, nothrow));
#define SL_LIBM2(name) \
    extern float sl_##name##f(float, float) SL_SYMBOL(name##f) __attribute__((const, nothrow)); \
    extern double sl_##name(double, double) SL_SYMBOL(name) __attribute__((const, nothrow));
SL_LIBM1(acos)
SL_LIBM1(acosh)
SL_LIBM1(asin)
SL_LIBM1(asinh)
SL_LIBM1(atanh)
SL_LIBM1(cosh)
SL_LIBM1(exp)
SL_LIBM1(expm1)
SL_LIBM1(log)
SL_LIBM1(log10)
SL_LIBM1(sinh)
SL_LIBM1(tanh)
SL_LIBM2(fmod)
SL_LIBM2(pow)
/* those of floats are our own, which stand behind this header (sl_angle.h, sl_sine.h) */
extern double sl_atan(double) SL_SYMBOL(atan) __attribute__((const, nothrow));
extern double sl_atan2(double, double) SL_SYMBOL(atan2) __attribute__((const, nothrow));
SL_FN float sl_atan2f(float y, float x);
extern double sl_cos(double) SL_SYMBOL(cos) __attribute__((const, nothrow));
extern double sl_sin(double) SL_SYMBOL(sin) __attribute__((const, nothrow));
extern double sl_tan(double) SL_SYMBOL(tan) __attribute__((const, nothrow));
SL_FN float sl_atanf(float x);
SL_FN float sl_cosf(float x);
SL_FN float sl_sinf(float x);
SL_FN float sl_tanf(float x);
/* exact ones may be folded and inlined */
#define sl_fabsf __builtin_fabsf
#define sl_fabs __builtin_fabs
#define sl_floorf __builtin_floorf
#define sl_floor __builtin_floor
#define sl_ceilf __builtin_ceilf
#define sl_ceil __builtin_ceil
#define sl_rintf __builtin_rintf
#define sl_rint __builtin_rint
#define sl_roundf __builtin_roundf
#define sl_round __builtin_round
#define sl_sqrtf __builtin_sqrtf
#define sl_sqrt __builtin_sqrt

/* ---- complex ---- */

SL_FN sl_complex sl_complex_of(float re, float im) { return (sl_complex){re, im}; }
SL_FN sl_complex sl_complex_neg(sl_complex a) { return (sl_complex){-a.re, -a.im}; }
SL_FN sl_complex sl_complex_add(sl_complex a, sl_complex b) { return (sl_complex){a.re + b.re, a.im + b.im}; }
SL_FN sl_complex sl_complex_sub(sl_complex a, sl_complex b) { return (sl_complex){a.re - b.re, a.im - b.im}; }
SL_FN sl_complex sl_complex_mul(sl_complex a, sl_complex b)
{
    return (sl_complex){SL_ROUNDED(a.re * b.re) - SL_ROUNDED(a.im * b.im), SL_ROUNDED(a.re * b.im) + SL_ROUNDED(a.im * b.re)};
}
SL_FN sl_complex sl_complex_div(sl_complex a, sl_complex b)
{
    float n = SL_ROUNDED(b.re * b.re) + SL_ROUNDED(b.im * b.im);
    float re = SL_ROUNDED(a.re * b.re) + SL_ROUNDED(a.im * b.im);
    float im = SL_ROUNDED(a.im * b.re) - SL_ROUNDED(a.re * b.im);
    return (sl_complex){re / n, im / n};
}
SL_FN uint8_t sl_complex_eq(sl_complex a, sl_complex b) { return a.re == b.re && a.im == b.im; }
SL_FN float sl_complex_abs(sl_complex a) { return sl_sqrtf(SL_ROUNDED(a.re * a.re) + SL_ROUNDED(a.im * a.im)); }
SL_FN float sl_complex_arg(sl_complex a) { return sl_atan2f(a.im, a.re); }
SL_FN sl_complex sl_complex_exp(sl_complex a)
{
    float e = sl_expf(a.re);
    return (sl_complex){SL_ROUNDED(e * sl_cosf(a.im)), SL_ROUNDED(e * sl_sinf(a.im))};
}
SL_FN sl_complex sl_complex_log(sl_complex a) { return (sl_complex){sl_logf(sl_complex_abs(a)), sl_atan2f(a.im, a.re)}; }
SL_FN sl_complex sl_complex_sin(sl_complex a)
{
    return (sl_complex){SL_ROUNDED(sl_sinf(a.re) * sl_coshf(a.im)), SL_ROUNDED(sl_cosf(a.re) * sl_sinhf(a.im))};
}
SL_FN sl_complex sl_complex_cos(sl_complex a)
{
    return (sl_complex){SL_ROUNDED(sl_cosf(a.re) * sl_coshf(a.im)), -SL_ROUNDED(sl_sinf(a.re) * sl_sinhf(a.im))};
}
SL_FN sl_complex sl_complex_sqrt(sl_complex a)
{
    float t = sl_sqrtf((sl_complex_abs(a) + sl_fabsf(a.re)) * 0.5f);
    if (t == 0.0f) return (sl_complex){0.0f, a.im};
    if (a.re >= 0.0f) return (sl_complex){t, a.im / (t + t)};
    return (sl_complex){sl_fabsf(a.im) / (t + t), __builtin_copysignf(t, a.im)};
}

/* ---- vectors: component by component ---- */

SL_FN sl_float2 sl_float2_of(float x, float y) { return (sl_float2){x, y}; }
SL_FN sl_float3 sl_float3_of(float x, float y, float z) { return (sl_float3){x, y, z}; }
SL_FN sl_float4 sl_float4_of(float x, float y, float z, float w) { return (sl_float4){x, y, z, w}; }
SL_FN sl_float2 sl_float2_all(float x) { return (sl_float2){x, x}; }
SL_FN sl_float3 sl_float3_all(float x) { return (sl_float3){x, x, x}; }
SL_FN sl_float4 sl_float4_all(float x) { return (sl_float4){x, x, x, x}; }
SL_FN sl_float2 sl_float2_neg(sl_float2 a) { return (sl_float2){-a.x, -a.y}; }
SL_FN sl_float3 sl_float3_neg(sl_float3 a) { return (sl_float3){-a.x, -a.y, -a.z}; }
SL_FN sl_float4 sl_float4_neg(sl_float4 a) { return (sl_float4){-a.x, -a.y, -a.z, -a.w}; }
#define SL_VECTOR_OP(name, op) \
    SL_FN sl_float2 sl_float2_##name(sl_float2 a, sl_float2 b) \
    { \
        return (sl_float2){SL_ROUNDED(a.x op b.x), SL_ROUNDED(a.y op b.y)}; \
    } \
    SL_FN sl_float3 sl_float3_##name(sl_float3 a, sl_float3 b) \
    { \
        return (sl_float3){SL_ROUNDED(a.x op b.x), SL_ROUNDED(a.y op b.y), SL_ROUNDED(a.z op b.z)}; \
    } \
    SL_FN sl_float4 sl_float4_##name(sl_float4 a, sl_float4 b) \
    { \
        return (sl_float4){SL_ROUNDED(a.x op b.x), SL_ROUNDED(a.y op b.y), SL_ROUNDED(a.z op b.z), SL_ROUNDED(a.w op b.w)}; \
    }
SL_VECTOR_OP(add, +)
SL_VECTOR_OP(sub, -)
SL_VECTOR_OP(mul, *)
SL_VECTOR_OP(div, /)

#include "sl_angle.h"
#include "sl_sine.h"

#endif
