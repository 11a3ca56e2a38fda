//! The walk that makes an [`Index`]: first what is global, then every body.

use super::{Access, Index, Scope, Symbol, SymbolKind, Use};
use crate::ids::SymbolId;
use crate::lints::tree;
use sluice_grammar::ast::{ExprKind as E, StmtKind as S, *};
use sluice_grammar::span::{FileId, Span};
use std::collections::{BTreeMap, HashMap};

/// A group and its functions.
#[derive(Clone, Debug)]
pub struct Group {
    pub symbol: SymbolId,
    functions: HashMap<Name, SymbolId>,
}

/// What is global, by name.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    pub streams: BTreeMap<Name, SymbolId>,
    pub structs: BTreeMap<Name, SymbolId>,
    pub statics: BTreeMap<Name, SymbolId>,
    pub groups: BTreeMap<Name, Group>,
}

impl Globals {
    /// What is there already hides what is added.
    fn add(&mut self, others: &Globals) {
        let names = [
            (&mut self.streams, &others.streams),
            (&mut self.structs, &others.structs),
            (&mut self.statics, &others.statics),
        ];
        for (known, others) in names {
            for (name, id) in others {
                known.entry(name.clone()).or_insert(*id);
            }
        }
        for (name, group) in &others.groups {
            self.groups.entry(name.clone()).or_insert_with(|| group.clone());
        }
    }
}

pub fn walk(trees: &[(FileId, &Program)], library: &[(FileId, &Program)]) -> Index {
    let files = trees.iter().chain(library).map(|(f, _)| f.0 as usize + 1).max().unwrap_or(0);
    let index = Index { uses: vec![Vec::new(); files], scopes: vec![Vec::new(); files], ..Index::default() };
    let mut w = Walk { index, ..Walk::default() };
    for (shipped, trees) in [(false, trees), (true, library)] {
        w.shipped = shipped;
        for item in trees.iter().flat_map(|(_, t)| &t.items) {
            w.global(item);
        }
    }
    w.index.globals.add(&w.shipped_names);
    for (shipped, trees) in [(false, trees), (true, library)] {
        w.shipped = shipped;
        for item in trees.iter().flat_map(|(_, t)| &t.items) {
            w.item(item);
        }
    }
    let mut index = w.index;
    for uses in &mut index.uses {
        uses.sort_by_key(|u| (u.span.start, u.span.end));
        uses.dedup_by_key(|u| u.span);
    }
    index.starts = vec![0; index.symbols.len() + 1];
    index.uses.iter().flatten().for_each(|u| index.starts[u.symbol.index() + 1] += 1);
    for i in 1..index.starts.len() {
        index.starts[i] += index.starts[i - 1];
    }
    // by file and place within a symbol, as they come
    let mut next = index.starts.clone();
    index.by_symbol = index.uses.iter().flatten().copied().collect();
    for u in index.uses.iter().flatten() {
        let at = &mut next[u.symbol.index()];
        index.by_symbol[*at as usize] = *u;
        *at += 1;
    }
    index
}

#[derive(Default)]
struct Walk {
    index: Index,
    shipped: bool,
    /// What the library's files see: a user's declaration of the same name is nothing to them.
    shipped_names: Globals,
    /// Names that can be seen, innermost last; the number is the scope's in its file.
    scopes: Vec<(HashMap<Name, SymbolId>, usize)>,
    own: HashMap<Name, SymbolId>,
    group: Option<Name>,
    /// The stream with a name, and what it pops.
    within: Option<SymbolId>,
    input: Option<Type>,
    /// Global declarations by the place of their names.
    declared: HashMap<Span, SymbolId>,
}

impl Walk {
    fn symbol(&mut self, kind: SymbolKind, name: &Ident, whole: Span, parent: Option<SymbolId>) -> SymbolId {
        let id = SymbolId::from(self.index.symbols.len());
        let (span, shipped) = (name.span(), self.shipped);
        let symbol = Symbol {
            kind,
            name: name.name.clone(),
            span,
            whole,
            header: whole,
            parent,
            ty: None,
            params: Vec::new(),
            shipped,
        };
        self.index.symbols.push(symbol);
        // streams and functions are come upon again in their bodies
        if matches!(
            kind,
            SymbolKind::Stream(_) | SymbolKind::GroupFunction | SymbolKind::Function | SymbolKind::Handler
        ) {
            self.declared.insert(span, id);
        }
        self.mark(span, id, Access::Declaration, false);
        id
    }

