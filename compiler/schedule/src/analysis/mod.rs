//! Bounds: what no schedule can beat, and why; and the longest that a kernel may take on one multiprocessor ([`makespan`]).

pub mod bounds;
pub mod cycle_ratio;
pub mod glue;
pub mod makespan;
pub mod packing;
