//! The abstract interpreter of [`super`].
//!
//! Takes the code and the declared rates, gives the state at the end of a firing and what was noticed on the way.

use super::super::interval::{self, Count, Known};
use super::super::walk as tree;
use super::BUDGET;
use super::domain::{Jumps, State, Watch, join};
use crate::ids::LocalId;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::span::Span;

mod filled;
mod loops;

/// Calls within calls that are inlined.
const DEPTH: u32 = 24;

pub(super) struct Walk<'a> {
    code: &'a FilterCode,
    globals: &'a Globals,
    bounds: Bounds,
    steps: u64,
    depth: u32,
    /// The function whose body is looked at.
    current: Option<&'a Function>,
    /// Counting from the start of a loop's body, not of the firing: no time to notice anything.
    relative: u32,
    /// What ways through the loop's body do that never end, counted like that.
    stuck: Option<loops::Done>,
    /// Within a place that is looked at as a whole.
    inside: u32,
    watch: Watch,
}

/// Analyses a body: the state where it ends, if it does. `follow` asks for [`Watch::exposed`].
pub(super) fn run<'a>(
    code: &'a FilterCode,
    def: &WorkDef,
    globals: &'a Globals,
    follow: bool,
) -> (Option<State<'a>>, Watch) {
    let mut w = Walk {
        code,
        globals,
        bounds: def.bounds(),
        steps: 0,
        depth: 0,
        current: None,
        relative: 0,
        stuck: None,
        inside: 0,
        watch: Watch::default(),
    };
    let Some(f) = code.functions.get(def.function.index()) else { return (None, w.watch) };
    w.current = Some(f);
    let fields = code.fields.iter().map(|f| if f.constant { Known::of(&f.initial) } else { Known::any(&f.ty) });
    let state = State {
        pops: Count::default(),
        pushes: Count::default(),
        looked: Count::default(),
        locals: f.locals.iter().map(|l| Known::any(&l.ty)).collect(),
        fields: fields.collect(),
        filled: Walk::nothing_filled(code, follow),
        result: Known::Nothing,
    };
    let mut jumps = Jumps::default();
    let end = w.stmts(&f.body, Some(state), &mut jumps);
    (join(end, jumps.returns), w.watch)
}

