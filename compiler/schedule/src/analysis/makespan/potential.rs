//! # potential
//!
//! Purpose: a sound bound for any number of warps. Input: a [`Problem`] of few instructions. Output: a [`Potential`]: a number for every state,
//! which falls by one or more in every cycle, whatever the scheduler does, and is 0 when all warps are done; so from no state it takes longer.
//!
//! ```text
//! V(s) = Σ_i n_i·(δ_i + … + δ_{I−1}) + h(class of s)          n_i warps at instruction i, classes as in [`abstraction`]
//! h(c) ≥ 1 − Σ δ of what ran + h(c')                           for each edge c → c', h(end) = 0
//! ```
//!
//! δ is chosen to make V(start) = W·Σδ + h(start) small. Of a given δ, h is the longest walk to the end, and there is one where no cycle of
//! the graph has a positive weight. So δ is a point of a polyhedron with a row for each cycle and a variable for h(start) with a row for each walk:
//! a linear program, solved by cutting planes, where Bellman and Ford's algorithm finds the rows that are broken.
//!
//! What the solver says is only a proposal: in the end δ and h are whole numbers of 2^−20 cycles, and h is computed from the edges, in integers.
//! Source: the dual of the flow of schedules through the graph; the potential function method for online problems.

use super::abstraction::{Graph, Size};
use super::{Problem, bounds};
use crate::ilp::cbc::{self, Limits};
use crate::ilp::model::{Model, Var};

/// Parts of a cycle in which δ and h are counted.
const ONE: i64 = 1 << 20;
/// The most rows that are found.
const ROUNDS: usize = 400;
/// A state that cannot reach the end.
const NEVER: i64 = i64::MIN / 4;

/// A bound from every state.
pub struct Potential {
    graph: Graph,
    /// δ of an instruction and all after it.
    rest: Vec<i64>,
    h: Vec<i64>,
}

/// Makes one; `None` where the kernel is too long for it, or `stop` came too early.
pub fn potential(problem: &Problem, size: Size, stop: &dyn Fn() -> bool) -> Option<Potential> {
    let graph = Graph::new(problem, size)?;
    let n = problem.units().len();
    let warps = f64::from(problem.warps());
    let mut master = Model::default();
    let delta: Vec<Var> = (0..n).map(|_| master.var(-1.0, 2.0, false)).collect();
    let top = master.var(-1e6, bounds::sound(problem) as f64, false);
    delta.iter().for_each(|d| master.objective[d.0] = warps);
    master.objective[top.0] = 1.0;
    let mut best: Option<(i64, Vec<i64>, Vec<i64>)> = None;
    let mut keep = |d: &[i64], h: &[i64]| {
        let value = h[0] + i64::from(problem.warps()) * d.iter().sum::<i64>();
        if best.as_ref().is_none_or(|(b, ..)| value < *b) {
            best = Some((value, d.to_vec(), h.to_vec()));
        }
        value
    };
    // One cycle for each instruction is always a potential, with no more than 0 for classes.
    let all_one = vec![ONE; n];
    let mut walks = Walks::new(&graph);
    if walks.longest(&all_one) == Found::All {
        keep(&all_one, &walks.h);
    }
    let mut d = vec![0; n];
    for _ in 0..ROUNDS {
        if stop() {
            break;
        }
        let out = cbc::solve(&master, &Limits { seconds: None, nodes: None, gap: 0.0 }, None);
        let Some(values) = out.values else { break };
        d.iter_mut().zip(&delta).for_each(|(d, v)| *d = (values[v.0] * ONE as f64).ceil() as i64);
        let found = walks.longest(&d);
        let row = match found {
            Found::All => {
                let value = keep(&d, &walks.h) as f64 / ONE as f64;
                if value < master.value(&values) + 0.05 {
                    break;
                }
                let mut row = walks.walk(0);
                row.through_top = true;
                row
            }
            Found::Cycle(class) => walks.cycle(class),
        };
        let mut terms: Vec<(Var, f64)> = row.ran.iter().enumerate().map(|(i, n)| (delta[i], *n as f64)).collect();
        let scale = 1.0 / row.cycles.max(1) as f64;
        if row.through_top {
            terms.push((top, 1.0));
        }
        master.at_least("(walk)", terms.into_iter().map(|(v, a)| (v, a * scale)), row.cycles as f64 * scale);
    }
    let (_, d, h) = best?;
    let mut rest = d;
    for i in (0..n - 1).rev() {
        rest[i] += rest[i + 1];
    }
    Some(Potential { graph, rest, h })
}

impl Potential {
    /// No schedule takes longer from a state: by instruction, the warps at it. `None` for a state that none comes to.
    pub fn bound(&self, counts: &[u32]) -> Option<u64> {
        let class = self.graph.class(counts)?;
        let sum: i64 = counts.iter().zip(&self.rest).map(|(n, r)| i64::from(*n) * r).sum();
        let h = self.h[class as usize];
        (h > NEVER).then(|| ((sum + h) / ONE).max(0) as u64)
    }

    /// How many classes it has.
    pub fn classes(&self) -> usize {
        self.graph.classes()
    }
}

#[derive(PartialEq, Eq)]
enum Found {
    All,
    /// A class on a cycle of positive weight, by `next`.
    Cycle(usize),
}

