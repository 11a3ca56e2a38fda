//! # method
//!
//! Purpose: one way to call every scheduler. Input: a plan, a method, settings. Output: an [`Outcome`] whose schedule the judge has passed.

use crate::ilp;
use crate::plan::Plan;
use crate::problem::judge::{Verified, Violation, verify};
use crate::problem::modulo::ModuloSchedule;
use crate::solver::{self, Failure, Options, Solution};

/// A scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Single appearance, on one processor.
    Sas,
    /// Minimum latency, on one processor.
    MinLatency,
    /// Modulo scheduling in one pass.
    Flat,
    /// Iterative modulo scheduling.
    Ims,
    /// Slack-based modulo scheduling.
    Slack,
    /// Hierarchical modulo scheduling.
    Hms,
    /// The integer program.
    Ilp,
}

impl Method {
    /// All of them, from simple to thorough.
    pub const ALL: [Method; 7] =
        [Method::Sas, Method::MinLatency, Method::Flat, Method::Ims, Method::Slack, Method::Hms, Method::Ilp];

    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Sas => "sas",
            Method::MinLatency => "min-latency",
            Method::Flat => "flat",
            Method::Ims => "ims",
            Method::Slack => "slack",
            Method::Hms => "hms",
            Method::Ilp => "ilp",
        }
    }
}

/// What is asked of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// No II above this one will do.
    pub require_ii: Option<u64>,
    /// Seconds that the integer program may take.
    pub time_limit: f64,
    /// Nodes of the integer program's search, where results must not depend on time.
    pub node_limit: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { require_ii: None, time_limit: 20.0, node_limit: None }
    }
}

/// A schedule that the judge has passed, and what is known about it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Who made it.
    pub method: Method,
    /// The schedule and its buffers.
    pub verified: Verified,
    /// The best lower bound on the II that is proven.
    pub lower: u64,
    /// For people: effort, what was relaxed, what is proven.
    pub notes: Vec<String>,
}

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSchedule {
    /// None with an II as short as was required; the best lower bound.
    Required {
        /// The II that was required.
        require: u64,
        /// No schedule has a shorter one.
        lower: u64,
    },
    /// The judge refused it: a fault in the solver.
    Refused(Vec<Violation>),
    /// The solver gave up, and says why.
    GaveUp(String),
}
