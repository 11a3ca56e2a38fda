//! # lower-channels
//!
//! Purpose: pops, peeks and pushes become reads and writes at positions that count from the firing's first item.
//! Input: a kernel after `inline`. Output: the same with [`Base::In`] and [`Base::Out`] only.
//!
//! ```text
//! for $i = 0 < 4 step 1 { pop $0  push ($0 + peek(1)) }
//!   →   for $i = 0 < 4 step 1 { $0 = in($i)  out($i) = ($0 + in(($i + 2))) }
//! ```
//!
//! Where it is known how many items each statement moves, positions are expressions of loop variables; elsewhere an int
//! variable counts (in recursive functions: a state field, set to 0 at the start of a firing).

use super::clean::{int_local, trip};
use super::inline::uses_channels;
use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;

/// Lowers the channel operations of all functions.
pub fn run(kernel: &mut Kernel) {
    let entries: Vec<Work> = [Some(kernel.work), kernel.prework].into_iter().flatten().collect();
    // recursive functions that use the channels, and with them everything
    let spread = kernel
        .functions
        .iter()
        .enumerate()
        .any(|(i, f)| uses_channels(&f.body) && !entries.iter().any(|w| w.function.index() == i));
    let counters = spread.then(|| {
        let mut field = |name: &str| {
            kernel.state.push(StateField { name: name.into(), ty: Ty::Int, initial: Const::Int(0) });
            StateId::from(kernel.state.len() - 1)
        };
        (field("popped"), field("pushed"))
    });
    let mut done = vec![false; kernel.functions.len()];
    // what no firing calls any more is lowered last, as if `work` did: it must not keep the other form
    let left = (0..kernel.functions.len()).map(FuncId::from);
    let left: Vec<FuncId> = left.filter(|f| spread && uses_channels(&kernel.functions[f.index()].body)).collect();
    let starts = entries.iter().map(|w| (w, vec![w.function])).chain([(&entries[0], left)]);
    for (w, mut stack) in starts {
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut done[id.index()], true) {
                continue;
            }
            walk::each_stmt(&kernel.functions[id.index()].body, &mut |s| {
                if let StmtKind::Call { callee: Callee::Func(c), .. } = s.kind {
                    stack.push(c);
                }
            });
            let f = &mut kernel.functions[id.index()];
            let first = id == w.function;
            for input in [true, false] {
                let mut c = Cursor { input, work: *w, item: kernel.input.clone(), kind: CursorKind::Known };
                if let Some((popped, pushed)) = counters {
                    let field = if input { popped } else { pushed };
                    c.kind = CursorKind::Counted(Place::state(field));
                    c.body(&mut f.body, &Expr::int(0));
                    if first {
                        let zero = StmtKind::Assign(Place::state(field), Expr::int(0)).at(f.span);
                        f.body.insert(0, zero);
                    }
                } else if moved(&f.body, input).is_some() {
                    c.body(&mut f.body, &Expr::int(0));
                } else {
                    let id = int_local(f, if input { "popped" } else { "pushed" });
                    c.kind = CursorKind::Counted(Place::local(id));
                    c.body(&mut f.body, &Expr::int(0));
                    f.body.insert(0, StmtKind::Assign(Place::local(id), Expr::int(0)).at(f.span));
                }
            }
        }
    }
}

/// How many items the statements pop (or push), where every way through them moves the same number.
fn moved(body: &[Stmt], input: bool) -> Option<u32> {
    let mut sum: u32 = 0;
    for s in body {
        let n = match &s.kind {
            StmtKind::Pop(_) => u32::from(input),
            StmtKind::Push(_) => u32::from(!input),
            StmtKind::If(_, a, b) => {
                let (x, y) = (moved(a, input)?, moved(b, input)?);
                if x != y {
                    return None;
                }
                x
            }
            StmtKind::For(l) => {
                let n = moved(&l.body, input)?;
                if n == 0 {
                    0
                } else {
                    let (turns, _) = trip(l)?;
                    if walk::leaves(&l.body, 0, true, true) {
                        return None;
                    }
                    u32::try_from(turns).ok()?.checked_mul(n)?
                }
            }
            StmtKind::Loop(b) => {
                if moved(b, input)? != 0 {
                    return None;
                }
                0
            }
            StmtKind::Block(b) => {
                let n = moved(b, input)?;
                if n != 0 && walk::leaves(b, 0, true, true) {
                    return None;
                }
                n
            }
            _ => 0,
        };
        sum = sum.checked_add(n).filter(|s| i32::try_from(*s).is_ok())?;
    }
    Some(sum)
}

enum CursorKind {
    /// The position is an expression.
    Known,
    /// A variable counts.
    Counted(Place),
}

struct Cursor {
    /// The input's, or the output's?
    input: bool,
    work: Work,
    /// Type of the input's items.
    item: Ty,
    kind: CursorKind,
}

impl Cursor {
    /// The current position, where `known` is the one that is tracked.
    fn now(&self, known: &Expr) -> Expr {
        match &self.kind {
            CursorKind::Known => known.clone(),
            CursorKind::Counted(p) => Expr::load(p.clone(), Ty::Int),
        }
    }

