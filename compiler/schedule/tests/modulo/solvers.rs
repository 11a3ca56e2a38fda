//! Every solver's result passes the judge.

use crate::random;
use sluice_schedule::analysis::bounds::{Bounds, bounds};
use sluice_schedule::problem::judge::{Verified, verify};
use sluice_schedule::problem::modulo::ModuloProblem;
use sluice_schedule::solver::{Failure, Options, Solution, flat, hierarchical, improve, iterative, sequential, slack};

type Solve = fn(&ModuloProblem, &Bounds, Options) -> Result<Solution, Failure>;

const SOLVERS: &[(&str, Solve)] = &[
    ("flat", flat::solve),
    ("iterative", iterative::solve),
    ("slack", slack::solve),
    ("hierarchical", hierarchical::solve),
];

fn passes(what: &str, problem: &ModuloProblem, solution: Solution) -> Verified {
    verify(problem, solution.schedule.clone())
        .unwrap_or_else(|v| panic!("{what}: {v:?}\n{:?}\n{:?}", problem.graph(), solution.schedule))
}

#[test]
fn every_result_passes_the_judge() {
    let mut seen = 0;
    for seed in 0..4000 {
        let Some(p) = random::problem(seed) else { continue };
        let b = bounds(&p);
        for (name, solve) in SOLVERS {
            let s = solve(&p, &b, Options::default()).unwrap();
            let v = passes(&format!("{name}, seed {seed}"), &p, s);
            assert!(v.schedule().ii >= b.lower, "{name}, seed {seed}: a schedule below the bound");
        }
        seen += 1;
    }
    assert!(seen > 2000, "{seen}");
}

#[test]
fn schedules_on_one_processor_and_better_ones_pass_too() {
    let mut better = 0;
    for seed in 0..1500 {
        let Some(p) = random::problem(seed) else { continue };
        for s in [sequential::single_appearance(&p), sequential::minimum_latency(&p)] {
            let v = verify(&p, s).unwrap_or_else(|v| panic!("seed {seed}: {v:?}"));
            assert_eq!((v.schedule().ii, v.schedule().stages()), (p.graph().work(), 1));
        }
        let b = bounds(&p);
        let s = iterative::solve(&p, &b, Options::default()).unwrap().schedule;
        let before = improve::worth(&p, &s);
        let same_processors = improve::stages(&p, s.clone());
        let after = improve::improve(&p, s.clone(), improve::EFFORT / 100);
        for now in [same_processors, after] {
            let v = verify(&p, now).unwrap_or_else(|v| panic!("seed {seed}: {v:?}"));
            let worth = improve::worth(&p, v.schedule());
            assert!(worth <= before && v.schedule().ii == s.ii, "seed {seed}: {before:?} → {worth:?}");
            better += u32::from(worth < before);
        }
    }
    assert!(better > 300, "{better}");
}
