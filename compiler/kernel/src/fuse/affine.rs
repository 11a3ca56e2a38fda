//! Positions as sums of loop variables, which can be divided by the widths of splitters and joiners.

use crate::ir::*;
use sluice_frontend::ids::LocalId;
use std::collections::BTreeMap;

/// The values that variables have where a position is used, both ends included.
pub(super) type Ranges = BTreeMap<LocalId, (i64, i64)>;

/// `constant + Σ coefficient · variable`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Affine {
    constant: i64,
    terms: BTreeMap<LocalId, i64>,
}

/// Beyond this, positions are not computed with: nothing here can overflow then.
const LARGEST: i64 = 1 << 40;

impl Affine {
    pub(super) fn constant(constant: i64) -> Affine {
        Affine { constant, terms: BTreeMap::new() }
    }

    pub(super) fn variable(id: LocalId) -> Affine {
        Affine { constant: 0, terms: BTreeMap::from([(id, 1)]) }
    }

    /// The position that an expression is; `None` where it is another kind of value, or a variable has no known range.
    pub(super) fn of(e: &Expr, ranges: &Ranges) -> Option<Affine> {
        if let Some(i) = e.as_int() {
            return Some(Affine::constant(i.into()));
        }
        match &e.kind {
            ExprKind::Load(p) => p.as_local().filter(|id| ranges.contains_key(id)).map(Affine::variable),
            ExprKind::Unary(UnaryOp::Neg, a) => Affine::of(a, ranges)?.times(-1),
            ExprKind::Binary(BinaryOp::Add, a, b) => Affine::of(a, ranges)?.plus(&Affine::of(b, ranges)?),
            ExprKind::Binary(BinaryOp::Sub, a, b) => Affine::of(a, ranges)?.plus(&Affine::of(b, ranges)?.times(-1)?),
            ExprKind::Binary(BinaryOp::Mul, a, b) => match (a.as_int(), b.as_int()) {
                (Some(n), _) => Affine::of(b, ranges)?.times(n.into()),
                (_, Some(n)) => Affine::of(a, ranges)?.times(n.into()),
                _ => None,
            },
            _ => None,
        }
    }

    fn small(self) -> Option<Affine> {
        let fits = |n: &i64| n.abs() <= LARGEST;
        (fits(&self.constant) && self.terms.values().all(fits)).then_some(self)
    }

    pub(super) fn plus(&self, other: &Affine) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant += other.constant;
        for (id, n) in &other.terms {
            *sum.terms.entry(*id).or_default() += n;
        }
        sum.terms.retain(|_, n| *n != 0);
        sum.small()
    }

    pub(super) fn times(&self, n: i64) -> Option<Affine> {
        if n == 0 {
            return Some(Affine::constant(0));
        }
        let mut all = self.clone();
        all.constant = all.constant.checked_mul(n)?;
        for a in all.terms.values_mut() {
            *a = a.checked_mul(n)?;
        }
        all.small()
    }

    /// The least and the greatest value.
    fn bounds(&self, ranges: &Ranges) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.constant, self.constant);
        for (id, n) in &self.terms {
            let (a, b) = ranges.get(id)?;
            let (x, y) = (a.checked_mul(*n)?, b.checked_mul(*n)?);
            low = low.checked_add(x.min(y))?;
            high = high.checked_add(x.max(y))?;
        }
        Some((low, high))
    }

    /// Quotient and remainder: `self = width · q + r` with `0 <= r < width` for all values of the variables; `None` where they are no such sums.
    pub(super) fn divided(&self, width: i64, ranges: &Ranges) -> Option<(Affine, Affine)> {
        let (mut quotient, mut rest) = (Affine::constant(0), Affine::constant(0));
        for (id, n) in &self.terms {
            if n.abs() < width {
                rest.terms.insert(*id, *n);
                continue;
            }
            let (q, r) = (n.div_euclid(width), n.rem_euclid(width));
            quotient.terms.insert(*id, q);
            if r != 0 {
                rest.terms.insert(*id, r);
            }
        }
        let (low, high) = rest.bounds(ranges)?;
        quotient.constant = (self.constant + low).div_euclid(width);
        rest.constant = self.constant - quotient.constant * width;
        (rest.constant + low >= 0 && rest.constant + high < width).then_some((quotient, rest))
    }

    /// As an expression; `None` where a number is no int.
    pub(super) fn expr(&self) -> Option<Expr> {
        let int = |n: i64| i32::try_from(n).ok().map(Expr::int);
        let mut sum = Expr::int(0);
        for (id, n) in &self.terms {
            let var = Expr::local(*id, sluice_frontend::ty::Ty::Int);
            let term = match n {
                1 => var,
                _ => Expr::binary(BinaryOp::Mul, var, int(*n)?, sluice_frontend::ty::Ty::Int),
            };
            sum = Expr::add(sum, term);
        }
        Some(Expr::add(sum, int(self.constant)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact() {
        let (i, j) = (LocalId(0), LocalId(1));
        let ranges = Ranges::from([(i, (0, 4)), (j, (0, 2))]);
        for width in [3, 6, 12] {
            for (a, b, c) in [(3, 1, 0), (6, 1, 3), (6, -1, 2), (12, 3, 0), (7, 0, 0), (0, 1, 1), (3, 1, 1)] {
                let p = Affine { constant: c, terms: BTreeMap::from([(i, a), (j, b)]) };
                let Some((q, r)) = p.divided(width, &ranges) else { continue };
                for x in 0..=4 {
                    for y in 0..=2 {
                        let at = |p: &Affine| {
                            p.constant + p.terms.iter().map(|(id, n)| n * if *id == i { x } else { y }).sum::<i64>()
                        };
                        assert_eq!(at(&p), width * at(&q) + at(&r));
                        assert!((0..width).contains(&at(&r)), "{p:?} by {width}");
                    }
                }
            }
        }
        let rows = Affine { constant: 0, terms: BTreeMap::from([(i, 3), (j, 1)]) };
        assert!(rows.divided(3, &ranges).is_some());
        assert!(rows.divided(4, &ranges).is_none());
    }
}
