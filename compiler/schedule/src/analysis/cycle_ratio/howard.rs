//! Howard's policy iteration for the maximum cycle ratio.
//!
//! A policy is one outgoing arc for each node of a strongly connected component. Its best cycle gives a ratio λ; potentials v with
//! v(u) = w − λ·d + v(next u) show where another arc is better. When none is, v proves that no cycle is above λ.
//! Before potentials are computed, nodes that do not lead to the best cycle are turned towards it: so every round raises λ, or keeps the cycle
//! and raises a potential, and the rounds end. With λ = p/q all is multiplied by q: integers. Source: R. A. Howard, "Dynamic Programming
//! and Markov Processes", 1960; for cycle ratios, J. Cochet-Terrasson et al., "Numerical computation of spectral elements in max-plus
//! algebra", 1998.

use super::{Arc, Critical, Cyclic, Lists, NoRatio, Ratio, critical};

/// The maximum cycle ratio by policy iteration.
pub fn cycle_ratio(nodes: usize, arcs: &[Arc]) -> Result<Option<Critical>, NoRatio> {
    let cyclic = Cyclic::of(nodes, arcs)?;
    let mut h = Howard::new(nodes, arcs, &cyclic);
    let mut best: Option<Critical> = None;
    for part in &cyclic.parts {
        let found = critical(arcs, h.part(part));
        if best.as_ref().is_none_or(|b| found.ratio > b.ratio) {
            best = Some(found);
        }
    }
    Ok(best)
}

struct Howard<'a> {
    arcs: &'a [Arc],
    out: &'a Lists,
    into: Lists,
    /// The arc that each node has chosen.
    policy: Vec<usize>,
    /// q times the potential.
    value: Vec<i128>,
    /// Which walk has been here last.
    walk: Vec<usize>,
    walks: usize,
}

impl<'a> Howard<'a> {
    fn new(nodes: usize, arcs: &'a [Arc], cyclic: &'a Cyclic) -> Howard<'a> {
        let inner = cyclic.out.all.iter().map(|a| (arcs[*a].to, *a));
        let policy = (0..nodes).map(|n| {
            let better = |a: &usize, b: &usize| {
                let (a, b) = (arcs[*a], arcs[*b]);
                // more weight for less distance
                (a.weight, b.distance) > (b.weight, a.distance)
            };
            cyclic.out.of(n).iter().copied().reduce(|a, b| if better(&b, &a) { b } else { a }).unwrap_or(usize::MAX)
        });
        Howard {
            arcs,
            out: &cyclic.out,
            into: Lists::new(nodes, inner),
            policy: policy.collect(),
            value: vec![0; nodes],
            walk: vec![0; nodes],
            walks: 0,
        }
    }

    /// A critical cycle of a component.
    fn part(&mut self, part: &[usize]) -> Vec<usize> {
        loop {
            let cycle = self.best_cycle(part);
            let ratio = critical(self.arcs, cycle.clone()).ratio;
            self.evaluate(self.arcs[cycle[0]].from, ratio);
            if !self.improve(part, ratio) {
                return cycle;
            }
        }
    }

    /// The cycle of the policy with the greatest ratio.
    fn best_cycle(&mut self, part: &[usize]) -> Vec<usize> {
        let first = self.walks;
        let mut best: Option<(Ratio, usize)> = None;
        for start in part {
            self.walks += 1;
            let mut n = *start;
            while self.walk[n] <= first {
                self.walk[n] = self.walks;
                n = self.arcs[self.policy[n]].to;
            }
            // a walk that met itself has gone round a cycle that is new
            if self.walk[n] == self.walks {
                let (mut weight, mut distance, mut at) = (0, 0, n);
                loop {
                    let a = self.arcs[self.policy[at]];
                    (weight, distance, at) = (weight + a.weight, distance + a.distance, a.to);
                    if at == n {
                        break;
                    }
                }
                let ratio = Ratio::new(weight, distance);
                if best.is_none_or(|(b, _)| ratio > b) {
                    best = Some((ratio, n));
                }
            }
        }
        let start = best.map_or(part[0], |(_, n)| n);
        let mut cycle = vec![self.policy[start]];
        while self.arcs[cycle[cycle.len() - 1]].to != start {
            cycle.push(self.policy[self.arcs[cycle[cycle.len() - 1]].to]);
        }
        cycle
    }

    /// Potentials of all nodes of the component of `root`, a node of the best cycle; nodes whose choice does not lead there choose anew.
    fn evaluate(&mut self, root: usize, ratio: Ratio) {
        self.walks += 1;
        let mark = self.walks;
        self.walk[root] = mark;
        self.value[root] = 0;
        let mut reached = vec![root];
        // those that lead there already come first: their choice stays
        for only_chosen in [true, false] {
            let mut next = 0;
            while next < reached.len() {
                let to = reached[next];
                next += 1;
                for a in self.into.of(to) {
                    let from = self.arcs[*a].from;
                    if self.walk[from] == mark || only_chosen && self.policy[from] != *a {
                        continue;
                    }
                    self.walk[from] = mark;
                    self.policy[from] = *a;
                    self.value[from] = cost(&self.arcs[*a], ratio) + self.value[to];
                    reached.push(from);
                }
            }
        }
    }

    /// Better arcs by the potentials, if there are any.
    fn improve(&mut self, part: &[usize], ratio: Ratio) -> bool {
        let mut improved = false;
        for n in part {
            let mut most = self.value[*n];
            for a in self.out.of(*n) {
                let v = cost(&self.arcs[*a], ratio) + self.value[self.arcs[*a].to];
                if v > most {
                    most = v;
                    self.policy[*n] = *a;
                    improved = true;
                }
            }
        }
        improved
    }
}

/// q·w − p·d for λ = p/q.
fn cost(a: &Arc, ratio: Ratio) -> i128 {
    i128::from(ratio.distance) * i128::from(a.weight) - i128::from(ratio.weight) * i128::from(a.distance)
}
