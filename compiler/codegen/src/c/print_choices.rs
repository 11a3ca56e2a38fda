//! # print-choices
//!
//! Purpose: selections that a processor should not have to guess ([`Kernel::chosen`]) as functions that are no jumps (`sl_choose.h`). Input: an assignment to a local. Output: a C expression.
//!
//! ```text
//! $3 = select(($0 > 0.5f), 50, $1)   →   int32_t choice_3 = sl_choose_i_fgt(x_0, 0.5f, 50, choice_1);
//! ```
//!
//! Those that bound a float by another, and `min` and `max`, are an instruction of their own wherever something is waited for.
//!
//! What must hold: the condition is a comparison of values at hand or a boolean variable, as the pass that found it has left it; where another pass has changed it, it is printed as others are.

use super::print_function::Printer;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::choices::{self, Bound, is_plain};
use sluice_kernel::walk;
use std::collections::BTreeSet;

impl Printer<'_> {
    /// The value of a local, where it is such a choice.
    pub(super) fn choice(&self, p: &Place, e: &Expr) -> Option<String> {
        let ExprKind::Select(c, a, b) = &e.kind else { return None };
        let id = p.as_local()?;
        let chosen = self.current == self.kernel.work.function && self.kernel.chosen.contains(&id);
        if !chosen || self.device() || !is_plain(c) {
            return None;
        }
        if let Some((of, x, y)) = choices::bound(c, a, b) {
            return Some(self.bound(of, x, y));
        }
        let (asked, x, y) = match &c.kind {
            ExprKind::Binary(op, x, y) => {
                // floats have one way round: the other answers a NaN otherwise
                let (op, x, y) = match (op, kind(&x.ty)?) {
                    (BinaryOp::Lt, 'f' | 'd') => (BinaryOp::Gt, y, x),
                    (BinaryOp::Le, 'f' | 'd') => (BinaryOp::Ge, y, x),
                    (op, _) => (*op, x, y),
                };
                (format!("{}{}", kind(&x.ty)?, name(op)?), self.expr(x), self.expr(y))
            }
            _ => ("ine".to_string(), self.expr(c), "0".to_string()),
        };
        let value = kind(&e.ty)?;
        Some(format!("sl_choose_{value}_{asked}({x}, {y}, {}, {})", self.expr(a), self.expr(b)))
    }
}

/// Bounds of floats where a firing, or a turn of a loop, waits for the one before. gcc, told that comparisons do not trap, goes by way of ints for many of them, which takes four times as long; elsewhere
/// it makes vectors of them as they are.
impl Printer<'_> {
    /// `min` or `max` of two floats.
    pub(super) fn bounded(&self, f: Builtin, args: &[Expr]) -> Option<String> {
        let [a, b] = args else { return None };
        let name = match f {
            Builtin::Min => "min",
            Builtin::Max => "max",
            _ => return None,
        };
        if !self.waits() {
            return None;
        }
        match (choices::builtin(f, a, b), &a.ty) {
            (Some((of, x, y)), _) => Some(self.bound(of, x, y)),
            (None, Ty::Float) => Some(format!("sl_choose_{name}_f({}, {})", self.expr(a), self.expr(b))),
            (None, Ty::Double) => Some(format!("sl_choose_{name}_d({}, {})", self.expr(a), self.expr(b))),
            _ => None,
        }
    }

    /// A selection that is a bound.
    pub(super) fn selected_bound(&self, c: &Expr, yes: &Expr, no: &Expr) -> Option<String> {
        let (of, x, y) = choices::bound(c, yes, no).filter(|_| self.waits())?;
        Some(self.bound(of, x, y))
    }

    fn bound(&self, of: Bound, x: &Expr, y: &Expr) -> String {
        let name = if of == Bound::Least { "least" } else { "greatest" };
        let kind = if x.ty == Ty::Double { 'd' } else { 'f' };
        format!("sl_choose_{name}_{kind}({}, {})", self.expr(x), self.expr(y))
    }

    /// Does what is printed wait for the firing before, or for the turn before?
    fn waits(&self) -> bool {
        if self.device() || self.kernel.free || self.layout.is_some() || self.current != self.kernel.work.function {
            return false;
        }
        self.nest.iter().rev().find_map(|n| n.carries).unwrap_or(!self.kept.is_empty())
    }
}

/// Does a loop carry a number from turn to turn, in a variable that it writes after it has read it?
pub(super) fn carries(l: &For) -> bool {
    let mut written = BTreeSet::new();
    walk::each_stmt(&l.body, &mut |s| {
        written.extend(s.kind.targets().into_iter().filter(|p| p.path.is_empty()).map(|p| format!("{:?}", p.base)));
    });
    written.remove(&format!("{:?}", Base::Local(l.var)));
    let mut renewed = BTreeSet::new();
    for s in &l.body {
        let mut read = false;
        walk::each_expr(std::slice::from_ref(s), &mut |e| {
            let float = matches!(e.ty, Ty::Float | Ty::Double);
            if let ExprKind::Load(p) = &e.kind
                && float
                && p.path.is_empty()
            {
                let name = format!("{:?}", p.base);
                read |= written.contains(&name) && !renewed.contains(&name);
            }
        });
        if read {
            return true;
        }
        if let StmtKind::Assign(p, _) = &s.kind
            && p.path.is_empty()
        {
            renewed.insert(format!("{:?}", p.base));
        }
    }
    false
}

fn kind(ty: &Ty) -> Option<char> {
    match ty {
        Ty::Int | Ty::Bit | Ty::Bool => Some('i'),
        Ty::Float => Some('f'),
        Ty::Double => Some('d'),
        _ => None,
    }
}

fn name(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Lt => "lt",
        BinaryOp::Le => "le",
        BinaryOp::Gt => "gt",
        BinaryOp::Ge => "ge",
        BinaryOp::Eq => "eq",
        BinaryOp::Ne => "ne",
        _ => return None,
    })
}
