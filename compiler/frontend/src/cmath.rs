//! The C library's mathematical functions, and some of our own.
//!
//! Takes and gives numbers; no state. Rust's own `f32::sinh` and others are other formulas than C's, so that generated C code and
//! the interpreter would differ in the last bit; these are the very functions that generated code links. [`atan2f`] and [`atanf`] are the formula of `sl_angle.h`, operation by operation,
//! and those of [`sine`] that of `sl_sine.h`: the same bits with every C library, and in every lane of a vector. The one module of this crate with unsafe code.

#![allow(unsafe_code)]

mod sine;

pub use sine::{cosf, sinf, tanf};

macro_rules! unary {
    ($($name:ident: $t:ty),* $(,)?) => {
        mod c {
            unsafe extern "C" {
                $(pub fn $name(x: $t) -> $t;)*
            }
        }
        $(
            /// The C library's function of that name.
            pub fn $name(x: $t) -> $t {
                // SAFETY: a function of ISO C's <math.h> with this signature, defined for every argument. It may set errno and
                // the floating-point flags, which nothing here reads.
                unsafe { c::$name(x) }
            }
        )*
    };
}

macro_rules! binary {
    ($($name:ident: $t:ty),* $(,)?) => {
        mod c2 {
            unsafe extern "C" {
                $(pub fn $name(x: $t, y: $t) -> $t;)*
            }
        }
        $(
            /// The C library's function of that name.
            pub fn $name(x: $t, y: $t) -> $t {
                // SAFETY: as above.
                unsafe { c2::$name(x, y) }
            }
        )*
    };
}

unary! {
    acosf: f32, acoshf: f32, asinf: f32, asinhf: f32, atanhf: f32, coshf: f32, expf: f32, expm1f: f32,
    logf: f32, log10f: f32, sinhf: f32, tanhf: f32,
    acos: f64, acosh: f64, asin: f64, asinh: f64, atan: f64, atanh: f64, cos: f64, cosh: f64, exp: f64, expm1: f64,
    log: f64, log10: f64, sin: f64, sinh: f64, tan: f64, tanh: f64,
}

binary! {
    fmodf: f32, powf: f32,
    atan2: f64, fmod: f64, pow: f64,
}

/// tan(pi/8): from there on a quotient is turned back by pi/4.
const FAR: f64 = f64::from_bits(0x3fda_8279_99fc_ef32);
/// Coefficients of (atan(u) / u - 1) / u^2 as a polynomial of u^2, of the least greatest relative error of atan(u) up to tan(pi/8): 2^-40.
const ANGLE: [f64; 7] = [
    f64::from_bits(0xbfd5_5555_54ef_f9ca),
    f64::from_bits(0x3fc9_9999_218b_baea),
    f64::from_bits(0xbfc2_490c_73d9_2348),
    f64::from_bits(0x3fbc_6d27_e140_b766),
    f64::from_bits(0xbfb7_087b_d1e8_766d),
    f64::from_bits(0x3fb1_e71f_9210_c676),
    f64::from_bits(0xbfa3_6f68_687f_8577),
];

/// The angle of the point (x, y), from -pi to pi, with the signs of zeros and what becomes of infinite numbers as ISO C says (annex F): within 0.500 02 units of the last place (half of one, 2^-40 of the angle for the polynomial, and the rounding of doubles).
pub fn atan2f(y: f32, x: f32) -> f32 {
    // 2^300: beside it every finite float vanishes
    let most = f64::from_bits(0x52b0_0000_0000_0000);
    let finite = |v: f32| {
        let v = f64::from(v).abs();
        if v > most { most } else { v }
    };
    let (ay, ax) = (finite(y), finite(x));
    let steep = ay > ax;
    let (a, b) = if steep { (ax, ay) } else { (ay, ax) };
    let far = a > b * FAR;
    let (up, down) = if far { (a - b, a + b) } else { (a, b) };
    let u = up / if down == 0.0 { 1.0 } else { down };
    let z = u * u;
    let zz = z * z;
    let (low, middle) = (ANGLE[0] + z * ANGLE[1], ANGLE[2] + z * ANGLE[3]);
    let high = ANGLE[4] + z * ANGLE[5];
    let top = high + zz * ANGLE[6];
    let p = (low + middle * zz) + top * (zz * zz);
    let mut r = u + (u * z) * p;
    if far {
        r += std::f64::consts::FRAC_PI_4;
    }
    if steep {
        r = std::f64::consts::FRAC_PI_2 - r;
    }
    if x.is_sign_negative() {
        r = std::f64::consts::PI - r;
    }
    (r as f32).copysign(y)
}

/// The angle whose tangent is x: that of the point (1, x).
pub fn atanf(x: f32) -> f32 {
    atan2f(x, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats of all sizes, and such that are near to one another.
    fn floats(n: u32) -> impl Iterator<Item = (f32, f32)> {
        let mut seed = 88_172_645_463_325_252u64;
        (0..n).map(move |i| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let near = |bits: u32| if i % 2 == 0 { bits } else { bits & 0x807f_ffff | (112 + (bits >> 24 & 31)) << 23 };
            (f32::from_bits(near(seed as u32)), f32::from_bits(near((seed >> 32) as u32)))
        })
    }

    #[test]
    fn angles_are_the_nearest_floats_but_for_a_few() {
        let (mut all, mut others) = (0u32, 0u32);
        for (y, x) in floats(400_000).filter(|(y, x)| !y.is_nan() && !x.is_nan()) {
            let (ours, exact) = (atan2f(y, x), atan2(f64::from(y), f64::from(x)));
            let nearest = exact as f32;
            all += 1;
            others += u32::from(ours.to_bits() != nearest.to_bits());
            let (a, b) = (f64::from(ours), f64::from(nearest));
            assert!(
                a == b || (a - exact).abs() <= (b - exact).abs() * 1.0001,
                "{y:e} {x:e}: {ours:e}, not {nearest:e}"
            );
            let (ours, exact) = (f64::from(atanf(y)), atan(f64::from(y)));
            assert!((ours - exact).abs() <= (f64::from(exact as f32) - exact).abs() * 1.0001 || y == 0.0, "{y:e}");
        }
        assert!(all > 300_000 && others <= 3, "{others} of {all}");
    }

    #[test]
    fn zeros_and_infinite_numbers_are_those_of_iso_c() {
        let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45, f32::MAX, f32::MIN];
        for y in special {
            for x in special {
                let (ours, exact) = (atan2f(y, x), atan2(f64::from(y), f64::from(x)) as f32);
                assert_eq!(ours.to_bits(), exact.to_bits(), "{y:e} {x:e}: {ours:e} for {exact:e}");
            }
            assert!(atan2f(y, f32::NAN).is_nan() && atan2f(f32::NAN, y).is_nan());
            assert_eq!(atanf(y).to_bits(), (atan(f64::from(y)) as f32).to_bits());
        }
        assert!(atanf(f32::NAN).is_nan());
    }
}
