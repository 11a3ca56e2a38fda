/* The ends of a program: items on their way from and to the host. Stages hold items in host form where that is the same as memory
 * form (nearly always); otherwise readers' stages hold memory form, filled through their upper end, and writers' stages host form. */
#include "sl_engine.h"

/* Makes host form of a value. Gives the place behind it. */
static char *sl_pack(const sl_type *type, const char *value, char *to) {
    switch (type->kind) {
    case SL_ARRAY:
        for (uint32_t i = 0; i < type->count; i++) {
            to = sl_pack(type->part, value + i * type->part->size, to);
        }
        return to;
    case SL_STRUCT:
        for (uint32_t i = 0; i < type->count; i++) {
            to = sl_pack(type->parts[i].type, value + type->parts[i].offset, to);
        }
        return to;
    default:
        memcpy(to, value, type->size);
        return to + type->size;
    }
}

/* Makes a value of its host form. Gives the place behind that. */
static const char *sl_unpack(const sl_type *type, const char *from, char *value) {
    switch (type->kind) {
    case SL_ARRAY:
        for (uint32_t i = 0; i < type->count; i++) {
            from = sl_unpack(type->part, from, value + i * type->part->size);
        }
        return from;
    case SL_STRUCT:
        for (uint32_t i = 0; i < type->count; i++) {
            from = sl_unpack(type->parts[i].type, from, value + type->parts[i].offset);
        }
        return from;
    case SLUICE_BIT:
    case SLUICE_BOOLEAN:
        *value = *from != 0;
        return from + 1;
    default:
        memcpy(value, from, type->size);
        return from + type->size;
    }
}

/* Values that are looked at before any of them is written: a few lines of the cache. */
enum { SL_LOOKED_AT = 256 };

static SL_HOT void sl_canonical_floats(char *value, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t b;
        memcpy(&b, value + i * 4, 4);
        b = (b & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : b;
        memcpy(value + i * 4, &b, 4);
    }
}

/* Gives NaNs their one bit pattern: `n` values in memory form. */
static SL_HOT void sl_canonical(const sl_type *type, char *value, int64_t n) {
    if (SL_NO_NANS) return;
    while (type->kind == SL_ARRAY) {
        n *= type->count;
        type = type->part;
    }
    if (type->kind == SLUICE_FLOAT) {
        n *= (int64_t)(type->size / 4); /* complex numbers and vectors are several */
        int64_t i = 0;
        /* NaNs are rare: what is only looked at need not go back to memory */
        for (; i + SL_LOOKED_AT <= n; i += SL_LOOKED_AT) {
            if (SL_UNLIKELY(sl_nans_among(value + i * 4, SL_LOOKED_AT))) sl_canonical_floats(value + i * 4, SL_LOOKED_AT);
        }
        sl_canonical_floats(value + i * 4, n - i);
    } else if (type->kind == SLUICE_DOUBLE) {
        for (int64_t i = 0; i < n; i++) {
            uint64_t b;
            memcpy(&b, value + i * 8, 8);
            b = (b & 0x7fffffffffffffffu) > 0x7ff0000000000000u ? 0x7ff8000000000000u : b;
            memcpy(value + i * 8, &b, 8);
        }
    } else if (type->kind == SL_STRUCT) {
        for (int64_t i = 0; i < n; i++) {
            for (uint32_t f = 0; f < type->count; f++) {
                sl_canonical(type->parts[f].type, value + (uint64_t)i * type->size + type->parts[f].offset, 1);
            }
        }
    }
}

/* Hosts hardly ever give another than 0 or 1: what is only looked at need not go back to memory. */
static SL_HOT void sl_mend_truths(unsigned char *value, int64_t n) {
    for (int64_t i = 0; i < n; i += SL_LOOKED_AT) {
        const int64_t m = n - i < SL_LOOKED_AT ? n - i : SL_LOOKED_AT;
        unsigned char all = 0;
        for (int64_t j = 0; j < m; j++) {
            all |= value[i + j];
        }
        if (SL_UNLIKELY(all > 1)) {
            for (int64_t j = 0; j < m; j++) {
                value[i + j] = value[i + j] != 0;
            }
        }
    }
}

/* Bits and booleans from outside: not 0 is 1. Others have nothing to mend. */
static void sl_mend(const sl_type *type, char *value, int64_t n) {
    while (type->kind == SL_ARRAY) {
        n *= type->count;
        type = type->part;
    }
    if (type->kind == SLUICE_BIT || type->kind == SLUICE_BOOLEAN) {
        sl_mend_truths((unsigned char *)value, n);
    } else if (type->kind == SL_STRUCT && type->count > 0) {
        for (int64_t i = 0; i < n; i++) {
            for (uint32_t f = 0; f < type->count; f++) {
                sl_mend(type->parts[f].type, value + (uint64_t)i * type->size + type->parts[f].offset, 1);
            }
        }
    }
}

