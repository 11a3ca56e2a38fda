//! How long an instruction keeps its unit: the documented table (docs/makespan.md). A multiprocessor has `cores` cores, and finishes `rate` results of a class in a cycle: an instruction takes
//! cores / rate cycles of a core, rounded up, and its letter is repeated as often.
//!
//! Rates are those of NVIDIA's CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"; where generations of the same class differ, the lower one. Units are those of the
//! architectures' white papers.

use crate::cuda::arch::Arch;
use sluice_schedule::analysis::makespan::Unit;

/// What instructions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Sums and products of 32-bit floats.
    Float,
    /// Integers, comparisons, conditions, moves of registers.
    Integer,
    /// 64-bit floats.
    Double,
    /// Reciprocals, roots, exponentials, sines.
    Special,
    /// From one type to another one; bits counted or turned round.
    Conversion,
    /// Memory, of so many bytes for each thread.
    Memory(u32),
    /// Branches, barriers, what is computed once for a warp.
    Control,
    /// No instruction of the machine.
    Nothing,
}

/// A multiprocessor's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Load/store units.
    pub ls_units: u32,
    /// Cores: 32-bit float operations begun in a cycle.
    pub cores: u32,
}

/// Those of an architecture; of one that is newer than this table, those of the newest.
pub fn units(arch: Arch) -> Units {
    let (ls_units, cores) = match (arch.major, arch.minor) {
        (..=7, _) => (16, 64),
        (8, 0) => (32, 64),
        (8, _) => (16, 128),
        _ => (32, 128),
    };
    Units { ls_units, cores }
}

/// Results of 64-bit floats in a cycle.
fn doubles(arch: Arch) -> u32 {
    match (arch.major, arch.minor) {
        (8, 0) => 32,
        (9, _) | (10, 0) => 64,
        _ => 2,
    }
}

/// What a class needs, and for how many cycles.
pub fn cycles(class: Class, arch: Arch) -> (Unit, u32) {
    let cores = units(arch).cores;
    let rate = match class {
        Class::Nothing => return (Unit::Core, 0),
        Class::Memory(bytes) => return (Unit::LoadStore, bytes.div_ceil(4).max(1)),
        Class::Control => return (Unit::Core, 1),
        Class::Float => cores,
        Class::Integer => 64,
        Class::Double => doubles(arch),
        Class::Special | Class::Conversion => 16,
    };
    (Unit::Core, cores.div_ceil(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_documentation() {
        let of = |class: Class, number: u32| cycles(class, Arch::of_number(number)).1;
        assert_eq!([75, 80, 86, 90, 100].map(|n| of(Class::Integer, n)), [1, 1, 2, 2, 2]);
        assert_eq!([75, 80, 86, 90, 100, 120].map(|n| of(Class::Double, n)), [32, 2, 64, 2, 2, 64]);
        assert_eq!([75, 80, 90].map(|n| of(Class::Special, n)), [4, 4, 8]);
        assert_eq!(cycles(Class::Memory(16), Arch::of_number(90)), (Unit::LoadStore, 4));
        assert_eq!(of(Class::Float, 90), 1);
    }
}
