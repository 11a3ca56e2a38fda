//! # knapsack
//!
//! Purpose: the most valuable items that fit into a bin, in whole numbers. Input: sizes, values, how many there are of each, room. Output: the best
//! choice found, a bound on all choices, and the improvements on the way. Method: branch and bound over the items by value per size
//! (Horowitz and Sahni), without recursion; after a number of nodes the bound is the fractional one.

/// What is to be packed into one bin.
pub struct Knapsack<'a> {
    /// Sizes, at least 1.
    pub sizes: &'a [u64],
    /// Values, small enough that what fits adds up to less than 2^63.
    pub values: &'a [u64],
    /// How many there are of each.
    pub most: &'a [u64],
    /// Room of the bin.
    pub room: u64,
    /// Nodes that are looked at.
    pub nodes: u64,
    /// A value that is good enough to stop.
    pub enough: u64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Its value.
    pub value: u64,
    /// No choice has a larger value.
    pub bound: u64,
    /// The choice: how many of each; and before it, what it replaced, from bad to good.
    pub choices: Vec<Vec<u64>>,
}

/// Improvements that are kept.
const KEPT: usize = 8;

impl Knapsack<'_> {
    /// Fills the bin. There is always a choice: to take nothing.
    pub fn fill(&self) -> Filled {
        let cross = |a: usize, b: usize| u128::from(self.values[a]) * u128::from(self.sizes[b]);
        let mut order: Vec<usize> = (0..self.sizes.len())
            .filter(|i| self.most[*i] > 0 && self.sizes[*i] <= self.room && self.values[*i] > 0)
            .collect();
        order
            .sort_by(|a, b| cross(*b, *a).cmp(&cross(*a, *b)).then(self.sizes[*b].cmp(&self.sizes[*a])).then(a.cmp(b)));
        let fraction = |room: u64, at: usize| {
            let of = |i: &usize| u128::from(room) * u128::from(self.values[*i]) / u128::from(self.sizes[*i]);
            order.get(at).map_or(0, |i| u64::try_from(of(i)).unwrap_or(u64::MAX))
        };
        let root = fraction(self.room, 0);
        let mut taken = vec![0u64; order.len()];
        let (mut at, mut room, mut value) = (0, self.room, 0u64);
        let mut found = Filled { value: 0, bound: root, choices: vec![vec![0; self.sizes.len()]] };
        for _ in 0..self.nodes {
            while at < order.len() && value + fraction(room, at) > found.value {
                let i = order[at];
                taken[at] = self.most[i].min(room / self.sizes[i]);
                room -= taken[at] * self.sizes[i];
                value += taken[at] * self.values[i];
                at += 1;
            }
            if value > found.value {
                found.value = value;
                let mut choice = vec![0; self.sizes.len()];
                order.iter().zip(&taken[..at]).for_each(|(i, n)| choice[*i] = *n);
                found.choices.push(choice);
                if found.choices.len() > KEPT {
                    found.choices.remove(0);
                }
            }
            if found.value >= self.enough.min(root) {
                found.bound = if found.value >= root { found.value } else { root };
                return found;
            }
            let Some(back) = (0..at).rev().find(|b| taken[*b] > 0) else {
                found.bound = found.value;
                return found;
            };
            // What was taken after it has been given back when it was found empty, or is now.
            for later in back + 1..at {
                let i = order[later];
                room += taken[later] * self.sizes[i];
                value -= taken[later] * self.values[i];
                taken[later] = 0;
            }
            let i = order[back];
            taken[back] -= 1;
            room += self.sizes[i];
            value -= self.values[i];
            at = back + 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_trying_everything() {
        let mut seed = 3u64;
        let mut roll = |sides: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % sides
        };
        for round in 0..500 {
            let n = 1 + roll(5) as usize;
            let sizes: Vec<u64> = (0..n).map(|_| 1 + roll(20)).collect();
            // Every other round values are sizes: the hardest case.
            let values: Vec<u64> = sizes.iter().map(|s| if round % 2 == 0 { *s } else { roll(30) }).collect();
            let most: Vec<u64> = (0..n).map(|_| roll(4)).collect();
            let room = roll(60);
            let best = everything(&sizes, &values, &most, room);
            let k = Knapsack { sizes: &sizes, values: &values, most: &most, room, nodes: u64::MAX, enough: u64::MAX };
            let found = k.fill();
            assert_eq!((found.value, found.bound), (best, best), "{sizes:?} {values:?} {most:?} {room}");
            let choice = found.choices.last().unwrap();
            assert!(choice.iter().zip(&most).all(|(c, m)| c <= m));
            assert!(choice.iter().zip(&sizes).map(|(c, s)| c * s).sum::<u64>() <= room);
            assert_eq!(choice.iter().zip(&values).map(|(c, v)| c * v).sum::<u64>(), best);
            let hasty = Knapsack { nodes: 2, ..k }.fill();
            assert!(hasty.value <= best && best <= hasty.bound);
        }
    }

    fn everything(sizes: &[u64], values: &[u64], most: &[u64], room: u64) -> u64 {
        let Some(((s, v), m)) = sizes.first().zip(values.first()).zip(most.first()) else { return 0 };
        let rest = |n: u64| n * v + everything(&sizes[1..], &values[1..], &most[1..], room - n * s);
        (0..=*m).filter(|n| n * s <= room).map(rest).max().unwrap()
    }
}
