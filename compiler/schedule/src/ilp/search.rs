//! # search
//!
//! Purpose: the schedule with the least II, among those the one with the fewest stages, among those the one with the smallest buffers; and what of that
//! is proven. Input: problem, bounds, possibly a schedule to begin with. Output: a [`Solution`] that the judge has passed, or a [`Failure`].
//!
//! Steps (algorithms.md, section 2): T from the best proven lower bound, relaxed by half a percent as long as no schedule is found; what is infeasible
//! raises the bound; between bound and schedule the interval is halved while the budget lasts, also where a step goes past a schedule that was there before. Then stages, then bytes, each from what was found before.

use super::cbc::{self, Limits, Start, Status};
use super::formulation::{Aim, Program, binaries};
use super::stage_bound::stage_bound;
use crate::analysis::bounds::Bounds;
use crate::analysis::glue::Groups;
use crate::problem::judge::{Verified, verify};
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use crate::solver::complete::longest;
use std::collections::BTreeSet;

/// What a search may spend.
#[derive(Clone, Copy)]
pub enum Budget<'a> {
    /// So many nodes for each solve, so that the same search has the same result every time.
    Nodes(u64),
    /// So much time by a clock that is handed in: this crate reads none.
    Seconds {
        /// For everything.
        total: f64,
        /// Seconds since any moment.
        clock: &'a dyn Fn() -> f64,
    },
}

/// How to search.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// What it may spend.
    pub budget: Budget<'a>,
    /// The part of T that is added when nothing was found; the paper's is 0.005.
    pub relax: f64,
    /// An II that must be reached: a longer one is a failure.
    pub require_ii: Option<u64>,
    /// How far from the lower bound an II is good enough, as a part of it: nothing more is spent on a shorter one.
    pub gap: f64,
    /// How far from the lower bound the II may get, as a part of it, where that saves stages or bytes.
    pub slack: f64,
    /// The full program is not made with more w than this.
    pub most_binaries: usize,
}

impl<'a> Options<'a> {
    /// So much time, the paper's half a percent, and a gap of a thousandth. The paper gives each try 20 seconds; here all of them share them.
    pub fn seconds(total: f64, clock: &'a dyn Fn() -> f64) -> Options<'a> {
        Options { budget: Budget::Seconds { total, clock }, gap: 0.001, ..Options::nodes(0) }
    }

    /// The same every time: so many nodes for each solve, and no gap is good enough.
    pub fn nodes(nodes: u64) -> Options<'static> {
        Options {
            budget: Budget::Nodes(nodes),
            relax: 0.005,
            require_ii: None,
            gap: 0.0,
            slack: 0.0,
            most_binaries: 800,
        }
    }
}

/// What one try at an II came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A schedule.
    Found,
    /// There is none with this II.
    Infeasible,
    /// The budget was spent before.
    Open,
    /// The solver gave up: another try would be no other one.
    Failed,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// No schedule has a shorter II.
    Proven,
    /// A shorter one would be by less than [`Options::gap`].
    Enough,
    /// What it may spend was spent.
    Spent,
    /// The solver gave up on an II that may have a schedule.
    GaveUp,
    /// Processors were filled in all ways that are looked for; others may exist.
    Open,
}

/// One try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Try {
    /// T.
    pub ii: u64,
    /// What came of it.
    pub answer: Answer,
}

/// A schedule and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The schedule, as the judge has passed it.
    pub schedule: Verified,
    /// Its II.
    pub ii: u64,
    /// MII: the bound that does not look at how instances fill processors.
    pub mii: u64,
    /// No schedule has a shorter II.
    pub lower: u64,
    /// The II up to which stages and bytes were looked for: this one, or what [`Options::slack`] allows.
    pub target: u64,
    /// Stages.
    pub stages: u32,
    /// No schedule with an II up to [`Solution::target`] has fewer; equal to `stages` where those are proven to be the fewest.
    pub fewest_stages: u32,
    /// Bytes of all buffers.
    pub bytes: u64,
    /// No schedule with such an II and so many stages has fewer; equal to `bytes` where those are proven to be the fewest.
    pub fewest_bytes: u64,
    /// Was the problem taken apart (first the processors, then the rest), because the full program would be too large?
    pub decomposed: bool,
    /// Why no shorter II was looked for.
    pub end: End,
    /// Where T was tried, in order.
    pub tries: Vec<Try>,
    /// Seconds by the clock that was handed in; 0 without one.
    pub seconds: f64,
}

