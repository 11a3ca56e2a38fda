//! What `--dump-after` shows: the text of each pass's result.

use sluice_frontend::Elaborated;
use sluice_schedule::sequential::{SequentialSchedule, Step};
use std::fmt::Write;

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
