//! # steady-state
//!
//! Purpose: the smallest repetition vector, the initialisation schedule, liveness, and the fill of every channel at the
//! boundary between steady states.
//! Input: [`SdfGraph`]. Output: [`SteadyState`], or diagnostics that explain in stream terms what does not balance or
//! cannot start. Numbers are exact; what does not fit is reported. Source: E. A. Lee, D. G. Messerschmitt, "Static
//! scheduling of synchronous data flow programs for digital signal processing", IEEE Trans. Computers, 1987.

mod bench;
mod clash;
mod deadlock;
mod drained;
mod explain;
mod islands;
mod repetitions;
mod startup;

pub use self::drained::drained;
pub use self::islands::Islands;
pub use self::repetitions::gcd;
use self::startup::{PATIENCE, Start};
use crate::graph::SdfGraph;
use crate::ids::ChannelId;
use crate::messages::Precedence;
use sluice_grammar::diagnostic::Diagnostic;

/// Codes of this pass.
pub const CODES: &[(&str, &str)] = &[
    ("E0300", "the branches of a splitjoin do not balance"),
    ("E0301", "the rates of a loop do not balance"),
    ("E0302", "nothing can ever flow"),
    ("E0303", "a feedback loop cannot start"),
    ("E0304", "the rates are too large"),
    ("E0305", "a filter can never see enough items"),
    ("E0306", "the steady state is too long to check"),
];

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
    /// What an order of firings has to keep to besides the items: no message may come too late.
    pub precedences: Vec<Precedence>,
    /// The islands of a program with dynamic rates; the numbers above are each island's own. `None` without dynamic rates.
    pub islands: Option<Islands>,
}

impl SteadyState {
    /// Items a buffer needs for any order of firings within the initialisation, and within `batch` steady states.
    /// `None` where that does not fit into 64 bits; for one steady state it always does.
    pub fn capacity(&self, graph: &SdfGraph, channel: ChannelId, batch: u64) -> Option<u64> {
        let c = graph.channel(channel);
        let produced = self.repetitions[c.from.0.index()].checked_mul(batch)?.checked_mul(u64::from(c.produce))?;
        let steady = self.boundary_fill[channel.index()].checked_add(produced)?;
        Some(steady.max(self.init_peak[channel.index()]))
    }
}

/// The steady state of a graph; of one with dynamic rates, that of each of its islands ([`SdfGraph::cut`]).
pub fn steady_state(graph: &SdfGraph) -> Result<SteadyState, Vec<Diagnostic>> {
    let islands = Islands::of(graph);
    let graph = &*graph.cut();
    let repetitions = repetitions::repetitions(graph).map_err(|clash| vec![clash::clash(graph, &clash)])?;
    let initial: Vec<u64> = graph.channels.iter().map(|c| c.initial.len() as u64).collect();
    let start = Start::new(graph, &repetitions);
    let state = start.startup(&initial, PATIENCE).map_err(|stuck| explain::stuck(&start, &initial, &stuck))?;
    Ok(SteadyState { islands, ..state })
}
