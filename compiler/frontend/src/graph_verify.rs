//! What must hold of a flat graph. Passes that make or change one are followed by this in debug builds and tests.
//!
//! - Every channel stands at the ports that it names, and nowhere else; every port has a channel.
//! - A filter has at most one input and one output; an identity, a splitter, a joiner, a reader, a writer have what they deal with.
//! - What a channel carries per firing is what its ends say: rates, weights, or 1. `peek` is never less than `pop`, in a prework neither.
//!   A splitter's or joiner's weights add up to 32 bits.
//! - A dynamic channel has a dynamic filter at one end.
//! - A channel's items have a type and a value; what splitters, joiners and identities pass on stays of one type; initial items have the
//!   channel's type.
//! - Paths are unique. Node order is program order: a channel leads to a later node unless it closes a feedback loop, and then it ends at
//!   a joiner.
//! - The hierarchy is a tree in depth-first order from entry 0; parents and children, streams and nodes name each other; a filter's entry
//!   holds its one node. A graph made by hand may do without a hierarchy.

use crate::constant::Const;
use crate::graph::*;
use crate::ids::*;
use crate::ty::Ty;
use sluice_grammar::ast::StreamKind;
use std::collections::HashSet;

/// Checks a graph; says what is wrong first.
pub fn verify(graph: &SdfGraph) -> Result<(), String> {
    for id in graph.channel_ids() {
        channel(graph, id).map_err(|e| format!("{id}: {e}"))?;
    }
    let mut paths = HashSet::new();
    for id in graph.node_ids() {
        node(graph, id).map_err(|e| format!("{id}: {e}"))?;
        if !paths.insert(&graph.node(id).path) {
            return Err(format!("{id}: there is another {}", graph.node(id).path));
        }
    }
    if graph.hierarchy.is_empty() { Ok(()) } else { hierarchy(graph) }
}

/// Panics where a graph breaks the rules, in debug builds and tests only; names the pass that did it.
pub fn debug_verify(graph: &SdfGraph, after: &str) {
    if cfg!(debug_assertions)
        && let Err(e) = verify(graph)
    {
        panic!("after {after}: {e}\n{}", crate::graph_text::print(graph));
    }
}

fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn sum(weights: &[u32]) -> Option<u32> {
    weights.iter().try_fold(0u32, |sum, w| sum.checked_add(*w))
}

fn channel(graph: &SdfGraph, id: ChannelId) -> Result<(), String> {
    let c = graph.channel(id);
    let ((from, output), (to, input)) = (c.from, c.to);
    for (n, port, gives) in [(from, output, true), (to, input, false)] {
        let node = graph.nodes.get(n.index()).ok_or_else(|| format!("there is no {n}"))?;
        let ports = if gives { &node.outputs } else { &node.inputs };
        must(ports.get(port as usize) == Some(&id), || format!("port {port} of {n} names another channel"))?;
    }
    let gives = match &graph.node(from).kind {
        NodeKind::Filter { rates, .. } => Some(rates.push),
        NodeKind::SplitRoundRobin(w) => w.get(output as usize).copied(),
        NodeKind::JoinRoundRobin(w) => Some(sum(w).ok_or("the joiner's weights are too large")?),
        NodeKind::Identity | NodeKind::Duplicate | NodeKind::Reader(_) => Some(1),
        NodeKind::Writer(_) => None,
    };
    let takes = match &graph.node(to).kind {
        NodeKind::Filter { rates, .. } => Some((rates.pop, rates.peek)),
        NodeKind::SplitRoundRobin(w) => Some(sum(w).ok_or("the splitter's weights are too large")?).map(|s| (s, s)),
        NodeKind::JoinRoundRobin(w) => w.get(input as usize).map(|w| (*w, *w)),
        NodeKind::Identity | NodeKind::Duplicate | NodeKind::Writer(_) => Some((1, 1)),
        NodeKind::Reader(_) => None,
    };
    must(gives == Some(c.produce), || format!("push {} where {from} gives {gives:?}", c.produce))?;
    let here = (c.consume, c.peek);
    must(takes == Some(here), || format!("pop and peek {here:?} where {to} takes {takes:?}"))?;
    must(c.peek >= c.consume, || "peek is less than pop".into())?;
    must(!matches!(c.ty, Ty::Void | Ty::Error | Ty::Str | Ty::Portal(_)), || format!("{:?} on a channel", c.ty))?;
    for item in &c.initial {
        must(fits(item, &c.ty), || format!("{item:?} is not {}", crate::graph_text::ty(&c.ty)))?;
    }
    let decides = graph.is_dynamic(from) || graph.is_dynamic(to);
    must(!c.dynamic || decides, || "dynamic, though neither of its ends is".into())?;
    must(c.feedback || from < to, || format!("{from} does not stand before {to}"))?;
    let joins = matches!(graph.node(to).kind, NodeKind::JoinRoundRobin(_));
    must(!c.feedback || joins && from > to, || "feedback leads back to a joiner".into())
}

