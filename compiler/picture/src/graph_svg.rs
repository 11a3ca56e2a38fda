//! # graph-svg
//!
//! Purpose: the stream graph as a picture: hierarchy as nested boxes, rates on the channels, stateful filters marked, feedback and
//! initial items shown. Input: graph and steady state. Output: SVG text. The layout is our own ([`crate::layout`]): stream
//! graphs are series-parallel but for their loops.

use crate::layout::{Layout, Placed, Rect, layout, node_label, title};
use crate::text::{escape, rates, width};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::SteadyState;
use std::collections::HashMap;
use std::fmt::Write;

const STYLE: &str = "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;fill:#1c2733}\
.t{font-size:12px;fill:#55616f}.n{font-size:13px;text-anchor:middle}.s{font-size:11px;text-anchor:middle;fill:#3d4855}\
.r{font-size:10.5px;fill:#55616f;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\
.c{fill:none;stroke:#6b7886;stroke-width:1.4}.f{stroke:#b3541e;stroke-dasharray:6 3}\
.box{fill:#f6f8fa;fill-opacity:.6;stroke:#b9c2cc}.loop{stroke:#d9a179;fill:#fdf6f0}\
.filter{fill:#e7f0fb;stroke:#4a7ab5}.state{fill:#fdeed3;stroke:#c98a1b;stroke-width:2}.join{fill:#e4e7eb;stroke:#7d8894}\
.end{fill:#e3f4e6;stroke:#4b9a5b}.badge{fill:#b3541e}.b{font-size:10px;fill:#fff;text-anchor:middle}";

/// The picture.
pub fn svg(graph: &SdfGraph, steady: &SteadyState) -> String {
    let l = layout(graph);
    let legend = 34.0;
    let (w, h) = (l.size.0.max(760.0), l.size.1 + legend);
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\">\n<style>{STYLE}</style>\n\
         <defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#6b7886\"/></marker>\
         <marker id=\"b\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#b3541e\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (id, r) in &l.boxes {
        boxed(&mut out, graph, *id, r);
    }
    for c in graph.channel_ids() {
        channel(&mut out, graph, steady, &l, c);
    }
    for n in graph.node_ids() {
        if let Some(p) = l.nodes[n.index()] {
            node(&mut out, graph, steady, n, &p);
        }
    }
    notes(&mut out, graph, &l);
    key(&mut out, l.size.1);
    out.push_str("</svg>\n");
    out
}

/// Notes, each with the nodes that it stands for, as runs of numbers.
fn notes(out: &mut String, graph: &SdfGraph, l: &Layout) {
    let all = l.notes.iter().enumerate();
    let note_of: HashMap<HierId, usize> = all.flat_map(|(i, n)| n.2.iter().map(move |h| (*h, i))).collect();
    let mut runs: Vec<Vec<(usize, usize)>> = vec![Vec::new(); l.notes.len()];
    for n in graph.node_ids().filter(|n| l.nodes[n.index()].is_none()) {
        let mut hier = Some(graph.node(n).hier);
        while let Some(h) = hier {
            if let Some(i) = note_of.get(&h) {
                match runs[*i].last_mut() {
                    Some(run) if run.1 + 1 == n.index() => run.1 += 1,
                    _ => runs[*i].push((n.index(), n.index())),
                }
                break;
            }
            hier = graph.hierarchy[h.index()].parent;
        }
    }
    for ((r, text, _), nodes) in l.notes.iter().zip(runs) {
        let (x, y) = (r.cx(), r.y + r.h / 2.0 + 4.0);
        let nodes: Vec<String> = nodes.iter().map(|(first, last)| format!("{first}-{last}")).collect();
        let (text, nodes) = (escape(text), nodes.join(" "));
        let _ =
            writeln!(out, "<g data-nodes=\"{nodes}\"><text class=\"s\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text></g>");
    }
}

fn boxed(out: &mut String, graph: &SdfGraph, id: HierId, r: &Rect) {
    let hier = &graph.hierarchy[id.index()];
    let class = if hier.kind == sluice_grammar::ast::StreamKind::FeedbackLoop { "box loop" } else { "box" };
    let _ = writeln!(
        out,
        "<g><title>{} {}</title><rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\"/><text class=\"t\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
        hier.kind.keyword(),
        escape(&hier.display),
        r.x,
        r.y,
        r.w,
        r.h,
        r.x + 10.0,
        r.y + 17.0,
        escape(&title(graph, id)),
    );
}

