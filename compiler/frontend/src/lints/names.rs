//! # names
//!
//! Purpose: who uses which name. Input: the user's files as trees. Output: [`Names`]: each variable with its reads and writes, each
//! function of a filter with its callers, and what is used of all that is global.
//!
//! Names are looked up as the checker does: locals, then fields and parameters, streams within streams seeing those around them,
//! then statics. An array parameter of a function stands for the caller's array, so that writing it counts as reading it.

use super::tree;
use crate::world::World;
use sluice_grammar::ast::{ExprKind as E, StmtKind as S, *};
use sluice_grammar::span::{FileId, Span};
use std::collections::{HashMap, HashSet};

/// What kind of variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A parameter of a stream.
    StreamParam,
    /// A parameter of a function or handler.
    Param,
    /// A field of a filter.
    Field,
    /// A variable in a body.
    Local,
}

/// A variable and how it is used.
pub struct Variable<'t> {
    /// Which kind.
    pub kind: Kind,
    /// Its name.
    pub name: &'t Ident,
    /// Its type.
    pub ty: &'t Type,
    /// How often it is read.
    pub reads: u32,
    /// Where it is written after its declaration.
    pub writes: Vec<Span>,
    /// Where it is named.
    pub named_in: HashSet<Body>,
    /// The declaration, and which of its variables this is.
    pub decl: Option<(&'t VarDecl, usize)>,
    /// Does the declaration stand among other statements or members, so that it can be cut out?
    pub removable: bool,
    /// A parameter's list.
    pub params: &'t [Param],
    /// What has the parameters: the stream, or a function by its index.
    pub of: Option<Owner<'t>>,
}

/// The part of a filter that a name stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Body {
    /// The body of `work`.
    Work,
    /// A function, by its index in [`Names::functions`].
    Function(usize),
    /// Anything else.
    #[default]
    Other,
}

/// What has parameters.
#[derive(Clone, Copy, Debug)]
pub enum Owner<'t> {
    /// A stream, by its name.
    Stream(Option<&'t Ident>),
    /// A function of a filter, by its index.
    Function(usize),
    /// A function of a group.
    Grouped(&'t str, &'t Ident),
    /// A message handler.
    Handler(&'t Ident),
}

/// A function of a filter.
pub struct OwnFunction<'t> {
    /// Its tree.
    pub decl: &'t FnDecl,
    /// Is it called from anything but itself and functions that nothing calls?
    pub used: bool,
    /// Is it called by another function?
    pub called: bool,
}

/// What is global.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Global {
    /// A static.
    Static(Name),
    /// A struct.
    Struct(Name),
    /// A function of a helper or native group.
    Function(Name, Name),
    /// A stream.
    Stream(Name),
}

/// Arguments where something with parameters is used.
pub struct Use<'t> {
    /// The arguments.
    pub args: &'t [Expr],
}

/// All uses of names in some files.
#[derive(Default)]
pub struct Names<'t> {
    /// Variables in source order.
    pub variables: Vec<Variable<'t>>,
    /// Functions of filters.
    pub functions: Vec<OwnFunction<'t>>,
    /// Globals that are read, called or added by something other than themselves.
    pub used: HashSet<Global>,
    /// Streams that each stream (or `None`: what is in no stream) adds or has portals to.
    pub adds: HashMap<Option<Name>, HashSet<Name>>,
    /// Uses of streams with their arguments.
    pub stream_uses: HashMap<Name, Vec<Use<'t>>>,
    /// Calls of functions of filters, by the function's index.
    pub calls: HashMap<usize, Vec<Use<'t>>>,
    places: HashMap<Span, usize>,
    edges: HashMap<Body, HashSet<usize>>,
    statics: HashSet<Name>,
    scopes: Vec<HashMap<Name, usize>>,
    own: HashMap<Name, usize>,
    body: Body,
    /// Which global the body belongs to.
    global: Option<Global>,
    /// The group whose function the body belongs to, and the names of all its functions.
    group: Option<(Name, HashSet<Name>)>,
    stream: Option<Name>,
    /// Parameters by reference of the current function.
    by_ref: HashSet<usize>,
}

