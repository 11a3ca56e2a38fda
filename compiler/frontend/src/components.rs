//! Strongly connected components: what a feedback loop ties together.
//!
//! Takes nodes and the edges between them, gives the components in topological order; where that leaves a choice, the one whose
//! first node comes first in program order: petgraph's components by Kosaraju's method (no recursion: programs may be deep), then
//! A. B. Kahn's topological order, Comm. ACM, 1962. Linear but for the logarithm of the heap.

use crate::graph::SdfGraph;
use crate::ids::NodeId;
use petgraph::Direction::Incoming;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The components of a whole graph, each in program order. Dynamic channels tie nothing together.
pub fn components(graph: &SdfGraph) -> Vec<Vec<NodeId>> {
    let nodes: Vec<NodeId> = graph.node_ids().collect();
    let edges: Vec<(NodeId, NodeId)> =
        graph.channels.iter().filter(|c| !c.dynamic).map(|c| (c.from.0, c.to.0)).collect();
    components_of(&nodes, &edges)
}

/// The components of some nodes (in ascending order) under some edges between them; other edges are passed over.
pub fn components_of(nodes: &[NodeId], edges: &[(NodeId, NodeId)]) -> Vec<Vec<NodeId>> {
    let place = |n: NodeId| nodes.binary_search(&n).ok();
    let edges: Vec<(usize, usize)> = edges.iter().filter_map(|(a, b)| Some((place(*a)?, place(*b)?))).collect();
    let parts = kosaraju_scc(&graph(nodes.len(), edges.iter().copied()));
    let mut part = vec![0; nodes.len()];
    for (p, all) in parts.iter().enumerate() {
        all.iter().for_each(|v| part[v.index()] = p);
    }
    let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); parts.len()];
    for (i, p) in part.iter().enumerate() {
        members[*p].push(nodes[i]);
    }
    // Kahn's order of the components
    let between = edges.iter().map(|(a, b)| (part[*a], part[*b])).filter(|(a, b)| a != b);
    let after = graph(parts.len(), between);
    let mut waits: Vec<usize> = after.node_indices().map(|p| after.neighbors_directed(p, Incoming).count()).collect();
    let first = (0..parts.len()).filter(|p| waits[*p] == 0);
    let mut ready: BinaryHeap<Reverse<(NodeId, usize)>> = first.map(|p| Reverse((members[p][0], p))).collect();
    let mut out = Vec::with_capacity(parts.len());
    while let Some(Reverse((_, p))) = ready.pop() {
        for next in after.neighbors(NodeIndex::new(p)).map(NodeIndex::index) {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.push(Reverse((members[next][0], next)));
            }
        }
        out.push(std::mem::take(&mut members[p]));
    }
    out
}

fn graph(vertices: usize, edges: impl Iterator<Item = (usize, usize)>) -> DiGraph<(), ()> {
    let mut graph = DiGraph::with_capacity(vertices, 0);
    (0..vertices).for_each(|_| _ = graph.add_node(()));
    edges.for_each(|(a, b)| _ = graph.add_edge(NodeIndex::new(a), NodeIndex::new(b), ()));
    graph
}

/// What is left of a component when the channels are cut that hold all that an iteration (`counts` firings of its nodes, which are in
/// ascending order) takes from them: components again, in an order in which they can go through the iteration one after the other.
/// One only: the iteration ties all of it together. Source: S. S. Bhattacharyya, P. K. Murthy, E. A. Lee, "Software Synthesis from
/// Dataflow Graphs", 1996, chapter 7 (loose interdependence).
pub fn loose_parts(graph: &SdfGraph, part: &[NodeId], counts: &[u64], fill: &[u64]) -> Vec<Vec<NodeId>> {
    let mut uncut = Vec::new();
    for n in part {
        for id in &graph.node(*n).outputs {
            let c = graph.channel(*id);
            let Some(firings) = part.binary_search(&c.to.0).ok().map(|i| counts[i]).filter(|f| *f > 0) else {
                continue;
            };
            let whole = u128::from(firings) * u128::from(c.consume) + u128::from(c.peek.saturating_sub(c.consume));
            if u128::from(fill[id.index()]) < whole {
                uncut.push((c.from.0, c.to.0));
            }
        }
    }
    components_of(part, &uncut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(all: &[u32]) -> Vec<NodeId> {
        all.iter().map(|n| NodeId(*n)).collect()
    }

    /// By reachability alone.
    fn naive(n: usize, edges: &[(NodeId, NodeId)]) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; n]; n];
        (0..n).for_each(|i| reach[i][i] = true);
        edges.iter().for_each(|(a, b)| reach[a.index()][b.index()] = true);
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    reach[i][j] |= reach[i][k] && reach[k][j];
                }
            }
        }
        reach
    }

    #[test]
    fn components_are_mutual_reachability_in_topological_order() {
        let mut seed = 1u64;
        let mut dice = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..500 {
            let n = 1 + dice(12) as usize;
            let count = dice(20);
            let edges: Vec<(NodeId, NodeId)> =
                (0..count).map(|_| (NodeId(dice(n as u64) as u32), NodeId(dice(n as u64) as u32))).collect();
            let nodes: Vec<NodeId> = (0..n).map(NodeId::from).collect();
            let parts = components_of(&nodes, &edges);
            let reach = naive(n, &edges);
            let mut of = vec![usize::MAX; n];
            for (p, part) in parts.iter().enumerate() {
                assert!(part.is_sorted());
                part.iter().for_each(|v| of[v.index()] = p);
            }
            for i in 0..n {
                for j in 0..n {
                    assert_eq!(of[i] == of[j], reach[i][j] && reach[j][i], "{edges:?}");
                    assert!(!reach[i][j] || of[i] <= of[j], "{edges:?}");
                }
            }
        }
    }

    #[test]
    fn program_order_where_it_is_topological() {
        let edges = [(NodeId(0), NodeId(3)), (NodeId(1), NodeId(2))];
        assert_eq!(components_of(&ids(&[0, 1, 2, 3]), &edges), [0, 1, 2, 3].map(|n| ids(&[n])));
        // other edges are passed over
        assert_eq!(components_of(&ids(&[2, 5]), &[(NodeId(5), NodeId(9))]), [ids(&[2]), ids(&[5])]);
    }

    #[test]
    fn a_million_in_a_row_and_in_a_ring() {
        let n = 1_000_000;
        let nodes: Vec<NodeId> = (0..n).map(NodeId::from).collect();
        let mut edges: Vec<(NodeId, NodeId)> = (1..n).map(|i| (NodeId::from(i - 1), NodeId::from(i))).collect();
        assert_eq!(components_of(&nodes, &edges).len(), n);
        edges.push((NodeId::from(n - 1), NodeId(0)));
        assert_eq!(components_of(&nodes, &edges).len(), 1);
    }
}
