//! # linear extraction
//!
//! Purpose: what a filter computes, where that is an affine map of its window. Input: its kernel, channels lowered. Output: a [`Row`] for each item that
//! a firing gives, positions counted from the firing's first; or why there is none.
//!
//! ```text
//! sum = 0; for i in 0..3: sum = sum + table[i] * in(i); out(0) = sum / 2     →     0.5·table[0]·x0 + 0.5·table[1]·x1 + 0.5·table[2]·x2
//! ```
//!
//! The kernel is run once, with the items of the window unknown. A value is a constant, which is computed as the program computes it, to the last bit, or a
//! sum of items with coefficients, in double precision and without the program's rounding in between. Sums are kept as the tree of their operations, so that a
//! loop over n items takes n steps; the coefficients of an output are then found from its end backwards, each operation once.
//!
//! [`given`] says, besides, which items are moved as they are and which are sums of products taken in a known order: what can be computed again to the last bit ([`super::zeros`]).
//!
//! Refused: what multiplies, compares or indexes by items, decides by them, gives them to functions, or makes them anything but float or double; what can fail; what prints;
//! coefficients that are not finite; whatever takes too many steps.

use super::map::Row;
use crate::ir::*;
use crate::passes::clean::holds_at;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ops;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// Statements and operations that the run may take.
const STEPS: u64 = 1 << 22;
/// Items of a window times items that a firing gives, at most.
const MOST: u64 = 1 << 22;
/// Operations on items that all outputs together may go back over.
const BACK: u64 = 1 << 25;
/// Elements that local variables may have together.
const ELEMENTS: u64 = 1 << 20;

/// Why a filter is not taken for an affine map.
pub type Why = &'static str;

const TOO_LONG: Why = "a firing takes too many steps to look at";
const DECIDES: Why = "the values of items decide what it does";
const ODD: Why = "it does something that is not looked at here";

/// The rows of a filter's firing.
pub fn rows(kernel: &Kernel) -> Result<Vec<Row>, Why> {
    let real = |ty: &Ty| matches!(ty, Ty::Float | Ty::Double);
    let rates = kernel.work.rates;
    if !real(&kernel.input) || !real(&kernel.output) {
        return Err("its items are neither float nor double");
    }
    if rates.pop == 0 || rates.push == 0 || kernel.work.dynamic.is_some() {
        return Err("it has no fixed rates in and out");
    }
    let (run, outs) = Run::of(kernel, &kernel.work)?;
    let mut back = BACK;
    outs.iter().map(|v| run.row(v, &mut back)).collect()
}

/// An item that a firing gives, where it is known to the last bit how.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A constant.
    Known(Const),
    /// An item of the window.
    Item(u32),
    /// A product of an item and a constant, in the type of both.
    Product(u32, f64),
    /// 0, and then one product after the other (of an item and a constant) added to it. A factor of 1 may be none at all.
    Sum(Vec<(u32, f64)>),
    /// Something else.
    Other,
}

/// What a firing of the work function gives, or of the prework, without regard to what it keeps.
pub fn given(kernel: &Kernel, work: &Work) -> Result<Vec<Given>, Why> {
    let (run, outs) = Run::of(kernel, work)?;
    let mut back = BACK;
    outs.iter().map(|v| run.given(v, &mut back)).collect()
}

/// A value.
#[derive(Clone, Debug)]
enum Val {
    /// Not assigned.
    None,
    /// Known, aggregates included.
    Known(Const),
    /// A sum of items.
    Sum(u32),
    /// An aggregate of which some element is not known, or was written.
    Parts(Vec<Val>),
}

/// An operation on items.
#[derive(Clone, Copy, Debug)]
enum Sum {
    /// An item of the window.
    Item(u32),
    /// Earlier sums, each times a factor, and a constant; by which operation.
    Of([(u32, f64); 2], f64, How),
}

/// What an operation is, to the last bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// The sum of the two.
    Plus,
    /// 0 and the first.
    FromZero,
    /// The first times its factor.
    Times,
    /// Anything else.
    Other,
}

/// Where a statement leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Break(u32),
    Continue(u32),
    Return,
}

