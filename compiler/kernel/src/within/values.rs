//! What a firing computes, value by value: its statements are followed as they would be executed, with the ints that are known. Equal values are one.
//!
//! ```text
//! $s = 0.0f  for $i = 0 < 2 step 1 { $s = ($s + in($i)) }  out(0) = $s   →   v0 0.0f  v1 word 0  v2 v0 + v1  v3 word 1  v4 v2 + v3   out v4
//! ```

use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ops::{self, Scalar};
use sluice_frontend::ty::Ty;
use std::collections::HashMap;

/// A firing is not followed further than so many steps, and computes so many values at most, none of which waits for more than so many others.
const MOST_STEPS: usize = 1 << 17;
const MOST_VALUES: usize = 1 << 14;
const DEEPEST: u32 = 1024;

/// A value: its number.
pub type Value = usize;

/// What values and vectors are made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Of one operand.
    Unary(UnaryOp),
    /// Of two.
    Binary(BinaryOp),
    /// A condition, and of what it chooses.
    Select,
    /// As the value's type.
    Convert,
    /// A function.
    Builtin(Builtin),
}

/// How a value comes about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// It is known.
    Known(Const),
    /// A word of the items that the firing takes.
    Word(u32),
    /// It is computed.
    Made(Op, Vec<Value>),
}

/// What a firing computes.
#[derive(Debug, Default)]
pub struct Values {
    /// By value: where it comes from, and its type, an int, a float or a boolean.
    pub all: Vec<(Source, Ty)>,
    /// The words that the firing gives, from the first to the last.
    pub given: Vec<Value>,
    known: HashMap<(Source, Ty), Value>,
    depth: Vec<u32>,
}

impl Values {
    /// What the function computes in a firing that takes and gives items of so many words.
    pub fn of(kernel: &Kernel, f: &Function, (taken, given): (u32, u32)) -> Option<Values> {
        let slots = f.locals.iter().map(|l| vec![None; l.ty.known_len().map_or(1, |n| n.max(1) as usize)]).collect();
        let words = kernel.work.rates.push.checked_mul(given)? as usize;
        let mut run = Run {
            kernel,
            f,
            widths: (taken, given),
            slots,
            out: vec![None; words],
            steps: 0,
            values: Values::default(),
        };
        run.body(&f.body)?;
        let given: Option<Vec<Value>> = run.out.into_iter().collect();
        Some(Values { given: given?, ..run.values })
    }

    /// Where a value comes from.
    pub fn source(&self, v: Value) -> &Source {
        &self.all[v].0
    }

    /// Its type.
    pub fn ty(&self, v: Value) -> &Ty {
        &self.all[v].1
    }

    fn add(&mut self, source: Source, ty: Ty) -> Option<Value> {
        let key = (source, ty);
        if let Some(v) = self.known.get(&key) {
            return Some(*v);
        }
        let depth = match &key.0 {
            Source::Made(_, of) => of.iter().map(|v| self.depth[*v]).max().unwrap_or(0) + 1,
            _ => 0,
        };
        let v = self.all.len();
        if !matches!(key.1, Ty::Int | Ty::Float | Ty::Bool) || v >= MOST_VALUES || depth > DEEPEST {
            return None;
        }
        self.all.push(key.clone());
        self.depth.push(depth);
        self.known.insert(key, v);
        Some(v)
    }

    fn constant(&self, v: Value) -> Option<&Const> {
        match self.source(v) {
            Source::Known(c) => Some(c),
            _ => None,
        }
    }
}

struct Run<'a> {
    kernel: &'a Kernel,
    f: &'a Function,
    widths: (u32, u32),
    /// By local and element: what it holds.
    slots: Vec<Vec<Option<Value>>>,
    out: Vec<Option<Value>>,
    steps: usize,
    values: Values,
}

