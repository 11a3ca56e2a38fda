//! Names, constants, types, rates, elaboration, the SDF graph and its steady state.

pub mod constant;
pub mod graph;
pub mod ids;
pub mod steady_state;
pub mod ty;
pub mod typed;
