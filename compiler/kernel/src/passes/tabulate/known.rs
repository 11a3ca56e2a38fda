//! Values of expressions, computed at compile time, and which expressions follow from one int.

use super::{Around, Counter, LARGEST, MOST, Plan, VALUES};
use crate::ir::*;
use crate::passes::intervals::Env;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ops;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// What is known where an expression is computed.
pub(super) struct Known<'a> {
    pub(super) tables: &'a [Table],
    /// Values of variables.
    pub(super) locals: BTreeMap<LocalId, Const>,
    /// The value of an expression.
    pub(super) key: Option<(&'a Expr, i32)>,
}

impl Known<'_> {
    /// The value; `None` where it is not known, or where there is none.
    pub(super) fn value(&self, e: &Expr) -> Option<Const> {
        if let Some((key, v)) = self.key
            && key == e
        {
            return Some(Const::Int(v));
        }
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero => e.as_const(),
            ExprKind::Load(p) => self.load(p),
            ExprKind::Unary(op, a) => ops::unary(*op, &self.value(a)?),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => match (op, self.value(a)?) {
                (BinaryOp::And, Const::Bool(true)) | (BinaryOp::Or, Const::Bool(false)) => self.value(b),
                (_, known @ Const::Bool(_)) => Some(known),
                _ => None,
            },
            ExprKind::Binary(op, a, b) => ops::binary(*op, &self.value(a)?, &self.value(b)?).ok()?,
            ExprKind::Select(c, a, b) => match self.value(c)? {
                Const::Bool(yes) => self.value(if yes { a } else { b }),
                _ => None,
            },
            ExprKind::Convert(a) if a.ty == e.ty => self.value(a),
            ExprKind::Convert(a) => ops::convert(&self.value(a)?, &e.ty),
            ExprKind::Builtin(f, args) => {
                let args: Option<Vec<Const>> = args.iter().map(|a| self.value(a)).collect();
                ops::builtin(*f, &args?)
            }
            ExprKind::Compose(_) | ExprKind::Component(..) | ExprKind::Iter | ExprKind::Any(_) => None,
        }
    }

    fn load(&self, p: &Place) -> Option<Const> {
        let mut c = match p.base {
            Base::Local(_) => return self.locals.get(&p.as_local()?).cloned(),
            Base::Table(id) => self.tables.get(id.index())?.known()?,
            _ => return None,
        };
        for step in &p.path {
            c = match (step, c) {
                (Proj::Index(i), Const::Array(items)) => match self.value(i)? {
                    Const::Int(i) => items.get(usize::try_from(i).ok()?)?,
                    _ => return None,
                },
                (Proj::Member(i), Const::Struct(items)) => items.get(*i as usize)?,
                _ => return None,
            };
        }
        ops::Scalar::of(c).map(ops::Scalar::into_const)
    }
}

/// An element of a table of such a type: one that a place can have.
pub(super) fn element(c: Const, ty: &Ty) -> Option<Const> {
    let same = matches!((&c, ty), (Const::Int(_), Ty::Int) | (Const::Float(_), Ty::Float));
    same.then_some(c)
}

/// What an expression follows from.
#[derive(Clone, Default)]
struct From<'a> {
    key: Option<&'a Expr>,
    counter: Option<Counter>,
}

/// The look-up that an expression becomes.
pub(super) fn plan(
    around: &Around<'_>,
    kernel: &Kernel,
    e: &Expr,
    env: &Env<'_>,
    counters: &[Counter],
    tries: &mut usize,
) -> Option<Plan> {
    let f = around.f;
    if !matches!(e.ty, Ty::Int | Ty::Float) || e.size() > LARGEST {
        return None;
    }
    let from = follows(kernel, f, e, env, counters)?;
    let key = from.key.filter(|key| pays(e, key) && around.is_data(key))?;
    let range = env.eval(key);
    let values = usize::try_from(range.hi - range.lo + 1).ok()?;
    let turns = from.counter.map_or(1, |c| c.turns) as usize;
    if values.saturating_mul(turns) > MOST {
        return None;
    }
    let mut known = Known { tables: &kernel.tables, locals: exact(f, e, env), key: None };
    let mut rows = Vec::new();
    for t in 0..turns {
        if let Some(c) = from.counter {
            known.locals.insert(c.var, Const::Int(c.least.wrapping_add(t as i32)));
        }
        let mut row = Vec::new();
        for v in range.lo..=range.hi {
            *tries = tries.checked_sub(1)?;
            known.key = Some((key, v as i32));
            row.push(element(known.value(e)?, &e.ty)?);
        }
        rows.push(row);
    }
    Some(Plan {
        statements: 0,
        old: Some(e.clone()),
        result: None,
        guard: None,
        key: key.clone(),
        least: range.lo as i32,
        counter: from.counter,
        ty: e.ty.clone(),
        rows,
    })
}

