//! # strips
//!
//! Purpose: a chain of filters fires in strips of a batch, each as long as what passes between the filters stays in the first cache. Input: a graph, a schedule of it that is scaled step by
//! step. Output: [`Strip`]s; a loop in the text of the steady state.
//!
//! ```text
//! A fires 160 k times, then B 160 k times, then C 320 k times   →   64 times A, 64 times B, 128 times C, and so on
//! ```
//!
//! What must hold: steps that follow one another fire filters of which each takes all that the one before gives, and looks at nothing else. What comes to the first and goes from
//! the last is there for the whole batch, so that it lives from the chain's first step to its last ([`super::sharing`]). What lies between is at the beginning of its buffer in each strip; items
//! that stay there from batch to batch go there after each, and at the end to where they would be without strips.

use super::layout::WIDEST;
use super::movers::Movers;
use super::program::CodegenError;
use super::steady::Steady;
use super::types::c_type;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_schedule::sequential::Step;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Bytes that a filter's two channels take in a strip, at most: part of the first cache.
const BYTES: u64 = 24 << 10;

/// Steps that become a loop over strips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The first of them, and how many.
    pub first: usize,
    /// See `first`.
    pub length: usize,
    /// A steady state has so many parts in which each filter fires the same number of times, and a strip so many, a multiple of all lanes.
    pub parts: u64,
    /// See `parts`.
    pub wide: u64,
}

/// What is known of the program.
pub struct Known<'a> {
    /// May a node be part of a chain?
    pub may: &'a dyn Fn(NodeId) -> bool,
    /// Do its lanes hold bytes, so that four vectors of firings are one?
    pub narrow: &'a dyn Fn(NodeId) -> bool,
    /// Bytes of a channel's item.
    pub bytes: &'a dyn Fn(ChannelId) -> Option<u64>,
}

/// Finds chains, none across two of the functions that so many steps each become.
pub fn find(graph: &SdfGraph, steps: &[Step], function: usize, known: &Known<'_>) -> Vec<Strip> {
    let Known { may, narrow, bytes } = known;
    let fires = |i: usize| match steps.get(i) {
        Some(Step::Fire { node, times }) if may(*node) => {
            let v = graph.node(*node);
            let filter = matches!(v.kind, NodeKind::Filter { .. }) && v.inputs.len() <= 1 && v.outputs.len() <= 1;
            let looks_no_farther = v.inputs.iter().all(|c| {
                let c = graph.channel(*c);
                c.peek == c.consume && c.from.0 != c.to.0
            });
            (filter && looks_no_farther).then_some((*node, *times))
        }
        _ => None,
    };
    let (mut out, mut at) = (Vec::new(), 0);
    while at < steps.len() {
        let mut chain = Chain::default();
        let mut best = None;
        while let Some((v, times)) = fires(at + chain.fires.len()) {
            if !chain.takes(graph, v, times, bytes)
                || (at + chain.fires.len()).is_multiple_of(function) && !chain.fires.is_empty()
            {
                break;
            }
            chain.fires.push((v, times));
            chain.narrow |= narrow(v);
            let Some((parts, wide)) = chain.fits() else { break };
            if chain.fires.len() > 1 {
                best = Some(Strip { first: at, length: chain.fires.len(), parts, wide });
            }
        }
        at += best.as_ref().map_or(1, |s| s.length);
        out.extend(best);
    }
    out
}

/// A chain as it grows.
#[derive(Default)]
struct Chain {
    /// Filters with their firings in a steady state.
    fires: Vec<(NodeId, u64)>,
    /// By channel between them: bytes in a steady state.
    between: Vec<u64>,
    /// Four vectors of firings are one of some of them.
    narrow: bool,
}

