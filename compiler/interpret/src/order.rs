//! The reference order: which node fires next.
//!
//! Takes the graph, the steady state, and what has been fired and what lies on the channels; gives the next step. It knows
//! numbers of items only. The rules and their numbers are those of `docs/execution.md`.

use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::messages::Precedence;
use sluice_frontend::steady_state::SteadyState;
use std::collections::BTreeSet;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Fire this node. A reader may turn out to be at its end: then [`Order::exhausted`].
    Fire(NodeId),
    /// The run is over.
    End,
}

/// The state of the reference order.
pub(crate) struct Order<'a> {
    graph: &'a SdfGraph,
    steady: &'a SteadyState,
    /// What each node waits for so that no message comes too late, by node.
    waits: Vec<Vec<&'a Precedence>>,
    /// Who waits for a node, by node.
    awaited: Vec<Vec<NodeId>>,
    iterations: Option<u64>,
    /// The one that runs: 0 is the initialisation, J the J-th steady state.
    pub epoch: u64,
    /// Steady states that are complete.
    pub completed: u64,
    /// Completed firings, by node.
    pub fired: Vec<u64>,
    /// Items on each channel.
    pub fill: Vec<u64>,
    /// Items that the next attempt of a node with dynamic rates waits for, by node; 0 where its rates say it.
    need: Vec<u64>,
    /// Has a node fired in this epoch?
    moved: bool,
    quota: Vec<u64>,
    /// Which nodes will never fire again.
    pub dead: Vec<bool>,
    free: Vec<bool>,
    has_readers: bool,
    /// Nodes that are not free and not dead.
    alive: usize,
    /// Nodes that step 1 may fire.
    ready: BTreeSet<NodeId>,
    /// Nodes that may have lost their input for good.
    suspects: Vec<NodeId>,
    /// Nodes in the order in which step 3 asks them: first those that are not free.
    roots: Vec<NodeId>,
    bound: usize,
    /// How many of the first roots (of those not free, and of the free ones) have nothing to do in this epoch.
    done: [usize; 2],
    /// Marks of the walk in step 3.
    passed: Vec<u64>,
    walk: u64,
}

