//! # packing
//!
//! Purpose: lower bounds for packing items into bins: on how many bins of a given size, and on the size of so many bins. Input: sizes.
//! Output: numbers that no packing can go below; all integer arithmetic.
//! Sources: S. Martello, P. Toth, "Lower bounds and reduction procedures for the bin packing problem", Discrete Applied Mathematics
//! 1990 (L2); S. Fekete, J. Schepers, "New classes of fast lower bounds for bin packing problems", Mathematical Programming 2001 (u^(k)).

/// Dual feasible functions u^(k) that are tried, from k = 1.
const FUNCTIONS: u64 = 64;

/// Sizes, sorted from large to small, with how many there are of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Vec<(u64, u64)>);

impl Sizes {
    /// Collects sizes; zeros need no room.
    pub fn new(sizes: impl IntoIterator<Item = u64>) -> Sizes {
        let mut sizes: Vec<u64> = sizes.into_iter().filter(|s| *s > 0).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        Sizes(sizes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect())
    }

    /// The sum.
    pub fn total(&self) -> u128 {
        self.0.iter().map(|(size, n)| u128::from(*size) * u128::from(*n)).sum()
    }

    /// The largest; 0 where there is none.
    pub fn largest(&self) -> u64 {
        self.0.first().map_or(0, |s| s.0)
    }
}

/// Bins of this size that are needed at least. `u64::MAX` where an item fits into none.
pub fn bins(sizes: &Sizes, bin: u64) -> u64 {
    if sizes.largest() > bin {
        return u64::MAX;
    }
    if bin == 0 {
        return 0;
    }
    l2(sizes, bin).max((1..=FUNCTIONS).map(|k| dual_feasible(sizes, bin, k)).max().unwrap_or(0))
}

/// Martello and Toth: items above bin − q fill a bin each as far as items of at least q are concerned.
fn l2(sizes: &Sizes, bin: u64) -> u64 {
    let half = bin / 2;
    let mut best = u64::try_from(sizes.total().div_ceil(bin.into())).unwrap_or(u64::MAX);
    for q in sizes.0.iter().map(|s| s.0).filter(|q| *q <= half).chain([0]) {
        let (mut alone, mut halves, mut room, mut small) = (0u64, 0u64, 0u128, 0u128);
        for (size, n) in &sizes.0 {
            if *size > bin - q {
                alone += n;
            } else if *size > half {
                halves += n;
                room += u128::from(bin - size) * u128::from(*n);
            } else if *size >= q {
                small += u128::from(*size) * u128::from(*n);
            }
        }
        let more = small.saturating_sub(room).div_ceil(bin.into());
        best = best.max(alone + halves + u64::try_from(more).unwrap_or(u64::MAX));
    }
    best
}

/// Fekete and Schepers: u^(k)(x) is x where (k + 1)·x is whole, else ⌊(k + 1)·x⌋ / k, for x = size / bin.
fn dual_feasible(sizes: &Sizes, bin: u64, k: u64) -> u64 {
    // In units of 1 / (k · bin).
    let (k, bin) = (u128::from(k), u128::from(bin));
    let of = |size: u128| {
        let scaled = (k + 1) * size;
        if scaled.is_multiple_of(bin) { k * size } else { scaled / bin * bin }
    };
    let sum: u128 = sizes.0.iter().map(|(size, n)| of((*size).into()) * u128::from(*n)).sum();
    u64::try_from(sum.div_ceil(k * bin)).unwrap_or(u64::MAX)
}

/// The least size of `count` bins that these bounds do not exclude: no packing into so many bins has a smaller largest one.
pub fn bin_size(sizes: &Sizes, count: u64) -> u64 {
    let share = u64::try_from(sizes.total().div_ceil(count.max(1).into())).unwrap_or(u64::MAX);
    // What is refused at one size has no packing into smaller bins either, so the search is right whatever the bounds do between.
    let (mut low, mut high) = (share.max(sizes.largest()), share.max(sizes.largest()).saturating_mul(2).max(1));
    if bins(sizes, low) <= count {
        return low;
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if bins(sizes, middle) <= count { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items() {
        assert_eq!(bin_size(&Sizes::new(vec![7; 140]), 132), 14);
        assert_eq!(bin_size(&Sizes::new(vec![7; 132]), 132), 7);
        assert_eq!(bin_size(&Sizes::new(vec![10; 1024]), 132), 80);
    }

    #[test]
    fn halves_do_not_share() {
        // Three items of 6, and three of 5: two of them fit into 11, not into 10.
        assert_eq!(bins(&Sizes::new([6, 6, 6, 5, 5, 5]), 10), 5);
        assert_eq!(bin_size(&Sizes::new([6, 6, 6, 5, 5, 5]), 3), 11);
    }

    /// Every bound against the optimum by trying everything.
    #[test]
    fn never_above_the_optimum() {
        let mut seed = 7u64;
        let mut roll = |sides: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % sides
        };
        for _ in 0..400 {
            let sizes: Vec<u64> = (0..1 + roll(7)).map(|_| 1 + roll(20)).collect();
            let count = 1 + roll(4) as usize;
            let best = optimum(&sizes, &mut vec![0; count]);
            assert!(bin_size(&Sizes::new(sizes.clone()), count as u64) <= best, "{sizes:?} in {count}");
        }
    }

    fn optimum(sizes: &[u64], bins: &mut Vec<u64>) -> u64 {
        let Some((first, rest)) = sizes.split_first() else { return *bins.iter().max().unwrap() };
        let mut best = u64::MAX;
        for b in 0..bins.len() {
            bins[b] += first;
            best = best.min(optimum(rest, bins));
            bins[b] -= first;
        }
        best
    }
}
