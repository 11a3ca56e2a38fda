//! Streams that take turns in a firing: what stands in a lane is one turn of it, so that a vector holds neighbouring items of neighbouring streams.
//!
//! ```text
//! for $s = 0 < 16 { $x = 0  for $i = 0 < 32 { $x = ($x + (table0[$i] * in((($i * 16) + $s)))) }  out($s) = $x }       pop 32 push 16 peek 512
//!   →  16 strands:  $x = 0  for $i = 0 < 32 { $x = ($x + (table0[$i] * in($i))) }  out(0) = $x                       pop  2 push  1 peek  32
//! ```
//!
//! Such a firing is a loop over N streams and nothing else. Item x of stream s is item x * N + s of the window, and its one result is item s of what is given. No turn needs anything of
//! another. In [`Lanes::function`] positions count the items of the stream.

use super::has_bits;
use crate::ir::*;
use crate::passes::clean::trip;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// The most streams: a block of firings is whole in streams, and its items should be near.
const MOST: u32 = 256;

/// Lanes of the widest machine.
pub(super) const LANES: u32 = 16;

/// The kernel of one turn, and of how many streams; `None` where a firing is no such loop.
pub(super) fn of(kernel: &Kernel) -> Option<(Kernel, u32)> {
    // streams are words
    if has_bits(kernel) {
        return None;
    }
    let rates = kernel.work.rates;
    let function = kernel.function(kernel.work.function);
    let [Stmt { kind: StmtKind::For(l), .. }] = &function.body[..] else { return None };
    let (turns, _) = trip(l)?;
    let n = u32::try_from(turns).ok().filter(|n| (2..=MOST).contains(n))?;
    let whole = [rates.pop, rates.peek].iter().all(|r| r.is_multiple_of(n)) && rates.push == n;
    if !whole || l.from.as_int() != Some(0) || l.step != 1 || walk::leaves(&l.body, 0, false, true) {
        return None;
    }
    // where several items of a stream are taken and no others looked at, firings are rows as they are
    if rates.peek == rates.pop && rates.pop != n {
        return None;
    }
    // a block of firings that take several items is whole in streams, and in lanes
    if rates.pop != n && !n.is_multiple_of(LANES) && !LANES.is_multiple_of(n) {
        return None;
    }
    let mut body = l.body.clone();
    let mut fits = true;
    walk::each_place_mut(&mut body, &mut |p| match &mut p.base {
        Base::In(at) => match turn_of(at, l.var).and_then(|rest| part_of(&rest, n as i32)) {
            Some(own) => **at = own,
            None => fits = false,
        },
        Base::Out(at) => match turn_of(at, l.var) {
            Some(rest) if rest.as_int() == Some(0) => **at = Expr::int(0),
            _ => fits = false,
        },
        Base::Local(_) | Base::Table(_) => {}
        _ => fits = false,
    });
    if !fits || !alone(&body, &mut BTreeSet::new()) {
        return None;
    }
    let mut one = kernel.clone();
    one.functions[kernel.work.function.index()].body = body;
    one.work.rates = Rates { peek: rates.peek / n, pop: rates.pop / n, push: 1 };
    Some((one, n))
}

/// What is left of a position without the stream's number, which it must have in it once.
fn turn_of(at: &Expr, var: LocalId) -> Option<Expr> {
    let reads = |e: &Expr| e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(var)));
    match &at.kind {
        ExprKind::Load(p) if p.as_local() == Some(var) => Some(Expr::int(0)),
        ExprKind::Binary(BinaryOp::Add, a, b) if !reads(b) => Some(sum(turn_of(a, var)?, (**b).clone())),
        ExprKind::Binary(BinaryOp::Add, a, b) if !reads(a) => Some(sum((**a).clone(), turn_of(b, var)?)),
        ExprKind::Binary(BinaryOp::Sub, a, b) if !reads(b) => {
            Some(Expr::binary(BinaryOp::Sub, turn_of(a, var)?, (**b).clone(), Ty::Int))
        }
        _ => None,
    }
}

fn sum(a: Expr, b: Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => Expr::add(a, b),
    }
}

/// The n-th part of what is a multiple of n by its form.
fn part_of(e: &Expr, n: i32) -> Option<Expr> {
    let part = |i: i32| (i % n == 0).then_some(i / n);
    let times = |a: &Expr, k: i32| match k {
        1 => a.clone(),
        _ => Expr::binary(BinaryOp::Mul, a.clone(), Expr::int(k), Ty::Int),
    };
    match &e.kind {
        ExprKind::Const(_) => part(e.as_int()?).map(Expr::int),
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
            Some(Expr::binary(*op, part_of(a, n)?, part_of(b, n)?, Ty::Int))
        }
        ExprKind::Binary(BinaryOp::Mul, a, b) => match (a.as_int(), b.as_int()) {
            (_, Some(k)) => Some(times(a, part(k)?)),
            (Some(k), _) => Some(times(b, part(k)?)),
            _ => None,
        },
        ExprKind::Binary(BinaryOp::Shl, a, b) => {
            let k = b.as_int().filter(|s| (0..=30).contains(s))?;
            Some(times(a, part(1 << k)?))
        }
        _ => None,
    }
}

/// Is no variable read before the turn itself has written it? `known`: those that it has written.
fn alone(body: &[Stmt], known: &mut BTreeSet<LocalId>) -> bool {
    for s in body {
        let mut fits = true;
        s.kind.each_own_expr(&mut |e| {
            fits &= !e.any(
                &mut |e| matches!(&e.kind, ExprKind::Load(Place { base: Base::Local(id), .. }) if !known.contains(id)),
            );
        });
        if !fits {
            return false;
        }
        match &s.kind {
            StmtKind::Assign(Place { base: Base::Local(id), path }, _) => {
                // a part of what was not written leaves another part as it was
                if !path.is_empty() && !known.contains(id) {
                    return false;
                }
                known.insert(*id);
            }
            StmtKind::For(l) => {
                let mut inside = known.clone();
                inside.insert(l.var);
                if !alone(&l.body, &mut inside) {
                    return false;
                }
                // at least one turn, and none that ends early: what it writes is written
                if trip(l).is_some_and(|(turns, _)| turns > 0) && !walk::leaves(&l.body, 0, false, true) {
                    known.extend(inside);
                }
            }
            StmtKind::If(_, a, b) => {
                let (mut then, mut els) = (known.clone(), known.clone());
                if !alone(a, &mut then) || !alone(b, &mut els) {
                    return false;
                }
                known.extend(then.intersection(&els));
            }
            _ => {
                for b in s.kind.bodies() {
                    if !alone(b, &mut known.clone()) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests;
