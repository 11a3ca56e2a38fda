//! # fused
//!
//! Purpose: the steady state of a program with regions ([`sluice_kernel::fuse`]) as C. Input: the program, its regions, a schedule of them that the judge has passed. Output:
//! the regions' filters ([`filters`]), and what `sl_steady` is made of ([`Made`]).
//!
//! ```text
//! sl_steady(ctx, k)  →  each region's state is fetched from its members; steady states; it is put back, and the members have fired
//! ```
//!
//! The engine knows nothing of regions: at every boundary, channels and states are where the program as it was has them.

use super::beside;
use super::lanewise::{self, Ends};
use super::layout::Layout;
use super::messages;
use super::movers::Movers;
use super::moves::{HELPERS, Moves};
use super::print::{DeviceOptions, Dialect, FilterOptions, FilterText, MANY_CALLS, emit_filter};
use super::program::{CodegenError, ProgramInput};
use super::sharing::Lives;
use super::steady::Steady;
use super::step_table::is_table;
use super::straight;
use super::tables::Facts;
use super::twins;
use super::types::{c_type, field_name, own_name};
use super::woven;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::ty::Ty;
use sluice_kernel::fuse::{Fused, History, Region, StateOf};
use sluice_kernel::ir::{Kernel, StateId};
use sluice_schedule::fused::{FusedSchedule, unfolded};
use sluice_schedule::judge::states_at_once;
use std::fmt::Write;

/// A program with regions, and how its steady state goes.
#[derive(Clone, Copy, Debug)]
pub struct FusedProgram<'a> {
    /// Graph, kernels, regions.
    pub program: &'a Fused,
    /// The schedule; [`ProgramInput::schedule`] is what it is in the program as it was.
    pub schedule: &'a FusedSchedule,
}

/// The regions of a program whose steady state can be made of them.
pub fn of<'a>(input: &ProgramInput<'a>) -> Option<FusedProgram<'a>> {
    let plain = input.steady.islands.is_none() && !input.options.stats;
    // a steady state of regions is one piece
    let whole = states_at_once(input.steady, &input.schedule.schedule().steady) != Some(0);
    let fused = input.fused.filter(|_| plain && whole)?;
    (!is_table(&fused.program.graph, &fused.schedule.steps, input.options.table_above)).then_some(fused)
}

/// Do regions and schedule belong to the program?
pub fn check(input: &ProgramInput<'_>, fused: FusedProgram<'_>) -> Result<(), CodegenError> {
    let (program, steps) = (fused.program, &fused.schedule.steps);
    let right = unfolded(program, steps) == input.schedule.schedule().steady
        && program.channels.len() == program.graph.channels.len()
        && program.regions.iter().all(|r| r.code.index() >= input.kernels.len());
    if right { Ok(()) } else { Err(CodegenError::Malformed("the regions are those of another program".into())) }
}

/// The text of each region's kernel.
pub fn filters(
    input: &ProgramInput<'_>,
    fused: FusedProgram<'_>,
    (lives, mut first_site): (Option<&Lives>, u32),
) -> Vec<FilterText> {
    let first = input.kernels.len();
    let instances = instances(input, fused);
    let far = lanewise::far(&fused.program.graph, first + fused.program.kernels.len(), &|code| code);
    let emit = |(i, kernel): (usize, &Kernel)| {
        let often_called = instances[i].1 > MANY_CALLS;
        let (sources, dialect) = (input.sources, Dialect::C);
        let lanewise = lives.map_or_else(Ends::default, |l| l.lanewise().ends(i));
        let Ends { far_taken, far_given, .. } = far[first + i];
        let lanewise = Ends { far_taken, far_given, ..lanewise };
        let options =
            FilterOptions { sources, first_site, dialect, device: DeviceOptions::default(), often_called, lanewise };
        let text = emit_filter(first + i, kernel, &options);
        first_site += text.sites.len() as u32;
        text
    };
    fused.program.kernels.iter().enumerate().map(emit).collect()
}

/// How often each kernel of a region is used, with its code.
pub fn instances(input: &ProgramInput<'_>, fused: FusedProgram<'_>) -> Vec<(usize, usize)> {
    let first = input.kernels.len();
    let mut all: Vec<(usize, usize)> = (first..first + fused.program.kernels.len()).map(|k| (k, 0)).collect();
    fused.program.regions.iter().for_each(|r| all[r.code.index() - first].1 += 1);
    all
}

/// What the steady state's text is made of.
pub struct Made {
    /// By node: its number among the ends, or among the instances of its code.
    numbers: Vec<usize>,
    /// By channel: where it is.
    places: Layout,
    /// By node: what the engine knows it as; a region is known as its first member.
    pub(super) known: Vec<u32>,
    receives: Vec<bool>,
    serial: Vec<bool>,
    weaves: Vec<bool>,
    runs: Vec<u64>,
}

