//! # bounds
//!
//! Purpose: how short the initiation interval (II) can be, and what stands in the way. Input: problem. Output: [`Bounds`].
//!
//! ```text
//! ResMII = max(⌈Σ k·d / N⌉, max d)     RecMII = ⌈max over cycles of Σ d / Σ distance⌉     MII = the larger one
//! lower  = MII, and besides: groups of instances that must share a processor, packed into N bins
//! ```
//!
//! `lower` is what a schedule is measured against: MII ignores that instances cannot be cut, and that cycles can hardly leave a
//! processor. Sources: algorithms.md, sections 1 and 2; B. Rau, "Iterative modulo scheduling", MICRO-27, 1994 (ResMII, RecMII).

use super::cycle_ratio::{Arc, Ratio, cycle_ratio};
use super::glue::{Groups, groups};
use super::packing::{Sizes, bin_size};
use crate::problem::modulo::ModuloProblem;

/// Bounds on the initiation interval, in cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// ResMII: the processors.
    pub res_mii: u64,
    /// RecMII: the cycles of dependences. 0 where there is none.
    pub rec_mii: u64,
    /// MII, the larger of the two.
    pub mii: u64,
    /// The best lower bound that is proven, at least `mii`.
    pub lower: u64,
    /// What makes `lower` as large as it is.
    pub reason: Reason,
    /// Instances that must share a processor.
    pub groups: Groups,
    /// The critical cycle of RecMII: its exact ratio, and its instances.
    pub critical: Option<(Ratio, Vec<usize>)>,
}

/// What binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The work as a whole: all processors are busy all the time.
    Work,
    /// One instance of this task takes that long.
    Instance(usize),
    /// A cycle of dependences (of instances).
    Cycle(Vec<usize>),
    /// Instances that must share a processor: by group in [`Bounds::groups`].
    Group(usize),
    /// Instances (or groups) are too large to fill the processors evenly.
    Packing,
}

/// Computes all bounds.
pub fn bounds(problem: &ModuloProblem) -> Bounds {
    let processors = u64::from(problem.processors());
    let tasks = &problem.graph().tasks;
    let longest = tasks.iter().map(|t| t.cost).max().unwrap_or(0);
    let share = problem.graph().work().div_ceil(processors);
    let res_mii = share.max(longest);
    let critical = critical(problem);
    let rec_mii = critical.as_ref().map_or(0, |(ratio, _)| ratio.ceil());
    let mii = res_mii.max(rec_mii);
    let groups = groups(problem);
    let packed = bin_size(&Sizes::new(groups.cost.iter().copied()), processors);
    let lower = mii.max(packed);
    let largest = groups.cost.iter().max().copied().unwrap_or(0);
    let reason = if lower == share {
        Reason::Work
    } else if lower == longest {
        Reason::Instance(tasks.iter().position(|t| t.cost == longest).unwrap_or(0))
    } else if let Some((_, cycle)) = critical.as_ref().filter(|_| lower == rec_mii) {
        Reason::Cycle(cycle.clone())
    } else if lower == largest {
        Reason::Group(groups.cost.iter().position(|c| *c == largest).unwrap_or(0))
    } else {
        Reason::Packing
    };
    Bounds { res_mii, rec_mii, mii, lower, reason, groups, critical }
}

fn critical(problem: &ModuloProblem) -> Option<(Ratio, Vec<usize>)> {
    let arcs: Vec<Arc> = problem
        .dependences()
        .iter()
        .map(|d| Arc { from: d.from, to: d.to, weight: problem.cost(d.from), distance: d.distance })
        .collect();
    // A problem has no cycle of distance 0, and its times are far from overflow.
    let found = cycle_ratio(problem.instances(), &arcs).ok()??;
    Some((found.ratio, found.cycle.iter().map(|a| arcs[*a].from).collect()))
}
