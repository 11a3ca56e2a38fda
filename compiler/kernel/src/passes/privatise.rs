//! # privatise
//!
//! Purpose: fields in which nothing goes from one firing to the next become variables of the firing: a filter that keeps nothing else has no state any more.
//! Input: a kernel after `count-loops`, before `lower-channels`. Output: the same with fewer state fields.
//!
//! ```text
//! for $i = 0 < 8 step 1 { pop state0[$i] }                          for $i = 0 < 8 step 1 { pop $0[$i] }
//! for $i = 0 < 8 step 1 { push state0[(7 - $i)] }              →   for $i = 0 < 8 step 1 { push $0[(7 - $i)] }
//! ```
//!
//! A field is private when every firing, the first included, writes each part of it before it reads that part, on every way. What is written is found by going
//! through the firing as it would be executed: counted loops with known bounds turn by turn with what is known of ints, others once with nothing known of what they
//! write; where ways meet, what both have written is written. A read at an unknown index reads the whole array, a write there writes nothing for certain.
//! A field that handlers or functions that were not inlined name, that is passed on, or that is large, stays.
//!
//! Invariant: a part of a variable is assigned before it is read, as all variables are; nobody sees a filter's fields but its firings and handlers.

mod parts;

use crate::ir::*;
use crate::passes::flow::{Flow, Nest};
use crate::walk;
use parts::{Filled, Parts};
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ops::{self, Scalar};
use sluice_frontend::ty::Ty;

/// Scalars in all private fields of a filter: variables lie on the stack, those of lanes once for each.
const MOST_SCALARS: usize = 4096;

/// Statements, expressions and scalars that are looked at in a filter; where it has more, its fields stay.
const MOST_STEPS: u64 = 1 << 19;

/// Makes variables of the private fields.
pub fn run(kernel: &mut Kernel) {
    let private = private(kernel);
    if !private.contains(&true) {
        return;
    }
    for work in [Some(kernel.work), kernel.prework].into_iter().flatten() {
        let f = &mut kernel.functions[work.function.index()];
        let mut variables: Vec<Option<LocalId>> = vec![None; private.len()];
        let (state, locals) = (&kernel.state, &mut f.locals);
        walk::each_place_mut(&mut f.body, &mut |p| {
            if let Base::State(id) = p.base
                && private[id.index()]
            {
                let variable = *variables[id.index()].get_or_insert_with(|| {
                    let StateField { name, ty, .. } = &state[id.index()];
                    locals.push(Local { name: name.clone(), ty: ty.clone(), by_ref: false });
                    LocalId::from(locals.len() - 1)
                });
                p.base = Base::Local(variable);
            }
        });
        // a condition that becomes a selection reads what it keeps
        let scalars = variables.iter().flatten().filter(|id| !locals[id.index()].ty.is_aggregate());
        let zero =
            |id: &LocalId| StmtKind::Assign(Place::local(*id), Expr::zero(locals[id.index()].ty.clone())).at(f.span);
        let zeros: Vec<Stmt> = scalars.map(zero).collect();
        f.body.splice(0..0, zeros);
    }
    let mut left = 0;
    let places: Vec<Option<StateId>> = private
        .iter()
        .map(|gone| {
            left += usize::from(!gone);
            (!gone).then(|| StateId::from(left - 1))
        })
        .collect();
    for f in &mut kernel.functions {
        walk::each_place_mut(&mut f.body, &mut |p| {
            if let Base::State(id) = &mut p.base
                && let Some(place) = places[id.index()]
            {
                *id = place;
            }
        });
    }
    let mut gone = private.iter();
    kernel.state.retain(|_| !gone.next().is_some_and(|gone| *gone));
}

/// By field: is it private?
fn private(kernel: &Kernel) -> Vec<bool> {
    let parts = Parts::of(kernel, &candidates(kernel), MOST_SCALARS);
    if parts.total() == 0 {
        return vec![false; kernel.state.len()];
    }
    let mut exposed = vec![false; kernel.state.len()];
    let mut steps = 0;
    for work in [Some(kernel.work), kernel.prework].into_iter().flatten() {
        let f = kernel.function(work.function);
        let mut firing = Firing { kernel, locals: &f.locals, parts: &parts, exposed, steps, nest: Vec::new() };
        let start = At { known: vec![None; f.locals.len()], filled: Filled::nothing(parts.total()) };
        firing.body(&f.body, Some(start));
        (exposed, steps) = (firing.exposed, firing.steps);
        if steps > MOST_STEPS {
            return vec![false; kernel.state.len()];
        }
    }
    (0..kernel.state.len()).map(|i| parts.of_field(StateId::from(i)).is_some() && !exposed[i]).collect()
}

