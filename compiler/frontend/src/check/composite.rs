//! Composite bodies: pipelines, splitjoins, feedbackloops.

use super::stmt::assigned_names;
use super::{Checker, Place};
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use crate::world::{CompositeCode, World};
use sluice_grammar::ast::{self, StmtKind as S, StreamKind};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// Checks a composite once; later calls give the same code. `None` if it has errors.
pub fn composite(w: &mut World, id: DeclId) -> Option<Arc<CompositeCode>> {
    if let Some(done) = w.composites.get(&id) {
        return done.clone();
    }
    let decl = w.decl(id).clone();
    let ast::StreamBody::Composite(body) = &decl.ast.body else { return None };
    // a composite that contains itself is found here again before it is done: that is no error
    let mut c = Checker::new(w, Place::Composite(decl.ast.kind), Some(id), true);
    c.begin(Ty::Void, assigned_names(&body.stmts));
    let mut param_dims = Vec::new();
    for (name, ty) in &decl.env {
        let ident = ast::Ident { name: name.clone(), at: decl.ast.header };
        c.declare(&ident, ty.clone(), false);
        param_dims.push(Vec::new());
    }
    c.stream_params = decl.env.len();
    for p in &decl.ast.params {
        let spec = c.type_spec(&p.ty);
        if spec.ty == Ty::Void {
            c.error("E0208", "a parameter cannot be void", p.ty.at.0, "void has no values");
        }
        if decl.env.iter().any(|(n, _)| *n == p.name.name) {
            // hides the captured variable
            c.f.scopes[0].remove(&p.name.name);
        }
        c.declare(&p.name, spec.ty, false);
        param_dims.push(spec.dims);
    }
    c.stream_params = c.f.locals.len();
    let io = decl.ast.io.as_ref().map(|(i, o)| (c.item_type(i), c.item_type(o)));
    let typed = c.block(body);
    let errors = c.errors;
    let locals = c.end();
    let code = CompositeCode {
        function: Function {
            name: decl.name.clone(),
            params: (decl.env.len() + decl.ast.params.len()) as u32,
            locals,
            ret: Ty::Void,
            body: typed,
            span: decl.ast.header.0,
        },
        param_dims,
        io,
    };
    let result = (errors == 0).then(|| Arc::new(code));
    w.composites.insert(id, result.clone());
    result
}

