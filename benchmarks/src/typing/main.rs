//! How long a person waits for the language server: typing in a program of 3,000 lines and 500 filters, replayed against `sluice lsp`. Called by scripts/bench.
//!
//! ```text
//! typing SLUICE RESULTS [EDITS]     the sluice command, the start of the names of the files to write (.md, .json), keystrokes (10,000)
//! ```
//!
//! Three things are typed in turns, all over the file: a declaration in a filter, letter by letter, which is taken out again (most of the time the text has errors); a comment
//! before a line (which it swallows, with the brace there, until it is ended); other arguments of a filter that is added (all of it is elaborated anew). After each keystroke completion is asked for, then a hover, then the diagnostics are waited
//! for, then hints are asked for. Now and then nobody types for so long that a schedule is begun; the next keystroke comes while it is made.

#![allow(clippy::disallowed_methods)] // it measures time, reads the command line and writes its results

mod client;

use client::Client;
use serde_json::{Value, json};
use sluice_benchmarks::command;
use sluice_benchmarks::measure::keep;
use std::fmt::Write;
use std::time::{Duration, Instant};

const FILTERS: usize = 500;
const EDITS: usize = 10_000;
const URI: &str = "file:///typing/main.str";
/// Servers that are started to see how long that takes.
const STARTS: usize = 11;
/// Between so many keystrokes there is a pause, a little longer than that after which a schedule is made.
const PAUSE_AFTER: usize = 200;
const PAUSE: Duration = Duration::from_millis(350);

/// The lines of filter `i` begin at `1 + 5 * i`; those of the pipeline behind all of them.
fn program() -> String {
    let mut text = String::from("// A large program.\n");
    for i in 0..FILTERS {
        let _ = write!(
            text,
            "float->float filter F{i}(float gain, int taps) {{\n    work push 1 pop 1 peek taps {{\n        \
             float sum = 0; for (int i = 0; i < taps; i++) sum += peek(i) * gain;\n        push(sum); pop(); }}\n}}\n"
        );
    }
    text += "float->float pipeline Main {\n";
    for i in 0..FILTERS {
        let _ = writeln!(text, "    add F{i}({}.5, {});", i % 9, i % 13 + 4);
    }
    text + "}\n"
}

/// Replaces characters of a line; afterwards the cursor is at (line, column).
struct Stroke {
    line: usize,
    from: usize,
    to: (usize, usize),
    text: String,
    cursor: (usize, usize),
}

/// What is typed, without end.
fn strokes() -> impl Iterator<Item = Stroke> {
    let typed = |round: usize, text: &'static str| {
        let line = 5 * (round * 61 % FILTERS) + 4;
        let letters = text.char_indices().map(move |(i, c)| {
            let cursor = if c == '\n' { (line + 1, 0) } else { (line, i + 1) };
            Stroke { line, from: i, to: (line, i), text: c.into(), cursor }
        });
        // and taken out again
        letters.chain([Stroke { line, from: 0, to: (line + 1, 0), text: String::new(), cursor: (line, 0) }])
    };
    let arguments = |round: usize| {
        (0..8).map(move |i| {
            let filter = (round * 61 + i * 7) % FILTERS;
            let line = 5 * FILTERS + 2 + filter;
            // the digit before the point of the first argument
            let from = format!("    add F{filter}(").len();
            let text = ((round + i) % 10).to_string();
            Stroke { line, from, to: (line, from + 1), text, cursor: (line, from + 1) }
        })
    };
    (0..).flat_map(move |round| {
        typed(3 * round, "        float more = sum + gain;\n")
            .chain(typed(3 * round + 1, "        // taps are weighed alike\n"))
            .chain(arguments(round))
    })
}

/// Times of one kind, in seconds.
struct Times {
    what: &'static str,
    /// What is asked of 99 of 100 of them.
    limit: f64,
    all: Vec<f64>,
}

impl Times {
    fn new(what: &'static str, limit: f64) -> Times {
        Times { what, limit, all: Vec::new() }
    }

    fn at(&self, percent: usize) -> f64 {
        self.all.get((self.all.len() * percent / 100).min(self.all.len().saturating_sub(1))).copied().unwrap_or(0.0)
    }

    fn row(&mut self) -> (String, Value) {
        self.all.sort_by(f64::total_cmp);
        let (median, p99, limit) = (self.at(50), self.at(99), self.limit);
        let holds = p99 <= limit;
        let line = format!(
            "| {} | {} | {:.1} ms | {:.1} ms | {:.0} ms | {} |\n",
            self.what,
            self.all.len(),
            median * 1e3,
            p99 * 1e3,
            limit * 1e3,
            if holds { "yes" } else { "NO" }
        );
        let figures = json!({ "what": self.what, "times": self.all.len(), "median_s": median, "p99_s": p99, "limit_s": limit, "holds": holds });
        (line, figures)
    }
}

/// How busy the computer is, where the system says so.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_string()
}

