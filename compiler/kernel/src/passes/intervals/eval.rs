//! Bounds of expressions, and what conditions and checks say about variables.

use super::env::{Env, Range, Said, Var};
use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;

/// Booleans within booleans that are looked through.
const DEEPEST: u32 = 3;

impl Env<'_> {
    /// The bounds of an int's value (of an aggregate: of all the ints in it).
    pub fn eval(&self, e: &Expr) -> Range {
        match &e.kind {
            ExprKind::Const(_) => e.as_int().map_or(Range::ALL, |i| Range::exactly(i.into())),
            ExprKind::Zero => Range::exactly(0),
            ExprKind::Load(p) => match (&p.base, Var::of(p)) {
                (_, Some(v)) => self.get(v),
                (Base::In(_), _) => self.facts.input,
                (Base::Table(id), _) => self.facts.tables[id.index()],
                _ => Range::ALL,
            },
            ExprKind::Unary(UnaryOp::Neg, a) if e.ty == Ty::Int => {
                let a = self.eval(a);
                Range::new(-a.hi, -a.lo).or_all()
            }
            ExprKind::Unary(UnaryOp::BitNot, a) if e.ty == Ty::Int => {
                let a = self.eval(a);
                Range::new(-1 - a.hi, -1 - a.lo)
            }
            ExprKind::Binary(op, a, b) if e.ty == Ty::Int => binary(*op, self.eval(a), self.eval(b)),
            ExprKind::Select(c, a, b) => {
                let (mut yes, mut no) = (self.clone(), self.clone());
                yes.assume(c, true);
                no.assume(c, false);
                match (yes.unreachable, no.unreachable) {
                    (true, _) => no.eval(b),
                    (_, true) => yes.eval(a),
                    _ => yes.eval(a).hull(no.eval(b)),
                }
            }
            ExprKind::Convert(a) if matches!(a.ty, Ty::Bool | Ty::Bit) => Range::new(0, 1),
            ExprKind::Builtin(f, args) if e.ty == Ty::Int => match (f, args.as_slice()) {
                (Builtin::Abs, [a]) => {
                    let a = self.eval(a);
                    let far = a.lo.abs().max(a.hi.abs());
                    let near = if a.lo <= 0 && a.hi >= 0 { 0 } else { a.lo.abs().min(a.hi.abs()) };
                    Range::new(near, far).or_all()
                }
                (Builtin::Min, [a, b]) => {
                    let (a, b) = (self.eval(a), self.eval(b));
                    Range::new(a.lo.min(b.lo), a.hi.min(b.hi))
                }
                (Builtin::Max, [a, b]) => {
                    let (a, b) = (self.eval(a), self.eval(b));
                    Range::new(a.lo.max(b.lo), a.hi.max(b.hi))
                }
                _ => Range::ALL,
            },
            _ => Range::ALL,
        }
    }

    /// A condition holds, or does not.
    pub(super) fn assume(&mut self, c: &Expr, holds: bool) {
        self.assume_within(c, holds, DEEPEST);
    }

    /// `depth`: booleans that others are made of are looked through so often.
    fn assume_within(&mut self, c: &Expr, holds: bool, depth: u32) {
        use BinaryOp::*;
        match &c.kind {
            ExprKind::Unary(UnaryOp::Not, a) => self.assume_within(a, !holds, depth),
            ExprKind::Load(p) => {
                let (Some(id), Some(depth)) = (p.as_local(), depth.checked_sub(1)) else { return };
                let said = if holds { self.said_of(id) } else { self.meaning(id).into_iter().collect() };
                said.iter().for_each(|e| self.assume_within(e, holds, depth));
            }
            ExprKind::Binary(And, a, b) if holds => {
                self.assume_within(a, true, depth);
                self.assume_within(b, true, depth);
            }
            ExprKind::Binary(Or, a, b) if !holds => {
                self.assume_within(a, false, depth);
                self.assume_within(b, false, depth);
            }
            ExprKind::Binary(op, a, b) if a.ty == Ty::Int => {
                let (x, y) = (self.eval(a), self.eval(b));
                let op = match (op, holds) {
                    (op, true) => *op,
                    (Lt, false) => Ge,
                    (Le, false) => Gt,
                    (Gt, false) => Le,
                    (Ge, false) => Lt,
                    (Eq, false) => Ne,
                    (Ne, false) => Eq,
                    _ => return,
                };
                let below = |y: Range, strict: i64| Range::new(Range::ALL.lo, y.hi - strict);
                let above = |y: Range, strict: i64| Range::new(y.lo + strict, Range::ALL.hi);
                let (for_a, for_b) = match op {
                    Lt => (below(y, 1), above(x, 1)),
                    Le => (below(y, 0), above(x, 0)),
                    Gt => (above(y, 1), below(x, 1)),
                    Ge => (above(y, 0), below(x, 0)),
                    Eq => (y, x),
                    Ne => (without(x, y), without(y, x)),
                    _ => return,
                };
                if op == Ne && y == Range::exactly(0) {
                    self.say(Said::NotZero((**a).clone()));
                }
                self.refine(a, for_a);
                self.refine(b, for_b);
            }
            _ => {}
        }
    }

    /// Is a condition known to hold, or not to hold?
    pub fn decides(&self, c: &Expr) -> Option<bool> {
        match &c.kind {
            ExprKind::Const(_) => c.as_const().and_then(|c| if let Const::Bool(yes) = c { Some(yes) } else { None }),
            ExprKind::Unary(UnaryOp::Not, a) => self.decides(a).map(|yes| !yes),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                // the one that settles it, whatever the other is
                let settles = *op == BinaryOp::Or;
                match (self.decides(a), self.decides(b)) {
                    (Some(x), _) | (_, Some(x)) if x == settles => Some(settles),
                    (Some(_), Some(_)) => Some(!settles),
                    _ => None,
                }
            }
            _ => [true, false].into_iter().find(|holds| {
                let mut other = self.clone();
                other.assume(c, !holds);
                other.unreachable
            }),
        }
    }

    /// An expression's value is known to be in a range.
    fn refine(&mut self, e: &Expr, r: Range) {
        match &e.kind {
            ExprKind::Load(p) if p.path.is_empty() => {
                if let Some(v) = Var::of(p) {
                    let new = self.get(v).meet(r);
                    if new.lo > new.hi {
                        self.unreachable = true;
                    } else {
                        self.set(v, new);
                    }
                }
            }
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                if let Some(c) = b.as_int() {
                    let (c, x) = (i64::from(c), self.eval(a));
                    // only where the sum cannot have wrapped
                    if Range::new(x.lo + c, x.hi + c).is_int() {
                        self.refine(a, Range::new(r.lo - c, r.hi - c));
                    }
                }
            }
            _ => {}
        }
    }

    /// A check has let control pass.
    pub(super) fn passed(&mut self, c: &Check) {
        match c {
            Check::Index { index, length } => self.refine(index, Range::new(0, i64::from(*length) - 1)),
            Check::PeekNegative(e) => self.refine(e, Range::new(0, Range::ALL.hi)),
            Check::PeekBeyond { position, peek } => self.refine(position, Range::new(0, i64::from(*peek) - 1)),
            Check::PopBeyond { popped: e, pop: n } | Check::PushBeyond { pushed: e, push: n } => {
                self.refine(e, Range::new(Range::ALL.lo, i64::from(*n) - 1));
            }
            Check::Divisor(e) => self.say(Said::NotZero(e.clone())),
            Check::NoResult => self.unreachable = true,
            _ => {}
        }
    }

    /// Does a check always let control pass?
    pub fn proves(&self, c: &Check) -> bool {
        let Some(v) = c.operand().map(|e| self.eval(e)) else { return false };
        let below = |n: u32| v.within(0, i64::from(n) - 1);
        match c {
            Check::Index { length, .. } => below(*length),
            Check::Divisor(e) => v.lo > 0 || v.hi < 0 || self.is_said_not_zero(e),
            Check::PeekNegative(_) => v.lo >= 0,
            Check::PeekBeyond { peek, .. } => below(*peek),
            Check::PopBeyond { pop, .. } => v.hi < i64::from(*pop),
            Check::PushBeyond { push, .. } => v.hi < i64::from(*push),
            Check::PushedLess { push, .. } => v.lo >= i64::from(*push),
            Check::PoppedLess { least, .. } => v.lo >= i64::from(*least),
            // what they do is not to be left out
            Check::Item(_) | Check::Room(_) | Check::Took(_) | Check::Gave(_) => false,
            Check::Peek(_) | Check::Pop | Check::Push | Check::Pushed | Check::Popped | Check::NoResult => false,
        }
    }
}

