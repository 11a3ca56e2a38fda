//! # iterative modulo scheduling
//!
//! Purpose: heuristic schedules near the best II in milliseconds. Input: problem and bounds. Output: [`Solution`].
//! Source: B. Rau, "Iterative modulo scheduling: an algorithm for software pipelining loops", MICRO-27, 1994.
//!
//! ```text
//! while something is not placed and the budget lasts:
//!     take what has the greatest height;  give it the earliest place with room;
//!     where there is none, give it one by force: what is in the way leaves, and is placed again later
//! ```
//!
//! Two changes for this problem. Rau evicts what waits for an instance and now comes too early; here it moves to a later stage on
//! its processor, where the table reserves the same time for all stages; only what stands against an instance by a cycle leaves. And of the
//! processors where room can be made, the one is chosen where the least has to leave, those that left often count for more.
//!
//! Where evictions stop getting anywhere, the budget is not spent to its end ([`Patience`]): a try at an II that is too short costs little more than
//! placing everything once.

use super::arcs::Arcs;
use super::flat::by_height;
use super::search::search;
use super::table::{NOWHERE, Table};
use super::{Failure, Options, Solution, Statistics};
use crate::analysis::bounds::Bounds;
use crate::analysis::glue::Groups;
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::BTreeSet;

/// Solves.
pub fn solve(problem: &ModuloProblem, bounds: &Bounds, options: Options) -> Result<Solution, Failure> {
    let arcs = Arcs::new(problem);
    search(problem, bounds, options, |groups, ii, statistics| {
        attempt(problem, &arcs, groups, ii, options.budget, statistics)
    })
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
    let order = by_height(problem, arcs, groups, ii);
    let mut rank = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(at, g)| rank[*g as usize] = at as u32);
    let mut waiting: BTreeSet<u32> = (0..order.len() as u32).collect();
    let mut left = vec![0u64; order.len()];
    let mut last = vec![NOWHERE; order.len()];
    let mut patience = Patience::new(groups, ratio);
    while let Some(g) = waiting.pop_first().map(|at| order[at as usize]) {
        statistics.placements += 1;
        let place = match table.earliest(g) {
            Some(place) => place.processor,
            None => {
                let (p, out) = table.make_room(g, last[g as usize], |g| left[g as usize])?;
                for o in out {
                    patience.evicted(o);
                    evict(&mut table, o, &mut waiting, &rank, &mut left, statistics);
                }
                last[g as usize] = p;
                p
            }
        };
        // A cycle that cannot be kept loses what is elsewhere.
        while let Err(cycle) = table.place(g, place) {
            let away: Vec<u32> = cycle.into_iter().filter(|o| *o != g && table.home(*o) != place).collect();
            for o in away {
                patience.evicted(o);
                evict(&mut table, o, &mut waiting, &rank, &mut left, statistics);
            }
        }
        if !patience.placed(g, waiting.len()) {
            return None;
        }
    }
    table.schedule()
}

/// How long a try goes on: Rau's budget of placements in all, and where the work that waits does not get less, as many as it takes to
/// place everything twice, shared out among those that wait. Few that wait are worth a long search for their places; many never find them.
pub(super) struct Patience<'a> {
    groups: &'a Groups,
    budget: u64,
    /// Work that has no place, and the least that it ever was.
    waits: u64,
    least: u64,
    /// Placements that may follow without a new least.
    left: u64,
}

impl<'a> Patience<'a> {
    /// Before anything is placed.
    pub(super) fn new(groups: &'a Groups, ratio: u64) -> Patience<'a> {
        let waits = groups.cost.iter().sum();
        let budget = ratio.max(1).saturating_mul(groups.members.len() as u64);
        Patience { groups, budget, waits, least: waits, left: budget }
    }

    /// A group has lost its place.
    pub(super) fn evicted(&mut self, group: u32) {
        self.waits += self.groups.cost[group as usize];
    }

    /// A group has got a place, so many wait: is it worth going on?
    pub(super) fn placed(&mut self, group: u32, waiting: usize) -> bool {
        self.waits -= self.groups.cost[group as usize];
        if self.waits < self.least {
            self.least = self.waits;
            self.left = 2 * self.groups.members.len() as u64 / (waiting as u64).max(1);
        }
        let more = self.budget > 0 && self.left > 0;
        self.budget = self.budget.saturating_sub(1);
        self.left = self.left.saturating_sub(1);
        more || waiting == 0
    }
}

fn evict(
    table: &mut Table,
    group: u32,
    waiting: &mut BTreeSet<u32>,
    rank: &[u32],
    left: &mut [u64],
    statistics: &mut Statistics,
) {
    table.take(group);
    waiting.insert(rank[group as usize]);
    left[group as usize] += 1;
    statistics.evictions += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten groups of which some never fit: the fewer they are, the longer their places are looked for, within the budget.
    #[test]
    fn few_are_worth_more_patience() {
        let groups = Groups { of: Vec::new(), members: vec![Vec::new(); 10], cost: vec![5; 10] };
        let tries = |stuck: usize, ratio| {
            let mut patience = Patience::new(&groups, ratio);
            (0..10 - stuck).for_each(|g| assert!(patience.placed(g as u32, 10 - 1 - g)));
            let mut tries = 0;
            loop {
                patience.evicted(0);
                tries += 1;
                if !patience.placed(9, stuck) {
                    return tries;
                }
            }
        };
        assert_eq!([1, 2, 5].map(|stuck| tries(stuck, 9)), [20, 10, 4]);
        assert_eq!(tries(1, 1), 2, "the budget is nearly spent");
    }
}
