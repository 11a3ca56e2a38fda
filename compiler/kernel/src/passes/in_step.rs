//! # in-step
//!
//! Purpose: a few firings in step, statement by statement, where each firing waits for its own loads: an element tells where the next one is, as on a way back through
//! decisions, in an automaton or a list. A processor then waits for several at the same time. Input: a kernel to be printed, after all other passes. Output: the same, with
//! [`Kernel::steps`].
//!
//! ```text
//! for $t = 0 < 96 step 1 { $s = in((($t * 64) + $s)) }
//!   →   for $t = 0 < 96 step 1 { $s = in((($t * 64) + $s))  $s1 = in(((($t * 64) + $s1) + 6144))  … }
//! ```
//!
//! What must hold: a firing has no state, `iter()`, checks, calls, prints or messages, and does not go in lanes. Firings then need nothing of each other: each has variables of its own,
//! looks at what is on the input and writes its own items, so that statements of different firings may come in any order; within a firing they keep theirs. Loops with the same bounds in all
//! firings turn for all of them; any other statement is done for one firing after the other. No operation changes.

use super::clean::trip;
use super::unroll::{jumps, size};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// Statements and operations of a firing, at most: the copies should fit the caches of instructions.
const LARGEST: usize = 250;
/// Turns of a loop that is worth it.
const FEWEST: u64 = 8;
/// Numbers that firings keep in registers, at most, and firings in step, at most.
const REGISTERS: usize = 16;
const MOST: usize = 4;
/// Items of a firing, at most.
const LONGEST: u32 = 1 << 20;

/// Finds the kernel's firings in step.
pub fn run(kernel: &mut Kernel) {
    if kernel.steps.is_none()
        && let Some((f, firings)) = find(kernel)
    {
        let function = FuncId::from(kernel.functions.len());
        kernel.functions.push(f);
        kernel.steps = Some(Steps { function, firings });
    }
}

fn find(kernel: &Kernel) -> Option<(Function, u32)> {
    let f = kernel.function(kernel.work.function);
    let body = &f.body;
    let rates = kernel.work.rates;
    // positions are ints
    if rates.peek.max(rates.pop).max(rates.push) > LONGEST {
        return None;
    }
    if kernel.lanes.is_some() || kernel.work.dynamic.is_some() || size(body) > LARGEST || !independent(body) {
        return None;
    }
    if !f.locals.iter().all(|l| !l.ty.is_aggregate()) || !chases(body) {
        return None;
    }
    let firings = (REGISTERS / own(f).max(1)).min(MOST);
    if firings < 2 {
        return None;
    }
    let mut out = f.clone();
    out.name = "steps".into();
    out.body.clear();
    let names: Vec<Vec<LocalId>> = (0..firings)
        .map(|k| {
            let copy = |i: usize| if k == 0 { LocalId::from(i) } else { another(&mut out, &f.locals[i]) };
            (0..f.locals.len()).map(copy).collect()
        })
        .collect();
    let mut joint = Joint { names, rates, shared: Vec::new() };
    out.body = joint.body(body)?;
    Some((out, firings as u32))
}

fn another(f: &mut Function, of: &Local) -> LocalId {
    f.locals.push(of.clone());
    LocalId::from(f.locals.len() - 1)
}

/// Numbers of a firing that live at the same time, about: those that are not counted by a loop, and are read in more than the statement behind.
fn own(f: &Function) -> usize {
    let mut counted = BTreeSet::new();
    walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            counted.insert(l.var);
        }
    });
    let mut carried = BTreeSet::new();
    walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            carried.extend(carried_by(&l.body));
        }
    });
    carried.difference(&counted).count() * 2
}

/// Does nothing that a firing does reach another one, or the world?
fn independent(body: &[Stmt]) -> bool {
    let mut ok = true;
    walk::each_stmt(body, &mut |s| {
        ok &= match &s.kind {
            StmtKind::Assign(p, _) => matches!(p.base, Base::Local(_) | Base::Out(_)),
            StmtKind::If(..)
            | StmtKind::For(_)
            | StmtKind::Loop(_)
            | StmtKind::Block(_)
            | StmtKind::Break(_)
            | StmtKind::Continue(_) => true,
            _ => false,
        };
    });
    walk::each_expr(body, &mut |e| {
        ok &= match &e.kind {
            ExprKind::Load(p) => matches!(p.base, Base::Local(_) | Base::In(_) | Base::Table(_)),
            ExprKind::Iter | ExprKind::Any(_) => false,
            _ => true,
        };
    });
    ok
}

/// The locals that a turn may read before it writes them, and writes: what goes from turn to turn.
fn carried_by(body: &[Stmt]) -> BTreeSet<LocalId> {
    let (mut before, mut surely) = (BTreeSet::new(), BTreeSet::new());
    read_before(body, &mut before, &mut surely);
    let mut written = BTreeSet::new();
    walk::each_written(body, &mut |id| {
        written.insert(id);
    });
    before.intersection(&written).copied().collect()
}

