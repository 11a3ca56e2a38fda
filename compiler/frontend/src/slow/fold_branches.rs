//! # fold-branches
//!
//! Purpose: a round-robin splitjoin whose branches are equal stateful filters as one filter, whose state is an array. Input: an elaborated
//! program, and which filters may be folded. Output: the program with those splitjoins folded, and which they were; `None` where there
//! are none.
//!
//! ```text
//! split(1,1) → Decay(0.5), Decay(0.5) → join(1,1)     becomes     Decay(0.5) x2
//! ```
//!
//! Conditions: N ≥ 2 branches, each one filter, all of the same code, with state; all weights of the splitter equal and a divisor of pop, all of
//! the joiner a divisor of push (of a prework's too); no prints, messages, portals, native functions, dynamic rates. Then the filter
//! fires exactly when all branches could have fired and the joiner could have passed on what they give: the same items, in the same firings
//! of everything else. A fault would name another stream than without folding: the caller leaves out filters that can have one.

use super::code::{Turns, rates, slowed};
use crate::Elaborated;
use crate::graph::{Channel, Node, NodeKind, SdfGraph};
use crate::ids::*;
use crate::steady_state::steady_state;
use crate::typed::{FilterCode, Rates};
use sluice_grammar::ast::StreamKind;
use std::collections::HashMap;

/// A splitjoin that was folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// Its path, now that of the filter.
    pub path: String,
    /// The filter's name with arguments.
    pub filter: String,
    /// Its branches.
    pub branches: u32,
    /// The node in the new graph.
    pub node: NodeId,
}

/// A splitjoin that can be folded.
struct Candidate {
    split: NodeId,
    join: NodeId,
    code: CodeId,
    turns: Turns,
}

/// Folds what can be folded, if `may` agrees to the filter: branches with state, and those without behind the splitters `also` ([`super::level_branches()`]).
pub fn fold_branches(
    program: &Elaborated,
    also: &[NodeId],
    may: &mut dyn FnMut(&FilterCode) -> bool,
) -> Option<(Elaborated, Vec<Folded>)> {
    // what waits for whom is said by node
    if !program.messages.links.is_empty() || !program.steady.precedences.is_empty() {
        return None;
    }
    let mut asked: HashMap<CodeId, bool> = HashMap::new();
    let mut candidates: Vec<Candidate> =
        program.graph.node_ids().filter_map(|n| candidate(program, n, also.contains(&n))).collect();
    candidates.retain(|c| *asked.entry(c.code).or_insert_with(|| may(&program.codes[c.code.index()])));
    if candidates.is_empty() {
        return None;
    }
    let mut codes = program.codes.clone();
    let mut made: HashMap<(CodeId, Turns), Option<CodeId>> = HashMap::new();
    let mut all = Vec::new();
    for c in candidates {
        let code = *made.entry((c.code, c.turns)).or_insert_with(|| {
            let new = slowed(&program.codes[c.code.index()], &program.globals, c.turns)?;
            codes.push(new);
            Some(CodeId::from(codes.len() - 1))
        });
        all.extend(code.map(|code| (c, code)));
    }
    if all.is_empty() {
        return None;
    }
    let (mut graph, moved) = replaced(&program.graph, &all);
    let codes = only_used(&mut graph, codes);
    crate::graph_verify::debug_verify(&graph, "fold-branches");
    let steady = steady_state(&graph).ok()?;
    // everything else fires as before
    let same = |(old, new): (usize, &Option<NodeId>)| {
        new.is_none_or(|n| {
            let (a, b) = (&program.steady, &steady);
            a.repetitions[old] == b.repetitions[n.index()] && a.init[old] == b.init[n.index()]
        })
    };
    if !moved.iter().enumerate().all(same) {
        return None;
    }
    let told = |(c, _): &(Candidate, CodeId)| {
        let node = moved[c.split.index() + 1].unwrap_or(c.split);
        let filter = program.codes[c.code.index()].display.clone();
        Folded { path: graph.node(node).path.clone(), filter, branches: c.turns.streams, node }
    };
    let folded = all.iter().map(told).collect();
    let portals = program.portals.iter().filter_map(|(p, n)| Some((*p, moved[n.index()]?))).collect();
    Some((Elaborated { codes, graph, steady, portals, ..program.clone() }, folded))
}

