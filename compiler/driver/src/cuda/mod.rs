//! Programs on a GPU, or on the emulation of one.

pub mod emit;
