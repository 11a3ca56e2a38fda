//! Makes a failing program smaller: parts of its tree are taken out as long as it still fails.
//!
//! A candidate is the text printed from the changed tree, so that no candidate depends on layout. What no longer makes sense is
//! refused by the compiler, which is another failure, and the part stays.

mod names;

use crate::generate::Case;
use sluice_grammar::ast::*;
use sluice_grammar::span::FileId;
use std::sync::Arc;

/// The smallest case found with so many tries that still fails.
pub fn shrink(case: &Case, tries: u32, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut left = tries;
    let mut try_one = |candidate: Case, best: &mut Case, left: &mut u32| {
        if *left == 0 || candidate == *best {
            return false;
        }
        *left -= 1;
        let better = fails(&candidate);
        if better {
            *best = candidate;
        }
        better
    };
    loop {
        let before = best.clone();
        let mut at = 0;
        while let Some(smaller) = smaller_runs(&best).into_iter().nth(at) {
            if !try_one(smaller, &mut best, &mut left) {
                at += 1;
            }
        }
        // large pieces first, then smaller ones, then single places
        for level in [Level::Names, Level::Items, Level::Statements, Level::Expressions] {
            let mut at = 0;
            loop {
                let (tree, diagnostics) = sluice_grammar::parse(FileId(0), &best.source);
                if !diagnostics.is_empty() {
                    break;
                }
                let Some(changed) = without(&tree, level, at) else { break };
                let candidate = Case { source: sluice_grammar::print::print(&changed), ..best.clone() };
                if !try_one(candidate, &mut best, &mut left) {
                    at += 1;
                }
            }
        }
        if best == before || left == 0 {
            return best;
        }
    }
}

/// The same program with less input, or fewer iterations.
fn smaller_runs(case: &Case) -> Vec<Case> {
    let mut out = Vec::new();
    if let Some(n) = case.iterations {
        out.extend([0, 1, n / 2].into_iter().filter(|m| *m < n).map(|m| Case { iterations: Some(m), ..case.clone() }));
    }
    if case.channel_limit.is_some() {
        out.push(Case { channel_limit: None, ..case.clone() });
    }
    if let Some(bytes) = &case.input {
        for n in [0, bytes.len() / 2, bytes.len() * 3 / 4, bytes.len().saturating_sub(4)] {
            if n < bytes.len() {
                out.push(Case { input: Some(bytes[..n].to_vec()), ..case.clone() });
            }
        }
        if bytes.iter().any(|b| *b != 0) {
            out.push(Case { input: Some(vec![0; bytes.len()]), ..case.clone() });
        }
    }
    out
}

/// What is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Portals, handlers and parameters, with all that names them.
    Names,
    /// Declarations and members of filters.
    Items,
    /// Statements.
    Statements,
    /// Expressions become one of their operands, or a number.
    Expressions,
}

/// The tree with the change number `at` of a level made; none where there are no more.
fn without(tree: &Program, level: Level, at: usize) -> Option<Program> {
    if level == Level::Names {
        return names::without(tree, at);
    }
    let mut tree = tree.clone();
    let mut cut = Cut { level, left: at, done: false };
    cut.program(&mut tree);
    cut.done.then_some(tree)
}

/// Makes the statements of a splitjoin or a loop those of a pipeline.
fn in_a_row(list: &mut Vec<Stmt>) {
    list.retain(|s| {
        !matches!(s.kind, StmtKind::Split(_) | StmtKind::Join(_) | StmtKind::Loop { .. } | StmtKind::Enqueue(_))
    });
    for s in list {
        if let StmtKind::Body { stream, portals } = &s.kind {
            s.kind = StmtKind::Add { stream: stream.clone(), portals: portals.clone() };
        }
    }
}

fn number(value: u64, at: At) -> Expr {
    Expr { kind: ExprKind::Int { value, hex: false, text: value.to_string().into() }, at }
}

/// A walk over a tree that makes one change.
struct Cut {
    level: Level,
    /// Places still to pass over.
    left: usize,
    done: bool,
}

impl Cut {
    /// Is this the place?
    fn here(&mut self, level: Level) -> bool {
        if self.done || self.level != level {
            return false;
        }
        if self.left == 0 {
            self.done = true;
            return true;
        }
        self.left -= 1;
        false
    }

    fn list<T>(&mut self, items: &mut Vec<T>, level: Level) {
        for i in 0..items.len() {
            if self.here(level) {
                items.remove(i);
                return;
            }
        }
    }

