//! # sharing
//!
//! Purpose: buffers that hold items at different times lie in the same memory, so that a batch of more steady states fits into the cache. Input: a graph, a
//! schedule of it that is scaled step by step ([`super::steady`]). Output: [`Lives`], and the offsets of the buffers for a batch.
//!
//! ```text
//! A → B → C → D, one step each:   A→B lives in steps 0 to 1, B→C in 1 to 2, C→D in 2 to 3:   A→B and C→D share
//! ```
//!
//! What must hold: nothing stays on a channel that shares from batch to batch; two buffers lie in the same place only where no step lies in both lives.
//! What an identity or a duplicate splitter hands on is not copied: its outputs are its input, unless a writer takes them (which changes NaNs in place). Where items stay behind it, all are
//! read from one of its outputs ([`super::twins`]).
//!
//! Only the fast way shares. Firing by firing, every channel has a buffer of its own, for one steady state. Stages ([`super::stages`]) fire their nodes in the order of the whole, each for the
//! whole batch, so that what lives at different times in the whole does so in them; what goes from stage to stage, and what brings older items along, has a buffer of its own.

use super::alike::{self, Alike};
use super::batch;
use super::fused::FusedProgram;
use super::lanewise::Lanewise;
use super::layout::size_align;
use super::print_narrow;
use super::program::ProgramInput;
use super::steady::{CHUNK, nodes_of};
use super::step_table::is_table;
use super::strips::{self, Strip};
use super::twins::{self, Twins};
use super::woven::{self, Trio};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_schedule::sequential::Step;
use std::collections::{BTreeMap, BTreeSet};

/// By node: the top-level step in which it fires.
pub type Places = Vec<Option<usize>>;

/// Where each node fires, if each fires in one top-level step only, and no producer after its consumer: then every step can be run `k` times as often,
/// one after the other.
pub fn scalable(graph: &SdfGraph, steps: &[Step]) -> Option<Places> {
    let mut at = vec![None; graph.nodes.len()];
    for (i, step) in steps.iter().enumerate() {
        let mut nodes = BTreeSet::new();
        nodes_of(step, &mut nodes);
        for v in nodes {
            match at.get_mut(v.index())? {
                place @ None => *place = Some(i),
                Some(_) => return None,
            }
        }
    }
    let in_order = graph.channels.iter().all(|c| match (at[c.from.0.index()], at[c.to.0.index()]) {
        (Some(from), Some(to)) => from <= to,
        // an end that never fires
        _ => true,
    });
    in_order.then_some(at)
}

/// What does not share in a program in stages, by channel of what steady states run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Does it go from stage to stage?
    pub crosses: Vec<bool>,
    /// Does it, or do older items come along on it?
    pub own: Vec<bool>,
}

/// When the buffers of channels hold items.
#[derive(Clone, Debug)]
pub struct Lives {
    /// By channel that shares: whose buffer it has, itself or another's.
    of: Vec<Option<ChannelId>>,
    /// By channel that has a buffer: its first and its last step.
    steps: BTreeMap<ChannelId, (usize, usize)>,
    /// What is read from another channel's buffer.
    twins: Twins,
    /// What stays in lanes.
    lanewise: Lanewise,
    /// Chains that fire in strips.
    strips: Vec<Strip>,
    /// Filters that do the work of their joiners and splitters.
    trios: Vec<Trio>,
    /// Equal branches that fire as one filter.
    alike: Vec<Alike>,
}

