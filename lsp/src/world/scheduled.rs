//! # scheduled
//!
//! Purpose: what the schedulers make of a program. Input: an analysis, a machine, a method. Output: [`Scheduled`]. The way is that of
//! `sluice schedule` without a profile: kernels, their costs, plan, method, judge; docs/schedule.md describes it. Runs in a thread of its own.

use super::outside;
use super::settings::Settings;
use super::view::Analysed;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::Globals;
use sluice_kernel::cost::{self, Cost};
use sluice_kernel::lower::{LowerOptions, lower};
use sluice_schedule::analysis::bounds::Reason;
use sluice_schedule::machine::{Machine, shipped};
use sluice_schedule::method::{Method, Outcome, solve};
use sluice_schedule::plan::{self, Grain, Plan, Program};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A schedule, or why there is none.
#[derive(Debug)]
pub struct Scheduled {
    /// What it is of.
    pub of: Arc<Analysed>,
    /// What came out.
    pub result: Result<Schedule, String>,
}

/// A schedule that the judge has passed.
#[derive(Debug)]
pub struct Schedule {
    /// The problem, its bounds.
    pub plan: Plan,
    /// The schedule.
    pub outcome: Outcome,
    /// The machine's name.
    pub machine: Machine,
    /// What binds, in a few words.
    pub bound: String,
    /// By node, its task.
    pub task_of: Vec<Option<usize>>,
}

/// Schedules. `cancel` is set where nobody waits for it any more: then it ends soon, without a schedule.
pub fn schedule(of: &Arc<Analysed>, settings: &Settings, method: Method, cancel: &AtomicBool) -> Scheduled {
    let result = match of.program() {
        Some(program) => run(program, settings, method, cancel),
        None => Err("the program has errors".into()),
    };
    Scheduled { of: of.clone(), result }
}

fn run(program: &Elaborated, settings: &Settings, method: Method, cancel: &AtomicBool) -> Result<Schedule, String> {
    let goes_on = || if cancel.load(Ordering::Relaxed) { Err("the text has changed".to_string()) } else { Ok(()) };
    let machine = shipped(&settings.machine).ok_or("there is no such machine")?;
    let mut costs: Vec<Cost> = Vec::new();
    for code in &program.codes {
        goes_on()?;
        let mut kernel = lower(code, &program.globals, LowerOptions::default())
            .map_err(|u| format!("{} cannot be compiled", u.what))?;
        for (_, pass) in sluice_kernel::passes::PASSES {
            pass(&mut kernel);
        }
        costs.push(cost::firing(&kernel));
    }
    let costs = plan::costs(&program.graph, |code| costs.get(code.index()).copied().unwrap_or_default());
    let times = plan::times(&machine, &costs);
    let item_bytes: Vec<u64> =
        program.graph.channels.iter().map(|c| bytes(&c.ty, &program.globals).unwrap_or(0)).collect();
    let (graph, steady) = (&program.graph, &program.steady);
    let source = Program { graph, steady, times: &times, item_bytes: &item_bytes };
    let processors = settings.processors.unwrap_or(machine.processors);
    goes_on()?;
    let plan = plan::plan(source, &machine, processors, Grain::Auto)
        .map_err(|unfit| format!("no schedule is made of this program: {unfit:?}"))?;
    let limits = sluice_schedule::method::Settings { time_limit: settings.time_limit, ..Default::default() };
    goes_on()?;
    let clock = outside::clock();
    // the integer program's time is over when it is not wanted any more
    let clock = || clock() + if cancel.load(Ordering::Relaxed) { 2.0 * limits.time_limit } else { 0.0 };
    let outcome = solve(&plan, method, &limits, &clock).map_err(|e| e.to_string())?;
    let mut task_of = vec![None; graph.nodes.len()];
    for (t, task) in plan.problem.graph().tasks.iter().enumerate() {
        task.nodes.iter().for_each(|n| task_of[n.index()] = Some(t));
    }
    let bound = bound(&plan, program);
    Ok(Schedule { plan, outcome, machine, bound, task_of })
}

/// What binds, by the stream to blame where there is one.
fn bound(plan: &Plan, program: &Elaborated) -> String {
    let tasks = &plan.problem.graph().tasks;
    let name = |task: usize| short(program, tasks[task].nodes[0]);
    match &plan.bounds.reason {
        Reason::Work => "all the work".into(),
        Reason::Instance(t) => name(*t),
        Reason::Cycle(cycle) => {
            let first = plan.problem.task_of(cycle[0]);
            // a filter with state, or one that prints, waits for itself
            match cycle.iter().all(|i| plan.problem.task_of(*i) == first) {
                true => name(first),
                false => format!("the loop at {}", name(first)),
            }
        }
        Reason::Group(g) => format!("what waits for {}", name(plan.problem.task_of(plan.bounds.groups.members[*g][0]))),
        Reason::Packing => "large instances".into(),
    }
}

/// A node's own name; splitters and joiners by the stream around them.
fn short(program: &Elaborated, node: NodeId) -> String {
    let n = program.graph.node(node);
    match n.kind {
        NodeKind::Filter { .. } => n.name.clone(),
        _ => n.path.rsplit('.').take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("."),
    }
}

/// Bytes of an item as programs have it in memory.
pub fn bytes(ty: &Ty, globals: &Globals) -> Option<u64> {
    match ty {
        Ty::Bit | Ty::Bool => Some(1),
        Ty::Int | Ty::Float => Some(4),
        Ty::Double | Ty::Complex => Some(8),
        Ty::Vec(n) => Some(4 * u64::from(*n)),
        Ty::Array(element, Dim::Known(n)) => bytes(element, globals)?.checked_mul(u64::from(*n)),
        Ty::Struct(id) => {
            let fields = globals.structs.get(id.index())?.fields.iter();
            fields.map(|(_, ty)| bytes(ty, globals)).try_fold(0u64, |sum, b| sum.checked_add(b?))
        }
        _ => None,
    }
}
