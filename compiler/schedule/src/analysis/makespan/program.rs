//! # program
//!
//! Purpose: the paper's integer program for the exact worst case (paper 002, section 5), with its short constraints, (34) and (37), or its long
//! ones, (33) and (36). Input: a [`Problem`] and limits. Output: the worst case and a schedule that takes it, or what is known when a limit is met.
//!
//! x[w,i,t] is 1 where warp w performs instruction i in cycle t (LS or CC of the paper, by the kind of i: those of the other kind are 0
//! by (17)). E_t is 1 where the load/store units are full in cycle t, G_t the same of the cores. With Y[w,i] the cycle of instruction i:
//!
//! ```text
//! TL[w,i,t] = (Y[w,i−1] ≥ t) + (Y[w,i] ≤ t)     0 exactly where warp w is ready for i in cycle t and waits
//! short   TL[w,i,t] + E_t ≥ 1                   for each i that needs a load/store unit
//! long    Σ_i TL[w,i,t] + I·E_t ≥ I             for each w and t; TL is 1 where i needs no load/store unit
//! ```
//!
//! The left-hand sides of (33), (34), (36) and (37) hold always, so they are not written down. "Y ≥ t" is "executed in some cycle t' ≥ t"; cycles
//! that an instruction cannot be in, for those before and after it, have no variable. The horizon is [`bounds::sound`](super::bounds::sound) or
//! the one by [`overlap`](super::overlap), whichever is less: the paper's own bound is none for o ≥ 2. Constraint (11), the last warp ends last, is written as
//! each warp ends no later than the next one: warps are alike.

use super::overlap::Overlap;
use super::schedule::{Schedule, judge};
use super::{Problem, Unit, bounds};
use crate::ilp::cbc::{self, Limits, Status};
use crate::ilp::model::{Model, Var};

/// The most variables of a program: beyond, CBC does not look at the clock for minutes, and takes gigabytes.
pub const MOST_VARIABLES: u64 = 10_000;

/// How the work-conserving rule is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// (34) and (37): W·I·T rows.
    Short,
    /// (33) and (36): W·T rows of each kind.
    Long,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// A schedule, legal by the judge, if one was found.
    pub witness: Option<Schedule>,
    /// No schedule takes longer.
    pub bound: u64,
    /// Does the witness take as long as the bound?
    pub exact: bool,
}

/// The program of a problem.
pub struct Program<'a> {
    /// As CBC gets it.
    pub model: Model,
    problem: &'a Problem,
    horizon: usize,
    /// By warp and instruction, the variables of its cycles, the first of which is cycle i.
    x: Vec<Vec<Vec<Var>>>,
}

/// Cycles that no schedule exceeds.
fn horizon(problem: &Problem) -> u64 {
    bounds::sound(problem).min(Overlap::new(problem).bound(problem))
}

/// Variables of a problem's program, near enough.
pub fn variables(problem: &Problem) -> u64 {
    let length = problem.units().len() as u64;
    let cycles = horizon(problem).saturating_sub(length) + 1;
    u64::from(problem.warps()).saturating_mul(length).saturating_mul(cycles)
}

/// Solves it; `seconds` are for CBC.
pub fn solve(problem: &Problem, form: Form, limits: &Limits) -> Answer {
    let program = Program::new(problem, form);
    let out = cbc::solve(&program.model, limits, None);
    let witness = out.values.as_deref().and_then(|v| program.schedule(v));
    let worst = witness.as_ref().map(|s| s.cycles.len() as u64);
    // The objective is −Y, a whole number; what CBC says of a bound is a float.
    let bound = if out.status == Status::Optimal && worst.is_some() {
        worst.unwrap_or_default()
    } else if out.bound.is_finite() && out.bound < 0.0 {
        ((-out.bound + 1e-6).floor() as u64).clamp(worst.unwrap_or(0), program.horizon as u64)
    } else {
        program.horizon as u64
    };
    Answer { exact: worst == Some(bound), witness, bound }
}

