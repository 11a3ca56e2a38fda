//! # profile
//!
//! Purpose: the nodes of a program, each alone, as kernels that can be measured. Input: the same as for [`super::emit`], multiprocessors. Output: [`ProfileText`]: a kernel for each part (the very
//! functions that the schemes call), and what memory it works on.
//!
//! ```text
//! sl_profile_3: each block makes `job.m` firings of Main.Gain from number `job.t` + block * 1024 on, `job.n` times over
//! ```
//!
//! Blocks have firings of their own, and channels hold those of all of them: none waits for another, or touches what another one touches. What must follow one another
//! (state, prints) is the work of one block, and what runs in a loop that of one thread.
//! Source: Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", figure 6.

use super::layout::WARP;
use super::parts::Parts;
use super::program::{CudaInput, InPieces, KernelInfo, Making, comment};
use super::refuse;
use crate::c::layout::ends;
use crate::c::program::CodegenError;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::gcd;
use sluice_schedule::problem::granularity::is_serial;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Firings that a block makes one round of; of a block of so many threads the most that are a multiple of them.
const ROUND: u64 = 1024;
/// The same of those that follow one another.
const SERIAL_ROUND: u64 = 64;
/// Channels hold no more bytes than this, each; then blocks share them.
const MOST_CHANNEL: u64 = 256 << 20;

/// A part as a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileKernel {
    /// Its name in the text, and its number in [`ProfileText::kernels`].
    pub name: String,
    /// The nodes that have this part, in program order: the first one's memory is worked on.
    pub nodes: Vec<NodeId>,
    /// The part in the text: `sl_part_3`.
    pub function: String,
    /// Its text: where it is that of another number of threads, so is the code.
    pub text: String,
    /// Bytes of shared memory of a block.
    pub shared: u64,
    /// Firings of a block in a round.
    pub round: u64,
    /// Its firings follow one another: one block, whose threads' number is of no consequence for them.
    pub serial: bool,
    /// What a block does depends on the number of its first firing modulo this at most.
    pub period: u64,
}

/// A text for threads of one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileText {
    /// CUDA C++. A kernel of number 3 is left out where `SL_WITHOUT_3` is defined.
    pub device: String,
    /// The kernels, by number.
    pub kernels: Vec<ProfileKernel>,
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// By reader, then writer: bytes of items that it takes or gives.
    pub end_bytes: Vec<u64>,
    /// How many of these are readers.
    pub readers: usize,
}

/// Makes the text for blocks of `input.options.threads` on so many multiprocessors.
pub fn profile(input: &CudaInput<'_>, processors: u32) -> Result<ProfileText, CodegenError> {
    refuse::refuse(input)?;
    let mut making = Making::unplaced(*input);
    let graph = input.host.graph;
    let all: Vec<NodeId> = graph.node_ids().filter(|v| making.task_of[v.index()].is_some()).collect();
    // channels of all of them: which parts are equal is known when they are made
    let rounds = Rounds::of(&making, processors);
    making.place(&rounds.capacity(&making, MOST_CHANNEL), &[]).or_else(|_| {
        let each = (input.options.memory / 2 / graph.channels.len().max(1) as u64).max(1);
        making.place(&rounds.capacity(&making, each.min(MOST_CHANNEL)), &[])
    })?;
    let parts = Parts::emit(&making, |_| true);
    let filters = making.filters(0, parts.constant_bytes, &InPieces::new());
    let mut same: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
    all.iter().for_each(|v| same.entry(parts.number(*v).0).or_default().push(*v));

    // the same text for blocks of all sizes, unless what goes through shared memory depends on it
    let mut device = making.head("to measure its parts", &filters);
    let mut text = String::new();
    let mut kernels = Vec::new();
    for (i, (part, nodes)) in same.into_iter().enumerate() {
        let v = nodes[0];
        let (serial, round) = (rounds.serial[v.index()], rounds.round[v.index()]);
        let whole = making.whole(v);
        let (function, name) =
            (format!("sl_{}_{part}", if whole { "alone" } else { "part" }), format!("sl_profile_{i}"));
        let first = if serial { "job.t".to_string() } else { format!("job.t + sl_block() * {ROUND}u") };
        let _ = write!(
            text,
            "/* {}: in each of `n` rounds so many firings of a block */\n#ifndef SL_WITHOUT_{i}\nSL_KERNEL(1024) void {name}(SL_JOB job)\n{{\n    \
             for (uint32_t i = 0; i < job.n; i++) {{\n        {}{}\n        sl_sync();\n    }}\n}}\n#endif\n\n",
            comment(&graph.node(v).path),
            if whole { "if (sl_thread() == 0) " } else { "" },
            parts.call(v, whole, &first, "job.m"),
        );
        let shared = if whole { 0 } else { parts.shared[v.index()] };
        let own = parts.functions[part][if whole { 2 } else { 1 }].clone();
        let period = nodes.iter().map(|v| period(&making, *v)).fold(1, lcm);
        kernels.push(ProfileKernel { name, nodes, function, text: own, shared, round, serial, period });
    }
    device.push_str(&parts.text(&text));
    device.push_str(&text);
    let info = |k: &ProfileKernel| KernelInfo { name: k.name.clone(), threads: 1024, shared: k.shared };
    device.push_str(&making.for_the_emulator(&kernels.iter().map(info).collect::<Vec<_>>()));
    let (readers, writers) = ends(graph);
    let bytes = |v: &NodeId| {
        let node = graph.node(*v);
        let channel = node.inputs.first().or(node.outputs.first()).copied();
        let item = channel.map_or(0, |c| making.item_bytes(c));
        item * (u64::from(processors) * ROUND)
    };
    let end_bytes = readers.iter().chain(&writers).map(bytes).collect();
    Ok(ProfileText { device, kernels, arena_bytes: making.arena.bytes, end_bytes, readers: readers.len() })
}

