//! # steady
//!
//! Purpose: the steady state as C. Input: graph, layout, the schedule's steady part. Output: `static void sl_steady(ctx, k)`, which
//! runs `k` steady states from boundary to boundary.
//!
//! ```text
//! [n0 × 4, n1 × 4, (n2, n3) × 2]  →  n0 fires 4·k times at a fixed place, n1 after it, then a loop of 2·k turns with running cursors
//! ```
//!
//! A schedule in which every node stands in one step only, each producer's before its consumer's, is scaled by `k` step by step, so
//! that a filter is called once for all its firings and all its buffers start at constants. Others are repeated `k` times with running
//! cursors. Schedules too long for a C compiler become a table.

use super::beside::Member;
use super::layout::Layout;
use super::movers::Movers;
use super::program::CodegenError;
use super::sharing::{Lives, scalable};
use super::step_table::is_table;
use super::straight::Straight;
use super::types::c_type;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_schedule::judge::turns_at_once;
use sluice_schedule::sequential::Step;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Turns of a loop that are one, at most and at least: few gain nothing, many leave the cache.
const MOST_TURNS: u64 = 256;
const FEWEST_TURNS: u64 = 4;

/// Steps in one C function.
pub(super) const CHUNK: usize = 64;

/// What the steady state is made of.
pub struct Steady<'a> {
    /// The graph.
    pub graph: &'a SdfGraph,
    /// Where its buffers are.
    pub layout: &'a Layout,
    /// By node: the end's number of a reader or writer, a filter's place among the instances of its code.
    pub numbers: &'a [usize],
    /// By channel: items on it at every boundary.
    pub fill: &'a [u64],
    /// The schedule.
    pub steps: &'a [Step],
    /// Steps beyond which a table takes the place of generated code.
    pub table_above: usize,
    /// Must steady states follow one another, because of messages?
    pub repeat: bool,
    /// By code: does it receive messages?
    pub receives: &'a [bool],
    /// By code, as far as known: may its firings alternate with those of its like ([`super::beside`])?
    pub serial: &'a [bool],
    /// By code, as far as known: may it do the work of a joiner before it and a splitter behind it ([`super::woven`])?
    pub weaves: &'a [bool],
    /// By code: firings that should go at once ([`super::straight::run`]).
    pub runs: &'a [u64],
    /// Count firings and measure time?
    pub stats: bool,
    /// By channel: where in a batch its consumer begins to read and its producer to write, as C of type `char *`, where that is not in the
    /// instance's own buffers (or not at their usual places).
    pub places: Option<&'a [(String, String)]>,
    /// By node: its number in the engine's tables, where that is not its own.
    pub known: Option<&'a [u32]>,
    /// Which channels share buffers: nothing is copied between those that have one buffer.
    pub lives: Option<&'a Lives>,
}

/// So many turns of a loop that are one: a number, or `m` of them in C.
#[derive(Clone, Copy)]
pub(super) enum Turns {
    These(u64),
    Rest,
}

impl Turns {
    /// How often they fire a node that fires so many times in each.
    pub(super) fn of(self, times: u64) -> String {
        match (self, times) {
            (Turns::These(turns), _) => format!("{}L", times.saturating_mul(turns)),
            (Turns::Rest, 1) => "m".into(),
            (Turns::Rest, _) => format!("{times} * m"),
        }
    }
}

/// How often a step that stands `times` times in a steady state is taken in `k` of them.
pub(super) fn scaled_by_k(times: u64) -> String {
    if times == 1 { "k".to_string() } else { format!("{times} * k") }
}

/// The steady state's text.
pub struct SteadyText {
    /// Functions, `sl_steady` last.
    pub text: String,
    /// Does it move the cursors in the instance?
    pub tables: bool,
    /// Is each step of the schedule run `k` times as often, rather than all of it `k` times?
    pub scaled: bool,
}

