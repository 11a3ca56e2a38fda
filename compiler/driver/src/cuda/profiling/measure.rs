//! Kernels on a device, one at a time: a launch on all multiprocessors (of what has state, on one), so many rounds that events tell its time well; once in vain, then several times over. All memory is
//! zero at first. A filter that fails on zeros is not measured, nor one that prints.

#![allow(unsafe_code)] // copies from the device's memory

use super::Subject;
use crate::cuda::device::{Device, Launch, Stream};
use crate::cuda::emulate::Emulator;
use crate::cuda::gpu::Gpu;
use crate::cuda::run;
use crate::exit::{Exit, Fault};
use crate::profile::gpu::THREADS;
use sluice_codegen::cuda::{ProfileKernel, ProfileText};
use sluice_frontend::graph::NodeKind;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Firings of a block in a measurement, at least: a multiple of all numbers of threads, so that all have the same work.
const FIRINGS: u64 = 3072;
/// Bytes of the status at the start of the arena.
const STATUS: usize = 64;
/// The events that are used.
const BEGIN: u32 = 0;
const END: u32 = 1;

/// A launch that takes longer does not end.
const LONGEST: Duration = Duration::from_secs(10);

/// How often, and how long.
struct Repeat {
    warm_up: usize,
    measurements: usize,
    /// Firings of a block at least.
    firings: u64,
    /// Milliseconds of a launch at least.
    least: f64,
}

const ON_GPU: Repeat = Repeat { warm_up: 1, measurements: 7, firings: FIRINGS, least: 0.5 };
/// A round each, for the emulation is slow.
const EMULATED: Repeat = Repeat { warm_up: 0, measurements: 1, firings: 1, least: 0.0 };

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Nanoseconds of a firing on a multiprocessor, of several measurements the one in the middle.
    pub(super) nanoseconds: f64,
    /// The longest less the shortest, as a part of that.
    pub(super) spread: f64,
    /// Firings of a block.
    firings: u64,
    /// Seconds of all measurements.
    seconds: f64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Samples {
    /// By kernel, threads, limit with code of its own.
    pub(super) of: BTreeMap<(usize, usize, usize), Sample>,
    /// By kernel, why it was not measured.
    pub(super) unmeasured: BTreeMap<usize, String>,
    pub(super) firings: u64,
    pub(super) seconds: f64,
}

impl Samples {
    fn add(&mut self, at: (usize, usize, usize), sample: Sample, blocks: u32) {
        self.firings = self.firings.saturating_add(sample.firings.saturating_mul(blocks.into()));
        self.seconds += sample.seconds;
        self.of.insert(at, sample);
    }

    /// Is there nothing to measure of this kernel?
    fn passes_over(&mut self, subject: &Subject<'_>, kernel: usize, text: &ProfileText) -> bool {
        let graph = &subject.checked.program.graph;
        let prints = |k: &ProfileKernel| {
            k.nodes.iter().any(|v| matches!(graph.node(*v).kind, NodeKind::Filter { prints: true, .. }))
        };
        if prints(&text.kernels[kernel]) {
            self.unmeasured.insert(kernel, "it prints".into());
        }
        self.unmeasured.contains_key(&kernel)
    }
}

