//! # patterns
//!
//! Purpose: whether items fit into bins of one size, and how. Input: sizes with how many there are of each, bins, room. Output: a packing, a
//! proof that there is none, or neither.
//! Method: P. Gilmore, R. Gomory, "A linear programming approach to the cutting-stock problem", Operations Research 1961: a
//! pattern is what one bin holds; how often each is used is a small integer program over few patterns, however many bins there are.
//!
//! ```text
//! least Σ x  with  Σ a[i]·x[a] ≥ n[i]                 x: how often pattern a is used
//! most Σ n·y  with  Σ a[i]·y[i] ≤ 1 for each pattern a   its dual: y[i] is the part of a bin that an item of size i is worth
//! ```
//!
//! As CBC gives no duals, the dual is what is solved; patterns that break it are found by [`Knapsack`] and added. Proofs do not rest on CBC:
//! whatever whole values items are given, with V the most that any bin can hold, Σ n·value / V bins are needed. That is computed in whole numbers.

use super::balance::{balance, fullest};
use super::cbc::{self, Limits, Status};
use super::knapsack::Knapsack;
use super::model::Model;
use crate::solver::pack::{Counts, best_fit};
use std::collections::BTreeSet;

/// Items by size.
#[derive(Clone, Debug)]
pub struct Stock {
    /// Different sizes, from large to small, each at least 1.
    pub sizes: Vec<u64>,
    /// How many there are of each, at least 1.
    pub demand: Vec<u64>,
    /// Bins.
    pub bins: u64,
}

/// What became of it. Bins hold places in [`Stock::sizes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packing {
    /// All items in their bins.
    Packed(Vec<Vec<usize>>),
    /// They do not fit: proven.
    Impossible,
    /// Nobody knows.
    Open,
}

/// What a value of 1 is in whole numbers.
const ONE: f64 = (1u64 << 36) as f64;
/// Nodes of a knapsack: for patterns and for proofs.
const NODES: u64 = 300_000;
/// The same where a bin is only to be filled well.
const FEW_NODES: u64 = 3_000;
/// With no more patterns than these, all of them are taken, and the integer program proves, too.
const ALL_PATTERNS: usize = 1_500;
/// Rounds of adding patterns.
const ROUNDS: usize = 400;

impl Stock {
    /// Collects costs.
    pub fn new(costs: &[u64], bins: u64) -> Stock {
        let mut all = costs.to_vec();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let (sizes, demand) = all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).unzip();
        Stock { sizes, demand, bins }
    }

    /// The place of a size in [`Stock::sizes`].
    pub fn class(&self, size: u64) -> usize {
        self.sizes.partition_point(|s| *s > size)
    }

    /// All items by their sizes, from large to small.
    pub fn items(&self) -> Vec<u64> {
        self.sizes.iter().zip(&self.demand).flat_map(|(size, n)| std::iter::repeat_n(*size, *n as usize)).collect()
    }

    /// What an assignment puts into each bin.
    pub fn bins_of(&self, costs: &[u64], bin: &[u32]) -> Vec<Vec<usize>> {
        let mut bins = vec![Vec::new(); self.bins as usize];
        costs.iter().zip(bin).for_each(|(cost, b)| bins[*b as usize].push(self.class(*cost)));
        bins
    }

    fn total(&self) -> u128 {
        self.sizes.iter().zip(&self.demand).map(|(s, n)| u128::from(*s) * u128::from(*n)).sum()
    }

    fn too_large(&self, room: u64) -> bool {
        self.sizes.first().is_some_and(|s| *s > room) || self.total() > u128::from(self.bins) * u128::from(room)
    }

    /// Without a solver: best fit from large to small, then balanced bins, then bins filled one after the other as full as can be.
    pub fn quick(&self, room: u64) -> Option<Vec<Vec<usize>>> {
        if self.too_large(room) {
            return None;
        }
        let balanced = || Some(balance(self, room)).filter(|bins| fullest(self, bins) <= room);
        self.best_fit(room).or_else(balanced).or_else(|| self.one_by_one(room))
    }

    fn best_fit(&self, room: u64) -> Option<Vec<Vec<usize>>> {
        let counts: Counts = self.sizes.iter().zip(&self.demand).map(|(s, n)| (*s, *n as u32)).collect();
        let classes = |bin: Counts| {
            bin.into_iter().flat_map(|(size, n)| std::iter::repeat_n(self.class(size), n as usize)).collect()
        };
        best_fit(&counts, self.bins as u32, room).map(|bins| bins.into_iter().map(classes).collect())
    }

    /// J. Gupta, J. Ho, "A new heuristic algorithm for the one-dimensional bin-packing problem", 1999: minimum bin slack.
    fn one_by_one(&self, room: u64) -> Option<Vec<Vec<usize>>> {
        let mut left = self.demand.clone();
        let mut bins = Vec::new();
        while let Some(largest) = left.iter().position(|n| *n > 0) {
            if bins.len() as u64 == self.bins {
                return None;
            }
            left[largest] -= 1;
            let room = room - self.sizes[largest];
            let k =
                Knapsack { sizes: &self.sizes, values: &self.sizes, most: &left, room, nodes: FEW_NODES, enough: room };
            let choice = k.fill().choices.pop().unwrap_or_default();
            let mut bin = vec![largest];
            for (class, n) in choice.iter().enumerate() {
                left[class] -= n;
                bin.extend(std::iter::repeat_n(class, *n as usize));
            }
            bins.push(bin);
        }
        bins.resize(self.bins as usize, Vec::new());
        Some(bins)
    }
}

