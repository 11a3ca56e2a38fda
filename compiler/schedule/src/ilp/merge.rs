//! # merge
//!
//! Purpose: fewer stages. Input: problem, items, II. Output: larger items with which fewer dependences cross.
//! Method: items stand on levels, a level being the longest path of dependences of distance 0 to it. Where two neighbouring levels are merged, what hangs
//! together on them becomes one item: nothing crosses there, which saves a stage. Each boundary between levels is tried once, the one first that makes the
//! smallest items; it stays merged if the items still fit.

use super::items::{Items, numbered};
use super::stage_bound::find;
use crate::problem::modulo::ModuloProblem;

/// Items on their levels.
pub struct Levels<'a> {
    problem: &'a ModuloProblem,
    items: &'a Items,
    level: Vec<usize>,
    /// Is the boundary above this level open, that is merged?
    open: Vec<bool>,
}

impl<'a> Levels<'a> {
    /// Finds the levels; all boundaries are closed.
    pub fn new(problem: &'a ModuloProblem, items: &'a Items) -> Levels<'a> {
        let mut level = vec![0; items.cost.len()];
        let mut arcs: Vec<(usize, usize)> = problem
            .dependences()
            .iter()
            .filter(|d| d.distance == 0)
            .map(|d| (items.of[d.from], items.of[d.to]))
            .filter(|(a, b)| a != b)
            .collect();
        arcs.sort_unstable();
        arcs.dedup();
        // Items have no cycles of distance 0, so that this ends; the bound is for those that a caller makes otherwise.
        for _ in 0..items.cost.len() {
            let mut changed = false;
            for (a, b) in &arcs {
                changed |= level[*a] >= level[*b];
                level[*b] = level[*b].max(level[*a] + 1);
            }
            if !changed {
                break;
            }
        }
        let top = level.iter().max().copied().unwrap_or(0);
        Levels { problem, items, level, open: vec![false; top] }
    }

    /// Boundaries in the order in which they are to be tried.
    pub fn boundaries(&self) -> Vec<usize> {
        let largest = |b: usize| self.with(b).cost.into_iter().max();
        let mut all: Vec<_> = (0..self.open.len()).map(|b| (largest(b), b)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, b)| b).collect()
    }

    /// The items that there are with this boundary open, too.
    pub fn with(&self, boundary: usize) -> Items {
        // By level, the number of its segment.
        let mut segment = vec![0; self.open.len() + 1];
        for l in 0..self.open.len() {
            segment[l + 1] = segment[l] + usize::from(!self.open[l] && l != boundary);
        }
        let mut root: Vec<usize> = (0..self.items.cost.len()).collect();
        for d in self.problem.dependences().iter().filter(|d| d.distance == 0) {
            let (a, b) = (self.items.of[d.from], self.items.of[d.to]);
            if segment[self.level[a]] == segment[self.level[b]] {
                let (a, b) = (find(&mut root, a), find(&mut root, b));
                root[a.max(b)] = a.min(b);
            }
        }
        let names: Vec<usize> = (0..root.len()).map(|x| find(&mut root, x)).collect();
        numbered(self.problem, |i| names[self.items.of[i]], usize::MAX)
    }

    /// Opens a boundary for good.
    pub fn open(&mut self, boundary: usize) {
        self.open[boundary] = true;
    }
}
