/* Instances: making them, running them fast and slowly, and saying what went wrong. */
#include "sl_engine.h"

_Noreturn SL_ENGINE void sl_escape(sl_ctx *ctx, int32_t code, int32_t site, int64_t value) {
    if (ctx->attempting) {
        sl_let_go(ctx);
    }
    ctx->error.code = code;
    ctx->error.node = ctx->node;
    ctx->error.site = site;
    ctx->error.value = value;
    ctx->error.firing = ctx->firing;
    ctx->error.message = ctx->message;
    longjmp(ctx->escape, 1);
}

_Noreturn SL_ENGINE void sl_fail(sl_ctx *ctx, int32_t site, int64_t value) {
    const sl_program *p = ctx->program;
    const char *path = ctx->node >= 0 ? p->nodes[ctx->node].path : p->abi->name;
    const sl_site unknown = {"fault", NULL, "?"};
    const sl_site *s = site >= 0 && (uint32_t)site < p->site_count ? &p->sites[site] : &unknown;
    char number[24] = "", firing[40] = "";
    if (s->after) {
        snprintf(number, sizeof number, "%lld", (long long)value);
    }
    if (ctx->firing > 0) {
        snprintf(firing, sizeof firing, ", firing %lld", (long long)ctx->firing);
    }
    snprintf(ctx->message, sizeof ctx->message, "%s%s: %s%s%s (%s)", path, firing, s->before, number, s->after ? s->after : "",
             s->where);
    sl_escape(ctx, SLUICE_FAILED, site, value);
}

_Noreturn SL_ENGINE void sl_stop_run(sl_ctx *ctx, int32_t code, const char *what) {
    const char *path = ctx->node >= 0 ? ctx->program->nodes[ctx->node].path : ctx->program->abi->name;
    snprintf(ctx->message, sizeof ctx->message, "%s: %s", path, what);
    sl_escape(ctx, code, -1, 0);
}

_Noreturn SL_ENGINE void sl_too_much(sl_ctx *ctx, int64_t which, const char *what) {
    snprintf(ctx->message, sizeof ctx->message, "%s, firing %lld: %s", ctx->program->nodes[ctx->node].path, (long long)ctx->firing,
             what);
    sl_escape(ctx, SLUICE_FULL, -1, which);
}

/* ---- instances ---- */

/* Words of a set of `n` numbers, all levels. */
static uint64_t sl_set_words(uint64_t n) {
    uint64_t words = 0;
    do {
        n = (n + 63) >> 6;
        words += n;
    } while (n > 1);
    return words > 0 ? words : 1;
}

static uint64_t *sl_set_place(sl_set *s, uint64_t n, uint64_t *words) {
    s->levels = 0;
    do {
        n = (n + 63) >> 6;
        s->level[s->levels++] = words;
        words += n > 0 ? n : 1;
    } while (n > 1);
    return words;
}

/* Takes `bytes` off the block at `*at`, aligned. */
static uint64_t sl_part(uint64_t *at, uint64_t bytes) {
    uint64_t place = (*at + SL_ALIGN - 1) / SL_ALIGN * SL_ALIGN;
    *at = place + bytes;
    return place;
}

