//! # measure
//!
//! Purpose: what a block of each kernel takes on one multiprocessor of a GPU, to be compared with its bound. Input: the kernels, compiled. Output: by node, cycles; or why there are none.
//!
//! One block of the kernel runs alone, round after round of the same firings, on memory that is zero at first. Of two launches with different numbers of rounds the difference is taken, so that
//! what a launch takes does not count; of several such pairs the one in the middle. Cycles are those of the clock that the driver tells.

use super::Setting;
use super::extract::{Extracted, OfNode};
use crate::cuda::bench::{Bench, LONGEST};
use crate::cuda::device::{Device, Launch};
use crate::cuda::emulate::Emulator;
use crate::cuda::gpu::Gpu;
use crate::cuda::{compile, run};
use crate::exit::{Exit, Fault};
use crate::pipeline::Checked;
use crate::scheduling::target;
use sluice_codegen::cuda::ProfileText;
use sluice_frontend::graph::NodeKind;
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
            all(checked, extracted, setting, (&mut device, usual), (true, &mut false))
        }
        On::Gpu(number) => {
            let mut gpu = Box::new(Gpu::open(number)?);
            let image = extracted.image.as_ref().ok_or_else(|| {
                Fault::input("there is no machine code to measure").help("NVRTC makes it").coded("E0984")
            })?;
            let names: Vec<&str> = text.kernels.iter().map(|k| k.name.as_str()).collect();
            gpu.load(&image.bytes, &names, &image.compiler)?;
            let clock = gpu.properties().clock;
            let mhz = if clock > 0 { f64::from(clock) / 1000.0 } else { usual };
            let mut stuck = false;
            let found = all(checked, extracted, setting, (gpu.as_mut(), mhz), (false, &mut stuck));
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
    extracted: &Extracted,
    setting: &Setting,
    (device, mhz): (&mut dyn Device, f64),
    (once, stuck): (bool, &mut bool),
) -> Result<Cycles, Fault> {
    let text = &extracted.text;
    let mut bench = Bench::new(device, text.arena_bytes, &text.end_bytes, text.readers)?;
    let mut known: BTreeMap<(usize, u64), Result<f64, String>> = BTreeMap::new();
    let mut cycles = Vec::new();
    for node in &extracted.nodes {
        let firings = if node.serial { node.firings } else { node.firings.min(setting.threads.into()) };
        let key = (node.kernel, firings);
        let of = match known.entry(key) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(place) => {
                place.insert(match block(&mut bench, checked, (text, node), firings, (setting.threads, once)) {
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
    (text, node): (&ProfileText, &OfNode),
    firings: u64,
    (threads, once): (u32, bool),
) -> Result<Result<f64, String>, Fault> {
    let (kernel, graph) = (&text.kernels[node.kernel], &checked.program.graph);
    if kernel.nodes.iter().any(|v| matches!(graph.node(*v).kind, NodeKind::Filter { prints: true, .. })) {
        return Ok(Err("it prints".into()));
    }
    if firings > kernel.round {
        return Ok(Err(format!("its block makes more than {} firings", kernel.round)));
    }
    let launch =
        Launch { kernel: node.kernel as u32, blocks: 1, threads, shared: kernel.shared as u32, together: false };
    let mut time = |rounds: u32| -> Result<f64, Fault> {
        bench.time(&launch, rounds, firings as u32)?.ok_or_else(|| {
            let path = &graph.node(node.node).path;
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
