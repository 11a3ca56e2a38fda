//! # level-branches
//!
//! Purpose: branches that end in the same filters without state, brought level: a splitjoin for what they begin with, and one for each of those filters, which [`super::fold_branches()`] makes
//! one filter of. Input: an elaborated program, and which filters are worth it. Output: the program with those splitjoins, and their splitters; `None` where there are none.
//!
//! ```text
//! split → (A, F, G), (B, F, G) → join(1,1)     becomes     split → A, B → join(1,1) → split(1,1) → F, F → join(1,1) → split(1,1) → G, G → join(1,1)
//! ```
//!
//! Conditions: N ≥ 2 branches, pipelines of equally many filters; the last ones of each are of one code at equal places, and those before them, if any, take and give equally much at equal
//! places, so that all branches always have equally many items. The last ones have no state, no prework, nothing to print, send or call, and give one item in a firing, the very last
//! as many as the joiner takes. At least one of them looks ahead. No items wait from the beginning. Where nothing stands before them, the splitter deals out items one by one.
//!
//! What must hold afterwards: every filter fires as often as before, also when the input ends: a joiner in between never waits for one branch only.

use super::code::Turns;
use crate::Elaborated;
use crate::graph::{Channel, HierNode, Node, NodeKind, SdfGraph};
use crate::ids::*;
use crate::steady_state::steady_state;
use crate::ty::Ty;
use crate::typed::{FilterCode, Rates};
use sluice_grammar::ast::StreamKind;
use std::collections::HashMap;

/// Is the filter one that branches may end in, as so many branches, and is it worth that?
pub type Worth<'a> = dyn FnMut(&FilterCode, Turns) -> Option<bool> + 'a;

/// A splitjoin whose branches can be brought level.
struct Candidate {
    hier: HierId,
    split: NodeId,
    join: NodeId,
    /// By branch: its filters.
    chains: Vec<Vec<NodeId>>,
    /// Filters of a branch that stay in the splitjoin.
    heads: usize,
}

/// The program with level branches, and the splitters whose branches are to be folded.
pub fn level_branches(program: &Elaborated, worth: &mut Worth<'_>) -> Option<(Elaborated, Vec<NodeId>)> {
    // what waits for whom is said by node
    if !program.messages.links.is_empty() || !program.steady.precedences.is_empty() || !program.portals.is_empty() {
        return None;
    }
    let mut asked = HashMap::new();
    let mut worth =
        |c: CodeId, turns: Turns| *asked.entry((c, turns)).or_insert_with(|| worth(&program.codes[c.index()], turns));
    let all = (0..program.graph.hierarchy.len()).map(HierId::from);
    let candidates: Vec<Candidate> = all.filter_map(|h| candidate(program, h, &mut worth)).collect();
    if candidates.is_empty() {
        return None;
    }
    let made = Levels::of(&program.graph, &candidates);
    crate::graph_verify::debug_verify(&made.graph, "level-branches");
    let steady = steady_state(&made.graph).ok()?;
    let same = program.graph.node_ids().all(|old| {
        let new = made.moved[old.index()];
        let (a, b) = (&program.steady, &steady);
        new.is_some_and(|n| {
            a.repetitions[old.index()] == b.repetitions[n.index()] && a.init[old.index()] == b.init[n.index()]
        })
    });
    same.then(|| (Elaborated { graph: made.graph, steady, ..program.clone() }, made.splits))
}

/// The filters of a stream that is nothing but a chain of them, in order.
fn chain(graph: &SdfGraph, h: HierId) -> Option<Vec<NodeId>> {
    let (mut out, mut open) = (Vec::new(), vec![h]);
    while let Some(h) = open.pop() {
        let hier = &graph.hierarchy[h.index()];
        match hier.kind {
            StreamKind::Filter => out.extend(&hier.nodes),
            StreamKind::Pipeline if hier.nodes.is_empty() => open.extend(hier.children.iter().rev()),
            _ => return None,
        }
    }
    Some(out)
}

/// An end of the program.
fn is_end(graph: &SdfGraph, v: NodeId) -> bool {
    matches!(graph.node(v).kind, NodeKind::Reader(_) | NodeKind::Writer(_))
}

