//! # cslow
//!
//! Purpose: what `sluice cslow` shows: what it would gain to let streams take turns. Input: numbers of a loop, or an elaborated program.
//! Output: a table, or the JSON documents of docs/cslow.md.
//!
//! The model is [`sluice_schedule::retime::load`]; what it asks of a filter says [`sluice_kernel::loop_shape`]; iteration bounds and
//! smallest periods come from the homogeneous graph ([`sluice_schedule::retime`]).

mod bounds;
mod model;
mod program;
mod table;

pub use model::{Numbers, model, model_table};
pub use program::{Report, report};
pub use table::table;

pub use sluice_schedule::retime::load::Machine;

/// Options of `cslow`.
#[derive(Clone, Debug, Default)]
pub struct CslowOptions {
    /// The loop, where it is given in numbers.
    pub numbers: Option<Numbers>,
    /// The machine.
    pub machine: Machine,
    /// C, where it is given.
    pub c: Option<u64>,
    /// Show only this stream, state or not.
    pub filter: Option<String>,
    /// JSON instead of text.
    pub json: bool,
}

/// A number with few digits, as tables show it: `8`, `0.625`, `1.33`.
fn short(x: f64) -> String {
    let text = format!("{x:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_string()
}
