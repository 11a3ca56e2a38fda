//! What lanes have from instructions of the processor: tables of bytes (`sl_lookup.h`), bytes of four vectors (`sl_bytes.h`), bits turned round, words mixed of two, floats rounded and made ints (`sl_lanes.h`), and ints divided
//! (`sl_divide.h`); for processors with and without such instructions, and by each C compiler that there is. Every table length, every place; floats of every size and on both sides of every
//! boundary; ints of every size.
#![allow(clippy::disallowed_methods)] // C is compiled and run

use sluice_codegen::c::rts;
use std::path::Path;
use std::process::Command;

/// Tables as print-lookup makes them; tells the first place that is not what it should be.
const MAIN: &str = r#"
#include <stdio.h>
static int32_t table[256];
static _Alignas(64) uint8_t bytes[768];
static uint32_t random_word(void) { static uint32_t s = 1; s = s * 1664525u + 1013904223u; return s ^ s >> 15; }
static void fill(long n, long padded) {
    memset(bytes, 0, sizeof bytes);
    for (long i = 0; i < n; i++) bytes[i] = (uint8_t)(table[i] = (int32_t)(random_word() & 255));
    for (long i = 0; i < padded; i++)
        for (int side = 0; side < 2; side++)
            bytes[padded + i / 16 * 32 + side * 16 + i % 16] = bytes[i] ^ (i % 64 < 16 ? 0 : bytes[i - 16]);
}
static int tell(long n, int32_t at, int32_t is) { printf("%ld: %x gives %x\n", n, (unsigned)at, (unsigned)is); return 1; }
/* Places within the wanted bytes, anything in the others. */
static int32_t place(long n, int32_t wanted) {
    uint32_t w = random_word();
    for (int bit = 0; bit < 32; bit += 8)
        if (wanted >> bit & 1) w = (w & ~(255u << bit)) | (w >> bit & 255) % (uint32_t)n << bit;
    return (int32_t)w;
}
#define WANTED(mask) \
    for (int round = 0; round < 64; round++) { \
        sl_vi at; \
        for (int l = 0; l < SL_LANES; l++) at[l] = place(n, (int32_t)(mask)); \
        const sl_vi is = sl_vi_lookup_each(bytes, table, n, at, (int32_t)(mask)); \
        for (int l = 0; l < SL_LANES; l++) { \
            uint32_t right = 0; \
            for (int bit = 0; bit < 32; bit += 8) \
                if ((mask) >> bit & 1) right |= (uint32_t)table[at[l] >> bit & 255] << bit; \
            if ((uint32_t)is[l] != right) return tell(n, at[l], is[l]); \
        } \
    }
/* each in a function of its own */
#define LENGTH(length) \
    static __attribute__((noinline)) int length_##length(void) \
    { \
        enum { n = length }; \
        fill(n, n <= 64 ? 64 : n <= 128 ? 128 : 256); \
        for (int first = 0; first < n; first++) { \
            sl_vi at; \
            for (int l = 0; l < SL_LANES; l++) at[l] = (first + l * 5) % n; \
            const sl_vi is = sl_vi_lookup_bytes(bytes, table, n, at); \
            for (int l = 0; l < SL_LANES; l++) \
                if (is[l] != table[at[l]]) return tell(n, at[l], is[l]); \
        } \
        WANTED(0xFFFFFFFFu) WANTED(0xFF00FF00u) WANTED(0x0000FFFFu) WANTED(0xFFFF00FFu) \
        return 0; \
    }
#define TURN(n) \
    { \
        sl_vi x; \
        for (int l = 0; l < SL_LANES; l++) x[l] = (int32_t)random_word(); \
        const sl_vi is = sl_vi_rotl(x, n); \
        for (int l = 0; l < SL_LANES; l++) \
            if ((uint32_t)is[l] != ((uint32_t)x[l] << n | (uint32_t)x[l] >> (32 - n))) return tell(n, x[l], is[l]); \
    }
