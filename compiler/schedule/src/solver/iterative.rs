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

use super::arcs::{Arcs, components};
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
    let whole = components(problem, &bounds.groups);
    let same = whole.members.len() == bounds.groups.members.len();
    search(problem, bounds, options, |ii, statistics| {
        let parts = attempt(problem, &arcs, &bounds.groups, ii, options.budget, statistics);
        parts.or_else(|| if same { None } else { attempt(problem, &arcs, &whole, ii, options.budget, statistics) })
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
    let mut budget = ratio.max(1).saturating_mul(order.len() as u64);
    while let Some(g) = waiting.pop_first().map(|at| order[at as usize]) {
        budget = budget.checked_sub(1)?;
        statistics.placements += 1;
        let place = match table.earliest(g) {
            Some(place) => place.processor,
            None => {
                let (p, out) = table.make_room(g, last[g as usize], |g| left[g as usize])?;
                for o in out {
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
                evict(&mut table, o, &mut waiting, &rank, &mut left, statistics);
            }
        }
    }
    table.schedule()
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
