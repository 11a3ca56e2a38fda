//! Statements.
//!
//! Takes statements and the machine's frame, says how they ended.

use super::error::{Eval, EvalError, EvalErrorKind};
use super::expr::ill_typed;
use super::machine::{Flow, Host, Machine, Message};
use super::value::{Items, Value, size};
use crate::ids::LocalId;
use crate::ty::{Dim, Ty};
use crate::typed::*;
use sluice_grammar::span::Span;

impl<'a> Machine<'a> {
    /// Runs statements one after the other.
    pub(super) fn exec(&mut self, stmts: &[Stmt], host: &mut dyn Host) -> Eval<Flow> {
        for s in stmts {
            match self.stmt(s, host)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, s: &Stmt, host: &mut dyn Host) -> Eval<Flow> {
        self.step(s.span, host)?;
        match &s.kind {
            StmtKind::Let { local, init, dims } => self.declare(*local, init.as_ref(), dims, s.span, host)?,
            StmtKind::Assign { place, value } => {
                let at = self.place(place, host)?;
                let value = self.eval(value, host)?;
                self.store(&at, value, s.span)?;
            }
            StmtKind::AssignOp { place, op, in_ty, value } => self.assign_op(place, *op, in_ty, value, s.span, host)?,
            StmtKind::Expr(e) => {
                self.eval(e, host)?;
            }
            StmtKind::Push(e) => {
                let value = self.eval(e, host)?.owned();
                host.push(value).map_err(|k| EvalError::new(k, s.span))?;
            }
            StmtKind::Print { value, newline } => self.print(value, *newline, s.span, host)?,
            StmtKind::If { cond, then, els } => {
                let branch = if self.truth(cond, host)? { then } else { els };
                return self.exec(branch, host);
            }
            StmtKind::For { init, cond, step, body } => {
                self.exec(init, host)?;
                return self.repeat(cond.as_ref(), body, step, s.span, host);
            }
            StmtKind::While { cond, body } => return self.repeat(Some(cond), body, &[], s.span, host),
            StmtKind::DoWhile { body, cond } => loop {
                match self.exec(body, host)? {
                    Flow::Break => break,
                    Flow::Return => return Ok(Flow::Return),
                    Flow::Next | Flow::Continue => {}
                }
                self.step(s.span, host)?;
                if !self.truth(cond, host)? {
                    break;
                }
            },
            StmtKind::Switch { value, cases } => return self.switch(value, cases, host),
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(e) => {
                self.result = match e {
                    Some(e) => self.eval(e, host)?.owned(),
                    None => Value::Void,
                };
                return Ok(Flow::Return);
            }
            StmtKind::Block(body) => return self.exec(body, host),
            StmtKind::Send(send) => self.send(send, s.span, host)?,
            StmtKind::Stream(stream) => host.stream(self, stream, s.span)?,
        }
        Ok(Flow::Next)
    }

    fn repeat(
        &mut self,
        cond: Option<&Expr>,
        body: &[Stmt],
        step: &[Stmt],
        span: Span,
        host: &mut dyn Host,
    ) -> Eval<Flow> {
        loop {
            self.step(span, host)?;
            if let Some(c) = cond
                && !self.truth(c, host)?
            {
                return Ok(Flow::Next);
            }
            match self.exec(body, host)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next | Flow::Continue => {}
            }
            self.exec(step, host)?;
        }
    }

    fn switch(&mut self, value: &Expr, cases: &[SwitchCase], host: &mut dyn Host) -> Eval<Flow> {
        let value = self.int(value, host)?;
        let start =
            (cases.iter().position(|c| c.labels.contains(&value))).or_else(|| cases.iter().position(|c| c.default));
        for case in &cases[start.unwrap_or(cases.len())..] {
            match self.exec(&case.body, host)? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn print(&mut self, value: &Expr, newline: bool, span: Span, host: &mut dyn Host) -> Eval<()> {
        let mut text = String::new();
        self.write_text(value, &mut text, host)?;
        if newline {
            text.push('\n');
        }
        host.print(&text).map_err(|k| EvalError::new(k, span))
    }

    fn declare(
        &mut self,
        local: LocalId,
        init: Option<&Expr>,
        dims: &[Expr],
        span: Span,
        host: &mut dyn Host,
    ) -> Eval<()> {
        let Some(declared) = self.frame.function.and_then(|f| f.locals.get(local.index())) else {
            return ill_typed("an unknown local", span);
        };
        let sized;
        let ty = if dims.is_empty() {
            &declared.ty
        } else {
            let mut sizes = Vec::with_capacity(dims.len());
            for d in dims {
                let n = self.int(d, host)?;
                sizes.push(u32::try_from(n).map_err(|_| EvalError::new(EvalErrorKind::NegativeSize(n), d.span))?);
            }
            sized = with_sizes(&declared.ty, &sizes);
            &sized
        };
        let value = match init {
            None => self.zero(ty, span, host)?,
            Some(Expr { kind: ExprKind::Array(items), span, .. }) => self.array_literal(items, ty, *span, host)?,
            Some(e) => {
                let value = self.eval(e, host)?.owned();
                if !dims.is_empty() {
                    same_size(ty, &value).map_err(|k| EvalError::new(k, e.span))?;
                }
                value
            }
        };
        let slot = self.frame.base + local.index();
        if ty.is_aggregate() && matches!(self.stack.get(slot), Some(Value::Void)) {
            let items = size(ty, self.globals).unwrap_or(0);
            self.hold(items, span)?;
        }
        match self.stack.get_mut(slot) {
            Some(slot) => {
                *slot = value;
                Ok(())
            }
            None => ill_typed("an unknown local", span),
        }
    }

    fn send(&mut self, send: &Send, span: Span, host: &mut dyn Host) -> Eval<()> {
        let mut args = Vec::with_capacity(send.args.len());
        for a in &send.args {
            args.push(self.eval(a, host)?.owned());
        }
        let message = Message { portal: send.portal, handler: send.handler.clone(), args, latency: send.latency };
        host.send(message).map_err(|k| EvalError::new(k, span))
    }
}

/// Puts sizes into an array type, outermost first.
fn with_sizes(ty: &Ty, sizes: &[u32]) -> Ty {
    match (ty, sizes) {
        (Ty::Array(e, _), [n, rest @ ..]) => Ty::Array(with_sizes(e, rest).into(), Dim::Known(*n)),
        _ => ty.clone(),
    }
}

/// Does a value have the sizes of a type?
fn same_size(ty: &Ty, value: &Value) -> Result<(), EvalErrorKind> {
    let (Ty::Array(elem, Dim::Known(n)), Value::Array(a)) = (ty, value) else { return Ok(()) };
    let items = a.borrow();
    if items.len() != *n as usize {
        return Err(EvalErrorKind::SizesDiffer { to: *n as usize, from: items.len() });
    }
    match &*items {
        Items::Any(rows) => rows.iter().try_for_each(|row| same_size(elem, row)),
        _ => Ok(()),
    }
}
