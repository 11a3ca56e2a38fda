/* The emulator, part 6: launches, and the functions that a host calls. A text of its own, or behind that of a device; the program whose kernels it runs is
 * `sl_emulated` (sl_program.h). What it checks: docs/emulator.md.
 *
 * A launch runs its blocks one after another, one `together` all at once. On the first report the launch ends. The same seed gives the
 * same order of blocks and threads. Calls from several threads take turns. */
#ifndef SL_EMULATOR_H
#define SL_EMULATOR_H

#include <pthread.h>

#include "sl_barriers.h"

#define SL_EXPORT extern "C" __attribute__((visibility("default")))

/* What `sl_emulate_memory` is told. */
enum { SL_MEMORY_FREED = 0, SL_MEMORY_ALLOCATED = 1, SL_MEMORY_WRITTEN = 2 };

namespace sl_emulation {

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Blocks and threads, as many as any launch has had at once. */
static block *block_pool;
static thread *thread_pool;
static uint32_t block_room, thread_room;

/* More threads than that at once are refused. */
enum { MOST_AT_ONCE = 1 << 18 };
/* Shared memory of a block is watched together with what lies behind it, for nearer messages. */
enum { SHARED_ROOM = MOST_SHARED + 4096 };

static bool make_room(uint32_t blocks)
{
    uint32_t threads = blocks * now.threads;
    if (threads > thread_room) {
        thread_pool = (thread *)enough(thread_pool, threads * sizeof(thread));
        memset((void *)(thread_pool + thread_room), 0, (threads - thread_room) * sizeof(thread));
        now.ready = (thread **)enough(now.ready, threads * sizeof *now.ready);
        thread_room = threads;
    }
    if (blocks > block_room) {
        block_pool = (block *)enough(block_pool, blocks * sizeof(block));
        while (block_room < blocks) {
            block *b = &block_pool[block_room];
            memset((void *)b, 0, sizeof *b);
            b->shared.bytes = SHARED_ROOM;
            b->shared.at = (char *)map_lazily(SHARED_ROOM);
            if (!b->shared.at || !watch(&b->shared)) {
                unwatch(&b->shared);
                unmap(b->shared.at, SHARED_ROOM);
                return false;
            }
            block_room++;
        }
    }
    return true;
}

/* A block and its threads, none of which has begun. */
static void begin_block(uint32_t slot, uint32_t number)
{
    block *b = &block_pool[slot];
    b->number = number;
    b->first = number * now.threads + 1;
    b->at_block = 0;
    b->threads = thread_pool + slot * now.threads;
    memset(b->at_warp, 0, sizeof b->at_warp);
    memset(b->barriers, 0, sizeof b->barriers);
    memset(b->votes, 0, sizeof b->votes);
    memset(b->known, 0, sizeof b->known);
    b->shared.bytes = now.shared;
    /* what is not written is seen to be strange even where marks are missing */
    memset(b->shared.at, 0xa5, now.shared);
    memset((void *)b->shared.words, 0, (now.shared / 4 + 1) * sizeof(cell));
    memset(b->shared.written, 0, now.shared / 8 + 2);
    for (uint32_t w = 0; w < warps(); w++) {
        /* its own clock is ahead of what others have seen of it */
        b->known[w][w] = b->met[w] = 1;
        warp_passes(b, w);
    }
    for (uint32_t i = 0; i < now.threads; i++) {
        thread *t = &b->threads[i];
        t->block = b;
        t->index = i;
        t->who = b->first + i;
        t->warp = i / WARP;
        t->fibre = nullptr;
        t->copy_count = t->groups = t->asked = 0;
        is_ready(t);
    }
}

static void run_blocks(uint32_t blocks)
{
    now.resident = block_pool;
    now.resident_count = blocks;
    now.all = thread_pool;
    now.at_grid = 0;
    run_ready();
    if (!now.failed) all_must_have_ended();
}

/* Why a launch cannot be, or nothing. */
static const char *refuse(uint32_t kernel, uint32_t blocks, uint32_t threads, uint32_t shared, bool together)
{
    if (kernel >= sl_emulated.kernels) return "there is no such kernel";
    if (!blocks || !threads) return "it has no threads";
    if (threads > MOST_THREADS) return "a block has at most 1024 threads";
    if (shared > MOST_SHARED) return "a block has at most 232448 bytes of shared memory";
    if ((uint64_t)blocks * threads >= AND_OTHERS) return "it has too many threads for the emulator";
    if (together && (uint64_t)blocks * threads > MOST_AT_ONCE) return "it has too many threads at once for the emulator";
    if (unwatched) return "there is no memory to watch all device memory";
    return nullptr;
}

static bool launch(uint32_t kernel, uint32_t blocks, uint32_t threads, uint32_t shared, bool together, const void *job, uint64_t seed,
                   char *report, uint64_t room)
{
    if (const char *why = refuse(kernel, blocks, threads, shared, together)) {
        snprintf(report, room, "kernel %s cannot be started with %u blocks of %u threads: %s",
                 kernel < sl_emulated.kernels ? sl_emulated.names[kernel] : "?", blocks, threads, why);
        return false;
    }
    now.kernel = kernel;
    now.blocks = blocks;
    now.threads = threads;
    now.shared = shared;
    now.together = together;
    now.job = job;
    memcpy(&now.arena, job, sizeof now.arena);
    now.dice = seed;
    now.ready_count = 0;
    now.failed = false;
    now.report = report;
    now.room = room;
    now.epoch++;
    sl_here.threads = threads;
    sl_here.blocks = blocks;
    begin_counting();
    if (!make_room(together ? blocks : 1)) {
        snprintf(report, room, "kernel %s: there is no memory for %u blocks", sl_emulated.names[kernel], blocks);
        return false;
    }
    if (together) {
        for (uint32_t k = 0; k < blocks; k++) begin_block(k, k);
        run_blocks(blocks);
    } else {
        uint32_t *order = (uint32_t *)enough(nullptr, blocks * sizeof *order);
        for (uint32_t k = 0; k < blocks; k++) order[k] = k;
        for (uint32_t left = blocks; left && !now.failed; left--) {
            uint32_t k = roll(left), number = order[k];
            order[k] = order[left - 1];
            begin_block(0, number);
            run_blocks(1);
        }
        free(order);
    }
    if (now.failed) reset_fibres();
    return !now.failed;
}

__attribute__((destructor)) static void leave()
{
    while (space_count) unwatch(&spaces[--space_count]);
    free(spaces);
    for (fibre *f = fibres; f;) {
        fibre *next = f->next;
        uint64_t guard = (uint64_t)sysconf(_SC_PAGESIZE);
        unmap(f->stack - guard, guard + SL_STACK);
        free(f);
        f = next;
    }
    for (uint32_t k = 0; k < block_room; k++) {
        block *b = &block_pool[k];
        b->shared.bytes = SHARED_ROOM;
        unwatch(&b->shared);
        unmap(b->shared.at, SHARED_ROOM);
        for (streams *s : b->streams) free_streams(s);
    }
    for (uint32_t i = 0; i < thread_room; i++) free(thread_pool[i].copies);
    free(counted);
    free(sorted_regions);
    free(block_pool);
    free(thread_pool);
    free(now.ready);
}

}

