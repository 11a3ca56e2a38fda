//! How soon a program's first output comes, by each way of running it, and how fast it runs then: code made in memory against the C compiler's and
//! the interpreter. Every run is a process of its own, from its start to its first byte; the C compiler's with an empty cache.
//!
//! ```text
//! start SLUICE RESULTS     the sluice command, and the start of the names of the files to write (.md, .json)
//! ```

#![allow(clippy::disallowed_methods)] // it measures time, starts processes and writes its results

use serde_json::{Value, json};
use sluice_benchmarks::beside::bytes;
use sluice_benchmarks::command;
use sluice_benchmarks::measure::{Spread, keep, spread};
use sluice_benchmarks::suite::SUITE;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs of each way for the first output; the C compiler's take longest.
const STARTS: usize = 9;
/// Runs of each way for the speed.
const RUNS: usize = 3;
/// Seconds until the first output of code made in memory.
const LIMIT: f64 = 0.1;
/// Words of input for the speed, about.
const WORDS: usize = 1 << 21;
const WAYS: [&str; 3] = ["jit", "cc", "interpret"];

/// Small programs that print.
const SMALL: [(&str, &str); 3] = [
    ("counts", "void->void filter Main { int i; work { println(i); i = i + 1; } }\n"),
    (
        "a moving average",
        "void->void pipeline Main { add Source; add Average(8); add Show; }
void->float filter Source { float x; work push 1 { push(sin(x)); x = x + 0.1; } }
float->float filter Average(int n) { work pop 1 peek n push 1 {
    float s = 0;
    for (int i = 0; i < n; i++) s += peek(i);
    pop();
    push(s / n);
} }
float->void filter Show { work pop 1 { println(pop()); } }
",
    ),
    (
        "an equaliser of 8 bands",
        "void->void pipeline Main { add Source; add Bands; add Show; }
void->float filter Source { int i; work push 1 { push(i % 17 - 8.0); i = i + 1; } }
float->float splitjoin Bands { split duplicate; for (int b = 0; b < 8; b++) add Band(0.05 * (b + 1)); join roundrobin; }
float->float filter Band(float f) {
    float[32] h;
    init { for (int i = 0; i < 32; i++) h[i] = cos(f * (i - 16)) / 32; }
    work pop 1 peek 32 push 1 {
        float s = 0;
        for (int i = 0; i < 32; i++) s += h[i] * peek(i);
        pop();
        push(s);
    }
}
float->void filter Show { work pop 8 { float s = 0; for (int i = 0; i < 8; i++) s += pop(); println(s); } }
",
    ),
];

/// Seconds from the start of a process to its first byte, which is not awaited any longer then.
fn first_byte(sluice: &str, program: &Path, way: &str, cache: &Path) -> Result<f64, String> {
    let _ = std::fs::remove_dir_all(cache);
    let start = Instant::now();
    let mut child = Command::new(sluice)
        .args(["run", "--back-end", way, "-n", "100"])
        .arg(program)
        .env("SLUICE_CACHE", cache)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{sluice}: {e}"))?;
    let mut byte = [0];
    let got = child.stdout.take().map(|mut out| out.read_exact(&mut byte));
    let time = start.elapsed().as_secs_f64();
    let status = child.wait().map_err(|e| e.to_string())?;
    match got {
        // it may have been told that nobody reads any more
        Some(Ok(())) => Ok(time),
        _ => Err(format!("{}: no output by {way}: {status}", program.display())),
    }
}

/// Seconds that the program itself ran, as `--time-passes` says.
fn run_time(sluice: &str, program: &Path, way: &str, input: &Path, cache: &Path) -> Result<f64, String> {
    let out = Command::new(sluice)
        .args(["run", "--time-passes", "--back-end", way])
        .arg(program)
        .arg("--input")
        .arg(input)
        .args(["--output", "/dev/null", "--output-format", "raw"])
        .env("SLUICE_CACHE", cache)
        .output()
        .map_err(|e| format!("{sluice}: {e}"))?;
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let time = said.lines().find_map(|l| l.strip_suffix(" ms  run")?.trim().parse::<f64>().ok());
    time.filter(|_| out.status.success())
        .map(|milliseconds| milliseconds / 1e3)
        .ok_or_else(|| format!("{} by {way}: {}\n{said}", program.display(), out.status))
}

fn milliseconds(s: Spread) -> String {
    format!("{:.1} ({:.1} to {:.1})", s.median * 1e3, s.least * 1e3, s.greatest * 1e3)
}

fn measure(sluice: &str, results: &str) -> Result<(), String> {
    let work = std::env::temp_dir().join(format!("sluice-start-{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
    let done = tables(sluice, &work, results);
    let _ = std::fs::remove_dir_all(&work);
    done
}

fn tables(sluice: &str, work: &Path, results: &str) -> Result<(), String> {
    let cache = work.join("cache");
    let mut text = String::from(
        "# Time to the first output\n\nMilliseconds from the start of the process; median (least to greatest). The C compiler's cache is empty.\n\n\
         | program | in memory | C compiler | interpreter | at most 100 ms in memory |\n|---|---|---|---|---|\n",
    );
    let (mut first, mut speed) = (Vec::<Value>::new(), Vec::<Value>::new());
    let mut holds = true;
    for (name, source) in SMALL {
        let program = work.join("small.str");
        std::fs::write(&program, source).map_err(|e| e.to_string())?;
        let mut times = [const { Vec::new() }; WAYS.len()];
        // in turn, so that a disturbance hits all alike
        for _ in 0..STARTS {
            for (way, times) in WAYS.iter().zip(&mut times) {
                times.push(first_byte(sluice, &program, way, &cache)?);
            }
        }
        let [jit, cc, interpret] = times.map(spread);
        let well = jit.median <= LIMIT;
        holds &= well;
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} |",
            milliseconds(jit),
            milliseconds(cc),
            milliseconds(interpret),
            if well { "yes" } else { "**no**" }
        );
        first.push(json!({ "program": name, "jit_s": jit.median, "cc_s": cc.median, "interpret_s": interpret.median }));
    }
    text.push_str(
        "\n# Speed afterwards\n\nThe suite's programs on the same input: seconds of the C compiler's code for each second of code made in memory.\n\n\
         | program | in memory, ms | C compiler, ms | ratio |\n|---|---|---|---|\n",
    );
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    for b in &SUITE {
        let input = work.join("in.raw");
        std::fs::write(&input, bytes(&b.input(WORDS / b.input.0.words()))).map_err(|e| e.to_string())?;
        let program = b.program(&root, None);
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..RUNS {
            for (way, times) in WAYS.iter().zip(&mut times) {
                times.push(run_time(sluice, &program, way, &input, &cache)?);
            }
        }
        let [jit, cc] = times.map(spread);
        let ratio = cc.median / jit.median;
        let _ = writeln!(text, "| {} | {} | {} | {ratio:.2} |", b.name, milliseconds(jit), milliseconds(cc));
        speed.push(json!({ "program": b.name, "jit_s": jit.median, "cc_s": cc.median, "ratio": ratio }));
    }
    keep(results, sluice, &text, json!({ "first_output": first, "speed": speed, "limit_s": LIMIT }))?;
    if holds { Ok(()) } else { Err("the first output takes longer than 100 ms".into()) }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [sluice, results] = &arguments[..] else { command::usage("start SLUICE RESULTS") };
    command::ended(measure(sluice, results));
}
