//! # conduct
//!
//! Purpose: everything in one run. Input: [`Options`]. Output: the document, its table and its charts, written after each step: what is there when
//! time is up is kept.
//!
//! Each program and scheme has a process of its own: many prepare at once (schedules, compilers), one at a time measures. A process that fails, or takes too
//! long, costs its own row only. Native code on the CPU is measured before, when nothing else runs.

#![allow(clippy::disallowed_methods)] // it starts processes and writes results

use super::document::{Document, Peer, Run, Times};
use super::measured::Next;
use super::work::{self, Done, Task, VARIANTS};
use super::{charts, probe, report};
use crate::measure;
use crate::suite::SUITE;
use serde_json::Value;
use sluice_driver::cc::Compiler;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a batch, emulated.
const EMULATED_BATCH: u64 = 1 << 11;
/// The longest that a process may take to prepare; to measure, and to compare.
const CHILD: Duration = Duration::from_secs(180);
const MEASURED: Duration = Duration::from_secs(20);
const COMPARED: Duration = Duration::from_secs(60);
/// The longest that libraries may take.
const PEERS: Duration = Duration::from_secs(60);
/// Why there is no answer, where nothing went wrong.
const TIME_WAS_UP: &str = "time was up";

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where results go.
    pub out: PathBuf,
    /// The repository.
    pub root: PathBuf,
    /// For files; removed at the end.
    pub work: PathBuf,
    /// This program.
    pub program: PathBuf,
    /// On the emulated device.
    pub emulate: bool,
    /// Programs; all where there is none.
    pub programs: Vec<String>,
    /// Schemes; all where there is none.
    pub variants: Vec<String>,
    /// Processes at once.
    pub jobs: usize,
    /// When to stop.
    pub deadline: Instant,
}

impl Options {
    /// Names of files, without their ends.
    fn results(&self) -> PathBuf {
        self.out.join(if self.emulate { "gpu-emulated" } else { "gpu" })
    }

    /// Is there anything wrong with them?
    fn check(&self) -> Result<(), String> {
        if let Some(p) = self.programs.iter().find(|p| work::program(p).is_none()) {
            return Err(format!("there is no program {p}"));
        }
        if let Some(v) = self.variants.iter().find(|v| work::variant(v).is_none()) {
            let names: Vec<&str> = VARIANTS.iter().map(|v| v.name).collect();
            return Err(format!("there is no scheme {v}: they are {}", names.join(", ")));
        }
        if self.emulate && self.out.ends_with("benchmarks/results") {
            return Err("what an emulated device does is no result: name another folder with --out".into());
        }
        if !self.root.join("benchmarks/fft/fft.str").exists() {
            return Err(format!("{} is not the repository: name it with --root", self.root.display()));
        }
        Ok(())
    }

    fn tasks(&self, batch_bytes: u64) -> (Vec<Task>, Vec<Task>) {
        let programs =
            || SUITE.iter().filter(|b| self.programs.is_empty() || self.programs.iter().any(|p| p == b.name));
        let task = |name: &str, variant: Option<&str>, fast_math| Task {
            program: name.into(),
            variant: variant.map(Into::into),
            fast_math,
            emulate: self.emulate,
            batch_bytes,
            root: self.root.clone(),
            work: self.work.clone(),
        };
        let cpu = programs().map(|b| task(b.name, None, false)).collect();
        let mut device = Vec::new();
        for v in VARIANTS.iter().filter(|v| self.variants.is_empty() || self.variants.iter().any(|n| n == v.name)) {
            device.extend(programs().map(|b| task(b.name, Some(v.name), false)));
            if v.name == "fused" && !self.emulate {
                device.extend(programs().filter(|b| b.paper.is_some()).map(|b| task(b.name, Some(v.name), true)));
            }
        }
        // figures of the paper first, should time run out
        device.sort_by_key(|task| work::program(&task.program).is_none_or(|b| b.paper.is_none()));
        (cpu, device)
    }
}

