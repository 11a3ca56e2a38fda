//! What code for several streams was made of, for machines that give each stream a thread of its own: the code of one turn, where the
//! items of each lie in the channels, and where its state is.
//!
//! [`super::code::slowed`] keeps an [`InTurn`] with what it makes. Turns are independent: they share constants alone, and no two take or
//! give the same item, so all turns of a firing (and, each on its own, of many firings) can run at once.
//!
//! ```text
//! Decay x2, a firing:  r[0] = 0.5 * r[0] + peek(0); push(r[0]);  r[1] = 0.5 * r[1] + peek(1); push(r[1]);
//! turn s of 2:         r = 0.5 * r + item(s); item s of what is pushed = r        with r the element s of the array
//! ```
//!
//! Code may be slowed that is slowed already (`--streams` in a program whose equal branches are folded then). Then there is a level of turns for
//! each, and a turn is that of the innermost code wherever the positions have the form of [`Lay`] again. That is so for `--streams` before or after
//! folding, unless streams that lie in blocks are cut across these; then a turn is a firing of what was slowed last, itself a loop over streams.

use super::code::Turns;
use crate::ids::FieldId;
use crate::typed::FilterCode;

/// Code for several streams, taken apart.
#[derive(Clone, Debug)]
pub struct InTurn {
    /// A turn: the code before. It is lowered as any other.
    pub turn: FilterCode,
    /// How many streams, by level, the outermost first. Their product is the number of turns.
    pub levels: Vec<u32>,
    /// Where the items are that a turn takes.
    pub input: Lay,
    /// Where those go that it gives.
    pub output: Lay,
}

/// Where a turn's items lie: item x, counted from the turn's own first, is at
/// `⌊x / block⌋ · round + (x mod block) · step + start`, counted from the first of the firing of all turns (peeks beyond it included).
///
/// After f firings the turn's own first item is f times its rate, and the formula holds for it, too: blocks divide rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lay {
    /// Items of one turn that belong together.
    pub block: u32,
    /// From a block to the turn's next.
    pub round: u32,
    /// From an item to the next in a block; 1 where blocks have one item.
    pub step: u32,
    /// What a stream adds to the start, by level.
    pub strides: Vec<u32>,
}

/// Where a field of a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nowhere: it is a constant, the same in all turns.
    Constant,
    /// Nowhere between firings: a firing writes it before it reads it. Each turn has its own meanwhile.
    Meanwhile,
    /// Turn s has element s of the field of the same number in the code for all streams. Where there are several levels it is an array
    /// of arrays, whose elements are counted in a row.
    Element,
}

impl InTurn {
    /// Takes part what `slowed` makes of this code.
    pub fn of(code: &FilterCode, turns: Turns) -> Option<InTurn> {
        if let Some(inner) = &code.turns
            && let Some(all) = inner.within(turns)
        {
            return Some(all);
        }
        let mut turn = FilterCode { turns: None, ..code.clone() };
        // nobody sends messages to streams that take turns
        turn.handlers.clear();
        let lay = |block| Lay::of(turns.streams, block);
        Some(InTurn { turn, levels: vec![turns.streams], input: lay(turns.taken)?, output: lay(turns.given)? })
    }

    /// The same code with more streams around it.
    fn within(&self, outer: Turns) -> Option<InTurn> {
        self.streams().checked_mul(outer.streams)?;
        let levels = [outer.streams].iter().chain(&self.levels).copied().collect();
        let input = self.input.within(outer.streams, outer.taken)?;
        let output = self.output.within(outer.streams, outer.given)?;
        Some(InTurn { turn: self.turn.clone(), levels, input, output })
    }

    /// How many turns a firing has.
    pub fn streams(&self) -> u32 {
        self.levels.iter().product()
    }

    /// The streams of a turn by level: its number's digits.
    pub fn digits(&self, turn: u32) -> Vec<u32> {
        let mut rest = turn;
        let mut digits: Vec<u32> = self.levels.iter().rev().map(|n| (rest % n, rest /= n).0).collect();
        digits.reverse();
        digits
    }

    /// Where a field of [`InTurn::turn`] is.
    pub fn held(&self, field: FieldId) -> Held {
        match self.turn.fields.get(field.index()) {
            Some(f) if !f.constant && self.turn.stateful.is_some() => Held::Element,
            Some(f) if !f.constant => Held::Meanwhile,
            _ => Held::Constant,
        }
    }

    /// The position of item x of a turn on its input, or its output.
    pub fn position(&self, lay: &Lay, turn: u32, x: u64) -> u64 {
        lay.item(x)
            + self.digits(turn).iter().zip(&lay.strides).map(|(d, s)| u64::from(*d) * u64::from(*s)).sum::<u64>()
    }
}

impl Lay {
    /// One level: blocks of the streams in turn.
    fn of(streams: u32, block: u32) -> Option<Lay> {
        Some(Lay { block, round: streams.checked_mul(block)?, step: 1, strides: vec![block] })
    }

    /// Where item x of the first turn lies.
    pub fn item(&self, x: u64) -> u64 {
        let block = u64::from(self.block.max(1));
        x / block * u64::from(self.round) + x % block * u64::from(self.step)
    }

