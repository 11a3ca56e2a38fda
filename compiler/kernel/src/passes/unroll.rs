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

use crate::ir::*;
use crate::passes::clean::{int_local, trip};
use crate::passes::{clean, fold};
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Which loops are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Loops of so many turns, at most, are written out wholly.
    pub turns: u64,
    /// The most statements and operations that a loop may become.
    pub size: usize,
    /// Only loops that index an array (a variable of the function, or state) that the function writes, and whose turns need values of the turn
    /// before. (The C compiler makes vectors of the others.)
    pub recurrences: bool,
    /// Turns to a turn of the other innermost loops; 1 leaves them as they are.
    pub factor: u32,
}

impl Rule {
    /// All that is short, four to a turn of the rest.
    pub const ALL: Rule = Rule { turns: 64, size: 1024, recurrences: false, factor: 4 };

    /// What measures faster than without.
    pub const AUTO: Rule = Rule { turns: 256, size: 4096, recurrences: true, factor: 1 };
}

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

/// How many turns of a loop become one: all of them, or a factor; `None` where it stays as it is. `written` is what [`written_arrays`] gives.
pub fn turns(l: &For, written: &[Base], rule: Rule) -> Option<u64> {
    whole(l, written, rule).or_else(|| several(l, rule))
}

/// Statements and operations.
pub fn size(body: &[Stmt]) -> usize {
    let mut n = 0;
    walk::each_stmt(body, &mut |s| {
        n += 1;
        s.kind.each_own_expr(&mut |e| n += e.size());
    });
    n
}

fn whole(l: &For, written: &[Base], rule: Rule) -> Option<u64> {
    let (n, _) = trip(l).filter(|(n, _)| *n <= rule.turns)?;
    let fits = size(&l.body).saturating_mul(n as usize) <= rule.size;
    // a break must leave what is no longer there
    let wanted = fits && !breaks(&l.body, 0) && (!rule.recurrences || indexes_any(l, written) && carries(&l.body));
    wanted.then_some(n)
}

fn several(l: &For, rule: Rule) -> Option<u64> {
    let innermost = !l.body.iter().any(has_loop);
    let n = u64::from(rule.factor);
    let counted = match trip(l) {
        Some((turns, _)) => turns >= 2 * n,
        None => l.step == 1 && l.cmp == BinaryOp::Lt && l.from.as_int().zip(l.to.as_int()).is_none(),
    };
    let fits = size(&l.body).saturating_mul(n as usize) <= rule.size;
    (n > 1 && innermost && counted && fits && !jumps(&l.body)).then_some(n)
}

fn has_loop(s: &Stmt) -> bool {
    matches!(s.kind, StmtKind::For(_) | StmtKind::Loop(_)) || s.kind.bodies().iter().any(|b| b.iter().any(has_loop))
}

/// Does a break leave the construct `depth` around the statements?
fn breaks(body: &[Stmt], depth: u32) -> bool {
    body.iter().any(|s| match &s.kind {
        StmtKind::Break(d) => *d == depth,
        StmtKind::If(_, a, b) => breaks(a, depth) || breaks(b, depth),
        StmtKind::For(l) => breaks(&l.body, depth + 1),
        StmtKind::Loop(b) | StmtKind::Block(b) => breaks(b, depth + 1),
        _ => false,
    })
}

/// Does anything jump?
pub fn jumps(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| {
        found |= matches!(s.kind, StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(_));
    });
    found
}

/// The arrays that a function writes an element of.
pub fn written_arrays(f: &Function) -> Vec<Base> {
    let mut out = Vec::new();
    walk::each_stmt(&f.body, &mut |s| {
        for p in s.kind.targets() {
            let own = match p.base {
                Base::Local(id) => !f.locals[id.index()].by_ref,
                Base::State(_) => true,
                _ => false,
            };
            if own && matches!(p.path.first(), Some(Proj::Index(_))) && !out.contains(&p.base) {
                out.push(p.base.clone());
            }
        }
    });
    out
}

/// Does the body index one of the arrays with what depends on the loop's variable?
fn indexes_any(l: &For, arrays: &[Base]) -> bool {
    let mut found = false;
    let mut look = |p: &Place| {
        let steps = p.path.iter().any(|step| match step {
            Proj::Index(e) => e.any(&mut |e| matches!(&e.kind, ExprKind::Load(q) if q.as_local() == Some(l.var))),
            _ => false,
        });
        found |= steps && arrays.contains(&p.base);
    };
    walk::each_stmt(&l.body, &mut |s| s.kind.targets().into_iter().for_each(&mut look));
    walk::each_expr(&l.body, &mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            look(p);
        }
    });
    found
}

/// Does a turn need what the turn before left: in a variable that is read before it is written, or in an array of which another element is
/// written than is read?
fn carries(body: &[Stmt]) -> bool {
    let mut targets: Vec<&Place> = Vec::new();
    walk::each_stmt(body, &mut |s| targets.extend(s.kind.targets()));
    let mut found = false;
    walk::each_expr(body, &mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            found |= targets.iter().any(|t| t.base == p.base && !p.path.is_empty() && t.path != p.path);
        }
    });
    let mut written = Vec::new();
    found || reads_first(body, &mut written, &|base| targets.iter().any(|t| t.base == *base && t.path.is_empty()))
}

/// Does the body read a variable of those that `changes` names before it has certainly written it?
fn reads_first(body: &[Stmt], written: &mut Vec<Base>, changes: &dyn Fn(&Base) -> bool) -> bool {
    for s in body {
        let mut found = false;
        s.kind.each_own_expr(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Load(p) = &e.kind {
                    found |= changes(&p.base) && !written.contains(&p.base);
                }
            })
        });
        if found {
            return true;
        }
        for b in s.kind.bodies() {
            // what is written in it may not be
            if reads_first(b, &mut written.clone(), changes) {
                return true;
            }
        }
        written.extend(s.kind.targets().into_iter().filter(|p| p.path.is_empty()).map(|p| p.base.clone()));
    }
    false
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
            for b in body[i].kind.bodies_mut() {
                self.body(b);
            }
            let StmtKind::For(l) = &body[i].kind else {
                i += 1;
                continue;
            };
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
            let main = For { var: l.var, from: Expr::int(from), cmp, to: Expr::int(to), step, body: turn };
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
fn written_out(l: &For, span: sluice_grammar::span::Span) -> Vec<Stmt> {
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
