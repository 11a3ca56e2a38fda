/* The emulator, part 5: barriers, atomics, asynchronous copies, marks: what sl_env.h declares. */
#ifndef SL_BARRIERS_H
#define SL_BARRIERS_H

#include "sl_sectors.h"

namespace sl_emulation {

static uint32_t warps() { return (now.threads + WARP - 1) / WARP; }
static uint32_t warp_size(uint32_t warp) { return now.threads - warp * WARP < WARP ? now.threads - warp * WARP : (uint32_t)WARP; }

/* ---- barriers ---- */

static void is_ready(thread *t)
{
    t->at = READY;
    now.ready[now.ready_count++] = t;
}

/* Some warps have been at a barrier, and go on: each has seen what any of them had, and all they did, and what is in `seen`. */
static void meet(block *b, uint32_t set, uint32_t *seen)
{
    uint32_t n = warps();
    for (uint32_t w = 0; w < n; w++) {
        if (!(set >> w & 1)) continue;
        b->known[w][w]++;
        for (uint32_t v = 0; v < n; v++)
            if (b->known[w][v] > seen[v]) seen[v] = b->known[w][v];
    }
    for (uint32_t w = 0; w < n; w++) {
        if (!(set >> w & 1)) continue;
        memcpy(b->known[w], seen, n * sizeof *seen);
        b->met[w] = seen[w];
        warp_passes(b, w);
    }
}
static void meet(block *b, uint32_t set)
{
    uint32_t seen[MOST_WARPS] = {0};
    meet(b, set, seen);
}

static uint32_t all_warps() { return warps() == MOST_WARPS ? UINT32_MAX : (1u << warps()) - 1; }

static void at_block_barrier()
{
    block *b = me->block;
    me->at = AT_BLOCK;
    if (++b->at_block == now.threads) {
        b->at_block = 0;
        meet(b, all_warps());
        for (uint32_t i = 0; i < now.threads; i++) is_ready(&b->threads[i]);
    }
    wait();
}

static void at_warp_barrier()
{
    block *b = me->block;
    uint32_t w = me->warp;
    me->at = AT_WARP;
    if (++b->at_warp[w] == warp_size(w)) {
        b->at_warp[w] = 0;
        meet(b, 1u << w);
        for (uint32_t i = 0; i < warp_size(w); i++) is_ready(&b->threads[w * WARP + i]);
    }
    wait();
}

/* The named barrier, if the thread may come to it with this count. */
static named *named_barrier(uint32_t id, uint32_t count)
{
    if (id == 0 || id >= NAMED) fail(me, "names barrier %u: there are 1 to %u", id, NAMED - 1);
    if (count == 0 || count % WARP != 0 || count > now.threads)
        fail(me, "comes to named barrier %u for %u threads: it must be whole warps of the block's %u threads", id, count, now.threads);
    named *n = &me->block->barriers[id];
    if (n->there && n->count != count)
        fail(me, "comes to named barrier %u for %u threads, others there are for %u", id, count, n->count);
    n->count = count;
    return n;
}

/* Enough threads have come to a named barrier. */
static void pass_named(block *b, uint32_t id)
{
    named *n = &b->barriers[id];
    uint32_t set = 0;
    for (uint32_t i = 0; i < now.threads; i++)
        if (b->threads[i].at == AT_NAMED && b->threads[i].barrier == id) set |= 1u << i / WARP;
    for (uint32_t i = 0; i < now.threads; i++) {
        thread *t = &b->threads[i];
        if ((set >> t->warp & 1) && !(t->at == AT_NAMED && t->barrier == id))
            fail(t, "is not at named barrier %u, where other threads of its warp and enough others are", id);
    }
    meet(b, set, n->seen);
    for (uint32_t i = 0; i < now.threads; i++)
        if (set >> i / WARP & 1) is_ready(&b->threads[i]);
    memset((void *)n, 0, sizeof *n);
}

static void at_named_barrier(uint32_t id, uint32_t count)
{
    named *n = named_barrier(id, count);
    me->at = AT_NAMED;
    me->barrier = id;
    if (++n->there >= count) pass_named(me->block, id);
    wait();
}

/* The threads of a warp arrive together, but have not met: what they did before is seen behind the barrier by those who wait there. */
static void arrive_at_named_barrier(uint32_t id, uint32_t count)
{
    named_barrier(id, count);
    block *b = me->block;
    uint32_t w = me->warp;
    me->at = ARRIVES;
    me->barrier = id;
    if (++b->at_warp[w] == warp_size(w)) {
        b->at_warp[w] = 0;
        named *n = named_barrier(id, count);
        for (uint32_t i = 0; i < warp_size(w); i++) {
            thread *t = &b->threads[w * WARP + i];
            if (t->at != ARRIVES || t->barrier != id) fail(t, "is not at named barrier %u, where other threads of its warp arrive", id);
        }
        if (n->arrived >> w & 1) fail(me, "arrives at named barrier %u a second time, before those who wait there have gone on", id);
        n->arrived |= 1u << w;
        uint32_t *known = b->known[w];
        known[w]++;
        for (uint32_t v = 0; v < warps(); v++)
            if (known[v] > n->seen[v]) n->seen[v] = known[v];
        warp_passes(b, w);
        for (uint32_t i = 0; i < warp_size(w); i++) is_ready(&b->threads[w * WARP + i]);
        if ((n->there += warp_size(w)) >= n->count) pass_named(b, id);
    }
    wait();
}

static inline space *need(const char *i_do, const volatile void *at, uint64_t bytes)
{
    const char *p = (const char *)at;
    space *s = holding(p, bytes);
    if (SL_UNLIKELY(!s)) outside(i_do, p, bytes);
    return s;
}

static void at_grid_barrier(unsigned *counter)
{
    if (!now.together && now.blocks > 1) fail(me, "waits for other blocks in a launch that does not run its blocks together");
    space *s = need("counts at a barrier of the grid in", counter, sizeof *counter);
    if (s == &me->block->shared) fail(me, "counts at a barrier of the grid in shared memory");
    if (first_unwritten(s, (uint64_t)((char *)counter - s->at), sizeof *counter) < sizeof *counter) unwritten((char *)counter);
    if (*counter & 0x7fffffffu) fail(me, "finds %u in the counter of a barrier of the grid: its low 31 bits must be 0", *counter);
    if (now.at_grid && now.grid_counter != counter) fail(me, "waits at a barrier of the grid with another counter than other threads");
    now.grid_counter = counter;
    me->at = AT_GRID;
    if (++now.at_grid == now.blocks * now.threads) {
        now.at_grid = 0;
        now.epoch++;
        *counter ^= 0x80000000u;
        for (uint32_t k = 0; k < now.resident_count; k++) {
            block *b = &now.resident[k];
            meet(b, all_warps());
            for (uint32_t i = 0; i < now.threads; i++) is_ready(&b->threads[i]);
        }
    }
    wait();
}

static void thread_ends()
{
    me->at = ENDED;
    me->copy_count = 0;
}

/* What a thread that another one waits for is at, in words. */
static void explain(const thread *t, char *text, size_t room)
{
    switch (t->at) {
    case AT_BLOCK: snprintf(text, room, "it waits at a barrier of the block"); break;
    case AT_WARP: snprintf(text, room, "it waits at a barrier of its warp"); break;
    case ARRIVES: snprintf(text, room, "it arrives at named barrier %u", t->barrier); break;
    case AT_NAMED: snprintf(text, room, "it waits at named barrier %u", t->barrier); break;
    case AT_GRID: snprintf(text, room, "it waits at a barrier of the grid"); break;
    default: snprintf(text, room, "it has ended"); break;
    }
}

/* No thread can go on. If some wait, that is reported of one of them. */
static void all_must_have_ended()
{
    uint32_t count = now.resident_count * now.threads;
    /* a barrier of the grid last: why another block does not come is what matters */
    const thread *waits = nullptr;
    for (uint32_t i = 0; i < count; i++) {
        const thread *t = &now.all[i];
        if (t->at != ENDED && (!waits || (waits->at == AT_GRID && t->at != AT_GRID))) waits = t;
    }
    if (!waits) return;
    const block *b = waits->block;
    char why[64];
    if (waits->at == AT_NAMED) {
        const named *n = &b->barriers[waits->barrier];
        /* who waits elsewhere might have come, rather than one that has ended */
        const thread *other = nullptr;
        for (uint32_t i = 0; i < now.threads; i++) {
            const thread *t = &b->threads[i];
            bool here = t->at == AT_NAMED && t->barrier == waits->barrier;
            if (!here && (!other || (other->at == ENDED && t->at != ENDED))) other = t;
        }
        char rest[96] = "";
        if (other) {
            explain(other, why, sizeof why);
            snprintf(rest, sizeof rest, "; thread %u does not: %s", other->index, why);
        }
        report(waits, "waits at named barrier %u for %u threads, and only %u come to it%s", waits->barrier, n->count, n->there, rest);
        return;
    }
    uint32_t first = 0, end = now.threads;
    if (waits->at == AT_WARP || waits->at == ARRIVES) {
        first = waits->warp * WARP;
        end = first + warp_size(waits->warp);
    }
    const thread *in = waits->at == AT_GRID ? now.all : b->threads;
    if (waits->at == AT_GRID) end = count;
    const char *what = waits->at == AT_GRID ? "the grid" : end - first < now.threads ? "its warp" : "the block";
    for (uint32_t i = first; i < end; i++) {
        if (in[i].at == waits->at) continue;
        explain(&in[i], why, sizeof why);
        if (waits->at == AT_GRID)
            report(waits, "waits at a barrier of %s that block %u, thread %u does not reach: %s", what, in[i].block->number, in[i].index, why);
        else report(waits, "waits at a barrier of %s that thread %u does not reach: %s", what, in[i].index, why);
        return;
    }
}

/* ---- asynchronous copies ---- */

static void begin_copy(void *shared, const void *global, uint32_t bytes)
{
    if (bytes != 4 && bytes != 8 && bytes != 16) fail(me, "copies %u bytes asynchronously: it can be 4, 8 or 16", bytes);
    char *to = (char *)shared;
    const char *from = (const char *)global;
    SL_READ(from, bytes);
    space *s = need("copies asynchronously to", to, bytes);
    if (s != &me->block->shared) fail(me, "copies asynchronously to what is not shared memory");
    uint64_t offset = (uint64_t)(to - s->at);
    if (offset % bytes || (uintptr_t)from % bytes) fail(me, "copies %u bytes asynchronously that are not aligned to %u", bytes, bytes);
    each_cell(s, offset, bytes, [](cell *c, const char *p) {
        cell_write(c, p);
        c->writer.clock = UNDER_WAY;
    });
    if (me->copy_count == me->copy_room) {
        me->copy_room = me->copy_room * 2 + 8;
        me->copies = (copy *)enough(me->copies, me->copy_room * sizeof *me->copies);
    }
    copy *c = &me->copies[me->copy_count++];
    c->to = to;
    c->from = from;
    c->bytes = bytes;
    c->group = me->groups;
    memcpy(c->held, from, bytes);
}

static void wait_for_copies(uint32_t but)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < me->copy_count; i++) {
        copy c = me->copies[i];
        if (c.group + but >= me->groups) {
            me->copies[left++] = c;
            continue;
        }
        if (memcmp(c.held, c.from, c.bytes) != 0) {
            char where[256];
            describe(c.from, where, sizeof where);
            fail(me, "waits for an asynchronous copy of what was changed meanwhile: %s", where);
        }
        space *s = &me->block->shared;
        memcpy(c.to, c.held, c.bytes);
        set_written(s, (uint64_t)(c.to - s->at), c.bytes);
        each_cell(s, (uint64_t)(c.to - s->at), c.bytes, [](cell *k, const char *) { k->writer = {me->who, my_clock()}; });
    }
    me->copy_count = left;
}

}

