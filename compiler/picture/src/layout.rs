//! Where everything goes: pipelines stacked, splitjoins side by side, loops with their way back at the right, drawn upwards.
//!
//! Takes the graph's hierarchy, gives boxes and node places in pixels. Branches beyond a limit that look like their neighbours
//! are left out; a note takes their place.

use crate::text;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::*;
use sluice_grammar::ast::StreamKind;

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
    /// Notes that stand for branches left out.
    pub notes: Vec<(Rect, String)>,
    /// Size of it all.
    pub size: (f64, f64),
}

enum Part {
    Node(NodeId),
    Note(String),
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
    let root = part(graph, HierId(0));
    // the open ends stand around the program
    let end = |reader: bool| {
        let wanted = move |n: &NodeId| match &graph.node(*n).kind {
            NodeKind::Reader(e) => reader && *e == sluice_frontend::graph::Endpoint::Open,
            NodeKind::Writer(e) => !reader && *e == sluice_frontend::graph::Endpoint::Open,
            _ => false,
        };
        graph.hierarchy[0].nodes.iter().copied().find(wanted).map(Part::Node)
    };
    let mut column: Vec<Part> = end(true).into_iter().collect();
    column.push(root);
    column.extend(end(false));
    let whole = Part::Stack(column);
    let (w, h) = measure(graph, &whole);
    place(graph, &mut l, &whole, 24.0, 24.0, false);
    l.size = (w + 48.0, h + 48.0);
    l
}

fn is_open_end(kind: &NodeKind) -> bool {
    use sluice_frontend::graph::Endpoint::Open;
    matches!(kind, NodeKind::Reader(Open) | NodeKind::Writer(Open))
}

fn part(graph: &SdfGraph, h: HierId) -> Part {
    let hier = &graph.hierarchy[h.index()];
    let own: Vec<NodeId> = hier.nodes.iter().copied().filter(|n| !is_open_end(&graph.node(*n).kind)).collect();
    let joiner = |n: &&NodeId| matches!(graph.node(**n).kind, NodeKind::JoinRoundRobin(_));
    let join = own.iter().find(joiner).copied().map(Part::Node);
    let split = own.iter().find(|n| !joiner(n)).copied().map(Part::Node);
    let inner = match hier.kind {
        StreamKind::Filter => return own.first().map_or(Part::Stack(Vec::new()), |n| Part::Node(*n)),
        StreamKind::Pipeline => Part::Stack(children(graph, &hier.children)),
        StreamKind::SplitJoin => {
            let row = Part::Row(children(graph, &hier.children));
            Part::Stack(split.into_iter().chain([row]).chain(join).collect())
        }
        StreamKind::FeedbackLoop => {
            let mut parts = hier.children.iter().map(|c| part(graph, *c));
            let body = parts.next();
            let back = parts.next().map(Box::new);
            let column = join.into_iter().chain(body).chain(split).collect();
            Part::Loop(Box::new(Part::Stack(column)), back)
        }
    };
    Part::Box(h, Box::new(inner))
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
            out.push(Part::Note(format!(
                "… {} more {}",
                run - 3,
                text::shorten(if name.starts_with("anonymous") { hier_word } else { name }, 24)
            )));
            out.push(part(graph, all[i + run - 1]));
        } else {
            out.extend(all[i..i + run].iter().map(|c| part(graph, *c)));
        }
        i += run;
        if out.len() > 4 * SHOWN && i < all.len() {
            out.push(Part::Note(format!("… {} more", all.len() - i)));
            break;
        }
    }
    out
}

fn measure(graph: &SdfGraph, p: &Part) -> (f64, f64) {
    match p {
        Part::Node(n) => node_size(graph, *n),
        Part::Note(t) => (text::width(t, 12.0) + 16.0, 30.0),
        Part::Box(h, inner) => {
            let (w, height) = measure(graph, inner);
            let title = text::width(&title(graph, *h), 12.0) + 24.0;
            (w.max(title) + 2.0 * PAD, height + TITLE + 2.0 * PAD)
        }
        Part::Stack(ps) => {
            let sizes: Vec<_> = ps.iter().map(|p| measure(graph, p)).collect();
            let w = sizes.iter().fold(0.0, |m: f64, s| m.max(s.0));
            (w, sizes.iter().map(|s| s.1).sum::<f64>() + GAP * sizes.len().saturating_sub(1) as f64)
        }
        Part::Row(ps) => {
            let sizes: Vec<_> = ps.iter().map(|p| measure(graph, p)).collect();
            let h = sizes.iter().fold(0.0, |m: f64, s| m.max(s.1));
            (sizes.iter().map(|s| s.0).sum::<f64>() + SIDE * sizes.len().saturating_sub(1) as f64, h)
        }
        Part::Loop(f, b) => {
            let (fw, fh) = measure(graph, f);
            let (bw, bh) = b.as_ref().map_or((40.0, 0.0), |b| measure(graph, b));
            (fw + 2.0 * SIDE + bw + 30.0, fh.max(bh + 2.0 * GAP))
        }
    }
}

/// The title of a composite's box.
pub fn title(graph: &SdfGraph, h: HierId) -> String {
    let hier = &graph.hierarchy[h.index()];
    if hier.name.starts_with("anonymous") { hier.kind.keyword().into() } else { text::shorten(&hier.display, 44) }
}

fn place(graph: &SdfGraph, l: &mut Layout, p: &Part, x: f64, y: f64, up: bool) {
    let (w, h) = measure(graph, p);
    match p {
        Part::Node(n) => l.nodes[n.index()] = Some(Placed { at: Rect { x, y, w, h }, up }),
        Part::Note(t) => l.notes.push((Rect { x, y, w, h }, t.clone())),
        Part::Box(id, inner) => {
            l.boxes.push((*id, Rect { x, y, w, h }));
            let (iw, _) = measure(graph, inner);
            place(graph, l, inner, x + (w - iw) / 2.0, y + TITLE + PAD, up);
        }
        Part::Stack(ps) => {
            let mut top = y;
            let order: Vec<&Part> = if up { ps.iter().rev().collect() } else { ps.iter().collect() };
            for p in order {
                let (pw, ph) = measure(graph, p);
                place(graph, l, p, x + (w - pw) / 2.0, top, up);
                top += ph + GAP;
            }
        }
        Part::Row(ps) => {
            let mut left = x;
            for p in ps {
                let (pw, ph) = measure(graph, p);
                place(graph, l, p, left, y + (h - ph) / 2.0, up);
                left += pw + SIDE;
            }
        }
        Part::Loop(f, b) => {
            let (fw, fh) = measure(graph, f);
            place(graph, l, f, x, y + (h - fh) / 2.0, up);
            if let Some(b) = b {
                let (_, bh) = measure(graph, b);
                place(graph, l, b, x + fw + 2.0 * SIDE, y + (h - bh) / 2.0, !up);
            }
        }
    }
}
