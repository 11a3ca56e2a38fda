//! # judge
//!
//! Purpose: has a test passed? Input: the test, and what its runs did. Output: a [`Verdict`]: what is wrong, and what `--bless` would
//! write. In this order: did the runs end as they should; do both back ends do the same; is it what is expected.

use super::child::{EndReport, MOST_BYTES, OUTPUT};
use super::compare::{self, ItemDifference};
use super::items::Items;
use super::launch::{Ended, Ran};
use super::lines;
use super::spec::{Expected, Place, Test};
use super::tolerance::Tolerance;
use crate::io::format::Format;
use serde::Serialize;
use std::path::Path;

/// One thing that is wrong with a test.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Failure {
    /// What kind, for tools.
    pub kind: &'static str,
    /// The back end at fault, where it is one.
    pub back_end: Option<&'static str>,
    /// One line.
    pub message: String,
    /// Further lines for people.
    pub detail: String,
    /// The file that says what should have come.
    pub file: Option<String>,
    /// How items differ.
    pub items: Option<ItemNumbers>,
    /// How lines differ.
    pub lines: Option<LineNumbers>,
    /// Would `--bless` mend it?
    #[serde(skip)]
    pub mendable: bool,
}

impl Failure {
    /// Says which file it is that things differ from.
    fn with_file(mut self, name: &str) -> Failure {
        self.message.push_str(&format!(" ({name})"));
        self
    }
}

/// How items differ, for tools.
#[derive(Clone, Debug, Serialize)]
pub struct ItemNumbers {
    expected: u64,
    got: u64,
    differing: u64,
    first: u64,
    first_expected: Option<String>,
    first_got: Option<String>,
    largest_error: Option<f64>,
    largest_error_item: Option<u64>,
    largest_relative_error: Option<f64>,
    largest_relative_error_item: Option<u64>,
}

/// How lines differ, for tools.
#[derive(Clone, Debug, Serialize)]
pub struct LineNumbers {
    first: u64,
    missing: u64,
    unexpected: u64,
}

/// Something that `--bless` writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub place: Place,
    /// What.
    pub bytes: Vec<u8>,
    /// Are these items, which may stand on one line?
    pub items: bool,
    /// What is new about it.
    pub note: String,
}

/// What became of a test.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// What is wrong; nothing where it has passed.
    pub failures: Vec<Failure>,
    /// What `--bless` would write to mend those that it can.
    pub changes: Vec<Change>,
}

impl Verdict {
    /// Would `--bless` mend all that is wrong?
    pub fn is_mendable(&self) -> bool {
        !self.changes.is_empty() && self.failures.iter().all(|f| f.mendable)
    }
}

/// A run and its back end's name.
pub type Named = (&'static str, Ran);

/// The names of back ends in messages.
pub const NATIVE: &str = "native";
/// See [`NATIVE`].
pub const INTERPRET: &str = "interpret";

fn in_words(back_end: &str) -> &'static str {
    if back_end == NATIVE { "native code" } else { "the interpreter" }
}

/// What is wrong with how a run ended.
fn end_of(test: &Test, ran: &Ran) -> Option<Failure> {
    let detail = ran.messages.clone();
    let failure = |kind, message: String| Some(Failure { kind, message, detail, ..Failure::default() });
    let reported = || match &ran.codes[..] {
        [] => "no error with a code was reported".to_string(),
        codes => format!("{} was reported", codes.join(", ")),
    };
    match (&ran.ended, &test.error) {
        (Ended::Exit(1), Some(code)) if ran.codes.contains(code) => None,
        (Ended::Exit(0), Some(code)) => failure("end", format!("{code} is expected, but the run ended well")),
        (Ended::Exit(_), Some(code)) => failure("end", format!("{code} is expected, but {}", reported())),
        (Ended::Exit(code), None) => match (test.exit.unwrap_or(0), *code) {
            (wanted, got) if wanted == got => None,
            (0, 1) => failure("end", "the program is at fault (exit code 1)".into()),
            (0, 2) => failure("end", "the test does not fit the program (exit code 2)".into()),
            (0, 3) => failure("end", "its input or the system is at fault (exit code 3)".into()),
            (0, 4) => failure("end", "sluice itself is at fault (exit code 4)".into()),
            (0, got) => failure("end", format!("the run ended with exit code {got}")),
            (wanted, got) => failure("end", format!("the exit code {wanted} is expected, {got} came")),
        },
        (Ended::Signal(n), _) => {
            let name = match n {
                4 => "an illegal instruction, ",
                6 => "an abort, ",
                7 => "a bus error, ",
                8 => "an arithmetic fault, ",
                9 => "killed, perhaps for want of memory, ",
                11 => "a segmentation fault, ",
                _ => "",
            };
            failure("crash", format!("the run crashed ({name}signal {n})"))
        }
        (Ended::Timeout(limit), _) => failure(
            "timeout",
            format!("the run had not ended after {} s; `timeout` sets another limit", limit.as_secs_f64()),
        ),
        (Ended::Compiling(limit), _) => {
            failure("timeout", format!("the program was not compiled after {} s, and has not run", limit.as_secs_f64()))
        }
        (Ended::TooMuch, _) => {
            failure("too-much", format!("the run put out more than {} MiB; `iterations` limits it", MOST_BYTES >> 20))
        }
    }
}

