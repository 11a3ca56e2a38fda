//! What is known of a value: a range of ints, a constant, or nothing.
//!
//! Takes and gives [`Known`]; every operation's result holds all values that the operation can have. [`Count`] is a range of
//! numbers of items; it only grows, and its upper end may be open.

use crate::constant::Const;
use crate::ops::{self, Scalar};
use crate::ty::Ty;
use crate::typed::{BinaryOp, Builtin, UnaryOp};

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// An int between two bounds, both possible as far as is known.
    Int(i64, i64),
    /// A scalar that is no int.
    Scalar(Scalar),
    /// An array, struct or text that never changes.
    Constant(&'a Const),
    /// Nothing.
    Nothing,
}

/// All ints.
pub const ANY_INT: Known<'static> = Known::Int(i32::MIN as i64, i32::MAX as i64);

impl<'a> Known<'a> {
    /// What is known of any value of a type.
    pub fn any(ty: &Ty) -> Known<'a> {
        if *ty == Ty::Int { ANY_INT } else { Known::Nothing }
    }

    /// A constant.
    pub fn of(c: &'a Const) -> Known<'a> {
        match Scalar::of(c) {
            Some(s) => Known::scalar(s),
            None => Known::Constant(c),
        }
    }

    /// A scalar.
    pub fn scalar(s: Scalar) -> Known<'a> {
        match s {
            Scalar::Int(i) => Known::Int(i.into(), i.into()),
            s => Known::Scalar(s),
        }
    }

    /// The one value it has.
    pub fn exact(self) -> Option<Scalar> {
        match self {
            Known::Int(a, b) if a == b => Some(Scalar::Int(a as i32)),
            Known::Scalar(s) => Some(s),
            _ => None,
        }
    }

    /// The one int it is.
    pub fn int(self) -> Option<i32> {
        match self {
            Known::Int(a, b) if a == b => Some(a as i32),
            _ => None,
        }
    }

    /// The truth value it is.
    pub fn truth(self) -> Option<bool> {
        match self {
            Known::Scalar(Scalar::Bool(b)) => Some(b),
            _ => None,
        }
    }

    /// What is known of a value that is one of two.
    pub fn join(self, other: Known<'a>) -> Known<'a> {
        match (self, other) {
            (Known::Int(a, b), Known::Int(c, d)) => Known::Int(a.min(c), b.max(d)),
            (Known::Scalar(a), Known::Scalar(b)) if a.into_const() == b.into_const() => self,
            (Known::Constant(a), Known::Constant(b)) if std::ptr::eq(a, b) => self,
            _ => Known::Nothing,
        }
    }

    /// An element of an array, a field of a struct.
    pub fn part(self, i: usize, ty: &Ty) -> Known<'a> {
        match self {
            Known::Constant(Const::Array(items) | Const::Struct(items)) => match items.get(i) {
                Some(c) => Known::of(c),
                None => Known::any(ty),
            },
            _ => Known::any(ty),
        }
    }
}

/// A range of ints as [`Known`]; everything where it leaves int, since it wraps then.
fn range(lo: i64, hi: i64) -> Known<'static> {
    if lo < i64::from(i32::MIN) || hi > i64::from(i32::MAX) { ANY_INT } else { Known::Int(lo, hi) }
}

