//! # woven
//!
//! Purpose: a filter between a joiner and a splitter takes its items where the joiner would have, and puts them where the splitter would have: what both move is in registers only.
//! So it is in a feedback loop whose turns are taken many at once, and outside of loops where their steps follow one another. Input: a loop's body, or a schedule that is scaled step by step.
//! Output: which filters ([`Weaves`], [`Trio`]), and C functions that fire them.
//!
//! ```text
//! join(1, 1) 256 times, add 256 times   →   void sl_woven_0(ctx, st, in0, in1, out0, n) {
//!                                               for (i = 0; i < n; i++) { const float in[2] = {in0[i], in1[i]}; sl_fire_3(ctx, st, in, out0 + i, 1); } }
//! ```
//!
//! What must hold: nothing stays between joiner, filter and splitter, and a firing of the filter takes and gives whole rounds of theirs. Joiners then do their work later than in the
//! schedule, and splitters earlier: all buffers of a loop live as long as the loop ([`super::sharing`] goes by steps of the schedule), and grow only while its turns
//! are taken, so that the items are still there, and the places already are. Outside of loops, buffers live through all steps of the filter and its movers.

use super::print::MANY_CALLS;
use super::program::{CodegenError, ProgramInput};
use super::steady::{Steady, Turns, scaled_by_k};
use super::types::c_type;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_kernel::passes::unroll::written_out_size;
use sluice_schedule::sequential::Step;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Items of a firing, at most, and statements and operations of one: what they need should fit into the registers.
const MOST_ITEMS: u64 = 16;
const LARGEST: u64 = 200;

/// By code: may its items be brought one by one? Those of vectors of firings are brought in rows.
pub fn weaves(input: &ProgramInput<'_>) -> Vec<bool> {
    let first = super::convolution::alike(input, &|_| true);
    let mut calls = vec![0usize; input.kernels.len()];
    for node in &input.graph.nodes {
        if let NodeKind::Filter { code, .. } = &node.kind {
            calls[first[code.index()]] += 1;
        }
    }
    // what is called from many places is called, which for each firing is too often
    let one = |(k, calls): (&sluice_kernel::ir::Kernel, usize)| {
        let rates = k.work.rates;
        let small = k.functions.get(k.work.function.index()).is_some_and(|f| written_out_size(&f.body) <= LARGEST);
        k.lanes.is_none()
            && k.work.dynamic.is_none()
            && k.prework.is_none()
            && rates.peek <= rates.pop
            && small
            && calls <= MANY_CALLS
    };
    input.kernels.iter().zip(first.iter().map(|f| calls[*f])).map(one).collect()
}

/// The joiner before a filter and the splitter behind it that it does the work of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weave {
    join: Option<(NodeId, u64)>,
    split: Option<(NodeId, u64)>,
}

/// By filter.
pub(super) type Weaves = BTreeMap<NodeId, Weave>;

/// One side of a filter that fires so: the C type of its items, how many a firing takes or gives, and the parts of a round; none where they lie together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    item: String,
    items: u64,
    weights: Vec<u32>,
}

impl Side {
    fn parts(&self) -> usize {
        self.weights.len().max(1)
    }

    /// By item of a firing: its part, and how far it is from the place of the firing's first there.
    fn places(&self) -> Vec<(usize, u64)> {
        let mut at = vec![0u64; self.weights.len()];
        let mut out = Vec::new();
        while (out.len() as u64) < self.items {
            for (part, w) in self.weights.iter().enumerate() {
                for _ in 0..*w {
                    out.push((part, at[part]));
                    at[part] += 1;
                }
            }
        }
        out
    }

    /// Items of a part in a firing.
    fn step(&self, part: usize) -> u64 {
        let round: u64 = self.weights.iter().map(|w| u64::from(*w)).sum();
        self.weights.get(part).map_or(self.items, |w| self.items / round.max(1) * u64::from(*w))
    }
}

