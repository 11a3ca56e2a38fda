//! Where the items of a region's channels are: what splitters and joiners do becomes arithmetic on positions, and so does what filters that only move items do.
//!
//! ```text
//! roundrobin(2, 3), second branch:  item x  →  item x / 3 · 5 + 2 + x % 3 of the splitter's input
//! ```
//!
//! Behind a splitter or a [`Mover`], an item is read where those would have taken it; before a joiner, it is written where the joiner would have put it. A joiner all of whose items
//! have only been moved is *plain*: behind it, they are read where they come from. Where a position is no sum of variables, the channel is *kept*: it has an array of
//! its own, and its items are copied.
//!
//! Items that wait behind a duplicate splitter for a filter that looks ahead are the region's input again, older items of it: the input is looked at from the
//! oldest on that any branch still needs.

use super::movers::Mover;
use crate::affine::{Affine, Ranges};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::gcd;
use std::cell::Cell;
use std::collections::BTreeSet;

/// What holds items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    /// The region's input.
    Input,
    /// The region's output.
    Output,
    /// The array of a channel.
    Array(ChannelId),
}

/// The channels of a region.
pub(super) struct Views<'a> {
    pub(super) graph: &'a SdfGraph,
    pub(super) members: &'a BTreeSet<NodeId>,
    /// Channels that have an array of their own, whatever their ends are.
    pub(super) kept: &'a BTreeSet<ChannelId>,
    /// Those of them on which something stays: what a firing writes comes behind it.
    pub(super) carried: &'a BTreeSet<ChannelId>,
    /// By channel, items on it at every boundary.
    pub(super) fill: &'a [u64],
    /// Items of the input from before a boundary that are looked at, besides those that are on its channel.
    pub(super) ahead: u64,
    /// By code: what filters that only move items do.
    pub(super) movers: &'a [Option<Mover>],
    /// Movers and plain joiners that are to do their work like others.
    pub(super) opaque: &'a BTreeSet<NodeId>,
    /// Joiners all of whose items have only been moved ([`Views::find_plain`]).
    pub(super) plain: BTreeSet<NodeId>,
}

