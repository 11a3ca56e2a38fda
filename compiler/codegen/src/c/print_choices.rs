//! # print-choices
//!
//! Purpose: selections that a processor should not have to guess ([`Kernel::chosen`]) as functions that are no jumps (`sl_choose.h`). Input: an assignment to a local. Output: a C expression.
//!
//! ```text
//! $3 = select(($0 > 0.5f), 50, $1)   →   int32_t choice_3 = sl_choose_i_fgt(x_0, 0.5f, 50, choice_1);
//! ```
//!
//! What must hold: the condition is a comparison of values at hand or a boolean variable, as the pass that found it has left it; where another pass has changed it, it is printed as others are.

use super::print_function::Printer;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::choices::is_plain;

impl Printer<'_> {
    /// The value of a local, where it is such a choice.
    pub(super) fn choice(&self, p: &Place, e: &Expr) -> Option<String> {
        let ExprKind::Select(c, a, b) = &e.kind else { return None };
        let id = p.as_local()?;
        let chosen = self.current == self.kernel.work.function && self.kernel.chosen.contains(&id);
        if !chosen || self.device() || !is_plain(c) {
            return None;
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
