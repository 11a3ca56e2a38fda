//! Statements of functions and composites.

use super::constants::NotConstant;
use super::{Checker, Place};
use crate::constant::Const;
use crate::ids::PortalId;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::ast::{self, ExprKind as A, StmtKind as S};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;
use std::collections::HashSet;

impl Checker<'_> {
    /// A block in a scope of its own.
    pub fn block(&mut self, b: &ast::Block) -> Vec<Stmt> {
        self.scoped(|c| c.stmts(&b.stmts))
    }

    /// Statements in the current scope.
    pub fn stmts(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for s in stmts {
            self.stmt(s, &mut out);
        }
        out
    }

    fn nested(&mut self, s: &ast::Stmt) -> Vec<Stmt> {
        self.scoped(|c| c.stmts(std::slice::from_ref(s)))
    }

    fn looped(&mut self, s: &ast::Stmt) -> Vec<Stmt> {
        self.f.loops += 1;
        let body = self.nested(s);
        self.f.loops -= 1;
        body
    }

    fn stmt(&mut self, s: &ast::Stmt, out: &mut Vec<Stmt>) {
        let span = s.at.0;
        let kind = match &s.kind {
            S::Empty | S::Error => return,
            S::Block(b) => StmtKind::Block(self.block(b)),
            S::Decl(d) => return self.local_decl(d, out),
            S::Assign { target, op, value } => self.assign(target, *op, value, span),
            S::Expr(e) => match self.expr_stmt(e, span) {
                Some(kind) => kind,
                None => return,
            },
            S::Push(e) => self.push(e, span),
            S::If { cond, then, els } => {
                let c = self.expr(cond);
                let cond = self.condition(c);
                let then = self.nested(then);
                let els = els.as_ref().map(|e| self.nested(e)).unwrap_or_default();
                StmtKind::If { cond, then, els }
            }
            S::For { init, cond, step, body } => self.scoped(|c| {
                let init = c.stmts(init);
                let cond = cond.as_ref().map(|e| {
                    let e = c.expr(e);
                    c.condition(e)
                });
                let step = c.stmts(step);
                let body = c.looped(body);
                StmtKind::For { init, cond, step, body }
            }),
            S::While { cond, body } => {
                let c = self.expr(cond);
                let cond = self.condition(c);
                StmtKind::While { cond, body: self.looped(body) }
            }
            S::DoWhile { body, cond } => {
                let body = self.looped(body);
                let c = self.expr(cond);
                StmtKind::DoWhile { body, cond: self.condition(c) }
            }
            S::Switch { value, cases } => self.switch(value, cases),
            S::Break => {
                if self.f.loops == 0 && self.f.switches == 0 {
                    self.error("E0213", "`break` outside of a loop or switch", span, "nothing to leave here");
                    return;
                }
                StmtKind::Break
            }
            S::Continue => {
                if self.f.loops == 0 {
                    self.error("E0213", "`continue` outside of a loop", span, "no loop around this");
                    return;
                }
                StmtKind::Continue
            }
            S::Return(value) => self.return_stmt(value.as_ref(), span),
            S::Send { portal, handler, args, latency } => self.send(portal, handler, args, Some(latency), span),
            S::Add { .. } | S::Split(_) | S::Join(_) | S::Body { .. } | S::Loop { .. } | S::Enqueue(_) => {
                match self.stream_stmt(&s.kind, span) {
                    Some(kind) => kind,
                    None => return,
                }
            }
        };
        out.push(Stmt { kind, span });
    }

    fn local_decl(&mut self, d: &ast::VarDecl, out: &mut Vec<Stmt>) {
        let spec = self.type_spec(&d.ty);
        if spec.ty == Ty::Void {
            self.error("E0208", "a variable cannot be void", d.ty.at.0, "void has no values");
        }
        let composite = matches!(self.place, Place::Composite(_) | Place::Static);
        if matches!(spec.ty, Ty::Portal(_)) && !composite {
            self.error("E0220", "a portal is declared in a composite", d.ty.at.0, "filters receive it as a parameter");
        }
        for (name, init) in &d.vars {
            let init = init.as_ref().map(|e| self.expr_as(e, &spec.ty, &format!("`{}`", name.name)));
            let id = self.declare(name, spec.ty.clone(), false);
            if let Some(e) = &init
                && !self.f.assigned.contains(&name.name)
                && !spec.ty.is_aggregate()
                && !composite
                && let Some(value) = self.known(e)
            {
                self.f.constants.insert(id, value);
            }
            let dims = if composite { spec.dims.clone() } else { Vec::new() };
            out.push(Stmt { kind: StmtKind::Let { local: id, init, dims }, span: name.span() });
        }
    }

    fn assign(&mut self, target: &ast::Expr, op: Option<BinaryOp>, value: &ast::Expr, span: Span) -> StmtKind {
        let place = self.place_expr(target);
        let nothing = StmtKind::Block(Vec::new());
        let Some(op) = op else {
            let value = self.expr_as(value, &place.ty, "the variable assigned");
            return StmtKind::Assign { place, value };
        };
        let mut v = self.expr(value);
        if place.ty == Ty::Error || v.expr.ty == Ty::Error {
            return nothing;
        }
        self.met_double(&mut v, &place.ty);
        // `b ^= 1` of a bit stays among bits
        if matches!(place.ty, Ty::Bit | Ty::Bool)
            && matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor)
            && super::convert::is_truth_value(&v.expr)
        {
            v.expr = self.convert(v.expr, &place.ty);
        }
        let Some((in_ty, result)) = self.operator_type(op, &place.ty, &v.expr.ty) else {
            self.operator_clash(op, &place, &v.expr, span);
            return nothing;
        };
        let back = super::convert::fit(&result, &place.ty);
        if matches!(back, super::convert::Fit::NeedsCast | super::convert::Fit::Never) {
            let (to, from) = (self.show(&place.ty), self.show(&result));
            let (x, y) = (self.w.sources.text(target.span()).to_string(), self.w.sources.text(value.span()));
            let by_itself = |e: &ast::Expr| !matches!(e.kind, A::Binary(..) | A::Ternary(..));
            let y = if by_itself(value) { y.to_string() } else { format!("({y})") };
            self.report(
                Diagnostic::error(
                    "E0201",
                    format!("`{}=` gives {from}, which does not become {to} by itself", op.symbol()),
                    span,
                    format!("the variable is {to}"),
                )
                .help(format!("write it out with a cast: `{x} = ({to})({x} {} {y})`", op.symbol())),
            );
            return nothing;
        }
        self.widens(&v.expr, &in_ty);
        let (_, value_ty) = super::operators::operand_types(op, &in_ty, &place.ty, &v.expr.ty);
        let value = self.convert(v.expr, &value_ty);
        StmtKind::AssignOp { place, op, in_ty, value }
    }

    fn expr_stmt(&mut self, e: &ast::Expr, whole: Span) -> Option<StmtKind> {
        let span = e.span();
        if let A::Call { callee, args } = &e.unparen().kind {
            match &callee.unparen().kind {
                A::Var(name)
                    if matches!(&*name.name, "print" | "println") && !self.own_names.contains_key(&name.name) =>
                {
                    return Some(self.print(name, args, &*name.name == "println", span));
                }
                A::Member(base, handler) if self.is_portal(base) => {
                    return Some(self.send(base, handler, args, None, span));
                }
                _ => {}
            }
        }
        if let A::Index(call, latency) = &e.kind
            && let A::Call { callee, args } = &call.kind
            && let A::Member(base, handler) = &callee.kind
            && self.is_portal(base)
        {
            return Some(self.send_by_one(base, handler, args, latency, span));
        }
        let before = self.errors;
        let typed = self.expr(e).expr;
        let useful = matches!(typed.kind, ExprKind::Call(..) | ExprKind::Pop | ExprKind::IncDec { .. });
        if !useful && typed.ty != Ty::Error && self.errors == before {
            let mut d = Diagnostic::warning("W0201", "this statement has no effect", span, "its value is not used")
                .help("assign the value, or remove the statement");
            if crate::lints::tree::is_pure(e) {
                d = d.fix(Fix::new("leave an empty statement", whole, ";"));
            }
            self.report(d);
        }
        Some(StmtKind::Expr(typed))
    }

    fn push(&mut self, e: &ast::Expr, span: Span) -> StmtKind {
        if !self.channels_allowed() {
            self.no_channels("push", span);
            self.expr(e);
            return StmtKind::Block(Vec::new());
        }
        match self.io.1.clone() {
            Some(Ty::Void) => {
                let at = self.io_span;
                self.report(
                    Diagnostic::error("E0235", "`push` in a filter without output", span, "nothing goes out")
                        .label(at, "declared with output type void"),
                );
                self.expr(e);
                StmtKind::Block(Vec::new())
            }
            Some(ty) => StmtKind::Push(self.expr_as(e, &ty, "the filter's output")),
            None => {
                // an anonymous filter without a type: the first push says what comes out
                let value = self.expr(e).expr;
                if value.ty != Ty::Error {
                    self.io.1 = Some(value.ty.clone());
                }
                StmtKind::Push(value)
            }
        }
    }

    fn switch(&mut self, value: &ast::Expr, cases: &[ast::Case]) -> StmtKind {
        let v = self.expr(value);
        let value = self.coerce_for(v, &Ty::Int, "the value of a switch").expr;
        self.f.switches += 1;
        let mut seen: Vec<(Option<i32>, Span)> = Vec::new();
        let mut out = Vec::new();
        let typed = self.scoped(|c| {
            for (n, case) in cases.iter().enumerate() {
                let mut labels = Vec::new();
                let mut default = false;
                for (label, at) in &case.labels {
                    let key = match label {
                        None => None,
                        Some(e) => {
                            let e = c.expr(e);
                            let e = c.coerce(e, &Ty::Int).expr;
                            match c.constant(&e) {
                                Ok(Some(Const::Int(k))) => Some(k),
                                Ok(_) => continue,
                                Err(NotConstant) => {
                                    c.error(
                                        "E0219",
                                        "a case label must be a constant",
                                        e.span,
                                        "not known at compile time",
                                    );
                                    continue;
                                }
                            }
                        }
                    };
                    if let Some((_, first)) = seen.iter().find(|(k, _)| *k == key) {
                        let first = *first;
                        let what = key.map_or("default".to_string(), |k| format!("case {k}"));
                        c.report(
                            Diagnostic::error("E0218", format!("`{what}` appears twice"), at.0, "again here")
                                .label(first, "first here"),
                        );
                        continue;
                    }
                    seen.push((key, at.0));
                    match key {
                        None => default = true,
                        Some(k) => labels.push(k),
                    }
                }
                let body = c.stmts(&case.body);
                if n + 1 < cases.len() && !body.is_empty() && falls_through(&body) {
                    let at = case.body.last().map_or(Span::default(), |s| s.at.0);
                    let next = cases[n + 1].labels.first().map_or(at, |(_, a)| a.0);
                    c.report(
                        Diagnostic::warning(
                            "W0202",
                            "this case falls through into the next",
                            at,
                            "no `break` after this",
                        )
                        .label(next, "execution goes on here")
                        .help("add `break;`, or `{}` around both if it is meant")
                        .fix(Fix::new("add `break;`", Span { start: at.end, ..at }, " break;")),
                    );
                }
                out.push(SwitchCase { labels, default, body });
            }
            std::mem::take(&mut out)
        });
        self.f.switches -= 1;
        StmtKind::Switch { value, cases: typed }
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) -> StmtKind {
        let ret = self.f.ret.clone().unwrap_or(Ty::Void);
        match (value, ret) {
            (None, Ty::Void) => StmtKind::Return(None),
            (None, ret) => {
                let ret = self.show(&ret);
                self.error(
                    "E0211",
                    format!("`return` without a value in a function that gives {ret}"),
                    span,
                    format!("{ret} is wanted"),
                );
                StmtKind::Return(None)
            }
            (Some(e), Ty::Void) => {
                self.expr(e);
                self.report(
                    Diagnostic::error(
                        "E0211",
                        "`return` with a value where none is given",
                        e.span(),
                        "nobody receives this",
                    )
                    .help(
                        "`work`, `init` and handlers give no value: use `push`, or declare the function's result type",
                    ),
                );
                StmtKind::Return(None)
            }
            (Some(e), ret) => StmtKind::Return(Some(self.expr_as(e, &ret, "the function's result"))),
        }
    }

    pub(super) fn send(
        &mut self,
        portal: &ast::Expr,
        handler: &ast::Ident,
        args: &[ast::Expr],
        latency: Option<&ast::Latency>,
        span: Span,
    ) -> StmtKind {
        let nothing = StmtKind::Block(Vec::new());
        let p = self.expr(portal).expr;
        let Ty::Portal(target) = p.ty else {
            if p.ty != Ty::Error {
                let t = self.show(&p.ty);
                self.error("E0222", "a message goes to a portal", p.span, format!("this is {t}"));
            }
            return nothing;
        };
        if !matches!(self.place, Place::FilterWork | Place::Handler) {
            self.error("E0220", "messages are sent from a filter's work", span, "no filter fires here");
            return nothing;
        }
        let decl = self.w.decl(target).ast.clone();
        let found = match &decl.body {
            ast::StreamBody::Filter(members) => members.iter().find_map(|m| match m {
                ast::Member::Handler(h) if h.name.name == handler.name => Some(h.clone()),
                _ => None,
            }),
            ast::StreamBody::Composite(_) => None,
        };
        let Some(h) = found else {
            let at = decl.header.0;
            let mut d = Diagnostic::error(
                "E0114",
                format!("the portal's filters have no handler `{}`", handler.name),
                handler.span(),
                "no such handler",
            )
            .label(at, "the portal is for this stream");
            let function = match &decl.body {
                ast::StreamBody::Filter(members) => members.iter().find_map(|m| match m {
                    ast::Member::Function(f) if f.name.name == handler.name => Some(f),
                    _ => None,
                }),
                ast::StreamBody::Composite(_) => None,
            };
            if let Some(f) = function {
                d = d
                    .label(f.name.span(), "a function, which no message calls")
                    .help(format!("a handler is declared by that word: `handler {}(...) {{ ... }}`", f.name.name));
                if f.ret.base == ast::BaseType::Void {
                    d = d.fix(Fix::new("write `handler`", f.ret.at.0, "handler"));
                }
            } else if let Some(n) = self.w.nearest(&handler.name, handlers(&decl)) {
                d = d.help(format!("did you mean `{n}`?")).fix(Fix::new(format!("change to `{n}`"), handler.span(), n));
            }
            self.report(d);
            return nothing;
        };
        let params: Vec<Ty> = h.params.iter().map(|p| self.parameter_type_elsewhere(&p.ty)).collect();
        let args = self.arguments(&handler.name, args, &params, Some(h.name.span()), span);
        let handler = handler.name.clone();
        let latency = match latency {
            None => Some((0, 0)),
            Some(ast::Latency::BestEffort) => None,
            Some(ast::Latency::Range(min, max)) => {
                let (a, b) = (self.latency(min), self.latency(max));
                if let (Some(a), Some(b)) = (a, b)
                    && a > b
                {
                    self.error(
                        "E0310",
                        "the latency range is empty",
                        min.at.0.to(max.at.0),
                        format!("from {a} to {b}: the smaller latency stands first"),
                    );
                }
                Some((a.unwrap_or(0), b.unwrap_or(0)))
            }
        };
        let chosen = matches!(&p.kind, ExprKind::Index(_, index) if self.may_change(index));
        let portal = match if chosen { Err(NotConstant) } else { self.constant(&p) } {
            Ok(Some(Const::Portal(id))) => id,
            Ok(_) => PortalId(u32::MAX), // in general: no portal is known
            Err(NotConstant) => {
                match self.chosen_portal(p, Send { portal: PortalId(u32::MAX), handler, args, latency }) {
                    Some(chosen) => return chosen,
                    None => return nothing,
                }
            }
        };
        StmtKind::Send(Box::new(Send { portal, handler, args, latency }))
    }

    /// A latency, in firings: a constant. None where no value is known in general, and where it was reported.
    fn latency(&mut self, e: &ast::Expr) -> Option<i32> {
        let e = self.expr(e);
        let e = self.coerce_for(e, &Ty::Int, "a latency").expr;
        match self.constant(&e) {
            Ok(Some(Const::Int(n))) => Some(n),
            Ok(_) => None,
            Err(NotConstant) => {
                self.report(
                    Diagnostic::error("E0310", "the latency is not a constant", e.span, "not known at compile time")
                        .help("messages constrain the schedule: use parameters, statics, literals, and fields that no firing changes"),
                );
                None
            }
        }
    }

    /// A parameter type of another filter's handler: its sizes may depend on that filter's parameters.
    fn parameter_type_elsewhere(&mut self, t: &ast::Type) -> Ty {
        let base = self.base_type(&t.base, t.at.0);
        t.dims.iter().fold(base, |ty, _| Ty::Array(ty.into(), crate::ty::Dim::Unknown))
    }
}

