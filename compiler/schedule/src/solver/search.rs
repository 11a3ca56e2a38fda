//! # search for the initiation interval
//!
//! Purpose: the least II, to within 0.5 %, at which a method finds a schedule. Input: problem, bounds, options and the method as a
//! function of the II. Output: [`Solution`], or [`Failure`] where the wanted II is not reached. Method: from the lower bound upwards by
//! 0.5 % (paper 001, section V.A); after many failures by larger steps, and back again by halving the last one.
//!
//! There is always a schedule: everything on one processor. What a method places as a whole are at first the groups that must share a
//! processor; where that fails, the strongly connected components: on one processor a component always has a schedule, but the others
//! of a cycle of more iterations may have no place that keeps its distance once some of it is placed.

use super::arcs::components;
use super::sequential::in_order;
use super::{Failure, Options, Solution, Statistics};
use crate::analysis::bounds::Bounds;
use crate::analysis::glue::Groups;
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};

/// Steps of 0.5 % before they grow.
const SMALL_STEPS: u64 = 30;

/// The next II to try: 0.5 % more, at least 1.
pub fn relaxed(ii: u64) -> u64 {
    ii.saturating_add((ii / 200).max(1))
}

/// Searches; `place` makes a schedule of what is placed as a whole, within an II.
pub fn search(
    problem: &ModuloProblem,
    bounds: &Bounds,
    options: Options,
    place: impl Fn(&Groups, u64, &mut Statistics) -> Option<ModuloSchedule>,
) -> Result<Solution, Failure> {
    let components = components(problem, &bounds.groups);
    let same = components.members.len() == bounds.groups.members.len();
    let attempt = |ii: u64, statistics: &mut Statistics| {
        let found = place(&bounds.groups, ii, statistics);
        if found.is_some() || same { found } else { place(&components, ii, statistics) }
    };
    let whole = problem.graph().work();
    let most = options.most_ii.unwrap_or(whole).min(whole);
    let mut statistics = Statistics::default();
    let (mut failed, mut ii, mut step, mut found) = (None, bounds.lower, 0, None);
    while found.is_none() && ii <= most {
        statistics.tries += 1;
        found = attempt(ii, &mut statistics);
        if found.is_none() {
            failed = Some(ii);
            if ii == most {
                break;
            }
            step = if statistics.tries <= SMALL_STEPS { relaxed(ii) - ii } else { step + step / 2 + 1 };
            ii = ii.saturating_add(step).min(most);
        }
    }
    let Some(mut best) = found.map(|s| tight(problem, s)) else {
        return match most == whole {
            true => Ok(Solution { schedule: in_order(problem, problem.topological()), statistics }),
            false => Err(Failure { most_ii: most, lower: bounds.lower, statistics }),
        };
    };
    while let Some(low) = failed.filter(|low| relaxed(*low) < best.ii) {
        let middle = low + (best.ii - low) / 2;
        statistics.tries += 1;
        match attempt(middle, &mut statistics).map(|s| tight(problem, s)) {
            Some(better) => best = better,
            None => failed = Some(middle),
        }
    }
    Ok(Solution { schedule: best, statistics })
}

/// The II that the work on the fullest processor takes: an interval longer than that serves nobody.
pub fn tight(problem: &ModuloProblem, mut s: ModuloSchedule) -> ModuloSchedule {
    s.ii = (0..problem.instances()).map(|i| s.start[i] + problem.cost(i)).max().unwrap_or(s.ii);
    s
}
