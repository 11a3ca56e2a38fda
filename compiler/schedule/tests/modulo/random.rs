//! Random task graphs that balance by construction.

pub use crate::dice::Dice;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_schedule::problem::modulo::{ModuloProblem, Unfit};
use sluice_schedule::problem::task::{Edge, Order, Task, TaskGraph};

pub fn task(name: &str, instances: u64, cost: u64, serial: bool) -> Task {
    Task { name: name.into(), nodes: vec![NodeId(0)], instances, firings: vec![1], cost, serial }
}

/// An edge without peeking.
pub fn edge(from: usize, to: usize, produce: u64, consume: u64, initial: u64) -> Edge {
    let channel = ChannelId(0);
    Edge { channel, from, to, produce, consume, peek: consume, initial, item_bytes: 4 }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A small graph with everything: rates, peeks, state, loops with delays short and long, orders of messages.
pub fn small(seed: u64) -> TaskGraph {
    let mut d = Dice::new(seed);
    let n = 1 + d.roll(6) as usize;
    let mut g = TaskGraph { batch: 1, ..TaskGraph::default() };
    for v in 0..n {
        let instances = 1 + d.roll(4) * d.roll(3) / 2;
        g.tasks.push(task(&format!("t{v}"), instances, 1 + d.roll(9), d.roll(6) == 0));
    }
    for v in 1..n {
        if d.roll(8) > 0 {
            let u = d.roll(v as u64) as usize;
            join(&mut g, &mut d, u, v);
        }
    }
    for _ in 0..d.roll(4) {
        let (a, b) = (d.roll(n as u64) as usize, d.roll(n as u64) as usize);
        join(&mut g, &mut d, a, b);
    }
    for _ in 0..d.roll(2) * d.roll(3) {
        let end = |d: &mut Dice| {
            let v = d.roll(n as u64) as usize;
            (v, d.roll(g.tasks[v].instances))
        };
        let (before, after) = (end(&mut d), end(&mut d));
        g.orders.push(Order { before, after, distance: d.roll(3) });
    }
    g
}

fn join(g: &mut TaskGraph, d: &mut Dice, a: usize, b: usize) {
    let (ka, kb) = (g.tasks[a].instances, g.tasks[b].instances);
    let (common, by) = (gcd(ka, kb), 1 + d.roll(2) * d.roll(3));
    let (produce, consume) = (kb / common * by, ka / common * by);
    let beyond = if d.roll(3) == 0 { d.roll(3 * consume + 2) } else { 0 };
    let mut initial = beyond + d.roll(2) * d.roll(4);
    if a >= b {
        // Often a whole iteration or two of delay, often less, which may deadlock.
        initial += d.roll(3 * kb * consume + 1);
    }
    let peek = consume + beyond;
    g.edges.push(Edge {
        channel: ChannelId(0),
        from: a,
        to: b,
        produce,
        consume,
        peek,
        initial,
        item_bytes: 1 + d.roll(8),
    });
}

/// Its problem on a few processors; `None` where it cannot run in this granularity.
pub fn problem(seed: u64) -> Option<ModuloProblem> {
    match ModuloProblem::new(small(seed), 1 + (seed % 4) as u32) {
        Ok(p) => Some(p),
        Err(Unfit::Deadlock(_)) => None,
        Err(e) => panic!("seed {seed}: {e:?}"),
    }
}

/// A graph like a program's: a pipeline with splitjoins, so many tasks, instances that add up to about `instances`.
pub fn typical(seed: u64, tasks: usize, instances: u64) -> TaskGraph {
    let mut d = Dice::new(seed);
    let mut g = TaskGraph { batch: 1, ..TaskGraph::default() };
    let each = (instances / tasks as u64).max(1);
    let mut open: Vec<usize> = Vec::new();
    while g.tasks.len() < tasks {
        let v = g.tasks.len();
        // Cheap splitters, filters of many sizes; what is dear has more instances.
        let weight = 1 + d.roll(4) * d.roll(3);
        let k = (each * (1 + weight) / 5).max(1).next_power_of_two().min(4 * each.next_power_of_two());
        let serial = d.roll(40) == 0;
        let k = if serial { 1 } else { k };
        g.tasks.push(task(&format!("t{v}"), k, 40 + weight * 30 + d.roll(400), serial));
        let wide = open.len() > 1;
        let inputs: Vec<usize> = match d.roll(6) {
            // A joiner of all branches, a splitter's next branch, or one more filter in a pipeline.
            0 if wide => std::mem::take(&mut open),
            1 | 2 if v > 0 && open.len() < 9 => {
                let from = open.last().copied().unwrap_or(0);
                rate(&mut g, &mut d, from, v);
                open.push(v);
                continue;
            }
            _ if open.is_empty() => Vec::new(),
            _ => {
                let at = d.roll(open.len() as u64) as usize;
                vec![open.swap_remove(at)]
            }
        };
        for u in inputs {
            rate(&mut g, &mut d, u, v);
        }
        open.push(v);
    }
    g
}

fn rate(g: &mut TaskGraph, d: &mut Dice, a: usize, b: usize) {
    let (ka, kb) = (g.tasks[a].instances, g.tasks[b].instances);
    let common = gcd(ka, kb);
    let (produce, consume) = (kb / common * 64, ka / common * 64);
    let beyond = if d.roll(5) == 0 { d.roll(64) } else { 0 };
    let (channel, peek) = (ChannelId(0), consume + beyond);
    g.edges.push(Edge { channel, from: a, to: b, produce, consume, peek, initial: beyond, item_bytes: 4 });
}
