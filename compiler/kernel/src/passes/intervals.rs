//! # intervals
//!
//! Purpose: bounds of int values at every point of a function. Input: a kernel, any form. Output: calls of a visitor with each
//! check and the bounds at its point. An analysis, used by `prove_checks`.
//!
//! ```text
//! for $i = 0 < 8 step 1 { $j = ($i * 4)  ... }   at `...`: $i in [0, 7], $j in [0, 28]
//! ```
//!
//! Sound with wrap-around: an operation whose exact result may leave the ints gives all ints. Bounds of state fields hold
//! at the start of every firing: found by widening to the program's own constants until nothing changes.

mod env;
mod eval;

pub use env::{Env, Range};

use super::clean::trip;
use crate::ir::*;
use crate::walk;
use env::{Said, Var};
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// A check, its address, and what is known where it stands.
pub type Visitor<'v> = &'v mut dyn FnMut(&Check, usize, &Env<'_>);

/// A statement, and what is known before it.
pub type Looker<'v> = &'v mut dyn FnMut(&Stmt, &Env<'_>);

/// What is known about the kernel as a whole.
pub struct Facts {
    /// Bounds of int state fields at the start of a firing.
    state: Vec<Range>,
    /// Bounds of all the ints in a table.
    pub(crate) tables: Vec<Range>,
    /// Bounds of all the ints in an item that it takes.
    pub(crate) input: Range,
    /// Constants in the code, and their neighbours, ascending.
    thresholds: Vec<i64>,
}

impl Facts {
    /// Finds the bounds of the state fields.
    pub fn of(kernel: &Kernel) -> Facts {
        Facts::knowing(kernel, Range::ALL)
    }

    /// What the ints are that a filter gives, where it is one that gives ints; `None` where it gives none.
    pub fn given(&self, kernel: &Kernel) -> Option<Range> {
        let mut given = None;
        for f in &kernel.functions {
            let mut w = Walker::new(kernel, self, f);
            w.given = Some(&mut given);
            let mut env = w.start();
            w.body(&f.body, &mut env);
        }
        given
    }

    /// What holds whatever the state fields hold, where the ints that it takes are known to lie within a range.
    pub fn of_any_state(kernel: &Kernel, input: Range) -> Facts {
        let tables = kernel.tables.iter().map(|t| t.known().map_or(Range::ALL, hull_of)).collect();
        Facts { state: vec![Range::ALL; kernel.state.len()], tables, input, thresholds: thresholds(kernel) }
    }

    /// The same where the ints that it takes are known to lie within a range.
    pub fn knowing(kernel: &Kernel, input: Range) -> Facts {
        let mut facts = Facts::of_any_state(kernel, input);
        let elsewhere = |i: usize| kernel.elsewhere.contains(&StateId::from(i));
        let first = |(i, s): (usize, &StateField)| if elsewhere(i) { Range::ALL } else { hull_of(&s.initial) };
        facts.state = kernel.state.iter().enumerate().map(first).collect();
        // each round either ends the search or moves a bound to the next threshold; past the limit the rest is unknown
        for round in 0..24 {
            let mut seen = facts.state.clone();
            for f in &kernel.functions {
                let mut w = Walker::new(kernel, &facts, f);
                w.written = Some(&mut seen);
                let mut env = w.start();
                w.body(&f.body, &mut env);
            }
            if seen == facts.state {
                return facts;
            }
            for (s, new) in facts.state.iter_mut().zip(seen) {
                if *s != new {
                    *s = if round < 20 { new.widen(*s, &facts.thresholds) } else { Range::ALL };
                }
            }
        }
        facts.state.fill(Range::ALL);
        facts
    }
}

/// Visits the checks of a function.
pub fn each_check(kernel: &Kernel, facts: &Facts, f: &Function, visit: Visitor<'_>) {
    let mut w = Walker::new(kernel, facts, f);
    w.visit = Some(visit);
    let mut env = w.start();
    w.body(&f.body, &mut env);
}

/// Visits the statements of a function that are reached, some of them more than once.
pub fn each_statement(kernel: &Kernel, facts: &Facts, f: &Function, look: Looker<'_>) {
    let mut w = Walker::new(kernel, facts, f);
    w.look = Some(look);
    let mut env = w.start();
    w.body(&f.body, &mut env);
}

/// The least and greatest int in a constant.
fn hull_of(c: &Const) -> Range {
    match c {
        Const::Int(i) => Range::exactly(i64::from(*i)),
        Const::Array(items) | Const::Struct(items) => {
            items.iter().map(hull_of).reduce(Range::hull).unwrap_or(Range::exactly(0))
        }
        _ => Range::exactly(0),
    }
}

fn thresholds(kernel: &Kernel) -> Vec<i64> {
    let mut out = vec![0];
    let mut add = |i: i64| out.extend([i - 1, i, i + 1]);
    for f in &kernel.functions {
        walk::each_expr(&f.body, &mut |e| {
            if let Some(i) = e.as_int() {
                add(i.into());
                add(-i64::from(i));
            }
        });
        walk::each_stmt(&f.body, &mut |s| {
            if let StmtKind::Check(Check::Index { length, .. }) = &s.kind {
                add((*length).into());
            }
        });
    }
    out.sort_unstable();
    out.dedup();
    out
}

struct Walker<'a, 'v> {
    kernel: &'a Kernel,
    facts: &'a Facts,
    f: &'a Function,
    visit: Option<Visitor<'v>>,
    look: Option<Looker<'v>>,
    /// The hull of what is stored in each state field.
    written: Option<&'v mut Vec<Range>>,
    /// The hull of what is given.
    given: Option<&'v mut Option<Range>>,
    /// While a loop's bounds are being sought, checks are not visited.
    seeking: u32,
    /// Of the loops and blocks around, the outermost first.
    around: Vec<Jumps<'a>>,
}

/// Turns of a loop that are gone through until bounds that move are unknown, and until all that the loop writes is.
const UNKNOWN_FROM: usize = 4;
const ROUNDS: usize = 8;

/// What is known where control jumps to: behind a loop or block, and to its next turn.
#[derive(Default)]
struct Jumps<'a> {
    breaks: Option<Env<'a>>,
    continues: Option<Env<'a>>,
}

/// What is known where control may also come from there.
fn also<'a>(known: &mut Option<Env<'a>>, from: &Env<'a>) {
    match known {
        Some(known) => known.join(from),
        None => *known = Some(from.clone()),
    }
}

