//! The scheduling problem of software pipelining on several processors, as all solvers see it.
//!
//! ```text
//! SdfGraph + SteadyState + Costs + Granularity → TaskGraph → ModuloProblem (with its Dependences) → ModuloSchedule → judge
//! ```
//!
//! A **task** stands for a node of the flat graph (or for a whole feedback loop), an **instance** of it for a fixed number of its
//! firings, one after the other or one per thread. An **iteration** is one round of all instances; a new one starts every
//! initiation interval (II). Source: Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs
//! on GPUs", CGO 2009, section III.

pub mod build;
pub mod dependences;
pub mod granularity;
pub mod judge;
pub mod modulo;
pub mod task;
