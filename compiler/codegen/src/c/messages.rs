//! # messages
//!
//! Purpose: teleport messages as C. Input: links and precedences, the filters' texts. Output: functions that call handlers, functions that
//! fire receivers, and the tables of the engine (`sl_link`, `sl_wait`).
//!
//! A receiver's firings are cut where a message takes effect, so that the firings between two messages run as fast as those of any
//! other filter.
//!
//! ```text
//! sl_fire_mail_3(..., n)   →   deliver what is due; sl_fire_3(..., part); deliver; sl_fire_3(..., rest)
//! ```

use super::print::{FilterText, Send};
use super::program::{CodegenError, ProgramInput};
use super::types::c_type;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_frontend::messages::Direction;
use sluice_frontend::messages::counts::Counts;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::Kernel;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The messages' part of a program's text.
pub struct Mail {
    /// Functions and tables.
    pub text: String,
    /// By node: its columns in `sl_nodes`.
    pub rows: Vec<String>,
    /// Links.
    pub links: usize,
}

fn code_of(input: &ProgramInput<'_>, v: NodeId) -> Option<usize> {
    match input.graph.node(v).kind {
        NodeKind::Filter { code, .. } => Some(code.index()),
        _ => None,
    }
}

/// By code: does one of its nodes receive messages?
pub fn receivers(input: &ProgramInput<'_>) -> Vec<bool> {
    let mut out = vec![false; input.kernels.len()];
    for code in input.messages.links.iter().filter_map(|l| code_of(input, l.receiver)) {
        out[code] = true;
    }
    out
}

/// `sl_fire_mail_k` and `sl_prework_mail_k`.
pub fn firings(k: usize, kernel: &Kernel, input: &ProgramInput<'_>) -> String {
    let mut out = String::new();
    // what it sends to itself may be due within the firings that follow
    let itself = input.messages.links.iter().any(|l| l.sender == l.receiver && code_of(input, l.sender) == Some(k));
    let most = if itself { "1" } else { "n" };
    let (from, to) = (c_type(&kernel.input), c_type(&kernel.output));
    let args = format!("sl_ctx *ctx, struct sl_state_{k} *st, const {from} *in, {to} *out, long n");
    let step = |ty: &Ty, name: &str, rate: u32| match (ty, rate) {
        (Ty::Void, _) | (_, 0) => String::new(),
        _ => format!("        {name} += part * {rate};\n"),
    };
    let rates = kernel.work.rates;
    let _ = write!(
        out,
        "static void sl_fire_mail_{k}({args}) {{\n    const uint32_t node = (uint32_t)ctx->node;\n    while (n > 0) {{\n        \
         const long part = sl_deliver(ctx, node, st->iter, {most});\n        sl_fire_{k}(ctx, st, in, out, part);\n{}{}        n -= part;\n    }}\n}}\n",
        step(&kernel.input, "in", rates.pop),
        step(&kernel.output, "out", rates.push),
    );
    if kernel.prework.is_some() {
        let _ = write!(
            out,
            "static void sl_prework_mail_{k}({args}) {{\n    sl_deliver(ctx, (uint32_t)ctx->node, st->iter, n);\n    \
             sl_prework_{k}(ctx, st, in, out, n);\n}}\n"
        );
    }
    out
}

/// A function from firings to firings as a table and its initializer.
struct Tables {
    text: String,
    known: BTreeMap<Vec<u64>, usize>,
}

impl Tables {
    fn counts(&mut self, f: &Counts) -> String {
        let next = self.known.len();
        let number = *self.known.entry(f.head.clone()).or_insert(next);
        if number == next {
            let _ = write!(self.text, "static const uint64_t sl_counts_{number}[] = {{");
            for (i, value) in f.head.iter().enumerate() {
                let _ = write!(self.text, "{}{value},", if i % 16 == 0 { "\n    " } else { " " });
            }
            self.text.push_str("\n};\n");
        }
        let length = f.head.len();
        format!("{{sl_counts_{number}, {length}, {}, {}}}", f.period.min(length as u64), f.step)
    }
}

/// A way of messages from a node to one receiver.
pub struct Way<'a> {
    /// The receiver's code, and the number of its handler.
    pub code: usize,
    /// See `code`.
    pub handler: usize,
    /// Types of the arguments.
    pub params: Vec<Ty>,
    /// By the sender's firing: before which firing of the receiver it takes effect.
    pub due: &'a Counts,
    /// Number of the way in the sender's code.
    pub send: usize,
    /// Who gets it.
    pub receiver: NodeId,
    /// It takes effect directly after the firing before.
    pub after: bool,
    /// It takes effect before the receiver's next firing, whatever `due`.
    pub next: bool,
}