/* Makes an instance. The arena of one that is a part of another is not cleared: it uses little of it. */
static int32_t sl_make(const sl_program *p, const sluice_host *host, sl_ctx **instance, int clear) {
    const uint64_t nodes = p->node_count, channels = p->channel_count;
    uint64_t at = sizeof(sl_ctx);
    const uint64_t cursors = sl_part(&at, channels * sizeof(sl_cursor));
    const uint64_t places = sl_part(&at, channels * sizeof(char *));
    const uint64_t capacities = sl_part(&at, channels * sizeof(uint64_t));
    const uint64_t fired = sl_part(&at, nodes * sizeof(int64_t));
    const uint64_t needs = sl_part(&at, nodes * sizeof(int64_t));
    const uint64_t dead = sl_part(&at, nodes);
    const uint64_t numbers = sl_part(&at, 4 * (nodes + 1) * sizeof(uint32_t));
    const uint64_t sets = sl_part(&at, 3 * sl_set_words(nodes) * sizeof(uint64_t));
    const uint64_t boxes = sl_part(&at, p->link_count > 0 ? nodes * sizeof(sl_box) : 0);
    const uint64_t stages = sl_part(&at, (p->abi->reader_count + p->abi->writer_count) * sizeof(sl_stage_of_end));
    const uint64_t saved_bytes = sl_saved_bytes(p), ends = (uint64_t)p->abi->reader_count + p->abi->writer_count;
    const uint64_t counts = sl_part(&at, saved_bytes > 0 ? (2 * ends + 2) * sizeof(int64_t) : 0);
    const uint64_t saved = sl_part(&at, saved_bytes);
    const uint64_t calls = sl_part(&at, p->dynamic && p->natives ? nodes * sizeof(sl_calls) : 0);
    const uint64_t undo = sl_part(&at, p->dynamic ? p->state_bytes : 0);
    const uint64_t states = sl_part(&at, p->state_bytes);
#ifdef SL_STAGES
    const uint64_t backs = sl_part(&at, p->abi->reader_count * sizeof(sl_back));
    const uint64_t blocks = sl_part(&at, p->crossings * sizeof(char *));
#endif
    uint64_t whole = SL_ALIGN;
#ifdef SL_KERNELS
    /* pages of its own: what a device is told of is pages, and they must be nobody else's */
    whole = SL_PAGE;
    at = (at + whole - 1) / whole * whole;
#endif
    const uint64_t arena = sl_part(&at, p->arena_bytes);
    sl_part(&at, 0);
    *instance = NULL;
    at = (at + whole - 1) / whole * whole;
    if (at > SIZE_MAX) {
        return SLUICE_MEMORY;
    }
    char *block = aligned_alloc((size_t)whole, (size_t)at);
    if (!block) {
        return SLUICE_MEMORY;
    }
    memset(block, 0, clear ? (size_t)at : (size_t)arena);
    sl_ctx *ctx = (sl_ctx *)(void *)block;
    ctx->program = p;
    ctx->arena = block + arena;
    ctx->states = block + states;
    ctx->at = (sl_cursor *)(void *)(block + cursors);
    ctx->place = (char **)(void *)(block + places);
    ctx->capacity = (uint64_t *)(void *)(block + capacities);
    ctx->need = (int64_t *)(void *)(block + needs);
    ctx->undo = block + undo;
    ctx->calls = p->dynamic && p->natives ? (sl_calls *)(void *)(block + calls) : NULL;
    ctx->fired = (int64_t *)(void *)(block + fired);
    ctx->dead = (uint8_t *)(block + dead);
    ctx->on_path = (uint32_t *)(void *)(block + numbers);
    ctx->path = ctx->on_path + nodes + 1;
    ctx->stack = ctx->path + nodes + 1;
    ctx->rank = ctx->stack + nodes + 1;
    uint64_t *words = sl_set_place(&ctx->ready, nodes, (uint64_t *)(void *)(block + sets));
    sl_set_place(&ctx->suspects, nodes, sl_set_place(&ctx->below, nodes, words));
    ctx->mail.boxes = (sl_box *)(void *)(block + boxes);
    if (saved_bytes > 0) {
        ctx->saved = block + saved;
        ctx->again = (int64_t *)(void *)(block + counts);
        ctx->handed_over = ctx->again + p->abi->reader_count;
        ctx->left_out = ctx->handed_over + p->abi->writer_count + 1;
    }
#ifdef SL_STAGES
    ctx->back = (sl_back *)(void *)(block + backs);
    ctx->block = (char **)(void *)(block + blocks);
#endif
    ctx->read = (sl_stage_of_end *)(void *)(block + stages);
    ctx->written = ctx->read + p->abi->reader_count;
    ctx->has_readers = p->abi->reader_count > 0;
    memcpy(&ctx->host, host, host->size < sizeof ctx->host ? host->size : sizeof ctx->host);
    ctx->ordered = p->ordered || (uint64_t)p->abi->printers + ctx->host.stdout_writers > 1;
    ctx->at_once = !ctx->ordered && !p->dynamic && p->site_count == 0;
#ifdef SL_STATS
    ctx->at_once = 0;
#endif
#ifdef SL_KERNELS
    /* without a device there is no fast way */
    ctx->ordered |= ctx->host.device == NULL;
#endif
    ctx->pace = (int64_t)p->begin;
    ctx->node = -1;
    ctx->last_end = -2;
    ctx->error.node = ctx->error.site = -1;
    ctx->error.message = ctx->message;
    for (uint32_t c = 0; c < channels; c++) {
        const sl_channel *ch = &p->channels[c];
        ctx->place[c] = ctx->arena + ch->offset;
        ctx->capacity[c] = ch->capacity;
        if (ch->initial_count > 0) {
            memcpy(ctx->place[c], ch->initial, (size_t)ch->initial_count * ch->item);
        }
        ctx->at[c].tail = ch->initial_count;
    }
    uint32_t sources = 0;
    for (uint32_t v = 0; v < nodes; v++) {
        ctx->rank[p->roots[v]] = v;
        ctx->alive += !p->nodes[v].free;
        sources += p->nodes[v].ins == 0;
        if (p->nodes[v].kind == SL_FILTER) {
            p->codes[p->nodes[v].what].init(ctx->states + p->nodes[v].state);
        }
    }
    ctx->one_source = sources == 1;
    sl_begin_epoch(ctx, 0);
#ifdef SL_STATS
    if (!sl_stats_create(ctx)) {
        free(block);
        return SLUICE_MEMORY;
    }
#endif
    *instance = ctx;
    return SLUICE_DONE;
}

