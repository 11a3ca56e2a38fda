/* The angle of a point in single precision, atan2f, and atanf by it: Sluice's own, so that they are the same bits in every lane of a vector, on every machine and with every C library.
 * The same operations as sluice_frontend::cmath, one by one: doubles, rounded once at the end (to within 2^-40 of the angle, so that nearly all results are the float nearest to it).
 *
 * The quotient of the lesser by the greater of |y| and |x| is at most 1; beyond tan(pi/8) it is turned back by pi/4, and what is left is at most that. The odd polynomial's coefficients are
 * the least greatest relative error for it. Infinite numbers become 2^300: beside them every finite float vanishes. */
#ifndef SL_ANGLE_H
#define SL_ANGLE_H

#define SL_ANGLE_FAR 0x1.a827999fcef32p-2 /* tan(pi/8) */
#define SL_ANGLE_QUARTER 0x1.921fb54442d18p-1 /* pi/4 */
#define SL_ANGLE_HALF 0x1.921fb54442d18p+0
#define SL_ANGLE_WHOLE 0x1.921fb54442d18p+1
#define SL_ANGLE_1 -0x1.5555554eff9cap-2
#define SL_ANGLE_2 0x1.99999218bbaeap-3
#define SL_ANGLE_3 -0x1.2490c73d92348p-3
#define SL_ANGLE_4 0x1.c6d27e140b766p-4
#define SL_ANGLE_5 -0x1.7087bd1e8766dp-4
#define SL_ANGLE_6 0x1.1e71f9210c676p-4
#define SL_ANGLE_7 -0x1.36f68687f8577p-5

SL_FN float sl_atan2f(float y, float x)
{
    double ay = __builtin_fabs((double)y), ax = __builtin_fabs((double)x);
    ay = ay > 0x1p300 ? 0x1p300 : ay;
    ax = ax > 0x1p300 ? 0x1p300 : ax;
    const int steep = ay > ax;
    const double a = steep ? ax : ay, b = steep ? ay : ax;
    const int far = a > SL_ROUNDED(b * SL_ANGLE_FAR);
    const double up = far ? a - b : a, down = far ? a + b : b;
    const double u = up / (down == 0 ? 1.0 : down), z = SL_ROUNDED(u * u), zz = SL_ROUNDED(z * z);
    /* the polynomial by pairs: a shorter way from the first operation to the last */
    const double low = SL_ANGLE_1 + SL_ROUNDED(z * SL_ANGLE_2), middle = SL_ANGLE_3 + SL_ROUNDED(z * SL_ANGLE_4);
    const double high = SL_ANGLE_5 + SL_ROUNDED(z * SL_ANGLE_6), top = high + SL_ROUNDED(zz * SL_ANGLE_7);
    const double p = (low + SL_ROUNDED(middle * zz)) + SL_ROUNDED(top * SL_ROUNDED(zz * zz));
    double r = u + SL_ROUNDED(SL_ROUNDED(u * z) * p);
    r = far ? SL_ANGLE_QUARTER + r : r;
    r = steep ? SL_ANGLE_HALF - r : r;
    r = __builtin_signbit(x) ? SL_ANGLE_WHOLE - r : r;
    return __builtin_copysignf((float)r, y);
}
SL_FN float sl_atanf(float x) { return sl_atan2f(x, 1.0f); }

#endif
