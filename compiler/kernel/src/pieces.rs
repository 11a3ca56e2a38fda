//! # pieces
//!
//! Purpose: a firing as the work of several threads of a GPU, where its loops give items by turns that need nothing of each other: one thread's firing of a matrix's transpose leaves the others of its
//! block idle. Input: a kernel after `lower_channels`, for devices. Output: how many pieces there may be ([`most`]); the firing as a function that does one of `pieces` of them ([`piece`]), which
//! its parameter tells.
//!
//! ```text
//! for $c = 0 < 9 {                                for $round = 0 < 7 {
//!     for $r = 0 < 12 {                               $q = (($round * 16) + $piece)
//!         out((($c * 12) + $r)) = in(…)      →        if ($q < 108) { $c = ($q / 12)  $r = ($q % 12)
//!     }                                                   out((($c * 12) + $r)) = in(…) }
//! }                                               }
//! ```
//!
//! Loops of the firing itself that give items are dealt out turn by turn, those that are one in the other and nothing else as one; what gives items without a loop is the first piece's. All else is
//! done by each piece, and must be little. How often the loops turn is the same for all pieces, so that the compiler can write them out. What must hold: a turn writes no state and does nothing that is seen from outside but its items; its variables are its own: written before they are read in each turn, and
//! used nowhere else. Each item is given once, as in the firing: no two turns have the same.
//!
//! Where the turns of one of a nest's loops are a multiple of the pieces, that loop alone is dealt out, and nothing is divided:
//!
//! ```text
//! for $t = 0 < 3 {                                for $t = 0 < 3 { for $round = 0 < 3 {
//!     for $i = 0 < 48 {                      →        $i = (($round * 16) + $piece)
//!         out((($t * 48) + $i)) = in($i) } }              out((($t * 48) + $i)) = in($i) } }
//! ```

use crate::ir::*;
use crate::passes::clean::trip;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// Turns of loops that become one, at most.
const MOST_TURNS: u64 = 1 << 20;
/// Statements beside loops that the first piece does, at most.
const MOST_ALONE: usize = 4;
/// What all pieces do may be so much less than what they share.
const LITTLE: u64 = 8;

/// A loop, and those that are all that it does, from the outside in.
struct Nest<'a> {
    loops: Vec<&'a For>,
    turns: Vec<u64>,
}

impl<'a> Nest<'a> {
    fn of(outer: &'a For) -> Option<Nest<'a>> {
        let mut nest = Nest { loops: vec![outer], turns: vec![trip(outer)?.0] };
        let mut at = outer;
        while let [Stmt { kind: StmtKind::For(l), .. }] = &at.body[..] {
            let Some((n, _)) = trip(l) else { break };
            if !gives(&l.body) || nest.all().checked_mul(n).is_none_or(|all| all > MOST_TURNS) {
                break;
            }
            nest.loops.push(l);
            nest.turns.push(n);
            at = l;
        }
        (nest.all() <= MOST_TURNS).then_some(nest)
    }

    /// Turns of all of them.
    fn all(&self) -> u64 {
        self.turns.iter().product()
    }

    /// The loop that alone is dealt out to so many pieces: the innermost whose turns are a multiple of them. Not one whose turns are an even number of items apart, which would mostly be in few banks of shared memory.
    fn whole(&self, pieces: u64) -> Option<usize> {
        let apart = |j: usize| self.turns[j + 1..].iter().product::<u64>();
        let fits = |j: &usize| self.turns[*j].is_multiple_of(pieces) && apart(*j) % 2 == 1;
        (0..self.turns.len()).rev().find(fits)
    }

    fn body(&self) -> &'a [Stmt] {
        self.loops.last().map_or(&[], |l| &l.body)
    }
}

/// What becomes of a statement of the firing.
enum Part<'a> {
    /// All pieces do it.
    All,
    /// The first one does.
    First,
    /// Its turns are dealt out.
    Dealt(Nest<'a>),
}

/// Does something give an item?
fn gives(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| found |= s.kind.targets().iter().any(|p| matches!(p.base, Base::Out(_))));
    found
}

/// Is nothing of it seen from outside but items, and does it end where it ends?
fn quiet(body: &[Stmt]) -> bool {
    let mut quiet = true;
    walk::each_stmt(body, &mut |s| {
        quiet &= match &s.kind {
            StmtKind::Assign(..) | StmtKind::If(..) | StmtKind::For(_) | StmtKind::Block(_) => true,
            StmtKind::Break(_) | StmtKind::Continue(_) => true,
            StmtKind::Check(c) => {
                matches!(c, Check::Index { .. } | Check::Divisor(_) | Check::PeekNegative(_) | Check::PeekBeyond { .. })
            }
            _ => false,
        };
        quiet &= !s.kind.targets().iter().any(|p| matches!(p.base, Base::State(_) | Base::Table(_)));
    });
    quiet
}

