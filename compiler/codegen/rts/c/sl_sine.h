/* Sine, cosine and tangent of floats, sinf, cosf and tanf: Sluice's own, so that they are the same bits in every lane of a vector, on every machine and with every C library.
 * The same operations as sluice_frontend::cmath::sine, one by one: doubles, rounded once at the end (to within 2^-42 of the result, so that nearly all results are the float nearest to it).
 *
 * |x| is so many quarters of a turn and what is left, at most pi/4. Below 2^20 the quarters are a double's product, and pi/2 is taken in two parts, of which the first has so few
 * bits that the product with it is exact (Cody and Waite). From there on an integer's product with those bits of 2/pi that are not whole turns (Payne and Hanek). The polynomials'
 * coefficients are those of the least greatest relative error. */
#ifndef SL_SINE_H
#define SL_SINE_H

#define SL_SINE_FAR 0x49800000 /* the bits of 2^20 */
#define SL_SINE_QUARTERS 0x1.45f306dc9c883p-1 /* 2/pi */
#define SL_SINE_FIRST 0x1.921fb544p+0 /* pi/2: 33 bits, and the others */
#define SL_SINE_SECOND 0x1.0b4611a626331p-34
#define SL_SINE_1 -0x1.5555555552233p-3
#define SL_SINE_2 0x1.1111110c86bb6p-7
#define SL_SINE_3 -0x1.a019f938c2c25p-13
#define SL_SINE_4 0x1.71d76cbd0a219p-19
#define SL_SINE_5 -0x1.a96180a573ffep-26
#define SL_COSINE_1 0x1.5555554f4e4c2p-5
#define SL_COSINE_2 -0x1.6c16b898d21c1p-10
#define SL_COSINE_3 0x1.a011202b88fd2p-16
#define SL_COSINE_4 -0x1.242ad6db54b72p-22

/* So many quarters of a turn, modulo 4, and the sine and cosine of what is left. */
typedef struct { int quarters; double sine, cosine; } sl_sines;

/* What is left beyond the quarters of |x|, 2^20 or more, of these bits. */
SL_FN double sl_sine_far(uint32_t bits, int *quarters)
{
    /* from 2^31 on */
    static const uint32_t two_over_pi[] = {
        0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    };
    const uint64_t m = (bits & 0x7fffff) | 0x800000;
    /* of the bits whose product with the float's last place is 2, 1, 1/2 and so on the first 128 */
    const int at = (int)(bits >> 23 & 255) - 120;
    uint64_t p[4];
    for (int i = 0; i < 4; i++) {
        const uint64_t pair = (uint64_t)two_over_pi[at / 32 + i] << 32 | two_over_pi[at / 32 + i + 1];
        p[i] = m * (pair << at % 32 >> 32);
    }
    const uint64_t low = p[3] + (p[2] << 32);
    const uint64_t high = p[1] + (p[2] >> 32) + (p[0] << 32) + (low < p[3]);
    const uint64_t nearest = (high + ((uint64_t)1 << 61)) >> 62;
    *quarters = (int)nearest;
    const double left = (double)(int64_t)(high - (nearest << 62)) + (double)low * 0x1p-64;
    return left * 0x1.921fb54442d18p-62;
}
SL_FN sl_sines sl_sines_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0x7fffffff;
    sl_sines of;
    double left;
    if (!SL_UNLIKELY(bits >= SL_SINE_FAR)) {
        const double size = __builtin_fabs((double)x), n = __builtin_rint(size * SL_SINE_QUARTERS);
        left = size - SL_ROUNDED(n * SL_SINE_FIRST) - SL_ROUNDED(n * SL_SINE_SECOND);
        of.quarters = (int)n;
    } else {
        left = sl_sine_far(bits, &of.quarters);
    }
    const double z = SL_ROUNDED(left * left), zz = SL_ROUNDED(z * z);
    /* the polynomials by pairs: a shorter way from the first operation to the last */
    const double low = SL_SINE_1 + SL_ROUNDED(z * SL_SINE_2), high = SL_SINE_3 + SL_ROUNDED(z * SL_SINE_4);
    const double p = low + SL_ROUNDED(zz * (high + SL_ROUNDED(zz * SL_SINE_5)));
    of.sine = left + SL_ROUNDED(SL_ROUNDED(left * z) * p);
    const double first = SL_COSINE_1 + SL_ROUNDED(z * SL_COSINE_2), second = SL_COSINE_3 + SL_ROUNDED(z * SL_COSINE_4);
    const double q = first + SL_ROUNDED(zz * second);
    of.cosine = 1 - SL_ROUNDED(0.5 * z) + SL_ROUNDED(zz * q);
    return of;
}
SL_FN int sl_is_no_angle(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x7fffffff) >= 0x7f800000;
}
/* Registers of one number: compilers take a number's bits to an int's register and back, a dozen of cycles at the end of what a firing may have to wait for. */
typedef double sl_sine_double __attribute__((vector_size(16)));
typedef uint64_t sl_sine_mask __attribute__((vector_size(16)));
typedef float sl_sine_float __attribute__((vector_size(16)));
typedef uint32_t sl_sine_turn __attribute__((vector_size(16)));

/* Of an odd number the first, of an even one the second: by masks, for nobody can tell beforehand which it will be */
SL_FN double sl_sine_odd(int of, double first, double second)
{
    const sl_sine_mask mask = {(uint64_t)0 - (uint64_t)(of & 1), 0};
    const sl_sine_double a = {first, 0}, b = {second, 0};
    const sl_sine_double one = (sl_sine_double)(((sl_sine_mask)a & mask) | ((sl_sine_mask)b & ~mask));
    return one[0];
}
/* As a float, turned round where the lowest bit of `negative` is set. */
SL_FN float sl_sine_signed(double x, uint32_t negative)
{
    const sl_sine_float of = {(float)x, 0, 0, 0};
    const sl_sine_turn sign = {negative << 31, 0, 0, 0};
    const sl_sine_float turned = (sl_sine_float)((sl_sine_turn)of ^ sign);
    return turned[0];
}
SL_FN uint32_t sl_sine_sign(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31;
}
SL_FN float sl_sinf(float x)
{
    if (SL_UNLIKELY(sl_is_no_angle(x))) return __builtin_nanf("");
    const sl_sines of = sl_sines_of(x);
    return sl_sine_signed(sl_sine_odd(of.quarters, of.cosine, of.sine), (uint32_t)of.quarters >> 1 ^ sl_sine_sign(x));
}
SL_FN float sl_cosf(float x)
{
    if (SL_UNLIKELY(sl_is_no_angle(x))) return __builtin_nanf("");
    const sl_sines of = sl_sines_of(x);
    return sl_sine_signed(sl_sine_odd(of.quarters, of.sine, of.cosine), (uint32_t)(of.quarters + 1) >> 1);
}
SL_FN float sl_tanf(float x)
{
    if (SL_UNLIKELY(sl_is_no_angle(x))) return __builtin_nanf("");
    const sl_sines of = sl_sines_of(x);
    const double size = sl_sine_odd(of.quarters, of.cosine, of.sine) / sl_sine_odd(of.quarters, of.sine, of.cosine);
    return sl_sine_signed(size, (uint32_t)of.quarters ^ sl_sine_sign(x));
}

#endif
