//! # bits
//!
//! Purpose: numbers of which some bits are known, such as addresses: where memory begins nobody knows, but it begins at a multiple of 256 bytes. Input: [`Bits`] of the arguments. Output: those of the
//! result. All threads of a warp have the known bits; the others may be anything, for each thread anything else.

use super::value::{Calc, Join, table};

const LOW: u64 = 0xffff_ffff;

/// A number: the bits of `value` where `known` has ones; elsewhere it has zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// As far as it is known.
    pub value: u64,
    /// Which bits these are.
    pub known: u64,
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Bits {
    /// Nothing is known.
    pub const NONE: Bits = Bits { value: 0, known: 0 };

    /// All of it is known.
    pub fn all(value: u64) -> Bits {
        Bits { value, known: u64::MAX }
    }

    /// These bits are known, and none is there beyond so many.
    fn within(value: u64, known: u64, bits: u32) -> Bits {
        let known = known | !mask(bits);
        Bits { value: value & mask(bits) & known, known }
    }

    /// A result whose lowest bits are known.
    fn lowest(value: u64, count: u32, bits: u32) -> Bits {
        Bits::within(value, mask(count), bits)
    }

    /// How many of the lowest bits are known, one after the other.
    fn low(self) -> u32 {
        self.known.trailing_ones()
    }

    /// And how many of these are zero.
    fn zeros(self) -> u32 {
        (self.known & !self.value).trailing_ones()
    }

    fn is_all(self) -> bool {
        self.known == u64::MAX
    }

    /// The other way round, of 32 bits.
    pub fn inverted(self) -> Bits {
        Bits::within(!self.value & self.known, self.known, 32)
    }

    /// Its negative, of 32 bits.
    pub fn negative(self) -> Bits {
        Bits::lowest(self.value.wrapping_neg(), self.low(), 32)
    }

    fn shifted_right(self, by: u32) -> Bits {
        if by >= 64 {
            return Bits::all(0);
        }
        Bits { value: self.value >> by, known: self.known >> by | !(u64::MAX >> by) }
    }

    /// Two halves of 32 bits, the low one first.
    pub fn pair(low: Bits, high: Bits) -> Bits {
        Bits { value: low.value & LOW | high.value << 32, known: low.known & LOW | high.known << 32 }
    }

    /// Its halves.
    pub fn halves(self) -> (Bits, Bits) {
        (Bits::within(self.value, self.known, 32), self.shifted_right(32))
    }
}

/// Bits of a product that are known from the lowest on.
fn of_product(a: Bits, b: Bits) -> u32 {
    if a.is_all() && b.is_all() {
        return 64;
    }
    (a.low().saturating_add(b.zeros())).min(b.low().saturating_add(a.zeros())).min(64)
}

/// Bit after bit, as the table says, where whatever is not known makes no difference.
fn looked_up(lut: u8, a: Bits, b: Bits, c: Bits) -> Bits {
    let (mut value, mut unknown) = (u64::MAX, 0);
    for choice in 0..8u32 {
        // what is not known may be all ones or all zeros
        let of = |bits: Bits, i: u32| if choice >> i & 1 == 1 { bits.value | !bits.known } else { bits.value };
        let result = table(lut, of(a, 0), of(b, 1), of(c, 2));
        if choice == 0 {
            value = result;
        }
        unknown |= value ^ result;
    }
    Bits { value: value & !unknown, known: !unknown }
}

