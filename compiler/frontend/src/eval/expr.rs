//! Expressions.
//!
//! Takes an expression and the machine's frame, gives its value. Operands are evaluated left to right.

use super::error::{Eval, EvalError, EvalErrorKind};
use super::machine::{Host, Machine};
use super::value::{Aggregate, Maker, Value, size};
use crate::constant::Const;
use crate::ops::{self, Scalar};
use crate::ty::{Dim, Ty};
use crate::typed::*;
use sluice_grammar::span::Span;

/// An error for code that no checker lets through.
#[cold]
pub(super) fn ill_typed<T>(what: &'static str, span: Span) -> Eval<T> {
    Err(EvalError::new(EvalErrorKind::IllTyped(what), span))
}

impl<'a> Machine<'a> {
    /// Evaluates an expression in the current frame. An array or struct comes as a handle that may be a variable's own.
    pub fn eval(&mut self, e: &Expr, host: &mut dyn Host) -> Eval<Value> {
        match &e.kind {
            ExprKind::Const(c) => Ok(match c {
                Const::Int(i) => Value::Scalar(Scalar::Int(*i)),
                Const::Float(x) => Value::Scalar(Scalar::Float(*x)),
                c => match Scalar::of(c) {
                    Some(s) => Value::Scalar(s),
                    None => Value::from_const(c, &e.ty, self.globals),
                },
            }),
            ExprKind::Local(id) => self.local(*id, e.span),
            ExprKind::Field(id) => match self.fields.get(id.index()) {
                Some(v) => Ok(v.clone()),
                None => ill_typed("an unknown field", e.span),
            },
            ExprKind::Static(id) => match self.statics.get(*id, self.globals) {
                Some(v) => Ok(v),
                None => ill_typed("an unknown static", e.span),
            },
            ExprKind::Index(base, index) => self.index(base, index, e.span, host),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span, host),
            ExprKind::Unary(op, a) => match ops::scalar_unary(*op, self.scalar(a, host)?) {
                Some(s) => Ok(Value::Scalar(s)),
                None => ill_typed("a unary operator", e.span),
            },
            ExprKind::Convert(a) => self.convert(a, &e.ty, host),
            ExprKind::Pop => host.pop().map_err(|k| EvalError::new(k, e.span)),
            ExprKind::Peek(i) => {
                let i = self.int(i, host)?;
                host.peek(i).map_err(|k| EvalError::new(k, e.span))
            }
            ExprKind::Iter => host.iter().map(Value::int).map_err(|k| EvalError::new(k, e.span)),
            ExprKind::Call(callee, args) => self.call_expr(*callee, args, e.span, host),
            ExprKind::Ternary(c, a, b) => {
                if self.truth(c, host)? {
                    self.eval(a, host)
                } else {
                    self.eval(b, host)
                }
            }
            ExprKind::Member(base, i) => match self.eval(base, host)? {
                Value::Struct(a) => match a.borrow().get(*i as usize) {
                    Some(v) => Ok(v),
                    None => ill_typed("an unknown member", e.span),
                },
                _ => ill_typed("a member of something else", e.span),
            },
            ExprKind::Component(base, i) => match self.scalar(base, host)?.component(*i) {
                Some(x) => Ok(Value::Scalar(Scalar::Float(x))),
                None => ill_typed("an unknown component", e.span),
            },
            ExprKind::Builtin(f, args) => self.builtin(*f, args, e.span, host),
            ExprKind::IncDec { place, inc, prefix } => self.inc_dec(place, *inc, *prefix, host),
            ExprKind::Array(items) => self.array_literal(items, &e.ty, e.span, host),
            ExprKind::Compose(parts) => self.compose(parts, &e.ty, e.span, host),
            ExprKind::Concat(_) => {
                let mut text = String::new();
                self.write_text(e, &mut text, host)?;
                Ok(Value::Str(text.into()))
            }
        }
    }

    /// A scalar's value.
    #[inline]
    pub(super) fn scalar(&mut self, e: &Expr, host: &mut dyn Host) -> Eval<Scalar> {
        match self.eval(e, host)? {
            Value::Scalar(s) => Ok(s),
            _ => ill_typed("no scalar", e.span),
        }
    }

    /// An int's value.
    #[inline]
    pub(super) fn int(&mut self, e: &Expr, host: &mut dyn Host) -> Eval<i32> {
        match self.eval(e, host)? {
            Value::Scalar(Scalar::Int(i)) => Ok(i),
            _ => ill_typed("no int", e.span),
        }
    }

    /// A boolean's value.
    #[inline]
    pub(super) fn truth(&mut self, e: &Expr, host: &mut dyn Host) -> Eval<bool> {
        match self.eval(e, host)? {
            Value::Scalar(Scalar::Bool(b)) => Ok(b),
            _ => ill_typed("no boolean", e.span),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span, host: &mut dyn Host) -> Eval<Value> {
        match op {
            BinaryOp::And => return Ok(Value::Scalar(Scalar::Bool(self.truth(a, host)? && self.truth(b, host)?))),
            BinaryOp::Or => return Ok(Value::Scalar(Scalar::Bool(self.truth(a, host)? || self.truth(b, host)?))),
            _ => {}
        }
        let x = self.scalar(a, host)?;
        let y = self.scalar(b, host)?;
        operate(op, x, y, span).map(Value::Scalar)
    }

    fn convert(&mut self, a: &Expr, to: &Ty, host: &mut dyn Host) -> Eval<Value> {
        match self.eval(a, host)? {
            Value::Scalar(s) => match ops::scalar_convert(s, to) {
                Some(s) => Ok(Value::Scalar(s)),
                None => ill_typed("a conversion", a.span),
            },
            // an array that is to be passed as a copy
            other => Ok(other.deep_copy()),
        }
    }

    fn index(&mut self, base: &Expr, index: &Expr, span: Span, host: &mut dyn Host) -> Eval<Value> {
        // a variable's own array needs no handle
        let slot = match &base.kind {
            ExprKind::Local(id) => {
                let i = self.int(index, host)?;
                (i, self.stack.get(self.frame.base + id.index()))
            }
            ExprKind::Field(id) => {
                let i = self.int(index, host)?;
                (i, self.fields.get(id.index()))
            }
            _ => {
                let array = self.array(base, host)?;
                let i = self.int(index, host)?;
                return element(&array, i, span);
            }
        };
        match slot {
            (i, Some(Value::Array(a))) => element(a, i, span),
            (i, _) => element(&self.array(base, host)?, i, span),
        }
    }

    /// An array's handle.
    pub(super) fn array(&mut self, e: &Expr, host: &mut dyn Host) -> Eval<Aggregate> {
        match self.eval(e, host)? {
            Value::Array(a) => Ok(a),
            _ => ill_typed("no array", e.span),
        }
    }

    fn call_expr(&mut self, callee: Callee, args: &[Expr], span: Span, host: &mut dyn Host) -> Eval<Value> {
        self.step(span, host)?;
        let (functions, globals) = (self.functions, self.globals);
        let f = match callee {
            Callee::Own(id) => functions.get(id.index()),
            Callee::Helper(id) => globals.helpers.get(id.index()),
            Callee::Native(id) => {
                let mut values = Vec::with_capacity(args.len());
                for a in args {
                    let value = self.eval(a, host)?;
                    values.push(if matches!(a.ty, Ty::Array(..)) { value } else { value.owned() });
                }
                return host.native(id, &values).map_err(|k| match (&k, globals.natives.get(id.index())) {
                    (EvalErrorKind::NotAvailable(_), Some(n)) => {
                        let name = format!("{}.{}", n.group, n.name).into();
                        EvalError::new(EvalErrorKind::NativeCall { name, declared: n.span }, span)
                    }
                    _ => EvalError::new(k, span),
                });
            }
        };
        let Some(f) = f else {
            // a helper used in the size of something that helpers need
            return Err(EvalError::new(EvalErrorKind::NotAvailable("this function".into()), span));
        };
        let base = self.stack.len();
        for (i, a) in args.iter().enumerate() {
            let value = self.eval(a, host)?;
            let by_ref = f.locals.get(i).is_some_and(|l| l.by_ref);
            self.stack.push(if by_ref { value } else { value.owned() });
        }
        self.enter(f, base, host)
    }

    fn builtin(&mut self, f: Builtin, args: &[Expr], span: Span, host: &mut dyn Host) -> Eval<Value> {
        let result = match args {
            [a] => ops::math::builtin(f, &[self.scalar(a, host)?]),
            [a, b] => {
                let a = self.scalar(a, host)?;
                let b = self.scalar(b, host)?;
                ops::math::builtin(f, &[a, b])
            }
            _ => None,
        };
        match result {
            Some(s) => Ok(Value::Scalar(s)),
            None => ill_typed("a mathematical function", span),
        }
    }

    fn compose(&mut self, parts: &[Expr], ty: &Ty, span: Span, host: &mut dyn Host) -> Eval<Value> {
        let mut values = Vec::with_capacity(4);
        for p in parts {
            match self.scalar(p, host)? {
                Scalar::Float(x) => values.push(x),
                _ => return ill_typed("a component", p.span),
            }
        }
        match Scalar::compose(ty, &values) {
            Some(s) => Ok(Value::Scalar(s)),
            None => ill_typed("a composed value", span),
        }
    }

    /// A new array of type `ty` with these first elements, or a struct with these fields.
    pub(super) fn array_literal(&mut self, items: &[Expr], ty: &Ty, span: Span, host: &mut dyn Host) -> Eval<Value> {
        let sized;
        let ty = match ty {
            // in the body of a composite where no size was declared: as many as there are
            Ty::Array(elem, Dim::Unknown) => {
                sized = Ty::Array(elem.clone(), Dim::Known(items.len() as u32));
                &sized
            }
            _ => ty,
        };
        let array = self.zero(ty, span, host)?;
        let (Value::Array(handle) | Value::Struct(handle)) = &array else {
            return ill_typed("no array", span);
        };
        let fields = match ty {
            Ty::Struct(id) => self.globals.structs.get(id.index()).map(|s| &s.fields),
            _ => None,
        };
        for (i, item) in items.iter().enumerate() {
            let within = fields.map_or(ty.element(), |f| f.get(i).map(|(_, t)| t));
            let value = match (&item.kind, within) {
                (ExprKind::Array(inner), Some(ty)) => self.array_literal(inner, ty, item.span, host)?,
                _ => self.eval(item, host)?,
            };
            let length = handle.borrow().len();
            if i >= length {
                return Err(EvalError::new(EvalErrorKind::SizesDiffer { to: length, from: items.len() }, span));
            }
            handle.borrow_mut().set(i, value).map_err(|k| EvalError::new(k, item.span))?;
        }
        Ok(array)
    }

    /// The zero of a type; new portals are asked of the host.
    pub(super) fn zero(&mut self, ty: &Ty, span: Span, host: &mut dyn Host) -> Eval<Value> {
        if let Some(s) = Scalar::zero(ty) {
            return Ok(Value::Scalar(s));
        }
        let size = size(ty, self.globals).map_err(|k| EvalError::new(k, span))?;
        self.charge(size / 16, span, host)?;
        let mut portal = || host.portal();
        Value::zero(ty, &mut Maker { globals: self.globals, portal: Some(&mut portal) })
            .map_err(|k| EvalError::new(k, span))
    }

    /// Appends the text of a printable value.
    pub(super) fn write_text(&mut self, e: &Expr, out: &mut String, host: &mut dyn Host) -> Eval<()> {
        if let ExprKind::Concat(parts) = &e.kind {
            for p in parts {
                self.write_text(p, out, host)?;
            }
            return Ok(());
        }
        match self.eval(e, host)? {
            Value::Scalar(s) => ops::format::write_scalar(out, s),
            Value::Str(s) => out.push_str(&s),
            _ => return ill_typed("something that does not print", e.span),
        }
        Ok(())
    }
}

/// `a op b`.
#[inline]
pub(super) fn operate(op: BinaryOp, a: Scalar, b: Scalar, span: Span) -> Eval<Scalar> {
    match ops::scalar_binary(op, a, b) {
        Ok(Some(s)) => Ok(s),
        Ok(None) => ill_typed("a binary operator", span),
        Err(ops::DivisionByZero) => Err(EvalError::new(EvalErrorKind::DivisionByZero, span)),
    }
}

/// An element, or the error that there is none.
#[inline]
fn element(a: &Aggregate, i: i32, span: Span) -> Eval<Value> {
    let items = a.borrow();
    match usize::try_from(i).ok().and_then(|i| items.get(i)) {
        Some(v) => Ok(v),
        None => Err(EvalError::new(EvalErrorKind::IndexOutOfBounds { index: i, length: items.len() }, span)),
    }
}