struct Run<'a> {
    kernel: &'a Kernel,
    /// Items that it may look at.
    window: u32,
    locals: Vec<Val>,
    state: Vec<Val>,
    out: Vec<Val>,
    sums: Vec<Sum>,
    items: BTreeMap<u32, u32>,
    steps: u64,
    elements: u64,
}

impl<'a> Run<'a> {
    /// A firing of one of the kernel's functions, and what it gives.
    fn of(kernel: &'a Kernel, work: &Work) -> Result<(Run<'a>, Vec<Val>), Why> {
        let rates = work.rates;
        if work.dynamic.is_some() {
            return Err("it has no fixed rates in and out");
        }
        if u64::from(rates.peek.max(1)) * u64::from(rates.push) > MOST {
            return Err("its window is too large");
        }
        let f = kernel.function(work.function);
        let mut run = Run {
            kernel,
            window: rates.peek,
            locals: f.locals.iter().map(|_| Val::None).collect(),
            state: kernel.state.iter().map(|s| Val::Known(s.initial.clone())).collect(),
            out: vec![Val::None; rates.push as usize],
            sums: Vec::new(),
            items: BTreeMap::new(),
            steps: STEPS,
            elements: ELEMENTS,
        };
        run.body(&f.body)?;
        let outs = std::mem::take(&mut run.out);
        Ok((run, outs))
    }

    fn step(&mut self) -> Result<(), Why> {
        self.steps = self.steps.checked_sub(1).ok_or(TOO_LONG)?;
        Ok(())
    }

