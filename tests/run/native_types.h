/* Functions that a stream program calls: made by `sluice build --emit native-header`.
 *
 * Include this header in the C file that defines them: the C compiler then compares the definitions with what the program declares.
 *
 *     int: int32_t    float, double: the same    bit, boolean: bool    complex: sluice_complex    float2: sluice_float2, and so on
 *
 * An array is passed by reference: the function may change its elements, and must not keep the pointer. A struct is passed by value.
 * The calls of one filter come in the order of its firings.
 */
#ifndef SLUICE_NATIVE_TYPES_H
#define SLUICE_NATIVE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SLUICE_TYPES
#define SLUICE_TYPES
typedef struct { float real, imag; } sluice_complex;
typedef struct { float x, y; } sluice_float2;
typedef struct { float x, y, z; } sluice_float3;
typedef struct { float x, y, z, w; } sluice_float4;
#endif

struct Inner {
    bool b;
    int32_t n[2];
};

struct Pair {
    bool flag;
    double wide;
    float v[3];
    struct Inner parts[2];
    sluice_complex c;
    sluice_float2 f;
};

/* ---- native Types ---- */

/* int next_int(int x) */
int32_t next_int(int32_t x);

/* float halve(float x) */
float halve(float x);

/* double third(double x) */
double third(double x);

/* bit odd(int x) */
bool odd(int32_t x);

/* boolean both(boolean a, boolean b) */
bool both(bool a, bool b);

/* complex turn(complex c) */
sluice_complex turn(sluice_complex c);

/* float2 swap2(float2 v) */
sluice_float2 swap2(sluice_float2 v);

/* float3 cross(float3 a, float3 b) */
sluice_float3 cross(sluice_float3 a, sluice_float3 b);

/* float4 scale4(float4 v, float by) */
sluice_float4 scale4(sluice_float4 v, float by);

/* Pair mirror(Pair p) */
struct Pair mirror(struct Pair p);

/* int many(bit a, boolean b, int c, float d, double e, complex f, float2 g, float3 h, float4 i, Inner j, int k) */
int32_t many(bool a, bool b, int32_t c, float d, double e, sluice_complex f, sluice_float2 g, sluice_float3 h, sluice_float4 i, struct Inner j, int32_t k);

/* void nothing() */
void nothing(void);

#ifdef __cplusplus
}
#endif

/* Is this header the program's? */
#if defined SLUICE_NATIVE_next_int && SLUICE_NATIVE_next_int != 0xb66857e5
#error "the program declares next_int with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_halve && SLUICE_NATIVE_halve != 0x3e46ac43
#error "the program declares halve with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_third && SLUICE_NATIVE_third != 0x6a9cbe65
#error "the program declares third with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_odd && SLUICE_NATIVE_odd != 0x5e17922c
#error "the program declares odd with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_both && SLUICE_NATIVE_both != 0x6cc8b83c
#error "the program declares both with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_turn && SLUICE_NATIVE_turn != 0x95736b75
#error "the program declares turn with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_swap2 && SLUICE_NATIVE_swap2 != 0x8725d94b
#error "the program declares swap2 with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_cross && SLUICE_NATIVE_cross != 0x117e6b6b
#error "the program declares cross with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_scale4 && SLUICE_NATIVE_scale4 != 0x3ecd251e
#error "the program declares scale4 with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_mirror && SLUICE_NATIVE_mirror != 0xf16c563b
#error "the program declares mirror with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_many && SLUICE_NATIVE_many != 0xff7d45ce
#error "the program declares many with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_nothing && SLUICE_NATIVE_nothing != 0xf2fa57e2
#error "the program declares nothing with other types: write this header again, by sluice build --emit native-header"
#endif

#endif