/// A call of such a function as far as it is the same in loops and outside.
struct Call {
    /// Its name, the instance and the state.
    head: String,
    /// The channels whose places follow.
    taken: Vec<ChannelId>,
    given: Vec<ChannelId>,
    from: Side,
    to: Side,
}

/// The functions made so far.
#[derive(Default)]
pub(super) struct Woven {
    names: BTreeMap<(u32, Side, Side), String>,
    /// Their text.
    pub functions: String,
}

impl Woven {
    /// The name of the function for a filter of this code. Its arguments: the instance, the state, the parts of the input and of the output, and the number of firings.
    fn name(&mut self, code: u32, from: &Side, to: &Side) -> String {
        let key = (code, from.clone(), to.clone());
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let name = format!("sl_woven_{}", self.names.len());
        let pointers = |side: &Side, constant: &str, what: &str| -> String {
            (0..side.parts()).map(|p| format!(", {constant}{} *restrict {what}{p}", side.item)).collect()
        };
        let (ins, outs) = (pointers(from, "const ", "in"), pointers(to, "", "out"));
        let (mut before, mut behind) = (String::new(), String::new());
        let input = if from.weights.is_empty() {
            format!("in0 + i * {}", from.items)
        } else {
            let one = |(part, at): &(usize, u64)| format!("in{part}[i * {} + {at}]", from.step(*part));
            let items: Vec<String> = from.places().iter().map(one).collect();
            let _ = writeln!(before, "        const {} in[{}] = {{{}}};", from.item, from.items, items.join(", "));
            "in".into()
        };
        let output = if to.weights.is_empty() {
            format!("out0 + i * {}", to.items)
        } else {
            let _ = writeln!(before, "        {} out[{}];", to.item, to.items);
            for (i, (part, at)) in to.places().iter().enumerate() {
                let _ = writeln!(behind, "        out{part}[i * {} + {at}] = out[{i}];", to.step(*part));
            }
            "out".into()
        };
        let _ = writeln!(
            self.functions,
            "static __attribute__((noinline, flatten)) void {name}(sl_ctx *restrict ctx, struct sl_state_{code} *restrict st{ins}{outs}, long n) {{\n    \
             for (long i = 0; i < n; i++) {{\n{before}        sl_fire_{code}(ctx, st, {input}, {output}, 1);\n{behind}    }}\n}}"
        );
        self.names.insert(key, name.clone());
        name
    }
}

/// Steps outside of loops that follow one another and become the firings of a filter: those of its joiner, its own, those of its splitter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trio {
    /// The first of them, and how many.
    pub first: usize,
    /// See `first`.
    pub length: usize,
    /// The filter, and how often it fires in a steady state.
    filter: (NodeId, u64),
    weave: Weave,
}

impl Trio {
    /// Do these steps begin with it?
    fn begins(&self, steps: &[Step]) -> bool {
        let Weave { join, split } = self.weave;
        let own = [join, Some(self.filter), split].into_iter().flatten();
        let fires = |(s, (v, _)): (&Step, (NodeId, u64))| matches!(s, Step::Fire { node, .. } if *node == v);
        steps.len() >= self.length && steps.iter().zip(own).all(fires)
    }

    /// The nodes that it fires, where that begins with this one and all of them do so in the same proportion beyond what they do in a steady state: `again`, by node, once more. The filter
    /// is given first.
    pub(super) fn begun_by(&self, v: NodeId, again: &dyn Fn(NodeId) -> Option<u64>) -> Option<Vec<NodeId>> {
        let Weave { join, split } = self.weave;
        let (filter, times) = self.filter;
        if join.map_or(filter, |(u, _)| u) != v {
            return None;
        }
        let more = again(filter)?;
        let mut nodes = vec![filter];
        for (u, count) in [join, split].into_iter().flatten() {
            if again(u)?.checked_mul(times)? != more.checked_mul(count)? {
                return None;
            }
            nodes.push(u);
        }
        Some(nodes)
    }