impl<'a> Walk<'a> {
    fn stmts(&mut self, stmts: &'a [Stmt], mut at: Option<State<'a>>, jumps: &mut Jumps<'a>) -> Option<State<'a>> {
        for s in stmts {
            at = self.stmt(s, at?, jumps);
        }
        at
    }

    fn stmt(&mut self, s: &'a Stmt, mut at: State<'a>, jumps: &mut Jumps<'a>) -> Option<State<'a>> {
        self.steps += 1;
        if self.steps > 8 * BUDGET {
            // loops nested so deeply that even looking at each of them takes too long
            self.anything(&mut at);
            at.locals.iter_mut().for_each(|l| *l = Known::Nothing);
            return Some(at);
        }
        let st = &mut at;
        match &s.kind {
            StmtKind::Let { local, init, .. } => {
                let ty = self.local_ty(*local, init.as_ref());
                let value = match init {
                    Some(e) => self.expr(e, st),
                    None => ty.and_then(crate::ops::Scalar::zero).map_or(Known::Nothing, Known::scalar),
                };
                set_local(st, *local, value);
            }
            StmtKind::Assign { place, value } => {
                let part = self.part(place, st, true);
                self.inside_place(place, st);
                let value = self.expr(value, st);
                self.assign(place, value, st);
                Self::fills(part, st);
            }
            StmtKind::AssignOp { place, op, in_ty, value } => {
                let old = self.expr(place, st);
                let old = interval::convert(old, in_ty);
                let value = self.expr(value, st);
                let new = interval::convert(interval::binary(*op, old, value, in_ty), &place.ty);
                self.assign(place, new, st);
            }
            StmtKind::Expr(e) | StmtKind::Print { value: e, .. } => {
                self.expr(e, st);
            }
            StmtKind::Push(e) => {
                self.expr(e, st);
                st.pushes = st.pushes.plus(Count::exactly(1));
                self.notice(st, s.span);
            }
            StmtKind::If { cond, then, els } => {
                return match self.expr(cond, st).truth() {
                    Some(true) => self.stmts(then, Some(at), jumps),
                    Some(false) => self.stmts(els, Some(at), jumps),
                    None => {
                        let a = self.stmts(then, Some(at.clone()), jumps);
                        let b = self.stmts(els, Some(at), jumps);
                        join(a, b)
                    }
                };
            }
            StmtKind::For { init, cond, step, body } => {
                let at = self.stmts(init, Some(at), jumps)?;
                return self.repeat(cond.as_ref(), body, step, at, jumps, s.span);
            }
            StmtKind::While { cond, body } => return self.repeat(Some(cond), body, &[], at, jumps, s.span),
            StmtKind::DoWhile { body, cond } => return self.do_while(body, cond, at, jumps, s.span),
            StmtKind::Switch { value, cases } => return self.switch(value, cases, at, jumps),
            StmtKind::Break => {
                jumps.breaks = join(jumps.breaks.take(), Some(at));
                return None;
            }
            StmtKind::Continue => {
                jumps.continues = join(jumps.continues.take(), Some(at));
                return None;
            }
            StmtKind::Return(e) => {
                st.result = e.as_ref().map_or(Known::Nothing, |e| self.expr(e, st));
                jumps.returns = join(jumps.returns.take(), Some(at));
                return None;
            }
            StmtKind::Block(body) => return self.stmts(body, Some(at), jumps),
            StmtKind::Send(_) => {
                for e in tree::operands(s) {
                    self.expr(e, st);
                }
            }
            StmtKind::Stream(_) => {}
        }
        Some(at)
    }

    /// The type of a local, by what initialises it or by the zero it gets; only scalars matter.
    fn local_ty(&self, id: LocalId, init: Option<&'a Expr>) -> Option<&'a Ty> {
        if let Some(e) = init {
            return Some(&e.ty);
        }
        let f = self.current?;
        f.locals.get(id.index()).map(|l| &l.ty)
    }

    fn switch(
        &mut self,
        value: &'a Expr,
        cases: &'a [SwitchCase],
        mut at: State<'a>,
        jumps: &mut Jumps<'a>,
    ) -> Option<State<'a>> {
        let known = self.expr(value, &mut at).int();
        let default = cases.iter().position(|c| c.default);
        // the cases where execution may enter
        let entries: Vec<usize> = match known {
            Some(n) => (cases.iter().position(|c| c.labels.contains(&n))).or(default).into_iter().collect(),
            None => (0..cases.len()).filter(|i| cases[*i].default || !cases[*i].labels.is_empty()).collect(),
        };
        let past = match known {
            Some(_) => entries.is_empty(),
            None => default.is_none(),
        };
        let mut inner = Jumps { continues: jumps.continues.take(), returns: jumps.returns.take(), breaks: None };
        let mut flowing = None;
        for (i, c) in cases.iter().enumerate() {
            if entries.contains(&i) {
                flowing = join(flowing, Some(at.clone()));
            }
            flowing = self.stmts(&c.body, flowing, &mut inner);
        }
        (jumps.continues, jumps.returns) = (inner.continues, inner.returns);
        join(join(flowing, inner.breaks), past.then_some(at))
    }

    fn assign(&mut self, place: &'a Expr, value: Known<'a>, st: &mut State<'a>) {
        match place.kind {
            ExprKind::Local(id) => set_local(st, id, scalar_only(place, value)),
            ExprKind::Field(id) => {
                if let Some(f) = st.fields.get_mut(id.index()) {
                    *f = scalar_only(place, value);
                }
            }
            _ => match tree::root(place).kind {
                // a part changes: the whole is not known any more
                ExprKind::Local(id) => set_local(st, id, Known::Nothing),
                ExprKind::Field(id) => {
                    if let Some(f) = st.fields.get_mut(id.index()) {
                        *f = Known::Nothing;
                    }
                }
                _ => {}
            },
        }
    }

    /// Evaluates the indices in a place.
    fn inside_place(&mut self, place: &'a Expr, st: &mut State<'a>) {
        match &place.kind {
            ExprKind::Index(base, index) => {
                self.inside_place(base, st);
                self.expr(index, st);
            }
            ExprKind::Member(base, _) | ExprKind::Component(base, _) => self.inside_place(base, st),
            _ => {}
        }
    }

    fn expr(&mut self, e: &'a Expr, st: &mut State<'a>) -> Known<'a> {
        match &e.kind {
            ExprKind::Const(c) => Known::of(c),
            ExprKind::Local(id) => st.locals.get(id.index()).copied().unwrap_or(Known::any(&e.ty)),
            ExprKind::Field(id) => {
                if self.inside == 0 {
                    self.reads(e, st);
                }
                st.fields.get(id.index()).copied().unwrap_or(Known::any(&e.ty))
            }
            ExprKind::Static(id) => {
                self.globals.statics.get(id.index()).map_or(Known::any(&e.ty), |s| Known::of(&s.value))
            }
            ExprKind::Index(base, index) => {
                let base = self.whole(e, base, st);
                let inside = std::mem::take(&mut self.inside);
                let index = self.expr(index, st);
                self.inside = inside;
                match index.int().and_then(|i| usize::try_from(i).ok()) {
                    Some(i) => base.part(i, &e.ty),
                    None => Known::any(&e.ty),
                }
            }
            ExprKind::Member(base, i) => self.whole(e, base, st).part(*i as usize, &e.ty),
            ExprKind::Component(base, i) => {
                let whole = self.whole(e, base, st).exact();
                let part = whole.and_then(|s| s.component(*i)).map(crate::ops::Scalar::Float);
                part.map_or(Known::Nothing, Known::scalar)
            }
            ExprKind::Pop => {
                st.pops = st.pops.plus(Count::exactly(1));
                st.looked = st.looked.max(st.pops);
                self.notice(st, e.span);
                Known::any(&e.ty)
            }
            ExprKind::Peek(i) => {
                let reach = match self.expr(i, st) {
                    Known::Int(lo, hi) if lo >= 0 => Count { lo: lo as u64 + 1, hi: hi as u64 + 1 },
                    // as far as is known it may be negative: an error of its own, at run time
                    Known::Int(_, hi) => Count { lo: u64::from(hi >= 0), hi: u64::MAX },
                    _ => Count { lo: 0, hi: u64::MAX },
                };
                st.looked = st.looked.max(st.pops.plus(reach));
                self.notice(st, e.span);
                Known::any(&e.ty)
            }
            ExprKind::Iter => Known::any(&e.ty),
            ExprKind::Unary(op, a) => {
                let a = self.expr(a, st);
                interval::unary(*op, a, &e.ty)
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let decides = *op == BinaryOp::Or;
                match self.expr(a, st).truth() {
                    Some(x) if x == decides => Known::scalar(crate::ops::Scalar::Bool(x)),
                    Some(_) => self.expr(b, st),
                    None => {
                        let mut evaluated = st.clone();
                        let b = self.expr(b, &mut evaluated);
                        merge(st, evaluated);
                        if b.truth() == Some(decides) { b } else { Known::Nothing }
                    }
                }
            }
            ExprKind::Binary(op, a, b) => {
                let a = self.expr(a, st);
                let b = self.expr(b, st);
                interval::binary(*op, a, b, &e.ty)
            }
            ExprKind::Ternary(c, a, b) => match self.expr(c, st).truth() {
                Some(true) => self.expr(a, st),
                Some(false) => self.expr(b, st),
                None => {
                    let mut other = st.clone();
                    let a = self.expr(a, st);
                    let b = self.expr(b, &mut other);
                    merge(st, other);
                    a.join(b)
                }
            },
            ExprKind::Convert(inner) => {
                let a = self.expr(inner, st);
                // a cast has a place of its own
                if inner.ty == Ty::Int && e.ty == Ty::Float && inner.span == e.span {
                    let (lo, hi) = if let Known::Int(lo, hi) = a { (lo, hi) } else { (i64::MIN, i64::MAX) };
                    let seen = self.watch.widened.entry(e.span).or_insert((lo, hi));
                    *seen = (seen.0.min(lo), seen.1.max(hi));
                }
                interval::convert(a, &e.ty)
            }
            ExprKind::Builtin(f, args) => {
                let args: Vec<Known<'a>> = args.iter().map(|a| self.expr(a, st)).collect();
                interval::builtin(*f, &args, &e.ty)
            }
            ExprKind::Call(callee, args) => self.call(*callee, args, e, st),
            ExprKind::IncDec { place, inc, prefix } => {
                let old = self.expr(place, st);
                let one = interval::convert(Known::Int(1, 1), &place.ty);
                let op = if *inc { BinaryOp::Add } else { BinaryOp::Sub };
                let new = interval::binary(op, old, one, &place.ty);
                self.assign(place, new, st);
                if *prefix { new } else { old }
            }
            ExprKind::Array(items) | ExprKind::Compose(items) | ExprKind::Concat(items) => {
                for i in items {
                    self.expr(i, st);
                }
                Known::Nothing
            }
        }
    }

    /// What `e`, a part of `base`, is a part of.
    fn whole(&mut self, e: &'a Expr, base: &'a Expr, st: &mut State<'a>) -> Known<'a> {
        if self.inside == 0 {
            self.reads(e, st);
        }
        self.inside += 1;
        let known = self.expr(base, st);
        self.inside -= 1;
        known
    }

    fn call(&mut self, callee: Callee, args: &'a [Expr], e: &'a Expr, st: &mut State<'a>) -> Known<'a> {
        let values: Vec<Known<'a>> = args.iter().map(|a| self.expr(a, st)).collect();
        let code = self.code;
        let globals = self.globals;
        let Some(f) = super::super::state::function(code, globals, callee) else {
            // a native function: it may write every array that it gets
            for a in args.iter().filter(|a| matches!(a.ty, Ty::Array(..))) {
                self.assign_unknown(a, st);
            }
            return Known::any(&e.ty);
        };
        // arrays that the callee writes
        for a in args.iter().zip(&f.locals).filter(|(_, l)| l.by_ref && l.written).map(|(a, _)| a) {
            self.assign_unknown(a, st);
        }
        if self.depth >= DEPTH || self.steps > 4 * BUDGET {
            if matches!(callee, Callee::Own(_)) {
                self.anything(st);
            }
            return Known::any(&e.ty);
        }
        let mut locals: Vec<Known<'a>> = f.locals.iter().map(|l| Known::any(&l.ty)).collect();
        for ((slot, value), local) in locals.iter_mut().zip(values).zip(&f.locals) {
            if !(local.by_ref && local.written) {
                *slot = value;
            }
        }
        let outer = std::mem::replace(&mut st.locals, locals);
        let outer_result = std::mem::replace(&mut st.result, Known::Nothing);
        let outer_function = self.current.replace(f);
        self.depth += 1;
        let mut jumps = Jumps::default();
        let end = self.stmts(&f.body, Some(st.clone()), &mut jumps);
        self.depth -= 1;
        self.current = outer_function;
        let result = match join(end, jumps.returns) {
            Some(end) => {
                *st = end;
                std::mem::replace(&mut st.result, outer_result)
            }
            None => {
                // the call never ends: nothing that follows matters, but nothing may be claimed either
                self.anything(st);
                Known::Nothing
            }
        };
        st.locals = outer;
        if f.ret == Ty::Int && !matches!(result, Known::Int(..)) { interval::ANY_INT } else { result }
    }

    fn assign_unknown(&mut self, place: &'a Expr, st: &mut State<'a>) {
        tree::roots(place, &mut |root| match root.kind {
            ExprKind::Local(id) => set_local(st, id, Known::Nothing),
            ExprKind::Field(id) => {
                if let Some(f) = st.fields.get_mut(id.index()) {
                    *f = Known::Nothing;
                }
            }
            _ => {}
        });
    }

    /// A call of which nothing is known.
    fn anything(&mut self, st: &mut State<'a>) {
        let any = |c: &mut Count| c.hi = u64::MAX;
        any(&mut st.pops);
        any(&mut st.pushes);
        any(&mut st.looked);
        (self.watch.looked, self.watch.popped, self.watch.pushed) = (u64::MAX, u64::MAX, u64::MAX);
        self.reads_anything(st);
        self.forget_fields(st);
    }

    fn forget_fields(&self, st: &mut State<'a>) {
        for (f, def) in st.fields.iter_mut().zip(&self.code.fields) {
            if !def.constant {
                *f = Known::any(&def.ty);
            }
        }
    }

    /// Compares with the declared rates.
    fn notice(&mut self, st: &State<'a>, span: Span) {
        if self.relative > 0 {
            return;
        }
        let w = &mut self.watch;
        w.looked = w.looked.max(st.looked.hi);
        w.popped = w.popped.max(st.pops.hi);
        w.pushed = w.pushed.max(st.pushes.hi);
        let above = |n: Count, most: Option<u32>| most.is_some_and(|m| n.lo > u64::from(m));
        if w.pop.is_none() && above(st.pops, self.bounds.pop.1) {
            w.pop = Some(span);
        }
        if w.peek.is_none() && above(st.looked, self.bounds.look.1) {
            w.peek = Some(span);
        }
        if w.push.is_none() && above(st.pushes, self.bounds.push.1) {
            w.push = Some(span);
        }
    }
}

fn set_local<'a>(st: &mut State<'a>, id: LocalId, value: Known<'a>) {
    if let Some(l) = st.locals.get_mut(id.index()) {
        *l = value;
    }
}

/// A variable of aggregate type holds a copy that may be changed: nothing is known of it.
fn scalar_only<'a>(place: &Expr, value: Known<'a>) -> Known<'a> {
    if place.ty.is_aggregate() { Known::Nothing } else { value }
}

/// Joins into a state in place.
fn merge<'a>(st: &mut State<'a>, other: State<'a>) {
    if let Some(joined) = join(Some(st.clone()), Some(other)) {
        *st = joined;
    }
}
