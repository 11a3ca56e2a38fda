//! Conditions that differ between lanes become selections.
//!
//! ```text
//! if ($x < 0) { $y = (0 - $x) }   →   $c = ($x < 0)  $y = select($c, (0 - $x), $y)
//! ```
//!
//! Input: a function and which of its locals vary. Only conditions over assignments to whole scalars (or elements of arrays at
//! places that exist) are converted; what else there is, [`super::masks`] looks at. What is computed in vain must not go wrong: [`super::guard`].

use super::guard::{Known, choose};
use super::{fresh, is_varying};
use crate::ir::*;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Converts the first condition that can be. Was there one?
///
/// `plain`: only where nothing need be guarded.
pub(super) fn conditions(f: &mut Function, varying: &[bool], known: &Known<'_>, plain: bool) -> bool {
    let mut body = std::mem::take(&mut f.body);
    let found = body_conditions(&mut body, f, varying, known, plain);
    f.body = body;
    found
}

fn body_conditions(body: &mut Vec<Stmt>, f: &mut Function, varying: &[bool], known: &Known<'_>, plain: bool) -> bool {
    for i in 0..body.len() {
        // innermost first
        let found = match &mut body[i].kind {
            StmtKind::For(l) => {
                let within = known.within_loop(l);
                body_conditions(&mut l.body, f, varying, &within, plain)
            }
            kind => kind.bodies_mut().into_iter().any(|b| body_conditions(b, f, varying, known, plain)),
        };
        if found {
            return true;
        }
        let span = body[i].span;
        if let StmtKind::If(c, a, b) = &body[i].kind
            && is_varying(c, varying)
            && [a, b].into_iter().flatten().all(|s| convertible(s, f, known, plain))
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
    let old = Expr::load(p.clone(), e.ty.clone());
    let (a, b) = if yes { (e, old) } else { (old, e) };
    StmtKind::Assign(p, choose(Expr::local(taken, Ty::Bool), a, b))
}

fn convertible(s: &Stmt, f: &Function, known: &Known<'_>, plain: bool) -> bool {
    match &s.kind {
        StmtKind::Assign(p, e) => {
            matches!(p.base, Base::Local(_))
                && !e.ty.is_aggregate()
                && known.exists(p, &f.locals)
                && (!plain || is_plain(e, f, known))
        }
        _ => false,
    }
}

/// Does an expression read no table, and nothing that may not exist, and divide by no int that may be 0?
fn is_plain(e: &Expr, f: &Function, known: &Known<'_>) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Load(p) => matches!(p.base, Base::Table(_)) || !known.exists(p, &f.locals),
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) => b.ty == Ty::Int && b.as_int().is_none_or(|i| i == 0),
        _ => false,
    })
}

/// Is all plain that is evaluated in vain?
pub(super) fn all_plain(f: &Function, varying: &[bool], known: &Known<'_>) -> bool {
    let mut all = true;
    crate::walk::each_expr(&f.body, &mut |e| {
        let varies = |e: &Expr| is_varying(e, varying);
        all &= match &e.kind {
            ExprKind::Select(c, a, b) if varies(c) => [a, b].into_iter().all(|e| is_plain(e, f, known)),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) if varies(a) || varies(b) => is_plain(b, f, known),
            _ => true,
        };
    });
    all
}
