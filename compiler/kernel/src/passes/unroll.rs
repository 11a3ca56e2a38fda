//! # unroll
//!
//! Purpose: counted loops as their turns written out: all of them where there are few, else several to a turn with the rest behind the loop.
//! Input, output: any kernel. Source: modulo scheduling's first step in "Method for Software Pipelining on GPUs", section 2.6.
//!
//! ```text
//! for $i = 0 < 3 step 1 { $a[$i] = in($i) }   →   $a[0] = in(0)  $a[1] = in(1)  $a[2] = in(2)  $i = 3
//! for $i = 0 < n step 1 { B($i) }             →   for $i = 0 < n-3 step 4 { B($i) B($i+1) B($i+2) B($i+3) }
//!                                                 for $i = $i < n step 1 { B($i) }
//! ```
//!
//! Turns stay in their order, and with them every effect, check and operation on floats: no bit changes. An array whose indices all become
//! constants can live in registers. Limits: loops that are left by a jump are written out only where the jump goes further out or to the
//! next turn; several to a turn only loops without jumps that count by a constant, or upward by one.

mod along;
mod choice;

pub use along::{Along, along};
pub use choice::{Rule, jumps, size, turns, turns_with_loops, written_arrays, written_out_size};

use crate::ir::*;
use crate::passes::clean::{int_local, trip};
use crate::passes::{clean, fold, turns_abreast};
use crate::walk;
use choice::{several, whole};
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// The most that a function may become.
const MOST: usize = 8192;

/// Unrolls in all functions.
pub fn run(kernel: &mut Kernel, rule: Rule) {
    let mut changed = false;
    for f in &mut kernel.functions {
        let written = written_arrays(f);
        let mut body = std::mem::take(&mut f.body);
        let mut u = Unroll { f, rule, written, left: MOST.saturating_sub(size(&body)), changed: false };
        u.body(&mut body);
        changed |= u.changed;
        f.body = body;
    }
    if let Some(lanes) = &mut kernel.lanes {
        // what was added counts turns: the same in all lanes
        lanes.varying.resize(kernel.functions[lanes.function.index()].locals.len(), false);
    }
    if changed {
        fold::run(kernel);
        clean::run(kernel);
    }
}

struct Unroll<'a> {
    f: &'a mut Function,
    rule: Rule,
    written: Vec<Base>,
    /// What the function may still grow by.
    left: usize,
    changed: bool,
}

impl Unroll<'_> {
    /// Inner loops first: an outer one sees what became of them.
    fn body(&mut self, body: &mut Vec<Stmt>) {
        let mut i = 0;
        while i < body.len() {
            if !turns_abreast::stays(self.f, &body[i]) {
                for b in body[i].kind.bodies_mut() {
                    self.body(b);
                }
            }
            let StmtKind::For(l) = &body[i].kind else {
                i += 1;
                continue;
            };
            if l.abreast {
                i += 1;
                continue;
            }
            let replaced = match (whole(l, &self.written, self.rule), several(l, self.rule)) {
                (Some(n), _) if self.affords(l, n) => Some(written_out(l, body[i].span)),
                (_, Some(n)) if self.affords(l, n + 1) => {
                    let (l, span) = (l.clone(), body[i].span);
                    Some(self.by_factor(&l, n as i32, span))
                }
                _ => None,
            };
            if let Some(new) = replaced {
                self.changed = true;
                let n = new.len();
                body.splice(i..=i, new);
                i += n;
            } else {
                i += 1;
            }
        }
    }

    fn affords(&mut self, l: &For, times: u64) -> bool {
        let cost = size(&l.body).saturating_mul(times as usize);
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
        }
        fits
    }

    /// `n` turns to a turn, and what is left behind them.
    fn by_factor(&mut self, l: &For, n: i32, span: sluice_grammar::span::Span) -> Vec<Stmt> {
        let mut turn = Vec::new();
        for k in 0..n {
            turn.extend(shifted(&l.body, l.var, k.wrapping_mul(l.step)));
        }
        if let (Some((turns, last)), Some(from)) = (trip(l), l.from.as_int()) {
            let rest = (turns % n as u64) as i32;
            // exact: the loop does not wrap around
            let to = last.wrapping_sub(rest.wrapping_mul(l.step));
            let cmp = if l.step > 0 { BinaryOp::Lt } else { BinaryOp::Gt };
            let step = l.step.wrapping_mul(n);
            let main =
                For { var: l.var, from: Expr::int(from), cmp, to: Expr::int(to), step, body: turn, abreast: false };
            let mut out = vec![StmtKind::For(Box::new(main)).at(span)];
            for k in 0..rest {
                out.push(assign(l.var, to.wrapping_add(k.wrapping_mul(l.step)), span));
                out.extend(l.body.iter().cloned());
            }
            out.push(assign(l.var, last, span));
            return out;
        }
        // for ($v = from; $v < end - (n - 1); $v += n), where end - (n - 1) does not wrap around
        let end = int_local(self.f, "end");
        let least = i32::MIN + n;
        let end_of = || Expr::local(end, Ty::Int);
        let few = Expr::binary(BinaryOp::Lt, end_of(), Expr::int(least), Ty::Bool);
        let before = Expr::add(end_of(), Expr::int(1 - n));
        let kind = ExprKind::Select(Box::new(few), Box::new(Expr::int(i32::MIN)), Box::new(before));
        let to = Expr { kind, ty: Ty::Int };
        let main = For { to, step: n, body: turn, ..l.clone() };
        let rest = For { from: Expr::local(l.var, Ty::Int), to: end_of(), ..l.clone() };
        // `from` comes first, as in the loop
        vec![
            StmtKind::Assign(Place::local(end), l.to.clone()).at(span),
            StmtKind::For(Box::new(main)).at(span),
            StmtKind::For(Box::new(rest)).at(span),
        ]
    }
}

