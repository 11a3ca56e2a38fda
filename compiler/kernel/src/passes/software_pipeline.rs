//! # software-pipeline
//!
//! Purpose: the loads of a loop's next turn ahead of the arithmetic of this one. Input: a kernel after `lower-channels`. Output: the same.
//! Source: "Method for Software Pipelining on GPUs", section 2.1, figure 2.
//!
//! ```text
//! for $i = 0 < 8 step 1 { out($i) = (in($i) + $a[$i]) }
//!   →   $i = 0  $now0 = in($i)  $now1 = $a[$i]
//!       for $i = 0 < 7 step 1 {
//!         $next0 = in(($i + 1))  $next1 = $a[($i + 1)]
//!         out($i) = ($now0 + $now1)
//!         $now0 = $next0  $now1 = $next1
//!       }
//!       out($i) = ($now0 + $now1)  $i = 8
//! ```
//!
//! Operations on floats stay in their order: no bit changes. Only loads that every turn executes are moved, and the next turn is certain when
//! they are executed: none lies outside an array or the window. A load is not moved past a store to what may be the same element. Limits:
//! innermost loops of assignments and conditions, without checks, jumps and calls, that have constant bounds or count upward by one; at most
//! [`MOST_LOADS`] loads.

use super::lanes::{fresh, is_varying};
use super::unroll::{shifted_expr, size};
use crate::ir::*;
use crate::loops::address::{Access, Memory, Scope, may_meet};
use crate::passes::clean::{int_local, trip};
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;

/// More would not stay in registers.
pub const MOST_LOADS: usize = 8;

/// Larger bodies hide their loads without help.
const LARGEST: usize = 256;

/// A software-pipelined loop.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// Before the loop: the loads of the first turn.
    pub prologue: Vec<Stmt>,
    /// All turns but the last.
    pub kernel: For,
    /// The last turn.
    pub epilogue: Vec<Stmt>,
    /// The loop is entered only where there is a turn at all.
    pub guard: Option<Expr>,
}

/// Pipelines the innermost loops of all functions.
pub fn run(kernel: &mut Kernel) {
    for i in 0..kernel.functions.len() {
        let mut f = kernel.functions[i].clone();
        let before = f.locals.len();
        let mut body = std::mem::take(&mut f.body);
        nested(kernel, &mut f, &mut body);
        f.body = body;
        if let Some(lanes) = kernel.lanes.as_mut().filter(|l| l.function.index() == i) {
            mark(&f, before, &mut lanes.varying);
        }
        kernel.functions[i] = f;
    }
}

/// Which of a function's new locals differ between lanes: those that get what does.
fn mark(f: &Function, from: usize, varying: &mut Vec<bool>) {
    varying.resize(f.locals.len(), false);
    // a copy of a copy: twice
    for _ in 0..2 {
        walk::each_stmt(&f.body, &mut |s| {
            if let StmtKind::Assign(p, e) = &s.kind
                && let Some(id) = p.as_local().filter(|id| id.index() >= from)
                && is_varying(e, varying)
            {
                varying[id.index()] = true;
            }
        });
    }
}

fn nested(kernel: &Kernel, f: &mut Function, body: &mut Vec<Stmt>) {
    let mut i = 0;
    while i < body.len() {
        for b in body[i].kind.bodies_mut() {
            nested(kernel, f, b);
        }
        let span = body[i].span;
        let ahead = match &body[i].kind {
            StmtKind::For(l) if !l.abreast => ahead(kernel, f, l, span),
            _ => None,
        };
        let new = ahead.map_or_else(|| vec![body[i].clone()], |a| a.statements(span));
        let n = new.len();
        body.splice(i..=i, new);
        i += n;
    }
}

impl Ahead {
    /// All of it, in order.
    fn statements(self, span: Span) -> Vec<Stmt> {
        let mut out = self.prologue;
        out.push(StmtKind::For(Box::new(self.kernel)).at(span));
        out.extend(self.epilogue);
        match self.guard {
            None => out,
            Some(guard) => {
                // the bound and the first value are known before
                let inner = out.split_off(2);
                out.push(StmtKind::If(guard, inner, Vec::new()).at(span));
                out
            }
        }
    }
}

/// A load that can be executed a turn earlier.
struct Load {
    place: Place,
    ty: Ty,
}

