//! The clock period of a graph: the time of its longest chain without delays (Leiserson and Saxe's algorithm CP), and where that chain starts.
//! Linear; the chains are followed in topological order, without recursion.

use super::DelayGraph;

/// The longest chains without delays that end at each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chains {
    /// Δ(v): the time of the longest one, that of v included.
    pub time: Vec<u64>,
    /// The node that it starts from.
    pub start: Vec<usize>,
    /// The edge by which it comes to v, none at its start.
    pub last: Vec<Option<usize>>,
}

impl Chains {
    /// Φ: the time of the longest of all; 0 without nodes.
    pub fn period(&self) -> u64 {
        self.time.iter().copied().max().unwrap_or(0)
    }

    /// The edges of the longest of all, in order.
    pub fn longest(&self, graph: &DelayGraph) -> Vec<usize> {
        let period = self.period();
        let mut at = self.time.iter().position(|t| *t == period);
        let mut chain = Vec::new();
        while let Some(e) = at.and_then(|n| self.last[n]) {
            chain.push(e);
            at = Some(graph.edges[e].from);
        }
        chain.reverse();
        chain
    }
}

/// Edges by node, and what is needed to follow chains again and again as delays change.
pub struct Walker {
    starts: Vec<usize>,
    /// Edges that leave each node.
    out: Vec<usize>,
    waits: Vec<usize>,
    ready: Vec<usize>,
}

impl Walker {
    /// For the edges of a graph.
    pub fn new(graph: &DelayGraph) -> Walker {
        let n = graph.nodes();
        let mut starts = vec![0; n + 1];
        graph.edges.iter().for_each(|e| starts[e.from + 1] += 1);
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let mut at = starts.clone();
        let mut out = vec![0; graph.edges.len()];
        for (i, e) in graph.edges.iter().enumerate() {
            out[at[e.from]] = i;
            at[e.from] += 1;
        }
        Walker { starts, out, waits: vec![0; n], ready: Vec::new() }
    }

    /// Edges that leave a node.
    pub fn out(&self, n: usize) -> &[usize] {
        &self.out[self.starts[n]..self.starts[n + 1]]
    }

    /// The longest chains, where `delays` are on the edges; no cycle may be without.
    pub fn chains(&mut self, graph: &DelayGraph, delays: &[u64]) -> Chains {
        let n = graph.nodes();
        self.waits.iter_mut().for_each(|w| *w = 0);
        for (e, _) in graph.edges.iter().zip(delays).filter(|(_, d)| **d == 0) {
            self.waits[e.to] += 1;
        }
        self.ready.extend((0..n).filter(|v| self.waits[*v] == 0));
        let mut found = Chains { time: vec![0; n], start: (0..n).collect(), last: vec![None; n] };
        while let Some(v) = self.ready.pop() {
            // so far the longest chain into v
            let time = found.time[v] + graph.time[v];
            found.time[v] = time;
            for e in &self.out[self.starts[v]..self.starts[v + 1]] {
                if delays[*e] > 0 {
                    continue;
                }
                let to = graph.edges[*e].to;
                if time > found.time[to] || found.last[to].is_none() {
                    found.time[to] = time;
                    found.start[to] = found.start[v];
                    found.last[to] = Some(*e);
                }
                self.waits[to] -= 1;
                if self.waits[to] == 0 {
                    self.ready.push(to);
                }
            }
        }
        found
    }
}

/// The longest chains of a graph without cycles that lack delays.
pub fn chains(graph: &DelayGraph) -> Chains {
    let delays: Vec<u64> = graph.edges.iter().map(|e| e.delays).collect();
    Walker::new(graph).chains(graph, &delays)
}

/// Φ.
pub fn period(graph: &DelayGraph) -> u64 {
    chains(graph).period()
}