    /// The channels whose items must be where they are through all of its steps: its filter's, its joiner's inputs, and its splitter's outputs.
    pub fn moved(&self, graph: &SdfGraph) -> Vec<ChannelId> {
        let node = |mover: Option<(NodeId, u64)>| mover.map(|(u, _)| graph.node(u));
        let inputs = node(self.weave.join).map_or(&[][..], |u| &u.inputs);
        let outputs = node(self.weave.split).map_or(&[][..], |u| &u.outputs);
        let own = graph.node(self.filter.0);
        [inputs, outputs, &own.inputs, &own.outputs].concat()
    }
}

/// Finds them in a schedule that is scaled step by step, none across two of the functions that so many steps each become. `may`, by filter: may it ([`weaves`])? `fill`, by channel: what
/// stays on it.
pub fn trios(
    graph: &SdfGraph,
    steps: &[Step],
    fill: &[u64],
    function: usize,
    may: &dyn Fn(NodeId) -> bool,
) -> Vec<Trio> {
    let fires = |i: usize| match steps.get(i) {
        Some(Step::Fire { node, times }) => Some((*node, *times)),
        _ => None,
    };
    let fill = |c: ChannelId| fill.get(c.index()).copied();
    let mut out = Vec::new();
    for i in 0..steps.len() {
        let Some((v, times)) = fires(i).filter(|(v, _)| may(*v)) else { continue };
        let node = graph.node(v);
        let (NodeKind::Filter { .. }, [from], [to]) = (&node.kind, &node.inputs[..], &node.outputs[..]) else {
            continue;
        };
        // not a step that the filter before has taken
        let free = out.last().is_none_or(|t: &Trio| t.first + t.length < i);
        let before = i.checked_sub(1).filter(|_| free && !i.is_multiple_of(function)).and_then(fires);
        let behind = fires(i + 1).filter(|_| !(i + 1).is_multiple_of(function));
        let join =
            before.filter(|u| u.0 == graph.channel(*from).from.0 && moves_for(graph, *u, (*from, times), true, &fill));
        let split =
            behind.filter(|u| u.0 == graph.channel(*to).to.0 && moves_for(graph, *u, (*to, times), false, &fill));
        if join.is_some() || split.is_some() {
            let first = i - usize::from(join.is_some());
            let length = 1 + usize::from(join.is_some()) + usize::from(split.is_some());
            out.push(Trio { first, length, filter: (v, times), weave: Weave { join, split } });
        }
    }
    out
}

