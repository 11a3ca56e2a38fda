//! # render
//!
//! Purpose: diagnostics and faults as text for a terminal (ariadne). Input: [`Diagnostic`] and [`SourceMap`]; output: text.
//! Spans that do not fit their file, and files with lines too long to draw, give a plain one-line rendering: nothing that
//! is wrong with a diagnostic may hide it.

use crate::exit::{Exit, Fault};
use ariadne::{CharSet, Color, Config, IndexType, Label, Report, ReportKind, Source};
use sluice_grammar::diagnostic::{Diagnostic, Fix, Severity};
use sluice_grammar::span::{FileId, SourceMap, Span};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Lines longer than this (in bytes) are not drawn.
const LONGEST_LINE: usize = 1000;
/// Spans over more lines than this point at their first line only.
const MOST_LINES: u32 = 60;
/// After this many diagnostics the rest is only counted.
pub const MOST_SHOWN: usize = 100;

/// How many errors and warnings there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// How many of both have a fix that can be made without a look.
    pub fixable: usize,
}

impl Tally {
    /// Counts.
    pub fn of(diagnostics: &[Diagnostic]) -> Tally {
        let count = |s| diagnostics.iter().filter(|d| d.severity == s).count();
        let fixable = diagnostics.iter().filter(|d| d.fixes.iter().any(Fix::is_safe)).count();
        Tally { errors: count(Severity::Error), warnings: count(Severity::Warning), fixable }
    }

    /// `3 errors, 1 warning`; `None` where there is nothing to count.
    pub fn line(&self) -> Option<String> {
        let part = |n: usize, word: &str| (n > 0).then(|| format!("{n} {word}{}", if n == 1 { "" } else { "s" }));
        let parts: Vec<String> =
            [part(self.errors, "error"), part(self.warnings, "warning")].into_iter().flatten().collect();
        let fixes = match self.fixable {
            0 => String::new(),
            n => format!(" (`sluice check --fix` mends {n})"),
        };
        (!parts.is_empty()).then(|| parts.join(", ") + &fixes)
    }
}

/// The name of a severity, as in JSON and in text.
pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A source with what ariadne needs to draw it, made once per file.
struct Sheet {
    name: String,
    source: Source<String>,
    drawable: bool,
}

/// Draws diagnostics of one compilation.
pub struct Renderer<'a> {
    map: &'a SourceMap,
    colour: bool,
    sheets: BTreeMap<FileId, Sheet>,
}

