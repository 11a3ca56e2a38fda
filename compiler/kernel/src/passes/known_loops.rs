//! # known-loops
//!
//! Purpose: loops that count by something else than a constant, but whose every turn is known beforehand (`for (h = 1; h < 64; h *= 2)`), as their turns written out:
//! what is inside then has constant bounds, or is statements without a loop. Input: a kernel after `count-loops` and `privatise`, before `lower-channels`. Output: the same.
//!
//! ```text
//! $h = 1                                      $a[0] = ($a[0] + $a[1])   $a[2] = ($a[2] + $a[3])
//! loop { if ($h >= 4) { break 0 }        →    $a[0] = ($a[0] + $a[2])
//!        $i = 0                               $h = 4  $i = 4
//!        loop { if ($i >= 4) { break 0 }
//!               $a[$i] = ($a[$i] + $a[($i + $h)])
//!               $i = ($i + (2 * $h)) }
//!        $h = ($h * 2) }
//! ```
//!
//! A loop is gone through as it would be executed, with what is known of scalars; it stays where a jump out of it depends on anything else. Filters without state get all
//! turns of all loops inside, so that arrays become variables and firings go side by side; where that is too long, or a field is indexed (the C compiler makes vectors of such
//! loops), only the loop's own turns are written out, and the loops inside have constant bounds. A counted loop around such loops is gone through in the same way;
//! and, in filters without state, one around loops that count as far as it says, and change arrays (sorting by exchanges: each turn looks at fewer elements), if no loop is
//! left then.
//!
//! Invariant: the same statements are executed in the same order; a variable that is read later has its value.

use super::clean::{self, trip};
use super::unroll::{self, Rule, size};
use super::{count_loops, fold, scalars};
use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Statements and operations that all turns of a loop, and of those in it, may become.
const MOST: usize = 6144;
/// The same where only the loop's own turns are written out.
const MOST_OUTSIDE: usize = 1024;
/// Statements that are gone through in a loop.
const MOST_STEPS: usize = 1 << 16;
/// How deep loops are written out one in the other, where each gets only its own turns.
const ROUNDS: usize = 3;

/// What follows where turns have become statements: loops that fill and read the same arrays.
const BESIDE: Rule = Rule { turns: 256, size: 4096, recurrences: false, arrays: true, around: usize::MAX, factor: 1 };

/// Writes out the known loops of all functions.
pub fn run(kernel: &mut Kernel) {
    for _ in 0..ROUNDS {
        let tables = std::mem::take(&mut kernel.tables);
        let stateless = kernel.state.is_empty();
        let (mut changed, mut wholly) = (false, false);
        for f in &mut kernel.functions {
            let mut body = std::mem::take(&mut f.body);
            let mut find = Find { tables: &tables, locals: &f.locals, stateless, changed: false, wholly: false };
            find.list(&mut body, &mut Known(vec![None; f.locals.len()]));
            f.body = body;
            changed |= find.changed;
            wholly |= find.wholly;
        }
        kernel.tables = tables;
        if !changed {
            return;
        }
        fold::run(kernel);
        count_loops::run(kernel);
        if wholly {
            unroll::run(kernel, BESIDE);
            scalars::run(kernel);
        }
        fold::run(kernel);
        clean::run(kernel);
    }
}

/// What is known of scalars at a point.
#[derive(Clone)]
struct Known(Vec<Option<Const>>);

impl Known {
    fn forget_written(&mut self, body: &[Stmt]) {
        walk::each_written(body, &mut |id| self.0[id.index()] = None);
    }

    fn put_into(&self, e: &mut Expr, tables: &[Table]) {
        e.walk_mut(&mut |e| {
            if let ExprKind::Load(p) = &e.kind
                && let Some(value) = p.as_local().and_then(|id| self.0[id.index()].clone())
            {
                e.kind = ExprKind::Const(value);
            }
        });
        fold::expr(e, tables);
    }
}

/// Looks for loops that can be written out.
struct Find<'a> {
    tables: &'a [Table],
    locals: &'a [Local],
    stateless: bool,
    changed: bool,
    wholly: bool,
}

