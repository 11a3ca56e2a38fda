//! Positions that a turn computes in a variable, put where they are used: there it can be seen that they are neighbours.
//!
//! ```text
//! $p = ($r + $x)  $s = ($s + in($p))   →   $s = ($s + in(($r + $x)))
//! ```
//!
//! What must hold: nothing else sets the variable, all that reads it comes behind in the same list, or in what that holds, and what it is a sum of is not set in between.

use crate::ir::*;
use crate::passes::unroll::size;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// Statements and operations that the turn may become.
const MOST: usize = super::LARGEST;

/// The statements of a turn with such positions where they are used. `all`: those of the function.
pub(super) fn put_where_used(f: &Function, body: &[Stmt], all: &[Stmt]) -> Vec<Stmt> {
    let mut out = body.to_vec();
    list(f, &mut out, all);
    if size(&out) <= MOST { out } else { body.to_vec() }
}

fn list(f: &Function, body: &mut Vec<Stmt>, all: &[Stmt]) {
    let mut i = 0;
    while i < body.len() {
        if let Some((id, value)) = position(f, &body[i], &body[i + 1..], all) {
            body.remove(i);
            walk::each_expr_mut(&mut body[i..], &mut |e| {
                if matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(id)) {
                    *e = value.clone();
                }
            });
            continue;
        }
        for b in body[i].kind.bodies_mut() {
            list(f, b, all);
        }
        i += 1;
    }
}

/// Does the statement compute a position that only those behind it use?
fn position(f: &Function, s: &Stmt, behind: &[Stmt], all: &[Stmt]) -> Option<(LocalId, Expr)> {
    let StmtKind::Assign(p, e) = &s.kind else { return None };
    let id = p.as_local().filter(|id| f.locals[id.index()].ty == Ty::Int && id.0 >= f.params)?;
    let mut of = BTreeSet::new();
    if e.as_int().is_some() || !sum(e, &mut of) || of.contains(&id) {
        return None;
    }
    // this one is among all
    if walk::uses(all, id) != walk::uses(behind, id) + 1 {
        return None;
    }
    let mut kept = true;
    walk::each_written(behind, &mut |written| kept &= written != id && !of.contains(&written));
    kept.then(|| (id, e.clone()))
}

/// Is it a sum of variables? They go to `of`.
fn sum(e: &Expr, of: &mut BTreeSet<LocalId>) -> bool {
    match &e.kind {
        ExprKind::Load(p) => p.as_local().is_some_and(|id| {
            of.insert(id);
            e.ty == Ty::Int
        }),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
            e.ty == Ty::Int && sum(a, of) && sum(b, of)
        }
        _ => e.as_int().is_some(),
    }
}