/// A range without a value at its end.
fn without(x: Range, y: Range) -> Range {
    if y.lo != y.hi {
        return x;
    }
    Range::new(x.lo + i64::from(x.lo == y.lo), x.hi - i64::from(x.hi == y.lo))
}

fn corners(a: Range, b: Range, f: impl Fn(i64, i64) -> i64) -> Range {
    let all = [f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)];
    Range::new(all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
}

fn binary(op: BinaryOp, a: Range, b: Range) -> Range {
    use BinaryOp::*;
    if a.lo > a.hi || b.lo > b.hi {
        return Range::ALL;
    }
    let shift = |b: Range| (b.lo == b.hi).then_some(b.lo & 31);
    match op {
        Add => a.plus(b),
        Sub => Range::new(a.lo - b.hi, a.hi - b.lo).or_all(),
        Mul => corners(a, b, |x, y| x * y).or_all(),
        Div => {
            // never by 0: the check before has seen to that
            let parts = [Range::new(b.lo, b.hi.min(-1)), Range::new(b.lo.max(1), b.hi)];
            parts
                .into_iter()
                .filter(|p| p.lo <= p.hi)
                .map(|p| corners(a, p, |x, y| x / y))
                .reduce(Range::hull)
                .unwrap_or(Range::ALL)
                .or_all()
        }
        Rem => {
            let most = (b.lo.abs().max(b.hi.abs()) - 1).max(0);
            let lo = if a.lo >= 0 { 0 } else { (-most).max(a.lo) };
            let hi = if a.hi <= 0 { 0 } else { most.min(a.hi) };
            Range::new(lo, hi)
        }
        Shl => match shift(b) {
            Some(n) => corners(a, Range::exactly(1 << n), |x, y| x * y).or_all(),
            None => Range::ALL,
        },
        Shr => match shift(b) {
            Some(n) => Range::new(a.lo >> n, a.hi >> n),
            None => Range::new(a.lo.min(0), a.hi.max(-1)).hull(Range::exactly(0)),
        },
        BitAnd => match (a.lo >= 0, b.lo >= 0) {
            (true, true) => Range::new(0, a.hi.min(b.hi)),
            (true, false) => Range::new(0, a.hi),
            (false, true) => Range::new(0, b.hi),
            (false, false) => Range::ALL,
        },
        BitOr | BitXor if a.lo >= 0 && b.lo >= 0 => {
            let most = a.hi.max(b.hi) as u64;
            Range::new(0, (most + 1).next_power_of_two() as i64 - 1)
        }
        _ => Range::ALL,
    }
}
