//! # flow
//!
//! Purpose: the best closed set of a graph: choose nodes, each with a profit or a cost, where some need others. Input: nodes' values,
//! needs. Output: the set with the greatest sum. Method: a minimum cut (J. Picard, "Maximal closure of a graph and applications to
//! combinatorial problems", Management Science 22, 1976), found by push and relabel with exact heights from time to time (B. Cherkassky, A.
//! Goldberg, "On implementing the push-relabel method for the maximum flow problem", Algorithmica 19, 1997).

use std::collections::VecDeque;

/// More than any profit: [`Closure::value`] clamps to 2^48, and there are fewer than 2^12 times as many.
const ENDLESS: i64 = 1 << 60;

/// Nodes with values, and which needs which.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    value: Vec<i64>,
    needs: Vec<(u32, u32)>,
}

impl Closure {
    /// So many nodes of value 0.
    pub fn new(nodes: usize) -> Closure {
        Closure { value: vec![0; nodes], needs: Vec::new() }
    }

    /// One more node; its number.
    pub fn node(&mut self, value: i64) -> u32 {
        self.value.push(value.clamp(-(1 << 48), 1 << 48));
        self.value.len() as u32 - 1
    }

    /// A node that must not be chosen.
    pub fn forbid(&mut self, node: u32) {
        self.value[node as usize] = -ENDLESS;
    }

    /// Who chooses `node` has to choose `needed`.
    pub fn need(&mut self, node: u32, needed: u32) {
        self.needs.push((node, needed));
    }

    /// The closed set of the greatest value, one of several; `None` where nothing is better than nothing.
    pub fn best(&self) -> Option<Vec<bool>> {
        let n = self.value.len();
        let mut net = Network::new(n + 2);
        let (source, sink) = (n as u32, n as u32 + 1);
        let mut profit = 0;
        for (i, v) in self.value.iter().enumerate() {
            match v {
                1.. => {
                    net.arc(source, i as u32, *v);
                    profit += v;
                }
                0 => {}
                _ => net.arc(i as u32, sink, -v),
            }
        }
        self.needs.iter().for_each(|(a, b)| net.arc(*a, *b, ENDLESS));
        net.prepare();
        let cut = net.push_all(source, sink);
        // Where nothing is worth it, the cut takes all profits away. What no longer reaches the sink is on the source's side.
        (cut < profit).then(|| net.height[..n].iter().map(|h| *h as usize >= n + 2).collect())
    }
}

/// A flow network: arcs in pairs, the second one backwards.
struct Network {
    ends: Vec<(u32, u32)>,
    room: Vec<i64>,
    first: Vec<u32>,
    out: Vec<u32>,
    /// How far it is to the sink at least; the number of nodes where there is no way.
    height: Vec<u32>,
    excess: Vec<i64>,
    /// By height, how many nodes have it.
    count: Vec<u32>,
}

impl Network {
    fn new(nodes: usize) -> Network {
        Network {
            ends: Vec::new(),
            room: Vec::new(),
            first: vec![0; nodes + 1],
            out: Vec::new(),
            height: vec![0; nodes],
            excess: vec![0; nodes],
            count: vec![0; nodes + 1],
        }
    }

    fn arc(&mut self, from: u32, to: u32, room: i64) {
        self.ends.extend([(from, to), (to, from)]);
        self.room.extend([room, 0]);
    }

    fn prepare(&mut self) {
        self.ends.iter().for_each(|(from, _)| self.first[*from as usize + 1] += 1);
        (1..self.first.len()).for_each(|i| self.first[i] += self.first[i - 1]);
        let mut at = self.first.clone();
        self.out = vec![0; self.ends.len()];
        for (i, (from, _)) in self.ends.iter().enumerate() {
            self.out[at[*from as usize] as usize] = i as u32;
            at[*from as usize] += 1;
        }
    }

