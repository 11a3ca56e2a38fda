//! Random graphs: three ways to the smallest period, against all retimings of small graphs.

use super::{Dice, random};
use sluice_schedule::retime::feas::feas;
use sluice_schedule::retime::opt::{opt1, opt2, smallest};
use sluice_schedule::retime::period::period;
use sluice_schedule::retime::{DelayGraph, Edge, Retiming};

#[test]
fn three_ways_agree() {
    let mut dice = Dice::new(11);
    let mut shorter = 0;
    for round in 0..3000 {
        let n = 1 + dice.roll(14);
        let edges = dice.roll(3 * n);
        let g = random(&mut dice, n, edges);
        let found = [opt1(&g).unwrap(), opt2(&g).unwrap(), smallest(&g).unwrap()];
        for f in &found {
            assert_eq!(f.period, found[0].period, "round {round}: {g:?}");
            assert_eq!(period(&g.retimed(&f.retiming).unwrap()), f.period, "round {round}");
        }
        let bound = g.iteration_bound().unwrap().map_or(0, |c| c.ratio.ceil());
        assert!(found[0].period >= bound);
        assert!(found[0].period <= period(&g));
        shorter += usize::from(found[0].period < period(&g));
        if found[0].period > 0 {
            assert_eq!(feas(&g, found[0].period - 1), None, "round {round}: {g:?}");
        }
    }
    assert!(shorter > 1000, "{shorter}");
}

/// The smallest period of all retimings with numbers from -n to n.
fn naive(g: &DelayGraph) -> u64 {
    let n = g.nodes();
    let side = 2 * n as i64 + 1;
    let mut best = u64::MAX;
    for code in 0..side.pow(n as u32) {
        let mut rest = code;
        let digits = (0..n).map(|_| {
            let digit = rest % side - n as i64;
            rest /= side;
            digit
        });
        let r: Vec<i64> = digits.collect();
        if let Ok(retimed) = g.retimed(&Retiming(r)) {
            best = best.min(period(&retimed));
        }
    }
    best
}

#[test]
fn no_retiming_of_a_small_graph_is_better() {
    let mut dice = Dice::new(12);
    let mut shorter = 0;
    for round in 0..400 {
        let n = 2 + dice.roll(3);
        let edges = 1 + dice.roll(2 * n);
        let g = random(&mut dice, n, edges);
        let best = naive(&g);
        assert_eq!(opt1(&g).unwrap().period, best, "round {round}: {g:?}");
        shorter += usize::from(best < period(&g));
    }
    assert!(shorter > 50, "{shorter}");
}

#[test]
fn c_slow_divides_the_bound() {
    let mut dice = Dice::new(13);
    let mut cyclic = 0;
    for _ in 0..500 {
        let n = 1 + dice.roll(20);
        let edges = dice.roll(3 * n);
        let g = random(&mut dice, n, edges);
        let Some(one) = g.iteration_bound().unwrap() else { continue };
        let c = 1 + dice.roll(6);
        let slow = g.slowed(c).unwrap();
        let many = slow.iteration_bound().unwrap().unwrap().ratio;
        // exactly C times less
        assert_eq!(
            u128::from(many.weight) * u128::from(c) * u128::from(one.ratio.distance),
            u128::from(one.ratio.weight) * u128::from(many.distance)
        );
        // and enough streams bring the period down to the longest node
        let most = 1 + g.time.iter().sum::<u64>();
        let longest = g.time.iter().copied().max().unwrap();
        assert_eq!(smallest(&g.slowed(most.max(1)).unwrap()).unwrap().period, longest);
        cyclic += 1;
    }
    assert!(cyclic > 200, "{cyclic}");
}

#[test]
fn large_graphs() {
    let mut dice = Dice::new(14);
    let n = 2000;
    let g = random(&mut dice, n, 5 * n);
    let found = smallest(&g).unwrap();
    assert_eq!(period(&g.retimed(&found.retiming).unwrap()), found.period);
    // deep: a ring with one delay, and with as many as nodes but in one place
    let n = 20_000;
    let ring = |delays| DelayGraph {
        time: vec![1; n],
        edges: (0..n).map(|i| Edge { from: i, to: (i + 1) % n, delays: if i + 1 == n { delays } else { 0 } }).collect(),
        host: None,
    };
    assert_eq!(smallest(&ring(1)).unwrap().period, n as u64);
    assert_eq!(smallest(&ring(4)).unwrap().period, n as u64 / 4);
}
