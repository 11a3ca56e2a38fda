//! The programs of the repository are formatted, those in its pages too; and formatting keeps random programs and random texts what they
//! are.
//!
//! `SLUICE_BLESS=1 cargo test -p sluice-tests --test formatted repository pages` formats them. `SLUICE_FUZZ_CASES` says how many random
//! programs and texts (400 and 4,000).

#![allow(clippy::disallowed_methods)] // programs are read, and written where that is asked for

use sluice_frontend::{NoImports, Options, SourceInput, analyse};
use sluice_grammar::ast::Program;
use sluice_grammar::format::{Refusal, format};
use sluice_grammar::span::FileId;
use sluice_grammar::{decode, encode, parse};
use sluice_tests::{generate, mangle};
use std::path::{Path, PathBuf};

/// Programs that stay as they were written: the starts of their paths, and why.
const LEFT_ALONE: [(&str, &str); 4] = [
    ("tests/errors/", "where a message points, and what its picture shows, is what they test"),
    ("tests/fix/", "what a fix does to a text is what they test"),
    ("tests/run/lex_", "spaces, line ends, marks and stray semicolons are what they test"),
    ("tests/run/style_", "they are laid out as published programs are, to test that those are read"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

fn bless() -> bool {
    std::env::var_os("SLUICE_BLESS").is_some()
}

/// Files with this extension, as paths from the root, in order.
fn files(extension: &str) -> Vec<String> {
    let name = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    let mut names: Vec<String> = sluice_tests::files::files(&root(), extension).iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn repository() {
    let mut faults = Vec::new();
    let mut count = 0;
    let mut used = [false; LEFT_ALONE.len()];
    for name in files("str") {
        if let Some(i) = LEFT_ALONE.iter().position(|(start, _)| name.starts_with(start)) {
            used[i] = true;
            continue;
        }
        count += 1;
        let path = root().join(&name);
        let (text, encoding) = decode(&std::fs::read(&path).unwrap());
        match format(FileId(0), &text) {
            Ok(formatted) if formatted.text == text => {}
            Ok(formatted) if bless() => std::fs::write(&path, encode(&formatted.text, encoding).unwrap()).unwrap(),
            Ok(_) => faults.push(format!("{name} is not formatted: sluice fmt {name}")),
            Err(refusal) => faults.push(format!("{name}: {refusal:?}")),
        }
    }
    for ((start, _), used) in LEFT_ALONE.iter().zip(used) {
        if !used {
            faults.push(format!("there is no {start}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 400, "only {count} programs found");
}

/// The blocks of a page with their contents: what stands behind the fence, and where the text begins and ends.
fn blocks(page: &str) -> Vec<(&str, std::ops::Range<usize>)> {
    let mut out = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some(info) = line.strip_prefix("```") else { continue };
        match open.take() {
            Some((info, from)) => out.push((info, from..start)),
            None => open = Some((info.trim(), at)),
        }
    }
    out
}

#[test]
fn pages() {
    let mut faults = Vec::new();
    let mut count = 0;
    for name in files("md") {
        let path = root().join(&name);
        let page = std::fs::read_to_string(&path).unwrap();
        let mut new = page.clone();
        for (info, range) in blocks(&page).into_iter().rev() {
            if info != "str" {
                continue;
            }
            count += 1;
            let line = page[..range.start].matches('\n').count() + 1;
            match format(FileId(0), &page[range.clone()]) {
                Ok(formatted) if bless() => new.replace_range(range, &formatted.text),
                Ok(formatted) if formatted.text == page[range] => {}
                Ok(formatted) => faults.push(format!("{name}:{line}: not formatted; it would be\n{}", formatted.text)),
                Err(refusal) => faults.push(format!("{name}:{line}: {refusal:?}")),
            }
        }
        if new != page {
            std::fs::write(path, new).unwrap();
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 20, "only {count} programs found");
}

/// What docs/fmt.md shows before formatting becomes what it shows after.
#[test]
fn page_of_the_style() {
    let page = std::fs::read_to_string(root().join("docs/fmt.md")).unwrap();
    let of = |info: &str| page[blocks(&page).into_iter().find(|(i, _)| *i == info).unwrap().1].to_string();
    assert_eq!(format(FileId(0), &of("text")).unwrap().text, of("str"));
}

fn tree(text: &str) -> Program {
    parse(FileId(0), text).0
}

/// Formats a text, if it is a program. Whether it was.
#[track_caller]
fn holds(text: &str, what: impl Fn() -> String) -> bool {
    let once = match format(FileId(0), text) {
        Ok(once) => once.text,
        Err(Refusal::Syntax(_)) => return false,
        Err(refusal) => panic!("{}: {refusal:?}\n{text}", what()),
    };
    assert!(tree(&once) == tree(text), "{}: another program\n{text}\n{once}", what());
    let twice = format(FileId(0), &once).map(|twice| twice.text);
    assert_eq!(twice, Ok(once), "{}: formatted again, it changes\n{text}", what());
    true
}

fn cases(standard: u64) -> u64 {
    let cases = std::env::var("SLUICE_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    cases.unwrap_or(standard)
}

/// Texts may nest deeply.
fn with_deep_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn random_programs() {
    with_deep_stack(|| {
        // a program is dear: a part of the usual number
        for seed in 0..cases(4000) / 25 {
            let case = generate::case(seed);
            assert!(holds(&case.source, || format!("seed {seed}")), "seed {seed} is no program");
        }
    });
}

#[test]
fn random_texts() {
    with_deep_stack(|| {
        let programs = mangle::programs(&root());
        let mut formatted = 0;
        for number in 0..cases(4000) {
            let text = decode(&mangle::text(number, &programs)).0;
            formatted += u32::from(holds(&text, || format!("text {number}")));
        }
        assert!(formatted > 0);
    });
}

/// What the compiler says of a program: code and title of each message, in some order, and where (line, from 1).
fn messages(text: &str) -> Vec<(String, usize)> {
    let input = SourceInput { name: "p.str".into(), text: text.into() };
    let analysis = analyse(vec![input], &Options::default(), &mut NoImports);
    let mut all: Vec<(String, usize)> = (analysis.diagnostics.iter())
        .map(|d| {
            let line = analysis.sources.line_col(d.span().file, d.span().start).line;
            (format!("{} {}", d.code, d.title), if d.span().file == FileId(0) { line as usize } else { 0 })
        })
        .collect();
    all.sort();
    all
}

/// The compiler says the same of a formatted program, also where comments allow some of it.
#[test]
fn messages_stay() {
    let (mut programs, mut silenced) = (0, 0);
    for name in files("str") {
        let (text, _) = decode(&std::fs::read(root().join(&name)).unwrap());
        let Ok(formatted) = format(FileId(0), &text) else { continue };
        let said = |text: &str| messages(text).into_iter().map(|(message, _)| message).collect::<Vec<_>>();
        let before = messages(&text);
        let warnings = before.iter().filter(|(message, line)| message.starts_with('W') && *line > 0);
        // A comment that allows each warning: at the end of its line, and above it.
        let mut texts = vec![(text.clone(), formatted.text)];
        for (message, line) in warnings {
            let order = format!("// sluice: allow({})", &message[..5]);
            let lines: Vec<&str> = text.lines().collect();
            let with = |line: usize, replacement: String| {
                let mut lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
                lines[line - 1] = replacement;
                lines.join("\n")
            };
            for text in [
                with(*line, format!("{} {order}", lines[line - 1])),
                with(*line, format!("{order}\n{}", lines[line - 1])),
            ] {
                if let Ok(formatted) = format(FileId(0), &text) {
                    silenced += usize::from(messages(&text).len() < before.len());
                    texts.push((text, formatted.text));
                }
            }
        }
        programs += 1;
        for (text, formatted) in texts {
            assert_eq!(said(&text), said(&formatted), "{name}:\n{text}\n-----\n{formatted}");
        }
    }
    assert!(programs > 500 && silenced > 50, "{programs} programs, {silenced} warnings silenced");
}
