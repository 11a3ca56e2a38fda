//! Tasks and what passes between them.

use sluice_frontend::ids::{ChannelId, NodeId};

/// What is scheduled: a node of the flat graph, or several that must stay together (a feedback loop).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// For people: the path of the node in the program.
    pub name: String,
    /// The nodes it stands for, in program order; one, but for a loop that is scheduled whole.
    pub nodes: Vec<NodeId>,
    /// k: instances in one iteration, at least 1.
    pub instances: u64,
    /// Firings of each of `nodes` in one instance.
    pub firings: Vec<u64>,
    /// d: time of one instance in cycles, at least 1.
    pub cost: u64,
    /// Does each instance wait for the one before it (state, prints, an end of the program)?
    pub serial: bool,
}

/// What passes from one task to another (or itself), in items per instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The channel of the flat graph.
    pub channel: ChannelId,
    /// The task that gives.
    pub from: usize,
    /// The task that takes.
    pub to: usize,
    /// O: items that an instance of `from` gives.
    pub produce: u64,
    /// I: items that an instance of `to` takes.
    pub consume: u64,
    /// E: items that an instance of `to` has to see, at least `consume`.
    pub peek: u64,
    /// m: items there when the first iteration begins, at least `peek - consume`.
    pub initial: u64,
    /// Bytes of one item.
    pub item_bytes: u64,
}

/// A wish of messages: instance `after` of iteration j waits for instance `before` of iteration j - `distance`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The task and instance that come first.
    pub before: (usize, u64),
    /// The task and instance that wait.
    pub after: (usize, u64),
    /// Iterations between them.
    pub distance: u64,
}

/// Tasks, edges and orders: a synchronous-dataflow graph whose firings are instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskGraph {
    /// The tasks, in program order of their first nodes.
    pub tasks: Vec<Task>,
    /// What passes between them; `produce · k(from) = consume · k(to)` on each.
    pub edges: Vec<Edge>,
    /// What messages ask for.
    pub orders: Vec<Order>,
    /// Bytes of the buffers inside of tasks that run whole, for any order of their firings.
    pub inner_bytes: u64,
    /// How many steady states of the flat graph one iteration makes.
    pub batch: u64,
}

impl TaskGraph {
    /// Instances in one iteration, of all tasks.
    pub fn instances(&self) -> u64 {
        self.tasks.iter().fold(0, |sum, t| sum.saturating_add(t.instances))
    }

    /// Σ k·d: the work of one iteration, in cycles.
    pub fn work(&self) -> u64 {
        self.tasks.iter().fold(0, |sum, t| sum.saturating_add(t.instances.saturating_mul(t.cost)))
    }
}
