//! Why a profile is of no use: as a diagnostic that points into it, or in a sentence.

use super::{Profile, SCHEMA};
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::{SourceMap, Span};
use std::ops::Range;

/// What is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    code: &'static str,
    title: String,
    place: Range<usize>,
    label: String,
    help: &'static str,
}

const AGAIN: &str = "`sluice profile` measures this program; without --profile, costs are taken from the kernel IR";
const WRITTEN: &str = "docs/json.md describes profiles; `sluice profile -o FILE` writes one";

impl Misfit {
    /// In a sentence.
    pub fn sentence(&self) -> &str {
        &self.title
    }

    /// With its place in the profile.
    pub fn diagnostic(&self, file: &str, text: &str) -> (SourceMap, Diagnostic) {
        let mut map = SourceMap::new();
        let id = map.add(file, text);
        let span = Span::new(id, self.place.start.min(text.len()), self.place.end.min(text.len()));
        (map, Diagnostic::error(self.code, self.title.clone(), span, self.label.clone()).help(self.help))
    }
}

/// Where a string stands as a value.
fn value(text: &str, value: &str) -> Range<usize> {
    let quoted = serde_json::to_string(value).unwrap_or_default();
    text.find(&quoted).map_or(0..text.len().min(1), |at| at..at + quoted.len())
}

fn broken(title: String, place: Range<usize>, label: String) -> Misfit {
    Misfit { code: "E0970", title, place, label, help: WRITTEN }
}

fn other(title: String, place: Range<usize>, label: String) -> Misfit {
    Misfit { code: "E0971", title, place, label, help: AGAIN }
}

/// No such document.
pub(super) fn unreadable(text: &str, e: &serde_json::Error) -> Misfit {
    let line = text.split_inclusive('\n').take(e.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let mut at = (line + e.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let why = e.to_string();
    let why = why.split(" at line ").next().unwrap_or_default().to_string();
    broken("this is no profile".into(), at..end, why)
}

/// A document of another kind or version.
pub(super) fn other_schema(text: &str, schema: &str) -> Misfit {
    broken(
        format!("this is no profile of the kind `{SCHEMA}`"),
        value(text, schema),
        "it says that it is something else".into(),
    )
}

/// A time that is none.
pub(super) fn no_time(text: &str, stream: &str) -> Misfit {
    broken(
        format!("a firing of {stream} cannot take so long, or less than nothing"),
        value(text, stream),
        "the time of this stream".into(),
    )
}

/// What is said about a GPU cannot be.
pub(super) fn no_configuration(text: &str, what: &str, stream: Option<&str>) -> Misfit {
    let title = format!("the profile cannot be used: {what}");
    let Some(stream) = stream else { return broken(title, value(text, "gpu"), "of this GPU".into()) };
    let from = text.find("\"streams\"").unwrap_or(0);
    let place = value(&text[from..], stream);
    broken(title, place.start + from..place.end + from, "this stream".into())
}

/// Of another program, or of what this one was.
pub(super) fn other_program(text: &str, profile: &Profile) -> Misfit {
    other(
        format!("the profile of {} is of another program, or of an earlier state of this one", profile.program),
        value(text, &profile.hash),
        format!("measured {} with Sluice {}", profile.date, profile.sluice),
    )
}

/// A stream of the program is missing.
pub(super) fn without(text: &str, stream: &str) -> Misfit {
    other(
        format!("the profile lacks the stream {stream}"),
        text.find("\"streams\"").map_or(0..text.len().min(1), |at| at..at + 9),
        "not among these".into(),
    )
}

/// A stream that the program does not have, or twice.
pub(super) fn unknown(text: &str, stream: &str) -> Misfit {
    other(
        format!("the profile has a stream {stream}, the program has none"),
        value(text, stream),
        "there is no such stream".into(),
    )
}

/// Times of a CPU are not those of a GPU, nor the other way round.
pub(super) fn other_kind(text: &str, profile: &Profile, machine: &str) -> Misfit {
    let help = match profile.is_gpu() {
        true => {
            "`sluice profile` without --target cuda measures the CPU; without --profile, costs are taken from the kernel IR"
        }
        false => {
            "--machine cpu is the computer that measured; without --profile, costs are taken from the kernel IR; \
             `sluice profile --target cuda` is for GPUs"
        }
    };
    Misfit {
        code: "E0972",
        title: format!("a profile of a {} says nothing about {machine}", if profile.is_gpu() { "GPU" } else { "CPU" }),
        place: value(text, &profile.machine.name),
        label: "measured on this processor".into(),
        help,
    }
}

/// Code for another architecture has other registers and other times.
pub(super) fn other_arch(text: &str, profile: &Profile, machine: &str) -> Misfit {
    let arch = profile.gpu.as_ref().and_then(|g| g.arch.clone());
    let of = arch.as_deref().unwrap_or("the emulated GPU");
    Misfit {
        code: "E0972",
        title: format!("a profile of {of} says nothing about {machine}"),
        place: value(text, arch.as_deref().unwrap_or(&profile.machine.name)),
        label: "of this architecture".into(),
        help: "`sluice profile --target cuda` makes one for the GPU at hand, with --arch for another one",
    }
}
