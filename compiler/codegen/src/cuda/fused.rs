//! # fused
//!
//! Purpose: one data-parallel kernel for each region. Input: a schedule of one processor (for the order of regions and tasks), regions and tiles. Output: kernels
//! `sl_region_<r>`, each block of which works on a tile: it brings what the tile needs into shared memory, fires group after group with barriers between, and sends what leaves
//! the region. Tasks that are serial run as in the scheme serial, between the regions.
//!
//! ```text
//! reader → FIR (peek 64) → gain → writer      tile: bring 64 + S − 1 items; barrier; S threads: FIR and gain, the item between them in a register; barrier;
//!                                        →    send S items
//! ```
//!
//! Splitters and joiners move items between registers or within shared memory, where their firings are index arithmetic. What channels of a region hold at boundaries
//! is carried from launch to launch in two buffers that take turns. Neighbouring blocks share nothing but what an earlier launch has made.
//! This goes beyond Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs".

mod edges;
mod items;
mod plan;

pub(super) use plan::{Plan, carried, plan};

use super::beside::{held, units};
use super::lanes::{TileCounts, counts, shares};
use super::moves::moves;
use super::parts::Parts;
use super::program::{KernelInfo, Kernels, Making, comment};
use super::regions::{Group, Launch, Region};
use super::replay::{accesses, replay};
use super::several::several;
use super::steps::{Place, Step, Work};
use super::tiled::Grid;
use super::tiles::{GroupRange, Tiling};
use super::warps::{self, Staging};
use super::{serial, tasks};
use crate::c::print_device::names;
use crate::c::program::CodegenError;
use crate::c::types::c_type;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(super) fn emit(making: &Making<'_>, parts: &Parts, plan: &Plan) -> Result<Kernels, CodegenError> {
    let tasks = tasks::emit(making, parts)?;
    let (mut text, mut kernels, mut grids, mut counted) = (tasks.text.clone(), Vec::new(), Vec::new(), Vec::new());
    // tiles of a launch: as many as there are, or as the rings between launches have room for
    let room = match plan.room(making) {
        Some(room) => format!("    const uint32_t most = sl_slice(ctx) < {room}u ? sl_slice(ctx) : {room}u;\n"),
        None => "    const uint32_t most = sl_slice(ctx);\n".to_string(),
    };
    let mut launches = format!(
        "{room}    for (job.t = 0; job.t < job.n; job.t += job.m) {{\n        job.m = job.n - job.t < most ? job.n - job.t : most;\n        \
         sl_need_input(ctx, job.t + job.m);\n"
    );
    for launch in &plan.regions.launches {
        match launch {
            Launch::Task(v) => {
                let out = (&mut text, &mut launches, &mut kernels);
                grids.push(Some(serial::task(making, parts, &tasks, *v, Some(plan.states), out)));
            }
            Launch::Region(r) => {
                let (region, tiling) = (&plan.regions.regions[*r], &plan.tilings[*r]);
                let name = format!("sl_region_{r}");
                let staging = warps::staging(making, &plan.regions, region, tiling);
                let mut printer = Printer {
                    making,
                    plan,
                    region,
                    tiling,
                    staging: staging.as_ref(),
                    several: false,
                    shared: false,
                    held: false,
                    wide: None,
                    first: 0,
                    carried: None,
                    out: &mut text,
                };
                printer.judged()?;
                counted.push(printer.counts(&name));
                printer.kernel(&name);
                let tiles = format!("job.m + {}u", tiling.tails);
                let (threads, shared, blocks) = match &staging {
                    None => (tiling.threads, tiling.shared, tiles),
                    // as many as run at once: each takes several tiles
                    Some(s) => {
                        let (threads, shared) = (s.threads(), s.shared);
                        (threads, shared, format!("sl_blocks_at_once(ctx, @{name}@, {threads}, {shared}, {tiles})"))
                    }
                };
                let _ = writeln!(
                    launches,
                    "        sl_launch(ctx, @{name}@, {blocks}, {threads}, {shared}, 0, &job, sizeof job);"
                );
                kernels.push(KernelInfo { name, threads, shared });
                let grid = if staging.is_some() { Grid::AtOnce } else { Grid::Tiles(tiling.tails) };
                grids.push(Some((firings(region, tiling), grid)));
            }
        }
    }
    launches.push_str("        job.parity ^= 1;\n        sl_has_output(ctx, job.t + job.m);\n    }\n");
    Ok(Kernels { text, kernels, launches, grids, counts: counted })
}