/// Writes what there is.
fn keep(options: &Options, document: &Document) -> Result<(), String> {
    let results = options.results();
    let write = |end: &str, text: String| {
        let path =
            results.with_file_name(format!("{}{end}", results.file_name().unwrap_or_default().to_string_lossy()));
        // whole or not at all
        let beside = path.with_extension("new");
        std::fs::write(&beside, text)
            .and_then(|()| std::fs::rename(&beside, &path))
            .map_err(|e| format!("{}: {e}", path.display()))
    };
    std::fs::create_dir_all(&options.out).map_err(|e| format!("{}: {e}", options.out.display()))?;
    let json = serde_json::to_string_pretty(document).map_err(|e| e.to_string())?;
    write(".json", json + "\n")?;
    write(".md", report::markdown(document))?;
    // of nothing there is no picture
    let pictures = if document.runs.is_empty() { Vec::new() } else { charts::all(document) };
    for (name, picture) in pictures {
        write(&format!("-{name}.svg"), picture)?;
    }
    Ok(())
}

/// All of it. Gives the document, which is written too.
pub fn conduct(options: &Options) -> Result<Document, String> {
    options.check()?;
    std::fs::create_dir_all(&options.work).map_err(|e| format!("{}: {e}", options.work.display()))?;
    let mut document = probe::document(options.emulate);
    document.about = measure::facts_of(format!("sluice {}", env!("CARGO_PKG_VERSION")));
    let result = fill(options, &mut document);
    let _ = std::fs::remove_dir_all(&options.work);
    result?;
    keep(options, &document)?;
    Ok(document)
}

fn fill(options: &Options, document: &mut Document) -> Result<(), String> {
    if let Err(fault) = Compiler::find() {
        document.missing.push(fault.to_string());
        return Ok(());
    }
    if !options.emulate {
        match probe::facts() {
            Ok(facts) => document.device = Some(facts),
            Err(fault) => {
                document.missing.push(fault.to_string());
                return Ok(());
            }
        }
    }
    let l2 = document.device.as_ref().map_or(0, |d| d.l2);
    // input and output together exceed the L2 four times where they are equally large, and twice at least
    let batch_bytes = if options.emulate { EMULATED_BATCH } else { (2 * l2).max(32 << 20) };
    let (cpu, device) = options.tasks(batch_bytes);
    say(&format!("native code on the CPU: {} programs", cpu.len()));
    let quiet = !options.emulate;
    many(options, cpu, quiet, |task, done| match done {
        Ok(Done::Cpu(facts)) => document.programs.push(facts),
        Ok(Done::Device(_)) => {}
        Err(why) => document.missing.push(format!("{} on the CPU: {why}", task.program)),
    });
    document.programs.sort_by_key(|p| SUITE.iter().position(|b| b.name == p.name));
    keep(options, document)?;
    say("what the device can do at most");
    match probe::all(options.emulate) {
        Ok((peaks, banks, compiler)) => {
            document.peaks = Some(peaks);
            document.bank = banks;
            if !compiler.is_empty() {
                document.about.insert("NVRTC".into(), compiler);
            }
        }
        Err(fault) => document.missing.push(fault.to_string()),
    }
    keep(options, document)?;
    if !options.emulate && Instant::now() < options.deadline {
        say("libraries");
        peers(options, document);
        keep(options, document)?;
    }
    say(&format!("programs and schemes: {}", device.len()));
    let total = device.len();
    let (mut count, mut late) = (0, 0);
    many(options, device, false, |task, done| {
        count += 1;
        let run = match done {
            Ok(Done::Device(run)) => run,
            Ok(Done::Cpu(_)) => return,
            Err(why) if why == TIME_WAS_UP => {
                late += 1;
                return;
            }
            Err(why) => Run {
                program: task.program.clone(),
                variant: task.variant.clone().unwrap_or_default(),
                fast_math: task.fast_math,
                failed: Some(why),
                ..Run::default()
            },
        };
        let failed = run.failed.as_ref().map_or(String::new(), |why| format!(": {}", report::first_line(why)));
        say(&format!("{count} of {total}: {} {}{failed}", run.program, run.variant));
        document.runs.push(run);
        if let Err(why) = keep(options, document) {
            say(&why);
        }
    });
    if late > 0 {
        document.missing.push(format!("{late} of {total} runs: {TIME_WAS_UP}"));
    }
    let order = |r: &Run| {
        let program = SUITE.iter().position(|b| b.name == r.program);
        (program, VARIANTS.iter().position(|v| v.name == r.variant), r.fast_math)
    };
    document.runs.sort_by_key(order);
    Ok(())
}

