//! # method
//!
//! Purpose: one way to ask for the worst case, whatever computes it. Input: a [`Problem`], a [`Method`], limits. Output: an [`Answer`], which says what
//! its number is worth: whether it is a bound at all, whether it is exact, and with which schedule.
//!
//! [`Method::Auto`] uses only what is sound: the dynamic programme where its states fit, else a bracket.

use super::bracket::{Bracket, Effort, bracket, by_overlap};
use super::exact::{Exact, Limits as States, NotExact, exact, states};
use super::overlap::Overlap;
use super::program::{self, Form};
use super::schedule::{Schedule, judge, name_warps};
use super::{Problem, bounds, estimate};

/// How the worst case is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By formula.
    Pessimistic,
    /// The integer program with short constraints.
    IlpShort,
    /// The same with long ones.
    IlpLong,
    /// The dynamic programme.
    Exact,
    /// The paper's estimate from this many warps, or as many as are cheap.
    Estimate(Option<u32>),
    /// What fits, among the sound ones.
    Auto,
}

impl Method {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Pessimistic => "pessimistic",
            Method::IlpShort => "ilp-short",
            Method::IlpLong => "ilp-long",
            Method::Exact => "exact",
            Method::Estimate(_) => "estimate",
            Method::Auto => "auto",
        }
    }
}

/// What may be used.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Seconds.
    pub seconds: f64,
    /// States of the dynamic programme.
    pub states: u64,
    /// Seconds since the beginning.
    pub clock: &'a dyn Fn() -> f64,
}

/// What is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Cycles: a bound if `sound`.
    pub bound: u64,
    /// Is it the worst case itself?
    pub exact: bool,
    /// Does no schedule take longer?
    pub sound: bool,
    /// Some schedule takes as long as this.
    pub least: u64,
    /// A schedule of `least` cycles, passed by the judge.
    pub witness: Option<Schedule>,
    /// What gave the bound.
    pub by: &'static str,
    /// Of an estimate: exact worst cases of 1, 2, ... warps, and the estimate that each makes better.
    pub estimates: Vec<(u64, u64)>,
}

/// Why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoAnswer {
    /// The dynamic programme has so many states (`None`: beyond 2^64) and may have this many.
    States(Option<u64>, u64),
    /// The dynamic programme may have so many ways on from a state, more than it takes.
    Moves(u64),
    /// The integer program has so many variables, more than [`program::MOST_VARIABLES`].
    Variables(u64),
    /// Time was over, this many seconds.
    Time(f64),
    /// An estimate from more warps than there are.
    MoreThanAll(u32),
}

/// The widest search of a bracket.
const WIDEST: usize = 1 << 14;
/// The part of the time that CBC has; what is left is for a schedule where it has none.
const CBC_PART: f64 = 0.9;
/// States that take no time: an estimate is made of no more where nobody says of how many warps.
const CHEAP: u64 = 1 << 20;
/// The most warps that an estimate is made of where nobody says.
const FEW: u32 = 16;

/// Computes it.
pub fn solve(problem: &Problem, method: Method, settings: &Settings) -> Result<Answer, NoAnswer> {
    match method {
        Method::Pessimistic => Ok(pessimistic(problem)),
        Method::IlpShort => integer_program(problem, Form::Short, settings),
        Method::IlpLong => integer_program(problem, Form::Long, settings),
        Method::Exact => Ok(from_table(problem, &table(problem, settings, 1.0)?)),
        Method::Estimate(x) => estimated(problem, x, settings),
        Method::Auto => Ok(auto(problem, settings)),
    }
}

fn auto(problem: &Problem, settings: &Settings) -> Answer {
    let small = states(problem.units().len(), problem.warps()).is_some_and(|s| s <= CHEAP);
    let over = |part: f64| (settings.clock)() > 0.3 * part * settings.seconds;
    let known = (!small).then(|| by_overlap(problem, &Effort { over: &over, width: WIDEST }));
    if let Some(b) = known.as_ref().filter(|b| b.least == b.bound) {
        return from_bracket(problem, b.clone());
    }
    match table(problem, settings, 0.6) {
        Ok(table) => from_table(problem, &table),
        Err(_) => bracketed(problem, settings, known),
    }
}

fn pessimistic(problem: &Problem) -> Answer {
    let (bound, least) = (bounds::sound(problem), bounds::shortest(problem));
    Answer { bound, exact: bound == least, sound: true, least, witness: None, by: "pessimistic", estimates: Vec::new() }
}

