//! # elsewhere
//!
//! Purpose: a name in all programs of the workspace: a file that several import belongs to each of them, and what it declares is used in all. Input: a view, a symbol of it, and which
//! programs have a file. Output: the programs, and the symbol in each.

use crate::world::view::View;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::resolve::SymbolKind;
use sluice_grammar::span::FileId;
use std::collections::BTreeSet;

/// The programs that have a file, by their names.
pub type Programs<'w> = &'w dyn Fn(&str) -> Vec<(String, View)>;

/// The symbol in a view and in the other programs that use it; or why not: a name in a file of theirs is another one's there. The view itself comes first.
pub fn everywhere(view: &View, id: SymbolId, programs: Programs<'_>) -> Result<Vec<(View, SymbolId)>, String> {
    let mut found = vec![(view.clone(), id)];
    let symbol = view.syntax.index().symbol(id);
    use SymbolKind::{Field, Function, Local, Param, StreamParam};
    // what one stream has is seen in its file only
    if matches!(symbol.kind, Local | Param | StreamParam | Field | Function) || symbol.shipped {
        return Ok(found);
    }
    let declared = place(view, id);
    let mut known = BTreeSet::from([key(view)]);
    let mut seen = BTreeSet::new();
    let mut at = 0;
    while at < found.len() {
        let (view, id) = found[at].clone();
        at += 1;
        for u in view.syntax.index().uses_of(id) {
            let file = &view.syntax.file(u.span.file).name;
            if u.span.file.0 as usize >= view.syntax.own || !seen.insert(file.clone()) {
                continue;
            }
            for (program, other) in programs(file) {
                if known.contains(&key(&other)) {
                    continue;
                }
                let Some(there) = other.syntax.find(file) else { continue };
                let same = other.syntax.index().at(there, u.span.start).map(|u| u.symbol);
                match same {
                    Some(same) if place(&other, same) == declared => {
                        known.insert(key(&other));
                        found.push((other, same));
                    }
                    _ => {
                        let line = view.syntax.text(u.span.file).line(u.span.start) + 1;
                        let name = &symbol.name;
                        return Err(format!(
                            "`{name}` in {file}, line {line}, is another one in the program {program}"
                        ));
                    }
                }
            }
        }
    }
    Ok(found)
}

/// What tells programs apart: their files.
fn key(view: &View) -> Vec<String> {
    view.syntax.own_files().map(|f| view.syntax.file(f).name.clone()).collect()
}

/// Where a symbol is declared, in words that hold in every program.
fn place(view: &View, id: SymbolId) -> (String, u32) {
    let span = view.syntax.index().symbol(id).span;
    let file: FileId = span.file;
    (view.syntax.file(file).name.clone(), span.start)
}
