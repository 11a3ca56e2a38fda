//! # report
//!
//! Purpose: what `sluice test` says, as text for people and as the JSON lines of docs/json.md. Input: outcomes in the order of the
//! tests' names.

use super::failure::Failure;
use super::spec::Broken;
use crate::render::Renderer;
use crate::render_json;
use serde::Serialize;

/// What became of a test, once `--bless` is heeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All is as expected.
    Passed,
    /// It is now: what came will be expected from now on.
    Blessed,
    /// Something is wrong.
    Failed,
    /// No back end was left that the test allows.
    Skipped,
}

/// A test's line, and what belongs to it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The test's name.
    pub name: String,
    /// What became of it.
    pub status: Status,
    /// What is wrong.
    pub failures: Vec<Failure>,
    /// What is wrong with the description: as text, and as JSON lines.
    pub broken: Option<(String, String)>,
}

/// How many there were.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Tests that passed, those blessed among them.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that were not run.
    pub skipped: usize,
}

impl Count {
    /// Counts one more.
    pub fn add(&mut self, status: Status) {
        match status {
            Status::Passed | Status::Blessed => self.passed += 1,
            Status::Failed => self.failed += 1,
            Status::Skipped => self.skipped += 1,
        }
    }
}

impl Outcome {
    /// A test whose description is wrong.
    pub fn broken(name: String, broken: &Broken, colour: bool) -> Outcome {
        let kind = "broken";
        let message = broken.message.clone().unwrap_or_else(|| "its description is wrong".into());
        let text = Renderer::new(&broken.map, colour).all(&broken.diagnostics);
        let lines = render_json::diagnostics(&broken.map, &broken.diagnostics);
        let shown = (!broken.diagnostics.is_empty()).then_some((text, lines));
        let failures = vec![Failure { kind, message, ..Failure::default() }];
        Outcome { name, status: Status::Failed, failures, broken: shown }
    }
}

fn colours(colour: bool, status: Status) -> (&'static str, &'static str) {
    match (colour, status) {
        (false, _) => ("", ""),
        (true, Status::Failed) => ("\x1b[31m", "\x1b[0m"),
        (true, Status::Skipped | Status::Blessed) => ("\x1b[33m", "\x1b[0m"),
        (true, Status::Passed) => ("\x1b[32m", "\x1b[0m"),
    }
}

/// Lines moved to the right.
fn indented(text: &str, by: &str) -> String {
    text.lines().map(|l| if l.is_empty() { "\n".to_string() } else { format!("{by}{l}\n") }).collect()
}

/// A test's part of the report for people.
pub fn human(outcome: &Outcome, colour: bool) -> String {
    let (on, off) = colours(colour, outcome.status);
    let word = match outcome.status {
        Status::Passed => "ok",
        Status::Blessed => "blessed",
        Status::Failed => "FAILED",
        Status::Skipped => "skipped",
    };
    let mut text = format!("{} ... {on}{word}{off}\n", outcome.name);
    if outcome.status == Status::Blessed {
        return text;
    }
    for failure in &outcome.failures {
        text.push_str(&format!("  {}\n", failure.message));
        text.push_str(&indented(&failure.detail, "    "));
    }
    if let Some((rendered, _)) = &outcome.broken {
        text.push_str(&indented(rendered, "    "));
    }
    if outcome.status == Status::Failed {
        text.push('\n');
    }
    text
}

/// The last line.
pub fn last_line(count: Count) -> String {
    let mut text = format!("{} passed; {} failed", count.passed, count.failed);
    if count.skipped > 0 {
        text.push_str(&format!("; {} skipped", count.skipped));
    }
    text.push('\n');
    text
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Line<'a> {
    Test { name: &'a str, status: Status, failures: &'a [Failure] },
    Blessed { file: &'a str, test: &'a str, note: &'a str },
    TestSummary { passed: usize, failed: usize, skipped: usize },
}

fn line(line: &Line<'_>) -> String {
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

/// A test's part of the report for tools.
pub fn json(outcome: &Outcome) -> String {
    let mut text = line(&Line::Test { name: &outcome.name, status: outcome.status, failures: &outcome.failures });
    if let Some((_, lines)) = &outcome.broken {
        text.push_str(lines);
    }
    text
}

/// A file that was written.
pub fn json_blessed(file: &str, test: &str, note: &str) -> String {
    line(&Line::Blessed { file, test, note })
}

/// The last line for tools.
pub fn json_summary(count: Count) -> String {
    line(&Line::TestSummary { passed: count.passed, failed: count.failed, skipped: count.skipped })
}
