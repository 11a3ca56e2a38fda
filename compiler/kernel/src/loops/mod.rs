//! Loops of a work function as a processor sees them.

pub mod address;

#[cfg(test)]
pub(crate) mod tests;