/// Operations and statements of all turns, where turns are known.
fn work(body: &[Stmt]) -> u64 {
    let one = |s: &Stmt| {
        let mut own = 1u64;
        s.kind.each_own_expr(&mut |e| own = own.saturating_add(e.size() as u64));
        let inner = s.kind.bodies().iter().map(|b| work(b)).fold(0, u64::saturating_add);
        let times = match &s.kind {
            StmtKind::For(l) => trip(l).map_or(16, |(n, _)| n),
            _ => 1,
        };
        own.saturating_add(inner.saturating_mul(times))
    };
    body.iter().map(one).fold(0, u64::saturating_add)
}

/// The variables that statements write.
fn written(body: &[Stmt]) -> BTreeSet<LocalId> {
    let mut all = BTreeSet::new();
    walk::each_written(body, &mut |id| {
        all.insert(id);
    });
    all
}

fn mentions(s: &Stmt, id: LocalId) -> bool {
    walk::uses(std::slice::from_ref(s), id) > 0
}

/// Is a variable written, all of it, before any statement reads it? Where it is used inside of a statement that may not be executed, it is used nowhere else.
fn begins_with_writing(body: &[Stmt], id: LocalId) -> bool {
    for s in body.iter().filter(|s| mentions(s, id)) {
        let mut read = false;
        s.kind.each_own_expr(&mut |e| {
            read |= e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(id)));
        });
        if read {
            return false;
        }
        match &s.kind {
            StmtKind::Assign(p, _) => return p.as_local() == Some(id),
            StmtKind::For(l) if l.var == id => return true,
            kind => {
                let inside = kind.bodies().into_iter().filter(|b| b.iter().any(|s| mentions(s, id)));
                if !inside.into_iter().all(|b| begins_with_writing(b, id)) {
                    return false;
                }
            }
        }
    }
    true
}

/// The firing's statements with what becomes of each; `None` where it is the work of one thread.
fn parts(kernel: &Kernel) -> Option<(&Function, Vec<Part<'_>>)> {
    let f = kernel.function(kernel.work.function);
    if kernel.work.dynamic.is_some() || kernel.lanes.is_some() || f.params > 0 || !quiet(&f.body) {
        return None;
    }
    let (mut all, mut shared, mut first) = (Vec::new(), 0u64, 0);
    let mut common = 0u64;
    for s in &f.body {
        let alone = std::slice::from_ref(s);
        let part = match &s.kind {
            _ if !gives(alone) => Part::All,
            StmtKind::For(l) => match Nest::of(l) {
                Some(nest) if !nest.loops.iter().any(|l| walk::leaves(&l.body, 0, true, true)) => Part::Dealt(nest),
                _ => return None,
            },
            _ => Part::First,
        };
        let own = match &part {
            Part::All => {
                common = common.saturating_add(work(alone));
                all.push(part);
                continue;
            }
            Part::First => {
                first += 1;
                written(alone)
            }
            Part::Dealt(nest) => {
                shared = shared.saturating_add(work(alone));
                let own = written(alone);
                let outer: BTreeSet<LocalId> = nest.loops.iter().map(|l| l.var).collect();
                if !own.iter().all(|id| outer.contains(id) || begins_with_writing(nest.body(), *id)) {
                    return None;
                }
                own
            }
        };
        // what they write is theirs
        if own.iter().any(|id| walk::uses(&f.body, *id) != walk::uses(alone, *id)) {
            return None;
        }
        all.push(part);
    }
    (shared > 0 && first <= MOST_ALONE && common.saturating_mul(LITTLE) <= shared).then_some((f, all))
}

/// How many pieces a firing has at most: turns of the loop that has most. `None` where it is the work of one thread.
pub fn most(kernel: &Kernel) -> Option<u64> {
    let (_, parts) = parts(kernel)?;
    let turns = parts.iter().filter_map(|p| if let Part::Dealt(nest) = p { Some(nest.all()) } else { None });
    turns.max().filter(|n| *n > 1)
}

/// The numbers of pieces, up to `most`, for which nothing is divided to find what a piece does.
pub fn even(kernel: &Kernel, most: u64) -> Vec<u64> {
    let Some((_, parts)) = parts(kernel) else { return Vec::new() };
    let whole = |n: &u64| parts.iter().all(|p| !matches!(p, Part::Dealt(nest) if nest.whole(*n).is_none()));
    (1..=most).filter(whole).collect()
}

/// Does a firing give nothing but items that it takes, or constants?
pub fn only_moves(kernel: &Kernel) -> bool {
    let mut moves = true;
    walk::each_stmt(&kernel.function(kernel.work.function).body, &mut |s| match &s.kind {
        StmtKind::Assign(p, e) if matches!(p.base, Base::Out(_)) => {
            moves &= match &e.kind {
                ExprKind::Load(p) => matches!(p.base, Base::In(_) | Base::Table(_)),
                ExprKind::Const(_) | ExprKind::Zero => true,
                _ => false,
            };
        }
        StmtKind::For(_) => {}
        _ => moves = false,
    });
    moves
}

