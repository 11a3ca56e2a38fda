//! Where everything goes: pipelines stacked, splitjoins side by side, loops with their way back at the right, drawn upwards.
//!
//! Takes the graph's hierarchy, gives boxes and node places in pixels. Branches beyond a limit that look like their neighbours
//! are left out; a note takes their place.

use crate::text;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::*;
use sluice_grammar::ast::StreamKind;
use std::collections::{BTreeMap, BTreeSet};

/// Space between streams that follow each other: room for the rates on the channel.
pub const GAP: f64 = 46.0;
const SIDE: f64 = 22.0;
const PAD: f64 = 16.0;
const TITLE: f64 = 24.0;
/// Branches of one kind that are shown before the rest is summed up.
pub const SHOWN: usize = 16;

/// A rectangle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// The middle, from left to right.
    pub fn cx(&self) -> f64 {
        self.x + self.w / 2.0
    }
}

/// A node's place.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Its rectangle.
    pub at: Rect,
    /// Do items flow upwards here (in the way back of a loop)?
    pub up: bool,
}

/// The whole drawing.
#[derive(Debug, Default)]
pub struct Layout {
    /// Node places; `None` for nodes left out.
    pub nodes: Vec<Option<Placed>>,
    /// Composites: which, and where.
    pub boxes: Vec<(HierId, Rect)>,
    /// The same by composite.
    box_of: BTreeMap<HierId, Rect>,
    /// Notes that stand for branches left out, and these.
    pub notes: Vec<(Rect, String, Vec<HierId>)>,
    /// Size of it all.
    pub size: (f64, f64),
}

impl Layout {
    /// The heights between which a channel may go sideways, from its producer's to its consumer's: the free space between what
    /// holds the one and not the other. The rest of its way it stays in the column of its end.
    pub fn gap(&self, graph: &SdfGraph, from: NodeId, to: NodeId, up: bool) -> Option<(f64, f64)> {
        let around = |n: NodeId| {
            let node = graph.node(n);
            let first = (!is_open_end(&node.kind)).then_some(node.hier);
            std::iter::successors(first, |h| graph.hierarchy[h.index()].parent)
        };
        // the outermost box that holds one of the two alone, else the node
        let alone = |n: NodeId, other: NodeId| {
            let others: BTreeSet<HierId> = around(other).collect();
            let boxed = around(n).take_while(|h| !others.contains(h)).filter_map(|h| self.box_of.get(&h));
            match boxed.last() {
                Some(r) => Some((*r, true)),
                None => self.nodes[n.index()].map(|p| (p.at, false)),
            }
        };
        let ((a, a_boxed), (b, b_boxed)) = (alone(from, to)?, alone(to, from)?);
        let (start, end) = if up { (a.y, b.y + b.h) } else { (a.y + a.h, b.y) };
        let room = if up { start - end } else { end - start };
        let forward = if up { -GAP } else { GAP };
        let splits = !a_boxed && matches!(graph.node(from).kind, NodeKind::Duplicate | NodeKind::SplitRoundRobin(_));
        let joins = !b_boxed && matches!(graph.node(to).kind, NodeKind::JoinRoundRobin(_));
        // a short branch beside a tall one: only beside the splitter or joiner is all of the width free
        match (room > GAP + 0.5, splits, joins) {
            (true, true, _) => Some((start, start + forward)),
            (true, false, true) => Some((end - forward, end)),
            _ => Some((start, end)),
        }
    }
}

/// A part of the drawing, with its width and height.
struct Part {
    size: (f64, f64),
    what: What,
}

enum What {
    Node(NodeId),
    Note(String, Vec<HierId>),
    Box(HierId, Box<Part>),
    Stack(Vec<Part>),
    Row(Vec<Part>),
    /// Forward column, way back (if it has a stream).
    Loop(Box<Part>, Option<Box<Part>>),
}

/// Width of a node with its name, and its height.
pub fn node_size(graph: &SdfGraph, n: NodeId) -> (f64, f64) {
    let node = graph.node(n);
    match &node.kind {
        NodeKind::Duplicate | NodeKind::SplitRoundRobin(_) | NodeKind::JoinRoundRobin(_) => {
            let ports = node.inputs.len().max(node.outputs.len()).min(SHOWN) as f64;
            let label = text::width(&node_label(graph, n), 11.0) + 40.0;
            (label.max(20.0 * ports), 26.0)
        }
        _ => ((text::width(&node_label(graph, n), 13.0) + 28.0).max(96.0), 44.0),
    }
}

