//! # fold
//!
//! Purpose: computes what is known, and puts known values and copies in the place of variables. Input, output: any kernel.
//!
//! ```text
//! $0 = 3  $1 = $2  $3 = ($1 + ($0 * 2))   →   $0 = 3  $1 = $2  $3 = ($2 + 6)
//! ```
//!
//! Invariant: no result changes in any bit. Constants are folded by `sluice_frontend::ops`, the one definition of arithmetic;
//! float identities are left alone (`x + 0` is not `x` for a negative zero); an int division by a constant 0 is not folded: it is never
//! executed.

use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ops;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Folds all functions.
pub fn run(kernel: &mut Kernel) {
    let mut functions = std::mem::take(&mut kernel.functions);
    for f in &mut functions {
        let mut p = Propagate { tables: &kernel.tables, locals: &f.locals, known: Known::default() };
        p.body(&mut f.body);
    }
    kernel.functions = functions;
}

/// Folds one expression, without knowledge of variables.
pub fn expr(e: &mut Expr, tables: &[Table]) {
    e.walk_mut(&mut |e| {
        if let Some(new) = simplified(e, tables) {
            *e = new;
        }
    });
}

/// What is known at a point: a local's constant, or the local it is a copy of.
#[derive(Clone, Default)]
struct Known {
    values: BTreeMap<LocalId, Expr>,
    /// Of each local, those that are, or were, copies of it: to ask all that are known takes long where they are many.
    copies: BTreeSet<(LocalId, LocalId)>,
}

/// The local that this is the value of.
fn copied(e: &Expr) -> Option<LocalId> {
    if let ExprKind::Load(p) = &e.kind { p.as_local() } else { None }
}

impl Known {
    fn get(&self, id: LocalId) -> Option<&Expr> {
        self.values.get(&id)
    }

    fn insert(&mut self, id: LocalId, value: Expr) {
        self.copies.extend(copied(&value).map(|of| (of, id)));
        self.values.insert(id, value);
    }

    /// The same where nothing is known of it.
    fn suppose(&mut self, id: LocalId, value: Expr) {
        if self.get(id).is_none() {
            self.insert(id, value);
        }
    }

    /// Keeps what is known there, too.
    fn meet(&mut self, other: &Known) {
        self.values.retain(|id, e| other.get(*id) == Some(e));
    }

    /// Forgets a local and what copies it.
    fn forget(&mut self, id: LocalId) {
        self.values.remove(&id);
        while let Some(&(of, copy)) = self.copies.range((id, LocalId(0))..).next().filter(|(of, _)| *of == id) {
            self.copies.remove(&(of, copy));
            if self.get(copy).and_then(copied) == Some(id) {
                self.values.remove(&copy);
            }
        }
    }

    fn forget_written(&mut self, body: &[Stmt]) {
        walk::each_written(body, &mut |id| self.forget(id));
    }
}

struct Propagate<'a> {
    tables: &'a [Table],
    locals: &'a [Local],
    known: Known,
}

impl Propagate<'_> {
    fn body(&mut self, body: &mut Vec<Stmt>) {
        let mut i = 0;
        while i < body.len() {
            self.stmt(&mut body[i]);
            // a condition that is known
            if let StmtKind::If(c, a, b) = &mut body[i].kind
                && let Some(Const::Bool(yes)) = c.as_const()
            {
                let taken = std::mem::take(if yes { a } else { b });
                let n = taken.len();
                body.splice(i..=i, taken);
                i += n;
                continue;
            }
            i += 1;
        }
    }

    fn expr(&self, e: &mut Expr) {
        let (known, tables) = (&self.known, self.tables);
        e.walk_mut(&mut |e| {
            if let ExprKind::Load(p) = &e.kind
                && let Some(id) = p.as_local()
                && let Some(value) = known.get(id)
            {
                *e = value.clone();
            } else if let Some(new) = simplified(e, tables) {
                *e = new;
            }
        });
    }

    fn place(&self, p: &mut Place) {
        p.each_expr_mut(&mut |e| self.expr(e));
    }

    fn assign(&mut self, p: &Place, value: Option<&Expr>) {
        let Base::Local(id) = p.base else { return };
        self.known.forget(id);
        if let (Some(id), Some(v)) = (p.as_local(), value)
            && !self.locals[id.index()].by_ref
        {
            let copy = match &v.kind {
                ExprKind::Const(_) => Some(v.clone()),
                ExprKind::Zero => v.as_const().map(|c| Expr { kind: ExprKind::Const(c), ty: v.ty.clone() }),
                ExprKind::Load(q) => q
                    .as_local()
                    .filter(|o| *o != id && !v.ty.is_aggregate() && !self.locals[o.index()].by_ref)
                    .map(|_| v.clone()),
                _ => None,
            };
            if let Some(c) = copy {
                self.known.insert(id, c);
            }
        }
    }

    fn stmt(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Assign(p, e) => {
                self.place(p);
                self.expr(e);
                self.assign(p, Some(e));
            }
            StmtKind::If(c, a, b) => {
                self.expr(c);
                let before = self.known.clone();
                if let Some((id, value)) = implied(c, true) {
                    self.known.suppose(id, value);
                }
                self.body(a);
                let after_a = std::mem::replace(&mut self.known, before);
                if let Some((id, value)) = implied(c, false) {
                    self.known.suppose(id, value);
                }
                self.body(b);
                match (walk::diverges(a), walk::diverges(b)) {
                    (true, _) => {}
                    (false, true) => self.known = after_a,
                    (false, false) => self.known.meet(&after_a),
                }
            }
            StmtKind::For(l) => {
                self.expr(&mut l.from);
                self.expr(&mut l.to);
                self.known.forget(l.var);
                self.known.forget_written(&l.body);
                let before = self.known.clone();
                self.body(&mut l.body);
                self.known = before;
            }
            StmtKind::Loop(b) => {
                self.known.forget_written(b);
                let before = self.known.clone();
                self.body(b);
                self.known = before;
            }
            StmtKind::Block(b) => {
                let mut before = self.known.clone();
                before.forget_written(b);
                self.body(b);
                // a block that nothing leaves early is only its statements
                if walk::leaves(b, 0, false, false) || walk::diverges(b) {
                    self.known = before;
                }
            }
            other => {
                let known =
                    Propagate { tables: self.tables, locals: self.locals, known: std::mem::take(&mut self.known) };
                other.each_own_expr_mut(&mut |e| known.expr(e));
                self.known = known.known;
                for p in other.targets() {
                    if let Base::Local(id) = p.base {
                        self.known.forget(id);
                    }
                }
            }
        }
    }
}

