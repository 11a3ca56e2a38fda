//! What all evaluation at compile time may use up together.
//!
//! A single loop is bounded by its steps; but a program can have thousands of `init` blocks, each within its bound. So the steps of all
//! of them, and the elements of the arrays that stay as constants, are taken from one budget for the whole compilation.

use super::error::{Eval, EvalError, EvalErrorKind};
use crate::constant::Const;
use crate::ty::Ty;
use crate::typed::Globals;
use sluice_grammar::span::Span;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of all constant expressions, `init` and static blocks.
pub const COMPILE_TIME_FUEL: u64 = 100_000_000;

/// Elements of arrays and fields of structs that constants hold, all together.
pub const MAX_HELD: u64 = 1 << 25;

/// Bytes that all `init` blocks print.
pub const MAX_PRINTED: u64 = 1 << 26;

/// What has been used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Steps that are left, elements, bytes; or how many fewer than before.
    steps: u64,
    held: u64,
    printed: u64,
}

impl Spent {
    /// What has been used up since.
    pub fn since(self, before: Spent) -> Spent {
        let used = |now: u64, then: u64| then.saturating_sub(now);
        Spent {
            steps: used(self.steps, before.steps),
            held: used(self.held, before.held),
            printed: used(self.printed, before.printed),
        }
    }
}

/// What is left.
#[derive(Clone, Debug)]
pub struct Budget {
    steps: Cell<u64>,
    held: Cell<u64>,
    printed: Cell<u64>,
    cancel: Option<Arc<AtomicBool>>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::with_steps(COMPILE_TIME_FUEL)
    }
}

impl Budget {
    /// A budget with so many steps.
    pub fn with_steps(steps: u64) -> Budget {
        Budget { steps: Cell::new(steps), held: Cell::new(MAX_HELD), printed: Cell::new(MAX_PRINTED), cancel: None }
    }

    /// The same budget, at an end once this is set from outside.
    pub fn until(self, cancel: Option<Arc<AtomicBool>>) -> Budget {
        Budget { cancel, ..self }
    }

    /// What is left, but so many steps at most, for a look at something that is evaluated again.
    pub fn at_most(&self, steps: u64) -> Budget {
        Budget { steps: Cell::new(self.steps.get().min(steps)), ..self.clone() }
    }

    /// Does nobody wait any more for what is evaluated?
    pub fn cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|c| c.load(Ordering::Relaxed))
    }

    /// An error where nobody waits any more: as if nothing were left.
    pub(super) fn goes_on(&self) -> Result<(), EvalErrorKind> {
        match self.cancelled() {
            true => Err(EvalErrorKind::OutOfFuel),
            false => Ok(()),
        }
    }

    /// Where it stands.
    pub fn spent(&self) -> Spent {
        Spent { steps: self.steps.get(), held: self.held.get(), printed: self.printed.get() }
    }

    /// Uses up as much as something did before; nothing, and false, where not so much is left.
    pub fn spend(&self, spent: Spent) -> bool {
        let all = [(&self.steps, spent.steps), (&self.held, spent.held), (&self.printed, spent.printed)];
        // with nothing left there would have been an error
        let enough = all.iter().all(|(left, n)| left.get() > *n);
        if enough {
            all.iter().for_each(|(left, n)| left.set(left.get() - n));
        }
        enough
    }

    /// Steps left.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// So many are left now.
    pub(super) fn set_steps(&self, steps: u64) {
        self.steps.set(steps);
    }

    /// So many elements will be held. An error where they are too many.
    pub fn hold(&self, items: u64) -> Result<(), EvalErrorKind> {
        take(&self.held, items).ok_or(EvalErrorKind::TooManyConstants)
    }

    /// So many bytes were printed.
    pub(super) fn print(&self, bytes: usize) -> Result<(), EvalErrorKind> {
        take(&self.printed, bytes as u64).ok_or(EvalErrorKind::PrintsTooMuch)
    }

    /// A value that stays; an error where it is one too many.
    pub(super) fn keep(&self, c: Const, span: Span) -> Eval<Const> {
        match self.hold(held(&c)) {
            Ok(()) => Ok(c),
            Err(kind) => Err(EvalError::new(kind, span)),
        }
    }

    /// The zero of a type, as [`super::value::zero_const`].
    pub fn zero(&self, globals: &Globals, ty: &Ty) -> Option<Const> {
        if ty.is_aggregate() {
            self.hold(super::value::size(ty, globals).ok()?).ok()?;
        }
        super::value::zero_const(globals, ty)
    }
}

fn take(from: &Cell<u64>, n: u64) -> Option<()> {
    let left = from.get().checked_sub(n);
    from.set(left.unwrap_or(0));
    left.map(|_| ())
}

/// Elements in a constant, inner ones included.
fn held(c: &Const) -> u64 {
    match c {
        Const::Array(items) | Const::Struct(items) => match items.first() {
            Some(Const::Array(_) | Const::Struct(_)) => items.iter().map(held).sum::<u64>() + items.len() as u64,
            _ => items.len() as u64 + if matches!(c, Const::Struct(_)) { items.iter().map(held).sum() } else { 0 },
        },
        _ => 0,
    }
}
