//! # work
//!
//! Purpose: one program by one scheme. Input: a [`Task`]. Output: [`Prepared`], compiled and loaded, which then measures: [`Run`], or for the CPU
//! [`ProgramFacts`].

#![allow(clippy::disallowed_methods)] // it reads and writes files and measures time

use super::document::{ProgramFacts, Run};
use super::measured::{Cpu, OnDevice, Prepared};
use crate::beside::{Compiled, bytes};
use crate::suite::needed::{self, Needed};
use crate::suite::work::{self, Work};
use crate::suite::{Benchmark, SUITE};
use serde::{Deserialize, Serialize};
use sluice_driver::as_run::as_run;
use sluice_driver::commands;
use sluice_driver::cuda::device::Device;
use sluice_driver::cuda::profiling::{self, GpuProfileOptions};
use sluice_driver::cuda::timed::{Repeat, Timed};
use sluice_driver::cuda::{emit, run, texts};
use sluice_driver::exit::{Exit, Fault};
use sluice_driver::io::host::{self, Bindings};
use sluice_driver::native::Native;
use sluice_driver::options::{
    BuildProduct, CodeChoices, CodeOptions, CudaBuildOptions, CudaOptions, NativeOptions, ProgramOptions, RunOptions,
    Scheme,
};
use sluice_driver::pipeline::{self, Checked, Halt};
use sluice_driver::profile::gpu::Chosen;
use sluice_driver::session::Session;
use std::path::{Path, PathBuf};

/// Inputs have so many halves of a batch of the wanted bytes: one is measured, which is a little larger, and the rest is more than nothing.
const HALF_BATCHES: u64 = 3;
/// Iterations of a schedule in a batch at least, as far as their bytes are no more than this: filling and draining the pipeline is part of a batch.
const ITERATIONS: u64 = 8;
const MOST_BATCH: u64 = 400 << 20;
/// Bytes of an input for what comes before the first batch.
const MARGIN: u64 = 8 << 20;
/// The most bytes of an input, or an output; emulated ones are slow.
const MOST_INPUT: u64 = 600 << 20;
const MOST_EMULATED_INPUT: u64 = 4 << 20;
/// Bytes at an end that a tile of the scheme fused has at most, about.
const FUSED_TILE: u64 = 16 << 10;
/// Threads of a block, emulated.
const EMULATED_THREADS: u32 = 32;
/// Bytes of a batch of a program with state: a filter runs on one thread there.
const STATEFUL_BATCH: u64 = 256 << 10;
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