/* ---- what sl_env.h declares ---- */

sl_place sl_here;

void sl_sync() { sl_emulation::at_block_barrier(); }
bool sl_any(bool mine)
{
    using namespace sl_emulation;
    // three places take turns: who votes for the next time may be ahead of who still reads this one, but not of who still reads the last
    bool *votes = me->block->votes;
    const uint32_t turn = me->asked++ % 3;
    if (mine) votes[turn] = true;
    at_block_barrier();
    votes[(turn + 2) % 3] = false;
    return votes[turn];
}
void sl_sync_some(unsigned id, unsigned count) { sl_emulation::at_named_barrier(id, count); }
void sl_arrive_some(unsigned id, unsigned count) { sl_emulation::arrive_at_named_barrier(id, count); }
void sl_sync_warp() { sl_emulation::at_warp_barrier(); }
void sl_grid_sync(unsigned *counter) { sl_emulation::at_grid_barrier(counter); }

void sl_mark_read(const volatile void *at, uint64_t bytes)
{
    using namespace sl_emulation;
    space *s = need("reads", at, bytes);
    const char *p = (const char *)at;
    uint64_t offset = (uint64_t)(p - s->at);
    if (s != &me->block->shared && bytes) note_access(s, p, bytes, false);
    each_cell(s, offset, bytes, cell_read);
    uint64_t written = first_unwritten(s, offset, bytes);
    if (SL_UNLIKELY(written < bytes) && !given_up()) unwritten(p + written);
}