/// The dynamic programme, in a part of the time.
fn table(problem: &Problem, settings: &Settings, part: f64) -> Result<Exact, NoAnswer> {
    let stop = || (settings.clock)() > part * settings.seconds;
    exact(problem, States { states: settings.states, stop: &stop }).map_err(|e| match e {
        NotExact::States(n) => NoAnswer::States(n, settings.states),
        NotExact::Moves(n) => NoAnswer::Moves(n),
        NotExact::Stopped => NoAnswer::Time(settings.seconds),
    })
}

fn from_table(problem: &Problem, table: &Exact) -> Answer {
    let bound = table.worst(problem.warps());
    let witness = name_warps(problem, &table.witness(problem.warps()));
    let witness = witness.filter(|s| judge(problem, s) == Ok(bound));
    Answer { bound, exact: true, sound: true, least: bound, witness, by: "exact", estimates: Vec::new() }
}

fn integer_program(problem: &Problem, form: Form, settings: &Settings) -> Result<Answer, NoAnswer> {
    let variables = program::variables(problem);
    if variables > program::MOST_VARIABLES {
        return Err(NoAnswer::Variables(variables));
    }
    let left = || Some((CBC_PART * settings.seconds - (settings.clock)()).max(0.0));
    let answer = program::solve(problem, form, &left);
    // It asks for one length after another, so it has no schedule at all until it has the longest one.
    let witness = answer.witness.or_else(|| {
        let over = |part: f64| (settings.clock)() > (CBC_PART + part * (1.0 - CBC_PART)) * settings.seconds;
        let found = by_overlap(problem, &Effort { over: &over, width: WIDEST });
        found.witness.filter(|s| judge(problem, s) == Ok(found.least))
    });
    let least = witness.as_ref().map_or(bounds::shortest(problem), |s| s.cycles.len() as u64);
    Ok(Answer {
        bound: answer.bound,
        exact: least == answer.bound,
        sound: true,
        least,
        witness,
        by: match form {
            // Where CBC has proven nothing, the bound is the one that it began with.
            _ if !answer.exact && answer.bound == Overlap::new(problem).bound(problem) => "overlap",
            Form::Short => "ilp-short",
            Form::Long => "ilp-long",
        },
        estimates: Vec::new(),
    })
}

fn estimated(problem: &Problem, x: Option<u32>, settings: &Settings) -> Result<Answer, NoAnswer> {
    let length = problem.units().len();
    let cheap = |w: &u32| states(length, *w).is_some_and(|s| s <= CHEAP);
    let x = x.unwrap_or_else(|| (1..=problem.warps().min(FEW)).take_while(cheap).last().unwrap_or(1));
    if x > problem.warps() {
        return Err(NoAnswer::MoreThanAll(problem.warps()));
    }
    let table = table(&problem.with_warps(x), settings, 1.0)?;
    let worst: Vec<u64> = (1..=x).map(|w| table.worst(w)).collect();
    let each = estimate::convergence(&worst, problem.warps());
    let bound = each.last().copied().unwrap_or_default();
    // Of all warps, the exact worst case is among what it is the least of; and no bound is below what it cannot be below.
    let exact = x == problem.warps() && worst.last() == Some(&bound);
    Ok(Answer {
        bound,
        exact,
        sound: exact || bound >= bounds::sound(problem),
        least: bounds::shortest(problem),
        witness: None,
        by: "estimate",
        estimates: worst.into_iter().zip(each).collect(),
    })
}

fn bracketed(problem: &Problem, settings: &Settings, known: Option<Bracket>) -> Answer {
    let begun = (settings.clock)();
    // A little time there is always, whatever the dynamic programme has used.
    let whole = (settings.seconds - begun).max(0.2 * settings.seconds);
    let over = |part: f64| (settings.clock)() > begun + part * whole;
    from_bracket(problem, bracket(problem, &Effort { over: &over, width: WIDEST }, known))
}

