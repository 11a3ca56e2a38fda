//! # homogeneous
//!
//! Purpose: the homogeneous graph of a stream graph: one node for each firing of a steady state, an edge from each firing to those that need
//! what it gives, with as many delays as iterations lie between. Input: the flat graph, its steady state, the time of a firing of each node.
//! Output: [`Homogeneous`]. It describes steady states only; what the initialisation leaves on a channel counts as what is there before.
//!
//! Example: A pushes 2, B pops 3, nothing on the channel: A0 A1 A2 B0 B1, edges A0→B0, A1→B0, A1→B1, A2→B1.
//!
//! The edges are the [dependences](crate::problem::dependences) of the task graph in which every firing is an instance of its own: items
//! seen, state, prints, and messages.
//!
//! Limits: [`MOST`] nodes and edges; dynamic rates have no homogeneous graph.

use super::{DelayGraph, Edge, RetimingError};
use crate::problem::build::{Source, ungrouped};
use crate::problem::dependences::dependences;
use crate::problem::granularity::{Times, finest};
use crate::problem::modulo::Unfit;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;

/// The most nodes, and the most edges.
pub const MOST: usize = 1_000_000;

/// The homogeneous graph and which firing each of its nodes is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homogeneous {
    /// The graph.
    pub graph: DelayGraph,
    /// The node that fires, and which of its firings in the steady state (from 0), by node of `graph`.
    pub firings: Vec<(NodeId, u64)>,
    /// The first firing of each node of the stream graph.
    pub first: Vec<usize>,
}

/// The homogeneous graph; `time` is that of one firing, by node, at least 1. `None` where rates are dynamic.
pub fn homogeneous(graph: &SdfGraph, steady: &SteadyState, time: &[u64]) -> Result<Option<Homogeneous>, RetimingError> {
    if steady.islands.is_some() {
        return Ok(None);
    }
    let all = steady.repetitions.iter().try_fold(0u64, |s, r| s.checked_add(*r)).filter(|s| *s <= MOST as u64);
    all.ok_or(RetimingError::TooMany { limit: MOST })?;
    let times = Times { firing: time.to_vec(), alone: time.to_vec(), lanes: 1, threads: 1, each: vec![], overhead: 0 };
    let (granularity, item_bytes) = (finest(graph), vec![1; graph.channels.len()]);
    let source = Source { graph, steady, granularity: &granularity, times: &times, item_bytes: &item_bytes };
    let tasks = ungrouped(source).map_err(refused)?;
    let (mut first, mut firings, mut cost) = (vec![0; graph.nodes.len()], Vec::new(), Vec::new());
    let mut first_of_task = Vec::with_capacity(tasks.tasks.len());
    for task in &tasks.tasks {
        first_of_task.push(firings.len());
        firings.extend((0..task.instances).map(|k| (task.nodes[0], k)));
        cost.extend((0..task.instances).map(|_| task.cost));
    }
    // nodes that never fire begin, and end, where the next one begins
    let mut at = 0;
    for (n, repetitions) in steady.repetitions.iter().enumerate() {
        first[n] = at;
        at += *repetitions as usize;
    }
    let mut edges: Vec<Edge> = (dependences(&tasks, &first_of_task).map_err(refused)?.into_iter())
        .map(|d| Edge { from: d.from, to: d.to, delays: d.distance })
        .collect();
    if edges.len() > MOST {
        return Err(RetimingError::TooMany { limit: MOST });
    }
    edges.sort_unstable_by_key(|e| (e.from, e.to));
    Ok(Some(Homogeneous { graph: DelayGraph { time: cost, edges, host: None }, firings, first }))
}

fn refused(why: Unfit) -> RetimingError {
    match why {
        Unfit::Dependences(_) | Unfit::Instances(_) => RetimingError::TooMany { limit: MOST },
        _ => RetimingError::TooLarge,
    }
}
