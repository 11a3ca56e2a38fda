//! The problem and its solutions: which processor runs each instance, when within the kernel, and in which stage.
//!
//! Instance k of task v in iteration j starts at σ = II·(j + stage) + start (paper 001, equation (3)). On one processor an item can
//! be read as soon as its producer has ended; on another one only from the next kernel on.

use super::dependences::{Dependence, dependences};
use super::task::TaskGraph;

/// Instances beyond which no problem is made.
pub const MOST_INSTANCES: u64 = 200_000;
/// Dependences beyond which no problem is made.
pub const MOST_DEPENDENCES: u64 = 4_000_000;
/// The longest work of one iteration, in cycles, so that sums of times stay far from overflow.
pub const LONGEST: u64 = 1 << 50;

/// Why there is no problem to solve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// More than [`MOST_INSTANCES`].
    Instances(u64),
    /// More than [`MOST_DEPENDENCES`].
    Dependences(u64),
    /// An iteration longer than [`LONGEST`].
    Work,
    /// No processors, or no tasks.
    Empty,
    /// Cycles of instances that wait for each other, by index: such loops cannot run in this granularity. One at least, and none in two of them.
    Deadlock(Vec<Vec<usize>>),
    /// The tasks' rates do not balance, or a number in the graph has no meaning; by edge.
    Unbalanced(usize),
    /// A message that would have to wait for a later iteration.
    Messages,
}

/// A problem: instances, dependences, processors.
#[derive(Clone, Debug)]
pub struct ModuloProblem {
    graph: TaskGraph,
    processors: u32,
    /// By task, the index of its first instance; and at the end their number.
    first: Vec<usize>,
    /// By instance, its task.
    task: Vec<u32>,
    dependences: Vec<Dependence>,
    /// Instances such that each comes after those that it waits for in the same iteration.
    topological: Vec<usize>,
}

impl ModuloProblem {
    /// The problem of running a task graph on so many equal processors.
    pub fn new(graph: TaskGraph, processors: u32) -> Result<ModuloProblem, Unfit> {
        if processors == 0 || graph.tasks.is_empty() {
            return Err(Unfit::Empty);
        }
        let instances = graph.instances();
        if instances > MOST_INSTANCES {
            return Err(Unfit::Instances(instances));
        }
        if graph.work() > LONGEST || graph.tasks.iter().any(|t| t.cost == 0 || t.instances == 0) {
            return Err(Unfit::Work);
        }
        let (mut first, mut task) = (Vec::with_capacity(graph.tasks.len() + 1), Vec::new());
        for (i, t) in graph.tasks.iter().enumerate() {
            first.push(task.len());
            task.extend(std::iter::repeat_n(i as u32, t.instances as usize));
        }
        first.push(task.len());
        let dependences = dependences(&graph, &first)?;
        let topological = topological(task.len(), &dependences)?;
        Ok(ModuloProblem { graph, processors, first, task, dependences, topological })
    }

    /// The tasks and edges.
    pub fn graph(&self) -> &TaskGraph {
        &self.graph
    }

    /// Processors, at least 1.
    pub fn processors(&self) -> u32 {
        self.processors
    }

    /// Instances in one iteration.
    pub fn instances(&self) -> usize {
        self.task.len()
    }

    /// The task of an instance.
    pub fn task_of(&self, instance: usize) -> usize {
        self.task[instance] as usize
    }

    /// An instance's number within its task.
    pub fn number_of(&self, instance: usize) -> u64 {
        (instance - self.first[self.task_of(instance)]) as u64
    }

    /// The index of instance `number` of a task.
    pub fn instance(&self, task: usize, number: u64) -> usize {
        self.first[task] + number as usize
    }

    /// d: the time an instance takes, in cycles.
    pub fn cost(&self, instance: usize) -> u64 {
        self.graph.tasks[self.task_of(instance)].cost
    }

    /// What waits for what, each pair and distance once, sorted by the one that waits.
    pub fn dependences(&self) -> &[Dependence] {
        &self.dependences
    }

    /// Every instance after those that it waits for in the same iteration; among equals in program order.
    pub fn topological(&self) -> &[usize] {
        &self.topological
    }

    /// An instance for people: `path[number]`.
    pub fn name_of(&self, instance: usize) -> String {
        format!("{}[{}]", self.graph.tasks[self.task_of(instance)].name, self.number_of(instance))
    }
}

fn topological(instances: usize, dependences: &[Dependence]) -> Result<Vec<usize>, Unfit> {
    let mut waits = vec![0u32; instances];
    let within = || dependences.iter().filter(|d| d.distance == 0);
    let mut next = vec![Vec::new(); instances];
    for d in within() {
        waits[d.to] += 1;
        next[d.from].push(d.to as u32);
    }
    let mut ready: std::collections::BTreeSet<usize> = (0..instances).filter(|i| waits[*i] == 0).collect();
    let mut order = Vec::with_capacity(instances);
    while let Some(i) = ready.pop_first() {
        order.push(i);
        for to in &next[i] {
            let to = *to as usize;
            waits[to] -= 1;
            if waits[to] == 0 {
                ready.insert(to);
            }
        }
    }
    if order.len() == instances {
        return Ok(order);
    }
    Err(Unfit::Deadlock(cycles(&waits, dependences)))
}

/// Cycles among the instances that still wait: each of them waits for another one.
fn cycles(waits: &[u32], dependences: &[Dependence]) -> Vec<Vec<usize>> {
    let mut before = vec![usize::MAX; waits.len()];
    for d in dependences.iter().filter(|d| d.distance == 0 && waits[d.from] > 0 && waits[d.to] > 0) {
        before[d.to] = d.from;
    }
    let mut found = Vec::new();
    // by instance, the way on which it was come to
    let mut way = vec![usize::MAX; waits.len()];
    for start in (0..waits.len()).filter(|i| waits[*i] > 0) {
        let mut at = start;
        while way[at] == usize::MAX {
            way[at] = start;
            at = before[at];
        }
        if way[at] == start {
            let first = at;
            let mut cycle = vec![first];
            while before[at] != first {
                at = before[at];
                cycle.push(at);
            }
            cycle.reverse();
            found.push(cycle);
        }
    }
    found
}

/// A candidate solution. Only [`super::judge::verify`] makes one that code may be made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuloSchedule {
    /// T: the initiation interval, in cycles.
    pub ii: u64,
    /// Σ w·p: by instance, the processor that runs it.
    pub processor: Vec<u32>,
    /// o: by instance, when it starts within the kernel, in cycles.
    pub start: Vec<u64>,
    /// f: by instance, its stage: how many kernels after the first of its iteration it runs. The smallest is 0.
    pub stage: Vec<u32>,
}

impl ModuloSchedule {
    /// Stages: kernels that an iteration extends over.
    pub fn stages(&self) -> u32 {
        self.stage.iter().max().map_or(0, |s| s + 1)
    }
}