impl Run<'_> {
    fn body(&mut self, body: &[Stmt]) -> Option<()> {
        body.iter().try_for_each(|s| self.stmt(s))
    }

    fn stmt(&mut self, s: &Stmt) -> Option<()> {
        match &s.kind {
            StmtKind::Assign(p, e) => self.assign(p, e),
            StmtKind::If(c, a, b) => {
                let c = self.value(c)?;
                match self.values.constant(c)? {
                    Const::Bool(true) => self.body(a),
                    Const::Bool(false) => self.body(b),
                    _ => None,
                }
            }
            StmtKind::For(l) => {
                let (from, to) = (self.int(&l.from)?, self.int(&l.to)?);
                let mut at = from;
                loop {
                    let now = self.values.add(Source::Known(Const::Int(at)), Ty::Int)?;
                    *self.slots[l.var.index()].first_mut()? = Some(now);
                    let goes_on = match l.cmp {
                        BinaryOp::Lt => at < to,
                        BinaryOp::Le => at <= to,
                        BinaryOp::Gt => at > to,
                        BinaryOp::Ge => at >= to,
                        _ => return None,
                    };
                    if !goes_on {
                        return Some(());
                    }
                    self.step()?;
                    self.body(&l.body)?;
                    at = at.wrapping_add(l.step);
                }
            }
            // nothing leaves it: that would be a statement of its own
            StmtKind::Block(b) => self.body(b),
            _ => None,
        }
    }

    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= MOST_STEPS).then_some(())
    }

    fn assign(&mut self, p: &Place, e: &Expr) -> Option<()> {
        if let (Base::Local(id), true) = (&p.base, e.ty.is_aggregate()) {
            let whole = match &e.kind {
                ExprKind::Zero if p.path.is_empty() => {
                    let zero = Scalar::zero(self.f.locals[id.index()].ty.element()?)?.into_const();
                    let ty = self.f.locals[id.index()].ty.element()?.clone();
                    let zero = self.values.add(Source::Known(zero), ty)?;
                    vec![Some(zero); self.slots[id.index()].len()]
                }
                ExprKind::Load(from) if p.path.is_empty() => self.slots[from.as_local()?.index()].clone(),
                _ => return None,
            };
            self.slots[id.index()] = whole;
            return Some(());
        }
        let v = self.value(e)?;
        match &p.base {
            Base::Local(id) => {
                let at = self.element(&p.path)?;
                *self.slots[id.index()].get_mut(at)? = Some(v);
            }
            Base::Out(at) => {
                let at = self.word(at, &p.path, self.widths.1)?;
                *self.out.get_mut(at as usize)? = Some(v);
            }
            _ => return None,
        }
        Some(())
    }

    /// Which element of an array, or the only one.
    fn element(&mut self, path: &[Proj]) -> Option<usize> {
        match path {
            [] => Some(0),
            [Proj::Index(i)] => usize::try_from(self.int(i)?).ok(),
            _ => None,
        }
    }

    fn word(&mut self, at: &Expr, path: &[Proj], width: u32) -> Option<u32> {
        let part = match path {
            [] => 0,
            [Proj::Component(i)] => u32::from(*i),
            _ => return None,
        };
        let at = u32::try_from(self.int(at)?).ok()?;
        (path.is_empty() == (width == 1)).then(|| at * width + part)
    }

    fn int(&mut self, e: &Expr) -> Option<i32> {
        let v = self.value(e)?;
        match self.values.constant(v)? {
            Const::Int(i) => Some(*i),
            _ => None,
        }
    }

    fn value(&mut self, e: &Expr) -> Option<Value> {
        self.step()?;
        if let Some(c) = e.as_const() {
            return self.values.add(Source::Known(c), e.ty.clone());
        }
        let (op, of) = match &e.kind {
            ExprKind::Load(p) => return self.load(p, &e.ty),
            ExprKind::Unary(op, a) => (Op::Unary(*op), vec![self.value(a)?]),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = self.value(a)?;
                match self.values.constant(a) {
                    Some(Const::Bool(yes)) if *yes == (*op == BinaryOp::Or) => return Some(a),
                    _ => (Op::Binary(*op), vec![a, self.value(b)?]),
                }
            }
            ExprKind::Binary(op, a, b) => (Op::Binary(*op), vec![self.value(a)?, self.value(b)?]),
            ExprKind::Select(c, a, b) => {
                let c = self.value(c)?;
                match self.values.constant(c) {
                    Some(Const::Bool(yes)) => return self.value(if *yes { a } else { b }),
                    _ => (Op::Select, vec![c, self.value(a)?, self.value(b)?]),
                }
            }
            ExprKind::Convert(a) => (Op::Convert, vec![self.value(a)?]),
            ExprKind::Builtin(b, args) => {
                let args: Option<Vec<Value>> = args.iter().map(|a| self.value(a)).collect();
                (Op::Builtin(*b), args?)
            }
            _ => return None,
        };
        if let Some(known) = self.folded(op, &of, &e.ty) {
            return self.values.add(Source::Known(known), e.ty.clone());
        }
        let of_types: Vec<&Ty> = of.iter().map(|v| self.values.ty(*v)).collect();
        if !is_vectors(op, &of_types, &e.ty) {
            return None;
        }
        self.values.add(Source::Made(op, of), e.ty.clone())
    }

    fn load(&mut self, p: &Place, ty: &Ty) -> Option<Value> {
        match &p.base {
            Base::Local(id) => {
                let at = self.element(&p.path)?;
                *self.slots[id.index()].get(at)?
            }
            Base::In(at) => {
                let at = self.word(at, &p.path, self.widths.0)?;
                let taken = self.kernel.work.rates.pop * self.widths.0;
                (at < taken).then_some(())?;
                self.values.add(Source::Word(at), ty.clone())
            }
            Base::Table(id) => {
                let mut here = self.kernel.tables[id.index()].known()?;
                for step in &p.path {
                    here = match (step, here) {
                        (Proj::Index(i), Const::Array(all)) => all.get(usize::try_from(self.int(i)?).ok()?)?,
                        (Proj::Component(i), c) => {
                            let part = Scalar::of(c)?.component(*i)?;
                            return self.values.add(Source::Known(Const::Float(part)), Ty::Float);
                        }
                        _ => return None,
                    };
                }
                self.values.add(Source::Known(here.clone()), ty.clone())
            }
            _ => None,
        }
    }

    fn folded(&self, op: Op, of: &[Value], ty: &Ty) -> Option<Const> {
        let known: Option<Vec<Const>> = of.iter().map(|v| self.values.constant(*v).cloned()).collect();
        let known = known?;
        match (op, known.as_slice()) {
            (Op::Unary(op), [a]) => ops::unary(op, a),
            (Op::Binary(BinaryOp::And | BinaryOp::Or), [_, b]) => Some(b.clone()),
            (Op::Binary(op), [a, b]) => ops::binary(op, a, b).ok().flatten(),
            (Op::Convert, [a]) => ops::convert(a, ty),
            (Op::Builtin(f), all) => ops::builtin(f, all),
            _ => None,
        }
    }
}