/* Are items numbers, which the host's memory can hold as they are? Vectors may want places that the host does not know of. */
static int sl_are_numbers(const sl_type *type) {
    return (type->kind == SLUICE_INT || type->kind == SLUICE_FLOAT || type->kind == SLUICE_DOUBLE) && type->size <= 8;
}

/* Hands over what an end holds: a writer's items, or text (-1). */
static void sl_hand_over(sl_ctx *ctx, int32_t end) {
    if (end < 0) {
        sl_flush_print(ctx);
        return;
    }
    sl_stage_of_end *s = &ctx->written[end];
    int64_t n = s->tail;
    s->tail = 0;
    if (n > 0 && ctx->host.write(ctx->host.user, (uint32_t)end, ctx->arena + ctx->program->writers[end].stage, n) != 0) {
        sl_stop_run(ctx, SLUICE_HOST, "items could not be written");
    }
}

/* Hands over everything. */
static void sl_flush(sl_ctx *ctx) {
    uint32_t writers = ctx->program->abi->writer_count;
    if (ctx->last_end == -2) {
        return;
    }
    ctx->last_end = -2;
    sl_flush_print(ctx);
    for (uint32_t w = 0; w < writers; w++) {
        sl_hand_over(ctx, (int32_t)w);
    }
}

#ifdef CLOCK_MONOTONIC_COARSE
#define SL_CLOCK CLOCK_MONOTONIC_COARSE
#else
#define SL_CLOCK CLOCK_MONOTONIC
#endif

