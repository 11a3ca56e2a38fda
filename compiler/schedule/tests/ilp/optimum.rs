//! The full program finds what trying everything finds.

use crate::brute;
use crate::graphs::{self, pipeline, problems};
use sluice_schedule::analysis::bounds::bounds;
use sluice_schedule::ilp::search::{Answer, Failure, Options, Solution, solve};
use sluice_schedule::problem::modulo::ModuloProblem;

fn solved(problem: &ModuloProblem) -> Solution {
    solve(problem, &bounds(problem), None, &Options::nodes(100_000)).unwrap_or_else(|f| panic!("{f:?}\n{problem:?}"))
}

fn key(s: &Solution) -> brute::Optimum {
    (s.ii, s.stages, s.bytes)
}

#[test]
fn every_order_and_every_stage() {
    let mut seen = 0;
    for problem in problems(1, 400, [4, 3, 9], 3).iter().filter(|p| p.instances() <= 5).take(70) {
        let s = solved(problem);
        assert_eq!(key(&s), brute::everything(problem, s.stages + 1), "{problem:?}");
        assert!(s.optimal(), "{s:?} {problem:?}");
        seen += 1;
    }
    assert_eq!(seen, 70);
}

#[test]
fn every_assignment() {
    let mut loops = 0;
    for problem in problems(2, 400, [5, 4, 12], 3).iter().filter(|p| (6..=8).contains(&p.instances())).take(24) {
        let s = solved(problem);
        assert_eq!(key(&s), brute::by_stages(problem), "{problem:?}");
        assert!(s.optimal(), "{s:?} {problem:?}");
        loops += usize::from(problem.graph().edges.iter().any(|e| e.to < e.from));
    }
    assert!(loops > 3, "{loops}");
}

/// Paper 001, figure 4: A pushes 2, B pops 3.
#[test]
fn figure_4() {
    let problem = ModuloProblem::new(pipeline(&[(3, 2), (2, 3)]), 2).unwrap();
    let s = solved(&problem);
    // 12 cycles on two processors; the three A on one and the two B on the other, or with A and B on both: no one stage can.
    assert_eq!(key(&s), brute::everything(&problem, 3));
    assert_eq!((s.ii, s.mii, s.stages), (6, 6, 2));
}

#[test]
fn a_required_interval() {
    let problem = ModuloProblem::new(pipeline(&[(3, 4)]), 2).unwrap();
    let b = bounds(&problem);
    let with = |ii| solve(&problem, &b, None, &Options { require_ii: Some(ii), ..Options::nodes(1000) });
    assert_eq!(with(8).map(|s| s.ii), Ok(8));
    assert_eq!(with(100).map(|s| s.ii), Ok(8));
    assert_eq!(with(7), Err(Failure::Impossible { required: 7, lower: 8 }));
}

/// A loop of four with a delay of two on two processors: it may cross twice, so that each half has a processor; with three processors
/// nothing is gained. With other costs no two halves are equal, which only the program shows.
#[test]
fn what_is_infeasible_raises_the_bound() {
    let tasks: Vec<_> = (0..4).map(|i| graphs::task(&format!("T{i}"), 1, 5, false)).collect();
    let mut edges: Vec<_> = (1..4).map(|i| graphs::edge(&tasks, [i - 1, i], 1, 0, 0)).collect();
    edges.push(graphs::edge(&tasks, [3, 0], 1, 0, 2));
    let problem = ModuloProblem::new(graphs::graph(tasks, edges), 4).unwrap();
    let b = bounds(&problem);
    let s = solved(&problem);
    assert_eq!((b.lower, s.ii, s.lower), (10, 10, 10));
    let mut graph = problem.graph().clone();
    // Of costs 5, 9, 5, 1 those that make 10 and 10 do not lie side by side; what lies side by side makes 9 and 11.
    graph.tasks[1].cost = 9;
    graph.tasks[3].cost = 1;
    let problem = ModuloProblem::new(graph, 4).unwrap();
    let b = bounds(&problem);
    let s = solved(&problem);
    assert_eq!((b.lower, s.ii, s.lower), (10, 11, 11));
    assert!(s.tries.iter().any(|t| t.answer == Answer::Infeasible), "{:?}", s.tries);
    assert_eq!(key(&s), brute::everything(&problem, 3));
}

#[test]
fn a_start_that_is_optimal_is_kept() {
    let problem = ModuloProblem::new(pipeline(&[(4, 3), (2, 5)]), 3).unwrap();
    let first = solved(&problem);
    let again = solve(&problem, &bounds(&problem), Some(first.schedule.schedule()), &Options::nodes(100_000)).unwrap();
    assert_eq!(key(&again), key(&first));
    assert!(again.optimal());
}

#[test]
fn few_nodes_give_the_same_every_time() {
    for problem in problems(3, 10, [4, 4, 40], 3) {
        let run = || solve(&problem, &bounds(&problem), None, &Options::nodes(3));
        assert_eq!(run(), run());
    }
}
