//! Sine, cosine and tangent of floats: Sluice's own, the formulas of `sl_sine.h`, operation by operation.
//!
//! Takes and gives numbers; no state. Doubles, rounded once at the end: within 0.500 02 units of the last place (half of one, 2^-42 of the result for the
//! polynomials, and the rounding of doubles). |x| is so many quarters of a turn and what is left, at most pi/4: below 2^20 by a double's product with 2/pi and
//! pi/2 in two parts, the first of so few bits that the product with it is exact (Cody and Waite 1980); from there on by an integer's product with those bits of
//! 2/pi that are not whole turns (Payne and Hanek 1983).

/// 2/pi.
const QUARTERS: f64 = std::f64::consts::FRAC_2_PI;
/// pi/2: 33 bits, and the others.
const PARTS: [f64; 2] = [f64::from_bits(0x3ff9_21fb_5440_0000), f64::from_bits(0x3dd0_b461_1a62_6331)];
/// Coefficients of (sin(u) / u - 1) / u^2 as a polynomial of u^2, of the least greatest relative error of sin(u) up to pi/4: 2^-47.
const SINE: [f64; 5] = [
    f64::from_bits(0xbfc5_5555_5555_2233),
    f64::from_bits(0x3f81_1111_10c8_6bb6),
    f64::from_bits(0xbf2a_019f_938c_2c25),
    f64::from_bits(0x3ec7_1d76_cbd0_a219),
    f64::from_bits(0xbe5a_9618_0a57_3ffe),
];
/// Coefficients of (cos(u) - 1 + u^2 / 2) / u^4 likewise: 2^-43.
const COSINE: [f64; 4] = [
    f64::from_bits(0x3fa5_5555_54f4_e4c2),
    f64::from_bits(0xbf56_c16b_898d_21c1),
    f64::from_bits(0x3efa_0112_02b8_8fd2),
    f64::from_bits(0xbe92_42ad_6db5_4b72),
];
/// The first 256 bits of 2/pi, from the highest word on.
const BITS: [u32; 8] =
    [0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab, 0xdebb_c561];

/// What is left beyond the quarters of a turn, modulo 4, of a float of these bits, 2^20 or more.
fn far(bits: u32) -> (u8, f64) {
    let m = u128::from(bits & 0x007f_ffff | 0x0080_0000);
    // of the bits whose product with the float's last place is 2, 1, 1/2 and so on the first 128; before the first there are zeros
    let at = (bits >> 23) as usize - 120;
    let word = |i: usize| i.checked_sub(1).and_then(|i| BITS.get(i)).copied().unwrap_or(0);
    let window = (0..4).fold(0, |w: u128, i| {
        let pair = u64::from(word(at / 32 + i)) << 32 | u64::from(word(at / 32 + i + 1));
        w << 32 | u128::from(pair << (at % 32) >> 32)
    });
    let turns = m.wrapping_mul(window);
    let (high, low) = ((turns >> 64) as u64, turns as u64);
    let nearest = high.wrapping_add(1 << 61) >> 62;
    let left = high.wrapping_sub(nearest << 62) as i64 as f64 + low as f64 * (-64f64).exp2();
    (nearest as u8, left * (std::f64::consts::FRAC_PI_2 * (-62f64).exp2()))
}

/// Of |x|: quarters of a turn, modulo 4, and the sine and cosine of what is left.
fn sines(x: f32) -> (u8, f64, f64) {
    let bits = x.to_bits() & 0x7fff_ffff;
    let (quarters, left) = if bits < 0x4980_0000 {
        let size = f64::from(x).abs();
        let n = (size * QUARTERS).round_ties_even();
        ((n as u32 & 3) as u8, size - n * PARTS[0] - n * PARTS[1])
    } else {
        far(bits)
    };
    let z = left * left;
    let zz = z * z;
    let (low, high) = (SINE[0] + z * SINE[1], SINE[2] + z * SINE[3]);
    let p = low + zz * (high + zz * SINE[4]);
    let (first, second) = (COSINE[0] + z * COSINE[1], COSINE[2] + z * COSINE[3]);
    let q = first + zz * second;
    (quarters, left + (left * z) * p, 1.0 - 0.5 * z + zz * q)
}

