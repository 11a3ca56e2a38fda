//! What the ints of a firing are, as sums of the counters of the loops around, and which conditions follow.

use super::cuts::Guard;
use crate::affine::{Affine, Ranges};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// Sums that a value may be one of, at most.
const MOST: usize = 4;
/// What a comparison costs, and a division.
const COMPARISON: u64 = 3;
const DIVISION: u64 = 12;

/// What is known at a point.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// Variables each of which is, in every turn, one of some sums of counters.
    sums: BTreeMap<LocalId, Vec<Affine>>,
}

impl Known {
    pub(super) fn set(&mut self, id: LocalId, sums: Option<Vec<Affine>>) {
        match sums {
            Some(s) => self.sums.insert(id, s),
            None => self.sums.remove(&id),
        };
    }

    /// Two ways come together.
    pub(super) fn join(&mut self, other: &Known) {
        self.sums.retain(|id, sums| {
            let Some(more) = other.sums.get(id) else { return false };
            sums.extend(more.iter().filter(|m| !sums.contains(m)).cloned().collect::<Vec<_>>());
            sums.len() <= MOST
        });
    }
}

/// A loop that may be split: guards are looked for that depend on its counter.
pub(super) struct Search {
    pub var: LocalId,
    pub found: Vec<Guard>,
    /// Turns of the loops within it that are around what is looked at.
    pub times: u64,
}

/// What is known of values.
#[derive(Default)]
pub(super) struct Values {
    /// The counters of the loops around.
    pub ranges: Ranges,
    pub known: Known,
    pub search: Option<Search>,
    /// Has anything become simpler?
    pub changed: bool,
}

