//! The front end as one function: sources in memory to an elaborated program with its steady state, or diagnostics.
//!
//! The compiler and the language server both call [`analyse`]. It touches no files: imports are loaded through a function that is
//! handed in.

use crate::elaborate::flatten::flatten;
use crate::elaborate::{Elaborator, Limits};
use crate::eval::Budget;
use crate::graph::SdfGraph;
use crate::ids::*;
use crate::lints::levels::Levels;
use crate::lints::{levels, lint_all};
use crate::memo::Memo;
use crate::messages::{self, Messages};
use crate::steady_state::{SteadyState, steady_state};
use crate::typed::*;
use crate::world::World;
use crate::{check, enqueues, entry};
use sluice_grammar::ast::Item;
use sluice_grammar::diagnostic::{Diagnostic, Severity};
use sluice_grammar::span::{FileId, SourceMap, Span};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One source file given to the compiler.
#[derive(Clone, Debug)]
pub struct SourceInput {
    /// Its name or path, as shown in messages.
    pub name: String,
    /// Its text, already decoded.
    pub text: String,
}

/// How to find imported files.
pub trait Loader {
    /// Loads `path` as written in the file called `from`. Gives the file's own name (the same for the same file, however it is
    /// reached) and its text, or why it cannot be read.
    fn load(&mut self, from: &str, path: &str) -> Result<SourceInput, String>;

    /// What is known from earlier analyses of the program, and will be for later ones: an editor keeps it.
    fn memo(&mut self) -> Option<Memo> {
        None
    }

    /// Parses a file: [`sluice_grammar::parse`], or what that gave before for the same number and text.
    fn parse(&mut self, file: FileId, text: &str) -> (sluice_grammar::ast::Program, Vec<Diagnostic>) {
        sluice_grammar::parse(file, text)
    }
}

/// Where a path leads that is written in the file `from`: beside that, without `.` and, where it says the same, without `..`. What a link leads to
/// is somewhere else, so behind one `..` stays: `is_link` knows.
pub fn beside(from: &str, path: &str, is_link: impl Fn(&Path) -> bool) -> PathBuf {
    let base = Path::new(from).parent().unwrap_or(Path::new(""));
    let mut out = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) && !is_link(&out) =>
            {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// A loader that knows no files.
pub struct NoImports;

impl Loader for NoImports {
    fn load(&mut self, _from: &str, _path: &str) -> Result<SourceInput, String> {
        Err("imports are not available here".into())
    }
}

/// What to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The entry's name; otherwise it is found.
    pub top: Option<String>,
    /// Stop after parsing.
    pub parse_only: bool,
    /// Stop after names and types: no entry is needed.
    pub no_entry: bool,
    /// Bounds on elaboration.
    pub limits: Limits,
    /// Which warnings are told.
    pub levels: Levels,
    /// Set from outside where nobody waits for the result any more: the analysis ends soon, with what it has.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Options {
    /// Does nobody wait any more?
    pub fn cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|c| c.load(Ordering::Relaxed))
    }
}

/// A program ready to be scheduled.
#[derive(Clone, Debug)]
pub struct Elaborated {
    /// What filters share.
    pub globals: Globals,
    /// Filter bodies, by [`CodeId`].
    pub codes: Vec<FilterCode>,
    /// The flat graph.
    pub graph: SdfGraph,
    /// Its steady state.
    pub steady: SteadyState,
    /// Nodes registered with portals.
    pub portals: Vec<(PortalId, NodeId)>,
    /// Who sends messages to whom, and when they take effect.
    pub messages: Messages,
}

/// All that is known about a program.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The files, the standard library's included.
    pub sources: SourceMap,
    /// Diagnostics in source order, errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The program, unless there were errors.
    pub program: Option<Elaborated>,
    /// The user's files as trees.
    pub trees: Vec<(FileId, sluice_grammar::ast::Program)>,
}

impl Analysis {
    /// Were there errors?
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Stack for the analysis: deep programs recurse in it.
const STACK: usize = 1 << 29;

/// Analyses a program.
pub fn analyse(inputs: Vec<SourceInput>, options: &Options, loader: &mut (dyn Loader + std::marker::Send)) -> Analysis {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("analyse".into()).stack_size(STACK);
        match builder.spawn_scoped(scope, || run(inputs, options, loader)) {
            Ok(handle) => handle.join().unwrap_or_else(|e| std::panic::resume_unwind(e)),
            Err(e) => {
                let mut sources = SourceMap::new();
                sources.add("<sluice>", "");
                let why = "the limits on processes and on memory are too low, or used up: `ulimit -u` and `ulimit -v` show them";
                let title = format!("cannot start a thread for the analysis: {e}");
                let d = Diagnostic::error("E0998", title, Span::default(), "").help(why);
                Analysis { sources, diagnostics: vec![d], program: None, trees: Vec::new() }
            }
        }
    })
}

