//! # several
//!
//! Purpose: how many firings of a group a thread makes at once. Input: a group, its tile. Output: that number, 1 where nothing is won.
//!
//! Firings that follow one another look at many of the same items where filters peek. One thread that makes several of them reads each of these items from shared memory once and
//! keeps it in a register:
//!
//! ```text
//! FIR of 32 taps, firings i, i + 1, i + 2 of a thread      34 items are read for 96 products, where three threads would read 96
//! ```
//!
//! What must hold: the firings are independent (groups have no state), and what they give is kept in registers until the last of them has read what it looks at, so that the
//! compiler sees no store between the reads. Numbers are odd: threads side by side then begin in different banks. They are even where items are read 16 bytes at a time and each thread
//! begins an odd number of these after the one before: that needs indices that are all known, since the items are an array of the thread then.

use super::constants::written_out;
use super::program::Making;
use super::regions::Group;
use super::tiles::{Tiling, inputs, outputs, taken};
use crate::c::print_unroll::known;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::ChannelId;
use sluice_frontend::steady_state::gcd;

/// What is tried, the most first.
const NUMBERS: [u64; 2] = [5, 3];
/// The same with reads of 16 bytes.
const WIDE_NUMBERS: [u64; 2] = [4, 2];
/// Bytes that are read at once there.
pub(super) const WIDE: u64 = 16;
/// Words of 4 bytes of an input that a thread has at a time there, at most.
const WINDOW: u64 = 144;
/// Items that firings look at, over those that they take: fewer, and too little is read twice.
const OFTEN: u64 = 4;
/// Items that a firing of the group looks at, at least.
const MANY: u64 = 8;
/// Threads that have something to do, at least.
const BUSY: u64 = 64;
/// Words of 4 bytes that a thread keeps of what its firings give.
const KEPT: u64 = 32;
/// Items that a thread looks at, one by one: more make too much code.
const CODE: u64 = 2048;

/// The number of firings; `firings`: of the group for a tile.
pub(super) fn several(making: &Making<'_>, tiling: &Tiling, group: &Group, firings: u64) -> u64 {
    if group.lanes > 1 || tiling.pieces.contains_key(&group.members[0].0) {
        return 1;
    }
    let (mut seen, mut passed, mut apart) = (0u64, 0u64, Vec::new());
    for c in inputs(making, group) {
        let of = tiling.elsewhere.tile(c);
        let t = taken(making, group, c);
        let (window, items) = (t.window.unsigned_abs(), t.items.unsigned_abs());
        if tiling.tiles.get(&of).is_none_or(|t| t.gap > 0) {
            // its places have to be found one by one
            return 1;
        }
        seen += window;
        passed += items;
        apart.push(items * making.item_bytes(c).div_ceil(4));
    }
    // the items of several firings lie in a row
    let views = &tiling.elsewhere.views;
    if inputs(making, group).iter().chain(&outputs(making, group)).any(|c| views.contains_key(c)) {
        return 1;
    }
    let kept: u64 = outputs(making, group)
        .iter()
        .map(|c| {
            let channel = making.input.host.graph.channel(*c);
            let q = group.times(channel.from.0);
            q * u64::from(channel.produce) * making.item_bytes(*c).div_ceil(4)
        })
        .sum();
    if seen < MANY || seen < passed.saturating_mul(OFTEN) {
        return 1;
    }
    let fits = |n: &u64| firings / n >= BUSY && n.saturating_mul(kept) <= KEPT && n.saturating_mul(seen) <= CODE;
    let wide = |n: &u64| inputs(making, group).into_iter().all(|c| is_wide(making, group, c, *n));
    let fits_all = |n: &u64| fits(n) && apart.iter().all(|words| gcd(n * words, 32) == 1);
    WIDE_NUMBERS.into_iter().find(|n| fits(n) && wide(n)).or_else(|| NUMBERS.into_iter().find(fits_all)).unwrap_or(1)
}

/// Are the items of a channel that so many firings look at read 16 bytes at a time?
fn is_wide(making: &Making<'_>, group: &Group, c: ChannelId, n: u64) -> bool {
    let graph = making.input.host.graph;
    let NodeKind::Filter { code, .. } = &graph.node(graph.channel(c).to.0).kind else { return false };
    let k = making.codes.representative[code.index()];
    let (t, item) = (taken(making, group, c), making.item_bytes(c));
    let (items, window) = (t.items.unsigned_abs(), t.window.unsigned_abs());
    let apart = n * items * item;
    matches!(item, 4 | 8)
        && apart % (2 * WIDE) == WIDE
        && (window + (n - 1) * items) * item <= 4 * WINDOW
        && making.turns_of(graph.channel(c).to.0).is_none()
        && written_out(making, k)
        && known(&making.input.kernels[k]).input
}
