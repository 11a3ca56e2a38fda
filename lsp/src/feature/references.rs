//! Where a name is used, in all files of the program.

use super::diagnostics::location;
use crate::world::view::View;
use sluice_frontend::resolve::Access;
use tower_lsp::lsp_types::Location;

/// The uses of the name at a byte; those in the standard library are left out where the name is the user's.
pub fn references(view: &View, offset: u32, declaration: bool) -> Vec<Location> {
    let index = view.syntax.index();
    let Some(u) = index.at(view.file, offset) else { return Vec::new() };
    let uses = index.uses_of(u.symbol).iter();
    let wanted = uses.filter(|u| declaration || u.access != Access::Declaration);
    wanted.filter_map(|u| location(view, u.span)).collect()
}
