/* Channels in a device's memory.
 *
 * One map takes an item's number x, counted along the channel, to its place: with rows of R items, and 32 rows side by side,
 *     place(x) = floor(x / 32R) * 32R + (x mod R) * 32 + floor(x / R) mod 32.
 * Threads whose firings follow one another, and whose rate is R, then touch neighbouring items at a time. Both ends use this map: it is
 * one of numbers, so no item is lost where the rates differ. The buffer is a ring of rows, a multiple of 32 of them; x is taken modulo its
 * capacity first. (Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", equations 9 to 11, made one.)
 */
#ifndef SL_CHANNEL_H
#define SL_CHANNEL_H

/* A number that is less than twice the limit, modulo the limit. */
SL_DEVICE uint32_t sl_wrap(uint32_t x, uint32_t limit) { return x >= limit ? x - limit : x; }

/* A channel's ring. */
template <class T, uint32_t RATE> struct sl_ring {
    T *items;
    uint32_t rows;

    static SL_DEVICE uint32_t place(uint32_t row, uint32_t column)
    {
        return RATE == 1 ? row : row / 32u * (32u * RATE) + column * 32u + row % 32u;
    }
    SL_DEVICE uint32_t capacity() const { return rows * RATE; }
    /* Where item x is. */
    SL_DEVICE uint32_t at(uint32_t x) const { return place(x / RATE % rows, x % RATE); }
};

/* An item that is accessed. */
template <bool WRITES, class T> SL_DEVICE T &sl_item(T *item)
{
    if (WRITES) {
        SL_WRITE(item, sizeof(T));
    } else {
        SL_READ(item, sizeof(T));
    }
    return *item;
}

/* The items of one firing at an end of a channel, the first of which is in this row (below the ring's rows) at the place COLUMN: of firings whose rate is
 * a multiple of R. */
template <class T, uint32_t RATE, uint32_t COLUMN, bool WRITES> struct sl_row {
    sl_ring<T, RATE> ring;
    uint32_t row;

    SL_DEVICE T &operator[](uint32_t i) const
    {
        const uint32_t c = COLUMN + i;
        return sl_item<WRITES>(ring.items + ring.place(sl_wrap(row + c / RATE, ring.rows), c % RATE));
    }
};

/* The same of firings of any rate, from item `first` on, which is below the ring's capacity. */
template <class T, uint32_t RATE, bool WRITES> struct sl_end {
    sl_ring<T, RATE> ring;
    uint32_t first;

    SL_DEVICE T &operator[](uint32_t i) const
    {
        const uint32_t x = sl_wrap(first + i, ring.capacity());
        return sl_item<WRITES>(ring.items + ring.place(x / RATE, x % RATE));
    }
};

/* No items. */
struct sl_nothing {};

/* The items of one of several streams that share a firing: item i is at floor(i / BLOCK) * ROUND + (i mod BLOCK) * STEP, from where the stream starts. */
template <class End, uint32_t BLOCK, uint32_t ROUND, uint32_t STEP> struct sl_turn {
    End end;
    uint32_t start;

    SL_DEVICE auto &operator[](uint32_t i) const { return end[i / BLOCK * ROUND + i % BLOCK * STEP + start]; }
};

/* Items of the usual gap: as many as all banks of shared memory hold. */
template <class T> SL_DEVICE constexpr uint32_t sl_line() { return sizeof(T) <= 16 ? 128 / sizeof(T) : 1u << 31; }

/* Items in shared memory, with a place left out after every GAP of them, so that threads which are a power of two of items apart do not meet in a bank; 0: without. */
template <class T, uint32_t GAP = sl_line<T>()> struct sl_tile {
    T *items;
    static SL_DEVICE uint32_t at(uint32_t i)
    {
        if constexpr (GAP == 0) return i;
        else return i + i / GAP;
    }
};

/* The items of one firing in a tile. */
template <class T, bool WRITES, uint32_t GAP = sl_line<T>()> struct sl_window {
    sl_tile<T, GAP> tile;
    uint32_t first;

    SL_DEVICE T &operator[](uint32_t i) const
    {
        // without gaps they are neighbours of the first one
        if constexpr (GAP == 0) return sl_item<WRITES>(tile.items + (int32_t)first + (int32_t)i);
        else return sl_item<WRITES>(tile.items + tile.at(first + i));
    }
};

