//! # exact
//!
//! Purpose: the best partition by looking at all of them, for small graphs; what the heuristics are tested against. Input: problem, components, a
//! budget. Output: runs whose [`Value`](super::Value) none beats, or `None` where there are more partitions than the budget allows.
//!
//! Threads are dealt out to stages in every way; components go, in topological order, to every stage not before those of their producers. A
//! branch is left where its slowest stage is slower already than the best one found.

use super::order::{Components, Runs};
use super::problem::{Problem, Value};
use super::{Partition, judge};

/// Nodes of the search tree, where the result is for use.
pub const BUDGET: usize = 30_000;

struct Search<'a, 'p> {
    problem: &'a Problem<'p>,
    whole: &'a Components,
    left: usize,
    best: Option<(Value, Partition)>,
    runs: Runs,
    load: Vec<u64>,
}

/// Looks at all.
pub fn search(problem: &Problem<'_>, whole: &Components, budget: usize) -> Option<Partition> {
    // a graph that cannot be small is not even begun
    if whole.len() > 24 || problem.threads > 16 || whole.is_empty() {
        return None;
    }
    let mut search = Search {
        problem,
        whole,
        left: budget,
        best: None,
        runs: Runs { stage: vec![0; whole.len()], replicas: Vec::new() },
        load: Vec::new(),
    };
    search.deal(problem.threads.max(1))?;
    search.best.map(|b| b.1)
}

impl Search<'_, '_> {
    /// Every way to deal out threads to stages.
    fn deal(&mut self, left: usize) -> Option<()> {
        if !self.runs.replicas.is_empty() {
            self.load = vec![0; self.runs.replicas.len()];
            self.place(0)?;
        }
        // no more stages than components
        if self.runs.replicas.len() < self.whole.len() {
            for r in 1..=left {
                self.runs.replicas.push(r);
                self.deal(left - r)?;
                self.runs.replicas.pop();
            }
        }
        Some(())
    }

    /// Every place for component `i` and those after it.
    fn place(&mut self, i: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if i == self.whole.len() {
            let candidate = self.whole.partition(&self.runs);
            // one with a stage that is empty comes up without it
            if candidate.stages.len() == self.runs.replicas.len()
                && let Ok(v) = judge::verify(self.problem, candidate)
                && self.best.as_ref().is_none_or(|b| v.value() < b.0)
            {
                self.best = Some((v.value(), v.partition().clone()));
            }
            return Some(());
        }
        let least = self.whole.last[i].iter().map(|(j, _)| self.runs.stage[*j]).max().unwrap_or(0);
        for s in least..self.runs.replicas.len() {
            if self.runs.replicas[s] > 1 && !self.whole.stateless[i] {
                continue;
            }
            let before = self.load[s];
            self.load[s] = before.saturating_add(self.whole.load[i]);
            let so_far = u128::from(self.load[s]);
            let hopeless = self.best.as_ref().is_some_and(|(b, _)| {
                so_far * u128::from(b.replicas) > u128::from(b.cycles) * self.runs.replicas[s] as u128
            });
            if !hopeless {
                self.runs.stage[i] = s;
                self.place(i + 1)?;
            }
            self.load[s] = before;
        }
        Some(())
    }
}
