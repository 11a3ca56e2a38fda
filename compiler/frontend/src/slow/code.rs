//! A filter's code for several streams: a firing of the result is a firing of the original for each stream, one after the other.
//!
//! The streams lie in the channels in blocks: item x of stream s is at ⌊x/b⌋·N·b + s·b + x mod b, where b is [`Turns::taken`] (on the output
//! [`Turns::given`]). `pop` becomes `peek` at a position that is counted; what is pushed gathers in an array until all streams
//! are done, unless each stream's block is its whole push, which is then in order as it comes.
//!
//! Faults stay faults: where it is not proved that a firing keeps to its rates, popping, peeking and pushing beyond them are led to
//! operations that stop the program in the same way.

use super::in_turn::InTurn;
use super::rewrite;
use crate::analyses::walk;
use crate::constant::Const;
use crate::eval::MAX_ITEMS;
use crate::eval::value::{size, zero_const};
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::span::Span;
use std::sync::Arc;

/// How many streams take turns, and how they lie in the channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turns {
    /// N, at least 1.
    pub streams: u32,
    /// Items of one stream side by side on the input: 1, or a divisor of pop.
    pub taken: u32,
    /// The same on the output: 1, or a divisor of push.
    pub given: u32,
}

/// The rates of N firings, one of each stream; `None` where they are too large.
pub fn rates(r: Rates, turns: Turns) -> Option<Rates> {
    let n = turns.streams;
    // whole blocks of all streams are there before a splitter's branch sees the last item of one
    let blocks = r.peek.div_ceil(turns.taken.max(1)).checked_mul(turns.taken.max(1))?;
    let all = Rates { peek: blocks.checked_mul(n)?, pop: r.pop.checked_mul(n)?, push: r.push.checked_mul(n)? };
    // positions are ints
    [all.peek, all.push].iter().all(|x| i32::try_from(*x).is_ok()).then_some(all)
}

/// Is the filter's code right as it stands where the streams' items come in turns, one each?
pub fn takes_items_as_they_come(code: &FilterCode) -> bool {
    let r = code.work.rates;
    code.stateful.is_none()
        && code.prework.is_none()
        && !code.uses_iter
        && r.peek == r.pop
        && r.pop <= 1
        && r.push <= 1
        && r.pop + r.push > 0
}

/// The code for several streams; `None` where rates or state become too large. Prints, messages, native functions and dynamic rates are the
/// caller's concern.
pub fn slowed(code: &FilterCode, globals: &Globals, turns: Turns) -> Option<FilterCode> {
    let mut out = code.clone();
    if code.stateful.is_some() {
        replicate(&mut out, globals, turns.streams)?;
    }
    let works: Vec<&WorkDef> = code.prework.iter().chain([&code.work]).collect();
    let is_work = |i: usize| works.iter().any(|w| w.function.index() == i);
    let elsewhere = code.functions.iter().enumerate().any(|(i, f)| !is_work(i) && uses_channels(f));
    let proved = works.iter().all(|w| w.counts_proved);
    let in_order = |w: &&WorkDef| w.rates.push == 0 || w.rates.push == turns.given && w.counts_proved;
    let mut b = Builder {
        turns,
        counters: None,
        limits: None,
        gathered: None,
        next: None,
        places: Vec::new(),
        at: None,
        code: out,
    };
    let at = At(code.span);
    if elsewhere || !proved {
        b.counters = Some((b.counter("popped"), b.counter("pushed")));
    }
    if !proved || elsewhere && works.iter().any(|w| !w.peeks_proved) {
        b.limits = Some(Limits { looks: b.counter("looks"), pops: b.counter("pops"), pushes: b.counter("pushes") });
    }
    let mut most = 0;
    for w in &works {
        most = most.max(rates(w.rates, turns)?.push);
    }
    if !works.iter().all(in_order) {
        let ty = code.output.clone().array(most);
        let initial = zero_const(globals, &ty)?;
        b.gathered = Some((b.field("gathered", ty.clone(), initial), ty));
    }
    if !proved && code.input != Ty::Void {
        b.next = Some(b.next(at, &code.input));
    }
    // what is added from here on is written for the result
    for i in 0..code.functions.len() {
        b.stream(i, works.iter().find(|w| w.function.index() == i).copied(), proved, &works);
    }
    let prework = match &code.prework {
        Some(p) => Some(b.entry(p, "prework", proved)?),
        None => None,
    };
    b.code.work = b.entry(&code.work, "work", proved)?;
    b.code.prework = prework;
    b.code.handlers = Vec::new();
    b.code.turns = InTurn::of(code, turns).map(Arc::new);
    b.code.display = format!("{} x{}", code.display, turns.streams);
    Some(b.code)
}

