//! # arcs
//!
//! Purpose: the dependences of a problem by instance, and what solvers derive from them. Input: problem. Output: [`Arcs`].

use crate::analysis::glue::{Groups, regroup};
use crate::problem::modulo::ModuloProblem;
use sluice_frontend::components::components_of;
use sluice_frontend::ids::NodeId;

/// One end of a dependence, seen from the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The instance at the other end.
    pub other: u32,
    /// Iterations between.
    pub distance: i64,
}

/// Dependences by instance.
#[derive(Clone, Debug)]
pub struct Arcs {
    into: (Vec<u32>, Vec<Link>),
    out: (Vec<u32>, Vec<Link>),
    has_distance: bool,
    /// By instance, its place in the problem's topological order: on its processor it runs in this order.
    pub rank: Vec<u32>,
}

impl Arcs {
    /// Sorts them. A dependence of an instance on itself asks for nothing and is left out.
    pub fn new(problem: &ModuloProblem) -> Arcs {
        let n = problem.instances();
        let links = |at: fn(&crate::problem::dependences::Dependence) -> (usize, usize)| {
            let real = || problem.dependences().iter().filter(|d| d.from != d.to);
            let mut starts = vec![0u32; n + 1];
            real().for_each(|d| starts[at(d).0 + 1] += 1);
            (0..n).for_each(|i| starts[i + 1] += starts[i]);
            let (mut next, mut all) = (starts.clone(), vec![Link { other: 0, distance: 0 }; starts[n] as usize]);
            for d in real() {
                let (own, other) = at(d);
                all[next[own] as usize] = Link { other: other as u32, distance: d.distance as i64 };
                next[own] += 1;
            }
            (starts, all)
        };
        let has_distance = problem.dependences().iter().any(|d| d.from != d.to && d.distance > 0);
        Arcs { has_distance, into: links(|d| (d.to, d.from)), out: links(|d| (d.from, d.to)), rank: ranks(problem) }
    }

    /// Does anything wait for an earlier iteration?
    pub fn has_distance(&self) -> bool {
        self.has_distance
    }

    /// What an instance waits for.
    pub fn before(&self, instance: usize) -> &[Link] {
        &self.into.1[self.into.0[instance] as usize..self.into.0[instance + 1] as usize]
    }

    /// What waits for an instance.
    pub fn after(&self, instance: usize) -> &[Link] {
        &self.out.1[self.out.0[instance] as usize..self.out.0[instance + 1] as usize]
    }

    /// How many stages later than `from` the instance `to` has to be at least, for a dependence of this distance.
    pub fn lag(&self, from: usize, to: usize, distance: i64, same_processor: bool) -> i64 {
        i64::from(!same_processor || self.rank[from] > self.rank[to]) - distance
    }
}

/// By instance, its place in the problem's topological order.
pub fn ranks(problem: &ModuloProblem) -> Vec<u32> {
    let mut rank = vec![0; problem.instances()];
    problem.topological().iter().enumerate().for_each(|(at, i)| rank[*i] = at as u32);
    rank
}

/// By instance, how long it takes at least from its start to the end of everything that waits for it, in cycles; an iteration of
/// distance gives back one initiation interval. Rau's HeightR. Cycles that gain time (II below RecMII) are followed a few times round.
pub fn heights(problem: &ModuloProblem, arcs: &Arcs, ii: u64) -> Vec<i64> {
    const ROUNDS: usize = 8;
    let mut height: Vec<i64> = (0..problem.instances()).map(|i| problem.cost(i) as i64).collect();
    for _ in 0..ROUNDS {
        let mut changed = false;
        for i in problem.topological().iter().rev() {
            let cost = problem.cost(*i) as i64;
            for link in arcs.after(*i) {
                let back = (ii as i64).saturating_mul(link.distance);
                let through = height[link.other as usize].saturating_sub(back).saturating_add(cost);
                if through > height[*i] {
                    height[*i] = through;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    height
}

/// Groups joined until no dependence leads round between them: one group for each strongly connected component. On one
/// processor such a group always has a schedule.
pub fn components(problem: &ModuloProblem, groups: &Groups) -> Groups {
    let ids: Vec<NodeId> = (0..groups.members.len()).map(NodeId::from).collect();
    let id = |i: usize| NodeId::from(groups.of[i] as usize);
    let edges: Vec<(NodeId, NodeId)> = problem.dependences().iter().map(|d| (id(d.from), id(d.to))).collect();
    let mut part = vec![0u32; ids.len()];
    for (p, members) in components_of(&ids, &edges).iter().enumerate() {
        members.iter().for_each(|g| part[g.index()] = p as u32);
    }
    regroup(problem, |i| part[groups.of[i] as usize])
}
