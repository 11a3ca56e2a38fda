//! # measure
//!
//! Purpose: what a block of each kernel takes on one multiprocessor of a GPU, to be compared with its bound. Input: the kernels, compiled. Output: by kernel, cycles; or why there are none.
//!
//! One block of the kernel runs alone, round after round of the same firings, on memory that is zero at first. Of two launches with different numbers of rounds the difference is taken, so that
//! what a launch takes does not count; of several such pairs the one in the middle. Cycles are those of the clock that the driver tells.

use super::Setting;
use super::extract::{BenchText, Extracted, OfKernel};
use crate::cuda::bench::{Bench, LONGEST};
use crate::cuda::device::{Device, Launch};
use crate::cuda::emulate::Emulator;
use crate::cuda::gpu::Gpu;
use crate::cuda::{compile, run};
use crate::exit::{Exit, Fault};
use crate::pipeline::Checked;
use crate::scheduling::target;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Where kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// On a GPU, by its number.
    Gpu(u32),
    /// On the CPU: it shows that they run, and says nothing of a GPU.
    Emulated,
}

/// Pairs of launches.
const PAIRS: usize = 7;
/// Milliseconds that the longer launch of a pair takes at least.
const LEAST: f64 = 0.5;
/// Rounds of a launch at most.
const MOST_ROUNDS: u32 = 1 << 20;

/// Cycles by kernel.
pub(super) type Cycles = Vec<Result<f64, String>>;

/// Runs them all.
pub(super) fn measure(checked: &Checked, extracted: &Extracted, setting: &Setting, on: On) -> Result<Cycles, Fault> {
    let text = extracted.bench.as_ref().ok_or_else(|| Fault::internal("there is nothing to measure"))?;
    let usual = target::machine("h200")?.clock_mhz;
    match on {
        On::Emulated => {
            let object = compile::emulation(&text.device)?;
            let mut device = Emulator::load(&object, 1, run::seed()?)?;
            all(checked, (extracted, text), setting, (&mut device, usual), (true, &mut false))
        }
        On::Gpu(number) => {
            let mut gpu = Box::new(Gpu::open(number)?);
            let image = text.image.as_ref().ok_or_else(|| {
                Fault::input("there is no machine code to measure").help("NVRTC makes it").coded("E0984")
            })?;
            let names: Vec<&str> = text.kernels.iter().map(|(name, _)| name.as_str()).collect();
            gpu.load(&image.bytes, &names, &image.compiler)?;
            let clock = gpu.properties().clock;
            let mhz = if clock > 0 { f64::from(clock) / 1000.0 } else { usual };
            let mut stuck = false;
            let found = all(checked, (extracted, text), setting, (gpu.as_mut(), mhz), (false, &mut stuck));
            if stuck {
                // whoever let go of it would wait for a kernel that does not end
                std::mem::forget(gpu);
            }
            found
        }
    }
}

fn all(
    checked: &Checked,
    (extracted, text): (&Extracted, &BenchText),
    setting: &Setting,
    (device, mhz): (&mut dyn Device, f64),
    (once, stuck): (bool, &mut bool),
) -> Result<Cycles, Fault> {
    let mut bench = Bench::new(device, text.arena_bytes, &text.end_bytes, text.readers)?;
    let mut known: BTreeMap<(usize, u64), Result<f64, String>> = BTreeMap::new();
    let mut cycles = Vec::new();
    for kernel in &extracted.kernels {
        let told = match &kernel.measured {
            Ok(told) => *told,
            Err(why) => {
                cycles.push(Err(why.clone()));
                continue;
            }
        };
        let key = (kernel.kernel, told);
        let of = match known.entry(key) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(place) => {
                place.insert(match block(&mut bench, checked, (text, kernel), told, (setting.threads, once)) {
                    Ok(milliseconds) => milliseconds.map(|ms| ms * mhz * 1e3),
                    // a fault of the kernel; what is wrong with the device is told
                    Err(fault) if fault.exit == Exit::Internal => Err(fault.message),
                    Err(fault) => {
                        *stuck = bench.stuck;
                        return Err(fault);
                    }
                })
            }
        };
        cycles.push(of.clone());
    }
    Ok(cycles)
}

/// Milliseconds of a round of a block; or why it is not measured.
fn block(
    bench: &mut Bench<'_>,
    checked: &Checked,
    (text, kernel): (&BenchText, &OfKernel),
    told: u64,
    (threads, once): (u32, bool),
) -> Result<Result<f64, String>, Fault> {
    let shared = text.kernels.get(kernel.kernel).map_or(0, |(_, shared)| *shared) as u32;
    let launch = Launch { kernel: kernel.kernel as u32, blocks: 1, threads, shared, together: false };
    let mut time = |rounds: u32| -> Result<f64, Fault> {
        bench.time(&launch, rounds, told as u32)?.ok_or_else(|| {
            let path = kernel.name(checked);
            Fault::program(format!("{path} does not end on zeros in {LONGEST:?}")).help("leave --measure out")
        })
    };
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
    if bench.has_failed()? {
        return Ok(Err("it fails on zeros".into()));
    }
    all.sort_by(f64::total_cmp);
    Ok(Ok(all[all.len() / 2]))
}
