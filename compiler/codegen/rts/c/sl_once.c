/* Native functions called by attempts. What they did cannot be undone, so an attempt that is abandoned keeps what its calls gave back and left in
 * arrays; when the node attempts to fire again, with the same state and items, its calls get that instead, as far as the first attempt came.
 * So each call of a firing is made once. Where a message took effect in between, the firing is another one, and starts afresh. */
#include "sl_engine.h"

/* The calls of the node that attempts to fire; NULL where it is no attempt. */
static sl_calls *sl_calls_now(sl_ctx *ctx) {
    return ctx->attempting && ctx->calls && ctx->node >= 0 ? &ctx->calls[ctx->node] : NULL;
}

/* Is this call one that an abandoned attempt has made? */
SL_ENGINE int sl_called(sl_ctx *ctx, uint32_t native) {
    sl_calls *calls = sl_calls_now(ctx);
    uint32_t there;
    if (!calls || calls->at >= calls->length) {
        return 0;
    }
    memcpy(&there, calls->bytes + calls->at, sizeof there);
    if (there != native) {
        calls->length = calls->at;
        return 0;
    }
    calls->at += sizeof there;
    return 1;
}

SL_ENGINE void sl_recall(sl_ctx *ctx, void *to, size_t bytes) {
    sl_calls *calls = &ctx->calls[ctx->node];
    memcpy(to, calls->bytes + calls->at, bytes);
    calls->at += bytes;
}

SL_ENGINE void sl_note_call(sl_ctx *ctx, const void *from, size_t bytes) {
    sl_calls *calls = sl_calls_now(ctx);
    if (!calls || !ctx->noting) {
        return;
    }
    if (calls->length + bytes > calls->room) {
        const size_t room = 2 * (calls->length + bytes) + 64;
        char *more = realloc(calls->bytes, room);
        if (!more) {
            ctx->attempting = 0;
            sl_stop_run(ctx, SLUICE_MEMORY, "no memory for what native functions gave back");
        }
        calls->bytes = more;
        calls->room = room;
    }
    memcpy(calls->bytes + calls->length, from, bytes);
    calls->length += bytes;
    calls->at = calls->length;
}

/* Before an attempt: `sure` if it will not be abandoned. */
SL_ENGINE void sl_begin_calls(sl_ctx *ctx, uint32_t v, int sure) {
    if (ctx->calls) {
        ctx->noting = !sure;
        ctx->calls[v].at = 0;
    }
}

SL_ENGINE void sl_forget_calls(sl_ctx *ctx, uint32_t v) {
    if (ctx->calls) {
        ctx->calls[v].length = 0;
    }
}

SL_ENGINE void sl_free_calls(sl_ctx *ctx) {
    for (uint32_t v = 0; ctx->calls && v < ctx->program->node_count; v++) {
        free(ctx->calls[v].bytes);
    }
}
