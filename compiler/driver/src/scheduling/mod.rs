//! # scheduling
//!
//! Purpose: `sluice schedule`: a program's scheduling problem on a machine, its bounds, and what the methods make of it. Input: a checked
//! program; output: a report as text or JSON, all methods side by side, or the trade between throughput, memory and latency.

pub mod costs;
mod loops;
mod page;
mod pareto;
pub mod report;
pub mod target;
pub mod why;

use self::costs::{Costs, Origin};
use self::report::{Comparison, Failed, Report};
use crate::commands;
use crate::document::json;
use crate::exit::{Exit, Fault};
use crate::io::item::ItemType;
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use crate::solver;
use sluice_kernel::cost::{self, Cost};
use sluice_schedule::machine::Machine;
pub use sluice_schedule::method::Method;
use sluice_schedule::method::{self, NoSchedule, Outcome, Settings};
pub use sluice_schedule::plan::Grain;
use sluice_schedule::plan::{self, Plan, Program};
use sluice_schedule::problem::modulo::Unfit;
use std::time::Instant;

/// How a schedule is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// The document of docs/json.md.
    Json,
    /// A chart of the kernel.
    Svg,
}

/// What `sluice schedule` is asked for.
#[derive(Clone, Debug)]
pub struct ScheduleOptions {
    /// The machine: a name or a file.
    pub machine: Option<String>,
    /// Processors, where not the machine's own number.
    pub processors: Option<u32>,
    /// How finely the program is cut.
    pub grain: Grain,
    /// Where costs come from: a profile, or [`costs::NONE`]; without, the profile in the cache for the computer at hand.
    pub profile: Option<String>,
    /// The method; where none is named, hierarchical modulo scheduling.
    pub method: Method,
    /// No longer II will do.
    pub require_ii: Option<u64>,
    /// Seconds for the integer program.
    pub time_limit: f64,
    /// How to show it.
    pub format: Format,
    /// Where to write it, if not to standard output.
    pub output: Option<String>,
    /// All methods side by side.
    pub compare: bool,
    /// The trade between throughput, memory and latency.
    pub pareto: bool,
    /// The loops of the filters instead.
    pub loops: bool,
}

/// A program's plan on the machine that the options name.
pub struct Planned {
    /// The machine.
    pub machine: Machine,
    /// The plan.
    pub plan: Plan,
    /// Where the costs in it come from.
    pub origin: Origin,
}

/// Costs of a program's nodes, and bytes of its channels' items.
pub struct Weights {
    /// By node.
    pub costs: Vec<Cost>,
    /// By channel.
    pub item_bytes: Vec<u64>,
}

/// What firings cost, from the kernel IR.
pub fn weights(session: &mut Session, checked: &Checked) -> Result<Weights, Halt> {
    let kernels = crate::kernels::kernels(session, checked, &CodeOptions::default())?;
    let program = &checked.program;
    let of: Vec<Cost> = kernels.iter().map(cost::firing).collect();
    let costs = plan::costs(&program.graph, |code| of.get(code.index()).copied().unwrap_or_default());
    let bytes =
        |c: &sluice_frontend::graph::Channel| ItemType::of(&c.ty, &program.globals).map_or(0, |t| t.bytes as u64);
    Ok(Weights { costs, item_bytes: program.graph.channels.iter().map(bytes).collect() })
}

/// Makes the plan.
pub fn plan(session: &mut Session, checked: &Checked, options: &ScheduleOptions) -> Result<Planned, Halt> {
    let machine = target::machine(options.machine.as_deref().unwrap_or(target::DEFAULT))?;
    let processors = options.processors.unwrap_or(machine.processors);
    let Costs { times, item_bytes, origin } = costs::costs(session, checked, options, &machine)?;
    let (graph, steady) = (&checked.program.graph, &checked.program.steady);
    let program = Program { graph, steady, times: &times, item_bytes: &item_bytes };
    let plan = session.pass("plan", || plan::plan(program, &machine, processors, options.grain));
    Ok(Planned { plan: plan.map_err(|unfit| unfit_fault(&unfit, options.grain))?, machine, origin })
}

pub(crate) fn unfit_fault(unfit: &Unfit, grain: Grain) -> Fault {
    let finer = match grain {
        Grain::Firing => "without --firings, several firings make an instance",
        Grain::Auto | Grain::PerProcessor(_) => "a smaller --per-processor makes fewer and larger instances",
    };
    match unfit {
        Unfit::Instances(n) => Fault::program(format!(
            "an iteration has {n} instances, more than the {} that are scheduled",
            sluice_schedule::problem::modulo::MOST_INSTANCES
        ))
        .help(finer),
        Unfit::Dependences(_) => Fault::program(format!(
            "the instances have more than {} dependences",
            sluice_schedule::problem::modulo::MOST_DEPENDENCES
        ))
        .help(finer),
        Unfit::Work => Fault::program("an iteration takes longer than can be counted")
            .help("rates with a large common multiple make long steady states: `sluice rates` says how often each stream fires in one"),
        Unfit::Empty => Fault::usage("a schedule needs a processor and a program that does something"),
        Unfit::Deadlock(_) | Unfit::Unbalanced(_) | Unfit::Messages => {
            Fault::internal(format!("the scheduling problem of a program that can run is none: {unfit:?}"))
        }
    }
}

