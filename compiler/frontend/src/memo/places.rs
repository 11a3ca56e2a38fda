//! The places in a filter's code, to be looked at or to be moved.

use crate::typed::*;
use sluice_grammar::span::Span;

/// Calls `f` for each place in a filter's code.
pub fn code(code: &mut FilterCode, f: &mut impl FnMut(&mut Span)) {
    let FilterCode { span, fields, functions, prework, work, stateful, sends, calls_native, .. } = code;
    f(span);
    fields.iter_mut().for_each(|d| f(&mut d.span));
    for function in functions {
        f(&mut function.span);
        function.locals.iter_mut().for_each(|l| f(&mut l.span));
        stmts(&mut function.body, f);
    }
    prework.iter_mut().chain([work]).for_each(|w| f(&mut w.span));
    [stateful, sends, calls_native].into_iter().flatten().for_each(f);
}

fn stmts(all: &mut [Stmt], f: &mut impl FnMut(&mut Span)) {
    all.iter_mut().for_each(|s| stmt(s, f));
}

fn stmt(s: &mut Stmt, f: &mut impl FnMut(&mut Span)) {
    f(&mut s.span);
    match &mut s.kind {
        StmtKind::Let { local: _, init, dims } => init.iter_mut().chain(dims).for_each(|e| expr(e, f)),
        StmtKind::Assign { place, value } | StmtKind::AssignOp { place, value, .. } => {
            expr(place, f);
            expr(value, f);
        }
        StmtKind::Expr(e) | StmtKind::Push(e) | StmtKind::Print { value: e, .. } | StmtKind::Return(Some(e)) => {
            expr(e, f);
        }
        StmtKind::If { cond, then, els } => {
            expr(cond, f);
            stmts(then, f);
            stmts(els, f);
        }
        StmtKind::For { init, cond, step, body } => {
            stmts(init, f);
            cond.iter_mut().for_each(|e| expr(e, f));
            stmts(step, f);
            stmts(body, f);
        }
        StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
            expr(cond, f);
            stmts(body, f);
        }
        StmtKind::Switch { value, cases } => {
            expr(value, f);
            cases.iter_mut().for_each(|c| stmts(&mut c.body, f));
        }
        StmtKind::Block(body) => stmts(body, f),
        StmtKind::Send(send) => send.args.iter_mut().for_each(|e| expr(e, f)),
        // statements of composites are in no filter
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) | StmtKind::Stream(_) => {}
    }
}

fn expr(e: &mut Expr, f: &mut impl FnMut(&mut Span)) {
    f(&mut e.span);
    match &mut e.kind {
        ExprKind::Const(_) | ExprKind::Local(_) | ExprKind::Field(_) | ExprKind::Static(_) => {}
        ExprKind::Pop | ExprKind::Iter => {}
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| expr(e, f)),
        ExprKind::Member(a, _)
        | ExprKind::Component(a, _)
        | ExprKind::Peek(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Convert(a)
        | ExprKind::IncDec { place: a, .. } => expr(a, f),
        ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|e| expr(e, f)),
        ExprKind::Builtin(_, args)
        | ExprKind::Call(_, args)
        | ExprKind::Array(args)
        | ExprKind::Compose(args)
        | ExprKind::Concat(args) => args.iter_mut().for_each(|e| expr(e, f)),
    }
}
