//! # minimum-latency
//!
//! Purpose: the reference order of docs/execution.md, for a program whose readers never end: every firing happens as early as the items
//! allow before a source fires again.
//! Input: graph, steady state. Output: a candidate [`SequentialSchedule`] of batch 1. Example, A pushes 2, B pops 3:
//! `A A B A B`. Limit: [`LONGEST`] firings.

use crate::sequential::{SequentialSchedule, Step};
use crate::single_appearance::push_fire;
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
    precedences: &'g [Precedence],
    /// In the steady state, which must be right for all steady states: the repetition vector.
    repetitions: Option<&'g [u64]>,
    fill: Vec<u64>,
    fired: Vec<u64>,
    quota: Vec<u64>,
    ready: BTreeSet<NodeId>,
    /// Nodes in the order in which they ask for items.
    roots: Vec<NodeId>,
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
        precedences: &steady.precedences,
        repetitions: None,
        fill: graph.channels.iter().map(|c| c.initial.len() as u64).collect(),
        fired: vec![0; graph.nodes.len()],
        quota: steady.init.clone(),
        ready: BTreeSet::new(),
        roots: roots(graph),
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
    fn has_items(&self, n: NodeId) -> bool {
        self.lacking(n).is_none()
    }

    fn lacking(&self, n: NodeId) -> Option<ChannelId> {
        let firing = self.fired[n.index()];
        let inputs = &self.graph.node(n).inputs;
        inputs.iter().copied().find(|c| self.fill[c.index()] < u64::from(self.graph.needed_by_firing(*c, firing)))
    }

    fn note(&mut self, n: NodeId) {
        let source = self.graph.node(n).inputs.is_empty();
        let below = self.fired[n.index()] < self.quota[n.index()];
        if !source && below && self.has_items(n) && self.waits_for(n).is_none() {
            self.ready.insert(n);
        } else {
            self.ready.remove(&n);
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

    /// The sender of a message that this node's next firing must not miss.
    fn waits_for(&self, n: NodeId) -> Option<NodeId> {
        let firing = self.fired[n.index()] + 1;
        let mut waits = self.precedences.iter().filter(|p| p.after == n);
        let need = |p: &Precedence| match self.repetitions {
            None => p.need.at(firing),
            Some(r) => p.need_in_any_state(firing, r),
        };
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
            let mut source = None;
            let mut from = first_root;
            while from < self.roots.len() && source.is_none() {
                let root = self.roots[from];
                if self.fired[root.index()] >= self.quota[root.index()] {
                    // a node that has fired its share stays so in this epoch
                    if from == first_root {
                        first_root += 1;
                    }
                } else {
                    source = self.wanted(root);
                }
                from += 1;
            }
            match source {
                Some(n) => self.fire(n, &mut out),
                None => break,
            }
        }
        match self.graph.node_ids().find(|n| self.fired[n.index()] < self.quota[n.index()]) {
            Some(n) => Err(Failure::Deadlock(n)),
            None => Ok(out),
        }
    }

    /// The source that a node waits for.
    fn wanted(&self, root: NodeId) -> Option<NodeId> {
        let mut seen = BTreeSet::new();
        let mut n = root;
        loop {
            if !seen.insert(n) {
                return None;
            }
            n = match (self.lacking(n), self.waits_for(n)) {
                (Some(c), _) => self.graph.channel(c).from.0,
                (None, Some(sender)) => sender,
                (None, None) => {
                    let source = self.graph.node(n).inputs.is_empty();
                    return (source && self.fired[n.index()] < self.quota[n.index()]).then_some(n);
                }
            };
        }
    }
}

/// Folds immediate repetitions of up to 16 steps into loops.
fn fold(steps: Vec<Step>) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::new();
    let mut i = 0;
    while i < steps.len() {
        let mut best = (1, 1);
        for len in 1..=16.min((steps.len() - i) / 2) {
            let mut times = 1;
            while i + (times + 1) * len <= steps.len()
                && steps[i + times * len..i + (times + 1) * len] == steps[i..i + len]
            {
                times += 1;
            }
            if times > 1 && len * times > best.0 * best.1 {
                best = (len, times);
            }
        }
        let (len, times) = best;
        if times > 1 {
            out.push(Step::Loop { times: times as u64, body: steps[i..i + len].to_vec() });
        } else {
            out.push(steps[i].clone());
        }
        i += len * times;
    }
    out
}