impl<'a> Order<'a> {
    /// At the beginning, with the initial items on the channels.
    pub fn new(graph: &'a SdfGraph, steady: &'a SteadyState, iterations: Option<u64>) -> Order<'a> {
        let n = graph.nodes.len();
        let (mut waits, mut awaited) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for p in &steady.precedences {
            waits[p.after.index()].push(p);
            awaited[p.before.index()].push(p.after);
        }
        let readers: Vec<NodeId> =
            graph.node_ids().filter(|id| matches!(graph.node(*id).kind, NodeKind::Reader(_))).collect();
        let mut reached = vec![false; n];
        let mut todo = readers.clone();
        while let Some(id) = todo.pop() {
            if !std::mem::replace(&mut reached[id.index()], true) {
                todo.extend(graph.node(id).outputs.iter().map(|c| graph.channel(*c).to.0));
            }
        }
        let has_readers = !readers.is_empty();
        let free: Vec<bool> = reached.iter().map(|r| has_readers && !r).collect();
        let mut roots: Vec<NodeId> = graph.node_ids().collect();
        roots.sort_by_key(|id| (free[id.index()], !graph.node(*id).outputs.is_empty()));
        let bound = free.iter().filter(|f| !**f).count();
        let mut order = Order {
            graph,
            steady,
            waits,
            awaited,
            iterations,
            epoch: 0,
            completed: 0,
            fired: vec![0; n],
            fill: graph.channels.iter().map(|c| c.initial.len() as u64).collect(),
            need: vec![0; n],
            moved: false,
            quota: steady.init.clone(),
            dead: vec![false; n],
            free,
            has_readers,
            alive: bound,
            ready: BTreeSet::new(),
            suspects: Vec::new(),
            roots,
            bound,
            done: [0, bound],
            passed: vec![0; n],
            walk: 0,
        };
        order.quota.resize(n, 0);
        graph.node_ids().for_each(|id| order.look(id));
        order
    }

    /// Is the consumer of a channel dead? Then items for it are dropped.
    pub fn drops(&self, channel: ChannelId) -> bool {
        self.dead[self.graph.channel(channel).to.0.index()]
    }

    /// Does a channel lack items for its consumer's next firing?
    fn lacks(&self, channel: ChannelId) -> bool {
        let consumer = self.graph.channel(channel).to.0;
        self.fill[channel.index()] < self.needs(consumer, channel)
    }

    /// The items that a node's next firing needs on one of its channels.
    fn needs(&self, consumer: NodeId, channel: ChannelId) -> u64 {
        let firing = self.fired[consumer.index()];
        self.need[consumer.index()].max(self.graph.needed_by_firing(channel, firing).into())
    }

    /// Is this a node whose next attempt needs no item, and finds none? It is taken for a source.
    fn begins_with_nothing(&self, id: NodeId) -> bool {
        self.graph.is_dynamic(id)
            && self.graph.node(id).inputs.iter().all(|c| self.fill[c.index()] == 0 && self.needs(id, *c) == 0)
    }

    /// The sender that this node's next firing has to wait for.
    fn waits_for(&self, id: NodeId) -> Option<NodeId> {
        let firing = self.fired[id.index()] + 1;
        let waits = self.waits[id.index()].iter();
        waits
            .map(|p| (p.before, p.need.at(firing)))
            .find(|(s, need)| !self.dead[s.index()] && self.fired[s.index()] < *need)
            .map(|(s, _)| s)
    }

    fn below_quota(&self, id: NodeId) -> bool {
        !self.has_quota(id) || self.fired[id.index()] < self.quota[id.index()]
    }

    fn has_quota(&self, id: NodeId) -> bool {
        self.steady.islands.as_ref().is_none_or(|i| i.has_quota(id))
    }

    /// Enters a node into the ready set, or takes it out.
    fn look(&mut self, id: NodeId) {
        let inputs = &self.graph.node(id).inputs;
        let ready = !inputs.is_empty()
            && !self.dead[id.index()]
            && self.below_quota(id)
            && !inputs.iter().any(|c| self.lacks(*c))
            && !self.begins_with_nothing(id)
            && self.waits_for(id).is_none();
        if ready {
            self.ready.insert(id);
        } else {
            self.ready.remove(&id);
        }
    }

    /// A node has fired: its items are counted. (What it pushed to dead nodes is dropped.)
    pub fn fire(&mut self, id: NodeId) {
        let (graph, firing) = (self.graph, self.fired[id.index()]);
        let node = graph.node(id);
        for c in &node.inputs {
            let taken = u64::from(graph.consumed_by_firing(*c, firing));
            self.fill[c.index()] = self.fill[c.index()].saturating_sub(taken);
        }
        for c in &node.outputs {
            if !self.drops(*c) {
                self.fill[c.index()] += u64::from(graph.produced_by_firing(*c, firing));
            }
        }
        self.fired_once(id);
    }

    /// A filter has completed a firing that decided on its rates: so many items popped, pushed, and looked at.
    pub fn attempted(&mut self, id: NodeId, popped: u64, pushed: u64, looked: u64) {
        let graph = self.graph;
        let node = graph.node(id);
        let needed = node.inputs.first().map_or(0, |c| self.needs(id, *c));
        // one that moved nothing would do so for ever: the next one waits for another item
        let idle = !node.inputs.is_empty() && popped == 0 && pushed == 0;
        self.need[id.index()] = if idle { needed.max(looked) + 1 } else { 0 };
        for c in &node.inputs {
            self.fill[c.index()] = self.fill[c.index()].saturating_sub(popped);
        }
        for c in &node.outputs {
            if !self.drops(*c) {
                self.fill[c.index()] += pushed;
            }
        }
        self.fired_once(id);
    }

    /// An attempt asked for items that are not there: for so many. It has not happened.
    pub fn abandoned(&mut self, id: NodeId, wants: u64) {
        self.need[id.index()] = wants;
        self.look(id);
        self.suspects.push(id);
    }

    fn fired_once(&mut self, id: NodeId) {
        let graph = self.graph;
        let node = graph.node(id);
        self.moved = true;
        self.fired[id.index()] += 1;
        self.look(id);
        for c in &node.outputs {
            self.look(graph.channel(*c).to.0);
        }
        self.look_at_waiting(id);
        if node.inputs.iter().any(|c| self.dead[graph.channel(*c).from.0.index()]) {
            self.suspects.push(id);
        }
    }

    fn look_at_waiting(&mut self, sender: NodeId) {
        for i in 0..self.awaited[sender.index()].len() {
            let receiver = self.awaited[sender.index()][i];
            self.look(receiver);
        }
    }

    /// A reader that was to fire has no further item.
    pub fn exhausted(&mut self, reader: NodeId) {
        self.kill(reader);
    }

    fn kill(&mut self, id: NodeId) {
        if std::mem::replace(&mut self.dead[id.index()], true) {
            return;
        }
        if !self.free[id.index()] {
            self.alive -= 1;
        }
        self.ready.remove(&id);
        let graph = self.graph;
        self.suspects.extend(graph.node(id).outputs.iter().map(|c| graph.channel(*c).to.0));
        self.look_at_waiting(id);
    }

    /// The next step.
    pub fn next(&mut self) -> Next {
        if self.graph.nodes.is_empty() {
            return Next::End;
        }
        loop {
            // 1. push
            if let Some(id) = self.ready.last() {
                return Next::Fire(*id);
            }
            // 2. die
            while let Some(id) = self.suspects.pop() {
                let inputs = &self.graph.node(id).inputs;
                if inputs.iter().any(|c| self.dead[self.graph.channel(*c).from.0.index()] && self.lacks(*c)) {
                    self.kill(id);
                }
            }
            if self.has_readers && self.alive == 0 {
                return Next::End;
            }
            // those that waited for a sender that is dead
            if !self.ready.is_empty() {
                continue;
            }
            // 3. pull
            if let Some(source) = self.pull() {
                return Next::Fire(source);
            }
            // 4. next epoch
            self.completed = self.epoch;
            if self.iterations == Some(self.epoch) {
                return Next::End;
            }
            // dynamic rates can starve a program: then nothing will ever move again
            if self.steady.islands.is_some() && self.epoch > 0 && !self.moved {
                return Next::End;
            }
            self.moved = false;
            self.epoch += 1;
            let Some(quota) = self.boundary() else { return Next::End };
            self.quota = quota;
            self.done = [0, self.bound];
            self.graph.node_ids().for_each(|id| self.look(id));
        }
    }

    /// B_J; `None` after more firings than 64 bits count.
    fn boundary(&self) -> Option<Vec<u64>> {
        let all = self.steady.init.iter().zip(&self.steady.repetitions);
        let mut quota = all.map(|(i, r)| r.checked_mul(self.epoch)?.checked_add(*i)).collect::<Option<Vec<u64>>>()?;
        quota.resize(self.graph.nodes.len(), 0);
        Some(quota)
    }

    /// The source that step 3 finds.
    fn pull(&mut self) -> Option<NodeId> {
        for (group, end) in [(0, self.bound), (1, self.roots.len())] {
            let idle = |o: &Self, id: NodeId| o.dead[id.index()] || !o.below_quota(id);
            while self.done[group] < end && idle(self, self.roots[self.done[group]]) {
                self.done[group] += 1;
            }
            let mut waits = false;
            for i in self.done[group]..end {
                let root = self.roots[i];
                if idle(self, root) {
                    continue;
                }
                if let Some(source) = self.walk_up(root) {
                    return Some(source);
                }
                waits |= self.has_quota(root);
            }
            // the free nodes have their turn only when the others are done
            if waits {
                return None;
            }
        }
        None
    }

    /// Follows the first channel that lacks items, or else to the first sender that must come before, again and again.
    fn walk_up(&mut self, root: NodeId) -> Option<NodeId> {
        self.walk += 1;
        let mut at = root;
        loop {
            if std::mem::replace(&mut self.passed[at.index()], self.walk) == self.walk {
                return None;
            }
            let inputs = &self.graph.node(at).inputs;
            if let Some(lacking) = inputs.iter().find(|c| self.lacks(**c)) {
                at = self.graph.channel(*lacking).from.0;
            } else if let Some(sender) = self.waits_for(at) {
                at = sender;
            } else {
                let begins = inputs.is_empty() || self.begins_with_nothing(at);
                let source = begins && self.below_quota(at) && !self.dead[at.index()];
                return source.then_some(at);
            }
        }
    }
}
