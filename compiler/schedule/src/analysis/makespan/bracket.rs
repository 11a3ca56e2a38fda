//! # bracket
//!
//! Purpose: a proven bracket of the worst case where [`exact`](super::exact) does not fit. Input: a [`Problem`] and how much time there is. Output: a
//! witness below, a sound bound above.
//!
//! In turn: schedules of plain policies and [`bounds::sound`]; [`potential`]s, at first with the lead over the whole kernel, then with the lead
//! over one part of it besides, whichever part helps most; [`search`]es that grow wider, until witness and bound meet or time is over.

use super::potential::{Potential, potential};
use super::schedule::{Schedule, name_warps, simulate};
use super::search::search;
use super::{Problem, Unit, abstraction, bounds};
use std::cmp::Reverse;

/// What is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// A schedule as long as the longest one known; none where the problem is too large to write one down.
    pub witness: Option<Schedule>,
    /// Some schedule takes as long as this.
    pub least: u64,
    /// None takes longer.
    pub bound: u64,
    /// What proved `bound`.
    pub by: &'static str,
}

/// How much is done.
pub struct Effort<'a> {
    /// Asked now and then: is this part of the time over (0 to 1)?
    pub over: &'a dyn Fn(f64) -> bool,
    /// The widest search.
    pub width: usize,
}

/// The most warps times cycles of which schedules are made one by one.
const MOST_SIMULATED: u64 = 1 << 25;
/// The most instructions of all warps together that a search takes.
const MOST_WORK: u64 = 1 << 16;
/// States that a search keeps, and their ways: half a gibibyte.
const MOST_KEPT: u64 = 1 << 22;
/// The longest kernel that is searched.
const MOST_SEARCHED: usize = 64;
/// Edges of a graph of classes.
const MOST_EDGES: usize = 400_000;

/// Finds one.
pub fn bracket(problem: &Problem, effort: &Effort) -> Bracket {
    let mut b =
        Bracket { witness: None, least: bounds::shortest(problem), bound: bounds::sound(problem), by: "pessimistic" };
    let work = u64::from(problem.warps()) * problem.units().len() as u64;
    if u64::from(problem.warps()).saturating_mul(b.bound) <= MOST_SIMULATED {
        for policy in 0..4 {
            b.witness(simulate(problem, |unit, ready, _| match (policy, unit) {
                (0, _) => {}
                (1, _) => ready.sort_by_key(|(_, at)| *at),
                (2, _) => ready.sort_by_key(|(_, at)| Reverse(*at)),
                (_, Unit::LoadStore) => ready.sort_by_key(|(_, at)| *at),
                (_, Unit::Core) => ready.sort_by_key(|(_, at)| Reverse(*at)),
            }));
        }
    }
    let mut potentials: Vec<Potential> = Vec::new();
    let mut width = 32;
    if problem.units().len() <= abstraction::MOST_INSTRUCTIONS {
        b.improve(problem, effort, &mut potentials);
        b.by_parts(problem, effort, &mut potentials, &mut width, work);
    }
    let widest = effort.width.min((MOST_KEPT / work.max(1)) as usize);
    while work <= MOST_WORK && problem.units().len() <= MOST_SEARCHED && b.least < b.bound && width <= widest {
        if !b.search(problem, effort, &potentials, width) {
            break;
        }
        // The last one is as wide as may be.
        width = if width < widest { (width * 4).min(widest) } else { usize::MAX };
    }
    b
}

impl Bracket {
    fn witness(&mut self, schedule: Schedule) {
        let length = schedule.cycles.len() as u64;
        if length > self.least || self.witness.is_none() {
            self.least = self.least.max(length);
            self.witness = Some(schedule);
        }
    }

    fn bound(&mut self, bound: u64, by: &'static str) -> bool {
        let better = bound < self.bound;
        if better {
            (self.bound, self.by) = (bound, by);
        }
        better
    }

    /// With the lead over all of the kernel.
    fn improve(&mut self, problem: &Problem, effort: &Effort, potentials: &mut Vec<Potential>) {
        let all = (1u32 << problem.units().len()) - 1;
        if let Some(p) = made(problem, vec![all], effort, 0.3) {
            self.bound(p.bound(&start(problem)).unwrap_or(u64::MAX), "potential");
            potentials.push(p);
        }
    }