/// What is read where it has not surely been written, and what surely has been.
fn read_before(body: &[Stmt], before: &mut BTreeSet<LocalId>, surely: &mut BTreeSet<LocalId>) {
    for s in body {
        s.kind.each_own_expr(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind
                    && !surely.contains(id)
                {
                    before.insert(*id);
                }
            });
        });
        match &s.kind {
            StmtKind::Assign(p, _) => surely.extend(p.as_local()),
            StmtKind::For(l) => surely.extend([l.var]),
            _ => {}
        }
        for b in s.kind.bodies() {
            read_before(b, before, &mut surely.clone());
        }
    }
}

/// Is there a loop in which what one turn loads tells the next one where to load?
fn chases(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| {
        if let StmtKind::For(l) = &s.kind
            && trip(l).is_some_and(|(n, _)| n >= FEWEST)
        {
            found = found || carried_by(&l.body).iter().any(|id| *id != l.var && is_chased(&l.body, *id));
        }
    });
    found
}

/// Does the variable's next value come of a load whose place comes of the variable?
fn is_chased(body: &[Stmt], start: LocalId) -> bool {
    // what comes of the variable at all, and what comes of such a load
    let (mut of_it, mut loaded) = (BTreeSet::from([start]), BTreeSet::new());
    loop {
        let before = (of_it.len(), loaded.len());
        walk::each_stmt(body, &mut |s| {
            if let StmtKind::Assign(Place { base: Base::Local(id), .. }, e) = &s.kind {
                if reads(e, &of_it) {
                    of_it.insert(*id);
                }
                let by_load = e.any(&mut |e| match &e.kind {
                    ExprKind::Load(p) => matches!(p.base, Base::In(_) | Base::Table(_)) && at_any(p, &of_it),
                    _ => false,
                });
                if by_load || reads(e, &loaded) {
                    loaded.insert(*id);
                }
            }
        });
        if before == (of_it.len(), loaded.len()) {
            return loaded.contains(&start);
        }
    }
}

fn reads(e: &Expr, any_of: &BTreeSet<LocalId>) -> bool {
    e.any(&mut |e| matches!(&e.kind, ExprKind::Load(Place { base: Base::Local(id), .. }) if any_of.contains(id)))
}

fn at_any(p: &Place, any_of: &BTreeSet<LocalId>) -> bool {
    let mut found = false;
    p.each_expr(&mut |e| found = found || reads(e, any_of));
    found
}

/// Firings that become one list of statements.
struct Joint {
    /// By firing and local: its name there.
    names: Vec<Vec<LocalId>>,
    rates: Rates,
    /// Variables of the loops around that turn for all firings.
    shared: Vec<LocalId>,
}

impl Joint {
    fn body(&mut self, body: &[Stmt]) -> Option<Vec<Stmt>> {
        let mut out = Vec::new();
        for s in body {
            match &s.kind {
                StmtKind::For(l) if self.same(l) && !jumps(&l.body) => {
                    let mut joint = (**l).clone();
                    self.shared.push(l.var);
                    let inner = self.body(&l.body);
                    self.shared.pop();
                    joint.body = inner?;
                    out.push(StmtKind::For(Box::new(joint)).at(s.span));
                    for k in 1..self.names.len() {
                        let value = Expr::local(l.var, Ty::Int);
                        out.push(StmtKind::Assign(Place::local(self.names[k][l.var.index()]), value).at(s.span));
                    }
                }
                _ => (0..self.names.len()).for_each(|k| out.push(self.of(s, k))),
            }
        }
        Some(out)
    }

    /// Has the loop the same bounds in all firings?
    fn same(&self, l: &For) -> bool {
        let shared = |e: &Expr| {
            !e.any(&mut |e| match &e.kind {
                ExprKind::Load(p) => p.as_local().is_none_or(|id| !self.shared.contains(&id)),
                _ => false,
            })
        };
        shared(&l.from) && shared(&l.to)
    }

    /// The statement as firing `k` does it.
    fn of(&self, s: &Stmt, k: usize) -> Stmt {
        let mut list = vec![s.clone()];
        if k == 0 {
            return s.clone();
        }
        walk::each_local_mut(&mut list, &mut |id| {
            if !self.shared.contains(id) {
                *id = self.names[k][id.index()];
            }
        });
        let (taken, given) = (k as u32 * self.rates.pop, k as u32 * self.rates.push);
        walk::each_place_mut(&mut list, &mut |p| match &mut p.base {
            Base::In(e) => **e = farther(e, taken),
            Base::Out(e) => **e = farther(e, given),
            _ => {}
        });
        list.swap_remove(0)
    }
}

/// A position so many items farther.
fn farther(e: &Expr, by: u32) -> Expr {
    match e.as_int() {
        Some(i) => Expr::int(i.wrapping_add(by as i32)),
        None => Expr::add(e.clone(), Expr::int(by as i32)),
    }
}

#[cfg(test)]
mod tests;
