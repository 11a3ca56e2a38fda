//! # complete
//!
//! Purpose: from an assignment of instances to processors to a whole schedule. Input: problem, processor by instance, II. Output: a
//! [`ModuloSchedule`] with the fewest stages for the order it chooses, or what stands against it.
//! Method (algorithms.md, section 2): the instances of a processor run one after the other without gaps, those that others wait for
//! first; the stages are then longest paths ([`longest`]): a dependence needs `f(v) ≥ f(u) − distance + 1` where it crosses processors or where
//! v starts before u ends, and one less otherwise.

use super::arcs::ranks;
use crate::problem::dependences::Dependence;
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};

/// Why an assignment has no schedule in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// More work than fits into the interval.
    Full {
        /// On this processor.
        processor: u32,
        /// Its work, in cycles.
        work: u64,
    },
    /// A cycle of dependences that leaves a processor more often than its distance allows; the instances on it.
    Cycle(Vec<usize>),
}

/// Completes an assignment; instances of a processor in the problem's topological order.
pub fn complete(problem: &ModuloProblem, processor: &[u32], ii: u64) -> Result<ModuloSchedule, Failure> {
    let mut busy = vec![0u64; problem.processors() as usize];
    let mut start = vec![0; problem.instances()];
    for i in problem.topological() {
        let p = processor[*i];
        start[*i] = busy[p as usize];
        busy[p as usize] += problem.cost(*i);
    }
    for (p, work) in busy.iter().enumerate() {
        if *work > ii {
            return Err(Failure::Full { processor: p as u32, work: *work });
        }
    }
    let stage = stages(problem, processor, &start).map_err(Failure::Cycle)?;
    Ok(ModuloSchedule { ii, processor: processor.to_vec(), start, stage })
}

/// How many kernels later than its producer's iteration says a consumer must run at least: 0 or 1, minus the distance.
pub fn lag(problem: &ModuloProblem, processor: &[u32], start: &[u64], d: &Dependence) -> i64 {
    let same = processor[d.from] == processor[d.to];
    let ready = same && start[d.from] + problem.cost(d.from) <= start[d.to];
    i64::from(!ready) - d.distance as i64
}

/// The least stages for given processors and starts, or a cycle that stands against them.
pub fn stages(problem: &ModuloProblem, processor: &[u32], start: &[u64]) -> Result<Vec<u32>, Vec<usize>> {
    longest(problem, |d| lag(problem, processor, start, d))
}

/// Longest paths, each dependence a step of so many, the least of them 0; a cycle of steps that add up to more than 0 is an error. By rounds
/// over all dependences, in an order that mostly settles them at once.
pub fn longest(problem: &ModuloProblem, step: impl Fn(&Dependence) -> i64) -> Result<Vec<u32>, Vec<usize>> {
    let n = problem.instances();
    let place = ranks(problem);
    let mut arcs: Vec<(usize, usize, i64)> = problem.dependences().iter().map(|d| (d.from, d.to, step(d))).collect();
    arcs.sort_unstable_by_key(|(from, ..)| place[*from]);
    let mut stage = vec![0i64; n];
    let mut cause = vec![usize::MAX; n];
    // In a graph without positive cycles every longest path has fewer than n arcs.
    for round in 0..=n {
        let mut changed = None;
        for (from, to, step) in &arcs {
            if stage[*from] + step > stage[*to] {
                stage[*to] = stage[*from] + step;
                cause[*to] = *from;
                changed = Some(*to);
            }
        }
        let Some(last) = changed else { break };
        // A cycle among the causes is a positive one; it shows long before n rounds are over.
        if (round % 8 == 7 || round == n)
            && let Some(cycle) = loop_of(&cause, last)
        {
            return Err(cycle);
        }
    }
    let least = stage.iter().min().copied().unwrap_or(0);
    Ok(stage.iter().map(|s| (s - least) as u32).collect())
}

/// The cycle that the causes lead into from a node, if there is one.
fn loop_of(cause: &[usize], from: usize) -> Option<Vec<usize>> {
    let mut at = from;
    for _ in 0..cause.len() {
        at = cause[at];
        if at == usize::MAX {
            return None;
        }
    }
    let mut cycle = vec![at];
    let mut next = cause[at];
    while next != at {
        cycle.push(next);
        next = cause[next];
    }
    cycle.reverse();
    Some(cycle)
}
