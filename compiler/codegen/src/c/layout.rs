//! # layout
//!
//! Purpose: where the buffers are, and how many steady states run at once. Input: graph, steady state, limits. Output: [`Layout`].
//!
//! All buffers of an instance lie in one block (the arena), each aligned to 64 bytes, at offsets known when the program is compiled.
//! The batch K is the greatest for which all of them together fit the target (part of a cache), at least one steady state. What stays on channels
//! from one batch to the next is moved to the buffer's start after each, if it is short. A long window *slides*: it stays where it is, and the next batch goes on from there, until the buffer's end;
//! then it is moved. Its buffer has room for as much again at least, so that an item is moved once, however short the batches are (a program may be given 64 samples at a time), and the buffers are at
//! most twice as large as they must be. Of thousands of channels each has a few hundred bytes in the mean, whatever
//! the target: a call for a few firings costs more than memory that is farther away. The
//! capacity of a channel is that of [`SteadyState::capacity`]: enough for any order of firings within an epoch. Channels on which nothing stays share memory while steady states
//! run at once ([`super::sharing`]); their own buffers hold one steady state then.

use super::batch::{turns_of_many, turns_of_parts};
use super::fused::FusedProgram;
use super::program::CodegenError;
use super::sharing::Lives;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::Globals;

/// Buffers start at multiples of this.
const ALIGN: u64 = 64;
/// Bytes that a stage at an end holds at least, so that the host is not asked for each item.
const STAGE: u64 = 1 << 16;
/// Firings of a batch, all nodes together, beyond which a larger batch gains nothing; and those of a node, in a program of so many that each would have fewer.
const FIRINGS: u64 = 1 << 17;
const FIRINGS_OF_A_NODE: u64 = 64;
/// Bytes that a batch puts on a channel, the mean of all, up to which the buffers of many channels may be larger than the target: going from filter to filter costs as much as so
/// many bytes that come from farther away. Together they take a part of a larger cache.
const OF_A_CHANNEL: u64 = 256;
const OF_ALL_CHANNELS: u64 = 4 << 20;
/// Bytes that stay on a channel from which on it slides: fewer are moved as fast as a cursor is kept.
const SLIDES: u64 = 1 << 10;
/// Lanes of the widest vectors: a batch of few firings is a multiple of so many.
pub const WIDEST: u64 = 16;

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Steady states that run at once.
    pub batch: u64,
    /// So many batches may follow one another before the engine looks round: 1 but where messages make them short, or nodes are many.
    pub turns: u64,
    /// By channel: offset and capacity in items.
    pub channels: Vec<Place>,
    /// Inputs of regions that hold more than their channels do, as [`sluice_kernel::fuse::Fused::histories`] has them.
    pub histories: Vec<Place>,
    /// By reader, then by writer, in program order.
    pub stages: Vec<Place>,
    /// By channel of the graph that steady states run on (of regions, where there are some): the offset of its buffer there, where that is not the channel's own.
    pub shared: Vec<Option<u64>>,
    /// By channel that slides: the program's channel whose cursor says how far.
    pub slides: Vec<Option<ChannelId>>,
    /// Bytes of channels and histories that steady states use in a batch.
    pub channel_bytes: u64,
    /// Bytes of the arena.
    pub bytes: u64,
}

/// A buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset in the arena.
    pub offset: u64,
    /// Items.
    pub capacity: u64,
}

/// What bounds the buffers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steady states of one run of the schedule: the batch is a multiple of it.
    pub unit: u64,
    /// The batch, where it is not to be chosen.
    pub batch: Option<u64>,
    /// Bytes that all buffers should fit in.
    pub target: u64,
    /// Bytes that they may take.
    pub limit: u64,
    /// For programs whose steady states run on a device: so many of them pass the ends at once, but channels hold one at a time.
    pub stages: Option<u64>,
    /// So many times as many steady states as run at once come from a reader at once.
    pub turns: u64,
    /// No more steady states are one, because of messages: several such batches follow one another then ([`Layout::turns`]).
    pub at_once: Option<u64>,
    /// May batches follow one another where they are short for so many nodes?
    pub follow: bool,
}

