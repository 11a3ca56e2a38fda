//! Solvers of the modulo problem. They propose; [`crate::problem::judge`] decides.

pub mod complete;
