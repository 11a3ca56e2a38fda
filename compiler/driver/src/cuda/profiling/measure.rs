//! Kernels on a device, one at a time: a launch on all multiprocessors (of what has state, on one), so many rounds that events tell its time well; once in vain, then several times over. All memory is
//! zero at first. A filter that fails on zeros is not measured, nor one that prints.

use super::{GpuProfileOptions, Subject};
use crate::cuda::bench::{Bench, LONGEST};
use crate::cuda::device::{Device, Launch};
use crate::cuda::emulate::Emulator;
use crate::cuda::gpu::Gpu;
use crate::cuda::run;
use crate::exit::{Exit, Fault};
use crate::profile::gpu::THREADS;
use sluice_codegen::cuda::{ProfileKernel, ProfileText};
use sluice_frontend::graph::NodeKind;
use std::collections::BTreeMap;

/// Firings of a block in a measurement, at least: a multiple of all numbers of threads, so that all have the same work.
const FIRINGS: u64 = 3072;
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
const QUICK: Repeat = Repeat { warm_up: 1, measurements: 3, firings: FIRINGS, least: 0.2 };
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
pub(super) fn on_gpu(subject: &Subject<'_>, gpu: Box<Gpu>, options: &GpuProfileOptions) -> Result<Samples, Fault> {
    let mut samples = Samples::default();
    let (number, repeat) = (options.gpu.unwrap_or(0), if options.quick { &QUICK } else { &ON_GPU });
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
            let mut bench = Benches::new(gpu.as_mut(), subject)?;
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
                match bench.all((kernel, at, built.limit), &threads, repeat, &mut samples) {
                    Ok(()) => {}
                    // nothing can stop a kernel, and whoever let go of what it uses would wait for it: its process ends with it
                    Err(fault) if bench.bench.stuck => {
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
        let mut bench = Benches::new(&mut emulator, subject)?;
        for kernel in 0..text.kernels.len() {
            if !samples.passes_over(subject, kernel, text) {
                bench.all((kernel, kernel, 0), threads, &EMULATED, &mut samples)?;
            }
        }
    }
    Ok(samples)
}

/// A device with memory for every kernel.
struct Benches<'d, 's> {
    bench: Bench<'d>,
    subject: &'s Subject<'s>,
}

impl<'d, 's> Benches<'d, 's> {
    fn new(device: &'d mut dyn Device, subject: &'s Subject<'s>) -> Result<Benches<'d, 's>, Fault> {
        let texts = &subject.texts;
        let arena = texts.iter().map(|t| t.arena_bytes).max().unwrap_or(0);
        let largest = |e: usize| texts.iter().map(|t| t.end_bytes[e]).max().unwrap_or(0);
        let ends: Vec<u64> = (0..texts.first().map_or(0, |t| t.end_bytes.len())).map(largest).collect();
        let readers = texts.first().map_or(0, |t| t.readers);
        Ok(Benches { bench: Bench::new(device, arena, &ends, readers)?, subject })
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
        let (bench, graph) = (&mut self.bench, &self.subject.checked.program.graph);
        let mut time = |rounds: u64| -> Result<f64, Fault> {
            bench.time(&launch, rounds as u32, k.round as u32)?.ok_or_else(|| {
                let path = &graph.node(k.nodes[0]).path;
                let title = format!("{path} does not end on zeros, or {FIRINGS} firings take longer than {LONGEST:?}");
                Fault::program(title).help("--arch models the GPU, and runs nothing")
            })
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
        if self.bench.has_failed()? {
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
