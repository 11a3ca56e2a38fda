//! Where a name is used, in all files of the program, and of the others in the workspace that have the file of its declaration.

use super::diagnostics::location;
use super::elsewhere::{Programs, everywhere};
use crate::world::view::View;
use sluice_frontend::resolve::Access;
use std::collections::HashSet;
use tower_lsp::lsp_types::Location;

/// The uses of the name at a byte; those in the standard library are left out where the name is the user's.
pub fn references(view: &View, offset: u32, declaration: bool, programs: Programs<'_>) -> Vec<Location> {
    let Some(u) = view.syntax.index().at(view.file, offset) else { return Vec::new() };
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    // where it is not clear what another program means, this one counts
    let all = everywhere(view, u.symbol, programs).unwrap_or_else(|_| vec![(view.clone(), u.symbol)]);
    for (view, id) in all {
        let uses = view.syntax.index().uses_of(id).iter();
        for u in uses.filter(|u| declaration || u.access != Access::Declaration) {
            // two programs may have the file
            if seen.insert((view.syntax.file(u.span.file).name.clone(), u.span.start)) {
                found.extend(location(&view, u.span));
            }
        }
    }
    found
}