fn candidate(
    program: &Elaborated,
    h: HierId,
    worth: &mut dyn FnMut(CodeId, Turns) -> Option<bool>,
) -> Option<Candidate> {
    let graph = &program.graph;
    let hier = &graph.hierarchy[h.index()];
    let own: Vec<NodeId> = hier.nodes.iter().copied().filter(|v| !is_end(graph, *v)).collect();
    let (StreamKind::SplitJoin, &[split, join]) = (hier.kind, &own[..]) else { return None };
    let NodeKind::JoinRoundRobin(weights) = &graph.node(join).kind else { return None };
    let n = hier.children.len();
    if n < 2 || weights.len() != n || graph.node(split).outputs.len() != n || graph.node(split).inputs.len() != 1 {
        return None;
    }
    let last = *weights.first()?;
    let (ones, even) = match &graph.node(split).kind {
        NodeKind::SplitRoundRobin(w) => (w.iter().all(|w| *w == 1), w.iter().all(|x| *x == w[0] && *x > 0)),
        NodeKind::Duplicate => (false, true),
        _ => return None,
    };
    if !even || weights.iter().any(|w| *w != last) {
        return None;
    }
    let chains: Vec<Vec<NodeId>> = hier.children.iter().map(|c| chain(graph, *c)).collect::<Option<_>>()?;
    let length = chains[0].len();
    // filters of each branch follow one another, from the splitter to the joiner
    for (b, filters) in chains.iter().enumerate() {
        let plain = |c: &Channel| c.initial.is_empty() && !c.dynamic && !c.feedback;
        let mut from = (split, b as u32);
        for v in filters {
            let node = graph.node(*v);
            let (&[i], &[o]) = (&node.inputs[..], &node.outputs[..]) else { return None };
            let (i, o) = (graph.channel(i), graph.channel(o));
            if i.from != from || !plain(i) || !plain(o) {
                return None;
            }
            from = (*v, 0);
        }
        let into = graph.channel(*graph.node(*filters.last()?).outputs.first()?).to;
        if filters.len() != length || into != (join, b as u32) {
            return None;
        }
    }
    let kind = |b: usize, at: usize| &graph.node(chains[b][at]).kind;
    let streams = u32::try_from(n).ok()?;
    // from the end on, as many as there are
    let (mut heads, mut ahead) = (length, false);
    while heads > 0 {
        let at = heads - 1;
        let NodeKind::Filter { code, rates, prework: None, stateful: false, prints: false, dynamic: false } =
            kind(0, at)
        else {
            break;
        };
        let equal = (0..n).all(|b| matches!(kind(b, at), NodeKind::Filter { code: c, .. } if c == code));
        let of = &program.codes[code.index()];
        let plain =
            of.init_output.is_empty() && of.calls_native.is_none() && of.sends.is_none() && of.convolution.is_none();
        let given = if heads == length { last } else { 1 };
        let turns = Turns { streams, taken: 1, given };
        if !equal || !plain || rates.pop == 0 || rates.push != given {
            break;
        }
        let Some(worth) = worth(*code, turns) else { break };
        ahead |= worth && rates.peek > rates.pop;
        heads = at;
    }
    // where all branches are equal and get the same, they give the same
    if heads == 0 && !ones {
        heads = 1;
    }
    let tails = heads..length;
    let looks = |at: usize| matches!(kind(0, at), NodeKind::Filter { rates, .. } if rates.peek > rates.pop);
    if !ahead || !tails.clone().any(looks) {
        return None;
    }
    // what stands before them keeps in step
    let level = |at: usize| {
        let of = |b: usize| match kind(b, at) {
            NodeKind::Filter { rates, prework, dynamic: false, .. } => Some((*rates, *prework)),
            _ => None,
        };
        let first = of(0);
        first.is_some() && (1..n).all(|b| of(b) == first)
    };
    (0..heads).all(level).then_some(Candidate { hier: h, split, join, chains, heads })
}

/// The graph while it is made.
struct Levels<'a> {
    old: &'a SdfGraph,
    graph: SdfGraph,
    /// By node of the old graph: where it is now.
    moved: Vec<Option<NodeId>>,
    /// By channel of the old graph: where it is now.
    channels: Vec<Option<ChannelId>>,
    splits: Vec<NodeId>,
}