SL_ENGINE int64_t sl_now(void) {
    struct timespec t = {0, 0};
    clock_gettime(SL_CLOCK, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Hands over what has been held for a while, so that the output of a program that takes its time can be watched. */
static int64_t sl_breathe(sl_ctx *ctx) {
    int64_t now = sl_now();
    if (now - ctx->handed >= 100) {
        sl_flush(ctx);
        ctx->handed = now;
    }
    return now;
}

SL_ENGINE void *sl_place(sl_ctx *ctx, uint32_t writer, void *own, int64_t n) {
    const sl_end *end = &ctx->program->writers[writer];
    /* few items are staged */
    if (!ctx->host.place || n < (int64_t)end->capacity / 2 || !sl_are_numbers(end->type)) {
        return own;
    }
    sl_turn(ctx, (int32_t)writer);
    sl_hand_over(ctx, (int32_t)writer);
    void *there = ctx->host.place(ctx->host.user, writer, n);
    return there ? there : own;
}

SL_ENGINE void sl_put_seen(sl_ctx *ctx, uint32_t writer, void *items, int64_t n, int nan) {
    const sl_end *end = &ctx->program->writers[writer];
    const uint64_t bytes = ctx->program->abi->writers[writer].bytes;
    sl_stage_of_end *s = &ctx->written[writer];
    char *stage = ctx->arena + end->stage;
    char *from = items;
    const int64_t out = sl_already_out(ctx, writer, n);
    from += (uint64_t)out * end->type->size;
    n -= out;
    sl_turn(ctx, (int32_t)writer);
    if (nan) {
        sl_canonical(end->type, from, n);
    }
    if (end->flat && n >= (int64_t)end->capacity / 2) {
        sl_hand_over(ctx, (int32_t)writer);
        if (n > 0 && ctx->host.write(ctx->host.user, writer, from, n) != 0) {
            sl_stop_run(ctx, SLUICE_HOST, "items could not be written");
        }
        return;
    }
    while (n > 0) {
        int64_t some = (int64_t)end->capacity - s->tail;
        some = some < n ? some : n;
        if (end->flat) {
            memcpy(stage + (uint64_t)s->tail * bytes, from, (uint64_t)some * bytes);
        } else {
            for (int64_t i = 0; i < some; i++) {
                sl_pack(end->type, from + (uint64_t)i * end->type->size, stage + (uint64_t)(s->tail + i) * bytes);
            }
        }
        s->tail += some;
        from += (uint64_t)some * end->type->size;
        n -= some;
        if (s->tail == (int64_t)end->capacity) {
            sl_hand_over(ctx, (int32_t)writer);
        }
    }
}

SL_ENGINE void sl_put(sl_ctx *ctx, uint32_t writer, void *items, int64_t n) { sl_put_seen(ctx, writer, items, n, 1); }

/* How many more items a writer can take now. */
static int64_t sl_space(sl_ctx *ctx, uint32_t writer) {
    if (!ctx->host.space) {
        return INT64_MAX;
    }
    int64_t room = ctx->host.space(ctx->host.user, writer) - ctx->written[writer].tail;
    return room < 0 ? 0 : room;
}

#ifdef SL_STAGES
/* Items that come once more, after a fault: moves as many as there is room for. Gives whether there were any. */
static int sl_once_more(sl_ctx *ctx, uint32_t reader, char *place, int64_t room) {
    sl_back *back = ctx->back ? &ctx->back[reader] : NULL;
    const uint64_t size = ctx->program->readers[reader].type->size;
    if (!back || back->at == back->count || room == 0) {
        return 0;
    }
    int64_t some = back->count - back->at < room ? back->count - back->at : room;
    memcpy(place, back->items + (uint64_t)back->at * size, (uint64_t)some * size);
    back->at += some;
    ctx->read[reader].tail += some;
    return 1;
}
#endif

/* Asks the host for items of a reader, as many as its stage has room for. Gives how many the stage holds. */
static int64_t sl_fetch(sl_ctx *ctx, uint32_t reader, int64_t want, int32_t wait) {
    const sl_end *end = &ctx->program->readers[reader];
    const uint64_t bytes = ctx->program->abi->readers[reader].bytes, size = end->type->size;
    sl_stage_of_end *s = &ctx->read[reader];
    char *stage = ctx->arena + end->stage;
    while (s->tail - s->head < want) {
        if (s->lent && s->head < s->tail) {
            break; /* these are all that there are for now */
        }
        if (s->head == s->tail) {
            const void *items = NULL;
            const int64_t lent =
                ctx->host.lend && sl_are_numbers(end->type) && !s->ended ? ctx->host.lend(ctx->host.user, reader, &items) : 0;
            s->lent = lent > 0 ? items : NULL;
            s->head = 0;
            s->tail = lent > 0 ? lent : 0;
            if (lent > 0) {
                break;
            }
        }
        if (s->head > 0 && (s->head == s->tail || s->tail == (int64_t)end->capacity || s->head + want > (int64_t)end->capacity)) {
            memmove(stage, stage + (uint64_t)s->head * size, (uint64_t)(s->tail - s->head) * size);
            s->tail -= s->head;
            s->head = 0;
        }
        int64_t room = (int64_t)end->capacity - s->tail;
        char *place = stage + (uint64_t)s->tail * size;
#ifdef SL_STAGES
        if (sl_once_more(ctx, reader, place, room)) {
            continue;
        }
#endif
        if (s->ended) {
            break;
        }
        /* host form is never longer than memory form: it goes to the upper end of the free room and is spread from there */
        char *raw = end->flat ? place : place + (uint64_t)room * (size - bytes);
        if (wait) {
            sl_flush(ctx);
        }
        int64_t got = ctx->host.read(ctx->host.user, reader, raw, room, wait);
        if (got == SLUICE_END) {
            s->ended = SL_ENDED;
        } else if (got == SLUICE_ERROR) {
            s->ended = SL_BROKEN;
        } else if (got < 0 || got > room) {
            sl_stop_run(ctx, SLUICE_HOST, "items could not be read");
        } else if (got == 0) {
            break;
        } else {
            if (end->flat) {
                sl_mend(end->type, place, got);
            } else {
                const char *from = raw;
                for (int64_t i = 0; i < got; i++) {
                    /* one item's host form may overlap its memory form */
                    char one[256];
                    char *copy = bytes <= sizeof one ? one : ctx->arena + end->stage + end->capacity * size;
                    memcpy(copy, from, bytes);
                    sl_unpack(end->type, copy, place + (uint64_t)i * size);
                    from += bytes;
                }
            }
            s->tail += got;
        }
    }
    return s->tail - s->head;
}

SL_ENGINE const void *sl_take(sl_ctx *ctx, uint32_t reader, int64_t n) {
    const sl_end *end = &ctx->program->readers[reader];
    sl_stage_of_end *s = &ctx->read[reader];
    const char *items = (s->lent ? s->lent : ctx->arena + end->stage) + (uint64_t)s->head * end->type->size;
    s->head += n;
    return items;
}

/* Ends a loan: gives how many items of it, the last ones, have not been used. */
static SL_UNUSED int64_t sl_give_back(sl_ctx *ctx, uint32_t reader) {
    sl_stage_of_end *s = &ctx->read[reader];
    const int64_t left = s->lent ? s->tail - s->head : 0;
    if (s->lent) {
        s->lent = NULL;
        s->head = s->tail = 0;
    }
    return left;
}
