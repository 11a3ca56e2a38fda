//! # pack
//!
//! Purpose: packs groups of instances into processors as evenly as can be found. Input: sizes, a number of bins, a lower bound. Output:
//! [`Packing`]. Method: longest first into the emptiest bin (R. Graham, SIAM J. Applied Mathematics 17, 1969) as a start; then for bin
//! sizes from the lower bound upwards: best fit, and *concentration*: the items of two bins are shared out anew so that one is as full
//! as can be (the best subset, by bounded search), which gathers all the room that is left in one bin, until what found
//! none fits there. After J. Gupta, J. Ho, "A new heuristic algorithm for the one-dimensional bin-packing problem", Production Planning &
//! Control 10, 1999 (minimum bin slack).
//!
//! Items of equal size are interchangeable, so bins hold sizes with counts; names are given at the end.

/// Nodes of one search for a best subset.
const NODES: u32 = 3000;
/// Turns of concentration at one bin size.
const TURNS: usize = 6;
/// Above the lower bound, in 1/10,000: the bin sizes that are tried.
pub const STEPS: [u64; 16] = [0, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1200];

/// Which bin each item goes into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// By item.
    pub bin: Vec<u32>,
    /// The sum of the fullest bin.
    pub largest: u64,
}

/// Sizes from large to small, with how many there are of each.
pub type Counts = Vec<(u64, u32)>;

/// Packs; `lower` is a bin size that no packing goes below.
pub fn pack(sizes: &[u64], bins: u32, lower: u64) -> Packing {
    let mut best = longest_first(sizes, bins);
    let all = counts(sizes);
    for size in STEPS.map(|s| step(lower, s)) {
        if size >= best.largest {
            break;
        }
        if let Some(found) = fit(&all, bins, size) {
            best = named(sizes, &found);
            break;
        }
    }
    best
}

/// A size so many 1/10,000 above another one.
pub fn step(lower: u64, above: u64) -> u64 {
    lower.saturating_add((u128::from(lower) * u128::from(above) / 10_000) as u64)
}

/// The longest first, each into the emptiest bin.
pub fn longest_first(sizes: &[u64], bins: u32) -> Packing {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(sizes[*i]), *i));
    let mut heap: std::collections::BinaryHeap<_> = (0..bins).map(|b| std::cmp::Reverse((0u64, b))).collect();
    let mut packing = Packing { bin: vec![0; sizes.len()], largest: 0 };
    for i in order {
        let Some(mut top) = heap.peek_mut() else { break };
        top.0.0 += sizes[i];
        packing.bin[i] = top.0.1;
        packing.largest = packing.largest.max(top.0.0);
    }
    packing
}

fn counts(sizes: &[u64]) -> Counts {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
}

/// Gives the items their bins: of equal ones, the first go into the first bins.
fn named(sizes: &[u64], bins: &[Bin]) -> Packing {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(sizes[*i]), *i));
    let mut slots: Vec<(u64, u32)> = Vec::with_capacity(sizes.len());
    for (b, bin) in bins.iter().enumerate() {
        for (size, n) in &bin.items {
            slots.extend(std::iter::repeat_n((*size, b as u32), *n as usize));
        }
    }
    slots.sort_by_key(|(size, b)| (std::cmp::Reverse(*size), *b));
    let mut packing = Packing { bin: vec![0; sizes.len()], largest: bins.iter().map(|b| b.sum).max().unwrap_or(0) };
    order.iter().zip(slots).for_each(|(i, (_, b))| packing.bin[*i] = b);
    packing
}

#[derive(Clone, Debug, Default)]
struct Bin {
    items: Counts,
    sum: u64,
}

impl Bin {
    fn add(&mut self, size: u64) {
        self.sum += size;
        match self.items.binary_search_by(|x| size.cmp(&x.0)) {
            Ok(at) => self.items[at].1 += 1,
            Err(at) => self.items.insert(at, (size, 1)),
        }
    }

    fn of(items: Counts) -> Bin {
        let sum = items.iter().map(|(s, n)| s * u64::from(*n)).sum();
        Bin { items, sum }
    }
}

