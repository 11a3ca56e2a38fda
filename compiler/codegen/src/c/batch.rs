//! # batch
//!
//! Purpose: how many steady states of a program run at once, and what bounds that. Input: the program. Output: [`Limits`] for [`layout`]; the number for stages, by trying layouts; and with how many
//! a run begins ([`begin`]), before it is known how long they take. Where messages hold firings back, as many as they allow are one [part](parts), and a call of `sl_steady` runs several; so it does where
//! nodes are so many that what fits in the caches is a few firings of each ([`turns_of_many`]).

use super::fused::{self, FusedProgram};
use super::layout::{self, Limits, WIDEST};
use super::program::{CodegenError, ProgramInput};
use super::sharing::Lives;
use super::step_table::is_table;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;
use sluice_kernel::cost::bounded;
use sluice_schedule::judge::states_at_once;

/// Steady states that stages of a program run at once, where that is not asked for. What lies between the filters of a region takes no room, and what shares takes it once. `longer`: with twice
/// as much room as one thread's buffers take.
pub fn of_stages(input: &ProgramInput<'_>, longer: bool) -> Result<u64, CodegenError> {
    let limits = limits(input);
    let limits = Limits { batch: None, target: limits.target.saturating_mul(1 + u64::from(longer)), ..limits };
    let regions = fused::of(input);
    let lives = if input.steady.islands.is_none() { Lives::of_program(input, regions, None) } else { None };
    let laid_out = |limits: Limits| {
        layout::lay_out(input.graph, input.steady, input.globals, limits, (None, regions, lives.as_ref()))
    };
    let made = laid_out(limits)?;
    // less than a vector of firings costs as much as one, and what replicas do again is done for each batch; stages have the caches of several cores
    let target = limits.target.saturating_mul(4);
    let vectors = [4 * WIDEST, 2 * WIDEST, WIDEST].into_iter().skip(usize::from(!longer));
    let mut vectors =
        vectors.filter(|n| *n > made.batch).filter_map(|n| laid_out(Limits { batch: Some(n), ..limits }).ok());
    Ok(vectors.find(|l| l.channel_bytes <= target).unwrap_or(made).batch)
}

/// Operations of the steady states that a run begins with: some tens of microseconds.
const BEGIN: u64 = 1 << 18;

/// How many steady states, of at most `batch`, run at once in the beginning: so many as their operations are few, where those can be counted, else those of one run of the schedule. Fewer than there
/// are lanes cost several times as much as more, and an input may be no longer than that.
pub fn begin(input: &ProgramInput<'_>, batch: u64) -> u64 {
    let unit = input.schedule.schedule().batch.max(1);
    if input.steady.islands.is_some() {
        return unit;
    }
    let mut cost = 0u64;
    for v in input.graph.node_ids() {
        let node = input.graph.node(v);
        let firing = match &node.kind {
            NodeKind::Filter { code, .. } => match input.kernels.get(code.index()).and_then(bounded) {
                Some(cost) => cost.cycles(),
                None => return unit,
            },
            _ => node.inputs.iter().chain(&node.outputs).fold(0, |sum: u64, c| {
                let channel = input.graph.channel(*c);
                sum.saturating_add(u64::from(if channel.to.0 == v { channel.consume } else { channel.produce }))
            }),
        };
        cost = cost.saturating_add(firing.saturating_mul(input.steady.repetitions[v.index()]));
    }
    let some = (BEGIN / cost.max(1)).min(batch);
    (some - some % unit).max(unit)
}

/// How many steady states run at once, each step of the schedule so many times as often, where messages do not let any number do that. `None` also where steady states [follow one another](repeats).
pub fn parts(input: &ProgramInput<'_>, regions: Option<FusedProgram<'_>>) -> Option<u64> {
    let steps = &input.schedule.schedule().steady;
    let most = states_at_once(input.steady, steps).filter(|n| *n > 0)?;
    // flows have steps of their own
    if input.steady.islands.is_some() {
        return None;
    }
    let table = regions.is_none() && is_table(input.graph, steps, input.options.table_above);
    (!table).then_some(most)
}

/// Must steady states follow one another step by step, because of messages? Tables know no [parts].
pub fn repeats(input: &ProgramInput<'_>, regions: Option<FusedProgram<'_>>) -> bool {
    states_at_once(input.steady, &input.schedule.schedule().steady).is_some() && parts(input, regions).is_none()
}

/// How many batches may follow one another in one call of `sl_steady`: such that their items fill the stages of the ends, by node in items. `None`: there are no ends.
pub(super) fn turns_of_parts(
    graph: &SdfGraph,
    steady: &SteadyState,
    batch: u64,
    stage: &dyn Fn(NodeId) -> u64,
) -> Option<u64> {
    let (readers, writers) = layout::ends(graph);
    let of = |v: &NodeId| stage(*v) / steady.repetitions[v.index()].saturating_mul(batch).max(1);
    let ends = readers.iter().chain(&writers).filter(|v| steady.repetitions[v.index()] > 0);
    ends.map(of).min().map(|n| n.max(1))
}

/// Firings of a node, in the mean, between two looks round of the engine, where buffers hold fewer: what is done for each node then takes as long as some tens of its firings.
const BETWEEN_LOOKS: u64 = 256;

/// How many batches follow one another where nodes are so many that a batch is a few firings of each.
pub(super) fn turns_of_many(steady: &SteadyState, batch: u64) -> u64 {
    let firings = steady.repetitions.iter().fold(0u64, |sum, r| sum.saturating_add(*r)).saturating_mul(batch).max(1);
    let wanted = (steady.repetitions.len() as u64).saturating_mul(BETWEEN_LOOKS);
    if firings > wanted / 2 { 1 } else { wanted / firings }
}

/// May batches follow one another for that? Tables count firings step by step.
pub(super) fn follow(input: &ProgramInput<'_>, regions: Option<FusedProgram<'_>>) -> bool {
    let options = input.options;
    let table = || is_table(input.graph, &input.schedule.schedule().steady, options.table_above);
    input.steady.islands.is_none()
        && !repeats(input, regions)
        && options.batch.is_none()
        && (regions.is_some() || !table())
}

/// What bounds a program's buffers.
pub fn limits(input: &ProgramInput<'_>) -> Limits {
    let options = input.options;
    Limits {
        unit: input.schedule.schedule().batch,
        batch: options.batch,
        target: options.buffer_target,
        limit: options.buffer_limit,
        stages: None,
        turns: options.turns.max(1),
        at_once: parts(input, fused::of(input)),
        follow: false,
    }
}
