//! Replays typing in a program of 3,000 lines and 500 filters, and prints how long a person waits: `cargo run --release -p sluice-lsp --example typing [EDITS]`.
#![allow(clippy::disallowed_methods)] // it reads the clock

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Client, run};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

const FILTERS: usize = 500;

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

#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn print(&mut self, what: &str) {
        self.0.sort();
        let at = |p: usize| {
            self.0
                .get((self.0.len() * p / 100).min(self.0.len().saturating_sub(1)))
                .map_or(0.0, |d| d.as_secs_f64() * 1e3)
        };
        println!("{what:24} {:6} times, median {:7.2} ms, p99 {:7.2} ms", self.0.len(), at(50), at(99));
    }
}

/// What a keystroke is made of.
fn parts(text: &str) {
    use sluice_frontend::{NoImports, Options, SourceInput, analyse, resolve::Index};
    use sluice_grammar::span::FileId;
    let [mut parsing, mut indexing, mut analysing] = [Times::default(), Times::default(), Times::default()];
    for _ in 0..20 {
        let began = Instant::now();
        let tree = sluice_grammar::parse(FileId(0), text).0;
        parsing.0.push(began.elapsed());
        let library = analyse::library(FileId(1));
        let shipped: Vec<_> = library.iter().zip(1..).map(|((t, _), f)| (FileId(f), t)).collect();
        let began = Instant::now();
        let index = Index::of(&[(FileId(0), &tree)], &shipped);
        indexing.0.push(began.elapsed());
        assert!(index.stream("F0").is_some());
        let input = SourceInput { name: "main.str".into(), text: text.into() };
        let began = Instant::now();
        let analysis = analyse(vec![input], &Options::default(), &mut NoImports);
        analysing.0.push(began.elapsed());
        assert!(!analysis.failed());
    }
    parsing.print("(parse)");
    indexing.print("(index of names)");
    analysing.print("(analyse)");
}

fn main() {
    let edits = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(300);
    run(async move {
        let began = Instant::now();
        let mut client = Client::new(json!({}), json!({})).await;
        println!("start-up                 {:7.2} ms", began.elapsed().as_secs_f64() * 1e3);
        let text = program();
        println!("{} lines, {} bytes", text.lines().count(), text.len());
        parts(&text);
        client.open("main.str", &text).await;
        client.settle().await;
        let [mut diagnostics, mut hover, mut completion, mut hints] =
            [Times::default(), Times::default(), Times::default(), Times::default()];
        let line = 5 * (FILTERS / 2) + 3;
        let typed = "        float more = sum + gain;\n";
        let mut column = 0;
        let document = json!({ "uri": client.uri("main.str") });
        let mut at_line = line;
        for i in 0..edits {
            let c = typed.as_bytes()[i % typed.len()] as char;
            let at = json!({ "line": at_line, "character": column });
            let began = Instant::now();
            client.change("main.str", json!([{ "range": { "start": at, "end": at }, "text": c.to_string() }])).await;
            let asked = Instant::now();
            let params = json!({ "textDocument": document, "position": { "line": at_line, "character": column + 1 } });
            client.ask("textDocument/completion", params.clone()).await.unwrap();
            completion.0.push(asked.elapsed());
            let asked = Instant::now();
            client
                .ask(
                    "textDocument/hover",
                    json!({ "textDocument": document, "position": { "line": 5, "character": 24 } }),
                )
                .await
                .unwrap();
            hover.0.push(asked.elapsed());
            let range =
                json!({ "start": { "line": line - 20, "character": 0 }, "end": { "line": line + 40, "character": 0 } });
            client.ask("textDocument/inlayHint", json!({ "textDocument": document, "range": range })).await.unwrap();
            hints.0.push(began.elapsed());
            client.settle().await;
            diagnostics.0.push(began.elapsed());
            (at_line, column) = if c == '\n' { (at_line + 1, 0) } else { (at_line, column + 1) };
        }
        diagnostics.print("diagnostics");
        completion.print("completion");
        hover.print("hover");
        hints.print("hints, after the others");
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        status.lines().filter(|l| l.starts_with("VmRSS") || l.starts_with("VmHWM")).for_each(|l| println!("{l}"));
        let _: Value = client.ask("shutdown", Value::Null).await.unwrap_or_default();
    });
}
