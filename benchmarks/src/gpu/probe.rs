//! # probe
//!
//! Purpose: what a device can do at most, and the loop of C-slow: small kernels of our own. Input: a device. Output: [`Peaks`], [`Bank`]s.
//!
//! The copy reads and writes 16 bytes at a time, with eight blocks of 256 threads on each multiprocessor and four loads of each thread under way; the sums are eight chains in each thread, as many threads as fill the device. Whether product and sum are one
//! instruction is the compiler's option, as for programs. The copy and the chase go through four times the L2's bytes, the chase with one thread, each step to another line, and each launch on from
//! where the one before has ended: all of them together see a line once. The loop of C-slow has arrays of four times the L2, too, whatever C is.

#![allow(unsafe_code)] // copies to the device

use super::document::{Bank, DeviceFacts, Peaks, Times};
use super::{bank, document};
use sluice_codegen::cuda::rts;
use sluice_driver::cuda::compile::{self, KernelOptions};
use sluice_driver::cuda::device::{Device, Launch, Stream};
use sluice_driver::cuda::emulate::Emulator;
use sluice_driver::cuda::gpu::Gpu;
use sluice_driver::exit::Fault;

const KERNELS: &str = include_str!("probe.cu");
/// The kernels by number; `bank` with 1, 2, 4 and 8 streams.
const NAMES: [&str; 7] = ["probe_copy", "probe_sums", "probe_ints", "probe_chase", "bank_1", "bank_2", "bank_4"];
const BANK_8: &str = "bank_8";
/// C, by kernel from `bank_1` on.
pub const STREAMS: [u64; 4] = [1, 2, 4, 8];
const FIRST_BANK: u32 = 4;
const THREADS: u32 = 256;
const CHAINS: u64 = 8;
/// Blocks on a multiprocessor that copy.
const COPYING: u32 = 8;
/// A line of memory, for the chase.
const LINE: u64 = 128;

/// `sl_job` of probe.cu.
fn job(arena: u64, n: u64, m: u64) -> Vec<u8> {
    [arena, n, m].iter().flat_map(|x| x.to_ne_bytes()).collect()
}

/// The device text.
pub fn text() -> String {
    let mut out = String::new();
    rts::MATH.iter().for_each(|t| rts::append(&mut out, t));
    rts::append(&mut out, KERNELS);
    out.push_str("#ifdef SL_EMULATE\nstatic sl_kernel_fn *const sl_kernel_table[] = {");
    names().iter().for_each(|n| out.push_str(&format!("{n}, ")));
    out.push_str("};\nstatic const char *const sl_kernel_names[] = {");
    names().iter().for_each(|n| out.push_str(&format!("\"{n}\", ")));
    out.push_str("};\nstatic const sl_region sl_regions[] = {{0ull, 0ull, \"\"}};\n");
    rts::append(&mut out, rts::PROGRAM);
    out.push_str("#endif\n");
    out
}

fn names() -> Vec<&'static str> {
    NAMES.iter().copied().chain([BANK_8]).collect()
}

/// How much is done.
struct Size {
    /// Bytes that are copied, and that the chase goes through.
    bytes: u64,
    /// Bytes that the arrays of the loop of C-slow have at least.
    bank: u64,
    blocks: u32,
    rounds: u64,
    steps: u64,
    repetitions: usize,
}

/// A device with the probes.
struct Probe {
    device: Box<dyn Device>,
    size: Size,
}

impl Probe {
    /// Nanoseconds of a launch.
    fn time(&mut self, kernel: u32, blocks: u32, threads: u32, job: &[u8]) -> Result<Times, Fault> {
        let launch = Launch { kernel, blocks, threads, shared: 0, together: false };
        let mut all = Vec::new();
        // the first two warm up
        for round in 0..self.size.repetitions + 2 {
            self.device.record(0, Stream::Compute)?;
            self.device.launch(&launch, job)?;
            self.device.record(1, Stream::Compute)?;
            self.device.finish(Stream::Compute)?;
            if round >= 2 {
                all.push(f64::from(self.device.elapsed(0, 1)?) * 1e6);
            }
        }
        Times::of(all).ok_or_else(|| Fault::internal("nothing was measured"))
    }

