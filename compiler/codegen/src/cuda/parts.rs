//! # parts
//!
//! Purpose: what a block does with firings of one node. Input: the graph, the rings. Output: functions `sl_part_<p>(job, v, first, count)`: of node `v` (a row of the
//! table `sl_nodes`) the firings from number `first` of the batch on, `count` of them, by all threads of the block together; and
//! `sl_alone_<p>`, the same by the thread that calls it, for nodes of loops. Nodes whose functions would have the same text share one.
//!
//! ```text
//! a filter that pops 4 and pushes 1     bring the items of 128 firings from the ring to shared memory; barrier;
//! (its input's rows are another's)  →   thread t fires first + t, reading shared memory, writing the output's ring; barrier; and so on
//! ```
//!
//! Firings of a filter without state are those of threads side by side. Those of one with state, or that prints, follow one another in one
//! thread, while the others bring and send its items. An end of a channel whose accesses would touch more sectors than they must goes through shared memory, as
//! far as that has room. What must hold: a part ends with no thread still reading what it brought; whoever calls it sets the barrier after it.

mod ahead;
mod ends;
mod port;
mod streams;

use super::layout::{Ring, WARP, sectors};
use super::moves::moves_together;
use super::options::Scheme;
use super::program::{Making, comment, state_bytes};
use super::tiles::tile_bytes;
use crate::c::print_device::names;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The parts of all nodes.
pub(super) struct Parts {
    /// Tables, and what functions share.
    tables: String,
    /// Bytes of the tables that lie in constant memory.
    pub(super) constant_bytes: u64,
    /// What each function is of, for people; its text, and that by one thread.
    pub(super) functions: Vec<[String; 3]>,
    /// By node, the bytes of shared memory that its part needs.
    pub(super) shared: Vec<u64>,
    /// By node, the blocks that share the streams that take turns in it.
    blocks: Vec<u64>,
    /// By node, the number of its function and of its row in the table.
    rows: Vec<Option<(usize, usize)>>,
}

/// Bytes of an `sl_node` and of an `sl_port` (rts/cuda/sl_channel.h), and of all of them where they leave constant memory room for tables.
const NODE_BYTES: u64 = 40;
const PORT_BYTES: u64 = 16;
const MOST_CONSTANT: u64 = 16 << 10;
/// Firings between two barriers, at most.
const MOST_AT_ONCE: u64 = 4096;
/// States up to this size are copied to a thread's own memory while it fires.
const OWN_STATE: u64 = 512;

/// An end of a channel at a node.
#[derive(Clone, Copy)]
struct Port<'a> {
    /// Its number among the node's, inputs first.
    number: usize,
    channel: ChannelId,
    ring: Option<&'a Ring>,
    /// Items of a firing; for an input also how many it looks at.
    moved: u64,
    window: u64,
    /// Number of the first item of firing 0.
    offset: u64,
    writes: bool,
    /// Offset of its tile in shared memory, where it goes through that.
    tile: Option<u64>,
}