#define MIXED(mask) \
    { \
        sl_vi a, b; \
        for (int l = 0; l < SL_LANES; l++) a[l] = (int32_t)random_word(), b[l] = (int32_t)random_word(); \
        const sl_vi is = sl_vi_mixed(a, b, (int32_t)(mask)); \
        for (int l = 0; l < SL_LANES; l++) \
            if (is[l] != ((a[l] & (int32_t)(mask)) | (b[l] & ~(int32_t)(mask)))) return tell((long)(mask), a[l], is[l]); \
    }
LENGTH(1) LENGTH(16) LENGTH(17) LENGTH(64) LENGTH(65) LENGTH(100) LENGTH(128) LENGTH(129) LENGTH(192) LENGTH(200) LENGTH(256)
int main(void)
{
    TURN(1) TURN(7) TURN(8) TURN(9) TURN(15) TURN(16) TURN(17) TURN(23) TURN(24) TURN(25) TURN(31)
    MIXED(0xFF000000u) MIXED(0x00FF00FFu) MIXED(0x000000FFu) MIXED(0x7FFFFFFFu) MIXED(0x00FF01FFu) MIXED(0x01010101u) MIXED(0xFFFFFF00u)
    if (length_1() || length_16() || length_17() || length_64() || length_65() || length_100() || length_128() || length_129() || length_192() || length_200() || length_256()) return 1;
    puts("right");
    return 0;
}
"#;

/// Rounds, cuts off and divides, and compares with what is done one by one.
const NUMBERS: &str = r#"
#include <stdio.h>
extern float roundf(float);
static uint32_t random_word(void) { static uint32_t s = 1; s = s * 1664525u + 1013904223u; return s ^ s >> 15; }
static int same(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }
static int of(uint32_t first, uint32_t step)
{
    sl_vi bits;
    for (int l = 0; l < SL_LANES; l++) bits[l] = (int32_t)(first + (uint32_t)l * step);
    const sl_vf x = (sl_vf)bits, rounded = sl_vf_round(x);
    const sl_vi whole = sl_vf_to_int(x);
    /* beside one of many, itself, and its opposite, in either order */
    static const float others[] = {0.0f, -0.0f, 1.5f, -3e9f, SL_NAN_F, SL_INF_F, -SL_INF_F};
    for (int i = 0; i < 9; i++) {
        const sl_vf y = i < 7 ? sl_vf_splat(others[i]) : i < 8 ? x : -x;
        const sl_vf less[2] = {sl_vf_min(x, y), sl_vf_min(y, x)}, more[2] = {sl_vf_max(x, y), sl_vf_max(y, x)};
        for (int l = 0; l < SL_LANES; l++) {
            for (int turned = 0; turned < 2; turned++) {
                const float a = turned ? y[l] : x[l], b = turned ? x[l] : y[l];
                const float wanted = a != a ? b : b != b ? a : b < a ? b : a, most = a != a ? b : b != b ? a : b > a ? b : a;
                if (!same(less[turned][l], wanted) || !same(sl_minf(a, b), wanted)) { printf("min(%a, %a) gives %a\n", a, b, less[turned][l]); return 1; }
                if (!same(more[turned][l], most) || !same(sl_maxf(a, b), most)) { printf("max(%a, %a) gives %a\n", a, b, more[turned][l]); return 1; }
            }
        }
    }
    for (int l = 0; l < SL_LANES; l++) {
        volatile float one = x[l];
        if (!same(rounded[l], roundf(one))) { printf("round(%a) gives %a\n", one, rounded[l]); return 1; }
        if (whole[l] != sl_float_to_int(one)) { printf("(int) %a gives %d\n", one, (int)whole[l]); return 1; }
    }
    return 0;
}
static int near(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return of(bits - SL_LANES / 2, 1) || of((bits | 1u << 31) - SL_LANES / 2, 1);
}
/* of every size; now and then one at an edge */
static int32_t some(void)
{
    static const int32_t edges[] = {INT32_MIN, INT32_MIN + 1, -2, -1, 0, 1, 2, INT32_MAX - 1, INT32_MAX};
    const uint32_t w = random_word();
    return w % 8 == 0 ? edges[w / 8 % 9] : (int32_t)random_word() >> (w >> 8 & 31);
}
static int32_t no_zero(int32_t x) { return x == 0 ? 1 : x; }
int main(void)
{
    for (uint64_t bits = 0; bits < 1ull << 32; bits += 65521ull * SL_LANES) if (of((uint32_t)bits, 65521)) return 1;
    for (int whole = 0; whole < 5000; whole++) if (near((float)whole) || near((float)whole + 0.5f)) return 1;
    for (int power = 0; power < 40; power++)
        for (int half = -8; half <= 8; half++) if (near((float)(1ull << power) + (float)half * 0.5f)) return 1;
    for (int round = 0; round < 200000; round++) {
        sl_vi a, b;
        for (int l = 0; l < SL_LANES; l++) {
            b[l] = no_zero(some());
            /* and what is nearly a multiple */
            a[l] = l % 2 == 0 ? some() : (int32_t)((uint32_t)b[l] * (random_word() >> 20) + random_word() % 3 - 1);
        }
        const sl_vi quotient = sl_vi_div(a, b), rest = sl_vi_rem(a, b), tenth = sl_vi_div(a, sl_vi_splat(10)), digit = sl_vi_rem(a, sl_vi_splat(10));
        for (int l = 0; l < SL_LANES; l++) {
            if (quotient[l] != sl_div(a[l], b[l]) || rest[l] != sl_rem(a[l], b[l])) { printf("%d by %d gives %d and %d\n", (int)a[l], (int)b[l], (int)quotient[l], (int)rest[l]); return 1; }
            if (tenth[l] != a[l] / 10 || digit[l] != a[l] % 10) { printf("%d by 10 gives %d and %d\n", (int)a[l], (int)tenth[l], (int)digit[l]); return 1; }
        }
    }
    puts("right");
    return 0;
}
"#;

