//! # decompose
//!
//! Purpose: schedules where the full program is too large, and a start for it where it is not. Input: a search. Output: better schedules and a better
//! bound in it. Method: the first question is only how items fill processors ([`super::patterns`]), for every assignment of
//! items can be completed ([`super::items`]); then levels are merged for fewer stages, the heuristics' local search brings together what exchanges data, and stages are
//! chosen for small buffers. Bounds on II hold for the problem as a whole; that stages and bytes are the least is proven only where they meet a bound.

use super::balance::balance;
use super::buffers::least_bytes;
use super::finish;
use super::items::{Items, items};
use super::merge::Levels;
use super::patterns::{Packing, Patterns, Stock};
use super::place::place;
use super::search::{Answer, Search};
use crate::solver::improve::{EFFORT, improve};

/// The part of the time after which packing ends.
const PACKING: f64 = 0.6;
/// Orders in which levels are merged, and the part of the time after which no other one is begun.
const ORDERS: u64 = 6;
const MERGING: f64 = 0.3;

impl Search<'_> {
    /// The II by packing alone.
    pub(super) fn pack(&mut self) {
        let bins = self.problem.processors().into();
        let items = items(self.problem, self.groups);
        let mut patterns = Patterns::new(Stock::new(&items.cost, bins));
        let mut groups = Patterns::new(Stock::new(&self.groups.cost, bins));
        // Something to begin with, which is close as a rule.
        let packed = balance(patterns.stock(), self.lower);
        self.complete(&place(self.problem, &items, patterns.stock(), &packed));
        self.relax(false, &mut |s, ii, _| {
            s.limits(1.0, PACKING)?;
            let limits = |share| s.limits(share, PACKING);
            let packed = patterns.pack(ii, &limits);
            let refuted = match &packed {
                Packing::Packed(_) => false,
                Packing::Impossible if items.exact => true,
                // What is between them may still do what whole pieces cannot.
                Packing::Impossible => groups.refuted(ii, &limits),
                Packing::Open => false,
            };
            let Packing::Packed(bins) = packed else {
                return Some(if refuted { Answer::Infeasible } else { Answer::Open });
            };
            let processor = place(s.problem, &items, patterns.stock(), &bins);
            Some(if s.complete(&processor) { Answer::Found } else { Answer::Open })
        });
    }

    /// Offers the schedule of an assignment, with the least stages.
    fn complete(&mut self, processor: &[u32]) -> bool {
        let Some(stage) = finish::least_stages(self.problem, processor) else { return false };
        self.staged(processor, &stage)
    }

    fn staged(&mut self, processor: &[u32], stage: &[u32]) -> bool {
        let wish = vec![0.0; stage.len()];
        finish::arrange(self.problem, processor, stage, &wish).is_some_and(|s| self.offer(s))
    }

    /// Fewer stages and bytes at this II.
    pub(super) fn shorten_by_moves(&mut self, ii: u64) {
        let base = items(self.problem, self.groups);
        for order in 0..ORDERS {
            if order > 0 && self.limits(1.0, MERGING).is_none() {
                break;
            }
            self.merge_levels(&base, ii, order);
        }
        self.improve_moves();
        self.choose_stages();
    }

    fn merge_levels(&mut self, base: &Items, ii: u64, order: u64) {
        let mut levels = Levels::new(self.problem, base);
        for boundary in levels.boundaries(order) {
            if self.limits(1.0, 1.0).is_none() || self.best.as_ref().is_some_and(|b| b.schedule().stages() == 1) {
                return;
            }
            let merged = levels.with(boundary);
            let stock = Stock::new(&merged.cost, self.problem.processors().into());
            let Some(bins) = stock.quick(ii) else { continue };
            let processor = place(self.problem, &merged, &stock, &bins);
            if finish::least_stages(self.problem, &processor).is_some() {
                self.complete(&processor);
                levels.open(boundary);
            }
        }
    }

    /// The heuristics' local search: instances that exchange data come together.
    fn improve_moves(&mut self) {
        let Some(mut start) = self.best.as_ref().map(|b| b.schedule().clone()) else { return };
        start.ii = self.target;
        let found = improve(self.problem, start, EFFORT);
        self.staged(&found.processor, &found.stage);
    }

    /// For the processors as they are, the stages that need the least memory.
    fn choose_stages(&mut self) {
        let (Some(best), Some(limits)) = (self.best.clone(), self.limits(1.0, 1.0)) else { return };
        let (processor, stages) = (&best.schedule().processor, best.schedule().stages());
        if let Some((all, _)) = least_bytes(self.problem, processor, stages, &limits) {
            for stage in all {
                self.staged(processor, &stage);
            }
        }
    }

    /// Bytes that no schedule with so many stages goes below: where everything could be on one processor.
    pub(super) fn bytes_bound(&self, stages: u32) -> u64 {
        let Some(limits) = self.limits(1.0, 1.0) else { return 0 };
        let one = vec![0; self.problem.instances()];
        let least = least_bytes(self.problem, &one, stages, &limits);
        least.map_or(0, |(_, bytes)| (bytes - 0.5).ceil().max(0.0) as u64)
    }
}
