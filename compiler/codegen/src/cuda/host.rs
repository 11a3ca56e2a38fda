//! # host
//!
//! Purpose: what the host needs to run a program's kernels, and the kernels that carry what channels keep. Input: the arena, the scheme's launches. Output: the
//! argument of all kernels (`sl_job`) in both languages; `sl_load` and `sl_save`; C text with `sl_the_kernels` (rts/c/sl_engine.h).

use super::program::{KernelInfo, Kernels, Making, comment};
use super::tiled::Grid;
use crate::c::layout::ends;
use crate::c::types::c_type;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The argument of all kernels.
pub(super) fn job(making: &Making<'_>, device: bool) -> String {
    let (readers, writers) = ends(making.input.host.graph);
    let pointer = |ty: &str| if device { format!("{ty} *") } else { "uint64_t ".to_string() };
    let (keyword, end) = if device { ("struct sl_job {", "};") } else { ("typedef struct sl_job {", "} sl_job;") };
    format!(
        "/* What a kernel is told: where everything is; how many steady states there were before; iterations, and which; how many at a time, and whose turn it is. */\n\
         {keyword}\n    {}arena;\n    {}print;\n    uint64_t room;\n    int64_t epoch;\n    uint32_t n, t, m, parity;\n    {}in[{}];\n    {}out[{}];\n{end}\n",
        pointer("char"),
        pointer("char"),
        pointer("char"),
        readers.len().max(1),
        pointer("char"),
        writers.len().max(1),
    )
}

/// Items that a channel passes on in an iteration.
fn passed(making: &Making<'_>, c: ChannelId) -> u64 {
    let host = making.input.host;
    let channel = host.graph.channel(c);
    host.steady.repetitions[channel.to.0.index()] * u64::from(channel.consume) * making.unit
}

/// `sl_load` puts what channels keep from one batch to the next into their rings, `sl_save` takes it out.
pub(super) fn exchange(making: &Making<'_>) -> Kernels {
    let host = making.input.host;
    let threads = making.input.options.threads;
    let mut text = String::new();
    for (name, load) in [("sl_load", true), ("sl_save", false)] {
        let what = if load { "into their rings" } else { "out of their rings" };
        let mut body = String::new();
        for (c, offset) in &making.arena.kept {
            let (ty, fill) = (c_type(&host.graph.channel(*c).ty), host.steady.boundary_fill[c.index()]);
            if making.arena.carries.iter().any(|(other, _)| other == c) {
                let carry = format!("({ty} *)(job.arena + {}ull) + job.parity * {fill}u + q", making.arena.carry(*c));
                let kept = format!("({ty} *)(job.arena + {offset}ull) + q");
                let (from, to) = if load { (&kept, &carry) } else { (&carry, &kept) };
                let _ = write!(
                    body,
                    "    /* {} */\n    for (uint32_t q = first; q < {fill}u; q += step) sl_item<true>({to}) = sl_item<false>({from});\n",
                    comment(&making.channel_name(*c))
                );
                continue;
            }
            let Some(ring) = making.arena.rings[c.index()] else { continue };
            let at = if load { "q".to_string() } else { format!("job.n * {}u + q", passed(making, *c)) };
            let (kept, item) =
                (format!("({ty} *)(job.arena + {offset}ull) + q"), format!("ring.items + ring.at({at})"));
            let (from, to) = if load { (&kept, &item) } else { (&item, &kept) };
            let _ = write!(
                body,
                "    /* {} */\n    for (uint32_t q = first; q < {fill}u; q += step) {{\n        \
                 const sl_ring<{ty}, {}u> ring = {{({ty} *)(job.arena + {}ull), {}u}};\n        sl_item<true>({to}) = sl_item<false>({from});\n    }}\n",
                comment(&making.channel_name(*c)),
                ring.rate,
                ring.offset,
                ring.rows,
            );
        }
        let head = format!("/* What channels keep between batches: {what}. */\nSL_KERNEL({threads}) void {name}");
        if body.is_empty() {
            // nobody starts it
            let _ = write!(text, "{head}(SL_JOB)\n{{\n    /* they keep nothing */\n}}\n\n");
            continue;
        }
        let _ = write!(
            text,
            "{head}(SL_JOB job)\n{{\n    \
             const uint32_t first = sl_block() * sl_threads() + sl_thread(), step = sl_blocks() * sl_threads();\n{body}}}\n\n"
        );
    }
    let kernels = ["sl_load", "sl_save"].map(|name| KernelInfo { name: name.into(), threads, shared: 0 });
    let grid = carrying(making).map(|blocks| (carriers(making), Grid::Fixed(blocks)));
    Kernels {
        text,
        kernels: kernels.into(),
        launches: String::new(),
        grids: vec![grid.clone(), grid],
        counts: Vec::new(),
    }
}

