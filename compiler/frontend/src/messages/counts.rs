//! Functions from firing numbers to firing numbers that repeat with the steady state.

/// f(n) for n ≥ 0, monotone: listed up to some n, from then on f(n + period) = f(n) + step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Counts {
    /// f(0), f(1), ...; the last `period` values repeat. Never empty, at least `period` long.
    pub head: Vec<u64>,
    /// After how many arguments it repeats, at least 1.
    pub period: u64,
    /// By how much it grows in a period.
    pub step: u64,
}

impl Counts {
    /// Always the same.
    pub fn constant(value: u64) -> Counts {
        Counts { head: vec![value], period: 1, step: 0 }
    }

    /// Lists `f` for the arguments below `start + period`; from `start` on it repeats.
    pub fn list(start: u64, period: u64, step: u64, f: impl FnMut(u64) -> u64) -> Counts {
        let period = period.max(1);
        Counts { head: (0..start.saturating_add(period)).map(f).collect(), period, step }
    }

    /// f(n).
    pub fn at(&self, n: u64) -> u64 {
        let len = self.head.len() as u64;
        if n < len {
            return self.head[n as usize];
        }
        let (beyond, period) = (n - len, self.period.min(len));
        let value = self.head[(len - period + beyond % period) as usize];
        value.saturating_add((beyond / period + 1).saturating_mul(self.step))
    }

    /// The least n with f(n) ≥ `value`; `None` where f never grows so large.
    pub fn first_reaching(&self, value: u64) -> Option<u64> {
        let len = self.head.len() as u64;
        let last = *self.head.last()?;
        let periods = if value <= last {
            0
        } else if self.step == 0 {
            return None;
        } else {
            (value - last).div_ceil(self.step)
        };
        // f(len - 1 + periods·period) is large enough
        let (mut low, mut high) = (0, (len - 1).saturating_add(periods.saturating_mul(self.period)));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle) >= value { high = middle } else { low = middle + 1 }
        }
        Some(low)
    }

    /// The greatest n with f(n) ≤ `value`, where f(0) ≤ `value`; `None` where f stays below for ever.
    pub fn last_within(&self, value: u64) -> Option<u64> {
        self.first_reaching(value.checked_add(1)?).map(|n| n.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_with_growth() {
        // 0 1 1 2, then 2 more every 3
        let f = Counts { head: vec![0, 1, 1, 2], period: 3, step: 2 };
        let values: Vec<u64> = (0..11).map(|n| f.at(n)).collect();
        assert_eq!(values, [0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7]);
        for value in 0..30 {
            let n = f.first_reaching(value).unwrap();
            assert!(f.at(n) >= value && (n == 0 || f.at(n - 1) < value), "{value}");
            let n = f.last_within(value).unwrap();
            assert!(f.at(n) <= value && f.at(n + 1) > value, "{value}");
        }
    }

    #[test]
    fn a_constant_is_never_passed() {
        let f = Counts::constant(4);
        assert_eq!((f.at(0), f.at(1000)), (4, 4));
        assert_eq!((f.first_reaching(4), f.first_reaching(5), f.last_within(4)), (Some(0), None, None));
    }
}
