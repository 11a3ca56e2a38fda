//! Running a part of a graph with counts alone: each node fires in bulk, as often as its items allow, until every node has reached
//! its goal or waits. A node goes beyond its goal where another one needs it to. Channels from outside the part are taken to be full.

use crate::graph::SdfGraph;
use crate::ids::*;
use std::collections::VecDeque;

/// Why a run ends early.
pub enum Halt {
    /// Nodes below their goal, each with a channel that lacks so many items.
    Waits(Vec<(NodeId, ChannelId, u64)>),
    /// Too many steps.
    Patience(NodeId),
}

/// Counts of firings and items.
pub struct Bench<'g> {
    graph: &'g SdfGraph,
    fill: Vec<u64>,
    fired: Vec<u64>,
    /// Goals, and what was added to them.
    limit: Vec<u64>,
    queued: Vec<bool>,
    patience: u64,
}

impl<'g> Bench<'g> {
    /// A bench that may take this many steps.
    pub fn new(graph: &'g SdfGraph, patience: u64) -> Bench<'g> {
        Bench {
            graph,
            fill: vec![0; graph.channels.len()],
            fired: vec![0; graph.nodes.len()],
            limit: vec![0; graph.nodes.len()],
            queued: vec![false; graph.nodes.len()],
            patience,
        }
    }

    /// Takes one of the steps.
    pub fn step(&mut self) -> Result<(), ()> {
        self.patience = self.patience.checked_sub(1).ok_or(())?;
        Ok(())
    }

    /// Sets a part to its start.
    pub fn put(&mut self, part: &[NodeId], initial: &[u64]) {
        for n in part {
            self.fired[n.index()] = 0;
            for c in &self.graph.node(*n).inputs {
                self.fill[c.index()] = initial[c.index()];
            }
        }
    }

    /// Fires until every node of the part has reached its goal. Counts must stay below 2^63.
    pub fn run(
        &mut self,
        part: &[NodeId],
        inside: impl Fn(ChannelId) -> bool,
        goal: impl Fn(NodeId) -> u64,
    ) -> Result<(), Halt> {
        let graph = self.graph;
        let mut queue: VecDeque<NodeId> = part.iter().copied().collect();
        for n in part {
            self.queued[n.index()] = true;
            self.limit[n.index()] = goal(*n);
        }
        while let Some(n) = queue.pop_front() {
            self.queued[n.index()] = false;
            let mut did = false;
            while self.fired[n.index()] < self.limit[n.index()] {
                let times = self.possible(n, &inside);
                if times == 0 {
                    self.ask(n, &inside, &mut queue);
                    break;
                }
                if self.step().is_err() {
                    queue.iter().for_each(|n| self.queued[n.index()] = false);
                    return Err(Halt::Patience(n));
                }
                self.fire(n, times, &inside);
                did = true;
            }
            if did {
                for c in graph.node(n).outputs.iter().filter(|c| inside(**c)) {
                    self.queue(graph.channel(*c).to.0, &mut queue);
                }
            }
        }
        let mut waiting = Vec::new();
        for n in part.iter().copied().filter(|n| self.fired[n.index()] < self.limit[n.index()]) {
            for c in graph.node(n).inputs.iter().filter(|c| inside(**c)) {
                if let Some(lacks) = self.lacks(n, *c) {
                    waiting.push((n, *c, lacks));
                }
            }
        }
        if waiting.is_empty() { Ok(()) } else { Err(Halt::Waits(waiting)) }
    }

    fn queue(&mut self, n: NodeId, queue: &mut VecDeque<NodeId>) {
        if !std::mem::replace(&mut self.queued[n.index()], true) {
            queue.push_back(n);
        }
    }

    /// The items that a channel lacks for a node's next firing.
    fn lacks(&self, n: NodeId, c: ChannelId) -> Option<u64> {
        let need = u64::from(self.graph.needed_by_firing(c, self.fired[n.index()]));
        need.checked_sub(self.fill[c.index()]).filter(|l| *l > 0)
    }

    /// Lets those that have reached their goal go on, where a node waits for them.
    fn ask(&mut self, n: NodeId, inside: &impl Fn(ChannelId) -> bool, queue: &mut VecDeque<NodeId>) {
        let graph = self.graph;
        for c in graph.node(n).inputs.iter().filter(|c| inside(**c)) {
            let from = graph.channel(*c).from.0;
            let rests = self.fired[from.index()] >= self.limit[from.index()];
            if let (Some(lacks), true) = (self.lacks(n, *c), rests) {
                let made = u64::from(graph.channel(*c).produce.max(1));
                self.limit[from.index()] = self.fired[from.index()] + lacks.div_ceil(made);
                self.queue(from, queue);
            }
        }
    }

    /// How often a node can fire now, up to its limit.
    fn possible(&self, n: NodeId, inside: &impl Fn(ChannelId) -> bool) -> u64 {
        let at = self.fired[n.index()];
        // the first firing may differ from the others: it goes alone
        let left = if at == 0 { 1 } else { self.limit[n.index()] - at };
        self.graph.node(n).inputs.iter().filter(|c| inside(**c)).fold(left, |times, c| {
            let (need, mut take) = (self.graph.needed_by_firing(*c, at), self.graph.consumed_by_firing(*c, at));
            if self.graph.channel(*c).from.0 == n {
                // a channel from the node to itself gets back what it loses
                take = take.saturating_sub(self.graph.produced_by_firing(*c, at));
            }
            match self.fill[c.index()].checked_sub(need.into()) {
                None => 0,
                Some(_) if take == 0 => times,
                Some(spare) => times.min(spare / u64::from(take) + 1),
            }
        })
    }

    fn fire(&mut self, n: NodeId, times: u64, inside: &impl Fn(ChannelId) -> bool) {
        let at = self.fired[n.index()];
        let node = self.graph.node(n);
        for c in node.outputs.iter().filter(|c| inside(**c)) {
            self.fill[c.index()] += times * u64::from(self.graph.produced_by_firing(*c, at));
        }
        for c in node.inputs.iter().filter(|c| inside(**c)) {
            self.fill[c.index()] -= times * u64::from(self.graph.consumed_by_firing(*c, at));
        }
        self.fired[n.index()] += times;
    }
}
