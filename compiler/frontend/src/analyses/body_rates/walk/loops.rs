//! Loops: unrolled, counted, or anything.

use super::*;

/// A loop `for (...; i < b; i += c)`: the turns that are left and what `i` is in them.
struct Counted {
    local: LocalId,
    turns: u64,
    range: (i64, i64),
    end: i64,
}

/// What a way has done at most: items looked at, popped and pushed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    looked: u64,
    popped: u64,
    pushed: u64,
}

impl<'a> Walk<'a> {
    /// A loop with its condition before the body.
    pub(super) fn repeat(
        &mut self,
        cond: Option<&'a Expr>,
        body: &'a [Stmt],
        step: &'a [Stmt],
        at: State<'a>,
        jumps: &mut Jumps<'a>,
        span: Span,
    ) -> Option<State<'a>> {
        let mut exits = None;
        let mut at = Some(at);
        while let Some(mut now) = at {
            self.steps += 1;
            if self.steps > BUDGET {
                let rest = self.summarise(cond, body, step, now, jumps, span);
                return join(exits, rest);
            }
            let before = now.clone();
            match cond.map_or(Some(true), |c| self.expr(c, &mut now).truth()) {
                Some(true) => {}
                Some(false) => return join(exits, Some(now)),
                None => {
                    let rest = self.summarise(cond, body, step, before, jumps, span);
                    return join(exits, rest);
                }
            }
            let mut inner = Jumps { returns: jumps.returns.take(), ..Jumps::default() };
            let end = self.stmts(body, Some(now), &mut inner);
            jumps.returns = inner.returns;
            exits = join(exits, inner.breaks);
            let next = join(end, inner.continues);
            at = self.stmts(step, next, &mut Jumps::default());
        }
        exits
    }

    /// `do body while (cond)`
    pub(super) fn do_while(
        &mut self,
        body: &'a [Stmt],
        cond: &'a Expr,
        at: State<'a>,
        jumps: &mut Jumps<'a>,
        span: Span,
    ) -> Option<State<'a>> {
        let mut inner = Jumps { returns: jumps.returns.take(), ..Jumps::default() };
        let end = self.stmts(body, Some(at), &mut inner);
        jumps.returns = inner.returns;
        let rest = match join(end, inner.continues) {
            Some(next) => self.repeat(Some(cond), body, &[], next, jumps, span),
            None => None,
        };
        join(inner.breaks, rest)
    }

    /// The rest of a loop, without unrolling it.
    fn summarise(
        &mut self,
        cond: Option<&'a Expr>,
        body: &'a [Stmt],
        step: &'a [Stmt],
        at: State<'a>,
        jumps: &mut Jumps<'a>,
        span: Span,
    ) -> Option<State<'a>> {
        let mut start = at.clone();
        self.forget(body, &mut start);
        let counted = match cond {
            Some(c) => self.counted(c, body, step, &at, &start),
            None => None,
        };
        if let Some(c) = counted
            && let Some(end) = self.counted_loop(&c, body, &at, start.clone(), span)
        {
            return Some(end);
        }
        // any number of turns
        self.forget(step, &mut start);
        if let Some(c) = cond {
            self.forget_in(c, &mut start);
        }
        let mut turn = start.clone();
        (turn.pops, turn.pushes, turn.looked) = Default::default();
        let mut inner = Jumps::default();
        let ((known, after_cond, end), stuck) = self.in_a_turn(|w| {
            let known = cond.map_or(Some(true), |c| w.expr(c, &mut turn).truth());
            let after_cond = turn.clone();
            let end = if known == Some(false) { None } else { w.stmts(body, Some(turn), &mut inner) };
            let next = join(end, inner.continues.take());
            (known, after_cond, w.stmts(step, next, &mut Jumps::default()))
        });
        let breaks = inner.breaks.is_some();
        let returns = inner.returns.take();
        let exits_by_return = returns.is_some();
        // the most that one turn does, however it ends
        let most = [end, inner.breaks, returns, Some(after_cond)].into_iter().fold(None, join);
        let mut result = start;
        if let Some(m) = &most {
            let open = |before: Count, turn: Count| Count {
                lo: before.lo,
                hi: if turn.hi == 0 { before.hi } else { u64::MAX },
            };
            result.pops = open(at.pops, m.pops);
            result.pushes = open(at.pushes, m.pushes);
            result.looked = at.looked;
            result.looked.hi = match (m.pops.hi, m.looked.hi) {
                (_, 0) => at.looked.hi,
                (0, reach) => at.looked.hi.max(at.pops.hi.saturating_add(reach)),
                _ => u64::MAX,
            };
        }
        self.notice(&result, span);
        let ends = breaks || exits_by_return || known != Some(true);
        if !ends {
            self.never_ends(&result, Done::default());
        }
        if let Some(stuck) = stuck {
            self.never_ends(&result, stuck);
        }
        if exits_by_return {
            let mut returned = result.clone();
            returned.result = Known::Nothing;
            jumps.returns = join(jumps.returns.take(), Some(returned));
        }
        // with a condition that always holds only a `break` leads out
        (breaks || known != Some(true)).then_some(result)
    }

    /// What a counted loop does; `None` where its body can end it early.
    fn counted_loop(
        &mut self,
        c: &Counted,
        body: &'a [Stmt],
        at: &State<'a>,
        mut start: State<'a>,
        span: Span,
    ) -> Option<State<'a>> {
        if c.turns == 0 {
            let mut end = at.clone();
            set_local(&mut end, c.local, Known::Int(c.end, c.end));
            return Some(end);
        }
        set_local(&mut start, c.local, Known::Int(c.range.0, c.range.1));
        let mut turn = start.clone();
        (turn.pops, turn.pushes, turn.looked) = Default::default();
        let mut inner = Jumps::default();
        let (end, stuck) = self.in_a_turn(|w| w.stmts(body, Some(turn), &mut inner));
        if inner.breaks.is_some() || inner.returns.is_some() {
            return None;
        }
        let one = join(end, inner.continues)?;
        let last = at.pops.plus(one.pops.times(c.turns - 1));
        let mut result = start;
        result.pops = at.pops.plus(one.pops.times(c.turns));
        result.pushes = at.pushes.plus(one.pushes.times(c.turns));
        result.looked = match one.looked.hi {
            0 => at.looked,
            _ => at.looked.max(last.plus(one.looked)),
        };
        set_local(&mut result, c.local, Known::Int(c.end, c.end));
        self.notice(&result, span);
        if let Some(stuck) = stuck {
            self.never_ends(&result, stuck);
        }
        Some(result)
    }

    /// Goes through a turn of a loop, counting from its start; and the most that a way through it does which never ends, if there is one.
    fn in_a_turn<T>(&mut self, turn: impl FnOnce(&mut Self) -> T) -> (T, Option<Done>) {
        let around = self.stuck.take();
        self.relative += 1;
        let result = turn(self);
        self.relative -= 1;
        (result, std::mem::replace(&mut self.stuck, around))
    }

    /// A way that never ends has come as far as `at`, and then did `then`. No state tells of it, for none follows: it is noticed at once, or with the loop around.
    fn never_ends(&mut self, at: &State<'a>, then: Done) {
        let looked = match then.looked {
            0 => at.looked.hi,
            reach => at.looked.hi.max(at.pops.hi.saturating_add(reach)),
        };
        let popped = at.pops.hi.saturating_add(then.popped);
        let pushed = at.pushes.hi.saturating_add(then.pushed);
        if self.relative > 0 {
            let s = self.stuck.get_or_insert_default();
            *s = Done { looked: s.looked.max(looked), popped: s.popped.max(popped), pushed: s.pushed.max(pushed) };
        } else {
            let w = &mut self.watch;
            (w.looked, w.popped, w.pushed) = (w.looked.max(looked), w.popped.max(popped), w.pushed.max(pushed));
        }
    }

    /// Is this a counted loop? `at` is the state before the next turn, `start` the same without what the body writes.
    fn counted(
        &mut self,
        cond: &'a Expr,
        body: &'a [Stmt],
        step: &'a [Stmt],
        at: &State<'a>,
        start: &State<'a>,
    ) -> Option<Counted> {
        let ExprKind::Binary(op, left, bound) = &cond.kind else { return None };
        let ExprKind::Local(local) = left.kind else { return None };
        let [step] = step else { return None };
        if left.ty != Ty::Int || writes_local(body, local) {
            return None;
        }
        let by = i64::from(step_of(step, local)?);
        let first = i64::from(at.locals.get(local.index())?.int()?);
        // the bound must not depend on what the body writes, nor do anything
        let mut pure = true;
        tree::expression(bound, &mut |e| {
            pure &= !matches!(
                e.kind,
                ExprKind::Call(..) | ExprKind::Pop | ExprKind::Peek(_) | ExprKind::IncDec { .. } | ExprKind::Iter
            ) && !matches!(e.kind, ExprKind::Local(id) if id == local);
        });
        if !pure {
            return None;
        }
        let bound = i64::from(self.expr(bound, &mut start.clone()).int()?);
        let turns = match (op, by > 0) {
            (BinaryOp::Lt, true) => up(bound - first, by),
            (BinaryOp::Le, true) => up(bound - first + 1, by),
            (BinaryOp::Gt, false) => up(first - bound, -by),
            (BinaryOp::Ge, false) => up(first - bound + 1, -by),
            (BinaryOp::Ne, _) if by != 0 && (bound - first) % by == 0 && (bound - first) / by >= 0 => {
                (bound - first) / by
            }
            _ => return None,
        };
        let end = first + turns * by;
        let last = end - by;
        // an index that wraps around is no counted loop
        i32::try_from(end).ok()?;
        let range = (first.min(last), first.max(last));
        Some(Counted { local, turns: turns as u64, range, end })
    }

    /// Forgets what statements may write.
    fn forget(&self, stmts: &'a [Stmt], st: &mut State<'a>) {
        let mut written = Vec::new();
        let mut calls = false;
        tree::writes(stmts, &mut |place| written.push(tree::root(place)));
        tree::statements(stmts, &mut |s| {
            if let StmtKind::Let { local, .. } = s.kind
                && let Some(l) = st.locals.get_mut(local.index())
            {
                *l = l.join(Known::Nothing);
            }
        });
        tree::expressions(stmts, &mut |e| {
            if let ExprKind::Call(_, args) = &e.kind {
                calls = true;
                args.iter()
                    .filter(|a| a.ty.is_aggregate())
                    .for_each(|a| tree::roots(a, &mut |root| written.push(root)));
            }
        });
        self.forget_roots(&written, calls, st);
    }

    fn forget_in(&self, e: &'a Expr, st: &mut State<'a>) {
        let mut written = Vec::new();
        let mut calls = false;
        tree::expression(e, &mut |e| match &e.kind {
            ExprKind::IncDec { place, .. } => written.push(tree::root(place)),
            ExprKind::Call(_, args) => {
                calls = true;
                args.iter()
                    .filter(|a| a.ty.is_aggregate())
                    .for_each(|a| tree::roots(a, &mut |root| written.push(root)));
            }
            _ => {}
        });
        self.forget_roots(&written, calls, st);
    }

    fn forget_roots(&self, written: &[&'a Expr], calls: bool, st: &mut State<'a>) {
        for root in written {
            match root.kind {
                ExprKind::Local(id) => set_local(st, id, Known::any(&root.ty)),
                ExprKind::Field(id) => {
                    // a constant array that is only read by a callee stays known
                    if let (Some(f), Some(def)) = (st.fields.get_mut(id.index()), self.code.fields.get(id.index()))
                        && !def.constant
                    {
                        *f = Known::any(&def.ty);
                    }
                }
                _ => {}
            }
        }
        if calls {
            self.forget_fields(st);
        }
    }
}

