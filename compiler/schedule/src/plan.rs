//! # plan
//!
//! Purpose: from a program to its scheduling problem, with one function for the command, the language server and the benchmarks.
//! Input: flat graph, steady state, operations of each node's firing, bytes of items, a machine. Output: [`Plan`].
//!
//! The costs of nodes that are no filters follow from what they move: a read and a write for each item.

use crate::analysis::bounds::{Bounds, Reason, bounds};
use crate::machine::Machine;
use crate::problem::build::{self, Source};
use crate::problem::granularity::{Aim, Granularity, Times, choose, finest};
use crate::problem::judge::{self, capacities};
use crate::problem::modulo::{ModuloProblem, Unfit};
use crate::problem::task::Edge;
use crate::solver::pack::pack;
use crate::solver::{Options, flat};
use crate::wording::bytes;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{CodeId, NodeId};
use sluice_frontend::steady_state::SteadyState;
use sluice_kernel::cost::Cost;

/// A problem and what it was made from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How firings make instances.
    pub granularity: Granularity,
    /// What firings cost.
    pub times: Times,
    /// The problem.
    pub problem: ModuloProblem,
    /// Its bounds.
    pub bounds: Bounds,
    /// Where memory has kept the program from being cut as finely as its processors would like.
    pub limited: Option<Limited>,
}

/// A cut that was chosen for the memory of its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    /// Bytes that channels may take.
    pub limit: u64,
    /// Bytes that they take with this cut, about.
    pub bytes: u64,
    /// Bytes that they would take with the finer one, about; `None` where there is no coarser one than this, though it takes more than it may.
    pub finer: Option<u64>,
}

impl Limited {
    /// For people.
    pub fn note(&self) -> String {
        let [limit, now] = [self.limit, self.bytes].map(bytes);
        match self.finer.map(bytes) {
            Some(finer) => format!(
                "cut for memory: channels take about {now}; finer instances would take {finer}, more than {limit}"
            ),
            None => {
                format!(
                    "channels take about {now}, more than {limit}, with the fewest instances that fill the processors"
                )
            }
        }
    }
}

/// How finely a program is cut into instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Grain {
    /// As coarsely as still fills the processors evenly, and as finely as the memory for channels allows ([`channel_limit`]).
    #[default]
    Auto,
    /// Each firing is an instance, an iteration is one steady state.
    Firing,
    /// Instances of many firings, so many of them for each processor at least.
    PerProcessor(u64),
}

/// A program as plans see it.
#[derive(Clone, Copy)]
pub struct Program<'a> {
    /// The flat graph.
    pub graph: &'a SdfGraph,
    /// Its steady state.
    pub steady: &'a SteadyState,
    /// What firings cost: counted ([`times`]), or [`measured`].
    pub times: &'a Times,
    /// By channel, the bytes of an item.
    pub item_bytes: &'a [u64],
}

/// The operations of each node's firing; `of` tells those of a filter's code.
pub fn costs(graph: &SdfGraph, of: impl Fn(CodeId) -> Cost) -> Vec<Cost> {
    let cost = |n: NodeId| match graph.node(n).kind {
        NodeKind::Filter { code, .. } => of(code),
        _ => moved(graph, n),
    };
    graph.node_ids().map(cost).collect()
}

/// What it costs to move the items of a firing: a read for each that it takes, a write for each that it gives.
pub fn moved(graph: &SdfGraph, n: NodeId) -> Cost {
    let node = graph.node(n);
    let load = node.inputs.iter().map(|c| u64::from(graph.channel(*c).consume)).sum();
    let store = node.outputs.iter().map(|c| u64::from(graph.channel(*c).produce)).sum();
    Cost { load, store, ..Cost::default() }
}

/// What firings cost on a machine.
pub fn times(machine: &Machine, costs: &[Cost]) -> Times {
    let firing: Vec<u64> = costs.iter().map(|c| c.weighted(&machine.cycles)).collect();
    let alone = firing.iter().map(|t| t.saturating_mul(machine.alone)).collect();
    Times {
        firing,
        alone,
        lanes: machine.lanes,
        threads: machine.threads,
        each: vec![],
        overhead: machine.instance_cycles,
    }
}

/// Instances for each processor that [`Grain::Auto`] tries, and the unevenness that it is content with, in 1/1000.
const CUTS: [u64; 5] = [4, 8, 16, 32, 64];
const EVEN: u128 = 4;

/// Bytes that channels may take where Sluice chooses the cut: a gibibyte, or a quarter of a smaller machine's memory. Longer iterations fill
/// processors a little more evenly, and nothing is gained where that has to pass through so much memory.
pub fn channel_limit(machine: &Machine) -> u64 {
    (machine.memory_bytes / 4).clamp(1, 1 << 30)
}

/// Bytes that the channels of a problem take, about: those of the plainest schedule.
fn channel_bytes(plan: &Plan) -> u64 {
    let Plan { problem, bounds, .. } = plan;
    let Ok(found) = flat::solve(problem, bounds, Options::default()) else { return 0 };
    capacities(problem, &found.schedule).map_or(u64::MAX, |c| judge::bytes(problem, &c))
}

