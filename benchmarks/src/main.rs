//! The figures of the project as ratios, each against a limit or against something that ran beside it in this very process:
//! repetitions take turns, so that a disturbance hits all alike. Called by scripts/bench.
//!
//! ```text
//! ratios SLUICE LIBRARIES RESULTS     the sluice command, a folder with libfm.so, reference-*.so and liquid.so, and the start of the names of
//!                                     the files to write (.md, .json)
//! ```

#![allow(clippy::disallowed_methods)] // it measures time, reads the command line and writes its results

use serde_json::{Value, json};
use sluice_benchmarks::beside::{Compiled, Plain, Program, bytes};
use sluice_benchmarks::measure::{Spread, keep, seconds, spread};
use sluice_benchmarks::{analyse, long_program, wide_program};
use std::path::Path;
use std::process::Command;

/// Samples of a repetition: about a second of radio.
const SAMPLES: usize = 1 << 20;
const REPETITIONS: usize = 25;

/// A line of the table.
struct Row {
    what: String,
    figure: String,
    ratio: String,
    limit: String,
    holds: Option<bool>,
    json: Value,
}

impl Row {
    fn against_limit(what: &str, s: Spread, limit: f64) -> Row {
        Row {
            what: what.into(),
            figure: format!("{:.1} ms ({:.1} to {:.1})", s.median * 1e3, s.least * 1e3, s.greatest * 1e3),
            ratio: format!("{:.3} of the limit", s.median / limit),
            limit: format!("at most {:.0} ms", limit * 1e3),
            holds: Some(s.median <= limit),
            json: json!({ "median_s": s.median, "least_s": s.least, "greatest_s": s.greatest, "limit_s": limit }),
        }
    }
}

/// A station: a carrier swept by a tone, as pairs of real and imaginary parts, each a word.
fn radio() -> Vec<u32> {
    let (mut phase, mut out) = (0f64, Vec::with_capacity(2 * SAMPLES));
    for i in 0..SAMPLES {
        phase += 0.4 * (i as f64 * 0.003).sin();
        out.extend([(phase.cos() as f32).to_bits(), (phase.sin() as f32).to_bits()]);
    }
    out
}

/// The receivers side by side.
fn receivers(libraries: &Path) -> Result<Vec<Row>, String> {
    let compiled = Compiled::open(&libraries.join("libfm.so"), "fm", (2, 1))?;
    let mut all: Vec<(String, Box<dyn Program>)> = vec![("sluice, examples/fm.str".into(), Box::new(compiled))];
    for (file, name) in [
        ("reference-gcc.so", "C by hand, gcc -O3 -march=native"),
        ("reference-clang.so", "C by hand, clang -O3 -march=native"),
        ("liquid.so", "liquid-dsp, gcc -O3 -march=native"),
    ] {
        if libraries.join(file).exists() {
            all.push((name.into(), Box::new(Plain::open(&libraries.join(file), "fm", (2, 1), (20, 1))?)));
        }
    }
    let samples = radio();
    let mut times = vec![Vec::new(); all.len()];
    let mut sounds = vec![Vec::new(); all.len()];
    for round in 0..=REPETITIONS {
        for (i, (_, receiver)) in all.iter_mut().enumerate() {
            let mut sound = Vec::with_capacity(SAMPLES / 16);
            let mut result = Ok(None);
            let time = seconds(|| result = receiver.run(&samples, &mut sound));
            result?;
            // the first turn warms up, and is compared
            if round == 0 {
                sounds[i] = sound;
            } else {
                times[i].push(time);
            }
        }
    }
    for (i, (name, _)) in all.iter().enumerate().filter(|(_, (n, _))| n.starts_with("C by hand")) {
        let pairs = sounds[0].iter().zip(&sounds[i]);
        let worst = pairs.fold(0f32, |worst, (a, b)| worst.max((f32::from_bits(*a) - f32::from_bits(*b)).abs()));
        if sounds[0].len().abs_diff(sounds[i].len()) > 64 || worst > 1e-4 {
            return Err(format!("sluice and `{name}` do not do the same work: they differ by {worst}"));
        }
    }
    let spreads: Vec<Spread> = times.into_iter().map(spread).collect();
    let ours = spreads[0].median;
    // the better of the compilers
    let by_hand = (all.iter().zip(&spreads))
        .filter(|((n, _), _)| n.starts_with("C by hand"))
        .map(|(_, s)| s.median)
        .fold(f64::INFINITY, f64::min);
    let mut rows = Vec::new();
    for ((name, _), s) in all.iter().zip(&spreads) {
        let rate = |seconds: f64| SAMPLES as f64 / seconds / 1e6;
        let (limit, holds) = if name.starts_with("sluice") {
            ("at most 1.3 times the faster C".to_string(), Some(ours / by_hand <= 1.3))
        } else if name.starts_with("liquid") {
            ("sluice at most 1 times liquid-dsp".to_string(), Some(ours <= s.median))
        } else {
            (String::new(), None)
        };
        let against = if name.starts_with("liquid") { ours / s.median } else { s.median / by_hand };
        let of = if name.starts_with("liquid") { "sluice / liquid-dsp" } else { "of the faster C's time" };
        rows.push(Row {
            what: format!("FM receiver: {name}"),
            figure: format!("{:.1} Msamples/s ({:.1} to {:.1})", rate(s.median), rate(s.greatest), rate(s.least)),
            ratio: format!("{against:.2} {of}"),
            limit,
            holds,
            json: json!({ "median_s": s.median, "least_s": s.least, "greatest_s": s.greatest, "samples": SAMPLES, "ratio": against }),
        });
    }
    Ok(rows)
}