    /// Memory with zeros.
    fn zeros(&mut self, bytes: u64) -> Result<u64, Fault> {
        let at = self.device.allocate(bytes)?;
        self.device.clear(Stream::Compute, at, bytes)?;
        Ok(at)
    }

    fn copy(&mut self) -> Result<f64, Fault> {
        let bytes = self.size.bytes;
        let at = self.zeros(2 * bytes)?;
        let blocks = self.size.blocks * COPYING;
        let time = self.time(0, blocks, THREADS, &job(at, bytes / 16, 0))?;
        self.device.release(at)?;
        Ok(2.0 * bytes as f64 / time.median * 1e9)
    }

    /// Operations per second: two in each step of a chain.
    fn sums(&mut self, kernel: u32) -> Result<f64, Fault> {
        let (blocks, rounds) = (self.size.blocks * 8, self.size.rounds);
        let threads = u64::from(blocks * THREADS);
        let at = self.zeros(4 * threads)?;
        let time = self.time(kernel, blocks, THREADS, &job(at, 0, rounds))?;
        self.device.release(at)?;
        Ok((2 * CHAINS * rounds * threads) as f64 / time.median * 1e9)
    }

    /// Lines of which each says where the next one is.
    fn ring(&mut self) -> Result<u64, Fault> {
        let lines = (self.size.bytes / LINE).max(4);
        // each line is visited once before the first comes again: a step that has no divisor in common with their number
        let mut step = (lines * 5 / 8) | 1;
        while gcd(step, lines) != 1 {
            step += 2;
        }
        let mut memory = vec![0u8; (lines * LINE) as usize];
        for line in 0..lines {
            let next = ((line + step) % lines * LINE).to_ne_bytes();
            memory[(line * LINE) as usize..][..8].copy_from_slice(&next);
        }
        let at = self.device.allocate(lines * LINE)?;
        // SAFETY: the bytes are there until `finish`.
        unsafe { self.device.put(Stream::Compute, at, memory.as_ptr(), memory.len()) }?;
        self.device.finish(Stream::Compute)?;
        Ok(at)
    }

    /// Nanoseconds of a step.
    fn chase(&mut self) -> Result<f64, Fault> {
        let at = self.ring()?;
        // what the copy has left of them in the L2 makes room for others
        let other = self.zeros(self.size.bytes)?;
        self.device.finish(Stream::Compute)?;
        self.device.release(other)?;
        let time = self.time(3, 1, 1, &job(at, 0, self.size.steps))?;
        self.device.release(at)?;
        Ok(time.median / self.size.steps as f64)
    }

    /// The loop with C streams in each thread of so many blocks, for M steps.
    fn bank(&mut self, (blocks, block): (u32, u32), steps: u64, which: usize) -> Result<Bank, Fault> {
        let streams = STREAMS[which];
        let filters = u64::from(blocks) * u64::from(block) * streams;
        let at = self.zeros(2 * 4 * filters * steps + 4)?;
        let time = self.time(FIRST_BANK + which as u32, blocks, block, &job(at, filters, steps))?;
        self.device.release(at)?;
        let each = |ns: f64| ns / steps as f64;
        let period =
            Times { least: each(time.least), median: each(time.median), greatest: each(time.greatest), ..time };
        Ok(Bank { filters, steps, streams, period: Some(period), d_c: None })
    }
}

