//! Options of `sluice run`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use sluice_driver::exit::Fault;
use sluice_driver::io::format::Format;
use sluice_driver::io::host::Bindings;
use sluice_driver::options::{RunOptions, ThreadsOptions};

use crate::choices::RunnerArg;
use crate::cuda_arguments::{CudaArgs, GpuArgs};
use crate::numbers::whole;
use crate::watch_arguments::{StatsArgs, TraceArgs};

/// Where items come from and go to, who makes the code, and how it runs.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// File for the entry's open input; `-` (the default) is standard input
    #[arg(short, long, value_name = "FILE")]
    input: Option<String>,
    /// File for the entry's open output; `-` (the default) is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Format of the input
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::all_names()))]
    input_format: Option<String>,
    /// Format of the output
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::all_names()))]
    output_format: Option<String>,
    /// Samples per second of a WAV output; by default those of a WAV input, else 48000
    #[arg(long, value_name = "HZ", value_parser = whole::<u32>(1..=u32::MAX.into()))]
    rate: Option<u32>,
    /// Channels of a WAV output; by default those of a WAV input, else 1 (2 for complex items)
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=64))]
    channels: Option<u16>,
    /// Run the initialisation and this many steady states, instead of until the input ends
    #[arg(short = 'n', long, value_name = "N", value_parser = whole::<u64>(0..=i64::MAX as u64))]
    iterations: Option<u64>,
    /// Interpret instead of compiling: the same as `--back-end interpret`
    #[arg(long)]
    interpret: bool,
    /// Who makes the code that runs [default: auto]
    #[arg(long, value_enum, value_name = "KIND")]
    back_end: Option<RunnerArg>,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    cuda: CudaArgs,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    stats: StatsArgs,
}

impl RunArgs {
    /// How the program is to run; a fault where options do not go together.
    pub fn options(self) -> Result<RunOptions, Fault> {
        self.no_clash()?;
        let (trace, stats, threads) = (self.trace.options(), self.stats.options(), self.threads.options());
        let back_end = self.back_end.unwrap_or_default();
        let interpret = self.interpret || matches!(back_end, RunnerArg::Interpret);
        let others = [
            (interpret, "--interpret"),
            (trace.is_some(), "--trace"),
            (stats.is_some(), "--stats"),
            (threads.is_some(), "--threads"),
            (matches!(back_end, RunnerArg::Jit), "--back-end jit"),
            (matches!(back_end, RunnerArg::Cc), "--back-end cc"),
        ];
        let cuda = self.cuda.run(self.gpu, &others)?;
        let format = |name: Option<String>| name.and_then(|n| Format::named(&n));
        Ok(RunOptions {
            bindings: Bindings {
                input_format: format(self.input_format),
                output_format: format(self.output_format),
                input: self.input,
                output: self.output,
                rate: self.rate,
                channels: self.channels,
                data: None,
                written: None,
            },
            iterations: self.iterations,
            interpret,
            back_end: back_end.back_end(),
            confinement: None,
            trace,
            stats,
            threads,
            cuda,
        })
    }
}

impl RunArgs {
    /// Refuses options that say two things about who makes the code; `auto` goes with all of them.
    fn no_clash(&self) -> Result<(), Fault> {
        let clash = |one: &str, other: &str, why: &str| {
            Err(Fault::usage(format!("{one} and {other} cannot be used together"))
                .help(format!("{why}: leave one of the two out")))
        };
        let kind = match self.back_end {
            Some(RunnerArg::Cc) => "--back-end cc",
            Some(RunnerArg::Jit) => "--back-end jit",
            Some(RunnerArg::Interpret) if self.threads.threads.is_some() => {
                return clash("--back-end interpret", "--threads", "the interpreter runs on one thread");
            }
            Some(RunnerArg::Interpret | RunnerArg::Auto) | None => return Ok(()),
        };
        if self.interpret {
            return clash("--interpret", kind, "`--interpret` is `--back-end interpret`");
        }
        if self.trace.is_asked() {
            return clash("--trace", kind, "it is the interpreter that shows what each firing does");
        }
        Ok(())
    }
}

#[derive(Args, Debug)]
struct ThreadsArgs {
    /// Run on up to this many threads; 0 for as many as there are processors
    #[arg(long, value_name = "N", conflicts_with_all = ["interpret", "trace", "stats"],
        value_parser = whole::<u16>(0..=256))]
    threads: Option<u16>,
    /// Steady states that threads hand each other at once; by default as many as fit a core's cache
    #[arg(long, value_name = "N", requires = "threads", value_parser = whole::<u64>(1..=1 << 32))]
    threads_batch: Option<u64>,
    /// Say on standard error how the program was cut into stages, and how that went
    #[arg(long, requires = "threads")]
    threads_report: bool,
}

impl ThreadsArgs {
    fn options(&self) -> Option<ThreadsOptions> {
        let threads = match self.threads? {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => usize::from(n),
        };
        Some(ThreadsOptions { threads, batch: self.threads_batch, turns: None, report: self.threads_report })
    }
}
