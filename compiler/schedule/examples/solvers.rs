//! Prints what each solver makes of problems of the size of programs, beside the best lower bound. Run in release mode.

#[allow(dead_code)]
#[path = "../tests/modulo/random.rs"]
mod random;

use sluice_schedule::analysis::bounds::{Bounds, bounds};
use sluice_schedule::problem::judge::verify;
use sluice_schedule::problem::modulo::ModuloProblem;
use sluice_schedule::solver::{Failure, Options, Solution, flat, hierarchical, iterative, slack};
use std::time::Instant;

type Solve = fn(&ModuloProblem, &Bounds, Options) -> Result<Solution, Failure>;

#[allow(clippy::disallowed_methods)]
fn main() {
    let solvers: &[(&str, Solve)] = &[
        ("flat", flat::solve),
        ("iterative", iterative::solve),
        ("slack", slack::solve),
        ("hierarchical", hierarchical::solve),
    ];
    println!("tasks instances P      method       II    lower  II/lower stages     bytes  tries evictions     ms");
    for (tasks, instances, processors) in [
        (30, 600, 16),
        (30, 600, 132),
        (60, 1000, 16),
        (60, 1000, 132),
        (60, 3000, 16),
        (60, 3000, 132),
        (1000, 3000, 16),
        (1000, 3000, 132),
    ] {
        for seed in 0..3 {
            let p = ModuloProblem::new(random::typical(seed, tasks, instances), processors).unwrap();
            let t = Instant::now();
            let b = bounds(&p);
            println!("{tasks:5} {:9} {processors:3} bounds {:.1} ms", p.instances(), t.elapsed().as_secs_f64() * 1e3);
            for (name, solve) in solvers {
                let t = Instant::now();
                let s = solve(&p, &b, Options::default()).unwrap();
                let ms = t.elapsed().as_secs_f64() * 1e3;
                let v = verify(&p, s.schedule).unwrap();
                println!(
                    "                    {name:>12} {:8} {:8} {:8.4} {:6} {:9} {:6} {:9} {ms:6.1}",
                    v.schedule().ii,
                    b.lower,
                    v.schedule().ii as f64 / b.lower as f64,
                    v.schedule().stages(),
                    v.bytes(&p),
                    s.statistics.tries,
                    s.statistics.evictions
                );
            }
        }
    }
}
