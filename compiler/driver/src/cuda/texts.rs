//! # texts
//!
//! Purpose: what [`emit`](super::emit) is asked for. Input: what the command line says, and what the code is for. Output: [`Texts`] of a program that is
//! run now, or the file of a stand-alone one.

use super::arch::Arch;
use super::emit::{self, Choices, Configuration, Emitted};
use super::run::{Target, Texts};
use super::stand_alone;
use crate::exit::Fault;
use crate::options::{CodeOptions, CudaBuildOptions, CudaOptions, Scheme};
use crate::pipeline::{Checked, Halt};
use crate::profile::find;
use crate::profile::gpu::Chosen;
use crate::scheduling::costs::Measured;
use crate::session::Session;
use sluice_codegen::Flavour;
use sluice_codegen::cuda;
use sluice_schedule::machine;
use sluice_schedule::method::Method;

/// Threads of a block, where nobody says.
const THREADS: u32 = 128;
/// In a pipeline, whose multiprocessors have one block each, up to so many, which leaves 128 registers to each.
const MOST_THREADS: u32 = 512;
/// Steady states that the emulation runs at once have about so many bytes of input or output: it is slow, and its programs are small.
const EMULATED_BATCH: u64 = 64 << 10;
/// Multiprocessors that stand-alone programs are scheduled for, where nobody says: those of an H100 or H200.
const PROCESSORS: u32 = 132;
/// Shared memory of a block that every GPU gives.
const USUAL_SHARED: u32 = 48 << 10;
/// Bytes of what passes between the host and the emulated device at a time: little, so that copies and kernels overlap.
const EMULATED_SLICE: u64 = 4 << 10;
/// Bytes of shared memory of a tile there, where blocks make several.
const EMULATED_TILE: u64 = 4 << 10;
/// Threads that a multiprocessor has at once, and bytes of memory of its own that CUDA gives a thread, without what the compiler needs beside a program's arrays.
const RESIDENT: u64 = 2048;
const MOST_FRAME: u64 = 504 << 10;
/// Seconds for the integer program.
const TIME_LIMIT: f64 = 10.0;

/// The texts of a program that is run now.
pub fn texts(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    options: &CudaOptions,
    target: &Target,
) -> Result<Texts, Halt> {
    let choices = profiled(session, checked, options, (target, target.arch.as_slice()))?;
    let emitted = emit::emit(session, checked, code, &choices, (Flavour::Plugin, "program"))?;
    Ok(Texts::of(emitted, choices.options.registers))
}

impl Texts {
    /// What was made, whose threads have so many registers where a profile has chosen.
    pub fn of(emitted: Emitted, registers: Option<u32>) -> Texts {
        let Emitted { program, own, .. } = emitted;
        let kernels = program.kernels.into_iter().map(|k| k.name).collect();
        Texts { host: program.host, device: program.device, kernels, registers, tiles: program.tiles, own }
    }
}

/// Registers of a multiprocessor, of all GPUs that generated code runs on; and how many threads get at a time.
const REGISTERS: u32 = 64 << 10;
const REGISTERS_AT_ONCE: u32 = 8;

/// What is not said is chosen: by a profile, where there is one; `archs`: what the code is for, nothing for the emulation.
pub fn profiled(
    session: &mut Session,
    checked: &Checked,
    options: &CudaOptions,
    (target, archs): (&Target, &[Arch]),
) -> Result<Choices, Halt> {
    let mut choices = choices(options, target)?;
    let named = options.profile.as_deref();
    // regions have no schedule, and fire several filters in one loop: one that is named must be right all the same
    let found = match choices.scheme {
        scheme if scheme.is_fused() && named.is_none() => None,
        _ => find::on_device(session, checked, named, target.device.as_ref(), archs)?,
    };
    if let Some(found) = found.filter(|_| !choices.scheme.is_fused()) {
        let chosen = match options.block_threads {
            None => found.profile.chosen(&found.nanoseconds),
            Some(block) => found.profile.chosen_within(block),
        };
        match chosen {
            Some(chosen) => heed(&mut choices, &chosen, Measured::of(&found).text()),
            None => session.remark(&format!(
                "the profile is not used: it has no blocks of {} threads or less ({})",
                choices.threads, found.file
            )),
        }
    }
    Ok(choices)
}

