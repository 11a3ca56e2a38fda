//! # delay-lines
//!
//! Purpose: fields that hold the last items, and nothing else, are read from the window: a filter that keeps its own delay line has no state any more, and its firings go side by side.
//! Input: a kernel after `lower-channels`, with its fields as the program has them. Output: the same without fields, whose window begins some items earlier; or the same.
//!
//! ```text
//! work peek 1 pop 1 { push in(0) - state0  state0 = in(0) }     →     work peek 2 pop 1 { push in(1) - in(0) }
//! ```
//!
//! Firings are gone through as they would be executed, with what variables and fields hold: an item, what another element held, a value made of items, an int that counts. After a *period*, when every field that
//! counts is where it began, each element must hold an item, something made of few items, or what another one held, and so on without coming back: a shift register after one firing, a ring after as many
//! as it has elements. What a read has given, each time it was come to, is then an item at a place that the turns of the loops around it say (`delay_lines/fit.rs`).
//! Items that would have come before the first firing are what the fields hold in the beginning; they wait on the channel.
//!
//! Invariant: the firing that takes item n reads of a field what it would have held, to the last bit: items are moved, and what is made of them is made by the operations that made it. The driver sees to
//! the items that wait, in the same program ([`found`]).
//!
//! Limits: nothing else may be state; no first firing of its own, no handlers, prints, calls; [`MOST_ELEMENTS`], [`MOST_ITEMS`], [`MOST_STEPS`].

mod counters;
mod firing;
mod fit;
mod registers;
mod values;

use super::{clean, fold, lanes};
use crate::ir::*;
use crate::walk;
use firing::{Firings, Site, site};
use fit::Fit;
use sluice_frontend::constant::Const;
use sluice_frontend::ops::Scalar;
use sluice_frontend::ty::Ty;
use std::collections::HashMap;
use values::{Elements, Value};

/// Elements of all fields of a filter.
const MOST_ELEMENTS: usize = 1 << 12;

/// Items that wait.
const MOST_ITEMS: i64 = 1 << 12;

/// Statements and expressions that are looked at in a filter.
const MOST_STEPS: u64 = 1 << 21;

/// Firings after which what counts has begun again.
const MOST_FIRINGS: u32 = 1 << 12;

/// The items that wait before the first firing; `None` where the pass leaves the kernel as it is.
pub fn found(kernel: &Kernel) -> Option<Vec<Const>> {
    rewritten(kernel).map(|(_, waiting)| waiting)
}

/// Reads fields from the window.
pub fn run(kernel: &mut Kernel) {
    if let Some((new, _)) = rewritten(kernel) {
        *kernel = new;
    }
}

fn rewritten(kernel: &Kernel) -> Option<(Kernel, Vec<Const>)> {
    let rates = kernel.work.rates;
    let plain = kernel.prework.is_none() && kernel.handlers.is_empty() && kernel.work.dynamic.is_none();
    if kernel.state.is_empty() || !plain || rates.pop == 0 || rates.push == 0 {
        return None;
    }
    // bits of a field that are items are parts of it then, put together in each firing: which is more to do, where firings do not go side by side
    let of_bits = || read_from_window(registers::apart(kernel)?).filter(|(k, _)| lanes::possible(k, true));
    read_from_window(kernel.clone()).or_else(of_bits)
}

/// The same of a kernel whose fields are what they are.
fn read_from_window(mut kernel: Kernel) -> Option<(Kernel, Vec<Const>)> {
    let rates = kernel.work.rates;
    let (fit, held) = analysed(&kernel)?;
    let work = kernel.work.function.index();
    let f = &mut kernel.functions[work];
    let whole = replace(f, &fit, &held);
    remove_unused(f);
    let mut named = !whole;
    for f in &kernel.functions {
        walk::each_expr(&f.body, &mut |e| {
            named |= matches!(&e.kind, ExprKind::Load(Place { base: Base::State(_), .. }));
        });
        walk::each_stmt(&f.body, &mut |s| {
            named |= s.kind.targets().iter().any(|p| matches!(p.base, Base::State(_)));
        });
    }
    if named {
        return None;
    }
    kernel.state.clear();
    kernel.work.rates.peek = rates.peek.checked_add(fit.behind)?;
    fold::run(&mut kernel);
    clean::run(&mut kernel);
    Some((kernel, fit.waiting))
}

