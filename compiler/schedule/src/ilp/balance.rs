//! # balance
//!
//! Purpose: bins whose fullest is as empty as a search among neighbours makes it. Input: items by size. Output: a packing; no proof.
//! Method: from the longest first ([`longest_first`]) on, the fullest bin gives one or two items to another one for up to two of that one's, as
//! long as both end below what it held. As every step makes the sorted list of loads smaller, there is an end. Where [`crate::solver::pack`] asks
//! whether a size will do and gathers what is left over, this one lowers the fullest, and so gets closer where sizes are many.

use super::patterns::Stock;
use crate::solver::pack::longest_first;
use std::cmp::Reverse;

/// Steps at most.
const STEPS: usize = 20_000;
/// Choices of up to two items that are looked at in each bin.
const CHOICES: usize = 120;

/// Packs all items; ends early once no bin holds more than `room`.
pub fn balance(stock: &Stock, room: u64) -> Vec<Vec<usize>> {
    let count = stock.bins as usize;
    let sizes = stock.items();
    let mut bins = stock.bins_of(&sizes, &longest_first(&sizes, count as u32).bin);
    let mut loads: Vec<u64> = bins.iter().map(|b| load(stock, b)).collect();
    let mut choices: Vec<Vec<Choice>> = bins.iter().map(|b| Choice::all(stock, b)).collect();
    for _ in 0..STEPS {
        let Some(full) = (0..count).max_by_key(|b| (loads[*b], Reverse(*b))).filter(|b| loads[*b] > room) else {
            break;
        };
        let Some((to, give, take)) = exchange(&loads, &choices, full) else { break };
        let (give, take) = (choices[full][give], choices[to][take]);
        give.moved(&mut bins, full, to);
        take.moved(&mut bins, to, full);
        for b in [full, to] {
            loads[b] = load(stock, &bins[b]);
            choices[b] = Choice::all(stock, &bins[b]);
        }
    }
    bins
}

/// What a packing's fullest bin holds.
pub fn fullest(stock: &Stock, bins: &[Vec<usize>]) -> u64 {
    bins.iter().map(|b| load(stock, b)).max().unwrap_or(0)
}

fn load(stock: &Stock, bin: &[usize]) -> u64 {
    bin.iter().map(|c| stock.sizes[*c]).sum()
}

/// The exchange after which the fuller of the two bins holds least, if that is less than before.
fn exchange(loads: &[u64], choices: &[Vec<Choice>], full: usize) -> Option<(usize, usize, usize)> {
    let mut best = (loads[full], None);
    for to in (0..loads.len()).filter(|b| *b != full) {
        for (g, give) in choices[full].iter().enumerate() {
            let spare = loads[to] + give.size;
            // Sorted from small to large: what is taken has to be less than what is given.
            for (t, take) in choices[to].iter().enumerate().take_while(|(_, t)| t.size < give.size) {
                let after = (loads[full] - give.size + take.size).max(spare - take.size);
                if after < best.0 {
                    best = (after, Some((to, g, t)));
                }
            }
        }
    }
    best.1
}

/// None, one or two items of a bin.
#[derive(Clone, Copy)]
struct Choice {
    size: u64,
    items: [Option<usize>; 2],
}

impl Choice {
    fn all(stock: &Stock, bin: &[usize]) -> Vec<Choice> {
        let mut sorted = bin.to_vec();
        sorted.sort_unstable();
        let mut all = vec![Choice { size: 0, items: [None; 2] }];
        for (at, a) in sorted.iter().enumerate() {
            if at > 0 && sorted[at - 1] == *a && all.len() > 1 {
                // One of several equal ones has been there.
                if at < 2 || sorted[at - 2] != *a {
                    all.push(Choice { size: 2 * stock.sizes[*a], items: [Some(*a); 2] });
                }
                continue;
            }
            all.push(Choice { size: stock.sizes[*a], items: [Some(*a), None] });
            let mut last = None;
            for b in sorted[at + 1..].iter().filter(|b| *b != a) {
                if last != Some(b) && all.len() < CHOICES {
                    all.push(Choice { size: stock.sizes[*a] + stock.sizes[*b], items: [Some(*a), Some(*b)] });
                }
                last = Some(b);
            }
        }
        all.sort_by_key(|c| (c.size, c.items));
        all
    }

    fn moved(&self, bins: &mut [Vec<usize>], from: usize, to: usize) {
        for class in self.items.into_iter().flatten() {
            if let Some(at) = bins[from].iter().position(|c| *c == class) {
                bins[from].swap_remove(at);
                bins[to].push(class);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_items_stay_and_loads_come_close() {
        let costs: Vec<u64> = (0..400u64).map(|i| 1000 + i * i * 7919 % 4001).collect();
        let stock = Stock::new(&costs, 40);
        let bins = balance(&stock, 0);
        let mut counts = vec![0; stock.sizes.len()];
        bins.iter().flatten().for_each(|c| counts[*c] += 1);
        assert_eq!(counts, stock.demand);
        let share = costs.iter().sum::<u64>().div_ceil(40);
        assert!(fullest(&stock, &bins) <= share + share / 1000, "{} {share}", fullest(&stock, &bins));
    }

    #[test]
    fn equal_items_and_few_of_them() {
        let stock = Stock::new(&[5; 7], 3);
        assert_eq!(fullest(&stock, &balance(&stock, 0)), 15);
        let stock = Stock::new(&[5], 3);
        assert_eq!(fullest(&stock, &balance(&stock, 0)), 5);
        let stock = Stock::new(&[3, 3, 2, 2, 2], 2);
        assert_eq!(fullest(&stock, &balance(&stock, 0)), 6);
    }
}