/* The items of one firing that begins `first` items after the start of a row of GAP items: their places are known once that of the row is. */
template <class T, bool WRITES, uint32_t GAP> struct sl_rows {
    sl_tile<T, GAP> tile;
    int32_t row;
    uint32_t first;

    SL_DEVICE T &operator[](uint32_t i) const
    {
        return sl_item<WRITES>(tile.items + row * (int32_t)(GAP + 1) + (int32_t)(first + i + (first + i) / GAP));
    }
};

/* Loops whose turns are few, so that what they index stays in registers; others, some turns of which are on their way at a time. */
#ifdef __CUDACC__
#define SL_UNROLL _Pragma("unroll")
#define SL_UNROLL_SOME _Pragma("unroll 4")
#else
#define SL_UNROLL
#define SL_UNROLL_SOME
#endif

/* Threads that do something together: which of them one is, and how many they are. */
struct sl_team {
    uint32_t thread, threads;
};
/* Those of the block. */
SL_DEVICE sl_team sl_everyone() { return {sl_thread(), sl_threads()}; }
/* The same ones, of which the thread `first` begins: it is below their number. */
SL_DEVICE sl_team sl_from(sl_team team, uint32_t first)
{
    return {team.thread < first ? team.thread + team.threads - first : team.thread - first, team.threads};
}

/* All threads of a team, or where none is named of a block, call these. Barriers before and after are the caller's. */

/* Items that a thread has on their way at a time: the compiler may not begin a load before a store that comes earlier, which might be to the same place. */
template <class T> SL_DEVICE constexpr uint32_t sl_many() { return sizeof(T) <= 4 ? 4 : sizeof(T) <= 8 ? 2 : 1; }

/* Calls put(q, get(q)) for the numbers below `count`, side by side: some of a thread's get() come before the first of their put(). */
template <class T, class Get, class Put> SL_DEVICE void sl_pass(sl_team team, uint32_t count, Get get, Put put)
{
    constexpr uint32_t many = sl_many<T>();
    uint32_t q = team.thread;
    for (; q + (many - 1) * team.threads < count; q += many * team.threads) {
        T some[many];
        SL_UNROLL
        for (uint32_t k = 0; k < many; k++) some[k] = get(q + k * team.threads);
        SL_UNROLL
        for (uint32_t k = 0; k < many; k++) put(q + k * team.threads, some[k]);
    }
    for (; q < count; q += team.threads) put(q, get(q));
}

/* Calls put(x, place, get(x, place)) once for each of `count` items of a ring from number `first` on, such that threads side by side touch neighbouring places. */
template <class Got, class T, uint32_t RATE, class Get, class Put>
SL_DEVICE void sl_pass_ring(sl_team team, sl_ring<T, RATE> ring, uint32_t first, uint32_t count, Get get, Put put)
{
    const uint32_t group = 32u * RATE, start = first / group;
    const uint32_t groups = count == 0 ? 0 : (first + count - 1) / group + 1 - start;
    if (RATE == 1 || groups * group / 8 > count) {
        const uint32_t capacity = ring.capacity(), base = first % capacity;
        const auto at = [=](uint32_t q) {
            const uint32_t x = sl_wrap(base + q, capacity);
            return ring.place(x / RATE, x % RATE);
        };
        sl_pass<Got>(team, count, [=](uint32_t q) { return get(first + q, at(q)); }, [=](uint32_t q, Got item) { put(first + q, at(q), item); });
        return;
    }
    constexpr uint32_t many = sl_many<Got>();
    const uint32_t base = start * 32u % ring.rows;
    for (uint32_t q = team.thread; q < groups * group; q += many * team.threads) {
        /* all of them: what might have been there before would need registers, too */
        Got some[many] = {};
        uint32_t x[many], place[many];
        SL_UNROLL
        for (uint32_t k = 0; k < many; k++) {
            const uint32_t of = q + k * team.threads, row = of / group * 32u + of % 32u, column = of % group / 32u;
            /* beyond the last group, and beside the items in the first and the last one, it is nobody's */
            x[k] = of < groups * group ? start * group + row * RATE + column : first - 1;
            place[k] = ring.place(sl_wrap(base + row, ring.rows), column);
            if (x[k] - first < count) some[k] = get(x[k], place[k]);
        }
        SL_UNROLL
        for (uint32_t k = 0; k < many; k++) {
            if (x[k] - first < count) put(x[k], place[k], some[k]);
        }
    }
}

/* Brings `count` items from number `first` on out of a ring into a tile. */
template <class T, uint32_t RATE> SL_DEVICE void sl_bring(sl_tile<T> tile, sl_ring<T, RATE> ring, uint32_t first, uint32_t count)
{
    sl_pass_ring<T>(sl_everyone(), ring, first, count, [=](uint32_t, uint32_t place) { return sl_item<false>(ring.items + place); },
        [=](uint32_t x, uint32_t, T item) { sl_item<true>(tile.items + tile.at(x - first)) = item; });
}

