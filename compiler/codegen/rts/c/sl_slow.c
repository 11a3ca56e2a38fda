/* The slow way to run: the language's reference order, one firing at a time, over the program's tables.
 *
 * Where nobody can tell (nothing can fail, no messages, no order of prints to be seen, no counts), a node whose turn it is fires as often as it can in
 * the epoch: the same firings happen, in another order. A source goes ahead of the demand so only where it is the only one: then what it has by the
 * end of its quota is wanted.
 *
 * A firing costs a little for each of its channels, and the logarithm of the number of nodes. The walk from a root to a source is
 * kept between pulls, so that a long chain of nodes is not walked again for each item. */
#include "sl_engine.h"

/* ---- sets ---- */

static void sl_set_add(sl_set *s, uint32_t i) {
    for (uint32_t l = 0; l < s->levels; l++) {
        uint64_t *w = &s->level[l][i >> 6], before = *w;
        *w |= (uint64_t)1 << (i & 63);
        if (before) {
            return;
        }
        i >>= 6;
    }
}

static void sl_set_remove(sl_set *s, uint32_t i) {
    for (uint32_t l = 0; l < s->levels; l++) {
        uint64_t *w = &s->level[l][i >> 6];
        *w &= ~((uint64_t)1 << (i & 63));
        if (*w) {
            return;
        }
        i >>= 6;
    }
}

/* The greatest, or -1. */
static int64_t sl_set_last(const sl_set *s) {
    uint64_t i = 0;
    for (uint32_t l = s->levels; l-- > 0;) {
        uint64_t w = s->level[l][i];
        if (!w) {
            return -1;
        }
        i = i << 6 | (uint64_t)(63 - __builtin_clzll(w));
    }
    return (int64_t)i;
}

/* The least that is at least `i`, or -1. */
static int64_t sl_set_next(const sl_set *s, uint64_t i, uint64_t size) {
    uint32_t l = 0;
    while (l < s->levels) {
        if (i >= size) {
            return -1;
        }
        uint64_t w = s->level[l][i >> 6] & ~(uint64_t)0 << (i & 63);
        if (w) {
            i = (i & ~(uint64_t)63) | (uint64_t)__builtin_ctzll(w);
            while (l-- > 0) {
                i = i << 6 | (uint64_t)__builtin_ctzll(s->level[l][i]);
            }
            return (int64_t)i;
        }
        i = (i >> 6) + 1;
        size = (size + 63) >> 6;
        l++;
    }
    return -1;
}

/* ---- rates ---- */

/* Is the next firing of this node one of its prework? */
static int sl_first(const sl_ctx *ctx, const sl_node *n, uint32_t v) {
    return n->kind == SL_FILTER && ctx->fired[v] == 0 && ctx->program->codes[n->what].prework != NULL;
}

static int64_t sl_quota(const sl_ctx *ctx, const sl_node *n) {
    return n->loose ? INT64_MAX : (int64_t)(n->init + (uint64_t)ctx->epoch * n->repetitions);
}

/* The items that a node's next firing needs on one of its channels. */
static int64_t sl_need(const sl_ctx *ctx, uint32_t v, uint32_t c) {
    const sl_node *n = &ctx->program->nodes[v];
    int64_t need = sl_first(ctx, n, v) ? ctx->program->codes[n->what].pre_peek : ctx->program->channels[c].peek;
    return need > ctx->need[v] ? need : ctx->need[v];
}

/* Does the node's next attempt need no item, and finds none? Then it is taken for a source. */
static int sl_begins_with_nothing(const sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    if (n->kind != SL_FILTER || !p->codes[n->what].attempt || n->ins == 0) {
        return 0;
    }
    const uint32_t c = p->ports[n->first_in];
    return ctx->at[c].tail == ctx->at[c].head && sl_need(ctx, v, c) == 0;
}

/* Which input port lacks items for the next firing; -1 where none does. */
static int64_t sl_lacking(const sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    for (uint32_t i = 0; i < n->ins; i++) {
        uint32_t c = p->ports[n->first_in + i];
        if (ctx->at[c].tail - ctx->at[c].head < sl_need(ctx, v, c)) {
            return i;
        }
    }
    return -1;
}

/* ---- nodes ---- */

/* Forgets the walk behind a node on it: what that node waits for may have changed. */
static void sl_cut_path(sl_ctx *ctx, uint32_t v) {
    uint32_t keep = ctx->on_path[v];
    if (keep > 0) {
        while (ctx->path_length > keep) {
            ctx->on_path[ctx->path[--ctx->path_length]] = 0;
        }
    }
}

