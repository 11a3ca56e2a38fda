//! # self-assignment (W0206)
//!
//! Purpose: `x = x;`. Input: a file's tree. Output: warnings. Places whose indices do something (`a[i++] = a[i++]`) are left alone.

use super::{removal, tree};
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::Applicability::NeedsALook;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::SourceMap;

/// Warnings about variables that are assigned to themselves.
pub fn lint(sources: &SourceMap, program: &Program, out: &mut Vec<Diagnostic>) {
    tree::lists(program, &mut |stmts, listed| {
        for s in stmts {
            let StmtKind::Assign { target, op: None, value } = &s.kind else { continue };
            if target.unparen() != value.unparen() || acts(target) {
                continue;
            }
            let title = format!("`{}` is assigned to itself", sources.text(target.span()));
            let mut d = Diagnostic::warning("W0206", title, s.at.0, "this changes nothing");
            if listed {
                // no change of what it does, but was another variable meant?
                d = d.fix(Fix::of("remove the statement", vec![removal::whole(sources, s.at.0)], NeedsALook));
            }
            out.push(d);
        }
    });
}

fn acts(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Pop | ExprKind::IncDec { .. } | ExprKind::Call { .. })
        || tree::children(e).into_iter().any(acts)
}
