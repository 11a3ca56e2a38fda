//! The command line: commands, options and their help.

use clap::{Args, Parser, Subcommand};
use sluice_driver::commands;
use sluice_driver::exit::{Exit, Fault};
use sluice_driver::fmt;
use sluice_driver::options::*;
use sluice_driver::testing::TestOptions;

use crate::choices::{
    BackEndArg, EmitArg, GraphArg, InnerArg, LinearArg, MessageArg, RatesArg, ScheduleArg, TakeApartArg,
};
use crate::cslow_arguments::CslowArgs;
use crate::cuda_arguments::{ArchArgs, CudaArgs};
use crate::makespan_arguments::{Asked, MakespanArgs};
use crate::numbers::whole;
use crate::profile_arguments::{ProfileArgs, Wanted};
use crate::run_arguments::RunArgs;
use crate::schedule_arguments::{ReportArgs, ScheduleArgs};
use crate::tune_arguments::TuneArgs;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("SLUICE_COMMIT"), ")");

/// The most streams that take turns.
const MOST_STREAMS: u64 = sluice_driver::options::MOST_STREAMS as u64;

const EXAMPLES: &str = "\
Examples:
  sluice run hello.str --iterations 10          compile and run ten steady states
  sluice run eq.str --input in.wav --output out.wav
  rtl_sdr -f 98e6 -s 250k - | sluice run fm.str --input-format rtl --output fm.wav
  sluice check radio.str filters.str            look for errors; several files are one program
  sluice check radio.str --fix                  mend what a machine can mend without a look
  sluice rates fm.str                           rates, repetitions and buffers of every filter
  sluice graph fm.str -o fm.svg                 draw the stream graph
  sluice schedule fm.str --machine cpu          lay the program out on processors as a software pipeline
  sluice profile fm.str --input fm.raw          measure what its firings take, for `sluice schedule`
  sluice tune fm.str --input fm.raw             find the fastest way to compile it, for `run` and `build`
  sluice cslow bank.str                         what streams that take turns would gain
  sluice makespan --kernel LLC --warps 4        the longest that a kernel may take on one multiprocessor
  sluice run fm.str --target cuda --input fm.raw --output fm.wav    on an NVIDIA GPU
  sluice build fm.str -o fm                     a program of its own
  sluice new radio                              a project; in its folder no files need to be named
  sluice test                                   the project's tests
  sluice fmt .                                  format every .str file here and below
  sluice explain E0104                          what a message means
  sluice lsp                                    the language server, which editors start

Exit codes: 0 all is well, 1 the program is at fault, 2 the command line, 3 the input or the system, 4 sluice itself.
The variables CC, CXX, SLUICE_CACHE, SLUICE_CACHE_LIMIT and NO_COLOR are heeded, and some about CUDA; docs/cli.md has the details.";

