//! # improve
//!
//! Purpose: fewer stages, then fewer bytes of buffers, at the same initiation interval. Input: problem and a schedule that the judge
//! passes. Output: one that is no worse. Method: local search. Where an item crosses to another processor though its consumer runs only one stage later, the
//! two are brought together: one of them moves, or changes places with something of about its size; what does not help is taken back. At
//! last the stages are chosen anew ([`stages`]).

mod stages;

pub use self::stages::stages;

use super::arcs::Arcs;
use super::complete::complete;
use crate::analysis::glue::{Groups, groups};
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};

/// Looks at instances and dependences that the search may take, by default: about a quarter of a second.
pub const EFFORT: u64 = 60_000_000;

/// Improves.
pub fn improve(problem: &ModuloProblem, schedule: ModuloSchedule, effort: u64) -> ModuloSchedule {
    let start = stages(problem, schedule);
    let arcs = Arcs::new(problem);
    let groups = groups(problem);
    let mut search = Search::new(problem, &arcs, &groups, &start, effort);
    search.run();
    let Ok(mut found) = complete(problem, &search.processors(), start.ii) else { return start };
    found = stages(problem, found);
    if worth(problem, &found) < worth(problem, &start) { found } else { start }
}

/// Stages, then bytes: less is better.
pub fn worth(problem: &ModuloProblem, s: &ModuloSchedule) -> (u32, u64) {
    let capacity = crate::problem::judge::capacities(problem, s);
    (s.stages(), capacity.map_or(u64::MAX, |c| crate::problem::judge::bytes(problem, &c)))
}

struct Search<'a> {
    problem: &'a ModuloProblem,
    arcs: &'a Arcs,
    groups: &'a Groups,
    ii: u64,
    /// By group.
    home: Vec<u32>,
    load: Vec<u64>,
    /// By processor, its groups.
    on: Vec<Vec<u32>>,
    stage: Vec<i64>,
    effort: u64,
}

