//! C and CUDA text from the kernel IR and a verified schedule.
//!
//! One program becomes one C file: the run-time support of `rts/c`, the filters, tables of the graph, and the steady state as
//! compiled loops. [`c::program::emit_program`] is the way in.

pub mod c;
pub mod cuda;

pub use c::program::{CProgram, CodegenError, Flavour, ProgramInput, ProgramOptions, emit_program, emit_stages};
