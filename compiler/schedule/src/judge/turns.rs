//! Turns of a loop that may be one: each step of its body so many times as often. Input: graph, what channels hold when the loop begins, the body. Output: how many turns, at most.
//!
//! ```text
//! a loop of 83 initial items:  (1·join 1·body) × k   →   (64·join 64·body) × k / 64, and the rest turn by turn
//! ```
//!
//! The firings are the same, each node's in the same order; every one of them is replayed here to find its items.

use crate::sequential::Step;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// How many turns may be one: a power of two, `most` at most. 1 where the body has loops, or a turn leaves channels otherwise than it found them.
/// `fill`, by channel: items at the beginning.
pub fn turns_at_once(graph: &SdfGraph, fill: &[u64], body: &[Step], most: u64) -> u64 {
    let fires = |s: &Step| match s {
        Step::Fire { node, times } => Some((*node, *times)),
        Step::Loop { .. } => None,
    };
    let Some(fires) = body.iter().map(fires).collect::<Option<Vec<_>>>() else { return 1 };
    let nodes: BTreeSet<NodeId> = fires.iter().map(|(v, _)| *v).collect();
    let inner: BTreeMap<ChannelId, u128> = (graph.channel_ids())
        .filter(|c| nodes.contains(&graph.channel(*c).from.0) && nodes.contains(&graph.channel(*c).to.0))
        .map(|c| (c, fill[c.index()].into()))
        .collect();
    let mut turns = 1;
    while turns * 2 <= most && runs(graph, &fires, &inner, turns * 2) {
        turns *= 2;
    }
    turns
}

/// Does every firing find its items, and are channels left as they were?
fn runs(graph: &SdfGraph, fires: &[(NodeId, u64)], begin: &BTreeMap<ChannelId, u128>, turns: u64) -> bool {
    let mut held = begin.clone();
    for (v, times) in fires {
        let times = u128::from(*times) * u128::from(turns);
        let node = graph.node(*v);
        for c in &node.inputs {
            let channel = graph.channel(*c);
            let Some(items) = held.get_mut(c) else { continue };
            let taken = times * u128::from(channel.consume);
            if *items < taken + u128::from(channel.peek.saturating_sub(channel.consume)) {
                return false;
            }
            *items -= taken;
        }
        for c in &node.outputs {
            if let Some(items) = held.get_mut(c) {
                *items += times * u128::from(graph.channel(*c).produce);
            }
        }
    }
    held == *begin
}