impl Values {
    /// The sums that an int is one of; none of them wraps around on the way. `None` where it is unknown.
    pub(super) fn sums(&self, e: &Expr) -> Option<Vec<Affine>> {
        if e.ty != Ty::Int {
            return None;
        }
        if let Some(i) = e.as_int() {
            return Some(vec![Affine::constant(i.into())]);
        }
        match &e.kind {
            ExprKind::Load(p) => {
                let id = p.as_local()?;
                if self.ranges.contains_key(&id) {
                    return Some(vec![Affine::variable(id)]);
                }
                self.known.sums.get(&id).cloned()
            }
            ExprKind::Unary(UnaryOp::Neg, a) => self.each(&self.sums(a)?, |a| a.times(-1)),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Select(_, a, b) => union(self.sums(a)?, self.sums(b)?),
            ExprKind::Builtin(Builtin::Min | Builtin::Max, args) => match args.as_slice() {
                [a, b] => union(self.sums(a)?, self.sums(b)?),
                _ => None,
            },
            ExprKind::Builtin(Builtin::Abs, args) => match args.as_slice() {
                [a] => {
                    let a = self.sums(a)?;
                    union(a.clone(), self.each(&a, |a| a.times(-1))?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Vec<Affine>> {
        let x = self.sums(a)?;
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let y = self.sums(b)?;
                let mut all = Vec::new();
                for y in y {
                    let y = if op == BinaryOp::Sub { y.times(-1)? } else { y };
                    all = union(all, self.each(&x, |x| x.plus(&y))?)?;
                }
                Some(all)
            }
            BinaryOp::Mul => match (b.as_int(), self.sums(b)?.as_slice(), x.as_slice()) {
                (Some(n), ..) => self.each(&x, |x| x.times(n.into())),
                (_, [y], _) if y.as_constant().is_some() => {
                    let n = y.as_constant()?;
                    self.each(&x, |x| x.times(n))
                }
                (_, y, [x]) => {
                    let n = x.as_constant()?;
                    self.each(y, |y| y.times(n))
                }
                _ => None,
            },
            BinaryOp::Shl => {
                let n = b.as_int().filter(|n| (0..31).contains(n))?;
                self.each(&x, |x| x.times(1 << n))
            }
            _ => {
                let d = Division::of(op, b)?;
                let mut all = Vec::new();
                for x in &x {
                    let (low, high) = x.bounds(&self.ranges)?;
                    let (first, last) = (d.quotient(low), d.quotient(high));
                    if last - first >= MOST as i64 {
                        return None;
                    }
                    let one =
                        |q: i64| if d.rest { x.plus(&Affine::constant(-q * d.by)) } else { Some(Affine::constant(q)) };
                    all = union(all, (first..=last).map(one).collect::<Option<Vec<_>>>()?)?;
                }
                Some(all)
            }
        }
    }

    /// All sums changed in a way, where none of them leaves the ints.
    fn each(&self, sums: &[Affine], f: impl Fn(&Affine) -> Option<Affine>) -> Option<Vec<Affine>> {
        let all = sums.iter().map(f).collect::<Option<Vec<_>>>()?;
        let is_int = |a: &Affine| {
            a.bounds(&self.ranges).is_some_and(|(low, high)| low >= i32::MIN.into() && high <= i32::MAX.into())
        };
        all.iter().all(is_int).then_some(all)
    }

    /// Makes an expression simpler by what is known, from the inside out; what is not known, and depends on the counter of the loop that is looked at, is noted.
    pub(super) fn simplify(&mut self, e: &mut Expr) {
        match &mut e.kind {
            // a choice of two numbers at hand is one instruction, in vectors too: no loop is split for it
            ExprKind::Select(c, a, b) if matches!(a.ty, Ty::Float | Ty::Double) && at_hand(a) && at_hand(b) => {
                let search = self.search.take();
                self.simplify(c);
                self.search = search;
                self.simplify(a);
                self.simplify(b);
            }
            _ => e.each_operand_mut(&mut |o| self.simplify(o)),
        }
        let new = match &e.kind {
            ExprKind::Binary(op, a, b) if a.ty == Ty::Int => match op {
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne => {
                    self.compared(*op, a, b).map(Expr::bool)
                }
                _ => self.divided(*op, a, b),
            },
            ExprKind::Select(c, a, b) => truth(c).map(|yes| if yes { (**a).clone() } else { (**b).clone() }),
            ExprKind::Builtin(f @ (Builtin::Min | Builtin::Max), args) if e.ty == Ty::Int => match args.as_slice() {
                [a, b] => self.larger(a, b).map(|first| {
                    let least = *f == Builtin::Min;
                    if first != least { a.clone() } else { b.clone() }
                }),
                _ => None,
            },
            ExprKind::Builtin(Builtin::Abs, args) if e.ty == Ty::Int => match args.as_slice() {
                [a] => self.larger(a, &Expr::int(0)).map(|positive| {
                    if positive {
                        a.clone()
                    } else {
                        Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(a.clone())), ty: Ty::Int }
                    }
                }),
                _ => None,
            },
            _ => None,
        };
        if let Some(new) = new {
            *e = new;
            self.changed = true;
        }
    }

    /// The outcome of a comparison of ints.
    fn compared(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<bool> {
        use BinaryOp::{Eq, Gt, Le, Lt, Ne};
        let (a, b) = (self.sums(a)?, self.sums(b)?);
        let mut sides = [None; 2];
        for a in &a {
            for b in &b {
                let difference = a.plus(&b.times(-1)?)?;
                // is it at least 0, and is it more?
                for (least, side) in [0, 1].into_iter().zip(&mut sides) {
                    let asked = match op {
                        Eq | Ne => true,
                        Le | Gt => least == 1,
                        _ => least == 0,
                    };
                    if asked {
                        let holds = self.at_least(&difference, (least, 0), (COMPARISON, 0));
                        *side = Some(side.map_or(holds, |s: Option<bool>| s.filter(|_| s == holds)));
                    }
                }
            }
        }
        let [at_least, more] = sides.map(Option::flatten);
        match op {
            Lt => at_least.map(|h| !h),
            Le => more.map(|h| !h),
            Gt => more,
            Eq | Ne => {
                let equal = match (at_least, more) {
                    (Some(false), _) | (_, Some(true)) => false,
                    (Some(true), Some(false)) => true,
                    _ => return None,
                };
                Some(equal == (op == Eq))
            }
            _ => at_least,
        }
    }

    /// Is the one never less than the other (`true`), or never more?
    fn larger(&mut self, a: &Expr, b: &Expr) -> Option<bool> {
        let (a, b) = (self.sums(a)?, self.sums(b)?);
        let mut all = None;
        for a in &a {
            for b in &b {
                let larger = self.at_least(&a.plus(&b.times(-1)?)?, (0, 1), (COMPARISON, 0));
                all = Some(all.map_or(larger, |l: Option<bool>| l.filter(|_| l == larger)));
            }
        }
        all.flatten()
    }

    /// Is a sum always at least `least`, or always less than that and `either`? (In between it does not matter.)
    fn at_least(
        &mut self,
        sum: &Affine,
        (least, either): (i64, i64),
        (weight, division): (u64, usize),
    ) -> Option<bool> {
        let (low, high) = sum.bounds(&self.ranges)?;
        if low >= least || high < least + either {
            return Some(low >= least);
        }
        if let Some(s) = &mut self.search
            && let factor @ (..=-1 | 1..) = sum.factor(s.var)
            && let Some((from, to)) = self.ranges.get(&s.var)
        {
            // without the counter's part in the bounds
            let (one, other) = (from * factor, to * factor);
            let low = low - least - one.min(other);
            let high = (high - least - either - one.max(other)).max(low);
            s.found.push(Guard { factor, low, high, weight: weight.saturating_mul(s.times), division });
        }
        None
    }

    /// A division or remainder whose quotient is known.
    fn divided(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Expr> {
        let d = Division::of(op, b)?;
        let mut quotient = None;
        let number = self.search.as_ref().map_or(0, |s| s.found.len()) + 1;
        for x in self.sums(a)? {
            let (low, high) = x.bounds(&self.ranges)?;
            let (first, last) = (d.quotient(low), d.quotient(high));
            if last - first >= MOST as i64 {
                return None;
            }
            for q in first + 1..=last {
                self.at_least(&x, (d.begins(q), 0), (DIVISION, number));
            }
            if first != last || quotient.is_some_and(|q| q != first) {
                quotient = Some(i64::MAX);
            } else {
                quotient = Some(first);
            }
        }
        let q = quotient.filter(|q| *q != i64::MAX)?;
        let less = i32::try_from(q.checked_mul(-d.by)?).ok()?;
        let q = i32::try_from(q).ok()?;
        Some(if d.rest { Expr::add(a.clone(), Expr::int(less)) } else { Expr::int(q) })
    }
}

/// Is there anything in the statements that could be known?
pub(super) fn asks(body: &[Stmt]) -> bool {
    use BinaryOp::{BitAnd, Div, Eq, Ge, Gt, Le, Lt, Ne, Rem, Shr};
    let mut found = false;
    walk::each_expr(body, &mut |e| {
        found |= match &e.kind {
            ExprKind::Binary(Lt | Le | Gt | Ge | Eq | Ne | Div | Rem | Shr | BitAnd, a, _) => a.ty == Ty::Int,
            ExprKind::Builtin(Builtin::Min | Builtin::Max | Builtin::Abs, _) => e.ty == Ty::Int,
            _ => false,
        };
    });
    found
}

/// Is it a constant or a scalar variable?
fn at_hand(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) => true,
        ExprKind::Load(p) => p.path.is_empty() && matches!(p.base, Base::Local(_) | Base::State(_)),
        _ => false,
    }
}

/// The value of a condition that is known.
pub(super) fn truth(e: &Expr) -> Option<bool> {
    use sluice_frontend::constant::Const;
    match e.as_const() {
        Some(Const::Bool(b)) => Some(b),
        _ => None,
    }
}

fn union(mut a: Vec<Affine>, b: Vec<Affine>) -> Option<Vec<Affine>> {
    for x in b {
        if !a.contains(&x) {
            a.push(x);
        }
    }
    (a.len() <= MOST).then_some(a)
}

/// A division of ints by a positive constant, a shift to the right, or what these leave.
struct Division {
    by: i64,
    /// Is it what is left?
    rest: bool,
    /// Are quotients rounded down, instead of towards 0?
    floor: bool,
}

impl Division {
    fn of(op: BinaryOp, b: &Expr) -> Option<Division> {
        let n = i64::from(b.as_int()?);
        match op {
            BinaryOp::Div | BinaryOp::Rem if n > 1 => Some(Division { by: n, rest: op == BinaryOp::Rem, floor: false }),
            BinaryOp::Shr if (1..31).contains(&n) => Some(Division { by: 1 << n, rest: false, floor: true }),
            BinaryOp::BitAnd if n > 0 && (n + 1).count_ones() == 1 => {
                Some(Division { by: n + 1, rest: true, floor: true })
            }
            _ => None,
        }
    }

    fn quotient(&self, x: i64) -> i64 {
        if self.floor { x.div_euclid(self.by) } else { x / self.by }
    }

    /// The least value with such a quotient.
    fn begins(&self, q: i64) -> i64 {
        if self.floor || q > 0 { q * self.by } else { (q - 1) * self.by + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_begin_where_they_say() {
        for (by, floor) in [(3, false), (3, true), (8, false), (8, true)] {
            let d = Division { by, rest: true, floor };
            for x in -40..40 {
                let q = d.quotient(x);
                assert!(d.begins(q) <= x && x < d.begins(q + 1), "{x} by {by}");
            }
        }
    }
}