SL_ENGINE int32_t sl_create(const sluice_host *host, sl_ctx **instance) {
    return sl_make(&sl_the_program, host, instance, 1);
}

SL_ENGINE void sl_destroy(sl_ctx *ctx) {
    if (ctx) {
#ifdef SL_STAGES
        for (uint32_t r = 0; r < ctx->program->abi->reader_count; r++) {
            free(ctx->back[r].items);
        }
#endif
#ifdef SL_STATS
        free(ctx->stats);
#endif
#ifdef SL_KERNELS
        sl_free_device(ctx);
#endif
        sl_free_mail(ctx);
        sl_free_buffers(ctx);
        sl_free_calls(ctx);
    }
    free(ctx);
}

/* ---- running ---- */

/* Brings the items left to the starts of their buffers, but for channels that slide. */
static void sl_settle(sl_ctx *ctx) {
    for (uint32_t c = 0; c < ctx->program->channel_count; c++) {
        if (!ctx->program->channels[c].slides) {
            sl_compact(ctx, c);
        }
    }
}

SL_ENGINE void sl_make_way(sl_ctx *ctx, int64_t k) {
    const sl_program *p = ctx->program;
    for (uint32_t i = 0; i < p->kept_count; i++) {
        const sl_channel *ch = &p->channels[p->kept[i]];
        const uint64_t tail = (uint64_t)ctx->at[p->kept[i]].head + ch->fill;
        if (ch->slides && tail + (uint64_t)k * ch->consumed > ch->capacity) {
            sl_compact(ctx, p->kept[i]);
        }
    }
}

/* How many steady states can run fast now, between two epochs. */
static int64_t sl_ready_batch(sl_ctx *ctx, int64_t until) {
    const sl_program *p = ctx->program;
    int64_t k = ctx->pace;
    if (until >= 0 && until - ctx->epoch < k) {
        k = until - ctx->epoch;
    }
    for (uint32_t w = 0; ctx->host.space && w < p->abi->writer_count; w++) {
        int64_t each = (int64_t)p->nodes[p->writers[w].node].repetitions;
        int64_t room = each > 0 ? sl_space(ctx, w) / each : k;
        k = room < k ? room : k;
    }
    for (uint32_t r = 0; k > 0 && r < p->abi->reader_count; r++) {
        int64_t each = (int64_t)p->nodes[p->readers[r].node].repetitions;
        if (each > 0) {
            int64_t there = sl_fetch(ctx, r, k * each, 0) / each;
            k = there < k ? there : k;
        }
    }
    return k - k % (int64_t)p->unit;
}

/* After a batch: the next may be larger, or should be smaller. */
static void sl_pace(sl_ctx *ctx, int64_t k, int64_t milliseconds) {
    const int64_t batch = (int64_t)ctx->program->batch;
    int64_t least = (int64_t)ctx->program->unit;
#ifdef SL_KERNELS
    /* a pipeline that is filled and drained for a few iterations only is slower, not faster: none is shorter than that which the run begins with */
    least = (int64_t)ctx->program->begin;
#endif
#ifdef SL_STAGES
    const int64_t before = ctx->pace;
#endif
    if (milliseconds > 40 && k == ctx->pace) {
        /* in whole iterations of the schedule */
        const int64_t unit = (int64_t)ctx->program->unit, half = ctx->pace / 2 - ctx->pace / 2 % unit;
        ctx->pace = half > least ? half : least;
    } else if (milliseconds < 5 && k == ctx->pace) {
        ctx->pace = ctx->pace < batch / 4 ? ctx->pace * 4 : batch;
    }
#ifdef SL_STAGES
    ctx->settled |= k == before && ctx->pace == before;
#endif
}

