//! Arguments of `sluice profile`.

use crate::choices::TargetArg;
use crate::cuda_arguments::only_with_cuda;
use crate::numbers::whole;
use crate::schedule_arguments::seconds;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use sluice_driver::cuda::arch::Arch;
use sluice_driver::cuda::profiling::GpuProfileOptions;
use sluice_driver::exit::Fault;
use sluice_driver::io::format::Format;
use sluice_driver::io::host::Bindings;
use sluice_driver::profile::beside::Shown;
use sluice_driver::profile::take::ProfileOptions;

/// What is measured for how long, and where it is written.
#[derive(Args, Debug)]
pub struct ProfileArgs {
    /// File for the entry's open input; `-` (the default) is standard input
    #[arg(short, long, value_name = "FILE")]
    input: Option<String>,
    /// Format of the input
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::all_names()))]
    input_format: Option<String>,
    /// Run the initialisation and this many steady states, once
    #[arg(short = 'n', long, value_name = "N", value_parser = whole::<u64>(0..=i64::MAX as u64))]
    iterations: Option<u64>,
    /// Measure so long; files are read again where they are too short. Without --iterations, a second
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<f64>,
    /// Write the profile there instead of into the cache; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// What is measured: the CPU, or how a GPU is best used
    #[arg(long, value_enum, value_name = "TARGET", default_value_t)]
    target: TargetArg,
    /// Which GPU, where there are several; 0 is the first
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=u32::MAX.into()), conflicts_with_all = ["emulate", "arch"])]
    gpu: Option<u32>,
    /// Run the GPU's kernels on the CPU: the times say nothing, all else is tried
    #[arg(long, conflicts_with = "arch")]
    emulate: bool,
    /// Run nothing: model a GPU of this architecture, such as sm_90
    #[arg(long, value_name = "ARCH")]
    arch: Option<Arch>,
    /// The machine by which costs are modelled: h200, a100, or a TOML file
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Show what was measured beside what the cost model says; of a GPU, how the profile is shown
    #[arg(long, value_enum)]
    format: Option<ProfileFormat>,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum ProfileFormat {
    /// For people
    Text,
    /// The figures, as docs/json.md describes
    Json,
    /// Of a CPU: stacks for tools that draw flame graphs
    Folded,
}

/// What is to be measured.
pub enum Wanted {
    /// Native code.
    Cpu(ProfileOptions),
    /// Kernels.
    Gpu(GpuProfileOptions),
}

impl ProfileArgs {
    /// As the driver takes them.
    pub fn wanted(self) -> Result<Wanted, Fault> {
        if !matches!(self.target, TargetArg::Cuda) {
            let given = [
                (self.gpu.is_some(), "--gpu"),
                (self.emulate, "--emulate"),
                (self.arch.is_some(), "--arch"),
                (self.machine.is_some(), "--machine"),
            ];
            let vain: Vec<&str> = given.into_iter().filter(|(given, _)| *given).map(|(_, name)| name).collect();
            only_with_cuda(&vain)?;
            return Ok(Wanted::Cpu(self.options()));
        }
        let others = [
            (self.input.is_some(), "--input"),
            (self.input_format.is_some(), "--input-format"),
            (self.iterations.is_some(), "--iterations"),
            (self.seconds.is_some(), "--seconds"),
        ];
        if let Some((_, name)) = others.iter().find(|(given, _)| *given) {
            return Err(Fault::usage(format!("{name} and --target cuda cannot be used together"))
                .help("a GPU's kernels are measured one by one, on zeros: leave one of the two out"));
        }
        if self.format == Some(ProfileFormat::Folded) {
            return Err(Fault::usage("--format folded and --target cuda cannot be used together")
                .help("a GPU's kernels are measured one by one: there are no stacks of them"));
        }
        Ok(Wanted::Gpu(GpuProfileOptions {
            gpu: self.gpu,
            emulate: self.emulate,
            arch: self.arch,
            machine: self.machine,
            output: self.output,
            json: self.format == Some(ProfileFormat::Json),
            quick: false,
        }))
    }

    fn options(self) -> ProfileOptions {
        let input_format = self.input_format.and_then(|n| Format::named(&n));
        ProfileOptions {
            bindings: Bindings { input: self.input, input_format, ..Bindings::default() },
            iterations: self.iterations,
            seconds: self.seconds,
            output: self.output,
            shown: self.format.map(|f| match f {
                ProfileFormat::Text => Shown::Text,
                ProfileFormat::Json => Shown::Json,
                ProfileFormat::Folded => Shown::Folded,
            }),
        }
    }
}
