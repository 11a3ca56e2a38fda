//! What a command line says, once it is taken apart.

use crate::cc::CcOptions;
use crate::cuda::arch::Arch;
use crate::io::host::Bindings;
use crate::pipeline::Confinement;
use crate::project::Manifest;
use crate::session::Session;
use crate::stats::StatsOptions;
use crate::trace::TraceOptions;
use serde::{Deserialize, Serialize};
pub use sluice_codegen::cuda::Scheme;
pub use sluice_frontend::lints::levels::Level;
pub use sluice_frontend::slow::MOST_STREAMS;
pub use sluice_kernel::linear::choose::Mode as Linear;
pub use sluice_kernel::passes::inner::Inner;
use sluice_schedule::method::Method;
use std::sync::Arc;
use std::time::Duration;

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MessageFormat {
    /// For people.
    #[default]
    Human,
    /// JSON lines, as docs/json.md describes.
    Json,
}

/// Options of all commands that read a program.
#[derive(Clone, Debug, Default)]
pub struct ProgramOptions {
    /// The files, `-` for standard input. On the command line: these, or a project, or none for the nearest project
    /// ([`crate::project::resolve`] puts its files here).
    pub files: Vec<String>,
    /// The entry stream, where several could be.
    pub top: Option<String>,
    /// How messages are written.
    pub messages: MessageFormat,
    /// Say how long each pass took.
    pub time_passes: bool,
    /// Write what this pass made, and stop there.
    pub dump_after: Option<String>,
    /// The most nodes that the program may elaborate to, where not the default.
    pub max_filters: Option<usize>,
    /// How many streams take turns in the program, where more than one.
    pub streams: Option<u32>,
    /// Codes of warnings, or `warnings`, and how loudly they are told.
    pub levels: Vec<(String, Level)>,
    /// The project that the files belong to.
    pub manifest: Option<Arc<Manifest>>,
}

/// What `check` does besides looking.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Only look at the syntax.
    pub parse_only: bool,
    /// Make the safe fixes.
    pub fix: bool,
    /// Show what would change instead of writing it.
    pub dry_run: bool,
}

/// Which steady-state schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ScheduleKind {
    /// The smallest code: each node appears once.
    #[default]
    SingleAppearance,
    /// The smallest buffers.
    MinimumLatency,
}

impl ScheduleKind {
    /// The names of both.
    pub const NAMES: [(&str, ScheduleKind); 2] =
        [("single-appearance", ScheduleKind::SingleAppearance), ("minimum-latency", ScheduleKind::MinimumLatency)];
}

/// Which filters with a state are taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum TakeApart {
    /// None.
    Never,
    /// Those that are faster so, by an estimate.
    #[default]
    Auto,
    /// All that can be.
    Always,
}

impl TakeApart {
    /// The names of all.
    pub const NAMES: [(&str, TakeApart); 3] =
        [("never", TakeApart::Never), ("auto", TakeApart::Auto), ("always", TakeApart::Always)];
}

/// What someone said about generated code: the command line, a test, a manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeChoices {
    /// Level of optimisation, 0 to 3.
    pub level: Option<u8>,
    /// Debug information.
    pub debug: Option<bool>,
    /// Leave out the checks of array bounds and division.
    pub unchecked: Option<bool>,
    /// Faster arithmetic with other bytes.
    pub fast_math: Option<bool>,
    /// The schedule.
    pub schedule: Option<ScheduleKind>,
    /// The most items on a channel of a program with dynamic rates.
    pub channel_limit: Option<u64>,
    /// Make one filter of equal stateful branches.
    pub fold: Option<bool>,
    /// Make one filter of parts of the program.
    pub fuse: Option<bool>,
    /// Make variables of fields in which nothing goes from one firing to the next.
    pub privatise: Option<bool>,
    /// Read fields that hold the last items from the window.
    pub delay_lines: Option<bool>,
    /// Take filters with a state apart.
    pub take_apart: Option<TakeApart>,
    /// What is done with the loops of filters.
    #[serde(with = "inner_by_name")]
    pub inner: Option<Inner>,
    /// What is done with linear filters, where other bytes are allowed.
    #[serde(with = "linear_by_name")]
    pub linear: Option<Linear>,
}

/// A choice of another room as it is written.
macro_rules! by_name {
    ($module:ident, $choice:ident) => {
        mod $module {
            use super::$choice;
            use serde::de::Error;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub fn serialize<S: Serializer>(choice: &Option<$choice>, to: S) -> Result<S::Ok, S::Error> {
                choice.map($choice::name).serialize(to)
            }

            pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<$choice>, D::Error> {
                let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
                let known = $choice::NAMES.iter().find(|(n, _)| *n == name);
                known.map(|(_, choice)| Some(*choice)).ok_or_else(|| D::Error::custom(format!("`{name}` is no choice")))
            }
        }
    };
}

