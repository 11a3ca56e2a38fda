//! Arguments of `sluice schedule`.

use crate::numbers::whole;
use clap::{Args, ValueEnum};
use sluice_driver::scheduling::{Format, Grain, Method, ScheduleOptions};

/// What is scheduled for which machine, and how.
#[derive(Args, Debug)]
pub struct ScheduleArgs {
    /// Schedule for so many processors instead of the machine's own number
    #[arg(short, long, value_name = "P", value_parser = whole::<u32>(1..=1 << 20))]
    processors: Option<u32>,
    /// The machine: h200 (the default), a100, 8800-gts-512, cpu (this computer's), or a TOML file
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// What firings cost: measured, as `sluice profile` has written it; or `none`, counted in the kernel IR. By default, for --machine cpu, the
    /// program's profile in the cache, where there is one
    #[arg(long, value_name = "FILE")]
    profile: Option<String>,
    /// The scheduler
    #[arg(long, value_enum, default_value = "hms", conflicts_with_all = ["compare", "pareto"])]
    method: MethodArg,
    /// Cut the program into so many instances for each processor, or more; by default as few as fill the processors evenly
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=4096))]
    per_processor: Option<u64>,
    /// Make each firing an instance, and each steady state an iteration
    #[arg(long, conflicts_with = "per_processor")]
    firings: bool,
    /// Fail where no schedule with an initiation interval of so many cycles or less is found
    #[arg(long, value_name = "CYCLES", value_parser = whole::<u64>(0..=u64::MAX), conflicts_with = "pareto")]
    require_ii: Option<u64>,
    /// Seconds that the integer program may take
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    time_limit: f64,
    /// Show all schedulers side by side
    #[arg(long, conflicts_with = "pareto")]
    compare: bool,
    /// Show what throughput costs in channel memory and latency
    #[arg(long)]
    pareto: bool,
    /// Show the innermost loops of the filters instead: cycles of a turn, without and with software pipelining
    #[arg(long, conflicts_with_all = ["compare", "pareto", "processors", "machine", "method", "per_processor", "firings", "require_ii"])]
    loops: bool,
    /// How to show it
    #[arg(long, value_enum, default_value_t)]
    format: FormatArg,
    /// File to write; by default standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

/// What a page shows.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Schedule for so many processors instead of the machine's own number
    #[arg(short, long, value_name = "P", value_parser = whole::<u32>(1..=1 << 20))]
    processors: Option<u32>,
    /// The machine: h200 (the default), a100, 8800-gts-512, cpu (this computer's), or a TOML file
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// What firings cost: measured, as `sluice profile` has written it; or `none`, counted in the kernel IR. By default, for --machine cpu, the
    /// program's profile in the cache, where there is one
    #[arg(long, value_name = "FILE")]
    profile: Option<String>,
    /// The scheduler
    #[arg(long, value_enum, default_value = "hms")]
    method: MethodArg,
    /// File to write; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: String,
}

impl ReportArgs {
    /// As the driver takes them.
    pub fn options(self) -> ScheduleOptions {
        ScheduleOptions {
            machine: self.machine,
            processors: self.processors,
            profile: self.profile,
            grain: Grain::Auto,
            method: self.method.method(),
            require_ii: None,
            time_limit: 20.0,
            format: Format::Text,
            compare: false,
            pareto: false,
            loops: false,
            output: Some(self.output),
        }
    }
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s <= 1e6 => Ok(s),
        _ => Err("not a number of seconds above 0, up to 1000000".into()),
    }
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum MethodArg {
    /// Single appearance, on one processor
    Sas,
    /// Minimum latency, on one processor
    MinLatency,
    /// Modulo scheduling in one pass
    Flat,
    /// Iterative modulo scheduling
    Ims,
    /// Slack-based modulo scheduling
    Slack,
    /// Hierarchical modulo scheduling
    Hms,
    /// The integer program, solved with CBC
    Ilp,
}

impl MethodArg {
    fn method(self) -> Method {
        match self {
            MethodArg::Sas => Method::Sas,
            MethodArg::MinLatency => Method::MinLatency,
            MethodArg::Flat => Method::Flat,
            MethodArg::Ims => Method::Ims,
            MethodArg::Slack => Method::Slack,
            MethodArg::Hms => Method::Hms,
            MethodArg::Ilp => Method::Ilp,
        }
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum FormatArg {
    /// For people
    #[default]
    Text,
    /// One document, as docs/json.md describes
    Json,
    /// A chart of the kernel; with --pareto, of the points
    Svg,
}

impl ScheduleArgs {
    /// As the driver takes them.
    pub fn options(self) -> ScheduleOptions {
        ScheduleOptions {
            machine: self.machine,
            processors: self.processors,
            profile: self.profile,
            grain: match self.per_processor {
                _ if self.firings => Grain::Firing,
                None => Grain::Auto,
                Some(n) => Grain::PerProcessor(n),
            },
            method: self.method.method(),
            require_ii: self.require_ii,
            time_limit: self.time_limit,
            format: match self.format {
                FormatArg::Text => Format::Text,
                FormatArg::Json => Format::Json,
                FormatArg::Svg => Format::Svg,
            },
            compare: self.compare,
            pareto: self.pareto,
            loops: self.loops,
            output: self.output,
        }
    }
}
