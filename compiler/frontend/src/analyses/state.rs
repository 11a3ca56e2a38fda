//! # state
//!
//! Purpose: which fields of a filter carry something from one firing to a later one, and what else its firings do.
//! Input: a [`FilterCode`] (its functions are those that firings and handlers use; `init` has run) and the [`Globals`].
//! Output: members of the `FilterCode` filled in, see [`analyse`].
//!
//! A *firing* is `work`, `prework` or a handler with all they call. A field is *constant* when no firing writes it; writing is an
//! assignment to it or a part of it, or passing (a part of) it to a parameter by reference that the callee writes, or to a native
//! function. A written field is *private* when no firing can read a value that another one left: nothing reads it, or it is a
//! scalar and every firing assigns the whole of it before it reads it, on every path (loops count as passed over, so an
//! assignment in a loop's body is not certain). Otherwise it is state. Conservative: what is called private is; what is called
//! state may not be. A filter that calls native functions counts as stateful, whatever its fields: nobody knows what a native function
//! keeps, so its calls stay in the order of the firings.

use super::walk;
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::span::Span;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Fills in `written` of the helpers' locals. Call it when all helpers are there, before any filter is analysed.
pub fn helper_writes(globals: &mut Globals) {
    let mut helpers = std::mem::take(&mut globals.helpers);
    fixpoint(&mut helpers, |helpers| {
        let mut changes = Vec::new();
        for (f, function) in helpers.iter().enumerate() {
            let writes = written_locals(function, &|callee, i| match callee {
                Callee::Helper(id) => parameter_written(helpers.get(id.index()), i),
                Callee::Native(_) => true,
                Callee::Own(_) => false,
            });
            changes.push((f, writes));
        }
        changes
    });
    globals.helpers = helpers;
}

fn parameter_written(f: Option<&Function>, i: usize) -> bool {
    f.and_then(|f| f.locals.get(i)).is_none_or(|l| l.by_ref && l.written)
}

