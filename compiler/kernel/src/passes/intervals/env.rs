//! Bounds of variables at a point.

use super::Facts;
use crate::ir::*;
use sluice_frontend::ids::LocalId;

/// The ints from `lo` to `hi`. Empty where `lo > hi`. Bounds may lie outside of 32 bits while they are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Least.
    pub lo: i64,
    /// Greatest.
    pub hi: i64,
}

impl Range {
    /// Every int.
    pub const ALL: Range = Range { lo: i32::MIN as i64, hi: i32::MAX as i64 };

    /// From `lo` to `hi`.
    pub fn new(lo: i64, hi: i64) -> Range {
        Range { lo, hi }
    }

    /// One value.
    pub fn exactly(v: i64) -> Range {
        Range { lo: v, hi: v }
    }

    /// Does every value fit into an int?
    pub fn is_int(self) -> bool {
        self.lo >= Range::ALL.lo && self.hi <= Range::ALL.hi
    }

    /// Itself, or all ints where an operation may have wrapped around.
    pub fn or_all(self) -> Range {
        if self.is_int() { self } else { Range::ALL }
    }

    /// The smallest range that holds both.
    pub fn hull(self, o: Range) -> Range {
        Range { lo: self.lo.min(o.lo), hi: self.hi.max(o.hi) }
    }

    /// What both hold.
    pub fn meet(self, o: Range) -> Range {
        Range { lo: self.lo.max(o.lo), hi: self.hi.min(o.hi) }
    }

    /// Sums, wrapping.
    pub fn plus(self, o: Range) -> Range {
        Range { lo: self.lo + o.lo, hi: self.hi + o.hi }.or_all()
    }

    /// Are all values at least `lo` and at most `hi`?
    pub fn within(self, lo: i64, hi: i64) -> bool {
        self.lo >= lo && self.hi <= hi
    }

    /// A range that holds this one, whose bounds are the old ones or thresholds.
    pub fn widen(self, old: Range, thresholds: &[i64]) -> Range {
        let lo = if self.lo >= old.lo {
            self.lo
        } else {
            thresholds.iter().rev().copied().find(|t| *t <= self.lo).unwrap_or(Range::ALL.lo).max(Range::ALL.lo)
        };
        let hi = if self.hi <= old.hi {
            self.hi
        } else {
            thresholds.iter().copied().find(|t| *t >= self.hi).unwrap_or(Range::ALL.hi).min(Range::ALL.hi)
        };
        Range { lo, hi }
    }
}

/// A variable whose bounds are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Var {
    Local(LocalId),
    State(StateId),
}

impl Var {
    /// The variable of a place.
    pub(super) fn of(p: &Place) -> Option<Var> {
        match p.base {
            Base::Local(id) => Some(Var::Local(id)),
            Base::State(id) => Some(Var::State(id)),
            _ => None,
        }
    }
}

/// What has been said of values that bounds cannot say.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Said {
    /// An int is not 0.
    NotZero(Expr),
    /// A boolean local is what an expression is.
    Means(LocalId, Expr),
    /// The expression is true where a boolean local is.
    Needs(LocalId, Expr),
}

impl Said {
    fn mentions(&self, v: Var) -> bool {
        let (Said::NotZero(e) | Said::Means(_, e) | Said::Needs(_, e)) = self;
        matches!((self, v), (Said::Means(id, _) | Said::Needs(id, _), Var::Local(other)) if *id == other)
            || e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if Var::of(p) == Some(v)))
    }
}

/// The most that is remembered of what has been said, and its size.
const MOST_SAID: usize = 16;
const LONGEST_SAID: usize = 24;

/// What is known at a point. For an aggregate: the bounds of all the ints in it.
#[derive(Clone)]
pub struct Env<'a> {
    pub(super) facts: &'a Facts,
    locals: Vec<Range>,
    state: Vec<Range>,
    by_ref: Vec<bool>,
    /// Ints that are not 0, and what booleans say: as long as nobody writes what they are made of.
    said: Vec<Said>,
    /// Control does not come here.
    pub(super) unreachable: bool,
}

impl PartialEq for Env<'_> {
    fn eq(&self, o: &Self) -> bool {
        self.locals == o.locals && self.state == o.state && self.unreachable == o.unreachable && self.said == o.said
    }
}

