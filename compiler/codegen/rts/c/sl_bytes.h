/* Bytes in lanes: sl_vb holds one of each lane of four vectors of ints, those of the first vector first; a truth is 0 or 255. Only in programs that have some. */
#ifndef SL_BYTES_H
#define SL_BYTES_H

#include "sl_lookup.h"

typedef int8_t sl_vs __attribute__((vector_size(4 * SL_LANES)));
typedef uint16_t sl_vh __attribute__((vector_size(4 * SL_LANES)));
typedef uint8_t sl_quarter __attribute__((vector_size(SL_LANES)));
typedef int8_t sl_quarter_signed __attribute__((vector_size(SL_LANES)));

/* Instructions that make one vector of two with half as many bits, those that are too large the largest: halves of a vector by themselves, which change places at the end. */
#ifdef __has_builtin
#if SL_LANES == 8 && defined(__AVX2__) && __has_builtin(__builtin_ia32_packusdw256) && __has_builtin(__builtin_ia32_permvarsi256)
typedef short sl_packed __attribute__((vector_size(32)));
#define SL_PACK(a, b, c, d) (sl_vb)__builtin_ia32_permvarsi256((sl_vi)__builtin_ia32_packuswb256((sl_packed)__builtin_ia32_packusdw256(a, b), (sl_packed)__builtin_ia32_packusdw256(c, d)), (sl_vi){0, 4, 1, 5, 2, 6, 3, 7})
#define SL_PACK_SIGNED(a, b, c, d) (sl_vb)__builtin_ia32_permvarsi256((sl_vi)__builtin_ia32_packsswb256((sl_packed)__builtin_ia32_packssdw256(a, b), (sl_packed)__builtin_ia32_packssdw256(c, d)), (sl_vi){0, 4, 1, 5, 2, 6, 3, 7})
#elif SL_LANES == 16 && defined(__AVX512BW__) && __has_builtin(__builtin_ia32_packusdw512_mask) && __has_builtin(__builtin_ia32_packuswb512_mask)
typedef short sl_packed __attribute__((vector_size(64)));
typedef char sl_packed_bytes __attribute__((vector_size(64)));
#define SL_TURNED(v) (sl_vb)__builtin_shuffle((sl_vi)(v), (sl_vi){0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15})
#define SL_PACK(a, b, c, d) SL_TURNED(__builtin_ia32_packuswb512_mask(__builtin_ia32_packusdw512_mask(a, b, (sl_packed){0}, -1), __builtin_ia32_packusdw512_mask(c, d, (sl_packed){0}, -1), (sl_packed_bytes){0}, -1))
#define SL_PACK_SIGNED(a, b, c, d) SL_TURNED(__builtin_ia32_packsswb512_mask(__builtin_ia32_packssdw512_mask(a, b, (sl_packed){0}, -1), __builtin_ia32_packssdw512_mask(c, d, (sl_packed){0}, -1), (sl_packed_bytes){0}, -1))
#elif SL_LANES == 4 && defined(__SSE2__) && __has_builtin(__builtin_ia32_packuswb128)
typedef short sl_packed __attribute__((vector_size(16)));
#define SL_PACK(a, b, c, d) (sl_vb)__builtin_ia32_packuswb128((sl_packed)__builtin_ia32_packssdw128(a, b), (sl_packed)__builtin_ia32_packssdw128(c, d))
#define SL_PACK_SIGNED(a, b, c, d) (sl_vb)__builtin_ia32_packsswb128((sl_packed)__builtin_ia32_packssdw128(a, b), (sl_packed)__builtin_ia32_packssdw128(c, d))
#endif
#endif

/* Vector u of four as ints, and of truths: of 16 bytes the first eight are it. gcc takes bytes one by one where it is told no more than what is wanted. */
#ifdef __has_builtin
#if SL_LANES == 8 && defined(__AVX2__) && __has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_ia32_pmovzxbd256)
#define SL_EIGHT(v, u) __builtin_shufflevector((sl_vc)(v), (sl_vc)(v), 8 * (u), 8 * (u) + 1, 8 * (u) + 2, 8 * (u) + 3, 8 * (u) + 4, 8 * (u) + 5, 8 * (u) + 6, 8 * (u) + 7, -1, -1, -1, -1, -1, -1, -1, -1)
#define SL_WIDEN(v, u) (sl_vi)__builtin_ia32_pmovzxbd256(SL_EIGHT(v, u))
#define SL_WIDEN_SIGNED(v, u) (sl_vi)__builtin_ia32_pmovsxbd256(SL_EIGHT(v, u))
#elif SL_LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_pmovzxbd512_mask) && __has_builtin(__builtin_ia32_extracti32x4_mask)
typedef char sl_sixteen __attribute__((vector_size(16)));
typedef int32_t sl_sixteen_words __attribute__((vector_size(16)));
#define SL_SIXTEEN(v, u) (sl_sixteen)__builtin_ia32_extracti32x4_mask((sl_vi)(v), u, (sl_sixteen_words){0}, (uint8_t)-1)
#define SL_WIDEN(v, u) (sl_vi)__builtin_ia32_pmovzxbd512_mask(SL_SIXTEEN(v, u), (sl_vi){0}, (uint16_t)-1)
#define SL_WIDEN_SIGNED(v, u) (sl_vi)__builtin_ia32_pmovsxbd512_mask(SL_SIXTEEN(v, u), (sl_vi){0}, (uint16_t)-1)
#endif
#endif