#ifdef SL_STAGES
/* Lets the crew run as many batches as there are, each `turns` times as long as what runs at once. Gives false where it is not called or does nothing. */
static int sl_call_crew(sl_ctx *ctx, int64_t k, int64_t until, int32_t *code) {
    const sl_program *p = ctx->program;
    const int64_t some = k * (int64_t)p->turns, most = ((until < 0 ? INT64_MAX / 2 : until) - ctx->epoch) / some;
    int64_t done = 0;
    *code = SLUICE_DONE;
    if (!ctx->crew || !ctx->settled || k != ctx->pace || some < (int64_t)p->least || most < 2) {
        return 0;
    }
    sl_flush(ctx);
    for (uint32_t i = 0; i < p->kept_count; i++) {
        sl_compact(ctx, p->kept[i]);
    }
    *code = ctx->crew(ctx->crew_user, some, most, &done);
    ctx->epoch += done * some;
    for (uint32_t v = 0; v < p->node_count; v++) {
        ctx->fired[v] += done * some * (int64_t)p->nodes[v].repetitions;
    }
    if (*code < 0) {
        longjmp(ctx->escape, 1);
    }
    return done > 0 || ctx->slow_only || *code == SLUICE_STOPPED;
}
#endif

/* What to do at a boundary: go on slowly, look again whether there is enough for steady states, or wait for the caller. */
enum { SL_GO_ON, SL_LOOK_AGAIN, SL_PAUSE };

/* At a boundary with too few items for a steady state: waits for more where nothing would be seen of these. So the next steady states run fast, too, however
 * few items come at a time. */
static int sl_rest(sl_ctx *ctx) {
    const int64_t rest = (int64_t)ctx->program->rest, most = rest > 0 ? (int64_t)ctx->program->readers[0].capacity : 0;
    const int64_t want = rest < most ? rest : most;
    if (want == 0 || ctx->any_dead || ctx->slow_only) {
        return SL_GO_ON;
    }
    const int64_t there = sl_fetch(ctx, 0, want, 0);
    if (there < want && !ctx->read[0].ended) {
        return sl_fetch(ctx, 0, there + 1, 1) > there || ctx->read[0].ended ? SL_LOOK_AGAIN : SL_PAUSE;
    }
    return SL_GO_ON;
}

/* Runs to the end, to `until`, or to a pause. */
static int32_t sl_go(sl_ctx *ctx, int64_t until) {
    const sl_program *p = ctx->program;
    if (!ctx->started) {
        ctx->started = 1;
        for (uint32_t v = 0; v < p->node_count; v++) {
            const sl_code *code = p->nodes[v].kind == SL_FILTER ? &p->codes[p->nodes[v].what] : NULL;
            if (code && code->text_length > 0) {
                sl_print_text(ctx, code->text, code->text_length);
            }
        }
        ctx->ended = p->node_count == 0;
    }
    while (!ctx->ended) {
        if (ctx->boundary) {
            if (until >= 0 && ctx->epoch >= until) {
                break;
            }
            if (ctx->host.stop && ctx->host.stop(ctx->host.user)) {
                return SLUICE_STOPPED;
            }
            int64_t before = sl_breathe(ctx);
            if (!ctx->ordered && !ctx->any_dead && !ctx->slow_only) {
                int64_t k = sl_ready_batch(ctx, until);
#ifdef SL_STAGES
                int32_t code;
                if (k > 0 && sl_call_crew(ctx, k, until, &code)) {
                    if (code != SLUICE_DONE) {
                        return code;
                    }
                    continue;
                }
#endif
                if (k > 0) {
                    if (p->dynamic) {
#ifdef SL_STATS
                        sl_stats_batch(ctx, k);
#endif
                        p->steady(ctx, k);
                        sl_pace(ctx, k, sl_now() - before);
                        continue;
                    }
                    sl_make_way(ctx, k);
                    sl_save(ctx);
#ifdef SL_STATS
                    sl_stamp(ctx);
#endif
                    p->steady(ctx, k);
#ifdef SL_STATS
                    sl_stats_batch(ctx, k);
#endif
                    ctx->in_batch = 0;
                    sl_pace(ctx, k, sl_now() - before);
                    ctx->node = -1;
                    ctx->epoch += k;
                    if (p->tables) {
                        sl_settle(ctx);
                    }
                    for (uint32_t v = 0; v < p->node_count; v++) {
                        ctx->fired[v] += k * (int64_t)p->nodes[v].repetitions;
                    }
                    continue;
                }
            }
            const int rest = sl_rest(ctx);
            if (rest == SL_PAUSE) {
                return SLUICE_BLOCKED;
            }
            if (rest == SL_LOOK_AGAIN) {
                continue;
            }
#ifdef SL_STATS
            ctx->stats->told.slow_states++;
#endif
            sl_begin_epoch(ctx, ctx->epoch + 1);
        }
        int32_t result = sl_slow_epoch(ctx);
        if (result != SLUICE_DONE) {
            return result;
        }
        if (ctx->boundary && !p->dynamic) {
            sl_settle(ctx);
        }
        /* dynamic rates can starve a program: then nothing will ever move again */
        ctx->ended |= p->dynamic && ctx->boundary && ctx->epoch > 0 && !ctx->moved && (until < 0 || ctx->epoch < until);
    }
    sl_last_letters(ctx);
    return SLUICE_DONE;
}