impl Lives {
    /// The lives of what steady states of a program run on: the program, or its regions. `apart`, by channel of that: has it a buffer of its own, because stages hand it on or bring older
    /// items along on it? `None` where each channel keeps a buffer of its own.
    pub fn of_program(
        input: &ProgramInput<'_>,
        regions: Option<FusedProgram<'_>>,
        apart: Option<&Apart>,
    ) -> Option<Lives> {
        let (graph, steps, fill) = match regions {
            Some(f) => (&f.program.graph, &f.schedule.steps, &f.program.steady.boundary_fill),
            None => (input.graph, &input.schedule.schedule().steady, &input.steady.boundary_fill),
        };
        let own: Option<Vec<u64>> = apart.map(|a| a.own.iter().zip(fill).map(|(own, n)| n + u64::from(*own)).collect());
        let fill = own.as_ref().unwrap_or(fill);
        let repeats = batch::repeats(input, regions) || is_table(graph, steps, input.options.table_above);
        let lives = if repeats { None } else { Lives::of(graph, steps, fill) };
        let may = |c: ChannelId| apart.is_none_or(|a| !a.crosses[c.index()]);
        lives.map(|mut lives| {
            let plain = input.messages.links.is_empty() && input.options.strips;
            if plain {
                let weaves = woven::weaves(input);
                let may = |v: NodeId| match &graph.node(v).kind {
                    NodeKind::Filter { code, .. } => weaves.get(code.index()).copied().unwrap_or(false),
                    _ => false,
                };
                lives.trios = woven::trios(graph, steps, fill, CHUNK, &may);
            }
            if apart.is_none() && plain {
                let convolved = |v: NodeId| match &graph.node(v).kind {
                    NodeKind::Filter { code, .. } => {
                        input.codes.get(code.index()).is_some_and(|c| c.convolution.is_some())
                    }
                    _ => false,
                };
                let narrow = |v: NodeId| print_narrow::of_node(graph, v, (input.kernels, regions));
                let bytes = |c: ChannelId| {
                    let channel = graph.channel(c);
                    let (from, to) = (narrow(channel.from.0), narrow(channel.to.0));
                    // which pass as such
                    let narrow =
                        from.is_some_and(|n| n.given.within(0, 255)) && to.is_some_and(|n| n.taken.within(0, 255));
                    if narrow { Some(1) } else { Some(size_align(&channel.ty, input.globals)?.0) }
                };
                let known = strips::Known { may: &|v| !convolved(v), narrow: &|v| narrow(v).is_some(), bytes: &bytes };
                lives.strips = strips::find(graph, steps, CHUNK, &known);
                lives.through_strips(graph, steps);
                lives.alike = alike::find(graph, steps, fill, CHUNK, &alike::plain(input, regions));
                let strips = lives.strips.iter().map(|s| (s.first, s.length));
                let others: Vec<_> = strips.chain(lives.alike.iter().map(|a| (a.first, a.length))).collect();
                lives.trios.retain(|t| others.iter().all(|(at, n)| at + n <= t.first || t.first + t.length <= *at));
                // what comes to the splitter is there until the joiner's step, what goes from the joiner from the splitter's on
                for a in lives.alike.clone() {
                    lives.through([a.ends.0, a.ends.1], (a.first, a.first + a.length - 1));
                }
            }
            lives.through_trios(graph);
            // stages fire some filters more often than others
            let whole = regions.filter(|_| apart.is_none());
            let loops = lives.loops(steps);
            let group = |v: NodeId| loops.get(&v).copied();
            let lanewise = whole.map(|r| Lanewise::of(r, input.kernels.len(), &|c| lives.shares(c), &group));
            Lives { twins: twins::twins(input, regions, &may), lanewise: lanewise.unwrap_or_default(), ..lives }
        })
    }

    /// By node: the first step of the loop in which it fires that divides the steady states that run at once.
    fn loops(&self, steps: &[Step]) -> BTreeMap<NodeId, usize> {
        let strips = self.strips.iter().map(|s| (s.first, s.length));
        let trios = self.trios.iter().map(|t| (t.first, t.length));
        let loops: Vec<_> = strips.chain(trios).chain(self.alike.iter().map(|a| (a.first, a.length))).collect();
        let mut out = BTreeMap::new();
        for (first, length) in loops {
            for step in steps.iter().skip(first).take(length) {
                if let Step::Fire { node, .. } = step {
                    out.insert(*node, first);
                }
            }
        }
        out
    }

