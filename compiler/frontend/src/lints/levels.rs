//! Which warnings are told, and how loudly: what the command line asks for, and comments in the source.
//!
//! Takes all diagnostics of a compilation, gives those that are left, denied ones as errors. A comment
//! `// sluice: allow(W0203)` silences warnings whose main place is
//! - on its own line, where code stands before it;
//! - else on the next line that holds code, and in the declaration or statement that begins there.
//!
//! A comment wins over the command line, and there a code wins over `warnings`.

use super::{LINTS, lint};
use crate::world::World;
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::{Diagnostic, Severity};
use sluice_grammar::span::{FileId, SourceMap, Span};
use sluice_grammar::token::{Spanned, Token, lex_with_comments};
use std::collections::{BTreeMap, HashMap};

/// What becomes of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing: it is not told.
    Allow,
    /// It is told.
    Warn,
    /// It is an error.
    Deny,
}

/// The levels that are not the usual ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    codes: BTreeMap<&'static str, Level>,
    warnings: Option<Level>,
}

impl Levels {
    /// Sets the level of a code, or of all `warnings`. An error says why that cannot be.
    pub fn set(&mut self, what: &str, level: Level) -> Result<(), String> {
        if what == "warnings" {
            if self.warnings.is_some_and(|l| l != level) {
                return Err("`warnings` is given two levels".into());
            }
            self.warnings = Some(level);
            return Ok(());
        }
        let code = known(what)?;
        match self.codes.insert(code, level) {
            Some(before) if before != level => Err(format!("{code} is given two levels")),
            _ => Ok(()),
        }
    }

    /// The level that was asked for.
    pub fn asked(&self, code: &str) -> Option<Level> {
        self.codes.get(code).copied()
    }

    /// The same, with all that is denied told as warnings.
    #[must_use]
    pub fn lenient(&self) -> Levels {
        let warn = |l: Level| if l == Level::Deny { Level::Warn } else { l };
        let codes = self.codes.iter().map(|(code, l)| (*code, warn(*l))).collect();
        Levels { codes, warnings: self.warnings.map(warn) }
    }

    fn of(&self, code: &str) -> Level {
        self.asked(code).or(self.warnings).unwrap_or(Level::Warn)
    }
}

/// The code as the table of lints has it, or why it is none that can have a level.
fn known(what: &str) -> Result<&'static str, String> {
    if let Some(l) = lint(&what.to_ascii_uppercase()) {
        return Ok(l.code);
    }
    let code = what.len() == 5 && what.starts_with(['E', 'e']) && what[1..].bytes().all(|b| b.is_ascii_digit());
    Err(match code {
        true => format!("{what} is an error: only warnings have levels"),
        false => format!("there is no warning `{what}`"),
    })
}

/// Keeps what is to be told. `trees` are the user's files.
pub fn apply(w: &mut World, trees: &[(FileId, Program)], levels: &Levels) {
    let mut comments = Comments::default();
    for (file, tree) in trees {
        comments.read(&w.sources, *file, tree);
    }
    for d in std::mem::take(&mut comments.faults) {
        w.report(d);
    }
    let sources = &w.sources;
    w.diagnostics.retain_mut(|d| {
        if d.severity != Severity::Warning {
            return true;
        }
        if comments.allow(sources, d) {
            return false;
        }
        match levels.of(d.code) {
            Level::Allow => return false,
            Level::Warn => {}
            Level::Deny => {
                d.severity = Severity::Error;
                d.notes.push("a warning, but denied by an option (or a setting of the editor)".into());
            }
        }
        true
    });
}

/// What one comment allows.
struct Allowance {
    codes: Vec<&'static str>,
    /// The line that it speaks of.
    line: u32,
    /// The declaration or statement that it speaks of.
    extent: Option<Span>,
}

/// The comments that speak to the compiler.
#[derive(Default)]
struct Comments {
    allowed: HashMap<FileId, Vec<Allowance>>,
    faults: Vec<Diagnostic>,
}

impl Comments {
    fn read(&mut self, sources: &SourceMap, file: FileId, tree: &Program) {
        let text = &sources.file(file).text;
        // the lexer need not look through files without any
        if !text.contains("sluice:") {
            return;
        }
        let (tokens, comments) = lex_with_comments(text);
        let mut starts = None;
        for c in comments {
            let Some((codes, faults)) = order(text, c, file) else { continue };
            self.faults.extend(faults);
            if codes.is_empty() {
                continue;
            }
            let line = |offset: u32| sources.line_col(file, offset).line;
            let before = tokens.partition_point(|t| t.end <= c.start).checked_sub(1).map(|i| tokens[i]);
            let next = tokens.get(tokens.partition_point(|t| t.start < c.end));
            let trailing = before.is_some_and(|t| line(t.end.saturating_sub(1)) == line(c.start));
            let allowance = match next {
                Some(next) if !trailing => {
                    let starts = starts.get_or_insert_with(|| extents(text, tree));
                    Allowance { codes, line: line(next.start), extent: starts.get(&next.start).copied() }
                }
                _ => Allowance { codes, line: line(c.start), extent: None },
            };
            self.allowed.entry(file).or_default().push(allowance);
        }
    }

