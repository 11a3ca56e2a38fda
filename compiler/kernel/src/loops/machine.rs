//! The processor that a loop is looked at for: in order, so many instructions a cycle.
//!
//! Source: "Method for Software Pipelining on GPUs", section 2.1: "the arithmetic instructions, branching, and moving data between registers
//! taking one cycle to complete, whereas memory operations require four cycles". Its table 1 follows from three rules: an instruction is
//! issued each cycle, loads and stores overlap with what comes after them, and an instruction waits until its operands are there.

/// Latencies in cycles: from the issue of an instruction to that of one that needs its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core {
    /// Instructions issued in a cycle.
    pub issue: u32,
    /// Additions, multiplications, comparisons, moves, jumps.
    pub simple: u64,
    /// Loads and stores.
    pub memory: u64,
    /// Divisions and square roots.
    pub divide: u64,
    /// Library functions.
    pub function: u64,
}

impl Core {
    /// The paper's; it has no divisions: these take as long as [`crate::cost`] says.
    pub const PAPER: Core = Core { issue: 1, simple: 1, memory: 4, divide: 12, function: 40 };
}