/// Measures on a GPU. A kernel that crashes there takes its context with it: the others are measured in a new one.
pub(super) fn on_gpu(subject: &Subject<'_>, gpu: Box<Gpu>, number: u32) -> Result<Samples, Fault> {
    let mut samples = Samples::default();
    let (codes, mut fresh) = (&subject.codes, Some(gpu));
    for built in codes.built() {
        let text = &subject.texts[0];
        let names: Vec<&str> = built.kernels.iter().map(|k| text.kernels[*k].name.as_str()).collect();
        let mut next = 0;
        while next < built.kernels.len() {
            let mut gpu = match fresh.take() {
                Some(gpu) => gpu,
                None => Box::new(Gpu::open(number)?),
            };
            gpu.load(&built.image.bytes, &names, &built.image.compiler)?;
            let mut bench = Bench::new(gpu.as_mut(), subject)?;
            while next < built.kernels.len() {
                let (at, kernel) = (next, built.kernels[next]);
                next += 1;
                if samples.passes_over(subject, kernel, text) {
                    continue;
                }
                let room = |t: &usize| {
                    let registers = codes.needs(kernel, *t, built.limit).registers;
                    subject.has_room(registers.unwrap_or(codes.limits[built.limit]), THREADS[*t])
                };
                let threads: Vec<usize> = codes.threads(built, kernel).into_iter().filter(room).collect();
                match bench.all((kernel, at, built.limit), &threads, &ON_GPU, &mut samples) {
                    Ok(()) => {}
                    // nothing can stop a kernel, and whoever let go of what it uses would wait for it: its process ends with it
                    Err(fault) if bench.stuck => {
                        std::mem::forget(bench);
                        std::mem::forget(gpu);
                        return Err(fault);
                    }
                    // a fault of the kernel, or of what there is room for; what is wrong with the device is told
                    Err(fault) if fault.exit == Exit::Internal => {
                        samples.unmeasured.insert(kernel, fault.message);
                        break;
                    }
                    Err(fault) => return Err(fault),
                }
            }
        }
    }
    Ok(samples)
}

/// The same on the emulated GPU. What it finds wrong with kernels is told.
pub(super) fn emulated(subject: &Subject<'_>) -> Result<Samples, Fault> {
    let mut samples = Samples::default();
    for (object, threads) in &subject.codes.objects {
        let text = &subject.texts[0];
        let mut emulator = Emulator::load(object, subject.processors, run::seed()?)?;
        let mut bench = Bench::new(&mut emulator, subject)?;
        for kernel in 0..text.kernels.len() {
            if !samples.passes_over(subject, kernel, text) {
                bench.all((kernel, kernel, 0), threads, &EMULATED, &mut samples)?;
            }
        }
    }
    Ok(samples)
}

/// The argument of a kernel (`sl_job` in the generated text): rounds, and firings of each; `ends` are readers, then writers.
pub(crate) fn job(arena: u64, ends: &[u64], readers: usize, rounds: u32, firings: u32) -> Vec<u8> {
    let mut job = Vec::new();
    for word in [arena, 0, 0, 0] {
        job.extend(word.to_ne_bytes());
    }
    for word in [rounds, 0, firings, 0] {
        job.extend(word.to_ne_bytes());
    }
    let (readers, writers) = ends.split_at(readers);
    for ends in [readers, writers] {
        ends.iter().for_each(|at| job.extend(at.to_ne_bytes()));
        // an array has one element at least
        if ends.is_empty() {
            job.extend(0u64.to_ne_bytes());
        }
    }
    job
}

/// A device with memory for every kernel.
struct Bench<'d, 's> {
    device: &'d mut dyn Device,
    subject: &'s Subject<'s>,
    arena: u64,
    ends: Vec<u64>,
    /// A kernel does not end.
    stuck: bool,
}

impl<'d, 's> Bench<'d, 's> {
    fn new(device: &'d mut dyn Device, subject: &'s Subject<'s>) -> Result<Bench<'d, 's>, Fault> {
        let mut bench = Bench { device, subject, arena: 0, ends: Vec::new(), stuck: false };
        let texts = &subject.texts;
        let arena = texts.iter().map(|t| t.arena_bytes).max().unwrap_or(0);
        bench.arena = bench.zeros(arena)?;
        for e in 0..texts.first().map_or(0, |t| t.end_bytes.len()) {
            let bytes = texts.iter().map(|t| t.end_bytes[e]).max().unwrap_or(0);
            let end = bench.zeros(bytes)?;
            bench.ends.push(end);
        }
        Ok(bench)
    }

    fn zeros(&mut self, bytes: u64) -> Result<u64, Fault> {
        let at = self.device.allocate(bytes.max(1))?;
        self.device.clear(Stream::Compute, at, bytes.max(1))?;
        Ok(at)
    }