/// Prepares the text.
pub fn made(input: &ProgramInput<'_>, fused: FusedProgram<'_>, (layout, facts): (&Layout, &Facts)) -> Made {
    let program = fused.program;
    let mut used = vec![0; program.kernels.len()];
    let numbers: Vec<usize> = program
        .graph
        .node_ids()
        .map(|v| match (program.nodes[v.index()], &program.graph.node(v).kind) {
            (Some(old), _) => facts.numbers[old.index()],
            (None, NodeKind::Filter { code, .. }) => {
                let next = &mut used[code.index() - input.kernels.len()];
                *next += 1;
                *next - 1
            }
            (None, _) => 0,
        })
        .collect();
    let mut places = Layout {
        channels: program.channels.iter().map(|c| layout.channels[c.index()]).collect(),
        slides: program.channels.iter().map(|c| layout.slides[c.index()]).collect(),
        ..layout.clone()
    };
    for (h, place) in program.histories.iter().zip(&layout.histories) {
        places.channels[h.channel.index()] = *place;
    }
    let mut known: Vec<u32> = program.nodes.iter().map(|old| old.map_or(0, |v| v.0)).collect();
    for r in &program.regions {
        known[r.node.index()] = r.members.first().map_or(0, |(v, _)| v.0);
    }
    // regions receive nothing; what stands beside them may
    let mut receives = messages::receivers(input);
    receives.resize(input.kernels.len() + program.kernels.len(), false);
    let runs = input.kernels.iter().chain(&program.kernels).map(straight::run).collect();
    Made { numbers, places, known, receives, serial: beside::serial(input), weaves: woven::weaves(input), runs }
}

impl Made {
    /// The steady state, of the graph with regions.
    pub fn steps<'a>(
        &'a self,
        input: &ProgramInput<'_>,
        fused: FusedProgram<'a>,
        lives: Option<&'a Lives>,
    ) -> Steady<'a> {
        Steady {
            graph: &fused.program.graph,
            layout: &self.places,
            numbers: &self.numbers,
            fill: &fused.program.steady.boundary_fill,
            steps: &fused.schedule.steps,
            table_above: input.options.table_above,
            // else there were no regions
            repeat: false,
            receives: &self.receives,
            serial: &self.serial,
            weaves: &self.weaves,
            runs: &self.runs,
            stats: false,
            places: None,
            known: Some(&self.known),
            lives,
        }
    }

    /// What regions fetch from their members, and put back.
    pub(super) fn state<'r>(
        &self,
        input: &ProgramInput<'_>,
        (layout, facts): (&Layout, &Facts),
        fused: FusedProgram<'_>,
        regions: impl Iterator<Item = &'r Region>,
    ) -> Moves {
        let mut moves = Moves::default();
        for r in regions {
            let (k, number) = (r.code.0, self.numbers[r.node.index()]);
            let kernel = &fused.program.kernels[r.code.index() - input.kernels.len()];
            let member = |(v, StateId(field)): &(NodeId, StateId)| {
                let NodeKind::Filter { code, .. } = &input.graph.node(*v).kind else { return None };
                let own = input.kernels[code.index()].state.get(*field as usize)?;
                let name = field_name(*field as usize, &own.name);
                Some((format!("code_{}[{}].{name}", code.0, facts.numbers[v.index()]), &own.ty))
            };
            let pair = |moves: &mut Moves, own: String, of: &(NodeId, StateId)| {
                if let Some((theirs, _)) = member(of) {
                    moves.field(own, theirs);
                }
            };
            for (i, from) in r.states.iter().enumerate() {
                let own = format!("code_{k}[{number}].{}", field_name(i, &kernel.state[i].name));
                match from {
                    StateOf::Field(v, field) => pair(&mut moves, own, &(*v, *field)),
                    StateOf::Elements(all) => {
                        let each = all.iter().enumerate();
                        each.for_each(|(l, of)| pair(&mut moves, format!("{own}.v[{l}]"), of));
                    }
                    StateOf::Columns(all) => {
                        for (l, of) in all.iter().enumerate() {
                            let Some((theirs, ty)) = member(of) else { continue };
                            for at in elements(ty) {
                                moves.field(format!("{own}{at}.v[{l}]"), format!("{theirs}{at}"));
                            }
                        }
                    }
                    StateOf::Waiting(c) => {
                        let item = c_type(&input.graph.channel(*c).ty);
                        let bytes = format!("{} * sizeof({item})", input.steady.boundary_fill[c.index()]);
                        moves.waiting(own, layout.channels[c.index()].offset, bytes);
                    }
                }
            }
            for (own, (v, theirs)) in r.tables.iter().enumerate() {
                let NodeKind::Filter { code, .. } = &input.graph.node(*v).kind else { continue };
                let place = |k: u32, number: usize, own: u32| format!("code_{k}[{number}].{}", own_name(own));
                moves.field(place(k, number, own as u32), place(code.0, facts.numbers[v.index()], *theirs));
            }
            for (v, _) in &r.members {
                if let NodeKind::Filter { code, .. } = &input.graph.node(*v).kind {
                    let (number, firings) = (facts.numbers[v.index()], input.steady.repetitions[v.index()]);
                    moves.fired(format!("code_{}[{number}]", code.0), firings);
                }
            }
        }
        moves
    }
}

