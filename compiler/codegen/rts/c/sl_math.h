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

/* ---- min, max: a NaN gives the other operand, of two zeros the first ---- */

SL_FN float sl_minf(float a, float b) { return ((b < a) | (a != a)) ? b : a; }
SL_FN float sl_maxf(float a, float b) { return ((b > a) | (a != a)) ? b : a; }
SL_FN double sl_min(double a, double b) { return ((b < a) | (a != a)) ? b : a; }
SL_FN double sl_max(double a, double b) { return ((b > a) | (a != a)) ? b : a; }

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

/* ---- lanes: firings side by side in the machine's vectors. sl_vf holds a float of each lane, sl_vi an int, or a truth as 0 or -1 ---- */

#if defined(__AVX512F__)
#define SL_LANES 16
#elif defined(__AVX__)
#define SL_LANES 8
#else
#define SL_LANES 4
#endif
typedef float sl_vf __attribute__((vector_size(4 * SL_LANES)));
typedef int32_t sl_vi __attribute__((vector_size(4 * SL_LANES)));
typedef uint32_t sl_vu __attribute__((vector_size(4 * SL_LANES)));
typedef char sl_vc __attribute__((vector_size(4 * SL_LANES)));

SL_FN sl_vf sl_vf_load(const float *p) { sl_vf v; memcpy(&v, p, sizeof v); return v; }
SL_FN sl_vi sl_vi_load(const int32_t *p) { sl_vi v; memcpy(&v, p, sizeof v); return v; }
SL_FN void sl_vf_store(float *p, sl_vf v) { memcpy(p, &v, sizeof v); }
SL_FN void sl_vi_store(int32_t *p, sl_vi v) { memcpy(p, &v, sizeof v); }
/* the number of each lane's turn */
SL_FN SL_UNUSED sl_vi sl_vi_turns(int32_t first) { sl_vi v = {0}; for (int l = 0; l < SL_LANES; l++) v[l] = first + l; return v; }
#if defined(__has_builtin) && defined(__GNUC__) && SL_LANES == 8 && defined(__AVX2__)
#if __has_builtin(__builtin_ia32_pshufb256) && __has_builtin(__builtin_ia32_pblendvb256)
#define SL_OF_BYTES
#endif
#endif
/* bits turned to the left, by a constant (1 to 31); whole bytes change places */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_rotl(sl_vi a, const int32_t n)
{
#ifdef SL_OF_BYTES
    /* where the bytes of a word come from, turned alike, behind the words before it */
    const sl_vi words = {0, 0x04040404, 0x08080808, 0x0C0C0C0C, 0, 0x04040404, 0x08080808, 0x0C0C0C0C};
    if (n % 8 == 0) return (sl_vi)__builtin_ia32_pshufb256((sl_vc)a, (sl_vc)(words + sl_rotl(0x03020100, n)));
#endif
    return (sl_vi)((sl_vu)a << n | (sl_vu)a >> (32 - n));
}
/* of a the bits of m, a constant, and of b the others; an instruction where m is of whole bytes, or the processor chooses by bits */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_mixed(sl_vi a, sl_vi b, const int32_t m)
{
#ifdef SL_OF_BYTES
    if (((uint32_t)m & 0x01010101) * 255u == (uint32_t)m) return (sl_vi)__builtin_ia32_pblendvb256((sl_vc)b, (sl_vc)a, (sl_vc)((sl_vi){0} + m));
#endif
    return (a & m) | (b & ~m);
}
/* a vector that is used several times, in a register: gcc would load it anew for each */
#if defined(__GNUC__) && defined(__x86_64__)
#define SL_KEPT(x) __asm__("" : "+v"(x))
#else
#define SL_KEPT(x) ((void)0)
#endif
/* what is done from here on with n is not what was done with it before: where two ways begin alike, gcc would do once for both what one vector needs, and what the others of one way
 * need only when that is done, though they do not wait for each other (code hoisting) */
