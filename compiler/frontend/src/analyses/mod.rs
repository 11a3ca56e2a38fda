//! What can be said about a filter's code without running it.
//!
//! How to call, after the checker has built a [`crate::typed::FilterCode`] with constants folded in:
//! 1. once, when all helpers are checked: [`state::helper_writes`] fills in which parameters they write;
//! 2. [`state::analyse`] fills in `stateful`, `prints`, `uses_iter`, `sends`, `calls_native`, each field's `constant`, each local's
//!    `written`;
//! 3. [`state::constants_written`] lists the constants that are passed to be written: errors;
//! 4. [`body_rates::analyse`] for `work` and for `prework`: its [`body_rates::Facts`] hold `counts_proved` and `peeks_proved` for
//!    the [`crate::typed::WorkDef`], and make the diagnostics of bodies that break their rates.

pub mod body_rates;
mod interval;
pub mod natives;
pub mod state;
pub mod walk;

#[cfg(test)]
mod tests;
