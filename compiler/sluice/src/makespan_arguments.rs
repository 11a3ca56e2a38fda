//! Options of `sluice makespan`.

use crate::choices::RatesArg;
use clap::{Args, ValueEnum};
use sluice_driver::exit::Fault;
use sluice_driver::makespan::{Config, MakespanOptions, Method, SECONDS};

#[derive(Args, Debug)]
pub struct MakespanArgs {
    /// The kernel: L and C, one letter for each instruction
    #[arg(long, value_name = "STRING")]
    kernel: Option<String>,
    /// W: warps on the multiprocessor
    #[arg(long, value_name = "W")]
    warps: Option<u64>,
    /// Load/store units [default: as many as a warp has threads]
    #[arg(long, value_name = "L")]
    ls_units: Option<u64>,
    /// Cores [default: as many as a warp has threads]
    #[arg(long, value_name = "C")]
    cores: Option<u64>,
    /// Threads of a warp [default: 32]
    #[arg(long, value_name = "S")]
    warp_size: Option<u64>,
    /// A TOML file that says what the options above do not
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// How it is computed
    #[arg(long, value_enum, default_value_t)]
    method: MethodArg,
    /// Of `estimate`: the exact worst cases of 1 to X warps are used; by default those that are cheap
    #[arg(long, value_name = "X", value_parser = clap::value_parser!(u32).range(1..))]
    x: Option<u32>,
    /// When to stop
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = SECONDS)]
    time_limit: f64,
    /// Show the schedule that takes so long, too
    #[arg(long)]
    schedule: bool,
    /// Draw that schedule
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,
    /// How to show it
    #[arg(long, value_enum, default_value_t)]
    format: RatesArg,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MethodArg {
    /// What fits into the time, among the sound ones: exact, or a proven bracket
    #[default]
    Auto,
    /// Exact, by a dynamic programme over counts of warps
    Exact,
    /// A bound by formula
    Pessimistic,
    /// The paper's integer program with short constraints
    IlpShort,
    /// The paper's integer program with long constraints
    IlpLong,
    /// The paper's estimate, which is NOT a bound
    Estimate,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|x| (0.001..=86_400.0).contains(x));
    seconds.ok_or_else(|| "not a number of seconds between 0.001 and 86400".to_string())
}

impl MakespanArgs {
    pub fn options(self) -> Result<MakespanOptions, Fault> {
        if self.x.is_some() && self.method != MethodArg::Estimate {
            return Err(Fault::usage("--x is for --method estimate").coded("E0991"));
        }
        Ok(MakespanOptions {
            config: self.config,
            given: Config {
                kernel: self.kernel,
                warps: self.warps,
                ls_units: self.ls_units,
                cores: self.cores,
                warp_size: self.warp_size,
            },
            method: match self.method {
                MethodArg::Auto => Method::Auto,
                MethodArg::Exact => Method::Exact,
                MethodArg::Pessimistic => Method::Pessimistic,
                MethodArg::IlpShort => Method::IlpShort,
                MethodArg::IlpLong => Method::IlpLong,
                MethodArg::Estimate => Method::Estimate(self.x),
            },
            seconds: self.time_limit,
            schedule: self.schedule,
            svg: self.svg,
            json: matches!(self.format, RatesArg::Json),
        })
    }
}
