//! Compile-time values.

use crate::ids::PortalId;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An immutable value known at compile time. Equality and hashing go by bit pattern, so that specialisations
/// with a NaN or a negative zero among their arguments are told apart and found again.
#[derive(Clone, Debug)]
pub enum Const {
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
    /// `float2`, `float3`, `float4`: the first n components.
    Vec(u8, [f32; 4]),
    /// Text.
    Str(Arc<str>),
    /// An array.
    Array(Arc<[Const]>),
    /// A struct's fields in declaration order.
    Struct(Arc<[Const]>),
    /// A portal.
    Portal(PortalId),
}

impl PartialEq for Const {
    fn eq(&self, other: &Const) -> bool {
        use Const::*;
        match (self, other) {
            (Bit(a), Bit(b)) | (Bool(a), Bool(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (Float(a), Float(b)) => a.to_bits() == b.to_bits(),
            (Double(a), Double(b)) => a.to_bits() == b.to_bits(),
            (Complex(a, b), Complex(c, d)) => a.to_bits() == c.to_bits() && b.to_bits() == d.to_bits(),
            (Vec(n, a), Vec(m, b)) => n == m && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Str(a), Str(b)) => a == b,
            (Array(a), Array(b)) | (Struct(a), Struct(b)) => Arc::ptr_eq(a, b) || a == b,
            (Portal(a), Portal(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Const {}

impl Hash for Const {
    fn hash<H: Hasher>(&self, h: &mut H) {
        std::mem::discriminant(self).hash(h);
        match self {
            Const::Bit(b) | Const::Bool(b) => b.hash(h),
            Const::Int(i) => i.hash(h),
            Const::Float(x) => x.to_bits().hash(h),
            Const::Double(x) => x.to_bits().hash(h),
            Const::Complex(a, b) => (a.to_bits(), b.to_bits()).hash(h),
            Const::Vec(n, v) => {
                n.hash(h);
                v.iter().for_each(|x| x.to_bits().hash(h));
            }
            Const::Str(s) => s.hash(h),
            Const::Array(a) | Const::Struct(a) => a.hash(h),
            Const::Portal(p) => p.hash(h),
        }
    }
}