    /// Has a firing failed since the last time this was asked?
    fn has_failed(&mut self) -> Result<bool, Fault> {
        let mut status = [0u8; STATUS];
        // SAFETY: the array stays until the stream is finished, and nobody else uses it.
        unsafe { self.device.get(Stream::Compute, status.as_mut_ptr(), self.arena, STATUS)? };
        self.device.finish(Stream::Compute)?;
        let failed = status[..4] != [0; 4];
        if failed {
            self.device.clear(Stream::Compute, self.arena, STATUS as u64)?;
        }
        Ok(failed)
    }

    /// Waits for the last event, but not for ever.
    fn await_end(&mut self, kernel: &ProfileKernel) -> Result<(), Fault> {
        let began = Instant::now();
        while !self.device.has_happened(END)? {
            if began.elapsed() > LONGEST {
                self.stuck = true;
                let path = &self.subject.checked.program.graph.node(kernel.nodes[0]).path;
                let title = format!("{path} does not end on zeros, or {FIRINGS} firings take longer than {LONGEST:?}");
                return Err(Fault::program(title).help("--arch models the GPU, and runs nothing"));
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        self.device.finish(Stream::Compute)
    }

    /// A kernel with blocks of all these sizes; its number in the loaded code, and the limit that this was compiled for.
    fn all(
        &mut self,
        (kernel, number, limit): (usize, usize, usize),
        threads: &[usize],
        repeat: &Repeat,
        samples: &mut Samples,
    ) -> Result<(), Fault> {
        for t in threads {
            match self.sample((kernel, number), *t, repeat)? {
                Some((sample, blocks)) => samples.add((kernel, *t, limit), sample, blocks),
                None => {
                    samples.unmeasured.insert(kernel, "it fails on zeros".into());
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// One measurement; `None` where a firing fails.
    fn sample(
        &mut self,
        (kernel, number): (usize, usize),
        t: usize,
        repeat: &Repeat,
    ) -> Result<Option<(Sample, u32)>, Fault> {
        let text = &self.subject.texts[t];
        let k = &text.kernels[kernel];
        let blocks = if k.serial { 1 } else { self.subject.processors };
        let launch =
            Launch { kernel: number as u32, blocks, threads: THREADS[t], shared: k.shared as u32, together: false };
        let least = if k.serial { 1 } else { repeat.firings.div_ceil(k.round) };
        let mut time = |rounds: u64| -> Result<f64, Fault> {
            let job = job(self.arena, &self.ends, text.readers, rounds as u32, k.round as u32);
            self.device.record(BEGIN, Stream::Compute)?;
            self.device.launch(&launch, &job)?;
            self.device.record(END, Stream::Compute)?;
            self.await_end(k)?;
            Ok(f64::from(self.device.elapsed(BEGIN, END)?))
        };
        for _ in 0..repeat.warm_up {
            time(least)?;
        }
        let one = time(least)?;
        let rounds = least * (repeat.least / one.max(1e-3)).ceil().clamp(1.0, 10_000.0) as u64;
        let mut all = Vec::new();
        for _ in 0..repeat.measurements {
            all.push(time(rounds)?);
        }
        if self.has_failed()? {
            return Ok(None);
        }
        all.sort_by(f64::total_cmp);
        let (firings, middle) = (rounds * k.round, all[all.len() / 2]);
        let sample = Sample {
            nanoseconds: middle * 1e6 / firings as f64,
            spread: (all[all.len() - 1] - all[0]) / middle.max(1e-9),
            firings,
            seconds: all.iter().sum::<f64>() / 1e3,
        };
        Ok(Some((sample, blocks)))
    }
}

impl Drop for Bench<'_, '_> {
    fn drop(&mut self) {
        // what fails here has failed before
        for at in self.ends.drain(..).chain([self.arena]).filter(|at| *at != 0) {
            let _ = self.device.release(at);
        }
    }
}
