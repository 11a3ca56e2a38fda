/* Lanes: firings side by side in the machine's vectors. sl_vf holds a float of each lane, sl_vi an int, or a truth as 0 or -1. Every formula is that of sl_math.h, lane by lane. */
#ifndef SL_LANES_H
#define SL_LANES_H

#include "sl_math.h"

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
#if SL_LANES == 16
    /* of a loop gcc makes parts, which it puts together in memory: the vector waits for all of them there */
#define SL_FOUR(l) p[(l) * row], p[((l) + 1) * row], p[((l) + 2) * row], p[((l) + 3) * row]
    return (sl_vf){SL_FOUR(0), SL_FOUR(4), SL_FOUR(8), SL_FOUR(12)};
#undef SL_FOUR
#else
    sl_vf v;
    for (int l = 0; l < SL_LANES; l++) v[l] = p[l * row];
    return v;
#endif
}
/* x - 0 is x, for a negative zero too */
SL_FN sl_vf sl_vf_splat(float x) { return x - (sl_vf){0}; }
SL_FN sl_vi sl_vi_splat(int32_t x) { return x - (sl_vi){0}; }
SL_FN sl_vi sl_vi_select(sl_vi c, sl_vi a, sl_vi b)
{
#if SL_LANES == 16
    /* a comparison's mask chooses by itself: gcc sees it where this is one */
    c = c != 0;
#endif
    return (c & a) | (~c & b);
}
/* is one of the truths true? */
SL_FN __attribute__((always_inline)) int sl_vi_any(sl_vi a)
{
#if SL_LANES == 16 && defined(__GNUC__)
    return __builtin_ia32_cmpd512_mask(a, (sl_vi){0}, 4, -1) != 0;
#elif SL_LANES == 8 && defined(__GNUC__)
    return __builtin_ia32_movmskps256((sl_vf)a) != 0;
#elif defined(__SSE2__) && defined(__GNUC__)
    return __builtin_ia32_movmskps((sl_vf)a) != 0;
#else
    int32_t any = 0;
    for (int l = 0; l < SL_LANES; l++) any |= a[l];
    return any != 0;
#endif
}
SL_FN sl_vf sl_vf_select(sl_vi c, sl_vf a, sl_vf b) { return (sl_vf)sl_vi_select(c, (sl_vi)a, (sl_vi)b); }
/* the first where it is less, or greater: of two zeros, and where one is NaN, the second */
#if SL_LANES == 16 && defined(__clang__)
#define SL_VF_LESSER(a, b) __builtin_ia32_minps512(a, b, 4)
#define SL_VF_GREATER(a, b) __builtin_ia32_maxps512(a, b, 4)
#elif SL_LANES == 16 && defined(__GNUC__)
#define SL_VF_LESSER(a, b) __builtin_ia32_minps512_mask(a, b, a, -1, 4)
#define SL_VF_GREATER(a, b) __builtin_ia32_maxps512_mask(a, b, a, -1, 4)
#elif SL_LANES == 8 && defined(__GNUC__)
#define SL_VF_LESSER(a, b) __builtin_ia32_minps256(a, b)
#define SL_VF_GREATER(a, b) __builtin_ia32_maxps256(a, b)
#elif defined(__SSE2__) && defined(__GNUC__)
#define SL_VF_LESSER(a, b) __builtin_ia32_minps(a, b)
#define SL_VF_GREATER(a, b) __builtin_ia32_maxps(a, b)
#else
#define SL_VF_LESSER(a, b) sl_vf_select(a < b, a, b)
#define SL_VF_GREATER(a, b) sl_vf_select(a > b, a, b)
#endif
SL_FN sl_vf sl_vf_least(sl_vf a, sl_vf b) { return SL_VF_LESSER(a, b); }
SL_FN sl_vf sl_vf_greatest(sl_vf a, sl_vf b) { return SL_VF_GREATER(a, b); }
SL_FN sl_vf sl_vf_min(sl_vf a, sl_vf b) { return sl_vf_select(a != a, b, SL_VF_LESSER(b, a)); }
SL_FN sl_vf sl_vf_max(sl_vf a, sl_vf b) { return sl_vf_select(a != a, b, SL_VF_GREATER(b, a)); }
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
#ifdef __has_builtin
#if __has_builtin(__builtin_elementwise_abs)
#define SL_VI_SIZE(a) __builtin_elementwise_abs(a)
#elif SL_LANES == 16 && __has_builtin(__builtin_ia32_pabsd512_mask)
#define SL_VI_SIZE(a) __builtin_ia32_pabsd512_mask(a, a, -1)
#elif SL_LANES == 8 && defined(__AVX2__) && __has_builtin(__builtin_ia32_pabsd256)
#define SL_VI_SIZE(a) __builtin_ia32_pabsd256(a)
#elif SL_LANES == 4 && defined(__SSSE3__) && __has_builtin(__builtin_ia32_pabsd128)
#define SL_VI_SIZE(a) __builtin_ia32_pabsd128(a)
#endif
#endif
#ifndef SL_VI_SIZE
#define SL_VI_SIZE(a) SL_VI_GREATER(a, -(a))
#endif
SL_FN sl_vi sl_vi_abs(sl_vi a) { return SL_VI_SIZE(a); }
SL_FN sl_vf sl_vi_to_float(sl_vi a) { return __builtin_convertvector(a, sl_vf); }
#define SL_EACH_LANE(type, name, formula) \
    SL_FN type name \
    { \
        type r; \
        for (int l = 0; l < SL_LANES; l++) r[l] = formula; \
        return r; \
    }
