//! # method
//!
//! Purpose: one way to call every scheduler. Input: a plan, a method, settings. Output: an [`Outcome`] whose schedule the judge has passed.

use crate::ilp;
use crate::ilp::search::End;
use crate::plan::Plan;
use crate::problem::judge::{Verified, Violation, bytes, fills_in_order, verify};
use crate::problem::modulo::ModuloSchedule;
use crate::solver::improve::{EFFORT, improve};
use crate::solver::{self, Failure, Options, Solution, Statistics};
use crate::wording::count;
use std::fmt;

/// A scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Single appearance, on one processor.
    Sas,
    /// Minimum latency, on one processor.
    MinLatency,
    /// Modulo scheduling in one pass.
    Flat,
    /// Iterative modulo scheduling.
    Ims,
    /// Slack-based modulo scheduling.
    Slack,
    /// Hierarchical modulo scheduling.
    Hms,
    /// The integer program.
    Ilp,
}

impl Method {
    /// All of them, from simple to thorough.
    pub const ALL: [Method; 7] =
        [Method::Sas, Method::MinLatency, Method::Flat, Method::Ims, Method::Slack, Method::Hms, Method::Ilp];

    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Sas => "sas",
            Method::MinLatency => "min-latency",
            Method::Flat => "flat",
            Method::Ims => "ims",
            Method::Slack => "slack",
            Method::Hms => "hms",
            Method::Ilp => "ilp",
        }
    }
}

/// What is asked of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// No II above this one will do.
    pub require_ii: Option<u64>,
    /// Seconds that the integer program may take, what it begins with and its last checks included.
    pub time_limit: f64,
    /// Nodes of the integer program's search, where results must not depend on time.
    pub node_limit: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { require_ii: None, time_limit: 20.0, node_limit: None }
    }
}

/// A schedule that the judge has passed, and what is known about it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Who made it.
    pub method: Method,
    /// The schedule and its buffers.
    pub verified: Verified,
    /// By edge, the items that its buffer must hold: the judge's, or less where all runs in order on one processor.
    pub capacity: Vec<u64>,
    /// Bytes of all buffers.
    pub bytes: u64,
    /// The best lower bound on the II that is proven.
    pub lower: u64,
    /// For people: effort, what was relaxed, what is proven.
    pub notes: Vec<String>,
}

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSchedule {
    /// None with an II as short as was required; the best lower bound.
    Required {
        /// The II that was required.
        require: u64,
        /// No schedule has a shorter one.
        lower: u64,
    },
    /// The judge refused it: a fault in the solver.
    Refused(Vec<Violation>),
    /// The solver gave up, and says why.
    GaveUp(String),
    /// There is no CBC, as [`ilp::cbc::missing`] says.
    NoSolver(String),
}

impl fmt::Display for NoSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSchedule::Required { require, lower } => {
                write!(f, "no schedule has an II of {require}: the least that is possible is {lower} or more")
            }
            NoSchedule::Refused(violations) => write!(f, "the judge refuses its schedule: {violations:?}"),
            NoSchedule::GaveUp(why) | NoSchedule::NoSolver(why) => f.write_str(why),
        }
    }
}

/// Schedules by one method; `clock` tells seconds since any moment.
pub fn solve(plan: &Plan, method: Method, settings: &Settings, clock: &dyn Fn() -> f64) -> Result<Outcome, NoSchedule> {
    let (problem, bounds) = (&plan.problem, &plan.bounds);
    if let Some(require) = settings.require_ii.filter(|r| *r < bounds.lower) {
        return Err(NoSchedule::Required { require, lower: bounds.lower });
    }
    let options = Options { most_ii: settings.require_ii, ..Options::default() };
    let found = match method {
        Method::Sas => Ok(alone(solver::sequential::single_appearance(problem))),
        Method::MinLatency => Ok(alone(solver::sequential::minimum_latency(problem))),
        Method::Flat => solver::flat::solve(problem, bounds, options),
        Method::Ims => solver::iterative::solve(problem, bounds, options),
        Method::Slack => solver::slack::solve(problem, bounds, options),
        Method::Hms => solver::hierarchical::solve(problem, bounds, options),
        Method::Ilp => return integer_program(plan, settings, clock),
    };
    let Solution { mut schedule, statistics } = found.map_err(failed)?;
    if method == Method::Hms {
        schedule = improve(problem, schedule, EFFORT);
    }
    if let Some(require) = settings.require_ii.filter(|r| *r < schedule.ii) {
        return Err(NoSchedule::GaveUp(format!("its II is {}, not {require} or less", schedule.ii)));
    }
    let s = statistics;
    let what =
        [(s.tries, "try", "tries"), (s.placements, "placement", "placements"), (s.evictions, "eviction", "evictions")];
    judged(plan, method, schedule, what.map(|(n, one, several)| count(n, one, several)).join(", "))
}

/// A schedule that a method made before, for the same plan: the judge looks at it as at a new one.
pub fn again(plan: &Plan, method: Method, schedule: ModuloSchedule) -> Result<Outcome, NoSchedule> {
    judged(plan, method, schedule, "found before".into())
}

