//! Scheduling problems, solvers, and the judge that replays every schedule.
//!
//! For one processor: solvers ([`single_appearance`], [`in_runs`], [`minimum_latency`]) give candidates; only [`judge::verify`] makes a
//! [`judge::Verified`] of one, and code is made from nothing else. For several: [`plan`] makes a [`problem`] of a program, [`method`]
//! calls the solvers, and [`problem::judge`] decides.

pub mod analysis;
pub mod beside;
pub mod configuration;
pub mod fold;
pub mod fused;
pub mod ilp;
pub mod in_runs;
pub mod judge;
pub mod machine;
pub mod method;
pub mod minimum_latency;
pub mod partition;
pub mod plan;
pub mod problem;
pub mod retime;
pub mod sequential;
pub mod single_appearance;
pub mod solver;
pub mod wording;
