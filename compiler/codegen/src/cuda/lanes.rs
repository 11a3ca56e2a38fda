//! # lanes
//!
//! Purpose: which threads of a block make which firings of a step. Input: a step, the threads. Output: [`Share`]s: where each work begins; and [`TileCounts`], how many threads have something to do, for people.
//!
//! ```text
//! a step of two groups with 40 firings each, 128 threads      the first from thread 0 on, the second from thread 64 on: 80 threads fire once, where 40 would fire twice
//! ```
//!
//! What must hold: each work begins with a thread that is the first of its warp, so that threads side by side fire side by side. What threads do is counted in items that they move and look at.

use super::beside::units;
use super::regions::Group;
use super::several::several;
use super::steps::{Place, Step, Work};
use super::tiles::Tiling;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::ChannelId;
use std::fmt::Write;

/// Threads of a warp.
const WARP: u64 = 32;
/// Bytes that a thread moves at once where it brings or sends neighbours.
const WIDE: u64 = 16;

/// What the threads do of a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The thread that begins.
    pub(super) first: u64,
    /// Pieces, which threads side by side take.
    pub(super) pieces: u64,
    /// Items that are accessed for each.
    pub(super) items: u64,
}

/// The works of a step, one after the other; those of a loop ([`super::beside`]) begin with the same thread.
pub(super) fn shares(at: Place<'_, '_>, tiling: &Tiling, step: &Step, threads: u64) -> Vec<Share> {
    let of = |work: &Work| {
        match work {
            Work::Fire(g) => firings(at, tiling, *g),
            // only the first and the last tiles of a launch have any of these
            Work::Bring(c) | Work::Save(c) if at.held(*c) => (0, 0),
            Work::Bring(c) => (tiling.tiles.get(c).map_or(0, |t| t.seen_end.abs_diff(t.seen)), 1),
            Work::Save(c) => (tiling.tiles.get(c).map_or(0, |t| t.passed * tiling.states), 1),
        }
    };
    let mut shares = vec![Share { first: 0, pieces: 0, items: 0 }; step.len()];
    let mut first = 0;
    for unit in units(at, tiling, step, threads) {
        let mut most = 0;
        for i in unit {
            let (pieces, items) = of(&step[i]);
            shares[i] = Share { first, pieces, items };
            most = most.max(pieces);
        }
        first = first.saturating_add(most).next_multiple_of(WARP) % threads.max(1);
    }
    shares
}

/// Pieces of a group's firings for a tile, and the items of each.
fn firings(at: Place<'_, '_>, tiling: &Tiling, g: usize) -> (u64, u64) {
    let (group, range) = (&at.region.groups[g], tiling.ranges[g]);
    let all = range.high.abs_diff(range.low);
    let graph = at.making.input.host.graph;
    let node = graph.node(group.members[0].0);
    if let NodeKind::Reader(_) | NodeKind::Writer(_) = node.kind {
        let c = node.inputs.first().or(node.outputs.first());
        let at_once = c.map_or(1, |c| (WIDE / at.making.item_bytes(*c).max(1)).max(1));
        return (all.div_ceil(at_once), at_once);
    }
    let n = several(at.making, tiling, group, all);
    let each = group.lanes * tiling.pieces.get(&group.members[0].0).copied().unwrap_or(1);
    ((all * each).div_ceil(n), (items(at, group) * n).div_ceil(each))
}

/// Items that the members of a group access in one of its firings.
fn items(at: Place<'_, '_>, group: &Group) -> u64 {
    let graph = at.making.input.host.graph;
    let of = |c: &ChannelId, takes: bool| {
        let channel = graph.channel(*c);
        u64::from(if takes { channel.peek.max(channel.consume) } else { channel.produce })
    };
    let member = |(v, q): &(_, u64)| {
        let node = graph.node(*v);
        let (taken, given) = (node.inputs.iter().map(|c| of(c, true)), node.outputs.iter().map(|c| of(c, false)));
        q * taken.chain(given).sum::<u64>()
    };
    group.members.iter().map(member).sum()
}