/// State becomes arrays, one element for each stream.
fn replicate(code: &mut FilterCode, globals: &Globals, n: u32) -> Option<()> {
    for f in code.fields.iter_mut().filter(|f| !f.constant) {
        let ty = f.ty.clone().array(n);
        size(&ty, globals).ok().filter(|s| *s <= MAX_ITEMS)?;
        f.initial = Const::Array(std::iter::repeat_n(f.initial.clone(), n as usize).collect());
        f.ty = ty;
    }
    Some(())
}

fn uses_channels(f: &Function) -> bool {
    let mut found = false;
    walk::statements(&f.body, &mut |s| found |= matches!(s.kind, StmtKind::Push(_)));
    walk::expressions(&f.body, &mut |e| found |= matches!(e.kind, ExprKind::Pop | ExprKind::Peek(_)));
    found
}

/// Fields that hold the rates of the firing that goes on, where that is not known from the code.
#[derive(Clone, Copy)]
struct Limits {
    looks: FieldId,
    pops: FieldId,
    pushes: FieldId,
}

struct Builder {
    turns: Turns,
    /// Fields that count pops and pushes of a stream's firing; without them, variables of work do.
    counters: Option<(FieldId, FieldId)>,
    limits: Option<Limits>,
    /// Where pushes gather, and its type.
    gathered: Option<(FieldId, Ty)>,
    /// `next(stream)`: pops, where counts are not proved.
    next: Option<FnId>,
    /// `place(x, stream)` by block: the position of an item, where the formula needs x twice.
    places: Vec<(u32, FnId)>,
    /// `at(i, popped, looks, stream)`: the position of a peek that may be wrong.
    at: Option<FnId>,
    code: FilterCode,
}

/// What a function of the original uses in the result.
struct Within {
    stream: Expr,
    popped: Expr,
    pushed: Expr,
    looks: Expr,
    /// A bound on the positions in the input that are right anyway.
    most: u32,
    peeks_proved: bool,
}

impl Builder {
    fn counter(&mut self, text: &str) -> FieldId {
        self.field(text, Ty::Int, Const::Int(0))
    }

    /// A field with a name that no other has: kernels tell fields by name.
    fn field(&mut self, text: &str, ty: Ty, initial: Const) -> FieldId {
        let id = FieldId::from(self.code.fields.len());
        let span = self.code.span;
        let mut name = text.to_string();
        while self.code.fields.iter().any(|f| *f.name == name) {
            name.push('_');
        }
        self.code.fields.push(FieldDef { name: name.into(), ty, span, initial, constant: false });
        id
    }

    /// A function of ints.
    fn function(&mut self, text: &str, params: &[&str], ret: Ty, body: Vec<Stmt>) -> FnId {
        let id = FnId::from(self.code.functions.len());
        let span = self.code.span;
        let locals = params.iter().map(|p| int_local(p, span, false)).collect();
        let params = params.len() as u32;
        self.code.functions.push(Function { name: name(text), params, locals, ret, body, span });
        id
    }

    /// The position of item x of a stream, where blocks are so long and x is below `most`.
    fn position(&mut self, at: At, block: u32, x: Expr, stream: Expr, most: Option<u32>) -> Expr {
        let n = self.turns.streams;
        if block == 1 {
            return at.binary(BinaryOp::Add, at.binary(BinaryOp::Mul, x, at.int(n)), stream);
        }
        if most.is_some_and(|m| m <= block) {
            return at.binary(BinaryOp::Add, x, at.binary(BinaryOp::Mul, stream, at.int(block)));
        }
        let f = match self.places.iter().find(|(b, _)| *b == block) {
            Some((_, f)) => *f,
            None => {
                let (x, s) = (at.local(LocalId(0)), at.local(LocalId(1)));
                let rounds = at.binary(BinaryOp::Div, x.clone(), at.int(block));
                let start = at.binary(BinaryOp::Mul, rounds, at.int(n * block));
                let own = at.binary(BinaryOp::Mul, s, at.int(block));
                let rest = at.binary(BinaryOp::Rem, x, at.int(block));
                let sum = at.binary(BinaryOp::Add, at.binary(BinaryOp::Add, start, own), rest);
                let f = self.function("place", &["x", "stream"], Ty::Int, vec![at.stmt(StmtKind::Return(Some(sum)))]);
                self.places.push((block, f));
                f
            }
        };
        at.call(f, vec![x, stream], Ty::Int)
    }

