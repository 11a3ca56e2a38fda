/* Elements of tables of at most 256 bytes, many at once; only in programs that have such tables in lanes. `bytes` has a table of n elements twice, padded with zeroes to 64, 128 or
 * 256: as it is, for processors that find a byte in several registers by its number; and as differences, for those that find one in 16 bytes by a number below 128, and 0 by one that
 * is not. There each 16 bytes are the difference (exclusive or) to the 16 before them, but the first of 64: the sum of all of these that begin at the number or before it is the element. They
 * stand side by side twice, for registers of 32 bytes. Every place that is wanted is below n; what others give is never used. */
#ifndef SL_LOOKUP_H
#define SL_LOOKUP_H

#include "sl_squares.h"

typedef uint8_t sl_vb __attribute__((vector_size(4 * SL_LANES)));
SL_FN sl_vb sl_vb_load(const uint8_t *p) { sl_vb v; memcpy(&v, p, sizeof v); return v; }

/* Of 16 bytes at p, which are there twice, those in the places' last four bits, or 0 where a place's first bit is set. */
#ifdef __has_builtin
#if SL_LANES == 16 && defined(__AVX512BW__) && defined(__clang__)
#define SL_OF_SIXTEEN(p, at) (sl_vb)__builtin_ia32_pshufb512((sl_vc)sl_vb_again(p), (sl_vc)(at))
#elif SL_LANES == 16 && defined(__AVX512BW__) && __has_builtin(__builtin_ia32_pshufb512_mask)
#define SL_OF_SIXTEEN(p, at) (sl_vb)__builtin_ia32_pshufb512_mask((sl_vc)sl_vb_again(p), (sl_vc)(at), (sl_vc)(at), -1)
#elif SL_LANES == 8 && defined(__AVX2__) && __has_builtin(__builtin_ia32_pshufb256)
#define SL_OF_SIXTEEN(p, at) (sl_vb)__builtin_ia32_pshufb256((sl_vc)sl_vb_load(p), (sl_vc)(at))
#elif SL_LANES == 4 && defined(__SSSE3__) && __has_builtin(__builtin_ia32_pshufb128)
#define SL_OF_SIXTEEN(p, at) (sl_vb)__builtin_ia32_pshufb128((sl_vc)sl_vb_load(p), (sl_vc)(at))
#endif
#endif

#if defined(SL_OF_SIXTEEN) && SL_LANES == 16
/* 16 bytes four times: an instruction of the processor, for which compilers have different names. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_again(const uint8_t *p)
{
    typedef int32_t sl_sixteen __attribute__((vector_size(16)));
    sl_sixteen v;
    memcpy(&v, p, sizeof v);
#if defined(__clang__)
    return (sl_vb)__builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
#else
    return (sl_vb)__builtin_ia32_broadcasti32x4_512(v, (sl_vi){0}, -1);
#endif
}
#endif

/* Of two bytes the second where a place's first bit is set. */
SL_FN __attribute__((always_inline)) sl_vb sl_vb_half(sl_vb at, sl_vb low, sl_vb high)
{
#if defined(SL_OF_SIXTEEN) && SL_LANES == 8
    return (sl_vb)__builtin_ia32_pblendvb256((sl_vc)low, (sl_vc)high, (sl_vc)at);
#elif defined(SL_OF_SIXTEEN) && SL_LANES == 4 && defined(__SSE4_1__)
    return (sl_vb)__builtin_ia32_pblendvb128((sl_vc)low, (sl_vc)high, (sl_vc)at);
#else
    const sl_vb which = (sl_vb)(at > 127);
    return (which & high) | (~which & low);
#endif
}

