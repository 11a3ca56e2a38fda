//! The modulo problem, its judge and its solvers: the paper's example, wrong schedules refused by name, random graphs against a naive simulator.

mod build;
mod dependences;
#[path = "../dice/mod.rs"]
mod dice;
#[allow(dead_code)]
#[path = "../schedules/graphs.rs"]
mod graphs;
mod judge;
mod mutation;
#[allow(dead_code)]
mod random;
mod simulator;
mod solvers;
