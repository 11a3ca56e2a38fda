//! A client for tests: it talks to the server within the process and keeps what the server says.
#![allow(dead_code)] // each test uses a part
#![allow(clippy::disallowed_methods)] // tests touch files and clocks

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use sluice_lsp::server::{Server, service};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tower_lsp::LspService;
use tower_lsp::jsonrpc::{Request, Response};
use tower_service::Service;

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client and its server.
pub struct Client {
    service: LspService<Server>,
    /// What the server has said: methods and parameters.
    heard: Arc<Mutex<Vec<(String, Value)>>>,
    next: i64,
    versions: BTreeMap<String, i64>,
    pub folder: tempfile::TempDir,
}

impl Client {
    /// A client that has begun a session with these capabilities and settings.
    pub async fn new(capabilities: Value, settings: Value) -> Client {
        let folder = tempfile::tempdir().unwrap();
        let (service, socket) = service();
        let heard: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let kept = heard.clone();
        let (mut requests, mut responses) = socket.split();
        tokio::spawn(async move {
            while let Some(request) = requests.next().await {
                let params = request.params().cloned().unwrap_or(Value::Null);
                kept.lock().unwrap().push((request.method().to_string(), params));
                if let Some(id) = request.id() {
                    let _ = responses.send(Response::from_ok(id.clone(), Value::Null)).await;
                }
            }
        });
        let mut client = Client { service, heard, next: 0, versions: BTreeMap::new(), folder };
        let mut settings = settings;
        settings["shownFolder"] = json!(client.folder.path().join("shown"));
        settings["docs"] = json!("https://docs.example/");
        let root = client.uri("");
        let params = json!({
            "processId": null, "rootUri": root, "capabilities": capabilities, "initializationOptions": settings,
        });
        client.ask("initialize", params).await.unwrap();
        client.tell("initialized", json!({})).await;
        client
    }

    /// The URI of a file of the session.
    pub fn uri(&self, name: &str) -> String {
        if name.contains(':') {
            return name.to_string();
        }
        tower_lsp::lsp_types::Url::from_file_path(self.folder.path().join(name)).unwrap().to_string()
    }

    /// The name by which the world knows it.
    pub fn name(&self, name: &str) -> String {
        sluice_lsp::convert::name(&tower_lsp::lsp_types::Url::parse(&self.uri(name)).unwrap())
    }

    async fn call(&mut self, request: Request) -> Option<Response> {
        futures::future::poll_fn(|cx| self.service.poll_ready(cx)).await.unwrap();
        self.service.call(request).await.unwrap()
    }

