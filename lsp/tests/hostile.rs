//! What nobody should do to a server, and many will: rings of imports, files that are not there, texts that are huge or no programs.

#![allow(clippy::disallowed_methods)] // tests touch files and clocks

mod common;

use common::{Client, run};
use serde_json::{Value, json};

async fn hints(client: &mut Client, name: &str) -> Value {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99_999, "character": 0 } });
    let params = json!({ "textDocument": { "uri": client.uri(name) }, "range": range });
    client.ask("textDocument/inlayHint", params).await.unwrap()
}

#[test]
fn rings_of_imports_end() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        client.write("a.str", "import \"b.str\";\nvoid->void filter A { work { println(1); } }\n");
        client.write("b.str", "import \"c.str\"; import \"b.str\";\n");
        client.write("c.str", "import \"a.str\";\nint->int filter C { work pop 1 push 1 { push(pop()); } }\n");
        let text = std::fs::read_to_string(client.folder.path().join("a.str")).unwrap();
        client.open("a.str", &text).await;
        let heard = client.settle().await;
        assert!(
            heard.values().all(|d| d["diagnostics"].as_array().unwrap().iter().all(|d| d["severity"] != 1)),
            "{heard:?}"
        );
        client.open("c.str", "import \"a.str\";\nint->int filter C { work pop 1 push 1 { push(pop() + 1); } }\n").await;
        client.settle().await;
        assert!(hints(&mut client, "c.str").await.is_array());
    });
}

#[test]
fn folders_and_devices_are_no_programs() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        std::fs::create_dir(client.folder.path().join("sub.str")).unwrap();
        client.open("a.str", "import \"sub.str\"; import \"/dev/zero\"; import \"\"; import \"\\0\";\nvoid->void filter A { work { println(1); } }\n").await;
        let heard = client.settle().await;
        let found = heard.values().flat_map(|d| d["diagnostics"].as_array().unwrap()).filter(|d| d["code"] == "E0110");
        assert_eq!(found.count(), 4, "{heard:?}");
    });
}

#[test]
fn huge_and_malformed_texts_are_survived() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        let deep =
            format!("void->void filter F {{ work {{ int x = {}1{}; }} }}", "(".repeat(50_000), ")".repeat(50_000));
        let wide = format!("void->void pipeline P {{ {} }}", "add X;".repeat(50_000));
        let noise: String = (0..200_000u32).map(|i| char::from_u32(i * 7919 % 0x2000).unwrap_or('?')).collect();
        for (i, text) in [deep, wide, noise, "{".repeat(100_000), "\"".repeat(1001)].iter().enumerate() {
            let name = format!("t{i}.str");
            client.open(&name, text).await;
            client.settle().await;
            hints(&mut client, &name).await;
            for method in ["documentSymbol", "semanticTokens/full", "foldingRange", "codeLens"] {
                let params = json!({ "textDocument": { "uri": client.uri(&name) } });
                client.ask(&format!("textDocument/{method}"), params).await.unwrap();
            }
            client.close(&name).await;
        }
        // larger than anything that is looked at
        client.open("big.str", &" ".repeat(17 << 20)).await;
        client.settle().await;
        assert_eq!(client.text("big.str"), "");
        assert!(
            client
                .said("window/logMessage")
                .iter()
                .any(|m| m["message"].as_str().unwrap().contains("larger than 16 MiB"))
        );
    });
}

#[test]
fn programs_without_end_are_cancelled_by_the_next_text() {
    run(async {
        let mut client = Client::new(json!({}), json!({ "schedule": { "automatic": false } })).await;
        let endless = "float->float pipeline R(int n) { add R(n + 1); }\nvoid->void pipeline Main { while (true) { int x = 1; } add R(1); }\n";
        client.open("a.str", endless).await;
        let began = std::time::Instant::now();
        client.change("a.str", json!([{ "text": "void->void filter A { work { println(1); } }\n" }])).await;
        client.settle().await;
        assert!(began.elapsed().as_secs() < 30);
        client.change("a.str", json!([{ "text": endless }])).await;
        let heard = client.settle().await;
        assert!(
            heard.values().flat_map(|d| d["diagnostics"].as_array().unwrap()).any(|d| d["code"] == "E0401"),
            "{heard:?}"
        );
    });
}

