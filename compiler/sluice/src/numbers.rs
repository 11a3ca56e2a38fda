//! Options that are numbers: whatever is wrong with one, the message says which are right.

use std::ops::RangeInclusive;

/// A whole number, both ends included. The range must fit the type.
pub fn whole<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|n| range.contains(n)).and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| format!("not a whole number from {} to {}", range.start(), range.end()))
    }
}

/// A number that need not be whole, both ends included.
pub fn real(text: &str, range: RangeInclusive<f64>) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| range.contains(x));
    number.ok_or_else(|| format!("not a number from {} to {}", range.start(), range.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_said_whatever_is_wrong() {
        let batch = whole::<u64>(1..=1 << 32);
        assert_eq!(batch("4294967296"), Ok(1 << 32));
        for wrong in ["0", "4294967297", "99999999999999999999", "-1", "x", "", "1.5"] {
            assert_eq!(batch(wrong).unwrap_err(), "not a whole number from 1 to 4294967296", "{wrong}");
        }
        assert!(whole::<u16>(0..=70_000)("70000").is_err());
        assert_eq!(real("0.5", 0.0..=1.0), Ok(0.5));
        for wrong in ["1.5", "-1", "x", "nan", "inf"] {
            assert_eq!(real(wrong, 0.0..=1.0).unwrap_err(), "not a number from 0 to 1", "{wrong}");
        }
    }
}
