//! # print-mixed
//!
//! Purpose: a word that is put together of bits of several, each masked, as choices between two: an instruction each where a processor has one that chooses by bits (AVX-512) or by bytes
//! (AVX2, SSE4.1), instead of one for each mask and one for each `|`. Input: an operation on ints, in lanes. Output: the words, and which bits are whose.
//!
//! ```text
//! ((x & 0xFFFF0000) | ((y & 0xFF00) | (z & 0xFF)))   →   sl_vi_mixed(x, sl_vi_mixed(y, z, 0xFF00), 0xFFFF0000)
//! ```
//!
//! What must hold: each bit is in one mask, and no mask is empty. The parts have no bit in common then: it is the same whether they are joined by `|`, `^` or `+`.

use super::print_bytes::by_constant;
use super::print_function::Printer;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;

/// The words of `a op b`, with the bits of each.
fn mixed<'e>(op: BinaryOp, a: &'e Expr, b: &'e Expr) -> Option<Vec<(&'e Expr, u32)>> {
    let mut parts = Vec::new();
    let whole = joins(op) && a.ty == Ty::Int && gather(a, &mut parts) && gather(b, &mut parts);
    let all: u32 = parts.iter().fold(0, |sum, (_, mask)| sum | mask);
    let bits: u32 = parts.iter().map(|(_, mask)| mask.count_ones()).sum();
    (whole && all == u32::MAX && bits == 32 && parts.iter().all(|(_, mask)| *mask != 0)).then_some(parts)
}

fn joins(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Add)
}

/// Adds the masked words of a sum; false where something is none.
fn gather<'e>(e: &'e Expr, parts: &mut Vec<(&'e Expr, u32)>) -> bool {
    if let Some((x, mask)) = by_constant(e, BinaryOp::BitAnd) {
        parts.push((x, mask as u32));
        return true;
    }
    match &e.kind {
        ExprKind::Binary(op, a, b) if joins(*op) => gather(a, parts) && gather(b, parts),
        _ => false,
    }
}

impl Printer<'_> {
    /// Prints such a word, of vector `u`.
    pub(super) fn lane_mixed(&self, (op, a, b): (BinaryOp, &Expr, &Expr), u: usize) -> Option<String> {
        let parts = mixed(op, a, b)?;
        let (last, others) = parts.split_last()?;
        Some(others.iter().rev().fold(self.lane(last.0, u), |rest, (x, mask)| {
            format!("sl_vi_mixed({}, {rest}, {})", self.lane(x, u), *mask as i32)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::print_bytes::tests::{op, x};
    use super::*;
    use BinaryOp::*;

    fn masked(i: u32, mask: u32) -> Expr {
        op(BitAnd, x(i), Expr::int(mask as i32))
    }

    #[test]
    fn masks_that_share_a_word_are_found() {
        for join in [BitOr, BitXor, Add] {
            let low = op(join, masked(1, 0xFF00), masked(2, 0xFF));
            assert_eq!(
                mixed(join, &masked(0, 0xFFFF_0000), &low),
                Some(vec![(&x(0), 0xFFFF_0000), (&x(1), 0xFF00), (&x(2), 0xFF)])
            );
            assert_eq!(mixed(join, &low, &masked(0, 0xFFFF_0000)).map(|p| p.len()), Some(3));
        }
        // bits, not bytes
        assert!(mixed(BitOr, &masked(0, 0x5555_5555), &masked(1, 0xAAAA_AAAA)).is_some());
    }

    #[test]
    fn nothing_else_is() {
        for (a, b) in [(0xFFFF_0000, 0x7FFF), (0xFFFF_8000, 0xFFFF), (0xFFFF_FFFF, 0), (0xFFFF_0000, 0xFFF0)] {
            assert_eq!(mixed(BitOr, &masked(0, a), &masked(1, b)), None, "{a:x} {b:x}");
        }
        let (a, b) = (masked(0, 0xFFFF_0000), masked(1, 0xFFFF));
        assert!(mixed(BitOr, &a, &b).is_some());
        assert_eq!(mixed(Sub, &a, &b), None);
        assert_eq!(mixed(BitAnd, &a, &b), None);
        assert_eq!(mixed(BitOr, &a, &x(1)), None, "no mask");
        // a bit twice
        assert_eq!(mixed(Add, &a, &op(Add, masked(1, 0xFFFF), masked(2, 1))), None);
    }
}
