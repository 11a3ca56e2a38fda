//! `sluice lsp`: a session over pipes, as an editor has it. What the server answers is tested in lsp/tests.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn new(arguments: &[&str]) -> Session {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Session { child, input, output }
    }

    fn say(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        write!(self.input.as_mut().unwrap(), "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.as_mut().unwrap().flush().unwrap();
    }

    /// The next message that fits.
    fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
                match line.trim().strip_prefix("Content-Length: ") {
                    Some(n) => length = n.parse().unwrap(),
                    None if line.trim().is_empty() => break,
                    None => {}
                }
            }
            let mut text = vec![0; length];
            self.output.read_exact(&mut text).unwrap();
            let message: Value = serde_json::from_slice(&text).unwrap();
            if fits(&message) {
                return message;
            }
        }
    }

    fn begin(&mut self) -> Value {
        let watch = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
        let capabilities = json!({ "general": { "positionEncodings": ["utf-8"] }, "workspace": watch });
        let options = json!({ "docs": "https://docs.example/" });
        self.say(json!({ "id": 1, "method": "initialize", "params": { "capabilities": capabilities, "initializationOptions": options } }));
        let answer = self.hear(|m| m["id"] == 1);
        self.say(json!({ "method": "initialized", "params": {} }));
        answer
    }

    fn end(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn a_session_over_pipes() {
    let mut s = Session::new(&["lsp"]);
    let answer = s.begin();
    assert_eq!(answer["result"]["serverInfo"]["name"], "sluice");
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-8");
    let text = "void->void filter F { work { println(y); } }\n";
    let document = json!({ "uri": "untitled:one", "languageId": "sluice", "version": 1, "text": text });
    s.say(json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } }));
    let told = s.hear(|m| m["method"] == "textDocument/publishDiagnostics");
    assert_eq!(told["params"]["diagnostics"][0]["code"], "E0102");
    s.say(json!({ "id": 2, "method": "shutdown" }));
    assert!(s.hear(|m| m["id"] == 2)["error"].is_null());
    s.say(json!({ "method": "exit" }));
    assert_eq!(s.end(), 0);
}

/// Its exit code, though its input stays open.
fn ends_by_itself(mut s: Session) -> i32 {
    for _ in 0..600 {
        if let Some(status) = s.child.try_wait().unwrap() {
            return status.code().unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    s.child.kill().unwrap();
    panic!("the server stays after `exit`");
}

#[test]
fn exit_ends_it_and_null_is_no_parameter() {
    let mut s = Session::new(&["lsp"]);
    s.begin();
    // as Emacs says it
    s.say(json!({ "id": 2, "method": "shutdown", "params": null }));
    let answer = s.hear(|m| m["id"] == 2);
    assert!(answer["error"].is_null() && answer["result"].is_null(), "{answer}");
    s.say(json!({ "method": "exit", "params": null }));
    assert_eq!(ends_by_itself(s), 0);
    // without `shutdown` it is an error of the client's
    let mut s = Session::new(&["lsp"]);
    s.begin();
    s.say(json!({ "method": "exit" }));
    assert_eq!(ends_by_itself(s), 1);
}

#[test]
fn an_editor_that_is_gone_leaves_no_server() {
    let mut s = Session::new(&["lsp", "--stdio"]);
    s.begin();
    // what the server asks is never answered
    s.hear(|m| m["method"] == "client/registerCapability");
    s.say(json!({ "method": "workspace/didChangeConfiguration", "params": { "settings": null } }));
    s.hear(|m| m["method"] == "workspace/configuration");
    drop(s.input.take());
    assert_eq!(ends_by_itself(s), 0);
}

#[test]
fn an_unknown_request_is_answered() {
    let mut s = Session::new(&["lsp"]);
    s.begin();
    s.say(json!({ "method": "$/nothing" }));
    for (id, method) in [(2, "$/nothing"), (3, "sluice/nothing")] {
        s.say(json!({ "id": id, "method": method, "params": {} }));
        let answer = s.hear(|m| m.get("method").is_none());
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32601)), "{answer}");
    }
    assert_eq!(s.end(), 0);
}