fn assign(var: LocalId, value: i32, span: sluice_grammar::span::Span) -> Stmt {
    StmtKind::Assign(Place::local(var), Expr::int(value)).at(span)
}

/// All turns of a loop of constant bounds, each after its value of the variable; the value after the loop behind them.
pub fn written_out(l: &For, span: sluice_grammar::span::Span) -> Vec<Stmt> {
    let (Some((n, last)), Some(from)) = (trip(l), l.from.as_int()) else { return Vec::new() };
    let mut out = Vec::new();
    for k in 0..n as i32 {
        out.push(assign(l.var, from.wrapping_add(k.wrapping_mul(l.step)), span));
        let mut body = l.body.clone();
        if walk::leaves(&body, 0, false, false) {
            // `continue` leaves a block around the turn
            next_turns(&mut body, 0);
            out.push(StmtKind::Block(body).at(span));
        } else {
            walk::shift_breaks(&mut body, 1, -1);
            out.extend(body);
        }
    }
    out.push(assign(l.var, last, span));
    out
}

/// Continues of the loop become breaks of a block in its place.
fn next_turns(body: &mut [Stmt], depth: u32) {
    for s in body {
        match &mut s.kind {
            StmtKind::Continue(d) if *d == depth => s.kind = StmtKind::Break(depth),
            StmtKind::If(_, a, b) => {
                next_turns(a, depth);
                next_turns(b, depth);
            }
            StmtKind::For(l) => next_turns(&mut l.body, depth + 1),
            StmtKind::Loop(b) | StmtKind::Block(b) => next_turns(b, depth + 1),
            _ => {}
        }
    }
}

/// The body as it is where the loop's variable is larger by `by`.
pub fn shifted(body: &[Stmt], var: LocalId, by: i32) -> Vec<Stmt> {
    let mut out = body.to_vec();
    if by != 0 {
        walk::each_expr_mut(&mut out, &mut |e| shift(e, var, by));
    }
    out
}

fn shift(e: &mut Expr, var: LocalId, by: i32) {
    if matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(var)) {
        *e = Expr::add(Expr::local(var, Ty::Int), Expr::int(by));
    }
}

/// The expression as it is where the loop's variable is larger by `by`.
pub fn shifted_expr(e: &Expr, var: LocalId, by: i32) -> Expr {
    let mut out = e.clone();
    out.walk_mut(&mut |e| shift(e, var, by));
    out
}
