//! Random graphs against the naive way.

use crate::graphs::{self, ALL, Wanted, in_loop};
use crate::naive;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::steady_state::{SteadyState, steady_state};
use sluice_schedule::judge::verify;
use sluice_schedule::minimum_latency::minimum_latency;
use sluice_schedule::sequential::SequentialSchedule;
use sluice_schedule::single_appearance::single_appearance;

fn shown(g: &SdfGraph) -> String {
    sluice_frontend::graph_text::print(g)
}

/// Graphs that can start, with their steady states.
fn live(seeds: std::ops::Range<u64>, wanted: Wanted) -> impl Iterator<Item = (u64, SdfGraph, SteadyState)> {
    seeds.filter_map(move |seed| {
        let g = graphs::random(seed, wanted);
        let steady = steady_state(&g).ok()?;
        Some((seed, g, steady))
    })
}

#[test]
fn repetitions_are_the_smallest_of_the_nullspace() {
    let (mut balanced, mut clashes) = (0, 0);
    for seed in 0..4000 {
        let wanted = Wanted { clash: seed % 4 == 0, zeros: seed % 3 == 0, preworks: false, ..ALL };
        let g = graphs::random(seed, wanted);
        let naive = naive::repetitions(&g);
        let cut = naive::cut_off(&g);
        match steady_state(&g) {
            Ok(s) => {
                assert_eq!(s.repetitions, naive, "seed {seed}\n{}", shown(&g));
                balanced += 1;
            }
            Err(d) if d[0].code == "E0301" => {
                // a node that could fire, were it not for the others' rates
                assert!((0..cut.len()).any(|v| naive[v] == 0 && !cut[v]), "seed {seed}\n{}", shown(&g));
                clashes += 1;
            }
            Err(d) if d[0].code == "E0302" => assert!(naive.iter().all(|r| *r == 0), "seed {seed}"),
            Err(d) => assert!(matches!(d[0].code, "E0303" | "E0305"), "seed {seed}: {d:?}"),
        }
    }
    assert!(balanced > 1500 && clashes > 200, "{balanced} {clashes}");
}

#[test]
fn the_start_is_the_least_and_deadlocks_are_found() {
    let (mut live, mut stuck) = (0, 0);
    for seed in 0..6000 {
        let g = graphs::random(seed, Wanted { zeros: seed % 2 == 0, ..ALL });
        let found = steady_state(&g);
        let r = match &found {
            Ok(s) => s.repetitions.clone(),
            Err(d) if matches!(d[0].code, "E0303" | "E0305") => naive::repetitions(&g),
            Err(_) => continue,
        };
        match (naive::start(&g, &r), found) {
            (Some(init), Ok(s)) => {
                assert_eq!(s.init, init, "seed {seed}\n{}", shown(&g));
                let mut queues = naive::Queues::new(&g);
                assert!(queues.run(&init));
                assert_eq!(s.boundary_fill, queues.fill, "seed {seed}");
                for c in g.channel_ids() {
                    let all = g.channel(c).initial.len() as u64
                        + (0..init[g.channel(c).from.0.index()])
                            .map(|i| u64::from(g.produced_by_firing(c, i)))
                            .sum::<u64>();
                    assert_eq!(s.init_peak[c.index()], all, "seed {seed}");
                }
                live += 1;
            }
            (None, Err(_)) => stuck += 1,
            (naive, found) => panic!("seed {seed}: {naive:?} but {found:?}\n{}", shown(&g)),
        }
    }
    assert!(live > 1000 && stuck > 500, "{live} {stuck}");
}

#[test]
fn both_schedules_are_right_and_their_buffers_exact() {
    let mut seen = 0;
    for (seed, g, steady) in live(0..4000, ALL) {
        let batch = 1 + seed % 3;
        let sa = single_appearance(&g, &steady, batch).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let ml = minimum_latency(&g, &steady).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        for schedule in [sa, ml] {
            let Some(naive) = naive::judge(&g, &steady, &schedule) else { continue };
            let verified =
                verify(&g, &steady, schedule).unwrap_or_else(|v| panic!("seed {seed}: {v:?}\n{}", shown(&g)));
            assert_eq!(Some(verified.highest_fill()), naive.as_deref(), "seed {seed}\n{}", shown(&g));
            seen += 1;
        }
    }
    assert!(seen > 2000, "{seen}");
}

#[test]
fn minimum_latency_is_the_reference_order() {
    let mut seen = 0;
    for (seed, g, steady) in live(0..3000, ALL) {
        let ml = minimum_latency(&g, &steady).unwrap();
        let mut queues = naive::Queues::new(&g);
        let mut quota = steady.init.clone();
        for part in [&ml.init, &ml.steady] {
            let mut firings = Vec::new();
            naive::unfold(part, &mut firings).unwrap();
            let want = naive::reference_order(&mut queues, &quota);
            assert_eq!(Some(firings), want, "seed {seed}\n{}", shown(&g));
            quota.iter_mut().zip(&steady.repetitions).for_each(|(q, r)| *q += r);
        }
        seen += 1;
    }
    assert!(seen > 1000, "{seen}");
}

fn buffers(g: &SdfGraph, steady: &SteadyState, s: SequentialSchedule) -> Vec<u64> {
    verify(g, steady, s).unwrap().highest_fill().to_vec()
}

#[test]
fn minimum_latency_never_needs_more_outside_of_loops() {
    let (mut smaller, mut without_loops) = (0, 0);
    for (seed, g, steady) in live(0..4000, ALL) {
        let sa = buffers(&g, &steady, single_appearance(&g, &steady, 1).unwrap());
        let ml = buffers(&g, &steady, minimum_latency(&g, &steady).unwrap());
        let tied = in_loop(&g);
        for c in (0..sa.len()).filter(|c| !tied[*c]) {
            assert!(ml[c] <= sa[c], "seed {seed}, c{c}: {} > {}\n{}", ml[c], sa[c], shown(&g));
        }
        if tied.iter().all(|t| !t) {
            without_loops += 1;
            smaller += u64::from(ml.iter().sum::<u64>() < sa.iter().sum());
        }
    }
    assert!(without_loops > 500 && smaller > 100, "{without_loops} {smaller}");
}

#[test]
fn every_node_appears_once_outside_of_loops() {
    for (seed, g, steady) in live(0..2000, ALL) {
        let s = single_appearance(&g, &steady, 2).unwrap();
        let tied = in_loop(&g);
        let mut count = vec![0; g.nodes.len()];
        appearances(&s.steady, &mut count);
        for n in g.node_ids().filter(|n| steady.repetitions[n.index()] > 0) {
            let node = g.node(n);
            if node.inputs.iter().chain(&node.outputs).all(|c| !tied[c.index()]) {
                assert_eq!(count[n.index()], 1, "seed {seed}");
            }
        }
    }
}

pub fn appearances(steps: &[sluice_schedule::sequential::Step], count: &mut [usize]) {
    for s in steps {
        match s {
            sluice_schedule::sequential::Step::Fire { node, .. } => count[node.index()] += 1,
            sluice_schedule::sequential::Step::Loop { body, .. } => appearances(body, count),
        }
    }
}