/// Starts with nothing written and adds what is found until nothing changes.
fn fixpoint(functions: &mut [Function], step: impl Fn(&[Function]) -> Vec<(usize, HashSet<LocalId>)>) {
    for f in functions.iter_mut() {
        f.locals.iter_mut().for_each(|l| l.written = false);
    }
    loop {
        let mut changed = false;
        for (f, writes) in step(functions) {
            for id in writes {
                if let Some(l) = functions[f].locals.get_mut(id.index()) {
                    changed |= !l.written;
                    l.written = true;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

/// Locals that a function assigns, or passes to be written.
fn written_locals(f: &Function, writes_parameter: &dyn Fn(Callee, usize) -> bool) -> HashSet<LocalId> {
    let mut out = HashSet::new();
    let mut found = |place: &Expr| {
        walk::roots(place, &mut |root| {
            if let ExprKind::Local(id) = root.kind {
                out.insert(id);
            }
        });
    };
    walk::writes(&f.body, &mut found);
    passed(&f.body, writes_parameter, &mut |arg| found(arg));
    out
}

/// Calls `f` for each argument that its callee writes.
fn passed<'a>(stmts: &'a [Stmt], writes_parameter: &dyn Fn(Callee, usize) -> bool, f: &mut dyn FnMut(&'a Expr)) {
    walk::expressions(stmts, &mut |e| {
        if let ExprKind::Call(callee, args) = &e.kind {
            for (i, a) in args.iter().enumerate() {
                if matches!(a.ty, Ty::Array(..)) && writes_parameter(*callee, i) {
                    f(a);
                }
            }
        }
    });
}

/// Does the callee write its parameter number `i`? (`written` must be filled in.)
fn writes_parameter(code: &FilterCode, globals: &Globals, callee: Callee, i: usize) -> bool {
    match callee {
        Callee::Own(id) => parameter_written(code.functions.get(id.index()), i),
        Callee::Helper(id) => parameter_written(globals.helpers.get(id.index()), i),
        Callee::Native(_) => true,
    }
}

/// An array that is passed to a parameter which the callee writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The field it is (a part of); `None` for a static.
    pub field: Option<FieldId>,
    /// The argument's place.
    pub span: Span,
    /// The parameter's place.
    pub parameter: Span,
}

/// Fields and statics that are passed to be written, in the filter's functions and the helpers they use (natives aside).
pub fn passed_to_be_written(code: &FilterCode, globals: &Globals) -> Vec<Passed> {
    let mut out = Vec::new();
    let mut look = |body: &[Stmt]| {
        walk::expressions(body, &mut |e| {
            let ExprKind::Call(callee, args) = &e.kind else { return };
            let parameters = function(code, globals, *callee).map_or(&[][..], |f| &f.locals);
            for (a, l) in args.iter().zip(parameters).filter(|(_, l)| l.by_ref && l.written) {
                walk::roots(a, &mut |root| {
                    let field = match root.kind {
                        ExprKind::Field(id) => Some(id),
                        ExprKind::Static(_) => None,
                        _ => return,
                    };
                    out.push(Passed { field, span: a.span, parameter: l.span });
                });
            }
        });
    };
    code.functions.iter().for_each(|f| look(&f.body));
    for callee in reachable(code, globals, &(0..code.functions.len()).map(FnId::from).collect::<Vec<_>>()) {
        if let Callee::Helper(id) = callee
            && let Some(f) = globals.helpers.get(id.index())
        {
            look(&f.body);
        }
    }
    out
}

/// Statics that are passed to a parameter that the callee writes: the argument's place, and the parameter's. (Which fields are
/// parameters of the stream only the checker knows: see [`passed_to_be_written`].)
pub fn constants_written(code: &FilterCode, globals: &Globals) -> Vec<(Span, Span)> {
    let all = passed_to_be_written(code, globals);
    all.into_iter().filter(|p| p.field.is_none()).map(|p| (p.span, p.parameter)).collect()
}

/// Fills in the members of a filter that say what its firings do: `stateful`, `prints`, `uses_iter`, `sends`, `calls_native`, each
/// field's `constant`, and `written` of the locals.
pub fn analyse(code: &mut FilterCode, globals: &Globals) {
    let mut functions = std::mem::take(&mut code.functions);
    fixpoint(&mut functions, |functions| {
        let writes = |callee: Callee, i: usize| match callee {
            Callee::Own(id) => parameter_written(functions.get(id.index()), i),
            Callee::Helper(id) => parameter_written(globals.helpers.get(id.index()), i),
            Callee::Native(_) => true,
        };
        functions.iter().enumerate().map(|(i, f)| (i, written_locals(f, &writes))).collect()
    });
    code.functions = functions;
    let entries = entries(code);
    let reached = reachable(code, globals, &entries);
    activities(code, globals, &reached);
    let written = written_fields(code, globals, &reached);
    let changed: HashSet<FieldId> = written.iter().map(|(id, _)| *id).collect();
    for (i, f) in code.fields.iter_mut().enumerate() {
        f.constant = !changed.contains(&FieldId::from(i));
    }
    let exposed = Exposure::of(code, globals, &entries);
    let state = written.iter().find(|(id, _)| exposed.contains(id)).map(|(_, span)| *span);
    code.stateful = state.or(code.calls_native);
}

/// Fields that firings write, and read only after they have written them, on every way: nothing goes from one firing to the next in
/// them. Scalars only.
pub fn private_fields(code: &FilterCode, globals: &Globals) -> BTreeSet<FieldId> {
    let entries = entries(code);
    let reached = reachable(code, globals, &entries);
    let written: BTreeSet<FieldId> = written_fields(code, globals, &reached).into_iter().map(|(id, _)| id).collect();
    let exposed = Exposure::of(code, globals, &entries);
    let scalar = |id: &FieldId| !code.fields[id.index()].ty.is_aggregate();
    written.into_iter().filter(|id| scalar(id) && !exposed.contains(id)).collect()
}

/// `work`, `prework`, handlers.
pub(super) fn entries(code: &FilterCode) -> Vec<FnId> {
    let mut all = vec![code.work.function];
    all.extend(code.prework.iter().map(|p| p.function));
    all.extend(code.handlers.iter().map(|h| h.function));
    all
}

/// What some functions call, directly or not, and themselves; in the order found.
pub(super) fn reachable(code: &FilterCode, globals: &Globals, from: &[FnId]) -> Vec<Callee> {
    let mut out: Vec<Callee> = from.iter().map(|id| Callee::Own(*id)).collect();
    let mut seen: HashSet<Callee> = out.iter().copied().collect();
    let mut next = 0;
    while let Some(callee) = out.get(next).copied() {
        next += 1;
        let Some(f) = function(code, globals, callee) else { continue };
        walk::expressions(&f.body, &mut |e| {
            if let ExprKind::Call(c, _) = &e.kind
                && seen.insert(*c)
            {
                out.push(*c);
            }
        });
    }
    out
}

/// The body behind a callee; a native has none.
pub(super) fn function<'a>(code: &'a FilterCode, globals: &'a Globals, callee: Callee) -> Option<&'a Function> {
    match callee {
        Callee::Own(id) => code.functions.get(id.index()),
        Callee::Helper(id) => globals.helpers.get(id.index()),
        Callee::Native(_) => None,
    }
}

fn activities(code: &mut FilterCode, globals: &Globals, reached: &[Callee]) {
    let (mut prints, mut iter, mut sends, mut native) = (false, false, None, None);
    for callee in reached {
        let Some(f) = function(code, globals, *callee) else { continue };
        walk::statements(&f.body, &mut |s| match &s.kind {
            StmtKind::Print { .. } => prints = true,
            StmtKind::Send(_) => sends = sends.or(Some(s.span)),
            _ => {}
        });
        walk::expressions(&f.body, &mut |e| match &e.kind {
            ExprKind::Iter => iter = true,
            ExprKind::Call(Callee::Native(_), _) => native = native.or(Some(e.span)),
            _ => {}
        });
    }
    code.prints = prints;
    code.uses_iter = iter;
    code.sends = sends;
    code.calls_native = native;
}

/// Fields written by some functions, with the places, in order.
fn written_fields(code: &FilterCode, globals: &Globals, reached: &[Callee]) -> Vec<(FieldId, Span)> {
    let mut out = Vec::new();
    for callee in reached {
        let Some(f) = function(code, globals, *callee) else { continue };
        let mut found = |place: &Expr| {
            walk::roots(place, &mut |root| {
                if let ExprKind::Field(id) = root.kind {
                    out.push((id, place.span));
                }
            });
        };
        walk::writes(&f.body, &mut found);
        passed(&f.body, &|c, i| writes_parameter(code, globals, c, i), &mut |a| found(a));
    }
    out
}

/// What a function does with fields: the ones it may read before it has assigned them, and the ones it certainly assigns.
#[derive(Clone, Default)]
struct Summary {
    exposed: BTreeSet<FieldId>,
    assigned: BTreeSet<FieldId>,
}

/// Fields assigned for certain at a point; `None` where execution cannot be.
type Assigned = Option<BTreeSet<FieldId>>;

/// Finds the fields that firings can read before assigning them.
struct Exposure<'a> {
    code: &'a FilterCode,
    globals: &'a Globals,
    done: HashMap<FnId, Option<Summary>>,
    exposed: BTreeSet<FieldId>,
    returned: Option<Assigned>,
}

impl<'a> Exposure<'a> {
    fn of(code: &'a FilterCode, globals: &'a Globals, entries: &[FnId]) -> BTreeSet<FieldId> {
        let mut e = Exposure { code, globals, done: HashMap::new(), exposed: BTreeSet::new(), returned: None };
        let mut all = BTreeSet::new();
        for id in entries {
            all.extend(e.summary(*id).exposed);
        }
        all
    }

    fn summary(&mut self, id: FnId) -> Summary {
        match self.done.get(&id) {
            Some(Some(s)) => return s.clone(),
            // in a recursion: all that the functions below read
            Some(None) => return Summary { exposed: self.all_reads(id), assigned: BTreeSet::new() },
            None => {}
        }
        let code = self.code;
        let Some(f) = code.functions.get(id.index()) else { return Summary::default() };
        self.done.insert(id, None);
        let exposed = std::mem::take(&mut self.exposed);
        let returned = self.returned.take();
        let end = self.stmts(&f.body, Some(BTreeSet::new()));
        let at_return = self.returned.take().flatten();
        let assigned = meet(end, at_return).unwrap_or_default();
        let summary = Summary { exposed: std::mem::replace(&mut self.exposed, exposed), assigned };
        self.returned = returned;
        self.done.insert(id, Some(summary.clone()));
        summary
    }

    fn all_reads(&self, id: FnId) -> BTreeSet<FieldId> {
        let mut out = BTreeSet::new();
        for callee in reachable(self.code, self.globals, &[id]) {
            if let Some(f) = function(self.code, self.globals, callee) {
                walk::expressions(&f.body, &mut |e| {
                    if let ExprKind::Field(id) = e.kind {
                        out.insert(id);
                    }
                });
            }
        }
        out
    }

    fn stmts(&mut self, stmts: &[Stmt], mut at: Assigned) -> Assigned {
        for s in stmts {
            at.as_ref()?;
            at = self.stmt(s, at);
        }
        at
    }

    fn stmt(&mut self, s: &Stmt, mut at: Assigned) -> Assigned {
        match &s.kind {
            StmtKind::Let { init, dims, .. } => self.exprs(dims.iter().chain(init), &mut at),
            StmtKind::Assign { place, value } => {
                self.place(place, &mut at);
                self.expr(value, &mut at);
                self.assign(place, &mut at);
            }
            StmtKind::AssignOp { place, value, .. } => {
                self.expr(place, &mut at);
                self.expr(value, &mut at);
                self.assign(place, &mut at);
            }
            StmtKind::Expr(e) | StmtKind::Push(e) | StmtKind::Print { value: e, .. } => self.expr(e, &mut at),
            StmtKind::If { cond, then, els } => {
                self.expr(cond, &mut at);
                let a = self.stmts(then, at.clone());
                let b = self.stmts(els, at);
                return meet(a, b);
            }
            StmtKind::For { init, cond, step, body } => {
                at = self.stmts(init, at);
                self.exprs(cond, &mut at);
                let end = self.stmts(body, at.clone());
                // a `continue` leads to the step from anywhere
                let before_step = if leaves(body) { at.clone() } else { end };
                self.stmts(step, before_step);
            }
            StmtKind::While { cond, body } => {
                self.expr(cond, &mut at);
                self.stmts(body, at.clone());
            }
            StmtKind::DoWhile { body, cond } => {
                let before = at.clone();
                let end = self.stmts(body, at);
                at = if leaves(body) { before } else { end };
                self.expr(cond, &mut at);
            }
            StmtKind::Switch { value, cases } => {
                self.expr(value, &mut at);
                for c in cases {
                    self.stmts(&c.body, at.clone());
                }
            }
            StmtKind::Break | StmtKind::Continue => return None,
            StmtKind::Return(e) => {
                self.exprs(e, &mut at);
                let so_far = self.returned.take();
                self.returned = Some(match so_far {
                    None => at,
                    Some(other) => meet(other, at),
                });
                return None;
            }
            StmtKind::Block(body) => return self.stmts(body, at),
            StmtKind::Send(_) => self.exprs(walk::operands(s), &mut at),
            StmtKind::Stream(_) => {}
        }
        at
    }

    fn exprs<'e>(&mut self, es: impl IntoIterator<Item = &'e Expr>, at: &mut Assigned) {
        es.into_iter().for_each(|e| self.expr(e, at));
    }

    /// The expressions inside a place that is about to be assigned.
    fn place(&mut self, e: &Expr, at: &mut Assigned) {
        match &e.kind {
            ExprKind::Index(base, index) => {
                self.place(base, at);
                self.expr(index, at);
            }
            ExprKind::Member(base, _) | ExprKind::Component(base, _) => self.place(base, at),
            _ => {}
        }
    }

    fn assign(&mut self, place: &Expr, at: &mut Assigned) {
        if let ExprKind::Field(id) = place.kind
            && !place.ty.is_aggregate()
            && let Some(at) = at
        {
            at.insert(id);
        }
    }

    fn read(&mut self, id: FieldId, at: &Assigned) {
        if at.as_ref().is_some_and(|a| !a.contains(&id)) {
            self.exposed.insert(id);
        }
    }

    fn expr(&mut self, e: &Expr, at: &mut Assigned) {
        match &e.kind {
            ExprKind::Field(id) => self.read(*id, at),
            ExprKind::IncDec { place, .. } => {
                self.expr(place, at);
                self.assign(place, at);
            }
            // the right side may not be evaluated
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                self.expr(a, at);
                self.expr(b, &mut at.clone());
            }
            ExprKind::Ternary(c, a, b) => {
                self.expr(c, at);
                self.expr(a, &mut at.clone());
                self.expr(b, &mut at.clone());
            }
            ExprKind::Call(callee, args) => {
                self.exprs(args, at);
                if let Callee::Own(id) = callee {
                    let s = self.summary(*id);
                    s.exposed.into_iter().for_each(|f| self.read(f, at));
                    if let Some(at) = at {
                        at.extend(s.assigned);
                    }
                }
            }
            _ => self.exprs(walk::children(e), at),
        }
    }
}

/// What is assigned on both of two ways.
fn meet(a: Assigned, b: Assigned) -> Assigned {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
        (a, b) => a.or(b),
    }
}

/// Can `break`, `continue` or `return` cut these statements short?
fn leaves(stmts: &[Stmt]) -> bool {
    let mut found = false;
    walk::statements(stmts, &mut |s| {
        found |= matches!(s.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Return(_));
    });
    found
}
