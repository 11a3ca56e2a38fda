/* Calls every function of sl_math.h (as C) or of sl_device_math.h (as C++) on special values, crossed, and on random ones, and prints for each a
 * sum over the bits of all results, where all NaNs are one. The header stands before this text. */
#include <stdio.h>

enum { RANDOM = 4000 };

static uint64_t dice = 12345;
static uint32_t roll(void)
{
    dice += 0x9e3779b97f4a7c15ull;
    uint64_t z = dice;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 32);
}

static const uint32_t FLOATS[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3effffff, 0x3f000000, 0xbf000000, 0xbeffffff, 0x3f800000, 0xbf800000,
    0x3f800001, 0xbf7fffff, 0x3fc00000, 0xbfc00000, 0x40200000, 0x40490fdb, 0xc2c80000, 0x4afffffe, 0x4affffff, 0x4b000000, 0xcb7fffff, 0x4effffff,
    0x4f000000, 0xcf000000, 0xcf000001, 0x5f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00123};
static const int32_t INTS[] = {0, 1, -1, 2, -2, 3, 7, 31, 32, 33, -31, -32, 255, 65536, 1000003, -1000003, INT32_MAX, INT32_MAX - 1, INT32_MIN, INT32_MIN + 1};
#define FLOAT_COUNT (sizeof FLOATS / sizeof *FLOATS)
#define INT_COUNT (sizeof INTS / sizeof *INTS)
#define FLOAT_PAIRS (FLOAT_COUNT * FLOAT_COUNT + RANDOM)
#define INT_PAIRS (INT_COUNT * INT_COUNT + RANDOM)
#define FOURS (20736 + RANDOM)

static float pairs[FLOAT_PAIRS][2], fours[FOURS][4];
static double double_pairs[FLOAT_PAIRS][2];
static int32_t int_pairs[INT_PAIRS][2];

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* every bit pattern, or one of ordinary size */
static float any_float(void)
{
    uint32_t bits = roll();
    return float_of(roll() & 1 ? bits : (bits & 0x87ffffff) + 0x3b000000);
}
static double double_of(float x)
{
    uint64_t bits;
    double y = x;
    memcpy(&bits, &y, sizeof y);
    bits ^= roll() & 1 ? roll() : 0;
    memcpy(&y, &bits, sizeof y);
    return y;
}

static uint64_t sum;
static void add_bits(uint64_t bits) { sum = (sum ^ bits) * 0x100000001b3ull ^ sum >> 31; }
static void add_int(int32_t x) { add_bits((uint32_t)x); }
static void add_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    add_bits(x != x ? 0x7fc00000 : bits);
}
static void add_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    add_bits(x != x ? 0x7ff8000000000000ull : bits);
}
static void add_complex(sl_complex c)
{
    add_float(c.re);
    add_float(c.im);
}
static void add_float2(sl_float2 v)
{
    add_float(v.x);
    add_float(v.y);
}
static void add_float3(sl_float3 v)
{
    add_float(v.x);
    add_float(v.y);
    add_float(v.z);
}
static void add_float4(sl_float4 v)
{
    add_float(v.x);
    add_float(v.y);
    add_float(v.z);
    add_float(v.w);
}
static void print(const char *name)
{
    printf("%s %016llx\n", name, (unsigned long long)sum);
    sum = 0;
}

#define EACH(count, name, what) \
    for (size_t i = 0; i < count; i++) { what; } \
    print(name);
