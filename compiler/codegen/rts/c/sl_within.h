/* The items of a firing side by side in the machine's vectors: `w` neighbouring words, and where a vector has room for more, those of the firings that follow, whose items lie `far` apart.
 * Only in programs that have such firings; SL_WITHIN says that it pays here (measured for vectors of 16 lanes, and for gcc). */
#ifndef SL_WITHIN_H
#define SL_WITHIN_H

#include "sl_squares.h"

#ifdef SL_HALVES
#define SL_WITHIN
typedef float sl_vf_quarter __attribute__((vector_size(SL_LANES)));

/* The first w lanes. */
#define SL_FIRST(w) ((short)((1u << (w)) - 1))

/* There are `room` words at p, at least w. */
SL_FN __attribute__((always_inline)) sl_vf sl_vf_items(const float *p, const long far, const int w, const long room)
{
    if (w * 4 == SL_LANES) {
        sl_vf_quarter a, b, c, d;
        memcpy(&a, p, sizeof a);
        memcpy(&b, p + far, sizeof b);
        memcpy(&c, p + 2 * far, sizeof c);
        memcpy(&d, p + 3 * far, sizeof d);
        sl_vf v = __builtin_ia32_ps512_ps(a);
        v = __builtin_ia32_insertf32x4_mask(v, b, 1, v, -1);
        v = __builtin_ia32_insertf32x4_mask(v, c, 2, v, -1);
        return __builtin_ia32_insertf32x4_mask(v, d, 3, v, -1);
    }
    if (w * 2 == SL_LANES) return sl_vf_halves(p, p + far);
    if (room >= SL_LANES) return sl_vf_load(p);
    return __builtin_ia32_loadups512_mask(p, (sl_vf){0}, SL_FIRST(w));
}
/* One word in all lanes of its firing. */
SL_FN __attribute__((always_inline)) sl_vf sl_vf_same(const float *p, const long far, const int w)
{
    if (w * 2 > SL_LANES) return sl_vf_splat(*p);
    /* of a loop gcc makes parts, which it puts together in memory */
    sl_vf v = sl_vf_splat(*p);
#pragma GCC unroll 16
    for (int i = 1; i * w < SL_LANES; i++) v = __builtin_ia32_blendmps_512_mask(v, sl_vf_splat(p[i * far]), (uint16_t)(0xFFFFu << i * w));
    return v;
}
SL_FN __attribute__((always_inline)) void sl_vf_put(float *p, const long far, const int w, sl_vf v)
{
    if (w * 4 == SL_LANES) {
#define SL_PUT_QUARTER(i) \
    { \
        const sl_vf_quarter a = __builtin_ia32_extractf32x4_mask(v, i, (sl_vf_quarter){0}, -1); \
        memcpy(p + (i) * far, &a, sizeof a); \
    }
        SL_PUT_QUARTER(0) SL_PUT_QUARTER(1) SL_PUT_QUARTER(2) SL_PUT_QUARTER(3)
#undef SL_PUT_QUARTER
    } else if (w * 2 == SL_LANES) {
        const sl_vd_half a = __builtin_ia32_extractf64x4_mask((sl_vd)v, 0, (sl_vd_half){0}, -1);
        const sl_vd_half b = __builtin_ia32_extractf64x4_mask((sl_vd)v, 1, (sl_vd_half){0}, -1);
        memcpy(p, &a, sizeof a);
        memcpy(p + far, &b, sizeof b);
    } else if (w < SL_LANES) {
        __builtin_ia32_storeups512_mask(p, v, SL_FIRST(w));
    } else {
        sl_vf_store(p, v);
    }
}
#endif

#endif
