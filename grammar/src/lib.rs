//! Text to syntax tree and back: spans, diagnostics, tokens, grammar, AST, printer and formatter of the Sluice stream language.
//!
//! [`parse()`] never gives up: it returns a tree and diagnostics always.

pub mod ast;
pub mod codes;
pub mod diagnostic;
pub mod edited;
pub mod edits;
mod expected;
pub mod fault;
pub mod format;
pub mod layout;
pub mod literal;
pub mod parse;
pub mod print;
pub mod similar;
pub mod span;
mod stumble;
mod syntax_error;
pub mod token;
mod tree;
pub mod trivia;

pub use layout::MAX_NESTING;
pub use parse::{Encoding, decode, encode, parse};
pub use print::print;
pub use tree::MAX_HEIGHT;
pub use trivia::doc_comment_before;

lalrpop_util::lalrpop_mod!(
    #[allow(warnings, clippy::all, missing_docs)]
    stream
);