/// By field: do `work` and `prework` name it, and nothing else?
fn candidates(kernel: &Kernel) -> Vec<bool> {
    let mut out = vec![false; kernel.state.len()];
    let firing =
        |i: usize| kernel.work.function.index() == i || kernel.prework.is_some_and(|w| w.function.index() == i);
    let mut named = |body: &[Stmt], value: bool| {
        let mut base = |p: &Place| {
            if let Base::State(id) = p.base {
                out[id.index()] = value;
            }
        };
        walk::each_stmt(body, &mut |s| s.kind.targets().into_iter().for_each(&mut base));
        walk::each_expr(body, &mut |e| {
            if let ExprKind::Load(p) = &e.kind {
                base(p);
            }
        });
    };
    let functions = || kernel.functions.iter().enumerate();
    functions().filter(|(i, _)| firing(*i)).for_each(|(_, f)| named(&f.body, true));
    functions().filter(|(i, _)| !firing(*i)).for_each(|(_, f)| named(&f.body, false));
    out
}

/// What is known at a point of a firing.
#[derive(Clone)]
struct At {
    /// By local: its value, where it is an int or a boolean that is known.
    known: Vec<Option<Scalar>>,
    /// What has been written.
    filled: Filled,
}

impl At {
    /// What is known where two ways meet.
    fn meet(mut self, other: &At) -> At {
        for (a, b) in self.known.iter_mut().zip(&other.known) {
            *a = a.filter(|_| same(*a, *b));
        }
        self.filled.keep(&other.filled);
        self
    }
}

/// Are they the same known int or boolean?
fn same(a: Option<Scalar>, b: Option<Scalar>) -> bool {
    match (a, b) {
        (Some(Scalar::Int(a)), Some(Scalar::Int(b))) => a == b,
        (Some(Scalar::Bool(a)), Some(Scalar::Bool(b))) => a == b,
        _ => false,
    }
}

/// A firing as it is gone through.
struct Firing<'a> {
    kernel: &'a Kernel,
    locals: &'a [Local],
    parts: &'a Parts,
    /// By field: may a part of it be read that this firing has not written?
    exposed: Vec<bool>,
    steps: u64,
    nest: Vec<Nest<At>>,
}

