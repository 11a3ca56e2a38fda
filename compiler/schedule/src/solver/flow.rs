//! # flow
//!
//! Purpose: the best closed set of a graph: choose nodes, each with a profit or a cost, where some need others. Input: nodes' values,
//! needs. Output: the set with the greatest sum. Method: a minimum cut (J. Picard, "Maximal closure of a graph and applications to
//! combinatorial problems", Management Science 22, 1976), found with Dinic's algorithm; nothing recurses.

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

    /// The closed set of the greatest value, the smallest of several; `None` where nothing is better than nothing.
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
        // Where nothing is worth it, the cut takes all profits away.
        (cut < profit).then(|| net.level[..n].iter().map(|l| *l != u32::MAX).collect())
    }
}

/// A flow network: arcs in pairs, the second one backwards.
struct Network {
    ends: Vec<(u32, u32)>,
    room: Vec<i64>,
    first: Vec<u32>,
    out: Vec<u32>,
    level: Vec<u32>,
}

impl Network {
    fn new(nodes: usize) -> Network {
        Network {
            ends: Vec::new(),
            room: Vec::new(),
            first: vec![0; nodes + 1],
            out: Vec::new(),
            level: vec![u32::MAX; nodes],
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

    /// The greatest flow; afterwards `level` tells what can be reached from the source.
    fn push_all(&mut self, source: u32, sink: u32) -> i64 {
        let mut total = 0;
        loop {
            self.levels(source);
            if self.level[sink as usize] == u32::MAX {
                return total;
            }
            total += self.blocking(source, sink);
        }
    }

    fn levels(&mut self, source: u32) {
        self.level.fill(u32::MAX);
        self.level[source as usize] = 0;
        let mut todo = VecDeque::from([source]);
        while let Some(u) = todo.pop_front() {
            for a in &self.out[self.first[u as usize] as usize..self.first[u as usize + 1] as usize] {
                let v = self.ends[*a as usize].1 as usize;
                if self.room[*a as usize] > 0 && self.level[v] == u32::MAX {
                    self.level[v] = self.level[u as usize] + 1;
                    todo.push_back(v as u32);
                }
            }
        }
    }

    /// Paths along the levels until there are no more.
    fn blocking(&mut self, source: u32, sink: u32) -> i64 {
        let mut at = self.first.clone();
        let (mut path, mut total, mut u) = (Vec::<u32>::new(), 0, source);
        loop {
            if u == sink {
                let least = path.iter().map(|a| self.room[*a as usize]).min().unwrap_or(0);
                total += least;
                // Back to before the first arc that is full now.
                let mut keep = path.len();
                for (i, a) in path.iter().enumerate().rev() {
                    self.room[*a as usize] -= least;
                    self.room[(*a ^ 1) as usize] += least;
                    if self.room[*a as usize] == 0 {
                        keep = i;
                    }
                }
                u = path.get(keep).map_or(sink, |a| self.ends[*a as usize].0);
                path.truncate(keep);
                continue;
            }
            let end = self.first[u as usize + 1];
            let mut next = None;
            while at[u as usize] < end {
                let a = self.out[at[u as usize] as usize];
                let v = self.ends[a as usize].1;
                if self.room[a as usize] > 0 && self.level[v as usize] == self.level[u as usize] + 1 {
                    next = Some((a, v));
                    break;
                }
                at[u as usize] += 1;
            }
            match (next, path.pop()) {
                (Some((a, v)), last) => {
                    path.extend(last);
                    path.push(a);
                    u = v;
                }
                (None, Some(a)) => {
                    u = self.ends[a as usize].0;
                    at[u as usize] += 1;
                }
                (None, None) => return total,
            }
        }
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
