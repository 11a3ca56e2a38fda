//! What `sluice schedule` shows: the JSON document of docs/json.md, and its table for people.

use super::Planned;
use super::costs::{Measured, Origin};
use super::why::Bottleneck;
use crate::document::columns;
use serde::Serialize;
use sluice_schedule::analysis::bounds::Bounds;
use sluice_schedule::machine::Machine;
use sluice_schedule::method::Outcome;
use sluice_schedule::plan::Plan;
use sluice_schedule::wording::count;
use std::fmt::Write;

/// The document.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    program: String,
    machine: MachineJson,
    /// Where the costs come from: `static` (the kernel IR) or `measured`.
    costs: &'static str,
    /// What was measured.
    profile: Option<Measured>,
    #[serde(skip)]
    origin: String,
    /// Steady states in an iteration.
    batch: u64,
    /// Instances in an iteration.
    instances: usize,
    instances_per_processor: f64,
    dependences: usize,
    /// Operations of an iteration, in cycles.
    work: u64,
    res_mii: u64,
    rec_mii: u64,
    mii: u64,
    bottleneck: Bottleneck,
    #[serde(flatten)]
    result: ResultJson,
    tasks: Vec<TaskJson>,
    placements: Vec<Placement>,
    channels: Vec<ChannelJson>,
}

#[derive(Clone, Debug, Serialize)]
struct MachineJson {
    name: String,
    processors: u32,
    clock_mhz: f64,
}

