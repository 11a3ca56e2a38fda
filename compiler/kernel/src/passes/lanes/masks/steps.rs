//! Variables that change by numbers, in each turn of a loop that some lanes leave before others.
//!
//! ```text
//! $k = 0  loop { if not((in($k) < $x)) { break 0 }  $k = ($k + 1) }   →   $k = 0  $c = 0  loop { if not((in($c) < $x)) { break 0 }  $c = ($c + 1)  $k = $c }
//! ```
//!
//! Lanes turn together: what such a variable is, is the same in all lanes that are still there. Input: a loop, and the statements before it, one of which gives the variable a number. Output: the loop, where a variable of
//! all lanes, or the loop's own counter and a number, takes its place, so that it may say where items and elements are; it is kept for each lane where it is looked at behind the loop.

use super::{Masks, set};
use crate::ir::*;
use crate::passes::lanes::fresh;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

impl Masks<'_> {
    /// The loop where there are such variables; what new ones begin with is said in `out`.
    pub(super) fn in_step(&mut self, before: [&[Stmt]; 2], s: &Stmt, out: &mut Vec<Stmt>) -> Option<Stmt> {
        let body = turn_of(&s.kind)?;
        let mut found: Vec<LocalId> = Vec::new();
        for id in body.iter().filter_map(|s| step_of(s).map(|(id, _)| id)) {
            let steps = body.iter().filter(|s| step_of(s).is_some_and(|(of, _)| of == id)).count();
            let mut written = 0;
            walk::each_written(std::slice::from_ref(s), &mut |w| written += usize::from(w == id));
            // a lane that goes on with the next turn has done them, too
            let last = body.iter().rposition(|s| step_of(s).is_some_and(|(of, _)| of == id))?;
            let all = !walk::continues(&body[..last], 0);
            if written == steps && all && !found.contains(&id) {
                found.push(id);
            }
        }
        let mut stepped = None;
        for id in found {
            let begins = before[1].iter().rev().chain(before[0].iter().rev()).find(|s| {
                let mut writes = false;
                walk::each_written(std::slice::from_ref(*s), &mut |w| writes |= w == id);
                writes
            });
            let Some(StmtKind::Assign(p, first)) = begins.map(|s| &s.kind) else { continue };
            if p.as_local() != Some(id) || first.as_int().is_none() {
                continue;
            }
            let mut of_loop = stepped.take().unwrap_or_else(|| s.clone());
            let seen = self.uses.get(&id).copied().unwrap_or(0)
                > walk::uses(std::slice::from_ref(s), id) + writes_only(self.whole, s, id);
            if counted_along(&mut of_loop, id, first.as_int()?, seen) {
                stepped = Some(of_loop);
                continue;
            }
            let counter = fresh(self.f, &self.f.locals[id.index()].name.clone(), Ty::Int);
            self.varying.resize(self.f.locals.len(), true);
            self.counters.push(For {
                var: counter,
                from: first.clone(),
                cmp: BinaryOp::Ne,
                to: first.clone(),
                step: 1,
                body: Vec::new(),
                abreast: false,
            });
            out.push(set(counter, first.clone(), s.span));
            counted_by(&mut of_loop, id, counter, seen);
            stepped = Some(of_loop);
        }
        stepped
    }
}

/// What a loop does in a turn.
fn turn_of(kind: &StmtKind) -> Option<&Vec<Stmt>> {
    match kind {
        StmtKind::Loop(body) => Some(body),
        StmtKind::For(l) => Some(&l.body),
        _ => None,
    }
}

/// A variable's step by a number.
fn step_of(s: &Stmt) -> Option<(LocalId, i32)> {
    let StmtKind::Assign(p, e) = &s.kind else { return None };
    let (id, ExprKind::Binary(BinaryOp::Add, a, b)) = (p.as_local()?, &e.kind) else { return None };
    (**a == Expr::local(id, Ty::Int)).then_some((id, b.as_int()?))
}

/// How often a variable is written outside of a statement.
fn writes_only(whole: &[Stmt], s: &Stmt, id: LocalId) -> usize {
    let count = |list: &[Stmt]| {
        let mut n = 0;
        walk::each_written(list, &mut |w| n += usize::from(w == id));
        n
    };
    count(whole) - count(std::slice::from_ref(s))
}

/// The same of a counted loop whose variable goes on as the loop's own does, once in a turn: it is that and a number. Is it so?
fn counted_along(s: &mut Stmt, id: LocalId, first: i32, seen: bool) -> bool {
    let StmtKind::For(l) = &mut s.kind else { return false };
    let steps: Vec<usize> =
        (0..l.body.len()).filter(|i| step_of(&l.body[*i]).is_some_and(|(of, _)| of == id)).collect();
    let (Some(from), [at]) = (l.from.as_int(), steps.as_slice()) else { return false };
    if step_of(&l.body[*at]).is_none_or(|(_, k)| k != l.step) {
        return false;
    }
    let ahead = first.wrapping_sub(from);
    let now = |ahead: i32| match ahead {
        0 => Expr::local(l.var, Ty::Int),
        n => Expr::add(Expr::local(l.var, Ty::Int), Expr::int(n)),
    };
    let replace = |list: &mut [Stmt], by: Expr| {
        walk::each_expr_mut(list, &mut |e| {
            if *e == Expr::local(id, Ty::Int) {
                *e = by.clone();
            }
        });
    };
    let (before, behind) = l.body.split_at_mut(*at);
    replace(before, now(ahead));
    replace(behind, now(ahead.wrapping_add(l.step)));
    let span = l.body[*at].span;
    if seen {
        l.body[*at] = set(id, now(ahead.wrapping_add(l.step)), span);
    } else {
        l.body.remove(*at);
    }
    true
}

/// A loop whose variable is counted by another one; `seen`: what it is when a lane leaves is looked at behind it.
fn counted_by(s: &mut Stmt, id: LocalId, counter: LocalId, seen: bool) {
    let body = match &mut s.kind {
        StmtKind::Loop(body) => body,
        StmtKind::For(l) => &mut l.body,
        _ => return,
    };
    let mut made = Vec::new();
    for mut s in std::mem::take(body) {
        let steps = step_of(&s).is_some_and(|(of, _)| of == id);
        walk::each_local_mut(std::slice::from_mut(&mut s), &mut |l| {
            if *l == id {
                *l = counter;
            }
        });
        let span = s.span;
        made.push(s);
        if steps && seen {
            made.push(set(id, Expr::local(counter, Ty::Int), span));
        }
    }
    *body = made;
}
