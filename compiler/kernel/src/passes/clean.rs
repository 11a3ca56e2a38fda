//! # clean
//!
//! Purpose: removes what has no effect: assignments nobody reads, statements control does not come to, blocks nothing
//! leaves, checks that hold by their constants, variables without a use. Input, output: any kernel.
//!
//! ```text
//! block { $0 = 1  $1 = 2  push $1 }  →   $0 = 2  push $0
//! ```
//!
//! Invariant: every local of a function occurs in it.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Cleans all functions.
pub fn run(kernel: &mut Kernel) {
    for f in &mut kernel.functions {
        function(f);
    }
    if kernel.lanes.is_none() {
        for f in &mut kernel.functions {
            compact(f);
        }
    }
}

/// Cleans one, but for variables that no longer occur.
pub(super) fn function(f: &mut Function) {
    loop {
        let mut changed = structure(&mut f.body);
        changed |= dead_stores(f);
        if !changed {
            break;
        }
    }
}

/// Removes statements that do nothing and those that are never reached; flattens blocks.
fn structure(body: &mut Vec<Stmt>) -> bool {
    let mut changed = false;
    let mut i = 0;
    while i < body.len() {
        for b in body[i].kind.bodies_mut() {
            changed |= structure(b);
        }
        let span = body[i].span;
        let replacement: Option<Vec<Stmt>> = match &mut body[i].kind {
            StmtKind::If(_, a, b) if a.is_empty() && b.is_empty() => Some(Vec::new()),
            StmtKind::If(c, a, b) if a.is_empty() => {
                let not = Expr::not(c.clone());
                Some(vec![StmtKind::If(not, std::mem::take(b), Vec::new()).at(span)])
            }
            StmtKind::For(l) if l.body.is_empty() && l.from.as_int().is_some() && l.to.as_int().is_some() => {
                // only the variable's last value is left
                match trip(l) {
                    Some((_, last)) => Some(vec![StmtKind::Assign(Place::local(l.var), Expr::int(last)).at(span)]),
                    None => None,
                }
            }
            StmtKind::Block(b) => {
                // a jump to the end from the end
                if matches!(b.last(), Some(Stmt { kind: StmtKind::Break(0), .. })) {
                    b.pop();
                    changed = true;
                }
                if walk::leaves(b, 0, false, false) {
                    if let Some(n) = guard(b) {
                        *b = n;
                        changed = true;
                    }
                    None
                } else {
                    let mut b = std::mem::take(b);
                    walk::shift_breaks(&mut b, 1, -1);
                    Some(b)
                }
            }
            StmtKind::Check(c) if holds(c) => Some(Vec::new()),
            StmtKind::Assign(p, e) if matches!(&e.kind, ExprKind::Load(q) if q == p) => Some(Vec::new()),
            _ => None,
        };
        if let Some(r) = replacement {
            changed = true;
            body.splice(i..=i, r);
            continue;
        }
        if walk::diverges(&body[i..=i]) && i + 1 < body.len() {
            body.truncate(i + 1);
            changed = true;
        }
        i += 1;
    }
    changed
}

/// `if c { break 0 } rest` at the top of a block: `if not(c) { rest }`.
fn guard(b: &[Stmt]) -> Option<Vec<Stmt>> {
    let at = b.iter().position(|s| walk::leaves(std::slice::from_ref(s), 0, false, false))?;
    let StmtKind::If(c, then, els) = &b[at].kind else { return None };
    let (Some(Stmt { kind: StmtKind::Break(0), .. }), init) = then.split_last().map(|(l, i)| (Some(l), i))? else {
        return None;
    };
    if walk::leaves(init, 0, false, false) || walk::leaves(els, 0, false, false) {
        return None;
    }
    let mut rest = els.clone();
    rest.extend(b[at + 1..].iter().cloned());
    let mut out = b[..at].to_vec();
    out.push(StmtKind::If(c.clone(), init.to_vec(), rest).at(b[at].span));
    Some(out)
}

