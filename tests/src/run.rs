//! Running a program from its text, in this process: by the interpreter, and compiled.

use crate::generate::Case;
use crate::generate::random::Random;
use sluice_codegen::Flavour;
use sluice_codegen::c::print::Site;
use sluice_driver::as_c::as_c;
use sluice_driver::as_run::as_run;
use sluice_driver::cc::CcOptions;
use sluice_driver::exit::{Exit, Fault};
use sluice_driver::io::format::Format;
use sluice_driver::io::host::{self, Bindings, Host};
use sluice_driver::io::sink::Out;
use sluice_driver::native::{Native, NativeEnd};
use sluice_driver::natives::Natives;
use sluice_driver::natives::foreign::Foreign;
use sluice_driver::options::{
    CodeOptions, CudaOptions, Inner, Linear, NativeOptions, ProgramOptions, ScheduleKind, TakeApart, ThreadsOptions,
};
use sluice_driver::pipeline::{Checked, Halt};
use sluice_driver::profile::gpu::Chosen;
use sluice_driver::render::Renderer;
use sluice_driver::runtime::{self, RunEnd};
use sluice_driver::session::Session;
use sluice_driver::threads::crew::Seats;
use sluice_driver::{compiled, cuda, interpreted, jitted, linear as combining};
use sluice_frontend::{NoImports, Options, SourceInput, analyse};
use std::collections::BTreeMap;
use std::io::{PipeReader, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How native code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Make {
    /// Level of the C compiler, 0 to 3.
    pub level: u8,
    /// The minimum-latency schedule?
    pub small_buffers: bool,
    /// Without checks?
    pub unchecked: bool,
    /// The most items on a channel of a program with dynamic rates.
    pub channel_limit: Option<u64>,
    /// What is done with loops.
    pub inner: Inner,
    /// Only what every program goes through: no branches, parts or delays become one filter.
    pub plain: bool,
}

/// How a run is joined to the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// The open input is a pipe into which somebody writes a little at a time (in parts that depend on this number).
    pub pipe: Option<u64>,
    /// The open output goes to standard output, among what is printed.
    pub to_stdout: bool,
}

/// What came out of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ended well.
    Done {
        /// Standard output.
        printed: Vec<u8>,
        /// The files it wrote (`out.bin` is the open end's), with their bytes.
        written: BTreeMap<String, Vec<u8>>,
        /// What there was to remark about the input.
        remarks: Vec<String>,
    },
    /// It failed: the exit code, and why.
    Failed(Exit, String, Vec<u8>),
}

/// Checks a program; its diagnostics in words where it has errors.
pub fn check(source: &str) -> Result<Checked, String> {
    let input = SourceInput { name: "program.str".into(), text: source.into() };
    let analysis = analyse(vec![input], &Options::default(), &mut NoImports);
    match analysis.program {
        Some(program) => Ok(Checked { sources: analysis.sources, program }),
        None => Err(Renderer::new(&analysis.sources, false).all(&analysis.diagnostics)),
    }
}

/// Bytes that can be looked at after they were written.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Tape {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Compiled code of a program.
pub struct Compiled {
    native: Native,
    sites: Vec<Site>,
    /// Filters of which several firings run at once.
    pub lanes: usize,
    /// In stages, for threads that run them and hand each other so many steady states (or as many as seem good).
    crew: Option<(Seats, Option<u64>)>,
    /// Steady states that run fast are a multiple of these.
    pub unit: u64,
}

impl Compiled {
    /// Kernels that were launched by all runs together, where it has a device.
    pub fn launches(&self) -> u64 {
        self.native.launches()
    }
}

