//! # direct-outputs
//!
//! Purpose: an array that a firing fills and then pushes, element by element, is written where its elements go: no array, no zeroes in it, no copy.
//! Input: a kernel after `lower_channels`. Output: the same.
//!
//! ```text
//! $y = zero  for $k = 0 < 8 step 1 { $y[$k] = (in($k) + in(($k + 8)))  $y[($k + 8)] = (in($k) - in(($k + 8))) }
//! for $i = 0 < 16 step 1 { out($i) = $y[$i] }
//!   →  for $k = 0 < 8 step 1 { out($k) = (in($k) + in(($k + 8)))  out(($k + 8)) = (in($k) - in(($k + 8))) }
//! ```
//!
//! What must hold: nothing else reads the array; every element is written once before it is pushed, and pushed once, all the same distance from where it was, or, where all indices of
//! writes are constants, in any order; nothing jumps. That is seen by running through the statements in question with the numbers of their loops: other numbers, and what data decide, are unknown, and an index that
//! is not known leaves the array as it is.

use super::clean::{self, trip};
use super::fold;
use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use std::collections::BTreeMap;

/// Elements of an array, at most: as many items as a firing can give in practice.
const LONGEST: u32 = 1 << 16;
/// Statements that are run through for an array, at most.
const MOST_STEPS: usize = 1 << 19;

/// Writes such arrays of a firing where they go.
pub fn run(kernel: &mut Kernel) {
    // a firing that decides on its rates may begin again
    if kernel.work.dynamic.is_some() {
        return;
    }
    let item = kernel.output.clone();
    let f = &mut kernel.functions[kernel.work.function.index()];
    let mut changed = false;
    for id in (f.params as usize..f.locals.len()).map(LocalId::from) {
        let local = &f.locals[id.index()];
        let length = local.ty.known_len().filter(|n| (1..=LONGEST).contains(n));
        let Some(length) = length.filter(|_| local.ty.element() == Some(&item) && !local.by_ref) else { continue };
        if let Some(found) = find(&f.body, id, length) {
            rewrite(&mut f.body, id, found);
            changed = true;
        }
    }
    if changed {
        fold::run(kernel);
        clean::run(kernel);
    }
}

/// An array that can be written where it goes.
struct Found {
    /// The statement that zeroes it.
    zeroed: Option<usize>,
    /// The statement that pushes it.
    pushes: usize,
    /// The positions of its elements; of the first one only, where the others follow.
    to: Vec<i32>,
    /// What the variables that count pushes are after these.
    after: Vec<(LocalId, i32)>,
}

fn find(body: &[Stmt], id: LocalId, length: u32) -> Option<Found> {
    let mut jumps = false;
    walk::each_stmt(body, &mut |s| {
        jumps |= matches!(s.kind, StmtKind::Return(_) | StmtKind::Break(_) | StmtKind::Continue(_));
    });
    let using: Vec<usize> = (0..body.len()).filter(|i| uses(&body[*i..=*i], id)).collect();
    let (pushes, before) = using.split_last().filter(|_| !jumps)?;
    let zeroed = before.first().copied().filter(|i| is_zero(&body[*i], id));
    let stores = &before[usize::from(zeroed.is_some())..];
    let mut fills = true;
    stores.iter().for_each(|i| fills &= only_written(&body[*i..=*i], id));
    if !fills || !only_pushes(&body[*pushes..=*pushes], id) {
        return None;
    }
    let mut run = Run { id, known: BTreeMap::new(), steps: 0, seen: vec![None; length as usize] };
    // all from the first store on: what is counted between them is used by them
    for s in &body[*stores.first()?..*pushes] {
        // once only, as what is pushed is
        run.stmt(s, &mut |seen, at, _| seen.get_mut(at).filter(|s| s.is_none()).map(|s| *s = Some(0)))?;
    }
    if run.seen.iter().any(Option::is_none) {
        return None;
    }
    (run.seen, run.known) = (vec![None; length as usize], BTreeMap::new());
    run.stmt(&body[*pushes], &mut |seen, at, to| {
        let to = to?;
        // once only
        seen.get_mut(at).filter(|s| s.is_none()).map(|s| *s = Some(to - at as i64))
    })?;
    let first = run.seen[0]?;
    let same = run.seen.iter().all(|s| *s == Some(first));
    let to: Vec<i32> = if same {
        vec![i32::try_from(first).ok()?]
    } else {
        let to = run.seen.iter().enumerate().map(|(at, s)| i32::try_from((*s)? + at as i64).ok());
        to.collect::<Option<_>>()?
    };
    let known = run.known.iter().map(|(id, n)| i32::try_from(*n).ok().map(|n| (*id, n)));
    let constant = stores.iter().all(|i| writes_constants(&body[*i..=*i], id));
    (same || constant).then_some(())?;
    Some(Found { zeroed, pushes: *pushes, to, after: known.collect::<Option<_>>()? })
}

fn uses(body: &[Stmt], id: LocalId) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| found |= s.kind.targets().iter().any(|p| p.base == Base::Local(id)));
    found || reads(body, id)
}

fn reads(body: &[Stmt], id: LocalId) -> bool {
    let mut found = false;
    walk::each_expr(body, &mut |e| {
        found |= matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(id));
    });
    found
}

fn is_zero(s: &Stmt, id: LocalId) -> bool {
    matches!(&s.kind, StmtKind::Assign(p, e) if p.as_local() == Some(id) && e.kind == ExprKind::Zero)
}

