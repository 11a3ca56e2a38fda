//! A program planned, scheduled by every method, and run.

use super::kernels::{Schedule, run};
use super::reference::interpreted;
use super::{Products, Supply};
use crate::generate::random::Random;
use sluice_driver::options::ProgramOptions;
use sluice_driver::pipeline::{Checked, Halt};
use sluice_driver::scheduling;
use sluice_driver::session::Session;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_schedule::machine::{Machine, shipped};
use sluice_schedule::method::{self, Method, NoSchedule, Outcome, Settings};
use sluice_schedule::plan::{self, Grain, Plan, Program};
use sluice_schedule::problem::modulo::{ModuloProblem, ModuloSchedule};

/// How much a trial may do.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Firings of one run.
    pub firings: u64,
    /// Cycles of one run, as costs are counted.
    pub cycles: u64,
    /// Instances up to which the integer program is tried.
    pub exact: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { firings: 12_000, cycles: 2_000_000, exact: 24 }
    }
}

/// Why a program is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passed {
    /// Its channels carry as many items as firings decide: no schedule orders them.
    Dynamic,
    /// It calls C.
    Native,
    /// It does nothing.
    Empty,
    /// It would take too long.
    Long,
    /// It fails when it is interpreted.
    Fails,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Schedules that were run.
    pub schedules: u64,
    /// Those of them of the integer program.
    pub exact: u64,
    /// The most stages of one of them.
    pub stages: u32,
    /// The most processors that one of them used.
    pub processors: u32,
    /// Did anything come out?
    pub output: bool,
    /// What the program has.
    pub features: Vec<(&'static str, bool)>,
}

/// A program's problem.
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Firings of an iteration.
    pub firings: u64,
}

/// A machine with few threads, so that iterations are short, and its processors.
fn machine(r: &mut Random) -> (Machine, u32) {
    let mut machine = shipped("cpu").expect("it comes with Sluice");
    machine.lanes = *r.pick(&[1, 1, 2]);
    machine.threads = machine.lanes * *r.pick(&[1, 1, 2, 3]);
    machine.alone = u64::from(r.range(1, 3));
    machine.instance_cycles = *r.pick(&[0, 10, 100]);
    (machine, r.range(1, 5))
}

/// Plans a program in a way that depends on the seed: each firing an instance, or instances of several; `Err` passes it over.
pub fn plan(checked: &Checked, seed: u64, options: Options) -> Result<Planned, Passed> {
    let program = &checked.program;
    let (graph, steady) = (&program.graph, &program.steady);
    if steady.islands.is_some() {
        return Err(Passed::Dynamic);
    }
    if program.codes.iter().any(|c| c.calls_native.is_some()) {
        return Err(Passed::Native);
    }
    let each: u64 = steady.repetitions.iter().sum();
    let first: u64 = steady.init.iter().sum();
    if each == 0 {
        return Err(Passed::Empty);
    }
    if each.saturating_mul(6).saturating_add(first) > options.firings {
        return Err(Passed::Long);
    }
    let weights = Session::new(&ProgramOptions::default(), false)
        .map_err(Halt::from)
        .and_then(|mut session| scheduling::weights(&mut session, checked));
    let weights = weights.unwrap_or_else(|_| panic!("a program that is checked has kernels"));
    let mut r = Random::new(seed ^ 0x51_1A7E);
    let (machine, processors) = machine(&mut r);
    let times = plan::times(&machine, &weights.costs);
    let what = Program { graph, steady, times: &times, item_bytes: &weights.item_bytes };
    let coarse = [Grain::Auto, Grain::PerProcessor(1), Grain::PerProcessor(2)];
    let first_choice = if r.chance(40) { Grain::Firing } else { *r.pick(&coarse) };
    // What is too long in large instances may do in small ones.
    for grain in [first_choice, Grain::PerProcessor(1), Grain::Firing] {
        let plan = plan::plan(what, &machine, processors, grain)
            .unwrap_or_else(|unfit| panic!("a program that runs can be planned: {unfit:?}"));
        let tasks = &plan.problem.graph().tasks;
        let firings = tasks.iter().map(|t| t.instances * t.firings.iter().sum::<u64>()).sum::<u64>();
        let cycles = plan.problem.graph().work();
        if firings * 6 + first <= options.firings && cycles * 6 <= options.cycles {
            return Ok(Planned { plan, firings });
        }
    }
    Err(Passed::Long)
}

