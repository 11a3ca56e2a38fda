//! How long a firing waits for the one before, or a turn of a loop: firings are gone through with the time at which each variable's value is there. Items are there from the beginning.
//!
//! A condition that is guessed takes no time, and neither does what only one of its arms changes; one that chooses takes its own time and that of both arms, and a cycle or two. Cycles are those of usual processors,
//! roughly: what is compared are two ways to do the same.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Turns of which the time is told, and those before it, in which chains find their way.
pub(super) const TURNS: u64 = 16;
const BEFORE: u64 = 8;

/// What was found of a body.
pub(super) struct Found {
    /// Cycles of [`TURNS`] turns.
    pub cycles: u64,
    /// Which choices wait for turns before, and of which the conditions do.
    pub waits: BTreeSet<usize>,
    pub asks: BTreeSet<usize>,
}

/// Goes through a body, turn after turn, where `chosen` are choices. Its first statement has the number `first`.
pub(super) fn between_turns(
    kernel: &Kernel,
    f: &Function,
    (body, first): (&[Stmt], usize),
    chosen: &BTreeSet<usize>,
) -> Found {
    let now = Times { locals: vec![0; f.locals.len()], fields: vec![0; kernel.state.len()] };
    let mut clock = Clock { chosen, now, seen: BTreeMap::new() };
    let mut snapshots = Vec::new();
    for turn in 0..BEFORE + TURNS {
        if turn == BEFORE {
            snapshots.push((clock.latest(), clock.seen.clone()));
        }
        clock.body(body, &mut { first });
    }
    let (then, seen) = snapshots.pop().unwrap_or_default();
    let later = |part: fn(&(u64, u64)) -> u64| {
        let grows = |(n, t): (&usize, &(u64, u64))| (seen.get(n).is_some_and(|s| part(s) < part(t))).then_some(*n);
        clock.seen.iter().filter_map(grows).collect()
    };
    Found { cycles: clock.latest() - then, waits: later(|t| t.0.max(t.1)), asks: later(|t| t.0) }
}

/// When values are there.
#[derive(Clone)]
struct Times {
    locals: Vec<u64>,
    fields: Vec<u64>,
}

impl Times {
    fn of(&self, base: &Base) -> u64 {
        match base {
            Base::Local(id) => self.locals[id.index()],
            Base::State(id) => self.fields[id.index()],
            _ => 0,
        }
    }

    fn set(&mut self, p: &Place, t: u64) {
        let slot = match p.base {
            Base::Local(id) => &mut self.locals[id.index()],
            Base::State(id) => &mut self.fields[id.index()],
            _ => return,
        };
        *slot = if p.path.is_empty() { t } else { t.max(*slot) };
    }

    fn all(&self) -> impl Iterator<Item = &u64> {
        self.locals.iter().chain(&self.fields)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        self.locals.iter_mut().chain(&mut self.fields)
    }
}

struct Clock<'a> {
    chosen: &'a BTreeSet<usize>,
    now: Times,
    /// By choice: when its condition is known, and its values.
    seen: BTreeMap<usize, (u64, u64)>,
}

