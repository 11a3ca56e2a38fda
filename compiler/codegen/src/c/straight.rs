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
//!
//! Where something stays, because the filter that takes the items looks ahead, its first firings alone need the buffer: what stayed, and as many items behind it as they look at. The others read
//! from where the host has put them; and what stays this time goes where it would lie behind all the items, from where it is moved to the front as ever.
//!
//! ```text
//! reader × 5·k, A (takes 5, looks at 64) × k, 59 stay
//!   →   in0 = sl_take(…);  80 items to the buffer;  A × 16 from there;  A × (k - 16) from in0 + 21;  the last 59 to where they are kept
//! ```

use super::alike::Alike;
use super::layout::WIDEST;
use super::steady::{Steady, scaled_by_k};
use super::types::c_type;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::Kernel;
use sluice_kernel::passes::waves;
use sluice_schedule::sequential::Step;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The channels without a buffer in one function.
pub(super) struct Straight {
    /// From a reader.
    pub(super) taken: BTreeSet<ChannelId>,
    /// From a reader but for the first items of a batch, by channel.
    pub(super) ahead: BTreeMap<ChannelId, Ahead>,
    /// To a writer, with the writer and its firings.
    pub(super) put: BTreeMap<ChannelId, (NodeId, u64)>,
    /// Of those, the ones whose items are looked through for NaNs as they are made: firings after which that is done.
    pub(super) seen: BTreeMap<ChannelId, u64>,
}

/// Bytes that a filter takes and gives until what it gave is looked at: part of the first cache.
const FRESH: u64 = 24 << 10;

/// Firings of a wave that go at once: its first and last steps, in which not all lanes have a firing, are few of them.
const IN_A_WAVE: u64 = 1024;

/// Firings of a filter that should go at once, 0 where that is all the same: those for which its tapes have room, or a wave's.
pub(super) fn run(kernel: &Kernel) -> u64 {
    match kernel.tapes.iter().map(|t| u64::from(t.turns)).min() {
        Some(turns) => turns,
        None if waves::wave(kernel).is_some() => IN_A_WAVE,
        None => 0,
    }
}

/// Firings of so many bytes after which their items are looked at: whole vectors of them, and of vectors a power of two; `None` where these are too long. Tapes are gone through to their `room`,
/// for then they are brought back to their beginnings; waves have a `room`, too.
fn fresh(bytes: u64, room: u64) -> Option<u64> {
    let most = FRESH.checked_div(bytes)?;
    [room, 4 * WIDEST, 2 * WIDEST, WIDEST].into_iter().find(|n| *n > 0 && *n <= most)
}

/// A filter that looks ahead and takes its items straight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    /// Firings that read from the buffer: whole vectors of them.
    first: u64,
    /// Items that are copied there for them.
    copied: u64,
    /// Items that stay.
    stay: u64,
    /// Steady states from which on it is done so; fewer go through the buffer.
    least: u64,
}

/// How a filter takes its items straight that fires so many times in each of at most `batch` steady states; `None` where most of a batch goes through the buffer anyway.
fn ahead((consume, peek): (u64, u64), stay: u64, times: u64, batch: u64) -> Option<Ahead> {
    if stay == 0 || consume == 0 || times == 0 {
        return None;
    }
    let first = stay.div_ceil(consume).checked_next_multiple_of(WIDEST)?;
    let copied = (first - 1).checked_mul(consume)?.checked_add(peek)?.checked_sub(stay)?;
    // what is copied and what stays have come in this time
    let items = copied.max(stay);
    let least = items.div_ceil(times.checked_mul(consume)?).max(first.checked_mul(2)?.div_ceil(times));
    (least <= batch / 4).then_some(Ahead { first, copied, stay, least })
}

