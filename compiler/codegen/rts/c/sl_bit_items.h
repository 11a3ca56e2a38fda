/* Bits and truths that pass as bytes, 0 or 1: as 0 or -1 in lanes, and side by side where firings take or give several. Only in programs whose lanes have such items. */
#ifndef SL_BIT_ITEMS_H
#define SL_BIT_ITEMS_H

#include "sl_squares.h"

typedef int8_t sl_bit_quarter __attribute__((vector_size(SL_LANES)));
typedef uint8_t sl_bit_sixteen __attribute__((vector_size(16)));
typedef uint8_t sl_bit_lanes __attribute__((vector_size(4 * SL_LANES)));

/* One of each lane. gcc takes them one by one where it is not told how processors widen and narrow vectors. */
#if defined(__GNUC__) && !defined(__clang__) && (defined(__AVX512F__) || defined(__AVX2__) || defined(__SSE2__) && !defined(__AVX__))
#define SL_BIT_WIDENS
typedef char sl_bit_chars __attribute__((vector_size(16)));
#endif
SL_FN __attribute__((always_inline)) sl_vi sl_vi_load_bit(const uint8_t *p)
{
#ifdef SL_BIT_WIDENS
#if SL_LANES == 16
    sl_bit_chars q;
    memcpy(&q, p, sizeof q);
    return -(sl_vi)__builtin_ia32_pmovzxbd512_mask(q, (sl_vi){0}, (uint16_t)-1);
#elif SL_LANES == 8
    typedef int64_t sl_bit_two __attribute__((vector_size(16)));
    int64_t eight;
    memcpy(&eight, p, sizeof eight);
    return -(sl_vi)__builtin_ia32_pmovzxbd256((sl_bit_chars)(sl_bit_two){eight, 0});
#else
    int32_t four;
    memcpy(&four, p, sizeof four);
#ifdef __SSE4_1__
    return -(sl_vi)__builtin_ia32_pmovzxbd128((sl_bit_chars)(sl_vi){four, 0, 0, 0});
#else
    typedef short sl_bit_shorts __attribute__((vector_size(16)));
    const sl_bit_chars none = {0};
    const sl_bit_shorts q = (sl_bit_shorts)__builtin_ia32_punpcklbw128((sl_bit_chars)(sl_vi){four, 0, 0, 0}, none);
    return -(sl_vi)__builtin_ia32_punpcklwd128(q, (sl_bit_shorts)none);
#endif
#endif
#else
    sl_bit_quarter q;
    memcpy(&q, p, sizeof q);
    return -__builtin_convertvector(q, sl_vi);
#endif
}
SL_FN __attribute__((always_inline)) void sl_vi_store_bit(uint8_t *p, sl_vi v)
{
#ifdef SL_BIT_WIDENS
#if SL_LANES == 16
    const sl_bit_chars q = (sl_bit_chars)__builtin_ia32_pmovdb512_mask(v & 1, (sl_bit_chars){0}, (uint16_t)-1);
    memcpy(p, &q, sizeof q);
#elif SL_LANES == 8
    /* four bytes of each half */
    typedef short sl_bit_shorts __attribute__((vector_size(32)));
    const sl_bit_shorts halves = (sl_bit_shorts)__builtin_ia32_packssdw256(v, v);
    const sl_vi bytes = (sl_vi)__builtin_ia32_packsswb256(halves, halves) & 0x01010101;
    const int32_t eight[2] = {bytes[0], bytes[4]};
    memcpy(p, eight, sizeof eight);
#else
    typedef short sl_bit_shorts __attribute__((vector_size(16)));
    const sl_bit_shorts halves = (sl_bit_shorts)__builtin_ia32_packssdw128(v, v);
    const sl_vi bytes = (sl_vi)__builtin_ia32_packsswb128(halves, halves) & 0x01010101;
    const int32_t four = bytes[0];
    memcpy(p, &four, sizeof four);
#endif
#else
    const sl_bit_quarter q = __builtin_convertvector(v & 1, sl_bit_quarter);
    memcpy(p, &q, sizeof q);
#endif
}

