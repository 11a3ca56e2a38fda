//! # bracket
//!
//! Purpose: a proven bracket of the worst case where [`exact`](super::exact) does not fit. Input: a [`Problem`] and how much time there is. Output: a
//! witness below, a sound bound above.
//!
//! In turn: schedules of plain policies and [`bounds::sound`]; the bound by [`overlap`](super::overlap) and searches for a schedule that meets
//! it, narrow ones after a [`guide`](super::guide) first; [`potential`]s, at first with the lead over the whole kernel, then with the lead over
//! one part of it besides, whichever part helps most; [`search`]es that grow wider, until witness and bound meet or time is over.

use super::guide::Guide;
use super::overlap::Overlap;
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
/// The same of a dive, which keeps few states.
const MOST_DIVED: u64 = 1 << 20;
/// The widest dive.
const WIDEST_DIVE: usize = 4;
/// States that a search keeps, and their ways: half a gibibyte.
const MOST_KEPT: u64 = 1 << 22;
/// The longest kernel that is searched.
const MOST_SEARCHED: usize = 64;
/// Edges of a graph of classes.
const MOST_EDGES: usize = 400_000;
/// The widest search that the bound by overlap is given before anything else is tried.
const MOST_FOR_OVERLAP: usize = 512;

/// Finds one; `known` is what [`by_overlap`] has found.
pub fn bracket(problem: &Problem, effort: &Effort, known: Option<Bracket>) -> Bracket {
    let mut b = Maker::new(problem, effort);
    match known {
        Some(known) => b.found = known,
        None => {
            b.by_policies();
            b.by_overlap();
        }
    }
    if b.is_open() && problem.units().len() <= abstraction::MOST_INSTRUCTIONS {
        b.improve();
        b.by_parts();
    }
    while b.searches() && b.search() {}
    b.found
}

/// Finds one by [`overlap`](super::overlap) alone, and soon: mostly both sides of it meet.
pub fn by_overlap(problem: &Problem, effort: &Effort) -> Bracket {
    let mut b = Maker::new(problem, effort);
    b.by_policies();
    b.by_overlap();
    b.found
}

/// A bracket in the making.
struct Maker<'a> {
    problem: &'a Problem,
    effort: &'a Effort<'a>,
    found: Bracket,
    overlap: Overlap,
    potentials: Vec<Potential>,
    /// That of the next search.
    width: usize,
}

impl Maker<'_> {
    fn new<'a>(problem: &'a Problem, effort: &'a Effort<'a>) -> Maker<'a> {
        let (least, bound) = (bounds::shortest(problem), bounds::sound(problem));
        let found = Bracket { witness: None, least, bound, by: "pessimistic" };
        Maker { problem, effort, found, overlap: Overlap::new(problem), potentials: Vec::new(), width: 32 }
    }

    fn is_open(&self) -> bool {
        self.found.least < self.found.bound
    }

    fn work(&self) -> u64 {
        u64::from(self.problem.warps()) * self.problem.units().len() as u64
    }

    fn witness(&mut self, schedule: Schedule) {
        let length = schedule.cycles.len() as u64;
        if length > self.found.least || self.found.witness.is_none() {
            self.found.least = self.found.least.max(length);
            self.found.witness = Some(schedule);
        }
    }

    fn bound(&mut self, bound: u64, by: &'static str) -> bool {
        let better = bound < self.found.bound;
        if better {
            (self.found.bound, self.found.by) = (bound, by);
        }
        better
    }

    fn by_policies(&mut self) {
        if u64::from(self.problem.warps()).saturating_mul(self.found.bound) > MOST_SIMULATED {
            return;
        }
        for policy in 0..4 {
            if policy > 0 && (self.effort.over)(1.0) {
                return;
            }
            self.witness(simulate(self.problem, |unit, ready, _| match (policy, unit) {
                (0, _) => {}
                (1, _) => ready.sort_by_key(|(_, at)| *at),
                (2, _) => ready.sort_by_key(|(_, at)| Reverse(*at)),
                (_, Unit::LoadStore) => ready.sort_by_key(|(_, at)| *at),
                (_, Unit::Core) => ready.sort_by_key(|(_, at)| Reverse(*at)),
            }));
        }
    }

    fn by_overlap(&mut self) {
        let bound = self.overlap.bound(self.problem);
        self.bound(bound, "overlap");
        self.dive();
        while self.searches() && self.width <= MOST_FOR_OVERLAP && self.search() {}
    }

    /// With the lead over all of the kernel.
    fn improve(&mut self) {
        let all = (1u32 << self.problem.units().len()) - 1;
        if let Some(p) = self.made(vec![all], 0.3) {
            self.bound(p.bound(&start(self.problem)).unwrap_or(u64::MAX), "potential");
            self.potentials.push(p);
        }
    }

    /// With the lead over a part of it besides.
    fn by_parts(&mut self) {
        if self.potentials.is_empty() {
            return;
        }
        if self.searches() {
            self.search();
        }
        let n = self.problem.units().len();
        let all = (1u32 << n) - 1;
        // First the parts that leave no lead behind when they are done, so that what is done does not blur it; and long ones first.
        let lead = |from: usize, to: usize| {
            let of = |u: Unit| self.problem.units()[from..to].iter().filter(|v| **v == u).count();
            of(Unit::LoadStore).abs_diff(of(Unit::Core))
        };
        let mut parts: Vec<(usize, usize)> = (0..n).flat_map(|f| (f + 2..=n).map(move |t| (f, t))).collect();
        parts.retain(|(f, t)| t - f < n && lead(*f, *t) < t - f);
        parts.sort_by_key(|(f, t)| (lead(*f, *t), Reverse(t - f), *f));
        for (from, to) in parts {
            if !self.is_open() || (self.effort.over)(0.5) {
                return;
            }
            let bits = (1u32 << to) - (1u32 << from);
            if let Some(p) = self.made(vec![all, bits], 0.5)
                && self.bound(p.bound(&start(self.problem)).unwrap_or(u64::MAX), "potential")
            {
                self.potentials.truncate(1);
                self.potentials.push(p);
            }
        }
    }

    fn made(&self, leads: Vec<u32>, part: f64) -> Option<Potential> {
        let size = abstraction::Size { few: 1, lead: 1, leads, edges: MOST_EDGES };
        potential(self.problem, &size, &|| (self.effort.over)(part))
    }

    fn widest(&self) -> usize {
        self.effort.width.min((MOST_KEPT / self.work().max(1)) as usize)
    }

    /// Is there anything that a wider search may find?
    fn searches(&self) -> bool {
        let small = self.work() <= MOST_WORK && self.problem.units().len() <= MOST_SEARCHED;
        small && self.is_open() && self.width <= self.widest()
    }

    /// Narrow searches that follow a guide. It compares the ways on from one state well, and states that have little in common badly: wider ones find less.
    fn dive(&mut self) {
        let over = || (self.effort.over)(1.0);
        if !self.is_open() || self.work() > MOST_DIVED {
            return;
        }
        let Some(guide) = Guide::new(self.problem, &over) else { return };
        for width in 1..=WIDEST_DIVE {
            if !self.is_open() || !self.search_with(Some(&guide), width) {
                return;
            }
        }
    }

    /// False where it was stopped.
    fn search(&mut self) -> bool {
        if !self.search_with(None, self.width) {
            return false;
        }
        // The last one is as wide as may be.
        let widest = self.widest();
        self.width = if self.width < widest { (self.width * 4).min(widest) } else { usize::MAX };
        true
    }

    fn search_with(&mut self, guide: Option<&Guide>, width: usize) -> bool {
        let ahead = |counts: &[u32]| {
            let least = self.potentials.iter().filter_map(|p| p.bound(counts)).min();
            least.unwrap_or(u64::MAX).min(self.overlap.ahead(counts))
        };
        let over = || (self.effort.over)(1.0);
        let Some(found) = search(self.problem, &ahead, guide, width, self.found.least, &over) else { return false };
        if let Some(schedule) = found.steps.and_then(|s| name_warps(self.problem, &s)) {
            self.witness(schedule);
        }
        self.bound(found.bound.max(self.found.least), "search");
        true
    }
}