/// The firings that a tile of a region has made, by node.
fn firings(region: &Region, tiling: &Tiling) -> Vec<(NodeId, u64)> {
    let of = |(group, range): (&Group, &GroupRange)| {
        let all = range.high.abs_diff(range.low);
        group.members.iter().map(|(v, q)| (*v, q * all)).collect::<Vec<_>>()
    };
    region.groups.iter().zip(&tiling.ranges).flat_map(of).collect()
}

pub(super) struct Printer<'a, 'm> {
    pub(super) making: &'m Making<'a>,
    pub(super) plan: &'m Plan,
    pub(super) region: &'m Region,
    pub(super) tiling: &'m Tiling,
    /// Where its warps have roles.
    pub(super) staging: Option<&'m Staging>,
    /// Does a thread make several firings of the group that is printed?
    several: bool,
    /// Are there several groups in the loop that is printed, and does a thread keep what they give?
    shared: bool,
    held: bool,
    /// The first of the group's firings, where a thread reads what several of them look at 16 bytes at a time.
    wide: Option<i64>,
    /// The thread with which the work begins that is printed.
    first: u64,
    /// How the loop over carried items begins that was printed last, and the end of the text then.
    carried: Option<(String, usize)>,
    pub(super) out: &'m mut String,
}

/// A number to add, as C: nothing for 0.
pub(super) fn plus(n: i64) -> String {
    match n {
        0 => String::new(),
        n if n > 0 => format!(" + {n}"),
        n => format!(" - {}", -n),
    }
}

/// A factor, as C: nothing for 1.
pub(super) fn times(n: u64) -> String {
    if n == 1 { String::new() } else { format!(" * {n}") }
}

impl Printer<'_, '_> {
    pub(super) fn type_of(&self, c: ChannelId) -> String {
        c_type(&self.making.input.host.graph.channel(c).ty)
    }

    /// The region among the others.
    pub(super) fn place(&self) -> Place<'_, '_> {
        Place { making: self.making, regions: &self.plan.regions, region: self.region }
    }

    pub(super) fn fill(&self, c: ChannelId) -> i64 {
        self.place().fill(c)
    }

    /// Has the judge passed the steps and the places?
    fn judged(&self) -> Result<(), CodegenError> {
        let (tiles, elsewhere) = (&self.tiling.tiles, &self.tiling.elsewhere);
        let none = BTreeSet::new();
        let (steps, staged, shared) = match self.staging {
            None => (&self.tiling.steps, &none, self.tiling.shared),
            Some(s) => (&s.steps, s.staged(), s.shared),
        };
        let offset = |c: ChannelId| match self.staging {
            None => tiles.get(&c).map(|t| t.offset),
            Some(s) => s.offset(c),
        };
        let followed = accesses(self.place(), (tiles, elsewhere), steps, staged, offset);
        let wrong = |why: String| CodegenError::Malformed(format!("the steps of a tile: {why}"));
        replay(&followed.map_err(wrong)?, shared).map_err(wrong)
    }

    fn kernel(&mut self, name: &str) {
        if let Some(staging) = self.staging {
            return self.roles(name, staging);
        }
        let (threads, s) = (self.tiling.threads, self.tiling.states);
        let who = self.who();
        let (rounds, end) = serial::rounds(self.making);
        let at_once = self.making.faults.at_once();
        let _ = write!(
            self.out,
            "/* {who}. A block makes a tile of {s} steady states. */\n\
             SL_KERNEL({threads}) void {name}(SL_JOB job)\n{{\n    sl_threads_are({threads}u);\n{at_once}{rounds}    const int32_t b = (int32_t)sl_block(), all = (int32_t)job.m;\n",
        );
        self.places(|_| true);
        for (i, step) in self.tiling.steps.iter().enumerate() {
            if i > 0 {
                self.out.push_str("    sl_sync();\n");
            }
            self.step(step);
        }
        let _ = write!(self.out, "{end}}}\n\n");
    }