fn judged(plan: &Plan, method: Method, schedule: ModuloSchedule, note: String) -> Result<Outcome, NoSchedule> {
    let (problem, bounds) = (&plan.problem, &plan.bounds);
    let verified = verify(problem, schedule).map_err(NoSchedule::Refused)?;
    let mut notes = vec![note];
    notes.extend(plan.limited.map(|l| l.note()));
    let in_order = match method {
        Method::Sas | Method::MinLatency => fills_in_order(problem, verified.schedule()),
        _ => None,
    };
    let capacity = in_order.unwrap_or_else(|| verified.capacity().to_vec());
    let bytes = bytes(problem, &capacity);
    Ok(Outcome { method, verified, capacity, bytes, lower: bounds.lower, notes })
}

/// A schedule that there was only one way to find.
fn alone(schedule: ModuloSchedule) -> Solution {
    Solution { schedule, statistics: Statistics { tries: 1, ..Statistics::default() } }
}

fn failed(f: Failure) -> NoSchedule {
    match f {
        Failure { most_ii, lower, .. } if most_ii < lower => NoSchedule::Required { require: most_ii, lower },
        Failure { most_ii, .. } => {
            NoSchedule::GaveUp(format!("it found no schedule with an II of {most_ii} or less; one may exist"))
        }
    }
}

/// The best of the heuristics: by II, then stages, then bytes. `None` where none finds any. No other one is begun where no time is left.
fn best_start(plan: &Plan, options: Options, time_left: impl Fn() -> bool) -> Option<ModuloSchedule> {
    let (problem, bounds) = (&plan.problem, &plan.bounds);
    let all = [solver::iterative::solve, solver::hierarchical::solve, solver::flat::solve, solver::slack::solve];
    let begun = all.iter().enumerate().take_while(|(at, _)| *at == 0 || time_left());
    let found = begun.filter_map(|(_, method)| method(problem, bounds, options).ok());
    let found = found.map(|s| improve(problem, s.schedule, EFFORT)).filter_map(|s| verify(problem, s).ok());
    let best = found.min_by_key(|v| (v.schedule().ii, v.schedule().stages(), v.bytes(problem)))?;
    Some(best.schedule().clone())
}

/// The part of its time after which the integer program's search ends: CBC looks at the clock now and then only, and its answer is checked.
const SEARCH: f64 = 0.9;
/// The part after which no other heuristic is begun.
const STARTS: f64 = 0.3;

fn integer_program(plan: &Plan, settings: &Settings, clock: &dyn Fn() -> f64) -> Result<Outcome, NoSchedule> {
    if let Some(why) = ilp::cbc::missing() {
        return Err(NoSchedule::NoSolver(why));
    }
    let began = clock();
    let passed = || clock() - began;
    let time_left = || settings.node_limit.is_some() || passed() < settings.time_limit * STARTS;
    let start = best_start(plan, Options::default(), time_left);
    let options = match settings.node_limit {
        Some(nodes) => ilp::search::Options::nodes(nodes),
        None => ilp::search::Options::seconds(settings.time_limit * SEARCH - passed(), clock),
    };
    let options = ilp::search::Options { require_ii: settings.require_ii, ..options };
    let solution = ilp::search::solve(&plan.problem, &plan.bounds, start.as_ref(), &options).map_err(|f| match f {
        ilp::search::Failure::Impossible { required, lower } => NoSchedule::Required { require: required, lower },
        ilp::search::Failure::NotFound { lower, end, .. } => {
            let why = match end {
                End::Spent if settings.node_limit.is_none() => "its time was spent before it found a schedule",
                End::Spent => "its nodes were spent before it found a schedule",
                End::GaveUp => "its solver gave up before it found a schedule",
                End::Open | End::Proven | End::Enough => "it found no schedule, though one may exist",
            };
            NoSchedule::GaveUp(format!("{why}; none has an II below {lower}"))
        }
    })?;
    let mut notes = notes(&solution, settings.node_limit.is_none());
    notes.extend(plan.limited.map(|l| l.note()));
    let (verified, bytes) = (solution.schedule, solution.bytes);
    let capacity = verified.capacity().to_vec();
    Ok(Outcome { method: Method::Ilp, lower: solution.lower, capacity, bytes, verified, notes })
}

fn notes(s: &ilp::search::Solution, by_time: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let relaxed = if s.relaxed() > 0.0 { format!(", relaxed by {:.2} %", s.relaxed() * 100.0) } else { String::new() };
    notes.push(format!("{}{relaxed}", count(s.tries.len() as u64, "try", "tries")));
    if s.decomposed {
        notes.push("the full program would be too large: processors first, then stages and buffers".into());
    }
    notes.push(match s.end {
        End::Proven => "no schedule has a shorter II".into(),
        End::Enough => "a shorter II would be so by less than a thousandth: none was looked for".into(),
        End::Spent if by_time => "its time was spent before all shorter II were decided".into(),
        End::Spent => "its nodes were spent before all shorter II were decided".into(),
        End::GaveUp => "the solver gave up on a shorter II: one may exist".into(),
        End::Open => "no shorter II was found, but one may exist".into(),
    });
    notes.push(match s.stages - s.fewest_stages.min(s.stages) {
        0 => "no schedule with this II has fewer stages".into(),
        _ => format!("a schedule with this II has {} or more", count(s.fewest_stages.into(), "stage", "stages")),
    });
    if s.fewest_bytes >= s.bytes {
        notes.push("no schedule with this II and these stages needs less channel memory".into());
    }
    notes
}
