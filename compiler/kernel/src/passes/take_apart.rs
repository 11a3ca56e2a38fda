//! # take-apart
//!
//! Purpose: a filter with a state whose firings do more than its state needs becomes several: what needs only the window stands before it, what only follows from its fields behind it. Those have
//! no state, so that their firings go side by side; what is left fires one after another, and does little. Input: a kernel after `lower-channels`. Output: the kernels of the parts; the driver
//! makes a pipeline of them.
//!
//! ```text
//! work pop 1 push 1 { phase += f(pop()); push(cos(phase)); }
//!     →   { push(f(pop())); }   { phase += pop(); push(phase); }   { push(cos(pop())); }
//! ```
//!
//! A statement of the firing's own list, with the checks before it, is a unit. Units use values of other units, of this firing or, through fields, of earlier ones. Between units that write fields, and on a way
//! from one to another, all belongs to the part with the state; what no field's value comes to stands before it, the rest behind. What one unit of a later part computes of the window alone is done before, too.
//! Variables that one part sets and a later one reads are the items between them.
//!
//! Invariant: every operation is done once in a firing, of the same operands; each part fires as often as the filter, so what a firing takes and gives, and when, is the same.
//!
//! Limits: [`MOST_UNITS`] statements, [`MOST_ITEMS`] variables between two parts, all of one type (or booleans beside ints or floats); arrays do not pass. No first firing of its own, no handlers, calls, prints, no
//! `iter()`; checks in the first part only: no part may do what a check in a later one should have prevented, and the first fault stays the first. Taken apart is what is a quarter faster so by the estimate below.

mod parts;
mod units;

use self::parts::Plan;
use self::units::{Uses, reached, uses};
use crate::cost::{self, Cost};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Part;
use std::collections::BTreeSet;

/// Statements of a firing's own list.
const MOST_UNITS: usize = 256;

/// Variables that pass between two parts.
const MOST_ITEMS: usize = 8;

/// Firings that go side by side, in the estimate: operations of so many take the time of one.
const WIDE: u64 = 6;

/// Thirds of a cycle that an operation takes by itself, where three are done at once.
const BUSY: Cost = Cost { float: 1, int: 1, divide: 15, function: 60, load: 1, store: 1, branch: 1, call: 60 };

/// Thirds of a cycle that whoever waits for an operation waits for it; half of the operations of a part wait for one another.
const LATE: Cost = Cost { float: 12, int: 3, divide: 36, function: 120, load: 0, store: 0, branch: 3, call: 60 };

/// Parts in their order, each with its kernel.
pub type Parts = Vec<(Part, Kernel)>;

/// The parts of a filter, where it is taken apart: where that is faster by the estimate, or `always` where it can be.
pub fn found(kernel: &Kernel, always: bool) -> Option<Parts> {
    let (parts, whole, sum) = best(kernel)?;
    (always || sum.saturating_mul(5) <= whole.saturating_mul(4)).then_some(parts)
}

/// The best way to take a filter apart, the time of a firing of all of it, and of its parts.
fn best(kernel: &Kernel) -> Option<(Parts, u64, u64)> {
    let plain = kernel.prework.is_none() && kernel.handlers.is_empty() && kernel.work.dynamic.is_none();
    let rates = kernel.work.rates;
    if kernel.state.is_empty() || !plain || rates.pop == 0 || rates.push == 0 {
        return None;
    }
    let mut kernel = kernel.clone();
    super::prove_checks::run(&mut kernel);
    let kernel = &kernel;
    let mut function = kernel.function(kernel.work.function).clone();
    if function.body.len() > MOST_UNITS {
        return None;
    }
    let units = units::units(&mut function)?;
    let uses = uses(&units, &function);
    let parts = classes(&uses, &units);
    let has = |p: Part| parts.contains(&p);
    let mut best: Option<(u64, Parts)> = None;
    let late = late(kernel, &function, &units, &parts);
    let whole = cost::firing(kernel).weighted(&BUSY).max(late);
    for (before, after) in [(true, true), (true, false), (false, true)] {
        if before && !has(Part::Before) || after && !has(Part::After) {
            continue;
        }
        let part = |p: Part| match p {
            Part::Before if !before => Part::State,
            Part::After if !after => Part::State,
            p => p,
        };
        let all = units.iter().zip(&parts).map(|(u, p)| (part(*p), u.clone())).collect();
        let plan = Plan { kernel, function: function.clone(), units: all };
        let Some(kernels) = plan.kernels() else { continue };
        if kernels.iter().skip(1).any(|(_, k)| k.has_checks()) || kernels.len() < 2 {
            continue;
        }
        let sum: u64 = kernels.iter().map(|(p, k)| time(*p, k, late)).sum();
        if best.as_ref().is_none_or(|(least, _)| sum < *least) {
            best = Some((sum, kernels));
        }
    }
    best.map(|(sum, kernels)| (kernels, whole, sum))
}

