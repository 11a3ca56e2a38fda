//! Streams as traces and statistics name them: number, path, kind, and where they are declared.

use serde::Serialize;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_grammar::span::{SourceMap, Span};

/// The kinds of streams, as `sluice rates` names them.
pub const KINDS: [&str; 7] = ["filter", "identity", "duplicate", "splitter", "joiner", "reader", "writer"];

/// A stream of the flat graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stream {
    /// Such as `n3`.
    pub id: String,
    /// Its path, unique.
    #[serde(rename = "stream")]
    pub path: String,
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// Where it is declared (a filter), or stands (anything else).
    #[serde(flatten)]
    pub place: Place,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file's name as given.
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl Place {
    /// Where a span starts.
    pub fn of(sources: &SourceMap, span: Span) -> Place {
        let line = sources.line_col(span.file, span.start).line;
        Place { file: sources.file(span.file).name.clone(), line }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Which kind?
pub fn kind(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Filter { .. } => "filter",
        NodeKind::Identity => "identity",
        NodeKind::Duplicate => "duplicate",
        NodeKind::SplitRoundRobin(_) => "splitter",
        NodeKind::JoinRoundRobin(_) => "joiner",
        NodeKind::Reader(_) => "reader",
        NodeKind::Writer(_) => "writer",
    }
}

/// All streams of a program, in program order.
pub fn all(program: &Elaborated, sources: &SourceMap) -> Vec<Stream> {
    let stream = |id: NodeId| {
        let node = program.graph.node(id);
        let span = match node.kind {
            NodeKind::Filter { code, .. } => program.codes.get(code.index()).map_or(node.span, |c| c.span),
            _ => node.span,
        };
        Stream { id: id.to_string(), path: node.path.clone(), kind: kind(&node.kind), place: Place::of(sources, span) }
    };
    program.graph.node_ids().map(stream).collect()
}
