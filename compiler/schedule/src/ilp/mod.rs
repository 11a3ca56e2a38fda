//! The integer program of software pipelining (paper 001, section III), and what makes it solvable at today's sizes.
//!
//! ```text
//! ModuloProblem + Bounds → formulation → Model → cbc → checked values → ModuloSchedule → judge
//! ```
//!
//! Nothing outside [`cbc`] knows of CBC, and nothing that CBC says of a solution is believed: every row of the model is checked again, and
//! the judge has the last word.

pub mod apart;
mod balance;
mod buffers;
pub mod cbc;
mod decompose;
pub mod finish;
pub mod formulation;
pub mod items;
pub mod knapsack;
mod merge;
pub mod model;
pub mod patterns;
pub mod place;
pub mod search;
pub mod stage_bound;
mod wire;
