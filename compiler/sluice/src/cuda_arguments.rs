//! Options about GPUs, and what clashes among them.

use clap::Args;
use clap::builder::PossibleValuesParser;
use sluice_driver::cuda::arch::Arch;
use sluice_driver::exit::Fault;
use sluice_driver::makespan::programs::On;
use sluice_driver::options::{CudaBuildOptions, CudaOptions, Scheme};
use sluice_driver::scheduling::Method;
use std::time::Duration;

use crate::choices::TargetArg;
use crate::numbers::whole;
use crate::schedule_arguments::seconds;

/// Where the program runs, and how.
#[derive(Args, Debug)]
pub struct CudaArgs {
    /// Where it runs
    #[arg(long, value_enum, value_name = "TARGET", default_value_t)]
    target: TargetArg,
    /// How a GPU runs the steady states [default: auto]
    #[arg(long, value_name = "SCHEME", value_parser = PossibleValuesParser::new(schemes()))]
    scheme: Option<String>,
    /// Make the instances of a GPU's schedule N times as large
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1 << 16))]
    coarsen: Option<u32>,
    /// Schedule for so many multiprocessors instead of the GPU's own number
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024))]
    sms: Option<u32>,
    /// Threads of a block on a GPU, a multiple of 32
    #[arg(long, value_name = "N", value_parser = block_threads)]
    block_threads: Option<u32>,
    /// KiB of a GPU's shared memory that a tile of `fused` and `fused-warps` takes, about [default: 32]
    #[arg(long, value_name = "KIB", value_parser = whole::<u32>(1..=1024))]
    tile: Option<u32>,
    /// What threads, registers and costs of a GPU are chosen by, as `sluice profile --target cuda` has written it; or `none`. By default the profile in
    /// the cache, where there is one
    #[arg(long, value_name = "FILE")]
    profile: Option<String>,
    /// Who schedules a GPU's multiprocessors: flat, ims, slack, hms or ilp, as for `sluice schedule` [default: ilp; for --emulate hms]
    #[arg(long, value_name = "METHOD", value_parser = PossibleValuesParser::new(METHODS.map(Method::name)))]
    method: Option<String>,
    /// Seconds that the integer program may take [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<f64>,
}

/// Those whose schedules are for several processors.
const METHODS: [Method; 5] = [Method::Flat, Method::Ims, Method::Slack, Method::Hms, Method::Ilp];

/// What only runs have.
#[derive(Args, Debug)]
pub struct GpuArgs {
    /// Run the GPU's kernels on the CPU, slowly, and check what they do
    #[arg(long, conflicts_with = "gpu")]
    emulate: bool,
    /// Which GPU, where there are several; 0 is the first
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=u32::MAX.into()))]
    gpu: Option<u32>,
}

impl GpuArgs {
    /// Where kernels are measured, if they are.
    pub fn measured(&self, measure: bool) -> Result<Option<On>, Fault> {
        match (measure, self.emulate, self.gpu) {
            (true, true, _) => Ok(Some(On::Emulated)),
            (true, false, gpu) => Ok(Some(On::Gpu(gpu.unwrap_or(0)))),
            (false, false, None) => Ok(None),
            (false, emulate, _) => {
                let option = if emulate { "--emulate" } else { "--gpu" };
                Err(Fault::usage(format!("{option} says where --measure runs kernels: give that, too")))
            }
        }
    }
}

/// What only builds have.
#[derive(Args, Debug)]
pub struct ArchArgs {
    /// GPU architectures that the build lines of CUDA text name, such as sm_80,sm_90
    #[arg(long, value_name = "ARCH", value_delimiter = ',')]
    arch: Vec<Arch>,
}

/// Their names.
fn schemes() -> Vec<&'static str> {
    std::iter::once("auto").chain(Scheme::NAMES.iter().map(|(name, _)| *name)).collect()
}

pub fn block_threads(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(n) if (32..=1024).contains(&n) && n % 32 == 0 => Ok(n),
        _ => Err("a block has a multiple of 32 threads, 1024 at most".into()),
    }
}

impl CudaArgs {
    fn is_cuda(&self) -> bool {
        matches!(self.target, TargetArg::Cuda)
    }

    /// Options that were given but have no meaning without a GPU.
    fn vain(&self) -> Vec<&'static str> {
        let given = [
            (self.scheme.is_some(), "--scheme"),
            (self.coarsen.is_some(), "--coarsen"),
            (self.sms.is_some(), "--sms"),
            (self.block_threads.is_some(), "--block-threads"),
            (self.tile.is_some(), "--tile"),
            (self.profile.is_some(), "--profile"),
            (self.method.is_some(), "--method"),
            (self.time_limit.is_some(), "--time-limit"),
        ];
        given.into_iter().filter(|(given, _)| *given).map(|(_, name)| name).collect()
    }

    fn options(self, gpu: Option<GpuArgs>) -> CudaOptions {
        let scheme = self.scheme.as_deref();
        CudaOptions {
            emulate: gpu.as_ref().is_some_and(|g| g.emulate),
            scheme: Scheme::NAMES.iter().find(|(name, _)| Some(*name) == scheme).map(|(_, s)| *s),
            coarsen: self.coarsen,
            processors: self.sms,
            block_threads: self.block_threads,
            tile: self.tile,
            method: METHODS.into_iter().find(|m| Some(m.name()) == self.method.as_deref()),
            time_limit: self.time_limit.map(Duration::from_secs_f64),
            gpu: gpu.and_then(|g| g.gpu),
            profile: self.profile,
        }
    }

    /// For a run; `others`: options that were given and do not go with a GPU.
    pub fn run(self, gpu: GpuArgs, others: &[(bool, &str)]) -> Result<Option<CudaOptions>, Fault> {
        if self.is_cuda() {
            if let Some((_, name)) = others.iter().find(|(given, _)| *given) {
                return Err(Fault::usage(format!("{name} and --target cuda cannot be used together"))
                    .help(format!("{name} is about runs on the CPU: leave one of the two out")));
            }
            return Ok(Some(self.options(Some(gpu))));
        }
        let mut vain = self.vain();
        vain.extend(gpu.emulate.then_some("--emulate"));
        vain.extend(gpu.gpu.is_some().then_some("--gpu"));
        only_with_cuda(&vain).map(|()| None)
    }

    /// For a build; `None`: not of a program in CUDA.
    pub fn build(self, arch: ArchArgs, others: &[(bool, &str)]) -> Result<Option<CudaBuildOptions>, Fault> {
        if self.is_cuda() {
            if let Some((_, name)) = others.iter().find(|(given, _)| *given) {
                return Err(Fault::usage(format!("{name} and --target cuda cannot be used together")).help(
                    "`sluice build --target cuda -o NAME.cu` writes the text of a program of its own; its first lines say how nvcc makes one of it",
                ));
            }
            return Ok(Some(CudaBuildOptions { code: self.options(None), archs: arch.arch }));
        }
        let mut vain = self.vain();
        vain.extend((!arch.arch.is_empty()).then_some("--arch"));
        only_with_cuda(&vain).map(|()| None)
    }
}

/// Refuses options that need a GPU.
pub fn only_with_cuda(vain: &[&str]) -> Result<(), Fault> {
    match vain.first() {
        None => Ok(()),
        Some(name) => Err(Fault::usage(format!("{name} has a meaning only with --target cuda"))
            .help("add `--target cuda`; without it the program runs on the CPU")),
    }
}
