//! # items
//!
//! Purpose: what can be placed on processors without a look at anything else. Input: problem, groups. Output: [`Items`], unions of groups, such that every
//! assignment of them to processors can be completed with enough stages.
//!
//! Without cycles between groups these are the groups. On cycles (all have a distance of 2 or more, else they would be groups) an assignment may
//! cross too often. There the groups stand on levels, a level being the longest path of distances of 0, and some boundaries between levels are opened:
//! what hangs together by distances of 0 without a closed boundary between is one item. Let c be the closed boundaries below a level: with stages f = c
//! plus what the cycles need as a whole, a dependence from u to v is met whatever crosses if c(u) < c(v), or c(u) = c(v) and the item is the same or the
//! distance is not 0, or c(u) − c(v) + 1 ≤ distance. So boundaries are opened until the last holds for all that leads back, those first that make the
//! smallest items (by the sum of their squares). With an open boundary `exact` is false: what cannot be done with these items may still be possible.

use super::stage_bound::find;
use crate::analysis::glue::Groups;
use crate::problem::modulo::ModuloProblem;
use sluice_frontend::components::components_of;
use sluice_frontend::ids::NodeId;

/// What is placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    /// By instance, its item.
    pub of: Vec<usize>,
    /// By item, its work in cycles.
    pub cost: Vec<u64>,
    /// Are these the groups themselves?
    pub exact: bool,
}

/// Finds the items; numbered by their first instance in topological order.
pub fn items(problem: &ModuloProblem, groups: &Groups) -> Items {
    let count = groups.members.len();
    let group = |i: usize| groups.of[i] as usize;
    let arcs: Vec<(usize, usize, u64)> = problem
        .dependences()
        .iter()
        .map(|d| (group(d.from), group(d.to), d.distance))
        .filter(|(a, b, _)| a != b)
        .collect();
    let mut piece_of: Vec<usize> = (0..count).collect();
    let mut next = count;
    for component in parts(0..count, arcs.iter().copied()).into_iter().filter(|c| c.len() > 1) {
        let mut inside = vec![false; count];
        component.iter().for_each(|x| inside[*x] = true);
        let inner: Vec<_> = arcs.iter().copied().filter(|(a, b, _)| inside[*a] && inside[*b]).collect();
        let order = parts(component.iter().copied(), inner.iter().copied().filter(|(.., d)| *d == 0));
        let mut part = vec![0; count];
        order.iter().enumerate().for_each(|(at, xs)| xs.iter().for_each(|x| part[*x] = at));
        let cost: Vec<u64> = order.iter().map(|xs| xs.iter().map(|x| groups.cost[*x]).sum()).collect();
        let mut inner: Vec<_> =
            inner.iter().map(|(a, b, d)| (part[*a], part[*b], *d)).filter(|(a, b, _)| a != b).collect();
        inner.sort_unstable();
        inner.dedup();
        let piece = pieces(&cost, &inner);
        for (xs, c) in order.iter().zip(&piece) {
            xs.iter().for_each(|x| piece_of[*x] = next + c);
        }
        next += order.len();
    }
    numbered(problem, |i| piece_of[group(i)], count)
}

/// Strongly connected parts in topological order.
fn parts(nodes: impl Iterator<Item = usize>, arcs: impl Iterator<Item = (usize, usize, u64)>) -> Vec<Vec<usize>> {
    let mut ids: Vec<NodeId> = nodes.map(NodeId::from).collect();
    ids.sort_unstable();
    let edges: Vec<(NodeId, NodeId)> = arcs.map(|(a, b, _)| (NodeId::from(a), NodeId::from(b))).collect();
    components_of(&ids, &edges).into_iter().map(|c| c.into_iter().map(|n| n.index()).collect()).collect()
}

/// Levels up to which the sizes of items are computed for every boundary that may be opened; beyond, the work next to it decides.
const FEW_LEVELS: usize = 64;

