/* A program as a code generator could write it: it doubles ints, on its device where it has one. With FORGET the kernel does not wait for its input. */
#include <stdlib.h>
#include <string.h>
enum { ITEMS = 100 };
typedef struct { char *arena; int32_t count; } job_t;
struct sl_ctx { sluice_host host; sluice_error error; int64_t items; uint64_t memory; int32_t up[ITEMS], down[ITEMS]; };

static int32_t create(const sluice_host *h, sl_ctx **out) {
    sl_ctx *c = calloc(1, sizeof *c);
    if (!c) return SLUICE_MEMORY;
    memcpy(&c->host, h, h->size < sizeof c->host ? h->size : sizeof c->host);
    *out = c;
    return SLUICE_DONE;
}

static int32_t on_device(sl_ctx *c, int64_t n) {
    const sluice_device *d = c->host.device;
    void *u = d->user;
    float time;
    if (!c->memory) {
        if (d->allocate(u, sizeof c->up, &c->memory)) return SLUICE_HOST;
        d->pin(u, c->up, sizeof c->up);
        if (d->clear(u, SLUICE_COMPUTE, c->memory, sizeof c->up) || d->finish(u, SLUICE_COMPUTE)) return SLUICE_HOST;
    }
    job_t job = {(char *)(uintptr_t)c->memory, (int32_t)n};
    if (d->put(u, SLUICE_UP, c->memory, c->up, n * 4) || d->record(u, 0, SLUICE_UP)) return SLUICE_HOST;
#ifndef FORGET
    if (d->await(u, SLUICE_COMPUTE, 0)) return SLUICE_HOST;
#endif
    if (d->launch(u, 0, 2, 64, 0, 0, &job, sizeof job)) return SLUICE_HOST;
    if (d->record(u, 1, SLUICE_COMPUTE) || d->await(u, SLUICE_DOWN, 1)) return SLUICE_HOST;
    if (d->get(u, SLUICE_DOWN, c->down, c->memory, n * 4)) return SLUICE_HOST;
    if (d->finish(u, SLUICE_DOWN) || d->finish(u, SLUICE_UP)) return SLUICE_HOST;
    return d->elapsed(u, 0, 1, &time) ? SLUICE_HOST : SLUICE_DONE;
}

static int32_t run(sl_ctx *c, int64_t n) {
    while (n < 0 || c->items < n) {
        int64_t got = c->host.read(c->host.user, 0, c->up, n < 0 || n - c->items > ITEMS ? ITEMS : n - c->items, 1);
        if (got == SLUICE_END) break;
        if (got == SLUICE_ERROR) return SLUICE_HOST;
        if (got == SLUICE_NONE_YET) return SLUICE_BLOCKED;
        if (c->host.device) {
            int32_t code = on_device(c, got);
            if (code) return code;
        } else {
            for (int64_t i = 0; i < got; i++) c->down[i] = c->up[i] * 2;
        }
        c->items += got;
        if (c->host.write(c->host.user, 0, c->down, got)) return SLUICE_HOST;
    }
    return SLUICE_DONE;
}
static const sluice_error *error(const sl_ctx *c) { return &c->error; }
static int64_t iterations(const sl_ctx *c) { return c->items; }
static void destroy(sl_ctx *c) { free(c); }
static const sluice_end ends[2] = {{"in", "int", 0, SLUICE_INT, 1, 4, 0, 0}, {"out", "int", 0, SLUICE_INT, 1, 4, 2, 0}};
static const sluice_abi abi = {sizeof abi, 1, "Twice", 1, 1, ends, ends + 1, 0, 1, 0, 1, create, run, error, iterations, destroy, 1};
const sluice_abi *sluice_abi_v1(void) { return &abi; }