impl<'t> Names<'t> {
    /// The uses of all names in the user's files.
    pub fn of(w: &World, trees: &'t [(FileId, Program)]) -> Names<'t> {
        let mut n = Names { statics: w.statics.keys().cloned().collect(), ..Names::default() };
        let mut groups: HashMap<Name, HashSet<Name>> = HashMap::new();
        for (_, t) in trees {
            for item in &t.items {
                if let Item::Helper(g) | Item::Native(g) = item {
                    let names = g.functions.iter().map(|f| f.name.name.clone());
                    groups.entry(g.name.name.clone()).or_default().extend(names);
                }
            }
        }
        for (_, t) in trees {
            t.items.iter().for_each(|i| n.item(i, &groups));
        }
        n.reach();
        n
    }

    /// The variable whose name stands at a place.
    pub fn declared_at(&self, span: Span) -> Option<&Variable<'t>> {
        self.variables.get(*self.places.get(&span)?)
    }

    fn item(&mut self, item: &'t Item, groups: &HashMap<Name, HashSet<Name>>) {
        match item {
            Item::Import { .. } => {}
            Item::Struct(s) => {
                self.global = Some(Global::Struct(s.name.name.clone()));
                s.fields.iter().for_each(|d| self.ty(&d.ty));
            }
            Item::Static(s) => {
                for d in &s.fields {
                    self.ty(&d.ty);
                    d.vars.iter().filter_map(|(_, e)| e.as_ref()).for_each(|e| self.read(e));
                }
                s.init.iter().for_each(|b| self.block(b));
            }
            Item::Native(g) | Item::Helper(g) => {
                let name = &g.name.name;
                self.group = Some((name.clone(), groups.get(name).cloned().unwrap_or_default()));
                for f in &g.functions {
                    self.global = Some(Global::Function(name.clone(), f.name.name.clone()));
                    self.callable(f, Owner::Grouped(&g.name.name, &f.name));
                }
                self.group = None;
            }
            Item::Stream(s) => {
                self.stream = s.name.as_ref().map(|n| n.name.clone());
                self.global = self.stream.clone().map(Global::Stream);
                self.stream_decl(s);
                self.stream = None;
            }
        }
        self.global = None;
    }

    /// Which functions are called at all.
    fn reach(&mut self) {
        let entries = [Body::Work, Body::Other];
        let mut queue: Vec<usize> = entries.iter().filter_map(|b| self.edges.get(b)).flatten().copied().collect();
        while let Some(f) = queue.pop() {
            if !std::mem::replace(&mut self.functions[f].used, true) {
                queue.extend(self.edges.get(&Body::Function(f)).into_iter().flatten());
            }
        }
        for (from, to) in &self.edges {
            for f in to.iter().filter(|f| Body::Function(**f) != *from) {
                self.functions[*f].called = true;
            }
        }
    }

