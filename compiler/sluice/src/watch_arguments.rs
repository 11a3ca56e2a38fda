//! Options of `sluice run` about watching it: traces and statistics.

use crate::numbers::whole;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use sluice_driver::stats::{self, StatsFormat, StatsOptions, StatsSort};
use sluice_driver::streams;
use sluice_driver::trace::{self, FiringRange, TraceFormat, TraceOptions};

/// What to show of each firing.
#[derive(Args, Debug)]
#[command(next_help_heading = "Trace")]
pub struct TraceArgs {
    /// Show each firing: what it popped, pushed, printed and sent. The interpreter runs then; the output is the same
    #[arg(long)]
    trace: bool,
    /// Show only streams of this name, path or pattern, and those in them; may be given several times
    #[arg(long, value_name = "PATTERN", requires = "trace")]
    trace_filter: Vec<String>,
    /// Show only streams of this kind; may be given several times
    #[arg(long, value_name = "KIND", requires = "trace", value_parser = PossibleValuesParser::new(streams::KINDS))]
    trace_kind: Vec<String>,
    /// Show only these firings of each stream, counted from 1: 7, 3..9, 3.. or ..9; may be given several times
    #[arg(long, value_name = "A..B", requires = "trace", value_delimiter = ',')]
    trace_firings: Vec<FiringRange>,
    /// Show so many firings at most; 0 for all
    #[arg(long, value_name = "N", requires = "trace", value_parser = whole::<u64>(0..=u64::MAX), default_value_t = trace::LIMIT)]
    trace_limit: u64,
    /// Show which fields changed, too
    #[arg(long, requires = "trace")]
    trace_state: bool,
    /// Show also attempts to fire that were abandoned because an item was missing (dynamic rates)
    #[arg(long, requires = "trace")]
    trace_attempts: bool,
    /// How to show it
    #[arg(long, value_enum, value_name = "FORMAT", requires = "trace", default_value_t)]
    trace_format: TraceArg,
    /// File for the trace, `-` for standard output; by default standard error
    #[arg(long, value_name = "FILE", requires = "trace")]
    trace_output: Option<String>,
}

/// What to count.
#[derive(Args, Debug)]
#[command(next_help_heading = "Statistics")]
pub struct StatsArgs {
    /// Show at the end firings, items and time of each stream, and how full channels were
    #[arg(long)]
    stats: bool,
    /// How to show it
    #[arg(long, value_enum, value_name = "FORMAT", requires = "stats", default_value_t)]
    stats_format: StatsArg,
    /// The order of the table
    #[arg(long, value_enum, value_name = "ORDER", requires = "stats", default_value_t)]
    stats_sort: SortArg,
    /// Streams in the table at most; 0 for all
    #[arg(long, value_name = "N", requires = "stats", value_parser = whole::<usize>(0..=u64::MAX), default_value_t = stats::ROWS)]
    stats_rows: usize,
    /// File for the statistics, `-` for standard output; by default standard error
    #[arg(long, value_name = "FILE", requires = "stats")]
    stats_output: Option<String>,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum TraceArg {
    /// For people
    #[default]
    Text,
    /// JSON lines, as docs/json.md describes
    Json,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum StatsArg {
    /// For people
    #[default]
    Table,
    /// One document, as docs/json.md describes
    Json,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum SortArg {
    /// The longest time first
    #[default]
    Time,
    /// As in the program
    Program,
}

impl TraceArgs {
    /// Is a trace asked for?
    pub fn is_asked(&self) -> bool {
        self.trace
    }

    /// The options, where a trace is asked for.
    pub fn options(self) -> Option<TraceOptions> {
        self.trace.then_some(TraceOptions {
            filters: self.trace_filter,
            kinds: self.trace_kind,
            firings: self.trace_firings,
            limit: (self.trace_limit > 0).then_some(self.trace_limit),
            state: self.trace_state,
            attempts: self.trace_attempts,
            format: match self.trace_format {
                TraceArg::Text => TraceFormat::Text,
                TraceArg::Json => TraceFormat::Json,
            },
            output: self.trace_output,
        })
    }
}

impl StatsArgs {
    /// The options, where statistics are asked for.
    pub fn options(self) -> Option<StatsOptions> {
        self.stats.then_some(StatsOptions {
            format: match self.stats_format {
                StatsArg::Table => StatsFormat::Table,
                StatsArg::Json => StatsFormat::Json,
            },
            sort: match self.stats_sort {
                SortArg::Time => StatsSort::Time,
                SortArg::Program => StatsSort::Program,
            },
            rows: (self.stats_rows > 0).then_some(self.stats_rows),
            output: self.stats_output,
        })
    }
}