/// Compiler for the StreamIt stream language.
#[derive(Parser, Debug)]
#[command(name = "sluice", version = VERSION, after_help = EXAMPLES, max_term_width = 110, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Check a program and report what is wrong with it
    Check {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        native: NativeArgs,
        /// Only look at the syntax
        #[arg(long)]
        parse_only: bool,
        /// Make the fixes that are safe, and write the files
        #[arg(long)]
        fix: bool,
        /// Show what `--fix` would change, as a diff, and write nothing
        #[arg(long, visible_alias = "dry-run")]
        diff: bool,
    },
    /// Show rates, repetitions, state and buffers of every stream
    Rates {
        #[command(flatten)]
        program: ProgramArgs,
        /// How to show them
        #[arg(long, value_enum, default_value_t)]
        format: RatesArg,
    },
    /// Show on how many firings of one stream those of another depend
    #[command(
        override_usage = "sluice sdep [OPTIONS] [FILE]... <FROM> <TO>",
        after_help = "FROM and TO are streams, by the names or paths that `sluice rates` shows; items flow from FROM to TO."
    )]
    Sdep {
        #[command(flatten)]
        program: ProgramArgs,
        /// How to show it
        #[arg(long, value_enum, default_value_t)]
        format: RatesArg,
    },
    /// Schedule a program for a machine's processors, and say what bounds its throughput
    Schedule {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        schedule: ScheduleArgs,
    },
    /// Measure what a program's firings take on this computer, for `sluice schedule`, or how a GPU runs them best
    #[command(
        after_help = "Native code runs on the program's input for a second, or as long as --seconds or --iterations say; what it prints and writes \
        goes nowhere. `sluice schedule --machine cpu` finds the profile in the cache. With --target cuda each filter is measured on a GPU for every number of \
        registers and threads, and the best are chosen; without a GPU they are modelled, with the CUDA compiler's registers and spills."
    )]
    Profile {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        code: CodeArgs,
        #[command(flatten)]
        native: NativeArgs,
        #[command(flatten)]
        profile: ProfileArgs,
    },
    /// Find the fastest way to compile a program on this computer, for `sluice run` and `sluice build`
    #[command(
        after_help = "The C compilers that are there, widths of vectors and what is done with loops are tried: all give the same bytes, and a way that does not is \
        left out. The fastest is kept in the cache for this file, these options and this processor. What the program prints and writes goes nowhere."
    )]
    Tune {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        code: CodeArgs,
        #[command(flatten)]
        tune: TuneArgs,
        /// How to show what was found
        #[arg(long, value_enum, default_value_t)]
        format: RatesArg,
    },
    #[command(override_usage = "sluice report [OPTIONS] --output <FILE> [FILE]...")]
    /// Write a page that shows a program's graph, schedule, bounds, rates and source together
    Report {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        report: ReportArgs,
    },
    /// Show what it gains to let independent streams take turns in a program, or in a loop given in numbers
    #[command(
        after_help = "The model is T = max(d_C, d_M + n_RW - 1 - alpha*d_C), Q = d_C/T, and the gain of C streams C*T1/TC; docs/cslow.md \
        has examples. For a program, d_C and n_RW of every stateful filter are those of its compiled code."
    )]
    Cslow {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        model: CslowArgs,
        /// How to show it
        #[arg(long, value_enum, default_value_t)]
        format: RatesArg,
    },
    /// Bound how long a kernel may take on one multiprocessor of a GPU, whatever the scheduler of warps does
    #[command(
        after_help = "A kernel is a string of instructions, L for a load/store unit and C for a core. Units are as many as threads of a warp \
        (o = 1) where nothing is said. Without a kernel it is about a program: what its filters' kernels take on a GPU, from their machine \
        code. docs/makespan.md states the model and its assumptions."
    )]
    Makespan {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        makespan: MakespanArgs,
    },
    #[command(override_usage = "sluice graph [OPTIONS] --output <FILE> [FILE]...")]
    /// Draw the stream graph
    Graph {
        #[command(flatten)]
        program: ProgramArgs,
        /// File to write; `-` for standard output
        #[arg(short, long, value_name = "FILE")]
        output: String,
        /// Format; by default what the file's extension says, else SVG
        #[arg(long, value_enum)]
        format: Option<GraphArg>,
        /// Draw it as native code runs it: equal stateful branches made one filter
        #[arg(long)]
        folded: bool,
    },
    /// Compile to a program of its own, a library, C or CUDA
    Build {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        code: CodeArgs,
        #[command(flatten)]
        native: NativeArgs,
        #[command(flatten)]
        cuda: CudaArgs,
        #[command(flatten)]
        arch: ArchArgs,
        /// File to write; `-` for standard output (C and CUDA only)
        #[arg(short, long, value_name = "FILE")]
        output: Option<String>,
        /// Write this instead of machine code
        #[arg(long, value_enum, conflicts_with = "lib")]
        emit: Option<EmitArg>,
        /// Make a shared library and its C header instead of a program
        #[arg(long)]
        lib: bool,
    },
    /// Compile (or take from the cache) and run
    #[command(
        after_help = "Formats: raw f32 f64 i16 i32 u8 c64 rtl wav wav24 wav32 wavf text. Without one, the file's \
        extension decides; standard input and output are raw, or text on a terminal."
    )]
    Run {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        code: CodeArgs,
        #[command(flatten)]
        native: NativeArgs,
        #[command(flatten)]
        run: Box<RunArgs>,
    },
    /// Run the tests of a project
    #[command(
        after_help = "A test is an input tests/NAME.in.txt and the output tests/NAME.out.txt that it must give; docs/projects.md \
        tells of the other kinds. The exit code is 1 where a test fails."
    )]
    Test {
        /// Parts of the names of the tests to run; by default all
        #[arg(value_name = "FILTER")]
        filters: Vec<String>,
        /// The project's folder; by default the nearest
        #[arg(long, value_name = "DIR")]
        project: Option<String>,
        /// Write down what comes as what is expected from now on
        #[arg(long)]
        bless: bool,
        /// With what to run; both must do the same
        #[arg(long, value_enum, default_value_t, value_name = "KIND")]
        back_end: BackEndArg,
        /// Tests at the same time; by default as many as there are processors
        #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=u16::MAX.into()))]
        jobs: Option<u16>,
        /// How messages are written
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        message_format: MessageArg,
        #[command(flatten)]
        code: CodeArgs,
    },
    /// A single run for `sluice test`, told on standard input what to do
    #[command(hide = true)]
    RunTest,
    /// Make a project: a folder with a manifest, a small program and tests
    New {
        /// The folder, not there yet or empty; `.` for the current one
        path: String,
        /// The project's name; by default the folder's
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Serve an editor: the language server, over standard input and output
    Lsp {
        /// What some editors say; there is no other way
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Format source files in one canonical style
    #[command(
        after_help = "Files are changed in place, those that are right already are not touched. A text with syntax errors stays \
        as it is. Exit code 1 says that --check found something to change, or that a file has syntax errors."
    )]
    Fmt {
        /// Files, folders (searched for .str files), or `-` alone: from standard input to standard output; by default the nearest
        /// project
        #[arg(value_name = "FILE")]
        files: Vec<String>,
        /// Change nothing; show as a diff what would be changed, and fail if anything would
        #[arg(long)]
        check: bool,
        /// How messages are written
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        message_format: MessageArg,
    },
    /// Explain the code of a message
    Explain {
        /// Such as E0104
        code: String,
    },
    /// Empty the cache of compiled programs
    Clean,
}

