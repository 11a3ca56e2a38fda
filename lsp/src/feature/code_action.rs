//! # code-action
//!
//! Purpose: what can be done about the place at the cursor. Input: a view, a range. Output: the compiler's own suggestions for the diagnostics there, a
//! declaration for a stream that does not exist, and two rearrangements that keep what the program does: a filter without a name gets one, streams that
//! follow each other become a pipeline. `source.fixAll` makes all that `sluice fix` would.

use super::diagnostics::{convert_one, uri_of};
use super::facts::{addings, declared, hier};
use super::missing::missing_stream;
use crate::world::view::View;
use sluice_frontend::check::show_type;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::lints::levels::Levels;
use sluice_frontend::lints::tree;
use sluice_frontend::mend::mend;
use sluice_frontend::resolve::SymbolKind;
use sluice_frontend::{Loader, Options, SourceInput};
use sluice_grammar::ast::{Item, Stmt, StmtKind, StreamKind, StreamRef};
use sluice_grammar::diagnostic::Edit;
use sluice_grammar::span::Span;
use std::collections::HashMap;
use std::ops::Range;
use tower_lsp::lsp_types::*;

/// The actions for a range, or for the line of a cursor where nothing can be mended; `shown`: where diagnostics are that the client asks about, which may lie beside it; `only`: the kinds that are wanted.
pub fn actions(
    view: &View,
    range: Range<u32>,
    shown: &[Range<u32>],
    only: Option<&[CodeActionKind]>,
) -> Vec<CodeAction> {
    let wants = |kind: &CodeActionKind| {
        only.is_none_or(|o| {
            o.iter().any(|k| kind.as_str() == k.as_str() || kind.as_str().starts_with(&format!("{}.", k.as_str())))
        })
    };
    let mut all = Vec::new();
    if wants(&CodeActionKind::QUICKFIX) {
        quick_fixes(view, &range, shown, &mut all);
        if all.is_empty() && range.is_empty() {
            // a cursor beside the fault: its line is meant
            let (start, end) = view.text().line_bounds(view.text().line(range.start));
            quick_fixes(view, &(start..end), shown, &mut all);
        }
    }
    if wants(&CodeActionKind::REFACTOR_EXTRACT) {
        all.extend(extract(view, &range));
    }
    if wants(&CodeActionKind::REFACTOR_REWRITE) {
        all.extend(wrap(view, &range));
    }
    // it takes several analyses: only for those who ask for it
    if only.is_some() && wants(&CodeActionKind::SOURCE_FIX_ALL) {
        all.extend(fix_all(view));
    }
    all
}

/// Edits of ours for a client; `None` where one is in a file that cannot be opened, or belongs to the library.
fn edit(view: &View, edits: &[Edit]) -> Option<WorkspaceEdit> {
    let mut changes: HashMap<Url, Vec<TextEdit>> = HashMap::new();
    for e in edits {
        if e.span.file.0 as usize >= view.syntax.own {
            return None;
        }
        let range = view.syntax.text(e.span.file).range(e.span);
        changes.entry(uri_of(view, e.span.file)?).or_default().push(TextEdit { range, new_text: e.text.clone() });
    }
    Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}

fn quick_fixes(view: &View, range: &Range<u32>, shown: &[Range<u32>], all: &mut Vec<CodeAction>) {
    let Some(known) = view.latest.as_ref().filter(|k| k.current) else { return };
    for d in &known.of.analysis.diagnostics {
        let Some(at) = known.now(d.span()).filter(|s| s.file == view.file) else { continue };
        let meets = |range: &Range<u32>| range.start <= at.end && at.start <= range.end;
        if !meets(range) && !shown.contains(&(at.start..at.end)) {
            continue;
        }
        let Some((_, shown)) = convert_one(view, d) else { continue };
        let missing = (d.code == "E0103").then(|| missing_stream(view, at)).flatten();
        for fix in d.fixes.iter().chain(&missing) {
            let now: Option<Vec<Edit>> =
                fix.edits.iter().map(|e| Some(Edit { span: known.now(e.span)?, text: e.text.clone() })).collect();
            let Some(edit) = now.and_then(|edits| edit(view, &edits)) else { continue };
            all.push(CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![shown.clone()]),
                edit: Some(edit),
                is_preferred: fix.is_safe().then_some(true),
                ..CodeAction::default()
            });
        }
    }
}

