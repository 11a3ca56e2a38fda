//! # straight
//!
//! Purpose: items that go straight from where the host has put them to who takes them first, or from who makes them last to where the host wants them, without a channel's buffer.
//! Input: steps of one function of a steady state that is scaled. Output: which channels ([`Straight`]), and the names of those places in the function.
//!
//! ```text
//! reader × 4·k, A × 4·k, writer × 4·k   →   in0 = sl_take(…);  out1 = sl_place(…);  A from in0 to out1;  sl_put(out1)
//! ```
//!
//! What must hold: nothing stays on the channel, and both of its ends fire in the same function.

use super::steady::{Steady, scaled_by_k};
use super::types::c_type;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_schedule::sequential::Step;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The channels without a buffer in one function.
pub(super) struct Straight {
    /// From a reader.
    pub(super) taken: BTreeSet<ChannelId>,
    /// To a writer, with the writer and its firings.
    pub(super) put: BTreeMap<ChannelId, (NodeId, u64)>,
}

impl Steady<'_> {
    /// What goes straight among these steps.
    pub(super) fn straight(&self, chunk: &[Step]) -> Straight {
        Straight { taken: self.taken_straight(chunk), put: self.put_straight(chunk) }
    }

    /// Channels whose items are taken from where the host has put them: a reader's, on which nothing stays, to a filter or splitter that fires after it in the same function.
    fn taken_straight(&self, chunk: &[Step]) -> BTreeSet<ChannelId> {
        let (mut read, mut straight) = (BTreeSet::<ChannelId>::new(), BTreeSet::<ChannelId>::new());
        for step in chunk {
            let Step::Fire { node, .. } = step else { continue };
            let node = self.graph.node(*node);
            match &node.kind {
                NodeKind::Reader(_) => read.extend(node.outputs.first()),
                NodeKind::Filter { .. } | NodeKind::SplitRoundRobin(_) => {
                    straight.extend(node.inputs.iter().filter(|c| read.contains(c)));
                }
                _ => {}
            }
        }
        let nothing_stays = |c: &ChannelId| self.fill.get(c.index()).is_none_or(|n| *n == 0);
        straight.retain(|c| self.places.is_none() && nothing_stays(c));
        straight
    }

    /// Channels whose items are put where the host wants them, each with the writer and its firings: from a filter or joiner to a writer that fires after it in the same function.
    fn put_straight(&self, chunk: &[Step]) -> BTreeMap<ChannelId, (NodeId, u64)> {
        let (mut made, mut straight) = (BTreeSet::<ChannelId>::new(), BTreeMap::new());
        for step in chunk {
            let Step::Fire { node: v, times } = step else { continue };
            let node = self.graph.node(*v);
            match (&node.kind, &node.inputs[..]) {
                (NodeKind::Writer(_), [c]) if made.contains(c) => drop(straight.insert(*c, (*v, *times))),
                (NodeKind::Filter { .. } | NodeKind::JoinRoundRobin(_), _) => made.extend(node.outputs.first()),
                _ => {}
            }
        }
        let nothing_stays = |c: &ChannelId| self.fill.get(c.index()).is_none_or(|n| *n == 0);
        straight.retain(|c, _| self.places.is_none() && nothing_stays(c));
        straight
    }

    /// Asks for the place where a channel's items are put straight, for a writer with its firings. Its name.
    pub(super) fn straight_place(&self, c: ChannelId, (writer, times): (NodeId, u64), out: &mut String) -> String {
        let (ty, number) = (c_type(&self.graph.channel(c).ty), self.numbers[writer.index()]);
        let (own, n) = (self.first_free(c), scaled_by_k(times));
        let _ = writeln!(out, "    ctx->node = {};", self.known(writer));
        let _ = writeln!(out, "    {ty} *out{} = sl_place(ctx, {number}, {own}, {n});", c.0);
        format!("out{}", c.0)
    }

    /// What comes to a chain of filters and goes from it, by channel.
    pub(super) fn straight_ends(
        &self,
        steps: &[Step],
        straight: &Straight,
        out: &mut String,
    ) -> BTreeMap<ChannelId, String> {
        let node = |step: Option<&Step>| match step {
            Some(Step::Fire { node, .. }) => Some(self.graph.node(*node)),
            _ => None,
        };
        let mut ends = BTreeMap::new();
        let from = node(steps.first()).and_then(|v| v.inputs.first()).filter(|c| straight.taken.contains(c));
        ends.extend(from.map(|c| (*c, format!("in{}", c.0))));
        if let Some((c, to)) = node(steps.last()).and_then(|v| straight.put.get_key_value(v.outputs.first()?)) {
            ends.insert(*c, self.straight_place(*c, *to, out));
        }
        ends
    }
}