impl Layout {
    /// Where the buffer of a channel is while steady states run at once.
    pub fn fast(&self, c: ChannelId) -> u64 {
        self.shared.get(c.index()).copied().flatten().unwrap_or(self.channels[c.index()].offset)
    }
}

/// Size and alignment of a value in memory; `None` where it has no values or is too large.
pub fn size_align(ty: &Ty, globals: &Globals) -> Option<(u64, u64)> {
    Some(match ty {
        Ty::Bit | Ty::Bool => (1, 1),
        Ty::Int | Ty::Float => (4, 4),
        Ty::Double => (8, 8),
        Ty::Complex => (8, 4),
        Ty::Vec(n) => (4 * u64::from(*n), 4),
        Ty::Array(e, Dim::Known(n)) => {
            let (size, align) = size_align(e, globals)?;
            (size.checked_mul(u64::from(*n))?, align)
        }
        Ty::Struct(id) => {
            let (mut at, mut most) = (0u64, 1);
            for (_, field) in &globals.structs.get(id.index())?.fields {
                let (size, align) = size_align(field, globals)?;
                at = at.checked_next_multiple_of(align)?.checked_add(size)?;
                most = most.max(align);
            }
            (at.checked_next_multiple_of(most)?, most)
        }
        _ => return None,
    })
}

/// Bytes of a value in host form: its scalars without padding.
pub fn host_bytes(ty: &Ty, globals: &Globals) -> Option<u64> {
    match ty {
        Ty::Array(e, Dim::Known(n)) => host_bytes(e, globals)?.checked_mul(u64::from(*n)),
        Ty::Struct(id) => globals
            .structs
            .get(id.index())?
            .fields
            .iter()
            .try_fold(0u64, |sum, (_, field)| sum.checked_add(host_bytes(field, globals)?)),
        _ => size_align(ty, globals).map(|(size, _)| size),
    }
}

/// The readers and the writers in program order.
pub fn ends(graph: &SdfGraph) -> (Vec<NodeId>, Vec<NodeId>) {
    let is = |reader: bool| {
        graph
            .node_ids()
            .filter(|v| match graph.node(*v).kind {
                NodeKind::Reader(_) => reader,
                NodeKind::Writer(_) => !reader,
                _ => false,
            })
            .collect()
    };
    (is(true), is(false))
}

/// The channel at an end of the program.
pub fn end_channel(graph: &SdfGraph, node: NodeId) -> Option<ChannelId> {
    let n = graph.node(node);
    n.outputs.first().or(n.inputs.first()).copied()
}

