//! # verify
//!
//! Purpose: the rules of the kernel IR, checked. Input: a [`Kernel`]. Output: the first rule it breaks, in words.
//! Run after every pass in debug builds and tests. The rules:
//!
//! - ids are in range, parameters are among the locals, work functions take and give nothing;
//! - every expression has the type its operation gives, conditions are boolean, indices and bounds int;
//! - a place's steps fit its type; tables, `Peek` and `In` are not written, `Out` is not read; only arrays are `by_ref`;
//! - an assignment's value has the place's type; aggregates are moved only by `Load` and `Zero`;
//! - a loop's variable is an int local that its body does not write, its step is not 0;
//! - breaks leave an enclosing construct, continues an enclosing loop;
//! - `Pop`, `Push`, `Peek` and their checks do not occur together with `In` and `Out`;
//! - initial values and tables have their types, a tape's field the elements that it moves through.

use crate::ir::*;
use crate::types;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Checks a kernel.
pub fn verify(kernel: &Kernel) -> Result<(), String> {
    for s in &kernel.state {
        if !types::const_has_type(&s.initial, &s.ty, &kernel.structs) {
            return Err(format!("the initial value of {} does not have its type", s.name));
        }
    }
    for t in &kernel.tables {
        if !types::const_has_type(&t.value, &t.ty, &kernel.structs) {
            return Err(format!("the table {} does not have its type", t.name));
        }
    }
    let mut own: Vec<u32> = kernel.tables.iter().filter_map(|t| t.own).collect();
    own.sort_unstable();
    if own.windows(2).any(|two| two[0] == two[1]) || kernel.tables.iter().any(|t| t.own.is_some() && t.shared.is_some())
    {
        return Err("a table's own number is another's, or it is shared".into());
    }
    for w in [Some(&kernel.work), kernel.prework.as_ref()].into_iter().flatten() {
        let f = kernel.functions.get(w.function.index()).ok_or("a work function that does not exist")?;
        if f.params != 0 || f.ret != Ty::Void {
            return Err(format!("the work function {} has parameters or a result", f.name));
        }
    }
    if kernel.handlers.iter().any(|(_, f)| f.index() >= kernel.functions.len()) {
        return Err("a handler that does not exist".into());
    }
    if let Some(l) = &kernel.lanes {
        let f = kernel.functions.get(l.function.index()).ok_or("a lanes function that does not exist")?;
        if l.varying.len() != f.locals.len() || l.unroll == 0 || l.deep < l.unroll {
            return Err("a lanes function does not fit its description".into());
        }
        if l.narrow.as_ref().is_some_and(|n| n.locals.len() != f.locals.len() || l.strands != 1) {
            return Err("the bounds of a lanes function are not those of its locals".into());
        }
        let (r, n) = (kernel.work.rates, l.strands);
        let parts = 1 + u32::from(l.parts);
        if l.parts && [&kernel.input, &kernel.output] != [&Ty::Complex; 2] {
            return Err("parts of what is not complex take turns".into());
        }
        if n == 0 || n > 1 && !([r.pop, r.peek].iter().all(|x| (x * parts).is_multiple_of(n)) && r.push * parts == n) {
            return Err(format!("{n} streams do not take turns in {} and {} items in, {} out", r.pop, r.peek, r.push));
        }
    }
    if let Some(s) = &kernel.steps {
        let f = kernel.functions.get(s.function.index()).ok_or("a function of firings in step that does not exist")?;
        if f.params != 0 || f.ret != Ty::Void || s.firings < 2 {
            return Err("a function of firings in step does not fit its description".into());
        }
    }
    for t in &kernel.tapes {
        let room = t.elements();
        let len = kernel.state.get(t.state.index()).and_then(|s| s.ty.known_len());
        if len.map(u64::from) != Some(room) || t.step == 0 {
            return Err(format!("tape {} has no field of {room} elements", t.state));
        }
    }
    let choices = &kernel.function(kernel.work.function).locals;
    if kernel.chosen.iter().any(|id| id.index() >= choices.len()) {
        return Err("a choice that is no local of the firing".into());
    }
    let mut form = None;
    for (i, f) in kernel.functions.iter().enumerate() {
        let lanes = kernel.lanes.as_ref().is_some_and(|l| l.function.index() == i);
        let mut v = Verifier { kernel, f, lanes, nest: Vec::new(), form: &mut form };
        v.function().map_err(|e| format!("{} ({}): {e}", f.name, FuncId::from(i)))?;
    }
    Ok(())
}

