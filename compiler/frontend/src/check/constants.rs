//! # constants
//!
//! Purpose: the values of expressions that must be known when the program is compiled: rates, sizes, latencies, case labels.
//! Input: a typed expression. Output: its value; or that it depends on the run, or on a parameter that is not known in general.
//! Fields that it used as constants are remembered: later it is checked that no firing changes them.

use super::Checker;
use super::filter::evaluation_failed;
use crate::constant::Const;
use crate::eval::{self, EvalError};
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::span::Span;

/// An expression whose value depends on the run.
#[derive(Clone, Copy, Debug)]
pub struct NotConstant;

impl Checker<'_> {
    /// The value of an expression known at compile time. `Ok(None)`: it depends on a parameter that is not known now, or
    /// something was reported; `Err`: it is not a constant.
    pub fn constant(&mut self, e: &Expr) -> Result<Option<Const>, NotConstant> {
        if let ExprKind::Const(c) = &e.kind {
            return Ok((e.ty != Ty::Error).then(|| c.clone()));
        }
        let mut uses = Uses::default();
        if !self.constant_shape(e, &mut uses) {
            return Err(NotConstant);
        }
        if uses.unknown {
            return Ok(None);
        }
        self.fields_as_constants.extend(uses.fields);
        match self.evaluate(e, eval::COMPILE_TIME_FUEL) {
            Ok(v) => Ok(Some(v)),
            Err(err) => {
                self.report(evaluation_failed(&err, "in a constant expression"));
                Ok(None)
            }
        }
    }

    /// The value of a local's initialiser, where it is easily known; `Some(None)` where it depends on a parameter that is not
    /// known now. Fields other than parameters would be bound to be constant by this, and are left alone.
    /// What goes wrong here goes wrong when the code runs, if it ever does.
    pub fn known(&self, e: &Expr) -> Option<Option<Const>> {
        if let ExprKind::Const(c) = &e.kind {
            return (e.ty != Ty::Error).then(|| Some(c.clone()));
        }
        if self.may_change(e) {
            return None;
        }
        let mut uses = Uses::default();
        self.constant_shape(e, &mut uses);
        if uses.unknown {
            return Some(None);
        }
        self.evaluate(e, eval::GUESS_FUEL).ok().map(Some)
    }

    /// May it differ from firing to firing? Fields other than parameters may, if it is not known yet that none changes them.
    pub(super) fn may_change(&self, e: &Expr) -> bool {
        let mut uses = Uses::default();
        !self.constant_shape(e, &mut uses) || uses.fields.iter().any(|(id, _)| !self.fields[id.index()].param)
    }

    fn constant_shape(&self, e: &Expr, uses: &mut Uses) -> bool {
        let mut all = |es: &[&Expr]| es.iter().all(|e| self.constant_shape(e, uses));
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Static(_) => true,
            ExprKind::Local(id) => match self.f.constants.get(id) {
                Some(value) => {
                    uses.unknown |= value.is_none();
                    true
                }
                None => false,
            },
            ExprKind::Field(id) => {
                uses.unknown |= self.fields[id.index()].value.is_none();
                uses.fields.push((*id, e.span));
                true
            }
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => all(&[a, b]),
            ExprKind::Member(a, _) | ExprKind::Component(a, _) | ExprKind::Unary(_, a) | ExprKind::Convert(a) => {
                all(&[a])
            }
            ExprKind::Ternary(a, b, c) => all(&[a, b, c]),
            ExprKind::Builtin(_, args) | ExprKind::Compose(args) | ExprKind::Array(args) => {
                args.iter().all(|e| self.constant_shape(e, uses))
            }
            ExprKind::Call(Callee::Helper(_), args) => args.iter().all(|e| self.constant_shape(e, uses)),
            _ => false,
        }
    }

    pub(super) fn evaluate(&self, e: &Expr, most: u64) -> Result<Const, EvalError> {
        let mut e = e.clone();
        self.fill_constants(&mut e);
        let fields: Vec<(Ty, Const)> =
            (self.fields.iter()).map(|f| (f.ty.clone(), f.value.clone().unwrap_or(Const::Int(0)))).collect();
        eval::constant(&self.w.globals, &fields, &e, &self.w.budget, most)
    }

    /// Replaces locals whose value is known.
    fn fill_constants(&self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Local(id) => {
                if let Some(Some(c)) = self.f.constants.get(id) {
                    e.kind = ExprKind::Const(c.clone());
                }
            }
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
                self.fill_constants(a);
                self.fill_constants(b);
            }
            ExprKind::Member(a, _) | ExprKind::Component(a, _) | ExprKind::Unary(_, a) | ExprKind::Convert(a) => {
                self.fill_constants(a);
            }
            ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|e| self.fill_constants(e)),
            ExprKind::Builtin(_, args) | ExprKind::Compose(args) | ExprKind::Array(args) | ExprKind::Call(_, args) => {
                args.iter_mut().for_each(|e| self.fill_constants(e));
            }
            _ => {}
        }
    }
}

/// What a constant expression depends on.
#[derive(Default)]
struct Uses {
    fields: Vec<(FieldId, Span)>,
    /// Is one of them, or of the locals, without a value now?
    unknown: bool,
}
