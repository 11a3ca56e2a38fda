//! # split-complex
//!
//! Purpose: complex variables and operations of one function as pairs of floats. Input: a function after `lower_channels`. Output:
//! the same without complex values (items and tables keep their type, their components are read and written).
//!
//! ```text
//! $2 = ($0 * $1)   →   $3 = (($r0 * $r1) - ($i0 * $i1))  $4 = (($r0 * $i1) + ($i0 * $r1))
//! ```
//!
//! Every formula is that of `sluice_frontend::ops`. Used by `lanes`; a function with another complex operation (a library function,
//! a comparison, a call) is left as it is. An array of complex numbers becomes two, where it is not moved as a whole (but set to zeroes).

use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;

/// Splits a function's complex values; `None` where it has some that cannot be.
pub fn split(f: &Function) -> Option<Function> {
    let mut f = f.clone();
    let mut used = false;
    f.locals.iter().for_each(|l| used |= l.ty == Ty::Complex || l.ty.element() == Some(&Ty::Complex));
    walk::each_expr(&f.body, &mut |e| used |= e.ty == Ty::Complex);
    if !used {
        return Some(f);
    }
    let n = f.locals.len();
    let mut parts = Vec::with_capacity(n);
    for i in 0..n {
        let ty = match &f.locals[i].ty {
            Ty::Complex => Ty::Float,
            // an array of them: two arrays
            Ty::Array(e, n) if **e == Ty::Complex && !f.locals[i].by_ref => Ty::Array(Ty::Float.into(), *n),
            _ => {
                parts.push(None);
                continue;
            }
        };
        let name = f.locals[i].name.clone();
        let id = LocalId::from(f.locals.len());
        for suffix in ["re", "im"] {
            f.locals.push(Local { name: format!("{name}_{suffix}"), ty: ty.clone(), by_ref: false });
        }
        parts.push(Some((id, LocalId(id.0 + 1))));
    }
    let mut s = Splitter { parts, locals: std::mem::take(&mut f.locals), out: Vec::new(), span: f.span };
    f.body = s.body(&f.body)?;
    f.locals = s.locals;
    super::clean::compact(&mut f);
    Some(f)
}

struct Splitter {
    /// The two halves of each complex local.
    parts: Vec<Option<(LocalId, LocalId)>>,
    locals: Vec<Local>,
    out: Vec<Stmt>,
    span: Span,
}

/// Real and imaginary part.
type Pair = (Expr, Expr);

fn float(op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
    Expr::binary(op, a.clone(), b.clone(), Ty::Float)
}

fn neg(a: Expr) -> Expr {
    Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(a)), ty: Ty::Float }
}

fn constant(x: f32) -> Expr {
    Expr { kind: ExprKind::Const(Const::Float(x)), ty: Ty::Float }
}

impl Splitter {
    fn body(&mut self, body: &[Stmt]) -> Option<Vec<Stmt>> {
        let outer = std::mem::take(&mut self.out);
        for s in body {
            self.span = s.span;
            self.stmt(s)?;
        }
        Some(std::mem::replace(&mut self.out, outer))
    }

    fn push(&mut self, kind: StmtKind) {
        self.out.push(kind.at(self.span));
    }

    fn stmt(&mut self, s: &Stmt) -> Option<()> {
        let kind = match &s.kind {
            StmtKind::Assign(p, e) if e.ty == Ty::Complex => {
                let (re, im) = self.pair(e)?;
                // both are computed before either is stored
                let (re, im) = (self.store(re), self.store(im));
                let (to_re, to_im) = self.halves(p)?;
                self.push(StmtKind::Assign(to_re, re));
                self.push(StmtKind::Assign(to_im, im));
                return Some(());
            }
            // zeroes of a whole array
            StmtKind::Assign(Place { base: Base::Local(id), path }, e)
                if path.is_empty() && e.kind == ExprKind::Zero && self.parts[id.index()].is_some() =>
            {
                for half in self.parts[id.index()].map(|(re, im)| [re, im]).into_iter().flatten() {
                    let zero = Expr::zero(self.locals[half.index()].ty.clone());
                    self.push(StmtKind::Assign(Place::local(half), zero));
                }
                return Some(());
            }
            StmtKind::Assign(p, e) => StmtKind::Assign(self.place(p)?, self.expr(e)?),
            StmtKind::If(c, a, b) => {
                let c = self.expr(c)?;
                StmtKind::If(c, self.body(a)?, self.body(b)?)
            }
            StmtKind::For(l) => {
                let (from, to) = (self.expr(&l.from)?, self.expr(&l.to)?);
                let body = self.body(&l.body)?;
                StmtKind::For(Box::new(For { from, to, body, ..(**l).clone() }))
            }
            StmtKind::Loop(b) => StmtKind::Loop(self.body(b)?),
            StmtKind::Block(b) => StmtKind::Block(self.body(b)?),
            StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(None) => s.kind.clone(),
            _ => return None,
        };
        self.span = s.span;
        self.push(kind);
        Some(())
    }

    /// A complex place's two halves.
    fn halves(&mut self, p: &Place) -> Option<(Place, Place)> {
        if let Base::Local(id) = p.base
            && let Some((re, im)) = self.parts.get(id.index()).copied().flatten()
        {
            let own = self.place(&Place { base: Base::Local(re), path: p.path.clone() })?;
            let other = Place { base: Base::Local(im), path: own.path.clone() };
            return Some((own, other));
        }
        let p = self.place(p)?;
        Some((p.clone().then(Proj::Component(0)), p.then(Proj::Component(1))))
    }

