//! # serial
//!
//! Purpose: one kernel for each task, over all multiprocessors, one after the other. Input: a schedule of one processor, in which each task is one instance.
//! Output: `sl_serial_<task>`, started in the order of the schedule for each iteration (its argument `t`).
//!
//! Blocks share the firings of a node without state; one with state, and a loop that runs whole, is the work of one block, unless it has more streams that take turns than that has threads.
//! Source: the scheme "Serial" of Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", section V.

use super::parts::{Parts, product};
use super::program::{KernelInfo, Kernels, Making, comment};
use super::tasks::{self, Tasks};
use super::tiled::{Grid, Share};
use crate::c::program::CodegenError;
use sluice_schedule::problem::granularity::is_serial;
use std::fmt::Write;

pub(super) fn emit(making: &Making<'_>, parts: &Parts) -> Result<Kernels, CodegenError> {
    let tasks = tasks::emit(making, parts)?;
    let (problem, schedule) = (making.input.problem, making.input.schedule.schedule());
    let (mut text, mut kernels, mut grids) = (tasks.text.clone(), Vec::new(), Vec::new());
    let mut launches =
        String::from("    for (job.t = 0; job.t < job.n; job.t++) {\n        sl_need_input(ctx, job.t + 1);\n");
    let mut order: Vec<usize> = (0..problem.instances()).collect();
    order.sort_by_key(|i| (schedule.stage[*i], schedule.start[*i], *i));
    let same = |i: &usize| schedule.stage[*i] == 0;
    if problem.instances() != problem.graph().tasks.len() || !order.iter().all(same) {
        return Err(CodegenError::Malformed("the scheme serial has one instance for each task, in one stage".into()));
    }
    for i in order {
        let out = (&mut text, &mut launches, &mut kernels);
        grids.push(Some(task(making, parts, &tasks, problem.task_of(i), None, out)));
    }
    launches.push_str("        sl_has_output(ctx, job.t + 1);\n    }\n");
    Ok(Kernels { text, kernels, launches, grids, counts: Vec::new() })
}

/// A task as a kernel: an iteration of the schedule; or, with `states`, `job.m` times so many steady states from tile `job.t` on.
pub(super) fn task(
    making: &Making<'_>,
    parts: &Parts,
    tasks: &Tasks,
    v: usize,
    states: Option<u64>,
    (text, launches, kernels): (&mut String, &mut String, &mut Vec<KernelInfo>),
) -> Share {
    let problem = making.input.problem;
    let task = &problem.graph().tasks[v];
    let threads = making.block_threads(task.nodes[0]);
    let name = format!("sl_serial_{v}");
    let serial = is_serial(making.input.host.graph, task.nodes[0]);
    let (rounds, end) = rounds(making);
    let _ = write!(
        text,
        "/* {} */\nSL_KERNEL({threads}) void {name}(SL_JOB job)\n{{\n{}{rounds}",
        comment(&task.name),
        making.faults.at_once()
    );
    // firings of an iteration, or of a tile
    let each = |firings: u64| states.map_or(firings, |s| firings / task_batch(making) * s);
    let n = each(task.firings[0]);
    let all = if states.is_some() { product("job.m", n) } else { format!("{n}u") };
    let (blocks, grid) = if tasks.whole[v] {
        match states {
            None => text.push_str(&format!("    sl_task_{v}(job, job.t, 0);\n")),
            Some(s) => {
                let _ = writeln!(text, "    sl_rounds_{v}(job, job.t * {s}u, job.m * {s}u);");
            }
        }
        ("1".to_string(), Grid::One)
    } else if serial {
        let call = parts.call(task.nodes[0], false, &product("job.t", n), &all);
        let _ = writeln!(text, "    {call}");
        match parts.blocks(task.nodes[0]) {
            1 => ("1".to_string(), Grid::One),
            blocks => (format!("sl_blocks_for(ctx, {blocks})"), Grid::Streams(blocks)),
        }
    } else {
        // each block takes as many at a time as it has threads
        let count = format!("all - at < {threads}u ? all - at : {threads}u");
        let call = parts.call(task.nodes[0], false, &format!("{} + at", product("job.t", n)), &count);
        let _ = writeln!(
            text,
            "    const uint32_t all = {all};\n    \
             for (uint32_t at = sl_block() * {threads}u; at < all; at += sl_blocks() * {threads}u) {{\n        {call}\n        sl_sync();\n    }}"
        );
        let most = if states.is_some() {
            format!("((uint64_t)job.m * {n} + {}) / {threads}", threads - 1)
        } else {
            n.div_ceil(threads.into()).to_string()
        };
        (format!("sl_blocks_for(ctx, {most})"), Grid::Shared { firings: n, threads })
    };
    let _ = write!(text, "{end}}}\n\n");
    let shared = tasks.shared[v];
    let _ = writeln!(launches, "        sl_launch(ctx, @{name}@, {blocks}, {threads}, {shared}, 0, &job, sizeof job);");
    kernels.push(KernelInfo { name, threads, shared });
    (task.nodes.iter().zip(&task.firings).map(|(v, n)| (*v, each(*n))).collect(), grid)
}

/// Before and after what a kernel does: over again, where it is to be measured.
pub(super) fn rounds(making: &Making<'_>) -> (&'static str, &'static str) {
    match making.input.options.rounds {
        true => ("    for (uint32_t r = 0; r < job.n; r++) {\n", "    sl_sync();\n    }\n"),
        false => ("", ""),
    }
}

/// Steady states that the tasks' firings are counted for.
fn task_batch(making: &Making<'_>) -> u64 {
    making.input.problem.graph().batch
}
