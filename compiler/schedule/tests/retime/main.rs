//! Retiming and C-slow: the correlator of Leiserson and Saxe's paper, random graphs, and what retimed graphs compute.

mod correlator;
#[path = "../dice/mod.rs"]
mod dice;
mod model;
mod random;
mod runs;

use dice::Dice;
use sluice_schedule::retime::{DelayGraph, Edge};

/// The correlator: host, comparators 1 to 4, adders 5 to 7.
fn correlator() -> DelayGraph {
    let e = |from, to, delays| Edge { from, to, delays };
    let edges = vec![
        e(0, 1, 1),
        e(1, 2, 1),
        e(2, 3, 1),
        e(3, 4, 1),
        e(1, 7, 0),
        e(2, 6, 0),
        e(3, 5, 0),
        e(4, 5, 0),
        e(5, 6, 0),
        e(6, 7, 0),
        e(7, 0, 0),
    ];
    DelayGraph { time: vec![0, 3, 3, 3, 3, 7, 7, 7], edges, host: Some(0) }
}

/// A random graph in which every cycle has a delay.
fn random(dice: &mut Dice, nodes: u64, edges: u64) -> DelayGraph {
    let time = (0..nodes).map(|_| dice.roll(9)).collect();
    let edges = (0..edges).map(|_| {
        let (from, to) = (dice.roll(nodes) as usize, dice.roll(nodes) as usize);
        let delays = if from < to { dice.roll(5).saturating_sub(2) } else { 1 + dice.roll(3) };
        Edge { from, to, delays }
    });
    let edges = edges.collect();
    let host = (dice.roll(2) == 0).then(|| dice.roll(nodes) as usize);
    DelayGraph { time, edges, host }
}
