//! Loops that move an array along itself: delay lines.
//!
//! ```text
//! for $i = 31 > 0 step -1 { state0[$i] = state0[($i - 1)] }     state0[1 .. 32] becomes what state0[0 .. 31] is
//! ```
//!
//! As one move they are a few vectors. Written out, each element is a register that goes to the next one.

use crate::ir::*;
use crate::passes::clean::trip;

/// Shorter ones are written out.
pub(super) const LONG: u32 = 16;

/// Elements of an array that become what other elements of it were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    /// The first that is written.
    pub to: u32,
    /// The first that is read.
    pub from: u32,
    /// How many.
    pub count: u32,
    /// What the loop's variable is after it.
    pub last: i32,
}

/// What a loop moves, where it does nothing else and reads no element that it has written.
pub fn along(l: &For) -> Option<Along> {
    let [Stmt { kind: StmtKind::Assign(p, e), .. }] = l.body.as_slice() else { return None };
    let ExprKind::Load(q) = &e.kind else { return None };
    if p.base != q.base || !matches!(p.base, Base::Local(_) | Base::State(_)) || e.ty.is_aggregate() {
        return None;
    }
    let ([Proj::Index(to)], [Proj::Index(from)]) = (p.path.as_slice(), q.path.as_slice()) else { return None };
    let (to, from) = (distance(to, l)?, distance(from, l)?);
    let (n, last) = trip(l)?;
    // what is written must have been read
    if l.step.abs() != 1 || i64::from(l.step) * (i64::from(to) - i64::from(from)) >= 0 {
        return None;
    }
    let first = l.from.as_int()?;
    let lowest = if l.step > 0 { first } else { last.checked_add(1)? };
    let place = |by: i32| u32::try_from(lowest.checked_add(by)?).ok();
    Some(Along { to: place(to)?, from: place(from)?, count: u32::try_from(n).ok().filter(|n| *n > 0)?, last })
}

/// How far an index is from the loop's variable.
fn distance(index: &Expr, l: &For) -> Option<i32> {
    let is_var = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(l.var));
    match &index.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) if is_var(a) => b.as_int(),
        ExprKind::Binary(BinaryOp::Add, a, b) if is_var(b) => a.as_int(),
        ExprKind::Binary(BinaryOp::Sub, a, b) if is_var(a) => b.as_int()?.checked_neg(),
        _ => is_var(index).then_some(0),
    }
}