#[derive(Args, Debug)]
struct ProgramArgs {
    /// Source files of one program, `-` for standard input; or a project's folder; by default the nearest project
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// The entry stream, where several could be
    #[arg(long, value_name = "NAME")]
    top: Option<String>,
    /// How messages are written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    message_format: MessageArg,
    /// Say on standard error how long each pass took
    #[arg(long)]
    time_passes: bool,
    /// Write what a pass made to standard output, and stop there
    #[arg(long, value_name = "PASS")]
    dump_after: Option<String>,
    /// The most filters, splitters and joiners that the program may consist of
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=u32::MAX.into()))]
    max_filters: Option<usize>,
    /// Let N independent streams take turns: item x of stream s is number x*N+s of the open input, and of the open output
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_STREAMS))]
    streams: Option<u32>,
    /// Do not tell this warning (a code, or `warnings` for all)
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    allow: Vec<String>,
    /// Tell this warning, also where it is not usual
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    warn: Vec<String>,
    /// Make this warning an error
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    deny: Vec<String>,
}

#[derive(Args, Debug)]
struct CodeArgs {
    /// Level of optimisation [default: 3]
    #[arg(short = 'O', value_name = "LEVEL", value_parser = whole::<u8>(0..=3))]
    level: Option<u8>,
    /// Keep debug information
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    debug: Option<bool>,
    /// Leave out the checks of array bounds and integer division
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    unchecked: Option<bool>,
    /// Let the C compiler reorder float arithmetic: faster, and other bytes
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fast_math: Option<bool>,
    /// The steady-state schedule [default: single-appearance]
    #[arg(long, value_enum, value_name = "KIND")]
    schedule: Option<ScheduleArg>,
    /// The most items on a channel of a program with dynamic rates [default: 16777216]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=1 << 40))]
    channel_limit: Option<u64>,
    /// Make one filter of the branches of a round-robin splitjoin where they are equal and have state [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fold: Option<bool>,
    /// Make one filter of parts of the program, so that what passes within them needs no buffers [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fuse: Option<bool>,
    /// Make variables of fields in which nothing goes from one firing to the next, so that it is no state [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    privatise: Option<bool>,
    /// Read fields that hold the last items from the window, so that they are no state [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    delay_lines: Option<bool>,
    /// Take filters with a state apart, so that only what their state needs fires one after another [default: auto]
    #[arg(long, value_enum, value_name = "WHEN")]
    take_apart: Option<TakeApartArg>,
    /// What is done with the loops of filters [default: auto]
    #[arg(long, value_enum, value_name = "KIND")]
    inner: Option<InnerArg>,
    /// What is done with linear filters, most of it with --fast-math [default: auto]
    #[arg(long, value_enum, value_name = "KIND")]
    linear: Option<LinearArg>,
}