/// After so many firings a node's items are at the same places of the groups of their rings.
fn period(making: &Making<'_>, v: NodeId) -> u64 {
    let graph = making.input.host.graph;
    let node = graph.node(v);
    let ends = node.inputs.iter().map(|c| (c, graph.channel(*c).consume));
    let ends = ends.chain(node.outputs.iter().map(|c| (c, graph.channel(*c).produce)));
    let of = |(c, moved): (&ChannelId, u32)| match making.arena.rings[c.index()] {
        Some(ring) if moved > 0 => {
            let group = WARP * ring.rate;
            group / gcd(group, moved.into())
        }
        _ => 1,
    };
    ends.map(of).fold(1, lcm)
}

fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}

/// By node, what its kernel does.
struct Rounds {
    serial: Vec<bool>,
    round: Vec<u64>,
    /// Blocks that have firings of their own.
    blocks: Vec<u64>,
}

impl Rounds {
    fn of(making: &Making<'_>, processors: u32) -> Rounds {
        let graph = making.input.host.graph;
        let mut rounds = Rounds { serial: Vec::new(), round: Vec::new(), blocks: Vec::new() };
        for v in graph.node_ids() {
            let threads = u64::from(making.input.options.threads);
            let end = matches!(graph.node(v).kind, NodeKind::Reader(_) | NodeKind::Writer(_));
            let fires = making.task_of[v.index()].is_some();
            let serial = fires && !end && (is_serial(graph, v) || making.whole(v));
            rounds.serial.push(serial);
            rounds.round.push(if serial { SERIAL_ROUND } else { (ROUND / threads * threads).max(threads) });
            rounds.blocks.push(if serial { 1 } else { processors.into() });
        }
        rounds
    }

    /// By channel, items that it holds: those of all blocks at both ends, as far as those take no more than so many bytes.
    fn capacity(&self, making: &Making<'_>, most: u64) -> Vec<Option<u64>> {
        let graph = making.input.host.graph;
        let of = |c| {
            let channel = graph.channel(c);
            let fill = making.input.host.steady.boundary_fill[c.index()];
            let end = |v: NodeId, rate: u32, window: u32| {
                let beyond = u64::from(window.saturating_sub(rate)).saturating_add(fill);
                let rate = u64::from(rate);
                let round = self.round[v.index()].saturating_mul(rate).saturating_add(beyond);
                let blocks = (self.blocks[v.index()] * ROUND).saturating_mul(rate).saturating_add(beyond);
                (round, blocks)
            };
            let ends = [
                end(channel.from.0, channel.produce, channel.produce),
                end(channel.to.0, channel.consume, channel.peek.max(channel.consume)),
            ];
            let most = most / making.item_bytes(c).max(1);
            ends.into_iter().map(|(round, blocks)| blocks.min(most).max(round)).max().unwrap_or(1).max(1)
        };
        graph.channel_ids().map(|c| making.arises(c).then(|| of(c))).collect()
    }
}
