//! What would be evaluated in vain must not go wrong.
//!
//! ```text
//! $y = select($c, table0[$x], $y)   →   $y = select($c, table0[select($c, $x, 0)], $y)
//! ```
//!
//! Input: a function in lanes, which evaluates both sides of selections, and both operands of `&&` and `||`. Output: the same, where no lane reads outside of an array or divides by 0 that has no
//! use for the result: indices that are not known to lie within are 0 there, divisors 1. An index that is the same in all lanes is 0 where no lane has a use for it.

use super::is_varying;
use crate::ir::*;
use crate::passes::intervals::{Env, Facts, Range};
use crate::types;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::cell::Cell;

/// What is known of ints wherever they stand: of counters of the loops around, which lie within their bounds.
pub(super) struct Known<'a> {
    env: Env<'a>,
    kernel: &'a Kernel,
}

impl<'a> Known<'a> {
    pub(super) fn new(kernel: &'a Kernel, facts: &'a Facts, locals: &[Local]) -> Known<'a> {
        Known { env: Env::everywhere(facts, locals, &[]), kernel }
    }

    /// Within a loop.
    pub(super) fn within_loop(&self, l: &For) -> Known<'a> {
        let (from, to) = (self.env.eval(&l.from), self.env.eval(&l.to));
        let inside = match (l.cmp, l.step > 0) {
            (BinaryOp::Lt, true) => Range::new(from.lo, to.hi - 1),
            (BinaryOp::Le, true) => Range::new(from.lo, to.hi),
            (BinaryOp::Gt, false) => Range::new(to.lo + 1, from.hi),
            (BinaryOp::Ge, false) => Range::new(to.lo, from.hi),
            _ => Range::ALL,
        };
        // the step may wrap around
        let step = i64::from(l.step);
        let fits = Range::new(inside.lo + step, inside.hi + step).is_int() && inside.is_int();
        Known { env: self.env.knowing(l.var, if fits { inside } else { Range::ALL }), kernel: self.kernel }
    }

    /// Does a place exist, whatever the other variables hold?
    pub(super) fn exists(&self, p: &Place, locals: &[Local]) -> bool {
        let at = |e: &Expr, n: u32| is_sure(e) || self.env.eval(e).within(0, i64::from(n) - 1);
        if let Base::In(e) = &p.base
            && !at(e, self.kernel.work.rates.peek)
        {
            return false;
        }
        let mut whole = Place { base: p.base.clone(), path: Vec::new() };
        p.path.iter().all(|step| {
            let len = types::place(self.kernel, locals, &whole).and_then(|ty| ty.known_len());
            whole.path.push(step.clone());
            match step {
                Proj::Index(e) => len.is_some_and(|n| at(e, n)),
                _ => true,
            }
        })
    }

    fn is_never_zero(&self, e: &Expr) -> bool {
        let r = self.env.eval(e);
        r.lo > 0 || r.hi < 0
    }
}

/// Conditions under which something is of use, and what each must be.
type When = Vec<(Expr, bool)>;

/// What guards may add, in operations: each repeats the conditions before it, and those within them.
const MOST: usize = 1 << 16;

/// Makes all that is evaluated in vain harmless. False where that would be too much.
pub(super) fn guard(f: &mut Function, varying: &[bool], known: &Known<'_>) -> bool {
    let mut body = std::mem::take(&mut f.body);
    let guard = Guard { locals: &f.locals, varying, left: Cell::new(Some(MOST)) };
    guard.body(&mut body, known);
    f.body = body;
    guard.left.get().is_some()
}

struct Guard<'a> {
    locals: &'a [Local],
    varying: &'a [bool],
    /// Operations that may still be added; nothing where there were too many.
    left: Cell<Option<usize>>,
}

impl Guard<'_> {
    fn body(&self, body: &mut [Stmt], known: &Known<'_>) {
        for s in body {
            s.kind.each_own_expr_mut(&mut |e| self.expr(e, &mut Vec::new(), known));
            match &mut s.kind {
                StmtKind::For(l) => {
                    let within = known.within_loop(l);
                    self.body(&mut l.body, &within);
                }
                kind => kind.bodies_mut().into_iter().for_each(|b| self.body(b, known)),
            }
        }
    }

    fn expr(&self, e: &mut Expr, when: &mut When, known: &Known<'_>) {
        let varies = |e: &Expr| is_varying(e, self.varying);
        match &mut e.kind {
            ExprKind::Select(c, a, b) if varies(c) => {
                self.expr(c, when, known);
                for (side, yes) in [(a, true), (b, false)] {
                    when.push(((**c).clone(), yes));
                    self.expr(side, when, known);
                    when.pop();
                }
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if varies(a) || varies(b) => {
                self.expr(a, when, known);
                when.push(((**a).clone(), *op == BinaryOp::And));
                self.expr(b, when, known);
                when.pop();
            }
            _ => e.each_operand_mut(&mut |o| self.expr(o, when, known)),
        }
        if when.is_empty() {
            return;
        }
        let needs = match &e.kind {
            ExprKind::Load(p) => !known.exists(p, self.locals),
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) => b.ty == Ty::Int && !known.is_never_zero(b),
            _ => false,
        };
        if !needs {
            return;
        }
        let added: usize = when.iter().map(|(c, _)| c.size()).sum();
        self.left.set(self.left.get().and_then(|left| left.checked_sub(added)));
        if self.left.get().is_none() {
            return;
        }
        match &mut e.kind {
            ExprKind::Load(p) => {
                p.each_expr_mut(&mut |at| {
                    let asked = if varies(at) { all(when) } else { anywhere(all(when)) };
                    *at = choose(asked, at.clone(), Expr::int(0));
                });
            }
            ExprKind::Binary(_, _, b) => {
                **b = choose(all(when), (**b).clone(), Expr::int(1));
            }
            _ => {}
        }
    }
}

/// Is it the place of some lane, or the first one where there is none?
fn is_sure(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Select(c, _, none) if matches!(c.kind, ExprKind::Any(_)) && none.as_int() == Some(0))
}

/// All of the conditions.
fn all(when: &[(Expr, bool)]) -> Expr {
    let one = |(c, yes): &(Expr, bool)| if *yes { c.clone() } else { Expr::not(c.clone()) };
    let both = |a, b| Expr::binary(BinaryOp::And, a, b, Ty::Bool);
    when.iter().map(one).reduce(both).unwrap_or(Expr::bool(true))
}

/// Is it true in any lane?
pub(super) fn anywhere(e: Expr) -> Expr {
    Expr { kind: ExprKind::Any(Box::new(e)), ty: Ty::Bool }
}

/// A selection.
pub(super) fn choose(c: Expr, a: Expr, b: Expr) -> Expr {
    let ty = a.ty.clone();
    Expr { kind: ExprKind::Select(Box::new(c), Box::new(a), Box::new(b)), ty }
}

/// Is this one of the function's variables?
pub(super) fn loads(e: &Expr, of: &mut dyn FnMut(LocalId) -> bool) -> bool {
    e.any(&mut |e| matches!(&e.kind, ExprKind::Load(Place { base: Base::Local(id), .. }) if of(*id)))
}