    fn allow(&self, sources: &SourceMap, d: &Diagnostic) -> bool {
        let at = d.span();
        let Some(all) = self.allowed.get(&at.file) else { return false };
        all.iter().any(|a| {
            let here = a.extent.is_some_and(|e| e.start <= at.start && at.start < e.end);
            a.codes.contains(&d.code) && (here || sources.line_col(at.file, at.start).line == a.line)
        })
    }
}

/// The codes that a comment allows, and what is wrong with it; `None` where it is no such comment.
fn order(text: &str, c: Spanned<'_>, file: FileId) -> Option<(Vec<&'static str>, Vec<Diagnostic>)> {
    let (Token::LineComment(source) | Token::BlockComment(source)) = c.token else { return None };
    let inside = source.trim_start_matches(['/', '*', ' ', '\t', '!']).trim_end_matches(['/', '*']).trim_end();
    let words = inside.strip_prefix("sluice:")?.trim_start();
    let (word, rest) = words.split_once('(')?;
    let word = word.trim_end();
    if word.contains(char::is_whitespace) || word.is_empty() {
        return None;
    }
    let span = |part: &str| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        Span::new(file, start, start + part.len())
    };
    let fault = |at: &str, label: String| {
        Diagnostic::warning("W0209", "this comment to the compiler is not understood", span(at), label)
            .help("write `// sluice: allow(W0203)`, with one code or several separated by commas")
    };
    let list = match (word, rest.split_once(')')) {
        ("allow", Some((list, _))) => list,
        ("allow", None) => return Some((Vec::new(), vec![fault(rest, "`)` is missing".into())])),
        _ => return Some((Vec::new(), vec![fault(word, format!("there is no order `{word}`"))])),
    };
    let mut faults = Vec::new();
    let mut codes = Vec::new();
    for code in list.split(',').map(str::trim) {
        match known(code) {
            Ok(code) => codes.push(code),
            Err(why) => faults.push(fault(if code.is_empty() { list } else { code }, why)),
        }
    }
    Some((codes, faults))
}

/// The declarations and statements of a file by the byte where they start; of several the longest.
fn extents(text: &str, tree: &Program) -> HashMap<u32, Span> {
    let mut all = Extents { text, found: HashMap::new() };
    for item in &tree.items {
        match item {
            Item::Import { .. } => {}
            Item::Struct(s) => {
                all.add(s.at.0);
                s.fields.iter().for_each(|d| all.add(d.at.0));
            }
            Item::Stream(s) => all.stream(s),
            Item::Static(s) => {
                all.add(s.at.0);
                s.fields.iter().for_each(|d| all.add(d.at.0));
                s.init.iter().for_each(|b| all.init(b));
            }
            Item::Native(g) | Item::Helper(g) => {
                all.add(g.at.0);
                g.functions.iter().for_each(|f| all.function(f));
            }
        }
    }
    all.found
}

struct Extents<'t> {
    text: &'t str,
    found: HashMap<u32, Span>,
}

impl Extents<'_> {
    fn add(&mut self, span: Span) {
        let longest = self.found.entry(span.start).or_insert(span);
        longest.end = longest.end.max(span.end);
    }

    fn stream(&mut self, s: &StreamDecl) {
        self.add(s.at.0);
        self.params(&s.params);
        match &s.body {
            StreamBody::Composite(b) => self.stmts(&b.stmts),
            StreamBody::Filter(members) => {
                for m in members {
                    match m {
                        Member::Field(d) => self.add(d.at.0),
                        Member::Init(b) => self.init(b),
                        Member::Prework(w) | Member::Work(w) => {
                            self.add(w.at.0);
                            self.stmts(&w.body.stmts);
                        }
                        Member::Function(f) | Member::Handler(f) => self.function(f),
                    }
                }
            }
        }
    }

    /// The tree has the block only: the keyword stands before it.
    fn init(&mut self, b: &Block) {
        let before = self.text[..b.at.0.start as usize].trim_end();
        if let Some(before) = before.strip_suffix("init") {
            self.add(Span { start: before.len() as u32, ..b.at.0 });
        }
        self.stmts(&b.stmts);
    }

    fn function(&mut self, f: &FnDecl) {
        self.add(f.at.0);
        self.params(&f.params);
        f.body.iter().for_each(|b| self.stmts(&b.stmts));
    }

    fn params(&mut self, params: &[Param]) {
        params.iter().for_each(|p| self.add(p.ty.at.0.to(p.name.span())));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        self.add(s.at.0);
        match &s.kind {
            StmtKind::Block(b) => self.stmts(&b.stmts),
            StmtKind::If { then, els, .. } => {
                self.stmt(then);
                els.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => {
                self.stmt(body);
            }
            StmtKind::Switch { cases, .. } => cases.iter().for_each(|c| self.stmts(&c.body)),
            StmtKind::Add { stream, .. } | StmtKind::Body { stream, .. } | StmtKind::Loop { stream, .. } => {
                if let StreamRef::Anonymous(s) = stream {
                    self.stream(s);
                }
            }
            _ => {}
        }
    }
}

/// All codes that can have levels, for people.
pub fn codes() -> impl Iterator<Item = &'static str> {
    LINTS.iter().map(|l| l.code)
}
