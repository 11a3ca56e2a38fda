//! # cuda
//!
//! Purpose: programs on a GPU, or on the emulation of one. Input: the texts of a program with kernels, and what the command line says. Output: the
//! program in memory, joined to a [`device::Device`] that holds its kernels.
//!
//! ```text
//! texts ──┬─ host text ── cc ──────────────────────────── Native ─┐
//!         └─ device text ─┬─ NVRTC ── cubin ── Gpu ─────┬─ Device ┴─ run
//!                         └─ c++ -DSL_EMULATE ── Emulator ┘
//! ```
//!
//! The same `sluice` runs on computers with and without a GPU: the driver and NVRTC are looked for when they are needed, and what is missing is
//! said ([`faults`]).
//!
//! `device`, `gpu`, `nvrtc`, `emulate`, `sectors`, `timed` and `bench` are the modules here with `unsafe`: they mirror an interface of C, or call one.

pub mod arch;
pub mod auto;
pub(crate) mod bench;
pub mod check;
pub mod compile;
pub mod device;
pub mod emit;
pub mod emulate;
pub mod faults;
pub mod gpu;
pub mod instructions;
pub mod nvrtc;
pub mod profiling;
pub mod queues;
pub mod resources;
pub mod run;
mod sectors;
mod solved;
pub mod stand_alone;
pub mod texts;
pub mod timed;
pub mod toolkit;

#[cfg(test)]
mod tests;
