//! The machine that runs a schedule: the initialisation in any order, then kernels.

use super::memory::{Letter, Made, Ring, Run, States};
use super::node::{Done, Nodes};
use super::{Products, Supply};
use crate::generate::random::Random;
use sluice_frontend::Elaborated;
use sluice_frontend::eval::{Message, Value};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::messages::Direction;
use sluice_schedule::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::VecDeque;

/// What is run: a schedule of a problem, with a ring of so many items for each edge.
#[derive(Clone, Copy)]
pub struct Schedule<'a> {
    /// The problem.
    pub problem: &'a ModuloProblem,
    /// Who does what when.
    pub schedule: &'a ModuloSchedule,
    /// By edge.
    pub capacity: &'a [u64],
}

/// Runs so many iterations; `Err` tells what went wrong first. `seed` decides whose turn it is within kernels.
pub fn run(
    program: &Elaborated,
    supply: &Supply,
    what: Schedule,
    iterations: u64,
    seed: u64,
) -> Result<Products, String> {
    let lists = lists(what)?;
    let mut machine = Machine::start(program, supply, what)?;
    let mut chance = Random::new(seed);
    let s = what.schedule;
    let stages = u64::from(s.stages());
    for kernel in 0..iterations + stages - 1 {
        let mut next = vec![0; lists.len()];
        loop {
            let busy: Vec<usize> = (0..lists.len()).filter(|q| next[*q] < lists[*q].len()).collect();
            if busy.is_empty() {
                break;
            }
            let q = *chance.pick(&busy);
            let i = lists[q][next[q]];
            next[q] += 1;
            if let Some(j) = kernel.checked_sub(s.stage[i].into()).filter(|j| *j < iterations) {
                let start = kernel * s.ii + s.start[i];
                machine.runs += 1;
                let end = start + what.problem.cost(i);
                let run = Run { number: machine.runs, processor: q as u32, kernel, start, end };
                machine
                    .instance(i, j, run)
                    .map_err(|why| format!("{} in iteration {j}, kernel {kernel}: {why}", what.problem.name_of(i)))?;
            }
        }
        machine.states.iter_mut().flatten().for_each(States::settle);
    }
    machine.end()
}

/// What each processor does in a kernel, in order. Two instances at once, or one longer than the kernel, cannot be.
fn lists(Schedule { problem: p, schedule: s, .. }: Schedule) -> Result<Vec<Vec<usize>>, String> {
    let mut lists: Vec<Vec<usize>> = vec![Vec::new(); p.processors() as usize];
    for i in 0..p.instances() {
        lists.get_mut(s.processor[i] as usize).ok_or_else(|| format!("no processor {}", s.processor[i]))?.push(i);
    }
    for list in &mut lists {
        list.sort_by_key(|i| (s.start[*i], *i));
        let mut clock = 0;
        for i in list {
            if s.start[*i] < clock {
                return Err(format!("{} starts while another one runs", p.name_of(*i)));
            }
            clock = s.start[*i] + p.cost(*i);
            if clock > s.ii {
                return Err(format!("{} still runs when the next kernel starts", p.name_of(*i)));
            }
        }
    }
    Ok(lists)
}

struct Machine<'a> {
    program: &'a Elaborated,
    problem: &'a ModuloProblem,
    nodes: Nodes<'a>,
    rings: Vec<Ring>,
    /// By node; `None` without state.
    states: Vec<Option<States>>,
    /// Messages under way, by receiver; how many there were.
    mail: Vec<Vec<Letter>>,
    sent: u64,
    /// Firings, by node, however they were ordered.
    fired: Vec<u64>,
    runs: u64,
    /// By node, what it gave to the outside, by firing.
    written: Vec<Vec<Option<Vec<u8>>>>,
    printed: Vec<String>,
}