/// The interpreter on the same program, start-up included.
fn interpreter(sluice: &str, folder: &Path) -> Result<Row, String> {
    let input = folder.join("short.iq");
    let samples = 96_000;
    std::fs::write(&input, bytes(&radio()[..2 * samples])).map_err(|e| e.to_string())?;
    let times = (0..3).map(|_| {
        seconds(|| {
            let status = Command::new(sluice)
                .args([
                    "run",
                    "--interpret",
                    "examples/fm.str",
                    "--input-format",
                    "c64",
                    "--output-format",
                    "f32",
                    "--input",
                ])
                .arg(&input)
                .arg("--output")
                .arg(folder.join("short.f32"))
                .status();
            assert!(status.is_ok_and(|s| s.success()), "the interpreter fails");
        })
    });
    let s = spread(times.collect());
    let rate = samples as f64 / s.median / 1e6;
    Ok(Row {
        what: "FM receiver: the interpreter".into(),
        figure: format!("{rate:.3} Msamples/s"),
        ratio: String::new(),
        limit: "none: it is the reference".into(),
        holds: None,
        json: json!({ "median_s": s.median, "samples": samples }),
    })
}

fn front_end() -> Vec<Row> {
    let (long, wide) = (long_program(5000), wide_program(10_000));
    let (mut of_long, mut of_wide) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        of_long.push(seconds(|| drop(analyse(&long))));
        of_wide.push(seconds(|| drop(analyse(&wide))));
    }
    vec![
        Row::against_limit(
            "parse and check 5,000 lines (the standard library, kept parsed, comes on top once: 2 ms)",
            spread(of_long),
            0.050,
        ),
        Row::against_limit("elaborate and balance 10,000 filters", spread(of_wide), 1.0),
    ]
}

fn run(sluice: &str, libraries: &Path, results: &str) -> Result<bool, String> {
    let mut rows = front_end();
    rows.extend(receivers(libraries)?);
    rows.push(interpreter(sluice, libraries)?);
    let mut text = String::from("| what | figure (median, spread) | ratio | limit | holds |\n|---|---|---|---|---|\n");
    for r in &rows {
        let holds = r.holds.map_or("", |h| if h { "yes" } else { "NO" });
        text.push_str(&format!("| {} | {} | {} | {} | {holds} |\n", r.what, r.figure, r.ratio, r.limit));
    }
    let figures: Vec<Value> =
        rows.iter().map(|r| json!({ "what": r.what, "holds": r.holds, "figures": r.json })).collect();
    keep(results, sluice, &text, json!({ "rows": figures }))?;
    Ok(rows.iter().all(|r| r.holds != Some(false)))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, sluice, libraries, results] = &args[..] else {
        eprintln!("usage: ratios SLUICE LIBRARIES RESULTS (scripts/bench calls it)");
        std::process::exit(2);
    };
    match run(sluice, Path::new(libraries), results) {
        Ok(true) => {}
        Ok(false) => println!("some limits are not kept: see above"),
        Err(why) => {
            eprintln!("error: {why}");
            std::process::exit(1);
        }
    }
}
