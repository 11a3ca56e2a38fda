//! # swp
//!
//! Purpose: the modulo schedule as one kernel. Input: a verified schedule, the tasks. Output: `sl_swp`, launched once per initiation interval (its argument
//! `t` counts them), or once for all with barriers of the grid between them.
//!
//! Each block is a processor of the schedule: a switch on its number leads to its instances, in the order in which they start. An instance of stage f works on iteration
//! t − f, if there is one: so the pipeline fills and drains without code of its own. A barrier of the block follows each instance.
//! Source: Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", section IV.

use super::parts::Parts;
use super::program::{KernelInfo, Kernels, Making};
use super::tasks;
use crate::c::program::CodegenError;
use std::fmt::Write;

/// Runs that are written out; more become a table.
const WRITTEN: usize = 48;

/// Instances of one task, number after number, that follow one another in one stage.
struct Run {
    task: usize,
    first: u64,
    count: u64,
    stage: u32,
    start: u64,
}

pub(super) fn emit(making: &Making<'_>, parts: &Parts, persistent: bool) -> Result<Kernels, CodegenError> {
    let tasks = tasks::emit(making, parts)?;
    let (problem, schedule) = (making.input.problem, making.input.schedule.schedule());
    let threads = making.input.options.threads;
    let shared = tasks.shared.iter().copied().max().unwrap_or(0);
    let (processors, stages) = (problem.processors(), schedule.stages());
    let mut text = tasks.text;
    let all: Vec<Vec<Run>> = (0..processors).map(|p| runs(making, p)).collect();
    let head = format!(
        "/* An initiation interval ({} cycles as counted, {stages} stage{}): what each multiprocessor does in it. */\n\
         SL_DEVICE void sl_interval(const sl_job &job, const uint32_t t)\n{{\n",
        schedule.ii,
        if stages == 1 { "" } else { "s" },
    );
    if all.iter().map(Vec::len).sum::<usize>() > WRITTEN {
        table(making, parts, &all, &head, &mut text);
    } else {
        switch(&all, &head, &mut text);
    }
    let drain = stages.saturating_sub(1);
    let together = u8::from(persistent);
    let launch = format!("sl_launch(ctx, @sl_swp@, {processors}, {threads}, {shared}, {together}, &job, sizeof job);");
    // what interval t reads is of iteration t at most; what it has written is of all up to t - drain
    let done = |t: &str| format!("sl_has_output(ctx, {t} < {drain}u ? 0 : {t} - {drain}u);");
    let at_once = making.faults.at_once();
    let launches = if persistent {
        // behind a firing that has failed nothing is done, but all blocks keep coming to the barriers: not all of them may have seen the flag in the same interval
        let unless = if making.faults.polls { "if (!sl_any(sl_is_over((const sl_status *)job.arena))) " } else { "" };
        let _ = write!(
            text,
            "SL_KERNEL_ALONE({threads}) void sl_swp(SL_JOB job)\n{{\n    for (uint32_t t = job.t; t < job.t + job.m; t++) {{\n        {unless}sl_interval(job, t);\n        \
             sl_grid_sync(&((sl_status *)job.arena)->arrived);\n    }}\n}}\n\n"
        );
        format!(
            "    const uint32_t intervals = job.n + {drain}u;\n    for (job.t = 0; job.t < intervals; job.t += job.m) {{\n        \
             job.m = intervals - job.t < sl_slice(ctx) ? intervals - job.t : sl_slice(ctx);\n        sl_need_input(ctx, job.t + job.m);\n        {launch}\n        {}\n    }}\n",
            done("job.t + job.m")
        )
    } else {
        let _ = write!(
            text,
            "SL_KERNEL_ALONE({threads}) void sl_swp(SL_JOB job)\n{{\n{at_once}    sl_interval(job, job.t);\n}}\n\n"
        );
        format!(
            "    for (job.t = 0; job.t < job.n + {drain}u; job.t++) {{\n        sl_need_input(ctx, job.t + 1);\n        {launch}\n        {}\n    }}\n",
            done("job.t + 1")
        )
    };
    let kernels = vec![KernelInfo { name: "sl_swp".into(), threads, shared }];
    Ok(Kernels { text, kernels, launches, grids: Vec::new(), counts: Vec::new() })
}

