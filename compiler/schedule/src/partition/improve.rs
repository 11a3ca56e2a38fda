//! # improve
//!
//! Purpose: moves single components between stages as long as that helps: a cut of one topological order is not the best of all orders.
//! Input: components, runs. Output: runs that are no worse. A move keeps each channel within its stage or forward, and stages with state single.

use super::order::{Components, Runs};

/// Moves looked at.
const MOVES: usize = 2_000_000;

/// What all stages have to do, for comparisons: the slowest first, then how uneven they are.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Score(f64, f64);

fn score(load: &[u64], replicas: &[usize]) -> Score {
    let each = load.iter().zip(replicas).map(|(l, r)| *l as f64 / (*r).max(1) as f64);
    each.fold(Score(0.0, 0.0), |s, x| Score(s.0.max(x), s.1 + x * x))
}

/// Improves runs.
pub fn improve(whole: &Components, mut runs: Runs) -> Runs {
    let stages = runs.replicas.len();
    let mut load = vec![0u64; stages];
    for i in 0..whole.len() {
        load[runs.stage[i]] = load[runs.stage[i]].saturating_add(whole.load[i]);
        for (j, toll) in &whole.next[i] {
            if runs.stage[i] != runs.stage[*j] {
                load[runs.stage[i]] = load[runs.stage[i]].saturating_add(*toll);
                load[runs.stage[*j]] = load[runs.stage[*j]].saturating_add(*toll);
            }
        }
    }
    let (mut now, mut looked) = (score(&load, &runs.replicas), 0);
    loop {
        let mut best: Option<(Score, usize, usize)> = None;
        for i in 0..whole.len() {
            let from = runs.stage[i];
            let least = whole.last[i].iter().map(|(j, _)| runs.stage[*j]).max().unwrap_or(0);
            let most = whole.next[i].iter().map(|(j, _)| runs.stage[*j]).min().unwrap_or(stages - 1);
            for to in least..=most {
                if to == from || runs.replicas[to] > 1 && !whole.stateless[i] {
                    continue;
                }
                looked += 1 + stages;
                let mut after = load.clone();
                moved(whole, &runs, i, to, &mut after);
                let s = score(&after, &runs.replicas);
                if s < best.map_or(now, |b| b.0) {
                    best = Some((s, i, to));
                }
            }
        }
        let Some((s, i, to)) = best else { return runs };
        moved(whole, &runs, i, to, &mut load);
        runs.stage[i] = to;
        now = s;
        if looked > MOVES {
            return runs;
        }
    }
}

/// What a move does to the loads.
fn moved(whole: &Components, runs: &Runs, i: usize, to: usize, load: &mut [u64]) {
    let from = runs.stage[i];
    load[from] = load[from].saturating_sub(whole.load[i]);
    load[to] = load[to].saturating_add(whole.load[i]);
    for (j, toll) in whole.next[i].iter().chain(&whole.last[i]) {
        let other = runs.stage[*j];
        if other != from {
            load[from] = load[from].saturating_sub(*toll);
            load[other] = load[other].saturating_sub(*toll);
        }
        if other != to {
            load[to] = load[to].saturating_add(*toll);
            load[other] = load[other].saturating_add(*toll);
        }
    }
}
