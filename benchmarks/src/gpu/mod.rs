//! # gpu
//!
//! Purpose: the figures of programs on a GPU. Input: the programs of the suite, a GPU. Output: one document ([`document::Document`]), and what is shown of it.
//!
//! ```text
//! conduct ── starts ──> work, measured (a process for each program and scheme: prepares beside others, measures when it is its turn, compares while the next one measures)
//!    │                  probe (what the device can do at most; the loop of C-slow)
//!    │                  peers.py (what one would call instead)
//!    └─ Document ──> report (Markdown), charts (SVG), JSON
//! ```
//!
//! On the emulated device all of it runs with tiny sizes: a test of the harness and of the programs' output. Its times mean nothing, and are not shown.

pub mod bank;
pub mod charts;
pub mod conduct;
pub mod document;
pub mod measured;
pub mod paper;
pub mod probe;
pub mod report;
pub mod work;
