//! # expect
//!
//! Purpose: does a run put out what the test expects? Input: the test, and a run that ended as it should. Output: a [`Verdict`], with the
//! bytes that `--bless` would write. A test that expects nothing does not pass.

use super::child::{EndReport, OUTPUT};
use super::compare;
use super::failure::{Change, Failure, Verdict, items_failure, lines_failure};
use super::items::Items;
use super::launch::Ran;
use super::lines;
use super::spec::{Expected, Place, Test};
use crate::io::format::Format;
use std::path::Path;

/// The items of an end of a run.
pub fn items_of(ran: &Ran, end: &EndReport, name: &str) -> Result<Items, String> {
    let format = Format::named(&end.format).unwrap_or(Format::Raw);
    Items::read(&ran.folder.path().join(&end.file), name, format, &end.shape)
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
pub fn expectations(test: &Test, ran: &Ran) -> Verdict {
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
