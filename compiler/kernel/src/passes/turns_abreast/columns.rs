//! Tables of which the turns of a loop take rows, stored once more by columns, so that what neighbouring turns take lies side by side.
//!
//! ```text
//! for $i = 0 < 16 { … $s = ($s + (table0[$i][$j] * $x[$j])) … }   →   … table1[$j][$i] …, where table1[j][i] is table0[i][j]
//! ```
//!
//! A table is never written, so one is as good as the other; who takes what lies side by side anyway keeps the first. One that nobody takes any more goes.

use super::unit;
use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::{Dim, Ty};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Numbers of a table, at most: what is stored twice should not push other things out of the caches.
const MOST: usize = 1 << 14;

/// A table, and the index that comes last in the other one.
pub(super) type Turned = (TableId, usize);

/// The loop with what its turns take rows of taken by columns, and the tables that are needed for that, from the kernel's next on; `None` where there is no such thing.
pub(super) fn by_columns(l: &For, written: &BTreeSet<LocalId>, tables: &[Table]) -> Option<(For, Vec<Turned>)> {
    let mut new = l.clone();
    let mut turned: Vec<Turned> = Vec::new();
    walk::each_expr_mut(&mut new.body, &mut |e| {
        let ExprKind::Load(Place { base: Base::Table(id), path }) = &mut e.kind else { return };
        let Some(axis) = across(path, l.var, written).filter(|_| fits(&tables[id.index()].ty, path.len())) else {
            return;
        };
        let of = (*id, axis);
        let known = turned.iter().position(|t| *t == of).unwrap_or_else(|| {
            turned.push(of);
            turned.len() - 1
        });
        *id = TableId::from(tables.len() + known);
        let index = path.remove(axis);
        path.push(index);
    });
    (!turned.is_empty()).then_some((new, turned))
}

/// The one index that differs between turns, where it grows by one with them and is not the last.
fn across(path: &[Proj], var: LocalId, written: &BTreeSet<LocalId>) -> Option<usize> {
    let mut axis = None;
    for (i, step) in path.iter().enumerate() {
        let Proj::Index(e) = step else { return None };
        if super::varies(e, var, written) {
            unit(e, var, written).filter(|()| axis.is_none())?;
            axis = Some(i);
        }
    }
    axis.filter(|i| i + 1 < path.len())
}

/// Is it an array of so many dimensions of words, and none too large?
fn fits(ty: &Ty, dimensions: usize) -> bool {
    let (mut ty, mut all) = (ty, 1usize);
    for _ in 0..dimensions {
        let (Some(n), Some(element)) = (ty.known_len(), ty.element()) else { return false };
        all = all.saturating_mul(n as usize);
        ty = element;
    }
    matches!(ty, Ty::Float | Ty::Int) && all <= MOST
}

/// The table with its index `axis` as the last.
pub(super) fn turned(of: &Table, axis: usize) -> Option<Table> {
    let (mut sizes, mut ty) = (Vec::new(), &of.ty);
    while let (Some(n), Some(element)) = (ty.known_len(), ty.element()) {
        sizes.push(n as usize);
        ty = element;
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    let last = order.remove(axis);
    order.push(last);
    let whole = order.iter().rev().fold(ty.clone(), |ty, i| Ty::Array(Arc::new(ty), Dim::Known(sizes[*i] as u32)));
    let value = element(of.known()?, &order, &sizes, &mut vec![0; sizes.len()], 0)?;
    Some(Table { name: of.name.clone(), ty: whole, value, shared: None, own: None })
}

/// The part of the new table at the first `depth` of its indices, which are at their places of the old one in `at`.
fn element(of: &Const, order: &[usize], sizes: &[usize], at: &mut Vec<usize>, depth: usize) -> Option<Const> {
    let Some(axis) = order.get(depth) else {
        return at.iter().try_fold(of, |c, i| if let Const::Array(all) = c { all.get(*i) } else { None }).cloned();
    };
    let mut all = Vec::with_capacity(sizes[*axis]);
    for i in 0..sizes[*axis] {
        at[*axis] = i;
        all.push(element(of, order, sizes, at, depth + 1)?);
    }
    Some(Const::Array(all.into()))
}

fn alike(a: &Table, b: &Table) -> bool {
    (&a.ty, &a.value, a.own) == (&b.ty, &b.value, b.own)
}

/// Takes the tables away that nobody reads, and of those from `first` on that are alike all but one.
pub(super) fn tidy(kernel: &mut Kernel, first: usize) {
    let mut read = vec![false; kernel.tables.len()];
    let mut to: Vec<TableId> = (0..kernel.tables.len()).map(TableId::from).collect();
    for (i, t) in kernel.tables.iter().enumerate().skip(first) {
        if let Some(j) = (first..i).find(|j| alike(&kernel.tables[*j], t)) {
            to[i] = TableId::from(j);
        }
    }
    each_table(kernel, &mut |id| {
        *id = to[id.index()];
        read[id.index()] = true;
    });
    let mut kept = 0;
    for (i, r) in read.iter().enumerate() {
        to[i] = TableId::from(kept);
        kept += usize::from(*r);
    }
    let mut all = read.iter();
    kernel.tables.retain(|_| all.next() == Some(&true));
    each_table(kernel, &mut |id| *id = to[id.index()]);
}

fn each_table(kernel: &mut Kernel, f: &mut dyn FnMut(&mut TableId)) {
    for function in &mut kernel.functions {
        walk::each_place_mut(&mut function.body, &mut |p| {
            if let Base::Table(id) = &mut p.base {
                f(id);
            }
        });
    }
}
