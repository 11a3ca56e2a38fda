//! Values from the literature, and limits.

use crate::graphs::{channel, graph, node, rates, steady};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::steady_state;
use sluice_frontend::typed::Rates;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_schedule::judge::verify;
use sluice_schedule::minimum_latency::minimum_latency;
use sluice_schedule::sequential::Step;
use sluice_schedule::single_appearance::single_appearance;

fn fire(n: u32, times: u64) -> Step {
    Step::Fire { node: NodeId(n), times }
}

fn turns(times: u64, body: Vec<Step>) -> Step {
    Step::Loop { times, body }
}

fn failure(g: &SdfGraph) -> Diagnostic {
    steady_state(g).unwrap_err().remove(0)
}

/// A chain of nodes: (push, pop) of each channel.
fn chain(all: &[(u32, u32)]) -> SdfGraph {
    let channels: Vec<_> = all.iter().enumerate().map(|(i, (a, b))| (i as u32, i as u32 + 1, *a, *b, 0)).collect();
    graph(&channels)
}

#[test]
fn two_to_three() {
    // k_u·O = k_v·I, smallest: 3·2 = 2·3
    let g = chain(&[(2, 3)]);
    assert_eq!(steady(&g).repetitions, [3, 2]);
    let sa = single_appearance(&g, &steady(&g), 1).unwrap();
    assert_eq!(sa.steady, [fire(0, 3), fire(1, 2)]);
    let ml = minimum_latency(&g, &steady(&g)).unwrap();
    assert_eq!(ml.steady, [fire(0, 2), fire(1, 1), fire(0, 1), fire(1, 1)]);
    assert_eq!(verify(&g, &steady(&g), ml).unwrap().highest_fill(), [4]);
    assert_eq!(verify(&g, &steady(&g), sa).unwrap().highest_fill(), [6]);
}

#[test]
fn lee_and_messerschmitt() {
    // "Synchronous data flow", Proc. IEEE 1987: a consistent graph of three nodes, and one that is not
    assert_eq!(steady(&graph(&[(0, 1, 1, 1, 0), (0, 2, 2, 1, 0), (1, 2, 2, 1, 0)])).repetitions, [1, 1, 2]);
    let clash = failure(&graph(&[(0, 1, 1, 1, 0), (0, 2, 2, 1, 0), (1, 2, 1, 1, 0)]));
    assert_eq!(clash.code, "E0301");
}

#[test]
fn compact_disc_to_digital_audio_tape() {
    // 44.1 kHz to 48 kHz in four steps (Bhattacharyya, Murthy, Lee 1996)
    let g = chain(&[(1, 1), (2, 3), (2, 7), (8, 7), (5, 1)]);
    let s = steady(&g);
    assert_eq!(s.repetitions, [147, 147, 98, 28, 32, 160]);
    let sa = verify(&g, &s, single_appearance(&g, &s, 1).unwrap()).unwrap();
    assert_eq!(sa.highest_fill(), [147, 294, 196, 224, 160]);
    let ml = verify(&g, &s, minimum_latency(&g, &s).unwrap()).unwrap();
    assert!(ml.highest_fill().iter().sum::<u64>() < 40, "{:?}", ml.highest_fill());
    // the least that any schedule of a channel needs: push + pop - gcd
    assert_eq!(ml.highest_fill(), [1, 4, 8, 14, 5]);
}

#[test]
fn a_steady_state_is_smallest_for_each_piece() {
    // two pieces that nothing joins, and a channel that never carries anything
    let g = graph(&[(0, 1, 4, 6, 0), (2, 3, 10, 5, 0), (1, 2, 0, 0, 0)]);
    assert_eq!(steady(&g).repetitions, [3, 2, 1, 2]);
}

