//! # stages
//!
//! Purpose: a program's steady state in stages, for a host that runs it on several threads. Input: the program, stages that their judge has passed, how
//! the whole steady state is made. Output: [`StagesText`]: a function for each stage, tables, and the interface of rts/c/sluice_stages.h.
//!
//! ```text
//! [source, filter ×2, sink]  →  sl_stage_0(ctx, k, again) … sl_stage_2; block 0 from 0 to 1, block 1 from 1 to 2
//! ```
//!
//! Channels within a stage lie where they do when one thread runs all. One between stages lies in a block: the items that come before the batch's
//! own, then those. A replicated stage fires `again` times what the overlap says at the beginning of a batch, for what it has not got from
//! its other replicas; `again` is 0 in the first batch of all, when the whole has given it everything.

use super::fused::{self, FusedProgram};
use super::layout::{self, Layout};
use super::movers::Movers;
use super::moves::MovesText;
use super::program::{CodegenError, ProgramInput};
use super::sharing::{Apart, Lives, scalable};
use super::steady::Steady;
use super::step_table::is_table;
use super::tables::Facts;
use super::types::c_type;
use sluice_frontend::analyses::natives::called;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_kernel::fuse::History;
use sluice_schedule::partition::overlap::Overlap;
use sluice_schedule::partition::{Verified, regions};
use sluice_schedule::sequential::Step;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The text of stages.
pub struct StagesText {
    /// The last fields of `sl_program`: channels between stages, steady states of the shortest batch, and how many times as long as what runs at once a batch is.
    pub sizes: [u64; 3],
    /// A function for each stage.
    pub functions: String,
    /// What rts/c/sl_stages.c reads.
    pub tables: String,
    /// What the host asks for.
    pub interface: String,
}

