//! What cannot start, in the words of streams.

use super::deadlock;
use super::repetitions::FIRINGS;
use super::startup::{ITEMS, PATIENCE, Start, Stuck};
use crate::graph::SdfGraph;
use crate::ids::*;
use sluice_grammar::diagnostic::Diagnostic;

/// `1 item`, `2 items`.
pub fn items(n: u64) -> String {
    if n == 1 { "1 item".into() } else { format!("{n} items") }
}

/// Is a node inside a stream instance (not merely beside it)?
pub fn inside(graph: &SdfGraph, n: NodeId, h: HierId) -> bool {
    let mut at = Some(graph.node(n).hier);
    while let Some(x) = at {
        if x == h {
            return true;
        }
        at = graph.hierarchy.get(x.index()).and_then(|h| h.parent);
    }
    false
}

/// A node's path, of a deep one only the end.
pub fn path(graph: &SdfGraph, n: NodeId) -> String {
    const LONGEST: usize = 100;
    let path = &graph.node(n).path;
    let count = path.chars().count();
    if count <= LONGEST {
        return path.clone();
    }
    let end: String = path.chars().skip(count - LONGEST).collect();
    // from a whole name on
    format!("….{}", end.split_once('.').map_or(end.as_str(), |(_, rest)| rest))
}

/// A power of two for people.
pub fn power(n: u64) -> String {
    format!("2^{}", n.ilog2())
}

/// A program that cannot start.
pub fn stuck(start: &Start, initial: &[u64], stuck: &Stuck) -> Vec<Diagnostic> {
    let graph = start.graph;
    let one = match stuck {
        Stuck::Firings(n) => {
            let node = graph.node(*n);
            Diagnostic::error(
                "E0304",
                "the rates of this program are too large",
                node.span,
                format!(
                    "`{}` would fire {} times or more before the first steady state",
                    path(graph, *n),
                    power(FIRINGS)
                ),
            )
            .help("smaller `peek` rates, and rates that share factors, keep the initialisation small")
        }
        Stuck::Items(id) => {
            let c = graph.channel(*id);
            let (from, to) = (graph.node(c.from.0), graph.node(c.to.0));
            Diagnostic::error(
                "E0304",
                "the rates of this program are too large",
                from.span,
                format!("`{}` would give more than {} items at once", path(graph, c.from.0), power(ITEMS)),
            )
            .label(to.span, "for this")
            .help("rates that share factors keep the steady state small: 48 to 44 rather than 48000 to 44099")
        }
        Stuck::TooLong(n) => {
            let node = graph.node(*n);
            Diagnostic::error(
                "E0306",
                "the steady state is too long to check",
                node.span,
                format!(
                    "the loop through `{}` takes more than {} million steps",
                    path(graph, *n),
                    PATIENCE / 1_000_000
                ),
            )
            .help("rates that share factors, or more `enqueue`d items, make it shorter")
        }
        Stuck::Never(id, missing) => {
            let c = graph.channel(*id);
            let (from, to) = (graph.node(c.from.0), graph.node(c.to.0));
            Diagnostic::error(
                "E0305",
                format!("`{}` can never see the items it needs", to.name),
                to.span,
                format!("waits for ever for {} more", items(*missing)),
            )
            .label(from.span, format!("`{}` never gives that many", from.name))
        }
        Stuck::Deadlock(blocked) => return deadlock::deadlock(start, initial, blocked),
    };
    vec![one]
}
