//! # work
//!
//! Purpose: one program by one scheme. Input: a [`Task`]. Output: [`Prepared`], compiled and loaded, which then measures: [`Run`], or for the CPU
//! [`ProgramFacts`].

#![allow(clippy::disallowed_methods)] // it reads and writes files and measures time

use super::document::{KernelTime, ProgramFacts, Run, Times};
use crate::beside::{Compiled, Program, bytes, words};
use crate::measure::seconds;
use crate::suite::work::{self, Work};
use crate::suite::{Benchmark, SUITE};
use serde::{Deserialize, Serialize};
use sluice_driver::as_run::as_run;
use sluice_driver::commands;
use sluice_driver::cuda::device::Device;
use sluice_driver::cuda::profiling::{self, GpuProfileOptions};
use sluice_driver::cuda::timed::{Outcome, Repeat, Timed};
use sluice_driver::cuda::{emit, run, texts};
use sluice_driver::exit::{Exit, Fault};
use sluice_driver::io::host::{self, Bindings, End, Host};
use sluice_driver::io::sink::Out;
use sluice_driver::native::{Native, NativeEnd};
use sluice_driver::options::{
    BuildProduct, CodeChoices, CodeOptions, CudaBuildOptions, CudaOptions, NativeOptions, ProgramOptions, RunOptions,
    Scheme,
};
use sluice_driver::pipeline::{self, Checked, Halt};
use sluice_driver::profile::gpu::Chosen;
use sluice_driver::session::Session;
use std::path::{Path, PathBuf};

/// Inputs have so many batches.
const BATCHES: u64 = 3;
/// Iterations of a schedule in a batch at least, as far as their bytes are no more than this: filling and draining the pipeline is part of a batch.
const ITERATIONS: u64 = 8;
const MOST_BATCH: u64 = 512 << 20;
/// The most bytes of an input; emulated ones are slow.
const MOST_INPUT: u64 = 2 << 30;
const MOST_EMULATED_INPUT: u64 = 4 << 20;
/// Bytes at an end that a tile of the scheme fused has at most, about.
const FUSED_TILE: u64 = 16 << 10;
/// Threads of a block, emulated.
const EMULATED_THREADS: u32 = 32;
/// Bytes of a batch of a program with state: a filter runs on one thread there.
const STATEFUL_BATCH: u64 = 256 << 10;
/// Items of a repetition on the CPU, and repetitions.
const CPU_ITEMS: usize = 1 << 17;
const CPU_REPETITIONS: usize = 31;
/// Whole runs.
const RUNS: usize = 2;

/// A scheme with its coarsening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// As in the paper's figures, where it has it.
    pub name: &'static str,
    /// The scheme.
    pub scheme: Scheme,
    /// `--coarsen`
    pub coarsen: u32,
    /// With threads, registers and costs of a profile that is taken first.
    pub profiled: bool,
}

/// All that are measured, the most wanted first.
pub const VARIANTS: [Variant; 10] = {
    const fn v(name: &'static str, scheme: Scheme, coarsen: u32) -> Variant {
        Variant { name, scheme, coarsen, profiled: false }
    }
    [
        v("fused", Scheme::Fused, 1),
        v("fused-warps", Scheme::FusedWarps, 1),
        v("SWP8", Scheme::Swp, 8),
        Variant { name: "profiled", scheme: Scheme::Swp, coarsen: 8, profiled: true },
        v("Serial", Scheme::Serial, 1),
        v("SWP", Scheme::Swp, 1),
        v("SWP4", Scheme::Swp, 4),
        v("SWP16", Scheme::Swp, 16),
        v("SWPNC", Scheme::SwpNc, 1),
        v("persistent", Scheme::SwpPersistent, 8),
    ]
};

/// The variant of a name.
pub fn variant(name: &str) -> Option<Variant> {
    VARIANTS.into_iter().find(|v| v.name == name)
}