/// Bytes of four vectors, and what is done with them, compared with what is done one by one.
const BYTES: &str = r#"
#include <stdio.h>
enum { ALL = 4 * SL_LANES };
static uint32_t random_word(void) { static uint32_t s = 1; s = s * 1664525u + 1013904223u; return s ^ s >> 15; }
static int tell(const char *what, int l, long is, long wanted) { printf("%s of lane %d gives %lx, not %lx\n", what, l, is, wanted); return 1; }
#define EACH(what, vector, wanted) \
    { \
        const sl_vb is = vector; \
        for (int l = 0; l < ALL; l++) \
            if (is[l] != (uint8_t)(wanted)) return tell(what, l, is[l], (uint8_t)(wanted)); \
    }
#define WIDE(what, vector, wanted) \
    for (int l = 0; l < ALL; l++) { \
        const int u = l / SL_LANES; \
        const sl_vi is[4] = {vector(0), vector(1), vector(2), vector(3)}; \
        if (is[u][l % SL_LANES] != (wanted)) return tell(what, l, is[u][l % SL_LANES], wanted); \
    }
#define SHIFT(n) \
    EACH("left", sl_vb_left(a, n), a[l] << n) EACH("right", sl_vb_right(a, n), a[l] >> n) \
    EACH("bits", sl_vb_bits(a, n, 255 >> n), a[l] >> n) EACH("bit", sl_vb_bits(a, n, 1), a[l] >> n & 1)
#define ELEMENTS(length) \
    { \
        sl_vb at; \
        for (int l = 0; l < ALL; l++) at[l] = (uint8_t)(random_word() >> 8) % length; \
        memset(bytes, 0, sizeof bytes); \
        const long padded = length <= 64 ? 64 : length <= 128 ? 128 : 256; \
        for (long i = 0; i < length; i++) bytes[i] = (uint8_t)random_word(); \
        for (long i = 0; i < padded; i++) \
            for (int side = 0; side < 2; side++) \
                bytes[padded + i / 16 * 32 + side * 16 + i % 16] = bytes[i] ^ (i % 64 < 16 ? 0 : bytes[i - 16]); \
        EACH("element", sl_vb_elements(bytes, length, at), bytes[at[l]]) \
    }
