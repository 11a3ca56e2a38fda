//! # rename
//!
//! Purpose: another name for something, in all files of the program, of the others in the workspace that use it, and in manifests whose entry it is. Input: a view, a byte, the name. Output: edits, or why not.
//! Refused: names of the standard library, what is no name, names that would clash with one that is seen where the old one stands, members of which not all uses are known, and names that may stand in a part of
//! a text that could not be read.

use super::diagnostics::{uri_named, uri_of};
use super::elsewhere::{Programs, everywhere};
use crate::convert::Text;
use crate::world::project::Entry;
use crate::world::view::View;
use sluice_frontend::check::call::BUILTINS;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::resolve::{SymbolKind, Use};
use sluice_grammar::ast::places::whole;
use sluice_grammar::span::FileId;
use sluice_grammar::token::{Token, lex, lex_all};
use std::collections::{HashMap, HashSet};
use tower_lsp::lsp_types::{PrepareRenameResponse, Range, TextEdit, Url, WorkspaceEdit};

/// Can the name at a byte be changed?
pub fn prepare(view: &View, offset: u32) -> Result<Option<PrepareRenameResponse>, String> {
    let Some(u) = view.syntax.index().at(view.file, offset) else { return Ok(None) };
    may(view, u.symbol)?;
    let placeholder = view.syntax.index().symbol(u.symbol).name.to_string();
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder { range: view.text().range(u.span), placeholder }))
}

fn may(view: &View, id: SymbolId) -> Result<(), String> {
    let symbol = view.syntax.index().symbol(id);
    if symbol.shipped || view.is_copy(symbol.span.file) {
        return Err(format!("`{}` belongs to the standard library", symbol.name));
    }
    if matches!(symbol.kind, SymbolKind::Native)
        || symbol.parent.is_some_and(|p| view.syntax.index().symbol(p).kind == SymbolKind::Native)
    {
        return Err(format!("`{}` is a name of C's, too: the C source says it", symbol.name));
    }
    Ok(())
}

/// The edits that rename.
///
/// `manifest` tells where the manifest of a program names its entry: that is renamed, too.
pub fn rename(
    view: &View,
    offset: u32,
    new: &str,
    programs: Programs<'_>,
    manifest: &dyn Fn(&str) -> Option<(Text, Entry)>,
) -> Result<Option<WorkspaceEdit>, String> {
    let index = view.syntax.index();
    let Some(u) = index.at(view.file, offset) else { return Ok(None) };
    may(view, u.symbol)?;
    match &lex(new)[..] {
        [one] if matches!(one.token, Token::Ident(text) if text == new) => {}
        _ => return Err(format!("`{new}` is no name: letters, digits and `_`, and no keyword")),
    }
    let symbol = index.symbol(u.symbol);
    if *symbol.name == *new {
        return Ok(None);
    }
    let (mut changes, mut seen) = (HashMap::<Url, Vec<TextEdit>>::new(), HashSet::new());
    for (i, (view, id)) in everywhere(view, u.symbol, programs)?.into_iter().enumerate() {
        allowed(&view, id, new).map_err(|why| match i {
            0 => why,
            _ => format!("{why}, in the program {}", view.syntax.file(FileId(0)).name),
        })?;
        for u in view.syntax.index().uses_of(id) {
            let Some(uri) = uri_of(&view, u.span.file) else { continue };
            let edit = TextEdit { range: view.syntax.text(u.span.file).range(u.span), new_text: new.into() };
            // two programs may have the file
            if seen.insert((view.syntax.file(u.span.file).name.clone(), u.span.start)) {
                changes.entry(uri).or_default().push(edit);
            }
        }
        if view.syntax.index().stream(&symbol.name) == Some(id)
            && let Some((text, entry)) = manifest(&view.program).filter(|(_, e)| *e.name == *symbol.name)
            && let Some(uri) = uri_named(&view, &view.program)
            && seen.insert((view.program.clone(), entry.range.start as u32))
        {
            let (start, end) = (text.position(entry.range.start as u32), text.position(entry.range.end as u32));
            let edit = TextEdit { range: Range { start, end }, new_text: format!("\"{new}\"") };
            changes.entry(uri).or_default().push(edit);
        }
    }
    Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
}

/// Can a program have the new name for a symbol, and are all uses of the old one known?
fn allowed(view: &View, id: SymbolId, new: &str) -> Result<(), String> {
    let index = view.syntax.index();
    let symbol = index.symbol(id);
    if matches!(symbol.kind, SymbolKind::Member | SymbolKind::Handler)
        && let Some(span) = index.unknown_members(&symbol.name).first()
    {
        let at = view.syntax.text(span.file).position(span.start);
        let file = &view.syntax.file(span.file).name;
        return Err(format!(
            "it cannot be told what `{}` is in {file}, line {}: write the type there first",
            symbol.name,
            at.line + 1
        ));
    }
    certain(view, id)?;
    clash(view, id, new)
}

