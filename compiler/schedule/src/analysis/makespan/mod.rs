//! # makespan
//!
//! Purpose: the longest time that the warps of a kernel may take on one multiprocessor, whatever a work-conserving scheduler does. Input: a
//! [`Problem`]: a string of instructions, a number of warps, a machine. Output: bounds, each with what it is worth, and schedules that are
//! witnesses of them, which [`schedule::judge`] replays.
//!
//! ```text
//! kernel LLC, 4 warps, one warp per cycle on each unit: sound bound 12, worst case 9
//! ```
//!
//! Source: "Makespan computation for GPU threads running on a single streaming multiprocessor" (paper 002). Two of the paper's claims do not
//! hold, see [`bounds::paper`] and [`estimate`]; what is not a bound is never used as one. The methods: [`bounds`], [`program`] (the integer
//! program), [`exact`] (a dynamic programme over counts of warps), [`estimate`].

pub mod abstraction;
pub mod blocks;
pub mod bounds;
pub mod bracket;
pub mod estimate;
pub mod exact;
pub mod kernel;
pub mod machine;
pub mod method;
pub mod potential;
pub mod program;
pub mod schedule;
pub mod search;

pub use kernel::{Kernel, Unit};
pub use machine::{Capacity, Machine};

use std::fmt;

/// The most instructions of a kernel, after those that take several cycles have been repeated.
pub const MOST_INSTRUCTIONS: usize = 100_000;
/// The most warps: those of a device of any size.
pub const MOST_WARPS: u32 = 1_000_000;

/// A kernel whose instructions take one cycle each, on a machine that starts whole numbers of warps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    units: Vec<Unit>,
    warps: u32,
    o_l: u32,
    o_c: u32,
}

/// Why there is no problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too long, once repeated: so many instructions.
    TooLong(u64),
    /// None, or more than [`MOST_WARPS`].
    Warps(u64),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refused::TooLong(n) => {
                write!(f, "the kernel has {n} instructions of one cycle, the limit is {MOST_INSTRUCTIONS}")
            }
            Refused::Warps(n) => write!(f, "{n} warps are not between 1 and {MOST_WARPS}"),
        }
    }
}

impl Problem {
    /// Repeats each instruction as often as the machine takes cycles for it (the paper's figure 1).
    pub fn new(kernel: &Kernel, machine: &Machine, warps: u64) -> Result<Problem, Refused> {
        let w = u32::try_from(warps).ok().filter(|w| (1..=MOST_WARPS).contains(w)).ok_or(Refused::Warps(warps))?;
        let times = |u: &Unit| machine.of(*u).cycles() as usize;
        let length: u64 = kernel.units().iter().map(|u| times(u) as u64).sum();
        if length > MOST_INSTRUCTIONS as u64 {
            return Err(Refused::TooLong(length));
        }
        let units = kernel.units().iter().flat_map(|u| std::iter::repeat_n(*u, times(u))).collect();
        Ok(Problem { units, warps: w, o_l: machine.load_store.at_once(), o_c: machine.cores.at_once() })
    }

    /// The unit of each instruction, in order; at least one.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The kernel as it is counted here.
    pub fn kernel(&self) -> Kernel {
        Kernel::new(self.units.clone())
    }

    /// W.
    pub fn warps(&self) -> u32 {
        self.warps
    }

    /// The same kernel with another number of warps, at least 1.
    pub fn with_warps(&self, warps: u32) -> Problem {
        Problem { warps: warps.clamp(1, MOST_WARPS), ..self.clone() }
    }

    /// Warps that a unit takes in one cycle: o_L or o_C, at least 1.
    pub fn at_once(&self, unit: Unit) -> u32 {
        match unit {
            Unit::LoadStore => self.o_l,
            Unit::Core => self.o_c,
        }
    }

    /// Instructions for a unit in one warp: I_L or I_C.
    pub fn count(&self, unit: Unit) -> u64 {
        self.units.iter().filter(|u| **u == unit).count() as u64
    }
}