/// Compiles a checked program as the command line does, and loads it: with the program that then runs, in which branches or delays may be gone.
pub fn compile(checked: &Checked, make: Make) -> Result<(Checked, Compiled), String> {
    let made = || {
        let mut session = Session::new(&ProgramOptions::default(), false)?;
        let schedule = if make.small_buffers { ScheduleKind::MinimumLatency } else { ScheduleKind::SingleAppearance };
        let cc = CcOptions { level: make.level, ..CcOptions::default() };
        let code = CodeOptions {
            cc,
            schedule,
            unchecked: make.unchecked,
            channel_limit: make.channel_limit,
            inner: make.inner,
            privatise: true,
            delay_lines: true,
            take_apart: TakeApart::Always,
            fold: !make.plain,
            fuse: !make.plain,
            linear: if make.plain { Linear::Off } else { Linear::Auto },
            ..Default::default()
        };
        let folded = as_run(&mut session, checked, &code)?;
        let program = folded.unwrap_or(Checked { sources: checked.sources.clone(), program: checked.program.clone() });
        let program = as_c(&mut session, &program, &code)?.unwrap_or(program);
        let c = compiled::emit(&mut session, &program, &code, Flavour::Plugin, "program")?;
        let lanes = c.source.matches("while (n >= SL_LANES)").count();
        let native = compiled::load(&mut session, &program, &c, &code, &Natives::none())?;
        Ok((program, Compiled { native, unit: c.unit, sites: c.sites, lanes, crew: None }))
    };
    made().map_err(in_short)
}

/// Combines the linear filters of a checked program, as `--fast-math` does, and compiles what comes of it; the program is that one then.
pub fn compile_linear(checked: &Checked, linear: Linear) -> Result<(Checked, Compiled), String> {
    let made = || {
        let mut session = Session::new(&ProgramOptions::default(), false)?;
        let cc = CcOptions { level: 2, fast_math: true, ..CcOptions::default() };
        let code = CodeOptions { cc, linear, fuse: true, ..Default::default() };
        let combined = combining::combined(&mut session, checked, &code)?;
        let program =
            combined.unwrap_or(Checked { sources: checked.sources.clone(), program: checked.program.clone() });
        let c = compiled::emit(&mut session, &program, &code, Flavour::Plugin, "program")?;
        let native = compiled::load(&mut session, &program, &c, &code, &Natives::none())?;
        Ok((program, Compiled { native, unit: c.unit, sites: c.sites, lanes: 0, crew: None }))
    };
    made().map_err(in_short)
}

/// Makes a checked program's code in memory.
pub fn compile_in_memory(checked: &Checked, make: Make) -> Result<Compiled, String> {
    let made = || {
        let mut session = Session::new(&ProgramOptions::default(), false)?;
        let schedule = if make.small_buffers { ScheduleKind::MinimumLatency } else { ScheduleKind::SingleAppearance };
        let code = CodeOptions {
            schedule,
            unchecked: make.unchecked,
            channel_limit: make.channel_limit,
            privatise: true,
            delay_lines: true,
            take_apart: TakeApart::Always,
            ..Default::default()
        };
        let ready = jitted::make(&mut session, checked, &code)?;
        Ok(Compiled { native: ready.native, unit: 1, sites: ready.sites, lanes: 0, crew: None })
    };
    made().map_err(in_short)
}

/// Compiles a checked program for up to so many threads, with regions or without; `batch`: the steady states that run at once, and how many times as many make up a batch. `None` where one must do
/// everything.
pub fn compile_threads(
    checked: &Checked,
    (threads, fuse): (usize, bool),
    (batch, turns): (Option<u64>, u64),
) -> Result<Option<Compiled>, String> {
    let made = || {
        let mut session = Session::new(&ProgramOptions::default(), false)?;
        let cc = CcOptions { level: 0, ..CcOptions::default() };
        let code = CodeOptions {
            cc,
            privatise: true,
            delay_lines: true,
            take_apart: TakeApart::Always,
            fuse,
            ..Default::default()
        };
        let threads = ThreadsOptions { threads, batch, turns: Some(turns), report: false };
        let front = compiled::front(&mut session, checked, &code)?;
        let (c, plan) = compiled::emit_plugin(&mut session, checked, &code, Some(&threads), front)?;
        let Some(plan) = plan.filter(|p| p.partition.is_some()) else { return Ok(None) };
        let native = compiled::load(&mut session, checked, &c, &code, &Natives::none())?;
        Ok(Some(Compiled { native, unit: c.unit, sites: c.sites, lanes: 0, crew: Some((plan.threads, batch)) }))
    };
    made().map_err(in_short)
}

/// Compiles a checked program for a device, as the command line does it: with the program that then runs, whose equal branches may have become one
/// filter.
pub fn compile_on_device(checked: &Checked, options: &CudaOptions) -> Result<(Checked, Compiled), NotMade> {
    compile_changed(checked, options, &mut |_| ())
}

