//! Numbers of a file as items, and items as numbers, many at once: what [`Number::get`] and [`Number::put`] give, without asking each time what kind they are.
//!
//! A float has all bits of a number of 8 or 16 bits, and sums with 127.5 or 128, too; so what is rounded is one product or quotient, and a double's, rounded again, is the same float. Loops are vectors.

// The same loops by other instructions, where the processor has them.
#![allow(unsafe_code)]

use super::format::{self, Number};
use super::item::Scalar;

/// Puts the floats of `bytes` in `out`, which has room for them.
pub fn put_floats(number: Number, bytes: &[u8], out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function needs.
        unsafe { floats_avx2(number, bytes, out) };
        return;
    }
    floats(number, bytes, out);
}

/// Puts the ints of `bytes` in `out`, which has room for them.
pub fn put_ints(number: Number, bytes: &[u8], out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function needs.
        unsafe { ints_avx2(number, bytes, out) };
        return;
    }
    ints(number, bytes, out);
}

/// Appends the numbers of items that are scalars of one kind.
pub fn take(number: Number, scalar: Scalar, items: &[u8], out: &mut Vec<u8>) {
    let at = out.len();
    out.resize(at + items.len() / scalar.bytes() * number.bytes(), 0);
    let out = &mut out[at..];
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function needs.
        unsafe { numbers_avx2(number, scalar, items, out) };
        return;
    }
    numbers(number, scalar, items, out);
}