/// What a condition says about a variable: `b` is true, or `i == 3`.
fn implied(c: &Expr, holds: bool) -> Option<(LocalId, Expr)> {
    match &c.kind {
        ExprKind::Load(p) if c.ty == Ty::Bool => Some((p.as_local()?, Expr::bool(holds))),
        ExprKind::Unary(UnaryOp::Not, e) => implied(e, !holds),
        ExprKind::Binary(BinaryOp::Eq, a, b) if holds && a.ty == Ty::Int => match &a.kind {
            ExprKind::Load(p) => b.as_int().and_then(|i| Some((p.as_local()?, Expr::int(i)))),
            _ => None,
        },
        _ => None,
    }
}

/// `min(x, c)` is `min(c, x)` for a constant that is neither NaN nor a zero, and that is one instruction of most processors: what it gives for a NaN is its second operand.
fn bound_first(f: Builtin, args: &[Expr]) -> Option<Vec<Expr>> {
    let [x, c] = args else { return None };
    let plain = match c.as_const()? {
        Const::Float(c) => !c.is_nan() && c != 0.0,
        Const::Double(c) => !c.is_nan() && c != 0.0,
        _ => false,
    };
    let swap = plain && matches!(f, Builtin::Min | Builtin::Max) && x.as_const().is_none();
    swap.then(|| vec![c.clone(), x.clone()])
}

