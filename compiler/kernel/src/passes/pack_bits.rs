//! # pack-bits
//!
//! Purpose: items that are bits of a word, one after the other, are compared with 0 all at once. Input: the graph, and kernels for C after all other passes. Output: kernels in which a loop that
//! packs items of which none is other than 0 or 1 asks whether each is 0; C has one function for such a loop ([`packed`]).
//!
//! ```text
//! for $i = 0 < 32 step 1 { $x = in($i)  $w = ($w | ($x << $i)) }   →   for $i = 0 < 32 step 1 { $w = ($w | (as<int>((in($i) != 0)) << $i)) }
//! ```
//!
//! What must hold: each item goes to the bit of its turn, the last below the 32nd, and nothing else reads the item's variable; what is known of the channel ([`crate::items`]) says that all
//! items are 0 or 1. A processor's vectors have the comparisons of many items as the bits of a register.

use super::clean::trip;
use super::intervals::Range;
use crate::ir::*;
use crate::{items, walk};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// Turns of a loop that is worth it.
const FEWEST: u64 = 8;

/// Where a loop takes what it packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Items of the firing.
    Items,
    /// Elements of an array.
    Array(LocalId),
}

/// A loop that packs items.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed {
    /// The word they go to.
    pub word: LocalId,
    /// What they are.
    pub source: Source,
    /// Where the first turn's item is.
    pub at: i32,
    /// Its bit.
    pub bit: u32,
    /// Items.
    pub items: u32,
    /// Is each item compared with 0, and not taken as it is?
    pub compared: bool,
    /// The variable that an item is taken to, where it is.
    item: Option<LocalId>,
}

/// Finds such loops in the programs' filters.
pub fn run(graph: &SdfGraph, kernels: &mut [Kernel]) {
    let mut found: Vec<bool> = kernels.iter().map(|k| loops(k) > 0).collect();
    if !found.contains(&true) {
        return;
    }
    let on = items::ranges(graph, kernels);
    let bits = |r: &Option<Range>| r.is_none_or(|r| r.lo >= 0 && r.hi <= 1);
    for node in &graph.nodes {
        if let NodeKind::Filter { code, .. } = &node.kind
            && let Some(found) = found.get_mut(code.index())
        {
            *found &= node.inputs.iter().all(|c| bits(&on[c.index()]));
        }
    }
    kernels.iter_mut().zip(found).filter(|(_, found)| *found).for_each(|(k, _)| compare(k));
}

/// How many of its loops pack items as they are.
fn loops(kernel: &Kernel) -> usize {
    let f = kernel.function(kernel.work.function);
    let mut n = 0;
    walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            n += usize::from(takes(f, l).is_some_and(|p| p.source == Source::Items));
        }
    });
    n
}

/// A loop of a function that packs items as they are, whose variables nobody needs besides.
fn takes(f: &Function, l: &For) -> Option<Packed> {
    let p = packed(l).filter(|p| !p.compared)?;
    let (mut reads, mut loops) = (0, 0);
    walk::each_expr(&f.body, &mut |e| {
        if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind {
            reads += usize::from(Some(*id) == p.item);
        }
    });
    // a loop that was written out several times takes each time to the same variable
    walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            loops += usize::from(p.item.is_some() && packed(l).is_some_and(|q| q.item == p.item));
        }
    });
    (reads == loops).then_some(p)
}

/// All items that it packs are 0 or 1.
fn compare(kernel: &mut Kernel) {
    let f = &mut kernel.functions[kernel.work.function.index()];
    compare_in(f, &|source| source == Source::Items);
}

/// The same for elements of arrays that a firing fills with nothing but truths as 0 and 1.
pub fn own(kernel: &mut Kernel) {
    let f = &mut kernel.functions[kernel.work.function.index()];
    let mut others: BTreeSet<LocalId> = (0..f.params).map(LocalId).collect();
    walk::each_stmt(&f.body, &mut |s| {
        for p in s.kind.targets() {
            if let Base::Local(id) = p.base
                && !matches!(&s.kind, StmtKind::Assign(_, e) if truth(e).is_some())
            {
                others.insert(id);
            }
        }
    });
    compare_in(f, &|source| matches!(source, Source::Array(id) if !others.contains(&id)));
}