/// Turns of a loop over a distance.
fn up(distance: i64, by: i64) -> i64 {
    if distance <= 0 { 0 } else { (distance + by - 1) / by }
}

/// Is a local assigned in here, or declared anew?
fn writes_local(stmts: &[Stmt], local: LocalId) -> bool {
    let mut found = false;
    tree::writes(stmts, &mut |place| found |= matches!(tree::root(place).kind, ExprKind::Local(id) if id == local));
    tree::statements(stmts, &mut |s| found |= matches!(s.kind, StmtKind::Let { local: l, .. } if l == local));
    found
}

/// By how much a loop's step changes a local, if it does just that.
fn step_of(s: &Stmt, local: LocalId) -> Option<i32> {
    let is_local = |e: &Expr| matches!(e.kind, ExprKind::Local(id) if id == local);
    let constant = |e: &Expr| match e.kind {
        ExprKind::Const(crate::constant::Const::Int(n)) => Some(n),
        _ => None,
    };
    match &s.kind {
        StmtKind::Expr(Expr { kind: ExprKind::IncDec { place, inc, .. }, .. }) if is_local(place) => {
            Some(if *inc { 1 } else { -1 })
        }
        StmtKind::AssignOp { place, op: BinaryOp::Add, value, .. } if is_local(place) => constant(value),
        StmtKind::AssignOp { place, op: BinaryOp::Sub, value, .. } if is_local(place) => constant(value)?.checked_neg(),
        StmtKind::Assign { place, value } if is_local(place) => match &value.kind {
            ExprKind::Binary(BinaryOp::Add, a, b) if is_local(a) => constant(b),
            ExprKind::Binary(BinaryOp::Add, a, b) if is_local(b) => constant(a),
            ExprKind::Binary(BinaryOp::Sub, a, b) if is_local(a) => constant(b)?.checked_neg(),
            _ => None,
        },
        StmtKind::Block(b) => match &b[..] {
            [one] => step_of(one, local),
            _ => None,
        },
        _ => None,
    }
}