/* Bytes change places within sixteens of a vector; those with the highest bit become 0. */
#if defined(__GNUC__) && !defined(__clang__)
#if SL_LANES == 16 && defined(__AVX512BW__)
#define SL_BIT_PLACES(v, m) (sl_bit_lanes)__builtin_ia32_pshufb512_mask((sl_vc)(v), (sl_vc)(m), (sl_vc){0}, (uint64_t)-1)
#elif SL_LANES == 8 && defined(__AVX2__)
#define SL_BIT_PLACES(v, m) (sl_bit_lanes)__builtin_ia32_pshufb256((sl_vc)(v), (sl_vc)(m))
#elif SL_LANES == 4 && defined(__SSSE3__)
#define SL_BIT_PLACES(v, m) (sl_bit_lanes)__builtin_ia32_pshufb128((sl_vc)(v), (sl_vc)(m))
#endif
#endif
/* Items of a firing, at most, that are moved so where they are no power of two, of which compilers make vectors themselves. Of more it is no faster than one by one, or in squares. */
#define SL_BIT_MOST 12
#ifdef SL_BIT_PLACES
typedef int32_t sl_bit_words __attribute__((vector_size(16)));
/* Sixteens, each `step` bytes behind the one before, without memory that a vector would wait for. */
SL_FN __attribute__((always_inline)) sl_bit_lanes sl_bit_sixteens(const uint8_t *p, const long step)
{
    sl_bit_words part[SL_LANES / 4];
#pragma GCC unroll 4
    for (int i = 0; i < SL_LANES / 4; i++) memcpy(&part[i], p + i * step, 16);
#if SL_LANES == 16
    sl_vi v = {0};
    v = __builtin_ia32_inserti32x4_mask(v, part[0], 0, v, (uint16_t)-1);
    v = __builtin_ia32_inserti32x4_mask(v, part[1], 1, v, (uint16_t)-1);
    v = __builtin_ia32_inserti32x4_mask(v, part[2], 2, v, (uint16_t)-1);
    return (sl_bit_lanes)__builtin_ia32_inserti32x4_mask(v, part[3], 3, v, (uint16_t)-1);
#elif SL_LANES == 8
    const sl_vi v = __builtin_ia32_vinsertf128_si256((sl_vi){0}, part[0], 0);
    return (sl_bit_lanes)__builtin_ia32_vinsertf128_si256(v, part[1], 1);
#else
    return (sl_bit_lanes)part[0];
#endif
}
/* The number of each byte within its sixteen. */
SL_FN __attribute__((always_inline)) sl_bit_lanes sl_bit_numbers(void)
{
    sl_bit_lanes v;
    for (int l = 0; l < 4 * SL_LANES; l++) v[l] = l % 16;
    return v;
}
#endif

/* A square of sixteen rows of so many bytes, turned round. */
#ifdef __clang__
#define SL_BIT_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define SL_BIT_HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#else
#define SL_BIT_LOW(a, b) __builtin_shuffle(a, b, (sl_bit_sixteen){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23})
#define SL_BIT_HIGH(a, b) __builtin_shuffle(a, b, (sl_bit_sixteen){8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31})
#endif
SL_FN __attribute__((always_inline)) void sl_bit_square(const uint8_t *restrict from, long from_row, uint8_t *restrict to, long to_row)
{
    sl_bit_sixteen v[16], w[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) memcpy(&v[i], from + i * from_row, 16);
#pragma GCC unroll 4
    for (int round = 0; round < 4; round++) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            w[2 * i] = SL_BIT_LOW(v[i], v[i + 8]);
            w[2 * i + 1] = SL_BIT_HIGH(v[i], v[i + 8]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) v[i] = w[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) memcpy(to + i * to_row, &v[i], 16);
}

