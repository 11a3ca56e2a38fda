//! # flat modulo scheduling
//!
//! Purpose: the plainest of the heuristics: one pass over the instances by height, each to the earliest place with room, and nothing is
//! ever moved; where one finds no room, the II grows by 0.5 %. Input: problem and bounds. Output: [`Solution`]. Source: paper 000,
//! section 2.6 (the pass of M. Lam's software pipelining, PLDI 1988, without its hierarchy).

use super::arcs::{Arcs, heights};
use super::search::search;
use super::table::Table;
use super::{Failure, Options, Solution, Statistics};
use crate::analysis::bounds::Bounds;
use crate::analysis::glue::Groups;
use crate::problem::modulo::ModuloProblem;

/// Solves.
pub fn solve(problem: &ModuloProblem, bounds: &Bounds, options: Options) -> Result<Solution, Failure> {
    let arcs = Arcs::new(problem);
    search(problem, bounds, options, |groups, ii, statistics| pass(problem, &arcs, groups, ii, statistics)?.schedule())
}

/// One pass: the table with everything in it, unless something has no place.
pub fn pass<'a>(
    problem: &'a ModuloProblem,
    arcs: &'a Arcs,
    groups: &'a Groups,
    ii: u64,
    statistics: &mut Statistics,
) -> Option<Table<'a>> {
    let mut table = Table::new(problem, arcs, groups, ii);
    for g in by_height(problem, arcs, groups, ii) {
        let place = table.earliest(g)?;
        statistics.placements += 1;
        table.place(g, place.processor).ok()?;
    }
    Some(table)
}

/// The groups, those with the longest way to the end first; among equals the one that comes first in the topological order.
pub fn by_height(problem: &ModuloProblem, arcs: &Arcs, groups: &Groups, ii: u64) -> Vec<u32> {
    let height = heights(problem, arcs, ii);
    let of = |g: &u32| groups.members[*g as usize].iter().map(|i| height[*i]).max().unwrap_or(0);
    let mut order: Vec<u32> = (0..groups.members.len() as u32).collect();
    order.sort_by_key(|g| (std::cmp::Reverse(of(g)), *g));
    order
}
