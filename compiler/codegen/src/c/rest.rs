//! # rest
//!
//! Purpose: with how few items a program can wait at a boundary, because nothing would be seen of what it made of them. Input: a program. Output: the least
//! number of further items after which something is seen; 0 where that is not known.
//!
//! ```text
//! reader → keeps every fifth → writer    →   5: up to four items may wait where they are, and the next steady states run fast
//! reader → adds 1            → writer    →   1: without an item nothing is looked at
//! ```
//!
//! The firings of one steady state are counted, as early as their items allow. Seen is what a writer gets, and whatever a filter does that is not giving items
//! ([`only_items`]). Programs with one source only, a reader: with several, it would matter which of them is waited for.

use super::beside::only_items;
use super::program::ProgramInput;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;

/// Turns of a node that are looked at.
const MOST: usize = 20_000;

/// The least number of items of the only reader, behind a boundary, after which something is seen.
pub fn items_until_seen(input: &ProgramInput<'_>) -> u64 {
    let (graph, steady) = (input.graph, input.steady);
    let mut sources = graph.node_ids().filter(|v| graph.node(*v).inputs.is_empty());
    let (Some(reader), None) = (sources.next(), sources.next()) else { return 0 };
    let [first] = graph.node(reader).outputs[..] else { return 0 };
    // who waits for a message fires later than this, not earlier
    let counted = steady.islands.is_none();
    if !counted || !matches!(graph.node(reader).kind, NodeKind::Reader(_)) {
        return 0;
    }
    let seen = |v: NodeId| match &graph.node(v).kind {
        NodeKind::Filter { code, .. } => !only_items(&input.kernels[code.index()]),
        NodeKind::Writer(_) => true,
        _ => false,
    };
    let mut held = steady.boundary_fill.clone();
    let mut left = steady.repetitions.clone();
    let mut turns = 0;
    // all nodes may have what they need at the boundary itself
    let mut ready: Vec<NodeId> = graph.node_ids().collect();
    for items in 0..steady.repetitions[reader.index()] {
        while let Some(v) = ready.pop() {
            let node = graph.node(v);
            let times = (node.inputs.iter())
                .map(|c| {
                    let (there, channel) = (held[c.index()], graph.channel(*c));
                    let (takes, peek) = (u64::from(channel.consume), u64::from(channel.peek.max(channel.consume)));
                    match there.checked_sub(peek) {
                        None => 0,
                        Some(more) => more.checked_div(takes).map_or(u64::MAX, |n| n + 1),
                    }
                })
                .fold(left[v.index()], u64::min);
            if node.inputs.is_empty() || times == 0 {
                continue;
            }
            turns += 1;
            if seen(v) || turns > MOST {
                return items;
            }
            left[v.index()] -= times;
            for c in &node.inputs {
                held[c.index()] -= times * u64::from(graph.channel(*c).consume);
            }
            for c in &node.outputs {
                let channel = graph.channel(*c);
                held[c.index()] = held[c.index()].saturating_add(times.saturating_mul(channel.produce.into()));
                ready.push(channel.to.0);
            }
        }
        held[first.index()] += 1;
        ready.push(graph.channel(first).to.0);
    }
    steady.repetitions[reader.index()]
}
