//! Formatting keeps every program what it is, loses no comment, and has nothing left to do when it is done again: on grown
//! programs and on those of the repository, with space and comments scattered between their tokens.
//!
//! `SLUICE_FUZZ_CASES=1000000 SLUICE_FIRST_SEED=100000 cargo test --release -p sluice-grammar --test format_fuzz` for a long run on other
//! cases than usual. A failure names the seed and shows a small text that fails in the same way.
#![allow(clippy::disallowed_methods)] // programs are read, and time is what is tested

mod common;

use common::fuzz::{config, first_seed, noise, shrink};
use common::grow::Grow;
use common::parse;
use common::scatter::scatter;
use proptest::prelude::*;
use sluice_grammar::ast::Program;
use sluice_grammar::diagnostic::Edit;
use sluice_grammar::format::{Formatted, Refusal, format, format_range};
use sluice_grammar::span::FileId;
use sluice_grammar::token::lex_with_comments;
use sluice_grammar::{decode, print};
use std::path::{Path, PathBuf};

/// A tenth of the usual number: each case formats, parses and prints several times.
fn cases(usual: u32) -> u32 {
    (common::fuzz::cases(usual * 10) / 10).max(1)
}

fn comments(text: &str) -> Vec<String> {
    let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_string();
    lex_with_comments(text).1.iter().map(|comment| lines(comment.token.spelling())).collect()
}

/// The text with a sign in place of each comment: in comments there may be any empty lines.
fn without_comments(text: &str) -> String {
    let mut out = text.to_string();
    for comment in lex_with_comments(text).1.iter().rev() {
        out.replace_range(
            comment.start as usize..comment.start as usize + comment.token.spelling().trim_end().len(),
            "c",
        );
    }
    out
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = text.to_string();
    for edit in edits.iter().rev() {
        out.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    out
}

/// What must hold for every text; says whether it was formatted.
fn check(text: &str) -> Result<bool, String> {
    let (program, diagnostics) = parse(text);
    let wrong = diagnostics.iter().any(|diagnostic| diagnostic.is_error());
    let formatted = match format(FileId(0), text) {
        Ok(_) if wrong => return Err("formatted in spite of errors".into()),
        Ok(formatted) => formatted,
        Err(Refusal::Syntax(told)) if wrong && told == diagnostics => return Ok(false),
        Err(refusal) => return Err(format!("refused: {refusal:?}")),
    };
    let new = &formatted.text;
    if parse(new) != (program.clone(), Vec::new()) {
        return Err(format!("another program:\n{new}"));
    }
    if comments(new) != comments(text) {
        return Err(format!("other comments:\n{new}"));
    }
    if new.lines().any(|line| line.ends_with([' ', '\t'])) || without_comments(new).contains("\n\n\n") {
        return Err(format!("space at the end of a line, or two empty lines:\n{new}"));
    }
    if formatted.passes != 1 {
        return Err(format!("not stable: {} passes\n{new}", formatted.passes));
    }
    match format(FileId(0), new) {
        Ok(again) if again.text == *new && again.edits.is_empty() => {}
        Ok(again) => return Err(format!("formatted again, it changes:\n{new}\n---\n{}", again.text)),
        Err(refusal) => return Err(format!("refused the second time: {refusal:?}\n{new}")),
    }
    check_edits(text, &program, &formatted)?;
    Ok(true)
}

/// The edits lead to the new text, each alone to the same program, and those of a range are some of them.
fn check_edits(text: &str, program: &Program, formatted: &Formatted) -> Result<(), String> {
    let edits = &formatted.edits;
    if apply(text, edits) != formatted.text {
        return Err(format!("edits that make something else: {edits:?}"));
    }
    // Some of them: each takes a parse.
    for i in [0, edits.len() / 3, edits.len() / 2] {
        if let Some(edit) = edits.get(i)
            && parse(&apply(text, std::slice::from_ref(edit))) != (program.clone(), Vec::new())
        {
            return Err(format!("edit that alone makes another program: {edit:?}"));
        }
    }
    if text.len().is_multiple_of(8) {
        let middle = text.len() / 2;
        let some = format_range(FileId(0), text, middle..middle).unwrap_or_default();
        if some.len() > 2 || !some.iter().all(|edit| edits.contains(edit)) {
            return Err(format!("edits of a range: {some:?}"));
        }
    }
    Ok(())
}

/// Checks a program; a failure shows a small one that fails in the same way.
#[track_caller]
fn check_program(text: String, what: impl Fn() -> String) {
    let kind = |complaint: &str| complaint.split(':').next().map(str::to_string);
    let Some(complaint) = complaint(&text) else { return };
    let first = kind(&complaint);
    let alike = |text: &str| self::complaint(text).is_some_and(|complaint| kind(&complaint) == first);
    let small = shrink(text, |text| parse(text).1.is_empty() && alike(text));
    let why = self::complaint(&small).unwrap_or_default();
    panic!("{} (SLUICE_FIRST_SEED): {why}\n---\n{small}\n---\n{small:?}", what());
}

/// What is wrong with a program, if anything is.
fn complaint(text: &str) -> Option<String> {
    match check(text) {
        Ok(true) => None,
        Ok(false) => Some("refused".into()),
        Err(complaint) => Some(complaint),
    }
}

/// The seeds of one of several tests that share the cases between them.
fn seeds(usual: u32, part: u64, parts: u64) -> impl Iterator<Item = u64> {
    let first = first_seed();
    (first..first + u64::from(cases(usual))).filter(move |seed| seed % parts == part)
}

fn grown_programs(part: u64, parts: u64) {
    for seed in seeds(1500, part, parts) {
        let mut noise = noise(seed);
        let mut next = || usize::from(noise.next().unwrap());
        let (level, length) = ([0, 10, 40, 120, 250][next() % 5], next() + next() * 144 / 255);
        let bytes: Vec<u8> = noise.by_ref().take(length).collect();
        let text = print(&Grow::new(&bytes).program());
        check_program(scatter(&text, level, &mut noise), || format!("seed {seed}"));
    }
}

fn programs_of_the_repository(part: u64, parts: u64) {
    let programs: Vec<(PathBuf, String)> =
        programs().into_iter().filter(|(_, text)| parse(text).1.is_empty()).collect();
    assert!(programs.len() > 500, "the programs are missing");
    let count = programs.len() as u64;
    for (path, text) in programs.iter().skip(part as usize).step_by(parts as usize) {
        check_program(text.clone(), || path.display().to_string());
    }
    for seed in seeds(3000, part, parts) {
        let (path, text) = &programs[(seed % count) as usize];
        let level = [5, 30, 90, 200][((seed + seed / count) % 4) as usize];
        check_program(scatter(text, level, &mut noise(seed)), || format!("seed {seed}, {}", path.display()));
    }
}

/// Tests that share the cases of a property, so that they can run side by side.
macro_rules! parts {
    ($property:ident: $($name:ident = $part:literal),* of $parts:literal) => {
        mod $property {
            $(
                #[test]
                fn $name() {
                    super::$property($part, $parts);
                }
            )*
        }
    };
}

parts! { grown_programs: part_0 = 0, part_1 = 1 of 2 }
parts! { programs_of_the_repository: part_0 = 0, part_1 = 1, part_2 = 2, part_3 = 3 of 4 }

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn printed_programs_are_formatted(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let text = print(&Grow::new(&bytes).program());
        // Long lines and array literals are the formatter's to break.
        let array = |line: &str| ["({", "{{", "= {", ", {", "return {", "enqueue {"].iter().any(|end| line.ends_with(end));
        if text.lines().all(|line| line.len() <= 100 && !array(line)) {
            prop_assert_eq!(format(FileId(0), &text).map(|formatted| formatted.text), Ok(text));
        }
    }

    #[test]
    fn any_text(text in "\\PC{0,60}|([a-z{}();=,/*\" \\n]{0,80})") {
        prop_assert!(check(&text).is_ok(), "{:?}", check(&text));
    }
}