    /// The lives of a graph's channels. `fill`, by channel: what stays on it at every boundary. `None` where the schedule is not scaled.
    pub fn of(graph: &SdfGraph, steps: &[Step], fill: &[u64]) -> Option<Lives> {
        let at = scalable(graph, steps)?;
        let life = |c: ChannelId| {
            let channel = graph.channel(c);
            let (first, last) = at[channel.from.0.index()].zip(at[channel.to.0.index()])?;
            (fill[c.index()] == 0 && channel.from.0 != channel.to.0).then_some((first, last))
        };
        let (of, steps) = (vec![None; graph.channels.len()], BTreeMap::new());
        let mut lives = Lives {
            of,
            steps,
            twins: Twins::new(),
            lanewise: Lanewise::default(),
            strips: Vec::new(),
            trios: Vec::new(),
            alike: Vec::new(),
        };
        let mut nodes: Vec<(usize, NodeId)> = graph.node_ids().filter_map(|v| Some((at[v.index()]?, v))).collect();
        nodes.sort();
        // a splitter's input is known before its outputs: topological order, as far as steps tell; what they do not tell stays apart
        for (_, v) in nodes {
            let node = graph.node(v);
            let hands_on = matches!(node.kind, NodeKind::Identity | NodeKind::Duplicate);
            let input = node.inputs.first().filter(|_| hands_on).and_then(|c| lives.of[c.index()]);
            for c in &node.outputs {
                let Some((first, last)) = life(*c) else { continue };
                let written = matches!(graph.node(graph.channel(*c).to.0).kind, NodeKind::Writer(_));
                let whose = input.filter(|_| !written).unwrap_or(*c);
                lives.of[c.index()] = Some(whose);
                let steps = lives.steps.entry(whose).or_insert((first, last));
                *steps = (steps.0.min(first), steps.1.max(last));
            }
        }
        Some(lives)
    }

    /// Does the channel share?
    pub fn shares(&self, c: ChannelId) -> bool {
        self.of[c.index()].is_some()
    }

    /// Is the channel read from another's buffer ([`super::twins`])?
    pub fn twin(&self, c: ChannelId) -> bool {
        self.twins.contains_key(&c)
    }

    /// What comes to a chain of strips is there to its last step, what goes from it from its first on.
    fn through_strips(&mut self, graph: &SdfGraph, steps: &[Step]) {
        for strip in self.strips.clone() {
            let (to, from) = strip.ends(graph, steps);
            self.through(to.into_iter().chain(from), (strip.first, strip.first + strip.length - 1));
        }
    }

    /// What a filter takes instead of its joiner, and gives instead of its splitter, is there through the steps of all three.
    fn through_trios(&mut self, graph: &SdfGraph) {
        for trio in self.trios.clone() {
            self.through(trio.moved(graph), (trio.first, trio.first + trio.length - 1));
        }
    }

    /// Channels that live through these steps.
    fn through(&mut self, channels: impl IntoIterator<Item = ChannelId>, (from, to): (usize, usize)) {
        for c in channels {
            let life = self.of[c.index()].and_then(|whose| self.steps.get_mut(&whose));
            if let Some((first, last)) = life {
                (*first, *last) = ((*first).min(from), (*last).max(to));
            }
        }
    }

    /// Equal branches that fire as one filter.
    pub fn alike(&self) -> &[Alike] {
        &self.alike
    }

    /// Filters that do the work of their joiners and splitters.
    pub fn trios(&self) -> &[Trio] {
        &self.trios
    }

    /// Chains that fire in strips.
    pub fn strips(&self) -> &[Strip] {
        &self.strips
    }

    /// Which channels have items as vectors have them.
    pub fn lanewise(&self) -> &Lanewise {
        &self.lanewise
    }

    /// Is the buffer of one the buffer of the other: does what hands items on from one to the other copy nothing?
    pub fn same(&self, a: ChannelId, b: ChannelId) -> bool {
        self.shares(a) && self.of[a.index()] == self.of[b.index()]
    }

