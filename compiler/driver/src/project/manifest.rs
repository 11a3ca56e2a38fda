//! # manifest
//!
//! Purpose: reads `sluice.toml`. Input: its text and folder. Output: a [`Manifest`], its paths joined to the folder, or diagnostics
//! that point into the text. What the command line says goes before what stands here.

use super::schema::{self, At, Faults, Table};
use super::sources;
use crate::io::format::Format;
use crate::makespan::programs::{Deadline, Kernels, OfProgram};
use crate::options::{CodeChoices, Inner, Linear, NativeOptions, RunOptions, ScheduleKind, Scheme, TakeApart};
use sluice_frontend::Analysis;
use sluice_grammar::diagnostic::{Diagnostic, Label};
use sluice_grammar::span::{FileId, SourceMap, Span};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The manifest's name.
pub const NAME: &str = "sluice.toml";

/// Seconds that a test may run where nobody says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// A day: no test takes longer.
const LONGEST: f64 = 86_400.0;

/// What the manifest says.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its path, as messages show it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its folder; empty for the current one.
    pub root: PathBuf,
    /// The project's name: that of what `sluice build` makes.
    pub name: String,
    /// The entry stream.
    pub entry: Option<At<String>>,
    /// The program's files.
    pub sources: Vec<String>,
    /// `[native]`
    pub native: NativeOptions,
    /// `[build]`
    pub build: CodeChoices,
    /// `[run]`
    pub run: RunDefaults,
    /// `[test]`
    pub test: TestSection,
    /// `[makespan]`
    pub makespan: MakespanSection,
}

/// What `sluice makespan` is asked, and what a build for a GPU must keep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MakespanSection {
    /// Where and how the kernels run.
    pub asked: OfProgram,
    /// Cycles for each steady state.
    pub deadline: Option<Deadline>,
}

/// How `sluice run` runs where the command line does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDefaults {
    /// The open input's file.
    pub input: Option<String>,
    /// The open output's file.
    pub output: Option<String>,
    /// The open input's format.
    pub input_format: Option<Format>,
    /// The open output's format.
    pub output_format: Option<Format>,
    /// Samples per second of a WAV output.
    pub rate: Option<u32>,
    /// Channels of a WAV output.
    pub channels: Option<u16>,
    /// Steady states.
    pub iterations: Option<u64>,
}

/// How `sluice test` tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSection {
    /// The tests' folder, from the manifest's on.
    pub folder: String,
    /// How long a run may take.
    pub timeout: Duration,
    /// Steady states, where a test gives none.
    pub iterations: Option<u64>,
}

/// What `[run]` and the tests call formats.
pub fn format(table: &mut Table<'_>, key: &'static str, faults: &mut Faults) -> Option<Format> {
    let found = table.string(key, faults)?;
    let format = Format::named(&found.value);
    if format.is_none() {
        faults.add(schema::not_a_choice(key, &found, &Format::all_names()));
    }
    format
}

/// The keys of `[build]`, in the manifest and in tests.
pub fn build(table: &mut Table<'_>, faults: &mut Faults) -> CodeChoices {
    CodeChoices {
        level: table.integer("level", 0..=3, faults).map(|n| n as u8),
        debug: table.boolean("debug", faults),
        unchecked: table.boolean("unchecked", faults),
        fast_math: table.boolean("fast-math", faults),
        schedule: table.choice("schedule", &ScheduleKind::NAMES, faults),
        channel_limit: table.integer("channel-limit", 1..=1 << 40, faults),
        fold: table.boolean("fold", faults),
        fuse: table.boolean("fuse", faults),
        privatise: table.boolean("privatise", faults),
        delay_lines: table.boolean("delay-lines", faults),
        take_apart: table.choice("take-apart", &TakeApart::NAMES, faults),
        inner: table.choice("inner", &Inner::NAMES, faults),
        linear: table.choice("linear", &Linear::NAMES, faults),
    }
}

