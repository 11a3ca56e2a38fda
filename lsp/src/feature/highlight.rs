//! The other places of a name in the same file.

use crate::world::view::View;
use sluice_frontend::resolve::Access;
use tower_lsp::lsp_types::{DocumentHighlight, DocumentHighlightKind};

/// Where the name at a byte stands in its file, read or written.
pub fn highlights(view: &View, offset: u32) -> Vec<DocumentHighlight> {
    let index = view.syntax.index();
    let Some(u) = index.at(view.file, offset) else { return Vec::new() };
    let kind = |a| match a {
        Access::Read => DocumentHighlightKind::READ,
        Access::Declaration | Access::Write => DocumentHighlightKind::WRITE,
    };
    let here = index.uses_of(u.symbol).iter().filter(|u| u.span.file == view.file);
    here.map(|u| DocumentHighlight { range: view.text().range(u.span), kind: Some(kind(u.access)) }).collect()
}