impl<'a> Program<'a> {
    /// Makes it.
    pub fn new(problem: &'a Problem, form: Form) -> Program<'a> {
        let horizon = horizon(problem) as usize;
        let (warps, length) = (problem.warps() as usize, problem.units().len());
        let mut model = Model::default();
        let slack = horizon + 1 - length;
        let mut of = || (0..slack).map(|_| model.binary()).collect::<Vec<Var>>();
        let x: Vec<Vec<Vec<Var>>> = (0..warps).map(|_| (0..length).map(|_| of()).collect()).collect();
        let mut p = Program { model, problem, horizon, x };
        p.each_once_in_order();
        let full = Unit::ALL.map(|u| p.capacity(u));
        for (unit, full) in Unit::ALL.into_iter().zip(&full) {
            p.work_conserving(unit, full, form);
        }
        p
    }

    /// Σ x over the cycles before `t`, or up to it and later ones, as terms.
    fn cycles(&self, w: usize, i: usize, keep: impl Fn(usize) -> bool) -> impl Iterator<Item = (Var, f64)> {
        self.x[w][i].iter().enumerate().filter(move |(k, _)| keep(k + i)).map(|(_, v)| (*v, 1.0))
    }

    /// Y[w,i], counted from 1 as the paper does, times a factor.
    fn y(&self, w: usize, i: usize, factor: f64) -> Vec<(Var, f64)> {
        self.x[w][i].iter().enumerate().map(|(k, v)| (*v, factor * (k + i + 1) as f64)).collect()
    }

    /// (16), (17), (18) and the objective (12).
    fn each_once_in_order(&mut self) {
        let last = self.problem.units().len() - 1;
        for w in 0..self.x.len() {
            for i in 0..=last {
                let once: Vec<_> = self.cycles(w, i, |_| true).collect();
                self.model.equal("(17)", once, 1.0);
                if i < last {
                    let mut row = self.y(w, i + 1, 1.0);
                    row.extend(self.y(w, i, -1.0));
                    self.model.at_least("(18)", row, 1.0);
                }
            }
            if w + 1 < self.x.len() {
                let mut row = self.y(w + 1, last, 1.0);
                row.extend(self.y(w, last, -1.0));
                self.model.at_least("(11)", row, 0.0);
            }
        }
        for (v, t) in self.y(self.x.len() - 1, last, -1.0) {
            self.model.objective[v.0] = t;
        }
    }

    /// (14), (40) and (41) for the load/store units, their likes for the cores; E or G by cycle.
    fn capacity(&mut self, unit: Unit) -> Vec<Var> {
        let most = f64::from(self.problem.at_once(unit));
        (0..self.horizon)
            .map(|t| {
                let full = self.model.binary();
                let at: Vec<usize> =
                    (0..self.problem.units().len()).filter(|i| self.problem.units()[*i] == unit).collect();
                let ran = at.iter().flat_map(|i| (0..self.x.len()).map(move |w| (w, *i)));
                let ran: Vec<_> = ran.flat_map(|(w, i)| self.cycles(w, i, |c| c == t).collect::<Vec<_>>()).collect();
                self.model.at_most("(14)", ran.iter().copied(), most);
                let less = ran.iter().map(|(v, a)| (*v, -a));
                self.model.at_least("(40)", less.chain([(full, 1.0)]), 1.0 - most);
                self.model.at_least("(41)", ran.iter().copied().chain([(full, -most)]), 0.0);
                full
            })
            .collect()
    }

    fn work_conserving(&mut self, unit: Unit, full: &[Var], form: Form) {
        let length = self.problem.units().len();
        for (w, (t, full)) in (0..self.x.len()).flat_map(|w| full.iter().enumerate().map(move |f| (w, f))) {
            let mut all = Vec::new();
            let mut others = 0;
            for i in 0..length {
                if self.problem.units()[i] != unit {
                    others += 1;
                    continue;
                }
                let mut tl: Vec<(Var, f64)> = self.cycles(w, i, |c| c <= t).collect();
                if i > 0 {
                    tl.extend(self.cycles(w, i - 1, |c| c >= t));
                }
                match form {
                    Form::Short => self.model.at_least("(34)", tl.into_iter().chain([(*full, 1.0)]), 1.0),
                    Form::Long => all.extend(tl),
                }
            }
            if form == Form::Long && others < length {
                all.push((*full, length as f64));
                self.model.at_least("(33)", all, (length - others) as f64);
            }
        }
    }

    /// The schedule that values stand for, if the judge passes it.
    fn schedule(&self, values: &[f64]) -> Option<Schedule> {
        let mut schedule = Schedule { cycles: vec![Vec::new(); self.horizon] };
        for (w, of_warp) in self.x.iter().enumerate() {
            for (i, cycles) in of_warp.iter().enumerate() {
                let k = cycles.iter().position(|v| values[v.0] > 0.5)?;
                schedule.cycles[k + i].push(w as u32);
            }
        }
        let last = schedule.cycles.iter().rposition(|c| !c.is_empty())?;
        schedule.cycles.truncate(last + 1);
        judge(self.problem, &schedule).is_ok().then_some(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Machine;
    use super::*;

    const ALL: Limits = Limits { seconds: None, nodes: None, gap: 0.0 };

    #[test]
    fn small_programs() {
        for (kernel, warps, expected) in [("LLC", 3, 7), ("LCLCL", 2, 6), ("LC", 3, 4), ("C", 3, 3), ("LLCLL", 1, 5)] {
            let p = Problem::new(&kernel.parse().unwrap(), &Machine::ONE, warps).unwrap();
            for form in [Form::Short, Form::Long] {
                let a = solve(&p, form, &ALL);
                assert!(a.exact, "{kernel} {form:?}");
                assert_eq!(a.bound, expected, "{kernel} {form:?}");
            }
        }
    }

    #[test]
    fn every_rule_is_needed() {
        // Without one of them the judge refuses what comes out, or it is wrong.
        let p = Problem::new(&"LCL".parse().unwrap(), &Machine::ONE, 3).unwrap();
        let expected = solve(&p, Form::Short, &ALL).bound;
        // (14) follows from (40), since E is at most 1; and units that took too many warps would only make the schedule shorter.
        for rule in ["(17)", "(18)", "(34)", "(41)"] {
            let mut program = Program::new(&p, Form::Short);
            program.model = program.model.without(rule);
            let out = cbc::solve(&program.model, &ALL, None);
            let right = out.values.as_deref().and_then(|v| program.schedule(v)).map(|s| s.cycles.len() as u64);
            assert_ne!(right, Some(expected), "{rule}");
        }
    }
}
