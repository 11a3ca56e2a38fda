//! The filter that computes an affine map item by item, as typed code like any other's.
//!
//! Rows whose items are neighbours are loops over a table; where a row has zeroes at regular distances or many of them, the loop goes over what is not zero. Sums are made in the type
//! of the items (in double where either side is double), from the first item of the window to the last; [`ordered`] makes them of products in the order that it is given.
//!
//! ```text
//! y(0) = 0.5·x(0) + 0.25·x(1) + 0.5·x(2)     →     float sum = 0; for (int i = 0; i < 3; i++) sum += taps[i] * peek(i); push(sum);
//! ```

use super::choose::{Shape, shape};
use super::map::{Row, Steps};
use super::zeros::{Ordered, Term};
use sluice_frontend::constant::Const;
use sluice_frontend::ids::{DeclId, FieldId, FnId, LocalId};
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::*;
use sluice_grammar::span::Span;

/// Rows that are written one by one, at most; more of them are rows of one table, with zeroes where one is shorter than the longest.
const WRITTEN: usize = 8;
/// Coefficients of a row that is written as one sum, at most.
const TERMS: usize = 4;

/// How the new filter is called, and where it stands.
pub struct Called {
    /// The declaration of one of the filters that it is made of.
    pub decl: DeclId,
    /// Its name.
    pub name: Name,
    /// Its name for people.
    pub display: String,
    /// Where the first of those filters is declared.
    pub span: Span,
}

/// The filter that takes these steps.
pub fn filter(steps: &Steps, (input, output): (&Ty, &Ty), called: Called) -> Option<FilterCode> {
    let mut make = Make::new(called.span, input, output);
    let work = make.function("work", &steps.rows, steps.peek);
    let first = steps.first.as_ref().map(|(rows, peek)| (make.function("prework", rows, *peek), rows.len(), *peek));
    make.filter(called, (work, steps.rows.len(), steps.pop, steps.peek), first)
}

/// The filter that takes these products in this order.
pub fn ordered(what: &Ordered, ty: &Ty, called: Called) -> Option<FilterCode> {
    let mut make = Make::new(called.span, ty, ty);
    let work = make.in_order("work", &what.rows);
    let first = what.first.as_ref().map(|(rows, peek)| (make.in_order("prework", rows), rows.len(), *peek));
    make.filter(called, (work, what.rows.len(), what.pop, what.peek), first)
}

const SUM: LocalId = LocalId(0);
const TURN: LocalId = LocalId(1);
const ROW: LocalId = LocalId(2);

/// The distance of a sum's items, where it is always the same.
fn steps(terms: &[Term]) -> Option<i64> {
    let by = |pair: &[Term]| pair[1].at as i64 - pair[0].at as i64;
    let first = terms.windows(2).next().map(by)?;
    terms.windows(2).all(|pair| by(pair) == first).then_some(first)
}

struct Make {
    span: Span,
    input: Ty,
    output: Ty,
    real: Ty,
    fields: Vec<FieldDef>,
}

impl Make {
    fn new(span: Span, input: &Ty, output: &Ty) -> Make {
        let real = if *input == Ty::Double || *output == Ty::Double { Ty::Double } else { Ty::Float };
        Make { span, input: input.clone(), output: output.clone(), real, fields: Vec::new() }
    }

    /// The filter: its work function, items given, taken and looked at; its prework, items given and looked at.
    fn filter(
        self,
        called: Called,
        (work, push, pop, peek): (Function, usize, u64, u64),
        first: Option<(Function, usize, u64)>,
    ) -> Option<FilterCode> {
        let number = |n: u64| u32::try_from(n).ok().filter(|n| *n <= i32::MAX as u32);
        let span = called.span;
        let of = |function: u32, rates: Rates| WorkDef {
            function: FnId(function),
            rates,
            dynamic: None,
            counts_proved: true,
            peeks_proved: true,
            span,
        };
        let rates = Rates { peek: number(peek)?, pop: number(pop)?, push: u32::try_from(push).ok()? };
        let mut functions = vec![work];
        let prework = match first {
            Some((function, push, peek)) => {
                functions.push(function);
                let rates = Rates { peek: number(peek)?, pop: 0, push: u32::try_from(push).ok()? };
                Some(of(1, rates))
            }
            None => None,
        };
        Some(FilterCode {
            decl: called.decl,
            name: called.name,
            display: called.display,
            span,
            input: self.input,
            output: self.output,
            fields: self.fields,
            functions,
            prework,
            work: of(0, rates),
            handlers: Vec::new(),
            stateful: None,
            prints: false,
            uses_iter: false,
            sends: None,
            calls_native: None,
            init_output: String::new(),
            turns: None,
            behind: 0,
            part: None,
            convolution: None,
        })
    }

