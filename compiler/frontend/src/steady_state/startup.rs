//! The initialisation schedule and liveness.
//!
//! init(v) is the least number of firings after which every prework is done and every channel holds the items that
//! the next firing peeks at beyond those it consumes. Demand runs backwards over the strongly connected components; within one to a fixpoint.
//!
//! Only a component can block itself: when each of its nodes, given all the items it wants from outside, can fire once and then through
//! one iteration of the component, it can go on for ever. (Suppose it stops later, at counts M. After first firings all rates are
//! constant, so that at M less one iteration everybody waits as at M; but the run passed a first firing beyond that point.) So liveness is
//! run with counts alone ([`Bench`]), component by component, and the counts of the rest follow from the demand. Components with
//! rates of 0 in them have no iteration: they are run through their initialisation and their share of a steady state.
//!
//! Limits: [`FIRINGS`] firings of a node, [`ITEMS`] items through a channel in an epoch, [`PATIENCE`] steps.

use super::SteadyState;
use super::bench::{Bench, Halt};
use super::repetitions::{FIRINGS, gcd};
use crate::components::{components, loose_parts};
use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use std::collections::VecDeque;

/// The most items that a channel may hold or carry in one epoch.
pub const ITEMS: u64 = 1 << 62;
/// Bulk firings and steps of demand tried before the check gives up.
pub const PATIENCE: u64 = 10_000_000;

/// Why a program cannot start.
#[derive(Clone, Debug)]
pub enum Stuck {
    /// Components that come to a halt.
    Deadlock(Vec<Blocked>),
    /// A consumer needs so many more items than its producer can ever make.
    Never(ChannelId, u64),
    /// [`FIRINGS`] or more firings of a node.
    Firings(NodeId),
    /// More than [`ITEMS`] items on a channel.
    Items(ChannelId),
    /// Too long to check: where.
    TooLong(NodeId),
}

/// A component that comes to a halt.
#[derive(Clone, Debug)]
pub struct Blocked {
    /// Its nodes, in program order.
    pub part: Vec<NodeId>,
    /// Nodes that wait, each with a channel that lacks so many items.
    pub waiting: Vec<(NodeId, ChannelId, u64)>,
}

/// Items produced on a channel by the first `n` firings.
fn produced(graph: &SdfGraph, c: ChannelId, n: u64) -> u128 {
    match n {
        0 => 0,
        n => u128::from(graph.produced_by_firing(c, 0)) + u128::from(n - 1) * u128::from(graph.channel(c).produce),
    }
}

/// Items consumed from a channel by the first `n` firings.
fn consumed(graph: &SdfGraph, c: ChannelId, n: u64) -> u128 {
    match n {
        0 => 0,
        n => u128::from(graph.consumed_by_firing(c, 0)) + u128::from(n - 1) * u128::from(graph.channel(c).consume),
    }
}

/// The graph's parts and what they start with.
pub struct Start<'g> {
    /// The graph.
    pub graph: &'g SdfGraph,
    /// Its repetition vector.
    pub r: &'g [u64],
    /// Its components in topological order.
    pub parts: Vec<Vec<NodeId>>,
    /// The component of each node.
    part_of: Vec<usize>,
}