/// The keys of `[native]`, in the manifest and in tests. Paths are relative to `root`; patterns leave out `without`.
pub fn native(table: &mut Table<'_>, root: &Path, without: Option<&Path>, faults: &mut Faults) -> NativeOptions {
    let mut list = |key, faults: &mut Faults| table.strings(key, faults).map(|l| l.value).unwrap_or_default();
    let plain = |l: Vec<At<String>>| l.into_iter().map(|a| a.value).collect::<Vec<String>>();
    let files = match sources::given(root, &list("sources", faults), without) {
        Ok(files) => files,
        Err(all) => {
            all.into_iter().for_each(|d| faults.add(d));
            Vec::new()
        }
    };
    let libraries = plain(list("libraries", faults));
    let mut paths = Vec::new();
    for At { value, span } in list("paths", faults) {
        let path = joined(root, &value);
        if !Path::new(&path).is_dir() {
            faults.add(Diagnostic::error("E0704", format!("there is no folder `{value}`"), span, "named here"));
        }
        paths.push(path);
    }
    NativeOptions { files, libraries, paths, flags: plain(list("flags", faults)) }
}

/// A time limit in seconds.
pub fn timeout(table: &mut Table<'_>, faults: &mut Faults) -> Option<Duration> {
    let At { value, span } = table.number("timeout", faults)?;
    if value > 0.0 && value <= LONGEST {
        return Some(Duration::from_secs_f64(value));
    }
    let title = "`timeout` is a number of seconds, more than 0 and at most a day";
    faults.add(Diagnostic::error("E0703", title, span, "this is not"));
    None
}

/// The target: which machine the code is for.
fn target(table: &mut Table<'_>, faults: &mut Faults) {
    let Some(found) = table.string("target", faults) else { return };
    match found.value.as_str() {
        "cpu" => {}
        "cuda" => faults.add(
            Diagnostic::error("E0705", "not yet: the target `cuda`", found.span, "only `cpu` can be built for")
                .help("leave the key out, or write \"cpu\""),
        ),
        _ => faults.add(schema::not_a_choice("target", &found, &["cpu"])),
    }
}

/// Can a project be called that?
pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && name.len() <= 64
}

/// The project's name where the manifest gives none: that of its folder, without the signs that no name has.
fn name_of(root: &Path) -> String {
    let folder = std::fs::canonicalize(if root.as_os_str().is_empty() { Path::new(".") } else { root }).ok();
    let name = folder.as_deref().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
    let name: String = (name.unwrap_or_default().chars())
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .take(64)
        .collect();
    if is_name(&name) { name } else { "program".into() }
}

/// Texts that stand for paths, joined to the folder.
fn joined(root: &Path, path: &str) -> String {
    sources::below(root, path).display().to_string()
}

impl Manifest {
    /// Reads a manifest. The map of the diagnostics is [`Manifest::map`]'s.
    pub fn parse(path: &str, text: &str, root: &Path) -> Result<Manifest, Vec<Diagnostic>> {
        let file = FileId(0);
        let (mut top, mut faults) = schema::parse(text, file, "the manifest");
        let mut manifest = Manifest {
            path: path.to_string(),
            text: text.to_string(),
            root: root.to_path_buf(),
            name: String::new(),
            entry: None,
            sources: Vec::new(),
            native: NativeOptions::default(),
            build: CodeChoices::default(),
            run: RunDefaults::default(),
            test: TestSection { folder: "tests".into(), timeout: TIMEOUT, iterations: None },
            makespan: MakespanSection::default(),
        };
        // first, since the patterns of sources leave the tests out
        if let Some(mut table) = top.table("test", &mut faults) {
            manifest.read_test(&mut table, &mut faults);
            table.finish(&mut faults);
        }
        let mut named = None;
        if let Some(mut table) = top.table("program", &mut faults) {
            named = manifest.read_program(&mut table, &mut faults);
            table.finish(&mut faults);
        }
        if let Some(mut table) = top.table("native", &mut faults) {
            manifest.native = native(&mut table, root, Some(&root.join(&manifest.test.folder)), &mut faults);
            table.finish(&mut faults);
        }
        if let Some(mut table) = top.table("build", &mut faults) {
            target(&mut table, &mut faults);
            manifest.build = build(&mut table, &mut faults);
            table.finish(&mut faults);
        }
        if let Some(mut table) = top.table("run", &mut faults) {
            manifest.read_run(&mut table, &mut faults);
            table.finish(&mut faults);
        }
        if let Some(mut table) = top.table("makespan", &mut faults) {
            manifest.read_makespan(&mut table, &mut faults);
            table.finish(&mut faults);
        }
        top.finish(&mut faults);
        let tests = root.join(&manifest.test.folder);
        match named.map(|patterns| sources::given(root, &patterns, Some(&tests))) {
            Some(Ok(files)) => manifest.sources = files,
            Some(Err(all)) => all.into_iter().for_each(|d| faults.add(d)),
            None => match sources::default(root, &tests) {
                Ok(files) => manifest.sources = files,
                Err(why) => faults.add(
                    Diagnostic::error("E0704", why, Span::new(file, 0, 0), "in the folder of this manifest")
                        .help("write a program, or say where it is: [program] sources = [\"...\"]"),
                ),
            },
        }
        if manifest.name.is_empty() {
            manifest.name = name_of(root);
        }
        let faults = faults.sorted();
        if faults.is_empty() { Ok(manifest) } else { Err(faults) }
    }