impl<'a> Env<'a> {
    pub(super) fn new(facts: &'a Facts, locals: &[Local], state: Vec<Range>) -> Env<'a> {
        let by_ref = locals.iter().map(|l| l.by_ref).collect();
        Env { facts, locals: vec![Range::ALL; locals.len()], state, by_ref, said: Vec::new(), unreachable: false }
    }

    /// What holds at every point of a function, where these are bounds of all that its locals ever hold.
    pub fn everywhere(facts: &'a Facts, locals: &[Local], bounds: &[Range]) -> Env<'a> {
        let mut env = Env::new(facts, locals, facts.state.clone());
        for (i, bound) in bounds.iter().enumerate() {
            env.set(Var::Local(LocalId::from(i)), *bound);
        }
        env
    }

    pub(super) fn get(&self, v: Var) -> Range {
        match v {
            Var::Local(id) => self.locals[id.index()],
            Var::State(id) => self.state[id.index()],
        }
    }

    pub(super) fn set(&mut self, v: Var, r: Range) {
        match v {
            // others may write the array behind a parameter
            Var::Local(id) if self.by_ref[id.index()] => {}
            Var::Local(id) => self.locals[id.index()] = r,
            Var::State(id) => self.state[id.index()] = r,
        }
    }

    /// A variable has been written: nothing that was said of it holds any more.
    pub(super) fn forget(&mut self, v: Var) {
        self.said.retain(|s| !s.mentions(v));
    }

    /// Remembers what holds, where it is made of nothing but the function's variables.
    pub(super) fn say(&mut self, said: Said) {
        let (Said::NotZero(e) | Said::Means(_, e) | Said::Needs(_, e)) = &said;
        let by_ref = |id: LocalId| self.by_ref[id.index()];
        let own = !e.any(&mut |e| match &e.kind {
            ExprKind::Load(p) => p.as_local().is_none_or(by_ref),
            ExprKind::Iter | ExprKind::Any(_) => true,
            _ => false,
        });
        let itself = matches!(&said, Said::Means(id, _) | Said::Needs(id, _) if by_ref(*id) || depends(*id, e));
        if own && !itself && e.size() <= LONGEST_SAID && self.said.len() < MOST_SAID && !self.said.contains(&said) {
            self.said.push(said);
        }
    }

    /// Has it been said that an int is not 0?
    pub(super) fn is_said_not_zero(&self, e: &Expr) -> bool {
        self.said.iter().any(|s| matches!(s, Said::NotZero(said) if said == e))
    }

    /// What a boolean is.
    pub(super) fn meaning(&self, id: LocalId) -> Option<Expr> {
        self.said.iter().find_map(|s| match s {
            Said::Means(of, e) if *of == id => Some(e.clone()),
            _ => None,
        })
    }

    /// What is true where a boolean is.
    pub(super) fn said_of(&self, id: LocalId) -> Vec<Expr> {
        let of_it = |s: &Said| match s {
            Said::Means(of, e) | Said::Needs(of, e) => (*of == id).then(|| e.clone()),
            Said::NotZero(_) => None,
        };
        self.said.iter().filter_map(of_it).collect()
    }

    /// The same where an int variable is known to lie within a range.
    pub fn knowing(&self, id: LocalId, range: Range) -> Env<'a> {
        let mut env = self.clone();
        env.set(Var::Local(id), range);
        env
    }

    /// Two ways come together.
    pub(super) fn join(&mut self, o: &Env<'a>) {
        if o.unreachable {
            return;
        }
        if self.unreachable {
            *self = o.clone();
            return;
        }
        self.locals.iter_mut().zip(&o.locals).for_each(|(a, b)| *a = a.hull(*b));
        self.state.iter_mut().zip(&o.state).for_each(|(a, b)| *a = a.hull(*b));
        self.said.retain(|s| o.said.contains(s));
    }

    /// Makes bounds that moved since `old` thresholds, or (at last) unknown: the one that moved, not the other.
    pub(super) fn widen(&mut self, old: &Env<'a>, thresholds: &[i64], all: bool) {
        let widen = |new: &mut Range, old: &Range| {
            if new != old {
                let moved = Range::new(
                    if new.lo < old.lo { Range::ALL.lo } else { new.lo },
                    if new.hi > old.hi { Range::ALL.hi } else { new.hi },
                );
                *new = if all { moved } else { new.widen(*old, thresholds) };
            }
        };
        self.locals.iter_mut().zip(&old.locals).for_each(|(a, b)| widen(a, b));
        self.state.iter_mut().zip(&old.state).for_each(|(a, b)| widen(a, b));
    }
}

/// Does an expression depend on a local?
fn depends(id: LocalId, e: &Expr) -> bool {
    e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(id)))
}
