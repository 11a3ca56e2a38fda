//! Options of `sluice makespan`.

use crate::choices::RatesArg;
use crate::cuda_arguments::{GpuArgs, block_threads};
use crate::numbers::whole;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use sluice_driver::cuda::arch::Arch;
use sluice_driver::exit::Fault;
use sluice_driver::makespan::programs::{How, Kernels, OfProgram};
use sluice_driver::makespan::{Blocks, Config, MakespanOptions, Method, SECONDS};
use sluice_driver::options::{CodeChoices, Scheme};

#[derive(Args, Debug)]
pub struct MakespanArgs {
    /// The kernel: L and C, one letter for each instruction
    #[arg(long, value_name = "STRING")]
    kernel: Option<String>,
    /// W: warps on the multiprocessor
    #[arg(long, value_name = "W", value_parser = whole::<u64>(0..=u64::MAX))]
    warps: Option<u64>,
    /// Load/store units [default: as many as a warp has threads; of a program, what the architecture has]
    #[arg(long, value_name = "L", value_parser = whole::<u64>(0..=u64::MAX))]
    ls_units: Option<u64>,
    /// Cores [default: as many as a warp has threads; of a program, what the architecture has]
    #[arg(long, value_name = "C", value_parser = whole::<u64>(0..=u64::MAX))]
    cores: Option<u64>,
    /// Threads of a warp [default: 32]
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0..=u64::MAX))]
    warp_size: Option<u64>,
    /// A TOML file that says what the options above do not
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Blocks of so many warps [default: 1]
    #[arg(long, value_name = "B", value_parser = whole::<u64>(1..=1 << 40))]
    blocks: Option<u64>,
    /// Multiprocessors, to which blocks are dealt out one by one [default: 1]
    #[arg(long, value_name = "M", value_parser = whole::<u64>(1..=1 << 20))]
    multiprocessors: Option<u64>,
    /// Blocks that a multiprocessor has at a time [default: all of its own; of a program, 1]
    #[arg(long, value_name = "R", value_parser = whole::<u64>(1..=1 << 20))]
    resident: Option<u64>,
    /// Of a program: the architecture that its kernels are compiled for [default: sm_90]
    #[arg(long, value_name = "ARCH")]
    arch: Option<Arch>,
    /// Of a program: whose kernels, `swp` for one of each node, `fused` for those of regions [default: swp]
    #[arg(long, value_name = "SCHEME", value_parser = PossibleValuesParser::new(Scheme::NAMES.map(|(name, _)| name)))]
    scheme: Option<String>,
    /// Of a program: threads of a block [default: 128]
    #[arg(long, value_name = "N", value_parser = block_threads)]
    threads: Option<u32>,
    /// Of a program, with --scheme fused: KiB of shared memory that a tile takes, about [default: 32]
    #[arg(long, value_name = "KIB", value_parser = whole::<u32>(1..=1024))]
    tile: Option<u32>,
    /// Of a program: steady states at once [default: 1; of `fused`, those of a tile]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=1 << 20))]
    steady_states: Option<u64>,
    /// Of a program: let kernels contract products and sums, and use faster functions
    #[arg(long)]
    fast_math: bool,
    /// Of a program: show the strings of its kernels, too
    #[arg(long)]
    strings: bool,
    /// Of a program: run a block of each kernel alone on a multiprocessor, and compare
    #[arg(long)]
    measure: bool,
    #[command(flatten)]
    gpu: GpuArgs,
    /// How it is computed
    #[arg(long, value_enum, default_value_t)]
    method: MethodArg,
    /// Of `estimate`: the exact worst cases of 1 to X warps are used; by default those that are cheap
    #[arg(long, value_name = "X", value_parser = whole::<u32>(1..=u32::MAX.into()))]
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

/// What is asked about.
pub enum Asked {
    /// A string.
    Kernel(MakespanOptions),
    /// A program.
    Program(CodeChoices, OfProgram, How),
}

