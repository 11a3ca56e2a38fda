//! # lanewise
//!
//! Purpose: what passes from one filter whose firings go side by side to another stays as vectors have it: nothing is turned round on its way to the channel, nor back behind it.
//! Input: a program's regions, and a schedule of them that is scaled step by step. Output: by kernel of a region, which of its ends are so ([`Ends`]); by channel, how much more
//! room it needs.
//!
//! ```text
//! items 0 to 3 of firing 0, those of firing 1, …   →   item 0 of firings 0 to 15, item 1 of firings 0 to 15, …, item 0 of firings 16 to 31, …
//! ```
//!
//! What must hold: both ends are regions in lanes, which nobody fires but steady states that run at once; a firing of the one gives what a firing of the other takes and looks at; both fire
//! as often in a single step each; nothing stays on the channel. All nodes of a kernel have such a channel at that end, or none has. A last vector that firings do not fill is
//! there as a whole, with other firings' items once more in its other lanes ([`super::print_rest`]).
//!
//! Ends that lead out of the program are found, too ([`far`]): what is there may not be near.
//!
//! Where both ends hold bytes in lanes ([`sluice_kernel::passes::narrow_lanes`]) and all items are such, bytes pass. Four vectors of firings are one then, so that both ends must be fired as often at
//! a time: in the same loop over strips or in none, and by nobody who divides the firings of one of them.

use super::fused::FusedProgram;
use super::layout::WIDEST;
use super::print_narrow;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::{Kernel, Lanes};
use sluice_kernel::passes::lanes::has_bits;
use sluice_kernel::within::within;
use sluice_schedule::sequential::Step;
use std::collections::{BTreeMap, BTreeSet};

/// Which ends of a filter have items as vectors have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Those that it takes.
    pub taken: bool,
    /// Those that it gives.
    pub given: bool,
    /// Those that it takes are bytes where its lanes hold bytes: of as many firings as a vector has bytes, each item's lie together, at the beginning of the room that their ints would
    /// have. Firings that do not fill such a vector have ints.
    pub bytes_taken: bool,
    /// Likewise those that it gives.
    pub bytes_given: bool,
    /// Some that it takes come from outside the program: they may be far from the processor.
    pub far_taken: bool,
    /// Some that it gives go there.
    pub far_given: bool,
}

/// By code below `codes`: its ends that lead out of the program, past nodes that only move items; nothing else is known of them. `first`: the code that is printed for another.
pub fn far(graph: &SdfGraph, codes: usize, first: &dyn Fn(usize) -> usize) -> Vec<Ends> {
    let mut out = vec![Ends::default(); codes];
    for taken in [true, false] {
        let mut seen = vec![false; graph.nodes.len()];
        let ends = |v: &NodeId| match graph.node(*v).kind {
            NodeKind::Reader(_) => taken,
            NodeKind::Writer(_) => !taken,
            _ => false,
        };
        let mut open: Vec<NodeId> = graph.node_ids().filter(ends).collect();
        while let Some(v) = open.pop() {
            let node = graph.node(v);
            let next: Vec<NodeId> = match taken {
                true => node.outputs.iter().map(|c| graph.channel(*c).to.0).collect(),
                false => node.inputs.iter().map(|c| graph.channel(*c).from.0).collect(),
            };
            for w in next {
                if std::mem::replace(&mut seen[w.index()], true) {
                    continue;
                }
                match &graph.node(w).kind {
                    NodeKind::Filter { code, .. } if code.index() < codes => {
                        let ends = &mut out[first(code.index())];
                        *(if taken { &mut ends.far_taken } else { &mut ends.far_given }) = true;
                    }
                    NodeKind::Filter { .. } => {}
                    _ => open.push(w),
                }
            }
        }
    }
    out
}

/// What stays in lanes.
#[derive(Clone, Debug, Default)]
pub struct Lanewise {
    /// By kernel of a region.
    ends: Vec<Ends>,
    /// By channel of the graph that steady states run on: items of a firing.
    channels: BTreeMap<ChannelId, u32>,
}

