/* Functions that a stream program calls: made by `sluice build --emit native-header`.
 *
 * Include this header in the C file that defines them: the C compiler then compares the definitions with what the program declares.
 *
 *     int: int32_t    float, double: the same    bit, boolean: bool    complex: sluice_complex    float2: sluice_float2, and so on
 *
 * An array is passed by reference: the function may change its elements, and must not keep the pointer. A struct is passed by value.
 * The calls of one filter come in the order of its firings.
 */
#ifndef SLUICE_NATIVE_ARRAYS_H
#define SLUICE_NATIVE_ARRAYS_H

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

struct Block {
    int32_t head;
    int32_t rest[3];
};

/* ---- native Arrays ---- */

/* void raise(int[3] a, int by) */
void raise(int32_t a[3], int32_t by);

/* int sum(int[3] a) */
int32_t sum(int32_t a[3]);

/* void ramp(float[2][3] m, float start) */
void ramp(float m[2][3], float start);

/* void copy(int[3] dst, int[3] src) */
void copy(int32_t dst[3], int32_t src[3]);

/* int twist(int[2][3] whole, int[3] row) */
int32_t twist(int32_t whole[2][3], int32_t row[3]);

/* void negate(boolean[4] b, bit[2][2] c) */
void negate(bool b[4], bool c[2][2]);

/* void raw(boolean[4] b) */
void raw(bool b[4]);

/* int shrink(Block[2] blocks) */
int32_t shrink(struct Block blocks[2]);

/* int empty(float[0] a) */
int32_t empty(float *a);

#ifdef __cplusplus
}
#endif

/* Is this header the program's? */
#if defined SLUICE_NATIVE_raise && SLUICE_NATIVE_raise != 0x8cf2debb
#error "the program declares raise with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_sum && SLUICE_NATIVE_sum != 0xff63a984
#error "the program declares sum with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_ramp && SLUICE_NATIVE_ramp != 0x84bbbd7d
#error "the program declares ramp with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_copy && SLUICE_NATIVE_copy != 0x88145cbe
#error "the program declares copy with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_twist && SLUICE_NATIVE_twist != 0x05831b9d
#error "the program declares twist with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_negate && SLUICE_NATIVE_negate != 0x88a7b972
#error "the program declares negate with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_raw && SLUICE_NATIVE_raw != 0x6197a20b
#error "the program declares raw with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_shrink && SLUICE_NATIVE_shrink != 0x74f8c644
#error "the program declares shrink with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_empty && SLUICE_NATIVE_empty != 0x3c0f711e
#error "the program declares empty with other types: write this header again, by sluice build --emit native-header"
#endif

#endif
