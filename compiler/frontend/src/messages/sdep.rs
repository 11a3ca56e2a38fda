//! # stream-dependence
//!
//! Purpose: SDEP(m; u→v), the fewest firings of u after which v can fire m times.
//! Input: a live [`SdfGraph`] with its repetition vector. Output: SDEP as a function of m, for any u and one v.
//! What must hold: the graph is consistent and live, or demand would grow for ever.
//! Source: W. Thies, M. Karczmarek, J. Sermulins, R. Rabbah, S. Amarasinghe, "Teleport Messaging for Distributed Stream
//! Programs", PPoPP 2005, section 4 (there by pull schedules; here by demand, which gives the same least numbers).

use super::counts::Counts;
use crate::graph::SdfGraph;
use crate::ids::*;

/// The longest start-up that is followed, in firings of v.
pub const LONGEST: u64 = 1 << 20;

/// SDEP would need too long a table: its start-up or period is longer than [`LONGEST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// The least firings of every node that let one node fire m times, for growing m.
struct Demand<'a> {
    graph: &'a SdfGraph,
    to: NodeId,
    /// Firings, by node.
    least: Vec<u64>,
}

impl Demand<'_> {
    /// One more firing of the node asked for.
    fn grow(&mut self) -> Result<(), TooLong> {
        self.least[self.to.index()] += 1;
        let mut queue = vec![self.to];
        let mut work = 0u64;
        while let Some(v) = queue.pop() {
            work += 1;
            if work > LONGEST {
                return Err(TooLong);
            }
            let firings = self.least[v.index()];
            for id in &self.graph.node(v).inputs {
                let c = self.graph.channel(*id);
                let u = c.from.0;
                let needed = needed(self.graph, *id, firings);
                let initial = c.initial.len() as u64;
                let first = u64::from(self.graph.produced_by_firing(*id, 0));
                let least = if needed <= initial {
                    0
                } else if needed - initial <= first {
                    1
                } else if c.produce == 0 {
                    return Err(TooLong);
                } else {
                    1 + (needed - initial - first).div_ceil(u64::from(c.produce))
                };
                if least > self.least[u.index()] {
                    self.least[u.index()] = least;
                    queue.push(u);
                }
            }
        }
        Ok(())
    }
}

/// Items that must have been put on a channel, its initial ones included, before its consumer can fire so many times.
fn needed(graph: &SdfGraph, channel: ChannelId, firings: u64) -> u64 {
    if firings == 0 {
        return 0;
    }
    let first = u64::from(graph.needed_by_firing(channel, 0));
    if firings == 1 {
        return first;
    }
    let c = graph.channel(channel);
    let taken = u64::from(graph.consumed_by_firing(channel, 0))
        .saturating_add((firings - 2).saturating_mul(u64::from(c.consume)));
    first.max(taken.saturating_add(u64::from(c.peek)))
}

/// SDEP(m; u→to) as a function of m ≥ 0, for each u in `from`.
pub fn sdep(graph: &SdfGraph, repetitions: &[u64], from: &[NodeId], to: NodeId) -> Result<Vec<Counts>, TooLong> {
    let period = repetitions[to.index()];
    if period == 0 || period > LONGEST {
        return Err(TooLong);
    }
    let upstream = upstream(graph, repetitions, to);
    let mut demand = Demand { graph, to, least: vec![0; graph.nodes.len()] };
    let mut lists: Vec<Vec<u64>> = vec![vec![0]; from.len()];
    // once every node is past its first firings, the future depends on the demand alone, and that relative to the firings of `to`:
    // when it has grown by exactly the repetition vector, everything repeats
    let mut mark: Option<Vec<u64>> = None;
    let mut next_mark = 1;
    for m in 1..=LONGEST {
        demand.grow()?;
        for (list, u) in lists.iter_mut().zip(from) {
            list.push(demand.least[u.index()]);
        }
        if m != next_mark {
            continue;
        }
        let now: Vec<u64> = upstream.iter().map(|u| demand.least[u.index()]).collect();
        if let Some(then) = &mark
            && now.iter().zip(then).zip(&upstream).all(|((a, b), u)| *a == b + repetitions[u.index()])
        {
            let step = |u: &NodeId| if upstream.contains(u) { repetitions[u.index()] } else { 0 };
            let counts = lists.into_iter().zip(from).map(|(head, u)| Counts { head, period, step: step(u) });
            return Ok(counts.collect());
        }
        let settled = now.iter().all(|n| *n >= 2);
        next_mark = m + if settled { period } else { 1 };
        mark = settled.then_some(now);
    }
    Err(TooLong)
}

/// The node itself and those that it gets items from, near or far, as far as they fire at all.
fn upstream(graph: &SdfGraph, repetitions: &[u64], of: NodeId) -> Vec<NodeId> {
    let mut seen = vec![false; graph.nodes.len()];
    let mut todo = vec![of];
    let mut out = Vec::new();
    while let Some(n) = todo.pop() {
        if repetitions[n.index()] == 0 || std::mem::replace(&mut seen[n.index()], true) {
            continue;
        }
        out.push(n);
        let still = graph.node(n).inputs.iter().map(|c| graph.channel(*c)).filter(|c| !c.dynamic);
        todo.extend(still.map(|c| c.from.0));
    }
    out
}
