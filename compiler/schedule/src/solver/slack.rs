//! # slack modulo scheduling
//!
//! Purpose: heuristic schedules that keep lifetimes, here buffers, short. Input: problem and bounds. Output: [`Solution`].
//! Source: R. Huff, "Lifetime-sensitive modulo scheduling", PLDI 1993.
//!
//! What has the least slack is placed first: the span between the earliest start that its predecessors allow and the latest one
//! that its successors allow, as far as they are placed, and as far as the longest paths say where they are not. It goes as early as can be
//! where the items that it takes are more bytes than those that it gives, as late as can be otherwise: onto a processor of the neighbours
//! on that side, so that what they exchange does not wait for a kernel. Where there is no room, what is there leaves, as in
//! [`super::iterative`]. At last stages are chosen so that buffers are small ([`super::improve::stages`]).

use super::arcs::{Arcs, heights};
use super::improve;
use super::iterative::Patience;
use super::search::search;
use super::table::{NOWHERE, Side, Table};
use super::{Failure, Options, Solution, Statistics};
use crate::analysis::bounds::Bounds;
use crate::analysis::glue::Groups;
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::BTreeSet;

/// Solves.
pub fn solve(problem: &ModuloProblem, bounds: &Bounds, options: Options) -> Result<Solution, Failure> {
    let arcs = Arcs::new(problem);
    let found = search(problem, bounds, options, |groups, ii, statistics| {
        attempt(problem, &arcs, groups, ii, options.budget, statistics)
    });
    found.map(|s| Solution { schedule: improve::stages(problem, s.schedule), statistics: s.statistics })
}

fn attempt(
    problem: &ModuloProblem,
    arcs: &Arcs,
    groups: &Groups,
    ii: u64,
    ratio: u64,
    statistics: &mut Statistics,
) -> Option<ModuloSchedule> {
    let mut table = Table::new(problem, arcs, groups, ii);
    let side = sides(problem, groups);
    let count = groups.members.len();
    let mut windows = Windows::new(problem, arcs, groups, ii);
    let mut left = vec![0u64; count];
    let mut last = vec![NOWHERE; count];
    let mut patience = Patience::new(groups, ratio);
    while let Some(g) = windows.next() {
        statistics.placements += 1;
        let place = match table.best(g, side[g as usize]) {
            Some(place) => place.processor,
            None => {
                let (p, out) = table.make_room(g, last[g as usize], |g| left[g as usize])?;
                for o in out {
                    patience.evicted(o);
                    windows.evict(&mut table, o, &mut left, statistics);
                }
                last[g as usize] = p;
                p
            }
        };
        while let Err(cycle) = table.place(g, place) {
            let away: Vec<u32> = cycle.into_iter().filter(|o| *o != g && table.home(*o) != place).collect();
            for o in away {
                patience.evicted(o);
                windows.evict(&mut table, o, &mut left, statistics);
            }
        }
        windows.placed(&table, g);
        if !patience.placed(g, windows.waiting.len()) {
            return None;
        }
    }
    table.schedule()
}

/// By group, where it goes: early where it takes more bytes than it gives.
fn sides(problem: &ModuloProblem, groups: &Groups) -> Vec<Side> {
    let mut balance = vec![0i128; problem.graph().tasks.len()];
    for e in problem.graph().edges.iter().filter(|e| e.from != e.to) {
        balance[e.to] += i128::from(e.consume) * i128::from(e.item_bytes);
        balance[e.from] -= i128::from(e.produce) * i128::from(e.item_bytes);
    }
    let of = |members: &Vec<usize>| members.iter().map(|i| balance[problem.task_of(*i)]).sum::<i128>();
    groups.members.iter().map(|m| if of(m) >= 0 { Side::Early } else { Side::Late }).collect()
}

/// Earliest and latest starts, in cycles, and who waits in what order.
struct Windows<'a> {
    problem: &'a ModuloProblem,
    arcs: &'a Arcs,
    groups: &'a Groups,
    ii: i64,
    early: Vec<i64>,
    late: Vec<i64>,
    /// By group, the slack that it waits with.
    slack: Vec<i64>,
    waiting: BTreeSet<(i64, u32)>,
}

impl<'a> Windows<'a> {
    fn new(problem: &'a ModuloProblem, arcs: &'a Arcs, groups: &'a Groups, ii: u64) -> Windows<'a> {
        let (ii, n) = (ii as i64, problem.instances());
        let height = heights(problem, arcs, ii as u64);
        let mut early = vec![0i64; n];
        for i in problem.topological() {
            let of = |u: usize, distance: i64| early[u] + problem.cost(u) as i64 - ii.saturating_mul(distance);
            early[*i] = arcs.before(*i).iter().map(|l| of(l.other as usize, l.distance)).max().unwrap_or(0).max(0);
        }
        let horizon = (0..n).map(|i| early[i] + height[i]).max().unwrap_or(0);
        let late = height.iter().map(|h| horizon - h).collect();
        let slack = vec![0; groups.members.len()];
        let mut w = Windows { problem, arcs, groups, ii, early, late, slack, waiting: BTreeSet::new() };
        for g in 0..groups.members.len() as u32 {
            w.wait(g);
        }
        w
    }

    fn wait(&mut self, group: u32) {
        let of = |i: &usize| self.late[*i] - self.early[*i];
        let slack = self.groups.members[group as usize].iter().map(of).min().unwrap_or(0);
        self.slack[group as usize] = slack;
        self.waiting.insert((slack, group));
    }

    /// The group with the least slack; among equals the first in the topological order.
    fn next(&mut self) -> Option<u32> {
        self.waiting.pop_first().map(|(_, g)| g)
    }

    fn evict(&mut self, table: &mut Table, group: u32, left: &mut [u64], statistics: &mut Statistics) {
        table.take(group);
        left[group as usize] += 1;
        statistics.evictions += 1;
        self.wait(group);
    }

    /// The windows of what is near a group that has been placed.
    fn placed(&mut self, table: &Table, group: u32) {
        let mut changed = BTreeSet::new();
        for m in &self.groups.members[group as usize] {
            let start = self.ii * table.stage(*m);
            self.early[*m] = start;
            self.late[*m] = start + self.ii - self.problem.cost(*m) as i64;
            let arcs = self.arcs;
            for l in arcs.after(*m) {
                let v = l.other as usize;
                if table.processor(v) == NOWHERE {
                    let least = start + self.problem.cost(*m) as i64 - self.ii.saturating_mul(l.distance);
                    self.early[v] = self.early[v].max(least);
                    changed.insert(self.groups.of[v]);
                }
            }
            for l in arcs.before(*m) {
                let u = l.other as usize;
                if table.processor(u) == NOWHERE {
                    let most = self.late[*m] - self.problem.cost(u) as i64 + self.ii.saturating_mul(l.distance);
                    self.late[u] = self.late[u].min(most);
                    changed.insert(self.groups.of[u]);
                }
            }
        }
        for g in changed {
            if self.waiting.remove(&(self.slack[g as usize], g)) {
                self.wait(g);
            }
        }
    }
}
