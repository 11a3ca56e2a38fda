//! Loops that go on as long as data say, and whatever else is done in some lanes only.
//!
//! ```text
//! loop { if not(($x < $n)) { break 0 }  $x = ($x + $x) }
//!   →   $on = true  loop { $on = ($on && ($x < $n))  if not(any($on)) { break 0 }  $x = select($on, ($x + $x), $x) }
//! ```
//!
//! Input: a function, and which of its locals differ between lanes, those among them that are written where lanes go different ways ([`super::mark`]). Output: the same, where a loop goes on as long
//! as one lane has turns left, what is written is kept where a lane does not go that way, and nothing differs between lanes but values. A counted loop whose bounds are the same in all lanes still counts
//! for all of them: items and elements at the places that it counts remain the same in all lanes. Much that few lanes may need is done where one of them does.
//!
//! Not converted, so that there are no lanes: what gives an item in some lanes only (but for an item that both sides of a condition give), calls, writes state, prints, or returns.

mod items;
mod steps;
#[cfg(test)]
mod tests;

use super::guard::{Known, anywhere, choose, loads};
use super::{fresh, is_varying, leaves_in_some};
use crate::ir::*;
use crate::passes::intervals::Facts;
use crate::passes::unroll::size;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;
use std::collections::{HashMap, HashSet};

/// What is larger is jumped over where no lane needs it.
const LARGE: usize = 24;

/// Converts the statements in which lanes go different ways, outer ones with those within. Were there any, and could all be? `conditions`: conditions around nothing but assignments, too.
pub(super) fn convert(f: &mut Function, varying: &[bool], of: (&Kernel, &Facts), conditions: bool) -> bool {
    let body = std::mem::take(&mut f.body);
    let locals = f.locals.len();
    let behind = items::behind(&body, f, varying);
    let mut varying = varying.to_vec();
    varying.resize(f.locals.len(), true);
    let items = locals..f.locals.len();
    let (written, counters) = (HashSet::new(), Vec::new());
    let mut masks = Masks { f, of, varying, whole: &behind, uses: uses(&behind), items, written, counters, conditions };
    let mut changed = false;
    let found = masks.all(&behind, &mut changed).filter(|_| changed);
    let converted = found.is_some();
    if !converted {
        f.locals.truncate(locals);
    }
    f.body = found.unwrap_or(body);
    converted
}

/// Lanes that do something: `None` for all of them.
type On = Option<LocalId>;

/// What jumps may leave.
enum Level {
    /// A loop that all lanes leave together, at its end.
    Kept,
    /// Lanes that have not left it, and those that are in its present turn, where some may go on with the next one.
    Masked { alive: LocalId, turn: Option<LocalId> },
}

struct Masks<'a> {
    f: &'a mut Function,
    of: (&'a Kernel, &'a Facts),
    varying: Vec<bool>,
    /// The function's body, and how often each variable occurs in it.
    whole: &'a [Stmt],
    uses: Uses,
    /// Variables of [`items`], which are chosen from where they were set.
    items: std::ops::Range<usize>,
    /// What the statement that is being converted writes.
    written: HashSet<LocalId>,
    /// Counters that are the same in all lanes, and their loops, without bodies.
    counters: Vec<For>,
    conditions: bool,
}

