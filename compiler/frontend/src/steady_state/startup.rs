//! The initialisation schedule and liveness.
//!
//! init(v) is the least number of firings after which every prework is done and every channel holds the items that
//! the next firing peeks at beyond those it consumes. Demand runs backwards over the channels to a fixpoint. Then one initialisation
//! and one steady state are run with counts alone.

use super::SteadyState;
use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use crate::messages::Precedence;
use std::collections::VecDeque;

/// A count beyond this is reported, not computed with.
const LARGEST: u64 = 1 << 50;
/// Bulk firings tried before the check gives up.
const PATIENCE: u64 = 50_000_000;

/// Why a program cannot start.
#[derive(Clone, Debug)]
pub enum Stuck {
    /// These nodes wait; each with a channel that lacks so many items.
    Deadlock(Vec<(NodeId, ChannelId, u64)>),
    /// A consumer needs more items than its producer can ever make.
    Never(ChannelId),
    /// Counts too large.
    Overflow(NodeId),
    /// Too long to check.
    TooLong,
    /// A receiver waits for a sender that waits for it.
    Messages(NodeId, NodeId),
}

fn prework_of(graph: &SdfGraph, n: NodeId) -> bool {
    matches!(graph.node(n).kind, NodeKind::Filter { prework: Some(_), .. })
}

/// Items produced on a channel by the first `n` firings.
pub fn produced(graph: &SdfGraph, c: ChannelId, n: u64) -> u64 {
    if n == 0 { 0 } else { u64::from(graph.produced_by_firing(c, 0)) + (n - 1) * u64::from(graph.channel(c).produce) }
}

/// Items consumed from a channel by the first `n` firings.
pub fn consumed(graph: &SdfGraph, c: ChannelId, n: u64) -> u64 {
    if n == 0 { 0 } else { u64::from(graph.consumed_by_firing(c, 0)) + (n - 1) * u64::from(graph.channel(c).consume) }
}

/// The initialisation, and proof by simulation that it and a steady state can run.
pub fn startup(
    graph: &SdfGraph,
    r: &[u64],
    initial: &[u64],
    precedences: &[Precedence],
) -> Result<SteadyState, Stuck> {
    let init = firings_before(graph, r, initial, precedences)?;
    let mut fill = initial.to_vec();
    let mut fired = vec![0; graph.nodes.len()];
    simulate(graph, precedences, &mut fill, &mut fired, &init)?;
    let boundary_fill = fill.clone();
    let target: Vec<u64> = init.iter().zip(r).map(|(a, b)| a + b).collect();
    simulate(graph, precedences, &mut fill, &mut fired, &target)?;
    let init_peak = graph
        .channel_ids()
        .map(|c| initial[c.index()] + produced(graph, c, init[graph.channel(c).from.0.index()]))
        .collect();
    Ok(SteadyState { repetitions: r.to_vec(), init, boundary_fill, init_peak, precedences: Vec::new() })
}

fn firings_before(
    graph: &SdfGraph,
    r: &[u64],
    initial: &[u64],
    precedences: &[Precedence],
) -> Result<Vec<u64>, Stuck> {
    let mut waits: Vec<Vec<&Precedence>> = vec![Vec::new(); graph.nodes.len()];
    precedences.iter().for_each(|p| waits[p.after.index()].push(p));
    let mut init: Vec<u64> = graph.node_ids().map(|n| u64::from(prework_of(graph, n) && r[n.index()] > 0)).collect();
    let mut queue: VecDeque<NodeId> = graph.node_ids().rev().collect();
    let mut queued = vec![true; graph.nodes.len()];
    let mut visits = vec![0u32; graph.nodes.len()];
    while let Some(v) = queue.pop_front() {
        queued[v.index()] = false;
        visits[v.index()] += 1;
        for p in &waits[v.index()] {
            // at each boundary the sender must have fired as often as the receiver's last firing asked for
            let (s, receiver) = (p.before, init[v.index()]);
            let needed = p.need_in_any_state(receiver, r);
            if needed > LARGEST {
                return Err(Stuck::Overflow(s));
            }
            if needed <= init[s.index()] {
                continue;
            }
            init[s.index()] = needed;
            if visits[s.index()] > 2_000 + graph.nodes.len() as u32 {
                return Err(Stuck::Messages(s, v));
            }
            if !std::mem::replace(&mut queued[s.index()], true) {
                queue.push_back(s);
            }
        }
        for id in &graph.node(v).inputs {
            let c = graph.channel(*id);
            let u = c.from.0;
            let n = init[v.index()];
            let mut demand = consumed(graph, *id, n);
            if r[v.index()] > 0 {
                demand += u64::from(c.peek - c.consume);
            }
            if n > 0 {
                demand = demand.max(u64::from(graph.needed_by_firing(*id, 0)));
            }
            let have = initial[id.index()] + produced(graph, *id, init[u.index()]);
            if have >= demand {
                continue;
            }
            let missing = demand - initial[id.index()];
            let first = u64::from(graph.produced_by_firing(*id, 0));
            let needed = if missing <= first {
                1
            } else if c.produce == 0 || r[u.index()] == 0 {
                return Err(Stuck::Never(*id));
            } else {
                1 + (missing - first).div_ceil(u64::from(c.produce))
            };
            if needed > LARGEST {
                return Err(Stuck::Overflow(u));
            }
            init[u.index()] = needed;
            // in a loop without enough items demand grows for ever
            if visits[u.index()] > 2_000 + graph.nodes.len() as u32 {
                return Err(Stuck::Deadlock(vec![(v, *id, demand - have)]));
            }
            if !queued[u.index()] {
                queued[u.index()] = true;
                queue.push_back(u);
            }
        }
    }
    Ok(init)
}