fn from_bracket(problem: &Problem, b: Bracket) -> Answer {
    let witness = b.witness.filter(|s| judge(problem, s) == Ok(b.least));
    Answer {
        bound: b.bound,
        exact: b.bound == b.least,
        sound: true,
        least: b.least,
        witness,
        by: b.by,
        estimates: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Capacity, Machine};
    use super::*;

    fn settings() -> Settings<'static> {
        Settings { seconds: 1000.0, states: 100_000, clock: &|| 0.0 }
    }

    fn problem(kernel: &str, warps: u64) -> Problem {
        Problem::new(&kernel.parse().unwrap(), &Machine::ONE, warps).unwrap()
    }

    #[test]
    fn what_each_method_says_of_itself() {
        let p = problem("LLC", 4);
        for (method, bound, exact, sound) in [
            (Method::Pessimistic, 12, false, true),
            (Method::Exact, 9, true, true),
            (Method::IlpShort, 9, true, true),
            (Method::IlpLong, 9, true, true),
            (Method::Auto, 9, true, true),
            (Method::Estimate(Some(2)), 10, false, false),
            (Method::Estimate(Some(1)), 12, false, true),
            (Method::Estimate(None), 9, true, true),
        ] {
            let a = solve(&p, method, &settings()).unwrap();
            assert_eq!((a.bound, a.exact, a.sound), (bound, exact, sound), "{method:?}");
            assert!(a.witness.is_none_or(|w| w.cycles.len() as u64 == a.least));
        }
    }

    #[test]
    fn the_estimate_is_not_taken_for_a_bound() {
        let a = solve(&problem("LCLCL", 4), Method::Estimate(Some(2)), &settings()).unwrap();
        assert_eq!((a.bound, a.sound, a.estimates), (12, false, vec![(5, 20), (6, 12)]));
    }

    #[test]
    fn limits_are_told() {
        let p = problem("LCLCLCLC", 24);
        assert_eq!(solve(&p, Method::Exact, &settings()), Err(NoAnswer::States(Some(10_518_300), 100_000)));
        let p = problem("LCLCLCLC", 400);
        assert!(matches!(solve(&p, Method::IlpShort, &settings()), Err(NoAnswer::Variables(_))));
        assert_eq!(solve(&p, Method::Estimate(Some(401)), &settings()), Err(NoAnswer::MoreThanAll(400)));
        let late = Settings { clock: &|| 2000.0, states: 1 << 30, ..settings() };
        assert_eq!(solve(&problem("LCLCLCLC", 30), Method::Exact, &late), Err(NoAnswer::Time(1000.0)));
    }

    #[test]
    fn an_integer_program_that_does_not_end_has_a_schedule_by_search() {
        let p = problem("LLCCLLCC", 12);
        // No time for CBC, some for the search; and none for either.
        for (clock, least) in [(0.95, 54), (2.0, 50)] {
            for method in [Method::IlpShort, Method::IlpLong] {
                let a = solve(&p, method, &Settings { seconds: 1.0, states: 1, clock: &|| clock }).unwrap();
                assert_eq!(judge(&p, &a.witness.unwrap()), Ok(a.least));
                assert!(a.least >= least && a.least <= a.bound, "{} {}", a.least, a.bound);
                assert_eq!((a.exact, a.by), (a.least == a.bound, "overlap"));
            }
        }
    }

    #[test]
    fn where_units_differ_bound_and_schedule_are_near() {
        // By kernel and o_C; with the bound by overlap that had no R, 19, 15, 12 and 16 per cent apart.
        for (kernel, cores) in [("CLLLCCCLCLCC", 2), ("LLLCCCLLLCCC", 2), ("LCCLCCLCCLCC", 2), ("LCCLLCLCCCCC", 4)] {
            let machine = Machine { load_store: Capacity::ONE, cores: Capacity::new(cores, 1).unwrap() };
            let p = Problem::new(&kernel.parse().unwrap(), &machine, 64).unwrap();
            let now = std::cell::Cell::new(0.0);
            let clock = || now.replace(now.get() + 0.001);
            let a = solve(&p, Method::Auto, &Settings { seconds: 0.5, states: 1 << 20, clock: &clock }).unwrap();
            assert!(a.bound * 100 <= a.least * 105, "{kernel} {} {}", a.least, a.bound);
            assert_eq!(judge(&p, &a.witness.unwrap()), Ok(a.least));
        }
    }

    #[test]
    fn what_is_over_is_over() {
        // A clock that only goes on when it is asked: whatever is being done asks it, and ends soon after.
        let two = Capacity::new(2, 1).unwrap();
        for (kernel, cores) in [("CLLLCCCLCLCC", two), ("CLLLCCCLCLCC", Capacity::ONE), ("LCLC", two)] {
            let machine = Machine { load_store: Capacity::ONE, cores };
            let p = Problem::new(&kernel.parse().unwrap(), &machine, 64).unwrap();
            for seconds in [0.05, 0.5, 2.0] {
                let now = std::cell::Cell::new(0.0);
                let clock = || now.replace(now.get() + 0.001);
                let a = solve(&p, Method::Auto, &Settings { seconds, states: 1 << 20, clock: &clock }).unwrap();
                assert!(a.sound && a.least <= a.bound);
                // What there is after all has been used is a fifth of it, and a few questions.
                assert!(now.get() <= 1.2 * seconds + 0.02, "{kernel} {seconds} {}", now.get());
            }
        }
    }

    #[test]
    fn auto_brackets_what_does_not_fit() {
        let p = problem("LLCLCLCCL", 20);
        let a = solve(&p, Method::Auto, &settings()).unwrap();
        assert!(a.sound && a.least <= a.bound && a.bound * 10 <= a.least * 11, "{} {}", a.least, a.bound);
    }
}
