/* Few branches side by side: vectors of 4, 8 or 16 of them, as far as the machine's go. sl_s4f holds a float of each of four, sl_s4i an int, or a truth as 0 or -1. The formulas are those of
 * sl_lanes.h. Only in programs that have some. */
#ifndef SL_STREAMS_H
#define SL_STREAMS_H

#if defined(__AVX512F__)
#define SL_STREAM_LANES 16
#elif defined(__AVX__)
#define SL_STREAM_LANES 8
#else
#define SL_STREAM_LANES 4
#endif

/* the first where it is less, or greater: of two zeros, and where one is NaN, the second */
#if defined(__SSE2__) && defined(__GNUC__)
#define SL_S4F_LESSER(a, b) __builtin_ia32_minps(a, b)
#define SL_S4F_GREATER(a, b) __builtin_ia32_maxps(a, b)
#else
#define SL_S4F_LESSER(a, b) sl_s4f_select(a < b, a, b)
#define SL_S4F_GREATER(a, b) sl_s4f_select(a > b, a, b)
#endif
#define SL_S8F_LESSER(a, b) __builtin_ia32_minps256(a, b)
#define SL_S8F_GREATER(a, b) __builtin_ia32_maxps256(a, b)
#if defined(__clang__)
#define SL_S16F_LESSER(a, b) __builtin_ia32_minps512(a, b, 4)
#define SL_S16F_GREATER(a, b) __builtin_ia32_maxps512(a, b, 4)
#else
#define SL_S16F_LESSER(a, b) __builtin_ia32_minps512_mask(a, b, a, -1, 4)
#define SL_S16F_GREATER(a, b) __builtin_ia32_maxps512_mask(a, b, a, -1, 4)
#endif

#define SL_STREAMS(n) \
    typedef float sl_s##n##f __attribute__((vector_size(4 * n))); \
    typedef int32_t sl_s##n##i __attribute__((vector_size(4 * n))); \
    SL_FN sl_s##n##f sl_s##n##f_load(const float *p) { sl_s##n##f v; memcpy(&v, p, sizeof v); return v; } \
    SL_FN sl_s##n##i sl_s##n##i_load(const int32_t *p) { sl_s##n##i v; memcpy(&v, p, sizeof v); return v; } \
    SL_FN void sl_s##n##f_store(float *p, sl_s##n##f v) { memcpy(p, &v, sizeof v); } \
    SL_FN void sl_s##n##i_store(int32_t *p, sl_s##n##i v) { memcpy(p, &v, sizeof v); } \
    SL_FN sl_s##n##f sl_s##n##f_splat(float x) { return x - (sl_s##n##f){0}; } \
    SL_FN sl_s##n##i sl_s##n##i_splat(int32_t x) { return x - (sl_s##n##i){0}; } \
    SL_FN sl_s##n##i sl_s##n##i_select(sl_s##n##i c, sl_s##n##i a, sl_s##n##i b) { return (c & a) | (~c & b); } \
    SL_FN sl_s##n##f sl_s##n##f_select(sl_s##n##i c, sl_s##n##f a, sl_s##n##f b) { return (sl_s##n##f)sl_s##n##i_select(c, (sl_s##n##i)a, (sl_s##n##i)b); } \
    SL_FN sl_s##n##f sl_s##n##f_least(sl_s##n##f a, sl_s##n##f b) { return SL_S##n##F_LESSER(a, b); } \
    SL_FN sl_s##n##f sl_s##n##f_greatest(sl_s##n##f a, sl_s##n##f b) { return SL_S##n##F_GREATER(a, b); } \
    SL_FN sl_s##n##f sl_s##n##f_min(sl_s##n##f a, sl_s##n##f b) { return sl_s##n##f_select(a != a, b, SL_S##n##F_LESSER(b, a)); } \
    SL_FN sl_s##n##f sl_s##n##f_max(sl_s##n##f a, sl_s##n##f b) { return sl_s##n##f_select(a != a, b, SL_S##n##F_GREATER(b, a)); } \
    SL_FN sl_s##n##f sl_s##n##f_abs(sl_s##n##f a) { return (sl_s##n##f)((sl_s##n##i)a & sl_s##n##i_splat(INT32_MAX)); } \
    SL_FN sl_s##n##f sl_s##n##f_sqrt(sl_s##n##f a) { for (int l = 0; l < n; l++) a[l] = sl_sqrtf(a[l]); return a; } \
    SL_FN sl_s##n##i sl_s##n##i_min(sl_s##n##i a, sl_s##n##i b) { return sl_s##n##i_select(b < a, b, a); } \
    SL_FN sl_s##n##i sl_s##n##i_max(sl_s##n##i a, sl_s##n##i b) { return sl_s##n##i_select(b > a, b, a); } \
    SL_FN sl_s##n##i sl_s##n##i_abs(sl_s##n##i a) { return sl_s##n##i_select(a < 0, -a, a); } \
    SL_FN sl_s##n##f sl_s##n##i_to_float(sl_s##n##i a) { return __builtin_convertvector(a, sl_s##n##f); }
SL_STREAMS(4)
#if SL_STREAM_LANES >= 8
SL_STREAMS(8)
#endif
#if SL_STREAM_LANES >= 16
SL_STREAMS(16)
#endif

#endif
