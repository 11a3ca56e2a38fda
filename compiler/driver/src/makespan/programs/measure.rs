//! # measure
//!
//! Purpose: what a block of each kernel takes on one multiprocessor of a GPU, to be compared with its bound. Input: the kernels, compiled. Output: by node, cycles; or why there are none.
//!
//! One block of the kernel runs alone, round after round of the same firings, on memory that is zero at first. Of two launches with different numbers of rounds the difference is taken, so that
//! what a launch takes does not count; of several such pairs the one in the middle. Cycles are those of the clock that the driver tells.

#![allow(unsafe_code)] // copies from the device's memory

use super::Setting;
use super::extract::{Extracted, OfNode};
use crate::cuda::device::{Device, Launch, Stream};
use crate::cuda::emulate::Emulator;
use crate::cuda::gpu::Gpu;
use crate::cuda::{compile, profiling, run};
use crate::exit::{Exit, Fault};
use crate::pipeline::Checked;
use crate::scheduling::target;
use sluice_codegen::cuda::ProfileText;
use sluice_frontend::graph::NodeKind;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

/// Where kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// On a GPU, by its number.
    Gpu(u32),
    /// On the CPU: it shows that they run, and says nothing of a GPU.
    Emulated,
}

/// The events that are used.
const BEGIN: u32 = 0;
const END: u32 = 1;
/// A launch that takes longer does not end.
const LONGEST: Duration = Duration::from_secs(10);
/// Pairs of launches.
const PAIRS: usize = 7;
/// Milliseconds that the longer launch of a pair takes at least.
const LEAST: f64 = 0.5;
/// Rounds of a launch at most.
const MOST_ROUNDS: u32 = 1 << 20;
/// Bytes of the status at the start of the arena.
const STATUS: usize = 64;

/// Cycles by node.
pub(super) type Cycles = Vec<Result<f64, String>>;

/// Runs them all.
pub(super) fn measure(checked: &Checked, extracted: &Extracted, setting: &Setting, on: On) -> Result<Cycles, Fault> {
    let text = &extracted.text;
    let usual = target::machine("h200")?.clock_mhz;
    match on {
        On::Emulated => {
            let object = compile::emulation(&text.device)?;
            let mut device = Emulator::load(&object, 1, run::seed()?)?;
            all(checked, extracted, setting, (&mut device, usual), true)
        }
        On::Gpu(number) => {
            let mut gpu = Gpu::open(number)?;
            let image = extracted.image.as_ref().ok_or_else(|| {
                Fault::input("there is no machine code to measure").help("NVRTC makes it").coded("E0984")
            })?;
            let names: Vec<&str> = text.kernels.iter().map(|k| k.name.as_str()).collect();
            gpu.load(&image.bytes, &names, &image.compiler)?;
            let clock = gpu.properties().clock;
            let mhz = if clock > 0 { f64::from(clock) / 1000.0 } else { usual };
            all(checked, extracted, setting, (&mut gpu, mhz), false)
        }
    }
}

fn all(
    checked: &Checked,
    extracted: &Extracted,
    setting: &Setting,
    (device, mhz): (&mut dyn Device, f64),
    once: bool,
) -> Result<Cycles, Fault> {
    let mut bench = Bench::new(device, &extracted.text)?;
    let mut known: BTreeMap<(usize, u64), Result<f64, String>> = BTreeMap::new();
    let mut cycles = Vec::new();
    for node in &extracted.nodes {
        let firings = if node.serial { node.firings } else { node.firings.min(setting.threads.into()) };
        let key = (node.kernel, firings);
        let of = match known.entry(key) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(place) => place.insert(match bench.block(checked, node, firings, setting.threads, once) {
                Ok(milliseconds) => milliseconds.map(|ms| ms * mhz * 1e3),
                // a fault of the kernel; what is wrong with the device is told
                Err(fault) if fault.exit == Exit::Internal => Err(fault.message),
                Err(fault) => return Err(fault),
            }),
        };
        cycles.push(of.clone());
    }
    Ok(cycles)
}

/// A device with memory for every kernel.
struct Bench<'d, 't> {
    device: &'d mut dyn Device,
    text: &'t ProfileText,
    arena: u64,
    ends: Vec<u64>,
}

impl<'d, 't> Bench<'d, 't> {
    fn new(device: &'d mut dyn Device, text: &'t ProfileText) -> Result<Bench<'d, 't>, Fault> {
        let mut bench = Bench { device, text, arena: 0, ends: Vec::new() };
        bench.arena = bench.zeros(text.arena_bytes)?;
        for bytes in &text.end_bytes {
            let end = bench.zeros(*bytes)?;
            bench.ends.push(end);
        }
        Ok(bench)
    }

    fn zeros(&mut self, bytes: u64) -> Result<u64, Fault> {
        let at = self.device.allocate(bytes.max(1))?;
        self.device.clear(Stream::Compute, at, bytes.max(1))?;
        Ok(at)
    }

    /// Milliseconds of a round of a block; or why it is not measured.
    fn block(
        &mut self,
        checked: &Checked,
        node: &OfNode,
        firings: u64,
        threads: u32,
        once: bool,
    ) -> Result<Result<f64, String>, Fault> {
        let kernel = &self.text.kernels[node.kernel];
        if kernel
            .nodes
            .iter()
            .any(|v| matches!(checked.program.graph.node(*v).kind, NodeKind::Filter { prints: true, .. }))
        {
            return Ok(Err("it prints".into()));
        }
        if firings > kernel.round {
            return Ok(Err(format!("its block makes more than {} firings", kernel.round)));
        }
        let launch =
            Launch { kernel: node.kernel as u32, blocks: 1, threads, shared: kernel.shared as u32, together: false };
        let mut time = |rounds: u32| self.time(&launch, rounds, firings as u32);
        // the first one is in vain
        time(1)?;
        let mut rounds = 1;
        if !once {
            while time(2 * rounds)? < LEAST && rounds < MOST_ROUNDS / 2 {
                rounds *= 2;
            }
        }
        let mut all = Vec::new();
        for _ in 0..if once { 1 } else { PAIRS } {
            let (short, long) = (time(rounds)?, time(2 * rounds)?);
            all.push((long - short).max(0.0) / f64::from(rounds));
        }
        if self.has_failed()? {
            return Ok(Err("it fails on zeros".into()));
        }
        all.sort_by(f64::total_cmp);
        Ok(Ok(all[all.len() / 2]))
    }

    /// Milliseconds of a launch.
    fn time(&mut self, launch: &Launch, rounds: u32, firings: u32) -> Result<f64, Fault> {
        let job = profiling::job(self.arena, &self.ends, self.text.readers, rounds, firings);
        self.device.record(BEGIN, Stream::Compute)?;
        self.device.launch(launch, &job)?;
        self.device.record(END, Stream::Compute)?;
        let began = Instant::now();
        while !self.device.has_happened(END)? {
            if began.elapsed() > LONGEST {
                return Err(Fault::program(format!("a kernel does not end on zeros in {LONGEST:?}"))
                    .help("leave --measure out"));
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        self.device.finish(Stream::Compute)?;
        Ok(f64::from(self.device.elapsed(BEGIN, END)?))
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
}

impl Drop for Bench<'_, '_> {
    fn drop(&mut self) {
        // what fails here has failed before
        for at in self.ends.drain(..).chain([self.arena]).filter(|at| *at != 0) {
            let _ = self.device.release(at);
        }
    }
}
