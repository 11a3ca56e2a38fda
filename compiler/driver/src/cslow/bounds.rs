//! Iteration bounds and smallest periods of a program, and of its loops.

use serde::Serialize;
use sluice_frontend::Elaborated;
use sluice_frontend::ids::NodeId;
use sluice_schedule::analysis::cycle_ratio::Ratio;
use sluice_schedule::retime::homogeneous::{Homogeneous, homogeneous};
use sluice_schedule::retime::opt::smallest;
use sluice_schedule::retime::period::period;
use sluice_schedule::retime::{DelayGraph, Edge};
use std::collections::BTreeMap;

/// The most firings for which periods are looked for.
const MOST_FIRINGS: usize = 5000;

/// Bounds on an iteration (a steady state), before and after C-slow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bounds {
    /// The iteration bound in cycles: nothing gets below it. None without cycles.
    pub iteration_bound: Option<f64>,
    /// The same as a fraction.
    pub iteration_bound_exact: Option<String>,
    /// RecMII: the next whole number.
    pub rec_mii: Option<u64>,
    /// The longest firing: no period is shorter, since retiming splits none.
    pub longest_firing: u64,
    /// The period as it is: the longest chain within an iteration. None where there are too many firings.
    pub period: Option<u64>,
    /// The smallest that retiming reaches.
    pub min_period: Option<u64>,
    /// The same where C streams take turns.
    pub slow: SlowBounds,
}

/// Bounds where C streams take turns: on an iteration of one of them, so C take C times as long.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SlowBounds {
    /// The iteration bound divided by C.
    pub iteration_bound: Option<f64>,
    /// As a fraction.
    pub iteration_bound_exact: Option<String>,
    /// The next whole number.
    pub rec_mii: Option<u64>,
    /// The smallest period with C times the delays.
    pub min_period: Option<u64>,
}

/// The homogeneous graph of a program, where it has one of a size that can be looked at.
pub struct Whole {
    graph: Homogeneous,
    edges_of: BTreeMap<usize, Vec<Edge>>,
}

impl Whole {
    /// With the time of a firing of each node.
    pub fn new(program: &Elaborated, time: &[u64]) -> Option<Whole> {
        let graph = homogeneous(&program.graph, &program.steady, time).ok()??;
        let mut edges_of: BTreeMap<usize, Vec<Edge>> = BTreeMap::new();
        for e in &graph.graph.edges {
            edges_of.entry(graph.firings[e.from].0.index()).or_default().push(*e);
        }
        Some(Whole { graph, edges_of })
    }

    /// Bounds of the whole program, and the nodes on a critical cycle, each once.
    pub fn all(&self, c: u64) -> (Bounds, Vec<NodeId>) {
        let critical = self.graph.graph.iteration_bound().ok().flatten().map(|c| c.cycle).unwrap_or_default();
        let mut nodes: Vec<NodeId> = Vec::new();
        for e in critical {
            let n = self.graph.firings[self.graph.graph.edges[e].from].0;
            if !nodes.contains(&n) {
                nodes.push(n);
            }
        }
        (bounds(&self.graph.graph, c), nodes)
    }

    /// Bounds of the part that some nodes are.
    pub fn part(&self, nodes: &[NodeId], c: u64) -> Bounds {
        let mut place: BTreeMap<usize, usize> = BTreeMap::new();
        let mut part = DelayGraph::default();
        for n in nodes {
            let first = self.graph.first[n.index()];
            let next = self.graph.first.get(n.index() + 1).copied().unwrap_or(self.graph.firings.len());
            for firing in first..next {
                place.insert(firing, part.time.len());
                part.time.push(self.graph.graph.time[firing]);
            }
        }
        for e in nodes.iter().filter_map(|n| self.edges_of.get(&n.index())).flatten() {
            if let (Some(from), Some(to)) = (place.get(&e.from), place.get(&e.to)) {
                part.edges.push(Edge { from: *from, to: *to, delays: e.delays });
            }
        }
        bounds(&part, c)
    }
}

fn bounds(graph: &DelayGraph, c: u64) -> Bounds {
    let ratio = |g: &DelayGraph| g.iteration_bound().ok().flatten().map(|c| c.ratio);
    let slowed = graph.slowed(c).ok();
    let (one, many) = (ratio(graph), slowed.as_ref().and_then(ratio));
    let small = graph.nodes() <= MOST_FIRINGS;
    let shortest = |g: &DelayGraph| smallest(g).ok().map(|o| o.period);
    Bounds {
        iteration_bound: one.map(Ratio::to_f64),
        iteration_bound_exact: one.map(|r| r.to_string()),
        rec_mii: one.map(Ratio::ceil),
        longest_firing: graph.time.iter().copied().max().unwrap_or(0),
        period: small.then(|| period(graph)),
        min_period: if small { shortest(graph) } else { None },
        slow: SlowBounds {
            iteration_bound: many.map(Ratio::to_f64),
            iteration_bound_exact: many.map(|r| r.to_string()),
            rec_mii: many.map(Ratio::ceil),
            min_period: slowed.filter(|_| small).as_ref().and_then(shortest),
        },
    }
}
