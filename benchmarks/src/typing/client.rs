//! A client of the language server that keeps the time: it talks to `sluice lsp` over pipes, as an editor does.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An answer that takes longer will not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message and when it came.
pub type Heard = (Instant, Value);

/// A server and what it says.
pub struct Client {
    server: Child,
    input: Arc<Mutex<ChildStdin>>,
    heard: Receiver<Heard>,
    waiting: VecDeque<Heard>,
    next: u64,
}

impl Client {
    /// Starts a server; the time until it has answered `initialize`.
    pub fn start(sluice: &str) -> Result<(Client, f64), String> {
        let began = Instant::now();
        let mut server = Command::new(sluice)
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{sluice}: {e}"))?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            return Err("no pipes to the server".into());
        };
        let input = Arc::new(Mutex::new(input));
        let (sender, heard) = channel();
        let answers = input.clone();
        std::thread::spawn(move || listen(output, &answers, &sender));
        let mut client = Client { server, input, heard, waiting: VecDeque::new(), next: 0 };
        let workspace = json!({ "inlayHint": { "refreshSupport": true }, "codeLens": { "refreshSupport": true } });
        let capabilities = json!({ "workspace": workspace });
        client.ask("initialize", &json!({ "processId": null, "rootUri": null, "capabilities": capabilities }))?;
        let time = began.elapsed().as_secs_f64();
        client.tell("initialized", &json!({}))?;
        Ok((client, time))
    }

    /// A notification.
    pub fn tell(&self, method: &str, params: &Value) -> Result<(), String> {
        send(&self.input, &json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// A request: its answer and how long it took.
    pub fn ask(&mut self, method: &str, params: &Value) -> Result<(Value, f64), String> {
        self.next += 1;
        let id = self.next;
        let began = Instant::now();
        send(&self.input, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let (at, answer) = self.wait(|m| m.get("method").is_none() && m["id"] == id)?;
        match answer.get("error") {
            Some(error) => Err(format!("{method}: {error}")),
            None => Ok((answer["result"].clone(), (at - began).as_secs_f64())),
        }
    }

    /// Waits for a message; others are kept.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Heard, String> {
        if let Some(at) = self.waiting.iter().position(|(_, m)| wanted(m)) {
            return self.waiting.remove(at).ok_or_else(String::new);
        }
        loop {
            let next = self.heard.recv_timeout(PATIENCE).map_err(|e| format!("the server says nothing: {e}"))?;
            if wanted(&next.1) {
                return Ok(next);
            }
            self.waiting.push_back(next);
        }
    }

    /// Forgets what has been heard.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    /// The server's memory and the most that it was, in bytes; `None` where the system does not say.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id())).ok()?;
        let of = |key: &str| {
            let line = status.lines().find_map(|l| l.strip_prefix(key))?;
            line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|n| n * 1024)
        };
        Some((of("VmRSS:")?, of("VmHWM:")?))
    }

    /// Ends the server as an editor does.
    pub fn end(mut self) -> Result<(), String> {
        self.ask("shutdown", &Value::Null)?;
        self.tell("exit", &Value::Null)?;
        self.server.wait().map(|_| ()).map_err(|e| e.to_string())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // where it has ended already there is nothing to kill
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn send(input: &Mutex<ChildStdin>, message: &Value) -> Result<(), String> {
    let text = message.to_string();
    let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
    let all = format!("Content-Length: {}\r\n\r\n{text}", text.len());
    input.write_all(all.as_bytes()).and_then(|()| input.flush()).map_err(|e| format!("the server has gone: {e}"))
}

/// Reads what the server says; its requests are answered at once, with nothing.
fn listen(output: ChildStdout, input: &Mutex<ChildStdin>, heard: &Sender<Heard>) {
    let mut output = BufReader::new(output);
    while let Some(message) = frame(&mut output) {
        let at = Instant::now();
        if let (Some(id), Some(_)) = (message.get("id"), message.get("method"))
            && send(input, &json!({ "jsonrpc": "2.0", "id": id, "result": null })).is_err()
        {
            return;
        }
        if heard.send((at, message)).is_err() {
            return;
        }
    }
}

fn frame(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                let value = header.strip_prefix("Content-Length:").and_then(|n| n.trim().parse::<usize>().ok());
                length = value.or(length);
            }
        }
    }
    let mut text = vec![0; length?];
    output.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