/// Stock and the patterns that are known: what is learned at one room is of use at another.
pub struct Patterns {
    stock: Stock,
    pool: BTreeSet<Vec<u64>>,
}

impl Patterns {
    /// Begins with bins full of one size.
    pub fn new(stock: Stock) -> Patterns {
        Patterns { stock, pool: BTreeSet::new() }
    }

    /// The items.
    pub fn stock(&self) -> &Stock {
        &self.stock
    }

    fn used(&self, pattern: &[u64]) -> u128 {
        pattern.iter().zip(&self.stock.sizes).map(|(n, s)| u128::from(*n) * u128::from(*s)).sum()
    }

    /// Fits, or not, or nobody knows. `limits` gives those of the next solve, nothing when the time is over.
    pub fn pack(&mut self, room: u64, limits: &dyn Fn(f64) -> Option<Limits>) -> Packing {
        if self.stock.too_large(room) {
            return Packing::Impossible;
        }
        if let Some(bins) = self.stock.quick(room) {
            return Packing::Packed(bins);
        }
        let all = self.all(room);
        if !all {
            match self.price(room, limits) {
                Priced::Impossible => return Packing::Impossible,
                Priced::Open => return Packing::Open,
                Priced::Fits => {}
            }
        }
        self.choose(room, all, limits)
    }

    /// Does the linear program prove that they do not fit?
    pub fn refuted(&mut self, room: u64, limits: &dyn Fn(f64) -> Option<Limits>) -> bool {
        self.stock.too_large(room) || self.price(room, limits) == Priced::Impossible
    }

    /// Adds every pattern that nothing can be added to, if they are few.
    fn all(&mut self, room: u64) -> bool {
        let (sizes, demand) = (&self.stock.sizes, &self.stock.demand);
        let mut found = Vec::new();
        let (mut counts, mut left, mut at, mut steps) = (vec![0; sizes.len()], room, 0, 0);
        loop {
            while at < sizes.len() {
                counts[at] = demand[at].min(left / sizes[at]);
                left -= counts[at] * sizes[at];
                at += 1;
            }
            let full = (0..sizes.len()).all(|i| counts[i] == demand[i] || sizes[i] > left);
            if full {
                found.push(counts.clone());
            }
            steps += 1;
            if found.len() > ALL_PATTERNS || steps > 40 * ALL_PATTERNS {
                return false;
            }
            // The smallest size is given back whole: with fewer of it nothing would follow.
            let last = sizes.len() - 1;
            left += counts[last] * sizes[last];
            counts[last] = 0;
            let Some(back) = (0..last).rev().find(|i| counts[*i] > 0) else { break };
            counts[back] -= 1;
            left += sizes[back];
            at = back + 1;
        }
        self.pool.extend(found);
        true
    }

