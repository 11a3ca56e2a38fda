//! # single-appearance
//!
//! Purpose: the looped schedule in which every node appears once: nodes in topological order (program order where that is free), each
//! firing all it has to.
//! Input: graph, steady state, batch. Output: a candidate [`SequentialSchedule`]. Example, A pushes 2, B pops 3:
//! `3·A 2·B`.
//!
//! A strongly connected component (a feedback loop) is one step, a loop around its smallest iteration, so that what stands around it
//! need not know what is in it. Within: channels that hold all that one iteration takes from them are cut; where that breaks the
//! component apart, its parts follow each other, each in a loop of its own; where it does not, no schedule lets every node appear
//! once, and nodes fire in program order as often as they can. Source: S. S. Bhattacharyya, P. K. Murthy, E. A. Lee, "Software Synthesis
//! from Dataflow Graphs", 1996, chapter 7 (loose interdependence). Limit: [`LONGEST`] steps in one loop's body.

use crate::fold::fold;
use crate::sequential::{SequentialSchedule, Step, push_fire};
use sluice_frontend::components::{components, loose_parts};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::steady_state::gcd;
use std::collections::BTreeSet;

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

/// The single-appearance schedule for `batch` steady states.
pub fn single_appearance(graph: &SdfGraph, steady: &SteadyState, batch: u64) -> Result<SequentialSchedule, Failure> {
    let parts = components(graph);
    let n = graph.nodes.len();
    let mut s = Solver {
        graph,
        fill: graph.channels.iter().map(|c| c.initial.len() as u64).collect(),
        fired: vec![0; n],
        goal: vec![0; n],
        member: vec![0; n],
        round: 0,
    };
    let mut init = Vec::new();
    for part in &parts {
        if part.len() == 1 {
            push_fire(&mut init, part[0], steady.init[part[0].index()]);
            s.fired[part[0].index()] = steady.init[part[0].index()];
        } else {
            init.extend(fold(s.greedy(part, |n| steady.init[n.index()])?));
        }
    }
    s.fill.clone_from(&steady.boundary_fill);
    let mut one = Vec::new();
    for part in &parts {
        let all = part.iter().fold(0, |g, n| gcd(steady.repetitions[n.index()], g));
        let times = all.checked_mul(batch).ok_or(Failure::Overflow)?;
        if times == 0 {
            continue;
        }
        if part.len() == 1 {
            push_fire(&mut one, part[0], times);
            continue;
        }
        let once: Vec<u64> = part.iter().map(|n| steady.repetitions[n.index()] / all).collect();
        one.push(Step::Loop { times, body: s.iteration(part, &once)? });
    }
    Ok(SequentialSchedule { init, steady: one, batch })
}

struct Solver<'g> {
    graph: &'g SdfGraph,
    /// Items by channel; within a component.
    fill: Vec<u64>,
    fired: Vec<u64>,
    goal: Vec<u64>,
    /// The round in which a node was last in the part that is being fired.
    member: Vec<u32>,
    round: u32,
}

