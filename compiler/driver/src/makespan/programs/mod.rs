//! # programs
//!
//! Purpose: `sluice makespan PROGRAM.str`: a bound for each node of a program and for its steady state, kernel after kernel. Input: a checked program, an architecture. Output: a table, or the
//! JSON document of docs/makespan.md; and whether a deadline is kept.
//!
//! ```text
//! kernels of all parts ── NVRTC ── nvdisasm ── walk each warp ─┐
//!                      └─ PTX, or the kernel IR, where these are missing ─┴─ bounds ── table
//! ```
//!
//! A kernel makes the firings of one node in a steady state, in blocks of so many threads, a firing each; what has state makes them in one thread. Blocks are dealt out to multiprocessors
//! one by one. All kernels run after one another, so the sum of their bounds is one for the steady state. Those of the scheme `fused` make tiles of several nodes each ([`tiles`]).

mod bound;
mod compiled;
mod deadline;
mod extract;
mod measure;
mod report;
mod tiles;
mod walked;

pub use deadline::Deadline;
pub use measure::On;

use super::Method;
use crate::as_run::as_run;
use crate::cuda::arch::Arch;
use crate::cuda::auto;
use crate::cuda::gpu::Gpu;
use crate::cuda::instructions::table;
use crate::exit::{Exit, Fault};
use crate::options::{CodeOptions, CudaBuildOptions, Scheme};
use crate::pipeline::{Checked, Halt};
use crate::session::{self, Session};
use sluice_schedule::analysis::makespan::{Capacity, Machine};

/// Threads of a warp.
const WARP: u32 = 32;
/// Threads of a block where nobody says: those of `sluice build --target cuda`.
const THREADS: u32 = 128;
/// The architecture where nobody says.
const USUAL_ARCH: u32 = 90;

/// What is asked about a program. What is not given here is what its manifest says, and then the usual.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfProgram {
    /// The architecture that it is compiled for.
    pub arch: Option<Arch>,
    /// Whose kernels.
    pub kernels: Option<Kernels>,
    /// Threads of a block.
    pub threads: Option<u32>,
    /// Of `fused`: KiB of shared memory of a tile.
    pub tile: Option<u32>,
    /// Multiprocessors.
    pub multiprocessors: Option<u64>,
    /// Blocks that a multiprocessor surely has at a time.
    pub resident: Option<u64>,
    /// Steady states at once.
    pub states: Option<u64>,
    /// Load/store units of a multiprocessor.
    pub ls_units: Option<u32>,
    /// Its cores.
    pub cores: Option<u32>,
}

/// Which kernels of a program are bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernels {
    /// One for each node: what the scheme `swp`, and those like it, call.
    #[default]
    Nodes,
    /// Those of the scheme `fused`, as it starts them.
    Fused,
}

impl Kernels {
    /// Those of a scheme; or why there are none.
    pub fn of(scheme: Scheme) -> Result<Kernels, String> {
        match scheme {
            Scheme::Swp => Ok(Kernels::Nodes),
            Scheme::Fused => Ok(Kernels::Fused),
            other => {
                let why = match other {
                    Scheme::FusedWarps => "its warps wait for one another at barriers of a part of the block",
                    _ => "the kernels of its nodes are those of swp",
                };
                Err(format!("there is no bound for the scheme {}: {why}", other.name()))
            }
        }
    }

    /// The scheme.
    pub fn name(self) -> &'static str {
        match self {
            Kernels::Nodes => Scheme::Swp.name(),
            Kernels::Fused => Scheme::Fused.name(),
        }
    }
}

/// How it is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// The method, where a block's warps are alike.
    pub method: Method,
    /// Seconds for all kernels.
    pub seconds: f64,
    /// JSON instead of text.
    pub json: bool,
    /// Show the instruction strings, too.
    pub strings: bool,
    /// Measure the kernels' blocks, too.
    pub measure: Option<On>,
}

/// A multiprocessor and what runs on it, nothing left open.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Setting {
    arch: Arch,
    kernels: Kernels,
    threads: u32,
    /// KiB of a tile, where somebody says.
    tile: Option<u32>,
    multiprocessors: u64,
    resident: u64,
    /// Steady states at once, where somebody says.
    states: Option<u64>,
    units: table::Units,
}

impl OfProgram {
    /// What this leaves open, the other one may say.
    #[must_use]
    pub fn or(&self, other: &OfProgram) -> OfProgram {
        let kernels = self.kernels.or(other.kernels);
        OfProgram {
            arch: self.arch.or(other.arch),
            kernels,
            threads: self.threads.or(other.threads),
            // what the manifest says of tiles is for its regions
            tile: self.tile.or(other.tile.filter(|_| kernels == Some(Kernels::Fused))),
            multiprocessors: self.multiprocessors.or(other.multiprocessors),
            resident: self.resident.or(other.resident),
            states: self.states.or(other.states),
            ls_units: self.ls_units.or(other.ls_units),
            cores: self.cores.or(other.cores),
        }
    }

