//! The eight benchmarks as CUDA, compiled by the real CUDA compiler for all architectures: no filter spills registers. What kernels need is kept in
//! `benchmarks/results/registers.md`, what the tiles of regions are like in `benchmarks/results/tiles.md`; `SLUICE_BLESS=1` writes both. `SLUICE_ALL_SCHEMES` compiles all schemes
//! instead of three.
//!
//! Without the compiler (scripts/install-cuda) the tests say that they were skipped; with `SLUICE_NEEDS_CUDA` they fail.

#![allow(clippy::disallowed_methods)] // tests read and write files

use libtest_mimic::{Arguments, Failed, Trial};
use sluice_codegen::cuda::TileCounts;
use sluice_driver::cuda::arch::{Arch, OLDEST, TESTED};
use sluice_driver::cuda::resources::Resources;
use sluice_driver::cuda::run::{Target, Texts};
use sluice_driver::cuda::{check, texts};
use sluice_driver::options::{CodeChoices, CudaOptions, ProgramOptions, Scheme};
use sluice_driver::pipeline::{self, Halt};
use sluice_driver::scheduling::Method;
use sluice_driver::session::Session;
use std::collections::BTreeMap;
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
fn made(program: &str, scheme: Scheme) -> Result<Texts, Failed> {
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
    texts::texts(&mut session, &checked, &code, &cuda, &target).map_err(failed)
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
static TILES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Of a multiprocessor of the architecture sm_90: bytes of shared memory, and those that a block takes beside its own; registers, threads, blocks.
const SHARED: (u64, u64) = (228 << 10, 1 << 10);
const REGISTERS: u64 = 64 << 10;
const THREADS: u64 = 2048;
const BLOCKS: u64 = 32;
/// Registers of a warp are given so many at a time.
const AT_ONCE: u64 = 256;
/// Columns of a row that the compiler's version does not change.
const COUNTED: usize = 10;

/// A row of the page of tiles: what a region's kernel is like, and how many of its blocks a multiprocessor has at a time.
fn tile(program: &str, scheme: Scheme, tile: &TileCounts, all: &[Resources]) -> Option<String> {
    let registers = u64::from(all.iter().find(|r| r.name == tile.kernel)?.registers?);
    // with roles, a warp more for each 128 threads that fire
    let threads = tile.threads + if scheme == Scheme::FusedWarps { tile.threads.div_ceil(128) * 32 } else { 0 };
    let by_shared = SHARED.0 / (tile.shared + SHARED.1);
    let by_registers = REGISTERS / ((registers * 32).next_multiple_of(AT_ONCE) * threads.div_ceil(32));
    let blocks = by_shared.min(by_registers).min(THREADS / threads).min(BLOCKS);
    let TileCounts { kernel, states, shared, apart, .. } = tile;
    let (barriers, busy, at_once) = (tile.barriers(), tile.busy(), blocks * states);
    Some(format!(
        "| {program} | {} | {kernel} | {states} | {} | {shared} | {apart} | {barriers} | {busy:.0} % | {registers} | {by_shared} | {by_registers} | {at_once} |",
        scheme.name(),
        tile.threads
    ))
}

fn compile(program: &'static str, scheme: Scheme) -> Result<(), Failed> {
    let Some(nvrtc) = check::nvrtc(&format!("registers of {program}")) else { return Ok(()) };
    let made = made(program, scheme)?;
    for arch in TESTED {
        let all = check::needs(&nvrtc, &made.device, arch).map_err(|f| f.message)?;
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
        if arch.to_string() == "sm_90"
            && let Ok(mut tiles) = TILES.lock()
        {
            tiles.extend(made.tiles.iter().filter_map(|t| tile(program, scheme, t, &all)));
        }
    }
    Ok(())
}

/// Rows that are kept, with new ones in their places: the first `keys` columns say which is which.
fn merged(kept: &str, new: &[String], keys: usize) -> Vec<String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    // below the line under the heads
    let rows = kept.lines().skip_while(|l| !l.starts_with("|---")).skip(1).map(str::to_string);
    for row in rows.chain(new.iter().cloned()) {
        all.insert(columns(&row, keys), row);
    }
    all.into_values().collect()
}

/// The first columns of a row.
fn columns(row: &str, n: usize) -> String {
    row.split('|').take(n + 1).collect::<Vec<_>>().join("|")
}

/// Keeps the rows of a page, or looks whether those that were compiled are there: `keys` columns of it say which, `same` of them are as they are.
fn page(name: &str, head: &str, rows: &Mutex<Vec<String>>, (keys, same, least): (usize, usize, usize)) -> bool {
    let Ok(rows) = rows.lock() else { return false };
    let path = root().join("benchmarks/results").join(name);
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    // not where tests run each in a process of its own, or only some of them
    if std::env::var_os("SLUICE_BLESS").is_some() && rows.len() >= least {
        return std::fs::write(path, format!("{head}\n{}\n", merged(&kept, &rows, keys).join("\n"))).is_ok();
    }
    // where nobody has written it yet, there is nothing to compare with
    let there = |row: &&String| kept.lines().any(|l| columns(l, same) == columns(row, same));
    let missing: Vec<&String> = rows.iter().filter(|r| !kept.is_empty() && !there(r)).collect();
    if !missing.is_empty() {
        eprintln!("benchmarks/results/{name} lacks (SLUICE_BLESS=1 writes it)\n{missing:#?}");
    }
    missing.is_empty()
}

/// Both pages.
fn keep() -> bool {
    let registers = format!(
        "# What the kernels of the benchmarks need\n\nRegisters of a thread, bytes of static shared memory of a block, of stack and of registers spilt by a thread: the \
         most of all kernels of a program (spilt: of all together), scheduled for {PROCESSORS} multiprocessors, as the CUDA compiler of scripts/cuda-requirements.txt \
         says. `SLUICE_BLESS=1 SLUICE_ALL_SCHEMES=1 cargo test -p sluice-tests --test registers` writes this page.\n\n\
         | program | scheme | architecture | kernels | registers | shared | stack | spilt |\n|---|---|---|---|---|---|---|---|"
    );
    let tiles = "# What the tiles of the benchmarks are like\n\nFor each kernel of a region: steady states of a tile; threads of a block that fire; bytes of shared memory of a block, and what those that fire would take if no \
         two channels had the same place at different times; barriers of a tile; how many of the threads have something to do, by the items that the busiest thread accesses in each step; registers of \
         a thread on sm_90, and how many blocks a multiprocessor of that architecture has at a time by shared memory and by registers; steady states that these, or as many as its threads allow, work on at a time. \
         Nothing here was measured on a GPU. `SLUICE_BLESS=1 cargo test -p sluice-tests --test registers` writes this page.\n\n\
         | program | scheme | kernel | steady states | threads | shared | apart | barriers | busy | registers | blocks, shared | blocks, registers | at a time |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|";
    let schemes = [Scheme::Fused, Scheme::FusedWarps].len();
    let least = (PROGRAMS.len() * SCHEMES.len() * TESTED.len(), PROGRAMS.len() * schemes);
    page("registers.md", &registers, &ROWS, (3, 3, least.0))
        && page("tiles.md", tiles, &TILES, (3, COUNTED - 1, least.1))
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
