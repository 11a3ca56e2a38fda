//! # bounds
//!
//! Purpose: bounds by formula. Input: a [`Problem`]. Output: cycles.

use super::{Problem, Unit};

/// The paper's pessimistic bound, equations (5) to (7): ⌈W/o_L⌉·I_L + ⌈W/o_C⌉·I_C. Not a bound for o ≥ 2: `LL` with four warps and o_L = 2
/// can take 5 cycles, and the formula says 4. See [`paper_is_sound`].
pub fn paper(problem: &Problem) -> u64 {
    let of = |u: Unit| u64::from(problem.warps().div_ceil(problem.at_once(u))) * problem.count(u);
    of(Unit::LoadStore) + of(Unit::Core)
}

/// Is [`paper`] a bound? Where each kind of unit that the kernel uses takes one warp per cycle, or one cycle takes all of them.
pub fn paper_is_sound(problem: &Problem) -> bool {
    let sound = |u: Unit| problem.count(u) == 0 || problem.at_once(u) == 1 || problem.at_once(u) >= problem.warps();
    Unit::ALL.into_iter().all(sound)
}

/// A bound for every o, equal to [`paper`] where o = 1: I_L + I_C + ⌊(W−1)·I_L/o_L⌋ + ⌊(W−1)·I_C/o_C⌋. Follow the warp that ends last: it runs in
/// I_L + I_C cycles, and in every other one its unit is full with o instructions of the other warps. A unit that fewer than o other warps ask for
/// is never full.
pub fn sound(problem: &Problem) -> u64 {
    let others = u64::from(problem.warps() - 1);
    let of = |u: Unit| {
        let (count, o) = (problem.count(u), u64::from(problem.at_once(u)));
        count + if others < o { 0 } else { others * count / o }
    };
    of(Unit::LoadStore) + of(Unit::Core)
}

/// No schedule is shorter: all instructions of a unit have to be done, and one warp needs its own.
pub fn shortest(problem: &Problem) -> u64 {
    let all = u64::from(problem.warps());
    let of = |u: Unit| (all * problem.count(u)).div_ceil(problem.at_once(u).into());
    of(Unit::LoadStore).max(of(Unit::Core)).max(problem.units().len() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::{Capacity, Machine};
    use super::*;

    #[test]
    fn values_of_the_paper() {
        let of = |kernel: &str, machine: &Machine, warps| {
            let p = Problem::new(&kernel.parse().unwrap(), machine, warps).unwrap();
            (paper(&p), paper_is_sound(&p), sound(&p))
        };
        let half = Machine { load_store: Capacity::new(16, 32).unwrap(), cores: Capacity::ONE };
        assert_eq!(of("LLC", &Machine::ONE, 4), (12, true, 12));
        assert_eq!(of("LLCLL", &Machine::ONE, 600), (3000, true, 3000));
        assert_eq!(of("LCLCL", &half, 420), (3360, true, 3360));
        let two = Machine { load_store: Capacity::new(2, 1).unwrap(), cores: Capacity::ONE };
        assert_eq!(of("LL", &two, 4), (4, false, 5));
        assert_eq!(of("LL", &two, 2), (2, true, 2));
    }
}