    fn with_type(&mut self, id: SymbolId, ty: &Type) -> SymbolId {
        self.index.symbols[id.index()].ty = Some(ty.clone());
        id
    }

    fn mark(&mut self, span: Span, symbol: SymbolId, access: Access, adds: bool) {
        let within = self.within;
        if let Some(file) = self.index.uses.get_mut(span.file.0 as usize) {
            file.push(Use { span, symbol, access, within, adds });
        }
    }

    /// What is global for the file that is walked.
    fn globals(&self) -> &Globals {
        if self.shipped { &self.shipped_names } else { &self.index.globals }
    }

    fn globals_mut(&mut self) -> &mut Globals {
        if self.shipped { &mut self.shipped_names } else { &mut self.index.globals }
    }

    /// Enters what an item declares; the first of a name wins.
    fn global(&mut self, item: &Item) {
        match item {
            Item::Import { .. } => {}
            Item::Struct(s) => {
                let id = self.symbol(SymbolKind::Struct, &s.name, s.at.0, None);
                self.globals_mut().structs.entry(s.name.name.clone()).or_insert(id);
                for d in &s.fields {
                    for (name, _) in &d.vars {
                        let field = self.symbol(SymbolKind::Member, name, d.at.0, Some(id));
                        self.with_type(field, &d.ty);
                    }
                }
            }
            Item::Stream(s) => {
                let Some(name) = &s.name else { return };
                let id = self.stream_symbol(s, name);
                self.globals_mut().streams.entry(name.name.clone()).or_insert(id);
            }
            Item::Static(b) => {
                for d in &b.fields {
                    for (name, _) in &d.vars {
                        let id = self.symbol(SymbolKind::Static, name, d.at.0, None);
                        self.with_type(id, &d.ty);
                        self.globals_mut().statics.entry(name.name.clone()).or_insert(id);
                    }
                }
            }
            Item::Native(g) => self.group(g, SymbolKind::Native),
            Item::Helper(g) => self.group(g, SymbolKind::Helper),
        }
    }

    /// The header of a stream ends with its parameters.
    fn stream_symbol(&mut self, s: &StreamDecl, name: &Ident) -> SymbolId {
        let id = self.symbol(SymbolKind::Stream(s.kind), name, s.at.0, None);
        self.index.symbols[id.index()].header = s.header.0;
        // handlers are called from elsewhere, parameters are shown elsewhere
        if let StreamBody::Filter(members) = &s.body {
            for m in members {
                if let Member::Handler(f) = m {
                    self.function_symbol(SymbolKind::Handler, f, Some(id));
                }
            }
        }
        self.params(&s.params, SymbolKind::StreamParam, id);
        id
    }

    fn function_symbol(&mut self, kind: SymbolKind, f: &FnDecl, parent: Option<SymbolId>) -> SymbolId {
        let id = self.symbol(kind, &f.name, f.at.0, parent);
        let end = f.body.as_ref().map_or(f.at.0.end, |b| b.at.0.start);
        self.index.symbols[id.index()].header = Span { end: end.max(f.at.0.start), ..f.at.0 };
        self.with_type(id, &f.ret);
        self.params(&f.params, SymbolKind::Param, id);
        id
    }

    fn params(&mut self, params: &[Param], kind: SymbolKind, of: SymbolId) {
        for p in params {
            let id = self.symbol(kind, &p.name, p.ty.at.0.to(p.name.span()), Some(of));
            self.with_type(id, &p.ty);
            self.index.symbols[of.index()].params.push(id);
        }
    }

    /// Blocks of one name are one group.
    fn group(&mut self, g: &FunctionGroup, kind: SymbolKind) {
        let known = self.globals().groups.get(&g.name.name).map(|g| g.symbol);
        let symbol = match known {
            Some(id) => {
                self.mark(g.name.span(), id, Access::Declaration, false);
                id
            }
            None => self.symbol(kind, &g.name, g.at.0, None),
        };
        for f in &g.functions {
            let id = self.function_symbol(SymbolKind::GroupFunction, f, Some(symbol));
            let group = self.globals_mut().groups.entry(g.name.name.clone());
            group
                .or_insert_with(|| Group { symbol, functions: HashMap::new() })
                .functions
                .entry(f.name.name.clone())
                .or_insert(id);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Import { .. } => {}
            Item::Struct(s) => s.fields.iter().for_each(|d| self.ty(&d.ty)),
            Item::Static(b) => {
                for d in &b.fields {
                    self.ty(&d.ty);
                    d.vars.iter().filter_map(|(_, e)| e.as_ref()).for_each(|e| self.read(e));
                }
                b.init.iter().for_each(|b| self.block(b));
            }
            Item::Native(g) | Item::Helper(g) => {
                self.group = Some(g.name.name.clone());
                g.functions.iter().for_each(|f| self.callable(f));
                self.group = None;
            }
            Item::Stream(s) => self.stream(s),
        }
    }

