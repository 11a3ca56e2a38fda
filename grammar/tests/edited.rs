//! Reading an edited text again gives what reading it anew gives: tree, places, diagnostics. Tried on every program of the repository with random edits, broken ones
//! among them; `SLUICE_EDIT_ROUNDS=1000 SLUICE_FIRST_SEED=1 cargo test --release -p sluice-grammar --test edited` for more of them.

mod edits;

use edits::{Numbers, Way, edit, number, programs};
use sluice_grammar::ast::Program;
use sluice_grammar::ast::places::{places, whole};
use sluice_grammar::edited::{self, Outcome, Read};
use sluice_grammar::span::{FileId, Span};
use std::path::Path;
use std::sync::Arc;

const FILE: FileId = FileId(3);

fn all_places(program: &Program) -> Vec<Span> {
    let mut all = Vec::new();
    for item in &program.items {
        places(item, &mut |at| all.push(*at));
        all.push(whole(item));
    }
    all
}

/// Reads again and anew, and compares.
fn again(before: Option<&Read>, text: &str, what: &dyn Fn() -> String) -> Outcome {
    let shared: Arc<str> = text.into();
    let found = match before {
        Some(before) => before.parse(&shared),
        None => edited::parse(FILE, &shared),
    };
    let (program, diagnostics) = sluice_grammar::parse(FILE, text);
    assert_eq!(found.diagnostics, diagnostics, "{}\n{text}", what());
    assert!(found.program == program, "{}: another tree\n{text}", what());
    assert_eq!(all_places(&found.program), all_places(&program), "{}\n{text}", what());
    assert_eq!(found.read.is_some(), diagnostics.is_empty(), "{}\n{text}", what());
    found
}

/// A session of edits: what an editor keeps is the last text without faults.
fn session(name: &str, start: &str, seed: u64, rounds: usize) {
    let mut n = Numbers::new(seed);
    let mut text = start.to_string();
    let mut kept = again(None, &text, &|| name.to_string()).read;
    for round in 0..rounds {
        if n.below(6) == 0 {
            text = start.to_string();
        }
        (0..1 + n.below(3)).for_each(|_| edit(&mut n, &mut text, Way::Rough, &mut |_, _, _| {}));
        let found = again(kept.as_ref(), &text, &|| format!("{name}, seed {seed}, round {round}"));
        kept = found.read.or(kept);
    }
}

#[test]
fn edited_programs_are_read_as_new_ones() {
    let rounds = number("SLUICE_EDIT_ROUNDS", 10);
    let first = number("SLUICE_FIRST_SEED", 0x51);
    let all = programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    for (i, (name, text)) in all.iter().enumerate() {
        // very large ones would take all the time
        if text.len() < 200_000 {
            session(&name.display().to_string(), text, first + i as u64, rounds as usize);
        }
    }
}

/// Typed letter by letter in the middle of a file, as it is mostly done.
#[test]
fn what_is_typed_is_read_as_new() {
    let around = "// first\nstruct P { int x; };\nimport \"a.str\";\nvoid->int filter A { work push 1 { push(1); } }\n";
    let behind =
        "\n/* last */ int->void filter B { work pop 1 { pop(); } };;\nvoid->void pipeline M { add A; add B; }\n// end";
    let typed = "/* a { */ int->int filter C(int n) { int[n] h = {1, 2}; init { for (int i = 0; i < n; i++) h[i] = i; }\n\
        work push 1 pop 1 { push(pop() + h[0]); } }\nstatic { int k = 3; }\nint->int pipeline D { add filter { work pop 1 push 1 { push(pop()); } } }";
    let mut kept = again(None, &format!("{around}{behind}"), &|| "empty".into()).read;
    for end in (0..=typed.len()).filter(|end| typed.is_char_boundary(*end)) {
        let text = format!("{around}{}{behind}", &typed[..end]);
        let found = again(kept.as_ref(), &text, &|| format!("{end}"));
        kept = found.read.or(kept);
    }
    assert!(kept.is_some_and(|k| k.differs(&format!("{around}{typed}{behind}")) == 0));
}

/// What is far from an edit is shared with what was read before.
#[test]
fn little_is_read_again() {
    let filters =
        |n: usize| (0..n).map(|i| format!("int->int filter F{i} {{ work pop 1 push 1 {{ push(pop()); }} }}\n"));
    let text: String = filters(50).collect();
    let before = edited::parse(FILE, &text.as_str().into()).read.unwrap();
    let after = before.parse(&text.replace("F30 {", "F30(int n) {").as_str().into());
    assert!(after.diagnostics.is_empty());
    let kept = edited::parse(FILE, &text.as_str().into()).program;
    let shared = before.parse(&text.as_str().into()).program;
    let same = |a: &Program, b: &Program| {
        let stream = |p: &Program, i: usize| match &p.items[i] {
            sluice_grammar::ast::Item::Stream(s) => s.clone(),
            _ => panic!("no stream"),
        };
        (0..50).filter(|i| Arc::ptr_eq(&stream(a, *i), &stream(b, *i))).collect::<Vec<_>>()
    };
    assert_eq!(same(&after.program, &shared), (0..29).collect::<Vec<_>>());
    assert!(same(&after.program, &kept).is_empty());
}