#[derive(Args, Debug)]
struct NativeArgs {
    /// C source, object, archive or shared library with native functions; may be given several times
    #[arg(long, value_name = "FILE")]
    native: Vec<String>,
    /// Library with native functions, or that they need, by its name
    #[arg(long, value_name = "NAME")]
    native_lib: Vec<String>,
    /// Folder with headers and libraries for native functions
    #[arg(long, value_name = "DIR")]
    native_path: Vec<String>,
    /// Further flag for the C compiler where it compiles native sources, such as --native-flag=-DSIZE=3
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    native_flag: Vec<String>,
}

impl ProgramArgs {
    fn options(self) -> ProgramOptions {
        let levels = [(self.allow, Level::Allow), (self.warn, Level::Warn), (self.deny, Level::Deny)];
        let levels = levels.into_iter().flat_map(|(codes, level)| codes.into_iter().map(move |c| (c, level)));
        ProgramOptions {
            levels: levels.collect(),
            files: self.files,
            top: self.top,
            messages: self.message_format.into(),
            time_passes: self.time_passes,
            dump_after: self.dump_after,
            max_filters: self.max_filters,
            streams: self.streams,
            manifest: None,
        }
    }
}

impl CodeArgs {
    fn choices(&self) -> CodeChoices {
        CodeChoices {
            level: self.level,
            debug: self.debug,
            unchecked: self.unchecked,
            fast_math: self.fast_math,
            schedule: self.schedule.map(|s| match s {
                ScheduleArg::SingleAppearance => ScheduleKind::SingleAppearance,
                ScheduleArg::MinimumLatency => ScheduleKind::MinimumLatency,
            }),
            channel_limit: self.channel_limit,
            fold: self.fold,
            fuse: self.fuse,
            privatise: self.privatise,
            delay_lines: self.delay_lines,
            take_apart: self.take_apart.map(|t| match t {
                TakeApartArg::Never => TakeApart::Never,
                TakeApartArg::Auto => TakeApart::Auto,
                TakeApartArg::Always => TakeApart::Always,
            }),
            inner: self.inner.map(InnerArg::inner),
            linear: self.linear.map(LinearArg::linear),
        }
    }
}

impl NativeArgs {
    fn options(self) -> NativeOptions {
        NativeOptions {
            files: self.native,
            libraries: self.native_lib,
            paths: self.native_path,
            flags: self.native_flag,
        }
    }
}