/// What an int that is 0 or 1 says.
pub fn truth(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Select(c, one, none) if one.as_int() == Some(1) && none.as_int() == Some(0) => Some(c),
        ExprKind::Convert(c) if e.ty == Ty::Int && matches!(c.ty, Ty::Bool | Ty::Bit) => Some(c),
        _ => None,
    }
}

fn compare_in(f: &mut Function, bits: &dyn Fn(Source) -> bool) {
    let whole = f.clone();
    walk::each_stmt_mut(&mut f.body, &mut |s| {
        let StmtKind::For(l) = &mut s.kind else { return };
        let Some(p) = takes(&whole, l).filter(|p| bits(p.source)) else { return };
        let (turn, span) = (Expr::local(l.var, Ty::Int), l.body[0].span);
        let from = l.from.as_int().unwrap_or(0);
        let at = if p.at == from { turn.clone() } else { Expr::add(turn.clone(), Expr::int(p.at - from)) };
        let place = match p.source {
            Source::Items => Place { base: Base::In(Box::new(at)), path: Vec::new() },
            Source::Array(id) => Place { base: Base::Local(id), path: vec![Proj::Index(at)] },
        };
        let item = Expr::load(place, Ty::Int);
        let differs = Expr::binary(BinaryOp::Ne, item, Expr::int(0), Ty::Bool);
        let bit = Expr { kind: ExprKind::Convert(Box::new(differs)), ty: Ty::Int };
        let bit = Expr::binary(BinaryOp::Shl, bit, turn, Ty::Int);
        let word = Expr::binary(BinaryOp::BitOr, Expr::local(p.word, Ty::Int), bit, Ty::Int);
        l.body = vec![StmtKind::Assign(Place::local(p.word), word).at(span)];
    });
}

/// What a loop packs, where that is all it does.
pub fn packed(l: &For) -> Option<Packed> {
    let (turns, _) = trip(l).filter(|(n, _)| (FEWEST..=32).contains(n))?;
    let from = l.from.as_int().filter(|i| (0..32).contains(i))?;
    let bit = from as u32;
    if l.step != 1 || u64::from(bit) + turns > 32 {
        return None;
    }
    let (item, last) = match l.body.as_slice() {
        [one] => (None, one),
        [first, last] => match &first.kind {
            StmtKind::Assign(p, e) => (Some((p.as_local()?, e)), last),
            _ => return None,
        },
        _ => return None,
    };
    let StmtKind::Assign(target, e) = &last.kind else { return None };
    let word = target.as_local()?;
    let ExprKind::Binary(BinaryOp::BitOr, a, b) = &e.kind else { return None };
    let is = |e: &Expr, id: LocalId| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(id));
    let shifted = if is(a, word) {
        b
    } else if is(b, word) {
        a
    } else {
        return None;
    };
    let ExprKind::Binary(BinaryOp::Shl, x, n) = &shifted.kind else { return None };
    let apart = word != l.var && item.is_none_or(|(id, _)| id != word && id != l.var);
    if e.ty != Ty::Int || !is(n, l.var) || !apart {
        return None;
    }
    let value = match item {
        Some((id, value)) => is(x, id).then_some(value)?,
        None => x,
    };
    let (compared, taken) = match &value.kind {
        ExprKind::Convert(c) if item.is_none() => match &c.kind {
            ExprKind::Binary(BinaryOp::Ne, taken, zero) if zero.as_int() == Some(0) => (true, taken.as_ref()),
            _ => return None,
        },
        _ => (false, value),
    };
    let ExprKind::Load(place) = &taken.kind else { return None };
    let (source, at) = match (&place.base, place.path.as_slice()) {
        (Base::In(at), []) => (Source::Items, at.as_ref()),
        (Base::Local(id), [Proj::Index(at)]) if *id != word => (Source::Array(*id), at),
        _ => return None,
    };
    let offset = match &at.kind {
        _ if is(at, l.var) => 0,
        ExprKind::Binary(BinaryOp::Add, a, b) if is(a, l.var) => b.as_int()?,
        ExprKind::Binary(BinaryOp::Add, a, b) if is(b, l.var) => a.as_int()?,
        _ => return None,
    };
    let item = item.map(|(id, _)| id);
    (taken.ty == Ty::Int).then_some(Packed {
        word,
        source,
        at: from.checked_add(offset)?,
        bit,
        items: turns as u32,
        compared,
        item,
    })
}

#[cfg(test)]
mod tests;
