//! Statements.

use super::{ForHead, H, State};
use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::token::Token;

impl State<'_> {
    pub fn stmt(&mut self, l: u32, kind: StmtKind, h: u32, r: u32) -> Box<H<Stmt>> {
        let span = self.span(l, r);
        let kind = if self.is_too_high(h + 1, span) { StmtKind::Error } else { kind };
        let h = if matches!(kind, StmtKind::Error) { 1 } else { h + 1 };
        Box::new(H { v: Stmt { kind, at: At(span) }, h })
    }

    /// Lets a statement reach to the end of its semicolon.
    pub fn end_stmt(&mut self, mut stmt: Box<H<Stmt>>, r: u32) -> Box<H<Stmt>> {
        stmt.v.at.0.end = r;
        if let StmtKind::Decl(decl) = &mut stmt.v.kind {
            decl.at.0.end = r;
        }
        stmt
    }

    pub fn end_decl(&mut self, mut decl: Box<H<VarDecl>>, r: u32) -> Box<H<VarDecl>> {
        decl.v.at.0.end = r;
        decl
    }

    pub fn add_stmt(&mut self, list: H<Vec<Stmt>>, stmt: H<Stmt>) -> H<Vec<Stmt>> {
        let mut list = list.and(stmt);
        for stmt in std::mem::take(&mut self.pending) {
            list = list.and(stmt);
        }
        list
    }

    pub fn block(&mut self, stmts: H<Vec<Stmt>>, r: u32) -> H<Block> {
        let at = self.at(r, r);
        stmts.map(|stmts| Block { stmts, at })
    }

    /// Sets where a block starts.
    pub fn start_block(&mut self, mut block: H<Block>, l: u32) -> H<Block> {
        block.v.at.0.start = l;
        block
    }

    pub fn block_stmt(&mut self, block: H<Block>) -> Box<H<Stmt>> {
        let span = block.v.at.0;
        self.stmt(span.start, StmtKind::Block(block.v), block.h, span.end)
    }

    pub fn expr_stmt(&mut self, e: H<Expr>) -> Box<H<Stmt>> {
        let span = e.v.span();
        self.stmt(span.start, StmtKind::Expr(e.v), e.h, span.end)
    }

    pub fn return_stmt(&mut self, l: u32, value: Option<H<Expr>>, r: u32) -> Box<H<Stmt>> {
        let h = value.as_ref().map_or(0, |value| value.h);
        self.stmt(l, StmtKind::Return(value.map(|value| value.v)), h, r)
    }

    pub fn assign(&mut self, target: H<Expr>, op: Option<BinaryOp>, value: H<Expr>) -> Box<H<Stmt>> {
        let span = target.v.span().to(value.v.span());
        let kind = StmtKind::Assign { target: target.v, op, value: value.v };
        self.stmt(span.start, kind, target.h.max(value.h), span.end)
    }

    pub fn if_stmt(&mut self, l: u32, cond: H<Expr>, then: Box<H<Stmt>>, els: Option<Box<H<Stmt>>>) -> Box<H<Stmt>> {
        let r = els.as_ref().unwrap_or(&then).v.at.0.end;
        let h = cond.h.max(then.h).max(els.as_ref().map_or(0, |els| els.h));
        let kind = StmtKind::If { cond: cond.v, then: Box::new(then.v), els: els.map(|els| Box::new(els.v)) };
        self.stmt(l, kind, h, r)
    }

    pub fn while_stmt(&mut self, l: u32, cond: H<Expr>, body: Box<H<Stmt>>) -> Box<H<Stmt>> {
        let r = body.v.at.0.end;
        let h = cond.h.max(body.h);
        self.stmt(l, StmtKind::While { cond: cond.v, body: Box::new(body.v) }, h, r)
    }

    pub fn do_while(&mut self, l: u32, body: Box<H<Stmt>>, cond: H<Expr>, r: u32) -> Box<H<Stmt>> {
        let h = cond.h.max(body.h);
        self.stmt(l, StmtKind::DoWhile { body: Box::new(body.v), cond: cond.v }, h, r)
    }

    pub fn for_head(
        &mut self,
        start: u32,
        init: H<Vec<Stmt>>,
        cond: Option<H<Expr>>,
        step: H<Vec<Stmt>>,
    ) -> Box<H<ForHead>> {
        let h = init.h.max(step.h).max(cond.as_ref().map_or(0, |cond| cond.h));
        Box::new(H { v: ForHead { start, init: init.v, cond: cond.map(|cond| cond.v), step: step.v }, h })
    }

    pub fn for_stmt(&mut self, head: H<ForHead>, body: Box<H<Stmt>>) -> Box<H<Stmt>> {
        let r = body.v.at.0.end;
        let h = head.h.max(body.h);
        let ForHead { start, init, cond, step } = head.v;
        self.stmt(start, StmtKind::For { init, cond, step, body: Box::new(body.v) }, h, r)
    }

    pub fn switch(&mut self, l: u32, value: H<Expr>, cases: H<Vec<Case>>, r: u32) -> Box<H<Stmt>> {
        let h = value.h.max(cases.h);
        self.stmt(l, StmtKind::Switch { value: value.v, cases: cases.v }, h, r)
    }

    pub fn case(&mut self, labels: H<Vec<(Option<Expr>, At)>>, body: H<Vec<Stmt>>) -> H<Case> {
        H { h: labels.h.max(body.h), v: Case { labels: labels.v, body: body.v } }
    }

    /// `p.h(args) [min:max]`
    pub fn send(&mut self, call: H<Expr>, latency: H<(Latency, At)>) -> Box<H<Stmt>> {
        let span = call.v.span().to(latency.v.1.0);
        let h = call.h.max(latency.h);
        let (latency, place) = latency.v;
        match call.v.kind {
            ExprKind::Call { callee, args } if matches!(callee.kind, ExprKind::Member(..)) => {
                let ExprKind::Member(portal, handler) = callee.kind else { unreachable!("the guard says so") };
                self.stmt(span.start, StmtKind::Send { portal: *portal, handler, args, latency }, h, span.end)
            }
            _ => {
                let diagnostic =
                    Diagnostic::error("E0015", "a latency belongs to a message only", place.0, "this is a latency")
                        .label(call.v.span(), "but this sends no message")
                        .help("a message is sent as `portal.handler(arguments) [min:max];`");
                self.diagnostics.push(diagnostic);
                self.expr_stmt(H { v: call.v, h: call.h })
            }
        }
    }

    /// `add S(args) to p;`, `body S;`, `loop S;`
    pub fn add(&mut self, l: u32, word: Token, stream: H<StreamRef>, portals: H<Vec<Expr>>, r: u32) -> Box<H<Stmt>> {
        let h = stream.h.max(portals.h);
        let (stream, portals) = (stream.v, portals.v);
        let kind = match word {
            Token::Body => StmtKind::Body { stream, portals },
            Token::Loop => StmtKind::Loop { stream, portals },
            _ => StmtKind::Add { stream, portals },
        };
        self.stmt(l, kind, h, r)
    }
}
