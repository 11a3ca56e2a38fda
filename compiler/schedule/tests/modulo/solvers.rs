//! Every solver's result passes the judge.

use crate::random;
use sluice_schedule::analysis::bounds::{Bounds, bounds};
use sluice_schedule::problem::judge::{Verified, verify};
use sluice_schedule::problem::modulo::ModuloProblem;
use sluice_schedule::solver::{Failure, Options, Solution, flat, iterative};

type Solve = fn(&ModuloProblem, &Bounds, Options) -> Result<Solution, Failure>;

const SOLVERS: &[(&str, Solve)] = &[("flat", flat::solve), ("iterative", iterative::solve)];

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