/// Iterations that show all that can go wrong: the pipeline full, what was there at the start used up, every ring gone round.
pub fn enough(problem: &ModuloProblem, schedule: &ModuloSchedule) -> u64 {
    let g = problem.graph();
    let delays = g.edges.iter().map(|e| e.initial.div_ceil((e.consume * g.tasks[e.to].instances).max(1)));
    let orders = g.orders.iter().map(|o| o.distance);
    u64::from(schedule.stages()) + delays.chain(orders).max().unwrap_or(0) + 3
}

/// Schedules by one method; `None` where the integer program gives up on a problem that is too hard for its few nodes.
pub fn solve(plan: &Plan, method: Method) -> Option<Outcome> {
    let settings = Settings { node_limit: Some(10), ..Settings::default() };
    match method::solve(plan, method, &settings, &|| 0.0) {
        Ok(outcome) => Some(outcome),
        Err(NoSchedule::GaveUp(_)) if method == Method::Ilp => None,
        Err(why) => panic!("{}: {why:?}", method.name()),
    }
}

/// Plans, schedules by every method, runs each schedule, and compares what comes out with the interpreter's run. `Err` is a failure.
pub fn trial(checked: &Checked, supply: &Supply, seed: u64, options: Options) -> Result<Result<Ran, Passed>, String> {
    let Planned { plan, firings } = match plan(checked, seed, options) {
        Ok(planned) => planned,
        Err(passed) => return Ok(Err(passed)),
    };
    let problem = &plan.problem;
    let exact = problem.instances() <= options.exact && problem.processors() <= 3;
    let methods = Method::ALL.into_iter().filter(|m| *m != Method::Ilp || exact);
    let outcomes: Vec<Outcome> = methods.filter_map(|m| solve(&plan, m)).collect();
    let longest = outcomes.iter().map(|o| enough(problem, o.verified.schedule())).max().unwrap_or(0);
    // Long pipelines are not always filled: what is cut is the same for all methods.
    let init: u64 = checked.program.steady.init.iter().sum();
    let most = (options.firings.saturating_sub(init) / firings).min(options.cycles / problem.graph().work());
    let iterations = longest.min(most.max(1));
    let want = match interpreted(&checked.program, supply, iterations * problem.graph().batch) {
        Ok(want) => want,
        Err(_) => return Ok(Err(Passed::Fails)),
    };
    let mut ran = Ran { output: gives_output(checked, &want), features: features(checked), ..Ran::default() };
    for outcome in &outcomes {
        let schedule = outcome.verified.schedule();
        let what = Schedule { problem, schedule, capacity: &outcome.capacity };
        let name = outcome.method.name();
        let got = run(&checked.program, supply, what, iterations, seed).map_err(|why| format!("{name}: {why}"))?;
        if let Some(why) = got.difference(&want) {
            return Err(format!("{name}, {iterations} iterations, scheduled and interpreted: {why}"));
        }
        let mut used = schedule.processor.clone();
        used.sort_unstable();
        used.dedup();
        ran.schedules += 1;
        ran.exact += u64::from(outcome.method == Method::Ilp);
        ran.stages = ran.stages.max(schedule.stages());
        ran.processors = ran.processors.max(used.len() as u32);
    }
    Ok(Ok(ran))
}

/// Does anything that takes part in the steady state give something to the outside?
fn gives_output(checked: &Checked, want: &Products) -> bool {
    let (graph, steady) = (&checked.program.graph, &checked.program.steady);
    let gives = |n| matches!(graph.node(n).kind, NodeKind::Writer(_) | NodeKind::Filter { prints: true, .. });
    !want.is_empty() && graph.node_ids().any(|n| gives(n) && steady.repetitions[n.index()] > 0)
}

/// What makes scheduling hard.
fn features(checked: &Checked) -> Vec<(&'static str, bool)> {
    let program = &checked.program;
    let (graph, steady) = (&program.graph, &program.steady);
    let fires = |n: &NodeId| steady.repetitions[n.index()] > 0;
    let state = |n: NodeId| matches!(graph.node(n).kind, NodeKind::Filter { stateful: true, .. });
    vec![
        ("multirate", graph.channels.iter().any(|c| c.produce != c.consume && fires(&c.from.0))),
        ("peeks", graph.channels.iter().any(|c| c.peek > c.consume && fires(&c.to.0))),
        ("state", graph.node_ids().any(|n| state(n) && fires(&n))),
        ("loops", graph.channels.iter().any(|c| c.feedback && fires(&c.to.0))),
        ("messages", !program.messages.links.is_empty()),
    ]
}
