//! An analysis that keeps what it knows from earlier ones says exactly what one says that knows nothing: of every program of the repository, after random edits.
//! `SLUICE_EDIT_ROUNDS=100 SLUICE_FIRST_SEED=1 cargo test --release -p sluice-frontend --test memo` for more of them.
#![allow(clippy::disallowed_methods)] // it reads what programs import

#[path = "../../../grammar/tests/edits/mod.rs"]
mod edits;

use edits::{Numbers, Way, edit, number, programs};
use sluice_frontend::elaborate::Limits;
use sluice_frontend::memo::Memo;
use sluice_frontend::{Analysis, Loader, Options, SourceInput, analyse};
use sluice_grammar::ast::Program;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::edited::{self, Read};
use sluice_grammar::span::FileId;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

fn session(path: &Path, start: &str, seed: u64, rounds: u64) {
    let mut n = Numbers::new(seed);
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
        (0..1 + n.below(2)).for_each(|_| edit(&mut n, &mut text, Way::Gentle, &mut |_, _, _| {}));
    }
}

#[test]
fn what_is_kept_changes_nothing() {
    let rounds = number("SLUICE_EDIT_ROUNDS", 5);
    let first = number("SLUICE_FIRST_SEED", 0x31);
    let all = programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let chosen = all.iter().enumerate().filter(|(i, (_, text))| {
        // some of the corpus each time, all of it in a long run
        text.len() < 20_000 && (rounds > 20 || (*i as u64 + first).is_multiple_of(3))
    });
    for (i, (path, text)) in chosen {
        session(path, text, first + i as u64, rounds);
    }
}

/// More instances of one filter than are followed one by one: the later ones are like those before them.
/// Statics are evaluated again when something changes of which they are computed, and only then: text further up, or in a filter, is no reason.
#[test]
fn statics_are_evaluated_once() {
    let memo = Memo::default();
    let mut editor = Editor { memo: Some(memo.clone()), ..Editor::default() };
    let mut told = |text: &str| {
        let input = || vec![SourceInput { name: "a.str".into(), text: text.into() }];
        let before = memo.evaluations();
        editor.read = None;
        let kept = said(&analyse(input(), &Options::default(), &mut editor));
        assert_eq!(kept, said(&analyse(input(), &Options::default(), &mut Editor::default())), "{text}");
        memo.evaluations() - before
    };
    let program = |above: &str, start: i32, by: i32, factor: i32, faulty: &str| {
        format!(
            "{above}static {{ int[N] T; int N = A + 2; int A = {start}; init {{ for (int i = 0; i < N; i++) T[i] = H.f(i); }} {faulty} }}\n\
             helper H {{ int f(int x) {{ return x * {factor}; }} }}\n\
             void->void filter Main {{ work {{ println(T[1] + {by}); }} }}\n"
        )
    };
    assert!(told(&program("", 1, 1, 2, "")) > 0);
    assert_eq!(told(&program("", 1, 1, 2, "")), 0);
    assert_eq!(told(&program("// a remark\n\n", 1, 7, 2, "")), 0);
    assert!(told(&program("", 5, 7, 2, "")) > 0);
    assert!(told(&program("", 5, 7, 3, "")) > 0);
    // what has a fault is told again each time
    for _ in 0..2 {
        assert!(told(&program("", 5, 7, 3, "int C = D; int D = C;")) > 0);
        assert!(told(&program("", -7, 7, 3, "")) > 0);
    }
    assert!(told(&program("", 5, 7, 3, "")) <= 2);
}

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