/// The names of a filter's handlers.
fn handlers(decl: &ast::StreamDecl) -> impl Iterator<Item = &str> {
    let members = match &decl.body {
        ast::StreamBody::Filter(members) => &members[..],
        ast::StreamBody::Composite(_) => &[],
    };
    members.iter().filter_map(|m| match m {
        ast::Member::Handler(h) => Some(&*h.name.name),
        _ => None,
    })
}

/// Can execution reach the end of these statements? (Loops and switches count as passable unless they plainly are not.)
pub fn falls_through(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|s| match &s.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => false,
        StmtKind::Block(b) => falls_through(b),
        StmtKind::If { then, els, .. } => falls_through(then) || falls_through(els),
        StmtKind::While { cond, body } => !is_true(cond) || breaks(body),
        StmtKind::DoWhile { body, cond } => breaks(body) || !is_true(cond) && falls_through(body),
        StmtKind::For { cond, body, .. } => !cond.as_ref().is_none_or(is_true) || breaks(body),
        StmtKind::Switch { cases, .. } => {
            let default = cases.iter().any(|c| c.default);
            !default || cases.last().is_none_or(|c| falls_through(&c.body)) || cases.iter().any(|c| breaks(&c.body))
        }
        _ => true,
    })
}

fn is_true(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Const(Const::Bool(true)))
}

