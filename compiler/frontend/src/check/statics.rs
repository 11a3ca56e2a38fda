//! # statics
//!
//! Purpose: statics get their values. Input: the `static` blocks of all files; output: a value for each static.
//!
//! Names are visible before they are declared, so what an initialiser needs is evaluated before it, wherever it stands: in `int A = B + 1; int B = 5;` A is 6. Needed is what it reads,
//! itself or by the helpers that it calls. Of a static of another block, what that block's `init` makes of it is needed, too. Apart from that the order is that of the text: the initialisers
//! of a block, then its `init`. A static that needs itself has no value, and that is an error (E0116).

use super::stmt::assigned_names;
use super::{Checker, Place};
use crate::analyses::walk;
use crate::constant::Const;
use crate::eval::{self, Spent};
use crate::ids::*;
use crate::memo::Mark;
use crate::ty::Ty;
use crate::typed::*;
use crate::world::World;
use sluice_grammar::ast;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;
use std::collections::{HashMap, HashSet};

/// Declares them: those that are `known` from an earlier round keep their values. Gives them as they are before anything is evaluated: what calls no function has its value, the others are zero.
pub fn declared(w: &mut World, known: bool) -> Vec<StaticVar> {
    let (mut fresh, mut names): (Vec<StaticVar>, HashMap<Name, StaticId>) = Default::default();
    for block in w.static_blocks.clone() {
        for d in &block.fields {
            let mut c = Checker::new(w, Place::Static, None, false);
            let ty = c.ty(&d.ty);
            if matches!(ty, Ty::Void | Ty::Portal(_)) {
                let t = c.show(&ty);
                c.error("E0208", format!("a static cannot be {t}"), d.ty.at.0, "not a value");
            }
            for (name, init) in &d.vars {
                if let Some(first) = names.get(&name.name) {
                    let first = fresh[first.index()].span;
                    let mut c = Checker::new(w, Place::Static, None, false);
                    c.declared_twice(&name.name, name.span(), first);
                    continue;
                }
                let zero = w.budget.zero(&w.globals, &ty);
                if zero.is_none() && !matches!(ty, Ty::Error | Ty::Void | Ty::Portal(_)) {
                    Checker::new(w, Place::Static, None, false).too_large(&ty, d.ty.at.0);
                }
                let value = zero.unwrap_or(Const::Int(0));
                let id = StaticId::from(fresh.len());
                fresh.push(StaticVar { name: name.name.clone(), ty: ty.clone(), value, span: name.span() });
                names.insert(name.name.clone(), id);
                if !known {
                    w.globals.statics.push(fresh[id.index()].clone());
                    w.statics.insert(name.name.clone(), id);
                } else if let Some(s) = w.globals.statics.get_mut(id.index()).filter(|s| s.ty != ty) {
                    *s = fresh[id.index()].clone();
                }
                // plain constants are needed by the sizes of later ones; those that call helpers are set again below
                if let Some(e) = init {
                    // with what has been declared, whatever is known besides
                    let mut swap = |w: &mut World| {
                        std::mem::swap(&mut w.globals.statics, &mut fresh);
                        std::mem::swap(&mut w.statics, &mut names);
                    };
                    swap(w);
                    set_if_simple(w, id, e, &ty);
                    swap(w);
                    if !known {
                        w.globals.statics[id.index()].value = fresh[id.index()].value.clone();
                    }
                }
            }
        }
    }
    fresh
}

/// Evaluates an initialiser that needs no function, without reporting: it is checked properly later.
fn set_if_simple(w: &mut World, id: StaticId, e: &ast::Expr, ty: &Ty) {
    w.quiet = true;
    // a helper that goes on for ever must not use up what others need, unheard
    let few = w.budget.at_most(FEW);
    let all = std::mem::replace(&mut w.budget, few);
    let mut c = Checker::new(w, Place::Static, None, false);
    let typed = c.expr_as(e, ty, "a static");
    let value = if c.errors == 0 { c.constant(&typed).ok().flatten() } else { None };
    w.budget = all;
    w.quiet = false;
    if let Some(v) = value {
        w.globals.statics[id.index()].value = v;
    }
}