/// A stream without a name becomes a declaration with one; what it sees of the streams around it becomes its parameters.
fn extract(view: &View, range: &Range<u32>) -> Option<CodeAction> {
    if !view.syntax.file(view.file).faults.is_empty() {
        return None;
    }
    let inner = addings(view.tree()).into_iter().rfind(|a| match a.stream {
        StreamRef::Anonymous(s) => {
            s.header.0.start <= range.start && range.end <= s.header.0.end.max(s.header.0.start + 1)
                || a.stmt.at.0.start <= range.start && range.end <= s.header.0.end
        }
        StreamRef::Named { .. } => false,
    })?;
    let StreamRef::Anonymous(decl) = inner.stream else { return None };
    let outer = view.tree().items.iter().find_map(|i| match i {
        Item::Stream(s) if s.at.0.touches(decl.at.0.start) => Some(s),
        _ => None,
    })?;
    let index = view.syntax.index();
    let whole = decl.at.0;
    let inside = |s: Span| s.file == whole.file && whole.start <= s.start && s.end <= whole.end;
    let mut captured: Vec<SymbolId> = Vec::new();
    let mut take = |id: SymbolId| {
        let symbol = index.symbol(id);
        let local = matches!(symbol.kind, SymbolKind::StreamParam | SymbolKind::Local);
        if local && !inside(symbol.span) && !captured.contains(&id) {
            captured.push(id);
        }
    };
    index.uses_in(view.file).iter().filter(|u| inside(u.span)).for_each(|u| take(u.symbol));
    // what the types of the captured say is captured, too
    let mut at = 0;
    while at < captured.len() {
        let ty = index.symbol(captured[at]).ty.as_ref().map(|t| t.at.0);
        for u in index
            .uses_in(view.file)
            .iter()
            .filter(|u| ty.is_some_and(|t| t.start <= u.span.start && u.span.end <= t.end))
        {
            let symbol = index.symbol(u.symbol);
            if matches!(symbol.kind, SymbolKind::StreamParam | SymbolKind::Local) && !captured.contains(&u.symbol) {
                captured.push(u.symbol);
            }
        }
        at += 1;
    }
    captured.sort_by_key(|id| index.symbol(*id).span.start);
    let io = match &decl.io {
        Some((i, o)) => format!("{}->{}", view.syntax.piece(i.at.0), view.syntax.piece(o.at.0)),
        None => {
            let known = view.good.as_ref()?;
            let program = known.program()?;
            let first = *declared(known, decl.header.0).first()?;
            let io = &hier(program, first).io;
            format!("{}->{}", show_type(&program.globals, &io.0), show_type(&program.globals, &io.1))
        }
    };
    let base = match decl.kind {
        StreamKind::Filter => "NewFilter",
        StreamKind::Pipeline => "NewPipeline",
        StreamKind::SplitJoin => "NewSplitJoin",
        StreamKind::FeedbackLoop => "NewLoop",
    };
    let names = (1..).map(|n| if n == 1 { base.to_string() } else { format!("{base}{n}") });
    let name = names.into_iter().find(|n| index.stream(n).is_none())?;
    let joined = |parts: Vec<String>| if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) };
    let params = captured.iter().map(|id| {
        let s = index.symbol(*id);
        format!("{} {}", s.ty.as_ref().map_or("float", |t| view.syntax.piece(t.at.0)), s.name)
    });
    let params = joined(params.collect());
    let args = joined(captured.iter().map(|id| index.symbol(*id).name.to_string()).collect());
    let stateful = if decl.stateful.is_some() { "stateful " } else { "" };
    let body = view.syntax.piece(Span { start: decl.header.0.end, ..whole }).trim_start();
    let body = outdented(body, indent(view, inner.stmt.at.0.start).len());
    let code = format!("\n\n{io} {stateful}{} {name}{params} {body}", decl.kind.keyword());
    // a statement of a stream without a name may end without a semicolon
    let tail = view.syntax.piece(Span { start: whole.end, ..inner.stmt.at.0 }).trim_end();
    let semicolon = if tail.ends_with(';') { "" } else { ";" };
    let edits = [
        Edit { span: whole, text: format!("{name}{args}{semicolon}") },
        Edit { span: Span { start: outer.at.0.end, ..outer.at.0 }, text: code },
    ];
    Some(CodeAction {
        title: format!("give this {} a name", decl.kind.keyword()),
        kind: Some(CodeActionKind::REFACTOR_EXTRACT),
        edit: edit(view, &edits),
        ..CodeAction::default()
    })
}