fn tooltip(graph: &SdfGraph, steady: &SteadyState, n: NodeId) -> String {
    let node = graph.node(n);
    let (r, init) = (steady.repetitions[n.index()], steady.init[n.index()]);
    let mut t = format!("{}\nfires {r} times in a steady state, {init} times before the first", node.path);
    if let NodeKind::Filter { rates, stateful, prework, dynamic, .. } = &node.kind {
        let rate = |ports: &[ChannelId], n: u32, of: fn(&SdfGraph, ChannelId) -> Option<u32>| match ports.first() {
            Some(c) => of(graph, *c).map_or("*".to_string(), |n| n.to_string()),
            None => n.to_string(),
        };
        let (pop, push) =
            (rate(&node.inputs, rates.pop, SdfGraph::takes), rate(&node.outputs, rates.push, SdfGraph::gives));
        let _ = write!(t, "\npop {pop} push {push} peek {}", rates.peek);
        if *dynamic {
            t.push_str("\n* is decided by each firing");
        }
        if let Some(p) = prework {
            let _ = write!(t, "\nfirst firing: pop {} push {} peek {}", p.pop, p.push, p.peek);
        }
        if *stateful {
            t.push_str("\nstateful: firings depend on those before");
        }
    }
    t
}

fn node(out: &mut String, graph: &SdfGraph, steady: &SteadyState, n: NodeId, p: &Placed) {
    let r = p.at;
    let node = graph.node(n);
    let label = escape(&node_label(graph, n));
    let _ = write!(out, "<g id=\"{n}\"><title>{}</title>", escape(&tooltip(graph, steady, n)));
    let times = format!("×{}", steady.repetitions[n.index()]);
    match &node.kind {
        NodeKind::Duplicate | NodeKind::SplitRoundRobin(_) | NodeKind::JoinRoundRobin(_) => {
            let splits = !matches!(node.kind, NodeKind::JoinRoundRobin(_));
            // a trapezium, wide where there are many channels
            let (top, bottom) = if splits != p.up { (14.0, 0.0) } else { (0.0, 14.0) };
            let _ = write!(
                out,
                "<path class=\"join\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z\"/><text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                r.x + top,
                r.y,
                r.x + r.w - top,
                r.y,
                r.x + r.w - bottom,
                r.y + r.h,
                r.x + bottom,
                r.y + r.h,
                r.cx(),
                r.y + 17.0,
            );
        }
        kind => {
            let (class, round, mark) = match kind {
                NodeKind::Filter { stateful: true, .. } => ("state", 5, " ⟲ state"),
                NodeKind::Filter { .. } | NodeKind::Identity => ("filter", 5, ""),
                _ => ("end", 22, ""),
            };
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round}\"/><text class=\"n\" x=\"{:.1}\" y=\"{:.1}\">{label}</text><text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{times}{mark}</text>",
                r.x,
                r.y,
                r.w,
                r.h,
                r.cx(),
                r.y + 19.0,
                r.cx(),
                r.y + 35.0,
            );
        }
    }
    out.push_str("</g>\n");
}

/// Where a channel leaves or enters a node: the point, and the direction of flow there. Ports whose channels are not drawn take no
/// room.
fn end(graph: &SdfGraph, l: &Layout, n: NodeId, id: ChannelId, p: &Placed, leaves: bool) -> (f64, f64, f64) {
    let node = graph.node(n);
    let ports = if leaves { &node.outputs } else { &node.inputs };
    let drawn = |c: &ChannelId| {
        let c = graph.channel(*c);
        l.nodes[c.from.0.index()].is_some() && l.nodes[c.to.0.index()].is_some()
    };
    let shown: Vec<ChannelId> = ports.iter().copied().filter(drawn).collect();
    let port = shown.iter().position(|c| *c == id).unwrap_or(0);
    let x = p.at.x + p.at.w * (port as f64 + 0.5) / shown.len().max(1) as f64;
    let down = leaves != p.up;
    (x, if down { p.at.y + p.at.h } else { p.at.y }, if p.up { -1.0 } else { 1.0 })
}

/// A Bézier curve's text, without its first point, and its middle.
fn curve(a: (f64, f64), b: (f64, f64), c: (f64, f64), d: (f64, f64)) -> (String, (f64, f64)) {
    let middle = |a: f64, b: f64, c: f64, d: f64| (a + 3.0 * b + 3.0 * c + d) / 8.0;
    let text = format!("C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", b.0, b.1, c.0, c.1, d.0, d.1);
    (text, (middle(a.0, b.0, c.0, d.0), middle(a.1, b.1, c.1, d.1)))
}

