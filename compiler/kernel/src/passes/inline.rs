//! # inline
//!
//! Purpose: calls of functions that use the channels, are small, or are called once, replaced by their bodies, so that what
//! follows sees one function. Input, output: a kernel before `lower_channels`.
//!
//! ```text
//! call $2 = func1($0)   →   $5 = $0  block { ... $6 = $5 * $5  break 0 ... }  $2 = $6
//! ```
//!
//! A struct that is handed over by value is read where it stands, where neither the parameter nor the argument is written before the
//! body is done: a copy of it in the innermost loop costs more than what it is read for.
//!
//! Invariant: only recursive functions still use the channels outside of work and prework. Functions that are no longer
//! called are gone.

#[cfg(test)]
mod tests;

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// A function with at most so many statements is small.
const SMALL: usize = 40;

/// A function does not grow beyond so many statements by inlining what need not be inlined.
const LARGE: usize = 4000;

/// Inlines calls in all functions.
pub fn run(kernel: &mut Kernel) {
    let n = kernel.functions.len();
    let calls: Vec<Vec<FuncId>> = kernel.functions.iter().map(|f| callees(&f.body)).collect();
    let mut uses = vec![0usize; n];
    calls.iter().flatten().for_each(|c| uses[c.index()] += 1);
    let recursive: Vec<bool> = (0..n).map(|i| reaches(&calls, FuncId::from(i), FuncId::from(i))).collect();
    // callees first, so that a body is inlined when it is finished
    for id in order(&calls) {
        let mut f = kernel.functions[id.index()].clone();
        let mut body = std::mem::take(&mut f.body);
        let size = walk::count(&body);
        walk::each_body_mut(&mut body, &mut |list| {
            let mut i = 0;
            while i < list.len() {
                let mut n = 1;
                if let StmtKind::Call { callee: Callee::Func(c), .. } = &list[i].kind
                    && !recursive[c.index()]
                {
                    let callee = &kernel.functions[c.index()];
                    let small = walk::count(&callee.body) <= SMALL && size < LARGE;
                    if small || uses[c.index()] == 1 || uses_channels(&callee.body) {
                        let replacement = expand(&mut f.locals, callee, &list[i]);
                        n = replacement.len();
                        list.splice(i..=i, replacement);
                    }
                }
                i += n;
            }
        });
        f.body = body;
        kernel.functions[id.index()] = f;
    }
    remove_unused(kernel);
}

fn callees(body: &[Stmt]) -> Vec<FuncId> {
    let mut out = Vec::new();
    walk::each_stmt(body, &mut |s| {
        if let StmtKind::Call { callee: Callee::Func(f), .. } = s.kind {
            out.push(f);
        }
    });
    out
}

/// Is there a path of at least one call?
fn reaches(calls: &[Vec<FuncId>], from: FuncId, to: FuncId) -> bool {
    let mut seen = vec![false; calls.len()];
    let mut stack = calls[from.index()].clone();
    while let Some(f) = stack.pop() {
        if f == to {
            return true;
        }
        if !std::mem::replace(&mut seen[f.index()], true) {
            stack.extend(&calls[f.index()]);
        }
    }
    false
}

/// Functions with callees before callers, where there is no recursion.
fn order(calls: &[Vec<FuncId>]) -> Vec<FuncId> {
    fn visit(f: FuncId, calls: &[Vec<FuncId>], seen: &mut [bool], out: &mut Vec<FuncId>) {
        if !std::mem::replace(&mut seen[f.index()], true) {
            calls[f.index()].iter().for_each(|c| visit(*c, calls, seen, out));
            out.push(f);
        }
    }
    let mut seen = vec![false; calls.len()];
    let mut out = Vec::new();
    (0..calls.len()).for_each(|i| visit(FuncId::from(i), calls, &mut seen, &mut out));
    out
}

/// Does a body pop, peek or push?
pub fn uses_channels(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| {
        found |= matches!(
            s.kind,
            StmtKind::Pop(_)
                | StmtKind::Push(_)
                | StmtKind::Check(Check::Peek(_) | Check::Pop | Check::Push | Check::Pushed | Check::Popped)
        );
    });
    walk::each_expr(body, &mut |e| {
        if let ExprKind::Load(Place { base: Base::Peek(_), .. }) = e.kind {
            found = true;
        }
    });
    found
}

