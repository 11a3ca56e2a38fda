//! # homogeneous
//!
//! Purpose: the homogeneous graph of a stream graph: one node for each firing of a steady state, an edge from each firing to those that need
//! what it gives, with as many delays as iterations lie between. Input: the flat graph, its steady state, the time of a firing of each node.
//! Output: [`Homogeneous`]. It describes steady states only; what the initialisation leaves on a channel counts as what is there before.
//!
//! Example: A pushes 2, B pops 3, nothing on the channel: A0 A1 A2 B0 B1, edges A0→B0, A1→B0, A1→B1, A2→B1.
//!
//! With m items on the channel, firing k of v needs items k·I to k·I + E − 1 (from 0, peeks included); item x ≥ m comes from firing
//! ⌊(x − m)/O⌋ of u, which is ⌊n/r(u)⌋ iterations ahead for n beyond the steady state, and behind for n below 0 (algorithm (5) of
//! "Software Pipelined Execution of Stream Programs on GPUs", with peeks). Of several items from one firing the nearest makes the
//! edge: the others follow. A stateful filter's firings follow one another, the first of an iteration the last of the one before; and the
//! receiver of messages follows what a [`Precedence`](sluice_frontend::messages::Precedence) makes it wait for.
//!
//! Limits: [`MOST`] nodes and edges; dynamic rates have no homogeneous graph.

use super::{DelayGraph, Edge, RetimingError};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;
use std::collections::BTreeMap;

/// The most nodes, and the most edges.
pub const MOST: usize = 1_000_000;

/// The homogeneous graph and which firing each of its nodes is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homogeneous {
    /// The graph.
    pub graph: DelayGraph,
    /// The node that fires, and which of its firings in the steady state (from 0), by node of `graph`.
    pub firings: Vec<(NodeId, u64)>,
    /// The first firing of each node of the stream graph.
    pub first: Vec<usize>,
}

/// The homogeneous graph; `time` is that of one firing, by node. `None` where rates are dynamic.
pub fn homogeneous(graph: &SdfGraph, steady: &SteadyState, time: &[u64]) -> Result<Option<Homogeneous>, RetimingError> {
    let too_many = RetimingError::TooMany { limit: MOST };
    if steady.islands.is_some() {
        return Ok(None);
    }
    let all = steady.repetitions.iter().try_fold(0u64, |s, r| s.checked_add(*r)).filter(|s| *s <= MOST as u64);
    let all = all.ok_or(too_many.clone())?;
    let mut h = Homogeneous {
        graph: DelayGraph { time: Vec::with_capacity(all as usize), edges: Vec::new(), host: None },
        firings: Vec::with_capacity(all as usize),
        first: Vec::with_capacity(graph.nodes.len()),
    };
    for (n, repetitions) in graph.node_ids().zip(&steady.repetitions) {
        h.first.push(h.firings.len());
        h.firings.extend((0..*repetitions).map(|k| (n, k)));
        h.graph.time.extend((0..*repetitions).map(|_| time[n.index()]));
    }
    for id in graph.channel_ids() {
        let c = graph.channel(id);
        let (from, to) = (c.from.0, c.to.0);
        let (ru, rv) = (steady.repetitions[from.index()], steady.repetitions[to.index()]);
        if ru == 0 || c.produce == 0 {
            continue;
        }
        let m = i128::from(steady.boundary_fill[id.index()]);
        let (push, pop) = (i128::from(c.produce), i128::from(c.consume));
        for k in 0..rv {
            let first = i128::from(k) * pop - m;
            let last = first + i128::from(c.peek) - 1;
            // the last ones needed are the latest: no firing needs to be looked at twice
            let (low, high) = (first.div_euclid(push), last.div_euclid(push));
            if c.peek > 0 {
                h.follow(from, to, k, low.max(high - i128::from(ru) + 1)..=high, ru)?;
            }
        }
    }
    for n in graph.node_ids() {
        let stateful = matches!(graph.node(n).kind, NodeKind::Filter { stateful: true, .. });
        let r = steady.repetitions[n.index()];
        for k in 0..if stateful { r } else { 0 } {
            h.follow(n, n, k, i128::from(k) - 1..=i128::from(k) - 1, r)?;
        }
    }
    for p in &steady.precedences {
        let (before, after) = (p.before.index(), p.after.index());
        let (ru, rv) = (steady.repetitions[before], steady.repetitions[after]);
        for k in 0..if ru == 0 { 0 } else { rv } {
            // firings are counted from 1, and from the first of all
            let need = p.need_in_any_state(steady.init[after] + k + 1, &steady.repetitions);
            let n = i128::from(need) - 1 - i128::from(steady.init[before]);
            h.follow(p.before, p.after, k, n..=n, ru)?;
        }
    }
    h.graph.edges = nearest(std::mem::take(&mut h.graph.edges));
    Ok(Some(h))
}

impl Homogeneous {
    /// Firing `k` of `v` needs some firings of `u`, counted through the iterations.
    fn follow(
        &mut self,
        u: NodeId,
        v: NodeId,
        k: u64,
        needed: std::ops::RangeInclusive<i128>,
        repetitions: u64,
    ) -> Result<(), RetimingError> {
        for n in needed {
            let r = i128::from(repetitions);
            let (iteration, firing) = (n.div_euclid(r), n.rem_euclid(r));
            if self.graph.edges.len() >= MOST {
                // peeks may name one pair of firings again and again
                self.graph.edges = nearest(std::mem::take(&mut self.graph.edges));
                if self.graph.edges.len() >= MOST / 2 {
                    return Err(RetimingError::TooMany { limit: MOST });
                }
            }
            self.graph.edges.push(Edge {
                from: self.first[u.index()] + firing as usize,
                to: self.first[v.index()] + k as usize,
                // what comes from an iteration ahead would be a deadlock, which the steady state has none of
                delays: u64::try_from(-iteration).map_err(|_| RetimingError::TooLarge)?,
            });
        }
        Ok(())
    }
}

/// One edge for each pair of firings, the one with the fewest delays; in order.
fn nearest(edges: Vec<Edge>) -> Vec<Edge> {
    let mut least: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for e in edges {
        least.entry((e.from, e.to)).and_modify(|d| *d = e.delays.min(*d)).or_insert(e.delays);
    }
    least.into_iter().map(|((from, to), delays)| Edge { from, to, delays }).collect()
}
