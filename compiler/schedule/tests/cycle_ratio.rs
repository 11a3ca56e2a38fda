//! Maximum cycle ratios: two algorithms against each other and against all simple cycles; large graphs.

mod dice;

use dice::Dice;
use sluice_schedule::analysis::cycle_ratio::{Arc, Critical, MOST, NoRatio, Ratio, howard, parametric};

fn arc(from: usize, to: usize, weight: u64, distance: u64) -> Arc {
    Arc { from, to, weight, distance }
}

/// Both algorithms' answer; they must agree, and the cycles must be what they are said to be.
fn both(nodes: usize, arcs: &[Arc]) -> Result<Option<Ratio>, NoRatio> {
    let (a, b) = (howard::cycle_ratio(nodes, arcs), parametric::cycle_ratio(nodes, arcs));
    for found in [&a, &b] {
        match found {
            Ok(Some(c)) => check(arcs, c),
            Err(NoRatio::Deadlock(cycle)) => {
                closed(arcs, cycle);
                assert!(cycle.iter().all(|a| arcs[*a].distance == 0));
            }
            _ => {}
        }
    }
    let ratio = |r: Result<Option<Critical>, NoRatio>| r.map(|c| c.map(|c| c.ratio));
    let (a, b) = (ratio(a), ratio(b));
    assert_eq!(a, b, "{arcs:?}");
    a
}

fn check(arcs: &[Arc], c: &Critical) {
    closed(arcs, &c.cycle);
    let weight: u64 = c.cycle.iter().map(|a| arcs[*a].weight).sum();
    let distance: u64 = c.cycle.iter().map(|a| arcs[*a].distance).sum();
    assert_eq!(c.ratio, Ratio::new(weight, distance));
}

/// A simple cycle that starts at its smallest node.
fn closed(arcs: &[Arc], cycle: &[usize]) {
    let nodes: Vec<usize> = cycle.iter().map(|a| arcs[*a].from).collect();
    for (i, a) in cycle.iter().enumerate() {
        assert_eq!(arcs[*a].to, nodes[(i + 1) % nodes.len()]);
    }
    let mut sorted = nodes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), nodes.len());
    assert_eq!(nodes[0], sorted[0]);
}

/// Over all simple cycles; `Err` where one has no distance.
fn naive(nodes: usize, arcs: &[Arc]) -> Result<Option<Ratio>, ()> {
    fn from(
        arcs: &[Arc],
        start: usize,
        at: usize,
        sums: (u64, u64),
        on: &mut Vec<bool>,
        best: &mut Option<Ratio>,
    ) -> Result<(), ()> {
        for a in arcs.iter().filter(|a| a.from == at && a.to >= start) {
            let sums = (sums.0 + a.weight, sums.1 + a.distance);
            if a.to == start {
                if sums.1 == 0 {
                    return Err(());
                }
                *best = (*best).max(Some(Ratio::new(sums.0, sums.1)));
            } else if !on[a.to] {
                on[a.to] = true;
                from(arcs, start, a.to, sums, on, best)?;
                on[a.to] = false;
            }
        }
        Ok(())
    }
    let mut best = None;
    for start in 0..nodes {
        let mut on = vec![false; nodes];
        from(arcs, start, start, (0, 0), &mut on, &mut best)?;
    }
    Ok(best)
}

#[test]
fn both_find_the_greatest_of_all_simple_cycles() {
    let mut dice = Dice::new(1);
    let (mut cyclic, mut acyclic, mut stuck) = (0, 0, 0);
    for round in 0..20_000 {
        let n = 1 + dice.roll(7) as usize;
        let (weights, distances) = (1 + dice.roll(12), 1 + dice.roll(4));
        let sparse = dice.roll(4);
        let arcs: Vec<Arc> = (0..dice.roll(3 * n as u64))
            .map(|_| {
                let (from, to) = (dice.roll(n as u64) as usize, dice.roll(n as u64) as usize);
                // mostly forward without distance, so that many are free of deadlocks
                let distance = if from < to && dice.roll(4) > 0 { 0 } else { dice.roll(distances) + sparse.min(1) };
                arc(from, to, dice.roll(weights), distance)
            })
            .collect();
        let found = both(n, &arcs);
        match naive(n, &arcs) {
            Ok(best) => {
                assert_eq!(found, Ok(best), "round {round}: {arcs:?}");
                cyclic += usize::from(best.is_some());
                acyclic += usize::from(best.is_none());
            }
            Err(()) => {
                assert!(matches!(found, Err(NoRatio::Deadlock(_))), "round {round}: {arcs:?}");
                stuck += 1;
            }
        }
    }
    assert!(cyclic > 5000 && acyclic > 2000 && stuck > 1000, "{cyclic} {acyclic} {stuck}");
}

#[test]
fn middling_graphs_agree() {
    let mut dice = Dice::new(2);
    for round in 0..400 {
        let n = 20 + dice.roll(60) as usize;
        let arcs: Vec<Arc> = (0..n as u64 * (1 + dice.roll(6)))
            .map(|_| {
                let (from, to) = (dice.roll(n as u64) as usize, dice.roll(n as u64) as usize);
                arc(from, to, dice.roll(1 << (1 + round % 30)), u64::from(from >= to) * (1 + dice.roll(5)))
            })
            .collect();
        both(n, &arcs).unwrap();
    }
}