    fn body(&mut self, body: &[Stmt]) -> Result<Flow, Why> {
        for s in body {
            let flow = self.stmt(&s.kind)?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn stmt(&mut self, s: &StmtKind) -> Result<Flow, Why> {
        self.step()?;
        Ok(match s {
            StmtKind::Assign(place, e) => {
                let value = self.expr(e)?;
                self.assign(place, value)?;
                Flow::On
            }
            StmtKind::Check(c) => {
                let at = match c.operand() {
                    Some(e) => self.int(e)?,
                    None => return Err(ODD),
                };
                if !holds_at(c, at) {
                    return Err("a firing can fail");
                }
                Flow::On
            }
            StmtKind::If(cond, a, b) => match self.truth(cond)? {
                true => self.body(a)?,
                false => self.body(b)?,
            },
            StmtKind::For(l) => {
                let (mut at, to) = (self.int(&l.from)?, self.int(&l.to)?);
                loop {
                    self.locals[l.var.index()] = Val::Known(Const::Int(at));
                    let goes_on = match l.cmp {
                        BinaryOp::Lt => at < to,
                        BinaryOp::Le => at <= to,
                        BinaryOp::Gt => at > to,
                        BinaryOp::Ge => at >= to,
                        _ => return Err(ODD),
                    };
                    if !goes_on {
                        break Flow::On;
                    }
                    self.step()?;
                    match self.body(&l.body)? {
                        Flow::On | Flow::Continue(0) => {}
                        Flow::Break(0) => break Flow::On,
                        other => break outward(other),
                    }
                    at = at.wrapping_add(l.step);
                }
            }
            StmtKind::Loop(body) => loop {
                self.step()?;
                match self.body(body)? {
                    Flow::On | Flow::Continue(0) => {}
                    Flow::Break(0) => break Flow::On,
                    other => break outward(other),
                }
            },
            StmtKind::Block(body) => match self.body(body)? {
                Flow::On | Flow::Break(0) => Flow::On,
                other => outward(other),
            },
            StmtKind::Break(n) => Flow::Break(*n),
            StmtKind::Continue(n) => Flow::Continue(*n),
            StmtKind::Return(None) => Flow::Return,
            StmtKind::Call { .. } => return Err("it calls a function that is not inlined"),
            StmtKind::Print(_) | StmtKind::PrintText(_) => return Err("it prints"),
            StmtKind::Send(_) => return Err("it sends messages"),
            StmtKind::Return(Some(_)) | StmtKind::Pop(_) | StmtKind::Push(_) => return Err(ODD),
        })
    }

    fn truth(&mut self, e: &Expr) -> Result<bool, Why> {
        match self.expr(e)? {
            Val::Known(Const::Bool(b) | Const::Bit(b)) => Ok(b),
            Val::Sum(_) => Err(DECIDES),
            _ => Err(ODD),
        }
    }

    fn int(&mut self, e: &Expr) -> Result<i32, Why> {
        match self.expr(e)? {
            Val::Known(Const::Int(i)) => Ok(i),
            Val::Sum(_) => Err(DECIDES),
            _ => Err(ODD),
        }
    }

    /// The numbers of the elements and fields on the way to a part.
    fn path(&mut self, path: &[Proj]) -> Result<Vec<usize>, Why> {
        let index = |p: &Proj| match p {
            Proj::Index(e) => usize::try_from(self.int(e)?).map_err(|_| ODD),
            Proj::Member(i) => Ok(*i as usize),
            Proj::Component(_) => Err("it takes numbers apart"),
        };
        path.iter().map(index).collect()
    }

    fn load(&mut self, place: &Place) -> Result<Val, Why> {
        let path = self.path(&place.path)?;
        let position = match &place.base {
            Base::In(e) => Some(self.int(e)?),
            _ => None,
        };
        let table;
        let mut at = match &place.base {
            Base::Local(id) => &self.locals[id.index()],
            Base::State(id) => &self.state[id.index()],
            Base::Table(id) => {
                table = Val::Known(self.kernel.tables[id.index()].value.clone());
                &table
            }
            Base::In(_) => return self.item(position.unwrap_or(-1), &path),
            Base::Peek(_) | Base::Out(_) => return Err(ODD),
        };
        for (i, p) in path.iter().enumerate() {
            match at {
                Val::Parts(parts) => at = parts.get(*p).ok_or(ODD)?,
                Val::Known(c) => {
                    let mut c = c;
                    for p in &path[i..] {
                        let (Const::Array(all) | Const::Struct(all)) = c else { return Err(ODD) };
                        c = all.get(*p).ok_or(ODD)?;
                    }
                    return Ok(Val::Known(c.clone()));
                }
                Val::None | Val::Sum(_) => return Err(ODD),
            }
        }
        let value = at.clone();
        if let Val::Parts(parts) = &value {
            self.steps = self.steps.checked_sub(parts.len() as u64).ok_or(TOO_LONG)?;
        }
        Ok(value)
    }

    fn item(&mut self, position: i32, path: &[usize]) -> Result<Val, Why> {
        let position = u32::try_from(position).ok().filter(|p| *p < self.window && path.is_empty());
        let position = position.ok_or(ODD)?;
        let next = self.sums.len() as u32;
        let sum = *self.items.entry(position).or_insert(next);
        if sum == next {
            self.sums.push(Sum::Item(position));
        }
        Ok(Val::Sum(sum))
    }

    fn assign(&mut self, place: &Place, value: Val) -> Result<(), Why> {
        let path = self.path(&place.path)?;
        let mut at = match &place.base {
            Base::Local(id) => &mut self.locals[LocalId::index(*id)],
            Base::State(id) => &mut self.state[id.index()],
            Base::Out(e) => {
                let i = self.int(e)?;
                let slot = usize::try_from(i).ok().and_then(|i| self.out.get_mut(i)).filter(|_| path.is_empty());
                *slot.ok_or(ODD)? = value;
                return Ok(());
            }
            Base::Table(_) | Base::Peek(_) | Base::In(_) => return Err(ODD),
        };
        for p in &path {
            if let Val::Known(Const::Array(all) | Const::Struct(all)) = at {
                self.elements = self.elements.checked_sub(all.len() as u64).ok_or(TOO_LONG)?;
                *at = Val::Parts(all.iter().cloned().map(Val::Known).collect());
            }
            let Val::Parts(parts) = at else { return Err(ODD) };
            at = parts.get_mut(*p).ok_or(ODD)?;
        }
        *at = value;
        Ok(())
    }

    /// The zero of a type.
    fn zero(&mut self, ty: &Ty) -> Result<Const, Why> {
        match ty {
            Ty::Array(element, _) => {
                let n = ty.known_len().ok_or(ODD)?;
                self.elements = self.elements.checked_sub(n.into()).ok_or(TOO_LONG)?;
                let zero = self.zero(element)?;
                Ok(Const::Array(vec![zero; n as usize].into()))
            }
            Ty::Struct(id) => {
                let kernel = self.kernel;
                let fields = &kernel.structs.get(id.index()).ok_or(ODD)?.fields;
                let zeroes: Result<Vec<Const>, Why> = fields.iter().map(|(_, ty)| self.zero(ty)).collect();
                Ok(Const::Struct(zeroes?.into()))
            }
            _ => ops::Scalar::zero(ty).map(ops::Scalar::into_const).ok_or(ODD),
        }
    }

    fn expr(&mut self, e: &Expr) -> Result<Val, Why> {
        self.step()?;
        match &e.kind {
            ExprKind::Const(c) => Ok(Val::Known(c.clone())),
            ExprKind::Zero => self.zero(&e.ty).map(Val::Known),
            ExprKind::Load(place) => self.load(place),
            ExprKind::Select(c, a, b) => match self.truth(c)? {
                true => self.expr(a),
                false => self.expr(b),
            },
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let first = self.truth(a)?;
                let done = first == (*op == BinaryOp::Or);
                Ok(Val::Known(Const::Bool(if done { first } else { self.truth(b)? })))
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.binary(*op, a, b)
            }
            ExprKind::Unary(op, a) => match (self.expr(a)?, op) {
                (Val::Known(c), _) => ops::unary(*op, &c).map(Val::Known).ok_or(ODD),
                (Val::Sum(s), UnaryOp::Neg) => self.sum([(s, -1.0), (s, 0.0)], 0.0, How::Other),
                _ => Err(ODD),
            },
            ExprKind::Convert(a) => match self.expr(a)? {
                Val::Known(c) => ops::convert(&c, &e.ty).map(Val::Known).ok_or(ODD),
                Val::Sum(s) if a.ty == e.ty => Ok(Val::Sum(s)),
                Val::Sum(s) if matches!(e.ty, Ty::Float | Ty::Double) => {
                    self.sum([(s, 1.0), (s, 0.0)], 0.0, How::Other)
                }
                _ => Err("it makes items something else than float or double"),
            },
            ExprKind::Builtin(f, args) => {
                let mut known = Vec::new();
                for a in args {
                    match self.expr(a)? {
                        Val::Known(c) => known.push(c),
                        _ => return Err("it gives the values of items to a function"),
                    }
                }
                ops::builtin(*f, &known).map(Val::Known).ok_or(ODD)
            }
            ExprKind::Compose(_) | ExprKind::Component(..) => Err("it takes numbers apart"),
            ExprKind::Iter => Err("it counts its firings"),
            ExprKind::Any(_) => Err("it asks other firings"),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: Val, b: Val) -> Result<Val, Why> {
        use BinaryOp::*;
        Ok(match (a, b) {
            (Val::Known(a), Val::Known(b)) => match ops::binary(op, &a, &b) {
                Ok(Some(c)) => Val::Known(c),
                Ok(None) => return Err(ODD),
                Err(_) => return Err("a firing can fail"),
            },
            (Val::Sum(a), Val::Sum(b)) => match op {
                Add => self.sum([(a, 1.0), (b, 1.0)], 0.0, How::Plus)?,
                Sub => self.sum([(a, 1.0), (b, -1.0)], 0.0, How::Other)?,
                Mul | Div | Rem => return Err("it multiplies or divides items by items"),
                _ => return Err(DECIDES),
            },
            (Val::Sum(a), Val::Known(k)) => match (op, real(&k)?) {
                (Add, c) => self.sum([(a, 1.0), (a, 0.0)], c, from_zero(c))?,
                (Sub, c) => self.sum([(a, 1.0), (a, 0.0)], -c, How::Other)?,
                (Mul, c) => self.sum([(a, c), (a, 0.0)], 0.0, How::Times)?,
                (Div, c) => self.sum([(a, 1.0 / c), (a, 0.0)], 0.0, How::Other)?,
                _ => return Err(DECIDES),
            },
            (Val::Known(k), Val::Sum(b)) => match (op, real(&k)?) {
                (Add, c) => self.sum([(b, 1.0), (b, 0.0)], c, from_zero(c))?,
                (Sub, c) => self.sum([(b, -1.0), (b, 0.0)], c, How::Other)?,
                (Mul, c) => self.sum([(b, c), (b, 0.0)], 0.0, How::Times)?,
                (Div | Rem, _) => return Err("it multiplies or divides items by items"),
                _ => return Err(DECIDES),
            },
            _ => return Err(ODD),
        })
    }

    fn sum(&mut self, of: [(u32, f64); 2], plus: f64, how: How) -> Result<Val, Why> {
        if !of.iter().all(|(_, c)| c.is_finite()) || !plus.is_finite() {
            return Err("a coefficient is not finite");
        }
        self.sums.push(Sum::Of(of, plus, how));
        Ok(Val::Sum(self.sums.len() as u32 - 1))
    }

    /// How a value has come to be.
    fn given(&self, value: &Val, back: &mut u64) -> Result<Given, Why> {
        let mut at = match value {
            Val::Known(c) => return Ok(Given::Known(c.clone())),
            Val::Sum(s) => *s,
            Val::None | Val::Parts(_) => return Ok(Given::Other),
        };
        let product = |s: u32| match self.sums[s as usize] {
            Sum::Item(i) => Some((i, 1.0)),
            Sum::Of([(of, c), _], _, How::Times) => match self.sums[of as usize] {
                Sum::Item(i) => Some((i, c)),
                Sum::Of(..) => None,
            },
            Sum::Of(..) => None,
        };
        match (self.sums[at as usize], product(at)) {
            (Sum::Item(i), _) => return Ok(Given::Item(i)),
            (_, Some((i, c))) => return Ok(Given::Product(i, c)),
            _ => {}
        }
        let mut terms = Vec::new();
        loop {
            *back = back.checked_sub(1).ok_or(TOO_LONG)?;
            let (rest, last) = match self.sums[at as usize] {
                Sum::Of([(a, _), _], _, How::FromZero) => (None, product(a)),
                // a sum of two products begins with neither
                Sum::Of([(a, _), (b, _)], _, How::Plus) => match (product(a), product(b)) {
                    (None, Some(p)) => (Some(a), Some(p)),
                    (Some(p), None) => (Some(b), Some(p)),
                    _ => (None, None),
                },
                _ => (None, None),
            };
            let Some(last) = last else { return Ok(Given::Other) };
            terms.push(last);
            match rest {
                Some(rest) => at = rest,
                None => break,
            }
        }
        terms.reverse();
        Ok(Given::Sum(terms))
    }

    /// The coefficients of a value, from the last operation back to the items.
    fn row(&self, value: &Val, back: &mut u64) -> Result<Row, Why> {
        let last = match value {
            Val::Sum(s) => *s,
            Val::Known(c) => return Ok(Row { start: 0, taps: Vec::new(), plus: real(c)? }),
            Val::None | Val::Parts(_) => return Err(ODD),
        };
        let (mut taps, mut plus) = (vec![0.0; self.window as usize], 0.0);
        // an operation comes after those it is made of
        let mut waiting = BTreeMap::from([(last, 1.0)]);
        while let Some((at, c)) = waiting.pop_last() {
            *back = back.checked_sub(1).ok_or(TOO_LONG)?;
            match self.sums[at as usize] {
                Sum::Item(i) => taps[i as usize] += c,
                Sum::Of(of, k, _) => {
                    plus += c * k;
                    for (s, by) in of {
                        if by != 0.0 {
                            *waiting.entry(s).or_insert(0.0) += c * by;
                        }
                    }
                }
            }
        }
        if taps.iter().all(|t: &f64| t.is_finite()) && f64::is_finite(plus) {
            Ok(Row { start: 0, taps, plus })
        } else {
            Err("a coefficient is not finite")
        }
    }
}

/// What adding a constant is.
fn from_zero(c: f64) -> How {
    if c.to_bits() == 0 { How::FromZero } else { How::Other }
}

/// Seen from the statement around a loop or block.
fn outward(flow: Flow) -> Flow {
    match flow {
        Flow::Break(n) => Flow::Break(n.saturating_sub(1)),
        Flow::Continue(n) => Flow::Continue(n.saturating_sub(1)),
        other => other,
    }
}

fn real(c: &Const) -> Result<f64, Why> {
    match c {
        Const::Float(x) => Ok(f64::from(*x)),
        Const::Double(x) => Ok(*x),
        _ => Err(ODD),
    }
}
