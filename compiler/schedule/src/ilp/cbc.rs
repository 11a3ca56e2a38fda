//! # cbc
//!
//! Purpose: hands a [`Model`] to COIN-OR CBC. Output: an [`Outcome`] whose values have been checked against every row of the model; values that
//! fail are no values. The only file that knows of CBC.
//!
//! What CBC needs to be told, and what it does not tell (version 2.10): it prints to the standard output unless its log level is 0 and its preprocessing off; after a
//! limit without a solution its values are noise and its objective is 1e50; its C interface has no duals, no cancel, no callback
//! and no time used. Its limits in seconds are its own clock's, so this crate needs none. All solves of a process take turns.
//! An assertion of its own that fails ends the process, so it has one of its own where there is somebody to start it ([`super::apart`]).

use super::apart::{self, Asked};
use super::model::{Model, Var};
use super::wire;
use coin_cbc::raw;
use std::ffi::{CStr, CString, OsString};
use std::os::raw::c_int;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Seconds by the clock on the wall, overrun a little; no limit where `None`.
    pub seconds: Option<f64>,
    /// Nodes of the search tree: the limit that gives the same result every time.
    pub nodes: Option<u64>,
    /// A gap between solution and bound, as a part of the objective, that is good enough.
    pub gap: f64,
}

/// A solution to begin with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start<'a> {
    /// Its values.
    pub values: &'a [f64],
    /// The objective of any better one is smaller by this or more.
    pub step: f64,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The best solution (or one within the gap).
    Optimal,
    /// There is no solution.
    Infeasible,
    /// A limit was met, with or without a solution.
    Limit,
    /// CBC gave up, or its solution did not pass the check.
    Failed,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The best solution known, checked; whole numbers are whole.
    pub values: Option<Vec<f64>>,
    /// No solution has a smaller objective than this, as CBC says.
    pub bound: f64,
}

/// What CBC takes for infinite.
const INFINITE: f64 = 1e30;

/// Rows from which on no cuts are made. CBC looks at the clock between linear programs only, and with cuts at the root one of 2,571 rows has
/// been seen to take twenty seconds, all of them steps that gain nothing.
const MANY_ROWS: usize = 1000;

/// Solves; with a start (one that breaks a row is not used), only what is better is looked for.
///
/// The start becomes a row, not CBC's initial solution: with one, CBC has called it optimal when it was not.
pub fn solve(model: &Model, limits: &Limits, start: Option<Start>) -> Outcome {
    let Some(start) = start.filter(|s| model.check(s.values).is_ok()) else {
        return from_nothing(model, limits, Search::Plain);
    };
    let worth = model.value(start.values);
    let mut better = model.clone();
    let terms = model.objective.iter().enumerate().map(|(i, c)| (Var(i), *c));
    better.at_most("(better)", terms, worth - 0.5 * start.step);
    let out = from_nothing(&better, limits, Search::Plain);
    match out {
        Outcome { values: Some(_), .. } => out,
        Outcome { status: Status::Infeasible, .. } => {
            Outcome { status: Status::Optimal, values: Some(start.values.to_vec()), bound: worth }
        }
        _ => Outcome { values: Some(start.values.to_vec()), bound: out.bound.min(worth), ..out },
    }
}

/// Solves a program of zeros and ones after CBC's own preprocessing, which probes them. Its heuristics are off: they take seconds before the first decision. With other
/// programs the preprocessing has been seen to print a line; over those of the makespan's sweep it printed none.
///
/// What is found, and when, depends on the number of the attempt; what is true does not. It is where CBC's random numbers begin. And with an even one
/// variables are decided in the order in which the model has them, the first one that is a fraction, with an odd one in the order that CBC likes.
pub fn solve_binary(model: &Model, limits: &Limits, attempt: u32) -> Outcome {
    debug_assert!(model.columns.iter().all(|c| c.integer && c.lower >= 0.0 && c.upper <= 1.0), "not binary");
    from_nothing(model, limits, Search::Binary(attempt))
}

