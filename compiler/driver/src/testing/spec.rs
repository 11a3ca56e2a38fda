//! # spec
//!
//! Purpose: what a test is: from the files that share its name, and from its description `NAME.toml` where it has one. Input: a
//! [`Group`] of files. Output: a [`Test`], or what is wrong with it, pointing into the description.

use super::find::Group;
use super::items;
use super::tolerance::Tolerance;
use crate::io::format::Format;
use crate::options::{CodeChoices, NativeOptions};
use crate::project::Manifest;
use crate::project::manifest;
use crate::project::schema::{self, At, Faults, StringOrTable, Table};
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::similar::closest;
use sluice_grammar::span::{FileId, SourceMap, Span};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// Larger files describe no test.
const LARGEST: u64 = 16 << 20;

/// With what a test's program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BackEnds {
    /// Both; they must do the same.
    #[default]
    Both,
    /// Native code only.
    Native,
    /// The reference interpreter only.
    Interpret,
}

impl BackEnds {
    /// The names.
    pub const NAMES: [(&str, BackEnds); 3] =
        [("both", BackEnds::Both), ("native", BackEnds::Native), ("interpret", BackEnds::Interpret)];

    /// What both allow; `None` where nothing is left.
    pub fn and(self, other: BackEnds) -> Option<BackEnds> {
        match (self, other) {
            (BackEnds::Both, one) | (one, BackEnds::Both) => Some(one),
            (a, b) => (a == b).then_some(a),
        }
    }
}

/// Where something stands that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file, which need not be there yet.
    File(String),
    /// In the test's description: the place of the value with its quotes.
    Inline {
        /// The description.
        toml: String,
        /// Bytes of the value.
        span: Range<usize>,
        /// The text.
        text: String,
    },
}

impl Place {
    /// Its name in messages.
    pub fn name(&self) -> &str {
        match self {
            Place::File(path) => path,
            Place::Inline { toml, .. } => toml,
        }
    }
}

/// Items or text that must come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Where they are written down.
    pub place: Place,
    /// The items' format, where one is given.
    pub format: Option<Format>,
}

impl Expected {
    /// The format to read and write: as given, else as the file's name says. A WAV file keeps the kind of samples that it has.
    pub fn format(&self) -> Result<Format, String> {
        let Place::File(path) = &self.place else { return Ok(Format::Text) };
        match (self.format, Format::of_extension(Path::new(path))) {
            (Some(format), _) => Ok(format),
            (None, Some(Format::Wav(_))) if Path::new(path).is_file() => items::wav_like(Path::new(path), path),
            (None, guess) => Ok(guess.unwrap_or(Format::Raw)),
        }
    }
}

/// Items for the open input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(String, Option<Format>),
    /// Numbers as text.
    Text(String),
}

/// A test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name: the path in the tests' folder, without an extension.
    pub name: String,
    /// The program's files.
    pub files: Vec<String>,
    /// The entry.
    pub entry: Option<String>,
    /// The test's own program, whose stream is the entry where none is named.
    pub program: Option<String>,
    /// What goes in.
    pub input: Option<Input>,
    /// What the open output gets.
    pub output: Option<Expected>,
    /// What the program prints.
    pub prints: Option<Expected>,
    /// What FileWriters write, by the path that the program gives.
    pub writes: Vec<(String, Expected)>,
    /// The code of the diagnostic that the program must end with.
    pub error: Option<String>,
    /// The exit code that the run must end with.
    pub exit: Option<u8>,
    /// Steady states.
    pub iterations: Option<u64>,
    /// Samples per second of a WAV output.
    pub rate: Option<u32>,
    /// Channels of a WAV output.
    pub channels: Option<u16>,
    /// How close numbers must be.
    pub tolerance: Tolerance,
    /// How long a run may take.
    pub timeout: Duration,
    /// With what it runs.
    pub back_ends: BackEnds,
    /// How code is made.
    pub code: CodeChoices,
    /// Where native functions come from.
    pub natives: NativeOptions,
    /// The path of files that `--bless` makes where nothing is expected yet: `.out` and `.out.txt` go behind it.
    pub stem: String,
}

impl Test {
    /// Is anything expected of it?
    pub fn expects_something(&self) -> bool {
        let an_end = self.error.is_some() || self.exit.is_some();
        an_end || self.output.is_some() || self.prints.is_some() || !self.writes.is_empty()
    }
}

/// Why a test cannot be run.
#[derive(Debug)]
pub struct Broken {
    /// The description, or nothing.
    pub map: SourceMap,
    /// What is wrong in it.
    pub diagnostics: Vec<Diagnostic>,
    /// What is wrong where no place can be shown.
    pub message: Option<String>,
}

impl From<String> for Broken {
    fn from(message: String) -> Broken {
        Broken { map: SourceMap::new(), diagnostics: Vec::new(), message: Some(message) }
    }
}

