/* The engine for programs whose code is made in memory (compiler/jit): the same files that compiled programs have, as one object that is
 * part of sluice. Such a program brings its tables with it (`sl_program`), so that one engine serves any number of them. Compiled once with
 * SL_STATS, once without: JIT(name) has another name in each. */
#define _GNU_SOURCE 1
#include "sl_math.h"

#include "sluice_abi.h"

#include "sl_engine.h"
#ifdef SL_STATS
#include "sl_stats.h"
#define JIT(name) sl_jit_counting_##name
#else
#define JIT(name) sl_jit_##name
#endif

#include "sl_print.c"
#include "sl_ends.c"
#include "sl_mail.c"
#include "sl_replay.c"
#include "sl_slow.c"
#include "sl_once.c"
#include "sl_dynamic.c"
#include "sl_run.c"
#ifdef SL_STATS
#include "sl_stats.c"
#endif

int32_t JIT(create)(const sl_program *program, const sluice_host *host, sl_ctx **instance);
int32_t JIT(create)(const sl_program *program, const sluice_host *host, sl_ctx **instance) {
    return sl_make(program, host, instance, 1);
}

/* What made code calls. Values of several parts are handed over by their address: how C passes structs differs from machine to machine. */

static void jit_print_complex(sl_ctx *ctx, const sl_complex *x) { sl_print_complex(ctx, *x); }
static void jit_print_float2(sl_ctx *ctx, const sl_float2 *x) { sl_print_float2(ctx, *x); }
static void jit_print_float3(sl_ctx *ctx, const sl_float3 *x) { sl_print_float3(ctx, *x); }
static void jit_print_float4(sl_ctx *ctx, const sl_float4 *x) { sl_print_float4(ctx, *x); }
static void jit_complex_exp(sl_complex *x) { *x = sl_complex_exp(*x); }
static void jit_complex_log(sl_complex *x) { *x = sl_complex_log(*x); }
static void jit_complex_sin(sl_complex *x) { *x = sl_complex_sin(*x); }
static void jit_complex_cos(sl_complex *x) { *x = sl_complex_cos(*x); }
static void jit_complex_sqrt(sl_complex *x) { *x = sl_complex_sqrt(*x); }
static void jit_look(sl_ctx *ctx, uint64_t position) { sl_look(ctx, position); }
static float jit_roundf(float x) { return sl_roundf(x); }
static double jit_round(double x) { return sl_round(x); }
static float jit_floorf(float x) { return sl_floorf(x); }
static double jit_floor(double x) { return sl_floor(x); }
static float jit_ceilf(float x) { return sl_ceilf(x); }
static double jit_ceil(double x) { return sl_ceil(x); }
static float jit_rintf(float x) { return sl_rintf(x); }
static double jit_rint(double x) { return sl_rint(x); }
typedef struct jit_symbol {
    const char *name;
    const void *address;
} jit_symbol;
#define OURS(name) {#name, (const void *)name}
#define LIBRARY(name) {#name "f", (const void *)sl_##name##f}, {#name, (const void *)sl_##name}
extern const jit_symbol JIT(symbols)[];
const jit_symbol JIT(symbols)[] = {
    OURS(sl_fail), OURS(sl_send), OURS(sl_deliver), OURS(sl_want), OURS(sl_full), OURS(jit_look),
    OURS(sl_print_text), OURS(sl_print_int), OURS(sl_print_float), OURS(sl_print_double), OURS(sl_print_boolean), OURS(sl_print_bit),
    OURS(jit_print_complex), OURS(jit_print_float2), OURS(jit_print_float3), OURS(jit_print_float4),
    OURS(jit_complex_exp), OURS(jit_complex_log), OURS(jit_complex_sin), OURS(jit_complex_cos), OURS(jit_complex_sqrt),
    OURS(jit_roundf), OURS(jit_round),
    OURS(sl_run_scaled), OURS(sl_run_steps), OURS(sl_flow), {"sl_jit_create", (const void *)JIT(create)},
    LIBRARY(acos), LIBRARY(acosh), LIBRARY(asin), LIBRARY(asinh), LIBRARY(atan), LIBRARY(atanh), LIBRARY(cos), LIBRARY(cosh),
    LIBRARY(exp), LIBRARY(expm1), LIBRARY(log), LIBRARY(log10), LIBRARY(sin), LIBRARY(sinh), LIBRARY(tan), LIBRARY(tanh),
    LIBRARY(atan2), LIBRARY(fmod), LIBRARY(pow),
    /* what machines without an instruction for it call */
    {"floorf", (const void *)jit_floorf}, {"floor", (const void *)jit_floor}, {"ceilf", (const void *)jit_ceilf},
    {"ceil", (const void *)jit_ceil}, {"nearbyintf", (const void *)jit_rintf}, {"nearbyint", (const void *)jit_rint},
    {"memcpy", (const void *)memcpy}, {"memmove", (const void *)memmove}, {"memset", (const void *)memset},
    {NULL, NULL},
};

/* The functions of `sluice_abi`, in its order from `run` on. */
extern const void *const JIT(functions)[];
const void *const JIT(functions)[] = {
    (const void *)sl_run, (const void *)sl_error, (const void *)sl_iterations, (const void *)sl_destroy,
#ifdef SL_STATS
    (const void *)sluice_stats_v1,
#endif
};

/* Where made code finds things in an instance. */
extern const uint64_t JIT(places)[];
const uint64_t JIT(places)[] = {
    offsetof(sl_ctx, node), offsetof(sl_ctx, have), offsetof(sl_ctx, room),
    offsetof(sl_ctx, took), offsetof(sl_ctx, gave), offsetof(sl_ctx, base), sizeof(sl_ctx), SL_STACK_BYTES,
};

/* The sizes of the tables' rows, and where some of their last fields are: compared with what compiler/jit/src/raw.rs has. */
extern const uint64_t JIT(sizes)[];
const uint64_t JIT(sizes)[] = {
    sizeof(sl_code), offsetof(sl_code, attempt), sizeof(sl_node), offsetof(sl_node, loose), sizeof(sl_link), offsetof(sl_link, next),
    sizeof(sl_wait), offsetof(sl_wait, before), sizeof(sl_channel), offsetof(sl_channel, slides), sizeof(sl_type),
    offsetof(sl_type, parts), sizeof(sl_field), sizeof(sl_end), offsetof(sl_end, flat), sizeof(sl_site), sizeof(sl_program),
    offsetof(sl_program, abi), sizeof(sl_step), sizeof(sluice_end), offsetof(sluice_end, complex), sizeof(sluice_abi),
    offsetof(sluice_abi, kernels),
};
