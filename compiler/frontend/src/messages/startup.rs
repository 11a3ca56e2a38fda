//! The initialisation schedule of a program whose messages constrain its firings.
//!
//! Takes the steady state that the items alone determine, and the precedences. Gives the steady state whose initialisation is the least
//! one after which no steady state waits for messages of a later one, or the sender and the receiver that wait for each other. What must
//! hold: the graph without messages is live.

use super::Precedence;
use crate::graph::SdfGraph;
use crate::ids::*;
use crate::steady_state::SteadyState;
use sluice_grammar::diagnostic::Diagnostic;
use std::collections::VecDeque;

/// A count beyond this is taken for one that grows for ever.
const LARGEST: u64 = 1 << 40;
/// Steps of demand, and bulk firings, before the check gives up.
const PATIENCE: u64 = 50_000_000;

/// A receiver waits for a sender that waits for it.
struct Stuck(NodeId, NodeId);

/// Puts precedences into a steady state.
pub fn with_messages(
    graph: &SdfGraph,
    steady: SteadyState,
    precedences: Vec<Precedence>,
) -> Result<SteadyState, Box<Diagnostic>> {
    let mut w = Waiting::new(graph, &steady, &precedences);
    let done = w.initialisation().and_then(|init| {
        w.run(&init)?;
        let fill = w.fill.clone();
        let next: Vec<u64> = init.iter().zip(&steady.repetitions).map(|(a, b)| a + b).collect();
        w.run(&next)?;
        Ok((init, fill))
    });
    match done {
        Ok((init, boundary_fill)) => {
            let peak = |id: ChannelId| {
                let c = graph.channel(id);
                (c.initial.len() as u64).saturating_add(produced(graph, id, init[c.from.0.index()]))
            };
            let init_peak = graph.channel_ids().map(peak).collect();
            Ok(SteadyState { init, boundary_fill, init_peak, precedences, ..steady })
        }
        Err(Stuck(sender, receiver)) => {
            let (s, r) = (graph.node(sender), graph.node(receiver));
            let why = format!("`{}` waits for messages that `{}` could only send later", r.path, s.path);
            let d = Diagnostic::error("E0313", "the latencies of these messages cannot all be kept", r.span, why)
                .label(s.span, "this filter sends them")
                .help("give the messages greater latencies, or best effort: `[*]`");
            Err(Box::new(d))
        }
    }
}

/// Items put on a channel by the first `n` firings.
fn produced(graph: &SdfGraph, c: ChannelId, n: u64) -> u64 {
    let rest = n.saturating_sub(1).saturating_mul(graph.channel(c).produce.into());
    if n == 0 { 0 } else { u64::from(graph.produced_by_firing(c, 0)).saturating_add(rest) }
}

/// Items taken off a channel by the first `n` firings.
fn consumed(graph: &SdfGraph, c: ChannelId, n: u64) -> u64 {
    let rest = n.saturating_sub(1).saturating_mul(graph.channel(c).consume.into());
    if n == 0 { 0 } else { u64::from(graph.consumed_by_firing(c, 0)).saturating_add(rest) }
}

struct Waiting<'a> {
    graph: &'a SdfGraph,
    steady: &'a SteadyState,
    /// By node: what it waits for, and who waits for it.
    waits: Vec<Vec<&'a Precedence>>,
    awaited: Vec<Vec<NodeId>>,
    fill: Vec<u64>,
    fired: Vec<u64>,
    steps: u64,
}

