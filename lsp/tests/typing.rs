//! What is offered while somebody types: in texts that end where they are, and before what is there already.

mod common;

use common::{Client, run};
use serde_json::{Value, json};

/// The items at the end of the first `pattern`.
async fn items(client: &mut Client, name: &str, text: &str, pattern: &str) -> Vec<Value> {
    client.open(name, text).await;
    let at = text.find(pattern).unwrap() + pattern.len();
    let line = text[..at].matches('\n').count();
    let column = at - text[..at].rfind('\n').map_or(0, |n| n + 1);
    let place = json!({ "line": line, "character": column });
    let params = json!({ "textDocument": { "uri": client.uri(name) }, "position": place });
    client.ask("textDocument/completion", params).await.unwrap().as_array().unwrap().clone()
}

async fn client(item: Value) -> Client {
    let capabilities = json!({ "textDocument": { "completion": { "completionItem": item } } });
    Client::new(capabilities, json!({ "schedule": { "automatic": false } })).await
}

fn labels(items: &[Value]) -> Vec<&str> {
    items.iter().filter_map(|i| i["label"].as_str()).collect()
}

#[test]
fn an_unfinished_text_has_its_names() {
    run(async {
        let mut client = client(json!({})).await;
        for (i, end) in ["push ", "push( ", "if (k < ", "push(k + \n\n"].iter().enumerate() {
            let text = format!("int->int filter F(int n) {{ int seen; work pop 1 push 1 {{ int k = pop(); {end}");
            let found = items(&mut client, &format!("t{i}.str"), &text, &text).await;
            let labels = labels(&found);
            assert!(["n", "seen", "k"].iter().all(|w| labels.contains(w)), "{text}: {labels:?}");
            assert!(!labels.contains(&"while") && !labels.contains(&"float3"), "{text}: {labels:?}");
        }
    });
}

const TEXT: &str = "void->void pipeline Main { portal<Ga> p; add Ga(2); add Ga; add float->float ; }
// Makes it louder by `by`.
float->float filter Gain(float by) { work pop 1 push 1 { push(pop() * tw (1)); } float twice(float x) { return 2 * x; } }
float->float pipeline Gains(int n) { add Gain(n); }
";

#[test]
fn arguments_are_inserted_where_there_are_none() {
    run(async {
        let mut client = client(json!({ "snippetSupport": true })).await;
        let found = items(&mut client, "a.str", TEXT, "portal<Ga").await;
        let of = |label: &str| found.iter().find(|i| i["label"] == label);
        assert_eq!(of("Gain").unwrap().get("insertText"), None, "a portal is to filters of any arguments");
        assert!(of("Gains").is_none() && of("Identity").is_none(), "and to filters only");
        let inserted = |found: &[Value], label: &str| {
            found.iter().find(|i| i["label"] == label).unwrap().get("insertText").cloned()
        };
        let found = items(&mut client, "b.str", TEXT, "add Ga").await;
        assert_eq!(inserted(&found, "Gain"), None, "they are there already");
        let found = items(&mut client, "c.str", TEXT, "* tw").await;
        assert_eq!(inserted(&found, "twice"), None);
        let found = items(&mut client, "d.str", TEXT, "add Ga(2); add Ga").await;
        assert_eq!(inserted(&found, "Gain"), Some(json!("Gain(${1:by})")));
        let found = items(&mut client, "e.str", TEXT, "add float->float ").await;
        assert_eq!(labels(&found), ["filter", "pipeline", "splitjoin", "feedbackloop", "stateful"]);
    });
}

#[test]
fn items_are_told_of_in_the_clients_format() {
    run(async {
        for (format, value) in [("plaintext", "Makes it louder by by."), ("markdown", "Makes it louder by `by`.")] {
            let mut client = client(json!({ "documentationFormat": [format] })).await;
            let found = items(&mut client, "a.str", TEXT, "add Ga").await;
            let item = found.iter().find(|i| i["label"] == "Gain").unwrap().clone();
            let told = client.ask("completionItem/resolve", item).await.unwrap();
            assert_eq!(told["documentation"], json!({ "kind": format, "value": value }));
        }
    });
}
