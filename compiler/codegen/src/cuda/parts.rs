//! # parts
//!
//! Purpose: what a block does with firings of one node. Input: the graph, the rings. Output: for each node that fires
//! `sl_part_<node>(job, first, count)`: the firings from number `first` of the batch on, `count` of them, by all threads of the block together; for
//! nodes of loops also `sl_alone_<node>`, the same by the thread that calls it.
//!
//! ```text
//! a filter that pops 4 and pushes 1     bring the items of 128 firings from the ring to shared memory; barrier;
//! (its input's rows are another's)  →   thread t fires first + t, reading shared memory, writing the output's ring; barrier; and so on
//! ```
//!
//! Firings of a filter without state are those of threads side by side. Those of one with state, or that prints, follow one another in one
//! thread, while the others bring and send its items. An end of a channel whose accesses would touch more sectors than they must goes through shared memory, as
//! far as that has room. What must hold: a part ends with no thread still reading what it brought; whoever calls it sets the barrier after it.

use super::layout::{Ring, sectors};
use super::program::{Making, Scheme, comment, state_bytes};
use crate::c::program::CodegenError;
use crate::c::types::c_type;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::fmt::Write;

/// The parts of all nodes.
pub(super) struct Parts {
    /// Their functions.
    pub(super) text: String,
    /// By node, the bytes of shared memory that its part needs.
    pub(super) shared: Vec<u64>,
}

/// States up to this size are copied to a thread's own memory while it fires.
const OWN_STATE: u64 = 512;

/// An end of a channel at a node.
#[derive(Clone, Copy)]
struct Port<'a> {
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
    pub(super) fn emit(making: &Making<'_>) -> Result<Parts, CodegenError> {
        let graph = making.input.host.graph;
        let mut parts = Parts { text: String::new(), shared: vec![0; graph.nodes.len()] };
        parts.text.push_str(CONTEXT);
        for v in graph.node_ids().filter(|v| making.task_of[v.index()].is_some()) {
            let task = making.task_of[v.index()].unwrap_or_default();
            let whole = making.input.problem.graph().tasks[task].nodes.len() > 1 || making.feeds_itself(v);
            let mut part = Part::new(making, v);
            part.text(false);
            if whole {
                part.text(true);
            }
            parts.shared[v.index()] = part.shared;
            parts.text.push_str(&part.out);
        }
        Ok(parts)
    }
}

const CONTEXT: &str = "\
/* A firing's context. */
SL_DEVICE sl_ctx sl_context(const sl_job &job, int32_t node)
{
    sl_ctx ctx = {(sl_status *)job.arena, job.print, job.room, node, 0, 0};
    return ctx;
}

";

/// Tile bytes for items of this size: [`sl_tile`'s gaps](../../rts/cuda/sl_channel.h) included.
fn tile_bytes(items: u64, item: u64) -> u64 {
    let gaps = if item <= 16 { items / (128 / item) } else { 0 };
    ((items + gaps + 1) * item).next_multiple_of(16)
}

struct Part<'a, 'm> {
    making: &'m Making<'a>,
    v: NodeId,
    inputs: Vec<Port<'m>>,
    outputs: Vec<Port<'m>>,
    /// Firings between two barriers.
    chunk: u64,
    shared: u64,
    serial: bool,
    out: String,
}

impl<'a, 'm> Part<'a, 'm> {
    fn new(making: &'m Making<'a>, v: NodeId) -> Part<'a, 'm> {
        let (graph, steady) = (making.input.host.graph, making.input.host.steady);
        let node = graph.node(v);
        let port = |c: &ChannelId, writes: bool| {
            let channel = graph.channel(*c);
            let (moved, window, offset) = match writes {
                true => (channel.produce, channel.produce, steady.boundary_fill[c.index()]),
                false => (channel.consume, channel.peek.max(channel.consume), 0),
            };
            let ring = making.arena.rings[c.index()].as_ref();
            Port { channel: *c, ring, moved: moved.into(), window: window.into(), offset, writes, tile: None }
        };
        let inputs = node.inputs.iter().map(|c| port(c, false)).collect();
        let outputs = node.outputs.iter().map(|c| port(c, true)).collect();
        let serial = matches!(node.kind, NodeKind::Filter { stateful: true, .. } | NodeKind::Filter { prints: true, .. });
        let mut part = Part { making, v, inputs, outputs, chunk: 0, shared: 0, serial, out: String::new() };
        part.choose_tiles();
        part
    }

