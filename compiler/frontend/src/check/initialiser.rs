//! # initialisers that call
//!
//! Purpose: the value of a field whose initialiser calls functions of its own filter.
//! Input: the typed initialiser, the fields above it with their values, the filter's functions. Output: the value, and what was printed.
//! Such functions see the fields that are there already: one that names a later field cannot run yet, and that is reported.

use super::filter::{Parts, evaluation_failed};
use super::{Checker, OwnFn, Place};
use crate::analyses::walk;
use crate::constant::Const;
use crate::eval;
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::ast::{self, ExprKind as A};
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;

impl Checker<'_> {
    /// The value of an initialiser that calls functions of the filter. They see the fields above it, and may set them.
    pub(super) fn run_initialiser(&mut self, e: &Expr, ty: &Ty, parts: &Parts, printed: &mut String) -> Option<Const> {
        // functions may name fields that come later: such a fault is no fault of theirs, and will be looked for again
        let (errors, quiet, marks) = (self.errors, self.w.quiet, self.fields_as_constants.len());
        self.w.quiet = true;
        let mut too_early = Vec::new();
        let mut functions = Vec::new();
        for (i, (f, handler)) in parts.functions.iter().enumerate() {
            self.place = if *handler { Place::Handler } else { Place::FilterWork };
            let OwnFn { params, ret, .. } = self.own[i].clone();
            let before = self.errors;
            functions.push(self.function(f, &params, ret));
            too_early.push(self.errors > before);
        }
        self.place = Place::FilterInit;
        (self.errors, self.w.quiet) = (errors, quiet);
        self.fields_as_constants.truncate(marks);
        if let Some((id, at)) = reached(e, &functions).into_iter().find(|(id, _)| too_early[id.index()]) {
            let f = &functions[id.index()];
            self.report(
                Diagnostic::error(
                    "E0403",
                    format!("`{}` cannot run yet in a field's initialiser", f.name),
                    at,
                    "called here",
                )
                .label(f.span, "it uses what is declared later, or has an error")
                .help("set the field in `init`, when all fields are there"),
            );
            return None;
        }
        // one more field takes the value
        let value = FieldId::from(self.fields.len());
        let mut fields: Vec<(Ty, Const)> =
            (self.fields.iter()).map(|f| (f.ty.clone(), f.value.clone().unwrap_or(Const::Int(0)))).collect();
        fields.push((ty.clone(), eval::zero(&self.w.globals, ty)?));
        let place = Expr { kind: ExprKind::Field(value), ty: ty.clone(), span: e.span };
        let body = vec![Stmt { kind: StmtKind::Assign { place, value: e.clone() }, span: e.span }];
        functions.push(Function {
            name: "initialiser".into(),
            params: 0,
            locals: Vec::new(),
            ret: Ty::Void,
            body,
            span: e.span,
        });
        match eval::run_init(&self.w.globals, &functions, FnId::from(functions.len() - 1), &fields, &self.w.budget) {
            Ok((mut values, output)) => {
                *printed += &output;
                let value = values.pop();
                for (f, v) in self.fields.iter_mut().zip(values) {
                    f.value = Some(v);
                }
                value
            }
            Err(err) => {
                self.report(super::natives::begun(evaluation_failed(&err, "in a field's initialiser"), e.span));
                None
            }
        }
    }
}

/// Does an expression, not yet typed, call a function of such a name?
pub(super) fn calls(e: &ast::Expr, own: &dyn Fn(&str) -> bool) -> bool {
    let any = |es: &[&ast::Expr]| es.iter().any(|e| calls(e, own));
    match &e.kind {
        A::Call { callee, args } => {
            matches!(&callee.unparen().kind, A::Var(name) if own(&name.name)) || args.iter().any(|e| calls(e, own))
        }
        A::Paren(e) | A::Member(e, _) | A::Unary(_, e) | A::Cast(_, e) | A::Peek(e) => calls(e, own),
        A::Index(a, b) | A::Binary(_, a, b) => any(&[a, b]),
        A::Ternary(a, b, c) => any(&[a, b, c]),
        A::ArrayLit(items) => items.iter().any(|e| calls(e, own)),
        _ => false,
    }
}

/// Does a typed expression call functions of the filter?
pub(super) fn uses_own(e: &Expr) -> bool {
    let mut found = false;
    walk::expression(e, &mut |e| found |= matches!(e.kind, ExprKind::Call(Callee::Own(_), _)));
    found
}

/// The functions of the filter that an expression can come to call, each with the call in the expression that leads there.
fn reached(e: &Expr, functions: &[Function]) -> Vec<(FnId, Span)> {
    let mut found: Vec<(FnId, Span)> = Vec::new();
    walk::expression(e, &mut |e| {
        if let ExprKind::Call(Callee::Own(id), _) = e.kind {
            found.push((id, e.span));
        }
    });
    let mut next = 0;
    while let Some((id, span)) = found.get(next).copied() {
        next += 1;
        walk::expressions(&functions[id.index()].body, &mut |e| {
            if let ExprKind::Call(Callee::Own(id), _) = e.kind
                && !found.iter().any(|(seen, _)| *seen == id)
            {
                found.push((id, span));
            }
        });
    }
    found
}
