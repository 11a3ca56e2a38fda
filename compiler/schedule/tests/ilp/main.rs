//! The integer program: against everything that is possible, rule by rule, and on random problems.

mod brute;
mod constraints;
mod graphs;
mod optimum;
