//! # machine
//!
//! Purpose: the units of a multiprocessor, and how many warps they take in a cycle (paper 002, equations (1) and (2)). Input: numbers of units
//! and the size of a warp. Output: o_L and o_C as exact fractions, and what the model makes of them: whole numbers of warps per cycle, and
//! cycles per instruction.

use super::kernel::Unit;
use crate::analysis::cycle_ratio::Ratio;
use std::fmt;

/// o of one kind of unit: units divided by threads of a warp, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity(Ratio);

impl Capacity {
    /// One warp per cycle.
    pub const ONE: Capacity = Capacity(Ratio { weight: 1, distance: 1 });

    /// `None` unless both are at least 1.
    pub fn new(units: u32, warp_size: u32) -> Option<Capacity> {
        (units > 0 && warp_size > 0).then(|| Capacity(Ratio::new(units.into(), warp_size.into())))
    }

    /// Cycles of one instruction: 1 where a warp fits into the units, else n for o = 1/n, rounded up (3/4 is two cycles).
    pub fn cycles(self) -> u32 {
        self.0.distance.div_ceil(self.0.weight).max(1) as u32
    }

    /// Warps that begin an instruction in one cycle: o, rounded down (3/2 is one warp: half a warp cannot run), and at least 1.
    pub fn at_once(self) -> u32 {
        (self.0.weight / self.0.distance).max(1) as u32
    }

    /// Is o a whole number or 1/n, so that nothing had to be rounded?
    pub fn is_exact(self) -> bool {
        self.0.weight == 1 || self.0.distance == 1
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0.distance {
            1 => write!(f, "{}", self.0.weight),
            d => write!(f, "{}/{d}", self.0.weight),
        }
    }
}

/// A multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// o_L
    pub load_store: Capacity,
    /// o_C
    pub cores: Capacity,
}

impl Machine {
    /// One warp per cycle on each kind of unit.
    pub const ONE: Machine = Machine { load_store: Capacity::ONE, cores: Capacity::ONE };

    /// The capacity for instructions of one kind.
    pub fn of(&self, unit: Unit) -> Capacity {
        match unit {
            Unit::LoadStore => self.load_store,
            Unit::Core => self.cores,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities() {
        let of = |units, size| {
            let c = Capacity::new(units, size).unwrap();
            (c.to_string(), c.cycles(), c.at_once(), c.is_exact())
        };
        assert_eq!(of(32, 32), ("1".into(), 1, 1, true));
        assert_eq!(of(16, 32), ("1/2".into(), 2, 1, true));
        assert_eq!(of(128, 32), ("4".into(), 1, 4, true));
        assert_eq!(of(48, 32), ("3/2".into(), 1, 1, false));
        assert_eq!(of(24, 32), ("3/4".into(), 2, 1, false));
        assert_eq!(of(1, u32::MAX), (format!("1/{}", u32::MAX), u32::MAX, 1, true));
        assert_eq!(Capacity::new(0, 32), None);
        assert_eq!(Capacity::new(32, 0), None);
    }
}