    fn start(&mut self, room: u64) {
        let (sizes, demand) = (&self.stock.sizes, &self.stock.demand);
        for (i, (s, n)) in sizes.iter().zip(demand).enumerate() {
            let mut one = vec![0; sizes.len()];
            one[i] = *n.min(&(room / s));
            let mut left = room - one[i] * s;
            // What is left goes to smaller ones.
            for j in i + 1..sizes.len() {
                one[j] = demand[j].min(left / sizes[j]);
                left -= one[j] * sizes[j];
            }
            self.pool.insert(one);
        }
    }

    fn price(&mut self, room: u64, limits: &dyn Fn(f64) -> Option<Limits>) -> Priced {
        self.start(room);
        let bins = self.stock.bins as f64;
        for _ in 0..ROUNDS {
            let Some(limits) = limits(0.2) else { return Priced::Open };
            let Some(worth) = self.worth(room, &limits) else { return Priced::Open };
            let z: f64 = worth.iter().zip(&self.stock.demand).map(|(y, n)| y * *n as f64).sum();
            if z <= bins * (1.0 + 1e-9) {
                return Priced::Fits;
            }
            let values: Vec<u64> = worth.iter().map(|y| (y * ONE).floor() as u64).collect();
            let filled = self.filled(&values, room);
            let all: u128 = values.iter().zip(&self.stock.demand).map(|(v, n)| u128::from(*v) * u128::from(*n)).sum();
            if all > u128::from(self.stock.bins) * u128::from(filled.bound) {
                return Priced::Impossible;
            }
            let before = self.pool.len();
            let better = |c: &&Vec<u64>| {
                let value: u64 = c.iter().zip(&values).map(|(n, v)| n * v).sum();
                value as f64 > ONE * (1.0 + 1e-9)
            };
            let new: Vec<Vec<u64>> = filled.choices.iter().filter(better).cloned().collect();
            self.pool.extend(new);
            if self.pool.len() == before {
                // The optimum, as far as numbers go: it neither fits nor is it refuted.
                return Priced::Open;
            }
        }
        Priced::Open
    }

    fn filled(&self, values: &[u64], room: u64) -> super::knapsack::Filled {
        let most = &self.stock.demand;
        Knapsack { sizes: &self.stock.sizes, values, most, room, nodes: NODES, enough: u64::MAX }.fill()
    }

    /// What items are worth by the patterns that are known.
    fn worth(&self, room: u64, limits: &Limits) -> Option<Vec<f64>> {
        let mut model = Model::default();
        let y: Vec<_> = self.stock.demand.iter().map(|_| model.var(0.0, 1.0, false)).collect();
        for pattern in self.pool.iter().filter(|p| self.used(p) <= room.into()) {
            let terms = pattern.iter().zip(&y).filter(|(n, _)| **n > 0).map(|(n, y)| (*y, *n as f64));
            model.at_most("(pattern)", terms, 1.0);
        }
        y.iter().zip(&self.stock.demand).for_each(|(y, n)| model.objective[y.0] = -(*n as f64));
        let out = cbc::solve(&model, limits, None);
        out.values.filter(|_| out.status == Status::Optimal)
    }

