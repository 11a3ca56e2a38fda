//! What the grammar's actions build: nodes with the height of their tree, and the parser's state.
//!
//! Passes over the tree recurse, and so does dropping it. A tree higher than [`MAX_HEIGHT`] is therefore never built: the node
//! that would exceed it becomes an error node, with one diagnostic. Since every action adds one level to the highest of its
//! children, the height is known without walking.

use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::fault::Fault;
use crate::span::{FileId, Span};
use crate::token::Spanned;
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

mod decl;
mod expr;
mod item;
mod stmt;

pub(crate) use expr::Chain;

/// How high the tree of a statement or expression may grow: statements, blocks, operators, calls and brackets on the longest
/// path from the outermost stream to a leaf. With 1 KB a frame and up to six frames a level recursion needs 6 MB of stack.
pub const MAX_HEIGHT: u32 = 1000;

/// A part of the tree and its height.
#[derive(Debug)]
pub(crate) struct H<T> {
    pub v: T,
    pub h: u32,
}

impl<T> H<T> {
    pub fn leaf(v: T) -> H<T> {
        H { v, h: 0 }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> H<U> {
        H { v: f(self.v), h: self.h }
    }
}

impl<T> H<Vec<T>> {
    /// The list with one more element.
    pub fn and(mut self, next: H<T>) -> H<Vec<T>> {
        self.v.push(next.v);
        self.h = self.h.max(next.h);
        self
    }
}

/// A list of parts as one part.
pub(crate) fn gather<T>(list: Vec<H<T>>) -> H<Vec<T>> {
    let h = list.iter().map(|part| part.h).max().unwrap_or(0);
    H { v: list.into_iter().map(|part| part.v).collect(), h }
}

/// A type without dimensions, and its place.
#[derive(Debug)]
pub(crate) struct Base {
    pub base: BaseType,
    pub at: At,
}

/// The head of a stream.
#[derive(Debug)]
pub(crate) struct Head {
    pub io: Option<(Type, Type)>,
    pub stateful: Option<At>,
    pub kind: StreamKind,
    pub name: Option<Ident>,
    pub params: Vec<Param>,
    pub span: Span,
    pub h: u32,
}

/// A declared name with the dimensions that stand behind it as in C.
#[derive(Debug)]
pub(crate) struct Declarator {
    pub name: Ident,
    pub dims: Vec<Expr>,
    pub dims_at: Span,
    pub value: Option<Expr>,
}

/// The head of a `for`.
#[derive(Debug)]
pub(crate) struct ForHead {
    pub start: u32,
    pub init: Vec<Stmt>,
    pub cond: Option<Expr>,
    pub step: Vec<Stmt>,
}

/// What the actions share.
pub(crate) struct State<'s> {
    pub file: FileId,
    pub text: &'s str,
    pub tokens: &'s [Spanned<'s>],
    /// What the lexer has told, in order.
    pub faults: &'s [Fault],
    pub diagnostics: Vec<Diagnostic>,
    /// The token before which no syntax error is told, because the last one is too near.
    pub quiet_until: usize,
    /// Set when there are so many errors that reading on is of no use.
    pub enough: Rc<Cell<bool>>,
    /// How many syntax errors there were, told or not.
    pub errors: usize,
    /// The end of the last block behind a statement's head that could not be read.
    pub broken_block: Option<u32>,
    names: HashMap<&'s str, Name>,
    too_high: bool,
    /// Statements that belong behind the one just built: what one declaration had to be split into.
    pending: Vec<H<Stmt>>,
}

impl<'s> State<'s> {
    pub fn new(file: FileId, text: &'s str, tokens: &'s [Spanned<'s>], faults: &'s [Fault]) -> State<'s> {
        State {
            file,
            text,
            tokens,
            faults,
            diagnostics: Vec::new(),
            quiet_until: 0,
            enough: Rc::default(),
            errors: 0,
            broken_block: None,
            names: HashMap::new(),
            too_high: false,
            pending: Vec::new(),
        }
    }

    pub fn span(&self, start: u32, end: u32) -> Span {
        Span { file: self.file, start, end: end.max(start) }
    }

    pub fn at(&self, start: u32, end: u32) -> At {
        At(self.span(start, end))
    }

    /// A name; equal names share their text.
    fn name(&mut self, text: &'s str) -> Name {
        self.names.entry(text).or_insert_with(|| text.into()).clone()
    }

    pub fn ident(&mut self, start: u32, text: &'s str, end: u32) -> Ident {
        Ident { name: self.name(text), at: self.at(start, end) }
    }

    /// Is the tree too high? Tells so once.
    fn is_too_high(&mut self, h: u32, span: Span) -> bool {
        if h <= MAX_HEIGHT {
            return false;
        }
        if !self.too_high {
            self.too_high = true;
            let title = format!("this nests deeper than {MAX_HEIGHT} levels");
            let diagnostic =
                Diagnostic::error("E0014", title, span, "operators, calls and statements inside one another")
                    .help("give parts of it names of their own");
            self.diagnostics.push(diagnostic);
        }
        true
    }
}