impl Checker<'_> {
    /// Statements that build a composite.
    pub fn stream_stmt(&mut self, kind: &S, span: Span) -> Option<StmtKind> {
        let what = match kind {
            S::Add { .. } => "add",
            S::Split(_) => "split",
            S::Join(_) => "join",
            S::Body { .. } => "body",
            S::Loop { .. } => "loop",
            _ => "enqueue",
        };
        let Place::Composite(parent) = self.place else {
            self.report(
                Diagnostic::error(
                    "E0220",
                    format!("`{what}` cannot stand here"),
                    span,
                    "this is not the body of a composite",
                )
                .help("streams are put together in pipelines, splitjoins and feedbackloops"),
            );
            return None;
        };
        let fits = match kind {
            S::Add { .. } => parent != StreamKind::FeedbackLoop,
            S::Split(_) | S::Join(_) => parent != StreamKind::Pipeline,
            _ => parent == StreamKind::FeedbackLoop,
        };
        if !fits {
            let help = match (kind, parent) {
                (S::Add { .. }, _) => "a feedbackloop has `body` and `loop` instead of `add`",
                (S::Split(_) | S::Join(_), _) => "only splitjoins and feedbackloops split and join",
                _ => "this belongs into a feedbackloop",
            };
            self.report(
                Diagnostic::error(
                    "E0223",
                    format!("`{what}` does not belong into a {}", parent.keyword()),
                    span,
                    "not here",
                )
                .help(help),
            );
            return None;
        }
        let stream = match kind {
            S::Add { stream, portals } => self.add(Role::Add, stream, portals),
            S::Body { stream, portals } => self.add(Role::Body, stream, portals),
            S::Loop { stream, portals } => self.add(Role::Loop, stream, portals),
            S::Split(k) => StreamStmt::Split(self.split(k)),
            S::Join(k) => {
                if matches!(k, ast::SplitKind::Duplicate) {
                    self.report(
                        Diagnostic::error(
                            "E0415",
                            "there is no duplicate joiner",
                            span,
                            "a joiner takes items from its branches in turn",
                        )
                        .help("write `join roundrobin;`")
                        .fix(Fix::new("write `join roundrobin;`", span, "join roundrobin;")),
                    );
                }
                StreamStmt::Join(self.split(k))
            }
            S::Enqueue(e) => {
                let e = self.expr(e);
                // a real literal keeps its float type; the joiner's item type is met at elaboration
                StreamStmt::Enqueue(e.expr)
            }
            _ => return None,
        };
        Some(StmtKind::Stream(Box::new(stream)))
    }

    fn split(&mut self, k: &ast::SplitKind) -> SplitDef {
        match k {
            ast::SplitKind::Duplicate => SplitDef::Duplicate,
            ast::SplitKind::RoundRobin(weights) => {
                let weights = weights.iter().map(|w| self.expr_as(w, &Ty::Int, "a weight")).collect();
                SplitDef::RoundRobin(weights)
            }
        }
    }

    fn add(&mut self, role: Role, stream: &ast::StreamRef, portals: &[ast::Expr]) -> StreamStmt {
        let portals: Vec<Expr> = portals
            .iter()
            .map(|p| {
                let p = self.expr(p).expr;
                if !matches!(p.ty, Ty::Portal(_) | Ty::Error) {
                    let t = self.show(&p.ty);
                    self.error("E0222", "filters register with portals", p.span, format!("this is {t}"));
                }
                p
            })
            .collect();
        let stream = match stream {
            ast::StreamRef::Named { name, type_args, args, at } => self.named(name, type_args, args, at.0),
            ast::StreamRef::Anonymous(decl) => self.anonymous(decl),
        };
        self.registers(&stream, &portals);
        StreamStmt::Add { role, stream, portals }
    }

    /// A portal is for the filters of one declaration: their handlers are what can be sent.
    fn registers(&mut self, stream: &StreamUse, portals: &[Expr]) {
        let decl = match stream {
            StreamUse::Named { decl, .. } | StreamUse::Anonymous { decl, .. } => Some(*decl),
            StreamUse::Identity(_) | StreamUse::FileReader(..) | StreamUse::FileWriter(..) => None,
            StreamUse::Error => return,
        };
        // elaboration says that composites have no handlers
        if decl.is_some_and(|d| matches!(self.w.decl(d).ast.body, ast::StreamBody::Composite(_))) {
            return;
        }
        for p in portals {
            let Ty::Portal(target) = p.ty else { continue };
            if decl == Some(target) {
                continue;
            }
            let wanted = self.w.decl(target).ast.clone();
            let name = wanted.name.as_ref().map_or("another filter", |n| &*n.name).to_string();
            let what = decl.and_then(|d| self.w.decl(d).ast.name.as_ref().map(|n| format!("`{}` is", n.name)));
            let d = Diagnostic::error(
                "E0422",
                format!("this portal is for filters `{name}`"),
                p.span,
                format!("{} another filter", what.unwrap_or_else(|| "this is".into())),
            );
            self.report(d.label(wanted.header.0, "the portal is for this stream"));
        }
    }

    fn named(&mut self, name: &ast::Ident, type_args: &[ast::Type], args: &[ast::Expr], span: Span) -> StreamUse {
        let builtin = matches!(&*name.name, "Identity" | "FileReader" | "FileWriter");
        if builtin && (!type_args.is_empty() || self.w.stream_at(name).is_none()) {
            let [t] = type_args else {
                self.report(
                    Diagnostic::error(
                        "E0115",
                        format!("`{}` needs the type of its items", name.name),
                        span,
                        "no type given",
                    )
                    .help(format!("write it in angle brackets: `{}<float>`", name.name)),
                );
                return StreamUse::Error;
            };
            let spec = self.type_spec(t);
            if spec.ty == Ty::Void {
                self.error("E0208", "items cannot be void", t.at.0, "void has no values");
                return StreamUse::Error;
            }
            let want: &[Ty] = if &*name.name == "Identity" { &[] } else { &[Ty::Str] };
            let mut args = self.arguments(&name.name, args, want, None, span);
            if args.len() != want.len() {
                return StreamUse::Error;
            }
            return match &*name.name {
                "Identity" => StreamUse::Identity(spec),
                "FileReader" => args.pop().map_or(StreamUse::Error, |p| StreamUse::FileReader(spec, p)),
                _ => args.pop().map_or(StreamUse::Error, |p| StreamUse::FileWriter(spec, p)),
            };
        }
        let Some(id) = self.stream_named(name) else {
            for a in args {
                self.expr(a);
            }
            return StreamUse::Error;
        };
        if let Some(t) = type_args.first() {
            self.error(
                "E0115",
                format!("`{}` takes no type in angle brackets", name.name),
                t.at.0,
                "only the built-in streams do",
            );
        }
        let ast = self.w.decl(id).ast.clone();
        let params: Vec<Ty> = ast.params.iter().map(|p| self.outline(&p.ty)).collect();
        let args = self.arguments(&name.name, args, &params, ast.name.as_ref().map(|n| n.span()), span);
        StreamUse::Named { decl: id, args }
    }

    /// A parameter type of another stream, its sizes left open.
    fn outline(&mut self, t: &ast::Type) -> Ty {
        let base = self.base_type(&t.base, t.at.0);
        t.dims.iter().fold(base, |ty, _| Ty::Array(ty.into(), crate::ty::Dim::Unknown))
    }

    fn anonymous(&mut self, decl: &Arc<ast::StreamDecl>) -> StreamUse {
        let Some(parent) = self.decl else { return StreamUse::Error };
        // every visible variable whose name occurs in the stream's text is captured
        let text = self.w.sources.text(decl.at.0);
        let words: HashSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let visible = self.visible();
        let captures: Vec<(Name, LocalId)> = visible.into_iter().filter(|(n, _)| words.contains(&**n)).collect();
        let env = captures.iter().map(|(n, id)| (n.clone(), self.f.locals[id.index()].ty.clone())).collect();
        let id = self.w.add_anonymous(decl.clone(), parent, env);
        let fine = match decl.body {
            ast::StreamBody::Composite(_) => composite(self.w, id).is_some(),
            ast::StreamBody::Filter(_) => super::filter::general(self.w, id),
        };
        if !fine {
            self.errors += 1;
        }
        StreamUse::Anonymous { decl: id, captures }
    }
}