/// What is written in a node.
pub fn node_label(graph: &SdfGraph, n: NodeId) -> String {
    let node = graph.node(n);
    let weights = |w: &[u32]| {
        if w.windows(2).all(|p| p[0] == p[1]) {
            format!("{}", w.first().copied().unwrap_or(0))
        } else {
            text::shorten(&w.iter().map(u32::to_string).collect::<Vec<_>>().join(", "), 30)
        }
    };
    match &node.kind {
        NodeKind::Duplicate => "duplicate".into(),
        NodeKind::SplitRoundRobin(w) => format!("split {}", weights(w)),
        NodeKind::JoinRoundRobin(w) => format!("join {}", weights(w)),
        NodeKind::Filter { .. } if node.name.starts_with("anonymous") => "filter".into(),
        NodeKind::Filter { .. } => text::shorten(&graph.hierarchy[node.hier.index()].display, 34),
        _ => text::shorten(&node.name, 34),
    }
}

/// Lays out a graph.
pub fn layout(graph: &SdfGraph) -> Layout {
    let mut l = Layout { nodes: vec![None; graph.nodes.len()], ..Layout::default() };
    if graph.hierarchy.is_empty() {
        return l;
    }
    let node = |n: NodeId| sized(graph, What::Node(n));
    let root = part(graph, HierId(0));
    // the open ends stand around the program
    let end = |reader: bool| {
        let wanted = move |n: &NodeId| match &graph.node(*n).kind {
            NodeKind::Reader(e) => reader && *e == sluice_frontend::graph::Endpoint::Open,
            NodeKind::Writer(e) => !reader && *e == sluice_frontend::graph::Endpoint::Open,
            _ => false,
        };
        graph.hierarchy[0].nodes.iter().copied().find(wanted).map(node)
    };
    let mut column: Vec<Part> = end(true).into_iter().collect();
    column.push(root);
    column.extend(end(false));
    let whole = sized(graph, What::Stack(column));
    place(&mut l, &whole, 24.0, 24.0, false);
    l.size = (whole.size.0 + 48.0, whole.size.1 + 48.0);
    l
}

fn is_open_end(kind: &NodeKind) -> bool {
    use sluice_frontend::graph::Endpoint::Open;
    matches!(kind, NodeKind::Reader(Open) | NodeKind::Writer(Open))
}

fn part(graph: &SdfGraph, h: HierId) -> Part {
    let hier = &graph.hierarchy[h.index()];
    let node = |n: NodeId| sized(graph, What::Node(n));
    let own: Vec<NodeId> = hier.nodes.iter().copied().filter(|n| !is_open_end(&graph.node(*n).kind)).collect();
    let joiner = |n: &&NodeId| matches!(graph.node(**n).kind, NodeKind::JoinRoundRobin(_));
    let join = own.iter().find(joiner).copied().map(node);
    let split = own.iter().find(|n| !joiner(n)).copied().map(node);
    let inner = match hier.kind {
        StreamKind::Filter => {
            return own.first().map_or_else(|| sized(graph, What::Stack(Vec::new())), |n| node(*n));
        }
        StreamKind::Pipeline => What::Stack(children(graph, &hier.children)),
        StreamKind::SplitJoin => {
            let row = sized(graph, What::Row(children(graph, &hier.children)));
            What::Stack(split.into_iter().chain([row]).chain(join).collect())
        }
        StreamKind::FeedbackLoop => {
            let mut parts = hier.children.iter().map(|c| part(graph, *c));
            let body = parts.next();
            let back = parts.next().map(Box::new);
            let column = join.into_iter().chain(body).chain(split).collect();
            What::Loop(Box::new(sized(graph, What::Stack(column))), back)
        }
    };
    let inner = sized(graph, inner);
    sized(graph, What::Box(h, Box::new(inner)))
}

fn note(graph: &SdfGraph, text: String, left_out: &[HierId]) -> Part {
    sized(graph, What::Note(text, left_out.to_vec()))
}

