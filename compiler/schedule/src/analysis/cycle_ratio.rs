//! # cycle-ratio
//!
//! Purpose: the maximum cycle ratio of a graph, which is its iteration bound: the most cycles of the clock that any cycle of the graph takes
//! per iteration of distance. Input: arcs with a weight (time) and a distance (iterations, that is delays). Output: the exact ratio with a
//! critical cycle; nothing where the graph has no cycles; an error that names the cycle where one has distance 0, for what waits
//! for itself never happens.
//!
//! Example: a filter of 7 cycles that carries state: one arc to itself, weight 7, distance 1, ratio 7. With two delays: 7/2.
//!
//! Two algorithms that share nothing but the preparation below: Howard's policy iteration ([`howard`]), which [`cycle_ratio`] uses, and
//! parametric paths ([`parametric`]). Both compute in integers, neither recurses. Source: A. Dasdan, "Experimental analysis of the fastest
//! optimum cycle ratio and mean algorithms", ACM Trans. Design Automation of Electronic Systems 9(4), 2004.

pub mod howard;
pub mod parametric;

use sluice_frontend::components::components_of;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::gcd;
use std::cmp::Ordering;
use std::fmt;

/// An arc: what is at `to` happens at least `weight` cycles after what is at `from`, `distance` iterations before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arc {
    /// Where it comes from.
    pub from: usize,
    /// Where it leads.
    pub to: usize,
    /// Time in cycles.
    pub weight: u64,
    /// Delays: how many iterations lie between.
    pub distance: u64,
}

/// A fraction in lowest terms, cycles per iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// Cycles.
    pub weight: u64,
    /// Iterations, at least 1.
    pub distance: u64,
}

impl Ratio {
    /// The fraction in lowest terms; `distance` is at least 1.
    pub fn new(weight: u64, distance: u64) -> Ratio {
        let g = gcd(weight, distance).max(1);
        Ratio { weight: weight / g, distance: distance / g }
    }

    /// The smallest whole number that is not below it: the RecMII of a graph with this ratio.
    pub fn ceil(self) -> u64 {
        self.weight.div_ceil(self.distance)
    }

    /// As a float, to be shown.
    pub fn to_f64(self) -> f64 {
        self.weight as f64 / self.distance as f64
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let cross = |a: &Ratio, b: &Ratio| u128::from(a.weight) * u128::from(b.distance);
        cross(self, other).cmp(&cross(other, self))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.distance {
            1 => write!(f, "{}", self.weight),
            d => write!(f, "{}/{d}", self.weight),
        }
    }
}

/// The maximum cycle ratio and a cycle that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Critical {
    /// The ratio.
    pub ratio: Ratio,
    /// Arcs of a simple cycle with this ratio, by their place in the input, in order, from its smallest node.
    pub cycle: Vec<usize>,
}

/// Why there is no ratio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRatio {
    /// Arcs of a cycle without distance: what is on it waits for itself. In order, from its smallest node.
    Deadlock(Vec<usize>),
    /// Weights or distances add up to more than [`MOST`].
    TooLarge,
}

/// The most that the weights on a cycle, and its distances, may add up to.
pub const MOST: u64 = 1 << 62;

impl fmt::Display for NoRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRatio::Deadlock(cycle) => {
                write!(f, "a cycle of {} dependences has no delay: it waits for itself", cycle.len())
            }
            NoRatio::TooLarge => write!(f, "the times or delays on a cycle add up to more than {MOST}"),
        }
    }
}

impl std::error::Error for NoRatio {}

/// The maximum cycle ratio of a graph whose nodes are numbered from 0 to `nodes` - 1.
pub fn cycle_ratio(nodes: usize, arcs: &[Arc]) -> Result<Option<Critical>, NoRatio> {
    howard::cycle_ratio(nodes, arcs)
}

/// The parts of a graph that have cycles, each with a distance: what both algorithms start from.
struct Cyclic {
    /// Nodes of each strongly connected component that has arcs.
    parts: Vec<Vec<usize>>,
    /// Arcs within components, by their place in the input, those of each node together.
    out: Lists,
}

