//! # overlap
//!
//! Purpose: what a thread that runs a replicated stage needs of the batch before its own, which another thread has run. Input: graph, steady
//! state, stages. Output: [`Overlap`]: firings that are made again, and items that channels bring along.
//!
//! Items that stay on a channel at a boundary (a peeking filter's) were made in the batch before. A channel into the stage brings them along, a
//! second time; those on a channel within it are made again, by the last firings of their producer in that batch, which in turn need items.
//!
//! ```text
//! stage [u → v], v peeks 3 pops 1, so 2 items stay   →   u fires twice more, at the beginning; u's input brings 2 items along (and what stays there)
//! ```
//!
//! Source: M. Gordon, W. Thies, S. Amarasinghe, "Exploiting coarse-grained task, data, and pipeline parallelism in stream programs",
//! ASPLOS 2006 (fission of peeking filters).

use super::Partition;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;

/// Lanes of the widest vectors, and what part of a batch is little.
const LANES: u64 = 16;
const LITTLE: u64 = 32;

/// What replicated stages do twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// By node: firings of the batch before that are made again; 0 outside of replicated stages.
    pub again: Vec<u64>,
    /// By channel: items of batches before that lie in front of a batch's own; the boundary's at least.
    pub before: Vec<u64>,
}

impl Overlap {
    /// Works it out, from the consumers to the producers. Within a replicated stage program order must be topological, as it is without feedback.
    pub fn of(graph: &SdfGraph, steady: &SteadyState, partition: &Partition, at: &[usize]) -> Overlap {
        Overlap::with(graph, steady, partition, at, &|_, n| n)
    }

    /// The same with so many firings again that vectors of them are full, where that is little of a batch of so many steady states: what is over would be done one by one.
    pub fn in_vectors(
        graph: &SdfGraph,
        steady: &SteadyState,
        partition: &Partition,
        at: &[usize],
        batch: u64,
    ) -> Overlap {
        let full = |v: NodeId, n: u64| {
            let all = n.checked_next_multiple_of(LANES).unwrap_or(n);
            if (all - n).saturating_mul(LITTLE) <= steady.repetitions[v.index()].saturating_mul(batch) {
                all
            } else {
                n
            }
        };
        Overlap::with(graph, steady, partition, at, &full)
    }

    /// `count` says how many firings a node makes again of which so many are needed: no fewer, and none for none.
    fn with(
        graph: &SdfGraph,
        steady: &SteadyState,
        partition: &Partition,
        at: &[usize],
        count: &dyn Fn(NodeId, u64) -> u64,
    ) -> Overlap {
        let mut again = vec![0u64; graph.nodes.len()];
        let mut before = steady.boundary_fill.clone();
        for stage in partition.stages.iter().filter(|s| s.replicas > 1) {
            for u in stage.nodes.iter().rev() {
                let node = graph.node(*u);
                for c in &node.outputs {
                    let channel = graph.channel(*c);
                    if at[channel.to.0.index()] != at[u.index()] || channel.produce == 0 {
                        continue;
                    }
                    let popped = again[channel.to.0.index()].saturating_mul(u64::from(channel.consume));
                    let items = steady.boundary_fill[c.index()].saturating_add(popped);
                    again[u.index()] = again[u.index()].max(items.div_ceil(u64::from(channel.produce)));
                }
                again[u.index()] = count(*u, again[u.index()]);
            }
            for v in &stage.nodes {
                for c in &graph.node(*v).inputs {
                    let popped = again[v.index()].saturating_mul(u64::from(graph.channel(*c).consume));
                    let items = steady.boundary_fill[c.index()].saturating_add(popped);
                    before[c.index()] = before[c.index()].max(items);
                }
            }
            for u in &stage.nodes {
                for c in &graph.node(*u).outputs {
                    let made = again[u.index()].saturating_mul(u64::from(graph.channel(*c).produce));
                    before[c.index()] = before[c.index()].max(made);
                }
            }
        }
        Overlap { again, before }
    }
}