impl<'a> Renderer<'a> {
    /// A renderer, with colours or without.
    pub fn new(map: &'a SourceMap, colour: bool) -> Renderer<'a> {
        Renderer { map, colour, sheets: BTreeMap::new() }
    }

    /// All diagnostics and the summary line.
    pub fn all(&mut self, diagnostics: &[Diagnostic]) -> String {
        let mut text = String::new();
        for d in diagnostics.iter().take(MOST_SHOWN) {
            text.push_str(&self.one(d));
            text.push('\n');
        }
        if diagnostics.len() > MOST_SHOWN {
            let _ = writeln!(text, "... and {} more, not shown", diagnostics.len() - MOST_SHOWN);
        }
        if let Some(line) = Tally::of(diagnostics).line() {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// One diagnostic; ends with a line end.
    pub fn one(&mut self, d: &Diagnostic) -> String {
        self.drawn(d).unwrap_or_else(|| self.plain(d))
    }

    /// The diagnostic with its source lines, where all its places can be drawn.
    fn drawn(&mut self, d: &Diagnostic) -> Option<String> {
        let mut labels = Vec::with_capacity(d.labels.len());
        for l in &d.labels {
            labels.push((self.place(l.span)?, l.text.as_str()));
        }
        let first = labels.first()?.0.clone();
        let (kind, colour) = match d.severity {
            Severity::Error => (ReportKind::Error, Color::Red),
            Severity::Warning => (ReportKind::Warning, Color::Yellow),
            Severity::Note => (ReportKind::Advice, Color::Cyan),
        };
        let config = Config::default()
            .with_index_type(IndexType::Byte)
            .with_color(self.colour)
            .with_char_set(CharSet::Unicode)
            .with_tab_width(4);
        let mut report = Report::build(kind, first).with_config(config).with_code(d.code).with_message(&d.title);
        // The main place's file first, and each file from top to bottom, so that a file is shown once.
        let main = labels[0].0.0;
        let mut labels: Vec<_> = labels.into_iter().enumerate().collect();
        labels.sort_by_key(|(i, (place, _))| (place.0 != main, place.0, place.1.start, *i));
        for (order, (i, (place, text))) in labels.into_iter().enumerate() {
            let text = if text.is_empty() { "here" } else { text };
            let label = Label::new(place).with_color(if i == 0 { colour } else { Color::Blue });
            report.add_label(label.with_message(text).with_order(order as i32));
        }
        for note in &d.notes {
            report.add_note(note);
        }
        for help in helps(d) {
            report.add_help(help);
        }
        let mut out = Vec::new();
        report.finish().write(Sheets(&mut self.sheets), &mut out).ok()?;
        Some(tidy(&String::from_utf8_lossy(&out)))
    }

    /// The place in ariadne's terms; `None` where it cannot be drawn.
    fn place(&mut self, span: Span) -> Option<(FileId, Range<usize>)> {
        if span.file.0 as usize >= self.map.len() {
            return None;
        }
        let file = self.map.file(span.file);
        let sheet = self.sheets.entry(span.file).or_insert_with(|| Sheet {
            name: file.name.clone(),
            source: Source::from(file.text.to_string()),
            drawable: file.text.split('\n').all(|l| l.len() <= LONGEST_LINE),
        });
        if !sheet.drawable {
            return None;
        }
        let text = &file.text;
        let start = floor(text, span.start as usize);
        let mut end = floor(text, (span.end as usize).max(start));
        if self.map.line_col(span.file, end as u32).line > self.map.line_col(span.file, start as u32).line + MOST_LINES
        {
            end = text[start..].find('\n').map_or(text.len(), |n| start + n);
        }
        Some((span.file, start..end))
    }

    /// The diagnostic without source lines.
    pub fn plain(&self, d: &Diagnostic) -> String {
        let place = |span: Span| match (span.file.0 as usize) < self.map.len() {
            true => self.map.describe(span),
            false => "?".to_string(),
        };
        let mut text = String::new();
        let at = d.labels.first().map_or_else(|| "?".to_string(), |l| place(l.span));
        let _ = writeln!(text, "{at}: {}[{}]: {}", severity_name(d.severity), d.code, d.title);
        for l in d.labels.iter().filter(|l| !l.text.is_empty()) {
            let _ = writeln!(text, "  {}: {}", place(l.span), l.text);
        }
        for note in &d.notes {
            let _ = writeln!(text, "  note: {note}");
        }
        for help in helps(d) {
            let _ = writeln!(text, "  help: {help}");
        }
        text
    }
}

/// What the user can do: the help, and the fixes, where it does not speak of the only one.
fn helps(d: &Diagnostic) -> Vec<&str> {
    let fixes = d.fixes.iter().map(|f| f.title.as_str()).filter(|_| d.help.is_none() || d.fixes.len() > 1);
    d.help.iter().map(String::as_str).chain(fixes).collect()
}

/// The nearest character boundary at or before a byte offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Without spaces at line ends, and with one line end at the end.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.trim_end().lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The sources, as ariadne asks for them.
struct Sheets<'s>(&'s mut BTreeMap<FileId, Sheet>);

impl ariadne::Cache<FileId> for Sheets<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<String>, impl std::fmt::Debug> {
        self.0.get(id).map(|s| &s.source).ok_or("no such file")
    }

    fn display<'b>(&self, id: &'b FileId) -> Option<impl std::fmt::Display + 'b> {
        self.0.get(id).map(|s| s.name.clone())
    }
}

