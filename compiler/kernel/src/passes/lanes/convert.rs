//! Conditions that differ between lanes become selections.
//!
//! ```text
//! if ($x < 0) { $y = (0 - $x) }   →   $c = ($x < 0)  $y = select($c, (0 - $x), $y)
//! ```
//!
//! Input: a function and which of its locals vary. Only conditions over assignments to whole scalars (or elements of arrays at
//! fixed places) whose values may be computed in vain are converted.

use super::{fresh, is_varying};
use crate::ir::*;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Converts the first condition that can be. Was there one?
pub(super) fn conditions(f: &mut Function, varying: &[bool], rates: Rates) -> bool {
    let mut body = std::mem::take(&mut f.body);
    let found = body_conditions(&mut body, f, varying, rates);
    f.body = body;
    found
}

fn body_conditions(body: &mut Vec<Stmt>, f: &mut Function, varying: &[bool], rates: Rates) -> bool {
    for i in 0..body.len() {
        // innermost first
        for b in body[i].kind.bodies_mut() {
            if body_conditions(b, f, varying, rates) {
                return true;
            }
        }
        let span = body[i].span;
        if let StmtKind::If(c, a, b) = &body[i].kind
            && is_varying(c, varying)
            && [a, b].into_iter().flatten().all(|s| convertible(s, f, rates))
        {
            let (c, a, b) = (c.clone(), a.clone(), b.clone());
            let t = fresh(f, "taken", Ty::Bool);
            let mut out = vec![StmtKind::Assign(Place::local(t), c).at(span)];
            for (list, yes) in [(a, true), (b, false)] {
                for s in list {
                    let StmtKind::Assign(p, e) = s.kind else { continue };
                    out.push(selected(t, p, e, yes).at(s.span));
                }
            }
            body.splice(i..=i, out);
            return true;
        }
    }
    false
}

fn selected(taken: LocalId, p: Place, e: Expr, yes: bool) -> StmtKind {
    let ty = e.ty.clone();
    let old = Expr::load(p.clone(), ty.clone());
    let (a, b) = if yes { (e, old) } else { (old, e) };
    let cond = Expr::local(taken, Ty::Bool);
    StmtKind::Assign(p, Expr { kind: ExprKind::Select(Box::new(cond), Box::new(a), Box::new(b)), ty })
}

fn convertible(s: &Stmt, f: &Function, rates: Rates) -> bool {
    match &s.kind {
        StmtKind::Assign(p, e) => {
            matches!(p.base, Base::Local(_)) && !e.ty.is_aggregate() && harmless(e, f, rates) && within(p, f, rates)
        }
        _ => false,
    }
}

/// May the expression be evaluated where the program would not? It reads nothing outside of arrays and divides by nothing that may be
/// 0.
pub(super) fn harmless(e: &Expr, f: &Function, rates: Rates) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Load(p) => !within(p, f, rates),
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) if b.ty == Ty::Int => b.as_int().is_none_or(|i| i == 0),
        _ => false,
    })
}

/// Does a place exist, whatever the variables' values are?
fn within(p: &Place, f: &Function, rates: Rates) -> bool {
    let below = |e: &Expr, n: u32| e.as_int().is_some_and(|i| i >= 0 && (i as u32) < n);
    match &p.base {
        Base::Local(id) => {
            let ty = &f.locals[id.index()].ty;
            match p.path.as_slice() {
                [] => true,
                [Proj::Index(i)] => below(i, ty.known_len().unwrap_or(0)),
                _ => false,
            }
        }
        // what nothing in the function writes, or there will be no lanes
        Base::State(_) => p.path.is_empty(),
        Base::In(e) => below(e, rates.peek) && p.path.iter().all(|s| matches!(s, Proj::Component(_))),
        _ => false,
    }
}