impl Solution {
    /// The proven gap: how much longer than the lower bound the II is, as a part of it.
    pub fn gap(&self) -> f64 {
        (self.ii - self.lower) as f64 / self.lower as f64
    }

    /// Is nothing better, in the order II, stages, bytes?
    pub fn optimal(&self) -> bool {
        (self.ii, self.stages, self.bytes) == (self.lower, self.fewest_stages, self.fewest_bytes)
    }

    /// How much T had to be relaxed from the first one that was tried, as a part of it.
    pub fn relaxed(&self) -> f64 {
        self.tries.first().map_or(0.0, |t| self.ii.saturating_sub(t.ii) as f64 / t.ii as f64)
    }
}

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The required II is below what any schedule has.
    Impossible {
        /// What was required.
        required: u64,
        /// The bound.
        lower: u64,
    },
    /// No schedule was found; one may exist.
    NotFound {
        /// No schedule has a shorter II.
        lower: u64,
        /// The best II found, where it is longer than was required.
        best: Option<u64>,
        /// Why no more was tried.
        end: End,
        /// Where T was tried, in order.
        tries: Vec<Try>,
    },
}

/// Tries of one search: far more than half-percent steps take to double T.
const MOST_TRIES: usize = 200;
/// The part of the whole time that one try at an II may take.
const SHARE: f64 = 0.3;
/// The part of the time after which no shorter II is looked for: what is left is for stages and buffers.
const TRIES: f64 = 0.9;

/// Searches; `start` is a schedule to begin with, for example a heuristic's. One that the judge refuses is not used.
pub fn solve(
    problem: &ModuloProblem,
    bounds: &Bounds,
    start: Option<&ModuloSchedule>,
    options: &Options,
) -> Result<Solution, Failure> {
    let mut s = Search {
        problem,
        groups: &bounds.groups,
        options,
        began: match options.budget {
            Budget::Seconds { clock, .. } => clock(),
            Budget::Nodes(_) => 0.0,
        },
        lower: bounds.lower,
        target: 0,
        best: None,
        tries: Vec::new(),
        spent: false,
        gave_up: BTreeSet::new(),
    };
    if let Some(start) = start {
        s.offer(start.clone());
    }
    s.impossible()?;
    s.pack();
    s.impossible()?;
    let full = binaries(problem, s.groups) <= options.most_binaries;
    if full {
        s.relax(true, &mut |s, ii, share| s.attempt(ii, share));
        s.impossible()?;
    }
    s.shorten(full, bounds.mii)
}

pub(super) struct Search<'a> {
    pub(super) problem: &'a ModuloProblem,
    pub(super) groups: &'a Groups,
    options: &'a Options<'a>,
    began: f64,
    pub(super) lower: u64,
    /// II up to this are as good as this.
    pub(super) target: u64,
    pub(super) best: Option<Verified>,
    tries: Vec<Try>,
    /// Was time over before all was tried?
    spent: bool,
    /// Where the solver gave up.
    gave_up: BTreeSet<u64>,
}

/// A row of tries.
struct Row {
    /// Those that were left open.
    open: BTreeSet<u64>,
    last: Option<u64>,
    /// Upwards in steps, until one is found or a step goes past the longest that is worth a try.
    stepping: bool,
}

impl Row {
    /// The next one of `low..=high`: a step up; where it would go past `high`, `high` itself, since where there is none with it, there is none at all; then halves of
    /// what is above all that were left open.
    fn next(&mut self, low: u64, high: u64, relax: f64) -> Option<u64> {
        if self.stepping {
            let Some(last) = self.last else { return Some(low) };
            let step = (last as f64 * relax).ceil() as u64;
            let to = low.max(last.saturating_add(step.max(1)));
            if to <= high {
                return Some(to);
            }
            self.stepping = false;
            if high > last {
                return Some(high);
            }
        }
        let from = self.open.range(low..=high).next_back().map_or(low, |o| o + 1);
        (from <= high).then(|| from + (high - from) / 2)
    }