/// The ways of the messages that a node sends; `sends` are those of its code.
pub fn ways<'a>(input: &ProgramInput<'a>, sender: NodeId, sends: &[Send]) -> Result<Vec<Way<'a>>, CodegenError> {
    let mut out = Vec::new();
    for link in input.messages.links.iter().filter(|l| l.sender == sender) {
        let Some(code) = code_of(input, link.receiver) else { continue };
        let Some(handler) = input.kernels[code].handlers.iter().position(|(name, _)| **name == *link.name) else {
            return Err(CodegenError::Malformed(format!("a receiver lacks the handler {}", link.name)));
        };
        for (number, send) in sends.iter().enumerate() {
            let r = &send.route;
            if (r.portal, &*r.handler, r.latency) != (link.portal, &*link.name, link.latency) {
                continue;
            }
            let function = input.kernels[code].function(input.kernels[code].handlers[handler].1);
            let params: Vec<Ty> = function.locals[..function.params as usize].iter().map(|l| l.ty.clone()).collect();
            if params != send.args {
                return Err(CodegenError::Malformed(format!("a message to {} has other arguments", link.name)));
            }
            out.push(Way {
                code,
                handler,
                params,
                due: &link.due,
                send: number,
                receiver: link.receiver,
                after: link.direction == Direction::Upstream,
                // with dynamic rates, best effort is the next firing
                next: link.direction == Direction::Unbound && input.steady.islands.is_some(),
            });
        }
    }
    Ok(out)
}

/// The tables, and what the nodes' table says of them.
pub fn emit(input: &ProgramInput<'_>, filters: &[Option<FilterText>]) -> Result<Mail, CodegenError> {
    let mut tables = Tables { text: String::new(), known: BTreeMap::new() };
    let mut receive: BTreeMap<(usize, usize), Vec<Ty>> = BTreeMap::new();
    let (mut links, mut waits, mut nexts, mut rows) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for v in input.graph.node_ids() {
        let (first_link, first_wait, first_next) = (links.len(), waits.len(), nexts.len());
        let sends = code_of(input, v).and_then(|k| filters[k].as_ref()).map_or(&[][..], |f| &f.sends);
        for way in ways(input, v, sends)? {
            let (k, handler) = (way.code, way.handler);
            let due = tables.counts(way.due);
            let bytes =
                if way.params.is_empty() { "0".into() } else { format!("sizeof(struct sl_message_{k}_{handler})") };
            links.push(format!(
                "{{sl_receive_{k}_{handler}, {due}, {bytes}, {}, {}, {}, {}}}",
                way.send,
                way.receiver.0,
                u8::from(way.after),
                u8::from(way.next)
            ));
            receive.insert((k, handler), way.params);
        }
        for p in input.steady.precedences.iter().filter(|p| p.after == v) {
            waits.push(format!("{{{}, {}}}", tables.counts(&p.need), p.before.0));
        }
        nexts.extend(input.steady.precedences.iter().filter(|p| p.before == v).map(|p| p.after.0.to_string()));
        rows.push(format!(
            "{first_link}, {}, {first_wait}, {}, {first_next}, {}",
            links.len() - first_link,
            waits.len() - first_wait,
            nexts.len() - first_next
        ));
    }
    let mut text = String::new();
    let mut largest = Vec::new();
    for ((k, handler), params) in &receive {
        let function = input.kernels[*k].function(input.kernels[*k].handlers[*handler].1);
        let name = format!("sl_message_{k}_{handler}");
        if !params.is_empty() {
            let fields: Vec<String> = params.iter().enumerate().map(|(i, t)| format!("{} p{i};", c_type(t))).collect();
            let _ = writeln!(text, "struct {name} {{ {} }};", fields.join(" "));
            largest.push(format!("struct {name} {name};"));
        }
        let args: Vec<String> = (0..params.len())
            .map(|i| format!(", {}m->p{i}", if function.locals[i].by_ref { "&" } else { "" }))
            .collect();
        let of = if params.is_empty() { String::new() } else { format!("struct {name} *m = message; ") };
        let _ = writeln!(
            text,
            "static void sl_receive_{k}_{handler}(sl_ctx *ctx, void *st, void *message) {{ (void)message; {of}sl_handler_{k}_{handler}(ctx, st{}); }}",
            args.concat()
        );
    }
    text.push_str(&tables.text);
    largest.push("uint64_t none;".into());
    let _ = writeln!(text, "union sl_message {{ {} }};", largest.join(" "));
    text.push_str("enum { SL_MESSAGE = sizeof(union sl_message) };\n");
    for (ty, name, list, none) in [
        ("sl_link", "sl_links", &links, "{NULL, {NULL, 0, 0, 0}, 0, 0, 0, 0, 0}"),
        ("sl_wait", "sl_waits", &waits, "{{NULL, 0, 0, 0}, 0}"),
        ("uint32_t", "sl_nexts", &nexts, "0"),
    ] {
        let list = if list.is_empty() { none.to_string() } else { list.join(",\n    ") };
        let _ = writeln!(text, "static const {ty} {name}[] = {{\n    {list}}};");
    }
    Ok(Mail { text, rows, links: links.len() })
}