/// The body of a call, in the caller's variables.
fn expand(locals: &mut Vec<Local>, callee: &Function, call: &Stmt) -> Vec<Stmt> {
    let StmtKind::Call { dst, args, .. } = &call.kind else { return vec![call.clone()] };
    let span = call.span;
    let mut out = Vec::new();
    let mut body = callee.body.clone();
    // by-reference parameters stand for places, and so do structs that nothing writes; the others become variables
    let mut places: Vec<Option<Place>> = vec![None; callee.locals.len()];
    let mut ids: Vec<LocalId> = Vec::new();
    for (i, l) in callee.locals.iter().enumerate() {
        let id = LocalId::from(locals.len());
        ids.push(id);
        let stands = if l.by_ref {
            let Some(Arg::Ref(p)) = args.get(i) else { continue };
            Some(p)
        } else {
            read_in_place(callee, i, args)
        };
        if let Some(p) = stands {
            let mut p = p.clone();
            p.each_expr_mut(&mut |e| {
                if e.as_const().is_none() {
                    let t = fresh(locals, "at", e.ty.clone());
                    let value = std::mem::replace(e, Expr::local(t, e.ty.clone()));
                    out.push(StmtKind::Assign(Place::local(t), value).at(span));
                }
            });
            ids[i] = LocalId(u32::MAX);
            places[i] = Some(p);
        } else {
            locals.push(l.clone());
            if let Some(Arg::Value(v)) = args.get(i) {
                out.push(StmtKind::Assign(Place::local(id), v.clone()).at(span));
            }
        }
    }
    walk::each_for_vars_mut(&mut body, &mut |v| *v = ids[v.index()]);
    walk::each_place_mut(&mut body, &mut |p| {
        if let Base::Local(id) = p.base {
            match &places[id.index()] {
                Some(to) => {
                    p.base = to.base.clone();
                    p.path.splice(0..0, to.path.iter().cloned());
                }
                None => p.base = Base::Local(ids[id.index()]),
            }
        }
    });
    let result = (callee.ret != Ty::Void && dst.is_some()).then(|| fresh(locals, "result", callee.ret.clone()));
    // a return at the very end needs no jump
    if let Some(Stmt { kind: StmtKind::Return(value), span }) = body.last().cloned() {
        body.pop();
        if let (Some(r), Some(v)) = (result, value) {
            body.push(StmtKind::Assign(Place::local(r), v).at(span));
        }
    }
    if returns(&mut body, result, 0) {
        out.push(StmtKind::Block(body).at(span));
    } else {
        out.append(&mut body);
    }
    if let (Some(r), Some(p)) = (result, dst) {
        out.push(StmtKind::Assign(p.clone(), Expr::local(r, callee.ret.clone())).at(span));
    }
    out
}

/// Where the argument of a parameter stands, if it is a struct and the parameter need not be a copy of it.
fn read_in_place<'a>(callee: &Function, param: usize, args: &'a [Arg]) -> Option<&'a Place> {
    let Some(Arg::Value(Expr { kind: ExprKind::Load(p), .. })) = args.get(param) else { return None };
    if !matches!(callee.locals[param].ty, Ty::Struct(_)) {
        return None;
    }
    let mut written = false;
    walk::each_written(&callee.body, &mut |id| written |= id.index() == param);
    // the body reaches the caller's variables through its by-reference parameters only, and fields itself or by calls
    let lasts = match p.base {
        Base::Local(_) => args.iter().all(|a| !matches!(a, Arg::Ref(other) if other.base == p.base)),
        Base::Table(_) => true,
        Base::State(_) => {
            let mut touched = args.iter().any(|a| matches!(a, Arg::Ref(other) if other.base == p.base));
            walk::each_stmt(&callee.body, &mut |s| {
                touched |= matches!(s.kind, StmtKind::Call { callee: Callee::Func(_), .. });
                touched |= s.kind.targets().iter().any(|t| t.base == p.base);
            });
            !touched
        }
        Base::Peek(_) | Base::In(_) | Base::Out(_) => false,
    };
    (!written && lasts).then_some(p)
}

/// Turns returns into breaks of a block around the body. Were there any?
fn returns(body: &mut Vec<Stmt>, result: Option<LocalId>, depth: u32) -> bool {
    let mut found = false;
    let mut i = 0;
    while i < body.len() {
        let span = body[i].span;
        match &mut body[i].kind {
            StmtKind::Return(value) => {
                found = true;
                let value = value.take();
                body[i] = StmtKind::Break(depth).at(span);
                if let (Some(r), Some(v)) = (result, value) {
                    body.insert(i, StmtKind::Assign(Place::local(r), v).at(span));
                    i += 1;
                }
            }
            StmtKind::If(_, a, b) => found |= returns(a, result, depth) | returns(b, result, depth),
            StmtKind::For(l) => found |= returns(&mut l.body, result, depth + 1),
            StmtKind::Loop(b) | StmtKind::Block(b) => found |= returns(b, result, depth + 1),
            _ => {}
        }
        i += 1;
    }
    found
}

fn fresh(locals: &mut Vec<Local>, name: &str, ty: Ty) -> LocalId {
    locals.push(Local { name: name.into(), ty, by_ref: false });
    LocalId::from(locals.len() - 1)
}

/// Drops functions that nothing calls, and renumbers the others.
pub fn remove_unused(kernel: &mut Kernel) {
    let mut used = vec![false; kernel.functions.len()];
    let mut stack = vec![kernel.work.function];
    stack.extend(kernel.prework.map(|w| w.function));
    stack.extend(kernel.handlers.iter().map(|(_, f)| *f));
    stack.extend(kernel.lanes.as_ref().map(|l| l.function));
    stack.extend(kernel.steps.map(|s| s.function));
    while let Some(f) = stack.pop() {
        if !std::mem::replace(&mut used[f.index()], true) {
            stack.extend(callees(&kernel.functions[f.index()].body));
        }
    }
    let mut next = 0;
    let new: Vec<FuncId> = used
        .iter()
        .map(|u| {
            next += usize::from(*u);
            FuncId::from(next.max(1) - 1)
        })
        .collect();
    let mut it = used.iter();
    kernel.functions.retain(|_| it.next().is_some_and(|u| *u));
    for f in &mut kernel.functions {
        walk::each_stmt_mut(&mut f.body, &mut |s| {
            if let StmtKind::Call { callee: Callee::Func(f), .. } = &mut s.kind {
                *f = new[f.index()];
            }
        });
    }
    kernel.work.function = new[kernel.work.function.index()];
    if let Some(p) = &mut kernel.prework {
        p.function = new[p.function.index()];
    }
    for (_, f) in &mut kernel.handlers {
        *f = new[f.index()];
    }
    if let Some(l) = &mut kernel.lanes {
        l.function = new[l.function.index()];
    }
    if let Some(s) = &mut kernel.steps {
        s.function = new[s.function.index()];
    }
}
