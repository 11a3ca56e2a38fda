//! # islands
//!
//! Purpose: the parts into which dynamic channels cut a graph.
//! Input: [`SdfGraph`]. Output: [`Islands`]; none for a program without dynamic rates.
//! What must hold afterwards: nodes on both ends of a channel that is not dynamic are in one island. Islands are numbered by their first
//! nodes in program order.

use crate::components::components_of;
use crate::graph::SdfGraph;
use crate::ids::NodeId;

/// The islands of a program with dynamic rates.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Islands {
    /// By node: its island.
    pub of: Vec<u32>,
    /// By island: do its nodes stop at the boundary of an epoch? The others run as their data allow.
    pub quota: Vec<bool>,
    /// By island: does a dynamic channel lead into it? In the others a steady state bounds what lies on channels.
    pub fed: Vec<bool>,
}

impl Islands {
    /// Does a node stop at the boundaries of epochs?
    pub fn has_quota(&self, node: NodeId) -> bool {
        self.of.get(node.index()).is_none_or(|i| self.quota[*i as usize])
    }

    /// The islands of a graph; `None` where nothing is dynamic.
    pub fn of(graph: &SdfGraph) -> Option<Islands> {
        if !graph.node_ids().any(|n| graph.is_dynamic(n)) {
            return None;
        }
        let none = u32::MAX;
        let begins = beginnings(graph);
        let mut islands = Islands { of: vec![none; graph.nodes.len()], quota: Vec::new(), fed: Vec::new() };
        for first in graph.node_ids() {
            if islands.of[first.index()] != none {
                continue;
            }
            let number = islands.quota.len() as u32;
            // with a source of its own it has a measure of its own; without, the islands before it decide
            let (mut source, mut fed) = (false, false);
            let mut todo = vec![first];
            while let Some(n) = todo.pop() {
                if std::mem::replace(&mut islands.of[n.index()], number) == number {
                    continue;
                }
                let node = graph.node(n);
                source |= begins[n.index()];
                fed |= node.inputs.iter().any(|c| graph.channel(*c).dynamic);
                let still = node.inputs.iter().chain(&node.outputs).map(|c| graph.channel(*c)).filter(|c| !c.dynamic);
                todo.extend(still.map(|c| if c.from.0 == n { c.to.0 } else { c.from.0 }));
            }
            islands.quota.push(source || !fed);
            islands.fed.push(fed);
        }
        Some(islands)
    }
}

/// By node: do items begin here? Sources do, and the first nodes of loops into which nothing leads.
fn beginnings(graph: &SdfGraph) -> Vec<bool> {
    let nodes: Vec<NodeId> = graph.node_ids().collect();
    let edges: Vec<(NodeId, NodeId)> = graph.channels.iter().map(|c| (c.from.0, c.to.0)).collect();
    let parts = components_of(&nodes, &edges);
    let mut part_of = vec![0; nodes.len()];
    parts.iter().enumerate().for_each(|(i, part)| part.iter().for_each(|n| part_of[n.index()] = i));
    let mut reached = vec![false; parts.len()];
    for (from, to) in edges {
        let (from, to) = (part_of[from.index()], part_of[to.index()]);
        reached[to] |= from != to;
    }
    let mut begins = vec![false; nodes.len()];
    for part in parts.iter().zip(reached).filter(|(_, reached)| !reached).map(|(part, _)| part) {
        begins[part[0].index()] = true;
    }
    begins
}
