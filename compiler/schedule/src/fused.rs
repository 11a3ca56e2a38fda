//! # fused
//!
//! Purpose: the steady schedule of a program with regions ([`sluice_kernel::fuse`]), and what it is in the program as it was, for the judge. Input: both graphs.
//! Output: [`FusedSchedule`].
//!
//! ```text
//! 8·region 1·writer   →   8·(2·A 1·split 1·B 1·C 1·join) 1·writer
//! ```

use crate::judge::{self, Verified};
use crate::sequential::{SequentialSchedule, Step};
use crate::single_appearance::single_appearance;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::steady_state::SteadyState;
use sluice_kernel::fuse::Fused;

/// A schedule of a program with regions.
#[derive(Clone, Debug)]
pub struct FusedSchedule {
    /// The steady state, of the graph with regions.
    pub steps: Vec<Step>,
    /// The same in the program as it was, which the judge has passed.
    pub judged: Verified<SequentialSchedule>,
}

/// Schedules the steady state; `init` is how the program comes to its first. `None` where there is no schedule, or the judge refuses it.
pub fn schedule(fused: &Fused, graph: &SdfGraph, steady: &SteadyState, init: &[Step]) -> Option<FusedSchedule> {
    let steps = single_appearance(&fused.graph, &fused.steady, 1).ok()?.steady;
    let candidate = SequentialSchedule { init: init.to_vec(), steady: unfolded(fused, &steps), batch: 1 };
    let judged = judge::verify(graph, steady, candidate).ok()?;
    Some(FusedSchedule { steps, judged })
}

/// Steps of a graph with regions as those of the program as it was.
pub fn unfolded(fused: &Fused, steps: &[Step]) -> Vec<Step> {
    let one = |step: &Step| match step {
        Step::Loop { times, body } => Step::Loop { times: *times, body: unfolded(fused, body) },
        Step::Fire { node, times } => match fused.nodes[node.index()] {
            Some(old) => Step::Fire { node: old, times: *times },
            None => {
                let members = fused.regions.iter().find(|r| r.node == *node).map_or(&[][..], |r| &r.members);
                let fire = |(v, n): &(_, u64)| Step::Fire { node: *v, times: *n };
                Step::Loop { times: *times, body: members.iter().map(fire).collect() }
            }
        },
    };
    steps.iter().map(one).collect()
}
