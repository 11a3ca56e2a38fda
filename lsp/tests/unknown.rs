//! Hints of a program that no analysis has seen yet are unknown (`null`), not none (`[]`): an editor keeps an empty list, and may not look at the next one.

mod common;

use common::{Client, run};
use serde_json::{Value, json};

/// Its analysis counts for a while: a request comes long before it is ready.
const SLOW: &str = "void->void pipeline Main {\n    int n = 0;\n    for (int i = 0; i < 3000000; i++) n = (n + i) % 1000;\n    add Source(n);\n    add Sink;\n}\n\
void->int filter Source(int n) { work push 2 { push(n); push(n); } }\nint->void filter Sink { work pop 1 { println(pop()); } }\n";

async fn hints(client: &mut Client) -> Value {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let params = json!({ "textDocument": { "uri": client.uri("main.str") }, "range": range });
    client.ask("textDocument/inlayHint", params).await.unwrap()
}

fn is_analysed(client: &Client) -> bool {
    client.world().view(&client.name("main.str")).unwrap().latest.is_some()
}

async fn first(text: &str) -> (Client, Value) {
    let capabilities = json!({ "workspace": { "inlayHint": { "refreshSupport": true } } });
    let mut client = Client::new(capabilities, json!({ "schedule": { "automatic": false } })).await;
    client.open("main.str", text).await;
    let before = hints(&mut client).await;
    assert!(!is_analysed(&client), "the analysis is too quick for this test");
    assert!(client.said("workspace/inlayHint/refresh").is_empty());
    client.settle().await;
    // what was unknown is asked for again when there is something to know
    client.hears("workspace/inlayHint/refresh", 1).await;
    (client, before)
}

#[test]
fn hints_are_unknown_before_they_are_ready() {
    run(async {
        let (mut client, before) = first(SLOW).await;
        assert_eq!(before, Value::Null);
        let after = hints(&mut client).await;
        let labels: Vec<&str> = after.as_array().unwrap().iter().filter_map(|h| h["label"].as_str()).collect();
        assert_eq!(labels, ["×1 · 0→2", "×2 · 1→0"]);
    });
}

#[test]
fn of_a_program_with_errors_there_are_none() {
    run(async {
        // found when the streams are put together: the types of the two do not fit
        let wrong = SLOW.replace("int->void", "float->void");
        let (mut client, before) = first(&wrong).await;
        assert_eq!(before, Value::Null);
        assert_eq!(hints(&mut client).await, json!([]));
        // and while the next analysis runs, it is known that there were none
        client.change("main.str", json!([{ "text": wrong.replace("1000;", "1001;") }])).await;
        assert_eq!(hints(&mut client).await, json!([]));
    });
}
