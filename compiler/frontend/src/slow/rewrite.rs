//! Changes in typed code: every statement and expression, inner ones before the outer ones, in the order of evaluation.

use crate::typed::*;

/// Calls `f` for each expression (operands first) and `s` for each statement (after its parts).
pub fn code(stmts: &mut [Stmt], f: &mut dyn FnMut(&mut Expr), s: &mut dyn FnMut(&mut Stmt)) {
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::Let { init, dims, .. } => init.iter_mut().chain(dims).for_each(|e| expr(e, f)),
            StmtKind::Assign { place, value } | StmtKind::AssignOp { place, value, .. } => {
                expr(place, f);
                expr(value, f);
            }
            StmtKind::Expr(e) | StmtKind::Push(e) | StmtKind::Print { value: e, .. } => expr(e, f),
            StmtKind::If { cond, then, els } => {
                expr(cond, f);
                code(then, f, s);
                code(els, f, s);
            }
            StmtKind::For { init, cond, step, body } => {
                code(init, f, s);
                cond.iter_mut().for_each(|e| expr(e, f));
                code(body, f, s);
                code(step, f, s);
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                expr(cond, f);
                code(body, f, s);
            }
            StmtKind::Switch { value, cases } => {
                expr(value, f);
                cases.iter_mut().for_each(|c| code(&mut c.body, f, s));
            }
            StmtKind::Return(e) => e.iter_mut().for_each(|e| expr(e, f)),
            StmtKind::Block(body) => code(body, f, s),
            StmtKind::Send(send) => send.args.iter_mut().for_each(|e| expr(e, f)),
            StmtKind::Break | StmtKind::Continue | StmtKind::Stream(_) => {}
        }
        s(stmt);
    }
}

/// Calls `f` for each expression in an expression, operands first, itself last.
pub fn expr(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    match &mut e.kind {
        ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Field(_)
        | ExprKind::Static(_)
        | ExprKind::Pop
        | ExprKind::Iter => {}
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
            expr(a, f);
            expr(b, f);
        }
        ExprKind::Member(a, _)
        | ExprKind::Component(a, _)
        | ExprKind::Peek(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Convert(a)
        | ExprKind::IncDec { place: a, .. } => expr(a, f),
        ExprKind::Ternary(a, b, c) => {
            expr(a, f);
            expr(b, f);
            expr(c, f);
        }
        ExprKind::Builtin(_, args)
        | ExprKind::Call(_, args)
        | ExprKind::Array(args)
        | ExprKind::Compose(args)
        | ExprKind::Concat(args) => args.iter_mut().for_each(|e| expr(e, f)),
    }
    f(e);
}
