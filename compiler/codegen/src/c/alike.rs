//! # alike
//!
//! Purpose: equal branches without state behind a round-robin splitter and before a round-robin joiner fire as one filter, which takes the items where the splitter would have and puts them where
//! the joiner would: the streams are one stream, block after block. Input: a schedule that is scaled step by step. Output: which steps these are ([`Alike`]), and the call in their place.
//!
//! ```text
//! split(64, 64) × k, A × k, A × k, join(64, 64) × k   →   A × 2·k
//! ```
//!
//! What must hold: the steps follow one another; each branch is one filter of the same code that keeps nothing, looks at nothing that it does not take, and can be told from the others by nothing that
//! comes out; nothing stays between them; what the splitter gives a branch at once is whole firings, whose items are what the joiner takes at once. Only whole rounds are run so: what is
//! left at the end goes the slow way, through splitter and joiner. The buffers before and behind live through all of the steps ([`super::sharing`]).

use super::fused::FusedProgram;
use super::program::ProgramInput;
use super::steady::{Steady, scaled_by_k};
use super::straight::Straight;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_schedule::sequential::Step;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Steps that become the firings of one filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    /// The first of them, and how many.
    pub first: usize,
    /// See `first`.
    pub length: usize,
    /// The first branch, and the others in order.
    pub filter: NodeId,
    others: Vec<NodeId>,
    /// Firings of one of them in a steady state.
    times: u64,
    /// What comes to the splitter, and goes from the joiner.
    pub ends: (ChannelId, ChannelId),
}

/// By code, those of regions behind the program's: can nobody tell which of several such filters has fired?
pub fn plain(input: &ProgramInput<'_>, regions: Option<FusedProgram<'_>>) -> Vec<bool> {
    let one = |k: &sluice_kernel::ir::Kernel| {
        let rates = k.work.rates;
        let nothing_else =
            k.prework.is_none() && k.work.dynamic.is_none() && k.handlers.is_empty() && k.natives.is_empty();
        k.is_stateless() && nothing_else && rates.pop > 0 && rates.push > 0 && rates.peek <= rates.pop
    };
    input.kernels.iter().chain(regions.map_or(&[][..], |f| &f.program.kernels)).map(one).collect()
}

/// Finds them, none across two of the functions that so many steps each become. `plain`, by code ([`plain`]); `fill`, by channel: what stays on it.
pub fn find(graph: &SdfGraph, steps: &[Step], fill: &[u64], function: usize, plain: &[bool]) -> Vec<Alike> {
    let mut out: Vec<Alike> = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let found = from(graph, steps, fill, at, plain).filter(|a| at / function == (at + a.length - 1) / function);
        at += found.as_ref().map_or(1, |a| a.length);
        out.extend(found);
    }
    out
}

/// Those that begin with this step.
fn from(graph: &SdfGraph, steps: &[Step], fill: &[u64], first: usize, plain: &[bool]) -> Option<Alike> {
    let fires = |i: usize| match steps.get(i) {
        Some(Step::Fire { node, times }) => Some((*node, *times)),
        _ => None,
    };
    let equal = |weights: &[u32]| weights.first().copied().filter(|w| *w > 0 && weights.iter().all(|other| other == w));
    let (split, rounds) = fires(first)?;
    let NodeKind::SplitRoundRobin(weights) = &graph.node(split).kind else { return None };
    let (taken, n) = (equal(weights)?, weights.len());
    let (join, joined) = fires(first + n + 1)?;
    let NodeKind::JoinRoundRobin(weights) = &graph.node(join).kind else { return None };
    let given = equal(weights).filter(|_| weights.len() == n && n > 1 && joined == rounds)?;
    let (mut branches, mut same) = (Vec::new(), None);
    for i in 0..n {
        let (v, times) = fires(first + 1 + i)?;
        let node = graph.node(v);
        let NodeKind::Filter { code, prints: false, dynamic: false, .. } = node.kind else { return None };
        let ([c], [d]) = (&node.inputs[..], &node.outputs[..]) else { return None };
        let (input, output) = (graph.channel(*c), graph.channel(*d));
        let port = i as u32;
        let at_its_place = input.from == (split, port) && output.to == (join, port);
        let nothing_stays = [c, d].into_iter().all(|c| fill.get(c.index()) == Some(&0));
        // firings in a round, by what comes and by what goes
        let whole =
            |weight: u32, rate: u32| (rate > 0 && weight.is_multiple_of(rate)).then(|| u64::from(weight / rate));
        let firings = whole(taken, input.consume)?;
        let even = whole(given, output.produce) == Some(firings) && firings.checked_mul(rounds) == Some(times);
        if !at_its_place || !nothing_stays || !even || *same.get_or_insert((code, times)) != (code, times) {
            return None;
        }
        branches.push(v);
    }
    let (_, times) = same.filter(|(code, _)| plain.get(code.index()) == Some(&true))?;
    let filter = branches.remove(0);
    let ends = (*graph.node(split).inputs.first()?, *graph.node(join).outputs.first()?);
    Some(Alike { first, length: n + 2, filter, others: branches, times, ends })
}

impl Steady<'_> {
    /// The equal branches that begin with this step.
    pub(super) fn alike_from(&self, step: usize) -> Option<&Alike> {
        self.lives?.alike().iter().find(|a| a.first == step && self.places.is_none() && !self.stats)
    }

    /// Fires them, `k` times as often.
    pub(super) fn alike(
        &self,
        a: &Alike,
        (places, straight): (&BTreeMap<ChannelId, String>, &Straight),
        out: &mut String,
    ) {
        let place = |c: ChannelId, own: String| places.get(&c).cloned().unwrap_or(own);
        let nothing = BTreeSet::new();
        let from = place(a.ends.0, self.input(a.ends.0, &nothing));
        let to = place(a.ends.1, self.output(a.ends.1, &nothing));
        let others = a.others.len() as u64;
        let _ = writeln!(out, "    ctx->node = {};", self.known(a.filter));
        let all = scaled_by_k(a.times.saturating_mul(others + 1));
        match straight.seen.get(&a.ends.1) {
            Some(at_once) => self.fire_seen(a.filter, a.ends.1, *at_once, (&from, &to, &all), out),
            None => drop(writeln!(out, "    {}, {from}, {to}, (long)({all}));", self.call(a.filter))),
        }
        // each has fired as often as ever
        let (own, more) = (scaled_by_k(a.times), scaled_by_k(a.times.saturating_mul(others)));
        let _ = writeln!(out, "    {}.iter -= {more};", self.state(a.filter));
        for v in &a.others {
            let _ = writeln!(out, "    {}.iter += {own};", self.state(*v));
        }
    }
}
