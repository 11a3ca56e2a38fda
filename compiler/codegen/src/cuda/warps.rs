//! # warps
//!
//! Purpose: regions whose blocks have warps of two roles (scheme `fused-warps`). Input: a region and its tiles. Output: [`Staging`], where there is something to bring and room for
//! it twice; a kernel whose blocks stay, each for tiles b, b + blocks, and so on.
//!
//! ```text
//! those who bring   | tile 0 → stage 0, full | tile 1 → stage 1, full | wait until stage 0 is empty; tile 2 → stage 0, full | ...
//! those who fire    |                  wait  | tile 0: groups, send; stage 0 is empty    | tile 1: groups, send; stage 1 is empty | ...
//! ```
//!
//! What comes from readers and from other regions is *staged*: the warps that bring copy it asynchronously into one of two places, which take turns. All else a tile has lies in
//! shared memory once, and is the work of those who fire. Each stage has two named barriers: at *full* those who bring arrive and those who fire wait, at *empty*
//! the other way round. Those who fire meet at a barrier of their own, and never wait for a copy other than their next tile's.
//!
//! What must hold: a channel that is staged is written by those who bring only; as often as those who bring wait for a stage to be empty, the others say that it is: once for each tile but
//! a block's last two. The form is that of Bauer, Cook, Khailany, "CudaDMA: Optimizing GPU Memory Bandwidth via Warp Specialization" (SC 2011).

use super::fused::{Printer, plus, times};
use super::options::Scheme;
use super::program::Making;
use super::regions::{Region, Regions};
use super::steps::{Place, Step, Work, laid};
use super::tiles::Tiling;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Places for what is brought.
const STAGES: u64 = 2;
/// For so many threads that fire there is a warp that brings.
const SERVED: u32 = 128;
const WARP: u32 = 32;
/// Threads of a block, at most.
const MOST_THREADS: u32 = 1024;
/// Bytes that the widest copy moves.
const WIDE: u64 = 16;

/// Named barriers: of those who fire; from here on those of full stages, and of empty ones.
const FIRE: u64 = 1;
const FULL: u64 = 2;
const EMPTY: u64 = FULL + STAGES;

/// A channel that is brought ahead.
#[derive(Clone, Copy, Debug)]
struct Staged {
    /// Offset in its stage.
    offset: u64,
    /// Without gaps, so that 16 bytes are neighbours; items before its first one, so that these are aligned as where they come from.
    even: Option<u64>,
}

/// How a block's shared memory and threads are divided.
#[derive(Clone, Debug)]
pub(super) struct Staging {
    staged: BTreeMap<ChannelId, Staged>,
    brought: BTreeSet<ChannelId>,
    /// Bytes of a stage.
    stage: u64,
    /// Steps of those who fire, and of the other channels the offset.
    pub(super) steps: Vec<Step>,
    others: BTreeMap<ChannelId, u64>,
    /// All bytes.
    pub(super) shared: u64,
    /// Threads that fire, and those that bring.
    fire: u32,
    bring: u32,
}

impl Staging {
    /// Threads of a block.
    pub(super) fn threads(&self) -> u32 {
        self.fire + self.bring
    }

    /// Those that fire.
    pub(super) fn fire(&self) -> u32 {
        self.fire
    }

    /// The channels that others bring than those who fire.
    pub(super) fn staged(&self) -> &BTreeSet<ChannelId> {
        &self.brought
    }

    /// The offset of a channel that is not among them.
    pub(super) fn offset(&self, c: ChannelId) -> Option<u64> {
        self.others.get(&c).copied()
    }

    /// Does a channel lie without gaps, whatever its tile is like elsewhere?
    pub(super) fn is_even(&self, c: ChannelId) -> bool {
        self.staged.get(&c).is_some_and(|s| s.even.is_some())
    }

    /// So many items after 16 whole bytes its tile begins.
    pub(super) fn skew(&self, c: ChannelId) -> i64 {
        self.staged.get(&c).and_then(|s| s.even).unwrap_or(0) as i64
    }

    /// Where a channel's items are: in the stage of this tile where it is staged.
    pub(super) fn place(&self, c: ChannelId, ty: &str) -> String {
        let Some(staged) = self.staged.get(&c) else {
            let at = self.others.get(&c).copied().unwrap_or(0);
            return format!("({ty} *)(sl_shared() + {at})");
        };
        let skew = plus(staged.even.unwrap_or(0) as i64);
        format!("({ty} *)(sl_shared() + {} + stage * {}u){skew}", staged.offset, self.stage)
    }
}

/// Bytes of shared memory that a region's tile takes with the room for what is brought ahead.
pub(super) fn wanted(making: &Making<'_>, regions: &Regions, region: &Region, tiling: &Tiling) -> u64 {
    staging(making, regions, region, tiling).map_or(tiling.shared, |s| s.shared)
}

