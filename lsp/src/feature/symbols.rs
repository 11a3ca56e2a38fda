//! # symbols
//!
//! The outline of a file, and a search through the programs that are open and the files of the workspace.

use super::diagnostics::{location, uri_of};
use super::hover::symbol_kind;
use crate::world::view::View;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::resolve::SymbolKind;
use tower_lsp::lsp_types::*;

/// The outline of the file: streams with their parameters, fields and functions; structs, statics, groups.
pub fn outline(view: &View) -> Vec<DocumentSymbol> {
    let index = view.syntax.index();
    let mut all: Vec<(SymbolId, Option<SymbolId>)> = Vec::new();
    for (id, s) in index.symbols().filter(|(_, s)| s.span.file == view.file) {
        if !matches!(s.kind, SymbolKind::Local | SymbolKind::Param) {
            all.push((id, s.parent.filter(|p| index.symbol(*p).span.file == view.file)));
        }
    }
    let mut children: std::collections::HashMap<Option<SymbolId>, Vec<SymbolId>> = Default::default();
    all.into_iter().for_each(|(id, parent)| children.entry(parent).or_default().push(id));
    let top = children.get(&None).cloned().unwrap_or_default();
    top.into_iter().map(|id| entry(view, id, &children)).collect()
}

fn entry(
    view: &View,
    id: SymbolId,
    children: &std::collections::HashMap<Option<SymbolId>, Vec<SymbolId>>,
) -> DocumentSymbol {
    let symbol = view.syntax.index().symbol(id);
    let own: Vec<DocumentSymbol> =
        children.get(&Some(id)).into_iter().flatten().map(|c| entry(view, *c, children)).collect();
    let detail = match symbol.kind {
        SymbolKind::Stream(kind) => {
            let io = view.syntax.piece(symbol.header).split(kind.keyword()).next().unwrap_or("").trim();
            format!("{io} {}", kind.keyword()).trim().to_string()
        }
        _ => symbol.ty.as_ref().map_or(String::new(), |t| view.syntax.piece(t.at.0).to_string()),
    };
    let (text, mut whole) = (view.text(), symbol.whole);
    // what is selected must lie within the whole
    whole.start = whole.start.min(symbol.span.start);
    whole.end = whole.end.max(symbol.span.end);
    #[allow(deprecated)] // the field must be given
    DocumentSymbol {
        name: symbol.name.to_string(),
        detail: (!detail.is_empty()).then_some(detail),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: text.range(whole),
        selection_range: text.range(symbol.span),
        children: (!own.is_empty()).then_some(own),
    }
}

/// The same as a list, for clients that know no outline: each with the name of what it is in.
pub fn flat(uri: &Url, outline: Vec<DocumentSymbol>) -> Vec<SymbolInformation> {
    let mut all = Vec::new();
    listed(uri, outline, None, &mut all);
    all
}

fn listed(uri: &Url, outline: Vec<DocumentSymbol>, container: Option<&str>, all: &mut Vec<SymbolInformation>) {
    for s in outline {
        #[allow(deprecated)] // the field must be given
        all.push(SymbolInformation {
            name: s.name.clone(),
            kind: s.kind,
            tags: None,
            deprecated: None,
            location: Location { uri: uri.clone(), range: s.range },
            container_name: container.map(str::to_string),
        });
        listed(uri, s.children.unwrap_or_default(), Some(&s.name), all);
    }
}

/// Symbols found, at most.
pub const MOST: usize = 500;

/// The symbols of a program whose names have the letters of the query in order, in any case.
pub fn search(view: &View, query: &str) -> Vec<SymbolInformation> {
    let index = view.syntax.index();
    let mut found = Vec::new();
    for (_, s) in index.symbols() {
        let local =
            matches!(s.kind, SymbolKind::Local | SymbolKind::Param | SymbolKind::StreamParam | SymbolKind::Field);
        if s.shipped || local || found.len() >= MOST || !matches(query, &s.name) || uri_of(view, s.span.file).is_none()
        {
            continue;
        }
        let Some(location) = location(view, s.span) else { continue };
        #[allow(deprecated)] // the field must be given
        found.push(SymbolInformation {
            name: s.name.to_string(),
            kind: symbol_kind(s.kind),
            tags: None,
            deprecated: None,
            location,
            container_name: s.parent.map(|p| index.symbol(p).name.to_string()),
        });
    }
    found
}

fn matches(query: &str, name: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|q| letters.any(|c| c == q))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn letters_in_order_are_found() {
        assert!(matches("lp", "LowPass") && matches("", "x") && matches("LOW", "lowpass"));
        assert!(!matches("pl", "LowPass") && !matches("lowpasss", "LowPass"));
    }
}