    /// `next`: the next item of a stream, or the fault of popping too much.
    fn next(&mut self, at: At, item: &Ty) -> FnId {
        let (popped, limits) = (self.counters.map(|c| c.0), self.limits);
        let field = |f: Option<FieldId>| at.field(f.unwrap_or(FieldId(0)));
        let (popped, pops) = (field(popped), field(limits.map(|l| l.pops)));
        let pop = at.stmt(StmtKind::Expr(at.expr(ExprKind::Pop, item.clone())));
        let too_much = at.when(at.binary(BinaryOp::Ge, popped.clone(), pops), vec![at.forever(pop)]);
        let place = self.position(at, self.turns.taken, at.up(popped), at.local(LocalId(0)), None);
        let item_there = at.expr(ExprKind::Peek(Box::new(place)), item.clone());
        let body = vec![too_much, at.stmt(StmtKind::Return(Some(item_there)))];
        self.function("next", &["stream"], item.clone(), body)
    }

    /// `at`: the position of a peek; one that is wrong stays wrong.
    fn guarded(&mut self, at: At) -> FnId {
        if let Some(f) = self.at {
            return f;
        }
        let [i, popped, looks, stream] = [0, 1, 2, 3].map(|l| at.local(LocalId(l)));
        let negative =
            at.when(at.binary(BinaryOp::Lt, i.clone(), at.int(0)), vec![at.stmt(StmtKind::Return(Some(i.clone())))]);
        let left = at.binary(BinaryOp::Sub, looks, popped.clone());
        let far = at.int(i32::MAX as u32);
        let beyond = at.when(at.binary(BinaryOp::Ge, i.clone(), left), vec![at.stmt(StmtKind::Return(Some(far)))]);
        let x = at.binary(BinaryOp::Add, i, popped);
        let place = self.position(at, self.turns.taken, x, stream, None);
        let body = vec![negative, beyond, at.stmt(StmtKind::Return(Some(place)))];
        let f = self.function("at", &["i", "popped", "looks", "stream"], Ty::Int, body);
        self.at = Some(f);
        f
    }

    /// A function of the original, for one stream: the last parameter.
    fn stream(&mut self, i: usize, work: Option<&WorkDef>, proved: bool, works: &[&WorkDef]) {
        let mut f = self.code.functions[i].clone();
        let at = At(f.span);
        let s = LocalId(f.params);
        f.locals.insert(s.index(), int_local("stream", f.span, false));
        f.params += 1;
        let first = f.locals.len();
        let (popped, pushed) = match self.counters {
            Some((a, b)) => (at.field(a), at.field(b)),
            None if work.is_some() && uses_channels(&f) => {
                f.locals.push(int_local("popped", f.span, true));
                f.locals.push(int_local("pushed", f.span, true));
                (at.local(LocalId::from(first)), at.local(LocalId::from(first + 1)))
            }
            // not used: only works use channels
            None => (at.int(0), at.int(0)),
        };
        let looks = match (self.limits, work) {
            (Some(l), _) => at.field(l.looks),
            (None, w) => at.int(w.map_or(0, |w| w.rates.peek)),
        };
        let most = works.iter().map(|w| w.rates.peek).max().unwrap_or(0);
        let peeks_proved = work.map_or(works.iter().all(|w| w.peeks_proved), |w| w.peeks_proved);
        let within = Within { stream: at.local(s), popped, pushed, looks, most, peeks_proved };
        let mut body = std::mem::take(&mut f.body);
        // locals move first: what is put in counts them anew
        let shift = |l: &mut LocalId| l.0 += u32::from(*l >= s);
        rewrite::code(
            &mut body,
            &mut |e| {
                if let ExprKind::Local(l) = &mut e.kind {
                    shift(l);
                }
            },
            &mut |s| {
                if let StmtKind::Let { local, .. } = &mut s.kind {
                    shift(local);
                }
            },
        );
        let pieces = std::cell::RefCell::new((&mut *self, &mut f.locals));
        rewrite::code(&mut body, &mut |e| pieces.borrow_mut().0.expr(e, &within, proved), &mut |s| {
            let (b, locals) = &mut *pieces.borrow_mut();
            b.push(s, &within, proved, locals);
        });
        if self.counters.is_none() && f.locals.len() > first {
            body.splice(0..0, [at.zero(LocalId::from(first)), at.zero(LocalId::from(first + 1))]);
        }
        f.body = body;
        self.code.functions[i] = f;
    }

