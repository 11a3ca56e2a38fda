//! Firings as they are gone through, one after the other, with what variables and fields hold.

use super::values::{Elements, Made, Value, is_cheap};
use crate::ir::*;
use crate::passes::clean::holds_at;
use crate::passes::flow::{Flow, Nest};
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ops::{self, Scalar};
use std::collections::HashMap;

/// Where an expression or statement is, for as long as nothing is moved.
pub type Site = usize;

/// The site of an expression or statement.
pub fn site<T>(of: &T) -> Site {
    std::ptr::from_ref(of) as usize
}

/// What a read of a field gave, each time it was come to.
#[derive(Default)]
pub struct Seen {
    /// The variables of the loops around it.
    pub turns: Vec<LocalId>,
    /// Their values, one time after the other.
    pub at: Vec<i32>,
    /// What was read, by the firing of which number.
    pub values: Vec<(Value, u32)>,
}

/// What is known at a point of a firing.
#[derive(Clone)]
pub struct At {
    locals: Vec<Value>,
    /// By element of the fields.
    pub fields: Vec<Value>,
}

impl At {
    fn meet(mut self, other: &At) -> At {
        let (a, b) = (self.locals.iter_mut().chain(&mut self.fields), other.locals.iter().chain(&other.fields));
        for (a, b) in a.zip(b) {
            if *a != *b {
                *a = Value::Unknown;
            }
        }
        self
    }
}

/// By local: does what it holds come to a field?
fn kept(f: &Function) -> Vec<bool> {
    let mut kept = vec![false; f.locals.len()];
    loop {
        let mut more = false;
        walk::each_stmt(&f.body, &mut |s| {
            let StmtKind::Assign(p, e) = &s.kind else { return };
            let goes = match &p.base {
                Base::State(_) => true,
                Base::Local(id) => kept[id.index()],
                _ => false,
            };
            e.walk(&mut |e| {
                if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind
                    && goes
                {
                    more |= !std::mem::replace(&mut kept[id.index()], true);
                }
            });
        });
        if !more {
            return kept;
        }
    }
}

/// Firings as they are gone through.
pub struct Firings<'a> {
    kernel: &'a Kernel,
    function: &'a Function,
    elements: &'a Elements,
    /// By element: does it count, so that its value is known in every firing?
    counts: &'a [bool],
    /// Reads of fields that do not count.
    pub reads: HashMap<Site, Seen>,
    /// Checks that were come to: did they hold each time?
    pub checks: HashMap<Site, bool>,
    /// What is made of items.
    pub made: Vec<Made>,
    /// Something that no firing may do, or too many steps.
    pub failed: bool,
    /// By local: does its value come to a field?
    kept: Vec<bool>,
    steps: u64,
    most: u64,
    number: u32,
    turns: Vec<LocalId>,
    nest: Vec<Nest<At>>,
}