impl<'a, 'v> Walker<'a, 'v> {
    fn new(kernel: &'a Kernel, facts: &'a Facts, f: &'a Function) -> Self {
        Walker { kernel, facts, f, visit: None, look: None, written: None, given: None, seeking: 0, around: Vec::new() }
    }

    fn start(&self) -> Env<'a> {
        Env::new(self.facts, &self.f.locals, self.facts.state.clone())
    }

    fn body(&mut self, body: &[Stmt], env: &mut Env<'a>) {
        for s in body {
            if env.unreachable {
                return;
            }
            self.stmt(s, env);
        }
    }

    /// A variable is written: all of it, or a part of an aggregate, whose bounds are those of all the ints in it.
    fn assign(&mut self, p: &Place, value: Range, env: &mut Env<'a>) {
        let Some(v) = Var::of(p) else { return };
        let value = if p.path.is_empty() { value } else { env.get(v).hull(value) };
        env.forget(v);
        env.set(v, value);
        self.note(v, value);
    }

    fn note(&mut self, v: Var, value: Range) {
        if let (Var::State(id), Some(w)) = (v, self.written.as_deref_mut()) {
            w[id.index()] = w[id.index()].hull(value);
        }
    }

    fn stmt(&mut self, s: &Stmt, env: &mut Env<'a>) {
        if self.seeking == 0
            && let Some(look) = self.look.as_deref_mut()
        {
            look(s, env);
        }
        match &s.kind {
            StmtKind::Assign(p, e) => {
                if let Some(v) = Var::of(p) {
                    env.forget(v);
                }
                if e.ty == Ty::Bool
                    && let Some(id) = p.as_local()
                {
                    env.say(Said::Means(id, e.clone()));
                }
                if e.ty == Ty::Int || e.ty.is_aggregate() {
                    let value = env.eval(e);
                    if let (Base::Out(_), Some(given)) = (&p.base, self.given.as_deref_mut()) {
                        let value = if p.path.is_empty() { value } else { Range::ALL };
                        *given = Some(given.map_or(value, |g| g.hull(value)));
                    }
                    self.assign(p, value, env);
                }
            }
            StmtKind::Pop(Some(p)) => self.assign(p, Range::ALL, env),
            StmtKind::Call { .. } => {
                // the function may write any state
                for i in 0..self.kernel.state.len() {
                    let id = StateId::from(i);
                    env.forget(Var::State(id));
                    env.set(Var::State(id), self.facts.state[i]);
                }
                for p in s.kind.targets() {
                    self.assign(p, Range::ALL, env);
                }
            }
            StmtKind::Check(c) => {
                if self.seeking == 0
                    && let Some(visit) = self.visit.as_deref_mut()
                {
                    visit(c, std::ptr::from_ref(s) as usize, env);
                }
                env.passed(c);
            }
            StmtKind::If(c, a, b) => {
                let mut other = env.clone();
                env.assume(c, true);
                other.assume(c, false);
                // what `&&` is, whose second operand has checks before it
                let first = match &c.kind {
                    ExprKind::Load(p) if b.is_empty() => p.as_local().map(|id| (id, env.said_of(id))),
                    _ => None,
                };
                self.body(a, env);
                self.body(b, &mut other);
                let second = first.as_ref().map(|(id, _)| env.said_of(*id)).filter(|_| !env.unreachable);
                env.join(&other);
                if let (Some((id, first)), Some(second)) = (first, second) {
                    first.into_iter().filter(|e| !a.iter().any(|s| writes(s, e))).chain(second).for_each(|e| {
                        env.say(Said::Needs(id, e));
                    });
                }
            }
            StmtKind::For(l) => self.counted(l, env),
            StmtKind::Loop(b) => {
                let jumps = self.repeat(b, env, &[]);
                // it ends where it is left
                env.unreachable = true;
                jumps.breaks.iter().for_each(|e| env.join(e));
            }
            StmtKind::Block(b) => {
                self.around.push(Jumps::default());
                self.body(b, env);
                let jumps = self.around.pop().unwrap_or_default();
                jumps.breaks.iter().for_each(|e| env.join(e));
            }
            StmtKind::Break(depth) => {
                if let Some(of) = self.outer(*depth) {
                    also(&mut of.breaks, env);
                }
                env.unreachable = true;
            }
            StmtKind::Continue(depth) => {
                if let Some(of) = self.outer(*depth) {
                    also(&mut of.continues, env);
                }
                env.unreachable = true;
            }
            StmtKind::Return(_) => env.unreachable = true,
            StmtKind::Pop(None)
            | StmtKind::Push(_)
            | StmtKind::Print(_)
            | StmtKind::PrintText(_)
            | StmtKind::Send(_) => {}
        }
    }

    /// The loop or block so many around, 0 the innermost.
    fn outer(&mut self, depth: u32) -> Option<&mut Jumps<'a>> {
        let at = self.around.len().checked_sub(1 + depth as usize)?;
        self.around.get_mut(at)
    }

    fn forget_written(&self, body: &[Stmt], env: &mut Env<'a>) {
        walk::each_written(body, &mut |id| {
            env.forget(Var::Local(id));
            env.set(Var::Local(id), Range::ALL);
        });
        walk::each_stmt(body, &mut |s| {
            for p in s.kind.targets() {
                if let Base::State(id) = p.base {
                    env.forget(Var::State(id));
                    env.set(Var::State(id), Range::ALL);
                }
            }
            if let StmtKind::Call { .. } = s.kind {
                for i in 0..self.kernel.state.len() {
                    env.set(Var::State(StateId::from(i)), self.facts.state[i]);
                }
            }
        });
    }

    fn counted(&mut self, l: &For, env: &mut Env<'a>) {
        let (from, to) = (env.eval(&l.from), env.eval(&l.to));
        let step = i64::from(l.step);
        // the values for which the body runs, and the one after
        let (inside, after) = match (l.cmp, step > 0) {
            (BinaryOp::Lt, true) => {
                (Range::new(from.lo, to.hi - 1), Range::new(from.lo, (to.hi - 1 + step).max(from.hi)))
            }
            (BinaryOp::Le, true) => (Range::new(from.lo, to.hi), Range::new(from.lo, (to.hi + step).max(from.hi))),
            (BinaryOp::Gt, false) => {
                (Range::new(to.lo + 1, from.hi), Range::new((to.lo + 1 + step).min(from.lo), from.hi))
            }
            (BinaryOp::Ge, false) => (Range::new(to.lo, from.hi), Range::new((to.lo + step).min(from.lo), from.hi)),
            _ => (Range::ALL, Range::ALL),
        };
        // the step may wrap around
        let inside = if after.is_int() { inside } else { Range::ALL };
        let after = after.or_all();
        let turns = trip(l);
        let jumps = leaves_turn(&l.body);
        env.forget(Var::Local(l.var));
        let mut exit = env.clone();
        if inside.lo <= inside.hi && turns.is_none_or(|(n, _)| n > 0) {
            let mut fixed = vec![(Var::Local(l.var), inside)];
            let mut at_end = Vec::new();
            for (id, once) in self.additions(l, jumps) {
                let v = Var::Local(id);
                let n = turns.map_or(0, |(n, _)| n as i64);
                let start = Range::new((once.lo * (n - 1)).min(0), (once.hi * (n - 1)).max(0));
                fixed.push((v, env.get(v).plus(start)));
                at_end.push((v, env.get(v).plus(Range::new(once.lo * n, once.hi * n))));
            }
            let left = self.repeat(&l.body, env, &fixed);
            exit.join(env);
            left.breaks.iter().for_each(|e| exit.join(e));
            for (v, r) in at_end {
                exit.set(v, r);
            }
        }
        let after = match turns {
            Some((_, last)) if !jumps => Range::exactly(last.into()),
            _ if jumps => after.hull(inside),
            _ => after,
        };
        exit.set(Var::Local(l.var), after);
        *env = exit;
    }

    /// Locals that a loop's body changes only by adding constants, with the least and most that one turn adds.
    fn additions(&self, l: &For, jumps: bool) -> Vec<(LocalId, Range)> {
        let Some(turns) = trip(l).map(|(n, _)| n).filter(|n| *n < 1 << 31) else { return Vec::new() };
        let mut candidates: Vec<LocalId> = Vec::new();
        walk::each_written(&l.body, &mut |id| {
            if self.f.locals[id.index()].ty == Ty::Int && !candidates.contains(&id) {
                candidates.push(id);
            }
        });
        candidates.sort_unstable();
        let fits = |r: &Range| Range::new(r.lo * turns as i64, r.hi * turns as i64).is_int();
        candidates
            .into_iter()
            .filter_map(|id| Some((id, added(&l.body, id, jumps)?)))
            .filter(|(_, r)| fits(r))
            .collect()
    }

    /// A loop's body for any turn. `env` comes as before the loop and goes as at the start of any turn (and the end of the last); in
    /// the variables of `fixed` the bounds at the start of a turn are known. Gives what is known where it is left.
    fn repeat(&mut self, body: &[Stmt], env: &mut Env<'a>, fixed: &[(Var, Range)]) -> Jumps<'a> {
        let fix = |e: &mut Env<'a>| fixed.iter().for_each(|(v, r)| e.set(*v, *r));
        let mut entry = env.clone();
        fix(&mut entry);
        let start = entry.clone();
        self.seeking += 1;
        let mut settled = false;
        for round in 0..ROUNDS {
            let mut turn = entry.clone();
            let jumps = self.turn(body, &mut turn);
            let mut next = entry.clone();
            next.join(&turn);
            // comes back from the middle
            jumps.continues.iter().for_each(|e| next.join(e));
            fix(&mut next);
            if next == entry {
                settled = true;
                // what a condition of the loop keeps within bounds was let go beyond them
                if round > UNKNOWN_FROM {
                    entry = start;
                    entry.join(&turn);
                    jumps.continues.iter().for_each(|e| entry.join(e));
                    fix(&mut entry);
                }
                break;
            }
            next.widen(&entry, &self.facts.thresholds, round >= UNKNOWN_FROM);
            fix(&mut next);
            entry = next;
        }
        if !settled {
            self.forget_written(body, &mut entry);
            fix(&mut entry);
        }
        self.seeking -= 1;
        let mut turn = entry.clone();
        let jumps = self.turn(body, &mut turn);
        *env = entry;
        jumps
    }

    /// One turn of a loop.
    fn turn(&mut self, body: &[Stmt], env: &mut Env<'a>) -> Jumps<'a> {
        self.around.push(Jumps::default());
        self.body(body, env);
        self.around.pop().unwrap_or_default()
    }
}

/// The least and most that one execution of the statements adds to a local; `None` where they do anything else to it. With
/// `jumps`, any part of them may be left out.
fn added(body: &[Stmt], id: LocalId, jumps: bool) -> Option<Range> {
    let mut sum = Range::exactly(0);
    for s in body {
        let mut here = match &s.kind {
            StmtKind::Assign(p, e) if p.as_local() == Some(id) => match &e.kind {
                ExprKind::Binary(BinaryOp::Add, a, b) if *a.as_ref() == Expr::local(id, Ty::Int) => {
                    Range::exactly(b.as_int()?.into())
                }
                _ => return None,
            },
            StmtKind::If(_, a, b) => added(a, id, jumps)?.hull(added(b, id, jumps)?),
            StmtKind::For(l) if l.var == id => return None,
            StmtKind::For(l) => {
                let once = added(&l.body, id, jumps)?;
                let n = if once == Range::exactly(0) { 0 } else { i64::try_from(trip(l)?.0).ok()? };
                Range::new(once.lo.checked_mul(n)?, once.hi.checked_mul(n)?)
            }
            StmtKind::Loop(b) => Some(added(b, id, jumps)?).filter(|r| *r == Range::exactly(0))?,
            StmtKind::Block(b) => added(b, id, jumps)?,
            other if other.targets().iter().any(|p| p.base == Base::Local(id)) => return None,
            _ => Range::exactly(0),
        };
        if jumps {
            here = here.hull(Range::exactly(0));
        }
        sum = Range::new(sum.lo + here.lo, sum.hi + here.hi);
        if !sum.is_int() {
            return None;
        }
    }
    Some(sum)
}

/// Does a statement write what an expression is made of?
fn writes(s: &Stmt, e: &Expr) -> bool {
    let mut any = false;
    walk::each_written(std::slice::from_ref(s), &mut |id| {
        any |= e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(id)));
    });
    any
}

/// Does any jump, of any depth, occur in the statements?
fn leaves_turn(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| {
        found |= matches!(s.kind, StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(_));
    });
    found
}
