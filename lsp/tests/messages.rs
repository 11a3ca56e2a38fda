//! Messages that are none, over a pipe as an editor has it: each is answered, and the next one is read.

mod common;

use common::run;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::task::JoinHandle;

struct Session {
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    server: JoinHandle<std::io::Result<bool>>,
}

impl Session {
    async fn new(params: Value) -> Session {
        let (input, theirs) = tokio::io::duplex(1 << 20);
        let (output, ours) = tokio::io::duplex(1 << 20);
        let server = tokio::spawn(sluice_lsp::serve_over(theirs, output));
        let mut s = Session { input, output: BufReader::new(ours), server };
        s.say(json!({ "id": 1, "method": "initialize", "params": params })).await;
        let answer = s.hear(|m| m["id"] == 1).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "sluice", "{answer}");
        s.say(json!({ "method": "initialized", "params": {} })).await;
        s
    }

    async fn bytes(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).await.unwrap();
    }

    async fn body(&mut self, body: &[u8]) {
        self.bytes(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await;
        self.bytes(body).await;
    }

    async fn say(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        self.body(message.to_string().as_bytes()).await;
    }

    /// The next message that fits.
    async fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let heard = async {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    assert!(self.output.read_line(&mut line).await.unwrap() > 0, "the server has ended");
                    match line.trim().strip_prefix("Content-Length: ") {
                        Some(n) => length = n.parse().unwrap(),
                        None if line.trim().is_empty() => break,
                        None => {}
                    }
                }
                let mut text = vec![0; length];
                self.output.read_exact(&mut text).await.unwrap();
                let message: Value = serde_json::from_slice(&text).unwrap();
                if fits(&message) {
                    return message;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), heard).await.expect("nothing is heard")
    }

    /// The code of the next answer to a message that is none.
    async fn refused(&mut self) -> i64 {
        let answer = self.hear(|m| m.get("error").is_some()).await;
        assert!(answer["id"].is_null() && !answer["error"]["message"].as_str().unwrap().is_empty(), "{answer}");
        answer["error"]["code"].as_i64().unwrap()
    }

    /// Opens a document and waits for what is said of it.
    async fn open(&mut self, name: &str, text: &str) -> Value {
        let uri = format!("untitled:{name}");
        let document = json!({ "uri": uri, "languageId": "sluice", "version": 1, "text": text });
        self.say(json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } })).await;
        let told = |m: &Value| m["method"] == "textDocument/publishDiagnostics" && m["params"]["uri"] == *uri;
        self.hear(told).await["params"]["diagnostics"].clone()
    }
}

const FILTER: &str = "void->void filter F { work { println(y); } }\n";