impl Arguments {
    /// Does what was asked.
    pub fn run(self) -> Exit {
        match self.command {
            Command::Check { program, native, parse_only, fix, diff } => {
                let check = CheckOptions { parse_only, fix, dry_run: diff };
                commands::check(&program.options(), &native.options(), check)
            }
            Command::Rates { program, format } => commands::rates(&program.options(), format.into()),
            Command::Schedule { program, schedule } => commands::schedule(&program.options(), &schedule.options()),
            Command::Profile { program, code, native, profile } => {
                let (program, code) = (program.options(), code.choices());
                match profile.wanted() {
                    Ok(Wanted::Cpu(options)) => commands::profile(&program, code, &native.options(), options),
                    Ok(Wanted::Gpu(options)) => commands::profile_gpu(&program, code, &options),
                    Err(fault) => commands::wrong(&program, fault),
                }
            }
            Command::Tune { program, code, tune, format } => {
                let options = tune.options(matches!(format, RatesArg::Json));
                commands::tune(&program.options(), code.choices(), &options)
            }
            Command::Report { program, report } => commands::report_page(&program.options(), &report.options()),
            Command::Sdep { program, format } => {
                let mut options = program.options();
                let names = options.files.split_off(options.files.len().saturating_sub(2));
                commands::sdep(&options, &names, format.into())
            }
            Command::Cslow { program, model, format } => {
                commands::cslow(&program.options(), model.options(matches!(format, RatesArg::Json)))
            }
            Command::Makespan { program, makespan } => {
                let program = program.options();
                match makespan.wanted(!program.files.is_empty()) {
                    Ok(Asked::Kernel(options)) => commands::makespan(&options),
                    Ok(Asked::Program(code, asked, how)) => commands::makespan_of(&program, code, &asked, &how),
                    Err(fault) => commands::wrong(&program, fault),
                }
            }
            Command::Graph { program, output, format, folded } => {
                let format = format.map(|f| match f {
                    GraphArg::Svg => GraphFormat::Svg,
                    GraphArg::Dot => GraphFormat::Dot,
                });
                commands::graph(&program.options(), &output, format, folded)
            }
            Command::Build { program, code, native, cuda, arch, output, emit, lib } => {
                let program = program.options();
                let cuda = match cuda.build(arch, &[(emit.is_some(), "--emit"), (lib, "--lib")]) {
                    Ok(cuda) => cuda,
                    Err(fault) => return commands::wrong(&program, fault),
                };
                let product = match (emit, lib) {
                    _ if cuda.is_some() => BuildProduct::Cuda,
                    (Some(EmitArg::C), _) => BuildProduct::C,
                    (Some(EmitArg::NativeHeader), _) => BuildProduct::NativeHeader,
                    (None, true) => BuildProduct::Library,
                    (None, false) => BuildProduct::Executable,
                };
                let natives = native.options();
                let product = (product, &cuda.unwrap_or_default());
                commands::build(&program, code.choices(), &natives, product, output.as_deref())
            }
            Command::Run { program, code, native, run } => {
                let program = program.options();
                match run.options() {
                    Ok(run) => commands::run(&program, code.choices(), &native.options(), run),
                    Err(fault) => commands::wrong(&program, fault),
                }
            }
            Command::Test { filters, project, bless, back_end, jobs, message_format, code } => {
                commands::test(&TestOptions {
                    filters,
                    project,
                    bless,
                    back_ends: back_end.into(),
                    jobs: jobs.map(usize::from),
                    code: code.choices(),
                    messages: message_format.into(),
                })
            }
            Command::RunTest => commands::run_test(),
            Command::New { path, name } => commands::new(&path, name.as_deref()),
            Command::Lsp { stdio: _ } => match sluice_lsp::serve() {
                Ok(true) => Exit::Ok,
                // as the protocol has it
                Ok(false) => Exit::Program,
                Err(e) => {
                    let fault = Fault::file("run", "the language server", &e);
                    commands::wrong(&ProgramOptions::default(), fault)
                }
            },
            Command::Fmt { files, check, message_format } => {
                fmt::fmt(&FmtOptions { files, check, messages: message_format.into() })
            }
            Command::Explain { code } => commands::explain(&code),
            Command::Clean => commands::clean(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }
}
