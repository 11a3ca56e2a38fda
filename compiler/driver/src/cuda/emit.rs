//! # emit-cuda
//!
//! Purpose: from a checked program to the texts of host and device. Input: the program, what was chosen. Output: [`Emitted`], with the schedule
//! that the judge has passed, and the program that they are of ([`as_device`]).

use super::solved;
use crate::as_device::as_device;
use crate::compiled;
use crate::exit::{Exit, Fault};
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt, dump};
use crate::scheduling::{self, Weights};
use crate::session::Session;
use sluice_codegen::cuda::{self, CudaInput, CudaOptions, CudaProgram, ProfileText, Scheme, TileCounts};
use sluice_codegen::{CodegenError, Flavour, ProgramInput};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, CodeId};
use sluice_frontend::slow::InTurn;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_kernel::ir::Kernel;
use sluice_schedule::machine::Machine;
use sluice_schedule::method::{Method, NoSchedule, Outcome, Settings};
use sluice_schedule::plan::{self, Grain, Plan, Program};
use sluice_schedule::problem::granularity::whole;
use sluice_schedule::problem::modulo::Unfit;
use sluice_schedule::problem::task::TaskGraph;

/// What is chosen about a program on a device.
#[derive(Clone, Debug)]
pub struct Choices {
    /// How its steady state runs there.
    pub scheme: Scheme,
    /// So many times the firings in an instance.
    pub coarsen: u64,
    /// Multiprocessors that the schedule is for.
    pub processors: u32,
    /// Threads of a block.
    pub threads: u32,
    /// In a pipeline so many threads of a block may make the firings of an instance, which was cut for the number above; nothing where somebody has said how many they are.
    pub most_threads: Option<u32>,
    /// What operations cost.
    pub machine: Machine,
    /// Who schedules.
    pub method: Method,
    /// Another one, where that one finds nothing in its time.
    pub spare: Option<Method>,
    /// Seconds for the integer program.
    pub time_limit: f64,
    /// What the device has room for, and so on.
    pub options: CudaOptions,
    /// What a profile says, where there is one and the scheme heeds it.
    pub configuration: Option<Configuration>,
}

/// What a profile says about the nodes of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// By node, how many threads of a block fire it.
    pub threads: Vec<u32>,
    /// By node, nanoseconds of a firing on a multiprocessor, where they are known.
    pub nanoseconds: Vec<Option<f64>>,
    /// Where these come from, for people.
    pub costs: String,
}

/// Texts and schedule.
pub struct Emitted {
    /// The texts.
    pub program: CudaProgram,
    /// The problem.
    pub plan: Plan,
    /// Its schedule.
    pub outcome: Outcome,
    /// The program that all of this is of; `None` where that is the program as it was.
    pub own: Option<Checked>,
}

/// Instances for each multiprocessor, at least: evener schedules have longer iterations, whose channels no cache holds.
const PER_PROCESSOR: Grain = Grain::PerProcessor(4);
/// Coarsening whose buffers [`Scheme::Serial`] does not exceed.
const SWP8: u64 = 8;
/// Bytes of a firing's window that a thread may have in its registers in a block that is as large as it may be.
const FEW_BYTES: u64 = 96 * 4;
/// Bytes of channels between regions.
const FUSED_BYTES: u64 = 8 << 20;
/// A batch of regions has at most 2 to this steady states.
const LONGEST_FUSED: u32 = 13;
/// Bytes of buffers for the scheme serial where there is no such schedule to compare with.
const SERIAL_BYTES: u64 = 64 << 20;

/// Makes the texts.
pub fn emit(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    choices: &Choices,
    named: (Flavour, &str),
) -> Result<Emitted, Halt> {
    let own = as_device(session, checked, code, choices.scheme)?;
    let mut emitted = made(session, own.as_ref().unwrap_or(checked), code, choices, named, |making| {
        let scheduled = match choices.scheme {
            Scheme::Serial => making.serial(),
            Scheme::Fused | Scheme::FusedWarps => making.fused(choices.scheme),
            _ => making.swp(choices.scheme, choices.coarsen),
        };
        making.text(scheduled?)
    })?;
    dump(session, "tiles", || emitted.program.tiles.iter().map(TileCounts::text).collect())?;
    dump(session, "emit-cuda", || emitted.program.device.clone())?;
    emitted.own = own;
    Ok(emitted)
}

