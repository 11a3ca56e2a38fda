//! Text to syntax tree: spans, diagnostics, tokens, grammar, AST and printer of the Sluice stream language.
//!
//! [`parse`] never gives up: it returns a tree and diagnostics always.

pub mod ast;
pub mod diagnostic;
pub mod fault;
pub mod layout;
pub mod literal;
pub mod parse;
pub mod span;
mod syntax_error;
pub mod token;
mod tree;

pub use parse::{Encoding, decode, parse};

lalrpop_util::lalrpop_mod!(
    #[allow(warnings, clippy::all, missing_docs)]
    stream
);