/// The same with a change to the device's text, for tests that plant faults.
pub fn compile_changed(
    checked: &Checked,
    options: &CudaOptions,
    change: &mut dyn FnMut(&mut String),
) -> Result<(Checked, Compiled), NotMade> {
    compile_by(checked, options, None, change)
}

/// The same where nodes have different numbers of threads, which follow from a number.
pub fn compile_resting(
    checked: &Checked,
    options: &CudaOptions,
    resting: Option<u32>,
) -> Result<(Checked, Compiled), NotMade> {
    compile_by(checked, options, resting, &mut |_| ())
}

/// Texts as if a profile had chosen threads and costs.
fn resting_texts(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    (options, target): (&CudaOptions, &cuda::run::Target),
    by: u32,
) -> Result<cuda::run::Texts, Halt> {
    let mut choices = cuda::texts::choices(options, target)?;
    if !choices.scheme.is_fused() {
        let mut r = Random::new(by.into());
        let (block, nodes) = (choices.threads, checked.program.graph.nodes.len());
        let threads = (0..nodes).map(|_| 32 * r.range(1, block / 32)).collect();
        let nanoseconds = (0..nodes).map(|_| r.chance(80).then(|| f64::from(r.range(1, 100)))).collect();
        let chosen = Chosen { registers: 64, block, threads, nanoseconds };
        cuda::texts::heed(&mut choices, &chosen, "made up".into());
    }
    let emitted = cuda::emit::emit(session, checked, code, &choices, (Flavour::Plugin, "program"))?;
    Ok(cuda::run::Texts::of(emitted, None))
}

fn compile_by(
    checked: &Checked,
    options: &CudaOptions,
    resting: Option<u32>,
    change: &mut dyn FnMut(&mut String),
) -> Result<(Checked, Compiled), NotMade> {
    let mut made = || {
        let mut session = Session::new(&ProgramOptions::default(), false)?;
        // what is compiled here runs once
        let code = CodeOptions {
            cc: CcOptions { level: 0, ..CcOptions::default() },
            fold: true,
            fuse: true,
            privatise: true,
            delay_lines: true,
            take_apart: TakeApart::Always,
            ..Default::default()
        };
        let folded = as_run(&mut session, checked, &code)?;
        let program = folded.unwrap_or(Checked { sources: checked.sources.clone(), program: checked.program.clone() });
        let natives = NativeOptions::default();
        let texts = |s: &mut Session, p: &Checked, c: &CodeOptions, o: &CudaOptions, t: &cuda::run::Target| {
            let mut texts = match resting {
                None => cuda::texts::texts(s, p, c, o, t)?,
                Some(by) => resting_texts(s, p, c, (o, t), by)?,
            };
            change(&mut texts.device);
            Ok(texts)
        };
        let ready = cuda::run::prepare(&mut session, &program, &code, &natives, options, texts)?;
        let cuda::run::Ready { native, host, own } = ready;
        let program = own.unwrap_or(program);
        Ok((program, Compiled { native, unit: host.unit, sites: host.sites, lanes: 0, crew: None }))
    };
    made().map_err(|halt| match halt {
        Halt::Done(Exit::Program) => NotMade::Refused,
        other => NotMade::Fault(in_short(other)),
    })
}

/// Why there is nothing to run on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMade {
    /// The program has what devices do not have; that was said.
    Refused,
    /// Anything else.
    Fault(String),
}

impl std::fmt::Display for NotMade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotMade::Refused => f.write_str("it is refused, and nothing stands against it"),
            NotMade::Fault(why) => write!(f, "it cannot be compiled: {why}"),
        }
    }
}

fn in_short(halt: Halt) -> String {
    match halt {
        Halt::Fault(f) => f.message,
        Halt::Done(_) => "stopped".into(),
    }
}

/// Runs a checked program, interpreted where there is no code. Its files are in `folder`, which must be the current one.
pub fn run(checked: &Checked, case: &Case, code: Option<&Compiled>, feed: Feed, folder: &Path) -> Outcome {
    match try_run(checked, case, code, feed, folder) {
        Ok(outcome) => outcome,
        Err(f) => Outcome::Failed(f.exit, f.message, Vec::new()),
    }
}

