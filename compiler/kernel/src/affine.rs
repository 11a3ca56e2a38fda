//! Positions as sums of loop variables, which can be divided by the widths of splitters and joiners.

use crate::ir::*;
use sluice_frontend::ids::LocalId;
use std::collections::BTreeMap;

/// The values that variables have where a position is used, both ends included.
pub(crate) type Ranges = BTreeMap<LocalId, (i64, i64)>;

/// `constant + Σ coefficient · variable`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Affine {
    constant: i64,
    terms: BTreeMap<LocalId, i64>,
}

/// Beyond this, positions are not computed with: nothing here can overflow then.
const LARGEST: i64 = 1 << 40;
/// Values of variables that are looked at for an image, at most.
const MOST_POINTS: i64 = 4096;

impl Affine {
    pub(crate) fn constant(constant: i64) -> Affine {
        Affine { constant, terms: BTreeMap::new() }
    }

    pub(crate) fn variable(id: LocalId) -> Affine {
        Affine { constant: 0, terms: BTreeMap::from([(id, 1)]) }
    }

    /// The position that an expression is; `None` where it is another kind of value, or a variable has no known range.
    pub(crate) fn of(e: &Expr, ranges: &Ranges) -> Option<Affine> {
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

    pub(crate) fn plus(&self, other: &Affine) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant += other.constant;
        for (id, n) in &other.terms {
            *sum.terms.entry(*id).or_default() += n;
        }
        sum.terms.retain(|_, n| *n != 0);
        sum.small()
    }

    pub(crate) fn times(&self, n: i64) -> Option<Affine> {
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

    /// What a variable is multiplied by.
    pub(crate) fn factor(&self, id: LocalId) -> i64 {
        self.terms.get(&id).copied().unwrap_or(0)
    }

    /// The least and the greatest value.
    pub(crate) fn bounds(&self, ranges: &Ranges) -> Option<(i64, i64)> {
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
    pub(crate) fn divided(&self, width: i64, ranges: &Ranges) -> Option<(Affine, Affine)> {
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

    /// The value, where it does not depend on variables.
    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// What a map makes of the position, as [`Affine::image`], where the map has no period.
    pub(crate) fn fitted(&self, at: &dyn Fn(i64) -> Option<i64>, ranges: &Ranges) -> Option<Affine> {
        self.image((2 * LARGEST, 0), at, ranges)
    }

    /// What a map makes of the position, where that is such a sum once more: found by looking at every value of the variables. `at` maps positions below `period`; a
    /// period further on is `advance` further on in the image.
    pub(crate) fn image(
        &self,
        (period, advance): (i64, i64),
        at: &dyn Fn(i64) -> Option<i64>,
        ranges: &Ranges,
    ) -> Option<Affine> {
        let map = |x: i64| at(x.rem_euclid(period))?.checked_add(x.div_euclid(period).checked_mul(advance)?);
        let mut image = Affine::constant(0);
        let (mut others, mut points) = (Vec::new(), 1i64);
        for (id, n) in &self.terms {
            let (low, high) = *ranges.get(id)?;
            if n % period == 0 {
                image.terms.insert(*id, (n / period).checked_mul(advance)?);
            } else if low < high {
                points = points.checked_mul(high - low + 1).filter(|p| *p <= MOST_POINTS)?;
                others.push((*id, *n, low, high));
            } else {
                others.push((*id, *n, low, low));
            }
        }
        let first: i64 = others.iter().map(|(_, n, low, _)| n * low).sum::<i64>() + self.constant;
        let corner = map(first)?;
        image.constant = corner;
        for (id, n, low, high) in &others {
            let step = if low < high { map(first + n)? - corner } else { 0 };
            image.constant -= step * low;
            image.terms.insert(*id, step);
        }
        // all other points
        let mut place: Vec<i64> = others.iter().map(|(_, _, low, _)| *low).collect();
        loop {
            let x: i64 = others.iter().zip(&place).map(|((_, n, ..), v)| n * v).sum::<i64>() + self.constant;
            let y: i64 =
                others.iter().zip(&place).map(|((id, ..), v)| image.terms[id] * v).sum::<i64>() + image.constant;
            if map(x)? != y {
                return None;
            }
            let Some(next) = (0..place.len()).find(|i| place[*i] < others[*i].3) else { break };
            place[next] += 1;
            (0..next).for_each(|i| place[i] = others[i].2);
        }
        image.terms.retain(|_, n| *n != 0);
        image.small()
    }

    /// As an expression; `None` where a number is no int.
    pub(crate) fn expr(&self) -> Option<Expr> {
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

    #[test]
    fn images_are_found_where_they_are_sums() {
        let (i, j) = (LocalId(0), LocalId(1));
        // a matrix of 3 rows and 4 columns, by columns: row i, column j, and 12 items further on for each k
        let k = LocalId(2);
        let ranges = Ranges::from([(i, (0, 2)), (j, (1, 3)), (k, (0, 9))]);
        let turned = |x: i64| Some(x % 3 * 4 + x / 3);
        let column = Affine { constant: -3, terms: BTreeMap::from([(i, 1), (j, 3), (k, 12)]) };
        let row = Affine { constant: -1, terms: BTreeMap::from([(i, 4), (j, 1), (k, 20)]) };
        assert_eq!(column.image((12, 20), &turned, &ranges), Some(row));
        // runs across columns
        let across = Affine { constant: 0, terms: BTreeMap::from([(i, 1), (j, 2)]) };
        assert_eq!(across.image((12, 12), &turned, &ranges), None);
        assert_eq!(Affine::constant(17).image((12, 20), &turned, &ranges), Some(Affine::constant(20 + 9)));
        assert_eq!(column.image((12, 20), &|x| turned(x).filter(|y| *y != 6), &ranges), None, "not for all");
    }
}
