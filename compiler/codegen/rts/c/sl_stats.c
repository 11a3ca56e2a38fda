/* Statistics: the counters, and the host's functions with a clock around them. */
#include "sl_stats.h"

/* A call of the host is over: its time is not that of the node that runs. */
static void sl_host_took(sl_ctx *ctx, uint64_t *sum, uint64_t began) {
    const uint64_t took = sl_ticks() - began;
    *sum += took;
    ctx->stats->stamp += took;
}

static int64_t sl_timed_read(void *user, uint32_t reader, void *items, int64_t max, int32_t wait) {
    sl_ctx *ctx = user;
    const sluice_host *host = &ctx->stats->host;
    const uint64_t began = sl_ticks();
    const int64_t got = host->read(host->user, reader, items, max, wait);
    sl_host_took(ctx, &ctx->stats->told.reading, began);
    return got;
}

static int32_t sl_timed_write(void *user, uint32_t writer, const void *items, int64_t n) {
    sl_ctx *ctx = user;
    const sluice_host *host = &ctx->stats->host;
    const uint64_t began = sl_ticks();
    const int32_t failed = host->write(host->user, writer, items, n);
    sl_host_took(ctx, &ctx->stats->told.writing, began);
    return failed;
}

static int32_t sl_timed_print(void *user, const char *text, size_t length) {
    sl_ctx *ctx = user;
    const sluice_host *host = &ctx->stats->host;
    const uint64_t began = sl_ticks();
    const int32_t failed = host->print(host->user, text, length);
    sl_host_took(ctx, &ctx->stats->told.writing, began);
    return failed;
}

static int64_t sl_timed_space(void *user, uint32_t writer) {
    const sluice_host *host = &((sl_ctx *)user)->stats->host;
    return host->space(host->user, writer);
}

static int32_t sl_timed_stop(void *user) {
    const sluice_host *host = &((sl_ctx *)user)->stats->host;
    return host->stop(host->user);
}

SL_ENGINE int sl_stats_create(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    const size_t streams = p->node_count * sizeof(sluice_stream_stats);
    sl_stats *s = calloc(1, sizeof *s + streams + p->channel_count * sizeof(uint64_t));
    ctx->stats = s;
    if (!s) {
        return 0;
    }
    s->highest = (uint64_t *)(void *)((char *)s->streams + streams);
    s->told = (sluice_stats){.size = sizeof s->told,
                             .version = SLUICE_STATS_VERSION,
                             .stream_count = p->node_count,
                             .channel_count = p->channel_count,
                             .streams = s->streams,
                             .highest = s->highest};
    for (uint32_t c = 0; c < p->channel_count; c++) {
        s->highest[c] = p->channels[c].initial_count;
    }
    s->host = ctx->host;
    ctx->host.user = ctx;
    ctx->host.read = sl_timed_read;
    ctx->host.write = sl_timed_write;
    ctx->host.print = sl_timed_print;
    ctx->host.space = ctx->host.space ? sl_timed_space : NULL;
    ctx->host.stop = ctx->host.stop ? sl_timed_stop : NULL;
    /* what is not read or written by calls would be on no clock */
    ctx->host.lend = NULL;
    ctx->host.place = NULL;
    const uint64_t began = sl_ticks();
    for (int i = 0; i < 1023; i++) {
        s->stamp = sl_ticks();
    }
    s->told.clock = sl_ticks() - began;
    return 1;
}

SL_ENGINE void sl_stats_begin(sl_ctx *ctx) {
    ctx->stats->began_nanoseconds = sl_nanoseconds();
    ctx->stats->began_ticks = sl_ticks();
    ctx->stats->stamp = ctx->stats->began_ticks;
}

SL_ENGINE void sl_stats_end(sl_ctx *ctx) {
    ctx->stats->told.nanoseconds += sl_nanoseconds() - ctx->stats->began_nanoseconds;
    ctx->stats->told.ticks += sl_ticks() - ctx->stats->began_ticks;
}

SL_ENGINE void sl_stats_batch(sl_ctx *ctx, int64_t k) {
    sluice_stats *t = &ctx->stats->told;
    t->fast_batches++;
    t->fast_states += (uint64_t)k;
    t->largest_batch = (uint64_t)k > t->largest_batch ? (uint64_t)k : t->largest_batch;
}

SL_ENGINE void sl_stats_moved(sl_ctx *ctx, uint32_t v, int64_t taken, int64_t given) {
    ctx->stats->streams[v].taken += (uint64_t)taken;
    ctx->stats->streams[v].given += (uint64_t)given;
}

SL_ENGINE void sl_stats_abandoned(sl_ctx *ctx, uint32_t v) { ctx->stats->streams[v].abandoned++; }

SL_ENGINE void sl_stats_undo(sl_ctx *ctx) {
    for (uint32_t v = 0; v < ctx->program->node_count; v++) {
        ctx->stats->streams[v].firings = (uint64_t)ctx->fired[v];
    }
    ctx->stats->told.undone++;
}

SL_ENGINE void sl_stats_fill(sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    for (uint32_t i = 0; i < n->outs; i++) {
        const uint32_t c = p->ports[n->first_out + i];
        const uint64_t fill = (uint64_t)(ctx->at[c].tail - ctx->at[c].head);
        ctx->stats->highest[c] = fill > ctx->stats->highest[c] ? fill : ctx->stats->highest[c];
    }
}

/* What has been counted so far; valid until the instance is used again or destroyed. */
SL_EXPORT const sluice_stats *sluice_stats_v1(sl_ctx *ctx) {
    const int64_t epoch = ctx->boundary || ctx->epoch == 0 ? ctx->epoch : ctx->epoch - 1;
    ctx->stats->told.steady_states = (uint64_t)epoch;
    return &ctx->stats->told;
}
