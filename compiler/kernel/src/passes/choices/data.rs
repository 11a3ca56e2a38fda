//! What depends on data: items, elements of arrays, and what is made of values by anything but counting. A processor learns the rest, such as when a ring's place goes back to its beginning.

use crate::ir::*;
use sluice_frontend::ids::LocalId;
use std::collections::BTreeSet;

/// The variables that depend on data.
#[derive(Default, PartialEq, Clone)]
pub(super) struct Data {
    locals: BTreeSet<LocalId>,
    fields: BTreeSet<StateId>,
}

/// Those of a firing.
pub(super) fn of(f: &Function) -> Data {
    let mut data = Data::default();
    loop {
        let before = data.clone();
        data.body(&f.body, false);
        if data == before {
            return data;
        }
    }
}

impl Data {
    fn body(&mut self, body: &[Stmt], under: bool) {
        for s in body {
            match &s.kind {
                StmtKind::Assign(p, e) => {
                    if under || self.depends(e) {
                        self.add(p);
                    }
                }
                StmtKind::If(c, a, b) => {
                    let under = under || self.depends(c);
                    self.body(a, under);
                    self.body(b, under);
                }
                other => {
                    for p in other.targets() {
                        self.add(p);
                    }
                    for b in other.bodies() {
                        self.body(b, under);
                    }
                }
            }
        }
    }

    fn add(&mut self, p: &Place) {
        match p.base {
            Base::Local(id) => drop(self.locals.insert(id)),
            Base::State(id) => drop(self.fields.insert(id)),
            _ => {}
        }
    }

    /// Does a value depend on data?
    pub(super) fn depends(&self, e: &Expr) -> bool {
        e.any(&mut |e| match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero | ExprKind::Iter | ExprKind::Select(..) | ExprKind::Convert(_) => false,
            ExprKind::Load(p) => {
                !p.path.is_empty()
                    || match p.base {
                        Base::Local(id) => self.locals.contains(&id),
                        Base::State(id) => self.fields.contains(&id),
                        _ => true,
                    }
            }
            ExprKind::Unary(op, _) => *op == UnaryOp::BitNot,
            ExprKind::Binary(op, _, b) => match op {
                BinaryOp::BitAnd | BinaryOp::Rem => b.as_int().is_none(),
                BinaryOp::Mul | BinaryOp::Div | BinaryOp::BitOr | BinaryOp::BitXor => true,
                BinaryOp::Shl | BinaryOp::Shr => true,
                _ => false,
            },
            _ => true,
        })
    }
}
