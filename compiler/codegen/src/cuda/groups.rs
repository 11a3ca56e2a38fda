//! # groups
//!
//! Purpose: the order of firings within a task that runs whole: nodes of a loop that wait for each other. Input: graph, steady state, the task's nodes.
//! Output: steps for one steady state, from boundary to boundary, as few as a greedy order makes. What must hold: every firing has its items, if those from outside
//! the task are there.

use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;

/// Steps beyond which a loop does not run on a device.
pub(super) const MOST_STEPS: usize = 1 << 20;

/// Firings of one node, one after the other or side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupStep {
    /// Index among the task's nodes.
    pub(super) member: usize,
    /// How many.
    pub(super) times: u64,
}

/// The steps; `None` where there are too many.
pub(super) fn steps(graph: &SdfGraph, steady: &SteadyState, nodes: &[NodeId]) -> Option<Vec<GroupStep>> {
    let member = |v: NodeId| nodes.iter().position(|n| *n == v);
    let mut fill: Vec<u64> = steady.boundary_fill.clone();
    let mut left: Vec<u64> = nodes.iter().map(|v| steady.repetitions[v.index()]).collect();
    let mut steps: Vec<GroupStep> = Vec::new();
    while left.iter().any(|n| *n > 0) {
        // the last in program order that can fire, as often as it can: what is made is taken soon
        let can = |i: usize, fill: &[u64]| {
            let mut most = left[i];
            for c in &graph.node(nodes[i]).inputs {
                let channel = graph.channel(*c);
                if member(channel.from.0).is_none() {
                    continue;
                }
                let (here, needs) = (fill[c.index()], u64::from(channel.peek.max(channel.consume)));
                let own = channel.from.0 == nodes[i];
                most = most.min(match (here.checked_sub(needs), channel.consume) {
                    (None, _) => 0,
                    (Some(_), 0) => most,
                    // what it gives itself it sees in the next firing only
                    (Some(_), _) if own => 1,
                    (Some(rest), takes) => rest / u64::from(takes) + 1,
                });
            }
            most
        };
        let next = (0..nodes.len()).rev().map(|i| (i, can(i, &fill))).find(|(_, times)| *times > 0)?;
        let (i, times) = next;
        for c in &graph.node(nodes[i]).inputs {
            let channel = graph.channel(*c);
            if member(channel.from.0).is_some() {
                fill[c.index()] -= u64::from(channel.consume) * times;
            }
        }
        for c in &graph.node(nodes[i]).outputs {
            let channel = graph.channel(*c);
            if member(channel.to.0).is_some() {
                fill[c.index()] += u64::from(channel.produce) * times;
            }
        }
        left[i] -= times;
        steps.push(GroupStep { member: i, times });
        if steps.len() > MOST_STEPS {
            return None;
        }
    }
    Some(steps)
}
