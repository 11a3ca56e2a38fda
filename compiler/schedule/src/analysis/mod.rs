//! Bounds: what no schedule can beat, and why.

pub mod bounds;
pub mod cycle_ratio;
pub mod glue;
pub mod packing;
