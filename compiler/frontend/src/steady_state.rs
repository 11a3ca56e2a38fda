//! # steady-state
//!
//! Purpose: the smallest repetition vector, the initialisation schedule, liveness, and the fill of every channel at the
//! boundary between steady states.
//! Input: [`crate::graph::SdfGraph`]. Output: [`SteadyState`], or diagnostics.

/// What one steady state consists of, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SteadyState {
    /// r(v): firings per steady state, by node.
    pub repetitions: Vec<u64>,
    /// init(v): firings before the first steady state, by node.
    pub init: Vec<u64>,
    /// Items on each channel at every boundary between steady states.
    pub boundary_fill: Vec<u64>,
    /// The most items each channel holds during the initialisation in any order that keeps to `init`.
    pub init_peak: Vec<u64>,
}

impl SteadyState {
    /// Items a buffer needs for any order of firings within the initialisation, and within `batch` steady states.
    /// `None` where that does not fit into 64 bits.
    pub fn capacity(&self, graph: &crate::graph::SdfGraph, channel: crate::ids::ChannelId, batch: u64) -> Option<u64> {
        let c = graph.channel(channel);
        let produced = self.repetitions[c.from.0.index()].checked_mul(batch)?.checked_mul(u64::from(c.produce))?;
        let steady = self.boundary_fill[channel.index()].checked_add(produced)?;
        Some(steady.max(self.init_peak[channel.index()]))
    }
}
