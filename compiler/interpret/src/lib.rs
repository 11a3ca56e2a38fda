//! The reference interpreter of the Sluice stream language.
//!
//! Takes an elaborated program ([`Program`]) and the world around it ([`Outside`]); runs it in the reference order of
//! `docs/execution.md`, checking every rate, index and division. It walks the typed program, so that it and the compiled code,
//! which goes through the kernel IR, check each other. What must hold of a program: the invariants of
//! [`sluice_frontend::typed`] and [`sluice_frontend::graph`], and a steady state of that very graph.

pub mod error;
mod fire;
pub mod items;
mod mail;
pub mod observe;
mod order;
mod run;
mod watch;

pub use error::RunError;
pub use run::{Options, Program, Summary, run, watch};

use sluice_frontend::eval::Value;
use sluice_frontend::ids::NativeId;

/// The program's ends. Readers and writers are numbered apart, each in program order.
pub trait Outside {
    /// Fills `item` with the next item of a reader, in the form that [`items`] describes. False at the end, and ever after.
    fn read(&mut self, reader: usize, item: &mut [u8]) -> Result<bool, String>;

    /// Gives an item to a writer.
    fn write(&mut self, writer: usize, item: &[u8]) -> Result<(), String>;

    /// Prints text.
    fn print(&mut self, text: &str) -> Result<(), String>;

    /// Calls a native function; it may write the arrays among its arguments, which are references.
    fn native(&mut self, function: NativeId, args: &[Value]) -> Result<Value, String> {
        let _ = (function, args);
        Err("there are no native functions here".into())
    }

    /// Asked now and then, and before every firing: should the run stop here? It then ends without an error.
    fn wants_stop(&mut self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