/// How often a loop with constant bounds turns, and its variable's value after it; `None` where it wraps around.
pub fn trip(l: &For) -> Option<(u64, i32)> {
    let (from, to, step) = (i64::from(l.from.as_int()?), i64::from(l.to.as_int()?), i64::from(l.step));
    let n = match (l.cmp, step > 0) {
        (BinaryOp::Lt, true) => (to - from).max(0).div_euclid(step) + i64::from((to - from).max(0) % step != 0),
        (BinaryOp::Le, true) if to >= from => (to - from) / step + 1,
        (BinaryOp::Gt, false) => (from - to).max(0) / -step + i64::from((from - to).max(0) % -step != 0),
        (BinaryOp::Ge, false) if to <= from => (from - to) / -step + 1,
        (BinaryOp::Le, true) | (BinaryOp::Ge, false) => 0,
        (BinaryOp::Lt, false) if from >= to => 0,
        (BinaryOp::Le, false) if from > to => 0,
        (BinaryOp::Gt, true) if from <= to => 0,
        (BinaryOp::Ge, true) if from < to => 0,
        _ => return None,
    };
    let last = i32::try_from(from + n * step).ok()?;
    Some((n as u64, last))
}

/// Does a check hold by its constants?
fn holds(c: &Check) -> bool {
    c.operand().and_then(Expr::as_int).is_some_and(|v| holds_at(c, v))
}

/// Does a check hold where what it looks at is `v`?
pub(crate) fn holds_at(c: &Check, v: i32) -> bool {
    match c {
        Check::Index { length, .. } => v >= 0 && (v as u32) < *length,
        Check::Divisor(_) => v != 0,
        Check::PeekNegative(_) => v >= 0,
        Check::PeekBeyond { peek: n, .. } | Check::PopBeyond { pop: n, .. } | Check::PushBeyond { push: n, .. } => {
            v >= 0 && (v as u32) < *n
        }
        Check::PushedLess { push, .. } => i64::from(v) >= i64::from(*push),
        Check::PoppedLess { least, .. } => i64::from(v) >= i64::from(*least),
        // what they do is not to be left out
        Check::Item(_) | Check::Room(_) | Check::Took(_) | Check::Gave(_) => false,
        Check::Peek(_) | Check::Pop | Check::Push | Check::Pushed | Check::Popped | Check::NoResult => false,
    }
}

/// Removes assignments to locals that are never read. (Expressions are pure, so that nothing is lost.)
fn dead_stores(f: &mut Function) -> bool {
    let mut read = vec![false; f.locals.len()];
    walk::each_expr(&f.body, &mut |e| {
        if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind {
            read[id.index()] = true;
        }
    });
    walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::Call { args, .. } = &s.kind {
            for a in args {
                if let Arg::Ref(Place { base: Base::Local(id), .. }) = a {
                    read[id.index()] = true;
                }
            }
        }
    });
    let dead = |id: LocalId| !read[id.index()] && !f.locals[id.index()].by_ref;
    let mut changed = false;
    walk::each_body_mut(&mut f.body, &mut |list| {
        list.retain_mut(|s| match &mut s.kind {
            StmtKind::Assign(Place { base: Base::Local(id), .. }, _) if dead(*id) => {
                changed = true;
                false
            }
            StmtKind::Pop(dst @ Some(Place { base: Base::Local(_), .. })) => {
                if let Some(Place { base: Base::Local(id), .. }) = dst
                    && dead(*id)
                {
                    changed = true;
                    *dst = None;
                }
                true
            }
            StmtKind::Call { dst: dst @ Some(Place { base: Base::Local(_), .. }), .. } => {
                if let Some(Place { base: Base::Local(id), .. }) = dst
                    && dead(*id)
                {
                    changed = true;
                    *dst = None;
                }
                true
            }
            _ => true,
        });
    });
    changed
}

/// Removes locals that do not occur, and renumbers the others.
pub fn compact(f: &mut Function) {
    let mut used = vec![false; f.locals.len()];
    used[..f.params as usize].fill(true);
    walk::each_local_mut(&mut f.body, &mut |id| used[id.index()] = true);
    let mut new = Vec::new();
    let mut next = 0;
    for u in &used {
        new.push(LocalId(next));
        next += u32::from(*u);
    }
    walk::each_local_mut(&mut f.body, &mut |id| *id = new[id.index()]);
    let mut it = used.iter();
    f.locals.retain(|_| it.next().is_some_and(|u| *u));
}

/// An int local's name and type, for passes that need one.
pub fn int_local(f: &mut Function, name: &str) -> LocalId {
    int_local_of(&mut f.locals, name)
}

/// The same, of the locals.
pub fn int_local_of(locals: &mut Vec<Local>, name: &str) -> LocalId {
    locals.push(Local { name: name.into(), ty: Ty::Int, by_ref: false });
    LocalId::from(locals.len() - 1)
}