/// What gives statics values.
enum Source {
    /// The initialiser of one.
    Initialiser { id: StaticId, value: ast::Expr, span: Span },
    /// The `init` of a block.
    Init(ast::Block),
}

/// How far it is.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Waits,
    Begun,
    Done,
}

struct Item {
    /// The number of its block.
    block: usize,
    source: Source,
    state: State,
}

/// All that is to be evaluated.
struct Order {
    items: Vec<Item>,
    /// The initialiser of each static that has one, and the number of its block.
    initialisers: HashMap<StaticId, usize>,
    blocks: HashMap<StaticId, usize>,
    /// By block: its `init`, and the statics that it sets.
    inits: HashMap<usize, (usize, HashSet<StaticId>)>,
    /// By helper: the statics that it reads, or those that it calls.
    helpers: Vec<HashSet<StaticId>>,
    /// By helper: is something wrong with the text of it, or of one that it calls?
    wrong: Vec<bool>,
    /// What has been begun, with the static that is needed of the next and where: a way on which one that comes twice needs itself.
    way: Vec<(usize, Option<(StaticId, Span)>)>,
}

/// Evaluates all of them. Gives what that takes, where nothing was to be said.
pub fn evaluated(w: &mut World) -> Option<Spent> {
    let before = Mark::of(w);
    if let Some(memo) = w.memo.clone()
        && memo.statics(w)
    {
        return before.quiet(w);
    }
    let mut order = Order::of(w);
    for i in 0..order.items.len() {
        order.evaluate(w, i);
    }
    before.quiet(w)
}

impl Order {
    fn of(w: &mut World) -> Order {
        let mut order = Order {
            items: Vec::new(),
            initialisers: HashMap::new(),
            blocks: HashMap::new(),
            inits: HashMap::new(),
            helpers: read_by_helpers(&w.globals.helpers),
            wrong: wrong_helpers(w),
            way: Vec::new(),
        };
        for (block, ast) in w.static_blocks.clone().iter().enumerate() {
            for (name, init) in ast.fields.iter().flat_map(|d| &d.vars) {
                let Some(id) = w.statics.get(&name.name).copied() else { continue };
                order.blocks.entry(id).or_insert(block);
                if let Some(value) = init {
                    order.initialisers.entry(id).or_insert(order.items.len());
                    let source = Source::Initialiser { id, value: value.clone(), span: name.span() };
                    order.items.push(Item { block, source, state: State::Waits });
                }
            }
            if let Some(init) = &ast.init {
                let names = assigned_names(&init.stmts);
                let set = names.iter().filter_map(|n| w.statics.get(n).copied()).collect();
                order.inits.insert(block, (order.items.len(), set));
                order.items.push(Item { block, source: Source::Init(init.clone()), state: State::Waits });
            }
        }
        order
    }

    /// Evaluates one, and what it needs before it.
    fn evaluate(&mut self, w: &mut World, i: usize) {
        if self.items[i].state != State::Waits {
            return;
        }
        self.items[i].state = State::Begun;
        self.way.push((i, None));
        if let Some(function) = self.checked(w, i)
            && self.needs_met(w, i, &function)
        {
            let wrong = self.is_wrong(w, i, &function);
            run(w, &function, wrong);
        }
        self.way.pop();
        self.items[i].state = State::Done;
    }

    /// The code of one; `None` where it has errors.
    fn checked(&self, w: &mut World, i: usize) -> Option<Function> {
        match &self.items[i].source {
            Source::Initialiser { id, value, span } => {
                let (name, ty) = w.globals.statics.get(id.index()).map(|s| (s.name.clone(), s.ty.clone()))?;
                let mut c = Checker::new(w, Place::Static, None, false);
                c.begin(Ty::Void, HashSet::new());
                let value = c.expr_as(value, &ty, &format!("`{name}`"));
                let place = Expr { kind: ExprKind::Static(*id), ty, span: *span };
                let body = vec![Stmt { kind: StmtKind::Assign { place, value }, span: *span }];
                (c.errors == 0).then(|| function("static", c.end(), body, *span))
            }
            Source::Init(init) => {
                let mut c = Checker::new(w, Place::Static, None, false);
                c.begin(Ty::Void, assigned_names(&init.stmts));
                let body = c.block(init);
                (c.errors == 0).then(|| function("init", c.end(), body, init.at.0))
            }
        }
    }

