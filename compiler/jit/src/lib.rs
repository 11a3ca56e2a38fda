//! Machine code in memory: a program's filters and its steady state, translated from the kernel IR by Cranelift, run by the engine that
//! compiled programs have.
//!
//! Purpose: programs that start within milliseconds, and without a C compiler. Input: what the C back end gets ([`ProgramInput`]). Output:
//! [`Program`], which keeps code and tables in memory, and the address of its `sluice_abi`.
//!
//! ```text
//! kernels → filter, function, expr → code of each filter ┐
//! schedule → steady               → code of the steady state ├→ tables → sl_program, for the engine (codegen/rts/c, compiled into sluice)
//! graph, steady state, messages   → rows                 ┘
//! ```
//!
//! What must hold: the same bytes as from the interpreter and from C. Formulas are those of `sl_math.h`, operation by operation; Cranelift
//! neither contracts nor re-associates. What this back end does not do it refuses: [`cannot`].

mod bytes;
mod expr;
mod filter;
mod function;
mod machine;
mod place;
mod raw;
mod steady;
mod tables;

use machine::Machine;
pub use raw::check;
use sluice_codegen::c::fills::Fills;
use sluice_codegen::c::print::Site;
use sluice_codegen::{CodegenError, ProgramInput};
use std::any::Any;
use std::ffi::c_void;
use std::fmt;

/// A program whose code is in memory.
pub struct Program {
    /// Dropped with its memory by `Drop`.
    machine: Option<Machine>,
    abi: *const c_void,
    stats: Option<*const c_void>,
    /// What the numbers in `sluice_error.site` mean.
    pub sites: Vec<Site>,
    /// Steady states that run at once.
    pub batch: u64,
    /// How full channels get in a batch, for a program that counts.
    pub fills: Option<Fills>,
    /// The code before it became machine code, as Cranelift writes it; where that was asked for.
    pub text: String,
    /// The tables that code and engine point to.
    _tables: Vec<Box<dyn Any>>,
}

impl Program {
    /// Its `sluice_abi`, valid as long as the program.
    pub fn abi(&self) -> *const c_void {
        self.abi
    }

    /// Its `sluice_stats_v1`, where it counts.
    pub fn stats(&self) -> Option<*const c_void> {
        self.stats
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(machine) = self.machine.take() {
            machine.free();
        }
    }
}

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The program has something that only C code has.
    Cannot(&'static str),
    /// As for C code.
    Codegen(CodegenError),
    /// Cranelift refuses: a fault of ours, or a machine that it does not know.
    Cranelift(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Cannot(why) => write!(f, "{why}"),
            Refusal::Codegen(e) => e.fmt(f),
            Refusal::Cranelift(why) => write!(f, "no machine code was made: {why}"),
        }
    }
}

impl From<CodegenError> for Refusal {
    fn from(e: CodegenError) -> Refusal {
        Refusal::Codegen(e)
    }
}

/// What this back end does not do in a program.
pub fn cannot(input: &ProgramInput<'_>) -> Option<&'static str> {
    let called = sluice_frontend::analyses::natives::called(input.codes, input.graph, input.globals);
    if !called.is_empty() {
        return Some("the program calls native functions, which need a C compiler");
    }
    machine::unknown_processor()
}

/// Translates a program. `show`: give the code as text, too.
pub fn compile(input: &ProgramInput<'_>, show: bool) -> Result<Program, Refusal> {
    if let Some(why) = cannot(input) {
        return Err(Refusal::Cannot(why));
    }
    tables::make(input, show)
}