    /// The integer program over the patterns that are known.
    fn choose(&mut self, room: u64, all: bool, limits: &dyn Fn(f64) -> Option<Limits>) -> Packing {
        let Some(limits) = limits(0.25) else { return Packing::Open };
        let pool: Vec<&Vec<u64>> = self.pool.iter().filter(|p| self.used(p) <= room.into()).collect();
        let mut model = Model::default();
        let x: Vec<_> = pool.iter().map(|_| model.var(0.0, self.stock.bins as f64, true)).collect();
        for (i, n) in self.stock.demand.iter().enumerate() {
            let terms = pool.iter().zip(&x).filter(|(p, _)| p[i] > 0).map(|(p, x)| (*x, p[i] as f64));
            model.at_least("(cover)", terms, *n as f64);
        }
        model.at_most("(bins)", x.iter().map(|x| (*x, 1.0)), self.stock.bins as f64);
        let out = cbc::solve(&model, &limits, None);
        match out.values {
            None if out.status == Status::Infeasible && all => Packing::Impossible,
            None => Packing::Open,
            Some(values) => {
                let mut left = self.stock.demand.clone();
                let mut bins = Vec::new();
                for (pattern, times) in pool.iter().zip(&values) {
                    for _ in 0..times.round() as u64 {
                        let mut bin = Vec::new();
                        for (class, n) in pattern.iter().enumerate() {
                            // More than there are is left out.
                            let n = (*n).min(left[class]);
                            left[class] -= n;
                            bin.extend(std::iter::repeat_n(class, n as usize));
                        }
                        bins.push(bin);
                    }
                }
                bins.resize(self.stock.bins as usize, Vec::new());
                if left.iter().all(|n| *n == 0) { Packing::Packed(bins) } else { Packing::Open }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Priced {
    Fits,
    Impossible,
    Open,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_LIMIT: fn(f64) -> Option<Limits> = |_| Some(Limits { seconds: None, nodes: Some(2000), gap: 0.0 });

    fn check(stock: &Stock, room: u64, bins: &[Vec<usize>]) {
        assert_eq!(bins.len() as u64, stock.bins);
        let mut left = stock.demand.clone();
        for bin in bins {
            assert!(bin.iter().map(|c| stock.sizes[*c]).sum::<u64>() <= room);
            bin.iter().for_each(|c| left[*c] -= 1);
        }
        assert!(left.iter().all(|n| *n == 0));
    }

    /// Against trying everything: never a wrong proof, never a wrong packing, and for few items always an answer.
    #[test]
    fn as_trying_everything() {
        let mut seed = 11u64;
        let mut roll = |sides: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % sides
        };
        let (mut fits, mut not) = (0, 0);
        for _ in 0..150 {
            let costs: Vec<u64> = (0..1 + roll(8)).map(|_| 1 + roll(20)).collect();
            let bins = 1 + roll(4);
            let best = optimum(&costs, &mut vec![0; bins as usize]);
            let mut patterns = Patterns::new(Stock::new(&costs, bins));
            for room in [best - 1, best] {
                match patterns.pack(room, &NO_LIMIT) {
                    Packing::Packed(packed) => {
                        assert!(room == best);
                        check(patterns.stock(), room, &packed);
                        fits += 1;
                    }
                    Packing::Impossible => {
                        assert!(room < best, "{costs:?} {bins}");
                        not += 1;
                    }
                    Packing::Open => panic!("{costs:?} {bins} {room}"),
                }
            }
            assert!(!patterns.refuted(best, &NO_LIMIT), "{costs:?} {bins}");
        }
        assert_eq!((fits, not), (150, 150));
    }

    fn optimum(costs: &[u64], bins: &mut Vec<u64>) -> u64 {
        let Some((first, rest)) = costs.split_first() else { return *bins.iter().max().unwrap() };
        (0..bins.len())
            .map(|b| {
                bins[b] += first;
                let best = optimum(rest, bins);
                bins[b] -= first;
                best
            })
            .min()
            .unwrap()
    }

    /// Two of 34 and one of 31, or three of 31 and nothing else that fills: the linear program knows, the sums do not.
    #[test]
    fn the_linear_program_proves_more_than_the_sums() {
        let costs: Vec<u64> = std::iter::repeat_n(51, 30).chain(std::iter::repeat_n(27, 30)).chain([26; 30]).collect();
        let stock = Stock::new(&costs, 31);
        assert!(stock.total() <= 31 * 101);
        let mut patterns = Patterns::new(stock);
        assert!(patterns.refuted(101, &NO_LIMIT));
        assert_eq!(patterns.pack(101, &NO_LIMIT), Packing::Impossible);
        let Packing::Packed(bins) = patterns.pack(104, &NO_LIMIT) else { panic!() };
        check(patterns.stock(), 104, &bins);
    }
}
