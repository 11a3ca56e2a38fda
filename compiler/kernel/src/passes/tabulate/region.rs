//! Runs of statements that come to one variable, which follows from one int.

use super::known::{Known, element, looks_up};
use super::{Around, Counter, LARGEST, MOST, Plan, VALUES};
use crate::ir::*;
use crate::passes::fold;
use crate::passes::intervals::{Env, Range};
use crate::passes::unroll::size;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// How many statements from the first on may be a part of a run.
pub(super) fn eligible(list: &[Stmt]) -> usize {
    list.iter().take_while(|s| is_eligible(s)).count()
}

/// Only scalars of the function are written, only those and tables read, and nothing else happens but checks.
fn is_eligible(s: &Stmt) -> bool {
    let scalar = |ty: &Ty| matches!(ty, Ty::Int | Ty::Float | Ty::Bool | Ty::Bit);
    let mut ok = true;
    let mut expr = |e: &Expr| {
        e.walk(&mut |e| {
            ok &= scalar(&e.ty)
                && match &e.kind {
                    ExprKind::Load(p) => matches!(p.base, Base::Table(_)) || p.as_local().is_some(),
                    ExprKind::Iter | ExprKind::Compose(_) | ExprKind::Component(..) | ExprKind::Any(_) => false,
                    _ => true,
                };
        });
    };
    s.kind.each_own_expr(&mut expr);
    ok && match &s.kind {
        StmtKind::Assign(p, e) => p.as_local().is_some() && scalar(&e.ty),
        StmtKind::Check(Check::Index { .. } | Check::Divisor(_)) => true,
        StmtKind::If(_, a, b) => a.iter().chain(b).all(is_eligible),
        _ => false,
    }
}

/// The look-up that statements become.
pub(super) fn plan(
    around: &Around<'_>,
    kernel: &Kernel,
    run: &[Stmt],
    env: &Env<'_>,
    counters: &[Counter],
    tries: &mut usize,
) -> Option<Plan> {
    let large = size(run);
    if large > LARGEST {
        return None;
    }
    let (mut written, mut ins) = (BTreeSet::new(), BTreeSet::new());
    needed(run, &mut written, &mut ins);
    let (result, ty) = result(around, run, &ins)?;
    // what is not written on every way stays what it was
    if !written.contains(&result) {
        ins.insert(result);
    }
    let (mut exact, mut key, mut counter) = (BTreeMap::new(), None, None);
    for id in ins {
        let local = &around.f.locals[id.index()];
        if local.ty != Ty::Int || local.by_ref {
            return None;
        }
        let range = env.eval(&Expr::local(id, Ty::Int));
        let new = match counters.iter().find(|c| c.var == id) {
            _ if range.lo == range.hi => {
                exact.insert(id, Const::Int(range.lo as i32));
                true
            }
            Some(c) => counter.replace(*c).is_none(),
            None => key.replace((id, range)).is_none(),
        };
        if !new {
            return None;
        }
    }
    let (key, range) = key?;
    if !pays(run, key) || !around.is_data(&Expr::local(key, Ty::Int)) {
        return None;
    }
    let (mut range, mut guard) = (range, None);
    let bounded = guarding(run, key).filter(|(_, length)| !range.within(0, i64::from(*length) - 1));
    if let Some((check, length)) = bounded {
        let inside = range.meet(Range::new(0, i64::from(length) - 1));
        let outside = [Range::new(range.lo, range.hi.min(-1)), Range::new(range.lo.max(i64::from(length)), range.hi)];
        let turns: Vec<Option<i32>> = match counter {
            Some(c) => (0..c.turns).map(|t| Some(c.least.wrapping_add(t as i32))).collect(),
            None => vec![None],
        };
        for turn in turns {
            let mut body = run.to_vec();
            walk::each_expr_mut(&mut body, &mut |e| {
                let value = match &e.kind {
                    ExprKind::Load(p) => match p.as_local() {
                        Some(id) if counter.is_some_and(|c| c.var == id) => turn.map(Expr::int),
                        _ => None,
                    },
                    _ => None,
                };
                match value {
                    Some(v) => *e = v,
                    None => fold::expr(e, &kernel.tables),
                }
            });
            for outside in outside.into_iter().filter(|r| r.lo <= r.hi) {
                let mut env = env.knowing(key, outside);
                if comes_to(&body, check, &mut env) != Some(true) {
                    return None;
                }
            }
        }
        (range, guard) = (inside, Some(check.clone()));
    }
    let few = |n: &usize| (2..=VALUES).contains(n);
    let values = usize::try_from(range.hi - range.lo + 1).ok().filter(few)?;
    let turns = counter.map_or(1, |c| c.turns) as usize;
    if values.saturating_mul(turns) > MOST {
        return None;
    }
    let mut rows = Vec::new();
    for t in 0..turns {
        let mut row = Vec::new();
        for v in range.lo..=range.hi {
            *tries = tries.checked_sub(1)?;
            let mut known = Known { tables: &kernel.tables, locals: exact.clone(), key: None };
            known.locals.insert(key, Const::Int(v as i32));
            if let Some(c) = counter {
                known.locals.insert(c.var, Const::Int(c.least.wrapping_add(t as i32)));
            }
            execute(run, &mut known)?;
            row.push(element(known.locals.remove(&result)?, &ty)?);
        }
        rows.push(row);
    }
    Some(Plan {
        statements: run.len(),
        old: None,
        result: Some(result),
        guard,
        key: Expr::local(key, Ty::Int),
        least: range.lo as i32,
        counter,
        ty,
        rows,
    })
}