/// What a kernel of a fused scheme does for a tile, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileCounts {
    /// Its name in the device's text.
    pub kernel: String,
    /// Steady states of a tile.
    pub states: u64,
    /// Threads of a block that fire.
    pub threads: u64,
    /// Bytes of shared memory of a block.
    pub shared: u64,
    /// What they would be if no two channels had the same place at different times.
    pub apart: u64,
    /// Between two of them is a barrier.
    pub steps: Vec<StepCounts>,
}

/// A step of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// The groups that fire in it, by their first nodes, with their firings.
    pub groups: Vec<(String, u64)>,
    /// Items that all threads access.
    pub items: u64,
    /// Items that the thread accesses that has most to do.
    pub most: u64,
}

impl TileCounts {
    /// Barriers of a tile.
    pub fn barriers(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }

    /// Of a hundred threads, how many have something to do, on the average over the time of the tile, which is that of the busiest thread of each step.
    pub fn busy(&self) -> f64 {
        percent(self.steps.iter().map(|s| s.items).sum(), self.steps.iter().map(|s| s.most).sum(), self.threads)
    }

    /// As a table, for people.
    pub fn text(&self) -> String {
        let TileCounts { kernel, states, threads, shared, apart, steps } = self;
        let mut out = format!(
            "{kernel}: tiles of {states} steady states, {threads} threads, {shared} bytes of shared memory (each channel apart: {apart}), {} barriers, {:.0} % of the threads busy\n",
            self.barriers(),
            self.busy()
        );
        for (i, step) in steps.iter().enumerate() {
            let groups: Vec<String> = step.groups.iter().map(|(name, n)| format!("{name} {n}")).collect();
            let busy = percent(step.items, step.most, *threads);
            let _ = writeln!(out, "  {i:>3} {busy:>4.0} %  {:>6} items  {}", step.items, groups.join(", "));
        }
        out
    }
}

fn percent(items: u64, most: u64, threads: u64) -> f64 {
    if most == 0 { 0.0 } else { 100.0 * items as f64 / (most as f64 * threads as f64) }
}

/// What the threads of a block do in a step: items of all, and of the one that has most.
fn load(shares: &[Share], threads: u64) -> (u64, u64) {
    let mut load = vec![0u64; threads as usize];
    for share in shares {
        let (rounds, rest) = (share.pieces / threads, share.pieces % threads);
        load.iter_mut().for_each(|l| *l += rounds * share.items);
        (0..rest).for_each(|i| load[((share.first + i) % threads) as usize] += share.items);
    }
    (shares.iter().map(|s| s.pieces * s.items).sum(), load.into_iter().max().unwrap_or(0))
}

/// Bytes of shared memory of a multiprocessor (sm_90), and those that each block takes beside its own.
const SHARED: u64 = 228 << 10;
const OF_BLOCK: u64 = 1 << 10;
/// Threads and blocks of a multiprocessor, and threads with as many registers as the kernels of regions mostly need.
const MOST_THREADS: u64 = 2048;
const MOST_BLOCKS: u64 = 32;
const WITH_REGISTERS: u64 = 1024;
/// Items that a thread could access while a barrier lasts.
const BARRIER: u64 = 16;

/// Threads of a region's blocks: as many as make most tiles in the same time on a multiprocessor, by the items that the busiest thread accesses in each step, and by how many blocks have room. Of numbers that are as
/// good to one part in twenty, the smallest.
pub(super) fn threads(at: Place<'_, '_>, tiling: &Tiling) -> u32 {
    let all = at.making.input.options.threads;
    let halves = std::iter::successors(Some(all), |n| (n % 64 == 0).then_some(n / 2));
    if !at.making.input.options.fewer {
        return all;
    }
    let speed = |n: u32| {
        let threads = u64::from(n);
        let of = |step: &Step| BARRIER + load(&shares(at, tiling, step, threads), threads).1;
        let time: u64 = tiling.steps.iter().map(of).sum();
        let room = SHARED / (tiling.shared + OF_BLOCK);
        let blocks = room.min(MOST_BLOCKS).min(MOST_THREADS / threads).min(WITH_REGISTERS / threads).max(1);
        blocks as f64 / time.max(1) as f64
    };
    let tried: Vec<(u32, f64)> = halves.map(|n| (n, speed(n))).collect();
    let best = tried.iter().map(|(_, s)| *s).fold(0.0, f64::max);
    tried.iter().rev().find(|(_, s)| s * 1.05 >= best).map_or(all, |(n, _)| *n)
}