/// `a op b`, the result of type `ty`.
pub fn binary<'a>(op: BinaryOp, a: Known<'a>, b: Known<'a>, ty: &Ty) -> Known<'a> {
    if let (Some(x), Some(y)) = (a.exact(), b.exact()) {
        return match ops::scalar_binary(op, x, y) {
            Ok(Some(s)) => Known::scalar(s),
            _ => Known::any(ty),
        };
    }
    let (Known::Int(a, b), Known::Int(c, d)) = (a, b) else { return Known::any(ty) };
    let truth = |yes: bool, no: bool| match (yes, no) {
        (true, _) => Known::Scalar(Scalar::Bool(true)),
        (_, true) => Known::Scalar(Scalar::Bool(false)),
        _ => Known::Nothing,
    };
    match op {
        BinaryOp::Add => range(a + c, b + d),
        BinaryOp::Sub => range(a - d, b - c),
        BinaryOp::Mul => {
            let all = [a * c, a * d, b * c, b * d];
            range(all.into_iter().min().unwrap_or(i64::MIN), all.into_iter().max().unwrap_or(i64::MAX))
        }
        BinaryOp::Div if c == d && c > 0 => range(a / c, b / c),
        BinaryOp::Rem if c == d && c > 0 => {
            let lo = if a >= 0 { 0 } else { -(c - 1).min(-a) };
            let hi = if b <= 0 { 0 } else { (c - 1).min(b) };
            range(lo, hi)
        }
        BinaryOp::Shr if c == d => range(a >> (c & 31), b >> (c & 31)),
        BinaryOp::BitAnd if c >= 0 && a >= 0 => range(0, b.min(d)),
        BinaryOp::BitAnd if c >= 0 => range(0, d),
        BinaryOp::BitAnd if a >= 0 => range(0, b),
        BinaryOp::Lt => truth(b < c, a >= d),
        BinaryOp::Le => truth(b <= c, a > d),
        BinaryOp::Gt => truth(a > d, b <= c),
        BinaryOp::Ge => truth(a >= d, b < c),
        BinaryOp::Eq => truth(false, b < c || d < a),
        BinaryOp::Ne => truth(b < c || d < a, false),
        _ => Known::any(ty),
    }
}

/// `op a`, the result of type `ty`.
pub fn unary<'a>(op: UnaryOp, a: Known<'a>, ty: &Ty) -> Known<'a> {
    match (a.exact(), op, a) {
        (Some(s), ..) => ops::scalar_unary(op, s).map_or(Known::any(ty), Known::scalar),
        (None, UnaryOp::Neg, Known::Int(lo, hi)) => range(-hi, -lo),
        _ => Known::any(ty),
    }
}

/// `a` as type `ty`.
pub fn convert<'a>(a: Known<'a>, ty: &Ty) -> Known<'a> {
    match a.exact() {
        Some(s) => ops::scalar_convert(s, ty).map_or(Known::any(ty), Known::scalar),
        None if *ty == Ty::Int && matches!(a, Known::Int(..)) => a,
        None => Known::any(ty),
    }
}

/// A mathematical function, the result of type `ty`.
pub fn builtin<'a>(f: Builtin, args: &[Known<'a>], ty: &Ty) -> Known<'a> {
    if let Some(exact) = args.iter().map(|a| a.exact()).collect::<Option<Vec<_>>>() {
        return ops::math::builtin(f, &exact).map_or(Known::any(ty), Known::scalar);
    }
    match (f, args) {
        (Builtin::Min, [Known::Int(a, b), Known::Int(c, d)]) => Known::Int(*a.min(c), *b.min(d)),
        (Builtin::Max, [Known::Int(a, b), Known::Int(c, d)]) => Known::Int(*a.max(c), *b.max(d)),
        _ => Known::any(ty),
    }
}

/// How many items, at least and at most; [`u64::MAX`] is without bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Count {
    /// At least.
    pub lo: u64,
    /// At most.
    pub hi: u64,
}

impl Count {
    /// Exactly so many.
    pub fn exactly(n: u64) -> Count {
        Count { lo: n, hi: n }
    }

    /// One of two.
    pub fn join(self, other: Count) -> Count {
        Count { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The larger of two.
    pub fn max(self, other: Count) -> Count {
        Count { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Both together.
    pub fn plus(self, other: Count) -> Count {
        Count { lo: self.lo.saturating_add(other.lo), hi: self.hi.saturating_add(other.hi) }
    }

    /// So many times.
    pub fn times(self, n: u64) -> Count {
        Count { lo: self.lo.saturating_mul(n), hi: self.hi.saturating_mul(n) }
    }
}
