//! What a command line says, once it is taken apart.

use crate::cc::CcOptions;
use crate::io::host::Bindings;
use crate::stats::StatsOptions;
use crate::trace::TraceOptions;

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
    /// The files, `-` for standard input.
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
}

/// Which steady-state schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ScheduleKind {
    /// The smallest code: each node appears once.
    #[default]
    SingleAppearance,
    /// The smallest buffers.
    MinimumLatency,
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
    /// Count firings and measure time while the program runs.
    pub stats: bool,
}

/// Where native functions come from: `--native` and its like, or the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Show what happens, firing by firing; the interpreter runs then.
    pub trace: Option<TraceOptions>,
    /// Count firings and measure time.
    pub stats: Option<StatsOptions>,
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
