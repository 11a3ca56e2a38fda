//! # serial
//!
//! Purpose: one kernel for each task, over all multiprocessors, one after the other. Input: a schedule of one processor, in which each task is one instance.
//! Output: `sl_serial_<task>`, started in the order of the schedule for each iteration (its argument `t`).
//!
//! Blocks share the firings of a node without state; one with state, and a loop that runs whole, is the work of one block.
//! Source: the scheme "Serial" of Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", section V.

use super::parts::Parts;
use super::program::{KernelInfo, Kernels, Making, comment};
use super::tasks;
use crate::c::program::CodegenError;
use sluice_schedule::problem::granularity::is_serial;
use std::fmt::Write;

pub(super) fn emit(making: &Making<'_>, parts: &Parts) -> Result<Kernels, CodegenError> {
    let tasks = tasks::emit(making, parts)?;
    let (problem, schedule) = (making.input.problem, making.input.schedule.schedule());
    let threads = making.input.options.threads;
    let (mut text, mut kernels) = (tasks.text, Vec::new());
    let mut launches = String::from("    for (job.t = 0; job.t < job.n; job.t++) {\n");
    let mut order: Vec<usize> = (0..problem.instances()).collect();
    order.sort_by_key(|i| (schedule.stage[*i], schedule.start[*i], *i));
    let same = |i: &usize| schedule.stage[*i] == 0;
    if problem.instances() != problem.graph().tasks.len() || !order.iter().all(same) {
        return Err(CodegenError::Malformed("the scheme serial has one instance for each task, in one stage".into()));
    }
    for i in order {
        let v = problem.task_of(i);
        let task = &problem.graph().tasks[v];
        let name = format!("sl_serial_{v}");
        let alone = tasks.whole[v] || is_serial(making.input.host.graph, task.nodes[0]);
        let _ = write!(text, "/* {} */\nSL_KERNEL({threads}) void {name}(SL_JOB job)\n{{\n", comment(&task.name));
        let blocks = if alone {
            let _ = writeln!(text, "    sl_task_{v}(job, job.t, 0);");
            "1".to_string()
        } else {
            // each block takes as many at a time as it has threads
            let n = task.firings[0];
            let count = format!("{n}u - at < {threads}u ? {n}u - at : {threads}u");
            let call = parts.call(task.nodes[0], false, &format!("job.t * {n}u + at"), &count);
            let _ = writeln!(
                text,
                "    for (uint32_t at = sl_block() * {threads}u; at < {n}u; at += sl_blocks() * {threads}u) {{\n        {call}\n        sl_sync();\n    }}"
            );
            format!("sl_blocks_for(ctx, {})", n.div_ceil(threads.into()))
        };
        text.push_str("}\n\n");
        let shared = tasks.shared[v];
        let _ = writeln!(launches, "        sl_launch(ctx, @{name}@, {blocks}, {threads}, {shared}, 0, &job, sizeof job);");
        kernels.push(KernelInfo { name, threads, shared });
    }
    launches.push_str("    }\n");
    Ok(Kernels { text, kernels, launches })
}
