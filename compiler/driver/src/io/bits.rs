//! Bits of a file, eight in a byte, the first the highest, as items of a byte each, and back.
//!
//! ```text
//! 0b1010_0011   ↔   1 0 1 0 0 0 1 1
//! ```

/// The lowest bit of every byte of a word.
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// Puts the bits of `bytes` from bit `first` on in `out`, one in each of its bytes; there are as many.
pub fn spread(bytes: &[u8], first: usize, out: &mut [u8]) {
    let one_by_one = |from: usize, out: &mut [u8]| {
        for (to, at) in out.iter_mut().zip(from..) {
            *to = (bytes[at / 8] >> (7 - at % 8)) & 1;
        }
    };
    let (head, rest) = out.split_at_mut((first.next_multiple_of(8) - first).min(out.len()));
    let (from, n) = (first + head.len(), rest.len() / 8 * 8);
    one_by_one(first, head);
    let (whole, tail) = rest.split_at_mut(n);
    for (to, byte) in whole.chunks_exact_mut(8).zip(bytes.get(from / 8..).unwrap_or_default()) {
        // each byte of the word keeps its own bit; what is not 0 becomes 1
        let own = (u64::from(*byte) * LOWEST) & 0x0102_0408_1020_4080;
        to.copy_from_slice(&(((own + 0x7f * LOWEST) >> 7) & LOWEST).to_le_bytes());
    }
    one_by_one(from + n, tail);
}

/// Bits that fill no byte yet: what they are so far, and how many.
#[derive(Default)]
pub struct Held {
    bits: u8,
    count: u32,
}

impl Held {
    /// Appends what fills bytes of one bit for each item.
    pub fn gather(&mut self, mut items: &[u8], out: &mut Vec<u8>) {
        let few = if self.count == 0 { 0 } else { (8 - self.count as usize).min(items.len()) };
        self.one_by_one(&items[..few], out);
        items = &items[few..];
        if self.count == 0 {
            let eights = items.chunks_exact(8);
            items = eights.remainder();
            out.extend(eights.map(|of| {
                let word = of.iter().rev().fold(0, |word, bit| (word << 8) | u64::from(*bit)) & LOWEST;
                // the product's highest byte is the sum of all bits, each moved to its place
                (word.wrapping_mul(0x8040_2010_0804_0201) >> 56) as u8
            }));
        }
        self.one_by_one(items, out);
    }

    fn one_by_one(&mut self, items: &[u8], out: &mut Vec<u8>) {
        for bit in items {
            (self.bits, self.count) = ((self.bits << 1) | (bit & 1), self.count + 1);
            if self.count == 8 {
                out.push(self.bits);
                *self = Held::default();
            }
        }
    }

    /// The last byte, filled up with zeroes, where bits are left.
    pub fn rest(&self) -> Option<u8> {
        (self.count > 0).then(|| self.bits << (8 - self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_there_and_back() {
        let bytes: Vec<u8> = (0..=255).chain([0xa3, 0, 0xff]).collect();
        let bit = |at: usize| (bytes[at / 8] >> (7 - at % 8)) & 1;
        for first in 0..17 {
            for n in (0..40).chain([bytes.len() * 8 - first]) {
                let mut out = vec![9; n];
                spread(&bytes, first, &mut out);
                assert!(out.iter().enumerate().all(|(i, b)| *b == bit(first + i)), "{first} {n}");
            }
        }
        let all: Vec<u8> = (0..bytes.len() * 8).map(bit).collect();
        // in pieces of all lengths
        for piece in 1..40 {
            let (mut held, mut out) = (Held::default(), Vec::new());
            all[..all.len() - 3].chunks(piece).for_each(|items| held.gather(items, &mut out));
            assert_eq!((&out[..], held.rest()), (&bytes[..bytes.len() - 1], Some(0xf8)), "{piece}");
            held.gather(&all[all.len() - 3..], &mut out);
            assert_eq!((&out, held.rest()), (&bytes, None), "{piece}");
        }
    }
}