/// Puts together what has to be: by node, a node of its piece. Nodes are in an order that keeps to distances of 0.
fn pieces(cost: &[u64], arcs: &[(usize, usize, u64)]) -> Vec<usize> {
    let mut level = vec![0; cost.len()];
    let mut within: Vec<(usize, usize)> = arcs.iter().filter(|(.., d)| *d == 0).map(|(a, b, _)| (*a, *b)).collect();
    within.sort_unstable();
    within.iter().for_each(|(a, b)| level[*b] = level[*b].max(level[*a] + 1));
    let top = level.iter().max().copied().unwrap_or(0);
    let mut open = vec![false; top];
    let joined = |open: &[bool]| {
        let closed = closed(open);
        let mut root: Vec<usize> = (0..cost.len()).collect();
        for (a, b) in within.iter().filter(|(a, b)| closed[level[*a]] == closed[level[*b]]) {
            let (a, b) = (find(&mut root, *a), find(&mut root, *b));
            root[a.max(b)] = a.min(b);
        }
        (0..cost.len()).map(|x| find(&mut root, x)).collect::<Vec<_>>()
    };
    let size = |open: &mut [bool], boundary: usize| {
        if top > FEW_LEVELS {
            let near = level.iter().zip(cost).filter(|(l, _)| **l == boundary || **l == boundary + 1);
            return near.map(|(_, c)| u128::from(*c)).sum::<u128>();
        }
        open[boundary] = true;
        let mut sum = vec![0; cost.len()];
        joined(open).iter().zip(cost).for_each(|(r, c)| sum[*r] += u128::from(*c));
        open[boundary] = false;
        sum.into_iter().map(|s| s * s).sum()
    };
    loop {
        let closed = closed(&open);
        let crosses = |a: usize, b: usize| closed[level[a]].saturating_sub(closed[level[b]]) as u64;
        let Some((a, b, _)) = arcs.iter().find(|(a, b, d)| crosses(*a, *b) >= 1.max(*d)) else { break };
        let between: Vec<usize> = (level[*b]..level[*a]).filter(|l| !open[*l]).collect();
        let Some(best) = between.into_iter().min_by_key(|l| size(&mut open, *l)) else { break };
        open[best] = true;
    }
    joined(&open)
}

/// By level, the closed boundaries below it.
fn closed(open: &[bool]) -> Vec<usize> {
    let mut all = vec![0];
    for o in open {
        all.push(all[all.len() - 1] + usize::from(!o));
    }
    all
}

/// Items by any name of each instance's item.
pub fn numbered(problem: &ModuloProblem, name: impl Fn(usize) -> usize, groups: usize) -> Items {
    let mut number = std::collections::BTreeMap::new();
    let (mut of, mut cost) = (vec![0; problem.instances()], Vec::new());
    for i in problem.topological() {
        let item = *number.entry(name(*i)).or_insert(cost.len());
        if item == cost.len() {
            cost.push(0);
        }
        of[*i] = item;
        cost[item] += problem.cost(*i);
    }
    Items { exact: cost.len() == groups, of, cost }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_open_until_cycles_may_cross() {
        let chain = [(0, 1, 0), (1, 2, 0), (2, 3, 0)];
        let with = |distance| {
            let arcs: Vec<_> = chain.iter().copied().chain([(3, 0, distance)]).collect();
            pieces(&[5, 1, 2, 9], &arcs)
        };
        assert_eq!(with(4), [0, 1, 2, 3]);
        assert_eq!(with(3), [0, 1, 1, 3]);
        assert_eq!(with(2), [0, 0, 0, 3]);
        assert_eq!(with(1), [0, 0, 0, 0]);
    }

    #[test]
    fn what_lies_side_by_side_stays_apart() {
        // Two chains of two, tied together by a state from one iteration to the one after the next.
        let arcs = [(0, 2, 0), (1, 3, 0), (2, 1, 2), (3, 0, 1)];
        assert_eq!(pieces(&[1, 1, 1, 1], &arcs), [0, 1, 0, 1]);
    }
}
