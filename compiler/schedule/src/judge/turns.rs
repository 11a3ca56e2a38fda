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
    let Some((fires, inner)) = replayed(graph, fill, body) else { return 1 };
    let mut turns = 1;
    while turns * 2 <= most && runs(graph, &fires, &inner, turns * 2) {
        turns *= 2;
    }
    turns
}

/// Is one turn of a loop of this body possible where channels hold `fill`, and does it leave those within as it found them? No body with loops is.
pub fn turn_runs(graph: &SdfGraph, fill: &[u64], body: &[Step]) -> bool {
    replayed(graph, fill, body).is_some_and(|(fires, inner)| runs(graph, &fires, &inner, 1))
}

type Firings = Vec<(NodeId, u64)>;

/// The firings of a body without loops, and what the channels among its nodes hold at its beginning.
fn replayed(graph: &SdfGraph, fill: &[u64], body: &[Step]) -> Option<(Firings, BTreeMap<ChannelId, u128>)> {
    let fires = |s: &Step| match s {
        Step::Fire { node, times } => Some((*node, *times)),
        Step::Loop { .. } => None,
    };
    let fires = body.iter().map(fires).collect::<Option<Firings>>()?;
    let nodes: BTreeSet<NodeId> = fires.iter().map(|(v, _)| *v).collect();
    let within = nodes.iter().flat_map(|v| &graph.node(*v).outputs);
    let within = within.filter(|c| nodes.contains(&graph.channel(**c).to.0)).map(|c| (*c, fill[c.index()].into()));
    let inner = within.collect();
    Some((fires, inner))
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

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::graph_text::parse;

    /// A joiner and a body that gives to both sides, with a delay of so many items behind it.
    fn delay(items: u64) -> (SdfGraph, Vec<u64>) {
        let text = "h0 pipeline Main \"Main\" int -> int\nn0 input reader open in h0\nn1 join join 1 1 in h0\nn2 body filter code0 push 1 pop 2 in h0\n\
             n3 split duplicate in h0\nn4 output writer open in h0\nc0 n0.0 -> n1.0 int push 1 pop 1\nc1 n1.0 -> n2.0 int push 2 pop 2\n\
             c2 n2.0 -> n3.0 int push 1 pop 1\nc3 n3.0 -> n4.0 int push 1 pop 1\nc4 n3.1 -> n1.1 int push 1 pop 1 feedback\n";
        (parse(text).unwrap(), vec![0, 0, 0, 0, items])
    }

    fn fires(list: &[(u32, u64)]) -> Vec<Step> {
        list.iter().map(|(v, times)| Step::Fire { node: NodeId(*v), times: *times }).collect()
    }

    #[test]
    fn as_many_as_wait() {
        let body = fires(&[(1, 1), (2, 1), (3, 1)]);
        for (items, turns) in [(1, 1), (2, 2), (3, 2), (83, 64), (5000, 256)] {
            let (graph, fill) = delay(items);
            assert_eq!(turns_at_once(&graph, &fill, &body, 256), turns, "{items}");
        }
    }

    #[test]
    fn what_must_not_be_one() {
        let (graph, fill) = delay(100);
        // two firings in a turn take twice as many; a turn that ends otherwise than it began; a loop in it
        assert_eq!(turns_at_once(&graph, &fill, &fires(&[(1, 2), (2, 2), (3, 2)]), 256), 32);
        assert_eq!(turns_at_once(&graph, &fill, &fires(&[(1, 1), (2, 1), (3, 2)]), 256), 1);
        let inner = vec![Step::Loop { times: 2, body: fires(&[(1, 1), (2, 1), (3, 1)]) }];
        assert_eq!(turns_at_once(&graph, &fill, &inner, 256), 1);
    }
}