by_name!(inner_by_name, Inner);
by_name!(linear_by_name, Linear);

impl CodeChoices {
    /// These, and where they say nothing, those.
    #[must_use]
    pub fn or(self, those: CodeChoices) -> CodeChoices {
        CodeChoices {
            level: self.level.or(those.level),
            debug: self.debug.or(those.debug),
            unchecked: self.unchecked.or(those.unchecked),
            fast_math: self.fast_math.or(those.fast_math),
            schedule: self.schedule.or(those.schedule),
            channel_limit: self.channel_limit.or(those.channel_limit),
            fold: self.fold.or(those.fold),
            fuse: self.fuse.or(those.fuse),
            privatise: self.privatise.or(those.privatise),
            delay_lines: self.delay_lines.or(those.delay_lines),
            take_apart: self.take_apart.or(those.take_apart),
            inner: self.inner.or(those.inner),
            linear: self.linear.or(those.linear),
        }
    }

    /// The options for a program; its project is asked where these choices say nothing.
    pub fn options(self, program: &ProgramOptions) -> CodeOptions {
        let all = self.or(program.manifest.as_ref().map(|m| m.build).unwrap_or_default());
        let usual = CcOptions::default();
        CodeOptions {
            cc: CcOptions {
                level: all.level.unwrap_or(usual.level),
                debug: all.debug.unwrap_or(usual.debug),
                fast_math: all.fast_math.unwrap_or(usual.fast_math),
                way: usual.way,
            },
            unchecked: all.unchecked.unwrap_or(false),
            schedule: all.schedule.unwrap_or_default(),
            channel_limit: all.channel_limit,
            fold: all.fold.unwrap_or(true),
            fuse: all.fuse.unwrap_or(true),
            privatise: all.privatise.unwrap_or(true),
            delay_lines: all.delay_lines.unwrap_or(true),
            take_apart: all.take_apart.unwrap_or_default(),
            inner: all.inner.unwrap_or_default(),
            linear: all.linear.unwrap_or_default(),
            stats: false,
        }
    }
}

impl CodeChoices {
    /// Tells of what was chosen in vain.
    pub fn explain(self, session: &Session, program: &ProgramOptions) {
        if let Some(linear @ (Linear::Direct | Linear::Frequency)) = self.linear
            && !self.options(program).cc.fast_math
        {
            session.remark(&format!(
                "--linear {} has a meaning only with --fast-math: linear filters stay as they are",
                linear.name()
            ));
        }
    }
}

/// Options about generated code.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodeOptions {
    /// What the C compiler is told.
    pub cc: CcOptions,
    /// Leave out the checks of array bounds and division.
    pub unchecked: bool,
    /// The schedule.
    pub schedule: ScheduleKind,
    /// The most items on a channel of a program with dynamic rates, where not the default.
    pub channel_limit: Option<u64>,
    /// Make one filter of equal stateful branches.
    pub fold: bool,
    /// Make one filter of parts of the program.
    pub fuse: bool,
    /// Make variables of fields in which nothing goes from one firing to the next.
    pub privatise: bool,
    /// Read fields that hold the last items from the window, where no others are left.
    pub delay_lines: bool,
    /// Take filters with a state apart: what the state needs stays by itself.
    pub take_apart: TakeApart,
    /// What is done with the loops of filters.
    pub inner: Inner,
    /// What is done with linear filters, where other bytes are allowed ([`CcOptions::fast_math`]).
    pub linear: Linear,
    /// Count firings and measure time while the program runs.
    pub stats: bool,
}

/// Where native functions come from: `--native` and its like, or the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeOptions {
    /// C sources, objects, archives, shared libraries; which of these a file is, its extension says.
    pub files: Vec<String>,
    /// Libraries by name, as the C compiler's `-l` has them.
    pub libraries: Vec<String>,
    /// Folders with headers and libraries.
    pub paths: Vec<String>,
    /// What the C compiler is told besides, where it compiles the sources.
    pub flags: Vec<String>,
}

impl NativeOptions {
    /// These, and where a list is empty, those.
    #[must_use]
    pub fn or(&self, those: &NativeOptions) -> NativeOptions {
        let pick = |a: &Vec<String>, b: &Vec<String>| if a.is_empty() { b.clone() } else { a.clone() };
        NativeOptions {
            files: pick(&self.files, &those.files),
            libraries: pick(&self.libraries, &those.libraries),
            paths: pick(&self.paths, &those.paths),
            flags: pick(&self.flags, &those.flags),
        }
    }

    /// These, and where they say nothing, what the program's project says.
    #[must_use]
    pub fn over(&self, program: &ProgramOptions) -> NativeOptions {
        program.manifest.as_ref().map_or_else(|| self.clone(), |m| self.or(&m.native))
    }
}

