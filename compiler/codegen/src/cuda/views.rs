//! # views
//!
//! Purpose: splitters and joiners of a region that move nothing. Input: a region. Output: [`Elsewhere`]: for each channel that has no tile of its own, where its items are in another one's; the groups that have
//! nothing to do any more.
//!
//! ```text
//! a ─ split roundrobin(2, 3) ─┬─ b ─ F       item x of b is item 5 * (x / 2) + x % 2 of a, item x of c is item 5 * (x / 3) + x % 3 + 2: F and G look there,
//!                             └─ c ─ G   →   and the splitter, a barrier and the tiles of b and c are gone
//! ```
//!
//! With joiners it is the other way round: those before it write where the joiner would. What must hold: nothing is left on the channels between at boundaries, so that numbers of items are counted from firing 0 at
//! both ends; and a firing there moves whole blocks, or a part of one block, so that its items are found from the first one without dividing again. A channel between two such nodes is a view of one of
//! them only: the other one moves its items. Channels of which a duplicate splitter's copies are shared ([`super::copies`]) are found here, too.

use super::copies::{Copies, copies};
use super::program::Making;
use super::regions::{Region, Regions};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Where the items of a channel are in another one's tile: item x is item ⌊x / block⌋ · round + x mod block + first of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) of: ChannelId,
    pub(super) block: u64,
    pub(super) round: u64,
    pub(super) first: i64,
}

impl View {
    /// How far apart firings begin that move so many items, where that is the same for all.
    pub(super) fn apart(&self, items: u64) -> Option<u64> {
        items.is_multiple_of(self.block).then(|| items / self.block * self.round)
    }
}

/// Channels that have no tile of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Elsewhere {
    /// Those that share the tile of another one.
    pub(super) copies: Copies,
    pub(super) views: BTreeMap<ChannelId, View>,
    /// Groups, by number, that have nothing to do.
    pub(super) gone: BTreeSet<usize>,
}

impl Elsewhere {
    /// The channel whose tile has a channel's items.
    pub(super) fn tile(&self, c: ChannelId) -> ChannelId {
        match (self.copies.get(&c), self.views.get(&c)) {
            (Some((of, _)), _) => *of,
            (_, Some(view)) => view.of,
            _ => c,
        }
    }

    /// Has it none of its own?
    pub(super) fn has(&self, c: ChannelId) -> bool {
        self.copies.contains_key(&c) || self.views.contains_key(&c)
    }
}

/// Channels with the weights that a splitter or joiner gives them.
type Weighted = Vec<(ChannelId, u64)>;

/// The one channel of a splitter or joiner, the others, and whether it splits.
fn ends(making: &Making<'_>, v: NodeId) -> Option<(ChannelId, Weighted, bool)> {
    let node = making.input.host.graph.node(v);
    let (one, all, weights, splits) = match &node.kind {
        NodeKind::SplitRoundRobin(weights) => (node.inputs.first()?, &node.outputs, weights, true),
        NodeKind::JoinRoundRobin(weights) => (node.outputs.first()?, &node.inputs, weights, false),
        _ => return None,
    };
    let all = all.iter().copied().zip(weights.iter().map(|w| u64::from(*w)));
    // on the others nothing passes
    Some((*one, all.filter(|(_, weight)| *weight > 0).collect(), splits))
}

/// Could a splitter or joiner have nothing to do, if it is in no group with others?
pub(super) fn may_go(making: &Making<'_>, v: NodeId) -> bool {
    let host = making.input.host;
    let Some((one, all, splits)) = ends(making, v) else { return false };
    let fits = |(c, weight): &(ChannelId, u64)| {
        let channel = host.graph.channel(*c);
        let other = if splits { channel.to.0 } else { channel.from.0 };
        let (moved, seen) = if splits {
            (u64::from(channel.consume), u64::from(channel.peek.max(channel.consume)))
        } else {
            (u64::from(channel.produce), u64::from(channel.produce))
        };
        making.flows(*c)
            && host.steady.boundary_fill[c.index()] == 0
            && !matches!(host.graph.node(other).kind, NodeKind::Reader(_) | NodeKind::Writer(_))
            && making.turns_of(other).is_none()
            && (moved.is_multiple_of(*weight) || weight.is_multiple_of(moved) && seen == moved)
    };
    making.flows(one) && all.iter().all(fits)
}

/// Finds them.
pub(super) fn elsewhere(making: &Making<'_>, regions: &Regions, region: &Region) -> Elsewhere {
    let graph = making.input.host.graph;
    let mut found = Elsewhere { copies: copies(making, regions, region), ..Elsewhere::default() };
    let shared: BTreeSet<ChannelId> = found.copies.values().map(|(of, _)| *of).collect();
    for (g, group) in region.groups.iter().enumerate() {
        let [(v, _)] = group.members[..] else { continue };
        let Some((one, all, _)) = ends(making, v).filter(|_| may_go(making, v)) else { continue };
        let free = |(c, _): &(ChannelId, u64)| regions.holds(graph, *c) && !found.has(*c) && !shared.contains(c);
        // a view of a view would have to be found twice
        if !all.iter().all(free)
            || found.views.contains_key(&one)
            || found.views.values().any(|view| all.iter().any(|(c, _)| *c == view.of))
        {
            continue;
        }
        let (of, further) = found.copies.get(&one).copied().unwrap_or((one, 0));
        let joins = graph.channel(one).from.0 == v;
        let mut first = further + if joins { making.input.host.steady.boundary_fill[one.index()] as i64 } else { 0 };
        let round = all.iter().map(|(_, weight)| weight).sum();
        for (c, weight) in all {
            found.views.insert(c, View { of, block: weight, round, first });
            first += weight as i64;
        }
        found.gone.insert(g);
    }
    found
}