fn start(problem: &Problem) -> Vec<u32> {
    let mut counts = vec![0; problem.units().len()];
    counts[0] = problem.warps();
    counts
}

#[cfg(test)]
mod tests {
    use super::super::exact::{Limits, exact};
    use super::super::schedule::judge;
    use super::super::{Capacity, Machine};
    use super::*;

    const SOME: Effort = Effort { over: &|_| false, width: 512 };

    #[test]
    fn it_holds_the_worst_case() {
        for kernel in ["LLC", "LCLCL", "LLCCL", "LLCCCL", "CLLCCL", "CCLCLL", "LCCLLC"] {
            let p = Problem::new(&kernel.parse().unwrap(), &Machine::ONE, 10).unwrap();
            let worst = exact(&p, Limits { states: 1 << 20, stop: &|| false }).unwrap().worst(10);
            let b = bracket(&p, &SOME, None);
            assert!(b.least <= worst && worst <= b.bound, "{kernel}: {worst} {b:?}");
            assert_eq!(judge(&p, &b.witness.unwrap()), Ok(b.least), "{kernel}");
            assert!(b.bound * 10 <= b.least * 11, "{kernel}: {} {}", b.least, b.bound);
        }
    }

    #[test]
    fn bound_and_schedule_meet_at_64_warps() {
        for (kernel, machine, worst) in [
            ("LCCLCLLLLCCL", Machine::ONE, 453),
            ("CCLCCLLLLCCL", Machine::ONE, 516),
            ("LCLCCCLLCLLC", Machine::ONE, 453),
            ("LCLCLCLCLCLC", Machine::ONE, 390),
            ("LCLCLCLCLCLC", Machine { load_store: two(), cores: two() }, 201),
            ("LCLCLCLCLCLC", Machine { load_store: half(), cores: half() }, 64 * 13 + 11),
        ] {
            let p = Problem::new(&kernel.parse().unwrap(), &machine, 64).unwrap();
            let b = by_overlap(&p, &SOME);
            assert_eq!((b.least, b.bound, b.by), (worst, worst, "overlap"), "{kernel}");
            assert_eq!(judge(&p, &b.witness.unwrap()), Ok(worst), "{kernel}");
        }
    }

    fn two() -> Capacity {
        Capacity::new(2, 1).unwrap()
    }

    fn half() -> Capacity {
        Capacity::new(1, 2).unwrap()
    }

    #[test]
    fn nothing_is_too_large() {
        let long = "LLCLCCLC".repeat(1000).parse().unwrap();
        let p = Problem::new(&long, &Machine::ONE, 1_000_000).unwrap();
        let b = bracket(&p, &SOME, None);
        // 3999 pairs of neighbours that differ.
        assert_eq!((b.witness, b.bound), (None, 8000 + 999_999 * 4001));
        assert_eq!(b.least, bounds::shortest(&p));
    }
}
