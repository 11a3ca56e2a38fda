//! # filters
//!
//! Purpose: a filter declaration with its arguments becomes a [`FilterCode`].
//! Input: the declaration, the values of parameters and captured variables. Output: typed code with its fields at their values
//! after `init`, its rates, and what the analyses found. Invariant: see [`crate::typed`].

use super::dependent::dependent;
use super::initialiser::{calls, uses_own};
use super::natives::begun;
use super::stmt::assigned_names;
use super::{Checker, FieldInfo, OwnFn, Place};
use crate::analyses;
use crate::constant::Const;
use crate::eval::{self, EvalError};
use crate::ids::*;
use crate::lints::instances::Instance;
use crate::memo::Mark;
use crate::ty::{Dim, Ty};
use crate::typed::*;
use crate::world::World;
use sluice_grammar::ast::{self, Member};
use sluice_grammar::diagnostic::Diagnostic;
use std::collections::HashSet;
use std::sync::Arc;

/// A failed compile-time evaluation as a diagnostic.
pub fn evaluation_failed(e: &EvalError, when: &str) -> Diagnostic {
    if let eval::EvalErrorKind::NativeCall { name, declared } = &e.kind {
        return super::natives::at_compile_time(name, *declared, e.span, when);
    }
    let code = if matches!(e.kind, eval::EvalErrorKind::IllTyped(_)) { "E0999" } else { "E0403" };
    Diagnostic::error(code, format!("{} {when}", e.message()), e.span, "found here at compile time")
}

/// A value's type, sizes taken from the value.
pub fn refine(ty: &Ty, value: &Const) -> Ty {
    match (ty, value) {
        (Ty::Array(elem, _), Const::Array(items)) => {
            let elem = items.first().map_or_else(|| (**elem).clone(), |v| refine(elem, v));
            Ty::Array(Arc::new(elem), Dim::Known(items.len() as u32))
        }
        _ => ty.clone(),
    }
}

/// Checks a filter without arguments, once; false if it has errors.
pub fn general(w: &mut World, id: DeclId) -> bool {
    if let Some(done) = w.filters_checked.get(&id) {
        return *done;
    }
    let memo = w.memo.clone();
    if memo.as_ref().is_some_and(|m| m.general(w, id)) {
        w.filters_checked.insert(id, true);
        return true;
    }
    let before = Mark::of(w);
    let decl = w.decl(id).clone();
    let mut c = Checker::new(w, Place::FilterInit, Some(id), true);
    for (name, ty) in &decl.env {
        let span = decl.ast.header.0;
        c.add_field(FieldInfo { name: name.clone(), ty: ty.clone(), span, value: None, param: true, captured: true });
    }
    for p in &decl.ast.params {
        let ty = c.ty(&p.ty);
        c.add_field(FieldInfo {
            name: p.name.name.clone(),
            ty,
            span: p.name.span(),
            value: None,
            param: true,
            captured: false,
        });
    }
    c.filter(&decl.ast, (None, None), "");
    let fine = c.errors == 0;
    w.filters_checked.insert(id, fine);
    if let Some(memo) = memo.filter(|_| fine) {
        memo.keep_general(w, id, before);
    }
    fine
}

/// A filter's code for given arguments (captured variables first, then parameters, each with its value). `inferred` are the item types
/// of its neighbours, for an anonymous filter without a type. `None` if it has errors, which are reported.
pub fn specialise(w: &mut World, id: DeclId, args: &[Const], inferred: (Option<Ty>, Option<Ty>)) -> Option<FilterCode> {
    let Some(memo) = w.memo.clone() else { return specialise_anew(w, id, args, inferred) };
    if let Some((code, instance)) = memo.code(w, id, args, &inferred) {
        w.instances.entry(id).or_default().extend(instance);
        return Some(code);
    }
    let (before, known) = (Mark::of(w), w.instances.get(&id).map_or(0, Vec::len));
    let code = specialise_anew(w, id, args, inferred.clone())?;
    memo.keep_code(w, &code, args, inferred, known, before);
    Some(code)
}