/// M of a grid: arrays of two floats for each step and filter have so many bytes, also with one stream in each thread.
pub fn bank_steps((blocks, block): (u32, u32), bytes: u64, least: u64) -> u64 {
    bytes.div_ceil(2 * 4 * u64::from(blocks) * u64::from(block)).max(least)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What is known of the first GPU.
pub fn facts() -> Result<DeviceFacts, Fault> {
    let gpu = Gpu::open(0)?;
    let p = gpu.properties();
    Ok(DeviceFacts {
        name: p.name.clone(),
        arch: p.arch.to_string(),
        processors: p.processors,
        l2: p.l2,
        memory: p.memory,
        clock_mhz: f64::from(p.clock) / 1e3,
    })
}

/// A GPU with the probes, and their machine code.
fn on_gpu(fast_math: bool) -> Result<(Probe, Vec<u8>, String), Fault> {
    let mut gpu = Gpu::open(0)?;
    let properties = gpu.properties().clone();
    let options = KernelOptions { fast_math, ..KernelOptions::default() };
    let image = compile::image(&text(), properties.arch, options, Some(gpu.driver()))?;
    gpu.load(&image.bytes, &names(), &image.compiler)?;
    let size = Size {
        bytes: (4 * properties.l2).clamp(64 << 20, 1 << 30),
        bank: 4 * properties.l2,
        blocks: properties.processors,
        rounds: 4096,
        steps: 20_000,
        repetitions: 11,
    };
    Ok((Probe { device: Box::new(gpu), size }, image.bytes, image.compiler))
}

fn emulated() -> Result<Probe, Fault> {
    let device = Box::new(Emulator::load(&compile::emulation(&text())?, 2, 1)?);
    Ok(Probe { device, size: Size { bytes: 4096, bank: 0, blocks: 1, rounds: 2, steps: 20, repetitions: 1 } })
}

/// Measured peaks, and the loop: few filters, a warp for each multiprocessor, and many. With NVRTC's version.
pub fn all(emulate: bool) -> Result<(Peaks, Vec<Bank>, String), Fault> {
    let mut out = Peaks::default();
    let (mut probe, code, compiler) = if emulate {
        (emulated()?, Vec::new(), String::new())
    } else {
        // contraction first: its device goes before the next one comes
        out.contracted = on_gpu(true)?.0.sums(1)?;
        on_gpu(false)?
    };
    if emulate {
        out.contracted = probe.sums(1)?;
    }
    out.plain = probe.sums(1)?;
    out.int = probe.sums(2)?;
    out.bytes = probe.copy()?;
    out.latency_ns = probe.chase()?;
    let blocks = probe.size.blocks;
    let sizes = if emulate { [((1, 32), 3), ((2, 32), 2)] } else { [((blocks, 32), 2048), ((blocks * 16, 128), 64)] };
    let mut banks = Vec::new();
    for (grid, least) in sizes {
        let steps = bank_steps(grid, probe.size.bank, least);
        for (which, streams) in STREAMS.iter().enumerate() {
            let mut one = probe.bank(grid, steps, which)?;
            one.d_c = bank::loop_length(&code, &format!("bank_{streams}"));
            banks.push(one);
        }
    }
    Ok((out, banks, compiler))
}

/// An empty document about this.
pub fn document(emulate: bool) -> document::Document {
    document::Document { schema: document::SCHEMA.into(), emulated: emulate, ..document::Document::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that began where the last one did would find its lines in the L2.
    #[test]
    fn a_chase_goes_on_where_the_last_one_ended() {
        let mut probe = emulated().unwrap();
        let at = probe.ring().unwrap();
        let mut places = Vec::new();
        for _ in 0..3 {
            let launch = Launch { kernel: 3, blocks: 1, threads: 1, shared: 0, together: false };
            probe.device.launch(&launch, &job(at, 0, 5)).unwrap();
            let mut place = [0u8; 8];
            // SAFETY: the array stays until `finish`.
            unsafe { probe.device.get(Stream::Compute, place.as_mut_ptr(), at + 8, 8) }.unwrap();
            probe.device.finish(Stream::Compute).unwrap();
            places.push(u64::from_ne_bytes(place));
        }
        // 32 lines, 21 of them on at each step
        let after = |steps: u64| 21 * steps % 32 * LINE;
        assert_eq!(places, [after(5), after(10), after(15)]);
    }
}
