//! # held
//!
//! Purpose: which ints a filter can keep in vector registers from one firing to the next, because its loops go over neighbours and over every second element of its arrays: a firing need not wait for what the one
//! before has stored. Input: a kernel. Output: [`Held`]; C is printed of it.
//!
//! ```text
//! state cost int[64]; for $j = 0 < 32 { $a = (cost[(2 * $j)] + in($j))  next[$j] = min($a, …)  odd[$j] = select(($a > …), 1, 0) }  cost = next
//! for $i = 0 < 32 { $w = ($w | (as<int>((odd[$i] != 0)) << $i)) }  out(0) = $w
//!   →   cost, next: vectors; odd: a word, of comparisons; $w: as it is, for all lanes
//! ```
//!
//! What must hold: a firing is loops of known numbers of turns, a multiple of all lanes, copies of whole arrays, loops that pack truths into a word, and variables and items that are the same for all lanes; a loop
//! reads an array or writes it, writes nothing twice, and reads no variable that its turn has not written. Then it is the same whether turns go one by one or abreast.

use super::clean::trip;
use super::pack_bits::{Packed, Source, packed, truth};
use crate::ir::*;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Lanes of the widest vectors.
const WIDEST: u32 = 16;
/// Elements of all arrays together, at most: half of the widest machine's registers. Other machines hold less (`SL_IN_REGISTERS`).
const MOST: u32 = 16 * WIDEST;

/// An array that is in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Array {
    /// One of a firing.
    Local(LocalId),
    /// A field.
    State(StateId),
}

impl Array {
    /// The variable, where it is a filter's own.
    pub fn of(base: &Base) -> Option<Array> {
        match base {
            Base::Local(id) => Some(Array::Local(*id)),
            Base::State(id) => Some(Array::State(*id)),
            _ => None,
        }
    }
}

/// Elements `stride * turn + from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// 1 or 2.
    pub stride: u32,
    /// The first turn's.
    pub from: u32,
}

/// What is held in registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// By array of ints: its elements.
    pub lengths: BTreeMap<Array, u32>,
    /// By array of which only is asked what is not 0: its elements, each a bit of a word.
    pub bits: BTreeMap<LocalId, u32>,
    /// Variables that are the same for all lanes.
    pub uniform: BTreeSet<LocalId>,
}

/// Can the kernel's arrays be in registers? Which are, and how long.
pub fn held(kernel: &Kernel) -> Option<Held> {
    if kernel.lanes.is_some() || kernel.steps.is_some() || kernel.work.dynamic.is_some() {
        return None;
    }
    let f = kernel.function(kernel.work.function);
    let (held, none) = (Held::default(), BTreeSet::new());
    let mut look = Look { kernel, f, held, turns: 0, known: none.clone(), varying: none.clone(), filled: none };
    for s in &f.body {
        if let StmtKind::For(l) = &s.kind
            && let Some((array, _)) = words(l)
        {
            let n = f.locals[array.index()].ty.known_len().filter(|n| *n <= MOST)?;
            look.held.bits.insert(array, n);
        }
    }
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for s in &f.body {
        match &s.kind {
            StmtKind::Assign(p, e) => match (&p.base, p.path.as_slice()) {
                (Base::Out(at), []) if at.as_int().is_some() => look.uniform(e)?,
                (Base::Local(id), []) if is_scalar(&f.locals[id.index()].ty) => {
                    look.uniform(e)?;
                    look.held.uniform.insert(*id);
                    if look.varying.contains(id) {
                        return None;
                    }
                }
                _ => {
                    written.insert(look.whole(p)?);
                    match &e.kind {
                        ExprKind::Zero => {}
                        ExprKind::Load(from) => drop(read.insert(look.whole(from)?)),
                        _ => return None,
                    }
                }
            },
            // what it counts is another number in each lane, and behind it
            StmtKind::For(l) if !look.held.uniform.contains(&l.var) => {
                look.varying.insert(l.var);
                match words(l) {
                    Some((array, p)) if look.held.uniform.contains(&p.word) && look.filled.contains(&array) => {}
                    Some(_) => return None,
                    None => look.turns(l, &mut read, &mut written)?,
                }
            }
            _ => return None,
        }
    }
    let both = read.intersection(&written).any(|a| matches!(a, Array::State(_)));
    (both && look.held.lengths.values().sum::<u32>() <= MOST).then_some(look.held)
}

