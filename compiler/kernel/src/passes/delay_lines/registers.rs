//! Shift registers in an int: a field whose bits are the last items becomes an array of these, which is a shift register like others.
//!
//! ```text
//! state0 = (((state0 << 1) | in(0)) & 7)  out(0) = (state0 ^ 5)
//!   →  $b = in(0)  state0[2] = state0[1]  state0[1] = state0[0]  state0[0] = $b
//!      $s = ((state0[0] | (state0[1] << 1)) | (state0[2] << 2))  out(0) = ($s ^ 5)
//! ```
//!
//! Input: a kernel after `lower-channels`. Output: the same with such fields as arrays, for who looks for what fields hold ([`super`]). Coders and scramblers are written so.
//!
//! What must hold: all that is ever assigned to the field is itself, moved by so many bits, and joined with a value that has no others than those that have become free ([`super::super::intervals`]);
//! whatever is moved out of the register's width is masked. Its parts are then what they were joined from, at every point of a firing.

use super::firing::site;
use crate::ir::*;
use crate::passes::intervals::{Env, Facts, Range, each_statement};
use crate::passes::lanes::fresh;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::HashMap;

/// Parts of a register, at most: each is an item that is looked at again in every firing.
const MOST: u32 = 16;

/// How a register moves.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Register {
    /// By so many bits.
    by: u32,
    /// So many bits are kept.
    width: u32,
    /// To the left: what is new comes in on the right.
    left: bool,
}

impl Register {
    fn parts(self) -> u32 {
        self.width.div_ceil(self.by)
    }

    fn fits(self) -> bool {
        // what is moved to the right is whole parts
        let whole = self.left || self.width.is_multiple_of(self.by);
        self.by > 0 && self.by < self.width && self.width < 32 && whole && self.parts() <= MOST
    }

    fn mask(self) -> i32 {
        (1i32 << self.width) - 1
    }

    /// What a part holds of a value.
    fn part(self, value: i32, k: u32) -> i32 {
        value >> (self.by * k) & ((1 << self.by) - 1)
    }
}

/// The kernel with such fields as arrays; `None` where there is none.
pub fn apart(kernel: &Kernel) -> Option<Kernel> {
    let mut kernel = kernel.clone();
    let mut any = false;
    for id in (0..kernel.state.len()).map(StateId::from) {
        joined(&mut kernel, id);
        if let Some(register) = register(&kernel, id) {
            rewrite(&mut kernel, id, register);
            any = true;
        }
    }
    any.then_some(kernel)
}

fn is_field(p: &Place, id: StateId) -> bool {
    p.base == Base::State(id) && p.path.is_empty()
}

fn reads(e: &Expr, id: StateId) -> bool {
    e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.base == Base::State(id)))
}

/// `s = s << 1  s = s | b  s = s & 7` as one: what is assigned and assigned again at once is put where it is read.
fn joined(kernel: &mut Kernel, id: StateId) {
    let f = &mut kernel.functions[kernel.work.function.index()];
    walk::each_body_mut(&mut f.body, &mut |list| {
        let mut i = 0;
        while i + 1 < list.len() {
            let first = match &list[i].kind {
                StmtKind::Assign(p, e) if is_field(p, id) => e.clone(),
                _ => {
                    i += 1;
                    continue;
                }
            };
            // variables may be set between, which the first does not read, to what does not read the field
            let own = |e: &Expr, x: LocalId| {
                e.any(&mut |e| matches!(&e.kind, ExprKind::Load(Place { base: Base::Local(y), .. }) if *y == x))
            };
            let mut next = i + 1;
            while let Some(StmtKind::Assign(p, e)) = list.get(next).map(|s| &s.kind)
                && let Some(x) = p.as_local()
                && !reads(e, id)
                && !own(&first, x)
            {
                next += 1;
            }
            let Some(StmtKind::Assign(p, e)) = list.get_mut(next).map(|s| &mut s.kind) else {
                i += 1;
                continue;
            };
            let mut times = 0;
            e.walk(&mut |e| times += usize::from(matches!(&e.kind, ExprKind::Load(p) if p.base == Base::State(id))));
            if !is_field(p, id) || times != 1 {
                i += 1;
                continue;
            }
            e.walk_mut(&mut |e| {
                if matches!(&e.kind, ExprKind::Load(p) if is_field(p, id)) {
                    *e = first.clone();
                }
            });
            list.remove(i);
        }
    });
}

