//! # prove-checks
//!
//! Purpose: removes the checks that can be shown to hold. Input, output: any kernel.
//!
//! ```text
//! for $i = 0 < 8 step 1 { check index $i 8  $s = ($s + table0[$i]) }   →   the same without the check
//! ```
//!
//! What can be shown is what [`super::intervals`] finds: bounds of loop variables, sums, products, remainders and masks, conditions,
//! state fields that stay within bounds from firing to firing.

use super::intervals::{Facts, Range, each_check};
use crate::ir::*;
use std::collections::BTreeSet;

/// Removes what can be shown, in all functions.
pub fn run(kernel: &mut Kernel) {
    knowing(kernel, Range::ALL);
}

/// The same where the ints that the filter takes are known to lie within a range.
pub fn knowing(kernel: &mut Kernel, input: Range) {
    if !kernel.has_checks() {
        return;
    }
    let facts = Facts::knowing(kernel, input);
    let mut proved = BTreeSet::new();
    let mut doubtful = BTreeSet::new();
    for f in &kernel.functions {
        each_check(kernel, &facts, f, &mut |c, at, env| {
            if env.proves(c) {
                proved.insert(at);
            } else {
                doubtful.insert(at);
            }
        });
    }
    // statements have kept their addresses: nothing was moved since
    let gone = |s: &Stmt| {
        let at = std::ptr::from_ref(s) as usize;
        proved.contains(&at) && !doubtful.contains(&at)
    };
    let kept: Vec<Vec<Stmt>> = kernel.functions.iter().map(|f| without(&f.body, &gone)).collect();
    for (f, body) in kernel.functions.iter_mut().zip(kept) {
        f.body = body;
    }
}

/// A copy of the statements without some of them.
fn without(body: &[Stmt], gone: &dyn Fn(&Stmt) -> bool) -> Vec<Stmt> {
    body.iter()
        .filter(|s| !gone(s))
        .map(|s| {
            let kind = match &s.kind {
                StmtKind::If(c, a, b) => StmtKind::If(c.clone(), without(a, gone), without(b, gone)),
                StmtKind::For(l) => StmtKind::For(Box::new(For { body: without(&l.body, gone), ..(**l).clone() })),
                StmtKind::Loop(b) => StmtKind::Loop(without(b, gone)),
                StmtKind::Block(b) => StmtKind::Block(without(b, gone)),
                other => other.clone(),
            };
            kind.at(s.span)
        })
        .collect()
}
