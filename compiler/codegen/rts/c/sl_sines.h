/* sl_sinf, sl_cosf and sl_tanf in lanes, and in loops that gcc makes vectors of: the same bits. Only in programs that call them. */
#ifndef SL_SINES_H
#define SL_SINES_H

#include "sl_wide.h"

/* Quarters of a turn, modulo 4 in their lowest bits, and the sine and cosine of what is left; of all below 2^20. */
typedef struct { sl_wide_longs quarters; sl_wide_doubles sine, cosine; } sl_sines_wide;

SL_FN __attribute__((always_inline)) sl_sines_wide sl_sines_wide_of(sl_wide_floats x)
{
    const sl_wide_doubles size = (sl_wide_doubles)((sl_wide_longs)sl_wide_of(x) & INT64_MAX);
    /* a double's last place is 1 there: the sum is rounded to whole quarters, which are its lowest bits */
    const sl_wide_doubles sum = size * SL_SINE_QUARTERS + 0x1.8p52, n = sum - 0x1.8p52;
    const sl_wide_doubles left = size - n * SL_SINE_FIRST - n * SL_SINE_SECOND, z = left * left, zz = z * z;
    const sl_wide_doubles low = SL_SINE_1 + z * SL_SINE_2, high = SL_SINE_3 + z * SL_SINE_4, p = low + zz * (high + zz * SL_SINE_5);
    const sl_wide_doubles first = SL_COSINE_1 + z * SL_COSINE_2, second = SL_COSINE_3 + z * SL_COSINE_4, q = first + zz * second;
    return (sl_sines_wide){(sl_wide_longs)sum, left + left * z * p, 1 - 0.5 * z + zz * q};
}
/* -1 where so many quarters are odd */
SL_FN __attribute__((always_inline)) sl_wide_longs sl_sines_odd(sl_wide_longs quarters) { return -(quarters & 1); }
/* The sine, for sizes of x alone, and one quarter further on the cosine. */
SL_FN __attribute__((always_inline)) sl_wide_floats sl_sine_of(sl_wide_floats x, int further)
{
    const sl_sines_wide of = sl_sines_wide_of(x);
    const sl_wide_longs quarters = of.quarters + further;
    const sl_wide_doubles r = sl_wide_select(sl_sines_odd(quarters), of.cosine, of.sine);
    return __builtin_convertvector((sl_wide_doubles)((sl_wide_longs)r ^ (quarters & 2) << 62), sl_wide_floats);
}
SL_FN __attribute__((always_inline)) sl_wide_floats sl_tangent_of(sl_wide_floats x)
{
    const sl_sines_wide of = sl_sines_wide_of(x);
    const sl_wide_longs odd = sl_sines_odd(of.quarters);
    const sl_wide_doubles r = sl_wide_select(odd, of.cosine, of.sine) / sl_wide_select(odd, of.sine, of.cosine);
    return __builtin_convertvector((sl_wide_doubles)((sl_wide_longs)r ^ (odd & INT64_MIN)), sl_wide_floats);
}
/* Is any of them 2^20 or more, or no number? */
SL_FN __attribute__((always_inline)) int sl_sines_any_far(sl_vf x)
{
    const sl_vi far = ((sl_vi)x & INT32_MAX) >= SL_SINE_FAR;
#if SL_LANES == 16 && defined(__GNUC__) && !defined(__clang__)
    return __builtin_ia32_ptestmd512(far, far, (uint16_t)-1) != 0;
#elif SL_LANES == 8 && defined(__AVX__) && defined(__GNUC__)
    return __builtin_ia32_movmskps256((sl_vf)far) != 0;
#elif SL_LANES == 4 && defined(__SSE2__) && defined(__GNUC__)
    return __builtin_ia32_movmskps((sl_vf)far) != 0;
#else
    uint64_t parts[SL_LANES / 2], any = 0;
    memcpy(parts, &far, sizeof parts);
    for (int i = 0; i < SL_LANES / 2; i++) any |= parts[i];
    return any != 0;
#endif
}
#define SL_SINES(name, single, formula, sign) \
    static SL_UNUSED __attribute__((noinline, cold)) sl_vf name##_far(sl_vf x) \
    { \
        sl_vf r; \
        for (int l = 0; l < SL_LANES; l++) r[l] = single(x[l]); \
        return r; \
    } \
    SL_FN __attribute__((always_inline)) sl_vf name(sl_vf x) \
    { \
        if (SL_UNLIKELY(sl_sines_any_far(x))) return name##_far(x); \
        const sl_wide_floats low = formula(sl_wide_low(x)), high = formula(sl_wide_high(x)); \
        return (sl_vf)((sl_vi)sl_wide_joined(low, high) ^ ((sl_vi)x & (sign))); \
    } \
    /* of half of the lanes: nothing is done twice */ \
    SL_FN __attribute__((always_inline)) sl_wide_floats name##_half(sl_wide_floats x) \
    { \
        const sl_vf twice = sl_wide_joined(x, x); \
        if (SL_UNLIKELY(sl_sines_any_far(twice))) return sl_wide_low(name##_far(twice)); \
        return (sl_wide_floats)((sl_wide_ints)formula(x) ^ ((sl_wide_ints)x & (sign))); \
    }
#define SL_SINE_OF(x) sl_sine_of(x, 0)
#define SL_COSINE_OF(x) sl_sine_of(x, 1)
SL_SINES(sl_vf_sin, sl_sinf, SL_SINE_OF, INT32_MIN)
SL_SINES(sl_vf_cos, sl_cosf, SL_COSINE_OF, 0)
SL_SINES(sl_vf_tan, sl_tanf, sl_tangent_of, INT32_MIN)

/* In loops of a firing: gcc makes vectors of turns that call a function which is said to have forms for vectors, by the names that the processor's conventions give them, of 4, 8 and 16 floats.
 * They stand here. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8 && defined(__x86_64__) && defined(__ELF__) && !defined(__ASSOCIATIVE_MATH__)
#define SL_EACH_CALLED(name) __asm__(name) __attribute__((used, noinline))
/* of so many floats, at most all lanes */
#define SL_EACH_OF(letter, n, name) \
    typedef float sl_each_##letter##name __attribute__((vector_size(4 * n))); \
    static sl_each_##letter##name sl_each_##letter##_##name(sl_each_##letter##name x) SL_EACH_CALLED("_ZGV" #letter "N" #n "v_sl_own_" #name); \
    static sl_each_##letter##name sl_each_##letter##_##name(sl_each_##letter##name x) \
    { \
        sl_vf all = {0}; \
        memcpy(&all, &x, sizeof x); \
        all = sl_vf_##name(all); \
        memcpy(&x, &all, sizeof x); \
        return x; \
    }
#define SL_EACH_HALF(letter, n, name) \
    static sl_wide_floats sl_each_##letter##_##name(sl_wide_floats x) SL_EACH_CALLED("_ZGV" #letter "N" #n "v_sl_own_" #name); \
    static sl_wide_floats sl_each_##letter##_##name(sl_wide_floats x) { return sl_vf_##name##_half(x); }
#ifdef __AVX512F__
#define SL_EACH_WIDTHS(name) SL_EACH_OF(b, 4, name) SL_EACH_HALF(d, 8, name) SL_EACH_OF(e, 16, name)
#elif defined(__AVX2__)
#define SL_EACH_WIDTHS(name) SL_EACH_HALF(b, 4, name) SL_EACH_OF(d, 8, name)
#elif defined(__AVX__)
#define SL_EACH_WIDTHS(name) SL_EACH_HALF(b, 4, name) SL_EACH_OF(c, 8, name)
#else
#define SL_EACH_WIDTHS(name) SL_EACH_OF(b, 4, name)
#endif
#define SL_EACH(name) \
    SL_EACH_WIDTHS(name) \
    static float sl_each_a_##name(float x) SL_EACH_CALLED("sl_own_" #name); \
    static float sl_each_a_##name(float x) { return sl_##name##f(x); } \
    extern float sl_each_##name(float x) __asm__("sl_own_" #name) __attribute__((const, nothrow, simd("notinbranch")));
SL_EACH(sin)
SL_EACH(cos)
SL_EACH(tan)
#define sl_sinf sl_each_sin
#define sl_cosf sl_each_cos
#define sl_tanf sl_each_tan
#endif

#endif
