//! The integer program: against everything that is possible, rule by rule, and on random problems.

mod brute;
mod constraints;
mod decomposed;
mod graphs;
mod optimum;
mod silence;