/// How CBC goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// As it likes, without its preprocessing.
    Plain,
    /// The same without its heuristics: for what a process has died of.
    Careful,
    /// As [`solve_binary`] says.
    Binary(u32),
}

fn from_nothing(model: &Model, limits: &Limits, search: Search) -> Outcome {
    if model.columns.is_empty() || model.rows.is_empty() {
        return without_rows(model);
    }
    // Another way, once, where a process has died of the first one.
    for search in [search, Search::Careful] {
        match apart::ask(&wire::question(model, limits, search), limits.seconds) {
            None => return here(model, limits, search),
            Some(Asked::Answered(mut out)) => {
                out.values = out.values.filter(|v| model.check(v).is_ok());
                return out;
            }
            Some(Asked::Late) => return nothing(Status::Limit),
            Some(Asked::Died) => {}
        }
    }
    nothing(Status::Failed)
}

/// Nothing was found, and nothing is known.
fn nothing(status: Status) -> Outcome {
    Outcome { status, values: None, bound: f64::NEG_INFINITY }
}

/// Says that there is no CBC here, and why; `None` where there is one. Whoever cannot do without asks before; else every program fails.
pub fn missing() -> Option<String> {
    let why = coin_cbc_sys::loaded().err()?;
    Some(format!("CBC, which solves integer programs, cannot be loaded: {why}"))
}

/// CBC's library is this file, and none of those that a system has. For this process, and before it solves.
pub fn look_at(file: OsString) {
    coin_cbc_sys::look_at(file);
}

/// In this process.
pub(super) fn here(model: &Model, limits: &Limits, search: Search) -> Outcome {
    if missing().is_some() {
        return nothing(Status::Failed);
    }
    let mut m = load(model);
    m.set_log_level(0);
    // Its preprocessing prints a line even so, when what it made of a model is not quite right. It saves no time with programs of schedules.
    parameter(&mut m, c"preprocess", if matches!(search, Search::Binary(_)) { c"on" } else { c"off" });
    if let Search::Binary(attempt) = search {
        parameter(&mut m, c"costStrategy", if attempt.is_multiple_of(2) { c"columnOrder" } else { c"off" });
        parameter(&mut m, c"heuristicsOnOff", c"off");
        // Of the linear programs and of the search.
        number(&mut m, c"randomSeed", (1 + u64::from(attempt)).to_string());
        number(&mut m, c"randomCbcSeed", (1 + u64::from(attempt)).to_string());
    }
    if search == Search::Careful {
        // Their small models are where an assertion of its interface to linear programs (`crunch`) has been seen to fail.
        parameter(&mut m, c"heuristicsOnOff", c"off");
    }
    if model.rows.len() > MANY_ROWS {
        parameter(&mut m, c"cutsOnOff", c"off");
    }
    if let Some(seconds) = limits.seconds {
        parameter(&mut m, c"timeMode", c"elapsed");
        number(&mut m, c"seconds", format!("{:.3}", seconds.max(0.01)));
    }
    if let Some(nodes) = limits.nodes {
        number(&mut m, c"maxNodes", nodes.min(i32::MAX as u64).to_string());
    }
    if limits.gap > 0.0 {
        number(&mut m, c"ratioGap", format!("{:e}", limits.gap));
    }
    m.solve();
    let values = (m.obj_value().abs() < 1e45).then(|| model.rounded(m.col_solution()));
    let values = values.filter(|v| model.check(v).is_ok());
    use raw::{SecondaryStatus as Second, Status as First};
    let status = match (m.status(), m.secondary_status()) {
        (First::Finished, Second::LinearRelaxationInfeasible) if values.is_none() => Status::Infeasible,
        (First::Finished, _) if m.is_proven_infeasible() && values.is_none() => Status::Infeasible,
        (First::Finished, Second::HasSolution | Second::StoppedOnGap) if values.is_some() => Status::Optimal,
        (First::Stopped, _) => Status::Limit,
        // A linear program is not searched: CBC has nothing to launch.
        (First::Unlaunched, _) if values.is_some() && m.is_initial_solve_proven_optimal() => Status::Optimal,
        (First::Unlaunched, _) if m.is_initial_solve_proven_primal_infeasible() && values.is_none() => {
            Status::Infeasible
        }
        _ => Status::Failed,
    };
    let bound = match (status, &values) {
        (Status::Infeasible, _) => f64::INFINITY,
        (Status::Optimal, Some(v)) if limits.gap <= 0.0 => model.value(v),
        (Status::Optimal | Status::Limit, _) if m.best_possible_value().abs() < 1e45 => m.best_possible_value(),
        _ => f64::NEG_INFINITY,
    };
    Outcome { status, values, bound }
}