#[test]
fn blocks_without_end_are_cancelled_by_the_next_text() {
    const SOUND: &str = "void->void filter A { work { println(1); } }\n";
    run(async {
        let mut client = Client::new(json!({}), json!({ "schedule": { "automatic": false } })).await;
        let endless = "for (int i = 0; i < 9;) a++;";
        let filter = format!("void->void filter A {{ int a; init {{ {endless} }} work {{ println(a); }} }}\n");
        let fixed = format!("static {{ int a; init {{ {endless} }} }}\n{SOUND}");
        let function = format!("helper H {{ int f() {{ int a = 0; {endless} return a; }} }}\n");
        let table = format!("{function}static {{ int x = H.f(); }}\n{SOUND}");
        let argument = format!(
            "{function}void->void pipeline P {{ add B(H.f()); }}\nvoid->void filter B(int n) {{ work {{ println(n); }} }}\n"
        );
        for (i, text) in [filter, fixed, table, argument].iter().enumerate() {
            let name = format!("a{i}.str");
            client.open(&name, text).await;
            // long enough for the analysis to begin, far from enough for all the steps that it may take
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            assert!(!client.world().is_settled(&client.name(&name)), "{text}");
            let began = std::time::Instant::now();
            client.change(&name, json!([{ "text": SOUND }])).await;
            let heard = client.settle().await;
            // without, it would be some ten seconds
            assert!(began.elapsed().as_secs() < 5, "{text}: {:?}", began.elapsed());
            assert_eq!(heard[&client.uri(&name)]["diagnostics"], json!([]));
            client.close(&name).await;
        }
    });
}

#[test]
fn documents_that_are_not_open_are_no_matter() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        let uri = client.uri("gone.str");
        client
            .tell(
                "textDocument/didChange",
                json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": "x" }] }),
            )
            .await;
        client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
        assert_eq!(client.ask("textDocument/hover", params.clone()).await, Ok(Value::Null));
        assert_eq!(client.ask("sluice/graph", params).await, Ok(Value::Null));
        // a buffer that is no file
        client.open("untitled:Untitled-1", "import \"x.str\";\nvoid->void filter A { work { println(1); } }\n").await;
        let heard = client.settle().await;
        assert_eq!(heard["untitled:Untitled-1"]["diagnostics"][0]["code"], "E0110");
        client
            .change(
                "untitled:Untitled-1",
                json!([{ "text": "void->void pipeline P { add A; }\nvoid->void filter A { work { println(1); } }\n" }]),
            )
            .await;
        client.settle().await;
        assert!(!hints(&mut client, "untitled:Untitled-1").await.as_array().unwrap().is_empty());
    });
}

#[test]
fn a_failure_inside_ends_no_server() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        client.open("a.str", "void->void filter A { work { println(1); } }\n").await;
        client.settle().await;
        let answer: tower_lsp::jsonrpc::Result<Option<u32>> = client.server().guarded(|| panic!("on purpose")).await;
        assert_eq!(answer, Ok(None));
        for _ in 0..100 {
            if client.said("window/logMessage").iter().any(|m| m["message"].as_str().unwrap().contains("on purpose")) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(client.said("window/logMessage").iter().any(|m| m["message"].as_str().unwrap().contains("on purpose")));
        let params =
            json!({ "textDocument": { "uri": client.uri("a.str") }, "position": { "line": 0, "character": 18 } });
        assert!(client.ask("textDocument/hover", params).await.unwrap().is_object());
    });
}

