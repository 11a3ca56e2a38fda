//! # minimum-latency
//!
//! Purpose: the reference order of docs/execution.md, for a program whose readers never end: every firing happens as early as the items
//! allow before a source fires again.
//! Input: graph, steady state. Output: a candidate [`SequentialSchedule`] of batch 1. Example, A pushes 2, B pops 3:
//! `A A B A B`. Limit: [`LONGEST`] firings.
//!
//! Its buffers are never larger than those of [`crate::single_appearance`] on a channel outside of feedback loops: there a producer
//! does all its firings of an epoch before its consumer does any, which is the most that any order can gather. Within a loop either
//! of the two may gather more, as both fire what they can, in different orders.

use crate::fold::fold;
use crate::sequential::{SequentialSchedule, Step, push_fire};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::*;
use sluice_frontend::messages::Precedence;
use sluice_frontend::steady_state::SteadyState;
use std::collections::BTreeSet;

/// Firings in an initialisation or a steady state, beyond which no such schedule is written out.
pub const LONGEST: u64 = 1 << 22;

/// Why there is no such schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// More than [`LONGEST`] firings.
    TooLong(u64),
    /// Nobody can fire, and the epoch is not over.
    Deadlock(NodeId),
}

struct State<'g> {
    graph: &'g SdfGraph,
    fill: Vec<u64>,
    fired: Vec<u64>,
    quota: Vec<u64>,
    ready: BTreeSet<NodeId>,
    /// Nodes in the order in which they ask for items.
    roots: Vec<NodeId>,
    /// The way from a root to the source that it waits for; and by node its place on that way. It stays true up to the first
    /// node that fires or is given items.
    way: Vec<NodeId>,
    on_way: Vec<Option<usize>>,
    /// What firings wait for so that they miss no message.
    precedences: &'g [Precedence],
    /// In the steady state, which must be right for all steady states: the repetition vector.
    repetitions: Option<&'g [u64]>,
}

/// The reference order as a schedule.
pub fn minimum_latency(graph: &SdfGraph, steady: &SteadyState) -> Result<SequentialSchedule, Failure> {
    for counts in [&steady.init, &steady.repetitions] {
        let total = counts.iter().fold(0u64, |a, b| a.saturating_add(*b));
        if total > LONGEST {
            return Err(Failure::TooLong(total));
        }
    }
    let mut s = State {
        graph,
        fill: graph.channels.iter().map(|c| c.initial.len() as u64).collect(),
        fired: vec![0; graph.nodes.len()],
        quota: steady.init.clone(),
        ready: BTreeSet::new(),
        roots: roots(graph),
        way: Vec::new(),
        on_way: vec![None; graph.nodes.len()],
        precedences: &steady.precedences,
        repetitions: None,
    };
    let init = s.epoch()?;
    s.repetitions = Some(&steady.repetitions);
    s.quota.iter_mut().zip(&steady.repetitions).for_each(|(q, r)| *q += r);
    let steady = s.epoch()?;
    Ok(SequentialSchedule { init: fold(init), steady: fold(steady), batch: 1 })
}

/// Roots: nodes that a reader reaches before free ones, sinks before others, each in program order.
fn roots(graph: &SdfGraph) -> Vec<NodeId> {
    let mut reached = vec![false; graph.nodes.len()];
    let mut queue: Vec<NodeId> =
        graph.node_ids().filter(|n| matches!(graph.node(*n).kind, NodeKind::Reader(_))).collect();
    let any = !queue.is_empty();
    while let Some(n) = queue.pop() {
        if !std::mem::replace(&mut reached[n.index()], true) {
            queue.extend(graph.node(n).outputs.iter().map(|c| graph.channel(*c).to.0));
        }
    }
    let mut all: Vec<NodeId> = graph.node_ids().collect();
    all.sort_by_key(|n| (any && !reached[n.index()], !graph.node(*n).outputs.is_empty(), *n));
    all
}

