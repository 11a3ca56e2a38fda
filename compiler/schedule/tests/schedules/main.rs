//! Steady states, schedules and the judge: textbook values, wrong schedules refused by name, random graphs against naive simulation.

#[path = "../dice/mod.rs"]
mod dice;
mod graphs;
mod homogeneous;
mod judge;
mod mutation;
mod naive;
mod random;
mod scale;
mod suggestions;
mod textbook;