    /// With the lead over a part of it besides.
    fn by_parts(
        &mut self,
        problem: &Problem,
        effort: &Effort,
        potentials: &mut Vec<Potential>,
        width: &mut usize,
        work: u64,
    ) {
        if potentials.is_empty() {
            return;
        }
        if work <= MOST_WORK && self.least < self.bound && self.search(problem, effort, potentials, *width) {
            *width *= 4;
        }
        let n = problem.units().len();
        let all = (1u32 << n) - 1;
        // First the parts that leave no lead behind when they are done, so that what is done does not blur it; and long ones first.
        let lead = |from: usize, to: usize| {
            let of = |u: Unit| problem.units()[from..to].iter().filter(|v| **v == u).count();
            of(Unit::LoadStore).abs_diff(of(Unit::Core))
        };
        let mut parts: Vec<(usize, usize)> = (0..n).flat_map(|f| (f + 2..=n).map(move |t| (f, t))).collect();
        parts.retain(|(f, t)| t - f < n && lead(*f, *t) < t - f);
        parts.sort_by_key(|(f, t)| (lead(*f, *t), Reverse(t - f), *f));
        for (from, to) in parts {
            if self.least == self.bound || (effort.over)(0.5) {
                return;
            }
            let bits = (1u32 << to) - (1u32 << from);
            if let Some(p) = made(problem, vec![all, bits], effort, 0.5)
                && self.bound(p.bound(&start(problem)).unwrap_or(u64::MAX), "potential")
            {
                potentials.truncate(1);
                potentials.push(p);
            }
        }
    }

    /// False where it was stopped.
    fn search(&mut self, problem: &Problem, effort: &Effort, potentials: &[Potential], width: usize) -> bool {
        let Some(found) = search(problem, potentials, width, self.least, &|| (effort.over)(1.0)) else { return false };
        if let Some(schedule) = found.steps.and_then(|s| name_warps(problem, &s)) {
            self.witness(schedule);
        }
        self.bound(found.bound.max(self.least), "search");
        true
    }
}

fn made(problem: &Problem, leads: Vec<u32>, effort: &Effort, part: f64) -> Option<Potential> {
    let size = abstraction::Size { few: 1, lead: 1, leads, edges: MOST_EDGES };
    potential(problem, &size, &|| (effort.over)(part))
}

fn start(problem: &Problem) -> Vec<u32> {
    let mut counts = vec![0; problem.units().len()];
    counts[0] = problem.warps();
    counts
}

#[cfg(test)]
mod tests {
    use super::super::Machine;
    use super::super::exact::{Limits, exact};
    use super::super::schedule::judge;
    use super::*;

    const SOME: Effort = Effort { over: &|_| false, width: 512 };

    #[test]
    fn it_holds_the_worst_case() {
        for kernel in ["LLC", "LCLCL", "LLCCL", "LLCCCL", "CLLCCL", "CCLCLL", "LCCLLC"] {
            let p = Problem::new(&kernel.parse().unwrap(), &Machine::ONE, 10).unwrap();
            let worst = exact(&p, Limits { states: 1 << 20, stop: &|| false }).unwrap().worst(10);
            let b = bracket(&p, &SOME);
            assert!(b.least <= worst && worst <= b.bound, "{kernel}: {worst} {b:?}");
            assert_eq!(judge(&p, &b.witness.unwrap()), Ok(b.least), "{kernel}");
            assert!(b.bound * 10 <= b.least * 11, "{kernel}: {} {}", b.least, b.bound);
        }
    }

    #[test]
    fn nothing_is_too_large() {
        let long = "LLCLCCLC".repeat(1000).parse().unwrap();
        let p = Problem::new(&long, &Machine::ONE, 1_000_000).unwrap();
        let b = bracket(&p, &SOME);
        assert_eq!((b.witness, b.bound), (None, bounds::sound(&p)));
        assert_eq!(b.least, bounds::shortest(&p));
    }
}
