//! # ops
//!
//! Purpose: the one definition of what scalar operations compute. Input: [`Scalar`]s (or [`Const`]s that are scalars).
//! Output: the result; `None` where an operation does not apply to the types (never in checked code).
//! Who computes the same elsewhere (generated C, CUDA) must mirror these formulas operation by operation, without contraction,
//! re-association, excess precision, or compile-time folding of library functions.
//!
//! - int: `+ - *` and negation wrap. `a / b` truncates, `a % b` takes a's sign; b = 0 is an error; `INT_MIN / -1` is `INT_MIN`,
//!   `INT_MIN % -1` is 0. `a << n` and `a >> n` (arithmetic) use `n & 31`.
//! - float, double: IEEE operations in their own precision. Comparisons with a NaN are false, but `!=` is true.
//! - complex, x = a+bi, y = c+di, every operation rounded to float:
//!   - x + y = (a+c) + (b+d)i, x - y = (a-c) + (b-d)i, -x = (-a) + (-b)i
//!   - x * y = (a\*c - b\*d) + (a\*d + b\*c)i
//!   - x / y: n = c\*c + d\*d; ((a\*c + b\*d) / n) + ((b\*c - a\*d) / n)i
//!   - x == y: a == c and b == d; x != y is its negation.
//! - vectors: component by component; a float becomes a vector with all components equal to it.
//! - bit, boolean: `& | ^ == !=`; `~` of a bit is its complement, `!` of a boolean.
//! - Conversions: to int from float and double truncates, saturates, NaN gives 0; to boolean is `x != 0` (true for NaN); to bit
//!   is the lowest bit of `(int)x` (of a boolean: itself); to complex is x + 0i through float.
//! - Mathematical functions: see [`math`]. Text: see [`format`].

pub mod format;
pub mod math;

use crate::constant::Const;
use crate::ty::Ty;
use crate::typed::{BinaryOp, Builtin, UnaryOp};

/// A value that operators work on.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// `bit`
    Bit(bool),
    /// `boolean`
    Bool(bool),
    /// `int`
    Int(i32),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `complex`: real and imaginary part.
    Complex(f32, f32),
    /// `float2`, `float3`, `float4`: the first n components; the others are 0.
    Vec(u8, [f32; 4]),
}

/// An int was divided by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivisionByZero;

impl Scalar {
    /// The scalar in a constant.
    pub fn of(c: &Const) -> Option<Scalar> {
        Some(match c {
            Const::Bit(b) => Scalar::Bit(*b),
            Const::Bool(b) => Scalar::Bool(*b),
            Const::Int(i) => Scalar::Int(*i),
            Const::Float(x) => Scalar::Float(*x),
            Const::Double(x) => Scalar::Double(*x),
            Const::Complex(a, b) => Scalar::Complex(*a, *b),
            Const::Vec(n, v) => Scalar::Vec(*n, *v),
            Const::Str(_) | Const::Array(_) | Const::Struct(_) | Const::Portal(_) => return None,
        })
    }

    /// As a constant.
    pub fn into_const(self) -> Const {
        match self {
            Scalar::Bit(b) => Const::Bit(b),
            Scalar::Bool(b) => Const::Bool(b),
            Scalar::Int(i) => Const::Int(i),
            Scalar::Float(x) => Const::Float(x),
            Scalar::Double(x) => Const::Double(x),
            Scalar::Complex(a, b) => Const::Complex(a, b),
            Scalar::Vec(n, v) => Const::Vec(n, v),
        }
    }

    /// Its type.
    pub fn ty(self) -> Ty {
        match self {
            Scalar::Bit(_) => Ty::Bit,
            Scalar::Bool(_) => Ty::Bool,
            Scalar::Int(_) => Ty::Int,
            Scalar::Float(_) => Ty::Float,
            Scalar::Double(_) => Ty::Double,
            Scalar::Complex(..) => Ty::Complex,
            Scalar::Vec(n, _) => Ty::Vec(n),
        }
    }

