//! Statistics as a document.

use super::{Counted, Ending};
use crate::io::item;
use crate::streams::{self, Stream};
use serde::Serialize;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::NodeKind;
use sluice_grammar::span::SourceMap;

/// The document.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub schema: &'static str,
    pub program: String,
    pub mode: &'static str,
    pub ending: &'static str,
    pub steady_states: u64,
    pub fast_batches: Option<u64>,
    pub fast_steady_states: Option<u64>,
    pub largest_batch: Option<u64>,
    pub slow_steady_states: Option<u64>,
    pub undone_batches: Option<u64>,
    pub items_in: u64,
    pub items_out: u64,
    pub items_in_per_second: Option<f64>,
    pub items_out_per_second: Option<f64>,
    pub time: Times,
    pub streams: Vec<Counts>,
    pub channels: Vec<Channel>,
}

/// In nanoseconds.
#[derive(Debug, Serialize)]
pub(super) struct Times {
    pub total: u64,
    pub streams: u64,
    pub reading: u64,
    pub writing: u64,
    pub engine: u64,
    pub measuring: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Counts {
    #[serde(flatten)]
    pub stream: Stream,
    pub firings: u64,
    pub items_in: u64,
    pub items_out: u64,
    pub abandoned: u64,
    pub calls: u64,
    pub nanoseconds: u64,
    pub share: f64,
    /// The highest fill of its input channels.
    #[serde(skip)]
    pub fill: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Channel {
    pub id: String,
    pub from: String,
    pub to: String,
    pub item: String,
    pub highest_fill: u64,
}

/// Collects it.
pub(super) fn report(program: &Elaborated, sources: &SourceMap, counted: &Counted, ending: Ending) -> Report {
    let graph = &program.graph;
    let total = counted.total.max(1.0);
    let whole = |x: f64| x.max(0.0).round() as u64;
    let streams: Vec<Counts> = (streams::all(program, sources).into_iter())
        .zip(&counted.streams)
        .zip(&graph.nodes)
        .map(|((stream, c), node)| Counts {
            stream,
            firings: c.firings,
            items_in: c.items_in,
            items_out: c.items_out,
            abandoned: c.abandoned,
            calls: c.calls,
            nanoseconds: whole(c.time),
            share: (c.time / total * 1e4).round() / 1e4,
            fill: node.inputs.iter().map(|c| counted.highest[c.index()]).max(),
        })
        .collect();
    let ends = |reader: bool| -> u64 {
        let is = |k: &NodeKind| match k {
            NodeKind::Reader(_) => reader,
            NodeKind::Writer(_) => !reader,
            _ => false,
        };
        graph.nodes.iter().zip(&counted.streams).filter(|(n, _)| is(&n.kind)).map(|(_, c)| c.firings).sum()
    };
    let has = |reader: bool| {
        graph
            .nodes
            .iter()
            .any(|n| matches!((&n.kind, reader), (NodeKind::Reader(_), true) | (NodeKind::Writer(_), false)))
    };
    let speed = |reader: bool| has(reader).then(|| (ends(reader) as f64 * 1e9 / total).round());
    let of_streams: f64 = counted.streams.iter().map(|s| s.time).sum();
    let batches = counted.batches;
    Report {
        schema: "sluice-stats-1",
        program: graph.hierarchy.first().map_or(String::new(), |h| h.display.clone()),
        mode: if batches.is_some() { "native" } else { "interpreted" },
        ending: match ending {
            Ending::Complete => "complete",
            Ending::Stopped => "stopped",
            Ending::Failed => "failed",
        },
        steady_states: counted.steady_states,
        fast_batches: batches.map(|b| b.fast),
        fast_steady_states: batches.map(|b| b.fast_steady_states),
        largest_batch: batches.map(|b| b.largest),
        slow_steady_states: batches.map(|b| b.slow_steady_states),
        undone_batches: batches.map(|b| b.undone),
        items_in: ends(true),
        items_out: ends(false),
        items_in_per_second: speed(true),
        items_out_per_second: speed(false),
        time: Times {
            total: whole(counted.total),
            streams: whole(of_streams),
            reading: whole(counted.reading),
            writing: whole(counted.writing),
            engine: whole(counted.total - of_streams - counted.reading - counted.writing),
            measuring: batches.map(|_| whole(counted.measuring)),
        },
        streams,
        channels: (graph.channel_ids().zip(&counted.highest))
            .map(|(id, highest)| {
                let c = graph.channel(id);
                Channel {
                    id: id.to_string(),
                    from: graph.node(c.from.0).path.clone(),
                    to: graph.node(c.to.0).path.clone(),
                    item: item::name(&c.ty, &program.globals),
                    highest_fill: *highest,
                }
            })
            .collect(),
    }
}

/// One document on one line.
pub(super) fn json(report: &Report) -> String {
    let mut text = serde_json::to_string(report).unwrap_or_default();
    text.push('\n');
    text
}