#if defined(__AVX512VBMI__) && defined(__GNUC__)
#define SL_BYTES
SL_FN __attribute__((always_inline)) sl_vb sl_vb_of_two(const uint8_t *p, sl_vb at)
{
#if defined(__clang__)
    return (sl_vb)__builtin_ia32_vpermi2varqi512((sl_vc)sl_vb_load(p), (sl_vc)at, (sl_vc)sl_vb_load(p + 64));
#else
    return __builtin_shuffle(sl_vb_load(p), sl_vb_load(p + 64), at);
#endif
}
SL_FN __attribute__((always_inline)) sl_vb sl_vb_of_one(const uint8_t *p, sl_vb at)
{
#if defined(__clang__)
    return (sl_vb)__builtin_ia32_permvarqi512((sl_vc)sl_vb_load(p), (sl_vc)at);
#else
    return __builtin_shuffle(sl_vb_load(p), at);
#endif
}
SL_FN __attribute__((always_inline)) sl_vb sl_vb_lookup(const uint8_t *bytes, const long n, sl_vb at)
{
    if (n <= 64) return sl_vb_of_one(bytes, at);
    const sl_vb low = sl_vb_of_two(bytes, at);
    if (n <= 128) return low;
    return sl_vb_half(at, low, n <= 192 ? sl_vb_of_one(bytes + 128, at) : sl_vb_of_two(bytes + 128, at));
}
/* Do these find an element of each lane faster than what there is for ints? */
SL_FN int sl_is_short(const long n) { return (void)n, 1; }
#elif defined(SL_OF_SIXTEEN)
#define SL_BYTES
/* Of each 64 bytes the one at the place's last six bits. Four such rows of steps side by side take as many instructions as two of 128 bytes, but wait for one another less (measured: AES
 * with AVX2 takes 8 % less time). */
SL_FN __attribute__((always_inline)) void sl_vb_quarters(const uint8_t *p, const long n, const sl_vb at, sl_vb quarters[4])
{
    sl_vb place = n > 64 ? at & 63 : at, step = (sl_vb){0} + 16;
    /* gcc would count from the first place, with a constant of its own for each step, which it makes at every look-up */
    __asm__("" : "+x"(step));
#pragma GCC unroll 4
    for (long first = 0; first < 64; first += 16) {
#pragma GCC unroll 4
        for (long k = 0; k < 4; k++) {
            if (64 * k + first >= n) continue;
            const sl_vb one = SL_OF_SIXTEEN(p + 2 * (64 * k + first), place);
            quarters[k] = first == 0 ? one : quarters[k] ^ one;
        }
        if (first + 16 < n) place -= step;
    }
}
/* Not within what calls it: a cipher has dozens of these one behind another, and waits for its instructions then (measured: a third less time). */
static SL_UNUSED __attribute__((noinline)) sl_vb sl_vb_of_all(const uint8_t *p, const sl_vb at)
{
    sl_vb q[4];
    sl_vb_quarters(p, 256, at, q);
    const sl_vb second = at + at;
    return sl_vb_half(at, sl_vb_half(second, q[0], q[1]), sl_vb_half(second, q[2], q[3]));
}
SL_FN __attribute__((always_inline)) sl_vb sl_vb_lookup(const uint8_t *bytes, const long n, const sl_vb at)
{
    if (n > 128) return sl_vb_of_all(bytes + 256, at);
    sl_vb q[4];
    sl_vb_quarters(bytes + (n > 64 ? 128 : 64), n, at, q);
    return n > 64 ? sl_vb_half(at + at, q[0], q[1]) : q[0];
}
/* An instruction or two for 16 bytes, and three or four to fetch for each lane; whole registers are permuted as they are where they are wide. */
SL_FN int sl_is_short(const long n) { return n <= 16 * SL_LANES && !(SL_LANES == 16 && n % SL_LANES == 0 && sl_is_registers(n)); }
#endif

/* The element of each lane. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_lookup_bytes(const uint8_t *bytes, const int32_t *table, const long n, sl_vi at)
{
#ifdef SL_BYTES
    if (sl_is_short(n)) return (sl_vi)sl_vb_lookup(bytes, n, (sl_vb)at) & 255;
#endif
    return (void)bytes, sl_vi_lookup(table, n, at);
}

/* The element of each byte that is wanted, in its place; other bytes are 0. */
SL_FN __attribute__((always_inline)) sl_vi sl_vi_lookup_each(const uint8_t *bytes, const int32_t *table, const long n, sl_vi at, const int32_t wanted)
{
#ifdef SL_BYTES
    return (void)table, (sl_vi)sl_vb_lookup(bytes, n, (sl_vb)at) & wanted;
#else
    sl_vi r = {0};
#pragma GCC unroll 4
    for (int bit = 0; bit < 32; bit += 8)
        if ((wanted >> bit & 255) != 0) r |= sl_vi_lookup_bytes(bytes, table, n, at >> bit & 255) << bit;
    return r;
#endif
}

#endif
