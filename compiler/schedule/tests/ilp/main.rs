//! The integer program: against everything that is possible, rule by rule, and on random problems.

mod brute;
mod constraints;
mod decomposed;
#[path = "../dice/mod.rs"]
mod dice;
mod graphs;
mod optimum;
mod silence;
