//! # print-unroll
//!
//! Purpose: loops of device code that are written out, so that the tables which they read become part of the instructions. Input: a kernel. Output: is a loop one of them, does nothing
//! else read a table.
//!
//! ```text
//! for (i = 0; i < 64; i++) sum += h[i] * in[i]      SL_UNROLL before it: products by 64 constants, where each would be read from constant memory, and often be
//!                                                   waited for
//! ```
//!
//! What must hold: nothing but speed hangs on it. A table whose every index is then known takes no constant memory ([`crate::cuda`]'s constants leave it out).

use sluice_frontend::ids::LocalId;
use sluice_kernel::ir::*;
use sluice_kernel::passes::clean::trip;
use sluice_kernel::passes::unroll::written_out_size;
use sluice_kernel::walk;
use std::collections::BTreeSet;

/// Statements and operations that a loop may become.
const MOST: u64 = 2048;

/// Is a loop short, and does it count the elements of a table?
pub(super) fn is_written_out(kernel: &Kernel, l: &For) -> bool {
    if !is_short(l) {
        return false;
    }
    let mut counts = false;
    walk::each_expr(&l.body, &mut |e| {
        if let Some((_, indices)) = table(kernel, e) {
            counts |= indices.iter().any(|i| i.any(&mut |e| local(e) == Some(l.var)));
        }
    });
    counts
}

fn is_short(l: &For) -> bool {
    trip(l).is_some_and(|(n, _)| n.saturating_mul(written_out_size(&l.body)) <= MOST)
}

/// The kernel's own table that an expression reads, and its indices.
fn table<'a>(kernel: &Kernel, e: &'a Expr) -> Option<(TableId, Vec<&'a Expr>)> {
    let ExprKind::Load(p) = &e.kind else { return None };
    let Base::Table(id) = p.base else { return None };
    let index = |step: &'a Proj| if let Proj::Index(e) = step { Some(e) } else { None };
    kernel.tables[id.index()].shared.is_none().then(|| (id, p.path.iter().filter_map(index).collect()))
}

fn local(e: &Expr) -> Option<LocalId> {
    if let ExprKind::Load(p) = &e.kind { p.as_local() } else { None }
}

/// What is read at known indices only where loops are written out.
pub(crate) struct Known {
    /// Tables.
    pub(crate) tables: BTreeSet<TableId>,
    /// Is the input?
    pub(crate) input: bool,
}

/// Finds it.
pub(crate) fn known(kernel: &Kernel) -> Known {
    let (mut read, mut unknown, mut input) = (BTreeSet::new(), BTreeSet::new(), true);
    for f in &kernel.functions {
        let (mut counters, mut others) = (BTreeSet::new(), BTreeSet::new());
        walk::each_stmt(&f.body, &mut |s| {
            if let StmtKind::For(l) = &s.kind {
                if is_written_out(kernel, l) {
                    counters.insert(l.var)
                } else {
                    others.insert(l.var)
                };
            }
        });
        walk::each_stmt(&f.body, &mut |s| {
            // a value of a table may be an array as a whole: it is looked at as such
            for p in s.kind.targets() {
                if let Base::Local(id) = p.base {
                    others.insert(id);
                }
            }
        });
        let is_known = |e: &Expr| {
            !e.any(&mut |e| match &e.kind {
                ExprKind::Load(_) => local(e).is_none_or(|id| !counters.contains(&id) || others.contains(&id)),
                ExprKind::Const(_) | ExprKind::Zero => false,
                ExprKind::Binary(op, ..) => !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul),
                _ => true,
            })
        };
        walk::each_expr(&f.body, &mut |e| {
            if let ExprKind::Load(Place { base: Base::In(index) | Base::Peek(index), .. }) = &e.kind {
                input &= is_known(index);
            }
            if let Some((id, indices)) = table(kernel, e) {
                read.insert(id);
                if indices.is_empty() || !indices.into_iter().all(is_known) {
                    unknown.insert(id);
                }
            }
        });
    }
    Known { tables: read.difference(&unknown).copied().collect(), input }
}
