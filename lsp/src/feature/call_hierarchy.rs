//! The hierarchy of streams as one of calls: who adds a stream, what it adds, in all programs that have its file.

use super::diagnostics::{location, uri_of};
use super::elsewhere::{self, Programs};
use super::hover::symbol_kind;
use crate::world::view::View;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::resolve::{Symbol, SymbolKind, Use};
use std::collections::{BTreeMap, HashSet};
use tower_lsp::lsp_types::*;

/// The stream that is named at a byte, or else the one around it.
pub fn prepare(view: &View, offset: u32) -> Option<CallHierarchyItem> {
    let index = view.syntax.index();
    let is_stream = |id: &SymbolId| matches!(index.symbol(*id).kind, SymbolKind::Stream(_));
    let named = index.at(view.file, offset).map(|u| u.symbol).filter(is_stream);
    let around = || {
        let mut all = index.symbols().filter(|(_, s)| s.whole.file == view.file && s.whole.touches(offset));
        all.find(|(_, s)| matches!(s.kind, SymbolKind::Stream(_))).map(|(id, _)| id)
    };
    item(view, named.or_else(around)?)
}

fn item(view: &View, id: SymbolId) -> Option<CallHierarchyItem> {
    let symbol = view.syntax.index().symbol(id);
    let text = view.syntax.text(symbol.span.file);
    Some(CallHierarchyItem {
        name: symbol.name.to_string(),
        kind: symbol_kind(symbol.kind),
        tags: None,
        detail: Some(symbol.kind.noun().into()),
        uri: uri_of(view, symbol.span.file)?,
        range: text.range(symbol.whole),
        selection_range: text.range(symbol.span),
        data: None,
    })
}

/// By its file, for the library may have a stream of the same name as one of the user's.
fn stream(view: &View, item: &CallHierarchyItem) -> Option<SymbolId> {
    let index = view.syntax.index();
    let is_it = |s: &Symbol| {
        matches!(s.kind, SymbolKind::Stream(_))
            && *s.name == *item.name
            && uri_of(view, s.span.file).as_ref() == Some(&item.uri)
    };
    index.symbols().find(|(_, s)| is_it(s)).map(|(id, _)| id).or_else(|| index.stream(&item.name))
}

/// The stream in this program and in the others of the workspace that have its file: each may add it.
fn everywhere(view: &View, of: &CallHierarchyItem, programs: Programs<'_>) -> Vec<(View, SymbolId)> {
    let Some(id) = stream(view, of) else { return Vec::new() };
    // where it is not clear what another program means, this one counts
    elsewhere::everywhere(view, id, programs).unwrap_or_else(|_| vec![(view.clone(), id)])
}

/// The streams that add this one.
pub fn incoming(view: &View, of: &CallHierarchyItem, programs: Programs<'_>) -> Vec<CallHierarchyIncomingCall> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for (view, id) in everywhere(view, of, programs) {
        let adds = view.syntax.index().uses_of(id).iter().filter(|u| u.adds && seen.insert(place(&view, u)));
        let call = |(from, from_ranges)| Some(CallHierarchyIncomingCall { from: item(&view, from)?, from_ranges });
        found.extend(by(&view, adds, |u| u.within).into_iter().filter_map(call));
    }
    found
}

/// The streams that it adds. What its file does not declare, and another program does, is found there.
pub fn outgoing(view: &View, of: &CallHierarchyItem, programs: Programs<'_>) -> Vec<CallHierarchyOutgoingCall> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for (view, id) in everywhere(view, of, programs) {
        let file = view.syntax.index().symbol(id).span.file;
        let uses = view.syntax.index().uses_in(file).iter();
        let adds = uses.filter(|u| u.adds && u.within == Some(id) && seen.insert(place(&view, u)));
        let call = |(to, from_ranges)| Some(CallHierarchyOutgoingCall { to: item(&view, to)?, from_ranges });
        found.extend(by(&view, adds, |u| Some(u.symbol)).into_iter().filter_map(call));
    }
    found
}

/// Where a name is used, in words that hold in every program: two may have the file.
fn place(view: &View, u: &Use) -> (String, u32) {
    (view.syntax.file(u.span.file).name.clone(), u.span.start)
}

fn by<'u>(
    view: &View,
    uses: impl Iterator<Item = &'u Use>,
    key: fn(&Use) -> Option<SymbolId>,
) -> BTreeMap<SymbolId, Vec<Range>> {
    let mut found: BTreeMap<SymbolId, Vec<Range>> = BTreeMap::new();
    for u in uses {
        let Some(k) = key(u) else { continue };
        found.entry(k).or_default().extend(location(view, u.span).map(|l| l.range));
    }
    found
}
