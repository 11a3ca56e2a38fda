//! What is to be cut into stages, and what a partition is worth.

use super::overlap::Overlap;
use super::{Partition, Stage};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::SteadyState;
use std::cmp::Ordering;

/// A graph, what it costs, and what must stay together. Expressions are not known here: costs are numbers.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The graph, without dynamic rates.
    pub graph: &'a SdfGraph,
    /// Its steady state.
    pub steady: &'a SteadyState,
    /// Cycles of a firing, by node.
    pub cycles: &'a [u64],
    /// Cycles that a thread spends for an item that it gives to another or takes from one, by channel.
    pub crossing: &'a [u64],
    /// Nodes that one thread must fire, for reasons that the graph does not show.
    pub together: &'a [Vec<NodeId>],
    /// The most threads.
    pub threads: usize,
    /// Steady states in a batch.
    pub batch: u64,
}

/// What a partition is worth; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Cycles of the slowest stage in a steady state...
    pub cycles: u64,
    /// ...which so many threads share.
    pub replicas: u64,
    /// Cycles spent for items that go from thread to thread, all stages together.
    pub crossing: u64,
    /// Threads.
    pub threads: usize,
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        let (a, b) = (u128::from(self.cycles), u128::from(other.cycles));
        (a * u128::from(other.replicas))
            .cmp(&(b * u128::from(self.replicas)))
            .then((self.threads, self.crossing).cmp(&(other.threads, other.crossing)))
            .then(self.cycles.cmp(&other.cycles))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Value {
    /// Cycles that a steady state takes in the long run.
    pub fn per_steady_state(&self) -> f64 {
        self.cycles as f64 / self.replicas.max(1) as f64
    }
}

impl Problem<'_> {
    /// Cycles of a node in a steady state.
    pub fn load(&self, v: NodeId) -> u64 {
        self.cycles.get(v.index()).copied().unwrap_or(0).saturating_mul(self.steady.repetitions[v.index()])
    }

    /// Cycles of all nodes in a steady state.
    pub fn total(&self) -> u64 {
        self.graph.node_ids().fold(0, |sum, v| sum.saturating_add(self.load(v)))
    }

    /// Cycles that each side of a channel spends in a steady state where it goes from thread to thread.
    pub fn toll(&self, c: ChannelId) -> u64 {
        let channel = self.graph.channel(c);
        let items = self.steady.repetitions[channel.to.0.index()].saturating_mul(u64::from(channel.consume));
        self.crossing.get(c.index()).copied().unwrap_or(0).saturating_mul(items)
    }

    /// May several threads fire this node in turn? Its firings must not depend on each other, nor be seen.
    pub fn is_stateless(&self, v: NodeId) -> bool {
        let node = self.graph.node(v);
        let kind = match node.kind {
            NodeKind::Filter { stateful, prints, dynamic, .. } => !stateful && !prints && !dynamic,
            NodeKind::Reader(_) | NodeKind::Writer(_) => false,
            _ => true,
        };
        kind && !self.together.iter().any(|t| t.contains(&v))
    }

    /// All nodes in one stage.
    pub fn one_stage(&self) -> Partition {
        Partition { stages: vec![Stage { nodes: self.graph.node_ids().collect(), replicas: 1 }] }
    }

    /// A bound: no partition's slowest thread has less to do. All the work on all threads, and the dearest node that cannot be replicated.
    pub fn least(&self) -> f64 {
        let alone = self.graph.node_ids().filter(|v| !self.is_stateless(*v)).map(|v| self.load(v)).max().unwrap_or(0);
        (self.total() as f64 / self.threads.max(1) as f64).max(alone as f64)
    }

    /// By node: its stage. `None` where the nodes are not each in one stage.
    pub fn stages_of(&self, partition: &Partition) -> Option<Vec<usize>> {
        let mut at = vec![usize::MAX; self.graph.nodes.len()];
        for (s, stage) in partition.stages.iter().enumerate() {
            for v in &stage.nodes {
                match at.get_mut(v.index()) {
                    Some(place) if *place == usize::MAX => *place = s,
                    _ => return None,
                }
            }
        }
        (!at.contains(&usize::MAX)).then_some(at)
    }

    /// By stage: cycles in a steady state, those for crossings and, for a replicated stage, those for firings made twice included.
    pub fn loads(&self, partition: &Partition, at: &[usize]) -> Vec<u64> {
        let mut loads = vec![0u64; partition.stages.len()];
        for v in self.graph.node_ids() {
            let sum = &mut loads[at[v.index()]];
            *sum = sum.saturating_add(self.load(v));
        }
        for c in self.graph.channel_ids() {
            let channel = self.graph.channel(c);
            let (from, to) = (at[channel.from.0.index()], at[channel.to.0.index()]);
            if from != to {
                loads[from] = loads[from].saturating_add(self.toll(c));
                loads[to] = loads[to].saturating_add(self.toll(c));
            }
        }
        let overlap = Overlap::of(self.graph, self.steady, partition, at);
        for v in self.graph.node_ids() {
            let again = overlap.again[v.index()].saturating_mul(self.cycles.get(v.index()).copied().unwrap_or(0));
            let sum = &mut loads[at[v.index()]];
            *sum = sum.saturating_add(again.div_ceil(self.batch.max(1)));
        }
        loads
    }

    /// What a partition is worth.
    pub fn value(&self, partition: &Partition, at: &[usize]) -> Value {
        let loads = self.loads(partition, at);
        let crossing = (self.graph.channel_ids())
            .filter(|c| at[self.graph.channel(*c).from.0.index()] != at[self.graph.channel(*c).to.0.index()])
            .fold(0u64, |sum, c| sum.saturating_add(self.toll(c).saturating_mul(2)));
        let mut worst = Value { cycles: 0, replicas: 1, crossing, threads: partition.threads() };
        for (load, stage) in loads.iter().zip(&partition.stages) {
            let one = Value { cycles: *load, replicas: stage.replicas.max(1) as u64, ..worst };
            worst = worst.max(one);
        }
        worst
    }
}
