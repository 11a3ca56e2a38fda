//! What the names of a program stand for is said twice: by the checker, in typed code, and by the index that an editor asks. Here they are compared, on every
//! program of the repository; and every name that stands for something is known to the index.
#![allow(clippy::disallowed_methods)] // tests touch files

use sluice_frontend::analyses::walk;
use sluice_frontend::resolve::{Index, SymbolKind};
use sluice_frontend::typed::{Callee, ExprKind, FilterCode, Function, StmtKind};
use sluice_frontend::{Analysis, Loader, Options, SourceInput, analyse};
use sluice_grammar::ast::Program;
use sluice_grammar::span::{FileId, Span};
use std::path::{Path, PathBuf};

struct Disk;

impl Loader for Disk {
    fn load(&mut self, from: &str, path: &str) -> Result<SourceInput, String> {
        let path = std::fs::canonicalize(Path::new(from).parent().unwrap().join(path)).map_err(|e| e.to_string())?;
        read(&path).ok_or_else(|| "no text".into())
    }
}

fn read(path: &Path) -> Option<SourceInput> {
    let bytes = std::fs::read(path).ok()?;
    Some(SourceInput { name: path.display().to_string(), text: sluice_grammar::decode(&bytes).0 })
}

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    for folder in ["tests/run", "examples", "benchmarks", "docs", "tests/errors"] {
        let mut queue = vec![root.join(folder)];
        while let Some(folder) = queue.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.extension() {
                    _ if path.is_dir() => queue.push(path),
                    Some(e) if e == "str" => all.push(path),
                    _ => {}
                }
            }
        }
    }
    all.sort();
    assert!(all.len() > 200, "{}", all.len());
    all
}

/// The declaration that the index gives for a name at a place.
fn declared(index: &Index, at: Span) -> Option<Span> {
    let found = index.at(at.file, at.start).filter(|u| u.span.start == at.start)?;
    Some(index.symbol(found.symbol).span)
}

struct Compare<'a> {
    analysis: &'a Analysis,
    index: &'a Index,
    compared: usize,
}

impl<'a> Compare<'a> {
    fn name(&self, at: Span) -> &'a str {
        self.analysis.sources.text(at)
    }

    fn same(&mut self, at: Span, declaration: Span, what: &str) {
        // what the checker makes up has the place of something else
        let text = self.name(declaration);
        let name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !name || !self.name(at).starts_with(text) {
            return;
        }
        self.compared += 1;
        let found = declared(self.index, at);
        assert_eq!(found, Some(declaration), "{what} `{text}` at {}", self.analysis.sources.describe(at));
    }

    fn function(&mut self, f: &Function, code: Option<&FilterCode>) {
        let analysis = self.analysis;
        let globals = &analysis.program.as_ref().unwrap().globals;
        walk::statements(&f.body, &mut |s| {
            if let StmtKind::Let { local, .. } = s.kind {
                let local = &f.locals[local.index()];
                self.same(local.span, local.span, "local");
            }
        });
        walk::expressions(&f.body, &mut |e| match &e.kind {
            ExprKind::Local(id) => self.same(e.span, f.locals[id.index()].span, "local"),
            ExprKind::Field(id) => {
                if let Some(code) = code {
                    self.same(e.span, code.fields[id.index()].span, "field");
                }
            }
            ExprKind::Static(id) => self.same(e.span, globals.statics[id.index()].span, "static"),
            ExprKind::Call(Callee::Own(id), _) => {
                if let Some(code) = code {
                    self.same(e.span, code.functions[id.index()].span, "function");
                }
            }
            _ => {}
        });
    }
}

#[test]
fn the_index_agrees_with_the_checker() {
    let mut compared = 0;
    for path in programs() {
        let analysis = analyse(vec![read(&path).unwrap()], &Options::default(), &mut Disk);
        let trees: Vec<(FileId, &Program)> = analysis.trees.iter().map(|(f, t)| (*f, t)).collect();
        let first = FileId(analysis.trees.len() as u32);
        let library = analyse::library(first);
        let shipped: Vec<(FileId, &Program)> =
            library.iter().zip(first.0..).map(|((t, _), f)| (FileId(f), t)).collect();
        let index = Index::of(&trees, &shipped);
        // every use lies on its own name
        for file in 0..first.0 + library.len() as u32 {
            for u in index.uses_in(FileId(file)) {
                // a number of the analysis and one of the index name the same file
                let text = analysis.sources.file(FileId(file)).text.get(u.span.start as usize..u.span.end as usize);
                assert_eq!(text, Some(&*index.symbol(u.symbol).name), "{}", path.display());
            }
        }
        let Some(program) = &analysis.program else { continue };
        let mut c = Compare { analysis: &analysis, index: &index, compared: 0 };
        for code in &program.codes {
            code.functions.iter().for_each(|f| c.function(f, Some(code)));
        }
        program.globals.helpers.iter().for_each(|f| c.function(f, None));
        compared += c.compared;
        // a program without errors has no name that stands for nothing: every stream and variable in it has an entry
        for (_, tree) in &analysis.trees {
            sluice_frontend::lints::tree::expressions(tree, &mut |e| {
                if let sluice_grammar::ast::ExprKind::Var(name) = &e.kind {
                    let called = sluice_frontend::check::call::BUILTINS.iter().any(|(b, ..)| *b == &*name.name);
                    let made = matches!(&*name.name, "print" | "println" | "complex" | "float2" | "float3" | "float4");
                    assert!(
                        called || made || declared(&index, name.span()).is_some(),
                        "`{}` at {}",
                        name.name,
                        analysis.sources.describe(name.span())
                    );
                }
            });
        }
    }
    assert!(compared > 3000, "only {compared} names were compared");
}

#[test]
fn what_can_be_seen_is_what_is_declared() {
    let text = "static { int s = 1; }\nvoid->void filter F {\n    int a;\n    int f(int p) { int q = p; return q; }\n    work { int b = a; { int c = b; println(c); } println(f(b)); }\n}\n";
    let tree = sluice_grammar::parse(FileId(0), text).0;
    let index = Index::of(&[(FileId(0), &tree)], &[]);
    let seen = |at: &str| {
        let all = index.visible(FileId(0), text.find(at).unwrap() as u32);
        let mut names: Vec<String> = all.iter().map(|s| index.symbol(*s).name.to_string()).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(seen("println(c)"), "a b c f");
    assert_eq!(seen("println(f"), "a b f");
    assert_eq!(seen("return"), "a f p q");
    assert_eq!(seen("static"), "");
    let f = index.stream("F").unwrap();
    assert_eq!(index.members(f).filter(|(_, s)| s.kind == SymbolKind::Field).count(), 1);
}
