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
//! compiler sees no store between the reads. Numbers are odd: threads side by side then begin in different banks.

use super::program::Making;
use super::regions::Group;
use super::tiles::{Tiling, inputs, outputs, taken};
use sluice_frontend::steady_state::gcd;

/// What is tried, the most first.
const NUMBERS: [u64; 2] = [5, 3];
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
            let q = group.members.iter().find(|(v, _)| *v == channel.from.0).map_or(1, |(_, q)| *q);
            q * u64::from(channel.produce) * making.item_bytes(*c).div_ceil(4)
        })
        .sum();
    if seen < MANY || seen < passed.saturating_mul(OFTEN) {
        return 1;
    }
    let fits = |n: &u64| {
        firings / n >= BUSY
            && n.saturating_mul(kept) <= KEPT
            && n.saturating_mul(seen) <= CODE
            && apart.iter().all(|words| gcd(n * words, 32) == 1)
    };
    NUMBERS.into_iter().find(fits).unwrap_or(1)
}