fn specialise_anew(
    w: &mut World,
    id: DeclId,
    args: &[Const],
    inferred: (Option<Ty>, Option<Ty>),
) -> Option<FilterCode> {
    let decl = w.decl(id).clone();
    let mut c = Checker::new(w, Place::FilterInit, Some(id), false);
    let header = decl.ast.header.0;
    let env = decl.env.iter().map(|(n, t)| (n.clone(), t.clone(), header, None));
    let params = decl.ast.params.iter().map(|p| (p.name.name.clone(), Ty::Error, p.name.span(), Some(&p.ty)));
    for ((name, ty, span, written), value) in env.chain(params).zip(args) {
        let captured = written.is_none();
        let ty = match written {
            Some(t) => {
                let declared = c.ty(t);
                let actual = refine(&declared, value);
                if !super::convert::same(&declared, &actual) {
                    let (d, a) = (c.show(&declared), c.show(&actual));
                    c.error(
                        "E0410",
                        format!("`{name}` is {d}, but an array of another size was given"),
                        span,
                        format!("the argument is {a}"),
                    );
                    return None;
                }
                actual
            }
            None => refine(&ty, value),
        };
        if ty.is_aggregate() {
            c.scalars.remove(&name);
            c.add_field(FieldInfo { name, ty, span, value: Some(value.clone()), param: true, captured });
        } else {
            c.scalars.insert(name, (ty, value.clone(), span));
        }
    }
    let shown: Vec<String> = args[decl.env.len().min(args.len())..].iter().map(show_argument).collect();
    let display = if shown.is_empty() { decl.name.to_string() } else { format!("{}({})", decl.name, shown.join(", ")) };
    c.filter(&decl.ast, inferred, &display)
}

/// An argument for people.
pub fn show_argument(c: &Const) -> String {
    match c {
        Const::Array(a) => format!("{{{} values}}", a.len()),
        Const::Struct(_) => "{...}".into(),
        Const::Int(i) => i.to_string(),
        Const::Bool(b) => b.to_string(),
        Const::Bit(b) => u8::from(*b).to_string(),
        Const::Float(x) => format!("{x:?}"),
        Const::Double(x) => format!("{x:?}"),
        Const::Complex(a, b) => format!("{a:?}{b:+?}i"),
        Const::Vec(n, v) => format!("{:?}", &v[..usize::from(*n)]),
        Const::Str(s) => format!("{s:?}"),
        Const::Portal(_) => "portal".into(),
    }
}

/// The members of a filter that are no fields.
pub(super) struct Parts<'a> {
    init: Option<&'a ast::Block>,
    prework: Option<&'a ast::Work>,
    work: Option<&'a ast::Work>,
    /// Functions, and handlers (true).
    pub functions: Vec<(&'a ast::FnDecl, bool)>,
}