/// `path` as seen from the folder of `toml`.
fn beside(toml: &str, path: &str) -> String {
    let folder = Path::new(toml).parent().unwrap_or(Path::new(""));
    let mut out = std::path::PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            std::path::Component::CurDir => {}
            // the tests' own folder is a plain one, as are those in it
            std::path::Component::ParentDir
                if matches!(out.components().next_back(), Some(std::path::Component::Normal(_))) =>
            {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out.display().to_string()
}

fn contradiction(title: &str, span: Span, help: &str) -> Diagnostic {
    Diagnostic::error("E0706", title, span, "here").help(help)
}

/// Reads the keys of a description.
struct Reader<'r> {
    toml: &'r str,
    faults: Faults,
}

impl Reader<'_> {
    /// A file that must be there.
    fn existing(&mut self, key: &str, path: &At<String>) -> String {
        let file = beside(self.toml, &path.value);
        if !Path::new(&file).is_file() {
            let title = format!("`{key}`: there is no file `{file}`");
            let d = Diagnostic::error("E0704", title, path.span, "named here");
            self.faults.add(d.help("paths are relative to the folder of this description"));
        }
        file
    }

    /// The parts of `input`, `output` and `prints`: a file or a text, and its format.
    fn source(&mut self, table: &mut Table<'_>, span: Span, formats: bool) -> Option<(Source, Option<Format>)> {
        let file = table.string("file", &mut self.faults);
        let text = table.string("text", &mut self.faults);
        let place = text.as_ref().map(|t| t.span);
        let format = if formats { manifest::format(table, "format", &mut self.faults) } else { None };
        let source = match (file, text) {
            (Some(file), None) => Source::File(file),
            (None, Some(text)) => Source::Text(text),
            (Some(file), Some(_)) => {
                self.faults.add(contradiction("both `file` and `text`", file.span, "keep one of them"));
                return None;
            }
            (None, None) => {
                self.faults.add(contradiction(
                    "neither `file` nor `text`",
                    span,
                    "say which items: in a file, or as text",
                ));
                return None;
            }
        };
        if let (Source::Text(_), Some(format), Some(place)) = (&source, format, place)
            && format != Format::Text
        {
            let title = format!("a text cannot have the format {}", format.name());
            self.faults.add(contradiction(&title, place, "put the items into a file, or leave out the format"));
        }
        Some((source, format))
    }

    fn either(&mut self, top: &mut Table<'_>, key: &'static str, formats: bool) -> Option<(Source, Option<Format>)> {
        match top.string_or_table(key, &mut self.faults)? {
            StringOrTable::String(file) => Some((Source::File(file), None)),
            StringOrTable::Table(mut table, span) => {
                let found = self.source(&mut table, span, formats);
                table.finish(&mut self.faults);
                found
            }
        }
    }

    /// Something expected.
    fn expected(&mut self, found: (Source, Option<Format>)) -> Expected {
        let (source, format) = found;
        match source {
            Source::File(file) => Expected { place: Place::File(beside(self.toml, &file.value)), format },
            Source::Text(text) => {
                let span = text.span.start as usize..text.span.end as usize;
                let place = Place::Inline { toml: self.toml.to_string(), span, text: text.value };
                Expected { place, format: Some(Format::Text) }
            }
        }
    }

    /// The code of an error.
    fn error(&mut self, top: &mut Table<'_>) -> Option<String> {
        let found = top.string("error", &mut self.faults)?;
        let codes: Vec<&str> = crate::explain::codes().into_iter().filter(|c| c.starts_with('E')).collect();
        if codes.contains(&found.value.as_str()) {
            return Some(found.value);
        }
        let title = format!("`{}` is not the code of an error", found.value);
        let d = Diagnostic::error("E0703", title, found.span, "this code");
        self.faults.add(match closest(&found.value, codes) {
            Some(near) => d.help(format!("did you mean {near}? `sluice explain` knows all codes")),
            None => d.help("a code is what stands in brackets before a message, such as E0951"),
        });
        None
    }
}

enum Source {
    File(At<String>),
    Text(At<String>),
}

/// The only one of a test's files of a kind.
fn single(files: &[String]) -> Option<&String> {
    if let [one] = files { Some(one) } else { None }
}

/// Makes a test of its files.
pub fn read(group: &Group, project: &Manifest) -> Result<Test, Broken> {
    let file = |path: &String, format| Expected { place: Place::File(path.clone()), format };
    let mut test = Test {
        name: group.name.clone(),
        files: group.program.clone().map_or_else(|| project.sources.clone(), |p| vec![p]),
        entry: None,
        program: group.program.clone(),
        input: single(&group.inputs).map(|p| Input::File(p.clone(), None)),
        output: single(&group.outputs).map(|p| file(p, None)),
        prints: group.prints.as_ref().map(|p| file(p, Some(Format::Text))),
        writes: Vec::new(),
        error: None,
        exit: None,
        iterations: project.test.iterations.or(project.run.iterations),
        rate: project.run.rate,
        channels: project.run.channels,
        tolerance: Tolerance::default(),
        timeout: project.test.timeout,
        back_ends: BackEnds::Both,
        code: project.build,
        natives: project.native.clone(),
        stem: group.stem.clone(),
    };
    if let Some(toml) = &group.description {
        describe(&mut test, toml, project)?;
    }
    let toml = format!("{}.toml", group.stem);
    if let ([a, b, ..], None) = (&group.inputs[..], &test.input) {
        return Err(
            format!("the test has two inputs, {a} and {b}: keep one, or name the one that is meant in {toml}").into()
        );
    }
    if let ([a, b, ..], None) = (&group.outputs[..], &test.output) {
        return Err(format!(
            "the test expects two outputs, {a} and {b}: keep one, or name the one that is meant in {toml}"
        )
        .into());
    }
    if test.entry.is_none() && test.program.is_none() {
        test.entry = project.entry.as_ref().map(|e| e.value.clone());
    }
    Ok(test)
}

