//! The modulo problem, its judge and its solvers: the paper's example, wrong schedules refused by name, random graphs against a naive simulator.

mod mutation;
mod random;
mod simulator;
mod solvers;
