//! Text to syntax tree: spans, diagnostics, tokens, grammar, AST and printer of the Sluice stream language.
//!
//! [`parse`] never gives up: it returns a tree and diagnostics always.

pub mod ast;
pub mod diagnostic;
pub mod span;
