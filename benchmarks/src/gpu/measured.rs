//! # measured
//!
//! Purpose: what is measured of one program by one scheme. Input: [`Prepared`], by a [`Task`]. Output: [`Measured`], for which the device was needed, and what comes [`Next`], for which it is not:
//! the output compared with native code's, or what a profile is for.

#![allow(clippy::disallowed_methods)] // it reads files and measures time

use super::document::{KernelTime, ProgramFacts, Run, Times};
use super::work::{About, Done, Files, Task, bindings, said, step_bytes, variant};
use crate::beside::{Compiled, Program, words};
use crate::measure::seconds;
use crate::suite::Benchmark;
use crate::suite::work;
use sluice_driver::cuda::timed::Outcome;
use sluice_driver::io::host::{End, Host};
use sluice_driver::io::sink::Out;
use sluice_driver::native::{Native, NativeEnd};
use sluice_driver::profile::gpu::Chosen;
use std::path::{Path, PathBuf};

/// Items of a repetition on the CPU, and repetitions.
const CPU_ITEMS: usize = 1 << 17;
const CPU_REPETITIONS: usize = 31;

/// Why a batch of so many bytes is none to be measured.
pub fn too_small(bytes: u64, wanted: u64) -> Option<String> {
    (bytes < wanted).then(|| format!("too small: the batch had {bytes} bytes at its larger end, {wanted} are wanted"))
}

/// Ready to be measured.
pub enum Prepared {
    /// On the CPU.
    Cpu(Box<Cpu>),
    /// On the device.
    Device(Box<OnDevice>),
    /// A profile is to be taken, by which it is prepared.
    Profile(Box<Task>),
}

/// What was measured, before anybody has looked at the output.
pub enum Measured {
    /// On the CPU.
    Cpu(Box<ProgramFacts>),
    /// On the device.
    Device(Box<Compared>),
    /// What a profile has chosen.
    Profile(Box<Task>, Chosen),
}

/// What comes next, for which the device is not needed.
pub enum Next {
    /// Nothing.
    Done(Box<Done>),
    /// Another measurement.
    Prepared(Prepared),
}

impl Prepared {
    /// Measures; the device is not needed any more when this ends. It says what it does.
    pub fn measured(self, says: &mut dyn FnMut(&str)) -> Result<Measured, String> {
        match self {
            Prepared::Cpu(cpu) => cpu.measure().map(|facts| Measured::Cpu(Box::new(facts))),
            Prepared::Device(device) => device.measure(says).map(|run| Measured::Device(Box::new(run))),
            Prepared::Profile(task) => {
                says("took a profile");
                let chosen = task.profile().map_err(said)?;
                Ok(Measured::Profile(task, chosen))
            }
        }
    }

    /// All of it.
    pub fn measure(self) -> Result<Done, String> {
        let mut prepared = self;
        loop {
            match prepared.measured(&mut |_| {})?.next()? {
                Next::Done(done) => return Ok(*done),
                Next::Prepared(next) => prepared = next,
            }
        }
    }
}

impl Measured {
    /// Compares the output, or prepares by a profile.
    pub fn next(self) -> Result<Next, String> {
        Ok(match self {
            Measured::Cpu(facts) => Next::Done(Box::new(Done::Cpu(*facts))),
            Measured::Device(run) => Next::Done(Box::new(Done::Device(run.compare()?))),
            Measured::Profile(task, chosen) => {
                let name = task.variant.clone().unwrap_or_default();
                let variant = variant(&name).ok_or_else(|| format!("there is no scheme {name}"))?;
                let device = task.prepare_device(task.benchmark()?, variant, Some(chosen)).map_err(said)?;
                Next::Prepared(Prepared::Device(Box::new(device)))
            }
        })
    }
}

/// Native code in a library.
pub struct Cpu {
    pub(super) facts: ProgramFacts,
    pub(super) b: &'static Benchmark,
    pub(super) compiled: Compiled,
    pub(super) emulate: bool,
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
    pub(super) task: Task,
    pub(super) b: &'static Benchmark,
    pub(super) native: Native,
    /// For whole runs, where it is another one.
    pub(super) whole: Option<Native>,
    pub(super) whole_runs: bool,
    pub(super) readers: Vec<End>,
    pub(super) writers: Vec<End>,
    pub(super) timing: Outcome,
    pub(super) about: About,
    pub(super) files: Files,
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

    fn measure(self, says: &mut dyn FnMut(&str)) -> Result<Compared, String> {
        let variant = self.task.variant.clone().unwrap_or_default();
        let file = |end: &str| self.task.work.join(format!("{}-{variant}-{}.{end}", self.b.name, self.task.fast_math));
        let output = Output(file("out.raw"));
        let before = self.native.launches();
        says("ran for the first time, and measured its kernels");
        self.run(&self.native, &output.0)?;
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
        let mut whole = Vec::new();
        if self.whole_runs {
            says("ran as a whole");
            let (input, _) = work::bytes(self.b);
            let steady = std::fs::metadata(&self.files.input).map_err(|e| e.to_string())?.len() / input.max(1);
            let again = Output(file("again.raw"));
            // the device measures in the first run only, which is the one that warms up where it is the same program
            if let Some(native) = &self.whole {
                self.run(native, &again.0)?;
            }
            let native = self.whole.as_ref().unwrap_or(&self.native);
            whole.push(self.run(native, &again.0)? * 1e9 / steady.max(1) as f64);
        }
        let per = 1e6 / timing.steady_states.max(1) as f64;
        let kernels = timing.kernels.iter().map(|(k, launches, milliseconds)| {
            let (name, predicted) = self.about.kernels.get(*k as usize).cloned().unwrap_or_default();
            KernelTime { name, launches: *launches, ns: milliseconds * per, predicted }
        });
        let run = Run {
            program: self.b.name.into(),
            variant,
            fast_math: self.task.fast_math,
            failed: None,
            words: 0,
            difference: 0.0,
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
        };
        Ok(Compared { run, of: self, output })
    }
}

/// A file that is removed.
struct Output(PathBuf);

impl Drop for Output {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A run whose output is to be compared.
pub struct Compared {
    run: Run,
    of: OnDevice,
    output: Output,
}

impl Compared {
    fn compare(self) -> Result<Run, String> {
        let read = |path: &Path| std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
        let (ours, theirs) = (read(&self.output.0)?, read(&self.of.files.output)?);
        let mut run = self.run;
        run.words = ours.len() / 4;
        if ours != theirs {
            // functions of CUDA differ in the last bit from the CPU's; contraction rounds once where two operations round twice
            let task = &self.of.task;
            let functions = work::of(self.of.b, &task.root).map_err(said)?.functions;
            let exact = !task.fast_math && (task.emulate || functions == 0);
            let difference = self.of.b.compare(&words(&ours), &words(&theirs), if exact { 0.0 } else { 1e-3 });
            run.difference = difference.map_err(|why| format!("wrong output: {why}"))?;
        }
        Ok(run)
    }
}
