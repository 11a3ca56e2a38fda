//! The flat graph with streams replaced by one filter each.

use super::streams::Piece;
use sluice_frontend::graph::{Channel, HierNode, Node, NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, CodeId, HierId, NodeId};
use sluice_frontend::typed::FilterCode;
use sluice_grammar::ast::StreamKind;

/// A piece, the code of its filter, and that code.
pub type Replacement<'a> = (&'a Piece, CodeId, &'a FilterCode);

/// The graph with the pieces replaced, and where each node has gone; those of a piece have all gone to its filter.
pub fn replaced(graph: &SdfGraph, all: &[Replacement<'_>]) -> (SdfGraph, Vec<NodeId>) {
    let mut piece_of = vec![None; graph.nodes.len()];
    for (i, (p, ..)) in all.iter().enumerate() {
        piece_of[p.nodes.0.index()..=p.nodes.1.index()].fill(Some(i));
    }
    // streams that stand for a filter, and those that are gone
    let mut stands = vec![None; graph.hierarchy.len()];
    let mut gone = vec![false; graph.hierarchy.len()];
    for (i, (p, ..)) in all.iter().enumerate() {
        p.streams.iter().for_each(|h| gone[h.index()] = true);
        if let Some(h) = p.streams.first() {
            (stands[h.index()], gone[h.index()]) = (Some(i), false);
        }
    }
    for i in 0..graph.hierarchy.len() {
        if graph.hierarchy[i].parent.is_some_and(|p| gone[p.index()] || stands[p.index()].is_some()) {
            gone[i] = true;
        }
    }
    let hier = numbers(gone.iter().map(|g| !g), HierId::from);
    let inner = |c: &Channel| {
        let (a, b) = (piece_of[c.from.0.index()], piece_of[c.to.0.index()]);
        a.is_some() && a == b
    };
    let channels = numbers(graph.channels.iter().map(|c| !inner(c)), ChannelId::from);
    let mut made: Vec<Option<NodeId>> = vec![None; all.len()];
    let (mut out, mut place) = (SdfGraph::default(), Vec::with_capacity(graph.nodes.len()));
    for (v, node) in graph.nodes.iter().enumerate() {
        let next = NodeId::from(out.nodes.len());
        let ids = |list: &[ChannelId]| list.iter().filter_map(|c| channels[c.index()]).collect();
        let Some(i) = piece_of[v] else {
            place.push(next);
            let hier = hier.get(node.hier.index()).copied().flatten().unwrap_or(HierId(0));
            out.nodes.push(Node { inputs: ids(&node.inputs), outputs: ids(&node.outputs), hier, ..node.clone() });
            continue;
        };
        place.push(*made[i].get_or_insert(next));
        if made[i] == Some(next) {
            let (piece, code, filter) = all[i];
            let (first, last) = (graph.node(piece.nodes.0), graph.node(piece.nodes.1));
            let stream = piece.streams.first().and_then(|h| hier[h.index()]).unwrap_or(HierId(0));
            let kind = NodeKind::Filter {
                code,
                rates: filter.work.rates,
                prework: filter.prework.as_ref().map(|p| p.rates),
                stateful: false,
                prints: false,
                dynamic: false,
            };
            let path = first.path.strip_suffix(".split").unwrap_or(&first.path).to_string();
            out.nodes.push(Node {
                path,
                name: filter.name.to_string(),
                kind,
                inputs: ids(&first.inputs),
                outputs: ids(&last.outputs),
                span: first.span,
                hier: stream,
            });
        }
    }
    for c in graph.channels.iter().filter(|c| !inner(c)) {
        let mut new =
            Channel { from: (place[c.from.0.index()], c.from.1), to: (place[c.to.0.index()], c.to.1), ..c.clone() };
        if let Some(i) = piece_of[c.from.0.index()] {
            (new.produce, new.from.1) = (all[i].2.work.rates.push, 0);
        }
        if let Some(i) = piece_of[c.to.0.index()] {
            let rates = all[i].2.work.rates;
            (new.consume, new.peek, new.to.1) = (rates.pop, rates.peek, 0);
        }
        out.channels.push(new);
    }
    for (i, h) in graph.hierarchy.iter().enumerate().filter(|(i, _)| !gone[*i]) {
        let own = h.nodes.iter().filter(|v| piece_of[v.index()].is_none()).map(|v| place[v.index()]);
        let mut new = HierNode {
            parent: h.parent.and_then(|p| hier[p.index()]),
            children: h.children.iter().filter_map(|c| hier[c.index()]).collect(),
            nodes: own.collect(),
            ..h.clone()
        };
        if let Some(p) = stands[i] {
            let (piece, _, filter) = all[p];
            new.kind = StreamKind::Filter;
            new.display = filter.display.clone();
            new.io = (filter.input.clone(), filter.output.clone());
            new.children.clear();
            new.nodes.push(place[piece.nodes.0.index()]);
            new.nodes.sort_unstable();
        }
        out.hierarchy.push(new);
    }
    (out, place)
}

/// New numbers for those that stay.
fn numbers<T>(stay: impl Iterator<Item = bool>, id: fn(usize) -> T) -> Vec<Option<T>> {
    let mut next = 0;
    stay.map(|stays| {
        stays.then(|| {
            next += 1;
            id(next - 1)
        })
    })
    .collect()
}