fn run(inputs: Vec<SourceInput>, options: &Options, loader: &mut dyn Loader) -> Analysis {
    let mut w = World::default();
    w.budget = Budget::with_steps(options.limits.constants).until(options.cancel.clone());
    let trees = parse_all(&mut w, inputs, loader);
    if options.parse_only || options.cancelled() {
        return finish(w, None, trees, &options.levels);
    }
    // a tree with holes can still be checked; what follows from the holes is not reported twice
    let broken = w.diagnostics.iter().any(Diagnostic::is_error);
    for (_, t) in &trees {
        w.add_program(t.clone(), false);
    }
    let first = FileId(w.sources.len() as u32);
    w.shipped_from = Some(first);
    for (name, text) in sluice_stdlib::FILES {
        w.sources.add(format!("<stdlib>/{name}"), *text);
    }
    for (tree, diagnostics) in library(first).iter() {
        diagnostics.iter().for_each(|d| w.report(d.clone()));
        w.add_program(tree.clone(), true);
    }
    w.memo = loader.memo();
    check::globals::globals(&mut w);
    // what streams are checked with may be half done, and is nothing to remember
    if options.cancelled() {
        return finish(w, None, trees, &options.levels);
    }
    if let Some(memo) = &w.memo {
        memo.begin(&w);
    }
    let user = w.decls.iter().filter(|d| !d.shipped).count();
    let mark = w.diagnostics.len();
    let mut owner: Vec<(usize, usize, DeclId)> = Vec::new();
    for id in (0..user).map(DeclId::from) {
        if options.cancelled() {
            return finish(w, None, trees, &options.levels);
        }
        let before = w.diagnostics.len();
        match w.decl(id).ast.body {
            sluice_grammar::ast::StreamBody::Filter(_) => {
                check::filter::general(&mut w, id);
            }
            sluice_grammar::ast::StreamBody::Composite(_) => {
                check::composite::composite(&mut w, id);
            }
        }
        owner.push((before, w.diagnostics.len(), id));
    }
    if broken {
        // a statement without effect beside a syntax error is a piece of one that was meant otherwise
        w.diagnostics.retain(|d| d.code != "W0201");
    }
    if broken || options.no_entry || w.diagnostics[..mark].iter().any(Diagnostic::is_error) {
        if !w.diagnostics.iter().any(Diagnostic::is_error) {
            lint_all(&mut w, &trees, None, None, &options.levels);
        }
        return finish(w, None, trees, &options.levels);
    }
    let Some(top) = entry::entry(&mut w, options.top.as_deref()) else {
        return finish(w, None, trees, &options.levels);
    };
    let mut e = Elaborator::new(&mut w, options.limits);
    e.cancel = options.cancel.clone();
    let inst = e.entry(top);
    let (codes, used, globals) = (std::mem::take(&mut e.codes), std::mem::take(&mut e.used), e.globals.clone());
    drop(e);
    if let Some(memo) = w.memo.as_ref().filter(|_| inst.is_some()) {
        memo.instantiated();
    }
    // streams the program never instantiates: their faults are warnings. Where elaboration stopped at an error, who knows what it would have come to: what it
    // can come to by the names that are added counts as instantiated
    let mut used: HashSet<DeclId> = used.into_iter().collect();
    if inst.is_none() {
        used.extend(entry::reached(&w, top));
    }
    owner.retain(|(_, _, id)| !used.contains(id));
    let mut unused = vec![false; w.diagnostics.len()];
    owner.iter().for_each(|(from, to, _)| unused[*from..*to].fill(true));
    let others = w.diagnostics.iter().zip(unused).any(|(d, unused)| d.is_error() && !unused);
    // where nothing else is wrong and there is no program, a fault in one of them is why: a parameter of no known type, say
    if inst.is_some() || others {
        for (from, to, _) in owner {
            for d in &mut w.diagnostics[from..to] {
                if d.is_error() {
                    d.severity = Severity::Warning;
                    d.notes.push("the program never instantiates this stream: only a warning".into());
                }
            }
        }
    }
    let Some(inst) = inst else { return finish(w, None, trees, &options.levels) };
    if w.diagnostics.iter().any(Diagnostic::is_error) || options.cancelled() {
        return finish(w, None, trees, &options.levels);
    }
    let (graph, portals) = flatten(&inst, &codes);
    crate::graph_verify::debug_verify(&graph, "elaborate");
    drop_deep(inst);
    let steady = match steady_state(&graph) {
        Ok(s) => s,
        Err(mut ds) => {
            enqueues::place(&w.sources, &trees, &mut ds);
            ds.into_iter().for_each(|d| w.report(d));
            return finish(w, None, trees, &options.levels);
        }
    };
    let cut = graph.cut();
    let (mut messages, precedences, found) = messages::bind(&cut, &codes, &steady.repetitions, &portals, &globals);
    let failed = found.iter().any(Diagnostic::is_error);
    found.into_iter().for_each(|d| w.report(d));
    if failed {
        return finish(w, None, trees, &options.levels);
    }
    let mut steady = steady;
    if !precedences.is_empty() {
        match messages::with_messages(&cut, steady, precedences) {
            Ok(s) => steady = s,
            Err(d) => {
                w.report(*d);
                return finish(w, None, trees, &options.levels);
            }
        }
    }
    if let Err(d) = messages::timed(&cut, &mut messages, &mut steady) {
        w.report(*d);
        return finish(w, None, trees, &options.levels);
    }
    drop(cut);
    let program = Elaborated { globals: (*globals).clone(), codes, graph, steady, portals, messages };
    lint_all(&mut w, &trees, Some((top, options.top.is_some())), Some(&program), &options.levels);
    finish(w, Some(program), trees, &options.levels)
}

