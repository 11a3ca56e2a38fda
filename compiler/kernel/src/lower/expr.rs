//! Expressions: what has an effect becomes a statement before.
//!
//! Input: typed expressions. Output: pure [`Expr`]s; the statements they need are in the list being made. Operands are
//! evaluated left to right: one whose value a later operand would change is stored first.

use super::choice::{self, Given};
use super::place::Value;
use super::{FunctionLowering, Lowered};
use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::{self, Callee as C, ExprKind as T};

impl FunctionLowering<'_, '_> {
    /// The value of an expression.
    pub(super) fn expr(&mut self, e: &typed::Expr) -> Lowered<Expr> {
        Ok(match self.value(e)? {
            Value::At(p) => Expr::load(p, e.ty.clone()),
            Value::Is(v) => v,
        })
    }

    /// The values of several, evaluated in order.
    pub(super) fn exprs<'e>(&mut self, es: impl IntoIterator<Item = &'e typed::Expr>) -> Lowered<Vec<Expr>> {
        let mut done: Vec<Expr> = Vec::new();
        for e in es {
            let mark = self.out.len();
            let v = self.expr(e)?;
            self.protect(&mut done, mark);
            done.push(v);
        }
        Ok(done)
    }

    fn pair(&mut self, a: &typed::Expr, b: &typed::Expr) -> Lowered<(Expr, Expr)> {
        let mut a = self.expr(a)?;
        let mark = self.out.len();
        let b = self.expr(b)?;
        self.protect([&mut a], mark);
        Ok((a, b))
    }

    /// The value of an expression that is no place.
    pub(super) fn computed(&mut self, e: &typed::Expr) -> Lowered<Expr> {
        let ty = e.ty.clone();
        let kind = match &e.kind {
            T::Const(Const::Portal(_)) => return Ok(Expr::int(0)),
            T::Const(c @ (Const::Array(_) | Const::Struct(_))) => {
                let base = Base::Table(self.l.literal(&ty, c.clone()));
                return Ok(Expr::load(Place { base, path: Vec::new() }, ty));
            }
            T::Const(Const::Str(_)) | T::Concat(_) => return self.unsupported("text as a value"),
            T::Const(c) => ExprKind::Const(c.clone()),
            T::Pop => {
                let t = self.temp("item", ty.clone());
                self.pop(Some(Place::local(t)), e);
                return Ok(Expr::local(t, ty));
            }
            T::Iter => ExprKind::Iter,
            T::Unary(op, a) => ExprKind::Unary(*op, Box::new(self.expr(a)?)),
            T::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => return self.short_circuit(*op, a, b),
            T::Binary(op, a, b) => {
                let (a, b) = self.pair(a, b)?;
                return Ok(self.operate(*op, a, b, ty, e.span));
            }
            T::Ternary(c, a, b) => return self.ternary(c, a, b, &ty),
            T::Convert(a) => {
                let a = self.expr(a)?;
                if a.ty == ty {
                    return Ok(a);
                }
                ExprKind::Convert(Box::new(a))
            }
            T::Builtin(f, args) => ExprKind::Builtin(*f, self.exprs(args)?),
            T::Compose(parts) => ExprKind::Compose(self.exprs(parts)?),
            T::Call(callee, args) => {
                let t = self.temp("result", ty.clone());
                self.call(*callee, args, Some(Place::local(t)), e)?;
                return Ok(Expr::local(t, ty));
            }
            T::IncDec { place, inc, prefix } => return self.inc_dec(place, *inc, Some(*prefix)),
            T::Array(items) => {
                if let Some(c) = const_array(e) {
                    let base = Base::Table(self.l.literal(&ty, c));
                    return Ok(Expr::load(Place { base, path: Vec::new() }, ty));
                }
                let t = self.temp("array", ty.clone());
                self.fill(&Place::local(t), items, &ty)?;
                return Ok(Expr::local(t, ty));
            }
            T::Local(_) | T::Field(_) | T::Static(_) | T::Index(..) | T::Member(..) | T::Component(..) | T::Peek(_) => {
                return self.expr(e);
            }
        };
        Ok(Expr { kind, ty })
    }

    /// `a op b`, with the check of a divisor before.
    pub(super) fn operate(
        &mut self,
        op: BinaryOp,
        a: Expr,
        mut b: Expr,
        ty: Ty,
        span: sluice_grammar::span::Span,
    ) -> Expr {
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem) && b.ty == Ty::Int;
        if divides && !self.l.options.unchecked && b.as_int().is_none_or(|i| i == 0) {
            b = self.twice(b);
            self.out.push(StmtKind::Check(Check::Divisor(b.clone())).at(span));
        }
        match (&a.ty, &b.ty) {
            (Ty::Complex, Ty::Float) => self.scaled(a, b, &|part, by| Expr::binary(op, part, by, Ty::Float)),
            (Ty::Float, Ty::Complex) => self.scaled(b, a, &|part, by| Expr::binary(op, by, part, Ty::Float)),
            _ => Expr::binary(op, a, b, ty),
        }
    }

    /// A complex number whose parts are those of `z`, each with `by`.
    fn scaled(&mut self, z: Expr, by: Expr, with: &dyn Fn(Expr, Expr) -> Expr) -> Expr {
        let (z, by) = (self.twice(z), self.twice(by));
        let part = |i: u8| {
            let part = Expr { kind: ExprKind::Component(Box::new(z.clone()), i), ty: Ty::Float };
            with(part, by.clone())
        };
        Expr { kind: ExprKind::Compose(vec![part(0), part(1)]), ty: Ty::Complex }
    }

    /// Takes an item.
    pub(super) fn pop(&mut self, dst: Option<Place>, e: &typed::Expr) {
        if self.check_counts.is_some() {
            self.out.push(StmtKind::Check(Check::Pop).at(e.span));
        }
        self.out.push(StmtKind::Pop(dst).at(e.span));
    }

    /// `&&` and `||`: the right operand is evaluated only where it decides.
    fn short_circuit(&mut self, op: BinaryOp, a: &typed::Expr, b: &typed::Expr) -> Lowered<Expr> {
        let a = self.expr(a)?;
        let mut right = None;
        let stmts = self.collect(|s| {
            right = Some(s.expr(b)?);
            Ok(())
        })?;
        let Some(right) = right else { return Ok(a) };
        if stmts.is_empty() {
            return Ok(Expr::binary(op, a, right, Ty::Bool));
        }
        let t = self.temp("truth", Ty::Bool);
        self.push(StmtKind::Assign(Place::local(t), a));
        let cond = Expr::local(t, Ty::Bool);
        let mut then = stmts;
        then.push(StmtKind::Assign(Place::local(t), right).at(self.span));
        let cond = if op == BinaryOp::And { cond } else { Expr::not(cond) };
        self.push(StmtKind::If(cond, then, Vec::new()));
        Ok(Expr::local(t, Ty::Bool))
    }

    fn ternary(&mut self, c: &typed::Expr, a: &typed::Expr, b: &typed::Expr, ty: &Ty) -> Lowered<Expr> {
        let c = self.expr(c)?;
        let (mut x, mut y) = (None, None);
        let mut then = self.collect(|s| {
            x = Some(s.expr(a)?);
            Ok(())
        })?;
        let mut els = self.collect(|s| {
            y = Some(s.expr(b)?);
            Ok(())
        })?;
        let (Some(x), Some(y)) = (x, y) else { return self.unsupported("a choice of nothing") };
        if then.is_empty() && els.is_empty() && !ty.is_aggregate() {
            return Ok(Expr { kind: ExprKind::Select(Box::new(c), Box::new(x), Box::new(y)), ty: ty.clone() });
        }
        let t = self.temp("choice", ty.clone());
        then.push(StmtKind::Assign(Place::local(t), x).at(self.span));
        els.push(StmtKind::Assign(Place::local(t), y).at(self.span));
        self.push(StmtKind::If(c, then, els));
        Ok(Expr::local(t, ty.clone()))
    }

    /// `++x` and so on; `prefix` is `None` where the value is not wanted.
    pub(super) fn inc_dec(&mut self, place: &typed::Expr, inc: bool, prefix: Option<bool>) -> Lowered<Expr> {
        let ty = place.ty.clone();
        let at = self.target(place)?;
        let one = match ty {
            Ty::Float => Const::Float(1.0),
            Ty::Double => Const::Double(1.0),
            _ => Const::Int(1),
        };
        let op = if inc { BinaryOp::Add } else { BinaryOp::Sub };
        let old = Expr::load(at.clone(), ty.clone());
        let old = if prefix == Some(false) { self.store("old", old) } else { old };
        let one = Expr { kind: ExprKind::Const(one), ty: ty.clone() };
        let new = Expr::binary(op, old.clone(), one, ty.clone());
        let new = if prefix == Some(true) { self.store("new", new) } else { new };
        self.push(StmtKind::Assign(at, new.clone()));
        Ok(if prefix == Some(true) { new } else { old })
    }

    /// A call; arrays go by reference.
    pub(super) fn call(&mut self, callee: C, args: &[typed::Expr], dst: Option<Place>, e: &typed::Expr) -> Lowered<()> {
        let (target, params): (Callee, Vec<(bool, bool)>) = match callee {
            C::Native(id) => {
                let n = self.l.native(id);
                let params = self.l.globals.natives[id.index()].params.iter();
                (Callee::Native(n), params.map(|(_, t)| (matches!(t, Ty::Array(..)), true)).collect())
            }
            C::Own(_) | C::Helper(_) => {
                let f = match callee {
                    C::Own(id) => self.l.code.function(id),
                    C::Helper(id) => &self.l.globals.helpers[id.index()],
                    C::Native(_) => return self.unsupported("this call"),
                };
                let params = f.locals.iter().take(f.params as usize).map(|v| (v.by_ref, v.written)).collect();
                (Callee::Func(self.l.function(callee, self.entry)), params)
            }
        };
        let mut done: Vec<Given> = Vec::new();
        for (i, a) in args.iter().enumerate() {
            let (by_ref, written) = params.get(i).copied().unwrap_or((false, false));
            let mark = self.out.len();
            let given = if by_ref { self.reference(a, written)? } else { Given::One(Arg::Value(self.expr(a)?)) };
            for d in &mut done {
                match d {
                    Given::One(Arg::Value(v)) => self.protect([v], mark),
                    Given::One(Arg::Ref(p)) => self.protect_place(p, mark),
                    // their indices are in variables of their own
                    Given::Either(..) => {}
                }
            }
            done.push(given);
        }
        let call = |args: Vec<Arg>| StmtKind::Call { dst: dst.clone(), callee: target, args };
        let calls = choice::calls(&done, &mut Vec::new(), e.span, &call);
        self.out.extend(calls);
        Ok(())
    }

    /// Stores the elements of an array literal, or the fields of a struct's.
    pub(super) fn fill(&mut self, dst: &Place, items: &[typed::Expr], ty: &Ty) -> Lowered<()> {
        if let Ty::Struct(id) = ty {
            let globals = self.l.globals;
            let Some(s) = globals.structs.get(id.index()) else { return self.unsupported("an unknown struct") };
            for (i, (item, (_, ty))) in items.iter().zip(&s.fields).enumerate() {
                self.assign(dst.clone().then(Proj::Member(i as u32)), item, ty, true)?;
            }
            return Ok(());
        }
        let length = ty.known_len().unwrap_or(0) as usize;
        let Some(elem) = ty.element() else { return self.unsupported("an array literal here") };
        if items.len() < length {
            self.push(StmtKind::Assign(dst.clone(), Expr::zero(ty.clone())));
        }
        for (i, item) in items.iter().enumerate().take(length) {
            let at = dst.clone().then(Proj::Index(Expr::int(i as i32)));
            self.assign(at, item, elem, true)?;
        }
        Ok(())
    }

    /// `place = value`. `fresh`: the value cannot read the place.
    pub(super) fn assign(&mut self, mut place: Place, value: &typed::Expr, ty: &Ty, fresh: bool) -> Lowered<()> {
        // the place may be written directly by the statement that makes the value, where its indices cannot change before
        let mut simple = true;
        place.each_expr(&mut |e| {
            simple &= e.as_const().is_some() || matches!(&e.kind, ExprKind::Load(p) if p.as_local().is_some())
        });
        match &value.kind {
            T::Array(items) if fresh && const_array(value).is_none() => self.fill(&place, items, ty),
            T::Pop if simple => {
                self.pop(Some(place), value);
                Ok(())
            }
            T::Call(callee, args) if simple && place.path.is_empty() => self.call(*callee, args, Some(place), value),
            _ => {
                let mark = self.out.len();
                let v = self.expr(value)?;
                self.protect_place(&mut place, mark);
                self.push(StmtKind::Assign(place, v));
                Ok(())
            }
        }
    }
}

/// The constant that an array's or struct's literal is, if all its elements are constants.
pub(super) fn const_array(e: &typed::Expr) -> Option<Const> {
    match &e.kind {
        T::Const(c) => Some(c.clone()),
        T::Array(items) => {
            let structure = matches!(e.ty, Ty::Struct(_));
            if !structure && items.len() != e.ty.known_len()? as usize {
                return None;
            }
            let values = items.iter().map(const_array).collect::<Option<Vec<_>>>()?.into();
            Some(if structure { Const::Struct(values) } else { Const::Array(values) })
        }
        _ => None,
    }
}