/// The program of a name.
pub fn program(name: &str) -> Option<&'static Benchmark> {
    SUITE.iter().find(|b| b.name == name)
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Of the suite.
    pub program: String,
    /// On the device; `None`: on one thread of the CPU, which also makes input and output files.
    pub variant: Option<String>,
    /// With contraction.
    pub fast_math: bool,
    /// On the emulated device.
    pub emulate: bool,
    /// Bytes of a batch's input or output, whichever is more.
    pub batch_bytes: u64,
    /// The repository.
    pub root: PathBuf,
    /// A folder for files.
    pub work: PathBuf,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Done {
    /// On the CPU.
    Cpu(ProgramFacts),
    /// On the device.
    Device(Run),
}

/// Input and native code's output.
struct Files {
    input: PathBuf,
    output: PathBuf,
    own: bool,
}

impl Drop for Files {
    fn drop(&mut self) {
        if self.own {
            let _ = std::fs::remove_file(&self.input);
            let _ = std::fs::remove_file(&self.output);
        }
    }
}

fn bindings(input: &Path, output: &Path) -> Bindings {
    Bindings { input: Some(text(input)), output: Some(text(output)), ..Bindings::default() }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

impl Task {
    /// The program.
    fn benchmark(&self) -> Result<&'static Benchmark, String> {
        program(&self.program).ok_or_else(|| format!("there is no program {}", self.program))
    }

    fn file(&self, end: &str) -> PathBuf {
        self.work.join(format!("{}.{end}", self.program))
    }

    fn options(&self, b: &Benchmark) -> ProgramOptions {
        ProgramOptions { files: vec![text(&b.program(&self.root, None))], ..ProgramOptions::default() }
    }

    /// Writes so many steady states of input, and what native code makes of them.
    fn make_files(&self, b: &Benchmark, steady: u64, (from, to): (&Path, &Path)) -> Result<(), String> {
        std::fs::write(from, bytes(&b.input(steady as usize * b.input.1))).map_err(|e| e.to_string())?;
        let how = RunOptions { bindings: bindings(from, to), ..RunOptions::default() };
        match commands::run(&self.options(b), CodeChoices::default(), &NativeOptions::default(), how) {
            Exit::Ok => Ok(()),
            _ => Err("native code fails: see above".into()),
        }
    }

    /// The files of all schemes, or such of its own where they are too short for one.
    fn files(&self, b: &Benchmark, steady: u64) -> Result<Files, String> {
        let shared = Files { input: self.file("in.raw"), output: self.file("out.raw"), own: false };
        let there = std::fs::metadata(&shared.input).map_err(|e| format!("{}: {e}", shared.input.display()))?.len();
        if there / work::bytes(b).0 >= steady {
            return Ok(shared);
        }
        let most = if self.emulate { MOST_EMULATED_INPUT } else { MOST_INPUT };
        if steady.saturating_mul(step_bytes(b)) > most {
            return Err(format!("its schedule has {steady} steady states in two iterations: more bytes than {most}"));
        }
        let end =
            |end: &str| self.file(&format!("{}-{}.{end}", self.variant.clone().unwrap_or_default(), self.fast_math));
        let own = Files { input: end("in.raw"), output: end("want.raw"), own: true };
        self.make_files(b, steady, (&own.input, &own.output))?;
        Ok(own)
    }

    /// Bytes of a batch of this program.
    fn batch(&self, b: &Benchmark) -> Result<u64, String> {
        Ok(if b.stateful(&self.root)? { self.batch_bytes.min(STATEFUL_BATCH) } else { self.batch_bytes })
    }

    /// Compiles and loads what is to be measured.
    pub fn prepare(&self) -> Result<Prepared, String> {
        let b = self.benchmark()?;
        match &self.variant {
            None => self.prepare_cpu(b),
            Some(name) => {
                let variant = variant(name).ok_or_else(|| format!("there is no scheme {name}"))?;
                let prepared = match variant.profiled && !self.emulate {
                    false => self.prepare_device(b, variant).map(|device| Prepared::Device(Box::new(device))),
                    true => self.compile_ahead(b).map(|()| Prepared::Profiled(self.clone())),
                };
                prepared.map_err(said)
            }
        }
    }

    fn prepare_cpu(&self, b: &'static Benchmark) -> Result<Prepared, String> {
        let steady = self.batch(b)? / step_bytes(b).max(1) + 1;
        self.make_files(b, BATCHES * steady, (&self.file("in.raw"), &self.file("out.raw")))?;
        let library = self.work.join(format!("lib{}.so", b.name));
        let product = (BuildProduct::Library, &CudaBuildOptions::default());
        let built = commands::build(
            &self.options(b),
            CodeChoices::default(),
            &NativeOptions::default(),
            product,
            Some(&text(&library)),
        );
        if built != Exit::Ok {
            return Err("there is no native library: see above".into());
        }
        let compiled = Compiled::open(&library, b.name, (b.input.0.words(), b.output.0.words()))?;
        Ok(Prepared::Cpu(Box::new(Cpu { facts: self.facts(b)?, b, compiled, emulate: self.emulate })))
    }

    /// Bytes and operations of a steady state.
    fn facts(&self, b: &Benchmark) -> Result<ProgramFacts, String> {
        let Work { input_bytes, output_bytes, floats, ints, .. } = work::of(b, &self.root).map_err(said)?;
        Ok(ProgramFacts {
            name: b.name.into(),
            input_bytes,
            output_bytes,
            float_operations: floats,
            int_operations: ints,
            needed_operations: Some(work::needed(b, &self.root).map_err(said)?),
            cpu: None,
        })
    }

    /// The program as a device runs it.
    fn checked(&self, b: &Benchmark) -> Result<(Session, Checked, CodeOptions), Halt> {
        let options = self.options(b);
        let mut session = Session::new(&options, false)?;
        let checked = pipeline::check(&mut session, &options)?;
        let choices = CodeChoices { fast_math: Some(self.fast_math), ..CodeChoices::default() };
        let code = choices.options(&options);
        let checked = as_run(&mut session, &checked, &code)?.unwrap_or(checked);
        Ok((session, checked, code))
    }

    /// The code that a profile runs, compiled while others measure.
    fn compile_ahead(&self, b: &Benchmark) -> Result<(), Halt> {
        let (mut session, checked, code) = self.checked(b)?;
        profiling::compile_ahead(&mut session, &checked, &code, &GpuProfileOptions::default())
    }

    /// What a profile chooses; on the emulated device, whose times mean nothing, something that differs from filter to filter.
    fn chosen(&self, session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Chosen, Halt> {
        let nodes = checked.program.graph.nodes.len();
        if self.emulate {
            let threads = (0..nodes).map(|v| EMULATED_THREADS << (v % 2)).collect();
            let (registers, block) = (64, EMULATED_THREADS * 2);
            return Ok(Chosen { registers, block, threads, nanoseconds: vec![None; nodes] });
        }
        let (profile, _) = profiling::profile(session, checked, code, &GpuProfileOptions::default())?;
        let nanoseconds: Vec<Option<f64>> = profile.streams.iter().map(|s| s.nanoseconds).collect();
        profile.chosen(&nanoseconds).ok_or_else(|| Fault::internal("a GPU's profile chooses nothing").into())
    }

    fn prepare_device(&self, b: &'static Benchmark, variant: Variant) -> Result<OnDevice, Halt> {
        let (mut session, checked, code) = self.checked(b)?;
        let chosen = match variant.profiled {
            true => Some(self.chosen(&mut session, &checked, &code)?),
            false => None,
        };
        let repeat = if self.emulate {
            Repeat { warm_up: 1, measurements: 2, least: 0.0, most: 0.0 }
        } else {
            Repeat { warm_up: 3, measurements: 15, least: 5.0, most: 800.0 }
        };
        let mut timing = None;
        let mut timed = |device| -> Box<dyn Device> {
            let (timed, outcome) = Timed::new(device, repeat);
            timing = Some(outcome);
            Box::new(timed)
        };
        let program = (b, variant, chosen.as_ref());
        let (native, about) = self.native(&mut session, (&checked, &code), program, true, &mut timed)?;
        // whole runs have their transfers go on beside the kernels, as programs do
        let whole = match sliced(variant.scheme) && !self.emulate {
            true => Some(self.native(&mut session, (&checked, &code), program, false, &mut |device| device)?.0),
            false => None,
        };
        let (readers, writers) = host::ends(&checked.program.graph, &checked.program.globals)?;
        let timing = timing.ok_or_else(|| Fault::internal("the program has no kernels"))?;
        // a batch, two iterations at least, and what comes before the first
        let steady = about.wanted.div_ceil(step_bytes(b).max(1)) + about.unit;
        let files = self.files(b, steady.max(2 * about.unit) + about.unit.min(64)).map_err(Fault::input)?;
        Ok(OnDevice { task: self.clone(), b, native, whole, readers, writers, timing, about, files })
    }

    /// The program by a scheme, compiled and loaded on a device that `around` may have something around. Its batches are whole ones from the first on, and `resident` ones, whose data is
    /// there before, are not cut into slices: these are launches more.
    fn native(
        &self,
        session: &mut Session,
        (checked, code): (&Checked, &CodeOptions),
        (b, variant, chosen): (&'static Benchmark, Variant, Option<&Chosen>),
        resident: bool,
        around: &mut dyn FnMut(Box<dyn Device>) -> Box<dyn Device>,
    ) -> Result<(Native, About), Halt> {
        let cuda = CudaOptions {
            emulate: self.emulate,
            scheme: Some(variant.scheme),
            coarsen: Some(variant.coarsen),
            processors: self.emulate.then_some(2),
            block_threads: self.emulate.then_some(EMULATED_THREADS),
            ..CudaOptions::default()
        };
        let wanted = self.batch(b).map_err(Fault::internal)?;
        let (step, emulate) = (step_bytes(b), self.emulate);
        let mut about = About::default();
        let told = &mut about;
        let emit =
            |session: &mut Session, checked: &Checked, code: &CodeOptions, cuda: &CudaOptions, target: &run::Target| {
                let mut choices = texts::choices(cuda, target)?;
                choices.options.whole_batches = true;
                if resident {
                    choices.options.slice_bytes = u64::MAX;
                }
                // whole iterations: a batch of fewer bytes than that may be one less than is wanted
                choices.options.batch_bytes = wanted + wanted / 4;
                if let Some(chosen) = chosen {
                    texts::heed(&mut choices, chosen, "measured before".into());
                }
                let flavour = (sluice_codegen::Flavour::Plugin, "program");
                let mut made = emit::emit(session, checked, code, &choices, flavour)?;
                let iteration = made.plan.problem.graph().batch * step;
                let filled = if !emulate && pipelined(variant.scheme) { ITERATIONS * iteration } else { 0 };
                let more = filled.min(MOST_BATCH).max(wanted + iteration);
                if !emulate && !variant.scheme.is_fused() && more > choices.options.batch_bytes {
                    choices.options.batch_bytes = more;
                    made = emit::emit(session, checked, code, &choices, flavour)?;
                }
                *told = About::of(&made, variant.scheme, step);
                told.wanted = wanted;
                let registers = choices.options.registers;
                told.configuration = registers.map(|n| (choices.threads, n));
                let kernels = made.program.kernels.into_iter().map(|k| k.name).collect();
                Ok(run::Texts {
                    host: made.program.host,
                    device: made.program.device,
                    kernels,
                    registers,
                    tiles: made.program.tiles,
                })
            };
        let (native, _) = run::prepare_on(session, checked, code, &NativeOptions::default(), &cuda, emit, around)?;
        Ok((native, about))
    }
}

/// Why there is nothing to measure.
fn said(halt: Halt) -> String {
    match halt {
        Halt::Fault(fault) => fault.to_string(),
        Halt::Done(_) => "the program is refused: see above".to_string(),
    }
}

/// Bytes of a steady state at both ends.
fn step_bytes(b: &Benchmark) -> u64 {
    let (input, output) = work::bytes(b);
    input.max(output)
}

/// Does a scheme launch its kernels for each slice of a batch?
fn sliced(scheme: Scheme) -> bool {
    scheme.is_fused() || scheme == Scheme::SwpPersistent
}

/// Why a batch of so many bytes is none to be measured.
pub fn too_small(bytes: u64, wanted: u64) -> Option<String> {
    (bytes < wanted).then(|| format!("too small: the batch had {bytes} bytes at its larger end, {wanted} are wanted"))
}

fn pipelined(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Swp | Scheme::SwpNc | Scheme::SwpPersistent)
}

/// What code generation says.
#[derive(Clone, Debug, Default)]
struct About {
    channel_bytes: u64,
    arena_bytes: u64,
    ii: Option<(u64, u64)>,
    /// Steady states of an iteration, and iterations that drain the pipeline.
    unit: u64,
    drain: u64,
    /// Bytes of a batch's input or output that are wanted at least.
    wanted: u64,
    /// By kernel: its name in the program, and predicted cycles per steady state.
    kernels: Vec<(String, Option<f64>)>,
    /// Threads of a block and registers of a thread, where a profile has chosen.
    configuration: Option<(u32, u32)>,
}

impl About {
    fn of(made: &emit::Emitted, scheme: Scheme, step: u64) -> About {
        let graph = made.plan.problem.graph();
        let named = |name: &str| {
            let task = name.strip_prefix("sl_serial_").and_then(|v| graph.tasks.get(v.parse::<usize>().ok()?));
            task.map_or((name.to_string(), None), |t| {
                (t.name.clone(), Some(t.cost as f64 * t.instances as f64 / graph.batch as f64))
            })
        };
        About {
            channel_bytes: made.program.channel_bytes,
            arena_bytes: made.program.arena_bytes,
            ii: pipelined(scheme).then(|| (made.outcome.verified.schedule().ii, graph.batch)),
            // regions run tiles, of some thousand bytes
            unit: if scheme.is_fused() { (FUSED_TILE / step.max(1)).clamp(1, 1024) } else { graph.batch },
            drain: made.outcome.verified.schedule().stages().saturating_sub(1).into(),
            wanted: 0,
            kernels: made.program.kernels.iter().map(|k| named(&k.name)).collect(),
            configuration: None,
        }
    }
}

/// Ready to be measured.
pub enum Prepared {
    /// On the CPU.
    Cpu(Box<Cpu>),
    /// On the device.
    Device(Box<OnDevice>),
    /// On the device, as a profile says: that is taken when nobody else measures.
    Profiled(Task),
}

impl Prepared {
    /// Measures.
    pub fn measure(self) -> Result<Done, String> {
        match self {
            Prepared::Cpu(cpu) => cpu.measure().map(Done::Cpu),
            Prepared::Device(device) => device.measure().map(Done::Device),
            Prepared::Profiled(task) => {
                let name = task.variant.clone().unwrap_or_default();
                let variant = variant(&name).ok_or_else(|| format!("there is no scheme {name}"))?;
                task.prepare_device(task.benchmark()?, variant).map_err(said)?.measure().map(Done::Device)
            }
        }
    }
}

/// Native code in a library.
pub struct Cpu {
    facts: ProgramFacts,
    b: &'static Benchmark,
    compiled: Compiled,
    emulate: bool,
}

impl Cpu {
    fn measure(mut self) -> Result<ProgramFacts, String> {
        let (items, repetitions) = if self.emulate { (2000, 2) } else { (CPU_ITEMS, CPU_REPETITIONS) };
        let input = self.b.input(items);
        let steady = input.len() / self.b.input.0.words() / self.b.input.1;
        let mut times = Vec::new();
        for round in 0..=repetitions {
            let mut output = Vec::with_capacity(input.len() * 10);
            let mut result = Ok(None);
            let time = seconds(|| result = self.compiled.run(&input, &mut output));
            result?;
            // the first one warms up
            if round > 0 {
                times.push(time * 1e9 / steady as f64);
            }
        }
        self.facts.cpu = Times::of(times);
        Ok(self.facts)
    }
}

/// A program with its device.
pub struct OnDevice {
    task: Task,
    b: &'static Benchmark,
    native: Native,
    /// For whole runs, where it is another one.
    whole: Option<Native>,
    readers: Vec<End>,
    writers: Vec<End>,
    timing: Outcome,
    about: About,
    files: Files,
}

impl OnDevice {
    fn run(&self, native: &Native, output: &Path) -> Result<f64, String> {
        let out = Out::to(Box::new(std::io::sink()));
        let bindings = bindings(&self.files.input, output);
        let mut host = Host::open_to(&self.readers, &self.writers, &bindings, out).map_err(|f| f.to_string())?;
        let mut end = Ok(());
        let time = seconds(|| end = native.run(&self.readers, &self.writers, None, &mut host));
        match end {
            Ok(()) => host.finish().map(|_| time).map_err(|f| f.to_string()),
            Err(why) => {
                host.abandon();
                Err(match why {
                    NativeEnd::Fault(fault) => fault.to_string(),
                    NativeEnd::Program(error) => error.message,
                })
            }
        }
    }

    fn measure(self) -> Result<Run, String> {
        let variant = self.task.variant.clone().unwrap_or_default();
        let output = self.task.work.join(format!("{}-{variant}-{}.out.raw", self.b.name, self.task.fast_math));
        let before = self.native.launches();
        self.run(&self.native, &output)?;
        if self.native.launches() == before {
            return Err(format!("no kernel was started: an iteration has {} steady states", self.about.unit));
        }
        let timing = match self.timing.borrow_mut().take() {
            Some(Ok(timing)) => timing,
            Some(Err(fault)) => return Err(fault.to_string()),
            None => return Err("the run had no batch".into()),
        };
        let bytes = timing.steady_states * step_bytes(self.b);
        if let Some(why) = too_small(bytes, self.about.wanted) {
            return Err(why);
        }
        let read = |path: &Path| std::fs::read(path).map(|b| words(&b)).map_err(|e| format!("{}: {e}", path.display()));
        let (ours, theirs) = (read(&output)?, read(&self.files.output)?);
        // functions of CUDA differ in the last bit from the CPU's; contraction rounds once where two operations round twice
        let functions = work::of(self.b, &self.task.root).map_err(said)?.functions;
        let exact = !self.task.fast_math && (self.task.emulate || functions == 0);
        let difference = self.b.compare(&ours, &theirs, if exact { 0.0 } else { 1e-3 });
        let difference = difference.map_err(|why| format!("wrong output: {why}"))?;
        let (input, _) = work::bytes(self.b);
        let steady = std::fs::metadata(&self.files.input).map_err(|e| e.to_string())?.len() / input;
        let mut whole = Vec::new();
        if !self.task.emulate {
            for _ in 0..RUNS {
                // the device measures in the first run only
                whole
                    .push(self.run(self.whole.as_ref().unwrap_or(&self.native), &output)? * 1e9 / steady.max(1) as f64);
            }
        }
        let _ = std::fs::remove_file(&output);
        let per = 1e6 / timing.steady_states.max(1) as f64;
        let kernels = timing.kernels.iter().map(|(k, launches, milliseconds)| {
            let (name, predicted) = self.about.kernels.get(*k as usize).cloned().unwrap_or_default();
            KernelTime { name, launches: *launches, ns: milliseconds * per, predicted }
        });
        Ok(Run {
            program: self.b.name.into(),
            variant,
            fast_math: self.task.fast_math,
            failed: None,
            words: ours.len(),
            difference,
            steady_states: timing.steady_states,
            launches: timing.launches,
            resident: Times::of(timing.batch.iter().map(|ms| ms * per).collect()),
            end_to_end: Times::of(whole),
            channel_bytes: self.about.channel_bytes,
            arena_bytes: self.about.arena_bytes,
            intervals: match self.about.ii {
                Some((_, unit)) => timing.steady_states / unit.max(1) + self.about.drain,
                None => 0,
            },
            ii: self.about.ii,
            configuration: self.about.configuration,
            kernels: kernels.collect(),
        })
    }
}
