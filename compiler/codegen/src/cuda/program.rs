//! # emit-cuda
//!
//! Purpose: a program whose steady states run on a device. Input: [`CudaInput`]: what the C back end gets, kernels for devices, a modulo schedule that
//! the judge has passed. Output: [`CudaProgram`]: the device's CUDA C++, and the host's C, whose fast way starts the kernels (rts/c/sl_device.c).
//!
//! ```text
//! sl_env.h, sl_device_math.h, sl_thread.h, sl_channel.h | types, tables | filters | job, states, channels | parts: firings of a node by a block
//! | tasks: an instance of the schedule | kernels
//! ```
//!
//! What the text establishes: a kernel makes the firings that the schedule says, at the places that [`super::layout`] says; blocks share what an earlier
//! kernel (or the time before a barrier of the grid) has made, and nothing else; the same input gives the same text.

use super::codes::{Codes, codes};
use super::faults::Faults;
use super::lanes::TileCounts;
use super::layout::{self, Arena, Wanted};
use super::options::{CudaOptions, Scheme};
use super::parts::Parts;
use super::tiled::{self, Share, Started, Tiled, When};
use super::{fused, host, refuse, regions, rts, serial, swp};
use crate::c::print::{FilterText, Site};
use crate::c::program::{CProgram, CodegenError, OnDevice, ProgramInput, emit_on_device, filters};
use crate::c::tables::Facts;
use crate::c::types;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::slow::InTurn;
use sluice_kernel::ir::Kernel;
use sluice_kernel::pieces;
use sluice_schedule::problem::judge::Verified;
use sluice_schedule::problem::modulo::ModuloProblem;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What device code is made from.
#[derive(Clone, Copy)]
pub struct CudaInput<'a> {
    /// What the host's C is made from. Its flavour is that of the result.
    pub host: &'a ProgramInput<'a>,
    /// One for each code, after the passes for devices (`sluice_kernel::passes::DEVICE`).
    pub kernels: &'a [Kernel],
    /// One for each code: where a firing is one of each of several streams, and the kernel is that of one of them, what says how they lie.
    pub turns: &'a [Option<&'a InTurn>],
    /// By node, how many of a block's threads fire it, a multiple of 32; the others rest. Empty: all do.
    pub threads: &'a [u32],
    /// What the schedule's costs are, where they do not come from the kernel IR, for people.
    pub costs: &'a str,
    /// The scheduling problem.
    pub problem: &'a ModuloProblem,
    /// A schedule that the judge has passed; for [`Scheme::Serial`] on one processor, with one instance of each task.
    pub schedule: &'a Verified,
    /// Choices.
    pub options: &'a CudaOptions,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name in the device's text.
    pub name: String,
    /// Threads of its blocks.
    pub threads: u32,
    /// Bytes of shared memory for each block.
    pub shared: u64,
}

/// A program for host and device.
#[derive(Clone, Debug)]
pub struct CudaProgram {
    /// The host's C.
    pub host: CProgram,
    /// The device's CUDA C++.
    pub device: String,
    /// The kernels, by the numbers by which the host starts them.
    pub kernels: Vec<KernelInfo>,
    /// Bytes of the channels' buffers.
    pub channel_bytes: u64,
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// Of a scheme that cuts programs into regions, what it starts.
    pub tiled: Option<Tiled>,
    /// And what each of its regions' kernels does for a tile, in numbers.
    pub tiles: Vec<TileCounts>,
}

