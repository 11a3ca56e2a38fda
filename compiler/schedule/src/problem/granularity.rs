//! # granularity
//!
//! Purpose: how many firings make an instance, and how many steady states an iteration. Input: graph, steady state, times, processors.
//! Output: a [`Granularity`]. What it aims at: at least [`Aim::per_processor`] instances for each processor, none of them longer than
//! that part of an even share of the work, and no more of them than that takes; cheap nodes and serial ones run as one instance
//! (or as several, where there would be too few).
//! Source: paper 001, section IV.A scales instances by thread counts; the coarsening beyond that is ours.

use super::modulo::{self, MOST_INSTANCES};
use super::task::TaskGraph;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;

/// What firings cost on a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// By node, cycles of one firing where `lanes` of them run side by side.
    pub firing: Vec<u64>,
    /// By node, cycles of one firing that runs alone.
    pub alone: Vec<u64>,
    /// Firings of a stateless node that a processor runs side by side.
    pub lanes: u64,
    /// Firings in the smallest instance of a stateless node: threads of a block, a multiple of `lanes`.
    pub threads: u64,
    /// By node, the same where it has a number of its own; empty: none has.
    pub each: Vec<u64>,
    /// Cycles that each instance costs besides its firings.
    pub overhead: u64,
}

/// Steady states of an iteration that are a multiple of all these threads, at most; else nodes' instances are uneven.
const MOST_COMMON: u64 = 1 << 13;

impl Times {
    /// Firings in the smallest instance of a stateless node.
    pub fn threads_of(&self, node: NodeId) -> u64 {
        self.each.get(node.index()).copied().unwrap_or(self.threads).max(1)
    }

    /// The smallest number that all of these divide.
    fn common_threads(&self) -> u64 {
        let common = |a: u64, b: u64| {
            let (mut x, mut y) = (a, b);
            while y > 0 {
                (x, y) = (y, x % y);
            }
            a / x * b
        };
        let all = self.each.iter().map(|n| *n.max(&1));
        let all = all.fold(self.threads.max(1), |a, b| if a > MOST_COMMON { a } else { common(a, b) });
        if all > MOST_COMMON { self.threads.max(1) } else { all }
    }

    /// Cycles of an instance of so many firings; `None` beyond 64 bits. At least 1.
    pub fn instance(&self, node: NodeId, firings: u64, serial: bool) -> Option<u64> {
        let work = if serial {
            self.alone[node.index()].checked_mul(firings)?
        } else {
            self.firing[node.index()].checked_mul(firings.div_ceil(self.lanes.max(1)))?
        };
        Some(work.checked_add(self.overhead)?.max(1))
    }
}

/// What a granularity is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// Processors.
    pub processors: u32,
    /// Instances for each of them, at least.
    pub per_processor: u64,
    /// Instances that there should not be more of than necessary.
    pub most: u64,
}

/// How firings make instances, and steady states an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granularity {
    /// Steady states in an iteration.
    pub batch: u64,
    /// By node, firings in an instance; divides `batch · r(v)`.
    pub firings: Vec<u64>,
}

/// Must the firings of a node follow one another? State, prints and native calls (which count as state) make it so.
pub fn is_serial(graph: &SdfGraph, node: NodeId) -> bool {
    matches!(graph.node(node).kind, NodeKind::Filter { stateful: true, .. } | NodeKind::Filter { prints: true, .. })
}

/// One firing an instance, one steady state an iteration.
pub fn finest(graph: &SdfGraph) -> Granularity {
    Granularity { batch: 1, firings: vec![1; graph.nodes.len()] }
}

impl Granularity {
    /// Instances and iterations so many times as long; `None` beyond 64 bits.
    pub fn coarsened(&self, times: u64) -> Option<Granularity> {
        let firings = self.firings.iter().map(|n| n.checked_mul(times)).collect::<Option<_>>()?;
        Some(Granularity { batch: self.batch.checked_mul(times)?, firings })
    }
}

/// One instance of each node, which makes all its firings of so many steady states; `None` beyond 64 bits.
pub fn whole(steady: &SteadyState, batch: u64) -> Option<Granularity> {
    let firings = steady.repetitions.iter().map(|r| r.max(&1).checked_mul(batch)).collect::<Option<_>>()?;
    Some(Granularity { batch, firings })
}

/// Chooses; `None` where the numbers do not fit into 64 bits.
///
/// An iteration is as many steady states as threads fire at once, so that every node has whole groups of them; where that is more than can be scheduled, since a steady state alone has
/// very many firings, an iteration is of single steady states.
pub fn choose(graph: &SdfGraph, steady: &SteadyState, times: &Times, aim: Aim) -> Option<Granularity> {
    let can = |found: &Found| found.instances <= MOST_INSTANCES && found.work <= modulo::LONGEST;
    let first = with_threads(graph, steady, times, aim, times.common_threads());
    let found = match first {
        Some(found) if can(&found) => Some(found),
        first => with_threads(graph, steady, times, aim, 1).filter(can).or(first),
    };
    found.map(|found| found.granularity)
}

