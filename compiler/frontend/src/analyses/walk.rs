//! Walks over typed code.
//!
//! Takes statements or an expression and a function; calls it for every expression (or statement) in there, outer ones before
//! inner ones, in source order.

use crate::typed::*;

/// Calls `f` for each statement, nested ones included.
pub fn statements<'a>(stmts: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for s in stmts {
        f(s);
        match &s.kind {
            StmtKind::If { then, els, .. } => {
                statements(then, f);
                statements(els, f);
            }
            StmtKind::For { init, step, body, .. } => {
                statements(init, f);
                statements(body, f);
                statements(step, f);
            }
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::Block(body) => {
                statements(body, f)
            }
            StmtKind::Switch { cases, .. } => cases.iter().for_each(|c| statements(&c.body, f)),
            _ => {}
        }
    }
}

/// The expressions directly in a statement, places included.
pub fn operands(s: &Stmt) -> Vec<&Expr> {
    match &s.kind {
        StmtKind::Let { init, dims, .. } => init.iter().chain(dims).collect(),
        StmtKind::Assign { place, value } | StmtKind::AssignOp { place, value, .. } => vec![place, value],
        StmtKind::Expr(e) | StmtKind::Push(e) | StmtKind::Print { value: e, .. } => vec![e],
        StmtKind::If { cond, .. } | StmtKind::While { cond, .. } | StmtKind::DoWhile { cond, .. } => vec![cond],
        StmtKind::For { cond, .. } => cond.iter().collect(),
        StmtKind::Switch { value, .. } => vec![value],
        StmtKind::Return(e) => e.iter().collect(),
        StmtKind::Send(send) => send.args.iter().collect(),
        StmtKind::Break | StmtKind::Continue | StmtKind::Block(_) | StmtKind::Stream(_) => Vec::new(),
    }
}

/// Calls `f` for each expression in a statement list.
pub fn expressions<'a>(stmts: &'a [Stmt], f: &mut dyn FnMut(&'a Expr)) {
    statements(stmts, &mut |s| operands(s).into_iter().for_each(|e| expression(e, f)));
}

/// Calls `f` for an expression and each one in it.
pub fn expression<'a>(e: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(e);
    children(e).into_iter().for_each(|c| expression(c, f));
}

/// The expressions directly in an expression, in the order of evaluation.
pub fn children(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Field(_)
        | ExprKind::Static(_)
        | ExprKind::Pop
        | ExprKind::Iter => Vec::new(),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Member(a, _)
        | ExprKind::Component(a, _)
        | ExprKind::Peek(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Convert(a)
        | ExprKind::IncDec { place: a, .. } => vec![a],
        ExprKind::Ternary(a, b, c) => vec![a, b, c],
        ExprKind::Builtin(_, args)
        | ExprKind::Call(_, args)
        | ExprKind::Array(args)
        | ExprKind::Compose(args)
        | ExprKind::Concat(args) => args.iter().collect(),
    }
}

/// The variable a place is part of.
pub fn root(place: &Expr) -> &Expr {
    match &place.kind {
        ExprKind::Index(base, _) | ExprKind::Member(base, _) | ExprKind::Component(base, _) => root(base),
        _ => place,
    }
}

/// Calls `f` with each variable that an argument by reference may be (a part of): those that `?:` chooses from, too.
pub fn roots<'a>(argument: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    match &argument.kind {
        ExprKind::Index(base, _) | ExprKind::Member(base, _) | ExprKind::Component(base, _) => roots(base, f),
        ExprKind::Ternary(_, a, b) => {
            roots(a, f);
            roots(b, f);
        }
        _ => f(argument),
    }
}

/// Calls `f` for each place that a statement list writes directly (assignments, increments).
pub fn writes<'a>(stmts: &'a [Stmt], f: &mut dyn FnMut(&'a Expr)) {
    statements(stmts, &mut |s| {
        if let StmtKind::Assign { place, .. } | StmtKind::AssignOp { place, .. } = &s.kind {
            f(place);
        }
        for e in operands(s) {
            expression(e, &mut |e| {
                if let ExprKind::IncDec { place, .. } = &e.kind {
                    f(place);
                }
            });
        }
    });
}
