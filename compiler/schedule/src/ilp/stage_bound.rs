//! # stage-bound
//!
//! Purpose: stages that every schedule with a given II has at least. Input: problem, groups, II. Output: a number, at least 1. Three reasons:
//! - a path of dependences takes its work, less what its distances give: ⌈(Σ d − T·Σ distance) / T⌉;
//! - two groups that do not fit onto one processor together are a kernel apart where one waits for the other;
//! - with one stage nothing of one iteration crosses: all that hangs together by distances of 0 shares a processor, and has to fit.

use crate::analysis::glue::Groups;
use crate::analysis::packing::{Sizes, bin_size};
use crate::problem::dependences::Dependence;
use crate::problem::modulo::ModuloProblem;
use crate::solver::arcs::ranks;
use crate::solver::complete::longest;

/// The bound.
pub fn stage_bound(problem: &ModuloProblem, groups: &Groups, ii: u64) -> u32 {
    let apart = |a: u32, b: u32| a != b && groups.cost[a as usize] + groups.cost[b as usize] > ii;
    let step = |d: &Dependence| i64::from(apart(groups.of[d.from], groups.of[d.to])) - d.distance as i64;
    let steps = longest(problem, step).ok().and_then(|s| s.into_iter().max()).unwrap_or(0);
    let whole = bin_size(&Sizes::new(components(problem, groups)), problem.processors().into());
    let work = path_work(problem, ii).div_ceil(ii.into());
    (steps + 1).max(u32::from(whole > ii) + 1).max(u32::try_from(work).unwrap_or(1))
}

/// The largest Σ d − T·Σ distance of a path. Exact where it settles soon; else what is settled so far, which is a bound, too.
fn path_work(problem: &ModuloProblem, ii: u64) -> u128 {
    let place = ranks(problem);
    let mut arcs: Vec<_> = problem.dependences().iter().collect();
    arcs.sort_unstable_by_key(|d| (place[d.from], d.from, d.to));
    let cost = |i: usize| i128::from(problem.cost(i));
    let mut end: Vec<i128> = (0..problem.instances()).map(cost).collect();
    for _ in 0..16 {
        let mut changed = false;
        for d in &arcs {
            let at = end[d.from] - i128::from(d.distance) * i128::from(ii) + cost(d.to);
            changed |= at > end[d.to];
            end[d.to] = end[d.to].max(at);
        }
        if !changed {
            break;
        }
    }
    end.into_iter().max().and_then(|e| u128::try_from(e).ok()).unwrap_or(0)
}

/// Work of what hangs together within one iteration.
fn components(problem: &ModuloProblem, groups: &Groups) -> Vec<u64> {
    let mut root: Vec<usize> = (0..groups.members.len()).collect();
    for d in problem.dependences().iter().filter(|d| d.distance == 0) {
        let (a, b) = (find(&mut root, groups.of[d.from] as usize), find(&mut root, groups.of[d.to] as usize));
        root[a.max(b)] = a.min(b);
    }
    let mut cost = vec![0; root.len()];
    for x in 0..root.len() {
        cost[find(&mut root, x)] += groups.cost[x];
    }
    cost.retain(|c| *c > 0);
    cost
}

/// The root of a node's tree; paths are halved on the way.
pub fn find(root: &mut [usize], mut at: usize) -> usize {
    while root[at] != at {
        root[at] = root[root[at]];
        at = root[at];
    }
    at
}
