//! Places that are assigned.
//!
//! Takes a place expression, gives where it is; the place's own indices are evaluated (and checked) once.

use super::error::{Eval, EvalError, EvalErrorKind};
use super::expr::{ill_typed, operate};
use super::machine::{Host, Machine};
use super::value::{Aggregate, Value};
use crate::ids::{LocalId, StaticId};
use crate::ops::{self, Scalar};
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::span::Span;

/// Where a value lies.
pub(super) enum Place {
    /// A local of the current frame.
    Local(LocalId),
    /// A field.
    Field(usize),
    /// A static.
    Static(StaticId),
    /// An element of an array or a field of a struct.
    Item(Aggregate, usize),
    /// A component of a complex number or vector that lies somewhere.
    Component(Box<Place>, u8),
}

impl Machine<'_> {
    /// Finds a place.
    pub(super) fn place(&mut self, e: &Expr, host: &mut dyn Host) -> Eval<Place> {
        Ok(match &e.kind {
            ExprKind::Local(id) => Place::Local(*id),
            ExprKind::Field(id) => Place::Field(id.index()),
            ExprKind::Static(id) => Place::Static(*id),
            ExprKind::Index(base, index) => {
                let array = self.array(base, host)?;
                let index = self.int(index, host)?;
                let length = array.borrow().len();
                match usize::try_from(index) {
                    Ok(i) if i < length => Place::Item(array, i),
                    _ => return Err(EvalError::new(EvalErrorKind::IndexOutOfBounds { index, length }, e.span)),
                }
            }
            ExprKind::Member(base, i) => match self.eval(base, host)? {
                Value::Struct(a) => Place::Item(a, *i as usize),
                _ => return ill_typed("a member of something else", e.span),
            },
            ExprKind::Component(base, i) => Place::Component(Box::new(self.place(base, host)?), *i),
            _ => return ill_typed("no place", e.span),
        })
    }

    /// The value in a place.
    pub(super) fn load(&mut self, place: &Place, span: Span) -> Eval<Value> {
        let value = match place {
            Place::Local(id) => return self.local(*id, span),
            Place::Field(i) => self.fields.get(*i).cloned(),
            Place::Static(id) => self.statics.get(*id, self.globals),
            Place::Item(a, i) => a.borrow().get(*i),
            Place::Component(of, c) => {
                let whole = self.load(of, span)?.scalar();
                whole.and_then(|s| s.component(*c)).map(|x| Value::Scalar(Scalar::Float(x)))
            }
        };
        value.map_or_else(|| ill_typed("an unknown place", span), Ok)
    }

    /// Stores a value in a place, as a copy.
    pub(super) fn store(&mut self, place: &Place, value: Value, span: Span) -> Eval<()> {
        let done = match place {
            Place::Local(id) => self.stack.get_mut(self.frame.base + id.index()).map(|slot| value.copy_into(slot)),
            Place::Field(i) => self.fields.get_mut(*i).map(|slot| value.copy_into(slot)),
            Place::Static(id) => self.statics.slot(*id, self.globals).map(|slot| value.copy_into(slot)),
            Place::Item(a, i) => Some(a.borrow_mut().set(*i, value)),
            Place::Component(of, c) => {
                let whole = self.load(of, span)?.scalar();
                let part = value.scalar();
                match (whole, part) {
                    (Some(whole), Some(Scalar::Float(x))) => match whole.with_component(*c, x) {
                        Some(s) => return self.store(of, Value::Scalar(s), span),
                        None => None,
                    },
                    _ => None,
                }
            }
        };
        match done {
            Some(result) => result.map_err(|k| EvalError::new(k, span)),
            None => ill_typed("an unknown place", span),
        }
    }

    /// `place op= value`
    pub(super) fn assign_op(
        &mut self,
        place: &Expr,
        op: BinaryOp,
        in_ty: &Ty,
        value: &Expr,
        span: Span,
        host: &mut dyn Host,
    ) -> Eval<()> {
        let at = self.place(place, host)?;
        let Some(old) = self.load(&at, place.span)?.scalar() else { return ill_typed("no scalar", place.span) };
        let value = self.scalar(value, host)?;
        let Some(widened) = ops::scalar_convert(old, in_ty) else { return ill_typed("a conversion", place.span) };
        let result = operate(op, widened, value, span)?;
        let Some(back) = ops::scalar_convert(result, &place.ty) else { return ill_typed("a conversion", place.span) };
        self.store(&at, Value::Scalar(back), span)
    }

    /// `++place` and so on.
    pub(super) fn inc_dec(&mut self, place: &Expr, inc: bool, prefix: bool, host: &mut dyn Host) -> Eval<Value> {
        let at = self.place(place, host)?;
        let Some(old) = self.load(&at, place.span)?.scalar() else { return ill_typed("no scalar", place.span) };
        let one = match old {
            Scalar::Int(_) => Scalar::Int(1),
            Scalar::Float(_) => Scalar::Float(1.0),
            Scalar::Double(_) => Scalar::Double(1.0),
            _ => return ill_typed("no number", place.span),
        };
        let new = operate(if inc { BinaryOp::Add } else { BinaryOp::Sub }, old, one, place.span)?;
        self.store(&at, Value::Scalar(new), place.span)?;
        Ok(Value::Scalar(if prefix { new } else { old }))
    }
}