impl State<'_> {
    fn below_quota(&self, n: NodeId) -> bool {
        self.fired[n.index()] < self.quota[n.index()]
    }

    fn lacking(&self, n: NodeId) -> Option<ChannelId> {
        let firing = self.fired[n.index()];
        let inputs = &self.graph.node(n).inputs;
        inputs.iter().copied().find(|c| self.fill[c.index()] < u64::from(self.graph.needed_by_firing(*c, firing)))
    }

    /// A node has fired or was given items.
    fn note(&mut self, n: NodeId) {
        let source = self.graph.node(n).inputs.is_empty();
        if !source && self.below_quota(n) && self.waits_for(n).is_none() {
            self.ready.insert(n);
        } else {
            self.ready.remove(&n);
        }
        if let Some(place) = self.on_way[n.index()] {
            self.shorten(place);
        }
    }

    /// Forgets the way from this place on.
    fn shorten(&mut self, length: usize) {
        for n in self.way.drain(length..) {
            self.on_way[n.index()] = None;
        }
    }

    fn fire(&mut self, n: NodeId, out: &mut Vec<Step>) {
        let at = self.fired[n.index()];
        let node = self.graph.node(n);
        for c in &node.inputs {
            self.fill[c.index()] -= u64::from(self.graph.consumed_by_firing(*c, at));
        }
        for c in &node.outputs {
            self.fill[c.index()] += u64::from(self.graph.produced_by_firing(*c, at));
        }
        self.fired[n.index()] += 1;
        push_fire(out, n, 1);
        self.note(n);
        for c in &node.outputs {
            self.note(self.graph.channel(*c).to.0);
        }
        for p in self.precedences.iter().filter(|p| p.before == n) {
            self.note(p.after);
        }
    }

    /// Who has to fire before this node can: the producer of items that it lacks, or the sender of a message that it would miss.
    fn waits_for(&self, n: NodeId) -> Option<NodeId> {
        if let Some(c) = self.lacking(n) {
            return Some(self.graph.channel(c).from.0);
        }
        let firing = self.fired[n.index()] + 1;
        let need = |p: &Precedence| match self.repetitions {
            None => p.need.at(firing),
            Some(r) => p.need_in_any_state(firing, r),
        };
        let mut waits = self.precedences.iter().filter(|p| p.after == n);
        waits.find(|p| self.fired[p.before.index()] < need(p)).map(|p| p.before)
    }

    fn epoch(&mut self) -> Result<Vec<Step>, Failure> {
        let mut out = Vec::new();
        for n in self.graph.node_ids() {
            self.note(n);
        }
        let mut first_root = 0;
        loop {
            while let Some(n) = self.ready.last().copied() {
                self.fire(n, &mut out);
            }
            // a node that has fired its share stays so in this epoch
            while self.roots.get(first_root).is_some_and(|n| !self.below_quota(*n)) {
                first_root += 1;
            }
            let mut source = None;
            for i in first_root..self.roots.len() {
                let root = self.roots[i];
                if self.below_quota(root) {
                    source = self.wanted(root);
                }
                if source.is_some() {
                    break;
                }
            }
            match source {
                Some(n) => self.fire(n, &mut out),
                None => break,
            }
        }
        match self.graph.node_ids().find(|n| self.below_quota(*n)) {
            Some(n) => Err(Failure::Deadlock(n)),
            None => Ok(out),
        }
    }

    /// The source that a node waits for.
    fn wanted(&mut self, root: NodeId) -> Option<NodeId> {
        if self.way.first() != Some(&root) {
            self.shorten(0);
        }
        let mut n = match self.way.last() {
            // the node that it waits for has changed since: from there on the way is walked anew
            Some(last) => match self.waits_for(*last) {
                Some(next) => next,
                None => return self.is_wanted_source(*last),
            },
            None => root,
        };
        loop {
            if self.on_way[n.index()].is_some() {
                // a way that returns to itself: asked again, it is walked again
                self.shorten(0);
                return None;
            }
            self.on_way[n.index()] = Some(self.way.len());
            self.way.push(n);
            match self.waits_for(n) {
                Some(next) => n = next,
                None => return self.is_wanted_source(n),
            }
        }
    }

    fn is_wanted_source(&self, n: NodeId) -> Option<NodeId> {
        (self.graph.node(n).inputs.is_empty() && self.below_quota(n)).then_some(n)
    }
}
