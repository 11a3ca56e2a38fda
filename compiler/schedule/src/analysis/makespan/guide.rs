//! # guide
//!
//! Purpose: a guess of the longest way from a state, for [`search`](super::search) to look first where it is right. Input: a [`Problem`]. Output: a
//! [`Guide`]. Nothing is proven by it.
//!
//! The [`exact`](super::exact) worst cases of all states of a few warps are the guide: where a state has more, as many are taken away as must be, from the instructions with the
//! most of them, and each adds what the last one that is left adds.

use super::Problem;
use super::exact::{Exact, Limits, exact, states};

/// States of its table: it takes a tenth of a second.
const STATES: u64 = 1 << 19;

/// So much lower are other guesses made.
const LOWER: u32 = 2;

/// A guess from every state.
pub struct Guide {
    table: Exact,
    warps: u32,
}

impl Guide {
    /// `None` where not even the states of three warps are few, or it was stopped.
    pub fn new(problem: &Problem, stop: &dyn Fn() -> bool) -> Option<Guide> {
        let few = |w: &u32| states(problem.units().len(), *w).is_some_and(|s| s <= STATES);
        let warps = (3..=problem.warps()).take_while(few).last()?;
        let table = exact(&problem.with_warps(warps), Limits { states: STATES, stop }).ok()?;
        Some(Guide { table, warps })
    }

    /// From a state (by instruction, the warps at it), in quarters of a cycle; `None` where warps are at too many instructions.
    pub fn ahead(&self, counts: &[u32]) -> Option<i64> {
        let capped = |cap: u32| counts.iter().map(|n| (*n).min(cap)).sum::<u32>();
        let cap = (1..=self.warps).take_while(|c| capped(*c) <= self.warps).last()?;
        (cap.saturating_sub(LOWER).max(1)..=cap).map(|c| self.at(counts, c)).min()
    }

    /// With this many warps left at an instruction.
    fn at(&self, counts: &[u32], cap: u32) -> i64 {
        let mut few: Vec<u32> = counts.iter().map(|n| (*n).min(cap)).collect();
        let at = self.table.of(&few) as i64;
        let mut sum = 4 * at;
        // Units that take two warps at once may make every second one free.
        let last = cap.min(2);
        for i in 0..few.len() {
            let more = i64::from(counts[i] - few[i]);
            if more > 0 {
                few[i] -= last;
                sum += more * 4 * (at - self.table.of(&few) as i64) / i64::from(last);
                few[i] += last;
            }
        }
        sum
    }
}
