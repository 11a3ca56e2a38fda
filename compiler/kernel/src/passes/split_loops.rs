//! # split-loops
//!
//! Purpose: conditions on the counters of loops are known before the program runs: where one holds in some turns only, the loop becomes several, one after the other, in most of which it is gone.
//! Input, output: any kernel.
//!
//! ```text
//! for $x = 0 < 64 step 1 { … if ((($x + -1) >= 0) && (($x + -1) < 64)) { $s = ($s + in(($x + -1))) } … }
//!   →  …     for $x = 1 < 64 step 1 { … $s = ($s + in(($x + -1))) … }
//! ```
//!
//! Known are sums of the counters of the loops around, with factors, and variables that are such sums, or one of a few (`if ($p < 0) { $p = 0 }`). Conditions are comparisons of them, `min`, `max`,
//! `abs`, and remainders and quotients by constants. What is known in all turns is simplified, whatever the loop; outer loops are split first, so that in each part the inner ones see what is known there.
//! A loop whose counter is taken apart by `/` and `%` is one over rows and one over columns ([`rows`]). Turns keep their order, and with them all effects, checks and operations on floats. Variables that are a turn's own get other names in the shorter parts. A loop that a `break` leaves is not split.
//!
//! Limits: [`LARGEST`], [`GROWTH`], and those of [`cuts`]. Source: index-set splitting, M. Griebl, P. Feautrier, C. Lengauer, Index Set Splitting, 2000; the special case of a few turns is loop peeling.

mod cuts;
mod own;
mod rows;
#[cfg(test)]
mod tests;
mod values;

use self::cuts::Turns;
use self::values::{Known, Search, Values, asks, truth};
use super::clean::trip;
use super::unroll::{size, written_out_size};
use super::{clean, fold};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_grammar::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Statements and operations of a function that is looked at, at most.
const LARGEST: usize = 1 << 14;
/// Statements and operations by which a function may grow.
const GROWTH: usize = 6144;
/// The same for loops that are seldom come to.
const CORNERS: usize = 1024;
/// A loop that is split at first does such a part of all that the function does.
const SHARE: u64 = 1024;

/// Splits the loops of all functions.
pub fn run(kernel: &mut Kernel) {
    let mut changed = false;
    for f in &mut kernel.functions {
        if !has_loop(&f.body) || size(&f.body) > LARGEST {
            continue;
        }
        let mut body = std::mem::take(&mut f.body);
        let mut split = Split {
            locals: &mut f.locals,
            params: f.params,
            values: Values::default(),
            left: GROWTH,
            all: 0,
            times: 1,
        };
        // corners come last: where they have no room, little time is in them
        split.all = written_out_size(&body);
        split.body(&mut body, &BTreeSet::new());
        if split.values.changed {
            (split.all, split.left) = (0, split.left.min(CORNERS));
            split.body(&mut body, &BTreeSet::new());
        }
        changed |= split.values.changed;
        f.body = body;
    }
    if changed {
        fold::run(kernel);
        clean::run(kernel);
    }
}

/// Are there loops, and questions?
fn has_loop(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| found |= matches!(s.kind, StmtKind::For(_)));
    found && asks(body)
}

struct Split<'a> {
    locals: &'a mut Vec<Local>,
    params: u32,
    values: Values,
    /// What the function may still grow by.
    left: usize,
    /// What a call of the function does, as far as it matters how often something is done; 0 where it does not.
    all: u64,
    /// Turns of the loops around.
    times: u64,
}

