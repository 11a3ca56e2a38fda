//! # child
//!
//! Purpose: one run of a test's program with one back end, in a process of its own (`sluice run-test`, which the test runner starts): so
//! that a program that never ends can be ended, and one that crashes takes nothing with it. Input: a [`Request`] on standard input.
//! Output: files in the request's folder ([`PRINTS`] is standard output, [`OUTPUT`] what the open output gets, [`WRITTEN`] what
//! FileWriters write), a [`Report`] about them in [`REPORT`], JSON messages on standard error, and the exit code of `sluice run`.

use super::shape::Shape;
use crate::exit::{Exit, Fault};
use crate::io::format::{Format, WavSample};
use crate::io::host::{self, Bindings, End};
use crate::io::item::{ItemType, Scalar};
use crate::options::BackEnd;
use crate::options::{CodeChoices, NativeOptions, ProgramOptions, RunOptions};
use crate::pipeline::{self, Confinement, Halt};
use crate::session::Session;
use serde::{Deserialize, Serialize};
use sluice_frontend::graph::Endpoint;
use std::path::{Path, PathBuf};

/// Where standard output goes.
pub const PRINTS: &str = "prints";
/// Where standard error goes.
pub const MESSAGES: &str = "messages";
/// What the open output gets.
pub const OUTPUT: &str = "output";
/// The folder of what FileWriters write.
pub const WRITTEN: &str = "written";
/// What the run says about its ends.
pub const REPORT: &str = "report.json";
/// Is there as soon as the program itself runs.
pub const STARTED: &str = "started";

/// The most bytes that a file of a test's run may have.
pub const MOST_BYTES: u64 = 64 << 20;

/// What is to be run, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The program's files.
    pub files: Vec<String>,
    /// The entry.
    pub top: Option<String>,
    /// Without an entry: the file whose stream is meant.
    pub test_program: Option<String>,
    /// A file for the open input.
    pub input: Option<String>,
    /// Its format, by name.
    pub input_format: Option<String>,
    /// Must there be an open output?
    pub wants_output: bool,
    /// The output's format; without one, what suits the items.
    pub output_format: Option<String>,
    /// Samples per second of a WAV output.
    pub rate: Option<u32>,
    /// Channels of a WAV output.
    pub channels: Option<u16>,
    /// Steady states.
    pub iterations: Option<u64>,
    /// The interpreter, instead of native code.
    pub interpret: bool,
    /// How code is made.
    pub code: CodeChoices,
    /// Where native functions come from.
    pub natives: NativeOptions,
    /// The folder for all that comes out.
    pub folder: PathBuf,
}

/// What came out at an end.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct EndReport {
    /// The file, in the request's folder.
    pub file: String,
    /// The path that the program gives, of a FileWriter.
    pub path: Option<String>,
    /// The format, by name.
    pub format: String,
    /// The items.
    pub shape: Shape,
}

/// What a run says about its ends.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Report {
    /// The open output.
    pub output: Option<EndReport>,
    /// FileWriters, in program order.
    pub written: Vec<EndReport>,
}

impl Request {
    fn program(&self) -> ProgramOptions {
        let mut top = self.top.clone();
        if let (None, Some(file)) = (&top, &self.test_program) {
            // What cannot be read or parsed is reported where the whole program is.
            let text = std::fs::read(file).map(|bytes| sluice_grammar::decode(&bytes).0).unwrap_or_default();
            let (tree, _) = sluice_grammar::parse(sluice_grammar::span::FileId(0), &text);
            top = sluice_frontend::entry::of_file(&tree).map(|n| n.to_string());
        }
        ProgramOptions { files: self.files.clone(), top, ..ProgramOptions::default() }
    }

    fn input_format(&self) -> Option<Format> {
        self.input_format.as_deref().and_then(Format::named)
    }

    /// The format of an output that nothing is known about: like the input where that can hold the items.
    fn suitable(&self, item: &ItemType) -> Format {
        let input = self.input.as_ref().map(Path::new).and_then(Format::of_extension);
        match (item.scalar, self.input_format().or(input)) {
            (None, _) => Format::Raw,
            (Some(_), None | Some(Format::Text)) => Format::Text,
            (Some(Scalar::F32 | Scalar::F64), Some(Format::Wav(_))) => Format::Wav(WavSample::I16),
            (Some(Scalar::F32), Some(Format::F32 | Format::C64)) => Format::F32,
            (Some(Scalar::F64), Some(Format::F64)) => Format::F64,
            (Some(Scalar::Int), Some(Format::I32)) => Format::I32,
            _ => Format::Raw,
        }
    }
}