    /// Which ends go through shared memory, and how many firings at a time.
    fn choose_tiles(&mut self) {
        let making = self.making;
        let options = making.input.options;
        let threads = u64::from(options.threads);
        let ends = matches!(making.input.host.graph.node(self.v).kind, NodeKind::Reader(_) | NodeKind::Writer(_));
        let (natural, serial) = (options.scheme == Scheme::SwpNc, self.serial);
        let wants = |p: &Port<'_>| {
            let Some(ring) = p.ring else { return false };
            if ends {
                return ring.rate != 1;
            }
            if natural || serial {
                return true;
            }
            let firings = [0, 5 * super::layout::WARP];
            let most = firings.map(|n| sectors(ring.rate, ring.item, (p.offset, p.moved, p.window), n));
            most.into_iter().max().unwrap_or(0) > ring.item + 1
        };
        let mut ports: Vec<&mut Port<'_>> =
            self.inputs.iter_mut().chain(&mut self.outputs).filter(|p| wants(p)).collect();
        // a serial filter's firings are few at a time: what they move should fill the threads
        self.chunk = threads;
        loop {
            let bytes = |p: &Port<'_>| {
                let items = (self.chunk - 1).saturating_mul(p.moved).saturating_add(p.window);
                items.checked_mul(2 * p.ring.map_or(1, |r| r.item)).map_or(u64::MAX, |_| {
                    tile_bytes(items, p.ring.map_or(1, |r| r.item))
                })
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
            if self.chunk > 32 || serial && self.chunk > 1 {
                self.chunk = if serial { self.chunk / 2 } else { 32.max(self.chunk / 64 * 32) };
                continue;
            }
            // the largest goes its own way
            let largest = (0..ports.len()).max_by_key(|i| bytes(ports[*i])).unwrap_or(0);
            ports.remove(largest);
            self.chunk = threads;
        }
    }

    fn text(&mut self, alone: bool) {
        let making = self.making;
        let (host, v) = (making.input.host, self.v);
        let node = host.graph.node(v);
        let what = match &node.kind {
            NodeKind::Filter { code, .. } => making.input.kernels[code.index()].display.clone(),
            _ => node.name.clone(),
        };
        let _ = writeln!(
            self.out,
            "/* {}: {}, {} */\nSL_TASK void sl_{}_{}(const sl_job &job, const uint32_t first, const uint32_t count)\n{{",
            comment(&node.path),
            comment(&what),
            comment(&host.sources.describe(node.span)),
            if alone { "alone" } else { "part" },
            v.0,
        );
        match &node.kind {
            NodeKind::Reader(_) | NodeKind::Writer(_) => self.end(alone),
            NodeKind::Filter { code, .. } => self.filter(code.0, alone),
            kind => {
                let body = self.moves(kind);
                self.firings(alone, "", &body, "");
            }
        }
        self.out.push_str("}\n\n");
    }

    /// A reader's or writer's firings: items from or to the host.
    fn end(&mut self, alone: bool) {
        let making = self.making;
        let number = making.facts.numbers[self.v.index()];
        let reader = self.inputs.is_empty();
        let port = if reader { self.outputs[0] } else { self.inputs[0] };
        let ty = c_type(&making.input.host.graph.channel(port.channel).ty);
        let c = port.channel.0;
        let outside = match reader {
            true => format!("const {ty} *const items = (const {ty} *)job.in[{number}]"),
            false => format!("{ty} *const items = ({ty} *)job.out[{number}]"),
        };
        let _ = writeln!(self.out, "    {outside};\n    const sl_ring_{c} ring = sl_channel_{c}(job);");
        let offset = if port.offset > 0 { format!("{}u + ", port.offset) } else { String::new() };
        if port.tile.is_some() && !alone {
            let chunk = self.chunk;
            let _ = writeln!(
                self.out,
                "    const sl_tile<{ty}> tile = {{({ty} *)sl_shared()}};\n    \
                 for (uint32_t done = 0; done < count; done += {chunk}u) {{\n        \
                 const uint32_t some = count - done < {chunk}u ? count - done : {chunk}u;"
            );
            let (a, b) = match reader {
                true => (
                    "sl_fill_tile(tile, items + first + done, some);".to_string(),
                    format!("sl_send_tile(tile, ring, {offset}first + done, some);"),
                ),
                false => (
                    format!("sl_bring(tile, ring, {offset}first + done, some);"),
                    "sl_empty_tile(tile, items + first + done, some);".to_string(),
                ),
            };
            let _ = writeln!(self.out, "        {a}\n        sl_sync();\n        {b}\n        sl_sync();\n    }}");
            return;
        }
        let (start, step) = if alone { ("0", "1") } else { ("sl_thread()", "sl_threads()") };
        let (from, to) = match reader {
            true => ("items + first + f".to_string(), format!("ring.items + ring.at({offset}first + f)")),
            false => (format!("ring.items + ring.at({offset}first + f)"), "items + first + f".to_string()),
        };
        let _ = writeln!(
            self.out,
            "    for (uint32_t f = {start}; f < count; f += {step}) {{\n        const {ty} *const from = {from};\n        {ty} *const to = {to};\n        \
             SL_READ(from, sizeof({ty}));\n        SL_WRITE(to, sizeof({ty}));\n        *to = *from;\n    }}"
        );
    }

    /// A filter's firings.
    fn filter(&mut self, k: u32, alone: bool) {
        let making = self.making;
        let (host, v) = (making.input.host, self.v);
        let kernel = &making.input.kernels[k as usize];
        let (init, rep) = (host.steady.init[v.index()], host.steady.repetitions[v.index()]);
        let mut head = format!("    sl_ctx ctx = sl_context(job, {});\n", v.0);
        let _ = writeln!(head, "    const int64_t fired = {init} + job.epoch * {rep};");
        let mut tail = String::new();
        let (place, number) = (format!("sl_states_of(job)->code_{k}"), making.facts.numbers[v.index()]);
        let place = format!("{place}[{number}]");
        let mut state = "&st";
        let mut body = String::new();
        let stateful = matches!(host.graph.node(v).kind, NodeKind::Filter { stateful: true, .. });
        if stateful {
            let bytes = state_bytes(kernel, host.globals).unwrap_or(u64::MAX);
            let who = if alone { "true" } else { "sl_thread() == 0" };
            let _ = writeln!(head, "    sl_state_{k} *const state = &{place};");
            let _ = writeln!(head, "    if ({who}) SL_READ(state, sizeof *state);");
            if bytes <= OWN_STATE {
                let _ = writeln!(head, "    sl_state_{k} st;\n    if ({who}) st = *state;");
                let _ = writeln!(tail, "    if ({who}) {{\n        SL_WRITE(state, sizeof *state);\n        *state = st;\n    }}");
            } else {
                let _ = writeln!(head, "    if ({who}) SL_WRITE(state, sizeof *state);");
                state = "state";
            }
            let iter = if state == "&st" { "st.iter" } else { "state->iter" };
            let _ = writeln!(body, "{iter} = fired + n;");
        } else {
            let _ = writeln!(body, "sl_state_{k} st;\nsl_init_{k}(&st);\nst.iter = fired + n;");
        }
        let end = |ports: &[Port<'_>], alone: bool| match ports.first() {
            Some(p) => p.access(alone),
            None => "sl_nothing()".into(),
        };
        let _ = write!(
            body,
            "ctx.firing = fired + n;\nsl_fire_{k}(&ctx, {state}, {}, {});\nif (SL_UNLIKELY(ctx.failed)) break;\n",
            end(&self.inputs, alone),
            end(&self.outputs, alone),
        );
        self.firings(alone, &head, &body, &tail);
    }

    /// A splitter's or joiner's firing.
    fn moves(&self, kind: &NodeKind) -> String {
        let mut body = String::new();
        let all = self.inputs.iter().map(|p| ("in", p)).chain(self.outputs.iter().map(|p| ("out", p)));
        let mut counts = [0, 0];
        let mut names = Vec::new();
        for (what, p) in all {
            let i = &mut counts[usize::from(what == "out")];
            names.push((format!("{what}{i}"), *p));
            *i += 1;
        }
        // filled in by `firings`, which knows who calls
        for (name, p) in &names {
            let _ = writeln!(body, "const auto {name} = @{}@{};", p.channel.0, u8::from(p.writes));
        }
        let mut copy = |to: usize, to_at: &str, from: usize, from_at: &str, count: u32| {
            let _ = match count {
                1 => writeln!(body, "out{to}[{}] = in{from}[{}];", to_at.replace("%", "0"), from_at.replace("%", "0")),
                n => writeln!(
                    body,
                    "for (uint32_t i = 0; i < {n}u; i++) out{to}[{}] = in{from}[{}];",
                    to_at.replace("%", "i"),
                    from_at.replace("%", "i")
                ),
            };
        };
        match kind {
            NodeKind::Duplicate => (0..self.outputs.len()).for_each(|o| copy(o, "%", 0, "%", 1)),
            NodeKind::SplitRoundRobin(weights) => {
                let mut at = 0;
                for (o, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0) {
                    copy(o, "%", 0, &format!("{at} + %"), *w);
                    at += w;
                }
            }
            NodeKind::JoinRoundRobin(weights) => {
                let mut at = 0;
                for (i, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0) {
                    copy(0, &format!("{at} + %"), i, "%", *w);
                    at += w;
                }
            }
            _ => copy(0, "%", 0, "%", 1),
        }
        body
    }

    /// The loop over firings, with what is brought and sent around it. `body` speaks of firing `n`.
    fn firings(&mut self, alone: bool, head: &str, body: &str, tail: &str) {
        let mut body = body.to_string();
        for p in self.inputs.iter().chain(&self.outputs) {
            body = body.replace(&format!("@{}@{}", p.channel.0, u8::from(p.writes)), &p.access(alone));
        }
        self.out.push_str(head);
        let indent = |text: &str, by: &str| text.lines().map(|l| format!("{by}{l}\n")).collect::<String>();
        if alone {
            let _ = write!(
                self.out,
                "    for (uint32_t f = 0; f < count; f++) {{\n        const uint32_t n = first + f;\n{}    }}\n{tail}",
                indent(&body, "        ")
            );
            return;
        }
        let staged: Vec<Port<'_>> = self.inputs.iter().chain(&self.outputs).filter(|p| p.tile.is_some()).copied().collect();
        let each = |out: &mut String, pad: &str, base: &str, some: &str, serial: bool| {
            let (start, step, guard) = match serial {
                true => ("0", "1".to_string(), format!("{pad}if (sl_thread() == 0)\n")),
                false => ("sl_thread()", "sl_threads()".to_string(), String::new()),
            };
            let _ = write!(
                out,
                "{guard}{pad}for (uint32_t f = {start}; f < {some}; f += {step}) {{\n{pad}    const uint32_t n = {base} + f;\n{}{pad}}}\n",
                indent(&body, &format!("{pad}    "))
            );
        };
        if staged.is_empty() {
            each(&mut self.out, "    ", "first", "count", self.serial);
            self.out.push_str(tail);
            return;
        }
        for p in &staged {
            let (c, ty) = (p.channel.0, p.type_name(self.making));
            let _ = writeln!(
                self.out,
                "    const sl_tile<{ty}> tile_{c}{} = {{({ty} *)(sl_shared() + {})}};",
                p.side(),
                p.tile.unwrap_or(0)
            );
        }
        let chunk = self.chunk;
        let _ = writeln!(
            self.out,
            "    for (uint32_t done = 0; done < count; done += {chunk}u) {{\n        \
             const uint32_t some = count - done < {chunk}u ? count - done : {chunk}u;"
        );
        let brings = staged.iter().any(|p| !p.writes);
        for p in staged.iter().filter(|p| !p.writes) {
            let (c, beyond) = (p.channel.0, p.window - p.moved);
            let more = if beyond > 0 { format!(" + {beyond}u") } else { String::new() };
            let _ = writeln!(
                self.out,
                "        sl_bring(tile_{c}_in, sl_channel_{c}(job), (first + done) * {}u, some * {}u{more});",
                p.moved, p.moved
            );
        }
        if brings {
            self.out.push_str("        sl_sync();\n");
        }
        each(&mut self.out, "        ", "first + done", "some", self.serial);
        self.out.push_str("        sl_sync();\n");
        let sends = staged.iter().any(|p| p.writes);
        for p in staged.iter().filter(|p| p.writes) {
            let c = p.channel.0;
            let offset = if p.offset > 0 { format!("{}u + ", p.offset) } else { String::new() };
            let _ = writeln!(
                self.out,
                "        sl_send_tile(tile_{c}_out, sl_channel_{c}(job), {offset}(first + done) * {}u, some * {}u);",
                p.moved, p.moved
            );
        }
        if sends && !brings {
            self.out.push_str("        sl_sync();\n");
        }
        let _ = write!(self.out, "    }}\n{tail}");
    }
}