/// The program as the modules here see it.
pub(super) struct Making<'a> {
    pub(super) input: CudaInput<'a>,
    pub(super) facts: Facts,
    pub(super) codes: Codes,
    pub(super) faults: Faults,
    /// By code: how many threads can make a firing of it together, at most; `None`: it is one thread's.
    pub(super) pieces: Vec<Option<u64>>,
    /// By code, the numbers of pieces for which a thread need not look for what it does, in order.
    pub(super) even: Vec<Vec<u64>>,
    /// By code: does it only move items? And cycles of a firing, as costs are counted.
    pub(super) movers: Vec<bool>,
    pub(super) work: Vec<u64>,
    /// By node: its place in an order in which each comes after those that give it items.
    pub(super) order: Vec<usize>,
    pub(super) arena: Arena,
    /// By node, the task that it belongs to.
    pub(super) task_of: Vec<Option<usize>>,
    /// Steady states of an iteration: the schedule's, or for [`Scheme::Fused`] a tile's.
    pub(super) unit: u64,
    /// Steady states that the rings have room for at least.
    pub(super) chunk: u64,
    /// The most steady states at once.
    pub(super) batch: u64,
}

/// By code that is printed, the numbers of pieces that its firings go in.
pub(super) type InPieces = BTreeMap<usize, BTreeSet<u32>>;

/// Kernels and what calls them.
pub(super) struct Kernels {
    /// Device text: tasks and kernels.
    pub(super) text: String,
    /// Kernels, in the order of their numbers, which begin after those that carry what channels keep.
    pub(super) kernels: Vec<KernelInfo>,
    /// C text of the host: the launches of `job.n` iterations.
    pub(super) launches: String,
    /// By kernel, what it is of and its blocks, for schemes that cut programs into regions; `None`: it is not always started.
    pub(super) grids: Vec<Option<Share>>,
    /// What regions do for a tile, in numbers.
    pub(super) counts: Vec<TileCounts>,
}

/// Iterations of a batch for each stage of a pipeline, at least.
const PIPELINES: u64 = 8;
/// Iterations of a batch where nothing passes the ends: starting it costs little.
const WITHOUT_ENDS: u128 = 1 << 16;
/// Stands in a device's text between the run-time support and what is made of the program.
const PROGRAM_MARK: &str = "/* ---- the program ---- */\n\n";
/// And before the emulator.
const EMULATOR_MARK: &str = "\n/* ---- the emulator ---- */\n";

/// Makes host and device text.
pub fn emit(input: &CudaInput<'_>) -> Result<CudaProgram, CodegenError> {
    refuse::refuse(input)?;
    let (making, fused) = Making::new(*input)?;
    let host_filters = filters(input.host);
    let first_site: usize = host_filters.iter().flatten().map(|f| f.sites.len()).sum();
    let in_region = |v: NodeId| fused.as_ref().is_some_and(|f| f.regions.of[v.index()].is_some());
    let parts = Parts::emit(&making, |v| !in_region(v));
    let in_pieces = fused.as_ref().map(|plan| plan.in_pieces(&making)).unwrap_or_default();
    let device_filters = making.filters(first_site, parts.constant_bytes, &in_pieces);
    let made = match input.options.scheme {
        Scheme::Fused | Scheme::FusedWarps => {
            fused::emit(&making, &parts, fused.as_ref().expect("made for this scheme"))?
        }
        Scheme::Serial => serial::emit(&making, &parts)?,
        Scheme::Swp | Scheme::SwpNc => swp::emit(&making, &parts, false)?,
        Scheme::SwpPersistent => swp::emit(&making, &parts, true)?,
    };
    let kept = host::exchange(&making);
    let mut kernels = kept.kernels;
    let tiled = fused.as_ref().map(|plan| {
        let carries = kept.grids.into_iter().zip([When::Before, When::After]);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (kernel, (grid, when)) in carries.enumerate() {
            let Some((nodes, grid)) = grid else { continue };
            let all = if when == When::Before { &mut before } else { &mut after };
            all.push(Started { kernel, nodes, grid, when });
        }
        for (i, grid) in made.grids.into_iter().enumerate() {
            let Some((nodes, grid)) = grid else { continue };
            before.push(Started { kernel: kernels.len() + i, nodes, grid, when: When::Each });
        }
        before.extend(after);
        tiled::tiled(&making, plan.room(&making), before)
    });
    kernels.extend(made.kernels);

    let costs = if input.costs.is_empty() { String::new() } else { format!("; costs: {}", comment(input.costs)) };
    let mut device = making.head(&format!("scheme {}{costs}", input.options.scheme.name()), &device_filters);
    device.push_str(&parts.text(&made.text));
    device.push_str(&kept.text);
    device.push_str(&made.text);
    device.push_str(&making.for_the_emulator(&kernels));

    let on_device = OnDevice {
        unit: making.unit,
        batch: making.batch,
        least: making.least_batch(),
        kernels: kernels.len() as u32,
        text: host::text(&making, &made.launches, &kernels),
        sites: device_filters.iter().flatten().flat_map(|f| f.sites.iter().cloned()).collect::<Vec<Site>>(),
    };
    let host = emit_on_device(input.host, &host_filters, &on_device)?;
    let (channel_bytes, arena_bytes) = (making.arena.ring_bytes(), making.arena.bytes);
    Ok(CudaProgram { host, device, kernels, channel_bytes, arena_bytes, tiled, tiles: made.counts })
}

