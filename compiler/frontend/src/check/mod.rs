//! # check
//!
//! Purpose: names and types of every body; from syntax trees to typed code.
//! Input: [`World`] and one declaration. Output: typed functions; diagnostics go to the world.
//! A filter is checked twice: once in general, with parameters unknown (so that faults are found even in streams nobody
//! instantiates), and once for each set of arguments, with parameters folded in. A composite is checked once; its body is
//! evaluated for every instance. Invariant: code that was checked with arguments and gave no error obeys the rules in
//! [`crate::typed`].

pub mod call;
pub mod composite;
pub mod constants;
pub mod convert;
mod dependent;
pub mod expr;
pub mod filter;
pub mod globals;
pub mod initialiser;
pub mod natives;
pub mod operators;
mod portals;
pub mod rates;
mod statics;
pub mod stmt;
pub mod types;

use crate::constant::Const;
use crate::ids::*;
use crate::lints::precision::Literals;
use crate::ty::{Dim, Ty};
use crate::typed::*;
use crate::world::World;
use sluice_grammar::ast;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;
use std::collections::{HashMap, HashSet};

/// What kind of body is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A filter's init block or field initialisers: no channels.
    FilterInit,
    /// Work, prework, helper functions of a filter.
    FilterWork,
    /// A message handler: no channels.
    Handler,
    /// The body of a pipeline, splitjoin or feedbackloop.
    Composite(ast::StreamKind),
    /// A static block.
    Static,
    /// A function of a helper group.
    Helper,
}

/// A field of the filter being checked, or a parameter it sees.
#[derive(Clone, Debug)]
pub struct FieldInfo {
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: Ty,
    /// Where its name stands.
    pub span: Span,
    /// Its value as far as evaluation has come; `None` while checking in general.
    pub value: Option<Const>,
    /// A parameter or captured variable: never assigned.
    pub param: bool,
    /// A captured variable: parameters and fields may hide it.
    pub captured: bool,
}

/// The signature of a filter's own function.
#[derive(Clone, Debug)]
pub struct OwnFn {
    /// Parameter types.
    pub params: Vec<Ty>,
    /// Result.
    pub ret: Ty,
    /// Where its name stands.
    pub span: Span,
}

/// The function being checked.
#[derive(Default)]
pub struct FnCtx {
    /// Locals so far.
    pub locals: Vec<Local>,
    scopes: Vec<HashMap<Name, LocalId>>,
    /// Locals that are never assigned and whose value is known, or will be in each instance (`None`).
    pub constants: HashMap<LocalId, Option<Const>>,
    /// Names that are assigned somewhere in the body.
    pub assigned: HashSet<Name>,
    /// Result type.
    pub ret: Option<Ty>,
    /// Depth of loops, and of loops and switches.
    pub loops: u32,
    /// Depth of switches.
    pub switches: u32,
    /// Literals of which is not known yet what they become.
    pub literals: Literals,
}

/// Checks one body after another.
pub struct Checker<'w> {
    /// Declarations.
    pub w: &'w mut World,
    /// What kind of body.
    pub place: Place,
    /// The declaration, where there is one.
    pub decl: Option<DeclId>,
    /// Are parameters unknown?
    pub generic: bool,
    /// Fields and aggregate parameters.
    pub fields: Vec<FieldInfo>,
    field_names: HashMap<Name, FieldId>,
    /// Scalar parameters with their values.
    pub scalars: HashMap<Name, (Ty, Const, Span)>,
    /// Own functions.
    pub own: Vec<OwnFn>,
    own_names: HashMap<Name, FnId>,
    /// The helper group whose function this is: its functions call each other by their bare names.
    pub group: Option<Name>,
    /// Input and output item type; `None` where still to be inferred.
    pub io: (Option<Ty>, Option<Ty>),
    /// Where io is declared.
    pub io_span: Span,
    /// The current function.
    pub f: FnCtx,
    /// Fields whose values were used as constants, and where.
    pub fields_as_constants: Vec<(FieldId, Span)>,
    /// While the head of a function is read: its parameters, which have no values there.
    pub head: Vec<(Name, Span)>,
    /// Errors reported by this checker.
    pub errors: usize,
    /// In a composite: how many of the first locals are captured variables and parameters.
    pub stream_params: usize,
}

impl<'w> Checker<'w> {
    /// A checker for one declaration or block.
    pub fn new(w: &'w mut World, place: Place, decl: Option<DeclId>, generic: bool) -> Checker<'w> {
        Checker {
            w,
            place,
            decl,
            generic,
            fields: Vec::new(),
            field_names: HashMap::new(),
            scalars: HashMap::new(),
            own: Vec::new(),
            own_names: HashMap::new(),
            group: None,
            io: (None, None),
            io_span: Span::default(),
            f: FnCtx::default(),
            fields_as_constants: Vec::new(),
            head: Vec::new(),
            errors: 0,
            stream_params: 0,
        }
    }

    /// What a function gives, and the types of its parameters.
    pub fn head(&mut self, f: &ast::FnDecl) -> (Ty, Vec<Ty>) {
        self.head = f.params.iter().map(|p| (p.name.name.clone(), p.name.span())).collect();
        let head = (self.ty(&f.ret), f.params.iter().map(|p| self.ty(&p.ty)).collect());
        self.head.clear();
        head
    }

    /// Reports.
    pub fn report(&mut self, d: Diagnostic) {
        if d.is_error() {
            self.errors += 1;
        }
        self.w.report(d);
    }

    /// Reports an error.
    pub fn error(&mut self, code: &'static str, title: impl Into<String>, span: Span, label: impl Into<String>) {
        self.report(Diagnostic::error(code, title, span, label));
    }

    /// An expression that stands for something already reported.
    pub fn broken(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(Const::Int(0)), ty: Ty::Error, span }
    }

