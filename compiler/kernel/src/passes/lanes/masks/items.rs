//! Items that both sides of a condition give.
//!
//! ```text
//! if ($x < 0) { out(0) = $y } else { out(0) = $z }   →   $side = ($x < 0)  if $side { $item = $y } else { $other = $z }  out(0) = select($side, $item, $other)
//! ```
//!
//! Input: statements, and which locals differ between lanes. Output: the same, where such an item is given behind the condition, by all lanes. Both sides give the same items, in the same order, at
//! places that neither of them changes; nothing leaves either.

use super::{here, set};
use crate::ir::*;
use crate::passes::lanes::guard::{choose, loads};
use crate::passes::lanes::{fresh, is_varying};
use crate::walk;
use sluice_frontend::ty::Ty;
use std::collections::HashSet;

/// Items that both sides of a condition give are given behind it: which one, is a selection.
pub(super) fn behind(list: &[Stmt], f: &mut Function, varying: &[bool]) -> Vec<Stmt> {
    let mut out = Vec::new();
    for s in list {
        let mut s = s.clone();
        for b in s.kind.bodies_mut() {
            *b = behind(b, f, varying);
        }
        let StmtKind::If(c, a, b) = &mut s.kind else {
            out.push(s);
            continue;
        };
        let Some(pairs) = pairs(c, [&*a, &*b], varying) else {
            out.push(s);
            continue;
        };
        let side = fresh(f, "side", Ty::Bool);
        let mut given = Vec::new();
        for (i, j) in pairs {
            let mut moved = |s: &mut Stmt| {
                let StmtKind::Assign(p, e) = &mut s.kind else { return None };
                let item = fresh(f, "item", e.ty.clone());
                Some((std::mem::replace(p, Place::local(item)), Expr::local(item, e.ty.clone())))
            };
            if let (Some((p, x)), Some((_, y))) = (moved(&mut a[i]), moved(&mut b[j])) {
                given.push(StmtKind::Assign(p, choose(here(side), x, y)).at(s.span));
            }
        }
        let asked = std::mem::replace(c, here(side));
        out.push(set(side, asked, s.span));
        out.push(s);
        out.append(&mut given);
    }
    out
}

/// Which statements of the one side and of the other give the same item; `None` where there are none, or others.
fn pairs(c: &Expr, sides: [&Vec<Stmt>; 2], varying: &[bool]) -> Option<Vec<(usize, usize)>> {
    let differs = is_varying(c, varying) || loads(c, &mut |id| id.index() >= varying.len());
    if !differs || sides.iter().any(|l| walk::leaves(l, 0, true, true)) {
        return None;
    }
    let given = |l: &[Stmt]| {
        let item = |s: &Stmt| matches!(&s.kind, StmtKind::Assign(Place { base: Base::Out(_), .. }, _));
        let mut all = 0;
        walk::each_stmt(l, &mut |s| all += usize::from(item(s)));
        let own: Vec<usize> = (0..l.len()).filter(|i| item(&l[*i])).collect();
        (own.len() == all).then_some(own)
    };
    let (a, b) = (given(sides[0])?, given(sides[1])?);
    let mut written = HashSet::new();
    sides.iter().for_each(|l| walk::each_written(l, &mut |id| _ = written.insert(id)));
    let place = |s: &Stmt| match &s.kind {
        StmtKind::Assign(p, e) => Some((p.clone(), e.ty.clone())),
        _ => None,
    };
    let same = |i: usize, j: usize| {
        let (x, y) = (place(&sides[0][i]), place(&sides[1][j]));
        let mut fixed = true;
        if let Some((p, _)) = &x {
            p.each_expr(&mut |e| fixed &= !loads(e, &mut |id| written.contains(&id)));
        }
        x == y && fixed
    };
    let pairs: Vec<(usize, usize)> = a.iter().copied().zip(b.iter().copied()).collect();
    (a.len() == b.len() && !a.is_empty() && pairs.iter().all(|(i, j)| same(*i, *j))).then_some(pairs)
}