/// A failure about items that differ.
fn items_failure(
    kind: &'static str,
    what: &str,
    d: &ItemDifference,
    sides: [&Items; 2],
    tolerance: &Tolerance,
    names: [&str; 2],
) -> Failure {
    let [expected, got] = sides;
    let mut detail = d.errors().map_or_else(String::new, |line| line + "\n");
    detail.push_str(&d.table(expected, got, tolerance, names));
    let [first_expected, first_got] = compare::first_values(d, expected, got, tolerance);
    let items = ItemNumbers {
        expected: d.expected,
        got: d.got,
        differing: d.differing,
        first: d.first,
        first_expected,
        first_got,
        largest_error: d.absolute.map(|l| l.error),
        largest_error_item: d.absolute.map(|l| l.item),
        largest_relative_error: d.relative.map(|l| l.error),
        largest_relative_error_item: d.relative.map(|l| l.item),
    };
    Failure { kind, message: format!("{what}: {}", d.line()), detail, items: Some(items), ..Failure::default() }
}

/// A failure about lines that differ.
fn lines_failure(kind: &'static str, what: &str, d: lines::LineDifference) -> Failure {
    let missing = compare::count(d.missing, "line");
    let message = format!("{what}: {missing} missing, {} unexpected, from line {} on", d.unexpected, d.first);
    let lines = LineNumbers { first: d.first, missing: d.missing, unexpected: d.unexpected };
    Failure { kind, message, detail: d.text, lines: Some(lines), ..Failure::default() }
}

/// The items of an end of a run.
fn items_of(ran: &Ran, end: &EndReport, name: &str) -> Result<Items, String> {
    let format = Format::named(&end.format).unwrap_or(Format::Raw);
    Items::read(&ran.folder.path().join(&end.file), name, format, &end.shape)
}

/// What the back ends do differently.
fn disagreements(runs: &[Named]) -> Vec<Failure> {
    let [(_, native), (_, interpreted)] = runs else { return Vec::new() };
    let mut all = Vec::new();
    let exact = Tolerance::default();
    let names = ["interpreter", "native"];
    if native.ended != interpreted.ended || native.codes != interpreted.codes {
        let say = |ran: &Ran| match (&ran.ended, &ran.codes[..]) {
            (Ended::Exit(code), []) => format!("exit code {code}"),
            (_, codes) => codes.join(", "),
        };
        let message = format!(
            "the back ends end differently: native code with {}, the interpreter with {}",
            say(native),
            say(interpreted)
        );
        all.push(Failure { kind: "back-ends", message, ..Failure::default() });
    }
    if let Some(d) = lines::compare(&interpreted.prints, &native.prints, &exact) {
        let what = "native code does not print what the interpreter does";
        let mut failure = lines_failure("back-ends", what, d);
        failure.detail.insert_str(0, "(- is the interpreter's, + is native code's)\n");
        all.push(failure);
    }
    let ends = |ran: &Ran| ran.report.output.iter().chain(&ran.report.written).cloned().collect::<Vec<_>>();
    for (a, b) in ends(interpreted).iter().zip(&ends(native)) {
        let (x, y) = (interpreted.bytes(&a.file), native.bytes(&b.file));
        if x == y {
            continue;
        }
        let what = match &a.path {
            Some(path) => format!("native code does not write to {path} what the interpreter does"),
            None => "native code does not give the output that the interpreter gives".to_string(),
        };
        let sides = (items_of(interpreted, a, "the interpreter's"), items_of(native, b, "native code's"));
        let found = match &sides {
            (Ok(x), Ok(y)) => compare::compare(x, y, &exact).map(|d| (d, [x, y])),
            _ => None,
        };
        all.push(match found {
            Some((d, sides)) => items_failure("back-ends", &what, &d, sides, &exact, names),
            None => Failure { kind: "back-ends", message: format!("{what}: other bytes"), ..Failure::default() },
        });
    }
    for failure in &mut all {
        failure
            .detail
            .push_str("this is a fault of sluice, or of a native function: please report it with the program\n");
    }
    all
}