/// The sine of x radians; not a number where x is infinite or none.
pub fn sinf(x: f32) -> f32 {
    if !x.is_finite() {
        return f32::NAN;
    }
    let (quarters, sine, cosine) = sines(x);
    let size = if quarters & 1 == 1 { cosine } else { sine };
    (if (quarters & 2 == 2) == x.is_sign_negative() { size } else { -size }) as f32
}

/// The cosine of x radians; not a number where x is infinite or none.
pub fn cosf(x: f32) -> f32 {
    if !x.is_finite() {
        return f32::NAN;
    }
    let (quarters, sine, cosine) = sines(x);
    let size = if quarters & 1 == 1 { sine } else { cosine };
    (if (quarters + 1) & 2 == 2 { -size } else { size }) as f32
}

/// The tangent of x radians; not a number where x is infinite or none.
pub fn tanf(x: f32) -> f32 {
    if !x.is_finite() {
        return f32::NAN;
    }
    let (quarters, sine, cosine) = sines(x);
    let odd = quarters & 1 == 1;
    let size = if odd { cosine / sine } else { sine / cosine };
    (if odd == x.is_sign_negative() { size } else { -size }) as f32
}

#[cfg(test)]
mod tests {
    use super::super as c;
    use super::*;

    type Ours = fn(f32) -> f32;
    type Exact = fn(f64) -> f64;
    const ALL: [(Ours, Exact); 3] = [(sinf, c::sin), (cosf, c::cos), (tanf, c::tan)];

    /// Floats of all sizes, half of them up to 2^24, and those that are nearest to multiples of pi/2, where next to nothing is left.
    fn floats(n: u32) -> impl Iterator<Item = f32> {
        let mut seed = 88_172_645_463_325_252u64;
        let any = (0..n).map(move |i| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let bits = seed as u32;
            f32::from_bits(if i % 2 == 0 { bits } else { bits & 0x807f_ffff | (119 + (bits >> 23 & 31)) << 23 })
        });
        let near = (0..n).flat_map(|i| {
            let x = (f64::from(i) * 7.25_f64.powi(i as i32 % 12) * std::f64::consts::FRAC_PI_2) as f32;
            [x, x.next_up(), -x]
        });
        any.chain(near)
    }

    #[test]
    fn nearest_floats_but_for_a_few() {
        for (ours, exact) in ALL {
            let (mut all, mut others) = (0u32, 0u32);
            for x in floats(300_000).filter(|x| x.is_finite()) {
                let (ours, exact) = (ours(x), exact(f64::from(x)));
                let nearest = exact as f32;
                all += 1;
                others += u32::from(ours.to_bits() != nearest.to_bits());
                let (a, b) = (f64::from(ours), f64::from(nearest));
                assert!(
                    ours.to_bits() == nearest.to_bits() || (a - exact).abs() <= (b - exact).abs() * 1.0001,
                    "{x:e}: {ours:e}, not {nearest:e}"
                );
            }
            assert!(all > 1_000_000 && others <= 6, "{others} of {all}");
        }
    }

    #[test]
    fn zeros_and_what_has_no_angle() {
        for x in [0.0f32, 1e-45, f32::MIN_POSITIVE, 1e-10] {
            for (ours, exact) in [(sinf as Ours, 1.0), (tanf, 1.0)] {
                assert_eq!((ours(x).to_bits(), ours(-x).to_bits()), ((x * exact).to_bits(), (-x * exact).to_bits()));
            }
            assert_eq!((cosf(x), cosf(-x)), (1.0, 1.0));
        }
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(ALL.iter().all(|(ours, _)| ours(x).is_nan()));
        }
    }

    /// Where the two ways of taking whole quarters away meet.
    #[test]
    fn the_ways_agree() {
        for (ours, exact) in ALL {
            let edge = 1_048_576.0f32;
            for x in [edge.next_down().next_down(), edge.next_down(), edge, edge.next_up(), f32::MAX] {
                assert_eq!(ours(x).to_bits(), (exact(f64::from(x)) as f32).to_bits(), "{x:e}");
            }
        }
    }
}