/* Puts `count` items of a tile into a ring, from number `first` on. */
template <class T, uint32_t RATE> SL_DEVICE void sl_send(sl_tile<T> tile, sl_ring<T, RATE> ring, uint32_t first, uint32_t count)
{
    sl_pass_ring<T>(sl_everyone(), ring, first, count, [=](uint32_t x, uint32_t) { return sl_item<false>(tile.items + tile.at(x - first)); },
        [=](uint32_t, uint32_t place, T item) { sl_item<true>(ring.items + place) = item; });
}

/* The same of a plain array: items in the order of their numbers. */
template <class T> SL_DEVICE void sl_fill_tile(sl_tile<T> tile, T *from, uint32_t count)
{
    sl_pass<T>(sl_everyone(), count, [=](uint32_t q) { return sl_item<false>(from + q); },
        [=](uint32_t q, T item) { sl_item<true>(tile.items + tile.at(q)) = item; });
}
template <class T> SL_DEVICE void sl_empty_tile(sl_tile<T> tile, T *to, uint32_t count)
{
    sl_pass<T>(sl_everyone(), count, [=](uint32_t q) { return sl_item<false>(tile.items + tile.at(q)); },
        [=](uint32_t q, T item) { sl_item<true>(to + q) = item; });
}

/* And between an array and a ring, where nothing goes through shared memory. */
template <class T, uint32_t RATE> SL_DEVICE void sl_take(sl_team team, sl_ring<T, RATE> ring, uint32_t first, T *from, uint32_t count)
{
    sl_pass_ring<T>(team, ring, first, count, [=](uint32_t x, uint32_t) { return sl_item<false>(from + (x - first)); },
        [=](uint32_t, uint32_t place, T item) { sl_item<true>(ring.items + place) = item; });
}
template <class T, uint32_t RATE> SL_DEVICE void sl_give(sl_team team, sl_ring<T, RATE> ring, uint32_t first, T *to, uint32_t count)
{
    sl_pass_ring<T>(team, ring, first, count, [=](uint32_t, uint32_t place) { return sl_item<false>(ring.items + place); },
        [=](uint32_t x, uint32_t, T item) { sl_item<true>(to + (x - first)) = item; });
}

/* The barrier of the number FIRST in stage 0, of the next in stage 1: for so many threads. */
template <unsigned FIRST, unsigned COUNT> SL_DEVICE void sl_sync_stage(uint32_t stage)
{
    if (stage == 0) sl_sync_named<FIRST, COUNT>();
    else sl_sync_named<FIRST + 1, COUNT>();
}
template <unsigned FIRST, unsigned COUNT> SL_DEVICE void sl_arrive_stage(uint32_t stage)
{
    if (stage == 0) sl_arrive_named<FIRST, COUNT>();
    else sl_arrive_named<FIRST + 1, COUNT>();
}

/* As many items as 16 bytes hold. */
template <class T> struct alignas(16) sl_wide {
    static const uint32_t count = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
    T items[count];
};

/* How `count` neighbours are moved 16 bytes at a time: those from `head` on, as many times as there are `wides`; the others one by one. */
struct sl_run {
    uint32_t head, wides;
};
template <class T> SL_DEVICE sl_run sl_run_of(const T *items, uint32_t count)
{
    if (sizeof(T) > 8 || 16 % sizeof(T) != 0) return {count, 0};
    const uint32_t here = (uint32_t)(uintptr_t)items % 16, first = (16 - here) % 16 / (uint32_t)sizeof(T);
    const uint32_t head = first < count && here % sizeof(T) == 0 ? first : count;
    return {head, (count - head) / sl_wide<T>::count};
}
/* Calls some(i) for the items from number i on that 16 bytes hold, one(i) for the others. */
template <class T, class Some, class One> SL_DEVICE void sl_each_wide(sl_team team, sl_run run, uint32_t count, Some some, One one)
{
    const uint32_t moved = run.wides * sl_wide<T>::count;
    for (uint32_t q = team.thread; q < run.wides; q += team.threads) some(run.head + q * sl_wide<T>::count);
    for (uint32_t q = team.thread; q < count - moved; q += team.threads) one(q < run.head ? q : q + moved);
}