impl<'a> Levels<'a> {
    fn of(old: &'a SdfGraph, candidates: &[Candidate]) -> Levels<'a> {
        let by_hier: HashMap<HierId, &Candidate> = candidates.iter().map(|c| (c.hier, c)).collect();
        let mut l = Levels {
            old,
            graph: SdfGraph::default(),
            moved: vec![None; old.nodes.len()],
            channels: vec![None; old.channels.len()],
            splits: Vec::new(),
        };
        // channels that stay have their places first; ends follow as nodes come
        let mut cut = vec![false; old.channels.len()];
        for c in candidates {
            let first = c.heads;
            for filters in &c.chains {
                for v in &filters[first..] {
                    old.node(*v).inputs.iter().for_each(|i| cut[i.index()] = true);
                    old.node(*v).outputs.iter().for_each(|o| cut[o.index()] = true);
                }
            }
        }
        for (i, _) in cut.iter().enumerate().filter(|(_, cut)| !**cut) {
            l.channels[i] = Some(ChannelId::from(l.graph.channels.len()));
            l.graph.channels.push(old.channels[i].clone());
        }
        l.stream(HierId(0), None, &by_hier);
        l.graph.hierarchy.iter_mut().for_each(|h| h.nodes.sort_unstable());
        l.ends();
        l
    }

    /// A stream and all in it, in program order. A candidate's splitjoins stand in its parent, where that is a pipeline, otherwise in a pipeline that takes its place.
    fn stream(&mut self, h: HierId, parent: Option<HierId>, candidates: &HashMap<HierId, &Candidate>) {
        // not by recursion: streams may be nested deeply
        enum Step {
            Open(HierId, Option<HierId>),
            Node(NodeId, HierId),
        }
        let mut steps = vec![Step::Open(h, parent)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Node(v, at) => {
                    self.node(v, at);
                }
                Step::Open(h, parent) => {
                    if let Some(c) = candidates.get(&h) {
                        let pipeline = parent.filter(|p| self.graph.hierarchy[p.index()].kind == StreamKind::Pipeline);
                        if let Some(pipeline) = pipeline {
                            self.levels(c, pipeline);
                            continue;
                        }
                        let old = &self.old.hierarchy[h.index()];
                        let at = self.hier(HierNode { kind: StreamKind::Pipeline, ..old.clone() }, parent);
                        // the program's own ends, where it is all of it
                        let ends = || old.nodes.iter().copied().filter(|v| is_end(self.old, *v));
                        let (first, last): (Vec<_>, Vec<_>) = ends().partition(|v| *v < c.split);
                        for v in first {
                            self.node(v, at);
                        }
                        self.levels(c, at);
                        for v in last {
                            self.node(v, at);
                        }
                        continue;
                    }
                    let old = &self.old.hierarchy[h.index()];
                    let at = self.hier(old.clone(), parent);
                    // nodes and children by their place in the program: the first node of a child, and its own
                    let first = |c: &HierId| self.first(*c);
                    let mut inside: Vec<(NodeId, Step)> =
                        old.children.iter().filter_map(|c| Some((first(c)?, Step::Open(*c, Some(at))))).collect();
                    inside.extend(old.nodes.iter().map(|v| (*v, Step::Node(*v, at))));
                    inside.sort_by_key(|(v, _)| std::cmp::Reverse(*v));
                    steps.extend(inside.into_iter().map(|(_, step)| step));
                }
            }
        }
    }

    /// The first node of a stream of the old graph.
    fn first(&self, h: HierId) -> Option<NodeId> {
        let (mut least, mut open) = (None::<NodeId>, vec![h]);
        while let Some(h) = open.pop() {
            let hier = &self.old.hierarchy[h.index()];
            least = least.into_iter().chain(hier.nodes.first().copied()).min();
            // the first of its children comes before the others
            open.extend(hier.children.first());
        }
        least
    }

    fn hier(&mut self, of: HierNode, parent: Option<HierId>) -> HierId {
        let id = HierId::from(self.graph.hierarchy.len());
        self.graph.hierarchy.push(HierNode { parent, children: Vec::new(), nodes: Vec::new(), ..of });
        if let Some(p) = parent {
            self.graph.hierarchy[p.index()].children.push(id);
        }
        id
    }

    fn push(&mut self, node: Node, hier: HierId) -> NodeId {
        let id = NodeId::from(self.graph.nodes.len());
        self.graph.nodes.push(Node { hier, ..node });
        self.graph.hierarchy[hier.index()].nodes.push(id);
        id
    }

    /// An old node, as it was; what channels a node has is said at the end.
    fn node(&mut self, v: NodeId, hier: HierId) -> NodeId {
        let id = self.push(self.old.node(v).clone(), hier);
        self.moved[v.index()] = Some(id);
        id
    }

    /// A new channel: produce, consume, peek.
    fn channel(&mut self, from: (NodeId, u32), to: (NodeId, u32), ty: &Ty, (produce, consume, peek): (u32, u32, u32)) {
        let (ty, initial) = (ty.clone(), Vec::new());
        let channel = Channel { from, to, ty, produce, consume, peek, initial, feedback: false, dynamic: false };
        self.graph.channels.push(channel);
    }

