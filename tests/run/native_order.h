/* Functions that a stream program calls: made by `sluice build --emit native-header`.
 *
 * Include this header in the C file that defines them: the C compiler then compares the definitions with what the program declares.
 *
 *     int: int32_t    float, double: the same    bit, boolean: bool    complex: sluice_complex    float2: sluice_float2, and so on
 *
 * An array is passed by reference: the function may change its elements, and must not keep the pointer. A struct is passed by value.
 * The calls of one filter come in the order of its firings.
 */
#ifndef SLUICE_NATIVE_ORDER_H
#define SLUICE_NATIVE_ORDER_H

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

/* ---- native Count ---- */

/* int tick() */
int32_t tick(void);

/* int ticks() */
int32_t ticks(void);

/* boolean yes(int n) */
bool yes(int32_t n);

/* ---- native Again ---- */

/* int tick() */
/* declared above */

/* void note(int n) */
void note(int32_t n);

/* int noted() */
int32_t noted(void);

/* ---- native C ---- */

/* double cbrt(double x) */
double cbrt(double x);

/* double hypot(double a, double b) */
double hypot(double a, double b);

#ifdef __cplusplus
}
#endif

/* Is this header the program's? */
#if defined SLUICE_NATIVE_tick && SLUICE_NATIVE_tick != 0xb3af797d
#error "the program declares tick with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_ticks && SLUICE_NATIVE_ticks != 0xb3af797d
#error "the program declares ticks with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_yes && SLUICE_NATIVE_yes != 0x5e17922c
#error "the program declares yes with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_note && SLUICE_NATIVE_note != 0x24826fea
#error "the program declares note with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_noted && SLUICE_NATIVE_noted != 0xb3af797d
#error "the program declares noted with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_cbrt && SLUICE_NATIVE_cbrt != 0x6a9cbe65
#error "the program declares cbrt with other types: write this header again, by sluice build --emit native-header"
#endif
#if defined SLUICE_NATIVE_hypot && SLUICE_NATIVE_hypot != 0x2434c119
#error "the program declares hypot with other types: write this header again, by sluice build --emit native-header"
#endif

#endif
