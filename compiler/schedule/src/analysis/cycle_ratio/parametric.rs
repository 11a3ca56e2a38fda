//! Parametric longest paths for the maximum cycle ratio.
//!
//! Arcs have the length w − λ·d. For a λ beyond all ratios there is a tree of longest paths from a root that leads to every node: paths
//! without distance. λ falls; at each step the arc comes next for which the way over it becomes as long as the way in the tree, and
//! takes its place there. The first that would close a cycle closes a critical one, and λ is its ratio: below, paths could
//! be as long as one likes. A node's path is kept as its (w, d), so all is exact. With each step the distance of a path grows:
//! the steps end. Source: R. M. Karp, J. B. Orlin, "Parametric shortest path algorithms with an application to cyclic staffing", 1981;
//! N. E. Young, R. E. Tarjan, J. B. Orlin, "Faster parametric shortest path and minimum-balance algorithms", Networks 21, 1991.

use super::{Arc, Critical, Cyclic, Lists, NoRatio, critical};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The maximum cycle ratio by parametric paths.
pub fn cycle_ratio(nodes: usize, arcs: &[Arc]) -> Result<Option<Critical>, NoRatio> {
    let cyclic = Cyclic::of(nodes, arcs)?;
    if cyclic.parts.is_empty() {
        return Ok(None);
    }
    Ok(Tree::new(nodes, arcs, &cyclic.out).run().map(|cycle| critical(arcs, cycle)))
}

const NONE: usize = usize::MAX;

/// When an arc takes its place in the tree: at λ = weight / distance. The greatest comes first.
struct Event {
    weight: i128,
    distance: i128,
    arc: usize,
    /// Of the arc; old events are passed over.
    version: u32,
}

impl Ord for Event {
    fn cmp(&self, other: &Event) -> Ordering {
        (self.weight * other.distance).cmp(&(other.weight * self.distance)).then(other.arc.cmp(&self.arc))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

struct Tree<'a> {
    arcs: &'a [Arc],
    out: &'a Lists,
    into: Lists,
    /// The arc that leads to a node in the tree; none from the root.
    parent: Vec<usize>,
    /// The children of a node: its first, and the neighbours of each.
    child: Vec<usize>,
    next: Vec<usize>,
    previous: Vec<usize>,
    /// Weight and distance of the path to a node.
    path: Vec<(i128, i128)>,
    version: Vec<u32>,
    events: BinaryHeap<Event>,
    /// The step that has moved a node last.
    moved: Vec<usize>,
}

impl<'a> Tree<'a> {
    fn new(nodes: usize, arcs: &'a [Arc], out: &'a Lists) -> Tree<'a> {
        let inner = out.all.iter().map(|a| (arcs[*a].to, *a));
        let mut t = Tree {
            arcs,
            out,
            into: Lists::new(nodes, inner),
            parent: vec![NONE; nodes],
            child: vec![NONE; nodes],
            next: vec![NONE; nodes],
            previous: vec![NONE; nodes],
            path: vec![(0, 0); nodes],
            version: vec![0; arcs.len()],
            events: BinaryHeap::new(),
            moved: vec![0; nodes],
        };
        t.longest_without_distance();
        t.all_events();
        t
    }

    /// The tree for a λ beyond all: arcs without distance make no cycle.
    fn longest_without_distance(&mut self) {
        let nodes = self.parent.len();
        let free = |a: &&usize| self.arcs[**a].distance == 0;
        let mut waits: Vec<usize> = (0..nodes).map(|n| self.into.of(n).iter().filter(free).count()).collect();
        let mut ready: Vec<usize> = (0..nodes).filter(|n| waits[*n] == 0).collect();
        let mut parent = vec![NONE; nodes];
        while let Some(n) = ready.pop() {
            for a in self.out.of(n).iter().filter(free) {
                let arc = self.arcs[*a];
                let weight = self.path[n].0 + i128::from(arc.weight);
                if weight > self.path[arc.to].0 {
                    self.path[arc.to].0 = weight;
                    parent[arc.to] = *a;
                }
                waits[arc.to] -= 1;
                if waits[arc.to] == 0 {
                    ready.push(arc.to);
                }
            }
        }
        for (n, a) in parent.into_iter().enumerate().filter(|(_, a)| *a != NONE) {
            self.hang(n, a);
        }
    }

