//! FEAS: a retiming with a period of at most c, if there is one.
//!
//! As long as a chain is too long, the nodes at which it is get one more delay on their inputs, all at once. Leiserson and Saxe do this
//! |V| − 1 times. Each time, r(v) comes to stand exactly one above what the start of v's chain allows; where these reasons go round
//! in a circle, no r will do (a cycle of constraints that adds up to more than nothing, as in Bellman and Ford's algorithm), and that is
//! known long before the |V| − 1 rounds are over.

use super::period::Walker;
use super::{DelayGraph, Retiming};

/// A retiming for period `c`. The graph must be free of cycles without delays, and its numbers add up.
pub fn feas(graph: &DelayGraph, c: u64) -> Option<Retiming> {
    Feas::new(graph).retiming(c)
}

/// FEAS for one graph and several periods.
pub struct Feas<'a> {
    graph: &'a DelayGraph,
    walker: Walker,
}

impl<'a> Feas<'a> {
    /// For a graph.
    pub fn new(graph: &'a DelayGraph) -> Feas<'a> {
        Feas { graph, walker: Walker::new(graph) }
    }

    /// A retiming for period `c`.
    pub fn retiming(&mut self, c: u64) -> Option<Retiming> {
        let g = self.graph;
        let n = g.nodes();
        if g.time.iter().any(|t| *t > c) {
            return None;
        }
        let mut r = vec![0i64; n];
        let mut delays: Vec<u64> = g.edges.iter().map(|e| e.delays).collect();
        // whose chain made v move last
        let mut reason = vec![usize::MAX; n];
        for _ in 0..=n {
            let chains = self.walker.chains(g, &delays);
            let late: Vec<usize> = (0..n).filter(|v| chains.time[*v] > c).collect();
            if late.is_empty() {
                let host = g.host.map_or(0, |h| r[h]);
                r.iter_mut().for_each(|x| *x -= host);
                return Some(Retiming(r));
            }
            for v in &late {
                r[*v] += 1;
                reason[*v] = chains.start[*v];
            }
            if circular(&reason) {
                return None;
            }
            for (e, d) in g.edges.iter().zip(&mut delays) {
                // what follows a late node without delay is late too, so this stays at or above 0
                *d = (i128::from(e.delays) + i128::from(r[e.to]) - i128::from(r[e.from])) as u64;
            }
        }
        None
    }
}

/// Do the reasons go round in a circle?
fn circular(reason: &[usize]) -> bool {
    let mut walk = vec![0usize; reason.len()];
    for start in 0..reason.len() {
        let mut v = start;
        while v != usize::MAX && walk[v] == 0 {
            walk[v] = start + 1;
            v = reason[v];
        }
        if v != usize::MAX && walk[v] == start + 1 {
            return true;
        }
    }
    false
}