SL_ENGINE int32_t sl_run(sl_ctx *ctx, int64_t until) {
    if (ctx->error.code != 0) {
        return ctx->error.code;
    }
    ctx->base = (uintptr_t)__builtin_frame_address(0);
#ifdef SL_STATS
    sl_stats_begin(ctx);
#endif
    /* once more, slowly, after a fault in a batch */
    for (int32_t turn = 0; turn < 2; turn++) {
        if (setjmp(ctx->escape) == 0) {
            int32_t result = sl_go(ctx, until);
            sl_flush(ctx);
#ifdef SL_STATS
            sl_stats_end(ctx);
#endif
            return result;
        }
        if (ctx->error.code != SLUICE_FAILED || !sl_restore(ctx)) {
            break;
        }
    }
    if ((ctx->error.code == SLUICE_FAILED || ctx->error.code == SLUICE_FULL) && setjmp(ctx->escape) == 0) {
        /* what came before the fault still goes out */
        sluice_error error = ctx->error;
        char message[SL_MESSAGE_BYTES];
        memcpy(message, ctx->message, sizeof message);
        ctx->node = -1;
        sl_flush(ctx);
        ctx->error = error;
        memcpy(ctx->message, message, sizeof message);
    }
#ifdef SL_STATS
    sl_stats_end(ctx);
#endif
    return ctx->error.code;
}

SL_ENGINE void sl_run_steps(sl_ctx *ctx, const sl_step *steps, uint64_t count, int64_t k) {
    for (int64_t t = 0; t < k; t++) {
        for (uint64_t i = 0; i < count; i++) {
            if (steps[i].node == UINT32_MAX) {
                sl_run_steps(ctx, steps + i + 1, steps[i].length, (int64_t)steps[i].times);
                i += steps[i].length;
            } else {
                sl_fire_node(ctx, steps[i].node, (int64_t)steps[i].times);
#ifdef SL_STATS
                sl_tick(ctx, steps[i].node, (int64_t)steps[i].times);
#endif
            }
        }
    }
}

SL_ENGINE void sl_run_scaled(sl_ctx *ctx, const sl_step *steps, uint64_t count, int64_t k) {
    for (uint64_t i = 0; i < count; i++) {
        int64_t times = (int64_t)steps[i].times * k;
        if (steps[i].node == UINT32_MAX) {
            sl_run_steps(ctx, steps + i + 1, steps[i].length, times);
            i += steps[i].length;
        } else {
            sl_fire_node(ctx, steps[i].node, times);
#ifdef SL_STATS
            sl_tick(ctx, steps[i].node, times);
#endif
        }
    }
}

SL_ENGINE void sl_slide(sl_ctx *ctx, uint32_t c, int64_t k) {
    const sl_channel *ch = &ctx->program->channels[c];
    ctx->at[c].head += k * (int64_t)ch->consumed;
    ctx->at[c].tail = ctx->at[c].head + (int64_t)ch->fill;
}

SL_ENGINE void sl_keep(sl_ctx *ctx, int64_t k) {
    const sl_program *p = ctx->program;
    for (uint32_t i = 0; i < p->kept_count; i++) {
        const sl_channel *ch = &p->channels[p->kept[i]];
        if (ch->slides) {
            sl_slide(ctx, p->kept[i], k);
            continue;
        }
        char *buffer = ctx->arena + ch->offset;
        memmove(buffer, buffer + (uint64_t)k * ch->consumed * ch->item, ch->fill * ch->item);
    }
}

SL_ENGINE const sluice_error *sl_error(const sl_ctx *ctx) { return &ctx->error; }

SL_ENGINE int64_t sl_iterations(const sl_ctx *ctx) { return ctx->boundary || ctx->epoch == 0 ? ctx->epoch : ctx->epoch - 1; }