#[test]
fn small_ones_by_hand() {
    let r = |w, d| Ok(Some(Ratio::new(w, d)));
    assert_eq!(both(0, &[]), Ok(None));
    assert_eq!(both(3, &[arc(0, 1, 5, 0), arc(1, 2, 5, 0), arc(0, 2, 9, 7)]), Ok(None));
    // a filter with state
    assert_eq!(both(1, &[arc(0, 0, 7, 1)]), r(7, 1));
    assert_eq!(both(1, &[arc(0, 0, 7, 2)]), r(7, 2));
    // the greater of two loops through one node; equal sums divided differently
    let two = [arc(0, 1, 3, 0), arc(1, 0, 4, 2), arc(0, 2, 5, 1), arc(2, 0, 2, 1)];
    assert_eq!(both(3, &two), r(7, 2));
    assert_eq!(both(3, &[two[0], two[1], two[2], arc(2, 0, 3, 1)]), r(4, 1));
    // the greatest is in neither of the first components, and one has no time at all
    let parts = [arc(0, 0, 1, 1), arc(0, 1, 99, 0), arc(1, 1, 0, 1), arc(2, 2, 9, 4), arc(1, 2, 1, 0)];
    assert_eq!(both(3, &parts), r(9, 4));
    assert_eq!(both(2, &[arc(0, 1, 0, 1), arc(1, 0, 0, 0)]), r(0, 1));
    assert_eq!(both(4, &[arc(3, 2, 1, 0), arc(2, 3, 1, 0), arc(0, 0, 5, 1)]), Err(NoRatio::Deadlock(vec![1, 0])),);
    assert_eq!(both(1, &[arc(0, 0, 0, 0)]), Err(NoRatio::Deadlock(vec![0])));
    assert_eq!(Ratio::new(7, 2).ceil(), 4);
    assert_eq!((Ratio::new(8, 2).to_string(), Ratio::new(7, 2).to_string()), ("4".into(), "7/2".into()));
}

#[test]
fn numbers_up_to_the_limit_and_beyond() {
    assert_eq!(both(1, &[arc(0, 0, MOST, MOST)]), Ok(Some(Ratio::new(1, 1))));
    assert_eq!(both(1, &[arc(0, 0, MOST, MOST - 1)]), Ok(Some(Ratio::new(MOST, MOST - 1))));
    let near =
        [arc(0, 0, MOST / 2, MOST / 2 - 1), arc(1, 1, MOST / 2 - 1, MOST / 2 - 2), arc(0, 1, 1, 1), arc(1, 0, 1, 1)];
    assert_eq!(both(2, &near), Ok(Some(Ratio::new(MOST / 2 - 1, MOST / 2 - 2))));
    assert_eq!(both(1, &[arc(0, 0, MOST + 1, 1)]), Err(NoRatio::TooLarge));
    assert_eq!(both(2, &[arc(0, 1, 1, MOST), arc(1, 0, 1, 1)]), Err(NoRatio::TooLarge));
    // what is on no cycle does not count
    assert_eq!(both(2, &[arc(0, 1, u64::MAX, u64::MAX), arc(1, 1, 1, 1)]), Ok(Some(Ratio::new(1, 1))));
}

#[test]
fn twenty_thousand_nodes_and_two_hundred_thousand_arcs() {
    let n = 20_000;
    let mut dice = Dice::new(3);
    for kind in 0..3 {
        // a ring, so that all is one component, and chords of three kinds
        let mut arcs: Vec<Arc> =
            (0..n).map(|i| arc(i, (i + 1) % n, 1 + dice.roll(1000), u64::from(i + 1 == n))).collect();
        while arcs.len() < 200_000 {
            let from = dice.roll(n as u64) as usize;
            let to = match kind {
                0 => dice.roll(n as u64) as usize,
                1 => (from + dice.roll(40) as usize) % n,
                _ => from.saturating_sub(dice.roll(200) as usize),
            };
            let distance = if from < to { 0 } else { 1 + dice.roll(8) };
            arcs.push(arc(from, to, dice.roll(1000), distance));
        }
        assert!(both(n, &arcs).unwrap().is_some());
    }
}

#[test]
fn long_rings() {
    let n = 200_000;
    // weights that fall, rise and alternate, one delay or one on each arc
    for kind in 0..6 {
        let arcs: Vec<Arc> = (0..n)
            .map(|i| {
                let weight = [i, n - i, i % 7][kind % 3] as u64;
                arc(i, (i + 1) % n, weight, if kind < 3 { u64::from(i + 1 == n) } else { 1 })
            })
            .collect();
        let found = howard::cycle_ratio(n, &arcs).unwrap().unwrap();
        check(&arcs, &found);
        assert_eq!(found.cycle.len(), n);
    }
    let arcs: Vec<Arc> = (0..n).map(|i| arc(i, (i + 1) % n, 1, 0)).collect();
    let stuck = howard::cycle_ratio(n, &arcs);
    assert_eq!(stuck, Err(NoRatio::Deadlock((0..n).collect())));
    let arcs: Vec<Arc> = (0..20_000).map(|i| arc(i, (i + 1) % 20_000, (20_000 - i) as u64, 1)).collect();
    assert_eq!(both(20_000, &arcs), Ok(Some(Ratio::new(20_001, 2))));
}