/// Has a value this type? (Structs: their fields are not known here.)
fn fits(value: &Const, ty: &Ty) -> bool {
    match (value, ty) {
        (Const::Bit(_), Ty::Bit)
        | (Const::Bool(_), Ty::Bool)
        | (Const::Int(_), Ty::Int)
        | (Const::Float(_), Ty::Float)
        | (Const::Double(_), Ty::Double)
        | (Const::Complex(..), Ty::Complex)
        | (Const::Struct(_), Ty::Struct(_)) => true,
        (Const::Vec(n, _), Ty::Vec(m)) => n == m,
        (Const::Array(all), Ty::Array(element, _)) => {
            ty.known_len() == Some(all.len() as u32) && all.iter().all(|v| fits(v, element))
        }
        _ => false,
    }
}

fn node(graph: &SdfGraph, id: NodeId) -> Result<(), String> {
    let node = graph.node(id);
    for (ports, gives) in [(&node.inputs, false), (&node.outputs, true)] {
        for (port, c) in ports.iter().enumerate() {
            let c = graph.channels.get(c.index()).ok_or_else(|| format!("there is no {c}"))?;
            let end = if gives { c.from } else { c.to };
            must(end == (id, port as u32), || format!("the channel at port {port} names another port"))?;
        }
    }
    let (i, o) = (node.inputs.len(), node.outputs.len());
    let arity = match &node.kind {
        NodeKind::Filter { .. } => i <= 1 && o <= 1,
        NodeKind::Identity => i == 1 && o == 1,
        NodeKind::Duplicate => i == 1 && o >= 1,
        NodeKind::SplitRoundRobin(w) => i == 1 && o >= 1 && o == w.len(),
        NodeKind::JoinRoundRobin(w) => o == 1 && i >= 1 && i == w.len(),
        NodeKind::Reader(_) => i == 0 && o == 1,
        NodeKind::Writer(_) => i == 1 && o == 0,
    };
    must(arity, || format!("{i} inputs and {o} outputs"))?;
    match &node.kind {
        NodeKind::Filter { rates, prework, .. } => {
            for r in [Some(rates), prework.as_ref()].into_iter().flatten() {
                must(r.peek >= r.pop, || "peek is less than pop".into())?;
                must(i == 1 || r.peek == 0, || "pops from no channel".into())?;
                must(o == 1 || r.push == 0, || "pushes to no channel".into())?;
            }
        }
        NodeKind::Reader(_) | NodeKind::Writer(_) => {}
        _ => {
            let mut types = node.inputs.iter().chain(&node.outputs).map(|c| &graph.channel(*c).ty);
            let first = types.next();
            must(types.all(|t| Some(t) == first), || "passes on items of several types".into())?;
        }
    }
    Ok(())
}

fn hierarchy(graph: &SdfGraph) -> Result<(), String> {
    let all = &graph.hierarchy;
    for (i, h) in all.iter().enumerate() {
        let id = HierId::from(i);
        must((i == 0) == h.parent.is_none(), || format!("{id}: only h0 has no parent"))?;
        for child in &h.children {
            let c = all.get(child.index()).ok_or_else(|| format!("{id}: there is no {child}"))?;
            must(c.parent == Some(id) && *child > id, || format!("{id}: {child} is not its child"))?;
        }
        must(h.children.is_sorted_by(|a, b| a < b), || format!("{id}: its children are not in order"))?;
        must(h.nodes.is_sorted_by(|a, b| a < b), || format!("{id}: its nodes are not in order"))?;
        for n in &h.nodes {
            let node = graph.nodes.get(n.index()).ok_or_else(|| format!("{id}: there is no {n}"))?;
            must(node.hier == id, || format!("{id}: {n} is not in it"))?;
        }
        if h.kind == StreamKind::Filter {
            let own = h.nodes.iter().filter(|n| i > 0 || !is_open_end(&graph.node(**n).kind)).count();
            must(h.children.is_empty() && own == 1, || format!("{id}: a filter is one node"))?;
        }
    }
    let children: usize = all.iter().map(|h| h.children.len()).sum();
    must(children + 1 == all.len(), || "a stream is not named by its parent".into())?;
    let nodes: usize = all.iter().map(|h| h.nodes.len()).sum();
    must(nodes == graph.nodes.len(), || "a node is not named by its stream".into())
}

fn is_open_end(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Reader(Endpoint::Open) | NodeKind::Writer(Endpoint::Open))
}