/// It is not only that these vectors are twice as wide. Instructions from before AVX keep the upper parts of registers, and while there is something in any of them, each waits for the one before it:
/// nine times as long for such a loop (AMD EPYC, Zen 5). In threads that run stages the loops took five times as long as by themselves; these do not.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn floats_avx2(number: Number, bytes: &[u8], out: &mut [u8]) {
    floats(number, bytes, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn ints_avx2(number: Number, bytes: &[u8], out: &mut [u8]) {
    ints(number, bytes, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn numbers_avx2(number: Number, scalar: Scalar, items: &[u8], out: &mut [u8]) {
    numbers(number, scalar, items, out);
}

#[inline(always)]
fn floats(number: Number, bytes: &[u8], out: &mut [u8]) {
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

#[inline(always)]
fn ints(number: Number, bytes: &[u8], out: &mut [u8]) {
    let to = out.chunks_exact_mut(4);
    match number {
        Number::U8 => bytes.iter().zip(to).for_each(|(x, to)| to.copy_from_slice(&i32::from(*x).to_le_bytes())),
        Number::Signed(2, _) => bytes
            .chunks_exact(2)
            .zip(to)
            .for_each(|(x, to)| to.copy_from_slice(&i32::from(i16::from_le_bytes([x[0], x[1]])).to_le_bytes())),
        _ => bytes
            .chunks_exact(number.bytes())
            .zip(to)
            .for_each(|(x, to)| to.copy_from_slice(&(number.get(x, false) as i32).to_le_bytes())),
    }
}

#[inline(always)]
fn numbers(number: Number, scalar: Scalar, items: &[u8], out: &mut [u8]) {
    let float = |x: &[u8]| f64::from(f32::from_le_bytes([x[0], x[1], x[2], x[3]]));
    let int = |x: &[u8]| f64::from(i32::from_le_bytes([x[0], x[1], x[2], x[3]]));
    match scalar {
        Scalar::F32 => numbers_of(number, true, items.chunks_exact(4).map(float), out),
        Scalar::Int => numbers_of(number, false, items.chunks_exact(4).map(int), out),
        _ => {
            let value = |x: &[u8]| format::get_scalar(scalar, x);
            numbers_of(number, scalar.is_real(), items.chunks_exact(scalar.bytes()).map(value), out);
        }
    }
}

#[inline(always)]
fn numbers_of(number: Number, real: bool, values: impl Iterator<Item = f64>, out: &mut [u8]) {
    let byte = |x: f64| format::whole(x, 0.0, 255.0) as u8;
    let to = out.chunks_exact_mut(number.bytes());
    match number {
        Number::Signed(2, scale) => {
            let scale = if real { scale } else { 1.0 };
            let word = |x: f64| (format::whole(x / scale, -32768.0, 32767.0) as i16).to_le_bytes();
            values.zip(to).for_each(|(x, to)| to.copy_from_slice(&word(x)));
        }
        Number::U8 => values.zip(to).for_each(|(x, to)| to[0] = byte(x)),
        Number::Wav8 => {
            let scale = if real { 128.0 } else { 1.0 };
            values.zip(to).for_each(|(x, to)| to[0] = byte(x * scale + 128.0));
        }
        Number::Rtl => values.zip(to).for_each(|(x, to)| to[0] = byte(x * 127.5 + 127.5)),
        _ => values.zip(to).for_each(|(x, to)| number.put(x, real, to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAV16: Number = Number::Signed(2, 1.0 / 32768.0);
    const ODD: Number = Number::Signed(2, 0.3);
    const WHOLE: Number = Number::Signed(2, 1.0);
    const OF_BYTES: [Number; 3] = [Number::U8, Number::Wav8, Number::Rtl];
    const WIDE: [Number; 6] = [WAV16, WHOLE, ODD, Number::Signed(3, 0.5), Number::Signed(4, 1.0), Number::F64];

    #[test]
    fn many_numbers_are_what_one_is() {
        // all bytes, and all words of 16 bits
        let words = (0..=u16::MAX).flat_map(u16::to_le_bytes);
        let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).chain(words).collect();
        for number in OF_BYTES.into_iter().chain(WIDE) {
            let n = bytes.len() / number.bytes();
            let mut out = vec![0; 4 * n];
            put_floats(number, &bytes, &mut out);
            let mut plain = vec![0; 4 * n];
            floats(number, &bytes, &mut plain);
            assert!(plain == out, "{number:?}");
            let mut whole = vec![0; 4 * n];
            put_ints(number, &bytes, &mut whole);
            for i in 0..n {
                let from = &bytes[i * number.bytes()..];
                let one = number.get(from, true) as f32;
                assert_eq!(out[4 * i..4 * i + 4], one.to_le_bytes(), "{number:?} {i}");
                let one = number.get(from, false) as i32;
                assert_eq!(whole[4 * i..4 * i + 4], one.to_le_bytes(), "{number:?} {i}");
            }
        }
    }

    #[test]
    fn many_items_give_the_numbers_of_each() {
        let halves = (-70000..70000).map(|i| i as f32 * 0.5);
        let small = (-700..700).map(|i| i as f32 / 256.0);
        let near = [0.49999997, 0.5, 1.4999999, 254.49998, 254.5, 32766.5, 32767.5, -32768.5, 8388607.5, 2147483600.0];
        let far = [f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0, f32::MIN_POSITIVE];
        let both = near.into_iter().flat_map(|x: f32| [x, -x]);
        let floats: Vec<u8> = halves.chain(small).chain(both).chain(far).flat_map(f32::to_le_bytes).collect();
        let ints: Vec<u8> = (-70000..70000).chain([i32::MIN, i32::MAX]).flat_map(i32::to_le_bytes).collect();
        for number in OF_BYTES.into_iter().chain(WIDE) {
            for (scalar, items) in [(Scalar::F32, &floats), (Scalar::Int, &ints), (Scalar::Bool, &ints)] {
                let mut out = vec![7];
                take(number, scalar, items, &mut out);
                let each: Vec<u8> = items
                    .chunks_exact(scalar.bytes())
                    .flat_map(|one| {
                        let mut of_one = vec![0; number.bytes()];
                        number.put(format::get_scalar(scalar, one), scalar.is_real(), &mut of_one);
                        of_one
                    })
                    .collect();
                assert!(out[0] == 7 && out[1..] == each, "{number:?} {scalar:?}");
            }
        }
    }
}
