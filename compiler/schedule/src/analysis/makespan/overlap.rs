//! # overlap
//!
//! Purpose: a sound bound by formula for any machine, and one from every state. Input: a [`Problem`]. Output: an [`Overlap`]: what a warp at each
//! instruction may still make others wait, with what must overlap taken off.
//!
//! ```text
//! T(W) ≤ I + ⌊(W − 1)·max(l_0, c_0) + R⌋
//! i is L:   c_i = max(c_{i+1}, l_{i+1} − a)     l_i = max(l_{i+1} + 1/o_L, c_i)          l_I = c_I = 0
//! i is C:   l_i = max(l_{i+1}, c_{i+1} − b)     c_i = max(c_{i+1} + 1/o_C, l_i)
//!
//! o_L·max(0, l_{i+1} − c_i), the most of it at any L, is A;   o_C·max(0, c_{i+1} − l_i) at any C is B;
//! R: the sum over the runs of equal letters but the first: A for one of L, B for one of C
//!
//! LLC, o = 1, a = b = 0:   2·W + 1            LCLCL:   3·W + 2            (pessimistic: 3·W and 5·W)
//! ```
//!
//! a and b, 0 or more, may be chosen: what W is multiplied by falls with them, R grows. With a = b = 0, R = 0. For o = 1, max(l_0, c_0) = I − m then, where m is the most pairs of
//! neighbours that need different units, no instruction in two of them; and for all strings that the dynamic programme was tried with, of up to 11 instructions, the bound is the worst case
//! itself of any number of warps but two. Where o_L and o_C differ, greater ones are better for many warps: `LLLCCCLLLCCC` with o_C = 2 has 7.5·W with a = b = 0, 6.5·W with a and
//! b unlimited, and the worst case grows by 6.5 with each warp as far as it is known. Some of them are tried, the best is taken.
//!
//! Proof. Let z be the warp that ends last. In I cycles it runs; in every other one it waits, and its unit is full with others. Let L and C be the sums
//! of l and of c over the others, D the cycles so far in which z waited. Let L ≤ p − D and C ≤ q − D hold when z comes to an instruction, say one for load/store units (else exchange
//! the units). *Then L ≤ p − D holds all along, and C ≤ max(q, p + B) − D when it has performed it.* For:
//!
//! - While z waits, o_L others run there, and L falls by 1 or more, since l falls by 1/o_L with an instruction L, and never rises. So L ≤ p − D holds,
//!   also after z has run.
//! - Call a cycle *light* if all warps that wait for cores run in it: o_C of them at most. After a light one, C is at most B more than L was before it: a warp that waited for a core at i is at
//!   i + 1, and c_{i+1} is at most l_i, but for the part of B that is one warp's; one that waited for a load/store unit at i has no more than c_i ≤ l_i. In a cycle that is
//!   not light, o_C others run on cores, and C falls by 1 or more.
//! - If no cycle in which z waits here is light, C ≤ q − D holds all along. Else C ≤ p + B − D + 1 after the last light one (the L of before it, with one wait less),
//!   and until z runs. In the cycle in which z runs D stays: if it is light, C is at most B more than the L of before it, at most p + B − D; else C falls by 1.
//!
//! Another L right after it changes nothing more: p is the same, and max(q, p + B). So where z's run of letters L is over, p and max(q, p + B) are what the run of C begins with, at the end
//! of which p has become max(p, max(q, p + B) + A), and so on. In its last run z waits no longer than the sum of its unit allows, which is never negative: D ≤ max(p, q − B) + R where it
//! began with an L and has several runs, with A for a run of L and B for one of C in R, but for the first; D ≤ p where all it has is letters L. In the beginning p and q are
//! (W − 1)·l_0 and (W − 1)·c_0, and the greater one is that of the first letter's unit. ∎
//!
//! Where others are fewer than o, z never waits for that unit, and 1/o may be 0. From a state in the middle the same holds with the sums over its warps, whichever of
//! them is z. Source: ours; it sharpens [`bounds::sound`](super::bounds::sound), which is l and c without the maxima.