/// Bytes of the channels' buffers that the texts would have.
pub fn channel_bytes(input: &CudaInput<'_>) -> Result<u64, CodegenError> {
    refuse::refuse(input)?;
    Ok(Making::new(*input)?.0.arena.ring_bytes())
}

impl<'a> Making<'a> {
    /// All but where things are in memory.
    pub(super) fn unplaced(input: CudaInput<'a>) -> Making<'a> {
        let graph = input.host.graph;
        let tasks = input.problem.graph();
        let mut task_of = vec![None; graph.nodes.len()];
        for (i, t) in tasks.tasks.iter().enumerate() {
            t.nodes.iter().for_each(|v| task_of[v.index()] = Some(i));
        }
        let facts = Facts::of(graph, input.kernels.len());
        let codes = codes(input.kernels, input.turns, &facts.instances);
        let faults = Faults::of(input.kernels, &facts.instances);
        let nothing = Arena { states: 0, kept: vec![], exchanged: 0, rings: vec![], carries: vec![], bytes: 0 };
        let (unit, chunk) = (tasks.batch, tasks.batch);
        let pieces =
            input.kernels.iter().zip(&facts.instances).map(|(k, n)| if *n > 0 { pieces::most(k) } else { None });
        let pieces = pieces.collect();
        let even = input.kernels.iter().map(|k| pieces::even(k, super::pieces::MOST)).collect();
        let movers = input.kernels.iter().map(pieces::only_moves).collect();
        let work = input.kernels.iter().map(|k| sluice_kernel::cost::firing(k).cycles()).collect();
        let order = regions::topological(graph);
        Making {
            input,
            facts,
            codes,
            faults,
            pieces,
            even,
            movers,
            work,
            order,
            arena: nothing,
            task_of,
            unit,
            chunk,
            batch: 0,
        }
    }

    pub(super) fn new(input: CudaInput<'a>) -> Result<(Making<'a>, Option<fused::Plan>), CodegenError> {
        let ProgramInput { graph, steady, .. } = *input.host;
        let tasks = input.problem.graph();
        let mut making = Making::unplaced(input);
        let fused = input.options.scheme.is_fused().then(|| fused::plan(&making)).transpose()?;
        let mut capacity: Vec<Option<u64>> = vec![None; graph.channels.len()];
        for c in graph.channel_ids().filter(|c| making.arises(*c)) {
            let ends = graph.channel(c);
            let [from, to] = [ends.from.0, ends.to.0].map(|v| making.task_of[v.index()]);
            // within a task that runs whole; an edge of one that does not says what it needs
            if from == to {
                capacity[c.index()] = steady.capacity(graph, c, tasks.batch);
            }
            // nothing passes there, but it may be looked at
            if !making.flows(c) {
                capacity[c.index()] = Some(steady.boundary_fill[c.index()].max(1));
            }
        }
        for (e, items) in tasks.edges.iter().zip(input.schedule.capacity()) {
            capacity[e.channel.index()] = Some(*items);
        }
        let mut carried = Vec::new();
        if let Some(plan) = &fused {
            making.unit = plan.states;
            carried = fused::carried(&making, &plan.regions);
            for c in graph.channel_ids().filter(|c| making.flows(*c) && plan.regions.holds(graph, *c)) {
                capacity[c.index()] = None;
            }
        }
        making.place(&capacity, &carried)?;
        making.batch = making.choose_batch();
        Ok((making, fused))
    }

    /// Places channels that hold so many items (those that are there at all), and those that are carried from launch to launch.
    pub(super) fn place(&mut self, capacity: &[Option<u64>], carried: &[ChannelId]) -> Result<(), CodegenError> {
        let input = self.input;
        let ProgramInput { graph, steady, globals, .. } = *input.host;
        let limit = input.options.memory;
        let too_large = |bytes: u64| CodegenError::DeviceMemory { bytes, limit };
        let states = states_bytes(input.host.kernels, &self.facts, globals).ok_or(too_large(u64::MAX))?;
        // streams in turn lie side by side: threads that have one each touch neighbours in the natural order
        let side_by_side = |v: NodeId| self.turns_of(v).is_some();
        let natural = graph.channel_ids().map(|c| {
            let ends = graph.channel(c);
            input.options.scheme == Scheme::SwpNc || side_by_side(ends.from.0) || side_by_side(ends.to.0)
        });
        let natural: Vec<bool> = natural.collect();
        let natural = &natural[..];
        let wanted = Wanted { graph, steady, globals, capacity, natural, carried, states, limit };
        self.arena = layout::arena(&wanted).map_err(too_large)?;
        Ok(())
    }

    /// The text up to the parts: run-time support, types and tables, filters, the kernels' argument, states.
    pub(super) fn head(&self, what: &str, filters: &[Option<FilterText>]) -> String {
        let input = &self.input;
        let mut out = format!("/* {}: made by sluice for a device, {what}. */\n", comment(input.host.name));
        if let Some(registers) = input.options.registers {
            let _ = writeln!(out, "#define SL_REGISTERS {registers}");
        }
        rts::head(&mut out);
        out.push_str(PROGRAM_MARK);
        out.push_str(&self.declarations(filters));
        for text in filters.iter().flatten() {
            out.push_str(&text.state);
            out.push_str(&text.functions);
        }
        out.push_str(&host::job(self, true));
        out.push_str(&self.states());
        out
    }

    /// How the streams lie of which a code's kernel fires one.
    pub(super) fn turns(&self, code: usize) -> Option<&'a InTurn> {
        self.input.turns.get(code).copied().flatten()
    }

