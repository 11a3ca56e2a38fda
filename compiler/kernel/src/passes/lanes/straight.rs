//! Firings that need no lanes: the C compiler makes vectors of their loops, over neighbouring items; and those that compute nothing.
//!
//! ```text
//! for $i = 0 < 254 step 1 { out(($i + 1)) = (in(($i + 2)) - in($i)) }
//! ```
//!
//! ```text
//! for $i = 0 < 32 step 1 { $word = ($word | (in($i) << $i)) }
//! ```
//!
//! In lanes, the items of several firings would have to be brought side by side first, and the results back; and arrays of the firing would be as many as there are lanes. Sums of ints may be
//! taken in any order, those of floats may not.

#[cfg(test)]
mod tests;

use super::{has_bits, is_bit, is_varying};
use crate::ir::*;
use crate::passes::clean::trip;
use crate::passes::unroll::{size, written_out_size};
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Turns of a loop, at least: two of the widest vectors.
const LONG: u64 = 32;

/// Lanes that there may be, bytes of the first cache of most processors, and turns of a loop over complex numbers, at least: a vector.
const LANES: u64 = 16;
const FIRST_CACHE: u64 = 32 << 10;
const FEW: u64 = 4;

/// Parts of a firing whose items are bits, at most.
const MOST_OF_BITS: u64 = 128;

/// Turns of a loop within a turn, at most: it is written out before the C compiler looks for vectors.
const WRITTEN_OUT: u64 = 16;

/// How much more is in the loops than beside them.
const MOSTLY: usize = 8;

/// Is nearly all of a firing in loops over neighbouring items whose turns need nothing of each other?
pub(super) fn straight(kernel: &Kernel) -> bool {
    mostly_loops(kernel, true)
}

/// And have these loops no others within, and no arrays? Of others, streams that take turns make the better vectors.
pub(super) fn plain(kernel: &Kernel) -> bool {
    mostly_loops(kernel, false)
}

/// `more`: may the loops have others within them, and arrays?
fn mostly_loops(kernel: &Kernel, more: bool) -> bool {
    let scalar = |ty: &Ty| matches!(ty, Ty::Int | Ty::Float);
    let rates = kernel.work.rates;
    // one item is where its neighbours are
    if !scalar(&kernel.input) || !scalar(&kernel.output) || rates.pop == 1 && rates.push == 1 {
        return false;
    }
    let (mut inside, mut beside) = (0usize, 0usize);
    for s in &kernel.function(kernel.work.function).body {
        match &s.kind {
            // where windows overlap, an item is brought once and looked at often
            StmtKind::For(l) => match turns(l, rates.peek == rates.pop, more) {
                Some(n) => inside = inside.saturating_add(size(&l.body).saturating_mul(n as usize)),
                // the first turns, or the last ones, of which such a loop has been split off
                None if counted(std::slice::from_ref(s)) => {
                    beside = beside.saturating_add(written_out_size(std::slice::from_ref(s)) as usize);
                }
                None => return false,
            },
            StmtKind::Assign(..) => beside += size(std::slice::from_ref(s)),
            _ => return false,
        }
    }
    inside > 0 && inside >= beside.saturating_mul(MOSTLY)
}

/// Are the items bits, and is nothing done but with them and other numbers as they come, so many that they are vectors as they lie? Of such firings one after the other compilers make vectors
/// by themselves, which need not bring anything side by side.
pub(super) fn of_bits(kernel: &Kernel) -> bool {
    let rates = kernel.work.rates;
    let lies = |ty: &Ty, n: u32| matches!(n, 1..=4 | 8) && matches!(ty, Ty::Bit | Ty::Bool | Ty::Int | Ty::Float);
    // of a word several bits are not such a vector
    let words = !is_bit(&kernel.input) && rates.push > 1;
    let body = &kernel.function(kernel.work.function).body;
    if !has_bits(kernel)
        || words
        || !lies(&kernel.input, rates.pop)
        || !lies(&kernel.output, rates.push)
        || !counted(body)
    {
        return false;
    }
    let mut plain = written_out_size(body) <= MOST_OF_BITS;
    walk::each_expr(body, &mut |e| {
        plain &= match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero | ExprKind::Convert(_) => true,
            ExprKind::Unary(..) => e.ty != Ty::Float,
            ExprKind::Binary(op, a, _) => {
                !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Div | BinaryOp::Rem) && a.ty != Ty::Float
            }
            ExprKind::Load(p) => matches!(p.base, Base::In(_) | Base::Local(_)) && p.path.is_empty(),
            _ => false,
        };
    });
    plain
}

