//! # tolerance
//!
//! Purpose: when two numbers agree. Without a tolerance only the same number does; with one, a number agrees that keeps to any of its
//! limits. NaN agrees with NaN, an infinity with itself, and nothing else with them.

use super::shape::Kind;

/// How far a number may be from the expected one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// So far in any case.
    pub absolute: Option<f64>,
    /// So far for each unit of the expected number's size.
    pub relative: Option<f64>,
    /// So many steps from one number of the item's type to the next.
    pub ulps: Option<u64>,
}

impl Tolerance {
    /// Is anything but the same number accepted?
    pub fn is_exact(&self) -> bool {
        *self == Tolerance::default()
    }

    /// Does the number agree with the expected one?
    pub fn agrees(&self, kind: Kind, expected: f64, got: f64) -> bool {
        if expected.is_nan() || got.is_nan() {
            return expected.is_nan() && got.is_nan();
        }
        if self.is_exact() {
            // 0 and -0 are two numbers.
            return expected.to_bits() == got.to_bits();
        }
        if expected == got {
            return true;
        }
        if !expected.is_finite() || !got.is_finite() || matches!(kind, Kind::Bit | Kind::Boolean | Kind::Byte) {
            return false;
        }
        let off = (expected - got).abs();
        self.absolute.is_some_and(|most| off <= most)
            || self.relative.is_some_and(|most| off <= most * expected.abs())
            || self.ulps.is_some_and(|most| kind.is_real() && ulps(kind, expected, got) <= most)
    }

    /// Do two texts agree, their numbers within the tolerance? (Units of the last place mean nothing for printed digits.)
    pub fn texts_agree(&self, expected: &str, got: &str) -> bool {
        if expected == got {
            return true;
        }
        if self.absolute.is_none() && self.relative.is_none() {
            return false;
        }
        let limits = Tolerance { ulps: None, ..*self };
        let (mut a, mut b) = (words(expected), words(got));
        loop {
            match (a.next(), b.next()) {
                (None, None) => return true,
                (Some(x), Some(y)) if x == y => {}
                (Some(x), Some(y)) => match (x.parse::<f64>(), y.parse::<f64>()) {
                    (Ok(x), Ok(y)) if limits.agrees(Kind::Double, x, y) => {}
                    _ => return false,
                },
                _ => return false,
            }
        }
    }
}

/// A text cut into what may be numbers and what lies between.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c| part(c) != part(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Steps from one number of the kind to the other, both finite; 0 and -0 are the same place.
pub fn ulps(kind: Kind, a: f64, b: f64) -> u64 {
    let place = |x: f64| -> i64 {
        let bits = match kind {
            Kind::Float => i64::from((x as f32).to_bits() as i32),
            _ => x.to_bits() as i64,
        };
        let sign = if kind == Kind::Float { i64::from(i32::MIN) } else { i64::MIN };
        if bits < 0 { sign.wrapping_sub(bits) } else { bits }
    };
    place(a).abs_diff(place(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_tolerance_only_the_same() {
        let exact = Tolerance::default();
        assert!(exact.agrees(Kind::Float, 1.5, 1.5) && exact.agrees(Kind::Float, f64::NAN, -f64::NAN));
        assert!(!exact.agrees(Kind::Float, 0.0, -0.0) && !exact.agrees(Kind::Float, 1.0, 1.0 + f64::EPSILON));
        assert!(exact.agrees(Kind::Double, f64::INFINITY, f64::INFINITY));
    }

    #[test]
    fn any_limit_is_enough() {
        let absolute = Tolerance { absolute: Some(0.5), ..Tolerance::default() };
        assert!(absolute.agrees(Kind::Float, 1.0, 1.5) && !absolute.agrees(Kind::Float, 1.0, 1.6));
        assert!(absolute.agrees(Kind::Float, 0.0, -0.0));
        let none = Tolerance { absolute: Some(0.0), ..Tolerance::default() };
        assert!(none.agrees(Kind::Float, 0.0, -0.0) && !none.agrees(Kind::Float, 0.0, 1e-45));
        let relative = Tolerance { relative: Some(0.01), ..Tolerance::default() };
        assert!(relative.agrees(Kind::Int, -100.0, -101.0) && !relative.agrees(Kind::Int, 100.0, 102.0));
        assert!(!relative.agrees(Kind::Float, 0.0, 1e-30));
        for limits in [absolute, relative, Tolerance { ulps: Some(u64::MAX), ..relative }] {
            for (a, b) in [(f64::NAN, 0.0), (0.0, f64::NAN), (f64::INFINITY, f64::MAX), (1.0, f64::NEG_INFINITY)] {
                assert!(!limits.agrees(Kind::Double, a, b), "{limits:?} {a} {b}");
            }
            assert!(limits.agrees(Kind::Double, f64::NAN, f64::NAN));
            assert!(!limits.agrees(Kind::Boolean, 0.0, 1.0) && !limits.agrees(Kind::Bit, 1.0, 0.0));
        }
    }

    #[test]
    fn steps_between_numbers() {
        let next = |x: f32| f64::from(f32::from_bits(x.to_bits() + 1));
        assert_eq!(ulps(Kind::Float, 1.0, next(1.0)), 1);
        assert_eq!(ulps(Kind::Float, -0.0, 0.0), 0);
        assert_eq!(ulps(Kind::Float, f64::from(-f32::from_bits(1)), f64::from(f32::from_bits(2))), 3);
        assert_eq!(ulps(Kind::Double, 1.0, 1.0 + f64::EPSILON), 1);
        assert_eq!(ulps(Kind::Double, f64::MIN, f64::MAX), 2 * f64::MAX.to_bits());
        let two = Tolerance { ulps: Some(2), ..Tolerance::default() };
        assert!(two.agrees(Kind::Float, 1.0, next(1.0)) && !two.agrees(Kind::Double, 1.0, next(1.0)));
        assert!(!two.agrees(Kind::Int, 1.0, 2.0));
    }

    #[test]
    fn numbers_in_texts() {
        let close = Tolerance { absolute: Some(0.01), ..Tolerance::default() };
        assert!(close.texts_agree("level: 1.000, -3.5 dB", "level: 1.001, -3.505 dB"));
        for other in ["level: 1.001,  -3.5 dB", "level: 1.001, -3.5 db", "level: 1.5, -3.5 dB", "level: 1.0, -3.5", ""]
        {
            assert!(!close.texts_agree("level: 1.000, -3.5 dB", other), "{other}");
        }
        assert!(close.texts_agree("nan inf", "NaN inf") && !close.texts_agree("inf", "-inf"));
        assert!(!Tolerance { ulps: Some(9), ..Tolerance::default() }.texts_agree("1.0", "1.00"));
    }
}