    /// The map for diagnostics about a manifest's text.
    pub fn map(path: &str, text: &str) -> SourceMap {
        let mut map = SourceMap::new();
        map.add(path, text);
        map
    }

    /// Gives the patterns of the sources, where there are some.
    fn read_program(&mut self, table: &mut Table<'_>, faults: &mut Faults) -> Option<Vec<At<String>>> {
        if let Some(name) = table.string("name", faults) {
            if is_name(&name.value) {
                self.name = name.value;
            } else {
                let title = format!("`{}` is no name for a project", name.value);
                let d = Diagnostic::error("E0703", title, name.span, "this name");
                faults.add(d.help("a name is a letter, then letters, digits, `-` and `_`: up to 64"));
            }
        }
        self.entry = table.string("entry", faults);
        let sources = table.strings("sources", faults)?;
        if sources.value.is_empty() {
            let d = Diagnostic::error("E0703", "`sources` names no file", sources.span, "an empty list");
            faults.add(d.help("leave the key out for all programs in src"));
        }
        Some(sources.value)
    }

    fn read_run(&mut self, table: &mut Table<'_>, faults: &mut Faults) {
        let root = self.root.clone();
        let path = |found: Option<At<String>>| found.map(|p| joined(&root, &p.value));
        self.run = RunDefaults {
            input: path(table.string("input", faults)),
            output: path(table.string("output", faults)),
            input_format: format(table, "input-format", faults),
            output_format: format(table, "output-format", faults),
            rate: table.integer("rate", 1..=u64::from(u32::MAX), faults).map(|n| n as u32),
            channels: table.integer("channels", 1..=64, faults).map(|n| n as u16),
            iterations: table.integer("iterations", 0..=u64::MAX, faults),
        };
        if let Some(span) = table.reserved("deadline") {
            let d = Diagnostic::error("E0705", "a deadline is for kernels of a GPU", span, "not of this section");
            faults.add(d.help("move it to a section [makespan]: cycles of a multiprocessor for each steady state"));
        }
    }