/// The kernels that measure each part of the program in blocks of so many threads.
pub fn profile_texts(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    choices: &Choices,
    threads: &[u32],
) -> Result<Vec<ProfileText>, Halt> {
    made(session, checked, code, choices, (Flavour::Plugin, "program"), |making| {
        let granularity = whole(making.what.steady, 1).ok_or_else(|| unfit(Unfit::Work))?;
        let plan = plan::with_granularity(making.what, granularity, 1).map_err(unfit)?;
        let mut scheduled = making.solve(Scheme::Swp, plan, Method::Sas)?;
        let mut texts = Vec::new();
        for threads in threads {
            scheduled.options.threads = *threads;
            texts.push(cuda::profile(&making.input(&scheduled), choices.processors).map_err(Problem::Code)?);
        }
        Ok(texts)
    })
}

/// What is made of a program for devices.
fn made<T>(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    choices: &Choices,
    (flavour, name): (Flavour, &str),
    make: impl FnOnce(&Making<'_>) -> Result<T, Problem>,
) -> Result<T, Halt> {
    let program = &checked.program;
    if program.steady.islands.is_some() {
        // said in the same words as of other things that do not run there
        let dynamic = program.graph.nodes.iter().find(|n| matches!(n.kind, NodeKind::Filter { dynamic: true, .. }));
        if let Some(node) = dynamic {
            let what = format!("`{}` decides in each firing how many items it moves", node.path);
            return Err(refused(session, checked, &CodegenError::NotOnDevice { what, span: node.span, instead: None }));
        }
    }
    let sequential = session.pass("schedule", || compiled::schedule(program, code.schedule))?;
    let host_kernels = crate::kernels::native_kernels(session, checked, code)?;
    let mut kernels = crate::kernels::device_kernels(session, checked, code)?;
    // streams that take turns get a thread each
    let mut turns: Vec<Option<&InTurn>> = vec![None; kernels.len()];
    for (k, filter) in program.codes.iter().enumerate() {
        let Some(of) = filter.turns.as_deref() else { continue };
        let turn = crate::kernels::device_kernel(&of.turn, &program.globals, code);
        if let Some(turn) = turn.filter(|t| cuda::has_turn_states(&host_kernels[k], t, &program.globals, of.streams()))
        {
            (kernels[k], turns[k]) = (turn, Some(of));
        }
    }
    let Weights { costs, item_bytes } = scheduling::weights(session, checked)?;
    let mut machine = choices.machine.clone();
    machine.threads = u64::from(choices.threads).min(machine.threads);
    machine.lanes = machine.lanes.min(machine.threads);
    let mut times = plan::times(&machine, &costs);
    let streams = |c: CodeId| turns[c.index()].map_or(1, |of| of.streams());
    scheduling::costs::side_by_side(&mut times, &program.graph, &machine, streams);
    if let Some(configuration) = &choices.configuration {
        times = plan::measured(&machine, times, &configuration.nanoseconds);
        times.each = configuration.threads.iter().map(|n| u64::from(*n)).collect();
    }
    let what = Program { graph: &program.graph, steady: &program.steady, times: &times, item_bytes: &item_bytes };
    // a stand-alone program is one text, for users
    let apart = flavour == Flavour::Plugin;
    let host_options = sluice_codegen::ProgramOptions { flavour, stats: code.stats, apart, ..Default::default() };
    let host = compiled::input(checked, name, &host_kernels, &sequential, &host_options);
    let making = Making { what, machine: &machine, host: &host, kernels: &kernels, turns: &turns, choices };
    let made = session.pass("emit-cuda", || make(&making));
    made.map_err(|e| match e {
        Problem::Code(e) => refused(session, checked, &e),
        Problem::Fault(fault) => fault.into(),
    })
}

/// Says why a program does not run on a device.
fn refused(session: &mut Session, checked: &Checked, e: &CodegenError) -> Halt {
    let CodegenError::NotOnDevice { what, span, instead } = e else { return compiled::no_code(e).into() };
    let title = format!("{what}, which does not run on a GPU");
    let d = Diagnostic::error("E0980", title, *span, "code for GPUs does not have this").help(
        instead.map_or(String::new(), |instead| format!("{instead}; "))
            + "without `--target cuda` the program runs on the CPU",
    );
    match session.report(&checked.sources, &[d]) {
        Ok(_) => Halt::Done(Exit::Program),
        Err(fault) => fault.into(),
    }
}

enum Problem {
    Code(CodegenError),
    Fault(Fault),
}

struct Making<'a> {
    what: Program<'a>,
    machine: &'a Machine,
    host: &'a ProgramInput<'a>,
    kernels: &'a [Kernel],
    turns: &'a [Option<&'a InTurn>],
    choices: &'a Choices,
}

