//! # turns-abreast
//!
//! Purpose: loops whose turns take sums go in vectors, a turn in each lane, where a firing cannot: a filter with a state, or a single firing. Each sum is still taken
//! in its order, so that no bit differs. Input: any kernel after `lower_channels`, for C. Output: the loops, marked [`For::abreast`]; C text has vectors for those for
//! which [`nest`] finds how.
//!
//! ```text
//! for $lag = 20 < 148 {                              for $lag = 20 < 148 abreast {
//!     $s = 0f                                            $s = 0f
//!     for $i = 0 < 160 {                                 for $i = 0 < 160 { $s = … }
//!         $s = ($s + ($x[$i] * $x[($i + $lag)]))    →    $sums[($lag + -20)] = $s
//!     }                                              }
//!     if ($s > $best) { … }                          for $lag = 20 < 148 { $s1 = $sums[($lag + -20)]  if ($s1 > $best) { … } }
//! }
//! ```
//!
//! What must hold: what comes up to the last inner loop only computes variables that are the turn's own, written before they are read and used nowhere else; its inner loops
//! have known bounds; elements that differ between turns lie side by side in memory, those of tables once these are stored by columns ([`columns`]). What comes behind it writes nothing that this reads. Then all turns' sums may come
//! before what is done with them. Source: loop distribution and scalar expansion, R. Allen, K. Kennedy, Optimizing Compilers for Modern Architectures, 2001, sections 5.2 and 5.3.

mod columns;
mod positions;

use super::clean::trip;
use super::unroll::{jumps, size};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::{Dim, Ty};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Turns of a loop that is worth it: the lanes of the widest machine.
const FEWEST: u64 = 16;
/// Turns of a loop whose results wait in an array, at most.
const MOST: u64 = 1024;
/// Turns of inner loops that are worth it.
const FEWEST_INNER: u64 = 8;
/// Statements and operations of a turn, at most.
const LARGEST: usize = 400;
/// Results that wait in arrays, at most.
const WAITING: usize = 4;

/// A loop whose turns are lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    /// Variables that differ between turns.
    pub varying: BTreeSet<LocalId>,
    /// How many of them are sums, of which each takes a register for each vector.
    pub sums: usize,
}

/// Marks loops in all functions but those of several firings.
pub fn run(kernel: &mut Kernel) {
    let tables = kernel.tables.len();
    in_functions(kernel);
    if kernel.tables.len() > tables {
        columns::tidy(kernel, tables);
    }
}

fn in_functions(kernel: &mut Kernel) {
    // attempts are printed in ways of their own
    if kernel.work.dynamic.is_some() {
        return;
    }
    let several: Vec<FuncId> =
        kernel.lanes.iter().map(|l| l.function).chain(kernel.steps.iter().map(|s| s.function)).collect();
    for i in 0..kernel.functions.len() {
        if several.contains(&FuncId::from(i)) || kernel.functions[i].locals.iter().any(|l| l.by_ref) {
            continue;
        }
        let mut body = std::mem::take(&mut kernel.functions[i].body);
        let all = body.clone();
        lists(kernel, i, &mut body, &all);
        kernel.functions[i].body = body;
    }
}

/// Outer loops first: those inside one that is marked stay as they are.
fn lists(kernel: &mut Kernel, function: usize, body: &mut Vec<Stmt>, all: &[Stmt]) {
    let mut i = 0;
    while i < body.len() {
        let new = match &body[i].kind {
            StmtKind::For(l) => {
                abreast(kernel, function, l, body[i].span, all).or_else(|| by_columns(kernel, function, &body[i], all))
            }
            _ => None,
        };
        if let Some(new) = new {
            let n = new.len();
            body.splice(i..=i, new);
            i += n;
            continue;
        }
        for b in body[i].kind.bodies_mut() {
            lists(kernel, function, b, all);
        }
        i += 1;
    }
}

