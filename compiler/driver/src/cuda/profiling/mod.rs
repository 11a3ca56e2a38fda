//! # profiling
//!
//! Purpose: `sluice profile --target cuda`: what a firing of each node takes on a GPU, by registers of a thread and threads of a block, and the choice that is made of it. Input: a checked
//! program. Output: a [`Profile`], in the cache or a file, and a table for people.
//!
//! ```text
//! texts (one kernel for each part) ── NVRTC, for each limit of registers ──┬─ a GPU: events around each kernel        ─┐
//!                                                                         ├─ the emulated GPU, without NVRTC          ─┼─ choose ── Profile
//!                                                                         └─ no GPU: the machine model, with spills   ─┘
//! ```
//!
//! Source: Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", figures 6 and 7.

mod code;
mod document;
mod measure;
mod model;
mod table;

use super::arch::Arch;
use super::emit;
use super::gpu::Gpu;
use super::nvrtc::Nvrtc;
use super::run::{DeviceName, EMULATED_PROCESSORS, Target};
use super::texts;
use crate::as_run::as_run;
use crate::cache::Cache;
use crate::commands;
use crate::document::json;
use crate::exit::{Exit, Fault};
use crate::options::{CodeOptions, CudaOptions, Scheme};
use crate::pipeline::{Checked, Halt, dump};
use crate::profile::Profile;
use crate::profile::find;
use crate::profile::gpu::{Costs, LIMITS, THREADS};
use crate::scheduling::{self, target};
use crate::session::{self, Session};
use code::Codes;
use model::Model;
use sluice_codegen::cuda::ProfileText;
use sluice_schedule::machine::{Kind, Machine};

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuProfileOptions {
    /// Which GPU, where not the first.
    pub gpu: Option<u32>,
    /// Run the kernels on the CPU.
    pub emulate: bool,
    /// Do not run them: model this architecture.
    pub arch: Option<Arch>,
    /// The machine that costs are modelled by, where not one that is like the architecture.
    pub machine: Option<String>,
    /// The file to write, if not into the cache.
    pub output: Option<String>,
    /// Show the document instead of the table.
    pub json: bool,
    /// Fewer measurements, shorter ones: where nobody else may use the GPU meanwhile.
    pub quick: bool,
}

/// The architecture that is modelled where there is no GPU, and nobody says which: that of the machine `h200`.
const USUAL_ARCH: u32 = 90;
/// The oldest architecture like which the machine `h200` is; older ones are like `a100`.
const LIKE_H200: Arch = Arch { major: 9, minor: 0 };

/// Where times come from.
enum Place {
    Gpu(Box<Gpu>),
    Emulated,
    Model(Arch),
}

/// What is known before anything is measured.
struct Subject<'a> {
    checked: &'a Checked,
    /// By number of threads, as in [`THREADS`].
    texts: Vec<ProfileText>,
    codes: Codes,
    model: Model,
    processors: u32,
    clock_mhz: f64,
    /// 32-bit registers of a multiprocessor.
    registers: u32,
}

/// Takes a profile, keeps it, and shows it.
pub fn take(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    options: &GpuProfileOptions,
) -> Result<Exit, Halt> {
    // what a GPU would run
    let folded = as_run(session, checked, code)?;
    let checked = folded.as_ref().unwrap_or(checked);
    let (profile, machine) = profile(session, checked, code, options)?;
    let text = json(&profile);
    let place = match &options.output {
        Some(file) => {
            commands::write(file, &text)?;
            file.clone()
        }
        None => kept(&profile, &machine)?,
    };
    if options.output.as_deref() != Some("-") {
        session::print(&if options.json { text } else { table::table(&profile) })?;
        session::say(&format!(
            "profile written to {place}; `sluice run --target cuda` and `sluice schedule` use it{}\n",
            if options.output.is_some() { format!(" with --profile {place}") } else { String::new() }
        ));
    }
    Ok(Exit::Ok)
}

/// Into the cache, under all its names.
fn kept(profile: &Profile, machine: &str) -> Result<String, Fault> {
    let cache = Cache::open()?;
    let mut place = String::new();
    for key in find::gpu_keys(profile, machine).iter().rev() {
        place = cache.put(key, "json", json(profile).as_bytes())?.display().to_string();
    }
    Ok(place)
}

/// Compiles what a profile will run, into the cache: so that others can measure meanwhile.
pub fn compile_ahead(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    options: &GpuProfileOptions,
) -> Result<(), Halt> {
    let place = place(session, options)?;
    let machine = machine(&place, options)?;
    subject(session, checked, code, &place, &machine).map(|_| ())
}