/// A simpler expression with the same value, where one is known; operands are already simple.
fn simplified(e: &Expr, tables: &[Table]) -> Option<Expr> {
    let constant = |c: Option<Const>| c.map(|c| Expr { kind: ExprKind::Const(c), ty: e.ty.clone() });
    match &e.kind {
        ExprKind::Zero => constant(e.as_const()),
        ExprKind::Load(p) => constant(element(p, tables)),
        ExprKind::Unary(op, a) => match &a.kind {
            ExprKind::Unary(UnaryOp::Not, inner) if *op == UnaryOp::Not => Some((**inner).clone()),
            ExprKind::Binary(cmp, x, y) if *op == UnaryOp::Not && x.ty == Ty::Int => {
                // on floats a negated comparison is another: NaN
                use BinaryOp::*;
                let cmp = match cmp {
                    Lt => Ge,
                    Le => Gt,
                    Gt => Le,
                    Ge => Lt,
                    Eq => Ne,
                    Ne => Eq,
                    _ => return None,
                };
                Some(Expr::binary(cmp, (**x).clone(), (**y).clone(), Ty::Bool))
            }
            _ => constant(ops::unary(*op, &a.as_const()?)),
        },
        ExprKind::Binary(op, a, b) => binary(*op, a, b, &e.ty),
        ExprKind::Select(c, a, b) => match c.as_const() {
            Some(Const::Bool(yes)) => Some(if yes { (**a).clone() } else { (**b).clone() }),
            _ if a == b => Some((**a).clone()),
            _ => None,
        },
        ExprKind::Convert(a) if a.ty == e.ty => Some((**a).clone()),
        ExprKind::Convert(a) => constant(ops::convert(&a.as_const()?, &e.ty)),
        ExprKind::Builtin(f, args) => {
            if let Some(first) = bound_first(*f, args) {
                return Some(Expr { kind: ExprKind::Builtin(*f, first), ty: e.ty.clone() });
            }
            let args: Option<Vec<Const>> = args.iter().map(Expr::as_const).collect();
            constant(ops::builtin(*f, &args?))
        }
        ExprKind::Compose(parts) => {
            let parts: Option<Vec<f32>> =
                parts.iter().map(|p| if let Some(Const::Float(x)) = p.as_const() { Some(x) } else { None }).collect();
            constant(ops::Scalar::compose(&e.ty, &parts?).map(ops::Scalar::into_const))
        }
        ExprKind::Component(a, i) => match &a.kind {
            ExprKind::Compose(parts) => parts.get(usize::from(*i)).cloned(),
            ExprKind::Load(p) => Some(Expr::load(p.clone().then(Proj::Component(*i)), Ty::Float)),
            _ => constant(ops::Scalar::of(&a.as_const()?)?.component(*i).map(Const::Float)),
        },
        ExprKind::Any(a) => constant(a.as_const()),
        ExprKind::Const(_) | ExprKind::Iter => None,
    }
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr, ty: &Ty) -> Option<Expr> {
    if let (Some(x), Some(y)) = (a.as_const(), b.as_const()) {
        let c = ops::binary(op, &x, &y).ok()??;
        return Some(Expr { kind: ExprKind::Const(c), ty: ty.clone() });
    }
    let truth = |e: &Expr| if let Some(Const::Bool(v)) = e.as_const() { Some(v) } else { None };
    match (op, a.as_int(), b.as_int()) {
        (BinaryOp::And, ..) => match (truth(a), truth(b)) {
            (Some(true), _) => Some(b.clone()),
            (Some(false), _) => Some(Expr::bool(false)),
            (_, Some(true)) => Some(a.clone()),
            _ => None,
        },
        (BinaryOp::Or, ..) => match (truth(a), truth(b)) {
            (Some(false), _) => Some(b.clone()),
            (Some(true), _) => Some(Expr::bool(true)),
            (_, Some(false)) => Some(a.clone()),
            _ => None,
        },
        _ if a.ty != Ty::Int => None,
        (BinaryOp::Add, Some(0), _) => Some(b.clone()),
        (BinaryOp::Add | BinaryOp::Sub, _, Some(0)) => Some(a.clone()),
        (BinaryOp::Mul, Some(0), _) | (BinaryOp::Mul, _, Some(0)) => Some(Expr::int(0)),
        (BinaryOp::Mul, Some(1), _) => Some(b.clone()),
        (BinaryOp::Mul | BinaryOp::Div, _, Some(1)) => Some(a.clone()),
        (BinaryOp::Rem, _, Some(1 | -1)) => Some(Expr::int(0)),
        (BinaryOp::Shl | BinaryOp::Shr, _, Some(0)) => Some(a.clone()),
        // constants to the right, and together: exact, since ints wrap
        (BinaryOp::Add, Some(x), None) => binary(BinaryOp::Add, b, &Expr::int(x), ty)
            .or_else(|| Some(Expr::binary(BinaryOp::Add, b.clone(), Expr::int(x), Ty::Int))),
        (BinaryOp::Sub, None, Some(x)) => {
            let minus = Expr::int(x.wrapping_neg());
            Some(
                binary(BinaryOp::Add, a, &minus, ty)
                    .unwrap_or_else(|| Expr::binary(BinaryOp::Add, a.clone(), minus, Ty::Int)),
            )
        }
        (BinaryOp::Add, None, Some(y)) => match &a.kind {
            ExprKind::Binary(BinaryOp::Add, x, c) => {
                Some(Expr::add((**x).clone(), Expr::int(c.as_int()?.wrapping_add(y))))
            }
            _ => None,
        },
        (BinaryOp::Add, None, None) => match (&a.kind, &b.kind) {
            (ExprKind::Binary(BinaryOp::Add, x, c), _) if c.as_int().is_some() => {
                let sum = Expr::binary(BinaryOp::Add, (**x).clone(), b.clone(), Ty::Int);
                Some(Expr::add(sum, (**c).clone()))
            }
            (_, ExprKind::Binary(BinaryOp::Add, x, c)) if c.as_int().is_some() => {
                let sum = Expr::binary(BinaryOp::Add, a.clone(), (**x).clone(), Ty::Int);
                Some(Expr::add(sum, (**c).clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The scalar in a table at a constant position.
fn element(p: &Place, tables: &[Table]) -> Option<Const> {
    let Base::Table(id) = p.base else { return None };
    let mut c = tables.get(id.index())?.known()?;
    for step in &p.path {
        c = match (step, c) {
            (Proj::Index(i), Const::Array(items)) => items.get(usize::try_from(i.as_int()?).ok()?)?,
            (Proj::Member(i), Const::Struct(items)) => items.get(*i as usize)?,
            (Proj::Component(i), c) => {
                return Some(Const::Float(ops::Scalar::of(c)?.component(*i)?));
            }
            _ => return None,
        };
    }
    ops::Scalar::of(c).map(ops::Scalar::into_const)
}
