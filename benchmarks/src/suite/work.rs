//! # work
//!
//! Purpose: what a roofline needs of a program. Input: a program of the suite. Output: the bytes that a steady state moves at the open
//! ends, and the operations of the filters' code as the compiler's cost model counts them, nothing of it typed by hand. Bytes in
//! between are the compiler's affair: a roofline has no others.

use super::Benchmark;
use sluice_driver::options::ProgramOptions;
use sluice_driver::pipeline::{self, Checked, Halt};
use sluice_driver::scheduling;
use sluice_driver::session::Session;
use std::path::Path;

/// Bytes and operations of a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Bytes that come in.
    pub input_bytes: u64,
    /// Bytes that go out.
    pub output_bytes: u64,
    /// Additions, multiplications, comparisons, divisions and functions of floats.
    pub floats: u64,
    /// Simple operations on ints, those of loops and indices among them.
    pub ints: u64,
    /// Of those on floats, such functions as `sin`, which a GPU rounds otherwise than a CPU.
    pub functions: u64,
}

/// Bytes at both ends in a steady state.
pub fn bytes(b: &Benchmark) -> (u64, u64) {
    let of = |(item, count): (super::Item, usize)| 4 * (item.words() * count) as u64;
    (of(b.input), of(b.output))
}

/// The work of the program in the repository at `root`.
pub fn of(b: &Benchmark, root: &Path) -> Result<Work, Halt> {
    let files = vec![b.program(root, None).display().to_string()];
    let options = ProgramOptions { files, ..ProgramOptions::default() };
    let mut session = Session::new(&options, false)?;
    let checked = pipeline::check(&mut session, &options)?;
    let (floats, ints, functions) = operations(&mut session, &checked)?;
    let (input_bytes, output_bytes) = bytes(b);
    Ok(Work { input_bytes, output_bytes, floats, ints, functions })
}

/// Operations of a steady state on floats, on ints, and functions of floats.
fn operations(session: &mut Session, checked: &Checked) -> Result<(u64, u64, u64), Halt> {
    let costs = scheduling::weights(session, checked)?.costs;
    let (mut floats, mut ints, mut functions) = (0, 0, 0);
    for (r, cost) in checked.program.steady.repetitions.iter().zip(&costs) {
        functions += r * cost.function;
        // the model counts divisions of both kinds as one
        let of_ints = cost.float == 0 && cost.function == 0;
        floats += if of_ints { 0 } else { r * cost.on_floats() };
        ints += r * if of_ints { cost.int + cost.divide } else { cost.int };
    }
    Ok((floats, ints, functions))
}

/// The program's row in the page's table: bytes and operations of a steady state, then operations for each item of input and for each byte
/// at the ends, of floats, or where there are none of ints.
pub fn row(b: &Benchmark, w: &Work) -> String {
    let (bytes, operations) = (w.input_bytes + w.output_bytes, if w.floats > 0 { w.floats } else { w.ints });
    format!(
        "| {} | {} | {} | {} | {} | {:.1} | {:.2} |",
        b.name,
        w.input_bytes,
        w.output_bytes,
        w.floats,
        w.ints,
        operations as f64 / b.input.1 as f64,
        operations as f64 / bytes as f64
    )
}
