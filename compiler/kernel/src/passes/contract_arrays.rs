//! # contract-arrays
//!
//! Purpose: an array that one loop fills and a later one of as many turns reads, each turn its own element, becomes a variable of their one loop (G. Gao, R. Olsen, V. Sarkar, R. Thekkath,
//! "Collective loop fusion for array contraction", LCPC 1992). Input: a kernel of a region whose loops stay. Output: the same with fewer arrays.
//!
//! ```text
//! for $i = 0 < 32 { $a[$i] = E($i) }  …  for $j = 0 < 32 { F($a[$j]) }   →   …  for $i = 0 < 32 { $x = E($i)  F($x) }
//! ```
//!
//! What must hold: nothing else reads or writes the array; nothing between the loops writes what the first one reads, or reads what it writes; the loops have nothing else in common that either writes, so that
//! turn k of the first may come after turns of the second below k. No operation changes, and with them no bit.

use super::clean::trip;
use super::jam::{Thing, quiet, touched};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// Contracts what can be in the firing's own list of statements.
pub fn run(kernel: &mut Kernel) {
    let f = &mut kernel.functions[kernel.work.function.index()];
    let mut body = std::mem::take(&mut f.body);
    while let Some((first, second, array)) = found(f, &body) {
        contract(f, &mut body, (first, second), array);
    }
    f.body = body;
}

/// Two loops and the array between them.
fn found(f: &Function, body: &[Stmt]) -> Option<(usize, usize, LocalId)> {
    for (i, s) in body.iter().enumerate() {
        let StmtKind::For(l) = &s.kind else { continue };
        let targets = l.body.iter().flat_map(|s| s.kind.targets());
        for array in targets.filter_map(|p| if let Base::Local(id) = p.base { Some(id) } else { None }) {
            let reads = |s: &Stmt| walk::uses(std::slice::from_ref(s), array) > 0;
            let Some(j) = (i + 1..body.len()).find(|j| reads(&body[*j])) else { continue };
            if whole(f, body, (i, j), array) && apart(body, (i, j), array) {
                return Some((i, j, array));
            }
        }
    }
    None
}

/// Is the array written by a turn of the first loop, read by the same turn of the second, and otherwise not there?
fn whole(f: &Function, body: &[Stmt], (i, j): (usize, usize), array: LocalId) -> bool {
    let (StmtKind::For(a), StmtKind::For(b)) = (&body[i].kind, &body[j].kind) else { return false };
    let local = &f.locals[array.index()];
    let scalar = matches!(local.ty.element(), Some(Ty::Int | Ty::Float | Ty::Bool | Ty::Bit | Ty::Complex));
    let shape = |l: &For| trip(l).map(|n| (n, l.from.as_int(), l.step));
    let turns = shape(a).filter(|(_, from, _)| from.is_some());
    if !scalar || local.by_ref || array.index() < f.params as usize || turns.is_none() || turns != shape(b) {
        return false;
    }
    // flat, and in order: the one write is there before anything reads
    let flat = |l: &For| l.body.iter().all(|s| matches!(s.kind, StmtKind::Assign(..))) && !l.abreast;
    let own = |p: &Place, var: LocalId| match p.path.as_slice() {
        [Proj::Index(at)] => matches!(&at.kind, ExprKind::Load(at) if at.as_local() == Some(var)),
        _ => false,
    };
    let is = |p: &&&Place| p.base == Base::Local(array);
    let (mut all, mut here) = (0, 0);
    walk::each_stmt(body, &mut |s| all += s.kind.targets().iter().filter(is).count());
    walk::each_expr(body, &mut |e| {
        all += usize::from(matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(array)))
    });
    let written: Vec<&Place> = a.body.iter().flat_map(|s| s.kind.targets()).filter(|p| is(&p)).collect();
    walk::each_expr(&b.body, &mut |e| {
        here += usize::from(matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(array) && own(p, b.var)));
    });
    flat(a) && flat(b) && written.len() == 1 && own(written[0], a.var) && all == here + 1
}

/// May the first loop be done turn by turn with the second?
fn apart(body: &[Stmt], (i, j): (usize, usize), array: LocalId) -> bool {
    let (reads, writes) = touched(&body[i]);
    let clash = |s: &Stmt| {
        let (r, w) = touched(s);
        let others = |all: &BTreeSet<Thing>| all.iter().any(|t| writes.contains(t) && *t != Thing::Local(array));
        others(&r) || others(&w) || w.iter().any(|t| reads.contains(t))
    };
    body[i..=j].iter().all(quiet) && !body[i + 1..=j].iter().any(clash)
}

/// Makes one of the loops, in the place of the second.
fn contract(f: &mut Function, body: &mut [Stmt], (i, j): (usize, usize), array: LocalId) {
    let ty = f.locals[array.index()].ty.element().cloned().unwrap_or(Ty::Int);
    f.locals.push(Local { name: f.locals[array.index()].name.clone(), ty, by_ref: false });
    let element = LocalId::from(f.locals.len() - 1);
    let StmtKind::For(mut first) = body[i].kind.clone() else { return };
    let last = trip(&first).map_or(0, |(_, last)| last);
    let StmtKind::For(second) = &mut body[j].kind else { return };
    let var = second.var;
    walk::each_local_mut(&mut first.body, &mut |id| {
        if *id == first.var {
            *id = var;
        }
    });
    first.body.append(&mut second.body);
    walk::each_place_mut(&mut first.body, &mut |p| {
        if p.base == Base::Local(array) {
            *p = Place::local(element);
        }
    });
    second.body = first.body;
    // what the first loop leaves in its variable
    body[i].kind = StmtKind::Assign(Place::local(first.var), Expr::int(last));
}

#[cfg(test)]
mod tests;
