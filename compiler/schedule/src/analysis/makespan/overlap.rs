//! # overlap
//!
//! Purpose: a sound bound by formula for any machine, and one from every state. Input: a [`Problem`]. Output: an [`Overlap`]: what a warp at each
//! instruction may still make others wait, with what must overlap taken off.
//!
//! ```text
//! T(W) ≤ I + ⌊(W − 1)·max(l_0, c_0)⌋
//! i is L:   c_i = max(c_{i+1}, l_{i+1})     l_i = max(l_{i+1} + 1/o_L, c_i)          l_I = c_I = 0
//! i is C:   l_i = max(l_{i+1}, c_{i+1})     c_i = max(c_{i+1} + 1/o_C, l_i)
//!
//! LLC, o = 1:   2·W + 1            LCLCL:   3·W + 2            (pessimistic: 3·W and 5·W)
//! ```
//!
//! For o = 1, max(l_0, c_0) = I − m, where m is the most pairs of neighbours that need different units, no instruction in two of them; and for all
//! strings that the dynamic programme was tried with, of up to 11 instructions, the bound is then the worst case itself of any number of warps but two.
//!
//! Proof. Let z be the warp that ends last. In I cycles it runs; in every other one it waits, and its unit is full with others. Let L and C be the sums
//! of l and of c over the others, D the cycles so far in which z waited, V₀ = (W − 1)·max(l_0, c_0). *After each instruction of z, and at the beginning,
//! L ≤ V₀ − D and C ≤ V₀ − D*; so D ≤ V₀ in the end. For let it hold when z comes to an instruction, say one for load/store units (else exchange the units).
//!
//! - While z waits, o_L others run there, and L falls by 1 or more, since l falls by 1/o_L with an instruction L, and never rises. So L ≤ V₀ − D holds,
//!   also after z has run.
//! - Call a cycle *light* if all warps that wait for cores run in it. After a light one, C is at most what L was before it: a warp that waited for a core at i is at
//!   i + 1, and c_{i+1} ≤ l_i there; one that waited for a load/store unit at i has no more than c_i ≤ l_i. In one that is not light, o_C others run on cores, and C falls
//!   by 1 or more.
//! - If no cycle in which z waits here is light, C ≤ V₀ − D holds all along. Else C ≤ V₀ − D + 1 after the last light one (the L of before it, with one wait less),
//!   and until z runs. In the cycle in which z runs D stays: if it is light, C is at most the L of before it, at most V₀ − D; else C falls by 1. ∎
//!
//! Where others are fewer than o, z never waits for that unit, and 1/o may be 0. From a state in the middle the same holds with the sums over its warps, whichever of
//! them is z. Source: ours; it sharpens [`bounds::sound`](super::bounds::sound), which is l and c without the maxima.

use super::{Problem, Unit};

/// What warps may make others wait.
pub struct Overlap {
    /// By instruction, l and c, in parts of a cycle.
    left: Vec<[u128; 2]>,
    /// So many parts are a cycle.
    parts: u128,
}

impl Overlap {
    /// Computes it.
    pub fn new(problem: &Problem) -> Overlap {
        let o = Unit::ALL.map(|u| u128::from(problem.at_once(u)));
        let step = |u: Unit| if u128::from(problem.warps()) > o[u as usize] { o[1 - u as usize] } else { 0 };
        let mut left = vec![[0; 2]; problem.units().len()];
        let mut after = [0; 2];
        for (i, unit) in problem.units().iter().enumerate().rev() {
            let (own, other) = (*unit as usize, 1 - *unit as usize);
            let mut now = after;
            now[other] = after[0].max(after[1]);
            now[own] = (after[own] + step(*unit)).max(now[other]);
            left[i] = now;
            after = now;
        }
        Overlap { left, parts: o[0] * o[1] }
    }

    /// No schedule takes longer.
    pub fn bound(&self, problem: &Problem) -> u64 {
        let each = self.left[0][0].max(self.left[0][1]);
        self.cycles(0, u128::from(problem.warps() - 1) * each)
    }