#[test]
fn peeks_are_met_by_the_initialisation() {
    let mut g = SdfGraph::default();
    (0..3).for_each(|_| {
        node(&mut g, None);
    });
    channel(&mut g, 0, 1, Rates { push: 2, pop: 1, peek: 4 }, 0);
    channel(&mut g, 1, 2, Rates { push: 1, pop: 3, peek: 8 }, 0);
    let s = steady(&g);
    assert_eq!(s.repetitions, [3, 6, 2]);
    // five items stay before the last node; its producer needs 5 + 3 for them
    assert_eq!(s.init, [4, 5, 0]);
    assert_eq!(s.boundary_fill, [3, 5]);
    assert_eq!(s.init_peak, [8, 5]);
}

#[test]
fn a_loop_with_a_whole_iteration_on_its_way_back_appears_once() {
    // A → B → C → A; 6 items wait between C and A: an iteration takes 3·2
    let g = graph(&[(0, 1, 2, 3, 0), (1, 2, 3, 3, 0), (2, 0, 3, 2, 6)]);
    let s = steady(&g);
    assert_eq!(s.repetitions, [3, 2, 2]);
    let sa = single_appearance(&g, &s, 1).unwrap();
    assert_eq!(
        sa.steady,
        [turns(1, vec![fire(0, 3), turns(2, vec![fire(1, 1), fire(2, 1)])])]
            .map(|_| { turns(1, vec![fire(0, 3), fire(1, 2), fire(2, 2)]) })
    );
    assert!(verify(&g, &s, sa).is_ok());
    // with fewer, somebody appears more than once; 4 are the fewest
    let g = graph(&[(0, 1, 2, 3, 0), (1, 2, 3, 3, 0), (2, 0, 3, 2, 4)]);
    let sa = single_appearance(&g, &steady(&g), 1).unwrap();
    assert_eq!(sa.steady, [turns(1, vec![fire(0, 2), fire(1, 1), fire(2, 1), fire(0, 1), fire(1, 1), fire(2, 1)])]);
    assert_eq!(failure(&graph(&[(0, 1, 2, 3, 0), (1, 2, 3, 3, 0), (2, 0, 3, 2, 3)])).code, "E0303");
}

#[test]
fn loops_run_their_own_smallest_iteration() {
    // the source makes ten iterations of the loop necessary
    let g = graph(&[(0, 1, 10, 1, 0), (1, 2, 1, 1, 0), (2, 1, 1, 1, 1), (2, 3, 1, 10, 0)]);
    let s = steady(&g);
    assert_eq!(s.repetitions, [1, 10, 10, 1]);
    let sa = single_appearance(&g, &s, 7).unwrap();
    assert_eq!(sa.steady, [fire(0, 7), turns(70, vec![fire(1, 1), fire(2, 1)]), fire(3, 7)]);
    assert!(verify(&g, &s, sa).is_ok());
    // a loop within it, at a higher rate: its own loop within the outer one's
    let g =
        graph(&[(0, 1, 1, 2, 2), (1, 0, 2, 1, 0), (1, 2, 3, 1, 0), (2, 3, 1, 1, 0), (3, 2, 1, 1, 1), (3, 1, 1, 3, 3)]);
    let s = steady(&g);
    assert_eq!(s.repetitions, [2, 1, 3, 3]);
    let sa = single_appearance(&g, &s, 1).unwrap();
    assert_eq!(sa.steady, [turns(1, vec![fire(1, 1), fire(0, 2), turns(3, vec![fire(2, 1), fire(3, 1)])])]);
    assert!(verify(&g, &s, sa).is_ok());
}

#[test]
fn unequal_first_firings() {
    let mut g = SdfGraph::default();
    node(&mut g, None);
    node(&mut g, Some(Rates { push: 7, pop: 5, peek: 9 }));
    node(&mut g, None);
    channel(&mut g, 0, 1, rates(2, 1), 0);
    channel(&mut g, 1, 2, rates(1, 4), 0);
    let s = steady(&g);
    assert_eq!((s.repetitions, s.init), (vec![2, 4, 1], vec![5, 1, 0]));
    assert_eq!((s.boundary_fill, s.init_peak), (vec![5, 7], vec![10, 7]));
}

