//! Random edits: whatever is typed, the server has the client's text, what it knows is what a fresh analysis of that text gives, and no request at any place fails.

mod common;
#[path = "../../grammar/tests/edits/mod.rs"]
mod edits;

use common::{Client, run};
use edits::{Numbers, Way, boundary};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const START: &str = "// Ein Überschuss: 𝄞 «ok»\r\nstruct Pair { float left; float right; }\nstatic { int size = 4; }\n\
helper Tools { float twice(float x) { return 2 * x; } }\nvoid->void pipeline Main {\n    add Source;\n    portal<Gain> p;\n    add Gain(size) to p;\n\
    for (int i = 0; i < 3; i++) add Fir(i + 2);\n    add splitjoin { split roundrobin(1, 1); add Identity<float>; add float->float filter { work pop 1 push 1 { push(pop()); } }; join roundrobin; }\n\
    add feedbackloop { join roundrobin(1, 1); body float->float filter { work pop 2 push 2 { push(pop() + pop()); push(0); } } loop Identity<float>; split roundrobin(1, 1); enqueue 0.0; }\n    add Sink(p);\n}\n\
void->float filter Source { Pair q; work push 1 { q.left = q.left + 1; push(Tools.twice(q.left)); } }\n\
float->float filter Gain(int by) { float now = by; work pop 1 push 1 { push(pop() * now); } handler set(float v) { now = v; } }\n\
float->float filter Fir(int n) { float[n] h; init { for (int i = 0; i < n; i++) h[i] = 1.0 / n; } work peek n pop 1 push 1 { float s = 0; for (int i = 0; i < n; i++) s += peek(i) * h[i]; push(s); pop(); } }\n\
float->void filter Sink(portal<Gain> p) { work pop 1 { println(\"é𝄞\" + pop()); p.set(2) [0:4]; } }\n";

/// Where the protocol says that a byte of a text is, worked out slowly and by itself.
fn position(text: &str, at: usize) -> Value {
    let (mut line, mut start) = (0, 0);
    let bytes = text.as_bytes();
    for i in 0..at {
        if bytes[i] == b'\n' || bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n') {
            (line, start) = (line + 1, i + 1);
        }
    }
    json!({ "line": line, "character": text[start..at].encode_utf16().count() })
}

/// One edit of a text, and the same for the server.
fn edit(n: &mut Numbers, text: &mut String) -> Vec<Value> {
    let mut changes = Vec::new();
    let way = if n.below(3) == 0 { Way::Gentle } else { Way::Rough };
    edits::edit(n, text, way, &mut |text, bytes, new| {
        let range = json!({ "start": position(text, bytes.start), "end": position(text, bytes.end) });
        changes.push(json!({ "range": range, "text": new }));
    });
    changes
}

const ASKED: &[&str] = &[
    "hover",
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "completion",
    "signatureHelp",
    "prepareCallHierarchy",
    "onTypeFormatting",
];
const WHOLE: &[&str] = &[
    "inlayHint",
    "documentSymbol",
    "semanticTokens/full",
    "semanticTokens/range",
    "foldingRange",
    "formatting",
    "rangeFormatting",
    "codeLens",
    "codeAction",
    "selectionRange",
];

async fn ask_all(client: &mut Client, at: Value, end: Value) {
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let range = json!({ "start": at, "end": end });
    for method in ASKED.iter().chain(WHOLE) {
        let params = json!({
            "textDocument": { "uri": client.uri("main.str") }, "position": at, "range": range, "positions": [at], "newName": "fresh", "ch": ";",
            "options": options, "context": { "includeDeclaration": true, "diagnostics": [] },
        });
        // a refusal is an answer
        let _ = client.ask(&format!("textDocument/{method}"), params).await;
    }
    for method in ["sluice/graph"] {
        let _ = client.ask(method, json!({ "textDocument": { "uri": client.uri("main.str") } })).await;
    }
    let failures = client.said("window/logMessage");
    assert!(failures.is_empty(), "{failures:?}\n{}", client.text("main.str"));
}

