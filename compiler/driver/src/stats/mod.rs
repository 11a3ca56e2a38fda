//! # stats
//!
//! Purpose: what `sluice run --stats` shows: firings, items and time of each stream, the highest fill of each channel, how the run went as a
//! whole. Input: counts of a native run or of the interpreter. Output: a table, or the JSON document of docs/json.md.
//!
//! Both ways of running count the same firings and items. Time, batches and fills are those of the way that ran.

mod report;
mod table;
pub mod watch;

use crate::exit::Fault;
use crate::io::sink::{SharedOut, Sink};
use crate::native_stats::NativeStats;
use crate::session;
use sluice_codegen::c::fills::Fills;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_grammar::span::SourceMap;

/// Rows of the table, where nothing else is said.
pub const ROWS: usize = 30;

/// How statistics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StatsFormat {
    /// For people.
    #[default]
    Table,
    /// One JSON document on one line, as docs/json.md describes.
    Json,
}

/// The order of the table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StatsSort {
    /// The longest time first.
    #[default]
    Time,
    /// As in the program.
    Program,
}

/// How statistics are shown.
#[derive(Clone, Debug, Default)]
pub struct StatsOptions {
    /// How.
    pub format: StatsFormat,
    /// In which order.
    pub sort: StatsSort,
    /// Streams in the table at most; `None`: all.
    pub rows: Option<usize>,
    /// Where to; without, standard error.
    pub output: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its input, or after the iterations asked for.
    Complete,
    /// Someone stopped it.
    Stopped,
    /// With a fault.
    Failed,
}

/// What was counted. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// By node.
    pub streams: Vec<StreamCount>,
    /// By channel: the most items at once.
    pub highest: Vec<u64>,
    /// Whole steady states.
    pub steady_states: u64,
    /// The whole run.
    pub total: f64,
    /// In the host: reading, which includes waiting for input.
    pub reading: f64,
    /// In the host: writing and printing.
    pub writing: f64,
    /// What measuring itself took, as far as that is known.
    pub measuring: f64,
    /// How native code ran; `None` for the interpreter.
    pub batches: Option<Batches>,
}

/// Of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamCount {
    /// Firings.
    pub firings: u64,
    /// Items that left its input channels.
    pub items_in: u64,
    /// Items that it put onto its output channels.
    pub items_out: u64,
    /// Attempts that were abandoned, because an item was missing.
    pub abandoned: u64,
    /// Calls of its code: one for many firings in native code.
    pub calls: u64,
    /// Time in its code.
    pub time: f64,
}

/// How native code ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    /// Batches of the fast way.
    pub fast: u64,
    /// Their steady states.
    pub fast_steady_states: u64,
    /// Steady states of the largest.
    pub largest: u64,
    /// Steady states begun slowly.
    pub slow_steady_states: u64,
    /// Batches undone because of a fault.
    pub undone: u64,
}

/// Items in and out of a stream after so many firings.
fn items(graph: &SdfGraph, id: NodeId, firings: u64) -> (u64, u64) {
    let node = graph.node(id);
    let sum = |all: &mut dyn Iterator<Item = (u32, u32)>| {
        all.map(|(first, each)| match firings {
            0 => 0,
            n => u64::from(first).saturating_add(u64::from(each).saturating_mul(n - 1)),
        })
        .fold(0, u64::saturating_add)
    };
    let taken = |c: &_| (graph.consumed_by_firing(*c, 0), graph.consumed_by_firing(*c, 1));
    let given = |c: &_| (graph.produced_by_firing(*c, 0), graph.produced_by_firing(*c, 1));
    (sum(&mut node.inputs.iter().map(taken)), sum(&mut node.outputs.iter().map(given)))
}

/// The counts of a native run.
pub fn of_native(program: &Elaborated, raw: NativeStats, fills: Option<&Fills>) -> Counted {
    let graph = &program.graph;
    let count = |id: NodeId| {
        let s = raw.streams.get(id.index()).copied().unwrap_or_default();
        let (items_in, items_out) = if graph.is_dynamic(id) { (s.taken, s.given) } else { items(graph, id, s.firings) };
        StreamCount { firings: s.firings, items_in, items_out, abandoned: s.abandoned, calls: s.calls, time: s.time }
    };
    let mut highest = raw.highest;
    if let (Some(fills), true) = (fills, raw.largest_batch > 0) {
        let fast = fills.highest(graph, &program.steady, raw.largest_batch);
        highest.iter_mut().zip(fast).for_each(|(slow, fast)| *slow = fast.max(*slow));
    }
    let streams: Vec<StreamCount> = graph.node_ids().map(count).collect();
    let calls: u64 = streams.iter().map(|s| s.calls).sum();
    Counted {
        highest,
        steady_states: raw.steady_states,
        total: raw.total,
        reading: raw.host.0,
        writing: raw.host.1,
        measuring: calls as f64 * raw.clock,
        batches: Some(Batches {
            fast: raw.fast.0,
            fast_steady_states: raw.fast.1,
            largest: raw.largest_batch,
            slow_steady_states: raw.slow,
            undone: raw.undone,
        }),
        streams,
    }
}

/// Statistics that will be shown when the run is over.
pub struct Stats {
    options: StatsOptions,
    /// Without: standard error.
    sink: Option<Sink>,
}

impl Stats {
    /// Opens the file, so that a run does not end in vain.
    pub fn open(options: &StatsOptions, out: &SharedOut) -> Result<Stats, Fault> {
        let sink = options.output.as_deref().map(|path| Sink::open(path, out)).transpose()?;
        Ok(Stats { options: options.clone(), sink })
    }

    /// Writes what was counted.
    pub fn show(
        self,
        program: &Elaborated,
        sources: &SourceMap,
        counted: &Counted,
        ending: Ending,
    ) -> Result<(), Fault> {
        let report = report::report(program, sources, counted, ending);
        let text = match self.options.format {
            StatsFormat::Json => report::json(&report),
            StatsFormat::Table => table::table(&report, self.options.sort, self.options.rows),
        };
        match self.sink {
            None => session::say(&text),
            Some(mut sink) => {
                sink.write(text.as_bytes())?;
                sink.finish(&[])?;
            }
        }
        Ok(())
    }
}