static _Alignas(64) uint8_t bytes[768];
static int round_of(void)
{
    _Alignas(64) int32_t x[ALL], small[ALL], truth[ALL], apart[4 * SL_LANES * 3], other[ALL];
    sl_vb a, b, c;
    for (int l = 0; l < ALL; l++) {
        x[l] = (int32_t)random_word(), small[l] = (int32_t)(random_word() & 255), truth[l] = -(int32_t)(random_word() >> 7 & 1);
        a[l] = (uint8_t)random_word(), b[l] = random_word() & 512 ? a[l] : (uint8_t)random_word(), c[l] = (uint8_t)-(int32_t)(random_word() >> 9 & 1);
        apart[l / SL_LANES * 3 * SL_LANES + l % SL_LANES] = x[l];
    }
#define OF(from) sl_vi_load(from), sl_vi_load(from + SL_LANES), sl_vi_load(from + 2 * SL_LANES), sl_vi_load(from + 3 * SL_LANES)
    EACH("ints", sl_vb_of_ints(OF(x)), x[l]) EACH("small ints", sl_vb_of_small(OF(small)), small[l]) EACH("truths", sl_vb_of_truths(OF(truth)), truth[l])
    EACH("loaded ints", sl_vb_load_ints(apart, 3 * SL_LANES), x[l]) EACH("loaded small ints", sl_vb_load_small(small, SL_LANES), small[l])
#define INTS(u) sl_vi_of_bytes(a, u)
#define TRUTHS(u) sl_vi_of_truths(c, u)
    WIDE("ints of bytes", INTS, a[l]) WIDE("truths of bytes", TRUTHS, c[l] ? -1 : 0)
    sl_vb_store_ints(apart, 3 * SL_LANES, a), sl_vb_store_ints(other, SL_LANES, b);
    for (int l = 0; l < ALL; l++) {
        if (apart[l / SL_LANES * 3 * SL_LANES + l % SL_LANES] != a[l]) return tell("stored", l, apart[l], a[l]);
        if (other[l] != b[l]) return tell("stored", l, other[l], b[l]);
    }
    EACH("splat", sl_vb_splat(x[0]), x[0])
    EACH("choice", sl_vb_select(c, a, b), c[l] ? a[l] : b[l])
    EACH("least", sl_vb_min(a, b), a[l] < b[l] ? a[l] : b[l]) EACH("greatest", sl_vb_max(a, b), a[l] < b[l] ? b[l] : a[l])
    SHIFT(0) SHIFT(1) SHIFT(2) SHIFT(3) SHIFT(4) SHIFT(5) SHIFT(6) SHIFT(7)
    for (volatile int by = 0; by < 8; by++) {
        const int n = by;
        EACH("left by any", sl_vb_left(a, n), a[l] << n) EACH("right by any", sl_vb_right(a, n), a[l] >> n)
    }
    ELEMENTS(1) ELEMENTS(16) ELEMENTS(17) ELEMENTS(64) ELEMENTS(65) ELEMENTS(128) ELEMENTS(129) ELEMENTS(256)
    return 0;
}
int main(void)
{
    for (int round = 0; round < 1000; round++) if (round_of()) return 1;
    puts("right");
    return 0;
}
"#;

/// Processors as below, and the instructions for numbers.
const DIVIDERS: [(&[&str], &str, &[&str]); 5] = [
    (&["-march=x86-64"], "cvttps2dq", &[]),
    (&["-march=x86-64", "-msse4.1"], "roundps", &["sse4_1"]),
    (&["-march=x86-64", "-mavx"], "vdivpd", &["avx"]),
    (&["-march=x86-64", "-mavx2"], "vdivpd", &["avx2"]),
    (&["-march=x86-64", "-mavx512f"], "vrndscaleps", &["avx512f"]),
];