/// How a field moves, where it is a register and begins as one.
fn register(kernel: &Kernel, id: StateId) -> Option<Register> {
    let field = &kernel.state[id.index()];
    let Const::Int(initial) = field.initial else { return None };
    let f = kernel.function(kernel.work.function);
    let mut found: Option<Register> = None;
    let (mut good, mut added) = (true, HashMap::new());
    walk::each_stmt(&f.body, &mut |s| {
        if !s.kind.targets().iter().any(|p| p.base == Base::State(id)) {
            return;
        }
        let StmtKind::Assign(_, e) = &s.kind else {
            good = false;
            return;
        };
        match moved(e, id).filter(|(r, _)| r.fits() && found.is_none_or(|f| f == *r)) {
            Some((register, new)) => {
                found = Some(register);
                added.insert(site(s), (new.clone(), Range::exactly(0)));
            }
            None => good = false,
        }
    });
    let register = found.filter(|r| good && (0..=r.mask()).contains(&initial))?;
    let elsewhere = kernel.functions.iter().any(|other| {
        let mut named = false;
        walk::each_stmt(&other.body, &mut |s| named |= s.kind.targets().iter().any(|p| p.base == Base::State(id)));
        !std::ptr::eq(other, f) && named
    });
    let facts = Facts::of(kernel);
    each_statement(kernel, &facts, f, &mut |s: &Stmt, env: &Env<'_>| {
        if let Some((new, range)) = added.get_mut(&site(s)) {
            *range = range.hull(env.eval(new));
        }
    });
    let small = |(_, r): &(Expr, Range)| r.within(0, (1 << register.by) - 1);
    (!elsewhere && added.values().all(small)).then_some(register)
}

/// A power of two that a value is multiplied by.
fn shifted(e: &Expr, left: bool) -> Option<(&Expr, u32)> {
    let ExprKind::Binary(op, a, b) = &e.kind else { return None };
    let power = |n: i32| (n > 1 && (n as u32).is_power_of_two()).then(|| n.trailing_zeros());
    let bits = |n: i32| u32::try_from(n).ok().filter(|n| (1..31).contains(n));
    match (op, a.as_int(), b.as_int()) {
        (BinaryOp::Shl, None, Some(n)) if left => Some((a, bits(n)?)),
        (BinaryOp::Shr, None, Some(n)) if !left => Some((a, bits(n)?)),
        (BinaryOp::Mul, None, Some(n)) if left => Some((a, power(n)?)),
        (BinaryOp::Mul, Some(n), None) if left => Some((b, power(n)?)),
        _ => None,
    }
}

/// A value without bits beyond a width, and that.
fn masked(e: &Expr) -> Option<(&Expr, i32)> {
    let ExprKind::Binary(BinaryOp::BitAnd, a, b) = &e.kind else { return None };
    match (a.as_int(), b.as_int()) {
        (None, Some(mask)) => Some((a, mask)),
        (Some(mask), None) => Some((b, mask)),
        _ => None,
    }
}

/// The field's value, moved and joined with another: how, and with what.
fn moved(e: &Expr, id: StateId) -> Option<(Register, &Expr)> {
    let field = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if is_field(p, id));
    let width_of = |mask: i32| (mask > 0 && mask & (mask + 1) == 0).then(|| mask.trailing_ones());
    let joins = |e: &Expr| matches!(&e.kind, ExprKind::Binary(BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Add, ..));
    let (inner, outer) = match masked(e) {
        Some((inner, mask)) if joins(inner) => (inner, Some(mask)),
        _ => (e, None),
    };
    let ExprKind::Binary(_, a, b) = &inner.kind else { return None };
    if !joins(inner) {
        return None;
    }
    for (old, new) in [(&**a, &**b), (&**b, &**a)] {
        // (s << 1 | b) & 7, and s << 1 & 7 | b
        let (shift, own) = match masked(old) {
            Some((shift, mask)) => (shift, Some(mask)),
            None => (old, None),
        };
        if let Some((_, by)) = shifted(shift, true).filter(|(of, _)| field(of)) {
            let free = (1i32 << by) - 1;
            let width = width_of(outer.or(own.map(|m| m | free))?)?;
            let both = outer.is_none() || own.is_none();
            return both.then_some((Register { by, width, left: true }, new));
        }
        // s >> 1 | b << 6
        if let Some((_, by)) = shifted(old, false).filter(|(of, _)| field(of)) {
            let (new, to) = shifted(new, true)?;
            let register = Register { by, width: to + by, left: false };
            return outer.is_none_or(|mask| mask == register.mask()).then_some((register, new));
        }
    }
    None
}

