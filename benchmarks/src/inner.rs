//! What unrolling and software pipelining of the loops in filters gain: each program with `--inner=KIND` against `--inner=none`, in turns, as
//! ratios. Called by scripts/bench.
//!
//! ```text
//! inner SLUICE WORK RESULTS     the sluice command, a folder for what is built, and the start of the names of the files to write (.md, .json)
//! ```

#![allow(clippy::disallowed_methods)] // it starts sluice, reads the command line and writes its results

use serde_json::{Value, json};
use sluice_benchmarks::beside::{Compiled, Program};
use sluice_benchmarks::measure::{Spread, keep, seconds, spread};
use sluice_benchmarks::suite::SUITE;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seconds that a repetition takes, about: short, so that most are not disturbed by what else the machine does.
const REPETITION: f64 = 0.002;
const REPETITIONS: usize = 61;
/// After so many each program is opened again.
const PLACES: usize = 6;
/// The most items of input of a repetition.
const MOST: usize = 1 << 18;

/// Without first: the others are compared with it.
const KINDS: [&str; 5] = ["none", "unroll", "pipeline", "both", "auto"];

/// A program to measure.
struct Case {
    name: String,
    file: PathBuf,
    widths: (usize, usize),
    /// So many words of input, for so many items.
    input: Box<dyn Fn(usize) -> Vec<u32>>,
}

/// The programs of the suite, and the loops of `benchmarks/inner`.
fn cases() -> Result<Vec<Case>, String> {
    let root = Path::new(".");
    let mut all: Vec<Case> = (SUITE.iter())
        .map(|b| Case {
            name: b.name.into(),
            file: b.program(root, None),
            widths: (b.input.0.words(), b.output.0.words()),
            input: Box::new(|items| b.input(items)),
        })
        .collect();
    let folder = std::fs::read_dir("benchmarks/inner").map_err(|e| format!("benchmarks/inner: {e}"))?;
    let mut files: Vec<PathBuf> = folder.flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "str"));
    files.sort();
    for file in files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ints = std::fs::read_to_string(&file).is_ok_and(|t| t.contains("int->int"));
        all.push(Case {
            name: format!("{stem} (one filter)"),
            file,
            widths: (1, 1),
            input: Box::new(move |n| noise(n, ints)),
        });
    }
    Ok(all)
}

/// Numbers evenly spread from -1 to 1, or ints.
fn noise(items: usize, ints: bool) -> Vec<u32> {
    let mut x = 0x2545_f491_4f6c_dd1du64;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (x >> 33) as u32;
        if ints { bits } else { (bits as f32 / (1u32 << 30) as f32 - 1.0).to_bits() }
    };
    (0..items).map(|_| next()).collect()
}

/// The program as a library.
fn build(sluice: &str, work: &Path, case: &Case, kind: &str) -> Result<PathBuf, String> {
    let stem = case.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = work.join(kind);
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let library = folder.join(format!("lib{stem}.so"));
    let mut command = Command::new(sluice);
    command.args(["build", "--lib", "--inner", kind]).arg(&case.file).arg("-o").arg(&library);
    let out = command.output().map_err(|e| format!("{sluice}: {e}"))?;
    if !out.status.success() {
        return Err(format!("{}: {}", case.name, String::from_utf8_lossy(&out.stderr)));
    }
    Ok(library)
}

fn open(library: &Path, case: &Case) -> Result<Compiled, String> {
    let stem = case.file.file_stem().unwrap_or_default().to_string_lossy();
    Compiled::open(library, &stem, case.widths)
}

struct Measured {
    name: String,
    items: usize,
    /// By kind.
    times: Vec<Spread>,
    /// By kind: the median of the ratios of neighbouring turns to `none`.
    ratios: Vec<f64>,
}