impl Masks<'_> {
    /// Statements with all that is different converted; `changed`: there was something.
    fn all(&mut self, list: &[Stmt], changed: &mut bool) -> Option<Vec<Stmt>> {
        let mut out = Vec::with_capacity(list.len());
        for (i, s) in list.iter().enumerate() {
            if self.is_different(s) {
                *changed = true;
                out.extend(self.statement(&list[..=i])?);
                continue;
            }
            let counters = self.counters.len();
            if let StmtKind::For(l) = &s.kind {
                // a variable that elsewhere is something else in each lane does not count for all
                if self.varying[l.var.index()] {
                    return None;
                }
                self.counters.push(header(l));
            }
            let bodies: Option<Vec<_>> = s.kind.bodies().into_iter().map(|b| self.all(b, changed)).collect();
            self.counters.truncate(counters);
            let mut s = s.clone();
            s.kind.bodies_mut().into_iter().zip(bodies?).for_each(|(b, made)| *b = made);
            out.push(s);
        }
        Some(out)
    }

    /// Do lanes go different ways here?
    fn is_different(&self, s: &Stmt) -> bool {
        match &s.kind {
            StmtKind::Loop(b) | StmtKind::Block(b) => leaves_in_some(b, 0, false, &self.varying),
            StmtKind::For(l) => {
                is_varying(&l.from, &self.varying)
                    || is_varying(&l.to, &self.varying)
                    || leaves_in_some(&l.body, 0, false, &self.varying)
            }
            StmtKind::If(c, a, b) => {
                is_varying(c, &self.varying) && (self.conditions || [a, b].into_iter().any(|l| nests(l)))
            }
            _ => false,
        }
    }

    /// The last of some statements.
    fn statement(&mut self, list: &[Stmt]) -> Option<Vec<Stmt>> {
        let (before, s) = list.split_at(list.len() - 1);
        let mut asked = false;
        walk::each_expr(s, &mut |e| asked |= matches!(e.kind, ExprKind::Any(_)));
        if asked {
            return None;
        }
        self.written.clear();
        walk::each_written(s, &mut |id| _ = self.written.insert(id));
        self.list_of_turn((before, s), None, &mut Vec::new(), None)
    }

    /// Is a value the same in all lanes?
    fn is_same(&self, e: &Expr) -> bool {
        let counted = |id: LocalId| self.counters.iter().any(|l| l.var == id);
        let differs = |id: LocalId| self.varying.get(id.index()) != Some(&false) || self.written.contains(&id);
        let items = e.any(&mut |e| matches!(&e.kind, ExprKind::Load(Place { base: Base::In(_), .. })));
        !items && !loads(e, &mut |id| !counted(id) && differs(id))
    }

    fn local(&mut self, name: &str) -> LocalId {
        let id = fresh(self.f, name, Ty::Bool);
        self.varying.resize(self.f.locals.len(), true);
        id
    }

    /// Statements, for lanes that are on.
    fn list(&mut self, list: &[Stmt], on: On, levels: &mut Vec<Level>) -> Option<Vec<Stmt>> {
        self.list_of_turn((&[], list), on, levels, None)
    }

    /// The same, behind others; `ends`: the loop whose turn it is ends where none of these lanes is left.
    fn list_of_turn(
        &mut self,
        (before, list): (&[Stmt], &[Stmt]),
        mut on: On,
        levels: &mut Vec<Level>,
        ends: On,
    ) -> Option<Vec<Stmt>> {
        let (mut out, mut loose, mut firm) = (Vec::new(), HashSet::new(), HashSet::new());
        // from a statement on
        let mut left = uses(list);
        for (i, s) in list.iter().enumerate() {
            if let Some(last) = i.checked_sub(1) {
                uses(&list[last..i]).iter().for_each(|(id, n)| *left.entry(*id).or_default() -= n);
            }
            if let StmtKind::Break(k) | StmtKind::Continue(k) = s.kind {
                jump(k, matches!(s.kind, StmtKind::Continue(_)), on, levels, s.span, &mut out)?;
                if let Some(alive) = ends {
                    out.push(stop(alive, s.span));
                }
                return Some(out);
            }
            if let StmtKind::Assign(p, e) = &s.kind {
                if self.counters.iter().any(|l| p.as_local() == Some(l.var)) {
                    out.push(s.clone());
                    continue;
                }
                if let (Some(id), false) = (p.as_local(), on.is_none())
                    && !loose.contains(&id)
                    && !firm.contains(&id)
                {
                    // nobody sees what other lanes hold
                    let own = !loads(e, &mut |l| l == id) && self.uses.get(&id) == left.get(&id);
                    _ = if own { loose.insert(id) } else { firm.insert(id) };
                }
                let loose =
                    matches!(p.base, Base::Local(id) if loose.contains(&id) || self.items.contains(&id.index()));
                out.push(self.assign(p, e, on, loose)?.at(s.span));
                continue;
            }
            let counters = self.counters.len();
            let stepped = self.in_step([before, &list[..i]], s, &mut out);
            let made = self.other(stepped.as_ref().unwrap_or(s), on, levels, &mut out);
            self.counters.truncate(counters);
            made?;
            if walk::leaves(std::slice::from_ref(s), 0, true, true) {
                let left = flow(levels.last()?)?;
                on = match on {
                    None => Some(left),
                    Some(on) if on == left => Some(on),
                    Some(on) => {
                        let still = self.local("still");
                        out.push(set(still, both(here(on), here(left)), s.span));
                        Some(still)
                    }
                };
                if let Some(alive) = ends {
                    out.push(stop(alive, s.span));
                }
            }
        }
        Some(out)
    }

    fn assign(&mut self, p: &Place, e: &Expr, on: On, loose: bool) -> Option<StmtKind> {
        let Some(on) = on else { return Some(StmtKind::Assign(p.clone(), e.clone())) };
        if !matches!(p.base, Base::Local(_)) {
            return None;
        }
        if e.ty.is_aggregate() {
            return (loose && e.kind == ExprKind::Zero).then(|| StmtKind::Assign(p.clone(), e.clone()));
        }
        let mut p = p.clone();
        if !self.known().exists(&p, &self.f.locals) {
            // where no lane writes, it is the first element that is not written
            p.each_expr_mut(&mut |at| *at = choose(anywhere(here(on)), at.clone(), Expr::int(0)));
        }
        if loose && never_wrong(e) {
            return Some(StmtKind::Assign(p, e.clone()));
        }
        let old = if loose { Expr::zero(e.ty.clone()) } else { Expr::load(p.clone(), e.ty.clone()) };
        Some(StmtKind::Assign(p, choose(here(on), e.clone(), old)))
    }

    fn known(&self) -> Known<'_> {
        let known = Known::new(self.of.0, self.of.1, &self.f.locals);
        self.counters.iter().fold(known, |k, l| k.within_loop(l))
    }

    fn other(&mut self, s: &Stmt, on: On, levels: &mut Vec<Level>, out: &mut Vec<Stmt>) -> Option<()> {
        let span = s.span;
        match &s.kind {
            StmtKind::If(c, a, b) => self.condition(c, [a, b], span, (on, levels), out),
            StmtKind::Check(_) => {
                out.push(s.clone());
                Some(())
            }
            StmtKind::Block(b) if !walk::leaves(b, 0, true, true) => {
                levels.push(Level::Kept);
                out.extend(self.list(b, on, levels)?);
                levels.pop();
                Some(())
            }
            StmtKind::Block(b) => {
                let alive = self.local("on");
                out.push(set(alive, on.map_or(Expr::bool(true), here), span));
                levels.push(Level::Masked { alive, turn: None });
                out.extend(self.list(b, Some(alive), levels)?);
                levels.pop();
                Some(())
            }
            StmtKind::For(l) => {
                let kept = self.is_same(&l.from) && self.is_same(&l.to) && !walk::leaves(&l.body, 0, true, true);
                let made = if kept && self.is_private(l, s) {
                    self.counters.push(header(l));
                    levels.push(Level::Kept);
                    let body = self.list(&l.body, on, levels);
                    levels.pop();
                    self.counters.pop();
                    vec![StmtKind::For(Box::new(For { body: body?, ..header(l) })).at(span)]
                } else {
                    self.counted(l, self.is_private(l, s), span, (on, levels))?
                };
                wrapped(made, on, span, out)
            }
            StmtKind::Loop(b) => {
                let made = self.endless(b, span, (on, levels))?;
                wrapped(made, on, span, out)
            }
            _ => None,
        }
    }

    /// Is a counter seen nowhere else?
    fn is_private(&self, l: &For, s: &Stmt) -> bool {
        self.uses.get(&l.var).copied().unwrap_or(0) == walk::uses(std::slice::from_ref(s), l.var)
    }

    fn condition(
        &mut self,
        c: &Expr,
        [a, b]: [&Vec<Stmt>; 2],
        span: Span,
        (on, levels): (On, &mut Vec<Level>),
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let jumps = [a, b].into_iter().any(|l| walk::leaves(l, 0, true, true));
        if !jumps && self.is_same(c) {
            let (a, b) = (self.list(a, on, levels)?, self.list(b, on, levels)?);
            // what it asks may exist only where a lane comes here
            let asked = match on {
                Some(on) if !never_wrong(c) => choose(anywhere(here(on)), c.clone(), Expr::bool(false)),
                _ => c.clone(),
            };
            out.push(StmtKind::If(asked, a, b).at(span));
            return Some(());
        }
        // the usual end of a loop: those go on that do not leave
        if let (Some(on), [only], true) = (on, a.as_slice(), b.is_empty())
            && matches!(only.kind, StmtKind::Break(0))
            && matches!(levels.last(), Some(Level::Masked { alive, turn: None }) if *alive == on)
        {
            out.push(set(on, both(here(on), Expr::not(c.clone())), span));
            return Some(());
        }
        let taken = self.local("taken");
        let among = |e: Expr| on.map_or(e.clone(), |on| both(here(on), e));
        out.push(set(taken, among(c.clone()), span));
        let mut side = |list: &[Stmt], taken: LocalId, m: &mut Self, out: &mut Vec<Stmt>| {
            let made = m.list(list, Some(taken), levels)?;
            if size(&made) > LARGE {
                out.push(StmtKind::If(anywhere(here(taken)), made, Vec::new()).at(span));
            } else {
                out.extend(made);
            }
            Some(())
        };
        // said before the one side may change what it depends on
        let not_taken = (!b.is_empty()).then(|| self.local("not_taken"));
        if let Some(not) = not_taken {
            out.push(set(not, among(Expr::not(here(taken))), span));
        }
        side(a, taken, self, out)?;
        match not_taken {
            Some(not) => side(b, not, self, out),
            None => Some(()),
        }
    }

    /// A level's lanes, and the statements that begin a loop, and a turn of it.
    fn level(&mut self, body: &[Stmt], on: On, span: Span) -> (Level, LocalId, Vec<Stmt>, Vec<Stmt>) {
        let alive = self.local("on");
        let turn = walk::continues(body, 0).then(|| self.local("turn"));
        let begins = vec![set(alive, on.map_or(Expr::bool(true), here), span)];
        let turns = turn.map(|turn| set(turn, here(alive), span)).into_iter().collect();
        (Level::Masked { alive, turn }, alive, begins, turns)
    }

    /// A body's turn.
    fn turn(&mut self, body: &[Stmt], level: Level, alive: LocalId, levels: &mut Vec<Level>) -> Option<Vec<Stmt>> {
        let on = flow(&level)?;
        levels.push(level);
        let made = self.list_of_turn((&[], body), Some(on), levels, Some(alive));
        levels.pop();
        made
    }

    fn endless(&mut self, b: &[Stmt], span: Span, (on, levels): (On, &mut Vec<Level>)) -> Option<Vec<Stmt>> {
        let (level, alive, mut out, mut turn) = self.level(b, on, span);
        turn.extend(self.turn(b, level, alive, levels)?);
        out.push(StmtKind::Loop(turn).at(span));
        Some(out)
    }

    /// A counted loop that some lanes leave before others.
    fn counted(
        &mut self,
        l: &For,
        private: bool,
        span: Span,
        (on, levels): (On, &mut Vec<Level>),
    ) -> Option<Vec<Stmt>> {
        let (level, alive, mut out, mut begins) = self.level(&l.body, on, span);
        if !self.is_same(&l.from) {
            // each lane counts for itself
            let to = self.bound(l, on, span, &mut out);
            out.push(self.assign(&Place::local(l.var), &l.from, on, false)?.at(span));
            let (counts, var) = (Place::local(l.var), Expr::local(l.var, Ty::Int));
            let mut turn = goes_on(alive, Expr::binary(l.cmp, var.clone(), to, Ty::Bool), span);
            turn.append(&mut begins);
            turn.extend(self.turn(&l.body, level, alive, levels)?);
            turn.push(self.assign(&counts, &Expr::add(var, Expr::int(l.step)), Some(alive), false)?.at(span));
            out.push(StmtKind::Loop(turn).at(span));
            return Some(out);
        }
        let counter = fresh(self.f, &self.f.locals[l.var.index()].name.clone(), Ty::Int);
        self.varying.resize(self.f.locals.len(), true);
        let count = Expr::local(counter, Ty::Int);
        let mut body = l.body.clone();
        walk::each_local_mut(&mut body, &mut |id| {
            if *id == l.var {
                *id = counter;
            }
        });
        let bound = self.is_same(&l.to);
        let loop_ = For { var: counter, ..header(l) };
        // nothing is known of the bound
        self.counters.push(For { cmp: if bound { l.cmp } else { BinaryOp::Ne }, ..loop_.clone() });
        // what it was when a lane left
        let seen =
            if private { None } else { Some(self.assign(&Place::local(l.var), &count, Some(alive), false)?.at(span)) };
        let mut turn: Vec<Stmt> = seen.iter().cloned().collect();
        if bound {
            turn.append(&mut begins);
            turn.extend(self.turn(&body, level, alive, levels)?);
            out.push(StmtKind::For(Box::new(For { body: turn, ..loop_ })).at(span));
            out.extend(seen);
        } else {
            let to = self.bound(l, on, span, &mut out);
            out.push(set(counter, l.from.clone(), span));
            turn.extend(goes_on(alive, Expr::binary(l.cmp, count.clone(), to, Ty::Bool), span));
            turn.append(&mut begins);
            turn.extend(self.turn(&body, level, alive, levels)?);
            turn.push(set(counter, Expr::add(count, Expr::int(l.step)), span));
            out.push(StmtKind::Loop(turn).at(span));
        }
        self.counters.pop();
        Some(out)
    }

    /// The bound of a loop, which is computed once.
    fn bound(&mut self, l: &For, on: On, span: Span, out: &mut Vec<Stmt>) -> Expr {
        let to = fresh(self.f, "to", Ty::Int);
        self.varying.resize(self.f.locals.len(), true);
        out.push(set(to, on.map_or(l.to.clone(), |on| choose(here(on), l.to.clone(), Expr::int(0))), span));
        Expr::local(to, Ty::Int)
    }
}

