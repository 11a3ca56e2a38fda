//! The flat graph as text, and back: for people (`--dump-after elaborate`) and for tests to start from.
//!
//! ```text
//! h0 pipeline Main "Main" void -> void
//! h1 filter Source "Source" void -> int in h0
//! n0 Main.Source filter code0 push 3 first push 1 stateful in h1
//! n1 Main.Down filter code1 pop 2 push 1 peek 4 in h2
//! n2 Main.Loop.join join 1 1 in h3
//! c0 n0.0 -> n1.0 int push 3 pop 2 peek 4
//! c1 n3.1 -> n2.1 int push 1 pop 1 initial [0, -7] feedback
//! ```
//!
//! Stream instances, nodes, channels, each in the order of its numbers; `n0.0` is output 0 of n0. Rates of 0 are left out, `peek`
//! where it is no more than `pop`; a short name (`as`) where it is not the last part of the path. `//` starts a remark. Everything but
//! the places in the source is there: what [`parse`] reads, [`print()`] writes again.

mod parse;

pub use parse::parse;

use crate::constant::Const;
use crate::graph::*;
use crate::ty::{Dim, Ty};
use crate::typed::Rates;
use std::fmt::Write;

/// The text of a graph.
pub fn print(graph: &SdfGraph) -> String {
    let mut out = String::new();
    for (i, h) in graph.hierarchy.iter().enumerate() {
        let (kind, name, display) = (h.kind.keyword(), word(&h.name), quoted(&h.display));
        let _ = write!(out, "h{i} {kind} {name} {display} {} -> {}", ty(&h.io.0), ty(&h.io.1));
        if let Some(parent) = h.parent {
            let _ = write!(out, " in {parent}");
        }
        out.push('\n');
    }
    for id in graph.node_ids() {
        let node = graph.node(id);
        let _ = write!(out, "{id} {}", word(&node.path));
        if node.name != short(&node.path) {
            let _ = write!(out, " as {}", word(&node.name));
        }
        let _ = write!(out, " {}", kind(&node.kind));
        if !graph.hierarchy.is_empty() {
            let _ = write!(out, " in {}", node.hier);
        }
        out.push('\n');
    }
    for id in graph.channel_ids() {
        let c = graph.channel(id);
        let ((from, output), (to, input)) = (c.from, c.to);
        let numbers = rates(Rates { push: c.produce, pop: c.consume, peek: c.peek });
        let _ = write!(out, "{id} {from}.{output} -> {to}.{input} {}{numbers}", ty(&c.ty));
        if !c.initial.is_empty() {
            let items: Vec<String> = c.initial.iter().map(constant).collect();
            let _ = write!(out, " initial [{}]", items.join(", "));
        }
        if c.feedback {
            out.push_str(" feedback");
        }
        if c.dynamic {
            out.push_str(" dynamic");
        }
        out.push('\n');
    }
    out
}

/// The last part of a path, without the number that tells it from its siblings.
fn short(path: &str) -> &str {
    let last = path.rsplit('.').next().unwrap_or(path);
    last.split('#').next().unwrap_or(last)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '#' | '-' | '+')
}

/// A name as it is, or in quotes.
fn word(s: &str) -> String {
    if !s.is_empty() && s.chars().all(is_word) { s.to_string() } else { quoted(s) }
}

fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn rates(r: Rates) -> String {
    let mut out = String::new();
    let peek = if r.peek > r.pop { r.peek } else { 0 };
    for (name, n) in [("push", r.push), ("pop", r.pop), ("peek", peek)] {
        if n > 0 {
            let _ = write!(out, " {name} {n}");
        }
    }
    out
}

fn kind(kind: &NodeKind) -> String {
    let weights = |w: &[u32]| w.iter().map(|w| format!(" {w}")).collect::<String>();
    let end = |e: &Endpoint| match e {
        Endpoint::File(path) => quoted(path),
        Endpoint::Open => "open".into(),
    };
    match kind {
        NodeKind::Filter { code, rates: work, prework, stateful, prints, dynamic } => {
            let first = prework.map_or(String::new(), |p| format!(" first{}", rates(p)));
            let marks = [(*stateful, " stateful"), (*prints, " prints"), (*dynamic, " dynamic")];
            let marks: String = marks.iter().filter(|m| m.0).map(|m| m.1).collect();
            format!("filter {code}{}{first}{marks}", rates(*work))
        }
        NodeKind::Identity => "identity".into(),
        NodeKind::Duplicate => "duplicate".into(),
        NodeKind::SplitRoundRobin(w) => format!("split{}", weights(w)),
        NodeKind::JoinRoundRobin(w) => format!("join{}", weights(w)),
        NodeKind::Reader(e) => format!("reader {}", end(e)),
        NodeKind::Writer(e) => format!("writer {}", end(e)),
    }
}

/// A type; structs and the like by number.
pub fn ty(t: &Ty) -> String {
    match t {
        Ty::Void => "void".into(),
        Ty::Bit => "bit".into(),
        Ty::Bool => "boolean".into(),
        Ty::Int => "int".into(),
        Ty::Float => "float".into(),
        Ty::Double => "double".into(),
        Ty::Complex => "complex".into(),
        Ty::Vec(n) => format!("float{n}"),
        Ty::Str => "string".into(),
        Ty::Array(..) => {
            // rows first, as in the language
            let (mut base, mut dims) = (t, String::new());
            while let Ty::Array(element, dim) = base {
                match dim {
                    Dim::Known(n) => {
                        let _ = write!(dims, "[{n}]");
                    }
                    Dim::Unknown => dims.push_str("[?]"),
                }
                base = element;
            }
            ty(base) + &dims
        }
        Ty::Struct(id) => id.to_string(),
        Ty::Portal(id) => format!("portal-{id}"),
        Ty::Error => "error".into(),
    }
}

/// A value. Floats are written with the fewest digits that read back the same, NaNs by their bits.
fn constant(c: &Const) -> String {
    let float = |x: f32| if x.is_nan() { format!("nan:{:x}", x.to_bits()) } else { format!("{x:?}") };
    let list = |all: &[Const]| all.iter().map(constant).collect::<Vec<_>>().join(", ");
    match c {
        Const::Bit(b) => format!("bit:{}", u8::from(*b)),
        Const::Bool(b) => b.to_string(),
        Const::Int(i) => i.to_string(),
        Const::Float(x) => float(*x),
        Const::Double(x) if x.is_nan() => format!("double:nan:{:x}", x.to_bits()),
        Const::Double(x) => format!("double:{x:?}"),
        Const::Complex(re, im) => format!("({}, {})", float(*re), float(*im)),
        Const::Vec(n, v) => {
            let parts: Vec<String> = v.iter().take(usize::from(*n)).map(|x| float(*x)).collect();
            format!("<{}>", parts.join(", "))
        }
        Const::Str(s) => quoted(s),
        Const::Array(all) => format!("[{}]", list(all)),
        Const::Struct(all) => format!("{{{}}}", list(all)),
        Const::Portal(p) => p.to_string(),
    }
}
