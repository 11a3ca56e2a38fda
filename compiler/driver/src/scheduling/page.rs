//! `sluice report`: one HTML page with the graph, the chart of the kernel, bounds, rates and source of a program.

use super::Planned;
use super::report::{Report, grouped};
use super::why::percent;
use crate::pipeline::Checked;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_grammar::span::FileId;
use sluice_picture::report_html::{Page, Row, html};
use sluice_picture::{gantt_svg, graph_svg};
use sluice_schedule::method::Outcome;

/// The page.
pub fn page(checked: &Checked, planned: &Planned, outcome: &Outcome, report: &Report) -> String {
    let (program, plan) = (&checked.program, &planned.plan);
    let files: Vec<FileId> = files(checked);
    let title = report.title();
    html(&Page {
        figures: report.figures().into_iter().chain([report.costs()]).collect(),
        bottleneck: report.bottleneck(),
        graph: graph_svg::svg(&program.graph, &program.steady),
        gantt: gantt_svg::svg(&plan.problem, &outcome.verified, &plan.bounds, planned.machine.kind, &title),
        sources: files.iter().map(|f| checked.sources.file(*f)).map(|f| (f.name.clone(), f.text.to_string())).collect(),
        nodes: program.graph.node_ids().map(|n| row(checked, planned, &files, n)).collect(),
        title,
    })
}

/// The files that nodes come from, in order.
fn files(checked: &Checked) -> Vec<FileId> {
    let mut files: Vec<FileId> = Vec::new();
    for n in &checked.program.graph.nodes {
        if !files.contains(&n.span.file) {
            files.push(n.span.file);
        }
    }
    files.sort_by_key(|f| f.0);
    files
}

fn row(checked: &Checked, planned: &Planned, files: &[FileId], n: NodeId) -> Row {
    let program = &checked.program;
    let node = program.graph.node(n);
    let problem = &planned.plan.problem;
    let tasks = &problem.graph().tasks;
    let task = tasks.iter().position(|t| t.nodes.contains(&n));
    let rate = |all: Vec<Option<u32>>| match all[..] {
        [] => "-".to_string(),
        _ => all.iter().map(|r| r.map_or("*".into(), |n| n.to_string())).collect::<Vec<_>>().join(" "),
    };
    let pops = rate(node.inputs.iter().map(|c| program.graph.takes(*c)).collect());
    let pushes = rate(node.outputs.iter().map(|c| program.graph.gives(*c)).collect());
    let peek = node.inputs.iter().map(|c| program.graph.channel(*c)).find(|c| c.peek > c.consume);
    let peek = peek.map_or(String::new(), |c| format!(" peek {}", c.peek));
    let place = checked.sources.line_col(node.span.file, node.span.start);
    let cycles = planned.plan.times.firing[n.index()];
    let share = task.map_or(String::new(), |t| {
        let own = tasks[t].cost.saturating_mul(tasks[t].instances);
        format!(", {} of the work", percent(own, problem.graph().work()))
    });
    Row {
        path: node.path.clone(),
        kind: match &node.kind {
            NodeKind::Filter { stateful: true, .. } => "filter, state",
            NodeKind::Filter { .. } => "filter",
            NodeKind::Identity => "identity",
            NodeKind::Duplicate => "duplicate",
            NodeKind::SplitRoundRobin(_) => "splitter",
            NodeKind::JoinRoundRobin(_) => "joiner",
            NodeKind::Reader(_) => "reader",
            NodeKind::Writer(_) => "writer",
        }
        .to_string(),
        rates: format!("pop {pops}{peek}, push {pushes}"),
        repetitions: program.steady.repetitions[n.index()],
        task,
        cost: format!("{}{share}", grouped(cycles)),
        place: files.iter().position(|f| *f == node.span.file).map(|f| (f, place.line)),
    }
}
