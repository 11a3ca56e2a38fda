/* Division of ints in lanes; only in programs that have some. */
#ifndef SL_DIVIDE_H
#define SL_DIVIDE_H

#include "sl_wide.h"

SL_EACH_LANE(sl_vi, sl_vi_div_each(sl_vi a, sl_vi b), sl_div(a[l], b[l]))
SL_EACH_LANE(sl_vi, sl_vi_rem_each(sl_vi a, sl_vi b), sl_rem(a[l], b[l]))

#if SL_LANES >= 8 && defined(__GNUC__)
/* Processors divide ints one by one, but doubles side by side. The quotient of two ints as doubles, cut off, is that of the ints: where it is not whole it is farther from a whole number than a
 * double's last bit, for both are below 2^31. INT32_MIN by -1 gives 2^31, of which the processor makes INT32_MIN, as the language has it. */
#if SL_LANES == 16
typedef int32_t sl_wide_ints __attribute__((vector_size(32)));
#define SL_WIDE_OF_INTS(a) __builtin_ia32_cvtdq2pd512_mask(a, (sl_wide_doubles){0}, -1)
#define SL_WIDE_CUT(a) __builtin_ia32_cvttpd2dq512_mask(a, (sl_wide_ints){0}, -1, 4)
#else
typedef int32_t sl_wide_ints __attribute__((vector_size(16)));
#define SL_WIDE_OF_INTS(a) __builtin_ia32_cvtdq2pd256(a)
#define SL_WIDE_CUT(a) __builtin_ia32_cvttpd2dq256(a)
#endif
#ifdef __clang__
#undef SL_WIDE_OF_INTS
#define SL_WIDE_OF_INTS(a) __builtin_convertvector(a, sl_wide_doubles)
#endif
SL_FN __attribute__((always_inline)) sl_wide_floats sl_wide_div(sl_wide_floats a, sl_wide_floats b)
{
    const sl_wide_doubles quotient = SL_WIDE_OF_INTS((sl_wide_ints)a) / SL_WIDE_OF_INTS((sl_wide_ints)b);
    return (sl_wide_floats)SL_WIDE_CUT(quotient);
}
SL_FN __attribute__((always_inline)) sl_vi sl_vi_div(sl_vi a, sl_vi b)
{
    /* by a constant, compilers multiply */
    if (__builtin_constant_p(b[0])) return sl_vi_div_each(a, b);
    const sl_wide_floats low = sl_wide_div(sl_wide_low((sl_vf)a), sl_wide_low((sl_vf)b));
    return (sl_vi)sl_wide_joined(low, sl_wide_div(sl_wide_high((sl_vf)a), sl_wide_high((sl_vf)b)));
}
SL_FN __attribute__((always_inline)) sl_vi sl_vi_rem(sl_vi a, sl_vi b)
{
    if (__builtin_constant_p(b[0])) return sl_vi_rem_each(a, b);
    return a - sl_vi_div(a, b) * b;
}
#else
SL_FN sl_vi sl_vi_div(sl_vi a, sl_vi b) { return sl_vi_div_each(a, b); }
SL_FN sl_vi sl_vi_rem(sl_vi a, sl_vi b) { return sl_vi_rem_each(a, b); }
#endif

#endif