/// Tells what is being done, and after how many seconds it began.
fn say(text: &str) {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    eprintln!("gpu: {:4.0} s: {text}", BEGUN.elapsed().as_secs_f64());
}

/// Does tasks in processes; `quiet`: nothing is measured before all are prepared.
fn many(options: &Options, tasks: Vec<Task>, quiet: bool, mut take: impl FnMut(&Task, Result<Done, String>)) {
    let workers = if quiet { tasks.len() } else { options.jobs.clamp(1, tasks.len().max(1)) };
    let prepared = quiet.then(|| Barrier::new(workers));
    let tasks = Mutex::new(tasks.into_iter());
    let turn = Mutex::new(());
    let (to, from) = channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let to: Sender<(Task, Result<Done, String>)> = to.clone();
            let (tasks, turn, prepared) = (&tasks, &turn, prepared.as_ref());
            scope.spawn(move || {
                loop {
                    let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(task) = next else { break };
                    let done = one(options, &task, turn, prepared);
                    if to.send((task, done)).is_err() || quiet {
                        break;
                    }
                }
            });
        }
        drop(to);
        for (task, done) in from {
            take(&task, done);
        }
    });
}

/// Kills a process that takes too long, unless it is told in time that it has ended.
fn watch(child: &Arc<Mutex<Child>>, limit: Duration) -> Sender<()> {
    let (ended, wait) = channel::<()>();
    let child = Arc::clone(child);
    std::thread::spawn(move || {
        if wait.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
    });
    ended
}

/// One task in a process of its own.
fn one(options: &Options, task: &Task, turn: &Mutex<()>, prepared: Option<&Barrier>) -> Result<Done, String> {
    let left = options.deadline.saturating_duration_since(Instant::now());
    let begun = if left.is_zero() { Err(TIME_WAS_UP.to_string()) } else { Part::begin(options, task, left) };
    // all that are waited for come here, also those that failed
    let ready = begun.and_then(|mut part| match part.line() {
        Ok(line) => Ok((part, line)),
        Err(_) if options.deadline <= Instant::now() => Err(TIME_WAS_UP.into()),
        Err(why) => Err(why),
    });
    if let Some(barrier) = prepared {
        barrier.wait();
    }
    let (mut part, mut line) = ready?;
    loop {
        if line == READY {
            part.may_take(options.deadline.saturating_duration_since(Instant::now()));
            let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            if options.deadline <= Instant::now() {
                return Err(TIME_WAS_UP.into());
            }
            part.may_take(if options.emulate { CHILD } else { MEASURED });
            part.go()?;
            line = part.line()?;
            drop(turn);
        } else if line == FREE {
            // the rest does not need the device; a profile is made use of, and measured in another turn
            part.may_take(if options.emulate { CHILD } else { COMPARED });
            line = part.line()?;
        } else {
            return serde_json::from_str::<Result<Done, String>>(&line)
                .map_err(|e| format!("the answer is none: {e}"))?;
        }
    }
}

/// What a process says when it could measure, when the device is free for the next one, and before what it does at a time.
const READY: &str = "ready";
const FREE: &str = "measured";
const DOES: &str = "does ";

/// The process.
struct Part {
    child: Arc<Mutex<Child>>,
    answers: BufReader<std::process::ChildStdout>,
    commands: std::process::ChildStdin,
    /// What it does.
    does: String,
    /// As long as it is there, the process is killed when it takes too long.
    watch: Sender<()>,
}

