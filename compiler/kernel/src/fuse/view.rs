//! Where the items of a region's channels are: what splitters and joiners do becomes arithmetic on positions.
//!
//! ```text
//! roundrobin(2, 3), second branch:  item x  →  item x / 3 · 5 + 2 + x % 3 of the splitter's input
//! ```
//!
//! Behind a splitter, an item is read where the splitter would have taken it; before a joiner, it is written where the joiner would have put it. Where a
//! position cannot be divided so, the channel is *kept*: it has an array of its own, and its items are copied.
//!
//! Items that wait behind a duplicate splitter for a filter that looks ahead are the region's input again, older items of it: the input is looked at from the
//! oldest on that any branch still needs.

use super::affine::{Affine, Ranges};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::gcd;
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
    /// By channel, items on it at every boundary.
    pub(super) fill: &'a [u64],
    /// Items of the input from before a boundary that are looked at, besides those that are on its channel.
    pub(super) ahead: u64,
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

    /// Where item `at` of a channel is read.
    pub(super) fn read(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let (mut c, mut at, mut behind) = (c, at.clone(), 0u64);
        loop {
            let channel = self.graph.channel(c);
            let (v, port) = channel.from;
            if !self.inside(v) {
                let older = i64::try_from(self.ahead.checked_sub(behind)?).ok()?;
                return Some((Store::Input, at.plus(&Affine::constant(older))?));
            }
            behind += self.fill[c.index()];
            let node = self.graph.node(v);
            match &node.kind {
                _ if self.kept.contains(&c) => return Some((Store::Array(c), at)),
                NodeKind::Identity | NodeKind::Duplicate => {}
                NodeKind::SplitRoundRobin(weights) => {
                    let (own, all, before) = self.part(weights, port);
                    let (q, r) = at.divided(own, ranges)?;
                    at = q.times(all)?.plus(&r)?.plus(&Affine::constant(before))?;
                }
                _ => return Some((Store::Array(c), at)),
            }
            c = *node.inputs.first()?;
        }
    }

    /// The same without looking at `kept` for the channel itself: where its producer would take the item.
    pub(super) fn source(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let (v, port) = self.graph.channel(c).from;
        let node = self.graph.node(v);
        let input = *node.inputs.first()?;
        match &node.kind {
            NodeKind::SplitRoundRobin(weights) => {
                let (own, all, before) = self.part(weights, port);
                let (q, r) = at.divided(own, ranges)?;
                self.read(input, &q.times(all)?.plus(&r)?.plus(&Affine::constant(before))?, ranges)
            }
            _ => self.read(input, at, ranges),
        }
    }

    /// Where item `at` of a channel is written.
    pub(super) fn write(&self, c: ChannelId, at: &Affine, ranges: &Ranges) -> Option<(Store, Affine)> {
        let (mut c, mut at) = (c, at.clone());
        loop {
            let (v, port) = self.graph.channel(c).to;
            if !self.inside(v) {
                return Some((Store::Output, at));
            }
            let node = self.graph.node(v);
            match &node.kind {
                NodeKind::JoinRoundRobin(weights) if !self.kept.contains(&c) => {
                    let (own, all, before) = self.part(weights, port);
                    let (q, r) = at.divided(own, ranges)?;
                    at = q.times(all)?.plus(&r)?.plus(&Affine::constant(before))?;
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
        let (own, all, before) = self.part(weights, port);
        let (q, r) = at.divided(own, ranges)?;
        self.write(*node.outputs.first()?, &q.times(all)?.plus(&r)?.plus(&Affine::constant(before))?, ranges)
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
                NodeKind::Identity | NodeKind::Duplicate => {}
                NodeKind::SplitRoundRobin(weights) => with(self.part(weights, port).0)?,
                _ => break,
            }
            back = *node.inputs.first()?;
        }
        let mut on = c;
        while self.inside(self.graph.channel(on).to.0) {
            let (v, port) = self.graph.channel(on).to;
            let node = self.graph.node(v);
            let NodeKind::JoinRoundRobin(weights) = &node.kind else { break };
            with(self.part(weights, port).0)?;
            on = *node.outputs.first()?;
        }
        Some(period)
    }
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