/// What a compiler says of a text: codes and places.
fn fresh(name: &str, text: &str) -> BTreeSet<(String, u32, String)> {
    let input = sluice_frontend::SourceInput { name: name.into(), text: text.into() };
    struct None;
    impl sluice_frontend::Loader for None {
        fn load(&mut self, _: &str, _: &str) -> Result<sluice_frontend::SourceInput, String> {
            Err("there is no such file".into())
        }
    }
    let options = sluice_frontend::Options {
        limits: sluice_frontend::elaborate::Limits { instances: 20_000, ..Default::default() },
        ..Default::default()
    };
    let analysis = sluice_frontend::analyse(vec![input], &options, &mut None);
    let all = analysis.diagnostics.iter();
    all.map(|d| (d.code.to_string(), d.span().start, d.title.clone())).collect()
}

fn session(seed: u64, rounds: usize) {
    run(async move {
        let mut n = Numbers::new(seed);
        let mut client = Client::new(json!({}), json!({ "schedule": { "automatic": false } })).await;
        let mut text = START.to_string();
        client.open("main.str", &text).await;
        for round in 0..rounds {
            // from time to time all of it is made whole again
            let changes: Vec<Value> = if round % 12 == 11 {
                text = START.to_string();
                vec![json!({ "text": text })]
            } else {
                (0..1 + n.below(3)).flat_map(|_| edit(&mut n, &mut text)).collect()
            };
            client.change("main.str", Value::Array(changes)).await;
            assert_eq!(client.text("main.str"), text, "seed {seed}, round {round}");
            let at = boundary(&text, n.below(text.len() + 1));
            let end = boundary(&text, n.below(text.len() + 1)).max(at);
            ask_all(&mut client, position(&text, at), position(&text, end)).await;
            if n.below(3) == 0 {
                client.settle().await;
                let name = client.name("main.str");
                let view = client.world().view(&name).unwrap();
                let known = view.latest.as_ref().unwrap();
                assert!(known.current, "seed {seed}, round {round}");
                let all = known.of.analysis.diagnostics.iter();
                let has: BTreeSet<_> = all.map(|d| (d.code.to_string(), d.span().start, d.title.clone())).collect();
                let should = fresh(&name, &text);
                // an import's message names the file
                assert_eq!(has, should, "seed {seed}, round {round}\n{text}");
                assert_eq!(view.text().as_str(), text);
                let tree = sluice_grammar::parse(sluice_grammar::span::FileId(0), &text).0;
                assert!(*view.tree() == tree, "seed {seed}, round {round}: another tree");
            }
        }
    });
}

#[test]
fn random_edits_never_desynchronise() {
    (1..=6).for_each(|seed| session(seed, 40));
}

#[test]
fn requests_at_every_place_are_answered() {
    run(async {
        let mut client = Client::new(json!({}), json!({ "schedule": { "automatic": false } })).await;
        client.open("main.str", START).await;
        client.settle().await;
        for at in (0..START.len()).filter(|at| START.is_char_boundary(*at)).step_by(7) {
            ask_all(&mut client, position(START, at), position(START, START.len())).await;
        }
        // places that are none
        for at in
            [json!({ "line": 0, "character": 4_000_000_000u32 }), json!({ "line": 4_000_000_000u32, "character": 0 })]
        {
            ask_all(&mut client, at.clone(), at).await;
        }
    });
}

/// The parts of a program, typed letter by letter: no prefix stops the server, and the end is what was meant.
#[test]
fn a_program_is_typed() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        client.open("main.str", "").await;
        let mut text = String::new();
        for c in START.chars() {
            let at = position(&text, text.len());
            text.push(c);
            let change = json!([{ "range": { "start": at, "end": at }, "text": c.to_string() }]);
            client.change("main.str", change).await;
            if c == '.' || c == '(' || c == ' ' && text.len().is_multiple_of(5) {
                let at = position(&text, text.len());
                ask_all(&mut client, at.clone(), at).await;
            }
        }
        let heard = client.settle().await;
        let errors = heard.values().flat_map(|d| d["diagnostics"].as_array().unwrap()).filter(|d| d["severity"] == 1);
        assert_eq!(errors.count(), 0, "{heard:?}");
    });
}
