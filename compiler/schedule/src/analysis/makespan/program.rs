//! # program
//!
//! Purpose: the paper's integer program for the exact worst case (paper 002, section 5), with its short constraints, (34) and (37), or its long
//! ones, (33) and (36). Input: a [`Problem`] and limits. Output: the worst case and a schedule that takes it, or what is known when a limit is met.
//!
//! Z[w,i,t] is 1 where warp w has performed instruction i in cycle t or before; so x[w,i,t] = Z[w,i,t] − Z[w,i,t−1] is the paper's variable (LS or
//! CC, by the kind of i: those of the other kind are 0 by (17)). Rows are short that way, and CBC, which halves the cycles when it decides a Z, is done a hundred times
//! sooner. E_t is 1 where the load/store units are full in cycle t, G_t the same of the cores.
//!
//! ```text
//! (17)    Z[w,i,t] ≥ Z[w,i,t−1]
//! (18)    Z[w,i,t] ≥ Z[w,i+1,t+1]
//! (11)    Z[w,i,t] ≥ Z[w+1,i,t]
//! TL[w,i,t] = (1 − Z[w,i−1,t−1]) + Z[w,i,t]     0 exactly where warp w is ready for i in cycle t and waits
//! short   TL[w,i,t] + E_t ≥ 1                   for each i that needs a load/store unit
//! long    Σ_i TL[w,i,t] + I·E_t ≥ I             for each w and t; TL is 1 where i needs no load/store unit
//! ```
//!
//! The paper's (11) says that the last warp ends last. Warps are alike, so more can be asked: that they perform each instruction in the order of their numbers. (Give
//! the numbers anew in each cycle: of those at the same instruction, the foremost go first. Then none overtakes another, for each goes one step in a cycle.)
//!
//! CBC is told to decide E and G first, cycle by cycle, then the Z of the last warp, of the one before it, and so on: which units are full, cycle after cycle, says nearly all of
//! a schedule. Mostly a few dozen nodes find one; where chance had it otherwise, the next search has other random numbers. That there is none is proven with fewer nodes in
//! the order that CBC likes, so every second search has that. A search is begun again after 100, 100, 200, 200, 400, 400, ... nodes.
//!
//! The left-hand sides of (33), (34), (36) and (37) hold always, so they are not written down. The objective (12) is taken one number at a time: is there a schedule of T
//! cycles, in which the last warp is not done before? T begins with [`bounds::sound`](super::bounds::sound) or the bound by [`overlap`](super::overlap), whichever is
//! less (the paper's own bound is none for o ≥ 2), and falls by one as long as CBC says no.

use super::overlap::Overlap;
use super::schedule::{Schedule, judge};
use super::{Problem, Unit, bounds};
use crate::ilp::cbc::{self, Limits, Outcome, Status};
use crate::ilp::model::{Model, Var};

/// The most variables of a program: beyond, CBC does not look at the clock for minutes, and takes gigabytes.
pub const MOST_VARIABLES: u64 = 10_000;

/// Nodes of the first two searches.
const FIRST_NODES: u64 = 100;

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
    /// By warp and instruction, Z of its cycles, the first of which is cycle i.
    z: Vec<Vec<Vec<Var>>>,
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

/// Solves it, with CBC; `left` says for how many seconds it may go on, if there is a limit.
pub fn solve(problem: &Problem, form: Form, left: &dyn Fn() -> Option<f64>) -> Answer {
    let mut bound = horizon(problem);
    loop {
        let program = Program::new(problem, form, bound);
        let out = attempts(&program.model, left);
        let witness = out.values.as_deref().and_then(|v| program.schedule(v));
        // A warp on its own takes as many cycles as it has instructions, so there is a last number.
        if out.status == Status::Infeasible && bound > problem.units().len() as u64 {
            bound -= 1;
            continue;
        }
        return Answer { exact: witness.as_ref().is_some_and(|w| w.cycles.len() as u64 == bound), witness, bound };
    }
}

/// One search after another, in either order and with other random numbers, until one has ended or time is over. Without time nothing is begun: CBC does not stop before it has
/// solved its first linear program, which may take seconds.
fn attempts(model: &Model, left: &dyn Fn() -> Option<f64>) -> Outcome {
    let mut out = Outcome { status: Status::Limit, values: None, bound: f64::NEG_INFINITY };
    for attempt in 0.. {
        let seconds = left();
        if out.status != Status::Limit || out.values.is_some() || seconds.is_some_and(|s| s <= 0.0) {
            break;
        }
        let nodes = FIRST_NODES << (attempt / 2).min(32);
        out = cbc::solve_binary(model, &Limits { seconds, nodes: Some(nodes), gap: 0.0 }, attempt);
    }
    out
}