    /// The splitjoins of a candidate, one after another.
    fn levels(&mut self, c: &Candidate, parent: HierId) {
        let old = self.old;
        let (n, split, join) = (c.chains.len(), old.node(c.split), old.node(c.join));
        let base = split.path.strip_suffix(".split").unwrap_or(&split.path).to_string();
        let of = &old.hierarchy[c.hier.index()];
        let filter = |v: NodeId| old.hierarchy[old.node(v).hier.index()].clone();
        let rates = |v: NodeId| match old.node(v).kind {
            NodeKind::Filter { rates, .. } => rates,
            _ => Rates::default(),
        };
        let output = |v: NodeId| &old.channel(old.node(v).outputs[0]).ty;
        let input = |v: NodeId| &old.channel(old.node(v).inputs[0]).ty;
        // what the next splitter takes: a joiner of this graph, or where nothing stands before the first, the splitter as it was
        let mut before: Option<NodeId> = None;
        let length = c.chains[0].len();
        if c.heads > 0 {
            let io = (of.io.0.clone(), output(c.chains[0][c.heads - 1]).clone());
            let h = self.hier(HierNode { io, ..of.clone() }, Some(parent));
            self.node(c.split, h);
            for (b, filters) in c.chains.iter().enumerate() {
                // a branch of several is a pipeline again
                let under =
                    if c.heads > 1 { self.hier(old.hierarchy[of.children[b].index()].clone(), Some(h)) } else { h };
                for v in &filters[..c.heads] {
                    let f = self.hier(filter(*v), Some(under));
                    self.node(*v, f);
                }
            }
            let kind = NodeKind::JoinRoundRobin(vec![1; n]);
            let id = self.push(Node { path: format!("{base}@0.join"), kind, ..join.clone() }, h);
            for (b, filters) in c.chains.iter().enumerate() {
                let v = filters[c.heads - 1];
                let from = self.moved[v.index()].unwrap_or(v);
                self.channel((from, 0), (id, b as u32), output(v), (rates(v).push, 1, 1));
            }
            before = Some(id);
        }
        for at in c.heads..length {
            let level = at - c.heads + 1;
            let first = c.chains[0][at];
            let h =
                self.hier(HierNode { io: (input(first).clone(), output(first).clone()), ..of.clone() }, Some(parent));
            let s = NodeId::from(self.graph.nodes.len());
            let kind = NodeKind::SplitRoundRobin(vec![1; n]);
            match before {
                None => {
                    self.node(c.split, h);
                }
                Some(joiner) => {
                    let width = n as u32;
                    self.channel((joiner, 0), (s, 0), input(first), (width, width, width));
                    self.push(Node { path: format!("{base}@{level}.split"), kind, ..split.clone() }, h);
                }
            }
            self.splits.push(s);
            let weight = if at + 1 == length { rates(first).push } else { 1 };
            let j = NodeId::from(s.index() + n + 1);
            for (b, filters) in c.chains.iter().enumerate() {
                let v = filters[at];
                let (f, r) = (self.hier(filter(v), Some(h)), rates(v));
                let id = self.node(v, f);
                self.channel((s, b as u32), (id, 0), input(v), (1, r.pop, r.peek));
                self.channel((id, 0), (j, b as u32), output(v), (r.push, weight, weight));
            }
            if at + 1 == length {
                self.node(c.join, h);
            } else {
                let kind = NodeKind::JoinRoundRobin(vec![1; n]);
                before = Some(self.push(Node { path: format!("{base}@{level}.join"), kind, ..join.clone() }, h));
            }
        }
    }

    /// Channels that stayed, at their ends' new places, and the nodes' lists of them.
    fn ends(&mut self) {
        for (old, new) in self.channels.iter().enumerate().filter_map(|(i, c)| Some((i, (*c)?))) {
            let of = &self.old.channels[old];
            let at = |v: NodeId| self.moved[v.index()].unwrap_or(v);
            let channel = &mut self.graph.channels[new.index()];
            (channel.from.0, channel.to.0) = (at(of.from.0), at(of.to.0));
        }
        let mut lists: Vec<[Vec<(u32, ChannelId)>; 2]> = vec![Default::default(); self.graph.nodes.len()];
        for (i, c) in self.graph.channels.iter().enumerate() {
            lists[c.from.0.index()][1].push((c.from.1, ChannelId::from(i)));
            lists[c.to.0.index()][0].push((c.to.1, ChannelId::from(i)));
        }
        for (node, [mut ins, mut outs]) in self.graph.nodes.iter_mut().zip(lists) {
            ins.sort_unstable();
            outs.sort_unstable();
            node.inputs = ins.into_iter().map(|(_, c)| c).collect();
            node.outputs = outs.into_iter().map(|(_, c)| c).collect();
        }
    }
}