/// The same of a loop whose turns take rows of tables, with these turned round.
fn by_columns(kernel: &mut Kernel, function: usize, s: &Stmt, all: &[Stmt]) -> Option<Vec<Stmt>> {
    let StmtKind::For(l) = &s.kind else { return None };
    trip(l).filter(|(n, _)| *n >= FEWEST && l.step == 1 && size(&l.body) <= LARGEST)?;
    let mut written = BTreeSet::new();
    walk::each_written(&l.body, &mut |id| {
        written.insert(id);
    });
    // counters of the loops in it are the same in all turns
    walk::each_stmt(&l.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            written.remove(&l.var);
        }
    });
    let (new, turned) = columns::by_columns(l, &written, &kernel.tables)?;
    let before = kernel.tables.len();
    for (id, axis) in turned {
        let table = columns::turned(&kernel.tables[id.index()], axis)?;
        kernel.tables.push(table);
    }
    let found = abreast(kernel, function, &new, s.span, all);
    if found.is_none() {
        kernel.tables.truncate(before);
    }
    found
}

fn abreast(
    kernel: &mut Kernel,
    function: usize,
    l: &For,
    span: sluice_grammar::span::Span,
    all: &[Stmt],
) -> Option<Vec<Stmt>> {
    let (turns, _) = trip(l).filter(|_| !l.abreast && !jumps(&l.body) && size(&l.body) <= LARGEST)?;
    let f = &kernel.functions[function];
    let as_it_is = &l.body;
    let l = &For { body: positions::put_where_used(f, &l.body, all), ..l.clone() };
    let found = |head: &[Stmt]| {
        let nest = Turn::of(f, l, head)?;
        // a parameter may be the caller's
        nest.varying
            .iter()
            .all(|id| id.0 >= f.params && walk::uses(all, *id) == walk::uses(as_it_is, *id))
            .then_some(nest)
    };
    if found(&l.body).is_some() {
        return Some(vec![StmtKind::For(Box::new(For { abreast: true, ..l.clone() })).at(span)]);
    }
    let last = l.body.iter().rposition(|s| matches!(s.kind, StmtKind::For(_)))?;
    let (head, tail) = l.body.split_at(last + 1);
    let nest = found(head).filter(|_| turns <= MOST && !tail.is_empty())?;
    if !keeps(tail, head) {
        return None;
    }
    let wait: Vec<LocalId> = nest.varying.iter().copied().filter(|id| walk::uses(tail, *id) > 0).collect();
    let fits = |id: &LocalId| matches!(f.locals[id.index()].ty, Ty::Int | Ty::Float);
    if wait.len() > WAITING || !wait.iter().all(fits) {
        return None;
    }
    let from = l.from.as_int()?;
    let (mut first, mut second) = (head.to_vec(), Vec::new());
    let mut tail = tail.to_vec();
    for of in wait {
        let f = &mut kernel.functions[function];
        let local = f.locals[of.index()].clone();
        let (array, again) = (LocalId::from(f.locals.len()), LocalId::from(f.locals.len() + 1));
        let ty = local.ty.clone();
        f.locals.push(Local { ty: Ty::Array(Arc::new(ty.clone()), Dim::Known(turns as u32)), ..local.clone() });
        f.locals.push(local);
        let turn = Expr::add(Expr::local(l.var, Ty::Int), Expr::int(from.wrapping_neg()));
        let element = Place::local(array).then(Proj::Index(turn));
        first.push(StmtKind::Assign(element.clone(), Expr::local(of, ty.clone())).at(span));
        second.push(StmtKind::Assign(Place::local(again), Expr::load(element, ty)).at(span));
        walk::each_local_mut(&mut tail, &mut |id| {
            if *id == of {
                *id = again;
            }
        });
    }
    second.append(&mut tail);
    let first = For { body: first, abreast: true, ..l.clone() };
    let second = For { body: second, ..l.clone() };
    Some(vec![StmtKind::For(Box::new(first)).at(span), StmtKind::For(Box::new(second)).at(span)])
}

/// Does the tail of a turn leave what heads read as it is?
fn keeps(tail: &[Stmt], head: &[Stmt]) -> bool {
    let (mut locals, mut state, mut calls) = (BTreeSet::new(), BTreeSet::new(), false);
    walk::each_written(tail, &mut |id| locals.extend([id]));
    walk::each_stmt(tail, &mut |s| {
        calls |= matches!(s.kind, StmtKind::Call { .. });
        state.extend(
            s.kind.targets().into_iter().filter_map(|p| if let Base::State(id) = p.base { Some(id) } else { None }),
        );
    });
    let mut kept = !calls;
    // a turn's own are its own behind it, too
    walk::each_written(head, &mut |id| {
        locals.remove(&id);
    });
    walk::each_expr(head, &mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            kept &= match p.base {
                Base::Local(id) => !locals.contains(&id),
                Base::State(id) => !state.contains(&id),
                _ => true,
            };
        }
    });
    kept
}

