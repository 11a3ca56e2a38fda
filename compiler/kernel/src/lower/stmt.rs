//! Statements: every loop becomes an endless one with breaks, `switch` a sequence of conditions in a block.
//!
//! ```text
//! for (i = 0; i < n; i++) { if (c) continue; ... }   →   $i = 0  loop { if not(...) { break 0 }  block { if c { break 0 } ... }  $i = ($i + 1) }
//! ```
//!
//! The pass `count_loops` finds the counted ones again.

use super::expr::const_array;
use super::{Frame, FunctionLowering, Lowered};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::{self, ExprKind as T, StmtKind as S};

impl FunctionLowering<'_, '_> {
    pub(super) fn stmts(&mut self, body: &[typed::Stmt]) -> Lowered<()> {
        body.iter().try_for_each(|s| self.stmt(s))
    }

    fn stmt(&mut self, s: &typed::Stmt) -> Lowered<()> {
        self.span = s.span;
        match &s.kind {
            S::Let { local, init, .. } => self.declare(*local, init.as_ref()),
            S::Assign { place, value } => {
                let p = self.target(place)?;
                self.assign(p, value, &place.ty, false)
            }
            S::AssignOp { place, op, in_ty, value } => self.assign_op(place, *op, in_ty, value, s.span),
            S::Expr(e) => self.effect(e),
            S::Push(e) => {
                let v = self.expr(e)?;
                if self.check_counts.is_some() {
                    self.push(StmtKind::Check(Check::Push));
                }
                self.push(StmtKind::Push(v));
                Ok(())
            }
            S::Print { value, newline } => self.print(value, *newline),
            S::If { cond, then, els } => {
                let c = self.expr(cond)?;
                let then = self.collect(|l| l.stmts(then))?;
                let els = self.collect(|l| l.stmts(els))?;
                self.span = s.span;
                self.push(StmtKind::If(c, then, els));
                Ok(())
            }
            S::For { init, cond, step, body } => {
                self.stmts(init)?;
                self.span = s.span;
                let body = self.nested(Frame::Loop, |l| {
                    l.leave_unless(cond.as_ref())?;
                    let body = l.nested(Frame::Body, |l| l.stmts(body))?;
                    l.block(body);
                    l.stmts(step)
                })?;
                self.span = s.span;
                self.push(StmtKind::Loop(body));
                Ok(())
            }
            S::While { cond, body } => {
                let body = self.nested(Frame::While, |l| {
                    l.leave_unless(Some(cond))?;
                    l.stmts(body)
                })?;
                self.span = s.span;
                self.push(StmtKind::Loop(body));
                Ok(())
            }
            S::DoWhile { body, cond } => {
                let body = self.nested(Frame::Loop, |l| {
                    let body = l.nested(Frame::Body, |l| l.stmts(body))?;
                    l.block(body);
                    l.leave_unless(Some(cond))
                })?;
                self.span = s.span;
                self.push(StmtKind::Loop(body));
                Ok(())
            }
            S::Switch { value, cases } => self.switch(value, cases, s.span),
            S::Break => self.jump(|f| matches!(f, Frame::While | Frame::Loop | Frame::Switch), false),
            S::Continue => match self.nest.iter().rev().find(|f| matches!(f, Frame::While | Frame::Body)) {
                Some(Frame::While) => self.jump(|f| f == Frame::While, true),
                _ => self.jump(|f| f == Frame::Body, false),
            },
            S::Return(None) if self.work => self.jump(|f| f == Frame::Work, false),
            S::Return(value) => {
                let v = value.as_ref().map(|e| self.expr(e)).transpose()?;
                self.push(StmtKind::Return(v));
                Ok(())
            }
            S::Block(body) => self.stmts(body),
            S::Send(send) => {
                let args = send.args.iter().map(|e| self.expr(e)).collect::<Lowered<Vec<Expr>>>()?;
                let handler = send.handler.to_string().into();
                let route = Route { portal: send.portal, handler, latency: send.latency };
                self.push(StmtKind::Send(Box::new(Message { route, args })));
                Ok(())
            }
            S::Stream(_) => self.unsupported("a statement of a composite stream"),
        }
    }

    fn declare(&mut self, local: LocalId, init: Option<&typed::Expr>) -> Lowered<()> {
        let v = &self.f.locals[local.index()];
        let Some(init) = init else {
            self.push(StmtKind::Assign(Place::local(local), Expr::zero(v.ty.clone())));
            return Ok(());
        };
        if !v.written && v.ty.is_aggregate() {
            // a name for a constant
            let table = match &init.kind {
                T::Array(_) | T::Const(_) => const_array(init).map(|c| self.l.literal(&v.ty, c)),
                T::Field(_) | T::Static(_) => match self.value(init)? {
                    super::place::Value::At(Place { base: Base::Table(t), .. }) => Some(t),
                    _ => None,
                },
                _ => None,
            };
            if let Some(t) = table {
                self.tables.insert(local, t);
                return Ok(());
            }
        }
        self.assign(Place::local(local), init, &v.ty, true)
    }