    fn expr(&mut self, e: &mut Expr, w: &Within, proved: bool) {
        let at = At(e.span);
        match &mut e.kind {
            ExprKind::Field(id) if !self.code.fields[id.index()].constant && self.code.stateful.is_some() => {
                let array = self.code.fields[id.index()].ty.clone();
                let whole = at.expr(ExprKind::Field(*id), array);
                e.kind = ExprKind::Index(Box::new(whole), Box::new(w.stream.clone()));
            }
            ExprKind::Call(Callee::Own(_), args) => args.push(w.stream.clone()),
            ExprKind::Pop => {
                e.kind = match self.next {
                    Some(next) if !proved => ExprKind::Call(Callee::Own(next), vec![w.stream.clone()]),
                    _ => {
                        let x = at.up(w.popped.clone());
                        let place = self.position(at, self.turns.taken, x, w.stream.clone(), Some(w.most));
                        ExprKind::Peek(Box::new(place))
                    }
                };
            }
            ExprKind::Peek(i) => {
                let index = std::mem::replace(&mut **i, at.int(0));
                **i = if w.peeks_proved {
                    let x = at.binary(BinaryOp::Add, index, w.popped.clone());
                    self.position(at, self.turns.taken, x, w.stream.clone(), Some(w.most))
                } else {
                    let f = self.guarded(at);
                    at.call(f, vec![index, w.popped.clone(), w.looks.clone(), w.stream.clone()], Ty::Int)
                };
            }
            _ => {}
        }
    }

    /// A push where pushes gather.
    fn push(&mut self, s: &mut Stmt, w: &Within, proved: bool, locals: &mut Vec<Local>) {
        let Some((gathered, ty)) = self.gathered.clone() else { return };
        let StmtKind::Push(value) = &mut s.kind else { return };
        let at = At(s.span);
        let mut value = std::mem::replace(value, at.int(0));
        let mut body = Vec::new();
        let mut calls = false;
        walk::expression(&value, &mut |e| calls |= matches!(e.kind, ExprKind::Call(..)));
        if calls || !proved {
            // the place is known once the value is: on its way there may be pushes
            let t = LocalId::from(locals.len());
            locals.push(Local {
                name: name("item"),
                ty: value.ty.clone(),
                by_ref: false,
                written: false,
                span: s.span,
            });
            let item = at.expr(ExprKind::Local(t), value.ty.clone());
            body.push(at.stmt(StmtKind::Let { local: t, init: Some(value), dims: Vec::new() }));
            value = item;
        }
        if let (Some(l), false) = (self.limits, proved) {
            let again = at.forever(at.stmt(StmtKind::Push(value.clone())));
            body.push(at.when(at.binary(BinaryOp::Ge, w.pushed.clone(), at.field(l.pushes)), vec![again]));
        }
        let x = at.up(w.pushed.clone());
        let place = self.position(at, self.turns.given, x, w.stream.clone(), None);
        let item = ty.element().cloned().unwrap_or(Ty::Error);
        let all = at.expr(ExprKind::Field(gathered), ty);
        let place = at.expr(ExprKind::Index(Box::new(all), Box::new(place)), item);
        body.push(at.set(place, value));
        s.kind = StmtKind::Block(body);
    }

