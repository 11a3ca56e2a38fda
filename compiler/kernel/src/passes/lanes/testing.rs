//! What tests of lanes share.

use crate::ir::Kernel;
use crate::passes::lanes;
use crate::text::{parse, print};
use crate::verify::verify;

/// The kernel of this text with its lanes; `;` ends a statement.
pub(super) fn lanes_of(text: &str) -> Kernel {
    let text = text.replace(';', " @0:0-1");
    let mut kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    lanes::run(&mut kernel);
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    // what is printed reads back
    assert_eq!(parse(&print(&kernel)).as_ref(), Ok(&kernel));
    kernel
}