/// The part before the state, as a pass.
pub fn before(kernel: &mut Kernel) {
    take(kernel, Part::Before);
}

/// The part with the state.
pub fn state(kernel: &mut Kernel) {
    take(kernel, Part::State);
}

/// The part behind it.
pub fn after(kernel: &mut Kernel) {
    take(kernel, Part::After);
}

fn take(kernel: &mut Kernel, part: Part) {
    if let Some((_, new)) = best(kernel).into_iter().flat_map(|(parts, ..)| parts).find(|(p, _)| *p == part) {
        *kernel = new;
    }
}

/// The part of each unit.
fn classes(uses: &Uses, units: &[units::Unit]) -> Vec<Part> {
    let n = uses.of.len();
    let mut users = vec![BTreeSet::new(); n];
    for (u, of) in uses.of.iter().enumerate() {
        for o in of {
            users[*o].insert(u);
        }
    }
    let (follows, needed) = (reached(&uses.writers, &users), reached(&uses.writers, &uses.of));
    let mut parts: Vec<Part> = (0..n)
        .map(|u| match (follows.contains(&u), needed.contains(&u)) {
            (true, true) => Part::State,
            (true, false) => Part::After,
            _ => Part::Before,
        })
        .collect();
    // the last part gives all items
    let gives = |parts: &[Part], p: Part| units.iter().zip(parts).any(|(u, part)| *part == p && u.gives);
    let last = if gives(&parts, Part::State) || !gives(&parts, Part::After) { Part::State } else { Part::After };
    for (unit, part) in units.iter().zip(&mut parts) {
        if unit.gives || *part > last {
            *part = last;
        }
    }
    parts
}

/// How long the part with the state takes at least, as its operations wait for one another from firing to firing.
fn late(kernel: &Kernel, f: &Function, units: &[units::Unit], parts: &[Part]) -> u64 {
    let own = units.iter().zip(parts).filter(|(_, p)| **p == Part::State);
    let body: Vec<Stmt> = own.flat_map(|(u, _)| u.stmts.iter().cloned()).collect();
    let mut part = kernel.clone();
    part.functions = vec![Function { body, ..f.clone() }];
    part.work.function = FuncId(0);
    cost::firing(&part).weighted(&LATE) / 2
}

/// How long a firing of a part takes, about, in thirds of a cycle.
fn time(part: Part, kernel: &Kernel, late: u64) -> u64 {
    let all = cost::firing(kernel).weighted(&BUSY);
    if part == Part::State && super::delay_lines::found(kernel).is_none() {
        return all.max(late);
    }
    // functions that no vector has are called for each firing
    let mut calls = 0;
    for f in &kernel.functions {
        walk::each_expr(&f.body, &mut |e| calls += u64::from(called(e)) * BUSY.function);
    }
    let calls = calls.min(all);
    calls + (all - calls).div_ceil(WIDE)
}

/// Is it a function that firings side by side call one by one?
fn called(e: &Expr) -> bool {
    let ExprKind::Builtin(f, args) = &e.kind else { return false };
    let in_vectors =
        matches!(f, Builtin::Sin | Builtin::Cos | Builtin::Tan | Builtin::Atan | Builtin::Atan2 | Builtin::Arg);
    cost::operation(e).function > 0 && !(in_vectors && args.iter().all(|a| matches!(a.ty, Ty::Float)))
}

#[cfg(test)]
mod tests;