impl Clock<'_> {
    fn latest(&self) -> u64 {
        self.now.all().copied().max().unwrap_or(0)
    }

    fn body(&mut self, body: &[Stmt], n: &mut usize) {
        for s in body {
            let own = *n;
            *n += 1;
            match &s.kind {
                StmtKind::Assign(p, e) => {
                    let mut t = self.expr(e);
                    if let ExprKind::Select(c, a, b) = &e.kind
                        && self.chosen.contains(&own)
                    {
                        let v = self.expr(a).max(self.expr(b));
                        let bounds = super::bound(c, a, b).is_some();
                        let c = if bounds { v } else { self.condition(c, &e.ty) };
                        self.seen.insert(own, (c, v));
                        t = if bounds { v + BOUND } else { c.max(v) + choosing(&e.ty) };
                    }
                    p.each_expr(&mut |e| t = t.max(self.expr(e)));
                    self.now.set(p, t);
                }
                StmtKind::If(c, a, b) => self.either(c, [a, b], own, n),
                StmtKind::For(l) => {
                    self.now.set(&Place::local(l.var), 0);
                    self.body(&l.body, n);
                }
                other => {
                    let t = other.targets().iter().map(|p| self.now.of(&p.base)).max().unwrap_or(0);
                    other.targets().into_iter().for_each(|p| self.now.set(p, t + 20));
                    other.bodies().into_iter().for_each(|b| self.body(b, n));
                }
            }
        }
    }

    fn either(&mut self, c: &Expr, [a, b]: [&[Stmt]; 2], own: usize, n: &mut usize) {
        let before = self.now.clone();
        // what the arms choose is no float, or some of it is
        let mut float = false;
        for s in a.iter().chain(b) {
            s.kind.each_own_expr(&mut |e| float |= matches!(e.ty, Ty::Float | Ty::Double));
        }
        let ty = if float { Ty::Float } else { Ty::Int };
        let bounds = is_bound(c, [a, b]);
        let asked = match &c.kind {
            ExprKind::Binary(_, x, y) if bounds => self.expr(x).max(self.expr(y)),
            _ => self.condition(c, &ty),
        };
        self.body(a, n);
        let one = std::mem::replace(&mut self.now, before.clone());
        self.body(b, n);
        let chooses = self.chosen.contains(&own);
        let (first, second) = (written(a, before.locals.len()), written(b, before.locals.len()));
        // guessed right, what one arm alone changes is usually left; what chooses waits for both
        for ((at, t), (one, old)) in self.now.all_mut().enumerate().zip(one.all().zip(before.all())) {
            let both = chooses || first.contains(&at) == second.contains(&at);
            *t = if both { (*t).max(*one) } else { *old };
        }
        if !chooses {
            return;
        }
        let mut values = 0;
        let mut places: Vec<&Place> = Vec::new();
        for p in a.iter().chain(b).flat_map(|s| s.kind.targets()) {
            if !places.contains(&p) {
                places.push(p);
            }
        }
        for p in places {
            let t = self.now.of(&p.base).max(asked) + if bounds { BOUND } else { choosing(&ty) };
            values = values.max(t);
            self.now.set(p, t);
        }
        self.seen.insert(own, (asked, values));
    }

    /// When a choice between such values can be made: flags of ints come for nothing, a mask of floats takes its time.
    fn condition(&self, c: &Expr, ty: &Ty) -> u64 {
        match &c.kind {
            ExprKind::Unary(UnaryOp::Not, a) => self.condition(a, ty),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                self.condition(a, ty).max(self.condition(b, ty)) + 3
            }
            ExprKind::Binary(_, a, b) => {
                let values = self.expr(a).max(self.expr(b));
                let (floats, mask) = (matches!(a.ty, Ty::Float | Ty::Double), matches!(ty, Ty::Float | Ty::Double));
                values + if floats { 4 } else { 1 } + if mask && !floats { 5 } else { 0 }
            }
            _ => self.expr(c) + 1,
        }
    }

    fn expr(&self, e: &Expr) -> u64 {
        let mut t = 0;
        e.each_operand(&mut |e| t = t.max(self.expr(e)));
        let float = matches!(e.ty, Ty::Float | Ty::Double | Ty::Complex | Ty::Vec(_));
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero | ExprKind::Iter => 0,
            ExprKind::Load(p) => {
                let loads = usize::from(!p.path.is_empty()) as u64 * 5;
                t.max(self.now.of(&p.base)) + loads
            }
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => t + 12,
            ExprKind::Binary(BinaryOp::Mul, ..) if !float => t + 3,
            ExprKind::Binary(_, a, _) if float || matches!(a.ty, Ty::Float | Ty::Double) => t + 4,
            ExprKind::Convert(a) => t + if float || matches!(a.ty, Ty::Float | Ty::Double) { 5 } else { 0 },
            ExprKind::Builtin(Builtin::Abs | Builtin::Min | Builtin::Max, _) => t + 2,
            ExprKind::Builtin(..) => t + 20,
            ExprKind::Select(c, ..) if super::is_answer(e) => self.condition(c, &Ty::Int) + 1,
            // it is guessed, too
            ExprKind::Select(_, a, b) => match [a, b].map(|e| matches!(e.kind, ExprKind::Load(_))) {
                [true, false] => self.expr(a),
                [false, true] => self.expr(b),
                _ => self.expr(a).max(self.expr(b)),
            },
            _ => t + 1,
        }
    }
}

/// Do the arms of a condition leave one of the two floats that it compares?
fn is_bound(c: &Expr, arms: [&[Stmt]; 2]) -> bool {
    let of = |arm: &[Stmt]| match arm {
        [Stmt { kind: StmtKind::Assign(p, e), .. }] => Some((p.clone(), e.clone())),
        _ => None,
    };
    let (p, yes, no) = match (of(arms[0]), of(arms[1])) {
        (Some((p, yes)), Some((q, no))) if p == q => (p, yes, no),
        (Some((p, yes)), None) if arms[1].is_empty() => (p.clone(), yes.clone(), Expr::load(p, yes.ty)),
        (None, Some((p, no))) if arms[0].is_empty() => (p.clone(), Expr::load(p, no.ty.clone()), no),
        _ => return false,
    };
    p.path.is_empty() && super::bound(c, &yes, &no).is_some()
}

/// Cycles of the lesser of two floats.
const BOUND: u64 = 3;

/// Which variables are written, by their places among all times.
fn written(body: &[Stmt], locals: usize) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    walk::each_stmt(body, &mut |s| {
        for p in s.kind.targets() {
            match p.base {
                Base::Local(id) => drop(out.insert(id.index())),
                Base::State(id) => drop(out.insert(locals + id.index())),
                _ => {}
            }
        }
    });
    out
}

/// Cycles between a condition's answer, or a value, and the value chosen.
fn choosing(ty: &Ty) -> u64 {
    if matches!(ty, Ty::Float | Ty::Double) { 2 } else { 1 }
}