impl<'a> Search<'a> {
    fn new(
        problem: &'a ModuloProblem,
        arcs: &'a Arcs,
        groups: &'a Groups,
        s: &ModuloSchedule,
        effort: u64,
    ) -> Search<'a> {
        let home: Vec<u32> = groups.members.iter().map(|m| s.processor[m[0]]).collect();
        let mut load = vec![0; problem.processors() as usize];
        let mut on = vec![Vec::new(); load.len()];
        for (g, p) in home.iter().enumerate() {
            load[*p as usize] += groups.cost[g];
            on[*p as usize].push(g as u32);
        }
        let stage = vec![0; problem.instances()];
        Search { problem, arcs, groups, ii: s.ii, home, load, on, stage, effort }
    }

    fn processors(&self) -> Vec<u32> {
        self.groups.of.iter().map(|g| self.home[*g as usize]).collect()
    }

    /// The earliest stages; what they are worth, unless a cycle stands against the assignment or the effort is spent.
    fn weigh(&mut self) -> Option<(i64, i128)> {
        const ROUNDS: usize = 24;
        let cost = (self.problem.instances() + self.problem.dependences().len()) as u64;
        self.stage.fill(0);
        let mut settled = false;
        for _ in 0..ROUNDS {
            self.effort = self.effort.saturating_sub(cost);
            settled = true;
            for v in self.problem.topological() {
                let home = self.home[self.groups.of[*v] as usize];
                let mut least = self.stage[*v];
                for link in self.arcs.before(*v) {
                    let u = link.other as usize;
                    let same = self.home[self.groups.of[u] as usize] == home;
                    least = least.max(self.stage[u] + self.arcs.lag(u, *v, link.distance, same));
                }
                settled &= least == self.stage[*v];
                self.stage[*v] = least;
            }
            // Without loops one round is all.
            if settled || !self.arcs.has_distance() {
                settled = true;
                break;
            }
        }
        if !settled || self.effort == 0 {
            return None;
        }
        let (mut bytes, graph) = (0i128, self.problem.graph());
        for e in &graph.edges {
            let (ku, kv) = (graph.tasks[e.from].instances, graph.tasks[e.to].instances);
            let at = |task, k| i128::from(self.stage[self.problem.instance(task, k)]);
            let all = i128::from(e.produce) * i128::from(ku);
            let newest = (0..ku).map(|k| (i128::from(k) + 1) * i128::from(e.produce) - at(e.from, k) * all).max();
            let oldest = (0..kv).map(|k| i128::from(k) * i128::from(e.consume) - at(e.to, k) * all).min();
            bytes += (newest.unwrap_or(0) - oldest.unwrap_or(0)).max(0) * i128::from(e.item_bytes);
        }
        Some((self.stage.iter().max().copied().unwrap_or(0), bytes))
    }

    fn put(&mut self, group: u32, processor: u32) {
        let g = group as usize;
        let from = std::mem::replace(&mut self.home[g], processor) as usize;
        self.load[from] -= self.groups.cost[g];
        self.load[processor as usize] += self.groups.cost[g];
        if let Some(at) = self.on[from].iter().position(|x| *x == group) {
            self.on[from].swap_remove(at);
        }
        self.on[processor as usize].push(group);
    }

    fn run(&mut self) {
        let Some(mut best) = self.weigh() else { return };
        let mut at = 0;
        let mut idle = 0;
        let arcs: Vec<(usize, usize, i64)> = {
            let real = self.problem.dependences().iter().filter(|d| d.from != d.to);
            let mut all: Vec<_> = real.map(|d| (d.from, d.to, d.distance as i64)).collect();
            // Far from the order they stand in, so that all parts of the program get their share.
            let step = (all.len() * 5 / 8) | 1;
            let n = all.len();
            let mut mixed = Vec::with_capacity(n);
            let mut i = 0;
            let mut seen = vec![false; n];
            for _ in 0..n {
                while seen[i] {
                    i = (i + 1) % n;
                }
                seen[i] = true;
                mixed.push(all[i]);
                i = (i + step) % n;
            }
            std::mem::swap(&mut all, &mut mixed);
            all
        };
        while self.effort > 0 && idle < arcs.len() {
            let (u, v, distance) = arcs[at];
            at = (at + 1) % arcs.len();
            idle += 1;
            let [gu, gv] = [u, v].map(|i| self.groups.of[i]);
            let apart = self.home[gu as usize] != self.home[gv as usize];
            if !apart || self.stage[v] - self.stage[u] + distance > 1 {
                continue;
            }
            if self.bring_together(gv, gu, &mut best) || self.bring_together(gu, gv, &mut best) {
                idle = 0;
            }
        }
    }

    /// Moves a group to the processor of another one, or exchanges it with something there, if that is better.
    fn bring_together(&mut self, group: u32, to: u32, best: &mut (i64, i128)) -> bool {
        const CHOICES: usize = 6;
        let (from, to) = (self.home[group as usize], self.home[to as usize]);
        let size = self.groups.cost[group as usize];
        if self.load[to as usize] + size <= self.ii {
            self.put(group, to);
            if self.is_better(best) {
                return true;
            }
            self.put(group, from);
        }
        let (room, need) =
            (self.ii - self.load[from as usize], (self.load[to as usize] + size).saturating_sub(self.ii));
        let fits = |g: &u32| (need..=size + room).contains(&self.groups.cost[*g as usize]);
        let mut others: Vec<u32> = self.on[to as usize].iter().copied().filter(fits).collect();
        // What has the fewest ties to its processor first, so it would seem; its number of neighbours there.
        let ties = |g: &u32| {
            let near = |i: usize| self.home[self.groups.of[i] as usize] == to;
            let links = self.groups.members[*g as usize].iter();
            links
                .map(|m| {
                    let all = self.arcs.before(*m).iter().chain(self.arcs.after(*m));
                    all.filter(|l| near(l.other as usize)).count()
                })
                .sum::<usize>()
        };
        others.sort_by_cached_key(|g| (ties(g), *g));
        for other in others.into_iter().take(CHOICES) {
            self.put(group, to);
            self.put(other, from);
            if self.is_better(best) {
                return true;
            }
            self.put(other, to);
            self.put(group, from);
            if self.effort == 0 {
                return false;
            }
        }
        false
    }

    fn is_better(&mut self, best: &mut (i64, i128)) -> bool {
        let Some(now) = self.weigh().filter(|now| now < best) else { return false };
        *best = now;
        true
    }
}
