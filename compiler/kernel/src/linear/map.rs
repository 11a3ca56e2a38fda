//! Affine maps from one stream of numbers to another, item by item.
//!
//! A [`Map`] says of each item y(i) of an output which items x of the input it is made of, and how many items of the input must have come
//! before the program gives it. Both repeat: y(i + push) is made as y(i) is, of items `pop` later. Nothing is said of firings, so that maps of filters, splitters and
//! joiners combine without regard to their rates: [`Map::then`] for what follows one another, [`Map::join`] for what stands side by side. [`Map::steps`] finds
//! the firings again.
//!
//! ```text
//! y(0) = 0.5·x(0) + 0.5·x(1), 2 items needed; pop 1, push 1      then      every second item      =      y(0), 3 needed; pop 2, push 1
//! ```
//!
//! The theory of linear filters and of how they combine is that of A. A. Lamb, W. Thies, S. Amarasinghe, "Linear analysis and optimization of stream
//! programs", PLDI 2003; there, a filter is a matrix for its whole window, and rates are matched by expanding matrices. Needs by item, instead, say exactly
//! when two programs give the same items for every length of input.

use sluice_frontend::steady_state::gcd;
use std::rc::Rc;

/// Items of output in a period, at most.
pub const MOST_ROWS: u64 = 1 << 12;
/// Coefficients of a map, at most.
pub const MOST_TAPS: u64 = 1 << 20;
/// Items that may lie between the beginning of the input and the last that a period looks at.
const FARTHEST: u64 = 1 << 24;

/// One item of output: `plus` and the sum of `taps[t]` times item `start + t` of the input.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Row {
    /// The first item of the input that counts, in the first period.
    pub start: u64,
    /// Coefficients; the first and the last are not 0.
    pub taps: Vec<f64>,
    /// The constant.
    pub plus: f64,
}

/// An affine map of streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// Items of input from one period to the next; at least 1.
    pub pop: u64,
    /// The items of the first period; at least one.
    pub rows: Vec<Row>,
    /// By row: items of input that must have come; never less than for the row before.
    pub need: Vec<u64>,
}

/// What a coefficient that is kept costs, so that a budget bounds the memory, too.
const STORED: u64 = 4;

/// Work that combining may take: multiplications and additions.
pub struct Budget(pub u64);

impl Budget {
    fn spend(&mut self, n: u64) -> Result<(), TooLarge> {
        self.0 = self.0.checked_sub(n).ok_or(TooLarge)?;
        Ok(())
    }
}

/// A map would be larger than the limits, or take too long to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// How a map is done in firings: some items once, then a period at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// Items that the first firing gives besides, and how many it looks at for them; it takes none. Empty where all firings are alike.
    pub first: Option<(Vec<Row>, u64)>,
    /// The rows of a firing; positions count from its first item.
    pub rows: Vec<Row>,
    /// Items taken.
    pub pop: u64,
    /// Items looked at.
    pub peek: u64,
}

impl Row {
    /// Without zeroes at its ends.
    fn trimmed(mut self) -> Row {
        let keep = self.taps.iter().rposition(|t| *t != 0.0).map_or(0, |i| i + 1);
        self.taps.truncate(keep);
        let lead = self.taps.iter().position(|t| *t != 0.0).unwrap_or(0);
        self.taps.drain(..lead);
        self.start = if self.taps.is_empty() { 0 } else { self.start + lead as u64 };
        self
    }

    /// The end of what counts.
    pub fn end(&self) -> u64 {
        self.start + self.taps.len() as u64
    }

    fn later(&self, by: u64) -> Row {
        Row { start: if self.taps.is_empty() { 0 } else { self.start + by }, ..self.clone() }
    }
}

impl Map {
    /// What a filter does: `rows` by position in its window.
    pub fn of_filter(pop: u32, peek: u32, rows: Vec<Row>) -> Result<Map, TooLarge> {
        let need = vec![u64::from(peek); rows.len()];
        Map { pop: pop.into(), rows: rows.into_iter().map(Row::trimmed).collect(), need }.checked()
    }

    /// The same items again.
    pub fn identity() -> Map {
        Map { pop: 1, rows: vec![Row { start: 0, taps: vec![1.0], plus: 0.0 }], need: vec![1] }
    }

    /// What a round-robin splitter gives to one of its ports.
    pub fn port(weights: &[u32], port: usize) -> Result<Map, TooLarge> {
        let before: u64 = weights[..port].iter().map(|w| u64::from(*w)).sum();
        let all: u64 = weights.iter().map(|w| u64::from(*w)).sum();
        if u64::from(weights[port]) > MOST_ROWS {
            return Err(TooLarge);
        }
        let row = |i: u32| Row { start: before + u64::from(i), taps: vec![1.0], plus: 0.0 };
        let rows: Vec<Row> = (0..weights[port]).map(row).collect();
        Map { pop: all, need: vec![all; rows.len()], rows }.checked()
    }