/// The programs of the repository.
fn programs() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && !name.to_string_lossy().starts_with('.') && name != "target" && name != "out" {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "str") {
                out.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut paths);
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), decode(&std::fs::read(path).unwrap()).0)).collect()
}

#[test]
fn what_is_long_takes_time_in_proportion() {
    let in_work = |body: String| common::in_work(&body);
    let texts = [
        in_work("/* c */ ".repeat(100_000)),
        in_work(format!("f({}1);", "/* c */ ".repeat(100_000))),
        in_work("/* c */\n".repeat(50_000)),
        in_work("a = 1; ".repeat(50_000)),
        in_work(format!("f({}1);", "1, ".repeat(100_000))),
        in_work(format!("int[1] a = {{{}1}};", "1, ".repeat(100_000))),
        in_work(format!("int[1] a = {{\n{}1\n}};", "1,  22, ".repeat(50_000))),
        in_work(format!("int[1] a = {{\n{}{{1}}\n}};", "{1,  22}, {3, 4},\n ".repeat(20_000))),
        in_work(format!("switch (x) {{ {} }}", "case 1: a = 1; /* c */ break; ".repeat(20_000))),
        in_work(format!("switch (x) {{ {} }}", "case 1:\n a = 1;\n // c\n // d\n".repeat(20_000))),
        "int->int filter F { } ".repeat(20_000),
        "// c\n\n".repeat(50_000),
    ];
    let start = std::time::Instant::now();
    for text in &texts {
        if let Err(e) = format(FileId(0), text) {
            panic!("{e:?}");
        }
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