    /// The region's groups, for people.
    pub(super) fn who(&self) -> String {
        let graph = self.making.input.host.graph;
        let who: Vec<String> = self.region.groups.iter().map(|g| comment(&graph.node(g.members[0].0).path)).collect();
        let more = if who.len() > 3 { format!(" and {} more", who.len() - 3) } else { String::new() };
        let some: Vec<String> = who.iter().take(3).cloned().collect();
        format!("{} groups of nodes: {}{more}", who.len(), some.join(", "))
    }

    /// Where the items of channels are in shared memory.
    pub(super) fn places(&mut self, of: impl Fn(ChannelId) -> bool) {
        for (c, tile) in self.tiling.tiles.iter().filter(|(c, _)| of(**c)) {
            let (i, ty) = (c.0, self.type_of(*c));
            let kind = format!("sl_tile<{ty}, {}u>", self.gap(*c));
            let place = match self.staging {
                None => format!("({ty} *)(sl_shared() + {})", tile.offset),
                Some(s) => s.place(*c, &ty),
            };
            let _ = writeln!(
                self.out,
                "    /* {} */\n    const {kind} tile{i} = {{{place}}};\n    const int32_t base{i} = b{}{};",
                comment(&self.making.channel_name(*c)),
                times(self.tiling.states * tile.passed),
                plus(tile.low),
            );
        }
    }

    /// Who shares work, as the first argument of what they do; and where it must be said.
    fn team(&self) -> (String, String) {
        let all = if self.staging.is_some() { "team" } else { "sl_everyone()" };
        match self.first {
            0 if self.staging.is_none() => (String::new(), format!("{all}, ")),
            0 => (format!("{all}, "), format!("{all}, ")),
            first => (format!("sl_from({all}, {first}u), "), format!("sl_from({all}, {first}u), ")),
        }
    }

    /// Threads that fire.
    fn threads(&self) -> u64 {
        self.staging.map_or(self.tiling.threads, Staging::fire).into()
    }

    /// Threads that make a firing of a node together.
    fn pieces(&self, v: NodeId) -> u64 {
        self.tiling.pieces.get(&v).copied().unwrap_or(1)
    }

    /// What the kernel does, in numbers.
    fn counts(&self, name: &str) -> TileCounts {
        let (steps, shared) = self.staging.map_or((&self.tiling.steps, self.tiling.shared), |s| (&s.steps, s.shared));
        counts(self.place(), self.tiling, steps, (name, self.threads(), shared))
    }

    /// What is done between two barriers.
    pub(super) fn step(&mut self, step: &Step) {
        let shares = shares(self.place(), self.tiling, step, self.threads());
        for unit in units(self.place(), self.tiling, step, self.threads()) {
            self.first = shares[unit[0]].first;
            match step[unit[0]] {
                Work::Bring(c) => self.bring(c),
                Work::Save(c) => self.save(c),
                Work::Fire(g) => {
                    let fired = |i: &usize| match step[*i] {
                        Work::Fire(g) => Some(&self.region.groups[g]),
                        _ => None,
                    };
                    self.groups(g, &unit.iter().filter_map(fired).collect::<Vec<_>>());
                }
            }
        }
    }

