//! # place
//!
//! Purpose: which item goes into which bin. Input: problem, items, a packing by sizes. Output: processors by instance. A packing says what sizes a bin holds;
//! items of one size can change places, so each goes where most of what it exchanges data with is already.

use super::items::Items;
use super::patterns::Stock;
use crate::problem::modulo::ModuloProblem;

/// Gives every item one of the places of its size.
pub fn place(problem: &ModuloProblem, items: &Items, stock: &Stock, bins: &[Vec<usize>]) -> Vec<u32> {
    let mut free = vec![vec![0u32; stock.sizes.len()]; bins.len()];
    let mut open: Vec<std::collections::BTreeSet<usize>> = vec![Default::default(); stock.sizes.len()];
    for (b, bin) in bins.iter().enumerate() {
        for c in bin {
            free[b][*c] += 1;
            open[*c].insert(b);
        }
    }
    let mut neighbours = vec![Vec::new(); items.cost.len()];
    for d in problem.dependences() {
        let (a, b) = (items.of[d.from], items.of[d.to]);
        if a != b {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
    }
    let mut bin_of = vec![usize::MAX; items.cost.len()];
    let mut shared = vec![0u32; bins.len()];
    for x in 0..items.cost.len() {
        let c = stock.class(items.cost[x]);
        let near = || neighbours[x].iter().map(|y| bin_of[*y]).filter(|b| *b != usize::MAX);
        near().for_each(|b| shared[b] += 1);
        let best = near().filter(|b| free[*b][c] > 0).max_by_key(|b| (shared[*b], std::cmp::Reverse(*b)));
        near().for_each(|b| shared[b] = 0);
        let Some(b) = best.or_else(|| open[c].first().copied()) else { continue };
        bin_of[x] = b;
        free[b][c] -= 1;
        if free[b][c] == 0 {
            open[c].remove(&b);
        }
    }
    items.of.iter().map(|x| bin_of[*x] as u32).collect()
}
