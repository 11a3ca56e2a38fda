//! The eight benchmarks as CUDA, compiled by the real CUDA compiler for all architectures: no filter spills registers. What kernels need is kept in
//! `benchmarks/results/registers.md`, which `SLUICE_BLESS=1` writes anew. `SLUICE_ALL_SCHEMES` compiles all schemes instead of three.
//!
//! Without the compiler (scripts/install-cuda) the tests say that they were skipped; with `SLUICE_NEEDS_CUDA` they fail.

#![allow(clippy::disallowed_methods)] // tests read and write files

use libtest_mimic::{Arguments, Failed, Trial};
use sluice_driver::cuda::arch::{Arch, OLDEST, TESTED};
use sluice_driver::cuda::resources::Resources;
use sluice_driver::cuda::run::Target;
use sluice_driver::cuda::{check, texts};
use sluice_driver::options::{CodeChoices, CudaOptions, ProgramOptions, Scheme};
use sluice_driver::pipeline::{self, Halt};
use sluice_driver::scheduling::Method;
use sluice_driver::session::Session;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Those of the paper's table I.
const PROGRAMS: [&str; 8] = ["bitonic", "bitonicrec", "dct", "des", "fft", "filterbank", "fmradio", "matrixmult"];
/// Always compiled.
const SCHEMES: [Scheme; 3] = [Scheme::Swp, Scheme::Fused, Scheme::FusedWarps];
/// Multiprocessors that they are scheduled for: what a kernel needs does not grow with them, the time that it takes to compile does.
const PROCESSORS: u32 = 16;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The kernels of a benchmark.
fn text(program: &str, scheme: Scheme) -> Result<String, Failed> {
    let file = root().join(format!("benchmarks/{program}/{program}.str")).display().to_string();
    let options = ProgramOptions { files: vec![file], ..ProgramOptions::default() };
    let failed = |halt: Halt| Failed::from(format!("{halt:?}"));
    let mut session = Session::new(&options, false).map_err(|f| f.message)?;
    let checked = pipeline::check(&mut session, &options).map_err(failed)?;
    let target =
        Target { device: None, processors: PROCESSORS, arch: Some(OLDEST), block_shared: 48 << 10, memory: None };
    // quick, and the same every time
    let method = Some(Method::Hms);
    // none that somebody has taken
    let profile = Some("none".to_string());
    let cuda = CudaOptions { scheme: Some(scheme), method, profile, ..CudaOptions::default() };
    let code = CodeChoices::default().options(&options);
    Ok(texts::texts(&mut session, &checked, &code, &cuda, &target).map_err(failed)?.device)
}

/// A row of the page: what the most demanding kernel needs.
fn row(program: &str, scheme: Scheme, arch: Arch, all: &[Resources]) -> String {
    let most = |of: fn(&Resources) -> u32| all.iter().map(of).max().unwrap_or(0);
    let kernels = all.iter().filter(|r| r.registers.is_some()).count();
    let (registers, shared, stack) = (most(|r| r.registers.unwrap_or(0)), most(|r| r.shared), most(|r| r.stack));
    let spills: u32 = all.iter().map(|r| r.spill_stores).sum();
    format!("| {program} | {} | {arch} | {kernels} | {registers} | {shared} | {stack} | {spills} |", scheme.name())
}

static ROWS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn compile(program: &'static str, scheme: Scheme) -> Result<(), Failed> {
    let Some(nvrtc) = check::nvrtc(&format!("registers of {program}")) else { return Ok(()) };
    let text = text(program, scheme)?;
    for arch in TESTED {
        let all = check::needs(&nvrtc, &text, arch).map_err(|f| f.message)?;
        let spilt = all.iter().map(|r| r.spill_stores).sum::<u32>();
        if spilt > 0 {
            let who: Vec<&Resources> = all.iter().filter(|r| r.spills()).collect();
            return Err(format!("{arch}: {spilt} bytes are spilt: {who:?}").into());
        }
        let kernels = all.iter().filter_map(|r| r.registers).collect::<Vec<_>>();
        if kernels.len() < 3 || kernels.iter().any(|n| !(1..=255).contains(n)) {
            return Err(format!("{arch}: registers of kernels: {kernels:?}").into());
        }
        if let Ok(mut rows) = ROWS.lock() {
            rows.push(row(program, scheme, arch, &all));
        }
    }
    Ok(())
}

/// Keeps the rows, or looks whether there is one for each that was compiled.
fn keep() -> bool {
    let Ok(mut rows) = ROWS.lock() else { return false };
    if rows.is_empty() {
        return true;
    }
    rows.sort();
    let path = root().join("benchmarks/results/registers.md");
    // not where tests run each in a process of its own, or only some of them
    let whole = rows.len() == PROGRAMS.len() * Scheme::NAMES.len() * TESTED.len();
    if std::env::var_os("SLUICE_BLESS").is_some() && whole {
        let text = format!(
            "# What the kernels of the benchmarks need\n\nRegisters of a thread, bytes of static shared memory of a block, of stack and of registers spilt by a thread: the \
             most of all kernels of a program (spilt: of all together), scheduled for {PROCESSORS} multiprocessors, as the CUDA compiler of scripts/cuda-requirements.txt \
             says. `SLUICE_BLESS=1 SLUICE_ALL_SCHEMES=1 cargo test -p sluice-tests --test registers` writes this page.\n\n\
             | program | scheme | architecture | kernels | registers | shared | stack | spilt |\n|---|---|---|---|---|---|---|---|\n{}\n",
            rows.join("\n")
        );
        return std::fs::write(path, text).is_ok();
    }
    // where nobody has written it yet, there is nothing to compare with
    let Ok(kept) = std::fs::read_to_string(path) else { return true };
    let start = |row: &str| row.split('|').take(4).collect::<Vec<_>>().join("|");
    let missing: Vec<&String> = rows.iter().filter(|r| !kept.contains(&start(r))).collect();
    if !missing.is_empty() {
        eprintln!("benchmarks/results/registers.md lacks (SLUICE_BLESS=1 writes it)\n{missing:#?}");
    }
    missing.is_empty()
}

fn main() {
    let every = std::env::var_os("SLUICE_ALL_SCHEMES").is_some();
    let schemes: Vec<Scheme> = if every { Scheme::NAMES.iter().map(|(_, s)| *s).collect() } else { SCHEMES.to_vec() };
    let trials = PROGRAMS.into_iter().flat_map(|program| {
        schemes.iter().map(move |scheme| {
            let scheme = *scheme;
            Trial::test(format!("{program}::{}", scheme.name()), move || compile(program, scheme))
        })
    });
    let trials: Vec<Trial> = trials.collect();
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    if !conclusion.has_failed() && !keep() {
        std::process::exit(1);
    }
    conclusion.exit();
}