/* Is the node ready? */
static void sl_refresh(sl_ctx *ctx, uint32_t v) {
    const sl_node *n = &ctx->program->nodes[v];
    if (n->ins > 0 && !ctx->dead[v] && ctx->fired[v] < sl_quota(ctx, n) && sl_lacking(ctx, v) < 0 &&
        sl_waits_for(ctx, v) < 0 && !sl_begins_with_nothing(ctx, v)) {
        sl_set_add(&ctx->ready, v);
    } else {
        sl_set_remove(&ctx->ready, v);
    }
}

/* Those that wait for a node may be able to fire now. */
static void sl_refresh_next(sl_ctx *ctx, uint32_t v) {
    const sl_node *n = &ctx->program->nodes[v];
    for (uint32_t i = 0; i < n->nexts; i++) {
        uint32_t w = ctx->program->nexts[n->first_next + i];
        sl_cut_path(ctx, w);
        sl_refresh(ctx, w);
    }
}

/* Marks a node dead, and those that can never fire again because of it. */
static void sl_die(sl_ctx *ctx, uint32_t first) {
    const sl_program *p = ctx->program;
    uint32_t held = 0;
    ctx->dead[first] = 1;
    ctx->stack[held++] = first;
    ctx->any_dead = 1;
    while (held > 0) {
        uint32_t v = ctx->stack[--held];
        const sl_node *n = &p->nodes[v];
        ctx->alive -= !n->free;
        sl_set_remove(&ctx->ready, v);
        sl_set_remove(&ctx->below, ctx->rank[v]);
        sl_cut_path(ctx, v);
        sl_refresh_next(ctx, v);
        for (uint32_t i = 0; i < n->ins; i++) {
            sl_cursor *at = &ctx->at[p->ports[n->first_in + i]];
            at->head = at->tail = 0;
        }
        for (uint32_t i = 0; i < n->outs; i++) {
            uint32_t c = p->ports[n->first_out + i], w = p->channels[c].to;
            if (!ctx->dead[w] && ctx->at[c].tail - ctx->at[c].head < sl_need(ctx, w, c)) {
                ctx->dead[w] = 1;
                ctx->stack[held++] = w;
            }
        }
    }
}

/* Moves a channel's items to the start of its buffer. */
static void sl_compact(sl_ctx *ctx, uint32_t c) {
    sl_cursor *at = &ctx->at[c];
    const sl_channel *ch = &ctx->program->channels[c];
    if (at->head > 0) {
        char *buffer = ctx->place[c];
        memmove(buffer, buffer + (uint64_t)at->head * ch->item, (uint64_t)(at->tail - at->head) * ch->item);
        at->tail -= at->head;
        at->head = 0;
    }
}

static char *sl_head(sl_ctx *ctx, uint32_t c) {
    const sl_channel *ch = &ctx->program->channels[c];
    return ctx->place[c] + (uint64_t)ctx->at[c].head * ch->item;
}

static char *sl_tail(sl_ctx *ctx, uint32_t c) {
    const sl_channel *ch = &ctx->program->channels[c];
    return ctx->place[c] + (uint64_t)ctx->at[c].tail * ch->item;
}

/* Copies `times` pieces of `bytes` bytes, some apart. */
static void sl_copy_pieces(char *to, size_t to_step, const char *from, size_t from_step, size_t bytes, int64_t times) {
#define SL_PIECES(size) \
    case size: \
        for (int64_t t = 0; t < times; t++) memcpy(to + (size_t)t * to_step, from + (size_t)t * from_step, size); \
        break;
    switch (bytes) {
        SL_PIECES(1)
        SL_PIECES(4)
        SL_PIECES(8)
        SL_PIECES(12)
        SL_PIECES(16)
        SL_PIECES(32)
    default:
        for (int64_t t = 0; t < times; t++) memcpy(to + (size_t)t * to_step, from + (size_t)t * from_step, bytes);
    }
#undef SL_PIECES
}

