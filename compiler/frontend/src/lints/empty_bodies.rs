//! # empty-bodies (W0216)
//!
//! Purpose: `while (x > 0);` and `if (x > 0); y = 1;`, whose body is the semicolon. Input: a file's tree. Output: warnings. A loop whose head does all there is to do, as
//! `for (n = 1; n < size; n *= 2);`, is left alone, as is `{}`, which says that nothing is meant.

use super::tree;
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::{Diagnostic, Fix};

/// Warnings about bodies that are a semicolon.
pub fn lint(program: &Program, out: &mut Vec<Diagnostic>) {
    tree::lists(program, &mut |stmts, _| {
        for (i, s) in stmts.iter().enumerate() {
            let (what, body) = match &s.kind {
                StmtKind::If { then, els, .. } => ("if", els.as_ref().map_or(then, |e| e)),
                StmtKind::While { body, cond } if !acts(cond) => ("while", body),
                // what stands behind it in braces was hardly meant to be done once
                StmtKind::For { body, .. } if block(stmts.get(i + 1)) => ("for", body),
                _ => continue,
            };
            if body.kind != StmtKind::Empty {
                continue;
            }
            let what = if matches!(&s.kind, StmtKind::If { els: Some(_), .. }) { "else" } else { what };
            let title = format!("the body of this `{what}` is the `;`");
            let mut d = Diagnostic::warning("W0216", title, body.at.0, "nothing is done here");
            d = match stmts.get(i + 1) {
                Some(next) => d.label(next.at.0, "this stands behind it, and is done in any case").fix(Fix::new(
                    "remove the `;`",
                    body.at.0,
                    "",
                )),
                None => d,
            };
            out.push(d.help("remove it, or write `{}` where nothing is meant"));
        }
    });
}

fn block(s: Option<&Stmt>) -> bool {
    matches!(s.map(|s| &s.kind), Some(StmtKind::Block(b)) if !b.stmts.is_empty())
}

/// Does it do something whenever it is looked at?
fn acts(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Pop | ExprKind::IncDec { .. } | ExprKind::Call { .. })
        || tree::children(e).into_iter().any(acts)
}