#ifdef __GNUC__
#define SL_ANEW(n) __asm__("" : "+r"(n))
#else
#define SL_ANEW(n) ((void)0)
#endif
/* a word of each of SL_LANES rows */
SL_FN sl_vf sl_vf_across(const float *p, const long row)
{
    sl_vf v;
    for (int l = 0; l < SL_LANES; l++) v[l] = p[l * row];
    return v;
}
/* x - 0 is x, for a negative zero too */
SL_FN sl_vf sl_vf_splat(float x) { return x - (sl_vf){0}; }
SL_FN sl_vi sl_vi_splat(int32_t x) { return x - (sl_vi){0}; }
SL_FN sl_vi sl_vi_select(sl_vi c, sl_vi a, sl_vi b) { return (c & a) | (~c & b); }
SL_FN sl_vf sl_vf_select(sl_vi c, sl_vf a, sl_vf b) { return (sl_vf)sl_vi_select(c, (sl_vi)a, (sl_vi)b); }
SL_FN sl_vf sl_vf_min(sl_vf a, sl_vf b) { return sl_vf_select((b < a) | (a != a), b, a); }
SL_FN sl_vf sl_vf_max(sl_vf a, sl_vf b) { return sl_vf_select((b > a) | (a != a), b, a); }
SL_FN sl_vf sl_vf_abs(sl_vf a) { return (sl_vf)((sl_vi)a & sl_vi_splat(INT32_MAX)); }
/* The processor's own instructions, where the compiler has a name for them: of a choice it makes four. */
#ifdef __has_builtin
#if __has_builtin(__builtin_elementwise_min)
#define SL_VI_LESSER(a, b) __builtin_elementwise_min(a, b)
#define SL_VI_GREATER(a, b) __builtin_elementwise_max(a, b)
#elif SL_LANES == 16 && __has_builtin(__builtin_ia32_pminsd512_mask)
#define SL_VI_LESSER(a, b) __builtin_ia32_pminsd512_mask(a, b, a, -1)
#define SL_VI_GREATER(a, b) __builtin_ia32_pmaxsd512_mask(a, b, a, -1)
#elif SL_LANES == 8 && defined(__AVX2__) && __has_builtin(__builtin_ia32_pminsd256)
#define SL_VI_LESSER(a, b) __builtin_ia32_pminsd256(a, b)
#define SL_VI_GREATER(a, b) __builtin_ia32_pmaxsd256(a, b)
#elif SL_LANES == 4 && defined(__SSE4_1__) && __has_builtin(__builtin_ia32_pminsd128)
#define SL_VI_LESSER(a, b) __builtin_ia32_pminsd128(a, b)
#define SL_VI_GREATER(a, b) __builtin_ia32_pmaxsd128(a, b)
#endif
#endif
#ifndef SL_VI_LESSER
#define SL_VI_LESSER(a, b) sl_vi_select(b < a, b, a)
#define SL_VI_GREATER(a, b) sl_vi_select(b > a, b, a)
#endif
SL_FN sl_vi sl_vi_min(sl_vi a, sl_vi b) { return SL_VI_LESSER(a, b); }
SL_FN sl_vi sl_vi_max(sl_vi a, sl_vi b) { return SL_VI_GREATER(a, b); }
SL_FN sl_vi sl_vi_abs(sl_vi a) { return sl_vi_select(a < 0, -a, a); }
SL_FN sl_vf sl_vi_to_float(sl_vi a) { return __builtin_convertvector(a, sl_vf); }
#define SL_EACH_LANE(type, name, formula) \
    SL_FN type name \
    { \
        type r; \
        for (int l = 0; l < SL_LANES; l++) r[l] = formula; \
        return r; \
    }
SL_EACH_LANE(sl_vf, sl_vf_sqrt(sl_vf a), sl_sqrtf(a[l]))
SL_EACH_LANE(sl_vf, sl_vf_floor(sl_vf a), sl_floorf(a[l]))
SL_EACH_LANE(sl_vf, sl_vf_ceil(sl_vf a), sl_ceilf(a[l]))
SL_EACH_LANE(sl_vf, sl_vf_rint(sl_vf a), sl_rintf(a[l]))
SL_EACH_LANE(sl_vf, sl_vf_round(sl_vf a), sl_roundf(a[l]))
SL_EACH_LANE(sl_vi, sl_vf_to_int(sl_vf a), sl_float_to_int(a[l]))
SL_EACH_LANE(sl_vi, sl_vi_div(sl_vi a, sl_vi b), sl_div(a[l], b[l]))
SL_EACH_LANE(sl_vi, sl_vi_rem(sl_vi a, sl_vi b), sl_rem(a[l], b[l]))