fn channel(out: &mut String, graph: &SdfGraph, steady: &SteadyState, l: &Layout, id: ChannelId) {
    let c = graph.channel(id);
    let (Some(a), Some(b)) = (l.nodes[c.from.0.index()], l.nodes[c.to.0.index()]) else { return };
    let fill = steady.boundary_fill[id.index()];
    let ends = format!("{} → {}", graph.node(c.from.0).path, graph.node(c.to.0).path);
    let tip = if c.dynamic {
        format!("{ends}\na dynamic channel: a firing decides how many items it moves")
    } else {
        format!(
            "{ends}\n{} pushed, {} popped{} per firing, {fill} items wait between steady states",
            c.produce,
            c.consume,
            if c.peek > c.consume { format!(", {} peeked at", c.peek) } else { String::new() },
        )
    };
    let _ = write!(out, "<g id=\"{id}\"><title>{}</title>", escape(&tip));
    let (gives, takes) = rates(graph, id);
    let side = |p: &Placed| (p.at.x + p.at.w, p.at.y + p.at.h / 2.0);
    // the way back of a loop leaves the splitter and enters the joiner at their right sides
    let leaves_back = a.up != b.up || c.feedback && !a.up;
    let enters_back = a.up != b.up && b.at.y < a.at.y || c.feedback && !b.up;
    let class = if leaves_back || enters_back || c.feedback { "c f" } else { "c" };
    let marker = if class == "c" { "a" } else { "b" };
    let (x1, y1, d1) = end(graph, l, c.from.0, id, &a, true);
    let (x2, y2, d2) = end(graph, l, c.to.0, id, &b, false);
    let (path, (lx1, ly1), (lx2, ly2), middle);
    if leaves_back && enters_back && a.up == b.up {
        let ((sx, sy), (tx, ty)) = (side(&a), side(&b));
        // straight up in the column that the layout keeps free at the right of the loop
        let around =
            l.boxes.iter().find(|(h, _)| *h == graph.node(c.to.0).hier).map_or(sx.max(tx) + 40.0, |(_, r)| r.x + r.w);
        let x = (around - 26.0).max(sx.max(tx) + 14.0);
        path = format!(
            "M{sx:.1} {sy:.1}H{:.1}Q{x:.1} {sy:.1} {x:.1} {:.1}V{:.1}Q{x:.1} {ty:.1} {:.1} {ty:.1}H{tx:.1}",
            x - 10.0,
            sy - 10.0,
            ty + 10.0,
            x - 10.0
        );
        (lx1, ly1) = (sx + 6.0, sy + 13.0);
        (lx2, ly2) = (tx + 10.0, ty - 6.0);
        middle = (x, (sy + ty) / 2.0);
    } else if leaves_back && !a.up && b.up {
        let (sx, sy) = side(&a);
        let (bent, half) = curve((sx, sy), (x2, sy), (x2, y2 + 40.0), (x2, y2));
        path = format!("M{sx:.1} {sy:.1}{bent}");
        (lx1, ly1) = (sx + 6.0, sy + 13.0);
        (lx2, ly2) = (x2 + 7.0, y2 + 14.0);
        middle = half;
    } else if a.up && !b.up {
        let (tx, ty) = side(&b);
        let (bent, half) = curve((x1, y1), (x1, y1 - 40.0), (tx + 50.0, ty), (tx, ty));
        path = format!("M{x1:.1} {y1:.1}{bent}");
        (lx1, ly1) = (x1 + 7.0, y1 - 6.0);
        (lx2, ly2) = (tx + 10.0, ty - 6.0);
        middle = half;
    } else {
        let (from, to) = l.gap(graph, c.from.0, c.to.0, a.up).unwrap_or((y1, y2));
        let bend = (to - from).abs() * 0.5;
        let (bent, half) = curve((x1, from), (x1, from + d1 * bend), (x2, to - d2 * bend), (x2, to));
        let first = if from == y1 { String::new() } else { format!("V{from:.1}") };
        let last = if to == y2 { String::new() } else { format!("V{y2:.1}") };
        path = format!("M{x1:.1} {y1:.1}{first}{bent}{last}");
        (lx1, ly1) = (x1 + 5.0, if d1 > 0.0 { y1 + 12.0 } else { y1 - 5.0 });
        (lx2, ly2) = (x2 + 5.0, if d2 > 0.0 { y2 - 7.0 } else { y2 + 14.0 });
        middle = half;
    }
    let _ = write!(
        out,
        "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#{marker})\"/><text class=\"r\" x=\"{lx1:.1}\" y=\"{ly1:.1}\">{gives}</text><text class=\"r\" x=\"{lx2:.1}\" y=\"{ly2:.1}\">{takes}</text>",
    );
    if !c.initial.is_empty() {
        let t = format!("{} initial", c.initial.len());
        let w = width(&t, 10.0) + 10.0;
        let _ = write!(
            out,
            "<rect class=\"badge\" x=\"{:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"16\" rx=\"8\"/><text class=\"b\" x=\"{:.1}\" y=\"{:.1}\">{t}</text>",
            middle.0 - w / 2.0,
            middle.1 - 8.0,
            middle.0,
            middle.1 + 3.5,
        );
    }
    out.push_str("</g>\n");
}

fn key(out: &mut String, y: f64) {
    let mut x = 24.0;
    for (class, label) in
        [("filter", "filter"), ("state", "stateful filter"), ("join", "splitter, joiner"), ("end", "reader, writer")]
    {
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"16\" height=\"12\" rx=\"3\"/><text class=\"t\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
            y,
            x + 22.0,
            y + 10.5
        );
        x += 22.0 + width(label, 12.0) + 22.0;
    }
    let _ = writeln!(out, "<text class=\"t\" x=\"{x:.1}\" y=\"{:.1}\">×n firings per steady state</text>", y + 10.5);
}