/// Nothing but assignments, and loops of known bounds?
fn counted(body: &[Stmt]) -> bool {
    body.iter().all(|s| match &s.kind {
        StmtKind::Assign(..) => true,
        StmtKind::For(l) => trip(l).is_some() && counted(&l.body),
        _ => false,
    })
}

/// Are the items of a vector of firings more than the first cache holds, and is a firing nothing but nests whose inner loops go over neighbouring items? Then these
/// are the vectors. Of complex numbers: those of others stay loops anyway where they are as simple as that.
pub(super) fn wide(kernel: &Kernel) -> bool {
    let words = |ty: &Ty| match ty {
        Ty::Int | Ty::Float => 1,
        Ty::Complex => 2,
        _ => 0,
    };
    let rates = kernel.work.rates;
    let (input, output) = (words(&kernel.input), words(&kernel.output));
    let bytes = (u64::from(rates.pop) * input + u64::from(rates.push) * output) * 4 * LANES;
    let complex = [&kernel.input, &kernel.output].contains(&&Ty::Complex);
    if !complex || bytes <= FIRST_CACHE || input == 0 || output == 0 || rates.pop != rates.peek {
        return false;
    }
    let body = &kernel.function(kernel.work.function).body;
    !body.is_empty() && body.iter().all(|s| matches!(&s.kind, StmtKind::For(l) if nest(l)))
}

/// A loop around others, or one over neighbours.
fn nest(l: &For) -> bool {
    let Some((turns, _)) = trip(l) else { return false };
    if let [Stmt { kind: StmtKind::For(inner), .. }] = l.body.as_slice() {
        // a loop that turns once is none
        return match trip(inner) {
            Some((1, _)) => goes_over(&inner.body, l.var),
            _ => nest(inner),
        };
    }
    turns >= FEW && l.step == 1 && goes_over(&l.body, l.var)
}

/// Do the statements take neighbouring items in neighbouring turns, and give such or every few?
fn goes_over(body: &[Stmt], var: LocalId) -> bool {
    let whole = |p: &Place| p.path.iter().all(|step| matches!(step, Proj::Component(_)));
    // no turn needs what another left
    let mut written = Vec::new();
    walk::each_written(body, &mut |id| written.push(id));
    // of variables that the turn has written, what they are multiples of
    let mut own = vec![(var, Some(1))];
    let near = |at: &Expr, own: &[(LocalId, Option<i64>)]| matches!(factor(at, own), Some(0 | 1));
    let fits = |e: &Expr, own: &[(LocalId, Option<i64>)]| {
        let mut all = true;
        e.walk(&mut |e| {
            all &= match &e.kind {
                ExprKind::Load(Place { base: Base::In(at), .. }) => near(at, own),
                ExprKind::Load(Place { base: Base::Table(_), path }) => path.iter().all(|step| match step {
                    Proj::Index(at) => near(at, own),
                    _ => true,
                }),
                ExprKind::Load(p) => match &p.base {
                    Base::Local(id) => whole(p) && (own.iter().any(|(o, _)| o == id) || !written.contains(id)),
                    _ => false,
                },
                ExprKind::Binary(op, ..) => match op {
                    BinaryOp::And | BinaryOp::Or => false,
                    BinaryOp::Div | BinaryOp::Rem => matches!(e.ty, Ty::Float | Ty::Complex),
                    _ => true,
                },
                ExprKind::Select(..) | ExprKind::Iter => false,
                ExprKind::Builtin(b, _) => matches!(b, Builtin::Abs | Builtin::Min | Builtin::Max | Builtin::Sqrt),
                _ => true,
            };
        });
        all
    };
    body.iter().all(|s| match &s.kind {
        StmtKind::Assign(p, e) if fits(e, &own) => match &p.base {
            Base::Local(id) => {
                own.push((*id, factor(e, &own)));
                p.path.is_empty()
            }
            Base::Out(at) => whole(p) && factor(at, &own).is_some_and(|n| (1..=FEW as i64).contains(&n)),
            _ => false,
        },
        _ => false,
    })
}

