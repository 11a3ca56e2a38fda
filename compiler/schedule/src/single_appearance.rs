//! # single-appearance
//!
//! Purpose: the looped schedule in which every node appears once: nodes in topological order, each firing all it has to.
//! Input: graph, steady state, batch. Output: a candidate [`SequentialSchedule`]. Example, A pushes 2, B pops 3:
//! `3·A 2·B`. Strongly connected components (feedback loops) are collapsed; a component runs its own smallest
//! iteration, found by firing greedily in program order, as the body of a loop. Source: S. S. Bhattacharyya, P. K. Murthy,
//! E. A. Lee, "Software Synthesis from Dataflow Graphs", 1996. Limit: [`LONGEST`] steps within one feedback loop.

use crate::sequential::{SequentialSchedule, Step};
use petgraph::graph::{DiGraph, NodeIndex};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::SteadyState;

/// Steps in the body of one feedback loop.
pub const LONGEST: usize = 1 << 20;

/// Why there is no such schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A feedback loop needs more than [`LONGEST`] steps.
    TooLong(NodeId),
    /// A feedback loop does not go through its iteration.
    Deadlock(NodeId),
    /// Counts beyond 64 bits.
    Overflow,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Adds a step, joining it to the last one where that is the same node.
pub(crate) fn push_fire(steps: &mut Vec<Step>, node: NodeId, times: u64) {
    if times == 0 {
        return;
    }
    if let Some(Step::Fire { node: last, times: n }) = steps.last_mut()
        && *last == node
    {
        *n += times;
        return;
    }
    steps.push(Step::Fire { node, times });
}

/// The single-appearance schedule for `batch` steady states.
pub fn single_appearance(graph: &SdfGraph, steady: &SteadyState, batch: u64) -> Result<SequentialSchedule, Failure> {
    let mut g: DiGraph<NodeId, ()> = DiGraph::new();
    let at: Vec<NodeIndex> = graph.node_ids().map(|n| g.add_node(n)).collect();
    for c in &graph.channels {
        g.add_edge(at[c.from.0.index()], at[c.to.0.index()], ());
    }
    // Tarjan gives components in reverse topological order; program order within one
    let mut components: Vec<Vec<NodeId>> =
        petgraph::algo::tarjan_scc(&g).into_iter().rev().map(|c| c.into_iter().map(|i| g[i]).collect()).collect();
    components.iter_mut().for_each(|c| c.sort());
    let mut fill: Vec<u64> = graph.channels.iter().map(|c| c.initial.len() as u64).collect();
    let mut fired = vec![0u64; graph.nodes.len()];
    let mut init = Vec::new();
    for part in &components {
        fire_part(graph, part, &steady.init, 1, &mut fill, &mut fired, &mut init)?;
    }
    let mut one = Vec::new();
    for part in &components {
        fire_part(graph, part, &steady.repetitions, batch, &mut fill, &mut fired, &mut one)?;
    }
    Ok(SequentialSchedule { init, steady: one, batch })
}

fn fire_part(
    graph: &SdfGraph,
    part: &[NodeId],
    counts: &[u64],
    batch: u64,
    fill: &mut [u64],
    fired: &mut [u64],
    out: &mut Vec<Step>,
) -> Result<(), Failure> {
    if let [only] = part
        && !graph.node(*only).outputs.iter().any(|c| graph.channel(*c).to.0 == *only)
    {
        let times = counts[only.index()].checked_mul(batch).ok_or(Failure::Overflow)?;
        for _ in 0..times.min(1) {
            move_items(graph, *only, times, fill, fired)?;
        }
        push_fire(out, *only, times);
        return Ok(());
    }
    let mut goal: Vec<(NodeId, u64)> = part.iter().map(|n| (*n, counts[n.index()])).collect();
    // initialisation runs once as it is; a steady state is divided into the component's own iterations
    let loops = if batch == 1 && fired.iter().all(|f| *f == 0) {
        1
    } else {
        goal.iter().fold(0, |g, (_, n)| gcd(*n, g)).max(1)
    };
    let first_firing = part.iter().any(|n| fired[n.index()] == 0);
    let loops = if first_firing { 1 } else { loops };
    goal.iter_mut().for_each(|(_, n)| *n /= loops);
    let mut body = Vec::new();
    let before = fill.to_vec();
    let inside = |c: ChannelId| part.binary_search(&graph.channel(c).from.0).is_ok();
    let mut left: u64 = goal.iter().map(|(_, n)| n).sum();
    while left > 0 {
        let mut moved = false;
        for (n, remaining) in &mut goal {
            let mut times = 0;
            while *remaining > 0 {
                let firing = fired[n.index()];
                let can = graph
                    .node(*n)
                    .inputs
                    .iter()
                    .all(|c| !inside(*c) || fill[c.index()] >= u64::from(graph.needed_by_firing(*c, firing)));
                if !can {
                    break;
                }
                move_items(graph, *n, 1, fill, fired)?;
                *remaining -= 1;
                left -= 1;
                times += 1;
                moved = true;
            }
            push_fire(&mut body, *n, times);
            if body.len() > LONGEST {
                return Err(Failure::TooLong(*n));
            }
        }
        if !moved {
            return Err(Failure::Deadlock(part[0]));
        }
    }
    let times = loops.checked_mul(batch).ok_or(Failure::Overflow)?;
    // within the component the fill returns; outside it changes in proportion
    for id in graph.channel_ids() {
        let c = graph.channel(id);
        let (from, to) = (part.binary_search(&c.from.0).is_ok(), part.binary_search(&c.to.0).is_ok());
        if from != to && times > 1 {
            let (a, b) = (i128::from(before[id.index()]), i128::from(fill[id.index()]));
            let total = a + (b - a) * i128::from(times);
            fill[id.index()] = u64::try_from(total.max(0)).map_err(|_| Failure::Overflow)?;
        }
    }
    if times == 1 {
        out.extend(body);
    } else if !body.is_empty() {
        out.push(Step::Loop { times, body });
    }
    Ok(())
}

/// Counts of `times` firings; a channel whose producer comes later may be short for the moment (it is checked by the judge).
fn move_items(graph: &SdfGraph, n: NodeId, times: u64, fill: &mut [u64], fired: &mut [u64]) -> Result<(), Failure> {
    if times == 0 {
        return Ok(());
    }
    let node = graph.node(n);
    let at = fired[n.index()];
    let first = u64::from(at == 0);
    let total = |one: u32, rest: u32| {
        let one = u64::from(if first == 1 { one } else { rest });
        u64::from(rest).checked_mul(times - 1).and_then(|r| r.checked_add(one)).ok_or(Failure::Overflow)
    };
    for id in &node.inputs {
        let take = total(graph.consumed_by_firing(*id, 0), graph.channel(*id).consume)?;
        fill[id.index()] = fill[id.index()].saturating_sub(take);
    }
    for id in &node.outputs {
        let make = total(graph.produced_by_firing(*id, 0), graph.channel(*id).produce)?;
        fill[id.index()] = fill[id.index()].checked_add(make).ok_or(Failure::Overflow)?;
    }
    fired[n.index()] += times;
    Ok(())
}