impl<'a> Waiting<'a> {
    fn new(graph: &'a SdfGraph, steady: &'a SteadyState, precedences: &'a [Precedence]) -> Waiting<'a> {
        let n = graph.nodes.len();
        let (mut waits, mut awaited) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for p in precedences {
            waits[p.after.index()].push(p);
            awaited[p.before.index()].push(p.after);
        }
        let fill = graph.channels.iter().map(|c| c.initial.len() as u64).collect();
        Waiting { graph, steady, waits, awaited, fill, fired: vec![0; n], steps: 0 }
    }

    fn step(&mut self, p: Option<&Precedence>) -> Result<(), Stuck> {
        self.steps += 1;
        match p {
            Some(p) if self.steps > PATIENCE => Err(Stuck(p.before, p.after)),
            _ => Ok(()),
        }
    }

    /// The least fixpoint of the demand of items and of messages.
    fn initialisation(&mut self) -> Result<Vec<u64>, Stuck> {
        let (graph, r) = (self.graph, &self.steady.repetitions);
        let mut init = self.steady.init.clone();
        let mut queue: VecDeque<NodeId> = graph.node_ids().rev().collect();
        let mut queued = vec![true; graph.nodes.len()];
        let any = self.waits.iter().flatten().next().copied();
        while let Some(v) = queue.pop_front() {
            self.step(any)?;
            queued[v.index()] = false;
            let mut asked: Vec<(NodeId, u64)> = Vec::new();
            for p in &self.waits[v.index()] {
                let needed = p.need_in_any_state(init[v.index()], r);
                if needed > LARGEST {
                    return Err(Stuck(p.before, v));
                }
                asked.push((p.before, needed));
            }
            for id in &graph.node(v).inputs {
                let c = graph.channel(*id);
                let n = init[v.index()];
                let ahead = if r[v.index()] > 0 || n > 1 { c.peek.saturating_sub(c.consume) } else { 0 };
                let first = if n > 0 { graph.needed_by_firing(*id, 0) } else { 0 };
                let demand = consumed(graph, *id, n).saturating_add(ahead.into()).max(first.into());
                let missing = demand.saturating_sub(c.initial.len() as u64);
                let made_first = u64::from(graph.produced_by_firing(*id, 0));
                let needed = match missing {
                    0 => 0,
                    m if m <= made_first => 1,
                    m if c.produce > 0 => 1 + (m - made_first).div_ceil(c.produce.into()),
                    _ => 1,
                };
                asked.push((c.from.0, needed));
            }
            for (u, needed) in asked {
                if needed > LARGEST
                    && let Some(p) = any
                {
                    return Err(Stuck(p.before, p.after));
                }
                if needed > init[u.index()] {
                    init[u.index()] = needed;
                    if !std::mem::replace(&mut queued[u.index()], true) {
                        queue.push_back(u);
                    }
                }
            }
        }
        Ok(init)
    }

    /// Fires in bulk until every node has fired so often.
    fn run(&mut self, target: &[u64]) -> Result<(), Stuck> {
        let graph = self.graph;
        let any = self.waits.iter().flatten().next().copied();
        let mut queue: VecDeque<NodeId> = graph.node_ids().collect();
        let mut queued = vec![true; graph.nodes.len()];
        while let Some(n) = queue.pop_front() {
            self.step(any)?;
            queued[n.index()] = false;
            let mut did = false;
            while self.fired[n.index()] < target[n.index()] {
                let times = self.possible(n, target[n.index()]);
                if times == 0 {
                    break;
                }
                let at = self.fired[n.index()];
                for id in &graph.node(n).inputs {
                    self.fill[id.index()] -= times * u64::from(graph.consumed_by_firing(*id, at));
                }
                for id in &graph.node(n).outputs {
                    let made = times.saturating_mul(graph.produced_by_firing(*id, at).into());
                    self.fill[id.index()] = self.fill[id.index()].saturating_add(made);
                }
                self.fired[n.index()] += times;
                did = true;
            }
            if did {
                let fed = graph.node(n).outputs.iter().map(|c| graph.channel(*c).to.0);
                for to in fed.chain(self.awaited[n.index()].iter().copied()) {
                    if !std::mem::replace(&mut queued[to.index()], true) {
                        queue.push_back(to);
                    }
                }
            }
        }
        let behind = |n: NodeId| self.fired[n.index()] < target[n.index()];
        if !graph.node_ids().any(behind) {
            return Ok(());
        }
        // without messages the graph is live
        let p = self.waits.iter().flatten().find(|p| behind(p.after) && behind(p.before)).copied().or(any);
        p.map_or(Ok(()), |p| Err(Stuck(p.before, p.after)))
    }

    /// How often a node can fire now, one kind of firing at a time.
    fn possible(&self, n: NodeId, target: u64) -> u64 {
        let at = self.fired[n.index()];
        // the first firing may differ from the others: it goes alone
        let left = if at == 0 { 1 } else { target - at };
        let by_items = self.graph.node(n).inputs.iter().fold(left, |times, id| {
            let (need, take) = (self.graph.needed_by_firing(*id, at), self.graph.consumed_by_firing(*id, at));
            match self.fill[id.index()].checked_sub(need.into()) {
                None => 0,
                Some(_) if take == 0 => times,
                Some(more) => times.min(more / u64::from(take) + 1),
            }
        });
        self.waits[n.index()].iter().fold(by_items, |times, p| {
            let allowed = p.need.last_within(self.fired[p.before.index()]).unwrap_or(u64::MAX);
            times.min(allowed.saturating_sub(at))
        })
    }
}
