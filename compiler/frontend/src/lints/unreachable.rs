//! # unreachable (W0205)
//!
//! Purpose: statements behind a `return`, `break` or `continue`. Input: a file's tree. Output: warnings.

use super::{removal, tree};
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::Applicability::NeedsALook;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::SourceMap;

/// Warnings about code that is never reached.
pub fn lint(sources: &SourceMap, program: &Program, out: &mut Vec<Diagnostic>) {
    tree::lists(program, &mut |stmts, _| {
        let Some(end) = stmts.iter().position(ends) else { return };
        let mut rest = stmts[end + 1..].iter().filter(|s| s.kind != StmtKind::Empty);
        let (Some(first), last) = (rest.next(), stmts.last()) else { return };
        let all = last.map_or(first.at.0, |last| first.at.0.to(last.at.0));
        let edits = vec![removal::whole(sources, all)];
        out.push(
            Diagnostic::warning("W0205", "this code is never reached", all, "nothing leads here")
                .label(stmts[end].at.0, "this never goes on to what follows")
                .fix(Fix::of("remove what is never reached", edits, NeedsALook)),
        );
    });
}

/// Does nothing that follows come after this?
fn ends(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => true,
        StmtKind::Block(b) => b.stmts.iter().any(ends),
        StmtKind::If { then, els: Some(els), .. } => ends(then) && ends(els),
        _ => false,
    }
}