/// Are all uses of a name known, where files have syntax errors? What is known within one stream only is, if the errors are elsewhere; of other names each place
/// where the word stands in such a file must be one that is known.
fn certain(view: &View, id: SymbolId) -> Result<(), String> {
    let index = view.syntax.index();
    let symbol = index.symbol(id);
    let refused = |file: FileId, at: u32, what: &str| {
        let line = view.syntax.text(file).line(at) + 1;
        Err(format!("{} has syntax errors: {what} in line {line}", view.syntax.file(file).name))
    };
    for file in view.syntax.own_files() {
        let faults = &view.syntax.file(file).faults;
        if faults.is_empty() {
            continue;
        }
        use SymbolKind::{Field, Function, Local, Param, StreamParam};
        let declarations = || view.syntax.tree(file).items.iter().map(whole);
        let own = matches!(symbol.kind, Local | Param | StreamParam | Field | Function);
        let around = declarations().find(|d| own && d.file == symbol.span.file && d.touches(symbol.span.start));
        if let Some(around) = around {
            match faults.iter().find(|f| around.touches(f.start) || around.touches(f.end)) {
                Some(fault) => return refused(file, fault.start, &format!("what `{}` is cannot be told", symbol.name)),
                None => continue,
            }
        }
        if own && symbol.span.file != file {
            continue;
        }
        let text = view.syntax.text(file).as_str();
        let lexed = lex_all(text);
        let open = |at: u32| lexed.faults.iter().any(|f| f.start == at as usize);
        let comments = lexed.comments.iter().filter(|c| !open(c.start));
        let texts = lexed.tokens.iter().filter(|t| matches!(t.token, Token::Str(_) | Token::Char(_)) && !open(t.start));
        let said: Vec<(u32, u32)> = comments.chain(texts).map(|t| (t.start, t.end)).collect();
        let known = index.uses_in(file);
        let part = |c: char| c.is_alphanumeric() || c == '_';
        for (at, word) in text.match_indices(&*symbol.name) {
            let longer = text[..at].ends_with(part) || text[at + word.len()..].starts_with(part);
            let at = at as u32;
            let within = said.iter().any(|(from, to)| *from <= at && at < *to);
            if !longer && !within && known.binary_search_by_key(&at, |u| u.span.start).is_err() {
                return refused(file, at, &format!("it cannot be told what `{}` is", symbol.name));
            }
        }
    }
    Ok(())
}

/// Would the new name mean something else, or take another one's place?
fn clash(view: &View, id: SymbolId, new: &str) -> Result<(), String> {
    let index = view.syntax.index();
    let symbol = index.symbol(id);
    let taken = |other: SymbolId| {
        let o = index.symbol(other);
        Err(format!("`{new}` is the name of a {} already", o.kind.noun()))
    };
    let of_name =
        |mut ids: Box<dyn Iterator<Item = SymbolId> + '_>| ids.find(|i| *i != id && *index.symbol(*i).name == *new);
    let functions = |k: SymbolKind| matches!(k, SymbolKind::Function | SymbolKind::Handler | SymbolKind::GroupFunction);
    match symbol.kind {
        SymbolKind::Stream(_) => {
            if let Some(other) = index.stream(new) {
                return taken(other);
            }
            if matches!(new, "Identity" | "FileReader" | "FileWriter") {
                return Err(format!("`{new}` is built in"));
            }
            return Ok(());
        }
        SymbolKind::Struct => return index.structure(new).map_or(Ok(()), taken),
        SymbolKind::Helper | SymbolKind::Native => {
            if let Some(other) = index.group(new) {
                return taken(other);
            }
        }
        SymbolKind::Member | SymbolKind::Handler | SymbolKind::GroupFunction => {
            let siblings = index
                .symbols()
                .filter(|(_, s)| s.parent == symbol.parent && functions(s.kind) == functions(symbol.kind))
                .map(|(i, _)| i);
            return of_name(Box::new(siblings)).map_or(Ok(()), taken);
        }
        SymbolKind::Function if BUILTINS.iter().any(|(name, ..)| *name == new) => {
            return Err(format!("`{new}` is a mathematical function"));
        }
        _ => {}
    }
    // what is seen where the old name stands, and what stands where the old one would be seen
    let same = |k: SymbolKind| functions(k) == functions(symbol.kind);
    for u in index.uses_of(id) {
        let seen = index.visible(u.span.file, u.span.start).into_iter().filter(|i| same(index.symbol(*i).kind));
        if let Some(other) = of_name(Box::new(seen)) {
            return taken(other);
        }
    }
    let globals = index
        .globals()
        .into_iter()
        .filter(|i| matches!(index.symbol(*i).kind, SymbolKind::Static | SymbolKind::Helper | SymbolKind::Native));
    if let Some(other) = of_name(Box::new(globals)) {
        return taken(other);
    }
    let capturing = |o: &Use| index.visible(o.span.file, o.span.start).contains(&id) && o.symbol != id;
    let all = index.symbols().filter(|(i, s)| {
        *i != id
            && *s.name == *new
            && same(s.kind)
            && !matches!(s.kind, SymbolKind::Stream(_) | SymbolKind::Struct | SymbolKind::Member)
    });
    for (other, _) in all {
        if index.uses_of(other).iter().any(capturing) {
            return taken(other);
        }
    }
    Ok(())
}
