//! # partition
//!
//! Purpose: decoupled software pipelining: a program as stages, one thread each (or several for a stage without state), that hand each other batches of steady states.
//! Input: [`Problem`], the flat graph with numbers for what its firings cost. Output: [`Verified`] stages from [`judge::verify`], the only one that makes them.
//!
//! ```text
//! source 1 → filter 6 (no state) → filter 4 (state) → sink 1, four threads   →   [source] [filter ×2] [filter sink], bottleneck 5 of 12
//! ```
//!
//! What must stay together (feedback loops, what the caller ties) becomes a component; components are put into a topological order and that
//! into runs ([`order`], [`runs`]), so that each channel stays in its stage or leads forward. [`improve`] moves single components where
//! several orders are possible; [`exact`] tries everything, where that is little. [`overlap`] says what a replicated stage must see of the batch before.
//!
//! The slowest thread decides how fast a pipeline is. Solvers minimise that; [`Problem::least`] is a bound that no partition can beat.
//! Sources: G. Ottoni, R. Rangan, A. Stoler, D. August, "Automatic thread extraction with decoupled software pipelining", MICRO 2005
//! (components, clusters without cycles); E. Raman et al., "Parallel-stage decoupled software pipelining", CGO 2008 (replicas).

pub mod exact;
pub mod improve;
pub mod judge;
pub mod order;
pub mod overlap;
pub mod problem;
pub mod regions;
pub mod runs;
pub mod simulate;
pub mod spread;

pub use judge::{Verified, Violation, verify};
pub use problem::{Problem, Value};

use sluice_frontend::ids::NodeId;

/// A stage: nodes that one thread fires, or several threads in turn, batch by batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its nodes, in ascending order.
    pub nodes: Vec<NodeId>,
    /// How many threads run it, each every so many batches. More than one only where no firing depends on an earlier one.
    pub replicas: usize,
}

/// Stages in topological order: channels lead from earlier ones to later ones, or stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// The stages.
    pub stages: Vec<Stage>,
}

impl Partition {
    /// Threads that it takes.
    pub fn threads(&self) -> usize {
        self.stages.iter().map(|s| s.replicas).sum()
    }
}

/// The best partition found for at most as many threads as the problem has. A partition that gains nothing is one stage.
pub fn solve(problem: &Problem<'_>) -> Verified {
    let whole = order::Components::of(problem);
    let mut best = verified(problem, problem.one_stage()).unwrap_or_else(|| Verified::one_stage(problem));
    let mut consider = |candidate: Option<Partition>| {
        if let Some(v) = candidate.and_then(|p| verified(problem, p))
            && v.value() < best.value()
        {
            best = v;
        }
    };
    if let Some(exact) = exact::search(problem, &whole, exact::BUDGET) {
        consider(Some(exact));
        return best;
    }
    for order in whole.orders() {
        for replicate in [true, false] {
            let Some(runs) = runs::cut(problem, &whole, &order, replicate) else { continue };
            consider(Some(whole.partition(&runs)));
            let improved = improve::improve(&whole, runs);
            consider(Some(whole.partition(&improved)));
        }
    }
    best
}

/// Partitions in which threads share all that they can ([`mod@spread`]), whatever the numbers say: as many as they are have each stage
/// of replicas, and what is before, between and behind these comes to them besides. None where that is nothing, or the judge refuses it.
pub fn spread(problem: &Problem<'_>) -> Vec<Verified> {
    let whole = order::Components::of(problem);
    let made = [3, 5].into_iter().filter_map(|stages| {
        let partition = whole.partition(&spread::spread(problem, &whole, stages)?);
        verified(&Problem { threads: partition.threads(), ..*problem }, partition)
    });
    made.collect()
}

fn verified(problem: &Problem<'_>, partition: Partition) -> Option<Verified> {
    verify(problem, partition).ok()
}
