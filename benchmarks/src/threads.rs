//! What several threads gain: `sluice run --threads N` against `--threads 1`, in turns, as ratios. Called by scripts/bench.
//!
//! Beside it stands what the machine itself gains: N runs of one thread each, at once, that have nothing to do with each other. Processors that share a core, a cache, memory or the
//! power for their clocks do not work N times as fast together as one does alone, whoever divides the work.
//!
//! ```text
//! threads SLUICE WORK RESULTS     the sluice command, a folder for input and output, and the start of the name of the files to write (.md, .json)
//! ```

#![allow(clippy::disallowed_methods)] // it measures time, starts the command and writes its results

use serde_json::json;
use sluice_benchmarks::command;
use sluice_benchmarks::measure::{keep, spread};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const TURNS: usize = 7;
/// Bytes of input, and floats: so many that the start of a command, which is in its time, is little of it.
const BYTES: u64 = 1_024_000_000;
const FLOATS: u64 = 512_000_000;
/// Steady states of a program that takes a hundred times as long for each item.
const FEWER: &str = "1600000";

/// A program with what it is run with.
struct Case {
    name: &'static str,
    arguments: Vec<String>,
    /// Does it have an output, or does it only print?
    writes: bool,
}

/// What so many runs of one thread take that begin at once, from the first's start to the last's end; their output goes nowhere.
fn at_once(sluice: &str, case: &Case, runs: usize) -> Result<f64, String> {
    let fault = |e: std::io::Error| format!("{sluice}: {e}");
    let start = Instant::now();
    let mut children = Vec::with_capacity(runs);
    for _ in 0..runs {
        let mut command = Command::new(sluice);
        command.arg("run").args(&case.arguments).args(["--threads", "1"]).stdout(Stdio::null());
        if case.writes {
            command.args(["--output", "/dev/null"]);
        }
        children.push(command.spawn().map_err(fault)?);
    }
    // all are waited for, whatever becomes of one of them
    let ends: Vec<bool> = children.iter_mut().map(|child| child.wait().is_ok_and(|status| status.success())).collect();
    let time = start.elapsed().as_secs_f64();
    if ends.iter().all(|well| *well) { Ok(time) } else { Err(format!("{}: a run failed", case.name)) }
}

/// What a run takes, whose output goes there: to a file, or nowhere, since what a disk takes is not what is measured.
fn seconds(sluice: &str, case: &Case, threads: usize, output: &Path) -> Result<f64, String> {
    let mut command = Command::new(sluice);
    command.arg("run").args(&case.arguments).args(["--threads", &threads.to_string()]);
    if case.writes {
        command.arg("--output").arg(output);
    }
    let start = Instant::now();
    let out = command.output().map_err(|e| format!("{sluice}: {e}"))?;
    let time = start.elapsed().as_secs_f64();
    if !out.status.success() {
        return Err(format!("{}: {}", case.name, String::from_utf8_lossy(&out.stderr)));
    }
    if !case.writes {
        std::fs::write(output, out.stdout).map_err(|e| e.to_string())?;
    }
    Ok(time)
}

/// Writes a file, and waits until it is on the disk: who brings it there later works beside what is measured.
fn written(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let write = || {
        let mut file = std::fs::File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|e| format!("{}: {e}", path.display()))
}

fn run(sluice: &str, work: &Path, results: &str) -> Result<(), String> {
    let input = work.join("threads.iq");
    let bytes: Vec<u8> = (0..BYTES).map(|i| (i.wrapping_mul(6364136223846793005) >> 56) as u8).collect();
    written(&input, &bytes)?;
    let floats = work.join("threads.f32");
    let bytes: Vec<u8> =
        (0..FLOATS).flat_map(|i| ((i.wrapping_mul(7919) % 1000) as f32 / 500.0 - 1.0).to_le_bytes()).collect();
    written(&floats, &bytes)?;
    let floats = floats.display().to_string();
    let output = work.join("threads.out");
    let text = |parts: &[&str]| parts.iter().map(|p| p.to_string()).collect::<Vec<_>>();
    let input = input.display().to_string();
    let fm = ["examples/fm.str", "--input", &input, "--input-format", "rtl", "--output-format", "f32"];
    let mut cases = vec![
        Case { name: "FM receiver, from bytes to sound", arguments: text(&fm), writes: true },
        Case {
            name: "low-pass with arc tangents, nearly all in one filter",
            arguments: text(&["benchmarks/threads/lowpass.str", "-n", "300000"]),
            writes: false,
        },
    ];
    for (name, file, more) in [
        ("filter bank", "benchmarks/filterbank/filterbank.str", &[][..]),
        ("channel vocoder", "benchmarks/channelvocoder/channelvocoder.str", &["-n", FEWER][..]),
        ("FM radio with an equaliser", "benchmarks/fmradio/fmradio.str", &[][..]),
    ] {
        let arguments = text(&[&[file, "--input", &floats], more].concat());
        cases.push(Case { name, arguments, writes: true });
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut table = String::from(
        "| program | threads | time of one thread / time | as many runs at once | same bytes |\n|---|---|---|---|---|\n",
    );
    let mut rows = Vec::new();
    for case in &cases {
        let counts: Vec<usize> = [2, 4].into_iter().filter(|n| *n <= cores.max(2)).collect();
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); counts.len() + 1];
        let mut beside: Vec<Vec<f64>> = vec![Vec::new(); counts.len()];
        let mut same = true;
        let mut wanted = Vec::new();
        for turn in 0..=TURNS {
            for (i, threads) in [1].iter().chain(&counts).enumerate() {
                // the first turn compiles, and is compared
                let to = if turn == 0 { output.as_path() } else { Path::new("/dev/null") };
                let time = seconds(sluice, case, *threads, to)?;
                if turn == 0 {
                    let got = std::fs::read(&output).map_err(|e| e.to_string())?;
                    if i == 0 { wanted = got } else { same &= got == wanted }
                } else {
                    times[i].push(time);
                }
            }
            for (threads, times) in counts.iter().zip(&mut beside).filter(|_| turn > 0) {
                times.push(at_once(sluice, case, *threads)?);
            }
        }
        let one = spread(times[0].clone()).median;
        for ((threads, times), beside) in counts.iter().zip(&times[1..]).zip(beside) {
            let gain = one / spread(times.clone()).median;
            let machine = *threads as f64 * one / spread(beside).median;
            let row = format!(
                "| {} | {threads} | {gain:.2} | {machine:.2} | {} |\n",
                case.name,
                if same { "yes" } else { "NO" }
            );
            table.push_str(&row);
            rows.push(
                json!({ "program": case.name, "threads": threads, "ratio": gain, "machine": machine, "same": same }),
            );
        }
    }
    table.push_str(&format!(
        "\nOn {cores} processors; medians of {TURNS} turns; the start of the command is in all times, and output goes nowhere. *As many runs at once*: how many times as \
         much as one run by itself so many runs of one thread do in the same time, that have nothing to do with each other: what the machine's processors gain where nothing has to be divided.\n"
    ));
    keep(results, sluice, &table, json!({ "rows": rows }))
}

fn main() {
    command::three("threads", run);
}