/// Panics where a kernel breaks the rules, in debug builds and tests only; names the pass that did it.
pub fn debug_verify(kernel: &Kernel, after: &str) {
    if cfg!(debug_assertions)
        && let Err(e) = verify(kernel)
    {
        panic!("after {after}: {e}\n{}", crate::text::print(kernel));
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Pop, push, peek.
    Channels,
    /// Positions.
    Positions,
}

#[derive(Clone, Copy, PartialEq)]
enum Nest {
    Loop,
    Block,
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    f: &'a Function,
    /// It is the function of firings side by side.
    lanes: bool,
    nest: Vec<Nest>,
    form: &'a mut Option<Form>,
}

type Check0 = Result<(), String>;

impl Verifier<'_> {
    fn function(&mut self) -> Check0 {
        if self.f.params as usize > self.f.locals.len() {
            return Err("more parameters than locals".into());
        }
        for (i, l) in self.f.locals.iter().enumerate() {
            if l.by_ref && (i >= self.f.params as usize || !matches!(l.ty, Ty::Array(..))) {
                return Err(format!("{} cannot be by reference", l.name));
            }
            if matches!(l.ty, Ty::Void | Ty::Error | Ty::Str) {
                return Err(format!("{} has no type", l.name));
            }
        }
        self.body(&self.f.body)
    }

    fn body(&mut self, body: &[Stmt]) -> Check0 {
        body.iter().try_for_each(|s| self.stmt(s))
    }

    fn nested(&mut self, kind: Nest, body: &[Stmt]) -> Check0 {
        self.nest.push(kind);
        let r = self.body(body);
        self.nest.pop();
        r
    }

    fn form(&mut self, form: Form) -> Check0 {
        match *self.form {
            Some(f) if f != form => Err("channel operations before and after lower_channels are mixed".into()),
            _ => {
                *self.form = Some(form);
                Ok(())
            }
        }
    }

    fn stmt(&mut self, s: &Stmt) -> Check0 {
        match &s.kind {
            StmtKind::Assign(p, e) => {
                let ty = self.target(p)?;
                self.value(e, &ty)
            }
            StmtKind::Pop(dst) => {
                self.form(Form::Channels)?;
                if let Some(p) = dst {
                    let ty = self.target(p)?;
                    same(&ty, &self.kernel.input)?;
                }
                Ok(())
            }
            StmtKind::Push(e) => {
                self.form(Form::Channels)?;
                self.value(e, &self.kernel.output)
            }
            StmtKind::Call { dst, callee, args } => self.call(dst.as_ref(), *callee, args),
            StmtKind::Check(c) => self.check(c),
            StmtKind::If(c, a, b) => {
                self.value(c, &Ty::Bool)?;
                self.body(a)?;
                self.body(b)
            }
            StmtKind::For(l) => {
                let var = self.f.locals.get(l.var.index()).ok_or("a loop variable that does not exist")?;
                same(&var.ty, &Ty::Int)?;
                if l.step == 0 || !matches!(l.cmp, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge) {
                    return Err("a loop without a step or comparison".into());
                }
                let mut written = false;
                walk::each_written(&l.body, &mut |id| written |= id == l.var);
                if written {
                    return Err(format!("a loop writes its variable {}", var.name));
                }
                self.value(&l.from, &Ty::Int)?;
                self.value(&l.to, &Ty::Int)?;
                self.nested(Nest::Loop, &l.body)
            }
            StmtKind::Loop(b) => self.nested(Nest::Loop, b),
            StmtKind::Block(b) => self.nested(Nest::Block, b),
            StmtKind::Break(d) | StmtKind::Continue(d) => {
                let n = self.nest.len();
                let target = n.checked_sub(1 + *d as usize).and_then(|i| self.nest.get(i));
                match (&s.kind, target) {
                    (_, None) => Err("a break or continue out of the function".into()),
                    (StmtKind::Continue(_), Some(Nest::Block)) => Err("a continue of a block".into()),
                    _ => Ok(()),
                }
            }
            StmtKind::Return(None) => same(&self.f.ret, &Ty::Void),
            StmtKind::Return(Some(e)) => self.value(e, &self.f.ret),
            StmtKind::Print(e) => {
                let ty = self.expr(e)?;
                if ty.is_aggregate() { Err("an aggregate is printed".into()) } else { Ok(()) }
            }
            StmtKind::PrintText(_) => Ok(()),
            StmtKind::Send(m) => m.args.iter().try_for_each(|e| self.expr(e).map(|_| ())),
        }
    }

    fn call(&mut self, dst: Option<&Place>, callee: Callee, args: &[Arg]) -> Check0 {
        let (params, ret): (Vec<(Ty, bool)>, &Ty) = match callee {
            Callee::Func(id) => {
                let f = self.kernel.functions.get(id.index()).ok_or("a call of a function that does not exist")?;
                (f.locals[..f.params as usize].iter().map(|l| (l.ty.clone(), l.by_ref)).collect(), &f.ret)
            }
            Callee::Native(i) => {
                let n = self.kernel.natives.get(i as usize).ok_or("a call of a native that does not exist")?;
                (n.params.iter().map(|t| (t.clone(), matches!(t, Ty::Array(..)))).collect(), &n.ret)
            }
        };
        if params.len() != args.len() {
            return Err("a call with the wrong number of arguments".into());
        }
        for (a, (ty, by_ref)) in args.iter().zip(&params) {
            match a {
                Arg::Value(e) if !by_ref => self.value(e, ty)?,
                Arg::Ref(p) if *by_ref => same(&self.place(p)?, ty)?,
                _ => return Err("an argument by value for one by reference, or the reverse".into()),
            }
        }
        match dst {
            Some(p) => same(&self.target(p)?, ret),
            None => Ok(()),
        }
    }

    fn check(&mut self, c: &Check) -> Check0 {
        match c {
            Check::Peek(_) | Check::Pop | Check::Push | Check::Pushed | Check::Popped => self.form(Form::Channels)?,
            Check::PeekBeyond { .. }
            | Check::PopBeyond { .. }
            | Check::PushBeyond { .. }
            | Check::PushedLess { .. }
            | Check::PoppedLess { .. }
            | Check::Item(_)
            | Check::Room(_)
            | Check::Took(_)
            | Check::Gave(_) => self.form(Form::Positions)?,
            Check::Index { .. } | Check::Divisor(_) | Check::PeekNegative(_) | Check::NoResult => {}
        }
        c.operand().map_or(Ok(()), |e| self.value(e, &Ty::Int))
    }

    /// A place that is written.
    fn target(&mut self, p: &Place) -> Result<Ty, String> {
        match p.base {
            Base::Table(_) | Base::Peek(_) | Base::In(_) => Err("a write to what is only read".into()),
            _ => self.place(p),
        }
    }

    fn place(&mut self, p: &Place) -> Result<Ty, String> {
        match &p.base {
            Base::Peek(e) => {
                self.form(Form::Channels)?;
                self.value(e, &Ty::Int)?;
            }
            Base::In(e) | Base::Out(e) => {
                self.form(Form::Positions)?;
                self.value(e, &Ty::Int)?;
            }
            Base::Local(_) | Base::State(_) | Base::Table(_) => {}
        }
        for step in &p.path {
            if let Proj::Index(e) = step {
                self.value(e, &Ty::Int)?;
            }
        }
        types::place(self.kernel, &self.f.locals, p).ok_or_else(|| "a place that does not fit its variable".into())
    }

    fn value(&mut self, e: &Expr, ty: &Ty) -> Check0 {
        same(&self.expr(e)?, ty)
    }

    fn expr(&mut self, e: &Expr) -> Result<Ty, String> {
        let ty = match &e.kind {
            ExprKind::Const(c) => types::of_const(c),
            ExprKind::Zero => Some(e.ty.clone()),
            ExprKind::Load(p) => {
                if matches!(p.base, Base::Out(_)) {
                    return Err("the output is read".into());
                }
                Some(self.place(p)?)
            }
            ExprKind::Unary(op, a) => types::unary(*op, &self.expr(a)?),
            ExprKind::Binary(op, a, b) => {
                let ty = self.expr(a)?;
                same(&self.expr(b)?, &ty)?;
                types::binary(*op, &ty)
            }
            ExprKind::Select(c, a, b) => {
                same(&self.expr(c)?, &Ty::Bool)?;
                let ty = self.expr(a)?;
                same(&self.expr(b)?, &ty)?;
                (!ty.is_aggregate()).then_some(ty)
            }
            ExprKind::Convert(a) => types::converts(&self.expr(a)?, &e.ty).then(|| e.ty.clone()),
            ExprKind::Builtin(f, args) => {
                let args = args.iter().map(|a| self.expr(a)).collect::<Result<Vec<_>, _>>()?;
                types::builtin(*f, &args)
            }
            ExprKind::Compose(parts) => {
                for p in parts {
                    same(&self.expr(p)?, &Ty::Float)?;
                }
                (types::components(&e.ty) == Some(parts.len() as u8)).then(|| e.ty.clone())
            }
            ExprKind::Component(a, i) => types::components(&self.expr(a)?).filter(|n| i < n).map(|_| Ty::Float),
            ExprKind::Iter => Some(Ty::Int),
            ExprKind::Any(_) if !self.lanes => return Err("firings side by side are asked about by one of them".into()),
            ExprKind::Any(a) => Some(self.expr(a)?).filter(|ty| *ty == Ty::Bool),
        };
        let ty = ty.ok_or_else(|| format!("an operation that its operands do not have: {:?}", e.kind))?;
        same(&e.ty, &ty)?;
        Ok(ty)
    }
}

fn same(a: &Ty, b: &Ty) -> Check0 {
    if a == b { Ok(()) } else { Err(format!("{} where {} is wanted", crate::text::ty(a), crate::text::ty(b))) }
}

/// Which locals a function assigns anywhere.
pub fn written_locals(f: &Function) -> Vec<bool> {
    let mut out = vec![false; f.locals.len()];
    walk::each_written(&f.body, &mut |id: LocalId| out[id.index()] = true);
    out
}