impl<'a> Firings<'a> {
    /// Those of `work`, of so many steps.
    pub fn of(kernel: &'a Kernel, elements: &'a Elements, counts: &'a [bool], most: u64) -> Firings<'a> {
        let function = kernel.function(kernel.work.function);
        Firings {
            kernel,
            function,
            kept: kept(function),
            elements,
            counts,
            reads: HashMap::new(),
            checks: HashMap::new(),
            made: Vec::new(),
            failed: false,
            steps: 0,
            most,
            number: 0,
            turns: Vec::new(),
            nest: Vec::new(),
        }
    }

    /// Goes through the next firing; what fields hold after it.
    pub fn fire(&mut self, fields: Vec<Value>) -> Option<Vec<Value>> {
        let start = At { locals: vec![Value::Unknown; self.function.locals.len()], fields };
        // what returns leaves the firing, too
        let body = &self.function.body;
        let (end, nest) = self.inside(body, start);
        self.number += 1;
        Self::meet(end, nest.left).map(|at| at.fields).filter(|_| !self.failed)
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn go(&mut self, by: usize) {
        self.steps += by as u64;
        self.failed |= self.steps > self.most;
    }

    fn write(&mut self, p: &Place, value: Value, at: &mut At) {
        match &p.base {
            Base::State(id) => match self.element(*id, &p.path, at) {
                Some((element, [])) => at.fields[element] = value,
                Some((element, _)) => at.fields[element] = Value::Unknown,
                None => {
                    let all = self.elements.of_field(*id);
                    self.go(all.len() / 8);
                    at.fields[all].fill(Value::Unknown);
                }
            },
            base => {
                p.each_expr(&mut |e| _ = self.value(e, at));
                if let Base::Local(id) = base {
                    let whole = p.path.is_empty() && !self.function.locals[id.index()].ty.is_aggregate();
                    at.locals[id.index()] = if whole { value } else { Value::Unknown };
                }
            }
        }
    }

    /// The element that a path leads to, and what of the path is behind it; `None` where an index is not known, or it is no single element.
    fn element<'p>(&mut self, id: StateId, path: &'p [Proj], at: &At) -> Option<(usize, &'p [Proj])> {
        let depth = self.elements.depth(id);
        let mut indices = Vec::with_capacity(depth);
        for step in path {
            if let Proj::Index(e) = step
                && let Value::Int(i) = self.value(e, at)
            {
                indices.push(i);
            }
        }
        Some((self.elements.at(id, &indices)?, path.get(depth..)?))
    }

    /// Goes through an expression; what it gives.
    fn value(&mut self, e: &Expr, at: &At) -> Value {
        self.go(1);
        if self.failed {
            return Value::Unknown;
        }
        match &e.kind {
            ExprKind::Const(c) => Value::of(Scalar::of(c)),
            ExprKind::Zero => Value::of(Scalar::zero(&e.ty)),
            ExprKind::Load(p) => self.load(e, p, at),
            ExprKind::Unary(op, a) => Value::of(self.value(a, at).known().and_then(|a| ops::scalar_unary(*op, a))),
            ExprKind::Binary(op, a, b) => {
                let a = self.value(a, at);
                match (op, a) {
                    // the right side is not evaluated
                    (BinaryOp::And, Value::Bool(false)) | (BinaryOp::Or, Value::Bool(true)) => a,
                    _ => {
                        let (a, b) = (a.known(), self.value(b, at).known());
                        let both = a.zip(b).and_then(|(a, b)| ops::scalar_binary(*op, a, b).ok().flatten());
                        Value::of(both)
                    }
                }
            }
            ExprKind::Select(c, a, b) => match self.value(c, at) {
                Value::Bool(yes) => self.value(if yes { a } else { b }, at),
                _ => {
                    let (a, b) = (self.value(a, at), self.value(b, at));
                    if a == b { a } else { Value::Unknown }
                }
            },
            ExprKind::Convert(a) => {
                let of = self.value(a, at);
                if a.ty == e.ty {
                    return of;
                }
                Value::of(of.known().and_then(|a| ops::scalar_convert(a, &e.ty)))
            }
            ExprKind::Builtin(f, args) => {
                let args: Vec<Value> = args.iter().map(|a| self.value(a, at)).collect();
                let args: Option<Vec<Const>> = args.into_iter().map(|a| Some(a.known()?.into_const())).collect();
                Value::of(args.and_then(|a| ops::builtin(*f, &a)).and_then(|c| Scalar::of(&c)))
            }
            ExprKind::Compose(_) | ExprKind::Component(..) | ExprKind::Any(_) => {
                e.each_operand(&mut |e| _ = self.value(e, at));
                Value::Unknown
            }
            ExprKind::Iter => Value::Unknown,
        }
    }

    fn load(&mut self, e: &Expr, p: &Place, at: &At) -> Value {
        match &p.base {
            Base::State(id) => {
                let found = self.element(*id, &p.path, at);
                let value = found.map_or(Value::Unknown, |(element, _)| at.fields[element]);
                if !found.is_some_and(|(element, _)| self.counts[element]) {
                    self.see(e, value, at);
                }
                if found.is_some_and(|(_, rest)| rest.is_empty()) { value } else { Value::Unknown }
            }
            Base::Local(id) if p.path.is_empty() => at.locals[id.index()],
            Base::Table(id) => {
                let path: Vec<Option<i32>> = p
                    .path
                    .iter()
                    .map(|step| match step {
                        Proj::Index(e) => match self.value(e, at) {
                            Value::Int(i) => Some(i),
                            _ => None,
                        },
                        _ => None,
                    })
                    .collect();
                Value::of(self.table(*id, &path))
            }
            Base::In(position) => {
                let position = self.value(position, at);
                p.path.iter().for_each(|step| {
                    if let Proj::Index(e) = step {
                        self.value(e, at);
                    }
                });
                match position {
                    Value::Int(i) if p.path.is_empty() => Value::Item(self.first() + i64::from(i)),
                    _ => Value::Unknown,
                }
            }
            _ => {
                p.each_expr(&mut |e| _ = self.value(e, at));
                Value::Unknown
            }
        }
    }

    /// The position of this firing's first item in the period.
    fn first(&self) -> i64 {
        i64::from(self.number) * i64::from(self.kernel.work.rates.pop)
    }

    /// An element of a table.
    fn table(&self, id: TableId, indices: &[Option<i32>]) -> Option<Scalar> {
        let mut value = self.kernel.tables[id.index()].known()?;
        for i in indices {
            let Const::Array(all) = value else { return None };
            value = all.get(usize::try_from((*i)?).ok()?)?;
        }
        Scalar::of(value)
    }

    /// A read of a field is come to.
    fn see(&mut self, e: &Expr, value: Value, at: &At) {
        let seen = self.reads.entry(site(e)).or_default();
        if seen.values.is_empty() {
            seen.turns.clone_from(&self.turns);
        }
        // elsewhere fewer of the loops around may have been known
        self.failed |= seen.turns != self.turns;
        for var in &self.turns {
            match at.locals[var.index()] {
                Value::Int(i) => seen.at.push(i),
                _ => self.failed = true,
            }
        }
        seen.values.push((value, self.number));
    }

    /// What an expression makes of items, where it does so cheaply.
    fn made(&mut self, e: &Expr, at: &At) -> Value {
        let mut items = Vec::new();
        let Some(form) = self.form(e, at, &mut items) else { return Value::Unknown };
        let made = Made { form, items };
        if !made.is_small() {
            return Value::Unknown;
        }
        // the same expression of the same items is the same value
        let found = self.made.iter().rposition(|m| *m == made).unwrap_or_else(|| {
            self.made.push(made);
            self.made.len() - 1
        });
        Value::Made(found as u32)
    }

    fn form(&mut self, e: &Expr, at: &At, items: &mut Vec<i64>) -> Option<Expr> {
        self.go(1);
        let mut leaf = |position: i64, path: &[Proj]| {
            let k = items.iter().position(|i| *i == position).unwrap_or_else(|| {
                items.push(position);
                items.len() - 1
            });
            let base = Base::In(Box::new(Expr::int(k as i32)));
            Expr::load(Place { base, path: path.to_vec() }, e.ty.clone())
        };
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero => Some(e.clone()),
            ExprKind::Load(Place { base: Base::In(position), path }) => match (self.value(position, at), &path[..]) {
                (Value::Int(i), [] | [Proj::Component(_)]) => Some(leaf(self.first() + i64::from(i), path)),
                _ => None,
            },
            ExprKind::Load(p @ Place { base: Base::Local(id), .. }) if p.path.is_empty() => match at.locals[id.index()]
            {
                Value::Item(i) => Some(leaf(i, &[])),
                Value::Made(m) => {
                    let Made { mut form, items: own } = self.made[m as usize].clone();
                    let of = form.ty.clone();
                    form.walk_mut(&mut |e| {
                        if let ExprKind::Load(Place { base: Base::In(k), .. }) = &mut e.kind
                            && let Some(i) = k.as_int().and_then(|k| own.get(k as usize))
                        {
                            let at = items.iter().position(|j| j == i).unwrap_or_else(|| {
                                items.push(*i);
                                items.len() - 1
                            });
                            **k = Expr::int(at as i32);
                        }
                    });
                    (of == e.ty).then_some(form)
                }
                other => other.known().map(|s| Expr { kind: ExprKind::Const(s.into_const()), ty: e.ty.clone() }),
            },
            kind if is_cheap(kind) => {
                let (mut out, mut whole) = (e.clone(), true);
                let mut operands = Vec::new();
                e.each_operand(&mut |a| operands.push(a));
                let mut forms: Vec<Option<Expr>> = operands.into_iter().map(|a| self.form(a, at, items)).collect();
                forms.reverse();
                out.each_operand_mut(&mut |a| match forms.pop().flatten() {
                    Some(form) => *a = form,
                    None => whole = false,
                });
                (whole && out.size() <= 64).then_some(out)
            }
            _ => None,
        }
    }
}

