//! The items at an end of a program: what a type looks like as bytes.
//!
//! Inside the process an item is its scalars one after the other, little-endian and without padding; a bit or a boolean is
//! one byte that is 0 or 1. In a raw file streams of bits are packed, eight to a byte, the first in the most significant.

use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::Globals;

/// The kinds of numbers that items are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `bit`
    Bit,
    /// `boolean`
    Bool,
    /// `int`
    Int,
    /// `float`
    F32,
    /// `double`
    F64,
}

impl Scalar {
    /// Bytes inside the process.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Bit | Scalar::Bool => 1,
            Scalar::Int | Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }

    /// Float or double?
    pub fn is_real(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }
}

/// The type of the items at an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemType {
    /// The type as written in programs.
    pub name: String,
    /// How many scalars an item has.
    pub scalars: usize,
    /// Their kind, where all have the same.
    pub scalar: Option<Scalar>,
    /// Bytes of an item inside the process.
    pub bytes: usize,
    /// Offsets of its bits and booleans, whose bytes must be 0 or 1.
    pub flags: Vec<usize>,
}

impl ItemType {
    /// What a type looks like; `None` for a type without values, or one too large to have bytes.
    pub fn of(ty: &Ty, globals: &Globals) -> Option<ItemType> {
        let mut item = ItemType { name: name(ty, globals), scalars: 0, scalar: None, bytes: 0, flags: Vec::new() };
        let mut kinds = Vec::new();
        item.add(ty, globals, &mut kinds)?;
        if let [only] = kinds[..] {
            item.scalar = Some(only);
        }
        if item.scalar.is_some_and(|s| !matches!(s, Scalar::Bit | Scalar::Bool)) {
            item.flags.clear();
        }
        (item.bytes > 0).then_some(item)
    }

    fn add(&mut self, ty: &Ty, globals: &Globals, kinds: &mut Vec<Scalar>) -> Option<()> {
        let (scalar, times) = match ty {
            Ty::Bit => (Scalar::Bit, 1),
            Ty::Bool => (Scalar::Bool, 1),
            Ty::Int => (Scalar::Int, 1),
            Ty::Float => (Scalar::F32, 1),
            Ty::Double => (Scalar::F64, 1),
            Ty::Complex => (Scalar::F32, 2),
            Ty::Vec(n) => (Scalar::F32, usize::from(*n)),
            Ty::Array(element, Dim::Known(n)) => {
                let before = (self.scalars, self.bytes, self.flags.len());
                if *n == 0 {
                    return Some(());
                }
                self.add(element, globals, kinds)?;
                let more = *n as usize - 1;
                let (scalars, bytes) = (self.scalars - before.0, self.bytes - before.1);
                let flags: Vec<usize> = self.flags[before.2..].to_vec();
                if flags.len().checked_mul(*n as usize)? > 1 << 24 {
                    return None;
                }
                for i in 1..=more * usize::from(!flags.is_empty()) {
                    self.flags.extend(flags.iter().map(|at| at + i * bytes));
                }
                self.scalars = self.scalars.checked_add(scalars.checked_mul(more)?)?;
                self.bytes = self.bytes.checked_add(bytes.checked_mul(more)?)?;
                return (self.bytes < 1 << 40).then_some(());
            }
            Ty::Struct(id) => {
                for (_, field) in &globals.structs.get(id.index())?.fields {
                    self.add(field, globals, kinds)?;
                }
                return Some(());
            }
            _ => return None,
        };
        if !kinds.contains(&scalar) {
            kinds.push(scalar);
        }
        for _ in 0..times {
            if matches!(scalar, Scalar::Bit | Scalar::Bool) {
                self.flags.push(self.bytes);
            }
            self.scalars += 1;
            self.bytes += scalar.bytes();
        }
        Some(())
    }

    /// Are its raw files packed bits?
    pub fn is_packed(&self) -> bool {
        self.scalar == Some(Scalar::Bit)
    }
}

/// A type as written in programs.
pub fn name(ty: &Ty, globals: &Globals) -> String {
    match ty {
        Ty::Void => "void".into(),
        Ty::Bit => "bit".into(),
        Ty::Bool => "boolean".into(),
        Ty::Int => "int".into(),
        Ty::Float => "float".into(),
        Ty::Double => "double".into(),
        Ty::Complex => "complex".into(),
        Ty::Vec(n) => format!("float{n}"),
        Ty::Str => "string".into(),
        Ty::Array(..) => {
            let (mut base, mut dims) = (ty, String::new());
            while let Ty::Array(element, dim) = base {
                match dim {
                    Dim::Known(n) => dims.push_str(&format!("[{n}]")),
                    Dim::Unknown => dims.push_str("[?]"),
                }
                base = element;
            }
            format!("{}{dims}", name(base, globals))
        }
        Ty::Struct(id) => globals.structs.get(id.index()).map_or_else(|| "struct".into(), |s| s.name.to_string()),
        Ty::Portal(..) => "portal".into(),
        Ty::Error => "?".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::ids::StructId;
    use sluice_frontend::typed::StructDef;

    #[test]
    fn layouts() {
        let span = sluice_grammar::span::Span::default();
        let mut globals = Globals::default();
        let fields = vec![("a".into(), Ty::Bool), ("b".into(), Ty::Double)];
        globals.structs.push(StructDef { name: "S".into(), fields, span });
        let of = |ty: Ty| ItemType::of(&ty, &globals).unwrap();
        assert_eq!((of(Ty::Complex).scalars, of(Ty::Complex).bytes, of(Ty::Complex).scalar), (2, 8, Some(Scalar::F32)));
        let rows = of(Ty::Int.array(3).array(2));
        assert_eq!((rows.name.as_str(), rows.scalars, rows.bytes), ("int[2][3]", 6, 24));
        let structs = of(Ty::Struct(StructId(0)).array(3));
        assert_eq!((structs.scalar, structs.bytes, structs.flags), (None, 27, vec![0, 9, 18]));
        assert!(of(Ty::Bit.array(4)).is_packed());
        assert!(ItemType::of(&Ty::Void, &globals).is_none());
        assert!(ItemType::of(&Ty::Int.array(u32::MAX).array(u32::MAX), &globals).is_none());
    }
}