/* An element of a table for each lane. */
SL_FN sl_vi sl_vi_gather(const int32_t *table, sl_vi at)
{
    sl_vi r;
    for (int l = 0; l < SL_LANES; l++) r[l] = table[at[l]];
    return r;
}
SL_FN sl_vf sl_vf_gather(const float *table, sl_vi at)
{
    sl_vf r;
    for (int l = 0; l < SL_LANES; l++) r[l] = table[at[l]];
    return r;
}

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
/* Is a table of `n` elements a few whole registers? Then permutations find its elements, several times as fast as loads. */
SL_FN int sl_is_registers(const long n) { return n == SL_LANES || n == 2 * SL_LANES || n == 4 * SL_LANES || n == 8 * SL_LANES; }
/* Of two registers the instruction takes the right one by itself; of more, the next bit of the place decides. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_of_two(const int32_t *table, sl_vi at)
{
    return __builtin_shuffle(sl_vi_load(table), sl_vi_load(table + SL_LANES), at);
}
SL_FN __attribute__((always_inline)) sl_vi sl_vi_of_four(const int32_t *table, sl_vi at)
{
    return sl_vi_select((at & (2 * SL_LANES)) != 0, sl_vi_of_two(table + 2 * SL_LANES, at), sl_vi_of_two(table, at));
}
SL_FN __attribute__((always_inline)) sl_vi sl_vi_lookup(const int32_t *table, const long n, sl_vi at)
{
    if (n == SL_LANES) return __builtin_shuffle(sl_vi_load(table), at);
    if (n == 2 * SL_LANES) return sl_vi_of_two(table, at);
    if (n == 4 * SL_LANES) return sl_vi_of_four(table, at);
    if (n == 8 * SL_LANES)
        return sl_vi_select((at & (4 * SL_LANES)) != 0, sl_vi_of_four(table + 4 * SL_LANES, at), sl_vi_of_four(table, at));
    return sl_vi_gather(table, at);
}
#else
SL_FN int sl_is_registers(const long n) { return (void)n, 0; }
SL_FN sl_vi sl_vi_lookup(const int32_t *table, const long n, sl_vi at) { return (void)n, sl_vi_gather(table, at); }
#endif
SL_FN __attribute__((always_inline)) sl_vf sl_vf_lookup(const float *table, const long n, sl_vi at)
{
    return sl_is_registers(n) ? (sl_vf)sl_vi_lookup((const int32_t *)(const void *)table, n, at) : sl_vf_gather(table, at);
}

/* Bit i is whether item i is not 0, of n items, 32 at most: the comparisons of a vector are bits of a register. */
SL_FN __attribute__((always_inline)) int32_t sl_bits(const int32_t *p, const long n)
{
    uint32_t bits = 0;
    long i = 0;
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
    for (; i + 16 <= n; i += 16) {
        const sl_vi v = sl_vi_load(p + i);
        bits |= (uint32_t)(uint16_t)__builtin_ia32_ptestmd512(v, v, (uint16_t)-1) << i;
    }
#endif
#if defined(__AVX2__) && defined(__GNUC__)
    typedef int32_t sl_eight __attribute__((vector_size(32)));
#if !defined(__AVX512F__) && !defined(__clang__)
    /* what is not 0 stays so when it becomes a byte: then a single comparison does for all 32. Bytes come in fours out of each half by turns */
    typedef char sl_bytes __attribute__((vector_size(32)));
    const sl_eight fours = {0, 4, 1, 5, 2, 6, 3, 7};
    for (; i + 32 <= n; i += 32) {
        sl_eight v[4];
#pragma GCC unroll 4
        for (int of = 0; of < 4; of++) memcpy(&v[of], p + i + 8 * of, sizeof v[of]);
        const sl_eight all = (sl_eight)__builtin_ia32_packsswb256(__builtin_ia32_packssdw256(v[0], v[1]), __builtin_ia32_packssdw256(v[2], v[3]));
        const sl_bytes none = (sl_bytes)__builtin_shuffle(all, fours) == 0;
        bits |= ~(uint32_t)__builtin_ia32_pmovmskb256(none) << i;
    }
#endif
    typedef float sl_signs __attribute__((vector_size(32)));
    for (; i + 8 <= n; i += 8) {
        sl_eight v;
        memcpy(&v, p + i, sizeof v);
        bits |= (uint32_t)__builtin_ia32_movmskps256((sl_signs)(v != 0)) << i;
    }
#elif defined(__SSE2__) && defined(__GNUC__)
    typedef int32_t sl_four __attribute__((vector_size(16)));
    typedef float sl_signs __attribute__((vector_size(16)));
    for (; i + 4 <= n; i += 4) {
        sl_four v;
        memcpy(&v, p + i, sizeof v);
        bits |= (uint32_t)__builtin_ia32_movmskps((sl_signs)(v != 0)) << i;
    }
#endif
    for (; i < n; i++) bits |= (uint32_t)(p[i] != 0) << i;
    return (int32_t)bits;
}

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

#if SL_LANES == 8 && defined(__AVX__) && defined(__GNUC__) && !defined(__clang__)
/* One instruction changes places within the halves of two vectors. What must cross from half to half does so as it is loaded or stored, at no cost. clang finds all of this. */
#define SL_BY_FOURS
#ifdef __AVX2__
/* Words of arrays that are worth to be registers: all there are. Some are on the stack then, but nothing is copied (measured). */
#define SL_IN_REGISTERS 128
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
    /* within halves, then their quarters into place: one that crosses them instead of two */
    typedef int64_t sl_vl __attribute__((vector_size(32)));
    const sl_vi within = {0, 2, 8, 10, 4, 6, 12, 14};
    const sl_vi v = odd ? __builtin_shuffle(a, b, within + 1) : __builtin_shuffle(a, b, within);
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
SL_FN __attribute__((always_inline)) void sl_phases(const int32_t *restrict in, long pop, long items, long row, int32_t *restrict to)
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
        else sl_phases(from, words, n * words, row, part);
    }
}

/* The reverse, for `rows` whole rows: out[k * push + p] = from[p * row + k]. */
SL_FN __attribute__((always_inline)) void sl_interleave(const int32_t *restrict from, long row, long push, long rows, int32_t *restrict out)
{
    long k = 0;
#if defined(__GNUC__) && !defined(__clang__)
#ifdef SL_BY_FOURS
    for (; push >= 4 && push < SL_LANES && k + SL_LANES <= rows; k += SL_LANES) {
        sl_four_rows(from + k, row, out + k * push, push);
        if (push > 4) sl_four_rows(from + (push - 4) * row + k, row, out + k * push + push - 4, push);
    }
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

#include "sl_angle.h"
#include "sl_sine.h"

#endif
