//! Bodies in braces, and which of them may stand on one line.

use super::writer::{Empty, Gap, LineEnd, Writer};
use crate::ast::*;
use crate::token::Token;

/// What a body in braces holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Inside {
    /// Statements: each semicolon is one.
    Statements,
    /// Declarations: semicolons between them mean nothing and are left out.
    Members,
}

/// How a body in braces is laid out.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Body {
    /// On one line if it fits, else as the group around it breaks.
    Short,
    /// On lines of its own.
    Long,
    /// The labels of a `switch`: on lines of their own, as far out as the `switch`.
    Cases,
}

impl Writer<'_> {
    /// How the body that comes next shall be laid out: short if it was on one line and is simple.
    pub fn body_of(&self, simple: bool) -> Body {
        if simple && self.bracket_on_one_line() { Body::Short } else { Body::Long }
    }

    /// A body in braces as a group of its own.
    pub fn body<T>(&mut self, inside: Inside, simple: bool, items: &[T], each: impl FnMut(&mut Self, &T)) {
        match self.body_of(simple) {
            Body::Short => {
                let group = self.open();
                self.braces(inside, Body::Short, items, each);
                self.close(group);
            }
            long => self.braces(inside, long, items, each),
        }
    }

    pub fn braces<T>(&mut self, inside: Inside, body: Body, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        let on_one_line = self.bracket_on_one_line();
        let (open, close) = match self.next() {
            Some(Token::LBraceTop) => (Token::LBraceTop, Token::RBraceTop),
            _ => (Token::LBrace, Token::RBrace),
        };
        let open_line = self.next_line().unwrap_or(0);
        self.token(open);
        if body != Body::Cases {
            self.push_block();
        }
        self.drop_semicolons(inside);
        for (i, item) in items.iter().enumerate() {
            match body {
                Body::Short => self.group_break(true),
                _ => self.end_line(if i == 0 { Empty::First } else { Empty::Keep }),
            }
            each(self, item);
            self.drop_semicolons(inside);
        }
        match items {
            [] if on_one_line || !self.comment_waits() => self.space(),
            [] => self.end_line(Empty::First),
            _ if body == Body::Short => self.group_break(true),
            _ => self.end_line(Empty::Keep),
        }
        self.comments();
        match body {
            Body::Cases => self.orders.left_flush(open_line),
            _ => self.pop(),
        }
        if let Gap::End(end) = self.gap {
            self.gap = Gap::End(LineEnd { empty: Empty::Never, ..end });
        }
        self.token(close);
    }

    fn drop_semicolons(&mut self, inside: Inside) {
        while inside == Inside::Members && self.next() == Some(Token::Semi) {
            self.drop_token();
        }
    }
}

/// At most this many statements or declarations are left on one line.
pub(super) const MOST_ON_A_LINE: usize = 3;

/// May these statements stand on one line: a few of them without others inside, or one that governs such a one?
pub(super) fn is_simple(stmts: &[Stmt]) -> bool {
    let governs_simple = |stmt: &Stmt| match &stmt.kind {
        StmtKind::If { then, els, .. } => is_leaf(then) && els.as_ref().is_none_or(|els| is_leaf(els)),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => is_leaf(body),
        _ => false,
    };
    match stmts {
        [only] => is_leaf(only) || governs_simple(only),
        _ => stmts.len() <= MOST_ON_A_LINE && stmts.iter().all(is_leaf),
    }
}

pub(super) fn is_simple_case(stmts: &[Stmt]) -> bool {
    match stmts {
        [rest @ .., Stmt { kind: StmtKind::Break, .. }] => is_simple(rest),
        _ => is_simple(stmts),
    }
}

/// Has the statement no statements or streams inside?
fn is_leaf(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Block(_)
        | StmtKind::If { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::DoWhile { .. }
        | StmtKind::Switch { .. } => false,
        StmtKind::Add { stream, .. } | StmtKind::Body { stream, .. } | StmtKind::Loop { stream, .. } => {
            matches!(stream, StreamRef::Named { .. })
        }
        _ => true,
    }
}