/// A fault as text: `error: ...`, and help where there is some.
pub fn fault(fault: &Fault, colour: bool) -> String {
    let (red, blue, off) = if colour { ("\x1b[31m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
    let word = match fault.exit {
        Exit::Internal => "internal error",
        _ => "error",
    };
    let code = fault.code.map(|c| format!("[{c}]")).unwrap_or_default();
    let mut text = format!("{red}{word}{code}{off}: {}\n", fault.message);
    if let Some(help) = &fault.help {
        let _ = writeln!(text, "{blue}help{off}: {help}");
    }
    if fault.exit == Exit::Internal {
        let _ = writeln!(
            text,
            "{blue}note{off}: this is a fault of sluice, not of your program; please report it with the program"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (SourceMap, Vec<Diagnostic>) {
        let mut map = SourceMap::new();
        let a =
            map.add("a.str", "float->float filter Ä {\n\twork pop 1 push 2 {\n    push(pop()); /* ünï */\r\n  }\n}\n");
        let b = map.add("b.str", "void->void pipeline Main {\n  add Ä;\n}");
        let d = vec![
            Diagnostic::error("E0400", "this filter pushes 1 item, not 2", Span::new(a, 50, 62), "one push")
                .label(Span::new(a, 38, 44), "declared here")
                .label(Span::new(b, 29, 36), "added here")
                .help("declare `push 1`")
                .note("in Main")
                .note("in the program"),
            Diagnostic::warning("W0001", "at the end", Span::new(b, 38, 38), ""),
        ];
        (map, d)
    }

    #[test]
    fn shows_every_label_across_files() {
        let (map, d) = sample();
        let text = Renderer::new(&map, false).all(&d);
        for part in [
            "[E0400] Error",
            "one push",
            "declared here",
            "added here",
            "a.str:3:5",
            "declare `push 1`",
            "in Main",
            "in the program",
            "[W0001] Warning",
        ] {
            assert!(text.contains(part), "{part} missing in\n{text}");
        }
        assert!(text.ends_with("1 error, 1 warning\n"), "{text}");
        assert!(!text.contains('\x1b'));
        assert!(Renderer::new(&map, true).all(&d).contains("\x1b["));
    }

    #[test]
    fn counts_in_words() {
        let line = |errors, warnings, fixable| Tally { errors, warnings, fixable }.line();
        assert_eq!(line(3, 1, 0).as_deref(), Some("3 errors, 1 warning"));
        assert_eq!(line(0, 2, 1).as_deref(), Some("2 warnings (`sluice check --fix` mends 1)"));
        assert_eq!(Tally::default().line(), None);
    }

    #[test]
    fn any_span_of_any_text_renders() {
        let texts = [
            "",
            "\n",
            "é",
            "a\r\nb",
            "\u{feff}x",
            "a\u{2028}b\u{85}c\x0b\x0cd",
            "\t\tö\n\n\nend",
            "日本\r語\n\r\n",
            "x\0y",
        ];
        for text in texts {
            let mut map = SourceMap::new();
            let f = map.add("t.str", text);
            let n = text.len() + 3;
            for start in 0..n {
                for end in 0..n {
                    let d = Diagnostic::error("E0001", "t", Span::new(f, start, end), "here")
                        .label(Span::new(f, end, start), "there");
                    assert!(Renderer::new(&map, false).one(&d).contains("E0001"), "{text:?} {start} {end}");
                }
            }
        }
        let map = SourceMap::new();
        let d = Diagnostic::error("E0001", "nowhere", Span::new(FileId(7), 1, 2), "x");
        assert!(Renderer::new(&map, false).one(&d).contains("?: error[E0001]: nowhere"));
    }

    #[test]
    fn long_lines_are_not_drawn() {
        let mut map = SourceMap::new();
        let f = map.add("long.str", "x ".repeat(100_000));
        let text = Renderer::new(&map, false).one(&Diagnostic::error("E0001", "t", Span::new(f, 10, 11), "here"));
        assert_eq!(text, "long.str:1:11: error[E0001]: t\n  long.str:1:11: here\n");
    }
}