/// How the turns of a marked loop go in vectors: `None` where they do not.
pub fn nest(f: &Function, l: &For) -> Option<Nest> {
    if l.abreast { Turn::of(f, l, &l.body) } else { None }
}

/// Does the statement stay as it is, and what is in it, since it goes in vectors?
pub(super) fn stays(f: &Function, s: &Stmt) -> bool {
    matches!(&s.kind, StmtKind::For(l) if nest(f, l).is_some())
}

/// A turn that is looked at.
struct Turn<'a> {
    f: &'a Function,
    var: LocalId,
    /// Variables that it writes, counters of loops apart.
    written: BTreeSet<LocalId>,
    counters: BTreeSet<LocalId>,
    /// Counters of the loops around what is looked at.
    counting: Vec<LocalId>,
    /// Those that have been written so far.
    known: BTreeSet<LocalId>,
    sums: BTreeSet<LocalId>,
    /// Arrays that it writes an element of, by what they are; the output as `None`.
    stored: Vec<Option<Place>>,
    /// Turns of the loops around what is looked at.
    within: u64,
}

impl Turn<'_> {
    fn of(f: &Function, l: &For, turn: &[Stmt]) -> Option<Nest> {
        // the vectors' counter does not wrap around
        trip(l).filter(|(n, end)| *n >= FEWEST && l.step == 1 && *end < i32::MAX / 2)?;
        let (mut written, mut counters) = (BTreeSet::new(), BTreeSet::new());
        walk::each_stmt(turn, &mut |s| match &s.kind {
            StmtKind::Assign(p, _) => written.extend(p.as_local()),
            StmtKind::For(l) => counters.extend([l.var]),
            _ => {}
        });
        if written.intersection(&counters).next().is_some() || written.contains(&l.var) || counters.contains(&l.var) {
            return None;
        }
        let (known, sums, stored) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let counting = Vec::new();
        let mut t = Turn { f, var: l.var, written, counters, counting, known, sums, stored, within: 1 };
        t.statements(turn)?;
        t.stores_nothing_it_reads(turn)?;
        (!t.sums.is_empty()).then_some(Nest { varying: t.written, sums: t.sums.len() })
    }

    fn statements(&mut self, body: &[Stmt]) -> Option<()> {
        for s in body {
            match &s.kind {
                StmtKind::Assign(p, e) => self.assign(p, e)?,
                StmtKind::For(l) => {
                    let (n, _) = trip(l).filter(|(n, _)| *n > 0 && !l.abreast)?;
                    let around = self.within;
                    self.within = around.saturating_mul(n);
                    self.counting.push(l.var);
                    self.statements(&l.body)?;
                    self.counting.pop();
                    self.within = around;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn assign(&mut self, p: &Place, e: &Expr) -> Option<()> {
        // a counter outside of its loop is what the turn before left
        let mut counted = true;
        let mut look = |e: &Expr| {
            counted &= !e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.as_local().is_some_and(|id| self.counters.contains(&id) && !self.counting.contains(&id))));
        };
        p.each_expr(&mut look);
        look(e);
        if !counted {
            return None;
        }
        if let Some(id) = p.as_local() {
            if !fits(&self.f.locals[id.index()].ty) || self.f.locals[id.index()].ty != e.ty {
                return None;
            }
            if self.within >= FEWEST_INNER && e.ty == Ty::Float && e.any(&mut |e| loads(e, id)) {
                self.sums.insert(id);
            }
            self.value(e, true)?;
            self.known.insert(id);
            return Some(());
        }
        // one element for each turn
        if self.within > 1 || !is_word(&e.ty) {
            return None;
        }
        self.value(e, true)?;
        match (&p.base, p.path.as_slice()) {
            (Base::Out(at), []) => {
                self.unit(at)?;
                self.stored.push(None);
            }
            (Base::Local(_) | Base::State(_), path) => {
                self.row(path)?;
                self.stored.push(Some(Place { base: p.base.clone(), path: Vec::new() }));
            }
            _ => return None,
        }
        Some(())
    }

    /// No array that is written is read, or written twice.
    fn stores_nothing_it_reads(&self, turn: &[Stmt]) -> Option<()> {
        let mut ok = true;
        walk::each_expr(turn, &mut |e| {
            if let ExprKind::Load(p) = &e.kind {
                ok &= self.stored.iter().flatten().all(|s| s.base != p.base);
            }
        });
        let twice = self.stored.iter().enumerate().any(|(i, s)| self.stored[..i].contains(s));
        (ok && !twice).then_some(())
    }

    /// Does a value differ between turns?
    fn varies(&self, e: &Expr) -> bool {
        varies(e, self.var, &self.written)
    }

    /// Can vectors compute it? `always`: it is evaluated in any case.
    fn value(&self, e: &Expr, always: bool) -> Option<()> {
        use BinaryOp::{Div, Rem};
        if !always && e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.as_local().is_none())) {
            return None;
        }
        if !self.varies(e) {
            return fits(&e.ty).then_some(());
        }
        if !fits(&e.ty) {
            return None;
        }
        match &e.kind {
            ExprKind::Load(p) => match p.as_local() {
                Some(id) => (id == self.var || self.known.contains(&id)).then_some(()),
                None if !is_word(&e.ty) => None,
                None => match &p.base {
                    Base::In(at) if p.path.is_empty() => self.unit(at),
                    Base::Local(_) | Base::State(_) | Base::Table(_) => self.row(&p.path),
                    _ => None,
                },
            },
            ExprKind::Unary(_, a) | ExprKind::Convert(a) => self.value(a, always),
            ExprKind::Binary(Div | Rem, a, _) if a.ty == Ty::Int => None,
            ExprKind::Binary(Rem, ..) => None,
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                self.value(a, always)?;
                self.value(b, false)
            }
            ExprKind::Binary(_, a, b) => [a, b].into_iter().try_for_each(|e| self.value(e, always)),
            ExprKind::Select(c, a, b) => {
                self.value(c, always)?;
                [a, b].into_iter().try_for_each(|e| self.value(e, false))
            }
            ExprKind::Builtin(Builtin::Min | Builtin::Max | Builtin::Abs, all) => {
                all.iter().try_for_each(|e| self.value(e, always))
            }
            ExprKind::Builtin(Builtin::Sqrt, all) => all.iter().try_for_each(|e| self.value(e, always)),
            _ => None,
        }
    }

    /// Elements of a row, from turn to turn the next.
    fn row(&self, path: &[Proj]) -> Option<()> {
        let (Proj::Index(last), before) = path.split_last()? else { return None };
        let same = |p: &Proj| matches!(p, Proj::Index(e) if !self.varies(e)) || !matches!(p, Proj::Index(_));
        self.unit(last).filter(|()| before.iter().all(same))
    }

    fn unit(&self, at: &Expr) -> Option<()> {
        unit(at, self.var, &self.written)
    }
}