    /// The same of a node's code.
    pub(super) fn turns_of(&self, v: NodeId) -> Option<&'a InTurn> {
        match &self.input.host.graph.node(v).kind {
            NodeKind::Filter { code, .. } => self.turns(code.index()),
            _ => None,
        }
    }

    /// Does a channel connect nodes that fire?
    pub(super) fn arises(&self, c: ChannelId) -> bool {
        let ends = self.input.host.graph.channel(c);
        [ends.from.0, ends.to.0].iter().all(|v| self.task_of[v.index()].is_some())
    }

    /// And do items pass on it?
    pub(super) fn flows(&self, c: ChannelId) -> bool {
        let channel = self.input.host.graph.channel(c);
        self.arises(c) && channel.produce > 0 && channel.consume > 0
    }

    /// Bytes of an item of a channel.
    pub(super) fn item_bytes(&self, c: ChannelId) -> u64 {
        let input = self.input.host;
        crate::c::layout::size_align(&input.graph.channel(c).ty, input.globals).map_or(0, |(size, _)| size)
    }

    /// As many iterations as bring about so many bytes through the ends, and keep the items' numbers within 31 bits.
    fn choose_batch(&self) -> u64 {
        let ProgramInput { graph, steady, .. } = *self.input.host;
        let unit = u128::from(self.unit);
        let (mut most, mut has_ends) = (u128::from(u32::MAX), false);
        for c in graph.channel_ids() {
            let channel = graph.channel(c);
            if !self.flows(c) {
                continue;
            }
            let item = u128::from(self.item_bytes(c));
            let items = u128::from(steady.repetitions[channel.from.0.index()]) * u128::from(channel.produce) * unit;
            let beyond = u128::from(steady.boundary_fill[c.index()]) + u128::from(channel.peek);
            most = most.min(((1u128 << 31).saturating_sub(beyond)) / items);
            let end = |v: NodeId| matches!(graph.node(v).kind, NodeKind::Reader(_) | NodeKind::Writer(_));
            if end(channel.from.0) || end(channel.to.0) {
                has_ends = true;
                most = most.min((u128::from(self.input.options.batch_bytes) / (items * item)).max(1));
            }
        }
        let most = if has_ends { most } else { most.min(WITHOUT_ENDS) };
        (most.max(1) * unit).min(1 << 40) as u64
    }

    /// Steady states of the first batch, and of the shortest ones while there are so many: of a pipeline several times what fills and drains it.
    fn least_batch(&self) -> u64 {
        let stages = u64::from(self.input.schedule.schedule().stages().max(1));
        match self.input.options.scheme {
            _ if self.input.options.whole_batches => self.batch,
            Scheme::Swp | Scheme::SwpPersistent | Scheme::SwpNc if stages > 1 => {
                (PIPELINES * stages).saturating_mul(self.unit).min(self.batch)
            }
            _ => self.unit,
        }
    }

    /// Types and statics.
    fn declarations(&self, filters: &[Option<FilterText>]) -> String {
        let input = self.input.host;
        let used = self.input.kernels.iter().zip(filters).filter_map(|(k, f)| f.as_ref().map(|_| k));
        let statics: BTreeSet<_> = filters.iter().flatten().flat_map(|f| f.statics.iter().copied()).collect();
        let mut tys: Vec<_> = input.graph.channels.iter().map(|c| c.ty.clone()).collect();
        tys.extend(used.flat_map(types::used_types));
        tys.extend(statics.iter().filter_map(|s| input.globals.statics.get(s.index()).map(|s| s.ty.clone())));
        let mut out = types::emit_types(&crate::c::natives::structs(input.globals), &tys);
        for id in &statics {
            if let Some(s) = input.globals.statics.get(id.index()) {
                out.push_str(&types::table_in("SL_GLOBAL_TABLE", &types::static_name(*id, &s.name), &s.ty, &s.value));
            }
        }
        out
    }

    /// The filters' states lie here as on the host.
    fn states(&self) -> String {
        let mut out = String::new();
        for (k, members) in
            self.codes.members.iter().enumerate().filter(|(k, m)| !m.is_empty() && self.facts.instances[*k] > 0)
        {
            if self.turns(k).is_some() {
                continue;
            }
            let bytes = state_bytes(&self.input.kernels[members[0]], self.input.host.globals).unwrap_or(0);
            let _ = writeln!(out, "static_assert(sizeof(sl_state_{k}) == {bytes}, \"states as on the host\");");
        }
        out.push('\n');
        out
    }

    /// Offset of the states of a code's instances among all states.
    pub(super) fn state_offset(&self, code: usize) -> u64 {
        let before = &self.facts.instances[..code];
        let mut at = 0u64;
        for (k, n) in before.iter().enumerate().filter(|(_, n)| **n > 0) {
            let bytes = state_bytes(&self.input.host.kernels[k], self.input.host.globals).unwrap_or(0);
            at = at.next_multiple_of(64) + bytes * *n as u64;
        }
        at.next_multiple_of(64)
    }

    /// Threads that fire a node side by side.
    pub(super) fn threads_of(&self, v: NodeId) -> u32 {
        let all = self.input.options.threads;
        self.input.threads.get(v.index()).map_or(all, |n| *n.min(&all))
    }

    /// Threads of the blocks in which a node's part runs. A kernel of its own has no others than those that fire.
    pub(super) fn block_threads(&self, v: NodeId) -> u32 {
        let own = self.input.options.scheme == Scheme::Serial && !self.whole(v);
        if own { self.threads_of(v) } else { self.input.options.threads }
    }

    /// Is a node in a task that runs whole, or does it feed itself?
    pub(super) fn whole(&self, v: NodeId) -> bool {
        let graph = self.input.host.graph;
        let together = self.task_of[v.index()].is_some_and(|t| self.input.problem.graph().tasks[t].nodes.len() > 1);
        together || graph.node(v).outputs.iter().any(|c| graph.channel(*c).to.0 == v)
    }

    /// A channel for people: `c3, from A to B`.
    pub(super) fn channel_name(&self, c: ChannelId) -> String {
        let graph = self.input.host.graph;
        let ends = graph.channel(c);
        format!("{c}, from {} to {}", graph.node(ends.from.0).path, graph.node(ends.to.0).path)
    }

    /// What the emulator is told.
    pub(super) fn for_the_emulator(&self, kernels: &[KernelInfo]) -> String {
        let mut out = String::from("#ifdef SL_EMULATE\nstatic sl_kernel_fn *const sl_kernel_table[] = {");
        let all: Vec<&str> = kernels.iter().map(|k| k.name.as_str()).collect();
        out.push_str(&all.join(", "));
        out.push_str("};\nstatic const char *const sl_kernel_names[] = {");
        out.push_str(&all.iter().map(|k| format!("\"{k}\"")).collect::<Vec<_>>().join(", "));
        out.push_str("};\nstatic const sl_region sl_regions[] = {\n");
        let mut row = |offset: u64, bytes: u64, name: &str| {
            let _ = writeln!(out, "    {{{offset}ull, {bytes}ull, {}}},", types::text(name));
        };
        row(0, layout::STATUS, "the status");
        let states = states_size(self);
        row(self.arena.states, states, "states of filters");
        let (graph, steady) = (self.input.host.graph, self.input.host.steady);
        for (c, offset) in &self.arena.kept {
            let item = self.item_bytes(*c);
            row(*offset, item * steady.boundary_fill[c.index()], &format!("what {} keeps", self.channel_name(*c)));
        }
        for (c, offset) in &self.arena.carries {
            let bytes = self.item_bytes(*c) * steady.boundary_fill[c.index()];
            row(*offset, bytes, &format!("what {} carries", self.channel_name(*c)));
            row(*offset + bytes, bytes, &format!("what {} carries, in turn", self.channel_name(*c)));
        }
        for c in graph.channel_ids() {
            if let Some(ring) = &self.arena.rings[c.index()] {
                row(ring.offset, ring.bytes(), &self.channel_name(c));
            }
        }
        out.push_str("};\n");
        out.push_str(EMULATOR_MARK);
        rts::append(&mut out, rts::PROGRAM);
        out.push_str("#endif\n");
        out
    }
}

