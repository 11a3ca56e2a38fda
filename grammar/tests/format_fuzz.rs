//! Formatting keeps every program what it is, loses no comment, and has nothing left to do when it is done again: on grown
//! programs and on those of the repository, with space and comments scattered between their tokens.
//!
//! `SLUICE_FUZZ_CASES=100000 cargo test --release -p sluice-grammar --test format_fuzz` for a long run.
#![allow(clippy::disallowed_methods)] // the number of cases comes from outside, and programs are read

mod common;

use common::grow::Grow;
use common::parse;
use common::scatter::scatter;
use proptest::prelude::*;
use sluice_grammar::diagnostic::Edit;
use sluice_grammar::format::{Refusal, format, format_range};
use sluice_grammar::span::FileId;
use sluice_grammar::token::lex_with_comments;
use sluice_grammar::{decode, print};
use std::path::{Path, PathBuf};

fn cases() -> u32 {
    std::env::var("SLUICE_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500)
}

fn comments(text: &str) -> Vec<String> {
    let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_string();
    lex_with_comments(text).1.iter().map(|comment| lines(comment.token.spelling())).collect()
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
        Ok(_) if wrong => return Err(format!("formatted in spite of errors:\n{text}")),
        Ok(formatted) => formatted,
        Err(Refusal::Syntax(told)) if wrong && told == diagnostics => return Ok(false),
        Err(refusal) => return Err(format!("{refusal:?}:\n{text}")),
    };
    let new = &formatted.text;
    let say = |what: &str| Err(format!("{what}:\n{text}\n-----\n{new}"));
    if parse(new) != (program.clone(), Vec::new()) {
        return say("another program");
    }
    if comments(new) != comments(text) {
        return say("other comments");
    }
    match format(FileId(0), new) {
        Ok(again) if again.text == *new && again.edits.is_empty() => {}
        Ok(again) => {
            // Where they part.
            let lines = new.lines().zip(again.text.lines());
            let same = lines.take_while(|(a, b)| a == b).count();
            let part = |text: &str| text.lines().skip(same.saturating_sub(3)).take(8).collect::<Vec<_>>().join("\n");
            let say = format!("once:\n{}\ntwice:\n{}\n---\n", part(new), part(&again.text));
            return Err(if text.len() < 1000 { say + text } else { say });
        }
        Err(refusal) => return say(&format!("twice: {refusal:?}")),
    }
    if apply(text, &formatted.edits) != *new {
        return say(&format!("the edits make something else: {:?}", formatted.edits));
    }
    for edit in formatted.edits.iter().take(20) {
        if parse(&apply(text, std::slice::from_ref(edit))) != (program.clone(), Vec::new()) {
            return say(&format!("an edit alone makes another program: {edit:?}"));
        }
    }
    let middle = text.len() / 2;
    let some = format_range(FileId(0), text, middle..middle).unwrap_or_default();
    if some.len() > 2 || !some.iter().all(|edit| formatted.edits.contains(edit)) {
        return say(&format!("edits of a range: {some:?}"));
    }
    if new.lines().any(|line| line.ends_with([' ', '\t'])) || new.contains("\n\n\n") {
        return say("space at the end of a line, or two empty lines");
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn grown_programs(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        level in prop_oneof![Just(0u8), Just(10), Just(40), Just(120), Just(250)],
        noise in proptest::collection::vec(any::<u8>(), 0..1500),
    ) {
        let text = print(&Grow::new(&bytes).program());
        let text = scatter(&text, level, &mut noise.into_iter());
        prop_assert_eq!(check(&text), Ok(true));
    }

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
    assert!(paths.len() > 500, "the programs are missing");
    paths.into_iter().map(|path| (path.clone(), decode(&std::fs::read(path).unwrap()).0)).collect()
}

/// A sequence of bytes that looks random (xorshift).
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 32) as u8)
    })
}

#[test]
fn programs_of_the_repository() {
    let rounds = u64::from(cases() / 300).max(1);
    let mut formatted = 0;
    for (number, (path, text)) in programs().into_iter().enumerate() {
        let say = |e: String| panic!("{}: {e}", path.display());
        formatted += u32::from(check(&text).unwrap_or_else(say));
        for round in 0..rounds {
            let level = [5, 30, 90, 200][(number as u64 + round) as usize % 4];
            let scattered = scatter(&text, level, &mut noise(number as u64 * 1000 + round));
            if parse(&text).1.is_empty() {
                assert!(check(&scattered).unwrap_or_else(say), "{}", path.display());
            }
        }
    }
    assert!(formatted > 500, "{formatted}");
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