    /// Rewrites statements; gives the position after them.
    fn body(&self, body: &mut Vec<Stmt>, start: &Expr) -> Expr {
        let mut at = start.clone();
        let mut out: Vec<Stmt> = Vec::with_capacity(body.len());
        for mut s in std::mem::take(body) {
            let now = self.now(&at);
            if self.input {
                s.kind.each_own_expr_mut(&mut |e| peeks(e, &now));
                if let StmtKind::Call { args, .. } = &mut s.kind {
                    for a in args {
                        if let Arg::Ref(p) = a {
                            peek_base(p, &now);
                        }
                    }
                }
            }
            let span = s.span;
            let (bounds, attempt) = (self.work.bounds(), self.work.dynamic.is_some());
            match s.kind {
                StmtKind::Pop(dst) if self.input => {
                    if let Some(p) = dst {
                        let item = Place { base: Base::In(Box::new(now.clone())), path: Vec::new() };
                        out.push(StmtKind::Assign(p, Expr::load(item, self.item.clone())).at(span));
                    }
                    self.advance(&mut at, &mut out, span);
                }
                StmtKind::Push(v) if !self.input => {
                    let slot = Place { base: Base::Out(Box::new(now.clone())), path: Vec::new() };
                    out.push(StmtKind::Assign(slot, v).at(span));
                    self.advance(&mut at, &mut out, span);
                }
                StmtKind::Check(Check::Pop) if self.input => {
                    if let Some(pop) = bounds.pop.1 {
                        out.push(StmtKind::Check(Check::PopBeyond { popped: now.clone(), pop }).at(span));
                    }
                    if attempt {
                        out.push(StmtKind::Check(Check::Item(now)).at(span));
                    }
                }
                StmtKind::Check(Check::Peek(e)) if self.input => {
                    out.push(StmtKind::Check(Check::PeekNegative(e.clone())).at(span));
                    let position = Expr::add(now, e);
                    if let Some(peek) = bounds.look.1 {
                        out.push(StmtKind::Check(Check::PeekBeyond { position: position.clone(), peek }).at(span));
                    }
                    if attempt {
                        out.push(StmtKind::Check(Check::Item(position)).at(span));
                    }
                }
                StmtKind::Check(Check::Push) if !self.input => {
                    if let Some(push) = bounds.push.1 {
                        out.push(StmtKind::Check(Check::PushBeyond { pushed: now.clone(), push }).at(span));
                    }
                    if attempt {
                        out.push(StmtKind::Check(Check::Room(now)).at(span));
                    }
                }
                StmtKind::Check(Check::Pushed) if !self.input => {
                    out.push(StmtKind::Check(Check::PushedLess { pushed: now.clone(), push: bounds.push.0 }).at(span));
                    if attempt {
                        out.push(StmtKind::Check(Check::Gave(now)).at(span));
                    }
                }
                StmtKind::Check(Check::Popped) if self.input => {
                    let decides = self.work.dynamic.is_some_and(|d| d.pop.is_some());
                    if decides {
                        let check = Check::PoppedLess { popped: now.clone(), least: bounds.pop.0 };
                        out.push(StmtKind::Check(check).at(span));
                    }
                    let took = if decides { now } else { Expr::int(self.work.rates.pop as i32) };
                    out.push(StmtKind::Check(Check::Took(took)).at(span));
                }
                StmtKind::If(c, mut a, mut b) => {
                    let after = self.body(&mut a, &at);
                    self.body(&mut b, &at);
                    // both ways move the same number of items
                    at = after;
                    out.push(StmtKind::If(c, a, b).at(span));
                }
                StmtKind::For(mut l) => {
                    let n = moved(&l.body, self.input).unwrap_or(0);
                    let first = if n == 0 { at.clone() } else { Expr::add(at.clone(), turn_times(&l, n)) };
                    self.body(&mut l.body, &first);
                    if n != 0
                        && let Some((turns, _)) = trip(&l)
                    {
                        at = Expr::add(at, Expr::int((turns as u32).wrapping_mul(n) as i32));
                    }
                    out.push(StmtKind::For(l).at(span));
                }
                StmtKind::Loop(mut b) => {
                    self.body(&mut b, &at);
                    out.push(StmtKind::Loop(b).at(span));
                }
                StmtKind::Block(mut b) => {
                    at = self.body(&mut b, &at);
                    out.push(StmtKind::Block(b).at(span));
                }
                kind => out.push(kind.at(span)),
            }
        }
        *body = out;
        at
    }

    fn advance(&self, at: &mut Expr, out: &mut Vec<Stmt>, span: sluice_grammar::span::Span) {
        match &self.kind {
            CursorKind::Known => *at = Expr::add(std::mem::replace(at, Expr::int(0)), Expr::int(1)),
            CursorKind::Counted(p) => {
                let next = Expr::add(Expr::load(p.clone(), Ty::Int), Expr::int(1));
                out.push(StmtKind::Assign(p.clone(), next).at(span));
            }
        }
    }
}

/// `n` times the number of turns before this one.
fn turn_times(l: &For, n: u32) -> Expr {
    let var = Expr::local(l.var, Ty::Int);
    let from = l.from.as_int().unwrap_or(0);
    let distance = Expr::add(var, Expr::int(from.wrapping_neg()));
    // both are exact: the loop has constant bounds and does not wrap
    let turns = match l.step {
        1 => distance,
        s => Expr::binary(BinaryOp::Div, distance, Expr::int(s), Ty::Int),
    };
    if n == 1 { turns } else { Expr::binary(BinaryOp::Mul, turns, Expr::int(n as i32), Ty::Int) }
}

/// `peek(i)` in an expression becomes the item at the cursor plus `i`.
fn peeks(e: &mut Expr, now: &Expr) {
    e.walk_mut(&mut |e| {
        if let ExprKind::Load(p) = &mut e.kind {
            peek_base(p, now);
        }
    });
}

fn peek_base(p: &mut Place, now: &Expr) {
    if let Base::Peek(i) = &p.base {
        p.base = Base::In(Box::new(Expr::add(now.clone(), (**i).clone())));
    }
}
