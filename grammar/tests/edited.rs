//! Reading an edited text again gives what reading it anew gives: tree, places, diagnostics. Tried on every program of the repository with random edits, broken ones
//! among them; `SLUICE_EDIT_ROUNDS=1000 SLUICE_FIRST_SEED=1 cargo test --release -p sluice-grammar --test edited` for more of them.
#![allow(clippy::disallowed_methods)] // it reads the programs

use sluice_grammar::ast::Program;
use sluice_grammar::ast::places::{places, whole};
use sluice_grammar::edited::{self, Outcome, Read};
use sluice_grammar::span::{FileId, Span};
use std::path::Path;
use std::sync::Arc;

const FILE: FileId = FileId(3);

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

const PIECES: &[&str] = &[
    "x",
    "{",
    "}",
    "}\n}\n",
    "(",
    ")",
    "[",
    "]",
    ";",
    ";;",
    "\n",
    "\t",
    "é",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "/* { */",
    "// }\n",
    " ",
    "\u{feff}",
    "\u{0}",
    "\u{1a}",
    "add F(1);",
    "float",
    "float->float ",
    "float->float filter",
    "1e3",
    ".",
    "->",
    "work",
    "push(",
    "static",
    "static {",
    "struct S { int x; }",
    "struct S {",
    "import \"a.str\";\n",
    "import \"a.str\"",
    "import",
    "native",
    "helper H { int f(int x) { return x; } }",
    "void->void filter F { work { } }\n",
    "void->void pipeline P { add filter { work { } } }",
    "add pipeline { ",
    "@",
    "# $",
    "\\",
    "'ab'",
    "0x",
    "1.2.3",
    "\"open",
];

fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One edit: something put in, taken out, replaced, doubled or moved elsewhere.
fn edit(n: &mut Numbers, text: &mut String) {
    let at = |n: &mut Numbers, text: &str| boundary(text, n.below(text.len() + 1));
    let start = at(n, text);
    let length = [0, 0, 0, 1, 1, 5, 40, 300][n.below(8)];
    let end = boundary(text, start + length).max(start);
    match n.below(8) {
        0 => text.replace_range(start..end, ""),
        1 => {
            let piece = text[start..end].to_string();
            let to = at(n, text);
            text.insert_str(to, &piece);
        }
        2 => {
            let piece = text[start..end].to_string();
            text.replace_range(start..end, "");
            let to = at(n, text);
            text.insert_str(to, &piece);
        }
        _ => text.replace_range(start..end, PIECES[n.below(PIECES.len())]),
    }
}

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
    let mut n = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = start.to_string();
    let mut kept = again(None, &text, &|| name.to_string()).read;
    for round in 0..rounds {
        if n.below(6) == 0 {
            text = start.to_string();
        }
        (0..1 + n.below(3)).for_each(|_| edit(&mut n, &mut text));
        let found = again(kept.as_ref(), &text, &|| format!("{name}, seed {seed}, round {round}"));
        kept = found.read.or(kept);
    }
}

fn programs(folder: &Path, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            programs(&path, found);
        } else if name.ends_with(".str") {
            let text = sluice_grammar::decode(&std::fs::read(&path).unwrap()).0;
            found.push((path.display().to_string(), text));
        }
    }
}

#[test]
fn edited_programs_are_read_as_new_ones() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let rounds = number("SLUICE_EDIT_ROUNDS", 10);
    let first = number("SLUICE_FIRST_SEED", 0x51);
    let mut all = Vec::new();
    programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut all);
    assert!(all.len() > 100, "{}", all.len());
    for (i, (name, text)) in all.iter().enumerate() {
        // very large ones would take all the time
        if text.len() < 200_000 {
            session(name, text, first + i as u64, rounds as usize);
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