#[test]
fn a_byte_order_mark_is_no_column() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        client.write("gain.str", "\u{feff}float->float filter Gain { work pop 1 push 1 { push(pop()); } }\n");
        let text = "import \"gain.str\"; void->void pipeline Main { add Ones; add Gain; add Sink; }\nvoid->float filter Ones { work push 1 { push(1); } }\nfloat->void filter Sink { work pop 1 { println(pop()); } }\n";
        client.open("main.str", text).await;
        client.settle().await;
        let at = json!({ "line": 0, "character": text.find("Gain;").unwrap() });
        let params = json!({ "textDocument": { "uri": client.uri("main.str") }, "position": at, "newName": "Louder" });
        let found = client.ask("textDocument/definition", params.clone()).await.unwrap();
        assert_eq!(found["range"]["start"], json!({ "line": 0, "character": 20 }));
        let edits = client.ask("textDocument/rename", params).await.unwrap();
        let edit = &edits["changes"][client.uri("gain.str")][0];
        assert_eq!(edit["range"]["start"], json!({ "line": 0, "character": 20 }));
    });
}

#[test]
fn documents_are_called_as_the_client_calls_them() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        // as some editors write `+` and `(`
        let odd = format!("{}a%2Bb%28c%29.str", client.uri(""));
        client.open(&odd, "void->void filter A { work { println(1); } void f() { } }\n").await;
        let told = client.settle().await;
        assert!(told.contains_key(&odd), "{told:?}");
        let params =
            json!({ "textDocument": { "uri": odd }, "position": { "line": 0, "character": 19 }, "newName": "B" });
        let found = client.ask("textDocument/definition", params.clone()).await.unwrap();
        assert_eq!(found["uri"], *odd);
        let edits = client.ask("textDocument/rename", params).await.unwrap();
        assert!(edits["changes"].get(&odd).is_some(), "{edits}");
        let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": odd } })).await.unwrap();
        assert_eq!(lenses[0]["command"]["arguments"][0], *odd);
    });
}

#[test]
fn another_schemes_document_is_not_the_file() {
    run(async {
        let mut client = Client::new(json!({}), json!({})).await;
        client.open("a.str", "void->void filter A { work { println(1); } }\n").await;
        let old = client.uri("a.str").replace("file://", "git:") + "?HEAD";
        client.open(&old, "void->void filter Old { work { println(y); } }\n").await;
        let told = client.settle().await;
        assert_eq!(told[&client.uri("a.str")]["diagnostics"], json!([]));
        assert_eq!(told[&old]["diagnostics"][0]["code"], "E0102");
        client.close(&old).await;
        assert!(client.text("a.str").contains("filter A"));
        let params =
            json!({ "textDocument": { "uri": client.uri("a.str") }, "position": { "line": 0, "character": 19 } });
        assert!(client.ask("textDocument/hover", params).await.unwrap().is_object());
    });
}

#[test]
fn the_copy_of_a_library_file_is_no_program() {
    run(async {
        let mut client = Client::new(json!({}), json!({ "schedule": { "automatic": false } })).await;
        let main = "void->void pipeline Main { add Tone(1, 2); add PrintFloat; }\n";
        client.open("main.str", main).await;
        client.settle().await;
        let at = json!({ "line": 0, "character": main.find("Tone").unwrap() });
        let params = json!({ "textDocument": { "uri": client.uri("main.str") }, "position": at });
        let found = client.ask("textDocument/definition", params).await.unwrap();
        let (uri, at) = (found["uri"].as_str().unwrap().to_string(), found["range"]["end"].clone());
        let copy = std::fs::read_to_string(uri.strip_prefix("file://").unwrap()).unwrap();
        client.open(&uri, &copy).await;
        let told = client.settle().await;
        assert_eq!(told[&uri]["diagnostics"], json!([]));
        let params = json!({ "textDocument": { "uri": uri }, "position": at, "newName": "Note" });
        let refused = client.ask("textDocument/rename", params.clone()).await;
        assert_eq!(refused, Err("`Tone` belongs to the standard library".into()));
        assert!(client.ask("textDocument/prepareRename", params).await.is_err());
    });
}