impl Firing<'_> {
    /// A place gets a value.
    fn write(&mut self, p: &Place, value: Option<Scalar>, at: &mut At) {
        match &p.base {
            Base::State(id) => {
                if let Some(part) = self.part(*id, &p.path, at)
                    && part.exact
                {
                    at.filled.fill(part.scalars.clone());
                    self.steps += part.scalars.len() as u64 / 64;
                }
            }
            base => {
                self.indices(p, at);
                if let Base::Local(id) = base {
                    let whole = p.path.is_empty() && !self.locals[id.index()].by_ref;
                    at.known[id.index()] = value.filter(|_| whole);
                }
            }
        }
    }

    /// Somebody else may write a place, and read it.
    fn passed(&mut self, p: &Place, at: &mut At) {
        self.write(p, None, at);
        if let Base::State(id) = p.base {
            self.exposed[id.index()] = true;
        }
    }

    /// What the expressions in a place read.
    fn indices(&mut self, p: &Place, at: &At) {
        p.each_expr(&mut |e| self.read(e, at));
    }

    /// Which scalars of a field a path leads to; `None` where the field is no candidate, or an index leads out of an array (which a check before it has seen).
    fn part(&mut self, id: StateId, path: &[Proj], at: &At) -> Option<parts::Part> {
        let indices: Vec<Option<i32>> = path
            .iter()
            .map(|step| match step {
                Proj::Index(e) => match self.value(e, at) {
                    Some(Scalar::Int(i)) => Some(i),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        self.parts.part(self.kernel, id, path, &indices)
    }

    /// Goes through an expression.
    fn read(&mut self, e: &Expr, at: &At) {
        self.value(e, at);
    }

    /// Goes through an expression; its value, where it is an int or a boolean that is known.
    fn value(&mut self, e: &Expr, at: &At) -> Option<Scalar> {
        self.steps += 1;
        let known = match &e.kind {
            ExprKind::Const(c) => Scalar::of(c),
            ExprKind::Zero => Scalar::zero(&e.ty),
            ExprKind::Load(p) => self.load(p, at),
            ExprKind::Unary(op, a) => ops::scalar_unary(*op, self.value(a, at)?),
            ExprKind::Binary(op, a, b) => {
                let a = self.value(a, at);
                match (op, a) {
                    // the right side is not evaluated
                    (BinaryOp::And, Some(Scalar::Bool(false))) | (BinaryOp::Or, Some(Scalar::Bool(true))) => a,
                    _ => {
                        let b = self.value(b, at);
                        ops::scalar_binary(*op, a?, b?).ok().flatten()
                    }
                }
            }
            ExprKind::Select(c, a, b) => match self.value(c, at) {
                Some(Scalar::Bool(yes)) => self.value(if yes { a } else { b }, at),
                _ => {
                    let (a, b) = (self.value(a, at), self.value(b, at));
                    a.filter(|_| same(a, b))
                }
            },
            ExprKind::Convert(a) => ops::scalar_convert(self.value(a, at)?, &e.ty),
            ExprKind::Builtin(f, args) => {
                let args: Vec<Option<Scalar>> = args.iter().map(|a| self.value(a, at)).collect();
                let args: Option<Vec<Const>> = args.into_iter().map(|a| Some(a?.into_const())).collect();
                ops::builtin(*f, &args?).and_then(|c| Scalar::of(&c))
            }
            ExprKind::Compose(_) | ExprKind::Component(..) | ExprKind::Iter | ExprKind::Any(_) => {
                e.each_operand(&mut |e| self.read(e, at));
                None
            }
        };
        known.filter(|_| matches!(e.ty, Ty::Int | Ty::Bool))
    }

    fn load(&mut self, p: &Place, at: &At) -> Option<Scalar> {
        match &p.base {
            Base::State(id) => {
                if let Some(part) = self.part(*id, &p.path, at) {
                    self.steps += part.scalars.len() as u64 / 64;
                    self.exposed[id.index()] |= !at.filled.has(part.scalars);
                }
                None
            }
            Base::Local(id) if p.path.is_empty() => at.known[id.index()],
            Base::Table(id) => {
                let mut value = &self.kernel.tables[id.index()].value;
                let mut found = true;
                for step in &p.path {
                    let next = match step {
                        Proj::Index(e) => match (self.value(e, at), value) {
                            (Some(Scalar::Int(i)), Const::Array(all)) => {
                                usize::try_from(i).ok().and_then(|i| all.get(i))
                            }
                            _ => None,
                        },
                        Proj::Member(i) => match value {
                            Const::Struct(all) => all.get(*i as usize),
                            _ => None,
                        },
                        Proj::Component(_) => None,
                    };
                    found &= next.is_some();
                    value = next.unwrap_or(value);
                }
                Scalar::of(value).filter(|_| found)
            }
            _ => {
                self.indices(p, at);
                None
            }
        }
    }
}

impl Flow for Firing<'_> {
    type At = At;

    fn nest(&mut self) -> &mut Vec<Nest<At>> {
        &mut self.nest
    }

    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= MOST_STEPS).then_some(())
    }

    fn copy(&mut self, at: &At) -> At {
        self.steps += at.filled.words() + at.known.len() as u64 / 4;
        at.clone()
    }

    fn common(one: At, other: &At) -> At {
        one.meet(other)
    }

    fn truth(&mut self, e: &Expr, at: &At) -> Option<bool> {
        match self.value(e, at) {
            Some(Scalar::Bool(known)) => Some(known),
            _ => None,
        }
    }

    fn bound(&mut self, e: &Expr, at: &At) -> Option<i32> {
        match self.value(e, at) {
            Some(Scalar::Int(known)) => Some(known),
            _ => None,
        }
    }

    fn set(&mut self, var: LocalId, value: Option<i32>, at: &mut At) {
        at.known[var.index()] = value.map(Scalar::Int);
    }

    /// Nothing is known any more of the ints that statements write.
    fn forget(&mut self, body: &[Stmt], at: &mut At) {
        walk::each_written(body, &mut |id| at.known[id.index()] = None);
        self.steps += walk::count(body) as u64;
    }

    fn plain(&mut self, s: &Stmt, mut at: At) -> Option<At> {
        match &s.kind {
            StmtKind::Assign(p, e) => {
                let value = self.value(e, &at);
                self.write(p, value, &mut at);
            }
            StmtKind::Pop(p) => p.iter().for_each(|p| self.write(p, None, &mut at)),
            StmtKind::Call { dst, args, .. } => {
                for a in args {
                    match a {
                        Arg::Value(e) => self.read(e, &at),
                        Arg::Ref(p) => self.passed(p, &mut at),
                    }
                }
                dst.iter().for_each(|p| self.write(p, None, &mut at));
            }
            StmtKind::Return(e) => {
                e.iter().for_each(|e| self.read(e, &at));
                return None;
            }
            _ => s.kind.each_own_expr(&mut |e| self.read(e, &at)),
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests;
