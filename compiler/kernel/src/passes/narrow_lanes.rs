//! # narrow-lanes
//!
//! Purpose: ints that are bytes go as such in lanes, four times as many in a vector: the bits of a cipher, characters, digits. Input: a graph and the kernels of its filters after all other
//! passes. Output: the kernels, with bounds of what their lanes hold ([`Narrow`]) where it pays that bytes are told apart; and for who prints lanes, what goes as bytes ([`Bytes`]).
//!
//! ```text
//! in(0) is 0 or 1:   $x = ((2 * $x) + in(0))  out(0) = table0[$x]   →   $x and the item given are known to lie within 0..15: 32 firings of them are a vector where 8 ints are one
//! ```
//!
//! What must hold: a value goes as its last eight bits. Sums, products, bits that are joined, choices and shifts to the left need no more of their operands; whatever else is done with it (shifts to
//! the right, comparisons, places of tables) is done to bytes only where the bounds say that these are all of the value. Bounds hold whatever order nodes fire in ([`crate::items`]), whatever
//! the state holds, and at every point of the function ([`super::intervals`]); what a variable holds before it is assigned is 0.

mod bytes;

pub use bytes::{Bytes, Cost, Plane, shift};

use super::clean::trip;
use super::intervals::{Env, Facts, Range, each_statement};
use super::lanes::{has_bits, is_bit};
use crate::cost::UNKNOWN_TRIPS;
use crate::fuse::Fused;
use crate::ir::*;
use crate::{items, walk};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, LocalId, NodeId};
use sluice_frontend::ty::Ty;

/// Operations on ints of a firing that is looked at, at least.
const FEWEST: u64 = 8;

/// The same where its items are bits, which are bytes before and after.
const FEWEST_OF_BITS: u64 = 4;

/// Items that a firing takes and gives, at most: blocks of four vectors of firings are to stay near.
const MOST_ITEMS: u32 = 256;

/// Parts of the largest expression that is looked at: costs are asked for of each part.
const LARGEST: usize = 256;

/// Finds what goes as bytes in the lanes of a program's kernels, and of its regions'.
pub fn run(graph: &SdfGraph, kernels: &mut [Kernel], regions: Option<&mut Fused>) {
    let of_regions = regions.as_ref().is_some_and(|r| r.kernels.iter().any(may));
    if !of_regions && !kernels.iter().any(may) {
        return;
    }
    // of the program as it was: regions' states and channels are at first what they have come to there
    let on = items::ranges(graph, kernels);
    let first = kernels.len();
    of_graph(graph, &on, 0, kernels);
    if let Some(Fused { graph, kernels, channels, .. }) = regions {
        let on: Vec<Option<Range>> = channels.iter().map(|c| on[c.index()]).collect();
        of_graph(graph, &on, first, kernels);
    }
}

/// The same of a graph. `on`: what passes along its channels; `first`: the code of the first kernel.
fn of_graph(graph: &SdfGraph, on: &[Option<Range>], first: usize, kernels: &mut [Kernel]) {
    let mut taken: Vec<Option<Range>> = vec![None; kernels.len()];
    let mut as_bytes = vec![(true, true); kernels.len()];
    let code = |v: NodeId| match &graph.node(v).kind {
        NodeKind::Filter { code, .. } => code.index().checked_sub(first).filter(|k| *k < kernels.len()),
        _ => None,
    };
    // only between regions, as in C's `lanewise`
    let passes = |c: &ChannelId| {
        let channel = graph.channel(*c);
        let both = [channel.from.0, channel.to.0].iter().all(|v| code(*v).is_some_and(|k| may(&kernels[k])));
        let whole = channel.produce == channel.consume && channel.consume == channel.peek;
        both && whole && first > 0 && on[c.index()].is_some_and(|r| r.within(0, 255))
    };
    for v in graph.node_ids() {
        let (node, Some(k)) = (graph.node(v), code(v)) else { continue };
        let here = node.inputs.iter().filter_map(|c| on[c.index()]);
        taken[k] = here.chain(taken[k]).reduce(Range::hull);
        as_bytes[k].0 &= node.inputs.iter().all(passes);
        as_bytes[k].1 &= node.outputs.iter().all(passes);
    }
    for ((kernel, taken), as_bytes) in kernels.iter_mut().zip(taken).zip(as_bytes) {
        if may(kernel) {
            narrow(kernel, taken.unwrap_or(Range::ALL), as_bytes);
        }
    }
}

/// Could anything go as bytes?
fn may(kernel: &Kernel) -> bool {
    let Some(lanes) = kernel.lanes.as_ref().filter(|l| l.strands == 1 && l.narrow.is_none()) else { return false };
    let (body, rates) = (&kernel.function(lanes.function).body, kernel.work.rates);
    let (mut ints, mut largest, mut alike) = (0, 0, true);
    let bits = has_bits(kernel);
    walk::each_stmt(body, &mut |s| s.kind.each_own_expr(&mut |e| largest = largest.max(e.size())));
    walk::each_expr(body, &mut |e| {
        let byte = e.ty == Ty::Int || bits && is_bit(&e.ty);
        ints += u64::from(byte && matches!(e.kind, ExprKind::Binary(..) | ExprKind::Select(..)));
        // whose lanes go different ways
        alike &= !matches!(e.kind, ExprKind::Any(_));
    });
    alike
        && ints >= if bits { FEWEST_OF_BITS } else { FEWEST }
        && largest <= LARGEST
        && rates.pop.saturating_add(rates.push) <= MOST_ITEMS
}

