//! # run
//!
//! Purpose: a checked program on a GPU, or on the emulation of one. Input: the program, and what the command line says. Output: the program in memory
//! with its device attached; from there on it runs as any other native program.
//!
//! The device is opened first: how many multiprocessors it has decides what is generated. What is missing is said before anything is compiled.

use super::arch::Arch;
use super::compile::{self, KernelOptions};
use super::device::{Attached, Device};
use super::emulate::Emulator;
use super::gpu::Gpu;
use super::toolkit;
use crate::compiled;
use crate::exit::Fault;
use crate::native::Native;
use crate::natives::Natives;
use crate::options::{CodeOptions, CudaOptions, NativeOptions};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use sluice_codegen::CProgram;
use sluice_codegen::cuda::TileCounts;

/// Multiprocessors of the emulated GPU, where `--sms` says nothing: few, so that a small program fills them, and more than one.
pub const EMULATED_PROCESSORS: u32 = 4;

/// A program as text: what code generation for GPUs gives.
pub struct Texts {
    /// The host's part in C.
    pub host: CProgram,
    /// All kernels in CUDA.
    pub device: String,
    /// Their names, by number.
    pub kernels: Vec<String>,
    /// The most registers of a thread, where a profile has chosen.
    pub registers: Option<u32>,
    /// Of a scheme that cuts programs into regions, what their kernels do for a tile, in numbers.
    pub tiles: Vec<TileCounts>,
    /// The program that these are of ([`super::emit::Emitted::own`]); `None` where that is the program as it was.
    pub own: Option<Checked>,
}

/// A program in memory, joined to its device.
pub struct Ready {
    /// The program.
    pub native: Native,
    /// Its host's part as text.
    pub host: CProgram,
    /// The program that these are of; `None` where that is the program as it was.
    pub own: Option<Checked>,
}

/// A GPU, as profiles know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceName {
    /// What its maker calls it.
    pub name: String,
    /// Its driver's version of CUDA.
    pub driver: String,
}

/// What code is generated for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The GPU, where there is one.
    pub device: Option<DeviceName>,
    /// Multiprocessors.
    pub processors: u32,
    /// The architecture; `None` for the emulation, which has none.
    pub arch: Option<Arch>,
    /// The most bytes of shared memory of a block.
    pub block_shared: u32,
    /// Bytes of memory, where they are known.
    pub memory: Option<u64>,
}

/// Where a program will run.
pub enum Place {
    /// On a GPU.
    Gpu(Box<Gpu>),
    /// On the CPU.
    Emulated,
}

/// Finds the place that the options ask for; says what is missing there.
pub fn place(options: &CudaOptions) -> Result<Place, Fault> {
    if options.emulate {
        // a missing compiler is told before anything is done
        crate::cc::Compiler::find_cxx()?;
        return Ok(Place::Emulated);
    }
    Ok(Place::Gpu(Box::new(Gpu::open(options.gpu.unwrap_or(0))?)))
}

impl Place {
    /// What to generate code for.
    pub fn target(&self, options: &CudaOptions) -> Target {
        match self {
            Place::Gpu(gpu) => {
                let p = gpu.properties();
                let (major, minor) = gpu.driver();
                Target {
                    device: Some(DeviceName { name: p.name.clone(), driver: format!("{major}.{minor}") }),
                    processors: options.processors.unwrap_or(p.processors),
                    arch: Some(p.arch),
                    block_shared: p.block_shared,
                    memory: Some(p.memory),
                }
            }
            // what every GPU has that generated code runs on
            Place::Emulated => Target {
                device: None,
                processors: options.processors.unwrap_or(EMULATED_PROCESSORS),
                arch: None,
                block_shared: 64 << 10,
                memory: None,
            },
        }
    }

    /// The device with these kernels.
    fn device(
        self,
        session: &mut Session,
        texts: &Texts,
        code: &CodeOptions,
        target: &Target,
    ) -> Result<Box<dyn Device>, Fault> {
        match self {
            Place::Gpu(mut gpu) => {
                let registers = texts.registers;
                let options = KernelOptions { fast_math: code.cc.fast_math, registers, debug: code.cc.debug };
                let (arch, driver) = (gpu.properties().arch, gpu.driver());
                let image =
                    session.pass("compile-cuda", || compile::image(&texts.device, arch, options, Some(driver)))?;
                let names: Vec<&str> = texts.kernels.iter().map(String::as_str).collect();
                session.pass("load", || gpu.load(&image.bytes, &names, &image.compiler))?;
                Ok(gpu)
            }
            Place::Emulated => {
                let mut attempts = 0;
                loop {
                    let object = session.pass("compile-cuda", || compile::emulation(&texts.device))?;
                    match Emulator::load(&object, target.processors, seed()?) {
                        Ok(emulator) => return Ok(Box::new(emulator)),
                        // another run may have removed the file between the two steps
                        Err(_) if attempts < 3 => {
                            attempts += 1;
                            let _ = std::fs::remove_file(&object);
                        }
                        Err(fault) => return Err(fault),
                    }
                }
            }
        }
    }
}

/// The seed of the emulated order.
pub(crate) fn seed() -> Result<u64, Fault> {
    match toolkit::variable("SLUICE_EMULATE_SEED") {
        None => Ok(1),
        Some(text) => text.trim().parse().map_err(|_| {
            Fault::usage(format!("SLUICE_EMULATE_SEED is `{text}`, which is no seed")).help("a seed is a whole number")
        }),
    }
}

/// Generates, compiles and loads a program. `emit` generates it.
pub fn prepare(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    natives: &NativeOptions,
    options: &CudaOptions,
    emit: impl FnOnce(&mut Session, &Checked, &CodeOptions, &CudaOptions, &Target) -> Result<Texts, Halt>,
) -> Result<Ready, Halt> {
    prepare_on(session, checked, code, natives, options, emit, |device| device)
}

/// The same on a device that has something around it.
pub fn prepare_on(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    natives: &NativeOptions,
    options: &CudaOptions,
    emit: impl FnOnce(&mut Session, &Checked, &CodeOptions, &CudaOptions, &Target) -> Result<Texts, Halt>,
    around: impl FnOnce(Box<dyn Device>) -> Box<dyn Device>,
) -> Result<Ready, Halt> {
    let place = place(options)?;
    let target = place.target(options);
    let mut texts = emit(session, checked, code, options, &target)?;
    let own = texts.own.take();
    let checked = own.as_ref().unwrap_or(checked);
    let natives = Natives::prepare(session, checked, natives, &code.cc)?;
    let mut native = compiled::load(session, checked, &texts.host, code, &natives)?;
    if native.kernels() > 0 {
        if native.kernels() as usize != texts.kernels.len() {
            let (has, lists) = (native.kernels(), texts.kernels.len());
            return Err(Fault::internal(format!("the program has {has} kernels, its text {lists}")).into());
        }
        native.attach(Attached::new(around(place.device(session, &texts, code, &target)?)));
    }
    Ok(Ready { native, host: texts.host, own })
}
