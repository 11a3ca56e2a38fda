//! Every diagnostic has a golden program (tests/errors/CODE-name.str) whose rendering is kept in `.expect`, and an entry in
//! docs/errors.md. `SLUICE_BLESS=1` rewrites the renderings.

#![allow(clippy::disallowed_methods)] // tests read files and start the command

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Codes that no small program can show, with the reason.
const WITHOUT_PROGRAM: &[(&str, &str)] = &[
    ("E0022", "needs a file of 1 GiB"),
    ("E0903", "waits for a language feature that a back end lacks"),
    ("E0955", "tested in the evaluator: compilers give other depths"),
    ("E0956", "only composites have sizes that are not constants"),
    ("E0957", "the checker asks for a return on every way"),
    ("E0981", "needs a computer without a driver: tests/cli/cuda.rs has a false driver"),
    ("E0982", "needs a computer without a GPU: tests/cli/cuda.rs has a false driver"),
    ("E0983", "needs an old GPU: tests/cli/cuda.rs has a false driver"),
    ("E0984", "needs a computer without NVRTC: tests/cli/cuda.rs has a false driver"),
    ("E0985", "needs an old driver: tests/cli/cuda.rs has a false driver"),
    ("E0986", "needs a GPU that fails: tests/cli/cuda.rs has a false driver"),
    ("E0987", "needs a full GPU: tests/cli/cuda.rs has a false driver"),
    ("E0988", "a fault of the compiler: planted in the driver's tests and those of the emulator"),
    ("E0989", "needs a computer without a C++ compiler: tests/cli/cuda.rs"),
    ("E0993", "needs the CUDA compiler to keep any deadline: tests/cli/makespan_of_programs.rs"),
    ("E0994", "needs a computer without CBC: tests/cli/ilp.rs"),
    ("E0998", "needs a system that gives no thread: tests/cli/system.rs"),
    ("E0999", "an internal fault"),
];

/// What is said about a program; about a manifest; about the tests of a project in a folder.
fn golden(program: &Path) -> Result<(), Failed> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = format!("tests/errors/{name}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.current_dir(root()).env("NO_COLOR", "1");
    if program.is_dir() {
        command.args(["test", "--back-end", "interpret", "--project", &path]);
        let out = command.output()?;
        return rendered(program, &name, &String::from_utf8_lossy(&[out.stderr, out.stdout].concat()));
    }
    let text = String::from_utf8_lossy(&std::fs::read(program)?).into_owned();
    let words = |what: &str| -> Option<Vec<String>> {
        let rest = text.lines().next()?.strip_prefix(what)?;
        Some(rest.split_whitespace().map(String::from).collect())
    };
    if let Some(flags) = words("// makespan: ").or_else(|| words("# makespan: ")) {
        // a kernel is on the command line, or in the file itself
        let out = command.arg("makespan").args(&flags).output()?;
        return rendered(program, &name, &String::from_utf8_lossy(&out.stderr));
    }
    let schedule = words("// schedule: ");
    let run = words("// run: ");
    let (schedules, runs, runs_so) = (schedule.is_some(), name.starts_with("E09"), run.is_some());
    let flags = schedule.or(run).or_else(|| words("// flags: ")).unwrap_or_default();
    if runs_so {
        command.arg("run");
    } else if schedules {
        command.arg("schedule");
    } else if runs {
        command.args(["run", "--interpret", "--iterations", "4"]);
    } else {
        command.arg("check");
    }
    let out = command.arg(path).args(&flags).output()?;
    rendered(program, &name, &String::from_utf8_lossy(&out.stderr))
}

/// Is this what is kept in `.expect`?
fn rendered(program: &Path, name: &str, got: &str) -> Result<(), Failed> {
    let code = name.split('-').next().unwrap_or("");
    if !got.contains(&format!("[{code}]")) {
        return Err(format!("{code} is not reported:\n{got}").into());
    }
    let file = program.with_extension("expect");
    if std::env::var_os("SLUICE_BLESS").is_some() {
        std::fs::write(file, got)?;
        return Ok(());
    }
    let want = std::fs::read_to_string(&file).unwrap_or_default();
    if got == want {
        Ok(())
    } else {
        Err(format!("the rendering changed (SLUICE_BLESS=1 accepts it)\n--- got\n{got}--- expected\n{want}").into())
    }
}

/// All codes that the sources report.
fn codes() -> BTreeSet<String> {
    fn walk(folder: &Path, out: &mut BTreeSet<String>) {
        for e in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let p = e.path();
            if p.is_dir() && p.ends_with("tests") {
                continue;
            }
            if p.is_dir() {
                walk(&p, out);
            } else if p.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&p).unwrap_or_default();
                // unit tests stand at the end of a file and may invent codes
                let text = text.split("#[cfg(test)]").next().unwrap_or("");
                for part in text.split('"') {
                    let letter = part.starts_with('E') || part.starts_with('W');
                    if letter && part.len() == 5 && part[1..].bytes().all(|b| b.is_ascii_digit()) {
                        out.insert(part.to_string());
                    }
                }
            }
        }
    }
    let mut out = BTreeSet::new();
    for folder in ["grammar/src", "compiler"] {
        walk(&root().join(folder), &mut out);
    }
    out
}

fn main() {
    let folder = root().join("tests/errors");
    let mut programs: Vec<PathBuf> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    programs.retain(|p| p.is_dir() || p.extension().is_some_and(|e| e == "str" || e == "toml"));
    programs.sort();
    let names: Vec<String> =
        programs.iter().map(|p| p.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    let mut trials: Vec<Trial> = (programs.into_iter().zip(&names))
        .map(|(p, name)| Trial::test(format!("golden::{name}"), move || golden(&p)))
        .collect();
    trials.push(Trial::test("every_code_has_a_program", move || {
        let missing: Vec<String> = codes()
            .into_iter()
            .filter(|c| {
                !WITHOUT_PROGRAM.iter().any(|(w, _)| w == c) && !names.iter().any(|n| n.starts_with(c.as_str()))
            })
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(format!("no program in tests/errors for {}", missing.join(", ")).into())
        }
    }));
    trials.push(Trial::test("every_code_has_an_entry", || {
        let text = std::fs::read_to_string(root().join("docs/errors.md"))?;
        let mut faults = Vec::new();
        let all = codes();
        for c in &all {
            let entry = text.split("\n## ").find(|s| s.starts_with(&format!("{c}: ")));
            match entry {
                None => faults.push(format!("{c} has no entry in docs/errors.md")),
                Some(e) if !e.contains("**Mend:**") => faults.push(format!("{c} does not say how to mend it")),
                Some(_) => {}
            }
        }
        if all.len() < 70 {
            faults.push(format!("only {} codes", all.len()));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
