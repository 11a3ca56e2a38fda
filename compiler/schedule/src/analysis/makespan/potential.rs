//! # potential
//!
//! Purpose: a sound bound for any number of warps. Input: a [`Problem`] of few instructions. Output: a [`Potential`]: a number for every state,
//! which falls by one or more in every cycle, whatever the scheduler does, and is 0 when all warps are done; so from no state it takes longer.
//!
//! ```text
//! V(s) = Σ_i n_i·v[f,i] + h(class of s)          n_i warps at instruction i, f the first instruction with any (the phase)
//! ```
//!
//! Classes are those of [`abstraction`](super::abstraction). With δ[f,i] = v[f,i] − v[f,i+1], what a warp gives up when it performs i, V falls by
//! one in every cycle where, for each edge c → c' of the graph,
//!
//! ```text
//! h(c) ≥ 1 − Σ δ[f,i] of what ran + h(c')                                               in one phase
//! h(c) ≥ 1 − Σ δ[f,i] of what ran − Σ_i (v[f,i] − v[f',i])·least_i(c') + h(c')         from phase f to f'
//! v[f,i] ≥ v[f+1,i],   h(end) = 0
//! ```
//!
//! δ is chosen to make V(start) = W·v[0,0] + h(start) small. Of a given δ, h is the longest walk to the end, and there is one where no cycle of
//! the graph has a positive weight. So δ is a point of a polyhedron with a row for each cycle and a variable for h(start) with a row for each walk:
//! a linear program, solved by cutting planes, where Bellman and Ford's algorithm finds the rows that are broken.
//!
//! What the solver says is only a proposal: in the end v and h are whole numbers of 2^−20 cycles, and h is computed from the edges, in integers.
//! Source: the dual of the flow of schedules through the graph; potential functions as for online problems.

use super::abstraction::{Graph, Size};
use super::{Problem, bounds};
use crate::ilp::cbc::{self, Limits};
use crate::ilp::model::{Model, Var};

/// Parts of a cycle in which δ and h are counted.
const ONE: i64 = 1 << 20;
/// The most rounds of the linear program.
const ROUNDS: usize = 300;
/// The most rows that a round adds.
const MOST_ROWS: usize = 12;
/// A state that cannot reach the end.
const NEVER: i64 = i64::MIN / 4;

/// A bound from every state.
pub struct Potential {
    graph: Graph,
    v: Values,
    h: Vec<i64>,
}

/// v by phase and instruction, one more of each, where it is 0.
#[derive(Clone)]
struct Values(Vec<Vec<i64>>);

impl Values {
    /// From δ as a solver says it, a little more, so that what rounding takes away does not matter.
    fn new(n: usize, delta: impl Fn(usize, usize) -> f64) -> Values {
        let mut v = vec![vec![0i64; n + 1]; n + 1];
        for f in (0..n).rev() {
            let mut sum = 0.0;
            for i in (f..n).rev() {
                sum += delta(f, i);
                v[f][i] = (sum * ONE as f64).ceil() as i64 + 4 * (n - i) as i64;
                if i > f {
                    v[f][i] = v[f][i].max(v[f + 1][i]);
                }
            }
        }
        Values(v)
    }

    fn delta(&self, phase: usize, i: usize) -> i64 {
        self.0[phase][i] - self.0[phase][i + 1]
    }
}

