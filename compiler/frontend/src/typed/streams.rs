//! What bodies of composites are made of: the streams that they add, and how these connect.

use super::{Expr, Name};
use crate::ids::*;
use crate::ty::Ty;
use sluice_grammar::span::Span;

/// The statements that build a composite.
#[derive(Clone, Debug)]
pub enum StreamStmt {
    /// `add`, `body`, `loop`
    Add {
        /// Which of the three.
        role: Role,
        /// What.
        stream: StreamUse,
        /// Portals to register with.
        portals: Vec<Expr>,
    },
    /// `split`
    Split(SplitDef),
    /// `join`
    Join(SplitDef),
    /// `enqueue`
    Enqueue(Expr),
}

/// Where a child goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `add`
    Add,
    /// `body`
    Body,
    /// `loop`
    Loop,
}

/// `duplicate` or weights.
#[derive(Clone, Debug)]
pub enum SplitDef {
    /// Every item to every branch.
    Duplicate,
    /// Weights as written.
    RoundRobin(Vec<Expr>),
}

/// A type whose array sizes are still to be evaluated, outermost first (as many as `ty` has array levels).
#[derive(Clone, Debug)]
pub struct TypeSpec {
    /// The type; sizes that are not literal are unknown.
    pub ty: Ty,
    /// The sizes.
    pub dims: Vec<Expr>,
    /// Where it is written.
    pub span: Span,
}

/// A stream that is added.
#[derive(Clone, Debug)]
pub enum StreamUse {
    /// A declared stream with its arguments, converted to the parameters' types.
    Named {
        /// Which.
        decl: DeclId,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// An anonymous stream with the variables it sees.
    Anonymous {
        /// Which.
        decl: DeclId,
        /// Names and the locals that hold their values now.
        captures: Vec<(Name, LocalId)>,
    },
    /// `Identity<T>`
    Identity(TypeSpec),
    /// `FileReader<T>(path)`
    FileReader(TypeSpec, Expr),
    /// `FileWriter<T>(path)`
    FileWriter(TypeSpec, Expr),
    /// Something already reported as wrong.
    Error,
}