/// How a region's blocks are divided; `None` where the scheme has no roles, where nothing is brought, or where it has no room twice.
pub(super) fn staging(making: &Making<'_>, regions: &Regions, region: &Region, tiling: &Tiling) -> Option<Staging> {
    let options = making.input.options;
    if options.scheme != Scheme::FusedWarps {
        return None;
    }
    let graph = making.input.host.graph;
    let here = |v: NodeId| regions.of[v.index()].is_some_and(|r| std::ptr::eq(region, &regions.regions[r]));
    let (mut staged, mut stage) = (BTreeMap::new(), 0u64);
    for (c, tile) in &tiling.tiles {
        let from = graph.channel(*c).from.0;
        let reads = matches!(graph.node(from).kind, NodeKind::Reader(_)) && making.flows(*c);
        if here(from) && !reads {
            continue;
        }
        let even = skew(making, region, tiling, *c);
        let item = making.item_bytes(*c);
        let bytes = match even {
            Some(skew) => ((tile.items + skew) * item).next_multiple_of(WIDE),
            None => tile.bytes(item),
        };
        staged.insert(*c, Staged { offset: stage, even });
        stage = stage.checked_add(bytes)?;
    }
    if staged.is_empty() {
        return None;
    }
    let stages = stage.checked_mul(STAGES)?;
    let brought: BTreeSet<ChannelId> = staged.keys().copied().collect();
    let place = Place { making, regions, region };
    let laid = laid(place, (&tiling.tiles, &tiling.elsewhere), &brought, tiling.order)?;
    let others = laid.offsets.iter().map(|(c, at)| (*c, stages + at)).collect();
    let (steps, shared) = (laid.steps, stages.checked_add(laid.bytes)?);
    let bring = tiling.threads.div_ceil(SERVED) * WARP;
    // what brings is taken from those who fire where a block would have too many
    let fire = tiling.threads.min(MOST_THREADS - bring);
    (shared <= options.shared).then_some(Staging { staged, brought, stage, steps, others, shared, fire, bring })
}

/// Where the items of a staged channel may lie without gaps, since the threads that take them side by side meet in no bank: how many items before its first one make both ends of a
/// copy aligned alike.
fn skew(making: &Making<'_>, region: &Region, tiling: &Tiling, c: ChannelId) -> Option<u64> {
    let host = making.input.host;
    let item = making.item_bytes(c);
    let tile = tiling.tiles.get(&c)?;
    let ends = host.graph.channel(c);
    let even = match making.turns_of(ends.to.0) {
        None => tile.gap == 0,
        Some(turns) => turns.input.stride(&turns.levels).is_some_and(|stride| stride % 2 == 1),
    };
    if !even || (item != 4 && item != 8) {
        return None;
    }
    let (wide, fill) = ((WIDE / item) as i64, host.steady.boundary_fill[c.index()] as i64);
    let reads = matches!(host.graph.node(ends.from.0).kind, NodeKind::Reader(_));
    // a reader's item 0 is the one behind those that the channel held before
    let first = if reads && region.groups.iter().any(|g| g.members.iter().any(|(v, _)| *v == ends.from.0)) {
        tile.low - fill
    } else {
        tile.low
    };
    Some(first.rem_euclid(wide) as u64)
}

/// Text, moved to the right.
fn indented(text: &str, by: &str) -> String {
    text.lines().map(|l| if l.is_empty() { "\n".into() } else { format!("{by}{l}\n") }).collect()
}

impl Printer<'_, '_> {
    /// A region's kernel, with roles.
    pub(super) fn roles(&mut self, name: &str, staging: &Staging) {
        let Staging { fire, bring, .. } = *staging;
        let (all, s) = (fire + bring, self.tiling.states);
        let is_staged = |c: ChannelId| staging.staged.contains_key(&c);
        let who = self.who();
        let at_once = self.making.faults.at_once();
        let bringing = self.part(|p| {
            p.places(is_staged);
            p.begin(staging);
        });
        let firing = self.part(|p| p.fires(staging));
        let tails = plus(self.tiling.tails as i64);
        let _ = write!(
            self.out,
            "/* {who}. A block makes tiles of {s} steady states, one after the other: its first {fire} threads fire and send, the others bring the next tile meanwhile.\n   \
             Barriers: {FIRE} of those who fire; {FULL} and {} say that a stage is full, {EMPTY} and {} that it is empty. */\n\
             SL_KERNEL_ROLES({all}) void {name}(SL_JOB job)\n{{\n{at_once}    const int32_t all = (int32_t)job.m, tiles = all{tails}, first = (int32_t)sl_block(), step = (int32_t)sl_blocks();\n    \
             uint32_t stage = 0;\n    if (sl_thread() >= {fire}u) {{\n        const sl_team team = {{sl_thread() - {fire}u, {bring}u}};\n        \
             for (int32_t b = first; b < tiles; b += step, stage ^= 1u) {{\n            \
             if (b - first >= {STAGES} * step) sl_sync_stage<{EMPTY}u, {all}u>(stage);\n{}            \
             sl_copy_commit();\n            sl_copy_wait(0);\n            sl_arrive_stage<{FULL}u, {all}u>(stage);\n        }}\n        return;\n    }}\n    \
             const sl_team team = {{sl_thread(), {fire}u}};\n    for (int32_t b = first; b < tiles; b += step, stage ^= 1u) {{\n{}    }}\n}}\n\n",
            FULL + 1,
            EMPTY + 1,
            indented(&bringing, "        "),
            indented(&firing, "    "),
        );
    }