/// A loop that packs elements of an array, which are all in one word of it.
pub fn words(l: &For) -> Option<(LocalId, Packed)> {
    let p = packed(l).filter(|p| p.compared && p.at >= 0 && p.at as u32 % 32 + p.items <= 32)?;
    match p.source {
        Source::Array(id) => Some((id, p)),
        Source::Items => None,
    }
}

struct Look<'k> {
    kernel: &'k Kernel,
    f: &'k Function,
    held: Held,
    /// Turns of the loop that is looked at, and what its turn has written so far.
    turns: u32,
    known: BTreeSet<LocalId>,
    /// What any turn has written or counted.
    varying: BTreeSet<LocalId>,
    /// Arrays of bits that a loop has written.
    filled: BTreeSet<LocalId>,
}

impl Look<'_> {
    fn array(&mut self, base: &Base) -> Option<Array> {
        let (array, ty) = match base {
            Base::Local(id) if !self.held.bits.contains_key(id) => (Array::Local(*id), &self.f.locals[id.index()].ty),
            Base::State(id) => (Array::State(*id), &self.kernel.state[id.index()].ty),
            _ => return None,
        };
        let n = ty.known_len().filter(|n| *n > 0 && n % WIDEST == 0 && ty.element() == Some(&Ty::Int))?;
        self.held.lengths.insert(array, n);
        Some(array)
    }

    fn whole(&mut self, p: &Place) -> Option<Array> {
        if p.path.is_empty() { self.array(&p.base) } else { None }
    }

    /// Looks at a loop.
    fn turns(&mut self, l: &For, read: &mut BTreeSet<Array>, written: &mut BTreeSet<Array>) -> Option<()> {
        let (n, _) = trip(l)?;
        self.turns = u32::try_from(n).ok().filter(|n| *n > 0 && *n <= MOST && n % WIDEST == 0)?;
        if l.from.as_int() != Some(0) || l.step != 1 {
            return None;
        }
        self.known.clear();
        let (mut reads, mut writes, mut filled) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        for s in &l.body {
            let StmtKind::Assign(p, e) = &s.kind else { return None };
            match (&p.base, p.path.as_slice()) {
                (Base::Local(id), [Proj::Index(at)]) if self.held.bits.contains_key(id) => {
                    let row = row(at, l.var).filter(|r| r.stride == 1 && r.from % WIDEST == 0)?;
                    let ends = row.from + self.turns <= self.held.bits[id];
                    filled.insert(*id);
                    if !ends || self.filled.contains(id) {
                        return None;
                    }
                    self.value(truth(e)?, l.var, &mut reads)?;
                    writes.push((Some(Array::Local(*id)), row));
                    continue;
                }
                _ => self.value(e, l.var, &mut reads)?,
            }
            match (&p.base, p.path.as_slice()) {
                (Base::Local(id), [])
                    if *id != l.var && !self.held.uniform.contains(id) && is_scalar(&self.f.locals[id.index()].ty) =>
                {
                    self.known.insert(*id);
                    self.varying.insert(*id);
                }
                (Base::Out(at), []) if e.ty == Ty::Int => writes.push((None, row(at, l.var)?)),
                (base, [Proj::Index(at)]) => {
                    let (array, row) = (self.array(base)?, row(at, l.var)?);
                    self.in_registers(array, row)?;
                    writes.push((Some(array), row));
                }
                _ => return None,
            }
        }
        for (i, (array, row)) in writes.iter().enumerate() {
            let apart = |(other, at): &(Option<Array>, Row)| other != array || at.from.abs_diff(row.from) >= self.turns;
            if row.stride != 1 || !writes[..i].iter().all(apart) || array.is_some_and(|a| reads.contains(&a)) {
                return None;
            }
        }
        self.filled.extend(filled);
        read.extend(reads);
        written.extend(writes.iter().filter_map(|(a, _)| *a));
        Some(())
    }

    /// Are the elements whole vectors of an array?
    fn in_registers(&self, array: Array, r: Row) -> Option<()> {
        let from = r.from - r.from % r.stride;
        let last = r.stride.checked_mul(self.turns)?.checked_add(from)?;
        (from.is_multiple_of(WIDEST) && last <= self.held.lengths[&array]).then_some(())
    }

    /// Looks at a value of a turn.
    fn value(&mut self, e: &Expr, var: LocalId, reads: &mut BTreeSet<Array>) -> Option<()> {
        use BinaryOp::*;
        if !is_scalar(&e.ty) {
            return None;
        }
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero => Some(()),
            ExprKind::Load(p) => match (&p.base, p.path.as_slice()) {
                (Base::Local(id), []) => {
                    (*id == var || self.known.contains(id) || self.held.uniform.contains(id)).then_some(())
                }
                (Base::In(at), []) if e.ty == Ty::Int => self.there(row(at, var)?, self.kernel.work.rates.peek),
                (Base::Table(id), [Proj::Index(at)]) if e.ty == Ty::Int => {
                    self.there(row(at, var)?, self.kernel.tables[id.index()].ty.known_len()?)
                }
                (base, [Proj::Index(at)]) => {
                    let (array, row) = (self.array(base)?, row(at, var)?);
                    reads.insert(array);
                    self.in_registers(array, row)
                }
                _ => None,
            },
            ExprKind::Unary(_, a) | ExprKind::Convert(a) => self.value(a, var, reads),
            ExprKind::Binary(Div | Rem, ..) => None,
            ExprKind::Binary(_, a, b) => self.value(a, var, reads).and_then(|()| self.value(b, var, reads)),
            ExprKind::Select(c, a, b) => [c, a, b].into_iter().try_for_each(|e| self.value(e, var, reads)),
            ExprKind::Builtin(Builtin::Min | Builtin::Max | Builtin::Abs, all) => {
                all.iter().try_for_each(|e| self.value(e, var, reads))
            }
            _ => None,
        }
    }

    /// Looks at a value that is the same for all lanes.
    fn uniform(&self, e: &Expr) -> Option<()> {
        use BinaryOp::*;
        if !is_scalar(&e.ty) {
            return None;
        }
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero => Some(()),
            ExprKind::Load(p) => match (&p.base, p.path.as_slice()) {
                (Base::Local(id), []) => self.held.uniform.contains(id).then_some(()),
                (Base::In(at), []) => at.as_int().map(|_| ()),
                _ => None,
            },
            ExprKind::Unary(_, a) | ExprKind::Convert(a) => self.uniform(a),
            ExprKind::Binary(Div | Rem, ..) => None,
            ExprKind::Binary(_, a, b) => self.uniform(a).and_then(|()| self.uniform(b)),
            ExprKind::Select(c, a, b) => [c, a, b].into_iter().try_for_each(|e| self.uniform(e)),
            _ => None,
        }
    }

    /// Are there so many elements that whole vectors can be loaded?
    fn there(&self, r: Row, length: u32) -> Option<()> {
        let last = r.stride.checked_mul(self.turns)?.checked_add(r.from - r.from % r.stride)?;
        (last <= length).then_some(())
    }
}

fn is_scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Int | Ty::Bool | Ty::Bit)
}

/// A position as one that goes with the turns, by ones or twos.
pub fn row(at: &Expr, var: LocalId) -> Option<Row> {
    let turn = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(var));
    let number = |e: &Expr| e.as_int().and_then(|n| u32::try_from(n).ok()).filter(|n| *n < 1 << 20);
    let (ExprKind::Binary(op, a, b), false) = (&at.kind, turn(at)) else {
        return turn(at).then_some(Row { stride: 1, from: 0 });
    };
    let either = |f: &dyn Fn(&Expr, &Expr) -> Option<Row>| f(a, b).or_else(|| f(b, a));
    match op {
        BinaryOp::Add => either(&|x, n| {
            let (r, n) = (row(x, var)?, number(n)?);
            Some(Row { from: r.from + n, ..r })
        }),
        BinaryOp::Mul => either(&|x, n| (turn(x) && number(n) == Some(2)).then_some(Row { stride: 2, from: 0 })),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
