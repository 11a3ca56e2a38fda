//! Why a run failed.
//!
//! Takes what went wrong in a firing and which firing it was; gives a message with the filter's path, and the place in the source.

use sluice_frontend::eval::{EvalError, EvalErrorKind};
use sluice_grammar::span::Span;
use std::fmt;

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// Path of the node, such as `Main.Source`; empty where no node is to blame.
    pub path: String,
    /// Which firing of the node, counted from 1.
    pub firing: u64,
    /// What happened.
    pub kind: EvalErrorKind,
    /// Where in the source, if anywhere.
    pub span: Option<Span>,
}

impl RunError {
    /// An error in a node's firing (`fired` firings are complete).
    pub(crate) fn new(path: &str, fired: u64, e: &EvalError) -> RunError {
        RunError { path: path.into(), firing: fired.saturating_add(1), kind: e.kind.clone(), span: Some(e.span) }
    }

    /// An input or output failed.
    pub(crate) fn host(path: &str, fired: u64, why: String) -> RunError {
        let kind = EvalErrorKind::Host(why.into());
        RunError { path: path.into(), firing: fired.saturating_add(1), kind, span: None }
    }

    /// What happened, without where.
    pub fn message(&self) -> String {
        self.kind.to_string()
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}, firing {}: ", self.path, self.firing)?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for RunError {}
