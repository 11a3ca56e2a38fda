//! # glue
//!
//! Purpose: which instances must share a processor. Input: problem. Output: groups of instances, for solvers to place and for bounds to weigh.
//! Why: an item crosses to another processor only between kernels, so a cycle of dependences crosses at most as often as its distance
//! says (algorithms.md, section 2). A cycle that leaves a processor crosses at least twice; so one of distance 1 stays, all of it.
//!
//! ```text
//! a stateful filter with 4 instances: 0 → 1 → 2 → 3 → 0 (next iteration)   one group of four
//! ```
//!
//! Limit: [`EFFORT`] dependences are looked at; past that, groups stay smaller than they could be, which is still right.

use crate::problem::modulo::ModuloProblem;
use petgraph::unionfind::UnionFind;

/// Dependences that are looked at.
const EFFORT: usize = 50_000_000;

/// Groups of instances that must share a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// By instance, its group.
    pub of: Vec<u32>,
    /// By group, its instances, in the problem's topological order.
    pub members: Vec<Vec<usize>>,
    /// By group, the sum of its instances' costs.
    pub cost: Vec<u64>,
}

/// Finds the groups; numbered by their first instance in topological order.
pub fn groups(problem: &ModuloProblem) -> Groups {
    let n = problem.instances();
    let mut union = UnionFind::<u32>::new(n);
    let (mut next, mut before) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for d in problem.dependences().iter().filter(|d| d.distance == 0) {
        next[d.from].push(d.to);
        before[d.to].push(d.from);
    }
    for (v, task) in problem.graph().tasks.iter().enumerate().filter(|(_, t)| t.serial) {
        let instance = |k| problem.instance(v, k) as u32;
        (1..task.instances).for_each(|k| _ = union.union(instance(0), instance(k)));
    }
    let mut search = Search { mark: vec![0; n], round: 0, effort: EFFORT };
    for d in problem.dependences().iter().filter(|d| d.distance == 1 && d.from != d.to) {
        // A cycle: d.from → d.to in the next iteration, and back to d.from within it.
        // Many arcs of a task with many instances say the same; the one that closes the round of a serial task does not.
        let (u, v) = (problem.task_of(d.from), problem.task_of(d.to));
        let closes = problem.graph().tasks[u].serial && problem.number_of(d.to) == 0;
        if u == v && !closes && union.equiv(d.from as u32, d.to as u32) {
            continue;
        }
        let Some(found) = search.between(d.to, d.from, &next, &before) else { break };
        found.iter().for_each(|i| _ = union.union(*i as u32, d.from as u32));
    }
    regroup(problem, |i| union.find_mut(i as u32))
}

/// Groups of the instances with equal keys, numbered by their first instance in topological order. Keys are at most the number of
/// instances.
pub fn regroup(problem: &ModuloProblem, mut key: impl FnMut(usize) -> u32) -> Groups {
    let mut number = vec![u32::MAX; problem.instances() + 1];
    let mut groups = Groups { of: vec![0; problem.instances()], members: Vec::new(), cost: Vec::new() };
    for i in problem.topological() {
        let slot = &mut number[key(*i) as usize];
        if *slot == u32::MAX {
            *slot = groups.members.len() as u32;
            groups.members.push(Vec::new());
            groups.cost.push(0);
        }
        let g = *slot as usize;
        groups.of[*i] = g as u32;
        groups.members[g].push(*i);
        groups.cost[g] += problem.cost(*i);
    }
    groups
}

struct Search {
    mark: Vec<u32>,
    round: u32,
    effort: usize,
}

impl Search {
    /// All on paths from one to the other, ends included; empty where there is no path. `None` once the effort is spent.
    fn between(&mut self, from: usize, to: usize, next: &[Vec<usize>], before: &[Vec<usize>]) -> Option<Vec<usize>> {
        let forward = self.reach(from, next, None)?;
        let reached = self.mark[to] == forward.1;
        if !reached {
            return Some(Vec::new());
        }
        let (found, _) = self.reach(to, before, Some(forward.1))?;
        Some(found)
    }

    /// All that can be reached, of those with the mark `within` where one is given.
    fn reach(&mut self, from: usize, arcs: &[Vec<usize>], within: Option<u32>) -> Option<(Vec<usize>, u32)> {
        self.round += 1;
        let round = self.round;
        let (mut all, mut at) = (vec![from], 0);
        self.mark[from] = round;
        while at < all.len() {
            for to in &arcs[all[at]] {
                self.effort = self.effort.checked_sub(1)?;
                if self.mark[*to] != round && within.is_none_or(|w| self.mark[*to] == w) {
                    self.mark[*to] = round;
                    all.push(*to);
                }
            }
            at += 1;
        }
        Some((all, round))
    }
}