#[test]
fn repetitions_up_to_the_limit() {
    // each channel doubles: 47 of them are within the limit, 48 are not
    let doubling = |n: usize| chain(&vec![(2, 1); n]);
    let s = steady(&doubling(47));
    assert_eq!(*s.repetitions.last().unwrap(), 1 << 47);
    let sa = single_appearance(&doubling(47), &s, 1).unwrap();
    assert!(verify(&doubling(47), &s, sa).is_ok());
    assert!(matches!(minimum_latency(&doubling(47), &s), Err(sluice_schedule::minimum_latency::Failure::TooLong(_))));
    for n in [48, 64, 200] {
        let d = failure(&doubling(n));
        assert_eq!(d.code, "E0304");
        assert!(d.labels[0].text.contains("2^48"), "{d:?}");
    }
    // and the other way
    let halving = chain(&[(1, 2); 60]);
    assert_eq!(failure(&halving).code, "E0304");
}

#[test]
fn items_up_to_the_limit() {
    // 2^40 firings of 2^31 items: more than any buffer
    let mut all = vec![(2, 1); 40];
    all.push((1 << 31, 1 << 31));
    let d = failure(&chain(&all));
    assert_eq!(d.code, "E0304");
    assert!(d.labels[0].text.contains("2^62"), "{d:?}");
    let batch = single_appearance(&chain(&[(1, 1)]), &steady(&chain(&[(1, 1)])), u64::MAX).unwrap();
    assert_eq!(batch.steady, [fire(0, u64::MAX), fire(1, u64::MAX)]);
    let over = single_appearance(&chain(&[(2, 1)]), &steady(&chain(&[(2, 1)])), u64::MAX);
    assert_eq!(over, Err(sluice_schedule::single_appearance::Failure::Overflow));
}

#[test]
fn an_initialisation_up_to_the_limit() {
    // every node peeks at 2^32 - 1 items: the demand multiplies
    let peeking = |n: u32| {
        let mut g = SdfGraph::default();
        (0..=n).for_each(|_| {
            node(&mut g, None);
        });
        for i in 0..n {
            let (push, pop) = if i % 2 == 0 { (1, 1 << 20) } else { (1 << 20, 1) };
            channel(&mut g, i, i + 1, Rates { push, pop, peek: u32::MAX }, 0);
        }
        g
    };
    assert!(steady_state(&peeking(2)).is_ok());
    for n in [20, 2000] {
        let g = peeking(n);
        match steady_state(&g) {
            Ok(s) => assert!(s.init.iter().all(|i| *i < 1 << 48)),
            Err(d) => assert_eq!(d[0].code, "E0304"),
        }
    }
    // a long loop with large rates: the demand of a feedback loop that pays back slowly
    let mut g = SdfGraph::default();
    (0..2).for_each(|_| {
        node(&mut g, None);
    });
    channel(&mut g, 0, 1, rates(1 << 30, 1 << 30), 0);
    channel(&mut g, 1, 0, rates(1 << 30, 1 << 30), 1 << 10);
    assert_eq!(failure(&g).code, "E0303");
}

#[test]
fn too_long_to_check() {
    // a ring whose third edge's items go one by one through a loop, 2^22 for each firing of node 1
    let many = 1 << 22;
    let ring = |items: u64| {
        graph(&[
            (0, 1, 2, 3, 0),
            (1, 2, many, 1, 0),
            (2, 3, 1, 1, 0),
            (3, 2, 1, 1, 1),
            (3, 4, 1, many, 0),
            (4, 0, 3, 2, items),
        ])
    };
    // with a whole iteration's items the ring is no concern of the loop
    let s = steady(&ring(6));
    assert_eq!(s.repetitions, [3, 2, 1 << 23, 1 << 23, 2]);
    let sa = single_appearance(&ring(6), &s, 1).unwrap();
    let inner = turns(1 << 23, vec![fire(2, 1), fire(3, 1)]);
    assert_eq!(sa.steady, [turns(1, vec![fire(0, 3), fire(1, 2), inner, fire(4, 2)])]);
    assert!(verify(&ring(6), &s, sa).is_ok());
    let d = failure(&ring(4));
    assert_eq!(d.code, "E0306", "{d:?}");
    assert_eq!(failure(&ring(3)).code, "E0303");
}
