//! Types with their array sizes evaluated.

use crate::ids::{DeclId, StructId};
use std::sync::Arc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// No value.
    Void,
    /// One bit.
    Bit,
    /// `boolean`
    Bool,
    /// 32-bit, wraps.
    Int,
    /// IEEE single.
    Float,
    /// IEEE double.
    Double,
    /// Two floats.
    Complex,
    /// `float2`, `float3`, `float4`: the number of components.
    Vec(u8),
    /// Text, only in `print`.
    Str,
    /// An array: element type and size.
    Array(Arc<Ty>, Dim),
    /// A struct.
    Struct(StructId),
    /// A portal to filters of a declaration.
    Portal(DeclId),
    /// The type of something already reported as wrong; it clashes with nothing.
    Error,
}

/// The size of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// Known number of elements.
    Known(u32),
    /// Depends on a parameter of a stream that is checked without arguments; never in a [`crate::typed::FilterCode`].
    Unknown,
}

impl Ty {
    /// An array of `n` elements of this type.
    pub fn array(self, n: u32) -> Ty {
        Ty::Array(Arc::new(self), Dim::Known(n))
    }

    /// int, bit or boolean, float, double.
    pub fn is_real_number(&self) -> bool {
        matches!(self, Ty::Bit | Ty::Bool | Ty::Int | Ty::Float | Ty::Double)
    }

    /// Arrays and structs: values made of several.
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Ty::Array(..) | Ty::Struct(_))
    }

    /// The element type of an array.
    pub fn element(&self) -> Option<&Ty> {
        match self {
            Ty::Array(e, _) => Some(e),
            _ => None,
        }
    }

    /// The number of elements of an array of known size.
    pub fn known_len(&self) -> Option<u32> {
        match self {
            Ty::Array(_, Dim::Known(n)) => Some(*n),
            _ => None,
        }
    }
}