    /// What is printed meanwhile.
    fn part(&mut self, print: impl FnOnce(&mut Self)) -> String {
        let mark = self.out.len();
        print(self);
        self.out.split_off(mark)
    }

    /// Begins the copies of a tile.
    fn begin(&mut self, staging: &Staging) {
        let making = self.making;
        let graph = making.input.host.graph;
        for c in staging.staged.keys() {
            let Some(tile) = self.tiling.tiles.get(c) else { continue };
            let (i, ty, m) = (c.0, self.type_of(*c), self.fill(*c));
            let pace = self.tiling.states * tile.passed;
            let some = "high > low ? (uint32_t)(high - low) : 0u";
            let (low, high) = (plus(tile.seen), plus(tile.seen_end));
            if self.place().enters(*c) {
                let Some(ring) = making.arena.rings[c.index()] else { continue };
                let (by, m) = (times(pace), plus(m));
                let _ = writeln!(
                    self.out,
                    "    {{\n        const sl_ring<{ty}, {}u> ring = {{({ty} *)(job.arena + {}ull), {}u}};\n        \
                     const int32_t low = sl_between(b{by}{low}, 0, all{by}{m}), high = sl_between(b{by}{high}, 0, all{by}{m});\n        \
                     sl_begin_ring(team, tile{i}, (uint32_t)(low - base{i}), ring, job.t * {pace}u + (uint32_t)low, {some});\n    }}",
                    ring.rate, ring.offset, ring.rows,
                );
                continue;
            }
            let reader = graph.channel(*c).from.0;
            let group = self.region.groups.iter().position(|g| g.members.iter().any(|(v, _)| *v == reader));
            let Some(group) = group else { continue };
            let run = self.run(group, reader, *c, "sl_begin_run");
            self.out.push_str(&run);
            if m > 0 && self.place().held(*c) {
                let (by, carry) = (times(pace), making.arena.carry(*c));
                let _ = writeln!(
                    self.out,
                    "    {{\n        const int32_t low = sl_between(b{by}{low}, 0, {m}), high = sl_between(b{by}{high}, 0, {m});\n        \
                     {ty} *const from = ({ty} *)(job.arena + {carry}ull) + job.parity * {m}u + low;\n        \
                     sl_begin_run(team, tile{i}, (uint32_t)(low - base{i}), from, {some});\n    }}",
                );
            }
        }
    }

    /// A tile of those who fire.
    fn fires(&mut self, staging: &Staging) {
        let (all, fire) = (staging.threads(), staging.fire);
        let is_staged = |c: ChannelId| staging.staged.contains_key(&c);
        let graph = self.making.input.host.graph;
        let (region, elsewhere) = (self.region, &self.tiling.elsewhere);
        let takes = |work: &Work| match work {
            Work::Bring(_) => false,
            Work::Save(c) => is_staged(*c),
            Work::Fire(g) => {
                let members = &region.groups[*g].members;
                members.iter().any(|(v, _)| graph.node(*v).inputs.iter().any(|c| is_staged(elsewhere.tile(*c))))
            }
        };
        let steps = &staging.steps;
        let last = steps.iter().rposition(|step| step.iter().any(takes));
        self.places(|_| true);
        // behind this barrier nobody is at the tile before any more
        let _ = writeln!(self.out, "    sl_sync_stage<{FULL}u, {all}u>(stage);");
        let empty = format!("    if (b + {STAGES} * step < tiles) sl_arrive_stage<{EMPTY}u, {all}u>(stage);\n");
        if last.is_none() {
            self.out.push_str(&empty);
        }
        for (n, step) in steps.iter().enumerate() {
            self.step(step);
            if Some(n) == last {
                self.out.push_str(&empty);
            }
            if n + 1 < steps.len() {
                let _ = writeln!(self.out, "    sl_sync_named<{FIRE}u, {fire}u>();");
            }
        }
    }
}