/// `add`s that follow each other become one of a pipeline; several only within a pipeline, where that changes nothing.
fn wrap(view: &View, range: &Range<u32>) -> Option<CodeAction> {
    if !view.syntax.file(view.file).faults.is_empty() {
        return None;
    }
    let mut found: Option<Vec<Span>> = None;
    tree::streams(view.tree(), &mut |s| {
        let sluice_grammar::ast::StreamBody::Composite(body) = &s.body else { return };
        let mut lists: Vec<&[Stmt]> = vec![&body.stmts];
        for stmt in &body.stmts {
            inner_lists(stmt, &mut lists);
        }
        for stmts in lists {
            let touched: Vec<&Stmt> = stmts
                .iter()
                .filter(|s| s.at.0.start < range.end.max(range.start + 1) && range.start <= s.at.0.end)
                .collect();
            let adds = touched.iter().all(|s| matches!(s.kind, StmtKind::Add { .. }));
            if adds && !touched.is_empty() && (touched.len() == 1 || s.kind == StreamKind::Pipeline) {
                found = Some(touched.iter().map(|s| s.at.0).collect());
            }
        }
    });
    let spans = found?;
    let (first, last) = (spans.first()?, spans.last()?);
    let space = indent(view, first.start);
    let inside = view.syntax.piece(first.to(*last));
    let inside: Vec<String> = inside
        .split('\n')
        .enumerate()
        .map(|(i, l)| if i == 0 || l.trim().is_empty() { l.into() } else { format!("    {l}") })
        .collect();
    let text = format!("add pipeline {{\n{space}    {}\n{space}}}", inside.join("\n"));
    Some(CodeAction {
        title: "wrap in a pipeline".into(),
        kind: Some(CodeActionKind::REFACTOR_REWRITE),
        edit: edit(view, &[Edit { span: first.to(*last), text }]),
        ..CodeAction::default()
    })
}

fn inner_lists<'t>(s: &'t Stmt, lists: &mut Vec<&'t [Stmt]>) {
    let mut one = |s: &'t Stmt| match &s.kind {
        StmtKind::Block(b) => {
            lists.push(&b.stmts);
            b.stmts.iter().for_each(|s| inner_lists(s, lists));
        }
        _ => {
            lists.push(std::slice::from_ref(s));
            inner_lists(s, lists);
        }
    };
    match &s.kind {
        StmtKind::Block(_) => one(s),
        StmtKind::If { then, els, .. } => {
            one(then);
            if let Some(els) = els {
                one(els);
            }
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => one(body),
        _ => {}
    }
}

/// The space that the line of a byte begins with.
fn indent(view: &View, at: u32) -> &str {
    let text = view.text();
    let line = &text.as_str()[text.line_bounds(text.line(at)).0 as usize..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Lines but the first lose that much of their space.
fn outdented(text: &str, by: usize) -> String {
    let cut = |l: &str| {
        let space = l.len() - l.trim_start_matches([' ', '\t']).len();
        l[space.min(by)..].to_string()
    };
    text.split('\n')
        .enumerate()
        .map(|(i, l)| if i == 0 { l.to_string() } else { cut(l) })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The files of a view as a loader gives them.
struct Files<'v>(&'v View);

impl Loader for Files<'_> {
    fn load(&mut self, from: &str, path: &str) -> Result<SourceInput, String> {
        let name = crate::world::outside::beside(from, path).display().to_string();
        let id = self.0.syntax.find(&name).ok_or("it is not there")?;
        Ok(SourceInput { name, text: self.0.syntax.text(id).as_str().into() })
    }
}

/// All safe fixes of the program.
fn fix_all(view: &View) -> Option<CodeAction> {
    let first = view.syntax.files.first()?;
    let input = SourceInput { name: first.name.clone(), text: first.text.as_str().into() };
    let levels: Levels = view.settings.levels.clone();
    let mended = mend(vec![input], &Options { levels, ..Options::default() }, &mut Files(view));
    let mut changes: HashMap<Url, Vec<TextEdit>> = HashMap::new();
    for c in &mended.changed {
        let id = view.syntax.find(&c.file)?;
        let range = view.syntax.text(id).whole();
        changes.insert(uri_of(view, id)?, vec![TextEdit { range, new_text: c.after.clone() }]);
    }
    (!changes.is_empty()).then(|| CodeAction {
        title: format!("make the {} safe {}", mended.made.len(), if mended.made.len() == 1 { "fix" } else { "fixes" }),
        kind: Some(CodeActionKind::SOURCE_FIX_ALL),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    })
}
