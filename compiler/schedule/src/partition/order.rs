//! Components of a graph (what must stay in one stage) and topological orders of them.

use super::problem::Problem;
use super::{Partition, Stage};
use sluice_frontend::components::components_of;
use sluice_frontend::ids::NodeId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The components, in a topological order, and what goes between them.
#[derive(Clone, Debug)]
pub struct Components {
    /// Their nodes, in ascending order.
    pub nodes: Vec<Vec<NodeId>>,
    /// Cycles in a steady state.
    pub load: Vec<u64>,
    /// May a stage with it be replicated?
    pub stateless: Vec<bool>,
    /// By component: those it gives items to, and the cycles that each side spends for them where they are apart.
    pub next: Vec<Vec<(usize, u64)>>,
    /// By component: those it takes items from.
    pub last: Vec<Vec<(usize, u64)>>,
}

/// Stages of components: by component its stage, and by stage the threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// By component.
    pub stage: Vec<usize>,
    /// By stage.
    pub replicas: Vec<usize>,
}

impl Components {
    /// Those of a problem.
    pub fn of(problem: &Problem<'_>) -> Components {
        let graph = problem.graph;
        let all: Vec<NodeId> = graph.node_ids().collect();
        let mut edges: Vec<(NodeId, NodeId)> = graph.channels.iter().map(|c| (c.from.0, c.to.0)).collect();
        for tied in problem.together {
            // a ring ties its nodes together as a feedback loop does
            edges.extend(tied.iter().zip(tied.iter().cycle().skip(1)).map(|(a, b)| (*a, *b)));
        }
        let mut nodes = components_of(&all, &edges);
        nodes.iter_mut().for_each(|part| part.sort());
        let mut part = vec![0; graph.nodes.len()];
        for (i, members) in nodes.iter().enumerate() {
            members.iter().for_each(|v| part[v.index()] = i);
        }
        let mut between: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut stateless: Vec<bool> =
            nodes.iter().map(|part| part.len() == 1 && problem.is_stateless(part[0])).collect();
        for c in graph.channel_ids() {
            let channel = graph.channel(c);
            let (a, b) = (part[channel.from.0.index()], part[channel.to.0.index()]);
            // a loop, or against program order, which replicas go by
            if a == b || channel.feedback || channel.from.0 >= channel.to.0 {
                (stateless[a], stateless[b]) = (false, false);
            }
            if a != b {
                let sum = between.entry((a, b)).or_default();
                *sum = sum.saturating_add(problem.toll(c));
            }
        }
        let (mut next, mut last) = (vec![Vec::new(); nodes.len()], vec![Vec::new(); nodes.len()]);
        for ((a, b), toll) in between {
            next[a].push((b, toll));
            last[b].push((a, toll));
        }
        let load = nodes.iter().map(|part| part.iter().fold(0u64, |s, v| s.saturating_add(problem.load(*v)))).collect();
        Components { nodes, load, stateless, next, last }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Some topological orders: the program's; branch after branch, the dearest last; level by level.
    pub fn orders(&self) -> Vec<Vec<usize>> {
        let mut level = vec![0usize; self.len()];
        for i in 0..self.len() {
            for (j, _) in &self.next[i] {
                level[*j] = level[*j].max(level[i] + 1);
            }
        }
        let mut orders = vec![(0..self.len()).collect(), self.kahn(|i| (level[i], i)), self.depth_first()];
        orders.dedup();
        orders
    }

    /// The order in which, of those that could come next, the one with the least rank does.
    fn kahn<K: Ord>(&self, rank: impl Fn(usize) -> K) -> Vec<usize> {
        let mut waits: Vec<usize> = self.last.iter().map(Vec::len).collect();
        let mut ready: BinaryHeap<Reverse<(K, usize)>> =
            (0..self.len()).filter(|i| waits[*i] == 0).map(|i| Reverse((rank(i), i))).collect();
        let mut out = Vec::with_capacity(self.len());
        while let Some(Reverse((_, i))) = ready.pop() {
            out.push(i);
            for (j, _) in &self.next[i] {
                waits[*j] -= 1;
                if waits[*j] == 0 {
                    ready.push(Reverse((rank(*j), *j)));
                }
            }
        }
        out
    }

    /// As late as possible: from the sinks backwards, each after all it gives items to; turned around.
    fn depth_first(&self) -> Vec<usize> {
        let mut waits: Vec<usize> = self.next.iter().map(Vec::len).collect();
        let mut stack: Vec<usize> = (0..self.len()).filter(|i| waits[*i] == 0).collect();
        let mut out = Vec::with_capacity(self.len());
        while let Some(i) = stack.pop() {
            out.push(i);
            let mut freed = Vec::new();
            for (j, _) in &self.last[i] {
                waits[*j] -= 1;
                if waits[*j] == 0 {
                    freed.push(*j);
                }
            }
            freed.sort_by_key(|j| (self.load[*j], *j));
            stack.extend(freed);
        }
        out.reverse();
        out
    }

    /// As stages of nodes; stages that are empty fall away.
    pub fn partition(&self, runs: &Runs) -> Partition {
        let mut stages: Vec<Stage> = runs.replicas.iter().map(|r| Stage { nodes: Vec::new(), replicas: *r }).collect();
        for (i, s) in runs.stage.iter().enumerate() {
            stages[*s].nodes.extend(&self.nodes[i]);
        }
        stages.retain(|s| !s.nodes.is_empty());
        stages.iter_mut().for_each(|s| s.nodes.sort());
        Partition { stages }
    }
}
