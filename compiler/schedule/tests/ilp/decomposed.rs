//! Without the full program: the judge passes every result (the search takes nothing else), bounds are bounds, and what is small comes out as by the full one.

use crate::brute;
use crate::graphs::{self, pipeline, problems};
use sluice_schedule::analysis::bounds::bounds;
use sluice_schedule::ilp::finish::{arrange, least_stages};
use sluice_schedule::ilp::items::items;
use sluice_schedule::ilp::search::{Answer, Failure, Options, Solution, solve};
use sluice_schedule::problem::judge::verify;
use sluice_schedule::problem::modulo::ModuloProblem;

fn decomposed(problem: &ModuloProblem, options: Options) -> Result<Solution, Failure> {
    let s = solve(problem, &bounds(problem), None, &Options { most_binaries: 0, ..options })?;
    assert!(s.decomposed);
    assert_eq!(verify(problem, s.schedule.schedule().clone()).as_ref(), Ok(&s.schedule));
    assert_eq!((s.ii, s.stages), (s.schedule.schedule().ii, s.schedule.schedule().stages()));
    assert!(s.lower <= s.ii && s.fewest_stages <= s.stages && s.fewest_bytes <= s.bytes, "{s:?}");
    Ok(s)
}

#[test]
fn never_better_than_the_optimum_and_bounds_never_above_it() {
    let (mut best, mut all) = (0, 0);
    for problem in problems(5, 300, [5, 4, 12], 3).iter().filter(|p| p.instances() <= 7).take(90) {
        let s = decomposed(problem, Options::nodes(1000)).unwrap();
        let (ii, stages, bytes) = brute::by_stages(problem);
        assert!(s.lower <= ii && ii <= s.ii, "{s:?} {problem:?}");
        if s.ii == ii {
            assert!(s.fewest_stages <= stages && stages <= s.stages, "{s:?} {problem:?}");
            if s.stages == stages {
                assert!(s.fewest_bytes <= bytes && bytes <= s.bytes, "{s:?} {problem:?}");
            }
        }
        best += usize::from(s.ii == ii);
        all += 1;
    }
    assert!(best * 100 >= all * 95, "{best} of {all}");
}

/// Any assignment of items can be completed, whatever crosses.
#[test]
fn items_go_anywhere() {
    let mut dice = graphs::Dice::new(9);
    let mut merged = 0;
    for problem in problems(6, 300, [6, 5, 12], 4) {
        let groups = bounds(&problem).groups;
        let items = items(&problem, &groups);
        merged += usize::from(!items.exact);
        for _ in 0..10 {
            let bin: Vec<u32> = items.cost.iter().map(|_| dice.roll(problem.processors().into()) as u32).collect();
            let processor: Vec<u32> = items.of.iter().map(|x| bin[*x]).collect();
            let stage = least_stages(&problem, &processor).expect("every cycle may cross so often");
            let schedule = arrange(&problem, &processor, &stage, &vec![0.0; stage.len()]).unwrap();
            assert!(verify(&problem, schedule).is_ok());
        }
    }
    assert!(merged > 5, "{merged}");
}

#[test]
fn random_problems_of_all_sizes() {
    for (seed, sizes, processors) in [(21, [8, 8, 100], 8), (22, [20, 12, 5000], 16), (23, [30, 24, 100_000], 40)] {
        for problem in problems(seed, 12, sizes, processors) {
            decomposed(&problem, Options { gap: 0.001, ..Options::nodes(20) }).unwrap();
        }
    }
}

/// Four instances for each of 132 processors, of all kinds of costs: the gap is what was asked for.
#[test]
fn many_processors() {
    let mut dice = graphs::Dice::new(31);
    let costs: Vec<(u64, u64)> = (0..26).map(|_| (12 + dice.roll(3) * 12, 5_000 + dice.roll(20_000))).collect();
    let problem = ModuloProblem::new(pipeline(&costs), 132).unwrap();
    let s = decomposed(&problem, Options { gap: 0.005, ..Options::nodes(20) }).unwrap();
    assert!(s.gap() <= 0.005, "{} {}", s.ii, s.lower);
    assert_eq!(s, decomposed(&problem, Options { gap: 0.005, ..Options::nodes(20) }).unwrap());
}

/// 51 + 26 or 27 and nothing else goes into 101: the sums of the sizes do not see that 31 processors are too few, the linear program does.
#[test]
fn the_bound_is_raised() {
    let problem = ModuloProblem::new(pipeline(&[(30, 51), (30, 27), (30, 26)]), 31).unwrap();
    let b = bounds(&problem);
    let s = decomposed(&problem, Options::nodes(1000)).unwrap();
    assert!(b.lower < s.lower, "{} {}", b.lower, s.lower);
    assert_eq!((s.ii, s.lower), (104, 104));
    assert!(s.tries.iter().any(|t| t.answer == Answer::Infeasible));
    let short = decomposed(&problem, Options { require_ii: Some(103), ..Options::nodes(1000) });
    assert_eq!(short, Err(Failure::Impossible { required: 103, lower: 104 }));
}

#[test]
fn the_slack_is_spent_on_stages() {
    let problem = ModuloProblem::new(pipeline(&[(2, 500), (2, 501), (2, 3)]), 2).unwrap();
    let exact = decomposed(&problem, Options::nodes(1000)).unwrap();
    assert_eq!((exact.ii, exact.stages), (1004, 1));
    let tight = ModuloProblem::new(pipeline(&[(1, 500), (1, 3), (1, 500)]), 2).unwrap();
    let with =
        |slack| decomposed(&tight, Options { slack, ..Options::nodes(1000) }).map(|s| (s.ii, s.target, s.stages));
    assert_eq!(with(0.0), Ok((503, 503, 2)));
    assert_eq!(with(1.0), Ok((1003, 1006, 1)));
}
