//! An initialisation that goes on: what it leaves on a channel where nobody asks for it moves on to where items stay anyway.
//!
//! ```text
//! A push 64 → B pop 32 push 1 → C peek 511 pop 320:   B fires 191 times, A 96, and 32 items wait before B
//!   →   B fires 192 times, and one item more waits before C
//! ```
//!
//! Takes a graph and its [`SteadyState`]. Gives the same with more firings in `init`, and what becomes of fills and peaks; `None` where nothing changes. Afterwards, what is between two filters in a steady
//! state passes whole, so that they can be one.
//!
//! What must hold: only those fire more often of which the caller says that nothing is seen of it; readers and writers never do, nor what is in a feedback loop. What moves on comes to channels before filters that
//! look ahead, and no more than waits there already, nor than [`MOST_MORE`]: buffers grow by less than what they hold.

use super::SteadyState;
use crate::components::components;
use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use std::collections::{BTreeMap, BTreeSet};

/// Items by which what waits before a filter that looks ahead may grow.
const MOST_MORE: u64 = 4096;
/// Turns of nodes that are tried, all together.
const MOST: usize = 1 << 16;

/// The steady state after such an initialisation, if `may` agrees to the filters that fire more often.
pub fn drained(graph: &SdfGraph, steady: &SteadyState, may: &mut dyn FnMut(NodeId) -> bool) -> Option<SteadyState> {
    if steady.islands.is_some() || !steady.precedences.is_empty() {
        return None;
    }
    let parts = components(graph);
    let (mut place, mut order) = (vec![None; graph.nodes.len()], Vec::new());
    for part in &parts {
        if let [v] = part[..] {
            place[v.index()] = Some(order.len());
            order.push(v);
        }
    }
    let (fill, more) = (steady.boundary_fill.clone(), vec![0; graph.nodes.len()]);
    let mut d = Drain { graph, place, order, fill, more, left: MOST };
    let mut changed = false;
    for i in 0..d.order.len() {
        for c in &graph.node(d.order[i]).outputs {
            changed |= d.waits(*c) && d.fill[c.index()] > 0 && d.drain(*c, may);
        }
    }
    changed.then(|| {
        let mut out = SteadyState { boundary_fill: d.fill, ..steady.clone() };
        out.init.iter_mut().zip(&d.more).for_each(|(n, more)| *n += more);
        for (c, peak) in graph.channels.iter().zip(&mut out.init_peak) {
            *peak += d.more[c.from.0.index()] * u64::from(c.produce);
        }
        out
    })
}

struct Drain<'g> {
    graph: &'g SdfGraph,
    /// By node: where it is in `order`; none for those in loops.
    place: Vec<Option<usize>>,
    order: Vec<NodeId>,
    /// By channel: items at the boundary.
    fill: Vec<u64>,
    /// By node: firings more.
    more: Vec<u64>,
    /// Turns that may still be tried.
    left: usize,
}

impl Drain<'_> {
    /// Does nothing ask for the items that stay on a channel?
    fn waits(&self, c: ChannelId) -> bool {
        let c = self.graph.channel(c);
        c.peek <= c.consume && !c.feedback && !c.dynamic && c.initial.is_empty()
    }

    /// Lets all that waits on a channel move on. False where it cannot: then all is as before.
    fn drain(&mut self, c: ChannelId, may: &mut dyn FnMut(NodeId) -> bool) -> bool {
        let (mut before, mut fired) = (BTreeMap::from([(c, self.fill[c.index()])]), Vec::new());
        let done =
            self.move_on(c, may, &mut before, &mut fired).is_some() && before.iter().all(|(c, n)| self.fits(*c, *n));
        if !done {
            before.iter().for_each(|(c, n)| self.fill[c.index()] = *n);
            fired.iter().for_each(|(v, times)| self.more[v.index()] -= times);
        }
        done
    }

    /// May a channel hold what it does now, and not what it held before?
    fn fits(&self, c: ChannelId, before: u64) -> bool {
        let now = self.fill[c.index()];
        match self.waits(c) {
            true => now == 0,
            // what its consumer took besides makes it smaller
            false => !self.graph.channel(c).feedback && now.saturating_sub(before) <= before.min(MOST_MORE),
        }
    }

    /// Fires who can, from a channel's consumer on, and notes what channels held before, and who has fired how often. `None` where somebody may not.
    fn move_on(
        &mut self,
        c: ChannelId,
        may: &mut dyn FnMut(NodeId) -> bool,
        before: &mut BTreeMap<ChannelId, u64>,
        fired: &mut Vec<(NodeId, u64)>,
    ) -> Option<()> {
        let graph = self.graph;
        let mut ready = BTreeSet::from([self.place[graph.channel(c).to.0.index()]?]);
        while let Some(i) = ready.pop_first() {
            let v = self.order[i];
            let node = graph.node(v);
            let can = match node.kind {
                NodeKind::Filter { prints, dynamic, .. } => !prints && !dynamic && may(v),
                NodeKind::Reader(_) | NodeKind::Writer(_) => false,
                _ => true,
            };
            self.left = self.left.checked_sub(1)?;
            let times = |c: &ChannelId| {
                let (there, c) = (self.fill[c.index()], graph.channel(*c));
                let stays = c.peek.saturating_sub(c.consume);
                there.saturating_sub(stays.into()).checked_div(c.consume.into()).unwrap_or(u64::MAX)
            };
            let times = node.inputs.iter().map(times).min().filter(|n| can && *n < u64::MAX)?;
            self.more[v.index()] += times;
            fired.push((v, times));
            for c in &node.inputs {
                before.entry(*c).or_insert(self.fill[c.index()]);
                self.fill[c.index()] -= times * u64::from(graph.channel(*c).consume);
            }
            for c in node.outputs.iter().filter(|_| times > 0) {
                let given = times.checked_mul(graph.channel(*c).produce.into())?;
                before.entry(*c).or_insert(self.fill[c.index()]);
                self.fill[c.index()] = self.fill[c.index()].checked_add(given)?;
                if self.waits(*c) {
                    ready.insert(self.place[graph.channel(*c).to.0.index()]?);
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