    /// Does the channel's own buffer hold one steady state at most?
    pub fn elsewhere(&self, c: ChannelId) -> bool {
        self.shares(c) || self.twin(c)
    }

    /// By channel that is read from another's buffer, which that is, and how many items of it come before its own.
    pub fn twins(&self) -> &Twins {
        &self.twins
    }

    /// By channel that shares, the offset of its buffer; and where the last one ends. `bytes` says how long a channel's buffer is, with the distance to the next.
    /// `None` where that is too much.
    pub fn offsets(&self, bytes: &dyn Fn(ChannelId) -> Option<u64>) -> Option<(Vec<Option<u64>>, u64)> {
        let mut begin: BTreeMap<usize, Vec<ChannelId>> = BTreeMap::new();
        for (c, (first, _)) in &self.steps {
            begin.entry(*first).or_default().push(*c);
        }
        // what is in use, by offset: its end, and its last step
        let mut used: BTreeMap<u64, (u64, usize)> = BTreeMap::new();
        let (mut offset_of, mut end) = (BTreeMap::new(), 0u64);
        for (step, channels) in begin {
            used.retain(|_, (_, last)| *last >= step);
            for c in channels {
                let bytes = bytes(c)?;
                // the first gap that is long enough
                let mut at = 0u64;
                for (from, (to, _)) in &used {
                    if from.saturating_sub(at) >= bytes {
                        break;
                    }
                    at = *to;
                }
                let to = at.checked_add(bytes)?;
                used.insert(at, (to, self.steps[&c].1));
                offset_of.insert(c, at);
                end = end.max(to);
            }
        }
        let of = |c: &Option<ChannelId>| c.and_then(|c| offset_of.get(&c).copied());
        Some((self.of.iter().map(of).collect(), end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lives of buffers, as if each were a channel's own.
    fn lives(steps: &[(usize, usize)]) -> Lives {
        let ids = || (0..steps.len()).map(ChannelId::from);
        let steps = ids().zip(steps.iter().copied()).collect();
        Lives {
            of: ids().map(Some).collect(),
            steps,
            twins: Twins::new(),
            lanewise: Lanewise::default(),
            strips: Vec::new(),
            trios: Vec::new(),
            alike: Vec::new(),
        }
    }

    #[test]
    fn what_lives_at_once_lies_apart() {
        let mut seed = 1u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..200 {
            let n = 1 + below(40) as usize;
            let steps: Vec<(usize, usize)> = (0..n)
                .map(|_| {
                    let first = below(20) as usize;
                    (first, first + below(6) as usize)
                })
                .collect();
            let bytes: Vec<u64> = (0..n).map(|_| 64 * (1 + below(9))).collect();
            let (offsets, end) = lives(&steps).offsets(&|c| Some(bytes[c.index()])).unwrap();
            let place = |i: usize| (offsets[i].unwrap(), offsets[i].unwrap() + bytes[i]);
            for i in 0..n {
                assert!(place(i).1 <= end);
                for j in 0..i {
                    let apart = place(i).1 <= place(j).0 || place(j).1 <= place(i).0;
                    let at_once = steps[i].0 <= steps[j].1 && steps[j].0 <= steps[i].1;
                    assert!(
                        apart || !at_once,
                        "{:?} and {:?} at {:?} and {:?}",
                        steps[i],
                        steps[j],
                        place(i),
                        place(j)
                    );
                }
            }
        }
    }

    #[test]
    fn a_chain_needs_two_buffers() {
        let steps: Vec<(usize, usize)> = (0..50).map(|i| (i, i + 1)).collect();
        let (offsets, end) = lives(&steps).offsets(&|_| Some(128)).unwrap();
        assert_eq!(end, 256);
        assert_eq!(offsets[..4], [Some(0), Some(128), Some(0), Some(128)]);
        assert_eq!(lives(&steps).offsets(&|_| Some(u64::MAX / 2 + 1)), None, "sizes that do not fit");
    }
}