/// What one method came to.
#[derive(Clone, Debug, Serialize)]
pub struct ResultJson {
    method: &'static str,
    ii: u64,
    /// The best lower bound that is proven.
    lower: u64,
    /// II / lower - 1: no schedule is shorter by more than this.
    gap: f64,
    /// II / MII.
    ii_to_mii: f64,
    stages: u32,
    /// From the start of an iteration to its end, in cycles.
    latency: u64,
    /// Bytes of all channels' buffers.
    channel_bytes: u64,
    /// Steady states per second by the machine's clock, the launches of kernels included.
    steady_states_per_second: f64,
    /// Time that the method took.
    seconds: f64,
    /// Is the II proven to be the least?
    optimal: bool,
    /// What the method says of itself.
    notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct TaskJson {
    name: String,
    instances: u64,
    /// Firings of its nodes in an instance.
    firings: Vec<u64>,
    /// Cycles of an instance.
    cost: u64,
    serial: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Placement {
    task: usize,
    number: u64,
    processor: u32,
    start: u64,
    stage: u32,
}

#[derive(Clone, Debug, Serialize)]
struct ChannelJson {
    id: String,
    from: usize,
    to: usize,
    capacity: u64,
    bytes: u64,
}

/// Sums up what a method came to; `seconds` as the driver's clock saw it.
pub fn result(plan: &Plan, machine: &Machine, outcome: &Outcome, seconds: f64) -> ResultJson {
    let schedule = outcome.verified.schedule();
    let lower = outcome.lower.max(1);
    let cycles = schedule.ii.saturating_add(machine.launch_cycles) as f64;
    ResultJson {
        method: outcome.method.name(),
        ii: schedule.ii,
        lower,
        gap: schedule.ii as f64 / lower as f64 - 1.0,
        ii_to_mii: schedule.ii as f64 / plan.bounds.mii.max(1) as f64,
        stages: schedule.stages(),
        latency: schedule.ii.saturating_mul(schedule.stages().into()),
        channel_bytes: outcome.bytes,
        steady_states_per_second: plan.problem.graph().batch as f64 * machine.clock_mhz * 1e6 / cycles,
        seconds,
        optimal: schedule.ii <= lower,
        notes: outcome.notes.clone(),
    }
}

/// A name, a value, a remark.
pub type Figure = [String; 3];

impl Report {
    /// The figures that people look at.
    pub fn figures(&self) -> [Figure; 6] {
        let x = &self.result;
        let micro = |cycles: u64| cycles as f64 / self.machine.clock_mhz;
        let above = format!("{:.2} % above it, {:.1} µs, by {}", x.gap * 100.0, micro(x.ii), x.method);
        let through = format!("an iteration takes {:.1} µs from end to end", micro(x.latency));
        [
            ("ResMII", grouped(self.res_mii), "the processors' bound, cycles"),
            ("RecMII", grouped(self.rec_mii), "the loops' and states' bound"),
            ("lower bound", grouped(x.lower), "the best that is proven"),
            ("II", grouped(x.ii), &above),
            ("stages", x.stages.to_string(), &through),
            ("channels", grouped(x.channel_bytes), "bytes"),
        ]
        .map(|(name, value, remark)| [name.to_string(), value, remark.to_string()])
    }

    /// Where the costs come from.
    pub fn costs(&self) -> Figure {
        ["costs".into(), self.costs.into(), self.origin.clone()]
    }

    /// Program and machine.
    pub fn title(&self) -> String {
        let processors = count(self.machine.processors.into(), "processor", "processors");
        format!("{} on {} ({processors})", self.program, self.machine.name)
    }

    /// What binds, and what would help.
    pub fn bottleneck(&self) -> [String; 2] {
        let b = &self.bottleneck;
        [format!("{} ({}:{}): {}", b.stream, b.file, b.line, b.text), b.help.clone()]
    }
}

/// The document of one method.
pub fn report(
    program: &str,
    (plan, machine, origin): (&Plan, &Machine, &Origin),
    bottleneck: Bottleneck,
    outcome: &Outcome,
    result: ResultJson,
) -> Report {
    let problem = &plan.problem;
    let (graph, schedule) = (problem.graph(), outcome.verified.schedule());
    let Bounds { res_mii, rec_mii, mii, .. } = plan.bounds;
    let tasks = graph.tasks.iter().map(|t| TaskJson {
        name: t.name.clone(),
        instances: t.instances,
        firings: t.firings.clone(),
        cost: t.cost,
        serial: t.serial,
    });
    let placements = (0..problem.instances()).map(|i| Placement {
        task: problem.task_of(i),
        number: problem.number_of(i),
        processor: schedule.processor[i],
        start: schedule.start[i],
        stage: schedule.stage[i],
    });
    let channels = graph.edges.iter().zip(&outcome.capacity).map(|(e, capacity)| ChannelJson {
        id: e.channel.to_string(),
        from: e.from,
        to: e.to,
        capacity: *capacity,
        bytes: capacity.saturating_mul(e.item_bytes),
    });
    Report {
        schema: "sluice-schedule-1",
        program: program.to_string(),
        machine: MachineJson {
            name: machine.name.clone(),
            processors: problem.processors(),
            clock_mhz: machine.clock_mhz,
        },
        costs: origin.name(),
        profile: origin.profile().cloned(),
        origin: origin.text(),
        batch: graph.batch,
        instances: problem.instances(),
        instances_per_processor: problem.instances() as f64 / f64::from(problem.processors()),
        dependences: problem.dependences().len(),
        work: graph.work(),
        res_mii,
        rec_mii,
        mii,
        bottleneck,
        result,
        tasks: tasks.collect(),
        placements: placements.collect(),
        channels: channels.collect(),
    }
}

/// A report for people.
pub fn text(r: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", r.title());
    let _ = writeln!(
        out,
        "{} ({:.1} per processor) of {}; an iteration is {}, {} cycles of work",
        count(r.instances as u64, "instance", "instances"),
        r.instances_per_processor,
        count(r.tasks.len() as u64, "task", "tasks"),
        count(r.batch, "steady state", "steady states"),
        grouped(r.work)
    );
    let _ = writeln!(out, "costs: {}\n", r.origin);
    let figures = r.figures();
    let width = figures.iter().map(|f| f[1].chars().count()).max().unwrap_or(0);
    for [name, value, remark] in &figures {
        let _ = writeln!(out, "{name:<12}{value:>width$}  {remark}");
    }
    for note in &r.result.notes {
        let _ = writeln!(out, "{note}");
    }
    let [why, help] = r.bottleneck();
    let _ = writeln!(out, "\nbound by {why}\nto lower it: {help}");
    out
}

/// All methods side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    schema: &'static str,
    machine: String,
    costs: &'static str,
    #[serde(skip)]
    origin: String,
    /// The best lower bound that one of them proved.
    lower: u64,
    methods: Vec<ResultJson>,
    failed: Vec<Failed>,
}

/// A method that came to nothing.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// Which.
    pub method: &'static str,
    /// Why.
    pub why: String,
}

impl Comparison {
    /// Of so many results.
    pub fn new(planned: &Planned, methods: Vec<ResultJson>, failed: Vec<Failed>) -> Comparison {
        let lower = methods.iter().map(|r| r.lower).fold(planned.plan.bounds.lower, u64::max);
        let (schema, machine) = ("sluice-comparison-1", planned.machine.name.clone());
        Comparison {
            schema,
            machine,
            costs: planned.origin.name(),
            origin: planned.origin.text(),
            lower,
            methods,
            failed,
        }
    }

    /// As a table.
    pub fn text(&self) -> String {
        let mut rows = vec![["method", "II", "II/lower", "stages", "channel bytes", "seconds"].map(String::from)];
        rows.extend(self.methods.iter().map(|r| {
            [
                r.method.to_string(),
                grouped(r.ii),
                format!("{:.4}", r.ii as f64 / self.lower.max(1) as f64),
                r.stages.to_string(),
                grouped(r.channel_bytes),
                format!("{:.3}", r.seconds),
            ]
        }));
        let mut out = columns(&rows, &[0]);
        for f in &self.failed {
            let _ = writeln!(out, "{}: {}", f.method, f.why);
        }
        let _ = writeln!(out, "costs: {}", self.origin);
        out
    }
}

/// A number in groups of three digits.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(d);
    }
    out
}