/// Replaces what firings cost by what they were measured to take: by node, nanoseconds of a firing, where it was measured. A measurement has
/// in it how firings ran, side by side or alone.
pub fn measured(machine: &Machine, times: Times, nanoseconds: &[Option<f64>]) -> Times {
    let Times { mut firing, mut alone, .. } = times;
    for (v, ns) in nanoseconds.iter().enumerate().take(firing.len()) {
        if let Some(ns) = ns.filter(|ns| ns.is_finite() && *ns >= 0.0) {
            // A conversion to whole numbers stays in range.
            let cycles = |lanes: u64| (ns * machine.clock_mhz / 1000.0 * lanes as f64).round().max(1.0) as u64;
            (firing[v], alone[v]) = (cycles(machine.lanes), cycles(1));
        }
    }
    Times { firing, alone, ..times }
}

/// Makes the problem of a program on so many processors, and bounds it; `machine` says how much memory there is for channels.
pub fn plan(program: Program, machine: &Machine, processors: u32, grain: Grain) -> Result<Plan, Unfit> {
    let cut = |grain| with_grain(program, machine, processors, grain);
    if grain != Grain::Auto {
        return cut(grain);
    }
    // II per steady state, as a fraction; what packing promises is what schedulers reach, or nearly.
    let mut best: Option<(u64, Plan)> = None;
    let (mut unfit, mut limited, limit) = (Unfit::Empty, None, channel_limit(machine));
    for per_processor in CUTS {
        let plan = match cut(Grain::PerProcessor(per_processor)) {
            Ok(plan) => plan,
            Err(why) => {
                unfit = why;
                break;
            }
        };
        // What passes in an iteration is there at least once.
        let graph = plan.problem.graph();
        let passes =
            |e: &Edge| u128::from(e.produce) * u128::from(graph.tasks[e.from].instances) * u128::from(e.item_bytes);
        if graph.edges.iter().map(passes).sum::<u128>() > u128::from(limit / 8) {
            let bytes = channel_bytes(&plan);
            if bytes > limit {
                limited = Some(match &best {
                    Some((_, coarser)) => Limited { limit, bytes: channel_bytes(coarser), finer: Some(bytes) },
                    None => Limited { limit, bytes, finer: None },
                });
                best = best.or(Some((plan.bounds.lower, plan)));
                break;
            }
        }
        let lower = plan.bounds.lower;
        let ii = pack(&plan.bounds.groups.cost, processors, lower).largest.max(lower);
        let share = graph.work().div_ceil(processors.into());
        let even = u128::from(ii) * 1000 <= u128::from(share) * (1000 + EVEN);
        // Nothing is gained by finer cuts where one instance, or one loop, takes all the time there is.
        let bound = matches!(plan.bounds.reason, Reason::Cycle(_) | Reason::Group(_))
            || matches!(plan.bounds.reason, Reason::Instance(task) if graph.tasks[task].serial);
        let better = best.as_ref().is_none_or(|(other, p)| {
            u128::from(ii) * u128::from(p.problem.graph().batch) < u128::from(*other) * u128::from(graph.batch)
        });
        if better {
            best = Some((ii, plan));
        }
        if even || bound {
            break;
        }
    }
    best.map(|(_, plan)| Plan { limited, ..plan }).ok_or(unfit)
}

/// Makes the problem of a program that is cut in this way.
pub fn with_granularity(program: Program, granularity: Granularity, processors: u32) -> Result<Plan, Unfit> {
    let Program { steady, times, item_bytes, .. } = program;
    let graph = &*program.graph.cut();
    let source = Source { graph, steady, granularity: &granularity, times, item_bytes };
    let problem = build::problem(source, processors)?;
    let bounds = bounds(&problem);
    Ok(Plan { granularity, times: times.clone(), problem, bounds, limited: None })
}

fn with_grain(program: Program, machine: &Machine, processors: u32, grain: Grain) -> Result<Plan, Unfit> {
    let Program { steady, times, .. } = program;
    let graph = &*program.graph.cut();
    let granularity = match grain {
        Grain::Firing => finest(graph),
        Grain::Auto => return plan(program, machine, processors, grain),
        Grain::PerProcessor(per_processor) => {
            let most = u64::from(processors).saturating_mul(per_processor).saturating_mul(16).max(4096);
            choose(graph, steady, times, Aim { processors, per_processor, most }).ok_or(Unfit::Work)?
        }
    };
    with_granularity(program, granularity, processors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::shipped;

    #[test]
    fn what_was_measured_goes_before_what_was_counted() {
        let mut machine = shipped("cpu").unwrap();
        (machine.lanes, machine.alone, machine.clock_mhz) = (4, 3, 2000.0);
        let counted = times(&machine, &[Cost { int: 5, ..Cost::default() }; 4]);
        let all = measured(&machine, counted, &[Some(10.0), None, Some(0.0), Some(f64::NAN)]);
        // 10 ns are 20 cycles: so long for each of four firings side by side, and for one that runs alone
        assert_eq!(all.firing, [80, 5, 1, 5]);
        assert_eq!(all.alone, [20, 15, 1, 15]);
    }
}