impl Checker<'_> {
    /// Checks a filter whose parameters are in place. Gives code only when not in general.
    fn filter(
        &mut self,
        decl: &ast::StreamDecl,
        inferred: (Option<Ty>, Option<Ty>),
        display: &str,
    ) -> Option<FilterCode> {
        let ast::StreamBody::Filter(members) = &decl.body else { return None };
        self.io_span = decl.header.0;
        self.io = match &decl.io {
            Some((i, o)) => {
                self.io_span = i.at.0.to(o.at.0);
                (Some(self.item_type(i).ty), Some(self.item_type(o).ty))
            }
            None => inferred,
        };
        let (span, ends) = (self.io_span, self.io.clone());
        if !self.generic && [ends.0, ends.1].iter().flatten().any(|ty| !self.fits(ty, span)) {
            return None;
        }
        let parts = self.parts(decl, members);
        let mut init_output = String::new();
        for m in members {
            if let Member::Field(d) = m {
                self.field_decl(d, &parts, &mut init_output);
            }
        }
        self.signatures(&parts);
        if let Some(init) = parts.init {
            init_output += &self.run_init(init, &parts)?;
        }
        let mut functions = self.own_functions(&parts);
        let body = |c: &mut Self, w: &ast::Work, name: &str| {
            c.place = Place::FilterWork;
            c.begin(Ty::Void, assigned_names(&w.body.stmts));
            let body = c.block(&w.body);
            Function { name: name.into(), params: 0, locals: c.end(), ret: Ty::Void, body, span: w.keyword.0 }
        };
        let work = parts.work?;
        let work_function = body(self, work, "work");
        let work_id = FnId::from(functions.len());
        functions.push(work_function);
        let prework = parts.prework.map(|p| {
            let f = body(self, p, "prework");
            functions.push(f);
            (p, FnId::from(functions.len() - 1))
        });
        if !self.generic && !functions.iter().all(|f| self.locals_fit(f)) {
            return None;
        }
        self.place = Place::FilterInit;
        let work_def = self.rates(work, work_id, decl);
        let prework_def = prework.map(|(p, id)| self.rates(p, id, decl));
        if self.generic || self.errors > 0 {
            return None;
        }
        let fields = (self.fields.iter())
            .map(|f| FieldDef {
                name: f.name.clone(),
                ty: f.ty.clone(),
                span: f.span,
                initial: f.value.clone().unwrap_or(Const::Int(0)),
                constant: true,
            })
            .collect();
        let handlers = (parts.functions.iter().enumerate())
            .filter(|(_, (_, handler))| *handler)
            .map(|(i, (f, _))| HandlerDef { name: f.name.name.clone(), function: FnId::from(i) })
            .collect();
        let mut code = FilterCode {
            decl: self.decl.unwrap_or(DeclId(0)),
            name: decl.name.as_ref().map_or_else(|| "anonymous_filter".into(), |n| n.name.clone()),
            display: display.to_string(),
            span: decl.header.0,
            input: self.io.0.clone().unwrap_or(Ty::Void),
            output: self.io.1.clone().unwrap_or(Ty::Void),
            fields,
            functions,
            prework: prework_def,
            work: work_def,
            handlers,
            stateful: None,
            prints: false,
            uses_iter: false,
            sends: None,
            calls_native: None,
            init_output,
            turns: None,
            behind: 0,
            part: None,
            convolution: None,
        };
        self.analyse(&mut code, &parts);
        (self.errors == 0).then_some(code)
    }

    fn parts<'a>(&mut self, decl: &ast::StreamDecl, members: &'a [Member]) -> Parts<'a> {
        let mut p = Parts { init: None, prework: None, work: None, functions: Vec::new() };
        for m in members {
            let (what, first, again) = match m {
                Member::Init(b) => match p.init {
                    Some(first) => ("init", first.at.0, b.at.0),
                    None => {
                        p.init = Some(b);
                        continue;
                    }
                },
                Member::Work(w) => match p.work {
                    Some(first) => ("work", first.keyword.0, w.keyword.0),
                    None => {
                        p.work = Some(w);
                        continue;
                    }
                },
                Member::Prework(w) => match p.prework {
                    Some(first) => ("prework", first.keyword.0, w.keyword.0),
                    None => {
                        p.prework = Some(w);
                        continue;
                    }
                },
                Member::Function(f) => {
                    p.functions.push((f, false));
                    continue;
                }
                Member::Handler(f) => {
                    p.functions.push((f, true));
                    continue;
                }
                Member::Field(_) => continue,
            };
            self.report(
                Diagnostic::error("E0231", format!("a filter has one `{what}`"), again, "a second one")
                    .label(first, "the first"),
            );
        }
        if p.work.is_none() {
            self.report(
                Diagnostic::error("E0230", "this filter has no `work`", decl.header.0, "nothing to do in a firing")
                    .help("add `work push 1 pop 1 { push(pop()); }` with the rates it needs"),
            );
        }
        p
    }

    /// Makes the filter's functions known, once: after its fields, or before the first field whose initialiser calls one.
    fn signatures(&mut self, parts: &Parts) {
        if !self.own.is_empty() {
            return;
        }
        for (f, handler) in &parts.functions {
            let (ret, params) = self.head(f);
            let ret = if *handler { Ty::Void } else { ret };
            self.add_own(&f.name.name, OwnFn { params, ret, span: f.name.span() });
        }
    }

    fn field_decl(&mut self, d: &ast::VarDecl, parts: &Parts, printed: &mut String) {
        self.place = Place::FilterInit;
        let ty = self.ty(&d.ty);
        if ty == Ty::Void {
            self.error("E0208", "a field cannot be void", d.ty.at.0, "void has no values");
        }
        if matches!(ty, Ty::Portal(_)) {
            self.error("E0220", "a portal is declared in a composite", d.ty.at.0, "filters receive it as a parameter");
        }
        for (name, init) in &d.vars {
            let own = |name: &str| parts.functions.iter().any(|(f, _)| &*f.name.name == name);
            if init.as_ref().is_some_and(|e| calls(e, &own)) {
                self.signatures(parts);
            }
            self.begin(Ty::Void, HashSet::new());
            let typed = init.as_ref().map(|e| self.expr_as(e, &ty, &format!("the field `{}`", name.name)));
            self.end();
            let mut value = None;
            if !self.generic && self.errors == 0 {
                value = match &typed {
                    None => {
                        let zero = self.w.budget.zero(&self.w.globals, &ty);
                        if zero.is_none() {
                            self.too_large(&ty, d.ty.at.0);
                        }
                        zero
                    }
                    Some(e) if uses_own(e) => self.run_initialiser(e, &ty, parts, printed),
                    Some(e) => match self.evaluate(e, eval::COMPILE_TIME_FUEL) {
                        Ok(v) => Some(v),
                        Err(err) => {
                            self.report(begun(evaluation_failed(&err, "in a field's initialiser"), e.span));
                            None
                        }
                    },
                };
            }
            self.add_field(FieldInfo {
                name: name.name.clone(),
                ty: ty.clone(),
                span: name.span(),
                value,
                param: false,
                captured: false,
            });
        }
    }

    fn own_functions(&mut self, parts: &Parts) -> Vec<Function> {
        let mut out = Vec::new();
        for (i, (f, _)) in parts.functions.iter().enumerate() {
            out.push(self.own_function(parts, i));
            for r in &f.rates {
                self.rate_exprs(r);
            }
        }
        out
    }

    fn own_function(&mut self, parts: &Parts, i: usize) -> Function {
        let (f, handler) = parts.functions[i];
        self.place = if handler { Place::Handler } else { Place::FilterWork };
        let OwnFn { params, ret, .. } = self.own[i].clone();
        self.function(f, &params, ret)
    }

    /// The functions that `init` calls, as they are before it has run; the others are left empty, for they may need what it
    /// sets.
    fn init_functions(&mut self, parts: &Parts, init: &[Stmt]) -> Vec<Function> {
        let mut out: Vec<Option<Function>> = vec![None; parts.functions.len()];
        let mut calls = own_calls(init);
        while let Some(id) = calls.pop() {
            if let Some(None) = out.get(id.index()) {
                let f = self.own_function(parts, id.index());
                calls.extend(own_calls(&f.body));
                out[id.index()] = Some(f);
            }
        }
        let empty = |i: usize| Function {
            name: parts.functions[i].0.name.name.clone(),
            params: 0,
            locals: Vec::new(),
            ret: Ty::Void,
            body: Vec::new(),
            span: parts.functions[i].0.name.span(),
        };
        out.into_iter().enumerate().map(|(i, f)| f.unwrap_or_else(|| empty(i))).collect()
    }

    /// Types `init` and runs it; the fields take their values after it. Gives what it printed.
    fn run_init(&mut self, init: &ast::Block, parts: &Parts) -> Option<String> {
        let marks = self.fields_as_constants.len();
        self.place = Place::FilterInit;
        self.begin(Ty::Void, assigned_names(&init.stmts));
        let body = self.block(init);
        let locals = self.end();
        let mut functions = self.init_functions(parts, &body);
        functions.push(Function { name: "init".into(), params: 0, locals, ret: Ty::Void, body, span: init.at.0 });
        if !self.generic && self.errors == 0 && !functions.iter().all(|f| self.locals_fit(f)) {
            return None;
        }
        if self.generic || self.errors > 0 {
            return Some(String::new());
        }
        // sizes that init itself used are those of before it: they need not stay
        self.fields_as_constants.truncate(marks);
        let fields: Vec<(Ty, Const)> =
            (self.fields.iter()).map(|f| (f.ty.clone(), f.value.clone().unwrap_or(Const::Int(0)))).collect();
        let last = FnId::from(functions.len() - 1);
        match eval::run_init(&self.w.globals, &functions, last, &fields, &self.w.budget) {
            Ok((values, output)) => {
                for (f, v) in self.fields.iter_mut().zip(values) {
                    f.value = Some(v);
                }
                Some(output)
            }
            Err(e) => {
                self.report(begun(evaluation_failed(&e, "in init"), init.at.0));
                None
            }
        }
    }

    /// Are the variables of a function together within what one array may have? They all lie in memory at once.
    pub fn locals_fit(&mut self, f: &Function) -> bool {
        let mut sum = 0;
        for l in f.locals.iter().skip(f.params as usize).filter(|l| l.ty.is_aggregate()) {
            if !self.fits(&l.ty, l.span) {
                return false;
            }
            sum += eval::value::size(&l.ty, &self.w.globals).unwrap_or(0);
            if sum > eval::MAX_ITEMS {
                let title = format!("the variables of `{}` are too large", f.name);
                self.error("E0209", title, l.span, "with this one, more than 2^24 elements in all");
                return false;
            }
        }
        true
    }

    fn analyse(&mut self, code: &mut FilterCode, parts: &Parts) {
        analyses::state::analyse(code, &self.w.globals);
        for (id, at) in std::mem::take(&mut self.fields_as_constants) {
            let f = &code.fields[id.index()];
            if !f.constant {
                let (name, span) = (f.name.clone(), f.span);
                self.report(
                    Diagnostic::error(
                        "E0233",
                        format!("`{name}` is used as a constant, but a firing changes it"),
                        at,
                        "this needs a constant",
                    )
                    .label(span, "the field"),
                );
            }
        }
        self.constant_arguments(code);
        if self.errors > 0 {
            // rates that are no constants have no meaning to compare the bodies with
            return;
        }
        let ours = !self.w.decl(code.decl).shipped;
        let known = self.w.instances.get(&code.decl).map_or(&[][..], |i| i);
        let mut instance = ours.then(|| Instance::of(code, &self.w.globals, known));
        for (index, work) in [(0, parts.work), (1, parts.prework)] {
            let Some(ast) = work else { continue };
            let facts = {
                let def = if index == 0 { Some(&code.work) } else { code.prework.as_ref() };
                let Some(def) = def else { continue };
                analyses::body_rates::analyse(code, def, &self.w.globals)
            };
            let dependent = !facts.findings.is_empty() && dependent(self.w.decl(code.decl));
            for d in facts.diagnostics(code, ast, dependent) {
                self.report(d);
            }
            let def = if index == 0 { Some(&mut code.work) } else { code.prework.as_mut() };
            if let Some(def) = def {
                instance.iter_mut().for_each(|i| i.add(index == 1, def, &facts));
                def.counts_proved = facts.counts_proved;
                def.peeks_proved = facts.peeks_proved;
            }
        }
        if let Some(instance) = instance {
            self.w.instances.entry(code.decl).or_default().push(instance);
        }
    }

    /// Arrays that are constants cannot be passed to a function that writes them.
    fn constant_arguments(&mut self, code: &FilterCode) {
        for passed in analyses::state::passed_to_be_written(code, &self.w.globals) {
            // a static, or a parameter of the stream
            if passed.field.is_some_and(|id| !self.fields[id.index()].param) {
                continue;
            }
            let (span, at) = (passed.span, passed.parameter);
            self.report(
                Diagnostic::error(
                    "E0224",
                    "a constant array is passed to a function that writes it",
                    span,
                    "this cannot be changed",
                )
                .label(at, "the function writes this parameter")
                .help("copy it into a variable of your own"),
            );
        }
    }
}

/// The filter's own functions that are called somewhere.
fn own_calls(body: &[Stmt]) -> Vec<FnId> {
    let mut out = Vec::new();
    analyses::walk::expressions(body, &mut |e| {
        if let ExprKind::Call(Callee::Own(id), _) = &e.kind {
            out.push(*id);
        }
    });
    out
}
