//! The smallest period that retiming reaches, with a retiming that reaches it.
//!
//! [`opt1`] and [`opt2`] are Leiserson and Saxe's: a binary search over the values of the matrix D, where a period is tried by Bellman and
//! Ford's algorithm on the constraints r(u) − r(v) ≤ w(e) and, where D(u, v) > c, r(u) − r(v) ≤ W(u, v) − 1; or by FEAS. Both need
//! the matrices, so they are for graphs of up to [`MOST_NODES`](super::paths::MOST_NODES) nodes. [`smallest`] needs none: it searches whole
//! numbers between what no retiming beats (the longest node; the maximum cycle ratio) and the period as it is, with FEAS.

use super::feas::Feas;
use super::paths::Paths;
use super::period::period;
use super::{DelayGraph, Retiming, RetimingError};

/// A period and a retiming that reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optimum {
    /// Φ of the retimed graph; no retiming has less.
    pub period: u64,
    /// The retiming.
    pub retiming: Retiming,
}

/// OPT1: over D, by constraints. O(V³·log V).
pub fn opt1(graph: &DelayGraph) -> Result<Optimum, RetimingError> {
    let paths = Paths::new(graph)?;
    over(graph, &paths.candidates(), |c| constraints(graph, &paths, c))
}

/// OPT2: over D, by FEAS. O(V·E·log V).
pub fn opt2(graph: &DelayGraph) -> Result<Optimum, RetimingError> {
    let paths = Paths::new(graph)?;
    let mut feas = Feas::new(graph);
    over(graph, &paths.candidates(), |c| feas.retiming(c))
}

/// Over whole numbers between proven bounds, by FEAS.
pub fn smallest(graph: &DelayGraph) -> Result<Optimum, RetimingError> {
    graph.check()?;
    let ratio = graph.iteration_bound()?.map_or(0, |c| c.ratio.ceil());
    let mut low = ratio.max(graph.time.iter().copied().max().unwrap_or(0));
    let mut best = Optimum { period: period(graph), retiming: Retiming(vec![0; graph.nodes()]) };
    let mut feas = Feas::new(graph);
    while low < best.period {
        let c = low + (best.period - low) / 2;
        match feas.retiming(c) {
            // it may have become shorter than asked for
            Some(retiming) => best = Optimum { period: period(&graph.retimed(&retiming)?), retiming },
            None => low = c + 1,
        }
    }
    Ok(best)
}

/// The smallest of ascending candidates that can be reached; the last always can.
fn over(
    graph: &DelayGraph,
    candidates: &[u64],
    mut reach: impl FnMut(u64) -> Option<Retiming>,
) -> Result<Optimum, RetimingError> {
    let (mut low, mut high) = (0, candidates.partition_point(|c| *c < period(graph)));
    let mut best = Retiming(vec![0; graph.nodes()]);
    while low < high {
        let middle = low + (high - low) / 2;
        match reach(candidates[middle]) {
            Some(r) => {
                best = r;
                high = middle;
            }
            None => low = middle + 1,
        }
    }
    Ok(Optimum { period: period(&graph.retimed(&best)?), retiming: best })
}

/// A solution of the constraints for period `c`: shortest ways from a node that leads to all others.
fn constraints(graph: &DelayGraph, paths: &Paths, c: u64) -> Option<Retiming> {
    let n = graph.nodes();
    // r(u) ≤ r(v) + bound
    let mut all: Vec<(usize, usize, i64)> = graph.edges.iter().map(|e| (e.from, e.to, e.delays as i64)).collect();
    for u in 0..n {
        for v in 0..n {
            if let Some(w) = paths.w(u, v).filter(|_| paths.d(u, v) > c) {
                all.push((u, v, w as i64 - 1));
            }
        }
    }
    let mut r = vec![0i64; n];
    for _ in 0..=n {
        let mut changed = false;
        for (u, v, bound) in &all {
            let most = r[*v] + bound;
            if most < r[*u] {
                r[*u] = most;
                changed = true;
            }
        }
        if !changed {
            let host = graph.host.map_or(0, |h| r[h]);
            r.iter_mut().for_each(|x| *x -= host);
            return Some(Retiming(r));
        }
    }
    None
}