impl<'a> Find<'a> {
    fn list(&mut self, body: &mut Vec<Stmt>, known: &mut Known) {
        let mut i = 0;
        while i < body.len() {
            let new = match &body[i].kind {
                StmtKind::Loop(_) => self.written_out(&body[i], known),
                StmtKind::For(l) if holds_loop(&l.body) => self.written_out(&body[i], known),
                StmtKind::For(l) if self.stateless && works_on_less_each_turn(&l.body) => {
                    self.wholly_written_out(&body[i], known)
                }
                _ => None,
            };
            if let Some(new) = new {
                self.changed = true;
                known.forget_written(&body[i..=i]);
                let n = new.len();
                body.splice(i..=i, new);
                i += n;
                continue;
            }
            match &mut body[i].kind {
                StmtKind::Assign(p, e) => {
                    let value = e.as_const();
                    if let Base::Local(id) = p.base {
                        let whole = p.path.is_empty() && !self.locals[id.index()].by_ref;
                        known.0[id.index()] = value.filter(|_| whole);
                    }
                }
                StmtKind::Block(b) => {
                    self.list(b, known);
                    // it may have been left early
                    known.forget_written(b);
                }
                StmtKind::If(_, a, b) => {
                    self.list(a, &mut known.clone());
                    self.list(b, &mut known.clone());
                    known.forget_written(a);
                    known.forget_written(b);
                }
                StmtKind::For(l) => {
                    known.0[l.var.index()] = None;
                    known.forget_written(&l.body);
                    self.list(&mut l.body, &mut known.clone());
                }
                StmtKind::Loop(b) => {
                    known.forget_written(b);
                    self.list(b, &mut known.clone());
                }
                _ => known.forget_written(&body[i..=i]),
            }
            i += 1;
        }
    }

    /// The turns of a loop, wholly or only its own.
    fn written_out(&mut self, s: &Stmt, known: &Known) -> Option<Vec<Stmt>> {
        let ways = if self.stateless {
            [Some((true, MOST)), Some((false, MOST_OUTSIDE))]
        } else {
            [None, Some((false, MOST_OUTSIDE))]
        };
        for (deep, most) in ways.into_iter().flatten() {
            let mut turns = self.go(known, deep, most);
            if matches!(turns.turns(s), Some(Flow::Next)) && (turns.went || turns.counts()) {
                self.wholly |= deep;
                return Some(turns.end(s));
            }
        }
        None
    }

    /// The turns of a counted loop, if no loop is left in them.
    fn wholly_written_out(&mut self, s: &Stmt, known: &Known) -> Option<Vec<Stmt>> {
        let mut turns = self.go(known, true, MOST);
        let next = matches!(turns.turns(s), Some(Flow::Next));
        let loops = any(&turns.out, &|s| matches!(s.kind, StmtKind::For(_) | StmtKind::Loop(_)));
        let found = (next && !loops).then(|| turns.end(s));
        self.wholly |= found.is_some();
        found
    }

    /// Ready to go through a loop, with what is known before it.
    fn go(&self, known: &Known, deep: bool, left: usize) -> Turns<'a> {
        Turns {
            tables: self.tables,
            locals: self.locals,
            known: known.clone(),
            pending: vec![false; self.locals.len()],
            deep,
            left,
            steps: MOST_STEPS,
            went: false,
            out: Vec::new(),
        }
    }
}

/// Is there a loop in the statements that is not counted?
fn holds_loop(body: &[Stmt]) -> bool {
    any(body, &|s| matches!(s.kind, StmtKind::Loop(_)))
}

/// Is there a loop in the statements that counts as far as a loop around it says, and changes elements of arrays? So works sorting by exchanges.
fn works_on_less_each_turn(body: &[Stmt]) -> bool {
    let changes =
        |s: &Stmt| matches!(&s.kind, StmtKind::Assign(Place { base: Base::Local(_), path }, _) if !path.is_empty());
    any(body, &|s| matches!(&s.kind, StmtKind::For(l) if trip(l).is_none() && any(&l.body, &changes)))
}

/// Is there such a statement, however deep?
fn any(body: &[Stmt], test: &dyn Fn(&Stmt) -> bool) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| found |= test(s));
    found
}

/// Where control goes after a statement.
enum Flow {
    Next,
    Break(u32),
    Continue(u32),
}

