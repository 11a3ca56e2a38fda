//! # choices
//!
//! Purpose: a firing that waits for the one before cannot make good what a processor loses by a condition that it guesses wrong. Conditions on data that only choose between values that are soon
//! there become selections that are no jumps. Input: a kernel after all other passes, for C. Output: the same; [`Kernel::chosen`] says which locals get their values so.
//!
//! ```text
//! if ($0 > 0.5f) { state0 = 50 } else { state0 = (state0 - 1) }   →   $1 = (state0 - 1)  $2 = select(($0 > 0.5f), 50, $1)  state0 = $2
//! ```
//!
//! What must hold: both arms are assignments to whole numbers and may be executed in vain, in [`MOST_OPERATIONS`] at most. A jump that is guessed right costs nothing, and what it chooses need not
//! wait for it; so a condition is left alone where it only depends on what counts (`p + 1`, which a processor learns), and where the time from one firing to the next, as [`time`] estimates it, would
//! grow by more than [`MOST_GROWTH`] cycles for each condition. Loops that need nothing of their turns before are left to the C compiler's vectors.

mod bounds;
mod data;
mod replace;
#[cfg(test)]
mod tests;
mod time;

pub use bounds::{Bound, bound, bound_of_numbers, builtin};
pub use replace::is_plain;

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Operations of both arms, at most.
const MOST_OPERATIONS: usize = 8;
/// Values that one condition chooses, at most.
const MOST_VALUES: usize = 4;
/// Cycles by which the way from one firing, or turn, to the next may grow for each condition: a jump that is guessed wrong once in five times costs as much.
const MOST_GROWTH: u64 = 3;
/// Conditions that are looked at in one body, and statements of a function, at most.
const MOST: usize = 40;
const LARGEST: usize = 1500;

/// Finds and replaces them in the firing.
pub fn run(kernel: &mut Kernel) {
    if kernel.lanes.is_some() || kernel.steps.is_some() || !kernel.tapes.is_empty() || !kernel.chosen.is_empty() {
        return;
    }
    let id = kernel.work.function;
    if walk::count(&kernel.function(id).body) > LARGEST {
        return;
    }
    let mut f = kernel.function(id).clone();
    replace::selections_apart(&mut f, kernel.work.rates);
    let chosen = chosen(kernel, &f);
    if chosen.is_empty() {
        return;
    }
    kernel.chosen = replace::replace(&mut f, &chosen);
    kernel.functions[id.index()] = f;
}

/// Statements of one body in which the time from turn to turn is looked at: a firing's, or a loop's.
struct Group<'f> {
    body: &'f [Stmt],
    /// The number of its first statement: they are counted as they stand in the text.
    first: usize,
    /// The loop's counter.
    counter: Option<LocalId>,
    /// By number: the number behind all that is in it.
    candidates: BTreeMap<usize, usize>,
}

/// The numbers of the statements that become choices.
fn chosen(kernel: &Kernel, f: &Function) -> BTreeSet<usize> {
    let data = data::of(f);
    let look = Look { f, rates: kernel.work.rates, data: &data };
    let mut groups = vec![Group { body: &f.body, first: 0, counter: None, candidates: BTreeMap::new() }];
    look.body(&f.body, &mut 0, 0, &mut groups);
    let endless = jumps_without_end(&f.body);
    let mut all = BTreeSet::new();
    for g in groups {
        all.extend(worth_it(kernel, f, g, endless));
    }
    all
}

/// Those of a group's candidates that may cost more than they gain are left out. What is around one that is left out is no choice, either: its arm has a jump in it.
fn worth_it(kernel: &Kernel, f: &Function, g: Group<'_>, endless: bool) -> BTreeSet<usize> {
    let mut set: BTreeSet<usize> = g.candidates.keys().copied().collect();
    let without = |set: &BTreeSet<usize>, n: usize| -> BTreeSet<usize> {
        let around = |m: &usize| *m <= n && n < g.candidates[m];
        set.iter().copied().filter(|m| !around(m)).collect()
    };
    if set.is_empty() || set.len() > MOST {
        return BTreeSet::new();
    }
    let run = |set: &BTreeSet<usize>| time::between_turns(kernel, f, (g.body, g.first), set);
    let before = run(&set);
    // what waits for no turn before is for a C compiler's vectors, but where it could not make any
    let (waits, asks) = (set.iter().any(|n| before.waits.contains(n)), set.iter().any(|n| before.asks.contains(n)));
    if !(if g.counter.is_some() { asks } else { waits || endless }) {
        return BTreeSet::new();
    }
    let guessed = run(&BTreeSet::new()).cycles;
    let mut now = before.cycles;
    while now.saturating_sub(guessed) > MOST_GROWTH * time::TURNS * set.len() as u64 {
        let Some((cycles, n)) = set.iter().map(|n| (run(&without(&set, *n)).cycles, *n)).min() else { break };
        set = without(&set, n);
        now = cycles;
    }
    set
}

/// Are there loops of unknown length?
fn jumps_without_end(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| found |= matches!(s.kind, StmtKind::Loop(_)));
    found
}