/// Does a `break` in here leave the loop around it?
fn breaks(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|s| match &s.kind {
        StmtKind::Break => true,
        StmtKind::Block(b) => breaks(b),
        StmtKind::If { then, els, .. } => breaks(then) || breaks(els),
        _ => false,
    })
}

/// The names assigned anywhere in some statements, whatever they mean there.
pub fn assigned_names(stmts: &[ast::Stmt]) -> HashSet<Name> {
    let mut names = HashSet::new();
    for s in stmts {
        assigned_in(s, &mut names);
    }
    names
}

fn root(e: &ast::Expr, names: &mut HashSet<Name>) {
    match &e.kind {
        A::Var(n) => {
            names.insert(n.name.clone());
        }
        A::Paren(e) | A::Member(e, _) | A::Index(e, _) => root(e, names),
        // an array that is passed may be chosen
        A::Ternary(_, a, b) => {
            root(a, names);
            root(b, names);
        }
        _ => {}
    }
}

fn assigned_in_expr(e: &ast::Expr, names: &mut HashSet<Name>) {
    match &e.kind {
        A::IncDec { target, .. } => root(target, names),
        A::Paren(e) | A::Member(e, _) | A::Unary(_, e) | A::Cast(_, e) | A::Peek(e) => assigned_in_expr(e, names),
        A::Index(a, b) | A::Binary(_, a, b) => {
            assigned_in_expr(a, names);
            assigned_in_expr(b, names);
        }
        A::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|e| assigned_in_expr(e, names)),
        // an array passed to a function can be written there
        A::Call { args, .. } => args.iter().for_each(|e| {
            root(e, names);
            assigned_in_expr(e, names);
        }),
        A::ArrayLit(items) => items.iter().for_each(|e| assigned_in_expr(e, names)),
        _ => {}
    }
}

