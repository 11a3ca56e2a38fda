//! Where what stays of a channel is kept: moved to its front after each batch, as native code does it with short windows (shifted), or when there is no room behind it, as with long ones (slid), or in a
//! ring, with positions that are masked, or mapped twice in a row. A filter in C ([`benchmarks/peeks/peeks.c`](../peeks/peeks.c)) over windows, batches and items looked at, as ratios. Called by scripts/bench.
//!
//! ```text
//! peeks SLUICE WORK RESULTS     the sluice command, a folder for what is compiled, and the start of the name of the files to write (.md, .json)
//! ```

#![allow(clippy::disallowed_methods)] // it starts commands and writes its results

use serde_json::json;
use sluice_benchmarks::command;
use sluice_benchmarks::measure::keep;
use std::path::Path;
use std::process::Command;

/// Items of a turn, and turns: the best counts.
const ITEMS: usize = 4_000_000;
const TURNS: usize = 7;

/// Items of a batch that the engine takes where the window is short: the buffers fit a part of the cache.
const USUAL: usize = 32768;
/// Items that a host may have at a time, such as a block of samples.
const FEW: usize = 64;
/// Items of a window from which on it slides.
const SLIDES: usize = 256;

fn output(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    match out.status.success() {
        true => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&out.stderr))),
    }
}

/// Nanoseconds of an item: shifted, slid, masked, mapped.
fn times(race: &Path, window: usize, batch: usize, looked: usize) -> Result<[f64; 4], String> {
    let words = [window, batch, looked, ITEMS, TURNS].map(|n| n.to_string());
    let text = output(Command::new(race).args(words))?;
    let all: Vec<&str> = text.split_whitespace().collect();
    let [shifted, slid, masked, mapped, "same"] = all[..] else {
        return Err(format!("the ways do not give the same: {text}"));
    };
    let number = |s: &str| s.parse::<f64>().map_err(|e| format!("{s}: {e}"));
    Ok([number(shifted)?, number(slid)?, number(masked)?, number(mapped)?])
}

fn run(sluice: &str, work: &Path, results: &str) -> Result<(), String> {
    let race = work.join("peeks");
    output(
        Command::new("gcc")
            .args(["-O3", "-march=native", "-o"])
            .args([race.as_os_str(), "benchmarks/peeks/peeks.c".as_ref()]),
    )?;
    let mut table = String::from(
        "| window | items looked at | batch | slid, shifted / it | masked ring, shifted / it | mapped ring, shifted / it | as native code runs it |\n|---|---|---|---|---|---|---|\n",
    );
    let mut rows = Vec::new();
    for window in [64, 1024, 16384, 131_072, 1 << 20] {
        for looked in [2, 16, 64] {
            // what native code takes: as much as fits the cache, and never less than the window
            let taken = window.max(USUAL);
            // and what a host may give it at a time
            let batches: Vec<usize> = [FEW, window / 16, window, USUAL].into_iter().filter(|b| *b <= taken).collect();
            for (i, batch) in batches.iter().enumerate().filter(|(i, b)| !batches[..*i].contains(b)) {
                let [shifted, slid, masked, mapped] = times(&race, window, *batch, looked)?;
                let (slid, masked, mapped, usual) =
                    (shifted / slid, shifted / masked, shifted / mapped, batches[i] == taken);
                let mark = match (usual, window >= SLIDES) {
                    (true, false) => "shifted",
                    (true, true) => "slid",
                    _ => "",
                };
                table.push_str(&format!(
                    "| {window} | {looked} | {batch} | {slid:.2} | {masked:.2} | {mapped:.2} | {mark} |\n"
                ));
                rows.push(json!({ "window": window, "looked_at": looked, "batch": batch, "slid": slid, "masked": masked, "mapped": mapped, "usual": usual }));
            }
        }
    }
    table.push_str(&format!("\nThe best of {TURNS} turns of {ITEMS} items; above 1 the way is faster than moving what stays after each batch.\n"));
    keep(results, sluice, &table, json!({ "rows": rows }))
}

fn main() {
    command::three("peeks", run);
}
