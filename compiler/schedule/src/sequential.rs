//! Sequential schedules: looped sequences of firings for one processor.

use sluice_frontend::ids::NodeId;

/// Firings in order, with loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `times` firings of one node, one after the other.
    Fire {
        /// Which.
        node: NodeId,
        /// How often, at least 1.
        times: u64,
    },
    /// A sequence, repeated.
    Loop {
        /// How often, at least 1.
        times: u64,
        /// What.
        body: Vec<Step>,
    },
}

/// A schedule of a whole program on one processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequentialSchedule {
    /// init(v) firings of each v.
    pub init: Vec<Step>,
    /// batch · r(v) firings of each v.
    pub steady: Vec<Step>,
    /// How many steady states one run of `steady` makes.
    pub batch: u64,
}

/// Adds a step, joining it to the last one where that is the same node.
pub(crate) fn push_fire(steps: &mut Vec<Step>, node: NodeId, times: u64) {
    if times == 0 {
        return;
    }
    if let Some(Step::Fire { node: last, times: n }) = steps.last_mut()
        && *last == node
        && let Some(sum) = n.checked_add(times)
    {
        *n = sum;
        return;
    }
    steps.push(Step::Fire { node, times });
}