/// The variables in an expression of which one value is possible.
fn exact(f: &Function, e: &Expr, env: &Env<'_>) -> BTreeMap<LocalId, Const> {
    let mut out = BTreeMap::new();
    e.walk(&mut |e| {
        if let ExprKind::Load(p) = &e.kind
            && let Some(id) = p.as_local()
            && e.ty == Ty::Int
            && !f.locals[id.index()].by_ref
        {
            let range = env.eval(e);
            if range.lo == range.hi {
                out.insert(id, Const::Int(range.lo as i32));
            }
        }
    });
    out
}

/// What an expression follows from, and nothing else; `None` where that is more than a key and a counter.
fn follows<'a>(kernel: &Kernel, f: &Function, e: &'a Expr, env: &Env<'_>, counters: &[Counter]) -> Option<From<'a>> {
    let deeper = match &e.kind {
        ExprKind::Const(_) | ExprKind::Zero => return Some(From::default()),
        ExprKind::Load(p) => match p.base {
            Base::Table(id) if kernel.tables[id.index()].known().is_some() => of_operands(kernel, f, e, env, counters),
            Base::Local(id) if p.path.is_empty() && e.ty == Ty::Int && !f.locals[id.index()].by_ref => {
                let range = env.eval(e);
                if range.lo == range.hi {
                    return Some(From::default());
                }
                if let Some(c) = counters.iter().find(|c| c.var == id) {
                    return Some(From { key: None, counter: Some(*c) });
                }
                None
            }
            _ => None,
        },
        ExprKind::Iter | ExprKind::Compose(_) | ExprKind::Component(..) | ExprKind::Any(_) => None,
        _ => of_operands(kernel, f, e, env, counters),
    };
    deeper.or_else(|| {
        let range = env.eval(e);
        let few = e.ty == Ty::Int && range.lo <= range.hi && range.is_int() && range.hi - range.lo < VALUES as i64;
        few.then_some(From { key: Some(e), counter: None })
    })
}

fn of_operands<'a>(
    kernel: &Kernel,
    f: &Function,
    e: &'a Expr,
    env: &Env<'_>,
    counters: &[Counter],
) -> Option<From<'a>> {
    let mut all = Some(From::default());
    e.each_operand(&mut |o| {
        all = all.take().and_then(|a| {
            let b = follows(kernel, f, o, env, counters)?;
            let clash =
                a.key.zip(b.key).is_some_and(|(a, b)| a != b) || a.counter.zip(b.counter).is_some_and(|(a, b)| a != b);
            (!clash).then_some(From { key: a.key.or(b.key), counter: a.counter.or(b.counter) })
        });
    });
    all
}

/// Does an expression look up what it has looked up the place of by the key, or only where something is so with the key?
fn pays(e: &Expr, key: &Expr) -> bool {
    let by_key = |e: &Expr| e.any(&mut |e| e == key);
    let looks = |e: &Expr| above(e, key, &mut |e| looks_up(e) && by_key(e));
    above(e, key, &mut |e| match &e.kind {
        ExprKind::Load(p) if matches!(p.base, Base::Table(_)) => {
            let mut again = false;
            p.each_expr(&mut |i| again |= looks(i));
            again
        }
        ExprKind::Select(c, a, b) => by_key(c) && (looks(a) || looks(b)),
        _ => false,
    })
}

/// Is it true of an expression or one in it that is no part of the key?
fn above(e: &Expr, key: &Expr, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    if e == key {
        return false;
    }
    let mut found = test(e);
    e.each_operand(&mut |o| found = found || above(o, key, test));
    found
}

/// Is it a look-up at a place that is not known?
pub(super) fn looks_up(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Load(p) if matches!(p.base, Base::Table(_)) => {
            p.path.iter().any(|step| matches!(step, Proj::Index(i) if i.as_int().is_none()))
        }
        _ => false,
    }
}
