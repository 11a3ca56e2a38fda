//! Fields that count by themselves, as generators of random numbers do: what they hold is known in every firing, for as many firings as one likes, and nothing that the window could give.

use super::remove_unused;
use crate::ir::*;
use crate::walk;

/// Does the filter give something that it computes of such a field? Then the field stays, and no firing need be gone through to see it. `counts`, by field: may it count? Where a firing is
/// left in its middle this says no.
pub fn stay(kernel: &Kernel, counts: &[bool]) -> bool {
    let f = kernel.function(kernel.work.function);
    let mut of = Open { fields: counts.iter().map(|c| !c).collect(), locals: vec![false; f.locals.len()], more: true };
    while std::mem::take(&mut of.more) {
        if of.body(&f.body, false).is_none() {
            return false;
        }
    }
    if of.fields.iter().all(|open| *open) {
        return false;
    }
    // what is left where all other fields become items
    let mut left = f.clone();
    walk::each_expr_mut(&mut left.body, &mut |e| {
        if let ExprKind::Load(Place { base: Base::State(id), .. }) = &e.kind
            && of.fields[id.index()]
        {
            e.kind = ExprKind::Zero;
        }
    });
    walk::each_stmt_mut(&mut left.body, &mut |s| {
        if matches!(&s.kind, StmtKind::Assign(Place { base: Base::State(_), .. }, _) | StmtKind::Check(_)) {
            s.kind = StmtKind::Block(Vec::new());
        }
    });
    remove_unused(&mut left);
    let mut any = false;
    walk::each_expr(&left.body, &mut |e| {
        any |= matches!(&e.kind, ExprKind::Load(Place { base: Base::State(_), .. }));
    });
    any
}

/// Fields and variables that may hold something else than counts, wherever in a firing they are set.
struct Open {
    fields: Vec<bool>,
    locals: Vec<bool>,
    more: bool,
}

impl Open {
    /// Looks at statements, under conditions that are open or not. `None` where one leaves the firing or has an effect.
    fn body(&mut self, body: &[Stmt], under: bool) -> Option<()> {
        for s in body {
            let mut open = under;
            s.kind.each_own_expr(&mut |e| open |= self.value(e));
            match &s.kind {
                StmtKind::Assign(p, _) => match &p.base {
                    Base::State(id) => self.set(open, |o| &mut o.fields[id.index()]),
                    Base::Local(id) => self.set(open || !p.path.is_empty(), |o| &mut o.locals[id.index()]),
                    _ => {}
                },
                StmtKind::For(l) => self.set(open, |o| &mut o.locals[l.var.index()]),
                StmtKind::If(..) | StmtKind::Block(_) | StmtKind::Check(_) => {}
                _ => return None,
            }
            for b in s.kind.bodies() {
                self.body(b, open)?;
            }
        }
        Some(())
    }

    fn set(&mut self, open: bool, which: impl Fn(&mut Open) -> &mut bool) {
        if open {
            self.more |= !std::mem::replace(which(self), true);
        }
    }

    /// May it be something else than a count?
    fn value(&self, e: &Expr) -> bool {
        let mut open = false;
        e.walk(&mut |e| {
            open |= match &e.kind {
                ExprKind::Iter => true,
                ExprKind::Load(p) => match &p.base {
                    Base::Local(id) => self.locals[id.index()] || !p.path.is_empty(),
                    Base::State(id) => self.fields[id.index()],
                    Base::Table(_) => false,
                    _ => true,
                },
                _ => false,
            };
        });
        open
    }
}
