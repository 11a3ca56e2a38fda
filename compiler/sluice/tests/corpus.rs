//! The corpus: every program of tests/run and tests/stdlib gives the expected text, interpreted, as C and as code made in memory (but for those
//! that call native functions), without a warning.
//!
//! A program's first comment lines may say `// flags: ...`, `// input: FILE` and `// native: FILE` (beside the program), and
//! `// tolerance: x` (relative, for the numbers in the text). Without a reader and without flags it runs for four steady states.
//! `// row: 5.12` names rows of docs/conformance.md.
//!
//! Every eighth program runs on the emulated GPU too, by one scheme or another; with `SLUICE_ALL_SCHEMES` all do, by each.
//! Every third program runs on 2, 3 or 5 threads too, which hand each other few steady states at once; with `SLUICE_ALL_THREADS` all programs do,
//! with each number. Every fourth is compiled with another `--inner` too, which does something else with its loops; with `SLUICE_ALL_INNER`
//! all are, with each kind.

#![allow(clippy::disallowed_methods)] // tests read files and start the command

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn directives<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let lines = text.lines().take(6);
    lines.filter_map(move |l| l.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": ")).map(str::trim)
}

fn directive<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    directives(text, name).next()
}

/// Equal but for numbers that differ by less than the tolerance.
fn close(got: &str, want: &str, tolerance: f64) -> bool {
    let parts = |s: &str| -> Vec<String> {
        s.split(|c: char| c.is_whitespace() || "(),".contains(c)).filter(|p| !p.is_empty()).map(String::from).collect()
    };
    let (a, b) = (parts(got), parts(want));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(x, y)| {
            x == y
                || match (x.parse::<f64>(), y.parse::<f64>()) {
                    (Ok(x), Ok(y)) => (x - y).abs() <= tolerance * y.abs().max(1.0),
                    _ => false,
                }
        })
}

fn run(program: &Path, mode: &[&str]) -> Result<(), Failed> {
    let text = String::from_utf8_lossy(&std::fs::read(program)?).into_owned();
    let want = std::fs::read_to_string(program.with_extension("expect"))?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.current_dir(root()).arg("run").args(mode).arg(program);
    let folder = program.parent().unwrap_or(Path::new("."));
    if let Some(input) = directive(&text, "input") {
        command.arg("--input").arg(folder.join(input));
    }
    for native in directives(&text, "native") {
        command.arg("--native").arg(folder.join(native));
    }
    match directive(&text, "flags") {
        Some(flags) => {
            command.args(flags.split_whitespace());
        }
        None if !text.contains("FileReader") && directive(&text, "input").is_none() => {
            command.args(["--iterations", "4"]);
        }
        None => {}
    }
    let out = command.output()?;
    let got = String::from_utf8_lossy(&out.stdout);
    let said = String::from_utf8_lossy(&out.stderr);
    if mode.contains(&"--emulate") && out.status.code() == Some(1) && said.contains("[E0980]") {
        // one of those that do not run on a GPU
        return Ok(());
    }
    if !out.status.success() {
        return Err(format!("{}\n{}", out.status, String::from_utf8_lossy(&out.stderr)).into());
    }
    if said.contains("Warning:") {
        return Err(format!("the program is fine, the lint is not; or the other way round\n{said}").into());
    }
    let equal = match directive(&text, "tolerance").and_then(|t| t.parse().ok()) {
        Some(t) => close(&got, &want, t),
        None => got == want,
    };
    if equal {
        return Ok(());
    }
    let lines = got
        .lines()
        .zip(want.lines())
        .position(|(a, b)| a != b)
        .unwrap_or(got.lines().count().min(want.lines().count()));
    let show = |s: &str| s.lines().nth(lines).unwrap_or("<nothing>").to_string();
    Err(format!("line {}: got `{}`, expected `{}`", lines + 1, show(&got), show(&want)).into())
}

fn main() {
    let mut trials = Vec::new();
    let (mut number, everything) = (0usize, std::env::var_os("SLUICE_ALL_THREADS").is_some());
    for folder in ["tests/run", "tests/stdlib"] {
        let entries = std::fs::read_dir(root().join(folder)).map(|d| d.flatten().map(|e| e.path()).collect::<Vec<_>>());
        let mut programs = entries.unwrap_or_default();
        programs.retain(|p| p.extension().is_some_and(|e| e == "str") && p.with_extension("expect").exists());
        programs.sort();
        for p in programs {
            let name = format!("{folder}/{}", p.file_stem().unwrap_or_default().to_string_lossy());
            let q = p.clone();
            trials.push(Trial::test(format!("{name}::interpreted"), move || run(&q, &["--interpret"])));
            let r = p.clone();
            // the C compiler does its utmost for every fourth
            let level = if number % 4 == 0 { "-O3" } else { "-O1" };
            trials.push(Trial::test(format!("{name}::native"), move || run(&r, &[level, "--back-end", "cc"])));
            // native functions are the C compiler's
            let text = std::fs::read_to_string(&p).unwrap_or_default();
            if directive(&text, "native").is_none() {
                let p = p.clone();
                trials.push(Trial::test(format!("{name}::jit"), move || run(&p, &["--back-end", "jit"])));
            }
            number += 1;
            let every = std::env::var_os("SLUICE_ALL_INNER").is_some();
            for (i, inner) in ["none", "unroll", "pipeline", "both"].into_iter().enumerate() {
                if every || number % 16 == 4 * i {
                    let p = p.clone();
                    let name = format!("{name}::inner_{inner}");
                    trials.push(Trial::test(name, move || run(&p, &["-O1", "--inner", inner])));
                }
            }
            // what watches a run, or interprets, has one thread and no GPU
            let text = std::fs::read_to_string(&p).unwrap_or_default();
            let watched = directive(&text, "flags")
                .is_some_and(|f| ["--interpret", "--stats", "--trace"].iter().any(|o| f.contains(o)));
            let every = std::env::var_os("SLUICE_ALL_SCHEMES").is_some();
            let schemes = sluice_driver::options::Scheme::NAMES;
            for (i, (scheme, _)) in schemes.into_iter().enumerate() {
                if watched || !every && number % (8 * schemes.len()) != 8 * i + 1 {
                    continue;
                }
                let p = p.clone();
                trials.push(Trial::test(format!("{name}::gpu_{scheme}"), move || {
                    run(&p, &["-O0", "--target", "cuda", "--emulate", "--scheme", scheme])
                }));
            }
            for (i, threads) in ["2", "3", "5"].into_iter().enumerate() {
                if watched || !everything && number % 9 != 3 * i {
                    continue;
                }
                let batch = ["1", "2", "7"][(number / 9 + i) % 3];
                let p = p.clone();
                trials.push(Trial::test(format!("{name}::threads_{threads}"), move || {
                    run(&p, &["-O0", "--threads", threads, "--threads-batch", batch])
                }));
            }
        }
    }
    assert!(trials.len() > 400, "the corpus is missing");
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