impl<'g> Start<'g> {
    /// The parts of a graph.
    pub fn new(graph: &'g SdfGraph, r: &'g [u64]) -> Start<'g> {
        let parts = components(graph);
        let mut part_of = vec![0; graph.nodes.len()];
        for (p, part) in parts.iter().enumerate() {
            part.iter().for_each(|n| part_of[n.index()] = p);
        }
        Start { graph, r, parts, part_of }
    }

    /// Do both ends of a channel lie in one component?
    pub fn inside(&self, c: ChannelId) -> bool {
        let c = self.graph.channel(c);
        !c.dynamic && self.part_of[c.from.0.index()] == self.part_of[c.to.0.index()]
    }

    /// Is there a channel from the component back to itself?
    fn cyclic(&self, part: &[NodeId]) -> bool {
        part.len() > 1 || self.graph.node(part[0]).outputs.iter().any(|c| self.inside(*c))
    }

    /// Does every channel within carry items in a steady state?
    pub fn regular(&self, part: &[NodeId]) -> bool {
        part.iter().all(|n| {
            self.r[n.index()] > 0
                && self.graph.node(*n).outputs.iter().all(|c| {
                    let channel = self.graph.channel(*c);
                    !self.inside(*c) || channel.produce > 0 && channel.consume > 0
                })
        })
    }

    /// Can a regular component go on for ever, given what it wants from outside?
    pub fn live(&self, bench: &mut Bench, part: &[NodeId], initial: &[u64]) -> Result<(), Stuck> {
        let all = part.iter().fold(0, |g, n| gcd(g, self.r[n.index()])).max(1);
        let once: Vec<u64> = part.iter().map(|n| self.r[n.index()] / all).collect();
        // as between steady states: no prework to come, and what is peeked at is there
        let steady = |c: &ChannelId| {
            let channel = self.graph.channel(*c);
            !self.inside(*c) || initial[c.index()] >= u64::from(channel.peek.saturating_sub(channel.consume))
        };
        if part.iter().any(|n| self.prework(*n) || !self.graph.node(*n).inputs.iter().all(steady)) {
            bench.put(part, initial);
            return self.run(bench, part, part, |n| 1 + part.binary_search(&n).map_or(0, |i| once[i]));
        }
        self.iteration(bench, part, part, &once, initial)
    }

    /// Can a part of a component, which is one itself, go through this iteration from its initial items? As in
    /// `single-appearance`, parts that one iteration does not tie together are looked at one by one.
    fn iteration(
        &self,
        bench: &mut Bench,
        component: &[NodeId],
        part: &[NodeId],
        counts: &[u64],
        initial: &[u64],
    ) -> Result<(), Stuck> {
        let parts = loose_parts(self.graph, part, counts, initial);
        if let [_] = parts[..] {
            bench.put(part, initial);
            return self.run(bench, component, part, |n| part.binary_search(&n).map_or(0, |i| counts[i]));
        }
        for p in parts.iter().filter(|p| self.cyclic(p)) {
            let own: Vec<u64> = p.iter().filter_map(|n| Some(counts[part.binary_search(n).ok()?])).collect();
            let all = own.iter().fold(0, |g, n| gcd(g, *n)).max(1);
            let once: Vec<u64> = own.iter().map(|n| n / all).collect();
            self.iteration(bench, component, p, &once, initial)?;
        }
        Ok(())
    }

    fn run(
        &self,
        bench: &mut Bench,
        component: &[NodeId],
        part: &[NodeId],
        goal: impl Fn(NodeId) -> u64,
    ) -> Result<(), Stuck> {
        let within = |n: NodeId| part.len() == component.len() || part.binary_search(&n).is_ok();
        let inside =
            |c: ChannelId| self.inside(c) && within(self.graph.channel(c).from.0) && within(self.graph.channel(c).to.0);
        bench.run(part, inside, goal).map_err(|halt| match halt {
            Halt::Waits(waiting) => Stuck::Deadlock(vec![Blocked { part: component.to_vec(), waiting }]),
            Halt::Patience(n) => Stuck::TooLong(n),
        })
    }

    fn prework(&self, n: NodeId) -> bool {
        matches!(self.graph.node(n).kind, NodeKind::Filter { prework: Some(_), .. })
    }

    /// The initialisation, and proof that it and a steady state can run.
    pub fn startup(&self, initial: &[u64], patience: u64) -> Result<SteadyState, Stuck> {
        let (graph, r) = (self.graph, self.r);
        for id in graph.channel_ids() {
            let c = graph.channel(id);
            if u128::from(r[c.from.0.index()]) * u128::from(c.produce) > ITEMS.into() {
                return Err(Stuck::Items(id));
            }
        }
        let mut bench = Bench::new(graph, patience);
        let mut blocked = Vec::new();
        for part in self.parts.iter().filter(|p| self.cyclic(p) && self.regular(p)) {
            match self.live(&mut bench, part, initial) {
                Err(Stuck::Deadlock(b)) => blocked.extend(b),
                other => other?,
            }
        }
        if !blocked.is_empty() {
            return Err(Stuck::Deadlock(blocked));
        }
        let init = self.firings_before(initial, &mut bench)?;
        let mut state = SteadyState { repetitions: r.to_vec(), init, ..SteadyState::default() };
        for id in graph.channel_ids() {
            let c = graph.channel(id);
            let (u, v) = (c.from.0.index(), c.to.0.index());
            let peak = u128::from(initial[id.index()]) + produced(graph, id, state.init[u]);
            // the demand has seen to it that the difference is not negative
            let fill = peak.checked_sub(consumed(graph, id, state.init[v])).ok_or(Stuck::Never(id, 0))?;
            let steady = fill + u128::from(r[u]) * u128::from(c.produce);
            if peak.max(steady) > ITEMS.into() {
                return Err(Stuck::Items(id));
            }
            state.init_peak.push(peak as u64);
            state.boundary_fill.push(fill as u64);
        }
        for part in self.parts.iter().filter(|p| self.cyclic(p) && !self.regular(p)) {
            bench.put(part, initial);
            self.run(&mut bench, part, part, |n| state.init[n.index()])?;
            self.run(&mut bench, part, part, |n| state.init[n.index()] + r[n.index()])?;
        }
        Ok(state)
    }

    fn firings_before(&self, initial: &[u64], bench: &mut Bench) -> Result<Vec<u64>, Stuck> {
        let (graph, r) = (self.graph, self.r);
        let mut init: Vec<u64> = graph.node_ids().map(|n| u64::from(self.prework(n) && r[n.index()] > 0)).collect();
        for part in self.parts.iter().rev() {
            if self.cyclic(part) {
                self.settle(part, initial, &mut init, bench)?;
            }
            for v in part {
                for c in graph.node(*v).inputs.iter().filter(|c| !self.inside(**c)) {
                    let u = graph.channel(*c).from.0.index();
                    init[u] = init[u].max(self.asked(*c, initial, &init)?);
                }
            }
        }
        Ok(init)
    }

    /// The firings of a channel's producer that its consumer's `init` firings, and what must stay on the channel, ask for.
    fn asked(&self, id: ChannelId, initial: &[u64], init: &[u64]) -> Result<u64, Stuck> {
        let graph = self.graph;
        let c = graph.channel(id);
        let (u, v) = (c.from.0, c.to.0);
        let n = init[v.index()];
        let mut demand = consumed(graph, id, n);
        if self.r[v.index()] > 0 || n > 1 {
            demand += u128::from(c.peek.saturating_sub(c.consume));
        }
        if n > 0 {
            demand = demand.max(graph.needed_by_firing(id, 0).into());
        }
        let missing = demand.saturating_sub(initial[id.index()].into());
        let first = u128::from(graph.produced_by_firing(id, 0));
        let firings = if missing == 0 {
            0
        } else if missing <= first {
            1
        } else if c.produce == 0 {
            return Err(Stuck::Never(id, (missing - first).min(u64::MAX.into()) as u64));
        } else {
            1 + (missing - first).div_ceil(c.produce.into())
        };
        u64::try_from(firings).ok().filter(|n| *n < FIRINGS).ok_or(Stuck::Firings(u))
    }

    /// The least fixpoint of the demand within a component.
    fn settle(&self, part: &[NodeId], initial: &[u64], init: &mut [u64], bench: &mut Bench) -> Result<(), Stuck> {
        let regular = self.regular(part);
        let mut queue: VecDeque<NodeId> = part.iter().rev().copied().collect();
        let mut queued: Vec<bool> = vec![true; part.len()];
        let (mut raised, mut suspicious) = (0usize, 64 + 4 * part.len());
        while let Some(v) = queue.pop_front() {
            bench.step().map_err(|_| Stuck::TooLong(v))?;
            if let Ok(i) = part.binary_search(&v) {
                queued[i] = false;
            }
            for c in self.graph.node(v).inputs.iter().filter(|c| self.inside(**c)) {
                let u = self.graph.channel(*c).from.0;
                let asked = self.asked(*c, initial, init)?;
                if asked <= init[u.index()] {
                    continue;
                }
                init[u.index()] = asked;
                raised += 1;
                if let Ok(i) = part.binary_search(&u)
                    && !std::mem::replace(&mut queued[i], true)
                {
                    queue.push_back(u);
                }
            }
            // demand that keeps growing is that of a deadlock: then not even what is asked for by now can happen
            if !regular && raised > suspicious {
                suspicious *= 2;
                for n in part {
                    for c in self.graph.node(*n).outputs.iter().filter(|c| self.inside(**c)) {
                        let all = u128::from(initial[c.index()]) + produced(self.graph, *c, init[n.index()]);
                        if all > ITEMS.into() {
                            return Err(Stuck::Items(*c));
                        }
                    }
                }
                bench.put(part, initial);
                self.run(bench, part, part, |n| init[n.index()])?;
            }
        }
        Ok(())
    }
}
