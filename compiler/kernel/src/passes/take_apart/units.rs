//! The statements of a firing as units, what each reads and writes, and whose values it uses: of the same firing, and of earlier ones through fields.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Something with a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Var {
    /// A variable of the firing.
    Local(LocalId),
    /// A field.
    State(StateId),
}

/// A statement of the firing's own list, with the checks before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Unit {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// What it needs from before.
    pub reads: BTreeSet<Var>,
    /// What it may write.
    pub writes: BTreeSet<Var>,
    /// What it writes in any case, wholly.
    pub sure: BTreeSet<Var>,
    /// Does it give an item?
    pub gives: bool,
}

impl Unit {
    /// Of statements; `None` where one does something that is not looked at here.
    pub fn of(stmts: Vec<Stmt>) -> Option<Unit> {
        let mut unit = Unit::default();
        let mut done = BTreeSet::new();
        unit.list(&stmts, &mut done)?;
        unit.sure = done;
        unit.stmts = stmts;
        Some(unit)
    }

    /// Goes through statements; `done` is what has been written in any case where control comes to the end.
    fn list(&mut self, body: &[Stmt], done: &mut BTreeSet<Var>) -> Option<()> {
        for s in body {
            let mut plain = true;
            s.kind.each_own_expr(&mut |e| plain &= self.expr(e, done));
            if !plain {
                return None;
            }
            match &s.kind {
                StmtKind::Assign(p, _) => {
                    let var = match &p.base {
                        Base::Local(id) => Var::Local(*id),
                        Base::State(id) => Var::State(*id),
                        Base::Out(_) => {
                            self.gives = true;
                            continue;
                        }
                        _ => return None,
                    };
                    self.writes.insert(var);
                    if p.path.is_empty() {
                        done.insert(var);
                    } else if !done.contains(&var) {
                        self.reads.insert(var);
                    }
                }
                StmtKind::If(_, a, b) => {
                    let mut other = done.clone();
                    self.list(a, done)?;
                    self.list(b, &mut other)?;
                    // of a way that leaves, this is too little: nothing more is known than what holds on both
                    done.retain(|v| other.contains(v));
                }
                StmtKind::For(l) => {
                    self.writes.insert(Var::Local(l.var));
                    done.insert(Var::Local(l.var));
                    self.list(&l.body, &mut done.clone())?;
                }
                StmtKind::Loop(b) | StmtKind::Block(b) => self.list(b, &mut done.clone())?,
                StmtKind::Check(_) | StmtKind::Break(_) | StmtKind::Continue(_) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// False where it is not looked at here.
    fn expr(&mut self, e: &Expr, done: &BTreeSet<Var>) -> bool {
        let mut plain = true;
        e.walk(&mut |e| match &e.kind {
            ExprKind::Iter => plain = false,
            ExprKind::Load(p) => {
                let var = match p.base {
                    Base::Local(id) => Var::Local(id),
                    Base::State(id) => Var::State(id),
                    _ => return,
                };
                if !done.contains(&var) {
                    self.reads.insert(var);
                }
            }
            _ => {}
        });
        plain
    }
}

/// Is it one number?
pub(super) fn scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Int | Ty::Float | Ty::Double | Ty::Bool | Ty::Bit | Ty::Complex)
}

/// The units of a function, whose variables have a name for each value that is set wholly in its own list; `None` where something is not looked at here.
pub(super) fn units(f: &mut Function) -> Option<Vec<Unit>> {
    let body = renamed(f);
    let mut out = Vec::new();
    let mut checks = Vec::new();
    for s in body {
        let check = matches!(s.kind, StmtKind::Check(_));
        checks.push(s);
        if !check {
            out.push(Unit::of(std::mem::take(&mut checks))?);
        }
    }
    // a check of nothing that follows is nobody's
    checks.is_empty().then_some(out)
}

/// The function's own list with a variable of its own for each value.
fn renamed(f: &mut Function) -> Vec<Stmt> {
    let mut now: BTreeMap<LocalId, LocalId> = BTreeMap::new();
    let mut body = f.body.clone();
    for s in &mut body {
        let set = match &s.kind {
            StmtKind::Assign(p, _) => p.as_local(),
            StmtKind::For(l) => {
                let mut reads = false;
                for e in [&l.from, &l.to] {
                    reads |= e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(l.var)));
                }
                (!reads).then_some(l.var)
            }
            _ => None,
        };
        let set = set.filter(|x| x.0 >= f.params && scalar(&f.locals[x.index()].ty));
        let Some(x) = set else {
            walk::each_local_mut(std::slice::from_mut(s), &mut |id| *id = *now.get(id).unwrap_or(id));
            continue;
        };
        let new = if now.contains_key(&x) {
            f.locals.push(f.locals[x.index()].clone());
            LocalId::from(f.locals.len() - 1)
        } else {
            x
        };
        match &mut s.kind {
            // what is read is what it was before
            StmtKind::Assign(p, _) => {
                *p = Place::local(LocalId(u32::MAX));
                walk::each_local_mut(std::slice::from_mut(s), &mut |id| *id = *now.get(id).unwrap_or(id));
                if let StmtKind::Assign(p, _) = &mut s.kind {
                    *p = Place::local(new);
                }
            }
            _ => {
                now.insert(x, new);
                walk::each_local_mut(std::slice::from_mut(s), &mut |id| *id = *now.get(id).unwrap_or(id));
            }
        }
        now.insert(x, new);
    }
    body
}

