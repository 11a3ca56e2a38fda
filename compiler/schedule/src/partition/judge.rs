//! # judge of partitions
//!
//! Purpose: refuses stages that would not do what one thread does, knowing nothing of how they were made. Input: problem, candidate. Output:
//! [`Verified`], or the [`Violation`]s.

use super::overlap::Overlap;
use super::problem::{Problem, Value};
use super::{Partition, Stage};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::SteadyState;

/// Stages that the judge has passed.
#[derive(Clone, Debug)]
pub struct Verified {
    partition: Partition,
    stages: Vec<usize>,
    overlap: Overlap,
    loads: Vec<u64>,
    value: Value,
    batch: u64,
}

impl Verified {
    /// The stages.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The stages, in topological order.
    pub fn stages(&self) -> &[Stage] {
        &self.partition.stages
    }

    /// The number of a node's stage.
    pub fn stage_of(&self, v: NodeId) -> usize {
        self.stages[v.index()]
    }

    /// What replicated stages do twice.
    pub fn overlap(&self) -> &Overlap {
        &self.overlap
    }

    /// By stage: cycles in a steady state, as far as the problem's numbers go.
    pub fn loads(&self) -> &[u64] {
        &self.loads
    }

    /// Steady states of a batch, as the problem has them.
    pub fn batch(&self) -> u64 {
        self.batch
    }

    /// What they are worth.
    pub fn value(&self) -> Value {
        self.value
    }

    /// Everything in one stage needs no judge.
    pub fn one_stage(problem: &Problem<'_>) -> Verified {
        let (partition, at) = (problem.one_stage(), vec![0; problem.graph.nodes.len()]);
        let overlap = Overlap::of(problem.graph, problem.steady, &partition, &at);
        Verified::new(problem, partition, at, overlap)
    }

    fn new(problem: &Problem<'_>, partition: Partition, stages: Vec<usize>, overlap: Overlap) -> Verified {
        Verified {
            overlap,
            loads: problem.loads(&partition, &stages),
            value: problem.value(&partition, &stages),
            batch: problem.batch,
            stages,
            partition,
        }
    }
}

/// A rule broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A node is in no stage, or in several, or there is no such node.
    NotInOneStage(NodeId),
    /// A stage without nodes or without threads.
    EmptyStage(usize),
    /// The nodes of a stage are not in ascending order.
    Disorder(usize),
    /// A channel leads to an earlier stage.
    Backward(ChannelId),
    /// Nodes that must stay together do not.
    Apart(NodeId, NodeId),
    /// A replicated stage has a node whose firings depend on each other, or are seen.
    Stateful(NodeId),
    /// A replicated stage has a feedback loop.
    Feedback(ChannelId),
    /// A replicated stage makes again what an earlier batch than the one before has made.
    TooShort(NodeId),
    /// A channel from a replicated stage to another brings items along: their maker has not got all of them.
    NobodyHas(ChannelId),
    /// More threads than there are.
    TooManyThreads(usize),
}

/// Passes stages, or says all that is wrong.
pub fn verify(problem: &Problem<'_>, partition: Partition) -> Result<Verified, Vec<Violation>> {
    let Problem { graph, steady, .. } = problem;
    let mut wrong = Vec::new();
    let mut seen = vec![0u32; graph.nodes.len()];
    let mut at = vec![0; graph.nodes.len()];
    for (s, stage) in partition.stages.iter().enumerate() {
        if stage.nodes.is_empty() || stage.replicas == 0 {
            wrong.push(Violation::EmptyStage(s));
        }
        if !stage.nodes.is_sorted_by(|a, b| a < b) {
            wrong.push(Violation::Disorder(s));
        }
        for v in &stage.nodes {
            match seen.get_mut(v.index()) {
                Some(n) => {
                    *n += 1;
                    at[v.index()] = s;
                }
                None => wrong.push(Violation::NotInOneStage(*v)),
            }
        }
    }
    wrong.extend(graph.node_ids().filter(|v| seen[v.index()] != 1).map(Violation::NotInOneStage));
    if partition.threads() > problem.threads.max(1) {
        wrong.push(Violation::TooManyThreads(partition.threads()));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let replicated = |s: usize| partition.stages[s].replicas > 1;
    for c in graph.channel_ids() {
        let channel = graph.channel(c);
        let (from, to) = (channel.from.0, channel.to.0);
        if at[from.index()] > at[to.index()] {
            wrong.push(Violation::Backward(c));
        }
    }
    feedback(graph, &partition, &at, &mut wrong);
    for tied in problem.together {
        if let Some(first) = tied.first() {
            let other = tied.iter().filter(|v| at[v.index()] != at[first.index()]);
            wrong.extend(other.map(|v| Violation::Apart(*first, *v)));
        }
    }
    for v in graph.node_ids() {
        if replicated(at[v.index()]) && !problem.is_stateless(v) {
            wrong.push(Violation::Stateful(v));
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let overlap = twice(graph, steady, &partition, &at, problem.batch)?;
    Ok(Verified::new(problem, partition, at, overlap))
}

/// Replicated stages have no feedback: what comes later in program order comes later on every channel.
pub(super) fn feedback(graph: &SdfGraph, partition: &Partition, at: &[usize], wrong: &mut Vec<Violation>) {
    for c in graph.channel_ids() {
        let channel = graph.channel(c);
        let (from, to) = (channel.from.0, channel.to.0);
        // program order is topological but for what closes a loop
        let within = at[from.index()] == at[to.index()] && partition.stages[at[to.index()]].replicas > 1;
        if within && (channel.feedback || from >= to) {
            wrong.push(Violation::Feedback(c));
        }
    }
}

/// What replicated stages without feedback do twice, where they can. `at`: by node, its stage; `batch`: steady states.
pub(super) fn twice(
    graph: &SdfGraph,
    steady: &SteadyState,
    partition: &Partition,
    at: &[usize],
    batch: u64,
) -> Result<Overlap, Vec<Violation>> {
    let full = Overlap::in_vectors(graph, steady, partition, at, batch);
    let fits = fitting(graph, steady, partition, at, (full, batch));
    fits.or_else(|_| fitting(graph, steady, partition, at, (Overlap::of(graph, steady, partition, at), batch)))
}

/// What stages do twice, if they can.
fn fitting(
    graph: &SdfGraph,
    steady: &SteadyState,
    partition: &Partition,
    at: &[usize],
    (overlap, batch): (Overlap, u64),
) -> Result<Overlap, Vec<Violation>> {
    let mut wrong = Vec::new();
    let replicated = |s: usize| partition.stages[s].replicas > 1;
    for v in graph.node_ids().filter(|v| replicated(at[v.index()])) {
        let batch = steady.repetitions[v.index()].saturating_mul(batch);
        if overlap.again[v.index()] > batch {
            wrong.push(Violation::TooShort(v));
        }
    }
    for c in graph.channel_ids() {
        let channel = graph.channel(c);
        let (from, to) = (at[channel.from.0.index()], at[channel.to.0.index()]);
        let popped = overlap.again[channel.to.0.index()].saturating_mul(u64::from(channel.consume));
        if from != to
            && replicated(from)
            && replicated(to)
            && steady.boundary_fill[c.index()].saturating_add(popped) > 0
        {
            wrong.push(Violation::NobodyHas(c));
        }
    }
    if wrong.is_empty() { Ok(overlap) } else { Err(wrong) }
}