/// The loop with its loads a turn ahead; `None` where there are none to move. New variables become the function's.
pub fn ahead(kernel: &Kernel, f: &mut Function, l: &For, span: Span) -> Option<Ahead> {
    let simple = l.body.iter().all(is_simple) && size(&l.body) <= LARGEST;
    let known = match (trip(l), l.from.as_int()) {
        (Some((n, last)), Some(from)) if n >= 2 => Some((n, last, from)),
        (Some(_), _) => return None,
        _ => None,
    };
    if !simple || known.is_none() && !(l.step == 1 && l.cmp == BinaryOp::Lt) {
        return None;
    }
    let loads = movable(kernel, f, l);
    if loads.is_empty() {
        return None;
    }
    let var = || Expr::local(l.var, Ty::Int);
    let set = |id: LocalId, e: Expr| StmtKind::Assign(Place::local(id), e).at(span);
    let names: Vec<(LocalId, LocalId)> =
        loads.iter().map(|load| (fresh(f, "now", load.ty.clone()), fresh(f, "next", load.ty.clone()))).collect();
    let mut prologue = Vec::new();
    let mut body = Vec::new();
    let mut turn = l.body.clone();
    for s in &mut turn {
        s.kind.each_own_expr_mut(&mut |e| take(e, &loads, &names));
    }
    let mut moves = Vec::new();
    for (load, (now, next)) in loads.iter().zip(&names) {
        let first = Expr::load(load.place.clone(), load.ty.clone());
        body.push(set(*next, shifted_expr(&first, l.var, l.step)));
        prologue.push(set(*now, first));
        moves.push(set(*now, Expr::local(*next, load.ty.clone())));
    }
    body.extend(turn.iter().cloned());
    body.extend(moves);
    let (from, cmp, to, after, guard) = match known {
        Some((_, last, from)) => {
            prologue.insert(0, set(l.var, Expr::int(from)));
            let cmp = if l.step > 0 { BinaryOp::Lt } else { BinaryOp::Gt };
            (Expr::int(from), cmp, Expr::int(last.wrapping_sub(l.step)), Expr::int(last), None)
        }
        None => {
            let end = int_local(f, "end");
            prologue.insert(0, set(end, l.to.clone()));
            prologue.insert(1, set(l.var, l.from.clone()));
            let end = || Expr::local(end, Ty::Int);
            let guard = Expr::binary(BinaryOp::Lt, var(), end(), Ty::Bool);
            // there is a turn, so that it does not wrap around
            (var(), BinaryOp::Lt, Expr::add(end(), Expr::int(-1)), end(), Some(guard))
        }
    };
    let kernel = For { var: l.var, from, cmp, to, step: l.step, body, abreast: false };
    let mut epilogue = turn;
    epilogue.push(set(l.var, after));
    Some(Ahead { prologue, kernel, epilogue, guard })
}

/// Assignments, and conditions over them.
fn is_simple(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Assign(..) => true,
        StmtKind::If(_, a, b) => a.iter().chain(b).all(is_simple),
        _ => false,
    }
}

/// Calls `f` with the places of memory that every execution of the expression reads, operands first.
fn each_certain<'a>(e: &'a Expr, f: &mut dyn FnMut(&'a Place, &'a Ty)) {
    match &e.kind {
        ExprKind::Select(c, ..) => each_certain(c, f),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, _) => each_certain(a, f),
        _ => e.each_operand(&mut |e| each_certain(e, f)),
    }
    if let ExprKind::Load(p) = &e.kind
        && p.as_local().is_none()
        && !e.ty.is_aggregate()
    {
        f(p, &e.ty);
    }
}

/// Puts the variables in the place of the loads, where [`each_certain`] finds them.
fn take(e: &mut Expr, loads: &[Load], names: &[(LocalId, LocalId)]) {
    if let ExprKind::Load(p) = &e.kind
        && let Some(i) = loads.iter().position(|l| l.place == *p)
    {
        *e = Expr::local(names[i].0, loads[i].ty.clone());
        return;
    }
    match &mut e.kind {
        ExprKind::Select(c, ..) => take(c, loads, names),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, _) => take(a, loads, names),
        _ => e.each_operand_mut(&mut |e| take(e, loads, names)),
    }
}

/// The loads of a turn that may come before the turn before.
fn movable(kernel: &Kernel, f: &Function, l: &For) -> Vec<Load> {
    let scope = Scope::of(kernel, &f.locals, l);
    // stores, by the statement that executes them
    let mut stores: Vec<(usize, Access)> = Vec::new();
    for (i, s) in l.body.iter().enumerate() {
        walk::each_stmt(std::slice::from_ref(s), &mut |s| {
            for p in s.kind.targets().into_iter().filter(|p| p.as_local().is_none()) {
                stores.push((i, scope.access(p)));
            }
        });
    }
    let mut found: Vec<(&Place, &Ty, usize)> = Vec::new();
    for (i, s) in l.body.iter().enumerate() {
        s.kind.each_own_expr(&mut |e| {
            each_certain(e, &mut |p, ty| match found.iter_mut().find(|(q, ..)| *q == p) {
                Some((_, _, last)) => *last = i,
                None => found.push((p, ty, i)),
            })
        });
    }
    let moves = |p: &Place| {
        let (mut follows, mut varies) = (true, false);
        p.each_expr(&mut |e| {
            follows &= scope.follows(e);
            varies |= !scope.fixed(e);
        });
        follows && varies
    };
    let memory = |p: &Place| !matches!(scope.memory(&p.base), Memory::Out);
    let free = |p: &Place, last: usize| {
        let access = scope.access(p);
        stores
            .iter()
            .all(|(i, store)| !may_meet(store, &access, l.step) && (*i >= last || !may_meet(store, &access, 0)))
    };
    found
        .into_iter()
        .filter(|(p, _, last)| memory(p) && moves(p) && free(p, *last))
        .take(MOST_LOADS)
        .map(|(p, ty, _)| Load { place: p.clone(), ty: ty.clone() })
        .collect()
}
