//! # instructions
//!
//! Purpose: what a warp of a compiled kernel issues, instruction after instruction, loops written out. Input: machine code as nvdisasm prints it, or PTX; what is known when a kernel
//! is started. Output: for each warp a [`walk::Trace`]: units and cycles in order, with the barriers of its block between.
//!
//! ```text
//! cubin ── nvdisasm ── sass::read ─┐
//! PTX ──────────────── ptx::read ──┴─ Code ── walk::walk ── Trace
//! ```
//!
//! Nothing is guessed: integers that loops count are computed as the machine would, what memory holds is unknown; a branch that depends on it is walked both ways, a loop that does so has
//! no trace.

pub mod bits;
pub mod constants;
pub mod flow;
pub mod image;
pub mod ptx;
pub mod sass;
pub mod table;
pub mod value;
pub mod walk;

use sluice_schedule::analysis::makespan::Unit;
use value::Calc;

/// The bank of constant memory, one that no machine has, whose first number is that of the block, where it is known.
pub const BLOCK: u32 = 1 << 16;

/// A register's number in a [`Code`].
pub type Register = usize;

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is in the text.
    Known(u64),
    /// Nobody knows.
    Unknown,
    /// A register.
    Register(Register),
    /// Two registers of 32 bits, the low one first.
    Pair(Register, Register),
    /// Four bytes of constant memory: its bank, the offset.
    Constant(u32, u64),
    /// Eight bytes of it.
    WideConstant(u32, u64),
    /// The number of the thread in its block.
    Thread,
    /// That of the lane in its warp.
    Lane,
}

/// What is made of a number before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifier {
    /// Nothing.
    Plain,
    /// Its negative, of 32 bits.
    Negative,
    /// All bits the other way, of 32 bits.
    Inverted,
    /// 1 of 0, else 0.
    Not,
}

/// An argument of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Where it comes from.
    pub source: Source,
    /// What is made of it.
    pub modifier: Modifier,
}

impl Operand {
    /// As it is.
    pub fn plain(source: Source) -> Operand {
        Operand { source, modifier: Modifier::Plain }
    }

    /// A number of the text.
    pub fn known(value: u64) -> Operand {
        Operand::plain(Source::Known(value))
    }
}

/// What an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A register.
    Register(Register),
    /// Two of 32 bits, the low one first.
    Pair(Register, Register),
}

/// A write: what is unknown is not computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Where to.
    pub to: Target,
    /// How; `None`: to a number that nobody knows.
    pub calc: Option<Calc>,
    /// Of what.
    pub from: Vec<Operand>,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// All writes at once.
    Writes(Vec<Effect>),
    /// Moves numbers between registers and the thread's own memory, where registers are kept that are too few; nothing else uses that memory.
    Local {
        /// Into memory, not out of it.
        stores: bool,
        /// A register with an address, and how far from there.
        address: (Register, u64),
        /// 32 bits each.
        registers: Vec<Register>,
    },
    /// Goes on at this instruction.
    Jump(usize),
    /// Comes back to the next one.
    Call(usize),
    /// The end of what was called.
    Return,
    /// The end of the thread.
    Exit,
    /// Waits for all warps of the block.
    Barrier,
    /// Something that is not followed.
    Beyond(&'static str),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// It does nothing unless all of these are 1.
    pub guard: Vec<Operand>,
    /// What it needs.
    pub unit: Unit,
    /// For how many cycles: 0, if it is no instruction of the machine.
    pub cycles: u32,
    /// What it does.
    pub action: Action,
    /// The line of its text, from 1.
    pub line: usize,
}

/// Some functions.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The instructions of all of them.
    pub instructions: Vec<Instruction>,
    /// How many registers there are.
    pub registers: usize,
    /// Some that have a number from the beginning.
    pub known: Vec<(Register, u64)>,
    /// Where the kernel begins.
    pub entry: usize,
    /// What constant memory holds.
    pub constants: constants::Constants,
}
