/* Dynamic rates. A firing that decides how many items it pops, peeks or pushes is an attempt: where an item is not there, or there is no room
 * for one, it is left by a jump, its state is put back, and what it printed and sent is forgotten. Where room was the reason, it is begun
 * again at once; else the node waits until the item is there. Buffers grow as they must, up to the program's limit.
 *
 * Several epochs run fast as a flow: each node in turn fires as often as its items allow, with bounded buffers between them, until
 * nothing moves. Which firings happen does not depend on the order; what is left over is done by the slow way. */
#include "sl_engine.h"

/* Items that a flow lets gather on a channel before it turns to those that take them; more, where otherwise nothing moves. */
#define SL_FLOW_ITEMS 4096
#define SL_FLOW_MOST (1 << 22)
/* Text of one attempt. */
#define SL_TEXT_MOST ((size_t)64 << 20)

_Noreturn SL_ENGINE void sl_want(sl_ctx *ctx, uint64_t position) {
    ctx->wanted = (int64_t)position + 1;
    longjmp(ctx->attempt, 1);
}

_Noreturn SL_ENGINE void sl_full(sl_ctx *ctx) { longjmp(ctx->attempt, 2); }

_Noreturn static void sl_channel_full(sl_ctx *ctx, uint32_t c) {
    const sl_program *p = ctx->program;
    const char *from = p->nodes[p->channels[c].from].path, *to = p->nodes[p->channels[c].to].path;
    snprintf(ctx->message, sizeof ctx->message, "%s, firing %lld: more than %llu items wait on the channel to `%s`", from,
             (long long)ctx->firing, (unsigned long long)p->channel_limit, to);
    ctx->node = (int32_t)p->channels[c].from;
    sl_escape(ctx, SLUICE_FULL, (int32_t)c, (int64_t)p->channel_limit);
}

/* Items on a channel. */
static uint64_t sl_held(const sl_ctx *ctx, uint32_t c) { return (uint64_t)(ctx->at[c].tail - ctx->at[c].head); }

/* After a firing: do its outputs hold more than they may? */
SL_ENGINE void sl_watch_limit(sl_ctx *ctx, const sl_node *n) {
    for (uint32_t i = 0; i < n->outs; i++) {
        const uint32_t c = ctx->program->ports[n->first_out + i];
        if (sl_held(ctx, c) > ctx->program->channel_limit) {
            sl_channel_full(ctx, c);
        }
    }
}

SL_ENGINE void sl_make_room(sl_ctx *ctx, uint32_t c, uint64_t n) {
    const sl_channel *ch = &ctx->program->channels[c];
    sl_cursor *at = &ctx->at[c];
    const uint64_t held = (uint64_t)(at->tail - at->head), gone = (uint64_t)at->head;
    if ((uint64_t)at->tail + n <= ctx->capacity[c]) {
        return;
    }
    /* moving is worth its while where more is won than moved */
    if (gone >= held && held + n <= ctx->capacity[c]) {
        sl_compact(ctx, c);
        return;
    }
    uint64_t items = ctx->capacity[c] < 32 ? 64 : 2 * ctx->capacity[c];
    if (items < held + n) {
        items = held + n;
    }
    char *buffer = items < SIZE_MAX / 2 / ch->item ? malloc(items * ch->item) : NULL;
    if (!buffer) {
        ctx->node = (int32_t)ch->from;
        sl_stop_run(ctx, SLUICE_MEMORY, "no memory for the items that wait on a channel");
    }
    char *old = ctx->place[c];
    memcpy(buffer, old + gone * ch->item, held * ch->item);
    at->head = 0;
    at->tail = (int64_t)held;
    if (old != ctx->arena + ch->offset) {
        free(old);
    }
    ctx->place[c] = buffer;
    ctx->capacity[c] = items;
}

SL_ENGINE void sl_free_buffers(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    for (uint32_t c = 0; p->dynamic && c < p->channel_count; c++) {
        if (ctx->place[c] != ctx->arena + p->channels[c].offset) {
            free(ctx->place[c]);
        }
    }
    free(ctx->held);
}

