//! The types of generated programs, and how their values are written.

use super::random::Random;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// No items.
    Void,
    /// `bit`
    Bit,
    /// `boolean`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `complex`
    Complex,
    /// `float2` to `float4`
    Vec(u8),
    /// An array.
    Array(Box<Ty>, u32),
    /// A struct, by number.
    Struct(usize),
}

/// A struct: its fields are `f0`, `f1`, ...
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Its fields' types.
    pub fields: Vec<Ty>,
}

/// All types that are one number or a few.
pub const SCALARS: [Ty; 9] =
    [Ty::Int, Ty::Float, Ty::Bit, Ty::Bool, Ty::Double, Ty::Complex, Ty::Vec(2), Ty::Vec(3), Ty::Vec(4)];

impl Ty {
    /// An array of this.
    pub fn array(self, n: u32) -> Ty {
        Ty::Array(Box::new(self), n)
    }

    /// int, float and what converts to them and back.
    pub fn is_real(&self) -> bool {
        matches!(self, Ty::Bit | Ty::Bool | Ty::Int | Ty::Float | Ty::Double)
    }

    /// Arrays and structs.
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Ty::Array(..) | Ty::Struct(_))
    }

    /// As it is written.
    pub fn text(&self, structs: &[Struct]) -> String {
        self.text_sized(structs, &mut |n| n.to_string())
    }

    /// As it is written, sizes of arrays in these words.
    pub fn text_sized(&self, structs: &[Struct], size: &mut dyn FnMut(u32) -> String) -> String {
        match self {
            Ty::Void => "void".into(),
            Ty::Bit => "bit".into(),
            Ty::Bool => "boolean".into(),
            Ty::Int => "int".into(),
            Ty::Float => "float".into(),
            Ty::Double => "double".into(),
            Ty::Complex => "complex".into(),
            Ty::Vec(n) => format!("float{n}"),
            Ty::Struct(i) => structs[*i].name.clone(),
            Ty::Array(..) => {
                let (mut t, mut dims) = (self, String::new());
                while let Ty::Array(e, n) = t {
                    dims += &format!("[{}]", size(*n));
                    t = e;
                }
                t.text(structs) + &dims
            }
        }
    }

    /// The sizes of an array.
    pub fn sizes(&self) -> Vec<u32> {
        match self {
            Ty::Array(e, n) => [vec![*n], e.sizes()].concat(),
            _ => Vec::new(),
        }
    }

    /// How many numbers a value has.
    pub fn size(&self, structs: &[Struct]) -> u32 {
        match self {
            Ty::Void => 0,
            Ty::Complex => 2,
            Ty::Vec(n) => u32::from(*n),
            Ty::Array(e, n) => e.size(structs) * n,
            Ty::Struct(i) => structs[*i].fields.iter().map(|f| f.size(structs)).sum(),
            _ => 1,
        }
    }

    /// Is a value of type `want` a part of this (or all of it)?
    pub fn holds(&self, want: &Ty, structs: &[Struct]) -> bool {
        self == want
            || match self {
                Ty::Array(e, _) => e.holds(want, structs),
                Ty::Struct(i) => structs[*i].fields.iter().any(|f| f.holds(want, structs)),
                Ty::Complex | Ty::Vec(_) => *want == Ty::Float,
                _ => false,
            }
    }

    /// Types that widen to this one.
    pub fn narrower(&self) -> &'static [Ty] {
        match self {
            Ty::Int => &[Ty::Bit, Ty::Bool],
            Ty::Float => &[Ty::Int, Ty::Int, Ty::Bit, Ty::Bool],
            Ty::Double => &[Ty::Float, Ty::Float, Ty::Int, Ty::Bool],
            Ty::Complex => &[Ty::Float, Ty::Int],
            _ => &[],
        }
    }

    /// Bytes of this type, as they come from a file: small numbers, corners and noise.
    pub fn sample(&self, structs: &[Struct], r: &mut Random, to: &mut Vec<u8>) {
        match self {
            Ty::Void => {}
            Ty::Bit => to.push(r.next() as u8),
            Ty::Bool => to.push(r.below(2) as u8),
            Ty::Int => to.extend(int(r).to_le_bytes()),
            Ty::Float => to.extend(float(r).to_le_bytes()),
            Ty::Double => {
                let x = if r.chance(10) { f64::from_bits(r.next()) } else { f64::from(float(r)) * 1.000_000_001 };
                to.extend(x.to_le_bytes());
            }
            Ty::Complex => (0..2).for_each(|_| to.extend(float(r).to_le_bytes())),
            Ty::Vec(n) => (0..*n).for_each(|_| to.extend(float(r).to_le_bytes())),
            Ty::Array(e, n) => (0..*n).for_each(|_| e.sample(structs, r, to)),
            Ty::Struct(i) => structs[*i].fields.iter().for_each(|f| f.sample(structs, r, to)),
        }
    }
}

/// An int: often small, sometimes a corner, sometimes anything.
pub fn int(r: &mut Random) -> i32 {
    const CORNERS: [i32; 12] =
        [i32::MIN, i32::MAX, i32::MIN + 1, -1, 0, 1, 31, 32, 33, 0xFFFF, 0x1_0000, 0x55AA_55AAu32 as i32];
    match r.below(10) {
        0..=5 => r.below(40) as i32 - 12,
        6 | 7 => *r.pick(&CORNERS),
        8 => r.below(100_000) as i32 - 50_000,
        _ => r.next() as i32,
    }
}

/// A float: often a simple fraction, sometimes a corner, sometimes any bits.
pub fn float(r: &mut Random) -> f32 {
    const CORNERS: [f32; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        2_147_483_648.0,
        -2_147_483_904.0,
        16_777_217.0,
        0.1,
    ];
    match r.below(10) {
        0..=5 => (r.below(200) as f32 - 100.0) / 8.0,
        6 => *r.pick(&CORNERS),
        7 | 8 => (r.next() as i32 as f32) * 1.0e-7,
        _ => f32::from_bits(r.next() as u32),
    }
}

/// An int as it is written.
pub fn int_literal(r: &mut Random) -> String {
    match r.below(16) {
        0 => format!("0x{:X}", r.next() as u32),
        1 => ["'a'", "'\\n'", "'\\0'", "'\\''", "'\\101'"][r.index(5)].into(),
        2 => "-2147483648".into(),
        _ => int(r).to_string(),
    }
}

/// A float as it is written.
pub fn float_literal(r: &mut Random) -> String {
    const CORNERS: [&str; 12] = [
        "0.0",
        "-0.0",
        "1e10",
        "3.4e38",
        "1.5f",
        "1e-40",
        "1.0e-45",
        "pi",
        "0.1",
        "16777217.0",
        "2147483648.0",
        "2.5E-3",
    ];
    match r.below(5) {
        0 => (*r.pick(&CORNERS)).into(),
        1 => format!("{}.{}", r.below(1000), r.below(1000)),
        _ => format!("{:?}", (r.below(160) as f32 - 40.0) / 8.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_measures() {
        let s = [Struct { name: "P".into(), fields: vec![Ty::Int, Ty::Complex.array(3)] }];
        let t = Ty::Struct(0).array(2).array(4);
        assert_eq!(t.text(&s), "P[4][2]");
        assert_eq!(t.size(&s), 56);
        assert!(t.holds(&Ty::Float, &s) && t.holds(&Ty::Int, &s) && !t.holds(&Ty::Double, &s));
        let mut bytes = Vec::new();
        t.sample(&s, &mut Random::new(1), &mut bytes);
        assert_eq!(bytes.len(), 56 * 4);
    }
}