impl Parts {
    /// Prints them.
    pub(super) fn emit(making: &Making<'_>, wanted: impl Fn(NodeId) -> bool) -> Parts {
        let graph = making.input.host.graph;
        let mut parts = Parts {
            tables: String::new(),
            constant_bytes: 0,
            functions: Vec::new(),
            shared: vec![0; graph.nodes.len()],
            blocks: vec![1; graph.nodes.len()],
            rows: vec![None; graph.nodes.len()],
        };
        let (mut nodes, mut ports) = (String::new(), String::new());
        // by text: its number, and the nodes that have it
        let mut functions: BTreeMap<[String; 2], usize> = BTreeMap::new();
        let mut of: Vec<([String; 2], Vec<NodeId>)> = Vec::new();
        let (mut row, mut port_count) = (0, 0);
        for v in graph.node_ids().filter(|v| making.task_of[v.index()].is_some() && wanted(*v)) {
            let mut part = Part::new(making, v);
            part.text(false);
            let together = std::mem::take(&mut part.out);
            if making.whole(v) {
                part.out.push_str("/* The same by the thread that calls it. */\n");
                part.text(true);
            }
            let texts = [together, std::mem::take(&mut part.out)];
            let number = *functions.entry(texts.clone()).or_insert(of.len());
            if number == of.len() {
                of.push((texts, Vec::new()));
            }
            of[number].1.push(v);
            parts.shared[v.index()] = part.shared;
            parts.blocks[v.index()] = part.blocks;
            parts.rows[v.index()] = Some((number, row));
            let _ = writeln!(nodes, "    {{{}, {port_count}}}, /* {} */", part.facts(), comment(&graph.node(v).path));
            for p in part.inputs.iter().chain(&part.outputs) {
                let (at, rows, first) = p.ring.map_or((0, 1, 0), |r| {
                    let first = if p.by_rows(r) { p.offset / r.rate } else { p.offset };
                    (r.offset, r.rows, first)
                });
                let _ = writeln!(
                    ports,
                    "    {{{at}ull, {rows}, {first}}}, /* {} */",
                    comment(&making.channel_name(p.channel))
                );
                port_count += 1;
            }
            row += 1;
        }
        if row == 0 {
            return parts;
        }
        // C++ has no arrays of nothing
        if ports.is_empty() {
            ports.push_str("    {0, 1, 0},\n");
        }
        let bytes = row as u64 * NODE_BYTES + port_count as u64 * PORT_BYTES;
        let fits = bytes <= MOST_CONSTANT;
        parts.constant_bytes = if fits { bytes } else { 0 };
        let place = if fits { "SL_CONSTANT" } else { "SL_GLOBAL_TABLE" };
        let _ = write!(
            parts.tables,
            "/* Nodes that fire, and their ends. */\n{place} sl_node sl_nodes[] = {{\n{}}};\n{place} sl_port sl_ports[] = {{\n{}}};\n\n{CONTEXT}",
            nodes, ports
        );
        for (number, (texts, of)) in of.into_iter().enumerate() {
            let host = making.input.host;
            let who: Vec<String> = of.iter().take(4).map(|v| comment(&host.graph.node(*v).path)).collect();
            let more = if of.len() > 4 { format!(" and {} more", of.len() - 4) } else { String::new() };
            let span = match &host.graph.node(of[0]).kind {
                NodeKind::Filter { code, .. } => making.input.kernels[code.index()].span,
                _ => host.graph.node(of[0]).span,
            };
            let head = format!("/* {}: {}{more} */\n", comment(&host.sources.describe(span)), who.join(", "));
            // what only one kernel calls is a part of it: that saves what is kept around a call
            let own = making.input.options.scheme == Scheme::Serial && of.len() == 1;
            let [together, alone] = texts.map(|text| {
                let text = text.replace("@part@", &number.to_string());
                if own { text.replace("SL_TASK ", "SL_DEVICE ") } else { text }
            });
            parts.functions.push([head, together, alone]);
        }
        parts
    }

    /// Tables, and the functions that a text calls.
    pub(super) fn text(&self, callers: &str) -> String {
        let words: BTreeSet<&str> = callers.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let mut out = self.tables.clone();
        for (number, [head, together, alone]) in self.functions.iter().enumerate() {
            let called = |name: &str| words.contains(format!("sl_{name}_{number}").as_str());
            let used = [("part", together), ("alone", alone)].into_iter().filter(|(name, _)| called(name));
            for (i, (_, text)) in used.enumerate() {
                if i == 0 {
                    out.push_str(head);
                }
                out.push_str(text);
            }
        }
        out
    }

    /// How many functions there are.
    pub(super) fn count(&self) -> usize {
        self.functions.len()
    }

    /// A node's function and row.
    pub(super) fn number(&self, v: NodeId) -> (usize, usize) {
        self.rows[v.index()].unwrap_or_default()
    }

    /// How many blocks share the streams that take turns in a node: each of them calls its function, with the same firings.
    pub(super) fn blocks(&self, v: NodeId) -> u64 {
        self.blocks[v.index()]
    }

    /// Has a node one?
    pub(super) fn has(&self, v: NodeId) -> bool {
        self.rows[v.index()].is_some()
    }

    /// Does a node that is like this have the function?
    pub(super) fn is_used(&self, part: usize, by: impl Fn(NodeId) -> bool) -> bool {
        self.rows.iter().enumerate().any(|(v, row)| row.is_some_and(|(p, _)| p == part) && by(NodeId::from(v)))
    }