/// How often each instruction ran in so many cycles.
struct Ran {
    ran: Vec<u32>,
    cycles: u32,
    through_top: bool,
}

/// Longest walks to the end.
struct Walks<'a> {
    graph: &'a Graph,
    h: Vec<i64>,
    next: Vec<u32>,
    /// Classes, those that are near the end first.
    order: Vec<u32>,
    instructions: usize,
}

impl Walks<'_> {
    fn new(graph: &Graph) -> Walks<'_> {
        let classes = graph.classes();
        // Depth first from the start, without recursion; classes in the order in which they are left.
        let mut order = Vec::with_capacity(classes);
        let mut seen = vec![false; classes];
        let mut stack = vec![(0u32, graph.first[0])];
        seen[0] = true;
        while let Some((class, at)) = stack.last_mut() {
            if *at == graph.first[*class as usize + 1] {
                order.push(*class);
                stack.pop();
                continue;
            }
            let to = graph.edges[*at as usize].to;
            *at += 1;
            if !seen[to as usize] {
                seen[to as usize] = true;
                stack.push((to, graph.first[to as usize]));
            }
        }
        let instructions = graph.choices.iter().flatten().max().map_or(0, |i| *i as usize + 1);
        Walks { graph, h: vec![NEVER; classes], next: vec![u32::MAX; classes], order, instructions }
    }

    /// h of all classes for a δ, or a cycle that has none.
    fn longest(&mut self, delta: &[i64]) -> Found {
        let g = self.graph;
        let weight: Vec<i64> =
            g.choices.iter().map(|ran| ONE - ran.iter().map(|i| delta[*i as usize]).sum::<i64>()).collect();
        self.h.fill(NEVER);
        self.next.fill(u32::MAX);
        let Some(end) = g.end else { return Found::All };
        self.h[end as usize] = 0;
        for sweep in 1.. {
            let mut changed = false;
            for c in &self.order {
                let c = *c as usize;
                let range = g.first[c]..g.first[c + 1];
                let (mut best, mut by) = (self.h[c], u32::MAX);
                for (e, edge) in (range.start..).zip(&g.edges[range.start as usize..range.end as usize]) {
                    let to = self.h[edge.to as usize];
                    if to > NEVER && to + weight[edge.choice as usize] > best {
                        best = to + weight[edge.choice as usize];
                        by = e;
                    }
                }
                if by != u32::MAX {
                    (self.h[c], self.next[c]) = (best, by);
                    changed = true;
                }
            }
            if !changed {
                return Found::All;
            }
            if sweep % 4 == 0
                && let Some(class) = self.on_a_cycle()
            {
                return Found::Cycle(class);
            }
        }
        Found::All
    }

    /// A class on a cycle of `next`: its weight is positive.
    fn on_a_cycle(&self) -> Option<usize> {
        let mut mark = vec![0u32; self.h.len()];
        for (round, start) in (1..).zip(0..self.h.len()) {
            let mut at = start;
            while mark[at] == 0 {
                mark[at] = round;
                match self.next[at] {
                    u32::MAX => break,
                    e => at = self.graph.edges[e as usize].to as usize,
                }
            }
            if mark[at] == round && self.next[at] != u32::MAX {
                return Some(at);
            }
        }
        None
    }

    fn follow(&self, from: usize, done: impl Fn(usize) -> bool) -> Ran {
        let mut r = Ran { ran: vec![0; self.instructions], cycles: 0, through_top: false };
        let mut at = from;
        while self.next[at] != u32::MAX {
            let edge = self.graph.edges[self.next[at] as usize];
            self.graph.choices[edge.choice as usize].iter().for_each(|i| r.ran[*i as usize] += 1);
            r.cycles += 1;
            at = edge.to as usize;
            if done(at) {
                break;
            }
        }
        r
    }

    fn walk(&self, from: usize) -> Ran {
        self.follow(from, |_| false)
    }

    fn cycle(&self, class: usize) -> Ran {
        self.follow(class, |at| at == class)
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact::exact;
    use super::super::{Kernel, Machine, Unit, exact};
    use super::*;

    #[test]
    fn quality() {
        for length in [4usize, 6] {
            let (mut worst, mut sum, mut count) = (0.0f64, 0.0, 0);
            for bits in 0..1u32 << (length - 1) {
                let units = (0..length).map(|i| if bits >> i & 1 == 0 { Unit::LoadStore } else { Unit::Core }).collect();
                let p = Problem::new(&Kernel::new(units), &Machine::ONE, 18).unwrap();
                let e = exact(&p, exact::Limits { states: 1 << 28, stop: &|| false }).unwrap().worst(18);
                for (few, lead) in [(1, 1), (1, 3), (3, 1), (3, 3)] {
                    let v = potential(&p, Size { few, lead, edges: 1 << 22 }, &|| false).unwrap();
                    let mut start = vec![0; length];
                    start[0] = 18;
                    let b = v.bound(&start).unwrap();
                    assert!(b >= e, "{} {b} {e}", p.kernel());
                    let off = b as f64 / e as f64 - 1.0;
                    println!("{} few {few},{lead}: {e} {b} ({}) {:.3} classes {}", p.kernel(), bounds::sound(&p), off, v.classes());
                    worst = worst.max(off);
                    sum += off;
                    count += 1;
                }
            }
            println!("length {length}: worst {worst:.3}, mean {:.3}", sum / f64::from(count));
        }
    }
}