/// How often variables occur.
type Uses = HashMap<LocalId, usize>;

/// How often variables are read, written or counted with ([`walk::uses`]).
fn uses(list: &[Stmt]) -> Uses {
    let mut uses = Uses::new();
    walk::each_expr(list, &mut |e| {
        if let ExprKind::Load(Place { base: Base::Local(id), .. }) = e.kind {
            *uses.entry(id).or_default() += 1;
        }
    });
    walk::each_written(list, &mut |id| *uses.entry(id).or_default() += 1);
    uses
}

/// A loop without its body.
fn header(l: &For) -> For {
    For {
        var: l.var,
        from: l.from.clone(),
        cmp: l.cmp,
        to: l.to.clone(),
        step: l.step,
        body: Vec::new(),
        abreast: l.abreast,
    }
}

fn here(on: LocalId) -> Expr {
    Expr::local(on, Ty::Bool)
}

fn both(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::And, a, b, Ty::Bool)
}

fn set(id: LocalId, e: Expr, span: Span) -> Stmt {
    StmtKind::Assign(Place::local(id), e).at(span)
}

/// Leaves the loop around where no lane is on.
fn stop(on: LocalId, span: Span) -> Stmt {
    StmtKind::If(Expr::not(anywhere(here(on))), vec![StmtKind::Break(0).at(span)], Vec::new()).at(span)
}