/// Notes the bounds where it pays.
fn narrow(kernel: &mut Kernel, taken: Range, as_bytes: (bool, bool)) {
    let Some(lanes) = &kernel.lanes else { return };
    let taken = if kernel.input == Ty::Int { taken } else { Range::ALL };
    let found = bounds(kernel, lanes, taken);
    if let Some(lanes) = &mut kernel.lanes {
        lanes.narrow = Some(found);
    }
    let pays = Bytes::of(kernel, as_bytes).is_some_and(|b| pays(&b));
    if let Some(lanes) = kernel.lanes.as_mut().filter(|_| !pays) {
        lanes.narrow = None;
    }
}

/// Bounds of all that the variables of the lanes' function ever hold, and of what it gives.
fn bounds(kernel: &Kernel, lanes: &Lanes, taken: Range) -> Narrow {
    let f = kernel.function(lanes.function);
    let of_ints = |ty: &Ty| *ty == Ty::Int || matches!(ty, Ty::Array(of, _) if **of == Ty::Int);
    let begins = |l: &Local| if of_ints(&l.ty) { Range::exactly(0) } else { Range::ALL };
    let mut locals: Vec<Range> = f.locals.iter().map(begins).collect();
    for id in counters_seen_outside(&f.body) {
        locals[id.index()] = Range::ALL;
    }
    let mut given: Option<Range> = None;
    let facts = Facts::of_any_state(kernel, taken);
    each_statement(kernel, &facts, f, &mut |s: &Stmt, env: &Env<'_>| {
        if let StmtKind::For(l) = &s.kind {
            let held = &mut locals[l.var.index()];
            *held = held.hull(counted(l, env));
        }
        let StmtKind::Assign(p, e) = &s.kind else { return };
        match &p.base {
            Base::Local(LocalId(id)) => {
                let held = &mut locals[*id as usize];
                *held = held.hull(env.eval(e));
            }
            Base::Out(_) => given = Some(given.map_or(env.eval(e), |g| g.hull(env.eval(e)))),
            _ => {}
        }
    });
    let given = given.filter(|_| kernel.output == Ty::Int).unwrap_or(Range::ALL);
    Narrow { taken, given, locals }
}

/// Counters of loops that are read where they do not count, or written.
fn counters_seen_outside(body: &[Stmt]) -> Vec<LocalId> {
    let (mut counters, mut written) = (Vec::new(), Vec::new());
    walk::each_stmt(body, &mut |s| match &s.kind {
        // in its turns, and by the loop itself
        StmtKind::For(l) => counters.push((l.var, walk::uses(&l.body, l.var) + 1)),
        StmtKind::Assign(p, _) => written.extend(p.as_local()),
        _ => {}
    });
    let seen = |id: LocalId| counters.iter().filter(|(v, _)| *v == id).map(|(_, n)| n).sum::<usize>();
    let outside = |id: &LocalId| walk::uses(body, *id) != seen(*id) || written.contains(id);
    counters.iter().map(|(v, _)| *v).filter(outside).collect()
}

/// What a loop counts, in its turns.
fn counted(l: &For, env: &Env<'_>) -> Range {
    let (from, to, step) = (env.eval(&l.from), env.eval(&l.to), i64::from(l.step));
    let turns = match (l.cmp, step > 0) {
        (BinaryOp::Lt, true) => Range::new(from.lo, to.hi - 1),
        (BinaryOp::Le, true) => Range::new(from.lo, to.hi),
        (BinaryOp::Gt, false) => Range::new(to.lo + 1, from.hi),
        (BinaryOp::Ge, false) => Range::new(to.lo, from.hi),
        _ => return Range::ALL,
    };
    // the value behind the last one must not wrap; where there is no turn, nobody sees it
    let whole = Range::new(turns.lo + step.min(0), turns.hi + step.max(0)).is_int();
    if whole && turns.lo <= turns.hi { turns } else { Range::ALL }
}

/// Do bytes take two thirds of the operations, at most?
fn pays(bytes: &Bytes<'_>) -> bool {
    let (narrow, wide) = operations(&bytes.function().body, bytes);
    narrow.saturating_mul(3) <= wide.saturating_mul(2)
}

/// Operations on vectors, for as many firings as there are bytes in one: with bytes, and without.
fn operations(body: &[Stmt], bytes: &Bytes<'_>) -> (u64, u64) {
    let mut sum = (0u64, 0u64);
    let mut add = |(narrow, wide): (u64, u64)| {
        sum = (sum.0.saturating_add(narrow), sum.1.saturating_add(wide));
    };
    for s in body {
        match &s.kind {
            StmtKind::Assign(_, e) if e.ty.is_aggregate() => add((1, 4)),
            StmtKind::Assign(p, e) => add(bytes.assigned(p, e)),
            StmtKind::For(l) => {
                let times = trip(l).map_or(UNKNOWN_TRIPS, |(n, _)| n);
                let (narrow, wide) = operations(&l.body, bytes);
                add((narrow.saturating_mul(times), wide.saturating_mul(times)));
            }
            _ => s.kind.bodies().into_iter().for_each(|b| add(operations(b, bytes))),
        }
    }
    sum
}

#[cfg(test)]
mod tests;
