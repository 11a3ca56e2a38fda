//! What is known about a problem before it is solved.

pub mod bounds;
pub mod glue;
pub mod packing;
