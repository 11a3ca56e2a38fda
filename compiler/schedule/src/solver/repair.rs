//! # repair
//!
//! Purpose: an assignment that is too full somewhere becomes one that fits, with as little moved as can be, for its structure is worth
//! keeping: what is near each other in the program is on one processor. Input: sizes, an assignment, the size of the bins. Output: an
//! assignment that fits, or nothing. Method: exchanges of one or two items for none, one or two between two bins; the room that is left is
//! gathered in one bin (as in [`super::pack`]), from where the overfull ones take it.

/// Turns of gathering.
const TURNS: usize = 6;
/// Items of a bin that pairs are made of; of larger bins single items are enough.
const PAIRS: usize = 40;

/// Items in bins.
struct Bins<'a> {
    sizes: &'a [u64],
    /// By bin, its items, sorted by size.
    items: Vec<Vec<u32>>,
    sum: Vec<u64>,
    size: u64,
}

/// Repairs; `bin` has the bin of each item.
pub fn repair(sizes: &[u64], bin: &[u32], bins: u32, size: u64) -> Option<Vec<u32>> {
    let mut b = Bins { sizes, items: vec![Vec::new(); bins as usize], sum: vec![0; bins as usize], size };
    let mut order: Vec<u32> = (0..sizes.len() as u32).collect();
    order.sort_by_key(|i| (sizes[*i as usize], *i));
    for i in order {
        let at = bin[i as usize] as usize;
        b.items[at].push(i);
        b.sum[at] += sizes[i as usize];
    }
    for _ in 0..TURNS {
        if b.turn() {
            let mut bin = bin.to_vec();
            for (at, items) in b.items.iter().enumerate() {
                items.iter().for_each(|i| bin[*i as usize] = at as u32);
            }
            return Some(bin);
        }
    }
    None
}

impl Bins<'_> {
    fn room(&self, bin: usize) -> u64 {
        self.size.saturating_sub(self.sum[bin])
    }

    fn over(&self, bin: usize) -> u64 {
        self.sum[bin].saturating_sub(self.size)
    }

    /// Gathers room once round; does everything fit then?
    fn turn(&mut self) -> bool {
        let mut full: Vec<usize> = (0..self.sum.len()).filter(|b| self.over(*b) > 0).collect();
        full.sort_by_key(|b| (self.over(*b), *b));
        let mut order: Vec<usize> = (0..self.sum.len()).filter(|b| self.room(*b) > 0).collect();
        order.sort_by_key(|b| (std::cmp::Reverse(self.room(*b)), *b));
        let Some((hole, others)) = order.split_first() else { return full.is_empty() };
        self.relieve(&mut full, *hole);
        for other in others {
            if full.is_empty() {
                break;
            }
            // The other one takes over as much of the hole's items as it has room for.
            let room = self.room(*other);
            self.exchange(*hole, *other, 1, room);
            self.relieve(&mut full, *hole);
            self.relieve(&mut full, *other);
        }
        full.is_empty()
    }

    /// Overfull bins give to one with room, all that is too much or as much as can be.
    fn relieve(&mut self, full: &mut Vec<usize>, hole: usize) {
        let mut at = 0;
        while at < full.len() {
            let (b, room) = (full[at], self.room(hole));
            if room == 0 {
                return;
            }
            let over = self.over(b);
            // What is enough, but no more of it than needed; else a part.
            if over > room || !self.exchange_least(b, hole, over, room) {
                self.exchange(b, hole, 1, room.min(over));
            }
            if self.over(b) == 0 {
                full.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Moves as much as can be from one bin to another by an exchange, at least `low` and at most `high`.
    fn exchange(&mut self, from: usize, to: usize, low: u64, high: u64) -> bool {
        self.swap(from, to, low, high, true)
    }

    /// The same, as little as can be.
    fn exchange_least(&mut self, from: usize, to: usize, low: u64, high: u64) -> bool {
        self.swap(from, to, low, high, false)
    }

    fn swap(&mut self, from: usize, to: usize, low: u64, high: u64, most: bool) -> bool {
        if low > high {
            return false;
        }
        // A bundle of no, one or two items, by its sum.
        let bundles = |bin: usize| {
            let items = &self.items[bin];
            let mut all: Vec<(u64, [u32; 2])> = vec![(0, [u32::MAX; 2])];
            let size = |i: u32| self.sizes[i as usize];
            // Of equal items the last ones, and no more than two.
            let few =
                || items.iter().enumerate().filter(|(at, i)| items.get(at + 2).is_none_or(|n| size(*n) > size(**i)));
            all.extend(few().map(|(_, i)| (size(*i), [*i, u32::MAX])));
            if few().count() <= PAIRS {
                let few: Vec<u32> = few().map(|x| *x.1).collect();
                for (at, i) in few.iter().enumerate() {
                    all.extend(few[at + 1..].iter().map(|j| (size(*i) + size(*j), [*i, *j])));
                }
            }
            all
        };
        let (out, mut back) = (bundles(from), bundles(to));
        back.sort_unstable_by_key(|b| (b.0, b.1));
        let mut best: Option<(u64, [u32; 2], [u32; 2])> = None;
        for (sum, items) in &out {
            // What comes back has between sum - high and sum - low.
            let Some(largest) = sum.checked_sub(low) else { continue };
            let smallest = sum.saturating_sub(high);
            let found = if most {
                back.get(back.partition_point(|b| b.0 < smallest)).filter(|b| b.0 <= largest)
            } else {
                let end = back.partition_point(|b| b.0 <= largest);
                end.checked_sub(1).map(|at| &back[at]).filter(|b| b.0 >= smallest)
            };
            let Some((other, others)) = found else { continue };
            let moved = sum - other;
            let better = |old: u64| if most { moved > old } else { moved < old };
            if best.is_none_or(|b| better(b.0)) {
                best = Some((moved, *items, *others));
            }
        }
        let Some((_, items, others)) = best else { return false };
        for (bundle, a, b) in [(items, from, to), (others, to, from)] {
            for i in bundle.into_iter().filter(|i| *i != u32::MAX) {
                self.put(i, a, b);
            }
        }
        true
    }

    fn put(&mut self, item: u32, from: usize, to: usize) {
        let size = self.sizes[item as usize];
        self.items[from].retain(|i| *i != item);
        let at = self.items[to].partition_point(|i| (self.sizes[*i as usize], *i) < (size, item));
        self.items[to].insert(at, item);
        self.sum[from] -= size;
        self.sum[to] += size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_right_and_little_moves() {
        let mut seed = 9u64;
        let mut roll = |sides: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % sides
        };
        let (mut mended, mut moved, mut items) = (0, 0, 0);
        for _ in 0..200 {
            let bins = 2 + roll(20) as u32;
            let sizes: Vec<u64> = (0..bins * 12).map(|_| 50 + roll(500)).collect();
            let bin: Vec<u32> = (0..sizes.len()).map(|i| i as u32 % bins).collect();
            let size = sizes.iter().sum::<u64>().div_ceil(bins.into()) * 1002 / 1000;
            let Some(now) = repair(&sizes, &bin, bins, size) else { continue };
            let mut sums = vec![0; bins as usize];
            sizes.iter().zip(&now).for_each(|(s, b)| sums[*b as usize] += s);
            assert!(sums.iter().all(|s| *s <= size));
            mended += 1;
            moved += now.iter().zip(&bin).filter(|(a, b)| a != b).count();
            items += sizes.len();
        }
        assert!(mended > 180 && moved * 2 < items, "{mended} {moved} {items}");
        assert_eq!(repair(&[5, 5, 5], &[0, 1, 1], 2, 9), None);
    }
}
