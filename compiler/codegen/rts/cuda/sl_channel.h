/* Channels in a device's memory.
 *
 * One map takes an item's number x, counted along the channel, to its place: with rows of R items, and 32 rows side by side,
 *     place(x) = floor(x / 32R) * 32R + (x mod R) * 32 + floor(x / R) mod 32.
 * Threads whose firings follow one another, and whose rate is R, then touch neighbouring items at a time. Both ends use this map: it is
 * one of numbers, so no item is lost where the rates differ. The buffer is a ring of ROWS rows, a multiple of 32; x is taken modulo its
 * capacity first. (Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", equations 9 to 11, made one.)
 */
#ifndef SL_CHANNEL_H
#define SL_CHANNEL_H

/* A channel's ring. */
template <class T, uint32_t RATE, uint32_t ROWS> struct sl_ring {
    typedef T item;
    static const uint32_t rate = RATE, rows = ROWS, capacity = RATE * ROWS;
    T *items;

    static SL_DEVICE uint32_t place(uint32_t row, uint32_t column)
    {
        return row / 32u * (32u * RATE) + column * 32u + row % 32u;
    }
    /* Where item x is. */
    static SL_DEVICE uint32_t at(uint32_t x)
    {
        x %= capacity;
        return RATE == 1 ? x : place(x / RATE, x % RATE);
    }
};

/* The items of one firing at an end of a channel: from `first` on, which has to be the least number that it touches. */
template <class Ring, bool WRITES> struct sl_end {
    typedef typename Ring::item T;
    T *items;
    uint32_t row, column;

    SL_DEVICE sl_end(Ring ring, uint32_t first)
    {
        items = ring.items;
        first %= Ring::capacity;
        row = first / Ring::rate;
        column = first % Ring::rate;
    }
    SL_DEVICE uint32_t at(uint32_t i) const
    {
        const uint32_t c = column + i;
        uint32_t r = row + c / Ring::rate;
        r = r >= Ring::rows ? r - Ring::rows : r;
        return Ring::place(r, c % Ring::rate);
    }
    SL_DEVICE T &operator[](uint32_t i) const
    {
        T *item = items + at(i);
        if (WRITES) {
            SL_WRITE(item, sizeof(T));
        } else {
            SL_READ(item, sizeof(T));
        }
        return *item;
    }
};

/* The same where the firing's first item is always the first of a row (COLUMN 0) or at another fixed place in it: firings of the rate R. */
template <class Ring, uint32_t COLUMN, bool WRITES> struct sl_row {
    typedef typename Ring::item T;
    T *items;
    uint32_t row;

    SL_DEVICE sl_row(Ring ring, uint32_t first_row)
    {
        items = ring.items;
        row = first_row % Ring::rows;
    }
    SL_DEVICE T &operator[](uint32_t i) const
    {
        const uint32_t c = COLUMN + i;
        uint32_t r = row + c / Ring::rate;
        r = r >= Ring::rows ? r - Ring::rows : r;
        T *item = items + Ring::place(r, c % Ring::rate);
        if (WRITES) {
            SL_WRITE(item, sizeof(T));
        } else {
            SL_READ(item, sizeof(T));
        }
        return *item;
    }
};

/* No items. */
struct sl_nothing {
    SL_DEVICE uint8_t &operator[](uint32_t) const { return *(uint8_t *)0; }
};

/* Items in shared memory, with gaps so that threads which are a power of two of items apart do not meet in a bank. */
template <class T> struct sl_tile {
    T *items;
    static const uint32_t line = sizeof(T) <= 4 ? 128 / sizeof(T) : sizeof(T) <= 16 ? 128 / sizeof(T) : 1u << 31;
    static SL_DEVICE uint32_t at(uint32_t i) { return i + i / line; }
};

/* The items of one firing in a tile. */
template <class T, bool WRITES> struct sl_window {
    sl_tile<T> tile;
    uint32_t first;
    SL_DEVICE sl_window(sl_tile<T> t, uint32_t f) : tile(t), first(f) {}
    SL_DEVICE T &operator[](uint32_t i) const
    {
        T *item = tile.items + sl_tile<T>::at(first + i);
        if (WRITES) {
            SL_WRITE(item, sizeof(T));
        } else {
            SL_READ(item, sizeof(T));
        }
        return *item;
    }
};

/* All threads of a block call these. Barriers before and after are the caller's. */

/* Calls f(x) once for each number from `first` on, `count` of them, such that threads side by side touch neighbouring places of the ring. */
template <class Ring, class F> SL_DEVICE void sl_each(uint32_t first, uint32_t count, F f)
{
    const uint32_t group = 32u * Ring::rate;
    const uint32_t start = first / group * group;
    const uint32_t all = count == 0 ? 0 : (first + count - 1) / group * group + group - start;
    if (Ring::rate == 1 || all / 4 > count) {
        for (uint32_t q = sl_thread(); q < count; q += sl_threads()) f(first + q);
        return;
    }
    for (uint32_t q = sl_thread(); q < all; q += sl_threads()) {
        const uint32_t x = start + q / group * group + q % 32u * Ring::rate + q % group / 32u;
        if (x - first < count) f(x);
    }
}

/* Brings `count` items from number `first` on out of a ring into a tile. */
template <class Ring> SL_DEVICE void sl_bring(sl_tile<typename Ring::item> tile, Ring ring, uint32_t first, uint32_t count)
{
    typedef typename Ring::item T;
    sl_each<Ring>(first, count, [=](uint32_t x) {
        const T *from = ring.items + Ring::at(x);
        T *to = tile.items + tile.at(x - first);
        SL_READ(from, sizeof(T));
        SL_WRITE(to, sizeof(T));
        *to = *from;
    });
}

/* Puts `count` items of a tile into a ring, from number `first` on. */
template <class Ring> SL_DEVICE void sl_send_tile(sl_tile<typename Ring::item> tile, Ring ring, uint32_t first, uint32_t count)
{
    typedef typename Ring::item T;
    sl_each<Ring>(first, count, [=](uint32_t x) {
        const T *from = tile.items + tile.at(x - first);
        T *to = ring.items + Ring::at(x);
        SL_READ(from, sizeof(T));
        SL_WRITE(to, sizeof(T));
        *to = *from;
    });
}

/* The same of a plain array: items in the order of their numbers. */
template <class T> SL_DEVICE void sl_fill_tile(sl_tile<T> tile, const T *from, uint32_t count)
{
    for (uint32_t q = sl_thread(); q < count; q += sl_threads()) {
        SL_READ(from + q, sizeof(T));
        SL_WRITE(tile.items + tile.at(q), sizeof(T));
        tile.items[tile.at(q)] = from[q];
    }
}
template <class T> SL_DEVICE void sl_empty_tile(sl_tile<T> tile, T *to, uint32_t count)
{
    for (uint32_t q = sl_thread(); q < count; q += sl_threads()) {
        SL_READ(tile.items + tile.at(q), sizeof(T));
        SL_WRITE(to + q, sizeof(T));
        to[q] = tile.items[tile.at(q)];
    }
}

#endif