    /// Is something wrong with the text that an item stands for?
    fn is_wrong(&self, w: &World, i: usize, function: &Function) -> bool {
        let at = match &self.items[i].source {
            Source::Initialiser { value, .. } => value.at.0,
            Source::Init(init) => init.at.0,
        };
        calls(&function.body).iter().any(|f| self.wrong.get(f.index()) == Some(&true)) || has_errors(w, at)
    }

    /// Evaluates what an item needs; false, with an error, where that is the item itself.
    fn needs_met(&mut self, w: &mut World, i: usize, function: &Function) -> bool {
        let block = self.items[i].block;
        let is_init = matches!(self.items[i].source, Source::Init(_));
        let mut met = true;
        for (id, span) in self.read(function, is_init) {
            let own = self.blocks.get(&id) == Some(&block);
            let init =
                self.blocks.get(&id).and_then(|b| self.inits.get(b)).filter(|(_, set)| !own && set.contains(&id));
            for need in self.initialisers.get(&id).copied().into_iter().chain(init.map(|(i, _)| *i)).collect::<Vec<_>>()
            {
                if let Some(last) = self.way.last_mut() {
                    last.1 = Some((id, span));
                }
                let circle = self.way.iter().position(|(on, _)| *on == need);
                match circle {
                    // two blocks that take turns in setting statics: as they stand in the text
                    Some(at)
                        if self.way[at..].iter().all(|(on, _)| matches!(self.items[*on].source, Source::Init(_))) => {}
                    Some(at) => {
                        w.report(self.circular(w, at));
                        met = false;
                    }
                    None => self.evaluate(w, need),
                }
                if !met {
                    return false;
                }
            }
        }
        met
    }

    /// The statics that code reads, in the order of the text, each once, and where.
    fn read(&self, function: &Function, is_init: bool) -> Vec<(StaticId, Span)> {
        let (mut read, mut seen) = (Vec::new(), HashSet::new());
        // the place that an initialiser sets is not read
        let body: Vec<&Expr> = match &function.body[..] {
            [Stmt { kind: StmtKind::Assign { value, .. }, .. }] if !is_init => vec![value],
            _ => Vec::new(),
        };
        let mut note = |e: &Expr| match &e.kind {
            ExprKind::Static(id) => read.extend(seen.insert(*id).then_some((*id, e.span))),
            ExprKind::Call(Callee::Helper(f), _) => {
                let mut ids: Vec<StaticId> = self.helpers.get(f.index()).into_iter().flatten().copied().collect();
                ids.sort();
                read.extend(ids.into_iter().filter(|id| seen.insert(*id)).map(|id| (id, e.span)));
            }
            _ => {}
        };
        match is_init {
            true => walk::expressions(&function.body, &mut note),
            false => body.into_iter().for_each(|e| walk::expression(e, &mut note)),
        }
        read
    }

    /// A way that comes back to where it began.
    fn circular(&self, w: &World, at: usize) -> Diagnostic {
        let name = |id: StaticId| w.globals.statics.get(id.index()).map_or("?", |s| &*s.name);
        let what = |i: usize| match &self.items[i].source {
            Source::Initialiser { id, .. } => format!("`{}`", name(*id)),
            Source::Init(_) => "this `init`".to_string(),
        };
        let steps: Vec<(usize, StaticId, Span)> =
            self.way[at..].iter().filter_map(|(i, need)| need.map(|(id, span)| (*i, id, span))).collect();
        let label = |(i, id, _): &(usize, StaticId, Span)| match &self.items[*i].source {
            Source::Initialiser { id: own, .. } if own == id => format!("{} is computed from itself here", what(*i)),
            _ => format!("{} needs `{}` here", what(*i), name(*id)),
        };
        // the circle begins at a static, whichever way it was found
        let begin =
            steps.iter().position(|(i, ..)| matches!(self.items[*i].source, Source::Initialiser { .. })).unwrap_or(0);
        let mut circle = steps[begin..].iter().chain(&steps[..begin]);
        let first = circle.next();
        let title = first.map_or_else(String::new, |(i, ..)| format!("the value of {} depends on itself", what(*i)));
        let (span, text) = first.map_or_else(Default::default, |step| (step.2, label(step)));
        let mut d = Diagnostic::error("E0116", title, span, text);
        for step in circle.take(MOST_STEPS) {
            d = d.label(step.2, label(step));
        }
        d.help("give one of them a value that needs none of the others")
    }
}