impl<'a> Machine<'a> {
    /// The initialisation, each node as soon as it can.
    fn start(program: &'a Elaborated, supply: &'a Supply, what: Schedule<'a>) -> Result<Machine<'a>, String> {
        let (graph, steady) = (&program.graph, &program.steady);
        let n = graph.nodes.len();
        let mut m = Machine {
            program,
            problem: what.problem,
            nodes: Nodes::new(program, supply),
            rings: Vec::new(),
            states: Vec::new(),
            mail: (0..n).map(|_| Vec::new()).collect(),
            sent: 0,
            fired: vec![0; n],
            runs: 0,
            written: vec![Vec::new(); n],
            printed: vec![String::new(); n],
        };
        let mut queues: Vec<VecDeque<Value>> = (graph.channels.iter())
            .map(|c| c.initial.iter().map(|v| Value::from_const(v, &c.ty, &program.globals)).collect())
            .collect();
        let can_fire = |m: &Machine, queues: &[VecDeque<Value>], id: NodeId| {
            let fired = m.fired[id.index()];
            let there = |c: &ChannelId| queues[c.index()].len() >= graph.needed_by_firing(*c, fired) as usize;
            fired < steady.init[id.index()]
                && graph.node(id).inputs.iter().all(there)
                && m.waits_for_nobody(id, |_| true, &m.fired)
        };
        while let Some(id) = graph.node_ids().rev().find(|id| can_fire(&m, &queues, *id)) {
            let (node, fired) = (graph.node(id), m.fired[id.index()]);
            let mut inputs = Vec::new();
            for c in &node.inputs {
                let queue = &mut queues[c.index()];
                inputs.push(queue.iter().take(graph.needed_by_firing(*c, fired) as usize).cloned().collect());
                queue.drain(..graph.consumed_by_firing(*c, fired) as usize);
            }
            let outputs = m.fire(id, fired, inputs, None)?;
            for (c, items) in node.outputs.iter().zip(outputs) {
                queues[c.index()].extend(items);
            }
        }
        if m.fired != steady.init {
            return Err(format!("the initialisation stops at {:?}", m.fired));
        }
        let edges = &what.problem.graph().edges;
        for (c, queue) in graph.channel_ids().zip(queues) {
            if queue.len() as u64 != steady.boundary_fill[c.index()] {
                return Err(format!("{c} has {} items after the initialisation", queue.len()));
            }
            let edge = edges.iter().position(|e| e.channel == c);
            m.rings.push(Ring::new(edge.map(|e| what.capacity[e]), queue));
        }
        let of = |id| m.nodes.has_state(id).then(|| States::new(m.nodes.fields(id)));
        m.states = graph.node_ids().map(of).collect();
        Ok(m)
    }

    /// Does no message that may still be sent by one of these nodes concern this node's next firing?
    fn waits_for_nobody(&self, id: NodeId, among: impl Fn(NodeId) -> bool, fired: &[u64]) -> bool {
        let waits = self.program.steady.precedences.iter().filter(|p| p.after == id && among(p.before));
        waits.into_iter().all(|p| fired[p.before.index()] >= p.need.at(fired[id.index()] + 1))
    }

    /// One firing, with the messages that take effect before it; gives the items by output port.
    fn fire(
        &mut self,
        id: NodeId,
        number: u64,
        inputs: Vec<Vec<Value>>,
        run: Option<&Run>,
    ) -> Result<Vec<Vec<Value>>, String> {
        let due = |l: &Letter| l.key.0 == number + 1 && run.is_none_or(|r| r.sees(l.made));
        while let Some(at) = self.next_letter(id, due) {
            self.deliver(id, number, at, run)?;
        }
        let mut done = self.nodes.fire(id, number, inputs)?;
        self.fired[id.index()] += 1;
        if let Some(bytes) = done.written.take() {
            let all = &mut self.written[id.index()];
            all.resize(all.len().max(number as usize + 1), None);
            all[number as usize] = Some(bytes);
        }
        let outputs = std::mem::take(&mut done.outputs);
        self.note(id, number, done, run.copied());
        Ok(outputs)
    }

    fn next_letter(&self, id: NodeId, due: impl Fn(&Letter) -> bool) -> Option<usize> {
        let all = self.mail[id.index()].iter().enumerate().filter(|(_, l)| due(l));
        all.min_by_key(|(_, l)| l.key).map(|(at, _)| at)
    }

    fn deliver(&mut self, id: NodeId, number: u64, at: usize, run: Option<&Run>) -> Result<(), String> {
        let letter = self.mail[id.index()].swap_remove(at);
        let done = self.nodes.handle(id, number, letter.handler, letter.args)?;
        self.note(id, number, done, run.copied());
        Ok(())
    }

    /// Prints and messages of a firing.
    fn note(&mut self, id: NodeId, number: u64, done: Done, made: Made) {
        self.printed[id.index()].push_str(&done.printed);
        for message in &done.sent {
            self.send(id, number + 1, message, made);
        }
    }

    fn send(&mut self, sender: NodeId, firing: u64, message: &Message, made: Made) {
        let key = (message.portal, &message.handler, message.latency);
        let links = self.program.messages.links.iter().filter(|l| l.sender == sender);
        for link in links.filter(|l| (l.portal, &l.name, l.latency) == key) {
            self.sent += 1;
            self.mail[link.receiver.index()].push(Letter {
                key: (link.due.at(firing), sender, firing, self.sent),
                direction: link.direction,
                handler: link.handler,
                args: message.args.iter().map(Value::deep_copy).collect(),
                made,
            });
        }
    }

    /// An instance of iteration j: all its firings.
    fn instance(&mut self, i: usize, j: u64, run: Run) -> Result<(), String> {
        let problem = self.problem;
        let task = &problem.graph().tasks[problem.task_of(i)];
        let nth = j * task.instances + problem.number_of(i);
        for id in &task.nodes {
            if let Some(states) = &self.states[id.index()] {
                self.nodes.set_fields(*id, states.seen(&run));
            }
        }
        let init = &self.program.steady.init;
        // What the firings' numbers are follows from the schedule, not from what happened so far.
        let mut at: Vec<u64> = vec![0; init.len()];
        let mut last = at.clone();
        for (id, firings) in task.nodes.iter().zip(&task.firings) {
            at[id.index()] = init[id.index()] + nth * firings;
            last[id.index()] = at[id.index()] + firings;
        }
        while task.nodes.iter().any(|id| at[id.index()] < last[id.index()]) {
            let inside = |n: NodeId| task.nodes.len() > 1 && task.nodes.contains(&n);
            let mut why = String::new();
            let mut ready = None;
            for id in task.nodes.iter().rev().filter(|id| at[id.index()] < last[id.index()]) {
                match self.inputs(*id, at[id.index()], &run) {
                    Ok(_) if !self.waits_for_nobody(*id, inside, &at) => {
                        why = format!("{} waits for a message", self.program.graph.node(*id).path);
                    }
                    Ok(inputs) => {
                        ready = Some((*id, inputs));
                        break;
                    }
                    Err(lacks) => why = lacks,
                }
            }
            let Some((id, inputs)) = ready else { return Err(why) };
            let number = at[id.index()];
            let outputs = self.fire(id, number, inputs, Some(&run))?;
            self.put(id, number, outputs, run);
            at[id.index()] += 1;
        }
        for id in &task.nodes {
            if let Some(states) = &mut self.states[id.index()] {
                states.leave(run, self.nodes.fields(*id));
            }
        }
        Ok(())
    }

    /// The items of a firing as this run sees them.
    fn inputs(&self, id: NodeId, number: u64, run: &Run) -> Result<Vec<Vec<Value>>, String> {
        let graph = &self.program.graph;
        let nth = number - self.program.steady.init[id.index()];
        let mut inputs = Vec::new();
        for c in &graph.node(id).inputs {
            let channel = graph.channel(*c);
            let first = nth * u64::from(channel.consume);
            let items = first..first + u64::from(channel.peek.max(channel.consume));
            let all: Result<Vec<Value>, String> =
                items.map(|x| self.rings[c.index()].read(x, run).map(Value::deep_copy)).collect();
            inputs.push(all.map_err(|why| format!("{}, input {c}: {why}", graph.node(id).path))?);
        }
        Ok(inputs)
    }

    /// Puts a firing's items into their places, and forgets those that it took.
    fn put(&mut self, id: NodeId, number: u64, outputs: Vec<Vec<Value>>, run: Run) {
        let (graph, steady) = (&self.program.graph, &self.program.steady);
        let nth = number - steady.init[id.index()];
        let node = graph.node(id);
        for c in &node.inputs {
            let consume = u64::from(graph.channel(*c).consume);
            (nth * consume..(nth + 1) * consume).for_each(|x| self.rings[c.index()].forget(x));
        }
        for (c, items) in node.outputs.iter().zip(outputs) {
            let first = steady.boundary_fill[c.index()] + nth * u64::from(graph.channel(*c).produce);
            for (x, item) in (first..).zip(items) {
                self.rings[c.index()].write(x, item, Some(run));
            }
        }
    }

    /// After the last kernel: messages that take effect now, and what came out.
    fn end(mut self) -> Result<Products, String> {
        let graph = &self.program.graph;
        for id in graph.node_ids() {
            let fired = self.fired[id.index()];
            if let Some(states) = &self.states[id.index()] {
                let all = Run { number: 0, processor: u32::MAX, kernel: u64::MAX, start: u64::MAX, end: u64::MAX };
                self.nodes.set_fields(id, states.seen(&all));
            }
            // what a filter without state tells itself changes nothing
            let matters = |l: &Letter| l.key.1 != id || self.states[id.index()].is_some();
            if let Some(at) = self.next_letter(id, |l| l.key.0 <= fired && matters(l)) {
                let (due, sender, firing, _) = self.mail[id.index()][at].key;
                let [to, by] = [id, sender].map(|n| &graph.node(n).path);
                return Err(format!("{to} misses a message before firing {due}, sent by {by} in firing {firing}"));
            }
            let due = |l: &Letter| l.key.0 == fired + 1 && l.direction == Direction::Upstream;
            while let Some(at) = self.next_letter(id, due) {
                self.deliver(id, fired, at, None)?;
            }
        }
        let mut written = Vec::new();
        for id in graph.node_ids().filter(|id| matches!(graph.node(*id).kind, NodeKind::Writer(_))) {
            let all: Option<Vec<Vec<u8>>> = std::mem::take(&mut self.written[id.index()]).into_iter().collect();
            written.push(all.ok_or_else(|| format!("{} leaves an item out", graph.node(id).path))?.concat());
        }
        Ok(Products { written, printed: self.printed })
    }
}