/// Fires in bulk until every node has reached its target.
fn simulate(
    graph: &SdfGraph,
    precedences: &[Precedence],
    fill: &mut [u64],
    fired: &mut [u64],
    target: &[u64],
) -> Result<(), Stuck> {
    let mut waits: Vec<Vec<&Precedence>> = vec![Vec::new(); graph.nodes.len()];
    let mut awaited: Vec<Vec<NodeId>> = vec![Vec::new(); graph.nodes.len()];
    for p in precedences {
        waits[p.after.index()].push(p);
        awaited[p.before.index()].push(p.after);
    }
    let mut queue: VecDeque<NodeId> = graph.node_ids().collect();
    let mut queued = vec![true; graph.nodes.len()];
    let mut steps = 0u64;
    while let Some(n) = queue.pop_front() {
        queued[n.index()] = false;
        steps += 1;
        if steps > PATIENCE {
            return Err(Stuck::TooLong);
        }
        let node = graph.node(n);
        let mut did = false;
        while fired[n.index()] < target[n.index()] {
            // the first firing may differ from the others: it goes alone
            let at = fired[n.index()];
            let left = if at == 0 { 1 } else { target[n.index()] - at };
            let times = node.inputs.iter().fold(left, |times, id| {
                let (need, take) = (graph.needed_by_firing(*id, at), graph.consumed_by_firing(*id, at));
                let have = fill[id.index()];
                if have < need.into() {
                    0
                } else if take == 0 {
                    times
                } else {
                    times.min((have - u64::from(need)) / u64::from(take) + 1)
                }
            });
            // so many firings at once as no sender has to come before
            let times = waits[n.index()].iter().fold(times, |times, p| {
                let allowed = p.need.last_within(fired[p.before.index()]).unwrap_or(u64::MAX);
                times.min(allowed.saturating_sub(at))
            });
            if times == 0 {
                break;
            }
            for id in &node.inputs {
                fill[id.index()] -= times * u64::from(graph.consumed_by_firing(*id, at));
            }
            for id in &node.outputs {
                fill[id.index()] = (times.checked_mul(graph.produced_by_firing(*id, at).into()))
                    .and_then(|p| p.checked_add(fill[id.index()]))
                    .filter(|f| *f < LARGEST)
                    .ok_or(Stuck::Overflow(n))?;
            }
            fired[n.index()] += times;
            did = true;
        }
        if did {
            for id in &node.outputs {
                let to = graph.channel(*id).to.0;
                if !queued[to.index()] {
                    queued[to.index()] = true;
                    queue.push_back(to);
                }
            }
            for to in &awaited[n.index()] {
                if !std::mem::replace(&mut queued[to.index()], true) {
                    queue.push_back(*to);
                }
            }
        }
    }
    let mut waiting = Vec::new();
    for n in graph.node_ids() {
        if fired[n.index()] < target[n.index()] {
            for id in &graph.node(n).inputs {
                let need = u64::from(graph.needed_by_firing(*id, fired[n.index()]));
                if fill[id.index()] < need {
                    waiting.push((n, *id, need - fill[id.index()]));
                }
            }
        }
    }
    let behind = |n: NodeId| fired[n.index()] < target[n.index()];
    match precedences.iter().find(|p| behind(p.after) && behind(p.before)) {
        // without messages the same graph is live
        Some(p) if graph.node_ids().any(behind) => Err(Stuck::Messages(p.before, p.after)),
        _ if waiting.is_empty() => Ok(()),
        _ => Err(Stuck::Deadlock(waiting)),
    }
}
