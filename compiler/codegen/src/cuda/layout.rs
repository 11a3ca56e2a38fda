//! # layout (of channels on a device)
//!
//! Purpose: where the items of each channel lie in a device's memory. Input: the task graph with the items that each buffer must hold, the scheme.
//! Output: [`Arena`]: a ring for each channel, and the offsets of all that the arena holds.
//!
//! One map takes an item's number x, counted along the channel, to its place ([`place`]): with rows of R items, and G = 32 rows (a warp) side by side,
//! place(x) = ⌊x/GR⌋·GR + (x mod R)·G + (⌊x/R⌋ mod G). Both ends use it, with peeks at x + i, so that no item is lost where rates differ;
//! threads whose firings follow one another and whose rate is R touch neighbouring items. Capacities are multiples of G·R, x is taken modulo them first.
//! Source: Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", equations (9) to (11), which
//! give each end a map of its own; made one here.

use crate::c::layout::size_align;
use sluice_frontend::graph::{Channel, SdfGraph};
use sluice_frontend::ids::ChannelId;
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::typed::Globals;
use std::collections::BTreeSet;

/// G: rows side by side, the threads of a warp.
pub const WARP: u64 = 32;

/// Bytes that a memory access moves at least.
pub const SECTOR: u64 = 32;

/// Where item `x` of a channel with rows of `rate` items lies, in items.
pub fn place(x: u64, rate: u64) -> u64 {
    place_in(x, rate, WARP)
}

/// The same with another G (the paper's is 128).
pub fn place_in(x: u64, rate: u64, group: u64) -> u64 {
    x / (group * rate) * (group * rate) + x % rate * group + x / rate % group
}

/// The number of the item that lies at a place: the inverse of [`place_in`].
pub fn number_in(place: u64, rate: u64, group: u64) -> u64 {
    let (all, within) = (place / (group * rate), place % (group * rate));
    all * group * rate + within % group * rate + within / group
}

/// The most sectors that a warp touches in one access: threads t = 0, 1, ... fire `first + t`, each of which moves `moved` items, and look at the
/// i-th item of their firing, for any i below `window`; the channel's item 0 of firing 0 is item `offset`.
pub fn sectors(rate: u64, item: u64, (offset, moved, window): (u64, u64, u64), first: u64) -> u64 {
    let touched = |i: u64| {
        let mut seen = BTreeSet::new();
        for t in 0..WARP {
            let at = place(offset + (first + t) * moved + i, rate) * item;
            seen.extend(at / SECTOR..(at + item).div_ceil(SECTOR));
        }
        seen.len() as u64
    };
    // what repeats after a row repeats
    (0..window.min(2 * rate.max(moved)).min(256)).map(touched).max().unwrap_or(0)
}

/// A channel in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// R: items of a row.
    pub rate: u64,
    /// Rows, a multiple of [`WARP`].
    pub rows: u64,
    /// Offset in the arena, in bytes.
    pub offset: u64,
    /// Bytes of an item.
    pub item: u64,
}

impl Ring {
    /// Items that it has room for.
    pub fn capacity(&self) -> u64 {
        self.rate * self.rows
    }

    /// Bytes.
    pub fn bytes(&self) -> u64 {
        self.capacity() * self.item
    }
}

/// What an arena is made of.
pub struct Wanted<'a> {
    /// The graph.
    pub graph: &'a SdfGraph,
    /// Its steady state.
    pub steady: &'a SteadyState,
    /// Sizes of types.
    pub globals: &'a Globals,
    /// By channel: items that the buffer must hold; `None` where it is not on the device.
    pub capacity: &'a [Option<u64>],
    /// By channel: has it rows of one item, so that items lie in the order of their numbers?
    pub natural: &'a [bool],
    /// Channels that are carried from launch to launch.
    pub carried: &'a [ChannelId],
    /// Bytes of the filters' states.
    pub states: u64,
    /// Bytes that the arena may take.
    pub limit: u64,
}

/// All that is in a device's memory, but the items of ends and prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena {
    /// Offset of the filters' states.
    pub states: u64,
    /// Of each channel that keeps items at boundaries, the offset of those, in the order of channels.
    pub kept: Vec<(ChannelId, u64)>,
    /// The first so many bytes are exchanged with the host.
    pub exchanged: u64,
    /// By channel.
    pub rings: Vec<Option<Ring>>,
    /// Of channels that regions carry from launch to launch, the offset of two buffers that take turns.
    pub carries: Vec<(ChannelId, u64)>,
    /// All bytes.
    pub bytes: u64,
}

/// Bytes of the status, which is at the start (rts/cuda/sl_thread.h).
pub const STATUS: u64 = 64;

const ALIGN: u64 = 256;

impl Arena {
    /// The offset of a channel's two buffers between launches; 0 where it has none.
    pub fn carry(&self, c: ChannelId) -> u64 {
        self.carries.iter().find(|(other, _)| *other == c).map_or(0, |(_, offset)| *offset)
    }

    /// Bytes of all rings.
    pub fn ring_bytes(&self) -> u64 {
        self.rings.iter().flatten().map(Ring::bytes).sum()
    }
}