    /// A place that is not complex itself.
    fn place(&mut self, p: &Place) -> Option<Place> {
        let mut p = p.clone();
        if let Base::Local(id) = p.base
            && let Some((re, im)) = self.parts.get(id.index()).copied().flatten()
        {
            // a part of a complex value; all of an array is nothing that could be put in a place
            let Some(Proj::Component(i)) = p.path.pop() else { return None };
            p.base = Base::Local(if i == 0 { re } else { im });
        }
        let mut ok = true;
        p.each_expr_mut(&mut |e| match self.expr(e) {
            Some(new) => *e = new,
            None => ok = false,
        });
        ok.then_some(p)
    }

    fn store(&mut self, e: Expr) -> Expr {
        if matches!(&e.kind, ExprKind::Const(_)) {
            return e;
        }
        self.locals.push(Local { name: "part".into(), ty: Ty::Float, by_ref: false });
        let id = LocalId::from(self.locals.len() - 1);
        self.push(StmtKind::Assign(Place::local(id), e));
        Expr::local(id, Ty::Float)
    }

    /// A complex operand, each half computed once.
    fn operand(&mut self, e: &Expr) -> Option<Pair> {
        let (re, im) = self.pair(e)?;
        let simple = |e: &Expr| {
            matches!(&e.kind, ExprKind::Const(_)) || matches!(&e.kind, ExprKind::Load(p) if p.as_local().is_some())
        };
        let re = if simple(&re) { re } else { self.store(re) };
        let im = if simple(&im) { im } else { self.store(im) };
        Some((re, im))
    }

    fn pair(&mut self, e: &Expr) -> Option<Pair> {
        use BinaryOp::*;
        Some(match &e.kind {
            ExprKind::Const(Const::Complex(re, im)) => (constant(*re), constant(*im)),
            ExprKind::Zero => (constant(0.0), constant(0.0)),
            ExprKind::Load(p) => {
                let (re, im) = self.halves(p)?;
                (Expr::load(re, Ty::Float), Expr::load(im, Ty::Float))
            }
            ExprKind::Compose(parts) => (self.expr(parts.first()?)?, self.expr(parts.get(1)?)?),
            ExprKind::Convert(a) => {
                let a = self.expr(a)?;
                let re =
                    if a.ty == Ty::Float { a } else { Expr { kind: ExprKind::Convert(Box::new(a)), ty: Ty::Float } };
                (re, constant(0.0))
            }
            ExprKind::Unary(UnaryOp::Neg, a) => {
                let (re, im) = self.pair(a)?;
                (neg(re), neg(im))
            }
            ExprKind::Binary(op @ (Add | Sub), a, b) => {
                let ((a, b), (c, d)) = (self.pair(a)?, self.pair(b)?);
                (float(*op, &a, &c), float(*op, &b, &d))
            }
            ExprKind::Binary(Mul, a, b) => {
                let ((a, b), (c, d)) = (self.operand(a)?, self.operand(b)?);
                let re = float(Sub, &float(Mul, &a, &c), &float(Mul, &b, &d));
                (re, float(Add, &float(Mul, &a, &d), &float(Mul, &b, &c)))
            }
            ExprKind::Binary(Div, a, b) => {
                let ((a, b), (c, d)) = (self.operand(a)?, self.operand(b)?);
                let n = self.store(float(Add, &float(Mul, &c, &c), &float(Mul, &d, &d)));
                let re = float(Div, &float(Add, &float(Mul, &a, &c), &float(Mul, &b, &d)), &n);
                (re, float(Div, &float(Sub, &float(Mul, &b, &c), &float(Mul, &a, &d)), &n))
            }
            _ => return None,
        })
    }

    /// An expression that is not complex itself.
    fn expr(&mut self, e: &Expr) -> Option<Expr> {
        let kind = match &e.kind {
            ExprKind::Component(a, i) => {
                let (re, im) = self.pair(a)?;
                return Some(if *i == 0 { re } else { im });
            }
            ExprKind::Builtin(Builtin::Abs, args) if args.first()?.ty == Ty::Complex => {
                let (a, b) = self.operand(args.first()?)?;
                let sum = float(BinaryOp::Add, &float(BinaryOp::Mul, &a, &a), &float(BinaryOp::Mul, &b, &b));
                ExprKind::Builtin(Builtin::Sqrt, vec![sum])
            }
            ExprKind::Builtin(Builtin::Arg, args) => {
                let (re, im) = self.operand(args.first()?)?;
                ExprKind::Builtin(Builtin::Atan2, vec![im, re])
            }
            ExprKind::Load(p) => ExprKind::Load(self.place(p)?),
            // what is evaluated only under a condition must not be moved before it
            ExprKind::Select(..) | ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => {
                if e.any(&mut |e| e.ty == Ty::Complex || matches!(&e.kind, ExprKind::Load(p) if self.touches(p))) {
                    return None;
                }
                return Some(e.clone());
            }
            _ => {
                let mut new = e.clone();
                let mut ok = true;
                new.each_operand_mut(&mut |e| match self.expr(e) {
                    Some(n) if n.ty != Ty::Complex => *e = n,
                    _ => ok = false,
                });
                return ok.then_some(new);
            }
        };
        Some(Expr { kind, ty: e.ty.clone() })
    }

    /// Is the place, or a part of it, a complex local?
    fn touches(&self, p: &Place) -> bool {
        matches!(p.base, Base::Local(id) if self.parts.get(id.index()).copied().flatten().is_some())
    }
}