    fn read_makespan(&mut self, table: &mut Table<'_>, faults: &mut Faults) {
        let small = 1..=1 << 20;
        let arch = table.string("arch", faults).and_then(|found| match found.value.parse() {
            Ok(arch) => Some(arch),
            Err(why) => {
                faults.add(Diagnostic::error("E0703", why, found.span, "this one"));
                None
            }
        });
        let kernels = table.string("scheme", faults).and_then(|found| {
            let scheme = Scheme::NAMES.iter().find(|(name, _)| *name == found.value);
            let kernels = match scheme {
                Some((_, scheme)) => Kernels::of(*scheme),
                None => Err(format!("there is no scheme {}", found.value)),
            };
            let mut refuse = |why| {
                let d = Diagnostic::error("E0703", why, found.span, "this one");
                faults.add(d.help("`swp` for a kernel of each filter, `fused` for those of regions"));
            };
            kernels.map_err(&mut refuse).ok()
        });
        let threads = table.integer_at("threads", 32..=1024, faults).and_then(|found| {
            if found.value % 32 == 0 {
                return Some(found.value as u32);
            }
            let d = Diagnostic::error("E0703", "a block has a multiple of 32 threads", found.span, "this is none");
            faults.add(d.help("128 is usual"));
            None
        });
        self.makespan.asked = OfProgram {
            arch,
            kernels,
            threads,
            tile: table.integer("tile", 1..=1024, faults).map(|n| n as u32),
            multiprocessors: table.integer("multiprocessors", small.clone(), faults),
            resident: table.integer("resident", small.clone(), faults),
            states: table.integer("steady-states", small.clone(), faults),
            ls_units: table.integer("ls-units", small.clone(), faults).map(|n| n as u32),
            cores: table.integer("cores", small, faults).map(|n| n as u32),
        };
        self.makespan.deadline = table.integer_at("deadline", 1..=1 << 53, faults).map(|found| Deadline {
            cycles: found.value,
            manifest: (self.path.clone(), self.text.clone(), found.span),
        });
    }

    fn read_test(&mut self, table: &mut Table<'_>, faults: &mut Faults) {
        if let Some(At { value, span }) = table.string("folder", faults) {
            let inside = Path::new(&value).components().all(|c| matches!(c, std::path::Component::Normal(_)));
            if value.is_empty() || !inside {
                let d = Diagnostic::error("E0703", "`folder` is a folder of the project", span, "this is not");
                faults.add(d.help("name one from the manifest's folder on, such as \"tests\""));
            } else {
                self.test.folder = value;
            }
        }
        if let Some(limit) = timeout(table, faults) {
            self.test.timeout = limit;
        }
        self.test.iterations = table.integer("iterations", 0..=u64::MAX, faults);
    }

    /// Fills in how to run what the command line left open. `input` and `output`: does the entry have these ends?
    pub fn fill_run(&self, options: &mut RunOptions, input: bool, output: bool) {
        let (b, run) = (&mut options.bindings, &self.run);
        // A file that the command line names keeps the format of its extension.
        let speaks = |path: &Option<String>| {
            path.as_deref().is_some_and(|p| p != "-" && Format::of_extension(Path::new(p)).is_some())
        };
        if input {
            if b.input_format.is_none() && !speaks(&b.input) {
                b.input_format = run.input_format;
            }
            b.input = b.input.take().or_else(|| run.input.clone());
        }
        if output {
            if b.output_format.is_none() && !speaks(&b.output) {
                b.output_format = run.output_format;
            }
            b.output = b.output.take().or_else(|| run.output.clone());
            b.rate = b.rate.or(run.rate);
            b.channels = b.channels.or(run.channels);
        }
        options.iterations = options.iterations.or(run.iterations);
    }

    /// What is said about the entry points into the manifest, where the manifest names it.
    pub fn explain_entry(&self, analysis: &mut Analysis, top: Option<&str>) {
        // `--top` may have named another one.
        let entry = self.entry.as_ref().filter(|e| top == Some(e.value.as_str()));
        for d in analysis.diagnostics.iter_mut() {
            match (d.code, entry) {
                ("E0113", Some(entry)) => {
                    let file = analysis.sources.add(self.path.as_str(), self.text.as_str());
                    let span = Span { file, ..entry.span };
                    let label = Label { span, text: "asked for here".into() };
                    // With parameters, the stream itself is the first place.
                    match d.labels.first() {
                        Some(first) if !first.text.starts_with("asked") => d.labels.push(label),
                        _ => d.labels = vec![label],
                    }
                }
                ("E0112", _) => d.notes.push(format!("`entry` in [program] of {} can name it, too", self.path)),
                _ => {}
            }
        }
    }
}
