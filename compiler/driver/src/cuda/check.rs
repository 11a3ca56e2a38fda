//! # check
//!
//! Purpose: what tests and benchmarks ask of generated kernels without a GPU. Input: device text. Output: for each architecture, registers, shared memory
//! and spills of every kernel, from the real CUDA compiler. Where that is missing, tests say loudly that they were skipped; `SLUICE_NEEDS_CUDA` makes that
//! a failure.

use super::arch::{Arch, Form};
use super::compile::least_spilt;
use super::nvrtc::{Nvrtc, NvrtcOptions};
use super::resources::{self, Resources};
use super::toolkit;
use crate::exit::Fault;
use std::path::{Path, PathBuf};

/// A small device text: a kernel that doubles numbers.
pub const TWICE: &str = "\
struct sl_job { char *arena; int count; };
extern \"C\" __global__ void __launch_bounds__(128) twice(const sl_job job)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.count) ((int *)job.arena)[i] *= 2;
}
";

/// The folder with the CUDA compiler that `scripts/install-cuda` has installed, if it has: `SLUICE_CUDA_HOME`, or `cuda` in cargo's target folder.
pub fn home() -> Option<PathBuf> {
    let there = |p: &PathBuf| toolkit::nvcc_in(p).is_some();
    if let Some(home) = toolkit::variable("SLUICE_CUDA_HOME") {
        return Some(PathBuf::from(home)).filter(there);
    }
    let target = toolkit::variable("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(target).join("cuda")).filter(there)
}

/// Says that a test is skipped, as loudly as a test can; fails where nothing may be skipped.
pub fn skipped(test: &str, why: &str) {
    assert!(toolkit::variable("SLUICE_NEEDS_CUDA").is_none(), "{test} must not be skipped: {why}");
    sluice_skipped::skipped(&format!("{test}: {why}"));
}

/// NVRTC for a test of this name; where there is none, it is told to be skipped.
pub fn nvrtc(test: &str) -> Option<Nvrtc> {
    let places = home().map(|home| toolkit::nvrtc_places_in(&home)).unwrap_or_default();
    let found = if places.is_empty() { Nvrtc::find(None) } else { Nvrtc::among(places, None) };
    found.inspect_err(|_| skipped(test, "there is no NVRTC (scripts/install-cuda installs one)")).ok()
}

/// nvcc for a test of this name; where there is none, it is told to be skipped.
pub fn nvcc(test: &str) -> Option<PathBuf> {
    let found = home().and_then(|home| toolkit::nvcc_in(&home)).or_else(toolkit::nvcc);
    if found.is_none() {
        skipped(test, "there is no nvcc (scripts/install-cuda installs one)");
    }
    found
}

/// What each kernel needs on an architecture, compiled as a program's kernels are ([`least_spilt`]). A text that is refused is a fault with what the compiler says.
pub fn needs(nvrtc: &Nvrtc, text: &str, arch: Arch) -> Result<Vec<Resources>, Fault> {
    let options =
        NvrtcOptions { form: Form::Machine(arch), contract: false, registers: None, lines: false, odd: false };
    Ok(resources::parse(&least_spilt(nvrtc, text, &options)?.log))
}

/// The same for several architectures, as lines of a table: `sm_90 twice 8 registers, 0 bytes shared, 0 bytes stack`. What spills has a line that says so.
pub fn table(nvrtc: &Nvrtc, text: &str, archs: &[Arch]) -> Result<String, Fault> {
    let mut lines = String::new();
    for arch in archs {
        for r in needs(nvrtc, text, *arch)? {
            let registers = r.registers.map_or("those of its callers".to_string(), |n| format!("{n} registers"));
            let spills = if r.spills() {
                format!(", spills {} and {} bytes", r.spill_stores, r.spill_loads)
            } else {
                String::new()
            };
            lines.push_str(&format!(
                "{arch} {} {registers}, {} bytes shared, {} bytes stack{spills}\n",
                r.name, r.shared, r.stack
            ));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::arch::TESTED;

    #[test]
    fn kernels_that_spill_are_seen() {
        let Some(nvrtc) = nvrtc("kernels_that_spill_are_seen") else { return };
        let text = format!(
            "{TWICE}extern \"C\" __global__ void __launch_bounds__(1024) greedy(const sl_job job) {{\n\
             float a[100], *p = (float *)job.arena + threadIdx.x * 100;\n\
             for (int i = 0; i < 100; i++) a[i] = p[i];\n\
             for (int k = 0; k < job.count; k++)\n#pragma unroll\n for (int i = 0; i < 100; i++) a[i] = a[i] * a[(i + 1) % 100] + k;\n\
             for (int i = 0; i < 100; i++) p[i] = a[i]; }}\n"
        );
        for arch in TESTED {
            let all = needs(&nvrtc, &text, arch).unwrap();
            let of = |name: &str| all.iter().find(|r| r.name == name).unwrap();
            assert!(of("greedy").spills() && !of("twice").spills(), "{arch}: {all:?}");
            assert!(of("greedy").registers.unwrap() <= 64);
        }
        let table = table(&nvrtc, &text, &TESTED).unwrap();
        assert_eq!(table.lines().count(), 2 * TESTED.len());
        assert_eq!(table.lines().filter(|l| l.contains("spills")).count(), TESTED.len(), "{table}");
    }
}