    fn program(&mut self, p: &mut Program) {
        self.list(&mut p.items, Level::Items);
        for item in &mut p.items {
            match item {
                Item::Stream(s) => self.stream(Arc::make_mut(s)),
                Item::Static(s) => {
                    self.list(&mut s.fields, Level::Items);
                    s.fields.iter_mut().for_each(|d| self.decl(d));
                    if s.init.is_some() && self.here(Level::Items) {
                        s.init = None;
                    }
                    s.init.iter_mut().for_each(|b| self.block(b));
                }
                Item::Helper(g) => {
                    self.list(&mut g.functions, Level::Items);
                    g.functions.iter_mut().for_each(|f| self.function(f));
                }
                Item::Struct(s) => self.list(&mut s.fields, Level::Items),
                Item::Import { .. } | Item::Native(_) => {}
            }
        }
    }

    fn stream(&mut self, s: &mut StreamDecl) {
        match &mut s.body {
            StreamBody::Filter(members) => {
                self.list(members, Level::Items);
                for m in members {
                    match m {
                        Member::Field(d) => self.decl(d),
                        Member::Init(b) => self.block(b),
                        Member::Prework(w) | Member::Work(w) => {
                            self.list(&mut w.rates, Level::Expressions);
                            w.rates.iter_mut().for_each(|r| self.rate(&mut r.rate));
                            self.block(&mut w.body);
                        }
                        Member::Function(f) | Member::Handler(f) => self.function(f),
                    }
                }
            }
            StreamBody::Composite(b) => {
                if s.kind != StreamKind::Pipeline && self.here(Level::Items) {
                    s.kind = StreamKind::Pipeline;
                    in_a_row(&mut b.stmts);
                }
                self.block(b);
            }
        }
    }

    /// A rate that firings decide on becomes one of its bounds, or `*`.
    fn rate(&mut self, rate: &mut Rate) {
        let simpler: Vec<Rate> = match rate {
            Rate::Static(_) => Vec::new(),
            Rate::Dynamic { min, avg, max } => {
                let fixed = [&*min, &*max, &*avg].into_iter().flatten().cloned().map(Rate::Static);
                let open = Rate::Dynamic { min: None, avg: None, max: None };
                // what was `*` may have had one item in every firing
                let one = (min.is_none() || max.is_none()).then(|| Rate::Static(number(1, At::default())));
                let plain = min.is_some() || avg.is_some() || max.is_some();
                fixed.chain(one).chain(plain.then_some(open)).collect()
            }
        };
        for r in simpler {
            if self.here(Level::Expressions) {
                *rate = r;
                return;
            }
        }
        match rate {
            Rate::Static(e) => self.expr(e),
            Rate::Dynamic { min, avg, max } => {
                if avg.is_some() && self.here(Level::Expressions) {
                    *avg = None;
                }
                [min, avg, max].into_iter().flatten().for_each(|e| self.expr(e));
            }
        }
    }

    /// The latency of a message: both bounds the same, or best effort.
    fn latency(&mut self, latency: &mut Latency) {
        if let Latency::Range(min, max) = latency {
            if self.here(Level::Expressions) {
                *latency = Latency::BestEffort;
            } else if min != max && self.here(Level::Expressions) {
                *min = max.clone();
            } else {
                self.expr(min);
                self.expr(max);
            }
        }
    }

    fn function(&mut self, f: &mut FnDecl) {
        f.body.iter_mut().for_each(|b| self.block(b));
    }

    fn decl(&mut self, d: &mut VarDecl) {
        for (_, value) in &mut d.vars {
            if value.is_some() && self.here(Level::Expressions) {
                *value = None;
            }
            value.iter_mut().for_each(|e| self.expr(e));
        }
    }

    fn block(&mut self, b: &mut Block) {
        self.statements(&mut b.stmts);
    }