/// Nothing to choose, or nothing that stands in the way: each variable takes the bound that its objective likes.
fn without_rows(model: &Model) -> Outcome {
    if model.rows.iter().any(|r| r.lower > 0.0 || r.upper < 0.0) {
        return Outcome { status: Status::Infeasible, values: None, bound: f64::INFINITY };
    }
    let at = |c: f64, lower: f64, upper: f64| if c < 0.0 { upper } else { lower };
    let values: Vec<f64> = model.columns.iter().zip(&model.objective).map(|(c, o)| at(*o, c.lower, c.upper)).collect();
    match model.check(&values) {
        Ok(()) => Outcome { status: Status::Optimal, bound: model.value(&values), values: Some(values) },
        Err(_) => Outcome { status: Status::Failed, values: None, bound: f64::NEG_INFINITY },
    }
}

fn parameter(m: &mut raw::Model, name: &CStr, value: &CStr) {
    m.set_parameter(name, value);
}

fn number(m: &mut raw::Model, name: &CStr, value: String) {
    if let Ok(value) = CString::new(value) {
        parameter(m, name, &value);
    }
}

/// By columns, as CBC wants it.
fn load(model: &Model) -> raw::Model {
    let columns = model.columns.len();
    let mut start = vec![0 as c_int; columns + 1];
    for (v, _) in model.rows.iter().flat_map(|r| &r.terms) {
        start[v.0 + 1] += 1;
    }
    for i in 0..columns {
        start[i + 1] += start[i];
    }
    let entries = start[columns] as usize;
    let (mut index, mut value, mut at) = (vec![0 as c_int; entries], vec![0.0; entries], start.clone());
    for (row, r) in model.rows.iter().enumerate() {
        for (v, a) in &r.terms {
            let place = at[v.0] as usize;
            (index[place], value[place]) = (row as c_int, *a);
            at[v.0] += 1;
        }
    }
    let finite = |x: f64| x.clamp(-INFINITE, INFINITE);
    let lower: Vec<f64> = model.columns.iter().map(|c| finite(c.lower)).collect();
    let upper: Vec<f64> = model.columns.iter().map(|c| finite(c.upper)).collect();
    let row_lower: Vec<f64> = model.rows.iter().map(|r| finite(r.lower)).collect();
    let row_upper: Vec<f64> = model.rows.iter().map(|r| finite(r.upper)).collect();
    let mut m = raw::Model::new();
    m.load_problem(
        columns,
        model.rows.len(),
        &start,
        &index,
        &value,
        Some(&lower),
        Some(&upper),
        Some(&model.objective),
        Some(&row_lower),
        Some(&row_upper),
    );
    for (i, _) in model.columns.iter().enumerate().filter(|(_, c)| c.integer) {
        m.set_integer(i);
    }
    m.set_obj_sense(raw::Sense::Minimize);
    m
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Limits = Limits { seconds: None, nodes: None, gap: 0.0 };

    fn knapsack(integer: bool) -> Model {
        let mut m = Model::default();
        let sizes = [2.0, 8.0, 4.0, 2.0, 5.0];
        let vars: Vec<_> = sizes.iter().map(|_| m.var(0.0, 1.0, integer)).collect();
        m.at_most("(size)", vars.iter().copied().zip(sizes), 10.0);
        m.objective = vec![-5.0, -3.0, -2.0, -7.0, -4.0];
        m
    }

    #[test]
    fn integers() {
        let out = solve(&knapsack(true), &ALL, None);
        assert_eq!(out.status, Status::Optimal);
        assert_eq!(out.values.as_deref(), Some(&[1.0, 0.0, 0.0, 1.0, 1.0][..]));
        assert_eq!(out.bound, -16.0);
    }

    #[test]
    fn a_linear_program() {
        let out = solve(&knapsack(false), &ALL, None);
        assert_eq!(out.status, Status::Optimal);
        assert!((out.bound + 16.5).abs() < 1e-9, "{out:?}");
    }

    #[test]
    fn infeasible() {
        for integer in [true, false] {
            let mut m = knapsack(integer);
            m.at_least("(more)", (0..5).map(|i| (Var(i), 1.0)), 4.5);
            let out = solve(&m, &ALL, None);
            assert_eq!((out.status, out.values), (Status::Infeasible, None), "{integer}");
            assert_eq!(out.bound, f64::INFINITY);
        }
        // No fraction is in the way here, only that numbers are whole.
        let mut m = Model::default();
        let (x, y) = (m.var(0.0, 10.0, true), m.var(0.0, 10.0, true));
        m.equal("(odd)", [(x, 2.0), (y, 2.0)], 7.0);
        assert_eq!(solve(&m, &ALL, None).status, Status::Infeasible);
    }

    #[test]
    fn without_rows_or_columns() {
        assert_eq!(solve(&Model::default(), &ALL, None).status, Status::Optimal);
        let mut m = Model::default();
        let x = m.var(1.0, 3.0, true);
        m.objective[x.0] = -1.0;
        assert_eq!(solve(&m, &ALL, None).values, Some(vec![3.0]));
        let mut m = Model::default();
        m.at_least("(never)", [], 1.0);
        assert_eq!(solve(&m, &ALL, None).status, Status::Infeasible);
    }

    /// Bins that nothing fills exactly: hopeless to prove, easy to stop.
    fn hard() -> Model {
        let mut m = Model::default();
        let sizes: Vec<f64> = (0..24u32).map(|i| f64::from(1009 + i * i * 37 % 613)).collect();
        let half = (sizes.iter().sum::<f64>() / 2.0).floor() + 0.25;
        let vars: Vec<_> = sizes.iter().map(|_| m.binary()).collect();
        let over = m.var(0.0, f64::INFINITY, false);
        m.objective[over.0] = 1.0;
        let terms = || vars.iter().copied().zip(sizes.iter().map(|s| s / 1000.0));
        m.at_most("(up)", terms().chain([(over, -1.0)]), half / 1000.0);
        m.at_least("(down)", terms().chain([(over, 1.0)]), half / 1000.0);
        m
    }

    #[test]
    fn the_node_limit_gives_the_same_every_time() {
        let limits = Limits { nodes: Some(20), ..ALL };
        let first = solve(&hard(), &limits, None);
        assert_eq!(first.status, Status::Limit);
        assert!(first.bound <= hard().value(first.values.as_ref().unwrap()));
        assert_eq!(first, solve(&hard(), &limits, None));
    }

    #[test]
    fn a_start_is_kept_unless_it_is_wrong() {
        let from = |values: &[f64], nodes| {
            let limits = Limits { nodes, ..ALL };
            solve(&knapsack(true), &limits, Some(Start { values, step: 1.0 }))
        };
        let out = from(&[1.0, 0.0, 1.0, 1.0, 0.0], Some(0));
        assert!(knapsack(true).value(&out.values.unwrap()) <= -14.0);
        let best = [1.0, 0.0, 0.0, 1.0, 1.0];
        for start in [[1.0, 0.0, 1.0, 1.0, 0.0], best, [1.0; 5]] {
            let out = from(&start, None);
            assert_eq!((out.status, out.values.as_deref(), out.bound), (Status::Optimal, Some(&best[..]), -16.0));
        }
    }
}
