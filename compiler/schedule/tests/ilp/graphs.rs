//! Task graphs to schedule.

pub use crate::dice::Dice;
use sluice_frontend::ids::ChannelId;
use sluice_schedule::problem::modulo::ModuloProblem;
use sluice_schedule::problem::task::{Edge, Task, TaskGraph};

pub fn task(name: &str, instances: u64, cost: u64, serial: bool) -> Task {
    Task { name: name.to_string(), nodes: Vec::new(), instances, firings: vec![1], cost, serial }
}

/// An edge whose rates balance; `beyond` items are peeked, `initial` are there.
pub fn edge(tasks: &[Task], [from, to]: [usize; 2], unit: u64, beyond: u64, initial: u64) -> Edge {
    let (ku, kv) = (tasks[from].instances, tasks[to].instances);
    let g = gcd(ku, kv);
    let (produce, consume) = (unit * kv / g, unit * ku / g);
    let channel = ChannelId::from(0);
    Edge { channel, from, to, produce, consume, peek: consume + beyond, initial: initial.max(beyond), item_bytes: 4 }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub fn graph(tasks: Vec<Task>, edges: Vec<Edge>) -> TaskGraph {
    TaskGraph { tasks, edges, batch: 1, ..TaskGraph::default() }
}

/// A pipeline of stateless tasks.
pub fn pipeline(costs: &[(u64, u64)]) -> TaskGraph {
    let tasks: Vec<Task> = costs.iter().enumerate().map(|(i, (k, d))| task(&format!("T{i}"), *k, *d, false)).collect();
    let edges = (1..tasks.len()).map(|i| edge(&tasks, [i - 1, i], 1, 0, 0)).collect();
    graph(tasks, edges)
}

/// A random graph: multirate, peeking, with state and feedback.
pub fn random(dice: &mut Dice, most_tasks: u64, most_instances: u64, most_cost: u64) -> TaskGraph {
    let count = 1 + dice.roll(most_tasks);
    let tasks: Vec<Task> = (0..count)
        .map(|i| {
            let instances = 1 + dice.roll(most_instances);
            task(&format!("T{i}"), instances, 1 + dice.roll(most_cost), dice.roll(6) == 0)
        })
        .collect();
    let mut edges = Vec::new();
    for to in 1..tasks.len() {
        let from = dice.roll(to as u64) as usize;
        let beyond = if dice.roll(4) == 0 { dice.roll(4) } else { 0 };
        let initial = if dice.roll(4) == 0 { dice.roll(9) } else { 0 };
        edges.push(edge(&tasks, [from, to], 1 + dice.roll(2), beyond, initial));
    }
    if tasks.len() > 1 && dice.roll(2) == 0 {
        // Feedback with a delay of one to three iterations, or less.
        let to = dice.roll(tasks.len() as u64 - 1) as usize;
        let from = to + 1 + dice.roll((tasks.len() - to - 1) as u64) as usize;
        let mut back = edge(&tasks, [from, to], 1, 0, 0);
        back.initial = (1 + dice.roll(3)) * back.produce * tasks[from].instances;
        back.initial -= dice.roll(back.produce + 1);
        edges.push(back);
    }
    graph(tasks, edges)
}

/// Problems of random graphs; those that cannot run are left out.
pub fn problems(seed: u64, graphs: usize, sizes: [u64; 3], most_processors: u64) -> Vec<ModuloProblem> {
    let mut dice = Dice::new(seed);
    let mut all = Vec::new();
    for _ in 0..graphs {
        let graph = random(&mut dice, sizes[0], sizes[1], sizes[2]);
        let processors = 1 + dice.roll(most_processors) as u32;
        all.extend(ModuloProblem::new(graph, processors));
    }
    all
}
