//! # threads
//!
//! Purpose: a program on several threads (decoupled software pipelining): `plan` cuts it into stages and says what that promises, `gate` says which
//! batch a thread may begin, `crew` runs stages of any kind with queues (`queue`) between them, `parts` are stages of compiled programs, `report` says what
//! was done. docs/threads.md tells it to users.
//!
//! The whole program runs on one thread as ever: its beginning, what is left at its end, slow pipes, and what came before a fault. Where it
//! would run a batch of steady states at once and there are many to come, the crew takes over, and hands over again at a boundary.

pub mod crew;
pub mod gate;
pub mod parts;
pub mod plan;
mod queue;
pub mod report;
mod sync;
#[cfg(test)]
mod tests;
