//! Prints what each solver makes of problems of the size of programs, beside the best lower bound. Run in release mode.

#[path = "../tests/dice/mod.rs"]
mod dice;
#[allow(dead_code)]
#[path = "../tests/modulo/random.rs"]
mod random;

use sluice_schedule::analysis::bounds::{Bounds, bounds};
use sluice_schedule::problem::judge::verify;
use sluice_schedule::problem::modulo::ModuloProblem;
use sluice_schedule::solver::{Failure, Options, Solution, Statistics, flat, hierarchical, improve, iterative, slack};
use std::time::Instant;

type Solve = fn(&ModuloProblem, &Bounds, Options) -> Result<Solution, Failure>;

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
            let (b, ms) = timed(|| bounds(&p));
            println!("{tasks:5} {:9} {processors:3} bounds {ms:.1} ms", p.instances());
            for (name, solve) in solvers {
                let (s, ms) = timed(|| solve(&p, &b, Options::default()).unwrap());
                show(&p, b.lower, name, &s, ms);
                if *name != "flat" {
                    let before = s.clone();
                    let (schedule, ms) = timed(|| improve::stages(&p, before.schedule.clone()));
                    show(&p, b.lower, "+ stages", &Solution { schedule, ..s }, ms);
                    let (schedule, ms) = timed(|| improve::improve(&p, before.schedule.clone(), improve::EFFORT));
                    show(&p, b.lower, "+ improve", &Solution { schedule, ..s }, ms);
                }
            }
        }
    }
}

/// The result, and the time on the processor in milliseconds, where the system tells it; else as the clock goes.
#[allow(clippy::disallowed_methods)]
fn timed<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let busy = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let (before, t) = (busy(), Instant::now());
    let result = f();
    let clock = t.elapsed().as_secs_f64() * 1e3;
    (result, before.zip(busy()).map_or(clock, |(a, b)| (b - a) / 1e6))
}

fn show(p: &ModuloProblem, lower: u64, name: &str, s: &Solution, ms: f64) {
    let v = verify(p, s.schedule.clone()).unwrap();
    let (ii, stages, bytes) = (v.schedule().ii, v.schedule().stages(), v.bytes(p));
    let (ratio, Statistics { tries, evictions, .. }) = (ii as f64 / lower as f64, s.statistics);
    println!("{name:>32} {ii:8} {lower:8} {ratio:8.4} {stages:6} {bytes:9} {tries:6} {evictions:9} {ms:6.1}");
}
