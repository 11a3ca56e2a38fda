/* Steady states on a device (sluice_device.h): what is on channels, the filters' states and the input go there, the program's kernels run, and
 * what they have made comes back. Between batches everything is on the host, where it is for the slow way; so the device is not missed
 * at the end of the input, and after a fault. */
#ifdef SL_KERNELS
#include "sl_engine.h"

#include "sluice_device.h"

/* What of a program is on the device. */
struct sl_gpu {
    const sluice_device *device;
    uint64_t arena;      /* the rings, states and so on */
    uint64_t print, room; /* for what filters print, and its bytes */
    char *host, *back;   /* status, states and kept items, as they are in the arena's first bytes: on their way there, and back */
    char *printed;       /* text from the device, as records */
    uint64_t *ends;      /* by reader, then writer: the items of a batch on the device */
    const void **in;     /* by reader, then those of writers: the items of a batch on the host */
    char **out;
    /* Iterations of the batch; of a slice, which is what is on its way while others are worked on; those whose input is on its way, and those
     * whose output is. */
    uint32_t n, slice, up, down;
    /* Steady states for whose items the ends have room. */
    int64_t have;
    /* Bytes of items that went there or came back; whether the host's memory is pinned. */
    uint64_t moved, pinned;
};

/* As in rts/cuda/sl_thread.h. */
typedef struct sl_status {
    int32_t failed, full, node, site;
    int64_t value, firing;
    uint64_t printed;
    uint32_t unused[4];
} sl_status;

enum { SL_RECORD_TEXT, SL_RECORD_INT, SL_RECORD_FLOAT, SL_RECORD_DOUBLE, SL_RECORD_BOOLEAN, SL_RECORD_BIT, SL_RECORD_COMPLEX,
       SL_RECORD_FLOAT2, SL_RECORD_FLOAT3, SL_RECORD_FLOAT4 };

/* Slices of a batch at most, and events: those of slices on their way to the device, then those on their way back. */
enum { SL_SLICES = 16, SL_EVENTS_UP = 0, SL_EVENTS_DOWN = SL_SLICES };

/* Bytes for prints at first, and at most. */
#define SL_PRINT_ROOM (1u << 20)
#define SL_MOST_PRINT_ROOM (1u << 30)

/* Bytes of items after which it is worth while to pin the host's memory: that takes as long as some megabytes take to be copied. */
#define SL_WORTH_PINNING (8u << 20)

/* The device failed: the run ends. */
_Noreturn static SL_COLD void sl_device_failed(sl_ctx *ctx) {
    const sluice_device *d = ctx->gpu->device;
    ctx->node = -1;
    ctx->firing = 0;
    ctx->in_batch = 0;
    snprintf(ctx->message, sizeof ctx->message, "the device: %s", d->why(d->user));
    sl_escape(ctx, SLUICE_HOST, -1, 0);
}

/* Goes on where a function of the device went well. */
static void sl_done(sl_ctx *ctx, int32_t result) {
    if (result != 0) {
        sl_device_failed(ctx);
    }
}

/* The ends have room for nothing any more. */
static void sl_free_ends(sl_ctx *ctx) {
    sl_gpu *g = ctx->gpu;
    const sluice_device *d = g->device;
    const sluice_abi *abi = ctx->program->abi;
    for (uint32_t e = 0; g->ends && e < abi->reader_count + abi->writer_count; e++) {
        if (g->ends[e]) {
            d->release(d->user, g->ends[e]);
            g->ends[e] = 0;
        }
    }
    for (uint32_t w = 0; g->out && w < abi->writer_count; w++) {
        if (g->out[w] && g->pinned) {
            d->unpin(d->user, g->out[w]);
        }
        free(g->out[w]);
        g->out[w] = NULL;
    }
    g->have = 0;
}

