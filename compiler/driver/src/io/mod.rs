//! Input and output: one set of readers and writers for the interpreter and for native runs.

mod bits;
pub mod bytes;
pub mod format;
pub mod host;
pub mod item;
mod many;
pub mod place;
pub mod progress;
pub mod reader;
pub mod sink;
#[cfg(test)]
mod tests;
pub mod text;
pub mod wav;
pub mod writer;
