//! A file that several programs import: what is shown of it depends on the texts and on what is open, not on what was opened, changed or analysed first.

#![allow(clippy::disallowed_methods)] // tests look at clocks

mod common;

use common::{Client, run};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SHARED: &str = "int->void filter Sink { work pop 1 { println(pop()); } }\nvoid->void pipeline Wrong { add void->float filter { work push 1 { push(1); } }; add Sink; }\n";
const ALPHA: &str = "import \"shared.str\";\nvoid->void pipeline Alpha { add Wrong; }\n";
const BROKEN: &str = "import \"shared.str\";\nvoid->void pipeline Alpha { add Wrong }}\n";
const BETA: &str = "import \"shared.str\";\nvoid->void pipeline Beta { add Wrong; }\n";

async fn client() -> Client {
    let mut client = Client::new(json!({}), json!({ "schedule": { "automatic": false } })).await;
    client.write("shared.str", SHARED);
    client.write("alpha.str", ALPHA);
    client.write("beta.str", BETA);
    // who imports whom is known before anything is opened
    let new = |name: &str| json!({ "uri": client.uri(name), "type": 1 });
    let changes = json!({ "changes": [new("shared.str"), new("alpha.str"), new("beta.str")] });
    client.tell("workspace/didChangeWatchedFiles", changes).await;
    client
}

/// The codes that are shown of the file in the end.
async fn codes(client: &mut Client, name: &str) -> Vec<String> {
    let now = client.settle().await.get(&client.uri(name)).map_or(Value::Null, |d| d["diagnostics"].clone());
    let all = now.as_array().cloned().unwrap_or_default();
    all.iter().map(|d| format!("{} {}", d["code"].as_str().unwrap(), d["severity"])).collect()
}

/// Waits until just these are shown, and looks whether it stays so.
async fn shows(client: &mut Client, name: &str, wanted: &[&str]) {
    let began = Instant::now();
    while codes(client, name).await != wanted {
        assert!(began.elapsed() < Duration::from_secs(20), "{name}: {:?}, not {wanted:?}", codes(client, name).await);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(codes(client, name).await, wanted, "{name}");
}

#[test]
fn the_order_of_opening_does_not_matter() {
    for order in [["alpha.str", "beta.str", "shared.str"], ["shared.str", "beta.str", "alpha.str"]] {
        run(async move {
            let mut client = client().await;
            for name in order {
                let text = [("alpha.str", BROKEN), ("beta.str", BETA), ("shared.str", SHARED)];
                client.open(name, text.iter().find(|t| t.0 == name).unwrap().1).await;
                client.settle().await;
            }
            // the sound program sees it, the broken one does not come so far
            shows(&mut client, "shared.str", &["E0404 1"]).await;
        });
    }
}

#[test]
fn what_changes_is_shown_and_what_is_closed_is_not() {
    run(async {
        let mut client = client().await;
        client.open("alpha.str", ALPHA).await;
        shows(&mut client, "shared.str", &["E0404 1"]).await;
        client.open("beta.str", BETA).await;
        // two programs see it; it is one fault
        shows(&mut client, "shared.str", &["E0404 1"]).await;
        client.change("alpha.str", json!([{ "text": BROKEN }])).await;
        shows(&mut client, "shared.str", &["E0404 1"]).await;
        client.change("beta.str", json!([{ "text": BETA.replace("add Wrong", "}") }])).await;
        shows(&mut client, "shared.str", &[]).await;
        client.change("alpha.str", json!([{ "text": ALPHA }])).await;
        shows(&mut client, "shared.str", &["E0404 1"]).await;
        client.close("alpha.str").await;
        shows(&mut client, "shared.str", &[]).await;
        shows(&mut client, "alpha.str", &[]).await;
    });
}