/// What parsing gives, for each file.
pub type Parsed = Vec<(sluice_grammar::ast::Program, Vec<Diagnostic>)>;

/// The standard library's trees, whose files are numbered from `first` on. Parsing it takes longer than all else that is done to a small
/// program, so the trees are kept for the next one (an editor's, a test's) with as many files.
pub fn library(first: FileId) -> Arc<Parsed> {
    static KEPT: Mutex<Option<(FileId, Arc<Parsed>)>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, trees)) = kept.as_ref()
        && *at == first
    {
        return trees.clone();
    }
    let files = sluice_stdlib::FILES.iter().zip(first.0..);
    let trees = Arc::new(files.map(|((_, text), id)| sluice_grammar::parse(FileId(id), text)).collect::<Parsed>());
    *kept = Some((first, trees.clone()));
    trees
}

/// Trees of instances are dropped here, on the deep stack.
fn drop_deep<T>(value: T) {
    drop(value);
}

fn parse_all(
    w: &mut World,
    inputs: Vec<SourceInput>,
    loader: &mut dyn Loader,
) -> Vec<(FileId, sluice_grammar::ast::Program)> {
    let mut trees = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut queue: std::collections::VecDeque<SourceInput> = inputs.into();
    while let Some(input) = queue.pop_front() {
        if !seen.insert(input.name.clone()) {
            continue;
        }
        let file = w.sources.add(input.name.clone(), input.text.as_str());
        let (tree, diagnostics) = loader.parse(file, &input.text);
        diagnostics.into_iter().for_each(|d| w.report(d));
        for item in &tree.items {
            let Item::Import { path, at } = item else { continue };
            match loader.load(&input.name, path) {
                Ok(found) => queue.push_back(found),
                Err(why) => w.report(Diagnostic::error("E0110", format!("`{path}` cannot be imported"), at.0, why)),
            }
        }
        trees.push((file, tree));
    }
    trees
}

fn finish(
    mut w: World,
    program: Option<Elaborated>,
    trees: Vec<(FileId, sluice_grammar::ast::Program)>,
    told: &Levels,
) -> Analysis {
    // code with errors in it can break any rule when it is evaluated: that follows from what has been said
    if w.diagnostics.iter().any(|d| d.is_error() && d.code != "E0999") {
        w.diagnostics.retain(|d| d.code != "E0999");
    }
    // a word of which it is said that the language has no such word is no unknown variable or function besides
    let words: Vec<_> = w.diagnostics.iter().filter(|d| d.code == "E0009").map(Diagnostic::span).collect();
    w.diagnostics.retain(|d| !matches!(d.code, "E0102" | "E0104") || !words.contains(&d.span()));
    levels::apply(&mut w, &trees, told);
    w.diagnostics.sort_by_key(|d| (d.span().file, d.span().start, d.code));
    end_lines(&mut w);
    let failed = w.diagnostics.iter().any(Diagnostic::is_error);
    Analysis { sources: w.sources, diagnostics: w.diagnostics, program: program.filter(|_| !failed), trees }
}

/// Lets the lines of fixes end like those of their file (`\n` or `\r\n`, whichever there are more of).
fn end_lines(w: &mut World) {
    let fixes = w.diagnostics.iter_mut().flat_map(|d| &mut d.fixes);
    for edit in fixes.flat_map(|f| &mut f.edits).filter(|e| e.text.contains('\n')) {
        let text = &w.sources.file(edit.span.file).text;
        if 2 * text.matches("\r\n").count() > text.matches('\n').count() {
            edit.text = edit.text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_lie_beside_what_imports_them() {
        let plain = |from, path| beside(from, path, |_| false).display().to_string();
        assert_eq!(plain("/a/b/main.str", "x.str"), "/a/b/x.str");
        assert_eq!(plain("/a/b/main.str", "./../c/./x.str"), "/a/c/x.str");
        assert_eq!(plain("/a/b/main.str", "/x.str"), "/x.str");
        assert_eq!(plain("main.str", "x.str"), "x.str");
        assert_eq!(plain("", "x.str"), "x.str");
        // above where it begins nothing is known
        assert_eq!(plain("main.str", "../../x.str"), "../../x.str");
        assert_eq!(plain("a/main.str", "../../x.str"), "../x.str");
        // `link/..` is not where `link` lies
        let linked = |path| beside("/a/main.str", path, |p| p.ends_with("link")).display().to_string();
        assert_eq!(linked("link/../x.str"), "/a/link/../x.str");
        assert_eq!(linked("link/b/../x.str"), "/a/link/x.str");
    }
}
