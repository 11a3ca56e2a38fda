//! # polls
//!
//! Purpose: loops of device code that end though what they are given is not what the program gives them. Input: a function of the kernel IR. Output: which loops have no
//! known bound; C++ that has them look, every so many turns, whether the run has failed.
//!
//! ```text
//! while (n != 1) ...   →   for (uint32_t turns_3 = 1;; SL_TURN(turns_3)) {
//!                              if (SL_OVER(turns_3)) { ctx->failed = 1; return; }
//! ```
//!
//! A firing that fails leaves its items unwritten, and others go on with whatever is there: a loop that ends for all items of the program need not end for those. Everything
//! that such a run makes is dropped, so a loop may be left anywhere. One whose bounds are made of constants, and of what other such loops count, ends by itself, and stays
//! as it is: the loops over windows and tables, where the time goes.

use super::print_function::Printer;
use sluice_frontend::ids::*;
use sluice_kernel::ir::*;
use sluice_kernel::walk;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The variables that only loops with a known bound count.
pub(crate) fn counters(body: &[Stmt]) -> BTreeSet<LocalId> {
    let (mut loops, mut written): (Vec<&For>, BTreeSet<LocalId>) = (Vec::new(), BTreeSet::new());
    walk::each_stmt(body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            loops.push(l);
        }
        for p in s.kind.targets() {
            if let Base::Local(id) = p.base {
                written.insert(id);
            }
        }
    });
    let mut found: BTreeSet<LocalId> = loops.iter().map(|l| l.var).filter(|v| !written.contains(v)).collect();
    // taking one out may take out those whose bounds it is in
    while let Some(l) = loops.iter().find(|l| found.contains(&l.var) && !is_bounded(l, &found)) {
        found.remove(&l.var);
    }
    found
}

/// Is it known how often a loop turns at most, whatever the firing gets?
fn is_bounded(l: &For, counters: &BTreeSet<LocalId>) -> bool {
    let known = |e: &Expr| {
        !e.any(&mut |e| match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero => false,
            ExprKind::Load(p) => p.as_local().is_none_or(|id| !counters.contains(&id)),
            ExprKind::Binary(op, ..) => !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul),
            _ => true,
        })
    };
    known(&l.from) && known(&l.to)
}

/// Has a kernel a loop that only the values of items or states end?
pub(crate) fn may_not_end(kernel: &Kernel) -> bool {
    kernel.functions.iter().any(|f| {
        let counters = counters(&f.body);
        let mut found = false;
        walk::each_stmt(&f.body, &mut |s| {
            found |= match &s.kind {
                StmtKind::Loop(_) => true,
                StmtKind::For(l) => !counters.contains(&l.var) && !is_bounded(l, &counters),
                _ => false,
            }
        });
        found
    })
}

impl Printer<'_> {
    /// Begins a loop without end; with the line that leaves it where the run has failed.
    pub(super) fn endless(&mut self, pad: &str) {
        if !self.polls() {
            let _ = writeln!(self.out, "{pad}for (;;) {{");
            return;
        }
        let turns = format!("turns_{}", self.serial + 1);
        let leave = self.leave();
        let _ = writeln!(
            self.out,
            "{pad}for (uint32_t {turns} = 1;; SL_TURN({turns})) {{\n{pad}    if (SL_OVER({turns})) {{ ctx->failed = 1; {leave}; }}"
        );
    }

    /// The same line before such a loop as counts to a bound that nobody knows, which is evaluated once: the name of what counts its turns.
    pub(super) fn counts(&self, l: &For) -> Option<String> {
        (self.polls() && !is_bounded(l, &self.counters)).then(|| format!("turns_{}", self.serial + 1))
    }

    fn polls(&self) -> bool {
        self.device() && self.options.device.polls
    }
}
