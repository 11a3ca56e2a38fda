//! # pairs
//!
//! Purpose: a sound bound by formula where each kind of unit takes one warp per cycle, and one from every state. Input: a [`Problem`]. Output:
//! [`Pairs`], of a string with m pairs of neighbours that need different units, no instruction in two pairs:
//!
//! ```text
//! T(W) ≤ (I − m)·W + m                    LLC: m = 1, 2·W + 1;  LCLCL: m = 2, 3·W + 2
//! ```
//!
//! m is the most pairs there are: ⌊length / 2⌋ summed over the stretches in which the letters alternate. For all strings up to 11 instructions
//! and as many warps as the dynamic programme was tried with, 3 or more, this is the worst case itself; [`search`](super::search) finds the schedule.
//!
//! Proof. Let s and e be the first and the second instruction of a pair, u one in no pair. A cycle is *double* where both kinds of unit run, else
//! *single*; a state is of L where all warps left wait for load/store units, of C where all wait for cores, double where some wait for each. By
//! work conservation the cycle after it is double just where the state is. Of a state let E_L and E_C be the warps that wait for an e with
//! load/store units and with cores, and
//!
//! ```text
//! V = instructions left − s left − min(E_L, E_C)          V(start) = (I − m)·W, V(end) = 0
//! ```
//!
//! An s raises the E of the *other* unit by one and leaves "instructions left − s left" as it is, an e lowers its own E by one and the rest by one, a u lowers the
//! rest by one. So V falls by one or more in a double cycle: s with s raises both E; s with e leaves one E and the other as it was; e with e takes two and
//! lowers the minimum by one at most; u with e likewise, u with s and u with u directly. In a single cycle, say of a state of L, E_C is 0: e and
//! u lower V by one, and so does s where E_L > 0, since the minimum rises to 1. What is left is s in a state with E_L = E_C = 0. Say a state of L; the warp then
//! waits for a core, and ℓ ≥ 0 double cycles follow, up to the next state that is not double, in which the minimum is 0 again. Count what ran
//! in them: s_L + e_L + u_L = s_C + e_C + u_C = ℓ, and V fell by 2ℓ − s_L − s_C in the ℓ + 1 cycles.
//!
//! - Next a state of L, or the end: E_C is 0, so e_C = s_L + 1 and s_L + s_C = ℓ − 1 − u_C. V fell by ℓ + 1 or more.
//! - Next a state of C: E_L is 0, so e_L = s_C and s_L + s_C = ℓ − u_L. V fell by ℓ or more; by ℓ + 1, where u_L > 0. If u_L = 0 all the warps left had to go
//!   from L to C without a u, and with no e at first: each performed an s. That is so at most once for each s of the warp that ends last: m times.
//!
//! So V falls by the number of cycles less m, at least. From a state in the middle, the same with the s that the hindmost warp has before it.
//! Source: ours. What takes 1/n warp per cycle has n letters for each, so that the bound holds for it.

use super::{Problem, Unit};

/// The bound of a string.
pub struct Pairs {
    /// Ways to choose the pairs.
    ways: Vec<Way>,
}

/// What of a warp at an instruction is left: by instruction.
struct Way {
    /// Instructions less first ones of pairs.
    value: Vec<u64>,
    /// First ones of pairs.
    firsts: Vec<u64>,
    /// Is it the second one of a pair, and for which unit?
    second: Vec<Option<Unit>>,
}

impl Pairs {
    /// `None` where units take several warps at once.
    pub fn new(problem: &Problem) -> Option<Pairs> {
        let one = |u: Unit| problem.at_once(u) == 1 || problem.count(u) == 0;
        if !Unit::ALL.into_iter().all(one) {
            return None;
        }
        // As many from the left as from the right; from a state in the middle, one may have more left than the other.
        let units = problem.units();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at + 1 < units.len() {
            let pair = units[at] != units[at + 1];
            left.extend(pair.then_some(at));
            at += 1 + usize::from(pair);
        }
        let mut at = units.len();
        while at >= 2 {
            let pair = units[at - 2] != units[at - 1];
            right.extend(pair.then_some(at - 2));
            at -= 1 + usize::from(pair);
        }
        Some(Pairs { ways: [left, right].iter().map(|firsts| Way::new(units, firsts)).collect() })
    }

    /// m.
    pub fn most(&self) -> u64 {
        self.ways.iter().map(|w| w.firsts[0]).max().unwrap_or(0)
    }

    /// No schedule takes longer.
    pub fn bound(&self, problem: &Problem) -> u64 {
        let m = self.most();
        (problem.units().len() as u64 - m) * u64::from(problem.warps()) + m
    }