    /// The firings of groups that have the same: of one, which has this number in the region, or of several in one loop.
    fn groups(&mut self, number: usize, groups: &[&Group]) {
        let group = groups[0];
        // readers and writers are no one's neighbours in a group
        if let Some(text) = self.end(number, group.members[0].0) {
            return self.out.push_str(&text);
        }
        let making = self.making;
        let host = making.input.host;
        let s = self.tiling.states;
        let r = self.tiling.ranges[number];
        let times = times(s * group.rate);
        // one after the other, the streams of a firing
        let pieces = self.pieces(group.members[0].0);
        let each = group.lanes * pieces;
        let of_all = |firing: String| match each {
            1 => firing,
            each => format!("({firing}) * {each}"),
        };
        let members = || groups.iter().flat_map(|g| &g.members);
        let names: Vec<String> = members().take(3).map(|(v, _)| comment(&host.graph.node(*v).path)).collect();
        let more = if members().count() > 3 { format!(" and {} more", members().count() - 3) } else { String::new() };
        let at = comment(&host.sources.describe(host.graph.node(group.members[0].0).span));
        let (low, high) = (of_all(format!("b{times}{}", plus(r.low))), of_all(format!("b{times}{}", plus(r.high))));
        let range = format!("{low}, {high}, 0, all{}", self::times(s * group.rate * each));
        let _ = writeln!(self.out, "    /* {}{more}: {at} */", names.join(", "));
        let n = several(making, self.tiling, group, r.high.abs_diff(r.low));
        self.several = n > 1;
        self.wide = (n > 1 && n.is_multiple_of(2)).then_some(r.low);
        if self.several {
            let _ =
                writeln!(self.out, "    sl_each_few<{n}>({}{range}, [&](int32_t first, auto few) {{", self.team().1);
            self.kept(group, false);
        } else {
            let i = if each == 1 { "i" } else { "u" };
            let _ = writeln!(self.out, "    sl_each_of({}{range}, [&](int32_t {i}) {{", self.team().0);
        }
        if group.lanes > 1 {
            let lanes = group.lanes;
            let _ = writeln!(
                self.out,
                "        const int32_t i = u / {lanes};\n        const uint32_t s = (uint32_t)u % {lanes}u;"
            );
        }
        if pieces > 1 {
            let _ = writeln!(
                self.out,
                "        const int32_t i = (int32_t)((uint32_t)u / {pieces}u), piece = (int32_t)((uint32_t)u % {pieces}u);"
            );
        }
        self.shared = groups.len() > 1;
        self.held = self.shared && held(making, self.tiling, groups);
        for group in groups {
            self.fired(group);
        }
        if self.held {
            self.held = false;
            groups.iter().for_each(|group| self.give(group));
        }
        if self.several {
            self.kept(group, true);
            self.several = false;
        }
        self.out.push_str("    });\n");
    }

    /// One firing of a group, or several.
    fn fired(&mut self, group: &Group) {
        let host = self.making.input.host;
        if self.held {
            self.keep(group);
        }
        for c in &group.local {
            let channel = host.graph.channel(*c);
            let q = group.times(channel.from.0);
            let items = q * u64::from(channel.produce) / group.lanes;
            let few = if self.several { "few.count * " } else { "" };
            let _ = writeln!(self.out, "        {} local{}[{few}{items}];", self.type_of(*c), c.0);
        }
        for (v, q) in &group.members {
            self.member(group, *v, *q);
        }
    }

    /// A reader or writer, whose firings move neighbours.
    fn end(&self, number: usize, v: NodeId) -> Option<String> {
        let host = self.making.input.host;
        let node = host.graph.node(v);
        let reads = match node.kind {
            NodeKind::Reader(_) => true,
            NodeKind::Writer(_) => false,
            _ => return None,
        };
        let c = if reads { node.outputs[0] } else { node.inputs[0] };
        let (at, run) =
            (comment(&host.sources.describe(node.span)), if reads { "sl_bring_run" } else { "sl_send_run" });
        let run = self.run(number, v, c, run);
        Some(format!("    /* {}: {at} */\n{run}", comment(&node.path)))
    }

    /// The items of a reader's or writer's firings for a tile: `function` moves them between its end and its channel.
    pub(super) fn run(&self, number: usize, v: NodeId, c: ChannelId, function: &str) -> String {
        let host = self.making.input.host;
        let node = host.graph.node(v);
        let (i, ty, r) = (c.0, self.type_of(c), self.tiling.ranges[number]);
        let pace = self.tiling.states * host.steady.repetitions[v.index()];
        let by = times(pace);
        let (side, fill) =
            if matches!(node.kind, NodeKind::Reader(_)) { ("in", plus(self.fill(c))) } else { ("out", String::new()) };
        format!(
            "    {{\n        const int32_t low = sl_between(b{by}{}, 0, all{by}), high = sl_between(b{by}{}, 0, all{by});\n        \
             {ty} *const items = ({ty} *)job.{side}[{}] + (uint64_t)job.t * {pace}u + low;\n        \
             {function}({}tile{i}, (uint32_t)(low{fill} - base{i}), items, high > low ? (uint32_t)(high - low) : 0u);\n    }}\n",
            plus(r.low),
            plus(r.high),
            self.making.facts.numbers[v.index()],
            self.team().1,
        )
    }