/// What a variable is multiplied by in a sum.
///
/// `known`: of variables that the turn has computed.
fn factor(e: &Expr, known: &[(LocalId, Option<i64>)]) -> Option<i64> {
    let of = |id: LocalId| known.iter().rev().find(|(k, _)| *k == id).map(|(_, n)| *n);
    let depends = |e: &Expr| {
        e.any(&mut |e| match &e.kind {
            ExprKind::Load(Place { base: Base::Local(id), .. }) => of(*id).is_some_and(|n| n != Some(0)),
            _ => loads_items(e),
        })
    };
    match &e.kind {
        ExprKind::Load(p) if p.as_local().and_then(of).is_some() => p.as_local().and_then(of).flatten(),
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
            let (a, b) = (factor(a, known)?, factor(b, known)?);
            Some(if *op == BinaryOp::Add { a + b } else { a - b })
        }
        ExprKind::Binary(BinaryOp::Mul, a, b) => match (a.as_int(), b.as_int()) {
            (Some(n), _) => factor(b, known)?.checked_mul(n.into()),
            (_, Some(n)) => factor(a, known)?.checked_mul(n.into()),
            _ => (!depends(e)).then_some(0),
        },
        _ => (!depends(e)).then_some(0),
    }
}

/// Does a firing only move items?
pub(super) fn moves_only(f: &Function, varying: &[bool]) -> bool {
    let mut computes = false;
    walk::each_expr(&f.body, &mut |e| {
        let load = matches!(e.kind, ExprKind::Load(_) | ExprKind::Const(_) | ExprKind::Zero);
        computes |= !load && is_varying(e, varying);
    });
    !computes
}

/// How often such a loop turns. `sums`: may it take sums of ints? `more`: may it have loops and arrays?
fn turns(l: &For, sums: bool, more: bool) -> Option<u64> {
    let (n, _) = trip(l).filter(|(n, _)| *n >= LONG && l.step == 1)?;
    let mut written = Vec::new();
    walk::each_written(&l.body, &mut |id| written.push(id));
    let mut turn = Turn { more, along: vec![l.var], same: Vec::new(), written: &written, assigned: Vec::new() };
    turn.body(&l.body, sums)?;
    Some(n)
}

/// Does this add to a sum of ints (or their bits): which, and what? The turn must look at it nowhere else.
fn sum<'a>(p: &Place, e: &'a Expr) -> Option<(LocalId, &'a Expr)> {
    let (id, ExprKind::Binary(op, a, b)) = (p.as_local()?, &e.kind) else { return None };
    let any_order = matches!(op, BinaryOp::Add | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
    let is_sum = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(id));
    match (is_sum(a), is_sum(b)) {
        _ if !any_order || e.ty != Ty::Int => None,
        (true, false) => Some((id, b)),
        (false, true) => Some((id, a)),
        _ => None,
    }
}

/// What is known of a turn, up to one of its statements.
struct Turn<'a> {
    /// May there be loops within it, and arrays?
    more: bool,
    /// The loop's variable, and what the turn has set to that and a constant.
    along: Vec<LocalId>,
    /// Variables of loops within a turn: the same in all turns.
    same: Vec<LocalId>,
    /// What the turns write.
    written: &'a [LocalId],
    /// What this turn has written.
    assigned: Vec<LocalId>,
}