/// The priority that this process has, and the server by it (`nice`), where the system says so; 0 is the usual one.
fn priority() -> Option<i32> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // behind the name in parentheses: the 17th word
    text.rsplit_once(')')?.1.split_whitespace().nth(16)?.parse().ok()
}

fn run(sluice: &str, results: &str, edits: usize) -> Result<(), String> {
    let before = load();
    let mut starts = Times::new("start-up, to the answer of `initialize`", 0.2);
    for _ in 0..STARTS {
        let (client, time) = Client::start(sluice)?;
        starts.all.push(time);
        client.end()?;
    }
    let (mut client, _) = Client::start(sluice)?;
    let text = program();
    let lines = text.lines().count();
    let item = json!({ "uri": URI, "languageId": "sluice", "version": 0, "text": text });
    client.tell("textDocument/didOpen", &json!({ "textDocument": item }))?;
    let published = |version: usize| {
        move |m: &Value| m["method"] == "textDocument/publishDiagnostics" && m["params"]["version"] == version
    };
    client.wait(published(0))?;
    let document = json!({ "uri": URI });
    let at = |(line, column): (usize, usize)| json!({ "line": line, "character": column });
    let mut completion = Times::new("completion", 0.02);
    let mut hover = Times::new("hover", 0.02);
    let mut diagnostics = Times::new("diagnostics, from the keystroke", 0.05);
    let mut hints = Times::new("hints of the new text, from the keystroke", 0.1);
    for (i, stroke) in strokes().take(edits).enumerate() {
        if i % PAUSE_AFTER == PAUSE_AFTER - 1 {
            std::thread::sleep(PAUSE);
        }
        client.forget();
        let version = i + 1;
        let range = json!({ "start": at((stroke.line, stroke.from)), "end": at(stroke.to) });
        let changed = json!({ "uri": URI, "version": version });
        let began = Instant::now();
        let changes = json!([{ "range": range, "text": stroke.text }]);
        client.tell("textDocument/didChange", &json!({ "textDocument": changed, "contentChanges": changes }))?;
        let here = |place| json!({ "textDocument": document, "position": place });
        completion.all.push(client.ask("textDocument/completion", &here(at(stroke.cursor)))?.1);
        // a name in the first filter: it has a value and a type
        let found = client.ask("textDocument/hover", &here(json!({ "line": 3, "character": 15 })))?;
        if found.0.is_null() {
            return Err(format!("keystroke {i}: nothing is known of `sum`"));
        }
        hover.all.push(found.1);
        let (heard, _) = client.wait(published(version))?;
        diagnostics.all.push((heard - began).as_secs_f64());
        let (from, to) = (stroke.line.saturating_sub(20), stroke.line + 40);
        let shown = json!({ "start": at((from, 0)), "end": at((to, 0)) });
        client.ask("textDocument/inlayHint", &json!({ "textDocument": document, "range": shown }))?;
        hints.all.push(began.elapsed().as_secs_f64());
    }
    let memory = client.memory();
    client.end()?;
    let mut table = String::from(
        "| what | times | median | 99 of 100 within | limit of that | holds |\n|---|---|---|---|---|---|\n",
    );
    let mut rows = Vec::new();
    for times in [&mut starts, &mut completion, &mut hover, &mut diagnostics, &mut hints] {
        let (line, figures) = times.row();
        table.push_str(&line);
        rows.push(figures);
    }
    let mut figures = json!({ "rows": rows, "lines": lines, "filters": FILTERS, "edits": edits });
    if let Some((now, most)) = memory {
        let (limit, mib) = (300 << 20, |n: u64| n as f64 / f64::from(1 << 20));
        let holds = if most <= limit { "yes" } else { "NO" };
        table.push_str(&format!(
            "| memory after {edits} keystrokes; at most | | {:.0} MiB | {:.0} MiB | {:.0} MiB | {holds} |\n",
            mib(now),
            mib(most),
            mib(limit)
        ));
        figures["memory"] = json!({ "now": now, "most": most, "limit": limit, "holds": most <= limit });
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let after = load();
    let nice = priority().map_or("unknown".to_string(), |n| n.to_string());
    figures["load"] = json!({ "before": before, "after": after, "processors": cores, "nice": nice });
    table.push_str(&format!(
        "\nTyping in a program of {lines} lines and {FILTERS} filters, as [typing](../src/typing/main.rs) describes it: each time is what a client waits, at its end of the pipe. \
         On {cores} processors; load before {before}, after {after}, priority (`nice`) {nice}: what else runs on the computer is in the times.\n"
    ));
    keep(results, sluice, &table, figures)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (sluice, results, edits) = match &args[..] {
        [_, sluice, results] => (sluice, results, Some(EDITS)),
        [_, sluice, results, edits] => (sluice, results, edits.parse().ok()),
        _ => command::usage("typing SLUICE RESULTS [EDITS]"),
    };
    let done = match edits {
        Some(edits) => run(sluice, results, edits),
        None => Err("EDITS is a number".into()),
    };
    command::ended(done);
}
