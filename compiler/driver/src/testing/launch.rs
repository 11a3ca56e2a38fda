//! # launch
//!
//! Purpose: starts a run in a process of its own, ends it where it takes too long, and gathers what came. Input: a [`Request`] and a time
//! limit. Output: a [`Ran`]. The limit counts from where the program itself starts: compiling it has one of its own.

use super::child::{self, Report, Request};
use crate::exit::Fault;
use crate::interrupt;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Checking and compiling a program may take so long.
const COMPILING: Duration = Duration::from_secs(300);
/// Time between looks at a run.
const PERIOD: Duration = Duration::from_millis(4);

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Exit(u8),
    /// By a signal: it crashed.
    Signal(i32),
    /// It ran longer than this.
    Timeout(Duration),
    /// The program was not even started after this time.
    Compiling(Duration),
    /// It put out more than is allowed.
    TooMuch,
}

/// What a run did.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// Codes of the errors it reported.
    pub codes: Vec<String>,
    /// Its messages, for people.
    pub messages: String,
    /// About its ends; empty where it did not come that far.
    pub report: Report,
    /// What it printed.
    pub prints: Vec<u8>,
    /// All it left.
    pub folder: tempfile::TempDir,
}

impl Ran {
    /// The bytes of a file that it left.
    pub fn bytes(&self, file: &str) -> Option<Vec<u8>> {
        std::fs::read(self.folder.path().join(file)).ok()
    }
}

/// Ends a run and all that it started.
fn kill(child: &mut Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits for the end. `None`: someone asked the whole command to end.
fn wait(child: &mut Child, started: &Path, limit: Duration) -> std::io::Result<Option<Ended>> {
    let mut since = Instant::now();
    let mut running = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(ended(status)));
        }
        if interrupt::requested() {
            kill(child);
            return Ok(None);
        }
        if !running && started.exists() {
            (running, since) = (true, Instant::now());
        }
        let most = if running { limit } else { COMPILING };
        if since.elapsed() > most {
            kill(child);
            return Ok(Some(if running { Ended::Timeout(most) } else { Ended::Compiling(most) }));
        }
        std::thread::sleep(PERIOD);
    }
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, Some(signal)) if signal == Signal::XFSZ.as_raw() => Ended::TooMuch,
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}

/// The errors among the JSON lines on standard error, and all messages as text.
fn messages(text: &str) -> (Vec<String>, String) {
    let (mut codes, mut shown) = (Vec::new(), String::new());
    for line in text.lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else {
            // not ours: what native functions write
            shown.push_str(line);
            shown.push('\n');
            continue;
        };
        let field = |name: &str| message[name].as_str().unwrap_or_default();
        match field("type") {
            "diagnostic" if field("severity") == "error" => {
                codes.push(field("code").to_string());
                shown.push_str(field("rendered"));
            }
            "fault" => {
                shown.push_str(&format!("error: {}\n", field("message")));
                if !field("help").is_empty() {
                    shown.push_str(&format!("help: {}\n", field("help")));
                }
            }
            "remark" => shown.push_str(&format!("warning: {}\n", field("message"))),
            _ => {}
        }
    }
    codes.dedup();
    (codes, shown)
}

/// Runs a request. `None`: someone asked the whole command to end.
pub fn run(mut request: Request, input: Option<&str>, limit: Duration) -> Result<Option<Ran>, Fault> {
    let fault = |e: std::io::Error| Fault::file("start", "a test", &e);
    let folder = tempfile::Builder::new().prefix("sluice-test-").tempdir().map_err(fault)?;
    let path = |name: &str| folder.path().join(name);
    request.folder = folder.path().to_path_buf();
    if let Some(text) = input {
        let file = path("input.txt");
        std::fs::write(&file, text).map_err(fault)?;
        request.input = Some(file.display().to_string());
        request.input_format = Some("text".into());
    }
    let mut child = Command::new(std::env::current_exe().map_err(fault)?)
        .arg("run-test")
        .stdin(Stdio::piped())
        .stdout(File::create(path(child::PRINTS)).map_err(fault)?)
        .stderr(File::create(path(child::MESSAGES)).map_err(fault)?)
        .process_group(0)
        .spawn()
        .map_err(fault)?;
    let text = serde_json::to_vec(&request).map_err(|e| Fault::internal(e.to_string()))?;
    if let Some(mut to) = child.stdin.take() {
        // A child that ends at once has said why.
        let _ = to.write_all(&text);
    }
    let Some(ended) = wait(&mut child, &path(child::STARTED), limit).map_err(fault)? else { return Ok(None) };
    let said = std::fs::read(path(child::MESSAGES)).unwrap_or_default();
    let (codes, messages) = messages(&String::from_utf8_lossy(&said));
    let report = std::fs::read(path(child::REPORT)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let prints = std::fs::read(path(child::PRINTS)).unwrap_or_default();
    Ok(Some(Ran { ended, codes, messages, report: report.unwrap_or_default(), prints, folder }))
}