/* Deals items out to the ports of a splitter, or collects those of a joiner: port by port, so that one part is written in a row. */
static void sl_deal(sl_ctx *ctx, const sl_node *n, char *whole, int split, int64_t times) {
    const sl_program *p = ctx->program;
    uint32_t ports = split ? n->outs : n->ins;
    const uint32_t *channels = p->ports + (split ? n->first_out : n->first_in);
    const uint32_t *weights = p->weights + n->first_weight;
    size_t all = 0;
    for (uint32_t i = 0; i < ports; i++) {
        all += (size_t)weights[i] * p->channels[channels[i]].item;
    }
    for (uint32_t i = 0; i < ports; i++) {
        const uint32_t c = channels[i];
        const size_t bytes = (size_t)weights[i] * p->channels[c].item;
        if (split) {
            sl_copy_pieces(sl_tail(ctx, c), bytes, whole, all, bytes, times);
            ctx->at[c].tail += times * weights[i];
        } else {
            sl_copy_pieces(whole, all, sl_head(ctx, c), bytes, bytes, times);
            ctx->at[c].head += times * weights[i];
        }
        whole += bytes;
    }
}

SL_ENGINE void sl_fire_node(sl_ctx *ctx, uint32_t v, int64_t n) {
    const sl_program *p = ctx->program;
    const sl_node *node = &p->nodes[v];
    uint32_t in = node->ins > 0 ? p->ports[node->first_in] : 0, out = node->outs > 0 ? p->ports[node->first_out] : 0;
    char *from = node->ins > 0 ? sl_head(ctx, in) : NULL, *to = node->outs > 0 ? sl_tail(ctx, out) : NULL;
    ctx->node = (int32_t)v;
    switch (node->kind) {
    case SL_FILTER:
        p->codes[node->what].fire(ctx, ctx->states + node->state, from, to, (long)n);
        if (from) {
            ctx->at[in].head += n * (int64_t)p->channels[in].consume;
        }
        if (to) {
            ctx->at[out].tail += n * (int64_t)p->channels[out].produce;
        }
        break;
    case SL_IDENTITY:
        memcpy(to, from, (uint64_t)n * p->channels[in].item);
        ctx->at[in].head += n;
        ctx->at[out].tail += n;
        break;
    case SL_DUPLICATE:
        for (uint32_t i = 0; i < node->outs; i++) {
            out = p->ports[node->first_out + i];
            memcpy(sl_tail(ctx, out), from, (uint64_t)n * p->channels[in].item);
            ctx->at[out].tail += n;
        }
        ctx->at[in].head += n;
        break;
    case SL_SPLIT:
        if (from) {
            sl_deal(ctx, node, from, 1, n);
            ctx->at[in].head += n * (int64_t)p->channels[in].consume;
        }
        break;
    case SL_JOIN:
        if (to) {
            sl_deal(ctx, node, to, 0, n);
            ctx->at[out].tail += n * (int64_t)p->channels[out].produce;
        }
        break;
    case SL_READER:
        memcpy(to, sl_take(ctx, node->what, n), (uint64_t)n * p->channels[out].item);
        ctx->at[out].tail += n;
        break;
    default:
        sl_put(ctx, node->what, from, n);
        ctx->at[in].head += n;
        break;
    }
}

/* A node's firing of its prework; the items and the room are there. */
static void sl_fire_first(sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    const sl_code *code = &p->codes[n->what];
    uint32_t in = n->ins > 0 ? p->ports[n->first_in] : 0, out = n->outs > 0 ? p->ports[n->first_out] : 0;
    code->prework(ctx, ctx->states + n->state, n->ins > 0 ? sl_head(ctx, in) : NULL,
                  n->outs > 0 ? sl_tail(ctx, out) : NULL, 1);
    if (n->ins > 0) {
        ctx->at[in].head += code->pre_pop;
    }
    if (n->outs > 0) {
        ctx->at[out].tail += code->pre_push;
    }
}

/* Notes a node whose producer is dead: it may have used up what that left. It dies when no node can fire: who waits for its messages
 * goes on only then. */
static void sl_suspect(sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    for (uint32_t i = 0; i < n->ins; i++) {
        if (ctx->dead[p->channels[p->ports[n->first_in + i]].from]) {
            sl_set_add(&ctx->suspects, v);
        }
    }
}

/* Lets those die that have used up what dead producers left. */
static void sl_look_for_death(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    int64_t v;
    while ((v = sl_set_last(&ctx->suspects)) >= 0) {
        const sl_node *n = &p->nodes[v];
        sl_set_remove(&ctx->suspects, (uint32_t)v);
        for (uint32_t i = 0; i < n->ins; i++) {
            uint32_t c = p->ports[n->first_in + i];
            if (!ctx->dead[v] && ctx->dead[p->channels[c].from] &&
                ctx->at[c].tail - ctx->at[c].head < sl_need(ctx, (uint32_t)v, c)) {
                sl_die(ctx, (uint32_t)v);
            }
        }
    }
}