static void sl_free_device(sl_ctx *ctx) {
    sl_gpu *g = ctx->gpu;
    if (!g) {
        return;
    }
    const sluice_device *d = g->device;
    /* first, as it was the first that there was: whoever watches the device knows by it that the run is over */
    if (g->arena) {
        d->release(d->user, g->arena);
    }
    sl_free_ends(ctx);
    if (g->print) {
        d->release(d->user, g->print);
    }
    if (g->pinned) {
        d->unpin(d->user, ctx->arena);
    }
    free(g->out);
    free(g->in);
    free(g->ends);
    free(g->host);
    free(g->back);
    free(g->printed);
    free(g);
    ctx->gpu = NULL;
}

static void *sl_room(sl_ctx *ctx, uint64_t bytes) {
    void *place = calloc(bytes > 0 ? bytes : 1, 1);
    if (!place) {
        sl_escape(ctx, SLUICE_MEMORY, -1, 0);
    }
    return place;
}

/* Bytes of a batch's items at an end. */
static uint64_t sl_end_bytes(const sl_program *p, const sl_end *end, uint64_t k) {
    return p->nodes[end->node].repetitions * k * end->type->size;
}

static sl_gpu *sl_begin_device(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    const sluice_abi *abi = p->abi;
    const sluice_device *d = ctx->host.device;
    if (ctx->gpu) {
        return ctx->gpu;
    }
    sl_gpu *g = sl_room(ctx, sizeof *g);
    ctx->gpu = g;
    g->device = d;
    g->host = sl_room(ctx, p->kernels->exchanged);
    g->back = sl_room(ctx, p->kernels->exchanged);
    g->ends = sl_room(ctx, (abi->reader_count + abi->writer_count) * sizeof *g->ends);
    g->in = sl_room(ctx, abi->reader_count * sizeof *g->in);
    g->out = sl_room(ctx, abi->writer_count * sizeof *g->out);
    sl_done(ctx, d->allocate(d->user, p->kernels->arena, &g->arena));
    if (abi->printers > 0) {
        g->room = SL_PRINT_ROOM;
        sl_done(ctx, d->allocate(d->user, g->room, &g->print));
        g->printed = sl_room(ctx, g->room);
    }
    return g;
}

/* Bytes of a writer's items on the host, in pages of their own. */
static uint64_t sl_out_bytes(const sl_program *p, uint32_t w, int64_t k) {
    return (sl_end_bytes(p, &p->writers[w], (uint64_t)k) + SL_PAGE) / SL_PAGE * SL_PAGE;
}

/* Room at the ends for `k` steady states: for as many as there have been at once, and for those of later, larger batches when they come. */
static void sl_enough_room(sl_ctx *ctx, int64_t k) {
    const sl_program *p = ctx->program;
    sl_gpu *g = ctx->gpu;
    const sluice_device *d = g->device;
    const uint32_t readers = p->abi->reader_count, writers = p->abi->writer_count;
    if (k <= g->have) {
        return;
    }
    sl_free_ends(ctx);
    for (uint32_t r = 0; r < readers; r++) {
        sl_done(ctx, d->allocate(d->user, sl_end_bytes(p, &p->readers[r], (uint64_t)k) + 1, &g->ends[r]));
    }
    for (uint32_t w = 0; w < writers; w++) {
        sl_done(ctx, d->allocate(d->user, sl_end_bytes(p, &p->writers[w], (uint64_t)k) + 1, &g->ends[readers + w]));
        g->out[w] = aligned_alloc(SL_PAGE, (size_t)sl_out_bytes(p, w, k));
        if (!g->out[w]) {
            sl_escape(ctx, SLUICE_MEMORY, -1, 0);
        }
        if (g->pinned) {
            d->pin(d->user, g->out[w], sl_out_bytes(p, w, k));
        }
    }
    g->have = k;
}