impl MakespanArgs {
    /// `files`: are there some?
    pub fn wanted(self, files: bool) -> Result<Asked, Fault> {
        if self.x.is_some() && self.method != MethodArg::Estimate {
            return Err(Fault::usage("--x is for --method estimate").coded("E0991"));
        }
        let of_kernel = [
            ("--kernel", self.kernel.is_some()),
            ("--warps", self.warps.is_some()),
            ("--config", self.config.is_some()),
            ("--warp-size", self.warp_size.is_some()),
            ("--blocks", self.blocks.is_some()),
            ("--schedule", self.schedule),
            ("--svg", self.svg.is_some()),
        ];
        let of_program = [
            ("--arch", self.arch.is_some()),
            ("--scheme", self.scheme.is_some()),
            ("--threads", self.threads.is_some()),
            ("--tile", self.tile.is_some()),
            ("--steady-states", self.steady_states.is_some()),
            ("--fast-math", self.fast_math),
            ("--strings", self.strings),
            ("--measure", self.measure),
        ];
        let given = |all: &[(&'static str, bool)]| all.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        match (files, given(&of_kernel), given(&of_program)) {
            (true, Some(option), _) => Err(Fault::usage(format!("{option} is about a kernel, and a program is named"))
                .help("leave one of them out: kernels of a program are taken from their machine code")
                .coded("E0991")),
            (false, Some(kernel), Some(program)) => {
                Err(Fault::usage(format!("{program} is about a program, {kernel} about a kernel")).coded("E0991"))
            }
            (false, Some(_), None) => self.kernel_options().map(Asked::Kernel),
            (_, None, _) => self.program_options(),
        }
    }

    fn method(&self) -> Method {
        match self.method {
            MethodArg::Auto => Method::Auto,
            MethodArg::Exact => Method::Exact,
            MethodArg::Pessimistic => Method::Pessimistic,
            MethodArg::IlpShort => Method::IlpShort,
            MethodArg::IlpLong => Method::IlpLong,
            MethodArg::Estimate => Method::Estimate(self.x),
        }
    }

    fn kernels(&self) -> Result<Option<Kernels>, Fault> {
        let named = self.scheme.as_deref();
        let Some((_, scheme)) = Scheme::NAMES.iter().find(|(name, _)| Some(*name) == named) else { return Ok(None) };
        let refused = |why| Fault::usage(why).help("give --scheme swp or --scheme fused").coded("E0991");
        Kernels::of(*scheme).map(Some).map_err(refused)
    }

    fn program_options(self) -> Result<Asked, Fault> {
        if self.method == MethodArg::Estimate {
            return Err(Fault::usage("--method estimate is no bound, and a program is bounded")
                .help("give --kernel and --warps; `sluice makespan PROGRAM --strings` shows the kernels")
                .coded("E0991"));
        }
        let units = |name: &str, n: Option<u64>| match n.map(u32::try_from) {
            None => Ok(None),
            Some(Ok(n)) if (1..=1 << 20).contains(&n) => Ok(Some(n)),
            Some(_) => Err(Fault::usage(format!("{name} are between 1 and {}", 1 << 20)).coded("E0991")),
        };
        let how = How {
            method: self.method(),
            seconds: self.time_limit,
            json: matches!(self.format, RatesArg::Json),
            strings: self.strings,
            measure: self.gpu.measured(self.measure)?,
        };
        let code = CodeChoices { fast_math: self.fast_math.then_some(true), ..CodeChoices::default() };
        let asked = OfProgram {
            arch: self.arch,
            kernels: self.kernels()?,
            threads: self.threads,
            tile: self.tile,
            multiprocessors: self.multiprocessors,
            resident: self.resident,
            states: self.steady_states,
            ls_units: units("load/store units", self.ls_units)?,
            cores: units("cores", self.cores)?,
        };
        Ok(Asked::Program(code, asked, how))
    }

    fn kernel_options(self) -> Result<MakespanOptions, Fault> {
        let usual = Blocks::default();
        Ok(MakespanOptions {
            method: self.method(),
            config: self.config,
            given: Config {
                kernel: self.kernel,
                warps: self.warps,
                ls_units: self.ls_units,
                cores: self.cores,
                warp_size: self.warp_size,
            },
            blocks: Blocks {
                count: self.blocks.unwrap_or(usual.count),
                multiprocessors: self.multiprocessors.unwrap_or(usual.multiprocessors),
                resident: self.resident,
            },
            seconds: self.time_limit,
            schedule: self.schedule,
            svg: self.svg,
            json: matches!(self.format, RatesArg::Json),
        })
    }
}
