/* The stages of a program that runs on several threads: what a part does around its batches. A batch is `turns` times as long as what runs at once: that fits a core's nearest caches, and a batch
 * is what threads meet for. All buffers of a part lie as those of the whole. Items that stay on a channel between batches rest at the start of its buffer in the part that consumes them; where that one has
 * replicas, the producer keeps them too (and those that are brought along) and puts them in front of each block. The tables it reads
 * (sl_stages.h) come before this text, or are a program's from whose text it is apart. */
#include "sl_stages.h"

/* A channel's buffer, `n` items from its start. */
static char *sl_items(const sl_ctx *ctx, uint32_t c, uint64_t n) {
    const sl_channel *ch = &ctx->program->channels[c];
    return ctx->arena + ch->offset + n * ch->item;
}

static uint64_t sl_ends(const sl_program *p) { return (uint64_t)p->abi->writer_count + 1; }

static uint64_t sl_node_bytes(const sl_program *p, uint32_t v) {
    return p->nodes[v].kind == SL_FILTER ? p->codes[p->nodes[v].what].state_bytes : 0;
}

SL_ENGINE int32_t sl_undoable(void) { return sl_saved_bytes(&sl_the_program) > 0; }

SL_ENGINE int32_t sl_part_make(const sluice_host *host, sl_ctx **part) { return sl_make(&sl_the_program, host, part, 0); }

SL_ENGINE void sl_attach(sl_ctx *whole, sluice_crew *crew, void *user, int64_t k) {
    whole->crew = crew;
    whole->crew_user = user;
    if (k > 0) {
        whole->pace = k < (int64_t)whole->program->batch ? k : (int64_t)whole->program->batch;
        whole->settled = 1;
    }
}

/* ---- images ---- */

SL_ENGINE uint64_t sl_image_bytes(uint32_t stage) {
    const sl_program *p = &sl_the_program;
    const sl_stage *s = &sl_the_stages[stage];
    uint64_t bytes = sl_ends(p) * sizeof(int64_t);
    for (uint32_t i = 0; i < s->nodes; i++) {
        bytes += sl_node_bytes(p, sl_stage_nodes[s->first_node + i]);
    }
    for (uint32_t i = 0; i < s->kept; i++) {
        const sl_channel *ch = &p->channels[sl_stage_kept[s->first_kept + i]];
        bytes += ch->fill * ch->item;
    }
    return bytes;
}

SL_ENGINE void sl_take_image(const sl_ctx *from, uint32_t stage, void *image) {
    const sl_program *p = from->program;
    const sl_stage *s = &sl_the_stages[stage];
    char *to = image;
    if (from->saved) {
        memcpy(to, from->handed_over, sl_ends(p) * sizeof(int64_t));
    } else {
        memset(to, 0, sl_ends(p) * sizeof(int64_t));
    }
    to += sl_ends(p) * sizeof(int64_t);
    for (uint32_t i = 0; i < s->nodes; i++) {
        const uint32_t v = sl_stage_nodes[s->first_node + i];
        memcpy(to, from->states + p->nodes[v].state, sl_node_bytes(p, v));
        to += sl_node_bytes(p, v);
    }
    for (uint32_t i = 0; i < s->kept; i++) {
        const uint32_t c = sl_stage_kept[s->first_kept + i];
        memcpy(to, sl_items(from, c, 0), p->channels[c].fill * p->channels[c].item);
        to += p->channels[c].fill * p->channels[c].item;
    }
}

SL_ENGINE void sl_give_image(sl_ctx *to, uint32_t stage, const void *image) {
    const sl_program *p = to->program;
    const sl_stage *s = &sl_the_stages[stage];
    const char *from = (const char *)image + sl_ends(p) * sizeof(int64_t);
    for (uint32_t i = 0; i < s->nodes; i++) {
        const uint32_t v = sl_stage_nodes[s->first_node + i];
        memcpy(to->states + p->nodes[v].state, from, sl_node_bytes(p, v));
        from += sl_node_bytes(p, v);
    }
    for (uint32_t i = 0; i < s->kept; i++) {
        const uint32_t c = sl_stage_kept[s->first_kept + i];
        memcpy(sl_items(to, c, 0), from, p->channels[c].fill * p->channels[c].item);
        from += p->channels[c].fill * p->channels[c].item;
    }
}

/* ---- from the whole to its parts and back ---- */