use super::{Problem, Unit};

/// The a and b that are tried: so many times what an instruction takes of its unit; the second one is no limit.
const ALLOWED: [u128; 10] = [0, u128::MAX, 1, 2, 3, 4, 5, 6, 7, 8];
/// Of kernels that are longer only the first two: it would take seconds.
const LONG: usize = 4096;

/// What warps may make others wait.
pub struct Overlap {
    /// With a = b = 0, and with the a and b that are best from the beginning, where these are better.
    tables: Vec<Table>,
    units: Vec<Unit>,
    /// So many parts are a cycle.
    parts: u128,
}

/// With one choice of a and b. All in parts of a cycle.
struct Table {
    /// By instruction, l and c.
    left: Vec<[u128; 2]>,
    /// By instruction at which the last warp is: R.
    runs: Vec<u128>,
    /// By instruction: A or B of the run after that of the instruction; none in the last run.
    next: Vec<Option<u128>>,
}

impl Table {
    fn new(problem: &Problem, step: [u128; 2], allowed: [u128; 2]) -> Table {
        let units = problem.units();
        let mut left = vec![[0; 2]; units.len()];
        let (mut after, mut most) = ([0u128; 2], [0u128; 2]);
        for (i, unit) in units.iter().enumerate().rev() {
            let (own, other) = (*unit as usize, 1 - *unit as usize);
            let mut now = after;
            now[other] = after[other].max(after[own].saturating_sub(allowed[own]));
            now[own] = (after[own] + step[own]).max(now[other]);
            most[own] = most[own].max(after[own].saturating_sub(now[other]));
            left[i] = now;
            after = now;
        }
        // No more warps than there are besides the last one.
        let at_once = |u: Unit| u128::from(problem.at_once(u).min(problem.warps() - 1));
        let of = Unit::ALL.map(|u| most[u as usize] * at_once(u));
        let (mut runs, mut next) = (vec![0; units.len()], vec![None; units.len()]);
        for i in (1..units.len()).rev() {
            let new = (units[i - 1] != units[i]).then(|| of[units[i] as usize]);
            runs[i - 1] = runs[i] + new.unwrap_or(0);
            next[i - 1] = new.or(next[i]);
        }
        Table { left, runs, next }
    }

    /// So long the last warp, which is at an instruction, may wait if these are the sums over the others.
    fn waits(&self, at: usize, unit: Unit, sums: [u128; 2]) -> u128 {
        let (own, other) = (sums[unit as usize], sums[1 - unit as usize]);
        match self.next[at] {
            None => own,
            Some(next) => own.max(other.saturating_sub(next)) + self.runs[at],
        }
    }
}

impl Overlap {
    /// Computes it.
    pub fn new(problem: &Problem) -> Overlap {
        let o = Unit::ALL.map(|u| u128::from(problem.at_once(u)));
        let step = |u: Unit| if u128::from(problem.warps()) > o[u as usize] { o[1 - u as usize] } else { 0 };
        let step = Unit::ALL.map(step);
        let mut overlap = Overlap {
            tables: vec![Table::new(problem, step, [0; 2])],
            units: problem.units().to_vec(),
            parts: o[0] * o[1],
        };
        let (mut least, mut best) = (overlap.bound(problem), None);
        let tried = &ALLOWED[..if problem.units().len() > LONG { 2 } else { ALLOWED.len() }];
        for (a, b) in tried.iter().flat_map(|a| tried.iter().map(move |b| (a, b))).skip(1) {
            let table = Table::new(problem, step, [a.saturating_mul(step[0]), b.saturating_mul(step[1])]);
            let bound = overlap.beginning(problem, &table);
            if bound < least {
                (least, best) = (bound, Some(table));
            }
        }
        overlap.tables.extend(best);
        overlap
    }

