//! Takes out what cannot go by itself: a portal with its parameters, arguments, messages and registrations; a handler with the messages
//! for it; a parameter with the arguments for it.
//!
//! All that has the same name goes together. Where that was more than one thing, the candidate is still a program or it is refused.

use sluice_grammar::ast::*;
use std::sync::Arc;

/// What goes.
#[derive(Clone, Debug, PartialEq)]
enum Gone {
    /// A portal.
    Portal(Name),
    /// A handler.
    Handler(Name),
    /// The parameter of streams by number.
    OfStream(Name, usize),
    /// The parameter of handlers and functions by number.
    OfFunction(Name, usize),
}

/// The tree without the portal, handler or parameter number `at`; none where there are no more.
pub(super) fn without(tree: &Program, at: usize) -> Option<Program> {
    let mut found = Vec::new();
    let mut tree = tree.clone();
    each(&mut tree, &mut |part| candidates(part, &mut found));
    let gone = found.into_iter().nth(at)?;
    each(&mut tree, &mut |part| take_out(part, &gone));
    Some(tree)
}

/// A part of a tree.
enum Part<'t> {
    Stream(&'t mut StreamDecl),
    Function(&'t mut FnDecl),
    Statement(&'t mut Stmt),
    Expression(&'t mut Expr),
}

fn candidates(part: Part<'_>, found: &mut Vec<Gone>) {
    let mut add = |gone| {
        if !found.contains(&gone) {
            found.push(gone);
        }
    };
    match part {
        Part::Stream(s) => {
            for (i, p) in s.params.iter().enumerate() {
                match (&p.ty.base, &s.name) {
                    (BaseType::Portal(_), _) => add(Gone::Portal(p.name.name.clone())),
                    (_, Some(name)) => add(Gone::OfStream(name.name.clone(), i)),
                    _ => {}
                }
            }
            if let StreamBody::Filter(members) = &s.body {
                for m in members {
                    if let Member::Handler(f) = m {
                        add(Gone::Handler(f.name.name.clone()));
                    }
                }
            }
        }
        Part::Function(f) => (0..f.params.len()).for_each(|i| add(Gone::OfFunction(f.name.name.clone(), i))),
        Part::Statement(s) => {
            if let StmtKind::Decl(d) = &s.kind
                && let BaseType::Portal(_) = d.ty.base
            {
                d.vars.iter().for_each(|(name, _)| add(Gone::Portal(name.name.clone())));
            }
        }
        Part::Expression(_) => {}
    }
}

/// Is this the name, or an element of what has the name?
fn names(e: &Expr, name: &Name) -> bool {
    match &e.unparen().kind {
        ExprKind::Var(v) => v.name == *name,
        ExprKind::Index(a, _) => names(a, name),
        _ => false,
    }
}

/// The portal and the handler of a message.
fn message(s: &Stmt) -> Option<(&Expr, &Name)> {
    match &s.kind {
        StmtKind::Send { portal, handler, .. } => Some((portal, &handler.name)),
        StmtKind::Expr(Expr { kind: ExprKind::Call { callee, .. }, .. }) => match &callee.kind {
            ExprKind::Member(portal, handler) => Some((portal, &handler.name)),
            _ => None,
        },
        _ => None,
    }
}

fn remove<T>(list: &mut Vec<T>, at: usize) {
    if at < list.len() {
        list.remove(at);
    }
}

fn take_out(part: Part<'_>, gone: &Gone) {
    match part {
        Part::Stream(s) => match gone {
            Gone::Portal(portal) => s.params.retain(|p| p.name.name != *portal),
            Gone::Handler(handler) => {
                if let StreamBody::Filter(members) = &mut s.body {
                    members.retain(|m| !matches!(m, Member::Handler(f) if f.name.name == *handler));
                }
            }
            Gone::OfStream(stream, i) if s.name.as_ref().is_some_and(|n| n.name == *stream) => {
                remove(&mut s.params, *i);
            }
            _ => {}
        },
        Part::Function(f) => {
            if let Gone::OfFunction(name, i) = gone
                && f.name.name == *name
            {
                remove(&mut f.params, *i);
            }
        }
        Part::Statement(s) => statement(s, gone),
        Part::Expression(e) => {
            if let (ExprKind::Call { callee, args }, Gone::OfFunction(f, i)) = (&mut e.kind, gone)
                && let ExprKind::Var(name) | ExprKind::Member(_, name) = &callee.kind
                && name.name == *f
            {
                remove(args, *i);
            }
        }
    }
}

fn statement(s: &mut Stmt, gone: &Gone) {
    let empty = match (gone, message(s)) {
        (Gone::Portal(portal), Some((to, _))) => names(to, portal),
        (Gone::Handler(handler), Some((_, name))) => name == handler,
        _ => false,
    };
    if empty {
        s.kind = StmtKind::Empty;
    }
    match (&mut s.kind, gone) {
        (StmtKind::Send { handler, args, .. }, Gone::OfFunction(name, i)) if handler.name == *name => remove(args, *i),
        (StmtKind::Decl(d), Gone::Portal(portal)) => {
            d.vars.retain(|(name, _)| name.name != *portal);
            if d.vars.is_empty() {
                s.kind = StmtKind::Empty;
            }
        }
        (
            StmtKind::Add { stream, portals } | StmtKind::Body { stream, portals } | StmtKind::Loop { stream, portals },
            _,
        ) => {
            if let Gone::Portal(portal) = gone {
                portals.retain(|e| !names(e, portal));
            }
            if let StreamRef::Named { name, args, .. } = stream {
                match gone {
                    Gone::Portal(portal) => args.retain(|e| !names(e, portal)),
                    Gone::OfStream(of, i) if name.name == *of => remove(args, *i),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Goes over all streams, functions, statements and expressions that stand in statements, the outer ones first.
fn each(tree: &mut Program, visit: &mut dyn FnMut(Part<'_>)) {
    for item in &mut tree.items {
        match item {
            Item::Stream(s) => stream(Arc::make_mut(s), visit),
            Item::Static(s) => {
                s.fields.iter_mut().for_each(|d| decl(d, visit));
                s.init.iter_mut().for_each(|b| block(b, visit));
            }
            Item::Helper(g) => g.functions.iter_mut().for_each(|f| function(f, visit)),
            Item::Struct(_) | Item::Import { .. } | Item::Native(_) => {}
        }
    }
}

fn stream(s: &mut StreamDecl, visit: &mut dyn FnMut(Part<'_>)) {
    visit(Part::Stream(s));
    match &mut s.body {
        StreamBody::Filter(members) => {
            for m in members {
                match m {
                    Member::Field(d) => decl(d, visit),
                    Member::Init(b) => block(b, visit),
                    Member::Prework(w) | Member::Work(w) => block(&mut w.body, visit),
                    Member::Function(f) | Member::Handler(f) => function(f, visit),
                }
            }
        }
        StreamBody::Composite(b) => block(b, visit),
    }
}

fn function(f: &mut FnDecl, visit: &mut dyn FnMut(Part<'_>)) {
    visit(Part::Function(f));
    f.body.iter_mut().for_each(|b| block(b, visit));
}

fn decl(d: &mut VarDecl, visit: &mut dyn FnMut(Part<'_>)) {
    d.vars.iter_mut().filter_map(|(_, value)| value.as_mut()).for_each(|e| expr(e, visit));
}

fn block(b: &mut Block, visit: &mut dyn FnMut(Part<'_>)) {
    b.stmts.iter_mut().for_each(|s| inside(s, visit));
}

fn inside(s: &mut Stmt, visit: &mut dyn FnMut(Part<'_>)) {
    visit(Part::Statement(s));
    match &mut s.kind {
        StmtKind::Block(b) => block(b, visit),
        StmtKind::Decl(d) => decl(d, visit),
        StmtKind::Assign { target, value, .. } => [target, value].into_iter().for_each(|e| expr(e, visit)),
        StmtKind::Expr(e) | StmtKind::Push(e) | StmtKind::Enqueue(e) | StmtKind::Return(Some(e)) => expr(e, visit),
        StmtKind::If { cond, then, els } => {
            expr(cond, visit);
            std::iter::once(then).chain(els).for_each(|s| inside(s, visit));
        }
        StmtKind::For { init, cond, step, body } => {
            init.iter_mut().chain(step).for_each(|s| inside(s, visit));
            cond.iter_mut().for_each(|e| expr(e, visit));
            inside(body, visit);
        }
        StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
            expr(cond, visit);
            inside(body, visit);
        }
        StmtKind::Switch { value, cases } => {
            expr(value, visit);
            cases.iter_mut().flat_map(|c| &mut c.body).for_each(|s| inside(s, visit));
        }
        StmtKind::Send { args, .. } => args.iter_mut().for_each(|e| expr(e, visit)),
        StmtKind::Add { stream: s, .. } | StmtKind::Body { stream: s, .. } | StmtKind::Loop { stream: s, .. } => {
            match s {
                StreamRef::Anonymous(s) => stream(Arc::make_mut(s), visit),
                StreamRef::Named { args, .. } => args.iter_mut().for_each(|e| expr(e, visit)),
            }
        }
        _ => {}
    }
}

fn expr(e: &mut Expr, visit: &mut dyn FnMut(Part<'_>)) {
    visit(Part::Expression(e));
    match &mut e.kind {
        ExprKind::Paren(a)
        | ExprKind::Member(a, _)
        | ExprKind::IncDec { target: a, .. }
        | ExprKind::Peek(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Cast(_, a) => expr(a, visit),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
            [a, b].into_iter().for_each(|e| expr(e, visit));
        }
        ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|e| expr(e, visit)),
        ExprKind::Call { args, .. } | ExprKind::ArrayLit(args) => args.iter_mut().for_each(|e| expr(e, visit)),
        _ => {}
    }
}
