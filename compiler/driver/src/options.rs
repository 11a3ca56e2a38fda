//! What a command line says, once it is taken apart.

use crate::cc::CcOptions;
use crate::io::host::Bindings;

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
}

/// Options of `fmt`.
#[derive(Clone, Debug, Default)]
pub struct FmtOptions {
    /// Files and folders, or `-` alone for standard input.
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
