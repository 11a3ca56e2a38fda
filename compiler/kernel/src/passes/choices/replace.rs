//! The statements that are choices, written as such.

use super::{condition, harmless, number};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;
use std::collections::BTreeSet;

/// Selections within assigned values become assignments of their own before them, so that each has a number.
pub(super) fn selections_apart(f: &mut Function, rates: Rates) {
    let mut body = std::mem::take(&mut f.body);
    apart(&mut body, &mut f.locals, rates);
    f.body = body;
}

fn apart(body: &mut Vec<Stmt>, locals: &mut Vec<Local>, rates: Rates) {
    let mut i = 0;
    while i < body.len() {
        body[i].kind.bodies_mut().into_iter().for_each(|b| apart(b, locals, rates));
        let span = body[i].span;
        let mut before = Vec::new();
        if let StmtKind::Assign(p, e) = &mut body[i].kind {
            let stays = p.as_local().is_some() && matches!(e.kind, ExprKind::Select(..));
            let mut take = |e: &mut Expr| {
                let ExprKind::Select(c, ..) = &e.kind else { return };
                if condition(c, rates) && harmless(e, rates) {
                    let id = fresh(locals, &e.ty);
                    let value = std::mem::replace(e, Expr::local(id, e.ty.clone()));
                    before.push(StmtKind::Assign(Place::local(id), value).at(span));
                }
            };
            if stays {
                e.each_operand_mut(&mut |e| e.walk_mut(&mut take));
            } else {
                e.walk_mut(&mut take);
            }
        }
        let n = before.len();
        body.splice(i..i, before);
        i += n + 1;
    }
}

fn fresh(locals: &mut Vec<Local>, ty: &Ty) -> LocalId {
    locals.push(Local { name: "choice".into(), ty: ty.clone(), by_ref: false });
    LocalId::from(locals.len() - 1)
}

/// Replaces them. Gives the locals that are chosen.
pub(super) fn replace(f: &mut Function, chosen: &BTreeSet<usize>) -> Vec<LocalId> {
    let before = f.body.clone();
    let old = f.locals.len();
    let mut r = Replace { all: &before, old, locals: &mut f.locals, chosen, made: Vec::new() };
    f.body = r.body(&before, &mut 0);
    r.made
}

struct Replace<'a> {
    all: &'a [Stmt],
    /// Locals before.
    old: usize,
    locals: &'a mut Vec<Local>,
    chosen: &'a BTreeSet<usize>,
    made: Vec<LocalId>,
}

/// What an arm leaves in variables that are seen behind it.
type Left = Vec<(Place, Expr)>;