impl Variant {
    /// Are whole runs measured, too?
    fn whole(&self) -> bool {
        ["fused", "fused-warps", "SWP8", "Serial"].contains(&self.name)
    }
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
pub(super) struct Files {
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
    pub(super) own: bool,
}

impl Drop for Files {
    fn drop(&mut self) {
        if self.own {
            let _ = std::fs::remove_file(&self.input);
            let _ = std::fs::remove_file(&self.output);
        }
    }
}

pub(super) fn bindings(input: &Path, output: &Path) -> Bindings {
    Bindings { input: Some(text(input)), output: Some(text(output)), ..Bindings::default() }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Profiles are short ones: all measurements are one after the other.
const PROFILED: GpuProfileOptions =
    GpuProfileOptions { gpu: None, emulate: false, arch: None, machine: None, output: None, json: false, quick: true };

impl Task {
    /// The program.
    pub(super) fn benchmark(&self) -> Result<&'static Benchmark, String> {
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
            return Err(format!("a batch of whole iterations has {steady} steady states: more bytes than {most}"));
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
                    false => self.prepare_device(b, variant, None).map(|device| Prepared::Device(Box::new(device))),
                    true => self.compile_ahead(b).map(|()| Prepared::Profile(Box::new(self.clone()))),
                };
                prepared.map_err(said)
            }
        }
    }

    fn prepare_cpu(&self, b: &'static Benchmark) -> Result<Prepared, String> {
        let steady = self.batch(b)? / step_bytes(b).max(1) + 1;
        self.make_files(b, (HALF_BATCHES * steady).div_ceil(2), (&self.file("in.raw"), &self.file("out.raw")))?;
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
        let Needed { exact, free } = needed::of(b, &self.root).map_err(said)?;
        Ok(ProgramFacts {
            name: b.name.into(),
            input_bytes,
            output_bytes,
            float_operations: floats,
            int_operations: ints,
            needed_operations: Some(free),
            exact_operations: Some(exact),
            cpu: None,
        })
    }

    /// The program as a device runs it.
    fn checked(&self, b: &Benchmark) -> Result<(Session, Checked, CodeOptions), Halt> {
        let options = self.options(b);
        let mut session = Session::new(&options, false)?;
        let checked = pipeline::check(&mut session, &options)?;
        let choices = CodeChoices { fast_math: Some(self.fast_math), ..CodeChoices::default() };
        let mut code = choices.options(&options);
        if self.emulate {
            // no time of it is shown
            code.cc.level = 0;
        }
        let checked = as_run(&mut session, &checked, &code)?.unwrap_or(checked);
        Ok((session, checked, code))
    }

    /// The code that a profile runs, compiled while others measure.
    fn compile_ahead(&self, b: &Benchmark) -> Result<(), Halt> {
        let (mut session, checked, code) = self.checked(b)?;
        profiling::compile_ahead(&mut session, &checked, &code, &PROFILED)
    }

    /// What a profile chooses.
    pub(super) fn profile(&self) -> Result<Chosen, Halt> {
        let (mut session, checked, code) = self.checked(self.benchmark().map_err(Fault::internal)?)?;
        let (profile, _) = profiling::profile(&mut session, &checked, &code, &PROFILED)?;
        let nanoseconds: Vec<Option<f64>> = profile.streams.iter().map(|s| s.nanoseconds).collect();
        profile.chosen(&nanoseconds).ok_or_else(|| Fault::internal("a GPU's profile chooses nothing").into())
    }

    /// On the emulated device, whose times mean nothing, something that differs from filter to filter.
    fn emulated_profile(checked: &Checked) -> Chosen {
        let nodes = checked.program.graph.nodes.len();
        let threads = (0..nodes).map(|v| EMULATED_THREADS << (v % 2)).collect();
        let (registers, block) = (64, EMULATED_THREADS * 2);
        Chosen { registers, block, threads, nanoseconds: vec![None; nodes] }
    }

    pub(super) fn prepare_device(
        &self,
        b: &'static Benchmark,
        variant: Variant,
        chosen: Option<Chosen>,
    ) -> Result<OnDevice, Halt> {
        let (mut session, checked, code) = self.checked(b)?;
        let chosen = chosen.or_else(|| variant.profiled.then(|| Task::emulated_profile(&checked)));
        let repeat = if self.emulate {
            Repeat { warm_up: 1, measurements: 2, least: 0.0, most: 0.0 }
        } else {
            Repeat { warm_up: 2, measurements: 15, least: 5.0, most: 400.0 }
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
        let whole_runs = variant.whole() && !self.fast_math && !self.emulate;
        let whole = match sliced(variant.scheme) && whole_runs {
            true => Some(self.native(&mut session, (&checked, &code), program, false, &mut |device| device)?.0),
            false => None,
        };
        let (readers, writers) = host::ends(&checked.program.graph, &checked.program.globals)?;
        let timing = timing.ok_or_else(|| Fault::internal("the program has no kernels"))?;
        // a batch, of emulated ones two iterations at least, and what comes before the first
        let (graph, firings) = (&checked.program.graph, &checked.program.steady);
        let before = graph.node_ids().map(|v| firings.init[v.index()] / firings.repetitions[v.index()].max(1)).max();
        let batch = about.wanted.div_ceil(step_bytes(b).max(1)) + about.unit + before.unwrap_or(0);
        let steady = match (self.emulate, about.iterations) {
            (true, _) => batch.max(2 * about.unit + before.unwrap_or(0)) + about.unit.min(64),
            (false, 0) => batch + about.unit.min(1024),
            (false, n) => n * about.unit + before.unwrap_or(0) + about.unit.min(1024),
        };
        let files = self.files(b, steady).map_err(Fault::input)?;
        Ok(OnDevice { task: self.clone(), b, native, whole, whole_runs, readers, writers, timing, about, files })
    }

    /// The program by a scheme, compiled and loaded on a device that `around` may have something around. If it is `resident`, its data is there before: its batches are whole ones from the first on, and
    /// not cut into slices, which are launches more. Else it has batches as programs have them.
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
                if resident {
                    choices.options.whole_batches = true;
                    choices.options.slice_bytes = u64::MAX;
                    // whole iterations: a batch of fewer bytes than that may be one less than is wanted
                    choices.options.batch_bytes = wanted + wanted / 4;
                }
                if let Some(chosen) = chosen {
                    texts::heed(&mut choices, chosen, "measured before".into());
                }
                let flavour = (sluice_codegen::Flavour::Plugin, "program");
                let mut made = emit::emit(session, checked, code, &choices, flavour)?;
                let iterations = iterations(variant.scheme, wanted, made.plan.problem.graph().batch * step);
                let more = iterations * made.plan.problem.graph().batch * step;
                if !emulate && !variant.scheme.is_fused() && more > choices.options.batch_bytes {
                    choices.options.batch_bytes = more;
                    made = emit::emit(session, checked, code, &choices, flavour)?;
                }
                *told = About::of(&made, variant.scheme, step);
                told.iterations = if variant.scheme.is_fused() { 0 } else { iterations };
                told.wanted = wanted;
                let registers = choices.options.registers;
                told.configuration = registers.map(|n| (choices.threads, n));
                Ok(run::Texts::of(made, registers))
            };
        let ready = run::prepare_on(session, checked, code, &NativeOptions::default(), &cuda, emit, around)?;
        Ok((ready.native, about))
    }
}