    /// The zero of a scalar type.
    pub fn zero(ty: &Ty) -> Option<Scalar> {
        Some(match ty {
            Ty::Bit => Scalar::Bit(false),
            Ty::Bool => Scalar::Bool(false),
            Ty::Int => Scalar::Int(0),
            Ty::Float => Scalar::Float(0.0),
            Ty::Double => Scalar::Double(0.0),
            Ty::Complex => Scalar::Complex(0.0, 0.0),
            Ty::Vec(n) if (2..=4).contains(n) => Scalar::Vec(*n, [0.0; 4]),
            _ => return None,
        })
    }

    /// `c.real` (0), `c.imag` (1), `v.x` (0) to `v.w` (3).
    pub fn component(self, i: u8) -> Option<f32> {
        match self {
            Scalar::Complex(re, im) => [re, im].get(usize::from(i)).copied(),
            Scalar::Vec(n, v) if i < n => v.get(usize::from(i)).copied(),
            _ => None,
        }
    }

    /// The same with one component replaced.
    pub fn with_component(self, i: u8, x: f32) -> Option<Scalar> {
        match (self, i) {
            (Scalar::Complex(_, im), 0) => Some(Scalar::Complex(x, im)),
            (Scalar::Complex(re, _), 1) => Some(Scalar::Complex(re, x)),
            (Scalar::Vec(n, mut v), i) if i < n => {
                *v.get_mut(usize::from(i))? = x;
                Some(Scalar::Vec(n, v))
            }
            _ => None,
        }
    }

    /// A complex number or vector of its components.
    pub fn compose(ty: &Ty, parts: &[f32]) -> Option<Scalar> {
        match (ty, parts) {
            (Ty::Complex, [re, im]) => Some(Scalar::Complex(*re, *im)),
            (Ty::Vec(n), p) if p.len() == usize::from(*n) && p.len() <= 4 => {
                let mut v = [0.0; 4];
                v[..p.len()].copy_from_slice(p);
                Some(Scalar::Vec(*n, v))
            }
            _ => None,
        }
    }
}

/// `a op b` on constants. `Ok(None)` where the operator does not apply, or one is no scalar.
pub fn binary(op: BinaryOp, a: &Const, b: &Const) -> Result<Option<Const>, DivisionByZero> {
    match (Scalar::of(a), Scalar::of(b)) {
        (Some(a), Some(b)) => Ok(scalar_binary(op, a, b)?.map(Scalar::into_const)),
        _ => Ok(None),
    }
}

/// `op a` on a constant.
pub fn unary(op: UnaryOp, a: &Const) -> Option<Const> {
    Some(scalar_unary(op, Scalar::of(a)?)?.into_const())
}

/// A constant as another type: any widening or cast of scalars; other constants only as what they are.
pub fn convert(c: &Const, to: &Ty) -> Option<Const> {
    match (c, to) {
        (Const::Str(_), Ty::Str) | (Const::Portal(_), Ty::Portal(_)) => Some(c.clone()),
        _ => Some(scalar_convert(Scalar::of(c)?, to)?.into_const()),
    }
}

/// A mathematical function of constants.
pub fn builtin(f: Builtin, args: &[Const]) -> Option<Const> {
    let args: Option<Vec<Scalar>> = args.iter().map(Scalar::of).collect();
    Some(math::builtin(f, &args?)?.into_const())
}

/// `a op b`; both of one type, but for a real number that multiplies or divides a complex one.
#[inline]
pub fn scalar_binary(op: BinaryOp, a: Scalar, b: Scalar) -> Result<Option<Scalar>, DivisionByZero> {
    Ok(match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => return int(op, a, b),
        (Scalar::Float(a), Scalar::Float(b)) => float(op, a, b),
        (Scalar::Double(a), Scalar::Double(b)) => double(op, a, b),
        (Scalar::Bool(a), Scalar::Bool(b)) => truth(op, a, b, Scalar::Bool),
        (Scalar::Bit(a), Scalar::Bit(b)) => truth(op, a, b, Scalar::Bit),
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => complex(op, (a, b), (c, d)),
        (Scalar::Complex(a, b), Scalar::Float(x)) if op == BinaryOp::Mul => Some(Scalar::Complex(a * x, b * x)),
        (Scalar::Complex(a, b), Scalar::Float(x)) if op == BinaryOp::Div => Some(Scalar::Complex(a / x, b / x)),
        (Scalar::Float(x), Scalar::Complex(a, b)) if op == BinaryOp::Mul => Some(Scalar::Complex(x * a, x * b)),
        (Scalar::Vec(n, a), Scalar::Vec(m, b)) if n == m => vector(op, n, a, b),
        _ => None,
    })
}

