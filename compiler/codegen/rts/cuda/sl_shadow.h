/* The emulator, part 3: memory. Which memory there is, what of it was written, and who wrote and read what in which order.
 *
 * An access is checked against the last write and the reads since, as in FastTrack (Flanagan and Freund, PLDI 2009): whoever did those must
 * have done so before, by the clocks of sl_launch.h. Of the readers since, those of two warps are kept, and of two blocks where there are
 * two: so no write is missed that is too early for a barrier of block or grid. What may be missed, in some orders, is one that has waited, by
 * named barriers, for some of three and more warps. */
#ifndef SL_SHADOW_H
#define SL_SHADOW_H

#include "sl_fibres.h"

namespace sl_emulation {

/* Device memory, by address. */
static space *spaces;
static uint32_t space_count, space_room;
static uint32_t last_space;
/* Memory that could not be watched, for want of memory. */
static uint64_t unwatched;

static bool watch(space *s)
{
    uint64_t words = s->bytes / 4 + 1;
    s->words = (cell *)map_lazily(words * sizeof(cell));
    s->parts = (cell *)map_lazily(words * 4 * sizeof(cell));
    s->written = (uint8_t *)map_lazily(s->bytes / 8 + 2);
    return s->words && s->parts && s->written;
}

static void unwatch(space *s)
{
    uint64_t words = s->bytes / 4 + 1;
    unmap(s->words, words * sizeof(cell));
    unmap(s->parts, words * 4 * sizeof(cell));
    unmap(s->written, s->bytes / 8 + 2);
}

/* The first space that ends behind an address. */
static uint32_t space_behind(const char *p)
{
    uint32_t low = 0, high = space_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (spaces[middle].at + spaces[middle].bytes <= p) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The flag that somebody was the first to raise (sl_first). */
static const int32_t *raised;

/* As long as it is up, what kernels make is dropped: who raised it has left things unwritten. */
static bool given_up() { return raised && *raised; }

static void forget(char *at, uint64_t bytes)
{
    if ((const char *)raised >= at && (const char *)raised < at + bytes) raised = nullptr;
    uint32_t first = space_behind(at), end = first;
    while (end < space_count && spaces[end].at < at + (bytes ? bytes : 1)) unwatch(&spaces[end++]);
    if (first == end) return;
    memmove(spaces + first, spaces + end, (space_count - end) * sizeof *spaces);
    space_count -= end - first;
    last_space = 0;
}

static void allocated(char *at, uint64_t bytes)
{
    forget(at, bytes);
    if (!bytes) return;
    if (space_count == space_room) {
        space_room = space_room * 2 + 8;
        spaces = (space *)enough(spaces, space_room * sizeof *spaces);
    }
    space s = {at, bytes, nullptr, nullptr, nullptr};
    if (!watch(&s)) {
        unwatched += bytes;
        unwatch(&s);
        return;
    }
    uint32_t k = space_behind(at);
    memmove(spaces + k + 1, spaces + k, (space_count - k) * sizeof *spaces);
    spaces[k] = s;
    space_count++;
}

/* The space that holds all these bytes, or nothing. */
static inline space *holding(const char *p, uint64_t bytes)
{
    space *s = &me->block->shared;
    if ((uint64_t)(p - s->at) < s->bytes) return bytes <= s->bytes - (uint64_t)(p - s->at) ? s : nullptr;
    if (last_space < space_count) {
        s = &spaces[last_space];
        if ((uint64_t)(p - s->at) < s->bytes) return bytes <= s->bytes - (uint64_t)(p - s->at) ? s : nullptr;
    }
    uint32_t k = space_behind(p);
    if (k == space_count || spaces[k].at > p) return nullptr;
    last_space = k;
    s = &spaces[k];
    return bytes <= s->bytes - (uint64_t)(p - s->at) ? s : nullptr;
}

/* ---- where an address is, in words ---- */

static void describe(const char *p, char *text, size_t room)
{
    const space *shared = &me->block->shared;
    int64_t from = p - shared->at;
    if (from >= -4096 && from < (int64_t)MOST_SHARED + 4096) {
        if ((uint64_t)from < shared->bytes) snprintf(text, room, "shared memory, offset %lld", (long long)from);
        else snprintf(text, room, "offset %lld, the block has %llu bytes of shared memory", (long long)from, (unsigned long long)shared->bytes);
        return;
    }
    uint32_t k = space_behind(p);
    const space *in = k < space_count && spaces[k].at <= p ? &spaces[k] : nullptr;
    /* outside: the end of the memory before it, or the beginning of the one behind it, if that is near */
    const space *near = in ? in : k > 0 ? &spaces[k - 1] : k < space_count ? &spaces[k] : nullptr;
    if (!near) {
        snprintf(text, room, "there is no device memory");
        return;
    }
    bool in_arena = now.arena >= near->at && now.arena < near->at + near->bytes;
    int64_t offset = p - (in_arena ? now.arena : near->at);
    const sl_region *of = nullptr;
    for (uint32_t r = 0; in_arena && r < region_count; r++)
        if ((uint64_t)offset - regions[r].offset < regions[r].bytes) of = &regions[r];
    if (of) snprintf(text, room, "%s, offset %lld", of->name, (long long)(offset - (int64_t)of->offset));
    else
        snprintf(text, room, "%s, offset %lld of %llu bytes", in_arena ? "arena" : "device memory", (long long)offset,
                 (unsigned long long)(near->at + near->bytes - (in_arena ? now.arena : near->at)));
}

/* ---- order ---- */

static const stamp NOBODY = {0, 0};

/* Whether what is stamped, in this epoch, happened before what the running thread does now. */
static inline bool before(stamp s)
{
    if (s.who == me->who) return s.clock != UNDER_WAY;
    uint32_t other = (s.who & ~AND_OTHERS) - me->block->first;
    if (other >= now.threads) return false;
    uint32_t warp = other / WARP;
    return s.clock < (warp == me->warp ? me->block->met[warp] : me->block->known[me->warp][warp]);
}

static inline uint32_t block_of(stamp s) { return ((s.who & ~AND_OTHERS) - 1) / now.threads; }
static inline uint32_t thread_of(stamp s) { return ((s.who & ~AND_OTHERS) - 1) % now.threads; }

[[noreturn]] static void race(stamp other, const char *i_do, const char *it_did, const char *p)
{
    char where[256];
    describe(p, where, sizeof where);
    if (other.clock == UNDER_WAY)
        fail(me, "%s where an asynchronous copy of thread %u goes that is not waited for: %s", i_do, thread_of(other), where);
    if (block_of(other) == me->block->number)
        fail(me, "%s what thread %u %s, without a barrier between: %s", i_do, thread_of(other), it_did, where);
    fail(me, "%s what block %u %s %s: %s", i_do, block_of(other), it_did,
         now.together ? "with no barrier of the grid between" : "in the same launch", where);
}

static inline void into_this_epoch(cell *c)
{
    if (c->epoch == now.epoch) return;
    c->epoch = now.epoch;
    if (c->writer.clock != UNDER_WAY) c->writer = NOBODY;
    c->reader[0] = c->reader[1] = NOBODY;
}

static inline uint32_t my_clock() { return me->block->known[me->warp][me->warp]; }

static void note_reader(cell *c)
{
    stamp mine = {me->who, my_clock()};
    for (stamp &r : c->reader) {
        if (!r.who || r.who == mine.who || before(r)) {
            r = mine;
            return;
        }
        if (block_of(r) == me->block->number && thread_of(r) / WARP == me->warp) {
            r = {mine.who | AND_OTHERS, mine.clock};
            return;
        }
    }
    /* others may read both at the same time: rather keep readers of two blocks */
    if (block_of(c->reader[0]) == block_of(c->reader[1])) c->reader[1] = mine;
}

static void cell_read(cell *c, const char *p)
{
    into_this_epoch(c);
    if (c->writer.who && !before(c->writer)) race(c->writer, "reads", "wrote", p);
    if (c->reader[0].who == me->who) c->reader[0].clock = my_clock();
    else note_reader(c);
}

static void cell_write(cell *c, const char *p)
{
    into_this_epoch(c);
    if (c->writer.who && !before(c->writer)) race(c->writer, "writes", "wrote", p);
    for (const stamp &r : c->reader)
        if (r.who && !before(r)) race(r, "writes", "read", p);
    c->writer = {me->who, my_clock()};
    c->reader[0] = c->reader[1] = NOBODY;
}

/* Does something for each cell of some bytes: for words, but where they were or are now accessed in parts. */
template <class F> static inline void each_cell(space *s, uint64_t offset, uint64_t bytes, F f)
{
    while (bytes) {
        cell *word = &s->words[offset / 4];
        uint64_t part = offset % 4, here = bytes < 4 - part ? bytes : 4 - part;
        if (here == 4 && !word->parted) {
            f(word, s->at + offset);
        } else {
            cell *parts = &s->parts[offset / 4 * 4];
            if (!word->parted) {
                for (int i = 0; i < 4; i++) parts[i] = *word;
                word->parted = 1;
            }
            for (uint64_t i = 0; i < here; i++) f(&parts[part + i], s->at + offset + i);
        }
        offset += here;
        bytes -= here;
    }
}

/* ---- what was written at all ---- */

static inline void set_written(space *s, uint64_t offset, uint64_t bytes)
{
    if (bytes <= 8) {
        uint16_t bits;
        memcpy(&bits, s->written + offset / 8, sizeof bits);
        bits = (uint16_t)(bits | ((1u << bytes) - 1) << offset % 8);
        memcpy(s->written + offset / 8, &bits, sizeof bits);
        return;
    }
    for (; bytes && offset % 8; offset++, bytes--) s->written[offset / 8] |= (uint8_t)(1 << offset % 8);
    memset(s->written + offset / 8, 255, bytes / 8);
    offset += bytes / 8 * 8;
    for (uint64_t i = 0; i < bytes % 8; i++) s->written[(offset + i) / 8] |= (uint8_t)(1 << (offset + i) % 8);
}

/* The first byte that was never written, or `bytes`. */
static inline uint64_t first_unwritten(const space *s, uint64_t offset, uint64_t bytes)
{
    if (bytes <= 8) {
        uint16_t bits;
        memcpy(&bits, s->written + offset / 8, sizeof bits);
        uint32_t missing = ~((uint32_t)bits >> offset % 8) & ((1u << bytes) - 1);
        return missing ? (uint64_t)__builtin_ctz(missing) : bytes;
    }
    for (uint64_t i = 0; i < bytes; i++)
        if (!(s->written[(offset + i) / 8] >> (offset + i) % 8 & 1)) return i;
    return bytes;
}

[[noreturn]] static void outside(const char *i_do, const char *p, uint64_t bytes)
{
    char where[256];
    describe(p, where, sizeof where);
    fail(me, "%s %llu bytes that are not in memory: %s", i_do, (unsigned long long)bytes, where);
}

/* Bytes of the arena that are not in one region. */
[[noreturn]] static void astray(const char *i_do, const char *p, uint64_t bytes)
{
    char where[256];
    describe(p, where, sizeof where);
    fail(me, "%s %llu bytes that are not within one part of the arena: %s", i_do, (unsigned long long)bytes, where);
}

[[noreturn]] static void unwritten(const char *p)
{
    char where[256];
    describe(p, where, sizeof where);
    fail(me, "reads what nobody has written yet: %s", where);
}

}
#endif