#[test]
fn what_is_no_message_is_answered_and_the_next_one_is_read() {
    run(async {
        let mut s = Session::new(json!({ "capabilities": {} })).await;
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        let bodies = [
            ("{not json", -32700),
            ("", -32700),
            ("1e999", -32700),
            (&deep, -32700),
            ("[]", -32600),
            ("null", -32600),
            (r#"{"id":1,"method":"shutdown"}"#, -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"shutdown"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"shutdown"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"shutdown"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"error":7}"#, -32600),
        ];
        for (i, (body, code)) in bodies.iter().enumerate() {
            s.body(body.as_bytes()).await;
            assert_eq!(s.refused().await, *code, "{body}");
            assert_eq!(s.open(&i.to_string(), FILTER).await[0]["code"], "E0102", "after {body}");
        }
        // a field that stands twice counts as it does elsewhere: the last one
        s.body(br#"{"jsonrpc":"2.0","id":7,"method":"x","method":"shutdown"}"#).await;
        assert_eq!(s.hear(|m| m["id"] == 7).await["result"], Value::Null);
    });
}

#[test]
fn headers_are_taken_as_they_come() {
    run(async {
        let mut s = Session::new(json!({ "capabilities": {} })).await;
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"$/none"}"#;
        for header in [
            "content-length: #\r\n\r\n",
            "CONTENT-LENGTH:#\n\n",
            "X-One: 1\r\nContent-Length: #\r\nX-Two: 2\r\nX-Three: 3\r\nX-Four: 4\r\n\r\n",
            "Content-Type: application/vscode-jsonrpc; charset=utf-16\r\nContent-Length: #\r\n\r\n",
            "\r\n\r\nContent-Length: #\r\n\r\n",
        ] {
            s.bytes(header.replace('#', &body.len().to_string()).as_bytes()).await;
            s.bytes(body.as_bytes()).await;
            assert_eq!(s.hear(|m| m["id"] == 7).await["error"]["code"], -32601, "{header}");
        }
        for header in ["Content-Type: x\r\n\r\n", "Content-Length: -5\r\n\r\n", "Content-Length: five\r\n\r\n"] {
            s.bytes(header.as_bytes()).await;
            assert_eq!(s.refused().await, -32700, "{header}");
            // what was announced by such a header may follow, on the line on which the next one begins
            s.bytes(b"{\"jsonrpc\"").await;
            assert_eq!(s.open(&header.len().to_string(), FILTER).await[0]["code"], "E0102", "after {header}");
        }
    });
}

#[test]
fn no_edit_is_lost_for_a_character() {
    run(async {
        let mut s = Session::new(json!({ "capabilities": {} })).await;
        for (i, bad) in [&b"\xff"[..], b"\\ud83d", b"\\ude00\\ud83d", b"\xc3"].iter().enumerate() {
            let start = format!(
                r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"untitled:bad{i}","languageId":"sluice","version":1,"text":"/* "#
            );
            let end = r#" */ void->void filter F { work { println(y); } }"}}}"#;
            s.body(&[start.as_bytes(), bad, end.as_bytes()].concat()).await;
            let uri = format!("untitled:bad{i}");
            let told = s.hear(|m| m["method"] == "textDocument/publishDiagnostics" && m["params"]["uri"] == *uri).await;
            assert_eq!(told["params"]["diagnostics"][0]["code"], "E0102", "{told}");
        }
    });
}

#[test]
fn who_announces_too_much_is_answered_and_left() {
    run(async {
        for header in ["Content-Length: 1073741825\r\n\r\n", "Content-Length: 99999999999999999999999\r\n\r\n"] {
            let mut s = Session::new(json!({ "capabilities": {} })).await;
            s.bytes(header.as_bytes()).await;
            assert_eq!(s.refused().await, -32600);
            // though its input stays open
            let ended = tokio::time::timeout(Duration::from_secs(30), s.server).await.expect("it stays").unwrap();
            assert!(ended.unwrap_err().to_string().contains("1024 MiB"));
        }
        let mut s = Session::new(json!({ "capabilities": {} })).await;
        s.bytes(&[b'x'; 100_000]).await;
        assert_eq!(s.refused().await, -32600);
        let ended = tokio::time::timeout(Duration::from_secs(30), s.server).await.expect("it stays").unwrap();
        assert!(ended.unwrap_err().to_string().contains("64 KiB"));
    });
}

#[test]
fn a_client_may_know_more_than_the_server() {
    run(async {
        let mut s = Session::new(json!({
            "processId": -1, "rootUri": "", "trace": "compact",
            "capabilities": {
                "workspace": { "workspaceEdit": { "resourceOperations": ["copy"] } },
                "textDocument": {
                    "foldingRange": { "foldingRangeKind": { "valueSet": ["custom"] } },
                    "hover": { "contentFormat": ["html", "plaintext"] },
                },
            },
        }))
        .await;
        s.open("a", "void->void filter F { work { println(1); } }\n").await;
        // what is understood counts: hovers are plain text
        let place = json!({ "textDocument": { "uri": "untitled:a" }, "position": { "line": 0, "character": 18 } });
        s.say(json!({ "id": 2, "method": "textDocument/hover", "params": place })).await;
        assert_eq!(s.hear(|m| m["id"] == 2).await["result"]["contents"]["kind"], "plaintext");
    });
}