/// Makes one; `None` where the kernel is too long for it, or `stop` came too early.
pub fn potential(problem: &Problem, size: &Size, stop: &dyn Fn() -> bool) -> Option<Potential> {
    let graph = Graph::new(problem, size, stop)?;
    let n = problem.units().len();
    let warps = i64::from(problem.warps());
    let mut master = Model::default();
    // by phase f, δ of the instructions from f on
    let delta: Vec<Vec<Var>> = (0..n).map(|f| (f..n).map(|_| master.var(-1.0, 2.0, false)).collect()).collect();
    let top = master.var(-1e6, bounds::sound(problem) as f64, false);
    delta[0].iter().for_each(|d| master.objective[d.0] = warps as f64);
    master.objective[top.0] = 1.0;
    for f in 1..n {
        for i in f..n {
            let now = (i..n).map(|k| (delta[f][k - f], -1.0));
            master.at_least("(phase)", (i..n).map(|k| (delta[f - 1][k - f + 1], 1.0)).chain(now), 0.0);
        }
    }
    let mut best: Option<(i64, Values, Vec<i64>)> = None;
    let mut keep = |v: Values, h: &[i64]| {
        let value = h[0] + warps * v.0[0][0];
        if best.as_ref().is_none_or(|(b, ..)| value < *b) {
            best = Some((value, v, h.to_vec()));
        }
        value
    };
    let mut walks = Walks::new(&graph, n);
    // One cycle for each instruction is always a potential, with no more than 0 for classes.
    let all_one = Values::new(n, |_, _| 1.0);
    if walks.longest(&all_one, stop)?.is_empty() {
        keep(all_one, &walks.h);
    }
    // The point that is tried lies between the best one known, which satisfies every row, and what the rows so far allow: what it breaks, that
    // point breaks too, and else it is better than the best. That settles in a fraction of the rounds.
    let mut inside: Vec<f64> = master.columns.iter().map(|_| 1.0).collect();
    inside[top.0] = walks.h[0] as f64 / ONE as f64;
    for _ in 0..ROUNDS {
        if stop() {
            break;
        }
        let out = cbc::solve(&master, &Limits { seconds: None, nodes: None, gap: 0.0 }, None);
        let Some(outside) = out.values else { break };
        let middle: Vec<f64> = outside.iter().zip(&inside).map(|(o, i)| 0.5 * (o + i)).collect();
        let v = Values::new(n, |f, i| middle[delta[f][i - f].0]);
        let Some(mut rows) = walks.longest(&v, stop) else { break };
        if rows.is_empty() {
            let h0 = walks.h[0] as f64 / ONE as f64;
            if h0 > middle[top.0] + 1e-4 {
                rows.push(walks.walk());
            }
            let value = keep(v, &walks.h) as f64 / ONE as f64;
            if value < master.value(&outside) + 0.25 {
                break;
            }
            if h0 <= middle[top.0] + 1e-4 || value < master.value(&inside) {
                inside = middle;
                inside[top.0] = h0;
            }
        }
        for row in rows {
            let scale = 1.0 / row.cycles.max(1) as f64;
            let ran =
                row.ran.iter().enumerate().flat_map(|(f, ran)| ran.iter().enumerate().map(move |(i, n)| (f, i, *n)));
            let mut terms: Vec<(Var, f64)> =
                ran.filter(|(_, _, n)| *n != 0).map(|(f, i, n)| (delta[f][i - f], n as f64 * scale)).collect();
            if row.through_top {
                terms.push((top, scale));
            }
            master.at_least("(walk)", terms, row.cycles as f64 * scale);
        }
    }
    let (_, v, h) = best?;
    Some(Potential { graph, v, h })
}

impl Potential {
    /// No schedule takes longer from a state: by instruction, the warps at it. `None` for a state that none comes to.
    pub fn bound(&self, counts: &[u32]) -> Option<u64> {
        let class = self.graph.class(counts)? as usize;
        let v = &self.v.0[self.graph.phase[class] as usize];
        let sum: i64 = counts.iter().zip(v).map(|(n, v)| i64::from(*n) * v).sum();
        (self.h[class] > NEVER).then(|| ((sum + self.h[class]) / ONE).max(0) as u64)
    }

    /// How many classes it has.
    pub fn classes(&self) -> usize {
        self.graph.classes()
    }
}

