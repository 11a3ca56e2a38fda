//! # fused
//!
//! Purpose: the steady schedule of a program with regions ([`sluice_kernel::fuse`]), and what it is in the program as it was, for the judge. Input: both graphs.
//! Output: [`FusedSchedule`].
//!
//! ```text
//! 8·region 1·writer   →   8·(2·A 1·split 1·B 1·C 1·join) 1·writer
//! ```

use crate::beside::beside;
use crate::judge::{self, Verified, Violation};
use crate::sequential::{SequentialSchedule, Step};
use crate::single_appearance::{self, single_appearance};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;
use sluice_kernel::fuse::Fused;
use std::collections::BTreeMap;

/// A schedule of a program with regions.
#[derive(Clone, Debug)]
pub struct FusedSchedule {
    /// The steady state, of the graph with regions.
    pub steps: Vec<Step>,
    /// The same in the program as it was, which the judge has passed.
    pub judged: Verified<SequentialSchedule>,
}

/// Why there is no such schedule: each would be a mistake of the one who made the regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A region waits for ever.
    Deadlock(NodeId),
    /// The judge refuses what it is in the program as it was.
    Refused(Vec<Violation>),
}

/// Schedules the steady state; `init` is how the program comes to its first, `may_move` tells which nodes may change places with others ([`beside`]).
/// `None` where there are too many steps.
pub fn schedule(
    fused: &Fused,
    graph: &SdfGraph,
    steady: &SteadyState,
    init: &[Step],
    may_move: &dyn Fn(NodeId) -> bool,
) -> Result<Option<FusedSchedule>, Failure> {
    let steps = match single_appearance(&fused.graph, &fused.steady, 1) {
        Ok(schedule) => schedule.steady,
        Err(single_appearance::Failure::Deadlock(v)) => return Err(Failure::Deadlock(v)),
        Err(single_appearance::Failure::TooLong(_) | single_appearance::Failure::Overflow) => return Ok(None),
    };
    let outside = |v: NodeId| fused.nodes[v.index()].is_some_and(may_move);
    let steps = beside(&fused.graph, &fused.steady.boundary_fill, &steps, &outside).unwrap_or(steps);
    let candidate = SequentialSchedule { init: init.to_vec(), steady: unfolded(fused, &steps), batch: 1 };
    let judged = judge::verify(graph, steady, candidate).map_err(Failure::Refused)?;
    Ok(Some(FusedSchedule { steps, judged }))
}

/// Steps of a graph with regions as those of the program as it was.
pub fn unfolded(fused: &Fused, steps: &[Step]) -> Vec<Step> {
    let members: BTreeMap<NodeId, &[(NodeId, u64)]> = fused.regions.iter().map(|r| (r.node, &r.members[..])).collect();
    unfold(fused, &members, steps)
}

fn unfold(fused: &Fused, regions: &BTreeMap<NodeId, &[(NodeId, u64)]>, steps: &[Step]) -> Vec<Step> {
    let one = |step: &Step| match step {
        Step::Loop { times, body } => Step::Loop { times: *times, body: unfold(fused, regions, body) },
        Step::Fire { node, times } => match fused.nodes[node.index()] {
            Some(old) => Step::Fire { node: old, times: *times },
            None => {
                let members = regions.get(node).copied().unwrap_or_default();
                let fire = |(v, n): &(_, u64)| Step::Fire { node: *v, times: *n };
                Step::Loop { times: *times, body: members.iter().map(fire).collect() }
            }
        },
    };
    steps.iter().map(one).collect()
}
