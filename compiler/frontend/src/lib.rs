//! Names, constants, types, rates, elaboration, the SDF graph and its steady state.

pub mod analyse;
pub mod analyses;
pub mod check;
pub mod cmath;
pub mod components;
pub mod constant;
pub mod convolution;
pub mod elaborate;
pub mod enqueues;
pub mod entry;
pub mod eval;
pub mod graph;
pub mod graph_text;
pub mod graph_verify;
pub mod ids;
pub mod lints;
pub mod memo;
pub mod mend;
pub mod messages;
pub mod ops;
pub mod resolve;
pub mod slow;
pub mod steady_state;
pub mod ty;
pub mod typed;
pub mod world;

pub use analyse::{Analysis, Elaborated, Loader, NoImports, Options, SourceInput, analyse};
