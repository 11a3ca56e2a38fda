//! # reduce-divisions
//!
//! Purpose: divisions and remainders of ints whose bounds are known, by cheaper operations. Input: a kernel after `prove-checks`. Output: the same.
//!
//! ```text
//! state0 = ((state0 + 1) % 48)   →   state0 = (((state0 + 1) >= 48) ? ((state0 + 1) - 48) : (state0 + 1))     state0 in [0, 47]
//! $1 = ($0 % 64)   $2 = ($0 / 8)  →   $1 = ($0 & 63)   $2 = ($0 >> 3)                                           $0 not negative
//! $1 = ($0 / 255)   →   $1 = (($0 * 32897) >> 23)                                                                  $0 in [0, 65152]
//! $1 = ($0 / 10)    →   $1 = ((($0 * 3277) >> 15) - ($0 >> 31))                                                     $0 in [-9999, 9999]
//! ```
//!
//! What is known is what [`super::intervals`] finds. A C compiler does not know what a field holds from one firing to the next, and makes of a remainder a multiplication, or
//! two additions and a mask; in vectors it makes of a quotient products of 64 bits, two for each vector, where the bounds show that one of 32 is enough (Granlund and Montgomery,
//! Division by invariant integers using multiplication, 1994; here with the bound of the dividend in the place of the width of the word). What depends on loop variables alone stays: it becomes a constant where loops are written out.

use super::intervals::{Env, Facts, Range, each_statement};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// Operations of a dividend that is written three times.
const MOST: usize = 6;

/// What a division becomes.
#[derive(Clone, Copy, PartialEq)]
enum Instead {
    /// It stays.
    Itself,
    /// The dividend: it is less than the divisor.
    Dividend,
    /// 0, for the same reason.
    Zero,
    /// The low bits of the dividend.
    Mask,
    /// The high bits of the dividend.
    Shift,
    /// The dividend, or that less the divisor.
    Less,
    /// A product shifted right.
    Quotient(Reciprocal),
    /// The dividend less that times the divisor.
    Remainder(Reciprocal),
}

/// `x / c` as `x * factor >> shift`, one more where `x` is negative.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reciprocal {
    /// What the dividend is multiplied by; no product is beyond an int.
    factor: i32,
    /// Bits that the product is shifted right by.
    shift: i32,
    /// May the dividend be negative?
    signed: bool,
}

impl Reciprocal {
    /// Of a divisor that is no power of two, for dividends from `lo` to `hi`; none where a product would not be an int.
    ///
    /// With `factor * c = 2^shift + e`, `0 < e < c`, `x * factor / 2^shift` is `x / c + x * e / (c * 2^shift)`. The second part is less than `1 / c`, and the floor of the sum that of
    /// the first part, where `|x| * e < 2^shift`. Of a negative `x` the quotient is no whole number then, and its floor is one less than what division gives.
    fn of(c: i64, lo: i64, hi: i64) -> Option<Reciprocal> {
        let most = hi.max(-lo);
        (1..31).find_map(|shift| {
            let factor = (1i64 << shift) / c + 1;
            let e = factor * c - (1 << shift);
            let fits = factor * most <= i64::from(i32::MAX) && most * e < 1 << shift;
            fits.then_some(Reciprocal { factor: factor as i32, shift, signed: lo < 0 })
        })
    }

    /// The quotient.
    fn of_dividend(self, a: &Expr) -> Expr {
        let int = |op, a: Expr, b: Expr| Expr::binary(op, a, b, Ty::Int);
        let product = int(BinaryOp::Mul, a.clone(), Expr::int(self.factor));
        let quotient = int(BinaryOp::Shr, product, Expr::int(self.shift));
        if !self.signed {
            return quotient;
        }
        int(BinaryOp::Sub, quotient, int(BinaryOp::Shr, a.clone(), Expr::int(31)))
    }
}

