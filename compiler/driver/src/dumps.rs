//! What `--dump-after` shows: the text of each pass's result.

use crate::io::item;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::{Endpoint, NodeKind};
use sluice_schedule::sequential::{SequentialSchedule, Step};
use std::fmt::Write;

/// The flat graph: nodes, then channels.
pub fn graph(program: &Elaborated) -> String {
    let mut out = String::new();
    let graph = &program.graph;
    for id in graph.node_ids() {
        let node = graph.node(id);
        let end = |e: &Endpoint| match e {
            Endpoint::File(path) => format!("{path:?}"),
            Endpoint::Open => "open".to_string(),
        };
        let what = match &node.kind {
            NodeKind::Filter { code, rates, prework, stateful, prints } => {
                let name = program.codes.get(code.index()).map_or("?", |c| &c.display);
                let first = prework
                    .map_or(String::new(), |p| format!(" first [peek {} pop {} push {}]", p.peek, p.pop, p.push));
                let marks = [(*stateful, " stateful"), (*prints, " prints")];
                let marks: String = marks.iter().filter(|m| m.0).map(|m| m.1).collect();
                format!("filter {code} {name} peek {} pop {} push {}{first}{marks}", rates.peek, rates.pop, rates.push)
            }
            NodeKind::Identity => "identity".into(),
            NodeKind::Duplicate => "duplicate".into(),
            NodeKind::SplitRoundRobin(weights) => format!("split {weights:?}"),
            NodeKind::JoinRoundRobin(weights) => format!("join {weights:?}"),
            NodeKind::Reader(e) => format!("reader {}", end(e)),
            NodeKind::Writer(e) => format!("writer {}", end(e)),
        };
        let _ = writeln!(out, "{id} {}: {what}", node.path);
    }
    for id in graph.channel_ids() {
        let c = graph.channel(id);
        let mut marks = String::new();
        if !c.initial.is_empty() {
            let _ = write!(marks, " initial {}", c.initial.len());
        }
        if c.feedback {
            marks.push_str(" feedback");
        }
        let ((from, out_port), (to, in_port)) = (c.from, c.to);
        let ty = item::name(&c.ty, &program.globals);
        let _ = writeln!(
            out,
            "{id} {from}:{out_port} -> {to}:{in_port} {ty} produce {} consume {} peek {}{marks}",
            c.produce, c.consume, c.peek
        );
    }
    out
}

/// Repetitions and initialisation by node, fill by channel.
pub fn steady_state(program: &Elaborated) -> String {
    let mut out = String::new();
    let (graph, steady) = (&program.graph, &program.steady);
    for id in graph.node_ids() {
        let (r, i) = (steady.repetitions[id.index()], steady.init[id.index()]);
        let _ = writeln!(out, "{id} repetitions {r} init {i} {}", graph.node(id).path);
    }
    for id in graph.channel_ids() {
        let (fill, peak) = (steady.boundary_fill[id.index()], steady.init_peak[id.index()]);
        let _ = writeln!(out, "{id} fill {fill} peak-in-init {peak}");
    }
    out
}

/// The firings of a schedule, loops indented.
pub fn schedule(schedule: &SequentialSchedule, program: &Elaborated) -> String {
    let mut out = String::from("init\n");
    steps(&schedule.init, program, 1, &mut out);
    let _ = writeln!(out, "steady, {} at once", schedule.batch);
    steps(&schedule.steady, program, 1, &mut out);
    out
}

fn steps(all: &[Step], program: &Elaborated, depth: usize, out: &mut String) {
    for step in all {
        let indent = "  ".repeat(depth);
        match step {
            Step::Fire { node, times } => {
                let path = program.graph.nodes.get(node.index()).map_or("?", |n| &n.path);
                let _ = writeln!(out, "{indent}{node} x{times} {path}");
            }
            Step::Loop { times, body } => {
                let _ = writeln!(out, "{indent}loop x{times}");
                steps(body, program, depth + 1, out);
            }
        }
    }
}
