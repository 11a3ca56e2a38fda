//! Where a name is declared; on an import, the file.

use super::diagnostics::{location, uri_of};
use crate::world::outside;
use crate::world::view::View;
use sluice_grammar::ast::Item;
use tower_lsp::lsp_types::*;

/// The declaration of the name at a byte.
pub fn definition(view: &View, offset: u32) -> Option<Location> {
    if let Some(u) = view.syntax.index().at(view.file, offset) {
        return location(view, view.syntax.index().symbol(u.symbol).span);
    }
    view.tree().items.iter().find_map(|item| match item {
        Item::Import { path, at } if at.0.touches(offset) => {
            let name = outside::beside(&view.syntax.file(view.file).name, path).display().to_string();
            let uri = uri_of(view, view.syntax.find(&name)?)?;
            Some(Location { uri, range: Range::default() })
        }
        _ => None,
    })
}
