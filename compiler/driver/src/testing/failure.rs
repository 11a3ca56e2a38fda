//! # failure
//!
//! Purpose: what can be wrong with a test, as data: in words for people, in numbers for tools.

use super::compare::{self, ItemDifference};
use super::items::Items;
use super::lines;
use super::spec::Place;
use super::tolerance::Tolerance;
use serde::Serialize;

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
    pub fn with_file(mut self, name: &str) -> Failure {
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

/// A failure about items that differ.
pub fn items_failure(
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
pub fn lines_failure(kind: &'static str, what: &str, d: lines::LineDifference) -> Failure {
    let missing = compare::count(d.missing, "line");
    let message = format!("{what}: {missing} missing, {} unexpected, from line {} on", d.unexpected, d.first);
    let lines = LineNumbers { first: d.first, missing: d.missing, unexpected: d.unexpected };
    Failure { kind, message, detail: d.text, lines: Some(lines), ..Failure::default() }
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
