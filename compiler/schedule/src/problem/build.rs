//! # task-graph
//!
//! Purpose: makes the task graph of a program. Input: flat graph, steady state, granularity, times, bytes of each channel's items. Output:
//! [`TaskGraph`] and its [`ModuloProblem`]. Nodes that cannot run in this granularity because they wait for each other within an
//! instance (a feedback loop with a short delay, messages that must come soon) become one serial task.
//!
//! ```text
//! A pushes 2, B pops 3, batch 2, instances of 3 and 2 firings → A: k = 2, O = 6;  B: k = 2, I = 6
//! ```

use super::granularity::{Granularity, Times, is_serial};
use super::modulo::{MOST_DEPENDENCES, ModuloProblem, Unfit};
use super::task::{Edge, Order, Task, TaskGraph};
use sluice_frontend::components::components_of;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;
use std::collections::BTreeSet;

/// What a problem is made from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The flat graph; of one with dynamic rates, [`SdfGraph::cut`].
    pub graph: &'a SdfGraph,
    /// Its steady state.
    pub steady: &'a SteadyState,
    /// How firings make instances.
    pub granularity: &'a Granularity,
    /// What firings cost.
    pub times: &'a Times,
    /// By channel, the bytes of an item.
    pub item_bytes: &'a [u64],
}

/// The problem of a program on so many processors.
pub fn problem(source: Source, processors: u32) -> Result<ModuloProblem, Unfit> {
    let mut groups = Groups::new(source.graph.nodes.len());
    loop {
        let graph = task_graph(source, &groups)?;
        let nodes: Vec<Vec<NodeId>> = graph.tasks.iter().map(|t| t.nodes.clone()).collect();
        match ModuloProblem::new(graph.clone(), processors) {
            Err(Unfit::Deadlock(cycles)) => {
                // Everything that is on a cycle with these nodes is joined: a part of a loop would only wait elsewhere.
                let mut joined = false;
                for all in components(&graph, &tasks_of(&graph, &cycles.concat())) {
                    joined |= groups.join(all.iter().flat_map(|t| nodes[t.index()].iter().copied()));
                }
                if !joined {
                    return Err(Unfit::Deadlock(cycles));
                }
            }
            other => return other,
        }
    }
}

/// The tasks of instances, given by index.
fn tasks_of(graph: &TaskGraph, instances: &[usize]) -> BTreeSet<NodeId> {
    let mut ends = Vec::with_capacity(graph.tasks.len());
    let mut end = 0;
    for t in &graph.tasks {
        end += t.instances as usize;
        ends.push(end);
    }
    instances.iter().map(|i| NodeId::from(ends.partition_point(|end| end <= i))).collect()
}

/// For each of these tasks all that go round with it, itself included.
fn components(graph: &TaskGraph, tasks: &BTreeSet<NodeId>) -> Vec<Vec<NodeId>> {
    let edges = graph.edges.iter().map(|e| (e.from, e.to)).chain(graph.orders.iter().map(|o| (o.before.0, o.after.0)));
    let edges: Vec<(NodeId, NodeId)> = edges.map(|(a, b)| (a.into(), b.into())).collect();
    let all: Vec<NodeId> = (0..graph.tasks.len()).map(NodeId::from).collect();
    let mut parts = components_of(&all, &edges);
    parts.retain(|p| p.iter().any(|t| tasks.contains(t)));
    parts
}

/// Which nodes are scheduled as one.
struct Groups {
    /// By node, the least node of its group.
    of: Vec<usize>,
    /// By node, is it the least one of a group that runs whole, all its firings one after the other? One node alone does where it
    /// waits for its own items.
    whole: Vec<bool>,
}

impl Groups {
    fn new(nodes: usize) -> Groups {
        Groups { of: (0..nodes).collect(), whole: vec![false; nodes] }
    }

    /// Joins; was there anything to join?
    fn join(&mut self, nodes: impl Iterator<Item = NodeId>) -> bool {
        let nodes: Vec<usize> = nodes.map(|n| n.index()).collect();
        let Some(least) = nodes.iter().min().copied() else { return false };
        let new = !self.whole[least] || nodes.iter().any(|n| self.of[*n] != least);
        nodes.iter().for_each(|n| self.of[*n] = least);
        self.whole[least] = true;
        new
    }
}

/// The task graph in which every node is a task of its own, whoever waits for whom.
pub fn ungrouped(source: Source) -> Result<TaskGraph, Unfit> {
    task_graph(source, &Groups::new(source.graph.nodes.len()))
}