impl Making<'_> {
    /// A modulo schedule for multiprocessors.
    fn swp(&self, scheme: Scheme, coarsen: u64) -> Result<Scheduled, Problem> {
        let processors = self.choices.processors;
        let mut plan = plan::plan(self.what, self.machine, processors, PER_PROCESSOR).map_err(unfit)?;
        if coarsen > 1 {
            let coarse = plan.granularity.coarsened(coarsen).ok_or_else(|| unfit(Unfit::Work))?;
            plan = plan::with_granularity(self.what, coarse, processors).map_err(unfit)?;
        }
        let mut scheduled = self.solve(scheme, plan, self.choices.method)?;
        scheduled.options.threads = self.threads_for(scheduled.plan.problem.graph());
        Ok(scheduled)
    }

    /// As many threads of a block as the instances that make most of the work have firings. One multiprocessor has one block, whose threads hide each other's waiting for memory; what is the
    /// same for any number of them are instances, schedule and channels. Firings that follow one another do not count. Where a firing looks at very many items there are fewer, with more registers.
    fn threads_for(&self, graph: &TaskGraph) -> u32 {
        let threads = self.choices.threads;
        let Some(most) = self.choices.most_threads else { return threads };
        // all that a firing takes and gives goes through shared memory there, which takes registers
        let most = if self.choices.scheme == Scheme::SwpNc { most / 2 } else { most };
        let from = |n: u32| -> u128 {
            let tasks = graph.tasks.iter().filter(|t| !t.serial && t.nodes.len() == 1 && t.firings[0] >= u64::from(n));
            tasks.map(|t| u128::from(t.cost) * u128::from(t.instances)).sum()
        };
        let all = from(0);
        let looks_at = |c: ChannelId| {
            let channel = self.what.graph.channel(c);
            let filter = matches!(self.what.graph.node(channel.to.0).kind, NodeKind::Filter { .. });
            if filter { u64::from(channel.peek.max(channel.consume)) * self.what.item_bytes[c.index()] } else { 0 }
        };
        let many = self.what.graph.channel_ids().map(looks_at).max().unwrap_or(0) > FEW_BYTES;
        let choice = [if many { most / 4 * 3 } else { most }, most / 2];
        choice.into_iter().find(|n| *n > threads && all > 0 && from(*n) * 2 >= all).unwrap_or(threads)
    }

    /// Kernel after kernel, with no more bytes of buffers than the schedule that is coarsened eight times.
    fn serial(&self) -> Result<Scheduled, Problem> {
        let limit = match self.swp(Scheme::Swp, SWP8).and_then(|swp8| self.bytes(&swp8)) {
            Ok(bytes) => bytes,
            Err(e @ Problem::Code(CodegenError::NotOnDevice { .. })) => return Err(e),
            Err(_) => SERIAL_BYTES,
        };
        self.longest(Scheme::Serial, limit, (1..32).map(|i| self.choices.coarsen << i))
    }

    /// Regions as kernels. What passes between them is on rings, for as many steady states as keeps those in a GPU's cache. The most are tried first: to cut a program into regions takes
    /// time, and where all of it is one region there are no rings.
    fn fused(&self, scheme: Scheme) -> Result<Scheduled, Problem> {
        let mut best = self.in_batches(scheme, 1)?;
        // batches of 2^i steady states: those up to `low` fit, those from `high` on do not
        let (mut low, mut high, mut i) = (0, LONGEST_FUSED + 1, LONGEST_FUSED);
        while low + 1 < high {
            match self.in_batches(scheme, 1 << i).ok().filter(|next| self.keeps(next, FUSED_BYTES)) {
                Some(next) => (best, low) = (next, i),
                None => high = i,
            }
            i = low.midpoint(high);
        }
        Ok(best)
    }

    /// One instance of each task, of as many steady states as keep the channels within the limit; one where none do.
    fn longest(&self, scheme: Scheme, limit: u64, batches: impl Iterator<Item = u64>) -> Result<Scheduled, Problem> {
        let mut best = self.in_batches(scheme, 1)?;
        for batch in batches {
            let Ok(next) = self.in_batches(scheme, batch) else { break };
            if !self.keeps(&next, limit) {
                break;
            }
            best = next;
        }
        Ok(best)
    }

    /// One instance of each task, of so many steady states.
    fn in_batches(&self, scheme: Scheme, batch: u64) -> Result<Scheduled, Problem> {
        let granularity = whole(self.what.steady, batch).ok_or_else(|| unfit(Unfit::Work))?;
        let plan = plan::with_granularity(self.what, granularity, 1).map_err(unfit)?;
        self.solve(scheme, plan, Method::Sas)
    }

    /// Are the channels within a limit?
    fn keeps(&self, scheduled: &Scheduled, limit: u64) -> bool {
        self.bytes(scheduled).is_ok_and(|bytes| bytes <= limit)
    }

    fn solve(&self, scheme: Scheme, plan: Plan, method: Method) -> Result<Scheduled, Problem> {
        let settings = Settings { time_limit: self.choices.time_limit, ..Settings::default() };
        let outcome = match (solved::solve(&plan, method, &settings), self.choices.spare) {
            (Err(NoSchedule::GaveUp(_) | NoSchedule::NoSolver(_)), Some(spare)) => {
                solved::solve(&plan, spare, &settings)
            }
            (outcome, _) => outcome,
        };
        let outcome = outcome.map_err(|e| Problem::Fault(scheduling::no_schedule(e, method)))?;
        let options = CudaOptions { scheme, threads: self.choices.threads, ..self.choices.options };
        Ok(Scheduled { plan, outcome, options })
    }

    fn input<'s>(&'s self, scheduled: &'s Scheduled) -> CudaInput<'s> {
        CudaInput {
            host: self.host,
            kernels: self.kernels,
            turns: self.turns,
            threads: self.choices.configuration.as_ref().map_or(&[], |c| &c.threads),
            costs: self.choices.configuration.as_ref().map_or("", |c| &c.costs),
            problem: &scheduled.plan.problem,
            schedule: &scheduled.outcome.verified,
            options: &scheduled.options,
        }
    }

    fn bytes(&self, scheduled: &Scheduled) -> Result<u64, Problem> {
        cuda::channel_bytes(&self.input(scheduled)).map_err(Problem::Code)
    }

    fn text(&self, scheduled: Scheduled) -> Result<Emitted, Problem> {
        let program = cuda::emit(&self.input(&scheduled)).map_err(Problem::Code)?;
        let Scheduled { plan, outcome, .. } = scheduled;
        Ok(Emitted { program, plan, outcome, own: None })
    }
}

/// A problem, its schedule, and what the texts are to be.
struct Scheduled {
    plan: Plan,
    outcome: Outcome,
    options: CudaOptions,
}

fn unfit(why: Unfit) -> Problem {
    Problem::Fault(scheduling::unfit_fault(&why, Grain::Auto))
}
