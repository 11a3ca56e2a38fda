//! N streams through one program.
//!
//! Takes an elaborated program and N; gives the one whose channels carry N streams item by item, or says what has no meaning then. What
//! passes on items one by one stays as it is; weights are multiplied by N, and so are initial items.

use super::code::{Turns, rates, slowed, takes_items_as_they_come};
use crate::Elaborated;
use crate::constant::Const;
use crate::eval::MAX_ITEMS;
use crate::eval::value::size;
use crate::graph::{Endpoint, NodeKind, SdfGraph};
use crate::ids::*;
use crate::steady_state::steady_state;
use crate::typed::FilterCode;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;

/// The most streams that take turns.
pub const MOST_STREAMS: u32 = 4096;

/// A program for `n` streams, 1 to [`MOST_STREAMS`].
pub fn streams(program: &Elaborated, n: u32) -> Result<Elaborated, Vec<Diagnostic>> {
    if n <= 1 {
        return Ok(program.clone());
    }
    let refused = refusals(program);
    if !refused.is_empty() {
        return Err(refused);
    }
    let turns = Turns { streams: n, taken: 1, given: 1 };
    let mut out = program.clone();
    let mut used = vec![false; out.codes.len()];
    for node in &out.graph.nodes {
        if let NodeKind::Filter { code, .. } = node.kind {
            used[code.index()] = true;
        }
    }
    let as_they_come: Vec<bool> = out.codes.iter().map(takes_items_as_they_come).collect();
    let mut held = 0u64;
    for (i, code) in out.codes.iter_mut().enumerate().filter(|(i, _)| used[*i] && !as_they_come[*i]) {
        let large = || too_large(&program.codes[i], n);
        let new = slowed(code, &program.globals, turns).ok_or_else(|| vec![large()])?;
        let fields = new.fields.iter().filter(|f| !f.constant);
        held += fields.filter_map(|f| size(&f.ty, &program.globals).ok()).sum::<u64>();
        if held > MAX_ITEMS {
            return Err(vec![large()]);
        }
        *code = new;
    }
    held = 0;
    for node in &mut out.graph.nodes {
        let fits = match &mut node.kind {
            NodeKind::Filter { code, rates: r, prework, .. } if !as_they_come[code.index()] => {
                // the code was made, so its rates fit
                *r = rates(*r, turns).unwrap_or_default();
                *prework = prework.and_then(|p| rates(p, turns));
                true
            }
            NodeKind::SplitRoundRobin(weights) | NodeKind::JoinRoundRobin(weights) => times(weights, n),
            _ => true,
        };
        if !fits {
            let what = format!("`{}` deals out too much for {n} streams", node.path);
            return Err(vec![
                Diagnostic::error(
                    "E0961",
                    what,
                    node.span,
                    "its weights, times as many as streams, do not fit into 32 bits",
                )
                .help("fewer streams, or smaller weights"),
            ]);
        }
    }
    for i in 0..out.graph.channels.len() {
        held += out.graph.channels[i].initial.len() as u64 * u64::from(n);
        if held > MAX_ITEMS {
            let span = out.graph.node(out.graph.channels[i].to.0).span;
            let what = format!("too many initial items for {n} streams");
            return Err(vec![
                Diagnostic::error("E0961", what, span, "each stream has its own items in the loop that closes here")
                    .help("fewer streams, or fewer enqueued items"),
            ]);
        }
        channel(&mut out.graph, ChannelId::from(i), n);
    }
    crate::graph_verify::debug_verify(&out.graph, "c-slow");
    out.steady = steady_state(&out.graph)?;
    // an iteration is one of each stream's, also where no filter says so
    for (i, node) in out.graph.nodes.iter().enumerate() {
        let one_by_one = match &node.kind {
            NodeKind::Filter { code, .. } => as_they_come[code.index()],
            NodeKind::SplitRoundRobin(_) | NodeKind::JoinRoundRobin(_) => false,
            _ => true,
        };
        let all = program.steady.repetitions[i].checked_mul(if one_by_one { u64::from(n) } else { 1 });
        out.steady.repetitions[i] = all.ok_or_else(|| {
            let what = format!("a steady state of {n} streams has more firings than can be counted");
            vec![Diagnostic::error("E0961", what, node.span, "this fires too often").help("fewer streams")]
        })?;
    }
    Ok(out)
}