/* Of ints from 0 to 255. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_of_small(sl_vi a, sl_vi b, sl_vi c, sl_vi d)
{
#ifdef SL_PACK
    return SL_PACK(a, b, c, d);
#else
    const sl_quarter q[4] = {__builtin_convertvector(a, sl_quarter), __builtin_convertvector(b, sl_quarter), __builtin_convertvector(c, sl_quarter), __builtin_convertvector(d, sl_quarter)};
    sl_vb r;
    memcpy(&r, q, sizeof r);
    return r;
#endif
}
/* The last eight bits of any ints. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_of_ints(sl_vi a, sl_vi b, sl_vi c, sl_vi d)
{
    return sl_vb_of_small(a & 255, b & 255, c & 255, d & 255);
}
/* Of truths. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_of_truths(sl_vi a, sl_vi b, sl_vi c, sl_vi d)
{
#ifdef SL_PACK_SIGNED
    return SL_PACK_SIGNED(a, b, c, d);
#else
    return sl_vb_of_ints(a, b, c, d);
#endif
}
/* Vector u of four. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_of_bytes(sl_vb v, const int u)
{
#ifdef SL_WIDEN
    return u == 0 ? SL_WIDEN(v, 0) : u == 1 ? SL_WIDEN(v, 1) : u == 2 ? SL_WIDEN(v, 2) : SL_WIDEN(v, 3);
#else
    sl_quarter q;
    memcpy(&q, (const char *)&v + u * SL_LANES, sizeof q);
    return __builtin_convertvector(q, sl_vi);
#endif
}
SL_FN __attribute__((always_inline)) sl_vi sl_vi_of_truths(sl_vb v, const int u)
{
#ifdef SL_WIDEN
    return u == 0 ? SL_WIDEN_SIGNED(v, 0) : u == 1 ? SL_WIDEN_SIGNED(v, 1) : u == 2 ? SL_WIDEN_SIGNED(v, 2) : SL_WIDEN_SIGNED(v, 3);
#else
    sl_quarter_signed q;
    memcpy(&q, (const char *)&v + u * SL_LANES, sizeof q);
    return __builtin_convertvector(q, sl_vi);
#endif
}

SL_FN __attribute__((always_inline)) sl_vb sl_vb_splat(const int32_t x) { return (sl_vb){0} + (uint8_t)x; }
SL_FN void sl_vb_store(uint8_t *p, sl_vb v) { memcpy(p, &v, sizeof v); }
/* Truths as they pass: 0 or 1. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_load_bits(const uint8_t *p)
{
    sl_vb v;
    memcpy(&v, p, sizeof v);
    return -v;
}
SL_FN void sl_vb_store_bits(uint8_t *p, sl_vb v) { sl_vb_store(p, v & 1); }
/* Four vectors of ints, each `step` ints behind the one before. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_load_small(const int32_t *p, const long step)
{
    return sl_vb_of_small(sl_vi_load(p), sl_vi_load(p + step), sl_vi_load(p + 2 * step), sl_vi_load(p + 3 * step));
}
SL_FN __attribute__((always_inline)) sl_vb sl_vb_load_ints(const int32_t *p, const long step)
{
    return sl_vb_of_ints(sl_vi_load(p), sl_vi_load(p + step), sl_vi_load(p + 2 * step), sl_vi_load(p + 3 * step));
}
SL_FN __attribute__((always_inline)) void sl_vb_store_ints(int32_t *p, const long step, sl_vb v)
{
#pragma GCC unroll 4
    for (int u = 0; u < 4; u++) sl_vi_store(p + u * step, sl_vi_of_bytes(v, u));
}

/* Bits moved within each byte, by 0 to 7, the same for all: no processor does it to bytes. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_right(sl_vb v, const int n)
{
    return (sl_vb)((sl_vh)v >> n) & sl_vb_splat(255 >> n);
}
SL_FN __attribute__((always_inline)) sl_vb sl_vb_left(sl_vb v, const int n)
{
    return n == 1 ? v + v : (sl_vb)((sl_vh)v << n) & sl_vb_splat(255 << n & 255);
}
/* The same by a constant, of which a mask is wanted that has no bit that has come from another byte. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_bits(sl_vb v, const int n, const int32_t mask)
{
    return (sl_vb)((sl_vh)v >> n) & sl_vb_splat(mask);
}

SL_FN __attribute__((always_inline)) sl_vb sl_vb_select(sl_vb c, sl_vb a, sl_vb b) { return sl_vb_half(c, b, a); }
SL_FN __attribute__((always_inline)) sl_vb sl_vb_min(sl_vb a, sl_vb b) { return sl_vb_select((sl_vb)(a < b), a, b); }
SL_FN __attribute__((always_inline)) sl_vb sl_vb_max(sl_vb a, sl_vb b) { return sl_vb_select((sl_vb)(a < b), b, a); }

/* The element of each byte. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_elements(const uint8_t *bytes, const long n, sl_vb at)
{
#ifdef SL_BYTES
    return sl_vb_lookup(bytes, n, at);
#else
    sl_vb r = {0};
    (void)n;
    for (int l = 0; l < 4 * SL_LANES; l++) r[l] = bytes[at[l]];
    return r;
#endif
}

#endif