/// Each processor's instances as code.
fn switch(all: &[Vec<Run>], head: &str, text: &mut String) {
    text.push_str(head);
    text.push_str("    switch (sl_block()) {\n");
    for (p, runs) in all.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
        let _ = writeln!(text, "    case {p}:");
        for r in runs {
            let t = if r.stage == 0 { "t".to_string() } else { format!("t - {}u", r.stage) };
            let call = |i: &str| format!("if ({t} < job.n) sl_task_{}(job, {t}, {i});", r.task);
            let _ = match r.count {
                1 => writeln!(
                    text,
                    "        {} /* at {} */\n        sl_sync();",
                    call(&format!("{}u", r.first)),
                    r.start
                ),
                n => writeln!(
                    text,
                    "        for (uint32_t i = {}u; i < {}u; i++) {{ /* from {} on */\n            {}\n            sl_sync();\n        }}",
                    r.first,
                    r.first + n,
                    r.start,
                    call("i"),
                ),
            };
        }
        text.push_str("        break;\n");
    }
    text.push_str("    }\n}\n\n");
}

/// Each processor's instances as rows of a table.
fn table(making: &Making<'_>, parts: &Parts, all: &[Vec<Run>], head: &str, text: &mut String) {
    let tasks = &making.input.problem.graph().tasks;
    let mut first = 0;
    text.push_str("/* By multiprocessor, its first instance. */\nSL_GLOBAL_TABLE uint32_t sl_first_instance[] = {");
    for runs in all {
        let _ = write!(text, "{first}, ");
        first += runs.len();
    }
    let _ = write!(
        text,
        "{first}}};\n/* Instances of one task that follow one another: what runs and for which node, in which stage, from which firing on in iteration 0, how many firings later in \
         the next, firings of an instance, instances. */\n\
         struct sl_instances {{\n    uint32_t part, node, stage, first, next, firings, count;\n}};\nSL_GLOBAL_TABLE sl_instances sl_schedule[] = {{\n"
    );
    let wholes: Vec<usize> = (0..tasks.len()).filter(|i| making.whole(tasks[*i].nodes[0])).collect();
    for (p, runs) in all.iter().enumerate() {
        for r in runs {
            let task = &tasks[r.task];
            let row = match wholes.iter().position(|w| *w == r.task) {
                Some(w) => format!("{}, 0, {}, {}, 0, 0, {}", parts.count() + w, r.stage, r.first, r.count),
                None => {
                    let (part, node) = parts.number(task.nodes[0]);
                    let n = task.firings[0];
                    format!("{part}, {node}, {}, {}, {}, {n}, {}", r.stage, r.first * n, task.instances * n, r.count)
                }
            };
            let _ = writeln!(text, "    {{{row}}}, /* {p}: at {} */", r.start);
        }
    }
    let _ = write!(
        text,
        "}};\n{head}    const uint32_t end = sl_first_instance[sl_block() + 1];\n    for (uint32_t e = sl_first_instance[sl_block()]; e < end; e++) {{\n        \
         const sl_instances of = sl_schedule[e];\n        const uint32_t j = t - of.stage;\n        if (j >= job.n) continue;\n        \
         for (uint32_t i = 0; i < of.count; i++) {{\n            const uint32_t first = of.first + j * of.next + i * of.firings;\n            switch (of.part) {{\n"
    );
    for part in 0..parts.count() {
        if parts.is_used(part, |v| !making.whole(v)) {
            let _ = writeln!(text, "            case {part}: sl_part_{part}(job, of.node, first, of.firings); break;");
        }
    }
    for (w, task) in wholes.iter().enumerate() {
        let _ = writeln!(text, "            case {}: sl_task_{task}(job, j, of.first + i); break;", parts.count() + w);
    }
    text.push_str("            }\n            sl_sync();\n        }\n    }\n}\n\n");
}

/// What a processor does in an interval.
fn runs(making: &Making<'_>, p: u32) -> Vec<Run> {
    let (problem, s) = (making.input.problem, making.input.schedule.schedule());
    let mut own: Vec<usize> = (0..problem.instances()).filter(|i| s.processor[*i] == p).collect();
    own.sort_by_key(|i| (s.start[*i], *i));
    let mut runs: Vec<Run> = Vec::new();
    for i in own {
        let (task, number, stage) = (problem.task_of(i), problem.number_of(i), s.stage[i]);
        match runs.last_mut() {
            Some(r) if r.task == task && r.stage == stage && r.first + r.count == number => r.count += 1,
            _ => runs.push(Run { task, first: number, count: 1, stage, start: s.start[i] }),
        }
    }
    runs
}
