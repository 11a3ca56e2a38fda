//! # picture
//!
//! Purpose: the stream graph and the schedule as SVG beside the text. Input: a view. Output: the picture, and for each element of it with an identity (`id="n3"` of
//! a node, `data-task="2"` of a bar) the place that it stands for, so that a client can go from one to the other. docs/lsp.md describes the messages.

use super::diagnostics::location;
use super::facts::interval;
use crate::world::scheduled::Scheduled;
use crate::world::view::{Known, View};
use serde::{Deserialize, Serialize};
use sluice_frontend::ids::NodeId;
use sluice_grammar::span::Span;
use tower_lsp::lsp_types::{Location, TextDocumentIdentifier};

/// What a client asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// A document of the program.
    pub text_document: TextDocumentIdentifier,
    /// Of a schedule: another method than the fast one that is at hand, by its name on the command line.
    #[serde(default)]
    pub method: Option<String>,
}

/// A picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    /// SVG.
    pub svg: String,
    /// What its elements stand for.
    pub nodes: Vec<Node>,
    /// Is it of the text before the last changes?
    pub stale: bool,
    /// The entry, for people.
    pub title: String,
    /// A line about it.
    pub summary: String,
}

/// An element of a picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Node {
    /// `n3` for the element with that `id`; `2` for those with that `data-task`.
    pub id: String,
    /// The path of the stream, or the name of the task.
    pub name: String,
    /// Where the `add` (`split`, `join`) stands that made it; none where that was changed since, or is in a file that cannot be opened.
    #[serde(flatten)]
    pub location: Option<Location>,
    /// The header of its declaration.
    pub declaration: Option<Location>,
}

/// The graph of the last program without errors.
pub fn graph(view: &View) -> Option<Picture> {
    let known = view.good.as_ref()?;
    let program = known.program()?;
    let svg = sluice_picture::graph_svg::svg(&program.graph, &program.steady);
    let nodes = program.graph.node_ids().map(|n| element(view, known, n, n.to_string())).collect();
    let title = program.graph.hierarchy.first().map_or(String::new(), |h| h.display.clone());
    let summary = sluice_schedule::wording::count(program.graph.nodes.len() as u64, "node", "nodes");
    Some(Picture { svg, nodes, stale: !known.current, title, summary })
}

fn element(view: &View, known: &Known, n: NodeId, id: String) -> Node {
    let Some(program) = known.program() else {
        return Node { id, name: String::new(), location: None, declaration: None };
    };
    let node = program.graph.node(n);
    let at = |span: Span| known.now(span).and_then(|s| location(view, s));
    let declared = program.graph.hierarchy[node.hier.index()].decl;
    Node { id, name: node.path.clone(), location: at(node.span), declaration: at(declared) }
}

/// A schedule as a chart.
pub fn schedule(view: &View, of: &std::sync::Arc<Scheduled>) -> Result<Picture, String> {
    let s = of.result.as_ref().map_err(Clone::clone)?;
    let problem = &s.plan.problem;
    // where places are now is asked of the analysis that the schedule is of
    let known = Known::new(of.of.clone(), &view.syntax);
    let program = known.program().ok_or("the program has errors")?;
    let entry = program.graph.hierarchy.first().map_or("", |h| h.display.as_str());
    let ii = s.outcome.verified.schedule().ii;
    let heading =
        format!("{entry} on {}: an iteration every {ii} cycles ({})", s.machine.name, s.outcome.method.name());
    let svg = sluice_picture::gantt_svg::svg(problem, &s.outcome.verified, &s.plan.bounds, s.machine.kind, &heading);
    let tasks = problem.graph().tasks.iter().enumerate();
    let nodes =
        tasks.map(|(t, task)| Node { name: task.name.clone(), ..element(view, &known, task.nodes[0], t.to_string()) });
    let summary = interval(&View {
        schedule: Some(crate::world::view::KnownSchedule { of: of.clone(), current: known.current }),
        ..view.clone()
    });
    let title = entry.to_string();
    Ok(Picture { svg, nodes: nodes.collect(), stale: !known.current, title, summary: summary.unwrap_or_default() })
}
