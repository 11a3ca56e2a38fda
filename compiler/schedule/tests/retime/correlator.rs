//! The published numbers.

use super::correlator;
use sluice_schedule::analysis::cycle_ratio::Ratio;
use sluice_schedule::retime::feas::feas;
use sluice_schedule::retime::opt::{opt1, opt2, smallest};
use sluice_schedule::retime::paths::Paths;
use sluice_schedule::retime::period::{chains, period};
use sluice_schedule::retime::{DelayGraph, Retiming, RetimingError};

#[test]
fn from_24_to_13() {
    let g = correlator();
    assert_eq!(period(&g), 24);
    // comparator 4, then the three adders; the host takes no time
    let chain: Vec<usize> = chains(&g).longest(&g).iter().map(|e| g.edges[*e].from).collect();
    assert!(chain.starts_with(&[3, 5, 6]) || chain.starts_with(&[4, 5, 6]), "{chain:?}");
    for found in [opt1(&g), opt2(&g), smallest(&g)] {
        let found = found.unwrap();
        assert_eq!(found.period, 13);
        assert_eq!(found.retiming.0[0], 0);
        assert_eq!(period(&g.retimed(&found.retiming).unwrap()), 13);
    }
    assert_eq!(feas(&g, 12), None);
    assert!(feas(&g, 13).is_some());
}

#[test]
fn a_retiming_by_hand_is_legal() {
    let g = correlator();
    let r = Retiming(vec![0, -1, -1, -2, -2, -2, -1, 0]);
    let h = g.retimed(&r).unwrap();
    assert_eq!(period(&h), 13);
    let delays: Vec<u64> = h.edges.iter().map(|e| e.delays).collect();
    assert_eq!(delays, [0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0]);
    // each way round the host keeps its delays
    let ratio = |g: &DelayGraph| g.iteration_bound().unwrap().unwrap().ratio;
    assert_eq!(ratio(&g), ratio(&h));
}

#[test]
fn the_matrices() {
    let paths = Paths::new(&correlator()).unwrap();
    // rows and columns: host, 1 to 7
    let w = [
        [0, 1, 2, 3, 4, 3, 2, 1],
        [0, 0, 1, 2, 3, 2, 1, 0],
        [0, 1, 0, 1, 2, 1, 0, 0],
        [0, 1, 2, 0, 1, 0, 0, 0],
        [0, 1, 2, 3, 0, 0, 0, 0],
        [0, 1, 2, 3, 4, 0, 0, 0],
        [0, 1, 2, 3, 4, 3, 0, 0],
        [0, 1, 2, 3, 4, 3, 2, 0],
    ];
    let d = [
        [0, 3, 6, 9, 12, 16, 13, 10],
        [10, 3, 6, 9, 12, 16, 13, 10],
        [17, 20, 3, 6, 9, 13, 10, 17],
        [24, 27, 30, 3, 6, 10, 17, 24],
        [24, 27, 30, 33, 3, 10, 17, 24],
        [21, 24, 27, 30, 33, 7, 14, 21],
        [14, 17, 20, 23, 26, 30, 7, 14],
        [7, 10, 13, 16, 19, 23, 20, 7],
    ];
    for u in 0..8 {
        for v in 0..8 {
            assert_eq!((paths.w(u, v), paths.d(u, v)), (Some(w[u][v]), d[u][v]), "{u} {v}");
        }
    }
}

#[test]
fn two_slow_it_gets_faster_still() {
    let g = correlator();
    let bound = g.iteration_bound().unwrap().unwrap().ratio;
    assert_eq!(bound, Ratio::new(10, 1));
    let slow = g.slowed(2).unwrap();
    assert_eq!(slow.iteration_bound().unwrap().unwrap().ratio, Ratio::new(5, 1));
    let found = opt1(&slow).unwrap();
    assert_eq!(found.period, 7);
    assert_eq!(opt2(&slow).unwrap().period, 7);
}

#[test]
fn wrong_retimings_are_refused() {
    let g = correlator();
    let mut r = vec![0; 8];
    r[7] = 1;
    assert_eq!(g.retimed(&Retiming(r.clone())), Err(RetimingError::Negative(10)));
    r[0] = 1;
    assert_eq!(g.retimed(&Retiming(r)), Err(RetimingError::Host));
    assert_eq!(g.retimed(&Retiming(vec![0; 7])), Err(RetimingError::Nodes));
    let mut stuck = g.clone();
    stuck.edges[0].delays = 0;
    for found in [opt1(&stuck), opt2(&stuck), smallest(&stuck)] {
        assert_eq!(found, Err(RetimingError::NoDelay(vec![0, 4, 10])));
    }
    let mut large = g.clone();
    large.time[1] = u64::MAX;
    assert_eq!(smallest(&large), Err(RetimingError::TooLarge));
    assert_eq!(g.slowed(u64::MAX).and_then(|g| smallest(&g)), Err(RetimingError::TooLarge));
}
