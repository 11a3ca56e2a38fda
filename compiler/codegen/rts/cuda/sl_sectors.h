/* The emulator, part 4: warp accesses to device memory and the 32-byte sectors they touch, by region of the arena and direction.
 *
 * On a GPU the threads of a warp go together, here one after another. So the k-th accesses of a warp's threads, between two barriers, to the
 * same region and in the same direction count as one access of the warp. */
#ifndef SL_SECTORS_H
#define SL_SECTORS_H

#include "sl_shadow.h"

namespace sl_emulation {

/* Sectors of one warp access that lie in a window of 64; more windows follow by number, 0 is none. */
struct window {
    uint64_t number, sectors;
    uint32_t more, count;
};

/* The accesses of a warp to a region since its last barrier: the first windows of each, then the others. */
struct stream {
    uint32_t next[WARP];
    window *heads, *others;
    uint32_t head_count, head_room, other_count, other_room;
    /* The stream that came into use before this one, counted from 1. */
    uint32_t used_before;
};

/* Those of a warp: by region (the last is what is in none), reads and writes. */
struct streams {
    uint32_t used;
    stream *of;
};

struct counts {
    uint64_t accesses, sectors, most, bytes;
};

/* Does anybody ask? FMRadio by SWP takes a fifth more time when it is counted. */
static bool counting;

/* Of the last launch: by region (the last is what is in none), reads and writes. */
static counts (*counted)[2];

/* Regions in the order of their offsets. */
static uint32_t *sorted_regions;

/* An array of so many, all of them 0. */
static void *zeroes(uint64_t bytes)
{
    return memset(enough(nullptr, bytes), 0, bytes);
}

static void begin_counting()
{
    if (counted) {
        memset((void *)counted, 0, (region_count + 1) * sizeof *counted);
        return;
    }
    counted = (counts(*)[2])zeroes((region_count + 1) * sizeof *counted);
    sorted_regions = (uint32_t *)zeroes(region_count * sizeof *sorted_regions);
    for (uint32_t r = 0; r < region_count; r++) sorted_regions[r] = r;
    qsort(sorted_regions, region_count, sizeof *sorted_regions, [](const void *a, const void *b) {
        const sl_region *x = &regions[*(const uint32_t *)a], *y = &regions[*(const uint32_t *)b];
        /* of two at one place that with nothing in it first */
        if (x->offset == y->offset) return x->bytes < y->bytes ? -1 : x->bytes > y->bytes ? 1 : 0;
        return x->offset < y->offset ? -1 : 1;
    });
}

/* The region that an address is in, or region_count. */
static uint32_t region_of(const char *p)
{
    static uint32_t last;
    uint64_t offset = (uint64_t)(p - now.arena);
    if (offset - regions[last].offset < regions[last].bytes) return last;
    uint32_t low = 0, high = region_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (regions[sorted_regions[middle]].offset <= offset) low = middle + 1;
        else high = middle;
    }
    if (!low) return region_count;
    uint32_t r = sorted_regions[low - 1];
    if (offset - regions[r].offset >= regions[r].bytes) return region_count;
    return last = r;
}

static void touch(stream *s, counts *c, uint32_t k, uint64_t first, uint64_t last)
{
    if (k == s->head_count) {
        if (s->head_count == s->head_room) {
            s->head_room = s->head_room * 2 + 16;
            s->heads = (window *)enough(s->heads, s->head_room * sizeof *s->heads);
        }
        s->heads[s->head_count++] = {first / 64, 0, 0, 0};
        c->accesses++;
    }
    for (uint64_t sector = first; sector <= last; sector++) {
        window *w = &s->heads[k];
        while (w->number != sector / 64) {
            if (!w->more) {
                if (s->other_count == s->other_room) {
                    /* w may be one of them */
                    uint64_t at = w == &s->heads[k] ? UINT64_MAX : (uint64_t)(w - s->others);
                    s->other_room = s->other_room * 2 + 16;
                    s->others = (window *)enough(s->others, s->other_room * sizeof *s->others);
                    if (at != UINT64_MAX) w = &s->others[at];
                }
                s->others[s->other_count++] = {sector / 64, 0, 0, 0};
                w->more = s->other_count;
            }
            w = &s->others[w->more - 1];
        }
        uint64_t bit = 1ull << sector % 64;
        if (w->sectors & bit) continue;
        w->sectors |= bit;
        c->sectors++;
        if (++s->heads[k].count > c->most) c->most = s->heads[k].count;
    }
}

/* Counts an access to device memory. */
static void count(const space *in, uint32_t region, const char *p, uint64_t bytes, bool writes)
{
    const uint32_t k = region * 2 + writes;
    streams *&all = me->block->streams[me->warp];
    if (!all) {
        all = (streams *)zeroes(sizeof *all);
        all->of = (stream *)zeroes((region_count + 1) * 2 * sizeof *all->of);
    }
    stream *s = &all->of[k];
    if (!s->head_count) {
        s->used_before = all->used;
        all->used = k + 1;
    }
    uint64_t offset = (uint64_t)(p - in->at);
    counted[region][writes].bytes += bytes;
    touch(s, &counted[region][writes], s->next[me->index % WARP]++, offset / 32, (offset + bytes - 1) / 32);
}

/* Notes an access to device memory. One to the arena must be within one of its regions. */
static void note_access(const space *in, const char *p, uint64_t bytes, bool writes)
{
    uint32_t region = region_of(p);
    bool within = region < region_count && (uint64_t)(p - now.arena) + bytes <= regions[region].offset + regions[region].bytes;
    if (SL_UNLIKELY(!within) && (uint64_t)(now.arena - in->at) < in->bytes) astray(writes ? "writes" : "reads", p, bytes);
    if (counting) count(in, region, p, bytes, writes);
}

/* A warp has passed a barrier. */
static void warp_passes(block *b, uint32_t warp)
{
    streams *all = b->streams[warp];
    if (!all) return;
    while (all->used) {
        stream *s = &all->of[all->used - 1];
        memset(s->next, 0, sizeof s->next);
        s->head_count = s->other_count = 0;
        all->used = s->used_before;
    }
}

static void free_streams(streams *all)
{
    if (!all) return;
    for (uint32_t i = 0; i < (region_count + 1) * 2; i++) {
        free(all->of[i].heads);
        free(all->of[i].others);
    }
    free(all->of);
    free(all);
}

}
#endif