    fn declare(&mut self, v: Variable<'t>) -> usize {
        let id = self.variables.len();
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(v.name.name.clone(), id);
        }
        self.places.insert(v.name.span(), id);
        self.variables.push(v);
        id
    }

    fn lookup(&self, name: &str) -> Option<usize> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).copied()
    }

    fn scoped(&mut self, body: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        body(self);
        self.scopes.pop();
    }

    fn stream_decl(&mut self, s: &'t StreamDecl) {
        self.scoped(|n| {
            n.params(&s.params, Kind::StreamParam, Owner::Stream(s.name.as_ref()));
            if let Some((i, o)) = &s.io {
                n.ty(i);
                n.ty(o);
            }
            match &s.body {
                StreamBody::Composite(b) => n.block(b),
                StreamBody::Filter(members) => n.filter(members),
            }
        });
    }

    fn params(&mut self, params: &'t [Param], kind: Kind, of: Owner<'t>) {
        for p in params {
            self.ty(&p.ty);
            let (name, ty) = (&p.name, &p.ty);
            let id = self.declare(Variable { params, of: Some(of), ..variable(kind, name, ty) });
            if kind == Kind::Param && !p.ty.dims.is_empty() {
                self.by_ref.insert(id);
            }
        }
    }

    fn filter(&mut self, members: &'t [Member]) {
        let around = std::mem::take(&mut self.own);
        for m in members {
            if let Member::Function(f) = m {
                self.own.insert(f.name.name.clone(), self.functions.len());
                self.functions.push(OwnFunction { decl: f, used: false, called: false });
            }
        }
        self.scoped(|n| {
            for m in members {
                if let Member::Field(d) = m {
                    n.decl(d, Kind::Field, true);
                }
            }
            for m in members {
                match m {
                    Member::Field(_) => {}
                    Member::Init(b) => n.block(b),
                    Member::Prework(w) => {
                        w.rates.iter().for_each(|r| n.rate(r));
                        n.block(&w.body);
                    }
                    Member::Work(w) => {
                        w.rates.iter().for_each(|r| n.rate(r));
                        n.body = Body::Work;
                        n.block(&w.body);
                        n.body = Body::Other;
                    }
                    Member::Function(f) => {
                        let Some(id) = n.own.get(&f.name.name).copied() else { continue };
                        n.body = Body::Function(id);
                        n.callable(f, Owner::Function(id));
                        n.body = Body::Other;
                    }
                    Member::Handler(f) => n.callable(f, Owner::Handler(&f.name)),
                }
            }
        });
        self.own = around;
    }

    fn callable(&mut self, f: &'t FnDecl, of: Owner<'t>) {
        self.scoped(|n| {
            n.ty(&f.ret);
            let before = n.variables.len();
            n.params(&f.params, Kind::Param, of);
            f.rates.iter().for_each(|r| n.rate(r));
            match &f.body {
                Some(b) => n.block(b),
                // a native's parameters are C's business
                None => n.variables.truncate(before),
            }
        });
        self.by_ref.clear();
    }

    fn rate(&mut self, r: &'t RateSpec) {
        match &r.rate {
            Rate::Static(e) => self.read(e),
            Rate::Dynamic { min, avg, max } => [min, avg, max].into_iter().flatten().for_each(|e| self.read(e)),
        }
    }

    fn decl(&mut self, d: &'t VarDecl, kind: Kind, removable: bool) {
        self.ty(&d.ty);
        for (i, (name, init)) in d.vars.iter().enumerate() {
            init.iter().for_each(|e| self.read(e));
            self.declare(Variable { decl: Some((d, i)), removable, ..variable(kind, name, &d.ty) });
        }
    }

    fn ty(&mut self, t: &'t Type) {
        match &t.base {
            BaseType::Named(s) => self.use_global(Global::Struct(s.name.clone())),
            BaseType::Portal(s) => self.add(&s.name),
            _ => {}
        }
        t.dims.iter().for_each(|e| self.read(e));
    }

    fn use_global(&mut self, g: Global) {
        if self.global.as_ref() != Some(&g) {
            self.used.insert(g);
        }
    }

    fn add(&mut self, name: &Name) {
        self.adds.entry(self.stream.clone()).or_default().insert(name.clone());
        self.use_global(Global::Stream(name.clone()));
    }

    fn block(&mut self, b: &'t Block) {
        self.scoped(|n| b.stmts.iter().for_each(|s| n.stmt(s, true)));
    }

    fn nested(&mut self, s: &'t Stmt) {
        self.scoped(|n| n.stmt(s, false));
    }

    fn stmt(&mut self, s: &'t Stmt, listed: bool) {
        match &s.kind {
            S::Empty | S::Error | S::Break | S::Continue => {}
            S::Block(b) => self.block(b),
            S::Decl(d) => self.decl(d, Kind::Local, listed),
            S::Assign { target, value, .. } => {
                self.write(target, s.at.0);
                self.read(value);
            }
            S::Expr(e) => match &e.unparen().kind {
                E::IncDec { target, .. } => self.write(target, s.at.0),
                _ => self.read(e),
            },
            S::Push(e) | S::Enqueue(e) => self.read(e),
            S::If { cond, then, els } => {
                self.read(cond);
                self.nested(then);
                els.iter().for_each(|s| self.nested(s));
            }
            S::For { init, cond, step, body } => self.scoped(|n| {
                init.iter().for_each(|s| n.stmt(s, false));
                cond.iter().for_each(|e| n.read(e));
                step.iter().for_each(|s| n.stmt(s, false));
                n.nested(body);
            }),
            S::While { cond, body } | S::DoWhile { body, cond } => {
                self.read(cond);
                self.nested(body);
            }
            S::Switch { value, cases } => {
                self.read(value);
                self.scoped(|n| {
                    for c in cases {
                        c.labels.iter().filter_map(|(e, _)| e.as_ref()).for_each(|e| n.read(e));
                        c.body.iter().for_each(|s| n.stmt(s, true));
                    }
                });
            }
            S::Return(e) => e.iter().for_each(|e| self.read(e)),
            S::Send { portal, args, latency, .. } => {
                self.read(portal);
                args.iter().for_each(|e| self.read(e));
                if let Latency::Range(a, b) = latency {
                    self.read(a);
                    self.read(b);
                }
            }
            S::Add { stream, portals } | S::Body { stream, portals } | S::Loop { stream, portals } => {
                portals.iter().for_each(|e| self.read(e));
                self.stream_ref(stream);
            }
            S::Split(k) | S::Join(k) => {
                if let SplitKind::RoundRobin(weights) = k {
                    weights.iter().for_each(|e| self.read(e));
                }
            }
        }
    }

    fn stream_ref(&mut self, stream: &'t StreamRef) {
        match stream {
            StreamRef::Named { name, type_args, args, .. } => {
                self.add(&name.name);
                self.stream_uses.entry(name.name.clone()).or_default().push(Use { args });
                type_args.iter().for_each(|t| self.ty(t));
                args.iter().for_each(|e| self.read(e));
            }
            StreamRef::Anonymous(s) => self.stream_decl(s),
        }
    }

    /// A place that is assigned: what is in its indices is read.
    fn write(&mut self, place: &'t Expr, at: Span) {
        let mut e = place;
        loop {
            match &e.kind {
                E::Paren(inner) | E::Member(inner, _) => e = inner,
                E::Index(base, index) => {
                    self.read(index);
                    e = base;
                }
                _ => break,
            }
        }
        let Some(id) = tree::root(place).and_then(|name| self.lookup(&name.name)) else { return };
        let v = &mut self.variables[id];
        v.writes.push(at);
        v.named_in.insert(self.body);
        v.reads += u32::from(self.by_ref.contains(&id));
    }

    fn read(&mut self, e: &'t Expr) {
        match &e.kind {
            E::Var(name) => self.variable(name),
            E::Call { callee, args } => {
                self.callee(callee, args);
                args.iter().for_each(|e| self.read(e));
            }
            E::IncDec { target, .. } => {
                self.write(target, e.span());
                self.read(target);
            }
            E::Cast(ty, inner) => {
                self.ty(ty);
                self.read(inner);
            }
            _ => tree::children(e).into_iter().for_each(|e| self.read(e)),
        }
    }

    fn variable(&mut self, name: &Ident) {
        match self.lookup(&name.name) {
            Some(id) => {
                self.variables[id].reads += 1;
                self.variables[id].named_in.insert(self.body);
            }
            None if self.statics.contains(&name.name) => self.use_global(Global::Static(name.name.clone())),
            None => {}
        }
    }

    fn callee(&mut self, callee: &'t Expr, args: &'t [Expr]) {
        match &callee.unparen().kind {
            E::Var(name) => {
                if let Some(f) = self.own.get(&name.name).copied() {
                    self.edges.entry(self.body).or_default().insert(f);
                    self.calls.entry(f).or_default().push(Use { args });
                } else if let Some((group, names)) = &self.group
                    && names.contains(&name.name)
                {
                    self.use_global(Global::Function(group.clone(), name.name.clone()));
                }
            }
            E::Member(base, name) => match &base.unparen().kind {
                E::Var(group) if self.lookup(&group.name).is_none() => {
                    self.use_global(Global::Function(group.name.clone(), name.name.clone()));
                }
                _ => self.read(base),
            },
            _ => self.read(callee),
        }
    }
}

fn variable<'t>(kind: Kind, name: &'t Ident, ty: &'t Type) -> Variable<'t> {
    Variable {
        kind,
        name,
        ty,
        reads: 0,
        writes: Vec::new(),
        named_in: HashSet::new(),
        decl: None,
        removable: false,
        params: &[],
        of: None,
    }
}
