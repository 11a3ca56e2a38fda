//! # finish
//!
//! Purpose: from processors to stages, and from both to a whole schedule. Input: problem, processor (and stage) by instance, II. Output: the least
//! stages that the processors allow; a [`ModuloSchedule`] with starts.
//!
//! Why no start has to be chosen: let v wait for u with a distance, and λ = f(v) + distance − f(u) be the kernels between them. On two processors λ
//! must be 1, on one it must be 0, and only where it *is* 0 has u to run before v. Around a cycle the λ add up to its
//! distances, which is at least 1; so "runs before" has no cycles, any order that keeps to it will do, and prefix sums are the starts:
//! `λ ≥ 1 if the processors differ, else 0` is all that equations (4) and (8) of paper 001 ask for. The heuristics' [`crate::solver::complete`] fixes the
//! order first and needs no such search.

use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use crate::solver::arcs::ranks;
use crate::solver::complete::longest;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The least stages: longest paths with a step of 1 where processors differ, less the distance. `None` where a cycle of dependences crosses
/// more often than its distance allows.
pub fn least_stages(problem: &ModuloProblem, processor: &[u32]) -> Option<Vec<u32>> {
    longest(problem, |d| i64::from(processor[d.from] != processor[d.to]) - d.distance as i64).ok()
}

/// A whole schedule with the II that the processors need. Among instances that may run in any order, the one with the
/// smaller `wish` comes first. `None` where the stages break a dependence.
pub fn arrange(problem: &ModuloProblem, processor: &[u32], stage: &[u32], wish: &[f64]) -> Option<ModuloSchedule> {
    let n = problem.instances();
    let place = ranks(problem);
    let (mut waits, mut next) = (vec![0u32; n], vec![Vec::new(); n]);
    for d in problem.dependences() {
        let kernels = i64::from(stage[d.to]) + d.distance as i64 - i64::from(stage[d.from]);
        let crosses = processor[d.from] != processor[d.to];
        if kernels < i64::from(crosses) {
            return None;
        }
        if kernels == 0 {
            waits[d.to] += 1;
            next[d.from].push(d.to);
        }
    }
    // Whole numbers as keys: floats have no order that a heap takes.
    let mut by_wish: Vec<usize> = (0..n).collect();
    by_wish.sort_by(|a, b| wish[*a].total_cmp(&wish[*b]).then(place[*a].cmp(&place[*b])));
    let mut key = vec![0; n];
    by_wish.iter().enumerate().for_each(|(k, i)| key[*i] = k);
    let mut ready: BinaryHeap<Reverse<(usize, usize)>> =
        (0..n).filter(|i| waits[*i] == 0).map(|i| Reverse((key[i], i))).collect();
    let (mut start, mut busy, mut done) = (vec![0; n], vec![0u64; problem.processors() as usize], 0);
    while let Some(Reverse((_, i))) = ready.pop() {
        let p = processor[i] as usize;
        start[i] = busy[p];
        busy[p] += problem.cost(i);
        done += 1;
        for to in &next[i] {
            waits[*to] -= 1;
            if waits[*to] == 0 {
                ready.push(Reverse((key[*to], *to)));
            }
        }
    }
    let least = stage.iter().min().copied().unwrap_or(0);
    let stage = stage.iter().map(|s| s - least).collect();
    let ii = busy.iter().max().copied().unwrap_or(0);
    (done == n).then(|| ModuloSchedule { ii, processor: processor.to_vec(), start, stage })
}
