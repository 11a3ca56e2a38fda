//! Real and imaginary parts that go the same way: each is a stream of its own, and they take turns as two filters side by side would. So nothing is brought into another order, neither
//! before nor after.
//!
//! ```text
//! $re = 0  $im = 0  for $i = 0 < 32 { $re = ($re + (table0[$i] * in($i).re))  $im = ($im + (table0[$i] * in($i).im)) }  out(0).re = $re  out(0).im = $im
//!   →  2 strands of parts:  $re = 0  for $i = 0 < 32 { $re = ($re + (table0[$i] * in($i).re)) }  out(0).re = $re
//! ```
//!
//! So it is where what is needed for the one part of what a firing gives is, word for word, what is needed for the other, and neither looks at the other's items: sums of complex numbers with
//! real weights, but no products of two. In [`Lanes::function`] all items are named by their real parts.

use super::{varying, vectors};
use crate::ir::*;
use crate::passes::clean;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Of the lanes of a filter, those of its parts where they go the same way, and all is gained by it.
pub(super) fn apart(kernel: &Kernel, (f, lanes): (Function, Lanes)) -> (Function, Lanes) {
    let rates = kernel.work.rates;
    // of one stream, whose items are neighbours but for their parts. Of others lanes can do more when they are not streams ([`crate::within`], several firings of a lane, items as vectors)
    let plain = lanes.strands > 1 || rates.pop == 1 && rates.push == 1 && rates.peek > 1;
    if kernel.input != Ty::Complex || kernel.output != Ty::Complex || !plain {
        return (f, lanes);
    }
    match half(&f).map(|half| (varying(&half), half)) {
        Some((varying, half)) => {
            let (unroll, deep) = vectors(&half, &varying);
            let phases = lanes.phases && rates.pop > lanes.strands;
            let lanes = Lanes { varying, unroll, deep, phases, strands: lanes.strands * 2, parts: true, ..lanes };
            (half, lanes)
        }
        None => (f, lanes),
    }
}

/// What makes one part of what a firing gives, where the other is made in the same way.
fn half(f: &Function) -> Option<Function> {
    let (re, im) = (only(f, 0)?, only(f, 1)?);
    (re.locals.len() == im.locals.len()
        && re.locals.iter().zip(&im.locals).all(|(a, b)| a.ty == b.ty)
        && re.body == im.body)
        .then_some(re)
}

/// What makes this part, as if it were the first one; its variables are numbered as they come. `None` where it looks at the other one.
fn only(f: &Function, part: u8) -> Option<Function> {
    let mut f = f.clone();
    let component = |p: &Place| match p.path[..] {
        [Proj::Component(i)] => Some(i),
        _ => None,
    };
    let mut whole = true;
    walk::each_body_mut(&mut f.body, &mut |list| {
        list.retain(|s| match &s.kind {
            StmtKind::Assign(p @ Place { base: Base::Out(_), .. }, _) => {
                whole &= component(p).is_some();
                component(p) == Some(part)
            }
            _ => true,
        });
    });
    if !whole {
        return None;
    }
    needed_only(&mut f);
    clean::function(&mut f);
    let mut own = true;
    walk::each_place_mut(&mut f.body, &mut |p| {
        if matches!(p.base, Base::In(_) | Base::Out(_)) {
            own &= component(p) == Some(part);
            p.path = vec![Proj::Component(0)];
        }
    });
    if !own {
        return None;
    }
    let mut numbers = BTreeMap::new();
    walk::each_local_mut(&mut f.body, &mut |id| {
        let next = numbers.len();
        *id = *numbers.entry(*id).or_insert_with(|| LocalId::from(next));
    });
    let mut old: Vec<(LocalId, LocalId)> = numbers.into_iter().map(|(old, new)| (new, old)).collect();
    old.sort();
    f.locals = old.into_iter().map(|(_, old)| f.locals[old.index()].clone()).collect();
    let span = f.span;
    walk::each_stmt_mut(&mut f.body, &mut |s| s.span = span);
    Some(f)
}

/// Removes assignments to variables that nothing is made of that is given, though they may be made of themselves.
fn needed_only(f: &mut Function) {
    let mut needed: BTreeSet<LocalId> = BTreeSet::new();
    loop {
        let before = needed.len();
        walk::each_stmt(&f.body, &mut |s| {
            let for_nothing =
                matches!(&s.kind, StmtKind::Assign(p, _) if matches!(p.base, Base::Local(id) if !needed.contains(&id)));
            if !for_nothing {
                s.kind.each_own_expr(&mut |e| {
                    e.walk(&mut |e| {
                        if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind {
                            needed.insert(*id);
                        }
                    })
                });
            }
        });
        if needed.len() == before {
            break;
        }
    }
    walk::each_body_mut(&mut f.body, &mut |list| {
        list.retain(|s| !matches!(&s.kind, StmtKind::Assign(p, _) if matches!(p.base, Base::Local(id) if !needed.contains(&id))));
    });
}

#[cfg(test)]
mod tests;
