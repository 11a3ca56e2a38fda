//! # shape
//!
//! Purpose: the numbers that an item is made of, with the names that people know them by. Input: a type. Output: a [`Shape`], which also
//! travels from the process that runs a test to the one that compares.

use crate::io::item::{ItemType, Scalar};
use serde::{Deserialize, Serialize};
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::Globals;

/// Items that mix kinds of numbers, and have more of them than this, are compared byte by byte.
const MOST_PARTS: usize = 4096;

/// What kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `bit`
    Bit,
    /// `boolean`
    Boolean,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `double`
    Double,
    /// A byte of something that is not taken apart.
    Byte,
}

impl Kind {
    /// Does a tolerance in units of the last place apply?
    pub fn is_real(self) -> bool {
        matches!(self, Kind::Float | Kind::Double)
    }

    /// As the formats know it; a byte of something is no number to them.
    pub fn scalar(self) -> Option<Scalar> {
        Some(match self {
            Kind::Bit => Scalar::Bit,
            Kind::Boolean => Scalar::Bool,
            Kind::Int => Scalar::Int,
            Kind::Float => Scalar::F32,
            Kind::Double => Scalar::F64,
            Kind::Byte => return None,
        })
    }

    /// Bytes in an item.
    pub fn bytes(self) -> usize {
        self.scalar().map_or(1, Scalar::bytes)
    }
}

impl From<Scalar> for Kind {
    fn from(scalar: Scalar) -> Kind {
        match scalar {
            Scalar::Bit => Kind::Bit,
            Scalar::Bool => Kind::Boolean,
            Scalar::Int => Kind::Int,
            Scalar::F32 => Kind::Float,
            Scalar::F64 => Kind::Double,
        }
    }
}

/// What an item is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// So many numbers of one kind.
    Plain(Kind, usize),
    /// Two floats, real and imaginary.
    Complex,
    /// Numbers of several kinds, each with its name in the item.
    Mixed(Vec<(String, Kind)>),
    /// So many bytes.
    Bytes(usize),
}

impl Shape {
    /// The shape of a type's items.
    pub fn of(ty: &Ty, item: &ItemType, globals: &Globals) -> Shape {
        if *ty == Ty::Complex {
            return Shape::Complex;
        }
        if let Some(scalar) = item.scalar {
            return Shape::Plain(scalar.into(), item.scalars);
        }
        let mut parts = Vec::new();
        match parts_of(ty, globals, "", &mut parts) {
            Some(()) => Shape::Mixed(parts),
            None => Shape::Bytes(item.bytes),
        }
    }

    /// Numbers in an item.
    pub fn parts(&self) -> usize {
        match self {
            Shape::Plain(_, n) | Shape::Bytes(n) => *n,
            Shape::Complex => 2,
            Shape::Mixed(parts) => parts.len(),
        }
    }

    /// What kind of number a part is.
    pub fn kind(&self, part: usize) -> Kind {
        match self {
            Shape::Plain(kind, _) => *kind,
            Shape::Complex => Kind::Float,
            Shape::Mixed(parts) => parts.get(part).map_or(Kind::Byte, |p| p.1),
            Shape::Bytes(_) => Kind::Byte,
        }
    }

    /// What a part is called, where an item has several.
    pub fn name(&self, part: usize) -> String {
        match self {
            Shape::Plain(_, 1) => String::new(),
            Shape::Complex => [".real", ".imag"][part.min(1)].to_string(),
            Shape::Mixed(parts) => parts.get(part).map_or_else(String::new, |p| p.0.clone()),
            Shape::Plain(..) => format!("[{part}]"),
            Shape::Bytes(_) => format!(" byte {part}"),
        }
    }

    /// Bytes of an item in a raw file, where they are whole bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Shape::Mixed(parts) => parts.iter().map(|p| p.1.bytes()).sum(),
            _ => self.kind(0).bytes() * self.parts(),
        }
    }
}

fn parts_of(ty: &Ty, globals: &Globals, name: &str, out: &mut Vec<(String, Kind)>) -> Option<()> {
    let kind = match ty {
        Ty::Bit => Kind::Bit,
        Ty::Bool => Kind::Boolean,
        Ty::Int => Kind::Int,
        Ty::Float => Kind::Float,
        Ty::Double => Kind::Double,
        Ty::Complex => {
            for part in [".real", ".imag"] {
                out.push((format!("{name}{part}"), Kind::Float));
            }
            return (out.len() <= MOST_PARTS).then_some(());
        }
        Ty::Vec(n) => {
            for part in [".x", ".y", ".z", ".w"].iter().take(usize::from(*n)) {
                out.push((format!("{name}{part}"), Kind::Float));
            }
            return (out.len() <= MOST_PARTS).then_some(());
        }
        Ty::Array(element, Dim::Known(n)) => {
            return (0..*n).try_for_each(|i| parts_of(element, globals, &format!("{name}[{i}]"), out));
        }
        Ty::Struct(id) => {
            let fields = &globals.structs.get(id.index())?.fields;
            return fields.iter().try_for_each(|(f, ty)| parts_of(ty, globals, &format!("{name}.{f}"), out));
        }
        _ => return None,
    };
    out.push((name.to_string(), kind));
    (out.len() <= MOST_PARTS).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::ids::StructId;
    use sluice_frontend::typed::StructDef;

    #[test]
    fn parts_have_names() {
        let span = sluice_grammar::span::Span::default();
        let mut globals = Globals::default();
        let fields = vec![("on".into(), Ty::Bool), ("at".into(), Ty::Complex.array(2)), ("n".into(), Ty::Int)];
        globals.structs.push(StructDef { name: "S".into(), fields, span });
        let shape = |ty: &Ty| Shape::of(ty, &ItemType::of(ty, &globals).unwrap(), &globals);
        let mixed = shape(&Ty::Struct(StructId(0)));
        let names: Vec<String> = (0..mixed.parts()).map(|i| mixed.name(i)).collect();
        assert_eq!(names, [".on", ".at[0].real", ".at[0].imag", ".at[1].real", ".at[1].imag", ".n"]);
        assert_eq!((mixed.bytes(), mixed.kind(5), mixed.kind(0)), (21, Kind::Int, Kind::Boolean));
        assert_eq!(shape(&Ty::Float.array(3)), Shape::Plain(Kind::Float, 3));
        assert_eq!(shape(&Ty::Complex), Shape::Complex);
        assert_eq!(shape(&Ty::Struct(StructId(0)).array(1000)), Shape::Bytes(21_000));
        let text = serde_json::to_string(&mixed).unwrap();
        assert_eq!(serde_json::from_str::<Shape>(&text).unwrap(), mixed);
    }
}
