//! # within
//!
//! Purpose: vectors of the items of one firing, for native code, where that costs less than a firing in each lane: what comes as neighbours and goes as neighbours is not turned round first.
//! Input: a kernel with [`Lanes`] whose control flow is known and whose windows do not overlap. Output: the firing as operations on vectors of `width` lanes ([`Within`]);
//! nothing where lanes cost less. A machine's vector holds as many firings as there is room for.
//!
//! ```text
//! out(0) = (in(0) * in(1))  out(1) = (in(0) * in(2))  ...   →   word 0 in all lanes * words from 1   →   words from 0
//! ```
//!
//! Neighbouring words that a firing gives are a vector; its operands are vectors where all lanes do the same (superword-level parallelism: S. Larsen, S. Amarasinghe, PLDI 2000). Where they do
//! not, as many such vectors as there are lanes are a square that is turned round: its columns may do the same. Invariant: each lane does what the firing does, operation by
//! operation. Limits: ints, floats and booleans; what must not be computed in vain is not there in the first place ([`mod@crate::passes::lanes`]).

mod pack;
mod values;

#[cfg(test)]
mod tests;

use crate::ir::*;
use crate::passes::lanes::has_bits;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
pub use values::Op;
use values::{Source, Values};

/// Lanes of the widest machine, for which costs are compared.
const LANES: u32 = 16;

/// What a word costs that is brought to the lane of its firing, or back, in operations on vectors: it is turned round, and stored and loaded once more (measured).
const MOVED: u64 = 8;

/// Registers for the words of the lanes' firings; where there are more, two operations that look at words take as long as one more.
const REGISTERS: u32 = 32;

/// A vector of a firing.
#[derive(Clone, Debug, PartialEq)]
pub enum Vector {
    /// Known values, one for each lane.
    Known(Vec<Const>),
    /// Neighbouring words of the items that are taken, from this one.
    Words(u32),
    /// A word in all lanes.
    Word(u32),
    /// Lane by lane, of vectors.
    Made(Op, Vec<usize>),
    /// As many vectors as there are lanes, turned round: the first row, and which.
    Row(usize, u32),
    /// The square of these vectors turned round; its rows are vectors of their own.
    Square(Vec<usize>),
}

/// A firing in vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    /// Lanes of each: a power of two, or more than half of the widest machine's.
    pub width: u32,
    /// The vectors, each after those that it is made of, and the type of their elements.
    pub vectors: Vec<(Vector, Ty)>,
    /// What is given, from the first word to the last, `width` words at a time.
    pub given: Vec<usize>,
}

/// The firing of a kernel in vectors, where that is cheaper than its lanes.
pub fn within(kernel: &Kernel) -> Option<Within> {
    let lanes = kernel.lanes.as_ref().filter(|l| l.strands == 1)?;
    let rates = kernel.work.rates;
    let width = |ty: &Ty| if *ty == Ty::Complex { 2 } else { 1 };
    let widths = (width(&kernel.input), width(&kernel.output));
    let words = (rates.pop.checked_mul(widths.0)?, rates.push.checked_mul(widths.1)?);
    if rates.peek != rates.pop || words.1 < 4 || has_bits(kernel) {
        return None;
    }
    let sizes: Vec<u32> = (4..=LANES).filter(|w| words.1 % w == 0 && (w.is_power_of_two() || *w > LANES / 2)).collect();
    if sizes.is_empty() {
        return None;
    }
    let values = Values::of(kernel, kernel.function(lanes.function), widths)?;
    let live = pack::live(&values);
    let operations: u64 = live.iter().map(|v| cost_of(&values.all[*v])).sum();
    let looks = live.iter().map(|v| looks(&values, *v)).sum::<u64>() * u64::from(words.0 > REGISTERS);
    let across = (operations + looks / 2 + MOVED * u64::from(words.0 + words.1)) * 4 / u64::from(LANES);
    let found = sizes.into_iter().filter_map(|w| pack::pack(&values, w)).min_by_key(Within::cost)?;
    (found.cost() < across).then_some(found)
}

/// What an operation costs: instructions of most processors.
fn cost_of((source, _): &(Source, Ty)) -> u64 {
    match source {
        Source::Made(op, _) => operation(*op),
        _ => 0,
    }
}

/// How many words an operation looks at.
fn looks(values: &Values, v: usize) -> u64 {
    match values.source(v) {
        Source::Made(_, of) => of.iter().filter(|o| matches!(values.source(**o), Source::Word(_))).count() as u64,
        _ => 0,
    }
}

fn operation(op: Op) -> u64 {
    match op {
        Op::Builtin(Builtin::Min | Builtin::Max) | Op::Select => 3,
        Op::Builtin(Builtin::Sqrt) | Op::Binary(BinaryOp::Div) => 16,
        _ => 1,
    }
}

impl Within {
    /// Firings in a vector of the widest machine.
    fn firings(&self) -> u32 {
        (LANES / self.width).max(1)
    }

    /// Quarters of an instruction that a firing takes.
    fn cost(&self) -> u64 {
        let alone = self.firings() == 1;
        let each = |v: &Vector| match v {
            Vector::Known(_) => 1,
            // an operand that is fetched on the way
            Vector::Words(_) if alone => 2,
            Vector::Word(_) if alone => 1,
            Vector::Words(_) => 4 * u64::from(self.firings()),
            Vector::Word(_) => 8 * u64::from(self.firings()),
            Vector::Made(op, _) => 4 * operation(*op),
            Vector::Square(of) => 4 * of.len() as u64 * u64::from(of.len().ilog2()),
            Vector::Row(..) => 0,
        };
        let given = if alone { 2 } else { 4 * u64::from(self.firings()) };
        let all = self.vectors.iter().map(|(v, _)| each(v)).sum::<u64>() + given * self.given.len() as u64;
        all / u64::from(self.firings())
    }
}
