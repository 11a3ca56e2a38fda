//! # plan
//!
//! Purpose: how a program is cut into regions and tiles. Input: a program. Output: a [`Plan`], of several that are tried the one that lets a multiprocessor have least to do. What must hold: all tiles have room in shared
//! memory, and what they do twice is little; where not, channels are led through memory.

use crate::c::program::CodegenError;
use crate::cuda::lanes::{self, threads};
use crate::cuda::program::{InPieces, Making};
use crate::cuda::regions::{Grouping, Regions, regions};
use crate::cuda::steps::{Order, Place};
use crate::cuda::tiles::{Tiling, order, tiling};
use crate::cuda::warps;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::collections::BTreeSet;

/// Work that tiles may do twice, as a part of their own: more, and a channel is led through memory.
const MOST_OVERHEAD: f64 = 2.0;
/// A tile of few steady states may be larger than it is to be by one of so many parts: gaps make two powers of two a little more than the next one, and as many blocks have room.
const ABOUT: u64 = 8;

/// Nodes of a program that is planned in more ways than one, at most.
const MOST_TRIED: usize = 2000;
/// One of so many channels that stay within regions is led through memory at once, and one of fewer.
const CUT_AT_ONCE: usize = 128;

/// How a program is cut into regions and tiles.
pub(in crate::cuda) struct Plan {
    pub(in crate::cuda) regions: Regions,
    /// By region.
    pub(in crate::cuda) tilings: Vec<Tiling>,
    /// S, the same for all.
    pub(in crate::cuda) states: u64,
    /// Are there channels between launches?
    pub(in crate::cuda) rings: bool,
}

/// Finds regions that fit into shared memory, and the largest tiles for them; tiles divide the schedule's iteration. Of several ways to put nodes into groups the one that lets a multiprocessor have least to do.
pub(in crate::cuda) fn plan(making: &Making<'_>) -> Result<Plan, CodegenError> {
    let mut best = plan_by(making, Grouping::Small)?;
    let graph = making.input.host.graph;
    if graph.nodes.len() > MOST_TRIED {
        return Ok(best);
    }
    let mut time = best.time(making);
    for grouping in [Grouping::Spread, Grouping::Whole] {
        // one that cannot be had is none to choose
        let Ok(other) = plan_by(making, grouping) else { continue };
        let its = other.time(making);
        if its < time {
            (best, time) = (other, its);
        }
    }
    Ok(best)
}