/// Best fit, from large to small: what each bin of this size holds, unless something is left.
pub fn best_fit(all: &[(u64, u32)], bins: u32, size: u64) -> Option<Vec<Counts>> {
    let (full, pool) = fullest_with_room(all, bins, size)?;
    (pool.sum == 0).then(|| full.into_iter().map(|b| b.items).collect())
}

/// Each item into the fullest bin that has room for it; and those for which none has.
fn fullest_with_room(all: &[(u64, u32)], bins: u32, size: u64) -> Option<(Vec<Bin>, Bin)> {
    if all.first().is_some_and(|x| x.0 > size) {
        return None;
    }
    let mut full: Vec<Bin> = vec![Bin::default(); bins as usize];
    let mut by_sum: std::collections::BTreeSet<(u64, u32)> = (0..bins).map(|b| (0, b)).collect();
    let mut pool = Bin::default();
    for (item, n) in all {
        for _ in 0..*n {
            let Some((sum, b)) = by_sum.range(..=(size - item, u32::MAX)).next_back().copied() else {
                pool.add(*item);
                continue;
            };
            by_sum.remove(&(sum, b));
            by_sum.insert((sum + item, b));
            full[b as usize].add(*item);
        }
    }
    Some((full, pool))
}

/// A packing into bins of this size, if one is found.
fn fit(all: &[(u64, u32)], bins: u32, size: u64) -> Option<Vec<Bin>> {
    let (mut full, mut pool) = fullest_with_room(all, bins, size)?;
    for _ in 0..TURNS {
        if pool.sum == 0 {
            return Some(full);
        }
        let before = pool.sum;
        concentrate(&mut full, &mut pool, size);
        // What is left goes into bins that it fills better than what is there.
        for bin in full.iter_mut().filter(|b| b.sum < size) {
            share(bin, &mut pool, size);
            if pool.sum == 0 {
                return Some(full);
            }
        }
        if pool.sum == before {
            return None;
        }
    }
    None
}

/// Gathers the room in one bin, and puts there what fits.
fn concentrate(full: &mut [Bin], pool: &mut Bin, size: u64) {
    let mut order: Vec<usize> = (0..full.len()).filter(|b| full[*b].sum < size).collect();
    order.sort_by_key(|b| (full[*b].sum, *b));
    let Some((hole, others)) = order.split_first() else { return };
    for other in others {
        let Ok([other, hole]) = full.get_disjoint_mut([*other, *hole]) else { return };
        share(other, hole, size);
        drop_into(hole, pool, size);
        if pool.sum == 0 {
            return;
        }
    }
}

/// Puts into a bin what fits, the largest first.
fn drop_into(bin: &mut Bin, pool: &mut Bin, size: u64) {
    let mut left = Vec::with_capacity(pool.items.len());
    for (item, n) in std::mem::take(&mut pool.items) {
        let fit = ((size - bin.sum) / item).min(n.into()) as u32;
        (0..fit).for_each(|_| bin.add(item));
        if n > fit {
            left.push((item, n - fit));
        }
    }
    *pool = Bin::of(left);
}

/// Shares out the items of two bins anew: the first gets a subset that fills it best, if that is more than it has; the other one the rest.
fn share(first: &mut Bin, other: &mut Bin, size: u64) {
    let mut union: Counts = Vec::with_capacity(first.items.len() + other.items.len());
    let (mut a, mut b) = (first.items.iter().peekable(), other.items.iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.0 == y.0 => {
                union.push((x.0, x.1 + y.1));
                a.next();
                b.next();
            }
            (Some(x), y) if y.is_none_or(|y| x.0 > y.0) => {
                union.push(**x);
                a.next();
            }
            (_, Some(y)) => {
                union.push(**y);
                b.next();
            }
            _ => break,
        }
    }
    let Some(taken) = best_subset(&union, size, first.sum) else { return };
    let mut halves = [Vec::new(), Vec::new()];
    for ((item, n), t) in union.iter().zip(taken) {
        for (half, n) in halves.iter_mut().zip([t, n - t]) {
            if n > 0 {
                half.push((*item, n));
            }
        }
    }
    *first = Bin::of(std::mem::take(&mut halves[0]));
    *other = Bin::of(std::mem::take(&mut halves[1]));
}