/// Why a program cannot be run in stages, in words for people; `None` where it can.
pub fn cannot(input: &ProgramInput<'_>) -> Option<&'static str> {
    let schedule = input.schedule.schedule();
    if input.steady.islands.is_some() {
        return Some("it has dynamic rates: how many items go from stage to stage is known only when they do");
    }
    if !input.messages.links.is_empty() || !input.steady.precedences.is_empty() {
        return Some("it sends messages, which take effect between certain firings of sender and receiver");
    }
    if Facts::of(input.graph, input.kernels.len()).ordered {
        return Some(
            "several of its filters print (or print freely beside an input), so that the order of all firings can be seen",
        );
    }
    if is_table(input.graph, &schedule.steady, input.options.table_above) || schedule.batch != 1 {
        return Some("its steady state is so long that it is kept as a table");
    }
    None
}

/// What stages do twice.
pub struct Again {
    /// By node and channel of the graph that steady states run on: of regions, where there are some.
    overlap: Overlap,
    /// By channel of the program: items of batches before that lie in front of a batch's own.
    pub before: Vec<u64>,
}

/// Works out what the stages of a program do twice, with regions where it has some.
pub fn again(
    input: &ProgramInput<'_>,
    partition: &Verified,
    fused: Option<FusedProgram<'_>>,
) -> Result<Again, CodegenError> {
    let Some(fused) = fused else {
        let overlap = partition.overlap().clone();
        return Ok(Again { before: overlap.before.clone(), overlap });
    };
    let overlap = regions::overlap(partition, fused.program)
        .map_err(|wrong| CodegenError::Malformed(format!("stages do not fit the regions: {wrong:?}")))?;
    let mut before = input.steady.boundary_fill.clone();
    for (c, n) in fused.program.channels.iter().zip(&overlap.before) {
        before[c.index()] = *n;
    }
    Ok(Again { overlap, before })
}

/// What has a buffer of its own in a program in stages, by channel of what steady states run on.
pub fn apart(input: &ProgramInput<'_>, partition: &Verified, again: &Again, fused: Option<FusedProgram<'_>>) -> Apart {
    let crosses = |c: ChannelId| {
        let channel = input.graph.channel(fused.map_or(c, |f| f.program.channels[c.index()]));
        partition.stage_of(channel.from.0) != partition.stage_of(channel.to.0)
    };
    let graph = fused.map_or(input.graph, |f| &f.program.graph);
    let crosses: Vec<bool> = graph.channel_ids().map(crosses).collect();
    let own = crosses.iter().zip(&again.overlap.before).map(|(crosses, n)| *crosses || *n > 0).collect();
    Apart { crosses, own }
}

/// Prints the stages. What they share they share with the whole, which they are parts of: they fire in its order.
pub fn emit(
    input: &ProgramInput<'_>,
    (partition, again): (&Verified, &Again),
    (steady, (layout, facts, lives), fused): (&Steady<'_>, (&Layout, &Facts, Option<&Lives>), Option<FusedProgram<'_>>),
    movers: &mut Movers,
) -> Result<StagesText, CodegenError> {
    let graph = input.graph;
    let crossings: Vec<ChannelId> = graph
        .channel_ids()
        .filter(|c| {
            let channel = graph.channel(*c);
            partition.stage_of(channel.from.0) != partition.stage_of(channel.to.0)
        })
        .collect();
    let mut functions = String::new();
    let made = fused.map(|f| (f, fused::made(input, f, (layout, facts))));
    let at = fused.map_or_else(Vec::new, |f| regions::stages_of(partition, f.program));
    let steady = match &made {
        Some((fused, made)) => made.steps(input, *fused, lives),
        None => Steady { lives, ..*steady },
    };
    let of = |c: ChannelId| fused.map_or(c, |f| f.program.channels[c.index()]);
    let bases: Vec<String> = (steady.graph.channel_ids())
        .map(|c| match crossings.binary_search(&of(c)) {
            Ok(n) => format!("ctx->block[{n}]"),
            Err(_) => format!("a + {}", buffer(&steady, &again.overlap, c)),
        })
        .collect();
    let order = order(&steady);
    let places = places(&steady, &again.overlap, &bases);
    for (s, stage) in partition.stages().iter().enumerate() {
        let name = format!("sl_stage_{s}");
        let Some((fused, made)) = &made else {
            if stage.replicas > 1 {
                let mut nodes: Vec<(NodeId, u64, u64)> = (stage.nodes.iter())
                    .map(|v| (*v, input.steady.repetitions[v.index()], again.overlap.again[v.index()]))
                    .collect();
                nodes.sort_by_key(|(v, ..)| order[v.index()]);
                functions.push_str(&replicated(&name, &nodes, &places, &steady, movers)?);
                continue;
            }
            let nodes: BTreeSet<NodeId> = stage.nodes.iter().copied().collect();
            let steps = only(steady.steps, &nodes);
            let part = Steady { steps: &steps, places: Some(&places), stats: false, ..steady };
            functions.push_str(&part.functions(&name, ", const int64_t again", "    (void)again;\n", movers)?);
            functions.push('\n');
            continue;
        };
        // a region is in the stage that its members are in
        let program = fused.program;
        let mine: BTreeSet<NodeId> = program.graph.node_ids().filter(|v| at[v.index()] == s).collect();
        let regions = program.regions.iter().filter(|r| mine.contains(&r.node));
        let MovesText { tables, mut enter, mut leave } =
            made.state(input, (layout, facts), *fused, regions).text(&name);
        for h in program.histories.iter().filter(|h| mine.contains(&program.graph.channel(h.channel).to.0)) {
            let (base, before) = (&bases[h.channel.index()], again.overlap.before[h.channel.index()]);
            let (fetch, put) = history((input, *fused, layout), h, (base, before), stage.replicas > 1);
            enter.push_str(&fetch);
            leave.push_str(&put);
        }
        let inner = format!("{name}_regions");
        if stage.replicas > 1 {
            let mut nodes: Vec<(NodeId, u64, u64)> = (mine.iter())
                .map(|v| (*v, program.steady.repetitions[v.index()], again.overlap.again[v.index()]))
                .collect();
            nodes.sort_by_key(|(v, ..)| order[v.index()]);
            functions.push_str(&replicated(&inner, &nodes, &places, &steady, movers)?);
        } else {
            let steps = only(steady.steps, &mine);
            let part = Steady { steps: &steps, places: Some(&places), ..steady };
            functions.push_str(&part.functions(&inner, ", const int64_t again", "    (void)again;\n", movers)?);
        }
        let _ = write!(
            functions,
            "\n{tables}static void {name}(sl_ctx *ctx, int64_t k, const int64_t again) {{\n    struct sl_states *restrict s = (struct sl_states *)(void *)ctx->states;\n    \
             char *restrict a = ctx->arena;\n    (void)a;\n    (void)s;\n{enter}    {inner}(ctx, k, again);\n{leave}}}\n\n"
        );
    }
    let told = Told { input, partition, again, fused, lives, crossings: &crossings };
    Ok(StagesText {
        sizes: [crossings.len().max(1) as u64, told.least(), input.options.turns.max(1)],
        functions,
        tables: told.tables(),
        interface: told.interface(),
    })
}

/// What a region's input holds of batches before, which lies in several channels of the program at a boundary: C that fetches it, and that puts back what is left. `base`: the input's
/// buffer, with so many items before a batch's own. What replicas get from the batch before comes with the input, but in the first batch of all.
fn history(
    (input, fused, layout): (&ProgramInput<'_>, FusedProgram<'_>, &Layout),
    h: &History,
    (base, before): (&str, u64),
    replicated: bool,
) -> (String, String) {
    let (program, c) = (fused.program, h.channel);
    let channel = program.graph.channel(c);
    let item = format!("sizeof({})", c_type(&channel.ty));
    let oldest = before - program.steady.boundary_fill[c.index()];
    let taken = program.steady.repetitions[channel.to.0.index()].saturating_mul(channel.consume.into());
    let (mut enter, mut leave) = (String::new(), String::new());
    let first = if replicated { "if (again == 0) " } else { "" };
    for part in fused::parts(input, layout, h) {
        let (n, at, there) = (part.items, oldest + part.at, part.offset);
        if part.new {
            let _ = writeln!(enter, "    {first}memcpy({base} + {at} * {item}, a + {there}, {n} * {item});");
        }
        let _ =
            writeln!(leave, "    memcpy(a + {there}, {base} + ({at} + (size_t)k * {taken}) * {item}, {n} * {item});");
    }
    (enter, leave)
}

/// Where the buffer of a channel within a stage begins in the arena, with the older items that come along. One that is read from another's buffer begins there where the whole has it; but where older
/// items come along, the splitter gives all its branches as many.
fn buffer(steady: &Steady<'_>, overlap: &Overlap, c: ChannelId) -> u64 {
    match steady.lives.and_then(|l| l.twins().get(&c)) {
        Some((longer, _)) if overlap.before[c.index()] == overlap.before[longer.index()] => steady.layout.fast(*longer),
        _ => steady.layout.fast(c),
    }
}

/// By node of the graph that steady states run on: its place in their order, in which the whole fires as well.
fn order(steady: &Steady<'_>) -> Vec<(usize, NodeId)> {
    let at = scalable(steady.graph, steady.steps);
    steady.graph.node_ids().map(|v| (at.as_ref().and_then(|at| at[v.index()]).unwrap_or(0), v)).collect()
}

/// By channel of the graph that steady states run on: where its consumer begins to read, and its producer to write.
fn places(steady: &Steady<'_>, overlap: &Overlap, bases: &[String]) -> Vec<(String, String)> {
    let one = |c: ChannelId| {
        let (channel, base) = (steady.graph.channel(c), &bases[c.index()]);
        let (before, fill) = (overlap.before[c.index()], steady.fill[c.index()]);
        let popped = overlap.again[channel.to.0.index()] * u64::from(channel.consume);
        let pushed = overlap.again[channel.from.0.index()] * u64::from(channel.produce);
        let at = |items: u64, less: u64| {
            let item = format!("sizeof({})", c_type(&channel.ty));
            match (items, less) {
                (0, 0) => base.clone(),
                (_, 0) => format!("{base} + {items} * {item}"),
                _ => format!("{base} + ({items} - {less} * again) * (int64_t){item}"),
            }
        };
        (at(before - fill, popped), at(before, pushed))
    };
    steady.graph.channel_ids().map(one).collect()
}

/// A stage that several threads run: each node, with its firings in a steady state and those that are done again, fires for the whole batch, producers first, which program order sees to where there is no feedback.
fn replicated(
    name: &str,
    nodes: &[(NodeId, u64, u64)],
    places: &[(String, String)],
    steady: &Steady<'_>,
    movers: &mut Movers,
) -> Result<String, CodegenError> {
    let mut out = format!(
        "static void {name}(sl_ctx *ctx, int64_t k, const int64_t again) {{\n    char *restrict a = ctx->arena;\n    \
         struct sl_states *restrict s = (struct sl_states *)(void *)ctx->states;\n    (void)a;\n    (void)s;\n    (void)again;\n"
    );
    let part = Steady { places: Some(places), stats: false, ..*steady };
    let often = |times: u64, again: u64| match again {
        0 => format!("{times} * k"),
        _ => format!("{times} * k + {again} * again"),
    };
    let numbers: BTreeMap<NodeId, (u64, u64)> = nodes.iter().map(|(v, times, again)| (*v, (*times, *again))).collect();
    let again = |v: NodeId| numbers.get(&v).map(|(_, again)| *again);
    let mut done: BTreeSet<NodeId> = BTreeSet::new();
    for (v, times, more) in nodes {
        if done.contains(v) {
            continue;
        }
        let mut trios = part.lives.map_or(&[][..], |l| l.trios()).iter();
        if let Some((trio, all)) = trios.find_map(|t| Some((t, t.begun_by(*v, &again)?))) {
            let (times, more) = numbers[&all[0]];
            part.fire_trio(trio, &often(times, more), &BTreeMap::new(), &mut out, &mut movers.woven)?;
            done.extend(all);
            continue;
        }
        part.fire(*v, &often(*times, *more), &BTreeSet::new(), 1, &mut out, movers)?;
    }
    out.push_str("}\n\n");
    Ok(out)
}

/// A schedule of some nodes only.
fn only(steps: &[Step], nodes: &BTreeSet<NodeId>) -> Vec<Step> {
    let mut out = Vec::new();
    for step in steps {
        match step {
            Step::Fire { node, .. } if nodes.contains(node) => out.push(step.clone()),
            Step::Fire { .. } => {}
            Step::Loop { times, body } => {
                let body = only(body, nodes);
                if !body.is_empty() {
                    out.push(Step::Loop { times: *times, body });
                }
            }
        }
    }
    out
}

/// A list of numbers that C takes.
fn list(out: &mut String, ty: &str, name: &str, numbers: impl IntoIterator<Item = u64>) {
    let mut numbers: Vec<String> = numbers.into_iter().map(|n| n.to_string()).collect();
    if numbers.is_empty() {
        numbers.push("0".into());
    }
    let _ = writeln!(out, "SL_ENGINE const {ty} {name}[] = {{{}}};", numbers.join(", "));
}

/// Stages, as the engine and the host are told of them.
#[derive(Clone, Copy)]
struct Told<'a> {
    input: &'a ProgramInput<'a>,
    partition: &'a Verified,
    again: &'a Again,
    fused: Option<FusedProgram<'a>>,
    /// Which channels are read from others' buffers.
    lives: Option<&'a Lives>,
    /// Channels between stages.
    crossings: &'a [ChannelId],
}