/// Flags for a processor, the instructions that must be in what is made (by gcc; others may know more names), and what the processor's list of flags must have to run it.
const PROCESSORS: [(&[&str], &str, &[&str]); 6] = [
    (&["-march=x86-64"], "", &[]),
    (&["-march=x86-64", "-mssse3"], "pshufb", &["ssse3"]),
    (&["-march=x86-64", "-msse4.1", "-mssse3"], "pblendvb", &["ssse3", "sse4_1"]),
    (&["-march=x86-64", "-mavx2"], "vpblendvb", &["avx2"]),
    (&["-march=x86-64", "-mavx512f", "-mavx512bw"], "vpshufb", &["avx512f", "avx512bw"]),
    (
        &["-march=icelake-server"],
        "vperm[it]2b",
        &["avx512f", "avx512bw", "avx512vbmi", "avx512_vbmi2", "avx512_vnni", "vaes"],
    ),
];

/// Bits that are bytes, brought side by side and back, of every number of items to a firing, and of rows that fill vectors and do not; and as words of lanes.
const BITS: &str = r#"
#include <stdio.h>
static uint32_t random_word(void) { static uint32_t s = 1; s = s * 1664525u + 1013904223u; return s ^ s >> 15; }
static uint8_t in[16384], phase[49152], back[16384];
static int tell(long n, long at, long is) { printf("%ld: %ld gives %ld\n", n, at, is); return 1; }
/* `more` items are only looked at; what is behind is left as it was */
static inline __attribute__((always_inline)) int moved(const long n, long rows, long more)
{
    const long row = rows + 70, items = rows * n + more;
    memset(phase, 9, sizeof phase), memset(back, 9, sizeof back);
    sl_bit_phases(in, n, items, row, phase);
    for (long i = 0; i < items; i++)
        if (phase[i % n * row + i / n] != in[i]) return tell(n, i, phase[i % n * row + i / n]);
    sl_bit_interleave(phase, row, n, rows, back);
    for (long i = 0; i < rows * n; i++)
        if (back[i] != in[i]) return tell(-n, i, back[i]);
    return back[rows * n] != 9 || phase[(n - 1) * row + rows + more + 1] != 9 ? tell(n, rows, more) : 0;
}
#define OF(n) \
    static __attribute__((noinline)) int of_##n(void) \
    { \
        static const int rows[] = {0, 1, 15, 16, 17, 31, 64, 65, 100, 128, 200}; \
        for (int i = 0; i < 11; i++) \
            if (moved(n, rows[i], 0) || (rows[i] > 0 && moved(n, rows[i], n > 5 ? 5 : n))) return 1; \
        return 0; \
    }
OF(1) OF(2) OF(3) OF(4) OF(5) OF(6) OF(7) OF(8) OF(9) OF(10) OF(11) OF(12) OF(13) OF(15) OF(16) OF(17) OF(24) OF(31) OF(32) OF(33) OF(64) OF(67)
int main(void)
{
    for (long i = 0; i < (long)sizeof in; i++) in[i] = random_word() & 1;
    for (long first = 0; first < 100; first++) {
        const sl_vi v = sl_vi_load_bit(in + first);
        memset(back, 9, sizeof back);
        sl_vi_store_bit(back + 1 + first, v);
        for (int l = 0; l < SL_LANES; l++)
            if (v[l] != -(int32_t)in[first + l] || back[1 + first + l] != in[first + l]) return tell(0, first, v[l]);
        if (back[first] != 9 || back[first + 1 + SL_LANES] != 9) return tell(0, first, 9);
    }
    if (of_1() || of_2() || of_3() || of_4() || of_5() || of_6() || of_7() || of_8() || of_9() || of_10() || of_11() || of_12()) return 1;
    if (of_13() || of_15() || of_16() || of_17() || of_24() || of_31() || of_32() || of_33() || of_64() || of_67()) return 1;
    puts("right");
    return 0;
}
"#;

