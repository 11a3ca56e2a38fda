//! Scheduling problems, solvers, and the judge that replays every schedule.
//!
//! Solvers ([`single_appearance`], [`minimum_latency`]) give candidates; only [`judge::verify`] makes a
//! [`judge::Verified`] of one, and code is made from nothing else.

pub mod fold;
pub mod judge;
pub mod minimum_latency;
pub mod partition;
pub mod sequential;
pub mod single_appearance;