impl Steady<'_> {
    /// The steps that begin with this one and become the firings of one filter. Of a part of a program, whose steps have other numbers, `steps` are those from this one on.
    pub(super) fn trio_from(&self, step: usize, steps: &[Step]) -> Option<&Trio> {
        let trios = self.lives.filter(|_| !self.stats)?.trios();
        trios.iter().find(|t| if self.places.is_none() { t.first == step } else { t.begins(steps) })
    }

    /// Fires it, `k` times as often. `straight`: where what comes to it, and goes from it, begins, where that is not in its channels' buffers.
    pub(super) fn trio(
        &self,
        trio: &Trio,
        straight: &BTreeMap<ChannelId, String>,
        out: &mut String,
        woven: &mut Woven,
    ) -> Result<(), CodegenError> {
        let n = scaled_by_k(trio.filter.1);
        self.fire_trio(trio, &n, straight, out, woven)
    }

    /// Fires it so often.
    pub(super) fn fire_trio(
        &self,
        trio: &Trio,
        n: &str,
        straight: &BTreeMap<ChannelId, String>,
        out: &mut String,
        woven: &mut Woven,
    ) -> Result<(), CodegenError> {
        let (v, _) = trio.filter;
        let nothing = BTreeSet::new();
        let call = self.woven_call(v, trio.weave, woven)?;
        let _ = writeln!(out, "    ctx->node = {};", self.known(v));
        let _ = write!(out, "    {}", call.head);
        for c in &call.taken {
            let _ = write!(out, ", {}", straight.get(c).cloned().unwrap_or_else(|| self.input(*c, &nothing)));
        }
        for c in &call.given {
            let _ = write!(out, ", {}", straight.get(c).cloned().unwrap_or_else(|| self.output(*c, &nothing)));
        }
        let _ = writeln!(out, ", (long)({n}));");
        Ok(())
    }

    /// What calls a filter that does its movers' work.
    fn woven_call(&self, v: NodeId, weave: Weave, woven: &mut Woven) -> Result<Call, CodegenError> {
        let (graph, node) = (self.graph, self.graph.node(v));
        let (NodeKind::Filter { code, .. }, [from], [to]) = (&node.kind, &node.inputs[..], &node.outputs[..]) else {
            return Err(CodegenError::Malformed(format!("{} lacks a channel", node.path)));
        };
        let (taken, given) = (parts(graph, weave.join, *from), parts(graph, weave.split, *to));
        let side = |c: ChannelId, rate: u32, mover: Option<(NodeId, u64)>| Side {
            item: c_type(&graph.channel(c).ty),
            items: rate.into(),
            weights: mover.map_or(Vec::new(), |(u, _)| weights(graph, u)),
        };
        let from = side(*from, graph.channel(*from).consume, weave.join);
        let to = side(*to, graph.channel(*to).produce, weave.split);
        let name = woven.name(code.0, &from, &to);
        let head = format!("{name}(ctx, &s->code_{}[{}]", code.0, self.numbers[v.index()]);
        Ok(Call { head, taken, given, from, to })
    }

    /// The filters of a loop's body that do the work of their joiners and splitters. `runs`: its steps as they are fired.
    pub(super) fn woven(&self, body: &[Step], runs: &[&[Step]]) -> Weaves {
        let mut out = Weaves::new();
        if self.stats {
            return out;
        }
        let fires: BTreeMap<NodeId, (usize, u64)> = body
            .iter()
            .enumerate()
            .filter_map(|(i, s)| if let Step::Fire { node, times } = s { Some((*node, (i, *times))) } else { None })
            .collect();
        for run in runs {
            let [Step::Fire { node: v, times }] = run else { continue };
            let node = self.graph.node(*v);
            let NodeKind::Filter { code, .. } = &node.kind else { continue };
            let ([from], [to]) = (&node.inputs[..], &node.outputs[..]) else { continue };
            if !self.weaves.get(code.index()).copied().unwrap_or(false) || self.receives[code.index()] {
                continue;
            }
            let at = fires.get(v).map(|f| f.0);
            let fill = |c: ChannelId| self.fill.get(c.index()).copied();
            let mover = |u: NodeId, c: ChannelId, before: bool| {
                let (place, count) = *fires.get(&u)?;
                let fits =
                    (Some(place) < at) == before && moves_for(self.graph, (u, count), (c, *times), before, &fill);
                fits.then_some((u, count))
            };
            let join = mover(self.graph.channel(*from).from.0, *from, true);
            let split = mover(self.graph.channel(*to).to.0, *to, false);
            if join.is_some() || split.is_some() {
                out.insert(*v, Weave { join, split });
            }
        }
        out
    }

    /// Fires what a run is, where it is such a filter, so many times as often as it says; nothing where it is a joiner or splitter whose work a filter does. Was it one of them?
    pub(super) fn fire_woven(
        &self,
        weaves: &Weaves,
        run: &[Step],
        turns: Turns,
        out: &mut String,
        woven: &mut Woven,
    ) -> Result<bool, CodegenError> {
        let [Step::Fire { node: v, times }] = run else { return Ok(false) };
        let Some(weave) = weaves.get(v) else {
            let done = |m: &Option<(NodeId, u64)>| m.is_some_and(|(u, _)| u == *v);
            return Ok(weaves.values().any(|w| done(&w.join) || done(&w.split)));
        };
        let call = self.woven_call(*v, *weave, woven)?;
        let Call { taken, given, from, to, .. } = &call;
        let n = turns.of(*times);
        let _ = writeln!(out, "        ctx->node = {};", self.known(*v));
        let _ = write!(out, "        {}", call.head);
        for c in taken {
            let _ = write!(out, ", in{}", c.0);
        }
        for c in given {
            let _ = write!(out, ", out{}", c.0);
        }
        let _ = writeln!(out, ", {n});");
        for (i, c) in taken.iter().enumerate() {
            let _ = writeln!(out, "        in{} += {n} * {};", c.0, from.step(i));
        }
        for (i, c) in given.iter().enumerate() {
            let _ = writeln!(out, "        out{} += {n} * {};", c.0, to.step(i));
        }
        Ok(true)
    }
}

