//! What a firing costs, one section after another, in tenths of a processor's cycles: of one that takes four operations in each cycle, in their order, begins each when what it needs is there, and sees
//! only so far ahead: what has not begun waits in one of [`WAITING`] places, what is not done in one of [`GOING_ON`]. A firing's sections wait for one another, so that those places fill up before
//! much of the next firing is seen. How far firings overlap then is told neither by their operations nor by what these wait for; so it is played through.
//!
//! Measured (Cascade Lake, gcc 12): cascades of 8 to 16 poles, low-passes and high-passes of first order, biquads and bounded low-passes take 0.75 to 1.4 times what is said here,
//! hashes of ints up to 1.7 times.

use super::{Var, Wave, cost};
use crate::ir::*;
use sluice_frontend::ty::Ty;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Operations that are taken in a cycle.
const TAKEN: u64 = 4;
/// Places for operations that have not begun. Skylake has 97, some of them for addresses; so many explain what was measured.
const WAITING: usize = 40;
/// Places for operations that are not done: Skylake's.
const GOING_ON: usize = 224;
/// Operations on floats that begin in a cycle, and on ints.
const FLOATS: u32 = 2;
const INTS: u32 = 4;
/// Firings that are looked at, at most, and operations.
const FIRINGS: u64 = 24;
const OPERATIONS: u64 = 1 << 14;

/// What operations wait for.
#[derive(Default)]
struct Processor {
    /// Taken so far, and the cycle in which the last one was.
    taken: u64,
    now: u64,
    /// When those that wait begin.
    waiting: BinaryHeap<Reverse<u64>>,
    /// When those that are not done leave, in order.
    going_on: VecDeque<u64>,
    /// By cycle: how many operations on floats begin, and on ints.
    begun: BTreeMap<u64, (u32, u32)>,
}

impl Processor {
    /// There is a place for the next operation.
    fn place(&mut self) {
        if self.taken.is_multiple_of(TAKEN) {
            self.now += 1;
        }
        self.taken += 1;
        if self.waiting.len() == WAITING {
            let begins = self.waiting.pop().map_or(0, |Reverse(at)| at);
            self.now = self.now.max(begins);
        }
        if self.going_on.len() == GOING_ON {
            self.now = self.now.max(self.going_on.pop_front().unwrap_or(0));
        }
    }

    /// Something is taken that begins then, and is done then.
    fn goes_on(&mut self, begins: u64, done: u64) {
        self.waiting.push(Reverse(begins));
        self.going_on.push_back(done.max(self.last()));
    }

    /// When all that was taken is done.
    fn last(&self) -> u64 {
        self.going_on.back().copied().unwrap_or(0)
    }

    /// An operation whose operands are there then, and takes so many cycles: when is its result?
    fn operation(&mut self, int: bool, operands: u64, cycles: u64) -> u64 {
        self.place();
        let mut begins = operands.max(self.now + 1);
        loop {
            let (floats, ints) = self.begun.entry(begins).or_default();
            let (all, most) = if int { (ints, INTS) } else { (floats, FLOATS) };
            if *all < most {
                *all += 1;
                break;
            }
            begins += 1;
        }
        self.goes_on(begins, begins + cycles);
        begins + cycles
    }

    /// A value that is there then is put where the next firing finds it: copied or stored.
    fn keeps(&mut self, there: u64) {
        self.place();
        let begins = there.max(self.now + 1);
        self.goes_on(begins, begins);
    }

    /// When an expression's value is there.
    fn value(&mut self, wave: &Wave, e: &Expr, ready: &[u64]) -> u64 {
        if let ExprKind::Load(p) = &e.kind {
            return p.as_local().map_or(0, |var| ready[var.index()]);
        }
        let mut operands = 0;
        e.each_operand(&mut |x| operands = operands.max(self.value(wave, x, ready)));
        let int = matches!(&e.kind, ExprKind::Binary(_, a, _) if a.ty == Ty::Int);
        cost::latency(wave, e, false).map_or(operands, |cycles| self.operation(int, operands, cycles))
    }
}

/// What a firing takes once each takes as long as the one before.
pub(super) fn time(wave: &Wave) -> u64 {
    let mut operations = 0;
    for (_, e) in &wave.steps {
        e.walk(&mut |e| operations += u64::from(cost::latency(wave, e, false).is_some()));
    }
    let firings = (OPERATIONS / (operations * wave.sections as u64).max(1)).clamp(2, FIRINGS) & !1;
    let mut ready = vec![vec![0; wave.vars.len()]; wave.sections];
    let mut processor = Processor::default();
    let mut half = 0;
    for firing in 0..firings {
        if firing == firings / 2 {
            half = processor.last();
        }
        for k in 0..wave.sections {
            for (i, var) in wave.vars.iter().enumerate() {
                if let Var::Passed(_, from, _) = var {
                    ready[k][i] = if k == 0 { 0 } else { ready[k - 1][*from] };
                }
            }
            for (var, e) in &wave.steps {
                ready[k][*var] = processor.value(wave, e, &ready[k]);
                if matches!(wave.vars[*var], Var::Field(..)) {
                    processor.keeps(ready[k][*var]);
                }
            }
        }
    }
    10 * (processor.last() - half) / (firings / 2)
}
