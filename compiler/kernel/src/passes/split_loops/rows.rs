//! A loop whose counter is taken apart into rows and columns, as a loop over rows and one over columns.
//!
//! ```text
//! for $p = 0 < 4096 step 1 { $y = ($p / 64)  $x = ($p % 64) … }
//!   →   for $r = 0 < 64 step 1 { for $c = 0 < 64 step 1 { $y = $r  $x = $c … } }
//! ```
//!
//! The turns are the same, in the same order. What must hold: the loop begins at 0, counts by one, turns a multiple of the columns, and no `break` leaves it.

use crate::ir::*;
use crate::passes::clean::{int_local_of, trip};
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;

/// Columns and rows, at least.
const FEWEST: u64 = 4;

/// What the counter is divided by, for which the loop could be two.
pub(super) fn columns(l: &For) -> Option<u64> {
    let (n, _) = trip(l).filter(|(n, _)| *n <= i32::MAX as u64 && l.from.as_int() == Some(0) && l.step == 1)?;
    let mut most = None;
    walk::each_expr(&l.body, &mut |e| {
        if let Some((_, by)) = taken_apart(e, l.var)
            && n % by == 0
            && by >= FEWEST
            && n / by >= FEWEST
        {
            most = most.max(Some(by));
        }
    });
    most
}

/// Is it the counter's row (`true`) or column, and of how many columns?
fn taken_apart(e: &Expr, var: LocalId) -> Option<(bool, u64)> {
    let ExprKind::Binary(op, a, b) = &e.kind else { return None };
    if !matches!(&a.kind, ExprKind::Load(p) if p.as_local() == Some(var)) {
        return None;
    }
    let by = u64::try_from(b.as_int()?).ok()?;
    match op {
        BinaryOp::Div => Some((true, by)),
        BinaryOp::Rem => Some((false, by)),
        BinaryOp::Shr if by < 31 => Some((true, 1 << by)),
        BinaryOp::BitAnd if (by + 1).is_power_of_two() => Some((false, by + 1)),
        _ => None,
    }
    .filter(|(_, by)| *by > 1)
}

/// The loop as two.
pub(super) fn nest(l: &For, span: Span, columns: u64, locals: &mut Vec<Local>) -> Option<For> {
    let (n, _) = trip(l)?;
    let (width, rows) = (i32::try_from(columns).ok()?, i32::try_from(n / columns).ok()?);
    let row = int_local_of(locals, "row");
    let column = int_local_of(locals, "column");
    let mut body = l.body.clone();
    let int = |id| Expr::local(id, Ty::Int);
    // outer expressions first: the counter within them is gone then
    fn replace(e: &mut Expr, of: &dyn Fn(&Expr) -> Option<Expr>) {
        if let Some(new) = of(e) {
            *e = new;
        } else {
            e.each_operand_mut(&mut |o| replace(o, of));
        }
    }
    let of = |e: &Expr| match taken_apart(e, l.var) {
        Some((true, by)) if by == columns => Some(int(row)),
        Some((false, by)) if by == columns => Some(int(column)),
        _ if matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(l.var)) => {
            Some(Expr::add(Expr::binary(BinaryOp::Mul, int(row), Expr::int(width), Ty::Int), int(column)))
        }
        _ => None,
    };
    fn each(body: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
        for s in body {
            s.kind.each_own_expr_mut(f);
            for b in s.kind.bodies_mut() {
                each(b, f);
            }
        }
    }
    each(&mut body, &mut |e| replace(e, &of));
    // who goes further out passes one loop more
    walk::shift_breaks(&mut body, 1, 1);
    let counted = |var, to, body| For {
        var,
        from: Expr::int(0),
        cmp: BinaryOp::Lt,
        to: Expr::int(to),
        step: 1,
        body,
        abreast: false,
    };
    let inner = StmtKind::For(Box::new(counted(column, width, body))).at(span);
    Some(counted(row, rows, vec![inner]))
}