/// The kernel with a firing that does one of so many pieces, which a parameter of the function tells.
pub fn piece(kernel: &Kernel, pieces: u32) -> Option<Kernel> {
    let (f, parts) = parts(kernel)?;
    let step = i32::try_from(pieces).ok().filter(|n| *n > 0)?;
    let mut new = f.clone();
    new.params = 1;
    new.locals.insert(0, Local { name: "piece".into(), ty: Ty::Int, by_ref: false });
    let which = LocalId(0);
    let moved = |body: &[Stmt]| {
        let mut body = body.to_vec();
        walk::each_local_mut(&mut body, &mut |id| id.0 += 1);
        body
    };
    new.body.clear();
    for (s, part) in f.body.iter().zip(parts) {
        match part {
            Part::All => new.body.extend(moved(std::slice::from_ref(s))),
            Part::First => {
                let equal = Expr::binary(BinaryOp::Eq, Expr::local(which, Ty::Int), Expr::int(0), Ty::Bool);
                new.body.push(StmtKind::If(equal, moved(std::slice::from_ref(s)), Vec::new()).at(s.span));
            }
            Part::Dealt(nest) => {
                let (round, q) = (LocalId::from(new.locals.len()), LocalId::from(new.locals.len() + 1));
                new.locals.push(Local { name: "round".into(), ty: Ty::Int, by_ref: false });
                if let Some(j) = nest.whole(pieces.into()) {
                    new.body.extend(one_loop(&nest, j, step, (which, round), &moved)?);
                    continue;
                }
                new.locals.push(Local { name: "turn".into(), ty: Ty::Int, by_ref: false });
                let turn = || Expr::local(q, Ty::Int);
                let all = i32::try_from(nest.all()).ok()?;
                let by = |op, e: Expr, n: i32| Expr::binary(op, e, Expr::int(n), Ty::Int);
                let (mut body, mut inside) = (Vec::new(), nest.all());
                for (i, (l, n)) in nest.loops.iter().zip(&nest.turns).enumerate() {
                    inside /= (*n).max(1);
                    let nth = if inside > 1 { by(BinaryOp::Div, turn(), inside as i32) } else { turn() };
                    let nth = if i == 0 { nth } else { by(BinaryOp::Rem, nth, *n as i32) };
                    body.push(StmtKind::Assign(Place::local(LocalId(l.var.0 + 1)), in_turn(l, nth)?).at(s.span));
                }
                body.extend(moved(nest.body()));
                let nth = Expr::add(by(BinaryOp::Mul, Expr::local(round, Ty::Int), step), Expr::local(which, Ty::Int));
                let mut turns = vec![StmtKind::Assign(Place::local(q), nth).at(s.span)];
                if all % step == 0 {
                    turns.extend(body);
                } else {
                    let there = Expr::binary(BinaryOp::Lt, turn(), Expr::int(all), Ty::Bool);
                    turns.push(StmtKind::If(there, body, Vec::new()).at(s.span));
                }
                let dealt = For {
                    var: round,
                    from: Expr::int(0),
                    cmp: BinaryOp::Lt,
                    to: Expr::int(all / step + i32::from(all % step != 0)),
                    step: 1,
                    body: turns,
                    abreast: false,
                };
                new.body.push(StmtKind::For(Box::new(dealt)).at(s.span));
            }
        }
    }
    let mut out = kernel.clone();
    out.functions[kernel.work.function.index()] = new;
    Some(out)
}

/// A loop's variable in its turn number `nth`.
fn in_turn(l: &For, nth: Expr) -> Option<Expr> {
    let scaled = if l.step == 1 { nth } else { Expr::binary(BinaryOp::Mul, nth, Expr::int(l.step), Ty::Int) };
    Some(match l.from.as_int()? {
        0 => scaled,
        from => Expr::add(scaled, Expr::int(from)),
    })
}

/// What a piece does of a nest whose loop `j` is dealt out, `pieces` turns at a time; `moved`: statements with the locals of the new function.
fn one_loop(
    nest: &Nest<'_>,
    j: usize,
    pieces: i32,
    (which, round): (LocalId, LocalId),
    moved: &dyn Fn(&[Stmt]) -> Vec<Stmt>,
) -> Option<Vec<Stmt>> {
    let mut body = moved(nest.body());
    for (k, l) in nest.loops.iter().enumerate().rev() {
        let span = l.body.first().map(|s| s.span)?;
        let empty = StmtKind::For(Box::new(For { body: Vec::new(), ..(*l).clone() })).at(span);
        let mut own = moved(&[empty]);
        let StmtKind::For(new) = &mut own.first_mut()?.kind else { return None };
        if k == j {
            let turns = i32::try_from(nest.turns[k]).ok()? / pieces;
            let rounds = Expr::binary(BinaryOp::Mul, Expr::local(round, Ty::Int), Expr::int(pieces), Ty::Int);
            let piece = Expr::local(which, Ty::Int);
            let nth = if turns > 1 { Expr::add(rounds, piece) } else { piece };
            body.insert(0, StmtKind::Assign(Place::local(new.var), in_turn(l, nth)?).at(span));
            if turns == 1 {
                continue;
            }
            (new.var, new.from, new.cmp, new.to, new.step) = (round, Expr::int(0), BinaryOp::Lt, Expr::int(turns), 1);
        }
        new.body = body;
        body = own;
    }
    Some(body)
}

#[cfg(test)]
mod tests;
