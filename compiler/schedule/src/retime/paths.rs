//! The matrices W and D: for each pair of nodes the fewest delays on a way from one to the other, and the most time of such a way.
//!
//! Row by row with Dijkstra's algorithm: nodes are finished in the order of (W, place in a topological order of the edges without delays), so
//! that all tight ways into a node are known when it is finished. O(V·E·log V).

use super::period::Walker;
use super::{DelayGraph, RetimingError};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most nodes for which the matrices are made (they have the square of that).
pub const MOST_NODES: usize = 2048;

/// No way leads there.
pub const NO_WAY: u64 = u64::MAX;

/// W and D.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    nodes: usize,
    w: Vec<u64>,
    d: Vec<u64>,
}

impl Paths {
    /// The matrices of a graph.
    pub fn new(graph: &DelayGraph) -> Result<Paths, RetimingError> {
        let n = graph.nodes();
        if n > MOST_NODES {
            return Err(RetimingError::TooMany { limit: MOST_NODES });
        }
        graph.check()?;
        let walker = Walker::new(graph);
        let place = topological(graph, &walker);
        let mut paths = Paths { nodes: n, w: vec![NO_WAY; n * n], d: vec![0; n * n] };
        let mut heap = BinaryHeap::new();
        for u in 0..n {
            let row = u * n;
            (paths.w[row + u], paths.d[row + u]) = (0, graph.time[u]);
            heap.push(Reverse((0, place[u], u)));
            let mut done = vec![false; n];
            while let Some(Reverse((w, _, v))) = heap.pop() {
                if std::mem::replace(&mut done[v], true) {
                    continue;
                }
                for e in walker.out(v).iter().map(|e| graph.edges[*e]) {
                    let (w, d) = (w + e.delays, paths.d[row + v] + graph.time[e.to]);
                    let to = row + e.to;
                    if w < paths.w[to] {
                        (paths.w[to], paths.d[to]) = (w, d);
                        heap.push(Reverse((w, place[e.to], e.to)));
                    } else if w == paths.w[to] && e.to != u {
                        paths.d[to] = paths.d[to].max(d);
                    }
                }
            }
        }
        Ok(paths)
    }

    /// W(u, v): the fewest delays on a way from u to v; `None` without a way.
    pub fn w(&self, u: usize, v: usize) -> Option<u64> {
        Some(self.w[u * self.nodes + v]).filter(|w| *w != NO_WAY)
    }

    /// D(u, v): the most time of a way with W(u, v) delays, both ends included; 0 without a way.
    pub fn d(&self, u: usize, v: usize) -> u64 {
        self.d[u * self.nodes + v]
    }

    /// The values in D, ascending: the smallest period is one of them.
    pub fn candidates(&self) -> Vec<u64> {
        let there = self.w.iter().zip(&self.d).filter(|(w, _)| **w != NO_WAY);
        let mut all: Vec<u64> = there.map(|(_, d)| *d).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The place of each node in a topological order of the edges without delays.
fn topological(graph: &DelayGraph, walker: &Walker) -> Vec<usize> {
    let n = graph.nodes();
    let mut waits = vec![0; n];
    graph.edges.iter().filter(|e| e.delays == 0).for_each(|e| waits[e.to] += 1);
    let mut ready: Vec<usize> = (0..n).filter(|v| waits[*v] == 0).collect();
    let mut place = vec![0; n];
    let mut next = 0;
    while let Some(v) = ready.pop() {
        place[v] = next;
        next += 1;
        for e in walker.out(v).iter().map(|e| graph.edges[*e]).filter(|e| e.delays == 0) {
            waits[e.to] -= 1;
            if waits[e.to] == 0 {
                ready.push(e.to);
            }
        }
    }
    place
}
