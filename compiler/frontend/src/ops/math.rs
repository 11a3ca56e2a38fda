//! Mathematical functions of scalars.
//!
//! Input: a function and its arguments, of one type. Output: the result, or `None` where the function is not defined for the
//! type.
//!
//! - float: the C library's single-precision functions (`sinf`, `powf`, ...); double: the double-precision ones. `abs` is
//!   `fabsf`, `floor ceil sqrt` are exact anyway, `round` is `roundf` (half away from zero), `rint` is `rintf` (half to even).
//! - `min(a, b)` is `(b < a || a != a) ? b : a`, `max(a, b)` is `(b > a || a != a) ? b : a`: a NaN gives the other operand, and
//!   of two zeros the first one is taken. On int the same without NaN; `abs` of int wraps.
//! - complex z = a+bi, each operation rounded to float:
//!   - `abs` = sqrtf(a\*a + b\*b); `arg` = atan2f(b, a)
//!   - `exp`: e = expf(a); (e \* cosf(b)) + (e \* sinf(b))i
//!   - `log`: logf(abs(z)) + atan2f(b, a)i
//!   - `sin`: (sinf(a) \* coshf(b)) + (cosf(a) \* sinhf(b))i
//!   - `cos`: (cosf(a) \* coshf(b)) + (-(sinf(a) \* sinhf(b)))i
//!   - `sqrt`: t = sqrtf((abs(z) + fabsf(a)) \* 0.5f); if t == 0: 0 + bi; else if a >= 0: t + (b / (t + t))i; else
//!     (fabsf(b) / (t + t)) + copysignf(t, b)i

use super::Scalar;
use crate::cmath as c;
use crate::typed::Builtin;

/// `f(args)`.
pub fn builtin(f: Builtin, args: &[Scalar]) -> Option<Scalar> {
    Some(match *args {
        [Scalar::Float(x)] => Scalar::Float(float(f, x)?),
        [Scalar::Float(x), Scalar::Float(y)] => Scalar::Float(float2(f, x, y)?),
        [Scalar::Int(x)] => match f {
            Builtin::Abs => Scalar::Int(x.wrapping_abs()),
            _ => return None,
        },
        [Scalar::Int(x), Scalar::Int(y)] => match f {
            Builtin::Min => Scalar::Int(x.min(y)),
            Builtin::Max => Scalar::Int(x.max(y)),
            _ => return None,
        },
        [Scalar::Double(x)] => Scalar::Double(double(f, x)?),
        [Scalar::Double(x), Scalar::Double(y)] => Scalar::Double(double2(f, x, y)?),
        [Scalar::Complex(a, b)] => complex(f, a, b)?,
        _ => return None,
    })
}

fn float(f: Builtin, x: f32) -> Option<f32> {
    Some(match f {
        Builtin::Abs => x.abs(),
        Builtin::Acos => c::acosf(x),
        Builtin::Acosh => c::acoshf(x),
        Builtin::Asin => c::asinf(x),
        Builtin::Asinh => c::asinhf(x),
        Builtin::Atan => c::atanf(x),
        Builtin::Atanh => c::atanhf(x),
        Builtin::Ceil => x.ceil(),
        Builtin::Cos => c::cosf(x),
        Builtin::Cosh => c::coshf(x),
        Builtin::Exp => c::expf(x),
        Builtin::Expm1 => c::expm1f(x),
        Builtin::Floor => x.floor(),
        Builtin::Log => c::logf(x),
        Builtin::Log10 => c::log10f(x),
        Builtin::Rint => x.round_ties_even(),
        Builtin::Round => x.round(),
        Builtin::Sin => c::sinf(x),
        Builtin::Sinh => c::sinhf(x),
        Builtin::Sqrt => x.sqrt(),
        Builtin::Tan => c::tanf(x),
        Builtin::Tanh => c::tanhf(x),
        Builtin::Arg | Builtin::Atan2 | Builtin::Fmod | Builtin::Max | Builtin::Min | Builtin::Pow => return None,
    })
}

fn double(f: Builtin, x: f64) -> Option<f64> {
    Some(match f {
        Builtin::Abs => x.abs(),
        Builtin::Acos => c::acos(x),
        Builtin::Acosh => c::acosh(x),
        Builtin::Asin => c::asin(x),
        Builtin::Asinh => c::asinh(x),
        Builtin::Atan => c::atan(x),
        Builtin::Atanh => c::atanh(x),
        Builtin::Ceil => x.ceil(),
        Builtin::Cos => c::cos(x),
        Builtin::Cosh => c::cosh(x),
        Builtin::Exp => c::exp(x),
        Builtin::Expm1 => c::expm1(x),
        Builtin::Floor => x.floor(),
        Builtin::Log => c::log(x),
        Builtin::Log10 => c::log10(x),
        Builtin::Rint => x.round_ties_even(),
        Builtin::Round => x.round(),
        Builtin::Sin => c::sin(x),
        Builtin::Sinh => c::sinh(x),
        Builtin::Sqrt => x.sqrt(),
        Builtin::Tan => c::tan(x),
        Builtin::Tanh => c::tanh(x),
        Builtin::Arg | Builtin::Atan2 | Builtin::Fmod | Builtin::Max | Builtin::Min | Builtin::Pow => return None,
    })
}

fn float2(f: Builtin, x: f32, y: f32) -> Option<f32> {
    Some(match f {
        Builtin::Atan2 => c::atan2f(x, y),
        Builtin::Fmod => c::fmodf(x, y),
        Builtin::Pow => c::powf(x, y),
        Builtin::Min => {
            if y < x || x.is_nan() {
                y
            } else {
                x
            }
        }
        Builtin::Max => {
            if y > x || x.is_nan() {
                y
            } else {
                x
            }
        }
        _ => return None,
    })
}

fn double2(f: Builtin, x: f64, y: f64) -> Option<f64> {
    Some(match f {
        Builtin::Atan2 => c::atan2(x, y),
        Builtin::Fmod => c::fmod(x, y),
        Builtin::Pow => c::pow(x, y),
        Builtin::Min => {
            if y < x || x.is_nan() {
                y
            } else {
                x
            }
        }
        Builtin::Max => {
            if y > x || x.is_nan() {
                y
            } else {
                x
            }
        }
        _ => return None,
    })
}

fn complex(f: Builtin, a: f32, b: f32) -> Option<Scalar> {
    let abs = || (a * a + b * b).sqrt();
    Some(match f {
        Builtin::Abs => Scalar::Float(abs()),
        Builtin::Arg => Scalar::Float(c::atan2f(b, a)),
        Builtin::Exp => {
            let e = c::expf(a);
            Scalar::Complex(e * c::cosf(b), e * c::sinf(b))
        }
        Builtin::Log => Scalar::Complex(c::logf(abs()), c::atan2f(b, a)),
        Builtin::Sin => Scalar::Complex(c::sinf(a) * c::coshf(b), c::cosf(a) * c::sinhf(b)),
        Builtin::Cos => Scalar::Complex(c::cosf(a) * c::coshf(b), -(c::sinf(a) * c::sinhf(b))),
        Builtin::Sqrt => {
            let t = ((abs() + a.abs()) * 0.5).sqrt();
            if t == 0.0 {
                Scalar::Complex(0.0, b)
            } else if a >= 0.0 {
                Scalar::Complex(t, b / (t + t))
            } else {
                Scalar::Complex(b.abs() / (t + t), t.copysign(b))
            }
        }
        _ => return None,
    })
}