    /// No schedule takes longer.
    pub fn bound(&self, problem: &Problem) -> u64 {
        self.tables.iter().map(|t| self.beginning(problem, t)).min().unwrap_or(u64::MAX)
    }

    fn beginning(&self, problem: &Problem, table: &Table) -> u64 {
        let others = u128::from(problem.warps() - 1);
        self.cycles(table, 0, table.left[0].map(|l| others * l))
    }

    /// No schedule takes longer from a state: by instruction, the warps at it.
    pub fn ahead(&self, counts: &[u32]) -> u64 {
        self.tables.iter().map(|t| self.ahead_by(t, counts)).min().unwrap_or(u64::MAX)
    }

    fn ahead_by(&self, table: &Table, counts: &[u32]) -> u64 {
        let mut sum = [0; 2];
        for (n, left) in counts.iter().zip(&table.left) {
            (0..2).for_each(|u| sum[u] += u128::from(*n) * left[u]);
        }
        let any = counts.iter().enumerate().filter(|(_, n)| **n > 0);
        let others = |i: usize| [sum[0] - table.left[i][0], sum[1] - table.left[i][1]];
        any.map(|(i, _)| self.cycles(table, i, others(i))).max().unwrap_or(0)
    }

    /// From where the last warp is at an instruction, and the others have these sums.
    fn cycles(&self, table: &Table, at: usize, sums: [u128; 2]) -> u64 {
        let waits = table.waits(at, self.units[at], sums) / self.parts;
        (table.left.len() - at) as u64 + u64::try_from(waits).unwrap_or(u64::MAX / 2)
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
    fn where_units_differ_it_grows_as_the_worst_case_does() {
        // By kernel and o_C, so many halves of a cycle for each warp.
        for (kernel, cores, halves) in [
            ("CLLLCCCLCLCC", 2, 10),
            ("LLLCCCLLLCCC", 2, 13),
            ("LCCLCCLCCLCC", 2, 8),
            ("CLCCLCCCLLCC", 2, 9),
            ("LCCLLCLCCCCC", 2, 11),
            ("LCCCCCLC", 4, 4),
        ] {
            let machine = Machine { load_store: Capacity::ONE, cores: Capacity::new(cores, 1).unwrap() };
            let p = Problem::new(&kernel.parse().unwrap(), &machine, 10).unwrap();
            let table = exact(&p, Limits { states: 1 << 20, stop: &|| false }).unwrap();
            for warps in 1..=10 {
                let p = p.with_warps(warps);
                assert!(Overlap::new(&p).bound(&p) >= table.worst(warps), "{kernel} {warps}");
            }
            assert_eq!(table.worst(10) - table.worst(8), halves, "{kernel}");
            let of = |warps| Overlap::new(&p.with_warps(warps)).bound(&p.with_warps(warps));
            assert_eq!(of(264) - of(64), 100 * halves, "{kernel}");
            // R is small.
            assert!(of(64) <= table.worst(10) + 27 * halves + 6, "{kernel} {}", of(64));
        }
    }

    #[test]
    fn units_that_differ_at_random() {
        let mut dice = 7u64;
        for n in 0..120 {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let of = |o| Capacity::new(o, 1).unwrap();
            let (l, c) = [(1, 2), (1, 4), (3, 1), (2, 3), (4, 2), (1, 3)][n % 6];
            let machine = Machine { load_store: of(l), cores: of(c) };
            let unit = |i: usize| if dice >> (40 + i) & 1 == 0 { Unit::LoadStore } else { Unit::Core };
            let p = Problem::new(&Kernel::new((0..8).map(unit).collect()), &machine, 10).unwrap();
            let table = exact(&p, Limits { states: 1 << 20, stop: &|| false }).unwrap();
            for warps in 1..=10 {
                let p = p.with_warps(warps);
                assert!(Overlap::new(&p).bound(&p) >= table.worst(warps), "{} {warps} {l} {c}", p.kernel());
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