/// What reads become, and by check whether it always holds.
fn analysed(kernel: &Kernel) -> Option<(Fit, HashMap<Site, bool>)> {
    let elements = Elements::of(kernel, MOST_ELEMENTS)?;
    let initial: Vec<Option<Scalar>> = (0..elements.total()).map(|i| elements.initial(kernel, i)).collect();
    // fields that may count: single ints and booleans
    let single: Vec<bool> = kernel.state.iter().map(|s| matches!(s.ty, Ty::Int | Ty::Bool)).collect();
    if counters::stay(kernel, &single) {
        return None;
    }
    let mut counts = vec![false; elements.total()];
    for i in (0..single.len()).filter(|i| single[*i]) {
        counts[elements.of_field(StateId::from(i))].fill(true);
    }
    let mut steps = 0;
    loop {
        let mut firings = Firings::of(kernel, &elements, &counts, MOST_STEPS.saturating_sub(steps));
        let begin: Vec<Value> = (0..elements.total())
            .map(|i| if counts[i] { Value::of(initial[i]) } else { Value::Old(i as u32) })
            .collect();
        let mut now = begin.clone();
        let mut fired = 0;
        let dropped = loop {
            now = firings.fire(now)?;
            fired += 1;
            let unknown: Vec<usize> = (0..now.len()).filter(|i| counts[*i] && now[*i].known().is_none()).collect();
            if !unknown.is_empty() {
                break unknown;
            }
            if (0..now.len()).all(|i| !counts[i] || now[i] == begin[i]) {
                let fit = fit::fit(kernel, &elements, &firings, &now, fired, MOST_ITEMS)?;
                return Some((fit, firings.checks));
            }
            if fired == MOST_FIRINGS {
                return None;
            }
        };
        // these hold something else
        steps += firings.steps();
        dropped.into_iter().for_each(|i| counts[i] = false);
    }
}

/// Puts items in the place of fields. False where a position is too large.
fn replace(f: &mut Function, fit: &Fit, checks: &HashMap<Site, bool>) -> bool {
    let mut whole = true;
    let behind = i64::from(fit.behind);
    walk::each_expr_mut(&mut f.body, &mut |e| {
        let at = site(e);
        let ExprKind::Load(p) = &mut e.kind else { return };
        match &mut p.base {
            Base::In(position) => **position = Expr::add((**position).clone(), Expr::int(fit.behind as i32)),
            Base::State(_) if let Some(read) = fit.reads.get(&at) => {
                let path: Vec<Proj> = p.path.iter().filter(|p| !matches!(p, Proj::Index(_))).cloned().collect();
                let mut form = read.form.clone();
                form.walk_mut(&mut |e| {
                    if let ExprKind::Load(Place { base: Base::In(k), .. }) = &mut e.kind {
                        let position = k.as_int().and_then(|k| read.items.get(k as usize)?.expr(behind));
                        whole &= position.is_some();
                        **k = position.unwrap_or_else(|| Expr::int(0));
                    }
                });
                for step in path {
                    form = match (step, form.kind) {
                        (Proj::Component(c), ExprKind::Load(p)) => Expr::load(p.then(Proj::Component(c)), e.ty.clone()),
                        (Proj::Component(c), kind) => Expr {
                            kind: ExprKind::Component(Box::new(Expr { kind, ty: form.ty }), c),
                            ty: e.ty.clone(),
                        },
                        (_, kind) => {
                            whole = false;
                            Expr { kind, ty: form.ty }
                        }
                    };
                }
                *e = form;
            }
            _ => {}
        }
    });
    walk::each_stmt_mut(&mut f.body, &mut |s| {
        let gone = match &s.kind {
            StmtKind::Assign(Place { base: Base::State(_), .. }, _) => true,
            // one that no firing comes to is gone, too
            StmtKind::Check(_) => checks.get(&site(s)).is_none_or(|holds| *holds),
            _ => false,
        };
        if gone {
            s.kind = StmtKind::Block(Vec::new());
        }
    });
    whole
}

/// Removes what only counts for fields that are gone: assignments to variables that nothing with an effect reads, loops of such.
fn remove_unused(f: &mut Function) {
    let mut used = vec![false; f.locals.len()];
    loop {
        let before = used.iter().filter(|u| **u).count();
        mark(&f.body, &mut used);
        if used.iter().filter(|u| **u).count() == before {
            break;
        }
    }
    remove(&mut f.body, &used);
}

/// Marks what needed statements read. Is one of these needed?
fn mark(body: &[Stmt], used: &mut [bool]) -> bool {
    let mut any = false;
    for s in body {
        let needed = match &s.kind {
            StmtKind::Assign(Place { base: Base::Local(id), .. }, _) => used[id.index()],
            StmtKind::If(_, a, b) => mark(a, used) | mark(b, used),
            StmtKind::For(l) => mark(&l.body, used) | used[l.var.index()],
            StmtKind::Block(body) => mark(body, used),
            StmtKind::Loop(body) => {
                mark(body, used);
                true
            }
            _ => true,
        };
        if needed {
            any = true;
            s.kind.each_own_expr(&mut |e| {
                e.walk(&mut |e| {
                    if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind {
                        used[id.index()] = true;
                    }
                });
            });
        }
    }
    any
}

/// Removes what is not needed.
fn remove(body: &mut Vec<Stmt>, used: &[bool]) {
    body.retain_mut(|s| {
        for b in s.kind.bodies_mut() {
            remove(b, used);
        }
        match &s.kind {
            StmtKind::Assign(Place { base: Base::Local(id), .. }, _) => used[id.index()],
            StmtKind::If(_, a, b) => !a.is_empty() || !b.is_empty(),
            StmtKind::For(l) => !l.body.is_empty() || used[l.var.index()],
            StmtKind::Block(body) => !body.is_empty(),
            _ => true,
        }
    });
}

#[cfg(test)]
mod tests;