    /// No schedule takes longer from a state: by instruction, the warps at it.
    pub fn ahead(&self, counts: &[u32]) -> u64 {
        self.ways.iter().map(|w| w.ahead(counts)).min().unwrap_or(u64::MAX)
    }
}

impl Way {
    fn new(units: &[Unit], pairs: &[usize]) -> Way {
        let n = units.len();
        let mut way = Way { value: vec![0; n], firsts: vec![0; n], second: vec![None; n] };
        for first in pairs {
            way.firsts[*first] = 1;
            way.second[first + 1] = Some(units[first + 1]);
        }
        let (mut value, mut firsts) = (0, 0);
        for i in (0..n).rev() {
            value += 1 - way.firsts[i];
            firsts += way.firsts[i];
            (way.value[i], way.firsts[i]) = (value, firsts);
        }
        way
    }

    fn ahead(&self, counts: &[u32]) -> u64 {
        let (mut value, mut seconds, mut singles) = (0, [0u64; 2], 0);
        for (i, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let n = u64::from(*n);
            value += n * self.value[i];
            // The hindmost is first.
            singles = singles.max(self.firsts[i]);
            if let Some(unit) = self.second[i] {
                seconds[unit as usize] += n;
            }
        }
        value - seconds[0].min(seconds[1]) + singles
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact::{Limits, exact};
    use super::super::{Capacity, Kernel, Machine};
    use super::*;
    use std::collections::HashMap;

    fn kernels(length: usize) -> impl Iterator<Item = Kernel> {
        let unit = |bits: u32, i: usize| if bits >> i & 1 == 0 { Unit::LoadStore } else { Unit::Core };
        (0..1u32 << length).map(move |bits| Kernel::new((0..length).map(|i| unit(bits, i)).collect()))
    }

    #[test]
    fn it_is_the_worst_case_of_one_and_of_three_and_more_warps() {
        for kernel in (1..=8).flat_map(kernels) {
            let p = Problem::new(&kernel, &Machine::ONE, 7).unwrap();
            let table = exact(&p, Limits { states: 1 << 20, stop: &|| false }).unwrap();
            for warps in 1..=7 {
                let bound = Pairs::new(&p).unwrap().bound(&p.with_warps(warps));
                let worst = table.worst(warps);
                assert!(bound >= worst && (warps == 2 || bound == worst), "{kernel} {warps}: {bound} {worst}");
            }
        }
    }

    /// The longest way from a state, and the bound from it.
    fn longest(units: &[Unit], pairs: &Pairs, counts: Vec<u32>, known: &mut HashMap<Vec<u32>, u64>) -> u64 {
        if let Some(t) = known.get(&counts) {
            return *t;
        }
        let ready = |u: Unit| {
            let at: Vec<_> = (0..units.len()).filter(|i| units[*i] == u && counts[*i] > 0).map(Some).collect();
            if at.is_empty() { vec![None] } else { at }
        };
        let mut worst = 0;
        for (l, c) in
            ready(Unit::LoadStore).into_iter().flat_map(|l| ready(Unit::Core).into_iter().map(move |c| (l, c)))
        {
            let mut next = counts.clone();
            for i in [l, c].into_iter().flatten() {
                next[i] -= 1;
                if let Some(n) = next.get_mut(i + 1) {
                    *n += 1;
                }
            }
            if next != counts {
                worst = worst.max(1 + longest(units, pairs, next, known));
            }
        }
        assert!(pairs.ahead(&counts) >= worst, "{units:?} {counts:?}: {} {worst}", pairs.ahead(&counts));
        known.insert(counts, worst);
        worst
    }

    #[test]
    fn it_bounds_every_state() {
        for kernel in (1..=6).flat_map(kernels) {
            let p = Problem::new(&kernel, &Machine::ONE, 5).unwrap();
            let pairs = Pairs::new(&p).unwrap();
            let mut start = vec![0; p.units().len()];
            start[0] = 5;
            assert_eq!(pairs.ahead(&start), pairs.bound(&p));
            longest(p.units(), &pairs, start, &mut HashMap::new());
        }
    }

    #[test]
    fn units_that_take_several_warps_have_none() {
        let two = Machine { load_store: Capacity::new(2, 1).unwrap(), cores: Capacity::ONE };
        let of = |kernel: &str| Pairs::new(&Problem::new(&kernel.parse().unwrap(), &two, 9).unwrap()).map(|p| p.most());
        assert_eq!((of("LC"), of("CC")), (None, Some(0)));
    }
}