/// Do the program's ends fit the test?
fn check(request: &Request, readers: &[End], writers: &[End], nodes: usize) -> Result<(), Fault> {
    let open = |ends: &[End]| ends.iter().any(|e| e.endpoint == Endpoint::Open);
    let fault = |message: &str, help: &str| Err(Fault::usage(message).help(help));
    match (open(readers), request.input.is_some()) {
        (true, false) => {
            return fault(
                "the entry has an open input, and the test gives none",
                "put the items beside the test, in NAME.in.txt, or name them with `input` in NAME.toml",
            );
        }
        (false, true) => {
            return fault("the test has an input, but the entry has no open one", "is the entry the right one?");
        }
        _ => {}
    }
    if request.wants_output && !open(writers) {
        return fault(
            "the test expects an output, but the entry has no open one",
            "NAME.out is for what a program prints, NAME.out.txt for the items of an open output",
        );
    }
    if readers.is_empty() && request.iterations.is_none() && nodes > 0 {
        return fault(
            "the program has no input whose end could end it",
            "say how many steady states: `iterations` in NAME.toml, or in [test] of sluice.toml",
        );
    }
    Ok(())
}

/// What will come out where.
fn describe(checked: &pipeline::Checked, writers: &[End], output: Format) -> Report {
    let program = &checked.program;
    let mut report = Report::default();
    for (i, end) in writers.iter().enumerate() {
        let channel = program.graph.node(end.node).inputs.first();
        let ty = channel.map(|c| &program.graph.channel(*c).ty);
        let shape = ty.map_or(Shape::Bytes(1), |ty| Shape::of(ty, &end.item, &program.globals));
        let (path, format) = match &end.endpoint {
            Endpoint::File(path) => (Some(path.clone()), Format::Raw),
            Endpoint::Open => (None, output),
        };
        let file = match &path {
            Some(_) => Path::new(WRITTEN).join(i.to_string()).display().to_string(),
            None => OUTPUT.to_string(),
        };
        let one = EndReport { file, path, format: format.name().to_string(), shape };
        match one.path {
            Some(_) => report.written.push(one),
            None => report.output = Some(one),
        }
    }
    report
}

/// Reads the request from standard input.
pub fn request() -> Result<Request, Fault> {
    // Whoever started this has gone: nobody waits for the result.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    serde_json::from_reader(std::io::stdin().lock())
        .map_err(|e| Fault::usage(format!("`sluice run-test` is for `sluice test`, which tells it what to run: {e}")))
}

/// Runs it.
pub fn run(session: &mut Session, request: &Request) -> Result<Exit, Halt> {
    let options = request.program();
    let checked = pipeline::check(session, &options)?;
    let program = &checked.program;
    let (readers, writers) = host::ends(&program.graph, &program.globals)?;
    check(request, &readers, &writers, program.graph.nodes.len())?;
    let open = writers.iter().find(|w| w.endpoint == Endpoint::Open);
    let format = match &request.output_format {
        Some(name) => Format::named(name).unwrap_or(Format::Raw),
        None => open.map_or(Format::Raw, |w| request.suitable(&w.item)),
    };
    let report = describe(&checked, &writers, format);
    let path = |name: &str| request.folder.join(name);
    let text = serde_json::to_vec(&report).map_err(|e| Fault::internal(e.to_string()))?;
    std::fs::write(path(REPORT), text)
        .and_then(|()| std::fs::create_dir(path(WRITTEN)))
        .map_err(|e| Fault::file("write to", request.folder.display(), &e))?;
    let wav = matches!(format, Format::Wav(_)) && open.is_some();
    let run = RunOptions {
        bindings: Bindings {
            input: request.input.clone(),
            input_format: request.input_format(),
            output: open.map(|_| path(OUTPUT).display().to_string()),
            output_format: open.map(|_| format),
            rate: request.rate.filter(|_| wav),
            channels: request.channels.filter(|_| wav),
            data: None,
            written: Some(path(WRITTEN)),
        },
        iterations: request.iterations,
        interpret: request.interpret,
        back_end: BackEnd::Cc,
        threads: None,
        cuda: None,
        trace: None,
        stats: None,
        confinement: Some(Confinement { started: path(STARTED), most_bytes: MOST_BYTES }),
    };
    pipeline::run(session, &checked, &request.code.options(&options), &run, &request.natives)
}