impl Told<'_> {
    /// Steady states of the shortest batch: what is done again, and older items that an input holds, are those of the batch before.
    fn least(&self) -> u64 {
        let Told { input, again, fused, crossings, .. } = *self;
        let repetitions = fused.map_or(&input.steady.repetitions, |f| &f.program.steady.repetitions);
        let nodes = again.overlap.again.iter().zip(repetitions).map(|(n, times)| n.div_ceil((*times).max(1)));
        let older = crossings.iter().map(|c| {
            let channel = input.graph.channel(*c);
            let items = input.steady.repetitions[channel.to.0.index()].saturating_mul(channel.consume.into());
            again.before[c.index()].saturating_sub(input.steady.boundary_fill[c.index()]).div_ceil(items.max(1))
        });
        nodes.chain(older).fold(1, u64::max)
    }

    /// What rts/c/sl_stages.c reads.
    fn tables(&self) -> String {
        let Told { input, partition, again, fused, lives, crossings } = *self;
        let graph = input.graph;
        let mut out = String::new();
        let old = |c: ChannelId| fused.map_or(c, |f| f.program.channels[c.index()]);
        let twins: BTreeMap<ChannelId, ChannelId> =
            lives.iter().flat_map(|l| l.twins()).map(|(c, (longer, _))| (old(*c), old(*longer))).collect();
        let of = |c: ChannelId| {
            let channel = graph.channel(c);
            (partition.stage_of(channel.from.0), partition.stage_of(channel.to.0))
        };
        // what stays on channels that regions do without is put there by the stages themselves
        let mut by_regions = vec![fused.is_some(); graph.channels.len()];
        let mut afresh = again.overlap.again.clone();
        if let Some(FusedProgram { program, .. }) = fused {
            program.channels.iter().for_each(|c| by_regions[c.index()] = false);
            program.histories.iter().for_each(|h| by_regions[program.channels[h.channel.index()].index()] = true);
            afresh = vec![0; graph.nodes.len()];
            let nodes = program.nodes.iter().zip(&again.overlap.again);
            nodes.for_each(|(old, n)| old.iter().for_each(|v| afresh[v.index()] = *n));
        }
        let replicated = |s: usize| partition.stages()[s].replicas > 1;
        let (mut nodes, mut kept, mut inner, mut inner_in) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut ins, mut outs, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let by_number = |end: fn((usize, usize)) -> usize, s: usize| {
            crossings
                .iter()
                .enumerate()
                .filter(move |(_, c)| end(of(**c)) == s)
                .map(|(n, _)| n as u64)
                .collect::<Vec<_>>()
        };
        for (s, stage) in partition.stages().iter().enumerate() {
            let firsts = [nodes.len(), kept.len(), inner.len(), ins.len(), outs.len()];
            nodes.extend(stage.nodes.iter().map(|v| u64::from(v.0)));
            let stays = |c: &ChannelId| input.steady.boundary_fill[c.index()] > 0;
            let mine: Vec<ChannelId> = graph.channel_ids().filter(|c| of(*c).1 == s).filter(stays).collect();
            kept.extend(mine.iter().map(|c| u64::from(c.0)));
            // what others hold goes before they move it
            let mut within: Vec<ChannelId> =
                mine.iter().copied().filter(|c| of(*c).0 == s && !by_regions[c.index()]).collect();
            within.sort_by_key(|c| !twins.contains_key(c));
            inner.extend(within.iter().map(|c| u64::from(c.0)));
            inner_in.extend(within.iter().map(|c| u64::from(twins.get(c).unwrap_or(c).0)));
            ins.extend(by_number(|of| of.1, s));
            outs.extend(by_number(|of| of.0, s));
            let ends = [nodes.len(), kept.len(), inner.len(), ins.len(), outs.len()];
            let spans: Vec<String> = firsts.iter().zip(ends).map(|(a, b)| format!("{a}, {}", b - a)).collect();
            rows.push(format!(
                "{{sl_stage_{s}, {}, {}, {}}}",
                spans.join(", "),
                stage.replicas,
                reads(input, stage.nodes.iter())
            ));
        }
        list(&mut out, "uint32_t", "sl_stage_nodes", nodes);
        list(&mut out, "uint32_t", "sl_stage_kept", kept);
        list(&mut out, "uint32_t", "sl_stage_inner", inner);
        list(&mut out, "uint32_t", "sl_stage_inner_in", inner_in);
        list(&mut out, "uint32_t", "sl_stage_ins", ins);
        list(&mut out, "uint32_t", "sl_stage_outs", outs);
        list(&mut out, "uint64_t", "sl_before", again.before.iter().copied());
        list(&mut out, "uint64_t", "sl_again", afresh);
        let _ = writeln!(out, "SL_ENGINE const sl_stage sl_the_stages[] = {{\n    {}}};", rows.join(",\n    "));
        let mut rows: Vec<String> = (crossings.iter())
            .map(|c| {
                let by_maker = replicated(of(*c).1) && again.before[c.index()] > 0 && !replicated(of(*c).0);
                format!("{{{}, {}}}", c.0, u8::from(by_maker))
            })
            .collect();
        if rows.is_empty() {
            rows.push("{0, 0}".into());
        }
        let _ = writeln!(out, "SL_ENGINE const sl_crossing sl_the_crossings[] = {{{}}};", rows.join(", "));
        // what is read can go to the block at once
        let direct = layout::ends(graph).0.into_iter().map(|v| {
            let to = graph.node(v).outputs.first().and_then(|c| crossings.binary_search(c).ok());
            to.map_or(u64::from(u32::MAX), |n| n as u64)
        });
        list(&mut out, "uint32_t", "sl_read_to", direct);
        out
    }

    /// What the host asks for.
    fn interface(&self) -> String {
        let Told { input, partition, again, crossings, .. } = *self;
        let graph = input.graph;
        let stages: Vec<String> = (partition.stages().iter())
            .map(|s| {
                format!("{{{}, {}, {}, 0}}", s.replicas, reads(input, s.nodes.iter()), calls(input, s.nodes.iter()))
            })
            .collect();
        let mut rows: Vec<String> = (crossings.iter())
            .map(|c| {
                let channel = graph.channel(*c);
                let (from, to) = (partition.stage_of(channel.from.0), partition.stage_of(channel.to.0));
                let items = input.steady.repetitions[channel.to.0.index()] * u64::from(channel.consume);
                let item = format!("sizeof({})", c_type(&channel.ty));
                format!("{{{from}, {to}, {} * {item}, {items} * {item}}}", again.before[c.index()])
            })
            .collect();
        if rows.is_empty() {
            rows.push("{0, 0, 0, 0}".into());
        }
        format!(
            "static const sluice_stage sl_told_stages[] = {{{}}};\nstatic const sluice_crossing sl_told_crossings[] = {{{}}};\n\
         static const sluice_stages sl_told = {{\n    sizeof(sluice_stages), SLUICE_STAGES_VERSION, {}, {}, sl_told_stages, \
         sl_told_crossings,\n    sl_undoable, sl_part_make, sl_attach, sl_image_bytes, sl_take_image, sl_give_image, sl_begin_part, sl_admit, \
         sl_input_bytes,\n    sl_copy_input, sl_fire_part, sl_flush_part, sl_finish_part, sl_undo_part, sl_fail_part}};\n\n\
         SL_EXPORT const sluice_stages *sluice_stages_v1(void) {{ return &sl_told; }}\n\n",
            stages.join(", "),
            rows.join(", "),
            partition.stages().len(),
            crossings.len(),
        )
    }
}

/// Are there readers among them?
fn reads<'n>(input: &ProgramInput<'_>, mut nodes: impl Iterator<Item = &'n NodeId>) -> u8 {
    u8::from(nodes.any(|v| matches!(input.graph.node(*v).kind, NodeKind::Reader(_))))
}

/// Does the code of one of them call native functions?
fn calls<'n>(input: &ProgramInput<'_>, mut nodes: impl Iterator<Item = &'n NodeId>) -> u8 {
    let native = |v: &NodeId| match input.graph.node(*v).kind {
        NodeKind::Filter { code, .. } => input.codes.get(code.index()).is_some_and(|c| c.calls_native.is_some()),
        _ => false,
    };
    u8::from(!called(input.codes, input.graph, input.globals).is_empty() && nodes.any(native))
}
