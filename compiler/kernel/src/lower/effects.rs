//! Does a statement change what an expression reads?
//!
//! Input: an expression whose value is wanted as it was before some statements. Output: must it be stored first? Array parameters
//! may stand for any array outside of the function, so they and the state count as one.

use super::FunctionLowering;
use crate::ir::*;
use crate::walk;
use std::collections::BTreeSet;

/// What an expression reads, or statements write.
#[derive(Default)]
struct Touched {
    locals: BTreeSet<u32>,
    /// State, and the arrays behind parameters.
    outside: bool,
    /// The input's cursor.
    channel: bool,
}

impl Touched {
    fn add(&mut self, base: &Base, locals: &[Local]) {
        match base {
            Base::Local(id) if locals[id.index()].by_ref => self.outside = true,
            Base::Local(id) => {
                self.locals.insert(id.0);
            }
            Base::State(_) => self.outside = true,
            Base::Peek(_) => self.channel = true,
            Base::Table(_) | Base::In(_) | Base::Out(_) => {}
        }
    }
}

/// Do the statements change what the expression reads?
pub(super) fn conflict(e: &Expr, stmts: &[Stmt], locals: &[Local]) -> bool {
    if stmts.is_empty() {
        return false;
    }
    let mut reads = Touched::default();
    e.walk(&mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            reads.add(&p.base, locals);
        }
    });
    let mut writes = Touched::default();
    walk::each_stmt(stmts, &mut |s| {
        s.kind.targets().into_iter().for_each(|p| writes.add(&p.base, locals));
        match &s.kind {
            StmtKind::For(l) => {
                writes.locals.insert(l.var.0);
            }
            StmtKind::Pop(_) => writes.channel = true,
            StmtKind::Call { .. } => {
                writes.channel = true;
                writes.outside = true;
            }
            _ => {}
        }
    });
    reads.channel && writes.channel || reads.outside && writes.outside || !reads.locals.is_disjoint(&writes.locals)
}

impl FunctionLowering<'_, '_> {
    /// Stores the expressions in new variables, before the statements from `mark` on, where those would change their values.
    pub(super) fn protect<'e>(&mut self, exprs: impl IntoIterator<Item = &'e mut Expr>, mark: usize) {
        let mut at = mark;
        for e in exprs {
            if conflict(e, &self.out[at..], &self.locals) {
                let ty = e.ty.clone();
                let t = self.temp("before", ty.clone());
                let value = std::mem::replace(e, Expr::local(t, ty));
                self.out.insert(at, StmtKind::Assign(Place::local(t), value).at(self.span));
                at += 1;
            }
        }
    }

    /// As [`FunctionLowering::protect`], for the positions and indices in a place.
    pub(super) fn protect_place(&mut self, p: &mut Place, mark: usize) {
        let mut exprs: Vec<Expr> = Vec::new();
        p.each_expr_mut(&mut |e| exprs.push(e.clone()));
        self.protect(&mut exprs, mark);
        let mut it = exprs.into_iter();
        p.each_expr_mut(&mut |e| {
            if let Some(new) = it.next() {
                *e = new;
            }
        });
    }
}
