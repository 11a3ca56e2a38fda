//! Statements.

use super::Printer;
use super::expr::{POSTFIX, TERNARY};
use crate::ast::*;

impl Printer {
    pub(super) fn block(&mut self, block: &Block) {
        self.braces(block.stmts.is_empty(), |p| p.stmts(&block.stmts));
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for (i, stmt) in stmts.iter().enumerate() {
            let empty_next = stmts.get(i + 1).is_some_and(|next| next.kind == StmtKind::Empty);
            self.stmt(stmt, empty_next);
        }
    }

    /// A statement on lines of its own. `empty_next`: an empty statement follows, whose `;` must not be taken for the end of
    /// this one.
    pub(super) fn stmt(&mut self, stmt: &Stmt, empty_next: bool) {
        self.indent();
        self.bare_stmt(stmt);
        if empty_next && ends_in_stream(stmt) {
            self.text(";");
        }
        self.text("\n");
    }

    /// The statement that an `if` or loop governs: a block on the same line, anything else on a line of its own.
    pub(super) fn governed(&mut self, stmt: &Stmt) {
        if let StmtKind::Block(block) = &stmt.kind {
            self.text(" ");
            return self.block(block);
        }
        self.text("\n");
        self.depth += 1;
        self.indent();
        self.bare_stmt(stmt);
        self.depth -= 1;
    }

