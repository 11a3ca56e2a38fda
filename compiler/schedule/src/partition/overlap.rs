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
use sluice_frontend::steady_state::SteadyState;

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