impl Port<'_> {
    fn side(&self) -> &'static str {
        if self.writes { "_out" } else { "_in" }
    }

    fn type_name(&self, making: &Making<'_>) -> String {
        c_type(&making.input.host.graph.channel(self.channel).ty)
    }

    /// The items of firing `n` of the batch; in a tile, of the f-th firing there.
    fn access(&self, alone: bool) -> String {
        let Some(ring) = self.ring else { return "sl_nothing()".into() };
        let (c, writes) = (self.channel.0, self.writes);
        if self.tile.is_some() && !alone {
            let ty = format!("sl_ring_{c}::item");
            return format!("sl_window<{ty}, {writes}>(tile_{c}{}, f * {}u)", self.side(), self.moved);
        }
        if self.moved.is_multiple_of(ring.rate) && self.moved > 0 {
            let (row, column, rows) = (self.offset / ring.rate, self.offset % ring.rate, self.moved / ring.rate);
            let times = if rows == 1 { String::new() } else { format!(" * {rows}u") };
            let first = if row > 0 { format!("{row}u + n{times}") } else { format!("n{times}") };
            return format!("sl_row<sl_ring_{c}, {column}u, {writes}>(sl_channel_{c}(job), {first})");
        }
        let offset = if self.offset > 0 { format!("{}u + ", self.offset) } else { String::new() };
        format!("sl_end<sl_ring_{c}, {writes}>(sl_channel_{c}(job), {offset}n * {}u)", self.moved)
    }
}

impl Making<'_> {
    /// Does a channel lead from a node to itself?
    pub(super) fn feeds_itself(&self, v: NodeId) -> bool {
        let graph = self.input.host.graph;
        graph.node(v).outputs.iter().any(|c| graph.channel(*c).to.0 == v)
    }
}
