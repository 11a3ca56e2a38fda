//! The command line: commands, options and their help.

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use sluice_driver::cc::CcOptions;
use sluice_driver::commands;
use sluice_driver::exit::Exit;
use sluice_driver::fmt;
use sluice_driver::io::format::Format;
use sluice_driver::io::host::Bindings;
use sluice_driver::options::*;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("SLUICE_COMMIT"), ")");

const EXAMPLES: &str = "\
Examples:
  sluice run hello.str --iterations 10          compile and run ten steady states
  sluice run eq.str --input in.wav --output out.wav
  rtl_sdr -f 98e6 -s 250k - | sluice run fm.str --input-format rtl --output fm.wav
  sluice check radio.str filters.str            look for errors; several files are one program
  sluice rates fm.str                           rates, repetitions and buffers of every filter
  sluice graph fm.str -o fm.svg                 draw the stream graph
  sluice build fm.str -o fm                     a program of its own
  sluice fmt .                                  format every .str file here and below
  sluice explain E0123                          what a message means

Exit codes: 0 all is well, 1 the program is at fault, 2 the command line, 3 the input or the system, 4 sluice itself.
The variables CC, SLUICE_CACHE, SLUICE_CACHE_LIMIT and NO_COLOR are heeded; docs/cli.md has the details.";

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
        /// Only look at the syntax
        #[arg(long)]
        parse_only: bool,
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
        override_usage = "sluice sdep [OPTIONS] <FILE>... <FROM> <TO>",
        after_help = "FROM and TO are streams, by the names or paths that `sluice rates` shows; items flow from FROM to TO."
    )]
    Sdep {
        #[command(flatten)]
        program: ProgramArgs,
        /// How to show it
        #[arg(long, value_enum, default_value_t)]
        format: RatesArg,
    },
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
    },
    /// Compile to a program of its own, a library or C
    Build {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        code: CodeArgs,
        /// File to write; `-` for standard output (C only)
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
        run: RunArgs,
    },
    /// Format source files in one canonical style
    #[command(
        after_help = "Files are changed in place, those that are right already are not touched. A text with syntax errors stays \
        as it is. Exit code 1 says that --check found something to change, or that a file has syntax errors."
    )]
    Fmt {
        /// Files, folders (searched for .str files), or `-` alone: from standard input to standard output
        #[arg(required = true, value_name = "FILE")]
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
        /// Such as E0123
        code: String,
    },
    /// Empty the cache of compiled programs
    Clean,
}

#[derive(Args, Debug)]
struct ProgramArgs {
    /// Source files of one program; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
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
    #[arg(long, value_name = "N")]
    max_filters: Option<usize>,
}

#[derive(Args, Debug)]
struct CodeArgs {
    /// Level of optimisation
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
    /// Keep debug information
    #[arg(long)]
    debug: bool,
    /// Leave out the checks of array bounds and integer division
    #[arg(long)]
    unchecked: bool,
    /// Let the C compiler reorder float arithmetic: faster, and other bytes
    #[arg(long)]
    fast_math: bool,
    /// The steady-state schedule
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    schedule: ScheduleArg,
}

#[derive(Args, Debug)]
struct RunArgs {
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
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Channels of a WAV output; by default those of a WAV input, else 1 (2 for complex items)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    channels: Option<u16>,
    /// Run the initialisation and this many steady states, instead of until the input ends
    #[arg(short = 'n', long, value_name = "N")]
    iterations: Option<u64>,
    /// Interpret instead of compiling
    #[arg(long)]
    interpret: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum MessageArg {
    /// For people
    #[default]
    Human,
    /// JSON lines, as docs/json.md describes
    Json,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum RatesArg {
    /// For people
    #[default]
    Table,
    /// One document, as docs/json.md describes
    Json,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum GraphArg {
    /// A picture
    Svg,
    /// Text for Graphviz
    Dot,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum EmitArg {
    /// C text
    C,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum ScheduleArg {
    /// Small code: each filter appears once
    #[default]
    SingleAppearance,
    /// Small buffers
    MinimumLatency,
}

impl From<RatesArg> for RatesFormat {
    fn from(format: RatesArg) -> RatesFormat {
        match format {
            RatesArg::Table => RatesFormat::Table,
            RatesArg::Json => RatesFormat::Json,
        }
    }
}

impl From<MessageArg> for MessageFormat {
    fn from(format: MessageArg) -> MessageFormat {
        match format {
            MessageArg::Human => MessageFormat::Human,
            MessageArg::Json => MessageFormat::Json,
        }
    }
}

impl ProgramArgs {
    fn options(self) -> ProgramOptions {
        ProgramOptions {
            files: self.files,
            top: self.top,
            messages: self.message_format.into(),
            time_passes: self.time_passes,
            dump_after: self.dump_after,
            max_filters: self.max_filters,
        }
    }
}

impl CodeArgs {
    fn options(&self) -> CodeOptions {
        CodeOptions {
            cc: CcOptions { level: self.level, debug: self.debug, fast_math: self.fast_math },
            unchecked: self.unchecked,
            schedule: match self.schedule {
                ScheduleArg::SingleAppearance => ScheduleKind::SingleAppearance,
                ScheduleArg::MinimumLatency => ScheduleKind::MinimumLatency,
            },
        }
    }
}

impl RunArgs {
    fn options(self) -> RunOptions {
        let format = |name: Option<String>| name.and_then(|n| Format::named(&n));
        RunOptions {
            bindings: Bindings {
                input_format: format(self.input_format),
                output_format: format(self.output_format),
                input: self.input,
                output: self.output,
                rate: self.rate,
                channels: self.channels,
            },
            iterations: self.iterations,
            interpret: self.interpret,
        }
    }
}

impl Arguments {
    /// Does what was asked.
    pub fn run(self) -> Exit {
        match self.command {
            Command::Check { program, parse_only } => commands::check(&program.options(), parse_only),
            Command::Rates { program, format } => commands::rates(&program.options(), format.into()),
            Command::Sdep { program, format } => {
                let mut options = program.options();
                let names = options.files.split_off(options.files.len().saturating_sub(2));
                commands::sdep(&options, &names, format.into())
            }
            Command::Graph { program, output, format } => {
                let format = format.map(|f| match f {
                    GraphArg::Svg => GraphFormat::Svg,
                    GraphArg::Dot => GraphFormat::Dot,
                });
                commands::graph(&program.options(), &output, format)
            }
            Command::Build { program, code, output, emit, lib } => {
                let product = match (emit, lib) {
                    (Some(EmitArg::C), _) => BuildProduct::C,
                    (None, true) => BuildProduct::Library,
                    (None, false) => BuildProduct::Executable,
                };
                commands::build(&program.options(), &code.options(), product, output.as_deref())
            }
            Command::Run { program, code, run } => commands::run(&program.options(), &code.options(), &run.options()),
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
