//! Feedback loops that cannot start: who waits for whom, and how many items have to be enqueued.

use super::bench::Bench;
use super::explain::{inside, items, path};
use super::startup::{Blocked, Start};
use crate::graph::{Node, SdfGraph};
use crate::ids::*;
use crate::ty::Ty;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;

/// Loops reported one by one.
const SHOWN: usize = 10;
/// Steps that the search for the missing items may take, all loops together.
const PATIENCE: u64 = 4_000_000;
/// Loops times nodes beyond which the search is not worth its time.
const LARGEST: usize = 1 << 16;
/// The most items that are looked for.
const MOST: u64 = 1 << 40;

/// Diagnostics for components that come to a halt.
pub fn deadlock(start: &Start, initial: &[u64], blocked: &[Blocked]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut bench = Bench::new(start.graph, PATIENCE);
    let mut lacking = Vec::new();
    for b in blocked.iter().take(SHOWN) {
        component(start, initial, b, &mut bench, &mut lacking, &mut out);
    }
    for d in &mut out {
        // what is written there is written for all instances
        let at = d.span();
        let mut loops = start.graph.channels.iter().filter(|c| c.feedback).map(|c| start.graph.node(c.to.0));
        let of = |name: &str| lacking.iter().find(|(span, n, _)| *span == at && n == name).map(|(.., more)| more);
        let first = lacking.iter().find(|(span, ..)| *span == at).map(|(.., more)| more);
        if !loops.all(|join| join.span != at || of(called(start.graph, join)) == first) {
            d.fixes.clear();
        }
    }
    if blocked.len() > SHOWN
        && let Some(d) = out.last_mut()
    {
        d.notes.push(format!("{} more loops of this program cannot start", blocked.len() - SHOWN));
    }
    out
}

/// The loop of a joiner, with its arguments.
fn called<'g>(graph: &'g SdfGraph, join: &'g Node) -> &'g str {
    graph.hierarchy.get(join.hier.index()).map_or(&join.path, |h| &h.display)
}

/// Loops, by their joiners' places and what they are called, and how many items they lack.
type Lacking = Vec<(Span, String, u64)>;

fn component(
    start: &Start,
    initial: &[u64],
    b: &Blocked,
    bench: &mut Bench,
    lacking: &mut Lacking,
    out: &mut Vec<Diagnostic>,
) {
    let graph = start.graph;
    let loops: Vec<ChannelId> = (b.part.iter())
        .flat_map(|n| &graph.node(*n).inputs)
        .copied()
        .filter(|c| graph.channel(*c).feedback && start.inside(*c))
        .collect();
    let missing = missing(start, initial, &b.part, &loops, bench);
    let before = out.len();
    for (i, back) in loops.iter().enumerate() {
        let join = graph.channel(*back).to.0;
        let reported = match &missing {
            Some(more) => more[i] > 0,
            None => b.waiting.iter().any(|(_, c, _)| c == back),
        };
        let node = graph.node(join);
        let name = called(graph, node);
        if let Some(more) = &missing {
            lacking.push((node.span, name.to_string(), more[i]));
        }
        if !reported || out.len() - before >= SHOWN {
            continue;
        }
        let enqueued = match initial[back.index()] {
            0 => "no item is enqueued".to_string(),
            1 => "only 1 item is enqueued".to_string(),
            n => format!("only {n} items are enqueued"),
        };
        let mut d = Diagnostic::error(
            "E0303",
            format!("the feedback loop `{name}` cannot start"),
            node.span,
            format!("the joiner waits for its feedback: {enqueued}"),
        );
        for (n, c, lacks) in b.waiting.iter().filter(|(n, c, _)| c != back && inside(graph, *n, node.hier)).take(4) {
            let (waiter, from) = (path(graph, *n), path(graph, graph.channel(*c).from.0));
            d = d.note(format!("`{waiter}` lacks {} from `{from}`", items(*lacks)));
        }
        out.push(match &missing {
            Some(more) => {
                let n = more[i];
                let are = if n == 1 { "is" } else { "are" };
                let d = d.help(format!("enqueue {} more: {n} `enqueue` {are} missing", items(n)));
                let d = match zeros(&graph.channel(*back).ty, n) {
                    Some(text) => {
                        let behind = Span { start: node.span.end, ..node.span };
                        d.fix(Fix::new(format!("write `{}`", text.trim_start()), behind, text))
                    }
                    None => d,
                };
                let others = more.iter().filter(|m| **m > 0).count() - 1;
                if others > 0 { d.note("the loops around it or in it need items, too") } else { d }
            }
            None => d.help("more items have to be enqueued, here or in the loops around it or in it"),
        });
    }
    if out.len() == before
        && let Some((n, c, lacks)) = b.waiting.first()
    {
        let (waiter, from) = (graph.node(*n), graph.node(graph.channel(*c).from.0));
        let label = format!("`{}` lacks {}", path(graph, *n), items(*lacks));
        out.push(
            Diagnostic::error("E0303", "the program cannot start", waiter.span, label)
                .label(from.span, "waits for this in turn"),
        );
    }
}

/// Statements that enqueue so many items that are 0; `None` where they cannot be written as literals.
fn zeros(ty: &Ty, n: u64) -> Option<String> {
    let zero = match ty {
        Ty::Bit | Ty::Int => "0",
        Ty::Bool => "false",
        Ty::Float | Ty::Double => "0.0",
        Ty::Complex => "0i",
        _ => return None,
    };
    Some(match n {
        1..=4 => format!(" enqueue {zero};").repeat(n as usize),
        _ if i32::try_from(n).is_ok() => format!(" for (int i = 0; i < {n}; i++) enqueue {zero};"),
        _ => return None,
    })
}

/// For each feedback channel of a component the further items with which all of it can start: as few as possible for the
/// first, then for the next. `None` where that cannot be found (in time).
fn missing(
    start: &Start,
    initial: &[u64],
    part: &[NodeId],
    loops: &[ChannelId],
    bench: &mut Bench,
) -> Option<Vec<u64>> {
    let regular = start.regular(part);
    let size = if regular { part.len() } else { start.graph.nodes.len() };
    if loops.is_empty() || loops.len().saturating_mul(size) > LARGEST {
        return None;
    }
    let mut more = vec![0; loops.len()];
    let mut raised = initial.to_vec();
    let mut works = |more: &[u64]| {
        loops.iter().zip(more).for_each(|(c, m)| raised[c.index()] = initial[c.index()] + m);
        let initial = &raised;
        if regular {
            return start.live(bench, part, initial).is_ok();
        }
        start.startup(initial, PATIENCE / 64).is_ok()
    };
    let mut enough = 1;
    while !works(&vec![enough; loops.len()]) {
        enough *= 2;
        if enough > MOST {
            return None;
        }
    }
    more.fill(enough);
    for i in 0..loops.len() {
        // `high` works, all below `low` do not
        let (mut low, mut high) = (0, enough);
        while low < high {
            let middle = low + (high - low) / 2;
            more[i] = middle;
            if works(&more) { high = middle } else { low = middle + 1 }
        }
        more[i] = high;
    }
    works(&more).then_some(more)
}