#define INT1(f) EACH(INT_PAIRS, #f, add_int(f(int_pairs[i][0])))
#define INT2(f) EACH(INT_PAIRS, #f, add_int(f(int_pairs[i][0], int_pairs[i][1])))
#define FLOAT1(g) EACH(FLOAT_PAIRS, "sl_" #g "f", add_float(sl_##g##f(pairs[i][0]))) EACH(FLOAT_PAIRS, "sl_" #g, add_double(sl_##g(double_pairs[i][0])))
#define FLOAT2(g) \
    EACH(FLOAT_PAIRS, "sl_" #g "f", add_float(sl_##g##f(pairs[i][0], pairs[i][1]))) EACH(FLOAT_PAIRS, "sl_" #g, add_double(sl_##g(double_pairs[i][0], double_pairs[i][1])))
#define COMPLEX1(f) EACH(FLOAT_PAIRS, #f, add_complex(f(sl_complex_of(pairs[i][0], pairs[i][1]))))
#define COMPLEX2(f) EACH(FOURS, #f, add_complex(f(sl_complex_of(fours[i][0], fours[i][1]), sl_complex_of(fours[i][2], fours[i][3]))))
#define VECTORS(op) \
    EACH(FOURS, "sl_float2_" #op, add_float2(sl_float2_##op(sl_float2_of(fours[i][0], fours[i][1]), sl_float2_of(fours[i][2], fours[i][3])))) \
    EACH(FOURS, "sl_float3_" #op, \
         add_float3(sl_float3_##op(sl_float3_of(fours[i][0], fours[i][1], fours[i][2]), sl_float3_of(fours[i][3], fours[i][1], fours[i][0])))) \
    EACH(FOURS, "sl_float4_" #op, \
         add_float4(sl_float4_##op(sl_float4_of(fours[i][0], fours[i][1], fours[i][2], fours[i][3]), \
                                   sl_float4_of(fours[i][3], fours[i][2], fours[i][0], fours[i][1]))))

static void ints(void)
{
    EACH(INT_PAIRS, "sl_div", if (int_pairs[i][1]) add_int(sl_div(int_pairs[i][0], int_pairs[i][1])))
    EACH(INT_PAIRS, "sl_rem", if (int_pairs[i][1]) add_int(sl_rem(int_pairs[i][0], int_pairs[i][1])))
    INT2(sl_shl)
    INT2(sl_shr)
    INT2(sl_mini)
    INT2(sl_maxi)
    INT1(sl_absi)
    EACH(FLOAT_PAIRS, "sl_float_to_int", add_int(sl_float_to_int(pairs[i][0])))
    EACH(FLOAT_PAIRS, "sl_double_to_int", add_int(sl_double_to_int(double_pairs[i][0])))
    /* -0 must not come of it */
    EACH(FLOAT_PAIRS, "int_and_back", add_float((float)sl_float_to_int(pairs[i][0])); add_double((double)sl_double_to_int(double_pairs[i][0])))
    EACH(INT_PAIRS, "zero_minus_int", add_float(sl_zero_minusf((float)int_pairs[i][0])); add_double(sl_zero_minus((double)int_pairs[i][0])))
}

static void floats(void)
{
    EACH(FLOAT_PAIRS, "sl_zero_minusf", add_float(sl_zero_minusf(pairs[i][0])))
    EACH(FLOAT_PAIRS, "sl_zero_minus", add_double(sl_zero_minus(double_pairs[i][0])))
    FLOAT2(min)
    FLOAT2(max)
    FLOAT2(atan2)
    FLOAT2(fmod)
    FLOAT2(pow)
    FLOAT1(acos)
    FLOAT1(acosh)
    FLOAT1(asin)
    FLOAT1(asinh)
    FLOAT1(atan)
    FLOAT1(atanh)
    FLOAT1(cos)
    FLOAT1(cosh)
    FLOAT1(exp)
    FLOAT1(expm1)
    FLOAT1(log)
    FLOAT1(log10)
    FLOAT1(sin)
    FLOAT1(sinh)
    FLOAT1(tan)
    FLOAT1(tanh)
    FLOAT1(fabs)
    FLOAT1(floor)
    FLOAT1(ceil)
    FLOAT1(rint)
    FLOAT1(round)
    FLOAT1(sqrt)
}

static void composites(void)
{
    COMPLEX2(sl_complex_add)
    COMPLEX2(sl_complex_sub)
    COMPLEX2(sl_complex_mul)
    COMPLEX2(sl_complex_div)
    EACH(FOURS, "sl_complex_eq", add_int(sl_complex_eq(sl_complex_of(fours[i][0], fours[i][1]), sl_complex_of(fours[i][2], fours[i][3]))))
    EACH(FLOAT_PAIRS, "sl_complex_abs", add_float(sl_complex_abs(sl_complex_of(pairs[i][0], pairs[i][1]))))
    EACH(FLOAT_PAIRS, "sl_complex_arg", add_float(sl_complex_arg(sl_complex_of(pairs[i][0], pairs[i][1]))))
    COMPLEX1(sl_complex_neg)
    COMPLEX1(sl_complex_exp)
    COMPLEX1(sl_complex_log)
    COMPLEX1(sl_complex_sin)
    COMPLEX1(sl_complex_cos)
    COMPLEX1(sl_complex_sqrt)
    VECTORS(add)
    VECTORS(sub)
    VECTORS(mul)
    VECTORS(div)
    EACH(FOURS, "neg_all", add_float2(sl_float2_neg(sl_float2_of(fours[i][0], fours[i][1])));
         add_float3(sl_float3_neg(sl_float3_of(fours[i][0], fours[i][1], fours[i][2])));
         add_float4(sl_float4_neg(sl_float4_of(fours[i][0], fours[i][1], fours[i][2], fours[i][3]))); add_float2(sl_float2_all(fours[i][0]));
         add_float3(sl_float3_all(fours[i][1])); add_float4(sl_float4_all(fours[i][2])))
    /* the pairs that a compiler may want to fuse */
    EACH(FOURS, "rotation", sl_complex c = sl_complex_mul(sl_complex_of(fours[i][0], fours[i][1]), sl_complex_of(fours[i][2], fours[i][3]));
         add_complex(sl_complex_add(c, sl_complex_mul(sl_complex_of(fours[i][1], fours[i][3]), sl_complex_of(fours[i][2], fours[i][0])))))
    EACH(FOURS, "products", add_float(SL_ROUNDED(fours[i][0] * fours[i][1]) - fours[i][2]); add_float(SL_ROUNDED(fours[i][3] * fours[i][1]) + fours[i][2]))
    EACH(FOURS, "sums", add_float4(sl_float4_add(sl_float4_mul(sl_float4_all(fours[i][0]), sl_float4_of(fours[i][0], fours[i][1], fours[i][2], fours[i][3])),
                                               sl_float4_all(fours[i][3]))))
}

/* Arrays of numbers and nothing else in the loop: where compilers use vectors. */
static sl_complex left[FOURS], right[FOURS], product[FOURS], quotient[FOURS];
static void arrays(void)
{
    for (size_t i = 0; i < FOURS; i++) left[i] = sl_complex_of(fours[i][0], fours[i][1]), right[i] = sl_complex_of(fours[i][2], fours[i][3]);
    for (size_t i = 0; i < FOURS; i++) product[i] = sl_complex_mul(left[i], right[i]);
    for (size_t i = 0; i < FOURS; i++) quotient[i] = sl_complex_div(left[i], right[i]);
    EACH(FOURS, "products in arrays", add_complex(product[i]))
    EACH(FOURS, "quotients in arrays", add_complex(quotient[i]))
}

int main(void)
{
    size_t n = 0;
    for (size_t a = 0; a < FLOAT_COUNT; a++)
        for (size_t b = 0; b < FLOAT_COUNT; b++, n++) pairs[n][0] = float_of(FLOATS[a]), pairs[n][1] = float_of(FLOATS[b]);
    for (; n < FLOAT_PAIRS; n++) pairs[n][0] = any_float(), pairs[n][1] = any_float();
    for (size_t i = 0; i < n; i++) double_pairs[i][0] = double_of(pairs[i][0]), double_pairs[i][1] = double_of(pairs[i][1]);
    n = 0;
    for (size_t a = 0; a < INT_COUNT; a++)
        for (size_t b = 0; b < INT_COUNT; b++, n++) int_pairs[n][0] = INTS[a], int_pairs[n][1] = INTS[b];
    for (; n < INT_PAIRS; n++) int_pairs[n][0] = (int32_t)roll(), int_pairs[n][1] = (int32_t)(roll() >> roll() % 32);
    for (n = 0; n < 20736; n++)
        for (size_t k = 0, of = n; k < 4; k++, of /= 12) fours[n][k] = float_of(FLOATS[of % 12 * 3 + (of % 12 == 11)]);
    for (; n < FOURS; n++)
        for (size_t k = 0; k < 4; k++) fours[n][k] = any_float();
    ints();
    floats();
    composites();
    arrays();
    return 0;
}
