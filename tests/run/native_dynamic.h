/* Functions that a stream program calls: made by `sluice build --emit native-header`.
 *
 * Include this header in the C file that defines them: the C compiler then compares the definitions with what the program declares.
 *
 *     int: int32_t    float, double: the same    bit, boolean: bool    complex: sluice_complex    float2: sluice_float2, and so on
 *
 * An array is passed by reference: the function may change its elements, and must not keep the pointer. A struct is passed by value.
 * The calls of one filter come in the order of its firings.
 */
#ifndef SLUICE_NATIVE_DYNAMIC_H
#define SLUICE_NATIVE_DYNAMIC_H

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

/* ---- native Parse ---- */

/* int calls() */
int32_t calls(void);

/* boolean more(int item, int[2] seen) */
bool more(int32_t item, int32_t seen[2]);

/* void start(int[2] seen) */
void start(int32_t seen[2]);

#ifdef __cplusplus
}
#endif

/* Is this header the program's? */
#if defined SLUICE_NATIVE_calls && SLUICE_NATIVE_calls != 0xb3af797d
#error "the program declares calls with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_more && SLUICE_NATIVE_more != 0xdb900830
#error "the program declares more with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_start && SLUICE_NATIVE_start != 0x96004876
#error "the program declares start with other types: write this header again, by sluice build --emit native-header"
#endif

#endif
