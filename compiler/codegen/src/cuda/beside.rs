//! # beside
//!
//! Purpose: which groups of a step are fired in one loop. Input: a step. Output: [`Unit`]s of works, each after the place where the first of them was.
//!
//! ```text
//! for i: A[i]; for i: B[i]     →     for i: A[i], B[i]      what A and B look at of the same items is read once, and places are found once for both
//! ```
//!
//! What must hold: works between two barriers wait for nothing of one another, so that any order of them is right; the loops run over the same firings, and none of their filters can fail, after
//! which a thread would make no more of the others' firings. Only loops that keep most threads busy: of smaller ones each begins with another warp ([`super::lanes`]).

use super::program::Making;
use super::regions::Group;
use super::several::several;
use super::steps::{Place, Step, Work};
use super::tiles::{Tiling, given, inputs, outputs};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::ChannelId;
use std::collections::BTreeSet;

/// Operations of the filters of one loop, at most, those among them whose results are dropped.
const MOST_WORK: u64 = 20_000;
/// Words of 4 bytes that a thread keeps of what the groups give until all have read what they look at.
const MOST_KEPT: u64 = 32;

/// Works of a step that are one loop, by their places in it.
pub(super) type Unit = Vec<usize>;

/// What the loops over two groups' firings must have in common.
#[derive(PartialEq, Eq)]
struct Loop {
    low: i64,
    high: i64,
    rate: u64,
    pieces: u64,
}

/// The units of a step, for so many threads.
pub(super) fn units(at: Place<'_, '_>, tiling: &Tiling, step: &Step, threads: u64) -> Vec<Unit> {
    let mut units: Vec<(Unit, Option<Loop>, u64)> = Vec::new();
    for (i, work) in step.iter().enumerate() {
        let Some((its, cost)) = shared(at, tiling, work, threads) else {
            units.push((vec![i], None, 0));
            continue;
        };
        let fits =
            |(_, of, all): &&mut (Unit, Option<Loop>, u64)| of.as_ref() == Some(&its) && *all + cost <= MOST_WORK;
        match units.iter_mut().find(fits) {
            Some((unit, _, all)) => {
                unit.push(i);
                *all += cost;
            }
            None => units.push((vec![i], Some(its), cost)),
        }
    }
    units.into_iter().map(|(unit, ..)| unit).collect()
}

/// A group's loop and the operations of one of its firings, where others may be fired in it.
fn shared(at: Place<'_, '_>, tiling: &Tiling, work: &Work, threads: u64) -> Option<(Loop, u64)> {
    let Work::Fire(g) = work else { return None };
    let (group, range) = (&at.region.groups[*g], tiling.ranges[*g]);
    let making = at.making;
    let mut cost = 0u64;
    for (v, q) in &group.members {
        match &making.input.host.graph.node(*v).kind {
            NodeKind::Reader(_) | NodeKind::Writer(_) => return None,
            NodeKind::Filter { code, .. } if making.faults.may_fail[code.index()] => return None,
            NodeKind::Filter { code, .. } => cost = cost.saturating_add(q.saturating_mul(making.work[code.index()])),
            _ => {}
        }
    }
    let firings = range.high.abs_diff(range.low);
    let pieces = tiling.pieces.get(&group.members[0].0).copied().unwrap_or(1);
    let busy = firings.saturating_mul(pieces) * 4 >= threads * 3;
    let alone = group.lanes > 1 || several(making, tiling, group, firings) > 1 || !busy;
    (!alone).then_some((Loop { low: range.low, high: range.high, rate: group.rate, pieces }, cost))
}

/// Does a thread keep what the groups of a unit give, so that the compiler sees no store between what they read? Where two of them look at the same items, and it is little.
pub(super) fn held(making: &Making<'_>, tiling: &Tiling, groups: &[&Group]) -> bool {
    let elsewhere = &tiling.elsewhere;
    let mut seen: BTreeSet<ChannelId> = BTreeSet::new();
    let mut twice = false;
    let mut words = 0;
    for group in groups {
        if tiling.pieces.contains_key(&group.members[0].0) {
            return false;
        }
        let tiles: BTreeSet<ChannelId> = inputs(making, group).into_iter().map(|c| elsewhere.tile(c)).collect();
        tiles.into_iter().for_each(|c| twice |= !seen.insert(c));
        for c in outputs(making, group) {
            let from = making.input.host.graph.channel(c).from.0;
            if group.times(from) > 1 || elsewhere.views.contains_key(&c) {
                return false;
            }
            words += given(making, group, c).items.unsigned_abs() * making.item_bytes(c).div_ceil(4);
        }
    }
    twice && words <= MOST_KEPT
}
