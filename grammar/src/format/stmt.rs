//! Statements.
//!
//! What an `if` or a loop governs stays on its line if it was written there and fits.

use super::body::{Body, Inside, is_simple, is_simple_case};
use super::document::{Break, Rule, STEP};
use super::writer::{Empty, Gap, LineEnd, Writer};
use crate::ast::*;
use crate::token::Token;

/// Continued lines of a head in parentheses are indented by this, so that they differ from the body.
pub(super) const HEAD: u32 = 2 * STEP;

impl Writer<'_> {
    pub fn block(&mut self, block: &Block) {
        self.body(Inside::Statements, is_simple(&block.stmts), &block.stmts, Writer::stmt_in_list);
    }

    fn stmt_in_list(&mut self, stmt: &Stmt) {
        // A stray `;` stays where it was.
        if stmt.kind == StmtKind::Empty && self.is_behind_statement() && self.on_same_line() && !self.comment_waits() {
            self.gap = Gap::Nothing;
        }
        self.stmt(stmt);
    }

    pub fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::If { cond, then, els } => self.if_chain(cond, then, els.as_deref()),
            StmtKind::For { init, cond, step, body } => {
                self.for_head(init, cond.as_ref(), step);
                self.governed(body, false);
            }
            StmtKind::While { cond, body } => {
                self.token(Token::While);
                self.head(cond);
                self.governed(body, false);
            }
            StmtKind::DoWhile { body, cond } => {
                let group = self.open();
                self.token(Token::Do);
                self.governed(body, true);
                self.after_governed(body);
                self.token(Token::While);
                self.head(cond);
                self.token(Token::Semi);
                self.close(group);
            }
            StmtKind::Switch { value, cases } => {
                self.token(Token::Switch);
                self.head(value);
                self.space();
                self.braces(Inside::Statements, Body::Cases, cases, Writer::case);
            }
            StmtKind::Add { stream, portals }
            | StmtKind::Body { stream, portals }
            | StmtKind::Loop { stream, portals } => self.add(stream, portals),
            StmtKind::Empty => self.token(Token::Semi),
            _ => {
                self.simple(stmt);
                self.token(Token::Semi);
            }
        }
    }

    /// ` (cond)`
    fn head(&mut self, cond: &Expr) {
        self.space();
        self.token(Token::LParen);
        self.push_line(HEAD);
        self.expr(cond);
        self.comments();
        self.pop();
        self.token(Token::RParen);
    }

    fn for_head(&mut self, init: &[Stmt], cond: Option<&Expr>, step: &[Stmt]) {
        self.token(Token::For);
        self.space();
        self.token(Token::LParen);
        self.push_line(HEAD);
        self.list(init, Writer::simple);
        self.token(Token::SemiFor);
        if let Some(cond) = cond {
            let stretch = self.fill_break();
            self.expr(cond);
            self.document.end(stretch);
        }
        self.token(Token::SemiFor);
        if !step.is_empty() {
            let stretch = self.fill_break();
            self.list(step, Writer::simple);
            self.document.end(stretch);
        }
        self.comments();
        self.pop();
        self.token(Token::RParen);
    }

    /// What an `if` or a loop governs. `in_group`: a short block breaks with the group around it.
    fn governed(&mut self, stmt: &Stmt, in_group: bool) {
        if let StmtKind::Block(block) = &stmt.kind {
            self.space();
            if in_group {
                let body = self.body_of(is_simple(&block.stmts));
                return self.braces(Inside::Statements, body, &block.stmts, Writer::stmt_in_list);
            }
            return self.block(block);
        }
        self.push_later(false);
        let stretch = self.document.stretch();
        self.gap = match self.on_same_line() {
            true => Gap::Break(Break { rule: Rule::Governed(stretch), space: true, indents: true }),
            false => Gap::End(LineEnd { empty: Empty::Never, indents: true }),
        };
        self.stmt(stmt);
        self.document.end(stretch);
        self.pop();
    }

    /// The gap before the `else` or `while` that follows what is governed.
    fn after_governed(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(_) => self.space(),
            _ if self.on_same_line() => self.group_break(true),
            _ => self.end_line(Empty::Never),
        }
    }

    fn if_chain(&mut self, cond: &Expr, then: &Stmt, els: Option<&Stmt>) {
        let group = self.open();
        let in_group = els.is_some();
        let (mut cond, mut then, mut els) = (cond, then, els);
        loop {
            self.token(Token::If);
            self.head(cond);
            self.governed(then, in_group);
            let Some(other) = els else { break };
            self.after_governed(then);
            self.token(Token::Else);
            let StmtKind::If { cond: c, then: t, els: e } = &other.kind else {
                self.governed(other, in_group);
                break;
            };
            self.space();
            (cond, then, els) = (c, t, e.as_deref());
        }
        self.close(group);
    }

    fn case(&mut self, case: &Case) {
        let label = self.next_piece();
        for (i, (label, _)) in case.labels.iter().enumerate() {
            if i > 0 {
                match self.on_same_line() {
                    true => self.space(),
                    false => self.end_line(Empty::Never),
                }
            }
            match label {
                Some(value) => {
                    self.token(Token::Case);
                    self.space();
                    self.expr(value);
                }
                None => self.token(Token::Default),
            }
            self.token(Token::Colon);
        }
        let mut body = &case.body[..];
        if let [Stmt { kind: StmtKind::Block(block), .. }, rest @ ..] = body
            && self.on_same_line()
        {
            self.space();
            self.block(block);
            body = rest;
            if rest.is_empty() {
                return;
            }
        }
        let Some(last) = body.last() else { return };
        let short = is_simple_case(body) && self.is_on_line_until(last.at.0.end);
        let group = short.then(|| self.open_ahead());
        self.push_block();
        for stmt in body {
            match short {
                true => self.group_break(true),
                false => self.end_line(Empty::Keep),
            }
            self.stmt_in_list(stmt);
        }
        if let Some(group) = group {
            self.close(group);
        }
        self.end_line(Empty::Keep);
        label.into_iter().for_each(|label| self.comments_right_of(label));
        self.pop();
    }

    /// `add S(args) to p;`, `body`, `loop`
    fn add(&mut self, stream: &StreamRef, portals: &[Expr]) {
        self.any_token();
        self.space();
        match stream {
            StreamRef::Named { type_args, args, .. } => {
                self.any_token();
                if !type_args.is_empty() {
                    self.token(Token::Lt);
                    self.list(type_args, Writer::ty);
                    self.token(Token::Gt);
                }
                if self.next() == Some(Token::LParen) {
                    self.args(args);
                }
            }
            StreamRef::Anonymous(stream) => self.stream(stream),
        }
        if !portals.is_empty() {
            self.space();
            self.token(Token::To);
            self.space();
            self.list(portals, Writer::expr);
        }
        match stream {
            // The semicolon may be left out, unless that of an empty statement would be taken for it.
            StreamRef::Anonymous(_) if portals.is_empty() => {
                if self.next() == Some(Token::Semi) {
                    match self.ahead(1) {
                        Some(Token::Semi) => self.token(Token::Semi),
                        _ => self.drop_token(),
                    }
                }
            }
            _ => self.token(Token::Semi),
        }
    }

    /// A statement that ends in a semicolon, without it.
    fn simple(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Decl(decl) => self.var_decl(decl),
            StmtKind::Assign { target, value, .. } => {
                self.expr(target);
                self.assigned(value);
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Push(value) => {
                self.token(Token::Push);
                self.args(std::slice::from_ref(value));
            }
            StmtKind::Return(value) => {
                self.token(Token::Return);
                if let Some(value) = value {
                    self.space();
                    self.expr(value);
                }
            }
            StmtKind::Send { portal, args, latency, .. } => {
                self.expr(portal);
                self.token(Token::Dot);
                self.any_token();
                self.args(args);
                self.push_line(STEP);
                let stretch = self.fill_break();
                self.token(Token::LBracket);
                self.inside(|w| w.latency(latency), Token::RBracket);
                self.document.end(stretch);
                self.pop();
            }
            StmtKind::Split(kind) | StmtKind::Join(kind) => {
                self.any_token();
                self.space();
                self.any_token();
                if self.next() == Some(Token::LParen) {
                    match kind {
                        SplitKind::Duplicate => self.args(&[]),
                        SplitKind::RoundRobin(weights) => self.args(weights),
                    }
                }
            }
            StmtKind::Enqueue(value) => {
                self.token(Token::Enqueue);
                if !matches!(value.kind, ExprKind::Paren(_)) {
                    self.space();
                }
                self.expr(value);
            }
            // `break` and `continue`
            _ => self.any_token(),
        }
    }

    fn latency(&mut self, latency: &Latency) {
        match latency {
            Latency::BestEffort => self.token(Token::Star),
            Latency::Range(min, max) => {
                self.expr(min);
                self.token(Token::Colon);
                self.expr(max);
            }
        }
    }
}