/// What a program gives, printed and written, which must end well, for these bytes or so many steady states.
pub fn output(checked: &Checked, input: &[u8], iterations: Option<u64>, code: Option<&Compiled>) -> Vec<u8> {
    let case =
        Case { source: String::new(), input: Some(input.to_vec()), iterations, hazards: false, channel_limit: None };
    let folder = tempfile::tempdir().expect("a folder");
    match run(checked, &case, code, Feed::default(), folder.path()) {
        Outcome::Done { printed, written, .. } => [printed, written.into_values().flatten().collect()].concat(),
        other => panic!("{other:?}"),
    }
}

/// The files that programs may write, as they are now.
fn written(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let ours = names.filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("out")));
    ours.filter_map(|p| Some((p.file_name()?.to_string_lossy().into_owned(), std::fs::read(&p).ok()?))).collect()
}

/// A pipe that is filled a little at a time by another thread; gives its reading end.
fn trickle(bytes: Vec<u8>, seed: u64) -> std::io::Result<PipeReader> {
    let (from, mut to) = std::io::pipe()?;
    std::thread::spawn(move || {
        let mut r = Random::new(seed);
        let mut at = 0;
        while at < bytes.len() {
            let most = if r.chance(50) { 12 } else { 400 };
            let n = (r.range(1, most) as usize).min(bytes.len() - at);
            // whoever reads may have seen enough
            if to.write_all(&bytes[at..at + n]).is_err() {
                return;
            }
            at += n;
            if r.chance(30) {
                std::thread::sleep(Duration::from_micros(u64::from(r.below(300))));
            }
        }
    });
    Ok(from)
}

fn try_run(
    checked: &Checked,
    case: &Case,
    code: Option<&Compiled>,
    feed: Feed,
    folder: &Path,
) -> Result<Outcome, Fault> {
    let program = &checked.program;
    let (readers, writers) = host::ends(&program.graph, &program.globals)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let mut input = path("in.bin");
    for name in written(folder).into_keys() {
        let _ = std::fs::remove_file(folder.join(name));
    }
    if let Some(bytes) = &case.input {
        std::fs::write(&input, bytes).map_err(|e| Fault::file("write", &input, &e))?;
    }
    let open = |ends: &[host::End]| ends.iter().any(|e| e.endpoint == sluice_frontend::graph::Endpoint::Open);
    let (reads, writes) = (open(&readers), open(&writers));
    let mut pipe = None;
    if let (true, Some(seed), Some(bytes)) = (reads, feed.pipe, &case.input) {
        let from = trickle(bytes.clone(), seed).map_err(|e| Fault::file("make", "a pipe", &e))?;
        input = format!("/dev/fd/{}", from.as_raw_fd());
        pipe = Some(from);
    }
    let bindings = Bindings {
        input: reads.then_some(input),
        input_format: reads.then_some(Format::Raw),
        output: (writes && !feed.to_stdout).then(|| path("out.bin")),
        output_format: writes.then_some(Format::Raw),
        ..Bindings::default()
    };
    let tape = Tape::default();
    let mut host = Host::open_to(&readers, &writers, &bindings, Out::to(Box::new(tape.clone())))?;
    drop(pipe);
    Ok(match run_to(checked, case, code, &readers, &writers, &mut host) {
        Ok(()) => {
            let remarks = host.finish()?;
            Outcome::Done { printed: tape.bytes().clone(), written: written(folder), remarks }
        }
        Err(end) => {
            host.abandon();
            let (exit, why) = in_words(end);
            Outcome::Failed(exit, why, tape.bytes().clone())
        }
    })
}

/// Runs to the end, with a host.
pub(crate) fn run_to(
    checked: &Checked,
    case: &Case,
    code: Option<&Compiled>,
    readers: &[host::End],
    writers: &[host::End],
    host: &mut Host,
) -> Result<(), RunEnd> {
    let program = &checked.program;
    match code {
        None => {
            let options = sluice_interpret::Options { iterations: case.iterations, channel_limit: case.channel_limit };
            interpreted::run(program, readers, options, host, &mut Foreign::none())
        }
        Some(c) => match &c.crew {
            None => c.native.run(readers, writers, case.iterations, host),
            Some((threads, batch)) => {
                c.native.run_threads(readers, writers, case.iterations, host, (threads, *batch)).0
            }
        }
        .map_err(|e| match e {
            NativeEnd::Fault(fault) => RunEnd::Fault(fault),
            NativeEnd::Program(error) => runtime::of_native(&error, &program.graph, &c.sites),
        }),
    }
}

