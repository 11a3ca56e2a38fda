//! Diagnostics, faults and results as JSON lines, for tools. The schema is docs/json.md.

use crate::exit::Fault;
use crate::render::{Renderer, Tally, severity_name};
use serde::Serialize;
use sluice_frontend::mend::Done;
use sluice_grammar::diagnostic::{self, Diagnostic};
use sluice_grammar::span::{SourceMap, Span};

/// One line of output.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Diagnostic {
        code: &'a str,
        severity: &'static str,
        title: &'a str,
        labels: Vec<Label<'a>>,
        help: Option<&'a str>,
        notes: &'a [String],
        fixes: Vec<Fix<'a>>,
        rendered: String,
    },
    Summary {
        errors: usize,
        warnings: usize,
        fixable: usize,
    },
    Remark {
        message: &'a str,
    },
    Fix {
        code: &'a str,
        title: &'a str,
        file: &'a str,
        line: u32,
        column: u32,
        made: bool,
    },
    Change {
        file: &'a str,
        diff: &'a str,
    },
    Fault {
        exit: u8,
        message: &'a str,
        help: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'static str>,
    },
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    start: u32,
    end: u32,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct Label<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    text: &'a str,
    primary: bool,
}

#[derive(Serialize)]
struct Fix<'a> {
    title: &'a str,
    applicability: &'static str,
    edits: Vec<Edit<'a>>,
}

#[derive(Serialize)]
struct Edit<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    text: &'a str,
}

/// A span in words; all zero and an empty name where it is in no file.
fn place(map: &SourceMap, span: Span) -> Place<'_> {
    if span.file.0 as usize >= map.len() {
        return Place { file: "", start: 0, end: 0, line: 0, column: 0, end_line: 0, end_column: 0 };
    }
    let (a, b) = (map.line_col(span.file, span.start), map.line_col(span.file, span.end.max(span.start)));
    Place {
        file: &map.file(span.file).name,
        start: span.start,
        end: span.end.max(span.start),
        line: a.line,
        column: a.column,
        end_line: b.line,
        end_column: b.column,
    }
}

fn fix<'a>(map: &'a SourceMap, fix: &'a diagnostic::Fix) -> Fix<'a> {
    let edits = fix.edits.iter().map(|e| Edit { place: place(map, e.span), text: &e.text }).collect();
    Fix { title: &fix.title, applicability: if fix.is_safe() { "safe" } else { "look" }, edits }
}

fn write(line: &Line<'_>) -> String {
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

/// Each diagnostic on a line, then the summary.
pub fn diagnostics(map: &SourceMap, all: &[Diagnostic]) -> String {
    let mut renderer = Renderer::new(map, false);
    let mut text: String = all
        .iter()
        .map(|d| {
            write(&Line::Diagnostic {
                code: d.code,
                severity: severity_name(d.severity),
                title: &d.title,
                labels: (d.labels.iter().enumerate())
                    .map(|(i, l)| Label { place: place(map, l.span), text: &l.text, primary: i == 0 })
                    .collect(),
                help: d.help.as_deref(),
                notes: &d.notes,
                fixes: d.fixes.iter().map(|f| fix(map, f)).collect(),
                rendered: renderer.one(d),
            })
        })
        .collect();
    let tally = Tally::of(all);
    text.push_str(&write(&Line::Summary { errors: tally.errors, warnings: tally.warnings, fixable: tally.fixable }));
    text
}

/// A fault on a line.
pub fn fault(fault: &Fault) -> String {
    write(&Line::Fault {
        exit: fault.exit.code(),
        message: &fault.message,
        help: fault.help.as_deref(),
        code: fault.code,
    })
}

/// A fix that was made, or refused, on a line.
pub fn fixed(done: &Done, made: bool) -> String {
    let (line, column) = done.at;
    write(&Line::Fix { code: done.code, title: &done.title, file: &done.file, line, column, made })
}

/// How a file would change, on a line.
pub fn change(file: &str, diff: &str) -> String {
    write(&Line::Change { file, diff })
}

/// A remark on a line.
pub fn remark(text: &str) -> String {
    write(&Line::Remark { message: text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_each() {
        let mut map = SourceMap::new();
        let f = map.add("a.str", "ä\n\"b\"");
        let d = Diagnostic::error("E0001", "a \"quoted\"\ntitle", Span::new(f, 3, 6), "l")
            .fix(diagnostic::Fix::safe("add x", Span::new(f, 3, 3), "x"))
            .fix(diagnostic::Fix::new("remove it", Span::new(f, 3, 6), ""));
        let text = diagnostics(&map, &[d]);
        let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["type"], "diagnostic");
        assert_eq!(lines[0]["labels"][0]["line"], 2);
        assert_eq!(lines[0]["labels"][0]["end_column"], 4);
        assert_eq!(lines[0]["labels"][0]["primary"], true);
        assert_eq!(lines[0]["fixes"][0]["edits"][0]["text"], "x");
        assert_eq!(lines[0]["fixes"][0]["applicability"], "safe");
        assert_eq!(lines[0]["fixes"][1]["applicability"], "look");
        assert_eq!(lines[0]["fixes"][1]["title"], "remove it");
        assert_eq!(lines[0]["help"], serde_json::Value::Null);
        assert_eq!(lines[1], serde_json::json!({"type": "summary", "errors": 1, "warnings": 0, "fixable": 1}));
        let f: serde_json::Value = serde_json::from_str(&fault(&Fault::input("gone").help("look"))).unwrap();
        assert_eq!(f, serde_json::json!({"type": "fault", "exit": 3, "message": "gone", "help": "look"}));
    }
}