/// Is every use of the array an assignment to a whole element?
fn only_written(body: &[Stmt], id: LocalId) -> bool {
    let mut only = !reads(body, id);
    walk::each_stmt(body, &mut |s| {
        let target = s.kind.targets().into_iter().find(|p| p.base == Base::Local(id));
        only &= match (target, &s.kind) {
            (None, _) => true,
            (Some(p), StmtKind::Assign(..)) => element(p, id).is_some(),
            _ => false,
        };
    });
    only
}

/// Are the indices of the elements that are written constants?
fn writes_constants(body: &[Stmt], id: LocalId) -> bool {
    let mut constant = true;
    walk::each_stmt(body, &mut |s| {
        constant &= s.kind.targets().iter().all(|p| element(p, id).is_none_or(|i| i.as_int().is_some()));
    });
    constant
}

/// Are these loops of pushes of elements, and nothing else?
fn only_pushes(body: &[Stmt], id: LocalId) -> bool {
    body.iter().all(|s| match &s.kind {
        StmtKind::For(l) => only_pushes(&l.body, id),
        StmtKind::Assign(Place { base: Base::Out(_), path }, e) => {
            path.is_empty() && matches!(&e.kind, ExprKind::Load(p) if element(p, id).is_some())
        }
        _ => false,
    })
}

/// The index of a place that is a whole element of the array.
fn element(p: &Place, id: LocalId) -> Option<&Expr> {
    match p.path.as_slice() {
        [Proj::Index(i)] if p.base == Base::Local(id) => Some(i),
        _ => None,
    }
}

/// What is done with an element: what is known of each, its index, the position it is pushed to. `None`: it is not as it must be.
type Each<'a> = dyn FnMut(&mut [Option<i64>], usize, Option<i64>) -> Option<()> + 'a;

/// A way through statements with the numbers that are known.
struct Run {
    id: LocalId,
    known: BTreeMap<LocalId, i64>,
    steps: usize,
    /// By element.
    seen: Vec<Option<i64>>,
}

impl Run {
    fn stmt(&mut self, s: &Stmt, each: &mut Each<'_>) -> Option<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        match &s.kind {
            StmtKind::For(l) if uses(&l.body, self.id) => {
                let ((turns, last), from) = (trip(l)?, i64::from(l.from.as_int()?));
                for t in 0..turns as i64 {
                    self.known.insert(l.var, from + t * i64::from(l.step));
                    l.body.iter().try_for_each(|s| self.stmt(s, each))?;
                    // a loop that its own turns move is another kind of loop
                    if self.known.get(&l.var) != Some(&(from + t * i64::from(l.step))) {
                        return None;
                    }
                }
                self.known.insert(l.var, last.into());
            }
            StmtKind::Assign(p, e) => {
                if let Some(index) = element(p, self.id) {
                    let index = self.value(index)?;
                    each(&mut self.seen, usize::try_from(index).ok()?, None)?;
                } else if let (Base::Out(to), ExprKind::Load(from)) = (&p.base, &e.kind)
                    && let Some(index) = element(from, self.id)
                {
                    let (index, to) = (self.value(index)?, self.value(to)?);
                    each(&mut self.seen, usize::try_from(index).ok()?, Some(to))?;
                } else if let Some(id) = p.as_local() {
                    let value = self.value(e);
                    self.known.remove(&id);
                    self.known.extend(value.map(|n| (id, n)));
                }
            }
            // stores that data decide on would have to be known
            _ if uses(std::slice::from_ref(s), self.id) => return None,
            _ => walk::each_written(std::slice::from_ref(s), &mut |id| {
                self.known.remove(&id);
            }),
        }
        Some(())
    }

    /// An int that is known, and did not wrap.
    fn value(&self, e: &Expr) -> Option<i64> {
        known_int(&self.known, e)
    }
}

/// An int that follows from known ones without wrapping.
pub(super) fn known_int(known: &BTreeMap<LocalId, i64>, e: &Expr) -> Option<i64> {
    let n = match &e.kind {
        ExprKind::Const(Const::Int(i)) => i64::from(*i),
        ExprKind::Load(p) => *known.get(&p.as_local()?)?,
        ExprKind::Unary(UnaryOp::Neg, a) => -known_int(known, a)?,
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (known_int(known, a)?, known_int(known, b)?);
            match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a.checked_div(b)?,
                BinaryOp::Rem => a.checked_rem(b)?,
                BinaryOp::BitAnd => a & b,
                BinaryOp::Shr if (0..32).contains(&b) => a >> b,
                _ => return None,
            }
        }
        _ => return None,
    };
    i32::try_from(n).ok().map(i64::from)
}

fn rewrite(body: &mut Vec<Stmt>, id: LocalId, found: Found) {
    walk::each_target_mut(&mut body[..found.pushes], &mut |p| {
        if let (Base::Local(of), Some(Proj::Index(_))) = (&p.base, p.path.first())
            && *of == id
            && let Some(Proj::Index(i)) = p.path.pop()
        {
            let to = match (found.to.as_slice(), i.as_int()) {
                ([first], _) => Expr::add(i, Expr::int(*first)),
                (all, at) => Expr::int(at.and_then(|at| all.get(at as usize)).copied().unwrap_or(0)),
            };
            p.base = Base::Out(Box::new(to));
        }
    });
    let span = body[found.pushes].span;
    let after = found.after.into_iter().map(|(id, n)| StmtKind::Assign(Place::local(id), Expr::int(n)).at(span));
    body.splice(found.pushes..=found.pushes, after);
    if let Some(at) = found.zeroed {
        body.remove(at);
    }
}

#[cfg(test)]
mod tests;
