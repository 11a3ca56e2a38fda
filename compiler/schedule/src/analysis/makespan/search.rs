//! # search
//!
//! Purpose: long schedules of kernels that are too large for [`exact`](super::exact), and sometimes the proof that there is none longer.
//! Input: a [`Problem`], a bound from states ([`overlap`](super::overlap), [`potential`](super::potential)), a width. Output: a schedule and a bound.
//!
//! A beam search over states by how much work is done: of those with the same work done the `width` best are kept, by cycles so far plus the bound
//! on the cycles to come. A state from which no schedule longer than the best one known can come is left out and nothing is lost by it. So a search that
//! drops no other state proves that there is no longer schedule; one that does knows a bound for each state that it drops.

use super::guide::Guide;
use super::{Problem, Unit};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The most moves that are tried from one state.
const MOST_MOVES: usize = 2048;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The longest schedule that was found, if longer than `known`: by cycle, the instructions at which warps run.
    pub steps: Option<Vec<Vec<u16>>>,
    /// No schedule takes longer than this, or than the longest one known.
    pub bound: u64,
}

struct Node {
    counts: Box<[u32]>,
    cycles: u32,
    parent: u32,
}

/// No schedule takes longer from a state: by instruction, the warps at it.
pub type Ahead<'a> = &'a dyn Fn(&[u32]) -> u64;

/// Searches; `known` is the length of a schedule that there is. `None` where `stop` said so.
pub fn search(
    problem: &Problem,
    bound: Ahead,
    guide: Option<&Guide>,
    width: usize,
    known: u64,
    stop: &dyn Fn() -> bool,
) -> Option<Found> {
    let n = problem.units().len();
    let mut start = vec![0u32; n];
    start[0] = problem.warps();
    let mut nodes: Vec<Node> = Vec::new();
    // By work done: the states of it, with their cycles so far and the node they come from.
    type Layer = HashMap<Box<[u32]>, (u32, u32)>;
    let mut layers: BTreeMap<u64, Layer> = BTreeMap::new();
    layers.entry(0).or_default().insert(start.into(), (0, u32::MAX));
    let all = u64::from(problem.warps()) * n as u64;
    let (mut dropped, mut last) = (0u64, None);
    while let Some((work, layer)) = layers.pop_first() {
        if stop() {
            return None;
        }
        let mut layer: Vec<(u64, Node)> = layer
            .into_iter()
            .map(|(counts, (cycles, parent))| (u64::from(cycles) + bound(&counts), Node { counts, cycles, parent }))
            .filter(|(bound, _)| *bound > known)
            .collect();
        if work == all {
            last = layer.into_iter().map(|(_, node)| node).max_by_key(|node| node.cycles);
            break;
        }
        let guess = |n: &Node| guide.map(|g| g.ahead(&n.counts).map(|a| a + 4 * i64::from(n.cycles)));
        let spread = |n: &Node| n.counts.iter().filter(|c| **c > 0).count();
        layer.sort_by_cached_key(|(bound, n)| (Reverse(guess(n)), Reverse(*bound), spread(n), n.counts.clone()));
        if let Some((bound, _)) = layer.get(width) {
            dropped = dropped.max(*bound);
            layer.truncate(width);
        }
        for (k, (bound, node)) in layer.into_iter().enumerate() {
            if k % 64 == 63 && stop() {
                return None;
            }
            let here = nodes.len() as u32;
            let [l, c] = Unit::ALL.map(|u| runs(problem, &node.counts, u));
            if l.len() * c.len() > MOST_MOVES {
                dropped = dropped.max(bound);
            }
            for ran in l.iter().flat_map(|l| c.iter().map(move |c| (l, c))).take(MOST_MOVES) {
                let mut next = node.counts.clone();
                let mut done = work;
                for i in ran.0.iter().chain(ran.1) {
                    next[*i] -= 1;
                    if i + 1 < n {
                        next[i + 1] += 1;
                    }
                    done += 1;
                }
                let to = layers.entry(done).or_default().entry(next).or_insert((0, here));
                if node.cycles + 1 > to.0 {
                    *to = (node.cycles + 1, here);
                }
            }
            nodes.push(node);
        }
    }
    let steps = last.map(|last| path(problem, &nodes, last));
    let found = steps.as_ref().map_or(known, |s| s.len() as u64);
    Some(Found { steps, bound: dropped.max(found) })
}

/// The lists of instructions at which warps of a unit can run in a cycle, as many as it takes.
pub(super) fn runs(problem: &Problem, counts: &[u32], unit: Unit) -> Vec<Vec<usize>> {
    let at: Vec<usize> = (0..counts.len()).filter(|i| problem.units()[*i] == unit && counts[*i] > 0).collect();
    let ready: u64 = at.iter().map(|i| u64::from(counts[*i])).sum();
    let run = ready.min(problem.at_once(unit).into()) as usize;
    let mut lists = vec![Vec::new()];
    let mut left = ready;
    for i in at {
        left -= u64::from(counts[i]);
        let mut longer = Vec::new();
        for list in &lists {
            let open = run - list.len();
            // What the instructions after this one cannot give, this one must.
            let least = open.saturating_sub(left.min(open as u64) as usize);
            for more in least..=open.min(counts[i] as usize) {
                let mut list: Vec<usize> = list.clone();
                list.extend(std::iter::repeat_n(i, more));
                longer.push(list);
            }
            if longer.len() > MOST_MOVES {
                break;
            }
        }
        lists = longer;
    }
    lists
}

fn path(problem: &Problem, nodes: &[Node], last: Node) -> Vec<Vec<u16>> {
    // Warps that have gone past each instruction.
    let past = |counts: &[u32]| -> Vec<u32> {
        let mut left = problem.warps();
        counts
            .iter()
            .map(|n| {
                left -= n;
                left
            })
            .collect()
    };
    let mut steps = Vec::new();
    let (mut after, mut at) = (past(&last.counts), last.parent);
    while at != u32::MAX {
        let node = &nodes[at as usize];
        let before = past(&node.counts);
        let ran = before.iter().zip(&after).enumerate();
        steps.push(ran.flat_map(|(i, (b, a))| std::iter::repeat_n(i as u16, (a - b) as usize)).collect());
        (after, at) = (before, node.parent);
    }
    steps.reverse();
    steps
}
