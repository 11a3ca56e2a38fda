//! Items as bytes, at the ends of a program.
//!
//! Takes and gives [`Value`]s. An item is its scalars one after the other, little-endian, without padding: bit and boolean one byte
//! (0 or 1), int and float 4, double 8, complex the real and the imaginary part, vectors and arrays by element, structs by
//! field. (Files pack bits eight to a byte; that is the host's work.) A NaN is written as 0x7fc00000 or 0x7ff8000000000000.

use sluice_frontend::eval::{Items, Value};
use sluice_frontend::ops::Scalar;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::Globals;

/// Bytes of an item; `None` for a type whose values have none.
pub fn size(ty: &Ty, globals: &Globals) -> Option<usize> {
    Some(match ty {
        Ty::Bit | Ty::Bool => 1,
        Ty::Int | Ty::Float => 4,
        Ty::Double | Ty::Complex => 8,
        Ty::Vec(n) => 4 * usize::from(*n),
        Ty::Array(elem, Dim::Known(n)) => size(elem, globals)?.checked_mul(*n as usize)?,
        Ty::Struct(id) => {
            let mut sum: usize = 0;
            for (_, t) in &globals.structs.get(id.index())?.fields {
                sum = sum.checked_add(size(t, globals)?)?;
            }
            sum
        }
        Ty::Array(_, Dim::Unknown) | Ty::Void | Ty::Str | Ty::Portal(_) | Ty::Error => return None,
    })
}

/// The item of type `ty` at the start of `bytes`, which loses it. `None` where there are too few bytes.
pub fn decode(ty: &Ty, bytes: &mut &[u8], globals: &Globals) -> Option<Value> {
    fn float(bytes: &mut &[u8]) -> Option<f32> {
        take(bytes).map(f32::from_le_bytes)
    }
    Some(match ty {
        Ty::Bit => Value::Scalar(Scalar::Bit(take::<1>(bytes)? != [0])),
        Ty::Bool => Value::Scalar(Scalar::Bool(take::<1>(bytes)? != [0])),
        Ty::Int => Value::Scalar(Scalar::Int(i32::from_le_bytes(take(bytes)?))),
        Ty::Float => Value::Scalar(Scalar::Float(float(bytes)?)),
        Ty::Double => Value::Scalar(Scalar::Double(f64::from_le_bytes(take(bytes)?))),
        Ty::Complex => {
            let re = float(bytes)?;
            Value::Scalar(Scalar::Complex(re, float(bytes)?))
        }
        Ty::Vec(n) => {
            let mut v = [0.0; 4];
            for x in v.iter_mut().take((*n).into()) {
                *x = float(bytes)?;
            }
            Value::Scalar(Scalar::Vec(*n, v))
        }
        Ty::Array(elem, Dim::Known(n)) => {
            let n = *n as usize;
            let mut each = |_| decode(elem, bytes, globals);
            macro_rules! typed {
                ($kind:ident, $items:ident) => {
                    Items::$items(
                        (0..n)
                            .map(|i| match each(i) {
                                Some(Value::Scalar(Scalar::$kind(x))) => Some(x),
                                _ => None,
                            })
                            .collect::<Option<_>>()?,
                    )
                };
            }
            // the element kinds that arrays of the evaluator store densely
            Value::array(match **elem {
                Ty::Bit => typed!(Bit, Bits),
                Ty::Bool => typed!(Bool, Bools),
                Ty::Int => typed!(Int, Ints),
                Ty::Float => typed!(Float, Floats),
                Ty::Double => typed!(Double, Doubles),
                _ => Items::Any((0..n).map(each).collect::<Option<_>>()?),
            })
        }
        Ty::Struct(id) => {
            let fields = &globals.structs.get(id.index())?.fields;
            Value::structure(fields.iter().map(|(_, t)| decode(t, bytes, globals)).collect::<Option<_>>()?)
        }
        Ty::Array(_, Dim::Unknown) | Ty::Void | Ty::Str | Ty::Portal(_) | Ty::Error => return None,
    })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

/// Appends the bytes of a value. False for a value that has none.
pub fn encode(value: &Value, out: &mut Vec<u8>) -> bool {
    match value {
        Value::Scalar(s) => encode_scalar(*s, out),
        Value::Array(a) | Value::Struct(a) => match &*a.borrow() {
            Items::Bits(v) | Items::Bools(v) => out.extend(v.iter().map(|b| u8::from(*b))),
            Items::Ints(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
            Items::Floats(v) => v.iter().for_each(|x| float(*x, out)),
            Items::Doubles(v) => v.iter().for_each(|x| double(*x, out)),
            Items::Any(v) => return v.iter().all(|x| encode(x, out)),
        },
        Value::Void | Value::Str(_) | Value::Portal(_) => return false,
    }
    true
}

fn encode_scalar(s: Scalar, out: &mut Vec<u8>) {
    match s {
        Scalar::Bit(b) | Scalar::Bool(b) => out.push(b.into()),
        Scalar::Int(i) => out.extend(i.to_le_bytes()),
        Scalar::Float(x) => float(x, out),
        Scalar::Double(x) => double(x, out),
        Scalar::Complex(re, im) => {
            float(re, out);
            float(im, out);
        }
        Scalar::Vec(n, v) => v.iter().take(n.into()).for_each(|x| float(*x, out)),
    }
}

fn float(x: f32, out: &mut Vec<u8>) {
    let bits = if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() };
    out.extend(bits.to_le_bytes());
}

fn double(x: f64, out: &mut Vec<u8>) {
    let bits = if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() };
    out.extend(bits.to_le_bytes());
}