impl Turn<'_> {
    /// Goes through statements of the turn; `None` where it is none of a vector.
    fn body(&mut self, body: &[Stmt], sums: bool) -> Option<()> {
        for s in body {
            match &s.kind {
                StmtKind::Assign(p, e) => self.set(p, e, sums)?,
                // which is written out later
                StmtKind::For(l) if self.more => {
                    trip(l).filter(|(n, _)| *n <= WRITTEN_OUT)?;
                    self.same.push(l.var);
                    self.body(&l.body, false)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn set(&mut self, p: &Place, e: &Expr, sums: bool) -> Option<()> {
        if let Some((sum, more)) = sum(p, e).filter(|_| sums) {
            let alone = self.written.iter().filter(|id| **id == sum).count() == 1;
            return (alone && self.vector(more)).then_some(());
        }
        if !self.vector(e) {
            return None;
        }
        let number = matches!(e.ty, Ty::Int | Ty::Float);
        match (&p.base, p.path.as_slice()) {
            (Base::Local(id), []) if number || e.ty == Ty::Bool => self.assign(*id, e),
            (Base::Local(_), [Proj::Index(at)]) if self.more && number && self.neighbours(at) => {}
            (Base::Out(at), []) if self.neighbours(at) => {}
            _ => return None,
        }
        Some(())
    }

    fn assign(&mut self, id: LocalId, e: &Expr) {
        let along = self.neighbours(e);
        self.along.retain(|other| *other != id);
        if along {
            self.along.push(id);
        }
        self.assigned.push(id);
    }

    /// Is the value one of a vector: of the turn's own variables, of those that are the same in all turns, and of neighbours?
    fn vector(&self, e: &Expr) -> bool {
        let here = match &e.kind {
            ExprKind::Const(_) => true,
            ExprKind::Load(Place { base: Base::Local(id), path }) if path.is_empty() => {
                !self.written.contains(id) || self.assigned.contains(id) || self.same.contains(id)
            }
            // positions need not be values of a vector
            ExprKind::Load(p) => return self.near(p),
            ExprKind::Unary(..) => true,
            ExprKind::Binary(op, ..) => match op {
                BinaryOp::And | BinaryOp::Or => false,
                BinaryOp::Div | BinaryOp::Rem => e.ty == Ty::Float,
                _ => true,
            },
            ExprKind::Select(_, a, b) => ![a, b].into_iter().any(|e| e.any(&mut loads_items)),
            ExprKind::Convert(a) => matches!((&a.ty, &e.ty), (Ty::Int | Ty::Bool, Ty::Int | Ty::Float)),
            ExprKind::Builtin(b, _) => matches!(b, Builtin::Abs | Builtin::Min | Builtin::Max),
            _ => false,
        };
        let mut all = here;
        e.each_operand(&mut |o| all &= self.vector(o));
        all
    }

    /// Are the loads of one turn and the next of neighbours, or of the same? Arrays that turns write are not looked at.
    fn near(&self, p: &Place) -> bool {
        let goes = |at: &Expr| self.neighbours(at) || !self.reads(at);
        match (&p.base, p.path.as_slice()) {
            (Base::In(at), []) => goes(at),
            (Base::Local(id), [Proj::Index(at)]) => {
                self.more && !self.written.contains(id) && goes(at) && !at.any(&mut loads_items)
            }
            (Base::Table(_), [before @ .., Proj::Index(last)]) => {
                let fixed = |step: &Proj| matches!(step, Proj::Index(e) if !self.reads(e) && !e.any(&mut loads_items));
                before.iter().all(fixed) && goes(last) && !last.any(&mut loads_items)
            }
            _ => false,
        }
    }

    /// Does it depend on the turn?
    fn reads(&self, e: &Expr) -> bool {
        let own = |id: &LocalId| self.along.contains(id) || self.written.contains(id) && !self.same.contains(id);
        e.any(&mut |e| match &e.kind {
            ExprKind::Load(Place { base: Base::Local(id), .. }) => own(id),
            _ => loads_items(e),
        })
    }

    /// The variable, or that and what is the same in all turns.
    fn neighbours(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) if !self.reads(b) => self.neighbours(a),
            ExprKind::Binary(BinaryOp::Add, a, b) if !self.reads(a) => self.neighbours(b),
            ExprKind::Load(p) => p.as_local().is_some_and(|id| self.along.contains(&id)),
            _ => false,
        }
    }
}

fn loads_items(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Load(p) if !matches!(p.base, Base::Local(_)))
}
