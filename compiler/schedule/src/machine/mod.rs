//! Machines that programs are scheduled for, as TOML files describe them; docs/schedule.md says what each field means.

mod read;

pub use read::read;

use sluice_kernel::cost::Cost;

/// A machine: equal processors, and what operations cost on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// For people.
    pub name: String,
    /// What kind of processors.
    pub kind: Kind,
    /// How many: multiprocessors of a GPU, cores of a CPU. At least 1.
    pub processors: u32,
    /// Firings that a processor runs side by side.
    pub lanes: u64,
    /// Firings in the smallest instance of a stateless filter: threads of a block.
    pub threads: u64,
    /// Millions of cycles per second.
    pub clock_mhz: f64,
    /// 32-bit registers of a processor.
    pub registers: u64,
    /// Bytes of fast memory that a processor's threads share.
    pub shared_bytes: u64,
    /// Bytes of the memory that all processors reach.
    pub memory_bytes: u64,
    /// Cycles from one kernel to the next besides the work.
    pub launch_cycles: u64,
    /// Cycles that each instance costs besides its firings.
    pub instance_cycles: u64,
    /// How many times slower a firing is that runs alone: its operations wait for one another.
    pub alone: u64,
    /// By kind of operation, its cycles for `lanes` firings at a time.
    pub cycles: Cost,
}

/// Kinds of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Multiprocessors of a graphics processor.
    Gpu,
    /// Cores.
    Cpu,
}

/// The machines that come with Sluice: the name by which they are called, and their text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("8800-gts-512", include_str!("8800-gts-512.toml")),
    ("a100", include_str!("a100.toml")),
    ("h200", include_str!("h200.toml")),
    ("cpu", include_str!("cpu.toml")),
];

/// A machine that comes with Sluice.
pub fn shipped(name: &str) -> Option<Machine> {
    let text = SHIPPED.iter().find(|(n, _)| *n == name)?.1;
    // A test reads all of them.
    read(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_machines_are_read() {
        let of = |name| read(SHIPPED.iter().find(|(n, _)| *n == name).unwrap().1).unwrap();
        assert_eq!(of("8800-gts-512").processors, 16);
        assert_eq!(of("h200").processors, 132);
        assert_eq!(of("a100").processors, 108);
        assert_eq!(of("cpu").kind, Kind::Cpu);
        for (name, _) in SHIPPED {
            assert!(shipped(name).is_some(), "{name}");
        }
        assert_eq!(shipped("pdp-11"), None);
    }
}
