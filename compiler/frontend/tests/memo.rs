//! An analysis that keeps what it knows from earlier ones says exactly what one says that knows nothing: of every program of the repository, after random edits.
//! `SLUICE_EDIT_ROUNDS=100 SLUICE_FIRST_SEED=1 cargo test --release -p sluice-frontend --test memo` for more of them.
#![allow(clippy::disallowed_methods)] // it reads the programs

use sluice_frontend::elaborate::Limits;
use sluice_frontend::memo::Memo;
use sluice_frontend::{Analysis, Loader, Options, SourceInput, analyse};
use sluice_grammar::ast::Program;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::edited::{self, Read};
use sluice_grammar::span::FileId;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// Loads files beside the program, and keeps what is kept in an editor.
#[derive(Default)]
struct Editor {
    folder: PathBuf,
    memo: Option<Memo>,
    read: Option<Read>,
}

impl Loader for Editor {
    fn load(&mut self, _from: &str, path: &str) -> Result<SourceInput, String> {
        let file = self.folder.join(path);
        let text = std::fs::read_to_string(&file).map_err(|_| "it cannot be read".to_string())?;
        Ok(SourceInput { name: file.display().to_string(), text })
    }

    fn memo(&mut self) -> Option<Memo> {
        self.memo.clone()
    }

    fn parse(&mut self, file: FileId, text: &str) -> (Program, Vec<Diagnostic>) {
        if self.memo.is_none() || file.0 != 0 {
            return sluice_grammar::parse(file, text);
        }
        let text: Arc<str> = text.into();
        let found = match &self.read {
            Some(read) => read.parse(&text),
            None => edited::parse(file, &text),
        };
        self.read = found.read.or(self.read.take());
        (found.program, found.diagnostics)
    }
}

/// All that an analysis says.
fn said(analysis: &Analysis) -> (String, String, String) {
    let of = |p: &sluice_frontend::Elaborated| {
        format!("{:#?}", (&p.globals, &p.codes, &p.graph, &p.portals, &p.messages, &p.steady.repetitions))
    };
    let trees: Vec<_> = analysis.trees.iter().map(|(_, t)| t).collect();
    (format!("{:#?}", analysis.diagnostics), analysis.program.as_ref().map_or(String::new(), of), format!("{trees:?}"))
}

const PIECES: &[&str] = &[
    " ",
    "\n",
    "// a comment\n",
    "/* x */",
    "1",
    "2",
    "x",
    ";",
    "{",
    "}",
    "float->float filter Fresh(int n) { float[n] h; work pop 1 push 1 { push(pop() * h[0]); h[0] = 1; } }\n",
    "static { int fresh = 3; }\n",
    "helper Fresh { int f(int x) { return x + 1; } }\n",
    "struct Fresh { int a; float b; }\n",
    "portal<Fresh> p;",
    "int unused = 3;",
    "add Fresh(3);",
    "// sluice: allow(W0213)\n",
];

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn edit(n: &mut Numbers, text: &mut String) {
    let at = |n: &mut Numbers, text: &str| {
        let mut at = n.below(text.len() + 1);
        // mostly at the beginning of a line, where little is broken
        if n.below(3) > 0 {
            at = text[..boundary(text, at)].rfind('\n').map_or(0, |l| l + 1);
        }
        boundary(text, at)
    };
    let start = at(n, text);
    match n.below(10) {
        // a number becomes another
        0..=2 => {
            let digit = text[start..].find(|c: char| c.is_ascii_digit()).map(|i| start + i);
            if let Some(i) = digit {
                text.replace_range(i..=i, ["1", "2", "3", "4", "8"][n.below(5)]);
            }
        }
        3 => {
            let end = boundary(text, start + n.below(12)).max(start);
            text.replace_range(start..end, "");
        }
        4 => {
            // a line moves elsewhere
            let end = text[start..].find('\n').map_or(text.len(), |l| start + l + 1);
            let line: String = text.drain(start..end).collect();
            let to = at(n, text);
            text.insert_str(to, &line);
        }
        _ => text.insert_str(start, PIECES[n.below(PIECES.len())]),
    }
}

fn session(path: &Path, start: &str, seed: u64, rounds: u64) {
    let mut n = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let folder = path.parent().unwrap().to_path_buf();
    let mut editor = Editor { folder: folder.clone(), memo: Some(Memo::default()), read: None };
    let name = path.display().to_string();
    let mut text = start.to_string();
    let limits = Limits { instances: 2_000, steps: 200_000, constants: 1_000_000, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    for round in 0..rounds {
        let input = || vec![SourceInput { name: name.clone(), text: text.clone() }];
        let kept = said(&analyse(input(), &options, &mut editor));
        let anew = said(&analyse(input(), &options, &mut Editor { folder: folder.clone(), ..Editor::default() }));
        let what = format!("{name}, seed {seed}, round {round}");
        assert!(kept.2 == anew.2, "{what}: another tree\n{text}");
        assert!(kept.0 == anew.0, "{what}\n{}\nanew:\n{}\n{text}", kept.0, anew.0);
        if kept.1 != anew.1 {
            let differ = kept.1.lines().zip(anew.1.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let around = |s: &str| s.lines().skip(differ.saturating_sub(30)).take(40).collect::<Vec<_>>().join("\n");
            panic!("{what}\n{}\nanew:\n{}\n{text}", around(&kept.1), around(&anew.1));
        }
        if n.below(5) == 0 {
            text = start.to_string();
        }
        (0..1 + n.below(2)).for_each(|_| edit(&mut n, &mut text));
    }
}

fn programs(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            programs(&path, found);
        } else if name.ends_with(".str") {
            let text = sluice_grammar::decode(&std::fs::read(&path).unwrap()).0;
            found.push((path, text));
        }
    }
}

#[test]
fn what_is_kept_changes_nothing() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let rounds = number("SLUICE_EDIT_ROUNDS", 5);
    let first = number("SLUICE_FIRST_SEED", 0x31);
    let mut all = Vec::new();
    programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut all);
    assert!(all.len() > 100, "{}", all.len());
    let chosen = all.iter().enumerate().filter(|(i, (_, text))| {
        // some of the corpus each time, all of it in a long run
        text.len() < 20_000 && (rounds > 20 || (*i as u64 + first).is_multiple_of(3))
    });
    for (i, (path, text)) in chosen {
        session(path, text, first + i as u64, rounds);
    }
}

/// More instances of one filter than are followed one by one: the later ones are like those before them.
#[test]
fn many_instances_are_alike() {
    let mut text = String::from(
        "float->float filter Keeps(int n) { float[n] h; work pop 1 push 1 { for (int i = 0; i < n; i++) h[i] = i; push(pop() + h[0]); } }\n\
         void->float filter From { work push 1 { push(1); } }\nfloat->void filter To { work pop 1 { println(pop()); } }\n\
         void->void pipeline Main {\n    add From;\n",
    );
    (1..=12).for_each(|i| text += &format!("    add Keeps({i});\n"));
    text += "    add To;\n}\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("many.str");
    (1..=6).for_each(|seed| session(&path, &text, seed, 30));
}