/// Places everything; `Err` gives the bytes that it would take (`u64::MAX` where that is not known), which are too many.
pub fn arena(wanted: &Wanted<'_>) -> Result<Arena, u64> {
    let Wanted { graph, steady, globals, .. } = wanted;
    let mut at = STATUS.next_multiple_of(ALIGN);
    let mut take = |bytes: u64| {
        let offset = at;
        at = at.checked_add(bytes)?.checked_next_multiple_of(ALIGN)?;
        (at <= 1 << 60).then_some(offset)
    };
    let states = take(wanted.states).ok_or(u64::MAX)?;
    let size = |c: &Channel| size_align(&c.ty, globals).map(|(size, _)| size).ok_or(u64::MAX);
    let mut kept = Vec::new();
    for c in graph.channel_ids() {
        let fill = steady.boundary_fill[c.index()];
        if fill > 0 {
            let bytes = size(graph.channel(c))?.checked_mul(fill).ok_or(u64::MAX)?;
            kept.push((c, take(bytes).ok_or(u64::MAX)?));
        }
    }
    let exchanged = take(0).ok_or(u64::MAX)?;
    let mut rings = Vec::new();
    for c in graph.channel_ids() {
        let Some(capacity) = wanted.capacity[c.index()] else {
            rings.push(None);
            continue;
        };
        let channel = graph.channel(c);
        let item = size(channel)?;
        let rate = if wanted.natural[c.index()] { 1 } else { rate(channel, capacity) };
        let rows = capacity.div_ceil(rate).max(1).checked_next_multiple_of(WARP).ok_or(u64::MAX)?;
        let bytes = rows.checked_mul(rate).filter(|n| *n < 1 << 31).and_then(|n| n.checked_mul(item));
        let offset = take(bytes.ok_or(u64::MAX)?).ok_or(u64::MAX)?;
        rings.push(Some(Ring { rate, rows, offset, item }));
    }
    let mut carries = Vec::new();
    for c in wanted.carried {
        let bytes =
            size(graph.channel(*c))?.checked_mul(steady.boundary_fill[c.index()]).and_then(|n| n.checked_mul(2));
        carries.push((*c, bytes.and_then(&mut take).ok_or(u64::MAX)?));
    }
    if at > wanted.limit {
        return Err(at);
    }
    Ok(Arena { states, kept, exchanged, rings, carries, bytes: at })
}

/// R: the rate of the end whose accesses matter more, which is the one that looks at an item more often. Rows that are so long that the ring would have to be much
/// larger than what it holds are not made.
fn rate(channel: &Channel, capacity: u64) -> u64 {
    let fits = |rate: u64| rate > 0 && WARP * rate <= (capacity * 2).max(1 << 16);
    let takes = u64::from(channel.consume);
    [takes, u64::from(channel.produce)].into_iter().find(|r| fits(*r)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_a_bijection_on_each_group(rate in 1u64..200, rows in 1u64..130, group in 0u64..50) {
            let size = rows * rate;
            let mut seen = vec![false; size as usize];
            for x in group * size..(group + 1) * size {
                let p = place_in(x, rate, rows);
                prop_assert!(p >= group * size && p < (group + 1) * size);
                prop_assert!(!std::mem::replace(&mut seen[(p - group * size) as usize], true), "two items at {p}");
                prop_assert_eq!(number_in(p, rate, rows), x);
            }
        }

        #[test]
        fn the_matched_end_touches_at_most_five_sectors(
            rate in 1u64..130, more in 0u64..130, offset in 0u64..1000, warps in 0u64..40,
        ) {
            // any offset, any peek; four bytes to an item; the threads of a warp fire in step
            let most = sectors(rate, 4, (offset, rate, rate + more), warps * WARP);
            prop_assert!(most <= 5, "{most} sectors");
        }
    }

    #[test]
    fn rates_that_differ_keep_their_items() {
        // The producer pushes 2, the consumer pops 3; both see item x at the same place, whoever's rate the rows have.
        for rate in [2, 3] {
            let made: Vec<u64> = (0..96).flat_map(|n| (0..2).map(move |i| place(2 * n + i, rate))).collect();
            let seen: Vec<u64> = (0..64).flat_map(|n| (0..3).map(move |i| place(3 * n + i, rate))).collect();
            assert_eq!(made, seen);
        }
        // rates far apart are bad for the other end, which is why it goes through shared memory
        assert_eq!(sectors(64, 4, (0, 1, 1), 0), 32);
    }

    /// Figure 9 of the paper: A pushes 2 and has 256 threads, B pops 1 and has 128, G is 128. The numbers are those on top of the
    /// positions, and who pushes and who pops there.
    #[test]
    fn figure_9() {
        let mut text = String::new();
        for at in [0, 1, 127, 128, 129, 255, 256, 257, 383, 384, 385, 511] {
            let x = number_in(at, 2, 128);
            let (thread, push) = (x / 2, x % 2 + 1);
            let (instance, popper) = (x / 128, x % 128);
            text += &format!("{at}: item {x}, t{thread} push {push}, B[{instance}] t{popper} pop 1\n");
        }
        let want = "\
            0: item 0, t0 push 1, B[0] t0 pop 1\n1: item 2, t1 push 1, B[0] t2 pop 1\n127: item 254, t127 push 1, B[1] t126 pop 1\n\
            128: item 1, t0 push 2, B[0] t1 pop 1\n129: item 3, t1 push 2, B[0] t3 pop 1\n255: item 255, t127 push 2, B[1] t127 pop 1\n\
            256: item 256, t128 push 1, B[2] t0 pop 1\n257: item 258, t129 push 1, B[2] t2 pop 1\n383: item 510, t255 push 1, B[3] t126 pop 1\n\
            384: item 257, t128 push 2, B[2] t1 pop 1\n385: item 259, t129 push 2, B[2] t3 pop 1\n511: item 511, t255 push 2, B[3] t127 pop 1\n";
        assert_eq!(text, want);
        // each warp of A writes 32 neighbours at a time, and the channel of B, whose rate is 1, lies in its natural order
        for first in (0..256).step_by(32) {
            let places: Vec<u64> = (first..first + 32).map(|t| place_in(2 * t, 2, 128)).collect();
            assert!(places.windows(2).all(|p| p[1] == p[0] + 1));
        }
        assert!((0..512).all(|x| place_in(x, 1, 128) == x));
    }
}