/// By phase and instruction, the factor of δ in the sum along a walk of so many cycles.
struct Ran {
    ran: Vec<Vec<i64>>,
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
    fn new(graph: &Graph, instructions: usize) -> Walks<'_> {
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
        Walks { graph, h: vec![NEVER; classes], next: vec![u32::MAX; classes], order, instructions }
    }

    /// Finds h of all classes for these v; or else cycles for which there is none. `None` where it was stopped.
    fn longest(&mut self, v: &Values, stop: &dyn Fn() -> bool) -> Option<Vec<Ran>> {
        let g = self.graph;
        let weights = |f: usize| -> Vec<i64> {
            let of = |ran: &Vec<u8>| ONE - ran.iter().map(|i| v.delta(f, *i as usize)).sum::<i64>();
            g.choices.iter().map(of).collect()
        };
        let weight: Vec<Vec<i64>> = (0..self.instructions).map(weights).collect();
        let crossing = |f: usize, to: usize| -> i64 {
            let (old, new) = (&v.0[f], &v.0[g.phase[to] as usize]);
            g.least[to].iter().zip(old.iter().zip(new)).map(|(n, (a, b))| i64::from(*n) * (a - b)).sum()
        };
        self.h.fill(NEVER);
        self.next.fill(u32::MAX);
        let Some(end) = g.end else { return Some(Vec::new()) };
        self.h[end as usize] = 0;
        for sweep in 1.. {
            let mut changed = false;
            for c in &self.order {
                let c = *c as usize;
                let f = g.phase[c];
                let range = g.first[c]..g.first[c + 1];
                let (mut best, mut by) = (self.h[c], u32::MAX);
                for (e, edge) in (range.start..).zip(&g.edges[range.start as usize..range.end as usize]) {
                    let to = edge.to as usize;
                    if self.h[to] == NEVER {
                        continue;
                    }
                    let mut value = self.h[to] + weight[f as usize][edge.choice as usize];
                    if g.phase[to] != f {
                        value -= crossing(f as usize, to);
                    }
                    if value > best {
                        (best, by) = (value, e);
                    }
                }
                if by != u32::MAX {
                    (self.h[c], self.next[c]) = (best, by);
                    changed = true;
                }
            }
            if !changed {
                return Some(Vec::new());
            }
            if sweep % 4 == 0 {
                let cycles = self.cycles();
                if !cycles.is_empty() {
                    return Some(cycles);
                }
                if stop() {
                    return None;
                }
            }
        }
        None
    }

    /// The cycles of `next`: their weights are positive.
    fn cycles(&self) -> Vec<Ran> {
        let mut found = Vec::new();
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
                found.push(self.follow(at, |to| to == at));
                if found.len() == MOST_ROWS {
                    break;
                }
            }
        }
        found
    }

    fn follow(&self, from: usize, done: impl Fn(usize) -> bool) -> Ran {
        let n = self.instructions;
        let mut r = Ran { ran: vec![vec![0; n]; n], cycles: 0, through_top: false };
        let mut at = from;
        while self.next[at] != u32::MAX {
            let edge = self.graph.edges[self.next[at] as usize];
            let (f, to) = (self.graph.phase[at] as usize, edge.to as usize);
            self.graph.choices[edge.choice as usize].iter().for_each(|i| r.ran[f][*i as usize] += 1);
            let new = self.graph.phase[to] as usize;
            if new != f {
                for (i, least) in self.graph.least[to].iter().enumerate().filter(|(_, l)| **l > 0) {
                    for k in i..n {
                        r.ran[f][k] += i64::from(*least);
                        r.ran[new][k] -= i64::from(*least);
                    }
                }
            }
            r.cycles += 1;
            at = to;
            if done(at) {
                break;
            }
        }
        r
    }

    /// The walk from the start.
    fn walk(&self) -> Ran {
        Ran { through_top: true, ..self.follow(0, |_| false) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact::{Limits as States, exact};
    use super::super::schedule::simulate;
    use super::super::{Capacity, Kernel, Machine, Unit};
    use super::*;

    fn kernel(length: usize, bits: u32) -> Kernel {
        Kernel::new((0..length).map(|i| if bits >> i & 1 == 0 { Unit::LoadStore } else { Unit::Core }).collect())
    }

    fn whole(length: usize) -> Size {
        Size { few: 1, lead: 1, leads: vec![(1 << length) - 1], edges: 1 << 20 }
    }

    fn start(p: &Problem) -> Vec<u32> {
        let mut counts = vec![0; p.units().len()];
        counts[0] = p.warps();
        counts
    }

    #[test]
    fn never_below_the_worst_case_and_near_it() {
        let machines = [(1, 1), (2, 1), (1, 3)];
        for (l, c) in machines {
            let machine = Machine { load_store: Capacity::new(l, 1).unwrap(), cores: Capacity::new(c, 1).unwrap() };
            for (length, bits) in (1..=5).flat_map(|length| (0..1u32 << length).map(move |bits| (length, bits))) {
                let p = Problem::new(&kernel(length, bits), &machine, 12).unwrap();
                let worst = exact(&p, States { states: 1 << 20, stop: &|| false }).unwrap().worst(12);
                let bound = potential(&p, &whole(length), &|| false).unwrap().bound(&start(&p)).unwrap();
                assert!(worst <= bound, "{} {machine:?}: {bound} < {worst}", p.kernel());
                if (l, c) == (1, 1) {
                    assert!(bound * 10 <= worst * 12, "{}: {bound} for {worst}", p.kernel());
                }
            }
        }
    }

    #[test]
    fn it_falls_in_every_cycle_of_any_schedule() {
        let mut dice = 1u64;
        let mut roll = |sides: usize| {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (dice >> 33) as usize % sides
        };
        for (l, c) in [(1, 1), (2, 1), (3, 2)] {
            let machine = Machine { load_store: Capacity::new(l, 1).unwrap(), cores: Capacity::new(c, 1).unwrap() };
            for _ in 0..12 {
                let p = Problem::new(&kernel(6, roll(64) as u32), &machine, 20).unwrap();
                let v = potential(&p, &Size { few: 2, leads: vec![63, 0b11100], ..whole(6) }, &|| false).unwrap();
                for _ in 0..20 {
                    let greedy = roll(3);
                    let s = simulate(&p, |_, ready, run| match greedy {
                        0 => ready.sort_by_key(|r| r.1),
                        1 => ready.sort_by_key(|r| std::cmp::Reverse(r.1)),
                        _ => (0..run).for_each(|i| ready.swap(i, i + roll(ready.len() - i))),
                    });
                    let (mut pc, mut counts) = (vec![0usize; 20], start(&p));
                    let mut before = v.bound(&counts).unwrap();
                    for (t, cycle) in s.cycles.iter().enumerate() {
                        for w in cycle {
                            counts[pc[*w as usize]] -= 1;
                            pc[*w as usize] += 1;
                            if let Some(n) = counts.get_mut(pc[*w as usize]) {
                                *n += 1;
                            }
                        }
                        let now = v.bound(&counts).expect("a state that a schedule comes to has a class");
                        assert!(now < before || before == 0, "{} {machine:?} cycle {t}: {before} {now}", p.kernel());
                        before = now;
                    }
                    assert_eq!(before, 0);
                }
            }
        }
    }

    #[test]
    fn too_long_or_stopped() {
        let p = |n: usize| Problem::new(&kernel(n, 0b10101), &Machine::ONE, 9).unwrap();
        assert!(potential(&p(17), &whole(5), &|| false).is_none());
        assert!(potential(&p(12), &whole(12), &|| true).is_none());
        let p = p(6);
        let v = potential(&p, &whole(6), &|| true).unwrap();
        assert!(v.bound(&start(&p)).unwrap() <= bounds::sound(&p));
    }
}
