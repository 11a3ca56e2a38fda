//! # count-loops
//!
//! Purpose: finds the counted loops among the endless ones. Input, output: any kernel.
//!
//! ```text
//! $i = 0                                          for $i = 0 < 8 step 1 {
//! loop { if not(($i < 8)) { break 0 }        →      ...
//!        ...  $i = ($i + 1) }                     }
//! ```
//!
//! A loop is counted where its variable is an int local that only the last statement writes, by adding a constant, and the bound
//! cannot change during the loop.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Finds counted loops in all functions.
pub fn run(kernel: &mut Kernel) {
    for f in &mut kernel.functions {
        let locals = &f.locals;
        walk::each_body_mut(&mut f.body, &mut |list| {
            for i in (0..list.len()).rev() {
                let StmtKind::Loop(body) = &list[i].kind else { continue };
                let Some(mut l) = counted(body, locals) else { continue };
                let span = list[i].span;
                let before = i.checked_sub(1).map(|j| &list[j].kind);
                let start = match before {
                    Some(StmtKind::Assign(p, e)) if p.as_local() == Some(l.var) => Some(e.clone()),
                    _ => None,
                };
                match start {
                    Some(from) => {
                        l.from = from;
                        list[i] = StmtKind::For(Box::new(l)).at(span);
                        list.remove(i - 1);
                    }
                    None => list[i] = StmtKind::For(Box::new(l)).at(span),
                }
            }
        });
    }
}

/// Is this the body of a counted loop?
pub(super) fn is_counted(body: &[Stmt], locals: &[Local]) -> bool {
    counted(body, locals).is_some()
}

fn counted(body: &[Stmt], locals: &[Local]) -> Option<For> {
    let (first, rest) = body.split_first()?;
    let (last, inner) = rest.split_last()?;
    let StmtKind::If(cond, then, els) = &first.kind else { return None };
    if !matches!(then.as_slice(), [Stmt { kind: StmtKind::Break(0), .. }]) || !els.is_empty() {
        return None;
    }
    let (var, cmp, to) = comparison(cond, locals)?;
    let step = increment(last, var)?;
    let mut inner = inner.to_vec();
    // `continue`s leave a block around the body
    if let [Stmt { kind: StmtKind::Block(b), .. }] = inner.as_slice() {
        let mut b = b.clone();
        turn_breaks(&mut b, 0);
        inner = b;
    } else if walk::continues(&inner, 0) {
        // would skip the step here, but not in a counted loop
        return None;
    }
    let mut written = vec![false; locals.len()];
    walk::each_written(&inner, &mut |id| written[id.index()] = true);
    if std::mem::replace(&mut written[var.index()], true) || !invariant(&to, &inner, locals, &written) {
        return None;
    }
    Some(For { var, from: Expr::local(var, Ty::Int), cmp, to, step, body: inner, abreast: false })
}

/// `i < n`, from `not (i < n)`, `i >= n` or the reverse.
fn comparison(leave: &Expr, locals: &[Local]) -> Option<(LocalId, BinaryOp, Expr)> {
    use BinaryOp::*;
    let (stay, negated) = match &leave.kind {
        ExprKind::Unary(UnaryOp::Not, e) => (&**e, false),
        _ => (leave, true),
    };
    let ExprKind::Binary(op, a, b) = &stay.kind else { return None };
    if a.ty != Ty::Int {
        return None;
    }
    let var = |e: &Expr| match &e.kind {
        ExprKind::Load(p) => p.as_local().filter(|id| !locals[id.index()].by_ref),
        _ => None,
    };
    let op = if negated {
        match op {
            Lt => Ge,
            Le => Gt,
            Gt => Le,
            Ge => Lt,
            _ => return None,
        }
    } else {
        *op
    };
    let swapped = match op {
        Lt => Gt,
        Le => Ge,
        Gt => Lt,
        Ge => Le,
        _ => return None,
    };
    match (var(a), var(b)) {
        (Some(v), _) => Some((v, op, (**b).clone())),
        (None, Some(v)) => Some((v, swapped, (**a).clone())),
        _ => None,
    }
}

/// What `$v = $v + c` adds.
fn increment(s: &Stmt, var: LocalId) -> Option<i32> {
    let StmtKind::Assign(p, e) = &s.kind else { return None };
    if p.as_local() != Some(var) {
        return None;
    }
    let ExprKind::Binary(op, a, b) = &e.kind else { return None };
    let is_var = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(var));
    let step = match op {
        BinaryOp::Add if is_var(a) => b.as_int()?,
        BinaryOp::Add if is_var(b) => a.as_int()?,
        BinaryOp::Sub if is_var(a) => b.as_int()?.wrapping_neg(),
        _ => return None,
    };
    (step != 0).then_some(step)
}

/// Breaks of the block become continues of the loop, breaks of the loop lose a level.
fn turn_breaks(body: &mut [Stmt], depth: u32) {
    for s in body {
        match &mut s.kind {
            StmtKind::Break(d) if *d == depth => s.kind = StmtKind::Continue(depth),
            StmtKind::Break(d) | StmtKind::Continue(d) if *d > depth => *d -= 1,
            StmtKind::If(_, a, b) => {
                turn_breaks(a, depth);
                turn_breaks(b, depth);
            }
            StmtKind::For(l) => turn_breaks(&mut l.body, depth + 1),
            StmtKind::Loop(b) | StmtKind::Block(b) => turn_breaks(b, depth + 1),
            _ => {}
        }
    }
}

/// Is the expression's value the same in every turn?
fn invariant(e: &Expr, body: &[Stmt], locals: &[Local], written: &[bool]) -> bool {
    let mut outside = false;
    walk::each_stmt(body, &mut |s| {
        outside |= matches!(s.kind, StmtKind::Call { .. });
        outside |= s.kind.targets().iter().any(|p| match p.base {
            Base::State(_) => true,
            Base::Local(id) => locals[id.index()].by_ref,
            _ => false,
        });
    });
    !e.any(&mut |e| match &e.kind {
        ExprKind::Load(p) => match &p.base {
            Base::Local(id) => written[id.index()] || locals[id.index()].by_ref && outside,
            Base::State(_) => outside,
            Base::Table(_) => false,
            Base::Peek(_) | Base::In(_) | Base::Out(_) => true,
        },
        _ => false,
    })
}
