//! Walks over the syntax tree of a file.
//!
//! Each takes a tree and a function and calls it for what it is named after, outer before inner, in source order; streams within
//! streams included.

use sluice_grammar::ast::*;

/// Gets a list of statements; `false` where it is a single statement behind `if` or a loop, without braces.
pub type OnList<'t, 'f> = dyn FnMut(&'t [Stmt], bool) + 'f;

/// Calls `f` for each list of statements: bodies, blocks, cases; a single statement behind `if` or a loop is one, too.
pub fn lists<'t>(tree: &'t Program, f: &mut OnList<'t, '_>) {
    for item in &tree.items {
        match item {
            Item::Stream(s) => in_stream(s, f),
            Item::Static(s) => s.init.iter().for_each(|b| list(&b.stmts, f)),
            Item::Helper(g) | Item::Native(g) => g.functions.iter().for_each(|h| in_function(h, f)),
            Item::Import { .. } | Item::Struct(_) => {}
        }
    }
}

/// Calls `f` for each statement.
pub fn statements<'t>(tree: &'t Program, f: &mut dyn FnMut(&'t Stmt)) {
    lists(tree, &mut |stmts, _| {
        for s in stmts {
            f(s);
            if let StmtKind::For { init, step, .. } = &s.kind {
                init.iter().chain(step).for_each(&mut *f);
            }
        }
    });
}

fn in_stream<'t>(s: &'t StreamDecl, f: &mut OnList<'t, '_>) {
    match &s.body {
        StreamBody::Composite(b) => list(&b.stmts, f),
        StreamBody::Filter(members) => {
            for m in members {
                match m {
                    Member::Field(_) => {}
                    Member::Init(b) => list(&b.stmts, f),
                    Member::Prework(w) | Member::Work(w) => list(&w.body.stmts, f),
                    Member::Function(h) | Member::Handler(h) => in_function(h, f),
                }
            }
        }
    }
}

fn in_function<'t>(function: &'t FnDecl, f: &mut OnList<'t, '_>) {
    function.body.iter().for_each(|b| list(&b.stmts, f));
}

fn list<'t>(stmts: &'t [Stmt], f: &mut OnList<'t, '_>) {
    f(stmts, true);
    stmts.iter().for_each(|s| inside(s, f));
}

fn one<'t>(s: &'t Stmt, f: &mut OnList<'t, '_>) {
    f(std::slice::from_ref(s), false);
    inside(s, f);
}