    /// A function whose sums are taken in the order of their terms, each from 0 on.
    fn in_order(&mut self, name: &str, rows: &[Vec<Term>]) -> Function {
        let (mut body, mut at) = (Vec::new(), 0);
        while at < rows.len() {
            let alike = |r: &Vec<Term>| steps(r).filter(|_| r.len() > TERMS && r.len() == rows[at].len());
            let stride = alike(&rows[at]);
            let n = rows[at..].iter().take_while(|r| stride.is_some() && alike(r) == stride).count();
            if n > WRITTEN {
                body.extend(self.together(&rows[at..at + n], stride.unwrap_or(1)));
                at += n;
            } else {
                body.extend(self.terms(&rows[at]));
                at += 1;
            }
        }
        self.named(name, body)
    }

    /// An item times the factors of a term.
    fn term(&self, scale: Option<Expr>, tap: Expr, at: Expr) -> Expr {
        let item = self.item(at);
        let item = match scale {
            Some(scale) => self.binary(BinaryOp::Mul, scale, item, &self.real),
            None => item,
        };
        self.binary(BinaryOp::Mul, tap, item, &self.real)
    }

    /// The statements of a sum in order.
    fn terms(&mut self, terms: &[Term]) -> Vec<Stmt> {
        if terms.len() <= TERMS {
            let term = |t: &Term| self.term(t.scale.map(|s| self.number(s)), self.number(t.tap), self.int(t.at as i64));
            let sum =
                terms.iter().map(term).fold(self.number(0.0), |a, b| self.binary(BinaryOp::Add, a, b, &self.real));
            return vec![self.pushed(sum)];
        }
        let at = match steps(terms) {
            Some(stride) => self.along(self.int(terms[0].at as i64), stride),
            None => {
                let all = terms.iter().map(|t| Const::Int(t.at as i32)).collect();
                let table = self.table("at", Ty::Int, all);
                self.index(table, self.local(TURN, Ty::Int), Ty::Int)
            }
        };
        let taps = self.table("taps", self.real.clone(), terms.iter().map(|t| self.constant(t.tap)).collect());
        let tap = self.index(taps, self.local(TURN, Ty::Int), self.real.clone());
        let scales = terms.iter().any(|t| t.scale.is_some()).then(|| self.scales(terms));
        let scale = scales.map(|table| self.index(table, self.local(TURN, Ty::Int), self.real.clone()));
        self.added(terms.len(), self.term(scale, tap, at))
    }

    /// A factor of 1 changes nothing.
    fn scales(&mut self, terms: &[Term]) -> FieldId {
        self.table("scales", self.real.clone(), terms.iter().map(|t| self.constant(t.scale.unwrap_or(1.0))).collect())
    }

    /// Sums of equally many terms, all of them in steps of `stride`, as one loop.
    fn together(&mut self, rows: &[Vec<Term>], stride: i64) -> Vec<Stmt> {
        let (n, all) = (rows[0].len(), rows.concat());
        let taps = self.table("taps", self.real.clone(), all.iter().map(|t| self.constant(t.tap)).collect());
        let starts = self.table("starts", Ty::Int, rows.iter().map(|r| Const::Int(r[0].at as i32)).collect());
        let scales = all.iter().any(|t| t.scale.is_some()).then(|| self.scales(&all));
        let first = self.binary(BinaryOp::Mul, self.local(ROW, Ty::Int), self.int(n as i64), &Ty::Int);
        let number = self.binary(BinaryOp::Add, first, self.local(TURN, Ty::Int), &Ty::Int);
        let at = self.along(self.index(starts, self.local(ROW, Ty::Int), Ty::Int), stride);
        let scale = scales.map(|table| self.index(table, number.clone(), self.real.clone()));
        let term = self.term(scale, self.index(taps, number, self.real.clone()), at);
        vec![self.count(ROW, rows.len(), self.added(n, term))]
    }

    /// `start + stride * i`
    fn along(&self, start: Expr, stride: i64) -> Expr {
        let turn = self.local(TURN, Ty::Int);
        let (op, by) = if stride < 0 { (BinaryOp::Sub, -stride) } else { (BinaryOp::Add, stride) };
        let steps = if by == 1 { turn } else { self.binary(BinaryOp::Mul, self.int(by), turn, &Ty::Int) };
        self.binary(op, start, steps, &Ty::Int)
    }