#if SL_LANES == 16 && defined(__GNUC__) && !defined(__clang__)
/* gcc would take halves of a vector for processors where it holds vectors of 256 bits to be best, and put them together in memory */
SL_FN sl_vf sl_vf_sqrt(sl_vf a) { return __builtin_ia32_sqrtps512_mask(a, a, -1, 4); }
SL_FN sl_vf sl_vf_floor(sl_vf a) { return __builtin_ia32_rndscaleps_mask(a, 9, a, -1, 4); }
SL_FN sl_vf sl_vf_ceil(sl_vf a) { return __builtin_ia32_rndscaleps_mask(a, 10, a, -1, 4); }
SL_FN sl_vf sl_vf_rint(sl_vf a) { return __builtin_ia32_rndscaleps_mask(a, 12, a, -1, 4); }
#else
SL_EACH_LANE(sl_vf, sl_vf_sqrt(sl_vf a), sl_sqrtf(a[l]))
SL_EACH_LANE(sl_vf, sl_vf_floor(sl_vf a), sl_floorf(a[l]))
SL_EACH_LANE(sl_vf, sl_vf_ceil(sl_vf a), sl_ceilf(a[l]))
SL_EACH_LANE(sl_vf, sl_vf_rint(sl_vf a), sl_rintf(a[l]))
#endif
/* Compilers find the processor's instruction in the loops above; for what follows there is none, or one that gives other values for some lanes, and they take lane by lane. */
#ifdef __GNUC__
#if SL_LANES == 16
#define SL_VF_CUT(a) __builtin_ia32_cvttps2dq512_mask(a, (sl_vi){0}, -1, 4)
#define SL_VF_TRUNC(a) __builtin_ia32_rndscaleps_mask(a, 11, a, -1, 4)
#elif SL_LANES == 8
#define SL_VF_CUT(a) __builtin_ia32_cvttps2dq256(a)
#define SL_VF_TRUNC(a) __builtin_ia32_roundps256(a, 11)
#elif defined(__SSE2__)
#define SL_VF_CUT(a) __builtin_ia32_cvttps2dq(a)
#ifdef __SSE4_1__
#define SL_VF_TRUNC(a) __builtin_ia32_roundps(a, 11)
#endif
#endif
#endif
#ifdef SL_VF_TRUNC
/* The greatest float below a half, with the sign of a, comes to it and is cut off: a half itself and all above become the next whole number, as that sum is rounded to nearest; nothing below does.
 * That it is roundf was tried with every float. */
SL_FN sl_vf sl_vf_round(sl_vf a)
{
    const sl_vi half = ((sl_vi)a & INT32_MIN) | 0x3EFFFFFF;
    const sl_vf sum = a + (sl_vf)half;
    return SL_VF_TRUNC(sum);
}
#else
SL_EACH_LANE(sl_vf, sl_vf_round(sl_vf a), sl_roundf(a[l]))
#endif
#ifdef SL_VF_CUT
/* the processor gives INT32_MIN for all that is no int: what is too great becomes INT32_MAX, NaN 0 */
SL_FN sl_vi sl_vf_to_int(sl_vf a) { return (SL_VF_CUT(a) ^ (a >= 2147483648.0f)) & (a == a); }
#else
SL_EACH_LANE(sl_vi, sl_vf_to_int(sl_vf a), sl_float_to_int(a[l]))
#endif

/* An element of a table for each lane. Of a loop gcc makes two instructions that bring halves, and puts these together in memory: where it holds such instructions to be quick, here is one. */
#if SL_LANES == 16 && defined(__GNUC__) && !defined(__clang__) \
    && (defined(__skylake_avx512__) || defined(__cascadelake__) || defined(__cooperlake__) || defined(__icelake_client__) || defined(__icelake_server__) || defined(__tigerlake__) \
        || defined(__rocketlake__) || defined(__sapphirerapids__))