    fn statements(&mut self, list: &mut Vec<Stmt>) {
        self.list(list, Level::Statements);
        for i in 0..list.len() {
            // a branch or loop becomes what is inside
            let inner: Vec<Stmt> = match &list[i].kind {
                StmtKind::If { then, els, .. } => std::iter::once(then).chain(els).map(|s| (**s).clone()).collect(),
                StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => {
                    vec![(**body).clone()]
                }
                StmtKind::Switch { cases, .. } => cases
                    .iter()
                    .map(|c| Stmt {
                        kind: StmtKind::Block(Block { stmts: c.body.clone(), ..Block::default() }),
                        at: list[i].at,
                    })
                    .collect(),
                StmtKind::Block(b) => b.stmts.clone(),
                StmtKind::Add { stream: StreamRef::Anonymous(s), .. } => match &s.body {
                    StreamBody::Composite(b) => b.stmts.clone(),
                    StreamBody::Filter(_) => Vec::new(),
                },
                _ => Vec::new(),
            };
            if matches!(list[i].kind, StmtKind::Block(_) | StmtKind::Add { .. }) {
                if !inner.is_empty() && self.here(Level::Statements) {
                    list.splice(i..=i, inner);
                    return;
                }
            } else {
                for s in inner {
                    if self.here(Level::Statements) {
                        list[i] = s;
                        return;
                    }
                }
            }
            self.statement(&mut list[i]);
        }
    }

    fn inside(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Block(b) => self.block(b),
            _ => self.statement(s),
        }
    }

    fn statement(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Block(b) => self.block(b),
            StmtKind::Decl(d) => self.decl(d),
            StmtKind::Assign { target, value, .. } => {
                self.parts(target);
                self.expr(value);
            }
            StmtKind::Expr(e) => self.parts(e),
            StmtKind::Push(e) | StmtKind::Enqueue(e) => self.expr(e),
            StmtKind::If { cond, then, els } => {
                self.expr(cond);
                self.inside(then);
                if els.is_some() && self.here(Level::Statements) {
                    *els = None;
                }
                els.iter_mut().for_each(|e| self.inside(e));
            }
            StmtKind::For { init, cond, step, body } => {
                init.iter_mut().chain(step).for_each(|s| self.statement(s));
                cond.iter_mut().for_each(|e| self.expr(e));
                self.inside(body);
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.expr(cond);
                self.inside(body);
            }
            StmtKind::Switch { value, cases } => {
                self.expr(value);
                self.list(cases, Level::Statements);
                cases.iter_mut().for_each(|c| self.statements(&mut c.body));
            }
            StmtKind::Return(e) => e.iter_mut().for_each(|e| self.expr(e)),
            StmtKind::Send { args, latency, .. } => {
                args.iter_mut().for_each(|e| self.expr(e));
                self.latency(latency);
            }
            StmtKind::Add { stream, portals }
            | StmtKind::Body { stream, portals }
            | StmtKind::Loop { stream, portals } => {
                self.list(portals, Level::Expressions);
                match stream {
                    StreamRef::Anonymous(s) => self.stream(Arc::make_mut(s)),
                    StreamRef::Named { args, .. } => args.iter_mut().for_each(|e| self.expr(e)),
                }
            }
            StmtKind::Split(SplitKind::RoundRobin(weights)) | StmtKind::Join(SplitKind::RoundRobin(weights)) => {
                self.list(weights, Level::Expressions);
                weights.iter_mut().for_each(|e| self.expr(e));
            }
            _ => {}
        }
    }

    /// Changes inside of an expression that itself must stay.
    fn parts(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Paren(a) | ExprKind::Member(a, _) | ExprKind::IncDec { target: a, .. } => self.parts(a),
            ExprKind::Index(a, i) => {
                self.parts(a);
                self.expr(i);
            }
            ExprKind::Call { args, .. } | ExprKind::ArrayLit(args) => args.iter_mut().for_each(|e| self.expr(e)),
            ExprKind::Peek(a) | ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => self.expr(a),
            ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|e| self.expr(e)),
            _ => {}
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        if self.done || self.level != Level::Expressions {
            return;
        }
        let mut simpler: Vec<Expr> = match &e.kind {
            ExprKind::Paren(a) | ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => vec![(**a).clone()],
            ExprKind::Binary(_, a, b) => vec![(**a).clone(), (**b).clone()],
            ExprKind::Ternary(a, b, c) => vec![(**b).clone(), (**c).clone(), (**a).clone()],
            ExprKind::Call { args, .. } => args.clone(),
            _ => Vec::new(),
        };
        if !matches!(e.kind, ExprKind::Int { .. } | ExprKind::Bool(_) | ExprKind::Str { .. }) {
            simpler.extend([0, 1].map(|value| number(value, e.at)));
            simpler.push(Expr { kind: ExprKind::Bool(true), at: e.at });
        }
        for s in simpler {
            if self.here(Level::Expressions) {
                *e = s;
                return;
            }
        }
        self.parts(e);
    }
}

#[cfg(test)]
mod tests;