impl Part {
    fn begin(options: &Options, task: &Task, left: Duration) -> Result<Part, String> {
        let told = serde_json::to_string(task).map_err(|e| e.to_string())?;
        let mut child = Command::new(&options.program)
            .args(["gpu-part", &told])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", options.program.display()))?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let commands = child.stdin.take().ok_or("no pipe")?;
        let child = Arc::new(Mutex::new(child));
        let watch = watch(&child, if options.emulate { left } else { CHILD.min(left) });
        Ok(Part { child, answers, commands, does: "prepared".into(), watch })
    }

    /// It may take so long from now on.
    fn may_take(&mut self, limit: Duration) {
        self.watch = watch(&self.child, limit);
    }

    fn line(&mut self) -> Result<String, String> {
        loop {
            let mut line = String::new();
            match self.answers.read_line(&mut line) {
                Ok(n) if n > 0 => {}
                _ => {
                    return Err(format!(
                        "the process ended without an answer, or took too long, when it {}",
                        self.does
                    ));
                }
            }
            let line = line.trim_end();
            match line.strip_prefix(DOES) {
                Some(does) => self.does = does.to_string(),
                None => return Ok(line.to_string()),
            }
        }
    }

    fn go(&mut self) -> Result<(), String> {
        self.commands.write_all(b"go\n").and_then(|()| self.commands.flush()).map_err(|e| e.to_string())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// The process itself: prepares, waits for its turn, measures, tells that the device is free, compares; or prepares again by what it has measured.
pub fn part(told: &str) -> Result<(), String> {
    let task: Task = serde_json::from_str(told).map_err(|e| e.to_string())?;
    let done = measured_in_turn(&task);
    println!("{}", serde_json::to_string(&done).map_err(|e| e.to_string())?);
    Ok(())
}

fn measured_in_turn(task: &Task) -> Result<Done, String> {
    let mut prepared = task.prepare()?;
    loop {
        println!("{READY}");
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map_err(|e| e.to_string())?;
        if line.is_empty() {
            return Err("nobody waits any more".to_string());
        }
        let measured = prepared.measured(&mut |does| println!("{DOES}{does}"))?;
        println!("{FREE}");
        match measured.next()? {
            Next::Done(done) => return Ok(*done),
            Next::Prepared(next) => prepared = next,
        }
    }
}

/// What one would call instead, where it is there.
fn peers(options: &Options, document: &mut Document) {
    let file = options.root.join("benchmarks/gpu/peers.py");
    let begun = Command::new("python3").arg(&file).arg(&options.work).stdout(Stdio::piped()).spawn();
    let mut child = match begun {
        Ok(child) => child,
        Err(e) => return document.missing.push(format!("libraries: python3: {e}")),
    };
    let Some(out) = child.stdout.take() else { return };
    let child = Arc::new(Mutex::new(child));
    let ended = watch(&child, PEERS);
    for line in BufReader::new(out).lines().map_while(Result::ok) {
        match peer(&line) {
            Some(Ok(peer)) => document.peers.push(peer),
            Some(Err(why)) => document.missing.push(format!("libraries: {why}")),
            None => say(&line),
        }
    }
    drop(ended);
    let _ = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
}

/// A line of peers.py.
pub fn peer(line: &str) -> Option<Result<Peer, String>> {
    let value: Value = serde_json::from_str(line).ok()?;
    if let Some(why) = value["missing"].as_str() {
        return Some(Err(why.to_string()));
    }
    let times = value["ns"].as_array()?.iter().filter_map(Value::as_f64).collect();
    Some(Ok(Peer {
        program: value["program"].as_str()?.into(),
        called: value["called"].as_str()?.into(),
        times: Times::of(times)?,
        difference: value["difference"].as_f64()?,
    }))
}

/// A folder in memory where there is one, else among temporary files.
pub fn work_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    base.join(format!("sluice-gpu-{}", std::process::id()))
}
