//! # items
//!
//! Purpose: what can be placed on processors without a look at anything else. Input: problem, groups. Output: [`Items`], unions of groups, such that every
//! assignment of them to processors can be completed with enough stages.
//!
//! Without cycles between groups these are the groups. On cycles (all have a distance of 2 or more, else they would be groups) an assignment may
//! cross too often. There the groups stand in an order that keeps to distances of 0 and are cut into pieces, c numbers them: with stages f = c plus what the
//! component needs as a whole, a dependence from u to v is met whatever crosses if c(u) < c(v) or c(u) − c(v) + 1 ≤ distance. So there are
//! as many pieces as the least distance of a dependence that leads back. Fewer pieces than groups means that `exact` is false:
//! what cannot be done with these items may still be possible.

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
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(at, xs)| xs.iter().for_each(|x| place[*x] = at));
        let back = inner.iter().filter(|(a, b, _)| place[*a] > place[*b]).map(|(.., d)| *d).min();
        let most = back.unwrap_or(u64::MAX).min(order.len() as u64) as usize;
        let costs: Vec<u64> = order.iter().map(|xs| xs.iter().map(|x| groups.cost[*x]).sum()).collect();
        let cut = cut(&costs, most.max(1));
        for (xs, c) in order.iter().zip(&cut) {
            xs.iter().for_each(|x| piece_of[*x] = next + c);
        }
        next += cut.last().map_or(0, |c| c + 1);
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

/// Cuts a row of costs into at most `pieces` of which the largest is as small as possible; the number of each one's piece.
fn cut(costs: &[u64], pieces: usize) -> Vec<usize> {
    let with = |room: u64| {
        let (mut piece, mut load, mut all) = (0, 0u64, Vec::with_capacity(costs.len()));
        for c in costs {
            if load > 0 && load + c > room {
                piece += 1;
                load = 0;
            }
            load += c;
            all.push(piece);
        }
        all
    };
    if pieces >= costs.len() {
        return (0..costs.len()).collect();
    }
    let (mut low, mut high) = (costs.iter().max().copied().unwrap_or(0), costs.iter().sum::<u64>());
    while low < high {
        let middle = low + (high - low) / 2;
        if with(middle).last().is_none_or(|p| *p < pieces) { high = middle } else { low = middle + 1 }
    }
    with(low)
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
    fn cuts_are_even() {
        assert_eq!(cut(&[5, 5, 5, 5], 2), [0, 0, 1, 1]);
        assert_eq!(cut(&[1, 9, 1, 9], 2), [0, 0, 1, 1]);
        assert_eq!(cut(&[9, 1, 1, 1], 3), [0, 1, 1, 1]);
        assert_eq!(cut(&[3, 3], 5), [0, 1]);
        assert_eq!(cut(&[3, 3, 4], 1), [0, 0, 0]);
    }
}
