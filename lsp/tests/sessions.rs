//! Recorded sessions: each `sessions/NAME.session` is what a client does, `NAME.expect` what the server answers. `SLUICE_BLESS=1` rewrites the answers: read
//! the difference.
//!
//! ```text
//! settings {...}                            with which the session begins (at most once, first)
//! file NAME                                 a file on the disk; its lines follow behind `| `
//! open NAME                                 a document, with its lines; without, those of the file
//! change NAME "old" "new"                   the first `old` becomes `new`
//! close NAME
//! diagnostics                               waits for those of the present texts
//! scheduled NAME                            waits for a schedule of the present text
//! ask METHOD NAME "text"+3 {...}            a request at the third character behind the beginning of the text's first occurrence; {...} is added to its parameters
//! labels METHOD ...                         the same, of the answer's items only their labels
//! send METHOD {...}                         a request, `$NAME$` standing for a URI
//! tell METHOD {...}                         a notification
//! ```

#![allow(clippy::disallowed_methods)] // tests touch files

mod common;

use common::{Client, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

macro_rules! sessions {
    ($($name:ident)*) => {
        $(#[test] fn $name() { session(stringify!($name)); })*

        #[test]
        fn all_sessions_are_run() {
            let listed = [$(stringify!($name)),*];
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                assert!(listed.contains(&path.file_stem().unwrap().to_str().unwrap()), "{}", path.display());
            }
        }
    };
}

sessions! {
    diagnostics imports hints stale hover definition references rename highlight symbols completion signature_help semantic_tokens
    folding selection_range formatting call_hierarchy code_lens quick_fixes refactorings pictures commands loops library settings utf8 projects manifests elsewhere kinds
    plain counted missing instances
}

fn session(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions").join(name);
    let script = std::fs::read_to_string(path.with_extension("session")).unwrap();
    let mut found = String::new();
    run(async { found = play(&script).await });
    let expect = path.with_extension("expect");
    if std::env::var_os("SLUICE_BLESS").is_some() {
        return std::fs::write(expect, found).unwrap();
    }
    let expected = std::fs::read_to_string(&expect).unwrap_or_default();
    if let Some((i, (a, b))) =
        found.lines().zip(expected.lines().chain(std::iter::repeat(""))).enumerate().find(|(_, (a, b))| a != b)
    {
        panic!("{name}: line {} of the answers is\n{a}\nand not\n{b}\n\nall of it:\n{found}", i + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{name}: answers are missing");
}

async fn play(script: &str) -> String {
    let mut lines = script.lines().peekable();
    let mut options = json!({});
    let mut capabilities = json!({});
    let mut out = String::new();
    while let Some(line) = lines
        .next_if(|l| l.starts_with("settings ") || l.starts_with("capabilities ") || l.starts_with('#') || l.is_empty())
    {
        if let Some(text) = line.strip_prefix("settings ") {
            options = serde_json::from_str(text).unwrap();
        } else if let Some(text) = line.strip_prefix("capabilities ") {
            capabilities = serde_json::from_str(text).unwrap();
        }
    }
    let mut client = Client::new(capabilities, options).await;
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut shown: BTreeMap<String, Value> = BTreeMap::new();
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut text = String::new();
        while let Some(l) = lines.next_if(|l| l.starts_with('|')) {
            text += l.strip_prefix("| ").unwrap_or(&l[1..]);
            text.push('\n');
        }
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "file" => {
                client.write(rest, &text);
                files.insert(rest.into(), text);
            }
            "open" => {
                if text.is_empty() {
                    text = files.get(rest).cloned().unwrap_or_default();
                }
                client.open(rest, &text).await;
            }
            "close" => {
                out += &format!("{line}\n");
                client.close(rest).await;
            }
            "change" => {
                let (name, rest) = rest.split_once(' ').unwrap();
                let both: Vec<Value> =
                    serde_json::Deserializer::from_str(rest).into_iter().map(Result::unwrap).collect();
                let (old, new) = (both[0].as_str().unwrap(), both[1].as_str().unwrap());
                let text = client.text(name);
                let at = text.find(old).unwrap_or_else(|| panic!("`{old}` is not in {name}"));
                let range = json!({ "start": position(&text, at), "end": position(&text, at + old.len()) });
                client.change(name, json!([{ "range": range, "text": new }])).await;
                out += &format!("{line}\n");
            }
            "diagnostics" => {
                client.settle().await;
                // what concerns files that have not changed comes after
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                let all = client.settle().await;
                for (uri, d) in &all {
                    if shown.get(uri) != Some(d) {
                        out += &format!("diagnostics {}\n", client.pretty(d));
                    }
                }
                shown = all;
            }
            "settle" => shown = client.settle().await,
            "scheduled" => client.scheduled(rest).await,
            "ask" | "labels" => {
                let (method, rest) = rest.split_once(' ').unwrap();
                let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                let mut params = json!({ "textDocument": { "uri": client.uri(name) } });
                let mut rest = rest;
                if rest.starts_with('"') {
                    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
                    let pattern = values.next().unwrap().unwrap();
                    rest = &rest[values.byte_offset()..];
                    let mut plus = 0;
                    if let Some(r) = rest.strip_prefix('+') {
                        let digits = r.find(' ').unwrap_or(r.len());
                        plus = r[..digits].parse().unwrap();
                        rest = &r[digits..];
                    }
                    let text = client.text(name);
                    let pattern = pattern.as_str().unwrap();
                    let at = text.find(pattern).unwrap_or_else(|| panic!("`{pattern}` is not in {name}"));
                    let at = at + text[at..].chars().take(plus).map(char::len_utf8).sum::<usize>();
                    params["position"] = position(&text, at);
                }
                if !rest.trim().is_empty() {
                    let more: Value = serde_json::from_str(rest).unwrap();
                    more.as_object().unwrap().iter().for_each(|(k, v)| params[k] = v.clone());
                }
                if let (true, Some(at)) = (params.get("range").is_none(), params.get("position")) {
                    // for those who take a range: an empty one
                    if matches!(method, "textDocument/codeAction") {
                        params["range"] = json!({ "start": at, "end": at });
                    }
                }
                let mut answer = client.ask(method, params).await;
                if verb == "labels" {
                    let labels =
                        answer.unwrap().as_array().unwrap().iter().map(|i| i["label"].clone()).collect::<Vec<_>>();
                    answer = Ok(Value::Array(labels));
                }
                out += &told(&client, line, answer);
            }
            "send" => {
                let (method, rest) = rest.split_once(' ').unwrap();
                let answer = client.ask(method, with_uris(&client, rest)).await;
                out += &told(&client, line, answer);
            }
            "tell" => {
                let (method, rest) = rest.split_once(' ').unwrap();
                let params = with_uris(&client, rest);
                client.tell(method, params).await;
                out += &format!("{line}\n");
            }
            "said" => {
                let (n, method) = rest.split_once(' ').unwrap();
                client.hears(method, n.parse().unwrap()).await;
                for value in client.said(method) {
                    out += &format!("said {}\n", client.pretty(&value));
                }
            }
            other => panic!("what is `{other}`?"),
        }
    }
    out
}

fn with_uris(client: &Client, text: &str) -> Value {
    let parts: Vec<&str> = text.split('$').collect();
    let mut all = String::new();
    for (i, part) in parts.iter().enumerate() {
        all += &if i % 2 == 0 { part.to_string() } else { client.uri(part) };
    }
    serde_json::from_str(&all).unwrap_or_else(|e| panic!("{all}: {e}"))
}

fn told(client: &Client, line: &str, answer: Result<Value, String>) -> String {
    match answer {
        Ok(value) => format!("{line}\n{}\n", client.pretty(&value)),
        Err(why) => format!("{line}\nerror: {}\n", client.pretty(&json!(why))),
    }
}

/// Line and UTF-16 column of a byte.
fn position(text: &str, at: usize) -> Value {
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    json!({ "line": line, "character": text[start..at].encode_utf16().count() })
}
