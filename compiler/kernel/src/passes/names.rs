//! # names
//!
//! Purpose: a variable that is set anew gets a name of its own each time, so that what it was before need not be done with. Input: a list of a function's statements without jumps, and
//! loops of it. Output: the list with more variables, for [`super::jam`].
//!
//! ```text
//! $s = 0  for $i = 0 < 4 { $s = … }  $a[0] = $s  $s = 0  for $i = 0 < 4 { $s = … }  $a[1] = $s
//!   →   $t = 0  for $j = 0 < 4 { $t = … }  $a[0] = $t  $s = 0  for $i = 0 < 4 { $s = … }  $a[1] = $s
//! ```
//!
//! What must hold: a statement of the list itself sets the variable wholly, without reading it, and so does a later one; between them nobody but the statements of the list
//! can see it, because none jumps. What is set last keeps its name: it may be read after the list, or in the next turn of a loop around it.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// Renews the variables that the loops write, counters among them; `None` where none is set twice.
pub(super) fn renewed(f: &mut Function, list: &[Stmt], loops: &[&For]) -> Option<Vec<Stmt>> {
    let mut written = BTreeSet::new();
    for l in loops {
        written.insert(l.var);
        walk::each_stmt(&l.body, &mut |s| written.extend(s.kind.targets().into_iter().filter_map(Place::as_local)));
    }
    let mut out = list.to_vec();
    let mut changed = false;
    for x in written {
        let local = f.locals[x.index()].clone();
        if x.0 < f.params || local.by_ref || !matches!(local.ty, Ty::Float | Ty::Int | Ty::Bool | Ty::Bit) {
            continue;
        }
        let set: Vec<usize> = (0..list.len()).filter(|i| sets(&list[*i], x)).collect();
        for ends in set.windows(2) {
            f.locals.push(local.clone());
            let new = LocalId::from(f.locals.len() - 1);
            walk::each_local_mut(&mut out[ends[0]..ends[1]], &mut |id| {
                if *id == x {
                    *id = new;
                }
            });
            changed = true;
        }
    }
    changed.then_some(out)
}

/// Has the variable nothing left of what it was?
fn sets(s: &Stmt, x: LocalId) -> bool {
    let reads = |e: &Expr| e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(x)));
    match &s.kind {
        StmtKind::Assign(p, e) => p.as_local() == Some(x) && !reads(e),
        StmtKind::For(l) => l.var == x && !reads(&l.from) && !reads(&l.to),
        _ => false,
    }
}