    /// `work` or `prework`: the streams in turn.
    fn entry(&mut self, w: &WorkDef, text: &str, proved: bool) -> Option<WorkDef> {
        let at = At(w.span);
        let all = rates(w.rates, self.turns)?;
        let (s, k) = (LocalId(0), LocalId(1));
        let mut body = Vec::new();
        if let Some(l) = self.limits {
            for (field, n) in [(l.looks, w.rates.peek), (l.pops, w.rates.pop), (l.pushes, w.rates.push)] {
                body.push(at.set(at.field(field), at.int(n)));
            }
        }
        let mut turn = Vec::new();
        if let Some((popped, pushed)) = self.counters {
            turn.extend([popped, pushed].map(|f| at.set(at.field(f), at.int(0))));
        }
        turn.push(at.stmt(StmtKind::Expr(at.call(w.function, vec![at.local(s)], Ty::Void))));
        if let (Some((_, pushed)), Some(_), false) = (self.counters, &self.gathered, proved) {
            // nothing has been put out yet, so to stop here is to push too little
            let less = at.binary(BinaryOp::Lt, at.field(pushed), at.int(w.rates.push));
            turn.push(at.when(less, vec![at.stmt(StmtKind::Return(None))]));
        }
        body.push(at.each(s, self.turns.streams, turn));
        if let Some((gathered, ty)) = self.gathered.clone().filter(|_| all.push > 0) {
            let item = ty.element().cloned().unwrap_or(Ty::Error);
            let array = at.expr(ExprKind::Field(gathered), ty);
            let one = at.expr(ExprKind::Index(Box::new(array), Box::new(at.local(k))), item);
            body.push(at.each(k, all.push, vec![at.stmt(StmtKind::Push(one))]));
        }
        let id = FnId::from(self.code.functions.len());
        let locals = vec![int_local("stream", w.span, true), int_local("item", w.span, true)];
        let f = Function { name: name(text), params: 0, locals, ret: Ty::Void, body, span: w.span };
        self.code.functions.push(f);
        Some(WorkDef { function: id, rates: all, dynamic: None, ..w.clone() })
    }
}

fn name(text: &str) -> Name {
    Arc::from(text)
}

fn int_local(text: &str, span: Span, written: bool) -> Local {
    Local { name: name(text), ty: Ty::Int, by_ref: false, written, span }
}

/// Expressions and statements at a place.
#[derive(Clone, Copy)]
struct At(Span);

impl At {
    fn expr(self, kind: ExprKind, ty: Ty) -> Expr {
        Expr { kind, ty, span: self.0 }
    }

    fn int(self, i: u32) -> Expr {
        self.expr(ExprKind::Const(Const::Int(i as i32)), Ty::Int)
    }

    fn local(self, l: LocalId) -> Expr {
        self.expr(ExprKind::Local(l), Ty::Int)
    }

    fn field(self, f: FieldId) -> Expr {
        self.expr(ExprKind::Field(f), Ty::Int)
    }

    fn binary(self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        let compares = matches!(op, BinaryOp::Lt | BinaryOp::Ge);
        self.expr(ExprKind::Binary(op, Box::new(a), Box::new(b)), if compares { Ty::Bool } else { Ty::Int })
    }

    /// `place++`
    fn up(self, place: Expr) -> Expr {
        self.expr(ExprKind::IncDec { place: Box::new(place), inc: true, prefix: false }, Ty::Int)
    }

    fn call(self, f: FnId, args: Vec<Expr>, ty: Ty) -> Expr {
        self.expr(ExprKind::Call(Callee::Own(f), args), ty)
    }

    fn stmt(self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.0 }
    }

    fn set(self, place: Expr, value: Expr) -> Stmt {
        self.stmt(StmtKind::Assign { place, value })
    }

    /// `int local = 0;`
    fn zero(self, local: LocalId) -> Stmt {
        self.stmt(StmtKind::Let { local, init: Some(self.int(0)), dims: Vec::new() })
    }

    fn when(self, cond: Expr, then: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::If { cond, then, els: Vec::new() })
    }

    /// `for (int v = 0; v < n; v++)`
    fn each(self, v: LocalId, n: u32, body: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::For {
            init: vec![self.zero(v)],
            cond: Some(self.binary(BinaryOp::Lt, self.local(v), self.int(n))),
            step: vec![self.stmt(StmtKind::Expr(self.up(self.local(v))))],
            body,
        })
    }

    /// Again and again, until it stops the program.
    fn forever(self, what: Stmt) -> Stmt {
        let always = self.expr(ExprKind::Const(Const::Bool(true)), Ty::Bool);
        self.stmt(StmtKind::While { cond: always, body: vec![what] })
    }
}
