//! Which variables are a turn's own: whatever the turn before left in them, it sets them before it reads them.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// All variables that occur in statements.
pub(super) fn used(body: &[Stmt]) -> BTreeSet<LocalId> {
    let mut out = written(body);
    walk::each_expr(body, &mut |e| out.extend(loaded(e)));
    out
}

/// All variables that occur in the expressions of a statement itself.
pub(super) fn in_header(s: &Stmt) -> BTreeSet<LocalId> {
    let mut out = BTreeSet::new();
    s.kind.each_own_expr(&mut |e| e.walk(&mut |e| out.extend(loaded(e))));
    out
}

fn loaded(e: &Expr) -> Option<LocalId> {
    match &e.kind {
        ExprKind::Load(Place { base: Base::Local(id), .. }) => Some(*id),
        _ => None,
    }
}

/// All variables that statements write.
pub(super) fn written(body: &[Stmt]) -> BTreeSet<LocalId> {
    let mut out = BTreeSet::new();
    walk::each_written(body, &mut |id| {
        out.insert(id);
    });
    out
}

/// The turn's own scalars that nobody uses elsewhere.
pub(super) fn of_turn(
    body: &[Stmt],
    locals: &[Local],
    params: u32,
    elsewhere: &BTreeSet<LocalId>,
) -> BTreeSet<LocalId> {
    let mut own = written(body);
    own.retain(|id| {
        let local = &locals[id.index()];
        let scalar = matches!(local.ty, Ty::Int | Ty::Float | Ty::Double | Ty::Bool | Ty::Bit);
        id.0 >= params && scalar && !local.by_ref && !elsewhere.contains(id)
    });
    let mut set = BTreeSet::new();
    look(body, &mut set, &mut own);
    own
}

/// Takes from `own` what is read before it is set. `set`: what has been set on every way so far.
fn look(body: &[Stmt], set: &mut BTreeSet<LocalId>, own: &mut BTreeSet<LocalId>) {
    for s in body {
        s.kind.each_own_expr(&mut |e| {
            e.walk(&mut |e| {
                if let Some(id) = loaded(e).filter(|id| !set.contains(id)) {
                    own.remove(&id);
                }
            });
        });
        match &s.kind {
            StmtKind::If(_, a, b) => {
                let mut other = set.clone();
                look(a, set, own);
                look(b, &mut other, own);
                match (walk::diverges(a), walk::diverges(b)) {
                    (true, _) => *set = other,
                    (false, true) => {}
                    (false, false) => set.retain(|id| other.contains(id)),
                }
            }
            StmtKind::For(l) => {
                set.insert(l.var);
                look(&l.body, &mut set.clone(), own);
            }
            StmtKind::Loop(b) | StmtKind::Block(b) => look(b, &mut set.clone(), own),
            other => {
                // a part of a variable leaves the rest; who is passed a place may read it
                for p in other.targets() {
                    match (p.as_local(), other) {
                        (Some(id), StmtKind::Assign(..) | StmtKind::Pop(_)) => {
                            set.insert(id);
                        }
                        (None, StmtKind::Assign(..)) => {}
                        _ => {
                            if let Base::Local(id) = p.base {
                                own.remove(&id);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Gives variables other names.
pub(super) fn renamed(body: &mut [Stmt], which: &BTreeSet<LocalId>, locals: &mut Vec<Local>) {
    let mut names = BTreeMap::new();
    for id in which {
        names.insert(*id, LocalId::from(locals.len()));
        locals.push(locals[id.index()].clone());
    }
    walk::each_local_mut(body, &mut |id| {
        if let Some(new) = names.get(id) {
            *id = *new;
        }
    });
}