SL_ENGINE void sl_begin_part(sl_ctx *part, sl_ctx *whole, uint32_t stage) {
    const sl_program *p = whole->program;
    const sl_stage *s = &sl_the_stages[stage];
    for (uint32_t i = 0; i < s->outs; i++) {
        const sl_crossing *x = &sl_the_crossings[sl_stage_outs[s->first_out + i]];
        const sl_channel *ch = &p->channels[x->channel];
        if (x->by_maker) {
            memcpy(sl_items(part, x->channel, sl_before[x->channel] - ch->fill), sl_items(whole, x->channel, 0),
                   ch->fill * ch->item);
        }
    }
    for (uint32_t r = 0; s->reads && r < p->abi->reader_count; r++) {
        const sl_end *end = &p->readers[r];
        sl_stage_of_end *from = &whole->read[r], *to = &part->read[r];
        memcpy(part->arena + end->stage, whole->arena + end->stage + (uint64_t)from->head * end->type->size,
               (uint64_t)(from->tail - from->head) * end->type->size);
        to->lent = NULL;
        to->head = 0;
        to->tail = from->tail - from->head;
        to->ended = from->ended;
        from->head = from->tail = 0;
    }
    if (part->saved) {
        memset(part->handed_over, 0, sl_ends(p) * sizeof(int64_t));
        memset(part->left_out, 0, sl_ends(p) * sizeof(int64_t));
    }
    part->handed = sl_now();
    part->node = -1;
    part->firing = 0;
    part->error.code = 0;
    part->error.node = part->error.site = -1;
}

/* Items of a reader in a steady state. */
static uint64_t sl_each(const sl_program *p, uint32_t r) { return p->nodes[p->readers[r].node].repetitions; }

SL_ENGINE uint64_t sl_input_bytes(uint32_t stage, int64_t k) {
    const sl_program *p = &sl_the_program;
    uint64_t bytes = 0;
    for (uint32_t r = 0; sl_the_stages[stage].reads && r < p->abi->reader_count; r++) {
        bytes += (uint64_t)k * sl_each(p, r) * p->readers[r].type->size;
    }
    return bytes;
}

/* The items of a reader that have not been used. */
static const char *sl_unused(const sl_ctx *part, uint32_t r) {
    const sl_end *end = &part->program->readers[r];
    const sl_stage_of_end *s = &part->read[r];
    return (s->lent ? s->lent : part->arena + end->stage) + (uint64_t)s->head * end->type->size;
}

/* Items that were read to a block, which will not be used from there, go where they would have gone. */
static void sl_take_from_block(sl_ctx *part, uint32_t r) {
    const sl_end *end = &part->program->readers[r];
    sl_stage_of_end *s = &part->read[r];
    if (s->lent) {
        memcpy(part->arena + end->stage, sl_unused(part, r), (uint64_t)(s->tail - s->head) * end->type->size);
        s->tail -= s->head;
        s->head = 0;
        s->lent = NULL;
    }
}

SL_ENGINE void sl_copy_input(const sl_ctx *part, uint32_t stage, int64_t k, void *copy) {
    const sl_program *p = part->program;
    char *to = copy;
    for (uint32_t r = 0; sl_the_stages[stage].reads && r < p->abi->reader_count; r++) {
        const uint64_t bytes = (uint64_t)k * sl_each(p, r) * p->readers[r].type->size;
        memcpy(to, sl_unused(part, r), bytes);
        to += bytes;
    }
}

SL_ENGINE int32_t sl_finish_part(sl_ctx *part, sl_ctx *whole, uint32_t stage, int64_t k, const void *const *inputs,
                              uint64_t count) {
    const sl_program *p = whole->program;
    uint64_t at = 0;
    if (!sl_the_stages[stage].reads) {
        return SLUICE_DONE;
    }
    for (uint32_t r = 0; r < p->abi->reader_count; r++) {
        const sl_end *end = &p->readers[r];
        const uint64_t size = end->type->size, each = (uint64_t)k * sl_each(p, r) * size;
        sl_stage_of_end *from = &part->read[r], *to = &whole->read[r];
        const char *rest = sl_unused(part, r);
        const uint64_t left = (uint64_t)(from->tail - from->head) * size;
        to->ended = from->ended;
        if (count == 0) {
            memcpy(whole->arena + end->stage, rest, left);
            to->head = 0;
            to->tail = from->tail - from->head;
        } else if (count * each + left > 0) {
            char *items = malloc(count * each + left);
            if (!items) {
                return SLUICE_MEMORY;
            }
            for (uint64_t i = 0; i < count; i++) {
                memcpy(items + i * each, (const char *)inputs[i] + at, each);
            }
            memcpy(items + count * each, rest, left);
            free(whole->back[r].items);
            whole->back[r] = (sl_back){items, 0, (int64_t)((count * each + left) / size)};
        }
        at += each;
        from->head = from->tail = 0;
    }
    return SLUICE_DONE;
}