/// Bytes of all states.
pub(super) fn states_size(making: &Making<'_>) -> u64 {
    states_bytes(making.input.host.kernels, &making.facts, making.input.host.globals).unwrap_or(0)
}

/// `sizeof(struct sl_states)`.
fn states_bytes(kernels: &[Kernel], facts: &Facts, globals: &sluice_frontend::typed::Globals) -> Option<u64> {
    let mut at = 0u64;
    for (k, n) in facts.instances.iter().enumerate().filter(|(_, n)| **n > 0) {
        at =
            at.checked_next_multiple_of(64)?.checked_add(state_bytes(&kernels[k], globals)?.checked_mul(*n as u64)?)?;
    }
    let align = if at == 0 { 1 } else { 64 };
    at.checked_add(1)?.checked_next_multiple_of(align)
}

/// `sizeof(struct sl_state_k)`.
pub(super) fn state_bytes(kernel: &Kernel, globals: &sluice_frontend::typed::Globals) -> Option<u64> {
    let (mut at, mut most) = (8u64, 8u64);
    for field in &kernel.state {
        let (size, align) = crate::c::layout::size_align(&field.ty, globals)?;
        at = at.checked_next_multiple_of(align)?.checked_add(size)?;
        most = most.max(align);
    }
    at.checked_next_multiple_of(most)
}

/// Text that cannot end a comment.
pub(super) fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ")
}
