/* The emulator, part 1: what its parts share. Threads, blocks, the launch that runs, and how a launch ends before its time.
 *
 * One thread of the operating system runs all threads of a launch, on fibres (sl_fibres.h), in an order drawn from the launch's seed. What
 * happened before what is known by clocks: each warp has one, which goes on when the warp passes a barrier, and knows how far it has seen
 * the other warps of its block; blocks see each other at barriers of the grid alone, where a new `epoch` begins. */
#ifndef SL_LAUNCH_H
#define SL_LAUNCH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sl_env.h"

namespace sl_emulation {

enum { WARP = 32, MOST_THREADS = 1024, MOST_WARPS = MOST_THREADS / WARP, NAMED = 16, MOST_SHARED = 227 * 1024 };

/* Where a thread is: ready to run (or running), at a barrier, at its end. */
enum place { READY, AT_BLOCK, AT_NAMED, ARRIVES, AT_WARP, AT_GRID, ENDED };

/* Who did something, and when by the clock of its warp; 0 is nobody, else threads are counted through the launch from 1. */
struct stamp {
    uint32_t who, clock;
};
/* Added to `who` of a reader: others of its warp have read at the same time. */
static const uint32_t AND_OTHERS = 1u << 31;
/* The clock of an asynchronous copy that is not waited for: later than everything. */
static const uint32_t UNDER_WAY = UINT32_MAX;

/* What is known of four bytes, or of one: who wrote it last in this epoch, and two warps that have read it since. */
struct cell {
    uint32_t epoch;
    /* Of a word: it has been accessed in parts, its bytes have cells of their own. */
    uint32_t parted;
    stamp writer, reader[2];
};

/* Memory that is watched. The arrays for its cells are mapped lazily: they cost what is touched. */
struct space {
    char *at;
    uint64_t bytes;
    /* One for each 4 bytes; one for each byte; a bit for each byte, whether it was written. */
    cell *words, *parts;
    uint8_t *written;
};

/* An asynchronous copy under way. */
struct copy {
    char *to;
    const char *from;
    uint32_t bytes, group;
    /* What the source held when it was begun. */
    char held[16];
};

struct fibre;
struct block;

struct thread {
    struct block *block;
    uint32_t index, who, warp;
    place at;
    /* Which named barrier. */
    uint32_t barrier;
    /* Where it waits; nothing if it has not begun. */
    struct fibre *fibre;
    copy *copies;
    uint32_t copy_count, copy_room, groups;
    /* How often it has voted (sl_any). */
    uint32_t asked;
};

/* A barrier of some warps: how many threads it is for, how many are there, which warps have arrived without waiting and what those had seen. */
struct named {
    uint32_t count, there, arrived;
    uint32_t seen[MOST_WARPS];
};

struct streams;

struct block {
    uint32_t number, first, at_block;
    uint32_t at_warp[MOST_WARPS];
    named barriers[NAMED];
    bool votes[3];
    thread *threads;
    space shared;
    /* known[w][v]: what warp v did before this clock is seen by warp w; known[w][w] is its own clock. */
    uint32_t known[MOST_WARPS][MOST_WARPS];
    /* What threads of warp w did before this clock is seen by its other threads. */
    uint32_t met[MOST_WARPS];
    /* What its warps have accessed since their last barriers (sl_sectors.h): by warp. */
    struct streams *streams[MOST_WARPS];
};

static struct {
    uint32_t kernel, blocks, threads, shared;
    bool together;
    const void *job;
    char *arena;
    /* Counts launches and barriers of the grid, from 1. */
    uint32_t epoch;
    uint64_t dice;
    /* The blocks that run now, and their threads. */
    block *resident;
    uint32_t resident_count;
    thread *all;
    /* Threads that can go on. */
    thread **ready;
    uint32_t ready_count;
    uint32_t at_grid;
    unsigned *grid_counter;
    bool failed;
    char *report;
    uint64_t room;
} now;

/* The thread that runs. */
static thread *me;

/* Parts of the arena. */
static const sl_region *const &regions = sl_emulated.parts;
static const uint32_t &region_count = sl_emulated.regions;

/* A number below `sides`, as the seed has it. */
static uint32_t roll(uint32_t sides)
{
    uint64_t z = now.dice += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)(((z >> 32) * sides) >> 32);
}

static void *enough(void *array, uint64_t bytes)
{
    void *more = realloc(array, bytes ? bytes : 1);
    if (!more) {
        fputs("sluice: the emulator has no memory\n", stderr);
        abort();
    }
    return more;
}

/* Keeps why the launch failed, if it has not failed before: "kernel NAME, block B, thread T " and the rest. */
static void report_list(const thread *of, const char *format, va_list list)
{
    if (now.failed) return;
    now.failed = true;
    char rest[512];
    vsnprintf(rest, sizeof rest, format, list);
    snprintf(now.report, now.room, "kernel %s, block %u, thread %u %s", sl_emulated.names[now.kernel], of->block->number, of->index, rest);
}
static void report(const thread *of, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void report(const thread *of, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list(of, format, list);
    va_end(list);
}

/* Drops all threads and goes back to where the launch was begun. */
[[noreturn]] static void abandon();

/* A thread reports, and the launch ends. */
[[noreturn]] static void fail(const thread *of, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(const thread *of, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list(of, format, list);
    va_end(list);
    abandon();
}

}
#endif