impl Views<'_> {
    fn inside(&self, v: NodeId) -> bool {
        self.members.contains(&v)
    }

    /// Widths of a port: of its part, of all, and where its part begins. `None` where all ports get all.
    fn part(&self, weights: &[u32], port: u32) -> (i64, i64, i64) {
        let before: i64 = weights[..port as usize].iter().map(|w| i64::from(*w)).sum();
        (weights[port as usize].into(), weights.iter().map(|w| i64::from(*w)).sum(), before)
    }

    /// What the filter moves, where it does nothing else.
    pub(super) fn mover(&self, v: NodeId) -> Option<&Mover> {
        match &self.graph.node(v).kind {
            NodeKind::Filter { code, .. } if !self.opaque.contains(&v) => self.movers.get(code.index())?.as_ref(),
            _ => None,
        }
    }

    /// Does the node hand items on, so that its outputs need not be anywhere?
    pub(super) fn forwards(&self, v: NodeId) -> bool {
        match &self.graph.node(v).kind {
            NodeKind::Identity | NodeKind::Duplicate | NodeKind::SplitRoundRobin(_) => true,
            NodeKind::JoinRoundRobin(_) => self.plain.contains(&v),
            _ => self.mover(v).is_some(),
        }
    }

    /// Finds the plain joiners, of nodes in topological order.
    pub(super) fn find_plain(&mut self, nodes: &[(NodeId, u64)]) {
        for (v, _) in nodes {
            let node = self.graph.node(*v);
            let NodeKind::JoinRoundRobin(weights) = &node.kind else { continue };
            let moved = |c: &ChannelId| {
                let from = self.graph.channel(*c).from.0;
                self.fill[c.index()] == 0 && self.inside(from) && self.forwards(from)
            };
            if !self.opaque.contains(v) && weights.iter().any(|w| *w > 0) && node.inputs.iter().all(moved) {
                self.plain.insert(*v);
            }
        }
    }

    /// The first mover or plain joiner on the way of a channel's items, from its producer on backwards.
    pub(super) fn moved_by(&self, c: ChannelId) -> Option<NodeId> {
        let mut c = c;
        loop {
            let v = self.graph.channel(c).from.0;
            if !self.inside(v) || !self.forwards(v) {
                return None;
            }
            if self.plain.contains(&v) || self.mover(v).is_some() {
                return Some(v);
            }
            c = *self.graph.node(v).inputs.first()?;
        }
    }

    /// Item `at` of a node's input or output that is one part of another channel's items: its place among those.
    fn among(&self, at: &Affine, (own, all, before): (i64, i64, i64), ranges: &Ranges) -> Option<Affine> {
        match at.divided(own, ranges) {
            Some((q, r)) => q.times(all)?.plus(&r)?.plus(&Affine::constant(before)),
            None if own > 0 => at.image((own, all), &|x| Some(before + x), ranges),
            None => None,
        }
    }

    /// Which item of which channel item `at` of a channel is, before the node that hands it on; `None` where that is no such sum.
    fn back(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(ChannelId, Affine)> {
        let (v, port) = self.graph.channel(c).from;
        let node = self.graph.node(v);
        let first = *node.inputs.first()?;
        match &node.kind {
            NodeKind::SplitRoundRobin(weights) => Some((first, self.among(at, self.part(weights, port), ranges)?)),
            NodeKind::JoinRoundRobin(weights) => node.inputs.iter().enumerate().find_map(|(port, input)| {
                let (own, all, before) = self.part(weights, port as u32);
                let within = |x: i64| (before..before + own).contains(&x).then_some(x - before);
                Some((*input, at.image((all, own), &within, ranges)?))
            }),
            NodeKind::Filter { .. } => {
                let mover = self.mover(v)?;
                let from = |x: i64| mover.from.get(usize::try_from(x).ok()?).copied();
                Some((first, at.image((mover.push(), mover.pop), &from, ranges)?))
            }
            _ => Some((first, at.clone())),
        }
    }

    /// Where item `at` of a channel is read.
    pub(super) fn read(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let found = self.read_by_steps(c, at, ranges);
        found.or_else(|| pointwise(at, ranges, &|at, ranges| self.read_by_steps(c, at, ranges)))
    }

    fn read_by_steps(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let (mut c, mut at, mut behind) = (c, at.clone(), 0u64);
        loop {
            let v = self.graph.channel(c).from.0;
            if !self.inside(v) {
                let older = i64::try_from(self.ahead.checked_sub(behind)?).ok()?;
                return Some((Store::Input, at.plus(&Affine::constant(older))?));
            }
            if self.kept.contains(&c) || !self.forwards(v) {
                return Some((Store::Array(c), at));
            }
            behind += self.fill[c.index()];
            (c, at) = self.back(c, &at, ranges)?;
        }
    }

    /// The same without looking at `kept` for the channel itself: where its producer would take the item.
    pub(super) fn source(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let by_steps = |at: &Affine, ranges: &Ranges| {
            let (input, at) = self.back(c, at, ranges)?;
            self.read_by_steps(input, &at, ranges)
        };
        by_steps(at, ranges).or_else(|| pointwise(at, ranges, &by_steps))
    }

    /// Where item `at` of a channel is written.
    pub(super) fn write(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let found = self.write_by_steps(c, at, ranges);
        found.or_else(|| pointwise(at, ranges, &|at, ranges| self.write_by_steps(c, at, ranges)))
    }

    fn write_by_steps(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let (mut c, mut at) = (c, at.clone());
        loop {
            let (v, port) = self.graph.channel(c).to;
            if !self.inside(v) {
                return Some((Store::Output, at));
            }
            let node = self.graph.node(v);
            match &node.kind {
                NodeKind::JoinRoundRobin(weights) if !self.kept.contains(&c) && !self.plain.contains(&v) => {
                    at = self.among(&at, self.part(weights, port), ranges)?;
                }
                _ if self.carried.contains(&c) => {
                    let stays = Affine::constant(i64::try_from(self.fill[c.index()]).ok()?);
                    return Some((Store::Array(c), at.plus(&stays)?));
                }
                _ => return Some((Store::Array(c), at)),
            }
            c = *node.outputs.first()?;
        }
    }

    /// Where a joiner puts item `at` of a channel that has an array of its own.
    pub(super) fn target(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let (v, port) = self.graph.channel(c).to;
        let node = self.graph.node(v);
        let NodeKind::JoinRoundRobin(weights) = &node.kind else { return None };
        self.write(*node.outputs.first()?, &self.among(at, self.part(weights, port), ranges)?, ranges)
    }

    /// Items after which the way that a channel's items go begins anew: a common multiple of the widths on it. `None` where that is large.
    pub(super) fn period(&self, c: ChannelId) -> Option<i64> {
        let mut period = 1i64;
        let mut with = |width: i64| {
            period = period / gcd(period, width.max(1)) * width.max(1);
            (period <= 1 << 20).then_some(())
        };
        let mut back = c;
        while self.inside(self.graph.channel(back).from.0) {
            let (v, port) = self.graph.channel(back).from;
            let node = self.graph.node(v);
            match &node.kind {
                _ if !self.forwards(v) => break,
                NodeKind::SplitRoundRobin(weights) => with(self.part(weights, port).0)?,
                NodeKind::JoinRoundRobin(weights) => with(self.part(weights, port).1)?,
                _ => with(self.mover(v).map_or(1, Mover::push))?,
            }
            back = *node.inputs.first()?;
        }
        let mut on = c;
        while self.inside(self.graph.channel(on).to.0) {
            let (v, port) = self.graph.channel(on).to;
            let node = self.graph.node(v);
            let NodeKind::JoinRoundRobin(weights) = &node.kind else { break };
            if self.plain.contains(&v) {
                break;
            }
            with(self.part(weights, port).0)?;
            on = *node.outputs.first()?;
        }
        Some(period)
    }
}

/// From a position to where its item is.
type Way<'a> = dyn Fn(&Affine, &Ranges) -> Option<(Store, Affine)> + 'a;

/// A way looked at for each value of the variables: where no step of it is a sum of variables, its end may be one.
fn pointwise(at: &Affine, ranges: &Ranges, way: &Way<'_>) -> Option<(Store, Affine)> {
    let (none, store) = (Ranges::new(), Cell::new(None));
    let one = |x: i64| {
        let (end, at) = way(&Affine::constant(x), &none)?;
        let same = store.get().is_none_or(|s| s == end);
        store.set(Some(end));
        at.as_constant().filter(|_| same)
    };
    let found = at.fitted(&one, ranges)?;
    Some((store.get()?, found))
}

/// Items that wait on the way of a channel's items from the region's input, where there are only duplicate splitters and identities on it; `None` where it comes from
/// something else.
pub(super) fn behind(graph: &SdfGraph, fill: &[u64], inside: &dyn Fn(NodeId) -> bool, c: ChannelId) -> Option<u64> {
    let (mut c, mut sum) = (c, 0u64);
    while inside(graph.channel(c).from.0) {
        sum = sum.checked_add(fill[c.index()])?;
        let node = graph.node(graph.channel(c).from.0);
        if !matches!(node.kind, NodeKind::Identity | NodeKind::Duplicate) {
            return None;
        }
        c = *node.inputs.first()?;
    }
    Some(sum)
}
