//! What a profile says of a GPU: by stream, what a firing takes for each limit of registers and each number of threads, and which of them were chosen.

use super::{Profile, Stream};
use serde::{Deserialize, Serialize};
use sluice_schedule::configuration::{Configuration, Measured, Measurements};

/// Limits of a thread's registers that are tried. ptxas makes 24 of what is less.
pub const LIMITS: [u32; 7] = [24, 32, 40, 64, 96, 128, 255];
/// Threads of a block that are tried.
pub const THREADS: [u32; 6] = [128, 256, 384, 512, 768, 1024];

/// Where times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Costs {
    /// A GPU's events.
    Measured,
    /// The emulated GPU's, which say nothing of a real one.
    Emulated,
    /// The machine model, with the registers and spills that the CUDA compiler tells.
    Modelled,
}

/// Where, and what was chosen for all streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnGpu {
    /// Where times come from.
    pub costs: Costs,
    /// Such as `sm_90`; nothing for the emulated GPU.
    pub arch: Option<String>,
    /// Multiprocessors.
    pub processors: u32,
    /// Their clock, or the model's.
    pub clock_mhz: f64,
    /// The driver's version of CUDA, where there was one.
    pub driver: Option<String>,
    /// NVRTC's version, where it compiled.
    pub compiler: Option<String>,
    /// The chosen limit of a thread's registers.
    pub registers: u32,
    /// The chosen number of threads of a block.
    pub threads: u32,
    /// What a steady state takes then, in nanoseconds: the initiation interval, divided by the work in it.
    pub interval: f64,
}

/// How a stream is fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamOnGpu {
    /// Threads that fire it.
    pub threads: u32,
    /// Registers that its code has with the chosen limit.
    pub registers: Option<u32>,
    /// Bytes that a thread stores and loads because they are too few.
    pub spill_bytes: u32,
    /// Its firings follow one another.
    pub serial: bool,
    /// Firings in a steady state.
    pub repetitions: u64,
    /// The first stream with the same code, which was measured for all of them.
    pub like: String,
    /// Why its time is the model's, though others were measured.
    pub unmeasured: Option<String>,
    /// By limit, then by threads.
    pub table: Vec<Cell>,
}

/// What one choice comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The limit of a thread's registers.
    pub limit: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Registers that a thread has, where that is known.
    pub registers: Option<u32>,
    /// Bytes that it stores and loads because they are too few.
    pub spill_bytes: u32,
    /// Nanoseconds of a firing; nothing where a multiprocessor has no room for the block.
    pub nanoseconds: Option<f64>,
    /// Of measurements, the longest less the shortest, as a part of the one in the middle.
    pub spread: Option<f64>,
}

/// What is used of it: a choice, for a program whose nodes are the streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The limit of a thread's registers.
    pub registers: u32,
    /// Threads of a block.
    pub block: u32,
    /// By node, threads that fire it.
    pub threads: Vec<u32>,
    /// By node, nanoseconds of a firing; those that were not measured are the model's to tell.
    pub nanoseconds: Vec<Option<f64>>,
}

fn is_threads(n: u32) -> bool {
    (32..=1024).contains(&n) && n.is_multiple_of(32)
}

/// Do the parts about a GPU fit one another? If not, what does not, and of which stream.
pub(super) fn check(profile: &Profile) -> Result<(), (&'static str, Option<&str>)> {
    let Some(on) = &profile.gpu else {
        return match profile.machine.kind == "gpu" || profile.streams.iter().any(|s| s.gpu.is_some()) {
            true => Err(("it is of a GPU, and does not say what was chosen there", None)),
            false => Ok(()),
        };
    };
    if profile.machine.kind != "gpu" {
        return Err(("what it says of a GPU is no part of a profile of a CPU", None));
    }
    if !is_threads(on.threads) || !(16..=255).contains(&on.registers) {
        return Err(("a block has 32 to 1024 threads, a multiple of 32, and a thread 16 to 255 registers", None));
    }
    for s in &profile.streams {
        let Some(own) = &s.gpu else { return Err(("it does not say how many threads fire a stream", Some(&s.stream))) };
        if !is_threads(own.threads) || own.threads > on.threads {
            let what = "the threads that fire a stream are a multiple of 32, and no more than the block's";
            return Err((what, Some(&s.stream)));
        }
    }
    Ok(())
}

impl Profile {
    /// The choice that it has made.
    pub fn chosen(&self, nanoseconds: &[Option<f64>]) -> Option<Chosen> {
        let on = self.gpu.as_ref()?;
        let threads = self.streams.iter().map(|s| s.gpu.as_ref().map_or(on.threads, |g| g.threads)).collect();
        Some(Chosen { registers: on.registers, block: on.threads, threads, nanoseconds: nanoseconds.to_vec() })
    }

    /// Another one, for blocks of so many threads; `None` where what was measured has none.
    pub fn chosen_within(&self, block: u32) -> Option<Chosen> {
        let all = measurements(self)?;
        let Configuration { registers, each, time, .. } = all.choose(block)?;
        let known = |(s, t): (&Stream, f64)| s.nanoseconds.is_some().then_some(t);
        Some(Chosen {
            registers,
            block,
            threads: each,
            nanoseconds: self.streams.iter().zip(time).map(known).collect(),
        })
    }
}

/// The tables of all streams.
pub fn measurements(profile: &Profile) -> Option<Measurements> {
    let on = profile.gpu.as_ref()?;
    let cells = || profile.streams.iter().filter_map(|s| s.gpu.as_ref()).flat_map(|g| &g.table);
    let sorted = |mut all: Vec<u32>| {
        all.sort_unstable();
        all.dedup();
        all
    };
    let limits = sorted(cells().map(|c| c.limit).collect());
    let threads = sorted(cells().map(|c| c.threads).collect());
    let filter = |s: &Stream| {
        let own = s.gpu.as_ref()?;
        let at = |limit: &u32, n: &u32| {
            // what never fires has room, and takes no time
            if own.repetitions == 0 {
                return Some(0.0);
            }
            own.table.iter().find(|c| c.limit == *limit && c.threads == *n).and_then(|c| c.nanoseconds)
        };
        let time = limits.iter().map(|l| threads.iter().map(|n| at(l, n)).collect()).collect();
        Some(Measured { firings: own.repetitions, serial: own.serial, time })
    };
    let filters = profile.streams.iter().map(filter).collect::<Option<_>>()?;
    Some(Measurements { processors: on.processors, filters, limits, threads })
}