    fn function(&mut self, name: &str, rows: &[Row], peek: u64) -> Function {
        let body = if rows.len() > WRITTEN && rows.iter().any(|r| r.taps.len() > TERMS) {
            self.all(rows, peek)
        } else {
            rows.iter().flat_map(|r| self.one(r)).collect()
        };
        self.named(name, body)
    }

    fn named(&self, name: &str, body: Vec<Stmt>) -> Function {
        let local = |name: &str, ty: Ty| Local { name: name.into(), ty, by_ref: false, written: true, span: self.span };
        Function {
            name: name.into(),
            params: 0,
            locals: vec![local("sum", self.real.clone()), local("i", Ty::Int), local("row", Ty::Int)],
            ret: Ty::Void,
            body,
            span: self.span,
        }
    }

    /// The statements of a row.
    fn one(&mut self, row: &Row) -> Vec<Stmt> {
        let real: Vec<(u64, f64)> = (row.start..).zip(row.taps.iter().copied()).filter(|(_, t)| *t != 0.0).collect();
        if real.len() <= TERMS {
            let term = |(at, t): &(u64, f64)| {
                let item = self.item(self.int(*at as i64));
                self.binary(BinaryOp::Mul, self.number(*t), item, &self.real)
            };
            let terms = real.iter().map(term).reduce(|a, b| self.binary(BinaryOp::Add, a, b, &self.real));
            let sum = terms.unwrap_or_else(|| self.number(0.0));
            return vec![self.push(sum, row.plus)];
        }
        let start = self.int(row.start as i64);
        let (taps, at): (Vec<f64>, _) = match shape(row) {
            Shape::Dense => (row.taps.clone(), self.binary(BinaryOp::Add, start, self.local(TURN, Ty::Int), &Ty::Int)),
            Shape::Strided(stride) => {
                let turn = self.binary(BinaryOp::Mul, self.int(stride as i64), self.local(TURN, Ty::Int), &Ty::Int);
                let taps = row.taps.iter().copied().step_by(stride as usize).collect();
                (taps, self.binary(BinaryOp::Add, start, turn, &Ty::Int))
            }
            Shape::Sparse(at) => {
                let table = self.table("at", Ty::Int, at.iter().map(|i| Const::Int((row.start + i) as i32)).collect());
                let at = self.index(table, self.local(TURN, Ty::Int), Ty::Int);
                (real.iter().map(|(_, t)| *t).collect(), at)
            }
        };
        let n = taps.len();
        let table = self.table("taps", self.real.clone(), taps.iter().map(|t| self.constant(*t)).collect());
        let tap = self.index(table, self.local(TURN, Ty::Int), self.real.clone());
        self.sum(n, tap, at, self.number(row.plus), row.plus == 0.0)
    }

    /// The statements of all rows as one loop: the taps of all, one row after the other, each of the longest's length.
    fn all(&mut self, rows: &[Row], peek: u64) -> Vec<Stmt> {
        let n = rows.iter().map(|r| r.taps.len()).max().unwrap_or(0);
        let (mut taps, mut starts) = (Vec::with_capacity(n * rows.len()), Vec::new());
        for r in rows {
            // within the window, whatever its length
            let start = r.start.min(peek - n as u64);
            let before = if r.taps.is_empty() { 0 } else { (r.start - start) as usize };
            let row = std::iter::repeat_n(0.0, before).chain(r.taps.iter().copied()).chain(std::iter::repeat(0.0));
            taps.extend(row.take(n).map(|t| self.constant(t)));
            starts.push(Const::Int(start as i32));
        }
        let taps = self.table("taps", self.real.clone(), taps);
        let starts = self.table("starts", Ty::Int, starts);
        let row = || self.local(ROW, Ty::Int);
        let first = self.binary(BinaryOp::Mul, row(), self.int(n as i64), &Ty::Int);
        let at = self.binary(BinaryOp::Add, first, self.local(TURN, Ty::Int), &Ty::Int);
        let tap = self.index(taps, at, self.real.clone());
        let start = self.index(starts, row(), Ty::Int);
        let item = self.binary(BinaryOp::Add, start, self.local(TURN, Ty::Int), &Ty::Int);
        let plain = rows.iter().all(|r| r.plus == 0.0);
        let plus = if plain {
            self.number(0.0)
        } else {
            let all = rows.iter().map(|r| self.constant(r.plus)).collect();
            let table = self.table("plus", self.real.clone(), all);
            self.index(table, self.local(ROW, Ty::Int), self.real.clone())
        };
        let body = self.sum(n, tap, item, plus, plain);
        vec![self.count(ROW, rows.len(), body)]
    }