    /// The start of turn s is s times this: where levels make no difference. `levels` are those of the [`InTurn`].
    pub fn stride(&self, levels: &[u32]) -> Option<u32> {
        let last = self.strides.last()?;
        let mut each = Some(*last);
        for (stride, n) in self.strides.iter().zip(levels).rev() {
            each = each.filter(|e| e == stride || *n == 1)?.checked_mul(*n);
        }
        Some(*last)
    }

    /// Positions of positions: what lies so is one of `streams` streams that lie in blocks of `block`. `None` where that has another form, or
    /// numbers become too large.
    fn within(&self, streams: u32, block: u32) -> Option<Lay> {
        let times = |x: &u32| x.checked_mul(streams);
        let spread = || -> Option<Vec<u32>> { self.strides.iter().map(times).collect() };
        let with = |first, rest: Vec<u32>| std::iter::once(first).chain(rest).collect::<Vec<u32>>();
        if block == 1 {
            // every position n times as far
            let step = if self.block == 1 { 1 } else { times(&self.step)? };
            return Some(Lay { block: self.block, round: times(&self.round)?, step, strides: with(1, spread()?) });
        }
        if self.block == 1 && block.is_multiple_of(self.round) {
            // a block has so many rounds, each of which has an item of every inner stream
            let items = block / self.round;
            let step = if items == 1 { 1 } else { self.round };
            return Some(Lay { block: items, round: times(&block)?, step, strides: with(block, self.strides.clone()) });
        }
        if block == self.round {
            return Some(Lay { round: times(&block)?, strides: with(block, self.strides.clone()), ..self.clone() });
        }
        let whole = |x: &u32| x.is_multiple_of(block);
        if block == self.block && self.step == 1 && whole(&self.round) && self.strides.iter().all(whole) {
            // blocks stay what they are, and go to other places
            return Some(Lay { round: times(&self.round)?, strides: with(block, spread()?), ..self.clone() });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ⌊x/b⌋·n·b + s·b + x mod b
    fn plain(n: u32, b: u32, s: u32, x: u64) -> u64 {
        let (n, b, s) = (u64::from(n), u64::from(b), u64::from(s));
        x / b * n * b + s * b + x % b
    }

    fn at(lay: &Lay, digits: &[u32], x: u64) -> u64 {
        lay.item(x) + digits.iter().zip(&lay.strides).map(|(d, s)| u64::from(d * s)).sum::<u64>()
    }

    #[test]
    fn positions_of_positions() {
        let (mut composed, mut other) = (0, 0);
        let few = 1..=4u32;
        for (n, a, m, b) in few.clone().flat_map(|n| {
            let few = few.clone();
            few.clone().flat_map(move |a| few.clone().flat_map(move |m| (1..=24).map(move |b| (n, a, m, b))))
        }) {
            let inner = Lay::of(n, a).expect("small");
            let Some(lay) = inner.within(m, b) else {
                other += 1;
                // what both passes make of `--streams` together is always one
                assert!(a > 1 || b % n != 0 && b > 1, "{n} streams in blocks of {a}, {m} of these in blocks of {b}");
                continue;
            };
            composed += 1;
            for (t, s, x) in (0..n).flat_map(|t| (0..m).flat_map(move |s| (0..100).map(move |x| (t, s, x)))) {
                let y = plain(n, a, t, x);
                assert_eq!(at(&lay, &[s, t], x), plain(m, b, s, y), "{n} by {a} in {m} by {b}: item {x} of {s}, {t}");
            }
            if let Some(stride) = lay.stride(&[m, n]) {
                for (t, s) in (0..n).flat_map(|t| (0..m).map(move |s| (t, s))) {
                    assert_eq!(at(&lay, &[s, t], 0), u64::from((s * n + t) * stride));
                }
            }
        }
        assert!(composed > 300 && other > 300, "{composed} composed, {other} of another form");
    }

    #[test]
    fn levels_are_as_one_where_items_come_in_turn() {
        let lay = Lay::of(2, 1).and_then(|l| l.within(3, 2)).expect("two streams, then three branches");
        assert_eq!(lay, Lay { block: 1, round: 6, step: 1, strides: vec![2, 1] });
        assert_eq!(lay.stride(&[3, 2]), Some(1));
        // the other way round the branches lie beside each other
        let lay = Lay::of(3, 1).and_then(|l| l.within(2, 1)).expect("three branches, then two streams");
        assert_eq!(lay, Lay { block: 1, round: 6, step: 1, strides: vec![1, 2] });
        assert_eq!(lay.stride(&[2, 3]), None);
    }

    #[test]
    fn three_levels() {
        let lay = Lay::of(2, 1).and_then(|l| l.within(3, 4)).and_then(|l| l.within(5, 1)).expect("these have the form");
        for (t, s, r, x) in
            (0..2).flat_map(|t| (0..3).flat_map(move |s| (0..5).flat_map(move |r| (0..60).map(move |x| (t, s, r, x)))))
        {
            let want = plain(5, 1, r, plain(3, 4, s, plain(2, 1, t, x)));
            assert_eq!(at(&lay, &[r, s, t], x), want);
        }
    }

    #[test]
    fn what_does_not_fit_into_32_bits_is_left() {
        assert_eq!(Lay::of(1 << 16, 1 << 16), None);
        assert_eq!(Lay::of(1 << 16, 1 << 15).and_then(|l| l.within(2, 1)), None);
    }
}
