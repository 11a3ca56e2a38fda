//! What is asked of the IR, and made of its parts, everywhere: the shorthands of [`crate::ir`].

use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;

impl Kernel {
    /// The function behind an id.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// Can anything fail in it?
    pub fn has_checks(&self) -> bool {
        let mut found = false;
        for f in &self.functions {
            crate::walk::each_stmt(&f.body, &mut |s| found |= matches!(s.kind, StmtKind::Check(_)));
        }
        found
    }

    /// Does a firing read `iter()`, or send a message (which depends on the firing)?
    pub fn uses_iter(&self) -> bool {
        let mut found = false;
        for f in &self.functions {
            crate::walk::each_expr(&f.body, &mut |e| found |= matches!(e.kind, ExprKind::Iter));
            crate::walk::each_stmt(&f.body, &mut |s| found |= matches!(s.kind, StmtKind::Send(_)));
        }
        found
    }

    /// Does anything live from one firing to the next?
    pub fn is_stateless(&self) -> bool {
        self.state.is_empty() && !self.uses_iter()
    }
}

impl Place {
    /// A whole local.
    pub fn local(id: LocalId) -> Place {
        Place { base: Base::Local(id), path: Vec::new() }
    }

    /// A whole state field.
    pub fn state(id: StateId) -> Place {
        Place { base: Base::State(id), path: Vec::new() }
    }

    /// The local, where the place is a whole one.
    pub fn as_local(&self) -> Option<LocalId> {
        match self.base {
            Base::Local(id) if self.path.is_empty() => Some(id),
            _ => None,
        }
    }

    /// The same with one more step.
    pub fn then(mut self, p: Proj) -> Place {
        self.path.push(p);
        self
    }
}

impl Expr {
    /// An int.
    pub fn int(i: i32) -> Expr {
        Expr { kind: ExprKind::Const(Const::Int(i)), ty: Ty::Int }
    }

    /// A boolean.
    pub fn bool(b: bool) -> Expr {
        Expr { kind: ExprKind::Const(Const::Bool(b)), ty: Ty::Bool }
    }

    /// The value in a place.
    pub fn load(place: Place, ty: Ty) -> Expr {
        Expr { kind: ExprKind::Load(place), ty }
    }

    /// The value of a local.
    pub fn local(id: LocalId, ty: Ty) -> Expr {
        Expr::load(Place::local(id), ty)
    }

    /// The zero of a type.
    pub fn zero(ty: Ty) -> Expr {
        Expr { kind: ExprKind::Zero, ty }
    }

    /// `a op b` with a result of type `ty`.
    pub fn binary(op: BinaryOp, a: Expr, b: Expr, ty: Ty) -> Expr {
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty }
    }

    /// `a + b` on ints.
    #[allow(clippy::should_implement_trait)] // a builder, not arithmetic
    pub fn add(a: Expr, b: Expr) -> Expr {
        match (a.as_int(), b.as_int()) {
            (Some(x), Some(y)) => Expr::int(x.wrapping_add(y)),
            (Some(0), None) => b,
            (None, Some(0)) => a,
            _ => Expr::binary(BinaryOp::Add, a, b, Ty::Int),
        }
    }

    /// `!a` on booleans.
    #[allow(clippy::should_implement_trait)] // a builder, not arithmetic
    pub fn not(a: Expr) -> Expr {
        match a.kind {
            ExprKind::Const(Const::Bool(b)) => Expr::bool(!b),
            ExprKind::Unary(UnaryOp::Not, inner) => *inner,
            _ => Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(a)), ty: Ty::Bool },
        }
    }

    /// The int, where it is a constant one.
    pub fn as_int(&self) -> Option<i32> {
        match self.kind {
            ExprKind::Const(Const::Int(i)) => Some(i),
            ExprKind::Zero if self.ty == Ty::Int => Some(0),
            _ => None,
        }
    }

    /// The constant, where it is a scalar one.
    pub fn as_const(&self) -> Option<Const> {
        match &self.kind {
            ExprKind::Const(c) => Some(c.clone()),
            ExprKind::Zero => sluice_frontend::ops::Scalar::zero(&self.ty).map(|s| s.into_const()),
            _ => None,
        }
    }
}

impl StmtKind {
    /// The statement at a place in the source.
    pub fn at(self, span: Span) -> Stmt {
        Stmt { kind: self, span }
    }
}
