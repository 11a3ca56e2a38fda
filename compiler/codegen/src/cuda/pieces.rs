//! # pieces
//!
//! Purpose: which firings are the work of several threads. Input: a group and how often it fires for a tile. Output: the number of pieces of a firing, 1 where one thread makes it.
//!
//! ```text
//! a transpose of 12 x 9 items, 8 firings for a tile, 128 threads      16 pieces: each thread moves 7 items, where 8 threads would move 108 each
//! ```
//!
//! A firing goes in pieces where its loops give items by turns that need nothing of each other ([`sluice_kernel::pieces`]), or where it is a splitter's or joiner's that moves some items at each end, and the tile's firings are fewer than the threads of its block. Threads side by side
//! have neighbouring turns, so that mostly their items are neighbours, too. What must hold: a group of one filter, whose streams take no turns.

use super::program::Making;
use super::regions::{Group, Region};
use super::tiles::GroupRange;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use std::collections::BTreeMap;

/// Pieces of a firing at most.
pub(super) const MOST: u64 = 64;
/// What a turn costs that a thread has to look for, and one that it has not.
const SOUGHT: u64 = 3;
const KNOWN: u64 = 2;
/// Items that a firing moves from which on its pieces are worth a group of their own, and the pieces that it has then at least.
const MANY: u64 = 16;
const FEWEST: u64 = 4;

/// By node, of those whose firings go in pieces, how many.
pub(super) type Pieces = BTreeMap<NodeId, u64>;

/// The pieces that a firing has at most.
fn possible(making: &Making<'_>, v: NodeId) -> u64 {
    match &making.input.host.graph.node(v).kind {
        NodeKind::Filter { .. } if making.turns_of(v).is_some() => 1,
        NodeKind::Filter { code, .. } => making.pieces[code.index()].unwrap_or(1),
        // each end's items are shared out
        NodeKind::SplitRoundRobin(weights) | NodeKind::JoinRoundRobin(weights) => {
            let moving = || weights.iter().filter(|w| **w > 0);
            if moving().any(|w| *w == 1) { 1 } else { moving().max().map_or(1, |w| u64::from(*w)) }
        }
        _ => 1,
    }
}

/// Is it worth it that a filter is in a group of its own, so that its firings can go in pieces?
pub(super) fn worth(making: &Making<'_>, v: NodeId) -> bool {
    let graph = making.input.host.graph;
    let node = graph.node(v);
    if !matches!(node.kind, NodeKind::Filter { .. }) {
        return false;
    }
    let taken = node.inputs.iter().map(|c| u64::from(graph.channel(*c).consume));
    let given = node.outputs.iter().map(|c| u64::from(graph.channel(*c).produce));
    possible(making, v) >= FEWEST && taken.chain(given).max().unwrap_or(0) >= MANY
}

/// The pieces of a region's firings, by how often its groups fire for a tile.
pub(super) fn pieces(making: &Making<'_>, region: &Region, ranges: &[GroupRange]) -> Pieces {
    let threads = u64::from(making.input.options.threads);
    let of = |(group, range): (&Group, &GroupRange)| {
        let [(v, 1)] = group.members[..] else { return None };
        let most = if group.lanes == 1 { possible(making, v) } else { 1 };
        let firings = range.high.abs_diff(range.low);
        let even = |n: u64| match &making.input.host.graph.node(v).kind {
            NodeKind::Filter { code, .. } => making.even[code.index()].binary_search(&n).is_ok(),
            _ => true,
        };
        (most > 1 && firings > 0 && firings < threads).then(|| (v, number(most, firings, threads, even)))
    };
    region.groups.iter().zip(ranges).filter_map(of).filter(|(_, n)| *n > 1).collect()
}

/// With how many pieces the thread that has most has least: turns of the longest loop, over and over while firings are left; `even`: for which numbers turns need not be looked for. Of numbers that are as good the smallest.
fn number(turns: u64, firings: u64, threads: u64, even: impl Fn(u64) -> bool) -> u64 {
    let each = |n| if even(n) { KNOWN } else { SOUGHT };
    let cost = |n: u64| turns.div_ceil(n) * (firings * n).div_ceil(threads) * each(n);
    (1..=turns.min(MOST)).min_by_key(|n| (cost(*n), *n)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_leave_the_busiest_thread_least() {
        // seven of 108 turns each, where sixteen threads have a firing
        let none = |_| false;
        assert_eq!(number(108, 8, 128, none), 16);
        // or nine, where that makes it easy
        assert_eq!(number(108, 8, 128, |n| 12 % n == 0), 12);
        // 48 turns in 128 threads for 24 firings: nine each
        assert_eq!(number(48, 24, 128, none), 16);
        assert_eq!(number(32, 32, 128, none), 4);
        // nothing to deal out
        assert_eq!(number(1, 8, 128, none), 1);
        // threads that are busy as it is
        assert_eq!(number(8, 128, 128, none), 1);
    }
}
