//! Numbers that the 32 threads of a warp have, as far as they are known, and what instructions make of them.

use super::bits::Bits;

/// Threads of a warp.
pub const LANES: usize = 32;
const LOW: u64 = 0xffff_ffff;

/// A register of all threads of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nobody knows.
    Unknown,
    /// The same for all.
    Same(u64),
    /// Each its own, as far as they are known.
    Each(Box<[Option<u64>; LANES]>),
    /// Some bits, the same for all.
    Some(Bits),
}

impl Value {
    /// That of one thread.
    pub fn lane(&self, lane: usize) -> Option<u64> {
        match self {
            Value::Unknown | Value::Some(_) => None,
            Value::Same(v) => Some(*v),
            Value::Each(all) => all[lane],
        }
    }

    /// What all of them have in common, where it is known.
    pub fn bits(&self) -> Option<Bits> {
        match self {
            Value::Unknown => Some(Bits::NONE),
            Value::Same(v) => Some(Bits::all(*v)),
            Value::Some(bits) => Some(*bits),
            Value::Each(_) => None,
        }
    }

    /// Of all of them.
    pub fn of(all: [Option<u64>; LANES]) -> Value {
        match all[0] {
            first if all.iter().any(|v| *v != first) => Value::Each(Box::new(all)),
            Some(v) => Value::Same(v),
            None => Value::Unknown,
        }
    }
}

impl From<Bits> for Value {
    fn from(bits: Bits) -> Value {
        match bits.known {
            u64::MAX => Value::Same(bits.value),
            // that there are no bits above 32 is known of all registers
            known if known & LOW == 0 => Value::Unknown,
            _ => Value::Some(bits),
        }
    }
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// <
    Less,
    /// <=
    LessOrEqual,
    /// =
    Equal,
    /// !=
    NotEqual,
    /// >=
    GreaterOrEqual,
    /// >
    Greater,
}

impl Relation {
    fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Relation::Less => order.is_lt(),
            Relation::LessOrEqual => order.is_le(),
            Relation::Equal => order.is_eq(),
            Relation::NotEqual => order.is_ne(),
            Relation::GreaterOrEqual => order.is_ge(),
            Relation::Greater => order.is_gt(),
        }
    }
}

/// How conditions are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Both.
    And,
    /// One or both.
    Or,
    /// One of them.
    Xor,
}

/// What is computed. Numbers of fewer than 64 bits are kept with zeros above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calc {
    /// The argument.
    Copy,
    /// The sum of all, of 32 or 64 bits.
    Add(u32),
    /// Does the sum of numbers of 32 bits need more?
    Carry,
    /// a - b
    Subtract(u32),
    /// a * b + c, the low bits.
    Multiply(u32),
    /// The same of numbers of 32 bits, all 64 bits of it, c of 64 bits.
    MultiplyWide(bool),
    /// The upper 32 bits of a * b, plus c; signed or not.
    MultiplyHigh(bool),
    /// The upper half of a * b + c, without signs, c of 64 bits.
    MultiplyHighSum,
    /// The nearest 32-bit float that is not below the number, and a mark that it is one.
    FloatUp,
    /// Near the reciprocal of a float with that mark.
    Reciprocal,
    /// The whole number below a float, without sign.
    FloatFloor,
    /// The number without its sign.
    Absolute,
    /// a << b, 0 from so many bits on.
    ShiftLeft(u32),
    /// a >> b; signed or not.
    ShiftRight(u32, bool),
    /// (a << c) + b; LEA of machine code.
    ScaledAdd,
    /// The upper half of the 64 bits of (a, c) shifted left by d, plus b.
    ScaledAddHigh,
    /// The upper half of the 64 bits of (a, c) shifted left by b.
    FunnelLeft,
    /// The lower half of the 64 bits of (a, c) shifted right by b.
    FunnelRight,
    /// Bit after bit, as the table says.
    Logic(u8),
    /// The same of three conditions.
    Conditions(u8),
    /// Is the result of that table not 0?
    AnyLogic(u8),
    /// a & b, a | b, a ^ b
    Bits(Join),
    /// c ? a : b
    Select,
    /// The smaller one where c is 1, else the larger one; signed or not.
    Extreme(bool),
    /// That of a + b and c, by d.
    SumExtreme(bool),
    /// Are a and b so, joined with c? Bits, signed or not.
    Compare(Relation, u32, bool, Join),
    /// The same of the upper halves, d being the answer of the lower ones.
    CompareUpper(Relation, bool, Join),
    /// Bytes of (a, c) as the nibbles of b say.
    Permute,
    /// Extended from so many bits, with sign or not, to 64.
    Extend(u32, bool),
    /// The low bits.
    Truncate(u32),
    /// The remainder of a by b; signed or not.
    Remainder(u32, bool),
    /// The quotient.
    Divide(u32, bool),
    /// Four bytes of constant memory: the bank, and an offset that a is added to.
    Constant(u32, u64),
    /// Eight bytes of it.
    WideConstant(u32, u64),
}