/// Chooses the batch and places the buffers.
///
/// `before`, by channel: how many items of earlier batches its buffer holds, where that is more than what stays at a boundary. Channels within a region of
/// `fused` hold one steady state at a time, and those that share by `lives`, which are channels of the graph that steady states run on.
pub fn lay_out(
    graph: &SdfGraph,
    steady: &SteadyState,
    globals: &Globals,
    limits: Limits,
    (before, fused, lives): (Option<&[u64]>, Option<FusedProgram<'_>>, Option<&Lives>),
) -> Result<Layout, CodegenError> {
    let mut inner = vec![fused.is_some(); graph.channels.len()];
    fused.iter().flat_map(|f| &f.program.channels).for_each(|c| inner[c.index()] = false);
    let histories = fused.map_or(&[][..], |f| &f.program.histories);
    histories.iter().zip(fused).for_each(|(h, f)| inner[f.program.channels[h.channel.index()].index()] = true);
    if let Some(lives) = lives {
        match fused {
            Some(f) => {
                let of = |c: ChannelId| f.program.channels[c.index()];
                f.program.graph.channel_ids().filter(|c| lives.elsewhere(*c)).for_each(|c| inner[of(c).index()] = true);
            }
            None => graph.channel_ids().for_each(|c| inner[c.index()] |= lives.elsewhere(c)),
        }
    }
    let mut slides = vec![limits.stages.is_none() && steady.islands.is_none(); graph.channels.len()];
    for c in graph.channel_ids() {
        let bytes = steady.boundary_fill[c.index()]
            .saturating_mul(size_align(&graph.channel(c).ty, globals).map_or(0, |(size, _)| size));
        slides[c.index()] &= bytes >= SLIDES && !inner[c.index()];
    }
    // what is read from another's buffer is that one's
    lives.iter().flat_map(|l| l.twins()).for_each(|(_, (longer, _))| {
        slides[fused.map_or(*longer, |f| f.program.channels[longer.index()]).index()] = false;
    });
    let besides = Besides { before, inner: &inner, slides: &slides, fused, lives };
    let unit = limits.unit.max(1);
    let sizes: Vec<(u64, u64)> = graph
        .channels
        .iter()
        .map(|c| {
            let (size, _) = size_align(&c.ty, globals).unwrap_or((u64::MAX, 1));
            (size, host_bytes(&c.ty, globals).unwrap_or(u64::MAX))
        })
        .collect();
    if let Some(stages) = limits.stages {
        return place(graph, steady, &sizes, (1, stages), besides)
            .filter(|l| l.bytes <= limits.limit)
            .ok_or_else(|| too_large(graph, steady, &sizes, 1, limits.limit));
    }
    let mut besides = besides;
    let at = |batch: u64, besides| place(graph, steady, &sizes, (batch, batch.checked_mul(limits.turns)?), besides);
    let nothing = vec![false; graph.channels.len()];
    if at(unit, besides).is_none_or(|l| l.bytes > limits.limit) {
        // there may be room for what must be
        besides.slides = &nothing;
    }
    let place = |batch: u64| at(batch, besides);
    let Some(least) = place(unit).filter(|l| l.bytes <= limits.limit) else {
        return Err(too_large(graph, steady, &sizes, unit, limits.limit));
    };
    if let Some(batch) = limits.batch {
        let batch = batch.max(1).checked_next_multiple_of(unit).unwrap_or(unit);
        let batch = batch.min(limits.at_once.unwrap_or(u64::MAX));
        return place(batch)
            .filter(|l| l.bytes <= limits.limit)
            .ok_or_else(|| too_large(graph, steady, &sizes, batch, limits.limit));
    }
    let repetitions = fused.map_or(&steady.repetitions, |f| &f.program.steady.repetitions);
    let firings = repetitions.iter().fold(0u64, |sum, r| sum.saturating_add(*r)).max(1);
    let stays = stays(graph, steady, &sizes, besides);
    let channels = fused.map_or(graph, |f| &f.program.graph).channels.len() as u64;
    let many = channels.saturating_mul(OF_A_CHANNEL).min(OF_ALL_CHANNELS);
    let target = limits.target.max(many).max(least.channel_bytes.saturating_add(stays)).min(limits.limit);
    // an item of a very long window that does not slide is moved a few times at most: words that are moved, a quarter of them
    let slid = (graph.channel_ids().filter(|c| besides.slides[c.index()]))
        .map(|c| steady.boundary_fill[c.index()].saturating_mul(sizes[c.index()].0));
    let moved = stays.saturating_sub(slid.fold(0, u64::saturating_add));
    let most = FIRINGS.max((graph.nodes.len() as u64).saturating_mul(FIRINGS_OF_A_NODE)).max(moved / 4 / 4);
    let at_once = limits.at_once.unwrap_or(u64::MAX);
    let (mut fits, mut fails) = (1, (most / firings / unit).min(at_once / unit).max(1) + 1);
    while fails - fits > 1 {
        let middle = fits + (fails - fits) / 2;
        match unit.checked_mul(middle).and_then(place) {
            Some(l) if l.channel_bytes <= target && l.bytes <= limits.limit => fits = middle,
            _ => fails = middle,
        }
    }
    let batch = unit.saturating_mul(fits);
    // few firings, but nearly those of all lanes, are those of all lanes
    let whole = batch.checked_next_multiple_of(WIDEST).filter(|n| n % unit == 0 && n - batch <= batch / 4);
    let whole = whole.filter(|n| *n < 4 * WIDEST && *n <= at_once);
    let wider = whole.and_then(place).filter(|l| l.bytes <= limits.limit);
    // or those of fewer vectors, rather than of vectors and a few
    let some = if batch < 16 * WIDEST { WIDEST } else { 4 * WIDEST };
    let fewer = batch - batch % some;
    let batch = if fewer > 0 && fewer.is_multiple_of(unit) { fewer } else { batch };
    let mut made = wider.or_else(|| place(batch)).unwrap_or(least);
    if limits.at_once.is_some() || limits.follow {
        let stage = |v: NodeId| STAGE / end_channel(graph, v).map_or(1, |c| sizes[c.index()].0).max(1);
        let fill = turns_of_parts(graph, steady, made.batch, &stage);
        made.turns = match limits.at_once {
            Some(_) => fill.unwrap_or(1),
            None => fill.unwrap_or(u64::MAX).min(turns_of_many(steady, made.batch)),
        };
    }
    Ok(made)
}

/// What buffers depend on besides the graph.
#[derive(Clone, Copy)]
struct Besides<'a> {
    /// What earlier batches leave, by channel.
    before: Option<&'a [u64]>,
    /// By channel: does its own buffer hold no more than one steady state?
    inner: &'a [bool],
    /// By channel: does it slide?
    slides: &'a [bool],
    fused: Option<FusedProgram<'a>>,
    lives: Option<&'a Lives>,
}