/// Chooses what a profile says; `costs`: where its times come from, for people.
pub fn heed(choices: &mut Choices, chosen: &Chosen, costs: String) {
    (choices.threads, choices.most_threads) = (chosen.block, None);
    // what is made of several filters may need more registers than each of them: its blocks must have room, too
    let room = REGISTERS / chosen.block / REGISTERS_AT_ONCE * REGISTERS_AT_ONCE;
    choices.options.registers = Some(chosen.registers.min(room));
    choices.configuration =
        Some(Configuration { threads: chosen.threads.clone(), nanoseconds: chosen.nanoseconds.clone(), costs });
}

/// The most bytes of arrays that a thread has while it fires: the driver sets as many aside for all threads that the GPU may have at once, a quarter of its memory at most.
fn most_frame(memory: u64, processors: u32) -> u64 {
    (memory / 4 / (u64::from(processors.max(1)) * RESIDENT)).min(MOST_FRAME)
}

/// What is not said is chosen.
pub fn choices(options: &CudaOptions, target: &Target) -> Result<Choices, Fault> {
    let machine = machine::shipped("h200").ok_or_else(|| Fault::internal("the machine h200 is missing"))?;
    let usual = cuda::CudaOptions::default();
    let emulated = target.arch.is_none();
    let scheme = options.scheme.unwrap_or(super::auto::USUAL);
    // blocks that stay for several tiles have some of them even in a short run
    let stay = emulated && scheme == Scheme::FusedWarps;
    Ok(Choices {
        scheme,
        coarsen: options.coarsen.unwrap_or(1).into(),
        processors: target.processors,
        threads: options.block_threads.unwrap_or(THREADS),
        most_threads: options.block_threads.is_none().then_some(MOST_THREADS),
        machine,
        method: options.method.unwrap_or(if emulated { Method::Hms } else { Method::Ilp }),
        spare: options.method.is_none().then_some(Method::Hms),
        time_limit: options.time_limit.map_or(TIME_LIMIT, |t| t.as_secs_f64()),
        options: cuda::CudaOptions {
            fewer: options.block_threads.is_none(),
            shared: target.block_shared.into(),
            // the rest of the memory is for what else uses the GPU
            memory: target.memory.map_or(usual.memory, |bytes| bytes / 4 * 3),
            batch_bytes: if emulated { EMULATED_BATCH } else { usual.batch_bytes },
            slice_bytes: match (emulated, stay) {
                (false, _) => usual.slice_bytes,
                (true, false) => EMULATED_SLICE,
                (true, true) => EMULATED_BATCH,
            },
            frame: match (target.memory, options.processors) {
                (Some(memory), None) => most_frame(memory, target.processors),
                _ => usual.frame,
            },
            tile: match options.tile {
                Some(kib) => u64::from(kib) << 10,
                None if stay => EMULATED_TILE,
                None => usual.tile,
            },
            ..usual
        },
        configuration: None,
    })
}

/// What programs of their own are made for.
pub fn of_build(options: &CudaOptions, arch: Option<Arch>) -> Target {
    let processors = options.processors.unwrap_or(PROCESSORS);
    Target { device: None, processors, arch, block_shared: USUAL_SHARED, memory: None }
}

/// The file of a program of its own. Without `--sms` it is scheduled for the multiprocessors of the first architecture that is named: kernels run on
/// GPUs with more or fewer, too, as blocks that take turns.
pub fn stand_alone(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    options: &CudaBuildOptions,
    name: &str,
) -> Result<String, Halt> {
    let archs = stand_alone::archs(&options.archs);
    let target = of_build(&options.code, archs.first().copied());
    let choices = profiled(session, checked, &options.code, (&target, &archs))?;
    let made = emit::emit(session, checked, code, &choices, (Flavour::Executable, name))?.program;
    let mut flags = stand_alone::nvcc_flags(&archs);
    flags.extend(choices.options.registers.map(|n| format!("-maxrregcount={n}")));
    Ok(cuda::stand_alone(&made, name, &flags, code.cc.fast_math))
}
