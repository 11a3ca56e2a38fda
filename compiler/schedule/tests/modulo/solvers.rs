//! Every solver's result passes the judge.

use crate::random;
use sluice_schedule::analysis::bounds::{Bounds, bounds};
use sluice_schedule::problem::judge::{Verified, verify};
use sluice_schedule::problem::modulo::ModuloProblem;
use sluice_schedule::problem::task::TaskGraph;
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

/// Problems of the size of programs: how near to the best lower bound each method comes, in counted work, not time.
#[test]
fn near_the_bound_on_problems_like_programs() {
    for (seed, (tasks, instances, processors)) in
        [(30, 600, 16), (60, 1000, 132), (60, 3000, 16), (60, 3000, 132), (1000, 3000, 132)].into_iter().enumerate()
    {
        let p = ModuloProblem::new(random::typical(seed as u64, tasks, instances), processors).unwrap();
        let b = bounds(&p);
        for (name, solve) in SOLVERS {
            let s = solve(&p, &b, Options::default()).unwrap();
            let work = s.statistics.placements / p.instances() as u64;
            let v = passes(&format!("{name}, {tasks} tasks"), &p, s);
            let above = (v.schedule().ii - b.lower) as f64 / b.lower as f64;
            let most = match *name {
                "flat" => 0.15,
                "iterative" | "slack" => 0.05,
                _ => 0.005,
            };
            assert!(above <= most, "{name}: {above} above the bound, {tasks} tasks on {processors}");
            assert!(work <= 40, "{name}: {work} placements per instance");
            let again = solve(&p, &b, Options::default()).unwrap();
            assert_eq!(v.schedule(), &again.schedule, "{name} gives the same each time");
        }
    }
}

#[test]
fn a_wanted_interval_is_kept_or_refused() {
    let p = ModuloProblem::new(random::typical(1, 30, 600), 16).unwrap();
    let b = bounds(&p);
    for (name, solve) in SOLVERS {
        let free = solve(&p, &b, Options::default()).unwrap().schedule.ii;
        let most_ii = |ii| Options { most_ii: Some(ii), ..Options::default() };
        let s = solve(&p, &b, most_ii(free)).unwrap();
        assert!(passes(name, &p, s).schedule().ii <= free);
        let failure = solve(&p, &b, most_ii(b.lower - 1)).unwrap_err();
        assert_eq!((failure.most_ii, failure.lower), (b.lower - 1, b.lower), "{name}");
    }
}

/// A loop that takes three iterations to come round may cross processors twice, not more; its work is more than one processor's share.
#[test]
fn long_loops_cross_processors_as_often_as_they_may() {
    let of = |delay| {
        let tasks = (0..6).map(|v| random::task(&format!("t{v}"), 1, 10, false)).collect();
        let mut edges: Vec<_> = (0..5).map(|v| random::edge(v, v + 1, 1, 1, 0)).collect();
        edges.push(random::edge(5, 0, 1, 1, delay));
        ModuloProblem::new(TaskGraph { tasks, edges, ..TaskGraph::default() }, 3).unwrap()
    };
    for (delay, least) in [(1, 60), (2, 30), (3, 20)] {
        let p = of(delay);
        let b = bounds(&p);
        assert_eq!(b.rec_mii, 60u64.div_ceil(delay));
        for (name, solve) in SOLVERS {
            let v = passes(name, &p, solve(&p, &b, Options::default()).unwrap());
            if *name == "iterative" || *name == "hierarchical" {
                assert!(v.schedule().ii <= least.max(30), "{name}, delay {delay}: {}", v.schedule().ii);
            }
        }
    }
}

/// Nothing recurses, nothing is quadratic: many instances, one long chain, one wide splitter.
#[test]
fn large_problems_are_solved() {
    let chain = |tasks: usize| TaskGraph {
        tasks: (0..tasks).map(|v| random::task(&format!("t{v}"), 1, 1 + v as u64 % 7, false)).collect(),
        edges: (1..tasks).map(|v| random::edge(v - 1, v, 1, 1, 0)).collect(),
        ..TaskGraph::default()
    };
    let wide = TaskGraph {
        tasks: (0..4000)
            .map(|v| random::task(&format!("t{v}"), if v == 0 { 1 } else { 4 }, 5 + v % 3, false))
            .collect(),
        edges: (1..4000).map(|v| random::edge(0, v, 4, 1, 0)).collect(),
        ..TaskGraph::default()
    };
    for graph in [chain(10_000), wide, random::typical(5, 100, 15_000)] {
        let p = ModuloProblem::new(graph, 132).unwrap();
        let b = bounds(&p);
        for (name, solve) in SOLVERS {
            let v = passes(name, &p, solve(&p, &b, Options::default()).unwrap());
            assert!(v.schedule().ii <= b.lower + b.lower / 50, "{name}: {} over {}", v.schedule().ii, b.lower);
        }
    }
}