/* Keeps back what an attempt prints. */
SL_ENGINE void sl_hold_text(sl_ctx *ctx, const char *text, size_t length) {
    if (ctx->held_length + length > SL_TEXT_MOST) {
        sl_too_much(ctx, 0, "one firing prints more than 64 MiB");
    }
    if (ctx->held_length + length > ctx->held_room) {
        size_t room = 2 * (ctx->held_length + length) + 256;
        char *held = realloc(ctx->held, room);
        if (!held) {
            ctx->attempting = 0;
            sl_stop_run(ctx, SLUICE_MEMORY, "no memory for the text that a firing prints");
        }
        ctx->held = held;
        ctx->held_room = room;
    }
    memcpy(ctx->held + ctx->held_length, text, length);
    ctx->held_length += length;
}

SL_ENGINE void sl_let_go(sl_ctx *ctx) {
    size_t length = ctx->held_length;
    ctx->attempting = 0;
    ctx->held_length = 0;
    if (length > 0) {
        sl_print_text(ctx, ctx->held, length);
    }
}

/* Fires once: 0, or why the firing was left. A function of its own, so that no variable lives where the jump arrives. */
__attribute__((noinline)) static int sl_try(sl_ctx *ctx, sl_fire_fn *fire, void *state, const void *from, void *to) {
    const int why = setjmp(ctx->attempt);
    if (why == 0) {
        fire(ctx, state, from, to, 1);
    }
    return why;
}

/* One attempt of a node to fire: 1 where it did; else `ctx->need[v]` says for how many items it waits. (In a flow it may wait for room, too.) */
SL_ENGINE int sl_attempt(sl_ctx *ctx, uint32_t v) {
    const sl_program *const p = ctx->program;
    const sl_node *const n = &p->nodes[v];
    const sl_code *const code = &p->codes[n->what];
    const uint32_t in = n->ins > 0 ? p->ports[n->first_in] : 0, out = n->outs > 0 ? p->ports[n->first_out] : 0;
    char *const state = ctx->states + n->state;
    const int first = sl_first(ctx, n, v);
    /* in a flow, channels are never filled beyond the limit: whether that is needed, the order shows */
    const uint64_t limit = p->channel_limit - (ctx->flow_items > 0 && n->outs > 0 ? sl_held(ctx, out) : 0);
    ctx->node = (int32_t)v;
    ctx->firing = ctx->fired[v] + 1;
    if (p->link_count > 0) {
        sl_deliver(ctx, v, ctx->fired[v], 1);
    }
    for (;;) {
        if (n->outs > 0) {
            sl_make_room(ctx, out, code->most_pushed <= 65536 && code->most_pushed > 0 ? code->most_pushed : 1);
            const uint64_t room = ctx->capacity[out] - (uint64_t)ctx->at[out].tail;
            ctx->room = room < limit ? room : limit;
        }
        ctx->have = n->ins > 0 ? sl_held(ctx, in) : 0;
        ctx->looked = 0;
        ctx->attempting = 1;
        const uint64_t sent = ctx->mail.sent;
        /* where no item and no room can be missing, nothing will be undone */
        const int sure = !first && (n->ins == 0 || ctx->have >= code->most_looked) &&
                         (n->outs == 0 || ctx->room >= code->most_pushed);
        if (!sure) {
            memcpy(ctx->undo, state, code->state_bytes);
        }
        sl_begin_calls(ctx, v, sure);
        const int why = sl_try(ctx, first ? code->prework : code->fire, state, n->ins > 0 ? sl_head(ctx, in) : NULL,
                               n->outs > 0 ? sl_tail(ctx, out) : NULL);
        if (why == 0) {
            break;
        }
        memcpy(state, ctx->undo, code->state_bytes);
        ctx->attempting = 0;
        ctx->held_length = 0;
        if (p->link_count > 0) {
            sl_unsend(ctx, v, sent);
        }
        if (why == 1) {
#ifdef SL_STATS
            sl_stats_abandoned(ctx, v);
#endif
            ctx->need[v] = ctx->wanted;
            return 0;
        }
        if (ctx->room >= limit) {
            if (ctx->flow_items > 0) {
                return 0;
            }
            sl_channel_full(ctx, out);
        }
        sl_make_room(ctx, out, 2 * ctx->room < limit ? 2 * ctx->room : limit);
    }
    sl_let_go(ctx);
    sl_forget_calls(ctx, v);
    int64_t took = 0, gave = 0;
    if (n->ins > 0) {
        took = ctx->took;
        const int64_t needed = sl_need(ctx, v, in);
        const int64_t looked = (int64_t)ctx->looked > needed ? (int64_t)ctx->looked : needed;
        ctx->at[in].head += took;
        ctx->need[v] = took == 0 && ctx->gave == 0 ? looked + 1 : 0;
    }
    if (n->outs > 0) {
        gave = ctx->gave;
        ctx->at[out].tail += gave;
    }
#ifdef SL_STATS
    sl_stats_moved(ctx, v, took, gave);
#endif
    return 1;
}