/// Where the numbers of an array are, in C.
fn elements(ty: &Ty) -> Vec<String> {
    match (ty.element(), ty.known_len()) {
        (Some(element), Some(n)) => {
            let within = elements(element);
            (0..n).flat_map(|i| within.iter().map(move |at| format!(".v[{i}]{at}"))).collect()
        }
        _ => vec![String::new()],
    }
}

/// A channel of the program that a region's input holds ([`History`]).
pub(super) struct Part {
    /// Where its first item is in the input.
    pub(super) at: u64,
    /// Items.
    pub(super) items: u64,
    /// Where its buffer begins in the arena.
    pub(super) offset: u64,
    /// Does it hold items that those before it in the list do not?
    pub(super) new: bool,
}

/// The channels that a region's input holds: those with the oldest items first, of these the longest.
pub(super) fn parts(input: &ProgramInput<'_>, layout: &Layout, h: &History) -> Vec<Part> {
    let one = |(c, at): &(ChannelId, u64)| {
        let (items, offset) = (input.steady.boundary_fill[c.index()], layout.channels[c.index()].offset);
        Part { at: *at, items, offset, new: false }
    };
    let mut parts: Vec<Part> = h.parts.iter().map(one).collect();
    parts.sort_by_key(|p| (p.at, std::cmp::Reverse(p.items)));
    let mut known = 0;
    for p in &mut parts {
        p.new = p.at + p.items > known;
        known = known.max(p.at + p.items);
    }
    parts
}

/// `k` steady states, in batches of `most` at most.
pub fn turns(most: u64, name: &str) -> String {
    format!(
        "    for (int64_t left = k; left > 0;) {{\n        const int64_t some = left < {most} ? left : {most};\n        \
         sl_make_way(ctx, some);\n        {name}(ctx, some);\n        left -= some;\n    }}\n"
    )
}

/// `sl_steady`. `several`: of batches that follow one another.
pub fn steady(
    several: bool,
    input: &ProgramInput<'_>,
    fused: FusedProgram<'_>,
    (layout, facts, lives): (&Layout, &Facts, Option<&Lives>),
    movers: &mut Movers,
) -> Result<String, CodegenError> {
    let program = fused.program;
    let made = made(input, fused, (layout, facts));
    // what stays on channels goes to their beginnings
    let keep = twins::keep(&program.graph, &program.steady, &made.places, lives);
    let (mut enter, mut leave) = (String::new(), String::new());
    for (h, place) in program.histories.iter().zip(&layout.histories) {
        let item = c_type(&program.graph.channel(h.channel).ty);
        for Part { at, items: n, offset: from, new } in parts(input, layout, h) {
            let here = format!("ctx->arena + {} + {at} * sizeof({item})", place.offset);
            if new {
                let _ = writeln!(enter, "    memcpy({here}, ctx->arena + {from}, {n} * sizeof({item}));");
            }
            let _ = writeln!(leave, "    memcpy(ctx->arena + {from}, {here}, {n} * sizeof({item}));");
        }
    }
    let moves = made.state(input, (layout, facts), fused, program.regions.iter()).text("sl_steady");
    // stages that have tables have a part of these fields
    let mut out = if moves.tables.is_empty() { String::new() } else { HELPERS.to_string() };
    out.push_str(&made.steps(input, fused, lives).functions("sl_regions", "", &keep, movers)?);
    enter.push_str(&moves.enter);
    leave.push_str(&moves.leave);
    let run = if several { turns(layout.batch, "sl_regions") } else { "    sl_regions(ctx, k);\n".into() };
    let _ = write!(
        out,
        "\n{}static void sl_steady(sl_ctx *ctx, int64_t k) {{\n    struct sl_states *restrict s = (struct sl_states *)(void *)ctx->states;\n    (void)s;\n\
         {enter}{run}{leave}}}\n",
        moves.tables
    );
    Ok(out)
}