/// Which units use whose values.
pub(super) struct Uses {
    /// By unit: those whose values it needs, of this firing or of one before.
    pub of: Vec<BTreeSet<usize>>,
    /// Units that write fields.
    pub writers: BTreeSet<usize>,
}

/// Who uses whose values. Units that write the same variable, or name the same array or struct, use each other's: they stay together.
pub(super) fn uses(units: &[Unit], f: &Function) -> Uses {
    let mut of = vec![BTreeSet::new(); units.len()];
    let mut now: BTreeMap<Var, BTreeSet<usize>> = BTreeMap::new();
    let mut touched: BTreeMap<LocalId, BTreeSet<usize>> = BTreeMap::new();
    // fields whose value of the firing before may still be there
    let mut renewed: BTreeSet<Var> = BTreeSet::new();
    let mut carried: Vec<(Var, usize)> = Vec::new();
    let mut writers = BTreeSet::new();
    for (u, unit) in units.iter().enumerate() {
        let kept = unit.writes.difference(&unit.sure);
        for v in unit.reads.iter().chain(kept) {
            of[u].extend(now.get(v).into_iter().flatten());
            if matches!(v, Var::State(_)) && !renewed.contains(v) {
                carried.push((*v, u));
            }
        }
        for v in &unit.writes {
            let all = now.entry(*v).or_default();
            if unit.sure.contains(v) {
                all.clear();
                renewed.insert(*v);
            }
            all.insert(u);
            if matches!(v, Var::State(_)) {
                writers.insert(u);
            }
        }
        for v in unit.reads.iter().chain(&unit.writes) {
            if let Var::Local(x) = v
                && (unit.writes.contains(v) || !scalar(&f.locals[x.index()].ty))
            {
                touched.entry(*x).or_default().insert(u);
            }
        }
    }
    for (v, u) in carried {
        of[u].extend(now.get(&v).into_iter().flatten());
    }
    for together in touched.values() {
        for u in together {
            of[*u].extend(together.iter().filter(|o| *o != u));
        }
    }
    Uses { of, writers }
}

/// All that `from` leads to, itself included.
pub(super) fn reached(from: &BTreeSet<usize>, edges: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut seen = from.clone();
    let mut open: Vec<usize> = from.iter().copied().collect();
    while let Some(u) = open.pop() {
        for v in &edges[u] {
            if seen.insert(*v) {
                open.push(*v);
            }
        }
    }
    seen
}