#[inline]
fn int(op: BinaryOp, a: i32, b: i32) -> Result<Option<Scalar>, DivisionByZero> {
    use BinaryOp::*;
    if b == 0 && matches!(op, Div | Rem) {
        return Err(DivisionByZero);
    }
    Ok(Some(match op {
        Add => Scalar::Int(a.wrapping_add(b)),
        Sub => Scalar::Int(a.wrapping_sub(b)),
        Mul => Scalar::Int(a.wrapping_mul(b)),
        Div => Scalar::Int(a.wrapping_div(b)),
        Rem => Scalar::Int(a.wrapping_rem(b)),
        Shl => Scalar::Int(a.wrapping_shl(b as u32)),
        Shr => Scalar::Int(a.wrapping_shr(b as u32)),
        BitAnd => Scalar::Int(a & b),
        BitOr => Scalar::Int(a | b),
        BitXor => Scalar::Int(a ^ b),
        Lt => Scalar::Bool(a < b),
        Le => Scalar::Bool(a <= b),
        Gt => Scalar::Bool(a > b),
        Ge => Scalar::Bool(a >= b),
        Eq => Scalar::Bool(a == b),
        Ne => Scalar::Bool(a != b),
        And | Or => return Ok(None),
    }))
}

macro_rules! real {
    ($name:ident, $t:ty, $wrap:path) => {
        #[inline]
        fn $name(op: BinaryOp, a: $t, b: $t) -> Option<Scalar> {
            use BinaryOp::*;
            Some(match op {
                Add => $wrap(a + b),
                Sub => $wrap(a - b),
                Mul => $wrap(a * b),
                Div => $wrap(a / b),
                Lt => Scalar::Bool(a < b),
                Le => Scalar::Bool(a <= b),
                Gt => Scalar::Bool(a > b),
                Ge => Scalar::Bool(a >= b),
                Eq => Scalar::Bool(a == b),
                Ne => Scalar::Bool(a != b),
                Rem | Shl | Shr | BitAnd | BitOr | BitXor | And | Or => return None,
            })
        }
    };
}

real!(float, f32, Scalar::Float);
real!(double, f64, Scalar::Double);

fn truth(op: BinaryOp, a: bool, b: bool, wrap: fn(bool) -> Scalar) -> Option<Scalar> {
    use BinaryOp::*;
    Some(match op {
        BitAnd => wrap(a & b),
        BitOr => wrap(a | b),
        BitXor => wrap(a ^ b),
        Eq => Scalar::Bool(a == b),
        Ne => Scalar::Bool(a != b),
        And => Scalar::Bool(a && b),
        Or => Scalar::Bool(a || b),
        _ => return None,
    })
}

fn complex(op: BinaryOp, (a, b): (f32, f32), (c, d): (f32, f32)) -> Option<Scalar> {
    use BinaryOp::*;
    Some(match op {
        Add => Scalar::Complex(a + c, b + d),
        Sub => Scalar::Complex(a - c, b - d),
        Mul => Scalar::Complex(a * c - b * d, a * d + b * c),
        Div => {
            let n = c * c + d * d;
            Scalar::Complex((a * c + b * d) / n, (b * c - a * d) / n)
        }
        Eq => Scalar::Bool(a == c && b == d),
        Ne => Scalar::Bool(!(a == c && b == d)),
        _ => return None,
    })
}