/// Is a node that fires so often the joiner before (or the splitter behind) a filter that fires so many `times`, on this channel of both, and are its firings' items those of the filter's, of
/// which nothing stays between them?
fn moves_for(
    graph: &SdfGraph,
    (u, count): (NodeId, u64),
    (c, times): (ChannelId, u64),
    before: bool,
    fill: &dyn Fn(ChannelId) -> Option<u64>,
) -> bool {
    let (node, channel) = (graph.node(u), graph.channel(c));
    let (weights, parts, rate) = match (&node.kind, before) {
        (NodeKind::JoinRoundRobin(w), true) => (w, &node.inputs, channel.consume),
        (NodeKind::SplitRoundRobin(w), false) => (w, &node.outputs, channel.produce),
        _ => return false,
    };
    let round: u64 = weights.iter().map(|w| u64::from(*w)).sum();
    let whole = round > 0 && u64::from(rate).is_multiple_of(round) && u64::from(rate) <= MOST_ITEMS;
    let balanced = count.checked_mul(round) == times.checked_mul(u64::from(rate));
    whole && parts.len() == weights.len() && !weights.contains(&0) && fill(c) == Some(0) && balanced
}

/// The channels whose items a filter takes or gives itself.
fn parts(graph: &SdfGraph, mover: Option<(NodeId, u64)>, own: ChannelId) -> Vec<ChannelId> {
    let Some((u, _)) = mover else { return vec![own] };
    let node = graph.node(u);
    if matches!(node.kind, NodeKind::JoinRoundRobin(_)) { node.inputs.clone() } else { node.outputs.clone() }
}

fn weights(graph: &SdfGraph, u: NodeId) -> Vec<u32> {
    match &graph.node(u).kind {
        NodeKind::JoinRoundRobin(w) | NodeKind::SplitRoundRobin(w) => w.to_vec(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(items: u64, weights: &[u32]) -> Side {
        Side { item: "float".into(), items, weights: weights.to_vec() }
    }

    #[test]
    fn items_come_from_the_parts_of_whole_rounds() {
        let mut w = Woven::default();
        let name = w.name(3, &side(6, &[1, 2]), &side(1, &[]));
        assert_eq!(w.name(3, &side(6, &[1, 2]), &side(1, &[])), name);
        let items = "in0[i * 2 + 0], in1[i * 4 + 0], in1[i * 4 + 1], in0[i * 2 + 1], in1[i * 4 + 2], in1[i * 4 + 3]";
        assert!(w.functions.contains(&format!("const float in[6] = {{{items}}};")), "{}", w.functions);
        assert!(w.functions.contains("sl_fire_3(ctx, st, in, out0 + i * 1, 1);"), "{}", w.functions);
        assert_eq!(w.functions.matches("static ").count(), 1);
    }

    #[test]
    fn items_go_to_the_parts() {
        let mut w = Woven::default();
        w.name(0, &side(2, &[]), &side(2, &[1, 1]));
        assert!(w.functions.contains("sl_fire_0(ctx, st, in0 + i * 2, out, 1);"), "{}", w.functions);
        for line in ["float out[2];", "out0[i * 1 + 0] = out[0];", "out1[i * 1 + 0] = out[1];"] {
            assert!(w.functions.contains(line), "{line}: {}", w.functions);
        }
    }
}