SL_ENGINE void sl_undo_part(sl_ctx *part, sl_ctx *whole, uint32_t stage, const void *image) {
    const sl_program *p = whole->program;
    const int64_t *then = image;
    sl_give_image(whole, stage, image);
    for (uint64_t i = 0; whole->saved && i < sl_ends(p); i++) {
        part->handed_over[i] -= then[i];
    }
    if (whole->saved) {
        sl_take_back(part, part->handed_over);
    }
    for (uint64_t i = 0; whole->saved && i < sl_ends(p); i++) {
        whole->left_out[i] += part->handed_over[i];
    }
    for (uint32_t c = 0; c < p->channel_count; c++) {
        whole->at[c].head = 0;
        whole->at[c].tail = (int64_t)p->channels[c].fill;
    }
    whole->slow_only = 1;
}

SL_ENGINE void sl_fail_part(const sl_ctx *part, sl_ctx *whole) {
    memcpy(whole->message, part->message, sizeof whole->message);
    whole->error = part->error;
    whole->error.message = whole->message;
    whole->in_batch = 0;
}

/* ---- batches ---- */

/* Reads a batch's items of a reader to where its block has them, if nothing has been read of them yet and all are there: they are lent from there then. Gives whether they are. */
static int sl_fetch_to(sl_ctx *part, uint32_t r, int64_t want, char *to) {
    const sl_end *end = &part->program->readers[r];
    sl_stage_of_end *s = &part->read[r];
    const uint64_t size = end->type->size;
    int64_t have = 0;
    if (s->head < s->tail || s->ended || !end->flat || !sl_are_numbers(end->type)) {
        return 0;
    }
    while (have < want) {
        const int64_t got = part->host.read(part->host.user, r, to + (uint64_t)have * size, want - have, 0);
        if (got == SLUICE_END || got == SLUICE_ERROR) {
            s->ended = got == SLUICE_END ? SL_ENDED : SL_BROKEN;
            break;
        }
        if (got < 0 || got > want - have) {
            sl_stop_run(part, SLUICE_HOST, "items could not be read");
        }
        if (got == 0) {
            break;
        }
        have += got;
    }
    s->lent = to;
    s->head = 0;
    s->tail = have;
    if (have < want) {
        sl_take_from_block(part, r);
    }
    return have == want;
}

SL_ENGINE int32_t sl_admit(sl_ctx *part, uint32_t stage, int64_t k, char *const *blocks) {
    const sl_program *p = part->program;
    const uint32_t readers = sl_the_stages[stage].reads ? p->abi->reader_count : 0;
    int32_t answer = 1;
    if (setjmp(part->escape) != 0) {
        return part->error.code;
    }
    for (uint32_t r = 0; r < readers; r++) {
        const int64_t want = k * (int64_t)sl_each(p, r);
        const uint32_t x = sl_read_to[r], c = x == UINT32_MAX ? 0 : sl_the_crossings[x].channel;
        if (want == 0 || (x != UINT32_MAX && blocks[x] && sl_fetch_to(part, r, want, blocks[x] + sl_before[c] * p->channels[c].item))) {
            continue;
        }
        if (sl_fetch(part, r, want, 0) < want) {
            answer = part->read[r].ended ? 2 : answer == 2 ? 2 : 0;
        }
    }
    for (uint32_t r = 0; answer != 1 && r < readers; r++) {
        sl_take_from_block(part, r);
    }
    return answer;
}

/* Items that stay: where they are when a batch is over. `block` holds `sl_before` of batches before, then the batch's own. */
static void sl_stay(sl_ctx *ctx, uint32_t c, const char *block, int64_t k) {
    const sl_channel *ch = &ctx->program->channels[c];
    memmove(sl_items(ctx, c, 0), block + (sl_before[c] + (uint64_t)k * ch->consumed - ch->fill) * ch->item,
            ch->fill * ch->item);
}

