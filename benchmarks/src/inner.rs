//! What unrolling and software pipelining of the loops in filters gain: each program with `--inner=KIND` against `--inner=none`, in turns, as
//! ratios. Called by scripts/bench.
//!
//! ```text
//! inner SLUICE WORK RESULTS     the sluice command, a folder for what is built, and the start of the names of the files to write (.md, .json)
//! ```

#![allow(clippy::disallowed_methods)] // it reads a folder, the command line and writes its results

use serde_json::json;
use sluice_benchmarks::command;
use sluice_benchmarks::kinds::{Case, REPETITIONS, Race, noise};
use sluice_benchmarks::measure::keep;
use sluice_benchmarks::suite::SUITE;
use std::path::{Path, PathBuf};

/// Without first: the others are compared with it.
const KINDS: [&str; 5] = ["none", "unroll", "pipeline", "both", "auto"];

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

fn run(sluice: &str, work: &Path, results: &str) -> Result<(), String> {
    let race = Race { sluice, work, option: "--inner", kinds: &KINDS, flags: &[], tolerance: None };
    let all = cases()?.iter().map(|case| race.measure(case)).collect::<Result<Vec<_>, _>>()?;
    let text = format!(
        "{}\nTimes as parts of the time of `none`: medians of {REPETITIONS} ratios of turns beside each other; below 1 is a gain.\n",
        race.table(&all)
    );
    keep(results, sluice, &text, json!({ "rows": race.rows(&all) }))
}

fn main() {
    command::three("inner", |sluice, work, results| run(sluice, &work.join("inner"), results));
}