/// Schedules by one method, and measures the time it takes.
pub fn solve(planned: &Planned, method: Method, options: &ScheduleOptions) -> (Result<Outcome, NoSchedule>, f64) {
    let began = Instant::now();
    let clock = || began.elapsed().as_secs_f64();
    let settings = Settings { require_ii: options.require_ii, time_limit: options.time_limit, ..Settings::default() };
    let outcome = method::solve(&planned.plan, method, &settings, &clock);
    (outcome, clock())
}

pub(crate) fn no_schedule(n: NoSchedule, method: Method) -> Fault {
    let by_name = format!("{}: {n}", method.name());
    match n {
        NoSchedule::Required { .. } => {
            Fault::program(n.to_string()).help("`sluice schedule` without --require-ii says what stands in the way")
        }
        NoSchedule::GaveUp(_) => Fault::program(by_name).help("another --method, or more --time-limit"),
        NoSchedule::NoSolver(_) => solver::no_cbc(by_name),
        NoSchedule::Refused(_) => Fault::internal(by_name),
    }
}

/// `sluice schedule`
pub fn schedule(session: &mut Session, checked: &Checked, options: &ScheduleOptions) -> Result<Exit, Halt> {
    let text = if options.loops {
        loops::loops(session, checked, options.format)?
    } else if options.pareto {
        pareto::pareto(session, checked, options)?
    } else if options.compare {
        let planned = plan(session, checked, options)?;
        compare(session, &planned, options)?
    } else {
        let planned = plan(session, checked, options)?;
        let (outcome, report) = reported(session, checked, &planned, options)?;
        match options.format {
            Format::Text => report::text(&report),
            Format::Json => json(&report),
            Format::Svg => {
                let Plan { problem, bounds, .. } = &planned.plan;
                sluice_picture::gantt_svg::svg(
                    problem,
                    &outcome.verified,
                    bounds,
                    planned.machine.kind,
                    &report.title(),
                )
            }
        }
    };
    commands::write(options.output.as_deref().unwrap_or("-"), &text)?;
    Ok(Exit::Ok)
}

/// A schedule by the method that the options name, and the report on it.
fn reported(
    session: &mut Session,
    checked: &Checked,
    planned: &Planned,
    options: &ScheduleOptions,
) -> Result<(Outcome, Report), Halt> {
    let Planned { plan, machine, origin } = planned;
    let (outcome, seconds) = session.pass(options.method.name(), || solve(planned, options.method, options));
    let outcome = outcome.map_err(|e| no_schedule(e, options.method))?;
    let bottleneck = why::why(plan, machine.kind, outcome.lower, &checked.program, &checked.sources);
    let result = report::result(plan, machine, &outcome, seconds);
    let report = report::report(entry(checked), (plan, machine, origin), bottleneck, &outcome, result);
    Ok((outcome, report))
}

/// The entry stream, for people.
fn entry(checked: &Checked) -> &str {
    checked.program.graph.hierarchy.first().map_or("", |h| h.display.as_str())
}

/// All methods side by side.
fn compare(session: &mut Session, planned: &Planned, options: &ScheduleOptions) -> Result<String, Halt> {
    let (mut methods, mut failed) = (Vec::new(), Vec::new());
    for m in Method::ALL {
        let (outcome, seconds) = session.pass(m.name(), || solve(planned, m, options));
        match outcome {
            Ok(o) => methods.push(report::result(&planned.plan, &planned.machine, &o, seconds)),
            Err(e) => failed.push(Failed { method: m.name(), why: e.to_string() }),
        }
    }
    let comparison = Comparison::new(planned, methods, failed);
    Ok(match options.format {
        Format::Json => json(&comparison),
        Format::Text => comparison.text(),
        Format::Svg => {
            return Err(Fault::usage("a comparison has no chart").help("--compare with --format text or json").into());
        }
    })
}

/// `sluice report`
pub fn page(session: &mut Session, checked: &Checked, options: &ScheduleOptions) -> Result<Exit, Halt> {
    let planned = plan(session, checked, options)?;
    let (outcome, report) = reported(session, checked, &planned, options)?;
    let text = session.pass("draw", || page::page(checked, &planned, &outcome, &report));
    commands::write(options.output.as_deref().unwrap_or("-"), &text)?;
    Ok(Exit::Ok)
}