impl Solver<'_> {
    /// One iteration of some nodes that form a component; channels from outside hold what is wanted.
    fn iteration(&mut self, part: &[NodeId], counts: &[u64]) -> Result<Vec<Step>, Failure> {
        let count = |n: NodeId| part.binary_search(&n).ok().map(|i| counts[i]);
        let parts = loose_parts(self.graph, part, counts, &self.fill);
        if let [_] = parts[..] {
            let steps = self.greedy_iteration(part, |n| count(n).unwrap_or(0))?;
            return Ok(fold(steps));
        }
        let mut out = Vec::new();
        for p in &parts {
            let own: Vec<u64> = p.iter().filter_map(|n| count(*n)).collect();
            let all = own.iter().fold(0, |g, n| gcd(*n, g));
            match p[..] {
                _ if all == 0 => {}
                [only] => push_fire(&mut out, only, own[0]),
                _ => {
                    let once: Vec<u64> = own.iter().map(|n| n / all).collect();
                    let body = self.iteration(p, &once)?;
                    if all == 1 {
                        out.extend(body);
                    } else {
                        out.push(Step::Loop { times: all, body });
                    }
                }
            }
        }
        Ok(out)
    }

    /// As [`Solver::greedy`]; afterwards everything is as before, since an iteration returns to where it began.
    fn greedy_iteration(&mut self, part: &[NodeId], counts: impl Fn(NodeId) -> u64) -> Result<Vec<Step>, Failure> {
        let before: Vec<u64> = part.iter().map(|n| self.fired[n.index()]).collect();
        let steps = self.greedy(part, counts);
        part.iter().zip(before).for_each(|(n, f)| self.fired[n.index()] = f);
        steps
    }

    /// Fires each node so many times: again and again in program order, each as often as its items allow.
    fn greedy(&mut self, part: &[NodeId], counts: impl Fn(NodeId) -> u64) -> Result<Vec<Step>, Failure> {
        self.round += 1;
        for n in part {
            self.member[n.index()] = self.round;
            self.goal[n.index()] = self.fired[n.index()].checked_add(counts(*n)).ok_or(Failure::Overflow)?;
        }
        let mut ready: BTreeSet<NodeId> = part.iter().copied().collect();
        let mut steps = Vec::new();
        let mut from = part[0];
        while let Some(n) = ready.range(from..).next().or(ready.first()).copied() {
            ready.remove(&n);
            from = n;
            let times = self.fire(n)?;
            if times == 0 {
                continue;
            }
            push_fire(&mut steps, n, times);
            if steps.len() > LONGEST {
                return Err(Failure::TooLong(n));
            }
            for c in &self.graph.node(n).outputs {
                let to = self.graph.channel(*c).to.0;
                if self.member[to.index()] == self.round && self.fired[to.index()] < self.goal[to.index()] {
                    ready.insert(to);
                }
            }
        }
        match part.iter().find(|n| self.fired[n.index()] < self.goal[n.index()]) {
            Some(n) => Err(Failure::Deadlock(*n)),
            None => Ok(steps),
        }
    }

    /// Fires a node as often as its items from within the part allow; says how often.
    fn fire(&mut self, n: NodeId) -> Result<u64, Failure> {
        let graph = self.graph;
        let node = graph.node(n);
        let mut total = 0;
        while self.fired[n.index()] < self.goal[n.index()] {
            let at = self.fired[n.index()];
            // the first firing may differ from the others: it goes alone
            let mut times = if at == 0 { 1 } else { self.goal[n.index()] - at };
            for c in node.inputs.iter().filter(|c| self.member[graph.channel(**c).from.0.index()] == self.round) {
                let (need, mut take) = (graph.needed_by_firing(*c, at), graph.consumed_by_firing(*c, at));
                if graph.channel(*c).from.0 == n {
                    take = take.saturating_sub(graph.produced_by_firing(*c, at));
                }
                times = match self.fill[c.index()].checked_sub(need.into()) {
                    None => 0,
                    Some(_) if take == 0 => times,
                    Some(spare) => times.min(spare / u64::from(take) + 1),
                };
            }
            if times == 0 {
                break;
            }
            let product = |rate: u32| times.checked_mul(rate.into()).ok_or(Failure::Overflow);
            for c in node.outputs.iter().filter(|c| self.member[graph.channel(**c).to.0.index()] == self.round) {
                let fill = &mut self.fill[c.index()];
                *fill = fill.checked_add(product(graph.produced_by_firing(*c, at))?).ok_or(Failure::Overflow)?;
            }
            for c in node.inputs.iter().filter(|c| self.member[graph.channel(**c).from.0.index()] == self.round) {
                self.fill[c.index()] -= product(graph.consumed_by_firing(*c, at))?;
            }
            self.fired[n.index()] += times;
            total += times;
        }
        Ok(total)
    }
}
