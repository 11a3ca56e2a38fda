/* A fault within a batch: the batch is undone and run again slowly, so that everything the program does before the fault comes out, and nothing
 * else, as if it had run one firing at a time. Before each batch the filters' states and the items left on channels are saved; what
 * the failed batch has already handed over is counted, and left out the second time. Programs without places where they can stop save nothing;
 * nor do those that send messages, have dynamic rates, call native functions, or hold more than SL_SAVE_MOST bytes. */
#include "sl_engine.h"

#define SL_SAVE_MOST (256u << 10)

/* Bytes to save; 0 where nothing is. */
static uint64_t sl_saved_bytes(const sl_program *p) {
    uint64_t bytes = p->state_bytes;
    if (p->site_count == 0 || p->link_count > 0 || p->dynamic || p->natives) {
        return 0;
    }
    for (uint32_t i = 0; i < p->kept_count && bytes <= SL_SAVE_MOST; i++) {
        const sl_channel *ch = &p->channels[p->kept[i]];
        bytes += ch->fill * ch->item;
    }
    return bytes <= SL_SAVE_MOST ? bytes + 1 : 0;
}

/* At a boundary: before a batch. Of a channel that slides, where its items are. */
static void sl_save(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    char *to = ctx->saved;
    if (!to) {
        return;
    }
    memcpy(to, ctx->states, p->state_bytes);
    to += p->state_bytes;
    for (uint32_t i = 0; i < p->kept_count; i++) {
        const sl_channel *ch = &p->channels[p->kept[i]];
        if (ch->slides) {
            /* a batch writes behind the items only */
            memcpy(to, &ctx->at[p->kept[i]].head, sizeof(int64_t));
            to += sizeof(int64_t);
            continue;
        }
        memcpy(to, ctx->arena + ch->offset, ch->fill * ch->item);
        to += ch->fill * ch->item;
    }
    for (uint32_t r = 0; r < p->abi->reader_count; r++) {
        ctx->again[r] = ctx->read[r].head;
    }
    memset(ctx->handed_over, 0, (p->abi->writer_count + 1) * sizeof(int64_t));
    ctx->in_batch = 1;
}

/* What a batch that is undone has put out and nobody has taken yet never was: of `count`, by writer, then text. What is held longest comes from before the batch. */
SL_ENGINE void sl_take_back(sl_ctx *ctx, int64_t *count) {
    const uint32_t writers = ctx->program->abi->writer_count;
    for (uint32_t w = 0; w < writers; w++) {
        const int64_t held = ctx->written[w].tail < count[w] ? ctx->written[w].tail : count[w];
        ctx->written[w].tail -= held;
        count[w] -= held;
    }
    const int64_t length = (int64_t)ctx->print_length, held = length < count[writers] ? length : count[writers];
    ctx->print_length -= (size_t)held;
    count[writers] -= held;
}

/* After a fault: back to the boundary before the batch. False where there is no way back. */
static int32_t sl_restore(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    const char *from = ctx->saved;
    if (!from || !ctx->in_batch) {
        return 0;
    }
    memcpy(ctx->states, from, p->state_bytes);
    from += p->state_bytes;
    for (uint32_t c = 0; c < p->channel_count; c++) {
        ctx->at[c].head = 0;
        ctx->at[c].tail = (int64_t)p->channels[c].fill;
    }
    for (uint32_t i = 0; i < p->kept_count; i++) {
        const sl_channel *ch = &p->channels[p->kept[i]];
        if (ch->slides) {
            sl_cursor *at = &ctx->at[p->kept[i]];
            memcpy(&at->head, from, sizeof(int64_t));
            at->tail = at->head + (int64_t)ch->fill;
            from += sizeof(int64_t);
            continue;
        }
        memcpy(ctx->arena + ch->offset, from, ch->fill * ch->item);
        from += ch->fill * ch->item;
    }
    for (uint32_t r = 0; r < p->abi->reader_count; r++) {
        ctx->read[r].head = ctx->again[r];
    }
    sl_take_back(ctx, ctx->handed_over);
    memcpy(ctx->left_out, ctx->handed_over, (p->abi->writer_count + 1) * sizeof(int64_t));
    ctx->in_batch = 0;
    ctx->slow_only = 1;
#ifdef SL_STATS
    sl_stats_undo(ctx);
#endif
    ctx->node = -1;
    ctx->firing = 0;
    ctx->error.code = 0;
    ctx->error.node = ctx->error.site = -1;
    return 1;
}

/* Of `n` items for a writer, or bytes of text for the last index: how many came out already, before a batch was undone. */
SL_ENGINE int64_t sl_already_out(sl_ctx *ctx, uint32_t end, int64_t n) {
    int64_t out = 0;
    if (ctx->saved) {
        out = ctx->left_out[end] < n ? ctx->left_out[end] : n;
        ctx->left_out[end] -= out;
        ctx->handed_over[end] += n - out;
    }
    return out;
}
