//! Sections that are loops over branches side by side: as if there were one branch, and each array an element of it.

use super::{Look, MOST, Wave, cost, shape};
use crate::ir::*;
use crate::passes::clean::trip;
use crate::passes::held::Array;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// The first such wave that pays.
pub(super) fn wave(kernel: &Kernel) -> Option<Wave> {
    let f = kernel.function(kernel.work.function);
    let over = |s: &Stmt| match &s.kind {
        StmtKind::For(l) if l.abreast && l.from.as_int() == Some(0) && l.step == 1 => trip(l).map(|(n, _)| n as usize),
        _ => None,
    };
    let mut at = 0;
    while at < f.body.len() {
        let n = over(&f.body[at]);
        let loops = f.body[at..].iter().take_while(|s| n.is_some() && over(s) == n).count();
        let found = n.filter(|n| loops > 1 && 2 * n <= MOST).and_then(|n| of_branches(kernel, (at, loops), n));
        if found.is_some() {
            return found;
        }
        at += loops.max(1);
    }
    None
}

/// Of so many loops over so many branches, that begin somewhere.
fn of_branches(kernel: &Kernel, (begin, loops): (usize, usize), branches: usize) -> Option<Wave> {
    let f = kernel.function(kernel.work.function);
    let mut one = kernel.clone();
    let mut counter = None;
    let mut starts = vec![begin];
    let mut body = f.body[..begin].to_vec();
    let (mut elements, mut counters) = (BTreeSet::new(), BTreeSet::new());
    for s in &f.body[begin..begin + loops] {
        let StmtKind::For(l) = &s.kind else { return None };
        let common = *counter.get_or_insert(l.var);
        counters.insert(l.var);
        let mut turn = l.body.clone();
        walk::each_local_mut(&mut turn, &mut |id| *id = if *id == l.var { common } else { *id });
        walk::each_place_mut(&mut turn, &mut |p| {
            if matches!(p.base, Base::Local(_) | Base::State(_)) && counts(&p.path, common) {
                elements.extend(Array::of(&p.base));
                p.path.clear();
            }
        });
        body.extend(turn);
        starts.push(body.len());
    }
    body.extend_from_slice(&f.body[begin + loops..]);
    // nobody asks how far they have counted
    let mut asked = false;
    walk::each_expr(&f.body[begin + loops..], &mut |e| {
        asked |= matches!(&e.kind, ExprKind::Load(p) if p.as_local().is_some_and(|id| counters.contains(&id)));
    });
    if asked {
        return None;
    }
    let element = |array: Array, ty: &Ty| match ty {
        Ty::Array(e, _) if elements.contains(&array) => (**e).clone(),
        ty => ty.clone(),
    };
    for (i, s) in one.state.iter_mut().enumerate() {
        s.ty = element(Array::State(StateId::from(i)), &s.ty);
    }
    let work = &mut one.functions[kernel.work.function.index()];
    for (i, l) in work.locals.iter_mut().enumerate() {
        l.ty = element(Array::Local(LocalId::from(i)), &l.ty);
    }
    work.body = body;
    let work = one.function(kernel.work.function);
    let shapes: Vec<Option<u64>> = work.body.iter().map(|s| shape(&one, work, s)).collect();
    let mut best: Option<Wave> = None;
    for j in 0..loops {
        let length = starts[j + 1] - starts[j];
        let turn = |k: usize| &shapes[starts[k]..starts[k + 1]];
        let same = |k: &usize| turn(*k) == turn(j) && turn(j).iter().all(Option::is_some);
        let run = (j..loops).take_while(same).count();
        let look = Look { kernel: &one, f: work, first: starts[j], length, counter };
        let w = look.wave(run.min(MOST / branches)).map(|w| Wave { first: begin + j, length: 1, branches, ..w });
        if let Some(w) = w.filter(|w| best.as_ref().is_none_or(|b| w.sections > b.sections)) {
            best = Some(w);
        }
    }
    // what comes behind has arrays of all branches
    let arrays = |w: &Wave| w.outcome.iter().all(|(base, _)| Array::of(base).is_some_and(|a| elements.contains(&a)));
    best.filter(arrays).and_then(cost::paying)
}

/// Is it the element that a loop counts?
fn counts(path: &[Proj], counter: LocalId) -> bool {
    matches!(path, [Proj::Index(e)] if matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(counter)))
}