/// What must come, as bytes; `None` for a file that is not there yet.
fn wanted(place: &Place) -> Result<Option<Vec<u8>>, String> {
    match place {
        Place::Inline { text, .. } => Ok(Some(text.clone().into_bytes())),
        Place::File(path) => match std::fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(format!("cannot read {path}: {}", crate::exit::plain_io_error(&e))),
        },
    }
}

/// Notes a difference to what a place says, and the bytes that would mend it.
fn note(verdict: &mut Verdict, expected: &Expected, failure: Failure, bytes: Vec<u8>, what: String) {
    let items = failure.kind != "prints";
    verdict.changes.push(Change { place: expected.place.clone(), bytes, items, note: what });
    verdict.failures.push(Failure { file: Some(expected.place.name().to_string()), mendable: true, ..failure });
}

/// A file that is not there.
fn missing(kind: &'static str, expected: &Expected) -> Failure {
    let message = format!("{} is not there; `sluice test --bless` writes it", expected.place.name());
    Failure { kind, message, ..Failure::default() }
}

/// Compares what a program printed.
fn prints(test: &Test, expected: &Expected, ran: &Ran, verdict: &mut Verdict) {
    let bytes = ran.prints.clone();
    match wanted(&expected.place) {
        Err(message) => verdict.failures.push(Failure { kind: "prints", message, ..Failure::default() }),
        Ok(None) => note(verdict, expected, missing("prints", expected), bytes, "new".into()),
        Ok(Some(want)) => {
            if let Some(d) = lines::compare(&want, &ran.prints, &test.tolerance) {
                let changed = format!("{} gone, {} new", compare::count(d.missing, "line"), d.unexpected);
                let failure = lines_failure("prints", "what it prints", d).with_file(expected.place.name());
                note(verdict, expected, failure, bytes, changed);
            }
        }
    }
}

/// Compares items that came out at an end.
fn output(test: &Test, expected: &Expected, ran: &Ran, end: &EndReport, verdict: &mut Verdict) {
    let what = match &end.path {
        Some(path) => format!("what is written to {path}"),
        None => "output".to_string(),
    };
    let kind = if end.path.is_some() { "writes" } else { "output" };
    let plain = |message: String| Failure { kind, message, ..Failure::default() };
    let Some(bytes) = ran.bytes(&end.file) else {
        verdict.failures.push(plain(format!("{what}: nothing came, since the run failed")));
        return;
    };
    let want = match wanted(&expected.place) {
        Ok(Some(want)) => want,
        Ok(None) => return note(verdict, expected, missing(kind, expected), bytes, "new".into()),
        Err(message) => return verdict.failures.push(plain(message)),
    };
    if want == bytes {
        return;
    }
    let name = expected.place.name();
    let format = match expected.format() {
        Ok(format) => format,
        Err(message) => return note(verdict, expected, plain(message), bytes, "other items".into()),
    };
    let read = match &expected.place {
        Place::File(path) => Items::read(Path::new(path), name, format, &end.shape),
        Place::Inline { .. } => Items::of(name, want, format, &end.shape),
    };
    let sides = read.and_then(|want| items_of(ran, end, "the output").map(|got| (want, got)));
    let (want, got) = match sides {
        Ok(sides) => sides,
        Err(message) => return note(verdict, expected, plain(message), bytes, "other items".into()),
    };
    if let Some(left) = &want.leftover {
        return note(verdict, expected, plain(left.clone()), bytes, "other items".into());
    }
    if let (Some(w), Some(g)) = (&want.wav, &got.wav)
        && (w.rate, w.channels) != (g.rate, g.channels)
    {
        let message = format!(
            "{what}: {} samples per second in {} expected, {} in {} came",
            w.rate,
            compare::count(w.channels.into(), "channel"),
            g.rate,
            compare::count(g.channels.into(), "channel")
        );
        return note(verdict, expected, plain(message), bytes, "other items".into());
    }
    if let Some(d) = compare::compare(&want, &got, &test.tolerance) {
        let failure = items_failure(kind, &what, &d, [&want, &got], &test.tolerance, ["expected", "got"]);
        let changed =
            d.line().replace(" differs", " changed").replace(" differ", " changed").replace("expected", "before");
        note(verdict, expected, failure.with_file(name), bytes, changed);
    }
}