/// The mark of a float that [`Calc::FloatUp`] has made. Compilers divide by such a float's reciprocal, and mend the quotient: it is exact for any reciprocal that is off by no more than
/// a unit in its last place, as the machine's is, and the one that is computed here. Nothing else is told of reciprocals.
const FLOAT: u64 = 1 << 40;

/// The nearest float that is not below.
fn float_up(n: u32) -> f32 {
    let nearest = n as f32;
    if f64::from(nearest) < f64::from(n) { nearest.next_up() } else { nearest }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn signed(value: u64, bits: u32) -> i64 {
    let by = 64 - bits.clamp(1, 64);
    ((value << by) as i64) >> by
}

fn extreme(a: u64, b: u64, least: bool, is_signed: bool) -> u64 {
    let a_first = if is_signed { signed(a, 32) <= signed(b, 32) } else { a <= b };
    if a_first == least { a } else { b }
}

pub(super) fn table(lut: u8, a: u64, b: u64, c: u64) -> u64 {
    (0..8).filter(|i| lut >> i & 1 == 1).fold(0, |all, i| {
        let pick = |v: u64, bit: u32| if i >> bit & 1 == 1 { v } else { !v };
        all | (pick(a, 2) & pick(b, 1) & pick(c, 0))
    })
}

fn joined(answer: bool, with: u64, join: Join) -> u64 {
    u64::from(match join {
        Join::And => answer && with != 0,
        Join::Or => answer || with != 0,
        Join::Xor => answer != (with != 0),
    })
}

impl Calc {
    /// Of so many arguments as it takes; `None`, where the machine has no answer either (division by zero), and of memory.
    pub fn of(self, v: &[u64]) -> Option<u64> {
        let at = |i: usize| v.get(i).copied().unwrap_or(0);
        let (a, b, c, d) = (at(0), at(1), at(2), at(3));
        Some(match self {
            Calc::Copy => a,
            Calc::Add(bits) => v.iter().fold(0u64, |sum, v| sum.wrapping_add(*v)) & mask(bits),
            Calc::Carry => u64::from(v.iter().sum::<u64>() > LOW),
            Calc::Subtract(bits) => a.wrapping_sub(b) & mask(bits),
            Calc::Multiply(bits) => a.wrapping_mul(b).wrapping_add(c) & mask(bits),
            Calc::MultiplyWide(true) => (signed(a, 32).wrapping_mul(signed(b, 32)) as u64).wrapping_add(c),
            Calc::MultiplyWide(false) => (a & LOW).wrapping_mul(b & LOW).wrapping_add(c),
            Calc::MultiplyHigh(true) => {
                (signed(a, 32).wrapping_mul(signed(b, 32)) >> 32).wrapping_add(c as i64) as u64 & LOW
            }
            Calc::MultiplyHigh(false) => ((a & LOW).wrapping_mul(b & LOW) >> 32).wrapping_add(c) & LOW,
            Calc::MultiplyHighSum => (a & LOW).wrapping_mul(b & LOW).wrapping_add(c) >> 32,
            Calc::FloatUp => FLOAT | u64::from(float_up(a as u32).to_bits()),
            // others have a reciprocal that only the machine knows
            Calc::Reciprocal if a & !LOW == FLOAT => (1.0 / f32::from_bits(a as u32)).to_bits().into(),
            Calc::Reciprocal => return None,
            // what is negative, or no number, is 0; what is too large the largest there is
            Calc::FloatFloor => u64::from(f32::from_bits(a as u32) as u32),
            Calc::Absolute => (a as u32 as i32).unsigned_abs().into(),
            Calc::ShiftLeft(bits) => {
                if b >= bits.into() {
                    0
                } else {
                    a << b & mask(bits)
                }
            }
            Calc::ShiftRight(bits, false) => {
                if b >= bits.into() {
                    0
                } else {
                    (a & mask(bits)) >> b
                }
            }
            Calc::ShiftRight(bits, true) => (signed(a, bits) >> b.min(u64::from(bits) - 1)) as u64 & mask(bits),
            Calc::ScaledAdd => (a << (c & 31)).wrapping_add(b) & LOW,
            Calc::ScaledAddHigh => (((c << 32 | a) << (d & 31)) >> 32).wrapping_add(b) & LOW,
            Calc::FunnelLeft => {
                if b >= 64 {
                    0
                } else {
                    (c << 32 | a) << b >> 32
                }
            }
            Calc::FunnelRight => {
                if b >= 64 {
                    0
                } else {
                    (c << 32 | a) >> b & LOW
                }
            }
            Calc::Logic(lut) => table(lut, a, b, c) & LOW,
            Calc::Conditions(lut) => table(lut, a, b, c) & 1,
            Calc::AnyLogic(lut) => u64::from(table(lut, a, b, c) & LOW != 0),
            Calc::Bits(Join::And) => a & b,
            Calc::Bits(Join::Or) => a | b,
            Calc::Bits(Join::Xor) => a ^ b,
            Calc::Select => {
                if c != 0 {
                    a
                } else {
                    b
                }
            }
            Calc::Extreme(is_signed) => extreme(a, b, c != 0, is_signed),
            Calc::SumExtreme(is_signed) => extreme(a.wrapping_add(b) & LOW, c, d != 0, is_signed),
            Calc::Compare(relation, bits, is_signed, join) => {
                let order = if is_signed {
                    signed(a, bits).cmp(&signed(b, bits))
                } else {
                    (a & mask(bits)).cmp(&(b & mask(bits)))
                };
                joined(relation.holds(order), c, join)
            }
            Calc::CompareUpper(relation, is_signed, join) => {
                let order = if is_signed { signed(a, 32).cmp(&signed(b, 32)) } else { a.cmp(&b) };
                let answer = if order.is_eq() { d != 0 } else { relation.holds(order) };
                joined(answer, c, join)
            }
            Calc::Permute => (0..4).fold(0, |all, i| {
                let nibble = b >> (4 * i) & 15;
                let byte = (c << 32 | a) >> (8 * (nibble & 7)) & 255;
                let byte = if nibble & 8 == 0 { byte } else { 255 * (byte >> 7) };
                all | byte << (8 * i)
            }),
            Calc::Extend(bits, true) => signed(a, bits) as u64,
            Calc::Extend(bits, false) | Calc::Truncate(bits) => a & mask(bits),
            Calc::Divide(bits, true) => signed(a, bits).checked_div(signed(b, bits))? as u64 & mask(bits),
            Calc::Divide(bits, false) => (a & mask(bits)).checked_div(b & mask(bits))?,
            Calc::Remainder(bits, true) => signed(a, bits).checked_rem(signed(b, bits))? as u64 & mask(bits),
            Calc::Remainder(bits, false) => (a & mask(bits)).checked_rem(b & mask(bits))?,
            Calc::Constant(..) | Calc::WideConstant(..) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_machine_computes() {
        let of = |calc: Calc, v: &[u64]| calc.of(v).unwrap();
        assert_eq!(of(Calc::Add(32), &[LOW, 2, 0]), 1);
        assert_eq!((of(Calc::Carry, &[LOW, 1]), of(Calc::Carry, &[LOW, 0])), (1, 0));
        assert_eq!(of(Calc::MultiplyWide(true), &[LOW, 4, 100]), 96);
        assert_eq!(of(Calc::MultiplyWide(false), &[LOW, 4, 0]), 4 * LOW);
        assert_eq!(of(Calc::MultiplyHigh(false), &[1 << 31, 4, 0]), 2);
        assert_eq!(of(Calc::ShiftRight(32, true), &[1 << 31, 40]), LOW);
        assert_eq!(of(Calc::ShiftRight(32, false), &[1 << 31, 31]), 1);
        // 0xc0: a and b; 0xfc: a or b; 0x33: not b
        assert_eq!(of(Calc::Logic(0xc0), &[12, 10, 0]), 8);
        assert_eq!(of(Calc::Logic(0xfc), &[12, 10, 0]), 14);
        assert_eq!(of(Calc::Logic(0x33), &[0, 0, 0]), LOW);
        assert_eq!(of(Calc::ScaledAdd, &[3, 5, 4]), 53);
        assert_eq!(of(Calc::ScaledAddHigh, &[1 << 31, 7, 0, 1]), 8);
        assert_eq!(of(Calc::FunnelLeft, &[1 << 31, 1, 1]), 3);
        assert_eq!(of(Calc::Compare(Relation::Less, 32, true, Join::And), &[LOW, 0, 1]), 1);
        assert_eq!(of(Calc::Compare(Relation::Less, 32, false, Join::And), &[LOW, 0, 1]), 0);
        assert_eq!(of(Calc::CompareUpper(Relation::GreaterOrEqual, false, Join::And), &[7, 7, 1, 1]), 1);
        assert_eq!(of(Calc::CompareUpper(Relation::NotEqual, false, Join::And), &[7, 8, 1, 0]), 1);
        assert_eq!(of(Calc::Extreme(false), &[3, 5, 1]), 3);
        assert_eq!(of(Calc::SumExtreme(false), &[3, 5, 6, 0]), 8);
        assert_eq!(of(Calc::Permute, &[0x0403_0201, 0x7530, 0x0807_0605]), 0x0806_0401);
        assert_eq!(Calc::Divide(32, false).of(&[4, 0]), None);
    }

    /// The sequence by which machine code divides.
    #[test]
    fn quotients_of_reciprocals_are_exact() {
        let of = |calc: Calc, v: &[u64]| calc.of(v).unwrap();
        for d in [1, 2, 3, 7, 96, 128, 160, 1000, 1023, 65_537, 0x7fff_ffff, 0xffff_fffe, LOW] {
            for n in [0, 1, 5, 127, 128, 2047, 65_535, 123_456_789, 0x8000_0000, 0xffff_fffe, LOW, d - 1, d] {
                let near = of(Calc::Reciprocal, &[of(Calc::FloatUp, &[d])]);
                let near = of(Calc::FloatFloor, &[of(Calc::Add(32), &[near, 0xff_ffffe])]);
                let off = of(Calc::Multiply(32), &[of(Calc::Subtract(32), &[0, near]), d, 0]);
                let near = of(Calc::MultiplyHighSum, &[near, off, near << 32]);
                let mut q = of(Calc::MultiplyHigh(false), &[near, n, 0]);
                let mut r = of(Calc::Multiply(32), &[d, of(Calc::Subtract(32), &[0, q]), n]);
                for _ in 0..2 {
                    if r >= d {
                        (q, r) = (q + 1, r - d);
                    }
                }
                assert_eq!((q, r), (n / d, n % d), "{n} / {d}");
            }
        }
        // of other floats the machine alone knows the reciprocal
        assert_eq!(Calc::Reciprocal.of(&[u64::from(3f32.to_bits())]), None);
        assert_eq!((float_up(16_777_217), float_up(128), float_up(u32::MAX)), (16_777_218.0, 128.0, 4_294_967_296.0));
        assert_eq!(of(Calc::Absolute, &[LOW - 6]), 7);
    }

    #[test]
    fn equal_for_all_is_one_number() {
        assert_eq!(Value::of([Some(3); LANES]), Value::Same(3));
        assert_eq!(Value::of([None; LANES]), Value::Unknown);
        let mut all = [Some(3); LANES];
        all[7] = None;
        let value = Value::of(all);
        assert_eq!((value.lane(0), value.lane(7)), (Some(3), None));
    }
}