    /// The firings of a node in one firing of its group.
    fn member(&mut self, group: &Group, v: NodeId, q: u64) {
        let making = self.making;
        let host = making.input.host;
        let node = host.graph.node(v);
        let mark = self.out.len();
        let s = self.tiling.states;
        // of equal copies one is made
        let own = |c: &&ChannelId| !self.tiling.elsewhere.copies.contains_key(*c);
        let made: Vec<ChannelId> = node.outputs.iter().filter(own).copied().collect();
        if made.is_empty() && !node.outputs.is_empty() {
            return;
        }
        match &node.kind {
            NodeKind::Filter { code, .. } => {
                let (k, variant) = (making.codes.representative[code.index()], making.codes.variant[code.index()]);
                let rep = host.steady.repetitions[v.index()];
                let end = |cs: &[ChannelId], writes: bool| {
                    cs.first().map_or_else(|| "sl_nothing()".into(), |c| self.access(group, *c, writes))
                };
                let (input, output) = (end(&node.inputs, false), end(&node.outputs, true));
                let (by, piece) = match self.pieces(v) {
                    1 => (String::new(), ""),
                    pieces => (format!("_by{pieces}"), ", piece"),
                };
                let epoch = format!("job.epoch + (int64_t)job.t{}", times(s));
                let init = match host.steady.init[v.index()] {
                    0 => String::new(),
                    n => format!("{n} + "),
                };
                let _ = write!(
                    self.out,
                    "            const int64_t fired = {init}{} + n;\n            \
                     sl_ctx ctx = {{(sl_status *)job.arena, job.print, job.room, {}, {variant}, fired, 0}};\n            \
                     sl_state_{k} st;\n            sl_init_{k}(&st);\n            st.iter = fired;\n            sl_fire_{k}{by}(&ctx, &st, {input}, {output}{piece});\n",
                    if rep == 1 { epoch } else { format!("({epoch}) * {rep}") },
                    v.0,
                );
                if making.faults.may_fail[code.index()] {
                    // who fires behind it in this group would take what it has not given
                    self.out.push_str("            if (SL_UNLIKELY(ctx.failed)) return;\n");
                }
            }
            kind => {
                let ends = |cs: &[ChannelId], writes: bool| cs.iter().map(|c| self.access(group, *c, writes)).collect();
                let (ins, outs): (Vec<String>, Vec<String>) = (ends(&node.inputs, false), ends(&made, true));
                for l in moves(kind, &ins, &outs, self.pieces(v)).lines() {
                    let _ = writeln!(self.out, "            {l}");
                }
            }
        }
        let body = self.out.split_off(mark);
        let number = |n: &str| match names(&body, "n") {
            true => format!("            const int32_t n = {n};\n"),
            false => String::new(),
        };
        if group.members.len() > 1 || self.shared {
            let at = comment(&host.sources.describe(node.span));
            let _ = writeln!(self.out, "        /* {}: {at} */", comment(&node.path));
        }
        node.inputs.first().into_iter().for_each(|c| self.look(group, *c));
        let _ = match q {
            q if self.several => write!(
                self.out,
                "        SL_UNROLL\n        for (int32_t s = 0; s < few.count{0}; s++) {{\n{1}{body}        }}\n",
                times(q),
                number(&format!("first{} + s", times(q)))
            ),
            1 => write!(self.out, "        {{\n{}{body}        }}\n", number("i")),
            q => write!(
                self.out,
                "        SL_UNROLL\n        for (int32_t s = 0; s < {q}; s++) {{\n{}{body}        }}\n",
                number(&format!("i * {q} + s"))
            ),
        };
    }
}