/* Brings `count` neighbours into a tile, the first as its item `at`; puts such items of a tile somewhere. */
template <class T, uint32_t GAP> SL_DEVICE void sl_bring_run(sl_team team, sl_tile<T, GAP> tile, uint32_t at, T *from, uint32_t count)
{
    sl_each_wide<T>(team, sl_run_of(from, count), count,
        [=](uint32_t i) {
            SL_READ(from + i, 16);
            sl_wide<T> some;
            sl_load_wide(&some, from + i);
            SL_UNROLL
            for (uint32_t k = 0; k < sl_wide<T>::count; k++) sl_item<true>(tile.items + tile.at(at + i + k)) = some.items[k];
        },
        [=](uint32_t i) { sl_item<true>(tile.items + tile.at(at + i)) = sl_item<false>(from + i); });
}
template <class T, uint32_t GAP> SL_DEVICE void sl_send_run(sl_team team, sl_tile<T, GAP> tile, uint32_t at, T *to, uint32_t count)
{
    sl_each_wide<T>(team, sl_run_of(to, count), count,
        [=](uint32_t i) {
            sl_wide<T> some;
            SL_UNROLL
            for (uint32_t k = 0; k < sl_wide<T>::count; k++) some.items[k] = sl_item<false>(tile.items + tile.at(at + i + k));
            SL_WRITE(to + i, 16);
            sl_store_wide(to + i, &some);
        },
        [=](uint32_t i) { sl_item<true>(to + i) = sl_item<false>(tile.items + tile.at(at + i)); });
}

/* Calls f(i, items, n) for the pieces of a ring in which `count` items from number `first` on lie in the order of their numbers: the i-th and so on. */
template <class T, class F> SL_DEVICE void sl_pieces(sl_ring<T, 1> ring, uint32_t first, uint32_t count, F f)
{
    const uint32_t start = first % ring.capacity(), left = ring.capacity() - start, before = count < left ? count : left;
    f(0, ring.items + start, before);
    if (count > before) f(before, ring.items, count - before);
}

/* The same with a tile whose item `at` is the first. In the order of numbers neighbours go together. Neighbours in rows are RATE items apart in the
 * tile: there the threads that had some of them each would meet in banks. */
template <class T, uint32_t RATE, uint32_t GAP>
SL_DEVICE void sl_bring_at(sl_team team, sl_tile<T, GAP> tile, int32_t at, sl_ring<T, RATE> ring, uint32_t first, uint32_t count)
{
    if constexpr (RATE == 1) {
        sl_pieces(ring, first, count, [=](uint32_t i, T *from, uint32_t n) { sl_bring_run(team, tile, at + i, from, n); });
    } else {
        sl_pass_ring<T>(team, ring, first, count, [=](uint32_t, uint32_t place) { return sl_item<false>(ring.items + place); },
            [=](uint32_t x, uint32_t, T item) { sl_item<true>(tile.items + tile.at(x - first + at)) = item; });
    }
}
template <class T, uint32_t RATE, uint32_t GAP>
SL_DEVICE void sl_send_from(sl_team team, sl_tile<T, GAP> tile, int32_t at, sl_ring<T, RATE> ring, uint32_t first, uint32_t count)
{
    if constexpr (RATE == 1) {
        sl_pieces(ring, first, count, [=](uint32_t i, T *to, uint32_t n) { sl_send_run(team, tile, at + i, to, n); });
    } else {
        sl_pass_ring<T>(team, ring, first, count, [=](uint32_t x, uint32_t) { return sl_item<false>(tile.items + tile.at(x - first + at)); },
            [=](uint32_t, uint32_t place, T item) { sl_item<true>(ring.items + place) = item; });
    }
}

/* Begins to copy an item to shared memory; one of a size that cannot be copied asynchronously is copied at once. */
template <class T> SL_DEVICE void sl_begin_item(T *to, T *from)
{
    if (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) sl_copy_async(to, from, sizeof(T));
    else sl_item<true>(to) = sl_item<false>(from);
}

/* Begins to bring neighbours into a tile: 16 bytes at a time where the tile has no gaps and both sides are aligned alike. */
template <class T, uint32_t GAP> SL_DEVICE void sl_begin_run(sl_team team, sl_tile<T, GAP> tile, uint32_t at, T *from, uint32_t count)
{
    const bool alike = GAP == 0 && sizeof(T) >= 4 && ((uintptr_t)(tile.items + at) ^ (uintptr_t)from) % 16 == 0;
    sl_each_wide<T>(team, alike ? sl_run_of(from, count) : sl_run{count, 0}, count,
        [=](uint32_t i) { sl_copy_async(tile.items + at + i, from + i, 16); },
        [=](uint32_t i) { sl_begin_item(tile.items + tile.at(at + i), from + i); });
}