/// What is known of the result.
pub fn of(calc: Calc, v: &[Bits]) -> Bits {
    let at = |i: usize| v.get(i).copied().unwrap_or(Bits::all(0));
    let (a, b, c) = (at(0), at(1), at(2));
    let values: Vec<u64> = v.iter().map(|b| b.value).collect();
    let low = |count: u32, bits: u32| calc.of(&values).map_or(Bits::NONE, |value| Bits::lowest(value, count, bits));
    match calc {
        Calc::Copy => a,
        Calc::Add(bits) => low(v.iter().map(|b| b.low()).min().unwrap_or(64), bits),
        Calc::Subtract(bits) => low(a.low().min(b.low()), bits),
        Calc::Multiply(bits) => low(of_product(a, b).min(c.low()), bits),
        // above 32 bits it matters what is a sign
        Calc::MultiplyWide(_) => {
            let product = of_product(a, b);
            low(if product == 64 { 64 } else { product.min(32) }.min(c.low()), 64)
        }
        Calc::ShiftLeft(bits) if b.is_all() && b.value < u64::from(bits) => low(a.low() + b.value as u32, bits),
        Calc::ShiftRight(bits, false) if b.is_all() => {
            Bits::within(a.value, a.known, bits).shifted_right(b.value.min(64) as u32)
        }
        Calc::ScaledAdd if c.is_all() => low((a.low() + (c.value & 31) as u32).min(b.low()), 32),
        Calc::FunnelRight if b.is_all() => {
            let whole = Bits::pair(a, c).shifted_right(b.value.min(64) as u32);
            Bits::within(whole.value, whole.known, 32)
        }
        Calc::Logic(lut) => {
            let all = looked_up(lut, a, b, c);
            Bits::within(all.value, all.known, 32)
        }
        // that some bit is there is not enough: a loop that ends where numbers are equal would never end for who knows some bits of them, and may end at once
        Calc::AnyLogic(lut) => {
            let all = looked_up(lut, a, b, c);
            if all.known & LOW == LOW { Bits::all(u64::from(all.value & LOW != 0)) } else { Bits::NONE }
        }
        Calc::Bits(join) => {
            let lut = match join {
                Join::And => 0xc0,
                Join::Or => 0xfc,
                Join::Xor => 0x3c,
            };
            looked_up(lut, a, b, Bits::all(0))
        }
        Calc::Select if c.is_all() => {
            if c.value != 0 {
                a
            } else {
                b
            }
        }
        Calc::Extend(bits, false) | Calc::Truncate(bits) => Bits::within(a.value, a.known, bits),
        _ => Bits::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::Relation;
    use super::*;

    /// Some calculations, of arguments with bits left out at random: what is said to be known is so for whatever the others are.
    #[test]
    fn what_is_known_is_so() {
        let mut dice = 0x9e37_79b9_7f4a_7c15u64;
        let mut roll = move || {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            dice
        };
        let mut all = vec![
            Calc::Copy,
            Calc::Add(32),
            Calc::Add(64),
            Calc::Subtract(32),
            Calc::Subtract(64),
            Calc::Multiply(32),
            Calc::Multiply(64),
            Calc::MultiplyWide(true),
            Calc::MultiplyWide(false),
            Calc::ShiftLeft(32),
            Calc::ShiftLeft(64),
            Calc::ShiftRight(32, false),
            Calc::ShiftRight(64, false),
            Calc::ShiftRight(32, true),
            Calc::ScaledAdd,
            Calc::FunnelRight,
            Calc::FunnelLeft,
            Calc::Bits(Join::And),
            Calc::Bits(Join::Or),
            Calc::Bits(Join::Xor),
            Calc::Select,
            Calc::Compare(Relation::Equal, 32, false, Join::And),
            Calc::Compare(Relation::NotEqual, 32, true, Join::Or),
            Calc::Compare(Relation::Less, 32, true, Join::Xor),
            Calc::Extend(32, true),
            Calc::Extend(32, false),
            Calc::Truncate(32),
        ];
        all.extend((0..=255).map(Calc::Logic).chain((0..=255).map(Calc::AnyLogic)));
        let mut known = 0;
        for calc in all {
            let wide = matches!(calc, Calc::Add(64) | Calc::Subtract(64) | Calc::Multiply(64) | Calc::ShiftLeft(64))
                || matches!(calc, Calc::ShiftRight(64, _) | Calc::Copy | Calc::Truncate(_) | Calc::Bits(_));
            for _ in 0..200 {
                let width = if wide { u64::MAX } else { LOW };
                let arguments: Vec<Bits> = (0..3)
                    .map(|i| {
                        // the upper half of a number of 32 bits is zero; addresses lack upper bits, others some
                        let known = match roll() % 4 {
                            0 => u64::MAX,
                            1 => 0xff | !width,
                            2 => roll() | roll() | !width,
                            _ => !width,
                        };
                        // shifts and conditions are small numbers
                        let value = if i > 0 && roll() % 2 == 0 { roll() % 40 } else { roll() };
                        let third = i == 2 && matches!(calc, Calc::MultiplyWide(_));
                        Bits { value: value & known & if third { u64::MAX } else { width }, known }
                    })
                    .collect();
                let result = of(calc, &arguments);
                known += u64::from(result.known & 0xff != 0);
                assert_eq!(result.value & !result.known, 0, "{calc:?} {arguments:?}");
                for _ in 0..20 {
                    let filled: Vec<u64> = arguments.iter().map(|b| b.value | roll() & !b.known).collect();
                    let exact = calc.of(&filled).unwrap();
                    assert_eq!(exact & result.known, result.value, "{calc:?} {arguments:x?} {filled:x?}");
                }
            }
        }
        assert!(known > 20_000, "{known}");
    }

    #[test]
    fn where_an_address_is_aligned() {
        let base = Bits { value: 0, known: 0xff };
        // base + unknown * 32, and four bytes: the lowest five bits
        let some = Bits { value: 0, known: !LOW };
        let at = of(Calc::MultiplyWide(false), &[some, Bits::all(32), base]);
        let at = of(Calc::Add(64), &[at, Bits::all(4)]);
        assert_eq!((at.value & 0x1f, at.known & 0x3f), (4, 0x1f));
        assert_eq!(of(Calc::Logic(0xc0), &[at.halves().0, Bits::all(15)]), Bits::all(4));
        assert_eq!(of(Calc::AnyLogic(0xc0), &[at.halves().0, Bits::all(3)]), Bits::all(0));
        let (low, high) = at.halves();
        assert_eq!(Bits::pair(low, high), at);
        assert_eq!((low.negative().value & 15, low.inverted().value & 15), (12, 11));
        assert_eq!(of(Calc::Divide(32, false), &[at, Bits::all(4)]), Bits::NONE);
    }
}