impl Flow {
    /// The same seen from around the construct that it leaves; `None` where it leaves nothing further.
    fn outward(self) -> Flow {
        match self {
            Flow::Break(0) | Flow::Next => Flow::Next,
            Flow::Break(n) => Flow::Break(n - 1),
            Flow::Continue(n) => Flow::Continue(n.saturating_sub(1)),
        }
    }
}

/// Goes through a loop. Every function gives `None` where the loop cannot be written out.
struct Turns<'a> {
    tables: &'a [Table],
    locals: &'a [Local],
    known: Known,
    /// Whose known value has not been assigned in what is written out.
    pending: Vec<bool>,
    deep: bool,
    left: usize,
    steps: usize,
    /// A loop that is not counted has been written out.
    went: bool,
    out: Vec<Stmt>,
}

impl Turns<'_> {
    /// All turns of a loop.
    fn turns(&mut self, s: &Stmt) -> Option<Flow> {
        match &s.kind {
            StmtKind::Loop(b) => loop {
                match self.turn(b)? {
                    Flow::Next | Flow::Continue(0) => {}
                    other => {
                        self.went = true;
                        return Some(other.outward());
                    }
                }
            },
            StmtKind::For(l) => {
                let l = self.bounds(l);
                let (Some((n, last)), Some(from)) = (trip(&l), l.from.as_int()) else { return None };
                for k in 0..n {
                    let value = from.wrapping_add((k as i32).wrapping_mul(l.step));
                    self.learn(l.var, Some(Const::Int(value)));
                    match self.turn(&l.body)? {
                        Flow::Next | Flow::Continue(0) => {}
                        other => return Some(other.outward()),
                    }
                }
                self.learn(l.var, Some(Const::Int(last)));
                Some(Flow::Next)
            }
            _ => None,
        }
    }

    /// One turn, which is a step of its own: there may be nothing in it.
    fn turn(&mut self, body: &[Stmt]) -> Option<Flow> {
        self.steps = self.steps.checked_sub(1)?;
        self.body(body)
    }

    fn body(&mut self, body: &[Stmt]) -> Option<Flow> {
        for s in body {
            match self.stmt(s)? {
                Flow::Next => {}
                other => return Some(other),
            }
        }
        Some(Flow::Next)
    }

    fn stmt(&mut self, s: &Stmt) -> Option<Flow> {
        self.steps = self.steps.checked_sub(1)?;
        match &s.kind {
            StmtKind::Assign(p, e) => {
                let value = self.expr(e);
                // parts of others can be written and read, which need the rest
                let number = |ty: &Ty| matches!(ty, Ty::Int | Ty::Float | Ty::Double | Ty::Bool | Ty::Bit);
                let of_number = |id: &LocalId| !self.locals[id.index()].by_ref && number(&self.locals[id.index()].ty);
                let scalar = p.as_local().filter(of_number);
                if let (Some(id), Some(c)) = (scalar, value.as_const()) {
                    self.learn(id, Some(c));
                    return Some(Flow::Next);
                }
                let place = self.place(p);
                if let Base::Local(id) = p.base {
                    self.learn(id, None);
                }
                self.emit(StmtKind::Assign(place, value).at(s.span))?;
            }
            StmtKind::If(c, a, b) => {
                let c = self.expr(c);
                match c.as_const() {
                    Some(Const::Bool(true)) => return self.body(a),
                    Some(Const::Bool(false)) => return self.body(b),
                    _ => self.keep(s)?,
                }
            }
            StmtKind::Loop(_) | StmtKind::For(_) if self.deep => {
                let known = trip_known(self, s);
                let before = (self.known.clone(), self.pending.clone(), self.out.len(), self.left);
                match known.then(|| self.turns(s)).flatten() {
                    Some(flow) => return Some(flow),
                    None => {
                        self.steps.checked_sub(1)?;
                        (self.known, self.pending, self.left) = (before.0, before.1, before.3);
                        self.out.truncate(before.2);
                        self.keep(s)?;
                    }
                }
            }
            StmtKind::Loop(_) | StmtKind::For(_) => self.keep(s)?,
            StmtKind::Block(b) => return self.body(b).map(Flow::outward),
            StmtKind::Break(n) => return Some(Flow::Break(*n)),
            StmtKind::Continue(n) => return Some(Flow::Continue(*n)),
            StmtKind::Return(_) => return None,
            StmtKind::Check(c) => {
                let mut c = c.clone();
                if let Some(e) = c.operand_mut() {
                    self.known.put_into(e, self.tables);
                    if let Some(v) = e.as_int()
                        && clean::holds_at(&c, v)
                    {
                        return Some(Flow::Next);
                    }
                }
                self.emit(StmtKind::Check(c).at(s.span))?;
            }
            _ => self.keep(s)?,
        }
        Some(Flow::Next)
    }

    /// A statement as it is, but for what is known of what it does not write.
    fn keep(&mut self, s: &Stmt) -> Option<()> {
        if s.kind.bodies().into_iter().any(|b| jumps_out(b, s)) {
            return None;
        }
        let mut written = Vec::new();
        walk::each_written(std::slice::from_ref(s), &mut |id| written.push(id));
        // a branch that does not write it leaves it as it was
        if !s.kind.bodies().is_empty() {
            for id in &written {
                self.assign(*id, s)?;
            }
        }
        let mut inside = self.known.clone();
        if !s.kind.bodies().is_empty() {
            inside.forget_written(std::slice::from_ref(s));
        }
        let mut kept = [s.clone()];
        walk_own(&mut kept, &mut |e| inside.put_into(e, self.tables));
        written.into_iter().for_each(|id| self.learn(id, None));
        let [kept] = kept;
        self.emit(kept)
    }

    fn emit(&mut self, s: Stmt) -> Option<()> {
        self.left = self.left.checked_sub(size(std::slice::from_ref(&s)))?;
        self.out.push(s);
        Some(())
    }

    fn learn(&mut self, id: LocalId, value: Option<Const>) {
        self.pending[id.index()] = value.is_some();
        self.known.0[id.index()] = value;
    }

    /// Are all loops that were left as they are counted ones now?
    fn counts(&self) -> bool {
        self.out.iter().all(|s| match &s.kind {
            StmtKind::Loop(b) => count_loops::is_counted(b, self.locals),
            _ => true,
        })
    }

    /// Assigns what has only been known until here.
    fn assign(&mut self, id: LocalId, at: &Stmt) -> Option<()> {
        if let (true, Some(value)) = (self.pending[id.index()], self.known.0[id.index()].clone()) {
            self.pending[id.index()] = false;
            let ty = self.locals[id.index()].ty.clone();
            let value = Expr { kind: ExprKind::Const(value), ty };
            self.emit(StmtKind::Assign(Place::local(id), value).at(at.span))?;
        }
        Some(())
    }

    /// What is written out, with the values that variables have after it.
    fn end(mut self, s: &Stmt) -> Vec<Stmt> {
        self.left = usize::MAX;
        for id in (0..self.locals.len()).map(LocalId::from) {
            let _ = self.assign(id, s);
        }
        self.out
    }

    fn expr(&self, e: &Expr) -> Expr {
        let mut e = e.clone();
        self.known.put_into(&mut e, self.tables);
        e
    }

    fn place(&self, p: &Place) -> Place {
        let mut p = p.clone();
        p.each_expr_mut(&mut |e| self.known.put_into(e, self.tables));
        p
    }

    /// A loop with what is known of its bounds.
    fn bounds(&self, l: &For) -> For {
        For { from: self.expr(&l.from), to: self.expr(&l.to), ..l.clone() }
    }
}

/// Can all turns of a loop be known? (Of one that is not counted, only going through it tells.)
fn trip_known(turns: &Turns<'_>, s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::For(l) => trip(&turns.bounds(l)).is_some(),
        _ => true,
    }
}

/// Does a jump leave the construct that the statements are in?
fn jumps_out(body: &[Stmt], of: &Stmt) -> bool {
    match of.kind {
        StmtKind::If(..) => walk::leaves(body, 0, true, true),
        _ => walk::leaves(body, 1, true, true),
    }
}

fn walk_own(body: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    for s in body {
        s.kind.each_own_expr_mut(f);
        for b in s.kind.bodies_mut() {
            walk_own(b, f);
        }
    }
}

#[cfg(test)]
mod tests;