    /// Of those between what was left open, the middle of the longest row.
    fn rest(&self, low: u64, high: u64) -> Option<u64> {
        let (mut from, mut longest) = (low, None);
        for end in self.open.range(low..=high).copied().chain([high + 1]) {
            let free = end - from;
            if free > longest.map_or(0, |(n, _)| n) {
                longest = Some((free, from + (free - 1) / 2));
            }
            from = end + 1;
        }
        longest.map(|(_, middle)| middle)
    }
}

impl Search<'_> {
    /// Takes a schedule if it is right and better than what there is.
    pub(super) fn offer(&mut self, s: ModuloSchedule) -> bool {
        let Ok(new) = verify(self.problem, s) else { return false };
        let key = |v: &Verified| (v.schedule().ii.max(self.target), v.schedule().stages(), v.bytes(self.problem));
        let better = self.best.as_ref().is_none_or(|old| key(&new) < key(old));
        if better {
            self.best = Some(new);
        }
        better
    }

    fn seconds(&self) -> f64 {
        match self.options.budget {
            Budget::Seconds { clock, .. } => clock() - self.began,
            Budget::Nodes(_) => 0.0,
        }
    }

    /// Limits for the next solve, a share of the whole time at most; nothing once the part `until` of it is over.
    pub(super) fn limits(&self, share: f64, until: f64) -> Option<Limits> {
        match self.options.budget {
            Budget::Nodes(nodes) => Some(Limits { seconds: None, nodes: Some(nodes), gap: 0.0 }),
            Budget::Seconds { total, .. } => {
                let left = total * until - self.seconds();
                let seconds = left.min(total * share);
                (left > 0.02).then_some(Limits { seconds: Some(seconds), nodes: None, gap: 0.0 })
            }
        }
    }

    fn impossible(&self) -> Result<(), Failure> {
        match self.options.require_ii {
            Some(required) if required < self.lower => Err(Failure::Impossible { required, lower: self.lower }),
            _ => Ok(()),
        }
    }

    fn best_ii(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |b| b.schedule().ii)
    }

    /// The longest II that is worth a try; below `lower` where there is nothing left to gain.
    fn longest(&self) -> u64 {
        let Some(best) = &self.best else {
            return self.options.require_ii.unwrap_or(u64::MAX).min(self.problem.graph().work());
        };
        let known = best.schedule().ii - 1;
        match self.options.require_ii {
            Some(required) if known >= required => required,
            _ if (best.schedule().ii - self.lower) as f64 <= self.lower as f64 * self.options.gap => 0,
            _ => known,
        }
    }

    /// Stages that suffice for any assignment that can be completed at all.
    fn enough_stages(&self) -> u32 {
        let apart = |d: &crate::problem::dependences::Dependence| self.groups.of[d.from] != self.groups.of[d.to];
        let all = longest(self.problem, |d| i64::from(apart(d)) - d.distance as i64).ok();
        let simple = self.problem.instances() as u32;
        all.and_then(|s| s.into_iter().max()).unwrap_or(simple)
    }

    /// From the lower bound upwards in steps, then what lies between. Where `thorough`, time that is left then goes to what was left open.
    pub(super) fn relax(&mut self, thorough: bool, attempt: &mut dyn FnMut(&mut Self, u64, f64) -> Option<Answer>) {
        let mut row = Row { open: BTreeSet::new(), last: None, stepping: true };
        self.spent = false;
        for _ in 0..MOST_TRIES {
            let (low, high) = (self.lower, self.longest());
            if low > high {
                return;
            }
            let next = row.next(low, high, self.options.relax);
            let by_time = thorough && matches!(self.options.budget, Budget::Seconds { .. });
            let (ii, again) = match next {
                Some(ii) => (ii, false),
                None if !by_time => return,
                None => match row.rest(low, high) {
                    Some(ii) => (ii, false),
                    // All of them were tried for a part of the time: the longest is the easiest, and has what is left.
                    None => match row.open.range(low..=high).next_back() {
                        Some(ii) if !self.gave_up.contains(ii) => (*ii, true),
                        _ => return,
                    },
                },
            };
            let Some(answer) = attempt(self, ii, if again { 1.0 } else { SHARE }) else {
                self.spent = true;
                return;
            };
            self.tries.push(Try { ii, answer });
            match answer {
                Answer::Found => row.stepping = false,
                Answer::Infeasible => self.lower = self.lower.max(ii + 1),
                Answer::Open => _ = row.open.insert(ii),
                Answer::Failed => {
                    row.open.insert(ii);
                    self.gave_up.insert(ii);
                }
            }
            row.last = Some(ii);
            if again && answer == Answer::Open {
                self.spent = true;
                return;
            }
        }
    }

    /// The full program at one II; nothing once the time is over.
    fn attempt(&mut self, ii: u64, share: f64) -> Option<Answer> {
        let limits = self.limits(share, TRIES)?;
        let program = Program::new(self.problem, self.groups, ii, self.enough_stages(), Aim::Feasible);
        let out = cbc::solve(&program.model, &limits, None);
        let found = out.values.as_deref().and_then(|v| program.schedule(v));
        Some(match found.map(|s| self.offer(s)) {
            Some(true) => Answer::Found,
            _ if out.status == Status::Infeasible => Answer::Infeasible,
            _ if out.status == Status::Failed => Answer::Failed,
            _ => Answer::Open,
        })
    }

    /// Why no shorter II was looked for.
    fn end(&self) -> End {
        if self.lower > self.longest() {
            return if self.best_ii() <= self.lower { End::Proven } else { End::Enough };
        }
        match self.options.budget {
            _ if self.gave_up.range(self.lower..=self.longest()).next().is_some() => End::GaveUp,
            Budget::Nodes(_) => End::Spent,
            Budget::Seconds { .. } if self.spent => End::Spent,
            Budget::Seconds { .. } => End::Open,
        }
    }

    /// Fewest stages, then least bytes, and the end.
    fn shorten(mut self, full: bool, mii: u64) -> Result<Solution, Failure> {
        let required = self.options.require_ii;
        let Some(best) = self.best.clone().filter(|b| required.is_none_or(|r| b.schedule().ii <= r)) else {
            let best = self.best.as_ref().map(|b| b.schedule().ii);
            return Err(Failure::NotFound { lower: self.lower, best, end: self.end(), tries: self.tries });
        };
        let enough = self.lower + (self.lower as f64 * self.options.slack) as u64;
        let ii = best.schedule().ii.max(required.map_or(enough, |r| enough.min(r)));
        let end = self.end();
        self.target = ii;
        self.shorten_by_moves(ii);
        let mut fewest_stages = stage_bound(self.problem, self.groups, ii);
        if full && fewest_stages < self.stages() {
            fewest_stages = fewest_stages.max(self.improve(ii, Aim::Stages) as u32 + 1);
        }
        let mut fewest_bytes = self.bytes_bound(self.stages());
        if full && fewest_bytes < self.bytes() {
            fewest_bytes = fewest_bytes.max(self.improve(ii, Aim::Bytes));
        }
        let seconds = self.seconds();
        let schedule = self.best.unwrap_or(best);
        let (stages, bytes) = (schedule.schedule().stages(), schedule.bytes(self.problem));
        let ii = schedule.schedule().ii;
        Ok(Solution {
            ii,
            mii,
            lower: self.lower.min(ii),
            target: self.target,
            stages,
            fewest_stages: fewest_stages.min(stages),
            bytes,
            fewest_bytes: fewest_bytes.min(bytes),
            decomposed: !full,
            end,
            tries: self.tries,
            seconds,
            schedule,
        })
    }

    fn stages(&self) -> u32 {
        self.best.as_ref().map_or(0, |b| b.schedule().stages())
    }

    fn bytes(&self) -> u64 {
        self.best.as_ref().map_or(0, |b| b.bytes(self.problem))
    }

    /// Solves for the last stage or for bytes at this II, from the best schedule. Gives a number that none is below.
    fn improve(&mut self, ii: u64, aim: Aim) -> u64 {
        let (Some(best), Some(limits)) = (self.best.clone(), self.limits(1.0, 1.0)) else { return 0 };
        let program = Program::new(self.problem, self.groups, ii, self.stages() - 1, aim);
        let start = program.values(best.schedule());
        let start = Start { values: &start, step: program.step() };
        let out = cbc::solve(&program.model, &limits, Some(start));
        if let Some(found) = out.values.as_deref().and_then(|v| program.schedule(v)) {
            self.offer(found);
        }
        if !out.bound.is_finite() {
            return 0;
        }
        // Both are whole, and so is what is left of a bound after rounding errors.
        let (bound, error) = match aim {
            Aim::Bytes => (program.bytes(out.bound), 0.5),
            _ => (out.bound, 1e-6),
        };
        (bound - error).ceil().max(0.0) as u64
    }
}
