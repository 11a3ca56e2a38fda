//! Scheduling problems, solvers, and the judge that replays every schedule.
//!
//! Solvers ([`single_appearance`], [`minimum_latency`]) give candidates; only [`judge::verify`] makes a
//! [`judge::Verified`] of one, and code is made from nothing else.

pub mod analysis;
pub mod fold;
pub mod ilp;
pub mod judge;
pub mod machine;
pub mod method;
pub mod minimum_latency;
pub mod plan;
pub mod problem;
pub mod retime;
pub mod sequential;
pub mod single_appearance;
pub mod solver;