fn task_graph(source: Source, groups: &Groups) -> Result<TaskGraph, Unfit> {
    let Source { graph, steady, granularity, .. } = source;
    let batch = granularity.batch;
    let all: Vec<u64> =
        steady.repetitions.iter().map(|r| r.checked_mul(batch)).collect::<Option<_>>().ok_or(Unfit::Work)?;
    let mut members = vec![Vec::new(); graph.nodes.len()];
    // Nodes that never fire are nobody's task.
    for n in graph.node_ids().filter(|n| all[n.index()] > 0) {
        members[groups.of[n.index()]].push(n);
    }
    let (mut tasks, mut wholes, mut task_of) = (Vec::new(), Vec::new(), vec![usize::MAX; graph.nodes.len()]);
    for nodes in members.into_iter().filter(|m| !m.is_empty()) {
        nodes.iter().for_each(|n| task_of[n.index()] = tasks.len());
        let whole = groups.whole[nodes[0].index()];
        wholes.push(whole);
        tasks.push(task(source, &all, nodes, whole)?);
    }
    let (mut edges, mut inner_bytes) = (Vec::new(), 0u64);
    for c in graph.channel_ids() {
        let channel = graph.channel(c);
        let (from, to) = (task_of[channel.from.0.index()], task_of[channel.to.0.index()]);
        if from == usize::MAX || to == usize::MAX {
            continue;
        }
        if from == to && wholes[from] {
            let items = steady.capacity(graph, c, batch).ok_or(Unfit::Work)?;
            inner_bytes = inner_bytes.saturating_add(items.saturating_mul(source.item_bytes[c.index()]));
            continue;
        }
        if channel.produce == 0 {
            continue;
        }
        let firings = |task: usize, node: NodeId| {
            let t: &Task = &tasks[task];
            t.nodes.iter().position(|n| *n == node).map_or(0, |at| t.firings[at])
        };
        let (gives, takes) = (firings(from, channel.from.0), firings(to, channel.to.0));
        let times = |n: u64, rate: u32| n.checked_mul(rate.into()).ok_or(Unfit::Work);
        let consume = times(takes, channel.consume)?;
        let beyond = u64::from(channel.peek.saturating_sub(channel.consume));
        edges.push(Edge {
            channel: c,
            from,
            to,
            produce: times(gives, channel.produce)?,
            consume,
            peek: consume.checked_add(beyond).ok_or(Unfit::Work)?,
            initial: steady.boundary_fill[c.index()],
            item_bytes: source.item_bytes[c.index()],
        });
    }
    let orders = orders(source, &tasks, &task_of)?;
    Ok(TaskGraph { tasks, edges, orders, inner_bytes, batch })
}

fn task(source: Source, all: &[u64], nodes: Vec<NodeId>, whole: bool) -> Result<Task, Unfit> {
    let Source { graph, granularity, times, .. } = source;
    let path = |n: NodeId| graph.node(n).path.clone();
    if let ([node], false) = (&nodes[..], whole) {
        let node = *node;
        let (firings, serial) = (granularity.firings[node.index()], is_serial(graph, node));
        let cost = times.instance(node, firings, serial).ok_or(Unfit::Work)?;
        let instances = all[node.index()] / firings;
        return Ok(Task { name: path(node), nodes, instances, firings: vec![firings], cost, serial });
    }
    let mut cost = 0u64;
    for n in &nodes {
        let own = times.instance(*n, all[n.index()], true).ok_or(Unfit::Work)?;
        cost = cost.checked_add(own).ok_or(Unfit::Work)?;
    }
    let name = match nodes.len() {
        1 => path(nodes[0]),
        n if is_loop(graph, &nodes) => format!("loop of {n} nodes at {}", path(nodes[0])),
        n => format!("{n} nodes that wait for each other at {}", path(nodes[0])),
    };
    let firings = nodes.iter().map(|n| all[n.index()]).collect();
    Ok(Task { name, nodes, instances: 1, firings, cost, serial: true })
}

/// Do items alone lead round all of these nodes? Where not, messages have a part in what makes them wait for each other.
pub fn is_loop(graph: &SdfGraph, nodes: &[NodeId]) -> bool {
    let outputs = nodes.iter().flat_map(|n| &graph.node(*n).outputs);
    let edges: Vec<_> = outputs.map(|c| graph.channel(*c)).map(|c| (c.from.0, c.to.0)).collect();
    components_of(nodes, &edges).len() == 1
}

/// Messages: before firing t of the receiver, so many firings of the sender.
fn orders(source: Source, tasks: &[Task], task_of: &[usize]) -> Result<Vec<Order>, Unfit> {
    let steady = source.steady;
    let mut orders = Vec::new();
    for p in &steady.precedences {
        let (b, a) = (task_of[p.before.index()], task_of[p.after.index()]);
        if b == usize::MAX || a == usize::MAX || b == a {
            continue;
        }
        let firings = |task: usize, node: NodeId| {
            let t: &Task = &tasks[task];
            t.nodes.iter().position(|n| *n == node).map_or(1, |at| t.firings[at])
        };
        let (qb, qa) = (i128::from(firings(b, p.before)), firings(a, p.after));
        for k in 0..tasks[a].instances {
            // The last firing of the instance asks for the most.
            let last = steady.init[p.after.index()].saturating_add((k + 1).saturating_mul(qa));
            let Some(need) = p.newest_in_any_state(last, &steady.repetitions) else { continue };
            let newest = need - i128::from(steady.init[p.before.index()]) - 1;
            let newest = newest.div_euclid(qb);
            let kb = i128::from(tasks[b].instances);
            // So many firings must be over: all instances up to this one. Those of a serial task follow one another; of another task the last of
            // each number is enough, for those of earlier iterations are earlier.
            let all = if tasks[b].serial { 1 } else { kb };
            for instance in newest - all + 1..=newest {
                // Every iteration of the flat graph can run on its own: nobody waits for a later one.
                let distance = u64::try_from(-instance.div_euclid(kb)).map_err(|_| Unfit::Messages)?;
                orders.push(Order { before: (b, instance.rem_euclid(kb) as u64), after: (a, k), distance });
            }
            if orders.len() as u64 > MOST_DEPENDENCES {
                return Err(Unfit::Dependences(orders.len() as u64));
            }
        }
    }
    Ok(orders)
}