impl Replace<'_> {
    fn body(&mut self, body: &[Stmt], n: &mut usize) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(body.len());
        for s in body {
            let own = *n;
            *n += 1;
            let chosen = self.chosen.contains(&own);
            match &s.kind {
                StmtKind::Assign(p, Expr { kind: ExprKind::Select(c, a, b), .. }) if chosen => {
                    let (c, swapped) = self.asked(c, s.span, &mut out);
                    let value = self.select((&c, swapped), (**a).clone(), (**b).clone(), s.span, &mut out);
                    out.push(StmtKind::Assign(p.clone(), value).at(s.span));
                }
                StmtKind::If(c, a, b) if chosen => {
                    let (inner, outer) = (self.only_in(a), self.only_in(b));
                    let (a, b) = (self.body(a, n), self.body(b, n));
                    if !a.iter().chain(&b).all(|s| matches!(s.kind, StmtKind::Assign(..))) {
                        // something in it is none
                        out.push(StmtKind::If(c.clone(), a, b).at(s.span));
                        continue;
                    }
                    let c = self.asked(c, s.span, &mut out);
                    let (a, b) = (self.arm(a, &inner, &mut out), self.arm(b, &outer, &mut out));
                    let mut places: Vec<&Place> = Vec::new();
                    for (p, _) in a.iter().chain(&b) {
                        if !places.contains(&p) {
                            places.push(p);
                        }
                    }
                    let ty =
                        |p: &Place| a.iter().chain(&b).find(|(q, _)| q == p).map_or(Ty::Void, |(_, e)| e.ty.clone());
                    let mut all = Vec::new();
                    for p in places {
                        let of = |left: &Left| {
                            let found = left.iter().find(|(q, _)| q == p);
                            found.map_or_else(|| Expr::load(p.clone(), ty(p)), |(_, e)| e.clone())
                        };
                        let value = self.select((&c.0, c.1), of(&a), of(&b), s.span, &mut out);
                        all.push(StmtKind::Assign(p.clone(), value).at(s.span));
                    }
                    out.extend(all);
                }
                _ => {
                    let mut s = s.clone();
                    for b in s.kind.bodies_mut() {
                        *b = self.body(b, n);
                    }
                    out.push(s);
                }
            }
        }
        out
    }

    /// Locals that are used in these statements only.
    fn only_in(&self, arm: &[Stmt]) -> BTreeSet<LocalId> {
        let mut out = BTreeSet::new();
        walk::each_written(arm, &mut |id| {
            if !out.contains(&id) && walk::uses(arm, id) == walk::uses(self.all, id) {
                out.insert(id);
            }
        });
        out
    }

    /// An arm is executed in any case, and leaves its values in variables of its own.
    fn arm(&mut self, arm: Vec<Stmt>, own: &BTreeSet<LocalId>, out: &mut Vec<Stmt>) -> Left {
        let mut left = Left::new();
        // then nothing changes a variable between what is said of it here and the choice
        let alone = arm.len() == 1;
        for s in arm {
            let StmtKind::Assign(p, mut e) = s.kind else { continue };
            e.walk_mut(&mut |e| {
                if let ExprKind::Load(q) = &e.kind
                    && let Some((_, value)) = left.iter().find(|(p, _)| p == q)
                {
                    *e = value.clone();
                }
            });
            if p.as_local().is_some_and(|id| id.index() >= self.old || own.contains(&id)) {
                out.push(StmtKind::Assign(p, e).at(s.span));
                continue;
            }
            let at_hand = matches!(&e.kind, ExprKind::Load(q) if q.as_local().is_some());
            let value = if alone && at_hand { e } else { self.simple(e, s.span, out) };
            left.retain(|(q, _)| *q != p);
            left.push((p, value));
        }
        left
    }

    /// A constant, or a variable of its own.
    fn simple(&mut self, e: Expr, span: Span, out: &mut Vec<Stmt>) -> Expr {
        if e.as_const().is_some() {
            return e;
        }
        let id = fresh(self.locals, &e.ty);
        let ty = e.ty.clone();
        out.push(StmtKind::Assign(Place::local(id), e).at(span));
        Expr::local(id, ty)
    }

    fn select(&mut self, (c, swapped): (&Expr, bool), a: Expr, b: Expr, span: Span, out: &mut Vec<Stmt>) -> Expr {
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let ty = a.ty.clone();
        let id = fresh(self.locals, &ty);
        self.made.push(id);
        let kind = ExprKind::Select(Box::new(c.clone()), Box::new(a), Box::new(b));
        out.push(StmtKind::Assign(Place::local(id), Expr { kind, ty: ty.clone() }).at(span));
        Expr::local(id, ty)
    }

    /// A condition as one comparison of values at hand, or a boolean variable. Does it say the contrary?
    fn asked(&mut self, c: &Expr, span: Span, out: &mut Vec<Stmt>) -> (Expr, bool) {
        match &c.kind {
            ExprKind::Unary(UnaryOp::Not, a) => {
                let (c, contrary) = self.asked(a, span, out);
                (c, !contrary)
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let c = self.asked(a, span, out);
                let second = self.simple((**b).clone(), span, out);
                let (yes, no) =
                    if *op == BinaryOp::And { (second, Expr::bool(false)) } else { (Expr::bool(true), second) };
                (self.select((&c.0, c.1), yes, no, span, out), false)
            }
            ExprKind::Binary(op, a, b) => {
                let mut side = |e: &Expr| match &e.kind {
                    ExprKind::Load(_) => e.clone(),
                    _ => self.simple(e.clone(), span, out),
                };
                let (a, b) = (side(a), side(b));
                (Expr::binary(*op, a, b, Ty::Bool), false)
            }
            _ => (c.clone(), false),
        }
    }
}

/// Is it a choice as [`replace`] writes them? A comparison, or a boolean variable.
pub fn is_plain(c: &Expr) -> bool {
    let at_hand = |e: &Expr| matches!(e.kind, ExprKind::Const(_) | ExprKind::Zero | ExprKind::Load(_)) && number(&e.ty);
    match &c.kind {
        ExprKind::Binary(op, a, b) => !matches!(op, BinaryOp::And | BinaryOp::Or) && at_hand(a) && at_hand(b),
        ExprKind::Load(_) => true,
        _ => false,
    }
}