fn times(weights: &mut [u32], n: u32) -> bool {
    let all: Option<Vec<u32>> = weights.iter().map(|w| w.checked_mul(n)).collect();
    let Some(all) = all.filter(|a| a.iter().try_fold(0u32, |s, w| s.checked_add(*w)).is_some()) else { return false };
    weights.copy_from_slice(&all);
    true
}

/// What a channel carries now, by its ends.
fn channel(graph: &mut SdfGraph, id: ChannelId, n: u32) {
    let c = graph.channel(id);
    let produce = match &graph.node(c.from.0).kind {
        NodeKind::Filter { rates, .. } => rates.push,
        NodeKind::SplitRoundRobin(w) => w[c.from.1 as usize],
        NodeKind::JoinRoundRobin(w) => w.iter().sum(),
        _ => c.produce,
    };
    let (consume, peek) = match &graph.node(c.to.0).kind {
        NodeKind::Filter { rates, .. } => (rates.pop, rates.peek),
        NodeKind::JoinRoundRobin(w) => (w[c.to.1 as usize], w[c.to.1 as usize]),
        NodeKind::SplitRoundRobin(w) => (w.iter().sum(), w.iter().sum()),
        _ => (c.consume, c.peek),
    };
    let c = &mut graph.channels[id.index()];
    (c.produce, c.consume, c.peek) = (produce, consume, peek);
    let each = |item: &Const| std::iter::repeat_n(item.clone(), n as usize);
    c.initial = c.initial.iter().flat_map(each).collect();
}

fn too_large(code: &FilterCode, n: u32) -> Diagnostic {
    let what = format!("`{}` becomes too large for {n} streams", code.display);
    Diagnostic::error("E0961", what, code.span, "its rates or its state, once for each stream, are beyond the limits")
        .help("fewer streams, or smaller rates and fields")
}

/// What has no meaning where streams take turns: each place once.
fn refusals(program: &Elaborated) -> Vec<Diagnostic> {
    const ENOUGH: usize = 10;
    let mut all: Vec<Diagnostic> = Vec::new();
    let mut add = |what: String, span: Span, why: &str, help: &str| {
        if all.len() < ENOUGH && !all.iter().any(|d| d.span() == span) {
            all.push(Diagnostic::error("E0960", what, span, why).help(help));
        }
    };
    let graph = &program.graph;
    for node in &graph.nodes {
        match &node.kind {
            NodeKind::Reader(Endpoint::File(path)) => add(
                format!("streams cannot take turns in the file `{path}`"),
                node.span,
                "every stream would read this file from its start",
                "leave the entry's input open and bind the file with --input: its items are the streams' in turn",
            ),
            NodeKind::Writer(Endpoint::File(path)) => add(
                format!("streams cannot take turns in the file `{path}`"),
                node.span,
                "every stream would write this file",
                "leave the entry's output open and bind the file with --output: the streams' items come out in turn",
            ),
            NodeKind::Filter { code, .. } => {
                let code = &program.codes[code.index()];
                if code.dynamic() {
                    add(
                        format!("streams cannot take turns in `{}`", code.display),
                        code.work.span,
                        "each stream could pop and push another number of items",
                        "give the filter constant rates",
                    );
                }
                if code.prints || !code.init_output.is_empty() {
                    add(
                        format!("streams cannot take turns in `{}`", code.display),
                        code.span,
                        "it prints: nobody could tell for which stream",
                        "push what it prints, so that it comes out in turn",
                    );
                }
                if let Some(span) = code.calls_native {
                    add(
                        format!("streams cannot take turns in `{}`", code.display),
                        span,
                        "a native function may keep something from one call to the next, and knows no streams",
                        "write it in the language, or run the streams one by one",
                    );
                }
            }
            _ => {}
        }
    }
    for link in &program.messages.links {
        add(
            "streams cannot take turns where messages are sent".into(),
            link.span,
            "a message is for one stream, its receiver serves all",
            "send what it says as items",
        );
    }
    all.sort_by_key(|d| (d.span().file, d.span().start));
    all
}