/* ---- flow ---- */

/* How often a node that decides nothing can fire now. */
static int64_t sl_flow_times(sl_ctx *ctx, uint32_t v, int64_t most) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    const int first = sl_first(ctx, n, v);
    int64_t times = first && most > 1 ? 1 : most;
    for (uint32_t i = 0; i < n->ins && times > 0; i++) {
        const uint32_t c = p->ports[n->first_in + i];
        const int64_t spare = ctx->at[c].tail - ctx->at[c].head - sl_need(ctx, v, c);
        const int64_t take = first ? p->codes[n->what].pre_pop : p->channels[c].consume;
        if (spare < 0) {
            return 0;
        }
        if (take > 0 && spare / take + 1 < times) {
            times = spare / take + 1;
        }
    }
    return times;
}

/* How many items more a channel should get now. */
static int64_t sl_flow_space(const sl_ctx *ctx, uint32_t c) { return ctx->flow_items - (int64_t)sl_held(ctx, c); }

/* Attempts of a node in a row as long as neither an item nor room is missing, at most so many, and none beyond what a flow lets gather (or not by much): how
 * often it has fired. */
static int64_t sl_flow_sure(sl_ctx *ctx, uint32_t v, int64_t most) {
    const sl_program *const p = ctx->program;
    const sl_node *const n = &p->nodes[v];
    const sl_code *const code = &p->codes[n->what];
    if (!code->sure || p->link_count > 0 || sl_first(ctx, n, v)) {
        return 0;
    }
    const uint32_t in = p->ports[n->first_in], out = n->outs > 0 ? p->ports[n->first_out] : 0;
    ctx->have = sl_held(ctx, in);
    if ((int64_t)ctx->have < sl_need(ctx, v, in)) {
        return 0;
    }
    if (n->outs > 0) {
        const uint64_t limit = p->channel_limit - sl_held(ctx, out);
        const uint64_t last = code->most_pushed <= 65536 ? code->most_pushed : SL_FLOW_ITEMS;
        const uint64_t room = (uint64_t)sl_flow_space(ctx, out) + last - 1;
        ctx->room = room < limit ? room : limit;
        sl_make_room(ctx, out, ctx->room);
    }
    ctx->node = (int32_t)v;
    ctx->firing = ctx->fired[v];
    ctx->attempting = 0;
    code->sure(ctx, ctx->states + n->state, sl_head(ctx, in), n->outs > 0 ? sl_tail(ctx, out) : NULL, (long)most);
    ctx->at[in].head += ctx->took;
    if (n->outs > 0) {
        ctx->at[out].tail += ctx->gave;
    }
    if (ctx->surely > 0) {
        ctx->need[v] = 0;
    }
#ifdef SL_STATS
    sl_stats_moved(ctx, v, ctx->took, n->outs > 0 ? ctx->gave : 0);
#endif
    return ctx->surely;
}