    /// No schedule takes longer from a state: by instruction, the warps at it.
    pub fn ahead(&self, counts: &[u32]) -> u64 {
        let mut sum = [0; 2];
        for (n, left) in counts.iter().zip(&self.left) {
            (0..2).for_each(|u| sum[u] += u128::from(*n) * left[u]);
        }
        let any = counts.iter().enumerate().filter(|(_, n)| **n > 0);
        let last = any.map(|(i, _)| self.cycles(i, (sum[0] - self.left[i][0]).max(sum[1] - self.left[i][1])));
        last.max().unwrap_or(0)
    }

    /// What the last warp has left at an instruction, and so many parts of cycles.
    fn cycles(&self, at: usize, parts: u128) -> u64 {
        (self.left.len() - at) as u64 + u64::try_from(parts / self.parts).unwrap_or(u64::MAX / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact::{Limits, exact};
    use super::super::search::runs;
    use super::super::{Capacity, Kernel, Machine, bounds};
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
                let bound = Overlap::new(&p).bound(&p.with_warps(warps));
                let worst = table.worst(warps);
                assert!(bound >= worst && (warps == 2 || bound == worst), "{kernel} {warps}: {bound} {worst}");
            }
        }
    }

    /// The longest way from every state, against the bound from it.
    fn longest(p: &Problem, overlap: &Overlap, counts: Vec<u32>, known: &mut HashMap<Vec<u32>, u64>) -> u64 {
        if let Some(t) = known.get(&counts) {
            return *t;
        }
        let mut worst = 0;
        let [l, c] = Unit::ALL.map(|u| runs(p, &counts, u));
        for (l, c) in l.iter().flat_map(|l| c.iter().map(move |c| (l, c))).filter(|(l, c)| l.len() + c.len() > 0) {
            let mut next = counts.clone();
            for i in l.iter().chain(c) {
                next[*i] -= 1;
                if let Some(n) = next.get_mut(i + 1) {
                    *n += 1;
                }
            }
            worst = worst.max(1 + longest(p, overlap, next, known));
        }
        let bound = overlap.ahead(&counts);
        assert!(bound >= worst, "{} {counts:?}: {bound} {worst}", p.kernel());
        known.insert(counts, worst);
        worst
    }

    #[test]
    fn it_bounds_every_state() {
        let mut sharp = 0;
        for (l, c) in [(1, 1), (1, 2), (2, 2), (3, 1), (3, 2), (8, 1)] {
            let of = |o| Capacity::new(o, 1).unwrap();
            let machine = Machine { load_store: of(l), cores: of(c) };
            for kernel in (1..=if l * c > 2 { 5 } else { 6 }).flat_map(kernels) {
                let p = Problem::new(&kernel, &machine, 6).unwrap();
                let overlap = Overlap::new(&p);
                let mut start = vec![0; p.units().len()];
                start[0] = 6;
                assert_eq!(overlap.ahead(&start), overlap.bound(&p));
                assert!(overlap.bound(&p) <= bounds::sound(&p), "{kernel}");
                sharp += usize::from(longest(&p, &overlap, start, &mut HashMap::new()) == overlap.bound(&p));
            }
        }
        assert!(sharp > 200, "{sharp}");
    }

    #[test]
    fn it_bounds_many_warps_at_once() {
        for (l, c) in [(2, 2), (1, 2), (4, 1), (3, 2)] {
            let of = |o| Capacity::new(o, 1).unwrap();
            for kernel in kernels(5) {
                let p = Problem::new(&kernel, &Machine { load_store: of(l), cores: of(c) }, 14).unwrap();
                let table = exact(&p, Limits { states: 1 << 20, stop: &|| false }).unwrap();
                for warps in 1..=14 {
                    let p = p.with_warps(warps);
                    assert!(Overlap::new(&p).bound(&p) >= table.worst(warps), "{kernel} {warps} {l} {c}");
                }
            }
        }
    }

    #[test]
    fn large_numbers() {
        let of = |o| Capacity::new(o, 1).unwrap();
        let machine = Machine { load_store: of(1 << 20), cores: of((1 << 20) - 1) };
        let p = Problem::new(&Kernel::new([Unit::LoadStore, Unit::Core].repeat(50_000)), &machine, 1_000_000).unwrap();
        assert_eq!(Overlap::new(&p).bound(&p), 100_000);
        let p = Problem::new(&p.kernel(), &Machine::ONE, 1_000_000).unwrap();
        assert_eq!(Overlap::new(&p).bound(&p), 100_000 + 999_999 * 50_000);
    }
}
