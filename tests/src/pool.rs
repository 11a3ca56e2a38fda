//! Worker processes: what may crash, hang or take all memory happens there, and the test lives to tell.

use crate::device::on_gpu;
use crate::message::Message;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Address space of a worker, in KiB: the stacks of the analysis are reserved in it, not used.
const ADDRESS_SPACE: u32 = 6 << 20;

/// How a job went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The worker died; what it said last.
    Crashed(String),
    /// It gave no answer in time.
    Hung,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lost::Crashed(last) => write!(f, "the process died: {last}"),
            Lost::Hung => f.write_str("no end was reached in time"),
        }
    }
}

struct Worker {
    child: Child,
    to: ChildStdin,
    answers: Receiver<Message>,
    last_words: Arc<Mutex<Vec<u8>>>,
}

impl Worker {
    /// Starts one in a folder of its own, which is made here.
    fn start(program: &Path, cache: &Path, own: &Path) -> std::io::Result<Worker> {
        std::fs::create_dir_all(own)?;
        // a GPU's driver takes addresses for all of its memory
        let bound = if on_gpu() { "unlimited".to_string() } else { ADDRESS_SPACE.to_string() };
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -v {bound}; ulimit -c 0; exec \"$0\""))
            .arg(program)
            .env("NO_COLOR", "1")
            .env("SLUICE_CACHE", cache)
            .current_dir(own)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(to), Some(from), Some(mut errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(std::io::Error::other("no pipes"));
        };
        let (send, answers) = channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Ok(m) = Message::read(&mut from) {
                if send.send(m).is_err() {
                    break;
                }
            }
        });
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let words = last_words.clone();
        std::thread::spawn(move || {
            let mut block = [0; 4096];
            while let Ok(n @ 1..) = errors.read(&mut block) {
                let Ok(mut w) = words.lock() else { break };
                w.extend_from_slice(&block[..n]);
                let from = w.len().saturating_sub(4000);
                w.drain(..from);
            }
        });
        Ok(Worker { child, to, answers, last_words })
    }

    fn ask(&mut self, job: &Message, limit: Duration) -> Result<Message, Lost> {
        let sent = job.write(&mut self.to);
        match self.answers.recv_timeout(if sent.is_ok() { limit } else { Duration::from_secs(1) }) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => Err(Lost::Hung),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                std::thread::sleep(Duration::from_millis(50)); // what it said may still be on its way
                let words = self.last_words.lock().map(|w| String::from_utf8_lossy(&w).into_owned());
                Err(Lost::Crashed(format!("{status}\n{}", words.unwrap_or_default().trim())))
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Workers that wait for jobs; started when needed, used again, replaced when lost.
pub struct Pool {
    program: std::path::PathBuf,
    // before their folders: they end first
    idle: Mutex<Vec<Worker>>,
    started: AtomicUsize,
    folder: tempfile::TempDir,
    cache: std::path::PathBuf,
}

impl Pool {
    /// A pool of workers of this program (`env!("CARGO_BIN_EXE_sluice-tests-worker")`). What they compile is kept in this folder of all tests
    /// (`env!("CARGO_TARGET_TMPDIR")`): the engine, which every program needs, takes as long to compile as several programs.
    pub fn new(program: impl AsRef<Path>, tests: impl AsRef<Path>) -> Pool {
        let folder = tempfile::tempdir().expect("a folder for workers");
        let program = std::path::absolute(program).expect("a place of the program");
        let cache = std::path::absolute(tests.as_ref().join("cache")).expect("a place of the cache");
        Pool { program, idle: Mutex::new(Vec::new()), started: AtomicUsize::new(0), folder, cache }
    }

    fn start(&self) -> Result<Worker, Lost> {
        let own = format!("worker-{}", self.started.fetch_add(1, Relaxed));
        Worker::start(&self.program, &self.cache, &self.folder.path().join(own))
            .map_err(|e| Lost::Crashed(format!("cannot start: {e}")))
    }

    /// Has a job done; several threads may ask at once.
    pub fn ask(&self, job: &Message, limit: Duration) -> Result<Message, Lost> {
        let free = self.idle.lock().ok().and_then(|mut w| w.pop());
        let mut worker = match free {
            Some(w) => w,
            None => self.start()?,
        };
        let answer = worker.ask(job, limit)?;
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(worker);
        }
        Ok(answer)
    }
}

/// The number in an environment variable, or another.
pub fn number_from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.trim().parse().ok()).unwrap_or(otherwise)
}