impl Chain {
    /// Does the node take all that the last one gives? Then its channel is one of those between.
    fn takes(&mut self, graph: &SdfGraph, v: NodeId, times: u64, bytes: &dyn Fn(ChannelId) -> Option<u64>) -> bool {
        let Some((last, _)) = self.fires.last() else { return true };
        let [c] = graph.node(*last).outputs[..] else { return false };
        let channel = graph.channel(c);
        let all = times.checked_mul(channel.consume.into()).and_then(|n| n.checked_mul(bytes(c)?));
        match all {
            Some(all) if channel.to.0 == v && all > 0 => {
                self.between.push(all);
                true
            }
            _ => false,
        }
    }

    /// The parts of a steady state, and how many of them are a strip; `None` where fewer than fill the lanes have room.
    fn fits(&self) -> Option<(u64, u64)> {
        let parts = self.fires.iter().map(|(_, n)| *n).reduce(common)?;
        let beside = self.between.windows(2).map(|w| w[0].saturating_add(w[1])).max();
        let bytes = beside.or(self.between.first().copied()).unwrap_or(1);
        let wide = (u128::from(BYTES) * u128::from(parts) / u128::from(bytes)).min(1 << 16) as u64;
        let unit = if self.narrow && wide >= 4 * WIDEST { 4 * WIDEST } else { WIDEST };
        let wide = wide - wide % unit;
        (wide > 0).then_some((parts, wide))
    }
}

/// The greatest common divisor.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

impl Strip {
    /// The channels that come to the chain, and those that go from it.
    pub fn ends(&self, graph: &SdfGraph, steps: &[Step]) -> (Vec<ChannelId>, Vec<ChannelId>) {
        let node = |i: usize| match steps.get(i) {
            Some(Step::Fire { node, .. }) => Some(graph.node(*node)),
            _ => None,
        };
        let last = node(self.first + self.length - 1);
        (node(self.first).map_or(vec![], |v| v.inputs.clone()), last.map_or(vec![], |v| v.outputs.clone()))
    }
}

