//! Numbers of a file as float items, many at once: what [`Number::get`] gives, without asking each time what kind they are.
//!
//! A float has all bits of a number of 8 or 16 bits, and sums with 127.5 or 128, too; so what is rounded is one product or quotient, and a double's, rounded again, is the same float. Loops of floats are vectors.

// The same loops by other instructions, where the processor has them.
#![allow(unsafe_code)]

use super::format::Number;

/// Puts the floats of `bytes` in `out`, which has room for them.
pub fn put(number: Number, bytes: &[u8], out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function needs.
        unsafe { put_avx2(number, bytes, out) };
        return;
    }
    loops(number, bytes, out);
}

/// It is not only that these vectors are twice as wide. Instructions from before AVX keep the upper parts of registers, and while there is something in any of them, each waits for the one before it:
/// nine times as long for such a loop (AMD EPYC, Zen 5). In threads that run stages the loops took five times as long as by themselves; these do not.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn put_avx2(number: Number, bytes: &[u8], out: &mut [u8]) {
    loops(number, bytes, out);
}

#[inline(always)]
fn loops(number: Number, bytes: &[u8], out: &mut [u8]) {
    match number {
        Number::U8 => of_bytes(bytes, out, |x| x),
        Number::Wav8 => of_bytes(bytes, out, |x| (x - 128.0) * (1.0 / 128.0)),
        Number::Rtl => of_bytes(bytes, out, |x| (x - 127.5) / 127.5),
        Number::Signed(2, scale) if f64::from(scale as f32) == scale => {
            let scale = scale as f32;
            for (from, to) in bytes.chunks_exact(2).zip(out.chunks_exact_mut(4)) {
                to.copy_from_slice(&(f32::from(i16::from_le_bytes([from[0], from[1]])) * scale).to_le_bytes());
            }
        }
        _ => {
            for (from, to) in bytes.chunks_exact(number.bytes()).zip(out.chunks_exact_mut(4)) {
                to.copy_from_slice(&(number.get(from, true) as f32).to_le_bytes());
            }
        }
    }
}

/// What a function makes of the values of bytes.
#[inline(always)]
fn of_bytes(bytes: &[u8], out: &mut [u8], f: impl Fn(f32) -> f32) {
    for (from, to) in bytes.iter().zip(out.chunks_exact_mut(4)) {
        to.copy_from_slice(&f(f32::from(*from)).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_are_what_one_is() {
        // all bytes, and all words of 16 bits
        let words = (0..=u16::MAX).flat_map(u16::to_le_bytes);
        let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).chain(words).collect();
        let wav16 = Number::Signed(2, 1.0 / 32768.0);
        let odd = Number::Signed(2, 0.3);
        let whole = Number::Signed(2, 1.0);
        let of_bytes = [Number::U8, Number::Wav8, Number::Rtl];
        let wide = [wav16, whole, odd, Number::Signed(3, 0.5), Number::Signed(4, 1.0), Number::F64];
        for number in of_bytes.into_iter().chain(wide) {
            let n = bytes.len() / number.bytes();
            let mut out = vec![0; 4 * n];
            put(number, &bytes, &mut out);
            let mut plain = vec![0; 4 * n];
            loops(number, &bytes, &mut plain);
            assert!(plain == out, "{number:?}");
            for i in 0..n {
                let one = number.get(&bytes[i * number.bytes()..], true) as f32;
                assert_eq!(out[4 * i..4 * i + 4], one.to_le_bytes(), "{number:?} {i}");
            }
        }
    }
}