/// The field as an array of its parts, the last bits first.
fn rewrite(kernel: &mut Kernel, id: StateId, register: Register) {
    let n = register.parts();
    let field = &mut kernel.state[id.index()];
    let Const::Int(initial) = field.initial else { return };
    field.ty = Ty::Int.array(n);
    field.initial = Const::Array((0..n).map(|k| Const::Int(register.part(initial, k))).collect());
    let f = &mut kernel.functions[kernel.work.function.index()];
    let whole = fresh(f, &kernel.state[id.index()].name, Ty::Int);
    let mut body = std::mem::take(&mut f.body);
    let mut made = Parts { f, id, register, whole };
    made.list(&mut body);
    // what is read before the first move is there from the beginning
    let moves = |s: &Stmt| matches!(&s.kind, StmtKind::Assign(p, _) if p.as_local() == Some(whole));
    let before = body.iter().position(moves).unwrap_or(body.len());
    if walk::uses(&body[..before], whole) > 0 {
        let span = made.f.span;
        body.insert(0, StmtKind::Assign(Place::local(whole), made.value()).at(span));
    }
    f.body = body;
}

struct Parts<'a> {
    f: &'a mut Function,
    id: StateId,
    register: Register,
    /// What the field holds.
    whole: LocalId,
}

impl Parts<'_> {
    fn place(&self, k: u32) -> Place {
        Place { base: Base::State(self.id), path: vec![Proj::Index(Expr::int(k as i32))] }
    }

    fn value(&self) -> Expr {
        let Register { by, width, .. } = self.register;
        let n = self.register.parts();
        let part = |k: u32| {
            let part = Expr::load(self.place(k), Ty::Int);
            if k == 0 { part } else { Expr::binary(BinaryOp::Shl, part, Expr::int((by * k) as i32), Ty::Int) }
        };
        let all = (1..n).fold(part(0), |all, k| Expr::binary(BinaryOp::BitOr, all, part(k), Ty::Int));
        if n * by == width {
            return all;
        }
        Expr::binary(BinaryOp::BitAnd, all, Expr::int(self.register.mask()), Ty::Int)
    }

    fn list(&mut self, body: &mut Vec<Stmt>) {
        let mut i = 0;
        while i < body.len() {
            let new = match &body[i].kind {
                StmtKind::Assign(p, e) if is_field(p, self.id) => moved(e, self.id).map(|(_, new)| new.clone()),
                _ => None,
            };
            if let Some(new) = new {
                let all = self.update(new, body[i].span);
                let n = all.len();
                body.splice(i..=i, all);
                i += n;
                continue;
            }
            body[i].kind.each_own_expr_mut(&mut |e| self.reads(e));
            for b in body[i].kind.bodies_mut() {
                self.list(b);
            }
            i += 1;
        }
    }

    fn reads(&self, e: &mut Expr) {
        e.walk_mut(&mut |e| {
            if matches!(&e.kind, ExprKind::Load(p) if is_field(p, self.id)) {
                *e = Expr::local(self.whole, Ty::Int);
            }
        });
    }

    /// One move, and what the field holds then.
    fn update(&mut self, mut new: Expr, span: sluice_grammar::span::Span) -> Vec<Stmt> {
        self.reads(&mut new);
        let n = self.register.parts();
        let next = fresh(self.f, "new", Ty::Int);
        let set = |p: Place, e: Expr| StmtKind::Assign(p, e).at(span);
        let mut out = vec![set(Place::local(next), new)];
        let load = |k: u32| Expr::load(self.place(k), Ty::Int);
        let last = if self.register.left {
            out.extend((1..n).rev().map(|k| set(self.place(k), load(k - 1))));
            0
        } else {
            out.extend((1..n).map(|k| set(self.place(k - 1), load(k))));
            n - 1
        };
        out.push(set(self.place(last), Expr::local(next, Ty::Int)));
        out.push(set(Place::local(self.whole), self.value()));
        out
    }
}

#[cfg(test)]
mod tests;