    /// What a build has to keep: the kernels are those that it makes.
    pub fn of_build(&self, build: &CudaBuildOptions) -> Result<OfProgram, Fault> {
        let scheme = build.code.scheme.unwrap_or(auto::USUAL);
        let kernels = match Kernels::of(scheme) {
            Err(why) if scheme.is_fused() => {
                return Err(Fault::program(format!("nothing bounds what a steady state takes: {why}"))
                    .help("build with --scheme fused, or leave the deadline out")
                    .coded("E0993"));
            }
            // those of its nodes
            Err(_) => Kernels::Nodes,
            Ok(kernels) => kernels,
        };
        let fused = kernels == Kernels::Fused;
        let usual = if fused { Some(THREADS) } else { self.threads };
        Ok(OfProgram {
            arch: self.arch.or(build.archs.first().copied()),
            kernels: Some(kernels),
            threads: build.code.block_threads.or(usual),
            tile: build.code.tile.filter(|_| fused),
            ..self.clone()
        })
    }

    /// On a GPU the architecture is that of the GPU.
    fn on(&self, measure: Option<On>) -> Result<OfProgram, Fault> {
        let Some(On::Gpu(number)) = measure else { return Ok(self.clone()) };
        let own = Gpu::open(number)?.properties().arch;
        match self.arch {
            Some(arch) if arch != own => Err(Fault::usage(format!("the GPU is {own}, and --arch says {arch}"))
                .help("leave --arch out to measure")
                .coded("E0991")),
            _ => Ok(OfProgram { arch: Some(own), ..self.clone() }),
        }
    }

    fn setting(&self) -> Result<Setting, Fault> {
        let arch = self.arch.unwrap_or(Arch::of_number(USUAL_ARCH));
        let usual = table::units(arch);
        let threads = self.threads.unwrap_or(THREADS);
        if threads == 0 || !threads.is_multiple_of(WARP) || threads > 1024 {
            let title = format!("a block has whole warps of {WARP} threads, up to 1024 threads: not {threads}");
            return Err(Fault::usage(title).coded("E0991"));
        }
        let kernels = self.kernels.unwrap_or_default();
        if self.tile.is_some() && kernels != Kernels::Fused {
            let title = "--tile is about kernels of regions, and these are those of nodes";
            return Err(Fault::usage(title).help("give --scheme fused, too").coded("E0991"));
        }
        Ok(Setting {
            arch,
            kernels,
            threads,
            tile: self.tile,
            multiprocessors: self.multiprocessors.unwrap_or(1).max(1),
            resident: self.resident.unwrap_or(1).max(1),
            states: self.states.map(|n| n.max(1)),
            units: table::Units {
                ls_units: self.ls_units.unwrap_or(usual.ls_units),
                cores: self.cores.unwrap_or(usual.cores),
            },
        })
    }
}

impl Setting {
    fn machine(&self) -> Machine {
        let of = |units| Capacity::new(units, WARP).unwrap_or(Capacity::ONE);
        Machine { load_store: of(self.units.ls_units), cores: of(self.units.cores) }
    }
}

/// Does it all. A deadline that is not kept is reported.
pub fn run(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    asked: &OfProgram,
    how: &How,
    deadline: Option<&Deadline>,
) -> Result<Exit, Halt> {
    let report = report(session, checked, code, asked, how, deadline)?;
    session::print(&if how.json { crate::document::json(&report) } else { report.table() })?;
    match deadline {
        Some(deadline) => deadline.judge(session, checked, &report),
        None => Ok(Exit::Ok),
    }
}

/// Before something is built: is the deadline kept?
pub fn guarantee(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    asked: &OfProgram,
    deadline: &Deadline,
) -> Result<Exit, Halt> {
    // what is quick, and only if that is not enough, what takes its time
    let how = |method| How { method, seconds: super::SECONDS, json: false, strings: false, measure: None };
    let quick = report(session, checked, code, asked, &how(Method::Pessimistic), Some(deadline))?;
    if deadline.is_kept(&quick) {
        return Ok(Exit::Ok);
    }
    let report = report(session, checked, code, asked, &how(Method::Auto), Some(deadline))?;
    deadline.judge(session, checked, &report)
}

fn report(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    asked: &OfProgram,
    how: &How,
    deadline: Option<&Deadline>,
) -> Result<report::Report, Halt> {
    super::at_hand(how.method)?;
    let setting = asked.on(how.measure)?.setting()?;
    // what a GPU would run
    let folded = as_run(session, checked, code)?;
    let checked = folded.as_ref().unwrap_or(checked);
    let extracted = match setting.kernels {
        Kernels::Nodes => extract::extract(session, checked, code, &setting)?,
        Kernels::Fused => tiles::extract(session, checked, code, &setting, how.measure)?,
    };
    let checked = extracted.own.as_ref().unwrap_or(checked);
    let bounds = session.pass("makespan", || bound::bounds(&extracted, &setting, how));
    if let Some(why) = super::lacking(how.method) {
        session.remark(&why);
    }
    let measured = match how.measure {
        Some(on) => Some(session.pass("run", || measure::measure(checked, &extracted, &setting, on))?),
        None => None,
    };
    Ok(report::Report::new(checked, &extracted, (bounds, measured), &setting, how, deadline))
}