/// Of a circle so many further places are shown.
const MOST_STEPS: usize = 7;

fn function(name: &str, locals: Vec<Local>, body: Vec<Stmt>, span: Span) -> Function {
    Function { name: name.into(), params: 0, locals, ret: Ty::Void, body, span }
}

/// Has an error been found within?
fn has_errors(w: &World, at: Span) -> bool {
    let within = |s: Span| s.file == at.file && at.start <= s.start && s.end <= at.end;
    w.diagnostics.iter().any(|d| d.is_error() && d.labels.first().is_some_and(|l| within(l.span)))
}

/// The helpers that code calls.
fn calls(body: &[Stmt]) -> Vec<HelperId> {
    let mut out = Vec::new();
    walk::expressions(body, &mut |e| {
        if let ExprKind::Call(Callee::Helper(f), _) = &e.kind {
            out.push(*f);
        }
    });
    out
}

/// By helper: is something wrong with its text, or with that of one that it calls?
fn wrong_helpers(w: &World) -> Vec<bool> {
    let helpers = &w.globals.helpers;
    let mut wrong = vec![false; helpers.len()];
    if !w.diagnostics.iter().any(Diagnostic::is_error) {
        return wrong;
    }
    for (known, (_, f)) in wrong.iter_mut().zip(&w.helper_asts) {
        *known = f.body.as_ref().is_some_and(|b| has_errors(w, b.at.0));
    }
    let calls: Vec<Vec<HelperId>> = helpers.iter().map(|f| calls(&f.body)).collect();
    loop {
        let more: Vec<usize> = (0..wrong.len())
            .filter(|i| !wrong[*i] && calls[*i].iter().any(|f| wrong.get(f.index()) == Some(&true)))
            .collect();
        if more.is_empty() {
            return wrong;
        }
        more.into_iter().for_each(|i| wrong[i] = true);
    }
}

/// By helper: the statics that it reads, itself or by those that it calls.
fn read_by_helpers(helpers: &[Function]) -> Vec<HashSet<StaticId>> {
    let mut read: Vec<HashSet<StaticId>> = vec![HashSet::new(); helpers.len()];
    let mut callers: Vec<HashSet<usize>> = vec![HashSet::new(); helpers.len()];
    for (i, f) in helpers.iter().enumerate() {
        walk::expressions(&f.body, &mut |e| match &e.kind {
            ExprKind::Static(id) => drop(read[i].insert(*id)),
            ExprKind::Call(Callee::Helper(callee), _) if callee.index() < helpers.len() => {
                callers[callee.index()].insert(i);
            }
            _ => {}
        });
    }
    let mut changed: Vec<usize> = (0..helpers.len()).filter(|i| !read[*i].is_empty()).collect();
    while let Some(i) = changed.pop() {
        for caller in callers[i].clone() {
            let before = read[caller].len();
            let more = read[i].clone();
            read[caller].extend(more);
            if read[caller].len() > before {
                changed.push(caller);
            }
        }
    }
    read
}

/// Steps of what stands for a text with errors, and of what is evaluated again.
const FEW: u64 = 1_000_000;

/// Evaluates code. `wrong`: its text has errors, and what is left of a loop without its condition may go on for ever. What it gives, if it soon does, is a good guess; that it fails
/// would be one more error for one mistake.
fn run(w: &mut World, function: &Function, wrong: bool) {
    let few = wrong.then(|| w.budget.at_most(FEW));
    match eval::run_static(&w.globals, function, few.as_ref().unwrap_or(&w.budget)) {
        Ok(values) => {
            for (id, v) in values {
                w.globals.statics[id.index()].value = v;
            }
        }
        Err(_) if wrong => {}
        Err(e) => {
            let d = super::filter::evaluation_failed(&e, "while static variables are set");
            w.report(d);
        }
    }
}