    fn scoped(&mut self, span: Span, unordered: bool, body: impl FnOnce(&mut Self)) {
        let file = &mut self.index.scopes[span.file.0 as usize];
        file.push(Scope { span, names: Vec::new(), unordered });
        let number = file.len() - 1;
        self.scopes.push((HashMap::new(), number));
        body(self);
        self.scopes.pop();
    }

    fn see(&mut self, id: SymbolId) {
        let symbol = &self.index.symbols[id.index()];
        let (name, file) = (symbol.name.clone(), symbol.span.file.0 as usize);
        if let Some((names, number)) = self.scopes.last_mut() {
            names.insert(name, id);
            self.index.scopes[file][*number].names.push(id);
        }
    }

    fn lookup(&self, name: &str) -> Option<SymbolId> {
        self.scopes.iter().rev().find_map(|(s, _)| s.get(name)).copied()
    }

    fn stream(&mut self, s: &StreamDecl) {
        let named = s.name.as_ref().and_then(|n| self.declared.get(&n.span()).copied());
        let around = (self.within, self.input.take());
        self.within = named.or(self.within);
        self.input = s.io.as_ref().map(|(i, _)| i.clone());
        self.scoped(s.at.0, true, |w| {
            match named {
                Some(id) => w.index.symbols[id.index()].params.clone().into_iter().for_each(|p| w.see(p)),
                None => {
                    for p in &s.params {
                        let id = w.symbol(SymbolKind::StreamParam, &p.name, p.ty.at.0.to(p.name.span()), w.within);
                        w.with_type(id, &p.ty);
                        w.see(id);
                    }
                }
            }
            s.params.iter().for_each(|p| w.ty(&p.ty));
            s.io.iter().for_each(|(i, o)| [i, o].into_iter().for_each(|t| w.ty(t)));
            match &s.body {
                StreamBody::Composite(b) => w.block(b),
                StreamBody::Filter(members) => w.filter(s.at.0, members),
            }
        });
        (self.within, self.input) = around;
    }

    fn filter(&mut self, span: Span, members: &[Member]) {
        let around = std::mem::take(&mut self.own);
        self.scoped(span, true, |w| {
            for m in members {
                if let Member::Function(f) = m {
                    let id = w.function_symbol(SymbolKind::Function, f, w.within);
                    w.own.entry(f.name.name.clone()).or_insert(id);
                    w.see_function(id);
                }
            }
            for m in members {
                if let Member::Field(d) = m {
                    w.variables(d, SymbolKind::Field);
                }
            }
            for m in members {
                match m {
                    Member::Field(_) => {}
                    Member::Init(b) => w.block(b),
                    Member::Prework(work) | Member::Work(work) => {
                        work.rates.iter().for_each(|r| w.rate(r));
                        w.block(&work.body);
                    }
                    Member::Function(f) => w.callable(f),
                    Member::Handler(f) => {
                        if !w.declared.contains_key(&f.name.span()) {
                            w.function_symbol(SymbolKind::Handler, f, w.within);
                        }
                        w.callable(f);
                    }
                }
            }
        });
        self.own = around;
    }

    /// Functions have names of their own kind: they can be seen, but hide no variable.
    fn see_function(&mut self, id: SymbolId) {
        let file = self.index.symbols[id.index()].span.file.0 as usize;
        if let Some((_, number)) = self.scopes.last() {
            self.index.scopes[file][*number].names.push(id);
        }
    }

    fn callable(&mut self, f: &FnDecl) {
        let Some(id) = self.declared.get(&f.name.span()).copied() else { return };
        self.scoped(f.at.0, false, |w| {
            w.ty(&f.ret);
            f.params.iter().for_each(|p| w.ty(&p.ty));
            w.index.symbols[id.index()].params.clone().into_iter().for_each(|p| w.see(p));
            f.rates.iter().for_each(|r| w.rate(r));
            f.body.iter().for_each(|b| w.block(b));
        });
    }

    fn rate(&mut self, r: &RateSpec) {
        match &r.rate {
            Rate::Static(e) => self.read(e),
            Rate::Dynamic { min, avg, max } => [min, avg, max].into_iter().flatten().for_each(|e| self.read(e)),
        }
    }