/* Fires a node as often as its items and the channels behind it allow. Did it? */
static int sl_flow_node(sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    const int first = sl_first(ctx, n, v), attempt = n->kind == SL_FILTER && p->codes[n->what].attempt;
    int64_t times = sl_quota(ctx, n) - ctx->fired[v];
    for (uint32_t i = 0; i < n->outs && times > 0; i++) {
        const uint32_t c = p->ports[n->first_out + i];
        const int64_t space = sl_flow_space(ctx, c), produce = first ? p->codes[n->what].pre_push : p->channels[c].produce;
        const int64_t room = (int64_t)p->channel_limit - (int64_t)sl_held(ctx, c);
        if (space <= 0 || room <= 0) {
            return 0;
        }
        if (produce > 0 && !attempt) {
            const int64_t wanted = (space + produce - 1) / produce, most = room / produce;
            times = wanted < times ? wanted : times;
            times = most < times ? most : times;
        }
    }
    if (times <= 0) {
        return 0;
    }
#ifdef SL_STATS
    sl_stamp(ctx);
#endif
    if (attempt) {
        int64_t done = 0;
        while (done < times) {
            if (n->ins > 0) {
                const uint32_t in = p->ports[n->first_in];
                const int64_t need = sl_need(ctx, v, in);
                if (ctx->at[in].tail - ctx->at[in].head < (need > 0 ? need : 1)) {
                    break;
                }
            }
            if (n->outs > 0) {
                const uint32_t out = p->ports[n->first_out];
                if (sl_flow_space(ctx, out) <= 0 || sl_held(ctx, out) >= p->channel_limit) {
                    break;
                }
            }
            const int64_t sure = sl_flow_sure(ctx, v, times - done);
            if (sure == 0 && !sl_attempt(ctx, v)) {
                break;
            }
            ctx->fired[v] += sure > 0 ? sure : 1;
            sl_watch_limit(ctx, n);
            done += sure > 0 ? sure : 1;
        }
#ifdef SL_STATS
        sl_tick(ctx, v, done);
        sl_stats_fill(ctx, v);
#endif
        return done > 0;
    }
    if (n->kind == SL_READER) {
        const int64_t there = sl_fetch(ctx, n->what, times, 0);
        times = there < times ? there : times;
    } else if (n->kind == SL_WRITER && ctx->host.space) {
        const int64_t space = sl_space(ctx, n->what);
        times = space < times ? space : times;
    }
    times = sl_flow_times(ctx, v, times);
    if (times <= 0) {
        return 0;
    }
    for (uint32_t i = 0; i < n->outs; i++) {
        const uint32_t c = p->ports[n->first_out + i];
        sl_make_room(ctx, c, first ? p->codes[n->what].pre_push : (uint64_t)times * p->channels[c].produce);
    }
    ctx->node = (int32_t)v;
    ctx->firing = times == 1 ? ctx->fired[v] + 1 : 0;
    if (first) {
        sl_fire_first(ctx, v);
    } else {
        sl_fire_node(ctx, v, times);
    }
#ifdef SL_STATS
    sl_tick(ctx, v, times);
    sl_stats_fill(ctx, v);
#endif
    ctx->fired[v] += times;
    sl_watch_limit(ctx, n);
    return 1;
}

/* Runs up to `k` epochs, as far as that goes without looking at the order; the slow way completes them. */
SL_ENGINE void sl_flow(sl_ctx *ctx, int64_t k) {
    const sl_program *p = ctx->program;
    int moved;
    ctx->epoch += k;
    ctx->moved = 0;
    ctx->flow_items = SL_FLOW_ITEMS;
    do {
        moved = 0;
        for (uint32_t v = 0; v < p->node_count; v++) {
            moved |= sl_flow_node(ctx, v);
        }
        ctx->moved |= (uint32_t)moved;
        if (!moved && ctx->flow_items < SL_FLOW_MOST) {
            ctx->flow_items *= 4;
            moved = 1;
        }
    } while (moved);
    ctx->flow_items = 0;
    ctx->node = -1;
    ctx->firing = 0;
    moved = (int)ctx->moved;
    sl_begin_epoch(ctx, ctx->epoch);
    ctx->moved = (uint32_t)moved;
}