/// A profile, and the name of the machine that it was modelled by.
pub fn profile(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    options: &GpuProfileOptions,
) -> Result<(Profile, String), Halt> {
    let place = place(session, options)?;
    let machine = machine(&place, options)?;
    let (subject, device) = subject(session, checked, code, &place, &machine)?;
    let driver = match &place {
        Place::Gpu(gpu) => Some(gpu.driver()),
        _ => None,
    };
    let (costs, arch) = match &place {
        Place::Gpu(gpu) => (Costs::Measured, Some(gpu.properties().arch)),
        Place::Emulated => (Costs::Emulated, None),
        Place::Model(arch) => (Costs::Modelled, Some(*arch)),
    };
    let sampled = session.pass("run", || match place {
        Place::Gpu(gpu) => measure::on_gpu(&subject, gpu, options),
        Place::Emulated => measure::emulated(&subject),
        Place::Model(_) => Ok(measure::Samples::default()),
    })?;
    let about = document::About {
        costs,
        arch,
        device: device.map_or_else(
            || if costs == Costs::Emulated { "the emulated GPU".into() } else { machine.name.clone() },
            |d| d.name,
        ),
        driver,
    };
    Ok((document::document(&subject, &sampled, &about)?, machine.name))
}

/// Finds the GPU; where there is none, and nobody named one, it is modelled.
fn place(session: &Session, options: &GpuProfileOptions) -> Result<Place, Fault> {
    if let Some(arch) = options.arch {
        return Ok(Place::Model(arch));
    }
    if options.emulate {
        crate::cc::Compiler::find_cxx()?;
        return Ok(Place::Emulated);
    }
    match Gpu::open(options.gpu.unwrap_or(0)) {
        Ok(gpu) => Ok(Place::Gpu(Box::new(gpu))),
        Err(fault) if options.gpu.is_none() && matches!(fault.code, Some("E0981" | "E0982")) => {
            let arch = Arch::of_number(USUAL_ARCH);
            session.remark(&format!("{}: costs are modelled for {arch}, not measured", fault.message));
            Ok(Place::Model(arch))
        }
        Err(fault) => Err(fault),
    }
}

/// The machine that says what nobody measures.
fn machine(place: &Place, options: &GpuProfileOptions) -> Result<Machine, Fault> {
    let like = match place {
        Place::Gpu(gpu) => gpu.properties().arch,
        Place::Emulated => LIKE_H200,
        Place::Model(arch) => *arch,
    };
    let name = options.machine.as_deref().unwrap_or(if like >= LIKE_H200 { "h200" } else { "a100" });
    let machine = target::machine(name)?;
    match machine.kind {
        Kind::Gpu => Ok(machine),
        Kind::Cpu => {
            Err(Fault::usage(format!("{} is no GPU", machine.name)).help("--machine h200, or a100, or a TOML file"))
        }
    }
}

fn subject<'a>(
    session: &mut Session,
    checked: &'a Checked,
    code: &CodeOptions,
    place: &Place,
    machine: &Machine,
) -> Result<(Subject<'a>, Option<DeviceName>), Halt> {
    let most_shared = u32::try_from(machine.shared_bytes).unwrap_or(u32::MAX);
    let (target, clock_mhz, registers) = match place {
        Place::Gpu(gpu) => {
            let (p, (major, minor)) = (gpu.properties(), gpu.driver());
            let target = Target {
                device: Some(DeviceName { name: p.name.clone(), driver: format!("{major}.{minor}") }),
                processors: p.processors,
                arch: Some(p.arch),
                block_shared: p.block_shared,
                memory: Some(p.memory),
            };
            // a driver that does not tell the clock
            let clock = if p.clock > 0 { f64::from(p.clock) / 1000.0 } else { machine.clock_mhz };
            (target, clock, p.registers)
        }
        Place::Emulated => {
            let emulated = CudaOptions { emulate: true, ..CudaOptions::default() };
            let target = super::run::Place::Emulated.target(&emulated);
            (Target { processors: EMULATED_PROCESSORS, ..target }, machine.clock_mhz, u32::MAX)
        }
        Place::Model(arch) => {
            let target = Target {
                device: None,
                processors: machine.processors,
                arch: Some(*arch),
                block_shared: most_shared,
                memory: Some(machine.memory_bytes),
            };
            (target, machine.clock_mhz, u32::try_from(machine.registers).unwrap_or(u32::MAX))
        }
    };
    let scheme = Some(Scheme::Swp);
    let mut choices = texts::choices(&CudaOptions { scheme, ..CudaOptions::default() }, &target)?;
    // the compiler is told how many registers there are
    choices.options.registers = Some(*LIMITS.last().unwrap_or(&255));
    let texts = emit::profile_texts(session, checked, code, &choices, &THREADS)?;
    dump(session, "emit-cuda", || texts.first().map(|t| t.device.clone()).unwrap_or_default())?;
    let codes = match (place, target.arch) {
        (Place::Emulated, _) | (_, None) => Codes::emulated(&texts)?,
        (Place::Gpu(gpu), Some(arch)) => {
            let nvrtc = Nvrtc::find(Some(gpu.driver()))?;
            session.pass("compile-cuda", || Codes::compile(&nvrtc, &texts, arch, code, false))?
        }
        (Place::Model(_), Some(arch)) => {
            let nvrtc = Nvrtc::find(None)?;
            session.pass("compile-cuda", || Codes::compile(&nvrtc, &texts, arch, code, true))?
        }
    };
    let weights = scheduling::weights(session, checked)?;
    let mut machine = machine.clone();
    machine.clock_mhz = clock_mhz;
    let model = Model::new(&checked.program, machine, weights.costs);
    Ok((Subject { checked, texts, codes, model, processors: target.processors, clock_mhz, registers }, target.device))
}