void sl_mark_write(const volatile void *at, uint64_t bytes)
{
    using namespace sl_emulation;
    space *s = need("writes", at, bytes);
    const char *p = (const char *)at;
    uint64_t offset = (uint64_t)(p - s->at);
    if (s != &me->block->shared && bytes) note_access(s, p, bytes, true);
    each_cell(s, offset, bytes, cell_write);
    set_written(s, offset, bytes);
}

/* Atomics race with nothing: they are checked for being in memory that was written. */
static void sl_check_atomic(const void *at)
{
    using namespace sl_emulation;
    space *s = need("changes", at, 4);
    if (first_unwritten(s, (uint64_t)((const char *)at - s->at), 4) < 4) unwritten((const char *)at);
}

bool sl_first(int32_t *flag, int32_t value)
{
    sl_check_atomic(flag);
    if (*flag) return false;
    *flag = value;
    sl_emulation::raised = flag;
    return true;
}

unsigned sl_atomic_add(unsigned *at, unsigned value)
{
    sl_check_atomic(at);
    unsigned before = *at;
    *at += value;
    return before;
}

void sl_copy_async(void *shared, const void *global, unsigned bytes) { sl_emulation::begin_copy(shared, global, bytes); }
static void sl_check_wide(const void *at)
{
    if ((uintptr_t)at % 16) sl_emulation::fail(sl_emulation::me, "accesses 16 bytes at once that are not aligned to 16");
}
void sl_load_wide(void *own, const void *at)
{
    sl_check_wide(at);
    memcpy(own, at, 16);
}
void sl_store_wide(void *at, const void *own)
{
    sl_check_wide(at);
    memcpy(at, own, 16);
}
void sl_copy_commit() { sl_emulation::me->groups++; }
void sl_copy_wait(unsigned n) { sl_emulation::wait_for_copies(n); }
#endif
