/* What a firing on a device knows of its run: who it is, where faults are told, where it prints. */
#ifndef SL_THREAD_H
#define SL_THREAD_H

#ifndef SL_UNUSED
#define SL_UNUSED __attribute__((unused))
#endif

/* The argument of kernels: under CUDA it stays where it is, also where a function gets a reference to it. */
#ifdef SL_EMULATE
#define SL_JOB const sl_job
#else
#define SL_JOB const __grid_constant__ sl_job
#endif

/* At the start of the arena: what the host reads after a run. All zero at first. */
struct sl_status {
    /* 1 once a firing has failed; then what follows says which: the first that came here, not the first of the program's order. */
    int32_t failed;
    /* 1 where more was printed than there is room for. */
    int32_t full;
    int32_t node, site;
    int64_t value, firing;
    /* Bytes printed. */
    uint64_t printed;
    /* For barriers of the grid. */
    unsigned arrived;
    unsigned unused[3];
};

/* A firing. */
struct sl_ctx {
    sl_status *status;
    char *print;
    uint64_t print_room;
    /* Of the node, in the program's order; completed firings of it. */
    int32_t node;
    /* Which of the codes that differ in tables only. */
    uint32_t variant;
    int64_t firing;
    int32_t failed;
};

/* Tells who has failed, unless somebody else has. By value: a context whose address a function gets that is not part of its caller lies in memory, and is written there for
 * every firing that does not fail. */
SL_TASK SL_UNUSED void sl_tell(sl_status *status, int32_t node, int64_t firing, int32_t site, int64_t value)
{
    if (sl_first(&status->failed, 1)) {
        status->node = node;
        status->site = site;
        status->value = value;
        status->firing = firing + 1;
    }
}

/* The firing cannot go on. Who calls this leaves it. */
SL_DEVICE void sl_fail(sl_ctx *ctx, int32_t site, int64_t value)
{
    ctx->failed = 1;
    sl_tell(ctx->status, ctx->node, ctx->firing, site, value);
}

/* Has a firing failed? Then nobody looks at what kernels make, and the sooner they end the better. What threads that fire behind it get is whatever is there: loops that need
 * not end for that ask every 1024 turns. */
SL_DEVICE bool sl_is_over(const sl_status *status) { return *(const volatile int32_t *)&status->failed != 0; }
#define SL_TURN(turns) (turns) = ((turns) + 1) & 1023
#define SL_OVER(turns) (SL_UNLIKELY((turns) == 0) && sl_is_over(ctx->status))

/* Printing: the host does it later. One filter prints at most, and its firings follow one another. A record is a byte that says what
 * it is, and the value's bytes; text has its length before it. */
enum { SL_RECORD_TEXT, SL_RECORD_INT, SL_RECORD_FLOAT, SL_RECORD_DOUBLE, SL_RECORD_BOOLEAN, SL_RECORD_BIT, SL_RECORD_COMPLEX,
       SL_RECORD_FLOAT2, SL_RECORD_FLOAT3, SL_RECORD_FLOAT4 };

SL_TASK SL_UNUSED void sl_record(sl_status *status, char *print, uint64_t room, int kind, const void *value, uint64_t bytes, uint64_t length)
{
    const uint64_t prefix = kind == SL_RECORD_TEXT ? 1 + 4 : 1, at = status->printed;
    if (at + prefix + bytes > room) {
        status->full = 1;
        return;
    }
    char *to = print + at;
    SL_WRITE(to, prefix + bytes);
    *to = (char)kind;
    if (kind == SL_RECORD_TEXT) {
        for (int i = 0; i < 4; i++) to[1 + i] = (char)(length >> (8 * i));
    }
    for (uint64_t i = 0; i < bytes; i++) to[prefix + i] = ((const char *)value)[i];
    status->printed = at + prefix + bytes;
}

SL_DEVICE void sl_print_text(sl_ctx *ctx, const char *text, uint64_t length)
{
    sl_record(ctx->status, ctx->print, ctx->print_room, SL_RECORD_TEXT, text, length, length);
}
#define SL_PRINTS(name, type, kind) \
    SL_DEVICE void sl_print_##name(sl_ctx *ctx, type value) { sl_record(ctx->status, ctx->print, ctx->print_room, kind, &value, sizeof value, 0); }
SL_PRINTS(int, int32_t, SL_RECORD_INT)
SL_PRINTS(float, float, SL_RECORD_FLOAT)
SL_PRINTS(double, double, SL_RECORD_DOUBLE)
SL_PRINTS(boolean, uint8_t, SL_RECORD_BOOLEAN)
SL_PRINTS(bit, uint8_t, SL_RECORD_BIT)
SL_PRINTS(complex, sl_complex, SL_RECORD_COMPLEX)
SL_PRINTS(float2, sl_float2, SL_RECORD_FLOAT2)
SL_PRINTS(float3, sl_float3, SL_RECORD_FLOAT3)
SL_PRINTS(float4, sl_float4, SL_RECORD_FLOAT4)

#endif