/// Is there such an operation on vectors?
fn is_vectors(op: Op, of: &[&Ty], ty: &Ty) -> bool {
    use BinaryOp::*;
    match (op, of, ty) {
        (Op::Unary(op), [a], _) => match op {
            UnaryOp::Neg => **a != Ty::Bool,
            UnaryOp::Not => **a == Ty::Bool,
            UnaryOp::BitNot => **a == Ty::Int,
        },
        (Op::Binary(op), [a, b], _) if a == b => matches!(
            (op, a),
            (Add | Sub | Mul | Lt | Le | Gt | Ge | Eq | Ne, Ty::Int | Ty::Float)
                | (Div, Ty::Float)
                | (BitAnd | BitOr | BitXor | Shl | Shr, Ty::Int)
                | (And | Or | BitAnd | BitOr | BitXor, Ty::Bool)
        ),
        (Op::Select, [c, a, b], ty) => **c == Ty::Bool && a == b && a == &ty && *ty != Ty::Bool,
        (Op::Convert, [a], ty) => matches!((a, ty), (Ty::Int, Ty::Float) | (Ty::Float | Ty::Bool, Ty::Int)),
        (Op::Builtin(f), all, ty) => {
            use Builtin::*;
            let known =
                matches!(f, Abs | Min | Max) || *ty == Ty::Float && matches!(f, Sqrt | Floor | Ceil | Rint | Round);
            known && all.iter().all(|a| a == &ty) && matches!(ty, Ty::Int | Ty::Float)
        }
        _ => false,
    }
}