    /// The call that makes `count` firings of a node from `first` on, both C++: by the block, or by the thread alone.
    pub(super) fn call(&self, v: NodeId, alone: bool, first: &str, count: &str) -> String {
        let (part, row) = self.number(v);
        format!("sl_{}_{part}(job, {row}u, {first}, {count});", if alone { "alone" } else { "part" })
    }
}

const CONTEXT: &str = "\
/* A firing's context. */
SL_DEVICE sl_ctx sl_context(const sl_job &job, const sl_node &node)
{
    sl_ctx ctx = {(sl_status *)job.arena, job.print, job.room, node.node, node.number, 0, 0};
    return ctx;
}
template <class T, uint32_t RATE> SL_DEVICE sl_ring<T, RATE> sl_ring_at(const sl_job &job, const sl_port &port)
{
    sl_ring<T, RATE> ring = {(T *)(job.arena + port.at), port.rows};
    return ring;
}

";

/// What is done with the firings of a round.
enum Body {
    /// A firing; the loop around it is the usual one, behind one of firings together.
    Firing(String, Option<ahead::Together>),
    /// All of them: `@some@` firings from number `@base@` on.
    Own(String),
}

/// A product, as C.
pub(super) fn product(of: &str, times: u64) -> String {
    match (of.contains(' '), times) {
        (_, 1) => of.to_string(),
        (false, n) => format!("{of} * {n}u"),
        (true, n) => format!("({of}) * {n}u"),
    }
}

struct Part<'a, 'm> {
    making: &'m Making<'a>,
    v: NodeId,
    inputs: Vec<Port<'m>>,
    outputs: Vec<Port<'m>>,
    /// Firings between two barriers.
    chunk: u64,
    /// Threads that fire.
    threads: u64,
    /// The block has more.
    some_rest: bool,
    /// Blocks that share its streams.
    blocks: u64,
    shared: u64,
    serial: bool,
    out: String,
}

impl<'a, 'm> Part<'a, 'm> {
    fn new(making: &'m Making<'a>, v: NodeId) -> Part<'a, 'm> {
        let (graph, steady) = (making.input.host.graph, making.input.host.steady);
        let node = graph.node(v);
        let port = |number: usize, c: &ChannelId, writes: bool| {
            let channel = graph.channel(*c);
            let (moved, window, offset) = match writes {
                true => (channel.produce, channel.produce, steady.boundary_fill[c.index()]),
                false => (channel.consume, channel.peek.max(channel.consume), 0),
            };
            let ring = making.arena.rings[c.index()].as_ref();
            Port { number, channel: *c, ring, moved: moved.into(), window: window.into(), offset, writes, tile: None }
        };
        let inputs: Vec<Port<'m>> = node.inputs.iter().enumerate().map(|(i, c)| port(i, c, false)).collect();
        let outputs = node.outputs.iter().enumerate().map(|(i, c)| port(inputs.len() + i, c, true)).collect();
        let serial =
            matches!(node.kind, NodeKind::Filter { stateful: true, .. } | NodeKind::Filter { prints: true, .. });
        let threads = u64::from(making.threads_of(v));
        let some_rest = threads < making.block_threads(v).into();
        let mut part = Part {
            making,
            v,
            inputs,
            outputs,
            chunk: 0,
            threads,
            some_rest,
            blocks: 1,
            shared: 0,
            serial,
            out: String::new(),
        };
        part.choose_tiles();
        part.blocks = part.share_streams();
        part
    }

