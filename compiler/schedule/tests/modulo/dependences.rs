//! Which instances wait for which: the paper's figure 4, and random graphs against following every item.

use crate::random::{self, edge, task};
use sluice_schedule::problem::dependences::Dependence;
use sluice_schedule::problem::modulo::{ModuloProblem, Unfit};
use sluice_schedule::problem::task::{Order, TaskGraph};
use std::collections::BTreeMap;

fn problem(g: TaskGraph) -> ModuloProblem {
    ModuloProblem::new(g, 2).unwrap()
}

/// (waits, waits for, distance), by names.
fn named(p: &ModuloProblem) -> Vec<String> {
    let text = |d: &Dependence| format!("{} ← {} @{}", p.name_of(d.to), p.name_of(d.from), d.distance);
    p.dependences().iter().map(text).collect()
}

fn pair(ka: u64, o: u64, kb: u64, i: u64, initial: u64) -> TaskGraph {
    TaskGraph {
        tasks: vec![task("A", ka, 1, false), task("B", kb, 1, false)],
        edges: vec![edge(0, 1, o, i, initial)],
        ..TaskGraph::default()
    }
}

/// Paper 001, figure 4: A pushes 2, B pops 3; three firings of A, two of B.
#[test]
fn figure_4() {
    let p = problem(pair(3, 2, 2, 3, 0));
    assert_eq!(named(&p), ["B[0] ← A[0] @0", "B[0] ← A[1] @0", "B[1] ← A[1] @0", "B[1] ← A[2] @0"]);
}

/// With items there at the start, instances wait for those of iterations before.
#[test]
fn figure_4_with_items_at_the_start() {
    let p = problem(pair(3, 2, 2, 3, 1));
    assert_eq!(named(&p), ["B[0] ← A[0] @0", "B[0] ← A[2] @1", "B[1] ← A[1] @0", "B[1] ← A[2] @0"].map(String::from));
    let p = problem(pair(3, 2, 2, 3, 6));
    assert_eq!(named(&p), ["B[0] ← A[0] @1", "B[0] ← A[1] @1", "B[1] ← A[1] @1", "B[1] ← A[2] @1"]);
}

/// A consumer waits for what it only peeks at, too (algorithms.md's correction).
#[test]
fn figure_4_with_peeks() {
    let mut g = pair(3, 2, 2, 3, 2);
    g.edges[0].peek = 5;
    assert_eq!(
        named(&problem(g)),
        ["B[0] ← A[0] @0", "B[0] ← A[1] @0", "B[0] ← A[2] @1", "B[1] ← A[0] @0", "B[1] ← A[1] @0", "B[1] ← A[2] @0"]
    );
}

#[test]
fn state_goes_round() {
    let g = TaskGraph { tasks: vec![task("S", 3, 1, true)], ..TaskGraph::default() };
    assert_eq!(named(&problem(g)), ["S[0] ← S[2] @1", "S[1] ← S[0] @0", "S[2] ← S[1] @0"]);
    let g = TaskGraph { tasks: vec![task("S", 1, 1, true)], ..TaskGraph::default() };
    assert_eq!(named(&problem(g)), ["S[0] ← S[0] @1"]);
}

/// By following every item of an iteration late enough: who made it, how many iterations before.
fn by_items(p: &ModuloProblem) -> Vec<Dependence> {
    let g = p.graph();
    let mut all: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let mut add = |to, from, distance: u64| {
        let least = all.entry((to, from)).or_insert(distance);
        *least = (*least).min(distance);
    };
    for e in g.edges.iter().filter(|e| e.produce > 0) {
        let (ku, kv) = (g.tasks[e.from].instances, g.tasks[e.to].instances);
        let late = e.initial / (e.consume * kv) + 2;
        for k in 0..kv {
            for x in (late * kv + k) * e.consume..(late * kv + k) * e.consume + e.peek {
                let firing = (x - e.initial) / e.produce;
                add(p.instance(e.to, k), p.instance(e.from, firing % ku), late - firing / ku);
            }
        }
    }
    for (v, t) in g.tasks.iter().enumerate().filter(|(_, t)| t.serial) {
        for n in t.instances..2 * t.instances {
            let at = |n: u64| (p.instance(v, n % t.instances), n / t.instances);
            add(at(n).0, at(n - 1).0, at(n).1 - at(n - 1).1);
        }
    }
    for Order { before, after, distance } in &g.orders {
        add(p.instance(after.0, after.1), p.instance(before.0, before.1), *distance);
    }
    all.into_iter().map(|((to, from), distance)| Dependence { to, from, distance }).collect()
}

#[test]
fn random_graphs_item_by_item() {
    let mut seen = 0;
    for seed in 0..3000 {
        let Some(p) = random::problem(seed) else { continue };
        assert_eq!(p.dependences(), by_items(&p), "seed {seed}\n{:?}", p.graph());
        for d in p.dependences().iter().filter(|d| d.distance == 0) {
            let at = |i| p.topological().iter().position(|x| *x == i);
            assert!(at(d.from) < at(d.to), "seed {seed}");
        }
        seen += 1;
    }
    assert!(seen > 1500, "{seen}");
}

#[test]
fn unfit_graphs_are_told() {
    let new = |g: TaskGraph| ModuloProblem::new(g, 2).map(|_| ());
    assert_eq!(new(TaskGraph::default()), Err(Unfit::Empty));
    assert_eq!(ModuloProblem::new(pair(1, 1, 1, 1, 0), 0).map(|_| ()), Err(Unfit::Empty));
    assert_eq!(new(pair(3, 2, 2, 2, 0)), Err(Unfit::Unbalanced(0)));
    let mut g = pair(1, 1, 1, 1, 1);
    g.edges[0].peek = 3;
    assert_eq!(new(g), Err(Unfit::Unbalanced(0)), "fewer items at the start than are peeked at");
    let mut g = pair(1, 1, 1, 1, 0);
    g.tasks[0].cost = 0;
    assert_eq!(new(g), Err(Unfit::Work));
    let mut g = pair(1, 1, 1, 1, 0);
    g.tasks[0].cost = 1 << 51;
    assert_eq!(new(g), Err(Unfit::Work));
    assert_eq!(new(pair(1 << 40, 1, 1 << 40, 1, 0)), Err(Unfit::Instances(1 << 41)));
    let mut g = pair(1, 1, 1, 1, 0);
    g.edges.push(edge(1, 0, 1, 1, 0));
    assert_eq!(new(g.clone()), Err(Unfit::Deadlock(vec![vec![1, 0]])));
    // two such loops, and a task that waits for the first
    let mut both = g.clone();
    both.tasks.extend([g.tasks.clone(), vec![g.tasks[0].clone()]].concat());
    both.edges.extend([edge(2, 3, 1, 1, 0), edge(3, 2, 1, 1, 0), edge(0, 4, 1, 1, 0)]);
    assert_eq!(new(both), Err(Unfit::Deadlock(vec![vec![1, 0], vec![3, 2]])));
    g.edges[1].initial = 1;
    assert_eq!(new(g), Ok(()));
    // Large numbers have an answer or a refusal, never a panic.
    let mut g = pair(1, u64::MAX, 1, u64::MAX, 0);
    assert_eq!(new(g.clone()), Err(Unfit::Unbalanced(0)));
    (g.edges[0].produce, g.edges[0].consume, g.edges[0].initial, g.edges[0].peek) = (5, 5, u64::MAX, u64::MAX);
    assert_eq!(new(g), Err(Unfit::Unbalanced(0)));
}