/// Reduces the divisions of all functions.
pub fn run(kernel: &mut Kernel) {
    let mut some = false;
    for f in &kernel.functions {
        walk::each_expr(&f.body, &mut |e| some |= divided(e).is_some());
    }
    if !some {
        return;
    }
    let facts = Facts::of(kernel);
    let mut wanted: BTreeMap<usize, Vec<Instead>> = BTreeMap::new();
    for f in &kernel.functions {
        let counted = counted(f);
        each_statement(kernel, &facts, f, &mut |s, env| {
            let mut here = Vec::new();
            s.kind.each_own_expr(&mut |e| {
                e.walk(&mut |e| {
                    if let Some((op, a, c)) = divided(e) {
                        here.push(instead(op, a, c, env, &counted));
                    }
                });
            });
            if here.is_empty() {
                return;
            }
            // seen again where something else is known: what both allow
            let known = wanted.entry(std::ptr::from_ref(s) as usize).or_insert_with(|| here.clone());
            for (k, h) in known.iter_mut().zip(here) {
                if *k != h {
                    *k = Instead::Itself;
                }
            }
        });
    }
    // statements have kept their addresses: nothing was moved since
    for f in &mut kernel.functions {
        walk::each_stmt_mut(&mut f.body, &mut |s| {
            let Some(list) = wanted.get(&(std::ptr::from_ref(s) as usize)) else { return };
            let mut list = list.iter();
            s.kind.each_own_expr_mut(&mut |e| {
                e.walk_mut(&mut |e| {
                    if divided(e).is_some()
                        && let Some(instead) = list.next()
                        && let Some(new) = replaced(e, *instead)
                    {
                        *e = new;
                    }
                });
            });
        });
    }
}

/// The dividend and the divisor of a division or remainder by a positive constant.
fn divided(e: &Expr) -> Option<(BinaryOp, &Expr, i32)> {
    match &e.kind {
        ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) if e.ty == Ty::Int => {
            Some((*op, a, b.as_int().filter(|c| *c > 0)?))
        }
        _ => None,
    }
}

/// Variables of counted loops.
fn counted(f: &Function) -> Vec<bool> {
    let mut out = vec![false; f.locals.len()];
    walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            out[l.var.index()] = true;
        }
    });
    out
}

fn instead(op: BinaryOp, a: &Expr, c: i32, env: &Env<'_>, counted: &[bool]) -> Instead {
    let of_data = a.any(&mut |e| match &e.kind {
        ExprKind::Load(p) => match p.base {
            Base::Local(LocalId(i)) => !counted[i as usize],
            Base::Table(_) => false,
            _ => true,
        },
        _ => false,
    });
    let range = env.eval(a);
    let c = i64::from(c);
    match op {
        // not reached, and nothing is known
        _ if !of_data || range.lo > range.hi => Instead::Itself,
        BinaryOp::Rem if range.hi < c && range.lo > -c => Instead::Dividend,
        BinaryOp::Div if range.hi < c && range.lo > -c => Instead::Zero,
        _ if range.lo < 0 => by_product(op, a, c, range),
        BinaryOp::Rem if c & (c - 1) == 0 => Instead::Mask,
        BinaryOp::Div if c & (c - 1) == 0 => Instead::Shift,
        BinaryOp::Rem if range.hi < 2 * c && a.size() <= MOST => Instead::Less,
        _ => by_product(op, a, c, range),
    }
}

/// By a product, where that fits; what is written more than once is short.
fn by_product(op: BinaryOp, a: &Expr, c: i64, range: Range) -> Instead {
    let Some(r) = Reciprocal::of(c, range.lo, range.hi).filter(|_| c & (c - 1) != 0) else { return Instead::Itself };
    let again = a.size() <= MOST;
    match op {
        BinaryOp::Div if !r.signed || again => Instead::Quotient(r),
        BinaryOp::Rem if again => Instead::Remainder(r),
        _ => Instead::Itself,
    }
}

fn replaced(e: &Expr, instead: Instead) -> Option<Expr> {
    let (_, a, c) = divided(e)?;
    let binary = |op, b: i32| Expr::binary(op, a.clone(), Expr::int(b), Ty::Int);
    Some(match instead {
        Instead::Itself => return None,
        Instead::Dividend => a.clone(),
        Instead::Zero => Expr::int(0),
        Instead::Mask => binary(BinaryOp::BitAnd, c - 1),
        Instead::Shift => binary(BinaryOp::Shr, c.trailing_zeros() as i32),
        Instead::Less => {
            let enough = Expr::binary(BinaryOp::Ge, a.clone(), Expr::int(c), Ty::Bool);
            let kind = ExprKind::Select(Box::new(enough), Box::new(binary(BinaryOp::Sub, c)), Box::new(a.clone()));
            Expr { kind, ty: Ty::Int }
        }
        Instead::Quotient(r) => r.of_dividend(a),
        Instead::Remainder(r) => {
            let whole = Expr::binary(BinaryOp::Mul, r.of_dividend(a), Expr::int(c), Ty::Int);
            Expr::binary(BinaryOp::Sub, a.clone(), whole, Ty::Int)
        }
    })
}

#[cfg(test)]
mod tests;
