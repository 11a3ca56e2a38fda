//! Solvers of the modulo problem. They propose; [`crate::problem::judge`] decides.
//!
//! ```text
//! order of priority → processors (a Table of what each still has room for) → complete (starts, stages) → ModuloSchedule
//! ```
//!
//! What all of them rest on: within a kernel the instances of a processor run one after the other without gaps, in the problem's
//! topological order, so a reservation table need not know when an instance runs: what fits by its sum fits. Whether instance v may
//! share a stage with u, which it waits for, depends on their processors and their order alone ([`arcs::Arcs::lag`]), not on the II.

pub mod arcs;
pub mod complete;
pub mod flat;
pub mod flow;
pub mod hierarchical;
pub mod improve;
pub mod iterative;
pub mod pack;
pub mod repair;
pub mod search;
pub mod sequential;
pub mod slack;
pub mod table;

use crate::problem::modulo::ModuloSchedule;

/// What a solver is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// An initiation interval above this one will not do. `None`: whatever can be had.
    pub most_ii: Option<u64>,
    /// Placements per instance that a try at one initiation interval may take (Rau's budget ratio); at least 1.
    pub budget: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { most_ii: None, budget: 3 }
    }
}

/// What a solver did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Initiation intervals tried.
    pub tries: u64,
    /// Instances (or groups of them) placed, again and again where need be.
    pub placements: u64,
    /// Those that had to leave their place again.
    pub evictions: u64,
}

/// A candidate, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// For the judge to decide on.
    pub schedule: ModuloSchedule,
    /// What it took.
    pub statistics: Statistics,
}

/// Why a solver gives no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The initiation interval that was asked for.
    pub most_ii: u64,
    /// The best lower bound: where it is above `most_ii`, nobody finds a schedule.
    pub lower: u64,
    /// What was done.
    pub statistics: Statistics,
}
