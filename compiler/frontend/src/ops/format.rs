//! How values print.
//!
//! Input: a scalar or constant. Output: its text. int in decimal; float and double as C's `%f` (a float widened to double), with
//! `nan` for every NaN and `inf`, `-inf`; boolean `true`, `false`; bit `0`, `1`; complex `%f%+fi`; a vector `(%f, %f)`.

use super::Scalar;
use crate::constant::Const;
use std::fmt::Write;

/// Appends the text of a scalar.
pub fn write_scalar(out: &mut String, s: Scalar) {
    // writing to a String cannot fail
    let _ = match s {
        Scalar::Bit(b) => out.write_str(if b { "1" } else { "0" }),
        Scalar::Bool(b) => out.write_str(if b { "true" } else { "false" }),
        Scalar::Int(i) => write!(out, "{i}"),
        Scalar::Float(x) => return write_real(out, x.into()),
        Scalar::Double(x) => return write_real(out, x),
        Scalar::Complex(re, im) => {
            write_real(out, re.into());
            if im.is_nan() || im.is_sign_positive() {
                out.push('+');
            }
            write_real(out, im.into());
            out.write_char('i')
        }
        Scalar::Vec(n, v) => {
            out.push('(');
            for (i, x) in v.iter().take(n.into()).enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_real(out, f64::from(*x));
            }
            out.write_char(')')
        }
    };
}

/// Appends C's `%f` of a number, except that a NaN has no sign.
pub fn write_real(out: &mut String, x: f64) {
    if x.is_nan() {
        out.push_str("nan");
    } else if x.is_infinite() {
        out.push_str(if x < 0.0 { "-inf" } else { "inf" });
    } else {
        let _ = write!(out, "{x:.6}");
    }
}

/// The text of a scalar constant, or of text itself; other constants have none.
pub fn text(c: &Const) -> Option<String> {
    if let Const::Str(s) = c {
        return Some(s.to_string());
    }
    let mut out = String::new();
    write_scalar(&mut out, Scalar::of(c)?);
    Some(out)
}