fn children(graph: &SdfGraph, all: &[HierId]) -> Vec<Part> {
    if all.len() <= SHOWN {
        return all.iter().map(|c| part(graph, *c)).collect();
    }
    // runs of equal names keep their first two and their last
    let mut out = Vec::new();
    let mut i = 0;
    while i < all.len() {
        let name = &graph.hierarchy[all[i].index()].name;
        let hier_word = graph.hierarchy[all[i].index()].kind.keyword();
        let run = all[i..].iter().take_while(|c| graph.hierarchy[c.index()].name == *name).count();
        if run > 4 {
            out.push(part(graph, all[i]));
            out.push(part(graph, all[i + 1]));
            out.push(note(
                graph,
                format!(
                    "… {} more {}",
                    run - 3,
                    text::shorten(if name.starts_with("anonymous") { hier_word } else { name }, 24)
                ),
                &all[i + 2..i + run - 1],
            ));
            out.push(part(graph, all[i + run - 1]));
        } else {
            out.extend(all[i..i + run].iter().map(|c| part(graph, *c)));
        }
        i += run;
        if out.len() > 4 * SHOWN && i < all.len() {
            out.push(note(graph, format!("… {} more", all.len() - i), &all[i..]));
            break;
        }
    }
    out
}

/// A part with its size, from the sizes of what is in it.
fn sized(graph: &SdfGraph, what: What) -> Part {
    let widest = |ps: &[Part]| ps.iter().fold(0.0, |m: f64, p| m.max(p.size.0));
    let highest = |ps: &[Part]| ps.iter().fold(0.0, |m: f64, p| m.max(p.size.1));
    let between = |ps: &[Part], space: f64| space * ps.len().saturating_sub(1) as f64;
    let size = match &what {
        What::Node(n) => node_size(graph, *n),
        What::Note(t, _) => (text::width(t, 12.0) + 16.0, 30.0),
        What::Box(h, inner) => {
            let title = text::width(&title(graph, *h), 12.0) + 24.0;
            (inner.size.0.max(title) + 2.0 * PAD, inner.size.1 + TITLE + 2.0 * PAD)
        }
        What::Stack(ps) => (widest(ps), ps.iter().map(|p| p.size.1).sum::<f64>() + between(ps, GAP)),
        What::Row(ps) => (ps.iter().map(|p| p.size.0).sum::<f64>() + between(ps, SIDE), highest(ps)),
        What::Loop(f, b) => {
            let (bw, bh) = b.as_ref().map_or((40.0, 0.0), |b| b.size);
            (f.size.0 + 2.0 * SIDE + bw + 30.0, f.size.1.max(bh + 2.0 * GAP))
        }
    };
    Part { size, what }
}

/// The title of a composite's box.
pub fn title(graph: &SdfGraph, h: HierId) -> String {
    let hier = &graph.hierarchy[h.index()];
    if hier.name.starts_with("anonymous") { hier.kind.keyword().into() } else { text::shorten(&hier.display, 44) }
}

fn place(l: &mut Layout, p: &Part, x: f64, y: f64, up: bool) {
    let (w, h) = p.size;
    let here = Rect { x, y, w, h };
    match &p.what {
        What::Node(n) => l.nodes[n.index()] = Some(Placed { at: here, up }),
        What::Note(t, left_out) => l.notes.push((here, t.clone(), left_out.clone())),
        What::Box(id, inner) => {
            l.boxes.push((*id, here));
            l.box_of.insert(*id, here);
            place(l, inner, x + (w - inner.size.0) / 2.0, y + TITLE + PAD, up);
        }
        What::Stack(ps) => {
            let mut top = y;
            let order: Vec<&Part> = if up { ps.iter().rev().collect() } else { ps.iter().collect() };
            for p in order {
                place(l, p, x + (w - p.size.0) / 2.0, top, up);
                top += p.size.1 + GAP;
            }
        }
        What::Row(ps) => {
            let mut left = x;
            for p in ps {
                place(l, p, left, y + (h - p.size.1) / 2.0, up);
                left += p.size.0 + SIDE;
            }
        }
        What::Loop(f, b) => {
            place(l, f, x, y + (h - f.size.1) / 2.0, up);
            if let Some(b) = b {
                place(l, b, x + f.size.0 + 2.0 * SIDE, y + (h - b.size.1) / 2.0, !up);
            }
        }
    }
}
