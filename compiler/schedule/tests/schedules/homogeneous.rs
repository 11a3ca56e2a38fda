//! The homogeneous graph against queues of items that know which firing made them.

use crate::graphs::{self, ALL, Wanted};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::steady_state::{SteadyState, steady_state};
use sluice_schedule::retime::homogeneous::{Homogeneous, homogeneous};
use sluice_schedule::retime::{Edge, RetimingError};
use std::collections::{BTreeMap, VecDeque};

fn of(g: &SdfGraph) -> (SteadyState, Homogeneous) {
    let s = steady_state(g).unwrap();
    let times: Vec<u64> = (1..=g.nodes.len() as u64).collect();
    let h = homogeneous(g, &s, &times).unwrap().unwrap();
    (s, h)
}

fn edges(h: &Homogeneous) -> Vec<(usize, usize, u64)> {
    h.graph.edges.iter().map(|e| (e.from, e.to, e.delays)).collect()
}

#[test]
fn push_two_pop_three() {
    let (_, h) = of(&graphs::graph(&[(0, 1, 2, 3, 0)]));
    assert_eq!(edges(&h), [(0, 3, 0), (1, 3, 0), (1, 4, 0), (2, 4, 0)]);
    assert_eq!(h.graph.time, [1, 1, 1, 2, 2]);
    // two items that are there already come from the third A of the iteration before
    let (_, h) = of(&graphs::graph(&[(0, 1, 2, 3, 2)]));
    assert_eq!(edges(&h), [(0, 3, 0), (0, 4, 0), (1, 4, 0), (2, 3, 1)]);
}

#[test]
fn a_loop_with_delays() {
    // A and B tied by four items that B gives and A takes two at a time
    let (_, h) = of(&graphs::graph(&[(0, 1, 1, 1, 0), (1, 0, 1, 1, 4)]));
    assert_eq!(edges(&h), [(0, 1, 0), (1, 0, 4)]);
    assert_eq!(h.graph.iteration_bound().unwrap().unwrap().ratio.to_string(), "3/4");
}

#[test]
fn too_many_firings_are_refused() {
    let g = graphs::graph(&[(0, 1, 1, 4_000_000, 0)]);
    let s = steady_state(&g).unwrap();
    assert!(matches!(homogeneous(&g, &s, &[1, 1]), Err(RetimingError::TooMany { .. })));
    // few firings that see many
    let g = graphs::graph(&[(0, 1, 1, 1000, 0), (1, 2, 1000, 1, 0)]);
    let s = steady_state(&g).unwrap();
    assert_eq!(homogeneous(&g, &s, &[1, 1, 1]).unwrap().unwrap().graph.edges.len(), 2000);
}

/// Who needs whom, from items with the number of the firing that made them. Delays are those of the last iteration of many.
fn naive(g: &SdfGraph, s: &SteadyState) -> Option<BTreeMap<(usize, usize), u64>> {
    const ITERATIONS: u64 = 60;
    let mut first = vec![0];
    s.repetitions.iter().for_each(|r| first.push(first[first.len() - 1] + *r as usize));
    let mut queues: Vec<VecDeque<i64>> =
        g.channels.iter().map(|c| std::iter::repeat_n(-1, c.initial.len()).collect()).collect();
    let mut fired = vec![0u64; g.nodes.len()];
    let mut found = BTreeMap::new();
    for j in 0..=ITERATIONS {
        let quota: Vec<u64> = s.init.iter().zip(&s.repetitions).map(|(i, r)| i + j * r).collect();
        loop {
            let next = g.node_ids().find(|n| {
                fired[n.index()] < quota[n.index()]
                    && g.node(*n)
                        .inputs
                        .iter()
                        .all(|c| queues[c.index()].len() as u64 >= u64::from(g.needed_by_firing(*c, fired[n.index()])))
            });
            let Some(n) = next else { break };
            let at = fired[n.index()];
            let me = (j == ITERATIONS)
                .then(|| first[n.index()] + (at - (quota[n.index()] - s.repetitions[n.index()])) as usize);
            let mut needs = |u: usize, firing: i64| {
                let Some(me) = me else { return Some(()) };
                let of_steady = u64::try_from(firing).ok()?.checked_sub(s.init[u])?;
                let (iteration, k) = (of_steady / s.repetitions[u] + 1, of_steady % s.repetitions[u]);
                let distance = ITERATIONS - iteration;
                let least = found.entry((first[u] + k as usize, me)).or_insert(distance);
                *least = distance.min(*least);
                Some(())
            };
            for c in &g.node(n).inputs {
                let q = &mut queues[c.index()];
                for item in q.iter().take(g.needed_by_firing(*c, at) as usize) {
                    needs(g.channel(*c).from.0.index(), *item)?;
                }
                q.drain(..g.consumed_by_firing(*c, at) as usize);
            }
            if matches!(g.node(n).kind, NodeKind::Filter { stateful: true, .. }) && me.is_some() {
                needs(n.index(), at as i64 - 1)?;
            }
            for c in &g.node(n).outputs {
                let items = g.produced_by_firing(*c, at) as usize;
                queues[c.index()].extend(std::iter::repeat_n(at as i64, items));
            }
            fired[n.index()] += 1;
        }
        assert_eq!(fired, quota);
    }
    Some(found)
}

#[test]
fn random_graphs_need_what_they_need() {
    let (mut seen, mut delayed) = (0, 0);
    for seed in 0..1500 {
        let g = graphs::random(seed, Wanted { zeros: false, ..ALL });
        let Ok(s) = steady_state(&g) else { continue };
        if s.repetitions.iter().sum::<u64>() > 60 {
            continue;
        }
        // some nodes remember
        let mut g = g;
        for n in &mut g.nodes {
            if let NodeKind::Filter { stateful, .. } = &mut n.kind {
                *stateful = seed % 2 == 0;
            }
        }
        let Some(found) = naive(&g, &s) else { continue };
        let h = homogeneous(&g, &s, &vec![1; g.nodes.len()]).unwrap().unwrap();
        let want: Vec<Edge> = found.into_iter().map(|((from, to), delays)| Edge { from, to, delays }).collect();
        assert_eq!(h.graph.edges, want, "seed {seed}\n{}", sluice_frontend::graph_text::print(&g));
        assert!(h.graph.iteration_bound().is_ok(), "seed {seed}");
        delayed += usize::from(want.iter().any(|e| e.delays > 0 && e.from != e.to));
        seen += 1;
    }
    assert!(seen > 300 && delayed > 50, "{seen} {delayed}");
}