fn plan_by(making: &Making<'_>, grouping: Grouping) -> Result<Plan, CodegenError> {
    let graph = making.input.host.graph;
    let limit = making.input.options.shared;
    let mut cut: BTreeSet<ChannelId> = BTreeSet::new();
    let mut apart: BTreeSet<NodeId> = BTreeSet::new();
    loop {
        let regions = regions(making, &cut, &apart, grouping);
        let orders: Vec<Order> = regions.regions.iter().map(|r| order(making, &regions, r)).collect();
        let all = |states: u64| {
            let each = regions.regions.iter().zip(&orders);
            each.map(|(r, order)| tiling(making, &regions, r, states, *order)).collect::<Option<Vec<Tiling>>>()
        };
        let mut best: Option<(u64, Vec<Tiling>)> = None;
        let mut states = 1;
        while making.unit.is_multiple_of(states) {
            let Some(tilings) = all(states) else { break };
            let shared = tilings.iter().map(|t| t.shared).max().unwrap_or(0);
            // with the room for what is brought ahead
            let wanted = regions.regions.iter().zip(&tilings).map(|(r, t)| warps::wanted(making, &regions, r, t));
            let wanted = wanted.max().unwrap_or(0);
            let overhead = tilings.iter().map(|t| t.overhead).fold(1.0, f64::max);
            let tile = making.input.options.tile;
            let few = states <= making.input.options.threads.into();
            let more = if few { tile / ABOUT } else { 0 };
            let good = wanted <= tile.saturating_add(more).min(limit)
                || shared <= limit && overhead > 1.0 + MOST_OVERHEAD / 4.0;
            if !good && best.is_some() || shared > limit {
                break;
            }
            best = Some((states, tilings));
            states *= 2;
        }
        let worst = |tilings: &[Tiling]| tilings.iter().any(|t| t.overhead > 1.0 + MOST_OVERHEAD);
        match best {
            Some((states, mut tilings)) if !worst(&tilings) => {
                for (region, tiling) in regions.regions.iter().zip(&mut tilings) {
                    tiling.threads = threads(Place { making, regions: &regions, region }, tiling);
                }
                let rings = graph.channel_ids().any(|c| making.arises(c) && !regions.holds(graph, c));
                return Ok(Plan { regions, tilings, states, rings });
            }
            _ => {
                // the channel that takes the most place, or looks furthest, goes through memory
                let held = |c: &ChannelId| making.flows(*c) && regions.holds(graph, *c) && !cut.contains(c);
                let weight = |c: &ChannelId| {
                    let channel = graph.channel(*c);
                    let beyond = u64::from(channel.peek.saturating_sub(channel.consume));
                    let fill = making.input.host.steady.boundary_fill[c.index()];
                    (beyond.max(fill) + u64::from(channel.produce.max(channel.consume))) * making.item_bytes(*c)
                };
                let mut heavy: Vec<ChannelId> = graph.channel_ids().filter(held).collect();
                if !heavy.is_empty() {
                    heavy.sort_by_key(|c| (std::cmp::Reverse(weight(c)), *c));
                    // of thousands some at once: all is looked at again after each cut
                    cut.extend(heavy.iter().take(heavy.len() / CUT_AT_ONCE + 1));
                    continue;
                }
                // a node that moves more in a firing than shared memory holds is a kernel of its own, without tiles
                let moves = |v: &NodeId| {
                    let node = graph.node(*v);
                    node.inputs.iter().chain(&node.outputs).map(weight).sum::<u64>()
                };
                let inside = |v: &NodeId| regions.of[v.index()].is_some();
                match graph.node_ids().filter(inside).max_by_key(|v| (moves(v), std::cmp::Reverse(*v))) {
                    Some(v) => apart.insert(v),
                    None => return Err(CodegenError::Malformed("tiles of no nodes do not fit".into())),
                };
            }
        }
    }
}

impl Plan {
    /// How long a steady state takes on a multiprocessor, in accesses of a thread: to compare plans.
    fn time(&self, making: &Making<'_>) -> f64 {
        let all = self.regions.regions.iter().zip(&self.tilings);
        all.map(|(region, tiling)| lanes::time(Place { making, regions: &self.regions, region }, tiling)).sum()
    }

    /// By code that is printed, the numbers of pieces that its firings go in.
    pub(in crate::cuda) fn in_pieces(&self, making: &Making<'_>) -> InPieces {
        let mut all = InPieces::new();
        for (v, n) in self.tilings.iter().flat_map(|t| &t.pieces) {
            if let NodeKind::Filter { code, .. } = &making.input.host.graph.node(*v).kind {
                let printed = making.codes.representative[code.index()];
                all.entry(printed).or_default().insert(*n as u32);
            }
        }
        all
    }

    /// Tiles of a launch at most, where the rings between launches have room for so many.
    pub(in crate::cuda) fn room(&self, making: &Making<'_>) -> Option<u64> {
        self.rings.then(|| making.chunk / self.states)
    }
}

/// Channels whose items are carried from launch to launch by a region.
pub(in crate::cuda) fn carried(making: &Making<'_>, regions: &Regions) -> Vec<ChannelId> {
    let (graph, steady) = (making.input.host.graph, making.input.host.steady);
    let all = graph.channel_ids().filter(|c| making.flows(*c) && regions.holds(graph, *c));
    all.filter(|c| steady.boundary_fill[c.index()] > 0).collect()
}