/* The same of a ring, from item number `first` on. */
template <class T, uint32_t RATE, uint32_t GAP>
SL_DEVICE void sl_begin_ring(sl_team team, sl_tile<T, GAP> tile, uint32_t at, sl_ring<T, RATE> ring, uint32_t first, uint32_t count)
{
    if constexpr (RATE == 1) {
        sl_pieces(ring, first, count, [=](uint32_t i, T *from, uint32_t n) { sl_begin_run(team, tile, at + i, from, n); });
    } else {
        /* what is put is that a copy has begun, from where it is got */
        sl_pass_ring<T *>(team, ring, first, count, [=](uint32_t, uint32_t place) { return ring.items + place; },
            [=](uint32_t x, uint32_t, T *from) { sl_begin_item(tile.items + tile.at(x - first + at), from); });
    }
}

/* A number, or the nearest one from `least` to `most`. */
SL_DEVICE int32_t sl_between(int32_t x, int32_t least, int32_t most) { return x < least ? least : x > most ? most : x; }

/* Calls f(x) for the numbers from `low` on, before `high`, that are not below `least` nor from `end` on: side by side. */
template <class F> SL_DEVICE void sl_each_of(sl_team team, int32_t low, int32_t high, int32_t least, int32_t end, F f)
{
    low = low < least ? least : low;
    high = high > end ? end : high;
    for (int32_t x = low + (int32_t)team.thread; x < high; x += (int32_t)team.threads) f(x);
}
template <class F> SL_DEVICE void sl_each_of(int32_t low, int32_t high, int32_t least, int32_t end, F f)
{
    sl_each_of(sl_everyone(), low, high, least, end, f);
}
/* The same with COUNT numbers that follow one another for each thread, counted from `low` on: f(x, few) for x and the few.count - 1 after it. Where some of them are left out the others are one by one. */
template <int32_t COUNT> struct sl_few {
    static constexpr int32_t count = COUNT;
};
template <int32_t COUNT, class F> SL_DEVICE void sl_each_few(sl_team team, int32_t low, int32_t high, int32_t least, int32_t end, F f)
{
    const int32_t from = low;
    low = low < least ? least : low;
    high = high > end ? end : high;
    for (int32_t x = from + (int32_t)team.thread * COUNT; x < high; x += (int32_t)team.threads * COUNT) {
        if (x >= low && x + COUNT <= high) f(x, sl_few<COUNT>{});
        else for (int32_t y = x < low ? low : x; y < high && y < x + COUNT; y++) f(y, sl_few<1>{});
    }
}

/* What several firings look at, of which the items from AHEAD on begin at 16 bytes. Those of a single firing may begin anywhere. */
template <uint32_t AHEAD, class Few, class T, uint32_t COUNT> SL_DEVICE void sl_look(Few, sl_tile<T, 0> tile, int32_t at, T (&seen)[COUNT])
{
    constexpr uint32_t some = sl_wide<T>::count, head = Few::count > 1 && AHEAD < COUNT ? AHEAD : COUNT, end = head + (COUNT - head) / some * some;
    T *const from = tile.items + at;
    SL_UNROLL
    for (uint32_t k = 0; k < COUNT; k++) {
        if (k < head || k >= end) seen[k] = sl_item<false>(from + k);
        else if ((k - head) % some == 0) {
            SL_READ(from + k, 16);
            sl_wide<T> wide;
            sl_load_wide(&wide, from + k);
            SL_UNROLL
            for (uint32_t q = 0; q < some; q++) seen[k + q] = wide.items[q];
        }
    }
}

/* Items of one firing that no other thread sees. */
template <class T> struct sl_local {
    T *items;
    SL_DEVICE T &operator[](uint32_t i) const { return items[i]; }
};

/* A node that fires, and an end of a channel that it has: the numbers in which nodes of the same code differ. */
struct sl_port {
    uint64_t at;    /* of the ring, in the arena */
    uint32_t rows;
    uint32_t first; /* the row, or the number, of the first item of its firing 0 */
};
struct sl_node {
    uint64_t state;            /* in the arena */
    int64_t init, repetitions; /* firings of the initialisation, and of a steady state */
    int32_t node;              /* in the program's order */
    uint32_t number;           /* of readers or writers; which of the codes that differ in tables only */
    uint32_t ports;            /* its first one, inputs before outputs */
};

/* A step of a loop that runs whole. */
struct sl_step {
    uint32_t member, times;
};

#endif