/// Elements of tables of any numbers, of every place in tables of lengths on both sides of whole registers.
const TABLES: &str = r#"
#include <stdio.h>
static int32_t table[300];
static const int32_t known[11] = {5, -7, 100000, 3, 0, -1, 8, 9, 1, 2, 77};
static int tell(long n, int32_t at, int32_t is) { printf("%ld: %d gives %d\n", n, at, is); return 1; }
#define FOUND(elements, length) \
    for (int first = 0; first < length; first++) { \
        sl_vi at; \
        for (int l = 0; l < SL_LANES; l++) at[l] = (first + l * 5) % length; \
        const sl_vi is = sl_vi_lookup(elements, length, at); \
        const sl_vf real = sl_vf_lookup((const float *)(const void *)elements, length, at); \
        for (int l = 0; l < SL_LANES; l++) \
            if (is[l] != elements[at[l]] || ((sl_vi)real)[l] != elements[at[l]]) return tell(length, at[l], is[l]); \
    }
#define LENGTH(length) static __attribute__((noinline)) int length_##length(void) { FOUND(table, length) return 0; }
LENGTH(1) LENGTH(2) LENGTH(3) LENGTH(4) LENGTH(5) LENGTH(7) LENGTH(8) LENGTH(9) LENGTH(12) LENGTH(15) LENGTH(16) LENGTH(17) LENGTH(24) LENGTH(31) LENGTH(32) LENGTH(33)
LENGTH(40) LENGTH(47) LENGTH(48) LENGTH(63) LENGTH(64) LENGTH(65) LENGTH(100) LENGTH(127) LENGTH(128) LENGTH(129) LENGTH(300)
int main(void)
{
    uint32_t s = 1;
    for (int i = 0; i < 300; i++) table[i] = (int32_t)((s = s * 1664525u + 1013904223u) & 0xBFFFFFFF);
    FOUND(known, 11)
    FOUND(known, 3)
    if (length_1() || length_2() || length_3() || length_4() || length_5() || length_7() || length_8() || length_9() || length_12() || length_15() || length_16()) return 1;
    if (length_17() || length_24() || length_31() || length_32() || length_33() || length_40() || length_47() || length_48() || length_63() || length_64()) return 1;
    if (length_65() || length_100() || length_127() || length_128() || length_129() || length_300()) return 1;
    puts("right");
    return 0;
}
"#;

/// Vectors of few branches, and bounds of numbers, beside what the language says of one number.
const BRANCHES: &str = r#"
#include <stdio.h>
static uint32_t random_word(void) { static uint32_t s = 1; s = s * 1664525u + 1013904223u; return s ^ s >> 15; }
static float number(void)
{
    static const float odd[] = {0.0f, -0.0f, 1.5f, -1.5f, SL_NAN_F, SL_INF_F, -SL_INF_F, 1e-42f};
    uint32_t w = random_word();
    float x;
    if (w % 3 == 0) return odd[w / 3 % 8];
    memcpy(&x, &w, sizeof x);
    return x;
}
static int same(float a, float b) { uint32_t x, y; memcpy(&x, &a, 4); memcpy(&y, &b, 4); return x == y || (a != a && b != b); }
static int tell(const char *what, float a, float b, float is) { printf("%s of %g and %g is %g\n", what, a, b, is); return 1; }
#define ONE(what, is, wanted) if (!same(is, wanted)) return tell(what, a, b, is);
#define OF(n) \
    static int of_##n(void) \
    { \
        for (int round = 0; round < 20000; round++) { \
            float as[n], bs[n]; \
            for (int l = 0; l < n; l++) as[l] = number(), bs[l] = number(); \
            const sl_s##n##f va = sl_s##n##f_load(as), vb = sl_s##n##f_load(bs); \
            const sl_s##n##i ia = (sl_s##n##i)va, ib = (sl_s##n##i)vb; \
            const sl_s##n##f least = sl_s##n##f_min(va, vb), most = sl_s##n##f_max(va, vb), size = sl_s##n##f_abs(va), root = sl_s##n##f_sqrt(va); \
            const sl_s##n##f one = sl_s##n##f_least(va, vb), other = sl_s##n##f_greatest(va, vb); \
            const sl_s##n##f chosen = sl_s##n##f_select(va < vb, va, vb), whole = sl_s##n##i_to_float(ia); \
            const sl_s##n##i less = sl_s##n##i_min(ia, ib), more = sl_s##n##i_max(ia, ib), far = sl_s##n##i_abs(ia); \
            for (int l = 0; l < n; l++) { \
                const float a = as[l], b = bs[l]; \
                ONE("min", least[l], sl_minf(a, b)) ONE("max", most[l], sl_maxf(a, b)) ONE("abs", size[l], sl_fabsf(a)) ONE("sqrt", root[l], sl_sqrtf(a)) \
                ONE("least", one[l], a < b ? a : b) ONE("greatest", other[l], a > b ? a : b) \
                ONE("select", chosen[l], a < b ? a : b) ONE("to float", whole[l], (float)ia[l]) \
                if (less[l] != sl_mini(ia[l], ib[l]) || more[l] != sl_maxi(ia[l], ib[l]) || far[l] != sl_absi(ia[l])) return tell("ints", a, b, 0); \
            } \
        } \
        return 0; \
    }