SL_FN sl_vi sl_vi_gather(const int32_t *table, sl_vi at) { return __builtin_ia32_gathersiv16si((sl_vi){0}, table, at, -1, 4); }
SL_FN sl_vf sl_vf_gather(const float *table, sl_vi at) { return __builtin_ia32_gathersiv16sf((sl_vf){0}, table, at, -1, 4); }
#else
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
#endif

/* Where a processor permutes a register by lanes. Of two registers some take the right one by themselves. */
#ifdef __has_builtin
#if defined(__AVX512F__) && defined(__clang__) && __has_builtin(__builtin_ia32_permvarsi512)
#define SL_PERMUTED(t, at) (sl_vi)__builtin_ia32_permvarsi512(t, at)
#elif SL_LANES == 8 && defined(__AVX2__) && defined(__clang__) && __has_builtin(__builtin_ia32_permvarsi256)
#define SL_PERMUTED(t, at) (sl_vi)__builtin_ia32_permvarsi256(t, at)
#endif
#endif
#if defined(__GNUC__) && !defined(__clang__) && (defined(__AVX512F__) || defined(__AVX2__))
#define SL_PERMUTED(t, at) __builtin_shuffle(t, at)
#define SL_PERMUTED_OF_TWO(t, u, at) __builtin_shuffle(t, u, at)
#elif defined(SL_PERMUTED)
#define SL_PERMUTED_OF_TWO(t, u, at) sl_vi_select(((at) & SL_LANES) != 0, SL_PERMUTED(u, at), SL_PERMUTED(t, at))
#endif
#ifdef SL_PERMUTED
/* Is a table of `n` elements a few registers? Then permutations find its elements, several times as fast as loads (of 8 to 128 elements 13 to 5 times with AVX-512, of 8 to 32 five to two and a
 * half times with AVX2: AMD EPYC, Zen 5, gcc 12). clang puts those that are parts of registers together in memory. */
#ifdef __clang__
SL_FN int sl_is_registers(const long n) { return n <= SL_LANES || (n % SL_LANES == 0 && n <= (SL_LANES == 16 ? 8 : 4) * SL_LANES); }
#else
SL_FN int sl_is_registers(const long n) { return n <= (SL_LANES == 16 ? 8 : 4) * SL_LANES; }
#endif
/* Elements of a table of `n` from the first of a register on. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_register(const int32_t *table, const long first, const long n)
{
    if (first + SL_LANES <= n) return sl_vi_load(table + first);
    sl_vi v = {0};
#pragma GCC unroll 16
    for (long l = 0; first + l < n; l++) v[l] = table[first + l];
    return v;
}
/* Of the registers from there on: of more than two, the next bit of the place decides. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_of_two(const int32_t *table, const long first, const long n, sl_vi at)
{
    const sl_vi low = sl_vi_register(table, first, n);
    if (first + SL_LANES >= n) return SL_PERMUTED(low, at);
    return SL_PERMUTED_OF_TWO(low, sl_vi_register(table, first + SL_LANES, n), at);
}
SL_FN __attribute__((always_inline)) sl_vi sl_vi_of_four(const int32_t *table, const long first, const long n, sl_vi at)
{
    const sl_vi low = sl_vi_of_two(table, first, n, at);
    if (first + 2 * SL_LANES >= n) return low;
    return sl_vi_select((at & (2 * SL_LANES)) != 0, sl_vi_of_two(table, first + 2 * SL_LANES, n, at), low);
}
SL_FN __attribute__((always_inline)) sl_vi sl_vi_lookup(const int32_t *table, const long n, sl_vi at)
{
    if (!sl_is_registers(n)) return sl_vi_gather(table, at);
    const sl_vi low = sl_vi_of_four(table, 0, n, at);
    if (n <= 4 * SL_LANES) return low;
    return sl_vi_select((at & (4 * SL_LANES)) != 0, sl_vi_of_four(table, 4 * SL_LANES, n, at), low);
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
#if defined(__AVX512BW__) && defined(__GNUC__) && !defined(__clang__)
    for (; i + 32 <= n; i += 32) {
        const sl_vi low = sl_vi_load(p + i), high = sl_vi_load(p + i + 16);
        bits |= (uint32_t)__builtin_ia32_kunpcksi(__builtin_ia32_ptestmd512(high, high, (uint16_t)-1), __builtin_ia32_ptestmd512(low, low, (uint16_t)-1)) << i;
    }
#endif
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

#endif