fn inside<'t>(s: &'t Stmt, f: &mut OnList<'t, '_>) {
    match &s.kind {
        StmtKind::Block(b) => list(&b.stmts, f),
        StmtKind::If { then, els, .. } => {
            one(then, f);
            els.iter().for_each(|s| one(s, f));
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => one(body, f),
        StmtKind::Switch { cases, .. } => cases.iter().for_each(|c| list(&c.body, f)),
        StmtKind::Add { stream, .. } | StmtKind::Body { stream, .. } | StmtKind::Loop { stream, .. } => {
            if let StreamRef::Anonymous(s) = stream {
                in_stream(s, f);
            }
        }
        _ => {}
    }
}

/// Calls `f` for each expression in a file's statements and initialisers, outer ones before inner ones.
pub fn expressions<'t>(tree: &'t Program, f: &mut dyn FnMut(&'t Expr)) {
    for item in &tree.items {
        let fields = match item {
            Item::Static(s) => &s.fields,
            _ => continue,
        };
        initialisers(fields, f);
    }
    streams(tree, &mut |s| {
        if let StreamBody::Filter(members) = &s.body {
            for m in members {
                if let Member::Field(d) = m {
                    initialisers(std::slice::from_ref(d), f);
                }
            }
        }
    });
    statements(tree, &mut |s| operands(s).into_iter().for_each(|e| expression(e, f)));
}

fn initialisers<'t>(fields: &'t [VarDecl], f: &mut dyn FnMut(&'t Expr)) {
    fields.iter().flat_map(|d| &d.vars).filter_map(|(_, e)| e.as_ref()).for_each(|e| expression(e, f));
}

/// Calls `f` for each stream, those within streams included.
pub fn streams<'t>(tree: &'t Program, f: &mut dyn FnMut(&'t StreamDecl)) {
    for item in &tree.items {
        if let Item::Stream(s) = item {
            f(s);
        }
    }
    statements(tree, &mut |s| {
        if let StmtKind::Add { stream, .. } | StmtKind::Body { stream, .. } | StmtKind::Loop { stream, .. } = &s.kind
            && let StreamRef::Anonymous(s) = stream
        {
            f(s);
        }
    });
}

/// Calls `f` for an expression and all in it.
pub fn expression<'t>(e: &'t Expr, f: &mut dyn FnMut(&'t Expr)) {
    f(e);
    children(e).into_iter().for_each(|e| expression(e, f));
}

/// The expressions directly in a statement, in source order.
pub fn operands(s: &Stmt) -> Vec<&Expr> {
    match &s.kind {
        StmtKind::Decl(d) => d.vars.iter().filter_map(|(_, e)| e.as_ref()).collect(),
        StmtKind::Assign { target, value, .. } => vec![target, value],
        StmtKind::Expr(e) | StmtKind::Push(e) | StmtKind::Enqueue(e) => vec![e],
        StmtKind::If { cond, .. } | StmtKind::While { cond, .. } | StmtKind::DoWhile { cond, .. } => vec![cond],
        StmtKind::For { cond, .. } => cond.iter().collect(),
        StmtKind::Switch { value, cases } => {
            let labels = cases.iter().flat_map(|c| &c.labels).filter_map(|(e, _)| e.as_ref());
            std::iter::once(value).chain(labels).collect()
        }
        StmtKind::Return(e) => e.iter().collect(),
        StmtKind::Send { portal, args, .. } => std::iter::once(portal).chain(args).collect(),
        StmtKind::Split(SplitKind::RoundRobin(weights)) | StmtKind::Join(SplitKind::RoundRobin(weights)) => {
            weights.iter().collect()
        }
        StmtKind::Add { stream, portals } | StmtKind::Body { stream, portals } | StmtKind::Loop { stream, portals } => {
            let args = match stream {
                StreamRef::Named { args, .. } => &args[..],
                StreamRef::Anonymous(_) => &[],
            };
            args.iter().chain(portals).collect()
        }
        _ => Vec::new(),
    }
}

/// The number that a literal is, signs and parentheses included.
pub fn number(e: &Expr) -> Option<f64> {
    match &e.kind {
        ExprKind::Int { value, hex: false, .. } => Some(*value as f64),
        ExprKind::Int { value, hex: true, .. } => Some(f64::from(*value as u32 as i32)),
        ExprKind::Real { value, .. } => Some(*value),
        ExprKind::Paren(e) => number(e),
        ExprKind::Unary(UnaryOp::Neg, e) => number(e).map(|v| -v),
        _ => None,
    }
}

/// The expressions directly in an expression, in source order; sizes of a cast's type aside.
pub fn children(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::Paren(a)
        | ExprKind::Member(a, _)
        | ExprKind::Peek(a)
        | ExprKind::Unary(_, a)
        | ExprKind::IncDec { target: a, .. }
        | ExprKind::Cast(_, a) => vec![a],
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Ternary(a, b, c) => vec![a, b, c],
        ExprKind::Call { callee, args } => std::iter::once(&**callee).chain(args).collect(),
        ExprKind::ArrayLit(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// Does an expression neither do anything nor fail, whatever the values in it? Calls of mathematical functions are fine, others not.
pub fn is_pure(e: &Expr) -> bool {
    let here = match &e.kind {
        ExprKind::Pop | ExprKind::Peek(_) | ExprKind::IncDec { .. } | ExprKind::Index(..) | ExprKind::Error => false,
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => {
            matches!(divisor.unparen().kind, ExprKind::Int { value: 1.., .. } | ExprKind::Real { .. })
        }
        ExprKind::Call { callee, .. } => match &callee.unparen().kind {
            ExprKind::Var(f) => crate::check::call::BUILTINS.iter().any(|(name, ..)| *name == &*f.name),
            _ => false,
        },
        _ => true,
    };
    here && children(e).into_iter().all(is_pure)
}

/// The name at the root of a place: `a` of `a[i].x`.
pub fn root(e: &Expr) -> Option<&Ident> {
    match &e.kind {
        ExprKind::Var(name) => Some(name),
        ExprKind::Paren(e) | ExprKind::Member(e, _) | ExprKind::Index(e, _) => root(e),
        _ => None,
    }
}
