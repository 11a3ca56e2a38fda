//! How near to the best proven bound each scheduler comes, for the programs of the suite on 16 processors (the paper's card) and on 132.
//! And how long the whole flow takes for a program of a thousand filters. Called by scripts/bench.
//!
//! ```text
//! schedules SLUICE RESULTS     the sluice command, and the start of the names of the files to write (.md, .json)
//! ```

#![allow(clippy::disallowed_methods)] // it starts sluice, reads the command line and writes its results

use serde_json::{Value, json};
use sluice_benchmarks::measure::keep;
use sluice_benchmarks::suite::SUITE;
use sluice_benchmarks::thousand;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const MACHINES: [&str; 2] = ["8800-gts-512", "h200"];
const METHODS: [&str; 3] = ["ims", "hms", "ilp"];

/// One schedule.
fn schedule(sluice: &str, program: &Path, machine: &str, method: &str) -> Result<Value, String> {
    let mut command = Command::new(sluice);
    command.arg("schedule").arg(program).args(["--machine", machine, "--method", method, "--format", "json"]);
    let out = command.output().map_err(|e| format!("{sluice}: {e}"))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    serde_json::from_slice(&out.stdout).map_err(|e| e.to_string())
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [sluice, results] = &arguments[..] else { return Err("schedules SLUICE RESULTS".into()) };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut text = String::from(
        "| program | processors | instances | per processor | method | II | II/MII | II/bound | stages | channel bytes | seconds |\n\
         |---|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut all = Vec::new();
    let mut worst: Vec<(String, f64, f64)> = METHODS.iter().map(|m| (m.to_string(), 0.0, 0.0)).collect();
    for b in &SUITE {
        for machine in MACHINES {
            // The best bound that any of them proves is everybody's.
            let mut found = Vec::new();
            for method in METHODS {
                // Of milliseconds the shortest of a few counts: the others are somebody else's.
                let times = if method == "ims" { 5 } else { 1 };
                let runs = (0..times).map(|_| schedule(sluice, &b.program(&root, None), machine, method));
                let runs = runs.collect::<Result<Vec<Value>, String>>()?;
                let seconds = |r: &Value| r["seconds"].as_f64().unwrap_or(f64::INFINITY);
                found.extend(runs.into_iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b))));
            }
            let lower = found.iter().filter_map(|r| r["lower"].as_u64()).max().unwrap_or(1).max(1);
            for (r, worst) in found.iter().zip(&mut worst) {
                let number = |name: &str| r[name].as_f64().unwrap_or(f64::NAN);
                let ratio = number("ii") / lower as f64;
                worst.1 = worst.1.max(ratio);
                worst.2 = worst.2.max(number("seconds"));
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {:.1} | {} | {} | {:.4} | {ratio:.4} | {} | {} | {:.3} |",
                    b.name,
                    r["machine"]["processors"],
                    r["instances"],
                    number("instances_per_processor"),
                    worst.0,
                    r["ii"],
                    number("ii_to_mii"),
                    r["stages"],
                    r["channel_bytes"],
                    number("seconds")
                );
                let fields =
                    ["method", "ii", "mii", "lower", "stages", "channel_bytes", "seconds", "instances", "notes"];
                let kept: serde_json::Map<String, Value> =
                    fields.iter().map(|f| (f.to_string(), r[*f].clone())).collect();
                all.push(json!({ "program": b.name, "machine": machine, "best_bound": lower, "schedule": kept }));
            }
        }
    }
    text.push('\n');
    for (method, ratio, seconds) in &worst {
        let _ = writeln!(
            text,
            "{method}: at most {:.2} % above the best bound, at most {seconds:.3} s\n",
            (ratio - 1.0) * 100.0
        );
    }
    let thousand = thousands(sluice, &mut text)?;
    keep(results, sluice, &text, json!({ "schedules": all, "thousand": thousand }))
}

/// The whole flow for a program of a thousand filters, five times each, of which the shortest counts; and the size of its report.
fn thousands(sluice: &str, text: &mut String) -> Result<Vec<Value>, String> {
    const TIMES: usize = 5;
    text.push_str(
        "A program of 1,000 filters, seconds:\n\n\
         | command | machine | method | front end | kernels | plan | method | whole |\n|---|---|---|--:|--:|--:|--:|--:|\n",
    );
    let mut all = Vec::new();
    for (command, machine, method) in [
        ("schedule", MACHINES[0], "ims"),
        ("schedule", MACHINES[0], "hms"),
        ("schedule", MACHINES[1], "ims"),
        ("schedule", MACHINES[1], "hms"),
        ("report", MACHINES[1], "hms"),
    ] {
        let runs =
            (0..TIMES).map(|_| thousand::run(sluice, command, machine, method)).collect::<Result<Vec<_>, _>>()?;
        let Some((p, bytes)) = runs.into_iter().min_by(|a, b| a.0.whole.total_cmp(&b.0.whole)) else { continue };
        let _ = writeln!(
            text,
            "| {command} | {machine} | {method} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            p.front_end, p.kernels, p.plan, p.method, p.whole
        );
        all.push(json!({
            "command": command, "machine": machine, "method": method, "front_end": p.front_end, "kernels": p.kernels,
            "plan": p.plan, "schedule": p.method, "whole": p.whole, "bytes": bytes,
        }));
        if command == "report" {
            let _ = writeln!(text, "\nIts report has {bytes} bytes.\n");
        }
    }
    Ok(all)
}