/// A multiprocessor starts so many accesses of warps while one is under way.
const AT_ONCE: u64 = 8;
/// So many moves between registers take as long as an access.
const MOVES: u64 = 8;
/// Registers of a multiprocessor, and those that a thread needs beside the items that it keeps.
const REGISTERS: u64 = 64 << 10;
const OF_THREAD: u64 = 40;

/// How long a multiprocessor has to do with a steady state of a region, in accesses of one warp: what its warps start one after the other, or what the busiest thread of a block waits for, with as many blocks as have room.
pub(super) fn time(at: Place<'_, '_>, tiling: &Tiling) -> f64 {
    let threads = u64::from(tiling.threads);
    let (mut started, mut waited) = (0.0, 0.0);
    for step in &tiling.steps {
        let mut shares = shares(at, tiling, step, threads);
        for (share, work) in shares.iter_mut().zip(step) {
            let Work::Fire(g) = work else {
                share.items *= MOVES;
                continue;
            };
            let group = &at.region.groups[*g];
            let (all, within) = (items(at, group).max(1), within(at, group));
            // what stays in registers is no access
            let counted = (all - within.min(all)) * MOVES + within;
            share.items = (share.items * counted).div_ceil(all);
        }
        // each warp starts what its busiest thread has
        let of = |s: &Share| s.pieces.div_ceil(WARP).saturating_mul(s.items);
        started += shares.iter().map(of).sum::<u64>() as f64 / MOVES as f64;
        waited += BARRIER as f64 + load(&shares, threads).1 as f64 / MOVES as f64;
    }
    let live = at.region.groups.iter().map(|g| g.live).max().unwrap_or(0);
    let registers = (REGISTERS / (live + OF_THREAD) / threads).max(1);
    let room = SHARED / (tiling.shared + OF_BLOCK);
    let blocks = room.min(MOST_BLOCKS).min(MOST_THREADS / threads).min(registers).max(1);
    let time = f64::max(started, waited * AT_ONCE as f64 / blocks as f64);
    time / tiling.states.max(1) as f64
}

/// Items that the members of a group give or take among each other in one of its firings.
fn within(at: Place<'_, '_>, group: &Group) -> u64 {
    let graph = at.making.input.host.graph;
    let of = |c: &ChannelId| {
        let channel = graph.channel(*c);
        group.times(channel.from.0) * u64::from(channel.produce)
            + group.times(channel.to.0) * u64::from(channel.peek.max(channel.consume))
    };
    group.local.iter().map(of).sum()
}

/// Counts what a kernel does.
pub(super) fn counts(
    at: Place<'_, '_>,
    tiling: &Tiling,
    steps: &[Step],
    (kernel, threads, shared): (&str, u64, u64),
) -> TileCounts {
    let graph = at.making.input.host.graph;
    let counted = |step: &Step| {
        let shares = shares(at, tiling, step, threads);
        let (items, most) = load(&shares, threads);
        let groups = step.iter().filter_map(|work| {
            let Work::Fire(g) = work else { return None };
            let (group, range) = (&at.region.groups[*g], tiling.ranges[*g]);
            Some((graph.node(group.members[0].0).path.clone(), range.high.abs_diff(range.low)))
        });
        StepCounts { groups: groups.collect(), items, most }
    };
    let steps = steps.iter().map(counted).collect();
    TileCounts { kernel: kernel.into(), states: tiling.states, threads, shared, apart: tiling.apart, steps }
}