/// Bytes that stay from one batch to the next, on channels and in histories.
fn stays(graph: &SdfGraph, steady: &SteadyState, sizes: &[(u64, u64)], besides: Besides<'_>) -> u64 {
    let Besides { before, inner, fused, .. } = besides;
    let kept = |c: ChannelId| before.map_or(0, |b| b[c.index()]).max(steady.boundary_fill[c.index()]);
    let outside = graph.channel_ids().filter(|c| !inner[c.index()]);
    let channels = outside.map(|c| kept(c).saturating_mul(sizes[c.index()].0));
    let histories = fused.iter().flat_map(|f| f.program.histories.iter().map(move |h| (f.program, h)));
    channels
        .chain(histories.map(|(f, h)| {
            f.steady.boundary_fill[h.channel.index()].saturating_mul(sizes[f.channels[h.channel.index()].index()].0)
        }))
        .fold(0, u64::saturating_add)
}

/// Places everything for a batch; `None` where a size does not fit into 64 bits.
fn place(
    graph: &SdfGraph,
    steady: &SteadyState,
    sizes: &[(u64, u64)],
    (batch, at_ends): (u64, u64),
    Besides { before, inner, slides, fused, lives }: Besides<'_>,
) -> Option<Layout> {
    let mut at = 0u64;
    let mut take = |capacity: u64, bytes: u64| {
        let offset = at;
        // buffers whose sizes are powers of two would all start at the same lines of the cache
        at = at.checked_add(bytes)?.checked_add(ALIGN)?.checked_next_multiple_of(ALIGN)?;
        Some(Place { offset, capacity })
    };
    let mut channel_bytes = 0u64;
    let mut channels = Vec::with_capacity(graph.channels.len());
    for c in graph.channel_ids() {
        let batch = if inner[c.index()] { 1 } else { batch };
        let capacity = steady.capacity(graph, c, batch)?.max(graph.channel(c).initial.len() as u64).max(1);
        let more = before.map_or(0, |b| b[c.index()].saturating_sub(steady.boundary_fill[c.index()]));
        let capacity = capacity.checked_add(more)?;
        // what steady states do not touch takes no room in the cache, nor does that over which a window has slid or will slide
        if !inner[c.index()] || lives.is_none() {
            channel_bytes = channel_bytes.saturating_add(capacity.checked_mul(sizes[c.index()].0)?);
        }
        let twice = if slides[c.index()] { steady.boundary_fill[c.index()].checked_mul(2)? } else { 0 };
        let capacity = capacity.max(twice);
        channels.push(take(capacity, capacity.checked_mul(sizes[c.index()].0)?)?);
    }
    let mut shared = Vec::new();
    if let Some(lives) = lives {
        let (on, state) = fused.map_or((graph, steady), |f| (&f.program.graph, &f.program.steady));
        let of = |c: ChannelId| fused.map_or(c, |f| f.program.channels[c.index()]);
        let length = |c: ChannelId| {
            let capacity = state.capacity(on, c, batch)?.checked_add(lives.lanewise().more(c))?;
            let bytes = capacity.checked_mul(sizes[of(c).index()].0)?;
            bytes.checked_add(ALIGN)?.checked_next_multiple_of(ALIGN)
        };
        let (offsets, all) = lives.offsets(&length)?;
        channel_bytes = channel_bytes.saturating_add(all);
        let first = take(0, all)?.offset;
        shared = offsets.into_iter().map(|at| at.map(|at| first + at)).collect::<Vec<_>>();
        for (c, (longer, before)) in lives.twins() {
            let place: Place = channels[of(*longer).index()];
            shared[c.index()] = Some(place.offset.checked_add(before.checked_mul(sizes[of(*c).index()].0)?)?);
        }
    }
    let mut histories = Vec::new();
    for (f, h) in fused.iter().flat_map(|f| f.program.histories.iter().map(move |h| (f.program, h))) {
        let (of, fill) = (f.channels[h.channel.index()].index(), f.steady.boundary_fill[h.channel.index()]);
        let more = before.map_or(0, |b| b[of].saturating_sub(fill));
        let capacity = f.steady.capacity(&f.graph, h.channel, batch)?.checked_add(more)?;
        let size = sizes[of].0;
        let bytes = capacity.checked_mul(size)?;
        channel_bytes = channel_bytes.saturating_add(bytes);
        histories.push(take(capacity, bytes)?);
    }
    let (readers, writers) = ends(graph);
    let mut stages = Vec::new();
    for (nodes, is_reader) in [(&readers, true), (&writers, false)] {
        for v in nodes {
            let (size, host) = end_channel(graph, *v).map_or((1, 1), |c| sizes[c.index()]);
            let floor = (STAGE / size.max(1)).max(1);
            let capacity = if is_reader {
                steady.repetitions[v.index()].checked_mul(at_ends)?.max(floor)
            } else {
                // a writer's full batches go straight to the host
                floor
            };
            // where the forms differ, one item in host form has room behind the stage
            let extra = if size == host { 0 } else { host };
            stages.push(take(capacity, capacity.checked_mul(size)?.checked_add(extra)?)?);
        }
    }
    let slides = graph.channel_ids().map(|c| slides[c.index()].then_some(c)).collect();
    (at < 1 << 62).then_some(Layout {
        batch,
        turns: 1,
        channels,
        histories,
        stages,
        shared,
        slides,
        channel_bytes,
        bytes: at,
    })
}