    /// Adds a field or aggregate parameter.
    pub fn add_field(&mut self, field: FieldInfo) -> FieldId {
        let id = FieldId::from(self.fields.len());
        if let Some(first) = self.field_names.get(&field.name).copied()
            && !self.fields[first.index()].captured
        {
            let first = self.fields[first.index()].span;
            self.declared_twice(&field.name, field.span, first);
        }
        self.field_names.insert(field.name.clone(), id);
        self.fields.push(field);
        id
    }

    /// Reports a second declaration in one scope.
    pub fn declared_twice(&mut self, name: &str, span: Span, first: Span) {
        self.report(
            Diagnostic::error("E0107", format!("`{name}` is declared twice"), span, "declared again here")
                .label(first, "first declared here")
                .help("give one of them another name"),
        );
    }

    /// Adds a function signature.
    pub fn add_own(&mut self, name: &Name, f: OwnFn) -> FnId {
        let id = FnId::from(self.own.len());
        if let Some(first) = self.own_names.get(name).copied() {
            let first = self.own[first.index()].span;
            self.declared_twice(name, f.span, first);
        }
        self.own_names.insert(name.clone(), id);
        self.own.push(f);
        id
    }

    /// Starts a function body.
    pub fn begin(&mut self, ret: Ty, assigned: HashSet<Name>) {
        self.f = FnCtx { ret: Some(ret), assigned, scopes: vec![HashMap::new()], ..FnCtx::default() };
    }

    /// Ends it: the locals.
    pub fn end(&mut self) -> Vec<Local> {
        self.literals_done();
        std::mem::take(&mut self.f).locals
    }

    /// Runs `body` in a new scope.
    pub fn scoped<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        self.f.scopes.push(HashMap::new());
        let result = body(self);
        self.f.scopes.pop();
        result
    }

    /// Declares a local in the innermost scope.
    pub fn declare(&mut self, name: &ast::Ident, ty: Ty, by_ref: bool) -> LocalId {
        let id = LocalId::from(self.f.locals.len());
        if let Some(first) = self.f.scopes.last().and_then(|s| s.get(&name.name)).copied() {
            let first = self.f.locals[first.index()].span;
            self.declared_twice(&name.name, name.span(), first);
        }
        let written = self.f.assigned.contains(&name.name);
        self.f.locals.push(Local { name: name.name.clone(), ty, by_ref, written, span: name.span() });
        if let Some(scope) = self.f.scopes.last_mut() {
            scope.insert(name.name.clone(), id);
        }
        id
    }

    /// The local a name stands for.
    pub fn lookup(&self, name: &str) -> Option<LocalId> {
        self.f.scopes.iter().rev().find_map(|s| s.get(name)).copied()
    }

    /// All locals that can be seen now, each name once.
    pub fn visible(&self) -> Vec<(Name, LocalId)> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for scope in self.f.scopes.iter().rev() {
            for (name, id) in scope {
                if seen.insert(name.clone()) {
                    all.push((name.clone(), *id));
                }
            }
        }
        all.sort_by_key(|(_, id)| *id);
        all
    }

    /// Is this local a parameter (or captured variable) of the composite being checked?
    pub fn is_stream_param(&self, id: LocalId) -> bool {
        id.index() < self.stream_params
    }

    /// Can channels be used here?
    pub fn channels_allowed(&self) -> bool {
        self.place == Place::FilterWork
    }

    /// A type for people.
    pub fn show(&self, ty: &Ty) -> String {
        match ty {
            Ty::Portal(stream) => format!("portal<{}>", self.w.decl(*stream).name),
            _ => show_type(&self.w.globals, ty),
        }
    }

    /// The zero of a scalar type, for constants.
    pub fn is_unknown(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Error => true,
            Ty::Array(e, d) => *d == Dim::Unknown || self.is_unknown(e),
            _ => false,
        }
    }
}

/// A type for people, in the language's own words.
pub fn show_type(globals: &Globals, ty: &Ty) -> String {
    match ty {
        Ty::Void => "void".into(),
        Ty::Bit => "bit".into(),
        Ty::Bool => "boolean".into(),
        Ty::Int => "int".into(),
        Ty::Float => "float".into(),
        Ty::Double => "double".into(),
        Ty::Complex => "complex".into(),
        Ty::Vec(n) => format!("float{n}"),
        Ty::Str => "text".into(),
        Ty::Array(..) => {
            let mut dims = String::new();
            let mut t = ty;
            while let Ty::Array(e, d) = t {
                match d {
                    Dim::Known(n) => dims += &format!("[{n}]"),
                    Dim::Unknown => dims += "[?]",
                }
                t = e;
            }
            show_type(globals, t) + &dims
        }
        Ty::Struct(id) => globals.structs.get(id.index()).map_or("struct".into(), |s| s.name.to_string()),
        Ty::Portal(_) => "portal".into(),
        Ty::Error => "?".into(),
    }
}