/// The codes that some filter has; those of folded branches may have no other use.
fn only_used(graph: &mut SdfGraph, codes: Vec<FilterCode>) -> Vec<FilterCode> {
    let mut moved: Vec<Option<CodeId>> = vec![None; codes.len()];
    let code = |n: &Node| match n.kind {
        NodeKind::Filter { code, .. } => Some(code),
        _ => None,
    };
    let mut used = vec![false; codes.len()];
    graph.nodes.iter().filter_map(code).for_each(|c| used[c.index()] = true);
    let mut kept = Vec::new();
    for (i, c) in codes.into_iter().enumerate().filter(|(i, _)| used[*i]) {
        moved[i] = Some(CodeId::from(kept.len()));
        kept.push(c);
    }
    for n in &mut graph.nodes {
        if let NodeKind::Filter { code, .. } = &mut n.kind {
            *code = moved[code.index()].unwrap_or(*code);
        }
    }
    kept
}

/// The splitjoin of a splitter, where it can be folded: its branches have state, or with `also`, none.
fn candidate(program: &Elaborated, split: NodeId, also: bool) -> Option<Candidate> {
    let graph = &program.graph;
    let node = graph.node(split);
    let NodeKind::SplitRoundRobin(weights) = &node.kind else { return None };
    let n = weights.len();
    let join = NodeId::from(split.index() + n + 1);
    let (taken, given) = match &graph.nodes.get(join.index())?.kind {
        NodeKind::JoinRoundRobin(w) if w.len() == n && equal(w) && equal(weights) && n > 1 => (weights[0], w[0]),
        _ => return None,
    };
    if graph.node(join).hier != node.hier {
        return None;
    }
    let mut code = None;
    for i in 0..n {
        let branch = NodeId::from(split.index() + 1 + i);
        let NodeKind::Filter { code: c, stateful, prints: false, dynamic: false, .. } = graph.node(branch).kind else {
            return None;
        };
        if stateful == also {
            return None;
        }
        let (input, output) = (graph.node(branch).inputs.first()?, graph.node(branch).outputs.first()?);
        let (a, b) = (graph.channel(*input), graph.channel(*output));
        let at_its_place = a.from == (split, i as u32) && b.to == (join, i as u32);
        let empty = a.initial.is_empty() && b.initial.is_empty();
        if !at_its_place || !empty || *code.get_or_insert(c) != c || program.portals.iter().any(|p| p.1 == branch) {
            return None;
        }
    }
    let id = code?;
    let code = &program.codes[id.index()];
    let plain = code.init_output.is_empty() && code.calls_native.is_none() && code.sends.is_none();
    let whole = |r: Rates| {
        taken > 0 && given > 0 && r.pop > 0 && r.push > 0 && r.pop.is_multiple_of(taken) && r.push.is_multiple_of(given)
    };
    let works = code.prework.iter().chain([&code.work]);
    let turns = Turns { streams: u32::try_from(n).ok()?, taken, given };
    let fits = works.into_iter().all(|w| whole(w.rates) && rates(w.rates, turns).is_some());
    (plain && fits).then_some(Candidate { split, join, code: id, turns })
}

fn equal(weights: &[u32]) -> bool {
    weights.windows(2).all(|w| w[0] == w[1])
}