/// Looks for candidates.
struct Look<'a> {
    f: &'a Function,
    rates: Rates,
    data: &'a data::Data,
}

impl<'f> Look<'f> {
    /// `n`: the number of the next statement. `group`: the one that this body belongs to. How many operations and values are all of its statements, where they may become part of a choice?
    fn body(
        &self,
        body: &'f [Stmt],
        n: &mut usize,
        group: usize,
        groups: &mut Vec<Group<'f>>,
    ) -> Option<(usize, usize)> {
        let mut all = Some((0, 0));
        for s in body {
            let own = *n;
            *n += 1;
            let size = match &s.kind {
                StmtKind::Assign(p, e) => {
                    if let (Some(_), ExprKind::Select(c, ..)) = (p.as_local(), &e.kind)
                        && self.data.depends(c)
                        && condition(c, self.rates)
                        && harmless(e, self.rates)
                        && !is_answer(e)
                    {
                        groups[group].candidates.insert(own, *n);
                    }
                    (whole(p, &e.ty, self.f) && harmless(e, self.rates)).then(|| (operations(e), 1))
                }
                StmtKind::If(c, a, b) => {
                    let (x, y) = (self.body(a, n, group, groups), self.body(b, n, group, groups));
                    let fits = x.zip(y).map(|((i, v), (j, w))| (i + j, v.max(w))).filter(|(operations, values)| {
                        *operations <= MOST_OPERATIONS && *values <= MOST_VALUES && *values > 0
                    });
                    let fits = fits.filter(|_| self.data.depends(c) && condition(c, self.rates));
                    if fits.is_some() {
                        groups[group].candidates.insert(own, *n);
                    }
                    fits.map(|(operations, values)| (operations + 1 + values, values))
                }
                StmtKind::For(l) => {
                    groups.push(Group { body: &l.body, first: *n, counter: Some(l.var), candidates: BTreeMap::new() });
                    let inner = groups.len() - 1;
                    self.body(&l.body, n, inner, groups);
                    if l.abreast {
                        groups[inner].candidates.clear();
                    }
                    None
                }
                StmtKind::Loop(b) | StmtKind::Block(b) => {
                    self.body(b, n, group, groups);
                    None
                }
                _ => None,
            };
            all = all.zip(size).map(|((i, v), (j, w))| (i + j, v + w));
        }
        all
    }
}

/// Is it a number that is chosen as a whole?
fn whole(p: &Place, ty: &Ty, f: &Function) -> bool {
    let own = match p.base {
        Base::Local(id) => !f.locals[id.index()].by_ref,
        Base::State(_) => true,
        _ => false,
    };
    own && p.path.is_empty() && number(ty)
}

fn number(ty: &Ty) -> bool {
    matches!(ty, Ty::Int | Ty::Bit | Ty::Bool | Ty::Float | Ty::Double)
}

/// Is it one that a choice can be made by? Comparisons of floats for equality have two answers to a NaN.
fn condition(c: &Expr, rates: Rates) -> bool {
    match &c.kind {
        ExprKind::Unary(UnaryOp::Not, a) => condition(a, rates),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => condition(a, rates) && condition(b, rates),
        ExprKind::Binary(op, a, b) => {
            let floats = matches!(a.ty, Ty::Float | Ty::Double);
            let orders = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
            let asks = orders || matches!(op, BinaryOp::Eq | BinaryOp::Ne) && !floats;
            asks && number(&a.ty) && harmless(a, rates) && harmless(b, rates)
        }
        ExprKind::Load(_) => harmless(c, rates),
        _ => false,
    }
}

/// May it be computed where the program would not, in a few cycles?
fn harmless(e: &Expr, rates: Rates) -> bool {
    let own = match &e.kind {
        ExprKind::Const(_) | ExprKind::Zero | ExprKind::Unary(..) => true,
        ExprKind::Load(p) => {
            p.path.is_empty()
                && match &p.base {
                    Base::Local(_) | Base::State(_) => true,
                    Base::In(i) => i.as_int().is_some_and(|i| i >= 0 && (i as u32) < rates.peek),
                    _ => false,
                }
        }
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
        ExprKind::Binary(..) => true,
        ExprKind::Convert(a) => !(matches!(a.ty, Ty::Float | Ty::Double) && e.ty == Ty::Int),
        ExprKind::Builtin(f, _) => *f == Builtin::Abs,
        _ => matches!(e.kind, ExprKind::Select(..)),
    };
    let mut all = own && number(&e.ty);
    e.each_operand(&mut |e| all = all && harmless(e, rates));
    all
}

/// Is it a condition's answer as an int, which is no jump in any case?
fn is_answer(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Select(_, a, b) if matches!((a.as_int(), b.as_int()), (Some(0 | 1), Some(0 | 1))))
}

/// How many operations an expression has.
fn operations(e: &Expr) -> usize {
    let mut n = 0;
    e.walk(&mut |e| n += usize::from(!matches!(e.kind, ExprKind::Const(_) | ExprKind::Zero | ExprKind::Load(_))));
    n
}