/// The best of iterations that are multiples of so many steady states.
fn with_threads(graph: &SdfGraph, steady: &SteadyState, times: &Times, aim: Aim, threads: u64) -> Option<Found> {
    let mut best: Option<Found> = None;
    for scale in scales() {
        let Some(found) = threads.checked_mul(scale).and_then(|b| with_batch(graph, steady, times, aim, b)) else {
            break;
        };
        if best.is_some() && found.work > LONGEST {
            break;
        }
        // Where instances are short enough, and a longer iteration only makes longer ones, serial nodes set the pace.
        let grown = best.as_ref().is_none_or(|before| found.instances > before.instances);
        let done = found.short && (found.enough || !grown) || found.instances > aim.most;
        best = Some(found);
        if done {
            break;
        }
    }
    best
}

/// The longest iteration that is chosen, in cycles, if there is a shorter one.
const LONGEST: u64 = 1 << 40;

/// 1, 2, 3, 4, 6, 8, 12, ...: numbers with many divisors.
fn scales() -> impl Iterator<Item = u64> {
    (0..40)
        .flat_map(|i| [1u64 << i, (1u64 << i) / 2 * 3])
        .filter(|n| *n > 1)
        .fold(vec![1], |mut all, n| {
            if !all.contains(&n) {
                all.push(n);
            }
            all
        })
        .into_iter()
}

struct Found {
    granularity: Granularity,
    instances: u64,
    /// Cycles of an iteration.
    work: u64,
    /// Is every instance short enough?
    short: bool,
    /// Are there enough of them?
    enough: bool,
}

fn with_batch(graph: &SdfGraph, steady: &SteadyState, times: &Times, aim: Aim, batch: u64) -> Option<Found> {
    let all: Vec<u64> = steady.repetitions.iter().map(|r| r.checked_mul(batch)).collect::<Option<_>>()?;
    let serial: Vec<bool> = graph.node_ids().map(|n| is_serial(graph, n)).collect();
    let (mut work, mut longest_serial) = (0u64, 0u64);
    for n in graph.node_ids() {
        let own = times.instance(n, all[n.index()], serial[n.index()])?;
        work = work.checked_add(own)?;
        if serial[n.index()] {
            longest_serial = longest_serial.max(own);
        }
    }
    let share = (work / u64::from(aim.processors.max(1))).max(longest_serial);
    let most = (share / aim.per_processor.max(1)).max(1);
    let (mut firings, mut instances, mut alone, mut short) = (Vec::new(), 0u64, 0u64, true);
    for n in graph.node_ids() {
        let total = all[n.index()];
        if total == 0 {
            firings.push(1);
            continue;
        }
        if serial[n.index()] {
            firings.push(total);
            instances += 1;
            alone += 1;
            continue;
        }
        let threads = times.threads_of(n);
        let unit = if total.is_multiple_of(threads) { threads } else { 1 };
        let fits = |groups: u64| times.instance(n, groups.saturating_mul(unit), false).is_some_and(|t| t <= most);
        let mut each = largest_divisor(total / unit, fits) * unit;
        let mut within = fits(each / unit);
        if total / each > aim.most.max(1) {
            // A number with hardly a divisor: what is no whole groups of threads has many divisors yet, and long instances lose little by a group that is not full.
            let fits = |firings: u64| times.instance(n, firings, false).is_some_and(|t| t <= most);
            each = each.max(largest_divisor(total, fits));
            if total / each > aim.most.max(1) {
                each = smallest_divisor(total, |firings| total / firings <= aim.most.max(1));
            }
            within = fits(each);
        }
        short &= within;
        firings.push(each);
        instances = instances.saturating_add(total / each);
    }
    let wanted = u64::from(aim.processors).saturating_mul(aim.per_processor.min(4));
    if short && alone > 0 && instances < wanted {
        // Only serial nodes are left to be cut: their instances share a processor, but others can go between them.
        let each = (wanted - (instances - alone)).div_ceil(alone);
        for n in graph.node_ids().filter(|n| serial[n.index()] && all[n.index()] > 0) {
            let total = all[n.index()];
            let pieces = (each..=total.min(each.saturating_mul(4))).find(|k| total.is_multiple_of(*k)).unwrap_or(1);
            firings[n.index()] = total / pieces;
            instances += pieces - 1;
        }
    }
    let enough = instances >= wanted;
    Some(Found { granularity: Granularity { batch, firings }, instances, work, short, enough })
}

/// The largest divisor of a number with a property that all smaller numbers share with larger ones; 1 where there is none.
fn largest_divisor(n: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let mut best = 1;
    let mut d = 1;
    while d <= n / d {
        if n.is_multiple_of(d) {
            for divisor in [d, n / d] {
                if divisor > best && fits(divisor) {
                    best = divisor;
                }
            }
        }
        d += 1;
        if d > 1 << 20 {
            break;
        }
    }
    best
}

/// The smallest divisor of a number with a property that the number itself has; the number where no other one is found.
fn smallest_divisor(n: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let small = (1..=1 << 20).take_while(|d| *d <= n / *d).filter(|d| n.is_multiple_of(*d));
    small.flat_map(|d| [d, n / d]).filter(|d| fits(*d)).min().unwrap_or(n)
}

/// How many instances each processor would have.
pub fn per_processor(graph: &TaskGraph, processors: u32) -> f64 {
    graph.instances() as f64 / f64::from(processors.max(1))
}