impl Lanewise {
    /// Finds it. `shares`: may a channel's items lie otherwise while steady states run at once? `group`: which loop does a node fire in that divides the steady states that run at once?
    /// `first`: the code of the first region's kernel.
    pub fn of(
        fused: FusedProgram<'_>,
        first: usize,
        shares: &dyn Fn(ChannelId) -> bool,
        group: &dyn Fn(NodeId) -> Option<usize>,
    ) -> Lanewise {
        let (graph, kernels) = (&fused.program.graph, &fused.program.kernels);
        let code = |v: NodeId| region(graph, v, first);
        let times = times(graph, &fused.schedule.steps);
        let fit: Vec<Fit> = kernels.iter().map(Fit::of).collect();
        let fits = |c: ChannelId| {
            let channel = graph.channel(c);
            let (Some(from), Some(to)) = (code(channel.from.0), code(channel.to.0)) else { return false };
            let n = channel.produce;
            let rates =
                channel.consume == n && channel.peek == n && fit[from].given == Some(n) && fit[to].taken == Some(n);
            let often =
                times[channel.from.0.index()].is_some() && times[channel.from.0.index()] == times[channel.to.0.index()];
            rates && often && shares(c)
        };
        // all nodes of a kernel, or none
        let settled = |mut channels: BTreeSet<ChannelId>| loop {
            let mut all: Vec<(bool, bool)> = fit.iter().map(|f| (f.taken.is_some(), f.given.is_some())).collect();
            for v in graph.node_ids() {
                let Some(k) = code(v) else { continue };
                let node = graph.node(v);
                all[k].0 &= node.inputs.iter().all(|c| channels.contains(c));
                all[k].1 &= node.outputs.iter().all(|c| channels.contains(c));
            }
            let stays = |c: &ChannelId| {
                let channel = graph.channel(*c);
                code(channel.from.0).is_some_and(|k| all[k].1) && code(channel.to.0).is_some_and(|k| all[k].0)
            };
            let before = channels.len();
            channels.retain(stays);
            if channels.len() == before {
                return (all, channels);
            }
        };
        let (ends, channels) = settled(graph.channel_ids().filter(|c| fits(*c)).collect());
        let of_bytes = |c: &ChannelId| {
            let (from, to) = (graph.channel(*c).from.0, graph.channel(*c).to.0);
            let both = code(from).is_some_and(|k| fit[k].bytes.1) && code(to).is_some_and(|k| fit[k].bytes.0);
            both && group(from) == group(to)
        };
        let (bytes, _) = settled(channels.iter().copied().filter(of_bytes).collect());
        let ends = ends.into_iter().zip(bytes).map(|((taken, given), (bytes_taken, bytes_given))| Ends {
            taken,
            given,
            bytes_taken,
            bytes_given,
            ..Ends::default()
        });
        let channels = channels.iter().map(|c| (*c, graph.channel(*c).produce)).collect();
        Lanewise { ends: ends.collect(), channels }
    }

    /// The ends of a region's kernel.
    pub fn ends(&self, kernel: usize) -> Ends {
        self.ends.get(kernel).copied().unwrap_or_default()
    }

    /// Does a channel hold items as vectors have them?
    pub fn has(&self, c: ChannelId) -> bool {
        self.channels.contains_key(&c)
    }

    /// Items that a channel needs room for beyond those that are on it: the lanes of a last vector.
    pub fn more(&self, c: ChannelId) -> u64 {
        self.channels.get(&c).map_or(0, |n| u64::from(*n) * (WIDEST - 1))
    }
}

/// The number of a region's kernel that a node fires.
fn region(graph: &SdfGraph, v: NodeId, first: usize) -> Option<usize> {
    match &graph.node(v).kind {
        NodeKind::Filter { code, .. } => code.index().checked_sub(first),
        _ => None,
    }
}

/// By node: its firings in the one step at the top in which it fires.
fn times(graph: &SdfGraph, steps: &[Step]) -> Vec<Option<u64>> {
    let mut out = vec![None; graph.nodes.len()];
    for step in steps {
        if let Step::Fire { node, times } = step {
            out[node.index()] = Some(*times);
        }
    }
    out
}

/// How many items a firing takes and gives, where that could be in lanes.
struct Fit {
    taken: Option<u32>,
    given: Option<u32>,
    /// Could they be bytes, those that it takes and those that it gives?
    bytes: (bool, bool),
}

impl Fit {
    fn of(kernel: &Kernel) -> Fit {
        let rates = kernel.work.rates;
        // bits are bytes, whose vectors would lie otherwise
        let words = !has_bits(kernel);
        let plain =
            |l: &&Lanes| l.strands == 1 && words && within(kernel).is_none() && super::print_rest::several(kernel);
        let lanes = kernel.lanes.as_ref().filter(plain);
        let taken = lanes.is_some_and(|l| l.phases) && rates.peek == rates.pop;
        // who looks ahead, has tapes, or gives numbers that are looked through for NaNs is not always fired as often at a time as others
        let whole = rates.peek == rates.pop && kernel.tapes.is_empty() && kernel.output == Ty::Int;
        let holds = lanes.filter(|_| whole && print_narrow::may(kernel)).and_then(|l| l.narrow.as_ref());
        let bytes = holds.map_or((false, false), |n| (n.taken.within(0, 255), n.given.within(0, 255)));
        Fit {
            taken: taken.then_some(rates.pop),
            given: (lanes.is_some() && rates.push > 1).then_some(rates.push),
            bytes,
        }
    }
}
