/* Statistics: what a program counts while it runs, where it is compiled with SL_STATS. In the text of all other programs neither this file
 * nor any line between `#ifdef SL_STATS` and `#endif` appears.
 *
 * Time is measured per call of a node's code, which stands for many firings where the program runs fast: one reading of the clock after each
 * call, so that a node's time reaches from the end of the call before it. Time in the host's functions belongs to no node. */
#ifndef SL_STATS_H
#define SL_STATS_H

#include "sl_engine.h"

/* Number of this interface. Fields are only ever added at the end. */
#define SLUICE_STATS_VERSION 1

/* Of a node. */
typedef struct sluice_stream_stats {
    uint64_t firings, calls, ticks;
    /* Where its firings decide on their rates: items popped and pushed, and attempts that were abandoned. */
    uint64_t taken, given, abandoned;
} sluice_stream_stats;

/* What `sluice_stats_v1` gives. */
typedef struct sluice_stats {
    /* sizeof(sluice_stats) */
    uint32_t size;
    /* SLUICE_STATS_VERSION */
    uint32_t version;
    uint32_t stream_count, channel_count;
    /* By node. */
    const sluice_stream_stats *streams;
    /* By channel: the most items on it after a firing while the program ran slowly, and at the start. */
    const uint64_t *highest;
    /* Steady states that are complete. */
    uint64_t steady_states;
    /* Calls of the fast way, their steady states, and the most in one; steady states begun slowly; batches undone. */
    uint64_t fast_batches, fast_states, largest_batch, slow_states, undone;
    /* The time of all runs, in nanoseconds and in ticks of the clock that is read for nodes. */
    uint64_t nanoseconds, ticks;
    /* Ticks in the host's functions: reading (and waiting), writing and printing. */
    uint64_t reading, writing;
    /* Ticks that 1024 readings of the clock take. */
    uint64_t clock;
} sluice_stats;

typedef struct sl_stats {
    sluice_stats told;
    sluice_host host;    /* the real one */
    uint64_t stamp;      /* when the call under way began */
    uint64_t began_nanoseconds, began_ticks;
    uint64_t *highest;
    sluice_stream_stats streams[];
} sl_stats;

static inline SL_UNUSED uint64_t sl_nanoseconds(void) {
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock. Nothing is moved across it. */
static inline SL_UNUSED uint64_t sl_ticks(void) {
#if defined(__x86_64__) || defined(__i386__)
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#else
    __asm__ volatile("" : : : "memory");
    return sl_nanoseconds();
#endif
}

/* A node's call begins. */
static inline SL_UNUSED void sl_stamp(sl_ctx *ctx) { ctx->stats->stamp = sl_ticks(); }

/* A node's call of `n` firings is over, and the next one begins. */
static inline SL_UNUSED void sl_tick(sl_ctx *ctx, uint32_t v, int64_t n) {
    sl_stats *s = ctx->stats;
    const uint64_t now = sl_ticks();
    s->streams[v].firings += (uint64_t)n;
    s->streams[v].calls++;
    s->streams[v].ticks += now - s->stamp;
    s->stamp = now;
}

/* Makes the counters of a new instance; false without memory. */
SL_ENGINE int sl_stats_create(sl_ctx *ctx) SL_UNUSED;
/* Around a run. */
SL_ENGINE void sl_stats_begin(sl_ctx *ctx) SL_UNUSED;
SL_ENGINE void sl_stats_end(sl_ctx *ctx) SL_UNUSED;
/* A fast batch of `k` steady states is complete. */
SL_ENGINE void sl_stats_batch(sl_ctx *ctx, int64_t k) SL_UNUSED;
/* A firing that decided on its rates is complete; or it was abandoned. */
SL_ENGINE void sl_stats_moved(sl_ctx *ctx, uint32_t v, int64_t taken, int64_t given) SL_UNUSED;
SL_ENGINE void sl_stats_abandoned(sl_ctx *ctx, uint32_t v) SL_UNUSED;
/* A fast batch was undone. */
SL_ENGINE void sl_stats_undo(sl_ctx *ctx) SL_UNUSED;
/* A node has fired, and changed what lies on its channels. */
SL_ENGINE void sl_stats_fill(sl_ctx *ctx, uint32_t v) SL_UNUSED;

#endif