    /// Which ends go through shared memory, and how many firings at a time.
    fn choose_tiles(&mut self) {
        let making = self.making;
        let options = making.input.options;
        let threads = self.threads;
        let ends = matches!(making.input.host.graph.node(self.v).kind, NodeKind::Reader(_) | NodeKind::Writer(_));
        let (natural, serial) = (options.scheme == Scheme::SwpNc, self.serial);
        // threads that have a stream each touch neighbours
        let side_by_side = making.turns_of(self.v).is_some();
        let wants = |p: &Port<'_>| {
            let Some(ring) = p.ring else { return false };
            if ends || side_by_side {
                return ring.rate != 1;
            }
            if natural || serial {
                return true;
            }
            let firings = [0, 5 * WARP];
            let most = firings.map(|n| sectors(ring.rate, ring.item, (p.offset, p.moved, p.window), n));
            most.into_iter().max().unwrap_or(0) > ring.item + 1
        };
        let moved = self.inputs.iter().chain(&self.outputs).filter(|p| wants(p)).map(|p| p.moved).min();
        let times = self.times_threads(moved.unwrap_or(u64::MAX));
        let mut ports: Vec<&mut Port<'_>> =
            self.inputs.iter_mut().chain(&mut self.outputs).filter(|p| wants(p)).collect();
        // whole groups of rows are neighbours: so many firings move one
        let rows = |p: &&mut Port<'_>| p.ring.map_or(0, |r| (WARP * r.rate).div_ceil(p.moved.max(1)));
        let whole = ports.iter().map(rows).max().unwrap_or(0).min(MOST_AT_ONCE).next_multiple_of(threads);
        let most = whole.max(threads * times);
        self.chunk = most;
        loop {
            let chunk = self.chunk;
            let bytes = |p: &Port<'_>| {
                let items = (chunk - 1).saturating_mul(p.moved).saturating_add(p.window);
                tile_bytes(items, p.ring.map_or(1, |r| r.item))
            };
            let all = ports.iter().fold(0u64, |sum, p| sum.saturating_add(bytes(p)));
            if all <= options.shared {
                let mut at = 0;
                for p in ports {
                    let size = bytes(p);
                    p.tile = Some(at);
                    at += size;
                }
                self.shared = at;
                return;
            }
            if chunk > WARP || serial && chunk > 1 {
                // firings of one thread can be few at a time, others should fill warps
                self.chunk = if serial { chunk / 2 } else { WARP.max(chunk / 2 / WARP * WARP) };
                continue;
            }
            // the largest goes its own way
            let largest = (0..ports.len()).max_by_key(|i| bytes(ports[*i])).unwrap_or(0);
            ports.remove(largest);
            self.chunk = most;
        }
    }

    /// What stands before a loop over what threads do side by side, where it begins for each, and by how much it goes on.
    fn side_by_side(&self, alone: bool) -> (String, &'static str, String) {
        match (alone, self.some_rest) {
            (true, _) => (String::new(), "0", "1".into()),
            (_, true) => {
                (format!("if (sl_thread() < {}u) ", self.threads), "sl_thread()", format!("{}u", self.threads))
            }
            _ => (String::new(), "sl_thread()", "sl_threads()".into()),
        }
    }

    /// The node's row in the table, without the number of its first port.
    fn facts(&self) -> String {
        let (making, v) = (self.making, self.v);
        let steady = making.input.host.steady;
        let (state, number) = match &making.input.host.graph.node(v).kind {
            NodeKind::Filter { code, .. } => {
                let size =
                    state_bytes(&making.input.host.kernels[code.index()], making.input.host.globals).unwrap_or(0);
                let at = making.arena.states + making.state_offset(code.index());
                (at + making.facts.numbers[v.index()] as u64 * size, making.codes.variant[code.index()])
            }
            _ => (0, making.facts.numbers[v.index()] as u32),
        };
        format!("{state}ull, {}, {}, {}, {number}", steady.init[v.index()], steady.repetitions[v.index()], v.0)
    }

    fn text(&mut self, alone: bool) {
        let node = self.making.input.host.graph.node(self.v);
        let _ = writeln!(
            self.out,
            "SL_TASK void sl_{}_@part@(const sl_job &job, const uint32_t v, const uint32_t first, const uint32_t count)\n{{\n    \
             const sl_node node = sl_nodes[v];",
            if alone { "alone" } else { "part" },
        );
        let all: Vec<Port<'_>> =
            self.inputs.iter().chain(&self.outputs).filter(|p| p.ring.is_some()).copied().collect();
        for p in &all {
            let (i, ring) = (p.number, p.ring.expect("those that have one"));
            let _ = writeln!(
                self.out,
                "    const sl_port port{i} = sl_ports[node.ports + {i}];\n    const sl_ring<{}, {}u> ring{i} = sl_ring_at<{}, {}u>(job, port{i});",
                p.type_name(self.making),
                ring.rate,
                p.type_name(self.making),
                ring.rate,
            );
        }
        match &node.kind {
            NodeKind::Reader(_) | NodeKind::Writer(_) => self.end(alone),
            NodeKind::Filter { code, .. } => self.filter(code.index(), alone),
            kind => {
                let ends = |ports: &[Port<'_>]| ports.iter().map(|p| p.access(self.making, alone)).collect::<Vec<_>>();
                let outs = ends(&self.outputs);
                let taken = || self.inputs.iter().map(|p| self.taken(p)).collect::<Vec<_>>();
                let together = self.together(alone, None, || moves_together(kind, &taken(), &outs));
                let body = moves_together(kind, &ends(&self.inputs), &outs);
                self.rounds(alone, "", &Body::Firing(body, together), "");
            }
        }
        self.out.push_str("}\n\n");
    }

    /// A filter's firings.
    fn filter(&mut self, k: usize, alone: bool) {
        let making = self.making;
        let (host, v) = (making.input.host, self.v);
        if let Some(turns) = making.turns(k) {
            return self.in_turn(k, turns, alone);
        }
        let kernel = &making.input.kernels[k];
        let k = making.codes.representative[k];
        let mut head = String::from(
            "    sl_ctx ctx = sl_context(job, node);\n    const int64_t fired = node.init + job.epoch * node.repetitions;\n",
        );
        let (mut tail, mut body) = (String::new(), String::new());
        let mut state = "&st";
        if matches!(host.graph.node(v).kind, NodeKind::Filter { stateful: true, .. }) {
            let bytes = state_bytes(kernel, host.globals).unwrap_or(u64::MAX);
            let who = if alone { "true" } else { "sl_thread() == 0" };
            let _ = writeln!(head, "    sl_state_{k} *const state = (sl_state_{k} *)(job.arena + node.state);");
            if bytes <= OWN_STATE {
                let _ = writeln!(head, "    sl_state_{k} st;\n    if ({who}) st = sl_item<false>(state);");
                let _ = writeln!(tail, "    if ({who}) sl_item<true>(state) = st;");
            } else {
                let _ = writeln!(
                    head,
                    "    if ({who}) {{\n        SL_READ(state, sizeof *state);\n        SL_WRITE(state, sizeof *state);\n    }}"
                );
                state = "state";
            }
            let _ = writeln!(body, "{} = fired + n;", if state == "&st" { "st.iter" } else { "state->iter" });
        } else {
            let _ = writeln!(body, "sl_state_{k} st;\nsl_init_{k}(&st);\nst.iter = fired + n;");
        }
        let end = |ports: &[Port<'_>]| ports.first().map_or_else(|| "sl_nothing()".into(), |p| p.access(making, alone));
        let fire = |input: &str| {
            let output = end(&self.outputs);
            format!(
                "{body}ctx.firing = fired + n;\nsl_fire_{k}(&ctx, {state}, {input}, {output});\nif (SL_UNLIKELY(ctx.failed)) break;\n"
            )
        };
        let together = self.together(alone, Some(kernel), || {
            fire(&self.inputs.first().map_or_else(|| "sl_nothing()".into(), |p| self.taken(p)))
        });
        let body = fire(&end(&self.inputs));
        self.rounds(alone, &head, &Body::Firing(body, together), &tail);
    }

    /// The loop over firings, with what is brought and sent around it. A body speaks of firing `n`, the f-th of its round.
    fn rounds(&mut self, alone: bool, head: &str, body: &Body, tail: &str) {
        let mut out = std::mem::take(&mut self.out);
        self.rounds_to(&mut out, alone, (head, body, tail));
        self.out = out;
    }

    fn rounds_to(&self, text: &mut String, alone: bool, (head, body, tail): (&str, &Body, &str)) {
        let indent = |lines: &str, by: &str| lines.lines().map(|l| format!("{by}{l}\n")).collect::<String>();
        let all: Vec<Port<'_>> =
            self.inputs.iter().chain(&self.outputs).filter(|p| p.ring.is_some()).copied().collect();
        let (rests, start, step) = self.side_by_side(alone);
        let polls = self.making.faults.polls && names(head, "ctx") && !alone;
        text.push_str(head);
        // where the first of these firings begins, once for all of them
        let starts = |out: &mut String, pad: &str, first: &str| {
            for p in all.iter().filter(|p| alone || p.tile.is_none()) {
                let (i, ring) = (p.number, p.ring.expect("those that have one"));
                let (times, limit) = match p.by_rows(ring) {
                    true => (p.moved / ring.rate, format!("ring{i}.rows")),
                    false => (p.moved, format!("ring{i}.capacity()")),
                };
                let first = product(first, times);
                let _ = writeln!(out, "{pad}const uint32_t start{i} = (port{i}.first + {first}) % {limit};");
            }
        };
        let each = |out: &mut String, pad: &str, base: &str, some: &str, serial: bool| {
            // who fires behind a firing that has failed might not end soon; there is no barrier within
            let unless = if polls { format!("{pad}if (!sl_is_over(ctx.status))\n") } else { String::new() };
            let (body, together) = match body {
                Body::Firing(body, together) => (body, together),
                Body::Own(all) => {
                    let all = all.replace("@base@", base).replace("@some@", some);
                    return out.push_str(&(unless + &indent(&all, pad)));
                }
            };
            let (start, step, guard) = match (alone, serial) {
                (true, _) => ("0", "1".to_string(), String::new()),
                (_, true) => ("0", "1".to_string(), format!("{pad}if (sl_thread() == 0)\n")),
                _ if rests.is_empty() => (start, step.clone(), String::new()),
                _ => (start, step.clone(), format!("{pad}{}\n", rests.trim_end())),
            };
            let guard = unless + &guard;
            let inside = if together.is_some() { format!("{pad}    ") } else { pad.to_string() };
            // splitters and joiners do not ask which firing it is
            let number =
                if names(body, "n") { format!("{inside}    const uint32_t n = {base} + f;\n") } else { String::new() };
            let one = |start: &str| {
                format!(
                    "{inside}for (uint32_t f = {start}; f < {some}; {}) {{\n{number}{}{inside}}}\n",
                    if step == "1" { "f++".into() } else { format!("f += {step}") },
                    indent(body, &format!("{inside}    "))
                )
            };
            out.push_str(&guard);
            match together {
                None => out.push_str(&one(start)),
                Some(together) => {
                    let left = if together.firings > 1 { one("g") } else { String::new() };
                    let all = self.all_together(together, &inside, (base, some, &step));
                    let _ = write!(out, "{pad}{{\n{inside}uint32_t g = {start};\n{all}{left}{pad}}}\n");
                }
            }
        };
        let staged: Vec<Port<'_>> = all.iter().filter(|p| p.tile.is_some() && !alone).copied().collect();
        if staged.is_empty() {
            starts(text, "    ", "first");
            each(text, "    ", "first", "count", self.serial);
            text.push_str(tail);
            return;
        }
        for p in &staged {
            let (i, ty) = (p.number, p.type_name(self.making));
            let at = p.tile.unwrap_or(0);
            let _ = writeln!(text, "    const sl_tile<{ty}> tile{i} = {{({ty} *)(sl_shared() + {at})}};");
        }
        let chunk = self.chunk;
        let _ = writeln!(
            text,
            "    for (uint32_t done = 0; done < count; done += {chunk}u) {{\n        \
             const uint32_t some = count - done < {chunk}u ? count - done : {chunk}u;"
        );
        let brings = staged.iter().any(|p| !p.writes);
        for p in staged.iter().filter(|p| !p.writes) {
            let (i, beyond) = (p.number, p.window - p.moved);
            let more = if beyond > 0 { format!(" + {beyond}u") } else { String::new() };
            let _ = writeln!(
                text,
                "        sl_bring(tile{i}, ring{i}, {}, {}{more});",
                product("first + done", p.moved),
                product("some", p.moved),
            );
        }
        if brings {
            text.push_str("        sl_sync();\n");
        }
        starts(text, "        ", "first + done");
        each(text, "        ", "first + done", "some", self.serial);
        text.push_str("        sl_sync();\n");
        let sends = staged.iter().any(|p| p.writes);
        for p in staged.iter().filter(|p| p.writes) {
            let i = p.number;
            let offset = if p.offset > 0 { format!("{}u + ", p.offset) } else { String::new() };
            let _ = writeln!(
                text,
                "        sl_send(tile{i}, ring{i}, {offset}{}, {});",
                product("first + done", p.moved),
                product("some", p.moved),
            );
        }
        if sends && !brings {
            text.push_str("        sl_sync();\n");
        }
        let _ = write!(text, "    }}\n{tail}");
    }
}
