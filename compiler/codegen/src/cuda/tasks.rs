//! # tasks
//!
//! Purpose: an instance of the schedule as a function. Input: the task graph, the parts. Output: `sl_task_<task>(job, j, i)`: instance `i` of iteration
//! `j`, by all threads of a block; it ends without a barrier.
//!
//! An instance of one node is a part. A task that runs whole (a loop) is a sequence of parts with barriers between them, or, where each step is a firing
//! or two, the work of one thread.

use super::groups::{self, GroupStep};
use super::parts::{Parts, product};
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
        if !parts.has(task.nodes[0]) {
            continue;
        }
        let head = format!(
            "/* {}: {k} instance{} in an iteration */\nSL_DEVICE void sl_task_{i}(const sl_job &job, const uint32_t j, const uint32_t{})\n{{\n",
            comment(&task.name),
            if k == 1 { "" } else { "s" },
            if k == 1 { "" } else { " i" },
        );
        if !whole {
            let n = task.firings[0];
            let nth = if k == 1 { "j".to_string() } else { format!("(j * {k}u + i)") };
            let call = parts.call(task.nodes[0], false, &format!("{nth} * {n}u"), &format!("{n}u"));
            let _ = write!(out, "{head}    {call}\n}}\n\n");
            continue;
        }
        let host = making.input.host;
        let steps = groups::steps(host.graph, host.steady, &task.nodes).ok_or_else(|| CodegenError::NotOnDevice {
            what: format!("the {} takes more than {} steps", task.name, groups::MOST_STEPS),
            span: host.graph.node(task.nodes[0]).span,
            instead: None,
        })?;
        // a round is a steady state; of a node that feeds itself and has several instances in one, a firing
        let firings = host.steady.repetitions[task.nodes[0].index()].max(1);
        let (steps, rounds, in_round) = match task.firings[0].is_multiple_of(firings) {
            true => {
                let in_round = task.nodes.iter().map(|v| host.steady.repetitions[v.index()]).collect();
                (steps, task.firings[0] / firings, in_round)
            }
            false => (vec![GroupStep { member: 0, times: 1 }], task.firings[0], vec![1]),
        };
        group(making, parts, i, &steps, &in_round, out);
        let nth = if k == 1 { "j".to_string() } else { format!("(j * {k}u + i)") };
        let _ = write!(out, "{head}    sl_rounds_{i}(job, {nth} * {rounds}u, {rounds}u);\n}}\n\n");
    }
    Ok(tasks)
}

/// `sl_rounds_<task>(job, first, count)`: so many times these steps, in which the members fire so often.
fn group(making: &Making<'_>, parts: &Parts, i: usize, steps: &[GroupStep], in_round: &[u64], out: &mut String) {
    let task = &making.input.problem.graph().tasks[i];
    let alone = steps.iter().all(|s| s.times < SIDE_BY_SIDE);
    if steps.len() > WRITTEN {
        let rows: Vec<String> = steps.iter().map(|s| format!("{{{}, {}}}", s.member, s.times)).collect();
        let lines: Vec<String> = rows.chunks(12).map(|r| format!("    {},\n", r.join(", "))).collect();
        let _ = write!(out, "SL_GLOBAL_TABLE sl_step sl_steps_{i}[] = {{\n{}}};\n", lines.concat());
    }
    let _ = write!(
        out,
        "/* {} */\nSL_DEVICE void sl_rounds_{i}(const sl_job &job, const uint32_t first, const uint32_t count)\n{{\n",
        comment(&task.name)
    );
    for (m, n) in in_round.iter().enumerate() {
        let _ = writeln!(out, "    uint32_t n{m} = {};", product("first", *n));
    }
    if alone {
        out.push_str("    if (sl_thread() != 0) return;\n");
    }
    let call = |m: usize, times: &str| {
        let call = parts.call(task.nodes[m], alone, &format!("n{m}"), times);
        if alone { call } else { format!("{call} sl_sync();") }
    };
    out.push_str("    for (uint32_t round = 0; round < count; round++) {\n");
    if alone && making.faults.polls {
        out.push_str("        if (sl_is_over((const sl_status *)job.arena)) return;\n");
    }
    if steps.len() <= WRITTEN {
        for s in steps {
            let _ =
                writeln!(out, "        {} n{} += {}u;", call(s.member, &format!("{}u", s.times)), s.member, s.times);
        }
    } else {
        let _ = writeln!(out, "        for (uint32_t s = 0; s < {}u; s++) {{", steps.len());
        let _ = writeln!(
            out,
            "            const uint32_t times = sl_steps_{i}[s].times;\n            switch (sl_steps_{i}[s].member) {{"
        );
        for m in 0..task.nodes.len() {
            let _ = writeln!(out, "            case {m}: {} n{m} += times; break;", call(m, "times"));
        }
        out.push_str("            }\n        }\n");
    }
    out.push_str("    }\n}\n\n");
}