    /// Lowers λ until a cycle closes.
    fn run(mut self) -> Option<Vec<usize>> {
        let mut step = 0;
        let mut subtree = Vec::new();
        while let Some(e) = self.events.pop() {
            if e.version != self.version[e.arc] {
                continue;
            }
            let Arc { from, to, .. } = self.arcs[e.arc];
            step += 1;
            self.subtree(to, step, &mut subtree);
            if self.moved[from] == step {
                return Some(self.closed(e.arc));
            }
            let (weight, distance) = self.over(e.arc);
            let gain = (weight - self.path[to].0, distance - self.path[to].1);
            self.unhang(to);
            self.hang(to, e.arc);
            for n in &subtree {
                self.path[*n].0 += gain.0;
                self.path[*n].1 += gain.1;
            }
            for n in &subtree {
                let (into, out) = (self.into.of(*n), self.out.of(*n));
                for a in into.iter().filter(|a| self.moved[self.arcs[**a].from] != step) {
                    self.version[*a] += 1;
                    self.events.extend(event(self.arcs, &self.path, *a, self.version[*a]));
                }
                for a in out.iter().filter(|a| self.moved[self.arcs[**a].to] != step) {
                    self.version[*a] += 1;
                    self.events.extend(event(self.arcs, &self.path, *a, self.version[*a]));
                }
            }
            if self.events.len() > 4 * self.out.all.len() + 64 {
                self.all_events();
            }
        }
        None
    }

    /// All events that are to come, and no old ones.
    fn all_events(&mut self) {
        let all = self.out.all.iter();
        self.events = all.filter_map(|a| event(self.arcs, &self.path, *a, self.version[*a])).collect();
    }

    /// Weight and distance of the way over an arc.
    fn over(&self, a: usize) -> (i128, i128) {
        over(self.arcs, &self.path, a)
    }

    /// Marks and collects the nodes below a node, itself included.
    fn subtree(&mut self, root: usize, step: usize, into: &mut Vec<usize>) {
        into.clear();
        into.push(root);
        self.moved[root] = step;
        let mut i = 0;
        while i < into.len() {
            let mut c = self.child[into[i]];
            while c != NONE {
                self.moved[c] = step;
                into.push(c);
                c = self.next[c];
            }
            i += 1;
        }
    }

    fn hang(&mut self, n: usize, arc: usize) {
        let p = self.arcs[arc].from;
        self.parent[n] = arc;
        (self.previous[n], self.next[n]) = (NONE, self.child[p]);
        if self.child[p] != NONE {
            self.previous[self.child[p]] = n;
        }
        self.child[p] = n;
    }

    fn unhang(&mut self, n: usize) {
        if self.parent[n] == NONE {
            return;
        }
        let p = self.arcs[self.parent[n]].from;
        let (before, after) = (self.previous[n], self.next[n]);
        if before == NONE {
            self.child[p] = after;
        } else {
            self.next[before] = after;
        }
        if after != NONE {
            self.previous[after] = before;
        }
    }

    /// The cycle that an arc closes with the path of the tree from its end to its start.
    fn closed(&self, arc: usize) -> Vec<usize> {
        let mut cycle = vec![arc];
        let mut n = self.arcs[arc].from;
        while n != self.arcs[arc].to {
            cycle.push(self.parent[n]);
            n = self.arcs[self.parent[n]].from;
        }
        cycle.reverse();
        cycle
    }
}

fn over(arcs: &[Arc], path: &[(i128, i128)], a: usize) -> (i128, i128) {
    let arc = arcs[a];
    let (weight, distance) = path[arc.from];
    (weight + i128::from(arc.weight), distance + i128::from(arc.distance))
}

/// When an arc's way becomes as long as the one in the tree, if that is to come.
fn event(arcs: &[Arc], path: &[(i128, i128)], a: usize, version: u32) -> Option<Event> {
    let (weight, distance) = over(arcs, path, a);
    let (w, d) = path[arcs[a].to];
    (distance > d).then_some(Event { weight: weight - w, distance: distance - d, arc: a, version })
}