/// Why there is nothing to measure.
pub(super) fn said(halt: Halt) -> String {
    match halt {
        Halt::Fault(fault) => fault.to_string(),
        Halt::Done(_) => "the program is refused: see above".to_string(),
    }
}

/// Bytes of a steady state at both ends.
pub(super) fn step_bytes(b: &Benchmark) -> u64 {
    let (input, output) = work::bytes(b);
    input.max(output)
}

/// Iterations of a batch, each of so many bytes: those of the wanted bytes, and as many as leave little of it to filling and draining the pipeline, as far as there may be so much.
fn iterations(scheme: Scheme, wanted: u64, iteration: u64) -> u64 {
    let iteration = iteration.max(1);
    let filled = if pipelined(scheme) { ITERATIONS.min(MOST_BATCH / iteration) } else { 0 };
    wanted.div_ceil(iteration).max(filled).min((MOST_INPUT - MARGIN) / iteration).max(1)
}

/// Does a scheme launch its kernels for each slice of a batch?
fn sliced(scheme: Scheme) -> bool {
    scheme.is_fused() || scheme == Scheme::SwpPersistent
}

fn pipelined(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Swp | Scheme::SwpNc | Scheme::SwpPersistent)
}

/// What code generation says.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    pub(super) channel_bytes: u64,
    pub(super) arena_bytes: u64,
    pub(super) ii: Option<(u64, u64)>,
    /// Steady states of an iteration, and iterations that drain the pipeline.
    pub(super) unit: u64,
    pub(super) drain: u64,
    /// Bytes of a batch's input or output that are wanted at least, and iterations.
    pub(super) wanted: u64,
    pub(super) iterations: u64,
    /// By kernel: its name in the program, and predicted cycles per steady state.
    pub(super) kernels: Vec<(String, Option<f64>)>,
    /// Threads of a block and registers of a thread, where a profile has chosen.
    pub(super) configuration: Option<(u32, u32)>,
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
            iterations: 0,
            kernels: made.program.kernels.iter().map(|k| named(&k.name)).collect(),
            configuration: None,
        }
    }
}
