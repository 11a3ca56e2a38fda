//! # tasks
//!
//! Purpose: an instance of the schedule as a function. Input: the task graph, the parts. Output: `sl_task_<task>(job, j, i)`: instance `i` of iteration
//! `j`, by all threads of a block; it ends without a barrier.
//!
//! An instance of one node is a part. A task that runs whole (a loop) is a sequence of parts with barriers between them, or, where each step is a firing
//! or two, the work of one thread.

use super::groups::{self, GroupStep};
use super::parts::Parts;
use super::program::{Making, comment};
use crate::c::program::CodegenError;
use std::fmt::Write;

/// Steps that are written out; more become a table.
const WRITTEN: usize = 32;
/// Firings of a step from which on threads side by side are worth their barriers.
const SIDE_BY_SIDE: u64 = 8;

/// Functions of all tasks, and the bytes of shared memory that each needs.
pub(super) struct Tasks {
    pub(super) text: String,
    pub(super) shared: Vec<u64>,
    /// Is it one that runs whole?
    pub(super) whole: Vec<bool>,
}

pub(super) fn emit(making: &Making<'_>, parts: &Parts) -> Result<Tasks, CodegenError> {
    let graph = making.input.problem.graph();
    let mut tasks = Tasks { text: String::new(), shared: Vec::new(), whole: Vec::new() };
    for (i, task) in graph.tasks.iter().enumerate() {
        tasks.shared.push(task.nodes.iter().map(|v| parts.shared[v.index()]).max().unwrap_or(0));
        let (k, out) = (task.instances, &mut tasks.text);
        let whole = making.whole(task.nodes[0]);
        tasks.whole.push(whole);
        let _ = write!(
            out,
            "/* {}: {k} instances in an iteration */\nSL_DEVICE void sl_task_{i}(const sl_job &job, const uint32_t j, const uint32_t i)\n{{\n",
            comment(&task.name)
        );
        if !whole {
            let n = task.firings[0];
            let nth = if k == 1 { "j".to_string() } else { format!("(j * {k}u + i)") };
            let call = parts.call(task.nodes[0], false, &format!("{nth} * {n}u"), &format!("{n}u"));
            let _ = write!(out, "    (void)i;\n    {call}\n}}\n\n");
            continue;
        }
        let host = making.input.host;
        let steps = groups::steps(host.graph, host.steady, &task.nodes).ok_or_else(|| CodegenError::NotOnDevice {
            what: format!("the {} takes more than {} steps", task.name, groups::MOST_STEPS),
            span: host.graph.node(task.nodes[0]).span,
        })?;
        // instances of a loop that is one node in pieces are pieces of its steps
        let rounds = task.firings[0] / host.steady.repetitions[task.nodes[0].index()].max(1);
        let in_pieces = task.firings[0] != rounds * host.steady.repetitions[task.nodes[0].index()];
        let steps = match in_pieces {
            true => vec![GroupStep { member: 0, times: 1 }],
            false => steps,
        };
        let rounds = if in_pieces { task.firings[0] } else { rounds };
        group(making, parts, i, &steps, rounds, out);
    }
    Ok(tasks)
}

/// The body of a task that runs whole: `rounds` times these steps.
fn group(making: &Making<'_>, parts: &Parts, i: usize, steps: &[GroupStep], rounds: u64, out: &mut String) {
    let task = &making.input.problem.graph().tasks[i];
    let alone = steps.iter().all(|s| s.times < SIDE_BY_SIDE);
    for (m, n) in task.firings.iter().enumerate() {
        let _ = writeln!(out, "    uint32_t n{m} = (j * {}u + i) * {n}u;", task.instances);
    }
    if alone {
        out.push_str("    if (sl_thread() != 0) return;\n");
    }
    let call = |m: usize, times: &str| {
        let call = parts.call(task.nodes[m], alone, &format!("n{m}"), times);
        if alone { call } else { format!("{call} sl_sync();") }
    };
    let _ = writeln!(out, "    for (uint32_t round = 0; round < {rounds}u; round++) {{");
    if steps.len() <= WRITTEN {
        for s in steps {
            let _ = writeln!(out, "        {} n{} += {}u;", call(s.member, &format!("{}u", s.times)), s.member, s.times);
        }
    } else {
        let _ = writeln!(out, "        for (uint32_t s = 0; s < {}u; s++) {{", steps.len());
        let _ = writeln!(out, "            const uint32_t times = sl_steps_{i}[s].times;\n            switch (sl_steps_{i}[s].member) {{");
        for m in 0..task.nodes.len() {
            let _ = writeln!(out, "            case {m}: {} n{m} += times; break;", call(m, "times"));
        }
        out.push_str("            }\n        }\n");
        let rows: Vec<String> = steps.iter().map(|s| format!("{{{}, {}}}", s.member, s.times)).collect();
        let lines: Vec<String> = rows.chunks(12).map(|r| format!("    {},\n", r.join(", "))).collect();
        let table = format!("SL_GLOBAL_TABLE sl_step sl_steps_{i}[] = {{\n{}}};\n", lines.concat());
        let at = out.rfind("/* ").unwrap_or(0);
        out.insert_str(at, &table);
    }
    out.push_str("    }\n}\n\n");
}