fn measure(sluice: &str, work: &Path, case: &Case) -> Result<Measured, String> {
    let built = KINDS.iter().map(|k| build(sluice, work, case, k)).collect::<Result<Vec<_>, _>>()?;
    let (trial, mut least) = ((case.input)(1 << 13), f64::INFINITY);
    let mut first = open(&built[0], case)?;
    for _ in 0..5 {
        let mut result = Ok(None);
        least = least.min(seconds(|| result = first.run(&trial, &mut Vec::new())));
        result?;
    }
    let items = ((trial.len() / case.widths.0) as f64 * REPETITION / least).clamp(1024.0, MOST as f64) as usize;
    let input = (case.input)(items);
    let mut runners = Vec::new();
    let mut times = vec![Vec::new(); KINDS.len()];
    let mut wanted = Vec::new();
    for round in 0..=REPETITIONS {
        // where a program's memory lies changes its time: it lies elsewhere again and again
        if round % PLACES == 0 {
            runners = built.iter().map(|library| open(library, case)).collect::<Result<Vec<_>, _>>()?;
        }
        // each kind has its turn at each place
        for k in 0..KINDS.len() {
            let i = (k + round) % KINDS.len();
            let mut output = Vec::with_capacity(input.len() * 16 + 4096);
            let mut result = Ok(None);
            let time = seconds(|| result = runners[i].run(&input, &mut output));
            result?;
            // the first turn warms up, and is compared
            match round {
                0 if k == 0 => wanted = output,
                0 if output != wanted => return Err(format!("{}: {} gives other bytes", case.name, KINDS[i])),
                0 => {}
                _ => times[i].push(time),
            }
        }
    }
    let ratio = |of: &[f64]| spread(of.iter().zip(&times[0]).map(|(a, b)| a / b).collect()).median;
    let ratios = times.iter().map(|t| ratio(t)).collect();
    Ok(Measured { name: case.name.clone(), items, ratios, times: times.into_iter().map(spread).collect() })
}

fn table(all: &[Measured]) -> String {
    let mut text = String::from("| program | none, Mitems/s |");
    KINDS[1..].iter().for_each(|k| text.push_str(&format!(" {k}, time |")));
    text.push_str(&format!("\n|---|---|{}\n", "---|".repeat(KINDS.len() - 1)));
    for m in all {
        text.push_str(&format!("| {} | {:.1} |", m.name, m.items as f64 / m.times[0].median / 1e6));
        m.ratios[1..].iter().for_each(|r| text.push_str(&format!(" {r:.2} |")));
        text.push('\n');
    }
    text.push_str("| geometric mean | |");
    for k in 1..KINDS.len() {
        let sum: f64 = all.iter().map(|m| m.ratios[k].ln()).sum();
        text.push_str(&format!(" {:.3} |", (sum / all.len().max(1) as f64).exp()));
    }
    text.push('\n');
    text
}

fn run(sluice: &str, work: &Path, results: &str) -> Result<(), String> {
    let mut all = Vec::new();
    for case in cases()? {
        all.push(measure(sluice, work, &case)?);
    }
    let text = format!(
        "{}\nTimes as parts of the time of `none`: medians of {REPETITIONS} ratios of turns beside each other; below 1 is a gain.\n",
        table(&all)
    );
    let rows: Vec<Value> = (all.iter())
        .map(|m| {
            let times: serde_json::Map<String, Value> = (KINDS.iter().zip(&m.times).zip(&m.ratios))
                .map(|((kind, s), ratio)| {
                    let of =
                        json!({ "median_s": s.median, "least_s": s.least, "greatest_s": s.greatest, "ratio": ratio });
                    (kind.to_string(), of)
                })
                .collect();
            json!({ "program": m.name, "items": m.items, "times": times })
        })
        .collect();
    keep(results, sluice, &text, json!({ "rows": rows }))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, sluice, work, results] = &args[..] else {
        eprintln!("usage: inner SLUICE WORK RESULTS (scripts/bench calls it)");
        std::process::exit(2);
    };
    if let Err(why) = run(sluice, &Path::new(work).join("inner"), results) {
        eprintln!("error: {why}");
        std::process::exit(1);
    }
}