/// What `build` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildProduct {
    /// A program of its own.
    Executable,
    /// C text.
    C,
    /// A shared library and its header.
    Library,
    /// The C header of the native functions.
    NativeHeader,
    /// CUDA text of a program of its own.
    Cuda,
}

/// How a program is run on several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadsOptions {
    /// The most threads.
    pub threads: usize,
    /// Steady states of a batch, where that is not to be chosen.
    pub batch: Option<u64>,
    /// So many times as many steady states make up a batch, each time `batch` run at once; where that is not to be chosen. (No flag says so: it changes nothing but time.)
    pub turns: Option<u64>,
    /// Say how the program was cut into stages, and how that went.
    pub report: bool,
}

/// What is said about code for GPUs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CudaOptions {
    /// Run the kernels on the CPU, and check what they do.
    pub emulate: bool,
    /// How the steady states are run, where not to be chosen.
    pub scheme: Option<Scheme>,
    /// Iterations of the schedule in one launch, where not to be chosen.
    pub coarsen: Option<u32>,
    /// Multiprocessors to schedule for, where not those of the GPU.
    pub processors: Option<u32>,
    /// Threads of a block, where not to be chosen.
    pub block_threads: Option<u32>,
    /// KiB of shared memory of a tile of [`Scheme::Fused`] and its like, where not to be chosen.
    pub tile: Option<u32>,
    /// Who makes the schedule of [`Scheme::Swp`] and its like, where not the integer program, or for the emulation hierarchical modulo scheduling.
    pub method: Option<Method>,
    /// What the integer program may take.
    pub time_limit: Option<Duration>,
    /// Which GPU, where not the first.
    pub gpu: Option<u32>,
    /// The profile that threads and registers are chosen by; `none` for none; else the cache's.
    pub profile: Option<String>,
}

/// What is said about a program in CUDA.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CudaBuildOptions {
    /// How it runs; nothing is emulated.
    pub code: CudaOptions,
    /// What the build lines compile for; where nothing is said, what generated code is tested for.
    pub archs: Vec<Arch>,
}

/// Who makes the code of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BackEnd {
    /// Whatever is expected to be done sooner.
    #[default]
    Auto,
    /// Machine code made in memory.
    Jit,
    /// The C compiler.
    Cc,
}

/// Options of `run`.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Files for the open ends.
    pub bindings: Bindings,
    /// Steady states; without: until the input ends.
    pub iterations: Option<u64>,
    /// Interpret instead of compiling.
    pub interpret: bool,
    /// Who compiles.
    pub back_end: BackEnd,
    /// The run is watched by another process.
    pub confinement: Option<Confinement>,
    /// Show what happens, firing by firing; the interpreter runs then.
    pub trace: Option<TraceOptions>,
    /// Count firings and measure time.
    pub stats: Option<StatsOptions>,
    /// Run on several threads.
    pub threads: Option<ThreadsOptions>,
    /// Run on a GPU.
    pub cuda: Option<CudaOptions>,
}

/// Options of `fmt`.
#[derive(Clone, Debug, Default)]
pub struct FmtOptions {
    /// Files and folders, or `-` alone for standard input; none for the nearest project.
    pub files: Vec<String>,
    /// Change nothing: show what would be changed.
    pub check: bool,
    /// How messages are written.
    pub messages: MessageFormat,
}

/// How `rates` writes its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RatesFormat {
    /// For people.
    #[default]
    Table,
    /// One JSON document.
    Json,
}

/// How `graph` writes its picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// A picture.
    Svg,
    /// Text for Graphviz.
    Dot,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_about_linear_filters_do_so_too() {
        for linear in Linear::NAMES.map(|(_, linear)| Some(linear)).into_iter().chain([None]) {
            let text = serde_json::to_string(&CodeChoices { linear, ..CodeChoices::default() }).unwrap();
            assert_eq!(serde_json::from_str::<CodeChoices>(&text).unwrap().linear, linear, "{text}");
        }
    }

    #[test]
    fn choices_survive_the_way_to_another_process() {
        for inner in Inner::NAMES.map(|(_, inner)| Some(inner)).into_iter().chain([None]) {
            let choices = CodeChoices { inner, level: Some(2), ..CodeChoices::default() };
            let text = serde_json::to_string(&choices).unwrap();
            assert_eq!(serde_json::from_str::<CodeChoices>(&text).unwrap(), choices, "{text}");
        }
        let wrong =
            serde_json::to_string(&CodeChoices::default()).unwrap().replace("\"inner\":null", "\"inner\":\"some\"");
        assert!(serde_json::from_str::<CodeChoices>(&wrong).unwrap_err().to_string().contains("`some` is no choice"));
    }
}