/// A position that grows by one from turn to turn.
fn unit(at: &Expr, var: LocalId, written: &BTreeSet<LocalId>) -> Option<()> {
    if loads(at, var) {
        return Some(());
    }
    let same = |e: &Expr| !varies(e, var, written);
    match &at.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) if same(b) => unit(a, var, written),
        ExprKind::Binary(BinaryOp::Add, a, b) if same(a) => unit(b, var, written),
        ExprKind::Binary(BinaryOp::Sub, a, b) if same(b) => unit(a, var, written),
        _ => None,
    }
}

/// Does a value differ between the turns of a loop that writes these variables?
pub fn varies(e: &Expr, var: LocalId, written: &BTreeSet<LocalId>) -> bool {
    e.any(&mut |e| match &e.kind {
        ExprKind::Load(Place { base: Base::Local(id), .. }) => *id == var || written.contains(id),
        _ => false,
    })
}

fn loads(e: &Expr, id: LocalId) -> bool {
    matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(id))
}

fn fits(ty: &Ty) -> bool {
    matches!(ty, Ty::Float | Ty::Int | Ty::Bool | Ty::Bit)
}

/// Does a lane hold it as memory does?
fn is_word(ty: &Ty) -> bool {
    matches!(ty, Ty::Float | Ty::Int)
}

#[cfg(test)]
mod tests;