static int64_t sl_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* How often a node that can fire does so now. */
static int64_t sl_times(sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    if (!ctx->at_once || sl_first(ctx, n, v) || (n->ins == 0 && !ctx->one_source)) {
        return 1;
    }
    int64_t k = sl_quota(ctx, n) - ctx->fired[v];
    for (uint32_t i = 0; i < n->ins; i++) {
        const uint32_t c = p->ports[n->first_in + i];
        const int64_t more = ctx->at[c].tail - ctx->at[c].head - sl_need(ctx, v, c), each = p->channels[c].consume;
        k = each > 0 ? sl_least(k, more / each + 1) : k;
    }
    for (uint32_t i = 0; i < n->outs; i++) {
        const uint32_t c = p->ports[n->first_out + i];
        const int64_t room = (int64_t)ctx->capacity[c] - (ctx->at[c].tail - ctx->at[c].head), each = p->channels[c].produce;
        k = each > 0 ? sl_least(k, room / each) : k;
    }
    if (n->kind == SL_READER) {
        k = sl_least(k, sl_fetch(ctx, n->what, sl_least(k, (int64_t)p->readers[n->what].capacity), 0));
    } else if (n->kind == SL_WRITER) {
        k = sl_least(k, sl_space(ctx, n->what));
    }
    return n->waits > 0 && k > 1 ? sl_before_letters(ctx, v, k) : k < 1 ? 1 : k;
}

/* Firings in the reference order, and what follows from them. */
static void sl_fire_now(sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    const int64_t times = sl_times(ctx, v);
    int first = sl_first(ctx, n, v);
    ctx->node = (int32_t)v;
    ctx->firing = ctx->fired[v] + 1;
#ifdef SL_STATS
    sl_stamp(ctx);
#endif
    if (n->kind == SL_FILTER && p->codes[n->what].attempt) {
        if (!sl_attempt(ctx, v)) {
#ifdef SL_STATS
            sl_tick(ctx, v, 0);
#endif
            ctx->node = -1;
            ctx->firing = 0;
            sl_cut_path(ctx, v);
            sl_refresh(ctx, v);
            sl_suspect(ctx, v);
            return;
        }
    } else {
        for (uint32_t i = 0; i < n->outs; i++) {
            uint32_t c = p->ports[n->first_out + i];
            int64_t produced = first ? p->codes[n->what].pre_push : times * p->channels[c].produce;
            if (ctx->at[c].tail + produced > (int64_t)ctx->capacity[c]) {
                if (p->dynamic) {
                    sl_make_room(ctx, c, (uint64_t)produced);
                    continue;
                }
                sl_compact(ctx, c);
                if (ctx->at[c].tail + produced > (int64_t)ctx->capacity[c]) {
                    sl_stop_run(ctx, SLUICE_INTERNAL, "a channel overflows");
                }
            }
        }
        if (first) {
            sl_fire_first(ctx, v);
        } else {
            sl_fire_node(ctx, v, times);
        }
    }
#ifdef SL_STATS
    sl_tick(ctx, v, times);
#endif
    ctx->moved = 1;
    ctx->node = -1;
    ctx->firing = 0;
    ctx->fired[v] += times;
    if (ctx->fired[v] >= sl_quota(ctx, n)) {
        sl_set_remove(&ctx->below, ctx->rank[v]);
    }
    for (uint32_t i = 0; i < n->outs; i++) {
        uint32_t c = p->ports[n->first_out + i], w = p->channels[c].to;
        if (ctx->dead[w]) {
            ctx->at[c].head = ctx->at[c].tail = 0;
        } else if (w != v) {
            sl_cut_path(ctx, w);
            sl_refresh(ctx, w);
        }
    }
#ifdef SL_STATS
    sl_stats_fill(ctx, v);
#endif
    if (p->dynamic) {
        ctx->firing = ctx->fired[v];
        sl_watch_limit(ctx, n);
        ctx->firing = 0;
    }
    sl_cut_path(ctx, v);
    sl_refresh(ctx, v);
    sl_refresh_next(ctx, v);
    if (ctx->any_dead) {
        sl_suspect(ctx, v);
    }
}

/* ---- epochs ---- */

/* Begins an epoch that will run slowly. */
static void sl_begin_epoch(sl_ctx *ctx, int64_t epoch) {
    const sl_program *p = ctx->program;
    ctx->epoch = epoch;
    ctx->boundary = 0;
    ctx->moved = 0;
    for (uint32_t c = 0; !p->dynamic && c < p->channel_count; c++) {
        if (!p->channels[c].slides) {
            sl_compact(ctx, c);
        }
    }
    while (ctx->path_length > 0) {
        ctx->on_path[ctx->path[--ctx->path_length]] = 0;
    }
    for (uint32_t v = 0; v < p->node_count; v++) {
        if (!ctx->dead[v] && ctx->fired[v] < sl_quota(ctx, &p->nodes[v])) {
            sl_set_add(&ctx->below, ctx->rank[v]);
        }
        sl_refresh(ctx, v);
    }
}