/// The graph with the candidates replaced, and where each node has gone; a splitjoin's first branch has become the filter.
fn replaced(graph: &SdfGraph, all: &[(Candidate, CodeId)]) -> (SdfGraph, Vec<Option<NodeId>>) {
    let mut gone = vec![false; graph.nodes.len()];
    let mut first: HashMap<NodeId, &(Candidate, CodeId)> = HashMap::new();
    for c in all {
        let branches = c.0.split.index() + 1..c.0.join.index();
        branches.clone().skip(1).for_each(|i| gone[i] = true);
        gone[c.0.split.index()] = true;
        gone[c.0.join.index()] = true;
        first.insert(NodeId::from(branches.start), c);
    }
    let mut moved: Vec<Option<NodeId>> = Vec::with_capacity(graph.nodes.len());
    let mut next = 0;
    for g in &gone {
        moved.push((!g).then(|| NodeId::from(next)));
        next += usize::from(!g);
    }
    let inner: Vec<bool> = graph
        .channels
        .iter()
        .map(|c| {
            let splits = |n: NodeId| first.contains_key(&NodeId::from(n.index() + 1)) && gone[n.index()];
            let joins = |n: NodeId| gone[n.index()] && matches!(graph.node(n).kind, NodeKind::JoinRoundRobin(_));
            splits(c.from.0) || joins(c.to.0)
        })
        .collect();
    let mut channel_moved: Vec<Option<ChannelId>> = Vec::with_capacity(graph.channels.len());
    let mut next = 0;
    for i in &inner {
        channel_moved.push((!i).then(|| ChannelId::from(next)));
        next += usize::from(!i);
    }
    // streams below a folded splitjoin are gone from the hierarchy
    let mut hier_gone = vec![false; graph.hierarchy.len()];
    let mut hier_folded = vec![None; graph.hierarchy.len()];
    for (c, _) in all.iter().filter(|_| !graph.hierarchy.is_empty()) {
        let h = graph.node(c.split).hier;
        hier_folded[h.index()] = Some(NodeId::from(c.split.index() + 1));
        let mut below = graph.hierarchy[h.index()].children.clone();
        while let Some(h) = below.pop() {
            hier_gone[h.index()] = true;
            below.extend(&graph.hierarchy[h.index()].children);
        }
    }
    let mut hier_moved = Vec::with_capacity(graph.hierarchy.len());
    let mut next = 0;
    for g in &hier_gone {
        hier_moved.push((!g).then(|| HierId::from(next)));
        next += usize::from(!g);
    }
    let mut out = SdfGraph::default();
    for (i, node) in graph.nodes.iter().enumerate().filter(|(i, _)| !gone[*i]) {
        let mut new = node.clone();
        if let Some((c, code)) = first.get(&NodeId::from(i)) {
            new = folded(graph, c, *code);
        }
        let ids = |all: &[ChannelId]| all.iter().filter_map(|c| channel_moved[c.index()]).collect();
        (new.inputs, new.outputs) = (ids(&new.inputs), ids(&new.outputs));
        new.hier = hier_moved.get(new.hier.index()).copied().flatten().unwrap_or(new.hier);
        out.nodes.push(new);
    }
    // an end at a splitter or joiner that is gone is an end at the filter
    let mut filters: HashMap<NodeId, NodeId> = HashMap::new();
    for (c, _) in all {
        if let Some(filter) = moved[c.split.index() + 1] {
            filters.extend([(c.split, filter), (c.join, filter)]);
        }
    }
    let end = |(n, port): (NodeId, u32)| match filters.get(&n) {
        Some(filter) => ((*filter, 0), Some(*filter)),
        None => ((moved[n.index()].unwrap_or(n), port), None),
    };
    for channel in graph.channels.iter().zip(&inner).filter(|(_, inner)| !**inner).map(|(c, _)| c) {
        let ((from, gives), (to, takes)) = (end(channel.from), end(channel.to));
        let mut new = Channel { from, to, ..channel.clone() };
        let rates = |n: NodeId| match out.nodes[n.index()].kind {
            NodeKind::Filter { rates, .. } => rates,
            _ => Rates::default(),
        };
        if let Some(filter) = gives {
            new.produce = rates(filter).push;
        }
        if let Some(filter) = takes {
            (new.consume, new.peek) = (rates(filter).pop, rates(filter).peek);
        }
        out.channels.push(new);
    }
    for (i, h) in graph.hierarchy.iter().enumerate().filter(|(i, _)| !hier_gone[*i]) {
        let mut new = h.clone();
        if let Some(first) = hier_folded[i] {
            new.kind = StreamKind::Filter;
            let of = &graph.hierarchy[graph.node(first).hier.index()];
            new.display = format!("{} x{}", of.display, h.children.len());
        }
        new.parent = h.parent.and_then(|p| hier_moved[p.index()]);
        new.children = h.children.iter().filter_map(|c| hier_moved[c.index()]).collect();
        let own = |n: &NodeId| if gone[n.index()] { None } else { moved[n.index()] };
        new.nodes = h.nodes.iter().filter_map(own).collect();
        new.nodes.extend(hier_folded[i].and_then(|n| moved[n.index()]));
        new.nodes.sort_unstable();
        out.hierarchy.push(new);
    }
    (out, moved)
}

/// The filter that a splitjoin becomes.
fn folded(graph: &SdfGraph, c: &Candidate, code: CodeId) -> Node {
    let (split, branch) = (graph.node(c.split), graph.node(NodeId::from(c.split.index() + 1)));
    let mut kind = branch.kind.clone();
    if let NodeKind::Filter { code: id, rates: r, prework, .. } = &mut kind {
        *id = code;
        *r = rates(*r, c.turns).unwrap_or_default();
        *prework = prework.and_then(|p| rates(p, c.turns));
    }
    let path = split.path.strip_suffix(".split").unwrap_or(&split.path).to_string();
    Node {
        path,
        name: format!("{} x{}", branch.name, c.turns.streams),
        kind,
        inputs: split.inputs.clone(),
        outputs: graph.node(c.join).outputs.clone(),
        span: branch.span,
        hier: split.hier,
    }
}