impl Split<'_> {
    /// Goes through statements. `elsewhere`: variables that the function uses outside of them.
    fn body(&mut self, body: &mut Vec<Stmt>, elsewhere: &BTreeSet<LocalId>) {
        let uses: Vec<BTreeSet<LocalId>> = match has_loop(body) {
            true => body.iter().map(|s| own::used(std::slice::from_ref(s))).collect(),
            false => Vec::new(),
        };
        // by how many statements of the list
        let mut users: BTreeMap<LocalId, usize> = BTreeMap::new();
        uses.iter().flatten().for_each(|id| *users.entry(*id).or_default() += 1);
        let (mut i, mut number) = (0, 0);
        while i < body.len() {
            let mut around = BTreeSet::new();
            // only loops ask
            if has_loop(&body[i..=i]) {
                let others = |(id, n): (&LocalId, &usize)| *n > usize::from(uses[number].contains(id));
                around.extend(elsewhere);
                around.extend(users.iter().filter(|user| others(*user)).map(|(id, _)| *id));
                around.extend(own::in_header(&body[i]));
            }
            number += 1;
            if let Some(new) = self.stmt(&mut body[i], &around) {
                self.values.changed = true;
                let n = new.len();
                body.splice(i..=i, new);
                i += n;
            } else {
                i += 1;
            }
            // what comes behind is never reached
            if i > 0 && walk::diverges(&body[i - 1..i]) {
                body.truncate(i);
            }
        }
    }

    /// Goes through a statement; what it becomes, where it becomes others.
    fn stmt(&mut self, s: &mut Stmt, elsewhere: &BTreeSet<LocalId>) -> Option<Vec<Stmt>> {
        let span = s.span;
        if !s.kind.bodies().is_empty() && !asks(std::slice::from_ref(s)) {
            self.forget(std::slice::from_ref(s));
            return None;
        }
        match &mut s.kind {
            StmtKind::For(l) => return self.counted(l, span, elsewhere),
            StmtKind::If(c, a, b) => {
                self.values.simplify(c);
                if let Some(yes) = truth(c) {
                    let mut taken = std::mem::take(if yes { a } else { b });
                    self.body(&mut taken, elsewhere);
                    return Some(taken);
                }
                let inside = |more: &[Stmt]| {
                    let mut out = elsewhere.clone();
                    out.extend(own::used(more));
                    out
                };
                let before = self.values.known.clone();
                let outside = inside(b);
                self.body(a, &outside);
                let after = std::mem::replace(&mut self.values.known, before);
                let outside = inside(a);
                self.body(b, &outside);
                match (walk::diverges(a), walk::diverges(b)) {
                    (true, _) => {}
                    (false, true) => self.values.known = after,
                    (false, false) => self.values.known.join(&after),
                }
            }
            StmtKind::Loop(b) => {
                self.forget(b);
                self.body(b, elsewhere);
                self.forget(b);
            }
            StmtKind::Block(b) => {
                let mut before = self.values.known.clone();
                own::written(b).into_iter().for_each(|id| before.set(id, None));
                self.body(b, elsewhere);
                if walk::leaves(b, 0, false, false) {
                    self.values.known = before;
                }
            }
            other => {
                other.each_own_expr_mut(&mut |e| self.values.simplify(e));
                let value = match other {
                    StmtKind::Assign(p, e) => p
                        .as_local()
                        .filter(|id| !self.locals[id.index()].by_ref)
                        .and_then(|id| Some((id, self.values.sums(e)?))),
                    _ => None,
                };
                for p in other.targets() {
                    if let Base::Local(id) = p.base {
                        self.values.known.set(id, None);
                    }
                }
                if let Some((id, sums)) = value {
                    self.values.known.set(id, Some(sums));
                }
            }
        }
        None
    }

    fn forget(&mut self, body: &[Stmt]) {
        own::written(body).into_iter().for_each(|id| self.values.known.set(id, None));
    }

    /// Goes through a counted loop.
    fn counted(&mut self, l: &mut For, span: Span, elsewhere: &BTreeSet<LocalId>) -> Option<Vec<Stmt>> {
        self.values.simplify(&mut l.from);
        self.values.simplify(&mut l.to);
        let range = self.range(l);
        self.forget(&l.body);
        self.values.known.set(l.var, None);
        let mut outside = elsewhere.clone();
        outside.insert(l.var);
        let Some(range) = range.filter(|(low, high)| low <= high) else {
            self.body(&mut l.body, &outside);
            self.forget(&l.body);
            return None;
        };
        let at_start = self.values.known.clone();
        self.values.ranges.insert(l.var, range);
        let new = if self.values.search.is_some() {
            let times = |n: u64| if n == 0 { 1 } else { n };
            let turns = times(trip(l).map_or(crate::cost::UNKNOWN_TRIPS, |(n, _)| n));
            let before = self.values.search.as_ref().map_or(1, |s| s.times);
            self.turns(before.saturating_mul(turns));
            self.body(&mut l.body, &outside);
            self.turns(before);
            None
        } else if let Some(new) = self.rows(l, span, elsewhere) {
            Some(new)
        } else if let Some(starts) = self.starts(l) {
            Some(self.parts(l, span, &starts, (elsewhere, &at_start)))
        } else {
            let times = self.times;
            self.times = times.saturating_mul(trip(l).map_or(1, |(n, _)| n));
            self.body(&mut l.body, &outside);
            self.times = times;
            None
        };
        self.values.ranges.remove(&l.var);
        self.values.known = at_start;
        new
    }

    /// The loop as one over rows and one over columns, where these are split then.
    fn rows(&mut self, l: &For, span: Span, elsewhere: &BTreeSet<LocalId>) -> Option<Vec<Stmt>> {
        let columns = rows::columns(l).filter(|_| !l.abreast && !walk::breaks(&l.body, 0))?;
        let (_, last) = trip(l)?;
        let known = self.locals.len();
        let mut outer = rows::nest(l, span, columns, self.locals)?;
        let range = self.values.ranges.remove(&l.var);
        let rows = trip(&outer)?.0;
        self.values.ranges.insert(outer.var, (0, rows as i64 - 1));
        let mut splits = self.starts(&outer).is_some();
        if let (false, [Stmt { kind: StmtKind::For(inner), .. }]) = (splits, outer.body.as_slice()) {
            let times = self.times;
            self.times = times.saturating_mul(rows);
            self.values.ranges.insert(inner.var, (0, columns as i64 - 1));
            splits = self.starts(inner).is_some();
            self.values.ranges.remove(&inner.var);
            self.times = times;
        }
        self.values.ranges.remove(&outer.var);
        if !splits {
            self.locals.truncate(known);
            self.values.ranges.extend(range.map(|r| (l.var, r)));
            return None;
        }
        let new = self.counted(&mut outer, span, elsewhere);
        let mut out = new.unwrap_or_else(|| vec![StmtKind::For(Box::new(outer)).at(span)]);
        if elsewhere.contains(&l.var) {
            out.push(StmtKind::Assign(Place::local(l.var), Expr::int(last)).at(span));
        }
        Some(out)
    }

    fn turns(&mut self, n: u64) {
        if let Some(s) = &mut self.values.search {
            s.times = n;
        }
    }

    /// The values that the counter has in the body, where they are known.
    fn range(&self, l: &For) -> Option<(i64, i64)> {
        let bounds = |e: &Expr| {
            let sums = self.values.sums(e)?;
            let all = sums.iter().map(|s| s.bounds(&self.values.ranges)).collect::<Option<Vec<_>>>()?;
            Some((all.iter().map(|b| b.0).min()?, all.iter().map(|b| b.1).max()?))
        };
        let (from, to, step) = (bounds(&l.from)?, bounds(&l.to)?, i64::from(l.step));
        let (low, high) = match l.cmp {
            BinaryOp::Lt if step > 0 => (from.0, to.1 - 1),
            BinaryOp::Le if step > 0 => (from.0, to.1),
            BinaryOp::Gt if step < 0 => (to.0 + 1, from.1),
            BinaryOp::Ge if step < 0 => (to.0, from.1),
            _ => return None,
        };
        // the last step must not wrap around
        let is_int = |v: i64| i32::try_from(v).is_ok();
        if !is_int(if step > 0 { high + step } else { low + step }) {
            return None;
        }
        match trip(l) {
            // the last turn's, exactly
            Some((n, last)) if n > 0 => {
                let last = i64::from(last) - step;
                Some((low.max(last.min(from.0)), high.min(last.max(from.1))))
            }
            _ => Some((low, high)),
        }
    }

    /// The numbers of turns at which the loop is split.
    fn starts(&mut self, l: &For) -> Option<Vec<i64>> {
        let (n, _) = trip(l).filter(|(n, _)| (2..=i32::MAX as u64).contains(n))?;
        let own = size(&l.body);
        if l.abreast || own > self.left || walk::breaks(&l.body, 0) {
            return None;
        }
        let cost = written_out_size(&l.body);
        if cost.saturating_mul(n).saturating_mul(self.times).saturating_mul(SHARE) < self.all {
            return None;
        }
        let (known, changed) = (self.values.known.clone(), self.values.changed);
        self.values.search = Some(Search { var: l.var, found: Vec::new(), times: 1 });
        let mut turn = l.body.clone();
        self.body(&mut turn, &BTreeSet::new());
        let found = self.values.search.take()?.found;
        (self.values.known, self.values.changed) = (known, changed);
        let turns = Turns { from: l.from.as_int()?.into(), step: l.step.into(), count: n as i64 };
        cuts::ways(&found, turns, cost).into_iter().find(|w| w.len() * own <= self.left)
    }

    /// The loop as its parts.
    fn parts(
        &mut self,
        l: &For,
        span: Span,
        starts: &[i64],
        (elsewhere, at_start): (&BTreeSet<LocalId>, &Known),
    ) -> Vec<Stmt> {
        let (Some((n, last)), Some(from)) = (trip(l), l.from.as_int()) else { return Vec::new() };
        let ends: Vec<i64> = [0].into_iter().chain(starts.iter().copied()).chain([n as i64]).collect();
        let own = own::of_turn(&l.body, self.locals, self.params, elsewhere);
        let mut inside: BTreeSet<LocalId> = own::used(&l.body);
        inside.retain(|id| !own.contains(id));
        inside.insert(l.var);
        inside.extend(elsewhere);
        // the longest part first: it may use most of what there is room for
        let mut order: Vec<usize> = (0..ends.len() - 1).collect();
        order.sort_by_key(|i| std::cmp::Reverse(ends[i + 1] - ends[*i]));
        let mut parts: Vec<Vec<Stmt>> = vec![Vec::new(); order.len()];
        let (before, own_size, times) = (self.left, size(&l.body), self.times);
        self.left = self.left.saturating_sub(starts.len() * own_size);
        for (place, i) in order.into_iter().enumerate() {
            let turns = ends[i + 1] - ends[i];
            // exact: the loop does not wrap around
            let at = |turn: i64| (i64::from(from) + turn * i64::from(l.step)) as i32;
            let mut body = l.body.clone();
            if place > 0 {
                own::renamed(&mut body, &own, self.locals);
            }
            self.values.known = at_start.clone();
            let (first, final_turn) = (at(ends[i]), at(ends[i + 1] - 1));
            let bounds = (i64::from(first.min(final_turn)), i64::from(first.max(final_turn)));
            self.values.ranges.insert(l.var, bounds);
            if turns == 1 {
                walk::each_expr_mut(&mut body, &mut |e| {
                    if matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(l.var)) {
                        *e = Expr::int(first);
                    }
                });
            }
            self.times = times.saturating_mul(turns as u64);
            self.body(&mut body, &inside);
            self.times = times;
            if matches!(body.last(), Some(Stmt { kind: StmtKind::Continue(0), .. })) {
                body.pop();
            }
            if turns == 1 && !walk::leaves(&body, 0, false, false) {
                walk::shift_breaks(&mut body, 1, -1);
                parts[i] = body;
            } else {
                let cmp = if l.step > 0 { BinaryOp::Lt } else { BinaryOp::Gt };
                let (from, to) = (Expr::int(first), Expr::int(at(ends[i + 1])));
                let part = For { var: l.var, from, cmp, to, step: l.step, body, abreast: false };
                parts[i] = vec![StmtKind::For(Box::new(part)).at(span)];
            }
        }
        // they have become smaller than the loop was
        self.left = before.saturating_sub(parts.iter().map(|p| size(p)).sum::<usize>().saturating_sub(own_size));
        let counted = matches!(parts.last().map(Vec::as_slice), Some([Stmt { kind: StmtKind::For(part), .. }]) if part.var == l.var);
        let mut out: Vec<Stmt> = parts.into_iter().flatten().collect();
        if elsewhere.contains(&l.var) && !counted {
            out.push(StmtKind::Assign(Place::local(l.var), Expr::int(last)).at(span));
        }
        out
    }
}