/* Walks from a root to the source whose item it wants: the source, or -1. The walk is kept where it succeeds. */
static int64_t sl_walk(sl_ctx *ctx, uint32_t root) {
    const sl_program *p = ctx->program;
    if (ctx->path_length == 0 || ctx->path[0] != root) {
        while (ctx->path_length > 0) {
            ctx->on_path[ctx->path[--ctx->path_length]] = 0;
        }
        ctx->path[0] = root;
        ctx->on_path[root] = 1;
        ctx->path_length = 1;
    }
    for (;;) {
        uint32_t v = ctx->path[ctx->path_length - 1];
        const sl_node *n = &p->nodes[v];
        int64_t port = sl_lacking(ctx, v), sender = port < 0 ? sl_waits_for(ctx, v) : -1;
        if (port < 0 && sender < 0) {
            if ((n->ins == 0 || sl_begins_with_nothing(ctx, v)) && !ctx->dead[v] && ctx->fired[v] < sl_quota(ctx, n)) {
                return v;
            }
            break;
        }
        uint32_t u = port < 0 ? (uint32_t)sender : p->channels[p->ports[n->first_in + (uint32_t)port]].from;
        if (ctx->on_path[u]) {
            break;
        }
        ctx->path[ctx->path_length++] = u;
        ctx->on_path[u] = ctx->path_length;
    }
    while (ctx->path_length > 0) {
        ctx->on_path[ctx->path[--ctx->path_length]] = 0;
    }
    return -1;
}

/* The first source that a root wants, or -1. Free roots only count when no other with a quota is below it. */
static int64_t sl_pull(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    int waits = 0;
    for (int64_t at = sl_set_next(&ctx->below, 0, p->node_count); at >= 0;
         at = sl_set_next(&ctx->below, (uint64_t)at + 1, p->node_count)) {
        const sl_node *n = &p->nodes[p->roots[at]];
        if (n->free && waits) {
            break;
        }
        int64_t source = sl_walk(ctx, p->roots[at]);
        if (source >= 0) {
            return source;
        }
        waits |= !n->free && !n->loose;
    }
    return -1;
}

/* Runs the epoch to its end. Gives SLUICE_DONE when the epoch is complete (`boundary`) or the whole run has ended (`ended`), else why it
 * pauses; called again, it goes on where it was. */
static int32_t sl_slow_epoch(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    for (;;) {
        int64_t v;
        while ((v = sl_set_last(&ctx->ready)) >= 0) {
            const sl_node *n = &p->nodes[v];
            if (n->kind == SL_WRITER && ctx->host.space && sl_space(ctx, n->what) == 0) {
                return SLUICE_BLOCKED;
            }
            sl_fire_now(ctx, (uint32_t)v);
        }
    die:
        sl_look_for_death(ctx);
        if (ctx->has_readers && ctx->alive == 0) {
            ctx->ended = 1;
            return SLUICE_DONE;
        }
        /* those that waited for a sender that is dead */
        if (sl_set_last(&ctx->ready) >= 0) {
            continue;
        }
        int64_t source = sl_pull(ctx);
        if (source < 0) {
            ctx->boundary = 1;
            return SLUICE_DONE;
        }
        sl_breathe(ctx);
        if (ctx->host.stop && ctx->host.stop(ctx->host.user)) {
            return SLUICE_STOPPED;
        }
        const sl_node *n = &p->nodes[source];
        if (n->kind == SL_READER && sl_fetch(ctx, n->what, 1, 0) == 0) {
            if (!ctx->read[n->what].ended && sl_fetch(ctx, n->what, 1, 1) == 0 && !ctx->read[n->what].ended) {
                return SLUICE_BLOCKED;
            }
            if (ctx->read[n->what].head == ctx->read[n->what].tail) {
                if (ctx->read[n->what].ended == SL_BROKEN) {
                    sl_flush(ctx);
                    sl_stop_run(ctx, SLUICE_HOST, "items could not be read");
                }
                sl_die(ctx, (uint32_t)source);
                goto die;
            }
        }
        sl_fire_now(ctx, (uint32_t)source);
    }
}