impl Steady<'_> {
    /// What goes straight among these steps, the first of which is that of this number.
    pub(super) fn straight(&self, chunk: &[Step], number: usize) -> Straight {
        let alone = self.alone(chunk, number);
        let (ahead, put) = (self.taken_ahead(&alone), self.put_straight(chunk));
        let alike: Vec<&Alike> = (0..chunk.len()).filter_map(|i| self.alike_from(number + i)).collect();
        let seen = self.put_seen((&alone, &alike), &ahead, &put);
        Straight { taken: self.taken_straight(chunk), ahead, seen, put }
    }

    /// Channels of floats put straight by filters that fire by themselves, or as one with their like, and look at nothing that stays.
    fn put_seen(
        &self,
        (alone, alike): (&[&Step], &[&Alike]),
        ahead: &BTreeMap<ChannelId, Ahead>,
        put: &BTreeMap<ChannelId, (NodeId, u64)>,
    ) -> BTreeMap<ChannelId, u64> {
        let alike = alike.iter().map(|a| (a.filter, a.ends));
        let alone = alone.iter().filter_map(|s| match s {
            Step::Fire { node, .. } => {
                match (&self.graph.node(*node).inputs[..], &self.graph.node(*node).outputs[..]) {
                    ([c], [d]) if !ahead.contains_key(c) => Some((*node, (*c, *d))),
                    _ => None,
                }
            }
            Step::Loop { .. } => None,
        });
        let bytes = |c: ChannelId, rate: u32| match self.graph.channel(c).ty {
            Ty::Float | Ty::Int => Some(4 * u64::from(rate)),
            Ty::Complex => Some(8 * u64::from(rate)),
            _ => None,
        };
        let one = |(v, (c, d)): (NodeId, (ChannelId, ChannelId))| {
            let NodeKind::Filter { rates, code, .. } = &self.graph.node(v).kind else { return None };
            let floats = matches!(self.graph.channel(d).ty, Ty::Float | Ty::Complex);
            let usual = floats && put.contains_key(&d) && !self.stats && !self.receives[code.index()];
            let firing = bytes(c, rates.pop)?.checked_add(bytes(d, rates.push)?)?;
            let room = self.runs.get(code.index()).copied().unwrap_or(0);
            usual.then(|| fresh(firing, room)).flatten().map(|n| (d, n))
        };
        alone.chain(alike).filter_map(one).collect()
    }

    /// So many firings of a filter from one place to another, after some of which at a time their items, of channel `c`, are looked at.
    pub(super) fn fire_seen(
        &self,
        v: NodeId,
        c: ChannelId,
        at_once: u64,
        (from, to, n): (&str, &str, &str),
        out: &mut String,
    ) {
        let NodeKind::Filter { rates, .. } = &self.graph.node(v).kind else { return };
        let words = if self.graph.channel(c).ty == Ty::Complex { 2 } else { 1 };
        let (pop, push, call) = (rates.pop, rates.push, self.call(v));
        let _ = writeln!(out, "    int nan{} = 0;", c.0);
        let _ = writeln!(out, "    for (int64_t t = 0, all = {n}; t < all; t += {at_once}) {{");
        let _ = writeln!(out, "        const long m = all - t < {at_once} ? all - t : {at_once};");
        let _ = writeln!(out, "        {call}, {from} + t * {pop}, {to} + t * {push}, m);");
        let _ = writeln!(out, "        nan{} |= sl_nans({to} + t * {push}, m * {});", c.0, u64::from(push) * words);
        out.push_str("    }\n");
    }

    /// Steps that are taken one by one, rather than in strips or woven.
    fn alone<'s>(&self, chunk: &'s [Step], number: usize) -> Vec<&'s Step> {
        let (mut alone, mut at) = (Vec::new(), 0);
        while let Some(step) = chunk.get(at) {
            let strip = self.strip_from(number + at).map(|s| s.length);
            let alike = || self.alike_from(number + at).map(|a| a.length);
            let together = strip.or_else(alike).or_else(|| self.trio_from(number + at, &chunk[at..]).map(|t| t.length));
            if together.is_none() {
                alone.push(step);
            }
            at += together.unwrap_or(1);
        }
        alone
    }

    /// Channels from a reader to a filter that looks ahead and fires after it in the same function, once in a steady state's schedule and by itself.
    fn taken_ahead(&self, alone: &[&Step]) -> BTreeMap<ChannelId, Ahead> {
        let (mut read, mut straight) = (BTreeSet::<ChannelId>::new(), BTreeMap::new());
        for step in alone {
            let Step::Fire { node: v, times } = step else { continue };
            let node = self.graph.node(*v);
            match (&node.kind, &node.inputs[..]) {
                (NodeKind::Reader(_), _) => read.extend(node.outputs.first()),
                (NodeKind::Filter { code, .. }, [c]) if read.contains(c) && !self.receives[code.index()] => {
                    let channel = self.graph.channel(*c);
                    let (rates, stay) =
                        ((u64::from(channel.consume), u64::from(channel.peek)), self.fill.get(c.index()).copied());
                    let own = self.places.is_none() && !self.lives.is_some_and(|l| l.elsewhere(*c));
                    let how = ahead(rates, stay.unwrap_or(0), *times, self.layout.batch).filter(|_| own);
                    straight.extend(how.map(|how| (*c, how)));
                }
                _ => {}
            }
        }
        straight
    }

    /// What a reader does for a filter that looks ahead.
    pub(super) fn take_ahead(&self, reader: NodeId, c: ChannelId, how: &Ahead, n: &str, out: &mut String) {
        let (ty, number) = (c_type(&self.graph.channel(c).ty), self.numbers[reader.index()]);
        let _ = writeln!(out, "    const {ty} *in{} = sl_take(ctx, {number}, {n});", c.0);
        let _ = writeln!(
            out,
            "    memcpy({}, in{}, (size_t)(k >= {} ? {} : {n}) * sizeof({ty}));",
            self.first_free(c),
            c.0,
            how.least,
            how.copied
        );
    }

    /// Its firings, `n` of them; each of its outputs begins at `to`.
    pub(super) fn fire_ahead(
        &self,
        v: NodeId,
        c: ChannelId,
        how: &Ahead,
        (to, n): (Option<&str>, &str),
        out: &mut String,
    ) {
        let Ahead { first, stay, least, .. } = *how;
        let (node, channel) = (self.graph.node(v), self.graph.channel(c));
        let ty = c_type(&channel.ty);
        let from = self.input(c, &BTreeSet::new());
        let consume = u64::from(channel.consume);
        let of = |made: u64| match (to, node.outputs.first()) {
            (Some(to), Some(o)) if made > 0 => format!("{to} + {}", made * u64::from(self.graph.channel(*o).produce)),
            (to, _) => to.unwrap_or("NULL").to_string(),
        };
        let (all, rest) = (of(0), of(first));
        let call = self.call(v);
        let _ = writeln!(out, "    ctx->node = {};", self.known(v));
        let _ = writeln!(out, "    {call}, {from}, {all}, k >= {least} ? {first}L : (long)({n}));");
        let _ = writeln!(out, "    if (k >= {least}) {{");
        let _ =
            writeln!(out, "        {call}, in{} + {}, {rest}, (long)({n} - {first}));", c.0, first * consume - stay);
        let _ = writeln!(
            out,
            "        memcpy(({ty} *)(void *)({}) + {n} * {consume}, in{} + ({n} * {consume} - {stay}), {stay} * sizeof({ty}));",
            self.base(c),
            c.0
        );
        out.push_str("    }\n");
        if self.stats {
            let _ = writeln!(out, "    sl_tick(ctx, {}, {n});", v.0);
        }
    }

    /// Channels whose items are taken from where the host has put them: a reader's, on which nothing stays, to a filter or splitter that copies them, which fires after it in the same function.
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
                NodeKind::Duplicate => {
                    let in_place =
                        |c: &ChannelId| self.lives.is_some_and(|l| node.outputs.iter().any(|o| l.same(*c, *o)));
                    straight.extend(node.inputs.iter().filter(|c| read.contains(c) && !in_place(c)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_firings_see_what_stayed() {
        // 5 taken, 64 looked at, 59 stay: firings 0 to 11 look at what stayed; a vector of them, and what they look at behind it
        assert_eq!(ahead((5, 64), 59, 1, 2600), Some(Ahead { first: 16, copied: 80, stay: 59, least: 32 }));
        // several firings in a steady state
        assert_eq!(ahead((2, 34), 32, 96, 26), Some(Ahead { first: 16, copied: 32, stay: 32, least: 1 }));
        // more stays than a firing needs
        assert_eq!(ahead((4, 8), 20, 1, 1000), Some(Ahead { first: 16, copied: 48, stay: 20, least: 32 }));
        for (rates, stay, times, batch) in [((1, 1), 0, 1, 1000), ((1, 64), 63, 1, 400), ((0, 4), 4, 1, 1000)] {
            assert_eq!(ahead(rates, stay, times, batch), None, "{rates:?}");
        }
    }
}