OF(4)
#if SL_STREAM_LANES >= 8
OF(8)
#endif
#if SL_STREAM_LANES >= 16
OF(16)
#endif
int main(void)
{
    for (int round = 0; round < 200000; round++) {
        const float a = number(), b = number();
        const double c = (double)a * 3, d = (double)b * 3;
        ONE("least", sl_choose_least_f(a, b), a < b ? a : b) ONE("greatest", sl_choose_greatest_f(a, b), a > b ? a : b)
        ONE("least", (float)sl_choose_least_d(c, d), (float)(c < d ? c : d)) ONE("greatest", (float)sl_choose_greatest_d(c, d), (float)(c > d ? c : d))
        ONE("min", sl_choose_min_f(a, b), sl_minf(a, b)) ONE("max", sl_choose_max_f(a, b), sl_maxf(a, b))
        ONE("min", (float)sl_choose_min_d(c, d), (float)sl_min(c, d)) ONE("max", (float)sl_choose_max_d(c, d), (float)sl_max(c, d))
    }
    for (int round = 0; round < 1000; round++) {
        sl_vi v;
        for (int l = 0; l < SL_LANES; l++) v[l] = (int32_t)random_word();
        v[round % SL_LANES] = round % 3 == 0 ? INT32_MIN : INT32_MAX;
        const sl_vi size = sl_vi_abs(v);
        const sl_vf least = sl_vf_least((sl_vf)v, (sl_vf)size), most = sl_vf_greatest((sl_vf)v, (sl_vf)size);
        for (int l = 0; l < SL_LANES; l++) {
            const float a = ((sl_vf)v)[l], b = ((sl_vf)size)[l];
            if (size[l] != sl_absi(v[l])) return tell("size", a, b, 0);
            ONE("least", least[l], a < b ? a : b) ONE("greatest", most[l], a > b ? a : b)
        }
    }
    if (of_4()) return 1;
#if SL_STREAM_LANES >= 8
    if (of_8()) return 1;
#endif
#if SL_STREAM_LANES >= 16
    if (of_16()) return 1;
#endif
    puts("right");
    return 0;
}
"#;

/// Processors that have an instruction for the lesser of two floats, of one and of several.
const BOUNDED: [(&[&str], &str, &[&str]); 4] = [
    (&["-march=x86-64"], "minps", &[]),
    (&["-march=x86-64", "-mavx"], "vminss", &["avx"]),
    (&["-march=haswell"], "vminps", &["avx2"]),
    (&["-march=x86-64", "-mavx512f"], "vminps", &["avx512f"]),
];

/// Processors that permute registers, and how; and one that does not.
const PERMUTE: [(&[&str], &str, &[&str]); 3] = [
    (&["-march=x86-64"], "ret", &[]),
    (&["-march=haswell"], "vperm", &["avx2"]),
    (&["-march=x86-64", "-mavx512f"], "vperm", &["avx512f"]),
];

/// What squares of bytes are turned round with, everywhere.
const SQUARES: [(&[&str], &str, &[&str]); 5] = [
    (&["-march=x86-64"], "punpcklbw", &[]),
    (&["-march=x86-64", "-mssse3"], "punpcklbw", &["ssse3"]),
    (&["-march=haswell"], "punpcklbw", &["avx2"]),
    (&["-march=x86-64", "-mavx512f"], "punpcklbw", &["avx512f"]),
    (&["-march=x86-64", "-mavx512f", "-mavx512bw"], "punpcklbw", &["avx512f", "avx512bw"]),
];