/* `k` steady states of a batch, where its blocks are; `first` where the part itself has run those before. */
static void sl_turn_of_batch(sl_ctx *ctx, uint32_t stage, int64_t epoch, int64_t k, int32_t first) {
    const sl_program *p = ctx->program;
    const sl_stage *s = &sl_the_stages[stage];
    const int replicated = s->replicas > 1;
    for (uint32_t i = 0; i < s->outs; i++) {
        const uint32_t n = sl_stage_outs[s->first_out + i], c = sl_the_crossings[n].channel;
        if (sl_the_crossings[n].by_maker) {
            memcpy(ctx->block[n], sl_items(ctx, c, 0), sl_before[c] * p->channels[c].item);
        }
    }
    for (uint32_t i = 0; !replicated && i < s->ins; i++) {
        const uint32_t n = sl_stage_ins[s->first_in + i], c = sl_the_crossings[n].channel;
        const sl_channel *ch = &p->channels[c];
        memcpy(ctx->block[n] + (sl_before[c] - ch->fill) * ch->item, sl_items(ctx, c, 0), ch->fill * ch->item);
    }
    if (replicated) {
        for (uint32_t i = 0; first && i < s->inner; i++) {
            const uint32_t c = sl_stage_inner[s->first_inner + i];
            const sl_channel *ch = &p->channels[c];
            if (sl_stage_inner_in[s->first_inner + i] == c) {
                memmove(sl_items(ctx, c, sl_before[c] - ch->fill), sl_items(ctx, c, 0), ch->fill * ch->item);
            }
        }
        for (uint32_t i = 0; i < s->nodes; i++) {
            const uint32_t v = sl_stage_nodes[s->first_node + i];
            if (p->nodes[v].kind == SL_FILTER) {
                /* the first field of every state: the number of firings */
                int64_t iter = (int64_t)p->nodes[v].init + epoch * (int64_t)p->nodes[v].repetitions;
                iter -= first ? 0 : (int64_t)sl_again[v];
                memcpy(ctx->states + p->nodes[v].state, &iter, sizeof iter);
            }
        }
    }
    s->run(ctx, k, first ? 0 : 1);
    for (uint32_t i = 0; i < s->ins; i++) {
        const uint32_t n = sl_stage_ins[s->first_in + i];
        sl_stay(ctx, sl_the_crossings[n].channel, ctx->block[n], k);
    }
    for (uint32_t i = 0; i < s->inner; i++) {
        /* one that is read from another's buffer has the last of the items there */
        const uint32_t c = sl_stage_inner[s->first_inner + i], in = sl_stage_inner_in[s->first_inner + i];
        sl_stay(ctx, c, sl_items(ctx, in, sl_before[in] - sl_before[c]), k);
    }
    for (uint32_t i = 0; i < s->outs; i++) {
        const uint32_t n = sl_stage_outs[s->first_out + i], c = sl_the_crossings[n].channel;
        const sl_channel *ch = &p->channels[c];
        if (sl_the_crossings[n].by_maker) {
            memcpy(sl_items(ctx, c, 0), ctx->block[n] + (uint64_t)k * ch->consumed * ch->item, sl_before[c] * ch->item);
        }
    }
    ctx->node = -1;
}

static void sl_batch(sl_ctx *ctx, uint32_t stage, int64_t epoch, int64_t k, int32_t first, char *const *blocks) {
    const sl_stage *s = &sl_the_stages[stage];
    const int64_t some = k / (int64_t)ctx->program->turns;
    for (int64_t done = 0; done < k; done += some) {
        for (uint32_t i = 0; i < s->ins + s->outs; i++) {
            const uint32_t n = i < s->ins ? sl_stage_ins[s->first_in + i] : sl_stage_outs[s->first_out + i - s->ins];
            const sl_channel *ch = &ctx->program->channels[sl_the_crossings[n].channel];
            ctx->block[n] = blocks[n] + (uint64_t)done * ch->consumed * ch->item;
        }
        sl_turn_of_batch(ctx, stage, epoch + done, some, first || done > 0);
    }
}

SL_ENGINE int32_t sl_fire_part(sl_ctx *part, uint32_t stage, int64_t epoch, int64_t k, int32_t first, char *const *blocks) {
    const sl_program *p = part->program;
    const uint32_t readers = sl_the_stages[stage].reads ? p->abi->reader_count : 0;
    part->base = (uintptr_t)__builtin_frame_address(0);
    for (uint32_t r = 0; part->saved && r < readers; r++) {
        part->again[r] = part->read[r].head;
    }
    if (setjmp(part->escape) != 0) {
        /* the batch counts as not begun */
        for (uint32_t r = 0; part->saved && r < readers; r++) {
            part->read[r].head = part->again[r];
        }
        for (uint32_t r = 0; r < readers; r++) {
            sl_take_from_block(part, r);
        }
        return part->error.code;
    }
    sl_breathe(part);
    sl_batch(part, stage, epoch, k, first, blocks);
    return SLUICE_DONE;
}

SL_ENGINE int32_t sl_flush_part(sl_ctx *part, int32_t all) {
    if (setjmp(part->escape) != 0) {
        return part->error.code;
    }
    if (all) {
        sl_flush(part);
    } else {
        sl_breathe(part);
    }
    return SLUICE_DONE;
}
