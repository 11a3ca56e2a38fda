//! # rates
//!
//! Purpose: what `sluice rates` shows: for each stream its rates, repetitions and state, for each channel its buffer.
//! Input: an elaborated program. Output: a table, or the JSON document of docs/json.md.

use crate::document::columns;
use crate::io::item::{self, ItemType};
use serde::Serialize;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::ChannelId;
use sluice_frontend::typed::{DynamicRate, Rates};
use sluice_schedule::wording::count;

/// The document.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    program: String,
    streams: Vec<Stream>,
    channels: Vec<Channel>,
    totals: Totals,
}

#[derive(Debug, Serialize)]
struct Stream {
    id: String,
    stream: String,
    kind: &'static str,
    file: String,
    line: u32,
    peek: Option<u64>,
    pop: Option<u64>,
    push: Option<u64>,
    dynamic: Option<RangesJson>,
    prework: Option<RatesJson>,
    repetitions: u64,
    initial_firings: u64,
    island: Option<u32>,
    state: bool,
    input: String,
    output: String,
    buffer_items: Option<u64>,
    buffer_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct RatesJson {
    peek: u64,
    pop: u64,
    push: u64,
}

/// Ranges of the rates that a firing decides on: the least and the most, which may be open.
#[derive(Debug, Serialize)]
struct RangesJson {
    peek: Option<(u32, Option<u32>)>,
    pop: Option<(u32, Option<u32>)>,
    push: Option<(u32, Option<u32>)>,
}

#[derive(Debug, Serialize)]
struct Channel {
    id: String,
    from: String,
    to: String,
    item: String,
    produce: u64,
    consume: u64,
    peek: u64,
    initial_items: usize,
    feedback: bool,
    dynamic: bool,
    boundary_items: Option<u64>,
    buffer_items: Option<u64>,
    buffer_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Totals {
    streams: usize,
    channels: usize,
    firings: Option<u64>,
    buffer_items: Option<u64>,
    buffer_bytes: Option<u64>,
    dynamic: bool,
    islands: Option<usize>,
}

/// Items and bytes of a buffer, where they are known.
type Size = (Option<u64>, Option<u64>);

/// Collects the document.
pub fn report(program: &Elaborated, map: &sluice_grammar::span::SourceMap) -> Report {
    let (graph, steady) = (&program.graph, &program.steady);
    let code = |id: sluice_frontend::ids::CodeId| program.codes.get(id.index());
    let islands = steady.islands.as_ref();
    let dynamic = islands.is_some();
    // what a steady state bounds
    let bounded = |id: ChannelId| {
        let c = graph.channel(id);
        !c.dynamic && islands.is_none_or(|i| !i.fed[i.of[c.from.0.index()] as usize])
    };
    let buffer = |id: ChannelId| -> Size {
        let items = if bounded(id) { steady.capacity(graph, id, 1) } else { None };
        let size = ItemType::of(&graph.channel(id).ty, &program.globals).map(|t| t.bytes as u64);
        (items, items.zip(size).and_then(|(n, s)| n.checked_mul(s)))
    };
    let channels: Vec<Channel> = graph
        .channel_ids()
        .map(|id| {
            let c = graph.channel(id);
            let (buffer_items, buffer_bytes) = buffer(id);
            Channel {
                id: id.to_string(),
                from: graph.node(c.from.0).path.clone(),
                to: graph.node(c.to.0).path.clone(),
                item: item::name(&c.ty, &program.globals),
                produce: c.produce.into(),
                consume: c.consume.into(),
                peek: c.peek.into(),
                initial_items: c.initial.len(),
                feedback: c.feedback,
                dynamic: c.dynamic,
                boundary_items: bounded(id).then(|| steady.boundary_fill[id.index()]),
                buffer_items,
                buffer_bytes,
            }
        })
        .collect();
    let sum = |f: fn(&Channel) -> Option<u64>| channels.iter().try_fold(0u64, |total, c| total.checked_add(f(c)?));
    let streams: Vec<Stream> = graph
        .node_ids()
        .map(|id| {
            let n = graph.node(id);
            let at = map.line_col(n.span.file, n.span.start);
            let sides = |ids: &[ChannelId], amount: &dyn Fn(ChannelId) -> u32| {
                ids.iter().map(|c| u64::from(amount(*c))).sum::<u64>()
            };
            let (kind, state, prework) = match &n.kind {
                NodeKind::Filter { stateful, prework, .. } => ("filter", *stateful, *prework),
                NodeKind::Identity => ("identity", false, None),
                NodeKind::Duplicate => ("duplicate", false, None),
                NodeKind::SplitRoundRobin(_) => ("splitter", false, None),
                NodeKind::JoinRoundRobin(_) => ("joiner", false, None),
                NodeKind::Reader(_) => ("reader", false, None),
                NodeKind::Writer(_) => ("writer", false, None),
            };
            let moving = match n.kind {
                NodeKind::Filter { code: id, .. } => code(id).and_then(|c| c.work.dynamic),
                _ => None,
            };
            let rate = |is_dynamic: bool, n: u64| (!is_dynamic).then_some(n);
            let ty = |ids: &[ChannelId]| {
                ids.first().map_or("void".to_string(), |c| item::name(&graph.channel(*c).ty, &program.globals))
            };
            // The buffers it reads from are counted as its own.
            let own: Vec<_> = n.inputs.iter().map(|c| buffer(*c)).collect();
            let total = |f: fn(&Size) -> Option<u64>| own.iter().try_fold(0u64, |t, b| t.checked_add(f(b)?));
            Stream {
                id: id.to_string(),
                stream: n.path.clone(),
                kind,
                file: map.file(n.span.file).name.clone(),
                line: at.line,
                peek: rate(moving.is_some_and(|d| d.peek.is_some()), sides(&n.inputs, &|c| graph.channel(c).peek)),
                pop: rate(moving.is_some_and(|d| d.pop.is_some()), sides(&n.inputs, &|c| graph.channel(c).consume)),
                push: rate(moving.is_some_and(|d| d.push.is_some()), sides(&n.outputs, &|c| graph.channel(c).produce)),
                dynamic: moving.map(|d| {
                    let range = |r: Option<DynamicRate>| r.map(|r| (r.min, r.max));
                    RangesJson { peek: range(d.peek), pop: range(d.pop), push: range(d.push) }
                }),
                prework: prework.map(|Rates { peek, pop, push }| RatesJson {
                    peek: peek.into(),
                    pop: pop.into(),
                    push: push.into(),
                }),
                repetitions: steady.repetitions[id.index()],
                initial_firings: steady.init[id.index()],
                island: islands.map(|i| i.of[id.index()]),
                state,
                input: ty(&n.inputs),
                output: ty(&n.outputs),
                buffer_items: total(|b| b.0),
                buffer_bytes: total(|b| b.1),
            }
        })
        .collect();
    let totals = Totals {
        streams: streams.len(),
        channels: channels.len(),
        firings: if dynamic { None } else { steady.repetitions.iter().try_fold(0u64, |t, r| t.checked_add(*r)) },
        islands: islands.map(|i| i.quota.len()),
        buffer_items: sum(|c| c.buffer_items),
        buffer_bytes: sum(|c| c.buffer_bytes),
        dynamic,
    };
    let name = graph.hierarchy.first().map_or(String::new(), |h| h.display.clone());
    Report { schema: "sluice-rates-1", program: name, streams, channels, totals }
}

/// A rate as it is written: a number, `*`, or a range.
fn cell(rate: Option<u64>, range: Option<(u32, Option<u32>)>) -> String {
    match (rate, range) {
        (Some(n), None) => n.to_string(),
        (_, Some((0, None)) | None) => "*".into(),
        (_, Some((min, max))) => format!("[{min},{}]", max.map_or("*".into(), |m| m.to_string())),
    }
}

/// A declared range.
type Range = Option<(u32, Option<u32>)>;

/// A table for people.
pub fn table(report: &Report) -> String {
    const HEAD: [&str; 11] =
        ["stream", "kind", "peek", "pop", "push", "init", "reps", "island", "state", "buffer", "bytes"];
    let number = |n: Option<u64>| n.map_or("*".to_string(), |n| n.to_string());
    let mut rows: Vec<[String; 11]> = vec![HEAD.map(String::from)];
    for s in &report.streams {
        let range = |f: fn(&RangesJson) -> Range| s.dynamic.as_ref().and_then(f);
        let same = s.peek == s.pop || range(|d| d.pop).is_some() && range(|d| d.peek).is_none();
        let peek = if same { "".to_string() } else { cell(s.peek, range(|d| d.peek)) };
        let side = |rate: String, ty: &str| if ty == "void" { String::new() } else { rate };
        let buffer = |n: Option<u64>| if s.input == "void" { String::new() } else { number(n) };
        rows.push([
            s.stream.clone(),
            s.kind.to_string(),
            peek,
            side(cell(s.pop, range(|d| d.pop)), &s.input),
            side(cell(s.push, range(|d| d.push)), &s.output),
            s.initial_firings.to_string(),
            s.repetitions.to_string(),
            s.island.map_or(String::new(), |i| i.to_string()),
            if s.state { "state".into() } else { String::new() },
            buffer(s.buffer_items),
            buffer(s.buffer_bytes),
        ]);
    }
    // a program without dynamic rates has no islands
    let island = 7;
    let mut rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    if !report.totals.dynamic {
        rows.iter_mut().for_each(|r| drop(r.remove(island)));
    }
    let state = if report.totals.dynamic { 8 } else { 7 };
    let mut text = columns(&rows, &[0, 1, state]);
    let t = &report.totals;
    let sizes =
        [count(t.streams as u64, "stream", "streams"), count(t.channels as u64, "channel", "channels")].join(", ");
    if let Some(islands) = t.islands {
        let islands = if islands == 1 {
            "1 island".into()
        } else {
            format!("{islands} islands, each with repetitions of its own")
        };
        text.push_str(&format!("\n{sizes}; {islands}\n* depends on the data\n"));
        return text;
    }
    text.push_str(&format!(
        "\n{sizes}; a steady state has {} firings; buffers hold {} items in {} bytes\n",
        number(t.firings),
        number(t.buffer_items),
        number(t.buffer_bytes)
    ));
    text
}