    fn assign_op(
        &mut self,
        place: &typed::Expr,
        op: BinaryOp,
        in_ty: &Ty,
        value: &typed::Expr,
        span: sluice_grammar::span::Span,
    ) -> Lowered<()> {
        let mut at = self.target(place)?;
        let mut old = Expr::load(at.clone(), place.ty.clone());
        let mark = self.out.len();
        let v = self.expr(value)?;
        self.protect([&mut old], mark);
        self.protect_place(&mut at, mark);
        let widened = convert(old, in_ty);
        let result = self.operate(op, widened, v, in_ty.clone(), span);
        self.push(StmtKind::Assign(at, convert(result, &place.ty)));
        Ok(())
    }

    /// An expression whose value is dropped.
    fn effect(&mut self, e: &typed::Expr) -> Lowered<()> {
        match &e.kind {
            T::Pop => {
                self.pop(None, e);
                Ok(())
            }
            T::Call(callee, args) => self.call(*callee, args, None, e),
            T::IncDec { place, inc, .. } => self.inc_dec(place, *inc, None).map(|_| ()),
            _ if e.ty == Ty::Str => self.unprinted(e),
            _ => self.expr(e).map(|_| ()),
        }
    }

    /// Leaves the loop whose body is being made, unless the condition holds.
    fn leave_unless(&mut self, cond: Option<&typed::Expr>) -> Lowered<()> {
        if let Some(cond) = cond {
            let c = self.expr(cond)?;
            self.push(StmtKind::If(Expr::not(c), vec![StmtKind::Break(0).at(self.span)], Vec::new()));
        }
        Ok(())
    }

    /// A block; without its braces where nothing leaves it.
    fn block(&mut self, mut body: Vec<Stmt>) {
        if walk::leaves(&body, 0, false, false) {
            self.push(StmtKind::Block(body));
        } else {
            walk::shift_breaks(&mut body, 1, -1);
            self.out.append(&mut body);
        }
    }

    /// A break out of (or continue of) the innermost construct that `is` wanted.
    fn jump(&mut self, is: impl Fn(Frame) -> bool, on: bool) -> Lowered<()> {
        match self.nest.iter().rev().position(|f| is(*f)) {
            Some(depth) => {
                let depth = depth as u32;
                self.push(if on { StmtKind::Continue(depth) } else { StmtKind::Break(depth) });
                Ok(())
            }
            None => self.unsupported("a break or continue outside of a loop"),
        }
    }

    fn switch(
        &mut self,
        value: &typed::Expr,
        cases: &[typed::SwitchCase],
        span: sluice_grammar::span::Span,
    ) -> Lowered<()> {
        let v = self.expr(value)?;
        // a variable may be written by a case
        let v = if v.as_const().is_some() { v } else { self.store("switch", v) };
        let is = |c: &typed::SwitchCase| {
            let tests = c.labels.iter().map(|l| Expr::binary(BinaryOp::Eq, v.clone(), Expr::int(*l), Ty::Bool));
            tests.reduce(|a, b| Expr::binary(BinaryOp::Or, a, b, Ty::Bool))
        };
        let mut bodies = Vec::new();
        for c in cases {
            bodies.push(self.nested(Frame::Switch, |l| l.stmts(&c.body))?);
        }
        self.span = span;
        let falls = bodies.iter().rev().skip(1).any(|b| !walk::diverges(b));
        let body = if falls {
            // which case control enters; the later ones follow unless something leaves the block
            let enter = self.temp("case", Ty::Int);
            let default = cases.iter().position(|c| c.default).unwrap_or(cases.len());
            let mut first = Expr::int(default as i32);
            for (i, c) in cases.iter().enumerate().rev() {
                if let Some(test) = is(c) {
                    let kind = ExprKind::Select(Box::new(test), Box::new(Expr::int(i as i32)), Box::new(first));
                    first = Expr { kind, ty: Ty::Int };
                }
            }
            let mut out = vec![StmtKind::Assign(Place::local(enter), first).at(span)];
            for (i, b) in bodies.into_iter().enumerate() {
                let entered = Expr::binary(BinaryOp::Le, Expr::local(enter, Ty::Int), Expr::int(i as i32), Ty::Bool);
                out.push(StmtKind::If(entered, b, Vec::new()).at(span));
            }
            out
        } else {
            let mut chain = Vec::new();
            let mut default = Vec::new();
            for (c, mut b) in cases.iter().zip(bodies) {
                if matches!(b.last(), Some(Stmt { kind: StmtKind::Break(0), .. })) {
                    b.pop();
                }
                match is(c) {
                    _ if c.default => default = b,
                    Some(test) => chain.push((test, b)),
                    None => {}
                }
            }
            chain.into_iter().rev().fold(default, |els, (test, b)| vec![StmtKind::If(test, b, els).at(span)])
        };
        self.block(body);
        Ok(())
    }
}

/// A value as another type.
fn convert(e: Expr, ty: &Ty) -> Expr {
    if e.ty == *ty { e } else { Expr { kind: ExprKind::Convert(Box::new(e)), ty: ty.clone() } }
}