    pub(super) fn bare_stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::If { cond, then, els } => self.if_stmt(cond, then, els.as_deref()),
            StmtKind::For { init, cond, step, body } => {
                self.text("for (");
                self.list(init, |p, stmt| p.simple(stmt));
                self.text(";");
                if let Some(cond) = cond {
                    self.text(" ");
                    self.expr(cond, TERNARY);
                }
                self.text(";");
                if !step.is_empty() {
                    self.text(" ");
                }
                self.list(step, |p, stmt| p.simple(stmt));
                self.text(")");
                self.governed(body);
            }
            StmtKind::While { cond, body } => {
                self.text("while (");
                self.expr(cond, TERNARY);
                self.text(")");
                self.governed(body);
            }
            StmtKind::DoWhile { body, cond } => {
                self.text("do");
                self.governed(body);
                if matches!(body.kind, StmtKind::Block(_)) {
                    self.text(" while (");
                } else {
                    self.text("\n");
                    self.indent();
                    self.text("while (");
                }
                self.expr(cond, TERNARY);
                self.text(");");
            }
            StmtKind::Switch { value, cases } => {
                self.text("switch (");
                self.expr(value, TERNARY);
                self.text(") ");
                // The labels stand as far out as the `switch`.
                self.braces(cases.is_empty(), |p| {
                    p.depth -= 1;
                    cases.iter().for_each(|case| p.case(case));
                    p.depth += 1;
                });
            }
            StmtKind::Add { stream, portals } => self.add("add ", stream, portals),
            StmtKind::Body { stream, portals } => self.add("body ", stream, portals),
            StmtKind::Loop { stream, portals } => self.add("loop ", stream, portals),
            StmtKind::Error => self.text(";"),
            _ => {
                self.simple(stmt);
                self.text(";");
            }
        }
    }

    pub(super) fn if_stmt(&mut self, cond: &Expr, then: &Stmt, els: Option<&Stmt>) {
        self.text("if (");
        self.expr(cond, TERNARY);
        self.text(")");
        let Some(els) = els else { return self.governed(then) };
        let braced = if ends_open(then) {
            // The `else` would belong to the inner `if`.
            self.text(" ");
            self.braces(false, |p| p.stmt(then, false));
            true
        } else {
            self.governed(then);
            matches!(then.kind, StmtKind::Block(_))
        };
        if braced {
            self.text(" else");
        } else {
            self.text("\n");
            self.indent();
            self.text("else");
        }
        if let StmtKind::If { cond, then, els } = &els.kind {
            self.text(" ");
            self.if_stmt(cond, then, els.as_deref());
        } else {
            self.governed(els);
        }
    }

    pub(super) fn case(&mut self, case: &Case) {
        for (label, _) in &case.labels {
            self.indent();
            match label {
                Some(value) => {
                    self.text("case ");
                    self.expr(value, TERNARY);
                    self.text(":\n");
                }
                None => self.text("default:\n"),
            }
        }
        self.depth += 1;
        self.stmts(&case.body);
        self.depth -= 1;
    }

    pub(super) fn add(&mut self, keyword: &str, stream: &StreamRef, portals: &[Expr]) {
        self.text(keyword);
        let anonymous = match stream {
            StreamRef::Named { name, type_args, args, .. } => {
                self.text(&name.name);
                if !type_args.is_empty() {
                    self.text("<");
                    self.list(type_args, |p, ty| p.ty(ty));
                    self.text(">");
                }
                if !args.is_empty() {
                    self.args(args);
                }
                false
            }
            StreamRef::Anonymous(stream) => {
                self.stream(stream);
                true
            }
        };
        if !portals.is_empty() {
            self.text(" to ");
            self.list(portals, |p, portal| p.expr(portal, POSTFIX));
        }
        if !anonymous || !portals.is_empty() {
            self.text(";");
        }
    }

    /// A statement that ends in a semicolon, without it.
    pub(super) fn simple(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Decl(decl) => self.var_decl(decl),
            StmtKind::Assign { target, op, value } => {
                self.expr(target, TERNARY);
                self.text(" ");
                self.text(op.map_or("", BinaryOp::symbol));
                self.text("= ");
                self.expr(value, TERNARY);
            }
            StmtKind::Expr(e) => self.expr(e, TERNARY),
            StmtKind::Push(e) => {
                self.text("push(");
                self.expr(e, TERNARY);
                self.text(")");
            }
            StmtKind::Break => self.text("break"),
            StmtKind::Continue => self.text("continue"),
            StmtKind::Return(value) => {
                self.text("return");
                if let Some(value) = value {
                    self.text(" ");
                    self.expr(value, TERNARY);
                }
            }
            StmtKind::Send { portal, handler, args, latency } => {
                self.dotted(portal, handler);
                self.args(args);
                match latency {
                    Latency::BestEffort => self.text(" [*]"),
                    Latency::Range(min, max) => {
                        self.text(" [");
                        self.expr(min, TERNARY);
                        self.text(":");
                        self.expr(max, TERNARY);
                        self.text("]");
                    }
                }
            }
            StmtKind::Split(kind) => self.split("split ", kind),
            StmtKind::Join(kind) => self.split("join ", kind),
            StmtKind::Enqueue(value) => {
                self.text(if matches!(value.kind, ExprKind::Paren(_)) { "enqueue" } else { "enqueue " });
                self.expr(value, TERNARY);
            }
            // Only the statements above are simple.
            _ => {}
        }
    }

    pub(super) fn split(&mut self, keyword: &str, kind: &SplitKind) {
        self.text(keyword);
        match kind {
            SplitKind::Duplicate => self.text("duplicate"),
            SplitKind::RoundRobin(weights) => {
                self.text("roundrobin");
                if !weights.is_empty() {
                    self.args(weights);
                }
            }
        }
    }
}

/// Would an `else` behind this statement belong to an `if` inside it?
fn ends_open(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::If { els: None, .. } => true,
        StmtKind::If { els: Some(els), .. } => ends_open(els),
        StmtKind::While { body, .. } | StmtKind::For { body, .. } => ends_open(body),
        _ => false,
    }
}

/// Does the statement end in the brace of an anonymous stream, behind which a `;` may stand?
fn ends_in_stream(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Add { stream: StreamRef::Anonymous(_), portals }
        | StmtKind::Body { stream: StreamRef::Anonymous(_), portals }
        | StmtKind::Loop { stream: StreamRef::Anonymous(_), portals } => portals.is_empty(),
        StmtKind::If { then, els, .. } => ends_in_stream(els.as_deref().unwrap_or(then)),
        StmtKind::While { body, .. } | StmtKind::For { body, .. } => ends_in_stream(body),
        _ => false,
    }
}