impl Flow for Firings<'_> {
    type At = At;

    fn nest(&mut self) -> &mut Vec<Nest<At>> {
        &mut self.nest
    }

    fn step(&mut self) -> Option<()> {
        self.go(1);
        (!self.failed).then_some(())
    }

    fn copy(&mut self, at: &At) -> At {
        self.go((at.locals.len() + at.fields.len()) / 8);
        at.clone()
    }

    fn common(one: At, other: &At) -> At {
        one.meet(other)
    }

    fn truth(&mut self, e: &Expr, at: &At) -> Option<bool> {
        match self.value(e, at) {
            Value::Bool(known) => Some(known),
            _ => None,
        }
    }

    fn bound(&mut self, e: &Expr, at: &At) -> Option<i32> {
        match self.value(e, at) {
            Value::Int(known) => Some(known),
            _ => None,
        }
    }

    fn set(&mut self, var: LocalId, value: Option<i32>, at: &mut At) {
        at.locals[var.index()] = value.map_or(Value::Unknown, Value::Int);
    }

    fn forget(&mut self, body: &[Stmt], at: &mut At) {
        walk::each_written(body, &mut |id| at.locals[id.index()] = Value::Unknown);
        let elements = self.elements;
        walk::each_stmt(body, &mut |s| {
            for p in s.kind.targets() {
                if let Base::State(id) = p.base {
                    at.fields[elements.of_field(id)].fill(Value::Unknown);
                }
            }
        });
        self.go(walk::count(body));
    }

    fn turn(&mut self, var: LocalId, begins: bool) {
        if begins {
            self.turns.push(var);
        } else {
            self.turns.pop();
        }
    }

    fn plain(&mut self, s: &Stmt, mut at: At) -> Option<At> {
        match &s.kind {
            StmtKind::Assign(p, e) => {
                let mut value = self.value(e, &at);
                let kept = match &p.base {
                    Base::State(_) => true,
                    Base::Local(id) => p.path.is_empty() && self.kept[id.index()],
                    _ => false,
                };
                if value == Value::Unknown && kept {
                    value = self.made(e, &at);
                }
                self.write(p, value, &mut at);
            }
            StmtKind::Check(c) => {
                let holds = match c.operand().map(|e| self.value(e, &at)) {
                    Some(Value::Int(v)) => holds_at(c, v),
                    _ => false,
                };
                *self.checks.entry(site(s)).or_insert(true) &= holds;
            }
            StmtKind::Return(None) => {
                if let Some(n) = self.nest.first_mut() {
                    n.left = Self::meet(n.left.take(), Some(at));
                }
                return None;
            }
            // what is seen, or done by others: not of filters that are to have no state
            _ => self.failed = true,
        }
        Some(at)
    }
}