impl<'a> Program<'a> {
    /// The program whose solutions are the schedules of `cycles` cycles, which is at least I.
    pub fn new(problem: &'a Problem, form: Form, cycles: u64) -> Program<'a> {
        let horizon = cycles as usize;
        let (warps, length) = (problem.warps() as usize, problem.units().len());
        let mut model = Model::default();
        let slack = horizon.saturating_sub(length);
        // In the order in which CBC decides them.
        let full: Vec<[Var; 2]> = (0..horizon).map(|_| Unit::ALL.map(|_| model.binary())).collect();
        let mut of = || (0..slack).map(|_| model.binary()).collect::<Vec<Var>>();
        let mut z: Vec<Vec<Vec<Var>>> = (0..warps).map(|_| (0..length).map(|_| of()).collect()).collect();
        z.reverse();
        let mut p = Program { model, problem, horizon, z };
        p.in_order();
        for unit in Unit::ALL {
            let full: Vec<Var> = full.iter().map(|f| f[unit as usize]).collect();
            p.capacity(unit, &full);
            p.work_conserving(unit, &full, form);
        }
        p
    }

    /// Z[w,i,t]: 0 before cycle i, 1 from cycle T − I + i on.
    fn z(&self, w: usize, i: usize, t: usize) -> Sum {
        match t.checked_sub(i).map(|k| self.z[w][i].get(k)) {
            None => Sum::default(),
            Some(Some(v)) => Sum { terms: vec![(*v, 1.0)], constant: 0.0 },
            Some(None) => Sum { terms: Vec::new(), constant: 1.0 },
        }
    }

    /// x[w,i,t].
    fn x(&self, w: usize, i: usize, t: usize) -> Sum {
        let before = if t > 0 { self.z(w, i, t - 1) } else { Sum::default() };
        self.z(w, i, t).plus(before, -1.0)
    }

    /// `sum` ≥ 0, unless that says nothing.
    fn at_least_0(&mut self, rule: &'static str, sum: Sum) {
        if !sum.terms.is_empty() || sum.constant < 0.0 {
            self.model.at_least(rule, sum.terms, -sum.constant);
        }
    }

    /// (16), (17), (18), (11), and for the objective (12) the cycle in which the last warp ends.
    fn in_order(&mut self) {
        let (warps, length) = (self.z.len(), self.problem.units().len());
        for (w, i) in (0..warps).flat_map(|w| (0..length).map(move |i| (w, i))) {
            for t in i..self.horizon {
                let here = self.z(w, i, t);
                if t > i {
                    self.at_least_0("(17)", self.x(w, i, t));
                }
                if i + 1 < length && t + 1 < self.horizon {
                    self.at_least_0("(18)", here.clone().plus(self.z(w, i + 1, t + 1), -1.0));
                }
                if w + 1 < warps {
                    self.at_least_0("(11)", here.plus(self.z(w + 1, i, t), -1.0));
                }
            }
        }
        // (12): the last warp ends in the last cycle.
        for v in self.z.iter().rev().take(1).flat_map(|w| w.last()).flatten() {
            self.model.columns[v.0].upper = 0.0;
        }
    }

    /// (14), (40) and (41) for the load/store units, their likes for the cores; `full` is E or G by cycle.
    fn capacity(&mut self, unit: Unit, full: &[Var]) {
        let most = f64::from(self.problem.at_once(unit));
        let of = |t: usize, p: &Program| {
            let units = p.problem.units().iter().enumerate().filter(|(_, u)| **u == unit);
            let at = units.flat_map(|(i, _)| (0..p.z.len()).map(move |w| (w, i)));
            at.fold(Sum::default(), |sum, (w, i)| sum.plus(p.x(w, i, t), 1.0))
        };
        for (t, full) in full.iter().enumerate() {
            let ran = of(t, self);
            let full_is = |a: f64, constant: f64| Sum { terms: vec![(*full, a)], constant };
            // (14) follows from (40), and is stronger where E is a fraction.
            self.at_least_0("(14)", Sum { terms: Vec::new(), constant: most }.plus(ran.clone(), -1.0));
            self.at_least_0("(40)", full_is(1.0, most - 1.0).plus(ran.clone(), -1.0));
            self.at_least_0("(41)", full_is(-most, 0.0).plus(ran, 1.0));
        }
    }

    fn work_conserving(&mut self, unit: Unit, full: &[Var], form: Form) {
        let length = self.problem.units().len();
        let needs: Vec<usize> = (0..length).filter(|i| self.problem.units()[*i] == unit).collect();
        for (w, (t, full)) in (0..self.z.len()).flat_map(|w| full.iter().enumerate().map(move |f| (w, f))) {
            let full = |a: f64| Sum { terms: vec![(*full, a)], constant: 0.0 };
            let mut all = full(length as f64);
            for i in needs.iter().copied() {
                // Is the instruction before it done in cycle t or later?
                let mut tl = self.z(w, i, t);
                if i > 0 {
                    tl = tl
                        .plus(Sum::one(), 1.0)
                        .plus(if t > 0 { self.z(w, i - 1, t - 1) } else { Sum::default() }, -1.0);
                }
                match form {
                    Form::Short => self.at_least_0("(34)", full(1.0).plus(tl, 1.0).plus(Sum::one(), -1.0)),
                    Form::Long => all = all.plus(tl, 1.0).plus(Sum::one(), -1.0),
                }
            }
            if form == Form::Long && !needs.is_empty() {
                self.at_least_0("(33)", all);
            }
        }
    }

    /// The schedule that values stand for, if the judge passes it.
    fn schedule(&self, values: &[f64]) -> Option<Schedule> {
        let mut schedule = Schedule { cycles: vec![Vec::new(); self.horizon] };
        for (w, of_warp) in self.z.iter().enumerate() {
            for (i, cycles) in of_warp.iter().enumerate() {
                let waited = cycles.iter().take_while(|v| values[v.0] < 0.5).count();
                schedule.cycles.get_mut(waited + i)?.push(w as u32);
            }
        }
        let last = schedule.cycles.iter().rposition(|c| !c.is_empty())?;
        schedule.cycles.truncate(last + 1);
        judge(self.problem, &schedule).is_ok().then_some(schedule)
    }
}

/// Σ of variables, and a number.
#[derive(Clone, Default)]
struct Sum {
    terms: Vec<(Var, f64)>,
    constant: f64,
}

impl Sum {
    fn one() -> Sum {
        Sum { terms: Vec::new(), constant: 1.0 }
    }