    /// A variable is not seen by its own initialiser.
    fn variables(&mut self, d: &VarDecl, kind: SymbolKind) {
        self.ty(&d.ty);
        for (name, init) in &d.vars {
            init.iter().for_each(|e| self.read(e));
            let id = self.symbol(kind, name, d.at.0, self.within);
            self.with_type(id, &d.ty);
            self.see(id);
        }
    }

    fn ty(&mut self, t: &Type) {
        match &t.base {
            BaseType::Named(s) => {
                if let Some(id) = self.globals().structs.get(&s.name).copied() {
                    self.mark(s.span(), id, Access::Read, false);
                }
            }
            BaseType::Portal(s) => self.stream_name(s, false),
            _ => {}
        }
        t.dims.iter().for_each(|e| self.read(e));
    }

    fn stream_name(&mut self, name: &Ident, adds: bool) {
        if let Some(id) = self.globals().streams.get(&name.name).copied() {
            self.mark(name.span(), id, Access::Read, adds);
        }
    }

    fn block(&mut self, b: &Block) {
        self.scoped(b.at.0, false, |w| b.stmts.iter().for_each(|s| w.stmt(s)));
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            S::Empty | S::Error | S::Break | S::Continue => {}
            S::Block(b) => self.block(b),
            S::Decl(d) => self.variables(d, SymbolKind::Local),
            S::Assign { target, value, .. } => {
                self.write(target);
                self.read(value);
            }
            S::Expr(e) | S::Push(e) | S::Enqueue(e) => self.read(e),
            S::If { cond, then, els } => {
                self.read(cond);
                [Some(then), els.as_ref()].into_iter().flatten().for_each(|s| self.nested(s));
            }
            S::For { init, cond, step, body } => self.scoped(s.at.0, false, |w| {
                init.iter().for_each(|s| w.stmt(s));
                cond.iter().for_each(|e| w.read(e));
                step.iter().for_each(|s| w.stmt(s));
                w.nested(body);
            }),
            S::While { cond, body } | S::DoWhile { body, cond } => {
                self.read(cond);
                self.nested(body);
            }
            S::Switch { value, cases } => {
                self.read(value);
                self.scoped(s.at.0, false, |w| {
                    for c in cases {
                        c.labels.iter().filter_map(|(e, _)| e.as_ref()).for_each(|e| w.read(e));
                        c.body.iter().for_each(|s| w.stmt(s));
                    }
                });
            }
            S::Return(e) => e.iter().for_each(|e| self.read(e)),
            S::Send { portal, handler, args, latency } => {
                self.read(portal);
                self.member(portal, handler, Access::Read);
                args.iter().for_each(|e| self.read(e));
                if let Latency::Range(a, b) = latency {
                    self.read(a);
                    self.read(b);
                }
            }
            S::Add { stream, portals } | S::Body { stream, portals } | S::Loop { stream, portals } => {
                match stream {
                    StreamRef::Named { name, type_args, args, .. } => {
                        self.stream_name(name, true);
                        type_args.iter().for_each(|t| self.ty(t));
                        args.iter().for_each(|e| self.read(e));
                    }
                    StreamRef::Anonymous(s) => self.stream(s),
                }
                portals.iter().for_each(|e| self.read(e));
            }
            S::Split(k) | S::Join(k) => {
                if let SplitKind::RoundRobin(weights) = k {
                    weights.iter().for_each(|e| self.read(e));
                }
            }
        }
    }

    fn nested(&mut self, s: &Stmt) {
        self.scoped(s.at.0, false, |w| w.stmt(s));
    }

    /// A place that is assigned: its root is written, what is in its indices is read.
    fn write(&mut self, place: &Expr) {
        match &place.kind {
            E::Var(name) => self.variable(name, Access::Write),
            E::Paren(inner) => self.write(inner),
            E::Member(base, name) => {
                self.write(base);
                self.member(base, name, Access::Write);
            }
            E::Index(base, index) => {
                self.write(base);
                self.read(index);
            }
            _ => self.read(place),
        }
    }

    fn read(&mut self, e: &Expr) {
        match &e.kind {
            E::Var(name) => self.variable(name, Access::Read),
            E::Call { callee, args } => {
                self.callee(callee);
                args.iter().for_each(|e| self.read(e));
            }
            E::Member(base, name) => {
                self.read(base);
                self.member(base, name, Access::Read);
            }
            E::IncDec { target, .. } => self.write(target),
            E::Cast(ty, inner) => {
                self.ty(ty);
                self.read(inner);
            }
            _ => tree::children(e).into_iter().for_each(|e| self.read(e)),
        }
    }

    fn variable(&mut self, name: &Ident, access: Access) {
        let found = self.lookup(&name.name).or_else(|| self.globals().statics.get(&name.name).copied());
        if let Some(id) = found {
            self.mark(name.span(), id, access, false);
        }
    }

    fn callee(&mut self, callee: &Expr) {
        match &callee.unparen().kind {
            E::Var(name) => {
                if let Some(id) = self.called(&name.name) {
                    self.mark(name.span(), id, Access::Read, false);
                }
            }
            E::Member(base, name) => match &base.unparen().kind {
                E::Var(group) if self.lookup(&group.name).is_none() => {
                    let Some(g) = self.globals().groups.get(&group.name) else { return self.read(callee) };
                    let (symbol, function) = (g.symbol, g.functions.get(&name.name).copied());
                    self.mark(group.span(), symbol, Access::Read, false);
                    if let Some(id) = function {
                        self.mark(name.span(), id, Access::Read, false);
                    }
                }
                _ => {
                    self.read(base);
                    self.member(base, name, Access::Read);
                }
            },
            _ => self.read(callee),
        }
    }

    /// The function that a bare name calls.
    fn called(&self, name: &str) -> Option<SymbolId> {
        let sibling = || self.globals().groups.get(self.group.as_ref()?)?.functions.get(name).copied();
        self.own.get(name).copied().or_else(sibling)
    }

    /// A name behind a dot: a field of a struct, or a handler behind a portal.
    fn member(&mut self, base: &Expr, name: &Ident, access: Access) {
        let found = match self.type_of(base) {
            Some((BaseType::Named(s), 0)) => self.globals().structs.get(&s.name).copied(),
            Some((BaseType::Portal(s), 0)) => self.globals().streams.get(&s.name).copied(),
            Some(_) => return,
            None => {
                self.index.unknown_members.entry(name.name.clone()).or_default().push(name.span());
                return;
            }
        };
        let Some(parent) = found else { return };
        let is_it = |s: &Symbol| {
            s.parent == Some(parent)
                && s.name == name.name
                && matches!(s.kind, SymbolKind::Member | SymbolKind::Handler)
        };
        // what belongs to a symbol stands directly behind it
        let from = parent.index();
        let close = self.index.symbols[from + 1..].iter().take_while(|s| s.parent.is_some()).position(is_it);
        if let Some(at) = close {
            self.mark(name.span(), SymbolId::from(from + 1 + at), access, false);
        }
    }

    /// Declared type and number of array dimensions that are left.
    fn type_of(&self, e: &Expr) -> Option<(BaseType, usize)> {
        let plain = |t: &Type| (t.base.clone(), t.dims.len());
        let of = |id: SymbolId| self.index.symbols[id.index()].ty.as_ref().map(plain);
        match &e.kind {
            E::Var(name) => of(self.lookup(&name.name).or_else(|| self.globals().statics.get(&name.name).copied())?),
            E::Paren(inner) => self.type_of(inner),
            E::Index(base, _) => self.type_of(base).map(|(base, n)| (base, n.saturating_sub(1))),
            E::Member(base, name) => {
                let (BaseType::Named(s), 0) = self.type_of(base)? else { return Some((BaseType::Float, 0)) };
                let parent = self.globals().structs.get(&s.name).copied()?;
                let fields = self.index.symbols[parent.index() + 1..].iter().take_while(|f| f.parent == Some(parent));
                fields.filter(|f| f.name == name.name).find_map(|f| f.ty.as_ref().map(plain))
            }
            E::Pop | E::Peek(_) => self.input.as_ref().map(plain),
            E::Ternary(_, a, b) => self.type_of(a).or_else(|| self.type_of(b)),
            E::Cast(ty, _) => Some(plain(ty)),
            E::Call { callee, .. } => match &callee.unparen().kind {
                E::Var(name) => self.called(&name.name).map_or(Some((BaseType::Float, 0)), of),
                E::Member(base, name) => {
                    let E::Var(group) = &base.unparen().kind else { return None };
                    of(*self.globals().groups.get(&group.name)?.functions.get(&name.name)?)
                }
                _ => None,
            },
            // arithmetic gives numbers, and numbers have no members of ours
            _ => Some((BaseType::Float, 0)),
        }
    }
}