    /// Items of output in a period.
    pub fn push(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The row that item `i` of the output is made by, and how much later its items lie.
    fn at(&self, i: u64) -> (&Row, u64) {
        (&self.rows[(i % self.push()) as usize], i / self.push() * self.pop)
    }

    /// Items of input that must have come before item `i` of the output.
    pub fn needed(&self, i: u64) -> u64 {
        self.need[(i % self.push()) as usize] + i / self.push() * self.pop
    }

    /// Coefficients that are stored.
    pub fn taps(&self) -> u64 {
        self.rows.iter().map(|r| r.taps.len() as u64).sum()
    }

    fn checked(self) -> Result<Map, TooLarge> {
        let far = self.rows.iter().map(Row::end).chain(self.need.iter().copied()).any(|n| n > FARTHEST);
        let fits = self.pop > 0 && self.pop <= FARTHEST && self.push() <= MOST_ROWS && self.taps() <= MOST_TAPS && !far;
        let finite = self.rows.iter().all(|r| r.plus.is_finite() && r.taps.iter().all(|t| t.is_finite()));
        if fits && finite && !self.rows.is_empty() { Ok(self) } else { Err(TooLarge) }
    }

    /// This, and then `next` of what it gives.
    pub fn then(&self, next: &Map, budget: &mut Budget) -> Result<Map, TooLarge> {
        let both = gcd(self.push(), next.pop);
        let (mine, theirs) = (next.pop / both, self.push() / both);
        let pop = self.pop.checked_mul(mine).ok_or(TooLarge)?;
        let push = next.push().checked_mul(theirs).filter(|n| *n <= MOST_ROWS).ok_or(TooLarge)?;
        let (mut rows, mut need, mut taps) = (Vec::new(), Vec::new(), 0);
        for i in 0..push {
            let (row, later) = next.at(i);
            // what it looks at, in the items of the input
            let parts = || (row.taps.iter().enumerate()).map(|(t, c)| (*c, self.at(row.start + later + t as u64)));
            let real = || parts().filter(|(c, (r, _))| *c != 0.0 && !r.taps.is_empty());
            let from = real().map(|(_, (r, by))| r.start + by).min().unwrap_or(0);
            let to = real().map(|(_, (r, by))| r.end() + by).max().unwrap_or(0);
            taps += to - from;
            if taps > MOST_TAPS {
                return Err(TooLarge);
            }
            budget.spend(
                STORED * (to - from)
                    + row.taps.len() as u64
                    + real().map(|(_, (r, _))| r.taps.len() as u64).sum::<u64>(),
            )?;
            let mut sum = Row { start: from, taps: vec![0.0; (to - from) as usize], plus: row.plus };
            for (c, (r, by)) in parts() {
                sum.plus += c * r.plus;
                if c != 0.0 && !r.taps.is_empty() {
                    let at = (r.start + by - from) as usize;
                    sum.taps[at..at + r.taps.len()].iter_mut().zip(&r.taps).for_each(|(s, t)| *s += c * t);
                }
            }
            rows.push(sum.trimmed());
            let wanted = next.needed(i);
            need.push(if wanted == 0 { 0 } else { self.needed(wanted - 1) });
        }
        Map { pop, rows, need }.checked()
    }

    /// Branches that see the same input, their items dealt out by a joiner: so many of each in turn.
    pub fn join(branches: &[Rc<Map>], weights: &[u32], budget: &mut Budget) -> Result<Map, TooLarge> {
        let mut rounds = 1u64;
        for (b, w) in branches.iter().zip(weights) {
            let each = b.push() / gcd(b.push(), u64::from(*w));
            rounds = (rounds / gcd(rounds, each)).checked_mul(each).ok_or(TooLarge)?;
        }
        let all: u64 = weights.iter().map(|w| u64::from(*w)).sum();
        rounds.checked_mul(all).filter(|n| *n <= MOST_ROWS).ok_or(TooLarge)?;
        let period = |(b, w): (&Rc<Map>, &u32)| (rounds * u64::from(*w) / b.push()).checked_mul(b.pop);
        let mut pops = branches.iter().zip(weights).map(period);
        let pop = pops.next().flatten().ok_or(TooLarge)?;
        // the graph has been balanced; were it not, nothing is known
        if !pops.all(|p| p == Some(pop)) {
            return Err(TooLarge);
        }
        let (mut rows, mut need, mut taps) = (Vec::new(), Vec::new(), 0);
        for round in 0..rounds {
            let last = |(b, w): (&Rc<Map>, &u32)| b.needed((round + 1) * u64::from(*w) - 1);
            let whole = branches.iter().zip(weights).map(last).max().unwrap_or(0);
            for (b, w) in branches.iter().zip(weights) {
                for i in 0..u64::from(*w) {
                    let (row, later) = b.at(round * u64::from(*w) + i);
                    taps += row.taps.len() as u64;
                    budget.spend(STORED * row.taps.len() as u64 + 1)?;
                    if taps > MOST_TAPS {
                        return Err(TooLarge);
                    }
                    rows.push(row.later(later));
                    need.push(whole);
                }
            }
        }
        Map { pop, rows, need }.checked()
    }

    /// The firings of one filter that gives each item as soon as the map does; `None` where the items of a period come one after another.
    pub fn steps(&self) -> Option<Steps> {
        let last = *self.need.last()?;
        let ahead = self.need.iter().position(|n| *n == last)?;
        if !self.need[..ahead].iter().all(|n| n + self.pop == last) || last < self.pop {
            return None;
        }
        let early = &self.rows[..ahead];
        let first = (ahead > 0).then(|| (early.to_vec(), last - self.pop));
        if first.as_ref().is_some_and(|(_, peek)| *peek == 0) {
            return None;
        }
        let rows = self.rows[ahead..].iter().cloned().chain(early.iter().map(|r| r.later(self.pop)));
        Some(Steps { first, rows: rows.collect(), pop: self.pop, peek: last })
    }
}