/* Runs a kernel, by its number, with a job as large as `sl_job`. 0, or 1 and a report of one line in the `room` bytes at `report`. */
SL_EXPORT int32_t sl_emulate(uint32_t kernel, uint32_t blocks, uint32_t threads, uint32_t shared, uint32_t together, const void *job,
                             uint64_t seed, char *report, uint64_t room)
{
    char nowhere[1];
    if (!room) {
        report = nowhere;
        room = 1;
    }
    report[0] = 0;
    pthread_mutex_lock(&sl_emulation::turn);
    bool good = sl_emulation::launch(kernel, blocks, threads, shared, together != 0, job, seed, report, room);
    pthread_mutex_unlock(&sl_emulation::turn);
    return good ? 0 : 1;
}

/* Tells of device memory: 1, it was allocated, and holds nothing; 2, the host has written these bytes of it (put, clear); 0, it was freed. */
SL_EXPORT void sl_emulate_memory(char *at, uint64_t bytes, int32_t what)
{
    using namespace sl_emulation;
    pthread_mutex_lock(&turn);
    if (what == SL_MEMORY_ALLOCATED) allocated(at, bytes);
    if (what == SL_MEMORY_FREED) forget(at, bytes);
    if (what == SL_MEMORY_WRITTEN && bytes) {
        uint32_t k = space_behind(at);
        space *s = k < space_count ? &spaces[k] : nullptr;
        if (s && s->at <= at && bytes <= s->bytes - (uint64_t)(at - s->at)) set_written(s, (uint64_t)(at - s->at), bytes);
    }
    pthread_mutex_unlock(&turn);
}

/* Launches are counted from now on, or are not, as before the first call. */
SL_EXPORT void sl_emulate_count(int32_t on)
{
    pthread_mutex_lock(&sl_emulation::turn);
    sl_emulation::counting = on != 0;
    pthread_mutex_unlock(&sl_emulation::turn);
}

/* What the last launch, if it was counted, did in a region: warp accesses, sectors, most sectors of one access, bytes; of reads, then of writes. Gives the number of
 * regions in the text, and counts of region number `region`; the one behind the last is the rest of device memory. */
SL_EXPORT uint32_t sl_emulate_counts(uint32_t region, uint64_t numbers[8])
{
    using namespace sl_emulation;
    pthread_mutex_lock(&turn);
    for (int i = 0; i < 2 && counted && region <= region_count; i++) {
        numbers[i * 4] = counted[region][i].accesses;
        numbers[i * 4 + 1] = counted[region][i].sectors;
        numbers[i * 4 + 2] = counted[region][i].most;
        numbers[i * 4 + 3] = counted[region][i].bytes;
    }
    pthread_mutex_unlock(&turn);
    return region_count;
}

/* What a region is called. */
SL_EXPORT const char *sl_emulate_region(uint32_t region)
{
    return region < sl_emulation::region_count ? sl_emulation::regions[region].name : "other device memory";
}
#endif