/* Items at equal position modulo `pop` become neighbours: to[p * row + k] = in[k * pop + p], for k * pop + p < items. What compilers do themselves where pop is a power of two is faster than this. */
SL_FN __attribute__((always_inline)) void sl_bit_phases(const uint8_t *restrict in, const long pop, const long items, const long row, uint8_t *restrict to)
{
    const long rows = items / pop;
    long k = 0;
#ifdef SL_BIT_PLACES
    if (pop <= SL_BIT_MOST && (pop & (pop - 1)) != 0) {
        const sl_bit_lanes number = sl_bit_numbers();
        for (; k + 4 * SL_LANES <= rows; k += 4 * SL_LANES) {
            sl_bit_lanes v[SL_BIT_MOST];
#pragma GCC unroll 12
            for (long i = 0; i < pop; i++) v[i] = sl_bit_sixteens(in + k * pop + 16 * i, 16 * pop);
#pragma GCC unroll 12
            for (long p = 0; p < pop; p++) {
                sl_bit_lanes r = {0};
#pragma GCC unroll 12
                for (long i = 0; i < pop; i++) {
                    const sl_bit_lanes at = number * (uint8_t)pop + (uint8_t)(p - 16 * i);
                    r |= SL_BIT_PLACES(v[i], at | ((sl_bit_lanes)(at > 15) & 128));
                }
                memcpy(to + p * row + k, &r, sizeof r);
            }
        }
    }
#endif
    for (; pop >= 16 && k + 16 <= rows; k += 16) {
        for (long p = 0; p < pop;) {
            /* the last square overlaps the one before */
            const long q = p + 16 <= pop ? p : pop - 16;
            sl_bit_square(in + k * pop + q, pop, to + q * row + k, row);
            p = q + 16;
        }
    }
    for (; k < rows; k++)
        for (long p = 0; p < pop; p++) to[p * row + k] = in[k * pop + p];
    for (long i = rows * pop; i < items; i++) to[i % pop * row + i / pop] = in[i];
}

/* The reverse, for `rows` whole rows: out[k * push + p] = from[p * row + k]. */
SL_FN __attribute__((always_inline)) void sl_bit_interleave(const uint8_t *restrict from, const long row, const long push, const long rows, uint8_t *restrict out)
{
    long k = 0;
#ifdef SL_BIT_PLACES
    if (push <= SL_BIT_MOST && (push & (push - 1)) != 0) {
        const sl_bit_lanes number = sl_bit_numbers();
        for (; k + 4 * SL_LANES <= rows; k += 4 * SL_LANES) {
            sl_bit_lanes v[SL_BIT_MOST];
#pragma GCC unroll 12
            for (long p = 0; p < push; p++) memcpy(&v[p], from + p * row + k, sizeof v[p]);
#pragma GCC unroll 12
            for (long i = 0; i < push; i++) {
                /* which round an item is of, and which of it */
                const sl_bit_lanes at = number + (uint8_t)(16 * i), round = at / (uint8_t)push, which = at % (uint8_t)push;
                sl_bit_lanes r = {0};
#pragma GCC unroll 12
                for (long p = 0; p < push; p++) r |= SL_BIT_PLACES(v[p], round | ((sl_bit_lanes)(which != (uint8_t)p) & 128));
#pragma GCC unroll 4
                for (int part = 0; part < SL_LANES / 4; part++) memcpy(out + (k + 16 * part) * push + 16 * i, (const char *)&r + 16 * part, 16);
            }
        }
    }
#endif
    for (; push >= 16 && k + 16 <= rows; k += 16) {
        for (long p = 0; p < push;) {
            const long q = p + 16 <= push ? p : push - 16;
            sl_bit_square(from + q * row + k, row, out + k * push + q, push);
            p = q + 16;
        }
    }
    for (; k < rows; k++)
        for (long p = 0; p < push; p++) out[k * push + p] = from[p * row + k];
}

#endif