/// How a run failed.
pub(crate) fn in_words(end: RunEnd) -> (Exit, String) {
    match end {
        RunEnd::Fault(f) => (f.exit, f.message),
        RunEnd::Program(d) => {
            let at = d.span();
            (Exit::Program, format!("{} {} at {}..{}", d.code, d.title, at.start, at.end))
        }
    }
}

/// What is compared besides the output of runs that end well, and why others do not.
#[derive(Clone, Copy, Debug)]
pub struct Compare {
    /// Remarks about the input: where all of it is read.
    pub remarks: bool,
    /// Not what was printed before a fault.
    pub faults_only: bool,
}

/// What differs between two outcomes, in a few words; nothing where they are the same.
pub fn difference(a: &Outcome, b: &Outcome, compare: Compare) -> Option<String> {
    match (a, b) {
        (
            Outcome::Done { printed: p, written: w, remarks: r },
            Outcome::Done { printed: q, written: x, remarks: s },
        ) => {
            if p != q {
                return Some(text_difference(p, q));
            }
            let (names, others): (Vec<&String>, Vec<&String>) = (w.keys().collect(), x.keys().collect());
            if names != others {
                return Some(format!("the one wrote {names:?}, the other {others:?}"));
            }
            if let Some((name, (w, x))) =
                w.iter().zip(x.values()).map(|((n, w), x)| (n, (w, x))).find(|(_, (w, x))| w != x)
            {
                let at = w.iter().zip(x).position(|(a, b)| a != b).unwrap_or(w.len().min(x.len()));
                let show =
                    |b: &[u8]| format!("{:02x?}", b.get(at / 4 * 4..(at / 4 * 4 + 8).min(b.len())).unwrap_or(&[]));
                let (wrote, other) = (w.len(), x.len());
                return Some(format!("{name}: byte {at} of {wrote} and {other}: {} and {}", show(w), show(x)));
            }
            (compare.remarks && r != s).then(|| format!("the one remarks {r:?}, the other {s:?}"))
        }
        (Outcome::Failed(e, why, p), Outcome::Failed(f, why_too, q)) => {
            // native code that holds much state does not know which of many firings went wrong, and what was printed before
            let exactly = why == why_too;
            let unnumbered = without_firing(why) == *why_too || *why == without_firing(why_too);
            // in which firing a channel is full, and which one is, depends on the order (docs/execution.md)
            let full = compare.faults_only && [why, why_too].iter().all(|w| w.starts_with("E0958"));
            let same = exactly || unnumbered || full;
            if e != f || !same {
                return Some(format!("the one fails with `{why}`, the other with `{why_too}`"));
            }
            (exactly && p != q && !compare.faults_only).then(|| format!("before the fault: {}", text_difference(p, q)))
        }
        (Outcome::Done { .. }, Outcome::Failed(_, why, _)) => Some(format!("only the second fails: {why}")),
        (Outcome::Failed(_, why, _), Outcome::Done { .. }) => Some(format!("only the first fails: {why}")),
    }
}

/// The words of a fault without the number of the firing.
fn without_firing(why: &str) -> String {
    match why.split_once(", firing ") {
        Some((before, after)) => format!("{before}{}", after.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => why.into(),
    }
}

fn text_difference(a: &[u8], b: &[u8]) -> String {
    let lines = |t: &[u8]| String::from_utf8_lossy(t).lines().map(String::from).collect::<Vec<_>>();
    let (p, q) = (lines(a), lines(b));
    let n = p.iter().zip(&q).position(|(x, y)| x != y).unwrap_or(p.len().min(q.len()));
    let show = |l: &[String]| l.get(n).cloned().unwrap_or("<nothing>".into());
    format!("line {} of {} and {}: `{}` and `{}`", n + 1, p.len(), q.len(), show(&p), show(&q))
}