    /// A request; the answer, or the error's text.
    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.next += 1;
        let request = Request::build(method.to_string()).params(params).id(self.next).finish();
        let (_, answer) = self.call(request).await.unwrap().into_parts();
        answer.map_err(|e| e.message.to_string())
    }

    /// A notification.
    pub async fn tell(&mut self, method: &str, params: Value) {
        let request = Request::build(method.to_string()).params(params).finish();
        assert!(self.call(request).await.is_none());
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub async fn open(&mut self, name: &str, text: &str) {
        self.versions.insert(name.into(), 1);
        let uri = self.uri(name);
        let document = json!({ "uri": uri, "languageId": "sluice", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document })).await;
    }

    /// Changes with the protocol's own ranges.
    pub async fn change(&mut self, name: &str, changes: Value) {
        let uri = self.uri(name);
        let version = self.versions.get_mut(name).unwrap();
        *version += 1;
        let document = json!({ "uri": uri, "version": *version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes })).await;
    }

    /// The text that the server has.
    pub fn text(&self, name: &str) -> String {
        self.service.inner().world().document(&self.name(name)).unwrap().0.as_str().to_string()
    }

    /// The server itself.
    pub fn server(&self) -> &Server {
        self.service.inner()
    }

    /// The server's world.
    pub fn world(&self) -> &Arc<sluice_lsp::world::World> {
        self.service.inner().world()
    }

    /// Waits until the diagnostics of the present texts have come; of each file that has any news, the last.
    pub async fn settle(&mut self) -> BTreeMap<String, Value> {
        let began = Instant::now();
        loop {
            let heard = self.last_diagnostics();
            let has = |name: &String, version: &i64| {
                heard.get(&self.uri(name)).is_some_and(|d| d["version"].as_i64() == Some(*version))
                    && self.world().is_settled(&self.name(name))
            };
            if self.versions.iter().all(|(name, version)| has(name, version)) {
                return heard;
            }
            assert!(began.elapsed() < PATIENCE, "no diagnostics of {:?}; heard {heard:?}", self.versions);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until there is a schedule of the present text.
    pub async fn scheduled(&mut self, name: &str) {
        let began = Instant::now();
        let name = self.name(name);
        while !self.world().view(&name).and_then(|v| v.schedule).is_some_and(|s| s.current) {
            assert!(began.elapsed() < PATIENCE, "no schedule of {name}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub async fn close(&mut self, name: &str) {
        self.versions.remove(name);
        let uri = self.uri(name);
        self.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
    }

    fn last_diagnostics(&self) -> BTreeMap<String, Value> {
        let heard = self.heard.lock().unwrap();
        let all = heard.iter().filter(|(m, _)| m == "textDocument/publishDiagnostics");
        all.map(|(_, p)| (p["uri"].as_str().unwrap().to_string(), p.clone())).collect()
    }

    /// What the server has said by a method.
    pub fn said(&self, method: &str) -> Vec<Value> {
        self.heard.lock().unwrap().iter().filter(|(m, _)| m == method).map(|(_, p)| p.clone()).collect()
    }

    /// Waits until the server has said something so often.
    pub async fn hears(&self, method: &str, times: usize) {
        let began = Instant::now();
        while self.said(method).len() < times {
            assert!(began.elapsed() < PATIENCE, "{method} was not said {times} times");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// JSON for people: the session's folder is `file:///s`.
    pub fn pretty(&self, value: &Value) -> String {
        let folder = self.folder.path().display().to_string();
        let text = serde_json::to_string_pretty(&sorted(value)).unwrap();
        compact(&text.replace(&format!("file://{folder}"), "file:///s").replace(&folder, "/s"))
    }
}

/// Runs a test within the server's own kind of runtime.
pub fn run<F: Future<Output = ()>>(test: F) {
    sluice_lsp::runtime()
        .unwrap()
        .block_on(async { tokio::time::timeout(5 * PATIENCE, test).await.expect("the test takes too long") });
}

/// Keys in the order of the alphabet: in a build of everything `serde_json` may keep another one.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(all) => {
            let all: BTreeMap<&String, Value> = all.iter().map(|(k, v)| (k, sorted(v))).collect();
            all.into_iter().map(|(k, v)| (k.clone(), v)).collect()
        }
        Value::Array(all) => all.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// Ranges and positions on one line: `3:4-3:9`.
fn compact(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    let mut i = 0;
    let number = |line: &str, key: &str| {
        line.trim().trim_end_matches(',').strip_prefix(&format!("\"{key}\": ")).map(str::to_string)
    };
    let position = |at: usize| -> Option<String> {
        let character = number(lines.get(at + 1)?, "character")?;
        let line = number(lines.get(at + 2)?, "line")?;
        Some(format!("{line}:{character}"))
    };
    while i < lines.len() {
        let line = lines[i];
        // keys are sorted: end before start, character before line
        if line.trim_end().ends_with('{')
            && i + 8 < lines.len()
            && lines[i + 1].trim() == "\"end\": {"
            && lines[i + 5].trim() == "\"start\": {"
            && let (Some(end), Some(start)) = (position(i + 1), position(i + 5))
        {
            let close = lines[i + 9].trim();
            let before = line.trim_end().trim_end_matches('{');
            out.push(format!("{before}{start}-{end}{}", close.trim_start_matches('}')));
            i += 10;
            continue;
        }
        if line.trim_end().ends_with('{')
            && let Some(at) = position(i)
        {
            let close = lines[i + 3].trim();
            out.push(format!("{}{at}{}", line.trim_end().trim_end_matches('{'), close.trim_start_matches('}')));
            i += 4;
            continue;
        }
        out.push(line.to_string());
        i += 1;
    }
    out.join("\n")
}