/// Lanes go on where a condition holds.
fn goes_on(alive: LocalId, c: Expr, span: Span) -> Vec<Stmt> {
    vec![set(alive, both(here(alive), c), span), stop(alive, span)]
}

/// Which lanes are in a level's present turn.
fn flow(level: &Level) -> Option<LocalId> {
    match level {
        Level::Kept => None,
        Level::Masked { alive, turn } => Some(turn.unwrap_or(*alive)),
    }
}

/// Lanes that are on leave the `k`-th level around, or its turn.
fn jump(k: u32, turns: bool, on: On, levels: &[Level], span: Span, out: &mut Vec<Stmt>) -> Option<()> {
    let target = levels.len().checked_sub(k as usize + 1)?;
    for (i, level) in levels.iter().enumerate().skip(target) {
        let Level::Masked { alive, turn } = level else { return None };
        let stays = turns && i == target;
        for id in turn.iter().chain((!stays).then_some(alive)) {
            let left = on.map_or(Expr::bool(false), |on| both(here(*id), Expr::not(here(on))));
            out.push(set(*id, if on == Some(*id) { Expr::bool(false) } else { left }, span));
        }
    }
    Some(())
}

/// A loop is not begun where no lane is on: what it reads at places that it counts would not exist.
fn wrapped(made: Vec<Stmt>, on: On, span: Span, out: &mut Vec<Stmt>) -> Option<()> {
    match on {
        None => out.extend(made),
        Some(on) => out.push(StmtKind::If(anywhere(here(on)), made, Vec::new()).at(span)),
    }
    Some(())
}

/// Is there a loop, a block, or a condition?
fn nests(list: &[Stmt]) -> bool {
    list.iter().any(|s| !s.kind.bodies().is_empty())
}

/// Can an expression be evaluated anywhere?
fn never_wrong(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Load(p) => p.as_local().is_none() && !matches!(&p.base, Base::In(at) if at.as_int().is_some()),
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) => b.ty == Ty::Int && b.as_int().is_none_or(|i| i == 0),
        _ => false,
    })
}