/* Pins what goes to the device and comes back, once it is known that there is much of it. */
static void sl_pin_much(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    sl_gpu *g = ctx->gpu;
    const sluice_device *d = g->device;
    if (g->pinned || g->moved < SL_WORTH_PINNING || !d->pin || !d->unpin) {
        return;
    }
    d->pin(d->user, ctx->arena, (p->arena_bytes + SL_PAGE - 1) / SL_PAGE * SL_PAGE);
    for (uint32_t w = 0; w < p->abi->writer_count; w++) {
        d->pin(d->user, g->out[w], sl_out_bytes(p, w, g->have));
    }
    g->pinned = 1;
}

/* Starts a kernel. */
SL_ENGINE void sl_launch(sl_ctx *ctx, uint32_t kernel, uint32_t blocks, uint32_t threads, uint32_t shared, uint32_t together,
                         const void *job, uint32_t bytes) {
    const sluice_device *d = ctx->gpu->device;
    sl_done(ctx, d->launch(d->user, kernel, blocks, threads, shared, together, job, bytes));
}

/* How many blocks a kernel gets that can do with any number: as many as there is work for, but no more than keep all multiprocessors busy. */
SL_ENGINE uint32_t sl_blocks_for(sl_ctx *ctx, uint64_t blocks) {
    const uint32_t processors = ctx->gpu->device->processors;
    const uint64_t most = processors > 0 ? (uint64_t)processors * 16 : 1024;
    return (uint32_t)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/* How many blocks a kernel gets whose blocks stay until all is done: as many as there is work for, or as run at once. */
SL_ENGINE uint32_t sl_blocks_at_once(sl_ctx *ctx, uint32_t kernel, uint32_t threads, uint32_t shared, uint32_t blocks) {
    const sluice_device *d = ctx->gpu->device;
    uint32_t each = 1;
    if (d->size >= offsetof(sluice_device, resident) + sizeof d->resident && d->resident) {
        sl_done(ctx, d->resident(d->user, kernel, threads, shared, &each));
    }
    const uint64_t most = (uint64_t)d->processors * (each > 0 ? each : 1);
    return most > 0 && most < blocks ? (uint32_t)most : blocks;
}

/* A value of a record. */
#define SL_VALUE(type, call) \
    { \
        type value; \
        memcpy(&value, at, sizeof value); \
        at += sizeof value; \
        call; \
        break; \
    }

/* What filters have printed on the device. */
static void sl_print_records(sl_ctx *ctx, const char *at, const char *end) {
    while (at < end) {
        switch (*at++) {
        case SL_RECORD_TEXT: {
            uint32_t length;
            memcpy(&length, at, 4);
            sl_print_text(ctx, at + 4, length);
            at += 4 + length;
            break;
        }
        case SL_RECORD_INT: SL_VALUE(int32_t, sl_print_int(ctx, value))
        case SL_RECORD_FLOAT: SL_VALUE(float, sl_print_float(ctx, value))
        case SL_RECORD_DOUBLE: SL_VALUE(double, sl_print_double(ctx, value))
        case SL_RECORD_BOOLEAN: SL_VALUE(uint8_t, sl_print_boolean(ctx, value))
        case SL_RECORD_BIT: SL_VALUE(uint8_t, sl_print_bit(ctx, value))
        case SL_RECORD_COMPLEX: SL_VALUE(sl_complex, sl_print_complex(ctx, value))
        case SL_RECORD_FLOAT2: SL_VALUE(sl_float2, sl_print_float2(ctx, value))
        case SL_RECORD_FLOAT3: SL_VALUE(sl_float3, sl_print_float3(ctx, value))
        case SL_RECORD_FLOAT4: SL_VALUE(sl_float4, sl_print_float4(ctx, value))
        default: sl_stop_run(ctx, SLUICE_INTERNAL, "a print of the device has no meaning");
        }
    }
}

/* The kernels of `k` steady states. A device that measures is told where they begin and end. */
static void sl_launch_batch(sl_ctx *ctx, int64_t k) {
    const sl_gpu *g = ctx->gpu;
    const sluice_device *d = g->device;
    const int told = d->size >= offsetof(sluice_device, batch) + sizeof d->batch && d->batch;
    if (told) {
        d->batch(d->user, k);
    }
    ctx->program->kernels->run(ctx, g->arena, g->ends, g->print, g->room, k);
    if (told) {
        d->batch(d->user, 0);
    }
}

/* The items of an end in iterations `first` to `end` go there, or come back. */
static void sl_carry(sl_ctx *ctx, uint32_t e, uint32_t first, uint32_t end) {
    const sl_program *p = ctx->program;
    sl_gpu *g = ctx->gpu;
    const sluice_device *d = g->device;
    const uint32_t readers = p->abi->reader_count;
    const sl_end *of = e < readers ? &p->readers[e] : &p->writers[e - readers];
    const uint64_t each = sl_end_bytes(p, of, p->unit), at = each * first, bytes = each * (end - first);
    if (bytes == 0) {
        return;
    }
    g->moved += bytes;
    if (e < readers) {
        sl_done(ctx, d->put(d->user, SLUICE_UP, g->ends[e] + at, (const char *)g->in[e] + at, bytes));
    } else {
        sl_done(ctx, d->get(d->user, SLUICE_DOWN, g->out[e - readers] + at, g->ends[e] + at, bytes));
    }
}

SL_ENGINE void sl_need_input(sl_ctx *ctx, uint32_t iterations) {
    sl_gpu *g = ctx->gpu;
    const sluice_device *d = g->device;
    while (g->up < iterations && g->up < g->n) {
        const uint32_t end = g->n - g->up < g->slice ? g->n : g->up + g->slice, event = SL_EVENTS_UP + g->up / g->slice;
        for (uint32_t r = 0; r < ctx->program->abi->reader_count; r++) {
            sl_carry(ctx, r, g->up, end);
        }
        sl_done(ctx, d->record(d->user, event, SLUICE_UP));
        sl_done(ctx, d->await(d->user, SLUICE_COMPUTE, event));
        g->up = end;
    }
}

SL_ENGINE void sl_has_output(sl_ctx *ctx, uint32_t iterations) {
    sl_gpu *g = ctx->gpu;
    const sluice_device *d = g->device;
    const uint32_t readers = ctx->program->abi->reader_count;
    while (g->down < g->n) {
        const uint32_t end = g->n - g->down < g->slice ? g->n : g->down + g->slice, event = SL_EVENTS_DOWN + g->down / g->slice;
        if (iterations < end) {
            return;
        }
        sl_done(ctx, d->record(d->user, event, SLUICE_COMPUTE));
        sl_done(ctx, d->await(d->user, SLUICE_DOWN, event));
        for (uint32_t w = 0; w < ctx->program->abi->writer_count; w++) {
            sl_carry(ctx, readers + w, g->down, end);
        }
        g->down = end;
    }
}

SL_ENGINE uint32_t sl_slice(sl_ctx *ctx) { return ctx->gpu->slice; }

/* How long slices are. */
static void sl_cut(sl_ctx *ctx, int64_t k) {
    const sl_program *p = ctx->program;
    sl_gpu *g = ctx->gpu;
    uint64_t bytes = 0;
    for (uint32_t r = 0; r < p->abi->reader_count; r++) {
        bytes += sl_end_bytes(p, &p->readers[r], (uint64_t)k);
    }
    for (uint32_t w = 0; w < p->abi->writer_count; w++) {
        bytes += sl_end_bytes(p, &p->writers[w], (uint64_t)k);
    }
    const uint64_t fit = bytes / p->kernels->slice_bytes, slices = fit < 1 ? 1 : fit < SL_SLICES ? fit : SL_SLICES;
    g->n = (uint32_t)(k / (int64_t)p->unit);
    g->slice = (uint32_t)((g->n + slices - 1) / slices);
    g->up = g->down = 0;
}

/* One try at a batch: everything goes there, and comes back to `g->back` and `g->out`. */
static const sl_status *sl_try_batch(sl_ctx *ctx, int64_t k) {
    const sl_program *p = ctx->program;
    const sl_kernels *kernels = p->kernels;
    sl_gpu *g = ctx->gpu;
    const sluice_device *d = g->device;
    memset(g->host, 0, sizeof(sl_status));
    memcpy(g->host + kernels->states, ctx->states, p->state_bytes);
    for (uint32_t i = 0; i < p->kept_count; i++) {
        const sl_channel *ch = &p->channels[p->kept[i]];
        memcpy(g->host + kernels->kept[i], ctx->arena + ch->offset, ch->fill * ch->item);
    }
    sl_done(ctx, d->put(d->user, SLUICE_COMPUTE, g->arena, g->host, kernels->exchanged));
    sl_cut(ctx, k);
    sl_launch_batch(ctx, k);
    sl_done(ctx, d->get(d->user, SLUICE_COMPUTE, g->back, g->arena, kernels->exchanged));
    for (uint32_t stream = 0; stream < SLUICE_STREAMS; stream++) {
        sl_done(ctx, d->finish(d->user, stream));
    }
    return (const sl_status *)(const void *)g->back;
}

SL_ENGINE void sl_device_steady(sl_ctx *ctx, int64_t k) {
    const sl_program *p = ctx->program;
    const sl_kernels *kernels = p->kernels;
    sl_gpu *g = sl_begin_device(ctx);
    const sluice_device *d = g->device;
    const uint32_t readers = p->abi->reader_count, writers = p->abi->writer_count;
    sl_enough_room(ctx, k);
    sl_pin_much(ctx);
    for (uint32_t r = 0; r < readers; r++) {
        int64_t n = (int64_t)p->nodes[p->readers[r].node].repetitions * k;
        g->in[r] = n > 0 ? sl_take(ctx, r, n) : NULL;
    }
    const sl_status *status = sl_try_batch(ctx, k);
    while (status->full && g->room > 0 && g->room < SL_MOST_PRINT_ROOM) {
        sl_done(ctx, d->release(d->user, g->print));
        g->print = 0;
        g->room *= 8;
        sl_done(ctx, d->allocate(d->user, g->room, &g->print));
        free(g->printed);
        g->printed = NULL;
        g->printed = sl_room(ctx, g->room);
        status = sl_try_batch(ctx, k);
    }
    if (status->failed) {
        ctx->node = status->node;
        ctx->firing = status->firing;
        sl_fail(ctx, status->site, status->value);
    }
    if (status->full) {
        sl_stop_run(ctx, SLUICE_FULL, "prints more than the device has room for");
    }
    memcpy(ctx->states, g->back + kernels->states, p->state_bytes);
    for (uint32_t v = 0; v < p->node_count; v++) {
        if (p->nodes[v].kind == SL_FILTER) {
            /* firings are counted in the first field of every state */
            int64_t fired = ctx->fired[v] + k * (int64_t)p->nodes[v].repetitions;
            memcpy(ctx->states + p->nodes[v].state, &fired, sizeof fired);
        }
    }
    for (uint32_t i = 0; i < p->kept_count; i++) {
        const sl_channel *ch = &p->channels[p->kept[i]];
        memcpy(ctx->arena + ch->offset, g->back + kernels->kept[i], ch->fill * ch->item);
    }
    if (status->printed > 0) {
        uint64_t bytes = status->printed;
        sl_done(ctx, d->get(d->user, SLUICE_COMPUTE, g->printed, g->print, bytes));
        sl_done(ctx, d->finish(d->user, SLUICE_COMPUTE));
        sl_print_records(ctx, g->printed, g->printed + bytes);
    }
    for (uint32_t w = 0; w < writers; w++) {
        int64_t n = (int64_t)p->nodes[p->writers[w].node].repetitions * k;
        if (n > 0) {
            sl_put(ctx, w, g->out[w], n);
        }
    }
}
#endif
