//! # delays
//!
//! Purpose: filters that only delay, gone: what they would give first waits on the channel from the beginning. Input: an elaborated program, the kernel of each filter.
//! Output: a program that gives the same items, to the last bit, at the same places in the order of firings; `None` where there is nothing to do.
//!
//! ```text
//! Delay (prework pushes 31 zeroes, work push(pop())) → LowPass     →     LowPass, 31 zeroes on its input
//! ```
//!
//! A filter is a *delay* where its work function gives the one item that it takes, and its prework takes nothing and gives constants. Delays that stand before a filter in a
//! pipeline become items that wait before it; that filter is what it was. Elsewhere they stay.
//!
//! What must hold: the program has no messages and no dynamic rates; every other node fires as often as before in the initialisation and in a steady state.

use super::extract::{Given, given};
use super::rewrite::replaced;
use super::streams::{Piece, plain};
use crate::ir::Kernel;
use sluice_frontend::Elaborated;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::{HierNode, NodeKind, SdfGraph};
use sluice_frontend::graph_verify::debug_verify;
use sluice_frontend::ids::{CodeId, HierId, NodeId};
use sluice_frontend::steady_state::steady_state;
use sluice_frontend::typed::FilterCode;
use sluice_grammar::ast::StreamKind;

/// Items that a delay holds, at most: they stand in the code.
const MOST: u32 = 1 << 12;

/// The program without delays before filters.
pub fn without(program: &Elaborated, kernel: &mut dyn FnMut(&FilterCode) -> Option<Kernel>) -> Option<Elaborated> {
    if !plain(program) {
        return None;
    }
    let held: Vec<Option<Vec<Const>>> = program.codes.iter().map(|c| held(c, kernel)).collect();
    let all = runs(&program.graph, &held);
    if all.is_empty() {
        return None;
    }
    let pieces: Vec<(Piece, CodeId)> = all.iter().map(|r| (r.piece.clone(), r.code)).collect();
    let pieces: Vec<_> = pieces.iter().map(|(p, code)| (p, *code, &program.codes[code.index()])).collect();
    let (mut graph, place) = replaced(&program.graph, &pieces);
    for r in &all {
        let old = program.graph.node(r.piece.nodes.1);
        let node = &mut graph.nodes[place[r.piece.nodes.1.index()].index()];
        // it is the filter that it was
        (node.path, node.name, node.span) = (old.path.clone(), old.name.clone(), old.span);
        node.kind = old.kind.clone();
        let input = *node.inputs.first()?;
        let c = &mut graph.channels[input.index()];
        let later = std::mem::take(&mut c.initial);
        c.initial = r.waiting.iter().cloned().chain(later).collect();
    }
    debug_verify(&graph, "delays");
    let steady = steady_state(&graph).ok()?;
    let gone = |v: NodeId| all.iter().any(|r| r.piece.nodes.0 <= v && v < r.piece.nodes.1);
    let same = |v: NodeId| {
        let (old, new) = (v.index(), place[v.index()].index());
        let (a, b) = (&program.steady, &steady);
        gone(v) || a.repetitions[old] == b.repetitions[new] && a.init[old] == b.init[new]
    };
    program.graph.node_ids().all(same).then(|| Elaborated { graph, steady, ..program.clone() })
}

/// What a delay holds; `None` where the filter does anything else.
fn held(code: &FilterCode, kernel: &mut dyn FnMut(&FilterCode) -> Option<Kernel>) -> Option<Vec<Const>> {
    let (work, first) = (code.work.rates, code.prework.as_ref()?.rates);
    let quiet = code.stateful.is_none()
        && !code.prints
        && code.init_output.is_empty()
        && code.calls_native.is_none()
        && code.sends.is_none()
        && !code.uses_iter
        && code.handlers.is_empty();
    // one at a time: of an odd number of items, two at a time keep one back
    let moves = (work.pop, work.push, work.peek) == (1, 1, 1) && code.input == code.output;
    if !quiet || !moves || first.peek > 0 || first.pop > 0 || !(1..=MOST).contains(&first.push) {
        return None;
    }
    let kernel = kernel(code)?;
    let in_order = given(&kernel, &kernel.work).ok()? == [Given::Item(0)];
    let known = |g: Given| if let Given::Known(c) = g { Some(c) } else { None };
    let waiting: Option<Vec<Const>> = given(&kernel, kernel.prework.as_ref()?).ok()?.into_iter().map(known).collect();
    waiting.filter(|_| in_order)
}

/// Delays and the filter behind them.
struct Run {
    piece: Piece,
    code: CodeId,
    /// The oldest first.
    waiting: Vec<Const>,
}

fn runs(graph: &SdfGraph, held: &[Option<Vec<Const>>]) -> Vec<Run> {
    let mut all = Vec::new();
    let loops = within_loops(&graph.hierarchy);
    for (i, h) in graph.hierarchy.iter().enumerate() {
        if h.kind != StreamKind::Pipeline || loops[i] {
            continue;
        }
        let mut streams: Vec<(HierId, NodeId)> = Vec::new();
        for child in &h.children {
            let Some((v, code)) = filter(graph, *child) else {
                streams.clear();
                continue;
            };
            let empty = graph.node(v).inputs.iter().all(|c| graph.channel(*c).initial.is_empty());
            if !empty || !streams.last().is_none_or(|(_, before)| follows(graph, *before, v)) {
                streams.clear();
            }
            if held[code.index()].is_some() {
                streams.push((*child, v));
                continue;
            }
            if let Some((_, first)) = streams.first() {
                // the last delay's items come first
                let holds = |v: &NodeId| filter_code(graph, *v).and_then(|c| held[c.index()].as_ref());
                let waiting = streams.iter().rev().filter_map(|(_, v)| holds(v)).flatten().cloned().collect();
                let mut ids: Vec<HierId> = streams.iter().map(|(h, _)| *h).collect();
                ids.push(*child);
                all.push(Run { piece: Piece::exact(ids, (*first, v)), code, waiting });
            }
            streams.clear();
        }
    }
    all.sort_by_key(|r| r.piece.nodes.0);
    all
}

/// By stream: is it in a feedback loop, or one?
pub(super) fn within_loops(hierarchy: &[HierNode]) -> Vec<bool> {
    let mut loops = vec![false; hierarchy.len()];
    for (i, h) in hierarchy.iter().enumerate() {
        loops[i] = h.kind == StreamKind::FeedbackLoop || h.parent.is_some_and(|p| loops[p.index()]);
    }
    loops
}

/// The filter that a stream is.
pub(super) fn filter(graph: &SdfGraph, h: HierId) -> Option<(NodeId, CodeId)> {
    let stream = &graph.hierarchy[h.index()];
    match stream.nodes[..] {
        [v] if stream.kind == StreamKind::Filter => Some((v, filter_code(graph, v)?)),
        _ => None,
    }
}

fn filter_code(graph: &SdfGraph, v: NodeId) -> Option<CodeId> {
    match &graph.node(v).kind {
        NodeKind::Filter { code, dynamic: false, .. } => Some(*code),
        _ => None,
    }
}

/// Does one node stand right before the other, on one channel with nothing odd about it?
pub(super) fn follows(graph: &SdfGraph, a: NodeId, b: NodeId) -> bool {
    let (from, to) = (graph.node(a), graph.node(b));
    match (&from.outputs[..], &to.inputs[..]) {
        ([c], [d]) => c == d && a.index() + 1 == b.index() && !graph.channel(*c).dynamic && !graph.channel(*c).feedback,
        _ => false,
    }
}
