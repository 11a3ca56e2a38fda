//! # shifts (W0208)
//!
//! Purpose: shifts by a literal that is no number of bits of an int: the count is taken modulo 32. Input: a file's tree.
//! Output: warnings. Example: `1 << 32` is 1.

use super::tree;
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::{Diagnostic, Fix};

/// Warnings about odd shift counts.
pub fn lint(program: &Program, out: &mut Vec<Diagnostic>) {
    tree::expressions(program, &mut |e| {
        if let ExprKind::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr), _, count) = &e.kind {
            shift(*op, count, out);
        }
    });
    tree::statements(program, &mut |s| {
        if let StmtKind::Assign { op: Some(op @ (BinaryOp::Shl | BinaryOp::Shr)), value, .. } = &s.kind {
            shift(*op, value, out);
        }
    });
}

fn shift(op: BinaryOp, count: &Expr, out: &mut Vec<Diagnostic>) {
    let Some(n) = tree::number(count).filter(|n| n.fract() == 0.0 && !(0.0..32.0).contains(n)) else { return };
    let really = n.rem_euclid(32.0);
    let title = format!("`{}` by {n} shifts by {really}", op.symbol());
    out.push(Diagnostic::warning("W0208", title, count.span(), "shift counts are taken modulo 32").fix(Fix::new(
        format!("write {really} if it is meant"),
        count.span(),
        really.to_string(),
    )));
}