/// The one variable that is written and looked at elsewhere.
fn result(around: &Around<'_>, run: &[Stmt], ins: &BTreeSet<LocalId>) -> Option<(LocalId, Ty)> {
    let mut written = BTreeSet::new();
    walk::each_written(run, &mut |id| {
        written.insert(id);
    });
    let mut within: BTreeMap<LocalId, usize> = BTreeMap::new();
    walk::each_expr(run, &mut |e| {
        if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind {
            *within.entry(*id).or_default() += 1;
        }
    });
    // what is needed before it is written comes from the turn before, perhaps
    let seen = |id: &LocalId| ins.contains(id) || around.reads[id.index()] > within.get(id).copied().unwrap_or(0);
    let mut out = written.iter().filter(|id| seen(id));
    let id = *out.next()?;
    let local = &around.f.locals[id.index()];
    let one = out.next().is_none() && matches!(local.ty, Ty::Int | Ty::Float) && !local.by_ref;
    one.then(|| (id, local.ty.clone()))
}

/// Variables that statements may read before they have written them. `written`: those that they have on every way.
fn needed(body: &[Stmt], written: &mut BTreeSet<LocalId>, out: &mut BTreeSet<LocalId>) {
    for s in body {
        s.kind.each_own_expr(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind
                    && !written.contains(id)
                {
                    out.insert(*id);
                }
            });
        });
        if let StmtKind::If(_, a, b) = &s.kind {
            let (mut in_a, mut in_b) = (written.clone(), written.clone());
            needed(a, &mut in_a, out);
            needed(b, &mut in_b, out);
            written.extend(in_a.intersection(&in_b).copied());
        }
        written.extend(s.kind.targets().iter().filter_map(|p| p.as_local()));
    }
}

/// Do statements look up something behind a question, or at a place that they have looked up, and does it follow from the key?
fn pays(run: &[Stmt], key: LocalId) -> bool {
    let mut data = BTreeSet::from([key]);
    walk::each_written(run, &mut |id| {
        data.insert(id);
    });
    let of_data = |e: &Expr| {
        e.any(&mut |e| matches!(&e.kind, ExprKind::Load(Place { base: Base::Local(id), .. }) if data.contains(id)))
    };
    let (mut look_ups, mut questions) = (0, 0);
    walk::each_expr(run, &mut |e| look_ups += usize::from(looks_up(e) && of_data(e)));
    walk::each_stmt(run, &mut |s| questions += usize::from(matches!(&s.kind, StmtKind::If(c, ..) if of_data(c))));
    walk::each_expr(run, &mut |e| questions += usize::from(matches!(&e.kind, ExprKind::Select(c, ..) if of_data(c))));
    look_ups > 0 && questions > 0 || look_ups > 1
}

/// The first check that bounds the key, and the bound.
fn guarding(run: &[Stmt], key: LocalId) -> Option<(&Stmt, u32)> {
    let mut found = None;
    walk::each_stmt(run, &mut |s| {
        if let StmtKind::Check(Check::Index { index: Expr { kind: ExprKind::Load(p), .. }, length }) = &s.kind
            && p.as_local() == Some(key)
        {
            found = found.or(Some((s, *length)));
        }
    });
    found
}

/// Do statements come to a check before anything else that can fail? `None` where that is not known.
fn comes_to(body: &[Stmt], check: &Stmt, env: &mut Env<'_>) -> Option<bool> {
    for s in body {
        match &s.kind {
            StmtKind::Check(_) if s == check => return Some(true),
            StmtKind::Check(_) => return None,
            StmtKind::Assign(p, e) => {
                let value = if e.ty == Ty::Int { env.eval(e) } else { Range::ALL };
                *env = env.knowing(p.as_local()?, value);
            }
            StmtKind::If(c, a, b) => {
                let taken = if env.decides(c)? { a } else { b };
                if comes_to(taken, check, env)? {
                    return Some(true);
                }
            }
            _ => return None,
        }
    }
    Some(false)
}

/// Executes statements; `None` where something fails, or is not known.
fn execute(body: &[Stmt], known: &mut Known<'_>) -> Option<()> {
    for s in body {
        match &s.kind {
            StmtKind::Assign(p, e) => {
                let value = known.value(e)?;
                known.locals.insert(p.as_local()?, value);
            }
            StmtKind::Check(c) => match known.value(c.operand()?)? {
                Const::Int(v) if crate::passes::clean::holds_at(c, v) => {}
                _ => return None,
            },
            StmtKind::If(c, a, b) => match known.value(c)? {
                Const::Bool(yes) => execute(if yes { a } else { b }, known)?,
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(())
}