/// The channels that keep items in the device's memory, rings or what is carried.
fn on_device<'a>(making: &'a Making<'_>) -> impl Iterator<Item = ChannelId> + 'a {
    let arena = &making.arena;
    let carried = |c: &ChannelId| arena.carries.iter().any(|(other, _)| other == c);
    arena.kept.iter().map(|(c, _)| *c).filter(move |c| arena.rings[c.index()].is_some() || carried(c))
}

/// The blocks that carry what channels keep, where there is any.
fn carrying(making: &Making<'_>) -> Option<u64> {
    let most = on_device(making).map(|c| making.input.host.steady.boundary_fill[c.index()]).max()?;
    Some(most.div_ceil(making.input.options.threads.into()))
}

/// Those who take it; they do not fire.
fn carriers(making: &Making<'_>) -> Vec<(NodeId, u64)> {
    let all: BTreeSet<NodeId> = on_device(making).map(|c| making.input.host.graph.channel(c).to.0).collect();
    all.into_iter().map(|v| (v, 0)).collect()
}

/// The host's part.
pub(super) fn text(making: &Making<'_>, launches: &str, kernels: &[KernelInfo]) -> String {
    let host = making.input.host;
    let threads = making.input.options.threads;
    let arena = &making.arena;
    let (readers, writers) = ends(host.graph);
    let mut out = job(making, false);
    let kept: Vec<String> =
        arena.kept.iter().map(|(_, offset)| format!("{offset}ull")).chain(["0".to_string()]).collect();
    let _ = writeln!(out, "static const uint64_t sl_kept_at[] = {{{}}};", kept.join(", "));
    let bytes = super::program::states_size(making);
    let _ = writeln!(out, "_Static_assert(sizeof(struct sl_states) == {bytes}, \"states as on the device\");");
    let _ = write!(
        out,
        "\n/* Starts the kernels of `k` steady states. */\n\
         static void sl_run_kernels(sl_ctx *ctx, uint64_t arena, const uint64_t *ends, uint64_t print, uint64_t room, int64_t k) {{\n    \
         sl_job job;\n    memset(&job, 0, sizeof job);\n    job.arena = arena;\n    job.print = print;\n    job.room = room;\n    job.epoch = ctx->epoch;\n    \
         job.n = (uint32_t)(k / {});\n    (void)ends;\n",
        making.unit
    );
    for r in 0..readers.len() {
        let _ = writeln!(out, "    job.in[{r}] = ends[{r}];");
    }
    for w in 0..writers.len() {
        let _ = writeln!(out, "    job.out[{w}] = ends[{}];", readers.len() + w);
    }
    let numbered = |name: &str| kernels.iter().position(|k| k.name == name).unwrap_or(usize::MAX);
    let carry = |name: &str, out: &mut String| {
        if let Some(blocks) = carrying(making) {
            let _ = writeln!(
                out,
                "    sl_launch(ctx, {} /* {name} */, sl_blocks_for(ctx, {blocks}), {threads}, 0, 0, &job, sizeof job);",
                numbered(name)
            );
        }
    };
    carry("sl_load", &mut out);
    let mut launches = launches.to_string();
    for (i, k) in kernels.iter().enumerate() {
        launches = launches.replace(&format!("@{}@", k.name), &format!("{i} /* {} */", k.name));
    }
    out.push_str(&launches);
    carry("sl_save", &mut out);
    let _ = write!(
        out,
        "}}\n\nstatic const sl_kernels sl_the_kernels = {{{}ull, {}ull, {}ull, {}ull, sl_kept_at, sl_run_kernels}};\n\n",
        arena.bytes,
        arena.exchanged,
        arena.states,
        making.input.options.slice_bytes.max(1),
    );
    out
}
