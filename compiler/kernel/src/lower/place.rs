//! Places: variables and their parts, with the checks of their indices.
//!
//! Input: typed expressions that name a place, or have a value that a part is taken of. Output: [`Place`]s; their indices are
//! pure, and checked by statements before.

use super::{FunctionLowering, Lowered};
use crate::ir::*;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::{self, ExprKind as T};

/// A value: in a place, or computed.
pub(super) enum Value {
    /// Can be loaded from here.
    At(Place),
    /// Is this.
    Is(Expr),
}

/// An expression larger than this is not computed twice, once for its check and once for its use.
const MAX_TWICE: usize = 7;

impl FunctionLowering<'_, '_> {
    /// A place that is written.
    pub(super) fn target(&mut self, e: &typed::Expr) -> Lowered<Place> {
        match self.value(e)? {
            Value::At(p) => Ok(p),
            Value::Is(_) => self.unsupported("an assignment to a value"),
        }
    }

    /// A value where it is, without a copy of arrays and structs.
    pub(super) fn value(&mut self, e: &typed::Expr) -> Lowered<Value> {
        Ok(match &e.kind {
            T::Local(id) => match self.tables.get(id) {
                Some(t) => Value::At(Place { base: Base::Table(*t), path: Vec::new() }),
                None => Value::At(Place::local(*id)),
            },
            T::Field(id) => {
                let base = self.l.field(*id);
                constant_or_place(base, &e.ty)
            }
            T::Static(id) => {
                let base = self.l.static_var(*id);
                constant_or_place(base, &e.ty)
            }
            T::Index(base, index) => {
                let mut place = self.place_of(base)?;
                let mark = self.out.len();
                let index = self.expr(index)?;
                self.protect_place(&mut place, mark);
                let length = base.ty.known_len().unwrap_or(0);
                let index = self.checked_index(index, length, e);
                Value::At(place.then(Proj::Index(index)))
            }
            T::Member(base, i) => Value::At(self.place_of(base)?.then(Proj::Member(*i))),
            T::Component(base, i) => match self.value(base)? {
                Value::At(p) => Value::At(p.then(Proj::Component(*i))),
                Value::Is(v) => Value::Is(Expr { kind: ExprKind::Component(Box::new(v), *i), ty: Ty::Float }),
            },
            T::Peek(i) => {
                let i = self.expr(i)?;
                let i = if self.check_peeks {
                    let i = self.twice(i);
                    self.out.push(StmtKind::Check(Check::Peek(i.clone())).at(e.span));
                    i
                } else {
                    i
                };
                Value::At(Place { base: Base::Peek(Box::new(i)), path: Vec::new() })
            }
            _ => Value::Is(self.computed(e)?),
        })
    }

    /// The place of an array or struct of which a part is taken; where it is only a value, it is stored first.
    pub(super) fn place_of(&mut self, e: &typed::Expr) -> Lowered<Place> {
        Ok(match self.value(e)? {
            Value::At(p) => p,
            Value::Is(v) => match v.kind {
                ExprKind::Load(p) => p,
                _ => {
                    let t = self.temp("value", e.ty.clone());
                    self.push(StmtKind::Assign(Place::local(t), v));
                    Place::local(t)
                }
            },
        })
    }

    pub(super) fn checked_index(&mut self, index: Expr, length: u32, e: &typed::Expr) -> Expr {
        if self.l.options.unchecked || index.as_int().is_some_and(|i| i >= 0 && (i as u32) < length) {
            return index;
        }
        let index = self.twice(index);
        self.out.push(StmtKind::Check(Check::Index { index: index.clone(), length }).at(e.span));
        index
    }

    /// The expression, stored first where it is too large to be computed twice.
    pub(super) fn twice(&mut self, e: Expr) -> Expr {
        if e.size() <= MAX_TWICE {
            return e;
        }
        self.store("index", e)
    }

    /// Stores a value in a new variable.
    pub(super) fn store(&mut self, name: &str, e: Expr) -> Expr {
        let ty = e.ty.clone();
        let t = self.temp(name, ty.clone());
        self.push(StmtKind::Assign(Place::local(t), e));
        Expr::local(t, ty)
    }
}

fn constant_or_place(base: Result<Base, sluice_frontend::constant::Const>, ty: &Ty) -> Value {
    match base {
        Ok(base) => Value::At(Place { base, path: Vec::new() }),
        Err(c) => Value::Is(Expr { kind: ExprKind::Const(c), ty: ty.clone() }),
    }
}
