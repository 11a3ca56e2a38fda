//! Scheduling problems, solvers, and the judge that replays every schedule.

pub mod sequential;