    /// `factor` times another one added.
    fn plus(mut self, other: Sum, factor: f64) -> Sum {
        self.terms.extend(other.terms.into_iter().map(|(v, a)| (v, a * factor)));
        self.constant += other.constant * factor;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::Machine;
    use super::*;

    const ALL: Limits = Limits { seconds: None, nodes: None, gap: 0.0 };

    fn problem(kernel: &str, warps: u64) -> Problem {
        Problem::new(&kernel.parse().unwrap(), &Machine::ONE, warps).unwrap()
    }

    #[test]
    fn small_programs() {
        for (kernel, warps, expected) in [("LLC", 3, 7), ("LCLCL", 2, 6), ("LC", 3, 4), ("C", 3, 3), ("LLCLL", 1, 5)] {
            for form in [Form::Short, Form::Long] {
                let a = solve(&problem(kernel, warps), form, &|| None);
                assert!(a.exact, "{kernel} {form:?}");
                assert_eq!(a.bound, expected, "{kernel} {form:?}");
            }
        }
    }

    #[test]
    fn without_time_the_bound_stands() {
        let a = solve(&problem("LLCCLLCC", 12), Form::Long, &|| Some(0.0));
        assert_eq!(a, Answer { witness: None, bound: horizon(&problem("LLCCLLCC", 12)), exact: false });
    }

    #[test]
    fn every_rule_is_needed() {
        let p = problem("LLCL", 3);
        let (worst, least) = (solve(&p, Form::Short, &|| None).bound, bounds::shortest(&p));
        // Later instructions early, and what is done undone, where nothing forbids it.
        let wish = |pattern: usize, v: usize, t: usize| match pattern {
            0 | 1 => (v + t + pattern).is_multiple_of(2),
            _ => v % p.units().len() < 2,
        };
        // Does what is left of the rules allow something that is no schedule, or too short or long for one?
        let is_wrong = |without: &[&str]| {
            (least - 1..=worst + 1).flat_map(|cycles| (0..3).map(move |pattern| (cycles, pattern))).any(
                |(cycles, pattern)| {
                    let mut program = Program::new(&p, Form::Short, cycles);
                    program.model = without.iter().fold(program.model, |m, rule| m.without(rule));
                    for (v, z) in program.z.iter().flatten().enumerate() {
                        for (t, z) in z.iter().enumerate() {
                            program.model.objective[z.0] = if wish(pattern, v, t) { 1.0 } else { -1.0 };
                        }
                    }
                    let out = cbc::solve_binary(&program.model, &ALL, 0);
                    let makespan = |v: &[f64]| program.schedule(v).map(|s| s.cycles.len() as u64);
                    match (least..=worst).contains(&cycles) {
                        true => out.values.as_deref().and_then(makespan) != Some(cycles),
                        false => out.values.is_some(),
                    }
                },
            )
        };
        assert!(!is_wrong(&[]));
        // (14) follows from (40), since E is at most 1; without (11) it is only longer to solve.
        for without in [&["(17)"][..], &["(18)"], &["(34)"], &["(41)"], &["(14)", "(40)"]] {
            assert!(is_wrong(without), "{without:?}");
        }
        for without in ["(11)", "(14)", "(40)"] {
            assert!(!is_wrong(&[without]), "{without}");
        }
    }
}