/// How many to take of each size so that the sum is as large as can be, at most `most` and more than `least`; the larger sizes first,
/// within [`NODES`] steps.
fn best_subset(sizes: &Counts, most: u64, least: u64) -> Option<Vec<u32>> {
    let n = sizes.len();
    // What all sizes from here on add up to.
    let mut rest = vec![0u64; n + 1];
    for i in (0..n).rev() {
        rest[i] = rest[i + 1] + sizes[i].0 * u64::from(sizes[i].1);
    }
    let (mut best, mut found) = (least, None);
    let (mut taken, mut sum, mut at) = (vec![0u32; n], 0u64, 0);
    for _ in 0..NODES {
        // Down: as many as fit of every size from here on.
        while at < n && sum + rest[at] > best {
            taken[at] = (u64::from(sizes[at].1)).min((most - sum) / sizes[at].0) as u32;
            sum += sizes[at].0 * u64::from(taken[at]);
            at += 1;
        }
        if sum > best {
            // Sizes beyond here were not looked at in this descent: none of them is taken.
            taken[at..].fill(0);
            (best, found) = (sum, Some(taken.clone()));
            if best == most {
                break;
            }
        }
        // Back: one less of the last that was taken.
        loop {
            if at == 0 {
                return found;
            }
            at -= 1;
            if taken[at] > 0 {
                break;
            }
        }
        taken[at] -= 1;
        sum -= sizes[at].0;
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roll(seed: &mut u64, sides: u64) -> u64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) % sides
    }

    #[test]
    fn subsets_are_the_best() {
        let mut seed = 3;
        for _ in 0..2000 {
            let sizes: Vec<u64> = (0..roll(&mut seed, 9)).map(|_| 1 + roll(&mut seed, 30)).collect();
            let (most, least) = (roll(&mut seed, 100), roll(&mut seed, 20));
            let sums = (0..1u32 << sizes.len())
                .map(|set| (0..sizes.len()).filter(|i| set >> i & 1 == 1).map(|i| sizes[i]).sum());
            let want = sums.filter(|s: &u64| *s <= most && *s > least).max();
            let all = counts(&sizes);
            let found = best_subset(&all, most, least);
            let sum = found.map(|t| {
                all.iter()
                    .zip(t)
                    .map(|((s, n), t)| {
                        assert!(t <= *n);
                        s * u64::from(t)
                    })
                    .sum()
            });
            assert_eq!(sum, want, "{sizes:?} {most} {least}");
        }
    }

    /// Packings made by cutting full bins: the best size is known.
    #[test]
    fn cut_bins_are_found_again() {
        let mut seed = 11;
        let mut exact = 0;
        for _ in 0..60 {
            let bins = 2 + roll(&mut seed, 30) as u32;
            let mut sizes = Vec::new();
            for _ in 0..bins {
                let mut left = 10_000;
                for _ in 0..3 + roll(&mut seed, 5) {
                    let cut = 1 + roll(&mut seed, left / 2);
                    sizes.push(cut);
                    left -= cut;
                }
                sizes.push(left);
            }
            let p = pack(&sizes, bins, 10_000);
            let mut sums = vec![0; bins as usize];
            sizes.iter().zip(&p.bin).for_each(|(s, b)| sums[*b as usize] += s);
            assert_eq!(sums.iter().max(), Some(&p.largest));
            assert!(p.largest <= 10_100, "{}", p.largest);
            exact += u32::from(p.largest <= 10_010);
        }
        assert!(exact > 40, "{exact}");
    }

    #[test]
    fn odd_inputs() {
        assert_eq!(pack(&[], 3, 0).largest, 0);
        assert_eq!(pack(&[5], 1, 5), Packing { bin: vec![0], largest: 5 });
        assert_eq!(pack(&[7; 140], 132, 14).largest, 14);
    }
}
