//! # eval
//!
//! Purpose: runs typed code, at compile time (statics, field initialisers, `init`, composite bodies, constants) and in the
//! reference interpreter. Input: [`crate::typed`] functions with their fields and statics. Output: values, and calls to a
//! [`Host`] for all that is not computing: channels, printing, natives, messages, building streams.
//!
//! Meaning beyond [`crate::typed`] and [`crate::ops`]:
//! - `place op= value`: the place's subexpressions (bounds checked), the place's old value, the value, the operation, the store.
//!   `place = value`: the place's subexpressions (bounds checked), the value, the store.
//! - An aggregate operand is a reference until it is stored: into a variable, by push, as a struct argument, as a result; then it
//!   is copied. A struct or array argument that is copied is copied when its turn comes.
//! - A local whose declaration was jumped over (in a `switch`) is zero.
//! - No panic on any well-typed code; code that breaks the rules gives [`EvalErrorKind::IllTyped`] at worst.
//!
//! At compile time use the functions of [`compile_time`], re-exported here. To run filters, see [`Machine`].

pub mod budget;
pub mod compile_time;
pub mod error;
mod expr;
pub mod machine;
mod place;
mod stmt;
pub mod value;

pub use budget::{Budget, COMPILE_TIME_FUEL, Spent};
pub use compile_time::{GUESS_FUEL, StreamScope, constant, in_frame, run_composite, run_init, run_static, zero};
pub use error::{Eval, EvalError, EvalErrorKind, TOO_MANY_STEPS};
pub use machine::{Host, Limits, Machine, Message, NoHost, Statics};
pub use value::{Aggregate, Items, MAX_ITEMS, Value};

#[cfg(test)]
mod tests;
