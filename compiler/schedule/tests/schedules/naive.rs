//! The slow and obvious way to do everything: one firing at a time, fractions by elimination. What the compiler's answers are compared to.

use sluice_frontend::graph::*;
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::SteadyState;
use sluice_schedule::sequential::{SequentialSchedule, Step};

/// Channels as queues that only count.
pub struct Queues<'g> {
    pub graph: &'g SdfGraph,
    pub fill: Vec<u64>,
    pub fired: Vec<u64>,
    pub highest: Vec<u64>,
}

impl<'g> Queues<'g> {
    pub fn new(graph: &'g SdfGraph) -> Queues<'g> {
        let fill: Vec<u64> = graph.channels.iter().map(|c| c.initial.len() as u64).collect();
        Queues { graph, highest: fill.clone(), fill, fired: vec![0; graph.nodes.len()] }
    }

    pub fn can_fire(&self, n: NodeId) -> bool {
        let at = self.fired[n.index()];
        let need = |c: &ChannelId| u64::from(self.graph.needed_by_firing(*c, at));
        self.graph.node(n).inputs.iter().all(|c| self.fill[c.index()] >= need(c))
    }

    pub fn fire(&mut self, n: NodeId) {
        let at = self.fired[n.index()];
        for c in &self.graph.node(n).inputs {
            self.fill[c.index()] -= u64::from(self.graph.consumed_by_firing(*c, at));
        }
        for c in &self.graph.node(n).outputs {
            self.fill[c.index()] += u64::from(self.graph.produced_by_firing(*c, at));
            self.highest[c.index()] = self.highest[c.index()].max(self.fill[c.index()]);
        }
        self.fired[n.index()] += 1;
    }

    /// Fires whatever can, until every node has fired so often; false where that is impossible.
    pub fn run(&mut self, quota: &[u64]) -> bool {
        loop {
            let mut moved = false;
            for n in self.graph.node_ids() {
                while self.fired[n.index()] < quota[n.index()] && self.can_fire(n) {
                    self.fire(n);
                    moved = true;
                }
            }
            if !moved {
                return self.fired.iter().zip(quota).all(|(f, q)| f >= q);
            }
        }
    }
}

/// Beyond so many firings a demand is taken to grow for ever. (The graphs are small.)
const MANY: u64 = 500;

/// init(v), one firing more at a time; `None` where it grows for ever or items can never come.
pub fn init(g: &SdfGraph, r: &[u64]) -> Option<Vec<u64>> {
    let first = |n: NodeId| matches!(g.node(n).kind, NodeKind::Filter { prework: Some(_), .. });
    let mut x: Vec<u64> = g.node_ids().map(|n| u64::from(first(n) && r[n.index()] > 0)).collect();
    loop {
        let mut moved = false;
        for id in g.channel_ids() {
            let c = g.channel(id);
            let (u, v) = (c.from.0.index(), c.to.0.index());
            let made: u64 = (0..x[u]).map(|i| u64::from(g.produced_by_firing(id, i))).sum();
            let have = c.initial.len() as u64 + made;
            // every firing, and the one after them if there is one
            let mut before = 0;
            let mut want = 0;
            for i in 0..x[v] {
                want = want.max(before + u64::from(g.needed_by_firing(id, i)));
                before += u64::from(g.consumed_by_firing(id, i));
            }
            want = want.max(before);
            if r[v] > 0 {
                want = want.max(before + u64::from(c.peek - c.consume));
            }
            if have < want {
                if x[u] > MANY || x[u] > 0 && c.produce == 0 {
                    return None;
                }
                x[u] += 1;
                moved = true;
            }
        }
        if !moved {
            return Some(x);
        }
    }
}

/// Whether a graph with these repetitions can start and go on: its initialisation, and some steady states after it.
pub fn start(g: &SdfGraph, r: &[u64]) -> Option<Vec<u64>> {
    let x = init(g, r)?;
    let mut queues = Queues::new(g);
    let mut quota = x.clone();
    if !queues.run(&quota) {
        return None;
    }
    for _ in 0..3 {
        quota.iter_mut().zip(r).for_each(|(q, r)| *q += r);
        if !queues.run(&quota) {
            return None;
        }
    }
    Some(x)
}

/// Firings of a schedule's part, in order; `None` where there are too many to look at.
pub fn unfold(steps: &[Step], out: &mut Vec<NodeId>) -> Option<()> {
    for s in steps {
        match s {
            Step::Fire { node, times } => {
                for _ in 0..*times {
                    out.push(*node);
                    if out.len() > 200_000 {
                        return None;
                    }
                }
            }
            Step::Loop { times, body } => {
                for _ in 0..*times {
                    unfold(body, out)?;
                }
            }
        }
    }
    Some(())
}

fn well_formed(steps: &[Step], nodes: usize) -> bool {
    steps.iter().all(|s| match s {
        Step::Fire { node, times } => *times > 0 && node.index() < nodes,
        Step::Loop { times, body } => *times > 0 && !body.is_empty() && well_formed(body, nodes),
    })
}

/// Is a schedule right? Gives the highest fills; the outer `None` where it is too long to say.
#[allow(clippy::option_option)]
pub fn judge(g: &SdfGraph, steady: &SteadyState, s: &SequentialSchedule) -> Option<Option<Vec<u64>>> {
    if !well_formed(&s.init, g.nodes.len()) || !well_formed(&s.steady, g.nodes.len()) {
        return Some(None);
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    unfold(&s.init, &mut first)?;
    unfold(&s.steady, &mut second)?;
    let mut queues = Queues::new(g);
    let mut run = |firings: &[NodeId]| {
        for n in firings {
            if !queues.can_fire(*n) {
                return None;
            }
            queues.fire(*n);
        }
        Some((queues.fired.clone(), queues.fill.clone(), queues.highest.clone()))
    };
    let Some((fired, fill, _)) = run(&first) else { return Some(None) };
    if fired != steady.init || fill != steady.boundary_fill {
        return Some(None);
    }
    let Some((again, after, highest)) = run(&second) else { return Some(None) };
    let right = (0..g.nodes.len()).all(|v| again[v] - fired[v] == steady.repetitions[v] * s.batch);
    Some((right && after == fill).then_some(highest))
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fraction(i128, i128);

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

impl Fraction {
    fn new(a: i128, b: i128) -> Fraction {
        let g = gcd(a, b).max(1) * if b < 0 { -1 } else { 1 };
        Fraction(a / g, b / g)
    }

    fn minus_times(self, a: Fraction, b: Fraction) -> Fraction {
        let (n, d) = (a.0 * b.0, a.1 * b.1);
        Fraction::new(self.0 * d - n * self.1, self.1 * d)
    }
}

/// The sum of a basis of the nullspace of the topology matrix (a row for each channel: push at its producer, -pop at its consumer),
/// each vector scaled to the smallest integers: by elimination over the rationals.
pub fn repetitions(g: &SdfGraph) -> Vec<u64> {
    let n = g.nodes.len();
    let mut rows: Vec<Vec<Fraction>> = g
        .channels
        .iter()
        .map(|c| {
            let mut row = vec![Fraction(0, 1); n];
            for (v, x) in [(c.from.0, i128::from(c.produce)), (c.to.0, -i128::from(c.consume))] {
                row[v.index()] = Fraction::new(row[v.index()].0 + x, 1);
            }
            row
        })
        .collect();
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    let mut next = 0;
    for col in 0..n {
        let Some(found) = (next..rows.len()).find(|r| rows[*r][col].0 != 0) else { continue };
        rows.swap(next, found);
        let pivot = rows[next].clone();
        for (r, row) in rows.iter_mut().enumerate() {
            if r == next {
                row.iter_mut().for_each(|x| *x = Fraction::new(x.0 * pivot[col].1, x.1 * pivot[col].0));
            } else {
                let factor = Fraction::new(row[col].0 * pivot[col].1, row[col].1 * pivot[col].0);
                row.iter_mut().zip(&pivot).for_each(|(x, p)| *x = x.minus_times(factor, *p));
            }
        }
        pivots.push((next, col));
        next += 1;
    }
    let mut sum = vec![0u64; n];
    for free in (0..n).filter(|c| pivots.iter().all(|(_, p)| p != c)) {
        let mut v = vec![Fraction(0, 1); n];
        v[free] = Fraction(1, 1);
        for (r, col) in &pivots {
            v[*col] = Fraction::new(-rows[*r][free].0, rows[*r][free].1);
        }
        let lcm = v.iter().fold(1, |l, x| l / gcd(l, x.1) * x.1);
        let whole: Vec<i128> = v.iter().map(|x| x.0 * (lcm / x.1)).collect();
        let all = whole.iter().fold(0, |g, x| gcd(g, *x)).max(1);
        for (s, x) in sum.iter_mut().zip(whole) {
            *s += u64::try_from(x / all).expect("rates are not negative");
        }
    }
    sum
}

/// Nodes that cannot fire in a steady state because of a rate of 0, by rounds over all channels.
pub fn cut_off(g: &SdfGraph) -> Vec<bool> {
    let mut zero = vec![false; g.nodes.len()];
    for _ in 0..=g.nodes.len() {
        for c in &g.channels {
            let (u, v) = (c.from.0.index(), c.to.0.index());
            let (makes, takes) = (c.produce > 0 && !zero[u], c.consume > 0 && !zero[v]);
            zero[u] |= makes && !takes;
            zero[v] |= takes && !makes;
        }
    }
    zero
}

/// The order of docs/execution.md, word by word, for sources that never end: the firings of an epoch.
pub fn reference_order(queues: &mut Queues, quota: &[u64]) -> Option<Vec<NodeId>> {
    let g = queues.graph;
    let source = |n: NodeId| g.node(n).inputs.is_empty();
    let mut fed = vec![false; g.nodes.len()];
    let readers = g.nodes.iter().any(|n| matches!(n.kind, NodeKind::Reader(_)));
    for _ in 0..=g.nodes.len() {
        for n in g.node_ids() {
            let by = |c: &ChannelId| fed[g.channel(*c).from.0.index()];
            let now = matches!(g.node(n).kind, NodeKind::Reader(_)) || g.node(n).inputs.iter().any(by);
            fed[n.index()] |= now;
        }
    }
    let mut out = Vec::new();
    loop {
        let below = |q: &Queues, n: NodeId| q.fired[n.index()] < quota[n.index()];
        let push = g.node_ids().rev().find(|n| !source(*n) && below(queues, *n) && queues.can_fire(*n));
        if let Some(n) = push {
            queues.fire(n);
            out.push(n);
            continue;
        }
        let mut roots: Vec<NodeId> = g.node_ids().filter(|n| below(queues, *n)).collect();
        let free = |n: NodeId| readers && !fed[n.index()];
        roots.sort_by_key(|n| (free(*n), !g.node(*n).outputs.is_empty(), *n));
        let wanted = roots.iter().find_map(|root| {
            let (mut n, mut seen) = (*root, Vec::new());
            loop {
                if seen.contains(&n) {
                    return None;
                }
                seen.push(n);
                if source(n) {
                    return below(queues, n).then_some(n);
                }
                let at = queues.fired[n.index()];
                let lacks = |c: &&ChannelId| queues.fill[c.index()] < u64::from(g.needed_by_firing(**c, at));
                n = g.channel(*g.node(n).inputs.iter().find(lacks)?).from.0;
            }
        });
        match wanted {
            Some(n) => {
                queues.fire(n);
                out.push(n);
            }
            None => return roots.is_empty().then_some(out),
        }
    }
}
