//! Bounds: what no schedule can beat, and why.

pub mod cycle_ratio;