/// Compares one run with all that is expected.
fn expectations(test: &Test, ran: &Ran) -> Verdict {
    let mut verdict = Verdict::default();
    if let (Some(expected), Some(end)) = (&test.output, &ran.report.output) {
        output(test, expected, ran, end, &mut verdict);
    }
    if let Some(expected) = &test.prints {
        prints(test, expected, ran, &mut verdict);
    }
    for (path, expected) in &test.writes {
        match ran.report.written.iter().find(|end| end.path.as_deref() == Some(path)) {
            Some(end) => output(test, expected, ran, end, &mut verdict),
            None if ran.report.written.is_empty() && ran.report.output.is_none() && test.error.is_some() => {}
            None => {
                let names: Vec<&str> = ran.report.written.iter().filter_map(|e| e.path.as_deref()).collect();
                let there = if names.is_empty() { "none".to_string() } else { names.join(", ") };
                let message = format!("the program has no FileWriter for {path}; it has {there}");
                verdict.failures.push(Failure { kind: "writes", message, ..Failure::default() });
            }
        }
    }
    if !test.expects_something() {
        nothing_expected(test, ran, &mut verdict);
    }
    verdict
}

/// A test that would pass whatever comes.
fn nothing_expected(test: &Test, ran: &Ran, verdict: &mut Verdict) {
    let mut add = |place: String, bytes: Vec<u8>, items: bool| {
        verdict.changes.push(Change { place: Place::File(place), bytes, items, note: "new".into() });
    };
    if let Some(end) = &ran.report.output
        && let Some(bytes) = ran.bytes(OUTPUT)
    {
        let extension = match Format::named(&end.format).unwrap_or(Format::Raw) {
            Format::Text => "txt",
            Format::Wav(_) => "wav",
            other => other.name(),
        };
        add(format!("{}.out.{extension}", test.stem), bytes, true);
    }
    if !ran.prints.is_empty() {
        add(format!("{}.out", test.stem), ran.prints.clone(), false);
    }
    let mut message = "nothing is expected of it".to_string();
    match &verdict.changes[..] {
        [] => message
            .push_str(": it prints nothing and has no open output; if it is to run without a fault, say `exit = 0`"),
        changes => {
            let names: Vec<&str> = changes.iter().map(|c| c.place.name()).collect();
            message.push_str(&format!("; `sluice test --bless` writes down what comes, to {}", names.join(" and ")));
        }
    }
    let writers: Vec<&str> = ran.report.written.iter().filter_map(|e| e.path.as_deref()).collect();
    if !writers.is_empty() {
        message.push_str(&format!("; `writes` tells what to compare {} with", writers.join(", ")));
    }
    let mendable = !verdict.changes.is_empty();
    verdict.failures.push(Failure { kind: "nothing-expected", message, mendable, ..Failure::default() });
}

/// Failures of back ends, joined where both have the same.
fn joined(all: Vec<(&'static str, Failure)>, runs: usize) -> Vec<Failure> {
    let mut out: Vec<Failure> = Vec::new();
    for (back_end, failure) in all {
        match out.iter_mut().find(|f| f.message == failure.message && f.detail == failure.detail) {
            Some(same) => same.back_end = None,
            None => out.push(Failure { back_end: Some(back_end), ..failure }),
        }
    }
    for failure in out.iter_mut().filter(|_| runs > 1) {
        if let Some(back_end) = failure.back_end {
            failure.message = format!("{}: {}", in_words(back_end), failure.message);
        }
    }
    out
}

/// Judges a test by its runs: of native code and of the interpreter, in this order, or of one of them.
pub fn judge(test: &Test, runs: &[Named], fast_math: bool) -> Verdict {
    let ends: Vec<_> = runs.iter().filter_map(|(name, ran)| end_of(test, ran).map(|f| (*name, f))).collect();
    if !ends.is_empty() {
        return Verdict { failures: joined(ends, runs.len()), changes: Vec::new() };
    }
    // Fast arithmetic gives other bytes: then each is compared with what is expected.
    let failures = if fast_math { Vec::new() } else { disagreements(runs) };
    if failures.is_empty() && !fast_math {
        return runs.last().map(|(_, ran)| expectations(test, ran)).unwrap_or_default();
    }
    let mut verdict = Verdict { failures, changes: Vec::new() };
    let agree = verdict.failures.is_empty();
    let mut each = Vec::new();
    for (name, ran) in runs {
        let found = expectations(test, ran);
        each.extend(found.failures.into_iter().map(|f| (*name, f)));
        if agree {
            // The reference interpreter is the last, and has the last word.
            verdict.changes = found.changes;
        }
    }
    verdict.failures.extend(joined(each, runs.len()));
    verdict
}
