//! The programs of the suite, without a warning, give what their plain C references give and what libraries give: interpreted and as
//! native code. And they are of the size that the suite says.

#![allow(clippy::disallowed_methods)] // tests read and write files

mod common;

use common::{COMPILED, INTERPRETED, MADE, root, run};
use sluice_benchmarks::beside::{Plain, Program, Python, compile};
use sluice_benchmarks::suite::{Benchmark, Counts, SUITE, work};
use std::collections::BTreeSet;
use std::path::Path;

/// Items of input, at least: enough for the longest delay of the reverberation.
const ITEMS: usize = 5000;

/// What a C file of the program gives; `None` where what it is linked with is not there.
fn plain(b: &Benchmark, file: &str, flag: &str, link: &str, input: &[u32], work: &Path) -> Option<Vec<u32>> {
    let library = work.join(format!("{file}.so"));
    let flags = ["-std=gnu11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", flag];
    let flags: Vec<&str> = flags.into_iter().filter(|f| !f.is_empty()).collect();
    if let Err(why) = compile("cc", &flags, &b.folder(&root()).join(file), &library, link) {
        assert!(!link.is_empty() && (why.contains("No such file") || why.contains("cannot find")), "{why}");
        return None;
    }
    let widths = (b.input.0.words(), b.output.0.words());
    let mut program = Plain::open(&library, b.name, widths, (b.input.1, b.output.1)).unwrap();
    let mut output = Vec::new();
    // in two parts: what is held between them counts
    let half = input.len() / 2 / (b.input.1 * widths.0) * (b.input.1 * widths.0);
    program.run(&input[..half], &mut output).unwrap();
    program.run(&input[half..], &mut output).unwrap();
    Some(output)
}

fn library(b: &Benchmark, input: &[u32], work: &Path) -> Option<Vec<u32>> {
    if b.peer.file.ends_with(".c") {
        return plain(b, b.peer.file, "", b.peer.link, input, work);
    }
    let (folder, mut output) = (root().join("benchmarks"), Vec::new());
    let mut python = Python::open(Python::find()?, &folder, &b.folder(&root()).join(b.peer.file), input, work).unwrap();
    python.run(input, &mut output).unwrap();
    Some(output)
}

#[track_caller]
fn same(what: &str, b: &Benchmark, ours: &[u32], theirs: &[u32], tolerance: f64) {
    assert!(ours.len() > ITEMS / 8, "{what}: only {} words", ours.len());
    match b.compare(ours, theirs, tolerance) {
        Ok(worst) => eprintln!("{}: {what}: within {worst:.1e}, {tolerance:.0e} is allowed", b.name),
        Err(why) => panic!("{}: {what}: {why}", b.name),
    }
}

fn holds(name: &str) {
    let b = SUITE.iter().find(|b| b.name == name).unwrap();
    let (root, folder) = (root(), tempfile::tempdir().unwrap());
    let (work, input) = (folder.path(), b.input(ITEMS));
    assert_eq!(Counts::of(&b.elaborate(&root).unwrap().graph), b.counts);

    let interpreted = run(&b.program(&root, None), &input, INTERPRETED, work);
    let native = run(&b.program(&root, None), &input, COMPILED, work);
    let made = run(&b.program(&root, None), &input, MADE, work);
    assert!(made == native, "{}: code made in memory gives something else", b.name);
    assert!(interpreted == native, "{name}: native code and interpreter differ");
    let reference = plain(b, "reference.c", "", "", &input, work).unwrap();
    same("the C reference", b, &native, &reference, b.tolerance);

    let ours = match b.peer.variant {
        None => native,
        Some((variant, flag)) => {
            let program = b.program(&root, Some(variant));
            let native = run(&program, &input, COMPILED, work);
            let few = &input[..b.input.1 * b.input.0.words() * 8];
            assert!(
                native.starts_with(&run(&program, few, INTERPRETED, work)),
                "{variant}: native code and interpreter differ"
            );
            let reference = plain(b, "reference.c", flag, "", &input, work).unwrap();
            same("the C reference of the variant", b, &native, &reference, b.tolerance);
            native
        }
    };
    match library(b, &input, work) {
        Some(theirs) => same(b.peer.name, b, &ours, &theirs, b.peer.tolerance),
        None => sluice_skipped::skipped(&format!("{name} against {}, which is not installed", b.peer.name)),
    }
}

common::programs_of_the_suite!(holds);

/// The page says what each program moves and computes.
#[test]
fn the_page_says_what_the_work_is() {
    let page = std::fs::read_to_string(root().join("benchmarks/README.md")).unwrap();
    let of = |b| work::row(b, &work::of(b, &root()).map_err(|_| b.name).unwrap());
    let rows: Vec<String> = SUITE.iter().map(of).collect();
    let missing = rows.iter().any(|row| !page.contains(row));
    assert!(!missing, "the table of benchmarks/README.md should be\n{}", rows.join("\n"));
}

/// Every folder with a program belongs to the suite and has what the others have; the page lists them all with their sizes.
#[test]
fn the_folders_and_the_page_agree_with_the_suite() {
    let folder = root().join("benchmarks");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().join(format!("{name}.str")).exists() {
            found.insert(name);
        }
    }
    assert_eq!(found, SUITE.iter().map(|b| b.name.to_string()).collect());
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for b in &SUITE {
        for file in ["README.md", "reference.c", b.peer.file] {
            assert!(b.folder(&root()).join(file).exists(), "{} has no {file}", b.name);
        }
        let of = |counts: Option<Counts>| counts.map_or("| |".into(), |c| format!("{} | {} |", c.nodes, c.peeking));
        let row = format!(
            "| [{}]({}/README.md) | {} | {} {}",
            b.entry,
            b.name,
            b.parameters,
            of(Some(b.counts)),
            of(b.paper)
        );
        let row = row.replace("[Main](des/", "[DES](des/");
        assert!(page.contains(row.trim_end()), "benchmarks/README.md lacks the row\n{row}");
    }
}
