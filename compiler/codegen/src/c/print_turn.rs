//! # print-turn
//!
//! Purpose: the language has no word for turning the bits of an int round, and no shift that brings zeroes in from above; programs write it as a shift left, and one right whose
//! copies of the sign are masked. Input: an operation on ints. Output: what is turned, and how far to the left; processors have one instruction for it, which C compilers see in
//! unsigned shifts (gcc, on vectors, in nothing else).
//!
//! ```text
//! ((x << 13) | ((x >> 19) & 8191))   →   sl_rotl(x, 13)
//! ```
//!
//! What must hold: both shifts are of the same value by constants of 32 bits together, and the mask is as many ones as the shift to the right leaves. The parts have no bit in
//! common then: it is the same whether they are joined by `|`, `^` or `+`.

use super::print_bytes::by_constant;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;

/// What `a op b` turns, and by how many bits to the left (1 to 31).
pub(super) fn turned<'e>(op: BinaryOp, a: &'e Expr, b: &'e Expr) -> Option<(&'e Expr, i32)> {
    let joins = matches!(op, BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Add) && a.ty == Ty::Int;
    if joins { halves(a, b).or_else(|| halves(b, a)) } else { None }
}

fn halves<'e>(high: &'e Expr, low: &'e Expr) -> Option<(&'e Expr, i32)> {
    let (x, left) = by_constant(high, BinaryOp::Shl)?;
    let (shifted, mask) = by_constant(low, BinaryOp::BitAnd)?;
    let (y, right) = by_constant(shifted, BinaryOp::Shr)?;
    let fits = (1..32).contains(&left) && right == 32 - left && mask as u32 == (1u32 << left) - 1;
    (fits && x == y).then_some((x, left))
}

#[cfg(test)]
mod tests {
    use super::super::print_bytes::tests::{op, x};
    use super::*;

    fn parts(left: i32, right: i32, mask: i32) -> (Expr, Expr) {
        let high = op(BinaryOp::Shl, x(0), Expr::int(left));
        (high, op(BinaryOp::BitAnd, op(BinaryOp::Shr, x(0), Expr::int(right)), Expr::int(mask)))
    }

    #[test]
    fn turns_are_found() {
        for left in 1..32 {
            let (high, low) = parts(left, 32 - left, ((1u32 << left) - 1) as i32);
            for join in [BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::Add] {
                assert_eq!(turned(join, &high, &low), Some((&x(0), left)));
                assert_eq!(turned(join, &low, &high), Some((&x(0), left)));
            }
            let ExprKind::Binary(_, shifted, mask) = low.kind else { unreachable!() };
            assert_eq!(turned(BinaryOp::BitOr, &high, &op(BinaryOp::BitAnd, *mask, *shifted)), Some((&x(0), left)));
        }
    }

    #[test]
    fn nothing_else_is() {
        for (left, right, mask) in
            [(13, 19, 8190), (13, 19, 16383), (13, 18, 8191), (0, 32, 0), (32, 0, -1), (-1, 33, 1)]
        {
            let (high, low) = parts(left, right, mask);
            assert_eq!(turned(BinaryOp::BitOr, &high, &low), None, "{left} {right} {mask}");
        }
        let (high, low) = parts(13, 19, 8191);
        assert_eq!(turned(BinaryOp::Sub, &high, &low), None);
        let other = op(BinaryOp::BitAnd, op(BinaryOp::Shr, x(1), Expr::int(19)), Expr::int(8191));
        assert_eq!(turned(BinaryOp::BitOr, &high, &other), None, "two values");
        assert_eq!(turned(BinaryOp::BitOr, &high, &op(BinaryOp::Shr, x(0), Expr::int(19))), None, "no mask");
    }
}
