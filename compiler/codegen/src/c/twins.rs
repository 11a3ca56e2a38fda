//! # twins
//!
//! Purpose: what a duplicate splitter gives is copied once, though items wait behind it on every branch. Input: a graph, what waits. Output: by channel, whose buffer it is read from.
//!
//! ```text
//! split → (Band of 32 taps, Band of 32 taps, Band of 16 taps)     →     one buffer, the third begins to read 16 items later
//! ```
//!
//! Behind a duplicate splitter, channels hold the last items of the same stream: of two of them, the shorter one's are the last of the longer one's. While steady states run at once, all are read from
//! the buffer of the longest. At the end, what waits on each goes to its own buffer, where the engine finds it when it fires node by node.
//!
//! What must hold: items that have waited from the beginning are the same on both channels, as far as any of them may still be there; nobody writes to what is read.

use super::fused::FusedProgram;
use super::layout::Layout;
use super::program::ProgramInput;
use super::sharing::Lives;
use super::types::c_type;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::ChannelId;
use sluice_frontend::steady_state::SteadyState;
use std::collections::BTreeMap;
use std::fmt::Write;

/// By channel that is read from another's buffer: which that is, and how many items of it come before its own.
pub type Twins = BTreeMap<ChannelId, (ChannelId, u64)>;

/// Those of what steady states of a program run on: the program, or its regions. `may`: of these channels only.
pub fn twins(input: &ProgramInput<'_>, regions: Option<FusedProgram<'_>>, may: &dyn Fn(ChannelId) -> bool) -> Twins {
    let (graph, fill) = match regions {
        Some(f) => (&f.program.graph, &f.program.steady.boundary_fill),
        None => (input.graph, &input.steady.boundary_fill),
    };
    let old = |c: ChannelId| regions.map_or(c, |f| f.program.channels[c.index()]);
    // the input of a region may hold more than its channel
    let is_own = |c: ChannelId| {
        fill[c.index()] == input.steady.boundary_fill[old(c).index()]
            && regions.is_none_or(|f| f.program.histories.iter().all(|h| h.channel != c))
    };
    let mut twins = Twins::new();
    for node in graph.nodes.iter().filter(|n| n.kind == NodeKind::Duplicate) {
        let waits = |c: &&ChannelId| {
            let channel = graph.channel(**c);
            // a writer changes NaNs in place
            let read_only = !matches!(graph.node(channel.to.0).kind, NodeKind::Writer(_));
            fill[c.index()] > 0 && read_only && channel.from.0 != channel.to.0 && is_own(**c) && may(**c)
        };
        let all: Vec<ChannelId> = node.outputs.iter().filter(waits).copied().collect();
        let Some(longest) = all.iter().copied().max_by_key(|c| fill[c.index()]) else { continue };
        for c in all.into_iter().filter(|c| *c != longest) {
            if same(input, old(c), old(longest)) {
                twins.insert(c, (longest, fill[longest.index()] - fill[c.index()]));
            }
        }
    }
    twins
}

/// Is what waits on a channel of the program the last of what waits on another, behind the same splitter?
fn same(input: &ProgramInput<'_>, c: ChannelId, longer: ChannelId) -> bool {
    let (a, b) = (input.graph.channel(c), input.graph.channel(longer));
    if a.from.0 != b.from.0 || a.produce != b.produce || a.ty != b.ty {
        return false;
    }
    // of the last so many items, these may have waited from the beginning
    let given = input.steady.init[a.from.0.index()].saturating_mul(a.produce.into());
    let older = input.steady.boundary_fill[c.index()].saturating_sub(given) as usize;
    let last = |all: &[Const]| all.len().checked_sub(older).map(|from| all[from..].to_vec());
    last(&a.initial).is_some_and(|items| last(&b.initial) == Some(items))
}

/// C that brings what waits to the beginnings of the buffers of a graph, after `k` steady states, or goes on to it where channels slide.
pub fn keep(graph: &SdfGraph, steady: &SteadyState, places: &Layout, lives: Option<&Lives>) -> String {
    let (mut first, mut then) = (String::new(), String::new());
    for c in graph.channel_ids().filter(|c| steady.boundary_fill[c.index()] > 0) {
        let (channel, fill) = (graph.channel(c), steady.boundary_fill[c.index()]);
        let (at, from, item) = (places.channels[c.index()].offset, places.fast(c), c_type(&channel.ty));
        let taken = steady.repetitions[channel.to.0.index()].saturating_mul(channel.consume.into());
        if let Some(own) = places.slides[c.index()] {
            let _ = writeln!(then, "    sl_slide(ctx, {}, k);", own.0);
            continue;
        }
        // what others hold goes before they move it
        let out = if lives.is_some_and(|l| l.twin(c)) { &mut first } else { &mut then };
        let _ = writeln!(
            out,
            "    memmove(ctx->arena + {at}, ctx->arena + {from} + (size_t)k * {taken} * sizeof({item}), {fill} * sizeof({item}));"
        );
    }
    first + &then
}