/// Says which channel is the largest.
fn too_large(graph: &SdfGraph, steady: &SteadyState, sizes: &[(u64, u64)], batch: u64, limit: u64) -> CodegenError {
    let bytes = |c: ChannelId| {
        let capacity = steady.capacity(graph, c, batch).unwrap_or(u64::MAX);
        capacity.saturating_mul(sizes[c.index()].0)
    };
    let largest = graph.channel_ids().max_by_key(|c| (bytes(*c), std::cmp::Reverse(*c)));
    let total = graph.channel_ids().fold(0u64, |sum, c| sum.saturating_add(bytes(c)));
    CodegenError::BuffersTooLarge {
        total,
        limit,
        channel: largest.map(|c| {
            let ends = graph.channel(c);
            (graph.node(ends.from.0).path.clone(), graph.node(ends.to.0).path.clone(), bytes(c))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::analyse;
    use sluice_frontend::{NoImports, Options, SourceInput};

    /// How a filter that looks so far ahead is laid out.
    fn window_of(items: u64) -> String {
        format!(
            "float->float filter Main {{ work pop 1 push 1 peek {items} {{ push(peek(0) + peek({items} - 1)); pop(); }} }}"
        )
    }

    const LIMITS: Limits = Limits {
        unit: 1,
        batch: None,
        target: 1 << 17,
        limit: 1 << 30,
        stages: None,
        turns: 1,
        at_once: None,
        follow: false,
    };

    fn laid_out(text: String, limits: Limits) -> Layout {
        let input = SourceInput { name: "a.str".into(), text };
        let program = analyse(vec![input], &Options::default(), &mut NoImports).program.unwrap();
        lay_out(&program.graph, &program.steady, &program.globals, limits, (None, None, None)).unwrap()
    }

    /// What it costs to go from filter to filter is spread over as many firings in a program of thousands of filters as in one of hundreds; few firings fill vectors.
    #[test]
    fn many_filters_have_long_batches() {
        let chain = |n: u64| {
            laid_out(
                format!(
                    "float->float filter F {{ float s; work pop 1 push 1 {{ s += pop(); push(s); }} }}
                 float->float pipeline Main {{ for (int i = 0; i < {n}; i++) add F; }}"
                ),
                LIMITS,
            )
        };
        for n in [100, 1000, 5000, 20_000] {
            let layout = chain(n);
            assert!(layout.batch >= 32, "{n} filters: {} steady states at once", layout.batch);
            let most = OF_ALL_CHANNELS.max(256 << 10);
            assert!(layout.channel_bytes <= most, "{n} filters: {} bytes", layout.channel_bytes);
        }
        // 128 KiB hold 13 rows of 2500 words
        let wide = |n: u64| {
            laid_out(
                format!(
                    "float->float filter Main {{ work pop {n} push 1 {{ float s = 0; for (int i = 0; i < {n}; i++) s += pop(); push(s); }} }}"
                ),
                LIMITS,
            )
        };
        assert_eq!(wide(2500).batch, 16);
        assert_eq!(wide(3000).batch, 10, "no more than a quarter is added");
        assert_eq!(wide(1800).batch, 16, "18 would be a vector and two");
    }

    /// An item is moved once at most, however long the window is and however short the batches are, and the buffers are what they must be twice at most.
    #[test]
    fn long_windows_slide() {
        for items in [10, 200, 1000, 10_000, 30_000, 40_000, 1_000_000, 10_000_000] {
            let layout = laid_out(window_of(items), LIMITS);
            let (window, output) = (0, 1);
            let (fill, capacity) = (items - 1, layout.channels[window].capacity);
            let slides = 4 * fill >= SLIDES;
            assert_eq!(layout.slides, [slides.then_some(ChannelId(0)), None]);
            assert!(capacity >= if slides { 2 * fill } else { fill + layout.batch }, "{items}: {capacity}");
            assert!(layout.channel_bytes <= (2 * 4 * items).max(1 << 17) + 8, "{items}: {}", layout.channel_bytes);
            assert!(layout.batch >= (items / 4).min(4096), "{items}: {}", layout.batch);
            assert_eq!(layout.channels[output].capacity, layout.batch);
        }
        // what has room as it is, but not twice
        let limits = Limits { limit: 64 << 20, ..LIMITS };
        let tight = laid_out(window_of(10_000_000), limits);
        assert!(tight.slides == [None, None] && tight.bytes <= 64 << 20, "{} bytes", tight.bytes);
        assert!(tight.batch >= 10_000_000 / 16, "{} steady states for a window that is moved after them", tight.batch);
    }
}