/// The run-time support with these parts, and a program.
fn text(parts: &[&str], main: &str) -> String {
    let mut out = String::new();
    for part in rts::MATH.iter().chain(&rts::LANES).chain(parts) {
        rts::append(&mut out, part, rts::Parts::default());
    }
    out + main
}

/// Makes `lanes.s` of the text; what the compiler says where it does not.
fn compiled(compiler: &str, folder: &Path, flags: &[&str]) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command
        .args(rts::CC_FLAGS)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-bitwise-conditional-parentheses"])
        .args(flags);
    done(command.arg("-S").arg(folder.join("lanes.c")).arg("-o").arg(folder.join("lanes.s")))
}

/// What the program prints that has been made `lanes.s`.
fn said(compiler: &str, folder: &Path) -> String {
    let exe = folder.join("lanes");
    done(Command::new(compiler).arg(folder.join("lanes.s")).arg("-o").arg(&exe).arg("-lm")).unwrap();
    String::from_utf8_lossy(&Command::new(exe).output().unwrap().stdout).to_string()
}

fn done(command: &mut Command) -> Result<(), String> {
    let done = command.output().unwrap();
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into()) }
}

#[test]
fn every_place_of_every_table() {
    right(&text(&[rts::LOOKUP], MAIN), &PROCESSORS);
}

#[test]
fn bytes_of_four_vectors() {
    right(&text(&[rts::LOOKUP, rts::BYTES], BYTES), &PROCESSORS);
}

#[test]
fn bits_side_by_side() {
    right(&text(&[rts::BIT_ITEMS], BITS), &SQUARES);
}

#[test]
fn elements_of_small_tables() {
    right(&text(&[], TABLES), &PERMUTE);
}

#[test]
fn few_branches_and_bounds() {
    right(&text(&[rts::CHOOSE, rts::STREAMS_OF_BRANCHES], BRANCHES), &BOUNDED);
}

#[test]
fn numbers_of_every_size() {
    let parts = rts::called(&["sl_vi_div("], false);
    right(&text(&parts, NUMBERS), &DIVIDERS);
}

/// The program says that all is right: made for this processor, and for each of these where this one can run it. By each compiler, what is made for them has the instruction.
fn right(text: &str, processors: &[(&[&str], &str, &[&str])]) {
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let here = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let here: std::collections::BTreeSet<&str> =
        here.lines().find(|l| l.starts_with("flags")).unwrap_or_default().split_whitespace().collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lanes.c"), text).unwrap();
    // whatever this processor is
    compiled("cc", folder.path(), &["-march=native"]).or_else(|_| compiled("cc", folder.path(), &[])).unwrap();
    assert_eq!(said("cc", folder.path()), "right\n");
    if !cfg!(target_arch = "x86_64") {
        return sluice_skipped::skipped("not an x86-64: lanes have instructions of this processor only");
    }
    for compiler in ["gcc", "clang"] {
        if !has(compiler) {
            sluice_skipped::skipped(&format!("there is no {compiler}: it does not compile lanes"));
            continue;
        }
        for (flags, instruction, needs) in processors {
            compiled(compiler, folder.path(), flags).unwrap_or_else(|why| panic!("{compiler} {flags:?}: {why}"));
            let made = std::fs::read_to_string(folder.path().join("lanes.s")).unwrap();
            let (one, other) = (instruction.replace("[it]", "i"), instruction.replace("[it]", "t"));
            assert!(made.contains(&one) || made.contains(&other), "{compiler} {flags:?}: no {instruction}");
            if needs.iter().all(|n| here.contains(n)) {
                assert_eq!(said(compiler, folder.path()), "right\n", "{compiler} {flags:?}");
            } else {
                sluice_skipped::skipped(&format!("no {needs:?} here: lanes made with {flags:?} are not run"));
            }
        }
    }
}