fn vector(op: BinaryOp, n: u8, a: [f32; 4], b: [f32; 4]) -> Option<Scalar> {
    let mut out = [0.0; 4];
    for i in 0..usize::from(n.min(4)) {
        out[i] = match op {
            BinaryOp::Add => a[i] + b[i],
            BinaryOp::Sub => a[i] - b[i],
            BinaryOp::Mul => a[i] * b[i],
            BinaryOp::Div => a[i] / b[i],
            _ => return None,
        };
    }
    Some(Scalar::Vec(n, out))
}

/// `op a`.
pub fn scalar_unary(op: UnaryOp, a: Scalar) -> Option<Scalar> {
    Some(match (op, a) {
        (UnaryOp::Neg, Scalar::Int(a)) => Scalar::Int(a.wrapping_neg()),
        (UnaryOp::Neg, Scalar::Float(a)) => Scalar::Float(-a),
        (UnaryOp::Neg, Scalar::Double(a)) => Scalar::Double(-a),
        (UnaryOp::Neg, Scalar::Complex(a, b)) => Scalar::Complex(-a, -b),
        (UnaryOp::Neg, Scalar::Vec(n, v)) => {
            let mut out = [0.0; 4];
            out.iter_mut().zip(v).take(n.into()).for_each(|(o, x)| *o = -x);
            Scalar::Vec(n, out)
        }
        (UnaryOp::Not, Scalar::Bool(a)) => Scalar::Bool(!a),
        (UnaryOp::BitNot, Scalar::Int(a)) => Scalar::Int(!a),
        (UnaryOp::BitNot, Scalar::Bit(a)) => Scalar::Bit(!a),
        _ => return None,
    })
}

/// A scalar as another type.
#[inline]
pub fn scalar_convert(a: Scalar, to: &Ty) -> Option<Scalar> {
    Some(match to {
        Ty::Int => Scalar::Int(match a {
            Scalar::Bit(b) | Scalar::Bool(b) => i32::from(b),
            Scalar::Int(i) => i,
            // `as` truncates, saturates, and makes a NaN 0
            Scalar::Float(x) => x as i32,
            Scalar::Double(x) => x as i32,
            Scalar::Complex(..) | Scalar::Vec(..) => return None,
        }),
        Ty::Float => Scalar::Float(to_float(a)?),
        Ty::Double => Scalar::Double(match a {
            Scalar::Bit(b) | Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => f64::from(i),
            Scalar::Float(x) => f64::from(x),
            Scalar::Double(x) => x,
            Scalar::Complex(..) | Scalar::Vec(..) => return None,
        }),
        Ty::Bool => Scalar::Bool(match a {
            Scalar::Bit(b) | Scalar::Bool(b) => b,
            Scalar::Int(i) => i != 0,
            Scalar::Float(x) => x != 0.0,
            Scalar::Double(x) => x != 0.0,
            Scalar::Complex(..) | Scalar::Vec(..) => return None,
        }),
        Ty::Bit => Scalar::Bit(match a {
            Scalar::Bit(b) | Scalar::Bool(b) => b,
            Scalar::Int(i) => i & 1 != 0,
            Scalar::Float(x) => x as i32 & 1 != 0,
            Scalar::Double(x) => x as i32 & 1 != 0,
            Scalar::Complex(..) | Scalar::Vec(..) => return None,
        }),
        Ty::Complex => match a {
            Scalar::Complex(..) => a,
            _ => Scalar::Complex(to_float(a)?, 0.0),
        },
        Ty::Vec(n) => match a {
            Scalar::Vec(m, _) if m == *n => a,
            Scalar::Vec(..) => return None,
            _ => {
                let x = to_float(a)?;
                Scalar::compose(to, &[x; 4][..usize::from(*n).min(4)])?
            }
        },
        _ => return None,
    })
}

fn to_float(a: Scalar) -> Option<f32> {
    Some(match a {
        Scalar::Bit(b) | Scalar::Bool(b) => f32::from(u8::from(b)),
        Scalar::Int(i) => i as f32,
        Scalar::Float(x) => x,
        Scalar::Double(x) => x as f32,
        Scalar::Complex(..) | Scalar::Vec(..) => return None,
    })
}

#[cfg(test)]
mod tests;