impl Cyclic {
    fn of(nodes: usize, arcs: &[Arc]) -> Result<Cyclic, NoRatio> {
        let ids: Vec<NodeId> = (0..nodes).map(NodeId::from).collect();
        let edges: Vec<(NodeId, NodeId)> = arcs.iter().map(|a| (NodeId::from(a.from), NodeId::from(a.to))).collect();
        let mut part = vec![0; nodes];
        let components = components_of(&ids, &edges);
        for (p, members) in components.iter().enumerate() {
            members.iter().for_each(|n| part[n.index()] = p);
        }
        let inner = || arcs.iter().enumerate().filter(|(_, a)| part[a.from] == part[a.to]);
        if let Some(cycle) = without_distance(nodes, arcs, inner().filter(|(_, a)| a.distance == 0).map(|(i, _)| i)) {
            return Err(NoRatio::Deadlock(cycle));
        }
        let out = Lists::new(nodes, inner().map(|(i, a)| (a.from, i)));
        // a simple path leaves each node once at most
        let (mut weight, mut distance) = (0u128, 0u128);
        for n in 0..nodes {
            weight += u128::from(out.of(n).iter().map(|a| arcs[*a].weight).max().unwrap_or(0));
            distance += u128::from(out.of(n).iter().map(|a| arcs[*a].distance).max().unwrap_or(0));
        }
        if weight > u128::from(MOST) || distance > u128::from(MOST) {
            return Err(NoRatio::TooLarge);
        }
        let parts = components.into_iter().filter(|p| !out.of(p[0].index()).is_empty());
        Ok(Cyclic { parts: parts.map(|p| p.into_iter().map(|n| n.index()).collect()).collect(), out })
    }
}

/// Numbers by node, in one array.
struct Lists {
    starts: Vec<usize>,
    all: Vec<usize>,
}

impl Lists {
    fn new(nodes: usize, items: impl Iterator<Item = (usize, usize)> + Clone) -> Lists {
        let mut starts = vec![0; nodes + 1];
        for (n, _) in items.clone() {
            starts[n + 1] += 1;
        }
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let mut at = starts.clone();
        let mut all = vec![0; starts[nodes]];
        for (n, item) in items {
            all[at[n]] = item;
            at[n] += 1;
        }
        Lists { starts, all }
    }

    fn of(&self, n: usize) -> &[usize] {
        &self.all[self.starts[n]..self.starts[n + 1]]
    }
}

/// A cycle of the arcs named in `free`, if there is one.
fn without_distance(nodes: usize, arcs: &[Arc], free: impl Iterator<Item = usize> + Clone) -> Option<Vec<usize>> {
    let into = Lists::new(nodes, free.clone().map(|a| (arcs[a].to, a)));
    let mut waits: Vec<usize> = vec![0; nodes];
    free.clone().for_each(|a| waits[arcs[a].from] += 1);
    let mut ready: Vec<usize> = (0..nodes).filter(|n| waits[*n] == 0).collect();
    while let Some(n) = ready.pop() {
        for a in into.of(n) {
            let from = arcs[*a].from;
            waits[from] -= 1;
            if waits[from] == 0 {
                ready.push(from);
            }
        }
    }
    // from what is left, an arc leads to what is left
    let first = (0..nodes).find(|n| waits[*n] > 0)?;
    let mut next = vec![usize::MAX; nodes];
    for a in free.filter(|a| waits[arcs[*a].to] > 0) {
        let from = arcs[a].from;
        if next[from] == usize::MAX {
            next[from] = a;
        }
    }
    let mut seen = vec![false; nodes];
    let mut n = first;
    while !std::mem::replace(&mut seen[n], true) {
        n = arcs[next[n]].to;
    }
    let mut cycle = vec![next[n]];
    while arcs[cycle[cycle.len() - 1]].to != n {
        cycle.push(next[arcs[cycle[cycle.len() - 1]].to]);
    }
    Some(from_smallest(arcs, cycle))
}

/// A cycle as its smallest node sees it.
fn from_smallest(arcs: &[Arc], mut cycle: Vec<usize>) -> Vec<usize> {
    if let Some(first) = (0..cycle.len()).min_by_key(|i| arcs[cycle[*i]].from) {
        cycle.rotate_left(first);
    }
    cycle
}

/// The result for a cycle; both sums fit, as [`Cyclic::of`] has seen.
fn critical(arcs: &[Arc], cycle: Vec<usize>) -> Critical {
    let weight = cycle.iter().map(|a| arcs[*a].weight).sum();
    let distance = cycle.iter().map(|a| arcs[*a].distance).sum();
    Critical { ratio: Ratio::new(weight, distance), cycle: from_smallest(arcs, cycle) }
}