fn assigned_in(s: &ast::Stmt, names: &mut HashSet<Name>) {
    let mut exprs: Vec<&ast::Expr> = Vec::new();
    match &s.kind {
        S::Block(b) => b.stmts.iter().for_each(|s| assigned_in(s, names)),
        S::Decl(d) => exprs.extend(d.vars.iter().filter_map(|(_, e)| e.as_ref())),
        S::Assign { target, value, .. } => {
            root(target, names);
            exprs.extend([target, value]);
        }
        S::Expr(e) | S::Push(e) | S::Enqueue(e) => exprs.push(e),
        S::If { cond, then, els } => {
            exprs.push(cond);
            assigned_in(then, names);
            els.iter().for_each(|s| assigned_in(s, names));
        }
        S::For { init, cond, step, body } => {
            init.iter().chain(step).for_each(|s| assigned_in(s, names));
            exprs.extend(cond);
            assigned_in(body, names);
        }
        S::While { cond, body } | S::DoWhile { body, cond } => {
            exprs.push(cond);
            assigned_in(body, names);
        }
        S::Switch { value, cases } => {
            exprs.push(value);
            cases.iter().flat_map(|c| &c.body).for_each(|s| assigned_in(s, names));
        }
        S::Return(e) => exprs.extend(e),
        S::Send { args, .. } => exprs.extend(args),
        _ => {}
    }
    exprs.into_iter().for_each(|e| assigned_in_expr(e, names));
}
