//! # spread
//!
//! Purpose: a partition in which threads share all they can: every thread is a replica of each stage that has what replicas may have. What they may not, and what joins it to that, is in stages of one
//! thread before, between and behind them. Input: problem, components, how many stages there may be. Output: [`Runs`], `None` where replicas would have nothing.
//!
//! ```text
//! three stages, two threads:   reader → A → B → C (state) → D → writer   →   [reader] [A B ×2] [C D writer]
//! five:                        reader → A → B → C (state) → D → writer   →   [reader] [A B ×2] [C] [D ×2] [writer]
//! ```
//!
//! However wrong the numbers are, replicas share evenly what is in their stages; solvers that minimise the slowest thread by the numbers do not look for that.
//!
//! What must hold: from replicas to replicas of another stage go no items that these look at again, since their maker has not got all of them (the judge sees to it). What takes such items goes into
//! the stage of one thread between the two, with all that it needs of the second.

use super::order::{Components, Runs};
use super::overlap::Overlap;
use super::problem::Problem;
use super::{Partition, Stage};

/// How often stages are mended.
const ROUNDS: usize = 16;

/// Deals components out to so many stages, an odd number: every other one has replicas.
pub fn spread(problem: &Problem<'_>, whole: &Components, stages: usize) -> Option<Runs> {
    let mut stage = vec![0; whole.len()];
    for i in 0..whole.len() {
        let before: usize = whole.last[i].iter().map(|(j, _)| stage[*j]).max().unwrap_or(0);
        let replicated = before % 2 == 1;
        stage[i] = if whole.stateless[i] == replicated { before } else { (before + 1).min(stages - 1) };
    }
    let replicas: Vec<usize> = (0..stages).map(|s| if s % 2 == 1 { problem.threads } else { 1 }).collect();
    for _ in 0..ROUNDS {
        if !mend(problem, whole, &mut stage, &replicas) {
            let shared = stage.iter().any(|s| s % 2 == 1) && problem.threads > 1;
            return shared.then_some(Runs { stage, replicas });
        }
    }
    None
}

/// Moves what looks again at items of other replicas into the stage before its own. Did anything?
fn mend(problem: &Problem<'_>, whole: &Components, stage: &mut [usize], replicas: &[usize]) -> bool {
    let graph = problem.graph;
    let (mut at, mut part) = (vec![0; graph.nodes.len()], vec![0; graph.nodes.len()]);
    let mut stages: Vec<Stage> = replicas.iter().map(|n| Stage { nodes: Vec::new(), replicas: *n }).collect();
    for (i, nodes) in whole.nodes.iter().enumerate() {
        nodes.iter().for_each(|v| (at[v.index()], part[v.index()]) = (stage[i], i));
        stages[stage[i]].nodes.extend(nodes);
    }
    stages.iter_mut().for_each(|s| s.nodes.sort());
    let overlap = Overlap::of(graph, problem.steady, &Partition { stages }, &at);
    let mut moved = Vec::new();
    for c in graph.channel_ids() {
        let channel = graph.channel(c);
        let (from, to) = (at[channel.from.0.index()], at[channel.to.0.index()]);
        let again = overlap.again[channel.to.0.index()].saturating_mul(channel.consume.into());
        let older = problem.steady.boundary_fill[c.index()].saturating_add(again);
        if from != to && from % 2 == 1 && to % 2 == 1 && older > 0 {
            moved.push((part[channel.to.0.index()], to));
        }
    }
    let any = !moved.is_empty();
    while let Some((i, from)) = moved.pop() {
        if stage[i] == from {
            stage[i] = from - 1;
            moved.extend(whole.last[i].iter().map(|(j, _)| (*j, from)));
        }
    }
    any
}
