//! # graph-dot
//!
//! Purpose: the stream graph for Graphviz, with clusters for the hierarchy. Input: graph and steady state. Output: DOT text.

use crate::layout::{node_label, title};
use crate::text::rates;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::SteadyState;
use std::fmt::Write;

fn quote(s: &str) -> String {
    format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The graph as DOT.
pub fn dot(graph: &SdfGraph, steady: &SteadyState) -> String {
    let mut out = String::from(
        "digraph program {\n  node [fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
    );
    if !graph.hierarchy.is_empty() {
        cluster(&mut out, graph, steady, HierId(0), 1);
    }
    for id in graph.channel_ids() {
        let c = graph.channel(id);
        let (gives, takes) = rates(graph, id);
        let initial = if c.initial.is_empty() { String::new() } else { format!(", {} initial", c.initial.len()) };
        let style = if c.feedback { ", style=dashed, constraint=false" } else { "" };
        let _ = writeln!(
            out,
            "  {} -> {} [label={}{style}];",
            c.from.0,
            c.to.0,
            quote(&format!("{gives} → {takes}{initial}"))
        );
    }
    out.push_str("}\n");
    out
}

fn cluster(out: &mut String, graph: &SdfGraph, steady: &SteadyState, h: HierId, depth: usize) {
    let hier = &graph.hierarchy[h.index()];
    let pad = "  ".repeat(depth);
    let boxed = hier.kind != sluice_grammar::ast::StreamKind::Filter;
    if boxed {
        let _ = writeln!(out, "{pad}subgraph cluster_{h} {{ label={};", quote(&title(graph, h)));
    }
    for n in &hier.nodes {
        let node = graph.node(*n);
        let label = format!(
            "{}\\n×{}",
            node_label(graph, *n).replace('\\', "\\\\").replace('"', "\\\""),
            steady.repetitions[n.index()]
        );
        let look = match &node.kind {
            NodeKind::Filter { stateful: true, .. } => "shape=box, style=\"filled,bold\", fillcolor=\"#fdeed3\"",
            NodeKind::Filter { .. } | NodeKind::Identity => "shape=box, style=filled, fillcolor=\"#e7f0fb\"",
            NodeKind::JoinRoundRobin(_) => "shape=invtrapezium",
            NodeKind::Duplicate | NodeKind::SplitRoundRobin(_) => "shape=trapezium",
            _ => "shape=oval, style=filled, fillcolor=\"#e3f4e6\"",
        };
        let _ = writeln!(out, "{pad}{n} [label=\"{label}\", {look}];");
    }
    for c in &hier.children {
        cluster(out, graph, steady, *c, depth + 1);
    }
    if boxed {
        let _ = writeln!(out, "{pad}}}");
    }
}