    fn arcs(&self, node: u32) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// The greatest flow into the sink; afterwards heights tell who can still reach it.
    fn push_all(&mut self, source: u32, sink: u32) -> i64 {
        let n = self.height.len() as u32;
        for a in self.arcs(source).map(|at| self.out[at] as usize) {
            let room = std::mem::take(&mut self.room[a]);
            self.room[a ^ 1] += room;
            self.excess[self.ends[a].1 as usize] += room;
        }
        let mut active = self.measure(source, sink);
        let (mut at, mut relabels) = (self.first.clone(), 0);
        while let Some(u) = active.pop_front() {
            while self.excess[u as usize] > 0 && self.height[u as usize] < n {
                let end = self.first[u as usize + 1];
                if at[u as usize] == end {
                    self.relabel(u);
                    at[u as usize] = self.first[u as usize];
                    relabels += 1;
                    continue;
                }
                let a = self.out[at[u as usize] as usize] as usize;
                let v = self.ends[a].1;
                if self.room[a] == 0 || self.height[u as usize] != self.height[v as usize] + 1 {
                    at[u as usize] += 1;
                    continue;
                }
                let moved = self.room[a].min(self.excess[u as usize]);
                self.room[a] -= moved;
                self.room[a ^ 1] += moved;
                self.excess[u as usize] -= moved;
                if self.excess[v as usize] == 0 && v != sink && v != source {
                    active.push_back(v);
                }
                self.excess[v as usize] += moved;
            }
            if relabels > n {
                relabels = 0;
                active = self.measure(source, sink);
                at.clone_from(&self.first);
            }
        }
        self.measure(source, sink);
        self.excess[sink as usize]
    }

    /// A node that can push nowhere is higher than thought; nobody is above a height that no node has.
    fn relabel(&mut self, u: u32) {
        let n = self.height.len() as u32;
        let open = self.arcs(u).map(|at| self.out[at] as usize).filter(|a| self.room[*a] > 0);
        let least = open.map(|a| self.height[self.ends[a].1 as usize] + 1).min().unwrap_or(n).min(n);
        let old = std::mem::replace(&mut self.height[u as usize], least);
        self.count[old as usize] -= 1;
        self.count[least as usize] += 1;
        if self.count[old as usize] == 0 && old < n {
            for h in self.height.iter_mut().filter(|h| (old + 1..n).contains(h)) {
                self.count[*h as usize] -= 1;
                self.count[n as usize] += 1;
                *h = n;
            }
        }
    }

    /// Exact heights; those with something to push.
    fn measure(&mut self, source: u32, sink: u32) -> VecDeque<u32> {
        let n = self.height.len() as u32;
        self.height.fill(n);
        self.height[sink as usize] = 0;
        let mut todo = VecDeque::from([sink]);
        while let Some(v) = todo.pop_front() {
            for at in self.arcs(v) {
                let a = self.out[at] as usize;
                let u = self.ends[a].1;
                if self.room[a ^ 1] > 0 && self.height[u as usize] == n && u != source {
                    self.height[u as usize] = self.height[v as usize] + 1;
                    todo.push_back(u);
                }
            }
        }
        self.count.fill(0);
        self.height.iter().for_each(|h| self.count[*h as usize] += 1);
        let pushes = |u: &u32| self.excess[*u as usize] > 0 && self.height[*u as usize] < n && *u != sink;
        (0..n).filter(pushes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against all subsets.
    #[test]
    fn the_best_of_all_sets() {
        let mut seed = 5u64;
        let mut roll = |sides: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % sides
        };
        for _ in 0..3000 {
            let n = 1 + roll(8) as usize;
            let mut c = Closure::new(0);
            for _ in 0..n {
                let v = c.node(roll(21) as i64 - 10);
                if roll(9) == 0 {
                    c.forbid(v);
                }
            }
            for _ in 0..roll(12) {
                c.need(roll(n as u64) as u32, roll(n as u64) as u32);
            }
            let closed = |set: u32| c.needs.iter().all(|(a, b)| set >> a & 1 == 0 || set >> b & 1 == 1);
            let worth = |set: u32| (0..n).filter(|i| set >> i & 1 == 1).map(|i| c.value[i]).sum::<i64>();
            let want = (0..1u32 << n).filter(|s| closed(*s)).map(worth).max().unwrap();
            let found = c.best().map(|f| (0..n).filter(|i| f[*i]).map(|i| 1 << i).sum::<u32>());
            assert_eq!(found.map_or(0, worth), want);
            assert!(found.is_none_or(closed));
        }
    }
}