    /// `sum = 0; for (i = 0; i < n; i++) sum += tap * peek(at); push(sum + plus);`
    fn sum(&self, n: usize, tap: Expr, at: Expr, plus: Expr, plain: bool) -> Vec<Stmt> {
        let product = self.binary(BinaryOp::Mul, tap, self.item(at), &self.real);
        let mut all = self.summed(n, product);
        let sum = self.local(SUM, self.real.clone());
        let sum = if plain { sum } else { self.binary(BinaryOp::Add, sum, plus, &self.real) };
        all.push(self.pushed(sum));
        all
    }

    /// `sum = 0; for (i = 0; i < n; i++) sum += product; push(sum);`
    fn added(&self, n: usize, product: Expr) -> Vec<Stmt> {
        let mut all = self.summed(n, product);
        all.push(self.pushed(self.local(SUM, self.real.clone())));
        all
    }

    fn summed(&self, n: usize, product: Expr) -> Vec<Stmt> {
        let add = StmtKind::AssignOp {
            place: self.local(SUM, self.real.clone()),
            op: BinaryOp::Add,
            in_ty: self.real.clone(),
            value: product,
        };
        let zero = StmtKind::Let { local: SUM, init: Some(self.number(0.0)), dims: Vec::new() };
        vec![self.stmt(zero), self.count(TURN, n, vec![self.stmt(add)])]
    }

    /// `for (var = 0; var < n; var++) body`
    fn count(&self, var: LocalId, n: usize, body: Vec<Stmt>) -> Stmt {
        let at = || self.local(var, Ty::Int);
        let cond = self.expr(ExprKind::Binary(BinaryOp::Lt, Box::new(at()), Box::new(self.int(n as i64))), Ty::Bool);
        let next = ExprKind::IncDec { place: Box::new(at()), inc: true, prefix: false };
        self.stmt(StmtKind::For {
            init: vec![self.stmt(StmtKind::Let { local: var, init: Some(self.int(0)), dims: Vec::new() })],
            cond: Some(cond),
            step: vec![self.stmt(StmtKind::Expr(self.expr(next, Ty::Int)))],
            body,
        })
    }

    fn push(&self, sum: Expr, plus: f64) -> Stmt {
        let sum = if plus == 0.0 { sum } else { self.binary(BinaryOp::Add, sum, self.number(plus), &self.real) };
        self.pushed(sum)
    }

    fn pushed(&self, sum: Expr) -> Stmt {
        self.stmt(StmtKind::Push(self.converted(sum, &self.output)))
    }

    fn item(&self, at: Expr) -> Expr {
        let item = self.expr(ExprKind::Peek(Box::new(at)), self.input.clone());
        self.converted(item, &self.real)
    }

    fn converted(&self, e: Expr, ty: &Ty) -> Expr {
        if e.ty == *ty { e } else { self.expr(ExprKind::Convert(Box::new(e)), ty.clone()) }
    }

    fn table(&mut self, name: &str, ty: Ty, values: Vec<Const>) -> FieldId {
        let name = format!("{name}{}", self.fields.len());
        let (ty, initial) = (ty.array(values.len() as u32), Const::Array(values.into()));
        self.fields.push(FieldDef { name: name.into(), ty, span: self.span, initial, constant: true });
        FieldId::from(self.fields.len() - 1)
    }

    fn index(&self, table: FieldId, at: Expr, ty: Ty) -> Expr {
        let all = self.expr(ExprKind::Field(table), self.fields[table.index()].ty.clone());
        self.expr(ExprKind::Index(Box::new(all), Box::new(at)), ty)
    }

    fn constant(&self, x: f64) -> Const {
        if self.real == Ty::Double { Const::Double(x) } else { Const::Float(x as f32) }
    }

    fn number(&self, x: f64) -> Expr {
        self.expr(ExprKind::Const(self.constant(x)), self.real.clone())
    }

    fn int(&self, i: i64) -> Expr {
        self.expr(ExprKind::Const(Const::Int(i as i32)), Ty::Int)
    }

    fn local(&self, id: LocalId, ty: Ty) -> Expr {
        self.expr(ExprKind::Local(id), ty)
    }

    fn binary(&self, op: BinaryOp, a: Expr, b: Expr, ty: &Ty) -> Expr {
        self.expr(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty.clone())
    }

    fn expr(&self, kind: ExprKind, ty: Ty) -> Expr {
        Expr { kind, ty, span: self.span }
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span }
    }
}