/// Reads the description into the test.
fn describe(test: &mut Test, toml: &str, project: &Manifest) -> Result<(), Broken> {
    let fault = |why: String| Broken::from(format!("cannot read {toml}: {why}"));
    if std::fs::metadata(toml).is_ok_and(|m| m.len() > LARGEST) {
        return Err(fault("it is larger than 16 MiB".into()));
    }
    let text = std::fs::read(toml).map_err(|e| fault(crate::exit::plain_io_error(&e)))?;
    let text = String::from_utf8(text).map_err(|_| fault("it is not UTF-8".into()))?;
    let (mut top, faults) = schema::parse(&text, FileId(0), "a test");
    let mut r = Reader { toml, faults };
    if let Some(files) = top.strings("files", &mut r.faults) {
        test.files = files.value.iter().map(|f| r.existing("files", f)).collect();
        test.program = test.program.take().filter(|p| test.files.contains(p));
    }
    if let Some(entry) = top.string("entry", &mut r.faults) {
        test.entry = Some(entry.value);
    }
    if let Some((source, format)) = r.either(&mut top, "input", true) {
        test.input = Some(match source {
            Source::File(file) => Input::File(r.existing("input", &file), format),
            Source::Text(text) => Input::Text(text.value),
        });
    }
    if let Some(found) = r.either(&mut top, "output", true) {
        test.output = Some(r.expected(found));
    }
    if let Some(found) = r.either(&mut top, "prints", false) {
        test.prints = Some(Expected { format: Some(Format::Text), ..r.expected(found) });
    }
    if let Some(mut table) = top.table("writes", &mut r.faults) {
        for (path, file) in table.all_strings(&mut r.faults) {
            let expected = Expected { format: Some(Format::Raw), ..r.expected((Source::File(file), None)) };
            test.writes.push((path.value, expected));
        }
    }
    test.error = r.error(&mut top);
    if let Some(exit) = top.integer_at("exit", 0..=255, &mut r.faults) {
        test.exit = Some(exit.value as u8);
        if let Some(code) = test.error.as_ref().filter(|_| exit.value != 1) {
            let title = format!("a program that ends with {code} has the exit code 1, not {}", exit.value);
            r.faults.add(contradiction(&title, exit.span, "leave out `exit`"));
        }
    }
    if let Some(n) = top.integer("iterations", 0..=u64::MAX, &mut r.faults) {
        test.iterations = Some(n);
    }
    if let Some(n) = top.integer("rate", 1..=u64::from(u32::MAX), &mut r.faults) {
        test.rate = Some(n as u32);
    }
    if let Some(n) = top.integer("channels", 1..=64, &mut r.faults) {
        test.channels = Some(n as u16);
    }
    if let Some(mut table) = top.table("tolerance", &mut r.faults) {
        test.tolerance = Tolerance {
            absolute: table.number("absolute", &mut r.faults).map(|n| n.value),
            relative: table.number("relative", &mut r.faults).map(|n| n.value),
            ulps: table.integer("ulps", 0..=u64::MAX, &mut r.faults),
        };
        table.finish(&mut r.faults);
    }
    if let Some(limit) = manifest::timeout(&mut top, &mut r.faults) {
        test.timeout = limit;
    }
    if let Some(back_ends) = top.choice("back-end", &BackEnds::NAMES, &mut r.faults) {
        test.back_ends = back_ends;
    }
    if let Some(mut table) = top.table("build", &mut r.faults) {
        test.code = manifest::build(&mut table, &mut r.faults).or(project.build);
        table.finish(&mut r.faults);
    }
    if let Some(mut table) = top.table("native", &mut r.faults) {
        let folder = Path::new(toml).parent().unwrap_or(Path::new(""));
        test.natives = manifest::native(&mut table, folder, None, &mut r.faults).or(&project.native);
        table.finish(&mut r.faults);
    }
    top.finish(&mut r.faults);
    let diagnostics = r.faults.sorted();
    if diagnostics.is_empty() {
        return Ok(());
    }
    let mut map = SourceMap::new();
    map.add(toml, text);
    Err(Broken { map, diagnostics, message: None })
}