impl Steady<'_> {
    /// Prints it by this name. `keep`: C that brings what waits on channels to the beginnings of the buffers.
    pub fn emit(&self, name: &str, keep: &str, movers: &mut Movers) -> Result<SteadyText, CodegenError> {
        let scalable = self.scalable();
        if is_table(self.graph, self.steps, self.table_above) {
            let scaled = self.table_is_scaled();
            return Ok(SteadyText { text: self.table(scaled), tables: true, scaled });
        }
        let text = self.functions(name, "", keep, movers)?;
        Ok(SteadyText { text, tables: false, scaled: scalable })
    }

    /// The function of this name, with further parameters; `last` is what it does at the end.
    pub fn functions(
        &self,
        name: &str,
        parameters: &str,
        last: &str,
        movers: &mut Movers,
    ) -> Result<String, CodegenError> {
        let arguments = if parameters.is_empty() { "" } else { ", again" };
        let mut body = String::new();
        let head = "char *restrict a = ctx->arena;\n    struct sl_states *restrict s = (struct sl_states *)(void *)ctx->states;\n    (void)a;\n    (void)s;\n";
        if self.scalable() {
            let mut calls = String::new();
            for (i, chunk) in self.steps.chunks(CHUNK).enumerate() {
                let _ = write!(
                    body,
                    "static void {name}_{i}(sl_ctx *restrict ctx, const int64_t k{parameters}) {{\n    {head}"
                );
                let straight = self.straight(chunk, i * CHUNK);
                let mut at = 0;
                while let Some(step) = chunk.get(at) {
                    if let Some(strip) = self.strip_from(i * CHUNK + at) {
                        let steps = &chunk[at..at + strip.length];
                        let ends = self.straight_ends(steps, &straight, &mut body);
                        self.strips(strip, steps, &ends, &mut body, movers)?;
                        at += strip.length;
                    } else if let Some(alike) = self.alike_from(i * CHUNK + at) {
                        let ends = self.straight_ends(&chunk[at..at + alike.length], &straight, &mut body);
                        self.alike(alike, (&ends, &straight), &mut body);
                        at += alike.length;
                    } else if let Some(trio) = self.trio_from(i * CHUNK + at, &chunk[at..]) {
                        let ends = self.straight_ends(&chunk[at..at + trio.length], &straight, &mut body);
                        self.trio(trio, &ends, &mut body, &mut movers.woven)?;
                        at += trio.length;
                    } else {
                        self.scaled(step, &straight, &mut body, movers)?;
                        at += 1;
                    }
                }
                body.push_str("}\n\n");
                let _ = writeln!(calls, "    {name}_{i}(ctx, k{arguments});");
            }
            let _ = write!(body, "static void {name}(sl_ctx *ctx, int64_t k{parameters}) {{\n{calls}{last}}}\n");
        } else {
            let _ = write!(body, "static void {name}(sl_ctx *ctx, int64_t k{parameters}) {{\n    {head}");
            let mut nodes = BTreeSet::new();
            self.steps.iter().for_each(|step| nodes_of(step, &mut nodes));
            self.cursors(&nodes, &mut body);
            body.push_str("    for (int64_t t = 0; t < k; t++) {\n");
            for step in self.steps {
                self.step(step, &nodes, 2, &mut body, movers)?;
            }
            let _ = write!(body, "    }}\n{last}}}\n");
        }
        Ok(body)
    }

    /// Can each step be run `k` times as often, one after the other?
    pub fn scalable(&self) -> bool {
        if self.repeat {
            return false;
        }
        scalable(self.graph, self.steps).is_some()
    }

    /// A top-level step, `k` times as often. What is taken and put straight has names of its own.
    fn scaled(
        &self,
        step: &Step,
        straight: &Straight,
        out: &mut String,
        movers: &mut Movers,
    ) -> Result<(), CodegenError> {
        match step {
            Step::Fire { node, times } => {
                let n = scaled_by_k(*times);
                let ends = self.graph.node(*node);
                let first_in = |c: &ChannelId| straight.taken.contains(c).then(|| format!("in{}", c.0));
                match (&ends.kind, &ends.inputs[..], &ends.outputs[..]) {
                    (NodeKind::Reader(_), _, [c]) if straight.taken.contains(c) => {
                        let (ty, number) = (c_type(&self.graph.channel(*c).ty), self.numbers[node.index()]);
                        let _ = writeln!(out, "    const {ty} *in{} = sl_take(ctx, {number}, {n});", c.0);
                        if self.stats {
                            let _ = writeln!(out, "    sl_tick(ctx, {}, {n});", node.0);
                        }
                        Ok(())
                    }
                    (NodeKind::Reader(_), _, [c]) if straight.ahead.contains_key(c) => {
                        self.take_ahead(*node, *c, &straight.ahead[c], &n, out);
                        if self.stats {
                            let _ = writeln!(out, "    sl_tick(ctx, {}, {n});", node.0);
                        }
                        Ok(())
                    }
                    (NodeKind::Filter { .. }, [c], to) if straight.ahead.contains_key(c) => {
                        let to = to.first().map(|o| match straight.put.get_key_value(o) {
                            Some((o, to)) => self.straight_place(*o, *to, out),
                            None => self.output(*o, &BTreeSet::new()),
                        });
                        self.fire_ahead(*node, *c, &straight.ahead[c], (to.as_deref(), &n), out);
                        Ok(())
                    }
                    (
                        NodeKind::Filter { .. }
                        | NodeKind::SplitRoundRobin(_)
                        | NodeKind::JoinRoundRobin(_)
                        | NodeKind::Duplicate,
                        from,
                        to,
                    ) => {
                        let mut places = (from.first().and_then(first_in), None);
                        if let Some((c, to)) = to.first().and_then(|c| straight.put.get_key_value(c)) {
                            let place = self.straight_place(*c, *to, out);
                            if let (Some(at_once), [input]) = (straight.seen.get(c), from) {
                                let from = places.0.unwrap_or_else(|| self.input(*input, &BTreeSet::new()));
                                let _ = writeln!(out, "    ctx->node = {};", self.known(*node));
                                self.fire_seen(*node, *c, *at_once, (&from, &place, &n), out);
                                return Ok(());
                            }
                            places.1 = Some(place);
                        }
                        self.fire_between(*node, places, &n, &BTreeSet::new(), 1, out, movers)
                    }
                    (NodeKind::Writer(_), [c], _) if straight.seen.contains_key(c) => {
                        let _ = writeln!(out, "    ctx->node = {};", self.known(*node));
                        let number = self.numbers[node.index()];
                        let _ = writeln!(out, "    sl_put_seen(ctx, {number}, out{0}, {n}, nan{0});", c.0);
                        Ok(())
                    }
                    (NodeKind::Writer(_), [c], _) if straight.put.contains_key(c) => {
                        let places = (Some(format!("out{}", c.0)), None);
                        self.fire_between(*node, places, &n, &BTreeSet::new(), 1, out, movers)
                    }
                    _ => self.fire(*node, &n, &BTreeSet::new(), 1, out, movers),
                }
            }
            Step::Loop { times, body } => {
                let mut nodes = BTreeSet::new();
                nodes_of(step, &mut nodes);
                out.push_str("    {\n");
                self.cursors(&nodes, out);
                out.push_str("    int64_t t = 0;\n");
                // as many turns at once as what waits in a feedback loop allows
                let at_once =
                    if self.places.is_none() { turns_at_once(self.graph, self.fill, body, MOST_TURNS) } else { 1 };
                if at_once >= FEWEST_TURNS {
                    let runs = self.alternating(body);
                    let weaves = self.woven(body, &runs);
                    // what is left is fewer turns than may be one
                    let rest = format!("if (t < {times} * k) {{\n        const long m = (long)({times} * k - t);");
                    let whole = format!("for (; t + {at_once} <= {times} * k; t += {at_once}) {{");
                    for (head, turns) in [(whole, Turns::These(at_once)), (rest, Turns::Rest)] {
                        let _ = writeln!(out, "    {head}");
                        for run in &runs {
                            if !self.fire_woven(&weaves, run, turns, out, &mut movers.woven)? {
                                self.fire_run(run, turns, &nodes, out, movers)?;
                            }
                        }
                        out.push_str("    }\n");
                    }
                    out.push_str("    }\n");
                    return Ok(());
                }
                let _ = writeln!(out, "    for (; t < {times} * k; t++) {{");
                for step in body {
                    self.step(step, &nodes, 2, out, movers)?;
                }
                out.push_str("    }\n    }\n");
                Ok(())
            }
        }
    }

    /// The steps of a loop's body in runs: filters that fire by turns, or single steps.
    fn alternating<'s>(&self, body: &'s [Step]) -> Vec<&'s [Step]> {
        let serial = |s: &Step| match s {
            Step::Fire { node, times } => match &self.graph.node(*node).kind {
                NodeKind::Filter { code, .. } => {
                    let may = self.serial.get(code.index()).copied().unwrap_or(false) && !self.stats;
                    may.then_some((*node, *times))
                }
                _ => None,
            },
            Step::Loop { .. } => None,
        };
        let mut runs: Vec<&[Step]> = Vec::new();
        let mut at = 0;
        while at < body.len() {
            let mut n = 1;
            if let Some((first, times)) = serial(&body[at]) {
                let mut nodes = BTreeSet::from([first]);
                while let Some((v, t)) = body.get(at + n).and_then(serial) {
                    let node = self.graph.node(v);
                    let fed = node.inputs.iter().any(|c| nodes.contains(&self.graph.channel(*c).from.0));
                    let feeds = node.outputs.iter().any(|c| nodes.contains(&self.graph.channel(*c).to.0));
                    if t != times || fed || feeds || !nodes.insert(v) {
                        break;
                    }
                    n += 1;
                }
            }
            runs.push(&body[at..at + n]);
            at += n;
        }
        runs
    }

    /// The firings of a run ([`Steady::alternating`]), so many times as often.
    fn fire_run(
        &self,
        run: &[Step],
        turns: Turns,
        running: &BTreeSet<NodeId>,
        out: &mut String,
        movers: &mut Movers,
    ) -> Result<(), CodegenError> {
        let fires =
            run.iter().filter_map(|s| if let Step::Fire { node, times } = s { Some((*node, *times)) } else { None });
        let fires: Vec<(NodeId, String)> = fires.map(|(v, times)| (v, turns.of(times))).collect();
        if let [(v, n)] = &fires[..] {
            return self.fire(*v, n, running, 2, out, movers);
        }
        let (mut members, mut arguments) = (Vec::new(), String::new());
        for (v, _) in &fires {
            let node = self.graph.node(*v);
            let (NodeKind::Filter { code, .. }, Some(from), Some(to)) =
                (&node.kind, node.inputs.first(), node.outputs.first())
            else {
                return Err(CodegenError::Malformed(format!("{} lacks a channel", node.path)));
            };
            let (input, output) = (self.graph.channel(*from), self.graph.channel(*to));
            members.push(Member::new(code.0, (&input.ty, input.consume), (&output.ty, output.produce)));
            let number = self.numbers[v.index()];
            let _ = write!(arguments, ", &s->code_{}[{number}], in{}, out{}", code.0, from.0, to.0);
        }
        let name = movers.beside.name(&members);
        let Some((first, n)) = fires.first() else { return Ok(()) };
        let _ = writeln!(out, "        ctx->node = {};", self.known(*first));
        let _ = writeln!(out, "        {name}(ctx{arguments}, {n});");
        fires.iter().for_each(|(v, n)| self.advance(*v, n, 2, out));
        Ok(())
    }

    /// Moves the running cursors of a node that has fired `n` times.
    fn advance(&self, v: NodeId, n: &str, depth: usize, out: &mut String) {
        let (pad, node) = ("    ".repeat(depth), self.graph.node(v));
        for c in &node.inputs {
            let rate = self.graph.channel(*c).consume;
            if rate > 0 {
                let _ = writeln!(out, "{pad}in{} += {n} * {rate};", c.0);
            }
        }
        for c in &node.outputs {
            let rate = self.graph.channel(*c).produce;
            if rate > 0 {
                let _ = writeln!(out, "{pad}out{} += {n} * {rate};", c.0);
            }
        }
    }

    /// A step among nodes with running cursors.
    fn step(
        &self,
        step: &Step,
        running: &BTreeSet<NodeId>,
        depth: usize,
        out: &mut String,
        movers: &mut Movers,
    ) -> Result<(), CodegenError> {
        match step {
            Step::Fire { node, times } => self.fire(*node, &format!("{times}L"), running, depth, out, movers),
            Step::Loop { times, body } => {
                let pad = "    ".repeat(depth);
                let _ = writeln!(out, "{pad}for (int64_t t{depth} = 0; t{depth} < {times}; t{depth}++) {{");
                for step in body {
                    self.step(step, running, depth + 1, out, movers)?;
                }
                let _ = writeln!(out, "{pad}}}");
                Ok(())
            }
        }
    }

    /// Declares the running cursors of nodes.
    fn cursors(&self, nodes: &BTreeSet<NodeId>, out: &mut String) {
        for v in nodes {
            let node = self.graph.node(*v);
            for c in &node.inputs {
                let channel = self.graph.channel(*c);
                let _ = writeln!(
                    out,
                    "    const {0} *in{1} = (const {0} *)(void *)({2});",
                    c_type(&channel.ty),
                    c.0,
                    self.base(*c)
                );
            }
            for c in &node.outputs {
                let _ = writeln!(
                    out,
                    "    {0} *out{1} = {2};",
                    c_type(&self.graph.channel(*c).ty),
                    c.0,
                    self.first_free(*c)
                );
            }
        }
    }

    /// The state of a filter.
    pub(super) fn state(&self, v: NodeId) -> String {
        match &self.graph.node(v).kind {
            NodeKind::Filter { code, .. } => format!("s->code_{}[{}]", code.0, self.numbers[v.index()]),
            _ => String::new(),
        }
    }

    /// A call that fires a filter, up to its places.
    pub(super) fn call(&self, v: NodeId) -> String {
        match &self.graph.node(v).kind {
            NodeKind::Filter { code, .. } => {
                let mail = if self.receives[code.index()] { "mail_" } else { "" };
                format!("sl_fire_{mail}{}(ctx, &{}", code.0, self.state(v))
            }
            _ => String::new(),
        }
    }

    pub(super) fn known(&self, v: NodeId) -> u32 {
        self.known.map_or(v.0, |known| known[v.index()])
    }

    pub(super) fn base(&self, c: ChannelId) -> String {
        if let Some(places) = self.places {
            return places[c.index()].0.clone();
        }
        match self.layout.slides[c.index()] {
            Some(own) => {
                let item = c_type(&self.graph.channel(c).ty);
                format!("a + {} + (size_t)ctx->at[{}].head * sizeof({item})", self.layout.fast(c), own.0)
            }
            None => format!("a + {}", self.layout.fast(c)),
        }
    }

    /// Where a producer's first item of a batch goes.
    pub(super) fn first_free(&self, c: ChannelId) -> String {
        let ty = c_type(&self.graph.channel(c).ty);
        if let Some(places) = self.places {
            return format!("({ty} *)(void *)({})", places[c.index()].1);
        }
        let fill = self.fill.get(c.index()).copied().unwrap_or(0);
        if fill == 0 {
            format!("({ty} *)(void *)({})", self.base(c))
        } else {
            format!("(({ty} *)(void *)({}) + {fill})", self.base(c))
        }
    }

    pub(super) fn input(&self, c: ChannelId, running: &BTreeSet<NodeId>) -> String {
        let channel = self.graph.channel(c);
        if running.contains(&channel.to.0) {
            format!("in{}", c.0)
        } else {
            format!("(const {} *)(void *)({})", c_type(&channel.ty), self.base(c))
        }
    }

    pub(super) fn output(&self, c: ChannelId, running: &BTreeSet<NodeId>) -> String {
        if running.contains(&self.graph.channel(c).from.0) { format!("out{}", c.0) } else { self.first_free(c) }
    }

    /// `n` firings of a node.
    pub fn fire(
        &self,
        v: NodeId,
        n: &str,
        running: &BTreeSet<NodeId>,
        depth: usize,
        out: &mut String,
        movers: &mut Movers,
    ) -> Result<(), CodegenError> {
        self.fire_between(v, (None, None), n, running, depth, out, movers)
    }

    /// The same with the places that its first input is read from and its first output goes to, where they are not those of the channels.
    #[allow(clippy::too_many_arguments)] // each is something else
    pub(super) fn fire_between(
        &self,
        v: NodeId,
        (from, to): (Option<String>, Option<String>),
        n: &str,
        running: &BTreeSet<NodeId>,
        depth: usize,
        out: &mut String,
        movers: &mut Movers,
    ) -> Result<(), CodegenError> {
        let pad = "    ".repeat(depth);
        let node = self.graph.node(v);
        let bad = || CodegenError::Malformed(format!("{} lacks a channel", node.path));
        let first_in = from.clone().or_else(|| node.inputs.first().map(|c| self.input(*c, running)));
        let first_out = to.or_else(|| node.outputs.first().map(|c| self.output(*c, running)));
        let number = self.numbers[v.index()];
        let item = |list: &[ChannelId]| list.first().map(|c| c_type(&self.graph.channel(*c).ty)).ok_or_else(bad);
        match &node.kind {
            NodeKind::Filter { .. } => {
                let (from, to) = (first_in.unwrap_or("NULL".into()), first_out.unwrap_or("NULL".into()));
                let _ = writeln!(out, "{pad}ctx->node = {};", self.known(v));
                let _ = writeln!(out, "{pad}{}, {from}, {to}, (long)({n}));", self.call(v));
            }
            NodeKind::Identity | NodeKind::Duplicate => {
                let (from, item) = (first_in.ok_or_else(bad)?, item(&node.inputs)?);
                let own = |c: &&ChannelId| !self.lives.is_some_and(|l| l.same(node.inputs[0], **c) || l.twin(**c));
                for c in node.outputs.iter().filter(own) {
                    let to = self.output(*c, running);
                    let _ = writeln!(out, "{pad}memcpy({to}, {from}, (size_t)({n}) * sizeof({item}));");
                }
            }
            NodeKind::SplitRoundRobin(weights) if !node.inputs.is_empty() => {
                let (from, item) = (first_in.ok_or_else(bad)?, item(&node.inputs)?);
                let name = movers.name(true, &self.graph.channel(node.inputs[0]).ty, weights);
                let parts: Vec<String> = node.outputs.iter().map(|c| self.output(*c, running)).collect();
                let parts = parts.join(", ");
                let _ = writeln!(out, "{pad}{name}({from}, ({item} *const[]){{{parts}}}, (long)({n}));");
            }
            NodeKind::JoinRoundRobin(weights) if !node.outputs.is_empty() => {
                let (to, item) = (first_out.ok_or_else(bad)?, item(&node.outputs)?);
                let name = movers.name(false, &self.graph.channel(node.outputs[0]).ty, weights);
                let parts: Vec<String> = node.inputs.iter().map(|c| self.input(*c, running)).collect();
                let parts = parts.join(", ");
                let _ = writeln!(out, "{pad}{name}({to}, (const {item} *const[]){{{parts}}}, (long)({n}));");
            }
            // null splitters and joiners move nothing
            NodeKind::SplitRoundRobin(_) | NodeKind::JoinRoundRobin(_) => {}
            NodeKind::Reader(_) => {
                let (to, item) = (first_out.ok_or_else(bad)?, item(&node.outputs)?);
                let (take, bytes) = (format!("sl_take(ctx, {number}, {n})"), format!("(size_t)({n}) * sizeof({item})"));
                // those of a stage may be where they belong
                let copy = if self.places.is_some() { "sl_bring" } else { "memcpy" };
                let _ = writeln!(out, "{pad}{copy}({to}, {take}, {bytes});");
            }
            NodeKind::Writer(_) => {
                let c = *node.inputs.first().ok_or_else(bad)?;
                let own = || if running.contains(&v) { format!("(void *)in{}", c.0) } else { self.base(c) };
                let from = from.unwrap_or_else(own);
                let _ = writeln!(out, "{pad}ctx->node = {};", self.known(v));
                let _ = writeln!(out, "{pad}sl_put(ctx, {number}, {from}, {n});");
            }
        }
        if self.stats {
            let _ = writeln!(out, "{pad}sl_tick(ctx, {}, {n});", v.0);
        }
        if running.contains(&v) {
            self.advance(v, n, depth, out);
        }
        Ok(())
    }
}

/// The nodes that a step fires.
pub fn nodes_of(step: &Step, out: &mut BTreeSet<NodeId>) {
    match step {
        Step::Fire { node, .. } => {
            out.insert(*node);
        }
        Step::Loop { body, .. } => body.iter().for_each(|s| nodes_of(s, out)),
    }
}