impl Steady<'_> {
    /// The chain that begins with a step.
    pub(super) fn strip_from(&self, step: usize) -> Option<&Strip> {
        self.lives?.strips().iter().find(|s| s.first == step && self.places.is_none() && !self.stats)
    }

    /// A chain, `k` times as often. `straight`: where what comes to it, and goes from it, begins, where that is not in its channels' buffers.
    pub(super) fn strips(
        &self,
        strip: &Strip,
        steps: &[Step],
        straight: &BTreeMap<ChannelId, String>,
        out: &mut String,
        movers: &mut Movers,
    ) -> Result<(), CodegenError> {
        let Strip { parts, wide, .. } = strip;
        let nothing = BTreeSet::new();
        let _ = writeln!(out, "    for (int64_t t = 0, all = {parts} * k; t < all; t += {wide}) {{");
        let _ = writeln!(out, "        const int64_t m = all - t < {wide} ? all - t : {wide};");
        let mut after = String::new();
        for (i, step) in steps.iter().enumerate() {
            let Step::Fire { node, times } = step else { continue };
            let (v, often) = (self.graph.node(*node), times / parts);
            let mut places = (None, None);
            if let (0, Some(c)) = (i, v.inputs.first()) {
                let from = straight.get(c).cloned().unwrap_or_else(|| self.input(*c, &nothing));
                places.0 = Some(format!("{from} + {} * t", often * u64::from(self.graph.channel(*c).consume)));
            }
            if let (true, Some(c)) = (i + 1 == steps.len(), v.outputs.first()) {
                let to = straight.get(c).cloned().unwrap_or_else(|| self.output(*c, &nothing));
                places.1 = Some(format!("{to} + {} * t", often * u64::from(self.graph.channel(*c).produce)));
            }
            self.fire_between(*node, places, &format!("{often} * m"), &nothing, 2, out, movers)?;
            let inner = v.inputs.first().filter(|c| i > 0 && self.fill[c.index()] > 0);
            if let Some(c) = inner {
                let channel = self.graph.channel(*c);
                let (item, base, fill) = (c_type(&channel.ty), self.base(*c), self.fill[c.index()]);
                let of_a_part = often * u64::from(channel.consume);
                // a copy of a known size is a few instructions, where it does not overlap: not in the shortest strip
                let copy = if of_a_part >= fill { "memcpy" } else { "memmove" };
                let _ = writeln!(
                    out,
                    "        {copy}({base}, {base} + {of_a_part} * m * sizeof({item}), {fill} * sizeof({item}));"
                );
                let _ = writeln!(
                    after,
                    "    memmove({base} + {of_a_part} * {parts} * k * sizeof({item}), {base}, {fill} * sizeof({item}));"
                );
            }
        }
        let _ = write!(out, "    }}\n{after}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::{NoImports, Options, SourceInput, analyse};

    /// The strips of a pipeline that fires in program order, once as often as its steady state says.
    fn strips(stages: &str, function: usize) -> Vec<Strip> {
        strips_of(stages, function, false)
    }

    /// The same, with lanes that hold bytes or not.
    fn strips_of(stages: &str, function: usize, narrow: bool) -> Vec<Strip> {
        let filters = "int->int filter F(int n, int m) { work pop n push m { for (int i = 0; i < m; i++) push(peek(i % n)); for (int i = 0; i < n; i++) pop(); } }
int->int filter Far(int n) { work pop 1 peek n push 1 { push(peek(n - 1) + pop()); } }\n";
        let text = format!("{filters}int->int pipeline Main {{ {stages} }}");
        let input = SourceInput { name: "a.str".into(), text };
        let program = analyse(vec![input], &Options::default(), &mut NoImports).program.unwrap();
        let fire = |v: NodeId| Step::Fire { node: v, times: program.steady.repetitions[v.index()] };
        let steps: Vec<Step> = program.graph.node_ids().map(fire).collect();
        let known = Known { may: &|_| true, narrow: &|_| narrow, bytes: &|_| Some(4) };
        find(&program.graph, &steps, function, &known)
    }

    #[test]
    fn chains_are_found() {
        let found = strips("add F(2, 32); add F(32, 64); add F(32, 1);", 64);
        // 384 bytes in and out of the second filter for each of its firings
        assert_eq!(found, [Strip { first: 1, length: 3, parts: 1, wide: 64 }]);
        // what looks ahead ends a chain, and so does the end of a function
        let found = strips("add F(1, 1); add F(1, 1); add Far(4); add F(1, 1); add F(1, 1);", 64);
        assert_eq!(found.iter().map(|s| (s.first, s.length)).collect::<Vec<_>>(), [(1, 2), (4, 2)]);
        let found = strips("add F(1, 1); add F(1, 1); add F(1, 1); add F(1, 1);", 3);
        assert_eq!(found.iter().map(|s| (s.first, s.length)).collect::<Vec<_>>(), [(1, 2), (3, 2)]);
    }

    #[test]
    fn a_chain_ends_where_a_strip_would_not_fill_the_lanes() {
        // of the last filter's firings each takes more than the cache holds
        let found = strips("add F(1, 2); add F(2, 2); add F(8000, 1);", 64);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].first, found[0].length, found[0].parts), (1, 2, 4000));
        assert!(found[0].wide >= WIDEST && found[0].wide.is_multiple_of(WIDEST));
        assert!(strips("add F(1, 8000); add F(8000, 1);", 64).is_empty());
        assert!(strips("add F(1, 1);", 64).is_empty(), "one filter is no chain");
    }

    #[test]
    fn four_vectors_of_bytes_are_one() {
        for (items, ints, bytes) in [(60, 96, 64), (80, 64, 64), (120, 48, 48)] {
            let wide = |narrow| strips_of(&format!("add F(1, {items}); add F({items}, 1);"), 64, narrow)[0].wide;
            assert_eq!((wide(false), wide(true)), (ints, bytes), "{items}");
        }
    }
}
